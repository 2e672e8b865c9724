"""The terminal door: main, the list of subcommands, and what becomes of every way to end."""

import contextlib
import re
import sys
from collections.abc import Sequence
from copy import copy
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast

import typer
from typer.core import TyperCommand, TyperGroup

from entrez_kit.base import __version__, tracing
from entrez_kit.base.errors import EntrezKitError, Exit, InvalidInput
from entrez_kit.base.output_formats import Family

from ._output import (
    Ended,
    ReaderGone,
    cannot_write,
    drop_output,
    flush_output,
    prepare_streams,
    signals_end_the_program,
)
from ._report import report_error, report_interrupt
from ._state import PROGRAM, State, build_command, formats_of, options_of

NO_SUCH: Final = re.compile(r"No such (?:option: |command ')([^\s']+)'?")
MISSING_COMMAND: Final = "Missing command."
PUBMED: Final = "PubMed"
OTHERS: Final = "Genes and other databases"
CORPUS: Final = "A corpus of your own"
LOCAL: Final = "This program"


COMMANDS: Final = {
    "search": ("Search PubMed and see how it understood the query.", PUBMED),
    "facets": ("Count years, journals, types and MeSH headings of what a query finds.", PUBMED),
    "fetch": ("Fetch records by PMID, PMCID or DOI, one or a hundred thousand.", PUBMED),
    "fulltext": ("Read whole articles: sections, tables, references.", PUBMED),
    "show": ("Read one record as a page, retractions first.", PUBMED),
    "related": ("Find similar, citing and cited articles, one step or several.", PUBMED),
    "cite": ("Cite records in the styles of journals, or as files for reference managers.", PUBMED),
    "match": ("Find the PMIDs of references, and check what is found.", PUBMED),
    "verify": ("Look up whether cited papers say what a draft or a table says they do.", PUBMED),
    "check": ("Check the references of a file, all authors and retractions included.", PUBMED),
    "convert": ("Convert PMIDs, PMCIDs and DOIs into each other.", PUBMED),
    "europepmc": ("Search Europe PMC, preprints included, as far as you like.", PUBMED),
    "mesh": ("Look up MeSH headings by name, synonym, identifier or tree number.", PUBMED),
    "spell": ("Check the spelling of a query.", PUBMED),
    "gene": ("Find genes, look one up, follow it to the literature.", OTHERS),
    "db": ("Search, summarise, fetch and link any Entrez database.", OTHERS),
    "corpus": ("Keep queries in step on this machine; search, compare and export them.", CORPUS),
    "sandbox": ("Serve invented articles on this machine, as NCBI would.", LOCAL),
    "serve": ("Serve agents: every operation as an MCP tool.", LOCAL),
    "doctor": ("Find out which part of the way to NCBI fails.", LOCAL),
    "cache": ("See, clear or prune the cached replies.", LOCAL),
    "config": ("See every setting and where it comes from; set one.", LOCAL),
    "guide": ("Read about exit codes, formats and other subjects.", LOCAL),
}
"""Every subcommand, its line in the help, and where it stands there.

The module of its name, beside this one, is imported when it runs and has ``app`` (a group) or ``command``.
"""


class LazyGroup(TyperGroup):
    """A group that lists its commands without importing them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {
            name: TyperCommand(name, short_help=text, help=text, rich_help_panel=panel)
            for name, (text, panel) in COMMANDS.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Import the command that was called; `help COMMAND` is `COMMAND --help`."""
        if args[:1] == ["help"]:
            args = [word for word in args if word not in ("help", *HELP_NAMES)]
            if ctx.resilient_parsing and not args:  # completion offers the commands after `help`
                return None, None, []
            args.append("--help")
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name and command else command, rest


