"""Find texts for which a regular expression could need more than linear time, and measure it.

The pattern's own syntax tree gives texts that it matches. Their pieces, repeated a thousand times between a
beginning and an end that spoils the match, show backtracking and rescanning.

As a program, it reads patterns from stdin as JSON and writes the problems: regular expressions cannot be
interrupted everywhere, so the caller can end the process.
"""

import json
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

STEP: Final = 4
"""A text is compared with one that is four times as long: linear time grows by 4, quadratic time by 16."""
GROWTH: Final = 8.0
SUSPICIOUS: Final = 5.0
"""Growth of short texts, in which the constant part of the time hides some of it."""
FIRST: Final = 300
"""Characters of the shorter text of the first comparison."""
LAST: Final = 64_000
"""Characters of the shorter text of the last comparison."""
MEASURABLE_SECONDS: Final = 0.01
DECIDES: Final = 4_000
"""Characters of the shorter text from which a growth decides. A repeat bounded at some hundred is linear by then."""
ENOUGH_SECONDS: Final = 0.1
"""Seconds for the longer text from which a growth decides."""
GIVEN_UP_SECONDS: Final = 3.0
FASTEST_PAIR_SECONDS: Final = 1e-10
"""Less than a pair of pieces takes if each piece is compared with each other one, which is quadratic."""
REPEATS: Final = 2
SAMPLES: Final = 6
ATTACKS: Final = 30
ANY: Final = 'a0 <>"-'
OUTSIDE: Final = ("\x00", "\n")
"""Ends of texts that prevent a match."""


@dataclass(frozen=True)
class Pattern:
    """A regular expression of the project, its use, and its place in the source."""

    where: str
    source: str
    is_bytes: bool
    flags: int
    method: str
    """match, fullmatch, or search for all methods that search at every place."""

    def compiled(self) -> "re.Pattern[Any]":
        source: Any = self.source.encode("latin-1") if self.is_bytes else self.source
        flags = self.flags & ~(re.UNICODE if self.is_bytes else 0)
        return re.compile(source, flags)


def list_attacks(pattern: Pattern) -> list[tuple[str, str]]:
    """Return pairs of a beginning and a piece to repeat behind it, the same ones every time."""
    random_numbers = random.Random(repr(pattern.source))
    tree = _parser.parse(pattern.source, pattern.flags & ~re.DEBUG)
    texts = sorted({_make_sample(tree, {}, random_numbers)[:40] for _ in range(SAMPLES)})
    singles = sorted(set("".join(texts)) | {" "})
    sure = {("", single) for single in singles}
    more = {("", single + two) for single in singles[:12] for two in singles[:12]}
    for text in texts:
        for start in range(len(text) + 1):
            sure |= {(text[:start], one) for one in (*text[start - 1 : start], *text[start : start + 1])}
            more |= {(text[:start], text[start:end]) for end in range(start + 2, len(text) + 1)}
            more |= {(text[:start], single) for single in singles[:20]}
    spare = sorted(more - sure)
    return sorted(sure) + random_numbers.sample(spare, min(len(spare), ATTACKS))


def _make_sample(tree: Any, groups: dict[int, str], numbers: random.Random) -> str:
    """Return a text the tree matches, look-around aside."""
    parts: list[str] = []
    for operator, argument in tree:
        name = str(operator)
        if name == "LITERAL":
            parts.append(chr(argument))
        elif name == "NOT_LITERAL":
            parts.append(next(one for one in ANY if one != chr(argument)))
        elif name == "ANY":
            parts.append(numbers.choice(ANY))
        elif name == "IN":
            parts.append(_choose_member(argument, numbers))
        elif name == "BRANCH":
            parts.append(_make_sample(numbers.choice(argument[1]), groups, numbers))
        elif name == "SUBPATTERN":
            text = _make_sample(argument[3], groups, numbers)
            groups[argument[0]] = text
            parts.append(text)
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, inner = argument
            times = min(least + numbers.choice((0, 1, 1, 2)), int(most))
            parts.append("".join(_make_sample(inner, groups, numbers) for _ in range(times)))
        elif name == "ATOMIC_GROUP":
            parts.append(_make_sample(argument, groups, numbers))
        elif name == "GROUPREF":
            parts.append(groups.get(argument, ""))
        elif name == "ASSERT" and argument[0] > 0 and numbers.random() < 0.5:
            parts.append(_make_sample(argument[1], groups, numbers))
    return "".join(parts)


