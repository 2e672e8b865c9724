"""The part of a query that empties a search: its position, and the number of counts needed to find it."""

import pytest

from entrez_kit.pubmed.empty_searches import find_emptying_part, has_emptying_part, split_query
from entrez_kit.services.small_replies import ESearchReply, SearchWarning

NOTHING = ESearchReply(count=0)


@pytest.mark.parametrize(
    ("term", "parts"),
    [
        ("a AND b NOT c", ["a", "b", "c"]),
        ("sickle cell AND review[pt]", ["sickle", "cell", "review[pt]"]),
        ("((a OR b) AND c[ti])", ["(a OR b)", "c[ti]"]),
        ("(a OR (b AND c)) AND d", ["(a OR (b AND c))", "d"]),
        ("a AND (b AND (c[ti]  OR d))", ["a", "b", "(c[ti] OR d)"]),
        ("(a OR b)[tiab] AND c", ["(a OR b)[tiab]", "c"]),
        ("2019:2020[dp] AND x", ["2019:2020[dp]", "x"]),
        ('"one phrase"', []),
        ("a", []),
        ("a OR b", []),
        ("a AND b OR c", []),
        ("NOT a AND b", []),
        ("", []),
        (" AND ".join(f"w{number}[ti]" for number in range(200)), []),
    ],
)
def test_the_parts_of_a_query_are_those_joined_by_and_or_not(term: str, parts: list[str]) -> None:
    assert [part.text for part in split_query(term)] == parts


@pytest.mark.parametrize("length", [2, 3, 5, 8, 100])
def test_the_emptying_part_is_found_with_few_counts(length: int) -> None:
    for place in range(length):
        words = [f"w{number}[ti]" for number in range(length)]
        asked: list[str] = []

        def count(term: str, culprit: str = words[place], asked: list[str] = asked) -> int:
            asked.append(term)
            return 0 if culprit in term.split() else 7

        (warning,) = find_emptying_part(" AND ".join(words), NOTHING, count)

        assert (warning.code, warning.terms) == ("emptying_part", [words[place]])
        assert len(asked) <= min(length, 8)


def test_parts_that_empty_the_search_only_together_are_both_named() -> None:
    counts = {"a": 14, "b": 9}

    (warning,) = find_emptying_part("a AND b", NOTHING, lambda term: counts.get(term, 0))

    assert warning.terms == ["b"]
    assert {"'a'", "14", "'b'", "9"} <= set(warning.message.replace(",", "").split())


def test_an_excluded_part_is_named() -> None:
    (warning,) = find_emptying_part("a NOT (a OR b)", NOTHING, lambda term: int(term == "a"))

    assert warning.terms == ["(a OR b)"]
    assert "NOT (a OR b)" in warning.message


def test_phrases_that_the_reply_names_are_not_counted() -> None:
    kept = ESearchReply(count=0, warnings=[SearchWarning("phrase_not_found", "nobody a[au]", "kept")])
    dropped = ESearchReply(count=0, warnings=[SearchWarning("phrase_not_found", "unicornzz", "dropped")])
    asked: list[str] = []

    assert has_emptying_part("nobody a[au] AND x", kept)
    assert not has_emptying_part("(nobody a[au] OR y) AND x", kept)
    assert not has_emptying_part("x", NOTHING)
    assert find_emptying_part("a AND unicornzz", dropped, lambda term: len(asked)) == []

    def count(term: str) -> int:
        asked.append(term)
        return 1

    find_emptying_part("a AND unicornzz AND b", dropped, count)
    assert asked
    assert not [term for term in asked if "unicornzz" in term]
