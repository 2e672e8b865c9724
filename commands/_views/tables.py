"""Tables for terminals: one function per kind of result. Text of records is never read as markup."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Column, Table
from rich.text import Text

from .._console import has_links
from .._formats.fields import Column as Cell
from .._formats.fields import Record, as_data
from .._formats.rows import cell
from .text import (
    PMC,
    PUBMED,
    doi_address,
    is_corrected,
    line,
    page_address,
    people,
    shorten,
    source_of,
    status_label,
    title_of,
)

if TYPE_CHECKING:
    from entrez_kit.pubmed.fetch import FetchResult
    from entrez_kit.pubmed.models import BriefSummary
    from entrez_kit.pubmed.search import SearchResult

WIDE: Final = 110
"""From this width on, authors, journal and date have columns of their own."""
_LABEL_STYLES: Final = {
    "RETRACTED": "bold white on red",
    "WITHDRAWN": "bold white on red",
    "PARTIALLY RETRACTED": "bold white on red",
    "RETRACTION NOTICE": "bold red",
    "EXPRESSION OF CONCERN": "bold black on yellow",
    "NOTICE OF CONCERN": "bold yellow",
}


class Listing(Table):
    """A table in the style of all; where a column would have to break what it holds, every row becomes a few lines.

    Args:
        columns: names of columns that break lines, or columns.
        expand: whether it takes all the width there is.
    """

    def __init__(self, *columns: str | Column, expand: bool = False) -> None:
        made = (wrapped(one) if isinstance(one, str) else one for one in columns)
        super().__init__(*made, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1), expand=expand)

    def row(self, *values: object, style: str = "") -> None:
        """Add a row; text of records is brought on one line, what is a text already stays as it is."""
        self.add_row(*(value if isinstance(value, Text) else Text(line(value)) for value in values), style=style)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        needed = sum(map(_width_of, self.columns)) + COLUMN_GAP * (len(self.columns) - 1)
        if needed <= options.max_width or len(self.columns) < 2:
            yield from super().__rich_console__(console, options)
            return
        names = [str(column.header) for column in self.columns]
        for cells in zip(*(column.cells for column in self.columns), strict=True):
            yield facts(zip(names, cells, strict=True))
            yield Text("")


COLUMN_GAP: Final = 3
LEAST: Final = 12
"""A column that breaks lines is at least as wide as its longest word, or as this; a date and most words fit."""


def _width_of(column: Column) -> int:
    """Return how wide a column has to be."""
    texts = [str(cell) for cell in (column.header, *column.cells)]
    if column.no_wrap:
        return max(cell_len(part) for text in texts for part in text.split("\n"))
    return min(LEAST, max((cell_len(word) for text in texts for word in text.split()), default=1))


def wrapped(name: str, share: int | None = None) -> Column:
    """Return a column of text, with its share of what is left over."""
    return Column(Text(name), overflow="fold", ratio=share)


def fixed(name: str) -> Column:
    """Return a column of which nothing is broken."""
    return Column(Text(name), no_wrap=True)


def number(name: str) -> Column:
    """Return a column of numbers."""
    return Column(Text(name), justify="right", no_wrap=True)


def facts(rows: Iterable[tuple[str, object]], style: str = "dim") -> Table:
    """Return names and values below each other, those without a value left out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style=style, no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        if shown := value if isinstance(value, Text) else Text(line(value)):
            table.add_row(name, shown)
    return table


def linked(text: str, address: str, console: Console) -> Text:
    """Return an identifier, as a link where the terminal has them."""
    return Text(text, style=f"cyan link {address}" if address and has_links(console) else "cyan")


def article_link(pmid: object, console: Console) -> Text:
    """Return a PMID, as a link to PubMed where the terminal has them."""
    return linked(str(pmid), page_address(PUBMED, pmid), console)


def grid(records: Iterable[Record], columns: Mapping[str, Cell]) -> RenderableType:
    """Return a plain table of the fields the user named."""
    table = Listing(*columns)
    table.show_edge = True
    for record in records:
        table.row(*(Text(cell(column(record))) for column in columns.values()))
    return table


def search_table(result: "SearchResult", console: Console) -> RenderableType:
    """Return search results with titles where there are any, how PubMed understood the query, and what it dropped."""
    parts: list[RenderableType] = []
    if result.pmids:
        parts += [_hits(result, console), Text("")]
    parts.append(_count_line(result))
    if result.query_translation:
        parts.append(Text(f"PubMed searched for: {line(result.query_translation)}", style="dim"))
    if result.certificate is not None:
        proof = result.certificate
        parts.append(
            Text(
                f"Complete: {proof.retrieved:,} of {proof.count:,} PMIDs, {proof.missing:,} missing, "
                f"{len(proof.slices)} {'slice' if len(proof.slices) == 1 else 'slices'}, sha256 {proof.sha256}",
                style="dim" if not proof.missing else "bold yellow",
            )
        )
    return Group(*parts)


