"""Recognize lines of a pasted list that are not references: page headers and footers, page numbers.

A page header can look like a reference, and a number alone on a line can be the last word of a reference. So a line is
removed in three cases only: its form never occurs in references, it is next to a form feed or another removed line, or
it is repeated at regular distances.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from entrez_kit.base.numerals import read_roman
from entrez_kit.references.check.pasted.guessing import YEAR
from entrez_kit.references.check.pasted.line_signs import (
    CAPITAL,
    ID,
    MARK,
    PARTICLE,
    REFERENCE_END,
    is_continuation,
    may_begin,
)
from entrez_kit.references.check.pasted.text_lines import TextLine

MAX_PAGE_LINE: Final = 250
"""Maximum characters of a page header or footer."""
MAX_HEAD: Final = 100
"""Maximum characters of a page header that only its repetition shows."""
MIN_PAGE: Final = 800
"""Minimum characters of a page."""
MIN_LINES: Final = 15
"""Minimum lines of a page with fewer characters."""
MAX_PAGES: Final = 10
"""Maximum pages between two page headers of the same text."""
UNEVEN: Final = 1.25
"""Maximum ratio of the longest page to the shortest, in lines."""
MAX_ENTRY: Final = 1_000
"""Maximum characters between two numbers of references that are alone on their lines."""
MARKED: Final = 0.1
"""Minimum share of lines with a mark if each reference has a mark."""
FILLED: Final = 0.7
"""Minimum share of the text width that a line and the next word have if the line is full."""
WIDEST: Final = 160
"""Maximum characters of a line of wrapped text."""
_LONE: Final = re.compile(r"[0-9]{1,4}")
_YEAR: Final = re.compile(r"(?:1[89]|20)[0-9]{2}")
_NUMBER_TO_COME: Final = re.compile(r"(?:[,:;(/–-]|\b(?:pp?|vol|no|nr|art|suppl|volume|article|s)\.?)$", re.IGNORECASE)
_ENDS_SENTENCE: Final = re.compile(r"(?<!et al)[.,;:)]$")
_SPACED_HEAD: Final = re.compile(r"\s*+[^\W\d_][^0-9]{2,80} {8}[0-9]{1,4}")
"""A page header with its page number at the other margin."""
_ROMAN: Final = re.compile(r"[ivxlc]{1,8}")
_CERTAIN: Final = re.compile(
    r"\(?page [0-9]{1,4}(?: ?(?:of|/) ?[0-9]{1,4})?\)?"
    r"|[–—-] ?[0-9]{1,4} ?[–—-]"
    r"|\(?[0-9]{1,4} ?(?:/|of) ?[0-9]{1,4}\)?"
    r"|(?:[\w-]{2,12} ){0,4}author manuscripts?(?: author manuscripts?){0,4}"
    r"|[^;]{0,100}author manuscript; available in pmc [^;]{4,40}"
    r"|[^/|]{2,60} et al\.? ?/ ?[^/|]{2,80} [0-9]{1,4} \([0-9]{4}\) [^/|]{1,20}"
    r"|hhs public access|journal pre-proofs?|for peer review(?: only)?|just accepted|article in press"
    r"|(?:un)?corrected proof|accepted (?:article|manuscript)"
    r"|downloaded from [^|]{1,120} by [^|]{1,80} on [^|]{4,40}"
    r"|(?:bio|med)rxiv preprint [^|]{0,230}|\(?which was not certified by peer review[^|]{0,200}"
    r"|(?:this article is )?protected by copyright[^|]{0,80}|\(?(?:page number )?not for citation purposes\)?"
    r"|©[^|]{0,200}|copyright (?:©|\(c\))[^|]{0,200}"
    r"|(?:[0-9]{1,4} )?www\.[^\s|]{4,60} vol\.? [0-9]{1,4} [^|]{4,60}"
    r"|[^|]{2,60}\|[^|]{4,140} [0-9]{1,4} ?/ ?[0-9]{1,4}"
    r"|[^|]{2,60}\|[^|]{4,80}\| ?volume [0-9]{1,4}(?: ?\|[^|]{1,60}){1,3}",
    re.IGNORECASE,
)
"""Lines that references never have."""
_NAME: Final = rf"{PARTICLE}{{0,2}}(?-i:{CAPITAL})[\w.’'-]{{0,30}}"
_NAMES: Final = rf"{_NAME}(?: {_NAME}){{0,3}}"
_PAGE: Final = r"(?!(?:1[89]|20)[0-9]{2}\b)[0-9]{1,4}"
_POSSIBLE: Final = re.compile(
    rf"(?:{_PAGE} )?{_NAMES},? et al\.?(?: ?[/|•·:][^/|]{{2,120}})?(?: {_PAGE})?"
    rf"|{_PAGE} {_NAMES} (?:and|&) {_NAMES}|{_NAMES} (?:and|&) {_NAMES} {_PAGE}"
    r"|(?:https?://|www\.)[^\s]{4,80} [0-9]{1,4}|[0-9]{1,4} (?:https?://|www\.)[^\s]{4,80}"
    r"|references(?: [0-9]{1,4})?|[0-9]{1,4} references|downloaded from .{3,200}",
    re.IGNORECASE,
)
"""Lines that are page headers at the end of a page, and rarely lines of a reference elsewhere."""
_WORDS: Final = re.compile(
    r"(?:[0-9]{1,4} )?[^\W\d_][^0-9;:()\[\]“”\"]{2,80}(?<![.,])(?:(?:19|20)[0-9]{2}[;,]? ?)?(?:[0-9]{1,4})?"
)
"""A name or a title, with a year or a page number."""


def _read_page_number(word: str) -> int:
    """Return the value of a page number, or 0 if a word is not one."""
    if _LONE.fullmatch(word):
        return int(word)
    return read_roman(word) if _ROMAN.fullmatch(word) else 0


def _mask_page_numbers(text: str) -> tuple[str | None, ...]:
    """Return the words of a line, with None in place of a page number at its beginning or end."""
    words = text.split(" ")
    ends = {0, len(words) - 1}
    return tuple(None if n in ends and _read_page_number(word) else word for n, word in enumerate(words))


def remove_page_lines(lines: Sequence[TextLine]) -> tuple[list[TextLine], list[TextLine]]:
    """Return the lines of the list without empty lines, and the removed page headers and footers.

    If the number of a reference is alone on a line, it is joined to the next line.
    """
    pages = _Pages(lines)
    added = pages.find()
    groups: list[tuple[TextLine, int, bool]] = []
    blanks, after_page, mark = 0, False, ""
    for n, line in enumerate(lines):
        after_page = after_page or line.after_page or n in added
        if not line.text:
            blanks += 1
        elif n in pages.marks:
            mark = f"{line.text.strip()} "
        elif n not in added:
            groups.append((replace(line, text=mark + line.text) if mark else line, blanks, after_page))
            blanks, after_page, mark = 0, False, ""
    # Empty lines can surround page headers. Only additional empty lines separate references.
    usual = min((blanks for _, blanks, after_page in groups if after_page), default=0)
    remaining = [
        replace(line, after_page=after_page, after_blank=blanks > (usual if after_page else 0))
        for line, blanks, after_page in groups
    ]
    return remaining, [lines[n] for n in sorted(added)]


class _Pages:
    """The search for page headers, page footers and page numbers."""

    def __init__(self, lines: Sequence[TextLine]) -> None:
        self.places = [n for n, line in enumerate(lines) if line.text]
        self.texts = [" ".join(lines[n].text.split()) for n in self.places]
        self.begins_page = [lines[n].after_page for n in self.places] + [False]
        self.added = [
            len(text) <= MAX_PAGE_LINE
            and (_CERTAIN.fullmatch(text) is not None or _SPACED_HEAD.fullmatch(lines[n].text) is not None)
            for n, text in zip(self.places, self.texts, strict=True)
        ]
        self.numbers = [n for n, text in enumerate(self.texts) if _LONE.fullmatch(text)]
        self.offset = [0]
        for text in self.texts:
            self.offset.append(self.offset[-1] + len(text))
        self.marks: set[int] = set()
        """The places of numbers of references that are alone on their lines."""
        if self._has_reference_numbers():
            self.marks = {self.places[n] for n in self.numbers}
            self.numbers = []
        lengths = sorted(map(len, self.texts))
        self.width = min(lengths[len(lengths) * 3 // 4], WIDEST) if lengths else 0
        # The third quartile: a few page headers and addresses are longer than the text width.
        marked = sum(MARK.match(text) is not None for text in self.texts)
        self.are_marked = marked >= MARKED * len(self.texts)
        self.above: list[str] = []
        self.below: list[str] = []

    def find(self) -> set[int]:
        """Return the places of the lines to remove."""
        for _ in range(2):  # one line of a page header can show that the next line is also at the end of a page
            self._look_around()
            self._add_page_numbers()
            self._add_repeated_lines()
            self._look_around()
            for n, text in enumerate(self.texts):
                if len(text) <= MAX_HEAD and not MARK.match(text) and self._is_head(n):
                    self.added[n] = True
        return {self.places[n] for n, added in enumerate(self.added) if added}

    def _look_around(self) -> None:
        """Find for each line the nearest lines of the list above and below it."""
        skipped = {n for n, added in enumerate(self.added) if added}.union(self.numbers)
        size = len(self.texts)
        self.above, self.below = [""] * size, [""] * size
        for n in range(1, size):
            self.above[n] = self.above[n - 1] if n - 1 in skipped else self.texts[n - 1]
        for n in range(size - 2, -1, -1):
            self.below[n] = self.below[n + 1] if n + 1 in skipped else self.texts[n + 1]

    def _has_reference_numbers(self) -> bool:
        """Return whether numbers alone on their lines are numbers of references, each followed by a short text."""
        pairs = list(pairwise(self.numbers))
        return (
            bool(pairs)
            and self.numbers[0] == 0
            and all(int(self.texts[m]) == int(self.texts[n]) + 1 for n, m in pairs)
            and all(m - n > 1 and self.offset[m] - self.offset[n] <= MAX_ENTRY for n, m in pairs)
        )

    def _add_page_numbers(self) -> None:
        """Add page numbers, except a year or page number that can be the last line of a reference."""
        counting = {
            one
            for n, m in pairwise(self.numbers)
            if 0 < int(self.texts[m]) - int(self.texts[n]) <= MAX_PAGES and self.offset[m] - self.offset[n] >= MIN_PAGE
            for one in (n, m)
        }
        for n in self.numbers:
            text, above, below = self.texts[n], self.above[n], self.below[n]
            expected = _YEAR.fullmatch(text) is not None or _NUMBER_TO_COME.search(above) is not None
            begins = not below or self._begins(n)
            wrapped = FILLED * self.width < len(above) + 1 + len(text) <= WIDEST
            if not (expected and wrapped and begins) or n in counting or self._ends_page(n):
                self.added[n] = True

    def _add_repeated_lines(self) -> None:
        """Add page headers: lines that are repeated at the ends of pages. Their page numbers may differ."""
        groups: dict[tuple[str | None, ...], list[int]] = defaultdict(list)
        for n, text in enumerate(self.texts):
            if len(text) <= MAX_HEAD and not (self.added[n] or MARK.match(text) or _LONE.fullmatch(text)):
                groups[_mask_page_numbers(text)].append(n)
        heads = [found for found in groups.values() if len(found) > 1 and self._are_heads(found)]
        for n in (n for found in heads for n in found):
            self.added[n] = True
        if heads:
            self._add_other_heads(max(heads, key=len))

    def _add_other_heads(self, found: Sequence[int]) -> None:
        """Add the headers of the other pages: other words, with the page number that their distance requires."""
        numbers = [self._find_page_number(n) for n in found]
        pages = numbers[-1] - numbers[0]
        if not pages:
            return
        length = (found[-1] - found[0]) / pages
        for n, text in enumerate(self.texts):
            if self.added[n] or len(text) > MAX_HEAD or _WORDS.fullmatch(text) is None or _LONE.fullmatch(text):
                continue
            number = self._find_page_number(n)
            distance = abs(n - found[0] - (number - numbers[0]) * length)
            if number and number not in numbers and distance <= (UNEVEN - 1) * length and not ID.search(text):
                self.added[n] = True

    def _is_head(self, n: int) -> bool:
        """Return whether a line that is not repeated is a page header, judged by its form and the lines around it."""
        text, above, below = self.texts[n], self.above[n], self.below[n]
        possible, ends_page = _POSSIBLE.fullmatch(text) is not None, self._ends_page(n)
        if possible and ends_page:
            return True
        if not (above and below) or self._is_full_line(n):
            return False
        if self._is_interruption(n):
            return possible or (ends_page and _WORDS.fullmatch(text) is not None and not is_continuation(text))
        between = REFERENCE_END.search(above) is not None and may_begin(below)
        named = possible and (None in _mask_page_numbers(text) or text.endswith("et al."))
        cites = any(sign.search(text) for sign in (_ENDS_SENTENCE, YEAR, ID))  # as references do
        plain = _WORDS.fullmatch(text) is not None and not cites
        return between and (named or (ends_page and plain))

    def _is_full_line(self, n: int) -> bool:
        """Return whether a line is so long that the text can continue in the next line."""
        return len(self.texts[n]) + 1 + len(self.below[n].split(" ", 1)[0]) > FILLED * self.width

    def _find_page_number(self, n: int) -> int:
        """Return the number at the beginning or end of a line, or 0 without one."""
        words = self.texts[n].split(" ")
        return _read_page_number(words[0]) or _read_page_number(words[-1])

    def _page_steps(self, n: int, m: int) -> list[int]:
        """Return the differences of the page numbers of two lines that are equal but for these."""
        words = zip(self.texts[n].split(" "), self.texts[m].split(" "), strict=True)
        return [_read_page_number(later) - _read_page_number(first) for first, later in words if first != later]

    def _is_page_step(self, n: int, m: int) -> bool:
        """Return whether two lines differ only in a page number."""
        steps = self._page_steps(n, m)
        return len(steps) < 2 and all(0 < step <= MAX_PAGES for step in steps)

    def _are_heads(self, found: Sequence[int]) -> bool:
        """Return whether repeated lines are page headers, and not references or parts of references.

        All are next to a form feed or a removed line; or they are at least a page apart, three or more at regular
        distances. Then one is in the middle of a reference, or three have page numbers, or all are between references.
        """
        text = self.texts[found[0]]
        if not all(self._is_page_step(n, m) for n, m in pairwise(found)):
            return False
        if all(map(self._ends_page, found)):
            return True
        if not self._are_pages_apart(found) or _ENDS_SENTENCE.search(text) or ID.search(text):
            return False
        are_numbered = len({self.texts[n] for n in found}) == len(found)
        if len(found) == 2:
            return are_numbered and self._are_two_heads(found)
        others = min(len({self.above[n] for n in found}), len({self.below[n] for n in found}))
        if others == len(found) and any(self._is_interruption(n) and not self._is_full_line(n) for n in found):
            return True
        return are_numbered or (self.are_marked and all(map(self._separates, found)))

    def _are_two_heads(self, found: Sequence[int]) -> bool:
        """Return whether two lines that differ in a number are page headers, and not the last lines of references."""
        text = self.texts[found[0]]
        words = " ".join(word for word in _mask_page_numbers(text) if word)
        if is_continuation(words) or any(_YEAR.fullmatch(str(self._find_page_number(n))) for n in found):
            return False
        if _POSSIBLE.fullmatch(text) or any(map(self._divides, found)):
            return True
        return all(map(self._separates, found))

    def _are_pages_apart(self, found: Sequence[int]) -> bool:
        """Return whether a page or more is between repeated lines, and all pages have nearly the same length."""
        lengths: list[float] = []
        for n, m in pairwise(found):
            pages = max(sum(self._page_steps(n, m)), 1)
            lengths.append((m - n) / pages)
            if lengths[-1] < MIN_LINES and (self.offset[m] - self.offset[n]) / pages < MIN_PAGE:
                return False
        return max(lengths) <= UNEVEN * min(lengths)

    def _divides(self, n: int) -> bool:
        """Return whether a short line is between two lines of a wrapped reference, of which the first one is full."""
        above, below = self.above[n], self.below[n]
        if not (above and below) or self._begins(n):
            return False
        next_word = len(below.split(" ", 1)[0])
        return len(self.texts[n]) + 1 + next_word <= self.width and FILLED * self.width < len(above) + 1 + next_word

    def _separates(self, n: int) -> bool:
        """Return whether a line is between two references."""
        return REFERENCE_END.search(self.above[n]) is not None and self._begins(n)

    def _begins(self, n: int) -> bool:
        """Return whether a reference can begin below a line."""
        return (MARK.match(self.below[n]) is not None) if self.are_marked else may_begin(self.below[n])

    def _ends_page(self, n: int) -> bool:
        """Return whether a line is next to a form feed or a removed line."""
        near_removed = (n > 0 and self.added[n - 1]) or (n + 1 < len(self.added) and self.added[n + 1])
        return near_removed or self.begins_page[n] or self.begins_page[n + 1]

    def _is_interruption(self, n: int) -> bool:
        """Return whether a line is in the middle of a sentence."""
        above, below = self.above[n], self.below[n]
        if not (above and below):
            return False
        number = _NUMBER_TO_COME.search(above) is not None and below[0].isdigit()
        return number or (REFERENCE_END.search(above) is None and is_continuation(below))
