"""Document summaries: one outcome per id."""

import pickle

import pytest
from canned_services import Canned, call_operation, list_outcomes, run_canned, write_summaries_json
from fixture_types import KitFor

from entrez_kit.base.errors import EntityNotFound, InvalidInput, RateLimited, UpstreamError
from entrez_kit.databases.summary import SUMMARY
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services.esummary_reply import parse_documents, parse_esummary


def test_summaries_are_in_the_order_of_the_ids_with_duplicates(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(kit_for(sandbox), SUMMARY, db="taxonomy", ids=["10090", "9606", "10090"])

    assert [summary["scientificname"] for summary in result.summaries] == [
        "Mus musculus",
        "Homo sapiens",
        "Mus musculus",
    ]
    assert result.outcomes == []
    assert result.missing_error() is None
    assert sandbox.entries("esummary")[0].get("id") == "10090,9606"


def test_every_id_has_an_outcome_in_its_place(sandbox: Sandbox, kit_for: KitFor) -> None:
    ids = ["7157", "999", "TP53", "NCBIGene:672", "7157"]
    result = call_operation(kit_for(sandbox), SUMMARY, db="gene", ids=ids)

    assert list_outcomes(result) == list(zip(ids, ["found", "not_found", "invalid", "found", "found"], strict=True))
    assert [summary["name"] for summary in result.summaries] == ["TP53", "BRCA1", "TP53"]
    assert result.not_found_ids == ["999"]
    missing_error = result.missing_error()
    assert isinstance(missing_error, EntityNotFound)
    assert missing_error.details["partial"] is True
    assert [item["id"] for item in missing_error.details["missing"]] == ["999", "TP53"]


def test_incomplete_results_with_equal_fields_are_equal_also_after_pickling(sandbox: Sandbox, kit_for: KitFor) -> None:
    first, second = (call_operation(kit_for(sandbox), SUMMARY, db="gene", ids=["7157", "999"]) for _ in range(2))

    assert first == second
    assert pickle.loads(pickle.dumps(first)) == first
    assert pickle.loads(pickle.dumps(first)).missing_error().details == first.missing_error().details
    assert first != call_operation(kit_for(sandbox), SUMMARY, db="gene", ids=["7157"])


def test_accessions_are_returned_under_their_requested_names(sandbox: Sandbox, kit_for: KitFor) -> None:
    ids = ["ZZ900002.2", "zz900001", "990000103", "ZZ999999.1", "ZZ900002"]
    result = call_operation(kit_for(sandbox), SUMMARY, db="nuccore", ids=ids)

    assert list_outcomes(result) == list(zip(ids, ["found", "found", "found", "not_found", "found"], strict=True))
    assert [summary["uid"] for summary in result.summaries] == ["990000102", "990000101", "990000103", "990000102"]


def test_an_accession_that_ncbi_refuses_does_not_fail_the_others(sandbox: Sandbox, kit_for: KitFor) -> None:
    bad = [f"ZZ99{number}.1" for number in range(3)]
    ids = [f"ZZ90000{number}.{2 if number == 2 else 1}" for number in range(1, 7)]
    result = call_operation(kit_for(sandbox), SUMMARY, db="nuccore", ids=[bad[0], *ids[:3], bad[1], *ids[3:], bad[2]])

    assert len(result.summaries) == 6
    assert result.not_found_ids == bad
    before = len(sandbox.entries("esummary"))
    numbers = call_operation(
        kit_for(sandbox, no_cache=True), SUMMARY, db="nuccore", ids=["990000101", "ZZ1.1", "990000102"]
    )
    requested = [entry.get("id") for entry in sandbox.entries("esummary")][before:]
    assert requested == [
        "990000101,990000102",
        *["ZZ1.1"] * 3,
    ]  # a refusal of NCBI is requested again before it is accepted
    assert len(numbers.summaries) == 2


def test_only_unknown_ids_are_not_found_and_only_invalid_ids_are_invalid_input(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    kit = kit_for(sandbox)
    unknown = call_operation(kit, SUMMARY, db="taxonomy", ids=["999999", "999998"]).missing_error()
    invalid = call_operation(kit, SUMMARY, db="taxonomy", ids=["mouse"]).missing_error()

    assert isinstance(unknown, EntityNotFound)
    assert unknown.details["partial"] is False
    assert isinstance(invalid, InvalidInput)
    assert not isinstance(invalid, EntityNotFound)


@pytest.mark.long
def test_more_ids_than_esummary_accepts_are_sent_in_batches(kit_for: KitFor) -> None:
    with Sandbox(records=1_300, enforce_limits=False) as big:
        kit = kit_for(big)
        ids = kit.search_articles(query_term="all[sb]", max_results=1_300).pmids
        result = call_operation(kit, SUMMARY, db="pubmed", ids=ids)

        sent = [(entry.method, len((entry.get("id") or "").split(","))) for entry in big.entries("esummary")]
    assert [summary["uid"] for summary in result.summaries] == ids
    assert sorted(sent) == [("GET", 100)] + [("POST", 200)] * 6


@pytest.mark.long
@pytest.mark.parametrize(("method", "endpoint"), [("entrez_summary", "esummary"), ("entrez_link", "elink")])
def test_the_first_ids_are_answered_before_the_last_are_requested(method: str, endpoint: str, kit_for: KitFor) -> None:
    with Sandbox(records=1_300, enforce_limits=False) as big:
        kit = kit_for(big)
        ids = kit.search_articles(query_term="all[sb]", max_results=1_300).pmids
        database = {"db": "pubmed"} if method == "entrez_summary" else {"source": "pubmed", "target": "pmc"}
        items = getattr(kit.stream, method)(ids=ids, **database)
        walk = iter(items)
        first = next(walk)
        requested = big.requests(endpoint)
        rest = list(walk)

        assert 0 < requested < big.requests(endpoint)
    assert len([first, *rest]) == len(ids)
    assert items.missing_error() is None


def test_an_id_without_an_answer_is_requested_again_and_then_an_error() -> None:
    services = Canned(esummary=[write_summaries_json(["1", "3"]), write_summaries_json(["2"])])
    assert run_canned(services, SUMMARY, db="gene", ids=["1", "2", "3"]).outcomes == []

    services = Canned(esummary=write_summaries_json(["1", "3"]))
    result = run_canned(services, SUMMARY, db="gene", ids=["1", "2", "3"])
    assert list_outcomes(result) == [("1", "found"), ("2", "error"), ("3", "found")]
    assert isinstance(result.missing_error(), UpstreamError)


def test_a_failed_batch_is_an_error_only_for_its_ids(no_waiting: None) -> None:
    first, second = [str(n) for n in range(1, 201)], [str(n) for n in range(201, 301)]
    services = Canned(esummary=[UpstreamError("broke"), write_summaries_json(second)])
    result = run_canned(services, SUMMARY, db="gene", ids=[*first, *second])

    assert len(result.summaries) == 100
    assert {outcome.status for outcome in result.outcomes[:200]} == {"error"}
    missing_error = result.missing_error()
    assert isinstance(missing_error, UpstreamError)
    assert missing_error.details["partial"] is True


@pytest.mark.parametrize("error", [UpstreamError("down"), RateLimited("too fast")])
def test_no_answer_raises_the_error(error: Exception) -> None:
    with pytest.raises(type(error)):
        run_canned(Canned(esummary=error), SUMMARY, db="gene", ids=["1", "2"])


def test_faults_do_not_change_the_result(kit_for: KitFor) -> None:
    faults = {"429": 0.1, "500": 0.1, "truncate": 0.1, "html": 0.1, "error200": 0.1, "cut": 0.1}
    with Sandbox(enforce_limits=False, faults=faults, seed=3) as faulty:
        result = call_operation(kit_for(faulty), SUMMARY, db="taxonomy", ids=["9606", "5", "10090"])

    assert list_outcomes(result) == [("9606", "found"), ("5", "not_found"), ("10090", "found")]


@pytest.mark.parametrize("arguments", [{"ids": []}, {"ids": ["1"] * 10_001}, {"ids": "1"}, {}])
def test_an_invalid_number_of_ids_is_rejected(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="ids"):
        SUMMARY.build({"db": "gene", **arguments})


@pytest.mark.parametrize("body", [b"{}", b'{"result": []}', b"[1]", b"{broken", b"<x/>", b""])
def test_a_reply_that_is_not_a_summary_is_an_upstream_error(body: bytes) -> None:
    with pytest.raises(UpstreamError):
        parse_documents(parse_esummary(body))
