"""In replies of any size every input has an outcome, and an agent that follows them reaches the end."""

import json
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from example_calls import CORPUS
from hypothesis import HealthCheck, settings
from hypothesis import given as drawn
from hypothesis import strategies as st
from mcp import Client
from mcp_helpers import Json, ServicesFor, connect, read_structured

from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.app import Options
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.portions import DEFAULT_LIMIT, MIN_LIMIT
from entrez_kit.server.shortening import count_characters
from entrez_kit.server.tools import Toolbox
from entrez_kit.server.toolsets import TOOLSETS

pytestmark = [pytest.mark.anyio, pytest.mark.long]

LIMITS = [MIN_LIMIT, DEFAULT_LIMIT]
ALL = Options(toolsets=TOOLSETS)
UNKNOWN = [str(number) for number in range(77_000_000, 77_000_200)]


def list_pmids(count: int) -> list[str]:
    return [str(99_000_001 + number) for number in range(count)]


def list_reported(reply: Json) -> Iterator[str]:
    """Yield the inputs that a reply names, in any list."""
    cut = reply.get("reply_cut", {})
    for names in cut.get("ids", {}).values():
        yield from names
    for member in ("not_found_pmids", "not_found_ids"):
        yield from reply.get(member, ())
    yield from (one["id"] for one in reply.get("unavailable", ()))
    if not cut:
        yield from (one.get("input", one.get("id")) for one in reply.get("outcomes", ()))
        yield from (one["pmid"] for one in reply.get("articles", ()))


PMIDS = st.sampled_from(
    [*list_pmids(40), *UNKNOWN[:20], "zzz", "10.5555/nothing", "PMC99000001", "10.5555/ekit.2019.0001"]
)
PLAIN = st.sampled_from([*list_pmids(40), *UNKNOWN[:20], "zzz"])
CASES: dict[str, tuple[str, dict[str, Any], st.SearchStrategy[Any]]] = {
    "fetch": ("pubmed_fetch_contents", {}, st.lists(PMIDS, min_size=1, max_size=60)),
    "fetch citation_data": (
        "pubmed_fetch_contents",
        {"detail_level": "citation_data"},
        st.lists(PMIDS, min_size=1, max_size=60),
    ),
    "fetch raw xml": (
        "pubmed_fetch_contents",
        {"detail_level": "full_xml", "output_format": "raw_text"},
        st.lists(PMIDS, min_size=1, max_size=40),
    ),
    "fetch raw medline": (
        "pubmed_fetch_contents",
        {"detail_level": "medline_text", "output_format": "raw_text"},
        st.lists(PMIDS, min_size=1, max_size=40),
    ),
    "cite": ("pubmed_format_citations", {"citation_styles": ["ris"]}, st.lists(PMIDS, min_size=1, max_size=50)),
    "convert": ("pubmed_convert_ids", {}, st.lists(PMIDS, min_size=1, max_size=50)),
    "summary": ("entrez_summary", {"db": "pubmed"}, st.lists(PLAIN, min_size=1, max_size=60)),
    "entrez_fetch": ("entrez_fetch", {"db": "pubmed"}, st.lists(PLAIN, min_size=1, max_size=40)),
    "entrez_fetch medline": (
        "entrez_fetch",
        {"db": "pubmed", "rettype": "medline", "retmode": "text"},
        st.lists(PLAIN, min_size=1, max_size=40),
    ),
    "link": ("entrez_link", {"source": "pubmed", "target": "pubmed"}, st.lists(PLAIN, min_size=1, max_size=40)),
    "fulltext": (
        "pubmed_fetch_fulltext",
        {},
        st.lists(st.sampled_from([*list_pmids(12), *UNKNOWN[:5]]), min_size=1, max_size=10),
    ),
    "lookup": (
        "pubmed_lookup_citation",
        {},
        st.lists(st.sampled_from([{"title": "editing"}, {"journal": "x", "year": "2020"}]), min_size=1, max_size=8),
    ),
    "check": (
        "check_references",
        {},
        st.lists(st.sampled_from([*list_pmids(12), *UNKNOWN[:3], "Nobody N. Nothing. 1901."]), min_size=1, max_size=8),
    ),
}
ARGUMENT = {"summary": "ids", "convert": "ids", "entrez_fetch": "ids", "link": "ids"}


