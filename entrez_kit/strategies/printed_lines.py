"""Read the lines of a strategy as printed: their numbers, wrapped rows, comments and headers."""

import csv
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Literal

from entrez_kit.query.dialects.detect import find_signs
from entrez_kit.query.dialects.notes import Note
from entrez_kit.query.dialects.reference_lines import is_reference_line
from entrez_kit.strategies.printed_counts import COUNT_ALONE, parse_count, strip_count, take_counts, take_leading_count
from entrez_kit.strategies.printed_rows import ENDS_OPEN, PrintedLine, Role, count_open, is_open, repair

RowKind = Literal["expression", "comment", "header", "continuation", "count"]
"""What a row without a number is: a separate line, a part of the line above it, or the count of that line."""
MAX_CONTINUED: Final = 500
"""Maximum number of lines by which a line continues."""
MAX_JOINED: Final = 60
"""Maximum number of lines that are joined to one."""
MAX_GAP: Final = 3
"""Largest number of missing numbers that is a gap of a list."""
_NUMBER: Final = re.compile(
    r"\s*(?:(?:#\s?|[Ss](?=[0-9]))?([0-9]{1,4})(?:\s*[.):](?![0-9])\s*|\s+[-–—]\s+|\t\s*|\s+|\s*$)|\(([0-9]{1,4})\)\s+)"
)
_NUMBER_CELL: Final = re.compile(r"[#S]?[0-9]{1,4}\.?")
_OWN_NUMBER: Final = re.compile(r"[#Ss]?[0-9]{1,4}[.):] ")
_OPERATES: Final = re.compile(r"(?:or|and|not)\s++(?:\(*+\s*+[#Ss]?[0-9]|#)", re.IGNORECASE)
_RANGE_AFTER: Final = re.compile(r"(?:or|and)\s+[0-9]+\s*-\s*[0-9]+\s*$", re.IGNORECASE)
_HEADER: Final = re.compile(
    r"(?:databases?|platform|interface|host|provider|vendor|source|dates?|searched|search(?:es)?|last (?:run|searched)"
    r"|final search|run (?:on|date)|coverage|id\s+search|set|number|line|results?|hits|ovid|embase|medline|pubmed"
    r"|cinahl|cochrane|web of science|scopus|central|psycinfo|limits?|filters?|table|appendix|strategy|epub|comments?"
    r"|#\s+(?:searches|search|query))\b",
    re.IGNORECASE,
)
_YEARS: Final = re.compile(r"< ?[0-9]{4}[^<>]*>")
_COMMENT: Final = re.compile(
    r"(?://|%|;|\*{3,}|[-=_]{3,}|/\*|<!--|>|```|limiters?\s*-|expanders?\s*-|search modes?\s*-|interface\s*-"
    r"|#{1,6}\s+(?![0-9]))|\[[^\[\]]*\] ?$|(?=[ :|-]*--)[ :|-]++$",
    re.IGNORECASE,
)
_LIMIT: Final = re.compile(r"^\[[^\]]*\](?:/|\s*$)")
_BEGINS_INSIDE: Final = re.compile(
    r"(?:(?:or|and|not|adj[0-9]*|near/[0-9]+)(?:\s|$)|[)\]},]|\.\s?[a-z]{2}\b|(?:timespan|indexes|refined by) ?[:=])",
    re.IGNORECASE,
)
_FILTERS: Final = re.compile(r"filters?(?: applied| activated)? ?:", re.IGNORECASE)
"""The filters that PubMed's website prints below a query."""
_SEARCH: Final = re.compile(r"^search ?:? (?=\S)", re.IGNORECASE)
"""What PubMed printed before each query of a history."""
_LABEL: Final = re.compile(r"^search(?: ?: ?| (?=[(#\"]))", re.IGNORECASE)
"""The same before one query: the word search can begin a query too."""
_SORT: Final = re.compile(r" sort(?:ed)? by ?: ?[a-z ]{1,40}?(?= filters? ?:|$)", re.IGNORECASE)


def read_strategy_lines(text: str) -> list[PrintedLine]:
    """Return the lines of a strategy; their ``original`` joined is the text."""
    physical = text.splitlines(keepends=True)
    if physical and physical[0].lstrip("\ufeff").startswith("Search number,Query"):
        return _read_history(physical)
    numbers = _find_numbers(physical)
    lines = _LineReader(physical, numbers).read()
    _set_numbers(lines)
    take_counts(lines)
    _remove_labels(lines, is_numbered=bool(numbers))
    return lines


