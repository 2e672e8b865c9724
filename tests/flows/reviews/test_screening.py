"""Export for screening programs and import of their decisions, also from programs that drop fields."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import rispy
from command_line import Cli, RunResult

from entrez_kit.reviews.records import ID

RECORD = """TY  - JOUR
AU  - Doe, Jane
AU  - Roe, Richard
TI  - {title}
T2  - Journal of Clinical Invention
PY  - 2020
VL  - {number}
SP  - {number}01
DO  - 10.5555/{number}
AB  - Nothing was measured.
ER  -

"""
TITLES = (
    "Sleep training of nurses who work at night",
    "Walking in the rain and pain of the knee",
    "Reading aloud and the vocabulary of sailors",
    "Cold water and the mood of swimmers in winter",
    "Bread without salt in village bakeries",
    "Music in waiting rooms of dental practices",
)


@pytest.fixture
def review(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a review with six works, one of them in two sources."""
    monkeypatch.chdir(tmp_path)
    Path("s.txt").write_text("sleep\n", encoding="utf-8")
    texts = [RECORD.format(title=title, number=number) for number, title in enumerate(TITLES, start=1)]
    Path("embase.ris").write_text("".join(texts[:4]), encoding="utf-8")
    Path("cinahl.ris").write_text("".join(texts[3:]), encoding="utf-8")
    assert cli("review", "init", "r", "--strategy", "s.txt").status == 0
    monkeypatch.chdir("r")
    for source in ("embase", "cinahl"):
        assert cli("review", "import", "--source", source.title(), f"../{source}.ris").status == 0
    assert cli("review", "dedupe").status == 0
    return Path.cwd()


