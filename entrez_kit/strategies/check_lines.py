"""Check each line of a strategy for problems that need no search."""

import re
from collections.abc import Iterator
from typing import Final

from entrez_kit.query import unsettled
from entrez_kit.query.dialects.notes import CannotExpressError
from entrez_kit.query.dialects.spellings import expand_patterns
from entrez_kit.query.dialects.translate_proximity import list_phrases
from entrez_kit.query.dialects.tree import (
    AnyOf,
    DayRange,
    Near,
    Node,
    PubMedQuery,
    Value,
    WordPatterns,
    list_children,
    walk,
)
from entrez_kit.strategies.findings import CODES, LineProblem
from entrez_kit.strategies.redundancy import Alternative, find_redundant
from entrez_kit.strategies.translated_lines import WorkingLine

_DATES: Final = r"(?:dp|pdat|edat|crdt|mhda|dcom|lr|mdat|ppdat|epdat|date - [a-z]+|publication date)"
_HALF_OPEN: Final = re.compile(
    rf'(?<![0-9/"\]])(?<![0-9/"\]] ) ?: ?"?[0-9][0-9/]*+"? ?\[{_DATES}\]|[0-9]"? ?: ?\[{_DATES}\]'
    rf"|\[{_DATES}\] ?: ?(?![0-9\" ])|\[{_DATES}\] ?: ?$",
    re.IGNORECASE,
)
_YEARS: Final = re.compile(r"\byr ?= ?\"? ?(?:[0-9]{4} ?- ?\"? ?$|- ?[0-9]{4})", re.IGNORECASE)
WITHOUT_ANIMALS: Final = "NOT (animals[mh] NOT humans[mh])"
"""The limit to humans that keeps the records that are not yet indexed with MeSH."""


def _check_refusal(line: WorkingLine) -> Iterator[LineProblem]:
    if (refusal := line.refusal) is not None:
        fix = _suggest_range(line) if refusal.code in ("missing-reference", "circular-reference") else ""
        yield LineProblem(refusal.code, line.number, f"{refusal.text}.", fix)


def _suggest_range(line: WorkingLine) -> str:
    """Return a range that ends before the line, if its range extends too far and begins two lines before or earlier."""
    match = re.search(r"\b(or|and)/([0-9]+)-([0-9]+)", line.printed.text, re.IGNORECASE)
    if match is None or line.number is None or int(match[3]) < line.number:
        return ""
    if int(match[2]) >= line.number - 1:
        return ""
    return f"{match[1]}/{match[2]}-{line.number - 1}"


def _check_notes(line: WorkingLine) -> Iterator[LineProblem]:
    """Report each note that has the code of a finding."""
    for note in (*line.printed.notes, *line.notes):
        if note.code in CODES:
            is_limit_to_humans = note.code == "limit-drops-unindexed" and _limits_to_humans(line)
            fix = WITHOUT_ANIMALS if is_limit_to_humans else ""
            yield LineProblem(note.code, line.number, f"{note.text.removesuffix('.')}.", fix)


def _limits_to_humans(line: WorkingLine) -> bool:
    parts = walk(line.node) if line.node is not None else ()
    return any(isinstance(part, PubMedQuery) and part.query == "humans[mh]" for part in parts)


def _check_characters(line: WorkingLine) -> Iterator[LineProblem]:
    signs = dict.fromkeys(sign for sign in line.printed.original if sign in "“”„‟‘’‚´–—−\u00a0\u00ad…")
    if signs:
        characters = " ".join(
            sign if sign.isprintable() and sign != "\u00a0" else f"U+{ord(sign):04X}" for sign in signs
        )
        read = "was read as a plain character" if len(signs) == 1 else "were read as plain characters"
        yield LineProblem("typographic-characters", line.number, f"{characters} {read}.", "plain characters")


def _check_dates(line: WorkingLine) -> Iterator[LineProblem]:
    text = line.printed.text
    if (line.dialect == "pubmed" and (match := _HALF_OPEN.search(text))) or (match := _YEARS.search(text)):
        yield LineProblem(
            "half-open-date", line.number, f"{match[0].strip()!r} has one bound.", "write both, such as 2010:3000[dp]"
        )


def _check_alternatives(line: WorkingLine) -> Iterator[LineProblem]:
    if line.node is None:
        return
    for node in walk(line.node):
        if isinstance(node, AnyOf):
            terms = [
                Alternative(" ".join(part.patterns), part.scope.name if part.scope else "", part.text)
                for part in node.parts
                if isinstance(part, WordPatterns)
            ]
            yield from find_redundant(line.number, terms)
            days = sum(isinstance(part, DayRange) for part in node.parts)
            if 0 < days < len(node.parts):
                yield LineProblem("date-limit-inside", line.number, "A date is an alternative of search terms.")
    for words in _list_phrases(line.node):
        if _is_too_short(words):
            text = f"{words.text} has fewer than {unsettled.SHORTEST_STEM} letters before its wildcard."
            yield LineProblem("short-truncation", line.number, text, "list the words")


def _list_phrases(node: Node) -> Iterator[WordPatterns]:
    """Yield the words of a line; words that are next to each other in their order are one phrase."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, WordPatterns):
            yield part
        elif isinstance(part, Near) and (phrases := list_phrases(part)):
            yield from phrases
        else:
            waiting += reversed(list_children(part))


def _is_too_short(words: WordPatterns) -> bool:
    """Return whether PubMed cannot truncate a word or a phrase, and its spellings cannot be written out."""
    try:
        expand_patterns(words, None)
    except CannotExpressError as exc:
        return exc.refusal.code == "short-truncation"
    return False


def _check_language(line: WorkingLine) -> Iterator[LineProblem]:
    parts = walk(line.node) if line.node is not None else ()
    if any(isinstance(part, Value) and part.code == "LANG" for part in parts):
        yield LineProblem("language-limit", line.number, "A restriction to a language needs a reason.")


LINE_RULES: Final = (
    _check_refusal,
    _check_notes,
    _check_characters,
    _check_dates,
    _check_alternatives,
    _check_language,
)
