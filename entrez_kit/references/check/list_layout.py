"""Find where the references of a pasted list begin.

The layout of a list is unknown, so several signs decide for each line: the mark before it, an empty line above,
its indent, the length of the line above, and the words of both lines.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from entrez_kit.references.check.line_signs import (
    BARE,
    BEGINS,
    DOI_CUT,
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

FEWEST_BLOCKS: Final = 3
"""Each block of several lines is a reference only if there are at least this many blocks."""
ONE_DATE: Final = 0.8
"""Each block is a reference only if at least this share of the blocks has one date."""
NARROWEST: Final = 30
"""Wrapped lines have at least this many characters."""
WIDEST: Final = 160
"""Wrapped lines have at most this many characters."""
NAMES_AND_YEAR: Final = re.compile(r"[^0-9]{3,500}\((?:1[89]|20)[0-9]{2}[a-z]?\)[.:]?")
"""The authors and the year of a reference, alone on a line."""
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
MAX_MARKED: Final = 0.6
"""Share of marks that stand where a reference may begin, from which on these are the marks of the list."""
MAX_PAGES: Final = 0.3
"""Share of lines with an address of a web page, from which on these end references and are not references."""
UNCOUNTED: Final = ("-", "•", "key")
"""The kinds of marks without a number."""
BARE_KIND: Final = "1"
"""The kind of a mark that is only a number."""
GREEDY: Final = 0.95
"""Minimum share of possible first lines of references among the lines whose first word fits in the line above."""
AHEAD: Final = 12
"""Lines that are searched for the end of a reference."""


@dataclass(slots=True)
class ListLine:
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
    """Whether the line above has no room for the first word of this line."""
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


class ListLayout:
    """How a list is laid out, as far as its lines show."""

    def __init__(self, lines: Sequence[ListLine]) -> None:
        self.lines = lines
        width = max((line.indent + len(line.text) for line in lines if " " in line.text), default=0)
        self._mark_full_lines(NEARLY_FULL * width if NARROWEST <= width <= WIDEST else math.inf)
        self.wrapped = self._is_wrapped()
        self.one_per_line = self._has_dates() and not self.wrapped
        self.least = min((line.indent for line in lines), default=0)
        if self._is_double_spaced():
            for line in lines:
                line.after_blank = False
        self.in_blocks = any(line.after_blank for line in lines[1:])
        self.is_block_each = self._is_block_each()
        self.kind = self._kind()
        self._remove_other_marks()
        self.hanging, self.first_indented = self._indents()
        self.is_counted = any(line.count for line in lines)
        """Whether numbers mark the references."""
        self.next_count: list[int | None] = [None] * (len(lines) + 1)
        for n in range(len(lines) - 1, -1, -1):
            self.next_count[n] = lines[n].count if lines[n].kind else self.next_count[n + 1]
        self.mark_indent = max((line.indent for line in lines if line.kind and not line.full), default=0)
        pages = sum(WEB_PAGE.match(line.text) is not None for line in lines[1:])
        self.has_pages_below = pages > MAX_PAGES * sum(map(_may_be_first, lines))
        """Whether many references have an address on a separate line."""
        self.loose = self._loose()
        signs = self.kind or self.in_blocks or self.hanging or self.first_indented
        self.is_uncertain = self.wrapped and not signs
        """Whether the lines are wrapped, and only their words and lengths show where references begin."""
        self.is_greedy = self.is_uncertain and self._is_greedy(width)
        self.start, self.last, self.complete = 0, 0, False

    def _mark_full_lines(self, limit: float) -> None:
        for above, line in pairwise(self.lines):
            word = line.text.split(maxsplit=1)[0]
            line.full = above.indent + len(above.text) + 1 + len(word) > limit

    def _is_wrapped(self) -> bool:
        """Return whether the lines are wrapped. If most lines are whole references, remove the signs of it."""
        texts = [line for line in self.lines if not GOES_ON.match(line.text)]
        if sum(line.dated and _may_be_reference(line) for line in texts) >= EACH_LINE * len(texts):
            for line in self.lines:
                line.full = False
        return sum(line.full for line in self.lines) > WRAPPED * max(len(self.lines) - 1, 1)

    def _has_dates(self) -> bool:
        """Return whether most lines have a date, or an author at their beginning."""
        most = max(sum(line.dated for line in self.lines), sum(line.begins for line in self.lines))
        return most >= ONE_PER_LINE * len(self.lines)

    def _is_double_spaced(self) -> bool:
        """Return whether empty lines separate wrapped lines and not references."""
        below, breaks = self.lines[1:], len(self.lines) - 1
        odd = sum(
            line.after_blank and not line.kind and (not _may_be_first(line) or line.indent > self.least)
            for line in below
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

    def _remove_other_marks(self) -> None:
        """Read marks of another kind, and years, as text. Ignore numbers that are all the same."""
        last = 0
        for line in self.lines:
            if line.kind != self.kind or (line.count and _is_year(line.count) and line.count != last + 1):
                line.kind, line.count = "", None
                line.read(0)
            last = line.count or last
        marked = [line.count for line in self.lines if line.count is not None]
        if len(marked) >= FEWEST_BLOCKS and len(set(marked)) == 1:  # Markdown numbers such a list when it is shown
            for line in self.lines:
                line.count = None

    def _indents(self) -> tuple[bool, bool]:
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

    def first_lines(self) -> list[bool]:
        """Return for each line whether a reference begins with it."""
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
        line = self.lines[n]
        if self._has_sign(n):
            return True
        if self._is_below_mark(n) or DOI_CUT.search(self.lines[n - 1].text):
            return False
        if GOES_ON.match(line.text):
            return self._is_page_alone(n)
        if line.after_blank and not self.kind:
            return self._begins_block(n)
        if self.is_block_each and not self.kind and not line.after_page:
            return False
        return self._is_first_by_layout(n)

    def _is_first_by_layout(self, n: int) -> bool:
        """Return whether a reference begins with a line without a sign. The first layout that applies decides."""
        line = self.lines[n]
        if self.is_counted and not self._lacks_a_number(n):
            return self._begins_between_numbers(n)
        if self.first_indented:
            return line.indent > self.least
        if self.hanging:
            return self._begins_hanging(n)
        if line.full:
            return self._begins_below_full_line(n)
        if self.one_per_line:
            return self._begins_on_own_line(n)
        if self.kind:
            return self._begins_between_marks(n)
        if self.in_blocks and not self.loose:
            return self._begins_inside_block(n)
        return self._begins_below_short_line(n)

    def _has_sign(self, n: int) -> bool:
        """Return whether a line has a mark or follows a note, or the line above has room for its first word."""
        line = self.lines[n]
        if line.after_note or self._is_below_mark(n):
            return line.after_note
        return (line.kind != "" and self._mark_counts(n)) or (self.is_greedy and not line.full)

    def _is_below_mark(self, n: int) -> bool:
        """Return whether the line above has only the mark of a reference."""
        return n - 1 == self.start and not self.lines[n - 1].body

    def _begins_block(self, n: int) -> bool:
        """Return whether a reference begins below an empty line; a line that is full or indented may continue one."""
        line = self.lines[n]
        goes_on = line.full or (self.hanging and line.indent > self.least)
        return not goes_on or ends_reference(self.lines[n - 1].text)

    def _begins_between_numbers(self, n: int) -> bool:
        """Numbered list: return whether a line begins a whole reference that has no number."""
        line = self.lines[n]
        alone = len(line.text) >= NARROWEST and (not line.full or (self.hanging and line.indent == self.least))
        begins = line.begins or (self.one_per_line and line.dated and _may_be_reference(line))
        return begins and alone and self._is_whole(n) and self._follows_an_end(n)

    def _begins_hanging(self, n: int) -> bool:
        """Hanging indent: return whether a line is not indented, or begins a whole reference."""
        line = self.lines[n]
        if line.indent == self.least:
            return True
        has_room = not line.full or line.indent < self.lines[n - 1].indent
        return line.begins and has_room and self._is_whole(n)

    def _begins_below_full_line(self, n: int) -> bool:
        """Wrapped list: return whether a whole reference begins below a full line. Most full lines end inside one."""
        line = self.lines[n]
        may = self.loose or line.after_page or self._lacks_a_number(n)
        return may and _can_begin(line) and self._is_whole(n) and self._follows_an_end(n)

    def _begins_on_own_line(self, n: int) -> bool:
        """One reference per line: return whether a line begins one. It may lack a mark, but not continue a sentence."""
        line = self.lines[n]
        if LATIN_SMALL.match(line.text) and not ends_reference(self.lines[n - 1].text):
            return False
        return not self.kind or (_can_begin(line) and (line.begins or line.dated or self._lacks_a_number(n)))

    def _begins_between_marks(self, n: int) -> bool:
        """Wrapped list with marks: return whether a line begins a whole reference that has no mark."""
        line = self.lines[n]
        begins = line.begins or (_can_begin(line) and self._lacks_a_number(n))
        return begins and self._is_whole(n) and ends_reference(self.lines[n - 1].text)

    def _begins_inside_block(self, n: int) -> bool:
        """Blocks: return whether a line begins a whole reference although no empty line is above it."""
        line = self.lines[n]
        if not _can_begin(line) or not ends_reference(self.lines[n - 1].text):
            return False
        if line.after_page:
            return self.wrapped or (line.begins and self._is_whole(n))
        return NAMED.match(line.body) is not None and self._is_whole(n)

    def _begins_below_short_line(self, n: int) -> bool:
        """Wrapped list without signs: return whether a line below a short line, which ends a reference, begins one."""
        line = self.lines[n]
        may = self.wrapped or (self.complete and (line.begins or not self.in_blocks))
        return may and _can_begin(line) and ends_reference(self.lines[n - 1].text)

    def _mark_counts(self, n: int) -> bool:
        """Return whether the mark before a line is the mark of a reference, and not a number of a sentence."""
        line = self.lines[n]
        ends = line.after_blank or ends_reference(self.lines[n - 1].text)
        if line.count == self.last + 1 and (line.kind.startswith("[") or (ends and WEB_PAGE.match(line.body))):
            return True
        if line.full and (GOES_ON.match(line.body) or (LATIN_SMALL.match(line.body) and not ends)):
            return False
        if line.full and self.hanging and line.indent > self.mark_indent:
            return False
        return self._sign_counts(line, ends) if line.count is None else self._number_counts(n, line.count, ends)

    def _sign_counts(self, line: ListLine, ends: bool) -> bool:
        """Return whether a mark without a number begins a reference, and is not the dash of a range of pages."""
        may_be_range = line.full and line.text.startswith(("-", "–")) and PLACE_PART.match(line.body)
        return line.kind in ("key", "•") or (not may_be_range and (not line.full or ends))

    def _number_counts(self, n: int, count: int, ends: bool) -> bool:
        """Return whether a number is the mark of a reference, by the words after it and the number above."""
        line, above, is_next = self.lines[n], self.lines[n - 1], count == self.last + 1
        if not LETTER_FIRST.match(line.body) and (line.full or not is_next):
            has_place = is_part_of_address(above.text) or ENDS_WITH_PLACE.search(above.text) is not None
            return count >= self.last - 1 and has_place
        if is_next or not self.last:
            return True
        if _is_year(count) or LATIN_SMALL.match(line.body):
            return False
        if line.after_blank or not line.full:
            return line.begins or count > self.last or (ends and self.complete)
        is_near = self.last < count <= self.last + 3
        begins = self.complete and (line.begins or ENDS_WITH_PLACE.search(above.text) is not None)
        return ends and (is_near or begins)

    def _is_page_alone(self, n: int) -> bool:
        """Return whether the address of a web page is a reference, and not the end of the reference above."""
        line, above = self.lines[n], self.lines[n - 1]
        if not WEB_PAGE.match(line.text) or not ends_reference(above.text):
            return False
        if "http" in above.text and not line.full:
            return True
        if self.has_pages_below or self.kind:
            return False
        if self.hanging or self.first_indented:
            return (line.indent == self.least) == self.hanging and self.complete
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

    def _is_whole(self, n: int) -> bool:
        """Return whether the reference above has a date, and the one that may begin here too."""
        return self.complete and self._dated_ahead(n)

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


def _may_be_reference(line: ListLine) -> bool:
    return _can_begin(line) or NUMBER_FIRST.match(line.text) is not None


def _may_be_first(line: ListLine) -> bool:
    if REPEATED_AUTHORS.match(line.text):
        return True
    return LETTER_FIRST.match(line.text) is not None and not (GOES_ON.match(line.text) or LATIN_SMALL.match(line.text))


def _can_begin(line: ListLine) -> bool:
    return line.begins or _may_be_first(line)


def _is_year(count: int) -> bool:
    return 1800 <= count <= 2100


def _share(lines: Sequence[ListLine]) -> float:
    """Return the share of lines that may begin a reference. A line with the words that do not fit above does not."""
    return sum(line.begins and not line.full for line in lines) / len(lines) if lines else 1.0
