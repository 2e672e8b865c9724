"""Queries split into the parts that AND joins, and Wilson's interval of a proportion."""

import pytest

from entrez_kit.strategies.blocks import StrategyBlock, join_blocks, split_blocks
from entrez_kit.strategies.measure_recall import compute_interval
from entrez_kit.strategies.strategy import read_strategy


def split_query(text: str) -> list[tuple[str, bool, int | None]]:
    strategy = read_strategy(text)
    query = strategy.to_result().query
    assert query is not None
    return [(block.query, block.is_excluded, block.line) for block in split_blocks(strategy, query)]


def test_blocks_are_the_lines_that_and_joins() -> None:
    text = "1. asthma.ti.\n2. wheez$.ti.\n3. 1 or 2\n4. child.ti.\n5. 3 and 4\n6. review.pt.\n7. 5 not 6\n"

    assert split_query(text) == [
        ("(asthma[ti]) OR (wheez*[ti])", False, 3),
        ("child[ti]", False, 4),
        ('"review"[pt]', True, 6),
    ]


def test_a_limit_is_a_separate_block() -> None:
    text = "1. asthma.ti.\n2. child.ti.\n3. 1 and 2\n4. limit 3 to english language\n"

    assert [query for query, _, _ in split_query(text)] == ["asthma[ti]", "child[ti]", "english[la]"]


def test_a_query_in_one_line_is_split_at_its_outermost_operators() -> None:
    text = '(asthma[ti] OR "lung AND heart"[ti]) AND ((child[ti])) NOT (rats[mh] NOT humans[mh])'

    assert split_query(text) == [
        ('asthma[ti] OR "lung AND heart"[ti]', False, None),
        ("child[ti]", False, None),
        ("rats[mh] NOT humans[mh]", True, None),
    ]


def test_an_or_is_one_block() -> None:
    assert split_query("asthma[ti] AND child[ti] OR wheeze[ti]") == [
        ("asthma[ti] AND child[ti] OR wheeze[ti]", False, 1)
    ]


def test_joined_blocks_are_the_query() -> None:
    blocks = [StrategyBlock("a[ti] OR b[ti]"), StrategyBlock("c[ti]"), StrategyBlock("d[ti]", is_excluded=True)]

    assert join_blocks(blocks) == "((a[ti] OR b[ti]) AND (c[ti])) NOT (d[ti])"
    assert join_blocks(blocks[2:]) == "(all[sb]) NOT (d[ti])"


@pytest.mark.parametrize(
    ("found", "total", "low", "high"),
    [(5, 5, 0.566, 1), (10, 10, 0.722, 1), (20, 20, 0.839, 1), (19, 20, 0.764, 0.991), (95, 100, 0.888, 0.978)],
)
def test_the_interval_equals_that_of_published_tables(found: int, total: int, low: float, high: float) -> None:
    interval = compute_interval(found, total)

    assert interval == pytest.approx((low, high), abs=0.0006)
    assert compute_interval(0, 0) is None
