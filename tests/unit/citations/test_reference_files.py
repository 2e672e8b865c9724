"""RIS, BibTeX and MEDLINE files: independent readers read the content of the records from them."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import unquote

import nbib
import pytest
import RISparser
import rispy
from bibtexparser.entrypoint import parse_string as parse_bibtex
from bibtexparser.middlewares import SeparateCoAuthors, SplitNameParts
from demo_articles import make_article
from project_paths import DATA
from pybtex.database import Person, parse_string
from pylatexenc.latex2text import LatexNodes2Text
from sampled_cases import take_sample
from used_recordings import require_recordings

from entrez_kit.base.errors import InvalidInput, UpstreamError
from entrez_kit.citations.csl import build_csl_item, find_unclear_number, list_notes
from entrez_kit.citations.names import Name, convert_to_csl_names
from entrez_kit.citations.write_bibtex import encode_doi, make_default_key, write_bibtex_entry
from entrez_kit.citations.write_files import FILES, write_file_text
from entrez_kit.citations.write_nbib import write_nbib_record
from entrez_kit.citations.write_ris import write_ris_record
from entrez_kit.pubmed.europepmc.europepmc_models import EuropePMCArticle
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import iter_records
from entrez_kit.references.files.read_bibtex import read_bibtex
from entrez_kit.references.files.read_ris import read_ris
from entrez_kit.references.files.reference_files import detect_kind, read_reference_file

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def read_articles(paths: Iterator[Any] | list[Any]) -> list[Article]:
    """Return the articles of files, each once; files without records are ignored."""
    found: dict[str, Article] = {}
    for path in paths:
        try:
            for record in iter_records(path.read_bytes()):
                if record.kind != "deleted":
                    found.setdefault(record.pmid, record.article())
        except UpstreamError:
            continue
    return list(found.values())


@pytest.fixture(scope="module")
def difficult_records() -> list[Article]:
    """Return the difficult records and those of the demo corpus."""
    demo = [path for path in (files("entrez_kit.fixtures") / "pubmed").iterdir() if path.name.endswith(".xml")]
    found = read_articles([DATA / "records.xml", *demo])
    assert len(found) > 80
    return found


@pytest.fixture(scope="module")
def recorded_articles(real_data: Path) -> list[Article]:
    """Return every article of the recordings."""
    found = read_articles(sorted((real_data / "efetch_pubmed").glob("*.xml")))
    require_recordings(len(found) > 100)
    return found


def to_line(text: Any) -> str:
    """Return text on one line; some of NLM's records have a stray control character."""
    return " ".join(re.sub("[\x7f-\x84\x86-\x9f]", "", str(text or "")).split())


def list_keywords(record: Article) -> list[str]:
    words = [*record.keywords, *(term.descriptor_name for term in record.mesh_terms)]
    return list(dict.fromkeys(to_line(word) for word in words))


# RIS


def expect_ris(record: Article) -> dict[str, Any]:
    """Return the fields that rispy must read from a record."""
    item = build_csl_item(record)
    chapter, journal = item["type"] == "chapter", item["type"] in ("article-journal", "article-newspaper")
    page = str(item.get("page") or "")
    names = [_join_name(name) for name in item.get("author", ())]
    editors = [_join_name(name) for name in item.get("editor", ())]
    dates = item.get("issued", {}).get("date-parts", [[]])
    short = item.get("container-title-short")
    # "Own title [English title]" of the styles; both titles have separate lines here.
    title = re.fullmatch(r"(.+) \[(.+)\]", item.get("title", "")) if record.vernacular_title else None
    both = (title[2], title[1]) if title else None
    found: dict[str, Any] = {
        "authors": names,
        "secondary_authors": editors if chapter else [],
        "tertiary_authors": [] if chapter else editors,
        "title": item.get("title", "") if both is None else both[0],
        "translated_title": both and both[1],
        "secondary_title": item.get("container-title") if chapter or journal else item.get("collection-title"),
        "alternate_title1": None if chapter or short == item.get("publisher") else short,
        "volume": item.get("volume"),
        "number": item.get("issue"),
        "start_page": page.partition("-")[0] or (item.get("number") if item["type"] != "report" else None),
        "end_page": page.partition("-")[2] or None,
        "custom7": find_unclear_number(item),
        "year": str(dates[0][0]) if dates[0] else None,
        "doi": record.doi,
        "accession_number": record.pmid,
        "custom2": record.pmcid if not chapter else None,
        "abstract": to_line(record.abstract_text),
        "keywords": list_keywords(record),
        "publisher": item.get("publisher"),
        "language": item.get("language"),
    }
    return {name: _to_lines(value) for name, value in found.items() if value}


