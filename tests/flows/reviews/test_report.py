"""The report of a review: numbers from records, hostile texts, one page without other files."""

import csv
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest
from command_line import Cli, read_lines

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"quotes\" 'single' ]]> \u202e | `code`"
SVG = "{http://www.w3.org/2000/svg}"


class _Page(HTMLParser):
    """Collects the elements of a page, and checks that they are closed."""

    VOID = ("meta", "br", "input", "img")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


@pytest.fixture
def report(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Write a review with hostile texts in every field, and return its report."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("entrez_kit.reviews.write_report.convert_markdown", lambda text, *_: text.encode())
    Path("s.txt").write_text("1. crispr.ti,ab.\n2. base editing.tw.\n3. 1 or 2\n", encoding="utf-8")
    Path("e.ris").write_text(
        f'TY  - JOUR\nAU  - {EVIL}\nTI  - {EVIL}\nT2  - {EVIL}\nPY  - 2020\nDO  - 10.5555/"><script>x\nER  - \n\n',
        encoding="utf-8",
    )
    assert cli("review", "init", "r", "--strategy", "s.txt", "--title", EVIL).status == 0
    monkeypatch.chdir("r")
    assert cli("review", "search").status == 0
    assert cli("review", "import", "--source", EVIL[:60], "../e.ris").status == 0
    assert cli("review", "dedupe").status == 0
    assert cli("review", "screen", "export").status == 0
    ids = re.findall(r"^ID  - (ek-\S+)", Path("screening/title_abstract/all.ris").read_text(encoding="utf-8"), re.M)
    for stage, rows in (
        ("title_abstract", [f"{one},{'include' if number % 2 else 'exclude'},\n" for number, one in enumerate(ids)]),
        ("full_text", [f'{one},exclude,"{EVIL.replace(chr(34), "")}"\n' for one in ids[1::2][:2]]),
    ):
        Path("d.csv").write_text("id,decision,reason\n" + "".join(rows), encoding="utf-8")
        assert cli("review", "screen", "import", "d.csv", "--stage", stage).status == 0
    document: dict[str, Any] = json.loads(cli("review", "report", "--json").out)
    return document


def test_the_numbers_in_every_file_are_those_of_the_records(report: dict[str, Any]) -> None:
    records = read_lines(Path("records.jsonl"))
    with Path("screening.csv").open(encoding="utf-8", newline="") as file:
        decisions = [(row["stage"], row["decision"]) for row in csv.DictReader(file)]
    expected = {
        "identified": len(records),
        "works": len({record["work"] for record in records}),
        "records_excluded": decisions.count(("title_abstract", "exclude")),
        "dbr_sought_reports": decisions.count(("title_abstract", "include")),
        "dbr_excluded": decisions.count(("full_text", "exclude")),
        "new_reports": decisions.count(("full_text", "include")),
    }
    boxes = report["flow"]["boxes"]
    assert {name: boxes[name] for name in expected} == expected
    with Path("report/flow.csv").open(encoding="utf-8", newline="") as file:
        table = {row["data"]: row["n"] for row in csv.DictReader(file)}
    assert table["records_excluded"] == str(expected["records_excluded"])
    drawn = ET.fromstring(Path("report/flow.svg").read_bytes())
    words = " ".join("".join(element.itertext()) for element in drawn.iter(f"{SVG}text")).replace("\u00a0", " ")
    for label, name in (
        ("Records excluded", "records_excluded"),
        ("Reports sought for retrieval", "dbr_sought_reports"),
    ):
        assert f"{label} (n = {expected[name]})" in words
    page = Path("report/report.html").read_text(encoding="utf-8")
    assert page.count("<tr data-fate=") == expected["works"]


def test_the_page_executes_no_text_of_a_record_and_loads_nothing(report: dict[str, Any]) -> None:
    text = Path("report/report.html").read_text(encoding="utf-8")
    page = _Page(text)

    assert sum(tag == "script" for tag, _ in page.elements) == 1
    assert not any(tag in ("img", "iframe", "link", "object", "form", "base") for tag, _ in page.elements)
    for tag, attributes in page.elements:
        assert not any(name.startswith("on") or name in ("style", "src", "srcset") for name in attributes), tag
        address = attributes.get("href") or "https://"
        assert address.startswith(("https://pubmed.ncbi.nlm.nih.gov/", "https://doi.org/")) or address == "https://"
    policy = next(one["content"] or "" for _, one in page.elements if one.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_diagram_has_a_title_and_a_description(report: dict[str, Any]) -> None:
    drawn = ET.fromstring(Path("report/flow.svg").read_bytes())

    named = (drawn.get("aria-labelledby") or "").split()
    assert [one.get("id") for one in (drawn.find(f"{SVG}title"), drawn.find(f"{SVG}desc")) if one is not None] == named
    assert EVIL[:30] in (drawn.findtext(f"{SVG}title") or "")


def test_the_same_review_gives_the_same_report(cli: Cli, report: dict[str, Any]) -> None:
    before = {name: (Path("report") / name).read_bytes() for name in ("report.html", "flow.svg", "appendix.md")}

    assert cli("review", "report").status == 0

    assert {name: (Path("report") / name).read_bytes() for name in before} == before


def test_open_items_of_prisma_s_are_listed_until_a_person_answers(cli: Cli, report: dict[str, Any]) -> None:
    items = {one["number"]: one for one in report["prisma_s"]}
    assert len(items) == 16
    assert [items[number]["is_open"] for number in (1, 13, 15, 16)] == [False] * 4
    assert items[14]["is_open"]
    with Path("review.toml").open("a", encoding="utf-8") as file:
        file.write('[prisma_s]\n14 = "PRESS"\n')

    again = json.loads(cli("review", "report", "--json").out)

    assert again["prisma_s"][13]["text"] == "PRESS"


def test_strategies_of_all_databases_are_needed_and_the_service_that_answered_is_named(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("entrez_kit.reviews.write_report.convert_markdown", lambda text, *_: text.encode())
    Path("s.txt").write_text("1. crispr.ti,ab.\n", encoding="utf-8")
    Path("e.ris").write_text("TY  - JOUR\nTI  - Invented sleep\nPY  - 2020\nER  - \n", encoding="utf-8")
    assert cli("review", "init", "r", "--strategy", "s.txt", "--title", "Sleep").status == 0
    monkeypatch.chdir("r")
    assert cli("--demo", "review", "search").status == 0
    for source in ("Embase", "CINAHL"):
        assert cli("review", "import", "--source", source, "../e.ris").status == 0
    (item, platform) = (json.loads(cli("review", "report", "--json").out)["prisma_s"][number] for number in (7, 0))
    assert item["is_open"]
    assert "Embase, CINAHL" in item["text"] or "CINAHL, Embase" in item["text"]
    assert "Demo" in platform["text"]
    assert "E-utilities" not in platform["text"]
    Path("strategies/embase.txt").write_text("1. sleep.ti,ab.\n", encoding="utf-8")
    with Path("review.toml").open("a", encoding="utf-8") as file:
        file.write('[sources.Embase]\nstrategy = "strategies/embase.txt"\n[sources.CINAHL]\nstrategy = "no.txt"\n')
    item = json.loads(cli("review", "report", "--json").out)["prisma_s"][7]
    assert (item["is_open"], "Embase" in item["text"], "CINAHL" in item["text"]) == (True, False, True)
    Path("no.txt").write_text("S1 sleep\n", encoding="utf-8")
    assert not json.loads(cli("review", "report", "--json").out)["prisma_s"][7]["is_open"]


def read_crate() -> dict[str, dict[str, Any]]:
    """Return the entities of the folder's crate by id, after the checks of the specification."""
    document = json.loads(Path("ro-crate-metadata.json").read_text(encoding="utf-8"))
    assert document["@context"] == "https://w3id.org/ro/crate/1.3/context"
    entities: dict[str, dict[str, Any]] = {one["@id"]: one for one in document["@graph"]}
    assert len(entities) == len(document["@graph"])
    assert entities["ro-crate-metadata.json"] == {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.3"},
        "about": {"@id": "./"},
    }
    for entity in entities.values():
        assert entity["@type"]
        for name, value in entity.items():
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, dict):  # entities are flat: a nested value is a reference
                    assert set(part) == {"@id"}
                    assert part["@id"] in entities or name in ("conformsTo", "actionStatus"), part
                else:
                    assert isinstance(part, str)
    root = entities["./"]
    assert root["@type"] == "Dataset"
    assert all(root[name] for name in ("name", "description", "datePublished", "license"))
    parts = {one["@id"] for one in root["hasPart"]}
    assert parts == {entity["@id"] for entity in entities.values() if entity["@type"] == "File"}
    for name in parts:
        content = Path(unquote(name)).read_bytes()
        assert entities[name]["sha256"] == hashlib.sha256(content).hexdigest()
        assert entities[name]["contentSize"] == str(len(content))
    for one in root["mentions"]:
        assert entities[one["@id"]]["@type"] == "CreateAction"
        instrument = entities[entities[one["@id"]]["instrument"]["@id"]]
        assert (instrument["@type"], bool(instrument["softwareVersion"])) == ("SoftwareApplication", True)
    return entities


def test_the_crate_describes_every_file_and_run_also_after_a_later_run(cli: Cli, report: dict[str, Any]) -> None:
    runs = read_lines(Path("runs.jsonl"))
    crate = read_crate()
    kept = {one.relative_to(".").as_posix() for one in Path().rglob("*") if one.is_file()}
    left_out = {".lock", ".gitignore", "d.csv", "ro-crate-metadata.json"}
    assert set(crate) >= {name for name in kept - left_out if not name.startswith("screening/")}
    actions = [crate[one["@id"]] for one in crate["./"]["mentions"]]
    assert [(action["startTime"], action["endTime"]) for action in actions] == [
        (run["started"], run["finished"]) for run in runs
    ]
    (search,) = [run["search"] for run in runs if run["step"] == "search"]
    used = [crate[part["@id"]] for action in actions for part in action.get("object", ())]
    assert search["query"] in [one["value"] for one in used if one["@type"] == "PropertyValue"]
    digest = hashlib.sha256(Path("../e.ris").read_bytes()).hexdigest()
    assert digest in [one.get("sha256") for one in used]

    Path("../f.ris").write_text(
        "TY  - JOUR\nTI  - Another title of another work\nPY  - 2021\nER  - \n", encoding="utf-8"
    )
    assert cli("review", "import", "--source", "Scopus", "../f.ris").status == 0

    later = read_crate()
    assert len(later["./"]["mentions"]) == len(actions) + 1
    assert later["records.jsonl"]["sha256"] != crate["records.jsonl"]["sha256"]


@pytest.fixture
def small_review(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Create a review with records of a register and of a database, all included by title; return the ids of works."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("entrez_kit.reviews.write_report.convert_markdown", lambda text, *_: text.encode())
    Path("s.txt").write_text("sleep\n", encoding="utf-8")
    assert cli("review", "init", "r", "--strategy", "s.txt").status == 0
    monkeypatch.chdir("r")
    for source, words in (
        ("ClinicalTrials.gov", ("Tea", "Milk")),
        ("Embase", ("Rain", "Snow", "<i>Sand</i> &amp; CO<sub>2</sub>")),
    ):
        texts = [
            f"TY  - JOUR\nTI  - {word} in p < 0.05 of cases\nAU  - Doe, {word[0]}\nPY  - 2020\nER  - \n\n"
            for word in words
        ]
        Path("x.ris").write_text("".join(texts), encoding="utf-8")
        assert cli("review", "import", "--source", source, "x.ris").status == 0
    assert cli("review", "dedupe").status == 0
    ids = [record["id"] for record in read_lines(Path("records.jsonl"))]
    import_table(cli, [(one, "include", "") for one in ids], "title_abstract")
    return ids


def import_table(cli: Cli, rows: list[tuple[str, str, str]], stage: str) -> None:
    with Path("d.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "decision", "reason"), *rows])
    assert cli("review", "screen", "import", "d.csv", "--stage", stage).status == 0


def test_the_reasons_in_the_table_of_boxes_have_no_separators(cli: Cli, small_review: list[str]) -> None:
    reasons = ["wrong population,wrong outcome", "wrong population; wrong outcome", "no control; not a trial", "Plain"]
    import_table(cli, [(one, "exclude", why) for one, why in zip(small_review, reasons, strict=False)], "full_text")

    document = json.loads(cli("review", "report", "--json").out)

    with Path("report/flow.csv").open(encoding="utf-8", newline="") as file:
        cell = next(row["n"] for row in csv.DictReader(file) if row["data"] == "dbr_excluded")
    parts = [part.split(", ") for part in cell.split("; ")]
    assert sorted(parts) == [
        ["Plain", "1"],
        ["no control / not a trial", "1"],
        ["wrong population / wrong outcome", "2"],
    ]
    assert [warning["code"] for warning in document["warnings"]] == ["reasons_renamed"]
    assert set(document["flow"]["reasons"]) == set(reasons)


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ("", "register"),
        ('platform = "NLM"\n', "register"),
        ('kind = "database"\n', "database"),
        ('kind = "website"\n', "website"),
    ],
)
def test_a_source_with_the_name_of_a_register_is_one(
    cli: Cli, small_review: list[str], settings: str, kind: str
) -> None:
    with Path("review.toml").open("a", encoding="utf-8") as file:
        file.write(f'[sources."clinicaltrials.GOV"]\n{settings}')

    document = json.loads(cli("review", "report", "--json").out)

    assert [source["kind"] for source in document["flow"]["sources"]] == [kind, "database"]
    boxes = document["flow"]["boxes"]
    assert (boxes["register_results"], boxes["database_results"]) == {
        "register": (2, 3),
        "database": (0, 5),
        "website": (0, 3),
    }[kind]
    assert document["prisma_s"][2]["is_open"] == (kind != "register")


def test_titles_are_shown_without_markup(cli: Cli, small_review: list[str]) -> None:
    assert cli("review", "report").status == 0

    page = Path("report/report.html").read_text(encoding="utf-8")
    assert "Sand &amp; CO₂ in p &lt; 0.05 of cases" in page
    assert "Sand & CO₂ in p < 0.05 of cases" in Path("screening.csv").read_text(encoding="utf-8")
    Path("d.csv").write_text(
        "title,decision\n<i>Sand</i> &amp; CO<sub>2</sub> in p < 0.05 of cases,include\n"
        "Sand & CO2 in p < 0.05 of cases,include\n",
        encoding="utf-8",
    )
    done = json.loads(cli("review", "screen", "import", "d.csv", "--json").out)
    assert (done["unknown"], done["matched_by"]) == ([], {"title": 2})


def test_the_crate_has_the_exported_works(cli: Cli, small_review: list[str]) -> None:
    assert cli("review", "report").status == 0
    for stage in ("title_abstract", "full_text"):
        assert cli("review", "screen", "export", "--stage", stage, "--all").status == 0

    graph = json.loads(Path("ro-crate-metadata.json").read_text(encoding="utf-8"))["@graph"]
    files = {one["@id"]: one for one in graph if one["@type"] == "File"}
    exported = [path.as_posix() for path in Path("screening").rglob("*.ris")]
    assert len(exported) == 6
    for name in exported:
        assert files[name]["sha256"] == hashlib.sha256(Path(name).read_bytes()).hexdigest()
        assert files[name]["contentSize"] == str(Path(name).stat().st_size)
