"""Find where the references of a pasted list begin.

Several signs decide for each line: the mark before it, an empty line above, its indent, the length of the line above,
and the words of both lines. Which of them count depends on the layout of the list.
"""

from typing import Final

from entrez_kit.references.check.pasted.line_signs import (
    CONTINUATION_START,
    DOI_CUT,
    ENDS_WITH_PLACE,
    LATIN_SMALL,
    LETTER_FIRST,
    NAME_AND_INITIALS,
    PLACE_PART,
    REFERENCE_END,
    WEB_PAGE,
    YEAR_AFTER_NAMES,
    ends_reference,
    is_part_of_address,
    is_year,
)
from entrez_kit.references.check.pasted.list_layout import MIN_WIDTH, ListLayout, ListLine

AHEAD: Final = 12
"""Lines that are searched for the end of a reference."""


def find_first_lines(layout: ListLayout) -> list[bool]:
    """Return for each line of a list whether a reference begins with it."""
    return _FirstLines(layout).find()


class _FirstLines:
    """Goes through the lines of a list once, and remembers the reference above the next line.

    Attributes:
        start: the place of the line with which the reference above begins.
        last_count: the last number of a reference, 0 before the first one.
        complete: whether the reference above has a date.
    """

    def __init__(self, layout: ListLayout) -> None:
        self.layout, self.lines = layout, layout.lines
        self.start, self.last_count, self.complete = 0, 0, False

    def find(self) -> list[bool]:
        """Return for each line whether a reference begins with it."""
        first: list[bool] = []
        for n, line in enumerate(self.lines):
            first.append(n == 0 or self._is_first(n))
            if first[-1]:
                self.start, self.complete = n, False
                self.last_count = line.count or self.last_count
            self.complete = self.complete or line.dated
        return first

    def _is_first(self, n: int) -> bool:
        """Return whether a reference begins with a line; the one before it began at ``start``."""
        line = self.lines[n]
        if self._has_sign(n):
            return True
        if self._is_below_mark(n) or DOI_CUT.search(self.lines[n - 1].text):
            return False
        if CONTINUATION_START.match(line.text):
            return self._is_page_alone(n)
        if line.after_blank and not self.layout.kind:
            return self._begins_block(n)
        if self.layout.is_block_each and not self.layout.kind and not line.after_page:
            return False
        return self._is_first_by_layout(n)

    def _is_first_by_layout(self, n: int) -> bool:
        """Return whether a reference begins with a line without a sign. The first layout that applies decides."""
        line = self.lines[n]
        if self.layout.is_counted and not self._lacks_a_number(n):
            return self._begins_between_numbers(n)
        if self.layout.first_indented:
            return line.indent > self.layout.least
        if self.layout.hanging:
            return self._begins_hanging(n)
        if line.full:
            return self._begins_below_full_line(n)
        if self.layout.one_per_line:
            return self._begins_on_own_line(n)
        if self.layout.kind:
            return self._begins_between_marks(n)
        if self.layout.in_blocks and not self.layout.loose:
            return self._begins_inside_block(n)
        return self._begins_below_short_line(n)

    def _has_sign(self, n: int) -> bool:
        """Return whether a line has a mark or follows a note, or the line above has room for its first word."""
        line = self.lines[n]
        if line.after_note or self._is_below_mark(n):
            return line.after_note
        return (line.kind != "" and self._mark_counts(n)) or (self.layout.is_greedy and not line.full)

    def _is_below_mark(self, n: int) -> bool:
        """Return whether the line above has only the mark of a reference."""
        return n - 1 == self.start and not self.lines[n - 1].body

    def _begins_block(self, n: int) -> bool:
        """Return whether a reference begins below an empty line; a line that is full or indented may continue one."""
        line = self.lines[n]
        goes_on = line.full or (self.layout.hanging and line.indent > self.layout.least)
        return not goes_on or ends_reference(self.lines[n - 1].text)

    def _begins_between_numbers(self, n: int) -> bool:
        """Numbered list: return whether a line begins a whole reference that has no number."""
        line = self.lines[n]
        is_outdented = self.layout.hanging and line.indent == self.layout.least
        may = (not line.full or is_outdented) and len(line.text) >= MIN_WIDTH
        begins = line.begins or (self.layout.one_per_line and line.dated and line.may_be_reference)
        begins = begins or (is_outdented and line.indent < self.lines[n - 1].indent)
        return begins and may and self._is_whole(n) and self._follows_an_end(n)

    def _begins_hanging(self, n: int) -> bool:
        """Hanging indent: return whether a line is not indented, or begins a whole reference."""
        line = self.lines[n]
        if line.indent == self.layout.least:
            return True
        has_room = not line.full or line.indent < self.lines[n - 1].indent
        return line.begins and has_room and self._is_whole(n)

    def _begins_below_full_line(self, n: int) -> bool:
        """Wrapped list: return whether a whole reference begins below a full line. Most full lines end inside one."""
        line = self.lines[n]
        may = self.layout.loose or line.after_page or self._lacks_a_number(n)
        return may and line.can_begin and self._is_whole(n) and self._follows_an_end(n)

    def _begins_on_own_line(self, n: int) -> bool:
        """One reference per line: return whether a line begins one. It may lack a mark, but not continue a sentence."""
        line = self.lines[n]
        if LATIN_SMALL.match(line.text) and not ends_reference(self.lines[n - 1].text):
            return False
        return not self.layout.kind or (line.can_begin and (line.begins or line.dated or self._lacks_a_number(n)))

    def _begins_between_marks(self, n: int) -> bool:
        """Wrapped list with marks: return whether a line begins a whole reference that has no mark."""
        line = self.lines[n]
        begins = line.begins or (line.can_begin and self._lacks_a_number(n))
        return begins and self._is_whole(n) and ends_reference(self.lines[n - 1].text)

    def _begins_inside_block(self, n: int) -> bool:
        """Blocks: return whether a line begins a whole reference although no empty line is above it."""
        line = self.lines[n]
        if not line.can_begin or not ends_reference(self.lines[n - 1].text):
            return False
        if line.after_page:
            return self.layout.wrapped or (line.begins and self._is_whole(n))
        return NAME_AND_INITIALS.match(line.body) is not None and self._is_whole(n)

    def _begins_below_short_line(self, n: int) -> bool:
        """Wrapped list without signs: return whether a line below a short line, which ends a reference, begins one."""
        line = self.lines[n]
        may = self.layout.wrapped or (self.complete and (line.begins or not self.layout.in_blocks))
        return may and line.can_begin and ends_reference(self.lines[n - 1].text)

    def _mark_counts(self, n: int) -> bool:
        """Return whether the mark before a line is the mark of a reference, and not a number of a sentence."""
        line = self.lines[n]
        ends = line.after_blank or ends_reference(self.lines[n - 1].text)
        if line.count == self.last_count + 1 and (line.kind.startswith("[") or (ends and WEB_PAGE.match(line.body))):
            return True
        if line.full and (CONTINUATION_START.match(line.body) or (LATIN_SMALL.match(line.body) and not ends)):
            return False
        if line.full and self.layout.hanging and line.indent > self.layout.mark_indent:
            return False
        return self._is_sign_a_mark(line, ends) if line.count is None else self._is_number_a_mark(n, line.count, ends)

    def _is_sign_a_mark(self, line: ListLine, ends: bool) -> bool:
        """Return whether a mark without a number begins a reference, and is not the dash of a range of pages."""
        may_be_range = line.full and line.text.startswith(("-", "–")) and PLACE_PART.match(line.body)
        return line.kind in ("key", "•") or (not may_be_range and (not line.full or ends))

    def _is_number_a_mark(self, n: int, count: int, ends: bool) -> bool:
        """Return whether a number is the mark of a reference, by the words after it and the number above."""
        line, above, is_next = self.lines[n], self.lines[n - 1], count == self.last_count + 1
        if not LETTER_FIRST.match(line.body) and (line.full or not is_next):
            has_place = is_part_of_address(above.text) or ENDS_WITH_PLACE.search(above.text) is not None
            return count >= self.last_count - 1 and has_place
        if is_next or not self.last_count:
            return True
        if is_year(count) or LATIN_SMALL.match(line.body):
            return False
        if line.after_blank or not line.full:
            return line.begins or count > self.last_count or (ends and self.complete)
        is_near = self.last_count < count <= self.last_count + 3
        begins = self.complete and (line.begins or ENDS_WITH_PLACE.search(above.text) is not None)
        return ends and (is_near or begins)

    def _is_page_alone(self, n: int) -> bool:
        """Return whether the address of a web page is a reference, and not the end of the reference above."""
        line, above = self.lines[n], self.lines[n - 1]
        if not WEB_PAGE.match(line.text) or not ends_reference(above.text):
            return False
        if "http" in above.text and not line.full:
            return True
        if self.layout.has_pages_below or self.layout.kind:
            return False
        if self.layout.hanging or self.layout.first_indented:
            return (line.indent == self.layout.least) == self.layout.hanging and self.complete
        return self.complete and (line.after_blank if self.layout.in_blocks else self.layout.one_per_line)

    def _lacks_a_number(self, n: int) -> bool:
        """Return whether the numbers of a list have a gap for a reference without a number."""
        after = self.layout.next_count[n]
        return bool(self.layout.kind) and after != self.last_count + 1

    def _is_whole(self, n: int) -> bool:
        """Return whether the reference above has a date, and the one that may begin here too."""
        return self.complete and self._has_date_ahead(n)

    def _has_date_ahead(self, n: int) -> bool:
        for line in self.lines[n : n + AHEAD]:
            if line is not self.lines[n] and (line.after_blank or line.kind):
                return False
            if line.dated:
                return True
        return False

    def _follows_an_end(self, n: int) -> bool:
        above = self.lines[n - 1].text
        if NAME_AND_INITIALS.match(self.lines[n].body):
            return REFERENCE_END.search(above) is not None
        if not ENDS_WITH_PLACE.search(above):
            return False
        return YEAR_AFTER_NAMES.search(" ".join(line.body for line in self.lines[max(self.start, n - 2) : n])) is None