def _split_cells(line: str) -> list[str]:
    """Return the cells of a row of a table; the line itself if it is not one."""
    stripped = line.strip()
    if stripped.startswith("|") and stripped.endswith("|") and len(stripped) > 2:
        return [cell.strip() for cell in stripped[1:-1].split("|")]
    if "\t" in stripped:
        return [cell.strip() for cell in stripped.split("\t") if cell.strip()]
    return [stripped]


def _match_number(line: str) -> tuple[int, str] | None:
    """Return the number at the start of a line and the rest."""
    cells = _split_cells(line)
    if len(cells) > 2 and not any(map(str.isdigit, cells[0])) and _NUMBER_CELL.fullmatch(cells[1]):
        cells = cells[1:]  # the first column has the name of the concept
    text = "\t".join(cells)
    match = _NUMBER.match(text)
    if match is None:
        return None
    expression = text[match.end() :].strip()
    if _OPERATES.match(expression) and not _RANGE_AFTER.match(expression):
        return None
    return int(match[1] or match[2]), expression


def _find_numbers(physical: Sequence[str]) -> dict[int, int]:
    """Return the numbers of the lines by their index; none if the list is not numbered.

    A number counts only if it follows the last one, so that a year or a count is not a number. Some services print the
    last search first: such numbers go down to 1.
    """
    candidates = [(index, match) for index, line in enumerate(physical) if (match := _match_number(line)) is not None]
    filled = sum(bool(line.strip()) for line in physical)
    rising: dict[int, int] = {}
    falling: dict[int, int] = {}
    last = lower = 0
    for index, (number, expression) in candidates:
        if number == last + 1 or (last and last + 1 < number <= last + 1 + MAX_GAP and expression):
            rising[index] = last = number
        if expression and (number == lower - 1 or (not falling and 1 < number <= filled)):
            falling[index] = lower = number
    numbers = falling if lower == 1 and len(falling) > len(rising) else rising
    is_list = len(numbers) > 1 or (len(numbers) == 1 and filled == 1)
    return numbers if is_list and len(numbers) * 8 >= filled else {}


def find_second_list(text: str) -> int | None:
    """Return the row, from 1, at which the numbers of a text begin again; None if the text has one numbered list."""
    physical = text.splitlines()
    numbers = _find_numbers(physical)
    rising = list(numbers.values()) == sorted(numbers.values())
    if len(numbers) < 2 or not rising:
        return None
    second = min(index for index, number in numbers.items() if number > 1)
    others = [
        (index, match[0])
        for index, line in enumerate(physical)
        if index > second and index not in numbers and (match := _match_number(line)) is not None and match[1]
    ]
    for (index, number), (_, following) in pairwise(others):
        if (number, following) == (1, 2):
            return index + 1
    return None


def _read_history(physical: Sequence[str]) -> list[PrintedLine]:
    """Return the lines of the file that PubMed downloads as the history of searches."""
    lines = [PrintedLine(physical[0], "header", physical[0].strip())]
    for raw in physical[1:]:
        row = next(csv.reader([raw.strip()]), [])
        if len(row) < 3 or not row[0].isdigit():
            lines[-1].original += raw
            continue
        count = re.sub(r"[^0-9]", "", row[-2])
        text = repair(f"{row[1]} Filters: {row[3]}" if len(row) > 6 and row[3] else row[1])
        lines.append(PrintedLine(raw, "expression", text, int(row[0]), int(count) if count else None, rows=[text]))
    return lines


