"""Order records by relevance with BM25 (Robertson and Zaragoza 2009, section 3.5: a weighted sum over the fields).

A query is a list of concepts. The frequency of a concept in a record is the number of its words and phrases, weighted
by field. The length of a record is the number of words in the fields of ``writer.RANKED``. The rarity of a concept
follows from the number of records that have it. This is not PubMed's Best Match, which also learns from its users.
"""

import os
import threading
from collections.abc import Callable, Hashable, Sequence
from math import log
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from entrez_kit.query.segments.coding import Integers, Mask, Numbers
from entrez_kit.query.segments.positions import SHIFT, find_phrase
from entrez_kit.query.segments.segment import Segment

WordSequence = tuple[str, ...]
Floats = NDArray[np.float64]
Scores = NDArray[np.float32]

COSTLY: Final = 4_000
"""Concepts with more postings than this: records that cannot be among the best are dropped before their scores are
computed."""
_SPARSE: Final = 32
"""A table of all records is used unless fewer than one record in this many is in question."""
_TOLERANCE: Final = 1e-5
"""The rounding error that is allowed in a sum of scores."""


class Formula(NamedTuple):
    """The parameters of BM25: the weight of each word list, k1 (saturation) and b (length)."""

    weights: tuple[tuple[str, float], ...]
    saturation: float = 1.2
    length: float = 0.75

    def score(self, frequencies: Scores, lengths: NDArray[Any], mean: float) -> Scores:
        """Return the scores of a concept of rarity 1 with these frequencies in records of these lengths."""
        scores = lengths.astype(np.float32)
        scores *= self.saturation * self.length / mean
        scores += self.saturation * (1 - self.length)
        scores += frequencies
        np.divide(frequencies, scores, out=scores)
        scores *= self.saturation + 1
        return scores


PUBMED: Final = Formula((("title", 3.0), ("abstract", 1.0), ("keyword", 2.0), ("mesh", 2.0)))
"""The formula of copies."""


class Concept(NamedTuple):
    """Alternative words and phrases, and their weight; records without any of a ``required`` one are not found."""

    phrases: tuple[WordSequence, ...]
    weight: float = 1.0
    required: bool = False


class _FieldPostings(NamedTuple):
    """The ascending records with one word or phrase in one field, and the weight of the field.

    ``count_at`` returns the number of occurrences in the records at some places of this list.
    """

    records: Numbers
    count_at: Callable[[Any], Integers]
    weight: np.float32

    def find_frequencies(self, records: NDArray[Any]) -> Scores:
        """Return the weighted numbers of occurrences in some ascending records."""
        frequencies = np.zeros(len(records), np.float32)
        places, there = _find_places(self.records, records)
        frequencies[there] = self.count_at(places[there]).astype(np.float32) * self.weight
        return frequencies


class Occurrences:
    """The records of a segment that have a concept, and their scores at rarity 1.

    Most queries need few scores of a frequent concept. The first use computes the scores of these records only; the
    second use computes all scores.

    Args:
        segment: the segment.
        parts: the records of each word or phrase of the concept in each field.
        formula: the parameters of the scores.
        mean: the mean length of all records.
    """

    def __init__(self, segment: Segment, parts: Sequence[_FieldPostings], formula: Formula, mean: float) -> None:
        self._segment, self._formula, self._mean = segment, formula, mean
        ordered = sorted((part for part in parts if len(part.records)), key=lambda part: -len(part.records))
        self.postings = sum(len(part.records) for part in ordered)
        there = self._mask_records(ordered) if len(ordered) > 1 and self.is_frequent else None
        self._state: tuple[list[_FieldPostings], Mask | None, tuple[Numbers, Scores] | None] = ordered, there, None
        """The parts and a mask of their records, or the records and their scores: other threads see it change once."""
        self.is_used_again = False
        self.most = formula.saturation + 1 if self.is_frequent else float(self.scores.max(initial=0))
        """A score that no record exceeds."""

    @property
    def is_frequent(self) -> bool:
        """Whether records that cannot be among the best are dropped before the scores are computed."""
        return self.postings > COSTLY

    def _mask_records(self, parts: Sequence[_FieldPostings]) -> Mask:
        there = np.zeros(self._segment.records, np.bool_)
        for part in parts:
            there[part.records] = True
        return there

    def count(self, removed: Numbers) -> int:
        """Return the number of records, without removed ones."""
        _, there, _ = self._state
        if there is not None:
            return int(np.count_nonzero(there)) - int(np.count_nonzero(there[removed]))
        return len(self.records) - (int(np.count_nonzero(np.isin(self.records, removed))) if len(removed) else 0)

    @property
    def records(self) -> Numbers:
        """The ascending records."""
        return self._compute_all()[0]

    @property
    def scores(self) -> Scores:
        """The score of each record."""
        return self._compute_all()[1]

    def _compute_all(self) -> tuple[Numbers, Scores]:
        parts, there, scored = self._state
        if scored is None:
            scored = self._segment.guard(self._score_all, parts, there)
            self._state = [], None, scored
        return scored

    def _score_all(self, parts: Sequence[_FieldPostings], there: Mask | None) -> tuple[Numbers, Scores]:
        each = [(part.records, part.count_at(slice(None)).astype(np.float32) * part.weight) for part in parts]
        records, frequencies = _sum_frequencies(each, self._segment.records, there)
        return records, self._formula.score(frequencies, self._segment.lengths[records], self._mean)

    def _score_some(self, parts: Sequence[_FieldPostings], records: NDArray[Any]) -> Scores:
        frequencies = np.zeros(len(records), np.float32)
        for part in parts:
            frequencies += part.find_frequencies(records)
        return self._formula.score(frequencies, self._segment.lengths[records], self._mean)

    def find_scores(self, records: NDArray[Any], worth: float = 1.0) -> Floats:
        """Return ``worth`` times the scores of some ascending records; 0 for those without the concept."""
        parts, _, scored = self._state
        if scored is None and not self.is_used_again and len(records) * _SPARSE < self.postings:
            scores = self._segment.guard(self._score_some, parts, records)
        else:
            known, values = self._compute_all()
            scores = np.zeros(len(records), np.float32)
            if len(records) > len(known):
                places, there = _find_places(records, known)
                scores[places[there]] = values[there]
            else:
                places, there = _find_places(known, records)
                scores[there] = values[places[there]]
        return (scores * np.float32(worth)).astype(np.float64)


