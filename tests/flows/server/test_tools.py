"""The tools of the catalogue: a short list, several names for each, and one form of answers."""

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it comes with mcp, its stubs do not
import pytest
from example_calls import CORPUS, EXAMPLES
from host_schema_rules import complete_arguments, convert_strict
from mcp_helpers import (
    ERAS,
    Json,
    ServicesFor,
    connect,
    read_structured,
    read_tool_error,
)
from mcp_types import ListToolsResult

from entrez_kit.base.errors import InvalidInput
from entrez_kit.core.operation import Operation, execute
from entrez_kit.corpus.operations import SYNC
from entrez_kit.databases.gene.get_genes import GET_GENE
from entrez_kit.pubmed.search import SEARCH_ARTICLES
from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.app import Options, malformed_parameters_error
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.schemas import AgentOperation, build_input_schema, build_output_schema
from entrez_kit.server.tool_definitions import ToolDefinition
from entrez_kit.server.tools import Toolbox, read_toolsets
from entrez_kit.server.toolsets import DEFAULT_TOOLSETS, TOOLSETS
from entrez_kit.server.trimming import is_request_detail

MAX_LISTING = 45_000
MAX_TOKENS = 4_700
"""Tokens of names, descriptions and input schemas, which a model reads before each task; a token is four bytes."""
HIDDEN: dict[str, dict[str, Any]] = {
    "pubmed_search_articles": {"retrieve_all": True, "explain": True},
    "pubmed_format_citations": {"markup": "html"},
    "pubmed_fetch_fulltext": {"ids": ["99000001"]},
    "corpus_audit": {"retraction_watch": "watch.csv"},
    "europepmc_search": {"max_results": 5_000},
    "lint_strategy": {"mesh": "/etc/hostname"},
    "check_references": {
        **{"retraction_watch": "/etc/hostname", "max_references": 9_000},
        **{"corrects": True, "newer": True, "unique": True},
    },
}
"""Fields for the other front ends."""
OTHER_NAMES = {"ids", "max_results"}
"""Those that are also other names of arguments of agents."""

pytestmark = pytest.mark.anyio

operations = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)


def make_options(**options: Any) -> Options:
    return Options(toolsets=TOOLSETS, **options)


def list_schemas(schema: Any) -> list[Json]:
    """Return a schema and every schema inside it."""
    found: list[Json] = []
    if isinstance(schema, dict):
        found.append(schema)
        inner = [*schema.get("properties", {}).values(), schema.get("items"), *schema.get("anyOf", [])]
        for part in inner:
            found += list_schemas(part)
    return found


def list_undescribed(value: Any, schema: Json, place: str = "") -> Iterator[str]:
    """Yield the members of a reply that are not in its schema, at every depth where it describes objects."""
    if isinstance(value, dict) and "properties" in schema:
        for name, inner in value.items():
            if name not in schema["properties"]:
                yield f"{place}.{name}"
            else:
                yield from list_undescribed(inner, schema["properties"][name], f"{place}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from list_undescribed(inner, schema["items"], f"{place}[]") if schema else ()


# The list


async def test_every_operation_is_listed_in_the_order_of_the_catalogue(services: ServerServices, era: str) -> None:
    async with connect(services, make_options(), era=era) as client:
        listed = (await client.list_tools()).tools

    assert [tool.name for tool in listed] == [operation.name for operation in OPERATIONS]


async def test_a_tool_has_a_title_and_is_marked_as_read_only(services: ServerServices, era: str) -> None:
    async with connect(services, make_options(), era=era) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}

    for operation in OPERATIONS:
        tool = listed[operation.name]
        hints = tool.annotations
        assert hints is not None
        assert tool.description is not None
        assert (tool.title or hints.title) == operation.title
        assert hints.read_only_hint is operation.read_only
        # Without these two their defaults apply: a tool that only reads neither destroys nor repeats anything.
        assert (hints.destructive_hint, hints.idempotent_hint) == (
            (None, None) if operation.read_only else (False, True)
        )
        assert hints.open_world_hint is None
        assert tool.description.startswith(operation.description.split("\n")[0])
        assert "Raises" not in tool.description
        assert "\n" not in tool.description


