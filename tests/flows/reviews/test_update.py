"""Updates of a review: two generations of a copy with planted changes of every kind."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, read_lines
from pubmed_files import write_correction, write_deletion, write_record, write_set

from entrez_kit.base.settings import load_settings
from entrez_kit.local.importing import import_files

FIRST = range(1, 41)


def write_work(pmid: int, title: str, *, version: int = 1, kind: str = "Journal Article", **more: str) -> str:
    """Return a record; ``corrections`` are comments and corrections, ``doi`` its DOI, ``mesh`` a heading."""
    heading = ""
    if "mesh" in more:
        name = f"<DescriptorName UI='D001'>{more['mesh']}</DescriptorName>"
        heading = f"<MeshHeadingList><MeshHeading>{name}</MeshHeading></MeshHeadingList>"
    abstract = more.get("abstract", f"An invented study, number {pmid}.")
    return write_record(
        pmid,
        title,
        version=version,
        day=2,
        journal="<JournalIssue><Volume>1</Volume><PubDate><Year>2020</Year></PubDate></JournalIssue>"
        "<Title>Journal of Invention</Title>",
        more=f"<Pagination><MedlinePgn>{more.get('page', str(pmid))}</MedlinePgn></Pagination>"
        f"<Abstract><AbstractText>{abstract}</AbstractText></Abstract>"
        f"<AuthorList><Author><LastName>Doe{pmid}</LastName><Initials>J</Initials></Author></AuthorList>",
        types=[kind],
        citation=f"<MedlineJournalInfo><MedlineTA>J Inv</MedlineTA></MedlineJournalInfo>{heading}",
        corrections=more.get("corrections", ""),
        ids={"pubmed": str(pmid), "doi": more.get("doi", f"10.5555/invented.{pmid}")},
    )


def write_title(number: int) -> str:
    words = ("asthma", "cough", "wheeze", "sputum", "spirometry", "steroids", "children")
    return f"Study {number} of asthma and {words[number % 7]} in the town of Invention{number * 7919}"


def write_correction_notice(kind: str, pmid: int, source: str = "J Inv. 2026 Feb;2:9") -> str:
    return write_correction(kind, pmid, source)


PLANTED: dict[int, str] = {
    2: "deleted",
    3: "merged",
    4: "no_longer_matching",
    5: "retracted",
    6: "retracted",
    7: "concern",
    8: "corrected",
    9: "preprint_published",
    10: "changed",
    11: "changed",
    12: "changed",
    13: "changed",
    101: "new",
    103: "new",
}
FIELDS = {10: ["title"], 11: ["abstract"], 12: ["indexing"], 13: ["publication_types"]}


def make_second_generation() -> list[str]:
    """Return the changed records, and the deletions."""
    return [
        write_deletion(2, 3),
        write_work(103, write_title(3), page="3", doi="10.5555/invented.3"),
        write_work(4, "A study of nothing of the kind"),
        write_work(
            5,
            f"RETRACTED: {write_title(5)}",
            kind="Retracted Publication",
            corrections=write_correction_notice("RetractionIn", 900),
        ),
        write_work(6, write_title(6), corrections=write_correction_notice("RetractionIn", 901)),
        write_work(7, write_title(7), corrections=write_correction_notice("ExpressionOfConcernIn", 902)),
        write_work(8, write_title(8), corrections=write_correction_notice("ErratumIn", 903)),
        write_work(9, write_title(9), kind="Preprint", corrections=write_correction_notice("UpdateIn", 904)),
        write_work(10, f"{write_title(10)}, revisited"),
        write_work(11, write_title(11), abstract="A new abstract."),
        write_work(12, write_title(12), mesh="Asthma"),
        write_work(13, write_title(13), kind="Review"),
        write_work(14, write_title(14), version=1),
        write_work(101, write_title(101)),
        write_work(102, "A study of something else"),
    ]


@pytest.fixture
def searched_review(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a review that was searched in the first generation of a copy."""
    monkeypatch.chdir(tmp_path)
    first = [
        write_work(number, write_title(number), kind="Preprint" if number == 9 else "Journal Article")
        for number in FIRST
    ]
    import_files(load_settings(), "g1", [write_set(tmp_path, "pubmed26n0001.xml", *first)])
    Path("s.txt").write_text("1. asthma.ti.\n", encoding="utf-8")
    assert cli("review", "init", "r", "--strategy", "s.txt").status == 0
    monkeypatch.chdir("r")
    done = cli("review", "search", "--local", "g1", "--json")
    assert json.loads(done.out)["records"] == len(FIRST)
    return tmp_path


def make_generation(folder: Path, number: int, *records: str) -> None:
    """Make a copy of the files so far and a new one; the previous copy stays open in this process."""
    write_set(folder, f"pubmed26n000{number}.xml", *records)
    import_files(load_settings(), f"g{number}", sorted(folder.glob("pubmed26n*.xml")))


def run_update(cli: Cli, *options: str, generation: int = 2) -> dict[str, Any]:
    done = cli("review", "update", "--local", f"g{generation}", "--json", *options)
    assert done.status == 0
    document: dict[str, Any] = json.loads(done.out)
    return document


