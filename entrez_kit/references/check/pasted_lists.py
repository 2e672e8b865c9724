"""Split a pasted list into its references, and read the number and the identifiers of each.

The layout of a list is unknown, so several signs decide for each line: the mark before it, an empty line above,
its indent, the length of the line above, and the words of both lines.
"""

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from entrez_kit.base.identifiers import read_identifier
from entrez_kit.base.invisible import visible
from entrez_kit.core.model import Warn
from entrez_kit.pubmed.comparison import fold_text
from entrez_kit.pubmed.models import WORDS
from entrez_kit.references.check.guessing import VISITED, YEAR
from entrez_kit.references.check.line_signs import (
    BARE,
    BEGINS,
    ENDS,
    ENDS_WITH_PLACE,
    GOES_ON,
    LATIN_SMALL,
    LETTER_FIRST,
    MARK,
    NAMED,
    NUMBER_FIRST,
    PLACE_PART,
    REPEATED_AUTHORS,
    WEB_PAGE,
    YEAR_AFTER_NAMES,
    ends_reference,
    is_dated,
    is_part_of_address,
    kind_of,
)
from entrez_kit.references.check.page_lines import TextLine, read_lines, remove_line_numbers, remove_page_lines
from entrez_kit.references.check.rewrite_lists import remove_notes, rewrite_lists, rewrite_marks
from entrez_kit.references.files.references import Reference

MAX_TEXT: Final = 5_000
"""Characters of one reference; every style shortens a group of thousands of authors."""
LONGEST_REFERENCE: Final = 600
MOST_YEARS: Final = 5
"""Characters and years that a single reference rarely has."""
FEWEST_BLOCKS: Final = 3
ONE_DATE: Final = 0.8
"""Number of blocks of several lines, and the share of these with one date, if each block is a reference."""
NARROWEST: Final = 30
WIDEST: Final = 160
"""Characters of a line. Wrapped lines are neither shorter nor longer than these."""
NEARLY_FULL: Final = 0.88
"""Share of the width: the next word did not fit on a line that is longer than this."""
ONE_PER_LINE: Final = 0.7
"""Share of lines with a year or an identifier, or with an author, from which on each line is a reference."""
EACH_LINE: Final = 0.9
"""Share of lines with an author at their beginning and a year, from which on each line is a reference."""
WRAPPED: Final = 0.25
"""Share of full lines, from which on the lines of a list are wrapped."""
LOOSE: Final = 0.25
"""References without an empty line above, for each with one, from which on empty lines separate only some of them."""
DOUBLE_SPACED: Final = 0.9
"""Share of lines with an empty line above, from which on empty lines separate lines and not references."""
MOST_MARKED: Final = 0.6
"""Share of marks that stand where a reference may begin, from which on the list has such marks."""
FIRST_LINES: Final = 0.15
"""Share of lines that begin a reference, from which on the lines between two headings are references."""
MOST_PAGES: Final = 0.3
"""Share of lines with an address of a web page, from which on these end references and are not references."""
MAX_NAMED: Final = 200
"""Maximum number of lines in a warning."""
BARE_KIND: Final = "1"
"""The kind of a mark that is only a number."""
UNCERTAIN: Final = (
    "The numbers, indents and empty lines of the list do not show where each reference begins. "
    "Some references may be divided or joined. Put an empty line between references."
)
GREEDY: Final = 0.95
"""Minimum share of possible first lines of references among the lines whose first word fits in the line above."""
AHEAD: Final = 12
"""Lines that are searched for the end of a reference."""

