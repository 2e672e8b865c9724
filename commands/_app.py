"""The terminal front end: ``main``, the list of subcommands, and the handling of errors."""

import contextlib
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Final, Literal, cast

import typer
from typer.core import TyperCommand, TyperGroup

from entrez_kit.base import __version__, tracing
from entrez_kit.base.errors import EntrezKitError, Exit, InvalidInput
from entrez_kit.base.frontend_text import cut_middle
from entrez_kit.base.output_formats import Family

from . import PROGRAM, Ended, ReaderGone, build_command
from ._state import State, get_formats, usage_error

NO_SUCH: Final = re.compile(r"No such (?:option: |command ')([^\s']+)'?")
_EXAMPLE: Final = re.compile(rf"(?<!`){PROGRAM} ")
"""An example in a help text; a command in backquotes is a part of its sentence."""
MISSING_COMMAND: Final = "Missing command."
MAX_VALUE: Final = 60
"""Maximum characters of each value of an option in a message."""
PUBMED: Final = "PubMed"
OTHERS: Final = "Genes and other databases"
CORPUS: Final = "Your corpus"
LOCAL: Final = "This program"


COMMANDS: Final = {
    "search": ("Search PubMed and see how it understood the query.", PUBMED),
    "facets": ("Count a query's results by year, journal, publication type and MeSH heading.", PUBMED),
    "fetch": ("Fetch records by PMID, PMCID or DOI, one or a hundred thousand.", PUBMED),
    "fulltext": ("Read full articles: sections, tables, references.", PUBMED),
    "show": ("Read a record as a page that begins with retractions.", PUBMED),
    "related": ("Find similar, citing and cited articles, in one or more steps.", PUBMED),
    "cite": ("Format citations in journal styles, or write files for reference managers.", PUBMED),
    "match": ("Find the PMIDs of references, and compare them with the records.", PUBMED),
    "verify": ("Look for the quotations and statements of a draft in the papers that it cites.", PUBMED),
    "check": ("Check the references of a file, including all authors and retractions.", PUBMED),
    "strategy": ("Translate, count and check the search strategy of a review, line by line.", PUBMED),
    "merge": ("Merge files of references: link duplicates and families, and count per database.", PUBMED),
    "review": ("Keep a systematic review as a folder: search, deduplicate, screen, update, report.", PUBMED),
    "convert": ("Convert between PMIDs, PMCIDs and DOIs.", PUBMED),
    "europepmc": ("Search Europe PMC, including preprints.", PUBMED),
    "mesh": ("Look up MeSH headings by name, synonym, identifier or tree number.", PUBMED),
    "spell": ("Check the spelling of a query.", PUBMED),
    "gene": ("Find a gene, show it, and find its literature.", OTHERS),
    "db": ("Search, summarize, fetch and link any Entrez database.", OTHERS),
    "corpus": ("Keep the results of queries on this computer: sync, search, compare, export.", CORPUS),
    "local": ("Keep a copy of PubMed on this computer, and search it without requests.", CORPUS),
    "sandbox": ("Simulate NCBI on this computer, with invented articles.", LOCAL),
    "serve": ("Start the MCP server for agents: every operation is a tool.", LOCAL),
    "doctor": ("Find out why a connection to NCBI fails.", LOCAL),
    "cache": ("Show, clear or prune cached replies.", LOCAL),
    "config": ("Show and change settings.", LOCAL),
    "guide": ("Read or search the guides: exit codes, formats and other subjects.", LOCAL),
}
"""Every subcommand, with its line and its section in the help.

The module with its name in this folder is imported when it runs, and has ``app`` (a group) or ``command``.
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
        """Import the called command; `help COMMAND` means `COMMAND --help`."""
        if args[:1] == ["help"]:
            args = [word for word in args if word not in ("help", *HELP_NAMES)]
            if ctx.resilient_parsing and not args:  # completion offers the commands after `help`
                return None, None, []
            args.append("--help")
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name and command else command, rest


@cache
def load_command(name: str) -> Any:
    """Import a subcommand and add the common options; a later call in this process returns the same object."""
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
    """Search and read PubMed from the terminal, with complete results and within NCBI's limits.

    Try [bold]entrez-kit --demo search base editing[/bold]. It works without a network.
    """


@cache
def build() -> TyperGroup:
    """Return the program as a group of commands that are imported when called."""
    app = typer.Typer(
        cls=LazyGroup,
        name=PROGRAM,
        rich_markup_mode="rich",
        context_settings={"help_option_names": HELP_NAMES},
        epilog="Data goes to stdout, everything else to stderr. `entrez-kit guide exit-codes` explains the exit codes.",
    )
    app.callback()(_program)
    group = typer.main.get_command(app)
    add_common_options(group, below_too=False)  # its commands get them at import
    return cast(TyperGroup, group)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit status.

    Args:
        argv: arguments without the program's name; those of the process by default.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    state = State()
    state.arguments = arguments
    try:
        with signals_end_the_program():
            status = _run_command(arguments, state)
            status = _flush(status, state)
            status = _finish_recording(status, state)
    except ReaderGone:
        drop_output()
        status = int(Exit.DONE)
    except KeyboardInterrupt:
        state.report_interrupt()
        status = int(Exit.INTERRUPTED)
    except Ended as ended:
        status = 128 + ended.number
    with contextlib.suppress(Exception, KeyboardInterrupt):
        state.finish_recording(None)  # removes the recording of an interrupted command
    with contextlib.suppress(Exception, KeyboardInterrupt):  # the work is done; errors while closing do not matter
        state.close()
    return status


def _run_command(arguments: list[str], state: State) -> int:
    request_id = tracing.create_request_id()
    try:
        return _call(arguments, state)
    except typer.TyperException as exc:
        ctx = getattr(exc, "ctx", None)
        if ctx is not None and exc.message == MISSING_COMMAND and not state.for_machines:
            return _show_help(ctx)
        error: EntrezKitError = _convert_usage_error(exc, arguments)
    except typer.Abort:
        return int(Exit.INTERRUPTED)
    except EntrezKitError as exc:
        error = exc
    except Exception as exc:
        failure = _find_output_failure() if isinstance(exc, OSError) else None
        if failure is not None:
            from ._formats import write_error

            drop_output()
            error = write_error("standard output", failure)
        else:
            from entrez_kit.core.operation import internal_error

            state.open_log()
            error = internal_error(exc, request_id)
    if "--json" in arguments:  # a usage error may occur before the flag is read
        state.flags["json"] = True
    from ._report import report_error

    report_error(state, error, request_id)
    return int(error.exit_code)


_COMPLETIONS: Final = ("--show-completion", "--install-completion")
_SHELLS: Final = ("bash", "zsh", "fish", "powershell", "pwsh")


def _complete_for(option: str, shell: str) -> int:
    """Show or install the completion for a named shell; typer's own options use the current shell."""
    from typer._completion_shared import get_completion_script, install

    variable = f"_{PROGRAM.replace('-', '_').upper()}_COMPLETE"
    if option == "--show-completion":
        typer.echo(get_completion_script(prog_name=PROGRAM, complete_var=variable, shell=shell))
    else:
        _, path = install(shell, PROGRAM, variable)
        typer.echo(f"{shell} completion installed in {path}; it is active in new shells.")
    return int(Exit.DONE)


