"""PubMed records over the real transport, from the sandbox."""

from typing import Any

import pytest
from drifting_service import drift, repeat_first_reply
from fixture_types import KitFor

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntityNotFound, InvalidInput, UpstreamError
from entrez_kit.pubmed.fetch import FETCH_CONTENTS
from entrez_kit.pubmed.models import Article
from entrez_kit.sandbox.server import Sandbox


def _list_articles(kit: EntrezKit, pmids: list[str]) -> list[Article]:
    found = kit.fetch_contents(pmids=pmids).articles or []
    return [article for article in found if isinstance(article, Article)]


MIX = {"429": 0.05, "500": 0.02, "truncate": 0.05, "html": 0.10, "error200": 0.05, "cut": 0.05, "query1": 0.05}


@pytest.fixture
def pmids(sandbox: Sandbox, kit_for: KitFor) -> list[str]:
    return kit_for(sandbox).search_articles(query_term="humans[mh]", max_results=5).pmids


def test_records_are_in_the_order_of_the_inputs(sandbox: Sandbox, kit_for: KitFor, pmids: list[str]) -> None:
    requested = [pmids[3], pmids[0], pmids[4]]
    result = kit_for(sandbox).fetch_contents(pmids=requested)

    assert result.articles is not None
    assert [article.pmid for article in result.articles] == requested
    assert result.requested_pmids == requested
    assert result.not_found_pmids == []
    assert result.outcomes == []
    assert result.efetch_details.request_method == "GET"


def test_every_input_has_an_outcome_in_its_place(sandbox: Sandbox, kit_for: KitFor, pmids: list[str]) -> None:
    result = kit_for(sandbox).fetch_contents(pmids=[pmids[0], "98999999", "TP53", pmids[0], f"PMID:{pmids[1]}"])

    assert [(outcome.input, outcome.status) for outcome in result.outcomes] == [
        (pmids[0], "found"),
        ("98999999", "not_found"),
        ("TP53", "invalid"),
        (pmids[0], "found"),
        (f"PMID:{pmids[1]}", "found"),
    ]
    assert result.articles is not None
    assert [article.pmid for article in result.articles] == [pmids[0], pmids[0], pmids[1]]
    assert result.not_found_pmids == ["98999999"]
    missing_error = result.missing_error()
    assert isinstance(missing_error, EntityNotFound)
    assert missing_error.details["partial"] is True
    assert [entry["input"] for entry in missing_error.details["missing"]] == ["98999999", "TP53"]


