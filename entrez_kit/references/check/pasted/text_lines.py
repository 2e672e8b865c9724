"""The lines of a text, and the numbers in front of them that count lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from entrez_kit.references.check.pasted.line_signs import MARK, classify_mark, may_begin, measure_indent

MIN_NUMBERED: Final = 0.8
"""Minimum share of lines with consecutive numbers if the numbers are line numbers."""
INSIDE: Final = 0.15
"""Minimum share of numbered lines that cannot begin a reference if the numbers are line numbers."""
STEP: Final = 5
"""Lines between two line numbers if not every line has a number."""

_LINE_END: Final = re.compile(r"\r\n|[\n\r\x0b\x1c-\x1e\x85\u2028\u2029]")
_LINE_NUMBER: Final = re.compile(r" {0,40}([0-9]{1,4})(?: {1,40}(?=\S)|$)")


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of a text, without a form feed.

    ``after_page`` is true if a page ends before this line, ``after_blank`` if an empty line separates it from the line
    above. ``after_note`` is true if a heading or a sentence was removed above.
    """

    number: int
    text: str
    after_page: bool = False
    after_blank: bool = False
    after_note: bool = False


def split_text_lines(text: str) -> list[TextLine]:
    """Return the lines of a text. A form feed ends a page but does not begin a new line, as in an editor."""
    lines: list[TextLine] = []
    after_page = False
    for number, raw in enumerate(_LINE_END.split(text), start=1):
        parts = raw.split("\f")
        for place, part in enumerate(parts):
            after_page = after_page or place > 0
            # In Markdown, a backslash ends a line.
            line_text = part.removeprefix("\ufeff").expandtabs(8).rstrip().removesuffix("\\").rstrip()
            if line_text or len(parts) == 1:
                lines.append(TextLine(number, line_text, after_page and bool(line_text)))
                after_page = after_page and not line_text
    return lines


def remove_line_numbers(lines: Sequence[TextLine]) -> tuple[list[TextLine], int]:
    """Remove line numbers (of every line or every fifth line), and return how many were removed."""
    numbered = [(n, match) for n, line in enumerate(lines) if line.text and (match := _LINE_NUMBER.match(line.text))]
    numbers = _find_consecutive_numbers(lines, numbered) or _find_fifth_numbers(lines, numbered)
    texts = [line.text for n, line in enumerate(lines) if line.text and n not in numbers]
    indents = {measure_indent(text) for text in texts}
    in_margin = bool(indents) and all(match.end(1) <= min(indents) for match in numbers.values())
    gaps = {match.end() - match.end(1) for match in numbers.values()}
    # The rest of a gap is the indent of the text. Other lines have the same indent.
    gap = next(
        (width for width in range(1, min(gaps, default=1)) if {wide - width for wide in gaps} <= indents),
        min(gaps, default=1),
    )
    plain = list(lines)
    for n, match in numbers.items():
        indent = match.end() if in_margin else match.end() - match.end(1) - gap
        body = lines[n].text[match.end() :]
        plain[n] = replace(lines[n], text=body and " " * indent + body)
    return plain, len(numbers)


def _find_consecutive_numbers(
    lines: Sequence[TextLine], found: Sequence[tuple[int, re.Match[str]]]
) -> dict[int, re.Match[str]]:
    """Return line numbers of every line: each is one more than the number above, or 1 at the start of a page."""
    total = sum(bool(line.text) for line in lines)
    if total < STEP or len(found) < MIN_NUMBERED * total:
        return {}
    chain = dict(found[:1])
    for (n, above), (m, match) in pairwise(found):
        if 0 < int(match[1]) - int(above[1]) <= m - n or match[1] == "1":
            chain[m] = match
    bodies = [lines[n].text[match.end() :] for n, match in chain.items()]
    inside = sum(bool(body) and not may_begin(body) for body in bodies)
    # In "1 - Doe", the dash is a part of the mark.
    marked = sum(classify_mark(MARK.match(body))[0] not in ("", "-") for body in bodies)
    counts_lines = inside >= INSIDE * len(bodies) or marked >= MIN_NUMBERED * len(bodies)
    return chain if counts_lines and len(chain) >= MIN_NUMBERED * total else {}


def _find_fifth_numbers(
    lines: Sequence[TextLine], found: Sequence[tuple[int, re.Match[str]]]
) -> dict[int, re.Match[str]]:
    """Return line numbers 5, 10, 15 that are five lines apart."""
    fifth = [(n, match) for n, match in found if int(match[1]) % STEP == 0]
    if len(fifth) < 3 or len(fifth) < MIN_NUMBERED * len(found):
        return {}
    count = {n: place for place, n in enumerate(n for n, line in enumerate(lines) if line.text)}
    chain: dict[int, re.Match[str]] = {}
    for place, (n, above) in enumerate(fifth):
        # The first word of another line can be a multiple of five.
        for m, match in fifth[place + 1 : place + 4]:
            if int(match[1]) - int(above[1]) in (m - n, count[m] - count[n]):
                chain |= {n: above, m: match}
    return chain if len(chain) >= 3 else {}
