"""Run an operation in a terminal: outcomes, a writer, the exit status.

A command takes a ``typer.Context`` as ``ctx`` and calls ``run``, or ``emit`` for a document that it made itself. Data
goes to stdout or to the file of ``-o``; ``note`` and ``warn`` write to stderr. A command fails by raising an
``EntrezKitError``, and ends with another status than 0 by raising ``typer.Exit(status)``: ``_app.main`` reports both.
``@accept_formats(...)`` above a command declares its formats, if it has more than tables and documents.
"""

import shlex
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Final, TypeVar

import typer

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError, Exit
from entrez_kit.base.frontend_text import Text
from entrez_kit.base.output_formats import Family, Format
from entrez_kit.core.model import Request, Result
from entrez_kit.core.operation import Answer, Execution, Operation, Outcomes, StreamOperation, catch_errors

from ._formats import Job, Sink, View, Writer
from ._state import Plan, State, is_terminal, refuse_fields, usage_error

Req = TypeVar("Req", bound=Request)
Res = TypeVar("Res", bound=Result)

_ANY_ID: Final = "1"
"""An input that every operation accepts; it takes the place of an empty list in the validation of the options."""


def get_state(ctx: typer.Context) -> State:
    """Return the shared state of commands: ``.settings``, ``.services`` and ``.flags``."""
    assert isinstance(ctx.obj, State)
    return ctx.obj


def plan(ctx: typer.Context) -> Plan:
    """Return format, fields and target file of this command.

    Raises:
        InvalidInput: the command does not print the format, or the target is a folder.
    """
    return get_state(ctx).make_plan(ctx.command)


def note(ctx: typer.Context, text: Text) -> None:
    """Print ``Note: text`` on stderr, unless -q."""
    get_state(ctx).note(text)


def warn(ctx: typer.Context, text: Text) -> None:
    """Print ``Warning: text`` on stderr, also with -q."""
    get_state(ctx).warn(text)


def report_omitted(ctx: typer.Context, text: Text) -> None:
    """Print what the output leaves out: a warning if a file has only a part of the results, else a note."""
    (warn if plan(ctx).target is not None else note)(ctx, text)


def describe_rest(number: int, option: str) -> str:
    """Return the text about results that are not shown.

    Args:
        number: how many are not shown.
        option: the option that shows them, with its value.
    """
    from entrez_kit.base.frontend_text import format_count

    return f"{format_count(number, 'more result')}. Add {option} to show {'it' if number == 1 else 'them'}."


def suggest_next(ctx: typer.Context, *commands: str) -> None:
    """Print the likely next commands on stderr, if a terminal shows the table; not with -q."""
    current, output = get_state(ctx), plan(ctx)
    if output.format.family is not Family.SCREEN or output.target is not None or output.fields or current.quiet:
        return
    if is_terminal(sys.stdout):
        local = current.flags.get("local")
        place = "--demo " if current.flags.get("demo") else f"--local {shlex.quote(local)} " if local else ""
        current.say(f"Next: {' · '.join(f'entrez-kit {place}{command}' for command in commands)}", "dim")