def _to_lines(value: Any) -> Any:
    return [to_line(part) for part in value] if isinstance(value, list) else to_line(value)


def _join_name(name: Name) -> str:
    if literal := name.get("literal"):  # a comma marks a group that looks like a person
        return f"{literal}," if "," in literal or re.fullmatch(r"[A-Z][\w-]*[a-z][\w-]*", literal) else literal
    family = " ".join(part for part in (name.get("non-dropping-particle"), name.get("family")) if part)
    return ", ".join(part for part in (family, name.get("given"), name.get("suffix")) if part)


def check_ris(records: list[Article]) -> None:
    text = write_file_text("ris", records)
    read = rispy.loads(text)
    other = list(RISparser.read(text.splitlines()))
    assert len(read) == len(other) == len(records)
    for record, entry, second in zip(records, read, other, strict=True):
        wanted = expect_ris(record)
        assert {name: entry.get(name) for name in wanted} == wanted, record.pmid
        assert {name: second.get(name) for name in wanted} == wanted, record.pmid
        known = {*wanted, "type_of_reference", "urls", "notes", "date", "alternate_title2", "alternate_title3"}
        known |= {"name_of_database", "edition", "issn", "place_published", "section", "type_of_work", "tertiary_title"}
        assert set(entry) <= known, record.pmid
        assert [note for note in entry.get("notes", ()) if not note.startswith("Authors of the book")] == list_notes(
            record
        )
        assert entry["urls"][-1 if not record.pmcid else -2] == record.url
    assert "unknown_tag" not in text


def test_ris_is_read_completely_by_two_readers(difficult_records: list[Article]) -> None:
    check_ris(difficult_records)


def test_recorded_articles_as_ris_are_read_completely(recorded_articles: list[Article]) -> None:
    check_ris(recorded_articles)


@pytest.mark.parametrize(
    ("title", "own", "lines"),
    [
        ("[Bread and sleep].", "Pain et sommeil.", ["TI  - Bread and sleep", "TT  - Pain et sommeil"]),
        ("[Not Available].", "Pain et sommeil.", ["TI  - Pain et sommeil"]),
        ("[Bread and sleep].", None, ["TI  - [Bread and sleep]"]),
        ("Bread and sleep.", "Bread and Sleep", ["TI  - Bread and sleep"]),
    ],
)
def test_ris_has_the_english_title_and_the_original_one_on_separate_lines(
    title: str, own: str | None, lines: list[str]
) -> None:
    text = write_ris_record(make_article(title=title, vernacular_title=own))

    assert [written for written in text.split("\n") if written.startswith(("TI", "TT"))] == lines
    (reference,) = read_ris(text, "refs.ris").references
    assert reference.title == lines[0][6:]


def test_medline_text_has_an_abstract_in_another_language_like_ncbis() -> None:
    text = write_nbib_record(make_article(abstract_text="El gasto.", abstract_language="spa"))

    assert [written for written in text.split("\n") if written[:3] in ("AB ", "OAB")] == [
        "OAB - El gasto.",
        "OABL- spa",
    ]


def test_every_line_of_a_ris_record_is_a_tag(difficult_records: list[Article]) -> None:
    for record in difficult_records:
        lines = write_ris_record(record).split("\n")
        assert all(re.match(r"[A-Z][A-Z0-9]  - ", text) for text in lines)
        assert lines[0].startswith("TY  - ")
        assert [text for text in lines if text.startswith("ER")] == ["ER  - "]


def test_an_abstract_of_several_paragraphs_is_one_ris_line() -> None:
    record = make_article(abstract_text="BACKGROUND: One.\n\nTY  - JOUR\r\nER  - \n\x0b\u2028end")

    (entry,) = rispy.loads(write_ris_record(record))

    assert entry["abstract"] == "BACKGROUND: One. TY - JOUR ER - end"


