"""Superscripts and subscripts in every text of a record: none becomes part of a number or a word."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from superscript_policy import mark_scripts, to_canonical

from entrez_kit.pubmed.xml.records import iter_records

RECORD = """<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>99000001</PMID><Article>
<Journal><Title>J m<sup>2</sup></Title><JournalIssue><Volume>7</Volume></JournalIssue></Journal>
<ArticleTitle>{text}</ArticleTitle><Abstract><AbstractText Label="AIM">{text}</AbstractText>
<CopyrightInformation>{text}</CopyrightInformation></Abstract>
<AuthorList><Author><LastName>Roe</LastName><AffiliationInfo><Affiliation>{text}</Affiliation></AffiliationInfo></Author>
<Author><CollectiveName>{text}</CollectiveName></Author><Author><LastName>Q<sup>2</sup></LastName></Author></AuthorList>
<GrantList><Grant><Agency>{text}</Agency></Grant></GrantList>
<VernacularTitle>{text}</VernacularTitle></Article>
<CommentsCorrectionsList><CommentsCorrections RefType="ErratumIn"><RefSource>{text}</RefSource><Note>{text}</Note>
</CommentsCorrections></CommentsCorrectionsList>
<MeshHeadingList><MeshHeading><DescriptorName>{text}</DescriptorName></MeshHeading></MeshHeadingList>
<OtherAbstract Language="fre"><AbstractText>{text}</AbstractText></OtherAbstract>
<KeywordList><Keyword>{text}</Keyword></KeywordList><CoiStatement>{text}</CoiStatement>
</MedlineCitation></PubmedArticle></PubmedArticleSet>"""


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("per 10<sup>5</sup> cells in H<sub>2</sub>O", "per 10⁵ cells in H₂O"),
        ("<i>T<sub>H</sub></i>17 at 10<sup>&#8722;3</sup> M", "T_(H)17 at 10⁻³ M"),
        ("10&lt;sup&gt;6&lt;/sup&gt; CFU, P&lt;0.001", "10⁶ CFU, P<0.001"),
        ("Transport<sup>a</sup>", "Transport ᵃ"),
        ("cells.<sup>12,13</sup> So", "cells. ^(12,13) So"),
    ],
)
def test_every_text_of_a_record_has_its_exponents(text: str, written: str) -> None:
    (record,) = iter_records(RECORD.format(text=text).encode())
    article = record.article()

    assert article.journal_info is not None
    assert article.journal_info.title == "J m²"
    assert article.authors[2].last_name == "Q²"
    assert article.abstract_text == f"AIM: {written}"
    for found in (
        article.title,
        article.vernacular_title,
        article.abstract_sections[0].text,
        article.abstract_copyright,
        article.authors[0].affiliations[0],
        article.authors[1].collective_name,
        article.grant_list[0].agency,
        article.corrections[0].citation,
        article.corrections[0].note,
        article.mesh_terms[0].descriptor_name,
        article.other_abstracts[0].text,
        article.keywords[0],
        article.coi_statement,
    ):
        assert found == written


MATH = "<mml:math xmlns:mml='http://www.w3.org/1998/Math/MathML'>{}</mml:math>"


@pytest.mark.parametrize(
    ("formula", "written"),
    [
        ("<mml:msup><mml:mn>10</mml:mn><mml:mn>5</mml:mn></mml:msup>", "10⁵"),
        ("<mml:msup><mml:mn>10</mml:mn><mml:mrow><mml:mo>−</mml:mo><mml:mn>3</mml:mn></mml:mrow></mml:msup>", "10⁻³"),
        ("<mml:msubsup><mml:mi>x</mml:mi><mml:mi>i</mml:mi><mml:mn>2</mml:mn></mml:msubsup>", "xᵢ²"),
        ("<mml:msub><mml:mi>p</mml:mi><mml:mtext>adj</mml:mtext></mml:msub>", "p_(adj)"),
        (
            "<mml:munderover><mml:mo>∑</mml:mo><mml:mrow><mml:mi>i</mml:mi><mml:mo>=</mml:mo><mml:mn>1</mml:mn></mml:mrow>"
            "<mml:mi>n</mml:mi></mml:munderover><mml:mi>x</mml:mi>",
            "∑ᵢ₌₁ⁿx",
        ),
        (
            "<mml:msup><mml:mfrac><mml:mi>a</mml:mi><mml:mi>b</mml:mi></mml:mfrac><mml:mn>2</mml:mn></mml:msup>",
            "(a/b)²",
        ),
        (
            "<mml:mmultiscripts><mml:mi>C</mml:mi><mml:mprescripts/><mml:none/><mml:mn>14</mml:mn></mml:mmultiscripts>",
            "¹⁴C",
        ),
        ("<mml:mover><mml:mi>x</mml:mi><mml:mo>¯</mml:mo></mml:mover>", "x¯"),
        (
            "<mml:msup><mml:mn>2</mml:mn><mml:msup><mml:mi>n</mml:mi><mml:mn>2</mml:mn></mml:msup></mml:msup>",
            "2^(n²)",
        ),
    ],
)
def test_powers_in_formulas_are_powers(formula: str, written: str) -> None:
    (record,) = iter_records(RECORD.format(text=f"about {MATH.format(formula)} cells").encode())

    assert record.article().title == f"about {written} cells"


pieces = st.recursive(
    st.text("abT056 .,+-−", max_size=6),
    lambda inner: st.builds(
        lambda tag, text: f"<{tag}>{text}</{tag}>", st.sampled_from(["sup", "sub", "i", "b"]), inner
    ),
    max_leaves=4,
)


@given(st.lists(pieces, min_size=1, max_size=6).map("x".join))
def test_any_markup_is_read_like_by_the_second_implementation(text: str) -> None:
    from lxml import etree

    (record,) = iter_records(RECORD.format(text=f"x{text}x").encode())
    wanted = mark_scripts(etree.fromstring(f"<t>x{text}x</t>"))
    nested = re.search(r"<su[bp]>(?:(?!</su[bp]>).)*<su[bp]>", text)  # the form of nested ones is tested above
    if not nested:
        assert to_canonical(record.article().title) == to_canonical(wanted)
