"""Conversion of PMID, PMCID and DOI: one outcome per input, in order."""

import json
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from fixture_types import KitFor
from prepared_reply import prepare_reply
from pubmed_files import write_record

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, UpstreamError
from entrez_kit.pubmed.convert import CONVERT, ConvertResult
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.record_batches import RecordBatches
from entrez_kit.pubmed.resolution import PER_SEARCH, parse_converted, search_pubmed
from entrez_kit.pubmed.xml.records import Record
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services import Services
from entrez_kit.services.transport import Reply


def run_convert(kit: EntrezKit, *ids: str, **arguments: Any) -> ConvertResult:
    return CONVERT.run(kit.services, {"ids": list(ids), **arguments})


def list_rows(result: ConvertResult) -> list[tuple[str, str, str | None, str | None]]:
    return [(record.requested_id, record.status, record.pmid, record.pmcid) for record in result.records]


def test_ids_of_mixed_kinds_have_one_outcome_each_in_order(sandbox: Sandbox, kit_for: KitFor) -> None:
    ids = ["10.5555/ekit.2025.0006", "99000001", "nonsense", "12", "PMC99000002", "99000001"]
    result = run_convert(kit_for(sandbox), *ids)

    assert list_rows(result) == [
        ("10.5555/ekit.2025.0006", "found", "99000006", "PMC99000005"),
        ("99000001", "found", "99000001", "PMC99000001"),
        ("nonsense", "invalid", None, None),
        ("12", "not_found", None, None),
        ("PMC99000002", "found", "99000002", "PMC99000002"),
        ("99000001", "found", "99000001", "PMC99000001"),
    ]
    assert (result.total_converted, result.total_submitted) == (4, 6)
    assert [record.id_type for record in result.records] == ["doi", "pmid", None, "pmid", "pmcid", "pmid"]
    missing_error = result.missing_error()
    assert isinstance(missing_error, EntityNotFound)
    assert missing_error.details["partial"] is True
    assert [item["requested_id"] for item in missing_error.details["missing"]] == ["nonsense", "12"]


@pytest.mark.parametrize(
    "spelling",
    [
        "99000001",
        "PMID:99000001",
        "pmc99000001",
        "PMC99000001.2",
        "doi:10.5555/ekit.2019.0001",
        "https://doi.org/10.5555/EKIT.2019.0001",
        "https://pubmed.ncbi.nlm.nih.gov/99000001/",
        "https://www.doi.org/10.5555/ekit.2019.0001?utm_source=mail",
        "https://www.ncbi.nlm.nih.gov/pubmed/?term=99000001",
    ],
)
def test_every_spelling_of_an_id_gives_the_same_article(sandbox: Sandbox, kit_for: KitFor, spelling: str) -> None:
    record = run_convert(kit_for(sandbox), spelling).records[0]

    assert (record.requested_id, record.pmid, record.pmcid, record.doi) == (
        spelling,
        "99000001",
        "PMC99000001",
        "10.5555/ekit.2019.0001",
    )


