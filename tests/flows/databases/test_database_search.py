"""Searches of any database."""

from typing import Any

import pytest
from canned_services import Canned, call_operation, run_canned, write_esearch_xml
from fixture_types import KitFor

from entrez_kit.base.errors import InvalidInput, UpstreamError
from entrez_kit.databases.search import SEARCH
from entrez_kit.sandbox.server import Sandbox


def test_a_result_has_uids_and_ncbis_translation_of_the_query(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(kit_for(sandbox), SEARCH, db="nuccore", term="human[orgn] NOT BRCA1[gene]")

    assert result.ids == ["990000101"]
    assert (result.total_found, result.retrieved_count) == (1, 1)
    assert result.query_translation == "human[Organism] NOT BRCA1[Gene Name]"
    assert "esearch.fcgi?db=nuccore" in result.esearch_url
    assert result.warnings == []


def test_no_results_are_not_an_error_and_dropped_words_are_named(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(kit_for(sandbox), SEARCH, db="mesh", term="qqqzz AND diabetes[foo]")

    assert result.ids == []
    assert {warning.code for warning in result.warnings} == {"phrase_not_found", "field_not_found"}
    assert result.missing_error() is None


def test_pages_have_no_overlap_and_no_gap(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    every = call_operation(kit, SEARCH, db="mesh", term="diabetes OR breast", max_results=100).ids
    pages = [
        uid
        for offset in range(0, len(every) + 2, 2)
        for uid in call_operation(kit, SEARCH, db="mesh", term="diabetes OR breast", max_results=2, offset=offset).ids
    ]

    assert pages == every
    assert len(set(every)) == len(every) > 6
    past = call_operation(kit, SEARCH, db="mesh", term="diabetes", offset=50)
    assert [warning.code for warning in past.warnings] == ["offset_beyond_results"]


def test_history_gives_handles_that_another_search_accepts(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    result = call_operation(kit, SEARCH, db="mesh", term="diabetes", use_history=True)

    assert result.web_env
    assert result.query_key == "1"
    kept = kit.eutils.esummary(db="mesh", webenv=result.web_env, query_key=result.query_key)
    assert kept.content.count(b"<DocumentSummary ") == 7


def test_more_records_than_one_reply_can_have_are_fetched_by_pages() -> None:
    every = [str(number) for number in range(25_000)]

    def esearch(retstart: int, retmax: int, **_: object) -> bytes:
        assert retmax <= 10_000
        return write_esearch_xml(len(every), every[retstart : retstart + retmax])

    services = Canned(esearch=esearch)
    result = run_canned(services, SEARCH, db="nuccore", term="x", max_results=22_000, offset=1_000)

    assert result.ids == every[1_000:23_000]
    assert result.missing_error() is None
    assert [parameters["retstart"] for parameters in services.requests("esearch")] == [1_000, 11_000, 21_000]


def test_an_interrupted_series_of_pages_is_a_partial_result() -> None:
    bodies = (write_esearch_xml(25_000, map(str, range(10_000))), write_esearch_xml(25_000))
    result = run_canned(Canned(esearch=bodies), SEARCH, db="nuccore", term="x", max_results=20_000)

    assert result.retrieved_count == 10_000
    missing_error = result.missing_error()
    assert isinstance(missing_error, UpstreamError)
    assert missing_error.details == {"reason": "incomplete", "partial": True, "missing": 10_000}


def test_results_that_pubmed_does_not_return_are_reported(kit_for: KitFor) -> None:
    with Sandbox(records=12_000, enforce_limits=False) as big:
        kit = kit_for(big)
        result = call_operation(kit, SEARCH, db="pubmed", term="all[sb]", max_results=100_000)

        assert result.total_found == 12_000
        assert result.retrieved_count == len(result.ids) == 9_999
        assert [warning.code for warning in result.warnings] == ["results_beyond_reach"]
        assert result.missing_error() is None
        last = call_operation(kit, SEARCH, db="pubmed", term="all[sb]", offset=9_990, max_results=20)
        assert last.ids == result.ids[9_990:]
        sent = big.requests()
        with pytest.raises(InvalidInput, match="first 9,999") as caught:
            call_operation(kit, SEARCH, db="pubmed", term="all[sb]", offset=9_999)
        assert "narrow the query by date" in caught.value.recovery_hint
        assert big.requests() == sent


def test_both_date_bounds_are_sent_if_one_is_given() -> None:
    services = Canned(esearch=write_esearch_xml(0))
    run_canned(services, SEARCH, db="gene", term="x", min_date="2020-5", date_type="mdat")

    sent = services.requests("esearch")[0]
    assert (sent["datetype"], sent["mindate"], sent["maxdate"]) == ("mdat", "2020/05", "3000")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"term": " "}, "term"),
        ({"max_results": 0}, "max_results"),
        ({"max_results": 100_001}, "max_results"),
        ({"offset": -1}, "offset"),
        ({"min_date": "last year", "date_type": "pdat"}, "min_date"),
        ({"min_date": "2020"}, "date_type"),
        ({"date_type": "pdat"}, "min_date"),
        ({"retmax": 5}, "retmax"),
    ],
)
def test_invalid_arguments_are_rejected_by_name(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        SEARCH.build({"db": "gene", "term": "x", **arguments})


def test_empty_optional_arguments_count_as_absent() -> None:
    assert SEARCH.build({"db": "gene", "term": "x", "sort": "", "minDate": "", "date_type": ""}).sort is None


def test_a_dropped_required_part_is_reported_before_the_uids(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(kit_for(sandbox), SEARCH, db="nuccore", term="human[orgn] AND BRCA1[foo]")
    document = result.model_dump(mode="json")

    assert result.ids
    assert (document["query_broadened"], document["strict_total"]) == (True, 0)
    assert list(document).index("query_broadened") < list(document).index("ids")
    assert "as written finds 0" in result.warnings[0].message


def test_a_part_in_the_translation_is_not_reported_as_dropped(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(kit_for(sandbox), SEARCH, db="nuccore", term="human[orgn] OR qqqzz[gene]")

    assert "qqqzz" in result.query_translation
    assert [warning.code for warning in result.warnings] == ["phrase_not_found"]
    assert "removed it" not in result.warnings[0].message
    assert result.query_broadened is None


def test_a_search_without_results_because_of_its_dates_names_the_dates(sandbox: Sandbox, kit_for: KitFor) -> None:
    found = call_operation(kit_for(sandbox), SEARCH, db="pubmed", term="crispr")
    empty = call_operation(kit_for(sandbox), SEARCH, db="pubmed", term="crispr", max_date="1900", date_type="pdat")

    assert empty.ids == []
    assert [warning.message for warning in empty.warnings] == [
        f"Without `min_date` and `max_date` the query finds {found.total_found} records."
    ]
