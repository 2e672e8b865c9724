"""Run an operation, print the outcome, set the exit status; and the same for documents a command made itself.

A command takes a ``typer.Context`` as ``ctx`` and calls ``run`` (an operation) or ``emit`` (its own document). Data
goes to stdout or to the file of ``-o``; ``note`` and ``warn`` go to stderr. A command fails by raising an
``EntrezKitError`` and ends with another status than 0 by raising ``typer.Exit(status)``: ``_app.main`` does the rest.
``@accepts(...)`` above a command declares its formats where they are others than table and json.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import typer

from entrez_kit.errors import EntrezKitError, Exit
from entrez_kit.model import Request, Result
from entrez_kit.operation import DEMO, Operation, Outcome, execute
from entrez_kit.settings import DEMO_WARNING

from ._formats import (
    PAGE_BREAK,
    Column,
    Failed,
    Ids,
    JsonLines,
    Pages,
    Record,
    Rows,
    Shape,
    Writer,
    as_data,
    columns_for,
    json_text,
    project,
    unknown_field,
    values_at,
)
from ._output import Sink
from ._report import counted, report_error, report_notices, report_trace
from ._state import Plan, State, accepts, no_fields

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from entrez_kit.services import Services

__all__ = ["View", "accepts", "counted", "emit", "finish", "help_of", "note", "plan", "run", "state", "stream", "warn"]

Req = TypeVar("Req", bound=Request)
Res = TypeVar("Res", bound=Result)
Done = TypeVar("Done", bound=Result)


@dataclass(frozen=True)
class View(Generic[Res]):
    """How the result of an operation is shown.

    Args:
        table: makes what a terminal shows.
        records: the result's records as plain data: lines of jsonl, rows of csv and tsv, items of md, ids.
        columns: what csv and tsv hold unless the user names fields.
        records_key: where the records stand in the JSON document; ``--fields`` reaches into it.
        record_model: model of one record, where it is another than the result model has at that place.
        page: one record in Markdown.
        between: what separates two records in Markdown.
        id_key: the field that ids prints.
        raw: what the format ``text`` prints: a service's own words.
    """

    table: "Callable[[Res, Console], RenderableType]"
    records: Callable[[Res], Iterable[Record]]
    columns: Mapping[str, Column]
    records_key: str
    record_model: Any = None
    page: Callable[[Record], str] | None = None
    between: str = PAGE_BREAK
    id_key: str = "pmid"
    raw: Callable[[Res], str | bytes] | None = None


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


def help_of(operation: Operation[Any, Any], name: str) -> str:
    """Return the description of a request field, for the help of its flag; ``date_range.min_date`` goes deeper."""
    model: Any = operation.request
    *parents, last = name.split(".")
    for parent in parents:
        annotation = model.model_fields[parent].annotation
        model = next(kind for kind in getattr(annotation, "__args__", (annotation,)) if hasattr(kind, "model_fields"))
    # Square brackets are markup to the help page, and field tags to PubMed.
    return str(model.model_fields[last].description or "").replace("[", r"\[")


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
    if records is None:
        records = data if isinstance(data, list) else [data]
    rows = [as_data(row) for row in records]
    shape = Shape(sample=rows)
    columns: dict[str, Column] = {name: _getter(name) for name in shape.names()}
    with Sink(made.target) as sink:
        if made.format == "json":
            top = Shape(sample=data if isinstance(data, list) else [data])
            for path in made.fields:
                if not top.knows(path):
                    raise unknown_field(path, top.names())
            sink.data(json_text(project(data, made.fields) if made.fields else data) + "\n")
        elif made.format == "table":
            chosen = columns_for(made.fields, columns, shape) if made.fields else None
            _print_table(ctx, sink, lambda console: _grid(rows, chosen) if chosen else table())
        else:
            _write(writer_for(made, sink, columns, shape, page), rows)
    report_notices(state(ctx))
    _confirm(ctx, made)


def run(
    ctx: typer.Context,
    operation: Operation[Req, Res],
    arguments: Mapping[str, Any],
    view: View[Res],
    *,
    afterwards: Callable[[Res], EntrezKitError | None] | None = None,
) -> None:
    """Run an operation, print its result in the format the user wants, and end with the status it deserves.

    Args:
        ctx: the command's context.
        operation: what to run.
        arguments: the request's fields.
        view: how to show the result.
        afterwards: called with the printed result; prints remarks and may return an error to end with.
    """
    made = plan(ctx)
    with Sink(made.target) as sink:
        show = presenter(ctx, made, view, operation.result, sink)
        started = time.monotonic()
        outcome = execute(operation, state(ctx).services, arguments)
        elapsed = 1000 * (time.monotonic() - started)
        result = outcome.result
        if result is not None:
            if made.format != "json":  # the document is the same at every door
                result = _in_flags(_without_demo(result), ctx)
            tell_warnings(ctx, result)
            show(result)
        if found_nothing(outcome):
            sink.discard()
    remark = afterwards(result) if afterwards is not None and result is not None else None
    finish(ctx, outcome, elapsed, remark=remark, document=operation.error_document)


_NAMED_FIELD: Final = re.compile(r"`([a-z_]+)`")
_FLAGS_OF_GROUPS: Final = {"date_range": "--min-date/--max-date"}
"""Fields of requests that are several flags."""


def _in_flags(result: Res, ctx: typer.Context) -> Res:
    """Say ``--species`` where a warning says `species`."""
    warnings = getattr(result, "warnings", None)
    if not warnings:
        return result
    known = {**_FLAGS_OF_GROUPS, **flags_of(ctx)}

    def in_flags(text: str) -> str:
        return _NAMED_FIELD.sub(lambda match: known.get(match[1], match[0]), text)

    said = [
        in_flags(warning)
        if isinstance(warning, str)
        else warning.model_copy(update={"message": in_flags(warning.message)})
        for warning in warnings
    ]
    return result.model_copy(update={"warnings": said})


def _without_demo(result: Res) -> Res:
    """Leave out the warning that every command of the demo has already said on stderr."""
    warnings = getattr(result, "warnings", [])
    others = [warning for warning in warnings if warning != DEMO_WARNING and getattr(warning, "code", "") != DEMO]
    return result.model_copy(update={"warnings": others}) if len(others) < len(warnings) else result


def tell_warnings(ctx: typer.Context, result: Result) -> None:
    """Print on stderr, before any data, the warnings that the format has no place for."""
    made = plan(ctx)
    if made.format == "json" or (made.format == "table" and not made.fields):
        return  # the document and the table show them
    for warning in getattr(result, "warnings", ()):
        warn(ctx, warning if isinstance(warning, str) else warning.message)


def stream(
    ctx: typer.Context,
    operation: Operation[Req, Any],
    arguments: Mapping[str, Any],
    sink: Sink,
    function: "Callable[[Services, Req], Done]",
    result: type[Done],
) -> tuple[Outcome[Done], float]:
    """Run a function that writes records as they arrive in place of an operation's own; ``finish`` follows.

    Args:
        ctx: the command's context.
        operation: whose request it takes.
        arguments: the request's fields.
        sink: what it writes to; thrown away where nothing was found.
        function: writes, and returns what is left to know.
        result: the model of that.

    Returns:
        What the call came to, and how many milliseconds it took.
    """
    changes: dict[str, Any] = {"function": function, "result": result}
    started = time.monotonic()
    outcome: Outcome[Done] = execute(replace(operation, **changes), state(ctx).services, arguments)
    elapsed = 1000 * (time.monotonic() - started)
    if found_nothing(outcome):
        sink.discard()
    return outcome, elapsed


def finish(
    ctx: typer.Context,
    outcome: Outcome[Any],
    milliseconds: float,
    *,
    remark: EntrezKitError | None = None,
    document: Callable[[EntrezKitError], dict[str, Any]] | None = None,
) -> None:
    """Report what is left to say after the data was printed, and end with the status the outcome deserves.

    Args:
        ctx: the command's context.
        outcome: what the call came to.
        milliseconds: how long it took.
        remark: an error to end with although the call went well.
        document: makes the envelope of an error, where it is not the canonical one.

    Raises:
        typer.Exit: with a status other than 0.
    """
    current = state(ctx)
    report_notices(current)
    error = outcome.error or remark
    if not found_nothing(outcome):
        _confirm(ctx, plan(ctx))
    if error is not None:
        report_error(current, error, outcome.trace.request_id, flags_of(ctx), document)
    report_trace(current, outcome.trace, milliseconds)
    if error is not None:
        raise typer.Exit(status_of(error))


def found_nothing(outcome: Outcome[Any]) -> bool:
    """Tell whether there is nothing worth replacing a file with: no result, or one without a single record."""
    return outcome.result is None or (outcome.error is not None and status_of(outcome.error) != Exit.PARTIAL)


def status_of(error: EntrezKitError) -> int:
    """Return the exit status of an error: 4 where a part of what was asked for was printed."""
    return int(Exit.PARTIAL if error.details.get("partial") is True else error.exit_code)


def flags_of(ctx: typer.Context) -> dict[str, str]:
    """Return what this command calls its parameters: ``{"sort_by": "--sort"}``."""
    flags: dict[str, str] = {}
    for parameter in ctx.command.params:
        if parameter.param_type_name == "option":
            flags[parameter.name] = max(parameter.opts, key=len)
        else:
            flags[parameter.name] = parameter.metavar or parameter.name
    return flags


def writer_for(
    made: Plan,
    sink: Sink,
    columns: Mapping[str, Column],
    shape: Shape,
    page: Callable[[Record], str] | None = None,
    between: str = PAGE_BREAK,
    id_key: str = "pmid",
) -> Writer:
    """Return the writer of a format that goes record by record.

    Raises:
        InvalidInput: --fields names something a record does not have, or goes with a format that has no fields.
    """
    if made.format == "jsonl":
        return JsonLines(sink, made.fields, shape)
    if made.format in ("csv", "tsv"):
        return Rows(sink, columns_for(made.fields, columns, shape), "," if made.format == "csv" else "\t")
    no_fields(made)
    if made.format == "ids":
        return Ids(sink, id_key)
    assert page is not None, "a command that accepts md has pages"
    return Pages(sink, page, between)


def presenter(ctx: typer.Context, made: Plan, view: View[Res], result_model: Any, sink: Sink) -> Callable[[Res], None]:
    """Return the function that prints a result in the format the user wants.

    Raises:
        InvalidInput: --fields names something that is not there; found here, before any request is sent.
    """
    document = Shape(result_model)
    shape = document.below(view.records_key) if view.record_model is None else Shape(view.record_model)
    if made.format == "json":
        paths = _document_paths(made.fields, view.records_key, shape, document)
        return lambda result: sink.data(_json_of(result, paths) + "\n")
    if made.format == "table":
        chosen = columns_for(made.fields, view.columns, shape) if made.fields else None
        return lambda result: _print_table(
            ctx,
            sink,
            lambda console: _grid(view.records(result), chosen) if chosen else view.table(result, console),
        )
    if view.raw is not None and made.format == "text" and not made.fields:
        raw = view.raw
        return lambda result: sink.data(raw(result))
    writer = writer_for(made, sink, view.columns, shape, view.page, view.between, view.id_key)
    return lambda result: _write(writer, view.records(result))


def _document_paths(fields: Sequence[str], records_key: str, records: Shape, document: Shape) -> list[str]:
    """Turn the user's fields into paths of the whole document; those of a record are looked for in its records."""
    paths = []
    for path in fields:
        if records.knows(path):
            paths.append(f"{records_key}.{path}")
        elif document.knows(path):
            paths.append(path)
        else:
            raise unknown_field(path, list(dict.fromkeys([*records.names(), *document.names()])))
    return paths


