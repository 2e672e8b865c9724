"""Options that every command has; they may stand before or after its name."""

from copy import copy
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from ._state import State, formats_of

OUTPUT: Final = "Output"
HELP_NAMES: Final = ["-h", "--help"]
EVERYWHERE: Final = "Options of every command"


def _keep(ctx: typer.Context, param: typer.CallbackParam, value: Any) -> Any:
    """Remember what was given; the later of two wins, and what was not given takes nothing back."""
    if value is not None and value != [] and isinstance(ctx.obj, State) and not ctx.resilient_parsing:
        ctx.obj.flags[str(param.name)] = value
    return value


def _complete_format(ctx: typer.Context, incomplete: str) -> list[str]:
    return [name for name in formats_of(ctx.command) if name.startswith(incomplete)]


def _flag(*names: str, help: str) -> Any:
    return typer.Option(*names, help=help, callback=_keep, expose_value=False, rich_help_panel=EVERYWHERE)


def _common(
    format: Annotated[
        str | None,
        typer.Option(
            "-f",
            "--format",
            metavar="FORMAT",
            help="Output format: {formats}. Without it: table on a terminal, json in a pipe.",
            autocompletion=_complete_format,
            callback=_keep,
            expose_value=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    json: Annotated[
        bool | None,
        typer.Option("--json", help="Short for -f json.", callback=_keep, expose_value=False, rich_help_panel=OUTPUT),
    ] = None,
    count: Annotated[
        bool | None,
        typer.Option(
            "--count",
            help="Short for -f count: how many there are.",
            callback=_keep,
            expose_value=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--fields",
            metavar="A,B.C",
            help="Print only these fields; dots go deeper, e.g. pmid,journal_info.title.",
            callback=_keep,
            expose_value=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write to a file, whole or not at all; its suffix chooses the format (.txt: ids).",
            callback=_keep,
            expose_value=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    demo: Annotated[
        bool | None, _flag("--demo", help="Answer from a sandbox with invented articles; no network is used.")
    ] = None,
    offline: Annotated[bool | None, _flag("--offline", help="Answer from the cache and the corpus only.")] = None,
    refresh: Annotated[bool | None, _flag("--refresh", help="Ask again and replace what is cached.")] = None,
    no_cache: Annotated[bool | None, _flag("--no-cache", help="Neither read nor write the cache.")] = None,
    quiet: Annotated[bool | None, _flag("-q", "--quiet", help="No notes; warnings and errors stay.")] = None,
    verbose: Annotated[
        bool | None, _flag("-v", "--verbose", help="Show request ids, cache hits, timings and the log.")
    ] = None,
    color: Annotated[
        Literal["auto", "always", "never"] | None,
        typer.Option(
            "--color",
            metavar="WHEN",
            help="When to colour: auto, always or never.",
            callback=_keep,
            expose_value=False,
            rich_help_panel=EVERYWHERE,
        ),
    ] = None,
    config_file: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="User config to read in place of the usual one.",
            callback=_keep,
            expose_value=False,
            rich_help_panel=EVERYWHERE,
        ),
    ] = None,
) -> None:
    """Carry the options; never called."""


def add_common_options(command: Any, *, below_too: bool = True) -> None:
    """Give a command, and every command below it, the options that all have."""
    below = getattr(command, "commands", None)
    if below is not None:
        command.no_args_is_help = False  # a missing command is an error like others; _app shows the help then
    for inner in (below or {}).values() if below_too else ():
        add_common_options(inner)
    taken = {option for parameter in command.params for option in parameter.opts}
    for parameter in map(copy, _common_parameters()):
        if taken.intersection(parameter.opts):
            continue
        if below is not None and parameter.rich_help_panel == OUTPUT:
            parameter.hidden = True  # accepted before the name too, but explained where it matters
        if parameter.name == "count" and below is None and "count" not in formats_of(command):
            continue
        if parameter.name == "format":
            parameter.help = parameter.help.format(formats=", ".join(formats_of(command)))
        command.params.append(parameter)
    help_option = command.get_help_option(typer.Context(command, help_option_names=HELP_NAMES))
    for parameter in (*command.params, help_option):
        if parameter is not None and (getattr(parameter, "is_flag", False) or parameter.param_type_name == "argument"):
            # "<bool>" and "<list[str]>" tell a biologist nothing.
            parameter.display_type_rich = lambda ctx: None


@cache
def _common_parameters() -> tuple[Any, ...]:
    """Return the common options as typer makes them; each command takes copies, since it changes some."""
    app = typer.Typer(add_completion=False)
    app.command()(_common)
    return tuple(typer.main.get_command(app).params)
