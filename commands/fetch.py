"""`entrez-kit fetch`: one outcome per identifier, in order, streamed where the format can."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from entrez_kit.errors import EntrezKitError, InvalidInput
from entrez_kit.model import Result, Warn
from entrez_kit.operation import Operation, execute
from entrez_kit.pubmed.fetch import (
    FETCH_CONTENTS,
    XML_HEAD,
    XML_TAIL,
    EFetchDetails,
    FetchRequest,
    FetchResult,
    FullXmlArticle,
    InputOutcome,
    MedlineArticle,
    document_of,
    outcome_of,
    result_of,
    retrieval_for,
    shortfall_of,
)
from entrez_kit.pubmed.models import Article, CitationData
from entrez_kit.pubmed.record_fetcher import BATCH, Fetched, Retrieval
from entrez_kit.services import Services

from ._files import Entries
from ._formats import JsonLines, Shape, Writer, as_data
from ._input import STDIN, read_ids, stdin_is_terminal
from ._markdown import page
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
    presenter,
    run,
    state,
    warn,
    writer_for,
)
from ._state import is_terminal
from ._text import ARTICLE_COLUMNS

FORMATS: Final = ("table", "json", "jsonl", "csv", "tsv", "ids", "xml", "nbib", "md", "ris", "bibtex", "csl")
_ENTRIES: Final = ("ris", "bibtex", "csl")
"""Made of the record, for reference managers; MEDLINE text (nbib) comes from NCBI."""
HISTORY: Final = "Result sets kept at NCBI"
MANY_RECORDS: Final = 20_000
"""About a gigabyte as one document."""
MANY_REQUESTS: Final = 1_000
"""From here on NCBI asks for nights and weekends, and a person wants to know how long it takes."""
_MODELS: Final[Mapping[str, Any]] = {
    "abstract_plus": Article,
    "citation_data": CitationData,
    "full_xml": FullXmlArticle,
    "medline_text": MedlineArticle,
}


def _help(name: str) -> str:
    return help_of(FETCH_CONTENTS, name)


Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="PMIDs, PMCIDs, DOIs or addresses that hold one; - reads standard input."),
]
InputFiles = Annotated[
    list[Path] | None,
    typer.Option("-i", "--input", metavar="FILE", help="File of identifiers: text, JSON lines or a table."),
]


@accepts(*FORMATS)
def command(
    ctx: typer.Context,
    pmids: Ids = None,
    input: InputFiles = None,
    detail_level: Annotated[
        Literal["abstract_plus", "full_xml", "medline_text", "citation_data"],
        typer.Option("--detail", metavar="LEVEL", help=_help("detail_level"), show_default=True),
    ] = "abstract_plus",
    include_mesh_terms: Annotated[bool, typer.Option("--mesh/--no-mesh", help=_help("include_mesh_terms"))] = True,
    include_grant_info: Annotated[bool, typer.Option("--grants", help=_help("include_grant_info"))] = False,
    query_key: Annotated[
        str | None, typer.Option("--query-key", metavar="KEY", help=_help("query_key"), rich_help_panel=HISTORY)
    ] = None,
    web_env: Annotated[
        str | None, typer.Option("--web-env", metavar="ENV", help=_help("web_env"), rich_help_panel=HISTORY)
    ] = None,
    retstart: Annotated[
        int | None, typer.Option("--retstart", metavar="N", help=_help("retstart"), rich_help_panel=HISTORY)
    ] = None,
    retmax: Annotated[
        int | None, typer.Option("--retmax", metavar="N", help=_help("retmax"), rich_help_panel=HISTORY)
    ] = None,
) -> None:
    """Fetch PubMed records by PMID, PMCID or DOI: one outcome per input, in order.

    xml and nbib are NCBI's own bytes; ris, bibtex and csl (CSL-JSON) are for reference managers. What does not exist
    is named, and the status is 4 when only a part was found:
    entrez-kit --demo fetch 99000001 PMC99000026 10.5555/ekit.2025.0006 -f jsonl
    """
    arguments: dict[str, Any] = {
        "pmids": pmids,
        "query_key": query_key,
        "web_env": web_env,
        "retstart": retstart,
        "retmax": retmax,
        "detail_level": _level(ctx, detail_level),
        "include_mesh_terms": include_mesh_terms,
        "include_grant_info": include_grant_info,
    }
    deliver(ctx, arguments, input or [], _table)


def _table(result: FetchResult, console: Any) -> Any:
    from ._render import fetch_table

    return fetch_table(result, console)


def deliver(ctx: typer.Context, arguments: dict[str, Any], files: Sequence[Path], table: Any) -> None:
    """Fetch what the arguments ask for and print it in the format the user wants.

    Args:
        ctx: the command's context.
        arguments: fields of the request; ``pmids`` as typed, ``-`` for standard input.
        files: more identifiers.
        table: makes what a terminal shows of the result.
    """
    typed: list[str] = arguments["pmids"] or []
    if typed or files:
        ids = _read(ctx, typed, files)
        if not ids:
            _nothing_asked(ctx, arguments, table)
            return
        arguments = {**arguments, "pmids": ids}
    elif not (arguments["query_key"] or arguments["web_env"]):
        raise InvalidInput(
            "No identifiers were given.",
            invalid_input="pmids",
            recovery_hint="Name PMIDs, PMCIDs or DOIs; - reads them from standard input, -i FILE from a file.",
            details={"reason": "no_identifiers"},
        )
    _advise(ctx, len(arguments["pmids"] or ()) or arguments["retmax"] or 0)
    if plan(ctx).format in ("table", "json"):
        run(ctx, replace(FETCH_CONTENTS, function=_whole(ctx)), arguments, _view(arguments, table))
    else:
        _stream(ctx, arguments)


def _read(ctx: typer.Context, typed: Sequence[str], files: Sequence[Path]) -> list[str]:
    if STDIN in typed and stdin_is_terminal():
        note(ctx, "Type identifiers, one or many per line; Ctrl-D ends.")
    return read_ids(typed, files)


def _level(ctx: typer.Context, level: str) -> str:
    """Bring level and format together: xml and nbib are levels of their own, and some levels fit no table.

    Raises:
        InvalidInput: the two contradict each other.
    """
    made = plan(ctx)
    source = ctx.get_parameter_source("detail_level")
    chosen = level if source is not None and source.name == "COMMANDLINE" else None
    text = {"full_xml": "json", "medline_text": "nbib"}
    if made.format == "table" and level in text:
        state(ctx).plan = made = replace(made, format=text[level])
    own = {"xml": ("abstract_plus", "full_xml"), "nbib": ("medline_text",)}.get(made.format)
    if made.format in _ENTRIES:
        own = ("abstract_plus",)
    if own is not None:
        if chosen is not None and chosen not in own:
            raise _contradiction(level, made.format)
        return own[0]
    if level in text and made.format in ("csv", "tsv", "md"):
        raise _contradiction(level, made.format)
    return level


def _contradiction(level: str, form: str) -> InvalidInput:
    return InvalidInput(
        f"--detail {level} does not go with --format {form}.",
        invalid_input=f"detail_level={level}",
        recovery_hint="Leave out --detail, or ask for json or jsonl.",
        details={"reason": "bad_usage"},
    )


def _advise(ctx: typer.Context, records: int) -> None:
    """Say how long very many records take, when NCBI would rather have them asked for, and how to save memory."""
    if records > MANY_RECORDS and plan(ctx).format in ("json", "table"):
        note(ctx, f"{counted(records, 'record')} are held in memory to print them as one; jsonl streams them.")
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


def _nothing_asked(ctx: typer.Context, arguments: Mapping[str, Any], table: Any) -> None:
    """Print an empty result: a search without hits may stand before us in the pipe, and that is no failure."""
    note(ctx, "No identifiers came from standard input; nothing was fetched.")
    empty = FetchResult(
        articles=[], not_found_pmids=[], efetch_details=EFetchDetails(urls=[], request_method="GET"), outcomes=[]
    )
    made = plan(ctx)
    with Sink(made.target) as sink:
        if made.format in ("table", "json"):
            presenter(ctx, made, _view(arguments, table), FetchResult, sink)(empty)
            return
        writer = _writer(ctx, sink, str(arguments["detail_level"]))
        writer.begin()
        writer.end()


# Formats that need all records at once


def _whole(ctx: typer.Context) -> Any:
    def fetch(services: Services, request: FetchRequest) -> FetchResult:
        retrieval = retrieval_for(services, request)
        with _bar(ctx, request, shared=False) as advance:
            fetched = list(_counted(retrieval, advance))
        retrieval.raise_if_nothing_answered(fetched)
        return result_of(request, retrieval, fetched)

    return fetch


def _view(arguments: Mapping[str, Any], table: Any) -> View[FetchResult]:
    return View(
        table=table,
        records=lambda result: (as_data(article) for article in result.articles or ()),
        record_model=_MODELS[str(arguments["detail_level"])],
        columns=ARTICLE_COLUMNS,
        records_key="articles",
    )


def _bar(ctx: typer.Context, request: FetchRequest, *, shared: bool) -> AbstractContextManager[Advance]:
    """Return a progress bar for more than one batch."""
    total = len(request.pmids) if request.pmids else (request.retmax or 0)
    return progress(state(ctx), "Fetching", total=total, shared=shared or 0 < total <= BATCH)


def _counted(retrieval: Retrieval, advance: Advance) -> Iterator[Fetched]:
    for number, item in enumerate(retrieval, start=1):
        advance(number, 0)
        yield item


# Formats that go record by record


class Streamed(Result):
    """What is left to know after the records were written: which inputs are missing."""

    missing: list[InputOutcome]
    found: int
    warnings: list[Warn]

    def shortfall(self) -> EntrezKitError | None:
        """Report inputs that came to nothing."""
        return shortfall_of(self.missing, self.found, self.warnings)


class RawRecords:
    """NCBI's own bytes, record by record."""

    def __init__(self, sink: Sink, *, xml: bool) -> None:
        self._sink = sink
        self._xml = xml
        self._first = True

    def begin(self) -> None:
        """Write the beginning of the set."""
        if self._xml:
            self._sink.data(XML_HEAD)

    def put(self, item: Fetched) -> None:
        """Write one record."""
        if item.medline is not None:
            self._sink.data(item.medline if self._first else b"\n" + item.medline)
        elif item.record is not None:
            self._sink.data(item.record.raw + b"\n")
        self._first = False

    def end(self) -> None:
        """Write the end of the set."""
        if self._xml:
            self._sink.data(XML_TAIL)
        self._sink.flush()


