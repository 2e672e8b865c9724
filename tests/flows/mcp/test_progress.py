"""Progress that a client asked for goes up to the total and ends there, in every era."""

from typing import Any

import pytest
from serving import Json, ServicesFor, connected, structured

from entrez_kit import tracing
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.workers import Workers, _Job

pytestmark = [pytest.mark.anyio, pytest.mark.long]

HISTORY: Json = {}
"""Stands for the arguments of a result set."""

CALLS: dict[str, tuple[str, Json, int]] = {
    "records of a result set": ("pubmed_fetch_contents", HISTORY, 1_200),
    "full text": ("pubmed_fetch_fulltext", {"pmids": ["99000001", "99000002", "99000003"]}, 3),
    "sync": ("pubmed_sync_delta", {"query": "all[sb]", "query_key": "all"}, 1_200),
}


@pytest.mark.parametrize("kind", CALLS)
async def test_progress_ends_at_the_total(services_for: ServicesFor, kind: str, era: str) -> None:
    tool, arguments, expected = CALLS[kind]
    seen: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total))

    with Sandbox(records=1_200, enforce_limits=False) as sandbox:
        async with connected(services_for(sandbox), era=era) as client:
            if arguments is HISTORY:
                asked: Any = {"query_term": "all[sb]", "use_history": True}
                found = structured(await client.call_tool("pubmed_search_articles", asked))
                arguments = {"query_key": found["query_key"], "web_env": found["web_env"], "retmax": expected}
            result = await client.call_tool(tool, arguments, progress_callback=note)

    assert not result.is_error, result
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert seen, kind
    assert seen[-1] == (expected, expected)


def test_a_later_stage_goes_on_where_the_one_before_it_ended() -> None:
    seen: list[tuple[int, int | None]] = []

    def work() -> None:
        tracing.step(0, 2)
        tracing.step(2, 2)
        tracing.stage("Embedding")
        tracing.step(0, 3)
        tracing.step(1, 3)
        tracing.step(3, 3)

    _Job(Workers(), lambda done, total: seen.append((done, total))).run(work)

    assert seen == [(0, 2), (2, 2), (3, 5), (5, 5)]
