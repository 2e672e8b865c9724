"""Convert XHTML and OASIS tables to rows of texts: each cell once, in its column."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from entrez_kit.fulltext.jats.tree import get_attribute, get_local_name, iter_children

MAX_SPAN: Final = 200
"""Wider spans are errors or attacks, and would use too much memory."""
MAX_COLUMNS: Final = 2000
"""Cells farther to the right span one column only."""
_GROUPS: Final = ("thead", "tbody", "tfoot")


def read_table_rows(table: Any, text_of: Callable[[Any], str]) -> list[list[str]]:
    """Return a table's rows. The text of a spanning cell is in its first place; the other places are empty.

    Args:
        table: the element ``table`` of either model.
        text_of: returns the text of a cell.
    """
    rows: list[list[str]] = []
    for group, columns in _yield_row_groups(table):
        open_spans: dict[int, int] = {}  # column -> rows below that its cell still covers
        for row in iter_children(group, "tr", "row"):
            rows.append(_read_row(row, columns, open_spans, text_of))
    return rows


def _yield_row_groups(table: Any) -> Iterator[tuple[Any, Mapping[str, int]]]:
    """Yield the elements with rows in document order, each with the numbers of its named columns."""
    if any(True for _ in iter_children(table, "tr", "row")):
        yield table, {}
    for group in iter_children(table, *_GROUPS):
        yield group, {}
    for part in iter_children(table, "tgroup"):
        columns = _number_columns(part)
        for group in iter_children(part, *_GROUPS):
            group_columns = _number_columns(group)
            yield group, group_columns or columns


def _number_columns(group: Any) -> dict[str, int]:
    columns: dict[str, int] = {}
    number = -1
    for spec in iter_children(group, "colspec"):
        number = _count(get_attribute(spec, "colnum"), number + 2) - 1
        if name := get_attribute(spec, "colname"):
            columns[name] = number
    return columns


def _read_row(
    row: Any, columns: Mapping[str, int], open_spans: dict[int, int], text_of: Callable[[Any], str]
) -> list[str]:
    placed: dict[int, str] = {}
    covered = {column for column, left in open_spans.items() if left > 0}
    for column in covered:
        open_spans[column] -= 1
    column = 0
    for cell in iter_children(row, "td", "th", "entry"):
        start, width = _read_column_span(cell, columns)
        column = start if start is not None and start >= column else column
        while column in covered:
            column += 1
        placed[column] = text_of(cell)
        is_entry = get_local_name(cell) == "entry"
        height = (
            _count(get_attribute(cell, "morerows"), 0) + 1 if is_entry else _count(get_attribute(cell, "rowspan"), 1)
        )
        width = min(width, max(1, MAX_COLUMNS - column))
        for covered_column in range(column, min(column + width, MAX_COLUMNS)) if height > 1 else ():
            open_spans[covered_column] = max(open_spans.get(covered_column, 0), height - 1)
        column += width
    last = max((*placed, *covered, column - 1), default=-1)
    return [placed.get(number, "") for number in range(last + 1)]


def _read_column_span(cell: Any, columns: Mapping[str, int]) -> tuple[int | None, int]:
    """Return the declared first column of a cell, and the number of columns it spans."""
    if get_local_name(cell) != "entry":
        return None, _count(get_attribute(cell, "colspan"), 1)
    first, last = columns.get(get_attribute(cell, "namest")), columns.get(get_attribute(cell, "nameend"))
    if first is not None and last is not None and last >= first:
        return first, min(last - first + 1, MAX_SPAN)
    return columns.get(get_attribute(cell, "colname")), 1


def _count(text: str, default: int) -> int:
    number = int(text[:6]) if text.isascii() and text.isdigit() else 0
    return min(number, MAX_SPAN) or default