@pytest.mark.parametrize("era", ERAS)
def test_the_list_of_the_default_toolsets_is_short(era: str) -> None:
    listed = Toolbox(None).list_tools(scopes=None, protocol_version=era)
    sent = ListToolsResult(tools=listed).model_dump_json(by_alias=True, exclude_none=True)

    assert len(sent.encode()) < MAX_LISTING
    read = [{"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema} for tool in listed]
    bytes_read = sum(len(json.dumps(one, separators=(",", ":"), ensure_ascii=False).encode()) for one in read)
    assert 1_000 < bytes_read / 4 <= MAX_TOKENS, (
        f"the tools of the default toolsets have {bytes_read / 4:,.0f} tokens, and at most {MAX_TOKENS:,} are allowed: "
        "shorten a description, or set `toolset` of a new operation to entrez, citations or review"
    )


def test_descriptions_explain_what_a_model_cannot_guess() -> None:
    tools = {tool.name: tool for tool in Toolbox(None).list_tools(scopes=None, protocol_version=ERAS[-1])}
    search = tools["pubmed_search_articles"].input_schema["properties"]

    markdown = {operation.name for operation in OPERATIONS if operation.agents.as_markdown}
    assert {name for name, tool in tools.items() if "Markdown" in str(tool.description)} == markdown & set(tools)
    assert re.search(r"pub_date.*newest", search["sort_by"]["description"])
    assert "MeSH" in search["species"]["description"]


@operations
def test_a_description_states_the_purpose_of_a_tool_and_gives_an_example(operation: Operation[Any, Any]) -> None:
    assert len(operation.description) < 700
    assert re.search(r"Use it|use it", operation.description), operation.description
    assert re.search(r"[Ee]xample|e\.g\.", operation.description), operation.description


def test_names_are_valid_for_every_host() -> None:
    for operation in OPERATIONS:
        assert re.fullmatch(r"[A-Za-z0-9_]{1,64}", operation.name)


async def test_toolsets_select_the_listed_tools_and_do_not_limit_calls(services: ServerServices) -> None:
    options = Options(toolsets=("gene",))
    async with connect(services, options) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})

    assert listed == ["search_genes", "get_gene", "get_pubmed_links"]
    assert read_structured(result)["total_found"] > 0


def test_toolsets_are_read_from_a_list() -> None:
    assert read_toolsets(None) == read_toolsets(" , ") == DEFAULT_TOOLSETS == ("pubmed", "gene", "corpus")
    assert read_toolsets("entrez, Pubmed") == ("pubmed", "entrez")
    with pytest.raises(InvalidInput, match="'genes'") as caught:
        read_toolsets("pubmed,genes")
    assert "pubmed, gene, corpus, entrez" in caught.value.message


# Names


@pytest.mark.long
@operations
def test_every_name_of_an_operation_calls_it(operation: Operation[Any, Any]) -> None:
    toolbox = Toolbox(OPERATIONS)

    for name in (operation.name, *operation.aliases):
        found = toolbox.find(name)
        assert found is not None
        assert found.name == operation.name


async def test_an_alias_can_be_called_in_any_version_of_the_protocol(services: ServerServices, era: str) -> None:
    async with connect(services, era=era) as client:
        result = await client.call_tool("searchPubMedArticles", {"queryTerm": "crispr", "maxResults": 1})

    assert read_structured(result)["retrieved_pmid_count"] == 1


async def test_contract_names_are_listed_on_request_and_used_in_all_texts(services: ServerServices) -> None:
    async with connect(services, make_options(names="contract")) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        prompt = (await client.get_prompt("literature_review", {"topic": "base editing"})).messages[0]
        missing = await client.call_tool("fetchArticleDetails", {"pmids": ["12"]})
        by_own_name = await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})
        hint = read_tool_error(await client.call_tool("serchPubMedArticles", {}))["recovery_hint"]
        instructions = client.instructions

    assert {"searchPubMedArticles", "fetchArticleDetails"} <= set(tools)
    assert "pubmed_search_articles" not in json.dumps([tool.description for tool in tools.values()])
    assert "searchPubMedArticles" in str(prompt.content)
    assert "searchPubMedArticles" in str(instructions)
    assert "searchPubMedArticles" in hint
    assert "searchPubMedArticles" in missing.meta["incomplete"]["recovery_hint"]  # type: ignore[index]
    assert not by_own_name.is_error


