"""Records converted between formats keep their authors, dates, names of groups and identifiers."""

import json
from typing import Any

import pytest
from odd_csl_values import ODD_CSL_VALUES

from entrez_kit.pubmed.models import Article, JournalInfo
from entrez_kit.references.files.csl_values import clean_csl_date, clean_csl_item
from entrez_kit.references.files.reference_files import READERS
from entrez_kit.references.files.references import FieldUpdate
from entrez_kit.references.files.tagged_fields import parse_date
from entrez_kit.references.merge.convert_records import build_item, convert_records, read_record_files
from entrez_kit.references.merge.merge_documents import FileToMerge

TARGETS = ("ris", "nbib", "csl", "bibtex")
READ = {"ris": "ris", "nbib": "nbib", "csl": "json", "bibtex": "bib"}
"""The suffix of a file in each format."""


def convert(text: str, suffix: str, target: str) -> str:
    entries, _ = read_record_files([FileToMerge(file=f"refs.{suffix}", text=text)])
    return "".join(convert_records(entries, target))


def read_item(text: str, suffix: str) -> dict[str, Any]:
    entries, _ = read_record_files([FileToMerge(file=f"refs.{suffix}", text=text)])
    return build_item(entries[0])


def list_families(item: dict[str, Any]) -> list[str]:
    return [name.get("family") or name["literal"] for name in item["author"]]


SOURCES = {
    "bib": "@article{{k, author={{{authors}}}, title={{T}}, journal={{J}}, year={{2019}}, month=dec, day={{24}}}}\n",
    "ris": "TY  - JOUR\n{authors}TI  - T\nT2  - J\nPY  - 2019\nDA  - 2019/12/24/\nER  - \n",
    "nbib": "PMID- 1\nTI  - T\n{authors}DP  - 2019 Dec 24\nJT  - J\n",
}


def write_source(suffix: str, *authors: str) -> str:
    if suffix == "bib":
        return SOURCES[suffix].format(authors=" and ".join(authors))
    tag = "AU  - " if suffix == "ris" else "FAU - "
    return SOURCES[suffix].format(authors="".join(f"{tag}{author}\n" for author in authors))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("suffix", SOURCES)
def test_two_authors_with_the_same_name_stay_two(suffix: str, target: str) -> None:
    text = write_source(suffix, "Wang, Wei", "Li, Jing", "Wang, Wei")

    assert list_families(read_item(convert(text, suffix, target), READ[target])) == ["Wang", "Li", "Wang"]


PEOPLE = {
    "bib": ("von Last, Jr., First", "Doe, III, Jane A", "Roe, Sr., {}", "Petrov, II", "{A Group, Jr}"),
    "ris": ("von Last, First, Jr.", "Doe, Jane A, III", "Roe, , Sr.", "Petrov, II", "A Group, Jr,"),
    "nbib": ("von Last, First Jr", "Doe, Jane A 3rd", "Roe, Sr", "Petrov, II"),
}
"""The same names in each format; MEDLINE has other tags for groups."""


def list_people(item: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (
            " ".join(filter(None, (name.get("non-dropping-particle"), name.get("family") or name["literal"]))),
            name.get("given", ""),
            name.get("suffix", "").rstrip("."),
        )
        for name in item["author"]
    ]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("suffix", SOURCES)
def test_suffixes_of_persons_are_kept(suffix: str, target: str) -> None:
    item = read_item(convert(write_source(suffix, *PEOPLE[suffix]), suffix, target), READ[target])

    people = [("von Last", "First", "Jr"), ("Doe", "Jane A", "III"), ("Roe", "", "Sr"), ("Petrov", "II", "")]
    assert list_people(item) == people + ([] if suffix == "nbib" else [("A Group, Jr", "", "")])


@pytest.mark.parametrize("target", TARGETS)
def test_suffixes_of_csl_and_of_medline_without_full_names_are_kept(target: str) -> None:
    person = {"family": "Last", "non-dropping-particle": "von", "given": "First", "suffix": "III"}
    csl = json.dumps([{"id": "k", "type": "article-journal", "title": "T", "author": [person]}])
    medline = "PMID- 1\nTI  - T\nAU  - Doe JA 3rd\nAU  - Petrov II\nJT  - J\n"

    assert list_people(read_item(convert(csl, "json", target), READ[target])) == [("von Last", "First", "III")]
    people = list_people(read_item(convert(medline, "nbib", target), READ[target]))
    people = [(family, given.replace(" ", ""), suffix) for family, given, suffix in people]
    assert people == [("Doe", "JA", "III"), ("Petrov", "II", "")]