def run_export(cli: Cli, *options: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(cli("review", "screen", "export", "--json", *options).out)
    return document


def read_exported(stage: str = "title_abstract", name: str = "all") -> list[dict[str, Any]]:
    """Return the exported records as another reader of RIS reads them."""
    text = Path(f"screening/{stage}/{name}.ris").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = rispy.loads(text)
    return found


def import_decisions(cli: Cli, text: str, *options: str, name: str = "decided.csv") -> tuple[RunResult, dict[str, Any]]:
    Path(name).write_text(text, encoding="utf-8")
    done = cli("review", "screen", "import", name, "--json", *options)
    return done, json.loads(done.out) if done.out else {}


def write_table(*rows: dict[str, str]) -> str:
    target = io.StringIO()
    writer = csv.DictWriter(target, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()


def read_boxes(cli: Cli) -> dict[str, int | None]:
    found: dict[str, int | None] = json.loads(cli("review", "status", "--json").out)["flow"]["boxes"]
    return found


def test_each_work_is_in_the_file_of_one_source_and_in_that_of_all(cli: Cli, review: Path) -> None:
    files = {one["file"].rpartition("/")[2]: one["works"] for one in run_export(cli)["files"]}

    assert files["all.ris"] == sum(number for name, number in files.items() if name != "all.ris") == len(TITLES)
    by_source = [one["id"] for name in ("cinahl", "embase") for one in read_exported(name=name)]
    assert sorted(by_source) == sorted(one["id"] for one in read_exported())
    shared = next(one for one in read_exported() if one["title"] == TITLES[3])
    assert "source: Cinahl; Embase" in shared["notes"]


@pytest.mark.parametrize("kept", ["id", "label", "notes", "accession_number", "doi", "title"])
def test_decisions_are_matched_by_any_field_that_a_program_keeps(cli: Cli, review: Path, kept: str) -> None:
    run_export(cli)
    rows = []
    for number, one in enumerate(read_exported()):
        value = one[kept]
        rows.append({kept: "; ".join(value) if isinstance(value, list) else value, "included": str(number % 2)})

    done, result = import_decisions(cli, write_table(*rows))

    assert done.status == 0
    assert (result["applied"], result["unknown"], result["contradictory"]) == (len(TITLES), [], [])
    assert list(result["matched_by"]) == [{"doi": "identifier", "title": "title"}.get(kept, "id")]
    assert read_boxes(cli)["records_excluded"] == 3
    assert read_boxes(cli)["dbr_sought_reports"] == 3


def test_the_file_formats_of_the_programs_are_read(cli: Cli, review: Path) -> None:
    run_export(cli)
    one = [ID.findall(record["id"])[0] for record in read_exported()]
    rayyan = (
        'RAYYAN-INCLUSION: {{"Ann"=>"{}", "Bob"=>"{}"}} | RAYYAN-EXCLUSION-REASONS: wrong population | RAYYAN-LABELS: x'
    )
    rows = [
        {"id": one[0], "notes": rayyan.format("Included", "Included")},
        {"id": one[1], "notes": rayyan.format("Excluded", "Maybe")},
        {"id": one[2], "notes": rayyan.format("Included", "Excluded")},
        {"id": one[3], "notes": "ASReview_irrelevant"},
        {"id": one[4], "notes": "ASReview_not_seen"},
        {"id": one[5], "notes": "nothing"},
    ]

    done, result = import_decisions(cli, write_table(*rows))

    assert done.status == 4
    assert (result["applied"], result["undecided"]) == (3, 2)
    assert [row["records"] for row in result["contradictory"]] == [[one[2]]]
    with Path("screening.csv").open(encoding="utf-8", newline="") as file:
        decided = {row["id"]: (row["decision"], row["reason"]) for row in csv.DictReader(file)}
    assert decided == {
        one[0]: ("include", ""),
        one[1]: ("exclude", "wrong population"),
        one[3]: ("exclude", ""),
    }


def test_unknown_repeated_and_contradictory_rows_are_named_and_every_row_is_counted(cli: Cli, review: Path) -> None:
    run_export(cli)
    one = [record["id"] for record in read_exported()]
    rows = [
        {"id": one[0], "title": "", "decision": "include"},
        {"id": one[0], "title": "", "decision": "include"},
        {"id": one[1], "title": "", "decision": "include"},
        {"id": one[1], "title": "", "decision": "exclude"},
        {"id": "ek-embase-000000000000", "title": TITLES[2], "decision": "include"},
        {"id": "", "title": "A title of no record", "decision": "include"},
        {"id": f"{one[2]} {one[3]}", "title": "", "decision": "include"},
        {"id": one[4], "title": "", "decision": "maybe"},
    ]

    done, result = import_decisions(cli, write_table(*rows))

    assert done.status == 4
    assert (result["applied"], result["repeated"], result["undecided"]) == (1, 1, 1)
    assert [row["place"] for row in result["unknown"]] == [f"decided.csv, line {line}" for line in (6, 7, 8)]
    assert [row["place"] for row in result["contradictory"]] == ["decided.csv, line 4", "decided.csv, line 5"]
    counted = ("applied", "unchanged", "repeated", "undecided")
    rest = len(result["unknown"]) + len(result["contradictory"])
    assert sum(result[name] for name in counted) + rest == result["rows"] == len(rows)

    again, second = import_decisions(cli, write_table(*rows[:1]))
    assert (again.status, second["applied"], second["unchanged"]) == (0, 0, 1)
    other, third = import_decisions(cli, write_table({**rows[0], "decision": "exclude"}))
    assert (other.status, third["applied"], len(third["contradictory"])) == (4, 0, 1)
    replaced, fourth = import_decisions(cli, write_table({**rows[0], "decision": "exclude"}), "--replace")
    assert (replaced.status, fourth["applied"]) == (0, 1)


def test_a_full_text_stage_of_covidence_files_fills_the_boxes(cli: Cli, review: Path) -> None:
    run_export(cli)
    first = [{"Title": one["title"], "Accession Number": one["accession_number"]} for one in read_exported()]
    assert import_decisions(cli, write_table(*first))[0].status == 2  # no decision
    assert import_decisions(cli, write_table(*first[:5]), "--decision", "include")[1]["applied"] == 5
    assert import_decisions(cli, write_table(first[5]), "--decision", "exclude")[1]["applied"] == 1
    assert run_export(cli)["works"] == 0
    assert run_export(cli, "--stage", "full_text")["works"] == 5
    full = ("--stage", "full_text", "--decision")
    notes = "Exclusion reason: Wrong outcome;"
    assert (
        import_decisions(
            cli, write_table({**first[0], "Notes": notes}, {**first[1], "Notes": notes}), *full, "exclude"
        )[0].status
        == 0
    )
    assert import_decisions(cli, write_table(first[2]), *full, "not_retrieved")[0].status == 0
    both = [{**first[3], "Covidence #": "#7"}, {**first[4], "Covidence #": "#7"}]
    assert import_decisions(cli, write_table(*both), *full, "include")[0].status == 0
    refused, result = import_decisions(cli, write_table(first[5]), *full, "include")
    assert (refused.status, len(result["contradictory"])) == (4, 1)

    found = read_boxes(cli)
    assert [found[name] for name in ("dbr_assessed", "dbr_excluded", "dbr_notretrieved_reports")] == [4, 2, 1]
    assert (found["new_reports"], found["new_studies"]) == (2, 1)
    flow = json.loads(cli("review", "status", "--json").out)["flow"]
    assert flow["reasons"] == {"Wrong outcome": 2}
