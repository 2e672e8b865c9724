"""Find out how a pasted list is laid out: its marks, indents, empty lines, and whether its lines are wrapped."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from entrez_kit.references.check.pasted.line_signs import (
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
    classify_mark,
    ends_reference,
    is_dated,
    is_possible_start,
    is_year,
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
MIN_MARKED: Final = 0.6
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
        kind, count = classify_mark(mark)
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
        return REPEATED_AUTHORS.match(self.text) is not None or is_possible_start(self.text)

    @property
    def can_begin(self) -> bool:
        """Whether an author, or a word that may begin a reference, is at the beginning."""
        return self.begins or self.may_be_first

    @property
    def may_be_reference(self) -> bool:
        """Whether a word or a number that may begin a reference is at the beginning."""
        return self.can_begin or NUMBER_FIRST.match(self.text) is not None


@dataclass(frozen=True, slots=True)
class ListLayout:
    """The layout of a list, recognized from its lines.

    Attributes:
        lines: the lines. ``read_layout`` corrects the mark of each, and whether it is full or below an empty line.
        wrapped: whether many lines are full.
        one_per_line: whether each line is a reference.
        in_blocks: whether empty lines separate some references.
        is_block_each: whether empty lines separate all references.
        loose: whether some references begin without a mark or an empty line.
        kind: the kind of marks that the list has, or an empty string.
        is_counted: whether numbers mark the references.
        next_count: for each line the number in the next mark; None without one.
        least: the smallest indent.
        mark_indent: the largest indent of a mark.
        hanging: whether all lines of a reference except the first one are indented.
        first_indented: whether only the first line of a reference is indented.
        has_pages_below: whether many references have an address on a separate line.
        is_uncertain: whether the lines are wrapped, and only their words and lengths show where references begin.
        is_greedy: whether each line has as many words as fit. Then a shorter line ends a reference.
    """

    lines: Sequence[ListLine]
    wrapped: bool
    one_per_line: bool
    in_blocks: bool
    is_block_each: bool
    loose: bool
    kind: str
    is_counted: bool
    next_count: Sequence[int | None]
    least: int
    mark_indent: int
    hanging: bool
    first_indented: bool
    has_pages_below: bool
    is_uncertain: bool
    is_greedy: bool


class _Spacing(NamedTuple):
    """What the lengths of the lines and the empty lines show, before the marks are known."""

    wrapped: bool
    one_per_line: bool
    in_blocks: bool
    is_block_each: bool


def read_layout(lines: Sequence[ListLine]) -> ListLayout:
    """Return the layout of a list, and correct its lines: marks, whether they are full and below an empty line."""
    width = max((line.indent + len(line.text) for line in lines if " " in line.text), default=0)
    spacing = _find_spacing(lines, width)
    kind = _find_marks(lines)
    return _find_signs(lines, width, spacing, kind)


def _find_spacing(lines: Sequence[ListLine], width: int) -> _Spacing:
    """Find the full lines and the empty lines. Forget the empty lines of a list with double spacing."""
    if MIN_WIDTH <= width <= MAX_WIDTH and not _has_references_as_lines(lines):
        _set_full(lines, _find_full_lines(lines, NEARLY_FULL * width))
    wrapped = sum(line.full for line in lines) > WRAPPED * max(len(lines) - 1, 1)
    if wrapped and _is_double_spaced(lines):
        for line in lines:
            line.after_blank = False
    return _Spacing(
        wrapped,
        one_per_line=not wrapped and _has_dates(lines),
        in_blocks=any(line.after_blank for line in lines[1:]),
        is_block_each=_is_block_each(lines),
    )


def _find_marks(lines: Sequence[ListLine]) -> str:
    """Return the kind of marks that the list has, or an empty string. Read other marks as text."""
    kind = _find_kind(lines)
    if not kind and (numbers := _find_bare_numbers(lines)):
        kind = BARE_NUMBER_KIND
        for line, number in numbers:
            line.set_mark(BARE_NUMBER_KIND, int(number["n"]), number.end())
    _remove_other_marks(lines, kind)
    return kind


def _find_signs(lines: Sequence[ListLine], width: int, spacing: _Spacing, kind: str) -> ListLayout:
    """Return the layout: the signs with which references begin. Without a sign, the text width shows their ends."""
    least = _find_least_indent(lines)
    hanging, first_indented = _find_indents(lines, kind, least)
    is_uncertain = spacing.wrapped and not (kind or spacing.in_blocks or hanging or first_indented)
    full = _find_full_lines(lines, width, breaks=("-", "/"))
    is_greedy = is_uncertain and _has_starts_after_room(lines, full)
    layout = ListLayout(
        **spacing._asdict(),
        lines=lines,
        loose=_is_loose(lines, kind, in_blocks=spacing.in_blocks),
        kind=kind,
        is_counted=any(line.count for line in lines),
        next_count=_find_next_counts(lines),
        least=least,
        mark_indent=max((line.indent for line in lines if line.kind and not line.full), default=0),
        hanging=hanging,
        first_indented=first_indented,
        has_pages_below=_has_pages_below(lines),
        is_uncertain=is_uncertain,
        is_greedy=is_greedy,
    )
    if is_greedy:
        _set_full(lines, full)
    return layout


def _find_least_indent(lines: Sequence[ListLine]) -> int:
    return min((line.indent for line in lines), default=0)


def _find_next_counts(lines: Sequence[ListLine]) -> list[int | None]:
    """Return for each line, and for the end of the list, the number in the mark of this line or the next marked one."""
    next_count: list[int | None] = [None] * (len(lines) + 1)
    for n in range(len(lines) - 1, -1, -1):
        next_count[n] = lines[n].count if lines[n].kind else next_count[n + 1]
    return next_count


def _has_pages_below(lines: Sequence[ListLine]) -> bool:
    """Return whether many references have the address of a web page on a separate line."""
    pages = sum(WEB_PAGE.match(line.text) is not None for line in lines[1:])
    return pages > MAX_PAGES * sum(line.may_be_first for line in lines)


def _find_full_lines(lines: Sequence[ListLine], width: float, breaks: tuple[str, ...] = ()) -> list[bool]:
    """Return for each line whether the line above has no room for its first word, or ends at one of the breaks."""
    full = [
        above.text.endswith(breaks) or above.indent + len(above.text) + 1 + len(line.first_word) > width
        for above, line in pairwise(lines)
    ]
    return [False, *full] if lines else []


def _set_full(lines: Sequence[ListLine], full: Sequence[bool]) -> None:
    for line, is_full in zip(lines, full, strict=True):
        line.full = is_full


def _has_references_as_lines(lines: Sequence[ListLine]) -> bool:
    """Return whether most lines are whole references, so that none of them is wrapped."""
    texts = [line for line in lines if not CONTINUATION_START.match(line.text)]
    return sum(line.dated and line.may_be_reference for line in texts) >= EACH_LINE * len(texts)


def _has_dates(lines: Sequence[ListLine]) -> bool:
    """Return whether most lines have a date, or an author at their beginning."""
    most = max(sum(line.dated for line in lines), sum(line.begins for line in lines))
    return most >= ONE_PER_LINE * len(lines)


def _is_double_spaced(lines: Sequence[ListLine]) -> bool:
    """Return whether empty lines separate wrapped lines and not references."""
    below, breaks, least = lines[1:], len(lines) - 1, _find_least_indent(lines)
    odd = sum(line.after_blank and not line.kind and (not line.may_be_first or line.indent > least) for line in below)
    blank = sum(line.after_blank for line in below)
    return breaks > 2 and blank >= DOUBLE_SPACED * breaks and odd > 0.1 * breaks


def _is_block_each(lines: Sequence[ListLine]) -> bool:
    """Return whether empty lines separate all references: most blocks of several lines have one date."""
    blocks: list[list[ListLine]] = []
    for line in lines:
        if line.after_blank or not blocks:
            blocks.append([])
        blocks[-1].append(line)
    several = [
        sum(line.dated and not (line.begins and NAMES_AND_YEAR.fullmatch(line.body)) for line in block)
        for block in blocks
        if len(block) > 1
    ]
    return len(several) >= MIN_BLOCKS and sum(dated < 2 for dated in several) >= ONE_DATE * len(several)


def _has_starts_after_room(lines: Sequence[ListLine], full: Sequence[bool]) -> bool:
    """Return whether almost all lines that fit in the line above may begin a reference."""
    below = [line.may_be_first for line, is_full in zip(lines[1:], full[1:], strict=True) if not is_full]
    return sum(below) >= GREEDY * max(len(below), 1)


def _find_kind(lines: Sequence[ListLine]) -> str:
    """Return the kind of marks that the list has, or an empty string."""
    places: dict[str, list[int]] = {}
    for n, line in enumerate(lines):
        if line.kind and not (line.count and is_year(line.count)):
            places.setdefault(line.kind, []).append(n)
    good = {kind: found for kind, found in places.items() if _is_kind(lines, kind, found)}
    return max(good, key=lambda kind: len(good[kind]), default="")


def _is_kind(lines: Sequence[ListLine], kind: str, places: Sequence[int]) -> bool:
    """Return whether references begin at the marks, and the marks are not numbers that begin a wrapped line."""
    first = lines[places[0]]
    if places[0] == 0 and (kind not in UNCOUNTED or len(places) > 1):
        return True
    # A dash can also separate the fields of a reference that begins above.
    if kind in UNCOUNTED and not (first.after_blank or first.after_note):
        return False
    heads = sum(_may_begin(lines, n, lines[n].body) for n in places)
    return len(places) > 1 and heads >= MIN_MARKED * len(places) and _may_count(lines, places)


def _may_count(lines: Sequence[ListLine], places: Sequence[int]) -> bool:
    """Return whether numbers count references: most are larger than the one above, or most references have one.

    "7. Aufl." at the beginning of a line is an edition.
    """
    counts = [count for n in places if (count := lines[n].count) is not None]
    steps = sum(after > count for count, after in pairwise(counts))
    first = sum(line.begins for line in lines)
    return not counts or steps >= MIN_MARKED * (len(counts) - 1) or len(places) >= MIN_MARKED * first


def _may_begin(lines: Sequence[ListLine], n: int, body: str) -> bool:
    after_end = n == 0 or lines[n].after_blank or ends_reference(lines[n - 1].text)
    return after_end and LETTER_FIRST.match(body) is not None and not LATIN_SMALL.match(body)


def _find_bare_numbers(lines: Sequence[ListLine]) -> list[tuple[ListLine, re.Match[str]]]:
    """Return the lines that begin with a number without punctuation, if these numbers count the references."""
    marked: list[tuple[ListLine, re.Match[str]]] = []
    for n, line in enumerate(lines):
        match = BARE_NUMBER.match(line.text)
        if match is None or (n > 0 and not marked):
            continue
        count, last = int(match["n"]), int(marked[-1][1]["n"]) if marked else 0
        has_room = not line.full or line.indent < lines[n - 1].indent
        is_next = not marked or (count == last + 1 and has_room)
        if is_next or (last < count <= last + 3 and _may_begin(lines, n, line.text[match.end() :])):
            marked.append((line, match))
    return marked if len(marked) > 1 else []


def _remove_other_marks(lines: Sequence[ListLine], kind: str) -> None:
    """Read marks of another kind, and years, as text. Ignore numbers that are all the same."""
    last = 0
    for line in lines:
        if line.kind != kind or (line.count and is_year(line.count) and line.count != last + 1):
            line.remove_mark()
        last = line.count or last
    marked = [line.count for line in lines if line.count is not None]
    if len(marked) >= MIN_BLOCKS and len(set(marked)) == 1:  # Markdown numbers such a list when it is shown
        for line in lines:
            line.count = None


def _find_indents(lines: Sequence[ListLine], kind: str, least: int) -> tuple[bool, bool]:
    """Return whether the continuation lines are indented, and whether the first lines are; both can be false."""
    unmarked = [line for line in lines[1:] if not line.kind]
    flush = [line for line in unmarked if line.indent == least]
    deeper = [line for line in unmarked if line.indent > least]
    if not deeper:
        return False, False
    goes_on = sum(LATIN_SMALL.match(line.text) is not None for line in flush)
    if goes_on <= 0.2 * len(flush) and _measure_share(flush) >= _measure_share(deeper):
        return True, False
    goes_on_deeper = sum(LATIN_SMALL.match(line.text) is not None for line in deeper)
    return False, not kind and goes_on_deeper <= 0.2 * len(deeper) and _measure_share(deeper) > _measure_share(flush)


def _is_loose(lines: Sequence[ListLine], kind: str, *, in_blocks: bool) -> bool:
    """Return whether some references begin without a mark or an empty line, so that others can too."""
    if kind or not in_blocks:
        return not kind
    inside = [(above, line) for above, line in pairwise(lines) if not (line.after_blank or line.after_page)]
    may = sum(not line.full and bool(REFERENCE_END.search(above.text)) and line.may_be_first for above, line in inside)
    return may > LOOSE * (len(lines) - len(inside))


def _measure_share(lines: Sequence[ListLine]) -> float:
    """Return the share of lines that may begin a reference. A line with the words that do not fit above does not."""
    return sum(line.begins and not line.full for line in lines) / len(lines) if lines else 1.0
