"""The same call again: what may be given twice is given at once and whole; what may not is asked anew."""

import time
from typing import Any

import pytest
from mcp_helpers import Json, ServicesFor, connect, read_structured, read_tool_error

from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.app import EntrezServer
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.tools import SCOPES
from entrez_kit.services.transport.cached_session import clear

pytestmark = pytest.mark.anyio

SEARCH = ("pubmed_search_articles", {"query_term": "crispr", "max_results": 3})


async def requests_of_second(services: ServerServices, sandbox: Sandbox, tool: str, arguments: Json) -> int:
    """Make a call twice, with the cache of replies emptied between; return how many requests the second one took."""
    async with connect(services) as client:
        await client.call_tool(tool, arguments)
        clear(services.settings)
        before = len(sandbox.log)
        await client.call_tool(tool, arguments)
        return len(sandbox.log) - before


async def test_the_same_call_is_answered_with_the_same_and_an_id_of_its_own(
    services: ServerServices, sandbox: Sandbox
) -> None:
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
async def test_what_may_be_another_next_time_is_asked_again(
    services: ServerServices, sandbox: Sandbox, tool: str, arguments: Json
) -> None:
    assert await requests_of_second(services, sandbox, tool, arguments) > 0


@pytest.mark.parametrize(
    ("settings", "asked_again"),
    [({}, False), ({"refresh": True}, True), ({"no_cache": True}, True), ({"cache_ttl": 0}, True)],
    ids=["usual", "refresh", "no cache", "no time to live"],
)
async def test_the_settings_of_the_cache_hold_for_whole_answers_too(
    services_for: ServicesFor, sandbox: Sandbox, settings: dict[str, Any], asked_again: bool
) -> None:
    requests = await requests_of_second(services_for(sandbox, **settings), sandbox, *SEARCH)

    assert (requests > 0) is asked_again


@pytest.mark.parametrize(("seconds", "asked_again"), [(3_500, False), (3_700, True), (-30, False), (-3_600, True)])
async def test_an_answer_goes_when_the_first_of_its_replies_does_or_the_clock_goes_back(
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


async def test_nobody_gets_a_kept_answer_that_a_token_does_not_allow(
    services: ServerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[frozenset[str]] = [frozenset(SCOPES)]
    monkeypatch.setattr("entrez_kit.server.app.allowed_scopes", lambda: allowed[0])
    async with connect(services) as client:
        read_structured(await client.call_tool(*SEARCH))
        allowed[0] = frozenset(SCOPES) - {"entrez-kit:pubmed"}
        assert read_tool_error(await client.call_tool(*SEARCH))["details"]["reason"] == "insufficient_scope"


async def test_the_corpus_of_this_machine_is_always_looked_up(services: ServerServices) -> None:
    server = EntrezServer(services)
    kept = {facts.name for facts in server.toolbox.listed if facts.may_be_kept}

    assert {"pubmed_search_articles", "get_gene"} <= kept
    assert not kept & {"pubmed_sync_delta", "rag_search", "rag_get", "corpus_checkpoint_get", "corpus_checkpoint_set"}
