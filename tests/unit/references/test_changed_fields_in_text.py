"""A reference as text that lacks an author, or has a number in the place of another, never agrees with its record."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import pytest
from reference_parts import ARTICLES, Parts, join_initials, read_parts

from entrez_kit.pubmed.models import Article, PublicationDate
from entrez_kit.references.check.comparison.compare_text import compare_text
from entrez_kit.references.check.pasted.pasted_lists import build_reference


def write_vancouver(parts: Parts) -> str:
    names = ", ".join(f"{family} {initials}" for family, initials in parts.authors) + parts.ends
    issue = f"({parts.issue})" if parts.issue else ""
    pages = f":{parts.pages}" if parts.pages else ""
    return f"{names}. {parts.title}. {parts.journal}. {parts.year};{parts.volume}{issue}{pages}."


def write_nature(parts: Parts) -> str:
    names = ", ".join(f"{family}, {join_initials(initials)}" for family, initials in parts.authors) + parts.ends
    pages = f", {parts.pages.replace('-', '–')}" if parts.pages else ""
    return f"{names} {parts.title}. {parts.journal} {parts.volume}{pages} ({parts.year})."


def write_ieee(parts: Parts) -> str:
    names = ", ".join(f"{join_initials(initials)} {family}" for family, initials in parts.authors) + parts.ends
    place = [f"vol. {parts.volume}" if parts.volume else "", f"no. {parts.issue}" if parts.issue else ""]
    place += [f"pp. {parts.pages}" if parts.pages else "", parts.year]
    return f"{names}, “{parts.title},” {parts.journal}, {', '.join(filter(None, place))}."


def write_apa(parts: Parts) -> str:
    names = ", ".join(f"{family}, {join_initials(initials)}" for family, initials in parts.authors) + parts.ends
    issue = f"({parts.issue})" if parts.issue else ""
    pages = f", {parts.pages}" if parts.pages else ""
    return f"{names} ({parts.year}). {parts.title}. {parts.journal}, {parts.volume}{issue}{pages}."


STYLES: Final[Mapping[str, Callable[[Parts], str]]] = {
    "vancouver": write_vancouver,
    "nature": write_nature,
    "ieee": write_ieee,
    "apa": write_apa,
}
TRUE: Final[Mapping[str, Callable[[Parts], Parts]]] = {
    "whole": lambda parts: parts,
    "the first author and et al.": lambda parts: replace(parts, authors=parts.authors[:1], ends=" et al."),
    "three authors and et al.": lambda parts: replace(parts, authors=parts.authors[:3], ends=", et al."),
    "two authors and others": lambda parts: replace(parts, authors=parts.authors[:2], ends=" and others"),
    "an ellipsis before the last author": lambda parts: replace(
        parts, authors=parts.authors[:2], ends=f", . . . {parts.authors[-1][0]}, {join_initials(parts.authors[-1][1])}"
    ),
    "without an issue": lambda parts: replace(parts, issue=""),
    "without pages": lambda parts: replace(parts, pages=""),
    "the first page": lambda parts: replace(parts, pages=parts.pages.partition("-")[0]),
}
FALSE: Final[Mapping[str, Callable[[Parts], Parts]]] = {
    "without the second author": lambda parts: replace(parts, authors=parts.authors[:1] + parts.authors[2:]),
    "without the second author, et al.": lambda parts: replace(
        parts, authors=parts.authors[:1] + parts.authors[2:3], ends=", et al."
    ),
    "without the third author, et al.": lambda parts: replace(
        parts, authors=parts.authors[:2] + parts.authors[3:4], ends=", et al."
    ),
    "without the first author, et al.": lambda parts: replace(parts, authors=parts.authors[1:3], ends=", et al."),
    "another last author after an ellipsis": lambda parts: replace(
        parts, authors=parts.authors[:1], ends=f", . . . {parts.authors[-2][0]}, {join_initials(parts.authors[-2][1])}"
    ),
    "the issue as the volume": lambda parts: replace(parts, volume=parts.issue, issue=""),
    "the issue as the volume, without pages": lambda parts: replace(parts, volume=parts.issue, issue="", pages=""),
    "the issue as the page": lambda parts: replace(parts, issue="", pages=parts.issue),
    "the page as the volume": lambda parts: replace(parts, volume=parts.pages.partition("-")[0], issue="", pages=""),
    "the volume as the page": lambda parts: replace(parts, volume=parts.pages.partition("-")[0], pages=parts.volume),
    "volume and issue exchanged": lambda parts: replace(parts, volume=parts.issue, issue=parts.volume),
    "an invented volume": lambda parts: replace(parts, volume="987"),
    "an invented page": lambda parts: replace(parts, pages="98765"),
    "a supplement": lambda parts: replace(parts, volume=f"{parts.volume} Suppl"),
}


def test_there_are_records_with_all_fields() -> None:
    assert len(ARTICLES) >= 2


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("way", TRUE)
def test_a_true_reference_agrees_with_its_record(style: str, way: str) -> None:
    for article in ARTICLES:
        text = STYLES[style](TRUE[way](read_parts(article)))
        agreement = compare_text(build_reference(text, 1), article)
        assert (agreement.same, agreement.differences, agreement.left) == (True, [], []), text


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("way", FALSE)
def test_a_changed_reference_does_not_agree_with_its_record(style: str, way: str) -> None:
    for article in ARTICLES:
        parts = read_parts(article)
        text = STYLES[style](FALSE[way](parts))
        if text in {STYLES[style](change(parts)) for change in TRUE.values()}:
            continue  # the style does not print the changed field
        agreement = compare_text(build_reference(text, 1), article)
        assert not agreement.same or agreement.differences or agreement.left, text


GIVEN: Final = {letter: f"{letter}zekielina" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def keep_initials(article: Article) -> Article:
    """Return the article as records before 2002 have it: with the initials of its authors only."""
    people = [who.model_copy(update={"first_name": " ".join(who.initials or "")}) for who in article.authors]
    return article.model_copy(update={"authors": people})


def write_chicago(parts: Parts) -> str:
    names = [(" ".join(GIVEN[letter] for letter in initials), family) for family, initials in parts.authors]
    first, *others = names
    listed = [f"{first[1]}, {first[0]}", *(f"{given} {family}" for given, family in others)]
    place = f"{parts.journal} {parts.volume}, no. {parts.issue} ({parts.year}): {parts.pages}"
    return f"{', '.join(listed[:-1])}, and {listed[-1]}. “{parts.title}.” {place}."


def test_given_names_agree_with_the_initials_of_a_record_once() -> None:
    for article in map(keep_initials, ARTICLES):
        parts = read_parts(article)
        text = write_chicago(parts)
        second = parts.authors[1]
        added = f"{second[1][0]}oe"
        changed = [
            text.replace(f"{GIVEN[second[1][0]]} ", f"{added}, {GIVEN[second[1][0]]} ", 1),
            write_vancouver(parts).replace(second[0], f"{added}, {second[0]}", 1),
            write_vancouver(parts).replace(f"{second[0]} ", f"{second[0]} X", 1),
            text.replace(GIVEN[second[1][0]], "X", 1),
        ]

        agreements = [compare_text(build_reference(one, 1), article) for one in (text, *changed)]

        agree = [one.same and not (one.differences or one.left) for one in agreements]
        assert agree == [True, False, False, False, False], text


OTHERS: Final = (" y cols.", " y col.", " e outros.", " u. a.", " и др.", ", 等.", ", 他.", " et coll.")
DATES: Final = ("{y} {m} {d:02}", "{y} {m} {d}", "{y}-{n:02}-{d:02}", "{y} {m} {d}th")
VISITS: Final = (
    "Available at: https://doi.org/10.5555/x (Accessed: 3 March 2024).",
    "[Accessed 3 Mar. 2024]",
    "Accessed 3 March 2024.",
    "Accessed March 3, 2024.",
    "(3 March 2024, date last accessed).",
    "Acesso em: 3 mar. 2024.",
    "[cited 2024 Mar 3]",
)


@pytest.mark.parametrize("end", OTHERS)
def test_et_al_in_other_languages_replaces_authors(end: str) -> None:
    for article in ARTICLES:
        parts = read_parts(article)
        right, wrong = (replace(parts, authors=names) for names in (parts.authors[:2], parts.authors[:3:2]))
        texts = [write_vancouver(replace(one, ends=end.rstrip("."))) for one in (right, wrong)]

        agreements = [compare_text(build_reference(text, 1), article) for text in texts]

        assert [not (one.differences or one.left) for one in agreements] == [True, False], texts


@pytest.mark.parametrize("sign", ["und", "y", "e", "och"])
def test_and_in_other_languages_is_not_an_author(sign: str) -> None:
    for article in ARTICLES:
        text = write_vancouver(read_parts(article))
        last = article.authors[-1].last_name or ""

        agreement = compare_text(build_reference(text.replace(f", {last} ", f" {sign} {last} "), 1), article)

        assert (agreement.same, agreement.differences, agreement.left) == (True, [], []), text


@pytest.mark.parametrize("visit", VISITS)
def test_the_date_of_a_visit_is_not_a_part_of_the_place(visit: str) -> None:
    for article in ARTICLES:
        reference = build_reference(f"{write_vancouver(read_parts(article))} {visit}", 1)

        agreement = compare_text(reference.model_copy(update={"doi": None, "other_identifiers": []}), article)

        assert (agreement.same, agreement.differences, agreement.left) == (True, [], []), reference.text


@pytest.mark.parametrize("form", DATES)
def test_a_date_in_another_form_agrees_and_another_day_does_not(form: str) -> None:
    dated = [one for one in ARTICLES if one.journal_info and one.journal_info.publication_date]
    for article in dated:
        assert article.journal_info is not None
        date = PublicationDate(year=int(read_parts(article).year), month=6, day=5)
        changed = article.model_copy(
            update={
                "journal_info": article.journal_info.model_copy(update={"publication_date": date}),
                "article_dates": [],
            }
        )
        texts = [
            write_vancouver(replace(read_parts(article), year=form.format(y=date.year, m="Jun", n=6, d=day)))
            for day in (5, 17)
        ]

        agreements = [compare_text(build_reference(text, 1), changed) for text in texts]

        assert [not (one.differences or one.left) for one in agreements] == [True, False], texts


ADDED: Final = (
    "{} [Google Scholar] [CrossRef]",
    "{} Google Scholar",
    "{} [PubMed - indexed for MEDLINE]",
    "{} Medline:99123456.",
    "{} Cited 1234 times.",
    "{} Erratum in: Imaginary J. 2013 Jan 3;368(1):94. PMID: 12345678.",
    "RETRACTED: {}",
    "For a review, see {}",
    "See also {}",
)


@pytest.mark.parametrize("form", ADDED)
def test_words_of_a_web_page_or_of_an_author_are_not_compared(form: str) -> None:
    for article in ARTICLES:
        parts = read_parts(article)
        right, wrong = (form.format(write_vancouver(one)) for one in (parts, replace(parts, volume="987")))

        references = [build_reference(text, 1) for text in (right, wrong)]

        agreements = [compare_text(one, article) for one in references]
        assert [not (one.differences or one.left) for one in agreements] == [True, False], right
        assert not [one for one in references if one.identifiers], "an id of another article"


@pytest.mark.parametrize("title", ["Update in nephrology", "Comment in court", "RETRACTED: Moonlight in the cellar"])
def test_a_title_is_not_read_as_an_added_note(title: str) -> None:
    article = ARTICLES[0].model_copy(update={"title": f"{title}."})
    parts = read_parts(article)
    texts = [write_vancouver(parts), write_vancouver(replace(parts, volume="987"))]

    agreements = [compare_text(build_reference(text, 1), article) for text in texts]

    assert [not (one.differences or one.left) for one in agreements] == [True, False], texts


@pytest.mark.parametrize("style", STYLES)
def test_a_shortened_title_is_the_only_difference(style: str) -> None:
    for article in ARTICLES:
        parts = read_parts(article)
        words = parts.title.split()
        text = STYLES[style](replace(parts, title=" ".join(words[: len(words) * 2 // 3 + 1]).rstrip(",:")))

        agreement = compare_text(build_reference(text, 1), article)

        assert agreement.same
        assert [one.field for one in agreement.differences] == ["title"], text
        assert agreement.left == [], text


@pytest.mark.parametrize("style", ["vancouver", "ieee", "apa"])
def test_a_number_of_an_added_subtitle_is_not_a_page(style: str) -> None:
    for article in ARTICLES:
        parts = read_parts(article)
        text = STYLES[style](replace(parts, title=f"{parts.title}: a phase 2 study"))

        agreement = compare_text(build_reference(text, 1), article)

        assert "2" in agreement.left, text
        assert not [one for one in agreement.differences if one.field == "pages"], text


@pytest.mark.parametrize("style", STYLES)
def test_a_formula_in_a_title_agrees_however_it_is_divided(style: str) -> None:
    recorded, printed = (
        "Ni_(0.4)Cu_(0.2)TbₓFe₂₋ₓO₄ ferrites and (13)C in glass",
        "Ni0.4Cu0.2TbxFe2-xO4 ferrites and 13C in glass",
    )
    article = ARTICLES[0].model_copy(update={"title": f"{recorded}."})
    parts = replace(read_parts(article), authors=read_parts(article).authors[:2], ends=", et al.", title=printed)

    for title, agrees in ((printed, True), (printed.replace("0.4", "0.7"), False)):
        agreement = compare_text(build_reference(STYLES[style](replace(parts, title=title)), 1), article)
        assert (agreement.differences == [] and agreement.left == []) == agrees, title


def test_a_given_name_can_be_the_family_name_of_the_next_author() -> None:
    first, second, *others = ARTICLES[0].authors
    people = [
        first.model_copy(update={"first_name": "Ram-Shankar", "initials": "RS"}),
        second.model_copy(update={"last_name": "Shankar", "first_name": "Sunita", "initials": "S"}),
        *others,
    ]
    article = ARTICLES[0].model_copy(update={"authors": people})
    parts = read_parts(article)
    text = write_vancouver(parts)
    start = f"{first.last_name} RS, Shankar S"

    for names, agrees in (
        (f"{first.last_name}, Ram-Shankar; Shankar, Sunita", True),
        (f"{first.last_name}, Ram-Shankar; Roe, Sunita", False),
    ):
        agreement = compare_text(build_reference(text.replace(start, names), 1), article)
        assert (agreement.differences == [] and agreement.left == []) == agrees, names
