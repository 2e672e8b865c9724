"""Rewrite the marks of a pasted list: each reference begins on a new line, with a usual mark.

The marks of references are written in many ways ("1.)", "№ 1", "[1", "ii.", "➢"), and a list can mix them. Numbers that
count upwards, or the same sign on many lines, show what the marks are. A line keeps its number in the file.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from entrez_kit.base.numerals import read_roman
from entrez_kit.references.check.pasted.line_signs import (
    AUTHOR_START,
    ENDS_WITH_PLACE,
    IN_ORDER,
    LETTER_FIRST,
    MARK,
    MIN_MARKED,
    MOSTLY,
    REFERENCE_END,
    classify_mark,
    ends_reference,
    is_dated,
    measure_indent,
)
from entrez_kit.references.check.pasted.text_lines import TextLine

MIXED: Final = 1.3
"""Minimum ratio of the numbers in order to those in the most frequent form, if a list mixes forms."""
MAX_DAMAGED: Final = 3
"""Maximum consecutive numbers of references that are damaged."""
AFTER_PLACE: Final = 0.6
"""Minimum share of marks inside lines behind pages, a year or an identifier, if references begin there."""
MIN_REFERENCE: Final = 25
"""Minimum characters of a reference between two marks on one line."""
MAX_REFERENCE: Final = 1_500
"""Maximum characters of a reference of a list without line breaks."""

_RAISED: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹０１２３４５６７８９", "01234567890123456789")
_CIRCLED: Final = {chr(0x2460 + n): n + 1 for n in range(20)} | {chr(0x3251 + n): n + 21 for n in range(15)}
_FORM: Final = re.compile(
    r"(?P<open>(?:[^\w\s]{1,3} ?)?"
    r"(?:(?:ref(?:erence)?|(?:foot|end)?note|fn|no|nr|source|quelle|réf)\.? ?|№ ?|[A-Z]-?(?=[0-9]))?)"
    r"(?:(?P<digits>[0-9]{1,4})|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}|[０-９]{1,4})|(?P<circled>[①-⑳㉑-㉟])"
    r"|(?P<letters>[ivxlc]{1,7}(?=[^\w\s])|[a-z](?=\))))"
    r"(?P<close>;\"| ?[^\w\s(\[“\"‘'«]{0,3}|º)(?P<space> *)(?=[“\"‘'«(\[]?[^\W\d_])",
    re.IGNORECASE,
)
"""A number in any form in front of a reference."""
_FORM_BEFORE_DIGIT: Final = re.compile(_FORM.pattern.removesuffix(r"[^\W\d_])") + r"[0-9])", re.IGNORECASE)
"""Such a number in front of a reference that begins with a digit."""
_MISREAD: Final = re.compile(r"(?![0-9I]{1,3}[.)])([0-9lI|]{1,3})[.)]\s*+(?=\S)")
"""A number in which a letter was read for the digit 1."""
_SIGN: Final = re.compile(r"(?P<sign>[^\w\s\[\](){}<>“”\"‘’'«».,;:!?&@/\\|=~`*#-]|o(?= )|\\item\b)(?P<space> *)(?=\S)")
"""A sign in front of a reference that is not a number."""
_HASH: Final = re.compile(r"(?P<sign>#)(?P<space> )(?=\S)")
"""A list of MediaWiki, in which each line is a reference."""
_BETWEEN_LETTERS: Final = frozenset("–—§o")
"""Signs that mark a reference only with a space behind them."""
_INSIDE: Final = (
    re.compile(r"\[([0-9]{1,3})\](?=[\s“\"‘'«\[]{0,2}[^\W\d_]|$)"),
    re.compile(r"(?<![^\s.)\]])([0-9]{1,3})\. ?(?=[“\"‘'«]?[^\W\d_]|$)"),
    re.compile(r"(?<![^\s.)\]])\(?([0-9]{1,3})\) ?(?=[“\"‘'«]?[^\W\d_]|$)"),
)
"""Marks of references inside a line."""


_ENDS_WITH_NUMBER: Final = re.compile(r"[0-9] ?[^\W\d_]{0,2}\.?[)\]]? ?$")


@dataclass(frozen=True, slots=True)
class _Mark:
    """A number or a sign in front of a line."""

    n: int
    form: tuple[str, ...]
    count: int
    end: int
    is_usual: bool = False


def rewrite_marks(lines: Sequence[TextLine]) -> list[TextLine]:
    """Return the lines of a list with usual marks; a line that contains several marks is divided at these."""
    return list(_rewrite_signs(_split_inside(_rewrite_numbers(lines))))


def rewrite_label(text: str) -> str:
    """Return a reference with a usual number in place of a label such as "R1." or "Ref. 1:"."""
    mark = next((mark for mark in _read_numbers(0, text) if _is_label(text, mark)), None)
    return f"{mark.count}. {text[mark.end :]}" if mark else text


def _split_inside(lines: Sequence[TextLine]) -> Sequence[TextLine]:
    """Divide lines that contain several references, if marks inside of lines count the references."""
    texts = [line for line in lines if line.text]
    if len(texts) == 1 and (references := _split_run_on(texts[0].text)):
        return [replace(texts[0], text=f"{n}. {reference}") for n, reference in enumerate(references, start=1)]
    for pattern in _INSIDE:
        chain = _find_chain(lines, pattern)
        inside = [lines[n].text[:start] for n, start in chain if lines[n].text[:start].strip()]
        after_place = sum(bool(ENDS_WITH_PLACE.search(text) or _ENDS_WITH_NUMBER.search(text)) for text in inside)
        is_plain = pattern is not _INSIDE[0]  # "2. Aufl." is an edition, "[2]" only a mark
        if len(chain) < MIN_MARKED or (is_plain and after_place < AFTER_PLACE * len(inside)):
            continue
        if len(inside) > len(chain) / 2:
            break
        # Most marks are at the beginning of lines, so that a number inside a line can be a part of a title.
        first = {int(mark[1]) for line in lines if (mark := pattern.match(line.text.lstrip()))}
        chain = [(n, start) for count, (n, start) in enumerate(chain, start=1) if count not in first]
        if chain and after_place == len(inside):
            break
    else:
        return lines
    cuts: dict[int, list[int]] = defaultdict(list)
    for n, start in chain:
        cuts[n].append(start)
    divided: list[TextLine] = []
    for n, line in enumerate(lines):
        places = [0, *(start for start in cuts[n] if line.text[:start].strip()), len(line.text)]
        parts = [line.text[a:b].strip() for a, b in pairwise(places)] if len(places) > 2 else [line.text]
        divided += [
            replace(line, text=part, after_page=line.after_page and not place) for place, part in enumerate(parts)
        ]
    return divided


def _split_run_on(text: str) -> list[str]:
    """Return the references of a list without line breaks and spaces ("...101-109.2.Doe J"), without their numbers.

    The page before a number can end without a full stop ("101-1092.Doe"). So each number is searched for by its value.
    """
    first = re.match(r"\s*+1\.( ?)(?=\S)", text)
    begins = [first] if first else []
    while begins and (found := _find_number(text, len(begins) + 1, begins[0][1], begins[-1].end())):
        if not is_dated(text[begins[-1].end() : found.start()]):
            break
        begins.append(found)
    places = pairwise([*((begin.start(), begin.end()) for begin in begins), (len(text), 0)])
    pieces = [text[start:end].strip() for (_, start), (end, _) in places]
    return pieces if len(pieces) >= MIN_MARKED and all(len(piece) <= MAX_REFERENCE for piece in pieces) else []


def _find_number(text: str, number: int, space: str, start: int) -> re.Match[str] | None:
    """Return the next mark with a number. A reference can begin with a digit if the number is not found otherwise."""

    def find(count: int) -> re.Match[str] | None:
        return re.compile(rf"{count}\.{space}(?=[“\"‘'«]?[^\W\d_])").search(text, start)

    mark, after = find(number), find(number + 1)
    if mark is None or (after and after.start() < mark.start()):
        mark = re.compile(rf"(?<=[.)\]]){number}\.{space}(?=[0-9])").search(text, start) or mark
    return mark


def _find_chain(lines: Sequence[TextLine], pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    """Return the places of the marks 1, 2, 3 ... A year or an identifier is between two of them."""
    chain: list[tuple[int, int]] = []
    is_whole = True
    for n, line in enumerate(lines):
        last = 0
        for match in pattern.finditer(line.text):
            between = line.text[last : match.start()]
            is_whole = is_whole or is_dated(between)
            if int(match[1]) != len(chain) + 1 or not is_whole:
                continue
            if not chain and any(above.text for above in lines[:n]):
                return []
            if chain and chain[-1][0] == n and match.start() - chain[-1][1] < MIN_REFERENCE:
                continue
            chain.append((n, match.start()))
            is_whole, last = False, match.end()
        remaining = line.text[last:]
        is_whole = is_whole or (bool(chain) and is_dated(remaining))
    return chain


def _read_numbers(n: int, text: str, pattern: re.Pattern[str] = _FORM) -> Iterator[_Mark]:
    """Yield the number in front of a line, also if it is a letter or a Roman number."""
    body = text.lstrip()
    skipped = len(text) - len(body)
    usual = MARK.match(body)
    kind, count = classify_mark(usual)
    if usual is not None and count is not None:
        yield _Mark(n, (kind,), count, skipped + usual.end(), is_usual=True)
        return
    if (
        usual is not None
        and (after := MARK.match(body, usual.end()))
        and (counted := classify_mark(after))[1] is not None
    ):
        yield _Mark(n, (kind, counted[0]), counted[1] or 0, skipped + after.end())
        return
    if misread := _MISREAD.match(body):
        yield _Mark(n, ("l",), int(re.sub(r"[lI|]", "1", misread[1])), skipped + misread.end())
    match = pattern.match(body)
    if match is None:
        return
    end = skipped + match.end()
    shape = (match["open"].strip().casefold(), match["close"].strip())
    if match["digits"] and (any(shape) or match["close"] or match["space"]):
        yield _Mark(n, (*shape, "1"), int(match["digits"]), end)
    elif match["raised"]:
        yield _Mark(n, (*shape, "¹"), int(match["raised"].translate(_RAISED)), end)
    elif match["circled"]:
        yield _Mark(n, (*shape, "①"), _CIRCLED[match["circled"]], end)
    elif letters := (match["letters"] or "").casefold():
        if len(letters) == 1 and shape[1].startswith(")"):
            yield _Mark(n, (*shape, "a"), ord(letters) - ord("a") + 1, end)
        if shape[1] and (value := read_roman(letters)):
            yield _Mark(n, (*shape, "i"), value, end)


def _rewrite_numbers(lines: Sequence[TextLine]) -> Sequence[TextLine]:
    """Write numbers of an unusual form, and numbers in several forms, as ``1.``"""
    marks = [mark for n, line in enumerate(lines) if line.text for mark in _read_numbers(n, line.text)]
    forms: dict[tuple[str, ...], list[_Mark]] = defaultdict(list)
    for mark in marks:
        forms[mark.form].append(mark)
    first = next((n for n, line in enumerate(lines) if line.text), 0)
    usual = max((len(marks_of_form) for marks_of_form in forms.values() if marks_of_form[0].is_usual), default=0)
    labelled = next((found for found in forms.values() if _are_labels(lines, found)), [])
    chosen: list[_Mark] = labelled
    for form, marks_of_form in forms.items():
        plain = form == ("", "", "1")
        if (
            not (marks_of_form[0].is_usual or plain)
            and len(marks_of_form) > len(chosen)
            and _is_counting(marks_of_form)
        ):
            chosen = marks_of_form
    if len(chosen) <= usual:
        chosen = []
    single = max((_count_ascending(marks_of_form) for marks_of_form in forms.values()), default=0)
    chain = _find_longest_chain(lines, marks)
    used = Counter(mark.form for mark in chain)
    is_mixed = len(used) > 1 and sorted(used.values())[-2] > 1 and chain[0].n <= first + 1
    if len(chain) > MIN_MARKED and is_mixed and len(chain) >= MIXED * max(single, len(chosen)):
        chosen = chain
    if chosen:
        chosen = sorted([*chosen, *_find_before_digits(lines, chosen)], key=lambda mark: mark.n)
    chosen = chosen or _find_damaged(lines, marks)
    rewritten = list(lines)
    for mark in chosen:
        text = lines[mark.n].text
        rewritten[mark.n] = replace(lines[mark.n], text=f"{' ' * measure_indent(text)}{mark.count}. {text[mark.end :]}")
    return rewritten


def _find_damaged(lines: Sequence[TextLine], marks: Sequence[_Mark]) -> list[_Mark]:
    """Return the marks of another form that are exactly the missing numbers between two marks of the usual form."""
    counts = [mark.count if mark.is_usual else 0 for mark in marks]
    if sum(map(bool, counts)) < MIN_MARKED:
        return []
    below = [0] * len(marks)
    for place in range(len(marks) - 2, -1, -1):
        below[place] = counts[place + 1] or below[place + 1]
    damaged: list[_Mark] = []
    last = 0
    for mark, after in zip(marks, below, strict=True):
        if mark.is_usual:
            last = mark.count
        elif last < mark.count < (after or mark.count + 1) <= last + MAX_DAMAGED + 1:
            above = lines[mark.n - 1].text if mark.n else ""
            if (not above or REFERENCE_END.search(above)) and LETTER_FIRST.match(lines[mark.n].text[mark.end :]):
                damaged.append(mark)
                last = mark.count
    return damaged


def _find_before_digits(lines: Sequence[TextLine], chosen: Sequence[_Mark]) -> Iterator[_Mark]:
    """Yield the marks of references that begin with a digit: only the missing numbers of a list, in their places."""
    known = {mark.n: mark.count for mark in chosen}
    forms = {mark.form for mark in chosen}
    following = [0] * (len(lines) + 1)
    for n in range(len(lines) - 1, -1, -1):
        following[n] = known.get(n) or following[n + 1]
    last = 0
    for n, line in enumerate(lines):
        if n in known:
            last = known[n]
            continue
        for mark in _read_numbers(n, line.text, _FORM_BEFORE_DIGIT):
            is_missing = mark.count == last + 1 and following[n] in (0, mark.count + 1)
            if is_missing and mark.form in forms and (n == 0 or ends_reference(lines[n - 1].text)):
                yield mark
                last = mark.count
                break


def _is_counting(marks: Sequence[_Mark]) -> bool:
    """Return whether marks of one form count references."""
    steps = sum(after.count == mark.count + 1 for mark, after in pairwise(marks))
    return len(marks) >= MIN_MARKED and steps >= IN_ORDER * (len(marks) - 1)


def _are_labels(lines: Sequence[TextLine], marks: Sequence[_Mark]) -> bool:
    """Return whether marks such as "R1." or "Ref. 1:" number references, in a list with too few to count them."""
    is_first = not any(line.text for line in lines[: marks[0].n])
    is_counting = [mark.count for mark in marks] == [*range(1, len(marks) + 1)]
    return is_first and is_counting and all(_is_label(lines[mark.n].text, mark) for mark in marks)


def _is_label(text: str, mark: _Mark) -> bool:
    """Return whether a mark has letters and a sign, and an author follows it."""
    opening, *closing = mark.form[:-1] or ("",)
    has_signs = any(map(str.isalpha, opening)) and any(closing)
    return has_signs and AUTHOR_START.match(text[mark.end :]) is not None


def _count_ascending(marks: Sequence[_Mark]) -> int:
    """Return how many marks are larger than all marks of their form above."""
    highest = total = 0
    for mark in marks:
        total += mark.count > highest
        highest = max(highest, mark.count)
    return total


def _find_longest_chain(lines: Sequence[TextLine], marks: Sequence[_Mark]) -> list[_Mark]:
    """Return the longest sequence of numbers that are each one more than the one above, in any form."""
    best: dict[int, tuple[float, int]] = {}
    before: list[int | None] = []
    last, longest = None, 0.0
    for place, mark in enumerate(marks):
        above = lines[mark.n - 1].text if mark.n else ""
        length, previous = best.get(mark.count - 1, (0.0, None))
        length += 1 + 0.5 * (not above or REFERENCE_END.search(above) is not None)
        before.append(previous)
        if length > best.get(mark.count, (0.0, 0))[0]:
            best[mark.count] = (length, place)
        if length > longest:
            last, longest = place, length
    chain: list[_Mark] = []
    while last is not None:
        chain.append(marks[last])
        last = before[last]
    return chain[::-1]


def _rewrite_signs(lines: Sequence[TextLine]) -> Sequence[TextLine]:
    """Write an unusual sign in front of references as a bullet."""
    places_of: dict[str, list[tuple[int, int]]] = defaultdict(list)
    texts = [n for n, line in enumerate(lines) if line.text]
    hashes = sum(lines[n].text.startswith("# ") for n in texts)
    signs = _HASH if hashes >= MOSTLY * len(texts) else _SIGN
    for n in texts:
        text = lines[n].text.lstrip()
        match = None if MARK.match(text) else signs.match(text)
        if match and (match["space"] or match["sign"] not in _BETWEEN_LETTERS):
            places_of[match["sign"]].append((n, measure_indent(lines[n].text) + match.end()))
    sign = max(places_of, key=lambda sign: len(places_of[sign]), default="")
    places = places_of.get(sign, [])
    if len(places) < MIN_MARKED or places[0][0] not in texts[:2]:
        return lines
    if sum(MARK.match(lines[n].text) is not None for n in texts) > len(places):
        return lines
    rewritten = list(lines)
    for n, end in places:
        text = lines[n].text
        rewritten[n] = replace(lines[n], text=f"{' ' * measure_indent(text)}• {text[end:]}")
    return rewritten