def _call(arguments: list[str], state: State) -> int:
    if len(arguments) == 2 and arguments[0] in _COMPLETIONS and arguments[1] in _SHELLS:
        return _complete_for(*arguments)
    try:
        result = build().main(args=arguments, prog_name=PROGRAM, standalone_mode=False, obj=state)
    except SystemExit as exc:  # shell completion ends this way
        return exc.code if isinstance(exc.code, int) else int(Exit.DONE)
    if result == Exit.INTERRUPTED:  # typer's status for a KeyboardInterrupt
        state.report_interrupt()
    return result if isinstance(result, int) else int(Exit.DONE)


def _show_help(ctx: typer.Context) -> int:
    """Show the help if no command was given, on stderr, because it was not requested."""
    with contextlib.redirect_stdout(sys.stderr):
        print(ctx.get_help(), end="")  # noqa: T201  # rich prints it and returns an empty string
    return int(Exit.BAD_INPUT)


def _convert_usage_error(exc: typer.TyperException, arguments: Sequence[str]) -> InvalidInput:
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
    unknown = NO_SUCH.match(message)
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
    from ._frontend import name_options

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


def _find_output_failure() -> OSError | None:
    """Return the error if standard output cannot be written, e.g. for help pages that rich prints."""
    try:
        flush_output()
    except OSError as exc:
        return exc
    return None


