"""The one way an operation runs in a terminal: outcomes, a writer, the exit status; and a document of a command's own.

A command takes a ``typer.Context`` as ``ctx`` and calls ``run`` (an operation) or ``emit`` (its own document). Data
goes to stdout or to the file of ``-o``; ``note`` and ``warn`` go to stderr. A command fails by raising an
``EntrezKitError`` and ends with another status than 0 by raising ``typer.Exit(status)``: ``_app.main`` does the rest.
``@accepts(...)`` above a command declares its formats where they are others than table and json.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import typer

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError, Exit, InvalidInput
from entrez_kit.core.model import Request, Result
from entrez_kit.core.operation import Execution, Operation, Outcomes, SingleOutcome, SummarizedOutcomes, run_catching

from ._formats import View, show_with, writer_for
from ._formats.fields import DocumentPaths, Record, as_data, values_at
from ._formats.writer import Writer
from ._output import Sink
from ._report import counted, report_error, report_notices, report_trace, watching
from ._state import Plan, State, accepts, options_of

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "View",
    "accepts",
    "counted",
    "emit",
    "note",
    "plan",
    "run",
    "show_with",
    "state",
    "warn",
    "whole",
]

Req = TypeVar("Req", bound=Request)
Res = TypeVar("Res", bound=Result)

INPUTS: Final = ("ids", "pmids", "inputs")
"""What requests call the list of their inputs."""
MANY_REQUESTS: Final = 1_000
"""From so many requests on NCBI asks for another hour."""


def state(ctx: typer.Context) -> State:
    """Return what every command shares: ``.settings``, ``.services`` and ``.flags``."""
    assert isinstance(ctx.obj, State)
    return ctx.obj


def plan(ctx: typer.Context) -> Plan:
    """Return format, fields and target file of this command.

    Raises:
        InvalidInput: the command does not print the format, or the target is a folder.
    """
    return state(ctx).planned(ctx.command)


def note(ctx: typer.Context, text: str) -> None:
    """Print ``Note: text`` on stderr, unless -q."""
    state(ctx).note(text)


def warn(ctx: typer.Context, text: str) -> None:
    """Print ``Warning: text`` on stderr, -q or not."""
    state(ctx).warn(text)


def was_typed(ctx: typer.Context, name: str) -> bool:
    """Tell whether an argument was given on the command line, and is no default."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse_without(ctx: typer.Context, name: str, other: str) -> None:
    """Refuse an argument that was typed where it does nothing without another, which was not.

    Raises:
        InvalidInput: it was typed.
    """
    if was_typed(ctx, name):
        flag = options_of(ctx.command)[name]
        raise InvalidInput(
            f"{flag} does nothing without {other}.",
            invalid_input=name,
            recovery_hint=f"Add {other}, or leave {flag} out.",
            details={"reason": "bad_usage"},
        )


def refuse_beside(ctx: typer.Context, name: str, other: str, hint: str) -> None:
    """Refuse an argument that was typed beside another one that means something else.

    Raises:
        InvalidInput: it was typed.
    """
    if was_typed(ctx, name):
        raise InvalidInput(
            f"{options_of(ctx.command)[name]} and {other} contradict each other.",
            invalid_input=name,
            recovery_hint=hint,
            details={"reason": "bad_usage"},
        )


