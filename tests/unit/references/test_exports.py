"""Exports of the Web of Science and the Cochrane Library, tables, and files with fields that cannot be read."""

from collections.abc import Callable
from typing import Any

import pytest
from review_records import InventedRecord, invent_works, write_ris_file

from entrez_kit.base.errors import InvalidInput
from entrez_kit.references.files.read_csv import read_csv
from entrez_kit.references.files.reference_files import detect_kind, read_reference_file
from entrez_kit.references.files.references import find_identifiers
from entrez_kit.references.merge.merge_documents import MergeRequest, MergeResult
from entrez_kit.references.merge.merge_references import merge_references

SERVICES: Any = None
"""A merge uses no service."""
WORKS = list(invent_works(25, 11))


def run_merge(files: dict[str, str]) -> MergeResult:
    """Merge files by name."""
    return merge_references(
        SERVICES, MergeRequest(files=[{"file": name, "text": text} for name, text in files.items()])
    )


def list_wos_fields(record: InventedRecord, number: int) -> list[tuple[str, list[str]]]:
    """Return the fields of a record in the Web of Science; some fields have several lines."""
    first, _, last = record.pages.partition("-")
    names = [f"{family}, {''.join(word[0] for word in given.split())}" for family, given in record.authors]
    return [
        *(("PT", ["J"]), ("AU", names), ("AF", [f"{family}, {given}" for family, given in record.authors])),
        *(("TI", [record.title]), ("SO", [record.journal.upper()]), ("LA", ["English"]), ("DT", ["Article"])),
        *(("DE", ["sleep; night work"]), ("AB", [record.abstract]), ("CR", ["Doe J, 2001, LANCET, V1, P1", "Roe R"])),
        *(("SN", ["1234-5678"]), ("PY", [str(record.year)]), ("VL", [record.volume]), ("IS", [record.issue])),
        *(("BP", [first]), ("EP", [last]), ("DI", [record.doi]), ("UT", [f"WOS:{number:015}"]), ("PM", [record.pmid])),
    ]


def write_wos(records: list[InventedRecord], line_end: str = "\n") -> str:
    """Return records as plain text of the Web of Science, with long values on several lines."""
    lines = ["FN Clarivate Analytics Web of Science", "VR 1.0"]
    for number, record in enumerate(records, start=1):
        for tag, values in list_wos_fields(record, number):
            for place, value in enumerate(values):
                words = value.split(" ") if len(values) == 1 else [value]
                parts = [" ".join(words[start : start + 6]) for start in range(0, len(words), 6)]
                lines += [f"{tag} {parts[0]}" if not place else f"   {parts[0]}", *(f"   {part}" for part in parts[1:])]
        lines += ["ER", ""]
    return line_end.join([*lines, "EF", ""])


def write_wos_table(records: list[InventedRecord]) -> str:
    """Return records as a table of the Web of Science."""
    rows = [list_wos_fields(record, number) for number, record in enumerate(records, start=1)]
    header = "\t".join(tag for tag, _ in rows[0])
    return "\r\n".join([header, *("\t".join("; ".join(values) for _, values in row) for row in rows), ""])


def write_cochrane(records: list[InventedRecord]) -> str:
    """Return records as a text export of the Cochrane Library."""
    texts = []
    for number, record in enumerate(records, start=1):
        lines = [f"Record #{number} of {len(records)}", f"ID: CN-{number:08}"]
        lines += [f"AU: {family} {given[0]}" for family, given in record.authors]
        lines += [f"TI: {record.title}", f"SO: {record.journal}", f"YR: {record.year}", f"VL: {record.volume}"]
        lines += [f"NO: {record.issue}", f"PG: {record.pages.replace('-', chr(0x2010))}", f"PM: PUBMED {record.pmid}"]
        lines += [
            f"XR: EMBASE {600000000 + number}",
            "PT: Journal article",
            f"DOI: {record.doi}",
            f"AB: {record.abstract}",
        ]
        lines += [f"US: https://www.cochranelibrary.com/central/doi/10.1002/central/CN-{number:08}/full"]
        texts.append("\n".join(lines))
    return "\n\n".join(texts) + "\n"