def test_dois_that_differ_only_in_case_are_requested_once(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = run_convert(kit_for(sandbox), "10.5555/ekit.2019.0001", "10.5555/EKIT.2019.0001")

    assert [record.pmid for record in result.records] == ["99000001", "99000001"]
    assert [record.requested_id for record in result.records] == ["10.5555/ekit.2019.0001", "10.5555/EKIT.2019.0001"]
    assert [entry.get("ids") for entry in sandbox.entries("idconv")] == ["10.5555/ekit.2019.0001"]
    assert sandbox.requests("efetch") == 0


def fetch_articles(kit: EntrezKit, *ids: str) -> list[Article]:
    return [article for article in kit.fetch_contents(pmids=list(ids)).articles or [] if isinstance(article, Article)]


def find_outside_pmc(kit: EntrezKit) -> Article:
    found = kit.search_articles(query_term='all[sb] NOT "pubmed pmc"[sb]', max_results=60).pmids
    return next(article for article in fetch_articles(kit, *found) if article.doi)


def test_an_article_outside_pmc_is_found_in_pubmed(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    article = find_outside_pmc(kit)
    result = run_convert(kit, article.pmid, (article.doi or "").upper())

    assert [(record.status, record.pmid, record.doi, record.pmcid, record.note) for record in result.records] == [
        ("found", article.pmid, article.doi, None, "in PubMed, not in PMC")
    ] * 2


def test_during_an_outage_of_the_converter_pubmed_is_searched(sandbox: Sandbox, kit_for: KitFor) -> None:
    sandbox.take_down("idconv")
    result = run_convert(kit_for(sandbox), "99000001", "PMC99000002", "10.5555/ekit.2025.0006")

    assert [(record.pmid, record.pmcid) for record in result.records] == [
        ("99000001", "PMC99000001"),
        ("99000002", "PMC99000002"),
        ("99000006", "PMC99000005"),
    ]
    assert sandbox.requests("idconv") == 1


def test_ids_that_only_pmc_could_have_are_errors_during_an_outage_of_the_converter(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    sandbox.take_down("idconv")
    result = run_convert(kit_for(sandbox), "99000001", "12", "PMC1", "10.5555/nothing")

    assert [record.status for record in result.records] == ["found", "not_found", "error", "error"]
    assert isinstance(result.missing_error(), UpstreamError)


def test_an_outage_of_both_services_is_an_error(sandbox: Sandbox, kit_for: KitFor) -> None:
    sandbox.take_down("idconv", "efetch", "esearch")

    with pytest.raises(UpstreamError):
        run_convert(kit_for(sandbox), "99000001", "PMC1")


def test_only_invalid_inputs_are_invalid_input_and_only_unknown_ones_are_not_found(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    kit = kit_for(sandbox)

    invalid = run_convert(kit, "TP53", "", "PMC0", "https://pmc.ncbi.nlm.nih.gov/articles/PMC0/").missing_error()
    assert isinstance(invalid, InvalidInput)
    unknown = run_convert(kit, "12", "PMC1").missing_error()
    assert isinstance(unknown, EntityNotFound)
    assert unknown.details["partial"] is False


@pytest.mark.parametrize(
    ("id_type", "given", "status"),
    [
        ("pmcid", "99000001", "found"),
        ("pmcid", "PMC99000001", "found"),
        ("pmid", "PMC99000001", "invalid"),
        ("doi", "99000001", "invalid"),
        ("pmid", "99000001", "found"),
    ],
)
def test_the_kind_of_the_ids_can_be_given(
    sandbox: Sandbox, kit_for: KitFor, id_type: str, given: str, status: str
) -> None:
    assert run_convert(kit_for(sandbox), given, id_type=id_type).records[0].status == status


def test_faults_do_not_change_the_result(kit_for: KitFor) -> None:
    faults = {"429": 0.1, "500": 0.1, "truncate": 0.1, "html": 0.1, "cut": 0.1}
    with Sandbox(enforce_limits=False, faults=faults, seed=11) as faulty:
        result = run_convert(kit_for(faulty), "99000001", "PMC99000002", "12", "10.5555/ekit.2025.0006")

    assert [record.status for record in result.records] == ["found", "found", "not_found", "found"]


@pytest.mark.long
def test_more_ids_than_the_converter_accepts_are_sent_in_batches(kit_for: KitFor) -> None:
    with Sandbox(records=450, enforce_limits=False) as big:
        kit = kit_for(big)
        ids = kit.search_articles(query_term="all[sb]", max_results=450).pmids
        result = run_convert(kit, *ids)

        sent = big.entries("idconv")
        assert [len((entry.get("ids") or "").split(",")) for entry in sent] == [150, 150, 150]
        assert {entry.status for entry in sent} == {200}
    assert [record.pmid for record in result.records] == ids


# Replies that the sandbox does not give


class PreparedConverter:
    """A converter with prepared records, and a PubMed without records."""

    def __init__(self, answer: Callable[[list[str], str], list[Mapping[str, Any]]]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, list[str]]] = []
        self.idconv = SimpleNamespace(at_once=1, convert=self.convert)
        self.eutils = SimpleNamespace(
            at_once=1,
            esummary=self.esummary,
            esearch=lambda **_: prepare_reply("esearch", b"<eSearchResult><Count>0</Count><IdList/></eSearchResult>"),
            efetch=self.efetch,
            known_uids=lambda db, ids: set(),
        )

    def convert(self, ids: list[str], idtype: str, read: Any) -> Reply:
        self.asked.append((idtype, list(ids)))
        records = self.answer(list(ids), idtype)
        known = {str(record.get("requested-id", "")).lower() for record in records}
        errors = [{"requested-id": one, "errmsg": "not found"} for one in ids if one.lower() not in known]
        return prepare_reply("idconv", json.dumps({"records": [*records, *errors]}).encode(), read)

    def esummary(self, ids: list[str], read: Any, **_: Any) -> Reply:
        content = json.dumps({"result": {"uids": ids, **{one: {} for one in ids}}}).encode()
        return prepare_reply("esummary", content, read)

    def efetch(self, ids: list[str], read: Any, **_: Any) -> Reply:
        raise EntityNotFound("none of the ids")

    def run(self, *ids: str) -> ConvertResult:
        return CONVERT.compute(self, CONVERT.build({"ids": list(ids)}))  # type: ignore[arg-type]


def make_record(pmid: str, *, doi: str = "", pmc: str = "", invalid: str = "") -> str:
    located = f'<ELocationID EIdType="doi" ValidYN="N">{invalid}</ELocationID>' if invalid else ""
    return write_record(pmid, more=located, ids={"pubmed": pmid, "doi": doi, "pmc": pmc})


class ConverterWithPubMed(PreparedConverter):
    """A converter with prepared records, and a PubMed that finds its records by their DOIs."""

    def __init__(self, answer: Callable[[list[str], str], list[Mapping[str, Any]]], **records: dict[str, str]) -> None:
        super().__init__(answer)
        self.records = {name.lstrip("p"): fields for name, fields in records.items()}
        self.eutils = SimpleNamespace(
            at_once=1,
            esearch=self.esearch,
            efetch=self.efetch,
            esummary=self.esummary,
            known_uids=lambda db, ids: set(),
        )

    def esearch(self, term: str, **_: Any) -> Reply:
        wanted = term.lower()
        found = [
            pmid
            for pmid, fields in self.records.items()
            if any(f'"{value.lower()}"' in wanted for value in fields.values())
        ]
        listed = "".join(f"<Id>{pmid}</Id>" for pmid in found)
        content = f"<eSearchResult><Count>{len(found)}</Count><IdList>{listed}</IdList></eSearchResult>"
        return prepare_reply("esearch", content.encode())

    def efetch(self, ids: list[str], read: Any, **_: Any) -> Reply:
        found = "".join(make_record(pmid, **self.records[pmid]) for pmid in ids if pmid in self.records)
        return prepare_reply("efetch", f"<PubmedArticleSet>{found}</PubmedArticleSet>".encode(), read)

    def esummary(self, ids: list[str], read: Any, **_: Any) -> Reply:
        documents: dict[str, Any] = {"uids": ids}
        for pmid in ids:
            fields = self.records.get(pmid)
            listed = [
                {"idtype": kind, "value": (fields or {}).get(name)}
                for kind, name in (("doi", "doi"), ("pmc", "pmc"))
                if fields and fields.get(name)
            ]
            documents[pmid] = (
                {"uid": pmid, "articleids": [{"idtype": "pubmed", "value": pmid}, *listed], "title": "T"}
                if fields
                else {"uid": pmid, "error": "cannot get document summary"}
            )
        return prepare_reply("esummary", json.dumps({"result": documents}).encode(), read)


def test_a_doi_that_pubmed_marks_as_invalid_is_converted_with_a_note() -> None:
    library = ConverterWithPubMed(lambda ids, _: [], p99000001={"doi": "10.5555/right", "invalid": "10.5555/Wrong"})

    found = library.run("10.5555/wrong").records[0]

    assert (found.status, found.pmid, found.doi) == ("found", "99000001", "10.5555/right")
    assert "PubMed marks this DOI as invalid" in (found.note or "")


def test_a_reply_of_the_converter_about_another_id_is_ignored() -> None:
    library = ConverterWithPubMed(
        lambda ids, kind: [{"requested-id": one, kind: "10.5555/b", "pmid": 99000002, "pmcid": "PMC2"} for one in ids],
        p99000001={"doi": "10.5555/a"},
    )

    known, unknown = library.run("10.5555/a", "10.5555/c").records

    assert (known.status, known.pmid) == ("found", "99000001")
    assert unknown.status == "error"
    assert "10.5555/b" in (unknown.message or "")


@pytest.mark.parametrize(
    "records",
    [
        [{"requested-id": "1", "pmid": 2, "pmcid": "PMC2"}, {"requested-id": "2", "pmid": 1, "pmcid": "PMC1"}],
        [{"requested-id": "1", "pmid": 1, "pmcid": "PMC1"}],
        [{"requested-id": "1", "pmid": 1, "pmcid": "PMC1"}, {"requested-id": "3", "pmid": 3, "pmcid": "PMC3"}],
        [{"requested-id": "1", "pmid": 1, "pmcid": "PMC1"}] * 2,
        [{"requested-id": "1", "pmid": 1, "pmcid": "PMC1"}, {"requested-id": "2"}],
    ],
    ids=["shifted", "one missing", "another", "twice", "hollow"],
)
def test_records_of_ids_that_were_not_requested_are_refused(records: list[dict[str, Any]]) -> None:
    with pytest.raises(UpstreamError):
        parse_converted(json.dumps({"records": records}).encode(), "pmid", ["1", "2"])


@pytest.mark.parametrize(
    ("asked", "records", "pmid", "said"),
    [
        ("10.5555/a", {"p99000007": {"doi": "10.5555/z"}, "p99000001": {"doi": "10.5555/a"}}, "99000001", "10.5555/z"),
        ("10.5555/a", {"p99000007": {"doi": "10.5555/z"}}, "99000007", "10.5555/z"),
        ("99000007", {"p99000007": {"doi": "10.5555/z", "pmc": "PMC8"}}, "99000007", "DOI 10.5555/a, PubMed 10.5555/z"),
        ("99000007", {"p99000007": {"doi": "10.5555/a", "pmc": "PMC8"}}, "99000007", "PMCID PMC7, PubMed PMC8"),
        ("10.5555/a", {"p99000001": {"doi": "10.5555/a"}}, "99000001", "PMID 99000007, which PubMed does not have"),
    ],
)
def test_a_conversion_is_compared_with_the_record_in_pubmed(
    asked: str, records: dict[str, dict[str, str]], pmid: str, said: str
) -> None:
    library = ConverterWithPubMed(
        lambda ids, _: [{"requested-id": one, "pmid": 99000007, "pmcid": "PMC7", "doi": "10.5555/a"} for one in ids],
        **records,
    )

    found = library.run(asked).records[0]

    assert (found.status, found.pmid) == ("found", pmid)
    assert said in (found.note or "")


def test_a_not_found_message_names_only_the_services_that_were_requested() -> None:
    def answer(ids: list[str], kind: str) -> list[Mapping[str, Any]]:
        raise InvalidInput("400")

    refused, comma = ConverterWithPubMed(answer).run("10.5555/x", "10.5555/a,b").records

    assert (refused.status, comma.status) == ("not_found", "not_found")
    assert "PubMed" in (refused.message or "")
    assert "PMC" not in (refused.message or "") + (comma.message or "")


def test_an_input_that_is_not_an_identifier_is_not_reported_as_unknown(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)

    partial, mixed = (
        run_convert(kit, "99000001", "nonsense").missing_error(),
        run_convert(kit, "12", "nonsense").missing_error(),
    )

    assert partial is not None
    assert mixed is not None
    assert partial.details["partial"] is True
    assert "nonsense" in partial.message
    assert "12" in mixed.message
    assert "nonsense" not in mixed.message


def test_a_doi_with_a_quotation_mark_is_searched() -> None:
    library = ConverterWithPubMed(lambda ids, _: [])
    terms: list[str] = []

    def esearch(term: str, **_: Any) -> Reply:
        terms.append(term)
        return library.esearch(term)

    library.eutils.esearch = esearch
    library.run('10.5555/a"b')

    assert terms == ['"10.5555/a b"[aid]']


def test_an_article_that_is_only_in_pmc_has_no_pmid_and_a_note() -> None:
    services = PreparedConverter(lambda ids, _: [{"requested-id": one, "pmcid": one, "doi": "10.5/x"} for one in ids])
    record = services.run("PMC7").records[0]

    assert record.model_dump() == {
        "requested_id": "PMC7",
        "id_type": "pmcid",
        "status": "found",
        "pmcid": "PMC7",
        "doi": "10.5/x",
        "note": "in PMC, not in PubMed",
    }


def test_an_id_that_the_converter_refuses_does_not_fail_the_others() -> None:
    def answer(ids: list[str], kind: str) -> list[Mapping[str, Any]]:
        if "10.5555/odd;one" in ids:
            raise InvalidInput("400")
        return [{"requested-id": one.upper(), "pmid": 7, "pmcid": "PMC7.1", "doi": one} for one in ids]

    result = PreparedConverter(answer).run("10.5555/a", "10.5555/odd;one", "10.5555/b", "10.5555/c")

    assert [(record.status, record.pmid, record.pmcid) for record in result.records] == [
        ("found", "7", "PMC7"),
        ("not_found", None, None),
        ("found", "7", "PMC7"),
        ("found", "7", "PMC7"),
    ]


def test_records_are_matched_by_their_requested_id_and_not_by_their_position() -> None:
    services = PreparedConverter(
        lambda ids, _: [{"requested-id": one, "pmcid": f"PMC{one}", "pmid": int(one)} for one in "31"]
    )

    assert [(record.pmid, record.pmcid) for record in services.run("1", "2", "3").records] == [
        ("1", "PMC1"),
        (None, None),
        ("3", "PMC3"),
    ]


def test_a_fetch_by_many_dois_sends_addresses_short_enough_for_the_converter(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    known = fetch_articles(kit, *kit.search_articles(query_term="all[sb]", max_results=70).pmids)
    dois = [article.doi for article in known if article.doi]
    fetched = fetch_articles(kit, *dois)

    assert len(dois) > 40
    assert [article.doi for article in fetched] == dois
    assert {entry.status for entry in sandbox.entries("idconv")} == {200}


def _find_outside_pmc(kit: EntrezKit) -> dict[str, str]:
    """Return the PMIDs of articles by their DOIs, which the converter does not know."""
    known = fetch_articles(kit, *kit.search_articles(query_term="all[sb]", max_results=200).pmids)
    return {article.doi: article.pmid for article in known if article.doi and not article.pmcid}


def test_the_records_of_several_searches_are_fetched_by_one_request(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    known = _find_outside_pmc(kit)
    searches, fetches = sandbox.requests("esearch"), sandbox.requests("efetch")
    fetched = fetch_articles(kit, *known)

    assert len(known) > PER_SEARCH
    assert {article.doi: article.pmid for article in fetched} == known
    assert sandbox.requests("esearch") - searches == -(-len(known) // PER_SEARCH)
    assert sandbox.requests("efetch") - fetches == 1


def test_a_record_that_ncbi_cannot_return_leaves_the_other_dois_resolved(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    known = _find_outside_pmc(kit)
    bad = next(iter(known))
    reader = RecordBatches(kit.services)

    def read(pmids: Sequence[str]) -> list[Record]:
        if known[bad] in pmids:
            raise UpstreamError("The reply is broken.", details={"reason": "invalid_response"})
        return reader.fetch_by_pmid(pmids)

    found = search_pubmed(kit.services, list(known), "doi", read)

    assert isinstance(found.pop(bad), UpstreamError)
    assert found == {doi: pmid for doi, pmid in known.items() if doi != bad}


def test_a_fetch_by_dois_that_differ_only_in_case_converts_one(sandbox: Sandbox, kit_for: KitFor) -> None:
    fetched = fetch_articles(kit_for(sandbox), "10.5555/EKIT.2019.0001", "10.5555/ekit.2019.0001")

    assert [article.pmid for article in fetched] == ["99000001", "99000001"]
    assert [entry.get("ids") for entry in sandbox.entries("idconv")] == ["10.5555/EKIT.2019.0001"]


@pytest.mark.parametrize(
    "body", [b"", b"<html/>", b"{}", b'{"records": null}', b'{"records": {}}', b"[]", b'{"records": "x"}']
)
def test_a_reply_without_records_is_an_upstream_error(body: bytes) -> None:
    with pytest.raises(UpstreamError):
        parse_converted(body, "pmid")


def test_an_empty_list_of_ids_raises_a_typed_error(sandbox: Sandbox, kit_for: KitFor) -> None:
    with pytest.raises(EntrezKitError):
        CONVERT.run(Services(kit_for(sandbox).settings), {"ids": []})
