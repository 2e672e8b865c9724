"""Invisible characters in queries: every operation with a query removes them with a warning."""

from typing import Any

import pytest
from command_line import Cli

from entrez_kit import EntrezKit
from entrez_kit.core.model import QUERY_FIELDS
from entrez_kit.core.operation import Operation
from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.tools import Toolbox

QUERIES = {
    operation.name: field
    for operation in OPERATIONS
    for field in operation.request.model_fields
    if field in QUERY_FIELDS
}
BY_NAME = {operation.name: operation for operation in OPERATIONS}
MORE = {"entrez_search": {"db": "pubmed"}, "pubmed_sync_delta": {"query_key": "k"}}


def _list_warnings(operation: Operation[Any, Any], result: Any) -> list[str]:
    warnings = getattr(result, "warnings", None)
    return (
        result.list_notes() if warnings is None else [str(getattr(warning, "message", warning)) for warning in warnings]
    )


def test_all_operations_that_search_are_known_to_have_a_query() -> None:
    assert set(QUERIES) >= {
        "pubmed_search_articles",
        "pubmed_count_facets",
        "pubmed_lookup_mesh",
        "pubmed_spell_check",
        "europepmc_search",
        "search_genes",
        "entrez_search",
        "rag_search",
        "pubmed_sync_delta",
    }


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_an_operation_removes_invisible_characters_from_its_query_and_warns(
    kit: EntrezKit, sandbox: Sandbox, name: str
) -> None:
    operation, field, more = BY_NAME[name], QUERIES[name], MORE.get(name, {})
    if name == "rag_search":
        kit.sync_delta(query_key="all", term="all[sb]")
    clean = operation.run(kit.services, {**more, field: "neoplasms"})
    assert not [text for text in _list_warnings(operation, clean) if "U+" in text]

    for character in ("\x00", "\x1b", "\x9f", "\u200b", "\u202e"):
        before = len(sandbox.entries())
        result = operation.run(kit.services, {**more, field: f"neo{character}plasms"})

        named = f"U+{ord(character):04X}"
        assert [text for text in _list_warnings(operation, result) if named in text], named
        sent = [str(entry) for entry in sandbox.entries()[before:]]
        assert not [entry for entry in sent if character in entry or f"%{ord(character):02X}" in entry], named


def test_line_breaks_and_tabs_of_a_pasted_query_are_blanks_without_a_warning(kit: EntrezKit) -> None:
    pasted = kit.search_articles(query_term="base\r\nediting\tblood\u2028")
    typed = kit.search_articles(query_term="base editing blood")

    assert pasted.pmids == typed.pmids
    assert not [warning for warning in pasted.warnings if warning.code == "invisible_characters"]


def test_joiners_between_letters_of_other_scripts_stay() -> None:
    persian = "می\u200cخواهم سلول"

    request = BY_NAME["pubmed_search_articles"].build({"query_term": persian})

    assert request.query_term == persian


def test_a_request_object_is_cleaned_as_well(kit: EntrezKit) -> None:
    operation = BY_NAME["search_genes"]
    result = operation.run(kit.services, operation.request(query="TP\x0053"))

    assert [item.symbol for item in result.items] == ["TP53"]
    assert result.warnings[0].code == "invisible_characters"


def test_mcp_calls_and_commands_warn_too(kit: EntrezKit, cli: Cli) -> None:
    called = Toolbox(None).call(kit.services, "rag_search", {"query": "neo\x00plasms"})
    assert "U+0000" in called.content[1].text  # type: ignore[union-attr]

    for form in ("ids", "json", "table"):
        done = cli("search", "neo\u200bplasms", "-f", form)
        assert (done.status, "U+200B" in done.err) == (0, True), form
