"""Parse a free-text query into concepts: words and phrases to look up.

Double quotes are the only operator, so every other character is safe.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from entrez_kit.base.markup import flatten_scripts
from entrez_kit.corpus.search.terms import PREFIXES, REQUEST_WORDS, SPELLINGS, STOP_WORDS, normalize_words, stem_words
from entrez_kit.query.segments.relevance import Concept, WordSequence
from entrez_kit.query.words import GREEK

MAX_QUERY_LENGTH: Final = 20_000
"""In characters; the rest of a longer query is ignored."""
MAX_CONCEPTS: Final = 48
"""The number of words looked up for one query; further words are ignored."""
MAX_PARTS: Final = 4
"""A hyphenated word with more parts is read as several words."""
REQUEST_WEIGHT: Final = 0.4
PART_WEIGHT: Final = 0.5
"""The weight of a part of a compound: "covid" in "covid-19"."""

_QUOTED: Final = re.compile('["“”„«»]([^"“”„«»]*)["“”„«»]')
_HYPHENS: Final = re.compile(r"(?<=\w)[-‐‑‒–−](?=\w)")
_APART: Final = re.compile(r"[^\w\x00]+")
_LETTERS_THEN_DIGITS: Final = re.compile(r"([^\W\d_]+)(\d+)")
_QUALIFIER: Final = re.compile(r"[a-z]|\d{1,3}|[ivx]{2,4}")
"""A word that belongs to the one before it: hepatitis B, interleukin 6, phase III."""
_ENDINGS: Final = re.compile(r"(?<=\w)['’](?:s|t|d|re|ve|ll)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d{1,2}")
_SHORT: Final = 2


def to_concept(phrases: Iterable[WordSequence], weight: float = 1.0, *, required: bool = False) -> Concept:
    """Return a concept of phrases in any spelling, as stems."""
    return Concept(tuple(dict.fromkeys(tuple(stem_words(phrase)) for phrase in phrases)), weight, required)


def parse(query: str, exists: Callable[[WordSequence], bool]) -> list[Concept]:
    """Parse a query into concepts; ``exists`` returns whether the index has a phrase.

    Stop words are omitted unless the query has no other words. A repeated word counts once.
    """
    query = flatten_scripts(query[:MAX_QUERY_LENGTH])
    concepts: list[Concept] = []
    for quoted in _QUOTED.finditer(query):
        phrase = tuple(normalize_words(quoted[1]))
        if len(phrase) > 1 and exists(phrase):
            concepts.append(to_concept([phrase], required=True))
    requested = _drop_repeated([*concepts, *islice(_parse_plain(_ENDINGS.sub("", query), exists), 2 * MAX_CONCEPTS)])
    if not requested:
        requested = _drop_repeated([to_concept([(word,)]) for word in normalize_words(query)])
    return requested[:MAX_CONCEPTS]


def _parse_plain(query: str, exists: Callable[[WordSequence], bool]) -> Iterator[Concept]:
    shouted = query.isupper()
    before: str | None = None
    for raw in _APART.split(_HYPHENS.sub("\0", query.replace("\0", " "))):
        parts = [word for part in raw.split("\0") for word in normalize_words(part)]
        if not parts or raw == "a":  # only a capital letter can be a name, as in "vitamin A"
            continue
        if len(parts) > 1:
            yield from _parse_compound(parts, exists)
            before = None
            continue
        word = parts[0]
        named = raw.isupper() and len(raw) > 1 and not shouted
        if before is not None and (_QUALIFIER.fullmatch(word) or (before in PREFIXES and exists((before + word,)))):
            yield _build_known(((before, word),), ((before + word,),), exists)
            before = None
        elif (word in STOP_WORDS and not named) or len(word) == 1 or _NUMBER.fullmatch(word):
            before = None
        else:
            yield _parse_word(word, exists)
            before = word


def _parse_word(word: str, exists: Callable[[WordSequence], bool]) -> Concept:
    others: list[WordSequence] = [(other,) for other in yield_other_spellings(word)]
    apart = _LETTERS_THEN_DIGITS.fullmatch(word)
    if apart is not None:
        others.append((apart[1], apart[2]))
    others.extend((word[:place], word[place:]) for place in range(2, min(8, len(word) - 3)) if word[:place] in PREFIXES)
    return _build_known(((word,),), others, exists, REQUEST_WEIGHT if word in REQUEST_WORDS else 1.0)


def _parse_compound(parts: Sequence[str], exists: Callable[[WordSequence], bool]) -> Iterator[Concept]:
    """Parse a word with hyphens: "IL-6" is one concept in several spellings; "insulin-dependent" is two words."""
    if len(parts) > MAX_PARTS:
        yield from (_parse_word(part, exists) for part in parts if part not in STOP_WORDS)
        return
    tight = any(len(part) <= _SHORT or part[0].isdigit() or part in GREEK for part in parts)
    prefixed = parts[0] in PREFIXES
    if not tight and not prefixed:
        yield from (_parse_word(part, exists) for part in parts if part not in STOP_WORDS)
        return
    whole, *others = _yield_joinings(parts)
    yield _build_known((whole,), others, exists)
    for part in parts[1:] if prefixed else parts:
        if len(part) > _SHORT + 1 and part not in GREEK and part not in STOP_WORDS and part.isalpha():
            yield _parse_word(part, exists)._replace(weight=PART_WEIGHT)


def _yield_joinings(parts: Sequence[str]) -> Iterator[WordSequence]:
    """Yield the parts with every choice of neighbours joined; the first has all parts separate."""
    if len(parts) == 1:
        yield (parts[0],)
        return
    for rest in _yield_joinings(parts[1:]):
        yield (parts[0], *rest)
    for rest in _yield_joinings(parts[1:]):
        yield (parts[0] + rest[0], *rest[1:])


def _build_known(
    phrases: tuple[WordSequence, ...],
    others: Sequence[WordSequence],
    exists: Callable[[WordSequence], bool],
    weight: float = 1.0,
) -> Concept:
    return to_concept((*phrases, *(other for other in others if exists(other))), weight)


def _drop_repeated(concepts: Sequence[Concept]) -> list[Concept]:
    best: dict[WordSequence, Concept] = {}
    for concept in concepts:
        key = concept.phrases[0]
        known = best.get(key)
        if known is None or (concept.weight > known.weight and not known.required):
            best[key] = concept
    return list(best.values())


# British and American spellings -----------------------------------------------------------------------------------

_VERB: Final = re.compile(r"(?<=[a-z]{3})([iy])([sz])(e|ed|es|er|ers|ing|ation|ations|able)$")
_MIN_SPELLED: Final = 4


def yield_other_spellings(word: str) -> Iterator[str]:
    """Yield possible British or American spellings of a normalized word; some may not exist."""
    if len(word) < _MIN_SPELLED:
        return
    for british, american in SPELLINGS:
        if british in word:
            yield word.replace(british, american, 1)
        elif american in word:
            yield word.replace(american, british, 1)
    if _VERB.search(word):
        yield _VERB.sub(lambda found: found[1] + ("z" if found[2] == "s" else "s") + found[3], word)
