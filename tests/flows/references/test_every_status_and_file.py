"""Each status and each kind of file of `check`, through the real command.

The tests fail for a new status or suffix without a row here.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

import pytest
from command_line import Cli, RunResult
from manuscript_files import BBL, BIBER, ENDNOTE, INVENTED, ITEM, JATS, MARKED, OTHER, RETRACTED, TRUE
from pdf_files import write_pdf, write_prose
from sandbox_records import write_article, write_article_set
from word_documents import (
    write_bibliography,
    write_endnote,
    write_endnote_record,
    write_heading,
    write_mendeley,
    write_mendeley_cite,
    write_paragraph,
    write_word,
    write_zotero,
)

from commands._views.text import STATUS_WORDS
from entrez_kit.pubmed.models import GRAVITY, WORDS
from entrez_kit.references.check.findings import CODES, STATUSES
from entrez_kit.references.check.lookup.sources import SOURCES, Said
from entrez_kit.references.files.reference_files import KINDS
from entrez_kit.references.manuscripts.read_manuscript import READ
from entrez_kit.sandbox.server import Sandbox

NOWHERE: Final = "http://127.0.0.1:9/crossref"


class Row(NamedTuple):
    """A file, the options of its check, and the status of its last reference, with the codes of its other findings."""

    content: str
    status: str
    name: str = "list.txt"
    options: Sequence[str] = ("--sources", "pubmed")
    crossref: str = ""
    others: Sequence[str] = ()


MOON: Final = "title={{Moonlight exposure doubles overnight memory in shift workers}}"
STATUS_ROWS: Final = {
    "verified": Row(TRUE, "verified"),
    "mismatch": Row(TRUE.replace("22-31", "22-32"), "mismatch"),
    "retracted, with a wrong field": Row(
        f"@article{{a, pmid={{99000050}}, {MOON}, year={{2011}}}}",
        "retracted",
        "refs.bib",
        others=("mismatch",),
    ),
    "retracted, cited twice": Row(f"1. {RETRACTED}\n2. {RETRACTED}\n", "retracted", others=("duplicate",)),
    "mismatch, cited twice, with a source that failed": Row(
        f"1. {TRUE}\n2. {TRUE.replace('22-31', '22-32')}\n",
        "mismatch",
        options=("--sources", "pubmed,crossref"),
        crossref=NOWHERE,
        others=("duplicate", "unchecked"),
    ),
    "another_work": Row(
        "@article{a, doi={10.5555/ekit.2019.0001}, title={Statins and the sleep of lighthouse keepers}}",
        "another_work",
        "refs.bib",
    ),
    "another_work, with the DOI of a retracted article": Row(
        "@article{a, doi={10.5555/ekit.2019.0050}, title={Statins and the sleep of lighthouse keepers}}",
        "retracted",
        "refs.bib",
        others=("another_work",),
    ),
    "retracted": Row(RETRACTED, "retracted"),
    "concern": Row("99000053\n", "concern"),
    "superseded": Row("99000023\n", "superseded"),
    "duplicate": Row(f"1. {TRUE}\n2. {TRUE}\n", "duplicate"),
    "not_found": Row(INVENTED, "not_found"),
    "ambiguous": Row(f"@article{{a, {MOON}}}", "ambiguous", "refs.bib"),
    "unreadable": Row(f"{TRUE}\n\n???\n", "unreadable"),
    "unchecked": Row(TRUE, "unchecked", options=("--sources", "pubmed,crossref"), crossref=NOWHERE),
}


def read_references(done: RunResult) -> list[dict[str, Any]]:
    assert done.out, done.err
    references: list[dict[str, Any]] = json.loads(done.out)["references"]
    return references


def list_rows(done: RunResult) -> list[tuple[str, str | None]]:
    return [(reference["status"], reference.get("pmid")) for reference in read_references(done)]


def test_every_status_has_a_row() -> None:
    assert {row.status for row in STATUS_ROWS.values()} == set(STATUSES)


@pytest.mark.parametrize("row", STATUS_ROWS.values(), ids=STATUS_ROWS)
def test_the_command_returns_each_status(
    cli: Cli, file: Callable[..., str], monkeypatch: pytest.MonkeyPatch, row: Row
) -> None:
    if row.crossref:
        monkeypatch.setenv("ENTREZ_KIT_CROSSREF_URL", row.crossref)

    done = cli("check", file(row.name, row.content), *row.options, "--json")

    *before, last = read_references(done)
    assert last["status"] == row.status, last
    codes = {row.status, *row.others} - {"verified"}
    assert {one["code"] for one in last["findings"]} == codes
    assert all(one["message"] for one in last["findings"])
    counts = json.loads(done.out)["counts"]
    of_others = {one["code"] for other in before for one in other["findings"]}
    assert {code for code in CODES if counts[code]} == codes | of_others
    assert done.status == (4 if codes else 0)
    # By --fail-on the codes of all findings decide, not the gravest alone.
    found = codes | of_others
    for wanted in (*found, ",".join(code for code in CODES if code not in found)):
        only = cli("check", file(row.name, row.content), *row.options, "--json", "--fail-on", wanted)
        assert only.status == (4 if wanted in found else 0), wanted
    for format in ("csv", "tsv"):
        shown = cli("check", file(row.name, row.content), *row.options, "-f", format).out
        assert all(code in shown for code in codes), format
    for format in ("table", "md"):
        shown = " ".join(cli("check", file(row.name, row.content), *row.options, "-f", format).out.lower().split())
        fields = [one["field"] for one in last["findings"] if "field" in one]
        assert all(word in shown for word in (STATUS_WORDS.get(row.status, row.status).split()[-1], *fields)), format
        assert "duplicate" not in codes or "row 1" in shown


def test_a_missing_reference_is_reported_with_its_fields(cli: Cli, file: Callable[..., str]) -> None:
    by_doi, by_text = read_references(
        cli(
            "check",
            file("list.txt", f"{INVENTED} doi:10.5555/nowhere\n\n{INVENTED}\n"),
            "--sources",
            "pubmed",
            "--json",
        )
    )

    assert "no record of 10.5555/nowhere" in by_doi["detail"]
    assert all(INVENTED[:60] in one["detail"] for one in (by_doi, by_text))


# The standing of works

STANDING_ROWS: Final[Mapping[str, tuple[str, str, str]]] = {
    "retracted": ("RetractionIn", "", "retracted"),
    "withdrawn": ("", "WITHDRAWN: ", "retracted"),
    "partially_retracted": ("PartialRetractionIn", "", "retracted"),
    "expression_of_concern": ("ExpressionOfConcernIn", "", "concern"),
    "retraction_notice": ("RetractionOf", "", "verified"),
    "concern_notice": ("ExpressionOfConcernFor", "", "verified"),
    "correction_notice": ("ErratumFor", "", "verified"),
    "reinstated": ("RetractionIn", "", "verified"),
    "superseded": ("UpdateIn", "", "superseded"),
    "republished": ("CorrectedandRepublishedIn", "", "superseded"),
    "preprint_published": ("UpdateIn", "", "superseded"),
    "corrected": ("ErratumIn", "", "verified"),
}
"""NLM's RefType, a mark before the title, and the status of a reference to such a work."""


