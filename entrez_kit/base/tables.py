"""Read tables with commas, semicolons or tabs. A row that cannot be read as written is an error with its line."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from operator import itemgetter
from typing import Final

from entrez_kit.base.frontend_text import format_count

TABLE_SUFFIXES: Final = (".csv", ".tsv")
MAX_CELL: Final = 16 * 1024 * 1024
"""The maximum number of characters in a cell; some abstracts exceed Python's default."""
DELIMITERS: Final = ",;\t"
MIN_COMPLETE_ROWS: Final = 2
"""How many rows, with the names of the columns, must be before the last row, to know how many cells it must have."""
Row = tuple[int, list[str]]
"""The number of the first line of a row, and its cells; an empty line has none."""
NamedRow = tuple[int, dict[str, str]]
"""The number of the first line of a row, and its cells by the names of the columns."""


class TableError(ValueError):
    """A row that cannot be read.

    Args:
        problem: the problem of the row.
        line: the first line of the row.
    """

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(f"line {line}: {problem}")
        self.problem, self.line = problem, line


def detect_delimiter(text: str) -> str:
    """Return the delimiter of a table: the one that its first line has most often outside of quotation marks."""
    header = re.sub(r'"[^"\n]*+"', "", text.lstrip().partition("\n")[0])
    return max(DELIMITERS, key=header.count)


def read_table(text: str) -> tuple[list[str], Iterator[NamedRow]]:
    """Return the names of the columns, and the rows below them that are not empty.

    Raises:
        TableError: a quotation mark is not closed, or a row has more cells than the table has columns.
    """
    text = text.removeprefix("\ufeff")
    return name_cells(read_rows(io.StringIO(text, newline=""), detect_delimiter(text)))


def name_cells(rows: Iterable[Row]) -> tuple[list[str], Iterator[NamedRow]]:
    """Return the names of the columns, and the other rows by these names.

    Missing cells at the end are empty. If columns have the same name, the first one with a text is used.
    """
    filled = ((line, cells) for line, cells in rows if any(map(str.strip, cells)))
    _, columns = next(filled, (1, []))
    return columns, _name_rows(columns, filled)


def _name_rows(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[NamedRow]:
    """Yield rows by the names of the columns. Rows can end with a delimiter if all complete rows do."""
    first_complete: tuple[int, int] | None = None  # the line of this row, and how many cells are after its last column
    for line, cells in rows:
        extra = len(cells) - len(columns)
        if extra >= 0:
            first_complete = first_complete or (line, extra)
            if extra > 1 or extra != first_complete[1] or (extra and cells[-1].strip()):
                longer_line, longer_extra = max((line, extra), first_complete, key=itemgetter(1))
                cell_count = format_count(len(columns) + longer_extra, "cell")
                problem = f"this row has {cell_count}, but the table has {format_count(len(columns), 'column')}"
                raise TableError(f"{problem}; put cells with a delimiter in quotation marks", longer_line)
        row: dict[str, str] = {}
        for column, cell in zip_longest(columns, cells[: len(columns)], fillvalue=""):
            row[column] = row.get(column) or cell
        yield line, row


def read_rows(lines: Iterable[str], delimiter: str) -> Iterator[Row]:
    """Yield the rows of a table, also empty ones.

    Some programs do not quote cells with quotation marks in tables with tabs. There, a line with a cell for each
    column is a row, and its quotation marks are characters.

    Args:
        lines: the lines with their ends.

    Raises:
        TableError: a quotation mark is not closed or not doubled.
    """
    csv.field_size_limit(MAX_CELL)
    source = _CountedLines(lines)
    width = 0
    for line in source:
        first_line = source.number
        cells = line.rstrip("\r\n").split(delimiter) if line.strip("\r\n") else []
        if '"' in line:
            is_row = delimiter == "\t" and len(cells) == width
            if is_row and (not _is_open(cells[-1]) or source.has_row(delimiter, width)):
                cells = [_unquote(cell) for cell in cells]
            else:
                cells = _read_quoted(line, source, delimiter, first_line)
        width = width or len(cells)
        yield first_line, cells


def check_last_row(rows: Sequence[Row], text: str) -> None:
    """Check that a file does not end inside its last row: only this row lacks cells, and its line has no end.

    Raises:
        TableError: the file is incomplete.
    """
    widths = {len(cells) for _, cells in rows[:-1] if cells}
    if text.endswith(("\n", "\r")) or len(widths) != 1 or len(rows) - 1 < MIN_COMPLETE_ROWS:
        return
    line, cells = rows[-1]
    if 0 < len(cells) < max(widths):
        raise TableError("the file ends inside this row, so the file is incomplete", line)


class _CountedLines(Iterator[str]):
    """Lines, and the number of the last one that was read."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._next: list[str] = []
        self.number = 0

    def __next__(self) -> str:
        line = self._next.pop() if self._next else next(self._lines)
        self.number += 1
        return line

    def has_row(self, delimiter: str, width: int) -> bool:
        """Return whether the next line has a cell for each column."""
        self._next = self._next or [*islice(self._lines, 1)]
        return any(len(line.split(delimiter)) == width for line in self._next)


def _read_quoted(line: str, next_lines: Iterable[str], delimiter: str, first_line: int) -> list[str]:
    """Return the cells of a row with quotation marks, which can continue on more lines."""
    try:
        return next(csv.reader(chain((line,), next_lines), delimiter=delimiter, strict=True))
    except csv.Error as exc:
        is_quotation = "expected after" in str(exc) or "end of data" in str(exc)
        problem = "this row has a quotation mark that is not closed, or not doubled inside a cell"
        raise TableError(problem if is_quotation else str(exc), first_line) from None


def _is_open(cell: str) -> bool:
    """Return whether a cell begins with a quotation mark that it does not close."""
    return cell.startswith('"') and cell.count('"') % 2 == 1


def _unquote(cell: str) -> str:
    """Return the text of a cell in quotation marks; another cell is unchanged."""
    inner = cell[1:-1].replace('""', "")
    is_quoted = len(cell) > 1 and cell.startswith('"') and cell.endswith('"') and '"' not in inner
    return cell[1:-1].replace('""', '"') if is_quoted else cell
