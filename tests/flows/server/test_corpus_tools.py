"""The corpus for agents: sync with progress, search, records as resources, scopes, and the contract's own envelope."""

import base64
import json
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from corpus_contract import ALIASES, ENVELOPE, RESPONSES, check_conforms
from example_calls import CORPUS
from mcp.shared.exceptions import MCPError
from mcp_helpers import (
    HostFor,
    ProgressLog,
    ServicesFor,
    connect,
    read_structured,
)
from mcp_types import PromptReference

from entrez_kit.pubmed.models import RetractionStatus
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.app import Options
from entrez_kit.server.clients import ServerServices

PAPER = "resource://pubmed/paper/"
SYNC = {"query_key": "editing", "term": "crispr OR editing"}

pytestmark = pytest.mark.anyio


def read_refusal(result: Any) -> dict[str, Any]:
    """Return the error of a result, after a check that its envelope is the contract's."""
    assert result.is_error is True
    document = read_structured(result)
    check_conforms(document, ENVELOPE)
    error: dict[str, Any] = document["error"]
    return error


@pytest.mark.long
async def test_a_corpus_can_be_synced_searched_and_read(services: ServerServices, era: str) -> None:
    async with connect(services, era=era) as client:
        synced = read_structured(await client.call_tool("pubmed_sync_delta", SYNC))
        found = read_structured(await client.call_tool("rag_search", {"query": "base editing", "top_k": 3}))
        read = read_structured(await client.call_tool("rag_get", {"doc_id": found["results"][0]["doc_id"]}))
        checkpoint = read_structured(await client.call_tool("corpus_checkpoint_get", {"query_key": "editing"}))
        set_back = {"query_key": "editing", "last_edat": "2020-01-01T00:00:00Z"}
        done = read_structured(await client.call_tool("corpus_checkpoint_set", set_back))
        moved = read_structured(await client.call_tool("corpus_checkpoint_get", {"query_key": "editing"}))

    documents = {
        "pubmed_sync_delta": synced,
        "rag_search": found,
        "rag_get": read,
        "corpus_checkpoint_get": checkpoint,
        "corpus_checkpoint_set": done,
    }
    for name, document in documents.items():
        check_conforms(document, RESPONSES[name])
    assert synced["inserted"] == synced["pmids_processed"] > 5
    assert len(found["results"]) == 3
    assert "edit" in read["title"].lower()
    assert checkpoint["last_edat"] == synced["max_edat_seen"]
    assert moved["last_edat"] == "2020-01-01T00:00:00Z"


async def test_the_contracts_names_and_camel_case_give_the_same_results(services: ServerServices) -> None:
    async with connect(services, Options(names="contract")) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        await client.call_tool("pubmed.sync_delta", {"queryKey": "editing", "term": "editing", "overlapDays": 1})
        by_contract = read_structured(await client.call_tool("rag.search", {"query": "editing", "topK": 2}))
        by_own = read_structured(await client.call_tool("rag_search", {"query": "editing", "top_k": 2}))

    assert set(ALIASES.values()) <= listed
    assert by_contract == by_own


@pytest.mark.long
async def test_errors_are_returned_in_the_contracts_envelope(services: ServerServices, era: str) -> None:
    wrong: list[tuple[str, dict[str, Any], str, str]] = [
        ("rag_search", {"query": "x", "filters": {"journals": ["Cell"]}}, "VALIDATION", "filters"),
        ("rag_search", {"query": "x", "top_k": 101}, "VALIDATION", "top_k"),
        ("rag_search", {}, "VALIDATION", "query"),
        ("rag_get", {"doc_id": "12"}, "VALIDATION", "doc_id"),
        ("rag_get", {"doc_id": "pmid:12"}, "NOT_FOUND", "pmid:12"),
        ("pubmed_sync_delta", {"query_key": "k", "term": "(x"}, "VALIDATION", "term"),
        ("pubmed_sync_delta", {**SYNC, "replace_term": True}, "VALIDATION", "replace_term"),
        ("corpus_checkpoint_set", {"query_key": "k", "last_edat": "soon"}, "VALIDATION", "last_edat=soon"),
    ]
    async with connect(services, era=era) as client:
        for name, arguments, code, blamed in wrong:
            error = read_refusal(await client.call_tool(name, arguments))
            assert error["code"] == code, (name, arguments)
            assert blamed in error["details"]["invalid_input"]
            assert error["details"]["recovery_hint"]


async def test_an_unreachable_ncbi_is_an_upstream_error(services_for: ServicesFor) -> None:
    async with connect(services_for(None, ncbi_max_retries=0)) as client:
        assert read_refusal(await client.call_tool("pubmed_sync_delta", SYNC))["code"] == "UPSTREAM"