@pytest.mark.parametrize(
    ("pages", "first", "last"),
    [
        ("737-8", "737", "738"),
        ("1639-41", "1639", "1641"),
        ("S12-9", "S12", "S19"),
        ("e1019", "e1019", None),
        ("e1000097", "e1000097", None),
        ("104512", "104512", None),
        ("4002.e26", "4002.e26", None),
        ("345", "345", None),
        ("101-5; discussion 106-8", "101", "105; discussion 106-108"),
    ],
)
def test_pages_in_ris_are_complete(pages: str, first: str, last: str | None) -> None:
    (entry,) = rispy.loads(write_ris_record(make_article(journal_info={"title": "J", "pages": pages})))

    assert (entry["start_page"], entry.get("end_page")) == (first, last)


@pytest.mark.parametrize(
    ("date", "year", "written"),
    [
        ({"year": 2003, "month": 1, "day": 5, "precision": "day"}, "2003", "2003/01/05/"),
        (
            {"year": 2003, "month": 1, "medline_date": "2003 Jan-Feb", "precision": "range"},
            "2003",
            "2003/01//2003 Jan-Feb",
        ),
        ({"year": 2003, "medline_date": "2003 Winter", "precision": "season"}, "2003", "2003///2003 Winter"),
        ({"medline_date": "19 century"}, None, "///19 century"),
    ],
)
def test_dates_in_ris_are_as_precise_as_in_pubmed(date: dict[str, Any], year: str | None, written: str) -> None:
    (entry,) = rispy.loads(write_ris_record(make_article(journal_info={"title": "J", "publication_date": date})))

    assert (entry.get("year"), entry["date"]) == (year, written)


def test_a_preprint_has_its_server_as_publisher_and_no_journal() -> None:
    record = make_article(publication_types=["Preprint"], journal_info={"title": "bioRxiv"})

    (entry,) = rispy.loads(write_ris_record(record))

    assert (entry["type_of_reference"], entry["publisher"]) == ("UNPB", "bioRxiv")
    assert "secondary_title" not in entry
    assert write_bibtex_entry(record).startswith("@misc{")


# BibTeX

LATEX = LatexNodes2Text(keep_braced_groups=False)


def to_plain(value: Any) -> str:
    r"""Return the text that LaTeX prints for a value."""
    braces = {r"\textbraceleft{}": "\ue000", r"\textbraceright{}": "\ue001"}  # which the library does not know
    text = str(value)
    for macro, mark in braces.items():
        text = text.replace(macro, mark)
    return to_line(LATEX.latex_to_text(text)).replace("\ue000", "{").replace("\ue001", "}").replace("ˆ", "^")


def expect_bibtex(record: Article) -> dict[str, str]:
    """Return the fields that a reader must find, names and verbatim fields separately."""
    item = build_csl_item(record)
    kind = item["type"]
    dates = item.get("issued", {}).get("date-parts", [[]])
    month = MONTHS[dates[0][1] - 1] if len(dates[0]) > 1 and "season" not in item["issued"] else None
    container = "journal" if kind in ("article-journal", "article-newspaper") else "booktitle"
    found = {
        "title": item.get("title"),
        container: item.get("container-title") if kind != "article" else None,
        "volume": item.get("volume"),
        "number": item.get("issue") if kind != "report" else item.get("number"),
        "pages": re.sub(r"(?<=\w)-(?=\w)", "–", str(item.get("page") or item.get("number") or ""))
        if kind != "report"
        else None,
        "year": dates[0][0] if dates[0] else item.get("issued", {}).get("literal"),
        "month": month,
        "pmid": record.pmid,
        "pmcid": record.pmcid,
        "keywords": "; ".join(list_keywords(record)),
        "abstract": record.abstract_text,
        "note": " ".join(list_notes(record)).removesuffix("."),
    }
    return {name: to_plain_text(value) for name, value in found.items() if value}


def to_plain_text(value: Any) -> str:
    """Return text as LaTeX prints it: ligatures are escaped, so nothing changes."""
    return to_line(value)


def split_person(name: Name) -> tuple[str, str, str, str]:
    """Return particle, family name, suffix and given names, with normalized spaces."""
    if "literal" in name:
        return "", to_line(name["literal"]), "", ""
    parts = (name.get(part, "") for part in ("non-dropping-particle", "family", "suffix", "given"))
    particle, family, suffix, given = (to_line(part) for part in parts)
    return particle, family, suffix, given


def join_parts(parts: list[str]) -> str:
    return to_plain(" ".join(parts))