def advise(ctx: typer.Context, records: int) -> None:
    """Say how long very many records take, when NCBI would rather have them asked for."""
    from entrez_kit.pubmed.record_fetcher import BATCH

    requests = -(-records // BATCH)
    settings = state(ctx).settings
    if requests <= MANY_REQUESTS or settings.demo:
        return
    minutes = max(1, round(requests / settings.requests_per_second / 60))
    note(
        ctx,
        f"{counted(records, 'record')} {'takes' if records == 1 else 'take'} {counted(requests, 'request')}: "
        f"at least {counted(minutes, 'minute')}. NCBI asks to run large jobs at "
        "weekends or between 21:00 and 5:00 US Eastern time. An interrupted run goes on where it ended.",
    )


def emit(
    ctx: typer.Context,
    document: Any,
    table: "Callable[[], RenderableType]",
    *,
    records: Sequence[Mapping[str, Any]] | None = None,
    page: Callable[[Record], str] | None = None,
) -> None:
    """Print a document that a command made itself, in the format the user wants.

    Args:
        ctx: the command's context.
        document: a mapping, a list of mappings, or a model; what json prints.
        table: makes what a terminal shows; called only for the table format.
        records: lines of jsonl and rows of csv and tsv; by default the items of a list, or the document.
        page: one record in Markdown, for commands that accept md.

    Raises:
        InvalidInput: --fields names something the document does not have.
    """
    made = plan(ctx)
    data = as_data(document)
    listed = data if isinstance(data, list) else [data]
    rows = listed if records is None else [as_data(row) for row in records]
    shape = DocumentPaths(sample=listed if made.format == "json" else rows)
    view: View[Any] = View(
        table=lambda document, console: table(),
        records=lambda document: rows,
        columns={name: partial(values_at, path=name) for name in shape.names()},
        records_key="",
        page=page,
    )
    with Sink(made.target) as sink:
        _print(writer_for(made, view, shape, sink, state(ctx)), data)
    report_notices(state(ctx))
    _confirm(ctx, made)


def print_text(
    ctx: typer.Context, document: Any, text: str, rendered: "Callable[[], RenderableType] | None" = None
) -> None:
    """Print a text to read, or the document that holds it.

    A pipe gets the text itself unless json was asked for: a guide is read by people, a path by a shell.

    Args:
        ctx: the command's context.
        document: what json prints.
        text: what everything else prints.
        rendered: what a terminal shows; the text itself by default.
    """
    made, flags = plan(ctx), state(ctx).flags
    if made.format == "table" and rendered is not None:
        emit(ctx, document, rendered)
    elif made.format == "json" and (flags.get("json") or flags.get("format") or (made.target and made.target.suffix)):
        emit(ctx, document, lambda: text)
    else:
        with Sink(made.target) as sink:
            sink.data(text if text.endswith("\n") else f"{text}\n")


def run(
    ctx: typer.Context,
    operation: Operation[Req, Res],
    arguments: Mapping[str, Any],
    view: View[Res],
    *,
    label: str = "Working",
    least: int = 0,
    begin: Callable[[int], None] | None = None,
    idle: str = "No ids came from standard input; nothing was asked for.",
    afterwards: Callable[[Any], EntrezKitError | None] | None = None,
) -> Any:
    """Run an operation, print what it says in the format the user wants, and end with the status it deserves.

    A table and JSON show the collected result; every other format takes the outcomes as they come.

    Args:
        ctx: the command's context.
        operation: what to run.
        arguments: the request's fields.
        view: how to show the outcomes and the result.
        label: what the progress bar says.
        least: there is no bar where no more than this is to be done.
        begin: called with how much there is to do, as soon as that is known.
        idle: what to note where a list of inputs is empty. That is no failure, since a search without hits may stand
            before us in the pipe.
        afterwards: called with what was printed, the result or the walked outcomes; prints remarks and may return an
            error to end with.

    Returns:
        What was printed: the result or the walked outcomes; None where there were no inputs.
    """
    made = plan(ctx)
    with Sink(made.target) as sink:
        writer = writer_for(made, view, operation.result, sink, state(ctx))
        if any(arguments.get(name) == [] for name in INPUTS):
            note(ctx, idle)
            from entrez_kit.services import Services

            request: Any = operation.request.model_construct(**arguments)  # which is none, for all who need an input
            _print(writer, operation.answer(Services(state(ctx).settings), request) if writer.whole else None)
            return None
        services = state(ctx).services
        started = time.monotonic()
        with watching(state(ctx), label, least, begin) as end_bar:
            call: Callable[[], Any] = partial(operation.run, services, arguments)
            if not writer.whole:
                call = partial(_write, ctx, operation, arguments, writer, end_bar)
            execution = run_catching(call)
        elapsed = 1000 * (time.monotonic() - started)
        if writer.whole and execution.result is not None:
            tell_warnings(ctx, execution.result)
            _print(writer, execution.result)
        if found_nothing(execution):
            sink.discard()
    said = execution.result.result if isinstance(execution.result, SingleOutcome) else execution.result
    remark = afterwards(said) if afterwards is not None and said is not None else None
    finish(ctx, execution, elapsed, remark=remark, document=operation.error_document)
    return said


def whole(said: Any) -> Any:
    """Return the result of what ``run`` printed, as one or as outcomes."""
    return said.result() if isinstance(said, SummarizedOutcomes) else said


def _print(writer: Writer[Any], result: Any) -> None:
    """Write a result as the only outcome; nothing of an absent one but what stands around."""
    writer.begin()
    if result is not None:
        writer.outcome(result)
    writer.end()


def _write(
    ctx: typer.Context,
    operation: Operation[Any, Any],
    arguments: Mapping[str, Any],
    writer: Writer[Any],
    end_bar: Callable[[], None],
) -> Outcomes[Any]:
    """Write outcomes as they come, and return them walked."""
    services = state(ctx).services
    if not tracing.records_spans():
        return _write_outcomes(ctx, operation.stream(services, arguments), writer, end_bar)
    from entrez_kit.services.transport.spans import operation_span

    with operation_span(operation.name, services.settings):
        return _write_outcomes(ctx, operation.stream(services, arguments), writer, end_bar)


def _write_outcomes(
    ctx: typer.Context, outcomes: Outcomes[Any], writer: Writer[Any], end_bar: Callable[[], None]
) -> Outcomes[Any]:
    begun = False
    try:
        for outcome in outcomes:
            if not begun:  # what fails at once writes nothing
                begun = True
                if writer.sink.isatty():
                    end_bar()
                tell_warnings(ctx, outcomes)
                writer.begin()
            writer.outcome(outcome)
    except EntrezKitError:
        if begun:
            writer.end()
        raise
    if not begun:
        tell_warnings(ctx, outcomes)
        writer.begin()
    writer.end()
    tell_warnings(ctx, outcomes)
    return outcomes


def tell_warnings(ctx: typer.Context, said: Any) -> None:
    """Print the warnings of a result, or of the outcomes so far, on stderr, each once and in every format."""
    for warning in getattr(said, "warnings", ()):
        warn(ctx, warning if isinstance(warning, str) else warning.message)


def finish(
    ctx: typer.Context,
    execution: Execution[Any],
    milliseconds: float,
    *,
    remark: EntrezKitError | None = None,
    document: Callable[[EntrezKitError], dict[str, Any]] | None = None,
) -> None:
    """Report what is left to say after the data was printed, and end with the status the call deserves.

    Args:
        ctx: the command's context.
        execution: what the call came to.
        milliseconds: how long it took.
        remark: an error to end with although the call went well.
        document: makes the envelope of an error, where it is not the canonical one.

    Raises:
        typer.Exit: with a status other than 0.
    """
    current = state(ctx)
    report_notices(current)
    error = execution.error or remark
    if not found_nothing(execution):
        _confirm(ctx, plan(ctx))
    if error is not None:
        report_error(current, error, execution.trace.request_id, document)
    report_trace(current, execution.trace, milliseconds)
    if error is not None:
        raise typer.Exit(status_of(error))


def found_nothing(execution: Execution[Any]) -> bool:
    """Tell whether there is nothing worth replacing a file with: no result, or one without a single record."""
    return execution.result is None or (execution.error is not None and status_of(execution.error) != Exit.PARTIAL)


def status_of(error: EntrezKitError) -> int:
    """Return the exit status of an error: 4 where a part of what was asked for was printed."""
    return int(Exit.PARTIAL if error.details.get("partial") is True else error.exit_code)


def _confirm(ctx: typer.Context, made: Plan) -> None:
    """Say where the data went, to a person who cannot see it."""
    if made.target is not None and state(ctx).stderr_is_terminal:
        note(ctx, f"Written to {made.target}.")
