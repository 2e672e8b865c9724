"""Hints of errors: following the hint of each kind of failure leads to success."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from fixture_types import KitFor

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntrezKitError
from entrez_kit.core.operation import Operation, execute
from entrez_kit.databases.fetch import FETCH
from entrez_kit.databases.info import INFO
from entrez_kit.databases.link import LINK
from entrez_kit.databases.mesh import MESH
from entrez_kit.databases.search import SEARCH
from entrez_kit.databases.spell import SPELL
from entrez_kit.databases.summary import SUMMARY
from entrez_kit.pubmed.convert import CONVERT
from entrez_kit.pubmed.search import SEARCH_ARTICLES
from entrez_kit.references.match import LOOKUP_CITATION
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.tools import McpFrontend

TOOLS: dict[str, Operation[Any, Any]] = {
    operation.name: operation
    for operation in (INFO, SEARCH, SUMMARY, FETCH, LINK, MESH, SPELL, CONVERT, LOOKUP_CITATION, SEARCH_ARTICLES)
}


@dataclass(frozen=True)
class Case:
    """A call that fails, and the call that its hint recommends."""

    operation: Operation[Any, Any]
    arguments: dict[str, Any]
    code: str
    said: str
    next_tool: str | None
    next_arguments: dict[str, Any]
    fault: tuple[str, str] | None = None


GENE = {"db": "gene"}
CASES = {
    "unknown database": Case(
        SEARCH,
        {"db": "genes", "term": "TP53"},
        "INVALID_INPUT",
        "Call entrez_info without db",
        "entrez_info",
        {},
    ),
    "unknown database described": Case(
        INFO, {"db": "genes"}, "ENTITY_NOT_FOUND", "Call entrez_info without db", "entrez_info", {}
    ),
    "record that does not exist": Case(
        SUMMARY,
        {**GENE, "ids": ["999999"]},
        "ENTITY_NOT_FOUND",
        'call entrez_search(db="gene", term=...)',
        "entrez_search",
        {**GENE, "term": "TP53"},
    ),
    "symbol where an id is due": Case(
        SUMMARY,
        {**GENE, "ids": ["TP53"]},
        "INVALID_INPUT",
        'call entrez_search(db="gene", term=...)',
        "entrez_search",
        {**GENE, "term": "TP53"},
    ),
    "record to fetch that does not exist": Case(
        FETCH,
        {"db": "nuccore", "ids": ["990000999"]},
        "ENTITY_NOT_FOUND",
        'call entrez_search(db="nuccore", term=...)',
        "entrez_search",
        {"db": "nuccore", "term": "TP53"},
    ),
    "source that does not exist": Case(
        LINK,
        {"ids": ["999999"], "source": "gene", "target": "pubmed"},
        "ENTITY_NOT_FOUND",
        'call entrez_search(db="gene", term=...)',
        "entrez_search",
        {**GENE, "term": "TP53"},
    ),
    "part of the records": Case(
        SUMMARY,
        {**GENE, "ids": ["7157", "999999"]},
        "ENTITY_NOT_FOUND",
        "Check the ids, or call entrez_search",
        "entrez_search",
        {**GENE, "term": "BRCA1"},
    ),
    "argument out of bounds": Case(
        MESH,
        {"query": "diabetes", "max_results": 500},
        "INVALID_INPUT",
        "Correct max_results",
        "pubmed_lookup_mesh",
        {"query": "diabetes", "max_results": 50},
    ),
    "no identifier": Case(
        CONVERT,
        {"ids": ["TP53"]},
        "INVALID_INPUT",
        "Give PMIDs",
        "pubmed_convert_ids",
        {"ids": ["99000001"]},
    ),
    "unknown identifier": Case(
        CONVERT,
        {"ids": ["12"]},
        "ENTITY_NOT_FOUND",
        "call pubmed_search_articles",
        "pubmed_search_articles",
        {"query_term": "crispr"},
    ),
    "too little of a reference": Case(
        LOOKUP_CITATION,
        {"citations": [{"author_name": "Luo Q"}]},
        "INVALID_INPUT",
        "or the title",
        "pubmed_lookup_citation",
        {"citations": [{"title": "Base editing of a cryptic splice site", "author_name": "Luo Q"}]},
    ),
    "unknown reference": Case(
        LOOKUP_CITATION,
        {"citations": [{"journal": "No Such Journal", "year": "2020", "volume": "1", "first_page": "2"}]},
        "ENTITY_NOT_FOUND",
        "To search by title, call pubmed_search_articles",
        "pubmed_search_articles",
        {"query_term": "base editing of a cryptic splice site[title]"},
    ),
    "outage": Case(SPELL, {"query": "crisper"}, "UPSTREAM_ERROR", "same call again", None, {}, fault=("500", "espell")),
    "rate limit": Case(SPELL, {"query": "crisper"}, "RATE_LIMITED", "NCBI_API_KEY", None, {}, fault=("429", "espell")),
    "batch that was lost": Case(
        LINK,
        {"ids": ["7157"], "source": "gene", "target": "pubmed"},
        "UPSTREAM_ERROR",
        "same call again",
        None,
        {},
        fault=("error200", "elink"),
    ),
}


def call_as_agent(kit: EntrezKit, operation: Operation[Any, Any], arguments: dict[str, Any]) -> EntrezKitError | None:
    """Return the error of a call, as agents see it."""
    error = execute(operation, kit.services, arguments).error
    return error.say_in(McpFrontend()) if error is not None else None


def list_tools(hint: str) -> set[str]:
    """Return the tools that a hint names."""
    return set(re.findall(r"\b(?:entrez|pubmed)_[a-z_]+\b", hint))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_following_a_hint_literally_leads_to_success(sandbox: Sandbox, kit_for: KitFor, case: Case) -> None:
    kit = kit_for(sandbox, ncbi_max_retries=0)
    if case.fault is not None:
        sandbox.fail_next(*case.fault, times=1)
    error = call_as_agent(kit, case.operation, case.arguments)

    assert error is not None
    assert error.code == case.code
    assert case.said in error.recovery_hint
    if case.next_tool is None:
        assert error.retryable
        assert call_as_agent(kit, case.operation, case.arguments) is None
        return
    assert list_tools(error.recovery_hint) == list_tools(case.said) <= {case.next_tool}
    assert call_as_agent(kit, TOOLS[case.next_tool], case.next_arguments) is None


def test_every_tool_named_in_a_hint_exists(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    for case in CASES.values():
        if case.fault is None:
            error = call_as_agent(kit, case.operation, case.arguments)
            assert error is not None
            assert list_tools(error.recovery_hint) <= set(TOOLS)
