"""The terminal front end: ``main``, the list of subcommands, and the handling of errors."""

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from types import FrameType
from typing import Annotated, Any, Final, cast

import typer
from typer.core import TyperCommand, TyperGroup

from entrez_kit.base import __version__, tracing
from entrez_kit.base.errors import EntrezKitError, Exit

from . import PROGRAM, Ended, ReaderGone, load_command
from ._options import HELP_NAMES, App, CommandGroup
from ._state import State

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

The module with its name in this folder is imported when it runs, and has its commands in ``app``.
"""


class Program(CommandGroup):
    """The program: a group that lists its commands without importing them."""

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
    app = App(
        cls=Program,
        add_completion=True,
        name=PROGRAM,
        rich_markup_mode="rich",
        context_settings={"help_option_names": HELP_NAMES},
        epilog="Data goes to stdout, everything else to stderr. `entrez-kit guide exit-codes` explains the exit codes.",
    )
    app.callback()(_program)
    return cast(TyperGroup, typer.main.get_command(app))


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
        from ._usage_errors import MISSING_COMMAND, convert_usage_error

        ctx = getattr(exc, "ctx", None)
        if ctx is not None and exc.message == MISSING_COMMAND and not state.for_machines:
            return _show_help(ctx)
        error: EntrezKitError = convert_usage_error(exc)
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
        sys.stdout = GuardedOutput(os.fdopen(1, "wb", closefd=False), encoding="utf-8", errors="replace")
    elif sys.platform == "win32" and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # the Windows console is not only a descriptor
    elif sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        # A second wrapper over the same descriptor; the first has an empty buffer and stays valid.
        binary = os.fdopen(sys.stdout.fileno(), "wb", closefd=False)
        sys.stdout = GuardedOutput(binary, encoding="utf-8", errors="replace", line_buffering=binary.isatty())
    if sys.stderr is not None and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(encoding="utf-8", errors="replace")


def _fill_closed_descriptors() -> None:
    """Open the null device for closed standard streams, so that no cache file gets their descriptors.

    It is opened for reading as standard output, so that writing data fails in place of losing them.
    """
    for descriptor, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                os.open(os.devnull, mode)  # gets the lowest free descriptor, which is this one


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
