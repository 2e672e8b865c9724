"""Order records by relevance with BM25 (Robertson and Zaragoza 2009, section 3.5: a weighted sum over the fields).

A record's frequency of a word is the sum over title, keywords, headings and abstract, each with its weight. The length
of a record is the number of words in these four. This is not PubMed's Best Match, which also learns from its users.
"""

from collections.abc import Sequence
from math import log
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from entrez_kit.local.index.coding import Numbers
from entrez_kit.local.index.segment import Segment

WEIGHTS: Final = {"title": 3.0, "abstract": 1.0, "keyword": 2.0, "mesh": 2.0}
"""The word lists that are compared with a query, and the weight of an occurrence in each."""
SATURATION: Final = 1.2
"""k1: how much further occurrences count."""
LENGTH: Final = 0.75
"""b: how much the length of a record counts."""

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


def _read_frequencies(segment: Segment, word: str, removed: Numbers, table: Floats) -> Frequencies:
    """Return the records of a segment with a word, in any order, and the weighted frequency of the word in each.

    ``table`` contains a zero for each record, before and after.
    """
    parts: list[tuple[Numbers, Floats]] = []
    for source, weight in WEIGHTS.items():
        listed = segment.list("words", source)
        numbers = listed.find([word]) if listed is not None and word else ()
        if listed is not None and len(numbers):
            words = listed.read_words(np.asarray(numbers))
            counts = segment.guard(getattr, words, "counts")
            parts.append((words.records, counts * weight))
    if len(parts) == 1:
        records, frequencies = parts[0]
    else:
        for records, frequencies in parts:
            table[records] += frequencies
        found: list[tuple[Numbers, Floats]] = []
        for records, _ in parts:
            frequencies = table[records]
            if found:  # a record that a list before this one has is done
                new = frequencies > 0
                records, frequencies = records[new], frequencies[new]
            table[records] = 0
            found.append((records, frequencies))
        records = np.concatenate([np.empty(0, np.uint32), *(records for records, _ in found)])
        frequencies = np.concatenate([np.empty(0), *(frequencies for _, frequencies in found)])
    if len(removed):
        kept = np.isin(records, removed, invert=True)
        records, frequencies = records[kept], frequencies[kept]
    return records, frequencies


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
    distinct = list(dict.fromkeys(words))
    found = []
    for _, segment, removed in segments:
        table = np.zeros(segment.records)
        found.append([_read_frequencies(segment, word, removed, table) for word in distinct])
    totals = [sum(len(one[place][0]) for one in found) for place in range(len(distinct))]
    best_numbers, best_scores = np.empty(0, np.int64), np.empty(0)
    for (base, segment, _), frequencies in zip(segments, found, strict=True):
        scores = np.zeros(segment.records)
        for word, (records, values), total in zip(distinct, frequencies, totals, strict=True):
            scores[records] += weigh(values, segment.lengths[records], mean, total, size) * words.count(word)
        numbers = np.flatnonzero(scores)
        if wanted is not None:
            there = np.zeros(segment.records, np.bool_)
            there[_list_range(wanted, base, base + segment.records) - base] = True
            numbers = numbers[there[numbers]]
        numbers, few = _take_best(numbers, scores[numbers], limit)
        best_numbers, best_scores = np.append(best_numbers, numbers + base), np.append(best_scores, few)
    numbers, scores = _take_best(best_numbers, best_scores, limit)
    return list(zip(numbers.tolist(), scores.tolist(), strict=True))


def _list_range(records: BitMap, begin: int, end: int) -> NDArray[np.int64]:
    return np.array((records & BitMap(range(begin, end))).to_array(), np.int64)


def _take_best(numbers: NDArray[np.int64], scores: Floats, limit: int) -> tuple[NDArray[np.int64], Floats]:
    if len(scores) > limit:
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        enough = np.flatnonzero(scores >= least)
        numbers, scores = numbers[enough], scores[enough]
    order = np.lexsort((-numbers, -scores))[:limit]
    return numbers[order], scores[order]
