"""Rows: csv and tsv.

A cell has one line. A cell that a spreadsheet would run as a formula gets an apostrophe in front: one that starts with
``=``, ``@``, or with ``+`` or ``-`` and is not a number, also in full-width signs or after invisible characters. The
same applies to text after ``;`` or a tab, because Excel in many countries, or a paste, starts a new cell there.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from entrez_kit.base.invisible import remove_invisible

from .._state import Plan, usage_error
from . import Failed, Job, Sink, Writer
from .fields import Column, Record

STYLES_OF_LINES: Final = ("ris", "nbib")
"""File formats whose entries need several lines."""
JOINER: Final = "; "
"""The separator of values in one cell. A comma is part of many MeSH terms and names."""
_FORMULA_SIGNS: Final = "=@\uff1d\uff20"
_NUMBER_SIGNS: Final = "+-\uff0b\uff0d"
"""Signs that begin a formula or a number, also in their full-width forms, which spreadsheets treat alike."""
_NUMBER: Final = re.compile(r"[+-][0-9]+(\.[0-9]+)?")


def format_cell(value: Any) -> str:
    """Return a value as the text of one cell, on one line. Lists are joined; mappings become their values."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return " ".join(text for item in value.values() if (text := format_cell(item)))
    if isinstance(value, list | tuple):
        return JOINER.join(text for item in value if (text := format_cell(item)))
    return remove_invisible(" ".join(str(value).split()))


_SEPARATORS: Final = re.compile(r"([;\t])")
"""Separators at which a spreadsheet may split a cell."""


def escape_formulas(text: str) -> str:
    """Put an apostrophe before each part of a cell that a spreadsheet would run as a formula."""
    body = text.lstrip()
    blanks = text[: len(text) - len(body)]
    first, *rest = _SEPARATORS.split(body)
    first = f"'{blanks}{first}" if _is_formula(first) else f"{blanks}{first}"
    for place in range(1, len(rest), 2):
        part = rest[place].lstrip()
        if _is_formula(part.lstrip('"')):  # a quotation mark after a separator can start a quoted cell
            rest[place] = f"{rest[place][: len(rest[place]) - len(part)]}'{part}"
    return first + "".join(rest)


def _is_formula(text: str) -> bool:
    start = remove_invisible(text).lstrip()[:1]  # a spreadsheet ignores blanks and invisible characters
    if not start:
        return False
    text = text.strip()
    return start in _FORMULA_SIGNS or (start in _NUMBER_SIGNS and len(text) > 1 and not _NUMBER.fullmatch(text))


class Rows(Writer[Record]):
    """Writes a header, unless ``--no-header`` is given, and one row per record. Failed inputs are omitted."""

    def __init__(
        self,
        sink: Sink,
        records: Callable[[Any], Iterable[Record]],
        columns: Mapping[str, Column],
        delimiter: str,
        *,
        has_header: bool = True,
    ) -> None:
        super().__init__(sink, records)
        self._has_header = has_header
        self._columns = columns
        self._delimiter = delimiter

    def begin(self) -> None:
        """Write the header, even if no record follows."""
        if self._has_header:
            self._write_row(list(self._columns))

    def put(self, piece: Record) -> None:
        """Write a record as a row."""
        if not isinstance(piece, Failed):
            self._write_row([format_cell(column(piece)) for column in self._columns.values()])

    def _write_row(self, cells: list[str]) -> None:
        line = io.StringIO()
        csv.writer(line, delimiter=self._delimiter, lineterminator="\n").writerow(map(escape_formulas, cells))
        self.sink.write_data(line.getvalue())


def refuse_lines_in_cells(plan: Plan, styles: Iterable[str], *, is_default: bool = False) -> None:
    """Refuse styles with several lines in a format with one-line cells.

    Args:
        is_default: whether the user gave no style.

    Raises:
        InvalidInput: the format has cells, and a style has several lines.
    """
    style = next((style for style in styles if style in STYLES_OF_LINES), None)
    if style is not None and plan.format.has_cells:
        problem = (
            f"{plan.source} cannot be used with {f'the default style {style}' if is_default else f'--style {style}'}"
        )
        raise usage_error(
            f"{problem}: an entry has several lines, a cell only one.",
            f"format={plan.format}" if is_default else f"style={style}",
            f"Choose a style of one line (--style apa), or use --json. `entrez-kit cite ID -f {style}` writes a file.",
        )


def create_csv_writer(job: Job) -> Rows:
    """Return the writer of comma-separated rows."""
    return _create_rows(job, ",")


def create_tsv_writer(job: Job) -> Rows:
    """Return the writer of tab-separated rows."""
    return _create_rows(job, "\t")


def _create_rows(job: Job, delimiter: str) -> Rows:
    return Rows(job.sink, job.rows, job.build_columns(), delimiter, has_header=job.plan.has_header)
