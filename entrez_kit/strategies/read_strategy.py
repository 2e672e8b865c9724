"""Read the lines of a strategy as printed: numbers, counts, wrapped lines, comments and headers."""

import csv
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from entrez_kit.query.dialects.detect import find_signs
from entrez_kit.query.dialects.limits import LIMITERS
from entrez_kit.query.dialects.notes import Note
from entrez_kit.query.dialects.reference_lines import is_reference_line

Role = Literal["expression", "comment", "header"]
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
_DIGITS: Final = re.compile(r"[0-9]{1,3}(?:[,. ][0-9]{3})+|[0-9]+")
_COMPLETE: Final = re.compile(
    r"(?:[)\]/\"'*$]|[.,]\s?[a-z]{2}\.?|:[a-z,]+|/[a-z]{2,3}|[#Ss]?[0-9]|\}|\ball trees|\bterm only|\bin \w+)\s*$"
)
_ENDS_OPEN: Final = re.compile(
    r"(?:\b(?:or|and|not|adj[0-9]*+|near(?:/[0-9]++)?|next)|,|[([{]|(?:^|\b(?:or|and|not) |[(,] ?)exp"
    r"|\b(?:or|and) ?/|[0-9] ?-|^[0-9]+ ?/|^limit .{1,40} to|\bexplode(?: all)?|\bthis term|\band with"
    r"|(?:^|\b(?:or|and|not) |\( ?)(?-i:TI|AB|TX|SU|MH|MM|PT)) ?$",
    re.IGNORECASE,
)
_BEGINS_INSIDE: Final = re.compile(
    r"(?:(?:or|and|not|adj[0-9]*|near/[0-9]+)(?:\s|$)|[)\]},]|\.\s?[a-z]{2}\b|(?:timespan|indexes|refined by) ?[:=])",
    re.IGNORECASE,
)
_FILTERS: Final = re.compile(r"filters?(?: applied| activated)? ?:", re.IGNORECASE)
"""The filters that PubMed's website prints below a query."""
_HYPHENATED: Final = re.compile(
    r"(?:^|[\s(\"'])(?:after|all|anti|co|cross|double|evidence|follow|half|high|home|hospital|in|inter|intra|long|low|meta"
    r"|mid|mini|multi|near|non|off|on|over|peri|placebo|population|post|pre|pro|quasi|re|school|self|semi|short|single"
    r"|sub|t|triple|two|under|up|well|work|x)-$",
    re.IGNORECASE,
)
"""The first parts of words that are written with a hyphen also inside a row."""
_SEARCH: Final = re.compile(r"^search ?:? (?=\S)", re.IGNORECASE)
"""What PubMed printed before each query of a history."""
_LABEL: Final = re.compile(r"^search(?: ?: ?| (?=[(#\"]))", re.IGNORECASE)
"""The same before one query: the word search can begin a query too."""
_SORT: Final = re.compile(r" sort(?:ed)? by ?: ?[a-z ]{1,40}$", re.IGNORECASE)
_FIELD_NAMES: Final = {
    "TOPIC": "TS",
    "TITLE": "TI",
    "AUTHOR": "AU",
    "PUBLICATION NAME": "SO",
    "YEAR PUBLISHED": "PY",
    "PUBLICATION YEARS": "PY",
    "RESEARCH AREAS": "SU",
    "WEB OF SCIENCE CATEGORIES": "WC",
    "COUNTRIES/REGIONS": "CU",
    "LANGUAGE": "LA",
    "LANGUAGES": "LA",
    "DOCUMENT TYPE": "DT",
    "DOCUMENT TYPES": "DT",
    "ADDRESS": "AD",
}
"""The names of fields that Web of Science prints in place of their codes."""
_FIELD_NAME: Final = re.compile(rf"\b({'|'.join(_FIELD_NAMES)}) ?: ?(?=\()")
_RESULTS: Final = re.compile(r"\b(?:results|hits)\b", re.IGNORECASE)

_CHARACTERS: Final = {
    **dict.fromkeys("“”„‟″«»＂", '"'),
    **dict.fromkeys("‘’‚‛´′`", "'"),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
    **{"…": "...", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "＊": "*"},
}
_TABLE: Final = str.maketrans(_CHARACTERS)
_BULLET: Final = re.compile(r"^\s*[-•▪◦·]\s+(?=\S)")
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
    rows: list[str] = field(default_factory=list)
    """The text of each printed row; one of them may have the count."""

    def append(self, original: str, row: str) -> None:
        """Add a row that continues the line, with a note if a word was divided between two rows."""
        is_soft = self.original.rstrip().endswith("\u00ad")
        self.original += original
        self.rows.append(row)
        self.text, note = _join_rows(self.text, row, is_soft=is_soft)
        if note is not None:
            self.notes.append(note)


