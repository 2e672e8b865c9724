"""Errors of the gene tools: five codes, one envelope, and hints that lead to success if they are followed literally."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from canned_services import write_esearch_xml
from gene_helpers import CannedGenes, Genes

from entrez_kit.base.errors import (
    AmbiguousQuery,
    EntityNotFound,
    EntrezKitError,
    InvalidInput,
    NotConfigured,
    RateLimited,
    StoreError,
    UnresolvedEntity,
    UpstreamError,
)
from entrez_kit.commands import _frontend
from entrez_kit.core.operation import Operation, execute
from entrez_kit.databases.gene.gene_errors import only_gene_codes, unresolved_error
from entrez_kit.databases.gene.get_genes import GET_GENE, GET_PUBMED_LINKS
from entrez_kit.databases.gene.search_genes import SEARCH_GENES
from entrez_kit.server.tools import McpFrontend

REGISTRY = {"UNRESOLVED_ENTITY", "ENTITY_NOT_FOUND", "AMBIGUOUS_QUERY", "RATE_LIMITED", "UPSTREAM_ERROR"}
TOOLS: dict[str, Operation[Any, Any]] = {
    operation.name: operation for operation in (SEARCH_GENES, GET_GENE, GET_PUBMED_LINKS)
}
Wrong = tuple[str, dict[str, Any], str, str | None]
WRONG: list[Wrong] = [
    ("search_genes", {}, "AMBIGUOUS_QUERY", "query="),
    ("search_genes", {"query": "B"}, "AMBIGUOUS_QUERY", "query=B"),
    ("search_genes", {"query": "x" * 1001}, "AMBIGUOUS_QUERY", None),
    ("search_genes", {"query": ["TP53"]}, "AMBIGUOUS_QUERY", "query=['TP53']"),
    ("search_genes", {"query": "TP53", "page_size": 0}, "AMBIGUOUS_QUERY", "page_size=0"),
    ("search_genes", {"query": "TP53", "pageSize": 101}, "AMBIGUOUS_QUERY", "page_size=101"),
    ("search_genes", {"query": "TP53", "cursor": "next"}, "AMBIGUOUS_QUERY", "cursor=next"),
    ("search_genes", {"query": "TP53", "species": "human"}, "AMBIGUOUS_QUERY", "species=human"),
    ("search_genes", {"query": "TP53", "organism": 9606.5}, "AMBIGUOUS_QUERY", "organism=9606.5"),
    ("search_genes", {"query": "TP53", "organism": "klingon"}, "AMBIGUOUS_QUERY", "organism=klingon"),
    ("get_gene", {}, "UNRESOLVED_ENTITY", ""),
    ("get_gene", {"entrezId": "TP53"}, "UNRESOLVED_ENTITY", "TP53"),
    ("get_gene", {"entrez_id": "TP53", "slim": "perhaps"}, "UNRESOLVED_ENTITY", "TP53"),
    ("get_gene", {"entrez_id": "NCBIGene:7157", "slim": "perhaps"}, "AMBIGUOUS_QUERY", "slim=perhaps"),
    ("get_gene", {"entrez_id": "NCBIGene:7157", "verbose": True}, "AMBIGUOUS_QUERY", "verbose=True"),
    ("get_gene", {"entrez_id": "NCBIGene:999999999"}, "ENTITY_NOT_FOUND", "NCBIGene:999999999"),
    ("get_pubmed_links", {"entrez_id": "7157"}, "UNRESOLVED_ENTITY", "7157"),
    ("get_pubmed_links", {"entrez_id": "NCBIGene:7157", "limit": 0}, "AMBIGUOUS_QUERY", "limit=0"),
    ("get_pubmed_links", {"entrez_id": "NCBIGene:999999999"}, "ENTITY_NOT_FOUND", "NCBIGene:999999999"),
]


def _catch_error(genes: Genes, tool: str, arguments: dict[str, Any]) -> EntrezKitError:
    outcome = execute(TOOLS[tool], genes.kit.services, arguments)
    assert outcome.result is None
    assert outcome.error is not None
    return outcome.error.say_in(McpFrontend())


@pytest.mark.parametrize(("tool", "arguments", "code", "invalid_input"), WRONG)
def test_every_error_is_the_canonical_envelope(
    genes: Genes, tool: str, arguments: dict[str, Any], code: str, invalid_input: str | None
) -> None:
    envelope = _catch_error(genes, tool, arguments).envelope()

    assert envelope["success"] is False
    error = envelope["error"]
    assert set(error) - {"details"} == {"code", "message", "recovery_hint", "invalid_input"}
    assert error["code"] == code
    assert error["message"]
    assert error["recovery_hint"]
    if invalid_input is not None:
        assert error["invalid_input"] == invalid_input
    json.dumps(envelope)


FAILURES = [
    UpstreamError("busy"),
    RateLimited("too many"),
    EntityNotFound("nothing"),
    InvalidInput("NCBI refuses the term", details={"reason": "refused"}),
    NotConfigured("API key invalid", recovery_hint="Correct NCBI_API_KEY.", details={"reason": "bad_api_key"}),
    StoreError("disk full"),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize("tool", TOOLS)
def test_every_error_of_a_service_has_a_code_of_the_registry(tool: str, failure: EntrezKitError) -> None:
    services = CannedGenes(esearch=[failure] * 3, efetch=[failure], esummary=[failure], elink=[failure])
    arguments = {"query": "TP53"} if tool == "search_genes" else {"entrez_id": "NCBIGene:7157"}
    outcome = execute(TOOLS[tool], services, arguments)  # type: ignore[arg-type]

    assert outcome.error is not None
    assert outcome.error.code in REGISTRY
    if isinstance(failure, NotConfigured):
        assert outcome.error.recovery_hint == "Correct NCBI_API_KEY."
        assert outcome.error.details == {"reason": "bad_api_key", "code": "NOT_CONFIGURED"}


def test_internal_error_is_the_only_other_code() -> None:
    outcome = execute(GET_GENE, CannedGenes(efetch=[ZeroDivisionError()]), {"entrez_id": "NCBIGene:7157"})  # type: ignore[arg-type]

    assert outcome.error is not None
    assert outcome.error.code == "INTERNAL_ERROR"
    with pytest.raises(EntrezKitError) as caught, only_gene_codes("query", "x"):
        raise EntrezKitError("a defect")
    assert caught.value.code == "INTERNAL_ERROR"


def test_a_query_that_ncbi_refuses_is_reported_as_ambiguous_with_its_text() -> None:
    services = CannedGenes(esearch=[InvalidInput("unbalanced parentheses")])

    with pytest.raises(AmbiguousQuery) as caught:
        SEARCH_GENES.run(services, {"query": "TP53[sym] AND ("})  # type: ignore[arg-type]
    assert caught.value.invalid_input == "query=TP53[sym] AND ("


def test_hints_name_the_next_call() -> None:
    def get_hint(text: str) -> str:
        return unresolved_error(text, "get_gene").say_in(McpFrontend()).recovery_hint

    assert get_hint("TP53").startswith('Call search_genes(query="TP53") to resolve the identifier first')
    assert get_hint("7157").startswith('Call get_gene(entrez_id="NCBIGene:7157")')
    assert get_hint('the "p53" gene').startswith('Call search_genes(query="the \\"p53\\" gene")')


@pytest.mark.parametrize("text", ["", " ", "x", "\x00\x01", "y" * 500, "NCBIGene:0"])
def test_input_that_cannot_be_searched_gets_a_short_hint(text: str) -> None:
    error = unresolved_error(text, "get_gene")

    assert "search_genes" in error.recovery_hint
    assert len(error.message) < 200
    assert len(error.invalid_input or "") <= 80


def test_rate_limited_hints_name_the_api_key(genes: Genes) -> None:
    genes.sandbox.fail_next("429", "efetch", times=50)
    error = _catch_error(genes, "get_gene", {"entrez_id": "NCBIGene:7157"})

    assert isinstance(error, RateLimited)
    assert "NCBI_API_KEY" in error.recovery_hint


def test_the_search_that_unresolved_entity_recommends_finds_the_gene(genes: Genes) -> None:
    assert isinstance(_catch_error(genes, "get_gene", {"entrez_id": "BRCA1"}), UnresolvedEntity)

    candidate = genes.search("BRCA1").items[0]
    assert genes.get(candidate.id).symbol == "BRCA1"


def test_rate_limited_says_to_wait_or_to_add_a_key(genes: Genes) -> None:
    genes.sandbox.fail_next("429", "esearch", times=50)
    error = _catch_error(genes, "search_genes", {"query": "TP53"})

    assert error.code == "RATE_LIMITED"
    assert error.retryable
    assert re.search("wait|again", error.recovery_hint, re.IGNORECASE)
    assert "NCBI_API_KEY" in error.recovery_hint


@pytest.mark.parametrize("fault", ["500", "html", "cut"])
def test_an_unavailable_ncbi_is_an_upstream_error(genes: Genes, fault: str) -> None:
    genes.sandbox.fail_next(fault, "efetch", times=50)
    error = _catch_error(genes, "get_gene", {"entrez_id": "NCBIGene:7157"})

    assert isinstance(error, UpstreamError)
    assert error.retryable
    assert error.recovery_hint


def test_a_temporary_rate_limit_does_not_fail_the_call(genes: Genes) -> None:
    genes.sandbox.fail_next("429", "efetch", times=2)

    assert genes.get("NCBIGene:7157").symbol == "TP53"
    assert genes.sandbox.requests("efetch") == 3


# Every code, and the result of following its hint literally


def _parse_call(hint: str) -> tuple[str, dict[str, Any]]:
    """Return the call that a hint contains."""
    match = re.search(r'Call (\w+)\((\w+)=("(?:[^"\\]|\\.)*")\)', hint)
    assert match, hint
    return match[1], {match[2]: json.loads(match[3])}


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        *("TP53", "7157", "GeneID:672", "BRCA1", "tumor suppressor", "NCBIGene: 7157"),
        *("NCBIGene:TP53", "ncbigene: TP53", "GeneID:BRCA1", "entrez:tumor suppressor"),
    ],
)
@pytest.mark.parametrize("tool", ["get_gene", "get_pubmed_links"])
def test_the_call_in_an_unresolved_hint_succeeds(genes: Genes, tool: str, text: str) -> None:
    error = _catch_error(genes, tool, {"entrez_id": text})
    name, arguments = _parse_call(error.recovery_hint)
    outcome = execute(TOOLS[name], genes.kit.services, arguments)

    assert outcome.error is None
    assert outcome.result is not None
    if name == "search_genes":
        assert genes.search(**arguments).items


@pytest.mark.parametrize("text", ["NCBIGene:", "NCBIGene: ?", "::", "GeneID:\n"])
def test_the_hint_for_an_id_without_a_searchable_word_recommends_a_search_by_symbol(genes: Genes, text: str) -> None:
    hint = _catch_error(genes, "get_gene", {"entrez_id": text}).recovery_hint

    assert hint.startswith("Call search_genes with the gene's symbol or name")


def test_the_command_in_a_hint_is_quoted_for_a_shell(genes: Genes) -> None:
    error = execute(GET_GENE, genes.kit.services, {"entrez_id": "NCBIGene:tumor suppressor"}).error

    assert error is not None
    hint = error.say_in(_frontend.Terminal()).recovery_hint
    assert hint.startswith("Run `entrez-kit gene search 'tumor suppressor'` to resolve the identifier first")


def _follow_organism_hint(genes: Genes, error: EntrezKitError) -> None:
    taxid = re.search(r'organism="(txid[0-9]+)"', error.recovery_hint)
    names = re.search(r"common name \(([^)]+)\)", error.recovery_hint)
    organism = taxid[1] if taxid else names[1].split(", ")[0] if names else ""
    genes.search("TP53", organism=organism)


def _follow_bounds_hint(genes: Genes, error: EntrezKitError) -> None:
    bounds = re.search(r"from (\d+) to (\d+)", error.recovery_hint)
    assert bounds
    field = (error.invalid_input or "").partition("=")[0]
    for value in bounds.groups():
        if field == "limit":
            genes.links("NCBIGene:7157", limit=int(value))
        else:
            genes.search("TP53", page_size=int(value))


def _follow_query_hint(genes: Genes, error: EntrezKitError) -> None:
    assert "at least 2 characters" in error.recovery_hint
    assert genes.search("TP").pagination.total_count is not None


def _follow_cursor_hint(genes: Genes, error: EntrezKitError) -> None:
    assert "omit cursor" in error.recovery_hint
    assert genes.search("TP53").items


def _follow_not_found_hint(genes: Genes, error: EntrezKitError) -> None:
    assert "search_genes" in error.recovery_hint
    assert genes.get(genes.search("TP53").items[0].id).symbol == "TP53"


def _follow_waiting_hint(genes: Genes, error: EntrezKitError) -> None:
    assert re.search("again|retry", error.recovery_hint, re.IGNORECASE)
    assert genes.get("NCBIGene:7157").symbol == "TP53"


FOLLOWED: list[tuple[str, dict[str, Any], str | None, str, Callable[[Genes, EntrezKitError], None]]] = [
    ("search_genes", {"query": "TP53", "organism": "klingon"}, None, "AMBIGUOUS_QUERY", _follow_organism_hint),
    ("search_genes", {"query": "TP53", "organism": "Echinacea"}, None, "AMBIGUOUS_QUERY", _follow_organism_hint),
    ("search_genes", {"query": "TP53", "page_size": 500}, None, "AMBIGUOUS_QUERY", _follow_bounds_hint),
    (
        "get_pubmed_links",
        {"entrez_id": "NCBIGene:7157", "limit": 500_000},
        None,
        "AMBIGUOUS_QUERY",
        _follow_bounds_hint,
    ),
    ("search_genes", {"query": "T"}, None, "AMBIGUOUS_QUERY", _follow_query_hint),
    ("search_genes", {"query": "TP53", "cursor": "2"}, None, "AMBIGUOUS_QUERY", _follow_cursor_hint),
    ("get_gene", {"entrez_id": "NCBIGene:999999999"}, None, "ENTITY_NOT_FOUND", _follow_not_found_hint),
    ("get_gene", {"entrez_id": "NCBIGene:7157"}, "429", "RATE_LIMITED", _follow_waiting_hint),
    ("get_gene", {"entrez_id": "NCBIGene:7157"}, "500", "UPSTREAM_ERROR", _follow_waiting_hint),
]


@pytest.mark.parametrize(("tool", "arguments", "fault", "code", "follow"), FOLLOWED)
def test_a_hint_followed_literally_leads_to_success(
    genes: Genes,
    tool: str,
    arguments: dict[str, Any],
    fault: str | None,
    code: str,
    follow: Callable[[Genes, EntrezKitError], None],
) -> None:
    if fault:
        genes.sandbox.fail_next(fault, times=1 + genes.kit.settings.ncbi_max_retries)
    error = _catch_error(genes, tool, arguments)

    assert error.code == code
    follow(genes, error)


def test_operations_of_other_packages_report_invalid_input(genes: Genes) -> None:
    with pytest.raises(InvalidInput) as caught:
        genes.kit.search_articles(query_term="x")
    assert caught.value.code == "INVALID_INPUT"


def test_an_organism_that_ncbi_does_not_find_does_not_change_the_search() -> None:
    errors = "<ErrorList><PhraseNotFound>txid9606[Organism]</PhraseNotFound></ErrorList>"
    services = CannedGenes(esearch=[write_esearch_xml(0, errors=errors), *[write_esearch_xml(0)] * 4])

    page = SEARCH_GENES.run(services, {"query": "TP53", "organism": "human"})  # type: ignore[arg-type]
    assert page.pagination.total_count == 0
