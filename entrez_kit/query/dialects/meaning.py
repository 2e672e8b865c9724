"""Evaluate the meaning of a line on an index, independent of its translation to PubMed.

A translation is proven by comparing the two sets of records.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product
from operator import and_
from typing import Final

from pyroaring import BitMap

from entrez_kit.query.dialects.currency import RENAMED
from entrez_kit.query.dialects.scopes import list_sources
from entrez_kit.query.dialects.translate import print_heading, print_value
from entrez_kit.query.dialects.tree import (
    All,
    Any,
    CannotExpressError,
    Days,
    Exclude,
    Heading,
    Near,
    Node,
    PubMed,
    Reference,
    Unknown,
    Value,
    Words,
    compile_pattern,
    get_stem,
    has_marks,
    walk,
)
from entrez_kit.query.index import SearchIndex
from entrez_kit.query.mesh import Vocabulary
from entrez_kit.query.search import search

OVID_STOP_WORDS: Final = [
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "but",
    "by",
    "for",
    "from",
    "had",
    "has",
    "have",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "of",
    "on",
    "or",
    "that",
    "the",
    "their",
    "then",
    "there",
    "these",
    "they",
    "this",
    "to",
    "was",
    "were",
    "which",
    "with",
]
"""Words that Ovid does not count between the words of a proximity search."""
_COLUMNS: Final = {"year": "pdat_single", "entry": "mhda", "change": "mdat"}
_MOST_SPANS: Final = 2_000
Span = tuple[int, int, frozenset[int]]
"""The first and the last position of a match, and the positions of its words."""


def evaluate_meaning(
    node: Node,
    index: SearchIndex,
    vocabulary: Vocabulary | None = None,
    lines: Mapping[int, BitMap] | None = None,
) -> BitMap:
    """Return the records that a line finds at the service that it was written for.

    Args:
        node: the meaning of the line.
        index: the index of the records.
        vocabulary: MeSH.
        lines: the records of other lines, by number.

    Raises:
        CannotExpressError: the records do not have what the line searches.
    """
    return _Evaluator(index, vocabulary or Vocabulary(), lines or {}).evaluate(node)


class _Evaluator:
    def __init__(self, index: SearchIndex, vocabulary: Vocabulary, lines: Mapping[int, BitMap]) -> None:
        self._index, self._vocabulary, self._lines = index, vocabulary, lines
        self._expanded: dict[tuple[str, str], list[str]] = {}

    def evaluate(self, node: Node) -> BitMap:
        if isinstance(node, Any):
            return BitMap.union(BitMap(), *(self.evaluate(part) for part in node.parts))
        if isinstance(node, All):
            return reduce(and_, (self.evaluate(part) for part in node.parts))
        if isinstance(node, Exclude):
            return self.evaluate(node.left) - self.evaluate(node.right)
        if isinstance(node, Words | Near):
            return self._find_text(node)
        if isinstance(node, Days):
            return self._index.between(_COLUMNS[node.clock], node.low, node.high)
        if isinstance(node, Reference):
            return self._lines[node.number]
        if isinstance(node, PubMed):
            return self._search(node.query)
        if isinstance(node, Heading):
            if node.vocabulary != "mesh":
                raise CannotExpressError(f"the records have no headings of {node.vocabulary}")
            current = replace(node, name=RENAMED.get(node.name.lower(), node.name))
            return self._search(print_heading(current, noexp=not node.explodes))
        if isinstance(node, Value):
            return self._search(print_value(node, exact=True))
        assert isinstance(node, Unknown)
        raise CannotExpressError(node.reason)

    def _search(self, query: str) -> BitMap:
        return search(query, self._index, self._vocabulary, history=lambda number: self._lines[number]).records

    # words

    def _find_text(self, node: Words | Near) -> BitMap:
        leaf = next(one for one in walk(node) if isinstance(one, Words))
        assert leaf.scope is not None, "the parser sets the scope of every word"
        return BitMap.union(BitMap(), *(self._find_in(node, source) for source in list_sources(leaf.scope)))

    def _find_in(self, node: Node, source: str) -> BitMap:
        if source == "country":
            return BitMap()
        candidates = self._find_candidates(node, source)
        if isinstance(node, Words) and len(node.patterns) == 1:
            return candidates
        if not candidates:
            return candidates
        patterns = dict.fromkeys(pattern for one in walk(node) if isinstance(one, Words) for pattern in one.patterns)
        skips = any(isinstance(one, Near) and one.skips for one in walk(node))
        words = dict.fromkeys(word for pattern in patterns for word in self._expand(source, pattern))
        listed = list(dict.fromkeys([*words, *(OVID_STOP_WORDS if skips else ())]))
        found = BitMap()
        for record, places in self._index.positions(source, listed, candidates):
            known = dict(zip(listed, places, strict=True))
            by_pattern = {
                pattern: sorted({place for word in self._expand(source, pattern) for place in known[word]})
                for pattern in patterns
            }
            stops = sorted({place for word in OVID_STOP_WORDS for place in known[word]}) if skips else []
            if next(_list_spans(node, by_pattern, stops), None) is not None:
                found.add(record)
        return found

    def _find_candidates(self, node: Node, source: str) -> BitMap:
        if isinstance(node, Any):
            return BitMap.union(BitMap(), *(self._find_candidates(part, source) for part in node.parts))
        if isinstance(node, Near):
            return self._find_candidates(node.left, source) & self._find_candidates(node.right, source)
        assert isinstance(node, Words)
        return reduce(and_, (self._find_pattern(source, pattern) for pattern in node.patterns))

    def _find_pattern(self, source: str, pattern: str) -> BitMap:
        return BitMap.union(BitMap(), *(self._index.postings(source, word) for word in self._expand(source, pattern)))

    def _expand(self, source: str, pattern: str) -> list[str]:
        if not has_marks(pattern):
            return [pattern]
        known = self._expanded.get((source, pattern))
        if known is None:
            matches: Callable[[str], object] = compile_pattern(pattern).fullmatch
            known = [word for word in self._index.words(source, get_stem(pattern)) if matches(word)]
            self._expanded[source, pattern] = known
        return known


def _list_spans(node: Node, places: Mapping[str, Sequence[int]], stops: Sequence[int]) -> Iterator[Span]:
    """Yield the matches of words or of a proximity search in one word list of a record."""
    if isinstance(node, Any):
        for part in node.parts:
            yield from _list_spans(part, places, stops)
    elif isinstance(node, Words):
        later = [frozenset(places[pattern]) for pattern in node.patterns[1:]]
        for first in places[node.patterns[0]]:
            if all(first + offset in there for offset, there in enumerate(later, start=1)):
                last = first + len(later)
                yield first, last, frozenset(range(first, last + 1))
    elif isinstance(node, Near):
        lefts = [span for span, _ in zip(_list_spans(node.left, places, stops), range(_MOST_SPANS), strict=False)]
        rights = [span for span, _ in zip(_list_spans(node.right, places, stops), range(_MOST_SPANS), strict=False)]
        for left, right in product(lefts, rights):
            if left[2] & right[2]:
                continue
            if node.ordered and left[1] >= right[0]:
                continue
            low, high = min(left[1], right[1]), max(left[0], right[0])
            gap = max(high - low - 1, 0)
            if node.skips:
                gap -= sum(low < stop < high for stop in stops)
            if gap <= node.distance:
                yield min(left[0], right[0]), max(left[1], right[1]), left[2] | right[2]
