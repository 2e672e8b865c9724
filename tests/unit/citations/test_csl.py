"""PubMed records as CSL-JSON."""

import gzip
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from csl_rules import find_breaches
from demo_articles import make_article
from project_paths import DATA

from entrez_kit.base.errors import UpstreamError
from entrez_kit.citations.csl import Item, build_csl_item, parse_edition
from entrez_kit.pubmed.xml.records import iter_records
from entrez_kit.sandbox.server import Sandbox


@cache
def read_items() -> dict[str, Item]:
    """Return the difficult records, by the number behind 98000000."""
    records = iter_records((DATA / "records.xml").read_bytes())
    return {record.pmid.removeprefix("98000").lstrip("0"): build_csl_item(record.article()) for record in records}


def read_demo_items() -> list[Item]:
    """Return the records of the demo corpus."""
    folder = files("entrez_kit.fixtures") / "pubmed"
    return [
        build_csl_item(record.article())
        for file in folder.iterdir()
        if file.name.endswith(".xml")
        for record in iter_records(file.read_bytes())
        if record.kind != "deleted"
    ]


def test_every_item_is_valid_csl_json() -> None:
    for item in [*read_items().values(), *read_demo_items()]:
        assert find_breaches(item) == [], item["id"]


def test_recorded_articles_give_valid_csl_json(real_data: Path) -> None:
    count = 0
    for path in sorted((real_data / "efetch_pubmed").iterdir()) + sorted((real_data / "baseline").iterdir()):
        content = path.read_bytes()
        try:
            for record in iter_records(gzip.decompress(content) if path.suffix == ".gz" else content):
                if record.kind != "deleted":
                    count += 1
                    assert find_breaches(build_csl_item(record.article())) == [], record.pmid
        except UpstreamError:
            continue  # some recordings are not records, or are cut

    assert count > 500


def test_kinds_of_records_have_their_types() -> None:
    kinds = {number: read_items()[number]["type"] for number in ("1", "17", "18", "20", "32")}

    assert kinds == {"1": "article-journal", "17": "book", "18": "chapter", "20": "article", "32": "report"}
    assert build_csl_item(make_article(publication_types=["Newspaper Article"]))["type"] == "article-newspaper"


def test_names_of_persons_have_parts_and_names_of_groups_are_literal() -> None:
    assert read_items()["2"]["author"] == [
        {"family": "Moreau", "given": "Jean-Pierre", "suffix": "Jr."},
        {"family": "Whitlock", "given": "Samuel T", "suffix": "III"},
    ]
    assert read_items()["3"]["author"] == [
        {"family": "Berg", "given": "Willem", "non-dropping-particle": "van der"},
        {"family": "Cruz", "given": "María José", "non-dropping-particle": "de la"},
        {"family": "Van Dyke", "given": "Nora"},
    ]
    assert read_items()["11"]["author"][1] == {"literal": "Hay Fever Study Group"}


def test_a_record_without_authors_has_no_empty_list() -> None:
    assert "author" not in read_items()["12"]


def test_pages_are_complete_and_article_numbers_are_numbers() -> None:
    assert read_items()["1"]["page"] == "1639-1641"
    assert read_items()["15"]["page"] == "S12-S19"
    assert (read_items()["13"]["number"], read_items()["14"]["number"]) == ("e1000097", "104512")
    assert "page" not in read_items()["13"]


def test_pages_are_never_converted_to_another_notation() -> None:
    assert build_csl_item(make_article(journal_info={"volume": "5", "pages": "4002.e26"}))["page"] == "4002.e26"


def test_journals_have_the_title_on_their_cover_and_nlms_abbreviation() -> None:
    assert read_items()["1"]["container-title"] == "Journal of Imaginary Medicine"
    assert read_items()["1"]["container-title-short"] == "J Imaginary Med"
    assert read_items()["24"]["container-title"] == "Revista inventada de medicina"


