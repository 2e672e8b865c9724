"""`entrez-kit fulltext` in the terminal: formats, mixed ids, order of outcomes, exit status."""

import json
import re
from pathlib import Path

import pytest
from command_line import Cli, read_error, read_lines, read_rows
from program_streams import run_on_terminal

from entrez_kit.commands import _formats, _state
from entrez_kit.commands._formats import tables
from entrez_kit.commands._views import fulltext, reading
from entrez_kit.sandbox.server import Sandbox


def test_ids_of_all_kinds_are_accepted_and_answered_in_order(cli: Cli) -> None:
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
    lines = read_lines(ended.out)

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


@pytest.mark.long
def test_more_ids_than_an_agent_may_request_are_fetched_in_batches(cli: Cli, sandbox: Sandbox) -> None:
    ids = [f"PMC990000{number:02}" for number in range(1, 25)]
    ended = cli("fulltext", "-", "-f", "jsonl", stdin="\n".join(ids))

    assert len(ended.out.splitlines()) == 24
    fetched = [entry for entry in sandbox.entries("efetch") if entry.get("db") == "pmc"]
    assert [len((entry.get("id") or "").split(",")) for entry in fetched] == [10, 10, 4]
    assert [entry.method for entry in fetched] == ["POST", "POST", "GET"]


def test_markdown_has_the_whole_article(cli: Cli) -> None:
    page = cli("fulltext", "PMC99000001", "-f", "md").out

    assert page.startswith("# Base editing of a cryptic splice site")
    for heading in (
        "## Abstract",
        "## 1 Introduction",
        "### 2.1 Cells and culture",
        "#### 2.2.1 Guide design",
        "## Acknowledgements",
        "## Author affiliations",
        "## References",
    ):
        assert f"\n{heading}\n" in page
    assert "| Edited (n = 9) | 61 | 54–67 | 0.90 |" in page
    assert "|  | Median | IQR |  |" in page
    assert "- Ca²⁺ at 1.2 mmol L⁻¹," in page
    assert "P\\<0.05" in page
    assert "\n**Table 1**\n\nEditing and transport by donor group.\n\n| Group" in page
    assert "\n1. Fenwick-Achebe I, Suryati, Marrowby TJ." in page
    assert "\n**Text from:** PMC  \n**Type:** research article  \n**License:** https://" in page
    assert "\n**Keywords:** airway epithelium; base editing; " in page
    assert "\n- School of Made-up Medicine, Lakeside University, Kisumera, Kenya.\n" in page
    assert len(re.findall(r"^#", page, re.MULTILINE)) == 15
    assert json.loads(cli("fulltext", "PMC99000001", "--json").out)["articles"][0].get("references") is None


def test_markdown_ends_with_the_ids_without_a_text_and_the_answer_of_each_source(cli: Cli) -> None:
    ended = cli("fulltext", "99000008", "PMC99000001", "rubbish", "-f", "md")
    last = ended.out.split("\n---\n\n")[-1]

    assert ended.status == 4
    assert last.startswith("# No full text\n\n- **99000008**: Base editing for haemoglobin Eastmere")
    assert "\n  - Publisher: <https://doi.org/10.5555/ekit.2024.0008>\n" in last
    assert "\n  - PubMed: <https://pubmed.ncbi.nlm.nih.gov/99000008/>\n" in last
    assert [line.partition(":")[0] for line in last.splitlines() if line.startswith("  - ")][-3:] == [
        "  - PMC",
        "  - Europe PMC",
        "  - Unpaywall",
    ]
    assert last.endswith("\n- **rubbish**: not a PMID, PMCID or DOI\n")


def test_references_have_the_labels_of_the_article() -> None:
    def render(*labels: str | None) -> str:
        references = [{"label": label, "citation": f"Work {n}."} for n, label in enumerate(labels, 1)]
        page = fulltext.write_fulltext({"source": "pmc", "via_source": "pmc", "sections": [], "references": references})
        return str(page.partition("## References\n\n")[2])

    assert render("1", "[2]", "3.") == "1. Work 1.\n2. Work 2.\n3. Work 3.\n"
    assert render("1", "1a", "R7") == "- **1** Work 1.\n- **1a** Work 2.\n- **R7** Work 3.\n"
    assert render("5", "6") == "- **5** Work 1.\n- **6** Work 2.\n"
    assert render(None, None) == "- Work 1.\n- Work 2.\n"


