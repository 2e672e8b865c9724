"""How the terminal says calls, arguments and flags: as commands and options that a shell takes."""

import shlex
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import typer

from entrez_kit.wording import Argument, Door, NextCall

PROGRAM: Final = "entrez-kit"
_GROUPS: Final = {"date_range": "--min-date/--max-date"}
"""Fields of requests that are several options."""


class Terminal(Door):
    """The words of the terminal.

    Args:
        options: what the command under way calls its arguments, as ``options_of`` has it.
    """

    name = "terminal"
    verb = "run"

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        self.options = {**_GROUPS, **(options or {})}

    def argument(self, argument: Argument) -> str:
        """Return the option, or the word in capitals that stands for the argument."""
        first, *_, last = argument.name.split(".") * 2
        names = (self.options.get(name) for name in (argument.name, last, first))
        name = next(filter(None, names), argument.name)
        return name if argument.value is None else f"{name} {shlex.quote(str(argument.value))}"

    def switch(self, name: str) -> str:
        """Return the option that every command has."""
        return f"--{name.replace('_', '-')}"

    def call(self, call: NextCall) -> str:
        """Return a command line; what the command needs and the call does not say stands in capitals."""
        from entrez_kit.catalogue import OPERATIONS

        words = next(operation.command for operation in OPERATIONS if operation.method == call.method)
        command = build_command(words[0])
        for word in words[1:]:
            command = command.commands[word]
        line = [PROGRAM, *words]
        for parameter in command.params:
            value = call.arguments.get(parameter.name, ... if parameter.required else None)
            if value is not None:
                line += _given(parameter, value)
        return f"`{' '.join(line)}`"


def build_command(name: str) -> Any:
    """Import a subcommand, a group with ``app`` or one with ``command``, without the options that all have."""
    module = import_module(f".{name}", __package__)
    if hasattr(module, "app"):
        command: Any = typer.main.get_group(module.app)
        command.name = name
        return command
    app = typer.Typer(add_completion=False)
    app.command(name, no_args_is_help=False)(module.command)
    return typer.main.get_command(app)


def options_of(command: Any) -> dict[str, str]:
    """Return what a command calls its arguments: ``{"sort_by": "--sort", "query_term": "QUERY"}``."""
    return {parameter.name: _name(parameter) for parameter in command.params}


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "option":
        return str(max(parameter.opts, key=len))
    return str(parameter.metavar or parameter.name).strip("[].")


def _given(parameter: Any, value: Any) -> list[str]:
    """Return the words of a command line that give an argument a value."""
    name = _name(parameter)
    if value is True:
        return [name]
    values = value if isinstance(value, list) else [value]
    if parameter.param_type_name == "option":
        return [word for one in values for word in (name, "..." if one is ... else shlex.quote(str(one)))]
    return [name if one is ... else shlex.quote(str(one)) for one in values]