def is_same_name(read: tuple[str, str, str, str], name: Name) -> bool:
    wanted = split_person(name)
    return tuple(to_plain_text(part) for part in wanted) == tuple(part.replace("~", " ") for part in read)


def read_pybtex_names(persons: list[Person]) -> list[tuple[str, str, str, str]]:
    return [
        (
            join_parts(person.prelast_names),
            join_parts(person.last_names),
            join_parts(person.lineage_names),
            join_parts(person.first_names + person.middle_names),
        )
        for person in persons
    ]


def check_bibtex(records: list[Article]) -> None:
    text = write_file_text("bibtex", records)
    library = parse_bibtex(text, append_middleware=[SeparateCoAuthors(), SplitNameParts()])
    assert library.failed_blocks == []
    other = parse_string(text, "bibtex").entries
    assert len(library.entries) == len(other) == len(records)
    for record, entry in zip(records, library.entries, strict=True):
        item, second = build_csl_item(record), other[make_default_key(record)]
        assert entry.key == make_default_key(record)
        wanted = expect_bibtex(record)
        values = {name: field.value for name, field in entry.fields_dict.items()}
        assert {name: to_plain(values.get(name, "")) for name in wanted} == wanted, record.pmid
        assert {name: to_plain(second.fields.get(name, "")) for name in wanted} == {
            **wanted,
            **({"month": to_plain(second.fields["month"])} if "month" in wanted else {}),
        }, record.pmid
        if "month" in wanted:
            assert second.fields["month"].lower().startswith(wanted["month"])
        read_dois = [values.get("doi"), second.fields.get("doi")]
        assert read_dois == [encode_doi(record.doi) or None] * 2
        assert unquote(read_dois[0] or "") == (record.doi or "")
        for role, field in (("author", "author"), ("editor", "editor"), ("container-author", "bookauthor")):
            names = item.get(role, [])
            if field != "bookauthor":
                read = read_pybtex_names(second.persons.get(field, []))
                assert len(read) == len(names), record.pmid
                for one, name in zip(read, names, strict=True):
                    assert is_same_name(one, name), (record.pmid, one, name)
                mine = [
                    (join_parts(part.von), join_parts(part.last), join_parts(part.jr), join_parts(part.first))
                    for part in values.get(field, [])
                ]
                assert mine == read, record.pmid


@pytest.mark.long
def test_bibtex_is_read_completely_by_two_readers(difficult_records: list[Article]) -> None:
    check_bibtex(difficult_records)


@pytest.mark.long
def test_recorded_articles_as_bibtex_are_read_completely(recorded_articles: list[Article]) -> None:
    check_bibtex(take_sample(recorded_articles, 0.3))


HOSTILE = "50% of A&B cost $5 #1 in a_b {open} ~x^2 \\alpha } and { \"quoted\" @article{x, 'single' α<β"


def test_special_characters_of_latex_are_escaped_and_read_back() -> None:
    record = make_article(title=HOSTILE, abstract_text=f"@book{{evil,\n{HOSTILE}", keywords=[HOSTILE, "a, b", "c; d"])

    check_bibtex([record, make_article(pmid="2")])
    check_ris([record])


@pytest.mark.parametrize(
    "author",
    [
        {"collective_name": "Barnes and Noble Group, Ltd"},
        {"collective_name": "R & D {Group} 100%"},
        {"last_name": "Ramón y Cajal", "first_name": "Santiago"},
        {"last_name": "van der Berg", "first_name": "Willem"},
        {"last_name": "d'Artagnan", "first_name": "Charles"},
        {"last_name": "O'Neil", "first_name": "Ann-Marie", "suffix": "Jr"},
        {"last_name": "de Souza e Silva", "first_name": "J"},
        {"last_name": "Smith", "first_name": "John and Mary"},
        {"last_name": "Li, Wei", "first_name": "X"},
        {"last_name": "al-Haddad"},
        {"last_name": "de", "first_name": "B"},
        {"last_name": "山田", "first_name": "太郎"},
        {"first_name": "Madonna"},
        {"last_name": "And", "first_name": "A"},
        {"last_name": "Müller", "initials": "HJ", "suffix": "3rd"},
    ],
)
def test_names_of_all_kinds_are_read_back_in_their_parts(author: dict[str, str]) -> None:
    check_bibtex([make_article(authors=[author, {"last_name": "Doe", "first_name": "Jane"}])])


