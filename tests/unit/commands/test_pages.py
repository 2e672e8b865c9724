"""Texts about records: names, sources, retractions, Markdown."""

import io
from typing import Any

import pytest
from rich.console import Console

from entrez_kit.commands._views import markdown, tables
from entrez_kit.commands._views import text as text_views
from entrez_kit.pubmed.standing import determine_standing

JOURNAL = {
    "title": "Journal of Demonstrations",
    "iso_abbreviation": "J Demo",
    "volume": "12",
    "issue": "3",
    "pages": "45-67",
    "publication_date": {"year": 2024, "month": 3, "day": 5},
}


@pytest.mark.parametrize(
    ("author", "name"),
    [
        ({"last_name": "Doe", "first_name": "Jane A", "initials": "JA"}, "Doe JA"),
        ({"last_name": "Doe", "initials": "J", "suffix": "3rd"}, "Doe J 3rd"),
        ({"last_name": "Doe", "first_name": "Jane"}, "Doe Jane"),
        ({"last_name": "Plato"}, "Plato"),
        ({"collective_name": "The Demo Group"}, "The Demo Group"),
        ({}, ""),
    ],
)
def test_names_are_written_like_in_citations(author: dict[str, str], name: str) -> None:
    assert text_views.format_person(author) == name


def test_a_list_of_authors_is_shortened_with_et_al() -> None:
    authors = [{"last_name": name} for name in "ABCD"]

    assert text_views.format_people(authors, 2) == "A, B, et al."
    assert text_views.format_people(authors, 4) == "A, B, C, D"
    assert text_views.format_people(None) == ""
    assert text_views.shorten_authors("Doe J, Roe R, The Group of X, Y", 2) == "Doe J, Roe R, et al."


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "J Demo. 2024 Mar 5;12(3):45-67."),
        ({"issue": None}, "J Demo. 2024 Mar 5;12:45-67."),
        ({"volume": None, "issue": None, "pages": None}, "J Demo. 2024 Mar 5."),
        (
            {"publication_date": {"medline_date": "1998 Dec-1999 Jan", "year": 1998}},
            "J Demo. 1998 Dec-1999 Jan;12(3):45-67.",
        ),
        ({"publication_date": {"year": 2024, "medline_date": "2024 Spring"}}, "J Demo. 2024 Spring;12(3):45-67."),
        ({"publication_date": None}, "J Demo. 12(3):45-67."),
        ({"volume": None, "issue": None}, "J Demo. 2024 Mar 5:45-67."),
        ({"iso_abbreviation": None}, "Journal of Demonstrations. 2024 Mar 5;12(3):45-67."),
    ],
)
def test_the_source_is_a_citation_line(changes: dict[str, Any], expected: str) -> None:
    record = {"pmid": "1", "journal_info": {**JOURNAL, **changes}}

    assert text_views.format_source(record) == expected


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ({"year": 2024}, "2024"),
        ({"medline_date": "1998 Dec-1999 Jan"}, "1998"),
        ({"medline_date": "Winter, no year"}, ""),
        ({}, ""),
    ],
)
def test_the_year_is_found_in_every_kind_of_date(date: dict[str, Any], year: str) -> None:
    assert text_views.get_year({"journal_info": {"publication_date": date}}) == year
    assert text_views.get_year({"journal_info": {"year": 2020}}) == "2020"
    assert text_views.get_year({}) == ""


def test_a_banner_names_only_retractions_and_concerns() -> None:
    record: dict[str, Any] = {
        "pmid": "1",
        "retraction_status": "retracted",
        "corrections": [
            {"kind": "RetractionIn", "pmid": "2", "citation": "J Demo. 2025;1:1", "note": "fraud"},
            {"kind": "PartialRetractionIn", "citation": "J Demo. 2024;1:1"},
            {"kind": "CommentIn", "citation": "J Demo. 2023;1:1"},
            {"kind": "SomethingNewIn", "citation": "J Demo. 2022;1:1"},
        ],
    }
    standing = determine_standing(corrections=record["corrections"])
    assert standing is not None
    record["standing"] = standing.model_dump()

    assert text_views.build_banner(record) == [
        "RETRACTED: this article has been retracted.",
        "Retracted by: J Demo. 2025;1:1 PMID 2 (fraud)",
    ]
    assert text_views.list_other_corrections(record) == [
        "Partly retracted by: J Demo. 2024;1:1",
        "Comment in: J Demo. 2023;1:1",
        "Something new in: J Demo. 2022;1:1",
    ]
    assert text_views.build_banner({"pmid": "1", "retraction_status": "none"}) == []
    assert text_views.build_banner({"pmid": "1"}) == []