def _flush(status: int, state: State) -> int:
    """Flush standard output, which reports a full disk at the latest."""
    failure = _find_output_failure()
    if failure is not None:
        drop_output()
        if status == Exit.DONE:
            from ._formats import write_error
            from ._report import report_error

            report_error(state, write_error("standard output", failure))
            status = int(Exit.LOCAL_STORE)
    return status


def _finish_recording(status: int, state: State) -> int:
    """Write the recording of --record; return the status of the command, or that of an error in writing."""
    try:
        state.finish_recording(None if status == Exit.INTERRUPTED else status)
    except EntrezKitError as exc:
        from ._report import report_error

        report_error(state, exc)
        return int(exc.exit_code) if status == Exit.DONE else status
    return status


# Standard streams and signals


class GuardedOutput(io.TextIOWrapper):
    """Standard output in UTF-8 that raises ReaderGone for every writer if the reader has left."""

    def write(self, text: str) -> int:
        """Write text."""
        try:
            return super().write(text)
        except BrokenPipeError:
            raise ReaderGone from None

    def flush(self) -> None:
        """Flush the written text."""
        try:
            super().flush()
        except BrokenPipeError:
            raise ReaderGone from None


def prepare_streams() -> None:
    """Set up standard streams in UTF-8 for any locale, even if the caller closed them."""
    _fill_closed_descriptors()
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # lives as long as the process
    elif sys.platform == "win32" and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # the Windows console is not only a descriptor
    elif sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        # A second wrapper over the same descriptor; the first has an empty buffer and stays valid.
        binary = os.fdopen(sys.stdout.fileno(), "wb", closefd=False)
        sys.stdout = GuardedOutput(binary, encoding="utf-8", errors="replace", line_buffering=binary.isatty())
    if sys.stderr is not None and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(encoding="utf-8", errors="replace")


