"""The records that a line of a strategy finds, decided by reading the words of every record.

It shares no code with the translator, with ``meaning.py`` or with an index. It uses the readers' syntax trees and the
words and values of records, writes each wildcard as a shell pattern, and tries all positions of the words.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product

from entrez_kit.query.dialects.tree import (
    AllOf,
    AnyOf,
    DayRange,
    Exclude,
    LineReference,
    Near,
    Node,
    PubMedQuery,
    SubjectHeading,
    Value,
    WordPatterns,
)
from entrez_kit.query.record_terms import RecordTerms

_STOPS = (
    "an and are as at be because been but by for from had has have if in into is it its of on or that the their then "
    "there these they this to was were which with"
)
STOPS = frozenset(_STOPS.split())
"""Ovid's stopwords, as its help page lists them."""
_LISTS = (
    "title vernacular abstract keyword mesh ptype substance registry journal author affiliation investigator person "
    "grant ids accession language volume issue page book publisher note coi"
)
EVERYWHERE = tuple(_LISTS.split())
COLUMNS = {"year": "pdat_single", "entry": "mhda", "change": "mdat"}
VALUES = {
    **{"PTYP": "ptype", "PTYP=": "ptype", "SUBH": "subheading", "SUBH+": "subheading", "LANG": "language"},
    **{"AUTH": "author", "SUBS": "substance", "JOUR": "journal"},
}
Place = tuple[int, int]
"""A record, and one of its values in a word list."""


class UnmatchedError(Exception):
    """The matcher does not know this kind of part."""


