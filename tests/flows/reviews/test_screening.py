"""Export for screening programs and import of their decisions, also from programs that drop fields."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import rispy
from command_line import Cli, RunResult, read_lines

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
    monkeypatch.setattr("entrez_kit.reviews.write_report.convert_markdown", lambda text, *_: text.encode())
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


def decide(*rows: tuple[str, str]) -> str:
    """Return a table of decisions."""
    return write_table(*({"id": record, "decision": choice} for record, choice in rows))


def list_works(cli: Cli) -> list[str]:
    run_export(cli)
    return [ID.findall(record["id"])[0] for record in read_exported()]


def test_a_decision_that_contradicts_another_stage_is_named_and_the_others_are_applied(cli: Cli, review: Path) -> None:
    one = list_works(cli)
    before = ("--stage", "before_screening")
    assert import_decisions(cli, decide((one[0], "exclude")), *before)[0].status == 0
    assert import_decisions(cli, decide((one[1], "include")))[0].status == 0
    assert import_decisions(cli, decide((one[1], "include")), "--stage", "full_text")[0].status == 0

    for options, rows, wrong, why in (
        ((), [(one[2], "include"), (one[0], "include")], one[0], "it was excluded before screening"),
        (("--replace",), [(one[3], "exclude"), (one[1], "exclude")], one[1], "it has a full-text decision"),
        (before, [(one[4], "exclude"), (one[1], "exclude")], one[1], "it has a decision of screening"),
        (("--stage", "full_text"), [(one[2], "exclude"), (one[0], "include")], one[0], "it was excluded before"),
    ):
        done, result = import_decisions(cli, decide(*rows), *options)

        assert (done.status, result["applied"]) == (4, 1)
        assert [(row["place"], row["records"]) for row in result["contradictory"]] == [("decided.csv, line 3", [wrong])]
        assert result["contradictory"][0]["why"].startswith(why)
        assert "1 row in conflict with another stage" in done.err
        assert "--replace" not in done.err
    assert cli("review", "report").status == 0


def test_the_decision_on_a_work_replaces_those_on_all_its_records(cli: Cli, review: Path) -> None:
    one = list_works(cli)
    shared = next(record["id"] for record in read_exported() if record["title"] == TITLES[3])
    members = [line["id"] for line in read_lines(Path("records.jsonl")) if line["work"] == shared]
    table = [f"{member},title_abstract,include,\n" for member in members]
    Path("screening.csv").write_text("id,stage,decision,reason\n" + "".join(table), encoding="utf-8")

    done, result = import_decisions(cli, decide((shared, "exclude")), "--replace")

    assert (len(members), done.status, result["applied"]) == (2, 0, 1)
    assert read_boxes(cli)["records_excluded"] == 1
    assert len(one) == len(TITLES)


def test_the_next_step_depends_on_why_rows_were_not_applied(cli: Cli, review: Path) -> None:
    one = list_works(cli)
    notes = 'RAYYAN-INCLUSION: {"Ann"=>"Included", "Bob"=>"Excluded"}'
    disagreement = write_table({"id": one[0], "decision": "", "notes": notes})
    for options in ((), ("--replace",)):
        done, _ = import_decisions(cli, disagreement, *options)
        assert "1 row with different decisions on one record (decided.csv, line 2). Resolve" in done.err
        assert "--replace" not in done.err
    assert import_decisions(cli, decide((one[0], "include")))[0].status == 0

    done, _ = import_decisions(
        cli, decide((one[0], "exclude"), (f"{one[1]}, {one[2]}", "include"), ("ek-x-1", "include"))
    )

    for text in (
        "1 row of unknown records",
        "(decided.csv, line ",
        "1 row with several matching records",
        "1 row in conflict with earlier decisions",
        "--replace replaces earlier decisions.",
    ):
        assert text in done.err


def test_a_merge_that_makes_decisions_contradict_each_other_is_named(cli: Cli, review: Path) -> None:
    record = "TY  - JOUR\nAU  - Doe, Jane\nTI  - Effects of invented naps on nurses\nT2  - J Inv\nPY  - 2020\n"
    for name in ("a", "b"):
        Path(f"{name}.ris").write_text(f"{record}DO  - 10.5555/{name}\nER  - \n", encoding="utf-8")
        assert cli("review", "import", "--source", name.upper(), f"{name}.ris").status == 0
    assert cli("review", "dedupe").status == 4
    assert json.loads(cli("review", "status", "--json").out)["next"] == "review dedupe"
    item = json.loads(cli("review", "report", "--json").out)["prisma_s"][15]
    assert (item["is_open"], "1 pair is undecided" in item["text"], "people" in item["text"]) == (True, True, False)
    pair = [line["id"] for line in read_lines(Path("records.jsonl")) if line["source"] in ("A", "B")]
    assert import_decisions(cli, decide((pair[0], "include"), (pair[1], "exclude")))[0].status == 0
    with Path("duplicates.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    undecided = next(row for row in rows if not row["suggestion"])

    for decision, status in (("same", 4), ("different", 0)):
        undecided["decision"] = decision
        Path("duplicates.csv").write_text(write_table(*rows), encoding="utf-8")
        for _ in range(2):
            done = cli("review", "dedupe", "--json")
            assert done.status == status
            warnings = json.loads(done.out).get("warnings", [])
            assert [one["code"] for one in warnings] == ["decisions_contradict"] * (status == 4)
            assert all(record in one["message"] for one in warnings for record in pair)
    item = json.loads(cli("review", "report", "--json").out)["prisma_s"][15]
    assert (item["is_open"], "1 pair was decided by people" in item["text"]) == (False, True)


def test_a_box_without_decisions_is_empty(cli: Cli, review: Path) -> None:
    boxes = read_boxes(cli)
    assert (boxes["excluded_automatic"], boxes["excluded_other"]) == (None, None)

    one = list_works(cli)
    assert import_decisions(cli, decide((one[0], "include")))[0].status == 0

    boxes = read_boxes(cli)
    assert (boxes["excluded_automatic"], boxes["excluded_other"]) == (0, 0)
