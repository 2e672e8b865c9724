"""Lines for and from ECitMatch, the comparison of references with records, and reading references from files."""

import random
import time
from contextlib import suppress

import pytest

from entrez_kit.base.errors import InvalidInput
from entrez_kit.pubmed.brief import get_surname
from entrez_kit.pubmed.citation_matcher import Citation, MatcherAnswer, format_citation_line, parse_matches
from entrez_kit.pubmed.comparison import (
    are_titles_alike,
    bound_likeness,
    fold_text,
    measure_key_likeness,
    measure_text_likeness,
)
from entrez_kit.pubmed.models import Article, ArticleDate, Author, JournalInfo, PublicationDate
from entrez_kit.references.files.citation_lists import get_first_author, read_citations
from entrez_kit.references.match import CODES, compare_citation


def list_codes(citation: Citation, article: Article) -> list[str]:
    return [CODES[difference.field] for difference in compare_citation(citation, article).differences]


def test_a_pipe_or_newline_in_a_field_cannot_shift_the_columns() -> None:
    citation = Citation(journal="J|Inv\nRes", year="2024", author_name="Doe\r\nJ")

    assert format_citation_line(citation, "ek0") == "J Inv Res|2024|||Doe J|ek0|"


def test_answers_are_distinguished_and_dropped_rows_are_not_invented() -> None:
    reply = (
        b"nature|1869|1|9|nobody|ekcontrol|NOT_FOUND\n"
        b"J Inv Res|2024|12|737|Doe J|ek0|99000001\n"
        b"J Inv Res|2024|12|1|Doe J|ek1|NOT_FOUND;INVALID_JOURNAL\n"
        b"J Inv Res|2024|12||Doe J|ek2|AMBIGUOUS 99000002, 99000003\n"
        b"J Inv Res|2024||||ek3|AMBIGUOUS (783 citations)\n"
        b"J Inv Res|2024||||ek4|AMBIGUOUS(5 citations)\n"
        b"J Inv Res|2024|7|1||ek5|NOT_FOUND\n"
        b"J Inv Res|2024|7|1||ek6|\n"
        b"J Inv Res|2024|7|1||ek7|something new 123\n"
        b"J Inv Res|2024|7|1||doe24|99000009\n"
        b"\n"
        b"ERROR: something\n"
    )
    answers, controlled = parse_matches(reply)

    assert controlled
    assert answers == {
        0: MatcherAnswer("matched", ("99000001",)),
        1: MatcherAnswer("not_found", detail="NCBI does not know the journal"),
        2: MatcherAnswer("ambiguous", ("99000002", "99000003")),
        3: MatcherAnswer("ambiguous", detail="783 records fit"),
        4: MatcherAnswer("ambiguous", detail="5 records fit"),
        5: MatcherAnswer("not_found"),
    }
    assert parse_matches(b"") == ({}, False)


ARTICLE = Article(
    pmid="99000001",
    url="https://pubmed.ncbi.nlm.nih.gov/99000001/",
    authors=[
        Author(last_name="Doe", initials="J"),
        Author(last_name="Müller-Lüdenscheidt", initials="K"),
        Author(collective_name="The Invented Group"),
    ],
    article_dates=[ArticleDate(year=2023)],
    journal_info=JournalInfo(publication_date=PublicationDate(year=2024)),
)


@pytest.mark.parametrize(
    ("author", "year", "codes"),
    [
        ("Doe J", "2024", []),
        ("Muller-Ludenscheidt K", "2023", []),
        ("K. Müller-Lüdenscheidt", "2024", []),
        ("Invented Group", "2024", []),
        ("Roe R", "2024", ["author_mismatch"]),
        ("Doe J", "1999", ["year_mismatch"]),
        ("Roe R", "1999", ["author_mismatch", "year_mismatch"]),
        (None, None, []),
    ],
)
def test_the_whole_list_of_authors_and_both_years_are_compared(
    author: str | None, year: str | None, codes: list[str]
) -> None:
    citation = Citation(journal="J", author_name=author, year=year)

    assert list_codes(citation, ARTICLE) == codes