@pytest.mark.parametrize("case", CASES)
def test_every_input_is_in_the_same_reply(services: ServerServices, case: str) -> None:
    tool, options, mixes = CASES[case]
    toolbox = Toolbox(None)
    facts = toolbox.find(tool)
    assert facts is not None
    operation = toolbox.get_operation(facts)
    name = operation.agents.inputs[0] if case != "convert" else "ids"
    member = ("content" if "raw" in case else operation.agents.portions[0]) if case != "convert" else "records"

    @settings(
        max_examples=12,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @drawn(given=mixes, limit=st.sampled_from(LIMITS) | st.integers(MIN_LIMIT, 60_000))
    def check(given: list[Any], limit: int) -> None:
        keyed = [{**one, "key": f"k{n}"} if isinstance(one, dict) else one for n, one in enumerate(given)]
        bound = {} if case == "convert" else {"reply_limit": limit}
        result = toolbox.call(services, tool, {**options, name: keyed, **bound})
        reply: Json = result.structured_content or {}
        if result.is_error:  # none of them exists, as the error states
            missing = reply["error"]["details"].get("missing")
            assert missing
            return
        asked = [one["key"] if isinstance(one, dict) else one for one in keyed]
        if "reply_cut" in reply or reply.get("outcomes") or reply.get("unavailable"):
            assert set(asked) <= set(list_reported(reply))
        else:  # all were found: a record for each, in order
            assert len(list_units(reply, member)) in (len(asked), len(set(asked)))

    check()


@pytest.mark.parametrize("limit", LIMITS)
async def test_two_hundred_unknown_ids_take_one_call(services: ServerServices, limit: int) -> None:
    given = [*list_pmids(3), *UNKNOWN[:197]]
    calls, got, start = 0, [], 0
    async with connect(services) as client:
        while True:
            asked = {"pmids": given, "detail_level": "citation_data", "reply_limit": limit, "reply_start": start}
            reply = read_structured(await client.call_tool("pubmed_fetch_contents", asked))
            calls += 1
            got += [one["pmid"] for one in reply["articles"]]
            assert set(given) <= set(list_reported(reply))
            if (following := reply["reply_cut"].get("next_start")) is None:
                break
            start = following

    assert got == given[:3]
    assert calls <= (1 if limit == DEFAULT_LIMIT else 3)


@pytest.mark.parametrize("limit", LIMITS)
async def test_no_id_of_ten_full_texts_is_lost(services: ServerServices, limit: int) -> None:
    given = [*list_pmids(6), *UNKNOWN[:4]]
    got: list[str] = []
    start: int | None = 0
    async with connect(services) as client:
        while start is not None:
            asked = {"pmids": given, "reply_limit": limit, "reply_start": start}
            reply = (await client.call_tool("pubmed_fetch_fulltext", asked)).structured_content or {}
            assert set(given) <= set(list_reported(reply))
            got += [one["pmid"] for one in reply["articles"]]
            start = reply.get("reply_cut", {}).get("next_start")
            missing = [one["id"] for one in reply["unavailable"]]

    assert got + missing == given


# Sequences of calls: an agent that follows the replies

RAW = {"output_format": "raw_text"}
WALKS: dict[str, tuple[str, Json, str]] = {
    "history": ("pubmed_fetch_contents", {}, "articles"),
    "history retmax": ("pubmed_fetch_contents", {"retmax": 20}, "articles"),
    "history citation_data": ("pubmed_fetch_contents", {"detail_level": "citation_data"}, "articles"),
    "history titles": ("pubmed_fetch_contents", {"fields": ["title"]}, "articles"),
    "history full_xml": ("pubmed_fetch_contents", {"detail_level": "full_xml"}, "articles"),
    "history raw xml": ("pubmed_fetch_contents", {"detail_level": "full_xml", **RAW}, "content"),
    "history raw medline": ("pubmed_fetch_contents", {"detail_level": "medline_text", **RAW}, "content"),
    "search": ("pubmed_search_articles", {"query_term": "all[sb]", "max_results": 100}, "pmids"),
    "search summaries": (
        "pubmed_search_articles",
        {"query_term": "all[sb]", "max_results": 40, "fetch_brief_summaries": 20},
        "pmids",
    ),
    "entrez_search": ("entrez_search", {"db": "pubmed", "term": "all[sb]", "max_results": 100}, "ids"),
    "mesh": ("pubmed_lookup_mesh", {"query": "gen*[word]", "max_results": 9}, "results"),
    "fetch": ("pubmed_fetch_contents", {"pmids": list_pmids(30)}, "articles"),
    "cite": ("pubmed_format_citations", {"pmids": list_pmids(30), "citation_styles": ["ris"]}, "citations"),
    "summary": ("entrez_summary", {"db": "pubmed", "ids": list_pmids(30)}, "summaries"),
    "link": ("entrez_link", {"source": "pubmed", "target": "pubmed", "ids": list_pmids(12)}, "linksets"),
    "fulltext": ("pubmed_fetch_fulltext", {"pmids": list_pmids(5)}, "articles"),
    "europepmc": ("europepmc_search", {"query": "crispr OR gene OR wheat", "page_size": 9}, "articles"),
    "genes": ("search_genes", {"query": "a*[sym] OR b*[sym] OR t*[sym]", "page_size": 4}, "items"),
    "related": ("pubmed_article_relationships", {"source_pmid": "99000004", "max_related_results": 50}, ""),
    "lookup": ("pubmed_lookup_citation", {"citations": [{"title": "editing"}] * 8}, "results"),
    "info": ("entrez_info", {}, "databases"),
    "counts": ("entrez_info", {"term": "cancer"}, "counts"),
    "rag": ("rag_search", {"query": "editing OR crispr OR gene", "top_k": 100}, "results"),
    "audit": ("corpus_audit", {"query_key": "c"}, "works"),
    "claims": ("pubmed_verify_claims", {"claims": [{"text": "Rice is blue.", "ids": ["99000001"]}] * 9}, "claims"),
    "check": ("check_references", {"references": list_pmids(9)}, "references"),
    "raw xml": ("pubmed_fetch_contents", {"pmids": list_pmids(9), "detail_level": "full_xml", **RAW}, "content"),
    "entrez_fetch": ("entrez_fetch", {"db": "pubmed", "ids": list_pmids(9)}, "content"),
}


def read_pmids(content: str) -> list[str]:
    """Return the PMID of each record of a text, which must be a valid document."""
    if content.lstrip().startswith("<"):
        return [str(one.findtext(".//PMID")) for one in ElementTree.fromstring(content.encode())]
    return re.findall(r"^PMID- (\d+)", content, re.MULTILINE)


def list_units(reply: Json, member: str) -> list[str]:
    """Return what distinguishes the records of a reply."""
    held = reply.get(member, [])
    if isinstance(held, str):
        return read_pmids(held)
    names = ("pmid", "uid", "source_id", "mesh_ui", "ui", "entrez_id", "id", "db", "name", "key", "claim", "doc_id")
    return [one if isinstance(one, str) else next((str(one[n]) for n in names if n in one), str(one)) for one in held]


async def read_all_replies(
    client: Client, tool: str, options: Json, member: str, limit: int
) -> tuple[list[str], list[int]]:
    """Follow the replies of a tool to their end; return the records, and the number of characters of each reply."""
    got: list[str] = []
    sizes: list[int] = []
    given: Json = {**options, "reply_limit": limit}
    while len(sizes) < 200:
        result = await client.call_tool(tool, given)
        assert not result.is_error, result.structured_content
        reply: Json = result.structured_content or {}
        cut = reply.get("reply_cut") or (result.meta or {}).get("reply_cut") or {}
        got += list_units(reply, member)
        got += [name.split()[0] for name in cut.get("ids", {}).get("too_large", [])]
        got += re.findall(r"number (\d+) \(", cut.get("message", ""))
        sizes.append(count_characters(reply))
        cursor = reply.get("next_cursor") or reply.get("pagination", {}).get("cursor")
        following = {"cursor": cursor, "offset": reply.get("next_offset")}
        following = {name: value for name, value in following.items() if value is not None}
        if "next_start" in cut:
            assert next(iter(cut["next_arguments"].values())) == cut["next_start"]
            assert not following, "the next page would skip the rest of this one"
            given |= cut["next_arguments"]
        elif following:
            given = {**options, "reply_limit": limit, **following}
        else:
            return got, sizes
    raise AssertionError("the replies do not end")


@pytest.mark.parametrize("case", WALKS)
async def test_an_agent_that_follows_the_replies_reads_every_record_once(
    services_for: ServicesFor, sandbox: Sandbox, case: str
) -> None:
    tool, options, member = WALKS[case]
    async with connect(services_for(sandbox), ALL) as client:
        if tool in ("rag_search", "corpus_audit"):
            await client.call_tool(
                "pubmed_sync_delta", {**CORPUS, "term": "crispr" if tool == "corpus_audit" else "all[sb]"}
            )
        if case.startswith("history"):
            search = {"query_term": "crispr OR wheat OR sleep", "use_history": True}
            found = read_structured(await client.call_tool("pubmed_search_articles", search))
            assert found["total_found"] > 20
            options = {**options, "query_key": found["query_key"], "web_env": found["web_env"]}

        whole, _ = await read_all_replies(client, tool, options, member, 10_000_000)
        for limit in LIMITS:
            got, sizes = await read_all_replies(client, tool, options, member, limit)

            assert len(got) == len(whole)
            if not any(re.fullmatch(r"\d{1,3}", name) for name in got):
                assert got == whole
            assert max(sizes) <= 2 * limit or limit == MIN_LIMIT


@pytest.mark.parametrize("argument", ["retstart", "reply_start"])
@pytest.mark.parametrize("limit", [DEFAULT_LIMIT])
async def test_a_long_result_set_is_downloaded_about_once(services_for: ServicesFor, limit: int, argument: str) -> None:
    with Sandbox(records=300, enforce_limits=False) as sandbox:
        async with connect(services_for(sandbox)) as client:
            search = {"query_term": "all[sb]", "use_history": True}
            found = read_structured(await client.call_tool("pubmed_search_articles", search))
            total = found["total_found"]
            kept = {"query_key": found["query_key"], "web_env": found["web_env"], "reply_limit": limit}
            got: list[str] = []
            calls, start = 0, 0
            while calls < 400:
                reply = read_structured(await client.call_tool("pubmed_fetch_contents", {**kept, argument: start}))
                calls += 1
                got += [one["pmid"] for one in reply["articles"]]
                if (following := reply.get("reply_cut", {}).get("next_start")) is None:
                    break
                start = following
        downloaded = sum(int(dict(entry.params)["retmax"]) for entry in sandbox.entries("efetch"))

    assert total >= 300
    assert len(got) == len(set(got)) == total
    assert downloaded <= 2.5 * total
    assert sandbox.requests("efetch") <= calls + 2


@pytest.mark.parametrize("tool", ["pubmed_fetch_contents", "entrez_fetch"])
@pytest.mark.parametrize("form", ["xml", "medline"])
@pytest.mark.parametrize("limit", [12_000, DEFAULT_LIMIT])
async def test_a_text_of_records_is_cut_only_between_records(
    services: ServerServices, tool: str, form: str, limit: int
) -> None:
    given = [*list_pmids(7), "77"]
    options: Json = {"pmids": given, "detail_level": "full_xml" if form == "xml" else "medline_text", **RAW}
    if tool == "entrez_fetch":
        options = {"db": "pubmed", "ids": given}
        options |= {"rettype": "medline", "retmode": "text"} if form == "medline" else {}
    got: list[str] = []
    start: int | None = 0
    async with connect(services, ALL) as client:
        while start is not None:
            asked = {**options, "reply_limit": limit, "reply_start": start}
            reply = (await client.call_tool(tool, asked)).structured_content or {}
            here = read_pmids(reply["content"])
            cut = reply.get("reply_cut", {})
            if cut:
                ids = cut["ids"]
                assert ids.get("returned", []) == here
                assert ids.get("earlier", []) + ids.get("too_large", []) + here + ids.get("left", []) == given[:7]
                assert set(given) <= set(list_reported(reply))
            got += cut.get("ids", {}).get("too_large", []) + here
            start = cut.get("next_start")

    assert got == given[:7]


async def test_a_record_larger_than_a_reply_is_named_with_the_limit_that_it_needs(services: ServerServices) -> None:
    options = {"pmids": list_pmids(3), "detail_level": "full_xml", **RAW, "reply_limit": MIN_LIMIT}
    async with connect(services) as client:
        reply = read_structured(await client.call_tool("pubmed_fetch_contents", options))
        cut = reply["reply_cut"]
        assert cut["ids"]["too_large"] == list_pmids(3)
        needed = int(re.findall(r"99000001 \((\d+)\)", cut["message"])[0])
        again = {**options, "pmids": list_pmids(1), "reply_limit": needed}
        reply = read_structured(await client.call_tool("pubmed_fetch_contents", again))

    assert "99000001" in reply["content"]
    assert json.dumps(reply)
