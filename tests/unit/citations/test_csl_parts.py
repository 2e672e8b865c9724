"""Dates, pages, names, titles and capitals, as citations need them."""

from typing import Any

import pytest

from entrez_kit.citations.csl import convert_to_csl_date
from entrez_kit.citations.names import convert_to_csl_name, space_initials, split_initials
from entrez_kit.citations.style.casing import (
    PREPOSITIONS,
    SHORT,
    SHORTEST,
    capitalize_headline,
    capitalize_subtitle,
    find_organisms,
    find_species_names,
)
from entrez_kit.citations.titles import add_full_stops, format_article_title, format_journal_title, remove_full_stop
from entrez_kit.pubmed.models import Author, PublicationDate
from entrez_kit.pubmed.pages import expand_ranges, is_article_number, page_and_number
from entrez_kit.pubmed.xml.dates import build_publication_date


def make_date(text: str) -> dict[str, Any] | None:
    """Return the CSL date of a MedlineDate."""
    fields = build_publication_date(None, None, None, None, text)
    assert fields is not None
    return convert_to_csl_date(PublicationDate.model_validate(fields))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2003 Jan-Feb", [[2003, 1], [2003, 2]]),
        ("2004 Jan/Feb", [[2004, 1], [2004, 2]]),
        ("1998 Dec-1999 Jan", [[1998, 12], [1999, 1]]),
        ("2000 Nov 12-18", [[2000, 11, 12], [2000, 11, 18]]),
        ("2015 Nov 30-Dec 6", [[2015, 11, 30], [2015, 12, 6]]),
        ("1975-1976", [[1975], [1976]]),
        ("1999 Jul to Sep", [[1999, 7], [1999, 9]]),
        ("2003 Feb-Jan", [[2003, 2]]),
    ],
)
def test_ranges_have_a_beginning_and_an_end(text: str, parts: list[list[int]]) -> None:
    assert make_date(text) == {"date-parts": parts}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2003 Winter", {"date-parts": [[2003]], "season": 4}),
        ("1999 Fall", {"date-parts": [[1999]], "season": 3}),
        ("1976-1977 Winter", {"date-parts": [[1976], [1977]], "season": 4}),
        ("2000 Spring-Summer", {"date-parts": [[2000]], "season": 1}),
    ],
)
def test_seasons_are_numbers_beginning_with_spring(text: str, wanted: dict[str, Any]) -> None:
    assert make_date(text) == wanted


def test_a_date_without_a_year_is_literal_text() -> None:
    assert convert_to_csl_date(PublicationDate(medline_date="19th century")) == {"literal": "19th century"}
    assert convert_to_csl_date(PublicationDate()) is None


@pytest.mark.parametrize(
    ("pages", "wanted"),
    [
        ("1639-41", "1639-1641"),
        ("737-8", "737-738"),
        ("S12-9", "S12-S19"),
        ("S12-S19", "S12-S19"),
        ("117-126", "117-126"),
        ("e12-19", "e12-e19"),
        ("143-50, 152", "143-150, 152"),
        ("201-9; discussion 210-1", "201-209; discussion 210-211"),
        ("1–4", "1-4"),
        ("45-45", "45"),
        ("iii-viii", "iii-viii"),
        ("128-135.e2", "128-135.e2"),
        ("9-3", "9-3"),
        ("4002.e26", "4002.e26"),
    ],
)
def test_ranges_of_pages_are_written_in_full(pages: str, wanted: str) -> None:
    assert expand_ranges(pages) == wanted


@pytest.mark.parametrize(
    "text",
    ["e1000097", "E123", "n71", "104512", "bbab123", "dkaa1", "e01408-19", "mbio.01408-19", "arztebl.m2025.0086"],
)
def test_article_numbers_are_distinguished_from_pages(text: str) -> None:
    assert is_article_number(text)
    assert page_and_number(text) == (None, text)


@pytest.mark.parametrize(
    "text", ["345", "1225", "S12", "R33", "xiv", "iii-viii", "S12-9", "4002.e26", "A7", "e12-19", "S1.e3"]
)
def test_pages_are_distinguished_from_article_numbers(text: str) -> None:
    assert not is_article_number(text)


