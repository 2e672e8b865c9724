"""Messages of wrong calls: each has the value and the next step."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, read_error

from entrez_kit.commands import _app


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["search", ""], "QUERY is empty.", "Give at least one word"),
        (["search", "-"], "Standard input has no query.", "Pipe a query"),
        (["search", "cancer", "-n", "abc"], "--max-results must be a whole number", "Correct --max-results"),
        (["search", "cancer", "--max-results=x"], "(got 'x').", "or omit it (default: 20)"),
        (["serve", "--port", "99999999"], "a whole number from 0 to 65535 (got '99999999').", "--port"),
        (
            ["europepmc", "cancer", "--cursor", "not one!"],
            "(got 'not one!').",
            "omit --cursor",
        ),
        (
            ["gene", "search", "TP53", "--cursor", "xyz"],
            "--cursor must be a cursor",
            "omit --cursor",
        ),
        (["gene", "search", "TP53", "BRCA1", "--cursor", "xyz"], "--cursor cannot be used with a list", "Omit it"),
        (["gene", "search", "TP53", "BRCA1", "--page-size", "5"], "--page-size cannot be used with a list", "Omit it"),
        (["related", "abc"], "ID must be a PMID, PMCID or DOI (got 'abc').", "Give a PMID"),
        (["db", "link", "gene", "7157"], "'gene' is the name of a database, not an id.", "--from gene"),
        (["search", "x", "--has-abstract=yes"], "--has-abstract takes no value.", "Write --has-abstract without"),
        (["search", "x", "--sort", "pubdate"], "(got 'pubdate').", "Did you mean pub_date?"),
        (["check", "99000001", "--fix"], "article cannot be corrected: 99000001.", "--fix is for"),
        (["check", "-", "--fix"], "standard input: it is empty", "Name a file"),
        (["serve", "--auth", "foo"], "The option --auth does not exist.", "serve --help` shows the usage."),
        (["europepmc", "x", "--source", "foo"], "(got 'foo').", "Correct --source"),
        (["related", "1", "--type", "citation_formats", "-n", "5"], "--max-results cannot be used with", "Omit it"),
        (["db", "link", "7157"], "The database pubmed has no record of 7157.", "Check the ids and --from"),
        (["fetch", "9" * 5000], f"{'9' * 24}.", "Give PMIDs"),
        (["fetch", "1", "--config", "/"], "The config file / is a folder.", "Correct --config"),
        (["sandbox", "--port", "99999999"], "--port must be a whole number from 0 to 65535 (got 99999999).", "--port"),
    ],
)
def test_a_wrong_value_is_named_with_the_next_step(cli: Cli, arguments: list[str], message: str, hint: str) -> None:
    done = cli(*arguments, "-f", "table") if arguments[0] not in ("serve", "sandbox") else cli(*arguments)

    assert done.status in (2, 3, 8)
    assert message in done.err
    assert hint in done.err


@pytest.mark.parametrize(
    ("arguments", "named", "absent"),
    [
        (["related", "1", "--type", "citation_formats", "-f", "csv"], "--format csv cannot", "--style ris"),
        (["related", "1", "--type", "citation_formats", "-o", "{}/x.csv"], "/x.csv cannot", "--format csv"),
        (["related", "1", "--type", "citation_formats", "--style", "ris", "-f", "csv"], "--style ris", "default"),
        (["cite", "1", "-o", "{}/x.tsv", "--style", "ris"], "--output {}/x.tsv cannot", "--format tsv"),
        (["cite", "1", "-o", "{}/x.ris", "--style", "apa"], "--output {}/x.ris", "the format ris"),
        (["convert", "{}/x.bib", "--to", "ris", "-o", "{}/x.csv"], "--output {}/x.csv.", "--format"),
        (["convert", "{}/x.bib", "--to", "ris", "--json"], "with --json.", "--format"),
        (["convert", "{}/x.bib", "--to", "ris", "--fields", "pmid"], "with --to ris.", "--format"),
        (["fetch", "1", "--fields", "pmid", "-o", "{}/x.ris"], "--output {}/x.ris.", "--format"),
        (["fetch", "1", "--no-header"], "the format json", "--format json,"),
        (["fetch", "1", "--detail", "full_xml", "-o", "{}/x.csv"], "--output {}/x.csv.", "--format csv"),
        (["search", "x", "--json", "--no-header"], "with --json,", "--format json,"),
    ],
)
def test_a_message_names_the_options_that_were_given(
    cli: Cli, tmp_path: Path, arguments: list[str], named: str, absent: str
) -> None:
    (tmp_path / "x.bib").write_text("@article{k, title={T}}\n", encoding="utf-8")

    done = cli(*(word.format(tmp_path) for word in arguments))

    assert done.status == 2
    message = read_error(done)["message"]
    assert named.format(tmp_path) in message
    assert absent not in message


@pytest.mark.parametrize("name", ["ids.txt", "refs.bib", "genes.csv"])
@pytest.mark.parametrize(
    "words",
    [
        *(["fetch"], ["show"], ["related"], ["fulltext"], ["gene", "get"], ["gene", "pubmed"], ["gene", "search"]),
        *(["db", "fetch", "pubmed"], ["db", "summary", "pubmed"], ["db", "link", "--from", "gene", "--to", "pubmed"]),
    ],
)
def test_a_file_in_the_place_of_an_id_is_named_with_the_option_that_reads_it(
    cli: Cli, tmp_path: Path, words: list[str], name: str
) -> None:
    file = tmp_path / name
    file.write_text("99000001\n", encoding="utf-8")

    error = read_error(cli(*words, str(file)))

    assert error["message"] == f"{file} is a file, not an id."
    assert f"-i {file}" in error["recovery_hint"]


def test_a_file_to_convert_without_a_format_is_named_with_the_missing_option(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    file.write_text("@article{k, title={T}}\n", encoding="utf-8")

    error = read_error(cli("convert", str(file)))

    assert error["message"].startswith(f"{file} is a file, and --to is missing")
    assert {"--to", "-i"} <= set(error["recovery_hint"].split())


def test_the_name_of_a_file_in_the_place_of_a_query_is_refused(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ovid.txt").write_text("1. crispr\n", encoding="utf-8")

    error = read_error(cli("search", "ovid.txt"))

    assert error["message"] == "ovid.txt is a file, not a query."
    assert "--strategy ovid.txt" in error["recovery_hint"]
    assert cli("search", "nothing.txt").status == 0


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_query_can_have_the_name_of_a_file_or_folder(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if kind == "file":
        Path("insulin").touch()
    else:
        Path("insulin").mkdir()

    assert cli("gene", "search", "insulin").status == 0
    assert "is a" in read_error(cli("fetch", "insulin"))["message"]


IDS = (["fetch"], ["show"], ["cite"], ["convert"], ["fulltext"], ["related"], ["gene", "get"], ["db", "fetch", "gene"])


@pytest.mark.parametrize("text", ["", " ", ","])
@pytest.mark.parametrize("words", IDS)
def test_an_argument_without_an_id_is_an_error_that_does_not_name_standard_input(
    cli: Cli, words: list[str], text: str
) -> None:
    done = cli(*words, text)

    assert done.status == 2
    error = read_error(done)
    assert error["message"].startswith("No ")
    assert "Standard input" not in error["message"]


@pytest.mark.parametrize("words", IDS)
def test_a_folder_in_the_place_of_an_id_is_named(cli: Cli, tmp_path: Path, words: list[str]) -> None:
    assert read_error(cli(*words, str(tmp_path)))["message"] == f"{tmp_path} is a folder, not an id."


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--since", "2999"], "--since"),
        (["--min-date", "2999"], "--min-date"),
        (["--max-date", "1800"], "--max-date"),
        (["--min-date", "2998", "--max-date", "2999"], "--min-date and --max-date"),
    ],
)
def test_a_warning_about_dates_names_the_options_that_were_given(cli: Cli, options: list[str], named: str) -> None:
    assert f"Without {named} the query finds " in cli("search", "crispr", *options, "-f", "table").err


@pytest.mark.parametrize("words", [["cite"], ["convert"], ["convert", "--to", "ris"], ["gene", "search"], ["fetch"]])
def test_a_text_that_is_too_long_for_a_file_name_is_invalid_input(cli: Cli, words: list[str]) -> None:
    assert cli(*words, f"{'a' * 300}.bib").status in (0, 2, 4)


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_table_without_a_column_of_ids_is_named_with_its_columns(cli: Cli, tmp_path: Path, suffix: str) -> None:
    table = tmp_path / f"hits{suffix}"
    table.write_text("title,year\nA trial,2020\n", encoding="utf-8")

    done = cli("fetch", "-i", str(table), "-f", "table")

    assert done.status == 2
    assert f'hits{suffix} has no column pmid: its first line is "title,year".' in done.err


@pytest.mark.parametrize("words", [["fetch"], ["gene", "search"], ["gene", "get"], ["db", "summary", "gene"]])
def test_a_list_of_ids_that_is_not_text_is_named_with_its_kind(cli: Cli, tmp_path: Path, words: list[str]) -> None:
    file = tmp_path / "ids.xlsx"
    file.write_bytes(b"PK\x03\x04all of this is ASCII")

    error = read_error(cli(*words, "-i", str(file)))

    assert error["message"] == f"{file} is not a text file, but an Excel workbook."
    assert ".csv" in error["recovery_hint"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("table.csv", "name,fold\nTP53,2\n"),
        ("table.tsv", "name\tfold\nTP53\t2\n"),
        ("list.json", '[{"name": "TP53"}]'),
        ("list.jsonl", '{"name": "TP53"}\n{"name": "BRCA1"}\n'),
    ],
)
@pytest.mark.parametrize(
    ("words", "column"),
    [
        (["gene", "search"], "symbol"),
        (["gene", "get"], "id"),
        (["gene", "pubmed"], "id"),
        (["db", "summary", "nuccore"], "id"),
        (["fetch"], "pmid"),
    ],
)
def test_a_file_with_wrong_columns_is_refused_with_the_column_and_the_command_that_fit(
    cli: Cli, tmp_path: Path, words: list[str], column: str, name: str, text: str
) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")

    error = read_error(cli(*words, "-i", str(file)))

    assert error["details"]["reason"] in ("not_identifiers", "bad_json")
    assert f" {column}" in error["message"]
    assert f" {column}" in error["recovery_hint"]
    assert ("entrez-kit check" in error["recovery_hint"]) is (column == "pmid")
    assert ("entrez-kit gene search" in error["recovery_hint"]) is (words[0] == "gene" and column == "id")


@pytest.mark.parametrize("text", ['[{"symbol": "TP53"}]', '{"gene": "TP53", "id": 7157}\n', '["TP53"]'])
def test_symbols_are_read_from_json(cli: Cli, tmp_path: Path, text: str) -> None:
    file = tmp_path / "symbols.json"
    file.write_text(text, encoding="utf-8")

    done = cli("gene", "search", "-i", str(file), "--organism", "human", "-f", "ids")

    assert done.out.split() == ["NCBIGene:7157"]


def test_a_table_of_ids_without_a_header_is_read(cli: Cli, tmp_path: Path) -> None:
    table = tmp_path / "ids.csv"
    table.write_text("99000001,99000002\n", encoding="utf-8")

    assert cli("fetch", "-i", str(table), "-f", "ids").out.split() == ["99000001", "99000002"]


@pytest.mark.parametrize("arguments", [["gene", "search", "-"], ["fetch", "-"], ["cite", "-"], ["gene", "get", "-"]])
def test_empty_standard_input_is_a_note_and_not_an_error(cli: Cli, arguments: list[str]) -> None:
    done = cli(*arguments, stdin="")

    assert done.status == 0
    assert "Standard input contained no" in done.err


def test_options_are_validated_if_standard_input_is_empty(cli: Cli) -> None:
    assert cli("fetch", "-", "--retmax=-3", stdin="").status == 2
    assert cli("cite", "-", "--style", "nosuchstyle", stdin="").status == 2


def test_changes_since_the_last_sync_need_a_sync(cli: Cli) -> None:
    assert cli("corpus", "checkpoint", "set", "newkey", "2025-01-01").status == 0

    done = cli("corpus", "diff", "newkey")

    assert done.status == 2
    assert "'newkey' was never synced" in done.err
    assert "--since" in done.err


def test_an_existing_corrected_copy_is_named_with_one_reason(cli: Cli, tmp_path: Path) -> None:
    strategy, references = tmp_path / "s.txt", tmp_path / "r.bib"
    strategy.write_text("“Asthma”[mh] or asthma[tiab]\n", encoding="utf-8")
    references.write_text("@article{k, title={T}}\n", encoding="utf-8")
    for path in (strategy, references):
        path.with_name(f"{path.stem}.fixed{path.suffix}").write_text("", encoding="utf-8")

    for arguments in (["strategy", "lint", str(strategy)], ["check", str(references)]):
        done = cli(*arguments, "--fix", "--json")
        assert done.status == 2
        assert '"file_exists"' in done.err


def list_options_with_limits(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the paths of commands, and their options that accept only numbers or some words."""
    for name, below in getattr(command, "commands", {}).items():
        yield from list_options_with_limits(below, (*path, name))
    for parameter in command.params:
        # The metavar of a choice lists its words.
        is_limited = parameter.param_type_name == "option" and (parameter.metavar == "N" or parameter.name == "color")
        if is_limited and not getattr(command, "commands", None):
            yield path, max(parameter.opts, key=len)


