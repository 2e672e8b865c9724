"""Replies that save an agent calls: brief records and counts with a search, MeSH trees, similar organisms, Markdown."""

from typing import Any

import pytest
from mcp_helpers import Json, connect, read_structured

from entrez_kit.server.clients import ServerServices

pytestmark = [pytest.mark.anyio, pytest.mark.long]


async def call_tool(services: ServerServices, era: str, tool: str, **arguments: Any) -> Json:
    async with connect(services, era=era) as client:
        return read_structured(await client.call_tool(tool, arguments))


async def test_a_search_returns_records_with_their_standing_and_snippets_of_their_abstracts(
    services: ServerServices, era: str
) -> None:
    arguments = {"query_term": "crispr", "fetch_brief_summaries": 3, "snippet_characters": 120}
    found = (await call_tool(services, era, "pubmed_search_articles", **arguments))["brief_summaries"]

    assert len(found) == 3
    for record in found:
        assert record["title"]
        assert record["retraction_status"]
        assert 0 < len(record["snippet"]) <= 120


async def test_summaries_have_types_comments_and_on_request_trial_registrations(
    services: ServerServices, era: str
) -> None:
    found = await call_tool(services, era, "pubmed_search_articles", query_term="base editing", registrations=True)
    related = await call_tool(
        services, era, "pubmed_article_relationships", source_pmid="99000001", registrations=True, max_related_results=9
    )
    plain = await call_tool(services, era, "pubmed_article_relationships", source_pmid="99000001")

    for records in (found["brief_summaries"], related["related_articles"]):
        (trial,) = (record for record in records if record["pmid"] == "99000004")
        assert "Randomized Controlled Trial" in trial["publication_types"]
        assert [(one["kind"], one["pmid"]) for one in trial["comments"]] == [("CommentIn", "99000008")]
        assert trial["data_banks"] == [{"name": "ClinicalTrials.gov", "accession_numbers": ["NCT99000001"]}]
    assert not [one for one in plain["related_articles"] if "data_banks" in one]


async def test_one_call_counts_years_journals_types_and_headings(services: ServerServices, era: str) -> None:
    counts = await call_tool(services, era, "pubmed_count_facets", query_term="crispr", top=3)

    assert [count["facet"] for count in counts["facets"]] == ["year", "journal", "type", "mesh"]
    for one in counts["facets"]:
        assert 0 < len(one["values"]) <= 3, one["facet"]
        assert all(0 < value["count"] <= counts["total_found"] for value in one["values"])


async def test_a_tree_number_gives_the_heading_above_and_those_below(services: ServerServices, era: str) -> None:
    (heading,) = (await call_tool(services, era, "pubmed_lookup_mesh", query="C18.452.394.750.149", include_tree=True))[
        "results"
    ]

    assert "C18.452.394.750.149" in heading["tree_numbers"]
    assert heading["parents"]
    assert heading["children"]


async def test_an_organism_with_a_small_mistake_is_searched_with_a_warning(services: ServerServices, era: str) -> None:
    page = await call_tool(services, era, "search_genes", query="TP53", organism="homo sapeins")

    assert [one["symbol"] for one in page["items"]] == ["TP53"]
    (told,) = (one for one in page["warnings"] if one["code"] == "organism_corrected")
    assert "txid9606" in told["message"]


async def test_choices_are_accepted_in_any_case(services: ServerServices, era: str) -> None:
    newest = await call_tool(services, era, "pubmed_search_articles", query_term="crispr", sort_by="Pub Date")
    usual = await call_tool(services, era, "pubmed_search_articles", query_term="crispr", sort_by="pub_date")

    assert newest["pmids"] == usual["pmids"]


async def test_requested_fields_without_a_value_are_empty_and_disabled_fields_are_fetched(
    services: ServerServices, era: str
) -> None:
    fields = ["grant_list", "corrections", "vernacular_title", "abstract_text"]
    arguments = {"pmids": ["99000001"], "detail_level": "citation_data", "fields": fields}
    (record,) = (await call_tool(services, era, "pubmed_fetch_contents", **arguments))["articles"]

    assert record["grant_list"]
    assert record["abstract_text"]
    assert (record["corrections"], record["vernacular_title"]) == ([], None)
    assert set(record) == {*fields, "pmid", "pmcid"}


async def test_sections_are_returned_without_the_abstract_and_affiliations(services: ServerServices, era: str) -> None:
    arguments = {"pmids": ["99000001"], "sections": ["methods"]}
    (part,) = (await call_tool(services, era, "pubmed_fetch_fulltext", **arguments))["articles"]
    (whole,) = (await call_tool(services, era, "pubmed_fetch_fulltext", pmids=["99000001"]))["articles"]
    (named,) = (await call_tool(services, era, "pubmed_fetch_fulltext", pmids=["99000001"], sections=["Abstract"]))[
        "articles"
    ]

    assert {"abstract", "affiliations"} <= set(whole) & set(named)
    assert not {"abstract", "affiliations"} & set(part)
    assert part["sections"]


async def test_a_wrong_title_has_a_lower_similarity_than_a_shortened_one(services: ServerServices, era: str) -> None:
    right = "Base editing of a cryptic splice site restores mucus transport in human airway cells"
    place = {"journal": "Ann Imaginary Genome Ed (Demo)", "year": "2019", "volume": "3", "first_page": "101"}
    titles = [right, "Base editing of a cryptic splice site", "Base edting of a cryptic splice site restores mucus"]
    citations = [{**place, "title": title} for title in (*titles, "Rice genomes under drought")]
    found = (await call_tool(services, era, "pubmed_lookup_citation", citations=citations))["results"]

    exact, shortened, misspelt, wrong = (one.get("similarity") for one in found)
    assert exact == shortened == 1
    assert wrong < 0.6 < misspelt < 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("pubmed_fetch_fulltext", {"pmids": ["99000001"]}),
        pytest.param("pubmed_format_citations", {"pmids": ["99000001"]}, marks=pytest.mark.process),
        ("get_gene", {"entrez_id": "NCBIGene:7157"}),
    ],
)
async def test_results_for_people_are_markdown_and_the_others_are_compact(
    services: ServerServices, era: str, tool: str, arguments: Json
) -> None:
    async with connect(services, era=era) as client:
        read: Any = await client.call_tool(tool, arguments)
        other: Any = await client.call_tool("pubmed_convert_ids", {"ids": ["99000001"]})

    text = read.content[0].text
    assert "\n#" in f"\n{text}", text
    assert not text.startswith("{")
    assert other.content[0].text.startswith('{"')