def test_group_authors_are_never_split() -> None:
    record = make_article(authors=[{"collective_name": "GBD 2019 Diseases and Injuries Collaborators"}])

    (person,) = parse_string(write_bibtex_entry(record), "bibtex").entries["pmid1"].persons["author"]

    assert (person.first_names, len(person.last_names)) == ([], 1)
    assert "AU  - GBD 2019 Diseases and Injuries Collaborators\n" in write_ris_record(record)


def test_a_heading_with_a_comma_is_one_keyword() -> None:
    record = make_article(
        keywords=["trust, but verify"],
        mesh_terms=[{"descriptor_name": "Databases, Protein"}, {"descriptor_name": "Humans"}],
    )

    assert "keywords = {trust, but verify; Databases, Protein; Humans}," in write_bibtex_entry(record)
    assert rispy.loads(write_ris_record(record))[0]["keywords"] == ["trust, but verify", "Databases, Protein", "Humans"]


def test_titles_and_notes_end_without_a_full_stop_that_styles_would_double() -> None:
    record = make_article(
        title="Does it work?",
        retraction_status="retracted",
        corrections=[{"kind": "RetractionIn", "citation": "J Inv. 2020;1:2."}],
    )

    entry = write_bibtex_entry(record)

    assert "title = {{Does it work?}}" in entry
    assert "note = {[Retracted: J Inv. 2020;1:2]}" in entry
    assert "title = {{A title}}" in write_bibtex_entry(make_article())


def test_two_addresses_are_two_lines_and_the_free_one_is_the_link_of_bibtex() -> None:
    record = make_article(pmcid="PMC7")

    assert rispy.loads(write_ris_record(record))[0]["urls"] == [
        "https://pubmed.ncbi.nlm.nih.gov/1/",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC7/",
    ]
    assert "url = {https://pmc.ncbi.nlm.nih.gov/articles/PMC7/}" in write_bibtex_entry(record)


# MEDLINE


def expect_nbib(record: Article) -> dict[str, Any]:
    journal = record.journal_info
    found = {
        "pubmed_id": int(record.pmid),
        "title": to_line(record.title),
        "abstract": to_line(record.abstract_text) if not record.abstract_language else None,
        "pages": journal.pages if journal else None,
        "journal": journal.title if journal else None,
        "doi": record.doi,
    }
    return {name: value for name, value in found.items() if value}


def check_nbib(records: list[Article]) -> None:
    read = nbib.read(write_file_text("nbib", records))
    assert len(read) == len(records)
    for record, entry in zip(records, read, strict=True):
        wanted = expect_nbib(record)
        assert {name: entry.get(name) for name in wanted} == wanted, record.pmid
        people = [author for author in record.authors if not author.collective_name]
        assert [to_line(author.last_name) for author in people] == [
            str(author["author"]).split(",")[0] for author in entry.get("authors", ()) if "author" in author
        ], record.pmid


def test_medline_text_is_read_by_an_independent_reader(difficult_records: list[Article]) -> None:
    check_nbib(difficult_records)


def test_a_preprint_without_pmid_is_written_in_every_format() -> None:
    preprint = EuropePMCArticle(
        source="PPR",
        epmc_id="PPR123",
        title="A preprint.",
        url="https://europepmc.org/article/PPR/PPR123",
        doi="10.5555/p",
        publication_types=["Preprint"],
        journal_info={"title": "bioRxiv"},
    )

    assert "AN  - PPR:PPR123\n" in write_ris_record(preprint)
    assert write_bibtex_entry(preprint).startswith("@misc{PPR123,")
    assert "pmid" not in write_bibtex_entry(preprint)
    text = write_nbib_record(preprint)
    assert text.startswith("OWN - Europe PMC\n")
    assert "AID - PPR123 [epmc]" in text
    assert "PMID" not in text


def test_long_lines_of_medline_text_are_wrapped_like_ncbis() -> None:
    text = write_nbib_record(make_article(abstract_text="word " * 100))

    assert max(len(part) for part in text.split("\n")) <= 87
    assert all(re.match(r"[A-Z ]{4}- |      \S", part) for part in text.split("\n"))


# All


@pytest.mark.parametrize("style", FILES)
def test_a_file_has_every_entry_and_ends_with_a_line_end(style: str, difficult_records: list[Article]) -> None:
    text = write_file_text(style, difficult_records)

    assert all(FILES[style].entry(article) in text for article in difficult_records)
    assert text.endswith("\n")


