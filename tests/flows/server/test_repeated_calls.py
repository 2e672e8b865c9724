"""Repeated calls: cacheable answers are returned at once and unchanged, others are computed again."""

import time
from typing import Any

import pytest
from mcp_helpers import Json, ServicesFor, connect, read_structured, read_tool_error

from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.app import EntrezServer
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.toolsets import SCOPES
from entrez_kit.services.transport.cached_session import clear

pytestmark = pytest.mark.anyio

SEARCH = ("pubmed_search_articles", {"query_term": "crispr", "max_results": 3})


async def count_second_requests(services: ServerServices, sandbox: Sandbox, tool: str, arguments: Json) -> int:
    """Make a call twice, with an empty reply cache between; return the number of requests of the second call."""
    async with connect(services) as client:
        await client.call_tool(tool, arguments)
        clear(services.settings)
        before = len(sandbox.log)
        await client.call_tool(tool, arguments)
        return len(sandbox.log) - before


async def test_a_repeated_call_has_the_same_answer_with_a_new_id(services: ServerServices, sandbox: Sandbox) -> None:
    tool, arguments = SEARCH
    async with connect(services) as client:
        first = await client.call_tool(tool, arguments)
        clear(services.settings)
        before = len(sandbox.log)
        again = await client.call_tool("searchPubMedArticles", dict(reversed(arguments.items())))

        assert len(sandbox.log) == before
        assert read_structured(again) == read_structured(first)
        assert again.content == first.content
        assert first.meta is not None
        assert again.meta is not None
        assert (first.meta["from_cache"], again.meta["from_cache"]) == (False, True)
        assert first.meta["request_id"] != again.meta["request_id"]
        asked = [request["endpoint"] for request in first.meta["timings"]["requests"]]
        assert [request["endpoint"] for request in again.meta["timings"]["requests"]] == asked
        assert {request["attempts"] for request in again.meta["timings"]["requests"]} == {0}

        other = await client.call_tool(tool, {**arguments, "max_results": 2})
        assert len(sandbox.log) > before
        assert len(read_structured(other)["pmids"]) == 2


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("pubmed_search_articles", {"query_term": "crispr", "use_history": True}),
        ("pubmed_fetch_contents", {"pmids": ["99000030", "1"]}),
        ("get_gene", {"entrez_id": "NCBIGene:999999999"}),
    ],
    ids=["kept at NCBI", "incomplete", "an error"],
)
async def test_an_answer_that_can_change_is_requested_again(
    services: ServerServices, sandbox: Sandbox, tool: str, arguments: Json
) -> None:
    assert await count_second_requests(services, sandbox, tool, arguments) > 0


@pytest.mark.parametrize(
    ("settings", "asked_again"),
    [({}, False), ({"refresh": True}, True), ({"no_cache": True}, True), ({"cache_ttl": 0}, True)],
    ids=["usual", "refresh", "no cache", "no time to live"],
)
async def test_the_cache_settings_apply_to_whole_answers_too(
    services_for: ServicesFor, sandbox: Sandbox, settings: dict[str, Any], asked_again: bool
) -> None:
    requests = await count_second_requests(services_for(sandbox, **settings), sandbox, *SEARCH)

    assert (requests > 0) is asked_again


@pytest.mark.parametrize(("seconds", "asked_again"), [(3_500, False), (3_700, True), (-30, False), (-3_600, True)])
async def test_an_answer_expires_with_the_first_of_its_replies_or_if_the_clock_goes_back(
    services: ServerServices, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, seconds: int, asked_again: bool
) -> None:
    tool, arguments = SEARCH
    now = time.time()
    async with connect(services) as client:
        await client.call_tool(tool, {**arguments, "fetch_brief_summaries": 2})
        clear(services.settings)
        before = len(sandbox.log)
        monkeypatch.setattr("entrez_kit.server.response_cache.time.time", lambda: now + seconds)
        await client.call_tool(tool, {**arguments, "fetch_brief_summaries": 2})

    assert (len(sandbox.log) > before) is asked_again


async def test_a_cached_answer_is_not_returned_to_a_token_without_its_scope(
    services: ServerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[frozenset[str]] = [frozenset(SCOPES)]
    monkeypatch.setattr("entrez_kit.server.app.get_allowed_scopes", lambda: allowed[0])
    async with connect(services) as client:
        read_structured(await client.call_tool(*SEARCH))
        allowed[0] = frozenset(SCOPES) - {"entrez-kit:pubmed"}
        assert read_tool_error(await client.call_tool(*SEARCH))["details"]["reason"] == "insufficient_scope"


async def test_answers_from_the_local_corpus_are_not_cached(services: ServerServices) -> None:
    server = EntrezServer(services)
    kept = {facts.name for facts in server.toolbox.listed if facts.is_cacheable}

    assert {"pubmed_search_articles", "get_gene"} <= kept
    assert not kept & {"pubmed_sync_delta", "rag_search", "rag_get", "corpus_checkpoint_get", "corpus_checkpoint_set"}
