"""Arguments of agents: other forms are accepted, and values added by strict hosts have no effect."""

from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it comes with mcp, its stubs do not
import pytest
from host_schema_rules import convert_strict, fill_arguments, list_parts

from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.server.arguments import read_arguments
from entrez_kit.server.schemas import AgentOperation

SCHEMAS = {operation.name: AgentOperation.of(operation).build_input_schema() for operation in OPERATIONS}

MEANT: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("pubmed_search_articles", {"query": "x", "limit": 5}, {"query_term": "x", "max_results": 5}),
    (
        "pubmed_search_articles",
        {"term": "x", "min_date": "2020"},
        {"query_term": "x", "date_range": {"min_date": "2020"}},
    ),
    (
        "pubmed_search_articles",
        {"q": "x", "dateRange": {"from": "2020", "to": "2021"}},
        {"query_term": "x", "date_range": {"min_date": "2020", "max_date": "2021"}},
    ),
    ("pubmed_search_articles", {"query_term": "x", "species": "any"}, {"query_term": "x"}),
    ("pubmed_fetch_contents", {"pmid": 12}, {"pmids": [12]}),
    ("pubmed_fetch_contents", {"ids": "1, 2;PMC3"}, {"pmids": ["1", "2", "PMC3"]}),
    ("pubmed_fetch_contents", {"pmids": '["1"]', "retmax": 200, "retstart": 0}, {"pmids": ["1"]}),
    ("pubmed_fetch_contents", {"pmids": ["1"], "retmax": 0}, {"pmids": ["1"], "retmax": 0}),
    ("pubmed_fetch_contents", {"pmids": "10.1000/a,b"}, {"pmids": ["10.1000/a,b"]}),
    ("pubmed_fetch_fulltext", {"id": "PMC1"}, {"pmcids": ["PMC1"]}),
    ("pubmed_fetch_fulltext", {"ids": ["10.1/x"]}, {"dois": ["10.1/x"]}),
    ("pubmed_article_relationships", {"pmid": ["1"]}, {"source_pmid": "1"}),
    ("get_gene", {"gene_id": "NCBIGene:1"}, {"entrez_id": "NCBIGene:1"}),
    ("get_pubmed_links", {"entrezId": "NCBIGene:1", "max_results": 3}, {"entrez_id": "NCBIGene:1", "limit": 3}),
    ("rag_search", {"q": "x", "limit": 3, "query_key": "k"}, {"query": "x", "top_k": 3, "corpus": "k"}),
    ("rag_get", {"pmid": 12}, {"doc_id": "pmid:12"}),
    ("rag_get", {"doc_id": "12"}, {"doc_id": "12"}),
    (
        "pubmed_count_facets",
        {"query": "x", "by": "year", "limit": 3},
        {"query_term": "x", "facets": ["year"], "top": 3},
    ),
    ("pubmed_lookup_mesh", {"tree_number": "C14"}, {"query": "C14"}),
    ("europepmc_search", {"term": "x", "max_results": 3}, {"query": "x", "page_size": 3}),
    ("entrez_fetch", {"database": "gene", "id": "1"}, {"db": "gene", "ids": ["1"]}),
    (
        "pubmed_lookup_citation",
        {"citations": {"journal": "J", "author": "Doe J", "year": ""}},
        {"citations": [{"journal": "J", "author_name": "Doe J", "year": ""}]},
    ),
    ("pubmed_convert_ids", {"ids": "12", "id_type": "any"}, {"ids": ["12"]}),
]


@pytest.mark.parametrize(("tool", "sent", "meant"), MEANT)
def test_other_names_and_forms_are_read_with_their_meaning(
    tool: str, sent: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert read_arguments(sent, SCHEMAS[tool]) == meant


@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        ("pubmed_search_articles", {"query_term": "x", "query": "y"}),
        ("pubmed_search_articles", {"query_term": "x", "color": "red"}),
        ("pubmed_fetch_contents", {"pmids": True}),
        ("pubmed_search_articles", {"query_term": "[not json"}),
        ("entrez_link", {"ids": ["1"], "db": "gene"}),
    ],
)
def test_ambiguous_arguments_are_unchanged(tool: str, sent: dict[str, Any]) -> None:
    assert read_arguments(sent, SCHEMAS[tool]) == sent


@pytest.mark.parametrize("tool", SCHEMAS)
def test_arguments_under_their_own_names_are_unchanged(tool: str) -> None:
    example = fill_arguments(SCHEMAS[tool], neutral=False)

    numbers = {name for name, part in SCHEMAS[tool]["properties"].items() if part["type"] == "integer"}
    usual = {name for name in numbers if SCHEMAS[tool]["properties"][name].get("default") == example[name]}

    assert read_arguments(example, SCHEMAS[tool]) == {name: example[name] for name in example if name not in usual}


@pytest.mark.parametrize("tool", SCHEMAS)
def test_schemas_obey_the_rules_of_the_large_hosts(tool: str) -> None:
    """The published rules: OpenAI (structured outputs), Anthropic (tool use), Gemini (function declarations)."""
    schema = SCHEMAS[tool]

    assert schema["type"] == "object"
    for part in list_parts(schema):
        assert not {"oneOf", "anyOf", "allOf", "not", "if", "$ref"} & set(part), "rejected at the top, ignored below"
        assert isinstance(part["type"], str)
        assert part["type"] != "array" or "items" in part
        assert part["type"] != "object" or part["additionalProperties"] is False
        assert all(isinstance(value, str) and value for value in part.get("enum", ["x"])), (
            "Gemini accepts no empty choice"
        )
        assert all(name.replace("_", "").isalnum() and len(name) <= 64 for name in part.get("properties", ()))


@pytest.mark.parametrize("tool", SCHEMAS)
def test_in_strict_mode_every_optional_argument_has_a_value_without_effect(tool: str) -> None:
    schema = SCHEMAS[tool]
    sent = fill_arguments(schema, neutral=True)
    for name in schema.get("required", ()):
        sent[name] = fill_arguments(schema, neutral=False)[name]
    jsonschema.validate(sent, convert_strict(schema))
    read = read_arguments(sent, schema)

    plain = {name: sent[name] for name in schema.get("required", ())}
    defaults = {name for name, part in schema["properties"].items() if "default" in part}
    said = {
        name for name, value in read.items() if name not in plain and name not in defaults and value not in ("", [])
    }
    for name in said:
        part = schema["properties"][name]
        is_highest = part["type"] == "integer" and read[name] == part["maximum"]
        assert is_highest or part["type"] in ("boolean", "object"), f"{tool}.{name} says {read[name]!r}"