# Input schemas


@operations
def test_an_input_schema_is_flat_closed_and_short(operation: Operation[Any, Any]) -> None:
    schema = AgentOperation.of(operation).build_input_schema()

    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == [
        name for name in operation.request.model_fields if name not in HIDDEN.get(operation.name, ())
    ]
    assert set(schema.get("required", [])) == {
        name for name, info in operation.request.model_fields.items() if info.is_required()
    }
    for part in list_schemas(schema):
        assert not {"$ref", "$defs", "title"} & set(part)
        assert part.get("type") != "null"
        assert part.get("default", 1) not in (None, "", [], {})
        assert part.get("default") is not False


@operations
def test_every_parameter_is_described_in_one_line(operation: Operation[Any, Any]) -> None:
    for part in list_schemas(build_input_schema(operation.request)):
        for name, inner in part.get("properties", {}).items():
            description = inner.get("description", "")
            assert 6 < len(description) < 220, f"{operation.name}.{name}: {description!r}"
            assert "\n" not in description


@pytest.mark.parametrize(
    ("operation", "name", "cap"),
    [(operation, *maximum) for operation in OPERATIONS for maximum in operation.agents.caps.items()],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_maximum_values_are_in_the_schema_and_enforced(
    operation: Operation[Any, Any], name: str, cap: int, services: ServerServices
) -> None:
    part = AgentOperation.of(operation).build_input_schema()["properties"][name]
    too_many: Any = ["1"] * (cap + 1) if part["type"] == "array" else cap + 1

    assert part["maxItems" if part["type"] == "array" else "maximum"] == cap
    assert not [number for number in re.findall(r"(?<= to )\d+", part["description"]) if int(number) > cap]
    result = Toolbox([operation]).call(services, operation.name, {name: too_many})
    assert AgentOperation.of(operation).request is operation.request
    error = read_tool_error(result)
    assert name in [problem["field"] for problem in error["details"]["errors"]]
    assert re.search(rf"\b{cap}\b", error["recovery_hint"])
    assert "entrez-kit" not in error["recovery_hint"]


@pytest.mark.parametrize(
    ("name", "field"), [(name, field) for name in HIDDEN for field in HIDDEN[name] if field not in OTHER_NAMES]
)
def test_arguments_outside_of_the_schema_are_rejected(services: ServerServices, name: str, field: str) -> None:
    (operation,) = (operation for operation in OPERATIONS if operation.name == name)
    arguments = {**EXAMPLES[name][0][1], field: HIDDEN[name][field]}

    (problem,) = read_tool_error(Toolbox([operation]).call(services, name, arguments))["details"]["errors"]
    assert (problem["field"], problem["message"]) == (field, "is not a known argument.")


def test_a_maximum_for_agents_does_not_limit_the_operation(services: ServerServices) -> None:
    outcome = execute(SEARCH_ARTICLES, services, {"query_term": "crispr", "max_results": 1_001})

    assert outcome.error is None


def test_maximum_values_apply_to_names_in_camel_case_too(services: ServerServices) -> None:
    error = read_tool_error(
        Toolbox([SEARCH_ARTICLES]).call(services, "searchPubMedArticles", {"queryTerm": "crispr", "maxResults": 1_001})
    )

    assert "up to 1000" in error["recovery_hint"]


# Output schemas


@operations
def test_an_output_schema_describes_every_member_and_allows_the_envelope(operation: Operation[Any, Any]) -> None:
    schema = build_output_schema(operation.result)
    validator = jsonschema.Draft202012Validator(schema)

    validator.check_schema(schema)
    assert set(schema) == {"type", "properties"}
    assert schema["type"] == "object"
    fields = operation.result.model_fields
    sent = {name for name, field in fields.items() if not field.exclude and not is_request_detail(name)}
    assert set(schema["properties"]) == {*sent, "incomplete"}
    for part in list_schemas(schema["properties"]):
        assert part.get("type") != "array" or "items" in part
    assert validator.is_valid(InvalidInput("no").envelope())
    wrong = {name: object() for name, part in schema["properties"].items() if part}
    assert not validator.is_valid(wrong)


def list_nullable_members(operation: Operation[Any, Any]) -> dict[str, str | None]:
    """Return the members that may be null, with their other type; it is None if it is in another schema."""
    whole = operation.result.model_json_schema(by_alias=False)["properties"]
    members = sorted(build_output_schema(operation.result)["properties"].keys() & whole)
    kinds = {name: {part.get("type") for part in whole[name].get("anyOf", ())} for name in members}
    return {name: (kind - {"null"}).pop() for name, kind in kinds.items() if "null" in kind and len(kind) == 2}


@operations
def test_a_member_that_may_be_null_has_its_type(operation: Operation[Any, Any]) -> None:
    properties = build_output_schema(operation.result)["properties"]
    for name, kind in list_nullable_members(operation).items():
        written = properties[name]["type"]
        is_left_out = operation.result.model_fields[name].exclude_if is not None

        assert written if kind is None else written == (kind if is_left_out else [kind, "null"]), name


def test_some_members_may_be_null() -> None:
    assert sum(len(list_nullable_members(operation)) for operation in OPERATIONS) > 40


@pytest.mark.process
@operations
def test_results_match_the_output_schema(operation: Operation[Any, Any], services: ServerServices) -> None:
    toolbox, schema = Toolbox([operation]), ToolDefinition.of(operation).outputs
    if operation.command[0] == "corpus":
        SYNC.run(services, CORPUS)
    results = [toolbox.call(services, operation.name, arguments) for _, arguments in EXAMPLES[operation.name]]

    assert any(not result.is_error for result in results)
    for result in results:
        jsonschema.validate(read_structured(result), schema)
        if not result.is_error:
            assert list(list_undescribed(read_structured(result), schema)) == []


def test_both_forms_of_a_gene_match_its_output_schema(services: ServerServices) -> None:
    for slim in (True, False):
        document = read_structured(
            Toolbox([GET_GENE]).call(services, "get_gene", {"entrez_id": "NCBIGene:7157", "slim": slim})
        )
        assert ("summary" in document) is not slim
        jsonschema.validate(document, build_output_schema(GET_GENE.result))


# Arguments


@pytest.mark.long
async def test_empty_optional_arguments_count_as_absent(services: ServerServices, era: str) -> None:
    empty: Json = {"date_range": {}, "author": "", "mesh_terms": [], "species": "", "sort_by": None}
    nested = {"date_range": {"min_date": "", "max_date": ""}, "language": ""}
    async with connect(services, era=era) as client:
        plain = read_structured(await client.call_tool("pubmed_search_articles", {"query_term": "crispr"}))
        for more in (empty, nested):
            result = await client.call_tool("pubmed_search_articles", {"query_term": "crispr", **more})
            assert read_structured(result) == plain


async def test_lists_and_objects_sent_as_texts_are_parsed(services: ServerServices) -> None:
    async with connect(services) as client:
        fetched = await client.call_tool("pubmed_fetch_contents", {"pmids": '["99000001"]'})
        found = await client.call_tool(
            "pubmed_search_articles", {"queryTerm": "[crispr]", "dateRange": '{"minDate": "2019"}'}
        )
        single = await client.call_tool("pubmed_fetch_contents", {"pmids": "99000001"})

    requests = [(result.meta or {})["request"] for result in (fetched, single, found)]
    assert requests[0]["requested_pmids"] == requests[1]["requested_pmids"] == ["99000001"]
    assert requests[2]["search_parameters"]["query_term"] == "[crispr]"
    assert requests[2]["search_parameters"]["date_range"]["min_date"] == "2019"


@pytest.mark.process
@operations
def test_calls_with_every_argument_filled_in_have_the_same_results(
    operation: Operation[Any, Any], services: ServerServices
) -> None:
    """Strict modes of hosts make every argument required, and do not allow null."""
    toolbox = Toolbox([operation])
    schema = toolbox.get_input_schema(operation.name)
    assert schema is not None
    if operation.command[0] == "corpus":
        SYNC.run(services, CORPUS)
    plain_arguments = EXAMPLES[operation.name][0][1]
    whole = complete_arguments(plain_arguments, schema)
    jsonschema.validate(whole, convert_strict(schema))
    plain = toolbox.call(services, operation.name, plain_arguments)
    result = toolbox.call(services, operation.name, whole)

    assert plain.is_error is False
    if operation.read_only:
        assert read_structured(result) == read_structured(plain)
    assert result.is_error is False


@pytest.mark.long
@operations
def test_an_unknown_argument_is_reported_with_the_existing_names(
    operation: Operation[Any, Any], services: ServerServices
) -> None:
    arguments = {**EXAMPLES[operation.name][0][1], "no_such_thing": 1}
    document = read_structured(Toolbox([operation]).call(services, operation.name, arguments))
    error = document["error"]
    hint = error.get("recovery_hint") or error["details"]["recovery_hint"]

    assert "no_such_thing is not a known argument" in error["message"]
    for name in AgentOperation.of(operation).build_input_schema()["properties"]:
        assert name in hint


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        (operation, name)
        for operation in OPERATIONS
        for name in AgentOperation.of(operation).build_input_schema().get("required", ())
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_a_missing_argument_is_reported_as_missing(
    operation: Operation[Any, Any], name: str, services: ServerServices
) -> None:
    arguments = {key: value for key, value in EXAMPLES[operation.name][0][1].items() if key != name}

    message = read_structured(Toolbox([operation]).call(services, operation.name, arguments))["error"]["message"]
    assert re.search(rf"\b{name}:? is (required|missing)", message), message


# Errors

WRONG: list[tuple[str, Json, str, str | None]] = [
    ("pubmed_search_articles", {"query_term": 7}, "INVALID_INPUT", "query_term=7"),
    ("pubmed_search_articles", {"query_term": "crispr", "max_results": "many"}, "INVALID_INPUT", "max_results=many"),
    ("pubmed_search_articles", {}, "INVALID_INPUT", None),
    ("pubmed_search_articles", {"query_term": ""}, "INVALID_INPUT", "query_term="),
    ("pubmed_search_articles", {"query_term": "crispr", "colour": 5}, "INVALID_INPUT", "colour=5"),
    ("pubmed_search_articles", {"query_term": "(crispr"}, "INVALID_INPUT", None),
    ("pubmed_fetch_contents", {"pmids": [True]}, "INVALID_INPUT", "pmids.0=True"),
    ("pubmed_fetch_contents", {"pmids": ["1"], "query_key": "1", "web_env": "x"}, "INVALID_INPUT", None),
    ("get_gene", {"entrez_id": "7157"}, "UNRESOLVED_ENTITY", "7157"),
    ("get_gene", {"entrez_id": "NCBIGene:0"}, "ENTITY_NOT_FOUND", "NCBIGene:0"),
    ("get_gene", {}, "UNRESOLVED_ENTITY", ""),
    ("get_gene", {"entrez_id": "NCBIGene:7157", "foo": 1}, "AMBIGUOUS_QUERY", "foo=1"),
    ("get_pubmed_links", {"entrez_id": "NCBIGene:7157", "limit": 0}, "AMBIGUOUS_QUERY", "limit=0"),
    ("search_genes", {"query": "x"}, "AMBIGUOUS_QUERY", "query=x"),
    ("search_genes", {"query": "TP53", "organism": "unicorn"}, "AMBIGUOUS_QUERY", "organism=unicorn"),
]


@pytest.mark.long
@pytest.mark.parametrize(("tool", "arguments", "code", "invalid_input"), WRONG)
async def test_errors_of_a_caller_are_returned_as_an_envelope(
    services: ServerServices, tool: str, arguments: Json, code: str, invalid_input: str | None
) -> None:
    async with connect(services, make_options()) as client:
        error = read_tool_error(await client.call_tool(tool, arguments))

    assert error["code"] == code
    assert error["recovery_hint"]
    if invalid_input is not None:
        assert error["invalid_input"] == invalid_input


@pytest.mark.long
async def test_an_unknown_tool_is_an_envelope_that_names_a_similar_tool(services: ServerServices, era: str) -> None:
    async with connect(services, era=era) as client:
        error = read_tool_error(await client.call_tool("pubmed_serch_articles", {"query_term": "crispr"}))

    assert error["code"] == "INVALID_INPUT"
    assert error["invalid_input"] == "pubmed_serch_articles"
    assert "pubmed_search_articles" in error["recovery_hint"]
    assert error["details"]["reason"] == "unknown_tool"


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "code"), [("500", "UPSTREAM_ERROR"), ("429", "RATE_LIMITED"), ("html", "UPSTREAM_ERROR")]
)
async def test_errors_of_ncbi_are_returned_as_an_envelope(
    services_for: ServicesFor, fault: str, code: str, era: str
) -> None:
    with Sandbox(faults={fault: 1.0}, enforce_limits=False) as failing:
        async with connect(services_for(failing, ncbi_max_retries=1), era=era) as client:
            result = await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})

    error = read_tool_error(result)
    assert error["code"] == code
    assert result.meta is not None
    assert result.meta["timings"]["requests"][0]["attempts"] == 2