def _hits(result: "SearchResult", console: Console) -> Listing:
    summaries = {summary.pmid: {**as_data(summary), "kind": _kind(summary)} for summary in result.brief_summaries}
    first = result.search_parameters.offset + 1
    wide = console.width >= WIDE
    about = article_columns(wide) if summaries else []
    table = Listing(number("#"), fixed("PMID"), *about, expand=wide and bool(summaries))
    for rank, pmid in enumerate(result.pmids, start=first):
        record = summaries.get(pmid)
        cells: list[RenderableType] = [Text(str(rank), style="dim"), article_link(pmid, console)]
        if record is not None:
            cells += _summary_cells(record, wide)
        elif summaries:
            cells += [Text("")] * len(about)
        table.add_row(*cells)
    return table


def _kind(summary: "BriefSummary") -> str:
    """Say what kind of study it is, and that its full text is free, where that is known."""
    return " · ".join(text for text in (summary.study_type, "free full text" if summary.pmcid else None) if text)


def broader_line(number: int | None) -> Text | None:
    """Say how many results of a broadened query are left out, if any are."""
    return Text(f"{number:,} broader results are left out.", style="bold") if number else None


def _count_line(result: "SearchResult") -> Text:
    if left_out := broader_line(result.broader_total):
        return left_out
    if not result.total_found:
        return Text("Nothing found.", style="bold")
    first = result.search_parameters.offset + 1
    last = result.search_parameters.offset + len(result.pmids)
    if not result.pmids:
        return Text(f"None of {result.total_found:,} results shown.", style="bold")
    span = f"{first:,}" if first == last else f"{first:,}–{last:,}"
    return Text(f"{span} of {result.total_found:,}", style="bold")


def fetch_table(result: "FetchResult", console: Console) -> RenderableType:
    """Return fetched records as a compact list, in the order of the inputs, with what was not found in its place."""
    records = [as_data(article) for article in result.articles or []]
    by_pmid = {str(record["pmid"]): record for record in records}
    wide = console.width >= WIDE
    table = Listing(fixed("PMID"), *article_columns(wide), expand=wide)
    for record in records if not result.outcomes else ():
        table.add_row(*_record_cells(record, wide, console))
    for outcome in result.outcomes:
        if outcome.status == "found" and (known := by_pmid.get(outcome.pmid or "")) is not None:
            table.add_row(*_record_cells(known, wide, console))
        else:
            table.add_row(Text(line(outcome.input)), failed_words(outcome), *([""] * (2 if wide else 0)))
    return table


def failed_words(outcome: Any) -> Text:
    """Return what stands in the place of an input that came to nothing."""
    return Text(f"{outcome.status.replace('_', ' ')}: {line(outcome.message)}", style="yellow")


def stacked(*parts: Text) -> Text:
    """Return texts below each other, without those that are empty."""
    return Text("\n").join([part for part in parts if part])


def article_columns(wide: bool) -> list[Column]:
    """Return the columns that ``article_cells`` fills."""
    return [wrapped("Title", 4), wrapped("Authors", 2), wrapped("Source", 3)] if wide else [wrapped("Article")]


def article_cells(wide: bool, title: Text, authors: str, source: str, notes: Text) -> list[Text]:
    """Return what there is to say of an article beside each other, or below each other in a narrow terminal."""
    if wide:
        return [stacked(title, notes), Text(authors), Text(source)]
    stop = " " if authors.endswith(".") else ". "
    return [stacked(title, Text(stop.join(filter(None, (authors, source))), style="dim"), notes)]


def _record_cells(record: Record, wide: bool, console: Console) -> list[Text]:
    authors, ids = people(record.get("authors"), 3 if wide else 2), _ids(record, console)
    cells = article_cells(wide, titled(record), authors, source_of(record), ids)
    return [article_link(str(record["pmid"]), console), *cells]


def _summary_cells(record: Record, wide: bool) -> list[Text]:
    title = stacked(titled(record), Text(line(record.get("snippet"))))
    authors = shorten(str(record.get("authors") or ""), 3 if wide else 2)
    source = line(record.get("source")) or line(record.get("pub_date"))
    kind = Text(record["kind"], style="green")
    *cells, last = article_cells(wide, title, authors, source, Text())
    return [*cells, stacked(last, kind)]


def titled(record: Record, title: str | None = None) -> Text:
    """Return the title (or other words for the record), how the work stands around it in words and in colour."""
    text = Text()
    if label := status_label(record):
        text.append(label, style=_LABEL_STYLES.get(label, "bold yellow"))
        text.append(" ")
    text.append(title_of(record) if title is None else title)
    if is_corrected(record):
        text.append(" (corrected)", style="bold yellow")
    return text


def _ids(record: Mapping[str, Any], console: Console) -> Text:
    """Return DOI and PMCID, as links where the terminal has them."""
    text = Text(style="dim")
    if doi := line(record.get("doi")):
        text.append(f"doi:{doi}", style=f"link {doi_address(doi)}" if has_links(console) else "")
    if pmcid := line(record.get("pmcid")):
        text.append("  " if text else "")
        text.append(pmcid, style=f"link {page_address(PMC, pmcid)}" if has_links(console) else "")
    return text
