"""Tables of articles: the results of a search, and fetched records."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console, Group, RenderableType
from rich.table import Column
from rich.text import Text

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.identifiers import PMC, format_doi_url

from .._console import has_links
from .._formats.fields import Record, convert_to_data
from .tables import (
    WIDE,
    ListingTable,
    build_article_link,
    build_fixed_column,
    build_number_column,
    build_wrapped_column,
    format_broader_line,
    format_failure,
    join_lines,
)
from .text import (
    build_page_address,
    format_people,
    format_source,
    get_status_label,
    get_title,
    is_corrected,
    shorten_authors,
    to_line,
)

if TYPE_CHECKING:
    from entrez_kit.pubmed.fetch import FetchResult
    from entrez_kit.pubmed.models import BriefSummary
    from entrez_kit.pubmed.search_models import SearchResult

_LABEL_STYLES: Final = {
    "RETRACTED": "bold white on red",
    "WITHDRAWN": "bold white on red",
    "PARTIALLY RETRACTED": "bold white on red",
    "RETRACTION NOTICE": "bold red",
    "EXPRESSION OF CONCERN": "bold black on yellow",
    "NOTICE OF CONCERN": "bold yellow",
}


def render_search(result: "SearchResult", console: Console) -> RenderableType:
    """Return a table of the search results, their number, PubMed's translation of the query, and the certificate."""
    parts: list[RenderableType] = []
    if result.pmids:
        parts += [_render_hits(result, console), Text("")]
    parts.append(_format_count(result))
    if result.query_translation:
        parts.append(Text(f"Searched for: {to_line(result.query_translation)}", style="dim"))
    if result.certificate is not None:
        proof = result.certificate
        parts.append(
            Text(
                f"Complete: {proof.retrieved:,} of {format_count(proof.count, 'PMID')}, {proof.missing:,} missing, "
                f"{format_count(len(proof.slices), 'slice')}, sha256 {proof.sha256}",
                style="dim" if not proof.missing else "bold yellow",
            )
        )
    return Group(*parts)


def _render_hits(result: "SearchResult", console: Console) -> ListingTable:
    summaries = {
        summary.pmid: {**convert_to_data(summary), "kind": _format_kind(summary)} for summary in result.brief_summaries
    }
    first = result.search_parameters.offset + 1
    wide = console.width >= WIDE
    about = build_article_columns(wide) if summaries else []
    table = ListingTable(build_number_column("#"), build_fixed_column("PMID"), *about, expand=wide and bool(summaries))
    for rank, pmid in enumerate(result.pmids, start=first):
        record = summaries.get(pmid)
        cells: list[RenderableType] = [Text(str(rank), style="dim"), build_article_link(pmid, console)]
        if record is not None:
            cells += _fill_summary(record, wide)
        elif summaries:
            cells += [Text("")] * len(about)
        table.add_row(*cells)
    return table


def _format_kind(summary: "BriefSummary") -> str:
    """Return "Letter" or another notice, the type of study and the note "free full text", if known."""
    from entrez_kit.pubmed.publication_types import NOTICES

    notices = [name for name in NOTICES if name in summary.publication_types]
    kinds = (*notices, summary.study_type, "free full text" if summary.pmcid else None)
    return " · ".join(text for text in kinds if text)


def _format_count(result: "SearchResult") -> Text:
    if left_out := format_broader_line(result.broader_total):
        return left_out
    if not result.total_found:
        return Text("No results.", style="bold")
    first = result.search_parameters.offset + 1
    last = result.search_parameters.offset + len(result.pmids)
    if not result.pmids:
        return Text(f"None of {format_count(result.total_found, 'result')} shown.", style="bold")
    span = f"{first:,}" if first == last else f"{first:,}–{last:,}"
    return Text(f"{span} of {result.total_found:,}", style="bold")


def render_fetch(result: "FetchResult", console: Console) -> RenderableType:
    """Return a table of the fetched records in the order of the inputs. A failed input has a message instead."""
    records = [convert_to_data(article) for article in result.articles or []]
    by_pmid = {str(record["pmid"]): record for record in records}
    wide = console.width >= WIDE
    table = ListingTable(build_fixed_column("PMID"), *build_article_columns(wide), expand=wide)
    for record in records if not result.outcomes else ():
        table.add_row(*_fill_record(record, wide, console))
    for outcome in result.outcomes:
        if outcome.status == "found" and (known := by_pmid.get(outcome.pmid or "")) is not None:
            table.add_row(*_fill_record(known, wide, console))
        else:
            table.add_row(Text(to_line(outcome.input)), format_failure(outcome), *([""] * (2 if wide else 0)))
    return table


def build_article_columns(wide: bool) -> list[Column]:
    """Return the columns for the cells of ``build_article_cells``."""
    return (
        [build_wrapped_column("Title", 4), build_wrapped_column("Authors", 2), build_wrapped_column("Source", 3)]
        if wide
        else [build_wrapped_column("Article")]
    )


def build_article_cells(wide: bool, title: Text, authors: str, source: str, notes: Text) -> list[Text]:
    """Return the cells of an article: three on a wide terminal, otherwise one with several lines."""
    if wide:
        return [join_lines(title, notes), Text(authors), Text(source)]
    stop = " " if authors.endswith(".") else ". "
    return [join_lines(title, Text(stop.join(filter(None, (authors, source))), style="dim"), notes)]


def _fill_record(record: Record, wide: bool, console: Console) -> list[Text]:
    authors, ids = format_people(record.get("authors"), 3 if wide else 2), _format_ids(record, console)
    cells = build_article_cells(wide, format_title(record), authors, format_source(record), ids)
    return [build_article_link(str(record["pmid"]), console), *cells]


def _fill_summary(record: Record, wide: bool) -> list[Text]:
    title = join_lines(format_title(record), Text(to_line(record.get("snippet"))))
    authors = shorten_authors(str(record.get("authors") or ""), 3 if wide else 2)
    source = to_line(record.get("source")) or to_line(record.get("pub_date"))
    kind = Text(record["kind"], style="green")
    *cells, last = build_article_cells(wide, title, authors, source, Text())
    return [*cells, join_lines(last, kind)]


def format_title(record: Record, title: str | None = None) -> Text:
    """Return the title, or the given text, with a label for a retraction or another notice, and "(corrected)"."""
    text = Text()
    if label := get_status_label(record):
        text.append(label, style=_LABEL_STYLES.get(label, "bold yellow"))
        text.append(" ")
    text.append(get_title(record) if title is None else title)
    if is_corrected(record):
        text.append(" (corrected)", style="bold yellow")
    return text


def _format_ids(record: Mapping[str, Any], console: Console) -> Text:
    """Return DOI and PMCID, as links if the terminal supports links."""
    text = Text(style="dim")
    if doi := to_line(record.get("doi")):
        text.append(f"doi:{doi}", style=f"link {format_doi_url(doi)}" if has_links(console) else "")
    if pmcid := to_line(record.get("pmcid")):
        text.append("  " if text else "")
        text.append(pmcid, style=f"link {build_page_address(PMC, pmcid)}" if has_links(console) else "")
    return text
