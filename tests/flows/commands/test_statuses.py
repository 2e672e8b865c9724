"""The exit status and the error of calls that fail, or find nothing, in the terminal."""

import json

import pytest
from command_line import Cli

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("db", "info", "nosuchdb"), 3, "ENTITY_NOT_FOUND"),
        (("db", "search", "nosuchdb", "x"), 2, "INVALID_INPUT"),
        (("db", "search", "gene", " "), 2, "INVALID_INPUT"),
        (("db", "search", "gene", "x", "-n", "0"), 2, "INVALID_INPUT"),
        (("db", "search", "gene", "x", "--min-date", "2020"), 2, "INVALID_INPUT"),
        (("db", "summary", "gene", "999999"), 3, "ENTITY_NOT_FOUND"),
        (("db", "summary", "gene", "TP53"), 2, "INVALID_INPUT"),
        (("db", "summary", "gene", "7157", "999999"), 4, "ENTITY_NOT_FOUND"),
        (("db", "fetch", "gene", "999999"), 3, "ENTITY_NOT_FOUND"),
        (("db", "fetch", "nuccore", "990000101", "--rettype", "fastq", "-f", "text"), 2, "INVALID_INPUT"),
        (("db", "link", "999999", "--from", "gene", "--to", "pubmed"), 3, "ENTITY_NOT_FOUND"),
        (("db", "link", "7157", "--from", "genes"), 2, "INVALID_INPUT"),
        (("db", "link", "7157", "--link-name", "a b"), 2, "INVALID_INPUT"),
        (("convert", "12", "PMC1"), 3, "ENTITY_NOT_FOUND"),
        (("convert", "TP53"), 2, "INVALID_INPUT"),
        (("convert",), 2, "INVALID_INPUT"),
        (("convert", "1", "--id-type", "isbn"), 2, "INVALID_INPUT"),
        (("match",), 2, "INVALID_INPUT"),
        (("match", "no such file.bib"), 2, "INVALID_INPUT"),
        (("match", "--author", "Doe J"), 2, "INVALID_INPUT"),
        (("match", "--journal", "J", "--year", "24"), 2, "INVALID_INPUT"),
        (("match", "--journal", "No Such Journal", "--year", "2024"), 3, "ENTITY_NOT_FOUND"),
        (("mesh", " "), 2, "INVALID_INPUT"),
        (("mesh", "x", "-n", "51"), 2, "INVALID_INPUT"),
        (("spell", "x"), 2, "INVALID_INPUT"),
        (("spell", "xyz", "--db", "nosuchdb"), 2, "INVALID_INPUT"),
        (("gene", "get", "TP53"), 2, "UNRESOLVED_ENTITY"),
        (("gene", "get", "gene:7157"), 2, "UNRESOLVED_ENTITY"),
        (
            (
                "gene",
                "get",
            ),
            2,
            "UNRESOLVED_ENTITY",
        ),
        (("gene", "get", "NCBIGene:999999999"), 3, "ENTITY_NOT_FOUND"),
        (("gene", "get", "TP53", "BRCA1"), 2, "UNRESOLVED_ENTITY"),
        (("gene", "get", "NCBIGene:999999998", "NCBIGene:999999999", "-f", "csv"), 3, "ENTITY_NOT_FOUND"),
        (("gene", "pubmed", "BRCA1"), 2, "UNRESOLVED_ENTITY"),
        (("gene", "pubmed", "NCBIGene:999999999"), 3, "ENTITY_NOT_FOUND"),
        (("gene", "pubmed", "NCBIGene:7157", "--limit", "0"), 2, "AMBIGUOUS_QUERY"),
        (("gene", "search", "B"), 2, "AMBIGUOUS_QUERY"),
        (("gene", "search", "TP53", "--organism", "klingon"), 2, "AMBIGUOUS_QUERY"),
        (("gene", "search", "TP53", "--cursor", "x"), 2, "AMBIGUOUS_QUERY"),
        (("gene", "search", "TP53", "--page-size", "0"), 2, "AMBIGUOUS_QUERY"),
    ],
)
def test_each_failure_has_its_status_and_envelope(cli: Cli, words: tuple[str, ...], status: int, code: str) -> None:
    done = cli(*words)

    envelope = json.loads(done.err.strip().splitlines()[-1])
    assert done.status == status
    assert envelope["success"] is False
    assert envelope["error"]["code"] == code
