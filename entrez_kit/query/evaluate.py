"""Evaluate a resolved query on an index."""

from collections.abc import Callable, Collection, Sequence
from functools import reduce
from operator import and_

from pyroaring import BitMap

from entrez_kit.query.algebra import (
    And,
    Everything,
    HistorySet,
    Leaf,
    Not,
    Or,
    Phrase,
    Query,
    Range,
    Shown,
    Term,
    TermSet,
    Wildcard,
    Window,
)
from entrez_kit.query.index import SearchIndex


class Evaluator:
    """Evaluates resolved queries on an index and remembers the records of each leaf.

    Args:
        index: the index of the records.
        history: returns the records of an earlier search.
    """

    def __init__(self, index: SearchIndex, history: Callable[[int], BitMap] = lambda number: BitMap()) -> None:
        self.index = index
        self._history = history
        self._found: dict[Leaf, BitMap] = {}

    def evaluate(self, query: Query) -> BitMap:
        """Return the records that match a query."""
        # Each entry is a part to evaluate, or a function to call when its parts are on the stack of results.
        waiting: list[Query | tuple[Callable[[list[BitMap]], BitMap], int]] = [query]
        done: list[BitMap] = []
        while waiting:
            part = waiting.pop()
            if isinstance(part, tuple):
                combine, count = part
                done[-count:] = [combine(done[-count:])]
            elif isinstance(part, Shown):
                waiting.append(part.part)
            elif isinstance(part, And):
                waiting += [(_intersect, len(part.parts)), *reversed(part.parts)]
            elif isinstance(part, Or):
                waiting += [(_unite, len(part.parts)), *reversed(part.parts)]
            elif isinstance(part, Not):
                waiting += [(_subtract, 2), part.right, part.left]
            else:
                found = self._found.get(part)
                if found is None:
                    found = self._found[part] = _find(part, self.index, self._history)
                done.append(found)
        return done[0]


def _intersect(sets: list[BitMap]) -> BitMap:
    return reduce(and_, sets)


def _unite(sets: list[BitMap]) -> BitMap:
    return BitMap.union(BitMap(), *sets)


def _subtract(sets: list[BitMap]) -> BitMap:
    return sets[0] - sets[1]


def _find(leaf: Leaf, index: SearchIndex, history: Callable[[int], BitMap]) -> BitMap:
    match leaf:
        case Term(field, word):
            return _unite([index.postings(source, word) for source in field.sources])
        case TermSet(source, values):
            return index.find_any_value(source, values)
        case Wildcard(field, pattern) if field.kind == "text":
            return _unite([index.find_any_word(source, expand(index, source, pattern)) for source in field.sources])
        case Wildcard(field, pattern):
            source = field.sources[0]
            return index.find_any_value(source, expand_values(index, source, pattern))
        case Phrase(field, words):
            return _unite(
                [index.find_phrase(source, [expand(index, source, word) for word in words]) for source in field.sources]
            )
        case Window(field, words, distance):
            return _unite([index.find_window(source, words, distance) for source in field.sources])
        case Range(column, low, high):
            return index.between(column, low, high)
        case HistorySet(number):
            return history(number)
        case Everything():
            return index.list_records()


def expand(index: SearchIndex, source: str, pattern: str) -> list[str]:
    """Return the words of a word list that match a pattern; the word itself if the pattern has no ``*``."""
    if "*" not in pattern:
        return [pattern]
    return _filter(index.words(source, pattern.partition("*")[0]), pattern)


def expand_values(index: SearchIndex, source: str, pattern: str) -> list[str]:
    """Return the values of a value list that match a pattern."""
    return _filter(index.known_values(source, pattern.partition("*")[0]), pattern)


def _filter(known: Collection[str], pattern: str) -> list[str]:
    first, *inner, last = pattern.split("*")
    return [word for word in known if _has_parts(word, first, inner, last)]


def _has_parts(word: str, first: str, inner: Sequence[str], last: str) -> bool:
    """Return whether a word begins and ends with these parts and has the others in order between them."""
    place, end = len(first), len(word) - len(last)
    if end < place or not word.startswith(first) or not word.endswith(last):
        return False
    for part in inner:
        found = word.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True
