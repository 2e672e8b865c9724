"""MeSH's file of pharmacologic actions in a copy: imported as NLM publishes it, and searched with ``[pa]``."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, RunResult, read_error
from local_copies import write_mesh
from pubmed_files import join_articles, write_record

from entrez_kit.local.eutils.mesh import MeshEntry

ANTIBACTERIAL = "Anti-Bacterial Agents"
RECORDS = {
    1: ("Gentamicins", "heading"),
    2: ("Gentamicins", "substance"),
    3: ("imaginomycin", "substance"),
    4: ("Carbapenems", "heading"),
    5: (ANTIBACTERIAL, "heading"),
    6: ("Trehalose", "substance"),
}
"""Which record has which name, as a heading or in its list of substances."""


def _write_record(pmid: int, name: str, place: str) -> str:
    chemical = f'<ChemicalList><Chemical><NameOfSubstance UI="X">{name}</NameOfSubstance></Chemical></ChemicalList>'
    heading = f'<MeshHeadingList><MeshHeading><DescriptorName UI="X">{name}</DescriptorName></MeshHeading>'
    added = chemical if place == "substance" else f"{heading}</MeshHeadingList>"
    return write_record(pmid, "A trial").replace("</MedlineCitation>", f"{added}</MedlineCitation>")


def _write_action(ui: str, action: str, *members: tuple[str, str]) -> str:
    substances = "".join(
        f"<Substance><RecordUI>{number}</RecordUI><RecordName><String>{name}</String></RecordName></Substance>"
        for number, name in members
    )
    return (
        f"<PharmacologicalAction><DescriptorReferredTo><DescriptorUI>{ui}</DescriptorUI><DescriptorName><String>{action}"
        "</String></DescriptorName></DescriptorReferredTo><PharmacologicalActionSubstanceList>"
        f"{substances}</PharmacologicalActionSubstanceList></PharmacologicalAction>\n"
    )


def _write_actions(folder: Path, year: int, *actions: str) -> Path:
    path = folder / f"pa{year}.xml"
    head = '<?xml version="1.0"?>\n<!DOCTYPE PharmacologicalActionSet SYSTEM "https://www.nlm.nih.gov/databases/dtd/nlm'
    root = f'pharmacologicalactionset_{year}0101.dtd">\n<PharmacologicalActionSet LanguageCode = "eng">\n'
    path.write_text(f"{head}{root}{''.join(actions)}</PharmacologicalActionSet>\n", encoding="utf-8")
    return path


@pytest.fixture(name="local")
def local_fixture(tmp_path: Path, alone: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Call the program with a copy of these records and their headings, without the file of actions."""
    monkeypatch.setenv("ENTREZ_KIT_HOME", str(tmp_path / "home"))
    headings = [
        MeshEntry(ANTIBACTERIAL, ("D27.505.954.122.085",), uid="1", ui="D000900"),
        MeshEntry("Gentamicins", ("D09.408.051.404",), ("Gentamycins",), uid="2", ui="D005839"),
        MeshEntry("imaginomycin", (), ("imaginary mycin",), uid="3", ui="C999000010"),
    ]
    files = [path for path in write_mesh(tmp_path, headings) if not path.name.startswith("qual")]
    articles = tmp_path / "articles.xml"
    articles.write_bytes(join_articles(*(_write_record(pmid, *held) for pmid, held in RECORDS.items())))
    assert alone("local", "import", "c", str(articles), *map(str, files)).status == 0
    return alone


def _read(done: RunResult) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(done.out)
    return document


def _find(local: Cli, query: str) -> set[int]:
    return {int(pmid) for pmid in local("search", query, "--local", "c", "-f", "ids").out.split()}


def test_a_search_by_action_finds_headings_and_substances_with_the_action(local: Cli, tmp_path: Path) -> None:
    members = [("D005839", "Gentamicins"), ("C999000010", "imaginomycin")]
    actions = _write_actions(
        tmp_path,
        2026,
        _write_action("D000900", ANTIBACTERIAL, *members),
        _write_action("D011496", "Protein Synthesis Inhibitors", members[0]),
    )
    imported = local("local", "import", "c", str(actions))
    shown = local("search", '"Anti-Bacterial Agents"[pa]', "--local", "c", "--json")

    assert (imported.status, _read(imported)["applied"]) == (0, 1)
    assert set(_read(shown)["pmids"]) == {"1", "2", "3"}
    assert _read(shown)["query_translation"] == '"anti-bacterial agents"[Pharmacological Action]'
    assert _find(local, "anti-bacterial agents[Pharmacological Action]") == {1, 2, 3}
    assert _find(local, '"Protein Synthesis Inhibitors"[pa] AND trial[ti]') == {1, 2}
    assert _find(local, '"Anti-Bacterial Agents"[pa] NOT gentamicins[mh]') == {2, 3}
    assert _find(local, '"Anti-Bacterial Agents"[mh]') == {5}
    assert _find(local, "anti-bacterial agents") == {1, 2, 3, 5}  # a heading that is an action
    assert _find(local, '"Trehalose Action"[pa]') == set()


def test_actions_of_a_later_year_replace_the_earlier_ones_and_change_the_hash(local: Cli, tmp_path: Path) -> None:
    first = local("local", "import", "c", str(_write_actions(tmp_path, 2025, _write_action("D000900", ANTIBACTERIAL))))
    later = _write_actions(tmp_path, 2027, _write_action("D000900", ANTIBACTERIAL, ("D015780", "Carbapenems")))
    desc = (tmp_path / "desc2026.xml").rename(tmp_path / "desc2027.xml")
    second = local("local", "import", "c", str(later), str(desc))

    assert (_read(first)["applied"], _read(second)["applied"]) == (0, 2)  # all MeSH files belong to one year
    assert _read(first)["copy_info"]["hash"] != _read(second)["copy_info"]["hash"]
    assert _find(local, '"Anti-Bacterial Agents"[pa]') == {4}


def test_a_copy_without_the_file_refuses_the_field_and_a_damaged_file_changes_nothing(
    local: Cli, tmp_path: Path
) -> None:
    refused = local("search", '"Anti-Bacterial Agents"[pa]', "--local", "c", "--json")
    damaged = _write_actions(tmp_path, 2026, _write_action("D000900", ANTIBACTERIAL))
    damaged.write_text(damaged.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    failed = local("local", "import", "c", str(damaged))

    assert refused.status == 2
    assert read_error(refused)["details"]["reason"] == "not_in_copy"
    assert failed.status == 2
    assert read_error(failed)["details"]["reason"] == "bad_record"
    assert local("search", '"Anti-Bacterial Agents"[pa]', "--local", "c").status == 2
