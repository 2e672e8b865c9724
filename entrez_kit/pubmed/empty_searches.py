"""Find the part of a query that empties a search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from entrez_kit.base.errors import truncate
from entrez_kit.base.numerals import format_count
from entrez_kit.core.model import Warn
from entrez_kit.query.parser import Group, Operand, fold_tree, parse
from entrez_kit.query.parser import Part as Member
from entrez_kit.query.reduction import Part, Whole, reduce_query
from entrez_kit.services.small_replies import DROPPED, ESearchReply

MAX_PARTS: Final = 100
"""The most parts of a query that is searched for the part that empties it."""
MAX_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class QueryPart:
    """A part that every record must match, or with NOT must not match.

    Args:
        text: the part.
        join: the text between the part before it and this one.
    """

    text: str
    join: str

    @property
    def is_excluded(self) -> bool:
        """Whether the part excludes records."""
        return self.join == " NOT "


def split_query(term: str) -> list[QueryPart]:
    """Return the parts of a query that are joined by AND or NOT, and the words of terms without a field tag.

    The list is empty if the query has only one part, or alternatives outside of parentheses.
    """
    members: tuple[Member, ...] = parse(term).root.parts
    while len(members) == 1 and isinstance(members[0].node, Group):
        members = members[0].node.parts
    if any(one.operator == "OR" for one in members) or (members and members[0].operator == "NOT"):
        return []
    parts: list[QueryPart] = []
    for member in members:
        join, node = f" {member.operator} ", member.node
        is_run = isinstance(node, Operand) and not (node.quoted or node.tag or node.upper or node.is_history)
        if isinstance(node, Operand) and is_run and member.operator != "NOT":
            first, *others = node.phrase.split()
            parts += [QueryPart(first, join), *(QueryPart(word, " ") for word in others)]
        else:
            parts.append(QueryPart(_print_node(node), join))
    return parts if 1 < len(parts) <= MAX_PARTS else []


def _print_node(node: Operand | Group) -> str:
    if isinstance(node, Operand):
        return node.text
    return fold_tree(node, lambda one: one.text, lambda members, _: f"({_join_members(members)})")


def _join_members(members: Sequence[tuple[str, str]]) -> str:
    text = " ".join(f"{operator} {text}" for operator, text in members)
    return text.removeprefix("AND ")


def names_emptying_part(term: str, reply: ESearchReply) -> bool:
    """Return whether NCBI names a phrase without records that the query requires and that was not dropped."""
    named = _read_phrases(reply, "kept")

    def to_part(operand: Operand) -> Part:
        return Whole.NOTHING if tuple(operand.words) in named else operand.text

    return bool(named) and reduce_query(term, to_part) is Whole.NOTHING


def _read_phrases(reply: ESearchReply, fate: str) -> set[tuple[str, ...]]:
    """Return the words of each phrase without records that NCBI kept in the search, or dropped."""
    return {_read_words(one.text) for one in reply.complaints if one.code in DROPPED and one.fate == fate}


def _read_words(text: str) -> tuple[str, ...]:
    members = parse(text).root.parts
    return tuple(word for one in members if isinstance(one.node, Operand) for word in one.node.words)


def find_emptying_part(term: str, reply: ESearchReply, count: Callable[[str], int]) -> list[Warn]:
    """Return a warning about the first part of a query that leaves no record; none if the query has only one part.

    Parts that NCBI dropped are left out, because the reply names them.

    The number of counts is at most the number of parts, and at most 8: the first parts of the query are counted, and
    each count halves the range in which the part can be.

    Args:
        term: a query without results.
        reply: NCBI's reply to it.
        count: counts the records of a query.
    """
    dropped = _read_phrases(reply, "dropped")
    parts = [part for part in split_query(term) if _read_words(part.text) not in dropped]
    if len(parts) < 2:
        return []
    found, empty, before = 0, len(parts), 0
    while empty - found > 1:
        middle = (found + empty) // 2
        number = count(_join_parts(parts[:middle]))
        if number:
            found, before = middle, number
        else:
            empty = middle
    part, start = parts[found], truncate(_join_parts(parts[:found]), MAX_SHOWN)
    text = truncate(part.text, MAX_SHOWN)
    if part.is_excluded:
        message = f"{start!r} finds {format_count(before, 'record')}, and 'NOT {text}' excludes all of them."
    elif not found or not (alone := count(part.text)):
        message = f"No record matches {text!r}, so the search finds nothing."
    else:
        records = format_count(before, "record")
        message = f"{start!r} finds {records} and {text!r} finds {alone:,}, but no record matches both."
    return [Warn(code="emptying_part", message=message, terms=[part.text])]


def _join_parts(parts: list[QueryPart]) -> str:
    return parts[0].text + "".join(f"{part.join}{part.text}" for part in parts[1:]) if parts else ""
