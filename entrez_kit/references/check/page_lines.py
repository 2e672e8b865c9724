"""Recognize the lines that a page adds to a pasted list: running heads, page numbers, download notes, line numbers.

A running head can look like a reference, and a lone number can be the number of the next reference. A line is left out
only if no reference has such a line, or if it is at the end of a page: beside a form feed, beside another line that the
page adds, or in the middle of a sentence.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from entrez_kit.references.check.guessing import YEAR
from entrez_kit.references.check.line_signs import ENDS, GOES_ON, ID, LATIN_SMALL, LETTER_FIRST, MARK

LONGEST: Final = 250
"""Characters of a line that a page adds."""
LONGEST_HEAD: Final = 100
"""Characters of a running head that only its repetition shows."""
SHORTEST_PAGE: Final = 800
"""Characters between two running heads."""
MOST_PAGES: Final = 10
"""Pages from one running head to the next."""
LONGEST_ENTRY: Final = 1_000
"""Characters between two lone numbers that count references; between page numbers are more."""
MOST_NUMBERED: Final = 0.8
"""Share of lines with the next number, from which on numbers count the lines."""
INSIDE: Final = 0.15
"""Share of numbered lines that cannot begin a reference, from which on the numbers do not count references."""
MARKED: Final = 0.1
"""Share of lines with a mark, from which on each reference has one."""
FILLED: Final = 0.7
"""Share of the width of the text, from which on a line and the next word may fill a line."""
WIDEST: Final = 160
"""Characters of a line of wrapped text."""
STEP: Final = 5
"""Lines from one line number to the next, if not every line has one."""

_LINE_END: Final = re.compile(r"\r\n|[\n\r\x0b\x1c-\x1e\x85\u2028\u2029]")
_LINE_NUMBER: Final = re.compile(r" {0,40}([0-9]{1,4})(?: {1,40}(?=\S)|$)")
_LONE: Final = re.compile(r"[0-9]{1,4}")
_YEAR: Final = re.compile(r"(?:1[89]|20)[0-9]{2}")
_NUMBER_TO_COME: Final = re.compile(r"(?:[,:;(/–-]|\b(?:pp?|vol|no|nr|art|suppl|volume|article|s)\.?)$", re.IGNORECASE)
_ENDS_SENTENCE: Final = re.compile(r"(?<!et al)[.,;:)]$")
_PAGE_NUMBER: Final = re.compile(r"\A[0-9]{1,4}(?= )|(?<= )[0-9]{1,4}\Z")
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
"""Lines that no reference has."""
_NAMES: Final = r"[^\W\d_][\w.’'-]{0,30}(?: [^\W\d_][\w.’'-]{0,30}){0,3}"
_POSSIBLE: Final = re.compile(
    rf"(?:[0-9]{{1,4}} )?{_NAMES},? et al\.?(?: ?[/|•·:][^/|]{{2,120}})?(?: [0-9]{{1,4}})?"
    rf"|[0-9]{{1,4}} {_NAMES} (?:and|&) {_NAMES}|{_NAMES} (?:and|&) {_NAMES} [0-9]{{1,4}}"
    r"|(?:https?://|www\.)[^\s]{4,80} [0-9]{1,4}|[0-9]{1,4} (?:https?://|www\.)[^\s]{4,80}"
    r"|references(?: [0-9]{1,4})?|[0-9]{1,4} references|downloaded from .{3,200}",
    re.IGNORECASE,
)
"""Lines of which only the end of a page shows that no reference has them."""
_WORDS: Final = re.compile(
    r"(?:[0-9]{1,4} )?[^\W\d_][^0-9;:()\[\]“”\"]{2,80}(?<![.,])(?:(?:19|20)[0-9]{2}[;,]? ?)?(?:[0-9]{1,4})?"
)
"""A name or a title, with a year or a page number."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of a text, without a form feed.

    ``after_page`` tells that a page ends before this line, ``after_blank`` that an empty line separates it from the
    line above.
    """

    number: int
    text: str
    after_page: bool = False
    after_blank: bool = False


def read_lines(text: str) -> list[TextLine]:
    """Return the lines of a text. A form feed ends a page and, as in an editor, no line."""
    lines: list[TextLine] = []
    after_page = False
    for number, raw in enumerate(_LINE_END.split(text), start=1):
        parts = raw.split("\f")
        for place, part in enumerate(parts):
            after_page = after_page or place > 0
            shown = part.removeprefix("\ufeff").expandtabs(8).rstrip()
            if shown or len(parts) == 1:
                lines.append(TextLine(number, shown, after_page and bool(shown)))
                after_page = after_page and not shown
    return lines


def without_line_numbers(lines: Sequence[TextLine]) -> tuple[list[TextLine], int]:
    """Remove the numbers that count the lines of a manuscript, each or every fifth, and return how many they are."""
    found = [(n, match) for n, line in enumerate(lines) if line.text and (match := _LINE_NUMBER.match(line.text))]
    numbers = _each_line(lines, found) or _each_fifth_line(lines, found)
    indents = {_indent(line.text) for n, line in enumerate(lines) if line.text and n not in numbers}
    in_margin = bool(indents) and all(match.end(1) <= min(indents) for match in numbers.values())
    gaps = {match.end() - match.end(1) for match in numbers.values()}
    # The rest of a gap is the indent of the text, which other lines have, too.
    gap = next(
        (one for one in range(1, min(gaps, default=1)) if {wide - one for wide in gaps} <= indents),
        min(gaps, default=1),
    )
    plain = list(lines)
    for n, match in numbers.items():
        indent = match.end() if in_margin else match.end() - match.end(1) - gap
        body = lines[n].text[match.end() :]
        plain[n] = replace(lines[n], text=body and " " * indent + body)
    return plain, len(numbers)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _each_line(lines: Sequence[TextLine], found: Sequence[tuple[int, re.Match[str]]]) -> dict[int, re.Match[str]]:
    """Return the numbers that count every line: each is one more than the one above, or begins a page with 1."""
    total = sum(bool(line.text) for line in lines)
    if total < STEP or len(found) < MOST_NUMBERED * total:
        return {}
    chain = dict(found[:1])
    for (n, above), (m, match) in pairwise(found):
        if 0 < int(match[1]) - int(above[1]) <= m - n or match[1] == "1":
            chain[m] = match
    bodies = [lines[n].text[match.end() :] for n, match in chain.items()]
    inside = sum(bool(body) and not _may_begin(body) for body in bodies)
    marked = sum(MARK.match(body) is not None for body in bodies)
    counts_lines = inside >= INSIDE * len(bodies) or marked >= MOST_NUMBERED * len(bodies)
    return chain if counts_lines and len(chain) >= MOST_NUMBERED * total else {}


def _each_fifth_line(lines: Sequence[TextLine], found: Sequence[tuple[int, re.Match[str]]]) -> dict[int, re.Match[str]]:
    """Return the numbers 5, 10, 15 that are five lines apart."""
    fifth = [(n, match) for n, match in found if int(match[1]) % STEP == 0]
    if len(fifth) < 3 or len(fifth) < MOST_NUMBERED * len(found):
        return {}
    count = {n: place for place, n in enumerate(n for n, line in enumerate(lines) if line.text)}
    chain: dict[int, re.Match[str]] = {}
    for (n, above), (m, match) in pairwise(fifth):
        if int(match[1]) - int(above[1]) in (m - n, count[m] - count[n]):
            chain |= {n: above, m: match}
    return chain if len(chain) >= 3 else {}


def _may_begin(text: str) -> bool:
    """Tell whether a reference can begin with a line."""
    mark = MARK.match(text)
    body = text[mark.end() :] if mark else text
    return LETTER_FIRST.match(body) is not None and not _goes_on(body)


def _goes_on(text: str) -> bool:
    """Tell whether a line can only be in the middle of a reference."""
    return LATIN_SMALL.match(text) is not None or GOES_ON.match(text) is not None


def without_page_lines(lines: Sequence[TextLine]) -> tuple[list[TextLine], list[TextLine]]:
    """Divide lines into those of the list, without the empty ones, and those that its pages add.

    A lone number that counts the references is put in front of the line behind it.
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
    # Pages may have empty lines around their heads. Only more of them than elsewhere separate references.
    usual = min((blanks for _, blanks, after_page in groups if after_page), default=0)
    kept = [
        replace(line, after_page=after_page, after_blank=blanks > (usual if after_page else 0))
        for line, blanks, after_page in groups
    ]
    return kept, [lines[n] for n in sorted(added)]


