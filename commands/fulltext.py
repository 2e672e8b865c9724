"""`entrez-kit fulltext`: the text of articles in sections, one outcome per identifier, in order."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from entrez_kit.errors import EntrezKitError, InvalidInput
from entrez_kit.fulltext.chain import BATCH
from entrez_kit.fulltext.models import FulltextArticle, Truncation, Unavailable
from entrez_kit.fulltext.operation import (
    FETCH_FULLTEXT,
    KINDS,
    Fetched,
    FulltextRequest,
    FulltextResult,
    fetched,
    result_of,
    shortfall_of,
    truncation_of,
)
from entrez_kit.identifiers import Identifier, read_identifier
from entrez_kit.model import Result, Warn
from entrez_kit.operation import execute
from entrez_kit.pubmed.standing_lookup import standing_shortfall
from entrez_kit.services import Services

from ._formats import PAGE_BREAK, Column, Ids, JsonLines, Pages, Record, Shape, Writer, as_data, values_at
from ._ids import InputFiles, failed
from ._input import STDIN, read_ids, stdin_is_terminal
from ._output import Sink
from ._progress import Advance, progress
from ._run import (
    View,
    accepts,
    counted,
    finish,
    found_nothing,
    help_of,
    note,
    plan,
    run,
    state,
    stream,
    warn,
    writer_for,
)
from ._state import is_terminal, no_fields

WHOLE: Final = ("table", "json")
"""Formats that need all articles at once."""


def _help(name: str) -> str:
    return help_of(FETCH_FULLTEXT, name)


@accepts("table", "json", "jsonl", "csv", "tsv", "ids", "md")
def command(
    ctx: typer.Context,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID...", help="PMIDs, PMCIDs, DOIs, also mixed; - reads standard input."),
    ] = None,
    input: InputFiles = None,
    include_references: Annotated[bool, typer.Option("--references", help=_help("include_references"))] = False,
    sections: Annotated[
        list[str] | None, typer.Option("--section", metavar="TEXT", help=f"{_help('sections')} May be repeated.")
    ] = None,
    max_sections: Annotated[int | None, typer.Option("--max-sections", metavar="N", help=_help("max_sections"))] = None,
    max_characters: Annotated[
        int | None, typer.Option("--max-characters", metavar="N", help=_help("max_characters"))
    ] = None,
    overflow_mode: Annotated[
        Literal["truncate", "outline"],
        typer.Option("--overflow", metavar="MODE", help=_help("overflow_mode"), show_default=True),
    ] = "truncate",
) -> None:
    """Fetch the full text of articles, from PMC, Europe PMC or an open-access copy.

    A terminal shows the whole text, references included, by page where it is long; -f md writes it as Markdown.
    A table shows the sections and their sizes, csv what was found where, ids which articles have a text:
    entrez-kit --demo fulltext PMC99000001 99000004 -f md -o articles.md
    """
    options: dict[str, Any] = {
        "include_references": include_references,
        "sections": sections or [],
        "max_sections": max_sections,
        "max_characters": max_characters,
        "overflow_mode": overflow_mode,
    }
    inputs = _read(ctx, ids or [], input or [])
    if _is_read(ctx):
        _show(ctx, inputs, options)
    elif plan(ctx).format in WHOLE:
        _print_whole(ctx, inputs, options)
    else:
        _stream(ctx, inputs, options)


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What was asked for: texts, and the identifiers in them (None where there is none)."""

    texts: list[str]
    read: list[Identifier | None]

    @property
    def wanted(self) -> list[Identifier]:
        return [identifier for identifier in self.read if identifier is not None]

    @property
    def invalid(self) -> list[str]:
        return [text for text, identifier in zip(self.texts, self.read, strict=True) if identifier is None]

    def arguments(self) -> dict[str, Any]:
        """Return arguments that make a valid request: those of one kind. The others go past it."""
        kind = self.wanted[0].kind if self.wanted else "pmid"
        name = next(name for name, of_kind in KINDS if of_kind == kind)
        return {name: [identifier.given for identifier in self.wanted if identifier.kind == kind][:1] or ["1"]}