@pytest.mark.parametrize(
    ("author", "wanted"),
    [
        (Author(last_name="Doe", first_name="Jane A", initials="JA"), {"family": "Doe", "given": "Jane A"}),
        (Author(last_name="Doe", first_name="JA", initials="JA"), {"family": "Doe", "given": "J A"}),
        (Author(last_name="Doe", initials="JA"), {"family": "Doe", "given": "J A"}),
        (Author(last_name="Suryati"), {"family": "Suryati"}),
        (Author(last_name="d'Arcy", first_name="Ian"), {"family": "d'Arcy", "given": "Ian"}),
        (Author(last_name="Le Roux", first_name="Ann"), {"family": "Le Roux", "given": "Ann"}),
        (Author(last_name="Doe", first_name="Al", suffix="2nd"), {"family": "Doe", "given": "Al", "suffix": "II"}),
        (Author(last_name="王", first_name="小明"), {"family": "王", "given": "小明"}),
        (Author(last_name="Petrov", first_name="Iu A", initials="IuA"), {"family": "Petrov", "given": "Iu. A"}),
        (Author(last_name="Wu", first_name="Li B", initials="LB"), {"family": "Wu", "given": "Li B"}),
        (Author(collective_name="The Group."), {"literal": "The Group"}),
        (Author(first_name="Plato"), {"literal": "Plato"}),
        (Author(), None),
    ],
)
def test_names_are_split_into_the_parts_of_csl(author: Author, wanted: dict[str, str] | None) -> None:
    assert convert_to_csl_name(author) == wanted


@pytest.mark.parametrize(
    ("initials", "wanted"),
    [("JP", "J P"), ("NÜ", "N Ü"), ("IuA", "Iu. A"), ("Kh", "Kh."), ("MdeL", "Mde. L"), ("J-P", "J P"), ("", "")],
)
def test_initials_that_pubmed_writes_together_are_split(initials: str, wanted: str) -> None:
    assert split_initials(initials) == wanted


def test_initials_are_the_same_as_nlms() -> None:
    assert space_initials("Iu. A.") == "Iu. A"
    assert space_initials("Jean-Pierre A") == "J P A"
    assert space_initials("María del Carmen") == "M D C"


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        ("A study.", "A study"),
        ("Is it?", "Is it?"),
        ("Wait and see...", "Wait and see..."),
        ("  Two\n lines. ", "Two lines"),
    ],
)
def test_titles_lose_only_pubmeds_full_stop(title: str, wanted: str) -> None:
    assert remove_full_stop(title) == wanted


def test_a_title_that_equals_its_translation_is_written_once() -> None:
    assert format_article_title("[Sine titulo].", "Sine titulo.") == "[Sine titulo]"


@pytest.mark.parametrize(
    ("title", "short", "wanted"),
    [
        ("Lancet (London, England)", "Lancet", "Lancet"),
        ("BMJ (Clinical research ed.)", "BMJ", "BMJ"),
        ("The New England journal of medicine", "N Engl J Med", "The New England Journal of Medicine"),
        (
            "Journal of clinical oncology : official journal of the American Society of Clinical Oncology",
            "J Clin Oncol",
            "Journal of Clinical Oncology",
        ),
        ("PloS one", "PLoS One", "PLoS One"),
        ("Anti-cancer drugs", "Anticancer Drugs", "Anti-Cancer Drugs"),
        ("Revue medicale suisse de la main", "Rev Med Suisse", "Revue medicale suisse de la main"),
        ("Micron (Oxford, England : 1993)", "Micron", "Micron"),
        ("mBio", "mBio", "mBio"),
        ("Journal of things (demo)", "J Things", "Journal of Things (demo)"),
        ("Acta of invented cartilage / OICS, Invented Society", "Acta Invent Cartil", "Acta of Invented Cartilage"),
        ("Tea metabolism/tea interactions", "Tea Metabol", "Tea Metabolism/Tea Interactions"),
        ("Vero; the fate of invented compounds", "Vero", "Vero"),
        ("Annals of the Society of Tea. Society of Tea", "Ann Soc Tea", "Annals of the Society of Tea"),
        ("Journal of tea. The green part", "J Tea", "Journal of Tea. The Green Part"),
        ("eThing", "Ething", "eThing"),
    ],
)
def test_journals_have_the_title_on_their_cover(title: str, short: str, wanted: str) -> None:
    assert format_journal_title(title, short) == wanted