def _choose_member(choices: list[tuple[Any, Any]], numbers: random.Random) -> str:
    """Return a character of a set."""
    if str(choices[0][0]) == "NEGATE":
        out = re.compile("".join(("[", *map(_spell_out, choices[1:]), "]")), re.DOTALL)
        allowed = [one for one in ANY + "'.=/&#\\" if not out.match(one)]
        return numbers.choice(allowed or ["~"])
    operator, argument = numbers.choice(choices)
    if str(operator) == "LITERAL":
        return chr(argument)
    if str(operator) == "RANGE":
        return chr(numbers.choice(argument))
    return {"CATEGORY_DIGIT": "0", "CATEGORY_SPACE": " ", "CATEGORY_WORD": numbers.choice("a0_")}.get(
        str(argument).replace("UNI_", ""), "-"
    )


def _spell_out(choice: tuple[Any, Any]) -> str:
    operator, argument = choice
    if str(operator) == "LITERAL":
        return re.escape(chr(argument))
    if str(operator) == "RANGE":
        return f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
    name = str(argument).removeprefix("CATEGORY_")
    letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[name.removeprefix("NOT_")]
    return "\\" + (letter.upper() if name.startswith("NOT_") else letter)


def measure_seconds(pattern: Pattern, compiled: "re.Pattern[Any]", text: str) -> float:
    """Return how long a text takes."""
    body: Any = text.encode("utf-8", "replace") if pattern.is_bytes else text
    start = time.thread_time()
    if pattern.method == "search":
        for _ in compiled.finditer(body):
            pass
    else:
        getattr(compiled, pattern.method)(body)
    return time.thread_time() - start


def measure_growth(taken: Callable[[int], float], piece: int = 1) -> str | None:
    """Return how the time for a text grows with its length, or None if it grows in proportion to the length.

    The text gets longer until its time can be measured and decides. Other programs on the machine can make a single
    measurement longer, never shorter: the shortest of several counts, and fast growth has to show twice.

    Args:
        taken: returns the CPU seconds that a text of a length takes.
        piece: the length of the piece that the text repeats.
    """
    length = FIRST
    while length <= LAST:
        long = taken(STEP * length)
        if long < FASTEST_PAIR_SECONDS * (STEP * length // piece) ** 2 / 2:
            return None
        short = taken(length)
        if short < MEASURABLE_SECONDS:
            short = min(short, *(taken(length) for _ in range(REPEATS)))
        growth = GROWTH if length >= DECIDES else SUSPICIOUS
        if long < growth * short or taken(STEP * length) < growth * short:
            return None
        if length >= DECIDES and long >= ENOUGH_SECONDS:
            return f"{short * 1000:.1f} ms for {length} characters, {long * 1000:.0f} ms for {STEP * length}"
        length *= 2
    return None


def find_problem(pattern: Pattern) -> str | None:
    """Return the problem of a pattern; None if it has no problem."""
    compiled = pattern.compiled()
    for before, piece in list_attacks(pattern):
        for after in OUTSIDE:

            def measure(length: int, text: tuple[str, str, str] = (before, piece, after)) -> float:
                return measure_seconds(pattern, compiled, text[0] + text[1] * (length // len(text[1])) + text[2])

            shown = f"{before!r} + {piece!r} * n + {after!r}"
            try:
                with _limit_seconds():
                    found = measure_growth(measure, len(piece))
            except TimeoutError:
                return f"{shown} takes more than {GIVEN_UP_SECONDS:.0f} s"
            if found:
                return f"{shown}: {found}"
    return None


@contextmanager
def _limit_seconds() -> Iterator[None]:
    def end(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, GIVEN_UP_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


if __name__ == "__main__":
    for raw in json.load(sys.stdin):
        one = Pattern(**raw)
        print(json.dumps(find_problem(one)), flush=True)  # noqa: T201