HEADING: Final = re.compile(
    r"[\s#*_=]*+(?:(?:[0-9]{1,2}(?:\.[0-9]{1,2})?|[IVX]{1,5})[.)]?\s++)?(?:"
    r"(?:list of |cited |selected |key |further )?references?(?: (?:list|cited|and notes|and links))?"
    r"|notes and references|reference list|(?:selected )?bibliography|works cited|(?:cited )?literature(?: cited)?"
    r"|cited works|literatur(?:verzeichnis|hinweise|angaben|liste)?|quellen(?:verzeichnis|angaben)?|referenzen"
    r"|références(?: bibliographiques)?|bibliographie|referencias(?: bibliográficas)?|bibliografía|bibliografia"
    r"|riferimenti bibliografici|referências(?: bibliográficas)?|literatuur(?:lijst)?|referenties|referenser"
    r"|referanser|litteratur(?:liste|förteckning)?|piśmiennictwo|literatura|kaynaklar|kaynakça"
    r"|(?:список )?литератур[аы]|список использованных источников|参考文献|參考文獻|引用文献|참고문헌"
    r")\s*+[:.]?[\s#*_=]*+",
    re.IGNORECASE,
)
"""A line above a list of references."""
HEADINGS: Final = (
    *("References", "Bibliography", "Works cited", "Literature", "Literaturverzeichnis", "Quellen", "Références"),
    *("Bibliographie", "Referencias", "Bibliografía", "Riferimenti bibliografici", "Referências"),
)
"""The headings that a message names."""
END_OF_LIST: Final = re.compile(
    r"\s*+(?:#{1,6}\s++\S|(?:[#*_]*+(?:appendi(?:x|ces)|supplement(?:ary|al)?(?: \w++){0,2}"
    r"|figure (?:legends?|captions?)"
    r"|tables?|figures?|acknowledge?ments?|author contributions?|funding|conflicts? of interest"
    r"|competing interests?|data availability|abbreviations|author biograph\w++)\s*+:?[#*_]*+\s*+$))",
    re.IGNORECASE,
)
"""A line after a list of references that is not a part of it."""

_STANDING: Final = re.compile(rf"\[(?:{'|'.join(WORDS.values())})\b[^\[\]]*+\]", re.IGNORECASE)
"""The note of a citation about the standing of the work; the identifiers in it are those of the notice."""
_LABELLED: Final = re.compile(r"\b(?:PMID|PMCID)\s*+[:=]?\s*+(?:PMC)?[0-9]++(?>(?:\.[0-9]++)?)", re.IGNORECASE)
_WORD_WITH_ID: Final = re.compile(
    r"https?://\S++|(?<!\S)\S*?\b10\.[0-9]{4,9}/\S++|\bPMC[0-9]++(?>(?:\.[0-9]++)?)", re.IGNORECASE
)
_DIVIDED: Final = re.compile(r"(?<![^\W\d_])([^\W\d_]+)[-\u2010] ?([^\W\d_]+)")
_CLOSING: Final = {")": "(", "]": "[", ">": "<"}


@dataclass(slots=True)
class _Line:
    """A line with text, and what it shows of the layout."""

    number: int
    text: str
    indent: int
    after_blank: bool
    after_page: bool = False
    after_note: bool = False
    kind: str = ""
    count: int | None = None
    body: str = ""
    full: bool = False
    """Whether the first word of this line did not fit on the line above."""
    begins: bool = field(init=False)
    dated: bool = field(init=False)

    def __post_init__(self) -> None:
        mark = MARK.match(self.text)
        self.kind, self.count = kind_of(mark)
        self.read(mark.end() if mark else 0)

    def read(self, start: int) -> None:
        """Read the text after the mark."""
        self.body = self.text[start:]
        self.begins = BEGINS.match(self.body) is not None
        self.dated = is_dated(self.body)


@dataclass(frozen=True, slots=True)
class PastedList:
    """The references of a text.

    Attributes:
        references: in order.
        lines: line numbers of the list, from 1.
        has_heading: whether the list has a heading; without a heading, the whole text is the list.
        warnings: about lines that are not references, and about an uncertain split.
    """

    references: list[Reference]
    lines: range
    has_heading: bool = False
    warnings: Sequence[Warn] = ()


