"""The terminal's --json and MCP's structuredContent are the same document, errors included."""

import json
from typing import Any

import pytest
from examples import CORPUS, EXAMPLES
from serving import ServicesFor, connected, structured
from terminal import Cli

from entrez_kit.catalogue import OPERATIONS
from entrez_kit.operation import Operation
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.app import Options
from entrez_kit.server.tools import TOOLSETS

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
    (("gene", "pubmed", "7157"), "get_pubmed_links", {"entrez_id": "7157"}),
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
]


def addresses_of(sandbox: Sandbox) -> dict[str, str]:
    """Return the settings that the terminal's fixture has, so that addresses in the documents are the same."""
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
    services = services_for(sandbox, **addresses_of(sandbox))
    assert operation.name in EXAMPLES, f"{operation.name} has no example in test_doors.py"
    async with connected(services, options) as client:
        if operation.toolset == "corpus":
            assert cli("corpus", "sync", *CORPUS.values()).status == 0
            assert not (await client.call_tool("pubmed_sync_delta", CORPUS)).is_error
        for arguments, fields in EXAMPLES[operation.name]:
            done = cli(*operation.command, *arguments, "--json")
            result = await client.call_tool(operation.name, fields)
            assert json.loads(done.out) == structured(result)


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
    async with connected(services_for(sandbox, **addresses_of(sandbox))) as client:
        result = await client.call_tool(tool, arguments)

    assert done.status != 0
    assert result.is_error is True
    assert json.loads(done.err.splitlines()[-1]) == structured(result)


async def test_failures_of_ncbi_look_the_same_to_both(cli: Cli, services_for: ServicesFor, sandbox: Sandbox) -> None:
    services = services_for(sandbox, no_cache=True, **addresses_of(sandbox))
    sandbox.stop()
    done = cli("search", "crispr", "--json", "--no-cache")
    async with connected(services) as client:
        result = await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})

    shown, given = json.loads(done.err.splitlines()[-1]), structured(result)
    assert given["error"]["code"] == "UPSTREAM_ERROR"
    assert shown == given
