"""The search index of a collection: PubMed's index, and the orders of results."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from pyroaring import BitMap

from entrez_kit.query.index import MemoryIndex, RecordTerms, SearchIndex

SortKeys = tuple[int, str, str, int]
"""The sort keys of a record: publication date, first author, journal, PMID."""
_ORDERS: Final = {"pub_date": 0, "Author": 1, "JournalName": 2}


class SortedIndex(SearchIndex):
    """An index that can sort records."""

    def count_records(self, source: str) -> Mapping[str, int]:
        """Return how many records have each word of a word list."""
        return {word: len(self.postings(source, word)) for word in self.words(source)}

    def rank_by_relevance(self, words: Sequence[str], records: BitMap, limit: int) -> list[tuple[int, float]]:
        """Return the most relevant of these records with their scores, best first, then by descending PMID.

        By default the score counts the words that a record contains, weighted by field.
        """
        scores = score_words(self, words, records)
        newest = self.rank(list(records), "")
        return [(number, float(scores[number])) for number in sorted(newest, key=lambda one: -scores[one])][:limit]

    @abstractmethod
    def rank(self, numbers: Sequence[int], order: str) -> list[int]:
        """Return record numbers in the order "Author", "JournalName" or "pub_date"; otherwise by descending PMID."""


class ParsedIndex(MemoryIndex, SortedIndex):
    """An inverted index of the terms of parsed records."""

    def __init__(self, count: int, read: Callable[[int], tuple[RecordTerms, SortKeys]]) -> None:
        self.keys: list[SortKeys] = []

        def read_terms(number: int) -> RecordTerms:
            terms, keys = read(number)
            if len(self.keys) == number:
                self.keys.append(keys)
            return terms

        super().__init__(count, read_terms)

    def rank(self, numbers: Sequence[int], order: str) -> list[int]:
        """Return record numbers in the requested order; ties are sorted by descending PMID."""
        return sort_records(numbers, order, lambda number, place: self.keys[number][place])


def sort_records(numbers: Iterable[int], order: str, get_key: Callable[[int, int], Any]) -> list[int]:
    """Return record numbers in the requested order; ties are sorted by descending PMID.

    Args:
        numbers: the records.
        order: "pub_date", "Author" or "JournalName"; any other order is by descending PMID.
        get_key: returns the key of a record at a place of ``SortKeys``.
    """
    newest = sorted(numbers, key=lambda number: get_key(number, 3), reverse=True)
    place = _ORDERS.get(order)
    if place is None:
        return newest
    # A reversed sort keeps ties in their order, too.
    return sorted(newest, key=lambda number: get_key(number, place), reverse=place == 0)


def score_words(index: SearchIndex, words: Iterable[str], records: BitMap) -> Counter[int]:
    """Return a score of each record: how many of the words it contains, and in which fields."""
    scores: Counter[int] = Counter()
    for word in list(dict.fromkeys(words))[:20]:
        for source, weight in (("title", 4), ("keyword", 2), ("mesh", 2), ("abstract", 1)):
            for number in index.postings(source, word) & records:
                scores[number] += weight
    return scores
