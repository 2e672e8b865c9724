"""Find rows of a pasted list that can be a part of a reference, or several references.

The numbers of a list show which rows are right: each is one more than the number above. Rows that no number and no
empty lines separate are judged by their words.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from entrez_kit.references.check.pasted.guessing import YEAR
from entrez_kit.references.check.pasted.line_signs import (
    CONTINUATION_START,
    ENDS_WITH_PLACE,
    NAME_AND_INITIALS,
    ends_reference,
    is_dated,
)
from entrez_kit.references.check.pasted.list_layout import ListLayout, ListLine

MIN_MARKS: Final = 3
"""Minimum number of marks that show that each reference has one."""
MOSTLY: Final = 0.8
"""Minimum share of rows that have a date, or of numbers that are one more than the number above."""
IN_ORDER: Final = 0.5
"""Minimum share of numbers that are one more than the number above, if all are in order."""
MARKED: Final = 0.5
"""Minimum share of rows with a mark if each reference has one."""
MAX_CHARACTERS: Final = 600
"""Characters that a single reference rarely has."""
MAX_YEARS: Final = 5
"""Years that a single reference rarely has."""

MAX_SEARCHED: Final = 5_000
"""Characters of a row that are searched for the end of a reference."""
_END: Final = re.compile(
    r"(?<![\s(]1[89][0-9]{2})(?<![\s(]20[0-9]{2})(?:(?<=[0-9])|(?<=[0-9]\)))[.;] (?:and |see also )?(?=[^\W\d_a-z])"
)

Row = Sequence[ListLine]


def find_uncertain_rows(rows: Sequence[Row], layout: ListLayout) -> list[int]:
    """Return the places of the rows that can be a part of a reference, or several references."""
    certain, uncertain = _judge_by_marks(rows)
    uncertain.update(_contradict_signs(rows, layout) - certain)
    dated = [any(line.dated for line in row) for row in rows]
    mostly_dated = sum(dated) >= MOSTLY * len(rows)
    for n, row in enumerate(rows):
        apart = row[0].after_blank and (n + 1 == len(rows) or rows[n + 1][0].after_blank)
        if n not in certain and ((mostly_dated and not dated[n] and not apart) or _has_two(row)):
            uncertain.add(n)
        # "[7]" at the beginning of a line is hardly anything but a mark.
        is_empty = not row[0].body and (len(row) == 1 or row[1].kind == row[0].kind)
        if is_empty or _is_long(row) or _has_two_in_text(row) or any(line.kind.startswith("[") for line in row[1:]):
            uncertain.add(n)
    return sorted(uncertain)


def _judge_by_marks(rows: Sequence[Row]) -> tuple[set[int], set[int]]:
    """Return the rows that the numbers of a list confirm, and those that these contradict."""
    marked = [n for n, row in enumerate(rows) if row[0].kind]
    if len(marked) < max(MIN_MARKS, MARKED * len(rows)):
        return set(), set()
    counts = {n: count for n in marked if (count := rows[n][0].count) is not None}
    steps = [counts[after] - counts[n] for n, after in pairwise(counts)]
    # A list can count down, and lack some numbers.
    down = steps.count(-1) > steps.count(1)
    next_steps = sum(step == (-1 if down else 1) for step in steps)
    is_in_order = all((step < 0) == down and step for step in steps)
    if not steps or next_steps < (IN_ORDER if is_in_order else MOSTLY) * len(steps):
        return set(), set(range(len(rows))).difference(marked)
    certain: set[int] = set()
    uncertain: set[int] = set()
    for n, after in pairwise(counts):
        step = counts[n] - counts[after] if down else counts[after] - counts[n]
        found = range(n, after)
        if len(found) == step or (len(found) == 1 and step <= 0 and ends_reference(rows[n][-1].text)):
            certain.update(found)
        else:
            uncertain.update(found[1:] if len(found) > max(step, 1) else found[:1])
    if max(counts) == len(rows) - 1:
        certain.add(len(rows) - 1)
    uncertain.update(range(min(counts)), range(max(counts) + 1, len(rows)))
    return certain, uncertain


def _contradict_signs(rows: Sequence[Row], layout: ListLayout) -> set[int]:
    """Return the rows that begin without the sign with which most rows begin, and those with this sign inside.

    The signs are an empty line and an indent.
    """
    signs: list[Callable[[ListLine], bool]] = [lambda line: line.after_blank]
    if layout.hanging or layout.first_indented:
        signs.append(lambda line: (line.indent == layout.least) == layout.hanging)
    uncertain: set[int] = set()
    for has_sign in signs:
        begins = [has_sign(row[0]) or row[0].after_page or row[0].after_note for row in rows[1:]]
        if sum(begins) < max(MIN_MARKS, MOSTLY * len(begins)):
            continue
        uncertain.update(n for n, begun in enumerate(begins, start=1) if not begun)
        uncertain.update(
            n
            for n, row in enumerate(rows)
            if any(has_sign(line) and not CONTINUATION_START.match(line.text) for line in row[1:])
        )
    return uncertain


def _has_two(row: Row) -> bool:
    """Return whether a reference with its date ends inside a row, and another one begins below."""
    dated_below = [False] * (len(row) + 1)
    for n in range(len(row) - 1, -1, -1):
        dated_below[n] = dated_below[n + 1] or row[n].dated
    dated = False
    for n, (above, line) in enumerate(pairwise(row), start=1):
        dated = dated or above.dated
        may_begin = dated and dated_below[n] and not CONTINUATION_START.match(line.text)
        if may_begin and NAME_AND_INITIALS.match(line.body) and ENDS_WITH_PLACE.search(above.body):
            return True
    return False


def _has_two_in_text(row: Row) -> bool:
    """Return whether two references with names and dates are in the text of a row, one after the other."""
    text = " ".join(line.body for line in row)
    return any(
        NAME_AND_INITIALS.match(text, match.end())
        and ENDS_WITH_PLACE.search(f"{text[: match.start()]}.")
        and is_dated(text[: match.start()])
        and is_dated(text[match.end() :])
        for match in _END.finditer(text[:MAX_SEARCHED])
    )


def _is_long(row: Row) -> bool:
    years = sum(len(YEAR.findall(line.body)) for line in row)
    return years > MAX_YEARS and sum(len(line.body) + 1 for line in row) > MAX_CHARACTERS
