"""`entrez-kit cite`: citations to paste, and files for reference managers."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from entrez_kit.citations.files.entries import FILES
from entrez_kit.citations.operation import (
    FORMAT_CITATIONS,
    CitationsRequest,
    CitationsResult,
    Cited,
    FormattedCitation,
    cited_stream,
)
from entrez_kit.citations.style.names import STYLE_NAMES, read_styles
from entrez_kit.errors import EntrezKitError, InvalidInput
from entrez_kit.model import Result
from entrez_kit.pubmed.fetch import InputOutcome, outcome_of, shortfall_of
from entrez_kit.pubmed.record_fetcher import BATCH, Retrieval
from entrez_kit.services import Services

from ._files import Entries, fit_into_cells
from ._formats import Column, JsonLines, Record, Shape, Writer, as_data, values_at
from ._ids import InputFiles, failed
from ._input import STDIN, read_ids, stdin_is_terminal
from ._markdown import escaped
from ._output import Sink
from ._progress import Advance, progress
from ._run import View, accepts, finish, help_of, note, plan, run, state, stream, warn, writer_for
from ._state import Plan, no_fields, unknown_suffix

FORMATS: Final = (
    "table",
    "json",
    "jsonl",
    "csv",
    "tsv",
    "text",
    "md",
    *(name for name in STYLE_NAMES if name in FILES),
)
DEFAULT_STYLES: Final = ("apa",)


@accepts(*FORMATS)
def command(
    ctx: typer.Context,
    pmids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID...", help=f"{help_of(FORMAT_CITATIONS, 'pmids')} - reads standard input."),
    ] = None,
    citation_styles: Annotated[
        list[str], typer.Option("--style", metavar="STYLE", help=help_of(FORMAT_CITATIONS, "citation_styles"))
    ] = [*DEFAULT_STYLES],  # noqa: B006  # typer copies it
    input: InputFiles = None,
) -> None:
    """Cite PubMed records in the styles of journals, one citation per id, in order.

    Several styles at once: entrez-kit --demo cite 99000001 PMC99000002 --style apa,vancouver
    A file for a reference manager: entrez-kit --demo cite 99000001 --style csl -o references.json
    """
    styles: list[str] = read_styles(citation_styles) or [*DEFAULT_STYLES]
    made = plan(ctx)
    if made.format in FILES:
        styles = [made.format]
    elif len(styles) == 1 and styles[0] in FILES and (made.format == "text" or _by_default(ctx)):
        made = replace(made, format=styles[0])  # a pipe gets the file itself: it can be imported
    elif made.format == "text":
        _only_plain_suffixes(ctx, made)
    state(ctx).plan = made
    ids = _ids(ctx, pmids, input)
    arguments = {"pmids": ids, "citation_styles": styles}
    if not ids:
        _nothing_asked(ctx, arguments)
    elif made.format in ("table", "json"):
        run(ctx, replace(FORMAT_CITATIONS, function=_whole(ctx)), arguments, _view(styles))
    else:
        _stream(ctx, arguments)


def _only_plain_suffixes(ctx: typer.Context, made: Plan) -> None:
    """Refuse a file whose suffix promises what citations are not, such as .docx, unless -f says that they are meant."""
    if made.target is None or state(ctx).flags.get("format"):
        return
    if made.target.suffix.lower() not in ("", ".txt", ".text"):
        raise unknown_suffix(made.target, FORMATS)


def _by_default(ctx: typer.Context) -> bool:
    """Tell whether nobody asked for a format: not by a flag, not by the suffix of a file that is no list of items."""
    flags = state(ctx).flags
    target = flags.get("output")
    return not (flags.get("json") or flags.get("format")) and (target is None or plan(ctx).format == "json")


def _ids(ctx: typer.Context, typed: list[str] | None, files: list[Path] | None) -> list[str]:
    if not typed and not files:
        raise InvalidInput(
            "No ids were given.",
            invalid_input="pmids",
            recovery_hint="Name PMIDs, PMCIDs or DOIs; - reads them from standard input, -i FILE from a file.",
            details={"reason": "no_identifiers"},
        )
    if STDIN in (typed or ()) and stdin_is_terminal():
        note(ctx, "Type identifiers, one or many per line; Ctrl-D ends.")
    return read_ids(typed or [], files or [])


def _view(styles: list[str]) -> View[CitationsResult]:
    def table(result: CitationsResult, console: Any) -> Any:
        from ._citations import citations_page

        return citations_page(result, console)

    return View(
        table=table,
        records=lambda result: (as_data(citation) for citation in result.citations),
        record_model=FormattedCitation,
        columns=_columns(styles),
        records_key="citations",
    )


def _columns(styles: list[str]) -> dict[str, Column]:
    """Return a column for the PMID, the title and each style."""
    columns: dict[str, Column] = {name: partial(values_at, path=name) for name in ("pmid", "title")}
    return columns | {style: partial(values_at, path=f"citations.{style}") for style in styles}


def _nothing_asked(ctx: typer.Context, arguments: dict[str, Any]) -> None:
    """Print an empty result: a search without hits may stand before us in the pipe, and that is no failure."""
    note(ctx, "No identifiers came from standard input; nothing was cited.")
    made = plan(ctx)
    if made.format in ("table", "json"):
        empty = CitationsResult(citations=[], total_submitted=0, total_formatted=0, not_found_pmids=[])
        operation = replace(FORMAT_CITATIONS, function=lambda services, request: empty)
        run(ctx, operation, {**arguments, "pmids": ["0"]}, _view(arguments["citation_styles"]))
        return
    with Sink(made.target) as sink:
        writer = _writer(made, sink, arguments["citation_styles"])
        writer.begin()
        writer.end()


def _whole(ctx: typer.Context) -> Any:
    def cite(services: Services, request: CitationsRequest) -> CitationsResult:
        from entrez_kit.citations.operation import result_of

        return result_of(list(_followed(ctx, services, request, request.citation_styles, shared=False)))

    return cite


def _followed(
    ctx: typer.Context,
    services: Services,
    request: CitationsRequest,
    styles: list[Any],
    markup: str = "plain",
    *,
    shared: bool,
) -> Iterator[Cited]:
    """Cite under a progress bar, where it takes more than a request."""
    total = len(request.pmids)
    with progress(state(ctx), "Citing", total=total, shared=shared or total <= BATCH) as advance:
        fetched = Retrieval.of_ids(services, request.pmids)
        for number, item in enumerate(cited_stream(fetched, styles, markup), start=1):
            _told(advance, number)
            yield item


def _told(advance: Advance, number: int) -> None:
    if number % 20 == 0:
        advance(number, 0)


# Formats that go record by record


class Streamed(Result):
    """What is left to know after the citations were written: which inputs are missing."""

    missing: list[InputOutcome]
    found: int

    def shortfall(self) -> EntrezKitError | None:
        """Report inputs that came to nothing."""
        return shortfall_of(self.missing, self.found, [])


class Lines:
    """The citations themselves, a line each."""

    def __init__(self, sink: Sink, made: Plan) -> None:
        no_fields(made)
        self._sink = sink

    def begin(self) -> None:
        """Write nothing: there is no header."""

    def record(self, record: Record) -> None:
        """Write one record, in every style; a file for reference managers has lines of its own."""
        for text in record["citations"].values():
            self._sink.data(str(text).rstrip("\n") + "\n")

    def end(self) -> None:
        """Hand over the last lines."""
        self._sink.flush()


def _item(record: Record) -> str:
    """Return a citation as an item of a Markdown list; formatted styles come with their italics."""
    return "".join(
        f"- {text if style not in FILES else escaped(text)}\n" for style, text in record["citations"].items()
    )


def _writer(made: Plan, sink: Sink, styles: list[str]) -> Writer | Entries:
    if made.format in FILES:
        return Entries(sink, made)
    if made.format == "text":
        return Lines(sink, made)
    fit_into_cells(made, styles)
    return writer_for(made, sink, _columns(styles), Shape(FormattedCitation), _item, between="")


def _stream(ctx: typer.Context, arguments: dict[str, Any]) -> None:
    made = plan(ctx)
    with Sink(made.target) as sink:
        writer = _writer(made, sink, arguments["citation_styles"])
        flagged: dict[str, list[str]] = {}

        def cite(services: Services, request: CitationsRequest) -> Streamed:
            found, missing = 0, []
            writer.begin()
            # What goes into a file is written from the record, so that nothing needs to be formatted.
            styles = [] if isinstance(writer, Entries) else request.citation_styles
            markup = "markdown" if made.format == "md" else "plain"
            for item in _followed(ctx, services, request, styles, markup, shared=sink.isatty()):
                if item.citation is None or item.article is None:
                    missing.append(item.fetched)
                    if isinstance(writer, JsonLines):
                        writer.line(failed(item.fetched.input, item.fetched.status, item.fetched.message))
                    continue
                found += 1
                if isinstance(writer, Entries):
                    writer.article(item.article)
                else:
                    writer.record(as_data(item.citation))
                # What must be known of a record before it is cited, also where the format has no place for it.
                if not isinstance(writer, JsonLines) and (standing := item.article.standing) is not None:
                    flagged.setdefault(standing.label, []).append(item.article.pmid)
            writer.end()
            if not found:
                Retrieval.raise_if_nothing_answered(missing)
            return Streamed(missing=[outcome_of(item) for item in missing], found=found)

        outcome, elapsed = stream(ctx, FORMAT_CITATIONS, arguments, sink, cite, Streamed)
    for label, pmids in flagged.items():
        warn(ctx, f"{label}: PMID {', '.join(dict.fromkeys(pmids))}.")
    finish(ctx, outcome, elapsed)
