"""Find out how a pasted list is laid out: its marks, indents, empty lines, and whether its lines are wrapped."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from entrez_kit.references.check.line_signs import (
    AUTHOR_START,
    BARE_NUMBER,
    CONTINUATION_START,
    LATIN_SMALL,
    LETTER_FIRST,
    MARK,
    NUMBER_FIRST,
    REFERENCE_END,
    REPEATED_AUTHORS,
    WEB_PAGE,
    ends_reference,
    is_dated,
    is_year,
    kind_of,
)

MIN_BLOCKS: Final = 3
"""Each block of several lines is a reference only if there are at least this many blocks."""
ONE_DATE: Final = 0.8
"""Each block is a reference only if at least this share of the blocks has one date."""
MIN_WIDTH: Final = 30
"""Wrapped lines have at least this many characters."""
MAX_WIDTH: Final = 160
"""Wrapped lines have at most this many characters."""
NAMES_AND_YEAR: Final = re.compile(r"[^0-9]{3,500}\((?:1[89]|20)[0-9]{2}[a-z]?\)[.:]?")
"""The authors and the year of a reference, alone on a line."""
NEARLY_FULL: Final = 0.88
"""Share of the width: the next word did not fit on a line that is longer than this."""
ONE_PER_LINE: Final = 0.7
"""If at least this share of lines has a date, or an author at the beginning, each line is a reference."""
EACH_LINE: Final = 0.9
"""If at least this share of lines has a date and may begin a reference, each line is a reference."""
WRAPPED: Final = 0.25
"""If more than this share of lines is full, the lines of a list are wrapped."""
LOOSE: Final = 0.25
"""References without an empty line above, for each with one, from which on empty lines separate only some of them."""
DOUBLE_SPACED: Final = 0.9
"""If at least this share of lines has an empty line above, empty lines separate lines and not references."""
MAX_MARKED: Final = 0.6
"""If at least this share of marks is where a reference may begin, these are the marks of the list."""
MAX_PAGES: Final = 0.3
"""If more than this share of lines is an address of a web page, these end references and are not references."""
UNCOUNTED: Final = ("-", "•", "key")
"""The kinds of marks without a number."""
BARE_NUMBER_KIND: Final = "1"
"""The kind of a mark that is only a number."""
GREEDY: Final = 0.95
"""Minimum share of possible first lines of references among the lines whose first word fits in the line above."""


@dataclass(slots=True)
class ListLine:
    """A line with text, and what it shows of the layout.

    Attributes:
        kind: the kind of the mark before the text, empty without a mark.
        count: the number in the mark, if it has one.
        body: the text after the mark.
        begins: whether the body begins with an author.
        dated: whether the body has a date, or what a reference without a date has.
        full: whether the first word of this line did not fit in the line above.
    """

    number: int
    text: str
    indent: int
    after_blank: bool
    after_page: bool = False
    after_note: bool = False
    full: bool = False
    kind: str = field(init=False)
    count: int | None = field(init=False)
    body: str = field(init=False)
    begins: bool = field(init=False)
    dated: bool = field(init=False)

    def __post_init__(self) -> None:
        mark = MARK.match(self.text)
        kind, count = kind_of(mark)
        self.set_mark(kind, count, mark.end() if mark else 0)

    def set_mark(self, kind: str, count: int | None, end: int) -> None:
        """Read the text up to ``end`` as a mark, and the rest as the body."""
        self.kind, self.count = kind, count
        self.body = self.text[end:]
        self.begins = AUTHOR_START.match(self.body) is not None
        self.dated = is_dated(self.body)

    def remove_mark(self) -> None:
        """Read the whole text as the body."""
        self.set_mark("", None, 0)

    @property
    def first_word(self) -> str:
        """The text up to the first space."""
        return self.text.split(maxsplit=1)[0]

    @property
    def may_be_first(self) -> bool:
        """Whether the first word may begin a reference."""
        if REPEATED_AUTHORS.match(self.text):
            return True
        goes_on = CONTINUATION_START.match(self.text) or LATIN_SMALL.match(self.text)
        return LETTER_FIRST.match(self.text) is not None and not goes_on

    @property
    def can_begin(self) -> bool:
        """Whether an author, or a word that may begin a reference, is at the beginning."""
        return self.begins or self.may_be_first

    @property
    def may_be_reference(self) -> bool:
        """Whether a word or a number that may begin a reference is at the beginning."""
        return self.can_begin or NUMBER_FIRST.match(self.text) is not None


class ListLayout:
    """How a list is laid out, as far as its lines show.

    The constructor corrects the lines: whether they are full and below an empty line, and their marks.
    """

    def __init__(self, lines: Sequence[ListLine]) -> None:
        self.lines = lines
        width = max((line.indent + len(line.text) for line in lines if " " in line.text), default=0)
        if MIN_WIDTH <= width <= MAX_WIDTH and not self._has_references_as_lines():
            self._set_full(self._find_full_lines(NEARLY_FULL * width))
        self.wrapped = sum(line.full for line in lines) > WRAPPED * max(len(lines) - 1, 1)
        self.one_per_line = self._has_dates() and not self.wrapped
        self.least = min((line.indent for line in lines), default=0)
        if self._is_double_spaced():
            for line in lines:
                line.after_blank = False
        self.in_blocks = any(line.after_blank for line in lines[1:])
        self.is_block_each = self._is_block_each()
        self.kind = self._find_kind()
        """The kind of marks that the list has, or an empty string."""
        if not self.kind and (numbers := self._find_bare_numbers()):
            self.kind = BARE_NUMBER_KIND
            for line, number in numbers:
                line.set_mark(BARE_NUMBER_KIND, int(number["n"]), number.end())
        self._remove_other_marks()
        self.hanging, self.first_indented = self._find_indents()
        self.is_counted = any(line.count for line in lines)
        """Whether numbers mark the references."""
        self.next_count: list[int | None] = [None] * (len(lines) + 1)
        for n in range(len(lines) - 1, -1, -1):
            self.next_count[n] = lines[n].count if lines[n].kind else self.next_count[n + 1]
        self.mark_indent = max((line.indent for line in lines if line.kind and not line.full), default=0)
        pages = sum(WEB_PAGE.match(line.text) is not None for line in lines[1:])
        self.has_pages_below = pages > MAX_PAGES * sum(line.may_be_first for line in lines)
        """Whether many references have an address on a separate line."""
        self.loose = self._is_loose()
        signs = self.kind or self.in_blocks or self.hanging or self.first_indented
        self.is_uncertain = self.wrapped and not signs
        """Whether the lines are wrapped, and only their words and lengths show where references begin."""
        full = self._find_full_lines(width, breaks=("-", "/"))
        self.is_greedy = self.is_uncertain and self._has_starts_after_room(full)
        """Whether each line has as many words as fit. Then a shorter line ends a reference."""
        if self.is_greedy:
            self._set_full(full)

    def _find_full_lines(self, width: float, breaks: tuple[str, ...] = ()) -> list[bool]:
        """Return for each line whether the line above has no room for its first word, or ends at one of the breaks."""
        full = [
            above.text.endswith(breaks) or above.indent + len(above.text) + 1 + len(line.first_word) > width
            for above, line in pairwise(self.lines)
        ]
        return [False, *full] if self.lines else []

    def _set_full(self, full: Sequence[bool]) -> None:
        for line, is_full in zip(self.lines, full, strict=True):
            line.full = is_full

    def _has_references_as_lines(self) -> bool:
        """Return whether most lines are whole references, so that none of them is wrapped."""
        texts = [line for line in self.lines if not CONTINUATION_START.match(line.text)]
        return sum(line.dated and line.may_be_reference for line in texts) >= EACH_LINE * len(texts)

    def _has_dates(self) -> bool:
        """Return whether most lines have a date, or an author at their beginning."""
        most = max(sum(line.dated for line in self.lines), sum(line.begins for line in self.lines))
        return most >= ONE_PER_LINE * len(self.lines)

    def _is_double_spaced(self) -> bool:
        """Return whether empty lines separate wrapped lines and not references."""
        below, breaks = self.lines[1:], len(self.lines) - 1
        odd = sum(
            line.after_blank and not line.kind and (not line.may_be_first or line.indent > self.least) for line in below
        )
        blank = sum(line.after_blank for line in below)
        return self.wrapped and breaks > 2 and blank >= DOUBLE_SPACED * breaks and odd > 0.1 * breaks

    def _is_block_each(self) -> bool:
        """Return whether empty lines separate all references: most blocks of several lines have one date."""
        blocks: list[list[ListLine]] = []
        for line in self.lines:
            if line.after_blank or not blocks:
                blocks.append([])
            blocks[-1].append(line)
        several = [
            sum(line.dated and not (line.begins and NAMES_AND_YEAR.fullmatch(line.body)) for line in block)
            for block in blocks
            if len(block) > 1
        ]
        return len(several) >= MIN_BLOCKS and sum(dated < 2 for dated in several) >= ONE_DATE * len(several)

    def _has_starts_after_room(self, full: Sequence[bool]) -> bool:
        """Return whether almost all lines that fit in the line above may begin a reference."""
        below = [line.may_be_first for line, is_full in zip(self.lines[1:], full[1:], strict=True) if not is_full]
        return sum(below) >= GREEDY * max(len(below), 1)

    def _find_kind(self) -> str:
        """Return the kind of marks that the list has, or an empty string."""
        places: dict[str, list[int]] = {}
        for n, line in enumerate(self.lines):
            if line.kind and not (line.count and is_year(line.count)):
                places.setdefault(line.kind, []).append(n)
        good = {kind: found for kind, found in places.items() if self._is_kind(kind, found)}
        return max(good, key=lambda kind: len(good[kind]), default="")

    def _is_kind(self, kind: str, places: Sequence[int]) -> bool:
        """Return whether references begin at the marks, and the marks are not numbers that begin a wrapped line."""
        first = self.lines[places[0]]
        if places[0] == 0 and (kind not in UNCOUNTED or len(places) > 1):
            return True
        # A dash can also separate the fields of a reference that begins above.
        if kind in UNCOUNTED and not (first.after_blank or first.after_note):
            return False
        heads = sum(self._may_begin(n, self.lines[n].body) for n in places)
        return len(places) > 1 and heads >= MAX_MARKED * len(places) and self._may_count(places)

    def _may_count(self, places: Sequence[int]) -> bool:
        """Return whether numbers count references: most are larger than the one above, or most references have one.

        "7. Aufl." at the beginning of a line is an edition.
        """
        counts = [count for n in places if (count := self.lines[n].count) is not None]
        steps = sum(after > count for count, after in pairwise(counts))
        first = sum(line.begins for line in self.lines)
        return not counts or steps >= MAX_MARKED * (len(counts) - 1) or len(places) >= MAX_MARKED * first

    def _may_begin(self, n: int, body: str) -> bool:
        after_end = n == 0 or self.lines[n].after_blank or ends_reference(self.lines[n - 1].text)
        return after_end and LETTER_FIRST.match(body) is not None and not LATIN_SMALL.match(body)

    def _find_bare_numbers(self) -> list[tuple[ListLine, re.Match[str]]]:
        """Return the lines that begin with a number without punctuation, if these numbers count the references."""
        found: list[tuple[ListLine, re.Match[str]]] = []
        for n, line in enumerate(self.lines):
            match = BARE_NUMBER.match(line.text)
            if match is None or (n > 0 and not found):
                continue
            count, last = int(match["n"]), int(found[-1][1]["n"]) if found else 0
            has_room = not line.full or line.indent < self.lines[n - 1].indent
            is_next = not found or (count == last + 1 and has_room)
            if is_next or (last < count <= last + 3 and self._may_begin(n, line.text[match.end() :])):
                found.append((line, match))
        return found if len(found) > 1 else []

    def _remove_other_marks(self) -> None:
        """Read marks of another kind, and years, as text. Ignore numbers that are all the same."""
        last = 0
        for line in self.lines:
            if line.kind != self.kind or (line.count and is_year(line.count) and line.count != last + 1):
                line.remove_mark()
            last = line.count or last
        marked = [line.count for line in self.lines if line.count is not None]
        if len(marked) >= MIN_BLOCKS and len(set(marked)) == 1:  # Markdown numbers such a list when it is shown
            for line in self.lines:
                line.count = None

    def _find_indents(self) -> tuple[bool, bool]:
        """Return whether the continuation lines are indented, and whether the first lines are; both can be false."""
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

    def _is_loose(self) -> bool:
        """Return whether some references begin without a mark or an empty line, so that others can too."""
        if self.kind or not self.in_blocks:
            return not self.kind
        inside = [(above, line) for above, line in pairwise(self.lines) if not (line.after_blank or line.after_page)]
        may = sum(
            not line.full and bool(REFERENCE_END.search(above.text)) and line.may_be_first for above, line in inside
        )
        return may > LOOSE * (len(self.lines) - len(inside))


def _share(lines: Sequence[ListLine]) -> float:
    """Return the share of lines that may begin a reference. A line with the words that do not fit above does not."""
    return sum(line.begins and not line.full for line in lines) / len(lines) if lines else 1.0
