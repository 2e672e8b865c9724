"""Split a query into its conditions: the parts that AND joins, and those that NOT excludes."""

from dataclasses import dataclass

from entrez_kit.query.lexer import tokenize
from entrez_kit.query.parser import Group, Operand, Part, parse


@dataclass(frozen=True, slots=True)
class Condition:
    """A part of a query that every record must match, or must not match if it is excluded.

    ``text`` is the part as written, without parentheses around all of it; ``node`` is its syntax.
    """

    text: str
    is_excluded: bool
    node: Operand | Group


def split_conditions(query: str) -> list[Condition]:
    """Return the conditions of a query in order; one if its outermost operator is OR.

    Parentheses around conditions that AND joins have no effect. Words without a field tag are one condition.
    """
    whole = parse(query).root
    waiting = [Part("AND", whole, 0, len(query))] if whole.parts else []
    conditions: list[Condition] = []
    while waiting:
        part = waiting.pop()
        is_excluded = part.operator == "NOT"
        if isinstance(part.node, Group) and not is_excluded and _joins_conditions(part.node):
            waiting += reversed(part.node.parts)
        else:
            conditions.append(Condition(unwrap(query[part.start : part.end]), is_excluded, part.node))
    return conditions


def _joins_conditions(group: Group) -> bool:
    """Return whether the parts of a group are conditions; a tag after parentheses applies to all of them."""
    return group.tag is None and all(part.operator != "OR" for part in group.parts)


def unwrap(query: str) -> str:
    """Return a query without the parentheses around all of it."""
    tokens, _ = tokenize(query)
    closing: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind == "open":
            opened.append(index)
        elif token.kind == "close" and opened:
            closing[opened.pop()] = index
    first, last = 0, len(tokens) - 1
    while first < last and closing.get(first) == last:
        first, last = first + 1, last - 1
    return query[tokens[first].start : tokens[last].end] if first <= last else ""
