"""Postings: which records have a stem, how often in which field, and where; as arrays, in blocks of records.

A block numbers its records from 0. A posting is a record's number and a count of 16 bits: 4 for the title, 4 for the
terms, 8 for the abstract. Each occurrence has a position of 16 bits; every field begins at a place of its own, so that
a position tells its field, and no phrase runs from one field into the next.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from entrez_kit.corpus.search.terms import IndexRow, can_mark, plain, stems_of, words_of

MOST_RECORDS: Final = 1 << 16
"""Records of a block, whose numbers have 16 bits."""
_BEGIN: Final = (0, 2_048, 57_344, 1 << 16)
"""Where the positions of title, abstract and terms begin, and where they end; words beyond are not indexed."""
_STEP: Final = np.array([1 << 12, 1, 1 << 8], dtype=np.int32)
"""What an occurrence in title, abstract and terms adds to a count."""
_MOST: Final = np.array([15, 255, 15])
"""Further occurrences in a field are not indexed."""

Numbers = NDArray[np.intp]
Floats = NDArray[np.float64]


class Postings(NamedTuple):
    """One stem in one block: numbers of records, ascending, with their counts, and positions, record by record."""

    docs: NDArray[np.uint16]
    counts: NDArray[np.uint16]
    positions: NDArray[np.uint16]

    @classmethod
    def of(cls, matches: bytes, positions: bytes = b"") -> "Postings":
        """Read stored ones; the positions may be left out."""
        docs, counts = np.frombuffer(matches, dtype="<u2").reshape(2, -1)
        return cls(docs, counts, np.frombuffer(positions, dtype="<u2"))


class Marks(NamedTuple):
    """The stems of one record that can mark what it is about, by number, and their counts."""

    numbers: NDArray[np.integer]
    counts: NDArray[np.uint16]

    @classmethod
    def of(cls, stored: bytes) -> "Marks":
        """Read stored ones."""
        size = len(stored) // 6
        return cls(np.frombuffer(stored, "<u4", size), np.frombuffer(stored, "<u2", size, 4 * size))

    @property
    def stored(self) -> bytes:
        """Numbers of 32 bits, then counts."""
        return self.numbers.astype("<u4", copy=False).tobytes() + self.counts.astype("<u2", copy=False).tobytes()


class Block(NamedTuple):
    """Records and all their postings, sorted by stem, record and position.

    ``stems`` are those that occur; ``numbers`` (their places in that list), ``docs`` and ``counts`` have one entry a
    posting, ``begins`` says where its positions begin. ``lengths`` are words of title and abstract.
    """

    pmids: NDArray[np.uint32]
    lengths: NDArray[np.uint16]
    stems: list[str]
    numbers: NDArray[np.int32]
    docs: NDArray[np.uint16]
    counts: NDArray[np.uint16]
    begins: NDArray[np.int32]
    positions: NDArray[np.uint16]

    def by_stem(self) -> dict[str, Postings]:
        """Return the postings of each stem."""
        return {
            self.stems[number]: Postings(self.docs[first:last], self.counts[first:last], self.positions[start:end])
            for number, first, last, start, end in zip(*(part.tolist() for part in self._borders()), strict=True)
        }

    def stored(self, names: NDArray[np.integer]) -> Iterator[tuple[int, bytes, memoryview]]:
        """Yield the postings of each stem as they are stored, by the numbers that ``stems`` have, ascending."""
        docs, counts, positions = (
            values.astype("<u2", copy=False).data.cast("B") for values in (self.docs, self.counts, self.positions)
        )
        borders = self._borders()
        borders[0] = names[borders[0]]
        order = np.argsort(borders[0])
        for number, first, last, start, end in zip(*(part[order].tolist() for part in borders), strict=True):
            matches = b"".join((docs[2 * first : 2 * last], counts[2 * first : 2 * last]))
            yield number, matches, positions[2 * start : 2 * end]

    def marks(self, names: NDArray[np.integer]) -> list[Marks]:
        """Return for each record the stems that can mark what it is about, by the numbers that ``stems`` have."""
        can = np.array(list(map(can_mark, self.stems)), dtype=np.bool_)
        places = np.flatnonzero(can[self.numbers]) if len(self.stems) else np.empty(0, dtype=np.intp)
        places = places[np.argsort(self.docs[places], kind="stable")]
        ends = np.searchsorted(self.docs[places], np.arange(len(self.pmids)), side="right").tolist()
        numbers, counts = names[self.numbers[places]], self.counts[places]
        return [Marks(numbers[start:end], counts[start:end]) for start, end in zip([0, *ends], ends, strict=False)]

    def _borders(self) -> list[NDArray[np.integer]]:
        """Return the numbers of the stems, and where the postings and the positions of each begin and end."""
        firsts = np.flatnonzero(_differs(self.numbers))
        lasts = np.append(firsts[1:], len(self.begins))[: len(firsts)]  # none where no record has a word
        borders = np.append(self.begins, len(self.positions))
        return [self.numbers[firsts], firsts, lasts, borders[firsts], borders[lasts]]


def build(rows: Iterable[IndexRow]) -> Block:
    """Index records, at most ``MOST_RECORDS``; none of their texts is held."""
    words: defaultdict[str, int] = defaultdict(count().__next__)
    number_of = words.__getitem__
    occurrences, sizes, pmids, lengths = array("i"), array("i"), array("q"), array("q")
    for row in rows:
        pmids.append(row.pmid)
        lengths.append(length_of(row))
        for field, text in enumerate((row.title, row.abstract, row.terms)):
            found = words_of(plain(text))[: _BEGIN[field + 1] - _BEGIN[field] - 1]
            occurrences.extend(map(number_of, found))
            sizes.append(len(found))
    stems: dict[str, int] = {}
    stem_of = np.array([stems.setdefault(stem, len(stems)) for stem in stems_of(words)], dtype=np.int64)
    return Block(
        np.array(pmids, dtype=np.uint32),
        np.minimum(lengths, 0xFFFF).astype(np.uint16),
        list(stems),
        *_postings(stem_of[occurrences], np.array(sizes, dtype=np.int64)),
    )


def length_of(row: IndexRow) -> int:
    """Return how many words title and abstract have, as blanks part them."""
    return sum(
        len(text.split()) if "  " in text else text.count(" ") + text.count("\n") + 1
        for text in (row.title, row.abstract)
    )


def _postings(
    places: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.uint16], NDArray[np.uint16], NDArray[np.int32], NDArray[np.uint16]]:
    """Group occurrences, given as numbers of stems, field by field and record by record; their array is used up."""
    # One number each that sorts by stem, record and position: that of the field's begin, less what stands before it.
    field = np.arange(len(sizes))
    begin = (field // 3 << 16) + np.array(_BEGIN)[field % 3] - (np.cumsum(sizes) - sizes)
    places <<= 32
    places += np.arange(len(places))
    places += np.repeat(begin, sizes)
    places.sort()
    begins, counts = _counted(places)
    if (counts > _MOST).any():
        places = places[_rank(places) < _MOST[_field(places)]]
        begins, counts = _counted(places)
    first = places[begins]
    docs, packed = (first >> 16).astype(np.uint16), (counts @ _STEP).astype(np.uint16)
    return (first >> 32).astype(np.int32), docs, packed, begins.astype(np.int32), places.astype(np.uint16)


def _counted(places: NDArray[np.int64]) -> tuple[Numbers, NDArray[np.int32]]:
    """Return where the occurrences of each stem in each record begin, and how many there are in each field."""
    begins = np.flatnonzero(_differs(places >> 16))
    if not len(begins):
        return begins, np.empty((0, 3), dtype=np.int32)
    summed = np.add.reduceat(np.array([1 << 40, 1 << 20, 1])[_field(places)], begins)
    counts = np.empty((len(begins), 3), dtype=np.int32)
    for field, place in enumerate((40, 20, 0)):
        counts[:, field] = summed >> place & 0xFFFFF
    return begins, counts


def _field(places: NDArray[np.int64]) -> NDArray[np.int8]:
    position = places.astype(np.uint16)
    field: NDArray[np.int8] = (position >= _BEGIN[1]).view(np.int8) + (position >= _BEGIN[2]).view(np.int8)
    return field


def _rank(places: NDArray[np.int64]) -> Numbers:
    """Return how many occurrences of the same stem in the same field of the same record stand before each."""
    begins = np.flatnonzero(_differs((places >> 16) * 3 + _field(places)))
    return np.arange(len(places)) - np.repeat(begins, np.diff(np.append(begins, len(places))))


def _differs(values: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Say of each value whether it is another than the one before; the first is."""
    return np.append(np.ones(min(1, len(values)), dtype=np.bool_), values[1:] != values[:-1])