def test_only_missing_records_are_not_found_and_not_partial(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = kit_for(sandbox).fetch_contents(pmids=["98999999", "98999998"])

    missing_error = result.missing_error()
    assert result.articles == []
    assert isinstance(missing_error, EntityNotFound)
    assert missing_error.details["partial"] is False


def test_only_invalid_inputs_are_invalid_input(sandbox: Sandbox, kit_for: KitFor) -> None:
    assert isinstance(kit_for(sandbox).fetch_contents(pmids=["TP53"]).missing_error(), InvalidInput)


def test_pmcids_and_dois_are_converted(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    in_pmc = kit.search_articles(query_term="free full text[filter]", max_results=1).pmids
    article = _list_articles(kit, in_pmc)[0]
    assert article.pmcid
    assert article.doi
    result = kit.fetch_contents(
        pmids=[article.pmcid, f"https://doi.org/{article.doi.upper()}", "10.5555/no.such.doi", "PMC1"]
    )

    assert result.articles is not None
    assert [item.pmid for item in result.articles] == [article.pmid, article.pmid]
    assert [outcome.status for outcome in result.outcomes] == ["found", "found", "not_found", "not_found"]


def test_a_doi_that_the_converter_does_not_know_is_searched_in_pubmed(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    articles = _list_articles(kit, kit.search_articles(query_term="humans[mh]", max_results=40).pmids)
    outside_pmc = next(article for article in articles if article.doi and not article.pmcid)

    result = kit.fetch_contents(pmids=[str(outside_pmc.doi)])

    assert result.articles is not None
    assert [article.pmid for article in result.articles] == [outside_pmc.pmid]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"query_key": "1"}, "web_env"),
        ({"web_env": "MCID_1"}, "query_key"),
        ({}, "pmids"),
        ({"pmids": ["1"], "query_key": "1", "web_env": "MCID_1"}, "pmids"),
        ({"pmids": ["1"], "retstart": 0}, "retstart"),
        ({"pmids": ["1"], "retmax": 5}, "retmax"),
        ({"query_key": "1", "web_env": "MCID_1", "retmax": 0}, "retmax"),
        ({"query_key": "1", "web_env": "MCID_1", "retstart": -1}, "retstart"),
        ({"pmids": ["1"], "detail_level": "everything"}, "detail_level"),
    ],
)
def test_contradictory_arguments_are_rejected_with_the_field(arguments: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        FETCH_CONTENTS.build(arguments)

    assert named in caught.value.message
    assert (caught.value.invalid_input or "").startswith(f"{named}=")


def test_a_repeated_page_of_a_result_set_is_a_partial_result(
    sandbox: Sandbox, kit_for: KitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.pubmed.history_fetcher.BATCH", 5)
    kit = kit_for(sandbox)
    found = kit.search_articles(query_term="crispr", use_history=True)
    drift(sandbox, "efetch", repeat_first_reply())

    result = kit.fetch_contents(query_key=found.query_key, web_env=found.web_env, retmax=10)

    assert result.articles is not None
    assert len({article.pmid for article in result.articles}) == len(result.articles) == 5
    missing_error = result.missing_error()
    assert isinstance(missing_error, UpstreamError)
    assert missing_error.details["partial"] is True


def test_history_without_retmax_returns_the_first_200_and_the_total(kit_for: KitFor) -> None:
    with Sandbox(records=450, enforce_limits=False) as big:
        kit = kit_for(big)
        found = kit.search_articles(query_term="all[sb]", use_history=True)
        first = kit.fetch_contents(query_key=found.query_key, web_env=found.web_env)
        rest = kit.fetch_contents(query_key=found.query_key, web_env=found.web_env, retstart=200, retmax=1_000)

    assert first.articles is not None
    assert rest.articles is not None
    assert len(first.articles) == 200
    assert any("450" in warning.message for warning in first.warnings)
    assert len(rest.articles) == 250
    assert not {article.pmid for article in first.articles} & {article.pmid for article in rest.articles}


def test_each_detail_level_returns_its_own_fields(sandbox: Sandbox, kit_for: KitFor, pmids: list[str]) -> None:
    kit = kit_for(sandbox)
    documents = {
        level: kit.fetch_contents(pmids=pmids[:1], detail_level=level).model_dump(mode="json")["articles"][0]
        for level in ("abstract_plus", "citation_data", "full_xml", "medline_text")
    }

    assert {"pmid", "title", "record_type", "url", "retraction_status"} <= set(documents["abstract_plus"])
    assert set(documents["citation_data"]) <= {"pmid", "title", "authors", "journal_info", "doi", "mesh_terms"}
    assert set(documents["full_xml"]) == {"pmid", "full_xml_content"}
    assert documents["medline_text"]["medline_text"].lstrip().startswith("PMID-")


def test_raw_text_of_xml_and_medline_is_ncbis_unchanged_text(
    sandbox: Sandbox, kit_for: KitFor, pmids: list[str]
) -> None:
    from xml.etree import ElementTree

    kit = kit_for(sandbox)
    xml = kit.fetch_contents(pmids=[*pmids[:2], "98999999"], detail_level="full_xml", output_format="raw_text")
    text = kit.fetch_contents(pmids=pmids[:2], detail_level="medline_text", output_format="raw_text")

    assert xml.articles is None
    assert xml.articles_returned == 2
    assert xml.not_found_pmids == ["98999999"]
    root = ElementTree.fromstring(xml.content or "")
    assert [element.findtext(".//PMID") for element in root] == pmids[:2]
    assert (text.content or "").count("PMID- ") == 2


def test_raw_text_of_a_parsed_level_returns_json_with_a_warning(
    sandbox: Sandbox, kit_for: KitFor, pmids: list[str]
) -> None:
    result = kit_for(sandbox).fetch_contents(pmids=pmids[:1], output_format="raw_text")

    assert result.articles
    assert [warning.code for warning in result.warnings] == ["raw_text_ignored"]


def test_mesh_terms_and_grants_depend_on_the_flags(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    funded = kit.search_articles(query_term="humans[mh]", max_results=60).pmids
    plain = kit.fetch_contents(pmids=funded, include_mesh_terms=False).model_dump(mode="json")["articles"]
    rich = kit.fetch_contents(pmids=funded, include_grant_info=True).model_dump(mode="json")["articles"]

    assert not any("mesh_terms" in article or "grant_list" in article for article in plain)
    assert any("mesh_terms" in article for article in rich)
    assert any("grant_list" in article for article in rich)


@pytest.mark.long
def test_five_thousand_records_arrive_despite_every_fault(kit_for: KitFor) -> None:
    with Sandbox(records=5_000, enforce_limits=False, faults=MIX, seed=7, most_faults_in_a_row=3) as faulty:
        kit = kit_for(faulty)
        requested = kit.search_articles(query_term="all[sb]", max_results=5_000).pmids
        result = kit.fetch_contents(pmids=requested, detail_level="citation_data")

    assert len(requested) == 5_000
    assert result.articles is not None
    assert [article.pmid for article in result.articles] == requested
    assert result.missing_error() is None
    assert faulty.faults.struck["query1"] > 0


@pytest.mark.long
@pytest.mark.parametrize("detail_level", ["citation_data", "medline_text"])
def test_an_outage_of_some_batches_loses_no_record(detail_level: Any, kit_for: KitFor) -> None:
    requested = [str(number) for number in range(99_100_001, 99_101_001)]
    with Sandbox(records=1_000, enforce_limits=False) as flaky:
        kit = kit_for(flaky, ncbi_max_retries=1)
        kit.fetch_contents(pmids=requested[:200], detail_level=detail_level)
        flaky.fail_next("503", endpoint="efetch", times=7)
        result = kit.fetch_contents(pmids=requested, detail_level=detail_level)

    assert result.articles is not None
    assert [article.pmid for article in result.articles] == requested


def test_ids_that_efetch_does_not_return_but_a_search_finds_are_not_missing_records(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    kit = kit_for(sandbox)
    pmid = kit.search_articles(query_term="humans[mh]", max_results=1).pmids[0]
    sandbox.fail_next("noids", endpoint="efetch", times=50)
    with pytest.raises(UpstreamError) as caught:
        kit.fetch_contents(pmids=[pmid])

    assert "Empty id list" in caught.value.message


def test_a_service_that_never_answers_is_an_error_and_not_an_empty_result(kit_for: KitFor) -> None:
    with Sandbox(records=10, enforce_limits=False, faults={"html": 1.0}) as broken:
        kit = kit_for(broken, ncbi_max_retries=1)
        with pytest.raises(UpstreamError) as caught:
            kit.fetch_contents(pmids=["99100001", "99100002"])

    assert caught.value.details["missing"] == ["99100001", "99100002"]


def test_medline_text_of_unknown_pmids_is_not_found_and_its_remark_is_not_a_record(
    sandbox: Sandbox, kit_for: KitFor, pmids: list[str]
) -> None:
    kit = kit_for(sandbox)
    mixed = kit.fetch_contents(pmids=[pmids[0], "98999999", pmids[1]], detail_level="medline_text")
    unknown = kit.fetch_contents(pmids=["98999999"], detail_level="medline_text")

    assert [outcome.status for outcome in mixed.outcomes] == ["found", "not_found", "found"]
    assert [outcome.status for outcome in unknown.outcomes] == ["not_found"]
    assert "98999999" not in str(mixed.articles)


@pytest.mark.long
def test_a_repeated_fetch_after_a_failure_requests_only_the_missing_records(kit_for: KitFor) -> None:
    requested = [str(number) for number in range(99_100_001, 99_101_501)]
    with Sandbox(records=1_500, enforce_limits=False) as flaky:
        kit = kit_for(flaky, ncbi_max_retries=0)
        kit.fetch_contents(pmids=requested[:1_000])
        before = flaky.requests("efetch")
        result = kit.fetch_contents(pmids=requested)

    assert result.articles is not None
    assert [article.pmid for article in result.articles] == requested
    assert flaky.requests("efetch") == before + 1


def test_no_result_set_is_stored_at_ncbi_without_a_request_for_it(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    found = kit.search_articles(query_term="crispr", fetch_brief_summaries=5)
    kit.fetch_contents(pmids=found.pmids)

    sent = [dict(entry.params) for entry in sandbox.log]
    assert sandbox.requests("epost") == 0
    assert len(sent) == 3
    assert not any(
        {"WebEnv", "query_key"} & set(parameters) or parameters.get("usehistory") == "y" for parameters in sent
    )
