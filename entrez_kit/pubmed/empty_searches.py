"""Find the part of a query that empties a search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from entrez_kit.base.frontend_text import MAX_QUOTED, cut_middle, format_count
from entrez_kit.core.model import Warn
from entrez_kit.query import reduction
from entrez_kit.query.conditions import split_conditions
from entrez_kit.query.parser import Group, Operand, parse
from entrez_kit.query.reduction import Whole, reduce_query
from entrez_kit.services.small_replies import DROPPED, ESearchReply

MAX_PARTS: Final = 100
"""The most parts of a query that is searched for the one that empties it."""


@dataclass(frozen=True, slots=True)
class QueryPart:
    """A condition of a query, or a word of one.

    Args:
        text: the condition, which records match, or with NOT do not match.
        join: the text between the part before it and this one.
    """

    text: str
    join: str

    @property
    def is_excluded(self) -> bool:
        """Whether the part excludes records."""
        return self.join == " NOT "


def split_query(term: str) -> list[QueryPart]:
    """Return the conditions of a query; each word of a condition without a field tag is a part.

    The list is empty if the query has only one part, or begins with NOT.
    """
    parts: list[QueryPart] = []
    for condition in split_conditions(term):
        node, text = condition.node, " ".join(condition.text.split())
        join = " NOT " if condition.is_excluded else " AND "
        if isinstance(node, Group):
            parts.append(QueryPart(text if node.tag else f"({text})", join))
        elif condition.is_excluded or node.quoted or node.tag or node.upper or node.is_history:
            parts.append(QueryPart(text, join))
        else:
            first, *others = node.phrase.split()
            parts += [QueryPart(first, join), *(QueryPart(word, " ") for word in others)]
    is_usable = 1 < len(parts) <= MAX_PARTS and not parts[0].is_excluded
    return parts if is_usable else []


def has_emptying_part(term: str, reply: ESearchReply) -> bool:
    """Return whether NCBI names a phrase without records that the query requires and that was not dropped."""
    named = _read_phrases(reply, "kept")

    def to_part(operand: Operand) -> reduction.Part:
        return Whole.NOTHING if tuple(operand.words) in named else operand.text

    return bool(named) and reduce_query(term, to_part) is Whole.NOTHING


def _read_phrases(reply: ESearchReply, fate: str) -> set[tuple[str, ...]]:
    """Return the words of each phrase without records that NCBI kept in the search, or dropped."""
    return {_read_words(warning.text) for warning in reply.warnings if warning.code in DROPPED and warning.fate == fate}


def _read_words(text: str) -> tuple[str, ...]:
    parts = parse(text).root.parts
    return tuple(word for part in parts if isinstance(part.node, Operand) for word in part.node.words)


def find_emptying_part(term: str, reply: ESearchReply, count: Callable[[str], int]) -> list[Warn]:
    """Return a warning about the first part that leaves no record; none if the query has only one part.

    Pieces that NCBI dropped are left out, because the reply names them.

    The number of counts is at most the number of parts, and at most 8: the first parts of the query are counted, and
    each count halves the range in which the emptying one can be.

    Args:
        term: a query without results.
        reply: NCBI's reply to it.
        count: counts the records of a query.
    """
    dropped = _read_phrases(reply, "dropped")
    parts = [part for part in split_query(term) if _read_words(part.text) not in dropped]
    if len(parts) < 2:
        return []
    nonempty, empty, before = 0, len(parts), 0
    while empty - nonempty > 1:
        middle = (nonempty + empty) // 2
        number = count(_join_parts(parts[:middle]))
        if number:
            nonempty, before = middle, number
        else:
            empty = middle
    emptying, start = parts[nonempty], cut_middle(_join_parts(parts[:nonempty]), MAX_QUOTED)
    text = cut_middle(emptying.text, MAX_QUOTED)
    if emptying.is_excluded:
        message = f"{start!r} finds {format_count(before, 'record')}, and 'NOT {text}' excludes all of them."
    elif not nonempty or not (alone := count(emptying.text)):
        message = f"No record matches {text!r}, so the search finds nothing."
    else:
        records = format_count(before, "record")
        message = f"{start!r} finds {records} and {text!r} finds {alone:,}, but no record matches both."
    return [Warn(code="emptying_part", message=message, terms=[emptying.text])]


def _join_parts(parts: Sequence[QueryPart]) -> str:
    return "".join(f"{part.join if place else ''}{part.text}" for place, part in enumerate(parts))