def _find_places(known: NDArray[Any], wanted: NDArray[Any]) -> tuple[Integers, Integers]:
    """Return the place of each wanted number in ascending known ones, and which of the wanted ones are known."""
    if not len(known):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    places = np.searchsorted(known, wanted.astype(known.dtype))
    places[places == len(known)] = 0
    return places, np.flatnonzero(known[places] == wanted)


class _Kept:
    """The occurrences that were used last in this process, in all segments, those used last at the end."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all, also in a child process, in which another thread of the parent may hold the lock."""
        self._known: dict[Hashable, Occurrences] = {}
        self._size = 0
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> Occurrences | None:
        """Return occurrences; None if they are not kept."""
        with self._lock:
            occurrences = self._known.pop(key, None)
            if occurrences is not None:
                self._known[key] = occurrences
            return occurrences

    def add(self, key: Hashable, occurrences: Occurrences) -> None:
        """Keep occurrences, and drop those that were not used for the longest time if there are too many."""
        with self._lock:
            if key not in self._known:
                self._known[key] = occurrences
                self._size += occurrences.postings + _COST
            while self._size > _MAX_KEPT:
                self._size -= self._known.pop(next(iter(self._known))).postings + _COST


_COST: Final = 100
"""The memory of a kept word itself, counted as this many postings."""
_MAX_KEPT: Final = 8_000_000
"""The maximum number of decoded postings that are kept, which take about 64 MB."""
_kept: Final = _Kept()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_kept.clear)


def measure_rarity(count: int, size: int) -> float:
    """Return the rarity of a concept that ``found`` of all records have."""
    return log(1 + (size - count + 0.5) / (count + 0.5))


def read_occurrences(segment: Segment, phrases: tuple[WordSequence, ...], formula: Formula, mean: float) -> Occurrences:
    """Return the records of a segment with any of some words and phrases. Those of frequent ones are kept in memory.

    Args:
        segment: the segment.
        phrases: words and phrases; each is a sequence of words.
        formula: the weights of the word lists.
        mean: the mean length of all records.
    """
    key = (segment.number, phrases, formula, mean)
    kept = _kept.find(key)
    if kept is None:
        kept = segment.guard(_read_occurrences, segment, phrases, formula, mean)
        _kept.add(key, kept)
    else:
        kept.is_used_again = True
    return kept


def _read_occurrences(
    segment: Segment, phrases: tuple[WordSequence, ...], formula: Formula, mean: float
) -> Occurrences:
    parts: list[_FieldPostings] = []
    for source, weight in formula.weights:
        listed = segment.list("words", source)
        for phrase in phrases if listed is not None else ():
            assert listed is not None
            if len(phrase) > 1:
                starts = find_phrase(listed, [[word] for word in phrase])
                records, counts = np.unique(starts >> SHIFT, return_counts=True)
                parts.append(_FieldPostings(records.astype(np.uint32), counts.__getitem__, np.float32(weight)))
            elif (words := listed.read_word(phrase[0])) is not None:
                parts.append(_FieldPostings(words.records, words.count_at, np.float32(weight)))
    return Occurrences(segment, parts, formula, mean)


