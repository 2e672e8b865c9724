"""The interface of a search index, and an index in memory.

Records are numbered from 0 in the order in which they were added to PubMed. Sets of records are bitmaps. Words have
positions: the words of one value follow each other, and the next value of the same word list begins ``VALUE_GAP``
positions later, so that no phrase and no proximity search extends over two values.
"""

from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import and_
from typing import Final

from pyroaring import BitMap

from entrez_kit.query import unsettled
from entrez_kit.query.words import normalize, split_words

VALUE_GAP: Final = 2_000
"""More than the largest distance of a proximity search, which is 1,000 words within one affiliation."""
FULL: Final = "="
"""The prefix of full names in a list of names; short names (smith ja) have none."""


class SearchIndex(ABC):
    """Sets of records by word, value and number."""

    size: int

    @abstractmethod
    def postings(self, source: str, word: str) -> BitMap:
        """Return the records with this folded word in a word list."""

    @abstractmethod
    def positions(
        self, source: str, words: Sequence[str], records: BitMap
    ) -> Iterator[tuple[int, Sequence[Sequence[int]]]]:
        """Yield each of these records with the ascending positions of each word in a word list."""

    @abstractmethod
    def words(self, source: str, prefix: str = "") -> Collection[str]:
        """Return the words of a word list that begin with a prefix."""

    @abstractmethod
    def values(self, source: str, value: str) -> BitMap:
        """Return the records with exactly this value."""

    @abstractmethod
    def known_values(self, source: str, prefix: str = "") -> Collection[str]:
        """Return the values of a value list that begin with a prefix."""

    @abstractmethod
    def between(self, column: str, low: int, high: int) -> BitMap:
        """Return the records with a number in this range, bounds included."""

    def list_records(self) -> BitMap:
        """Return all records."""
        return BitMap(range(self.size))

    def find_any_word(self, source: str, words: Iterable[str]) -> BitMap:
        """Return the records with any of these words in a word list."""
        return _unite(self.postings(source, word) for word in words)

    def find_any_value(self, source: str, values: Iterable[str]) -> BitMap:
        """Return the records with any of these values."""
        return _unite(self.values(source, value) for value in values)

    def has_value(self, source: str, value: str) -> bool:
        """Return whether any record has a value."""
        return bool(self.values(source, value))

    def find_phrase(self, source: str, slots: Sequence[Sequence[str]]) -> BitMap:
        """Return the records with a sequence of words in one value of a word list.

        Args:
            source: the word list.
            slots: the alternatives for each place of the sequence.
        """
        found = BitMap()
        for number, places in self._find_together(source, slots):
            starts = set(places[0])
            for offset, there in enumerate(places[1:], start=1):
                starts.intersection_update([place - offset for place in there])
            if starts:
                found.add(number)
        return found

    def find_window(self, source: str, words: Sequence[str], distance: int) -> BitMap:
        """Return the records with words in any order and at most ``distance`` other words between first and last."""
        found = BitMap()
        for number, places in self._find_together(source, [[word] for word in words]):
            if unsettled.is_within(places, words, distance):
                found.add(number)
        return found

    def _find_together(self, source: str, slots: Sequence[Sequence[str]]) -> Iterator[tuple[int, list[Sequence[int]]]]:
        """Yield the records that have a word of each slot, with the positions of these words."""
        together = reduce(and_, [self.find_any_word(source, slot) for slot in slots])
        if not together:
            return
        words = list(dict.fromkeys(word for slot in slots for word in slot))
        numbers = {word: number for number, word in enumerate(words)}
        for record, places in self.positions(source, words, together):
            yield (
                record,
                [
                    places[numbers[slot[0]]]
                    if len(slot) == 1
                    else sorted(place for word in slot for place in places[numbers[word]])
                    for slot in slots
                ],
            )


def _unite(sets: Iterable[BitMap]) -> BitMap:
    return BitMap.union(BitMap(), *sets)