class _Pages:
    """The search for the lines that pages add."""

    def __init__(self, lines: Sequence[TextLine]) -> None:
        self.places = [n for n, line in enumerate(lines) if line.text]
        self.texts = [" ".join(lines[n].text.split()) for n in self.places]
        self.begins_page = [lines[n].after_page for n in self.places] + [False]
        self.added = [len(text) <= LONGEST and _CERTAIN.fullmatch(text) is not None for text in self.texts]
        self.numbers = [n for n, text in enumerate(self.texts) if _LONE.fullmatch(text)]
        self.offset = [0]
        for text in self.texts:
            self.offset.append(self.offset[-1] + len(text))
        self.marks: set[int] = set()
        """The places of lone numbers that count the references."""
        if self._count_references():
            self.marks = {self.places[n] for n in self.numbers}
            self.numbers = []
        lengths = sorted(map(len, self.texts))
        self.width = min(lengths[len(lengths) * 3 // 4], WIDEST) if lengths else 0
        # Three quarters: a few lines of pages and addresses are longer than the text is wide.
        marked = sum(MARK.match(text) is not None for text in self.texts)
        self.are_marked = marked >= MARKED * len(self.texts)
        self.above: list[str] = []
        self.below: list[str] = []

    def find(self) -> set[int]:
        """Return the places of the lines to leave out."""
        for _ in range(2):  # of a head of two lines, one shows that the other is at the end of a page
            self._look_around()
            self._add_numbers()
            self._add_repeated()
            self._look_around()
            for n, text in enumerate(self.texts):
                if len(text) <= LONGEST_HEAD and not MARK.match(text) and self._is_head(n):
                    self.added[n] = True
        return {self.places[n] for n, added in enumerate(self.added) if added}

    def _look_around(self) -> None:
        """Note for each line the nearest lines of the list above and below it."""
        skipped = {n for n, added in enumerate(self.added) if added}.union(self.numbers)
        size = len(self.texts)
        self.above, self.below = [""] * size, [""] * size
        for n in range(1, size):
            self.above[n] = self.above[n - 1] if n - 1 in skipped else self.texts[n - 1]
        for n in range(size - 2, -1, -1):
            self.below[n] = self.below[n + 1] if n + 1 in skipped else self.texts[n + 1]

    def _count_references(self) -> bool:
        """Tell whether lone numbers count the references: each is one more, with a short text behind it."""
        pairs = list(pairwise(self.numbers))
        return (
            bool(pairs)
            and self.numbers[0] == 0
            and all(int(self.texts[m]) == int(self.texts[n]) + 1 for n, m in pairs)
            and all(m - n > 1 and self.offset[m] - self.offset[n] <= LONGEST_ENTRY for n, m in pairs)
        )

    def _add_numbers(self) -> None:
        """Add lone numbers, but not one that can be the last line of a reference: a year, or the number of a page."""
        counting = {
            one
            for n, m in pairwise(self.numbers)
            if 0 < int(self.texts[m]) - int(self.texts[n]) <= MOST_PAGES
            and self.offset[m] - self.offset[n] >= SHORTEST_PAGE
            for one in (n, m)
        }
        for n in self.numbers:
            text, above, below = self.texts[n], self.above[n], self.below[n]
            expected = _YEAR.fullmatch(text) is not None or _NUMBER_TO_COME.search(above) is not None
            begins = not below or (MARK.match(below) is not None if self.are_marked else _may_begin(below))
            wrapped = FILLED * self.width < len(above) + 1 + len(text) <= WIDEST
            if not (expected and wrapped and begins) or n in counting or self._ends_page(n):
                self.added[n] = True

    def _add_repeated(self) -> None:
        """Add running heads: lines that are repeated at the ends of pages, but for a page number."""
        groups: dict[str, list[int]] = defaultdict(list)
        for n, text in enumerate(self.texts):
            if len(text) <= LONGEST_HEAD and not (self.added[n] or MARK.match(text) or _LONE.fullmatch(text)):
                groups[_PAGE_NUMBER.sub("#", text)].append(n)
        for found in groups.values():
            alike = len(found) > 1 and all(self._count_pages(n, m) for n, m in pairwise(found))
            if alike and (all(map(self._ends_page, found)) or self._are_heads(found)):
                for n in found:
                    self.added[n] = True

    def _is_head(self, n: int) -> bool:
        """Tell whether a line that is not repeated is a running head, by its form and the lines around it."""
        text, above, below = self.texts[n], self.above[n], self.below[n]
        possible, ends_page = _POSSIBLE.fullmatch(text) is not None, self._ends_page(n)
        if possible and (ends_page or self._interrupts(n)):
            return True
        if not (above and below) or self._fills(n):
            return False
        if self._interrupts(n):
            return ends_page and _WORDS.fullmatch(text) is not None and not _goes_on(text)
        between = ENDS.search(above) is not None and _may_begin(below)
        named = possible and (_PAGE_NUMBER.search(text) is not None or text.endswith("et al."))
        plain = _WORDS.fullmatch(text) is not None and not self._may_cite(text)
        return between and (named or (ends_page and plain))

    def _fills(self, n: int) -> bool:
        """Tell whether a line is so long that the text can go on in the next line."""
        return len(self.texts[n]) + 1 + len(self.below[n].split(" ", 1)[0]) > FILLED * self.width

    def _may_cite(self, text: str) -> bool:
        """Tell whether a line can be a reference or the end of one: it has a full stop, a year or an identifier."""
        return _ENDS_SENTENCE.search(text) is not None or YEAR.search(text) is not None or ID.search(text) is not None

    def _count_pages(self, n: int, m: int) -> bool:
        """Tell whether two lines differ in nothing but a page number."""
        pairs = zip(_PAGE_NUMBER.findall(self.texts[n]), _PAGE_NUMBER.findall(self.texts[m]), strict=True)
        steps = [int(later) - int(first) for first, later in pairs if first != later]
        return len(steps) < 2 and all(0 < step <= MOST_PAGES for step in steps)

    def _are_heads(self, found: Sequence[int]) -> bool:
        """Tell whether repeated lines, a page apart, are running heads and neither references nor parts of these.

        One is in the middle of a sentence, or all have page numbers, or all are between references and no reference.
        """
        if any(self.offset[m] - self.offset[n] < SHORTEST_PAGE for n, m in pairwise(found)):
            return False
        others = min(len({self.above[n] for n in found}), len({self.below[n] for n in found}))
        if others == len(found) and any(self._interrupts(n) and not self._fills(n) for n in found):
            return True
        text = self.texts[found[0]]
        if len({self.texts[n] for n in found}) == len(found):
            return _ENDS_SENTENCE.search(text) is None and ID.search(text) is None
        # In a list with marks, a line between two references belongs to neither.
        return self.are_marked and all(ENDS.search(self.above[n]) and MARK.match(self.below[n]) for n in found)

    def _ends_page(self, n: int) -> bool:
        """Tell whether a line is beside a form feed or beside a line that a page adds."""
        beside = (n > 0 and self.added[n - 1]) or (n + 1 < len(self.added) and self.added[n + 1])
        return beside or self.begins_page[n] or self.begins_page[n + 1]

    def _interrupts(self, n: int) -> bool:
        """Tell whether a line is in the middle of a sentence."""
        above, below = self.above[n], self.below[n]
        if not (above and below):
            return False
        number = _NUMBER_TO_COME.search(above) is not None and below[0].isdigit()
        return number or (ENDS.search(above) is None and _goes_on(below))
