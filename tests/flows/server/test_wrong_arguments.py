"""Invalid arguments: an agent gets an error with the names of tools and arguments, for every argument of every tool."""

import json
import re
from typing import Any

import pytest
from example_calls import EXAMPLES
from mcp_helpers import Json, connect, read_structured

from entrez_kit.core.operation import Operation
from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.server.app import Options
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.portions import DEFAULT_LIMIT
from entrez_kit.server.schemas import AgentOperation
from entrez_kit.server.shortening import count_characters
from entrez_kit.server.tool_definitions import build_definitions
from entrez_kit.server.tools import Toolbox
from entrez_kit.server.toolsets import TOOLSETS

WRONG: dict[str, list[Any]] = {
    "string": [{"a": 1}, ["x", "y"]],
    "integer": ["many", -7, 10**9],
    "array": [{"a": {"b": 1}}, [{"c": [1]}]],
    "boolean": ["perhaps"],
    "object": ["x", {"nonsense": 1}],
}
IDS = {"pmids", "pmcids", "dois"}
OF_A_TERMINAL = re.compile(r"entrez-kit |(?<!\S)-{1,2}[a-z]|kit\.|terminal")


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_invalid_argument_is_named_in_the_words_of_tools(
    services: ServerServices, operation: Operation[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    toolbox = Toolbox(None)
    schema: Json = toolbox.get_input_schema(operation.name) or {}
    good = EXAMPLES[operation.name][0][1]
    calls: list[Json] = [{"nonsense": 1, **good}, *([{}] if schema.get("required") else [])]
    for name, part in schema["properties"].items():
        bad = [*WRONG.get(part.get("type", ""), []), *(["nonsense"] if "enum" in part else [])]
        calls += [{**good, name: value} for value in bad]
    monkeypatch.setattr(AgentOperation, "compute", _fail)

    refused = 0
    for arguments in calls:
        result = toolbox.call(services, operation.name, arguments)
        if not result.is_error:
            continue
        error = read_structured(result)["error"]
        said = [error["message"], error.get("recovery_hint") or error["details"]["recovery_hint"]]
        said += [problem["message"] for problem in error.get("details", {}).get("errors", [])]
        if "not asked" in said[0]:
            continue  # values that the model accepts
        refused += 1
        assert not OF_A_TERMINAL.search(json.dumps(said)), said
        assert said[1], arguments
    assert refused >= 2 or not schema["properties"]


BOUNDS = {
    "corpus_audit": "INVALID_INPUT",
    **dict.fromkeys(("search_genes", "get_gene", "get_pubmed_links"), "AMBIGUOUS_QUERY"),
    **dict.fromkeys(("pubmed_sync_delta", "rag_search"), "VALIDATION"),
}
"""The code of a number out of bounds, if it is not INVALID_INPUT."""
SCHEMAS = {facts.name: facts.inputs for facts in build_definitions()}
NUMBERS = [
    (operation, name, part)
    for operation in OPERATIONS
    for name, part in SCHEMAS[operation.name]["properties"].items()
    if part.get("type") == "integer"
]


@pytest.mark.parametrize(
    ("operation", "name", "part"), NUMBERS, ids=[f"{number[0].name}-{number[1]}" for number in NUMBERS]
)
def test_numbers_show_their_bounds_and_are_rejected_outside_of_them(
    services: ServerServices, operation: Operation[Any, Any], name: str, part: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "minimum" in part
    assert part.get("description")
    example = EXAMPLES[operation.name][0][1]
    if name in ("retmax", "retstart"):
        example = {"query_key": "1", "web_env": "x"}
    toolbox = Toolbox(None)
    monkeypatch.setattr(AgentOperation, "compute", _fail)
    beyond = [part["minimum"] - 1, -1, *([part["maximum"] + 1] if "maximum" in part else [])]

    for value in {*beyond, str(beyond[0])}:
        error = (toolbox.call(services, operation.name, {**example, name: value}).structured_content or {})["error"]
        assert error["code"] == BOUNDS.get(operation.name, "INVALID_INPUT"), value
        assert "not asked" not in error["message"], f"{name}={value} is accepted"
        assert name in error["message"]


@pytest.mark.long
@pytest.mark.anyio
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
async def test_long_arguments_are_not_repeated_in_errors(
    services: ServerServices, operation: Operation[Any, Any], caplog: pytest.LogCaptureFixture
) -> None:
    example = EXAMPLES[operation.name][0][1]
    long = f"10.1000/{'y' * 50_000}"
    refused = 0
    async with connect(services, Options(toolsets=TOOLSETS)) as client:
        shown = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}[operation.name]
        for name, part in shown["properties"].items():
            good = {other: value for other, value in example.items() if {name, other} - IDS or name == other}
            inner = part.get("items", part).get("properties", {})
            given: Any = dict.fromkeys(inner, long) if inner else long
            result = await client.call_tool(operation.name, {**good, name: [given] if "items" in part else given})
            reply = read_structured(result)
            error = reply.get("error") or reply.get("incomplete")
            if error:
                refused += 1
                assert count_characters(error) < 10_000, name
            assert count_characters(reply) <= DEFAULT_LIMIT, name

    assert refused or operation.name == "corpus_checkpoint_get", "it accepts any key"
    assert max((len(record.getMessage()) for record in caplog.records), default=0) < 10_000


async def fetch_summary_error(services: ServerServices, ids: list[str]) -> Json:
    async with connect(services, Options(toolsets=TOOLSETS)) as client:
        reply = read_structured(await client.call_tool("entrez_summary", {"db": "taxonomy", "ids": ids}))
    lacks: Json = reply["incomplete"]
    return lacks


@pytest.mark.anyio
async def test_an_invalid_id_is_not_reported_as_a_missing_record(services: ServerServices) -> None:
    neither = await fetch_summary_error(services, ["abc", "99999999"])
    beside = await fetch_summary_error(services, ["abc", "9606"])

    for value in ("99999999", "abc"):
        assert value in neither["message"]
    assert "abc" in beside["message"]
    assert "no record" not in beside["message"]


def _fail(operation: Operation[Any, Any], services: object, request: object) -> Any:
    from entrez_kit.base.errors import InvalidInput

    raise InvalidInput("not asked")
