"""An index that reads every record for every call: the specification of the search index."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from pyroaring import BitMap

from entrez_kit.query.record_terms import VALUE_GAP, RecordTerms, SortKeys
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.segments.writer import index_records


def index_terms(records: Iterable[RecordTerms]) -> SearchIndex:
    """Return the search index of records without sort keys."""
    return index_records((terms, SortKeys(number)) for number, terms in enumerate(records))


class TermsIndex:
    """The terms and sort keys of records."""

    def __init__(self, records: Sequence[tuple[RecordTerms, SortKeys]]) -> None:
        self._terms = [terms for terms, _ in records]
        self._keys = [keys for _, keys in records]

    def list_words(self, source: str, prefix: str = "") -> set[str]:
        """Return the words of a word list that begin with a prefix."""
        words = {word for terms in self._terms for piece in terms.texts.get(source, ()) for word in piece}
        return {word for word in words if word.startswith(prefix)}

    def find_word(self, source: str, word: str) -> BitMap:
        """Return the records with this word in a word list."""
        return self.find_any_word(source, [word])

    def find_any_word(self, source: str, words: Iterable[str]) -> BitMap:
        """Return the records with any of these words in a word list."""
        wanted = set(words)
        return self._choose(lambda terms: any(wanted.intersection(piece) for piece in terms.texts.get(source, ())))

    def find_phrase(self, source: str, slots: Sequence[Sequence[str]]) -> BitMap:
        """Return the records with a sequence of words in one value; a slot has the alternatives for a place."""
        return self._choose(lambda terms: any(_has_run(piece, slots) for piece in terms.texts.get(source, ())))

    def find_window(self, source: str, words: Sequence[str], distance: int) -> BitMap:
        """Return the records with words in any order and at most ``distance`` other words between first and last."""
        found = self.read_positions(source, words, BitMap(range(len(self._terms))))
        return BitMap([number for number, places in found if is_within(places, words, distance)])

    def read_positions(
        self, source: str, words: Sequence[str], records: BitMap
    ) -> Iterator[tuple[int, list[list[int]]]]:
        """Yield each of these records with the ascending positions of each word in a word list."""
        for number in records:
            places: list[tuple[int, str]] = []
            start = 0
            for piece in self._terms[number].texts.get(source, ()):
                places += enumerate(piece, start)
                start += len(piece) + VALUE_GAP
            yield number, [[place for place, one in places if one == word] for word in words]

    def find_value(self, source: str, value: str) -> BitMap:
        """Return the records with exactly this value."""
        return self.find_any_value(source, [value])

    def find_any_value(self, source: str, values: Iterable[str]) -> BitMap:
        """Return the records with any of these values."""
        wanted = set(values)
        return self._choose(lambda terms: not wanted.isdisjoint(terms.values.get(source, ())))

    def list_values(self, source: str) -> set[str]:
        """Return the values of a value list."""
        return {value for terms in self._terms for value in terms.values.get(source, ())}

    def find_range(self, column: str, low: int, high: int) -> BitMap:
        """Return the records with a number in this range, bounds included."""
        return self._choose(lambda terms: any(low <= number <= high for number in terms.numbers.get(column, ())))

    def rank(self, numbers: Iterable[int], order: str) -> list[int]:
        """Return record numbers in the requested order; ties are sorted by descending PMID."""
        newest = sorted(numbers, key=lambda number: -self._keys[number].pmid)
        if order == "pub_date":
            return sorted(newest, key=lambda number: -self._keys[number].day)
        return sorted(newest, key=lambda number: self._keys[number].texts.get(order, ""))

    def _choose(self, matches: Callable[[RecordTerms], bool]) -> BitMap:
        return BitMap([number for number, terms in enumerate(self._terms) if matches(terms)])


def _has_run(piece: Sequence[str], slots: Sequence[Sequence[str]]) -> bool:
    """Return whether a value has a word of each slot, one after the other."""
    return any(
        all(piece[start + place] in slot for place, slot in enumerate(slots))
        for start in range(len(piece) - len(slots) + 1)
    )


def is_within(places: Sequence[Sequence[int]], words: Sequence[str], distance: int) -> bool:
    """Return whether a window has all words, repeated ones repeatedly, and at most ``distance`` other words."""
    needed = Counter(words)
    known = dict(zip(words, places, strict=True))
    length = len(words) + distance

    def has_all(start: int) -> bool:
        inside = {word: sum(start <= place < start + length for place in there) for word, there in known.items()}
        return all(inside[word] >= count for word, count in needed.items())

    return any(has_all(place) for there in known.values() for place in there)