class _LineReader:
    """Joins physical lines to lines of the strategy."""

    def __init__(self, physical: Sequence[str], numbers: dict[int, int]) -> None:
        self._physical, self._numbers = physical, numbers
        self._lines: list[PrintedLine] = []
        self._leading = ""
        self._numbered_rows = sorted(numbers)
        self._titles = self._find_titles()

    def read(self) -> list[PrintedLine]:
        """Return the lines."""
        index = 0
        while index < len(self._physical):
            index = self._read_line(index)
        if self._leading:
            self._lines.append(PrintedLine(self._leading, "comment"))
        return self._lines

    def _find_titles(self) -> set[int]:
        """Return the indexes of numbered rows that are titles; none if most rows with a number are expressions."""
        titles = {index for index in self._numbers if self._is_title(index)}
        return titles if len(titles) * 2 >= len(self._numbers) else set()

    def _add_line(self, line: PrintedLine) -> None:
        if not line.rows and line.text:
            line.rows.append(line.text)
        line.original = self._leading + line.original
        self._leading = ""
        self._lines.append(line)

    def _read_line(self, index: int) -> int:
        """Read a row, and return the index of the next one."""
        raw = self._physical[index]
        if not raw.strip():
            if self._lines:
                self._lines[-1].original += raw
            else:
                self._leading += raw
            return index + 1
        if index in self._numbers:
            return self._read_numbered(index)
        text = repair(" ".join(_split_cells(raw)))
        previous = self._lines[-1] if self._lines else None
        kind = self._classify(text, index, previous)
        if kind == "continuation" and previous is not None:
            previous.append(raw, text)
        elif kind == "count" and previous is not None:
            previous.original += raw
            previous.printed_count = parse_count(text)
        elif kind == "comment" or kind == "header":
            if kind == "header" and previous is not None and self._may_continue(previous, text, index):
                note = f"the row {text!r} below it was read as a title, not as a part of the line."
                previous.notes.append(Note(note))
            self._add_line(PrintedLine(raw, kind, text))
        else:
            return self._read_unnumbered(raw, text, index)
        return index + 1

    def _read_unnumbered(self, raw: str, text: str, index: int) -> int:
        end = self._find_end(index, text)
        note = Note("the line has no number; it was numbered by its place.", "missing-number")
        self._add_line(PrintedLine(raw, "expression", text, notes=[note] if self._numbers else []))
        for below in self._physical[index + 1 : end]:
            self._lines[-1].append(below, repair(" ".join(_split_cells(below))))
        return end

    def _read_numbered(self, index: int) -> int:
        raw, number = self._physical[index], self._numbers[index]
        match = _match_number(raw)
        assert match is not None
        text = repair(match[1])
        before = next((line.number for line in reversed(self._lines) if line.number is not None), 0)
        notes = []
        if before and number > before + 1:
            notes.append(Note(f"no line has a number between {before} and {number}.", "number-gap"))
        if index in self._titles:
            self._add_line(PrintedLine(raw, "header", text))
            self._add_line(PrintedLine("", "expression", "", number, notes=notes))
            return index + 1
        role: Role = "comment" if text and _is_comment(text) else "expression"
        text, count = take_leading_count(match[1], text)
        self._add_line(PrintedLine(raw, role, text, number, count, notes))
        return index + 1

    def _is_title(self, index: int) -> bool:
        """Return whether the text after a number is the title of the expression on the next line."""
        match = _match_number(self._physical[index])
        assert match is not None
        text = repair(match[1])
        rows = (row for row in range(index + 1, len(self._physical)) if self._physical[row].strip())
        following = next(rows, None)
        if not text or following is None or following in self._numbers:
            return False
        below = repair(self._physical[following])
        has_operator = re.search(r"\b(?:OR|AND|NOT|or|and/|adj[0-9]*)\b", text)
        return (
            not find_signs(text)
            and not is_open(text)
            and not re.match(r"exp\b", text, re.IGNORECASE)
            and not has_operator
            and not re.search(r"[*$\"()]", text)
            and len(find_signs(below)) > 0
            and re.search(r"\b(?:or|and|not)\b", below, re.IGNORECASE) is not None
            and not _BEGINS_INSIDE.match(below)
        )

    def _classify(self, text: str, index: int, previous: PrintedLine | None) -> RowKind:
        """Return what a row without a number is.

        Args:
            text: the row.
            index: its index.
            previous: the line above it.
        """
        if previous is not None and previous.role == "expression":
            if _has_room(previous) and self._is_limit(text):
                return "continuation"
            if self._numbers:
                return self._classify_below(text, index, previous)
        if _is_comment(text):
            return "comment"
        if find_signs(text) or is_reference_line(text):
            return "expression"
        if _YEARS.search(text) or (_HEADER.match(text) and (":" in text or self._is_before_lines())):
            return "header"
        is_inside = previous is not None and count_open(previous.text) > 0
        return "header" if self._numbers or (text.endswith(":") and not is_inside) else "expression"

    def _is_before_lines(self) -> bool:
        """Return whether a row without a number is above all lines, or in a numbered list."""
        return bool(self._numbers) or not any(line.role == "expression" for line in self._lines)

    def _classify_below(self, text: str, index: int, previous: PrintedLine) -> RowKind:
        """Return what a row without a number is, below an expression of a numbered list."""
        has_room = _has_room(previous)
        if not previous.text or (has_room and is_open(previous.text)):
            return "continuation"
        if COUNT_ALONE.fullmatch(text):
            return "count"
        if _is_comment(text):
            return "comment"
        if _BEGINS_INSIDE.match(text):
            return "continuation" if has_room else "expression"
        can_continue = has_room and not _OWN_NUMBER.match(text)
        if find_signs(text) or is_reference_line(text):
            return "continuation" if can_continue and self._is_followed_by_next(previous, index) else "expression"
        if _YEARS.search(text) or _HEADER.match(text) or text.endswith(":"):
            return "header"
        is_part = can_continue and previous.number is not None and not _looks_complete(previous.text)
        return "continuation" if is_part else "header"

    def _is_limit(self, text: str) -> bool:
        """Return whether a row has limits that a service prints below a query."""
        if _FILTERS.match(text):
            return any("pubmed" in find_signs(line.text) for line in self._lines)
        return text.lower().startswith("refined by")

    def _may_continue(self, previous: PrintedLine, text: str, index: int) -> bool:
        """Return whether a row that was read as a title could also be the end of the line directly above it."""
        is_below = bool(self._physical[index - 1].strip()) and previous.role == "expression"
        is_title = _HEADER.match(text) is not None or text.endswith(":") or _YEARS.search(text) is not None
        return is_below and not is_title and self._is_followed_by_next(previous, index)

    def _is_followed_by_next(self, previous: PrintedLine, index: int) -> bool:
        """Return whether the number after a row is the next one, so that the row has no number of its own."""
        after = bisect_right(self._numbered_rows, index)
        if after == len(self._numbered_rows) or previous.number is None:
            return False
        return abs(self._numbers[self._numbered_rows[after]] - previous.number) == 1

    def _find_end(self, index: int, text: str) -> int:
        """Return the index after the last physical row of an expression without a number."""
        if count_open(text) <= 0 and not ENDS_OPEN.search(text):
            following, joined = index + 1, text
            while following < min(index + MAX_CONTINUED, len(self._physical)) and following not in self._numbers:
                below = repair(self._physical[following])
                if not below or is_reference_line(below):
                    break
                if not _BEGINS_INSIDE.match(below) and not ENDS_OPEN.search(joined) and count_open(joined) <= 0:
                    break
                joined = f"{joined} {below}"
                following += 1
            return following
        opened = count_open(text)
        for following in range(index + 1, min(index + MAX_JOINED, len(self._physical))):
            if following in self._numbers:
                break
            below = repair(self._physical[following])
            if opened <= 0 and is_reference_line(below):
                break
            opened += count_open(below)
            if opened == 0 and not ENDS_OPEN.search(below):
                return following + 1
        return index + 1


