"""Errors of the command line: typer's exceptions as ``InvalidInput``, with a suggestion for an unknown word."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final

import typer

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import cut_middle

from . import PROGRAM
from ._frontend import name_options
from ._options import MAX_VALUE
from ._state import usage_error

_NO_SUCH: Final = re.compile(r"No such (?:option: |command ')([^\s']+)'?")
"""The beginning of typer's message about an unknown option or command."""


def convert_usage_error(exc: typer.TyperException, arguments: Sequence[str]) -> InvalidInput:
    """Convert a usage error of typer into ``InvalidInput``.

    Args:
        arguments: the command line; typer's messages about numbers do not have the value.
    """
    # pydantic begins messages of this program with "Value error", and its own with "Input should be".
    message = " ".join(exc.format_message().split()).replace(": Value error, ", ": ", 1)
    message = message.replace(": Input should be ", ": must be ", 1).partition(", unable to parse")[0]
    ctx = getattr(exc, "ctx", None)
    path = ctx.command_path if ctx is not None else PROGRAM
    option = getattr(exc, "option_name", None)
    parameter = getattr(exc, "param", None)
    if parameter is not None and ": must be " in message:
        given = _find_value(arguments, parameter.opts)
        message += f" (got {cut_middle(given, MAX_VALUE)})" if given is not None else ""
    unknown = _NO_SUCH.match(message)
    if unknown and ctx is not None:
        message = f"{unknown[0]}.{_suggest(unknown[1], ctx)}"
    return usage_error(
        message if message.endswith((".", "?")) or unknown else f"{message}.",
        option or (parameter.opts[-1] if parameter is not None else None),
        f"`{path} --help` shows the usage.",
    )


def _find_value(arguments: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the last value of an option on the command line, written as ``--name value`` or ``--name=value``."""
    last = None
    for word, following in zip(arguments, (*arguments[1:], None), strict=True):
        name, sign, value = word.partition("=")
        if name in names:
            last = value if sign else following
    return last


def _suggest(word: str, ctx: Any) -> str:
    """Return a suggestion for an unknown word: the completion of a prefix, or a similar word."""
    command = ctx.command
    known = [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
    if not word.startswith("-"):
        known = list(getattr(command, "commands", ()))
    field = name_options(command).get(word.strip("-").replace("-", "_"))
    if field and not field.startswith("-"):
        words = [name_options(command)[param.name] for param in command.params if param.param_type_name == "argument"]
        return f" {field} is given without a name: {ctx.command_path} {' '.join(words)}"
    near = (
        ([field] if field else [])
        or ([name for name in known if name.startswith(word)] if len(word) > 3 else [])
        or get_close_matches(word, known, n=1, cutoff=0.75)
    )
    return f" Did you mean {' or '.join(near)}?" if near else ""
