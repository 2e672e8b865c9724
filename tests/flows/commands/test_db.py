"""`entrez-kit db`: any Entrez database in the terminal."""

import json
from pathlib import Path

import pytest
from command_line import Cli, Program, read_error, read_lines, read_rows

from entrez_kit.commands import db as db_module
from entrez_kit.sandbox.server import Sandbox

IDS = ("672", "999999", "7157", "TP53", "672")


def test_json_lines_have_one_line_per_id_in_order(cli: Cli) -> None:
    summaries, links = (
        cli("db", "summary", "gene", *IDS, "-f", "jsonl"),
        cli(*("db", "link", *IDS, "--from", "gene", "--to", "pubmed", "-f", "jsonl")),
    )

    assert summaries.status == links.status == 4
    for done, key in ((summaries, "uid"), (links, "source_id")):
        found = read_lines(done.out)
        assert [line.get(key) or (line["input"], line["status"], line["error"]["code"]) for line in found] == [
            "672",
            ("999999", "not_found", "ENTITY_NOT_FOUND"),
            "7157",
            ("TP53", "invalid", "INVALID_INPUT"),
            "672",
        ]


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_rows_have_the_records_found_and_stderr_names_the_others(cli: Cli, form: str, delimiter: str) -> None:
    summaries = cli("db", "summary", "gene", *IDS, "-f", form)
    links = cli("db", "link", *IDS, "--from", "gene", "--to", "pubmed", "-f", form)

    assert [(row["uid"], row["title"]) for row in read_rows(summaries.out, delimiter)] == [
        ("672", "BRCA1"),
        ("7157", "TP53"),
        ("672", "BRCA1"),
    ]
    assert [(row["source_id"], row["id"]) for row in read_rows(links.out, delimiter)][:4] == [
        ("672", "99000033"),
        ("672", "99000032"),
        ("672", "99000030"),
        ("7157", "99000034"),
    ]
    for done in (summaries, links):
        assert [item["id"] for item in read_error(done)["details"]["missing"]] == ["999999", "TP53"]


@pytest.mark.long
def test_fields_of_a_database_can_be_selected(cli: Cli) -> None:
    done = cli("db", "summary", "taxonomy", "9606", "5", "-f", "csv", "--fields", "uid,scientificname,rank")
    failed = read_lines(cli("db", "summary", "taxonomy", "9606", "5", "-f", "jsonl", "--fields", "uid,rank").out)

    assert done.out == "uid,scientificname,rank\n9606,Homo sapiens,species\n"
    assert failed[0] == {"uid": "9606", "rank": "species"}
    assert (failed[1]["input"], failed[1]["status"]) == ("5", "not_found")
    assert json.loads(cli("db", "info", "mesh", "--json", "--fields", "name,term_count").out)["database"]["fields"][0]
    for words in (("search", "mesh", "x"), ("link", "7157", "--from", "gene"), ("info",), ("info", "mesh")):
        for form in ("json", "jsonl", "csv", "table"):
            assert cli("db", *words, "-f", form, "--fields", "nonsense").status == 2, (words, form)
    assert cli("db", "search", "mesh", "heart attack", "-f", "jsonl", "--fields", "id").out == '{"id":"68009203"}\n'


def test_printed_ids_are_input_for_the_next_command(cli: Cli) -> None:
    found = cli("db", "search", "nuccore", "human[orgn]", "-f", "ids")
    linked = cli("db", "link", "-", "--from", "nuccore", "--to", "gene", "-f", "ids", stdin=found.out)
    pmids = cli("db", "link", "-", "--from", "gene", "--to", "pubmed", "-f", "ids", stdin=linked.out)
    fetched = cli("fetch", "-", "-f", "ids", stdin=pmids.out)

    assert found.out.split() == ["990000101", "990000102"]
    assert linked.out.split() == ["7157", "672"]
    assert fetched.out == pmids.out
    document = cli("db", "search", "nuccore", "human[orgn]", "--json")
    assert cli("db", "summary", "nuccore", "-", "-f", "ids", stdin=document.out).out == found.out


