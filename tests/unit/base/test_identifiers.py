"""Identifiers in every form in which people write them."""

import pytest

from entrez_kit.base.identifiers import normalize_doi, read_identifier


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("12345", "pmid", "12345"),
        (" 12345 ", "pmid", "12345"),
        ("PMID:12345", "pmid", "12345"),
        ("pmid: 12345", "pmid", "12345"),
        ("PMID 12345", "pmid", "12345"),
        ("0012345", "pmid", "12345"),
        ("PMC123", "pmcid", "PMC123"),
        ("pmc123", "pmcid", "PMC123"),
        ("PMC123.1", "pmcid", "PMC123"),
        ("PMC:PMC123", "pmcid", "PMC123"),
        ("MED:123", "pmid", "123"),
        ("PMCID: PMC123", "pmcid", "PMC123"),
        ("10.5555/ekit.2024.1", "doi", "10.5555/ekit.2024.1"),
        ("doi:10.5555/ekit.2024.1", "doi", "10.5555/ekit.2024.1"),
        ("https://doi.org/10.5555/EKIT", "doi", "10.5555/EKIT"),
        ("http://dx.doi.org/10.5555/ekit%3C1%3E", "doi", "10.5555/ekit<1>"),
        (
            "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2",
            "doi",
            "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2",
        ),
        ("https://pubmed.ncbi.nlm.nih.gov/12345/", "pmid", "12345"),
        ("pubmed.ncbi.nlm.nih.gov/12345", "pmid", "12345"),
        ("https://pubmed.ncbi.nlm.nih.gov/12345/?from=x", "pmid", "12345"),
        ("https://www.ncbi.nlm.nih.gov/pubmed/12345", "pmid", "12345"),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/", "pmcid", "PMC123"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC123/pdf/", "pmcid", "PMC123"),
        ("https://europepmc.org/article/MED/12345", "pmid", "12345"),
        ("https://pubmed.ncbi.nlm.nih.gov/?term=12345", "pmid", "12345"),
        ("12345.", "pmid", "12345"),
        ("10.5555/ekit.2024.1.", "doi", "10.5555/ekit.2024.1"),
        ("(10.5555/ekit.2024.1)", "doi", "10.5555/ekit.2024.1"),
        ("10.5555/S0140-6736(24)1", "doi", "10.5555/S0140-6736(24)1"),
        ("https://doi.org/10.5555/ekit?utm_source=x", "doi", "10.5555/ekit"),
        ("https://europepmc.org/article/PMC/PMC123", "pmcid", "PMC123"),
        ("https://www.doi.org/10.5555/ekit.2024.1", "doi", "10.5555/ekit.2024.1"),
        ("www.doi.org/10.5555/ekit.2024.1", "doi", "10.5555/ekit.2024.1"),
        ("https://www.ncbi.nlm.nih.gov/pubmed/?term=12345", "pmid", "12345"),
        ("www.ncbi.nlm.nih.gov/pubmed?term=12345", "pmid", "12345"),
    ],
)
def test_every_written_form_of_an_identifier_is_read(text: str, kind: str, value: str) -> None:
    identifier = read_identifier(text)

    assert identifier is not None
    assert (identifier.kind, identifier.value, identifier.original) == (kind, value, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "TP53",
        "12345678901",
        "12345\n67",
        "１２３",
        "PMC",
        "PMC0",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC0/",
        "https://europepmc.org/article/PMC/PMC000",
        "10.5555",
        "10.5555/",
        "https://example.org/pubmed/12345",
        "https://[bad",
        "https://pubmed.ncbi.nlm.nih.gov/?term=asthma",
        "https://www.ncbi.nlm.nih.gov/gene/?term=12345",
        "-5",
        "1e5",
    ],
)
def test_text_that_is_not_an_identifier_is_rejected(text: str) -> None:
    assert read_identifier(text) is None


def test_a_pmcid_never_has_two_prefixes_and_is_never_built_from_a_pmid() -> None:
    assert read_identifier("PMCPMC123") is None
    plain = read_identifier("123")
    assert plain is not None
    assert plain.kind == "pmid"


@pytest.mark.parametrize(
    "text",
    [
        "10.5555/a?b",
        "doi:10.5555/a?b",
        "DOI 10.5555/a?b",
        "doi: doi:10.5555/a?b",
        "doi:https://doi.org/10.5555/a?b",
        "https://dx.doi.org/10.5555/a%3Fb",
        "www.doi.org/10.5555/a?b?utm_source=mail&utm_medium=x",
    ],
)
def test_a_doi_of_a_record_is_read_like_a_doi_of_a_user(text: str) -> None:
    identifier = read_identifier(text)

    assert identifier is not None
    assert identifier.value == normalize_doi(text) == "10.5555/a?b"


def test_a_text_that_only_begins_like_a_prefix_of_a_doi_is_kept() -> None:
    assert normalize_doi("doi") == "doi"
    assert normalize_doi(" doing 10.5555/a ") == "doing 10.5555/a"