@lru_cache(maxsize=1024)
def repair(text: str) -> str:
    """Return a text with the characters that a word processor or a web page changed written plainly."""
    plain = _BULLET.sub("", replace_characters(text))
    plain = re.sub(r"\bexp\.\s+(?=[A-Z])", "exp ", plain)
    plain = re.sub(r"\bexp(?=\*)", "exp ", plain)
    plain = _FIELD_NAME.sub(lambda match: f"{_FIELD_NAMES[match[1]]}=", plain)
    return " ".join(unicodedata.normalize("NFC", plain).split())


def replace_characters(text: str) -> str:
    """Return a text with plain quotation marks, hyphens and spaces, and without entities of HTML."""
    plain = text.translate(_TABLE)
    for entity, sign in _ENTITIES.items():
        plain = plain.replace(entity, sign)
    return plain


def _join_rows(above: str, below: str, *, is_soft: bool = False) -> tuple[str, Note | None]:
    """Return two rows of one line as one text, and a note if a word was divided between them."""
    if not above or not below:
        return above + below, None
    if is_soft or re.search(r"[0-9] ?-$", above):
        return above.rstrip() + below, None
    if not (above.endswith("-") and above[-2:-1].isalpha() and below[0].islower()):
        return f"{above} {below}", None
    joined = above + below if _HYPHENATED.search(above) else above[:-1] + below
    word = re.split(r"[\s()\"]", joined[len(above.rpartition(" ")[0]) :].strip('( "'))[0]
    return joined, Note(f"a word was divided at the end of a row; it was read as {word!r}.")


def read_lines(text: str) -> list[PrintedLine]:
    """Return the lines of a strategy; their ``original`` joined is the text."""
    physical = text.splitlines(keepends=True)
    if physical and physical[0].lstrip("\ufeff").startswith("Search number,Query"):
        return _read_history(physical)
    numbers = _find_numbers(physical)
    lines = _LineReader(physical, numbers).read()
    _set_numbers(lines)
    _take_counts(lines)
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
        if previous is not None and previous.role == "expression" and self._is_limit(text):
            previous.append(raw, text)
            return index + 1
        if self._numbers and previous is not None and previous.role == "expression":
            if not previous.text or (_has_room(previous) and _is_open(previous.text)):
                previous.append(raw, text)
                return index + 1
            if _DIGITS.fullmatch(text):
                previous.original += raw
                previous.printed_count = _parse_count(text)
                return index + 1
        role = self._find_role(text, index)
        if role != "expression":
            if role == "header" and previous is not None and self._may_continue(previous, text, index):
                previous.notes.append(
                    Note(f"the row {text!r} below it was read as a title, not as a part of the line.")
                )
            self._add_line(PrintedLine(raw, role, text))
            return index + 1
        if self._numbers and previous is not None and self._continues(previous, text, index):
            previous.append(raw, text)
            return index + 1
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
            notes.append(Note(f"the numbers between {before} and {number} are missing.", "number-gap"))
        if index in self._titles:
            self._add_line(PrintedLine(raw, "header", text))
            self._add_line(PrintedLine("", "expression", "", number, notes=notes))
            return index + 1
        role: Role = "comment" if text and _is_comment(text) else "expression"
        text, count = _take_leading_count(match[1], text)
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
            and not _is_open(text)
            and not re.match(r"exp\b", text, re.IGNORECASE)
            and not has_operator
            and not re.search(r"[*$\"()]", text)
            and len(find_signs(below)) > 0
            and re.search(r"\b(?:or|and|not)\b", below, re.IGNORECASE) is not None
            and not _BEGINS_INSIDE.match(below)
        )

    def _find_role(self, text: str, index: int) -> Role:
        if _is_comment(text):
            return "comment"
        previous = self._lines[-1] if self._lines else None
        if self._numbers and previous is not None and previous.role == "expression" and _BEGINS_INSIDE.match(text):
            return "expression"
        signs = find_signs(text)
        if signs or is_reference_line(text):
            return "expression"
        if _YEARS.search(text) or (
            _HEADER.match(text) and (self._numbers or not self._has_expression() or ":" in text)
        ):
            return "header"
        is_inside = previous is not None and _count_open(previous.text) > 0
        if text.endswith(":") and not is_inside:
            return "header"
        if self._numbers and (previous is None or not self._continues(previous, text, index)):
            return "header"
        return "expression"

    def _is_limit(self, text: str) -> bool:
        """Return whether a row has limits that a service prints below a query."""
        if _FILTERS.match(text):
            return any("pubmed" in find_signs(line.text) for line in self._lines)
        return text.lower().startswith("refined by")

    def _has_expression(self) -> bool:
        return any(line.role == "expression" for line in self._lines)

    def _continues(self, previous: PrintedLine, text: str, index: int) -> bool:
        """Return whether a row without a number continues the line before it."""
        if previous.role != "expression" or not _has_room(previous):
            return False
        if _is_open(previous.text) or _BEGINS_INSIDE.match(text):
            return True
        if _OWN_NUMBER.match(text):
            return False
        if find_signs(text) or is_reference_line(text):
            return self._is_followed_by_next(previous, index)
        return previous.number is not None and not _looks_complete(previous.text)

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