def test_ids_can_come_from_files_and_arguments_together(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_text("7157, 672 # two genes\nNCBIGene:22059\n", encoding="utf-8")

    assert cli("db", "summary", "gene", "1", "-i", str(path), "-f", "ids").out.split() == ["1", "7157", "672", "22059"]


def test_an_empty_search_earlier_in_a_pipe_is_not_a_failure(cli: Cli) -> None:
    for words, empty in (
        (("db", "summary", "gene", "-"), {"db": "gene", "ids": [], "summaries": [], "not_found_ids": []}),
        (("db", "link", "-"), {"source": "pubmed", "target": "pmc", "linksets": []}),
    ):
        done = cli(*words, stdin="")
        assert done.status == 0
        assert json.loads(done.out) == empty
        assert done.err.startswith("Note: ")
    assert cli("db", "fetch", "gene", "-", "-f", "text", stdin="").out == ""
    nothing = cli("db", "summary", "gene")
    assert nothing.status == 2
    assert read_error(nothing)["details"]["reason"] == "no_identifiers"


# fetch


def test_text_is_ncbis_unchanged_text_in_a_pipe_and_in_a_file(cli: Cli, tmp_path: Path) -> None:
    words = ("db", "fetch", "nuccore", "ZZ900001.1", "--rettype", "fasta")
    piped = cli(*words)
    path = tmp_path / "x.fasta"
    filed = cli(*words, "-o", str(path))

    assert piped.out.startswith(">ZZ900001.1 Homo sapiens")
    assert filed.status == 0
    assert filed.out == ""
    assert path.read_text(encoding="utf-8") == piped.out == json.loads(cli(*words, "--json").out)["content"]
    as_json = tmp_path / "x.json"
    cli(*words, "-o", str(as_json))
    assert json.loads(as_json.read_text(encoding="utf-8"))["rettype"] == "fasta"
    assert cli(*words, "-f", "text").out == piped.out
    assert json.loads(cli(*words[:4]).out)["db"] == "nuccore"  # without a type, the document


@pytest.mark.parametrize("suffix", [".fa", ".gb", ".xml", ".txt", ""])
def test_a_file_with_any_suffix_contains_ncbis_text(cli: Cli, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"record{suffix}"
    cli("db", "fetch", "taxonomy", "9606", "--retmode", "xml", "-o", str(path))

    assert path.read_text(encoding="utf-8").startswith("<?xml")


def test_a_partial_result_is_written_and_missing_records_are_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "part.fa"
    done = cli("db", "fetch", "nuccore", "ZZ900001.1", "990000999", "--rettype", "fasta", "-o", str(path))

    assert done.status == 4
    assert path.read_text(encoding="utf-8").count(">") == 1
    assert [item["id"] for item in read_error(done)["details"]["missing"]] == ["990000999"]


@pytest.mark.parametrize(("uid", "names_type"), [("NM_000546.6", True), ("990000999", False)])
def test_the_error_names_the_type_if_the_type_or_the_id_may_be_wrong(cli: Cli, uid: str, names_type: bool) -> None:
    error = read_error(cli("db", "fetch", "nuccore", uid, "--rettype", "nosuch"))

    assert error["code"] == "ENTITY_NOT_FOUND"
    assert ("--rettype" in error["recovery_hint"]) == ("nosuch" in error["message"]) == names_type


def test_an_empty_result_does_not_change_an_existing_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "kept.fa"
    path.write_text("mine\n", encoding="utf-8")
    done = cli("db", "fetch", "nuccore", "990000999", "--rettype", "fasta", "-o", str(path))

    assert done.status == 3
    assert done.out == ""
    assert path.read_text(encoding="utf-8") == "mine\n"


def test_fields_are_rejected_for_text(cli: Cli) -> None:
    done = cli("db", "fetch", "taxonomy", "9606", "-f", "text", "--fields", "content")

    assert done.status == 2
    assert json.loads(cli("db", "fetch", "taxonomy", "9606", "--json", "--fields", "content").out).keys() == {"content"}


# statuses


@pytest.mark.parametrize(
    ("words", "endpoint"),
    [
        (("db", "info"), "einfo"),
        (("db", "search", "gene", "x"), "esearch"),
        (("db", "summary", "gene", "7157"), "esummary"),
        (("db", "fetch", "gene", "7157"), "efetch"),
        (("db", "link", "7157", "--from", "gene", "--to", "pubmed"), "elink"),
    ],
)
def test_an_outage_ends_with_5_and_prints_no_data(
    cli: Cli, sandbox: Sandbox, words: tuple[str, ...], endpoint: str
) -> None:
    sandbox.take_down(endpoint)
    done = cli(*words)

    assert done.status == 5
    assert done.out == ""
    assert read_error(done)["code"] == "UPSTREAM_ERROR"


def test_warnings_are_on_stderr_and_in_the_document(cli: Cli) -> None:
    piped = cli("db", "search", "mesh", "diabetes[foo]", "-f", "ids")
    document = cli("db", "search", "mesh", "diabetes[foo]", "--json")
    unknown = cli("db", "link", "7157", "--from", "gene", "--to", "mesh", "-f", "csv")

    assert "The search field 'foo' does not exist" in piped.err
    codes = [warning["code"] for warning in json.loads(document.out)["warnings"]]
    assert codes == ["query_broadened", "field_not_found"]
    assert document.err.count("Warning: ") == 2
    assert "no links from gene to mesh" in unknown.err


# tables


@pytest.mark.parametrize("columns", ["80", "200"])
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("info",), ["pubmed", "nuccore", "databases"]),
        (("info", "gene"), ["GENE", "gene_pubmed"]),
        (("info", "--term", "TP53"), ["pubmed", "nuccore"]),
        (("search", "mesh", "diabetes"), ["68003924", "1–7 of 7 in mesh", "Searched for:"]),
        (("summary", "taxonomy", "9606"), ["taxonomy 9606", "Homo sapiens"]),
        (
            ("link", "7157", "22059", "--from", "gene", "--to", "pubmed"),
            ["gene_pubmed", "99000034", "no records linked"],
        ),
    ],
)
def test_tables_are_not_wider_than_the_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], shown: list[str], columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    done = cli("db", *words, "-f", "table")

    assert done.status == 0, done.err
    assert max(map(len, done.out.splitlines())) <= int(columns)
    squeezed = " ".join(done.out.split())
    for text in shown:
        assert text in squeezed