def test_identifiers_are_unchanged() -> None:
    item = read_items()["1"]

    assert (item["DOI"], item["PMID"], item["PMCID"]) == ("10.5555/gold.1", "98000001", "PMC98000001")
    assert item["URL"] == "https://pubmed.ncbi.nlm.nih.gov/98000001/"
    assert read_items()["17"]["URL"] == "https://www.ncbi.nlm.nih.gov/books/NBK98000017/"


def test_a_title_in_another_language_has_its_translation() -> None:
    assert read_items()["24"]["title"] == "Recordatorios telefónicos y vacunación [Telephone reminders and vaccination]"
    assert read_items()["24"]["language"] == "es"
    assert read_items()["25"]["title"] == "[Green tea in an imaginary city]"


def test_a_notice_of_a_missing_translation_is_not_a_title() -> None:
    item = build_csl_item(make_article(title="[Not Available].", vernacular_title="Sine titulo.", languages=["lat"]))

    assert item["title"] == "Sine titulo"


def test_of_two_languages_the_one_of_the_title_is_used() -> None:
    item = build_csl_item(make_article(title="[One].", vernacular_title="Um.", languages=["eng", "por"]))

    assert item["language"] == "pt"


def test_books_have_publisher_place_edition_and_isbn() -> None:
    item = read_items()["17"]

    assert (item["publisher"], item["publisher-place"]) == ("Imaginary University Press", "Eastmere (UK)")
    assert (item["edition"], item["ISBN"]) == ("2", "9799999000054")
    assert [editor["family"] for editor in item["editor"]] == ["Irwin", "Jones"]


def test_a_chapter_names_its_book_and_its_number() -> None:
    item = read_items()["18"]

    assert (item["container-title"], item["chapter-number"]) == ("Handbook of pretended diagnosis", "4")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2nd edition", "2"),
        ("3", "3"),
        ("First edition", "1"),
        ("Tenth ed.", "10"),
        ("3rd edition, revised", "3rd edition, revised"),
        ("", None),
        (None, None),
    ],
)
def test_an_edition_that_is_only_a_number_is_a_number(text: str | None, wanted: str | None) -> None:
    assert parse_edition(text) == wanted


def test_keywords_with_commas_are_not_split() -> None:
    assert read_items()["28"]["keyword"] == "carbon dioxide; Klebsiella pneumoniae; Databases, Protein"


def test_the_note_has_the_standing_of_the_article() -> None:
    assert read_items()["22"]["note"] == "[Retracted: J Imaginary Med. 2021 Jun;29(6):600]"
    assert read_items()["30"]["note"] == "PubMed's list of authors is incomplete."
    assert "note" not in read_items()["1"]


def test_an_article_ahead_of_print_is_marked_and_an_old_letter_is_not() -> None:
    assert read_items()["21"]["status"] == "advance online publication"
    assert "status" not in read_items()["29"]


@pytest.mark.process
def test_an_author_that_nlm_marks_as_invalid_is_in_no_record_and_no_export(sandbox: Sandbox, kit_for: Any) -> None:
    kit = kit_for(sandbox)
    wrong = "Sonnelini"  # corrected to Sonnellini
    pmid = next(
        record.pmid
        for path in (files("entrez_kit.fixtures") / "pubmed").iterdir()
        if path.name.endswith(".xml")
        for record in iter_records(path.read_bytes())
        if record.kind == "article" and any(author.last_name == "Sonnellini" for author in record.article().authors)
    )

    medline = kit.fetch_contents(pmids=[pmid], detail_level="medline_text").articles[0].medline_text
    names = ["apa", "vancouver", "ris", "bibtex", "csl", "nbib"]
    cited = kit.format_citations(pmids=[pmid], citation_styles=names).citations[0].citations
    search = kit.search_articles(query_term=f"{pmid}[uid]", fetch_brief_summaries=1)

    texts = {**cited, "medline": medline, "summary": search.model_dump_json()}
    assert {name for name, text in texts.items() if wrong in text} == set()
    assert {name for name, text in texts.items() if "Sonnellini" not in text} == set()
