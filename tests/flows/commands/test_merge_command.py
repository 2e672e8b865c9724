"""`merge` in a terminal: files, the table of decisions, undo, and the exit status."""

import csv
import json
from pathlib import Path

import pytest
from command_line import Cli

RECORD = """TY  - JOUR
AU  - Doe, Jane
AU  - Roe, Richard
TI  - Effects of invented sleep training on nurses who work at night
T2  - Journal of Clinical Invention
PY  - 2020
VL  - 12
SP  - 101
EP  - 110
DO  - 10.5555/{doi}
ER  -
"""


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ris").write_text(RECORD.format(doi="a"), encoding="utf-8")
    Path("b.ris").write_text(RECORD.format(doi="b"), encoding="utf-8")
    Path("c.ris").write_text(RECORD.format(doi="a"), encoding="utf-8")


def write_decision(place: Path, word: str) -> None:
    """Write a decision in the first row of a table."""
    with place.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[0]["decision"] = word
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_a_decision_in_the_table_is_applied_by_the_next_run(cli: Cli) -> None:
    first = cli("merge", "a.ris", "b.ris", "--review", "table.csv", "-o", "unique.ris")
    assert first.status == 4
    assert Path("unique.ris").read_text(encoding="utf-8").count("TY  - ") == 2
    write_decision(Path("table.csv"), "same")
    second = cli("merge", "a.ris", "b.ris", "--review", "table.csv", "-o", "unique.ris")
    assert second.status == 0
    assert Path("unique.ris").read_text(encoding="utf-8").count("TY  - ") == 1
    with Path("table.csv").open(encoding="utf-8", newline="") as file:
        assert [row["decision"] for row in csv.DictReader(file)] == ["same"]
    third = cli("merge", "a.ris", "b.ris", "--review", "table.csv", "--json")
    assert json.loads(third.out)["counts"]["works"] == 1


def test_undo_is_stored_in_the_table(cli: Cli) -> None:
    merged = json.loads(cli("merge", "a.ris", "c.ris", "--json").out)
    assert merged["counts"]["works"] == 1
    undone = cli("merge", "a.ris", "c.ris", "--undo", "c.ris#1", "--review", "table.csv", "--json")
    assert json.loads(undone.out)["counts"]["works"] == 2
    later = cli("merge", "a.ris", "c.ris", "--review", "table.csv", "--json")
    assert json.loads(later.out)["counts"]["works"] == 2


def test_a_source_names_the_database_of_a_file(cli: Cli) -> None:
    done = cli("merge", "a.ris", "c.ris", "--source", "Embase=a.ris", "--json")
    assert [row["source"] for row in json.loads(done.out)["databases"]] == ["Embase", "c"]
    assert cli("merge", "a.ris", "--source", "Embase=other.ris").status == 2
    assert cli("merge", "a.ris", "--source", "Embase").status == 2


def test_missing_files_and_files_without_records_are_rejected(cli: Cli) -> None:
    Path("empty.ris").write_text("\n", encoding="utf-8")
    assert cli("merge", "a.ris", "none.ris").status == 2
    assert cli("merge", "a.ris", "empty.ris").status == 2
    assert cli("merge", "a.ris", "--undo", "a.ris#7").status == 2
