"""Postings: the records, counts by field and positions of each stem, as arrays in blocks of records.

A block numbers its records from 0. A posting is a record number and a 16-bit count: 4 bits for the title, 4 for the
terms, 8 for the abstract. Each occurrence has a 16-bit position. Each field has its own range of positions, so a
position identifies its field, and no phrase spans two fields.
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
"""The maximum number of records in a block; their numbers have 16 bits."""
_BEGIN: Final = (0, 2_048, 57_344, 1 << 16)
"""The first positions of title, abstract and terms, and the end; words beyond a range are not indexed."""
_STEP: Final = np.array([1 << 12, 1, 1 << 8], dtype=np.int32)
"""The value that an occurrence in title, abstract or terms adds to a packed count."""
_MOST: Final = np.array([15, 255, 15])
"""The maximum occurrences per field; further ones are not indexed."""

Numbers = NDArray[np.intp]
Floats = NDArray[np.float64]


class Postings(NamedTuple):
    """One stem in one block: ascending record numbers, their counts, and the positions in order of records."""

    docs: NDArray[np.uint16]
    counts: NDArray[np.uint16]
    positions: NDArray[np.uint16]

    @classmethod
    def of(cls, matches: bytes, positions: bytes = b"") -> "Postings":
        """Decode stored postings; the positions are optional."""
        docs, counts = np.frombuffer(matches, dtype="<u2").reshape(2, -1)
        return cls(docs, counts, np.frombuffer(positions, dtype="<u2"))


class Marks(NamedTuple):
    """The stem numbers of one record that can indicate its topic, and their counts."""

    numbers: NDArray[np.integer]
    counts: NDArray[np.uint16]

    @classmethod
    def of(cls, stored: bytes) -> "Marks":
        """Decode stored marks."""
        size = len(stored) // 6
        return cls(np.frombuffer(stored, "<u4", size), np.frombuffer(stored, "<u2", size, 4 * size))

    @property
    def encoded(self) -> bytes:
        """The encoded form: 32-bit numbers, then counts."""
        return self.numbers.astype("<u4", copy=False).tobytes() + self.counts.astype("<u2", copy=False).tobytes()


class Block(NamedTuple):
    """Records and all their postings, sorted by stem, record and position.

    ``numbers`` (indexes into ``stems``), ``docs``, ``counts`` and ``begins`` (the index of the first position) have one
    entry per posting. ``lengths`` are word counts of title and abstract.
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

    def encode(self, names: NDArray[np.integer]) -> Iterator[tuple[int, bytes, memoryview]]:
        """Yield the encoded postings of each stem in order of stem number; ``names`` maps ``stems`` to numbers."""
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
        """Return the marks of each record; ``names`` maps ``stems`` to numbers."""
        can = np.array(list(map(can_mark, self.stems)), dtype=np.bool_)
        places = np.flatnonzero(can[self.numbers]) if len(self.stems) else np.empty(0, dtype=np.intp)
        places = places[np.argsort(self.docs[places], kind="stable")]
        ends = np.searchsorted(self.docs[places], np.arange(len(self.pmids)), side="right").tolist()
        numbers, counts = names[self.numbers[places]], self.counts[places]
        return [Marks(numbers[start:end], counts[start:end]) for start, end in zip([0, *ends], ends, strict=False)]

    def _borders(self) -> list[NDArray[np.integer]]:
        """Return the stem numbers, and the first and last index of the postings and of the positions of each stem."""
        firsts = np.flatnonzero(_mask_changes(self.numbers))
        lasts = np.append(firsts[1:], len(self.begins))[: len(firsts)]  # empty if no record has a word
        borders = np.append(self.begins, len(self.positions))
        return [self.numbers[firsts], firsts, lasts, borders[firsts], borders[lasts]]


def build(rows: Iterable[IndexRow]) -> Block:
    """Index at most ``MOST_RECORDS`` records without keeping their texts."""
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
        *_group_postings(stem_of[occurrences], np.array(sizes, dtype=np.int64)),
    )


def length_of(row: IndexRow) -> int:
    """Count the words of title and abstract, separated by spaces."""
    return sum(
        len(text.split()) if "  " in text else text.count(" ") + text.count("\n") + 1
        for text in (row.title, row.abstract)
    )


