"""Whole records of any database in NCBI's formats."""

from typing import Any
from xml.etree import ElementTree

import pytest
from canned_services import Canned, call_operation, list_outcomes, run_canned, write_summaries_json
from fixture_types import KitFor

from entrez_kit.base.errors import EntityNotFound, InvalidInput, UpstreamError
from entrez_kit.databases.fetch import FETCH
from entrez_kit.sandbox.server import Sandbox


def test_fasta_is_ncbis_unchanged_text(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    result = call_operation(kit, FETCH, db="nuccore", ids=["990000101", "ZZ900002.2"], rettype="fasta", retmode="text")

    own = kit.eutils.efetch(db="nuccore", ids=["990000101", "ZZ900002.2"], rettype="fasta", retmode="text")
    assert result.content.encode() == own.content
    assert result.content.startswith(">ZZ900001.1 Homo sapiens")
    assert result.model_dump(mode="json") == {
        "db": "nuccore",
        "ids": ["990000101", "ZZ900002.2"],
        "rettype": "fasta",
        "retmode": "text",
        "content": result.content,
    }


@pytest.mark.parametrize(
    ("db", "ids", "rettype", "retmode", "start"),
    [
        ("nuccore", ["990000101"], "gb", "text", "LOCUS       ZZ900001"),
        ("nuccore", ["990000101"], "gb", "xml", "<?xml"),
        ("taxonomy", ["txid9606"], None, "xml", "<?xml"),
        ("gene", ["NCBIGene:7157"], None, "xml", "<?xml"),
        ("mesh", ["D009203"], None, "text", "\n1: Myocardial Infarction"),
        ("pubmed", ["99000001"], "medline", "text", "\nPMID- 99000001"),
        ("pmc", ["PMC99000001"], None, "xml", "<?xml"),
    ],
)
def test_each_database_has_its_own_formats(
    sandbox: Sandbox, kit_for: KitFor, db: str, ids: list[str], rettype: str | None, retmode: str, start: str
) -> None:
    result = call_operation(kit_for(sandbox), FETCH, db=db, ids=ids, rettype=rettype, retmode=retmode)

    assert result.content.startswith(start)
    assert result.missing_error() is None


def test_ids_without_a_record_are_named_and_the_others_are_fetched(sandbox: Sandbox, kit_for: KitFor) -> None:
    ids = ["990000102", "990000999", "ZZ900001.1", "ZZ999999.9", "no id!", "990000102"]
    result = call_operation(kit_for(sandbox), FETCH, db="nuccore", ids=ids, rettype="acc", retmode="text")

    assert result.content.split() == ["ZZ900002.2", "ZZ900001.1"]
    assert list_outcomes(result) == list(
        zip(ids, ["found", "not_found", "found", "not_found", "invalid", "found"], strict=True)
    )
    assert result.not_found_ids == ["990000999", "ZZ999999.9"]
    missing_error = result.missing_error()
    assert isinstance(missing_error, EntityNotFound)
    assert missing_error.details["partial"] is True


def test_an_accession_that_only_efetch_knows_is_fetched() -> None:
    """For example, SRA runs have no summary under their accession."""

    def efetch(ids: list[str], **_: object) -> bytes:
        return "".join(f"<{uid}>\n" for uid in ids).encode()

    def esummary(ids: list[str], **_: object) -> bytes:
        if ids != ["1"]:
            raise EntityNotFound("Invalid uid")
        return write_summaries_json(ids)

    services = Canned(einfo=UpstreamError("down"), esummary=esummary, efetch=efetch)
    result = run_canned(services, FETCH, db="sra", ids=["SRR000001", "1"])

    assert result.content == "<SRR000001>\n<1>\n"
    assert result.outcomes == []


def test_an_accession_with_a_summary_but_no_record_is_a_failure_and_not_missing() -> None:
    services = Canned(
        esummary=lambda ids, **_: write_summaries_json(["8"], caption="ZZ900001", accessionversion="ZZ900001.1"),
        efetch=EntityNotFound("Empty id list"),
    )
    with pytest.raises(UpstreamError) as caught:
        run_canned(services, FETCH, db="nuccore", ids=["ZZ900001.1"], rettype="fasta", retmode="text")

    assert caught.value.reason == "contradiction"


def test_no_record_found_raises_an_error_that_names_every_id(sandbox: Sandbox, kit_for: KitFor) -> None:
    with pytest.raises(EntityNotFound) as caught:
        call_operation(kit_for(sandbox), FETCH, db="taxonomy", ids=["999999", "999998"])

    assert [item["id"] for item in caught.value.details["missing"]] == ["999999", "999998"]
    assert sandbox.requests("efetch") == 0
    with pytest.raises(InvalidInput):
        call_operation(kit_for(sandbox), FETCH, db="taxonomy", ids=["mouse"])


def test_an_unknown_format_is_invalid_input(sandbox: Sandbox, kit_for: KitFor) -> None:
    with pytest.raises(InvalidInput, match="rettype"):
        call_operation(kit_for(sandbox), FETCH, db="nuccore", ids=["990000101"], rettype="fastq", retmode="text")
    with pytest.raises(InvalidInput, match="rettype"):
        FETCH.build({"db": "nuccore", "ids": ["1"], "rettype": "fa sta&x=1"})


@pytest.mark.long
def test_many_records_are_one_content_in_the_order_of_the_ids(kit_for: KitFor) -> None:
    with Sandbox(records=650, enforce_limits=False) as big:
        kit = kit_for(big)
        ids = list(reversed(kit.search_articles(query_term="all[sb]", max_results=650).pmids))
        xml = call_operation(kit, FETCH, db="pubmed", ids=ids, retmode="xml")
        text = call_operation(kit, FETCH, db="pubmed", ids=ids, rettype="uilist", retmode="text")

    root = ElementTree.fromstring(xml.content)
    assert [element.findtext("MedlineCitation/PMID") for element in root] == ids
    assert text.content.split() == ids
    assert xml.warnings == []


def test_records_that_cannot_be_fetched_are_errors_and_the_others_are_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entrez_kit.core.batches.time.sleep", lambda seconds: None)
    ids = [str(number) for number in range(1, 401)]

    def efetch(ids: list[str], **_: object) -> bytes:
        if {"7", "200"} & set(ids):
            raise UpstreamError("broke")
        return b"".join(b"x\n" for _ in ids)

    services = Canned(esummary=lambda ids, **_: write_summaries_json(ids), efetch=efetch)
    result = run_canned(services, FETCH, db="gene", ids=ids, retmode="text")

    assert result.content.count("x") == 398
    assert [outcome.id for outcome in result.outcomes if outcome.status == "error"] == ["7", "200"]
    assert isinstance(result.missing_error(), UpstreamError)


def test_an_outage_of_efetch_raises_an_error() -> None:
    services = Canned(esummary=write_summaries_json(["1"]), efetch=UpstreamError("down"))

    with pytest.raises(UpstreamError, match="down"):
        run_canned(services, FETCH, db="gene", ids=["1"])


def test_without_summaries_all_ids_are_fetched_with_a_warning_that_they_were_not_checked() -> None:
    services = Canned(esummary=UpstreamError("down"), efetch=b"records\n")
    result = run_canned(services, FETCH, db="gene", ids=["1", "2"])

    assert result.content == "records\n"
    assert [warning.code for warning in result.warnings] == ["not_verified"]
    assert result.missing_error() is None


def test_text_in_another_encoding_keeps_every_character() -> None:
    latin = '<?xml version="1.0" encoding="ISO-8859-1"?><R>Müller</R>'.encode("latin-1")
    services = Canned(esummary=write_summaries_json(["1"]), efetch=latin)

    assert "Müller" in run_canned(services, FETCH, db="gene", ids=["1"]).content
    broken = Canned(esummary=write_summaries_json(["1"]), efetch=b"caf\xe9\n")
    assert run_canned(broken, FETCH, db="gene", ids=["1"]).content == "café\n"


def test_the_first_records_are_returned_before_the_last_are_requested() -> None:
    requested: list[str] = []

    def efetch(ids: list[str], **_: object) -> bytes:
        requested.extend(ids)
        return f"<S>{''.join(f'<R>{uid}</R>' for uid in ids)}</S>\n".encode()

    ids = [str(number) for number in range(1, 2101)]
    services: Any = Canned(esummary=lambda ids, **_: write_summaries_json(ids), efetch=efetch)
    stream = FETCH.stream(services, {"db": "gene", "ids": ids})
    walk = iter(stream)
    assert requested == []

    first = next(walk)
    assert first.outcome.id == "1"
    assert len(requested) == 1_000

    text = first.content + "".join(item.content for item in walk)
    assert [record.text for record in ElementTree.fromstring(text)] == ids
    assert stream.warnings == []
    assert text == run_canned(services, FETCH, db="gene", ids=ids).content