def test_headings_below_the_sixth_level_stay_headings() -> None:
    section: dict[str, object] = {"title": "Level 9", "text": "deep"}
    for depth in range(8, 1, -1):
        section = {"title": f"Level {depth}", "text": "", "subsections": [section]}
    page = fulltext.write_fulltext({"source": "pmc", "via_source": "pmc", "sections": [section]})

    assert re.findall(r"^(#+) (Level [0-9])$", page, re.MULTILINE) == [
        ("#" * min(depth, 6), f"Level {depth}") for depth in range(2, 10)
    ]


def test_translated_abstracts_have_the_name_of_their_language() -> None:
    page = fulltext.write_fulltext(
        {
            "source": "pmc",
            "via_source": "europepmc",
            "epmc_source": "MED",
            "epmc_id": "99000001",
            "abstract": "Short.",
            "other_abstracts": [{"language": "es", "text": "Corto."}, {"text": "Kurz."}],
            "sections": [],
        }
    )

    assert "## Abstract\n\nShort.\n\n## Abstract (Spanish)\n\nCorto.\n\n## Abstract (translated)\n\nKurz.\n" in page
    assert "**Text from:** Europe PMC (MED 99000001)" in page


def test_text_of_a_pdf_is_escaped_in_markdown() -> None:
    content = "# 5 of 9 *mice*\n- 4 \u001b[31mred\n\n2. Methods"
    record = {
        "source": "unpaywall",
        "content_format": "pdf-text",
        "doi": "10.5555/x",
        "source_url": "https://x.invalid/a.pdf",
        "content": content,
    }
    page = fulltext.write_fulltext(record)

    assert page.endswith("\n\n\\# 5 of 9 \\*mice\\*\n\\- 4 \\[31mred\n\n2\\. Methods\n")
    assert "Text from: an open-access copy (pdf-text)" in page


@pytest.mark.long
def test_a_terminal_shows_the_whole_text_without_cut_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "cat")
    columns = 60
    ended = run_on_terminal("--demo", "fulltext", "PMC99000001", "99000008", columns=columns)
    shown = re.sub(".\b", "", ended.out)

    assert ended.status == 4
    assert "##" not in shown
    assert "**" not in shown
    assert "Base editing of a cryptic" in shown
    lines = [line.rstrip() for line in shown.split("\n")]
    assert max(len(line) for line in lines if "Airway" in line or "http" in line) <= columns
    words = set(re.findall(r"[a-z]{9,}", " ".join(lines)))
    assert {"ribonucleoprotein", "interquartile", "intergenic"} <= words
    assert "1 Fenwick-Achebe I, Suryati, Marrowby TJ." in shown
    assert "Unpaywall:" in shown


def test_a_long_text_is_shown_in_the_pager_and_a_short_one_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paged: list[str] = []
    monkeypatch.setattr(_formats, "is_terminal", lambda stream: True)
    monkeypatch.setattr(tables, "is_terminal", lambda stream: True)
    monkeypatch.setattr("pydoc.pager", paged.append)
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("LINES", "30")
    state = _state.State()
    state.flags = {"color": "auto"}
    table = "| " + " | ".join(f"Column{n}" for n in range(12)) + " |\n|" + " --- |" * 12 + "\n| " + " | ".join("1" * 12)
    show = tables.show
    with _formats.Sink(None) as sink:
        show(state, sink, lambda console: reading.render_markdown_page("# Short\n\ntext"))
        assert not paged
        long = "\n\n".join(["# Long", table, *["some words " * 20] * 30])
        show(state, sink, lambda console: reading.render_markdown_page(long))

    assert "text" in capsys.readouterr().out
    assert "L\bLo\bon\bng\bg" in paged[0]
    assert "Column0 | Column1 | " in paged[0]
    assert all(len(re.sub(".\b", "", line)) <= 70 for line in paged[0].split("\n"))


