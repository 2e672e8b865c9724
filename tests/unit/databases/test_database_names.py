"""Names of databases and the spellings of ids."""

import pytest
from canned_services import Canned, run_canned, write_einfo_xml

from entrez_kit.base.errors import InvalidInput, UpstreamError
from entrez_kit.databases.names import check_database, read_uid, to_entrez_uid
from entrez_kit.databases.search import SEARCH


@pytest.mark.parametrize(
    ("db", "text", "uid"),
    [
        ("gene", " 7157 ", "7157"),
        ("gene", "NCBIGene:7157", "7157"),
        ("gene", "007157", "7157"),
        ("gene", "TP53", None),
        ("pubmed", "PMID: 99000001", "99000001"),
        ("pubmed", "10.5555/x", None),
        ("pmc", "PMC123.2", "123"),
        ("pmc", "123", "123"),
        ("taxonomy", "txid9606", "9606"),
        ("taxonomy", "NCBITaxon:9606", "9606"),
        ("snp", "rs328", "328"),
        ("mesh", "D003924", "68003924"),
        ("mesh", "D000077594", None),
        ("nuccore", "NM_000546.6", "NM_000546.6"),
        ("nuccore", "gi|123|gb", "gi|123|gb"),
        ("nuccore", "a b", None),
        ("nuccore", "", None),
        ("nuccore", "0", None),
        ("gene", "99999999999999999999", None),
        ("gene", "７１５７", None),
        ("gene", "7157\n", "7157"),
    ],
)
def test_an_id_is_read_like_ncbi_reads_it(db: str, text: str, uid: str | None) -> None:
    assert read_uid(db, text) == uid


def test_only_identifiers_of_six_digits_have_an_entrez_uid() -> None:
    assert [to_entrez_uid(ui) for ui in ("D009203", "q000379", "C535339", "D000077594", "x")] == [
        "68009203",
        "81000379",
        "67535339",
        None,
        None,
    ]


@pytest.mark.parametrize("name", ["", "Gene!", "x", "db=gene", "gene;protein"])
def test_an_invalid_database_name_is_rejected_before_any_request(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        SEARCH.build({"db": name, "term": "x"})

    assert caught.value.invalid_input == f"db={name}"


def test_a_database_that_ncbi_does_not_list_is_rejected_with_a_similar_name() -> None:
    services = Canned(einfo=write_einfo_xml("pubmed", "nuccore", "clinvar"))

    with pytest.raises(InvalidInput, match="clinva") as caught:
        run_canned(services, SEARCH, db="clinva", term="x")

    assert caught.value.reason == "unknown_database"
    assert "clinvar" in caught.value.recovery_hint
    assert "entrez_info" in caught.value.recovery_hint
    assert [name for name, _ in services.asked] == ["einfo"]


def test_permanent_names_and_an_unavailable_list_do_not_fail_a_call() -> None:
    services = Canned(einfo=UpstreamError("down"))

    check_database(services, "gene")  # type: ignore[arg-type]
    assert services.asked == []
    check_database(services, "clinvar")  # type: ignore[arg-type]
    check_database(Canned(einfo=write_einfo_xml("nuccore")), "nucleotide")  # type: ignore[arg-type]
