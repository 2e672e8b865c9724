"""`entrez-kit fetch` over the demo corpus: formats, order, and missing records."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Cli, read_error, read_lines, read_rows
from lxml import etree

from entrez_kit.sandbox.server import Sandbox

MIXED = ("99000050", "12", "PMC99000001", "10.5555/ekit.2025.0006", "nonsense", "99000050")
FORMATS = ("json", "jsonl", "csv", "tsv", "ids", "xml", "nbib", "md", "table", "ris", "bibtex", "csl")


def test_there_is_one_outcome_per_input_in_order(cli: Cli) -> None:
    done = cli("fetch", *MIXED, "-f", "jsonl")

    assert done.status == 4
    found = read_lines(done.out)
    assert [line.get("pmid") or (line["input"], line["status"]) for line in found] == [
        "99000050",
        ("12", "not_found"),
        "99000001",
        "99000006",
        ("nonsense", "invalid"),
        "99000050",
    ]
    assert found[1]["error"] == {"code": "ENTITY_NOT_FOUND", "message": "PubMed has no record of 12"}
    assert found[4]["error"]["code"] == "INVALID_INPUT"


@pytest.mark.long
@pytest.mark.parametrize("form", FORMATS)
def test_a_partial_result_ends_with_status_4_and_names_the_missing_ids(cli: Cli, form: str) -> None:
    done = cli("fetch", *MIXED, "-f", form)

    assert done.status == 4
    assert done.out
    if form == "table":
        assert "12 (not in PubMed), nonsense (not an id)" in done.err
    else:
        assert [item["input"] for item in read_error(done)["details"]["missing"]] == ["12", "nonsense"]


@pytest.mark.long
@pytest.mark.parametrize("form", [form for form in FORMATS if form != "nbib"])  # an empty text proves nothing
def test_no_record_found_ends_with_status_3_and_no_valid_id_with_status_2(cli: Cli, form: str) -> None:
    assert cli("fetch", "12", "13", "-f", form).status == 3
    assert cli("fetch", "nonsense", "-f", form).status == 2
    assert cli("fetch", "99000001", "-f", form).status == 0


def test_rows_have_the_records_found_with_the_columns_for_joins(cli: Cli) -> None:
    rows = read_rows(cli("fetch", *MIXED, "-f", "csv").out)

    assert [row["pmid"] for row in rows] == ["99000050", "99000001", "99000006", "99000050"]
    first = rows[1]
    assert first["authors"] == "Marrowby TJ; Fenwick-Achebe I; Luo Q; Thistlewood WA"
    assert (first["year"], first["date"], first["volume"], first["issue"]) == ("2019", "2019-04", "3", "2")
    assert first["iso_abbreviation"] == "Ann Imaginary Genome Ed (Demo)"
    assert first["pmcid"] == "PMC99000001"
    assert (first["issn"], first["eissn"]) == ("", "9991-0217")
    assert first["nlm_id"]
    assert "Gene Editing" in first["mesh_terms"].split("; ")
    assert first["abstract"].startswith("A cryptic splice donor")
    assert rows[0]["retraction_status"] == "retracted"
    assert all("\n" not in cell for row in rows for cell in row.values())


def test_ids_are_the_pmids_of_the_records_found(cli: Cli) -> None:
    assert cli("fetch", *MIXED, "-f", "ids").out.split() == ["99000050", "99000001", "99000006", "99000050"]


def test_xml_is_a_document_with_ncbis_unchanged_bytes(cli: Cli) -> None:
    out = cli("fetch", "99000001", "99000070", "99000060", "-f", "xml").out.encode()

    root = etree.fromstring(out)
    assert [child.tag for child in root] == ["PubmedArticle", "PubmedBookArticle", "PubmedArticle"]
    assert root.findtext(".//VernacularTitle", "").startswith("绿茶")
    assert "绿茶".encode() in out


def test_nbib_is_medline_text(cli: Cli) -> None:
    out = cli("fetch", "99000001", "99000002", "-f", "nbib").out

    assert out.count("PMID- ") == 2
    assert out.startswith("PMID- 99000001\n")
    assert "\n\nPMID- 99000002\n" in out
    assert cli("fetch", "99000001", "--detail", "medline_text").out.count("medline_text") == 1


@pytest.mark.parametrize(("form", "suffix"), [("ris", ".ris"), ("bibtex", ".bib"), ("csl", ".json")])
def test_a_file_for_reference_managers_has_every_record_once(cli: Cli, tmp_path: Path, form: str, suffix: str) -> None:
    file = tmp_path / f"refs{suffix}"
    requested = ("-f", "csl") if form == "csl" else ()

    assert cli("fetch", *MIXED, "-o", str(file), *requested).status == 4
    text = file.read_text(encoding="utf-8")

    if form == "csl":
        assert [item["PMID"] for item in json.loads(text)] == ["99000050", "99000001", "99000006"]
    else:
        head = "TY  - " if form == "ris" else "@article{"
        assert text.count(head) == 3
        assert "[Retracted: " in text
    assert text == cli("fetch", *MIXED, "-f", form).out


def test_reference_files_obey_the_flags_and_reject_detail_levels_without_a_record(cli: Cli) -> None:
    assert "Gene Editing" in cli("fetch", "99000001", "-f", "bibtex").out
    assert "Gene Editing" not in cli("fetch", "99000001", "-f", "bibtex", "--no-mesh").out
    assert cli("fetch", "99000001", "-f", "ris", "--detail", "citation_data").status == 2
    assert cli("fetch", "99000001", "-f", "ris", "--fields", "pmid").status == 2


def test_commands_that_print_pmids_show_how_to_write_a_reference_file(cli: Cli) -> None:
    hint = read_error(cli("related", "99000001", "-f", "ris"))["recovery_hint"]

    assert hint.endswith("For ris, pipe PMIDs (-f ids) into `entrez-kit fetch - -f ris`.")


def test_markdown_has_a_page_for_each_record(cli: Cli) -> None:
    out = cli("fetch", "99000050", "99000001", "-f", "md").out

    assert out.startswith("> **RETRACTED: this article has been retracted.**\n> Retracted by: ")
    assert "\n# Moonlight exposure doubles" in out
    assert "**METHODS:** Sixty nurses" in out
    assert out.count("\n---\n") == 1


def test_detail_levels_and_flags_change_the_document(cli: Cli) -> None:
    full = json.loads(cli("fetch", "99000001", "--grants").out)["articles"][0]
    bare = json.loads(cli("fetch", "99000001", "--no-mesh").out)["articles"][0]
    cited = json.loads(cli("fetch", "99000001", "--detail", "citation_data").out)["articles"][0]
    tree = json.loads(cli("fetch", "99000001", "--detail", "full_xml").out)["articles"][0]

    assert full["grant_list"]
    assert full["mesh_terms"]
    assert "grant_list" not in bare
    assert "mesh_terms" not in bare
    assert "abstract_text" not in cited
    assert tree["full_xml_content"]
    assert cli("fetch", "99000001", "--detail", "citation_data", "-f", "csv").out.count("Marrowby TJ") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--detail", "full_xml", "-f", "csv"),
        ("--detail", "medline_text", "-f", "md"),
        ("--detail", "medline_text", "-f", "xml"),
        ("--detail", "citation_data", "-f", "nbib"),
        ("--fields", "pmid", "-f", "xml"),
        ("--fields", "pmid", "-f", "md"),
        ("--fields", "colour", "-f", "jsonl"),
        ("--fields", "colour"),
    ],
)
def test_contradictory_arguments_are_rejected_before_any_request(
    cli: Cli, sandbox: Sandbox, arguments: tuple[str, ...]
) -> None:
    done = cli("fetch", "99000001", *arguments)

    assert done.status == 2
    assert done.out == ""
    assert sandbox.requests() == 0


def test_fields_can_select_nested_values(cli: Cli) -> None:
    document = json.loads(cli("fetch", "99000001", "--fields", "pmid,journal_info.title,authors.last_name").out)
    assert list(document) == ["articles"]
    assert document["articles"][0] == {
        "pmid": "99000001",
        "journal_info": {"title": document["articles"][0]["journal_info"]["title"]},
        "authors": [{"last_name": name} for name in ("Marrowby", "Fenwick-Achebe", "Luo", "Thistlewood")],
    }
    out = cli("fetch", "99000001", "--fields", "year,journal_info.volume,authors.last_name", "-f", "tsv").out
    assert out == "year\tjournal_info.volume\tauthors.last_name\n2019\t3\tMarrowby; Fenwick-Achebe; Luo; Thistlewood\n"
    assert json.loads(cli("fetch", "12", "99000001", "--fields", "pmid", "-f", "jsonl").out.splitlines()[1]) == {
        "pmid": "99000001"
    }


# Where identifiers come from


def test_identifiers_come_from_arguments_standard_input_and_files(cli: Cli, tmp_path: Path) -> None:
    listed = tmp_path / "ids.txt"
    listed.write_text("# mine\n99000003, 99000004\n", encoding="utf-8")

    done = cli("fetch", "99000001", "-", "-i", str(listed), "-f", "ids", stdin="99000002\n")

    assert done.out.split() == ["99000001", "99000002", "99000003", "99000004"]


@pytest.mark.long
@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "ids", "md"])
def test_fetch_reads_every_format_that_search_prints(cli: Cli, form: str) -> None:
    wanted = cli("search", "sleep", "-f", "ids").out.split()

    hits = cli("search", "sleep", "-f", form).out
    if form == "md":  # for people
        hits = "\n".join(wanted)

    assert cli("fetch", "-", "-f", "ids", stdin=hits).out.split() == wanted


def test_lines_of_failed_ids_can_be_used_as_input(cli: Cli) -> None:
    first = cli("fetch", "99000001", "12", "-f", "jsonl").out

    again = read_lines(cli("fetch", "-", "-f", "jsonl", stdin=first).out)

    assert [line.get("pmid") or line["input"] for line in again] == ["99000001", "12"]


@pytest.mark.long
@pytest.mark.parametrize("form", FORMATS)
def test_empty_standard_input_is_not_an_error(cli: Cli, sandbox: Sandbox, form: str) -> None:
    done = cli("fetch", "-", "-f", form, stdin="")

    assert done.status == 0
    assert done.err.startswith("Note: ")
    assert done.err.count("\n") == 1
    assert sandbox.requests() == 0
    expected = {"jsonl": "", "ids": "", "md": "", "nbib": "", "ris": "", "bibtex": "", "csl": "[\n\n]\n"}
    if form in expected:
        assert done.out == expected[form]
    elif form == "json":
        assert json.loads(done.out)["articles"] == []
    elif form == "xml":
        assert len(etree.fromstring(done.out.encode())) == 0
    else:
        assert "pmid" in done.out.lower()


def test_a_call_without_ids_does_not_wait_for_standard_input(cli: Cli) -> None:
    done = cli("fetch", stdin="99000001\n")

    assert done.status == 2
    assert "- reads them from standard input" in read_error(done)["recovery_hint"]


# Result sets


def test_a_result_set_on_ncbis_history_server_is_fetched(cli: Cli) -> None:
    kept = json.loads(cli("search", "crispr", "--history").out)

    done = cli(
        *("fetch", "--query-key", kept["query_key"], "--web-env", kept["web_env"], "-f", "ids"),
        *("--retstart", "2", "--retmax", "3"),
    )

    assert done.status == 0, done.err
    assert done.out.split() == kept["pmids"][2:5]


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("--query-key", "1"), "--web-env"),
        (("--web-env", "MCID_1"), "--query-key"),
        (("1", "--query-key", "1", "--web-env", "MCID_1"), "ID"),
        (("1", "--retmax", "5"), "--retmax"),
    ],
)
def test_incomplete_history_arguments_are_rejected_with_the_missing_option(
    cli: Cli, arguments: tuple[str, ...], option: str
) -> None:
    done = cli("fetch", *arguments)

    assert done.status == 2
    assert option in read_error(done)["message"]


# Failures


@pytest.mark.long
def test_a_failing_service_ends_with_status_5_in_every_format(cli: Cli, sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.take_down("efetch")
    for form in FORMATS:
        target = tmp_path / f"out.{form}"
        done = cli("fetch", "99000001", "99000002", "-f", form, "-o", str(target))
        assert done.status == 5, form
        assert not target.exists()
    done = cli("fetch", "99000001", "-f", "jsonl")
    assert read_lines(done.out)[0]["error"]["code"] == "UPSTREAM_ERROR"
    assert read_error(done)["code"] == "UPSTREAM_ERROR"


@pytest.mark.long
def test_many_records_arrive_complete_and_in_order(cli: Cli) -> None:
    ids = [str(number) for number in range(99000001, 99000050)] * 9

    done = cli("fetch", "-", "-f", "jsonl", stdin="\n".join(ids))

    assert done.status == 0
    assert [line["pmid"] for line in read_lines(done.out)] == ids
    assert json.loads(cli("fetch", "-", stdin="\n".join(ids)).out)["requested_pmids"] == ids


def test_json_lines_and_the_document_have_the_same_records(cli: Cli) -> None:
    ids = [str(number) for number in range(99000001, 99000074)]

    assert read_lines(cli("fetch", *ids, "-f", "jsonl").out) == json.loads(cli("fetch", *ids).out)["articles"]


def test_a_file_with_a_partial_result_is_written(cli: Cli, tmp_path: Path) -> None:
    for form in ("json", "jsonl", "csv", "xml"):
        target = tmp_path / f"out.{form}"
        assert cli("fetch", "99000001", "12", "-o", str(target)).status == 4
        assert "99000001" in target.read_text(encoding="utf-8")


@pytest.mark.process
def test_lines_are_printed_while_later_records_are_still_fetched() -> None:
    ids = [str(number) for number in range(99_100_001, 99_103_501)]
    with Sandbox(records=3_500, enforce_limits=False) as sandbox:
        process = subprocess.Popen(
            [sys.executable, "-m", "entrez_kit", "fetch", "-", "-f", "jsonl", "--no-cache"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "ENTREZ_KIT_EUTILS_URL": f"{sandbox.url}/entrez/eutils"},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join(ids).encode())
        process.stdin.close()
        assert process.stdout.readline()  # of the first batch; the limiter lets the last ones pass much later
        seen = sandbox.requests("efetch")
        rest = process.stdout.read().splitlines()
        process.stdout.close()

        assert process.wait(30) == 0
        assert seen < sandbox.requests("efetch")
    assert len(rest) == len(ids) - 1


# The table


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_a_table_fits_the_terminal_and_marks_retractions(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))

    out = cli("fetch", "99000050", "99000053", "99000051", "99000026", "12", "-f", "table").out

    assert max(len(line) for line in out.splitlines()) <= columns
    flat = " ".join(out.split())
    assert "RETRACTED Moonlight" in flat
    assert "EXPRESSION OF CONCERN Singing" in flat
    assert "RETRACTION NOTICE" in flat
    assert "(corrected)" in flat
    assert "12 not found" in flat


@pytest.mark.parametrize(
    ("given", "status", "form"),
    [("99999999", 3, "csv"), ("nope", 2, "csv"), ("99999999", 3, "json"), ("nope", 2, "xml")],
)
def test_a_file_is_not_replaced_if_no_record_is_found(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, status: int, form: str
) -> None:
    monkeypatch.setattr("entrez_kit.commands._state.State.stderr_is_terminal", True)
    target = tmp_path / f"keep.{form}"
    target.write_text("old\n", encoding="utf-8")

    done = cli("fetch", given, "-o", str(target))

    assert done.status == status
    assert target.read_text(encoding="utf-8") == "old\n"
    assert "Written to" not in done.err
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_is_replaced_if_some_records_are_found(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.commands._state.State.stderr_is_terminal", True)
    target = tmp_path / "part.ids.txt"
    target.write_text("old\n", encoding="utf-8")

    done = cli("fetch", "99999999", "99000001", "-o", str(target))

    assert done.status == 4
    assert target.read_text(encoding="utf-8") == "99000001\n"
    assert "Written to" in done.err


@pytest.mark.parametrize(
    ("form", "mark"), [("ris", "ER  -"), ("bibtex", "@article"), ("csl", '"PMID"'), ("nbib", "PMID-")]
)
def test_a_reference_file_has_each_record_once_and_a_note_names_the_duplicates(cli: Cli, form: str, mark: str) -> None:
    done = cli("fetch", "99000001", "99000001", "PMC99000001", "99000002", "-f", form)

    assert done.status == 0, done.err
    assert done.out.count(mark) == 2
    assert "Note: 2 identifiers name a record that was already written" in done.err


def test_json_lines_have_a_line_for_every_input(cli: Cli) -> None:
    assert len(cli("fetch", "99000001", "99000001", "-f", "jsonl").out.splitlines()) == 2


def test_cited_references_are_listed_on_request(cli: Cli) -> None:
    with_references = json.loads(cli("fetch", "99000001", "--references", "--json").out)["articles"][0]
    without = json.loads(cli("fetch", "99000001", "--json").out)["articles"][0]

    assert {"pmid", "doi", "citation"} <= set(with_references["references"][0])
    assert "references" not in without
