"""`entrez-kit fulltext` in the terminal: formats, mixed ids, outcomes in order, exit statuses."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from terminal import Cli, cli_fixture

from entrez_kit.sandbox.server import Sandbox

FIXTURES = (cli_fixture,)


def test_ids_of_all_kinds_are_taken_and_answered_in_order(cli: Cli) -> None:
    ended = cli("fulltext", "PMC99000002", "99000001", "10.5555/EKIT.2019.0050", "PMC99000002", "--json")
    document = json.loads(ended.out)

    assert ended.status == 0
    assert [article["pmcid"] for article in document["articles"]] == [
        "PMC99000002",
        "PMC99000001",
        "PMC99000026",
        "PMC99000002",
    ]
    assert document["total_returned"] == 4


def test_jsonl_has_one_line_per_input_in_order(cli: Cli) -> None:
    ended = cli("fulltext", "99000008", "PMC99000001", "rubbish", "99000007", "-f", "jsonl")
    lines = [json.loads(line) for line in ended.out.splitlines()]

    assert ended.status == 4
    assert [line.get("status", line.get("via_source")) for line in lines] == [
        "not_found",
        "pmc",
        "invalid",
        "unpaywall",
    ]
    assert lines[0]["reason"] == "no-oa"
    assert [tried["tier"] for tried in lines[0]["tried_tiers"]] == ["pmc", "europepmc", "unpaywall"]
    assert lines[2] == {
        "input": "rubbish",
        "status": "invalid",
        "error": {"code": "INVALID_INPUT", "message": "not a PMID, PMCID or DOI"},
    }
    error = json.loads(ended.err)["error"]
    assert [entry["id"] for entry in error["details"]["missing"]] == ["99000008", "rubbish"]


def test_more_ids_than_an_agent_may_ask_for_come_in_batches(cli: Cli, sandbox: Sandbox) -> None:
    ids = [f"PMC990000{number:02}" for number in range(1, 25)]
    ended = cli("fulltext", "-", "-f", "jsonl", stdin="\n".join(ids))

    assert len(ended.out.splitlines()) == 24
    fetched = [entry for entry in sandbox.entries("efetch") if entry.get("db") == "pmc"]
    assert [len((entry.get("id") or "").split(",")) for entry in fetched] == [10, 10, 4]
    assert [entry.method for entry in fetched] == ["POST", "POST", "GET"]


def test_markdown_is_the_whole_article(cli: Cli) -> None:
    page = cli("fulltext", "PMC99000001", "--references", "-f", "md").out

    assert page.startswith("# Base editing of a cryptic splice site")
    for heading in (
        "## Abstract",
        "## 1 Introduction",
        "### 2.1 Cells and culture",
        "## Acknowledgements",
        "## References",
    ):
        assert f"\n{heading}\n" in page
    assert "| Edited (n = 9) | 61 | 54–67 | 0.90 |" in page
    assert "|  | Median | IQR |  |" in page
    assert "- Ca2+ at 1.2 mmol L−1," in page
    assert "P\\<0.05" in page
    assert "\n2.2.1 Guide design\n" in page
    assert "1. Fenwick-Achebe I, Suryati, Marrowby TJ." in page
    assert len(re.findall(r"^#", page, re.MULTILINE)) == 12


def test_several_articles_are_several_pages_and_retractions_come_first(cli: Cli) -> None:
    pages = cli("fulltext", "PMC99000026", "99000007", "-f", "md").out.split("\n---\n\n")

    assert len(pages) == 2
    assert pages[0].startswith("> **RETRACTED**\n\n# Moonlight")
    assert "Read from <http" in pages[1]


def test_a_table_shows_the_outline_and_why_there_is_no_text(cli: Cli) -> None:
    ended = cli("fulltext", "PMC99000001", "99000050", "99000008", "-f", "table")

    assert ended.status == 4
    text = " ".join(ended.out.split())
    assert "2.1 Cells and culture 245" in text
    assert "RETRACTED" in text
    assert "99000008 no-oa" in text
    assert "Unpaywall: no-oa" in text
    assert "Full text of 2 of 3 articles" in text


def test_an_output_file_holds_the_articles_and_is_left_alone_when_there_is_none(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "article.md"
    assert cli("fulltext", "PMC99000001", "-o", str(target)).status == 0
    before = target.read_text(encoding="utf-8")

    assert before.startswith("# Base editing")
    assert cli("fulltext", "99000008", "-o", str(target)).status == 3
    assert target.read_text(encoding="utf-8") == before


def test_sections_budgets_and_fields_are_the_flags_of_the_terminal(cli: Cli) -> None:
    chosen = json.loads(cli("fulltext", "PMC99000001", "--section", "METHODS", "--section", "discuss", "--json").out)
    cut = json.loads(cli("fulltext", "PMC99000001", "--max-characters", "300", "--overflow", "outline", "--json").out)
    fields = json.loads(cli("fulltext", "PMC99000001", "--json", "--fields", "pmcid,sections.title").out)

    assert [section["title"] for section in chosen["articles"][0]["sections"]] == [
        "Materials and methods",
        "Discussion",
    ]
    assert cut["truncation"]["returned_characters"] <= 300
    assert len(cut["articles"][0]["sections"]) == 7
    assert set(fields["articles"][0]) == {"pmcid", "sections"}
    assert fields["articles"][0]["sections"][1] == {"title": "Introduction"}


def test_what_was_cut_is_told_where_the_format_cannot(cli: Cli) -> None:
    ended = cli("fulltext", "PMC99000001", "-f", "md", "--max-characters", "300", "-v")

    assert "PMC99000001: " in ended.err
    assert "characters and" in ended.err


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("PMC99000001",), 0),
        (("PMC99000001", "99000008"), 4),
        (("PMC99000001", "rubbish"), 4),
        (("99000008",), 3),
        (("99000008", "rubbish"), 3),
        (("rubbish",), 2),
        ((), 2),
        (("1", "--max-sections", "99"), 2),
    ],
)
@pytest.mark.parametrize("form", ["json", "jsonl", "md", "table"])
def test_the_status_says_how_much_there_was(cli: Cli, arguments: tuple[str, ...], status: int, form: str) -> None:
    assert cli("fulltext", *arguments, "-f", form).status == status


def test_sources_that_fail_for_every_id_are_no_absence(
    cli: Cli, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.transport.retry.Backoff.seconds", lambda self, failures, asked: 0.001)
    monkeypatch.setenv("NCBI_MAX_RETRIES", "0")
    monkeypatch.setenv("EUROPEPMC_MAX_RETRIES", "0")
    sandbox.take_down("efetch", "pmc_oa", "europepmc_search", "idconv")
    ended = cli("fulltext", "PMC99000001", "99000002")

    assert ended.status == 5
    error = json.loads(ended.err)["error"]
    assert error["code"] == "UPSTREAM_ERROR"
    assert all(entry["retryable"] for entry in error["details"]["missing"])


def test_rows_and_ids_hold_what_has_a_text(cli: Cli) -> None:
    ids = cli("fulltext", "99000008", "PMC99000001", "rubbish", "10.5555/ekit.2017.0007", "-f", "ids")
    rows = list(csv.DictReader(io.StringIO(cli("fulltext", "99000001", "99000007", "-f", "csv").out)))

    assert (ids.status, ids.out) == (4, "99000001\n99000007\n")
    assert [entry["id"] for entry in json.loads(ids.err)["error"]["details"]["missing"]] == ["99000008", "rubbish"]
    assert [(row["pmcid"], row["year"], row["via_source"], row["content_format"]) for row in rows] == [
        ("PMC99000001", "2019", "pmc", ""),
        ("", "", "unpaywall", "pdf-text"),
    ]
    assert rows[0]["sections"].startswith("Introduction; Materials and methods; Results")
    assert all(int(row["characters"]) > 2000 for row in rows)


def test_columns_of_rows_can_be_chosen(cli: Cli) -> None:
    out = cli("fulltext", "99000001", "-f", "tsv", "--fields", "pmid,characters,authors.last_name").out

    assert out.splitlines()[0] == "pmid\tcharacters\tauthors.last_name"
    assert out.splitlines()[1].startswith("99000001\t")
    assert out.endswith("Marrowby; Fenwick-Achebe; Luo; Thistlewood\n")


def test_offline_the_advice_is_to_go_online(cli: Cli) -> None:
    ended = cli("--offline", "fulltext", "PMC99000001")
    error = json.loads(ended.err)["error"]

    assert ended.status == 5
    assert "--offline" in error["recovery_hint"]
    assert ".;" not in ended.err
    assert not any(tried["detail"].endswith(".") for tried in error["details"]["missing"][0]["tried_tiers"])


def test_an_empty_pipe_is_no_failure(cli: Cli) -> None:
    ended = cli("fulltext", "-", "--json", stdin="")

    assert ended.status == 0
    assert json.loads(ended.out) == {"articles": [], "total_returned": 0}
    assert cli("fulltext", "-", "-f", "md", stdin="").out == ""


def test_the_result_of_a_search_can_be_piped_in(cli: Cli) -> None:
    found = cli("search", "base editing", "-n", "3", "-f", "ids").out
    ended = cli("fulltext", "-", "-f", "jsonl", stdin=found)

    assert len(ended.out.splitlines()) == 3
