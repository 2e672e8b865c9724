"""Links between databases: one linkset per source, in the order of the sources."""

from typing import Any

import pytest
from canned_services import (
    Canned,
    call_operation,
    run_canned,
    write_einfo_xml,
    write_elink_xml,
    write_linkset,
    write_summaries_json,
)
from fixture_types import KitFor

from entrez_kit.base.errors import EntityNotFound, InvalidInput, RateLimited, UpstreamError
from entrez_kit.databases.link import LINK
from entrez_kit.sandbox.server import Sandbox


def list_statuses(result: Any) -> list[tuple[str, str]]:
    return [(item.source_id, item.status) for item in result.linksets]


def map_links(result: Any) -> dict[str, list[str]]:
    return {item.source_id: [link.id for link in item.links] for item in result.linksets}


def test_each_source_has_its_own_linkset_in_the_given_order(sandbox: Sandbox, kit_for: KitFor) -> None:
    ids = ["672", "7157", "999999", "22059", "TP53", "NCBIGene:7157", "672"]
    result = call_operation(kit_for(sandbox), LINK, ids=ids, source="gene", target="pubmed")

    assert list_statuses(result) == list(
        zip(ids, ["linked", "linked", "not_found", "no_links", "invalid", "linked", "linked"], strict=True)
    )
    assert result.linksets[0].links[0].model_dump() == {"id": "99000033", "link_name": "gene_pubmed"}
    assert map_links(result)["NCBIGene:7157"] == map_links(result)["7157"] == ["99000034", "99000031"]
    assert sandbox.entries("elink")[0].params.count(("id", "672")) == 1
    missing_error = result.missing_error()
    assert isinstance(missing_error, EntityNotFound)
    assert missing_error.details["partial"] is True
    assert [item["id"] for item in missing_error.details["missing"]] == ["999999", "TP53"]


@pytest.mark.parametrize(
    ("source", "target", "source_id", "expected"),
    [
        ("pubmed", "pmc", "99000001", ["99000001", "99000018", "99000004", "99000003", "99000002"]),
        ("pmc", "pubmed", "PMC99000001", ["99000001", "99000007"]),
        ("gene", "pubmed", "672", ["99000033", "99000032", "99000030"]),
        ("nuccore", "gene", "ZZ900001.1", ["7157"]),
        ("nuccore", "taxonomy", "990000103", ["10090"]),
    ],
)
def test_links_connect_any_two_databases(
    sandbox: Sandbox, kit_for: KitFor, source: str, target: str, source_id: str, expected: list[str]
) -> None:
    result = call_operation(kit_for(sandbox), LINK, ids=[source_id], source=source, target=target)

    assert map_links(result) == {source_id: expected}


def test_linksets_may_arrive_in_any_order_and_some_only_after_a_second_request() -> None:
    services = Canned(
        elink=[
            write_elink_xml(write_linkset("3", "30"), write_linkset("1", "10", "11")),
            write_elink_xml(write_linkset("2", "20")),
        ],
        esummary=write_summaries_json(["1", "2", "3"]),
    )
    result = run_canned(services, LINK, ids=["1", "2", "3"], source="gene", target="pubmed")

    assert map_links(result) == {"1": ["10", "11"], "2": ["20"], "3": ["30"]}
    assert [parameters["ids"] for parameters in services.requests("elink")] == [["1", "2", "3"], ["2"]]


def test_a_source_without_an_answer_is_an_error_and_not_without_links() -> None:
    services = Canned(elink=write_elink_xml(write_linkset("1", "10")), esummary=write_summaries_json(["2"]))
    result = run_canned(services, LINK, ids=["1", "2"], source="gene", target="pubmed")

    assert list_statuses(result) == [("1", "linked"), ("2", "error")]
    assert isinstance(result.missing_error(), UpstreamError)


def test_an_invalid_id_does_not_shift_the_linksets_of_the_others() -> None:
    services = Canned(
        elink=write_elink_xml(write_linkset(""), write_linkset("1", "10"), write_linkset("2")),
        esummary=write_summaries_json(["2"]),
    )
    result = run_canned(services, LINK, ids=["1", "2"], source="gene", target="pubmed")

    assert list_statuses(result) == [("1", "linked"), ("2", "no_links")]


def test_links_of_ids_that_do_not_exist_are_detected_on_request() -> None:
    def make_services() -> Canned:
        return Canned(
            elink=write_elink_xml(write_linkset("1", "10"), write_linkset("2", "20")),
            esummary=write_summaries_json(["1"], absent=["2"]),
        )

    assert list_statuses(run_canned(make_services(), LINK, ids=["1", "2"], source="gene", target="pubmed")) == [
        ("1", "linked"),
        ("2", "linked"),
    ]
    checked = run_canned(make_services(), LINK, ids=["1", "2"], source="gene", target="pubmed", verify=True)
    assert list_statuses(checked) == [("1", "linked"), ("2", "not_found")]
    assert checked.linksets[1].links == []