def _is_comment(text: str) -> bool:
    if _LIMIT.match(text) and "/" in text:
        return False
    if re.match(r"\[\s*mh\b", text, re.IGNORECASE):
        return False
    return _COMMENT.match(text) is not None


def _has_room(line: PrintedLine) -> bool:
    """Return whether a line can have more rows."""
    return line.original.count("\n") < MAX_CONTINUED


def _looks_complete(text: str) -> bool:
    """Return whether an expression can end here: it has a sign of a service, or consists of numbers.

    In a line of Ovid with fields the last term has one too.
    """
    text, count = strip_count(text)
    if re.search(r"\bexp ", text.rpartition("/")[2], re.IGNORECASE):
        return False
    signs = find_signs(text)
    if "ovid" in signs and not is_reference_line(text):
        last = re.split(r"\b(?:or|and|not|adj[0-9]*)\b", text, flags=re.IGNORECASE)[-1].strip()
        return bool(find_signs(last)) or last.endswith((")", "]", '"', "$", "*")) or last[-1:].isdigit()
    return bool(signs) or count is not None or is_reference_line(text)


def _set_numbers(lines: Sequence[PrintedLine]) -> None:
    """Set the missing numbers."""
    last = 0
    taken = {line.number for line in lines if line.number is not None}
    for line in lines:
        if line.number is not None:
            last = line.number
        elif line.role == "expression":
            following = last + 1
            if following in taken:
                line.notes.append(Note("no number is free for the line.", "missing-number"))
                continue
            line.number = last = following


def _remove_labels(lines: Sequence[PrintedLine], *, is_numbered: bool) -> None:
    """Remove what services print beside a query: PubMed's "Search" and its order, and the remark before a number."""
    expressions = [line for line in lines if line.role == "expression"]
    labelled = sum(_SEARCH.match(line.text) is not None for line in expressions)
    label = _SEARCH if labelled > 1 and labelled * 2 > len(expressions) else _LABEL
    for line in expressions:
        line.text = label.sub("", _SORT.sub("", line.text), count=1)
        if is_numbered:
            line.text = re.sub(r"^\[(?!\s*mh\b)[^\]]*\]\s+(?=\S)", "", line.text)
