"""Tables that a review reads: a row that cannot be read is an error with its line, and nothing is lost."""

import json
from pathlib import Path

import pytest
from command_line import Cli, read_lines

HEADER = "Title,Authors,Source title,Year,DOI\n"
ROWS = [
    f'"{word} and sleep, a study","Doe, {letter}",J Inv,2020,10.5555/{letter}\n'
    for word, letter in (("Tea", "A"), ("Milk", "B"), ("Rain", "C"), ("Snow", "D"), ("Sand", "E"))
]
TABLE = HEADER + "".join(ROWS)
BAD = {
    "open": ('"Rain and sleep, a study,Doe C,J Inv,2020,10.5555/C\n', 4),
    "inside": ('"Rain of 5" and sleep, a study","Doe, C",J Inv,2020,10.5555/C\n', 4),
    "wide": ("Rain and sleep, a study,Doe C,J Inv,2020,10.5555/C\n", 4),
}


@pytest.fixture(autouse=True)
def _review(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.txt").write_text("sleep\n", encoding="utf-8")
    Path("scopus.csv").write_text(TABLE, encoding="utf-8")
    assert cli("review", "init", "r", "--strategy", "s.txt").status == 0
    monkeypatch.chdir("r")


def import_records(cli: Cli) -> list[str]:
    """Import the table, and return the ids of its works."""
    assert cli("review", "import", "--source", "Scopus", "../scopus.csv").status == 0
    assert cli("review", "dedupe").status == 0
    return [record["id"] for record in read_lines(Path("records.jsonl"))]


@pytest.mark.parametrize("name", BAD)
def test_a_malformed_row_is_not_imported(cli: Cli, name: str) -> None:
    row, line = BAD[name]
    Path("bad.csv").write_text(TABLE.replace(ROWS[2], row), encoding="utf-8")

    done = cli("review", "import", "--source", "Scopus", "bad.csv")

    assert (done.status, f"bad.csv, line {line}: " in done.err) == (2, True)
    assert Path("records.jsonl").read_bytes() == b""


def test_an_incomplete_file_is_not_imported_after_the_complete_one(cli: Cli) -> None:
    ids = import_records(cli)
    for end in (TABLE.index("and sleep, a study", 200), TABLE.index(",J Inv", 200)):
        Path("cut.csv").write_text(TABLE[:end], encoding="utf-8")

        done = cli("review", "import", "--source", "Scopus", "cut.csv")

        assert (done.status, "cut.csv, line " in done.err) == (2, True)
    assert [record["id"] for record in read_lines(Path("records.jsonl"))] == ids


@pytest.mark.parametrize(
    "row", ['{id},exclude,"wrong population\n', "{id},exclude,wrong population, adults\n", '{id},"ex"clude",x\n']
)
def test_a_malformed_row_of_decisions_is_named(cli: Cli, row: str) -> None:
    ids = import_records(cli)
    rows = [f"{one},include,\n" for one in ids]
    rows[2] = row.format(id=ids[2])
    Path("decisions.csv").write_text("".join(["id,decision,reason\n", *rows]), encoding="utf-8")

    done = cli("review", "screen", "import", "decisions.csv")

    assert (done.status, "decisions.csv, line 4: " in done.err) == (2, True)
    assert len(Path("screening.csv").read_text(encoding="utf-8").splitlines()) == 1


def test_each_decision_of_a_table_with_tabs_and_open_quotation_marks_is_applied(cli: Cli) -> None:
    ids = import_records(cli)
    rows = [f'{one}\tinclude\t"a note\n' for one in ids[:-1]]
    rows.append(f"{ids[-1]}\tinclude\t\n")
    Path("decisions.tsv").write_text("".join(["id\tdecision\tnote\n", *rows]), encoding="utf-8")

    done = cli("review", "screen", "import", "decisions.tsv", "--json")

    assert (done.status, json.loads(done.out)["applied"]) == (0, len(ids))


@pytest.mark.parametrize(
    ("file", "row"),
    [
        ("screening.csv", "{id},title_abstract,exclude,wrong population, adults,,,,,\n"),
        ("screening.csv", '{id},title_abstract,exclude,"wrong population\n'),
        ("duplicates.csv", '"same,,x,a,b,,{id},{id},f,f\n'),
        ("duplicates.csv", "same,,x,A study, in winter,b,,{id},{id},f,f\n"),
    ],
)
def test_a_malformed_row_of_the_files_of_a_review_is_named(cli: Cli, file: str, row: str) -> None:
    ids = import_records(cli)
    with Path(file).open("a", encoding="utf-8") as table:
        table.write(row.format(id=ids[0]))

    done = cli("review", "dedupe")

    assert (done.status, f"{file}, line 2: " in done.err) == (2, True)


@pytest.mark.parametrize("row", ['99000004,"Just breathe\n', "99000004,a, b\n"])
def test_no_id_of_a_malformed_table_is_lost(cli: Cli, row: str) -> None:
    Path("ids.csv").write_text(f"pmid,title\n99000001,x\n{row}99000005,y\n99000006,z\n", encoding="utf-8")

    done = cli("fetch", "-i", "ids.csv", "-f", "ids")

    assert (done.status, "ids.csv, line 3: " in done.err) == (2, True)


def test_each_id_of_a_table_with_tabs_and_open_quotation_marks_is_read(cli: Cli) -> None:
    Path("ids.tsv").write_text('pmid\ttitle\n99000001\tx\n99000004\t"Just\n99000005\ty\n', encoding="utf-8")

    assert cli("fetch", "-i", "ids.tsv", "-f", "ids").out.split() == ["99000001", "99000004", "99000005"]


def test_a_malformed_row_of_claims_is_named(cli: Cli) -> None:
    Path("claims.csv").write_text('claim,id\nx,99000001\n"Just breathe,99000004\ny,99000005\n', encoding="utf-8")

    done = cli("verify", "claims.csv")

    assert (done.status, "claims.csv, line 3: " in done.err) == (2, True)


def test_a_malformed_row_of_references_is_named(cli: Cli) -> None:
    Path("refs.csv").write_text('journal,year,title\nJ,2020,x\n"J Inv,2020,y\nJ,2021,z\n', encoding="utf-8")

    done = cli("match", "refs.csv")

    assert (done.status, "line 3: " in done.err) == (2, True)