def read_list(text: str) -> PastedList:
    """Return the references of a pasted list in order. In a text with a heading of a list, read only the list."""
    all_lines, line_numbers = remove_line_numbers(rewrite_lists(read_lines(text)))
    start, end = _find_list([line.text for line in all_lines])
    listed, left_out = remove_page_lines(rewrite_marks(all_lines[start:end]))
    kept, notes = remove_notes(listed)
    lines = [
        _Line(
            one.number,
            one.text.lstrip(),
            len(one.text) - len(one.text.lstrip()),
            one.after_blank and not one.after_note,
            one.after_page,
            one.after_note,
        )
        for one in kept
    ]
    pieces: list[list[_Line]] = []
    layout = _Layout(lines)
    for line, first in zip(lines, layout.first_lines(), strict=True):
        if first or not pieces:
            pieces.append([])
        pieces[-1].append(line)
    references = [_build_reference(piece) for piece in pieces]
    before = all_lines[start - 1].number if start else 0
    last = all_lines[end - 1].number if end else 0
    warnings = _warn_about_removed_lines(left_out, notes, line_numbers)
    if (layout.is_uncertain and len(references) > 1) or any(_may_be_several(one.text or "") for one in references):
        warnings.append(Warn(code="uncertain_split", message=UNCERTAIN))
    return PastedList(references, range(before + 1, last + 1), start > 0, warnings)


def _may_be_several(text: str) -> bool:
    """Return whether the length and the number of years of a row show that it can be several references."""
    return len(text) > LONGEST_REFERENCE and len(YEAR.findall(text)) > MOST_YEARS


def _build_reference(lines: Sequence[_Line]) -> Reference:
    first = lines[0]
    bare = first.kind == BARE_KIND
    text = _join_lines([first.body if bare else first.text, *(line.text for line in lines[1:])])
    return as_reference(text, first.number, number=str(first.count) if bare else None)


def split_references(text: str) -> list[Reference]:
    """Return the references of a pasted list, without its warnings."""
    return read_list(text).references


def _find_list(lines: Sequence[str]) -> tuple[int, int]:
    """Return where the list of references begins and ends.

    The list begins under the last heading of such a list and ends where another part begins; without a heading the
    whole text is the list. A page header can repeat the heading.
    """
    heads = [n for n, line in enumerate(lines) if len(line) < 80 and HEADING.fullmatch(line)]
    if not heads:
        return 0, len(lines)
    last = len(heads) - 1
    while last and _is_one_list(lines, heads[last - 1], heads[last]):
        last -= 1
    start = heads[last] + 1
    # "Supplement 1" may be the last line of a reference.
    level = _heading_level(lines[start - 1])
    ends = (n for n in range(start, len(lines)) if _ends_list(lines[n], level) and _may_end(lines, n))
    return start, next(ends, len(lines))


def _heading_level(line: str) -> int:
    return len(line.lstrip()) - len(line.lstrip().lstrip("#"))


def _ends_list(line: str, level: int) -> bool:
    """Return whether a line ends a list; a Markdown heading below the level of the list's own heading does not."""
    if not END_OF_LIST.match(line):
        return False
    own = _heading_level(line)
    is_reference = bool(own) and not level and YEAR.search(line) is not None
    return not (0 < level < own or is_reference)


def _is_one_list(lines: Sequence[str], head: int, next_head: int) -> bool:
    """Return whether the text between two equal headings has only references."""
    if lines[head].strip().casefold() != lines[next_head].strip().casefold():
        return False
    inside = [line.strip() for line in lines[head + 1 : next_head] if line.strip()]
    first = sum(_Line(0, line, 0, after_blank=False).begins for line in inside)
    return first >= FIRST_LINES * max(len(inside), 1) and not any(END_OF_LIST.match(line) for line in inside)


def _may_end(lines: Sequence[str], n: int) -> bool:
    return not lines[n - 1].strip() or ENDS.search(lines[n - 1]) is not None