@pytest.mark.parametrize("fields", [(), ("--fields", "pmid,title")])
def test_a_long_table_is_shown_in_the_pager_only_on_a_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, fields: tuple[str, ...]
) -> None:
    paged = list[str]()
    monkeypatch.setattr("pydoc.pager", paged.append)
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("LINES", "30")
    plain = cli("search", "crispr", "-f", "table", *fields).out
    assert not paged, "a pipe is not paged"
    monkeypatch.setattr(_formats, "is_terminal", lambda stream: True)
    cli("search", "crispr", "-f", "table", *fields)
    assert not paged, "no input"
    monkeypatch.setattr(tables, "is_terminal", lambda stream: True)
    short = cli("search", "crispr", "-n", "2", "-f", "table", *fields)
    assert "99000047" in short.out
    assert not paged, "it fits into the terminal"
    done = cli("search", "crispr", "-f", "table", *fields)

    assert done.out == ""
    assert [line.rstrip() for line in re.sub(".\b", "", paged[0]).splitlines()] == plain.splitlines()


def test_a_pipe_and_a_file_get_unchanged_markdown(cli: Cli, tmp_path: Path) -> None:
    page = cli("fulltext", "PMC99000001", "-f", "md").out
    cli("fulltext", "PMC99000001", "-f", "md", "-o", str(tmp_path / "a.md"))

    assert (tmp_path / "a.md").read_text(encoding="utf-8") == page
    assert "\x1b" not in page
    assert "\b" not in page


def test_several_articles_are_separate_pages_and_retractions_come_first(cli: Cli) -> None:
    pages = cli("fulltext", "PMC99000026", "99000007", "-f", "md").out.split("\n---\n\n")

    assert len(pages) == 2
    assert pages[0].startswith("> **RETRACTED: ")
    assert "\n\n# Moonlight" in pages[0]
    assert "Source: <http" in pages[1]


def test_a_table_shows_the_outline_and_the_reason_if_there_is_no_text(cli: Cli) -> None:
    ended = cli("fulltext", "PMC99000001", "99000050", "99000008", "-f", "table")

    assert ended.status == 4
    text = " ".join(ended.out.split())
    assert "2.1 Cells and culture 245" in text
    assert "RETRACTED" in text
    assert "No full text: 99000008 Base editing for haemoglobin Eastmere" in text
    assert "https://doi.org/10.5555/ekit.2024.0008" in text
    assert "https://pubmed.ncbi.nlm.nih.gov/99000008/" in text
    assert "no-oa" not in text
    assert "Full text of 2 of 3 articles" in text


