"""Tables for terminals, one function per kind of result. Text of records is never parsed as markup."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.style import StyleType
from rich.table import Column, Table
from rich.text import Text

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.identifiers import PMC, PUBMED, format_doi_url

from .._console import has_links
from .._formats.fields import Column as Cell
from .._formats.fields import Record
from .._formats.rows import format_cell
from .text import build_page_address, to_line

WIDE: Final = 110
"""The least width, in columns, of a terminal that shows authors, journal and date in separate columns."""


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
        wide = [word for word in re.finditer(r"\S+", part.plain) if cell_len(word[0]) > width]
        for piece in part.divide([place for word in wide for place in word.span()]):
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
    for match in _NAMED.finditer(text.plain) if has_links(console) else ():
        if match["doi"]:
            address = format_doi_url(match["doi"])
        else:
            address = (
                build_page_address(PUBMED, match["pmid"]) if match["pmid"] else build_page_address(PMC, match["pmcid"])
            )
        text.stylize(f"link {address}", *match.span())
    return text


def build_article_link(pmid: object, console: Console) -> Text:
    """Return a PMID, as a link to PubMed if the terminal supports links."""
    return build_link(str(pmid), build_page_address(PUBMED, pmid), console)


def build_grid(records: Iterable[Record], columns: Mapping[str, Cell]) -> RenderableType:
    """Return a plain table of the fields that the user named."""
    table = ListingTable(*columns)
    table.show_edge = True
    for record in records:
        table.add_cells(*(Text(format_cell(column(record))) for column in columns.values()))
    return table


def format_broader_line(omitted: int | None) -> Text | None:
    """Return a line with the number of omitted results of a broadened query, if any."""
    return Text(f"{format_count(omitted, 'broader result')} not shown.", style="bold") if omitted else None


def format_failure(outcome: Any) -> Text:
    """Return the status and message of a failed input."""
    return Text(f"{outcome.status.replace('_', ' ')}: {to_line(outcome.message)}", style="yellow")


def join_lines(*parts: Text) -> Text:
    """Join texts as lines, without empty ones."""
    return Text("\n").join([part for part in parts if part])
