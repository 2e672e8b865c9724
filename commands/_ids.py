"""Commands over many ids: read the ids, and write a line of jsonl for each id without a result."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import typer

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.invisible import remove_invisible
from entrez_kit.core.model import Result
from entrez_kit.core.operation import Operation
from entrez_kit.core.per_input import PerInput, PerInputAnswer, PerInputResult, take_several

from ._formats import Failed, View
from ._formats.fields import Record
from ._frontend import Terminal
from ._id_lists import IdKind, read_ids
from ._pipeline import build_request, note, plan, report_omitted, run
from ._state import STDIN, is_terminal

Res = TypeVar("Res", bound=Result)

CODES: Final = {
    "not_found": "ENTITY_NOT_FOUND",
    "invalid": "INVALID_INPUT",
    "mismatch": "ENTITY_NOT_FOUND",
    "ambiguous": "AMBIGUOUS_QUERY",
    "error": "UPSTREAM_ERROR",
}
ONE_REQUEST: Final = 200
"""The number of ids above which progress is shown."""


def describe_failure(text: str, status: str, message: str | None, *, code: str | None = None, **more: Any) -> Failed:
    """Return the line of jsonl for an input without a result."""
    extra = {name: value for name, value in more.items() if value}
    error = {"code": code or CODES[status], "message": message or ""}
    return Failed(input=text, status=status, error=error, **extra)


def describe_failed_input(item: PerInputAnswer[Any]) -> Failed:
    """Return the line of jsonl for an input without a result, with the hint of its error."""
    assert item.error is not None, "an outcome has a result or an error"
    terminal_error = item.error.say_in(Terminal())
    error = {
        "code": terminal_error.code,
        "message": terminal_error.message,
        "recovery_hint": terminal_error.recovery_hint,
    }
    return Failed(input=item.input, status=item.build_outcome().status, error=error)


def read_inputs(
    ctx: typer.Context,
    typed: Sequence[str] | None,
    files: Sequence[Path] | None,
    *,
    field: str = "ids",
    noun: str = "ids",
    kind: IdKind | None = None,
    hint: str = "Give ids; - reads them from standard input, -i FILE from a file.",
    error: type[EntrezKitError] = InvalidInput,
) -> list[str]:
    """Read the ids for a command.

    Args:
        typed: ids on the command line; ``-`` is standard input.
        files: files with more ids.
        field: the field of the request.
        noun: the plural noun for messages.
        kind: the kind of identifiers; by default identifiers of articles.
        hint: the hint of the error if there are no ids.
        error: the class of that error.

    Raises:
        InvalidInput: no ids were given, or they cannot be read.
    """
    if STDIN in (typed or ()) and is_terminal(sys.stdin):
        note(ctx, f"Type {noun}, one or more per line. End with Ctrl-D.")
    ids = read_ids(typed or (), files or (), kind=kind)
    has_stdin = STDIN in (*(typed or ()), *map(str, files or ()))
    if not ids and not has_stdin:
        raise error(
            f"No {noun} were given.", invalid_input=field, recovery_hint=hint, details={"reason": "no_identifiers"}
        )
    return ids


NAME_ARTICLES: Final = "Give PMIDs, PMCIDs or DOIs; - reads them from standard input, -i FILE from a file."


def _view_several(view: View[Res], field: str) -> View[PerInputResult]:
    """Return the view of the results of several ids: each record has the id that it belongs to.

    Args:
        view: the view of a single result.
        field: the name of the id in records.
    """
    seen: set[str] = set()

    def list_records(item: PerInputAnswer[Res]) -> Iterator[Record]:
        if item.result is None:
            yield describe_failed_input(item)
            return
        source = getattr(item.result, field, item.input)  # the PMID, if the input was a DOI
        yield from ({field: source, **record} for record in (view.rows or view.records)(item.result))

    def yield_ids(item: PerInputAnswer[Res]) -> Iterator[str]:
        """Yield the ids of a result that earlier results did not have."""
        if item.result is None:
            return
        for uid in view.list_ids(item.result):
            if uid not in seen:
                seen.add(uid)
                yield uid

    def render_table(result: PerInputResult, console: Any) -> Any:
        from rich.console import Group
        from rich.text import Text

        from ._formats.tables import draw

        failed = [outcome for outcome in result.outcomes if outcome.status != "found"]
        missing = [f"{outcome.input}: {outcome.message or outcome.status}" for outcome in failed]
        parts = [part for answer in result.results for part in (draw(view, answer, console), Text(""))]
        return Group(*parts, *(Text(remove_invisible(text), style="yellow") for text in missing))

    return View(
        table=render_table,
        records=list_records,
        record_model=Any,
        columns={field: lambda record: record.get(field), **view.columns},
        page=view.page,
        between=view.between,
        ids=yield_ids,
        total=lambda result: _add(map(view.total, result.results)),
    )


def _add(totals: Iterable[int | None]) -> int | None:
    """Return the sum, or None if a total is unknown."""
    whole = 0
    for total in totals:
        if total is None:
            return None
        whole += total
    return whole


def run_each(
    ctx: typer.Context,
    operation: Operation[Any, Res],
    field: str,
    ids: Sequence[str],
    options: Mapping[str, Any],
    view: View[Res],
    *,
    left_out: Callable[[Res], int],
    more: str,
    afterwards: Callable[[Res], Any] | None = None,
) -> None:
    """Run an operation for one id, or for each of several ids. With several, every record names its id.

    Args:
        operation: an operation with a single result.
        field: the argument that is an id, and the name of the id in records.
        options: the other arguments.
        view: the view of a single result.
        left_out: returns the number of results that are not listed.
        more: the option that lists more.
        afterwards: prints notes about a single result.
    """
    label = "Following links"
    if len(ids) == 1:
        request = build_request(ctx, operation, {**options, field: ids[0]})
        run(ctx, operation, request, view, label=label, afterwards=afterwards)
        return

    def report_notes(outcomes: PerInput[Res]) -> None:
        results = [answer.result for answer in outcomes.answers.values()]
        cut = [number for result in results if result is not None and (number := left_out(result)) > 0]
        if cut and not plan(ctx).format.has_total:
            report_omitted(ctx, f"{sum(cut):,} more around {format_count(len(cut), 'id')}: raise {more}")

    several = take_several(operation, field)
    run(
        ctx,
        several,
        build_request(ctx, several, {"inputs": list(ids), "arguments": dict(options)}),
        _view_several(view, field),
        label=label,
        afterwards=report_notes,
    )