class LineMatcher:
    """Decides which of some records a line finds.

    Args:
        records: the words and values of the records.
        search: returns the records of a query in PubMed's language, for limits that a reader writes in it.
        renamed: the present name of a heading by its former name, in lower case.
        merged: the present name of a qualifier by its former name.
    """

    def __init__(
        self,
        records: Sequence[RecordTerms],
        search: Callable[[str], Iterable[int]],
        renamed: Mapping[str, str] | None = None,
        merged: Mapping[str, str] | None = None,
    ) -> None:
        self._records, self._search = records, search
        self._renamed, self._merged = renamed or {}, merged or {}
        self._everything = set(range(len(records)))
        self._words: dict[str, dict[str, list[tuple[Place, int]]]] = defaultdict(lambda: defaultdict(list))
        self._values: dict[tuple[str, str], set[int]] = defaultdict(set)
        for number, record in enumerate(records):
            for source, pieces in record.texts.items():
                listed = self._words[source]
                for piece, words in enumerate(pieces):
                    for place, word in enumerate(words):
                        listed[word].append(((number, piece), place))
            for source, values in record.values.items():
                for value in values:
                    self._values[source, value].add(number)
                    if source == "country":
                        for place, word in enumerate(value.split()):
                            self._words["country"][word].append(((number, 0), place))
        self._known: dict[tuple[str, str], dict[Place, set[int]]] = {}

    def judge(self, node: Node, lines: Mapping[int, set[int]] | None = None) -> set[int]:
        """Return the records that a line finds.

        Raises:
            UnmatchedError: it has a part that no record shows.
        """
        known = lines or {}
        if isinstance(node, AllOf):
            return self._everything.intersection(*(self.judge(part, known) for part in node.parts))
        if isinstance(node, AnyOf):
            return set[int]().union(*(self.judge(part, known) for part in node.parts))
        if isinstance(node, Exclude):
            return self.judge(node.left, known) - self.judge(node.right, known)
        if isinstance(node, LineReference):
            return known[node.number]
        if isinstance(node, WordPatterns | Near):
            return self._judge_text(node)
        if isinstance(node, SubjectHeading) and node.vocabulary == "mesh":
            return self._judge_heading(node)
        if isinstance(node, Value):
            return self._judge_value(node)
        if isinstance(node, DayRange):
            column = COLUMNS[node.clock]
            return {
                number
                for number, record in enumerate(self._records)
                if any(node.low <= day <= node.high for day in record.numbers.get(column, ()))
            }
        if isinstance(node, PubMedQuery) and not node.references:
            return set(self._search(node.query))
        raise UnmatchedError(type(node).__name__)

    def _judge_heading(self, node: SubjectHeading) -> set[int]:
        key = _to_plain(self._renamed.get(node.name.lower(), node.name))
        source = "majr" if node.major else "mesh"
        if node.qualifiers:
            pairs = [f"{key}/{_to_plain(self._merged.get(qualifier, qualifier))}" for qualifier in node.qualifiers]
            return set[int]().union(*(self._values[f"{source}_pair", pair] for pair in pairs))
        return set(self._values[source, key])

    def _judge_value(self, node: Value) -> set[int]:
        if node.code not in VALUES:
            raise UnmatchedError(node.code)
        source, text = VALUES[node.code], _to_plain(node.text)
        if node.text.endswith("*"):
            return set[int]().union(
                *(
                    found
                    for (one, value), found in self._values.items()
                    if one == source and value.startswith(text) and not value.startswith("=")
                )
            )
        return set(self._values[source, text])

    def _judge_text(self, node: WordPatterns | Near) -> set[int]:
        leaf: Node = node
        while not isinstance(leaf, WordPatterns):
            leaf = leaf.parts[0] if isinstance(leaf, AnyOf) else leaf.left if isinstance(leaf, Near) else leaf
        assert leaf.scope is not None
        sources = (*EVERYWHERE, "country") if "everything" in leaf.scope.sources else sorted(leaf.scope.sources)
        return {number for source in sources for number, _ in self._find(node, source)}

    def _find(self, node: Node, source: str) -> dict[Place, set[frozenset[int]]]:
        """Return the places in which a part matches, each with the positions of its words in every match."""
        if isinstance(node, AnyOf):
            both: dict[Place, set[frozenset[int]]] = defaultdict(set)
            for part in node.parts:
                for place, matches in self._find(part, source).items():
                    both[place] |= matches
            return both
        if isinstance(node, WordPatterns):
            return self._find_phrase(node.patterns, source)
        assert isinstance(node, Near)
        left, right = self._find(node.left, source), self._find(node.right, source)
        found: dict[Place, set[frozenset[int]]] = {}
        for place in left.keys() & right.keys():
            number, piece = place
            words = self._records[number].texts.get(source, [[]])[piece] if source != "country" else []
            together = {
                first | second
                for first, second in product(left[place], right[place])
                if not first & second and _is_near(node, first, second, words)
            }
            if together:
                found[place] = together
        return found

    def _find_phrase(self, patterns: Sequence[str], source: str) -> dict[Place, set[frozenset[int]]]:
        found: dict[Place, set[frozenset[int]]] = {}
        others = [self._find_pattern(pattern, source) for pattern in patterns]
        for place, starts in others[0].items():
            matches = {
                frozenset(range(start, start + len(patterns)))
                for start in starts
                if all(start + offset in other.get(place, ()) for offset, other in enumerate(others))
            }
            if matches:
                found[place] = matches
        return found

    def _find_pattern(self, pattern: str, source: str) -> dict[Place, set[int]]:
        if (source, pattern) not in self._known:
            found: dict[Place, set[int]] = defaultdict(set)
            listed = self._words[source]
            if re.search(r"[*#?<]", pattern):
                words = [word for word in listed if matches_wildcard(pattern, word)]
            else:
                words = [pattern] if pattern in listed else []
            for word in words:
                for place, position in listed[word]:
                    found[place].add(position)
            self._known[source, pattern] = dict(found)
        return self._known[source, pattern]


def _to_plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def _is_near(node: Near, first: frozenset[int], second: frozenset[int], words: Sequence[str]) -> bool:
    """Return whether at most ``distance`` words are between the end of one match and the beginning of the other."""
    if node.ordered and max(first) >= min(second):
        return False
    if max(first) < min(second):
        between = range(max(first) + 1, min(second))
    elif max(second) < min(first):
        between = range(max(second) + 1, min(first))
    else:
        return True
    counted = [place for place in between if not (node.skips and words[place] in STOPS)]
    return len(counted) <= node.distance


def matches_wildcard(pattern: str, word: str) -> bool:
    """Return whether a word matches a pattern, sign by sign: * any, # one, ? none or one, <3> up to three."""
    if not pattern:
        return not word
    if pattern[0] == "*":
        return any(matches_wildcard(pattern[1:], word[cut:]) for cut in range(len(word) + 1))
    if pattern[0] == "#":
        return bool(word) and matches_wildcard(pattern[1:], word[1:])
    if pattern[0] == "?":
        return any(matches_wildcard(pattern[1:], word[cut:]) for cut in range(min(2, len(word) + 1)))
    if pattern[0] == "<":
        most, _, rest = pattern[1:].partition(">")
        return any(matches_wildcard(rest, word[cut:]) for cut in range(min(int(most), len(word)) + 1))
    return word[:1] == pattern[0] and matches_wildcard(pattern[1:], word[1:])