def _writer(ctx: typer.Context, sink: Sink, level: str) -> Writer | RawRecords | Entries:
    made = plan(ctx)
    if made.format in _ENTRIES:
        return Entries(sink, made)
    if made.format in ("xml", "nbib"):
        if made.fields:
            raise InvalidInput(
                f"--fields does not go with --format {made.format}.",
                invalid_input=f"format={made.format}",
                recovery_hint="Fields are for json, jsonl, csv, tsv and table.",
                details={"reason": "bad_usage"},
            )
        return RawRecords(sink, xml=made.format == "xml")
    return writer_for(made, sink, ARTICLE_COLUMNS, Shape(_MODELS[level]), page)


def _stream(ctx: typer.Context, arguments: Mapping[str, Any]) -> None:
    made = plan(ctx)
    with Sink(made.target) as sink:
        writer = _writer(ctx, sink, str(arguments["detail_level"]))

        def fetch(services: Services, request: FetchRequest) -> Streamed:
            retrieval = retrieval_for(services, request)
            shared = made.target is None and is_terminal(sys.stdout)
            found, missing = 0, []
            writer.begin()
            with _bar(ctx, request, shared=shared) as advance:
                for item in _counted(retrieval, advance):
                    if item.status == "found":
                        found += 1
                    else:
                        missing.append(item)
                    _put(writer, item, request, made.format)
            writer.end()
            if not found:
                retrieval.raise_if_nothing_answered(missing)
            return Streamed(
                missing=[outcome_of(item) for item in missing], found=found, warnings=list(retrieval.warnings)
            )

        operation: Operation[FetchRequest, Streamed] = Operation(
            name=FETCH_CONTENTS.name,
            function=fetch,
            request=FetchRequest,
            result=Streamed,
            method=FETCH_CONTENTS.method,
            command=FETCH_CONTENTS.command,
            toolset=FETCH_CONTENTS.toolset,
            title=FETCH_CONTENTS.title,
        )
        started = time.monotonic()
        outcome = execute(operation, state(ctx).services, arguments)
        elapsed = 1000 * (time.monotonic() - started)
        if found_nothing(outcome):
            sink.discard()
    if outcome.result is not None:
        for warning in outcome.result.warnings:
            warn(ctx, warning.message)
    finish(ctx, outcome, elapsed)


def _put(writer: Writer | RawRecords | Entries, item: Fetched, request: FetchRequest, form: str) -> None:
    """Write one outcome; what was not found has a line of its own in jsonl, and is named at the end elsewhere."""
    if item.status != "found":
        if isinstance(writer, JsonLines):
            error = {"code": _code(item), "message": item.message or ""}
            writer.line({"input": item.input, "status": item.status, "error": error})
    elif isinstance(writer, RawRecords):
        writer.put(item)
    elif isinstance(writer, Entries):
        document = document_of(request, item)
        assert isinstance(document, Article), "the level goes with the format"
        writer.article(document)
    elif form == "ids":
        writer.record({"pmid": item.pmid})
    else:
        writer.record(as_data(document_of(request, item)))


def _code(item: Fetched) -> str:
    if item.error is not None:
        return item.error.code
    return "INVALID_INPUT" if item.status == "invalid" else "ENTITY_NOT_FOUND"