async def test_an_internal_error_shows_a_request_id_and_no_internals(
    services: ServerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **parameters: object) -> None:
        raise RuntimeError("the inner secret")

    monkeypatch.setattr(type(services.eutils), "esearch", fail)
    async with connect(services) as client:
        result = await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})

    error = read_tool_error(result)
    assert error["code"] == "INTERNAL_ERROR"
    assert result.meta is not None
    assert error["details"]["request_id"] == result.meta["request_id"]
    assert "inner secret" not in json.dumps(result.model_dump(mode="json"))


@pytest.mark.parametrize("place", ["trimming.trim_reply", "markdown.render_markdown", "portion_arguments.take_portion"])
def test_a_defect_outside_of_the_operation_is_the_same_internal_error(
    services: ServerServices, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def fail(*arguments: object, **parameters: object) -> None:
        raise RuntimeError("the inner secret")

    assert not Toolbox(None).call(services, "pubmed_fetch_fulltext", {"pmcids": ["PMC99000001"]}).is_error
    monkeypatch.setattr(f"entrez_kit.server.{place}", fail)
    result = Toolbox(None).call(services, "pubmed_fetch_fulltext", {"pmcids": ["PMC99000001"]})

    error = read_tool_error(result)
    assert error["code"] == "INTERNAL_ERROR"
    assert result.meta is not None
    assert error["details"]["request_id"] == result.meta["request_id"]
    assert "inner secret" not in json.dumps(result.model_dump(mode="json"))


async def test_an_unpaired_surrogate_does_not_end_the_connection(services: ServerServices) -> None:
    async with connect(services) as client:
        result = await client.call_tool("pubmed_search_articles", {"query_term": "crispr", "\ud800": "\udc00"})
        again = await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})

    assert read_tool_error(result)["code"] == "INVALID_INPUT"
    json.dumps(result.structured_content, ensure_ascii=False).encode()
    assert not again.is_error


