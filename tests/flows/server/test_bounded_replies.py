"""Replies of all tools have a size limit; cut replies state what is missing and how to continue."""

import json
import re
from typing import Any

import pytest
from example_calls import CLAIMS, CORPUS, REFERENCES
from mcp_helpers import Json, ServicesFor, connect, read_structured
from review_records import invent_works, write_ris_file

from entrez_kit.core.operation import Operation
from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.app import Options
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.portions import DEFAULT_LIMIT
from entrez_kit.server.shortening import count_characters
from entrez_kit.server.toolsets import TOOLSETS

pytestmark = [pytest.mark.anyio, pytest.mark.long, pytest.mark.process]

EVERYTHING = {**CORPUS, "term": "all[sb]"}
PMIDS = [str(99000001 + number) for number in range(100)]
CITED = ["apa", "mla", "vancouver", "ama", "chicago", "nature", "ris", "bibtex", "csl", "nbib"]
LONG_STRATEGY = "\n".join(
    [
        *(f"{n}. (crispr adj3 word{n}*).ti,ab." for n in range(1, 200)),
        "200. crispr.ti,ab.",
        "201. or/1-200",
        "202. limit 201 to english language",
    ]
)
LARGEST: dict[str, list[Json]] = {
    "pubmed_search_articles": [
        {"query_term": "all[sb]", "max_results": 1_000, "fetch_brief_summaries": 100},
        {"query_term": " OR ".join(["crispr"] * 500), "max_results": 1_000},
    ],
    "pubmed_count_facets": [{"query_term": "all[sb]", "top": 50}],
    "pubmed_fetch_contents": [
        {"pmids": PMIDS, "include_grant_info": True},
        *({"pmids": PMIDS, "detail_level": level} for level in ("full_xml", "medline_text", "citation_data")),
        *(
            {"pmids": PMIDS, "detail_level": level, "output_format": "raw_text"}
            for level in ("full_xml", "medline_text")
        ),
    ],
    "pubmed_fetch_fulltext": [{"pmcids": [f"PMC{pmid}" for pmid in PMIDS[:10]], "include_references": True}],
    "pubmed_article_relationships": [
        {"source_pmid": "99000004", "relationship_type": kind, "max_related_results": 50, "depth": depth}
        for kind, depth in (("similar", 2), ("citedin", 1), ("references", 2))
    ]
    + [{"source_pmid": "99000004", "relationship_type": "citation_formats", "citation_styles": CITED}],
    "pubmed_format_citations": [{"pmids": PMIDS[:50], "citation_styles": CITED}],
    "pubmed_lookup_citation": [{"citations": [{"title": "editing"}, {"year": "2023", "title": "base editing"}] * 12}],
    "pubmed_convert_ids": [{"ids": PMIDS[:50]}],
    "europepmc_search": [
        {"query": "gene OR crispr OR wheat OR sleep", "page_size": 100, "detail_level": level}
        for level in ("full", "brief")
    ],
    "pubmed_lookup_mesh": [{"query": "d*[word] OR a*[word]", "max_results": 50}],
    "pubmed_spell_check": [{"query": "crisper " * 200}],
    "search_genes": [{"query": "a*[sym] OR b*[sym] OR t*[sym] OR protein", "page_size": 100}],
    "get_gene": [{"entrez_id": "NCBIGene:7157"}],
    "get_pubmed_links": [{"entrez_id": "NCBIGene:7157", "limit": 100}],
    "pubmed_sync_delta": [EVERYTHING],
    "rag_search": [{"query": "editing OR crispr OR gene", "top_k": 100, "details": True}],
    "rag_get": [{"doc_id": "pmid:99000001", "details": True}],
    "corpus_checkpoint_get": [{"query_key": "c"}],
    "corpus_checkpoint_set": [{"query_key": "c", "last_edat": "2025-01-01T00:00:00Z"}],
    "entrez_info": [{}, {"db": "pubmed"}, {"term": "cancer"}],
    "entrez_search": [{"db": "pubmed", "term": "all[sb]", "max_results": 1_000}],
    "entrez_summary": [{"db": "pubmed", "ids": PMIDS}],
    "entrez_fetch": [{"db": "pubmed", "ids": PMIDS[:50], "rettype": "medline", "retmode": "text"}],
    "entrez_link": [{"ids": PMIDS, "source": "pubmed", "target": "pubmed"}],
    "pubmed_verify_claims": [
        {
            "claims": [
                {"text": one["claim"], "ids": one["ids"]}
                for one in map(json.loads, CLAIMS.read_text("utf-8").splitlines())
            ]
            * 4
        }
    ],
    "corpus_audit": [{"query_key": "c"}],
    "check_references": [{"text": REFERENCES.read_text("utf-8")}],
    "translate_strategy": [{"strategy": LONG_STRATEGY}],
    "lint_strategy": [{"strategy": LONG_STRATEGY}],
    "measure_recall": [{"strategy": LONG_STRATEGY.split("\n30.")[0], "known": PMIDS}],
    "merge_references": [
        {"files": [{"file": f"{name}.ris", "text": write_ris_file(list(invent_works(250, 1)))} for name in "ab"]}
    ],
}
"""The largest answers that the demo has, for every tool."""


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
async def test_a_reply_has_a_limit_and_states_what_was_cut(
    services: ServerServices, operation: Operation[Any, Any]
) -> None:
    assert operation.name in LARGEST, f"LARGEST needs the call of {operation.name} with the largest reply"
    options = Options(toolsets=TOOLSETS)
    async with connect(services, options) as client:
        shown = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}[operation.name]
        if operation.toolset == "corpus" or operation.command[0] == "corpus":
            assert not (await client.call_tool("pubmed_sync_delta", EVERYTHING)).is_error
        for arguments in LARGEST[operation.name]:
            result = await client.call_tool(operation.name, arguments)
            assert not result.is_error, result.structured_content
            reply: Json = result.structured_content or {}
            assert count_characters(reply) <= DEFAULT_LIMIT, {
                name: count_characters(one) for name, one in reply.items()
            }
            cut = reply.get("reply_cut") or (result.meta or {}).get("reply_cut")
            if "reply_limit" not in shown["properties"]:
                assert cut is None, f"{operation.name} is cut and has no argument for more"
                continue
            more = await client.call_tool(operation.name, {**arguments, "reply_limit": 10_000_000})
            whole = more.structured_content or {}
            if count_characters(whole) <= DEFAULT_LIMIT:
                assert cut is None
                continue
            assert cut, operation.name
            named = re.findall(r"with (\w+) \d+ for the rest", cut["message"])
            assert named or "a reply_limit over" in cut["message"]
            assert set(named) <= set(shown["properties"]), "the argument for more is in the schema"


def test_the_largest_answer_of_every_tool_is_requested() -> None:
    assert set(LARGEST) == {operation.name for operation in OPERATIONS}


@pytest.mark.parametrize("pages", [3])
async def test_a_result_set_at_ncbi_can_be_continued_from_where_it_was_cut(
    services_for: ServicesFor, sandbox: Sandbox, pages: int
) -> None:
    async with connect(services_for(sandbox)) as client:
        search = {"query_term": "all[sb]", "use_history": True}
        document = read_structured(await client.call_tool("pubmed_search_articles", search))
        kept = {"query_key": document["query_key"], "web_env": document["web_env"]}
        got: list[str] = []
        start = 0
        for _ in range(pages):
            page = read_structured(await client.call_tool("pubmed_fetch_contents", {**kept, "retstart": start}))
            got += [article["pmid"] for article in page["articles"]]
            start = int(re.findall(r"with retstart (\d+)", page["reply_cut"]["message"])[0])
            assert start == len(got)
        whole = await client.call_tool("pubmed_fetch_contents", {**kept, "retmax": 9_999, "reply_limit": 10_000_000})

    assert got == [article["pmid"] for article in (whole.structured_content or {})["articles"]][: len(got)]