def load_command(name: str) -> Any:
    """Import a subcommand and give it the options that all have."""
    command = build_command(name)
    add_common_options(command)
    return command


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Search and read PubMed from the terminal: nothing lost, nothing truncated, no limit broken.

    Try [bold]entrez-kit --demo search base editing[/bold]: it answers without a network.
    """


def build() -> TyperGroup:
    """Return the program as a group of commands that are imported when called."""
    app = typer.Typer(
        cls=LazyGroup,
        name=PROGRAM,
        rich_markup_mode="rich",
        context_settings={"help_option_names": HELP_NAMES},
        epilog="Data goes to stdout, everything else to stderr. `entrez-kit guide exit-codes` explains how it ends.",
    )
    app.callback()(_program)
    group = typer.main.get_command(app)
    add_common_options(group, below_too=False)  # its commands get theirs when they are imported
    return cast(TyperGroup, group)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit status.

    Args:
        argv: arguments without the program's name; those of the process by default.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    state = State()
    try:
        with signals_end_the_program():
            status = _run(arguments, state)
            status = _flushed(status, state)
    except ReaderGone:
        drop_output()
        status = int(Exit.DONE)
    except KeyboardInterrupt:
        report_interrupt(state)
        status = int(Exit.INTERRUPTED)
    except Ended as ended:
        status = 128 + ended.number
    with contextlib.suppress(Exception, KeyboardInterrupt):  # the work is done; what cannot be closed ends with us
        state.close()
    return status


def _run(arguments: list[str], state: State) -> int:
    request_id = tracing.new_request_id()
    try:
        return _call(arguments, state)
    except typer.TyperException as exc:
        ctx = getattr(exc, "ctx", None)
        if ctx is not None and exc.message == MISSING_COMMAND and not state.for_machines:
            return _help_instead(ctx)
        error: EntrezKitError = _bad_usage(exc)
    except typer.Abort:
        return int(Exit.INTERRUPTED)
    except EntrezKitError as exc:
        error = exc
    except Exception as exc:
        failure = _output_failure() if isinstance(exc, OSError) else None
        if failure is not None:
            drop_output()
            error = cannot_write("standard output", failure)
        else:
            from entrez_kit.core.operation import internal_error

            state.open_log()
            error = internal_error(exc, request_id)
    if "--json" in arguments:  # a usage error may come before the flag is read
        state.flags["json"] = True
    report_error(state, error, request_id)
    return int(error.exit_code)


_COMPLETIONS: Final = ("--show-completion", "--install-completion")
_SHELLS: Final = ("bash", "zsh", "fish", "powershell", "pwsh")


def _complete_for(option: str, shell: str) -> int:
    """Show or install the completion of a shell that was named; typer's options take the one they run in."""
    from typer._completion_shared import get_completion_script, install

    variable = f"_{PROGRAM.replace('-', '_').upper()}_COMPLETE"
    if option == "--show-completion":
        typer.echo(get_completion_script(prog_name=PROGRAM, complete_var=variable, shell=shell))
    else:
        _, path = install(shell, PROGRAM, variable)
        typer.echo(f"{shell} completion installed in {path}; it takes effect in the next shell.")
    return int(Exit.DONE)


def _call(arguments: list[str], state: State) -> int:
    if len(arguments) == 2 and arguments[0] in _COMPLETIONS and arguments[1] in _SHELLS:
        return _complete_for(*arguments)
    try:
        result = build().main(args=arguments, prog_name=PROGRAM, standalone_mode=False, obj=state)
    except SystemExit as exc:  # shell completion ends this way
        return exc.code if isinstance(exc.code, int) else int(Exit.DONE)
    if result == Exit.INTERRUPTED:  # typer makes this of a KeyboardInterrupt
        report_interrupt(state)
    return result if isinstance(result, int) else int(Exit.DONE)


def _help_instead(ctx: typer.Context) -> int:
    """Show the help where no command was given; as it was not asked for, it is no data."""
    with contextlib.redirect_stdout(sys.stderr):
        print(ctx.get_help(), end="")  # noqa: T201  # rich prints it by itself and returns nothing
    return int(Exit.BAD_INPUT)


def _bad_usage(exc: typer.TyperException) -> InvalidInput:
    """Turn what typer found wrong with the command line into the error all doors speak."""
    # The word of what checks the values for an error of ours is no word for a user.
    message = " ".join(exc.format_message().split()).replace(": Value error, ", ": ", 1)
    ctx = getattr(exc, "ctx", None)
    path = ctx.command_path if ctx is not None else PROGRAM
    option = getattr(exc, "option_name", None)
    parameter = getattr(exc, "param", None)
    unknown = NO_SUCH.match(message)
    if unknown and ctx is not None:
        message = f"{unknown[0]}.{_near(unknown[1], ctx)}"
    return InvalidInput(
        message if message.endswith((".", "?")) or unknown else f"{message}.",
        invalid_input=option or (parameter.opts[-1] if parameter is not None else None),
        recovery_hint=f"`{path} --help` shows what it takes.",
        details={"reason": "bad_usage"},
    )


