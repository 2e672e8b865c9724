"""The cache of answers: the most recently used ones, within a limit of size."""

import time
from collections.abc import Sequence

import pytest
from mcp_types import CallToolResult, TextContent

from entrez_kit.base.tracing import Trace, TracedRequest
from entrez_kit.server.response_cache import ResponseCache

HOUR = 3600.0


def make_trace(*until: float) -> Trace:
    """Return the trace of a call whose replies expire at this time."""
    return Trace("id", [TracedRequest("esearch", False, 1, 0.1, 10, moment) for moment in until])


def make_answer(characters: int) -> CallToolResult:
    """Return an answer of this number of characters."""
    return CallToolResult(content=[TextContent(type="text", text="x" * characters)])


def list_cached(answers: ResponseCache, *tools: str) -> list[str]:
    """Return the tools whose answer is cached."""
    return [tool for tool in tools if answers.get(tool, {}, None) is not None]


def test_the_least_recently_used_answer_is_removed_first() -> None:
    answers = ResponseCache(most_characters=30)
    for tool in ("a", "b", "c"):
        answers.keep(tool, {}, None, make_answer(10), make_trace(time.time() + HOUR))
    assert list_cached(answers, "b", "c", "a") == ["b", "c", "a"]
    answers.keep("d", {}, None, make_answer(10), make_trace(time.time() + HOUR))

    assert list_cached(answers, "a", "b", "c", "d") == ["a", "c", "d"]


def test_an_answer_larger_than_the_cache_removes_no_other() -> None:
    answers = ResponseCache(most_characters=30)
    answers.keep("small", {}, None, make_answer(10), make_trace(time.time() + HOUR))
    answers.keep("large", {}, None, make_answer(31), make_trace(time.time() + HOUR))

    assert list_cached(answers, "small", "large") == ["small"]


def test_a_newer_answer_replaces_the_older_one() -> None:
    answers = ResponseCache(most_characters=30)
    for characters in (30, 20):
        answers.keep("a", {}, None, make_answer(characters), make_trace(time.time() + HOUR))
    answers.keep("b", {}, None, make_answer(10), make_trace(time.time() + HOUR))

    assert list_cached(answers, "a", "b") == ["a", "b"]


@pytest.mark.parametrize("until", [(), (0.0,), (HOUR, 0.0), (HOUR, -1.0)])
def test_answers_that_may_not_be_cached_are_not_cached(until: Sequence[float]) -> None:
    answers = ResponseCache()
    answers.keep(
        "a", {}, None, make_answer(1), make_trace(*(time.time() + moment if moment else 0.0 for moment in until))
    )

    assert list_cached(answers, "a") == []


def test_other_arguments_are_another_call_and_their_order_does_not_matter() -> None:
    answers = ResponseCache()
    answers.keep("a", {"x": {"b": 1, "c": [1, 2]}, "y": "1"}, None, make_answer(1), make_trace(time.time() + HOUR))

    assert answers.get("a", {"y": "1", "x": {"c": [1, 2], "b": 1}}, None) is not None
    for other in ({"x": {"b": 1, "c": [2, 1]}, "y": "1"}, {"x": {"b": 1, "c": [1, 2]}, "y": 1}, {}):
        assert answers.get("a", other, None) is None
    assert answers.get("b", {"x": {"b": 1, "c": [1, 2]}, "y": "1"}, None) is None


def test_a_caller_with_other_scopes_gets_no_cached_answer() -> None:
    answers = ResponseCache()
    answers.keep("a", {}, ("pubmed", "gene"), make_answer(1), make_trace(time.time() + HOUR))

    assert answers.get("a", {}, {"gene", "pubmed"}) is not None
    assert answers.get("a", {}, ("pubmed",)) is None
    assert answers.get("a", {}, None) is None