def test_every_option_with_limits_refuses_a_wrong_value_in_one_form(cli: Cli) -> None:
    options = [found for name in _app.COMMANDS for found in list_options_with_limits(_app.load_command(name), (name,))]

    assert len(options) > 60
    for path, option in options:
        done = cli(*path, option, "no!")
        assert done.status == 2, (path, option)
        assert f"{option} must be " in done.err, (path, option)
        assert "(got 'no!')." in done.err, (path, option)


@pytest.mark.parametrize(
    ("arguments", "option", "accepted"),
    [
        (["search", "x", "--sort", "newest"], "--sort", "relevance"),
        (["search", "x", "--since", "x"], "--since", "a date"),
        (["search", "x", "--format", "no"], "--format", "jsonl"),
        (["check", "x.bib", "--fail-on", "no"], "--fail-on", "retracted"),
        (["strategy", "lint", "x.txt", "--fail-on", "no"], "--fail-on", "warning"),
        (["corpus", "search", "x", "--index", "no"], "--index", "weaviate"),
        (["convert", "x.bib", "--to", "no"], "--to", "bibtex"),
        (["cite", "99000001", "--style", "no!"], "--style", "vancouver"),
        (["merge", "x.bib", "--source", "no"], "--source", "NAME=FILE"),
        (["sandbox", "--faults", "no"], "--faults", "KIND=SHARE"),
        (["corpus", "checkpoint", "set", "k", "no"], "TIME", "a date"),
    ],
)
def test_a_wrong_word_is_refused_with_the_accepted_words(
    cli: Cli, arguments: list[str], option: str, accepted: str
) -> None:
    done = cli(*arguments)

    assert done.status == 2
    assert f"{option} must be " in done.err
    assert accepted in done.err
    assert "(got '" in done.err


