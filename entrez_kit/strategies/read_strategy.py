"""Read the lines of a strategy as printed: numbers, counts, wrapped lines, comments and headers."""

import csv
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from entrez_kit.query.dialects.detect import find_signs
from entrez_kit.query.dialects.notes import Note
from entrez_kit.query.dialects.reference_lines import is_reference_line

Role = Literal["expression", "comment", "header"]
MAX_CONTINUED: Final = 500
"""Maximum number of lines by which a line continues."""
MAX_JOINED: Final = 60
"""Maximum number of lines that are joined to one."""
MAX_GAP: Final = 3
"""Largest number of missing numbers that is a gap of a list."""
_NUMBER: Final = re.compile(r"\s*(?:#\s?|[Ss](?=[0-9]))?([0-9]{1,4})(?:\s*[.):](?![0-9])\s*|\t\s*|\s+|\s*$)")
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
_COUNT: Final = re.compile(r"(?: |(?<=[\])/.\"]))[\[(]?([0-9]{1,3}(?:[,. ][0-9]{3}){1,4}|[0-9]{1,12})[\])]?$")
_COMMA_COUNT: Final = re.compile(r" [\[(]?([0-9]{1,3}(?:[,.][0-9]{3}){1,4}|[0-9]{1,12})[\])]?$")
_DIGITS: Final = re.compile(r"[0-9]{1,3}(?:[,. ][0-9]{3})+|[0-9]+")
_COMPLETE: Final = re.compile(
    r"(?:[)\]/\"'*$]|[.,]\s?[a-z]{2}\.?|:[a-z,]+|/[a-z]{2,3}|[#Ss]?[0-9]|\}|\ball trees|\bterm only|\bin \w+)\s*$"
)
_ENDS_OPEN: Final = re.compile(
    r"(?:\b(?:or|and|not|adj[0-9]*+|near(?:/[0-9]++)?|next)|,|[([{]|(?<![/\w] )(?<!/)\bexp) ?$", re.IGNORECASE
)
_BEGINS_INSIDE: Final = re.compile(
    r"(?:(?:or|and|not|adj[0-9]*|near/[0-9]+)(?:\s|$)|[)\]},]|\.\s?[a-z]{2}\b)", re.IGNORECASE
)

_CHARACTERS: Final = {
    **dict.fromkeys("“”„‟″«»＂", '"'),
    **dict.fromkeys("‘’‚‛´′`", "'"),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
    **{"…": "...", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "＊": "*"},
}
_TABLE: Final = str.maketrans(_CHARACTERS)
_ENTITIES: Final = {"&amp;": "&", "&quot;": '"', "&lt;": "<", "&gt;": ">", "&#39;": "'", "&nbsp;": " "}


@dataclass(slots=True)
class PrintedLine:
    """A line of a strategy as printed.

    ``original`` has the characters of the file with their line breaks, so that the joined lines are the file. ``text``
    is the expression without its number and its printed count.
    """

    original: str
    role: Role
    text: str = ""
    number: int | None = None
    printed_count: int | None = None
    notes: list[Note] = field(default_factory=list)


@lru_cache(maxsize=1024)
def repair(text: str) -> str:
    """Return a text with the characters that a word processor or a web page changed written plainly."""
    plain = replace_characters(text)
    plain = re.sub(r"\bexp\.\s+(?=[A-Z])", "exp ", plain)
    plain = re.sub(r"\bexp(?=\*)", "exp ", plain)
    return " ".join(unicodedata.normalize("NFC", plain).split())


def replace_characters(text: str) -> str:
    """Return a text with plain quotation marks, hyphens and spaces, and without entities of HTML."""
    plain = text.translate(_TABLE)
    for entity, sign in _ENTITIES.items():
        plain = plain.replace(entity, sign)
    return plain


def read_lines(text: str) -> list[PrintedLine]:
    """Return the lines of a strategy; their ``original`` joined is the text."""
    physical = text.splitlines(keepends=True)
    if physical and physical[0].lstrip("\ufeff").startswith("Search number,Query"):
        return _read_history(physical)
    numbers = _find_numbers(physical)
    return _set_numbers(_LineReader(physical, numbers).read(), bool(numbers))


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
    text = "\t".join(cells)
    match = _NUMBER.match(text)
    if match is None:
        return None
    expression = text[match.end() :].strip()
    if _OPERATES.match(expression) and not _RANGE_AFTER.match(expression):
        return None
    return int(match[1]), expression


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


