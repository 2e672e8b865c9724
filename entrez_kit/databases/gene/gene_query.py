"""The searches of one gene query: exact symbol, other symbols, whole record."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from entrez_kit.core.query_input import check_balance
from entrez_kit.databases.gene.models import MatchKind

_ENTREZ: Final = re.compile(r'["\[\]*]|\S\s+(?:AND|OR|NOT)\s+\S')
"""Field tags, quotes, truncation, or an operator between two operands: a query in Entrez syntax, sent unchanged."""
_CURIE: Final = re.compile(r"NCBIGene:([0-9]{1,10})", re.IGNORECASE | re.ASCII)
_NOT_WORDS: Final = re.compile(r"[()\[\]{}\"*?~#&|:\\]")


class Tier(NamedTuple):
    """One of the searches of a query. ``kind`` is how its hits match; None if it depends on the hit."""

    kind: MatchKind | None
    expression: str


@dataclass(frozen=True, slots=True)
class GeneQuery:
    """A query with normalized white space, and the conditions that every hit must meet."""

    text: str
    conditions: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str, *, taxid: int | None = None, current_only: bool = True) -> "GeneQuery":
        """Build a query that is limited to an organism, with its strains and subspecies, and to current genes.

        Raises:
            InvalidInput: the query has Entrez syntax with an unpaired quotation mark, parenthesis or square bracket.
        """
        if _ENTREZ.search(text):
            check_balance(text, "query", brackets=True)
        conditions = ["alive[prop]"] if current_only else []
        if taxid is not None:
            conditions.append(f"txid{taxid}[Organism]")
        return cls(" ".join(text.split()), tuple(conditions))

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """The searches, the best first: exact symbol, other symbols, whole record; one for Entrez syntax or an id."""
        if curie := _CURIE.fullmatch(self.text):
            return (Tier(None, f"{int(curie[1])}[uid]"),)
        if _ENTREZ.search(self.text):
            return (Tier(None, f"({self.text})" if self.conditions else self.text),)
        return (
            Tier("symbol", f'"{self.text}"[Preferred Symbol]'),
            Tier("alias", f'"{self.text}"[Gene Name]'),
            Tier(None, f"({self.words})"),
        )

    def build_term(self, tier: Tier, without: Sequence[Tier] = ()) -> str:
        """Return the term to send for a search; it excludes the hits of the searches in ``without``."""
        expression, before = tier.expression, " OR ".join(other.expression for other in without)
        if before:
            expression = f"({expression} NOT {before if len(without) == 1 else f'({before})'})"
        return " AND ".join((expression, *self.conditions))

    @property
    def words(self) -> str:
        """The query as plain words, without characters and operators of Entrez syntax."""
        words = _NOT_WORDS.sub(" ", self.text).split()
        return " ".join(f'"{word}"' if word in ("AND", "OR", "NOT") else word for word in words)