EXPORTS: dict[str, tuple[Callable[[list[InventedRecord]], str], str]] = {
    "savedrecs.txt": (write_wos, "Web of Science"),
    "savedrecs.ciw": (write_wos, "Web of Science"),
    "crlf.txt": (lambda records: write_wos(records, "\r\n"), "Web of Science"),
    "table.txt": (write_wos_table, "Web of Science"),
    "table.tsv": (write_wos_table, "Web of Science"),
    "citation-export.txt": (write_cochrane, "CENTRAL"),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_each_record_of_an_export_is_one_record_with_its_fields(name: str) -> None:
    write, database = EXPORTS[name]
    text = write(WORKS)
    kind = detect_kind(text, name, f".{name.rpartition('.')[2]}")
    file = read_reference_file(text, name, kind)
    assert len(file.references) == len(WORKS)
    for reference, record in zip(file.references, WORKS, strict=True):
        assert reference.title == record.title
        assert [author.family for author in reference.authors] == [family for family, _ in record.authors]
        assert (reference.doi, reference.pmid) == (record.doi, record.pmid)
        assert (reference.year, reference.volume, reference.issue) == (str(record.year), record.volume, record.issue)
        assert reference.pages == record.pages
        assert (reference.journal or "").upper() == record.journal.upper()
    assert dict(file.get_original(0).fields)["AB"] == WORKS[0].abstract
    result = run_merge({name: text, "other.ris": write_ris_file(WORKS)})
    assert result.counts.works == len(WORKS)
    assert result.counts.undecided == 0
    assert result.sources[0].source == database
    without_ids = text.replace(WORKS[0].doi, "").replace(WORKS[0].pmid, "")
    assert run_merge({name: without_ids, "other.ris": write_ris_file(WORKS)}).counts.works == len(WORKS)


def test_damaged_exports_are_refused_with_the_line() -> None:
    text = write_wos(WORKS[:2])
    for damaged in (text.replace("\nER\n", "\n", 1).replace("\nER\n", "\n"), text.replace("\nTI ", "\nTitle ", 1)):
        with pytest.raises(InvalidInput) as error:
            run_merge({"savedrecs.txt": damaged})
        assert error.value.details["line"]
    with pytest.raises(InvalidInput):
        run_merge({"savedrecs.ciw": "FN Clarivate Analytics Web of Science\nVR 1.0\nEF\n"})


UNKNOWN = {
    "endnote": "%0 Journal Article\n%A Doe, Jane\n%T Invented sleep\n%J Lancet\n%D 2015\n",
    "refworks": "RT Journal Article\nA1 Doe, Jane\nT1 Invented sleep\nJF Lancet\nYR 2015\n",
    "labels": "Title: Invented sleep\nAuthors: Doe J, Roe R\nSource: Lancet\nPublication year: 2015\n",
    "tags": "TI- Invented sleep\nAU- Doe J\nSO- Lancet\nPY- 2015\n",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_fields_of_a_format_that_cannot_be_read_are_not_records(name: str) -> None:
    for text in (UNKNOWN[name], "\n".join([UNKNOWN[name]] * 3)):
        with pytest.raises(InvalidInput) as error:
            run_merge({"export.txt": text})
        assert error.value.details["reason"] == "bad_file"
        assert "RIS" in (error.value.recovery_hint or "")


def test_a_list_of_references_with_labels_in_it_is_read() -> None:
    text = "1. Doe J, Roe R. Invented sleep in nurses at night. J Clin Invent. 2015;16(3):245-53.\nPMID: 99000001\n"
    assert run_merge({"list.txt": f"{text}\n2. Poe A. Another work. Lancet 2014;1:2-9.\n"}).counts.records == 2


def test_a_citation_in_the_column_of_the_source_is_not_a_database() -> None:
    header = '"Title","Author Names","Source","Volume","First Page","Last Page","Medline PMID","PUI"\n'
    citation = "Journal of Clinical Invention (2015) 17:3 (245-253)"
    for source, expected in ((citation, "Embase"), ("My register", "My register"), ("Embase", "Embase")):
        number = "L603000001" if expected == "Embase" else ""
        row = f'"Invented sleep","Doe J., Roe R.","{source}","17","245","253","99000001","{number}"\n'
        result = run_merge({"records.csv": header + row})
        assert [one.source for one in result.sources] == [expected]
        (work,) = result.works
        assert (work.find_key("pmid"), work.kept.reference.pages) == ("99000001", "245-253")
        assert work.kept.reference.journal == ("Journal of Clinical Invention" if source == citation else None)
        again = run_merge({"records.ris": result.to_text("ris")})
        assert again.records[0].keys["pmid"] == "99000001"


def test_a_table_of_trials_has_their_registrations() -> None:
    address = "https://clinicaltrials.gov/study/NCT01340495"
    table = f"NCT Number,Study Title,Study URL,Start Date\nNCT01340495,Invented sleep,{address},2011-05\n"
    central = (
        "TY  - JOUR\nID  - CN-01\nAU  - NCT01340495,\nTI  - Sleep\nPY  - 2012\nM3  - Trial registry record\nER  - \n"
    )
    result = run_merge({"trials.csv": table, "central.ris": central})
    assert result.counts.works == 1
    assert result.sources[0].source == "ClinicalTrials.gov"


@pytest.mark.parametrize(
    ("address", "doi"),
    [
        ("https://onlinelibrary.wiley.com/doi/full/10.1111/jgs.12000", "10.1111/jgs.12000"),
        ("https://onlinelibrary.wiley.com/doi/10.1111/jgs.12000/full", "10.1111/jgs.12000"),
        ("https://www.tandfonline.com/doi/abs/10.1080/0123.2014.9?journalCode=x", "10.1080/0123.2014.9"),
        ("https://link.springer.com/content/pdf/10.1007/s00134-020-1.pdf", "10.1007/s00134-020-1"),
        ("https://journals.plos.org/plosone/article?id=10.1371/journal.pone.1", "10.1371/journal.pone.1"),
        (
            "https://www.scopus.com/inward/record.uri?eid=2-s2.0-84&doi=10.1016%2fj.x.2014&partnerID=4",
            "10.1016/j.x.2014",
        ),
        ("https://www.cochranelibrary.com/central/doi/10.1002/central/CN-01091155/full", None),
        ("https://example.org/10.5/x", None),
    ],
)
def test_the_doi_in_the_address_of_a_publisher_is_read(address: str, doi: str | None) -> None:
    assert find_identifiers(address).get("doi") == doi


HEADER = "Title,Authors,Source title,Year,DOI\n"
TITLES = [f"A study of topic {number}, in hospitals" for number in range(10)]


def write_table(*more: tuple[int, str]) -> str:
    """Return a table of ten records; other rows replace those of the same number."""
    rows = {
        number: f'"{title}","Smith{number}, A",J Test,2020,10.5557/q.{number}' for number, title in enumerate(TITLES)
    }
    return HEADER + "".join(f"{row}\n" for row in (rows | dict(more)).values())


@pytest.mark.parametrize(
    "row",
    [
        '"Just breathe: a study of singing,"Smith3, A",J Test,2020,10.5557/q.3',
        '"Use of 5" tubes in children, a study","Smith3, A",J Test,2020,10.5557/q.3',
        "Use of tubes in children, a study,Smith3 A,J Test,2020,10.5557/q.3",
        '"Just breathe: a study of singing,Smith3 A,J Test,2020,10.5557/q.3',
    ],
)
def test_a_row_of_a_table_that_cannot_be_read_is_named(row: str) -> None:
    with pytest.raises(InvalidInput, match=r"a\.csv, line 5: ") as caught:
        run_merge({"a.csv": write_table((3, row))})

    assert caught.value.details == {"reason": "bad_file", "line": 5}


def test_no_record_of_a_table_is_damaged_if_its_file_is_incomplete() -> None:
    text = write_table()
    whole = read_csv(text, "a.csv").references
    first = text.index('"A study of topic 5')
    is_refused = []
    for end in range(first + 1, text.index("10.5557/q.5")):
        with pytest.raises(InvalidInput, match=r"a\.csv, line 7: ") as caught:
            read_csv(text[:end], "a.csv")
        is_refused.append(caught.value.details == {"reason": "bad_file", "line": 7})

    assert all(is_refused)
    assert read_csv(text[:first], "a.csv").references == whole[:5]
    assert read_csv(text.rstrip(), "a.csv").references == whole


def test_a_table_with_tabs_and_open_quotation_marks_keeps_its_records() -> None:
    rows = [line.split("|") for line in ('"Just breathe|Doe J|2020', "Two|Roe R|2021", '"Three|Poe P|2022')]
    text = "\n".join(["Title\tAuthors\tYear", *("\t".join(row) for row in rows), ""])

    references = read_csv(text, "a.tsv").references

    assert [reference.title for reference in references] == ['"Just breathe', "Two", '"Three']
    assert [reference.year for reference in references] == ["2020", "2021", "2022"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("is_separated", [True, False])
def test_a_table_with_a_field_in_each_row_is_read(delimiter: str, is_separated: bool) -> None:
    rows = []
    for record in WORKS[:5]:
        first, _, last = record.pages.partition("-")
        rows += [
            ["TITLE", record.title],
            ["AUTHOR NAMES", *(f"{family} {given[0]}." for family, given in record.authors)],
            *(["SOURCE TITLE", record.journal], ["PUBLICATION YEAR", str(record.year)], ["VOLUME", record.volume]),
            *(["FIRST PAGE", first], ["LAST PAGE", last], ["ABSTRACT", record.abstract, "Copyright"]),
            *(["EMTREE MEDICAL INDEX TERMS", "sleep", "night work"], ["MEDLINE PMID", record.pmid], ["PUI", "L1"]),
            *([[]] if is_separated else []),
        ]
    text = "\r\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)

    references = read_csv(text, "embase.csv").references

    assert run_merge({"embase.csv": text}).counts.records == len(references) == 5
    for record, reference in zip(WORKS, references, strict=False):
        assert (reference.title, reference.journal, reference.pmid) == (record.title, record.journal, record.pmid)
        assert (reference.year, reference.pages) == (str(record.year), record.pages)
        assert len(reference.authors) == len(record.authors)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_table_of_the_web_of_science_is_read_or_refused(line_end: str) -> None:
    lines = write_wos_table(WORKS[:6]).rstrip().split("\r\n")
    lines[2] = lines[2].replace(WORKS[1].title, '"Open')

    references = read_reference_file(line_end.join([*lines, ""]), "a.txt", "wos").references
    assert (len(references), references[1].title) == (6, '"Open')
    for bad, line in (([*lines[:3], f"{lines[3]}\tmore", *lines[4:]], 4), ([*lines[:5], lines[5][:60]], 6)):
        with pytest.raises(InvalidInput, match=rf"a\.txt, line {line}: "):
            run_merge({"a.txt": line_end.join(bad)})


@pytest.mark.parametrize(
    ("cell", "authors", "more"),
    [
        ("Doe J, Roe K and Poe L", ["Doe, J", "Roe, K", "Poe, L"], False),
        ("Smith J, Jones P, & Li Q", ["Smith, J", "Jones, P", "Li, Q"], False),
        ("Smith, John and Doe, Jane", ["Smith, John", "Doe, Jane"], False),
        ("Doe JA, Roe K, et al.", ["Doe, JA", "Roe, K"], True),
        ("Doe J; Roe K; et al", ["Doe, J", "Roe, K"], True),
        ("van Dam RM, Li Q, and others", ["van Dam, RM", "Li, Q"], True),
        ("Doe, Jane; others", ["Doe, Jane"], True),
        ("Doe J., Roe K. & others", ["Doe, J.", "Roe, K"], True),
        ("et al.", [], True),
        ("Hamet Al", ["Hamet Al"], False),
    ],
)
def test_the_authors_of_a_cell_are_split(cell: str, authors: list[str], more: bool) -> None:
    (reference,) = read_csv(f'title,authors\nA title,"{cell}"\n', "a.csv").references

    assert [author.text for author in reference.authors] == authors
    assert reference.more_authors is more
