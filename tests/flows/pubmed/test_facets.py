"""Facets of a search: the counts, the number of records that were read, and warnings about incomplete counts."""

from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from fixture_types import KitFor

from entrez_kit.base.errors import InvalidInput, UpstreamError
from entrez_kit.core.operation import StreamOperation
from entrez_kit.pubmed.facets import COUNT_FACETS, Facet, FacetsResult
from entrez_kit.sandbox.server import Sandbox

RECORDS = Path(str(files("entrez_kit.fixtures"))) / "pubmed"


def run_facets(kit_for: KitFor, sandbox: Sandbox, **arguments: object) -> FacetsResult:
    return COUNT_FACETS.run(kit_for(sandbox).services, arguments)


def map_values(facet: Facet) -> dict[str, int]:
    return {value.value: value.count for value in facet.values}


def test_facets_count_the_values_of_the_records(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    pmids = kit.search_articles(query_term="crispr", max_results=100).pmids
    articles: list[Any] = [*(kit.fetch_contents(pmids=pmids).articles or [])]
    result = COUNT_FACETS.run(kit.services, {"query_term": "crispr", "top": 100})
    year, journal, kind, mesh = result.facets

    assert [facet.facet for facet in result.facets] == ["year", "journal", "type", "mesh"]
    assert (result.total_found, result.records_counted, result.complete) == (len(pmids), len(pmids), True)
    assert map_values(year) == Counter(str(article.journal_info.publication_date.year) for article in articles)
    assert map_values(journal) == Counter(
        article.journal_info.iso_abbreviation or article.journal_info.title for article in articles
    )
    assert map_values(kind) == Counter(name for article in articles for name in set(article.publication_types))
    assert map_values(mesh) == Counter(term.descriptor_name for article in articles for term in article.mesh_terms)
    assert mesh.without == sum(not article.mesh_terms for article in articles)
    assert [value.value for value in year.values] == sorted(map_values(year), reverse=True)
    assert [value.count for value in mesh.values] == sorted(map_values(mesh).values(), reverse=True)
    assert {value.ui for value in mesh.values if value.value == "Gene Editing"} == {"D000072669"}
    assert not [warning for warning in result.warnings if warning.code == "counted_in_part"]


def test_values_beyond_the_listed_ones_are_counted(sandbox: Sandbox, kit_for: KitFor) -> None:
    (whole,) = run_facets(kit_for, sandbox, query_term="crispr", facets=["mesh"], top=100).facets
    (some,) = run_facets(kit_for, sandbox, query_term="crispr", facets=["mesh"], top=2).facets

    assert some.values == whole.values[:2]
    assert some.other_values == len(whole.values) - 2


def test_a_sample_of_the_records_is_reported_and_years_are_counted_by_ncbi(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = run_facets(kit_for, sandbox, query_term="crispr", max_records=5, top=30)
    year, journal, *_ = result.facets

    assert (result.records_counted, result.complete) == (5, False)
    assert (journal.counted, journal.counted_by, sum(map_values(journal).values())) == (5, "records", 5)
    assert (year.counted, year.counted_by) == (result.total_found, "esearch")
    by_records = run_facets(kit_for, sandbox, query_term="crispr", facets=["year"], top=30).facets[0]
    assert set(map_values(by_records)) <= set(map_values(year)), (
        "a record counts in the year of its electronic date as well"
    )
    (warning,) = [warning for warning in result.warnings if warning.code == "counted_in_part"]
    assert f"5 most relevant of {result.total_found}" in warning.message


def test_years_before_the_listed_ones_are_counted_together(sandbox: Sandbox, kit_for: KitFor) -> None:
    (all_years,) = run_facets(kit_for, sandbox, query_term="crispr", facets=["year"], max_records=1, top=30).facets
    (some,) = run_facets(kit_for, sandbox, query_term="crispr", facets=["year"], max_records=1, top=4).facets

    assert some.earlier
    shown = set(map_values(some))
    assert shown < set(map_values(all_years))
    later = sum(count for name, count in map_values(all_years).items() if name not in shown)
    assert some.earlier <= later, "in the span before, a record counts once"


def test_no_results_have_empty_facets(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = run_facets(kit_for, sandbox, query_term="qqqzzz")

    assert (result.total_found, result.complete) == (0, True)
    assert [facet.values for facet in result.facets] == [[], [], [], []]


def test_the_query_is_checked_as_in_a_search(sandbox: Sandbox, kit_for: KitFor) -> None:
    with pytest.raises(InvalidInput):
        run_facets(kit_for, sandbox, query_term="(crispr")
    with pytest.raises(InvalidInput):
        run_facets(kit_for, sandbox, query_term="crispr", facets=["colour"])
    assert [facet.facet for facet in run_facets(kit_for, sandbox, query_term="crispr", facets="mesh,year").facets] == [
        "mesh",
        "year",
    ]


def test_records_that_do_not_arrive_are_a_partial_result(
    sandbox: Sandbox, kit_for: KitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = kit_for(sandbox)
    compute = StreamOperation.compute

    def answer_with_missing_record(operation: StreamOperation[Any, Any, Any], services: object, request: object) -> Any:
        result = compute(operation, services, request)  # type: ignore[arg-type]
        if operation.method != "search_articles":
            return result
        return result.model_copy(update={"pmids": [*result.pmids[:2], "12"], "total_found": 3})

    monkeypatch.setattr(StreamOperation, "compute", answer_with_missing_record)
    result = COUNT_FACETS.run(kit.services, {"query_term": "crispr"})

    assert (result.records_counted, result.complete) == (2, False)
    assert result.missing_error() is not None
    assert not isinstance(result.missing_error(), UpstreamError), "PubMed does not have this record"


def test_facets_of_a_broadened_query_have_the_warnings_of_a_search(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    found = kit.search_articles(query_term="crispr AND nosuchwordxyz")
    result = run_facets(kit_for, sandbox, query_term="crispr AND nosuchwordxyz", facets=["type"])

    assert (result.query_broadened, result.strict_total) == (True, 0)
    assert (result.query_broadened, result.strict_total) == (found.query_broadened, found.strict_total)
    assert "query_broadened" not in run_facets(kit_for, sandbox, query_term="crispr", facets=["type"]).model_dump()


def test_a_heading_without_an_identifier_is_counted_with_the_same_heading_that_has_one(
    kit_for: KitFor, tmp_path: Path
) -> None:
    records = (RECORDS / "genome_editing.xml").read_text(encoding="utf-8")
    place = tmp_path / "records.xml"
    place.write_text(records.replace('<DescriptorName UI="D000328"', "<DescriptorName", 1), encoding="utf-8")

    with Sandbox(enforce_limits=False) as whole, Sandbox(corpus=[place], enforce_limits=False) as sandbox:
        query = " OR ".join(kit_for(sandbox).search_articles(query_term="all[sb]", max_results=100).pmids)
        (mesh,) = run_facets(kit_for, sandbox, query_term=query, facets=["mesh"], top=100).facets
        (usual,) = run_facets(kit_for, whole, query_term=query, facets=["mesh"], top=100).facets

    assert usual == mesh
    assert map_values(mesh)["Adult"] > 1