def test_changes_of_every_kind_are_classified_correctly(cli: Cli, searched_review: Path) -> None:
    unchanged = Path("records.jsonl").read_bytes()
    make_generation(searched_review, 2, *make_second_generation())

    found = run_update(cli)

    assert {int(one["pmid"]): one["kind"] for one in found["changes"]} == PLANTED
    changes = {int(one["pmid"]): one for one in found["changes"]}
    assert {number: changes[number]["fields"] for number in FIELDS} == FIELDS
    assert changes[3]["successor"] == "103"
    assert (changes[5]["successor"], changes[9]["successor"]) == ("900", "904")
    assert changes[7]["status"] == "expression_of_concern"
    assert sum(found["counts"].values()) == len(PLANTED)
    records = {int(line["pmid"]): line for line in read_lines(Path("records.jsonl"))}
    assert len(records) == len(FIRST) + 2  # none was deleted
    assert {number: one["gone"]["reason"] for number, one in records.items() if "gone" in one} == {
        2: "deleted",
        3: "merged",
        4: "no_longer_matching",
    }
    assert records[5]["standing"]["status"] == "retracted"
    assert Path("records.jsonl").read_bytes() != unchanged


def test_a_second_update_finds_nothing_and_changes_no_record(cli: Cli, searched_review: Path) -> None:
    make_generation(searched_review, 2, *make_second_generation())
    run_update(cli)
    content = Path("records.jsonl").read_bytes(), Path("duplicates.csv").read_bytes()

    again = run_update(cli)

    assert (again["changes"], again["counts"]) == ([], {})
    assert (Path("records.jsonl").read_bytes(), Path("duplicates.csv").read_bytes()) == content
    assert [run["step"] for run in read_lines(Path("runs.jsonl"))] == ["init", "search", "update", "update"]


def test_a_record_that_matches_again_is_restored(cli: Cli, searched_review: Path) -> None:
    make_generation(searched_review, 2, *make_second_generation())
    run_update(cli)
    make_generation(searched_review, 3, write_work(4, write_title(4)))

    assert [(one["pmid"], one["kind"]) for one in run_update(cli, generation=3)["changes"]] == [("4", "returned")]
    assert not any("gone" in line for line in read_lines(Path("records.jsonl")) if line["pmid"] == "4")


def test_a_deleted_record_that_is_back_and_does_not_match_no_longer_counts_as_deleted(
    cli: Cli, searched_review: Path
) -> None:
    make_generation(searched_review, 2, *make_second_generation())
    run_update(cli)
    make_generation(searched_review, 3, write_work(2, "A study of nothing of the kind"))

    changes = run_update(cli, generation=3)["changes"]

    assert [(change["pmid"], change["kind"]) for change in changes] == [("2", "no_longer_matching")]
    gone = {line["pmid"]: line["gone"]["reason"] for line in read_lines(Path("records.jsonl")) if "gone" in line}
    assert gone["2"] == "no_longer_matching"
    assert gone["3"] == "merged"


def test_a_new_record_is_compared_with_all_earlier_ones(cli: Cli, searched_review: Path) -> None:
    Path("../e.ris").write_text(
        f"TY  - JOUR\nAU  - Doe101, J\nTI  - {write_title(101)}\nT2  - Journal of Invention\n"
        "PY  - 2020\nVL  - 1\nSP  - 101\n"
        "DO  - 10.5555/invented.101\nER  - \nTY  - JOUR\nTI  - A retracted study\nAN  - 6\nDB  - PubMed\nER  - \n",
        encoding="utf-8",
    )
    assert cli("review", "import", "--source", "Embase", "../e.ris").status == 0
    make_generation(searched_review, 2, *make_second_generation())

    found = {one["pmid"]: one for one in run_update(cli)["changes"]}

    known = next(line["id"] for line in read_lines(Path("records.jsonl")) if line.get("doi") == "10.5555/invented.101")
    assert known.startswith("ek-embase-")
    assert found["101"]["work"] == known
    assert found["6"]["id"] == "ek-pubmed-6"  # named once, although Embase has the record too


def test_an_update_by_date_finds_new_records_and_warns_about_unknown_changes(cli: Cli, searched_review: Path) -> None:
    make_generation(searched_review, 2, *make_second_generation())
    runs = read_lines(Path("runs.jsonl"))
    runs[-1]["search"]["certificate"]["searched_at"] = "2026-01-05T00:00:00Z"
    Path("runs.jsonl").write_text("".join(f"{json.dumps(run)}\n" for run in runs), encoding="utf-8")

    found = run_update(cli, "--by-date")

    kinds = {int(one["pmid"]): one["kind"] for one in found["changes"]}
    assert kinds == {**PLANTED, 4: "changed"}  # its title; that it no longer matches is unknown
    assert "searched_by_date" in [one["code"] for one in found["warnings"]]


def test_a_review_without_a_search_cannot_be_updated(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.txt").write_text("asthma\n", encoding="utf-8")
    assert cli("review", "init", "r", "--strategy", "s.txt").status == 0

    assert cli("review", "update", "--folder", "r").status == 2


def test_an_update_names_decisions_that_contradict_each_other_after_it(cli: Cli, searched_review: Path) -> None:
    Path("../e.ris").write_text(
        f"TY  - JOUR\nAU  - Doe20, J\nTI  - {write_title(20)}\nT2  - Journal of Invention\n"
        "PY  - 2020\nVL  - 1\nSP  - 20\nDO  - 10.5555/invented.20\nER  - \n",
        encoding="utf-8",
    )
    assert cli("review", "import", "--source", "Embase", "../e.ris").status == 0
    imported = next(line["id"] for line in read_lines(Path("records.jsonl")) if line["source"] == "Embase")
    decisions = f"id,decision\nek-pubmed-20,include\n{imported},exclude\n"
    Path("d.csv").write_text(decisions, encoding="utf-8")
    assert cli("review", "screen", "import", "d.csv").status == 0
    make_generation(searched_review, 2, write_work(101, write_title(101)))

    warnings = {one["code"]: one["message"] for one in run_update(cli)["warnings"]}

    assert f"{imported} (line 2), ek-pubmed-20 (line 3)" in warnings["decisions_contradict"]
    assert cli("review", "status").status == 2
