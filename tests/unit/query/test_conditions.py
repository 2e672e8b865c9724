"""Queries split into the conditions that AND joins and those that NOT excludes."""

import pytest

from entrez_kit.query.conditions import split_conditions, unwrap


@pytest.mark.parametrize(
    ("query", "conditions"),
    [
        ("a[ti] AND b[ti] NOT c[ti]", ["a[ti]", "b[ti]", "NOT c[ti]"]),
        ("a[ti] AND (b[ti] AND (c[ti] NOT d[ti]))", ["a[ti]", "b[ti]", "c[ti]", "NOT d[ti]"]),
        ("((a[ti] OR b[ti]) AND ((c[ti])))", ["a[ti] OR b[ti]", "c[ti]"]),
        ("a[ti] NOT (b[ti] AND c[ti])", ["a[ti]", "NOT b[ti] AND c[ti]"]),
        ("NOT a[ti] AND b[ti]", ["NOT a[ti]", "b[ti]"]),
        ("a[ti] AND b[ti] OR c[ti]", ["a[ti] AND b[ti] OR c[ti]"]),
        ("(a[ti] OR b[ti])", ["a[ti] OR b[ti]"]),
        ('"x AND y"[ti] AND z[ti]', ['"x AND y"[ti]', "z[ti]"]),
        ("sickle cell AND 2019:2020[dp]", ["sickle cell", "2019:2020[dp]"]),
        ('"a"[ti] "b"[ti] (c[ti] OR d[ti])', ['"a"[ti]', '"b"[ti]', "c[ti] OR d[ti]"]),
        ("a[ti] | b[ti] AND c[ti]", ["a[ti] | b[ti] AND c[ti]"]),
        ("a[ti] & b[ti]", ["a[ti]", "b[ti]"]),
        ("(a OR b)[tiab] AND c", ["(a OR b)[tiab]", "c"]),
        ("((a AND b))[tiab] AND (c)[ti]", ["((a AND b))[tiab]", "(c)[ti]"]),
        ("a[ti] AND (b[ti] OR c[ti]", ["a[ti]", "b[ti] OR c[ti]"]),
        ("a[ti]) AND b[ti]", ["a[ti]", "b[ti]"]),
        ("a[ti] AND ()", ["a[ti]"]),
        ("", []),
    ],
)
def test_the_conditions_of_a_query_are_those_joined_by_and_or_excluded_by_not(
    query: str, conditions: list[str]
) -> None:
    found = [
        f"NOT {condition.text}" if condition.is_excluded else condition.text for condition in split_conditions(query)
    ]

    assert found == conditions


def test_a_deeply_nested_query_is_split() -> None:
    query = "(" * 20_000 + "a[ti]" + " AND b[ti])" * 20_000

    assert len(split_conditions(query)) == 20_001


@pytest.mark.parametrize(
    ("query", "inner"),
    [
        ("((a) AND (b))", "(a) AND (b)"),
        ("(a) AND (b)", "(a) AND (b)"),
        ("((a))", "a"),
        ('("(" AND b)', '"(" AND b'),
        ("(a OR b)[ti]", "(a OR b)[ti]"),
        ("()", ""),
        ("", ""),
    ],
)
def test_parentheses_around_the_whole_query_are_removed(query: str, inner: str) -> None:
    assert unwrap(query) == inner
