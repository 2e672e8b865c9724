"""The searchable terms of a record, as an index reads them.

Words have positions: the words of one value follow each other, and the next value of the same word list begins
``VALUE_GAP`` positions later. So phrases and proximity searches never span two values.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from entrez_kit.query.words import normalize, split_words

VALUE_GAP: Final = 2_000
"""More than the largest distance of a proximity search, which is 1,000 words within one affiliation."""
FULL: Final = "="
"""The prefix of full names in a list of names; short names (smith ja) have none."""


class SortKeys(NamedTuple):
    """The sort keys of a record: its PMID, its publication date as yyyymmdd, and texts by the name of an order."""

    pmid: int
    day: int = 0
    texts: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True)
class RecordTerms:
    """The searchable terms of one record.

    ``texts`` contains the folded words of each value, ``values`` contains normalized values, and ``numbers`` contains
    dates as yyyymmdd and the PMID.
    """

    texts: dict[str, list[list[str]]] = field(default_factory=dict)
    values: dict[str, list[str]] = field(default_factory=dict)
    numbers: dict[str, list[int]] = field(default_factory=dict)

    def add_text(self, source: str, *pieces: str) -> None:
        """Add pieces of text to a word list."""
        split_texts = [split for piece in pieces if piece and (split := split_words(piece))]
        if split_texts:
            self.texts.setdefault(source, []).extend(split_texts)

    def add_value(self, source: str, *values: str) -> None:
        """Add normalized values."""
        self.add_exact(source, *(normalize(value) for value in values))

    def add_exact(self, source: str, *values: str) -> None:
        """Add values without normalization, because identifiers need their punctuation."""
        present = [value for value in values if value]
        known = self.values.get(source)
        if known is None:
            if present:
                self.values[source] = list(dict.fromkeys(present))
        elif len(present) == 1:
            if present[0] not in known:
                known.append(present[0])
        elif present:
            self.values[source] = list(dict.fromkeys((*known, *present)))

    def add_names(self, source: str, people: Iterable[tuple[str, str]]) -> None:
        """Add people by short and by full name; a query can truncate only short names to fewer initials."""
        for short, full in people:
            self.add_value(source, short)
            self.add_exact(source, f"{FULL}{normalize(full)}" if full else "")

    def add_number(self, column: str, *numbers: int) -> None:
        """Add dates or other numbers; zeros are ignored."""
        present = [number for number in numbers if number]
        if present:
            self.numbers.setdefault(column, []).extend(dict.fromkeys(present))
