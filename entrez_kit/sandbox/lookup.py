"""Find the records that match a search expression: words, phrases and values in PubMed's fields."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

from entrez_kit.sandbox import bits
from entrez_kit.sandbox.fields import LANGUAGES, PubMedField
from entrez_kit.sandbox.index import SearchIndex, has_near, has_phrase
from entrez_kit.sandbox.terms import FULL
from entrez_kit.sandbox.text import normalize, words

NAMES: Final = frozenset(("author", "first_author", "last_author", "full_author", "investigator", "editor", "group"))
EXACT: Final = frozenset(("aid", "lid", "registry", "auid", "accession"))
SHORTEST_STEM: Final = 4
"""Minimum number of characters before the ``*`` of a truncated word in PubMed."""

_PUBLICATION_TYPES: Final = {
    "rct": "randomized controlled trial",
    "meta analyses": "meta analysis",
    "reviews": "review",
}
_DOI_STARTS: Final = ("https://doi.org/", "http://doi.org/", "https://dx.doi.org/", "http://dx.doi.org/", "doi:")


class Lookup:
    """Searches in one index, with a cache of recent phrases."""

    def __init__(self, index: SearchIndex) -> None:
        self.index = index
        self._phrase: Callable[[tuple[str, ...], tuple[str, ...], bool], int] = lru_cache(maxsize=512)(
            self._find_phrase
        )

    def text(self, field: PubMedField, phrase: str) -> int:
        """Return the records with these words in sequence; ``immun*`` matches all words with this prefix."""
        split, open_end = split_phrase(phrase)
        return self._phrase(field.sources, tuple(split), open_end) if split else 0

    def near(self, field: PubMedField, phrase: str, distance: int) -> int:
        """Return the records with these words in any order and at most ``distance`` other words between them."""
        wanted = words(phrase)
        if not wanted:
            return 0
        found = 0
        for source in field.sources:
            together = self._find_together(source, wanted)
            found |= self._keep_matching(together, source, lambda pieces: has_near(pieces, wanted, distance))
        return found

    def each_word(self, field: PubMedField, phrase: str) -> int:
        """Return the records with all of these words anywhere in the field."""
        found = self.index.everything
        for word in phrase.split():
            found &= self.text(field, word)
        return found

    def value(self, field: PubMedField, text: str, *, quoted: bool) -> int:
        """Return the records with this value, such as a heading, a name, a journal or an identifier."""
        source = field.sources[0]
        if source in EXACT:
            return self._find_identifier(source, text)
        if text.endswith("*"):
            stem = normalize(text[:-1])
            return self._find_any(
                source, (value for value in self.index.known_values(source) if value.startswith(stem))
            )
        key = normalize(text)
        if not key:
            return 0
        if source in NAMES:
            return self._find_any(
                source, (value for value in self.index.known_values(source) if is_name(key, value, quoted))
            )
        if source == "ptype":
            key = _PUBLICATION_TYPES.get(key, key)
        if source == "language":
            key = LANGUAGES.get(key, key)
        found = self.index.value(source, key)
        if not found and source in ("mesh", "majr"):
            found = self.index.value(source, self.heading(key) or key)
        return found

    def heading(self, phrase: str) -> str | None:
        """Return the MeSH heading of a phrase, also if the heading is inverted ("arthritis, rheumatoid")."""
        if self.index.value("mesh", phrase):
            return phrase
        split = phrase.split()
        for cut in range(1, len(split)):
            turned = " ".join(split[cut:] + split[:cut])
            if self.index.value("mesh", turned):
                return turned
        return None

    def filter(self, text: str) -> int:
        """Return the records that match a filter such as "free full text"."""
        return self.index.value("filter", normalize(text))

    def _find_identifier(self, source: str, text: str) -> int:
        value = text.strip().casefold()
        for start in _DOI_STARTS:
            value = value.removeprefix(start)
        if value.endswith("*"):
            stem = value[:-1]
            return self._find_any(source, (one for one in self.index.known_values(source) if one.startswith(stem)))
        return self.index.value(source, value)

    def _find_any(self, source: str, values: Iterable[str]) -> int:
        found = 0
        for value in values:
            found |= self.index.value(source, value)
        return found

    def _find_phrase(self, sources: tuple[str, ...], phrase: tuple[str, ...], open_end: bool) -> int:
        found = 0
        for source in sources:
            together = self._find_together(source, phrase, open_end)
            if len(phrase) > 1:
                certain = 0 if open_end else self.index.certain(source, phrase) & together
                found |= certain
                together = self._keep_matching(
                    together & ~certain, source, lambda pieces: has_phrase(pieces, phrase, open_end=open_end)
                )
            found |= together
        return found

    def _find_together(self, source: str, wanted: Sequence[str], open_end: bool = False) -> int:
        found = self.index.everything
        last = len(wanted) - 1
        for place, word in enumerate(wanted):
            if not found:
                break
            if open_end and place == last:
                ends = 0
                for known in self.index.known_words(source):
                    if known.startswith(word):
                        ends |= self.index.word(source, known)
                found &= ends
            else:
                found &= self.index.word(source, word)
        return found

    def _keep_matching(self, found: int, source: str, test: Callable[[Sequence[Sequence[str]]], bool]) -> int:
        kept = (number for number in bits.to_numbers(found) if test(self.index.pieces(number, source)))
        return bits.from_numbers(kept, self.index.size)


def split_phrase(phrase: str) -> tuple[list[str], bool]:
    """Return the folded words of a phrase, and whether the last one is truncated."""
    split = words(phrase)
    open_end = phrase.rstrip().endswith("*") and bool(split) and len(split[-1]) >= SHORTEST_STEM
    return split, open_end


def is_name(key: str, value: str, quoted: bool) -> bool:
    """Return whether a name matches with PubMed's truncation: "smith j" finds "smith ja", "smith" every Smith."""
    full = value.startswith(FULL)
    name = value.removeprefix(FULL)
    if name == key:
        return True
    if (" " not in key or not quoted) and name.startswith(key + " "):
        return True
    surname, _, initials = key.rpartition(" ")
    return not (quoted or full) and bool(surname) and len(initials) <= 2 and name.startswith(key)
