"""Evaluate a resolved query on an index."""

import re
from collections.abc import Callable, Collection
from fnmatch import translate
from functools import lru_cache, reduce
from glob import escape
from operator import and_, sub
from typing import TYPE_CHECKING, Any, TypeVar

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

if TYPE_CHECKING:
    from entrez_kit.query.segments.search_index import SearchIndex

Records = TypeVar("Records")
"""A set of records: a BitMap, or a set of ids."""


class Evaluator:
    """Evaluates resolved queries on an index and remembers the records of each leaf.

    Args:
        index: the index of the records.
        history: returns the records of an earlier search.
    """

    def __init__(self, index: "SearchIndex", history: Callable[[int], BitMap] = lambda number: BitMap()) -> None:
        self.index = index
        self._history = history
        self._found: dict[Leaf, BitMap] = {}

    def evaluate(self, query: Query) -> BitMap:
        """Return the records that match a query."""
        return combine_sets(query, self._find_leaf)

    def _find_leaf(self, leaf: Leaf) -> BitMap:
        records = self._found.get(leaf)
        if records is None:
            records = self._found[leaf] = _find(leaf, self.index, self._history)
        return records


def combine_sets(query: Query, find: Callable[[Leaf], Records]) -> Records:
    """Return the records that match a query, without recursion.

    Args:
        query: the query.
        find: returns the records of a leaf.
    """
    # Each entry is a part to evaluate, or an operator whose operands are on the stack of results.
    waiting: list[Query | tuple[str, int]] = [query]
    done: list[Records] = []
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            operator, count = part
            done[-count:] = [_combine(operator, done[-count:])]
        elif isinstance(part, Shown):
            waiting.append(part.part)
        elif isinstance(part, And):
            waiting += [("AND", len(part.parts)), *reversed(part.parts)]
        elif isinstance(part, Or):
            waiting += [("OR", len(part.parts)), *reversed(part.parts)]
        elif isinstance(part, Not):
            waiting += [("NOT", 2), part.right, part.left]
        else:
            done.append(find(part))
    return done[0]


def _combine(operator: str, sets: list[Any]) -> Any:
    if operator == "OR":
        return sets[0].union(*sets)  # BitMap.union is a class method
    return reduce(and_ if operator == "AND" else sub, sets)


def _unite(sets: list[BitMap]) -> BitMap:
    return BitMap.union(BitMap(), *sets)


def _find(leaf: Leaf, index: "SearchIndex", history: Callable[[int], BitMap]) -> BitMap:
    match leaf:
        case Term(field, word):
            return _unite([index.find_word(source, word) for source in field.sources])
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
            return index.find_range(column, low, high)
        case HistorySet(number):
            return history(number)
        case Everything():
            return index.list_records()


def expand(index: "SearchIndex", source: str, pattern: str) -> list[str]:
    """Return the words of a word list that match a pattern; the word itself if the pattern has no ``*``."""
    if "*" not in pattern:
        return [pattern]
    return _filter(index.list_words(source, pattern.partition("*")[0]), pattern)


def expand_values(index: "SearchIndex", source: str, pattern: str) -> list[str]:
    """Return the values of a value list that match a pattern."""
    return _filter(index.list_values(source, pattern.partition("*")[0]), pattern)


def _filter(known: Collection[str], pattern: str) -> list[str]:
    return list(filter(_compile(pattern).match, known))


@lru_cache(maxsize=256)
def _compile(pattern: str) -> "re.Pattern[str]":
    return re.compile(translate("*".join(map(escape, pattern.split("*")))))