def _read_history(physical: Sequence[str]) -> list[PrintedLine]:
    """Return the lines of the file that PubMed downloads as the history of searches."""
    lines = [PrintedLine(physical[0], "header", physical[0].strip())]
    for raw in physical[1:]:
        row = next(csv.reader([raw.strip()]), [])
        if len(row) < 3 or not row[0].isdigit():
            lines[-1].original += raw
            continue
        count = re.sub(r"[^0-9]", "", row[-2])
        lines.append(PrintedLine(raw, "expression", repair(row[1]), int(row[0]), int(count) if count else None))
    return lines


class _LineReader:
    """Joins physical lines to lines of the strategy."""

    def __init__(self, physical: Sequence[str], numbers: dict[int, int]) -> None:
        self._physical, self._numbers = physical, numbers
        self._lines: list[PrintedLine] = []
        self._leading = ""

    def read(self) -> list[PrintedLine]:
        """Return the lines."""
        index = 0
        while index < len(self._physical):
            index = self._read(index)
        if self._leading:
            self._lines.append(PrintedLine(self._leading, "comment"))
        return self._lines

    def _add(self, line: PrintedLine) -> None:
        line.original = self._leading + line.original
        self._leading = ""
        self._lines.append(line)

    def _read(self, index: int) -> int:
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
        if self._numbers and previous is not None and previous.role == "expression" and not previous.text:
            previous.original += raw
            previous.text = text
            return index + 1
        if self._numbers and previous is not None and previous.role == "expression" and _DIGITS.fullmatch(text):
            previous.original += raw
            previous.printed_count = int(re.sub(r"[^0-9]", "", text))
            return index + 1
        role = self._find_role(text, index)
        if role != "expression":
            self._add(PrintedLine(raw, role, text))
            return index + 1
        if self._numbers and previous is not None and self._continues(previous, text):
            previous.original += raw
            previous.text = f"{previous.text} {text}".strip()
            return index + 1
        end = self._find_end(index, text)
        joined = "".join(self._physical[index:end])
        note = Note("the line has no number; it was numbered by its place.", "missing-number")
        whole = text if end == index + 1 else repair(joined)
        self._add(PrintedLine(joined, "expression", whole, notes=[note] if self._numbers else []))
        return end

    def _read_numbered(self, index: int) -> int:
        raw, number = self._physical[index], self._numbers[index]
        match = _match_number(raw)
        assert match is not None
        text = repair(match[1])
        before = next((line.number for line in reversed(self._lines) if line.number is not None), 0)
        notes = []
        if before and number > before + 1:
            notes.append(Note(f"the numbers between {before} and {number} are missing.", "number-gap"))
        following = next(
            (number for number in range(index + 1, len(self._physical)) if self._physical[number].strip()), None
        )
        if text and following is not None and following not in self._numbers and self._is_title(text, following):
            self._add(PrintedLine(raw, "header", text))
            self._add(PrintedLine("", "expression", "", number, notes=notes))
            return index + 1
        role: Role = "comment" if text and _is_comment(text) else "expression"
        self._add(PrintedLine(raw, role, text, number, notes=notes))
        return index + 1

    def _is_title(self, text: str, following: int) -> bool:
        """Return whether the text after a number is the title of the expression on the next line."""
        below = repair(self._physical[following])
        has_operator = re.search(r"\b(?:OR|AND|NOT|or|and/|adj[0-9]*)\b", text)
        return (
            not find_signs(text)
            and not has_operator
            and not re.search(r"[*$\"()]", text)
            and len(find_signs(below)) > 0
            and re.search(r"\b(?:or|and|not)\b", below, re.IGNORECASE) is not None
            and not _BEGINS_INSIDE.match(below)
        )

    def _find_role(self, text: str, index: int) -> Role:
        if _is_comment(text):
            return "comment"
        signs = find_signs(text)
        if signs or is_reference_line(text):
            return "expression"
        if _YEARS.search(text) or (
            _HEADER.match(text) and (self._numbers or not self._has_expression() or ":" in text)
        ):
            return "header"
        is_inside = bool(self._lines) and _count_open(self._lines[-1].text) > 0
        if text.endswith(":") and not is_inside:
            return "header"
        if self._numbers:
            previous = self._lines[-1] if self._lines else None
            if previous is None or not self._has_expression():
                return "header"
            if previous.role == "expression" and self._continues(previous, text):
                return "expression"
            return "expression" if previous.role == "expression" and not _looks_complete(previous.text) else "header"
        return "expression"

    def _has_expression(self) -> bool:
        return any(line.role == "expression" for line in self._lines)

    def _continues(self, previous: PrintedLine, text: str) -> bool:
        """Return whether a line without a number continues the line before it."""
        if previous.role != "expression" or previous.original.count("\n") >= MAX_CONTINUED:
            return False
        if is_reference_line(text) and _count_open(previous.text) <= 0:
            return bool(_ENDS_OPEN.search(previous.text))
        if _count_open(previous.text) > 0 or _ENDS_OPEN.search(previous.text) or _BEGINS_INSIDE.match(text):
            return True
        return not _looks_complete(previous.text) and previous.number is not None

    def _find_end(self, index: int, text: str) -> int:
        """Return the index after the last physical line of an expression without a number."""
        if _count_open(text) <= 0 and not _ENDS_OPEN.search(text):
            following, joined = index + 1, text
            while following < min(index + MAX_CONTINUED, len(self._physical)) and following not in self._numbers:
                below = repair(self._physical[following])
                if not below or is_reference_line(below):
                    break
                if not _BEGINS_INSIDE.match(below) and not _ENDS_OPEN.search(joined) and _count_open(joined) <= 0:
                    break
                joined = f"{joined} {below}"
                following += 1
            return following
        opened = _count_open(text)
        for following in range(index + 1, min(index + MAX_JOINED, len(self._physical))):
            if following in self._numbers:
                break
            below = repair(self._physical[following])
            if opened <= 0 and is_reference_line(below):
                break
            opened += _count_open(below)
            if opened == 0 and not _ENDS_OPEN.search(below):
                return following + 1
        return index + 1


