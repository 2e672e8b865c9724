"""A review in the terminal, from the strategy to the deduplicated records, against the demo's services."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, read_lines

from entrez_kit.sandbox.server import Sandbox

STRATEGY = "1. base editing.tw.\n2. crispr.ti,ab.\n3. 1 or 2\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ovid.txt").write_text(STRATEGY, encoding="utf-8")


def test_records_are_identified_and_deduplicated(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("search", "crispr", "--all", "-o", "embase.ris").status == 0
    assert cli("review", "init", "asthma", "--strategy", "ovid.txt", "--title", "A review").status == 0
    monkeypatch.chdir("asthma")

    found = json.loads(cli("review", "search", "--json").out)
    certificate = found["search"]["certificate"]
    records = read_lines(Path("records.jsonl"))
    assert found["records"] == certificate["count"] == certificate["retrieved"] == len(records) > 5
    assert [line["count"] is not None for line in found["search"]["lines"]] == [True] * 3

    imported = json.loads(cli("review", "import", "--source", "Embase", "../embase.ris", "--json").out)
    assert imported["added"] == imported["records"] > 0
    content = Path("records.jsonl").read_bytes()
    again = json.loads(cli("review", "import", "--source", "EMBASE", "../embase.ris", "--json").out)
    assert (again["added"], again["known"]) == (0, imported["records"])
    assert Path("records.jsonl").read_bytes() == content

    merged = json.loads(cli("review", "dedupe", "--json").out)
    pmids = {record["pmid"] for record in read_lines(Path("records.jsonl"))}
    assert merged["counts"]["works"] == len(pmids)  # both sources have the PMIDs
    after = Path("records.jsonl").read_bytes(), Path("runs.jsonl").read_bytes()
    assert cli("review", "dedupe").status == 0
    assert (Path("records.jsonl").read_bytes(), Path("runs.jsonl").read_bytes()) == after

    state = json.loads(cli("review", "status", "--json").out)
    assert [run["step"] for run in state["runs"]] == ["init", "search", "import", "dedupe"]
    boxes = state["flow"]["boxes"]
    assert boxes["identified"] == found["records"] + imported["added"]
    assert boxes["identified"] - boxes["duplicates"] == boxes["awaiting_screening"] == len(pmids)
    assert state["next"] == "review screen export"


def test_a_search_warns_of_lines_that_pubmed_did_not_count(
    cli: Cli, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("review", "init", "r", "--strategy", "ovid.txt").status == 0
    monkeypatch.setenv("NCBI_MAX_RETRIES", "0")
    sandbox.fail_next("html", "esearch")

    found = json.loads(cli("review", "search", "--folder", "r", "--json").out)

    [line] = [line for line in found["search"]["lines"] if "count" not in line]
    [warning] = [warning for warning in found["warnings"] if warning["code"] == "lines_not_counted"]
    assert warning["message"] == f"PubMed did not count 1 line: {line['number']}."


def test_a_decision_about_a_pair_is_applied_by_the_next_run(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    record = (
        "TY  - JOUR\nAU  - Doe, Jane\nTI  - Effects of invented sleep training on nurses\nT2  - J Inv\nPY  - 2020\n"
    )
    for name, doi in (("a.ris", "a"), ("b.ris", "b")):
        Path(name).write_text(f"{record}DO  - 10.5555/{doi}\nER  - \n", encoding="utf-8")
    assert cli("review", "init", "r", "--strategy", "ovid.txt").status == 0
    monkeypatch.chdir("r")
    for name, source in (("a.ris", "Embase"), ("b.ris", "CINAHL")):
        assert cli("review", "import", "--source", source, f"../{name}").status == 0

    assert cli("review", "dedupe").status == 4

    with Path("duplicates.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[0]["decision"] = "same"
    with Path("duplicates.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    done = cli("review", "dedupe", "--json")
    assert done.status == 0
    assert json.loads(done.out)["counts"]["works"] == 1
    assert len({line["work"] for line in read_lines(Path("records.jsonl"))}) == 1


def test_the_same_file_from_two_sources_adds_no_work(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("search", "crispr", "--all", "-o", "embase.ris").status == 0
    assert cli("review", "init", "r", "--strategy", "ovid.txt").status == 0
    monkeypatch.chdir("r")
    figures = []
    for source in ("Embase", "Scopus"):
        assert cli("review", "import", "--source", source, "../embase.ris").status == 0
        done = json.loads(cli("review", "dedupe", "--json").out)
        status = json.loads(cli("review", "status", "--json").out)["flow"]
        figures.append((done, status))

    (once, _), (twice, flow) = figures
    assert twice["counts"]["works"] == once["counts"]["works"]
    assert twice["counts"]["records"] == 2 * once["counts"]["records"]
    assert [one["only_here"] for one in twice["sources"]] == [0, 0]
    assert sum(one["records"] for one in flow["sources"]) == flow["boxes"]["identified"] == twice["counts"]["records"]
    assert sum(one["works"] for one in flow["sources"]) == flow["boxes"]["works"] == twice["counts"]["works"]
    records = read_lines(Path("records.jsonl"))
    assert flow["boxes"]["duplicates"] == twice["counts"]["duplicates"] == len(records) // 2


def test_a_strategy_that_cannot_be_searched_stores_nothing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("bad.txt").write_text("1. asthma.ti.\n2. aspirin.zz.\n3. 1 and 2\n", encoding="utf-8")
    assert cli("review", "init", "r", "--strategy", "bad.txt").status == 0
    monkeypatch.chdir("r")

    assert cli("review", "search").status == 2

    assert [run["step"] for run in read_lines(Path("runs.jsonl"))] == ["init"]
    assert cli("review", "search", "--folder", "..").status == 2


@pytest.mark.parametrize(
    ("arguments", "folder"),
    [(("report", "-o", "r.html"), "report"), (("screen", "export", "-f", "ris"), "screening")],
)
def test_a_format_of_files_in_the_review_folder_is_rejected_with_their_folder(
    cli: Cli, arguments: tuple[str, ...], folder: str
) -> None:
    done = cli("review", *arguments)

    assert done.status == 2
    assert json.loads(done.err)["error"]["details"]["reason"] == "unsupported_format"
    assert f"the folder {folder} of the review" in done.err


def import_into(cli: Cli, source: str, file: str) -> dict[str, Any]:
    """Import a file into the review of the current folder."""
    found: dict[str, Any] = json.loads(cli("review", "import", "--source", source, file, "--json").out)
    return found


@pytest.mark.parametrize(
    "sources",
    [
        ("中国知网", "万方", "維普", "维普", "Source"),
        ("Все", "Библиотека", "all", "ALL records"),
        ("Médica", "Mædica", "M dica"),
        ("हिंदी", "हिंद"),
        (
            "Cochrane Central Register of Controlled Trials (Ovid)",
            "Cochrane Central Register of Controlled Trials (Wiley)",
        ),
    ],
)
def test_sources_with_different_names_stay_different(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, sources: tuple[str, ...]
) -> None:
    assert cli("search", "crispr", "--all", "-o", "found.ris").status == 0
    assert cli("review", "init", "r", "--strategy", "ovid.txt").status == 0
    monkeypatch.chdir("r")
    imports = [import_into(cli, source, "../found.ris") for source in sources]

    number = imports[0]["records"]
    assert [(one["source"], one["added"]) for one in imports] == [(source, number) for source in sources]
    repeated = [import_into(cli, source.upper(), "../found.ris") for source in sources]
    assert [(one["source"], one["added"], one["known"]) for one in repeated] == [
        (source, 0, number) for source in sources
    ]
    assert cli("review", "dedupe").status == 0
    boxes = json.loads(cli("review", "status", "--json").out)["flow"]["boxes"]
    assert (boxes["identified"], boxes["works"]) == (number * len(sources), number)


def test_the_file_of_a_source_is_not_the_file_of_all_works(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("search", "crispr", "--all", "-o", "found.ris").status == 0
    assert cli("search", "base editing NOT crispr", "--all", "-o", "other.ris").status == 0
    assert cli("review", "init", "r", "--strategy", "ovid.txt").status == 0
    monkeypatch.chdir("r")
    number = import_into(cli, "all", "../found.ris")["records"]
    others = import_into(cli, "Embase", "../other.ris")["records"]
    assert cli("review", "dedupe").status == 0

    files = json.loads(cli("review", "screen", "export", "--json").out)["files"]

    works = {one["source"]: (one["works"], Path(one["file"]).read_text(encoding="utf-8")) for one in files}
    assert {source: count for source, (count, _) in works.items()} == {
        "all": number,
        "Embase": others,
        None: number + others,
    }
    assert all(text.count("TY  - ") == count for count, text in works.values())


def test_a_source_keeps_the_ids_that_an_earlier_version_gave_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("search", "crispr", "--all", "-o", "found.ris").status == 0
    assert cli("review", "init", "r", "--strategy", "ovid.txt").status == 0
    monkeypatch.chdir("r")
    number = import_into(cli, "中国知网", "../found.ris")["records"]
    records = Path("records.jsonl")
    slug = read_lines(records)[0]["id"].split("-")[1]
    records.write_text(records.read_text(encoding="utf-8").replace(f"ek-{slug}-", "ek-source-"), encoding="utf-8")

    assert (
        import_into(cli, "中国知网", "../found.ris")["known"],
        import_into(cli, "万方", "../found.ris")["added"],
    ) == (
        number,
        number,
    )
    ids = [record["id"] for record in read_lines(records)]
    assert sum(one.startswith("ek-source-") for one in ids) == number
    assert len(set(ids)) == len(ids) == 2 * number
