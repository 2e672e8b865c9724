"""The terminal's --json and MCP's structuredContent are the same document; errors differ only in their text."""

import json
import re
import shlex
from copy import deepcopy
from typing import Any

import pytest
from command_line import Cli
from example_calls import CORPUS, EXAMPLES
from mcp_helpers import ServicesFor, connect, read_structured

from entrez_kit.commands import load_command
from entrez_kit.core.operation import Operation
from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.app import Options
from entrez_kit.server.toolsets import TOOLSETS
from entrez_kit.server.trimming import is_request_detail

pytestmark = pytest.mark.anyio

reading = pytest.mark.parametrize(
    "operation", [item for item in OPERATIONS if item.read_only], ids=lambda operation: operation.name
)

WRONG: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("search", "cr"), "pubmed_search_articles", {"query_term": "cr"}),
    (("search", "(crispr"), "pubmed_search_articles", {"query_term": "(crispr"}),
    (("search", "crispr", "--offset", "9999"), "pubmed_search_articles", {"query_term": "crispr", "offset": 9_999}),
    (
        ("search", "crispr", "--min-date", "x"),
        "pubmed_search_articles",
        {"query_term": "crispr", "date_range": {"min_date": "x"}},
    ),
    (("gene", "pubmed", "gene:7157"), "get_pubmed_links", {"entrez_id": "gene:7157"}),
    (("gene", "pubmed", "NCBIGene:999999999"), "get_pubmed_links", {"entrez_id": "NCBIGene:999999999"}),
    (("gene", "search", "x"), "search_genes", {"query": "x"}),
    (("corpus", "search", "x", "-n", "0"), "rag_search", {"query": "x", "top_k": 0}),
    (("corpus", "search", "x", "--corpus", "nosuch"), "rag_search", {"query": "x", "corpus": "nosuch"}),
    (("corpus", "search", "x", "--index", "weaviate"), "rag_search", {"query": "x", "index": "weaviate"}),
    (("corpus", "get", "12"), "rag_get", {"doc_id": "pmid:12"}),
    (("corpus", "sync", "k", '"x'), "pubmed_sync_delta", {"query_key": "k", "term": '"x'}),
    (
        ("corpus", "checkpoint", "set", "k", "2999-01-01"),
        "corpus_checkpoint_set",
        {"query_key": "k", "last_edat": "2999-01-01"},
    ),
    (("gene", "search", "TP53", "--organism", "unicorn"), "search_genes", {"query": "TP53", "organism": "unicorn"}),
    (
        ("search", "crispr", "--sort", "sideways"),
        "pubmed_search_articles",
        {"query_term": "crispr", "sort_by": "sideways"},
    ),
    (("search", "crispr", "-n", "0"), "pubmed_search_articles", {"query_term": "crispr", "max_results": 0}),
    (("search", "crispr", "--author", "[au]"), "pubmed_search_articles", {"query_term": "crispr", "author": "[au]"}),
    (("fetch", "--query-key", "1"), "pubmed_fetch_contents", {"query_key": "1"}),
    (("related", "10.5555/x"), "pubmed_article_relationships", {"source_pmid": "10.5555/x"}),
    (("related", "12"), "pubmed_article_relationships", {"source_pmid": "12"}),
    (("db", "info", "genes"), "entrez_info", {"db": "genes"}),
    (
        ("db", "search", "pubmed", "x", "--min-date", "2020"),
        "entrez_search",
        {"db": "pubmed", "term": "x", "min_date": "2020"},
    ),
    (("mesh", "diabetes", "-n", "500"), "pubmed_lookup_mesh", {"query": "diabetes", "max_results": 500}),
    (("europepmc", "(x"), "europepmc_search", {"query": "(x"}),
]
NOTHING_FOUND: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("fetch", "12"), "pubmed_fetch_contents", {"pmids": ["12"]}),
    (("convert", "12"), "pubmed_convert_ids", {"ids": ["12"]}),
    (("db", "summary", "gene", "TP53"), "entrez_summary", {"db": "gene", "ids": ["TP53"]}),
    (("db", "link", "999999", "--from", "gene"), "entrez_link", {"ids": ["999999"], "source": "gene"}),
    (("fulltext", "12"), "pubmed_fetch_fulltext", {"pmids": ["12"]}),
]
"""Calls whose result is a document that lists what is missing, together with the error."""
TOOL_NAMES = {name for operation in OPERATIONS for name in (operation.name, *operation.aliases)}


def make_overrides(sandbox: Sandbox) -> dict[str, str]:
    """Return the settings of the terminal's fixture, so that addresses in the documents are the same."""
    return {
        "eutils_url": f"{sandbox.url}/entrez/eutils",
        "idconv_url": f"{sandbox.url}/idconv",
        "europepmc_url": f"{sandbox.url}/europepmc",
    }


@pytest.mark.process
@reading
async def test_the_terminal_and_agents_get_the_same_document(
    cli: Cli, services_for: ServicesFor, sandbox: Sandbox, operation: Operation[Any, Any]
) -> None:
    options = Options(toolsets=TOOLSETS)
    services = services_for(sandbox, **make_overrides(sandbox))
    assert operation.name in EXAMPLES, f"{operation.name} has no example in example_calls.py"
    async with connect(services, options) as client:
        if operation.command[0] == "corpus":
            assert cli("corpus", "sync", *CORPUS.values()).status == 0
            assert not (await client.call_tool("pubmed_sync_delta", CORPUS)).is_error
        for arguments, fields in EXAMPLES[operation.name]:
            done = cli(*operation.command, *arguments, "--json")
            # The whole document is requested, because the terminal has no other, with its default fields.
            whole = {"reply_limit": 10_000_000} if operation.agents.portions else {}
            usual = {name: operation.request.model_fields[name].default for name in operation.agents.defaults}
            result = await client.call_tool(operation.name, {**usual, **fields, **whole})
            document = read_structured(result)
            lacks = document.pop("incomplete", None)
            assert bool(lacks) == ("incomplete" in (result.meta or {}))
            assert lacks is None or done.status
            told = remove_duplicates(json.loads(done.out), operation)
            closed = operation.agents.closed_schema
            assert (told if closed else remove_details(told, operation, fields)) == document
            details = (
                {}
                if operation.agents.closed_schema
                else {name for name in json.loads(done.out) if is_request_detail(name)}
            )
            assert set((result.meta or {}).get("request", {})) == set(details)