def test_medline_has_the_suffixes_of_nlm() -> None:
    written = convert(write_source("bib", *PEOPLE["bib"][:2]), "bib", "nbib")

    for line in ("FAU - von Last, First Jr", "AU  - von Last F Jr", "FAU - Doe, Jane A 3rd", "AU  - Doe JA 3rd"):
        assert line in written.splitlines()


def test_editors_of_bibtex_are_persons() -> None:
    text = "@book{k, editor={Roe, Jr., Richard and Jane von Doe}, title={T}, year={2019}}\n"

    assert [line for line in convert(text, "bib", "ris").splitlines() if line.startswith("A2")] == [
        "A2  - Roe, Richard, Jr.",
        "A2  - von Doe, Jane",
    ]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("suffix", SOURCES)
def test_the_day_of_the_publication_is_kept(suffix: str, target: str) -> None:
    converted = convert(write_source(suffix, "Doe, Jane"), suffix, target)

    assert read_item(converted, READ[target])["issued"]["date-parts"] == [[2019, 12, 24]]


@pytest.mark.parametrize("target", TARGETS)
def test_a_group_with_a_comma_in_its_name_stays_a_group(target: str) -> None:
    text = write_source("bib", "{World Health Organization, Region A and B}", "Doe, Jane")
    converted = convert(text, "bib", target)

    assert read_item(converted, READ[target])["author"][0] == {"literal": "World Health Organization, Region A and B"}


@pytest.mark.parametrize("target", ["csl", "bibtex", "ris"])
def test_an_incomplete_list_of_authors_stays_incomplete(target: str) -> None:
    converted = convert(write_source("bib", "Doe, Jane", "others"), "bib", target)

    assert read_item(converted, READ[target])["author"][-1] == {"literal": "others"}
    assert target != "bibtex" or "Doe, Jane and others" in converted


@pytest.mark.parametrize(
    ("name", "family"),
    [
        (r"\'{E}mile, V", "Émile"),
        (r"\"Ozt\"urk, A", "Öztürk"),
        (r"\c{C}elik, B", "Çelik"),
        (r"\.{I}nan, C", "İnan"),
        (r"\v Cech, D", "Čech"),
        (r"\O stergaard, E", "Østergaard"),
        (r"\AA berg, F", "Åberg"),
        (r"Pati\~no, L", "Patiño"),
        (r"Pati\~{n}o, L", "Patiño"),
        (r"Pati{\~n}o, L", "Patiño"),
    ],
)
@pytest.mark.parametrize("first", ["", "Doe, Jane and "])
def test_letters_of_latex_in_names(first: str, name: str, family: str) -> None:
    item = read_item(SOURCES["bib"].format(authors=f"{first}{name}"), "bib")

    assert list_families(item)[-1] == family


@pytest.mark.parametrize("values", ODD_CSL_VALUES, ids=str)
@pytest.mark.parametrize("target", TARGETS)
def test_odd_values_of_csl_files_are_converted(target: str, values: dict[str, Any]) -> None:
    text = json.dumps([{"id": "a", "type": "article-journal", "title": "A title", "volume": "1", **values}])

    assert "A title" in (converted := convert(text, "json", target)) or "title" in values
    assert converted.endswith("\n")


def test_a_csl_file_is_not_changed_by_a_conversion_to_csl() -> None:
    item = {"id": "a", "type": "article-journal", "title": ["A title"], "issued": {"date-parts": [["2019", "8"]]}}

    assert json.loads(convert(json.dumps([item]), "json", "csl")) == [item]