def test_an_output_file_has_the_articles_and_is_not_changed_if_there_is_none(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "article.md"
    assert cli("fulltext", "PMC99000001", "-o", str(target)).status == 0
    before = target.read_text(encoding="utf-8")

    assert before.startswith("# Base editing")
    assert cli("fulltext", "99000008", "-o", str(target)).status == 3
    assert target.read_text(encoding="utf-8") == before


def test_sections_limits_and_fields_are_set_by_flags(cli: Cli) -> None:
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


def test_cut_text_is_reported_on_stderr_if_the_format_cannot_show_it(cli: Cli) -> None:
    ended = cli("fulltext", "PMC99000001", "-f", "md", "--max-characters", "300", "-v")

    assert "PMC99000001: " in ended.err
    assert "characters and" in ended.err


@pytest.mark.long
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
def test_the_status_depends_on_how_many_texts_were_found(
    cli: Cli, arguments: tuple[str, ...], status: int, form: str
) -> None:
    assert cli("fulltext", *arguments, "-f", form).status == status


def test_failing_sources_are_an_error_and_not_a_missing_text(
    cli: Cli, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.services.transport.retry.Backoff.compute_wait", lambda self, failures, asked: 0.001)
    monkeypatch.setenv("NCBI_MAX_RETRIES", "0")
    monkeypatch.setenv("EUROPEPMC_MAX_RETRIES", "0")
    sandbox.take_down("efetch", "pmc_oa", "europepmc_search", "idconv")
    ended = cli("fulltext", "PMC99000001", "99000002")

    assert ended.status == 5
    error = json.loads(ended.err)["error"]
    assert error["code"] == "UPSTREAM_ERROR"
    assert all(entry["retryable"] for entry in error["details"]["missing"])


@pytest.mark.long
@pytest.mark.parametrize("identifier", ["99999999", "PMC98765432", "10.5555/nobody.has.this"])
def test_an_unknown_id_is_not_found(cli: Cli, identifier: str) -> None:
    ended = cli("fulltext", identifier, "-f", "jsonl")
    line, error = json.loads(ended.out), json.loads(ended.err)["error"]

    assert ended.status == 3
    assert (line["status"], line["reason"]) == ("not_found", "not-found")
    assert line["tried_tiers"][-1]["outcome"] == "miss"
    assert (error["code"], error["details"]["reason"]) == ("ENTITY_NOT_FOUND", "no_full_text")
    assert identifier in error["message"]
    (missing,) = json.loads(cli("fulltext", identifier, "--json").out)["unavailable"]
    assert missing["reason"] == "not-found"


def test_a_text_is_not_reported_as_missing_if_a_source_failed(
    cli: Cli, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.services.transport.retry.Backoff.compute_wait", lambda self, failures, asked: 0.001)
    monkeypatch.setenv("EUROPEPMC_MAX_RETRIES", "0")
    sandbox.take_down("europepmc_search")
    without = cli("fulltext", "99000008", "PMC98765432", "rubbish", "-f", "jsonl")
    beside = cli("fulltext", "99000008", "PMC99000001", "--json")

    assert without.status == 5
    assert json.loads(without.err)["error"]["code"] == "UPSTREAM_ERROR"
    assert [json.loads(line)["status"] for line in without.out.splitlines()] == ["error", "error", "invalid"]
    assert beside.status == 4


def test_rows_and_ids_include_only_articles_with_a_text(cli: Cli) -> None:
    ids = cli("fulltext", "99000008", "PMC99000001", "rubbish", "10.5555/ekit.2017.0007", "-f", "ids")
    rows = read_rows(cli("fulltext", "99000001", "99000007", "-f", "csv").out)

    assert (ids.status, ids.out) == (4, "99000001\n99000007\n")
    assert [entry["id"] for entry in json.loads(ids.err)["error"]["details"]["missing"]] == ["99000008", "rubbish"]
    assert [(row["pmcid"], row["year"], row["via_source"], row["content_format"]) for row in rows] == [
        ("PMC99000001", "2019", "pmc", ""),
        ("", "", "unpaywall", "pdf-text"),
    ]
    assert rows[0]["sections"].startswith("Introduction; Materials and methods; Results")
    assert all(int(row["characters"]) > 2000 for row in rows)


def test_columns_of_rows_can_be_selected(cli: Cli) -> None:
    out = cli("fulltext", "99000001", "-f", "tsv", "--fields", "pmid,characters,authors.last_name").out

    assert out.splitlines()[0] == "pmid\tcharacters\tauthors.last_name"
    assert out.splitlines()[1].startswith("99000001\t")
    assert out.endswith("Marrowby; Fenwick-Achebe; Luo; Thistlewood\n")


def test_offline_mode_advises_to_go_online(cli: Cli) -> None:
    ended = cli("--offline", "fulltext", "PMC99000001")
    error = json.loads(ended.err)["error"]

    assert ended.status == 5
    assert "--offline" in error["recovery_hint"]
    assert ".;" not in ended.err
    assert not any(tried["detail"].endswith(".") for tried in error["details"]["missing"][0]["tried_tiers"])


def test_an_empty_pipe_is_not_a_failure(cli: Cli) -> None:
    ended = cli("fulltext", "-", "--json", stdin="")

    assert ended.status == 0
    assert json.loads(ended.out) == {"articles": [], "total_returned": 0}
    assert cli("fulltext", "-", "-f", "md", stdin="").out == ""


def test_the_result_of_a_search_can_be_piped_in(cli: Cli) -> None:
    found = cli("search", "base editing", "-n", "3", "-f", "ids").out
    ended = cli("fulltext", "-", "-f", "jsonl", stdin=found)

    assert len(ended.out.splitlines()) == 3


@pytest.mark.parametrize("command", ["fulltext", "fetch"])
def test_output_to_a_pdf_file_is_rejected_with_the_possible_formats(alone: Cli, tmp_path: Path, command: str) -> None:
    done = alone(command, "99000001", "-o", str(tmp_path / "paper.pdf"))

    error = read_error(done)
    assert (done.status, error["details"]["reason"]) == (2, "bad_usage")
    assert str(tmp_path / "paper.html") in error["recovery_hint"]
    assert ("source_url" in error["recovery_hint"]) == (command == "fulltext")