def _read(ctx: typer.Context, typed: Sequence[str], files: Sequence[Path]) -> _Inputs:
    if not typed and not files:
        raise InvalidInput(
            "No ids were given.",
            invalid_input="ids",
            recovery_hint="Name PMIDs, PMCIDs or DOIs; - reads them from standard input, -i FILE from a file.",
            details={"reason": "no_identifiers"},
        )
    if STDIN in typed and stdin_is_terminal():
        note(ctx, "Type ids, one or many per line; Ctrl-D ends.")
    texts = read_ids(typed, files)
    if not texts:
        note(ctx, "No ids came from standard input; nothing was asked for.")
    inputs = _Inputs(texts, [read_identifier(text) for text in texts])
    if texts and not inputs.wanted:
        error = shortfall_of([], 0, inputs.invalid)
        assert error is not None
        raise error
    return inputs


def _bar(ctx: typer.Context, inputs: _Inputs, *, shared: bool) -> AbstractContextManager[Advance]:
    total = len(inputs.wanted)
    return progress(state(ctx), "Fetching", total=total, shared=shared or total <= BATCH)


def _watched(
    ctx: typer.Context,
    services: Services,
    request: FulltextRequest,
    inputs: _Inputs,
    *,
    shared: bool = False,
    for_readers: bool = False,
) -> Iterator[Fetched]:
    with _bar(ctx, inputs, shared=shared) as advance:
        outcomes = fetched(services, request, inputs.wanted, for_readers=for_readers)
        for number, item in enumerate(outcomes, start=1):
            advance(number, 0)
            yield item


# To read


def _is_read(ctx: typer.Context) -> bool:
    """Tell whether a person is to read the text here: on a terminal, unless another form was asked for."""
    made = plan(ctx)
    if made.target is not None or not is_terminal(sys.stdout):
        return False
    return made.format == "md" or (
        made.format == "table" and not made.fields and state(ctx).preference("format", None) is None
    )


def _show(ctx: typer.Context, inputs: _Inputs, options: dict[str, Any]) -> None:
    from ._fulltext import fulltext_page, unavailable_page
    from ._reading import show_markdown

    no_fields(plan(ctx))

    def fetch(services: Services, request: FulltextRequest) -> FulltextResult:
        return result_of(request, _watched(ctx, services, request, inputs, for_readers=True), inputs.invalid)

    with Sink(None) as sink:
        outcome, elapsed = stream(ctx, FETCH_FULLTEXT, {**inputs.arguments(), **options}, sink, fetch, FulltextResult)
        if (result := outcome.result) is not None:
            pages = [fulltext_page(as_data(article)) for article in result.articles]
            if result.unavailable or inputs.invalid:
                pages.append(unavailable_page(result.unavailable, inputs.invalid))
            if pages:
                show_markdown(state(ctx), sink, PAGE_BREAK.join(pages))
            _remark(ctx, result.warnings, result.truncation)
    finish(ctx, outcome, elapsed)


# All at once


def _print_whole(ctx: typer.Context, inputs: _Inputs, options: dict[str, Any]) -> None:
    def fetch(services: Services, request: FulltextRequest) -> FulltextResult:
        return result_of(request, _watched(ctx, services, request, inputs), inputs.invalid)

    def table(result: FulltextResult, console: Any) -> Any:
        from ._fulltext import fulltext_table

        return fulltext_table(result, console)

    view: View[FulltextResult] = View(
        table=table,
        records=lambda result: (as_data(article) for article in result.articles),
        record_model=FulltextArticle,
        columns=COLUMNS,
        records_key="articles",
    )
    run(ctx, replace(FETCH_FULLTEXT, function=fetch), {**inputs.arguments(), **options}, view)


# One by one


class _Streamed(Result):
    """What is left to know after the articles were written."""

    unavailable: list[Unavailable]
    found: int
    invalid: list[str]
    truncation: Truncation | None
    warnings: list[Warn]

    def shortfall(self) -> EntrezKitError | None:
        """Report ids without full text."""
        return shortfall_of(self.unavailable, self.found, self.invalid) or standing_shortfall(self.warnings)