@pytest.mark.long
async def test_a_sync_reports_progress(services_for: ServicesFor, era: str) -> None:
    progress = ProgressLog()
    with Sandbox(records=1_000, enforce_limits=False) as sandbox:
        async with connect(services_for(sandbox), era=era) as client:
            arguments = {"query_key": "all", "term": "all[sb]"}
            result = read_structured(
                await client.call_tool("pubmed_sync_delta", arguments, progress_callback=progress.record)
            )

    assert result["inserted"] == 1_000
    steps = [done for done, _ in progress.steps]
    assert (steps[0], steps[-1]) == (0, 1_000)
    assert steps == sorted(set(steps))
    assert len(steps) > 2
    assert {total for _, total in progress.steps} == {1_000}


@pytest.mark.long
async def test_an_incomplete_sync_reports_the_missing_records_with_its_result(services_for: ServicesFor) -> None:
    with Sandbox(records=600, enforce_limits=False, faults={"500": 0.4}, seed=3) as sandbox:
        async with connect(services_for(sandbox, ncbi_max_retries=0)) as client:
            for _ in range(20):
                result = await client.call_tool("pubmed_sync_delta", {"query_key": "all", "term": "all[sb]"})
                document = read_structured(result)
                if "error" not in document and "incomplete" in (result.meta or {}):
                    break
            else:
                pytest.fail("no sync returned a part of the records")

    check_conforms(document, RESPONSES["pubmed_sync_delta"])
    assert document["warnings"]
    assert (result.meta or {})["incomplete"]["code"] == "UPSTREAM"


# Records as resources


@pytest.mark.long
async def test_a_record_is_a_resource_with_the_payload_of_rag_get(services: ServerServices, era: str) -> None:
    async with connect(services, era=era) as client:
        await client.call_tool("pubmed_sync_delta", SYNC)
        templates = (await client.list_resource_templates()).resource_templates
        blob, text = (await client.read_resource(f"{PAPER}99000001")).contents
        read = read_structured(await client.call_tool("rag_get", {"doc_id": "pmid:99000001"}))

    assert f"{PAPER}{{pmid}}" in {template.uri_template for template in templates}
    assert base64.b64decode(blob.blob, validate=True).decode() == text.text  # type: ignore[union-attr]
    assert json.loads(text.text) == read  # type: ignore[union-attr]
    check_conforms(read, RESPONSES["rag_get"])


@pytest.mark.long
async def test_a_record_that_cannot_be_read_is_a_protocol_error_in_the_contracts_envelope(
    services: ServerServices, era: str
) -> None:
    unknown = -32602 if era == "2026-07-28" else -32002
    async with connect(services, era=era) as client:
        for name, code, number in (("12", "NOT_FOUND", unknown), ("abc", "VALIDATION", -32602)):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(f"{PAPER}{name}")
            check_conforms(caught.value.data, ENVELOPE)
            assert caught.value.data["error"]["code"] == code
            assert caught.value.code == number


# Scopes


@pytest.mark.long
@pytest.mark.parametrize(
    ("allowed", "may_read", "may_write"),
    [
        ({"entrez-kit:corpus.read"}, True, False),
        ({"entrez-kit:corpus.read", "entrez-kit:corpus.write"}, True, True),
        ({"entrez-kit:pubmed"}, False, False),
    ],
)
async def test_reading_and_changing_the_corpus_need_separate_scopes(
    services: ServerServices,
    monkeypatch: pytest.MonkeyPatch,
    allowed: set[str],
    may_read: bool,
    may_write: bool,
) -> None:
    async with connect(services) as client:
        await client.call_tool("pubmed_sync_delta", SYNC)
        monkeypatch.setattr("entrez_kit.server.app.get_allowed_scopes", lambda: allowed)
        listed = {tool.name for tool in (await client.list_tools()).tools}
        found = await client.call_tool("rag_search", {"query": "editing"})
        synced = await client.call_tool("pubmed_sync_delta", SYNC)
        keys = await client.complete(PromptReference(name="corpus_update"), argument={"name": "query_key", "value": ""})
        try:
            await client.read_resource(f"{PAPER}99000001")
            resource = True
        except MCPError as exc:
            check_conforms(exc.data, ENVELOPE)
            resource = False

    assert ("rag_search" in listed, "rag_get" in listed) == (may_read, may_read)
    assert ("pubmed_sync_delta" in listed, "corpus_checkpoint_set" in listed) == (may_write, may_write)
    assert resource is may_read
    assert (keys.completion.values == ["editing"]) is may_read
    for result, allows in ((found, may_read), (synced, may_write)):
        if not allows:
            assert read_refusal(result)["code"] == "VALIDATION"
        else:
            assert not result.is_error


# Prompts and completions


