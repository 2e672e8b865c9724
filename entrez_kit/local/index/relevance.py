"""Order records by relevance with BM25 (Robertson and Zaragoza 2009, section 3.5: a weighted sum over the fields).

A record's frequency of a word is the sum over title, keywords, headings and abstract, each with its weight. The length
of a record is the number of words in these four. The rarity of a word follows from the number of records that have it
in one of the four, the one with most. This is not PubMed's Best Match, which also learns from its users.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from entrez_kit.local.index.coding import Mask, Numbers, Words
from entrez_kit.local.index.segment import Segment

WEIGHTS: Final = {"title": 3.0, "abstract": 1.0, "keyword": 2.0, "mesh": 2.0}
"""The word lists that are compared with a query, and the weight of an occurrence in each."""
SATURATION: Final = 1.2
"""k1: how much further occurrences count."""
LENGTH: Final = 0.75
"""b: how much the length of a record counts."""

Floats = NDArray[np.float64]


def weigh(frequencies: Floats, lengths: NDArray[Any], mean: float) -> Floats:
    """Return the scores of a word of rarity 1.

    Args:
        frequencies: the weighted frequencies of the word.
        lengths: the lengths of the same records.
        mean: the mean length of all records.
    """
    scores: Floats = lengths * (SATURATION * LENGTH / mean)
    scores += SATURATION * (1 - LENGTH)
    scores += frequencies
    np.divide(frequencies, scores, out=scores)
    scores *= SATURATION + 1
    return scores


def measure_rarity(found: int, size: int) -> float:
    """Return the rarity of a word that ``found`` of all records have in one of the four word lists, the largest one."""
    return log(1 + (size - found + 0.5) / (found + 0.5))


@dataclass(frozen=True, slots=True)
class _Found:
    """One word in one segment: its postings in each word list that has it, and the weight of the list."""

    sources: Sequence[str]
    parts: Sequence[tuple[float, Words]]

    def count(self, removed: Numbers) -> Counter[str]:
        """Return the number of records in each word list."""
        return Counter(
            {
                source: len(words.records)
                - (int(np.count_nonzero(np.isin(words.records, removed))) if len(removed) else 0)
                for source, (_, words) in zip(self.sources, self.parts, strict=True)
            }
        )

    def read_all(self, table: Floats) -> tuple[NDArray[Any], Floats]:
        """Return all records and their weighted frequencies; ``table`` has a zero per record, before and after."""
        if len(self.parts) == 1:
            weight, words = self.parts[0]
            return words.records, words.counts.astype(np.float64) * weight
        for weight, words in self.parts:
            table[words.records] += words.counts * weight
        found: list[tuple[NDArray[Any], Floats]] = []
        for _, words in self.parts:
            records = words.records
            frequencies = table[records]
            if found:  # a record that a list before this one has is done
                new = np.flatnonzero(frequencies)
                records, frequencies = records[new], frequencies[new]
            table[records] = 0
            found.append((records, frequencies))
        return np.concatenate([records for records, _ in found]), np.concatenate([one for _, one in found])

    def read_some(self, records: NDArray[np.int64]) -> Floats:
        """Return the weighted frequencies in some records, which ascend."""
        found = np.zeros(len(records))
        for weight, words in self.parts:
            found += words.find_counts(records) * weight
        return found


def _find(segment: Segment, word: str) -> _Found:
    sources, parts = [], []
    for source, weight in WEIGHTS.items():
        listed = segment.list("words", source)
        words = listed.read_word(word) if listed is not None and word else None
        if words is not None and len(words.records):
            sources.append(source)
            parts.append((weight, words))
    return _Found(sources, parts)


def rank(
    words: Sequence[str],
    segments: Sequence[tuple[int, Segment, Numbers]],
    wanted: BitMap | None,
    size: int,
    mean: float,
    limit: int,
) -> list[tuple[int, float]]:
    """Return the records with the highest scores and these scores; equal scores are sorted by descending number.

    Args:
        words: the words of the query; one that is given twice counts twice.
        segments: first record, segment and removed records of each segment.
        wanted: the records to sort; None for all.
        size: the number of records in the index.
        mean: their mean length.
        limit: the number of records to return.
    """
    distinct = Counter(word for word in words if word)
    found = [{word: _find(segment, word) for word in distinct} for _, segment, _ in segments]
    rarities = {}
    for word, times in distinct.items():
        counts: Counter[str] = Counter()
        for one, (_, _, removed) in zip(found, segments, strict=True):
            counts += one[word].count(removed)
        rarities[word] = measure_rarity(max(counts.values(), default=0), size) * times
    ordered = sorted(distinct, key=lambda word: (-rarities[word], word))
    best_numbers, best_scores = np.empty(0, np.int64), np.empty(0)
    for (base, segment, removed), words_found in zip(segments, found, strict=True):
        kept = _mask_wanted(segment, base, removed, wanted)
        numbers, scores = segment.guard(_rank_segment, segment, words_found, ordered, rarities, kept, mean, limit)
        best_numbers, best_scores = np.append(best_numbers, numbers + base), np.append(best_scores, scores)
    numbers, scores = _take_best(best_numbers, best_scores, limit)
    return list(zip(numbers.tolist(), scores.tolist(), strict=True))


def _mask_wanted(segment: Segment, base: int, removed: Numbers, wanted: BitMap | None) -> Mask | None:
    """Return which records of a segment are wanted; None for all."""
    if wanted is not None:
        mask = np.zeros(segment.records, np.bool_)
        mask[np.array((wanted & BitMap(range(base, base + segment.records))).to_array(), np.int64) - base] = True
        return mask
    if len(removed):
        mask = np.ones(segment.records, np.bool_)
        mask[removed] = False
        return mask
    return None


def _rank_segment(
    segment: Segment,
    found: Mapping[str, _Found],
    ordered: Sequence[str],
    rarities: Mapping[str, float],
    kept: Mask | None,
    mean: float,
    limit: int,
) -> tuple[NDArray[np.int64], Floats]:
    """Return the best records of a segment and their scores.

    The words are read from the rarest to the most frequent one. As soon as a record without any of the words so far
    cannot be among the best, only records that still can be are looked up in the lists of the other words (MaxScore:
    Turtle and Flood 1995).
    """
    most = [rarities[word] * (SATURATION + 1) for word in ordered]
    table, scores = np.zeros(segment.records), np.zeros(segment.records)
    numbers = np.empty(0, np.int64)
    for place, word in enumerate(ordered):
        remaining = sum(most[place:])
        if len(numbers) >= limit:
            known = scores[numbers]
            least = np.partition(known, len(known) - limit)[len(known) - limit]
            if least > remaining:
                numbers = np.sort(numbers[known >= least - remaining])
                return _finish(segment, found, ordered[place:], rarities, numbers, scores[numbers], mean, limit)
        if not found[word].parts:
            continue
        records, frequencies = found[word].read_all(table)
        if kept is not None:
            there = kept[records]
            records, frequencies = records[there], frequencies[there]
        added = weigh(frequencies, segment.lengths[records], mean)
        added *= rarities[word]
        before = scores[records]
        numbers = np.append(numbers, records[before == 0])
        scores[records] = before + added
    return _take_best(numbers, scores[numbers], limit)


def _finish(
    segment: Segment,
    found: Mapping[str, _Found],
    ordered: Sequence[str],
    rarities: Mapping[str, float],
    numbers: NDArray[np.int64],
    scores: Floats,
    mean: float,
    limit: int,
) -> tuple[NDArray[np.int64], Floats]:
    """Add the scores of the remaining words to the records that can be among the best."""
    for place, word in enumerate(ordered):
        if found[word].parts:
            frequencies = found[word].read_some(numbers)
            scores = scores + weigh(frequencies, segment.lengths[numbers], mean) * rarities[word]
        remaining = sum(rarities[other] * (SATURATION + 1) for other in ordered[place + 1 :])
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        enough = scores >= least - remaining
        numbers, scores = numbers[enough], scores[enough]
    return _take_best(numbers, scores, limit)


def _take_best(numbers: NDArray[np.int64], scores: Floats, limit: int) -> tuple[NDArray[np.int64], Floats]:
    if len(scores) > limit:
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        enough = np.flatnonzero(scores >= least)
        numbers, scores = numbers[enough], scores[enough]
    order = np.lexsort((-numbers, -scores))[:limit]
    return numbers[order], scores[order]
