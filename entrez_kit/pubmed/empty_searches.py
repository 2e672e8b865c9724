"""Find the part of a query that empties a search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from entrez_kit.base.frontend_text import cut_middle
from entrez_kit.base.numerals import format_count
from entrez_kit.core.model import Warn
from entrez_kit.query import parser, reduction
from entrez_kit.query.parser import Group, Operand, fold_tree, parse
from entrez_kit.query.reduction import Whole, reduce_query
from entrez_kit.services.small_replies import DROPPED, ESearchReply

MAX_CONDITIONS: Final = 100
"""The most conditions of a query that is searched for the one that empties it."""
MAX_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Condition:
    """A part of a query that every record must match, or with NOT must not match.

    Args:
        text: the part.
        join: the text between the condition before it and this one.
    """

    text: str
    join: str

    @property
    def is_excluded(self) -> bool:
        """Whether the condition excludes records."""
        return self.join == " NOT "


def split_query(term: str) -> list[Condition]:
    """Return the conditions of a query, which AND or NOT joins; each word of a term without a field tag is one.

    The list is empty if the query has only one condition, or alternatives outside of parentheses.
    """
    parts: tuple[parser.Part, ...] = parse(term).root.parts
    while len(parts) == 1 and isinstance(parts[0].node, Group):
        parts = parts[0].node.parts
    if any(part.operator == "OR" for part in parts) or (parts and parts[0].operator == "NOT"):
        return []
    conditions: list[Condition] = []
    for part in parts:
        join, node = f" {part.operator} ", part.node
        is_run = isinstance(node, Operand) and not (node.quoted or node.tag or node.upper or node.is_history)
        if isinstance(node, Operand) and is_run and part.operator != "NOT":
            first, *others = node.phrase.split()
            conditions += [Condition(first, join), *(Condition(word, " ") for word in others)]
        else:
            conditions.append(Condition(_print_node(node), join))
    return conditions if 1 < len(conditions) <= MAX_CONDITIONS else []


def _print_node(node: Operand | Group) -> str:
    if isinstance(node, Operand):
        return node.text
    return fold_tree(node, lambda one: one.text, lambda parts, _: f"({_join_printed(parts)})")


def _join_printed(parts: Sequence[tuple[str, str]]) -> str:
    """Join pairs of an operator and a text."""
    return " ".join(f"{operator} {text}" for operator, text in parts).removeprefix("AND ")


def has_emptying_part(term: str, reply: ESearchReply) -> bool:
    """Return whether NCBI names a phrase without records that the query requires and that was not dropped."""
    named = _read_phrases(reply, "kept")

    def to_part(operand: Operand) -> reduction.Part:
        return Whole.NOTHING if tuple(operand.words) in named else operand.text

    return bool(named) and reduce_query(term, to_part) is Whole.NOTHING


def _read_phrases(reply: ESearchReply, fate: str) -> set[tuple[str, ...]]:
    """Return the words of each phrase without records that NCBI kept in the search, or dropped."""
    return {
        _read_words(complaint.text)
        for complaint in reply.complaints
        if complaint.code in DROPPED and complaint.fate == fate
    }


def _read_words(text: str) -> tuple[str, ...]:
    parts = parse(text).root.parts
    return tuple(word for part in parts if isinstance(part.node, Operand) for word in part.node.words)


def find_emptying_part(term: str, reply: ESearchReply, count: Callable[[str], int]) -> list[Warn]:
    """Return a warning about the first condition that leaves no record; none if the query has only one condition.

    Conditions that NCBI dropped are left out, because the reply names them.

    The number of counts is at most the number of conditions, and at most 8: the first conditions of the query are
    counted, and each count halves the range in which the emptying one can be.

    Args:
        term: a query without results.
        reply: NCBI's reply to it.
        count: counts the records of a query.
    """
    dropped = _read_phrases(reply, "dropped")
    conditions = [one for one in split_query(term) if _read_words(one.text) not in dropped]
    if len(conditions) < 2:
        return []
    found, empty, before = 0, len(conditions), 0
    while empty - found > 1:
        middle = (found + empty) // 2
        number = count(_join_conditions(conditions[:middle]))
        if number:
            found, before = middle, number
        else:
            empty = middle
    emptying, start = conditions[found], cut_middle(_join_conditions(conditions[:found]), MAX_SHOWN)
    text = cut_middle(emptying.text, MAX_SHOWN)
    if emptying.is_excluded:
        message = f"{start!r} finds {format_count(before, 'record')}, and 'NOT {text}' excludes all of them."
    elif not found or not (alone := count(emptying.text)):
        message = f"No record matches {text!r}, so the search finds nothing."
    else:
        records = format_count(before, "record")
        message = f"{start!r} finds {records} and {text!r} finds {alone:,}, but no record matches both."
    return [Warn(code="emptying_part", message=message, terms=[emptying.text])]


def _join_conditions(conditions: Sequence[Condition]) -> str:
    return "".join(f"{condition.join if place else ''}{condition.text}" for place, condition in enumerate(conditions))