@pytest.mark.process
def test_a_separate_process_ends_like_a_call_in_this_process(process: Program) -> None:
    fasta = process("db", "fetch", "nuccore", "ZZ900001.1", "--rettype", "fasta", "-f", "text")
    missing = process("db", "summary", "taxonomy", "9606", "5")

    assert fasta.out.startswith(">ZZ900001.1")
    assert (fasta.status, len(fasta.err.splitlines())) == (0, 1)
    assert fasta.err.startswith("Warning: Demo")
    assert missing.status == 4
    assert json.loads(missing.out)["not_found_ids"] == ["5"]
    assert read_error(missing)["details"]["partial"] is True


def test_help_shows_examples_and_every_flag(cli: Cli) -> None:
    for name in ("info", "search", "summary", "fetch", "link"):
        done = cli("db", name, "--help")
        assert done.status == 0
        assert "entrez-kit db" in done.out
    assert "NCBI's own text" in cli("db", "fetch", "--help").out
    assert db_module.app.info.help


def test_dropped_query_parts_are_warnings_and_omitted_results_are_a_note(cli: Cli) -> None:
    err = cli("db", "search", "nuccore", "human[orgn] AND qqqzz[foo]", "-f", "table").err
    more = cli("db", "search", "mesh", "diabetes", "-n", "2", "-f", "ids")

    assert err.startswith("Warning: ")
    assert "Note: 5 more results. Add --offset 2" in more.err


@pytest.mark.process
def test_the_demo_lists_its_databases_and_does_not_deny_that_others_exist(program: Program) -> None:
    for command in (("info", "omim"), ("search", "omim", "x"), ("fetch", "omim", "1"), ("summary", "omim", "1")):
        done = program("--demo", "db", *command, "--json")
        said = json.loads(done.err.splitlines()[-1])["error"]

        assert done.status == (3 if command[0] == "info" else 2)
        assert said["message"].startswith("The demo has no database 'omim'. It has ")
        assert "pubmed" in said["message"]


def test_an_unknown_database_is_answered_with_a_similar_name_or_none(cli: Cli) -> None:
    assert "protein" in read_error(cli("db", "search", "protien", "x"))["recovery_hint"]
    assert "pubmed" in read_error(cli("db", "info", "pubmedd"))["recovery_hint"]
    assert "mean" not in read_error(cli("db", "search", "medline", "x"))["recovery_hint"]
    named = read_error(cli("db", "search", "--db", "protein", "x"))["recovery_hint"]
    assert named.endswith("db search DB QUERY`.")