def write_standing_record(number: int, standing: str) -> str:
    kind, mark, _ = STANDING_ROWS[standing]
    types = ("Preprint",) if standing == "preprint_published" else ("Journal Article",)
    made = write_article(99100000 + number, f"{mark}A work that is {standing}.", types=types)
    note = "<Note>The work was reinstated.</Note>" if standing == "reinstated" else ""
    related = (
        f'<CommentsCorrections RefType="{kind}"><RefSource>J Tests. 2021;8:1</RefSource>{note}</CommentsCorrections>'
    )
    listed = f"<CommentsCorrectionsList>{related}</CommentsCorrectionsList>" if kind else ""
    return made.replace("</MedlineJournalInfo>", f"</MedlineJournalInfo>{listed}")


def test_the_command_returns_each_standing(
    cli: Cli, file: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert set(STANDING_ROWS) == set(GRAVITY)
    served = tmp_path / "served.xml"
    served.write_text(
        write_article_set(*(write_standing_record(n, one) for n, one in enumerate(GRAVITY))), encoding="utf-8"
    )
    ids = "".join(f"{99100000 + n}\n" for n in range(len(GRAVITY)))
    with Sandbox(corpus=[served], enforce_limits=False) as sandbox:
        monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", f"{sandbox.url}/entrez/eutils")

        done = cli("check", file("ids.txt", ids), "--sources", "pubmed", "--json")
        table = cli("check", file("ids.txt", ids), "--sources", "pubmed", "-f", "table")

    found = read_references(done)
    assert [one["standing_status"] for one in found] == list(GRAVITY)
    assert [one["status"] for one in found] == [STANDING_ROWS[one][2] for one in GRAVITY]
    for standing in GRAVITY:
        assert WORDS[standing].lower() in " ".join(table.out.lower().split())


def test_the_command_returns_each_statement_of_a_source(
    cli: Cli, file: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ids = file("ids.txt", "99000001\n99000050\n99000053\n")
    empty = tmp_path / "served.xml"
    empty.write_text(write_article_set(write_article(1, "The only work there is.")), encoding="utf-8")
    monkeypatch.setenv("ENTREZ_KIT_CROSSREF_URL", NOWHERE)
    with Sandbox(corpus=[empty], enforce_limits=False) as sandbox:
        monkeypatch.setenv("ENTREZ_KIT_OPENALEX_URL", f"{sandbox.url}/openalex")
        found = read_references(cli("check", ids, "--json"))

    says = {one["pmid"]: {by["source"]: by["says"] for by in one["sources"]} for one in found}
    assert {source for row in says.values() for source in row} == set(SOURCES)
    reported = {said for row in says.values() for said in row.values()}
    assert reported == {"none", "retracted", "expression_of_concern", "not_held", "not_asked", "failed"}
    assert reported >= set(get_args(get_args(Said)[1]))
    assert says["99000001"] == {
        **dict.fromkeys(("pubmed", "europepmc"), "none"),
        "crossref": "failed",
        "openalex": "not_held",
        "retraction_watch": "not_asked",
    }


# Kinds of files

RIS: Final = "TY  - JOUR\nID  - a\nAN  - 99000050\nER  - \n"
CSL: Final = json.dumps([{**ITEM, "id": "a"}])
NBIB: Final = "PMID- 99000050\nTI  - Moonlight exposure doubles overnight memory in shift workers\n\n"
SHIFTS: Final = "Moonlight exposure doubles overnight memory in shift workers"
WOS: Final = f"FN Clarivate Analytics Web of Science\nVR 1.0\nPT J\nTI {SHIFTS}\nPM 99000050\nER\n\nEF\n"
WOS_TABLE: Final = f"PT\tAU\tTI\tSO\tPM\nJ\t\t{SHIFTS}\t\t99000050\n"
COCHRANE: Final = f"Record #1 of 1\nID: CN-00000001\nTI: {SHIFTS}\nPM: PUBMED 99000050\n"
BIB: Final = f"@article{{a, pmid={{99000050}}, {MOON}}}\n"
MD: Final = f"# T\n\nSo [1].\n\n## References\n\n1. {MARKED}\n2. {INVENTED}\n"
TEX: Final = f"\\documentclass{{article}}\\begin{{document}}So \\cite{{moon}}.\n{BBL}\\end{{document}}\n"
RECORD: Final = write_endnote_record(
    3,
    title=ITEM["title"],
    authors=["Mondschein, S.", "Umbracht, V."],
    journal="J Invent Results (Demo)",
    year="2019",
    doi=ITEM["DOI"],
)
ONE: Final = [("retracted", "99000050")]
TWO: Final = [*ONE, ("not_found", None)]


def write_pdf_list() -> bytes:
    first, _, second = TRUE.partition(" spelling ")
    listed = ["References", f"1. {first}", f"spelling {second}", f"2. {INVENTED}"]
    return write_pdf(["A title", *write_prose(120), "Some text of 2019 [1].", *listed])


FILE_ROWS: Final[Mapping[str, tuple[bytes | str, Sequence[tuple[str, str | None]]]]] = {
    **dict.fromkeys(("refs.bib", "refs.bibtex"), (BIB, ONE)),
    "refs.ris": (RIS, ONE),
    "refs.json": (CSL, ONE),
    **dict.fromkeys(("refs.nbib", "refs.medline"), (NBIB, ONE)),
    **dict.fromkeys(("saved.txt",), (NBIB, ONE)),
    **dict.fromkeys(("savedrecs.ciw", "savedrecs.txt"), (WOS, ONE)),
    **dict.fromkeys(("table.tsv", "table.txt"), (WOS_TABLE, ONE)),
    "citation-export.txt": (COCHRANE, ONE),
    **dict.fromkeys(("list.ids", "ids.txt", "ids.text"), ("99000050\nPMC9999999\n", TWO)),
    "ids.csv": ("title,pmid\nMoonlight,99000050\nNothing,99999999\n", TWO),
    "ids.tsv": ("title\tpmid\nMoonlight\t99000050\nNothing\t99999999\n", TWO),
    "ids.jsonl": ('{"pmid": "99000050"}\n{"pmid": "99999999"}\n', TWO),
    "ids.md": ("99000050\n10.5555/nowhere\n", TWO),
    "list.txt": (f"References\n\n{RETRACTED}\n\n{INVENTED}\n", TWO),
    "numbered.txt": (f"[1] {RETRACTED}\n[2] {INVENTED}\n", TWO),
    "lines.txt": (f"{RETRACTED}\n{INVENTED}\n", TWO),
    "wrapped.txt": ("1. " + RETRACTED.replace(" in ", "\n   in ") + f"\n2. {INVENTED}\n", TWO),
    "typed.docx": (
        write_word(
            write_heading("Text"),
            write_paragraph("It is so."),
            write_heading("References"),
            write_paragraph(RETRACTED),
            write_paragraph(INVENTED),
        ),
        TWO,
    ),
    "numbered.docx": (
        write_word(
            write_heading("References"),
            write_paragraph(RETRACTED, numbered=True),
            write_paragraph(INVENTED, numbered=True),
        ),
        TWO,
    ),
    "zotero.docx": (
        write_word(
            write_paragraph("It is so ", write_zotero([ITEM, OTHER], "[1,2]"), "."),
            write_heading("References"),
            write_bibliography(f"1. {RETRACTED}", f"2. {INVENTED}"),
        ),
        [*ONE, ("another_work", "99000050")],
    ),
    "mendeley.docx": (write_word(write_paragraph("It is so ", write_mendeley([ITEM], "(Mondschein, 2019)"))), ONE),
    "mendeley_cite.docx": (write_word(write_paragraph("It is so ", write_mendeley_cite([ITEM], "[1]"))), ONE),
    "endnote.docx": (
        write_word(write_paragraph("It is so ", write_endnote(RECORD, "(Mondschein and Umbracht, 2019)"))),
        ONE,
    ),
    **dict.fromkeys(("jats.xml", "jats.nxml", "article.jats"), (JATS, TWO)),
    "library.xml": (ENDNOTE, ONE),
    "paper.bbl": (BBL, TWO),
    "biber.bbl": (BIBER, ONE),
    "paper.tex": (TEX, TWO),
    **dict.fromkeys(
        ("paper.md", "paper.qmd", "paper.rmd", "paper.markdown"), (MD, [("mismatch", "99000040"), ("not_found", None)])
    ),
    "footnotes.md": (f"So it is.[^a]\n\n[^a]: {RETRACTED}\n", ONE),
    "paper.pdf": (write_pdf_list(), [("verified", "99000040"), ("not_found", None)]),
    "no_suffix": (f"{RETRACTED}\n{INVENTED}\n", TWO),
}


def test_every_suffix_has_a_row() -> None:
    assert {Path(name).suffix for name in FILE_ROWS} == {*READ, *KINDS, ""}


@pytest.mark.long
@pytest.mark.parametrize("name", FILE_ROWS)
def test_the_command_reads_each_kind_of_file(cli: Cli, file: Callable[..., str], name: str) -> None:
    content, found = FILE_ROWS[name]
    path = file(name, content)

    done = cli("check", path, "--sources", "pubmed", "--json")

    assert list_rows(done) == list(found)
    assert done.status == 4
    if name not in ("ids.csv", "ids.tsv"):  # the columns of a table without a name are unknown
        piped = cli("check", "-", "--sources", "pubmed", "--json", stdin=Path(path).read_bytes())
        assert list_rows(piped) == list(found)


@pytest.mark.parametrize("name", ["PMC99000001", "99000001", "pmid:99000001"])
def test_the_command_reads_the_list_of_a_published_article(cli: Cli, name: str) -> None:
    found = list_rows(cli("check", name, "--sources", "pubmed", "--json"))

    assert len(found) == 4
    assert ("verified", "99000007") in found
