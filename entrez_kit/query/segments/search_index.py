"""The search index. Its memory does not grow with the number of records in segment files.

Records are numbered from 0 in the order in which they were added to PubMed. Sets of records are bitmaps.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from entrez_kit.query.segments import relevance
from entrez_kit.query.segments.coding import Integers, Mask, Numbers, sum_ranges
from entrez_kit.query.segments.positions import SHIFT, add_gaps, find_phrase, find_window, read_boundaries, select_keys
from entrez_kit.query.segments.segment import BOUNDARY, SEPARATOR, Kind, Segment, TermList, encode_number, encode_term

_LOW: Final = (1 << SHIFT) - 1
_MANY: Final = 1 << 16
_BATCH: Final = 50_000
"""Terms whose records are decoded at a time."""
_MAX_FIRST_WORDS: Final = 10_000
"""Maximum number of first words that are remembered."""


class SearchIndex:
    """An index of segments.

    Args:
        segments: the segments in order. The records of a segment follow those of the segments before it.
        removed: the records that are not found.

    Raises:
        StoreError: a segment cannot be read or is damaged.
    """

    def __init__(self, segments: Sequence[Path | Segment], removed: BitMap | None = None) -> None:
        self.segments = [segment if isinstance(segment, Segment) else Segment(segment) for segment in segments]
        self._bases = [0, *np.cumsum([segment.records for segment in self.segments], dtype=np.int64).tolist()]
        self.size = self._bases[-1]
        self._removed = removed or BitMap()
        self._first_words: dict[tuple[str, str], bool] = {}
        self._changed = [
            self._list_removed(base, segment) for base, segment in zip(self._bases, self.segments, strict=False)
        ]

    def _list_removed(self, base: int, segment: Segment) -> Numbers:
        """Return the removed records of a segment that still have postings, numbered within the segment."""
        there = self._removed & BitMap(range(base, base + segment.records))
        gone = (np.array(there.to_array(), np.int64) - base).astype(np.uint32)
        return np.setdiff1d(gone, segment.dropped)

    @property
    def _lists(self) -> Iterable[tuple[int, Segment, Numbers]]:
        return zip(self._bases, self.segments, self._changed, strict=False)

    # sets

    def list_records(self) -> BitMap:
        """Return all records."""
        return BitMap(range(self.size)) - self._removed

    def find_terms(self, kind: Kind, source: str, texts: Sequence[str]) -> BitMap:
        """Return the records with any of these terms."""
        records = BitMap()
        for base, segment, _ in self._lists:
            listed = segment.list(kind, source)
            if listed is not None and len(numbers := listed.find(texts)):
                records |= _to_set(listed.read_records(numbers)[1], base, segment.records, single=len(numbers) == 1)
        return records - self._removed if records else records

    def find_word(self, source: str, word: str) -> BitMap:
        """Return the records with this folded word in a word list."""
        return self.find_terms("words", source, [word]) if word else BitMap()

    def find_any_word(self, source: str, words: Iterable[str]) -> BitMap:
        """Return the records with any of these words in a word list."""
        return self.find_terms("words", source, [word for word in words if word])

    def find_value(self, source: str, value: str) -> BitMap:
        """Return the records with exactly this value."""
        return self.find_terms("values", source, [value])

    def find_any_value(self, source: str, values: Iterable[str]) -> BitMap:
        """Return the records with any of these values."""
        return self.find_terms("values", source, list(values))

    def has_value(self, source: str, value: str) -> bool:
        """Return whether any record has a value."""
        return self._may_begin(source, value) and bool(self.find_value(source, value))

    def _may_begin(self, source: str, text: str) -> bool:
        """Return whether values can begin with a text, by its first word: term mapping asks for many texts with it."""
        word, space, _ = text.partition(" ")
        if not space:
            return True
        known = self._first_words.get((source, word))
        if known is None:
            if len(self._first_words) >= _MAX_FIRST_WORDS:
                self._first_words.clear()
            known = self._first_words[source, word] = self._has_prefix(source, word + space)
        return known

    def _has_prefix(self, source: str, prefix: str) -> bool:
        """Return whether a value list has a value with a prefix, also one that no remaining record has."""
        for segment in self.segments:
            listed = segment.list("values", source)
            if listed is not None:
                begin, end = segment.guard(listed.texts.find_range, prefix)
                if begin < end:
                    return True
        return False

    def find_range(self, column: str, low: int, high: int) -> BitMap:
        """Return the records with a number in this range, bounds included."""
        found = BitMap()
        for base, segment, _ in self._lists:
            listed = segment.list("numbers", column)
            if listed is not None:
                begin = segment.guard(listed.texts.find_place, encode_term(encode_number(low)))
                end = segment.guard(listed.texts.find_place, encode_term(encode_number(high)) + SEPARATOR)
                if begin < end:
                    records = listed.read_records(np.arange(begin, end))[1]
                    found |= _to_set(records, base, segment.records, single=end - begin == 1)
        return found - self._removed

    # terms

    def list_words(self, source: str, prefix: str = "") -> Collection[str]:
        """Return the words of a word list that begin with a prefix."""
        return self.list_terms("words", source, prefix)

    def list_values(self, source: str, prefix: str = "") -> Collection[str]:
        """Return the values of a value list that begin with a prefix."""
        return self.list_terms("values", source, prefix) if self._may_begin(source, prefix) else ()

    def list_terms(self, kind: Kind, source: str, prefix: str) -> Collection[str]:
        """Return the terms of a list that begin with a prefix."""
        all_terms: set[str] = set()
        for _, segment, changed in self._lists:
            listed = segment.list(kind, source)
            if listed is None:
                continue
            begin, end = segment.guard(listed.texts.find_range, prefix)
            terms = segment.guard(listed.texts.read, begin, end)
            if len(changed):
                counts = self._count_records(listed, begin, end, changed)
                terms = [term for term, count in zip(terms, counts.tolist(), strict=True) if count]
            all_terms.update(terms)
        all_terms.discard(BOUNDARY)
        return sorted(all_terms)

    def count_records(self, source: str) -> Counter[str]:
        """Return how many records have each word of a word list."""
        counted: Counter[str] = Counter()
        for _, segment, changed in self._lists:
            listed = segment.list("words", source)
            if listed is not None:
                terms = segment.guard(listed.texts.read, 0, len(listed))
                counts = self._count_records(listed, 0, len(listed), changed)
                counted.update(dict(zip(terms, counts.tolist(), strict=True)))
        del counted[BOUNDARY]
        return +counted

    def _count_records(self, listed: TermList, begin: int, end: int, changed: Numbers) -> Integers:
        """Return how many records have each term of a range, without those that were removed."""
        counts = [np.empty(0, np.int64)]
        for start in range(begin, end, _BATCH):
            sizes, records = listed.read_records(np.arange(start, min(start + _BATCH, end)))
            counts.append(sum_ranges(~np.isin(records, changed), sizes) if len(changed) else sizes)
        return np.concatenate(counts)

    # phrases

    def find_phrase(self, source: str, slots: Sequence[Sequence[str]]) -> BitMap:
        """Return the records with a sequence of words in one value of a word list."""
        return self._search_words(source, lambda listed: find_phrase(listed, slots))

    def find_window(self, source: str, words: Sequence[str], distance: int) -> BitMap:
        """Return the records with words in any order and at most ``distance`` other words between first and last."""
        return self._search_words(source, lambda listed: find_window(listed, words, distance))

    def _search_words(self, source: str, find: Callable[[TermList], Integers]) -> BitMap:
        records = BitMap()
        for base, segment, _ in self._lists:
            listed = segment.list("words", source)
            if listed is not None:
                records |= _to_set(segment.guard(find, listed) >> SHIFT, base, segment.records)
        return records - self._removed

    def read_positions(
        self, source: str, words: Sequence[str], records: BitMap
    ) -> Iterator[tuple[int, Sequence[Sequence[int]]]]:
        """Yield each of these records with the ascending positions of each word in a word list."""
        wanted = np.array((records - self._removed).to_array(), np.int64)
        for base, segment, _ in self._lists:
            first, last = np.searchsorted(wanted, (base, base + segment.records))
            some = (wanted[first:last] - base).astype(np.uint32)
            if len(some):
                columns = segment.guard(self._read_segment_positions, segment, source, words, some)
                for index, record in enumerate(some.tolist()):
                    yield base + record, [column[index] for column in columns]

    def _read_segment_positions(
        self, segment: Segment, source: str, words: Sequence[str], records: Numbers
    ) -> list[list[list[int]]]:
        """Return the positions of each word in each of these records, numbered within the segment."""
        listed = segment.list("words", source)
        columns: list[list[list[int]]] = []
        bounds = read_boundaries(listed, records) if listed is not None else np.empty(0, np.int64)
        for word in words:
            numbers = listed.find([word]) if listed is not None and word else ()
            if listed is None or not len(numbers):
                columns.append([[] for _ in records])
                continue
            there = listed.read_words(np.array(numbers))
            keys = add_gaps(select_keys(there, records, single=True), bounds)
            ends = np.searchsorted(keys, (records.astype(np.int64) + 1) << SHIFT).tolist()
            places = (keys & _LOW).tolist()
            columns.append([places[begin:end] for begin, end in zip([0, *ends], ends, strict=False)])
        return columns

    # order

    def read_pmids(self, numbers: Sequence[int] | NDArray[Any]) -> list[int]:
        """Return the PMIDs of records."""
        pmids: list[int] = self._read_column("pmids", np.asarray(numbers, np.int64)).tolist()
        return pmids

    def _read_column(self, name: str, numbers: Integers) -> Integers:
        if len(self.segments) == 1:
            only: Integers = getattr(self.segments[0], name)[numbers]
            return only
        values = np.empty(len(numbers), np.int64)
        for which, local, segment in self._split(numbers):
            values[which] = getattr(segment, name)[local]
        return values

    def _split(self, numbers: Integers) -> Iterator[tuple[Integers, Integers, Segment]]:
        """Yield the places of the numbers of each segment, and the numbers within it."""
        owners = np.searchsorted(self._bases, numbers, side="right") - 1
        for index, segment in enumerate(self.segments):
            which = np.flatnonzero(owners == index)
            if len(which):
                yield which, numbers[which] - self._bases[index], segment

    def rank(self, numbers: Sequence[int], order: str) -> list[int]:
        """Return record numbers by descending publication date ("pub_date") or by the sort texts of an order.

        Equal records, and all records in an order without sort texts, are sorted by descending PMID.
        """
        wanted = np.asarray(numbers, np.int64)
        keys = (-self._read_column("pmids", wanted), self.read_sort_keys(wanted, order))
        ranked: list[int] = wanted[np.lexsort(keys)].tolist()
        return ranked

    def read_sort_keys(self, numbers: Sequence[int] | Integers, order: str) -> Integers:
        """Return numbers in the order of records; records that are equal in this order have the same number."""
        wanted = np.asarray(numbers, np.int64)
        if order == "pub_date":
            return -self._read_column("dates", wanted)
        return self._rank_texts(order, wanted)

    def has_sort_texts(self, order: str) -> bool:
        """Return whether each segment with records has sort texts of this order."""
        return all(segment.list("sort", order) is not None for segment in self.segments if segment.records)

    def _rank_texts(self, source: str, numbers: Integers) -> Integers:
        """Return numbers with the same order as the sort texts of records."""
        if len(self.segments) == 1:
            return self.segments[0].guard(self.segments[0].rank_texts, source)[numbers].astype(np.int64)
        names: dict[str, int] = {}
        text_numbers = np.empty(len(numbers), np.int64)
        for which, local, segment in self._split(numbers):
            ranks, places = np.unique(segment.rank_texts(source)[local], return_inverse=True)
            listed = segment.list("sort", source)
            texts = [
                segment.guard(listed.texts.__getitem__, rank - 1).decode("utf-8", "surrogatepass")
                if listed and rank
                else ""
                for rank in ranks.tolist()
            ]
            text_numbers[which] = np.array([names.setdefault(text, len(names)) for text in texts])[places]
        order = np.empty(len(names), np.int64)
        order[[names[text] for text in sorted(names)]] = np.arange(len(names))
        return order[text_numbers]

    def rank_by_relevance(self, words: Sequence[str], records: BitMap, limit: int) -> list[tuple[int, float]]:
        """Return the most relevant of these records with their BM25 scores, best first.

        Equal scores are sorted by descending number. A record without any of the words has the score 0.
        """
        if limit < 1:
            return []
        records = records - self._removed
        every = len(records) == self.size - len(self._removed)
        concepts = [relevance.Concept(((word,),), times) for word, times in Counter(words).items() if word]
        numbers, scores = self.find_best(concepts, relevance.PUBMED, limit, None if every else records)
        order = np.lexsort((-numbers, -scores))[:limit]
        ranked = list(zip(numbers[order].tolist(), scores[order].tolist(), strict=True))
        if len(ranked) < min(limit, len(records)):
            unscored = records - BitMap([number for number, _ in ranked])
            ranked += [(number, 0.0) for number in unscored[-(limit - len(ranked)) :][::-1]]
        return ranked

    def find_best(
        self,
        concepts: Sequence[relevance.Concept],
        formula: relevance.Formula,
        limit: int,
        records: BitMap | None = None,
    ) -> tuple[Integers, relevance.Floats]:
        """Return the records with the highest scores above 0 and these scores, in no order.

        All records with the score of the last one are returned too.

        Args:
            concepts: what is searched.
            formula: the parameters of the score.
            limit: the number of records to return.
            records: the records to search; None for all.
        """
        if records is None and self._removed:
            records = self.list_records()

        def mask(base: int, count: int) -> Mask | None:
            if records is None:
                return None
            there = np.zeros(count, np.bool_)
            there[np.array((records & BitMap(range(base, base + count))).to_array(), np.int64) - base] = True
            return there

        return relevance.find_best_records(concepts, list(self._lists), mask, formula, self._measures, limit)

    def count_phrases(self, phrases: tuple[relevance.WordSequence, ...], formula: relevance.Formula) -> int:
        """Return how many records have one of some words and phrases in the word lists of a formula."""
        listed = ((self._read_occurrences(segment, phrases, formula), removed) for _, segment, removed in self._lists)
        return sum(occurrences.count(removed) for occurrences, removed in listed)

    def score_records(
        self, phrases: tuple[relevance.WordSequence, ...], formula: relevance.Formula, numbers: Integers
    ) -> relevance.Floats:
        """Return the scores of ascending records for a concept of rarity 1."""
        scores = np.zeros(len(numbers))
        for which, local, segment in self._split(numbers):
            scores[which] = self._read_occurrences(segment, phrases, formula).find_scores(local)
        return scores

    def measure_rarity(self, count: int) -> float:
        """Return the rarity of a concept that ``count`` records have."""
        return relevance.measure_rarity(count, self._measures[0])

    def _read_occurrences(
        self, segment: Segment, phrases: tuple[relevance.WordSequence, ...], formula: relevance.Formula
    ) -> relevance.Occurrences:
        return relevance.read_occurrences(segment, phrases, formula, self._measures[1])

    @cached_property
    def _measures(self) -> tuple[int, float]:
        """The number of records and the mean length."""
        live = self.size - len(self._removed)
        total = sum(int(segment.lengths.sum(dtype=np.int64)) for segment in self.segments)
        removed = sum(
            int(segment.lengths[changed].sum(dtype=np.int64))
            for segment, changed in zip(self.segments, self._changed, strict=True)
        )
        return live, max(1.0, (total - removed) / max(1, live))


def _to_set(records: NDArray[Any], base: int, limit: int, *, single: bool = False) -> BitMap:
    """Return records as a set; those of a single term ascend."""
    if not single and len(records) > max(_MANY, limit >> 5):
        there = np.zeros(limit, np.bool_)
        there[records] = True
        records = np.flatnonzero(there)
    numbers = array("I")
    numbers.frombytes((records + base).astype(np.uint32).tobytes())
    return BitMap(numbers)