@pytest.mark.parametrize(
    ("given", "title", "same"),
    [
        ("A CRISPR study of mice", "A CRISPR study of mice.", True),
        ("A CRISPR study of mice", "A CRISPR study of mice: a randomised trial", True),
        ("Étude d'une cohorte", "[Study of a cohort].", True),
        ("Dulaglutide and renal outcomes", "Oral semaglutide in patients with diabetes", False),
        ("Mice", "Letters to the editor", False),
    ],
)
def test_another_title_is_reported(given: str, title: str, same: bool) -> None:
    article = Article(pmid="1", url="x", title=title, vernacular_title="Étude d'une cohorte")

    assert compare_citation(Citation(journal="J", title=given), article).same is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Statins in lung cancer: a trial of many words", "Statins in breast cancer: a trial of many words", False),
        ("A phase 2 trial of nothing at all", "A phase 3 trial of nothing at all", False),
        ("Sleep of invented shift workers", "Sleep of invented shift-workers", True),
        ("Haemoglobin and tumours in imagined mice", "Hemoglobin and tumors in imagined mice", True),
        ("The sleep of invented shift workers", "Sleep of invented shift workers", True),
        ("Sleep", "Sleep and moonlight in invented workers", False),
        ("The sleep of invented workers", "The sleep of invented workers: a cohort study", True),
        ("Workers invented of sleep", "Sleep of invented workers", False),
        ("a b " * 5_000, "b a " * 5_000, False),
        ("ab" * 50_000, "ba" * 50_000, False),
    ],
)
def test_another_word_makes_another_title(one: str, other: str, same: bool) -> None:
    started = time.process_time()

    assert are_titles_alike(fold_text(one), fold_text(other)) is same
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ({"volume": "12", "issue": "3", "first_page": "201", "last_page": "212"}, []),
        ({"volume": "vol. 012", "issue": "no. 3", "first_page": "201-12"}, []),
        ({"first_page": "pp. 201–212"}, []),
        ({"first_page": "e9966"}, []),
        ({"volume": "13"}, ["volume_mismatch"]),
        ({"issue": "4"}, ["issue_mismatch"]),
        ({"first_page": "202"}, ["page_mismatch"]),
        ({"first_page": "201", "last_page": "219"}, ["page_mismatch"]),
        ({"first_page": "201", "last_page": "13"}, ["page_mismatch"]),
    ],
)
def test_all_given_fields_are_compared(given: dict[str, str], codes: list[str]) -> None:
    journal = JournalInfo(volume="12", issue="3", pages="201-12", article_number="9966")
    article = Article(pmid="1", url="x", title="T", journal_info=journal)

    assert list_codes(Citation(journal="J", **given), article) == codes


@pytest.mark.parametrize(
    "content", ['"' * 4_096, "journal," + '"' * 4_096, "journal\n" + "x" * 200_000, 'journal\n"' + "a,\n" * 50_000]
)
def test_hostile_tables_are_read_or_rejected_quickly(content: str) -> None:
    started = time.process_time()

    with suppress(InvalidInput):
        read_citations(content, "refs.csv", bibtex=False)

    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("name", "family"),
    [("Doe J", "Doe"), ("Doe, Jane", "Doe"), ("J. Doe", "Doe"), ("van der Doe JA", "van der Doe"), ("J", "J")],
)
def test_the_family_name_is_found_in_any_form_of_a_name(name: str, family: str) -> None:
    assert get_surname(name) == family


@pytest.mark.parametrize(
    ("names", "first"),
    [
        ("Doe, Jane A and Roe, Richard", "Doe JA"),
        ("Doe JA; Roe R", "Doe JA"),
        ("Doe JA, Roe R", "Doe JA"),
        ("The Invented Group", "The Invented Group"),
    ],
)
def test_the_first_author_is_written_like_in_pubmed(names: str, first: str) -> None:
    assert get_first_author(names) == first


def test_references_are_read_from_bibtex() -> None:
    text = r"""
    @article{doe24, author={M{\"u}ller, Karl and Roe, Rita}, title={A {CRISPR} study}, journal="J. Inv. Res.",
      year=2024, volume={12}, pages={737--8}}
    """

    assert read_citations(text, "refs.bib", bibtex=True) == [
        {
            "journal": "J. Inv. Res.",
            "year": "2024",
            "volume": "12",
            "first_page": "737",
            "last_page": "8",
            "author_name": "Müller K",
            "title": "A CRISPR study",
            "key": "doe24",
        }
    ]


def test_a_damaged_bibtex_entry_is_named_with_its_line() -> None:
    with pytest.raises(InvalidInput, match=r"refs\.bib, line 2") as caught:
        read_citations("\n@article{x, title={abc\n", "refs.bib", bibtex=True)

    assert caught.value.details["line"] == 2


def test_references_are_read_from_csv_with_any_usual_separator() -> None:
    text = "\ufeffKey;Journal;Year;Volume;Pages;Author\nr1;J Inv;2024-05-01;12;e12-e19;Doe J\n;;;;;\n"

    assert read_citations(text, "refs.csv", bibtex=False) == [
        {
            "journal": "J Inv",
            "year": "2024",
            "volume": "12",
            "first_page": "e12",
            "last_page": "e19",
            "author_name": "Doe J",
            "key": "r1",
        }
    ]


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "journal,year\n"])
def test_a_csv_without_references_is_rejected(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_citations(text, "refs.csv", bibtex=False)


def test_the_upper_bound_of_a_similarity_is_never_below_the_similarity() -> None:
    chosen = random.Random(7)
    reached = 0
    for _ in range(3_000):
        first = "".join(chosen.choices("abcde", k=chosen.randrange(1, 40)))
        second = list(first)
        for _ in range(chosen.randrange(0, 12)):
            place = chosen.randrange(len(second) + 1)
            second[place : place + chosen.randrange(2)] = chosen.choices("abcde", k=chosen.randrange(3))
        other = "".join(second)
        likeness, bound = measure_key_likeness(first, other), bound_likeness(first, other)
        assert likeness <= bound <= 1.0
        reached += likeness == bound
        least = chosen.random()
        found = measure_text_likeness(first, other, least)
        assert found in (0.0, likeness)
        assert found == likeness or likeness < least
    assert reached > 1_000  # the bound is close
