"""Records that contradict each other are never merged without a person: words of titles, issues, pages, numbers."""

from dataclasses import replace
from itertools import product
from typing import Any, Literal

import pytest
from review_records import InventedRecord

from entrez_kit.references.merge.merge_documents import MergeRequest, MergeResult
from entrez_kit.references.merge.merge_references import merge_references

SERVICES: Any = None
"""A merge uses no service."""
Link = Literal["same", "family", "undecided", "separate"]

ABSTRACT = InventedRecord(
    work="a",
    title="Invented predictors of mortality in nurses who work at night",
    authors=(("Doe", "Jane"), ("Roe", "Richard"), ("Poe", "Ann")),
    journal="Journal of Clinical Invention",
    year=2014,
    volume="16",
    issue="SUPPL. 2",
    pages="112",
    database="Embase",
)
ARTICLE = replace(ABSTRACT, issue="3", pages="245-253")
COLUMN = replace(ABSTRACT, title="Editorial", authors=(("Doe", "Jane"),), issue="1", pages="3", database="CINAHL")


def write(record: InventedRecord, **fields: str) -> str:
    """Return a record as RIS with more fields."""
    return record.ris().replace("ER  - ", "".join(f"{tag}  - {value}\n" for tag, value in fields.items()) + "ER  - ")


def merge_texts(*texts: str) -> MergeResult:
    """Merge one file for each record."""
    return merge_references(
        SERVICES, MergeRequest(files=[{"file": f"{n}.ris", "text": text} for n, text in enumerate(texts)])
    )


def link(one: str, other: str) -> Link:
    """Return how two records are linked; the order of the records does not matter."""
    links = set()
    for texts in ((one, other), (other, one)):
        counts = merge_texts(*texts).counts
        links.add((counts.works, counts.families, counts.undecided))
    ((works, families, undecided),) = links
    if works == 1:
        return "same"
    return "family" if families else "undecided" if undecided else "separate"


# Words of titles


OTHER_WORDS = (
    *(("mortality", "readmission"), ("men", "women"), ("male", "female"), ("left", "right"), ("with", "without")),
    *(("short-term", "long-term"), ("preserved", "reduced"), ("efficacy", "safety"), ("statins", "opioids")),
    *(("six-month", "twelve-month"), ("hypothyroidism", "hyperthyroidism"), ("abduction", "adduction")),
    *(("afferent", "efferent"), ("typical", "atypical"), ("maternal", "paternal"), ("Austria", "Australia")),
    *(("increased", "decreased"), ("preoperative", "postoperative"), ("iron deficiency", "anaemia")),
)
SIMILAR_WORDS = OTHER_WORDS[11:15]
"""Words that differ in one letter."""
FRAMES = (
    "Invented outcomes of {} in nurses who work at night",
    "{} and sleep in nurses who work at night: results of the INVENT registry",
    "Sleep, shifts and night work in invented hospitals: {}",
)
PLACES: tuple[dict[str, Any], ...] = (
    {},
    {"pages": "112-112"},
    {"pages": "112-113"},
    {"pages": ""},
    {"pages": "N.PAG-N.PAG"},
    {"pages": "(no pagination)"},
    {"pages": "1-9", "issue": "2"},
    {"pages": "245-253", "issue": "2"},
    {"pages": "245-253", "issue": ""},
)


@pytest.mark.parametrize(
    "words", [pytest.param(words, marks=pytest.mark.long if n % 3 else ()) for n, words in enumerate(OTHER_WORDS)]
)
def test_titles_with_another_word_are_never_merged(words: tuple[str, str]) -> None:
    for frame, place in product(FRAMES, PLACES):
        first, second = (replace(ABSTRACT, title=frame.format(word), **place) for word in words)
        if place.get("pages") == "245-253" and words in SIMILAR_WORDS:
            continue  # one article has this range of pages, and one title has a mistake
        for fields in ({}, {"M3": "Conference Abstract"}, {"DO": "10.5555/supplement.2", "M3": "Conference Abstract"}):
            assert link(write(first, **fields), write(second, **fields)) in ("undecided", "separate")


@pytest.mark.parametrize("words", OTHER_WORDS)
def test_similar_titles_on_one_page_are_shown_to_the_user_unless_something_else_differs(words: tuple[str, str]) -> None:
    first, second = (replace(ABSTRACT, title=FRAMES[1].format(word)) for word in words)
    assert link(first.ris(), second.ris()) == "undecided"
    for numbers in (("71500001", "71500002"), ("L71500001", "L71500002")):
        one, other = (write(record, AN=number) for record, number in zip((first, second), numbers, strict=True))
        assert link(one, other) == "separate"
    assert link(write(first, DO="10.5555/a"), write(second, DO="10.5555/b")) == "separate"
    article, ending = replace(first, pages="21-29"), replace(second, pages="21-27")
    assert link(article.ris(), ending.ris()) == "separate"