async def test_malformed_parameters_are_explained_in_the_protocol_error() -> None:
    from mcp_types import CallToolRequestParams
    from pydantic import ValidationError

    with pytest.raises(ValidationError) as caught:
        CallToolRequestParams.model_validate({"name": 7, "arguments": ["secret"]})
    envelope = malformed_parameters_error("tools/call", caught.value).envelope()
    assert envelope["error"]["details"]["reason"] == "malformed_message"
    assert "arguments" in envelope["error"]["message"]
    assert "secret" not in json.dumps(envelope)


# Portions


SOME = [str(99000001 + number) for number in range(60)]
PAGED: list[tuple[str, Json, str]] = [
    ("pubmed_fetch_contents", {"pmids": SOME}, "articles"),
    ("pubmed_fetch_contents", {"pmids": SOME[:30], "detail_level": "full_xml"}, "articles"),
    ("pubmed_fetch_fulltext", {"pmcids": [f"PMC{pmid}" for pmid in SOME[:10]]}, "articles"),
    ("europepmc_search", {"query": "crispr OR gene OR wheat", "page_size": 100}, "articles"),
    (
        "pubmed_search_articles",
        {"query_term": "all[sb]", "max_results": 100, "fetch_brief_summaries": 100},
        "brief_summaries",
    ),
]


