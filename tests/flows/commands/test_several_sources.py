"""Commands with one id also accept several, from arguments, pipes and files; records name the id of their call."""

import json
from pathlib import Path

import pytest
from command_line import Cli, read_lines, read_rows

from entrez_kit.core.per_input import MAX_FAILURES
from entrez_kit.sandbox.server import Sandbox

UNDER_WAY = 6
"""Maximum number of simultaneous requests to NCBI without a key."""


def test_a_symbol_leads_to_articles_related_to_its_literature(cli: Cli) -> None:
    genes = cli("gene", "search", "TP53", "--organism", "human", "-f", "ids").out
    articles = cli("gene", "pubmed", "-", "-f", "ids", stdin=genes)
    around = cli("related", "-", "-f", "csv", "-n", "3", stdin=articles.out)

    assert genes.split()
    assert articles.status == around.status == 0, around.err
    assert len(set(articles.out.split())) == len(articles.out.split()) > 1
    assert {row["source_pmid"] for row in read_rows(around.out)} == set(articles.out.split())


def test_each_source_has_the_same_results_as_in_a_separate_call(cli: Cli) -> None:
    together = read_rows(cli("related", "99000001", "99000004", "-f", "csv").out)
    for source in ("99000001", "99000004"):
        alone = [row["pmid"] for row in read_rows(cli("related", source, "-f", "csv").out)]
        assert [row["pmid"] for row in together if row["source_pmid"] == source] == alone
    document = json.loads(cli("related", "99000001", "99000004", "--json").out)
    assert [result["source_pmid"] for result in document["results"]] == ["99000001", "99000004"]
    counts = [int(cli("related", source, "--count").out) for source in ("99000001", "99000004")]
    assert int(cli("related", "99000001", "99000004", "--count").out) == sum(counts)
    assert cli("related", "99000001", "99000004", "-f", "table").out.count("articles similar to") == 2


def test_ids_without_a_result_are_named_and_the_others_are_answered(cli: Cli) -> None:
    done = cli("related", "99000001", "99999999", "abc", "-f", "jsonl")
    lines = read_lines(done.out)

    assert done.status == 4
    assert [(line["input"], line["status"]) for line in lines if "error" in line] == [
        ("99999999", "not_found"),
        ("abc", "invalid"),
    ]
    assert {line["source_pmid"] for line in lines if "error" not in line} == {"99000001"}
    missing = json.loads(done.err.splitlines()[-1])["error"]["details"]["missing"]
    assert [one["input"] for one in missing] == ["99999999", "abc"]
    assert cli("related", "99999999", "99999998", "-f", "jsonl").status == 3
    assert cli("related", "abc", "def", "-f", "csv").status == 2


def test_a_repeated_id_is_requested_once(cli: Cli, sandbox: Sandbox) -> None:
    document = json.loads(cli("gene", "pubmed", "7157", "NCBIGene:7157", "7157", "--no-cache", "--json").out)

    assert [result["entrez_id"] for result in document["results"]] == ["NCBIGene:7157"] * 3
    assert sandbox.requests("elink") == 1


def test_a_bare_number_is_accepted_as_a_gene_id(cli: Cli, tmp_path: Path) -> None:
    listed = tmp_path / "genes.txt"
    listed.write_text("7157\nNCBIGene:672\n", encoding="utf-8")

    assert cli("gene", "get", "7157", "--json").out == cli("gene", "get", "NCBIGene:7157", "--json").out
    found = read_rows(cli("gene", "pubmed", "-i", str(listed), "-f", "csv").out)
    assert {row["entrez_id"] for row in found} == {"NCBIGene:7157", "NCBIGene:672"}


def test_an_empty_list_ends_with_status_0_and_a_missing_list_with_status_2(cli: Cli) -> None:
    for command in (("related",), ("gene", "pubmed")):
        nothing = cli(*command, "-", "-f", "ids", stdin="")
        assert (nothing.status, nothing.out) == (0, "")
        assert cli(*command).status == 2


def test_no_more_ids_are_requested_after_several_failures_of_a_service(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Sandbox(faults={"500": 1.0}, enforce_limits=False) as dead:
        monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", f"{dead.url}/entrez/eutils")
        monkeypatch.setenv("NCBI_MAX_RETRIES", "0")
        done = cli("related", *(str(99000001 + number) for number in range(20)), "-f", "jsonl")
        requested = len(dead.log)

    assert done.status == 5
    assert requested <= 6 * MAX_FAILURES
    assert done.out.count("Not tried, because requests before it failed: ") >= 20 - MAX_FAILURES - UNDER_WAY
    assert "failed: Not tried" not in done.out, "the reason is reported once"


@pytest.mark.parametrize("form", ["csv", "ids", "jsonl", "md", "table"])
def test_the_number_of_omitted_records_of_several_ids_is_noted_in_every_format(cli: Cli, form: str) -> None:
    done = cli("related", "99000001", "99000004", "-n", "1", "-f", form)
    counts = [int(cli("related", source, "--count").out) for source in ("99000001", "99000004")]

    assert f"{sum(counts) - 2} more around 2 ids: raise -n" in done.err
    assert "more around" not in cli("related", "99000001", "99000004", "-n", "1", "--json").err
    assert "more around" not in cli("related", "99000001", "99000004", "--count").err


def test_offline_cached_records_are_returned_after_any_number_of_uncached_ones(cli: Cli) -> None:
    assert cli("gene", "get", "NCBIGene:672", "--json").status == 0
    requested = [*(f"NCBIGene:{number}" for number in (7157, 1080, 3043, 4609)), "NCBIGene:672"]
    done = cli("gene", "get", *requested, "--offline", "-f", "jsonl")
    lines = read_lines(done.out)

    assert done.status == 4
    assert [line.get("symbol") for line in lines] == [None] * 4 + ["BRCA1"]
    assert all("--offline" in line["error"]["recovery_hint"] for line in lines[:4]), "each has advice"
