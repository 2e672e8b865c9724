"""The counts that services print beside the lines of a strategy."""

import re
from collections.abc import Sequence
from typing import Final

from entrez_kit.query.dialects.ebsco_limiters import LIMITERS
from entrez_kit.strategies.printed_rows import ENDS_OPEN, PrintedLine, count_open, join_rows, repair

_COUNT: Final = re.compile(
    r"(?: |(?<=[\])\"])|(?<=[^0-9][/.]))[\[(]?([0-9]{1,3}(?:[,. ][0-9]{3}){1,4}|[0-9]{1,12})[\])]?$"
)
_COMMA_COUNT: Final = re.compile(r" [\[(]?([0-9]{1,3}(?:[,.][0-9]{3}){1,4}|[0-9]{1,12})[\])]?$")
_COUNTS: Final = (
    _COUNT,
    re.compile(r" ([0-9]{1,3}(?: [0-9]{3}){3})$"),
    re.compile(r" ([0-9]{1,3}(?: [0-9]{3}){2})$"),
    re.compile(r" ([0-9]{1,3} [0-9]{3})$"),
    _COMMA_COUNT,
)
"""The forms of a count at the end of a line, the longest first."""
COUNT_ALONE: Final = re.compile(r"[0-9]{1,3}(?:[,. ][0-9]{3})+|[0-9]+")
"""A count in a row or a cell of its own."""
_COMPLETE: Final = re.compile(
    r"(?:[)\]/\"'*$]|[.,]\s?[a-z]{2}\.?|:[a-z,]+|/[a-z]{2,3}|[#Ss]?[0-9]|\}|\ball trees|\bterm only|\bin \w+)\s*$"
)
_RESULTS: Final = re.compile(r"\b(?:results|hits)\b", re.IGNORECASE)
_REMARKS: Final = (
    re.compile(r" [0-9]{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,7} [0-9]{4}$", re.IGNORECASE),
    re.compile(r" [0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?$"),
    re.compile(r" (?:advanced|basic)(?: (?:display results|more|delete|save|annotate)\b.*)?$", re.IGNORECASE),
)
"""What services print after the count: the date or the time of the search, or its type."""
_LEADING_COUNT: Final = re.compile(
    r"([0-9]{1,3}(?:,[0-9]{3})*) (?=\(*(?:TS|TI|AB|AK|SO|AU|ALL|PY|DO|OG|SU)\s?=|\(*#\s?[0-9])"
)
"""The count that Web of Science prints before a query."""
_GROUPED: Final = re.compile(r" [0-9]{1,3}(?: [0-9]{3}){1,4}$")
_NO_COUNT_AFTER: Final = re.compile(
    r"(?:[-=<>:]|\b(?:to|from|adj|near|next|within|type|grade|stage|phase)) ?$", re.IGNORECASE
)


def parse_count(text: str) -> int:
    """Return the number of a count, which may have signs between the thousands."""
    return int(re.sub(r"[^0-9]", "", text))


def take_leading_count(raw: str, text: str) -> tuple[str, int | None]:
    """Return an expression without the count before it, in its own cell or before a field, and the count."""
    if match := _LEADING_COUNT.match(text):
        return text[match.end() :], parse_count(match[1])
    first, separator, rest = raw.partition("\t")
    if separator and rest.strip() and COUNT_ALONE.fullmatch(first.strip()):
        return repair(rest.replace("\t", " ")), parse_count(first)
    return text, None


def _strip_remarks(text: str) -> str:
    """Return a line without the date, the time or the type of the search after its count."""
    for remark in _REMARKS:
        shorter = remark.sub("", text)
        if shorter != text and _COUNT.search(shorter):
            return shorter
    return text


def strip_count(text: str) -> tuple[str, int | None]:
    """Return an expression without the count that is printed after it, and the count."""
    # The longest count is not always right: in "1 or 2 450 001" the 2 is the number of a line.
    for match in filter(None, (pattern.search(text) for pattern in _COUNTS)):
        before = text[: match.start()].rstrip()
        if not before or ENDS_OPEN.search(before):
            continue
        if not _COMPLETE.search(before) and not LIMITERS.search(before):
            break
        if re.search(r"\b(?:or|and|not)/[0-9, -]*+$", before, re.IGNORECASE) and "," in before[-3:]:
            continue
        return before, parse_count(match[1])
    return text, None


def _strip_last_number(text: str, *, is_grouped: bool) -> tuple[str, int | None]:
    """Return an expression without the number at its end, in a list in which counts are printed after the lines.

    Args:
        text: the expression.
        is_grouped: whether the counts of the list have blanks between the thousands.
    """
    match = (_GROUPED.search(text) if is_grouped else None) or _COMMA_COUNT.search(text)
    if match is None:
        return text, None
    before = text[: match.start()].rstrip()
    if not before or ENDS_OPEN.search(before) or _NO_COUNT_AFTER.search(before):
        return text, None
    return before, parse_count(match[0])


def take_counts(lines: Sequence[PrintedLine]) -> None:
    """Take the printed counts off the expressions.

    A number after a field, a quotation mark or a parenthesis is a count. After a word it is one if most lines of the
    list have a count. The count of a line of several rows is at the end of its first or of its last row.
    """
    expressions = [line for line in lines if line.role == "expression" and line.text]
    counted: list[PrintedLine] = []
    for line in expressions:
        line.text = _strip_remarks(line.text)
        text, count = strip_count(line.text)
        if count is not None:
            line.text, line.printed_count = text, count
        if line.printed_count is not None:
            counted.append(line)
    has_title = any(line.role == "header" and _RESULTS.search(line.text) for line in lines)
    if len(counted) * 2 < len(expressions) or len(counted) < 2 - has_title:
        return
    is_grouped = any(_GROUPED.search(_strip_remarks(line.rows[-1])) for line in counted if line.rows)
    for line in expressions:
        if line.printed_count is None:
            _take_number(line, is_grouped=is_grouped)


def _take_number(line: PrintedLine, *, is_grouped: bool) -> None:
    """Take the number at the end of the last or of the first row of a line off it, as its count."""
    text, count = _strip_last_number(line.text, is_grouped=is_grouped)
    if count is not None:
        line.text, line.printed_count = text, count
        return
    if len(line.rows) < 2:
        return
    first, count = _strip_last_number(line.rows[0], is_grouped=is_grouped)
    if count is None or count < 10 or count_open(first) > 0:
        return
    line.printed_count = count
    line.text = first
    for row in line.rows[1:]:
        line.text = join_rows(line.text, row)[0]