@pytest.mark.long
@pytest.mark.parametrize(("tool", "arguments", "member"), PAGED)
async def test_a_large_reply_is_split_into_portions_that_show_how_to_continue(
    services: ServerServices, tool: str, arguments: Json, member: str
) -> None:
    async with connect(services) as client:
        whole = read_structured(await client.call_tool(tool, {**arguments, "reply_limit": 10_000_000}))
        got: list[Any] = []
        calls = 0
        more: Json = {}
        while True:
            result = await client.call_tool(tool, {**arguments, **more})
            page = read_structured(result)
            calls += 1
            size = len(json.dumps(page, ensure_ascii=False, separators=(",", ":")))
            assert size <= 20_000 or len(page[member]) == 1, "an element as JSON has no long texts to cut"
            got += page[member]
            if not (cut := page.get("reply_cut")) or "next_start" not in cut:
                break
            argument, number = re.findall(r"(reply_start|offset) (\d+)", cut["message"])[0]
            more = {argument: int(number)}
            if len(got) >= len(whole[member]):
                break

    assert calls > 1
    assert [one.get("pmid") for one in got][: len(whole[member])] == [one.get("pmid") for one in whole[member]]


@pytest.mark.long
async def test_an_article_larger_than_a_portion_is_split_at_its_sections(services: ServerServices) -> None:
    async with connect(services) as client:
        whole = read_structured(await client.call_tool("pubmed_fetch_fulltext", {"pmcids": ["PMC99000001"]}))
        cut = read_structured(
            await client.call_tool("pubmed_fetch_fulltext", {"pmcids": ["PMC99000001"], "reply_limit": 2_500})
        )

    assert "truncation" not in whole
    assert cut["truncation"]