def test_codes_with_hyphens_are_accepted(cli: Cli, tmp_path: Path) -> None:
    strategy = tmp_path / "s.txt"
    strategy.write_text("asthma[tiab] OR\n", encoding="utf-8")

    assert cli("strategy", "lint", str(strategy), "--fail-on", "unused-line").status == 0


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (["gene", "show", "7157"], "search, get, pubmed"),
        (["config", "get", "email"], "show"),
        (["serach", "x"], "search"),
    ],
)
def test_an_unknown_command_is_refused_with_those_that_exist(cli: Cli, arguments: list[str], suggestion: str) -> None:
    done = cli(*arguments)

    assert done.status == 2
    assert suggestion in done.err


def test_a_list_of_ids_is_not_a_bibliography(cli: Cli, tmp_path: Path) -> None:
    draft, ids = tmp_path / "draft.md", tmp_path / "ids"
    draft.write_text("Sleep helps [@a].\n", encoding="utf-8")
    ids.write_text("99000001\n", encoding="utf-8")

    done = cli("verify", str(draft), "--bibliography", str(ids))

    assert done.status == 2
    assert '"bad_file"' in done.err


def test_a_missing_copy_is_answered_with_the_way_to_create_one(cli: Cli) -> None:
    done = cli("--local", "nosuch", "search", "crispr")

    assert done.status == 3
    assert "local import nosuch" in done.err
