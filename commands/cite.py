"""`entrez-kit cite`: citations to paste, and files for reference managers."""

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from entrez_kit.citations.files import FILES
from entrez_kit.citations.operation import (
    ALIASES,
    FORMAT_CITATIONS,
    STYLE_NAMES,
    CitationsRequest,
    CitationsResult,
    Cited,
    FormattedCitation,
    cited_stream,
)
from entrez_kit.errors import EntrezKitError, InvalidInput
from entrez_kit.operation import Operation, Result, execute
from entrez_kit.pubmed.fetch import InputOutcome, outcome_of, shortfall_of
from entrez_kit.pubmed.retrieval import BATCH, Retrieval
from entrez_kit.services import Services

from ._formats import Column, JsonLines, Record, Shape, Writer, as_data, values_at
from ._ids import InputFiles, failed
from ._input import STDIN, read_ids, stdin_is_terminal
from ._markdown import escaped
from ._output import Sink
from ._progress import Advance, progress
from ._run import View, accepts, finish, found_nothing, help_of, note, plan, run, state, writer_for

FORMATS: Final = (
    "table",
    "json",
    "jsonl",
    "csv",
    "tsv",
    "text",
    "md",
    *(name for name in FILES if name in STYLE_NAMES),
)


@accepts(*FORMATS)
def command(
    ctx: typer.Context,
    pmids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID...", help=f"{help_of(FORMAT_CITATIONS, 'pmids')} - reads standard input."),
    ] = None,
    citation_styles: Annotated[
        list[str], typer.Option("--style", metavar="STYLE", help=help_of(FORMAT_CITATIONS, "citation_styles"))
    ] = ["apa"],  # noqa: B006  # typer copies it
    input: InputFiles = None,
) -> None:
    """Cite PubMed records in the styles of journals, one citation per id, in order.

    Several styles at once: entrez-kit --demo cite 99000001 PMC99000002 --style apa,vancouver
    A file for a reference manager: entrez-kit --demo cite 99000001 --style csl -o references.json
    """
    styles = _styles(citation_styles)
    made = plan(ctx)
    if made.format in FILES:
        styles, made = [made.format], replace(made, format="text")
    elif len(styles) == 1 and styles[0] in FILES and _by_default(ctx):
        made = replace(made, format="text")  # a pipe gets the file itself: it can be imported
    state(ctx).plan = made
    ids = _ids(ctx, pmids, input)
    arguments = {"pmids": ids, "citation_styles": styles}
    if not ids:
        _nothing_asked(ctx, arguments)
    elif made.format in ("table", "json"):
        run(ctx, replace(FORMAT_CITATIONS, function=_whole(ctx)), arguments, _view(styles))
    else:
        _stream(ctx, arguments)


def _styles(given: list[str]) -> list[str]:
    names = (name.strip().lower() for item in given for name in item.split(","))
    return list(dict.fromkeys(ALIASES.get(name, name) for name in names if name))


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
        writer = _writer(ctx, sink, arguments["citation_styles"])
        writer.begin()
        writer.end()


def _whole(ctx: typer.Context) -> Any:
    def cite(services: Services, request: CitationsRequest) -> CitationsResult:
        from entrez_kit.citations.operation import result_of

        return result_of(list(_followed(ctx, services, request, "plain", shared=False)))

    return cite


def _followed(
    ctx: typer.Context, services: Services, request: CitationsRequest, markup: str, *, shared: bool
) -> Iterator[Cited]:
    """Cite under a progress bar, where it takes more than a request."""
    total = len(request.pmids)
    with progress(state(ctx), "Citing", total=total, shared=shared or total <= BATCH) as advance:
        fetched = Retrieval.of_ids(services, request.pmids)
        for number, item in enumerate(cited_stream(fetched, request.citation_styles, markup), start=1):
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


class Texts:
    """The citations themselves: a line each, or for a reference manager a file."""

    def __init__(self, sink: Sink, styles: list[str]) -> None:
        self._sink = sink
        self._styles = styles
        self._file = FILES[styles[0]] if len(styles) == 1 and styles[0] in FILES else None
        self._first = True

    def begin(self) -> None:
        """Write what a file begins with."""
        if self._file is not None:
            self._sink.data(self._file.head)

    def record(self, record: Record) -> None:
        """Write one record, in every style."""
        if self._file is not None:
            text = str(record["citations"][self._styles[0]])
            entry = text.removeprefix(self._file.head)
            entry = entry[: len(entry) - len(self._file.tail)] if self._file.tail else entry
            self._sink.data(entry if self._first else self._file.between + entry)
        else:
            for style in self._styles:
                self._sink.data(str(record["citations"][style]).rstrip("\n") + "\n")
        self._first = False

    def end(self) -> None:
        """Write what a file ends with."""
        if self._file is not None:
            self._sink.data(self._file.tail)
        self._sink.flush()


def _item(record: Record) -> str:
    """Return a citation as an item of a Markdown list; formatted styles come with their italics."""
    return "".join(
        f"- {text if style not in FILES else escaped(text)}\n" for style, text in record["citations"].items()
    )


def _writer(ctx: typer.Context, sink: Sink, styles: list[str]) -> Writer:
    made = plan(ctx)
    if made.format == "text":
        if made.fields:
            raise InvalidInput(
                "--fields does not go with text.",
                invalid_input="format=text",
                recovery_hint="Fields are for json, jsonl, csv, tsv and table.",
                details={"reason": "bad_usage"},
            )
        return Texts(sink, styles)
    return writer_for(made, sink, _columns(styles), Shape(FormattedCitation), _item, between="")


def _stream(ctx: typer.Context, arguments: dict[str, Any]) -> None:
    made = plan(ctx)
    with Sink(made.target) as sink:
        writer = _writer(ctx, sink, arguments["citation_styles"])

        def cite(services: Services, request: CitationsRequest) -> Streamed:
            found, missing = 0, []
            writer.begin()
            markup = "markdown" if made.format == "md" else "plain"
            for item in _followed(ctx, services, request, markup, shared=sink.isatty()):
                if item.citation is not None:
                    found += 1
                    writer.record(as_data(item.citation))
                    continue
                missing.append(item.fetched)
                if isinstance(writer, JsonLines):
                    writer.line(failed(item.fetched.input, item.fetched.status, item.fetched.message))
            writer.end()
            if not found:
                Retrieval.raise_if_nothing_answered(missing)
            return Streamed(missing=[outcome_of(item) for item in missing], found=found)

        operation: Operation[CitationsRequest, Streamed] = Operation(
            name=FORMAT_CITATIONS.name,
            function=cite,
            request=CitationsRequest,
            result=Streamed,
            method=FORMAT_CITATIONS.method,
            command=FORMAT_CITATIONS.command,
            toolset=FORMAT_CITATIONS.toolset,
            title=FORMAT_CITATIONS.title,
        )
        started = time.monotonic()
        outcome = execute(operation, state(ctx).services, arguments)
        elapsed = 1000 * (time.monotonic() - started)
        if found_nothing(outcome):
            sink.discard()
    finish(ctx, outcome, elapsed)
