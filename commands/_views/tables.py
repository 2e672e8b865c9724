"""Tables for terminals, one function per kind of result. Text of records is never parsed as markup."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.style import StyleType
from rich.table import Column, Table
from rich.text import Text

from entrez_kit.base.numerals import format_count

from .._console import has_links
from .._formats.fields import Column as Cell
from .._formats.fields import Record, convert_to_data
from .._formats.rows import format_cell
from .text import (
    PMC,
    PUBMED,
    format_doi_url,
    format_people,
    format_source,
    get_status_label,
    get_title,
    is_corrected,
    page_address,
    shorten,
    to_line,
)

if TYPE_CHECKING:
    from entrez_kit.pubmed.fetch import FetchResult
    from entrez_kit.pubmed.models import BriefSummary
    from entrez_kit.pubmed.search_models import SearchResult

WIDE: Final = 110
"""The least width, in columns, of a terminal that shows authors, journal and date in separate columns."""
_LABEL_STYLES: Final = {
    "RETRACTED": "bold white on red",
    "WITHDRAWN": "bold white on red",
    "PARTIALLY RETRACTED": "bold white on red",
    "RETRACTION NOTICE": "bold red",
    "EXPRESSION OF CONCERN": "bold black on yellow",
    "NOTICE OF CONCERN": "bold yellow",
}


NARROW: Final = 72
"""Narrower terminals show the rows of tables with long texts as lists of names and values."""
_IDENTIFIER: Final = re.compile(r"(?:https?://|10\.[0-9]{4,9}/)\S+|\b(?:PMC)?[0-9]{4,}\b")
"""A URL, a DOI, a PMCID or a PMID, which is never divided between two lines."""
_NAMED: Final = re.compile(
    r"\bPMID:? ?(?P<pmid>[0-9]{1,10})\b|\b(?P<pmcid>PMC[0-9]+)\b|(?P<doi>\b10\.[0-9]{4,9}/\S*[^\s.,;:)\]])"
)


class ListingTable(Table):
    """A table in the common style. If a column is too narrow for its content, each row becomes several lines.

    Args:
        columns: columns, or names of columns whose text wraps.
        expand: whether the table fills the available width.
        stacks: whether each row becomes several lines on every narrow terminal.
    """

    def __init__(self, *columns: str | Column, expand: bool = False, stacks: bool = False) -> None:
        wrapped_columns = (build_wrapped_column(column) if isinstance(column, str) else column for column in columns)
        super().__init__(
            *wrapped_columns, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1), expand=expand
        )
        self._stacks = stacks

    def add_cells(self, *values: object, style: str = "") -> None:
        """Add a row. Values become text on one line; a ``Text`` is not changed."""
        self.add_row(*(value if isinstance(value, Text) else Text(to_line(value)) for value in values), style=style)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = list(map(_measure, self.columns))
        needed = sum(widths) + COLUMN_GAP * (len(self.columns) - 1)
        fits = needed <= options.max_width and not (self._stacks and options.max_width < NARROW)
        if fits or len(self.columns) < 2:
            if any(
                width > MIN_VALUE_WIDTH and not column.no_wrap
                for column, width in zip(self.columns, widths, strict=True)
            ):
                self._assign_widths(widths, options.max_width - COLUMN_GAP * (len(self.columns) - 1))
            yield from super().__rich_console__(console, options)
            return
        names = [str(column.header) for column in self.columns]
        for row, cells in zip(self.rows, zip(*(column.cells for column in self.columns), strict=True), strict=True):
            if row is not self.rows[0]:
                yield Text("")
            styled = (cell.copy() if isinstance(cell, Text) else Text(str(cell)) for cell in cells)
            rows = [(name, _apply_style(cell, row.style)) for name, cell in zip(names, styled, strict=True) if cell]
            yield FactList(rows, "dim", max(map(cell_len, names)))

    def _assign_widths(self, least: Sequence[int], free: int) -> None:
        """Set the widths of columns, because rich makes a column narrower than its longest identifier."""
        texts = ((str(cell) for cell in (column.header, *column.cells)) for column in self.columns)
        most = [max(cell_len(part) for text in column for part in text.split("\n")) for column in texts]
        if not self.expand and sum(most) <= free:
            return
        weights = [
            column.ratio or (1 if self.expand else width) for column, width in zip(self.columns, most, strict=True)
        ]
        widths = {place: least[place] for place, column in enumerate(self.columns) if column.no_wrap}
        while rest := [place for place in range(len(self.columns)) if place not in widths]:
            share = max(0, free - sum(widths.values())) / sum(weights[place] for place in rest)
            ends = {} if self.expand else {n: most[n] for n in rest if share * weights[n] >= most[n]}
            ends = ends or {n: least[n] for n in rest if share * weights[n] < least[n]}
            widths |= ends or {n: int(share * weights[n]) for n in rest}
        for place, width in widths.items():
            self.columns[place].width, self.columns[place].ratio = width, None


def _apply_style(text: Text, style: StyleType | None) -> Text:
    if style:
        text.stylize_before(style)
    return text


class KeyColumn(Column):
    """A column of names or keys, whose words are not divided between lines."""


COLUMN_GAP: Final = 3
MIN_VALUE_WIDTH: Final = 12
"""The least width of a column whose text wraps and whose longest word is wider. A date and most words fit."""
MAX_KEY: Final = 48
"""The longest word that is not divided in a column of keys."""


def _measure(column: Column) -> int:
    """Return the least width of a column."""
    texts = [str(cell) for cell in (column.header, *column.cells)]
    if column.no_wrap:
        return max(cell_len(part) for text in texts for part in text.split("\n"))
    most = MAX_KEY if isinstance(column, KeyColumn) else MIN_VALUE_WIDTH
    least = min(most, max((cell_len(word) for text in texts for word in text.split()), default=1))
    return max(least, *(cell_len(word) for text in texts for word in _list_whole_words(text)), 1)


def _list_whole_words(text: str) -> list[str]:
    """Return the words of a text that contain an identifier."""
    return [word for word in text.split() if _IDENTIFIER.search(word)]


def build_wrapped_column(name: str, share: int | None = None) -> Column:
    """Return a column whose text wraps, with its share of the remaining width."""
    return Column(Text(name), overflow="fold", ratio=share)


def build_key_column(name: str, share: int | None = None) -> Column:
    """Return a column of names or keys, with its share of the remaining width."""
    return KeyColumn(Text(name), overflow="fold", ratio=share)


def build_fixed_column(name: str) -> Column:
    """Return a column whose text does not wrap."""
    return Column(Text(name), no_wrap=True)


def build_number_column(name: str) -> Column:
    """Return a column of numbers."""
    return Column(Text(name), justify="right", no_wrap=True)


def build_fact_list(rows: Iterable[tuple[str, object]], style: str = "dim") -> "FactList":
    """Return a list of names and values. Names without a value are omitted."""
    texts = ((name, value if isinstance(value, Text) else Text(to_line(value))) for name, value in rows)
    return FactList([(name, text) for name, text in texts if text], style)


class FactList:
    """A list of names and values. An identifier that is too wide for its column has a line of its own.

    Args:
        rows: names and values.
        style: the style of the names.
        width: the least width of the names.
    """

    def __init__(self, rows: Sequence[tuple[str, Text]], style: str, width: int = 0) -> None:
        self._rows, self._style, self._width = rows, style, width

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        first = max(self._width, *(cell_len(name) for name, _ in self._rows), 0)
        width = max(1, options.max_width - first - 2)
        for name, text in self._rows:
            is_wide = any(cell_len(word) > width for word in _list_whole_words(text.plain))
            lines = _wrap_whole(text, options.max_width, console) if is_wide else [text]
            table = Table.grid(padding=(0, 2))
            table.add_column(style=self._style, no_wrap=True, min_width=first)
            table.add_column(overflow="fold")
            table.add_row(name, "" if is_wide else text)
            yield table
            yield from lines if is_wide else ()


def _wrap_whole(text: Text, width: int, console: Console) -> Iterator[Text]:
    """Yield the lines of a text; an identifier wider than the terminal is a line that the terminal has to wrap."""
    for part in text.split("\n"):
        wide = [found for found in re.finditer(r"\S+", part.plain) if cell_len(found[0]) > width]
        for piece in part.divide([place for found in wide for place in found.span()]):
            piece = piece[len(piece.plain) - len(piece.plain.lstrip()) :]
            piece.rstrip()
            if piece.plain.strip() and cell_len(piece.plain) > width and " " not in piece.plain:
                piece.no_wrap, piece.overflow = True, "ignore"
                yield piece
            elif piece.plain.strip():
                yield from piece.wrap(console, width)


def build_link(text: str, address: str, console: Console) -> Text:
    """Return an identifier, as a link if the terminal supports links."""
    return Text(text, style=f"cyan link {address}" if address and has_links(console) else "cyan")


def add_links(text: Text, console: Console) -> Text:
    """Make links of the PMIDs, PMCIDs and DOIs in a text, if the terminal supports links."""
    for found in _NAMED.finditer(text.plain) if has_links(console) else ():
        if found["doi"]:
            address = format_doi_url(found["doi"])
        else:
            address = page_address(PUBMED, found["pmid"]) if found["pmid"] else page_address(PMC, found["pmcid"])
        text.stylize(f"link {address}", *found.span())
    return text


def build_article_link(pmid: object, console: Console) -> Text:
    """Return a PMID, as a link to PubMed if the terminal supports links."""
    return build_link(str(pmid), page_address(PUBMED, pmid), console)


def build_grid(records: Iterable[Record], columns: Mapping[str, Cell]) -> RenderableType:
    """Return a plain table of the fields that the user named."""
    table = ListingTable(*columns)
    table.show_edge = True
    for record in records:
        table.add_cells(*(Text(format_cell(column(record))) for column in columns.values()))
    return table


def search_table(result: "SearchResult", console: Console) -> RenderableType:
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
                f"Complete: {proof.retrieved:,} of {proof.count:,} PMIDs, {proof.missing:,} missing, "
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


def format_broader_line(omitted: int | None) -> Text | None:
    """Return a line with the number of omitted results of a broadened query, if any."""
    return Text(f"{omitted:,} broader results not shown.", style="bold") if omitted else None


def _format_count(result: "SearchResult") -> Text:
    if left_out := format_broader_line(result.broader_total):
        return left_out
    if not result.total_found:
        return Text("No results.", style="bold")
    first = result.search_parameters.offset + 1
    last = result.search_parameters.offset + len(result.pmids)
    if not result.pmids:
        return Text(f"None of {result.total_found:,} results shown.", style="bold")
    span = f"{first:,}" if first == last else f"{first:,}–{last:,}"
    return Text(f"{span} of {result.total_found:,}", style="bold")


def fetch_table(result: "FetchResult", console: Console) -> RenderableType:
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


def format_failure(outcome: Any) -> Text:
    """Return the status and message of a failed input."""
    return Text(f"{outcome.status.replace('_', ' ')}: {to_line(outcome.message)}", style="yellow")


def join_lines(*parts: Text) -> Text:
    """Join texts as lines, without empty ones."""
    return Text("\n").join([part for part in parts if part])


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
    authors = shorten(str(record.get("authors") or ""), 3 if wide else 2)
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
        text.append(pmcid, style=f"link {page_address(PMC, pmcid)}" if has_links(console) else "")
    return text
