"""The blocks of a strategy: the conditions of its query, and the lines with the same query."""

from collections.abc import Sequence
from dataclasses import dataclass

from entrez_kit.query.conditions import split_conditions, unwrap
from entrez_kit.strategies.strategy import Strategy


@dataclass(frozen=True, slots=True)
class StrategyBlock:
    """A part of a query that every record must match, or must not match if it is excluded.

    ``line`` is the line of the strategy with this query; None if it is only a part of a line.
    """

    query: str
    is_excluded: bool = False
    line: int | None = None


def split_blocks(strategy: Strategy, query: str) -> list[StrategyBlock]:
    """Return the blocks of a query in order; one block if its outermost operator is OR."""
    lines: dict[str, int] = {}
    for line in strategy.lines:
        text = strategy.expand(line)
        if text is not None and line.number is not None:
            lines.setdefault(unwrap(text), line.number)
    return [
        StrategyBlock(condition.text, condition.is_excluded, lines.get(condition.text))
        for condition in split_conditions(query)
    ]


def join_blocks(blocks: Sequence[StrategyBlock]) -> str:
    """Return the query of blocks."""
    required = [f"({block.query})" for block in blocks if not block.is_excluded]
    query = " AND ".join(required) or "all[sb]"
    for block in blocks:
        if block.is_excluded:
            query = f"({query}) NOT ({block.query})"
    return query