async def test_fields_shorten_records(services: ServerServices, era: str) -> None:
    async with connect(services, era=era) as client:
        result = await client.call_tool("pubmed_fetch_contents", {"pmids": ["99000001"], "fields": ["title", "-pmcid"]})
        wrong = await client.call_tool("pubmed_fetch_contents", {"pmids": ["99000001"], "fields": ["titel"]})

    assert set(read_structured(result)["articles"][0]) == {"pmid", "title"}
    assert "did you mean title" in read_tool_error(wrong)["message"]


# Results


@pytest.mark.long
async def test_null_and_empty_members_are_sent_to_the_client(services: ServerServices, era: str) -> None:
    async with connect(services, make_options(), era=era) as client:
        page = read_structured(await client.call_tool("search_genes", {"query": "TP53", "organism": "human"}))

    assert page["pagination"]["cursor"] is None


async def test_meta_has_what_differs_between_runs(services: ServerServices) -> None:
    async with connect(services) as client:
        first = await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})
        second = await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})

    assert read_structured(first) == read_structured(second)
    assert first.meta is not None
    assert second.meta is not None
    assert (first.meta["from_cache"], second.meta["from_cache"]) == (False, True)
    assert first.meta["request_id"] != second.meta["request_id"]
    assert first.meta["timings"]["total_ms"] >= first.meta["timings"]["requests"][0]["ms"]
    assert first.meta["timings"]["requests"][0]["endpoint"] == "esearch"


async def test_a_partial_result_is_a_result_that_lists_what_is_missing(services: ServerServices) -> None:
    async with connect(services) as client:
        result = await client.call_tool("pubmed_fetch_contents", {"pmids": ["99000001", "12"]})

    document = read_structured(result)
    assert result.is_error is False
    assert document["not_found_pmids"] == ["12"]
    assert result.meta is not None
    assert result.meta["incomplete"]["code"] == "ENTITY_NOT_FOUND"
    assert document["incomplete"] == result.meta["incomplete"]
    assert "12" in document["incomplete"]["message"]
    assert document["incomplete"]["recovery_hint"]
    assert len(result.content) == 1


async def test_the_text_is_compact(services: ServerServices) -> None:
    async with connect(services) as client:
        result = await client.call_tool("pubmed_fetch_contents", {"pmids": ["99000001"]})

    (block,) = result.content
    assert block.type == "text"
    assert block.text == json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))


async def test_identifiers_sent_as_numbers_are_accepted(services: ServerServices) -> None:
    async with connect(services) as client:
        as_numbers = await client.call_tool("pubmed_fetch_contents", {"pmids": [99000001, 99000002]})
        as_texts = await client.call_tool("pubmed_fetch_contents", {"pmids": ["99000001", "99000002"]})

    assert as_numbers.is_error is False
    assert as_numbers.structured_content == as_texts.structured_content
