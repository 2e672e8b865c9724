"""White space in the texts of records."""

import pytest
from lxml import etree

from entrez_kit.base.mixed_content import collapse_white_space, read_text
from entrez_kit.pubmed.xml.records import read_records


@pytest.mark.parametrize("space", ["  ", "   ", "\n", "\t", "\r", " \r\n    ", "\t "])
def test_white_space_between_words_becomes_one_space(space: str) -> None:
    text = f"{space}first{space}second third{space}"

    assert collapse_white_space(text) == "first second third"
    assert read_text(etree.fromstring(f"<t>{text}</t>")) == "first second third"
    assert read_text(
        etree.fromstring(f"<t>{space}<i>first</i>{space}second <b>third</b>{space}</t>")
    ) == collapse_white_space(text)


def test_typographic_spaces_are_kept() -> None:
    assert collapse_white_space("1\u202f000\u00a0\u00a0kg") == "1\u202f000\u00a0\u00a0kg"


def test_a_formula_between_words_has_one_space_on_each_side() -> None:
    assert read_text(etree.fromstring("<t>so that <DispFormula>x = 1</DispFormula> holds</t>")) == "so that x = 1 holds"


@pytest.mark.parametrize("ending", ["", "<Identifier Source='other'>x</Identifier>"])
def test_names_and_affiliations_of_every_form_have_single_spaces(ending: str) -> None:
    author = (
        "<Author><LastName>van  Doe</LastName><Initials>J</Initials>"
        f"{ending}<AffiliationInfo><Affiliation>Dept  of A &amp; B</Affiliation></AffiliationInfo></Author>"
    )
    article = f"<Article><ArticleTitle>T</ArticleTitle><AuthorList>{author}</AuthorList></Article>"
    record = f"<PubmedArticle><MedlineCitation><PMID>1</PMID>{article}</MedlineCitation></PubmedArticle>"

    (read,) = read_records(f"<PubmedArticleSet>{record}</PubmedArticleSet>".encode())
    (found,) = read.article().authors
    assert (found.last_name, found.affiliations) == ("van Doe", ["Dept of A & B"])