def test_suffixes_and_groups_are_csl_names(difficult_records: list[Article]) -> None:
    kinds = {key for record in difficult_records for name in convert_to_csl_names(record.authors) for key in name}

    assert {"literal", "suffix", "non-dropping-particle"} <= kinds  # so the tests above include them


HOSTILE_BEGINNINGS = {
    "bar of hashes": ("", "#" * 100_000),
    "bars of hashes": ("", ("#" * 70 + "\n") * 2_000 + "x"),
    "percent signs": ("", "%" * 100_000),
    "comments": ("", "% \n" * 50_000),
    "blanks": ("", " \n" * 100_000 + "x"),
    "open objects": ("", "{" * 100_000),
    "quotes": ("", '[{"' * 50_000),
    "digits": ("", "1" * 200_000 + "x"),
}
HOSTILE_FILES = {
    "braces.bib": "@article{a, title = " + "{" * 1_000 + "x" + "}" * 1_000 + "}",
    "open braces.bib": "@article{a, title = " + "{" * 20_000,
    "many braces.bib": "@article{a, title = {" + "{x}" * 5_000 + "}}",
    "strings.bib": '@string{s0 = "x"}\n'
    + "".join(f"@string{{s{n} = s{n - 1} # s{n - 1}}}\n" for n in range(1, 60))
    + "@article{a, title = s59}",
    "nested strings.bib": "@string{a = " * 3_000,
    "commands.bib": "@article{a, title = {" + r"\emph{" * 900 + "x" + "}" * 900 + "}}",
    "accents.bib": "@article{a, title = {" + r"\'{" * 900 + "}" * 900 + "}}",
    "dollars.bib": "@article{a, title = {" + "$" * 5_001 + "}}",
    "ands.bib": "@article{a, author = {" + "A and " * 10_000 + "B}}",
    "commas.bib": "@article{a, author = {" + "," * 20_000 + "}}",
    "fields.bib": "@article{a," + "".join(f" f{n} = {{x}}," for n in range(3_000)) + "}",
    "key blanks.bib": "@article{a, title" + " " * 50_000 + "x = {y}}",
    "date.bib": "@article{a, year = {" + "1" * 100_000 + "}}",
    "equals.bib": "@article{a, author = {family" + " " * 50_000 + "}}",
    "many entries.bib": "".join(f"@article{{a{n}, title = {{x}}}}\n" for n in range(1_500)),
    "deep.json": '[{"type": "book", "author": ' + "[" * 50_000 + "]" * 50_000 + "}]",
    "wide.json": '[{"type": "book", "title": "' + "<i " * 50_000 + '"}]',
    "number.json": '[{"type": "book", "volume": ' + "1" * 10_000 + "}]",
    "names.json": '[{"type": "book", "author": [' + '{"family": "A"},' * 20_000 + '{"family": "B"}]}]',
    "note.json": '[{"type": "book", "note": "' + "PMID " * 30_000 + '"}]',
    "long.ris": "TY  - JOUR\nTI  - " + "x " * 100_000 + "\nER  - \n",
    "authors.ris": "TY  - JOUR\n" + "AU  - A, B\n" * 20_000 + "ER  - \n",
    "records.ris": "TY  - JOUR\nTI  - x\nER  - \n" * 5_000,
    "continued.ris": "TY  - JOUR\nTI  - a\n" + "x\n" * 20_000 + "ER  - \n",
    "initials.ris": "TY  - JOUR\nAU  - " + "A." * 20_000 + "b\nER  - \n",
    "continued.nbib": "PMID- 1\nTI  - a\n" + "      x\n" * 20_000,
    "tags.nbib": "PMID- 1\n" + "ABCD" + " " * 100_000 + "x\n",
}


@pytest.mark.parametrize("name", HOSTILE_BEGINNINGS)
def test_the_kind_of_a_hostile_file_is_found_quickly(name: str) -> None:
    suffix, text = HOSTILE_BEGINNINGS[name]
    started = time.process_time()

    detect_kind(text, name, suffix)

    assert time.process_time() - started < 1


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_hostile_files_are_read_or_rejected_in_bounded_time(name: str) -> None:
    text = HOSTILE_FILES[name]
    kind = detect_kind(text, name, f".{name.rpartition('.')[2]}")
    started = time.process_time()

    with suppress(InvalidInput):
        assert read_reference_file(text, name, kind).references

    assert time.process_time() - started < 5


