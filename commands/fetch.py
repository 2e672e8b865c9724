"""`entrez-kit fetch`: one outcome per identifier, in order, streamed if the format allows it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import typer

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.output_formats import BY_NAME, Family
from entrez_kit.pubmed.fetch import (
    FETCH_CONTENTS,
    XML_HEAD,
    XML_TAIL,
    Content,
    FetchRequest,
    FetchResult,
    FullXmlArticle,
    MedlineArticle,
)
from entrez_kit.pubmed.models import Article, CitationData
from entrez_kit.pubmed.record_batches import BATCH

from . import _views
from ._formats import Sink, TextWriter, View, Writer
from ._formats.fields import Attributes, Record
from ._ids import NAME_ARTICLES, describe_failure, read_inputs
from ._options import App, FilesOfIds, build_ids_argument, build_option, request_options
from ._pipeline import build_request, get_state, note, plan, run, was_typed
from ._report import report_expected_time
from ._state import accept_formats, usage_error
from ._views.text import ARTICLE_COLUMNS

app = App()

FORMATS: Final = (
    *(Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.IDS),
    *(Family.XML, Family.PAGES, Family.REFERENCES),
)
HISTORY: Final = "Result sets kept at NCBI"
MANY_RECORDS: Final = 20_000
"""About one gigabyte as a single document."""
_MODELS: Final[Mapping[str, Any]] = {
    "abstract_plus": Article,
    "citation_data": CitationData,
    "full_xml": FullXmlArticle,
    "medline_text": MedlineArticle,
}


_OWN_FORMATS: Final = {"full_xml": "json", "medline_text": "nbib"}
"""Levels of detail that have no table, and the format that replaces it."""

IDS: Final = build_ids_argument("pmids", "PMIDs, PMCIDs, DOIs or URLs with one of them; - reads standard input.")


@app.command("fetch")
@accept_formats(*FORMATS, fields="pmid,journal_info.title")
@request_options(
    FETCH_CONTENTS.request,
    IDS,
    "input",
    build_option(
        "detail_level",
        "--detail",
        metavar="LEVEL",
        help="abstract_plus, citation_data (without the abstract), full_xml (NCBI's XML as a tree) or medline_text "
        "(NCBI's MEDLINE text).",
    ),
    build_option("include_mesh_terms", "--mesh/--no-mesh"),
    build_option("include_grant_info", "--grants"),
    build_option("include_references", "--references"),
    build_option("query_key", metavar="KEY", help="query_key of `search --history`.", panel=HISTORY),
    build_option("web_env", metavar="ENV", help="web_env of the same search.", panel=HISTORY),
    build_option("retstart", help="Records of this result set to skip.", panel=HISTORY),
    build_option("retmax", help="Maximum number of records to fetch from this result set.", panel=HISTORY),
)
def fetch_command(ctx: typer.Context, options: dict[str, Any], input: FilesOfIds = None) -> None:
    """Fetch PubMed records by PMID, PMCID or DOI: one outcome per input, in order.

    xml and nbib are NCBI's own bytes; ris, bibtex and csl (CSL-JSON) are for reference managers. The command names
    missing records. The exit status is 4 if some were found, and 3 if none was.
    entrez-kit --demo fetch 99000001 PMC99000026 10.5555/ekit.2025.0006 -f csv
    """
    if options["pmids"] or input or not (options["query_key"] or options["web_env"]):
        options["pmids"] = read_inputs(ctx, options["pmids"], input, field="pmids", hint=NAME_ARTICLES)
    request = build_request(ctx, FETCH_CONTENTS, options)
    level = _choose_level(ctx, request.detail_level)
    fetch_and_print(ctx, request.model_copy(update={"detail_level": level}))


def fetch_and_print(
    ctx: typer.Context,
    request: FetchRequest,
    table: Any = lambda result, console: _views.articles.render_fetch(result, console),
    *,
    idle: str = "Standard input contained no ids, so nothing was fetched.",
    afterwards: Callable[[Any], EntrezKitError | None] | None = None,
) -> Any:
    """Fetch records and print them in the selected format.

    Args:
        table: renders the result for a terminal.
        idle: the note if there are no identifiers.
        afterwards: called after the records were printed; returns an error to end with, if any.

    Returns:
        The outcomes; None if there were no identifiers.
    """
    selected = plan(ctx).format
    records = len(request.pmids or ()) or request.retmax or 0
    if records > MANY_RECORDS and selected.whole:
        note(ctx, f"{format_count(records, 'record')} are held in memory to print them as one; jsonl streams them.")
    report_expected_time(get_state(ctx), records)
    view = _view(request.detail_level, table)
    if not selected.parses_records and request.detail_level != "medline_text":
        request = request.model_copy(update={"detail_level": "full_xml"})  # only the bytes of a record are needed
    return run(ctx, FETCH_CONTENTS, request, view, label="Fetching", least=BATCH, idle=idle, afterwards=afterwards)


def _view(level: str, table: Any) -> View[FetchResult]:
    """Return how records of a level of detail are printed."""

    def yield_medline_entries(item: Content) -> Iterator[tuple[str | None, bytes]]:
        if item.fetched.medline is not None and item.fetched.status == "found":
            yield item.fetched.pmid, item.fetched.medline

    def create_medline_writer(sink: Sink) -> Writer[Any]:
        from ._formats.references import References

        return References(sink, yield_medline_entries, between=b"\n")

    def create_xml_writer(sink: Sink) -> Writer[Any]:
        def list_elements(item: Content) -> list[bytes]:
            return [item.fetched.record.raw + b"\n"] if item.fetched.record is not None else []

        return TextWriter(sink, list_elements, head=XML_HEAD, tail=XML_TAIL)

    return View(
        table=table,
        records=_yield_records,
        record_model=_MODELS[level],
        columns=ARTICLE_COLUMNS,
        page=lambda record: _views.markdown.write_article(record),
        ids=lambda item: [item.fetched.pmid] if item.fetched.status == "found" else [],
        articles=lambda item: [item.document] if item.document is not None else [],
        writers={"xml": create_xml_writer, "nbib": create_medline_writer},  # the bytes that NCBI sent
    )


def _yield_records(item: Content) -> Iterator[Record]:
    """Yield the record, or the line of jsonl for an input without a record."""
    fetched = item.fetched
    if (document := item.document) is not None:
        yield Attributes(document)
    else:
        yield describe_failure(fetched.input, fetched.status, fetched.message, code=fetched.code)


def _choose_level(ctx: typer.Context, level: str) -> str:
    """Return the level of detail that the format shows, and replace a table that a level does not have.

    Raises:
        InvalidInput: --detail names a level that the format cannot show.
    """
    output = plan(ctx)
    if output.format.family is Family.SCREEN and level in _OWN_FORMATS:
        get_state(ctx).plan = output = replace(output, format=BY_NAME[_OWN_FORMATS[level]])
    levels = output.format.details
    if not levels or level in levels:
        return levels[0] if output.format.needs_records else level
    if was_typed(ctx, "detail_level"):
        raise usage_error(
            f"--detail {level} cannot be used with {output.source}.",
            f"detail_level={level}",
            "Omit --detail, or use --format json or jsonl.",
        )
    return levels[0]
