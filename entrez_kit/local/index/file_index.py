"""A search index of segment files. It has the same results as an index in memory, and its memory does not grow."""

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from entrez_kit.local.index import relevance
from entrez_kit.local.index.coding import Integers, Mask, Numbers, mask_members, sum_ranges
from entrez_kit.local.index.segment import BOUNDARY, Kind, Segment, TermList
from entrez_kit.local.records.sorted_index import SortedIndex
from entrez_kit.query import unsettled
from entrez_kit.query.index import VALUE_GAP

_SHIFT: Final = 32
_LOW: Final = (1 << _SHIFT) - 1
_MANY: Final = 1 << 16
_BATCH: Final = 50_000
"""Terms whose records are decoded at a time."""


class FileIndex(SortedIndex):
    """An index of segments.

    Args:
        segments: the files in order. The records of a segment follow those of the segments before it.
        removed: the records that are not found.

    Raises:
        StoreError: a segment cannot be read or is damaged.
    """

    def __init__(self, segments: Sequence[Path | Segment], removed: BitMap | None = None) -> None:
        self._segments = [one if isinstance(one, Segment) else Segment(one) for one in segments]
        self._bases = [0, *np.cumsum([one.records for one in self._segments], dtype=np.int64).tolist()]
        self.size = self._bases[-1]
        self._removed = removed or BitMap()
        self._changed = [self._list_removed(base, one) for base, one in zip(self._bases, self._segments, strict=False)]

    def _list_removed(self, base: int, segment: Segment) -> Numbers:
        """Return the removed records of a segment that still have postings, numbered within the segment."""
        there = self._removed & BitMap(range(base, base + segment.records))
        gone = (np.array(there.to_array(), np.int64) - base).astype(np.uint32)
        return np.setdiff1d(gone, segment.dropped)

    @property
    def _lists(self) -> Iterable[tuple[int, Segment, Numbers]]:
        return zip(self._bases, self._segments, self._changed, strict=False)

    # sets

    def list_records(self) -> BitMap:
        """Return all records."""
        return BitMap(range(self.size)) - self._removed

    def _collect(self, kind: Kind, source: str, texts: Sequence[str]) -> BitMap:
        """Return the records with any of these terms."""
        found = BitMap()
        for base, segment, _ in self._lists:
            listed = segment.list(kind, source)
            if listed is not None and len(numbers := listed.find(texts)):
                found |= _to_set(listed.read_records(numbers)[1], base, segment.records, single=len(numbers) == 1)
        return found - self._removed

    def postings(self, source: str, word: str) -> BitMap:
        """Return the records with this folded word in a word list."""
        return self._collect("words", source, [word]) if word else BitMap()

    def find_any_word(self, source: str, words: Iterable[str]) -> BitMap:
        """Return the records with any of these words in a word list."""
        return self._collect("words", source, [word for word in words if word])

    def values(self, source: str, value: str) -> BitMap:
        """Return the records with exactly this value."""
        return self._collect("values", source, [value])

    def find_any_value(self, source: str, values: Iterable[str]) -> BitMap:
        """Return the records with any of these values."""
        return self._collect("values", source, list(values))

    def between(self, column: str, low: int, high: int) -> BitMap:
        """Return the records with a number in this range, bounds included."""
        found = BitMap()
        for base, segment, _ in self._lists:
            listed = segment.list("numbers", column)
            if listed is not None:
                begin, end = np.searchsorted(listed.keys, low), np.searchsorted(listed.keys, high, side="right")
                if begin < end:
                    numbers = np.arange(begin, end)
                    found |= _to_set(listed.read_records(numbers)[1], base, segment.records, single=len(numbers) == 1)
        return found - self._removed

    # terms

    def words(self, source: str, prefix: str = "") -> Collection[str]:
        """Return the words of a word list that begin with a prefix."""
        return self._list_terms("words", source, prefix)

    def known_values(self, source: str, prefix: str = "") -> Collection[str]:
        """Return the values of a value list that begin with a prefix."""
        return self._list_terms("values", source, prefix)

    def _list_terms(self, kind: Kind, source: str, prefix: str) -> Collection[str]:
        found: set[str] = set()
        for _, segment, changed in self._lists:
            listed = segment.list(kind, source)
            if listed is None:
                continue
            begin, end = segment.guard(listed.texts.find_range, prefix)
            terms = segment.guard(listed.texts.read, begin, end)
            if len(changed):
                counts = self._count_records(listed, begin, end, changed)
                terms = [term for term, count in zip(terms, counts.tolist(), strict=True) if count]
            found.update(terms)
        found.discard(BOUNDARY)
        return sorted(found)

    def count_records(self, source: str) -> Counter[str]:
        """Return how many records have each word of a word list."""
        found: Counter[str] = Counter()
        for _, segment, changed in self._lists:
            listed = segment.list("words", source)
            if listed is not None:
                terms = segment.guard(listed.texts.read, 0, len(listed))
                counts = self._count_records(listed, 0, len(listed), changed)
                found.update(dict(zip(terms, counts.tolist(), strict=True)))
        del found[BOUNDARY]
        return +found

    def _count_records(self, listed: TermList, begin: int, end: int, changed: Numbers) -> Integers:
        """Return how many records have each term of a range, without those that were removed."""
        counts = [np.empty(0, np.int64)]
        for start in range(begin, end, _BATCH):
            sizes, records = listed.read_records(np.arange(start, min(start + _BATCH, end)))
            counts.append(sum_ranges(~np.isin(records, changed), sizes) if len(changed) else sizes)
        return np.concatenate(counts)

    # positions

    def _read_occurrences(
        self, listed: TermList, slots: Sequence[Sequence[str]]
    ) -> tuple[Numbers, list[Integers]] | None:
        """Return the records that have a word of each slot, and the occurrences of each slot in these records."""
        found = [listed.find(slot) for slot in slots]
        if any(not len(numbers) for numbers in found):
            return None
        known = {numbers.tobytes(): listed.read_words(numbers) for numbers in found}
        words = [known[numbers.tobytes()] for numbers in found]
        shared = _intersect([one.records if len(one.sizes) == 1 else np.unique(one.records) for one in words])
        if not len(shared):
            return None
        keys = {
            numbers.tobytes(): _select_keys(one.read_block, one.records, shared, single=len(one.sizes) == 1)
            for numbers, one in zip(found, words, strict=True)
        }
        return shared, [keys[numbers.tobytes()] for numbers in found]

    def _read_boundaries(self, listed: TermList, records: Numbers) -> Integers:
        """Return the places where a value other than the first one of a record begins."""
        if listed.texts.find(BOUNDARY) is None:
            return np.empty(0, np.int64)
        words = listed.read_words(np.zeros(1, np.int64))
        return _select_keys(words.read_block, words.records, records, single=True)

    def find_phrase(self, source: str, slots: Sequence[Sequence[str]]) -> BitMap:
        """Return the records with a sequence of words in one value of a word list."""

        def find(segment: Segment, listed: TermList) -> Integers | None:
            found = self._read_occurrences(listed, slots)
            if found is None:
                return None
            shared, keys = found
            starts: Integers | None = None
            for place in sorted(range(len(keys)), key=lambda number: len(keys[number])):
                there = keys[place] - place
                starts = there if starts is None else starts[mask_members(starts, there)]
            assert starts is not None
            if len(keys) > 1 and len(starts):
                bounds = self._read_boundaries(listed, shared)
                first, last = (np.searchsorted(bounds, starts + shift, side="right") for shift in (0, len(keys) - 1))
                starts = starts[first == last]
            return starts >> _SHIFT

        return self._search(source, find)

    def find_window(self, source: str, words: Sequence[str], distance: int) -> BitMap:
        """Return the records with words in any order and at most ``distance`` other words between first and last."""
        needed = Counter(words)

        def find(segment: Segment, listed: TermList) -> Integers | None:
            found = self._read_occurrences(listed, [[word] for word in needed])
            if found is None:
                return None
            bounds = self._read_boundaries(listed, found[0])
            keys = [_add_gaps(one, bounds) for one in found[1]]
            return find_windows(keys, list(needed.values()), unsettled.measure_window(words, distance)) >> _SHIFT

        return self._search(source, find)

    def _search(self, source: str, find: Callable[[Segment, TermList], Integers | None]) -> BitMap:
        found = BitMap()
        for base, segment, _ in self._lists:
            listed = segment.list("words", source)
            records = None if listed is None else segment.guard(find, segment, listed)
            if records is not None:
                found |= _to_set(records, base, segment.records)
        return found - self._removed

    def positions(
        self, source: str, words: Sequence[str], records: BitMap
    ) -> Iterator[tuple[int, Sequence[Sequence[int]]]]:
        """Yield each of these records with the ascending positions of each word in a word list."""
        wanted = np.array((records - self._removed).to_array(), np.int64)
        for base, segment, _ in self._lists:
            first, last = np.searchsorted(wanted, (base, base + segment.records))
            some = (wanted[first:last] - base).astype(np.uint32)
            if len(some):
                columns = segment.guard(self._read_positions, segment, source, words, some)
                for place, record in enumerate(some.tolist()):
                    yield base + record, [column[place] for column in columns]

    def _read_positions(
        self, segment: Segment, source: str, words: Sequence[str], records: Numbers
    ) -> list[list[list[int]]]:
        """Return the positions of each word in each of these records, numbered within the segment."""
        listed = segment.list("words", source)
        columns: list[list[list[int]]] = []
        bounds = self._read_boundaries(listed, records) if listed is not None else np.empty(0, np.int64)
        for word in words:
            numbers = listed.find([word]) if listed is not None and word else ()
            if listed is None or not len(numbers):
                columns.append([[] for _ in records])
                continue
            there = listed.read_words(np.array(numbers))
            keys = _add_gaps(_select_keys(there.read_block, there.records, records, single=True), bounds)
            ends = np.searchsorted(keys, (records.astype(np.int64) + 1) << _SHIFT).tolist()
            places = (keys & _LOW).tolist()
            columns.append([places[begin:end] for begin, end in zip([0, *ends], ends, strict=False)])
        return columns

    # order

    def pmids(self, numbers: Sequence[int] | NDArray[Any]) -> list[int]:
        """Return the PMIDs of records."""
        found: list[int] = self._read_column("pmids", np.asarray(numbers, np.int64)).tolist()
        return found

    def _read_column(self, name: str, numbers: Integers) -> Integers:
        if len(self._segments) == 1:
            only: Integers = getattr(self._segments[0], name)[numbers]
            return only
        found = np.empty(len(numbers), np.int64)
        for which, local, segment in self._split(numbers):
            found[which] = getattr(segment, name)[local]
        return found

    def _split(self, numbers: Integers) -> Iterator[tuple[Integers, Integers, Segment]]:
        """Yield the places of the numbers of each segment, and the numbers within it."""
        owners = np.searchsorted(self._bases, numbers, side="right") - 1
        for place, segment in enumerate(self._segments):
            which = np.flatnonzero(owners == place)
            if len(which):
                yield which, numbers[which] - self._bases[place], segment

    def rank(self, numbers: Sequence[int], order: str) -> list[int]:
        """Return record numbers in the requested order; ties are sorted by descending PMID."""
        wanted = np.asarray(numbers, np.int64)
        if not len(wanted):
            return []
        keys = [-self._read_column("pmids", wanted)]
        if order == "pub_date":
            keys.append(-self._read_column("dates", wanted))
        elif order in _SORT_TEXTS:
            keys.append(self._rank_texts(_SORT_TEXTS[order], wanted))
        ranked: list[int] = wanted[np.lexsort(keys)].tolist()
        return ranked

    def _rank_texts(self, source: str, numbers: Integers) -> Integers:
        """Return numbers with the same order as the sort texts of records."""
        if len(self._segments) == 1:
            return self._segments[0].guard(self._segments[0].rank_texts, source)[numbers].astype(np.int64)
        names: dict[str, int] = {}
        found = np.empty(len(numbers), np.int64)
        for which, local, segment in self._split(numbers):
            ranks, places = np.unique(segment.rank_texts(source)[local], return_inverse=True)
            listed = segment.list("sort", source)
            texts = [
                segment.guard(listed.texts.__getitem__, rank - 1).decode("utf-8", "surrogatepass")
                if listed and rank
                else ""
                for rank in ranks.tolist()
            ]
            found[which] = np.array([names.setdefault(text, len(names)) for text in texts])[places]
        order = np.empty(len(names), np.int64)
        order[[names[text] for text in sorted(names)]] = np.arange(len(names))
        return order[found]

    def rank_by_relevance(self, words: Sequence[str], records: BitMap, limit: int) -> list[tuple[int, float]]:
        """Return the most relevant of these records with their BM25 scores, best first.

        Equal scores are sorted by descending number. A record without any of the words has the score 0.
        """
        if limit < 1:
            return []
        records = records - self._removed
        wanted = None if len(records) == self.size - len(self._removed) else records
        found = relevance.rank(words, list(self._lists), wanted, *self._measures, limit)
        if len(found) < min(limit, len(records)):
            rest = records - BitMap([number for number, _ in found])
            found += [(number, 0.0) for number in rest[-(limit - len(found)) :][::-1]]
        return found

    @cached_property
    def _measures(self) -> tuple[int, float]:
        """The number of records and the mean length."""
        live = self.size - len(self._removed)
        total = sum(int(one.lengths.sum(dtype=np.int64)) for one in self._segments)
        removed = sum(
            int(one.lengths[changed].sum(dtype=np.int64))
            for one, changed in zip(self._segments, self._changed, strict=True)
        )
        return live, max(1.0, (total - removed) / max(1, live))