def _json_of(result: Result, paths: Sequence[str]) -> str:
    if not paths:
        return json_text(result)
    data = as_data(result)
    # What NCBI complained about stays and stands first: fewer fields must not mean fewer warnings.
    kept = [name for name in ("query_broadened", "strict_total", "warnings") if data.get(name) not in (None, [])]
    return json_text(project(data, [*(name for name in kept if name not in paths), *paths]))


def _write(writer: Writer, records: Iterable[Record]) -> None:
    writer.begin()
    for record in records:
        if not isinstance(record, Failed):
            writer.record(record)
        elif isinstance(writer, JsonLines):
            writer.line(record)
    writer.end()


def _getter(name: str) -> Column:
    return lambda record: values_at(record, name)


def _print_table(ctx: typer.Context, sink: Sink, make: "Callable[[Console], RenderableType]") -> None:
    from ._console import console_for

    console = console_for(sink, state(ctx).color)
    console.print(make(console), crop=False)  # everything fits but the lines of files, which stay whole


def _grid(records: Iterable[Record], columns: Mapping[str, Column]) -> "RenderableType":
    from ._render import grid

    return grid([record for record in records if not isinstance(record, Failed)], columns)


def _confirm(ctx: typer.Context, made: Plan) -> None:
    """Say where the data went, to a person who cannot see it."""
    if made.target is not None and state(ctx).stderr_is_terminal:
        note(ctx, f"Written to {made.target}.")
