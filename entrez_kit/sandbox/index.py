"""The interface of a search index, and the index of parsed records."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Any

from entrez_kit.sandbox import bits
from entrez_kit.sandbox.terms import Terms

SortKeys = tuple[int, str, str, int]
"""The sort keys of a record: publication date, first author, journal, PMID."""


class SearchIndex(ABC):
    """Sets of records (see ``bits``) by word, value and date; records are numbered from 0."""

    size: int

    @property
    def everything(self) -> int:
        """The set of all records."""
        return bits.fill(self.size)

    @abstractmethod
    def word(self, source: str, word: str) -> int:
        """Return the records with this folded word in a word list."""

    @abstractmethod
    def known_words(self, source: str) -> Collection[str]:
        """Return the words of a word list."""

    def certain(self, source: str, phrase: Sequence[str]) -> int:
        """Return records that are known to have a phrase; the caller checks the others that have its words."""
        return 0

    @abstractmethod
    def pieces(self, number: int, source: str) -> Sequence[Sequence[str]]:
        """Return the words of one record, piece by piece, to check phrases."""

    @abstractmethod
    def value(self, source: str, value: str) -> int:
        """Return the records with exactly this value."""

    @abstractmethod
    def known_values(self, source: str) -> Collection[str]:
        """Return the values of a value list; an index may omit identifiers that it can compute."""

    @abstractmethod
    def between(self, source: str, low: int, high: int) -> int:
        """Return the records with a date in this range, bounds included."""

    @abstractmethod
    def rank(self, numbers: Sequence[int], order: str) -> list[int]:
        """Return record numbers in the order "Author", "JournalName" or "pub_date"; otherwise by descending PMID."""


def has_phrase(pieces: Sequence[Sequence[str]], phrase: Sequence[str], *, open_end: bool = False) -> bool:
    """Return whether one piece contains the words in sequence; with ``open_end``, the last is a prefix of a word."""
    length = len(phrase)
    *head, last = phrase
    for piece in pieces:
        for start in range(len(piece) - length + 1):
            if piece[start] != phrase[0] and not (length == 1 and open_end):
                continue
            end = piece[start + length - 1]
            if (end.startswith(last) if open_end else end == last) and list(piece[start : start + length - 1]) == head:
                return True
    return False


def has_near(pieces: Sequence[Sequence[str]], wanted: Sequence[str], distance: int) -> bool:
    """Return whether one piece contains the words in any order with at most ``distance`` other words between them."""
    span = len(wanted) + distance
    need = set(wanted)
    return any(
        need <= set(piece[start : start + span])
        for piece in pieces
        for start in range(max(1, len(piece) - len(wanted) + 1))
    )


class ParsedIndex(SearchIndex):
    """An inverted index of the terms of parsed records."""

    def __init__(self, count: int, read: Callable[[int], tuple[Terms, SortKeys]]) -> None:
        self.size = count
        self._words: dict[str, dict[str, array[int]]] = {}
        self._values: dict[str, dict[str, array[int]]] = {}
        self._dates: dict[str, list[tuple[int, ...]]] = {}
        self._keys: list[SortKeys] = []
        self._terms = lru_cache(maxsize=4096)(lambda number: read(number)[0])
        for number in range(count):
            terms, keys = read(number)
            self._add(number, terms)
            self._keys.append(keys)

    def _add(self, number: int, terms: Terms) -> None:
        for source, pieces in terms.texts.items():
            listed = self._words.setdefault(source, {})
            for word in {word for piece in pieces for word in piece}:
                listed.setdefault(word, array("I")).append(number)
        for source, values in terms.values.items():
            known = self._values.setdefault(source, {})
            for value in values:
                known.setdefault(value, array("I")).append(number)
        for source, dates in terms.dates.items():
            column = self._dates.setdefault(source, [])
            column.extend([()] * (number - len(column)))
            column.append(tuple(dates))

    def word(self, source: str, word: str) -> int:
        """Return the records with this folded word in a word list."""
        return bits.from_numbers(self._words.get(source, {}).get(word, ()), self.size)

    def known_words(self, source: str) -> Collection[str]:
        """Return the words of a word list."""
        return self._words.get(source, {}).keys()

    def frequency(self, source: str, word: str) -> int:
        """Return the number of records that have a word."""
        return len(self._words.get(source, {}).get(word, ()))

    def pieces(self, number: int, source: str) -> Sequence[Sequence[str]]:
        """Return the words of one record, piece by piece."""
        return self._terms(number).texts.get(source, ())

    def value(self, source: str, value: str) -> int:
        """Return the records with exactly this value."""
        return bits.from_numbers(self._values.get(source, {}).get(value, ()), self.size)

    def known_values(self, source: str) -> Collection[str]:
        """Return the values of a value list."""
        return self._values.get(source, {}).keys()

    def between(self, source: str, low: int, high: int) -> int:
        """Return the records with a date in this range, bounds included."""
        column: Sequence[Any] = self._dates.get(source, ())
        return bits.from_numbers(
            (number for number, dates in enumerate(column) if any(low <= date <= high for date in dates)), self.size
        )

    def rank(self, numbers: Sequence[int], order: str) -> list[int]:
        """Return record numbers in the requested order; ties are sorted by descending PMID."""
        newest = sorted(numbers, key=lambda number: -self._keys[number][3])
        if order == "pub_date":
            return sorted(newest, key=lambda number: -self._keys[number][0])
        if order == "Author":
            return sorted(newest, key=lambda number: self._keys[number][1])
        if order == "JournalName":
            return sorted(newest, key=lambda number: self._keys[number][2])
        return newest