async def test_the_update_prompt_calls_the_tools_in_order_and_its_keys_are_completed(services: ServerServices) -> None:
    async with connect(services) as client:
        await client.call_tool("pubmed_sync_delta", SYNC)
        arguments = {"query_key": "editing", "term": SYNC["term"], "question": "Does it last?"}
        result = await client.get_prompt("corpus_update", arguments)
        short = await client.get_prompt("corpus_update", {"query_key": "k", "term": "t"})
        keys = await client.complete(
            PromptReference(name="corpus_update"), argument={"name": "query_key", "value": "edi"}
        )

    text = result.messages[0].content.text  # type: ignore[union-attr]
    places = [text.index(name) for name in ("corpus_checkpoint_get", "pubmed_sync_delta", "rag_search", "rag_get")]
    assert places == sorted(places)
    assert "\n```\nquery_key: editing\nterm: crispr OR editing\nquestion: Does it last?\n```\n" in text
    assert "this query_key as corpus" in text
    assert "{" not in text + short.messages[0].content.text  # type: ignore[union-attr]
    assert keys.completion.values == ["editing"]


# The real program


@pytest.mark.process
def test_the_program_serves_a_corpus_over_stdio(host_for: HostFor) -> None:
    host = host_for()
    host.greet()
    synced = host.call("pubmed_sync_delta", SYNC)
    found = host.call("rag_search", {"query": "base editing", "top_k": 2})
    failed = host.call("rag_get", {"doc_id": "pmid:1"})
    read = host.ask("resources/read", {"uri": f"{PAPER}99000001"})["result"]["contents"]
    status, _ = host.leave()

    assert status == 0
    check_conforms(synced["structuredContent"], RESPONSES["pubmed_sync_delta"])
    check_conforms(found["structuredContent"], RESPONSES["rag_search"])
    check_conforms(json.loads(read[1]["text"]), RESPONSES["rag_get"])
    check_conforms(failed["structuredContent"], ENVELOPE)
    assert failed["isError"] is True


@pytest.mark.process
def test_the_demo_has_a_corpus_from_the_start(host_for: HostFor) -> None:
    host = host_for(command=[sys.executable, "-m", "entrez_kit", "--demo", "serve"])
    host.greet()
    found = host.call("rag_search", {"query": "base editing", "top_k": 2})
    host.leave()

    assert len(found["structuredContent"]["results"]) == 2


@pytest.mark.long
async def test_the_standing_of_records_is_reported_with_the_closed_documents(
    services: ServerServices, era: str
) -> None:
    async with connect(services, era=era) as client:
        await client.call_tool("pubmed_sync_delta", {"query_key": "moon", "term": "moonlight"})
        plain = await client.call_tool("rag_get", {"doc_id": "pmid:99000050"})
        detailed = await client.call_tool("rag_get", {"doc_id": "pmid:99000050", "details": True})
        found = await client.call_tool("rag_search", {"query": "moonlight memory"})

    assert plain.structured_content is not None
    assert detailed.structured_content is not None
    check_conforms(plain.structured_content, RESPONSES["rag_get"])
    assert detailed.structured_content["standing"]["status"] == "retracted"
    for result in (plain, detailed, found):
        document, remark = result.content
        assert json.loads(document.text) == result.structured_content  # type: ignore[union-attr]
        assert "pmid:99000050 [Retracted: " in remark.text  # type: ignore[union-attr]


@pytest.mark.long
async def test_hits_have_title_and_standing_on_request(services: ServerServices, era: str) -> None:
    async with connect(services, era=era) as client:
        await client.call_tool("pubmed_sync_delta", CORPUS)
        plain = read_structured(await client.call_tool("rag_search", {"query": "editing", "top_k": 3}))
        detailed = read_structured(
            await client.call_tool("rag_search", {"query": "editing", "top_k": 3, "details": True})
        )
        first = read_structured(await client.call_tool("rag_get", {"doc_id": detailed["results"][0]["doc_id"]}))

    assert set(plain["results"][0]) == {"doc_id", "uuid", "sim", "bm25", "quality", "score"}
    hit = detailed["results"][0]
    assert hit["title"] == first["title"]
    assert hit["retraction_status"] in get_args(RetractionStatus)
    assert isinstance(hit["year"], int)
    assert 0 < len(hit["snippet"]) <= 410
    assert [one["doc_id"] for one in plain["results"]] == [one["doc_id"] for one in detailed["results"]]


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_only_a_caller_on_this_machine_sees_where_a_damaged_corpus_is(
    services_for: ServicesFor, sandbox: Sandbox, transport: str
) -> None:
    services = services_for(sandbox, mcp_transport_type=transport)
    folder = services.settings.data_dir
    folder.mkdir(parents=True)
    (folder / "corpus.db").write_bytes(b"SQLite format 3\0 and then something else" * 100)

    async with connect(services) as client:
        refused = read_refusal(await client.call_tool("rag_search", {"query": "base editing"}))
        with pytest.raises(MCPError) as unread:
            await client.read_resource(f"{PAPER}99000001")

    said = json.dumps([refused, unread.value.error.message, unread.value.error.data])
    assert (str(folder.parent) in said) == (transport == "stdio")
    assert "corpus.db" in refused["message"]
    assert Path(refused["details"]["path"]).name == "corpus.db"
