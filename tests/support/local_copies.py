"""Copies of PubMed for tests, with the records of the demo and its headings in the format of NLM's files."""

from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from project_paths import ROOT

from entrez_kit.base.settings import load_settings
from entrez_kit.local.eutils.mesh import MeshEntry, read_demo_records
from entrez_kit.local.importing import import_files

RECORDS = ROOT / "fixtures" / "pubmed"
_ROOTS = {"D": ("Descriptor", "desc"), "Q": ("Qualifier", "qual"), "C": ("Supplemental", "supp")}


def write_mesh(folder: Path, headings: list[MeshEntry]) -> list[Path]:
    """Write headings as files of MeSH, one for each kind of record."""
    written = []
    for letter, (prefix, name) in _ROOTS.items():
        records = "".join(_render(heading, prefix) for heading in headings if heading.ui.startswith(letter))
        path = folder / f"{name}2026.xml"
        path.write_text(
            f'<?xml version="1.0"?>\n<{prefix}RecordSet LanguageCode = "eng">\n{records}</{prefix}RecordSet>\n',
            encoding="utf-8",
        )
        written.append(path)
    return written


def _render(heading: MeshEntry, prefix: str) -> str:
    kind = f"{prefix}Record" if prefix == "Supplemental" else prefix
    short = f"<Abbreviation>{heading.abbreviation}</Abbreviation>" if heading.abbreviation else ""
    terms = f"<Term><String>{escape(heading.name)}</String>{short}</Term>"
    terms += "".join(f"<Term><String>{escape(term)}</String></Term>" for term in heading.entry_terms)
    trees = "".join(f"<TreeNumber>{tree}</TreeNumber>" for tree in heading.tree_numbers)
    allowed = "".join(
        f"<AllowableQualifier><QualifierReferredTo><QualifierName><String>{escape(name)}</String></QualifierName>"
        "</QualifierReferredTo></AllowableQualifier>"
        for name in heading.subheadings
    )
    return (
        f"<{prefix}Record><{kind}UI>{heading.ui}</{kind}UI>"
        f"<{kind}Name><String>{escape(heading.name)}</String></{kind}Name>"
        f"<AllowableQualifiersList>{allowed}</AllowableQualifiersList>"
        f"<TreeNumberList>{trees}</TreeNumberList><ConceptList><Concept PreferredConceptYN='Y'>"
        f"<ScopeNote>{escape(heading.scope_note)}</ScopeNote><TermList>{terms}</TermList></Concept></ConceptList>"
        f"</{prefix}Record>\n"
    )


def make_copy(home: Path, name: str = "demo") -> None:
    """Make a copy of the demo's records and headings in a home folder."""
    home.mkdir(parents=True, exist_ok=True)
    files = [*sorted(RECORDS.glob("*.xml")), *write_mesh(home, read_demo_records())]
    import_files(load_settings({"home": home}), name, files)


@pytest.fixture(name="copied_home", scope="module")
def copied_home_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home folder with a copy of the demo's records, for all tests of a module."""
    home = tmp_path_factory.mktemp("home")
    make_copy(home)
    return home