def _has_room(line: PrintedLine) -> bool:
    """Return whether a line can have more rows."""
    return line.original.count("\n") < MAX_CONTINUED


def _is_open(text: str) -> bool:
    """Return whether an expression cannot end here."""
    has_open_quotes = text.count('"') % 2 == 1 or text.rfind("[") > text.rfind("]")
    return _count_open(text) > 0 or has_open_quotes or _ENDS_OPEN.search(text) is not None


def _looks_complete(text: str) -> bool:
    """Return whether an expression can end here: it has a sign of a service, or consists of numbers.

    In a line of Ovid with fields the last term has one too.
    """
    text, count = _strip_count(text)
    if re.search(r"\bexp ", text.rpartition("/")[2], re.IGNORECASE):
        return False
    signs = find_signs(text)
    if "ovid" in signs and not is_reference_line(text):
        last = re.split(r"\b(?:or|and|not|adj[0-9]*)\b", text, flags=re.IGNORECASE)[-1].strip()
        return bool(find_signs(last)) or last.endswith((")", "]", '"', "$", "*")) or last[-1:].isdigit()
    return bool(signs) or count is not None or is_reference_line(text)


def _count_open(text: str) -> int:
    """Return the number of open parentheses, without those in quotes."""
    outside = re.sub(r'"[^"]*"', "", text)
    return outside.count("(") - outside.count(")")


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


def _parse_count(text: str) -> int:
    return int(re.sub(r"[^0-9]", "", text))


def _take_leading_count(raw: str, text: str) -> tuple[str, int | None]:
    """Return an expression without the count before it, in its own cell or before a field, and the count."""
    if match := _LEADING_COUNT.match(text):
        return text[match.end() :], _parse_count(match[1])
    first, separator, rest = raw.partition("\t")
    if separator and rest.strip() and _DIGITS.fullmatch(first.strip()):
        return repair(rest.replace("\t", " ")), _parse_count(first)
    return text, None


def _strip_remarks(text: str) -> str:
    """Return a line without the date, the time or the type of the search after its count."""
    for remark in _REMARKS:
        shorter = remark.sub("", text)
        if shorter != text and _COUNT.search(shorter):
            return shorter
    return text


def _strip_count(text: str) -> tuple[str, int | None]:
    """Return an expression without the count that is printed after it, and the count."""
    # The longest count is not always right: in "1 or 2 450 001" the 2 is the number of a line.
    for match in filter(None, (pattern.search(text) for pattern in _COUNTS)):
        before = text[: match.start()].rstrip()
        if not before or _ENDS_OPEN.search(before):
            continue
        if not _COMPLETE.search(before) and not LIMITERS.search(before):
            break
        if re.search(r"\b(?:or|and|not)/[0-9, -]*+$", before, re.IGNORECASE) and "," in before[-3:]:
            continue
        return before, _parse_count(match[1])
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
    if not before or _ENDS_OPEN.search(before) or _NO_COUNT_AFTER.search(before):
        return text, None
    return before, _parse_count(match[0])


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


def _take_counts(lines: Sequence[PrintedLine]) -> None:
    """Take the printed counts off the expressions.

    A number after a field, a quotation mark or a parenthesis is a count. After a word it is one if most lines of the
    list have a count. The count of a line of several rows is at the end of its first or of its last row.
    """
    expressions = [line for line in lines if line.role == "expression" and line.text]
    counted: list[PrintedLine] = []
    for line in expressions:
        line.text = _strip_remarks(line.text)
        text, count = _strip_count(line.text)
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
    if count is None or count < 10 or _count_open(first) > 0:
        return
    line.printed_count = count
    line.text = first
    for row in line.rows[1:]:
        line.text = _join_rows(line.text, row)[0]


def _remove_labels(lines: Sequence[PrintedLine], *, is_numbered: bool) -> None:
    """Remove what services print beside a query: PubMed's "Search" and its order, and the remark before a number."""
    expressions = [line for line in lines if line.role == "expression"]
    labelled = sum(_SEARCH.match(line.text) is not None for line in expressions)
    label = _SEARCH if labelled > 1 and labelled * 2 > len(expressions) else _LABEL
    for line in expressions:
        line.text = label.sub("", _SORT.sub("", line.text), count=1)
        if is_numbered:
            line.text = re.sub(r"^\[(?!\s*mh\b)[^\]]*\]\s+(?=\S)", "", line.text)
