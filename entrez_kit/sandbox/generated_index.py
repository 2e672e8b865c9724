"""The index of generated records. Only the models, which the records repeat, are parsed.

The terms of a record are those of its model, apart from identifiers, which contain the PMID, and dates.
"""

import re
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import compress, cycle
from typing import Final

from pyroaring import BitMap

from entrez_kit.query.sorted_index import ParsedIndex, SortedIndex, sort_records

FIRST_PMID: Final = 99_100_001
_DATES: Final = {"ppdat": "published", "epdat": "online", "cdat": "completed", "mdat": "revised"}
"""The date in each column; columns not listed have the entry date."""
_PMID: Final = re.compile(r"(?<![0-9])99[0-9]{6}(?![0-9])")


class GeneratedIndex(SortedIndex):
    """Sets of generated records.

    Args:
        size: number of records.
        models: the index of the records that repeat each model for the first time.
        period: the number of models; a record repeats the model of the record that many before it.
        get_day: returns a date of a record as yyyymmdd, 0 if it has none.
    """

    def __init__(self, size: int, models: ParsedIndex, period: int, get_day: Callable[[int, str], int]) -> None:
        self.size = size
        self._models = models
        self._period = period
        self._get_day = get_day
        self._postings: Callable[[str, str], BitMap] = lru_cache(maxsize=512)(
            lambda source, word: self._find(self._models.postings, source, word)
        )
        self._value_sets: Callable[[str, str], BitMap] = lru_cache(maxsize=512)(
            lambda source, value: self._find(self._models.values, source, value)
        )

    def _repeat(self, models: BitMap) -> BitMap:
        """Return the records of these models."""
        chosen = bytes(number in models for number in range(self._period))
        return BitMap(array("I", compress(range(self.size), cycle(chosen))))

    def _find(self, find_models: Callable[[str, str], BitMap], source: str, term: str) -> BitMap:
        match = _PMID.search(term)
        if match is None:
            return self._repeat(find_models(source, term))
        number = int(match.group()) - FIRST_PMID
        if not 0 <= number < self.size or number % self._period not in find_models(source, self._rename(term, number)):
            return BitMap()
        return BitMap((number,))

    def postings(self, source: str, word: str) -> BitMap:
        """Return the records with this folded word in a word list."""
        return BitMap(self._postings(source, word))

    def words(self, source: str, prefix: str = "") -> Collection[str]:
        """Return the words of a word list that begin with a prefix; words with a PMID are omitted."""
        return [word for word in self._models.words(source, prefix) if not _PMID.search(word)]

    def values(self, source: str, value: str) -> BitMap:
        """Return the records with exactly this value."""
        return BitMap(self._value_sets(source, value))

    def known_values(self, source: str, prefix: str = "") -> Collection[str]:
        """Return the values of a value list that begin with a prefix; values with a PMID are omitted."""
        return [value for value in self._models.known_values(source, prefix) if not _PMID.search(value)]

    def find_phrase(self, source: str, slots: Sequence[Sequence[str]]) -> BitMap:
        """Return the records with a sequence of words; phrases without a PMID are compared in the models only."""
        if any(_PMID.search(word) for slot in slots for word in slot):
            return super().find_phrase(source, slots)
        return self._repeat(self._models.find_phrase(source, slots))

    def find_window(self, source: str, words: Sequence[str], distance: int) -> BitMap:
        """Return the records with words near each other; words without a PMID are compared in the models only."""
        if any(_PMID.search(word) for word in words):
            return super().find_window(source, words, distance)
        return self._repeat(self._models.find_window(source, words, distance))

    def positions(
        self, source: str, words: Sequence[str], records: BitMap
    ) -> Iterator[tuple[int, Sequence[Sequence[int]]]]:
        """Yield each of these records with the ascending positions of each word in a word list."""
        for number in records:
            named = [self._rename(word, number) for word in words]
            for _, places in self._models.positions(source, named, BitMap((number % self._period,))):
                yield number, places

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

    def between(self, column: str, low: int, high: int) -> BitMap:
        """Return the records with a number in this range, bounds included."""
        if column == "uid":
            start, end = max(low - FIRST_PMID, 0), min(high - FIRST_PMID, self.size - 1)
            return BitMap(range(start, end + 1)) if start <= end else BitMap()
        found = BitMap()
        for one in {"pdat": ("ppdat", "epdat"), "pdat_single": ("ppdat", "earlier")}.get(column, (column,)):
            days = enumerate(self._get_dates(one))
            found.update(array("I", (number for number, day in days if low <= day <= high and day)))
        return found

    def rank(self, numbers: Sequence[int], order: str) -> list[int]:
        """Return record numbers in the requested order; ties are sorted by descending PMID."""
        return sort_records(numbers, order, self._get_key)

    def _get_key(self, number: int, place: int) -> int | str:
        if place == 0:
            return self._get_dates("ppdat")[number]
        return number if place == 3 else self._models.keys[number % self._period][place]

    def _rename(self, term: str, number: int) -> str:
        """Return the term that the model of a record has for a term of the record; "" if the term has another PMID."""
        match = _PMID.search(term)
        if match is None:
            return term
        pmid = match.group()
        return term.replace(pmid, str(FIRST_PMID + number % self._period)) if int(pmid) - FIRST_PMID == number else ""