def _warn_about_removed_lines(
    page_lines: Sequence[TextLine], notes: Sequence[TextLine], line_numbers: int
) -> list[Warn]:
    """Return warnings that list the removed lines."""
    warnings: list[Warn] = []
    for code, lines, reason in (
        ("page_lines_left_out", page_lines, "page headers, page footers or page numbers"),
        ("headings_left_out", notes, "headings, or sentences before or after the list"),
    ):
        if lines:
            what = "line was" if len(lines) == 1 else "lines were"
            message = f"{len(lines)} {what} left out: {reason}."
            terms = [f"{line.number}: {' '.join(line.text.split())}" for line in lines[:MAX_NAMED]]
            warnings.append(Warn(code=code, message=message, terms=terms))
    if line_numbers:
        message = f"{line_numbers} line numbers were left out."
        warnings.append(Warn(code="line_numbers_left_out", message=message))
    return warnings


class _Layout:
    """How a list is laid out, as far as its lines show."""

    def __init__(self, lines: Sequence[_Line]) -> None:
        self.lines = lines
        width = max((line.indent + len(line.text) for line in lines if " " in line.text), default=0)
        limit = NEARLY_FULL * width if NARROWEST <= width <= WIDEST else math.inf
        for above, line in pairwise(lines):
            word = line.text.split(maxsplit=1)[0]
            line.full = above.indent + len(above.text) + 1 + len(word) > limit
        breaks = max(len(lines) - 1, 1)
        full = sum(line.full for line in lines)
        blank = sum(line.after_blank for line in lines[1:])
        dated = max(sum(line.dated for line in lines), sum(line.begins for line in lines)) >= ONE_PER_LINE * len(lines)
        texts = [line for line in lines if not GOES_ON.match(line.text)]
        each = sum(line.dated and _may_be_reference(line) for line in texts) >= EACH_LINE * len(texts)
        self.wrapped = full > WRAPPED * breaks and not each
        if each:
            for line in lines:
                line.full = False
        self.one_per_line = dated and not self.wrapped
        least = min((line.indent for line in lines), default=0)
        odd = sum(
            line.after_blank and not line.kind and (not _may_be_first(line) or line.indent > least)
            for line in lines[1:]
        )
        if breaks > 2 and blank >= DOUBLE_SPACED * breaks and self.wrapped and odd > 0.1 * breaks:
            for line in lines:
                line.after_blank = False
            blank = 0
        self.in_blocks = blank > 0
        self.is_block_each = self._is_block_each()
        self.kind = self._kind()
        last = 0
        for line in lines:
            if line.kind != self.kind or (line.count and _is_year(line.count) and line.count != last + 1):
                line.kind, line.count = "", None
                line.read(0)
            last = line.count or last
        self.least = least
        self.hanging, self.first_indented = self._indents()
        self.next_count: list[int | None] = [None] * (len(lines) + 1)
        for n in range(len(lines) - 1, -1, -1):
            self.next_count[n] = lines[n].count if lines[n].kind else self.next_count[n + 1]
        self.mark_indent = max((line.indent for line in lines if line.kind and not line.full), default=0)
        pages = sum(WEB_PAGE.match(line.text) is not None for line in lines[1:])
        self.has_pages_below = pages > MOST_PAGES * sum(map(_may_be_first, lines))
        """Whether many references have an address on a separate line."""
        self.loose = self._loose()
        signs = self.kind or self.in_blocks or self.hanging or self.first_indented
        self.is_uncertain = self.wrapped and not signs
        """Whether the lines are wrapped, and only their words and lengths show where references begin."""
        self.is_greedy = self.is_uncertain and self._is_greedy(width)
        self.start, self.last, self.complete = 0, 0, False

    def _is_block_each(self) -> bool:
        """Return whether empty lines separate all references: most blocks of several lines have one date."""
        blocks: list[list[_Line]] = []
        for line in self.lines:
            if line.after_blank or not blocks:
                blocks.append([])
            blocks[-1].append(line)
        several = [sum(line.dated for line in block) for block in blocks if len(block) > 1]
        return len(several) >= FEWEST_BLOCKS and sum(dated < 2 for dated in several) >= ONE_DATE * len(several)

    def _is_greedy(self, width: int) -> bool:
        """Return whether each line has as many words as fit. Then a shorter line ends a reference."""
        room = [
            line
            for above, line in pairwise(self.lines)
            if not above.text.endswith(("-", "/"))
            and above.indent + len(above.text) + 1 + len(line.text.split(maxsplit=1)[0]) <= width
        ]
        if sum(map(_may_be_first, room)) < GREEDY * max(len(room), 1):
            return False
        for line in self.lines:
            line.full = True
        for line in room:
            line.full = False
        return True

    def _kind(self) -> str:
        """Return the kind of marks that the list has, or an empty string."""
        places: dict[str, list[int]] = {}
        for n, line in enumerate(self.lines):
            if line.kind and not (line.count and _is_year(line.count)):
                places.setdefault(line.kind, []).append(n)
        good = {kind: found for kind, found in places.items() if self._is_kind(kind, found)}
        best = max(good, key=lambda kind: len(good[kind]), default="")
        return best or self._bare()

    def _is_kind(self, kind: str, places: Sequence[int]) -> bool:
        """Return whether references begin at the marks, and the marks are not numbers that begin a wrapped line."""
        if places[0] == 0 and (kind not in ("-", "•", "key") or len(places) > 1):
            return True
        heads = sum(self._may_begin(n, self.lines[n].body) for n in places)
        return len(places) > 1 and heads >= MOST_MARKED * len(places)

    def _may_begin(self, n: int, body: str) -> bool:
        after_end = n == 0 or self.lines[n].after_blank or ends_reference(self.lines[n - 1].text)
        return after_end and LETTER_FIRST.match(body) is not None and not LATIN_SMALL.match(body)

    def _bare(self) -> str:
        """Read numbers without punctuation as marks if they count the references."""
        found: list[tuple[int, re.Match[str]]] = []
        for n, line in enumerate(self.lines):
            match = BARE.match(line.text)
            if match is None or (n > 0 and not found):
                continue
            count, last = int(match["n"]), int(found[-1][1]["n"]) if found else 0
            has_room = not line.full or line.indent < self.lines[n - 1].indent
            is_next = not found or (count == last + 1 and has_room)
            if is_next or (last < count <= last + 3 and self._may_begin(n, line.text[match.end() :])):
                found.append((n, match))
        if len(found) < 2:
            return ""
        for n, match in found:
            self.lines[n].kind, self.lines[n].count = BARE_KIND, int(match["n"])
            self.lines[n].read(match.end())
        return BARE_KIND

    def _indents(self) -> tuple[bool, bool]:
        """Return whether the continuation lines are indented; otherwise the first lines are."""
        unmarked = [line for line in self.lines[1:] if not line.kind]
        flush = [line for line in unmarked if line.indent == self.least]
        deeper = [line for line in unmarked if line.indent > self.least]
        if not deeper:
            return False, False
        goes_on = sum(LATIN_SMALL.match(line.text) is not None for line in flush)
        if goes_on <= 0.2 * len(flush) and _share(flush) >= _share(deeper):
            return True, False
        goes_on_deeper = sum(LATIN_SMALL.match(line.text) is not None for line in deeper)
        return False, not self.kind and goes_on_deeper <= 0.2 * len(deeper) and _share(deeper) > _share(flush)

    def first_lines(self) -> list[bool]:
        """Tell of each line whether a reference begins with it."""
        first: list[bool] = []
        for n, line in enumerate(self.lines):
            first.append(n == 0 or self._is_first(n))
            if first[-1]:
                self.start, self.complete = n, False
                self.last = line.count or self.last
            self.complete = self.complete or line.dated
        return first

    def _is_first(self, n: int) -> bool:
        """Return whether a reference begins with a line; the one before it began at ``start``."""
        line, above = self.lines[n], self.lines[n - 1]
        if line.after_note:
            return True
        if n - 1 == self.start and not above.body:  # the line above has only the mark
            return False
        if line.kind and self._mark_counts(n):
            return True
        if self.is_greedy and not line.full:
            return True
        ends = ends_reference(above.text)
        if GOES_ON.match(line.text):
            return WEB_PAGE.match(line.text) is not None and ends and self._is_page_alone(n)
        if line.after_blank and not self.kind:
            return ends or not line.full
        if self.is_block_each and not self.kind and not line.after_page:
            return False
        if self.first_indented:
            return line.indent > self.least
        if self.hanging and line.indent == self.least:
            return True
        if not line.begins and not _may_be_first(line) and (line.full or self.kind or not self.one_per_line):
            return False
        whole = self.complete and self._dated_ahead(n)
        if self.hanging:
            return whole and line.begins and not line.full
        if line.full:
            may = self.loose or line.after_page or self._lacks_a_number(n)
            return may and whole and self._follows_an_end(n)
        if self.one_per_line:
            if LATIN_SMALL.match(line.text) and not ends:
                return False
            return not self.kind or line.begins or line.dated or self._lacks_a_number(n)
        if self.kind:
            return whole and ends and (line.begins or self._lacks_a_number(n))
        if self.in_blocks and not self.loose:
            if line.after_page and self.wrapped:
                return ends
            return whole and ends and (line.begins if line.after_page else NAMED.match(line.body) is not None)
        return ends and (self.wrapped or (self.complete and (line.begins or not self.in_blocks)))

    def _mark_counts(self, n: int) -> bool:
        """Return whether the mark before a line is the mark of a reference, and not a number of a sentence."""
        line, above = self.lines[n], self.lines[n - 1]
        ends = line.after_blank or ends_reference(above.text)
        is_next = line.count is not None and line.count == self.last + 1
        if is_next and ((line.kind or "").startswith("[") or (ends and WEB_PAGE.match(line.body))):
            return True
        if line.full and (GOES_ON.match(line.body) or (LATIN_SMALL.match(line.body) and not ends)):
            return False
        if line.full and self.hanging and line.indent > self.mark_indent:
            return False
        if line.kind in ("key", "•"):
            return True
        if line.count is None:
            may_be_range = line.full and line.text.startswith(("-", "–")) and PLACE_PART.match(line.body)
            return not may_be_range and (not line.full or ends)
        if not LETTER_FIRST.match(line.body) and (line.full or line.count != self.last + 1):
            return line.count >= self.last - 1 and (
                is_part_of_address(above.text) or ENDS_WITH_PLACE.search(above.text) is not None
            )
        if line.count == self.last + 1 or not self.last:
            return True
        if _is_year(line.count) or LATIN_SMALL.match(line.body):
            return False
        if line.after_blank or not line.full:
            return line.begins or line.count > self.last or (ends and self.complete)
        return ends and (
            self.last < line.count <= self.last + 3
            or (self.complete and (line.begins or ENDS_WITH_PLACE.search(above.text) is not None))
        )

    def _is_page_alone(self, n: int) -> bool:
        """Return whether the address of a web page is a reference, and not the end of the reference above."""
        line, above = self.lines[n], self.lines[n - 1]
        if "http" in above.text and not line.full:
            return True
        if self.has_pages_below or self.kind:
            return False
        if self.hanging or self.first_indented:
            return line.indent == (self.least if self.hanging else self.mark_indent) and self.complete
        return self.complete and (line.after_blank if self.in_blocks else self.one_per_line)

    def _loose(self) -> bool:
        """Return whether some references begin without a mark or an empty line, so that others can too."""
        if self.kind or not self.in_blocks:
            return not self.kind
        inside = [(above, line) for above, line in pairwise(self.lines) if not (line.after_blank or line.after_page)]
        may = sum(not line.full and bool(ENDS.search(above.text)) and _may_be_first(line) for above, line in inside)
        return may > LOOSE * (len(self.lines) - len(inside))

    def _lacks_a_number(self, n: int) -> bool:
        """Return whether the numbers of a list have a gap for a reference without a number."""
        after = self.next_count[n]
        return bool(self.kind) and after != self.last + 1

    def _dated_ahead(self, n: int) -> bool:
        for line in self.lines[n : n + AHEAD]:
            if line is not self.lines[n] and (line.after_blank or line.kind):
                return False
            if line.dated:
                return True
        return False

    def _follows_an_end(self, n: int) -> bool:
        above = self.lines[n - 1].text
        if NAMED.match(self.lines[n].body):
            return ENDS.search(above) is not None
        if not ENDS_WITH_PLACE.search(above):
            return False
        return YEAR_AFTER_NAMES.search(" ".join(line.body for line in self.lines[max(self.start, n - 2) : n])) is None


