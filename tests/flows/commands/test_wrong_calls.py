"""Messages of wrong calls: each has the value and the next step."""

from pathlib import Path

import pytest
from command_line import Cli


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["search", ""], "QUERY is empty.", "Give at least one word"),
        (["search", "-"], "Standard input has no query.", "Pipe a query"),
        (["search", "cancer", "-n", "abc"], "must be a valid integer (got abc).", "--help"),
        (["search", "cancer", "--max-results=x"], "must be a valid integer (got x).", "--help"),
        (["serve", "--port", "99999999"], "(got 99999999).", "--help"),
        (["europepmc", "cancer", "--cursor", "not one!"], "--cursor: 'not one!' is not a cursor", "omit --cursor"),
        (["gene", "search", "TP53", "--cursor", "xyz"], "--cursor: 'xyz' is not a cursor", "omit --cursor"),
        (["gene", "search", "TP53", "BRCA1", "--cursor", "xyz"], "--cursor cannot be used with a list", "Omit it"),
        (["gene", "search", "TP53", "BRCA1", "--page-size", "5"], "--page-size cannot be used with a list", "Omit it"),
        (["related", "abc"], "ID: 'abc' must be a PMID, PMCID or DOI.", "Give a PMID"),
        (["db", "link", "gene", "7157"], "'gene' is the name of a database, not an id.", "--from gene"),
        (["sandbox", "--port", "99999999"], "--port must be between 0 and 65535 (got 99999999).", "--port"),
    ],
)
def test_a_wrong_value_is_named_with_the_next_step(cli: Cli, arguments: list[str], message: str, hint: str) -> None:
    done = cli(*arguments, "-f", "table") if arguments[0] not in ("serve", "sandbox") else cli(*arguments)

    assert done.status == 2
    assert message in done.err
    assert hint in done.err


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_table_without_a_column_of_ids_is_named_with_its_columns(cli: Cli, tmp_path: Path, suffix: str) -> None:
    table = tmp_path / f"hits{suffix}"
    table.write_text("title,year\nA trial,2020\n", encoding="utf-8")

    done = cli("fetch", "-i", str(table), "-f", "table")

    assert done.status == 2
    assert f'hits{suffix} has no column pmid: its first line is "title,year".' in done.err


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
