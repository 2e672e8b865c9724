"""The terminal front end: texts that name calls as commands, and arguments as options."""

import shlex
from collections.abc import Mapping
from typing import Any, Final

from entrez_kit.base.frontend_text import Argument, Frontend, NextCall

from . import PROGRAM, load_command

_GROUPS: Final = {"date_range": "--min-date/--max-date"}
"""Fields of requests that are several options."""


class Terminal(Frontend):
    """The texts of the terminal front end.

    Args:
        options: the options of the current command, from ``name_options``.
    """

    name = "terminal"
    verb = "run"

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        self.options = {**_GROUPS, **(options or {})}

    def name_argument(self, argument: Argument) -> str:
        """Return the option, or the placeholder in capitals for the argument."""
        first, *_, last = argument.name.split(".") * 2
        names = (self.options.get(name) for name in (argument.name, last, first))
        name = next(filter(None, names), argument.name)
        return name if argument.value is None else f"{name} {shlex.quote(str(argument.value))}"

    def call(self, call: NextCall) -> str:
        """Return a command line; required arguments without a value are placeholders in capitals."""
        from entrez_kit.python.kit_methods import find_operation

        operation = find_operation(call.method)
        words, fields = operation.command, operation.request.model_fields
        command = load_command(words[0])
        for word in words[1:]:
            command = command.commands[word]
        line = [PROGRAM, *words]
        for parameter in command.params:
            if not parameter.expose_value:  # an option of every command
                continue
            is_required = parameter.required or (parameter.name in fields and fields[parameter.name].is_required())
            value = call.arguments.get(parameter.name, ... if is_required else None)
            if value is not None:
                line += _build_words(parameter, value)
        return f"`{' '.join(line)}`"


def name_options(command: Any) -> dict[str, str]:
    """Return the names of a command's arguments: ``{"sort_by": "--sort", "query_term": "QUERY"}``."""
    return {parameter.name: _name_parameter(parameter) for parameter in command.params}


def _name_parameter(parameter: Any) -> str:
    if parameter.param_type_name == "option":
        return str(max(parameter.opts, key=len))
    return str(parameter.metavar or parameter.name).strip("[].")


def _build_words(parameter: Any, value: Any) -> list[str]:
    """Return the words of a command line that give an argument a value."""
    name = _name_parameter(parameter)
    if value is True:
        return [name]
    values = value if isinstance(value, list) else [value]
    if parameter.param_type_name == "option":
        return [word for one in values for word in (name, "..." if one is ... else shlex.quote(str(one)))]
    return [name if one is ... else shlex.quote(str(one)) for one in values]
