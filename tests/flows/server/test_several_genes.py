"""Several gene ids in one call: one outcome for each, in order, in small replies too; merged ids give the successor."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it comes with mcp, its stubs do not
import pytest
from mcp_helpers import Json, connect, read_structured, read_tool_error

from entrez_kit.databases.gene.get_genes import GET_GENE, GET_GENES, GET_PUBMED_LINKS
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.tool_definitions import build_definitions
from entrez_kit.server.tools import Toolbox

pytestmark = pytest.mark.anyio

IDS = ["NCBIGene:672", "TP53", "NCBIGene:60454", "NCBIGene:999999999", "NCBIGene:7157", "NCBIGene:672"]
STATUSES = ["found", "invalid", "found", "not_found", "found", "found"]
VALIDATORS = {tool.name: jsonschema.Draft202012Validator(tool.outputs) for tool in build_definitions()}

CallTool = Callable[..., Awaitable[Json]]


@pytest.fixture(name="call_tool")
async def call_tool_fixture(services: ServerServices, era: str) -> AsyncIterator[CallTool]:
    """Return a function that calls a tool and checks the document against its schema, in one session."""
    async with connect(services, era=era) as client:

        async def call_tool(tool: str, **arguments: Any) -> Json:
            document = read_structured(await client.call_tool(tool, arguments))
            VALIDATORS[tool].validate(document)
            return document

        yield call_tool


@pytest.mark.parametrize(
    ("tool", "member", "key"), [("get_gene", "genes", "id"), ("get_pubmed_links", "results", "entrez_id")]
)
async def test_each_id_has_an_outcome_in_order(call_tool: CallTool, tool: str, member: str, key: str) -> None:
    several = await call_tool(tool, entrez_ids=IDS)

    assert [(one["input"], one["status"]) for one in several["outcomes"]] == list(zip(IDS, STATUSES, strict=True))
    found = [name for name, status in zip(IDS, STATUSES, strict=True) if status == "found"]
    assert [one[key] for one in several[member]] == found
    assert several["incomplete"]["code"] == "ENTITY_NOT_FOUND"
    singles = [await call_tool(tool, entrez_id=name) for name in found]
    for one, single in zip(several[member], singles, strict=True):
        assert {**one, "warnings": []} == {**single, "warnings": []}


async def test_the_document_equals_that_of_the_terminals_operation(
    services: ServerServices, call_tool: CallTool
) -> None:
    names = [IDS[0], IDS[4]]
    several = await call_tool("get_gene", entrez_ids=names, slim=True)
    batch = GET_GENES.run(services, {"inputs": names, "arguments": {"slim": True}}).model_dump(mode="json")

    assert several["genes"] == batch["genes"]
    assert "outcomes" not in several


async def test_a_replaced_id_returns_its_successor(call_tool: CallTool) -> None:
    old = await call_tool("get_gene", entrez_id="NCBIGene:60454")
    new = await call_tool("get_gene", entrez_id=old["replaced_by"])
    links = await call_tool("get_pubmed_links", entrez_ids=["NCBIGene:60454"])

    assert old["successor"] == {name: value for name, value in new.items() if name != "warnings"}
    assert links["results"][0]["successor"]["entrez_id"] == old["replaced_by"]


async def test_a_cut_reply_shows_how_to_get_the_rest(call_tool: CallTool) -> None:
    arguments: dict[str, Any] = {"entrez_ids": [*IDS, "NCBIGene:22059", "NCBIGene:945803"], "reply_limit": 3_000}
    seen: list[str] = []
    accounted: set[str] = set()
    for _ in range(10):
        part = await call_tool("get_gene", **arguments)
        seen += [one["id"] for one in part["genes"]]
        assert part["genes"]
        if "reply_cut" not in part:
            break
        ids = part["reply_cut"]["ids"]
        assert sorted(name for names in ids.values() for name in names) == sorted(arguments["entrez_ids"])
        accounted |= {*ids.get("invalid", ()), *ids.get("not_found", ())}
        if "next_arguments" not in part["reply_cut"]:
            break
        arguments |= part["reply_cut"]["next_arguments"]

    assert seen == ["NCBIGene:672", "NCBIGene:60454", "NCBIGene:7157", "NCBIGene:672", *arguments["entrez_ids"][-2:]]
    assert accounted == {"TP53", "NCBIGene:999999999"}


@pytest.mark.parametrize(
    ("arguments", "same"),
    [
        ({"entrez_id": [IDS[0], IDS[4]]}, [IDS[0], IDS[4]]),
        ({"gene_ids": f'["{IDS[0]}", "{IDS[4]}"]'}, [IDS[0], IDS[4]]),
        ({"entrez_id": IDS[0], "entrez_ids": [IDS[4]]}, [IDS[0], IDS[4]]),
        ({"entrez_id": "", "entrez_ids": IDS[0]}, [IDS[0]]),
    ],
)
async def test_a_list_may_have_other_forms(call_tool: CallTool, arguments: Json, same: list[str]) -> None:
    assert await call_tool("get_gene", **arguments) == await call_tool("get_gene", entrez_ids=same)


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "named"),
    [
        ("get_gene", {"entrez_ids": [f"NCBIGene:{number}" for number in range(1, 22)]}, "AMBIGUOUS_QUERY", "20"),
        ("get_gene", {"entrez_ids": [{"id": 7157}]}, "AMBIGUOUS_QUERY", "entrez_ids"),
        ("get_gene", {"entrez_ids": []}, "UNRESOLVED_ENTITY", "entrez_id"),
        ("get_gene", {"entrez_ids": [IDS[0]], "colour": 5}, "AMBIGUOUS_QUERY", "colour"),
        ("get_pubmed_links", {"entrez_ids": [IDS[0]], "limit": 101}, "AMBIGUOUS_QUERY", "limit"),
    ],
)
async def test_an_invalid_call_is_one_error_of_the_gene_tools(
    services: ServerServices, tool: str, arguments: Json, code: str, named: str
) -> None:
    error = read_tool_error(Toolbox([find_operation(tool)]).call(services, tool, arguments))

    assert error["code"] == code
    assert named in error["message"]
    assert error["recovery_hint"]


@pytest.mark.parametrize("tool", ["get_gene", "get_pubmed_links"])
@pytest.mark.parametrize("beside", [{}, {"entrez_id": "NCBIGene:672"}, {"entrez_id": ["NCBIGene:672"]}])
@pytest.mark.parametrize("listed", [True, {"a": 1}, [["NCBIGene:672"]]])
async def test_ids_that_are_not_a_list_of_texts_are_refused(
    services: ServerServices, listed: Any, beside: Json, tool: str
) -> None:
    error = read_tool_error(Toolbox([find_operation(tool)]).call(services, tool, {**beside, "entrez_ids": listed}))

    assert error["code"] == "AMBIGUOUS_QUERY"
    assert error["invalid_input"].startswith("entrez_ids")


def find_operation(tool: str) -> Any:
    return GET_GENE if tool == "get_gene" else GET_PUBMED_LINKS


async def test_a_call_with_only_unknown_ids_has_an_error_for_each(call_tool: CallTool) -> None:
    several = await call_tool("get_gene", entrez_ids=["TP53", "BRCA1"])

    assert several["genes"] == []
    assert [one["status"] for one in several["outcomes"]] == ["invalid", "invalid"]
    assert several["incomplete"]["code"] == "UNRESOLVED_ENTITY"
    assert "search_genes" in several["incomplete"]["recovery_hint"]


async def test_the_text_has_a_heading_for_each_gene(services: ServerServices, era: str) -> None:
    async with connect(services, era=era) as client:
        result: Any = await client.call_tool("get_gene", {"entrez_ids": [IDS[0], IDS[4]]})

    assert "## 2 of 2: NCBIGene:7157" in result.content[0].text