def test_addresses_of_dois_are_escaped() -> None:
    links = dict(text_views.list_links({"pmid": "1", "doi": "10.1002/a<b>c#d;2-2", "pmcid": "PMC3"}))

    assert links["PMID 1"] == "https://pubmed.ncbi.nlm.nih.gov/1/"
    assert links["doi:10.1002/a<b>c#d;2-2"] == "https://doi.org/10.1002/a%3Cb%3Ec%23d;2-2"
    assert links["PMC3"] == "https://pmc.ncbi.nlm.nih.gov/articles/PMC3/"
    assert text_views.build_page_address("https://x/", "a b\x1b]8;;") == "https://x/a%20b%5D8%3B%3B/"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P<0.001 & more", r"P\<0.001 & more"),
        ("a*b* _c_ `d` [e](f)", r"a\*b\* \_c\_ \`d\` \[e\](f)"),
        ("snake_case_name", "snake_case_name"),
        ("&amp; stays", r"\&amp; stays"),
        ("# no heading", r"\# no heading"),
        ("- no list", r"\- no list"),
        ("1. no list", "1\\. no list"),
        ("2.2.1 No list either", "2.2.1 No list either"),
        ("two\nlines", "two lines"),
        ("<script>alert(1)</script>", r"\<script\>alert(1)\</script\>"),
        ("back\\slash", r"back\\slash"),
    ],
)
def test_markdown_shows_text_unchanged(text: str, expected: str) -> None:
    assert markdown.escape(text) == expected


def test_escaped_text_is_unchanged_by_a_markdown_parser() -> None:
    from markdown_it import MarkdownIt

    for text in ("P<0.001 *x* _y_ [z](w) `q` <b>", "1. a", "# b", "+ c", "&lt; d", "a\\*b", "~~e~~ | f", "10) g"):
        tokens = MarkdownIt().parse(markdown.escape(text))
        assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"], text
        assert "".join(child.content for child in tokens[1].children or []) == text


def test_a_record_with_only_a_pmid_has_a_page() -> None:
    page = markdown.write_article({"pmid": "1", "retraction_status": "none"})

    assert page.startswith("# (no title)")
    assert "[PMID 1](<https://pubmed.ncbi.nlm.nih.gov/1/>)" in page


def test_an_item_without_a_summary_is_a_link() -> None:
    assert markdown.write_item({"pmid": "1"}) == "- [PMID 1](<https://pubmed.ncbi.nlm.nih.gov/1/>)\n"


def test_mesh_terms_mark_their_major_topics() -> None:
    term = {
        "descriptor_name": "Anemia, Sickle Cell",
        "is_major_topic": False,
        "qualifiers": [{"name": "genetics", "is_major_topic": True}, {"name": "therapy"}],
    }

    assert markdown.format_mesh_term(term) == "Anemia, Sickle Cell/genetics*/therapy"


@pytest.mark.parametrize(("width", "one_line"), [(60, True), (24, False)])
def test_a_row_becomes_lines_if_a_date_would_be_wrapped(width: int, one_line: bool) -> None:
    table = tables.ListingTable("Key", tables.build_number_column("Records"), "Followed to")
    table.add_cells("demo", "73", "2026-03-06")
    shown = io.StringIO()
    Console(width=width, file=shown).print(table)
    lines = shown.getvalue().splitlines()

    assert any("2026-03-06" in line and ("demo" in line) is one_line for line in lines)
    assert all(any(name in line for line in lines) for name in ("Key", "Records", "Followed to"))