@pytest.mark.parametrize("pages", ["112", "21-22", "245-253", ""])
def test_titles_with_another_number_or_letter_are_never_merged(pages: str) -> None:
    values = (("phase 2", "phase 3"), ("20 mg", "40 mg"), ("2010", "2011"), ("type I", "type II"), ("A", "B"))
    for frame, pair in product(FRAMES, values):
        first, second = (replace(ARTICLE, pages=pages, title=frame.format(value)) for value in pair)
        assert link(first.ris(), second.ris()) != "same"


@pytest.mark.parametrize("pages", ["112", "21-22", "21-29"])
def test_misspelt_titles_are_merged(pages: str) -> None:
    title = FRAMES[1].format("Readmission")
    place = replace(ABSTRACT, pages=pages, title=title)
    for misspelt in ("Readmision", "Readmissions", "Readmissoin", "Raedmission", "Readmisssion"):
        assert link(place.ris(), replace(place, title=title.replace("Readmission", misspelt)).ris()) == "same"


def test_titles_of_one_range_of_pages_are_merged_only_if_one_can_be_a_translation() -> None:
    english, other = "Managing urinary catheters in the community", "Pain assessment in people with dementia"
    titles = ("Umgang mit Blasenkathetern in der Gemeinde", "Manejo de sondas en la comunidad", f"[{other}]")
    first = replace(ARTICLE, title=english)
    for title in titles:
        second = replace(ARTICLE, title=title)
        assert link(first.ris(), second.ris()) == "same"
        assert link(first.ris(), replace(second, issue="4").ris()) == "separate"
        assert link(first.ris(), replace(second, authors=(("Fox", "Ada"),)).ris()) == "separate"
        assert link(write(first, AN="71500001"), write(second, AN="71500002")) == "separate"
        assert link(replace(first, pages="1-9").ris(), replace(second, pages="1-9").ris()) == "undecided"
    second = replace(ARTICLE, title=other)
    assert link(first.ris(), second.ris()) == "undecided"
    assert link(first.ris(), replace(second, issue="4").ris()) == "separate"
    assert link(replace(first, issue="").ris(), replace(second, issue="").ris()) == "separate"


# Issues and numbers


@pytest.mark.parametrize("pages", ["3", "3-3", "10-11", "42-48", ""])
@pytest.mark.parametrize("title", ["Editorial", "From the editor", "Research round-up", "Editor's note", "Reply"])
def test_columns_of_two_issues_are_two_works(title: str, pages: str) -> None:
    first = replace(COLUMN, title=title, pages=pages)
    second = replace(first, issue="2")
    assert link(first.ris(), second.ris()) == "separate"
    assert link(write(first, AN="105200001"), write(second, AN="105200055")) == "separate"
    unknown = replace(first, issue="", database="Scopus")
    assert merge_texts(first.ris(), second.ris(), unknown.ris()).counts.works > 1


def test_a_long_title_in_two_issues_is_merged_only_with_the_same_range_of_pages() -> None:
    for pages, expected in (("245-253", "same"), ("245", "undecided"), ("245-246", "undecided"), ("", "undecided")):
        first = replace(ARTICLE, pages=pages)
        assert link(first.ris(), replace(first, issue="4").ris()) == expected
    for issues in (("3", "Pt 3"), ("3", "3 Suppl"), ("3-4", "4"), ("SUPPL. 2", "2 Suppl"), ("3", "MAR")):
        one, other = (replace(ARTICLE, pages="245", issue=issue).ris() for issue in issues)
        assert link(one, other) == "same"


def test_two_numbers_in_one_database_need_the_same_title_and_page() -> None:
    one, other = {"AN": "71500001"}, {"AN": "71500002"}
    assert link(write(ARTICLE, **one), write(ARTICLE, **other)) == "same"
    bare = replace(ARTICLE, pages="", issue="")
    assert link(write(bare, **one), write(bare, **other)) == "undecided"
    short = replace(COLUMN, title="Research round-up", issue="")
    assert link(write(short, **one), write(short, **other)) == "undecided"
    assert link(write(short, **one), write(replace(short, database="Scopus"), **other)) == "same"
    assert link(write(bare, AN="2014123456"), write(bare, AN="L603000001")) == "same"
    assert link(write(ABSTRACT, AN="603000001"), write(replace(ABSTRACT, pages=""), AN="L603000001")) == "same"