def remove_details(document: dict[str, Any], operation: Operation[Any, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """Return a document without the details of its request, unscaled scores, and missing sections."""
    kept = {name: value for name, value in document.items() if not is_request_detail(name)}
    out = {"raw_score", "link_url", *(("abstract", "affiliations") if fields.get("sections") else ())}
    for record in kept.get(operation.result.RECORDS) or ():
        if isinstance(record, dict):
            for name in out:
                record.pop(name, None)
    return kept


def remove_duplicates(document: dict[str, Any], operation: Operation[Any, Any]) -> dict[str, Any]:
    """Return the terminal's document without its duplicate fields, as agents get it."""
    for path in operation.agents.duplicate_fields:
        *above, name = path.split(".")
        for record in document[operation.result.RECORDS]:
            inner = [record] if not above else record.get(above[0], [])
            for one in inner:
                one.pop(name, None)
    return document


@pytest.mark.long
@pytest.mark.parametrize(("command", "tool", "arguments"), WRONG)
async def test_the_terminal_and_agents_get_the_same_envelope(
    cli: Cli,
    services_for: ServicesFor,
    sandbox: Sandbox,
    command: tuple[str, ...],
    tool: str,
    arguments: dict[str, Any],
) -> None:
    done = cli(*command, "--json")
    async with connect(services_for(sandbox, **make_overrides(sandbox))) as client:
        result = await client.call_tool(tool, arguments)

    assert done.status != 0
    assert result.is_error is True
    shown, given = json.loads(done.err.splitlines()[-1]), read_structured(result)
    assert remove_texts(shown) == remove_texts(given)
    assert_terminal_words(get_texts(shown), command)
    assert_tool_words(get_texts(given))
    assert_tool_words(json.dumps(given["error"].get("details", {}).get("errors")))


@pytest.mark.parametrize(("command", "tool", "arguments"), NOTHING_FOUND)
async def test_errors_in_a_document_name_tools_and_fields_for_agents(
    services_for: ServicesFor,
    sandbox: Sandbox,
    command: tuple[str, ...],
    tool: str,
    arguments: dict[str, Any],
) -> None:
    async with connect(services_for(sandbox, **make_overrides(sandbox)), Options(toolsets=TOOLSETS)) as client:
        result = await client.call_tool(tool, arguments)

    assert result.meta is not None
    assert read_structured(result)["incomplete"] == result.meta["incomplete"], "hosts that hide _meta show it as well"
    assert_tool_words(json.dumps(read_structured(result)))


@pytest.mark.parametrize(("command", "tool", "arguments"), WRONG + NOTHING_FOUND)
def test_messages_in_a_terminal_name_commands_and_options(
    cli: Cli, command: tuple[str, ...], tool: str, arguments: dict[str, Any]
) -> None:
    done = cli(*command, "-f", "table")

    assert done.status != 0
    assert_terminal_words(done.err, command)
    for line in re.findall(r"`entrez-kit (gene [^`]+|db info)`", done.err):
        assert cli(*shlex.split(line)).status == 0, line


def assert_terminal_words(text: str, command: tuple[str, ...]) -> None:
    """Assert that a text names no tool, no method and no argument that has an option."""
    found = load_command(command[0])
    for word in command[1:]:
        found = getattr(found, "commands", {}).get(word, found)
    hidden = [name for parameter in found.params if "_" in (name := parameter.name)]
    for name in (*TOOL_NAMES, *hidden, "date_range"):
        assert not re.search(rf"(?<![\w.]){re.escape(name)}\b", text), text
    assert "kit." not in text
    assert "terminal" not in text


def assert_tool_words(text: str) -> None:
    """Assert that a text names no command, no flag and no method of Python."""
    assert not re.search(r"entrez-kit |(?<!\S)-{1,2}[a-z]|kit\.|terminal", text), text


def get_texts(envelope: dict[str, Any]) -> str:
    """Return message and hint of an envelope."""
    error = envelope["error"]
    return f"{error['message']} {error.get('recovery_hint') or error['details']['recovery_hint']}"


def remove_texts(envelope: dict[str, Any]) -> dict[str, Any]:
    """Return an envelope without its message and hint, which differ between front ends."""
    error = deepcopy(envelope["error"])
    assert error.pop("message")
    assert all(problem.pop("message") for problem in error.get("details", {}).get("errors", []))
    assert error.pop("recovery_hint", None) or error["details"].pop("recovery_hint")
    return {**envelope, "error": error}


async def test_failures_of_ncbi_give_both_the_same_error(cli: Cli, services_for: ServicesFor, sandbox: Sandbox) -> None:
    services = services_for(sandbox, no_cache=True, **make_overrides(sandbox))
    sandbox.stop()
    done = cli("search", "crispr", "--json", "--no-cache")
    async with connect(services) as client:
        result = await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})

    shown, given = json.loads(done.err.splitlines()[-1]), read_structured(result)
    assert given["error"]["code"] == "UPSTREAM_ERROR"
    assert remove_texts(shown) == remove_texts(given)
