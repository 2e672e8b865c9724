"""Errors of the command line: typer's exceptions as ``InvalidInput``, with a suggestion for an unknown word."""

import re
from difflib import get_close_matches
from typing import Any, Final

import typer

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import Text, cut_middle, describe_wrong_value, list_choices

from . import PROGRAM
from ._frontend import name_options
from ._options import MAX_VALUE
from ._state import usage_error

MISSING_COMMAND: Final = "Missing command."
"""typer's message if a group is called without a command."""
_NO_SUCH: Final = re.compile(r"No such (option|command):? (['\"]?)(.+?)\2\.?(?: |$)")
"""The beginning of typer's message about an unknown option or command."""
_UNEXPECTED: Final = re.compile(r"Got unexpected extra argument\S* \((.*)\)")
_NO_VALUE: Final = re.compile(r"Option '(\S+)' requires an argument")
_TAKES_NO_VALUE: Final = re.compile(r"Option '(\S+)' does not take a value")
_MAX_COMMANDS: Final = 10
"""Maximum number of commands of a group that a message lists."""


def convert_usage_error(exc: typer.TyperException) -> InvalidInput:
    """Convert a usage error of typer into ``InvalidInput``."""
    ctx, parameter = getattr(exc, "ctx", None), getattr(exc, "param", None)
    path = ctx.command_path if ctx is not None else f"{PROGRAM} COMMAND"
    argument = getattr(exc, "option_name", None) or (parameter.opts[-1] if parameter is not None else None)
    hint = f"`{path} --help` shows the usage."
    if isinstance(exc, typer.BadParameter) and parameter is not None:
        describe = _describe_value if exc.message else _describe_missing  # typer's error for a missing value has none
        text, correction = describe(exc, parameter, hint)
        return usage_error(text, argument, correction)
    message = " ".join(exc.format_message().split())
    if message == MISSING_COMMAND and ctx is not None:
        return usage_error("No command was given.", argument, _list_commands(ctx))
    unknown = _NO_SUCH.match(message)
    if unknown and ctx is not None:
        kind, quote, word = unknown.groups()
        message = f"The {kind} {quote}{cut_middle(word, MAX_VALUE)}{quote} does not exist."
        listed = _list_commands(ctx) if kind == "command" else ""
        return usage_error(message, argument, _suggest(word, ctx) or listed or hint)
    if extra := _UNEXPECTED.match(message):
        message = f"Unexpected argument: {cut_middle(extra[1], MAX_VALUE)}"
    elif valueless := _NO_VALUE.match(message):
        message, hint = (
            f"{valueless[1]} needs a value",
            f"Write the value after {valueless[1]}, or omit {valueless[1]}.",
        )
    elif flag := _TAKES_NO_VALUE.match(message):
        message, hint = f"{flag[1]} takes no value", f"Write {flag[1]} without a value."
    return usage_error(message if message.endswith((".", "?")) else f"{message}.", argument, hint)


def _describe_value(exc: Any, parameter: Any, hint: str) -> tuple[Text, Text]:
    """Return the message and the hint for a wrong value of an option, with the limits that its request declares.

    Args:
        exc: typer's error, whose cause is pydantic's error.
        hint: the hint of any usage error.
    """
    from pydantic import ValidationError

    from entrez_kit.core.argument_errors import describe_accepted, find_limits, suggest_correction

    name = name_options(exc.ctx.command)[parameter.name]
    if not isinstance(exc.__cause__, ValidationError):
        return f"{name} {exc.message}.", hint
    error = exc.__cause__.errors()[0]
    words = re.findall(r"'([^']*)'", error["msg"].partition(" is not one of ")[2])
    limits = {"ge": parameter.min, "le": parameter.max}
    request = getattr(exc.ctx.command.callback, "request", None)
    if request is not None:
        limits |= find_limits(request, parameter.name)
    accepted = list_choices(words) if words else describe_accepted(error["type"], limits)
    if not accepted:
        return f"{name} is invalid: {error['msg']}.", hint
    near = get_close_matches(str(error["input"]).lower(), words, n=1)
    correction = suggest_correction(name, parameter.default, is_required=parameter.required)
    return describe_wrong_value(name, accepted, error["input"]), f"Did you mean {near[0]}?" if near else correction


def _describe_missing(exc: Any, parameter: Any, hint: str) -> tuple[Text, Text]:
    """Return the message and the hint for a missing argument or option, with the shortest valid command line.

    Args:
        exc: typer's error.
        hint: the hint of any usage error.
    """
    names = name_options(exc.ctx.command)
    words = [
        f"{names[one.name]} {one.metavar}" if one.param_type_name == "option" else names[one.name]
        for one in exc.ctx.command.params
        if one.required
    ]
    return f"No {names[parameter.name]} was given.", f"Run `{exc.ctx.command_path} {' '.join(words)}`. {hint}"


def _suggest(word: str, ctx: Any) -> str:
    """Return the hint for an unknown word: the completion of a prefix, or a similar word; empty without one."""
    command = ctx.command
    known = [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
    if not word.startswith("-"):
        known = list(getattr(command, "commands", ()))
    field = name_options(command).get(word.strip("-").replace("-", "_"))
    if field and not field.startswith("-"):
        words = [name_options(command)[param.name] for param in command.params if param.param_type_name == "argument"]
        return f"{field} is given without a name: `{ctx.command_path} {' '.join(words)}`."
    near = (
        ([field] if field else [])
        or ([name for name in known if name.startswith(word)] if len(word) > 3 else [])
        or get_close_matches(word, known, n=1, cutoff=0.75)
    )
    return f"Did you mean {' or '.join(near)}?" if near else ""


def _list_commands(ctx: Any) -> str:
    """Return the hint with the commands of a group; empty for a command that is not a group."""
    names = list(getattr(ctx.command, "commands", ()))
    if len(names) > _MAX_COMMANDS:
        return f"`{ctx.command_path} --help` lists the commands."
    return f"The commands of `{ctx.command_path}` are {', '.join(names)}." if names else ""
