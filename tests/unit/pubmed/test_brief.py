"""Records in one line: the place of publication is the same in every text."""

from typing import Any

import pytest
from demo_articles import read_demo_articles

from entrez_kit.citations.write_nbib import write_nbib_record
from entrez_kit.pubmed.brief import format_brief_citation, format_brief_place
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.pages import format_place_of_publication

JOURNAL: dict[str, Any] = {
    "iso_abbreviation": "J Inv.",
    "volume": "12",
    "issue": "3",
    "publication_date": {"year": 2024},
}


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"pages": "201-12"}, "J Inv. 2024;12(3):201-12"),
        ({"article_number": "e47969"}, "J Inv. 2024;12(3):e47969"),
        ({"pages": "201-12", "article_number": "e47969"}, "J Inv. 2024;12(3):201-12"),
        ({"article_number": "e47969", "volume": None, "issue": None}, "J Inv. 2024"),
        ({"pages": "201", "volume": None}, "J Inv. 2024;(3):201"),
        ({"publication_date": None}, "J Inv. 12(3)"),
        ({"iso_abbreviation": None}, "2024;12(3)"),
    ],
)
def test_a_brief_citation_ends_with_pages_or_the_article_number(changes: dict[str, Any], place: str) -> None:
    fields = {"pmid": "1", "title": "A title", "url": "https://example.org/1", "journal_info": {**JOURNAL, **changes}}
    article = Article.model_validate(fields)

    assert format_brief_place(article) == place
    assert format_brief_citation(article) == f"A title. {place}. PMID 1."


def test_every_article_of_the_demo_has_one_place_in_brief_and_in_medline_text() -> None:
    numbered = 0
    for article in read_demo_articles():
        journal = article.journal_info
        if journal is None or not journal.article_number or journal.pages:
            continue
        numbered += 1
        place = format_place_of_publication(None, None, journal.volume, journal.issue, journal.article_number)
        assert format_brief_place(article).endswith(place)
        assert f";{place}." in write_nbib_record(article)
    assert numbered