def _fill_closed_descriptors() -> None:
    """Open the null device for closed standard streams, so that no cache file gets their descriptors."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor, which is this one


def flush_output() -> None:
    """Flush standard output.

    Raises:
        ReaderGone: the reader has left.
        OSError: standard output cannot be written.
    """
    if sys.stdout is not None and not sys.stdout.closed:
        sys.stdout.flush()


def drop_output() -> None:
    """Redirect standard output to the null device, so that Python reports no error at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def signals_end_the_program() -> Iterator[None]:
    """Turn signals that end a process into ``Ended``, so that temporary files are removed on the way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise Ended(number)

    before = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A signal that the caller ignores (nohup) stays ignored.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# Common options, which are allowed before or after the name of a command


OUTPUT: Final = "Output"
HELP_NAMES: Final = ["-h", "--help"]
EVERYWHERE: Final = "Options of every command"


def _keep(ctx: typer.Context, param: typer.CallbackParam, value: Any) -> Any:
    """Store the value of an option: one after the name of a command replaces one before it."""
    if value is not None and value != [] and isinstance(ctx.obj, State) and not ctx.resilient_parsing:
        ctx.obj.flags[str(param.name)] = value
    return value


def _invoke(run: Callable[[Any], Any], ctx: Any) -> Any:
    """Run a command; before it open its recording, if there is one."""
    if isinstance(ctx.obj, State):
        ctx.obj.command = ctx.command
        if ctx.obj.flags.keys() & {"record", "replay"}:
            from ._recording import open_recording

            open_recording(ctx.obj, ctx.command_path.partition(" ")[2])
    return run(ctx)


def _complete_format(ctx: typer.Context, incomplete: str) -> list[str]:
    return [one.name for one in get_formats(ctx.command).accepted if one.name.startswith(incomplete)]


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


_FORMAT: Final = "Output format: {formats}. Default: {default}."
_FIELDS: Final = "Print only these fields, separated by commas. A dot selects a nested field.{example}"
_FAMILY_OF: Final = {"count": Family.COUNT, "no_header": Family.ROWS}
"""By option, the formats that it needs; commands without them do not have it."""
_NO_HEADER: Final = "Omit the names of the columns in csv and tsv."
_FILE: Final = "Write to a file, which stays unchanged on failure; its suffix selects the format{ids}."
_DEMO: Final = "Use a sandbox with invented articles, without a network."
_LOCAL: Final = "Answer from a local copy of PubMed, without requests; see `entrez-kit local`."
_RECORD: Final = "Record all requests and replies in a file, for --replay; see `entrez-kit guide recordings`."
_REPLAY: Final = "Answer from a recording: the same command prints the same bytes, without a network."
_VERBOSE: Final = "Show request ids, cache hits, timings and the log."
_CONFIG: Final = "User config to read instead of the default one."
_COUNT: Final = "Short for -f count: the number of results."


def _declare_common(
    format: Annotated[
        str | None,
        _flag("-f", "--format", metavar="FORMAT", help=_FORMAT, panel=OUTPUT, autocompletion=_complete_format),
    ] = None,
    json: Annotated[bool | None, _flag("--json", help="Short for -f json.", panel=OUTPUT)] = None,
    count: Annotated[bool | None, _flag("--count", help=_COUNT, panel=OUTPUT)] = None,
    fields: Annotated[list[str] | None, _flag("--fields", metavar="A,B.C", help=_FIELDS, panel=OUTPUT)] = None,
    no_header: Annotated[bool | None, _flag("--no-header", help=_NO_HEADER, panel=OUTPUT)] = None,
    output: Annotated[Path | None, _flag("-o", "--output", metavar="FILE", help=_FILE, panel=OUTPUT)] = None,
    demo: Annotated[bool | None, _flag("--demo", help=_DEMO)] = None,
    local: Annotated[str | None, _flag("--local", metavar="NAME", help=_LOCAL)] = None,
    record: Annotated[Path | None, _flag("--record", metavar="FILE.ekz", help=_RECORD)] = None,
    replay: Annotated[Path | None, _flag("--replay", metavar="FILE.ekz", help=_REPLAY)] = None,
    offline: Annotated[bool | None, _flag("--offline", help="Use only the cache and the corpus.")] = None,
    refresh: Annotated[bool | None, _flag("--refresh", help="Send new requests and replace cached replies.")] = None,
    no_cache: Annotated[bool | None, _flag("--no-cache", help="Neither read nor write the cache.")] = None,
    quiet: Annotated[bool | None, _flag("-q", "--quiet", help="Print no notes, only warnings and errors.")] = None,
    verbose: Annotated[bool | None, _flag("-v", "--verbose", help=_VERBOSE)] = None,
    color: Annotated[
        Literal["auto", "always", "never"] | None,
        _flag("--color", metavar="WHEN", help="When to use color: auto, always or never."),
    ] = None,
    config_file: Annotated[Path | None, _flag("--config", metavar="FILE", help=_CONFIG)] = None,
) -> None:
    """Declare the common options; never called."""


def add_common_options(command: Any, *, below_too: bool = True) -> None:
    """Add the common options to a command and its subcommands."""
    below = getattr(command, "commands", None)
    command.help = join_lines(command.help or "")
    if below is not None:
        command.no_args_is_help = False  # a missing command is an error; _app shows the help
    for inner in (below or {}).values() if below_too else ():
        add_common_options(inner)
    if below is None or command.invoke_without_command:
        command.invoke = partial(_invoke, command.invoke)
    formats = get_formats(command)
    known = formats.accepted
    taken = {option for parameter in command.params for option in parameter.opts}
    for parameter in map(copy, _build_common_parameters()):
        if taken.intersection(parameter.opts):
            continue
        if below is not None and parameter.rich_help_panel == OUTPUT:
            parameter.hidden = True  # accepted before the name, but shown in the help of commands
        family = _FAMILY_OF.get(str(parameter.name))
        if family is not None and below is None and not any(one.family is family for one in known):
            continue
        if parameter.name == "format":
            terminal, pipe = formats.default_on_terminal, formats.default_in_pipe
            default = str(pipe) if terminal is pipe else f"{terminal} on a terminal, {pipe} in a pipe"
            parameter.help = parameter.help.format(formats=", ".join(one.name for one in known), default=default)
        if parameter.name == "fields":
            example = f" Example: {formats.fields}." if formats.fields else ""
            parameter.help = parameter.help.format(example=example)
        if parameter.name == "output":
            lists_ids = any(one.family is Family.IDS for one in known)
            parameter.help = parameter.help.format(ids=" (.txt: ids)" if lists_ids else "")
        command.params.append(parameter)
    help_option = command.get_help_option(typer.Context(command, help_option_names=HELP_NAMES))
    for parameter in command.params:
        if parameter.param_type_name == "option" and not (parameter.is_flag or parameter.multiple or parameter.count):
            _refuse_second_value(parameter)
    for parameter in (*command.params, help_option):
        if parameter is not None and (getattr(parameter, "is_flag", False) or parameter.param_type_name == "argument"):
            # "<bool>" and "<list[str]>" do not help a biologist.
            parameter.display_type_rich = lambda ctx: None


def join_lines(text: str) -> str:
    """Join the lines that a docstring breaks within a sentence. An example keeps its own line."""
    paragraphs = []
    for paragraph in text.split("\n\n"):
        first, *rest = paragraph.splitlines() or [""]
        lines = [first]
        for line in rest:
            is_end = lines[-1].endswith((".", ":")) or _EXAMPLE.search(lines[-1])
            if is_end or _EXAMPLE.match(line):
                lines.append(line)
            else:
                lines[-1] = f"{lines[-1]} {line}"
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs)


def _refuse_second_value(parameter: Any) -> None:
    """Refuse an option of one value that is given twice with different values: typer takes the last one."""

    def declare(parser: Any, ctx: Any) -> None:
        parser.add_option(parameter, parameter.opts, parameter.name, action="append", nargs=parameter.nargs)

    def handle(ctx: Any, opts: Any, args: list[str]) -> Any:
        values = opts.get(parameter.name)
        if isinstance(values, list):
            if len(set(values)) > 1 and not ctx.resilient_parsing:
                texts = ", ".join(cut_middle(str(one), MAX_VALUE) for one in values)
                raise typer.BadParameter(f"takes one value, but was given {len(values)}: {texts}", ctx, parameter)
            opts = {**opts, parameter.name: values[-1]}
        return handle_one(ctx, opts, args)

    handle_one = parameter.handle_parse_result
    parameter.add_to_parser = declare
    parameter.handle_parse_result = handle


@cache
def _build_common_parameters() -> tuple[Any, ...]:
    """Return the common options as typer parameters; each command uses copies, because it changes some."""
    app = typer.Typer(add_completion=False)
    app.command()(_declare_common)
    return tuple(typer.main.get_command(app).params)