@pytest.mark.parametrize(
    ("short", "title", "wanted"),
    [
        ("N Engl J Med", "The New England journal of medicine", "N. Engl. J. Med."),
        ("Nature", "Nature", "Nature"),
        ("Nat Med", "Nature medicine", "Nat. Med."),
        (
            "Proc Natl Acad Sci U S A",
            "Proceedings of the National Academy of Sciences of the United States of America",
            "Proc. Natl Acad. Sci. USA",
        ),
        ("Rev Fict Med", "Revue fictive de médecine", "Rev. Fict. Med."),
        ("J Clin", None, "J Clin"),
        ("J. Biol. Chem.", "Journal of biological chemistry", "J. Biol. Chem."),
    ],
)
def test_abbreviated_words_get_their_full_stops(short: str, title: str | None, wanted: str) -> None:
    assert add_full_stops(short, title) == wanted


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        ("sleep after work: a trial of tea", "Sleep After Work: A Trial of Tea"),
        ("mRNA, p53 and COVID-19 in a t test", "mRNA, p53 and COVID-19 in a t Test"),
        ("in vivo and ex vivo editing", "In Vivo and Ex Vivo Editing"),
        ("12-week follow-up of (hypothetical) crews", "12-Week Follow-Up of (Hypothetical) Crews"),
        ("the von Willebrand factor", "The von Willebrand Factor"),
        ("α-synuclein in E. coli", "α-Synuclein in E. coli"),
        ("uptake of di(2-ethylhexyl)phthalate", "Uptake of Di(2-ethylhexyl)phthalate"),
        ("Chemotherapy With Tea Or Without", "Chemotherapy with Tea or Without"),
        ("hepatitis A in As", "Hepatitis A in As"),
        ("what is it for", "What Is It For"),
    ],
)
def test_headlines_have_the_capitals_of_chicago(title: str, wanted: str) -> None:
    assert capitalize_headline(title, SHORT) == wanted


def test_prepositions_have_the_case_of_each_manual() -> None:
    title = "cells with tea under stress"

    assert capitalize_headline(title, SHORTEST) == "Cells With Tea Under Stress"
    assert capitalize_headline(title, SHORT) == "Cells with Tea Under Stress"
    assert capitalize_headline(title, PREPOSITIONS) == "Cells with Tea under Stress"


def test_species_among_the_terms_have_a_lower_case_second_word() -> None:
    names = find_species_names(["Vibrio imaginarius", "Breast Neoplasms", "Databases, Protein"])

    assert names == ["Vibrio imaginarius"]
    assert capitalize_headline("growth of Vibrio imaginarius", SHORT, names) == "Growth of Vibrio imaginarius"


@pytest.mark.parametrize(
    "term", ["Breast cancer", "West syndrome", "Candida infections", "Vaccinia virus", "Nasal lavage", "Lung cancer"]
)
def test_keywords_with_one_capital_are_not_species(term: str) -> None:
    assert find_species_names([term]) == []
    assert capitalize_headline(f"on {term} today", SHORT, find_species_names([term])) == f"On {term.title()} Today"


@pytest.mark.parametrize(
    ("title", "headings", "wanted"),
    [
        ("growth of escherichia coli in tea", [], "Growth of Escherichia coli in Tea"),
        ("Growth of Escherichia Coli in Tea", [], "Growth of Escherichia coli in Tea"),
        ("(Escherichia coli)-free tea", [], "(Escherichia coli)-free Tea"),
        ("tea against S. aureus", [], "Tea Against S. aureus"),
        ("leaves of Camellia inventa.", ["Camellia inventa"], "Leaves of Camellia inventa."),
        ("the Vaccinia virus", ["Vaccinia virus"], "The Vaccinia Virus"),
    ],
)
def test_species_have_a_lower_case_second_word_in_any_title(title: str, headings: list[str], wanted: str) -> None:
    assert capitalize_headline(title, SHORT, find_organisms(headings)) == wanted


def test_species_among_the_keywords_are_recognised_by_genus_or_latin_ending() -> None:
    assert find_species_names(["Candida inventa", "Xanthium strumarium", "Novelia imaginensis", "Situs inversus"]) == [
        "Candida inventa",
        "Xanthium strumarium",
        "Novelia imaginensis",
    ]


def test_subtitles_begin_with_a_capital_in_apa() -> None:
    assert capitalize_subtitle("Tea: a trial? no: mRNA") == "Tea: A trial? No: mRNA"
    assert capitalize_subtitle("A ratio of 1: 2 for p53: p21") == "A ratio of 1: 2 for p53: p21"