def test_a_doi_and_an_address_in_bibtex_have_no_tex_commands() -> None:
    record = make_article(doi="10.5555/a^b%c{d}e%3Cf", url="https://example.org/a^b%20c%d")
    text = write_bibtex_entry(record)

    assert "doi = {10.5555/a%5Eb%25c%7Bd%7De%253Cf}" in text
    assert "url = {https://example.org/a%5Eb%20c%25d}" in text
    (read,) = read_bibtex(text, "refs.bib").references  # and check reads the DOI from it
    assert read.doi == "10.5555/a^b%c{d}e%3Cf"


def test_csl_is_escaped_like_all_json() -> None:
    title = "Tea\u2028 and \u202emilk\x85\u200b"
    text = write_file_text("csl", [make_article(title=title + " end")])

    assert {"\u2028", "\u202e", "\x85", "\u200b"} & set(text) == set()
    assert json.loads(text)[0]["title"] == build_csl_item(make_article(title=title + " end"))["title"]


def test_ligatures_of_latex_are_escaped_in_bibtex_and_read_back() -> None:
    title = "A -- B --- C ``quoted'' 5''-UTR and ?` end"
    text = write_bibtex_entry(make_article(title=f"{title}.", journal_info={"title": "J", "pages": "10-19"}))
    (read,) = read_reference_file(text, "refs.bib", "bibtex").references

    written = next(line for line in text.splitlines() if line.startswith("  title"))
    assert not re.search(r"--|``|''|\?`", written)
    assert read.title == title
    assert "pages = {10--19}" in text


def test_nbib_has_the_medline_abbreviation_and_the_history() -> None:
    text = write_nbib_record(
        make_article(
            journal_info={"title": "J", "iso_abbreviation": "Clin. Sci.", "medline_abbreviation": "Clin Sci (Lond)"},
            history=[{"status": "received", "year": 2024, "month": 3, "day": 5}],
        )
    )

    assert "TA  - Clin Sci (Lond)" in text.splitlines()
    assert "PHST- 2024/03/05 00:00 [received]" in text.splitlines()


@pytest.mark.parametrize(
    "names",
    [
        "{Smith, J. A.} and {Roe, R}",
        "{{Smith, J. A.}} and {{Roe, R}}",
        "{Smith, J. A. and Roe, R}",
        "{{J. A. Smith}} and {{{R. Roe}}}",
    ],
)
def test_persons_in_braces_are_persons(names: str) -> None:
    (reference,) = read_bibtex(f"@article{{k, author = {{{names}}}}}", "x").references

    assert [(author.family, (author.given or "")[:1]) for author in reference.authors] == [("Smith", "J"), ("Roe", "R")]


@pytest.mark.parametrize("name", ["Centers for Disease Control and Prevention", "The XYZ Group", "Institute, Research"])
def test_groups_in_braces_are_groups(name: str) -> None:
    (reference,) = read_bibtex(f"@article{{k, author = {{{{{name}}}}}}}", "x").references

    assert [author.group for author in reference.authors] == [name]


def test_latex_letters_with_empty_braces_and_greek_letters_in_text_are_read() -> None:
    text = r"@article{k, author = {\L{}ukasiewicz, Jan}, title = {{The {\textbeta}-catenin \& \textDelta{}F508}}}"
    (reference,) = read_bibtex(text, "x").references

    assert (reference.authors[0].family, reference.title) == ("Łukasiewicz", "The β-catenin & ΔF508")


