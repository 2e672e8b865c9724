"""Broadened queries: every search omits the broader results in the same way, in every front end."""

import json
import re
from typing import Any, Final, NamedTuple

import pytest
from command_line import Cli
from mcp_helpers import ServicesFor, connect, read_structured

from entrez_kit.core.operation import Operation
from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.app import Options
from entrez_kit.server.toolsets import TOOLSETS

pytestmark = pytest.mark.anyio


class Search(NamedTuple):
    """A search whose query NCBI broadens: its command line, its arguments, and the list of results in its document."""

    command: tuple[str, ...]
    arguments: dict[str, Any]
    records: str
    total: str = "total_found"


SEARCHES: Final = {
    "pubmed_search_articles": Search(("search", "crispr AND qqqzzz"), {"query_term": "crispr AND qqqzzz"}, "pmids"),
    "pubmed_count_facets": Search(("facets", "crispr AND qqqzzz"), {"query_term": "crispr AND qqqzzz"}, "facets"),
    "search_genes": Search(
        ("gene", "search", "TP53[sym] AND human[nosuchfield]"),
        {"query": "TP53[sym] AND human[nosuchfield]"},
        "items",
        "pagination.total_count",
    ),
    "entrez_search": Search(
        ("db", "search", "nuccore", "human[orgn] AND BRCA1[foo]"),
        {"db": "nuccore", "term": "human[orgn] AND BRCA1[foo]"},
        "ids",
    ),
    "entrez_info": Search(
        ("db", "info", "nuccore", "--term", "human[orgn] AND BRCA1[foo]"),
        {"db": "nuccore", "term": "human[orgn] AND BRCA1[foo]"},
        "",
        "count",
    ),
}
every_search = pytest.mark.parametrize("name", SEARCHES)


def get_totals(name: str, document: dict[str, Any]) -> dict[str, Any]:
    """Return the broadening, the three totals and the number of results that a document has."""
    place = document["counts"][0] if name == "entrez_info" else document
    found: Any = place
    for key in SEARCHES[name].total.split("."):
        found = found.get(key)
    listed = place.get(SEARCHES[name].records)
    return {
        "broadened": place.get("query_broadened"),
        "strict": place.get("strict_total"),
        "broader": place.get("broader_total"),
        "found": found,
        "listed": None if listed is None else len(listed),
    }


def find_operation(name: str) -> Operation[Any, Any]:
    """Return the operation with a tool name."""
    return next(operation for operation in OPERATIONS if operation.name == name)


def list_fields(operation: Operation[Any, Any]) -> set[str]:
    """Return the names of all fields of a result, at any depth."""
    schema = operation.result.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return {name for part in parts for name in part.get("properties", ())}


def test_every_operation_that_reports_broadened_queries_has_the_same_argument() -> None:
    searches = {operation.name for operation in OPERATIONS if "strict_total" in list_fields(operation)}

    assert searches == set(SEARCHES)
    for name in searches:
        operation = find_operation(name)
        assert operation.request.model_fields["broader_results"].default is True
        assert operation.agents.defaults["broader_results"] is False
        assert "broader_total" in list_fields(operation)


@every_search
async def test_agents_get_no_broader_results_unless_they_request_them(
    services_for: ServicesFor, sandbox: Sandbox, name: str
) -> None:
    arguments = SEARCHES[name].arguments
    async with connect(services_for(sandbox), Options(toolsets=TOOLSETS)) as client:
        usual = get_totals(name, read_structured(await client.call_tool(name, arguments)))
        asked = get_totals(name, read_structured(await client.call_tool(name, {**arguments, "broader_results": True})))

    assert asked["found"] > 0
    assert asked["listed"] is None or asked["listed"] > 0
    assert (asked["broadened"], asked["broader"]) == (True, None)
    assert usual == {
        "broadened": True,
        "strict": 0,
        "broader": asked["found"],
        "found": 0,
        "listed": None if asked["listed"] is None else 0,
    }


@every_search
async def test_the_terminal_and_python_omit_broader_results_on_request(
    cli: Cli, services_for: ServicesFor, sandbox: Sandbox, name: str
) -> None:
    search, operation = SEARCHES[name], find_operation(name)
    services = services_for(sandbox)
    usual = operation.run(services, search.arguments)
    strict = operation.run(services, {**search.arguments, "broader_results": False})
    done = cli(*search.command, "--json")
    without = cli(*search.command, "--no-broader", "--json")

    assert (done.status, without.status) == (0, 0)
    assert get_totals(name, json.loads(done.out)) == get_totals(name, usual.model_dump(mode="json"))
    assert get_totals(name, json.loads(without.out)) == get_totals(name, strict.model_dump(mode="json"))
    assert get_totals(name, json.loads(done.out))["found"] == get_totals(name, json.loads(without.out))["broader"]
    assert strict.missing_error() is None


@every_search
async def test_a_query_that_is_not_broadened_is_the_same_with_and_without_broader_results(
    services_for: ServicesFor, sandbox: Sandbox, name: str
) -> None:
    plain = {
        field: value.replace(" AND qqqzzz", "").replace(" AND human[nosuchfield]", "").replace(" AND BRCA1[foo]", "")
        for field, value in SEARCHES[name].arguments.items()
    }
    services, operation = services_for(sandbox), find_operation(name)

    first, second = (operation.run(services, {**plain, "broader_results": value}) for value in (True, False))
    assert first == second


@pytest.mark.parametrize("command", [("search",), ("facets",), ("gene", "search"), ("db", "search", "pubmed")])
def test_a_table_shows_how_many_broader_results_are_omitted(cli: Cli, command: tuple[str, ...]) -> None:
    query = "TP53[sym] AND human[nosuchfield]" if command[0] == "gene" else "crispr AND qqqzzz"
    done = cli(*command, query, "--no-broader", "-f", "table")

    assert done.status == 0
    assert re.search(r"[0-9] broader results? not shown", done.out)


@pytest.mark.parametrize("command", [("search",), ("db", "search", "pubmed")])
def test_an_unknown_total_is_not_printed_as_a_number(cli: Cli, command: tuple[str, ...]) -> None:
    done = cli(*command, 'crispr AND "gene cell"', "--no-broader", "-f", "count")

    assert (done.status, done.out) == (0, "unknown\n")
