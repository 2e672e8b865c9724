"""Answers that are kept: the ones used last, and no more than fit."""

import time
from collections.abc import Sequence

import pytest
from mcp_types import CallToolResult, TextContent

from entrez_kit.base.tracing import Trace, TracedRequest
from entrez_kit.server.response_cache import ResponseCache

HOUR = 3600.0


def trace(*until: float) -> Trace:
    """Return the trace of a call whose replies count until then."""
    return Trace("id", [TracedRequest("esearch", False, 1, 0.1, 10, moment) for moment in until])


def answer(characters: int) -> CallToolResult:
    """Return an answer of so many characters."""
    return CallToolResult(content=[TextContent(type="text", text="x" * characters)])


def list_cached(responses: ResponseCache, *tools: str) -> list[str]:
    """Return those tools whose answer is there."""
    return [tool for tool in tools if responses.get(tool, {}, None) is not None]


def test_what_was_not_used_for_longest_goes_first() -> None:
    responses = ResponseCache(most_characters=30)
    for tool in ("a", "b", "c"):
        responses.store(tool, {}, None, answer(10), trace(time.time() + HOUR))
    assert list_cached(responses, "b", "c", "a") == ["b", "c", "a"]
    responses.store("d", {}, None, answer(10), trace(time.time() + HOUR))

    assert list_cached(responses, "a", "b", "c", "d") == ["a", "c", "d"]


def test_an_answer_that_does_not_fit_displaces_nothing() -> None:
    responses = ResponseCache(most_characters=30)
    responses.store("small", {}, None, answer(10), trace(time.time() + HOUR))
    responses.store("large", {}, None, answer(31), trace(time.time() + HOUR))

    assert list_cached(responses, "small", "large") == ["small"]


def test_a_newer_answer_takes_the_place_of_the_older() -> None:
    responses = ResponseCache(most_characters=30)
    for characters in (30, 20):
        responses.store("a", {}, None, answer(characters), trace(time.time() + HOUR))
    responses.store("b", {}, None, answer(10), trace(time.time() + HOUR))

    assert list_cached(responses, "a", "b") == ["a", "b"]


@pytest.mark.parametrize("until", [(), (0.0,), (HOUR, 0.0), (HOUR, -1.0)])
def test_what_no_cache_keeps_is_not_kept(until: Sequence[float]) -> None:
    responses = ResponseCache()
    responses.store("a", {}, None, answer(1), trace(*(time.time() + moment if moment else 0.0 for moment in until)))

    assert list_cached(responses, "a") == []


def test_other_arguments_are_another_call_whatever_their_order() -> None:
    responses = ResponseCache()
    responses.store("a", {"x": {"b": 1, "c": [1, 2]}, "y": "1"}, None, answer(1), trace(time.time() + HOUR))

    assert responses.get("a", {"y": "1", "x": {"c": [1, 2], "b": 1}}, None) is not None
    for other in ({"x": {"b": 1, "c": [2, 1]}, "y": "1"}, {"x": {"b": 1, "c": [1, 2]}, "y": 1}, {}):
        assert responses.get("a", other, None) is None
    assert responses.get("b", {"x": {"b": 1, "c": [1, 2]}, "y": "1"}, None) is None


def test_a_caller_whose_token_allows_something_else_gets_no_answer_of_another() -> None:
    responses = ResponseCache()
    responses.store("a", {}, ("pubmed", "gene"), answer(1), trace(time.time() + HOUR))

    assert responses.get("a", {}, {"gene", "pubmed"}) is not None
    assert responses.get("a", {}, ("pubmed",)) is None
    assert responses.get("a", {}, None) is None