DAMAGED = {
    "bibtex": ("@article{{k{0},\n  title = {{Moon {0}}},\n  year = {{2001}},\n}}\n\n", ".bib"),
    "ris": ("TY  - JOUR\nTI  - Moon {0}\nPY  - 2001\nER  - \n\n", ".ris"),
    "nbib": ("PMID- 99{0}\nOWN - NLM\nTI  - Moon {0}\nDP  - 2001\n\n", ".nbib"),
}


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        *(("bibtex", old, "") for old in ("@article", "@article{", "{", "}", ",\n", "=", "}\n\n")),
        *(("bibtex", "@article", new) for new in ("@comment", "@preamble", "@string", "@ article", "% @article")),
        *(("ris", old, "") for old in ("ER  - \n", "TY  - JOUR\n", "TY", "ER", "\n\n", "  - ")),
        *(
            ("nbib", old, new)
            for old, new in (("\n\n", "\n"), ("OWN - NLM\n", "\n"), ("TI", "\nTI"), ("PMID-", "PMID"))
        ),
    ],
)
@pytest.mark.parametrize("damaged", [{1}, {3}, {6}, {1, 2, 3, 4, 5, 6}], ids=["first", "inside", "last", "all"])
def test_each_entry_of_a_damaged_file_is_a_row_or_a_named_problem(
    kind: str, old: str, new: str, damaged: set[int]
) -> None:
    entry, suffix = DAMAGED[kind]
    whole = [entry.format(n) for n in range(1, 7)]
    text = "".join(one.replace(old, new) if n in damaged else one for n, one in enumerate(whole, start=1))
    try:
        file = read_reference_file(text, "refs", detect_kind(text, "refs", suffix))
    except InvalidInput:
        return

    titles = [reference.title for reference in file.references]
    named = [term for warning in file.warnings for term in warning.terms]
    assert len(titles) + len(named) == 6, (titles, named)


RIS_RECORD = "TY  - JOUR\nID  - k{0}\nTI  - Moonlight and {0} mice\nPY  - 199{0}\nDO  - 10.5555/m.{0}\nER  - \n\n"
NBIB_RECORD = "PMID- 9{0}\nOWN - NLM\nTI  - Moonlight and {0} mice\nDP  - 199{0}\nTA  - J Inv Res\n\n"
CSL_ITEM: dict[str, Any] = {
    "id": "k",
    "type": "article-journal",
    "title": "Moonlight",
    "issued": {"date-parts": [[1999]]},
}
CSL_ITEM |= {"author": [{"family": "Doe", "given": "J"}], "DOI": "10.5555/m", "container-title": "J Inv Res"}


@pytest.mark.parametrize(
    ("suffix", "text", "line"),
    [
        (
            ".ris",
            "".join(map(RIS_RECORD.format, range(4))).replace("ER  - \n\nTY  - JOUR\nID  - k2\n", "ID  - k2\n"),
            "13",
        ),
        (".nbib", "".join(map(NBIB_RECORD.format, range(4))).replace("\nPMID- 92\n", ""), "7"),
    ],
    ids=["RIS", "MEDLINE"],
)
def test_an_entry_inside_another_one_is_reported(suffix: str, text: str, line: str) -> None:
    file = read_reference_file(text, f"a{suffix}", suffix[1:])

    (warning,) = file.warnings
    assert (len(file.references), warning.code) == (3, "entries_left_out")
    assert [term.split(":")[0] for term in warning.terms] == [line]


@pytest.mark.parametrize("value", [None, 3, [], {}, "x", [[]], [None], {"a": 1}, True, -1], ids=repr)
def test_a_csl_item_with_values_of_another_type_is_read_or_rejected(value: object) -> None:
    for field in CSL_ITEM:
        text = json.dumps([CSL_ITEM, {**CSL_ITEM, "id": "other", field: value}])
        try:
            file = read_reference_file(text, "a.json", "csl")
        except InvalidInput:
            continue
        assert len(file.references) == 2 or [warning.code for warning in file.warnings] == ["entries_left_out"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.bib", "".join(f"@article{{k{n},\n title = {{Moonlight {n}}},\n year = {{199{n}}}\n}}\n" for n in range(4))),
        ("a.ris", "".join(map(RIS_RECORD.format, range(4)))),
        ("a.nbib", "".join(map(NBIB_RECORD.format, range(4)))),
        ("a.json", json.dumps([CSL_ITEM] * 4, indent=1)),
    ],
    ids=lambda value: value if len(value) < 9 else "",
)  # fmt: skip
def test_a_damaged_file_is_read_or_rejected_and_never_an_internal_error(name: str, text: str) -> None:
    chance = Random(name)
    kind = {"bib": "bibtex", "json": "csl"}.get(name[2:], name[2:])
    refused = 0
    for _ in range(150):
        start = chance.randrange(len(text))
        end = start + chance.randrange(30)
        middle = chance.choice(["", "{", "}", '"', "@", "\\", "\x00", "\r", "ER  - ", text[start:end][::-1]])
        try:
            read_reference_file(text[:start] + middle + text[end:], name, kind)
        except InvalidInput:
            refused += 1
    assert 0 < refused < 150