_SORT_TEXTS: Final = {"Author": "author", "JournalName": "journal"}


def _to_set(records: NDArray[Any], base: int, limit: int, *, single: bool = False) -> BitMap:
    """Return records as a set; those of a single term ascend."""
    if not single and len(records) > max(_MANY, limit >> 5):
        there = np.zeros(limit, np.bool_)
        there[records] = True
        records = np.flatnonzero(there)
    numbers = array("I")
    numbers.frombytes((records + base).astype(np.uint32).tobytes())
    return BitMap(numbers)


def _intersect(sets: Sequence[Numbers]) -> Numbers:
    """Return the numbers that are in all of these ascending lists."""
    found, *others = sorted(sets, key=len)
    for other in others:
        found = found[_mask_shared(found, other)]
    return found


def _mask_shared(wanted: Numbers, known: Numbers) -> Mask:
    """Return which of the wanted records are among the known ones; a table is faster for many."""
    if len(wanted) * 16 < len(known) or not len(known):
        return mask_members(wanted, known)
    there = np.zeros(max(int(known[-1]), int(wanted[-1]) if len(wanted) else 0) + 1, np.bool_)
    there[known] = True
    found: Mask = there[wanted]
    return found


def _select_keys(read: Callable[[], Any], records: Numbers, wanted: Numbers, *, single: bool) -> Integers:
    """Return the occurrences in the wanted records, in order."""
    block = read()
    if single:
        keys: Integers = block.select(_mask_shared(records, wanted)).find_keys()
        return keys
    there = np.zeros(max(int(records.max(initial=0)), int(wanted.max(initial=0))) + 1, np.bool_)
    there[wanted] = True
    return np.sort(block.select(there[records]).find_keys())