@lru_cache(maxsize=4)
def weigh(title: float, terms: float) -> Floats:
    """Return what each count comes to where an occurrence in the abstract counts 1."""
    count = np.arange(1 << 16)
    weights: Floats = title * (count >> 12) + (count & 0xFF) + terms * (count >> 8 & 0xF)
    return weights


_OCCURRENCES: Final = weigh(1.0, 1.0).astype(np.int64)
"""How many positions a posting of each count has."""


def sift(postings: Postings, kept: NDArray[np.bool_]) -> Postings:
    """Return the postings of those records alone for which ``kept`` is true; positions may have been left out."""
    chosen = kept[postings.docs]
    positions = postings.positions
    if len(positions):
        positions = positions[np.repeat(chosen, _OCCURRENCES[postings.counts])]
    return Postings(postings.docs[chosen], postings.counts[chosen], positions)


def phrase(words: Sequence[Postings], title: float, terms: float) -> tuple[NDArray[np.uint16], Floats]:
    """Return which records have words one after the other in one field, and how often, weighted by field."""
    rarest = min(range(len(words)), key=lambda place: len(words[place].positions))
    found = _places(words[rarest]) - rarest
    for place, word in enumerate(words):
        if place != rarest and len(found):
            found = found[_among(found + place, _places(word))]
    docs, first = np.unique(found >> 16, return_index=True)
    weights = np.array([title, 1.0, terms])[np.searchsorted(_BEGIN[1:3], found & 0xFFFF, side="right")]
    return docs.astype(np.uint16), np.add.reduceat(weights, first) if len(docs) else np.empty(0)


def _places(postings: Postings) -> NDArray[np.integer]:
    """Return every occurrence as one ascending number: that of the record, then the position."""
    return np.repeat(postings.docs.astype(np.int64) << 16, _OCCURRENCES[postings.counts]) | postings.positions


def _among(wanted: NDArray[np.integer], values: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Say which of the wanted are among the values; both ascend."""
    place = np.searchsorted(values, wanted)
    place[place == len(values)] = 0
    found: NDArray[np.bool_] = values[place] == wanted
    return found