def _sum_frequencies(parts: Sequence[tuple[Numbers, Scores]], size: int, there: Mask | None) -> tuple[Numbers, Scores]:
    """Return the records of all parts and the sums of their frequencies.

    Args:
        parts: records and frequencies, the longest part first.
        size: the number of records of the segment.
        there: which records are in a part, if it is known.
    """
    if not parts:
        return np.empty(0, np.uint32), np.empty(0, np.float32)
    if len(parts) == 1:
        return parts[0]
    if there is None and sum(len(records) for records, _ in parts) * _SPARSE < size:
        records, places = np.unique(np.concatenate([records for records, _ in parts]), return_inverse=True)
        summed = np.bincount(places, np.concatenate([frequencies for _, frequencies in parts]))
        return records, summed.astype(np.float32)
    table = np.zeros(size, np.float32)
    (most, first), *others = parts
    table[most] = first  # to assign is faster than to add
    for records, frequencies in others:
        table[records] += frequencies
    records = np.flatnonzero(table > 0 if there is None else there).astype(np.uint32)
    return records, table[records]


def find_best_records(
    concepts: Sequence[Concept],
    segments: Sequence[tuple[int, Segment, Numbers]],
    wanted: Callable[[int, int], Mask | None],
    formula: Formula,
    measures: tuple[int, float],
    limit: int,
) -> tuple[Integers, Floats]:
    """Return the records with the highest scores above 0 and these scores, in no order.

    All records with the score of the last one are returned too.

    Args:
        concepts: what is searched.
        segments: first record, segment and removed records of each segment.
        wanted: returns which records of a range to sort; None for all.
        formula: the parameters.
        measures: the number of records in the index and their mean length.
        limit: the number of records to return.
    """
    size, mean = measures
    by_segment = [
        [read_occurrences(segment, concept.phrases, formula, mean) for concept in concepts]
        for _, segment, _ in segments
    ]
    worths = []
    for place, concept in enumerate(concepts):
        count = sum(some[place].count(removed) for some, (_, _, removed) in zip(by_segment, segments, strict=True))
        worths.append(concept.weight * measure_rarity(count, size) if count else 0.0)
    order = sorted(range(len(concepts)), key=lambda place: (not concepts[place].required, -worths[place], place))
    numbers, scores = np.empty(0, np.int64), np.empty(0)
    for (base, segment, _), some in zip(segments, by_segment, strict=True):
        asked = [(concepts[place].required, worths[place], some[place]) for place in order]
        best = _rank_segment(segment.records, asked, wanted(base, segment.records), limit, _find_least(scores, limit))
        numbers, scores = np.append(numbers, best[0].astype(np.int64) + base), np.append(scores, best[1])
    enough = scores >= _find_least(scores, limit)
    return numbers[enough], scores[enough]


def _find_least(scores: Floats, limit: int) -> float:
    """Return the score of the last of the best records; 0 if there are fewer."""
    return float(np.partition(scores, len(scores) - limit)[len(scores) - limit]) if len(scores) >= limit else 0.0


def _rank_segment(
    size: int, asked: Sequence[tuple[bool, float, Occurrences]], wanted: Mask | None, limit: int, least: float
) -> tuple[NDArray[Any], Floats]:
    """Return the records of a segment that may be among the best, and their scores.

    The concepts are read from the rarest to the most frequent one. At some point, a record without any of the concepts
    read so far can no longer be among the best. From then on, only the candidates are looked up in the lists of the
    other concepts (MaxScore: Turtle and Flood 1995).

    Args:
        size: the number of records in the segment.
        asked: whether a concept is required, its rarity and weight, and its occurrences.
        wanted: which records to sort; None for all.
        limit: the number of records to return.
        least: a score that the best records of other segments have.
    """
    left = sum(worth * occurrences.most for _, worth, occurrences in asked)
    table, scores = np.zeros(0), np.zeros(0)
    numbers: NDArray[Any] | None = None
    if wanted is not None and np.count_nonzero(wanted) * _SPARSE < size:
        numbers = np.flatnonzero(wanted)
        scores = np.zeros(len(numbers))
    else:
        table = np.zeros(size)
        if wanted is not None:
            table[~wanted] = -np.inf
    for required, worth, occurrences in asked:
        if required:
            numbers = occurrences.records if numbers is None else numbers[occurrences.find_scores(numbers) > 0]
            scores = table[numbers] if len(table) else np.zeros(len(numbers))
            numbers, scores = numbers[scores >= 0], scores[scores >= 0]
            table = np.zeros(0)
        elif occurrences.is_frequent:
            some = np.flatnonzero(table > 0) if numbers is None else numbers
            reached = table[some] if numbers is None else scores
            least = max(least, _find_least(reached, limit))
            if least > left + _TOLERANCE or numbers is not None:
                enough = reached >= least - left - _TOLERANCE
                numbers, scores = some[enough], reached[enough]
        left -= worth * occurrences.most
        if numbers is None:
            table[occurrences.records] += occurrences.scores * np.float32(worth)
        else:
            scores = scores + occurrences.find_scores(numbers, worth)
    if numbers is None:
        numbers = np.flatnonzero(table > 0)
        scores = table[numbers]
    enough = (scores > 0) & (scores >= max(least, _find_least(scores, limit)))
    return numbers[enough], scores[enough]
