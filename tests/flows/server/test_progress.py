"""Progress on request reaches the total and then ends, in every version of the protocol."""

from typing import Any

import pytest
from mcp_helpers import ERAS, MODERN, Json, ProgressLog, ServicesFor, collect_progress, connect, read_structured

from entrez_kit.base.progress import begin_stage, report_progress
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.app import Options
from entrez_kit.server.toolsets import TOOLSETS

pytestmark = [pytest.mark.anyio, pytest.mark.long]

PMIDS = [str(99_000_001 + number) for number in range(200)]
HISTORY: Json = {}
"""A placeholder for the arguments of a result set."""

CALLS: dict[str, tuple[str, Json, int]] = {
    "records of a result set": ("pubmed_fetch_contents", HISTORY, 450),
    "full text": ("pubmed_fetch_fulltext", {"pmids": ["99000001", "99000002", "99000003"]}, 3),
    "Europe PMC": ("europepmc_search", {"query": "the", "sources": ["MED"], "page_size": 50}, 50),
    "references": (
        "pubmed_lookup_citation",
        {"citations": [{"key": str(n), "journal": "J", "year": "2020", "volume": str(n)} for n in range(25)]},
        25,
    ),
    "ids": ("pubmed_convert_ids", {"ids": [str(99_100_001 + number) for number in range(50)]}, 50),
    "sync": ("pubmed_sync_delta", {"query": "all[sb]", "query_key": "all"}, 450),
    **{
        f"what is similar in two steps, {budget} requests": (
            "pubmed_article_relationships",
            {"source_pmid": "99100120", "relationship_type": "similar", "depth": 2, "budget": budget},
            0,
        )
        for budget in (2, 12)
    },
    "a reference list": ("check_references", {"text": "\n\n".join(f"{n}. PMID: {n}" for n in PMIDS[:50])}, 50),
    "links": ("entrez_link", {"source": "pubmed", "target": "pubmed", "ids": PMIDS}, 200),
    "claims": ("pubmed_verify_claims", {"claims": [{"text": "a b", "ids": [pmid]} for pmid in PMIDS[:20]]}, 20),
}


EVERY_ERA = ("records of a result set", "full text")
"""Their progress is followed in each version of the protocol, that of the others in the latest."""


@pytest.mark.parametrize(
    ("kind", "era"), [(kind, era) for kind in CALLS for era in ERAS if kind in EVERY_ERA or era == MODERN]
)
async def test_progress_ends_at_the_total(services_for: ServicesFor, kind: str, era: str) -> None:
    tool, arguments, expected = CALLS[kind]
    progress = ProgressLog()
    with Sandbox(records=max(120, expected), enforce_limits=False) as sandbox:
        async with connect(services_for(sandbox), Options(toolsets=TOOLSETS), era=era) as client:
            if arguments is HISTORY:
                asked: Any = {"query_term": "all[sb]", "use_history": True}
                found = read_structured(await client.call_tool("pubmed_search_articles", asked))
                arguments = {"query_key": found["query_key"], "web_env": found["web_env"], "retmax": expected}
                arguments["reply_limit"] = 10_000_000
            result = await client.call_tool(tool, arguments, progress_callback=progress.record)

    assert not result.is_error, result
    assert [done for done, _ in progress.steps] == sorted({done for done, _ in progress.steps})
    assert progress.steps, kind
    total = expected or progress.steps[-1][1]
    assert progress.steps[-1] == (total, total), progress.steps


async def test_a_later_stage_continues_the_progress_of_the_previous_one() -> None:
    def work() -> None:
        report_progress(0, 2)
        report_progress(2, 2)
        begin_stage("Embedding")
        report_progress(0, 3)
        report_progress(1, 3)
        report_progress(3, 3)

    assert await collect_progress(work) == [(0, 2), (2, 2), (3, 5), (5, 5)]
