"""The cache of answers: the most recently used ones, within a limit of size."""

import json
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


def list_cached(responses: ResponseCache, *tools: str) -> list[str]:
    """Return the tools whose answer is cached."""
    return [tool for tool in tools if responses.get(tool, {}, None) is not None]


def test_the_least_recently_used_answer_is_removed_first() -> None:
    responses = ResponseCache(most_characters=30)
    for tool in ("a", "b", "c"):
        responses.store(tool, {}, None, make_answer(10), make_trace(time.time() + HOUR))
    assert list_cached(responses, "b", "c", "a") == ["b", "c", "a"]
    responses.store("d", {}, None, make_answer(10), make_trace(time.time() + HOUR))

    assert list_cached(responses, "a", "b", "c", "d") == ["a", "c", "d"]


def test_an_answer_larger_than_the_cache_removes_no_other() -> None:
    responses = ResponseCache(most_characters=30)
    responses.store("small", {}, None, make_answer(10), make_trace(time.time() + HOUR))
    responses.store("large", {}, None, make_answer(31), make_trace(time.time() + HOUR))

    assert list_cached(responses, "small", "large") == ["small"]


def test_a_newer_answer_replaces_the_older_one() -> None:
    responses = ResponseCache(most_characters=30)
    for characters in (30, 20):
        responses.store("a", {}, None, make_answer(characters), make_trace(time.time() + HOUR))
    responses.store("b", {}, None, make_answer(10), make_trace(time.time() + HOUR))

    assert list_cached(responses, "a", "b") == ["a", "b"]


@pytest.mark.parametrize("until", [(), (0.0,), (HOUR, 0.0), (HOUR, -1.0)])
def test_answers_that_may_not_be_cached_are_not_cached(until: Sequence[float]) -> None:
    responses = ResponseCache()
    responses.store(
        "a", {}, None, make_answer(1), make_trace(*(time.time() + moment if moment else 0.0 for moment in until))
    )

    assert list_cached(responses, "a") == []


def test_other_arguments_are_another_call_and_their_order_does_not_matter() -> None:
    responses = ResponseCache()
    responses.store("a", {"x": {"b": 1, "c": [1, 2]}, "y": "1"}, None, make_answer(1), make_trace(time.time() + HOUR))

    assert responses.get("a", {"y": "1", "x": {"c": [1, 2], "b": 1}}, None) is not None
    for other in ({"x": {"b": 1, "c": [2, 1]}, "y": "1"}, {"x": {"b": 1, "c": [1, 2]}, "y": 1}, {}):
        assert responses.get("a", other, None) is None
    assert responses.get("b", {"x": {"b": 1, "c": [1, 2]}, "y": "1"}, None) is None


def test_a_caller_with_other_scopes_gets_no_cached_answer() -> None:
    responses = ResponseCache()
    responses.store("a", {}, ("pubmed", "gene"), make_answer(1), make_trace(time.time() + HOUR))

    assert responses.get("a", {}, {"gene", "pubmed"}) is not None
    assert responses.get("a", {}, ("pubmed",)) is None
    assert responses.get("a", {}, None) is None


def test_a_cached_answer_equals_the_answer_that_was_stored() -> None:
    responses = ResponseCache()
    document = {"title": "Zürich \u2028 10⁶", "number": 1.5, "none": None}
    answer = CallToolResult(
        content=[TextContent(type="text", text=part) for part in (json.dumps(document), "a remark")],
        structured_content=document,
        is_error=False,
        _meta={"request_id": "x"},
    )

    responses.store("a", {}, None, answer, make_trace(time.time() + HOUR))
    cached = responses.get("a", {}, None)

    assert cached is not None
    assert cached.result == answer