def was_typed(ctx: typer.Context, name: str) -> bool:
    """Return whether an argument was given on the command line."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _name_option(ctx: typer.Context, name: str) -> str:
    from ._frontend import name_options

    return name_options(ctx.command)[name]


def refuse_without(ctx: typer.Context, name: str, other: str) -> None:
    """Refuse an argument of the command line that has no effect without another option.

    Raises:
        InvalidInput: the argument was given.
    """
    if was_typed(ctx, name):
        flag = _name_option(ctx, name)
        raise usage_error(f"{flag} has no effect without {other}.", name, f"Add {other}, or omit {flag}.")


def refuse_beside(ctx: typer.Context, name: str, other: str, hint: str) -> None:
    """Refuse an argument of the command line that another one excludes.

    Raises:
        InvalidInput: the argument was given.
    """
    if was_typed(ctx, name):
        raise usage_error(f"{_name_option(ctx, name)} cannot be used with {other}.", name, hint)


def build_request(
    ctx: typer.Context, operation: Operation[Req, Res], values: Mapping[str, Any], model: type[Req] | None = None
) -> Req:
    """Return the request of an operation; without validation if a list of inputs is empty, since ``run`` sends none.

    Args:
        model: the request of the command, if it has more options than that of the operation.

    Raises:
        typer.Exit: an argument is wrong; the error was reported as the operation writes errors.
    """
    inputs = operation.request.INPUTS
    has_no_inputs = values.get(inputs) == []
    checked = {**values, inputs: [_ANY_ID]} if has_no_inputs else values
    try:
        request = operation.build(checked) if model is None else operation.validate(checked, model)
        return request.model_copy(update={inputs: []}) if has_no_inputs else request
    except EntrezKitError as exc:
        from ._report import report_error

        report_error(get_state(ctx), exc, document=operation.error_document)
        raise typer.Exit(find_status(exc)) from None


def run(
    ctx: typer.Context,
    operation: Operation[Req, Res, Answer],
    request: Req,
    view: View[Res],
    *,
    label: str = "Working",
    least: int = 0,
    begin: Callable[[int], None] | None = None,
    idle: str = "Standard input contained no ids, so no request was sent.",
    afterwards: Callable[[Answer], EntrezKitError | None] | None = None,
) -> Answer | None:
    """Run an operation, print its outcomes in the selected format, and end with the status of the call.

    Args:
        view: the view of the outcomes and the result.
        label: the text of the progress bar.
        least: the number of steps above which a progress bar is shown.
        begin: called with the number of steps when it is known.
        idle: the note for an empty list of inputs. This is not a failure: in a pipe, a search without results may come
            before this command.
        afterwards: called with what this function returns, after it was printed; prints notes and may return an error
            to end with.

    Returns:
        The answer of the operation: its result, or its outcomes after their iteration; None without inputs.
    """
    output = plan(ctx)
    with Sink(output.target) as sink:
        writer = create_writer(Job(output, view, operation.result, sink, get_state(ctx)))
        if getattr(request, request.INPUTS, None) == []:
            note(ctx, idle)
            _print_nothing(ctx, operation, request, writer)
            return None
        _ = get_state(ctx).services  # reading the settings is not part of the call
        started = time.monotonic()
        with _watch(get_state(ctx), label, least, begin) as end_bar:
            execution = catch_errors(partial(_run_and_write, ctx, operation, request, writer, end_bar))
        elapsed = 1000 * (time.monotonic() - started)
        if is_empty(execution):
            sink.discard()
    answer = execution.result
    if (text := writer.get_note()) is not None:
        note(ctx, text)
    final_error = afterwards(answer) if afterwards is not None and answer is not None else None
    finish(ctx, execution, elapsed, final_error=final_error, document=operation.error_document)
    return answer


def _watch(
    state: State, label: str, least: int, begin: Callable[[int], None] | None
) -> AbstractContextManager[Callable[[], None]]:
    """Show a progress bar on a terminal, as ``watching`` does; otherwise do nothing, and import nothing for it."""
    if begin is None and not state.stderr_is_terminal:
        return nullcontext(lambda: None)
    from ._report import watching

    return watching(state, label, least, begin)


def _print_nothing(ctx: typer.Context, operation: Operation[Any, Any], request: Request, writer: Writer[Any]) -> None:
    """Print an empty result."""
    from entrez_kit.services import Services

    print_result(writer, operation.compute(Services(get_state(ctx).settings), request) if writer.whole else None)


def print_result(writer: Writer[Any], result: Any) -> None:
    """Write a result as the only outcome; without a result only the text around outcomes."""
    writer.begin()
    if result is not None:
        writer.write_outcome(result)
    writer.end()


def _run_and_write(
    ctx: typer.Context,
    operation: Operation[Req, Res, Answer],
    request: Req,
    writer: Writer[Any],
    end_bar: Callable[[], None],
) -> Any:
    """Run an operation and write its result, or its outcomes as they arrive; return the answer."""
    services = get_state(ctx).services
    answer: Any
    with operation.open_trace(services):
        if not isinstance(operation, StreamOperation):
            answer = result = operation.run(services, request, opens_span=False)
        elif writer.whole:  # the result collects the outcomes
            answer = operation.outcomes(services, request)
            collected = operation.collect_result(request, answer, writer.take_record)
            result = operation.add_warnings(services, request, collected)
        else:
            return _write_outcomes(ctx, operation.stream(services, request), writer, end_bar)
        end_bar()
        get_state(ctx).warn_of_demo(tracing.get_current_trace())
        tell_warnings(ctx, result)
        print_result(writer, result)
        return answer


def _write_outcomes(
    ctx: typer.Context, outcomes: Outcomes[Any], writer: Writer[Any], end_bar: Callable[[], None]
) -> Outcomes[Any]:
    """Write outcomes as they arrive, and return them."""
    begun = False
    try:
        for outcome in outcomes:
            if not begun:  # a call that fails at once writes nothing
                begun = True
                if writer.sink.isatty():
                    end_bar()
                tell_warnings(ctx, outcomes)
                writer.begin()
            writer.write_outcome(outcome)
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


def tell_warnings(ctx: typer.Context, result: Result | Outcomes[Any]) -> None:
    """Print the warnings of a result or of its outcomes on stderr, without duplicates, for every format."""
    for text in result.warning_texts():
        warn(ctx, text)


def finish(
    ctx: typer.Context,
    execution: Execution[Any],
    milliseconds: float,
    *,
    final_error: EntrezKitError | None = None,
    document: Callable[[EntrezKitError], dict[str, Any]] | None = None,
) -> None:
    """Report errors after the data was printed, and exit with the status of the call.

    Args:
        final_error: an error to end with although the call succeeded.
        document: builds the envelope of an error, if it is not the canonical one.

    Raises:
        typer.Exit: with a status other than 0.
    """
    current = get_state(ctx)
    current.warn_of_demo(execution.trace)
    current.tell_copy(execution.trace.describe_fidelity())
    report_notes(current)
    error = execution.error or final_error
    if not is_empty(execution):
        confirm_file(ctx, plan(ctx))
    if error is not None:
        from ._report import report_error

        report_error(current, error, execution.trace.request_id, document)
    if current.verbose:
        from ._report import report_trace

        report_trace(current, execution.trace, milliseconds)
    if error is not None:
        raise typer.Exit(find_status(error))


def report_notes(state: State) -> None:
    """Print notes once, and on a terminal advice about API keys."""
    state.report_notes()
    if state.stderr_is_terminal and is_terminal(sys.stdout):
        from ._report import advise_api_key

        advise_api_key(state)


def is_empty(execution: Execution[Any]) -> bool:
    """Return whether a file should not be replaced: there is no result, or it has no records."""
    return execution.result is None or (execution.error is not None and find_status(execution.error) != Exit.PARTIAL)


def find_status(error: EntrezKitError) -> int:
    """Return the exit status of an error: 4 if a part of the result was printed."""
    return int(Exit.PARTIAL if error.details.get("partial") is True else error.exit_code)


def confirm_file(ctx: typer.Context, output: Plan) -> None:
    """Print the name of the written file on a terminal."""
    if output.target is not None and get_state(ctx).stderr_is_terminal:
        note(ctx, f"Written to {output.target}.")


def create_writer(job: Job) -> Writer[Any]:
    """Return the writer of the selected format.

    Raises:
        InvalidInput: ``--fields`` names a field that does not exist, or the format has no fields. This is found before
            any request is sent.
    """
    selected = job.plan.format
    own = job.view.writers.get(selected.name)
    if own is not None or not selected.accepts_fields:
        refuse_fields(job.plan)
    if own is not None:
        return own(job.sink)
    return _import_writer(selected, job)


def _import_writer(selected: Format, job: Job) -> Writer[Any]:
    """Return the writer of a format, and import only its module; text and XML are written by views."""
    match selected.name:
        case "table":
            from ._formats.tables import create_table_writer

            return create_table_writer(job)
        case "json":
            from ._formats.documents import create_json_writer

            return create_json_writer(job)
        case "yaml":
            from ._formats.yaml import create_yaml_writer

            return create_yaml_writer(job)
        case "jsonl":
            from ._formats.documents import create_lines_writer

            return create_lines_writer(job)
        case "csv":
            from ._formats.rows import create_csv_writer

            return create_csv_writer(job)
        case "tsv":
            from ._formats.rows import create_tsv_writer

            return create_tsv_writer(job)
        case "ids":
            from ._formats.plain import create_ids_writer

            return create_ids_writer(job)
        case "md":
            from ._formats.plain import create_page_writer

            return create_page_writer(job)
        case "html":
            from ._formats.printed import create_html_writer

            return create_html_writer(job)
        case "docx":
            from ._formats.printed import create_docx_writer

            return create_docx_writer(job)
        case "count":
            from ._formats.plain import create_count_writer

            return create_count_writer(job)
        case "parquet":
            from ._formats.parquet import create_parquet_writer

            return create_parquet_writer(job)
        case _:
            assert selected.family is Family.REFERENCES, f"a view has to write {selected}"
            from ._formats.references import create_references_writer

            return create_references_writer(job)
