"""Turn what a user types into searches of NCBI Gene: exact symbol, other symbols, and the rest, without overlap."""

import re
from dataclasses import dataclass
from typing import Final

from entrez_kit.gene.models import MatchKind

_SYNTAX: Final = re.compile(r'["\[\]*]|\S\s+(?:AND|OR|NOT)\s+\S')
"""Field tags, quotes, truncation, or an operator between two operands: the user speaks Entrez and is left alone."""
_CURIE: Final = re.compile(r"NCBIGene:([0-9]{1,10})", re.IGNORECASE | re.ASCII)
_NOT_WORDS: Final = re.compile(r"[()\[\]{}\"*?~#&|:\\]")
_OPERATORS: Final = frozenset(("AND", "OR", "NOT"))


@dataclass(frozen=True, slots=True)
class Tier:
    """One search. ``kind`` says how its hits match, None where that shows only in the hit."""

    kind: MatchKind | None
    term: str


@dataclass(frozen=True, slots=True)
class GeneQuery:
    """A query as given, cleaned of superfluous white space, and the conditions every hit must fulfil."""

    text: str
    conditions: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str, *, taxid: int | None = None, current_only: bool = True) -> "GeneQuery":
        """Build a query restricted to an organism, with all its strains and subspecies, and to current genes."""
        conditions = []
        if current_only:
            conditions.append("alive[prop]")
        if taxid is not None:
            conditions.append(f"txid{taxid}[Organism]")
        return cls(" ".join(text.split()), tuple(conditions))

    @property
    def is_entrez(self) -> bool:
        """Whether the query is written in Entrez syntax, and so is one search of its own."""
        return bool(_SYNTAX.search(self.text))

    def first(self) -> Tier:
        """Return the first search: the whole query where it is Entrez syntax or an id, else the exact symbol."""
        curie = _CURIE.fullmatch(self.text)
        if curie:
            return Tier(None, self._term(f"{int(curie[1])}[uid]"))
        if self.is_entrez:
            return Tier(None, self._term(f"({self.text})" if self.conditions else self.text))
        return Tier("symbol", self._term(self._symbol))

    @property
    def is_single(self) -> bool:
        """Whether the first search is the only one."""
        return self.is_entrez or bool(_CURIE.fullmatch(self.text))

    def alias(self, *, after_symbol: bool) -> Tier:
        """Return the search for other symbols; ``after_symbol`` leaves out what the first search found."""
        term = f"({self._any_symbol} NOT {self._symbol})" if after_symbol else self._any_symbol
        return Tier("alias", self._term(term))

    def rest(self, *, after_symbol: bool, after_alias: bool) -> Tier | None:
        """Return the search of the whole record without what was found before; None for a query without words."""
        words = self.words
        if not words:
            return None
        term = f"({words})"
        if after_symbol or after_alias:
            before = [self._symbol] if after_symbol else []
            before += [self._any_symbol] if after_alias else []
            term = f"({term} NOT ({' OR '.join(before)}))"
        return Tier(None, self._term(term))

    @property
    def words(self) -> str:
        """The query as plain words, without anything Entrez could take for syntax."""
        found = _NOT_WORDS.sub(" ", self.text).split()
        return " ".join(f'"{word}"' if word in _OPERATORS else word for word in found)

    @property
    def _symbol(self) -> str:
        return f'"{self.text}"[Preferred Symbol]'

    @property
    def _any_symbol(self) -> str:
        return f'"{self.text}"[Gene Name]'

    def _term(self, expression: str) -> str:
        return " AND ".join((expression, *self.conditions))