@dataclass(slots=True)
class RecordTerms:
    """The searchable terms of one record.

    ``texts`` contains the folded words of each value, ``values`` contains normalized values, and ``numbers`` contains
    dates as yyyymmdd and the PMID.
    """

    texts: dict[str, list[list[str]]] = field(default_factory=dict)
    values: dict[str, list[str]] = field(default_factory=dict)
    numbers: dict[str, list[int]] = field(default_factory=dict)

    def add_text(self, source: str, *pieces: str) -> None:
        """Add pieces of text to a word list."""
        found = [split for piece in pieces if piece and (split := split_words(piece))]
        if found:
            self.texts.setdefault(source, []).extend(found)

    def add_value(self, source: str, *values: str) -> None:
        """Add normalized values."""
        self.add_exact(source, *(normalize(value) for value in values))

    def add_exact(self, source: str, *values: str) -> None:
        """Add values without normalization, because identifiers need their punctuation."""
        found = [value for value in values if value]
        known = self.values.get(source)
        if known is None:
            if found:
                self.values[source] = list(dict.fromkeys(found))
        elif len(found) == 1:
            if found[0] not in known:
                known.append(found[0])
        elif found:
            self.values[source] = list(dict.fromkeys((*known, *found)))

    def add_names(self, source: str, people: Iterable[tuple[str, str]]) -> None:
        """Add people by short and by full name; a query can truncate only short names to fewer initials."""
        for short, full in people:
            self.add_value(source, short)
            self.add_exact(source, f"{FULL}{normalize(full)}" if full else "")

    def add_number(self, column: str, *numbers: int) -> None:
        """Add dates or other numbers; zeros are ignored."""
        found = [number for number in numbers if number]
        if found:
            self.numbers.setdefault(column, []).extend(dict.fromkeys(found))


def find_positions(pieces: Iterable[Sequence[str]], words: Sequence[str]) -> list[list[int]]:
    """Return the positions of each word in the values of a word list."""
    wanted: dict[str, list[int]] = {word: [] for word in words}
    offset = 0
    for piece in pieces:
        for place, word in enumerate(piece, start=offset):
            if word in wanted:
                wanted[word].append(place)
        offset += len(piece) + VALUE_GAP
    return [wanted[word] for word in words]


class MemoryIndex(SearchIndex):
    """An inverted index of records in memory.

    Args:
        count: number of records.
        read: returns the terms of a record. It is called again to check phrases, so that no positions are stored.
    """

    def __init__(self, count: int, read: Callable[[int], RecordTerms]) -> None:
        self.size = count
        self._words: dict[str, dict[str, array[int]]] = {}
        self._values: dict[str, dict[str, array[int]]] = {}
        self._columns: dict[str, list[tuple[int, int]]] = {}
        self._sorted: dict[tuple[str, str], list[str]] = {}
        self._read = lru_cache(maxsize=4096)(read)
        for number in range(count):
            self._add(number, read(number))

    def _add(self, number: int, terms: RecordTerms) -> None:
        for source, pieces in terms.texts.items():
            listed = self._words.setdefault(source, {})
            for word in {word for piece in pieces for word in piece}:
                listed.setdefault(word, array("I")).append(number)
        for source, values in terms.values.items():
            known = self._values.setdefault(source, {})
            for value in values:
                known.setdefault(value, array("I")).append(number)
        for column, numbers in terms.numbers.items():
            self._columns.setdefault(column, []).extend((value, number) for value in numbers)

    def postings(self, source: str, word: str) -> BitMap:
        """Return the records with this folded word in a word list."""
        return BitMap(self._words.get(source, {}).get(word, ()))

    def positions(
        self, source: str, words: Sequence[str], records: BitMap
    ) -> Iterator[tuple[int, Sequence[Sequence[int]]]]:
        """Yield each of these records with the ascending positions of each word in a word list."""
        for number in records:
            yield number, find_positions(self._read(number).texts.get(source, ()), words)

    def words(self, source: str, prefix: str = "") -> Collection[str]:
        """Return the words of a word list that begin with a prefix."""
        return self._find_prefix("words", source, self._words.get(source, {}).keys(), prefix)

    def values(self, source: str, value: str) -> BitMap:
        """Return the records with exactly this value."""
        return BitMap(self._values.get(source, {}).get(value, ()))

    def has_value(self, source: str, value: str) -> bool:
        """Return whether any record has a value."""
        return value in self._values.get(source, {})

    def known_values(self, source: str, prefix: str = "") -> Collection[str]:
        """Return the values of a value list that begin with a prefix."""
        return self._find_prefix("values", source, self._values.get(source, {}).keys(), prefix)

    def _find_prefix(self, kind: str, source: str, known: Collection[str], prefix: str) -> Collection[str]:
        """Return the terms of a list that begin with a prefix; they are sorted on first use."""
        if not prefix:
            return known
        terms = self._sorted.get((kind, source))
        if terms is None:
            terms = self._sorted[kind, source] = sorted(known)
        return terms[bisect_left(terms, prefix) : bisect_left(terms, f"{prefix}\U0010ffff")]

    def between(self, column: str, low: int, high: int) -> BitMap:
        """Return the records with a number in this range, bounds included."""
        return BitMap([number for value, number in self._columns.get(column, ()) if low <= value <= high])
