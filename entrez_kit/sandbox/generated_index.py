"""The index of generated records. Only the models, which the records repeat, are parsed.

The terms of a record are those of its model, apart from identifiers, which contain the PMID, and dates.
"""

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from itertools import compress, cycle
from typing import Final

from pyroaring import BitMap

from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.segments.segment import Kind

FIRST_PMID: Final = 99_100_001
_DATES: Final = {"ppdat": "published", "epdat": "online", "cdat": "completed", "mdat": "revised"}
"""The date in each column; columns not listed have the entry date."""
_PMID: Final = re.compile(r"(?<![0-9])99[0-9]{6}(?![0-9])")


class GeneratedIndex(SearchIndex):
    """An index that repeats the records of another one.

    Args:
        size: number of records.
        models: the index of the records that repeat each model for the first time.
        period: the number of models; a record repeats the model of the record that many before it.
        get_day: returns a date of a record as yyyymmdd, 0 if it has none.
    """

    def __init__(self, size: int, models: SearchIndex, period: int, get_day: Callable[[int, str], int]) -> None:
        super().__init__(models.segments)
        self.size = size
        self._models = models
        self._period = period
        self._get_day = get_day
        self._repeated: Callable[[Kind, str, str], BitMap] = lru_cache(maxsize=512)(self._find_term)

    def _find(self, words: Iterable[str], find: Callable[[Callable[[str], str]], BitMap]) -> BitMap:
        """Return the records with terms of their models.

        Args:
            words: the terms. Only the record with a PMID has the terms that contain it.
            find: returns models, from a function that returns the term of a model for a term of the record.
        """
        pmids = {match[0] for word in words if (match := _PMID.search(word))}
        if not pmids:
            records = find(lambda word: word)
            chosen = bytes(number in records for number in range(self._period))
            return BitMap(array("I", compress(range(self.size), cycle(chosen))))
        pmid = pmids.pop()
        number = int(pmid) - FIRST_PMID
        if pmids or not 0 <= number < self.size:
            return BitMap()
        model = number % self._period
        records = find(lambda word: word.replace(pmid, str(FIRST_PMID + model)))
        return BitMap((number,) if model in records else ())

    def _find_term(self, kind: Kind, source: str, text: str) -> BitMap:
        return self._find((text,), lambda rename: self._models.find_terms(kind, source, [rename(text)]))

    def find_terms(self, kind: Kind, source: str, texts: Sequence[str]) -> BitMap:
        """Return the records with any of these terms."""
        return BitMap.union(BitMap(), *(self._repeated(kind, source, text) for text in texts))

    def list_terms(self, kind: Kind, source: str, prefix: str) -> Collection[str]:
        """Return the terms of a list that begin with a prefix; those with a PMID are omitted."""
        return [term for term in self._models.list_terms(kind, source, prefix) if not _PMID.search(term)]

    def find_phrase(self, source: str, slots: Sequence[Sequence[str]]) -> BitMap:
        """Return the records with a sequence of words in one value of a word list."""
        return self._find(
            (word for slot in slots for word in slot),
            lambda rename: self._models.find_phrase(source, [list(map(rename, slot)) for slot in slots]),
        )

    def find_window(self, source: str, words: Sequence[str], distance: int) -> BitMap:
        """Return the records with words in any order and at most ``distance`` other words between first and last."""
        return self._find(words, lambda rename: self._models.find_window(source, list(map(rename, words)), distance))

    # dates and order

    @lru_cache(maxsize=16)  # noqa: B019 - an index lives as long as its sandbox
    def _get_dates(self, column: str) -> "array[int]":
        return array("I", (self._get_date(column, number) for number in range(self.size)))

    def _get_date(self, column: str, number: int) -> int:
        """Return one of the dates of a record as yyyymmdd, 0 if it has none."""
        if column == "mhda":
            return self._get_day(number, "completed") or self._get_day(number, "entered")
        if column == "earlier":  # the electronic date, unless it is later than the date of the issue
            online = self._get_day(number, "online")
            return online if online <= self._get_day(number, "published") else 0
        return self._get_day(number, _DATES.get(column, "entered"))

    def find_range(self, column: str, low: int, high: int) -> BitMap:
        """Return the records with a number in this range, bounds included."""
        if column == "uid":
            start, end = max(low - FIRST_PMID, 0), min(high - FIRST_PMID, self.size - 1)
            return BitMap(range(start, end + 1)) if start <= end else BitMap()
        records = BitMap()
        for name in {"pdat": ("ppdat", "epdat"), "pdat_single": ("ppdat", "earlier")}.get(column, (column,)):
            days = enumerate(self._get_dates(name))
            records.update(array("I", (number for number, day in days if low <= day <= high and day)))
        return records

    def rank(self, numbers: Sequence[int], order: str) -> list[int]:
        """Return record numbers in the requested order; ties are sorted by descending PMID."""
        newest = sorted(numbers, reverse=True)
        if order == "pub_date":
            return sorted(newest, key=lambda number: -self._get_dates("ppdat")[number])
        keys = self._models.read_sort_keys(range(self._models.size), order).tolist()
        return sorted(newest, key=lambda number: keys[number % self._period])

    def rank_by_relevance(self, words: Sequence[str], records: BitMap, limit: int) -> list[tuple[int, float]]:
        """Return the most relevant of these records with the BM25 scores of their models, best first."""
        scores = dict(self._models.rank_by_relevance(words, self._models.list_records(), self._period))
        best = sorted(records, key=lambda number: (-scores[number % self._period], -number))[:limit]
        return [(number, scores[number % self._period]) for number in best]