def _add_gaps(keys: Integers, bounds: Integers) -> Integers:
    """Return occurrences with the gaps between values in their positions."""
    if not len(bounds):
        return keys
    values = np.searchsorted(bounds, keys, side="right") - np.searchsorted(bounds, keys >> _SHIFT << _SHIFT)
    return keys + values * VALUE_GAP


def find_windows(keys: Sequence[Integers], needed: Sequence[int], length: int) -> Integers:
    """Return an occurrence in each window of ``length`` words that contains all words.

    Args:
        keys: the ascending occurrences of each word.
        needed: how often each word must occur.
        length: the length of a window.
    """
    rarest = min(keys, key=len)
    if len(keys) == 2 and max(needed) == 1:
        other = keys[0] if rarest is keys[1] else keys[1]
        places = np.searchsorted(other, rarest - (length - 1))
        places[places == len(other)] = 0
        nearest = other[places]
        return rarest[(nearest >= rarest - (length - 1)) & (nearest < rarest + length)]
    near = []
    for one in keys:
        if one is not rarest:
            last = np.searchsorted(rarest, one + (length - 1), side="right")
            one = one[last > np.searchsorted(rarest, one - (length - 1))]
        near.append(one)
    starts = np.unique(np.concatenate(near))
    for one, count in zip(near, needed, strict=True):
        last = np.searchsorted(one, starts + (length - 1), side="right")
        starts = starts[last - np.searchsorted(one, starts) >= count]
    return starts
