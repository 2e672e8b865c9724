"""Order records by relevance with BM25 (Robertson and Zaragoza 2009, section 3.5: a weighted sum over the fields).

A record's frequency of a word is the sum over title, keywords, headings and abstract, each with its weight. The length
of a record is the number of words in these four. This is not PubMed's Best Match, which also learns from its users.
"""

from collections.abc import Callable, Sequence
from math import log
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from entrez_kit.local.index.coding import Numbers
from entrez_kit.local.index.segment import Segment

WEIGHTS: Final = {"title": 3.0, "abstract": 1.0, "keyword": 2.0, "mesh": 2.0}
"""The word lists that are compared with a query, and the weight of an occurrence in each."""
SATURATION: Final = 1.2
"""k1: how much further occurrences count."""
LENGTH: Final = 0.75
"""b: how much the length of a record counts."""
_DENSE: Final = 32

Floats = NDArray[np.float64]
Frequencies = tuple[Numbers, Floats]


def weigh(frequencies: Floats, lengths: NDArray[Any], mean: float, found: int, size: int) -> Floats:
    """Return the part of the score that one word adds.

    Args:
        frequencies: the weighted frequencies of the word.
        lengths: the lengths of the same records.
        mean: the mean length of all records.
        found: the number of records with the word.
        size: the number of all records.
    """
    rarity = log(1 + (size - found + 0.5) / (found + 0.5))
    scores: Floats = lengths * (SATURATION * LENGTH / mean)
    scores += SATURATION * (1 - LENGTH)
    scores += frequencies
    np.divide(frequencies, scores, out=scores)
    scores *= rarity * (SATURATION + 1)
    return scores


def read_frequencies(segment: Segment, word: str, removed: Numbers) -> Frequencies:
    """Return the records of a segment with a word, in order, and the weighted frequency of the word in each."""
    parts: list[tuple[Numbers, Floats]] = []
    for source, weight in WEIGHTS.items():
        listed = segment.list("words", source)
        numbers = listed.find([word]) if listed is not None and word else ()
        if listed is not None and len(numbers):
            words = listed.read_words(np.asarray(numbers))
            parts.append((words.records, words.counts.astype(np.float64) * weight))
    if not parts:
        return np.empty(0, np.uint32), np.empty(0)
    if len(parts) == 1:
        records, frequencies = parts[0]
    elif sum(len(records) for records, _ in parts) * _DENSE > segment.records:
        table = np.zeros(segment.records)
        for records, frequencies in parts:
            table[records] += frequencies
        records = np.flatnonzero(table).astype(np.uint32)
        frequencies = table[records]
    else:
        records, places = np.unique(np.concatenate([records for records, _ in parts]), return_inverse=True)
        summed = np.bincount(places, np.concatenate([frequencies for _, frequencies in parts]))
        frequencies = summed.astype(np.float64, copy=False)
    if len(removed):
        kept = np.isin(records, removed, invert=True)
        records, frequencies = records[kept], frequencies[kept]
    return records, frequencies


def rank(
    words: Sequence[str],
    segments: Sequence[tuple[int, Segment, Numbers]],
    wanted: NDArray[np.int64],
    size: int,
    mean: float,
    limit: int,
    read: Callable[[Segment, str, Numbers], Frequencies] = read_frequencies,
) -> list[tuple[int, float]]:
    """Return the records with the highest scores and these scores; equal scores are sorted by descending number.

    Args:
        words: the words of the query; one that is given twice counts twice.
        segments: first record, segment and removed records of each segment.
        wanted: the records to sort, ascending.
        size: the number of records in the index.
        mean: their mean length.
        limit: the number of records to return.
        read: returns the frequencies of a word in a segment.
    """
    distinct = list(dict.fromkeys(words))
    found = [[read(segment, word, removed) for word in distinct] for _, segment, removed in segments]
    totals = [sum(len(one[place][0]) for one in found) for place in range(len(distinct))]
    best_numbers, best_scores = np.empty(0, np.int64), np.empty(0)
    for (base, segment, _), frequencies in zip(segments, found, strict=True):
        first, last = np.searchsorted(wanted, (base, base + segment.records))
        some = wanted[first:last] - base
        if not len(some):
            continue
        scores = np.zeros(segment.records)
        for word, (records, values), total in zip(distinct, frequencies, totals, strict=True):
            if len(records):
                scores[records] += weigh(values, segment.lengths[records], mean, total, size) * words.count(word)
        numbers, scores = _take_best(some, scores[some], limit)
        best_numbers, best_scores = (
            np.concatenate((best_numbers, numbers + base)),
            np.concatenate((best_scores, scores)),
        )
    numbers, scores = _take_best(best_numbers, best_scores, limit)
    return list(zip(numbers.tolist(), scores.tolist(), strict=True))


def _take_best(numbers: NDArray[np.int64], scores: Floats, limit: int) -> tuple[NDArray[np.int64], Floats]:
    if len(scores) > limit:
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        enough = np.flatnonzero(scores >= least)
        numbers, scores = numbers[enough], scores[enough]
    order = np.lexsort((-numbers, -scores))[:limit]
    return numbers[order], scores[order]