def _may_be_reference(line: _Line) -> bool:
    return line.begins or _may_be_first(line) or NUMBER_FIRST.match(line.text) is not None


def _may_be_first(line: _Line) -> bool:
    if REPEATED_AUTHORS.match(line.text):
        return True
    return LETTER_FIRST.match(line.text) is not None and not (GOES_ON.match(line.text) or LATIN_SMALL.match(line.text))


def _is_year(count: int) -> bool:
    return 1800 <= count <= 2100


def _share(lines: Sequence[_Line]) -> float:
    """Return the share of lines that may begin a reference."""
    return sum(line.begins for line in lines) / len(lines) if lines else 1.0


def _join_lines(parts: Sequence[str]) -> str:
    """Join the lines of a reference; a word that is divided at the end of a line stays one, its hyphen kept."""
    text = ""
    for part in parts:
        glued = text.endswith(("-", "\u2010")) or (text.endswith("/") and "doi" in text[-60:].lower())
        if text.endswith("\u00ad"):
            text, glued = text[:-1], True
        text += part if glued or not text else f" {part}"
    return text


def as_reference(
    text: str, line: int, *, key: str | None = None, number: str | None = None, where: str = "line"
) -> Reference:
    """Return a reference that is written out, without its invisible characters.

    Args:
        text: the reference, after its number if it has one.
        line: where it begins.
        key: the name of the reference; by default its line.
        number: its number in the list, if the text does not begin with it.
        where: what ``line`` counts.
    """
    text = visible(text)
    mark = MARK.match(text)
    count = kind_of(mark)[1]
    plain = _STANDING.sub(" ", text[mark.end() if mark else 0 :]) or text
    return Reference(
        key=key or f"{where} {line}",
        line=line,
        number=str(count) if count is not None else number,
        text=plain[: MAX_TEXT + 1],
        **_identifiers(plain[:MAX_TEXT]),
    )


