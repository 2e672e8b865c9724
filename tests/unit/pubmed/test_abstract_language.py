"""Abstracts of articles without an English abstract."""

import pytest

from entrez_kit.pubmed.europepmc.europepmc_records import parse_record
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import iter_records

ENGLISH = "<Abstract><AbstractText>In English.</AbstractText></Abstract>"
SPANISH = """<OtherAbstract Type="Publisher" Language="spa"><AbstractText Label="OBJETIVO" NlmCategory="OBJECTIVE">Medir
el gasto.</AbstractText><AbstractText>Sí.</AbstractText></OtherAbstract>"""
FRENCH = '<OtherAbstract Type="Publisher" Language="fre"><AbstractText>En français.</AbstractText></OtherAbstract>'
SUMMARY = '<OtherAbstract Type="plain-language-summary"><AbstractText>In short.</AbstractText></OtherAbstract>'


def write_article(abstract: str, others: str, language: str = "spa") -> Article:
    text = (
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>99000001</PMID><Article>"
        f"<ArticleTitle>[A title].</ArticleTitle>{abstract}<Language>{language}</Language></Article>{others}"
        "</MedlineCitation></PubmedArticle></PubmedArticleSet>"
    )
    (record,) = iter_records(text.encode())
    return record.article()


def test_without_an_english_abstract_the_one_in_the_language_of_the_article_is_the_abstract() -> None:
    found = write_article("", FRENCH + SPANISH)

    assert found.abstract_text == "OBJETIVO: Medir el gasto.\nSí."
    assert found.abstract_language == "spa"
    assert [(part.label, part.text) for part in found.abstract_sections] == [
        ("OBJETIVO", "Medir el gasto."),
        (None, "Sí."),
    ]
    assert [other.language for other in found.other_abstracts] == ["fre", "spa"]


def test_any_other_language_is_used_if_that_of_the_article_is_missing() -> None:
    found = write_article("", FRENCH)

    assert (found.abstract_text, found.abstract_language) == ("En français.", "fre")


@pytest.mark.parametrize("others", ["", SPANISH, FRENCH + SPANISH])
def test_an_english_abstract_is_the_abstract(others: str) -> None:
    found = write_article(ENGLISH, others)

    assert (found.abstract_text, found.abstract_language) == ("In English.", None)


@pytest.mark.parametrize("others", ["", SUMMARY])
def test_a_record_without_any_abstract_has_none(others: str) -> None:
    found = write_article("", others)

    assert (found.abstract_text, found.abstract_language, found.abstract_sections) == (None, None, [])


LONG = "El gasto de la vacunación fue medido en cada pueblo y en cada casa durante un año sin parar. " * 2


@pytest.mark.parametrize(
    ("abstract", "language", "marked"),
    [
        (LONG, "spa", "spa"),
        (LONG, "eng", None),
        ("Расходы на прививки измерены.", "rus", "rus"),
        ("The cost was measured in each village of one county, and nobody knew it. " * 3, "spa", None),
        ("Cost measured.", "spa", None),
        (None, "spa", None),
    ],
)
def test_europe_pmcs_abstracts_have_their_language_if_it_is_known(
    abstract: str | None, language: str, marked: str | None
) -> None:
    found = parse_record({"source": "MED", "id": "99000001", "language": language, "abstractText": abstract})

    assert found is not None
    assert found.abstract_language == marked
