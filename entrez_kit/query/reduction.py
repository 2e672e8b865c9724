"""Simplify queries whose parts match every record or no record, on PubMed's own syntax tree.

This gives the records that a search would find if NCBI had not dropped a part of the query. It also gives the query
for records that the search misses because they have no MeSH terms yet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from entrez_kit.query.fields import parse_tag
from entrez_kit.query.parser import Operand, fold_tree, parse


class Whole(Enum):
    """A part of a query that matches every record, or no record."""

    EVERYTHING = "everything"
    NOTHING = "nothing"


Part = str | Whole | None
"""A part of a query: a term, everything or nothing; None for an omitted part."""


def reduce_query(term: str, exchange: Callable[[Operand], Part]) -> Part:
    """Replace the operands of a query and return the simplified query; None if nothing remains."""

    def join(parts: Sequence[tuple[str, Part]], is_inner: bool) -> Part:
        current: Part = None
        for operator, part in parts:
            current = _join_parts(current, operator, part)
        return f"({current})" if is_inner and isinstance(current, str) and " " in current else current

    return fold_tree(parse(term).root, exchange, join)


def _join_parts(left: Part, operator: str, right: Part) -> Part:
    """Join two parts like Entrez: an omitted part has no effect."""
    if right is None:
        return left
    if left is None:
        if operator != "NOT":
            return right
        left = Whole.EVERYTHING
    if operator == "NOT":
        if right is Whole.NOTHING or left is Whole.NOTHING:
            return left
        if right is Whole.EVERYTHING:
            return Whole.NOTHING
        return f"all[sb] NOT {right}" if left is Whole.EVERYTHING else f"{left} NOT {right}"
    neutral, absorbing = (Whole.EVERYTHING, Whole.NOTHING) if operator == "AND" else (Whole.NOTHING, Whole.EVERYTHING)
    if left is absorbing or right is absorbing:
        return absorbing
    if left is neutral:
        return right
    return left if right is neutral else f"{left} {operator} {right}"


# Records that a search misses because they have no MeSH terms

_MESH_FIELDS: Final = frozenset(("MESH", "MAJR", "SUBH", "PAPX"))
CHECK_TAGS: Final = frozenset({"humans", "animals", "male", "female", "child", "adult", "aged", "mice", "rats"})
"""MeSH headings for the subjects of a study; as search words they are too general."""


def is_mesh_only(operand: Operand) -> bool:
    """Return whether only records with MeSH terms can match an operand."""
    tag = parse_tag(operand.tag) if operand.tag else None
    return tag is not None and tag.field.code in _MESH_FIELDS


@dataclass(frozen=True, slots=True)
class MeshGap:
    """The parts of a query without MeSH (``rest``); if all parts are MeSH terms (``by_words``), their words."""

    rest: str
    by_words: bool = False


def find_mesh_gap(term: str) -> MeshGap | None:
    """Return the query for records without MeSH terms; None if the search finds them, or if no query remains.

    The search finds them if MeSH is an alternative or only excludes records: ``NOT (animals[mh] NOT humans[mh])``
    excludes no record without MeSH terms.
    """
    if (
        reduce_query(term, lambda operand: Whole.NOTHING if is_mesh_only(operand) else operand.text)
        is not Whole.NOTHING
    ):
        return None
    remaining = reduce_query(term, lambda operand: None if is_mesh_only(operand) else operand.text)
    if isinstance(remaining, str):
        return MeshGap(remaining)
    words = reduce_query(term, _to_words)
    return MeshGap(words, by_words=True) if isinstance(words, str) else None


def _to_words(operand: Operand) -> Part:
    words = operand.phrase.partition("/")[0].replace(",", " ").casefold().split()
    return Whole.EVERYTHING if not words or words[0] in CHECK_TAGS else f"({' '.join(words)})"
