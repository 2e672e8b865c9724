"""Split a query into its blocks: the parts that AND joins, and those that NOT excludes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from entrez_kit.strategies.strategy import Strategy

_PIECE: Final = re.compile(r'"[^"]*"|\[[^\[\]]*\]|[()]|[^\s()"\[\]]+')


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a query that every record must match, or must not match if it is excluded.

    ``line`` is the line of the strategy with this query; None if it is only a part of a line.
    """

    query: str
    is_excluded: bool = False
    line: int | None = None


def split_blocks(strategy: Strategy, query: str) -> list[Block]:
    """Return the blocks of a query in order; one block if its outermost operator is OR."""
    lines: dict[str, int] = {}
    for line in strategy.lines:
        text = strategy.expand(line)
        if text is not None and line.number is not None:
            lines.setdefault(unwrap(text), line.number)
    return [Block(text, excluded, lines.get(text)) for text, excluded in _split(unwrap(query))]


def _split(query: str) -> list[tuple[str, bool]]:
    parts = _split_once(query)
    if len(parts) == 1:
        return [(unwrap(query), False)]
    found: list[tuple[str, bool]] = []
    for operator, text in parts:
        if operator == "NOT":
            found.append((unwrap(text), True))
        else:
            found += _split(unwrap(text))
    return found


def _split_once(query: str) -> list[tuple[str, str]]:
    """Return the outermost parts of a query with the operators before them; one part if an operator is OR."""
    depth, start, operator = 0, 0, ""
    found: list[tuple[str, str]] = []
    for piece in _PIECE.finditer(query):
        depth += (piece[0] == "(") - (piece[0] == ")")
        if depth or piece[0] not in ("AND", "OR", "NOT"):
            continue
        if piece[0] == "OR":
            return [("", query)]
        found.append((operator, query[start : piece.start()].strip()))
        operator, start = piece[0], piece.end()
    found.append((operator, query[start:].strip()))
    return [part for part in found if part[1]]


def unwrap(query: str) -> str:
    """Return a query without the parentheses around all of it."""
    text = query.strip()
    while text.startswith("(") and text.endswith(")"):
        depth = 0
        for piece in _PIECE.finditer(text):
            depth += (piece[0] == "(") - (piece[0] == ")")
            if not depth:
                break
        if piece.end() != len(text):
            return text
        text = text[1:-1].strip()
    return text


def join_blocks(blocks: Sequence[Block]) -> str:
    """Return the query of blocks."""
    required = [f"({block.query})" for block in blocks if not block.is_excluded]
    query = " AND ".join(required) or "all[sb]"
    for block in blocks:
        if block.is_excluded:
            query = f"({query}) NOT ({block.query})"
    return query