# Pages


def test_another_first_page_in_one_issue_is_shown_to_the_user() -> None:
    for pages in ("145", "145-146", "S145"):
        assert link(ABSTRACT.ris(), replace(ABSTRACT, pages=pages).ris()) == "undecided"
    assert link(ARTICLE.ris(), replace(ARTICLE, pages="250-260").ris()) == "undecided"
    assert link(ARTICLE.ris(), replace(ARTICLE, pages="225-253").ris()) == "same"
    assert link(ARTICLE.ris(), replace(ARTICLE, pages="104512").ris()) == "same"


@pytest.mark.parametrize("value", ["N.PAG", "(no pagination)", "no pagination", "-", "0", "n/a", "NP", "[no page]"])
def test_values_that_are_not_pages_do_not_agree(value: str) -> None:
    first = replace(ARTICLE, title="Burnout among male nurses in Iran", pages=f"{value}-{value}")
    second = replace(first, title="Burnout among female nurses in Iran")
    assert link(first.ris(), second.ris()) != "same"
    known = replace(ARTICLE, pages=f"{value}-{value}")
    assert link(known.ris(), ARTICLE.ris()) == "same"


# Common identifiers


def test_records_with_the_doi_of_a_supplement_are_merged_only_if_nothing_contradicts_it() -> None:
    doi = {"DO": "10.5555/supplement.2", "M3": "Conference Abstract"}
    other_authors = replace(ABSTRACT, authors=(("Fox", "Ada"), ("Hen", "Bob")))
    other_page = replace(ABSTRACT, pages="301")
    similar = replace(ABSTRACT, title=ABSTRACT.title.replace("mortality", "readmission"))
    for other in (
        similar,
        replace(similar, pages="301"),
        replace(other_authors, title=similar.title),
        replace(other_authors, title=similar.title, pages="301"),
        replace(other_authors, pages="301"),
        replace(ABSTRACT, title=f"{ABSTRACT.title} and anxiety", pages="301"),
        replace(ABSTRACT, title="Another invented subject with another word"),
    ):
        assert link(write(ABSTRACT, **doi), write(other, **doi)) == "undecided"
    unrelated = replace(other_authors, title="Another invented subject with another word", pages="301")
    assert link(write(ABSTRACT, **doi), write(unrelated, **doi)) == "separate"
    for same in (other_page, other_authors, replace(ABSTRACT, title=f"{ABSTRACT.title}: a pilot study")):
        assert link(write(ABSTRACT, **doi), write(same, **doi)) == "same"


def test_chapters_with_the_doi_of_a_book_need_the_same_page() -> None:
    first, second = (replace(ARTICLE, kind="CHAP", pages="", title=f"Sleep in {who}") for who in ("adults", "children"))
    assert link(write(first, DO="10.5555/book"), write(second, DO="10.5555/book")) == "undecided"


def test_an_article_with_a_rewritten_title_and_the_same_doi_is_merged() -> None:
    rewritten = replace(ARTICLE, title="Mortality among nurses working at night: invented predictors", issue="")
    assert link(write(ARTICLE, DO="10.5555/a"), write(rewritten, DO="10.5555/a")) == "same"
    translated = replace(ARTICLE, title="Erfundene Prädiktoren der Sterblichkeit", pages="")
    assert link(write(ARTICLE, DO="10.5555/a"), write(translated, DO="10.5555/a")) == "same"


# Conferences


@pytest.mark.parametrize("kind", ["Journal Article", "Article in Press", "Article", "Randomized Controlled Trial"])
def test_a_conference_abstract_and_an_article_without_a_place_are_a_family(kind: str) -> None:
    ahead = replace(ABSTRACT, volume="", issue="", pages="", database="PubMed")
    for place in ({}, {"pages": ""}, {"year": 2013}):
        abstract = write(replace(ABSTRACT, **place), M3="Conference Abstract")
        assert link(abstract, write(ahead, M3=kind)) == "family"
        assert link(abstract, write(ahead, M3=kind, DO="10.5555/ahead")) == "family"
        assert link(abstract, write(replace(ARTICLE, issue="5"), M3=kind)) == "family"
        assert link(abstract, ahead.ris()) == "undecided"
    assert link(ABSTRACT.ris(), write(ahead, M3=kind)) == "undecided"


def test_records_of_one_conference_abstract_are_merged() -> None:
    abstract = write(ABSTRACT, M3="Conference Abstract")
    for other in (ABSTRACT, replace(ABSTRACT, pages=""), replace(ABSTRACT, pages="S112")):
        assert link(abstract, replace(other, database="Scopus").ris()) == "same"
        assert link(abstract, write(other, M3="Meeting Abstract")) == "same"