def _group_postings(
    places: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.uint16], NDArray[np.uint16], NDArray[np.int32], NDArray[np.uint16]]:
    """Group occurrences (stem numbers in order of record and field) into postings; modifies ``places``."""
    # One sort key per occurrence: stem, record, position. ``begin`` is the field's first position minus the index.
    field = np.arange(len(sizes))
    begin = (field // 3 << 16) + np.array(_BEGIN)[field % 3] - (np.cumsum(sizes) - sizes)
    places <<= 32
    places += np.arange(len(places))
    places += np.repeat(begin, sizes)
    places.sort()
    begins, counts = _count_occurrences(places)
    if (counts > _MOST).any():
        places = places[_rank_occurrences(places) < _MOST[_find_field(places)]]
        begins, counts = _count_occurrences(places)
    first = places[begins]
    docs, packed = (first >> 16).astype(np.uint16), (counts @ _STEP).astype(np.uint16)
    return (first >> 32).astype(np.int32), docs, packed, begins.astype(np.int32), places.astype(np.uint16)


def _count_occurrences(places: NDArray[np.int64]) -> tuple[Numbers, NDArray[np.int32]]:
    """Return the first index of the occurrences of each stem in each record, and their counts per field."""
    begins = np.flatnonzero(_mask_changes(places >> 16))
    if not len(begins):
        return begins, np.empty((0, 3), dtype=np.int32)
    summed = np.add.reduceat(np.array([1 << 40, 1 << 20, 1])[_find_field(places)], begins)
    counts = np.empty((len(begins), 3), dtype=np.int32)
    for field, place in enumerate((40, 20, 0)):
        counts[:, field] = summed >> place & 0xFFFFF
    return begins, counts


def _find_field(places: NDArray[np.int64]) -> NDArray[np.int8]:
    position = places.astype(np.uint16)
    field: NDArray[np.int8] = (position >= _BEGIN[1]).view(np.int8) + (position >= _BEGIN[2]).view(np.int8)
    return field


def _rank_occurrences(places: NDArray[np.int64]) -> Numbers:
    """Return for each occurrence how many of the same stem, field and record come before it."""
    begins = np.flatnonzero(_mask_changes((places >> 16) * 3 + _find_field(places)))
    return np.arange(len(places)) - np.repeat(begins, np.diff(np.append(begins, len(places))))


def _mask_changes(values: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return a mask of the values that differ from the one before; the first value counts as different."""
    return np.append(np.ones(min(1, len(values)), dtype=np.bool_), values[1:] != values[:-1])


@lru_cache(maxsize=4)
def weigh(title: float, terms: float) -> Floats:
    """Return the weighted sum of each packed count; an occurrence in the abstract weighs 1."""
    count = np.arange(1 << 16)
    weights: Floats = title * (count >> 12) + (count & 0xFF) + terms * (count >> 8 & 0xF)
    return weights


_OCCURRENCES: Final = weigh(1.0, 1.0).astype(np.int64)
"""The number of positions of a posting, by packed count."""


def sift(postings: Postings, kept: NDArray[np.bool_]) -> Postings:
    """Return the postings of the records for which ``kept`` is true; positions may be absent."""
    chosen = kept[postings.docs]
    positions = postings.positions
    if len(positions):
        positions = positions[np.repeat(chosen, _OCCURRENCES[postings.counts])]
    return Postings(postings.docs[chosen], postings.counts[chosen], positions)


def phrase(words: Sequence[Postings], title: float, terms: float) -> tuple[NDArray[np.uint16], Floats]:
    """Return the records that contain a phrase within one field, and their counts weighted by field."""
    rarest = min(range(len(words)), key=lambda place: len(words[place].positions))
    found = _combine_positions(words[rarest]) - rarest
    for place, word in enumerate(words):
        if place != rarest and len(found):
            found = found[_mask_in(found + place, _combine_positions(word))]
    docs, first = np.unique(found >> 16, return_index=True)
    weights = np.array([title, 1.0, terms])[np.searchsorted(_BEGIN[1:3], found & 0xFFFF, side="right")]
    return docs.astype(np.uint16), np.add.reduceat(weights, first) if len(docs) else np.empty(0)


def _combine_positions(postings: Postings) -> NDArray[np.integer]:
    """Return each occurrence as one ascending number: record number, then position."""
    return np.repeat(postings.docs.astype(np.int64) << 16, _OCCURRENCES[postings.counts]) | postings.positions


def _mask_in(wanted: NDArray[np.integer], values: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return a mask of the ``wanted`` numbers that are in ``values``; both are sorted."""
    place = np.searchsorted(values, wanted)
    place[place == len(values)] = 0
    found: NDArray[np.bool_] = values[place] == wanted
    return found