def _is_comment(text: str) -> bool:
    if _LIMIT.match(text) and "/" in text:
        return False
    if re.match(r"\[\s*mh\b", text, re.IGNORECASE):
        return False
    return _COMMENT.match(text) is not None


def _looks_complete(text: str) -> bool:
    """Return whether an expression can end here: it has a sign of a service, or consists of numbers."""
    if re.search(r"\bexp ", text.rpartition("/")[2], re.IGNORECASE):
        return False
    return bool(find_signs(text)) or is_reference_line(text) or _strip_count(text)[1] is not None


def _count_open(text: str) -> int:
    """Return the number of open parentheses, without those in quotes."""
    outside = re.sub(r'"[^"]*"', "", text)
    return outside.count("(") - outside.count(")")


_REMARKS: Final = (
    re.compile(r" [0-9]{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,7} [0-9]{4}$", re.IGNORECASE),
    re.compile(r" (?:advanced|basic)(?: (?:display results|more|delete|save|annotate)\b.*)?$", re.IGNORECASE),
)
"""What services print after the count: the date of the search, or its type."""


def _strip_remarks(text: str) -> str:
    """Return a line without the date or the type of the search after its count."""
    for remark in _REMARKS:
        shorter = remark.sub("", text)
        if shorter != text and _COUNT.search(shorter):
            return shorter
    return text


def _strip_count(text: str) -> tuple[str, int | None]:
    """Return an expression without the count that is printed after it, and the count."""
    for pattern in (_COUNT, _COMMA_COUNT):  # in "1 or 2 350,000" the blank separates no thousands
        match = pattern.search(text)
        if match is None:
            continue
        before = text[: match.start()].rstrip()
        if not before or _ENDS_OPEN.search(before) or not _COMPLETE.search(before):
            continue
        if re.search(r"\b(?:or|and|not)/[0-9, -]*+$", before, re.IGNORECASE) and "," in before[-3:]:
            continue
        return before, int(re.sub(r"[^0-9]", "", match[1]))
    return text, None


def _set_numbers(lines: list[PrintedLine], is_numbered: bool) -> list[PrintedLine]:
    """Set the missing numbers and take the printed counts off the expressions."""
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
        if line.role == "expression":
            line.text, count = _strip_count(_strip_remarks(line.text))
            line.printed_count = line.printed_count if count is None else count
            line.text = re.sub(r"^\[(?!\s*mh\b)[^\]]*\]\s+(?=\S)", "", line.text) if is_numbered else line.text
    return lines
