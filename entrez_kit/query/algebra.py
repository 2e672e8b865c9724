"""The algebra of resolved queries: sets of records over named fields, without any reference to PubMed's syntax.

A phrase is never a wider result than its words, and a part that matches no record is a ``TermSet`` without values.
"""

from dataclasses import dataclass
from typing import TypeAlias

from entrez_kit.query.fields import Field


@dataclass(frozen=True, slots=True)
class Term:
    """The records with a word in a text field."""

    field: Field
    word: str


@dataclass(frozen=True, slots=True)
class TermSet:
    """The records with any of these values in a value list."""

    source: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wildcard:
    """The records with a word (text fields) or a value that matches a pattern; ``*`` is any number of characters."""

    field: Field
    pattern: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """The records with these words in sequence in one value of a text field; a word may be a pattern."""

    field: Field
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """The records with these words in any order, with at most ``distance`` other words between the first and last."""

    field: Field
    words: tuple[str, ...]
    distance: int


@dataclass(frozen=True, slots=True)
class Range:
    """The records with a number (a date as yyyymmdd, a PMID) from ``low`` to ``high`` in a column."""

    column: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Everything:
    """All records."""


@dataclass(frozen=True, slots=True)
class HistorySet:
    """The records of an earlier search."""

    number: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A part that is printed as one term: "neoplasms"[MeSH Terms] for a heading and all narrower ones."""

    part: "Query"
    text: str


@dataclass(frozen=True, slots=True)
class And:
    """The records in all parts."""

    parts: tuple["Query", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """The records in any part."""

    parts: tuple["Query", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The records in ``left`` that are not in ``right``."""

    left: "Query"
    right: "Query"


Leaf: TypeAlias = Term | TermSet | Wildcard | Phrase | Window | Range | Everything | HistorySet
Query: TypeAlias = Leaf | Shown | And | Or | Not

NOTHING = TermSet("", ())
"""No record."""