def looks_written_out(reference: Reference) -> bool:
    """Return whether a text can be a reference: it has an identifier or a number, or a name and a year."""
    if reference.pmid or reference.pmcid or reference.doi or reference.number:
        return True
    text = reference.text or ""
    return BEGINS.match(text) is not None and YEAR.search(text) is not None


def words_of(text: str, known: Collection[str] = ()) -> list[str]:
    """Return the folded words of a reference, without identifiers and without the date of a visit.

    A word that a line break divides is one word if it is among the ``known`` ones.
    """

    def join(match: re.Match[str]) -> str:
        whole = match[1] + match[2]
        return whole if fold_text(whole) in known else match[0]

    plain = VISITED.sub(" ", _WORD_WITH_ID.sub(" ", _LABELLED.sub(" ", text)))
    return fold_text(_DIVIDED.sub(join, plain) if known else plain).split()


def _identifiers(text: str) -> dict[str, Any]:
    """Return the identifiers that a text names as such, the first of each kind; but no bare number."""
    words = [match[0] for match in _LABELLED.finditer(text)]
    for match in _WORD_WITH_ID.finditer(text):
        word = match[0].rstrip(".,;")
        while word[-1:] in _CLOSING and word.count(word[-1]) > word.count(_CLOSING[word[-1]]):
            word = word[:-1].rstrip(".,;")
        words.append(word.lstrip("([<"))
    found = [identifier for word in words if (identifier := read_identifier(word)) is not None]
    return {identifier.kind: identifier.value for identifier in reversed(found)}
