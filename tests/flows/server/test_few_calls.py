"""What saves an agent calls: brief records and counts beside a search, trees of headings, near organisms, Markdown."""

from typing import Any

import pytest
from serving import Json, connected, structured

from entrez_kit.server.clients import ServerServices

pytestmark = [pytest.mark.anyio, pytest.mark.long]


async def asked(services: ServerServices, era: str, tool: str, **arguments: Any) -> Json:
    async with connected(services, era=era) as client:
        return structured(await client.call_tool(tool, arguments))


async def test_a_search_brings_records_how_they_stand_and_pieces_of_their_abstracts(
    services: ServerServices, era: str
) -> None:
    arguments = {"query_term": "crispr", "fetch_brief_summaries": 3, "snippet_characters": 120}
    found = (await asked(services, era, "pubmed_search_articles", **arguments))["brief_summaries"]

    assert len(found) == 3
    for record in found:
        assert record["title"]
        assert record["retraction_status"]
        assert 0 < len(record["snippet"]) <= 120


async def test_one_call_counts_years_journals_types_and_headings(services: ServerServices, era: str) -> None:
    counts = await asked(services, era, "pubmed_count_facets", query_term="crispr", top=3)

    assert [one["facet"] for one in counts["facets"]] == ["year", "journal", "type", "mesh"]
    for one in counts["facets"]:
        assert 0 < len(one["values"]) <= 3, one["facet"]
        assert all(0 < value["count"] <= counts["total_found"] for value in one["values"])


async def test_a_tree_number_leads_to_the_heading_above_and_those_below(services: ServerServices, era: str) -> None:
    (heading,) = (await asked(services, era, "pubmed_lookup_mesh", query="C18.452.394.750.149", include_tree=True))[
        "results"
    ]

    assert "C18.452.394.750.149" in heading["tree_numbers"]
    assert heading["parents"]
    assert heading["children"]


async def test_an_organism_that_is_nearly_right_is_told_with_its_number(services: ServerServices, era: str) -> None:
    error = (await asked(services, era, "search_genes", query="TP53", organism="Mus musculs"))["error"]

    assert error["code"] == "AMBIGUOUS_QUERY"
    assert "Mus musculus (txid10090)" in f"{error['message']} {error['recovery_hint']}"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("pubmed_fetch_fulltext", {"pmids": ["99000001"]}),
        pytest.param("pubmed_format_citations", {"pmids": ["99000001"]}, marks=pytest.mark.process),
        ("get_gene", {"entrez_id": "NCBIGene:7157"}),
    ],
)
async def test_what_people_read_is_markdown_and_the_rest_compact(
    services: ServerServices, era: str, tool: str, arguments: Json
) -> None:
    async with connected(services, era=era) as client:
        read: Any = await client.call_tool(tool, arguments)
        other: Any = await client.call_tool("pubmed_convert_ids", {"ids": ["99000001"]})

    text = read.content[0].text
    assert "\n#" in f"\n{text}" or "\n- " in text
    assert not text.startswith("{")
    assert other.content[0].text.startswith('{"')