def test_particles_editors_and_identifiers_of_csl_are_kept() -> None:
    item = {
        "id": "a",
        "type": "chapter",
        "title": "A title",
        "author": [{"family": "Beethoven", "given": "Ludwig", "dropping-particle": "van"}],
        "editor": [{"family": "Roe", "given": "Richard"}],
        "DOI": "10.1000/ac<1::aid-x>2.0;2-_%#",
    }
    text = json.dumps([item])

    assert "van Beethoven, Ludwig" in convert(text, "json", "bibtex")
    assert "A2  - Roe, Richard" in convert(text, "json", "ris")
    assert convert(text, "json", "ris").count("DO  - ") == 1
    assert "10.1000/ac<1::aid-x>2.0;2-_%#" in convert(text, "json", "ris").lower()


def test_an_arxiv_number_becomes_an_address() -> None:
    text = "@misc{k, title={T}, author={Doe, Jane}, year={2020}, eprint={2001.01234}, eprinttype={arxiv}}\n"

    assert read_item(text, "bib")["URL"] == "https://arxiv.org/abs/2001.01234"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2019/12/24/", [2019, 12, 24]),
        ("2019/02/30/", [2019, 2]),
        ("2019///Spring", [2019]),
        ("1975 Jun", [1975, 6]),
        ("1975 Jun 3", [1975, 6, 3]),
        ("2001-05", [2001, 5]),
        ("2003 Winter", [2003]),
        ("in press", []),
        (None, []),
    ],
)
def test_dates_of_records(text: str | None, date: list[int]) -> None:
    assert parse_date(text) == date


def test_dates_and_items_of_csl_are_clean() -> None:
    assert clean_csl_date({"date-parts": [["2019", "8"]]}) == {"date-parts": [[2019, 8]]}
    assert clean_csl_date({"date-parts": [[2019, 13]]}) == {"date-parts": [[2019]]}
    assert clean_csl_date({"raw": "Spring 2011"}) == {"date-parts": [[2011]], "season": 1}
    assert clean_csl_date("2020-05-06") == {"date-parts": [[2020, 5, 6]]}
    assert clean_csl_date({"date-parts": [[None]]}) is None
    assert clean_csl_item({"title": ["T"], "type": None, "DOI": None, "issued": None}) == {
        "title": "T",
        "type": "document",
    }


NUMBERED = "TY  - JOUR\nAU  - Doe, Jane\nTI  - T\nT2  - J\nPY  - 2019\nSP  - {page}\n{number}DO  - 10.5555/a\nER  - \n"


@pytest.mark.parametrize(
    ("page", "number", "is_number"),
    [
        ("2564", "2564", True),
        ("S12", "S12", True),
        ("2564", "", False),
        ("2564", "9999", False),
        ("e1000097", "", True),
        ("104512", "", True),
    ],
)
@pytest.mark.parametrize("target", TARGETS)
def test_a_short_article_number_stays_an_article_number_in_every_format(
    target: str, page: str, number: str, is_number: bool
) -> None:
    source = NUMBERED.format(page=page, number=f"C7  - {number}\n" if number else "")

    item = read_item(convert(source, "ris", target), READ[target])

    assert item.get("number" if is_number else "page") == page
    assert ("page" if is_number else "number") not in item


@pytest.mark.parametrize("target", ["ris", "csl", "bibtex"])
@pytest.mark.parametrize("pages", ["311", "311-319"])
def test_corrected_pages_replace_a_short_article_number(target: str, pages: str) -> None:
    text = convert(NUMBERED.format(page="2564", number="C7  - 2564\n"), "ris", target)
    file = READERS[target](text, f"refs.{READ[target]}")

    corrected = file.correct({0: FieldUpdate(fields={"pages": pages})})

    assert "2564" not in corrected
    item = read_item(corrected, READ[target])
    assert (item.get("page"), item.get("number")) == (pages, None)


@pytest.mark.parametrize("target", ["ris", "csl", "bibtex"])
def test_a_replaced_record_has_no_article_number_of_the_old_one(target: str) -> None:
    text = convert(NUMBERED.format(page="2564", number="C7  - 2564\n"), "ris", target)
    newer = Article(pmid="7", title="New", url="", journal_info=JournalInfo(title="J", pages="31-39"))

    corrected = READERS[target](text, f"refs.{READ[target]}").correct({0: FieldUpdate(record=newer)})

    assert "2564" not in corrected