def test_a_letter_and_an_article_need_the_same_page() -> None:
    for kind, pages in product(("Letter", "Editorial"), ("", "245", "245-253")):
        record = replace(ARTICLE, pages=pages)
        assert link(write(record, M3=kind), write(record, M3="Article")) == ("same" if pages else "undecided")
        assert link(write(record, M3=kind), record.ris()) == "same"
        assert link(write(record, M3=kind), write(record, M3="Note")) == "same"


# Missed duplicates


@pytest.mark.parametrize("name", ["INVENT Investigators", "[No authors listed]", "Anonymous", "The INVENT study group"])
def test_a_group_or_no_author_does_not_contradict_persons(name: str) -> None:
    named = replace(ARTICLE, authors=((name, ""),))
    text = named.ris().replace(f"{name}, ", name)
    assert link(ARTICLE.ris(), text) == "same"
    assert link(text, text.replace(name, "SLEEP Collaboration")) == "same"
    assert link(replace(ARTICLE, pages="245").ris(), text.replace("SP  - 245", "SP  - 300")) != "same"


NOTICES = (
    "Erratum: {} (Journal of Clinical Invention (2014) 16:3 (245-253))",
    "Erratum: {} (Journal of Clinical Invention (2014) 16:3 (245-253) DOI: 10.5555/a)",
    "Erratum for: {}.",
    'Corrigendum to "{}" [J Clin Invent 16 (2014) 245-253]',
    "Correction: {}",
    "{} (vol 16, pg 245, 2014)",
)


def test_a_correction_has_many_titles_and_is_not_its_article() -> None:
    place = replace(ARTICLE, issue="6", pages="640")
    notices = [replace(place, title=form.format(ARTICLE.title)) for form in NOTICES]
    for one, other in product(notices, repeat=2):
        assert link(one.ris(), other.ris()) == "same"
        assert link(one.ris(), replace(other, pages="641").ris()) != "same"
    for notice in notices:
        assert link(ARTICLE.ris(), notice.ris()) == "family"
        retraction = replace(place, title=f"Retraction: {ARTICLE.title}")
        assert link(notice.ris(), retraction.ris()) != "same"
    retracted = replace(place, title=f"{ARTICLE.title} (Retraction of Vol 16, Pg 245, 2014)")
    assert link(replace(place, title=f"Retraction: {ARTICLE.title}").ris(), retracted.ris()) == "same"


REGISTER = "TY  - DBASE\nDP  - National Library of Medicine\nID  - {0}\nTI  - {1}\nPY  - {2}\nUR  - {3}\nER  - \n"
CENTRAL = "TY  - JOUR\nID  - CN-0{2}\nAU  - {0},\nTI  - {1}\nPY  - {2}\nC3  - CTgov {0}\n{3}ER  - \n"


def test_records_of_one_registration_are_one_work_with_any_title_and_year() -> None:
    titles = (
        "Invented Exercise in Nurses",
        "A Randomised Study of Aerobic Training",
    )
    for number in ("NCT01234567", "ISRCTN12345678", "DRKS00012345", "ACTRN12612345678901"):
        register = REGISTER.format(number, titles[0], 2012, f"https://clinicaltrials.gov/study/{number}")
        for title, year in product(titles, (2012, 2013)):
            central = CENTRAL.format(number, title, year, "M3  - Trial registry record; Clinical trial protocol\n")
            assert link(register, central) == "same"
        other = REGISTER.format(number[:-1] + "9", titles[0], 2012, "https://clinicaltrials.gov/study/x")
        assert link(register, other) in ("undecided", "separate")
    article = write(replace(ARTICLE, title=titles[0]), N1="Registered as NCT01234567")
    assert link(article, REGISTER.format("NCT01234567", titles[0], 2012, "https://clinicaltrials.gov/x")) != "same"


def test_a_title_that_is_cut_is_the_beginning_of_a_title() -> None:
    title = "Invented exercise training in chronic disease of nurses: a randomised controlled trial"
    for cut, end in product((56, 62, 70), ("...", "…", " ...")):
        short = replace(ARTICLE, title=title[:cut] + end)
        assert link(replace(ARTICLE, title=title).ris(), short.ris()) == "same"
        assert link(replace(ARTICLE, title=title).ris(), replace(short, pages="").ris()) == "same"
        assert link(replace(ARTICLE, title=title).ris(), replace(short, volume="17", pages="300").ris()) != "same"
