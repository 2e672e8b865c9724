"""`entrez-kit fetch`: one outcome per identifier, in order, streamed where the format can."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.pubmed.fetch import (
    FETCH_CONTENTS,
    XML_HEAD,
    XML_TAIL,
    Content,
    Contents,
    FetchResult,
    FullXmlArticle,
    MedlineArticle,
    result_of,
)
from entrez_kit.pubmed.models import Article, CitationData
from entrez_kit.pubmed.record_fetcher import BATCH

from ._formats.fields import Attributes, Record
from ._formats.writer import Texts
from ._ids import NAME_ARTICLES, InputFiles, failed, read_inputs
from ._options import argument, option, request_options
from ._pipeline import View, accepts, advise, counted, note, plan, run, show_with, state, was_typed
from ._repeats import WrittenOnce
from ._views.markdown import page
from ._views.text import ARTICLE_COLUMNS

if TYPE_CHECKING:
    from ._formats.documents import RecordTexts

_ENTRIES: Final = ("ris", "bibtex", "csl")
"""Made of the record, for reference managers; MEDLINE text (nbib) comes from NCBI."""
FORMATS: Final = ("table", "json", "jsonl", "csv", "tsv", "ids", "xml", "nbib", "md", "html", "docx", *_ENTRIES)
HISTORY: Final = "Result sets kept at NCBI"
MANY_RECORDS: Final = 20_000
"""About a gigabyte as one document."""
_MODELS: Final[Mapping[str, Any]] = {
    "abstract_plus": Article,
    "citation_data": CitationData,
    "full_xml": FullXmlArticle,
    "medline_text": MedlineArticle,
}


IDS: Final = argument("pmids", "ID...", help="PMIDs, PMCIDs, DOIs or addresses that hold one; - reads standard input.")


@accepts(*FORMATS)
@request_options(
    FETCH_CONTENTS,
    IDS,
    "input",
    option("detail_level", "--detail", metavar="LEVEL"),
    option("include_mesh_terms", "--mesh/--no-mesh"),
    option("include_grant_info", "--grants"),
    option("include_references", "--references"),
    option("query_key", metavar="KEY", panel=HISTORY),
    option("web_env", metavar="ENV", panel=HISTORY),
    option("retstart", panel=HISTORY),
    option("retmax", panel=HISTORY),
)
def command(ctx: typer.Context, asked: dict[str, Any], input: InputFiles = None) -> None:
    """Fetch PubMed records by PMID, PMCID or DOI: one outcome per input, in order.

    xml and nbib are NCBI's own bytes; ris, bibtex and csl (CSL-JSON) are for reference managers. What does not exist
    is named, and the status is 4 when only a part was found:
    entrez-kit --demo fetch 99000001 PMC99000026 10.5555/ekit.2025.0006 -f jsonl
    """
    asked["detail_level"] = _level(ctx, asked["detail_level"])
    deliver(ctx, asked, input or [], show_with("tables.fetch_table"))


def deliver(ctx: typer.Context, arguments: dict[str, Any], files: Sequence[Path], table: Any) -> None:
    """Fetch what the arguments ask for and print it in the format the user wants.

    Args:
        ctx: the command's context.
        arguments: fields of the request; ``pmids`` as typed, ``-`` for standard input.
        files: more identifiers.
        table: makes what a terminal shows of the result.
    """
    typed: list[str] = arguments["pmids"] or []
    if typed or files or not (arguments.get("query_key") or arguments.get("web_env")):
        ids = read_inputs(ctx, typed, files, field="pmids", noun="identifiers", hint=NAME_ARTICLES)
        arguments = {**arguments, "pmids": ids}
    print_records(ctx, arguments, table)


def print_records(
    ctx: typer.Context,
    arguments: Mapping[str, Any],
    table: Any = show_with("tables.fetch_table"),
    *,
    idle: str = "No identifiers came from standard input; nothing was fetched.",
    afterwards: Callable[[Any], EntrezKitError | None] | None = None,
) -> Any:
    """Fetch records and print them in the format the user wants.

    Args:
        ctx: the command's context.
        arguments: fields of the request.
        table: makes what a terminal shows of the result.
        idle: what to note where there are no PMIDs.
        afterwards: called once the records are printed; returns an error to end with, if any.

    Returns:
        The result, or the outcomes if the format streams them; None if there were no PMIDs.
    """
    if plan(ctx).format in ("xml", "ids") and arguments["detail_level"] != "medline_text":
        arguments = {**arguments, "detail_level": "full_xml"}  # of which nothing is made: their bytes are enough
    records = len(arguments["pmids"] or ()) or arguments.get("retmax") or 0
    if records > MANY_RECORDS and plan(ctx).format in ("json", "table"):
        note(ctx, f"{counted(records, 'record')} are held in memory to print them as one; jsonl streams them.")
    advise(ctx, records)
    once = WrittenOnce()
    view = _view(str(arguments["detail_level"]), table, once)
    operation = FETCH_CONTENTS
    if plan(ctx).format == "json" and not plan(ctx).fields:
        from ._formats.documents import RecordTexts

        view = replace(view, texts=(texts := RecordTexts()))
        operation = replace(operation, collect=lambda request, contents: result_of(request, _Written(contents, texts)))

    def finish(printed: Any) -> EntrezKitError | None:
        once.report(ctx)
        return afterwards(printed) if afterwards is not None else None

    return run(
        ctx,
        operation,
        arguments,
        view,
        label="Fetching",
        least=BATCH,
        idle=idle,
        afterwards=finish,
    )


def _view(level: str, table: Any, once: WrittenOnce) -> View[FetchResult]:
    """Return how records are printed.

    Args:
        level: the level of detail.
        table: renders the table.
        once: knows which records were written to a file for reference managers.
    """

    def is_new(item: Content) -> bool:
        return item.fetched.status == "found" and once.is_new(item.fetched.pmid or "")

    return View(
        table=table,
        records=_records,
        record_model=_MODELS[level],
        columns=ARTICLE_COLUMNS,
        page=page,
        ids=lambda item: [item.fetched.pmid] if item.fetched.status == "found" else [],
        articles=lambda item: [item.document] if is_new(item) else [],
        # NCBI's own bytes
        writers={
            "xml": lambda sink: Texts(
                sink,
                lambda item: [item.fetched.record.raw + b"\n"] if item.fetched.record is not None else [],
                head=XML_HEAD,
                tail=XML_TAIL,
            ),
            "nbib": lambda sink: Texts(
                sink, lambda item: [item.fetched.medline] if is_new(item) else [], between=b"\n"
            ),
        },
    )


class _Written(Contents):
    """Contents whose records become JSON as they come, and are not kept."""

    def __init__(self, contents: Contents, texts: "RecordTexts") -> None:
        super().__init__(contents.request, contents.retrieval)
        self._texts = texts

    def __iter__(self) -> Iterator[Content]:
        for item in super().__iter__():
            if (document := item.document) is None:
                yield item
                continue
            self._texts.add(document)
            yield _Told(item.request, replace(item.fetched, record=None, medline=None))


class _Told(Content):
    """A record that was written; in the result another stands in its place, so that it is counted."""

    @property
    def document(self) -> CitationData:
        return _STAND_IN


_STAND_IN: Final = CitationData(pmid="0")


def _records(item: Content) -> Iterator[Record]:
    """Yield the record, or what has a line of its own in jsonl where there is none."""
    fetched = item.fetched
    if (document := item.document) is not None:
        yield Attributes(document)
    else:
        yield failed(fetched.input, fetched.status, fetched.message, code=fetched.code)


def _level(ctx: typer.Context, level: str) -> str:
    """Bring level and format together: xml and nbib are levels of their own, and some levels fit no table.

    Raises:
        InvalidInput: the two contradict each other.
    """
    made = plan(ctx)
    chosen = level if was_typed(ctx, "detail_level") else None
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
    if level in text and (made.format in ("csv", "tsv") or made.is_markdown):
        raise _contradiction(level, made.format)
    return level


def _contradiction(level: str, form: str) -> InvalidInput:
    return InvalidInput(
        f"--detail {level} does not go with --format {form}.",
        invalid_input=f"detail_level={level}",
        recovery_hint="Leave out --detail, or ask for json or jsonl.",
        details={"reason": "bad_usage"},
    )