def _near(word: str, ctx: Any) -> str:
    """Return what a word that does not exist was meant for, where that is plain: its ending, or a slip of the keys."""
    command = ctx.command
    known = [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
    if not word.startswith("-"):
        known = list(getattr(command, "commands", ()))
    field = options_of(command).get(word.strip("-").replace("-", "_"))
    if field and not field.startswith("-"):
        words = [options_of(command)[one.name] for one in command.params if one.param_type_name == "argument"]
        return f" {field} is given without a name: {ctx.command_path} {' '.join(words)}"
    near = (
        ([field] if field else [])
        or ([name for name in known if name.startswith(word)] if len(word) > 3 else [])
        or get_close_matches(word, known, n=1, cutoff=0.75)
    )
    return f" Did you mean {' or '.join(near)}?" if near else ""


def _output_failure() -> OSError | None:
    """Return why standard output cannot be written; help pages are written by others, who leave it to us."""
    try:
        flush_output()
    except OSError as exc:
        return exc
    return None


def _flushed(status: int, state: State) -> int:
    """Hand over what is still held back; a full disk is found out here at the latest."""
    failure = _output_failure()
    if failure is not None:
        drop_output()
        if status == Exit.DONE:
            report_error(state, cannot_write("standard output", failure))
            status = int(Exit.LOCAL_STORE)
    return status


# Options that every command has; they may stand before or after its name


OUTPUT: Final = "Output"
HELP_NAMES: Final = ["-h", "--help"]
EVERYWHERE: Final = "Options of every command"


def _keep(ctx: typer.Context, param: typer.CallbackParam, value: Any) -> Any:
    """Remember what was given; the later of two wins, and what was not given takes nothing back."""
    if value is not None and value != [] and isinstance(ctx.obj, State) and not ctx.resilient_parsing:
        ctx.obj.flags[str(param.name)] = value
    return value


def _complete_format(ctx: typer.Context, incomplete: str) -> list[str]:
    return [one.name for one in formats_of(ctx.command) if one.name.startswith(incomplete)]


def _flag(
    *names: str, help: str, metavar: str | None = None, panel: str = EVERYWHERE, autocompletion: Any = None
) -> Any:
    return typer.Option(
        *names,
        metavar=metavar,
        help=help,
        callback=_keep,
        expose_value=False,
        rich_help_panel=panel,
        autocompletion=autocompletion,
    )


_FORMAT: Final = "Output format: {formats}. Without it: table on a terminal, json in a pipe."
_FIELDS: Final = "Print only these fields; dots go deeper, e.g. pmid,journal_info.title."
_FILE: Final = "Write to a file, whole or not at all; its suffix chooses the format{ids}."
_DEMO: Final = "Answer from a sandbox with invented articles; no network is used."
_VERBOSE: Final = "Show request ids, cache hits, timings and the log."
_CONFIG: Final = "User config to read in place of the usual one."
_COUNT: Final = "Short for -f count: how many there are."


def _common(
    format: Annotated[
        str | None,
        _flag("-f", "--format", metavar="FORMAT", help=_FORMAT, panel=OUTPUT, autocompletion=_complete_format),
    ] = None,
    json: Annotated[bool | None, _flag("--json", help="Short for -f json.", panel=OUTPUT)] = None,
    count: Annotated[bool | None, _flag("--count", help=_COUNT, panel=OUTPUT)] = None,
    fields: Annotated[list[str] | None, _flag("--fields", metavar="A,B.C", help=_FIELDS, panel=OUTPUT)] = None,
    output: Annotated[Path | None, _flag("-o", "--output", metavar="FILE", help=_FILE, panel=OUTPUT)] = None,
    demo: Annotated[bool | None, _flag("--demo", help=_DEMO)] = None,
    offline: Annotated[bool | None, _flag("--offline", help="Answer from the cache and the corpus only.")] = None,
    refresh: Annotated[bool | None, _flag("--refresh", help="Ask again and replace what is cached.")] = None,
    no_cache: Annotated[bool | None, _flag("--no-cache", help="Neither read nor write the cache.")] = None,
    quiet: Annotated[bool | None, _flag("-q", "--quiet", help="No notes; warnings and errors stay.")] = None,
    verbose: Annotated[bool | None, _flag("-v", "--verbose", help=_VERBOSE)] = None,
    color: Annotated[
        Literal["auto", "always", "never"] | None,
        _flag("--color", metavar="WHEN", help="When to colour: auto, always or never."),
    ] = None,
    config_file: Annotated[Path | None, _flag("--config", metavar="FILE", help=_CONFIG)] = None,
) -> None:
    """Carry the options; never called."""


def add_common_options(command: Any, *, below_too: bool = True) -> None:
    """Give a command, and every command below it, the options that all have."""
    below = getattr(command, "commands", None)
    if below is not None:
        command.no_args_is_help = False  # a missing command is an error like others; _app shows the help then
    for inner in (below or {}).values() if below_too else ():
        add_common_options(inner)
    known = formats_of(command)
    taken = {option for parameter in command.params for option in parameter.opts}
    for parameter in map(copy, _common_parameters()):
        if taken.intersection(parameter.opts):
            continue
        if below is not None and parameter.rich_help_panel == OUTPUT:
            parameter.hidden = True  # accepted before the name too, but explained where it matters
        if parameter.name == "count" and below is None and not any(one.family is Family.COUNT for one in known):
            continue
        if parameter.name == "format":
            parameter.help = parameter.help.format(formats=", ".join(one.name for one in known))
        if parameter.name == "output":
            lists_ids = any(one.family is Family.IDS for one in known)
            parameter.help = parameter.help.format(ids=" (.txt: ids)" if lists_ids else "")
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
