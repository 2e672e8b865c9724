"""Rewrite the lines of a text with a pasted list, which can come from e-mails, web pages, tables and columns of a page.

A line keeps its number in the file.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import unescape
from typing import Final

from entrez_kit.references.check.pasted.line_signs import IN_ORDER, MIN_MARKED, MOSTLY, measure_indent
from entrez_kit.references.check.pasted.text_lines import TextLine

NARROWEST_COLUMN: Final = 25
"""Minimum characters of a column of text."""
GAP: Final = 2
"""Minimum spaces between two columns of text."""
MAX_COLLIDED: Final = 0.1
"""Maximum share of lines in which the left column reaches into the right one."""
DEEPEST: Final = 8
"""Maximum indent of a line inside a column."""
_QUOTE: Final = re.compile(r"(?: {0,3}> ?)+")
_BLOCK: Final = re.compile(
    r"<(?:/(?:p|li|div|tr|h[1-6])|br ?/?)>|<(?:p|li|div|tr|h[1-6])(?: [^<>]{0,200})?>", re.IGNORECASE
)
_TAG: Final = re.compile(r"</?[a-z][a-z0-9]{0,10}(?: [^<>]{0,300})?/?>", re.IGNORECASE)
_FRAME: Final = re.compile(r"\\(?:begin|end)\{[a-z]{1,20}\*?\}|\{\{[a-z]{1,20}\}\}|[|:\s-]{3,}", re.IGNORECASE)
"""A line that only begins, ends or divides a list or a table."""


def rewrite_lines(lines: Sequence[TextLine]) -> list[TextLine]:
    """Return the lines of a text without quotation marks of e-mails, tags, frames of tables and columns."""
    return list(_unfold_columns(_read_table_rows(_split_at_tags(_remove_quote_marks(lines)))))


def _remove_quote_marks(lines: Sequence[TextLine]) -> Sequence[TextLine]:
    """Remove the ``>`` of an e-mail, unless these number the references."""
    quoted = sum(line.text.lstrip().startswith(">") for line in lines)
    if quoted < MIN_MARKED or quoted < 0.5 * sum(bool(line.text) for line in lines):
        return lines
    return [replace(line, text=_QUOTE.sub("", line.text, count=1).rstrip()) for line in lines]


def _split_at_tags(lines: Sequence[TextLine]) -> Sequence[TextLine]:
    """Divide HTML at its paragraphs and list items, and remove its tags."""
    if sum(len(_BLOCK.findall(line.text)) for line in lines) < MIN_MARKED:
        return lines
    return [
        replace(line, text=unescape(_TAG.sub("", part)).strip())
        for line in lines
        for part in ([""] if not line.text else _BLOCK.split(line.text))
        if not line.text or part.strip()
    ]


def _read_table_rows(lines: Sequence[TextLine]) -> Sequence[TextLine]:
    """Join the cells of the rows of a table, and remove lines that are only frames."""
    rows = sum(line.text.startswith("|") for line in lines)
    is_table = rows >= MIN_MARKED and rows >= 0.5 * sum(bool(line.text) for line in lines)
    remaining = [line for line in lines if not line.text or not _FRAME.fullmatch(line.text.strip())]
    if not is_table:
        return remaining
    # A row is one reference: an empty line divides it from the row above.
    joined = [replace(line, text=" ".join(line.text.replace("|", " ").split())) for line in remaining]
    return [part for line in joined for part in ([replace(line, text="")] if line.text else []) + [line]]


def _unfold_columns(lines: Sequence[TextLine]) -> Sequence[TextLine]:
    """Return the left column of each page before its right column, if a text has two columns side by side."""
    texts = [line.text for line in lines if len(line.text) > 2 * NARROWEST_COLUMN]
    starts: Counter[int] = Counter()
    for text in texts:
        starts.update(
            match.end() for match in re.finditer(r"(?<! ) {2,}+(?=\S)", text) if match.end() > NARROWEST_COLUMN
        )
    column, frequency = max(starts.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
    if frequency < MIN_MARKED or frequency < IN_ORDER / 2 * len(texts):
        return lines
    # The lines of the right column that go on can have an indent.
    column = min(
        (start for start in starts if column - DEEPEST <= start < column and starts[start] > 1), default=column
    )
    both = [text for text in texts if text[column:].strip()]
    apart = [text for text in both if text[column - GAP : column].isspace() and text[:column].strip()]
    if len(apart) < MIN_MARKED or len(apart) < MOSTLY * len(texts) or column < NARROWEST_COLUMN:
        return lines
    collided = sum(bool(text[column - GAP : column].strip()) for text in texts)
    if collided > MAX_COLLIDED * len(texts):
        return lines
    divide = _find_division(apart, column)
    unfolded: list[TextLine] = []
    page: list[TextLine] = []
    for line in (*lines, None):
        if line is None or (line.after_page and page):
            columns = [divide(line.text) for line in page]
            unfolded += [replace(line, text=left) for line, (left, _) in zip(page, columns, strict=True)]
            unfolded += [
                replace(line, text=text, after_page=False) for line, (_, text) in zip(page, columns, strict=True)
            ]
            page = []
        if line is not None:
            page.append(line)
    return unfolded


def _find_division(texts: Sequence[str], column: int) -> Callable[[str], tuple[str, str]]:
    """Return the function that divides a line into its two columns.

    A left line that is too long can move the right one to the right. Then most right lines begin at one of two places
    only if they are moved back.
    """

    def end_left(text: str) -> int:
        return len(text[:column].rstrip())

    gap = min(column + measure_indent(text[column:]) - end_left(text) for text in texts)
    still = Counter(measure_indent(text[column:]) for text in texts)
    moved = Counter(measure_indent(text[max(column, end_left(text) + gap) :]) for text in texts)
    are_moved = sum(n for _, n in moved.most_common(2)) > sum(n for _, n in still.most_common(2))

    def split_heading(text: str) -> tuple[str, str]:
        if text[column - GAP : column].strip():
            end = text.find(" " * max(gap, GAP), column - GAP)
            return (text[:end], text[end:].strip()) if end >= 0 else (text, "")
        start = max(column, end_left(text) + gap) if are_moved else column
        return text[:column].rstrip(), text[start:].rstrip()

    return split_heading
