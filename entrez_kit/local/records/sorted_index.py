"""The search index of a collection: PubMed's index, and the orders of results."""

from abc import abstractmethod
from collections.abc import Callable, Sequence

from entrez_kit.query.index import MemoryIndex, RecordTerms, SearchIndex

SortKeys = tuple[int, str, str, int]
"""The sort keys of a record: publication date, first author, journal, PMID."""


class SortedIndex(SearchIndex):
    """An index that can sort records."""

    @abstractmethod
    def rank(self, numbers: Sequence[int], order: str) -> list[int]:
        """Return record numbers in the order "Author", "JournalName" or "pub_date"; otherwise by descending PMID."""


class ParsedIndex(MemoryIndex, SortedIndex):
    """An inverted index of the terms of parsed records."""

    def __init__(self, count: int, read: Callable[[int], tuple[RecordTerms, SortKeys]]) -> None:
        self._keys: list[SortKeys] = []

        def read_terms(number: int) -> RecordTerms:
            terms, keys = read(number)
            if len(self._keys) == number:
                self._keys.append(keys)
            return terms

        super().__init__(count, read_terms)

    def rank(self, numbers: Sequence[int], order: str) -> list[int]:
        """Return record numbers in the requested order; ties are sorted by descending PMID."""
        newest = sorted(numbers, key=lambda number: -self._keys[number][3])
        if order == "pub_date":
            return sorted(newest, key=lambda number: -self._keys[number][0])
        if order == "Author":
            return sorted(newest, key=lambda number: self._keys[number][1])
        if order == "JournalName":
            return sorted(newest, key=lambda number: self._keys[number][2])
        return newest