def test_merged_linksets_are_an_upstream_error() -> None:
    body = b"<eLinkResult><LinkSet><DbFrom>gene</DbFrom><IdList><Id>1</Id><Id>2</Id></IdList></LinkSet></eLinkResult>"

    with pytest.raises(UpstreamError, match="merged"):
        run_canned(Canned(elink=body), LINK, ids=["1", "2"], source="gene", target="pubmed")


def test_scores_are_ncbis_unchanged_scores(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(
        kit_for(sandbox), LINK, ids=["99000001"], target="pubmed", link_name="pubmed_pubmed", scores=True
    )
    links = result.linksets[0].links

    assert all(link.score > 0 for link in links)
    assert [link.score for link in links] == sorted((link.score for link in links), reverse=True)
    assert {link.link_name for link in links} == {"pubmed_pubmed"}


def test_links_are_returned_without_scores_if_these_do_not_arrive_in_time() -> None:
    def elink(cmd: str, deadline_ms: int | None, ids: list[str], **_: object) -> bytes:
        if cmd == "neighbor_score":
            assert deadline_ms == 10_000
            raise UpstreamError("no answer in time", details={"reason": "deadline_exceeded"})
        return write_elink_xml(*(write_linkset(uid, "10") for uid in ids))

    services = Canned(elink=elink)
    ids = [str(number) for number in range(150)][1:]
    result = run_canned(services, LINK, ids=ids, source="gene", target="pubmed", scores=True)

    assert {item.status for item in result.linksets} == {"linked"}
    assert [warning.code for warning in result.warnings] == ["scores_unavailable"]
    assert [parameters["cmd"] for parameters in services.requests("elink")] == [
        "neighbor_score",
        "neighbor",
        "neighbor",
    ]


def test_an_unknown_link_name_is_an_error_and_not_an_empty_linkset(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    elsewhere = call_operation(kit, LINK, ids=["99000001"], link_name="pubmed_pubmed_refs")
    nowhere = call_operation(kit, LINK, ids=["7157"], source="gene", target="mesh")
    unknown = call_operation(kit, LINK, ids=["7157"], source="gene", target="pubmed", link_name="gene_pubmed_all")

    assert [warning.code for result in (elsewhere, nowhere, unknown) for warning in result.warnings] == [
        "unknown_link"
    ] * 3
    assert "leads to pubmed" in elsewhere.warnings[0].message
    assert "only to: clinvar, nuccore, pubmed, taxonomy" in nowhere.warnings[0].message
    assert "not in NCBI's list" in unknown.warnings[0].message
    assert "gene_pubmed" in unknown.warnings[0].message


def test_an_unknown_database_is_rejected_with_the_name_of_its_argument() -> None:
    for field in ("source", "target"):
        services = Canned(einfo=write_einfo_xml("pubmed", "clinvar"), elink=write_elink_xml(write_linkset("1")))
        with pytest.raises(InvalidInput) as caught:
            run_canned(services, LINK, ids=["1"], **{"source": "pubmed", "target": "pubmed", field: "clinvarr"})
        assert caught.value.invalid_input == f"{field}=clinvarr"


@pytest.mark.parametrize("error", [UpstreamError("down"), RateLimited("too fast")])
def test_no_answer_raises_the_error(error: Exception) -> None:
    with pytest.raises(type(error)):
        run_canned(Canned(elink=error), LINK, ids=["1"], source="gene", target="pubmed")


def test_a_source_whose_existence_cannot_be_checked_is_an_error() -> None:
    services = Canned(
        elink=write_elink_xml(write_linkset("1", "10"), write_linkset("2")), esummary=UpstreamError("down")
    )
    result = run_canned(services, LINK, ids=["1", "2"], source="gene", target="pubmed")

    assert list_statuses(result) == [("1", "linked"), ("2", "error")]


def test_only_missing_sources_are_not_found_and_only_invalid_ones_are_invalid_input(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    kit = kit_for(sandbox)
    missing = call_operation(kit, LINK, ids=["999", "998"], source="gene", target="pubmed").missing_error()
    invalid = call_operation(kit, LINK, ids=["TP53"], source="gene", target="pubmed").missing_error()

    assert isinstance(missing, EntityNotFound)
    assert missing.details["partial"] is False
    assert isinstance(invalid, InvalidInput)


@pytest.mark.long
def test_five_hundred_sources_are_complete_despite_every_fault(kit_for: KitFor) -> None:
    faults = {"429": 0.05, "500": 0.05, "truncate": 0.05, "html": 0.1, "error200": 0.1, "cut": 0.05}
    with Sandbox(records=500, enforce_limits=False, faults=faults, seed=5) as faulty:
        kit = kit_for(faulty)
        ids = kit.search_articles(query_term="all[sb]", max_results=500).pmids
        result = call_operation(kit, LINK, ids=ids)

    assert [item.source_id for item in result.linksets] == ids
    assert {item.status for item in result.linksets} == {"linked", "no_links"}
