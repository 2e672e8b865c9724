"""A reference with fields of which one is changed, added or moved never agrees with its record."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from reference_parts import ARTICLES, read_parts

from entrez_kit.pubmed.models import Article
from entrez_kit.references.check.check_result import CheckedReference
from entrez_kit.references.check.comparison.compare_fields import compare_fields
from entrez_kit.references.check.corrections import build_correction
from entrez_kit.references.check.findings import to_finding
from entrez_kit.references.files.read_bibtex import read_bibtex
from entrez_kit.references.files.read_ris import read_ris
from entrez_kit.references.files.references import Reference

Fields = dict[str, Any]


def read_fields(article: Article) -> Fields:
    parts = read_parts(article)
    return {
        **{"title": parts.title, "journal": parts.journal, "year": parts.year, "volume": parts.volume},
        **{"number": parts.issue, "pages": parts.pages},
        "author": [f"{family}, {initials}" for family, initials in parts.authors],
    }


def write_bibtex(fields: Fields) -> list[Reference]:
    values = {**fields, "author": " and ".join(fields["author"])}
    return read_bibtex(
        f"@article{{k, {', '.join(f'{n}={{{v}}}' for n, v in values.items() if v)}}}", "a.bib"
    ).references


TAGS: Final = {"title": "TI", "journal": "T2", "year": "PY", "volume": "VL", "number": "IS", "pages": "SP"}


def write_ris(fields: Fields) -> list[Reference]:
    names = []
    for name in fields["author"]:
        family, given, *suffix = name.split(", ")
        names.append(", ".join((family, suffix[0], given)) if suffix else name)
    lines = ["TY  - JOUR", *(f"AU  - {name}" for name in names)]
    lines += [f"{TAGS[name]}  - {value}" for name, value in fields.items() if name != "author" and value]
    return read_ris("\n".join([*lines, "ER  - ", ""]), "a.ris").references


FORMATS: Final[Mapping[str, Callable[[Fields], list[Reference]]]] = {"bibtex": write_bibtex, "ris": write_ris}


def add_suffix(fields: Fields, suffix: str) -> list[str]:
    family, given = fields["author"][0].split(", ")
    return [f"{family}, {suffix}, {given}", *fields["author"][1:]]


TRUE: Final[Mapping[str, Callable[[Fields], Fields]]] = {
    "whole": lambda fields: fields,
    "without an issue": lambda fields: {**fields, "number": ""},
    "without pages": lambda fields: {**fields, "pages": ""},
    "without a volume": lambda fields: {**fields, "volume": "", "number": ""},
    "the first page": lambda fields: {**fields, "pages": fields["pages"].partition("-")[0]},
}
FALSE: Final[Mapping[str, Callable[[Fields], Fields]]] = {
    "an author less": lambda fields: {**fields, "author": fields["author"][:1] + fields["author"][2:]},
    "an author more": lambda fields: {**fields, "author": [*fields["author"], "Nobodyson, Q"]},
    "an invented suffix": lambda fields: {**fields, "author": add_suffix(fields, "Jr")},
    "the issue as the volume": lambda fields: {**fields, "volume": fields["number"], "number": ""},
    "the issue as the page": lambda fields: {**fields, "pages": fields["number"], "number": ""},
    "a supplement": lambda fields: {**fields, "number": f"{fields['number']} Suppl"},
    "a supplement of the volume": lambda fields: {**fields, "volume": f"{fields['volume']} Suppl 1"},
    "another issue": lambda fields: {**fields, "number": "87"},
    "another volume": lambda fields: {**fields, "volume": "987"},
    "other pages": lambda fields: {**fields, "pages": "98765-98799"},
    "another year": lambda fields: {**fields, "year": "1971"},
}


@pytest.mark.parametrize("written", FORMATS)
@pytest.mark.parametrize("way", [*TRUE, *FALSE])
def test_a_changed_field_is_a_difference_and_a_true_one_is_not(written: str, way: str) -> None:
    change = {**TRUE, **FALSE}[way]
    for article in ARTICLES:
        (reference,) = FORMATS[written](change(read_fields(article)))

        agreement = compare_fields(reference, article)

        assert (agreement.same and not agreement.differences) == (way in TRUE), reference


@pytest.mark.parametrize("suffix", ["Jr", "Jr.", "junior"])
@pytest.mark.parametrize("written", FORMATS)
def test_the_suffix_of_the_record_agrees(written: str, suffix: str) -> None:
    article = ARTICLES[0]
    people = [article.authors[0].model_copy(update={"suffix": "Jr"}), *article.authors[1:]]
    fields = read_fields(article)

    for authors in (fields["author"], add_suffix(fields, suffix)):
        (reference,) = FORMATS[written]({**fields, "author": authors})
        assert not compare_fields(reference, article.model_copy(update={"authors": people})).differences


@pytest.mark.parametrize("written", FORMATS)
def test_an_issue_that_the_record_lacks_is_a_difference_that_is_not_corrected(written: str) -> None:
    for article in ARTICLES:
        assert article.journal_info is not None
        without = article.model_copy(update={"journal_info": article.journal_info.model_copy(update={"issue": None})})
        (reference,) = FORMATS[written](read_fields(article))

        differences = compare_fields(reference, without).differences

        assert [one.field for one in differences] == ["issue"]
        outcome = CheckedReference(
            key="k",
            status="mismatch",
            findings=[*map(to_finding, differences)],
            pmid=article.pmid,
            differences=differences,
        )
        assert build_correction(reference, outcome, without, None) is None


@pytest.mark.parametrize(
    ("given", "agrees"),
    [("H. A.", True), ("HA", True), ("H", True), ("H. de A.", True), ("HDA", True), ("H. B.", False)],
)
def test_particles_between_given_names_can_be_left_out(given: str, agrees: bool) -> None:
    article = ARTICLES[0]
    first = article.authors[0].model_copy(update={"first_name": "Heloísa de A", "initials": "HA"})
    changed = article.model_copy(update={"authors": [first, *article.authors[1:]]})
    fields = read_fields(article)
    authors = [f"{first.last_name}, {given}", *fields["author"][1:]]

    (reference,) = write_bibtex({**fields, "author": authors})

    assert (not compare_fields(reference, changed).differences) == agrees