def _stream(ctx: typer.Context, inputs: _Inputs, options: dict[str, Any]) -> None:
    from ._fulltext import fulltext_page, unavailable_page  # they bring rich, which most formats can do without

    made = plan(ctx)
    with Sink(made.target) as sink:
        writer = writer_for(made, sink, COLUMNS, Shape(FulltextArticle), fulltext_page, id_key="id")

        def fetch(services: Services, request: FulltextRequest) -> _Streamed:
            shared = made.target is None and is_terminal(sys.stdout)
            found: list[Fetched] = []
            unavailable: list[Unavailable] = []
            writer.begin()
            outcomes = _watched(ctx, services, request, inputs, shared=shared, for_readers=made.format == "md")
            for text, identifier in zip(inputs.texts, inputs.read, strict=True):
                item = None if identifier is None else next(outcomes)
                _put(writer, text, item)
                if item is not None and item.unavailable is not None:
                    unavailable.append(item.unavailable)
                elif item is not None:
                    found.append(replace(item, article=None))  # what is written need not be kept
            for _ in outcomes:  # so that the bar ends
                pass
            if isinstance(writer, Pages) and (unavailable or inputs.invalid):
                sink.data((PAGE_BREAK if found else "") + unavailable_page(unavailable, inputs.invalid))
            writer.end()
            return _Streamed(
                unavailable=unavailable,
                found=len(found),
                invalid=inputs.invalid,
                truncation=truncation_of(request, found),
                warnings=[warning for item in found for warning in item.warnings],
            )

        whole: Any = FETCH_FULLTEXT
        operation = replace(whole, function=fetch, result=_Streamed)
        started = time.monotonic()
        outcome = execute(operation, state(ctx).services, {**inputs.arguments(), **options})
        elapsed = 1000 * (time.monotonic() - started)
        if found_nothing(outcome):
            sink.discard()
    if isinstance(outcome.result, _Streamed):
        _remark(ctx, outcome.result.warnings, outcome.result.truncation)
    finish(ctx, outcome, elapsed)


def _put(writer: Writer, text: str, item: Fetched | None) -> None:
    """Write one outcome; what has no text has a line of its own in jsonl, and is named at the end elsewhere."""
    if item is not None and item.article is not None:
        record = as_data(item.article)
        writer.record({"id": _best_id(record)} if isinstance(writer, Ids) else record)
    elif isinstance(writer, JsonLines):
        if item is None or item.unavailable is None:
            writer.line(failed(text, "invalid", "not a PMID, PMCID or DOI"))
            return
        told = item.unavailable
        status = "error" if told.retryable else "not_found"
        tried = as_data(told.tried_tiers)
        message = f"no full text: {told.reason}"
        writer.line(failed(text, status, message, reason=told.reason, retryable=told.retryable, tried_tiers=tried))


def _best_id(record: Record) -> str:
    return str(record.get("pmid") or record.get("pmcid") or record.get("doi"))


def _length(record: Record) -> int:
    """Return how many characters of text there are."""
    below = [*(record.get("sections") or ()), *(record.get("subsections") or ())]
    return len(record.get("content") or record.get("text") or "") + sum(map(_length, below))


COLUMNS: Final[Mapping[str, Column]] = {
    **{name: partial(values_at, path=name) for name in ("pmid", "pmcid", "doi", "title")},
    "journal": partial(values_at, path="journal.title"),
    "year": partial(values_at, path="publication_date.year"),
    **{name: partial(values_at, path=name) for name in ("via_source", "license", "content_format", "source_url")},
    "sections": partial(values_at, path="sections.title"),
    "characters": _length,
}
"""What csv and tsv hold unless the user names fields."""


def _remark(ctx: typer.Context, warnings: Sequence[Warn], truncation: Truncation | None) -> None:
    for warning in warnings:
        warn(ctx, warning.message)
    for cut in truncation.articles if truncation else ():
        part = f"{cut.returned_characters:,} of {counted(cut.original_characters, 'character')}"
        note(ctx, f"{cut.id}: {part} and {counted(len(cut.sections), 'section')} cut.")
