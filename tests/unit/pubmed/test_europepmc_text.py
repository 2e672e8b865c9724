"""Titles and abstracts of Europe PMC as plain text: without markup, with every word and every "less than"."""

import pytest

from entrez_kit.pubmed.encoded_markup import convert_to_plain_text, split_abstract, unescape_entities


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("Loss of <i>BRCA1</i> in H<sub>2</sub>O", "Loss of BRCA1 in H₂O"),
        ("variants in &lt;i&gt;ATM&lt;/i&gt;, &lt;i&gt;CHEK2&lt;/i&gt; and", "variants in ATM, CHEK2 and"),
        ("an m&lt;sup&gt;6&lt;/sup&gt;A site", "an m⁶A site"),
        ("c.7271T&gt;G and cancer", "c.7271T>G and cancer"),
        ("(age &lt; 40 years)", "(age < 40 years)"),
        ("CSR&amp;D and R&amp;amp;D", "CSR&D and R&D"),
        ("AT&T, &copy without an end, &notanentity;", "AT&T, &copy without an end, &notanentity;"),
        ("asso\u00adciated micro\u200bbial", "associated microbial"),
        ("&#946; = &#x2212;0.21", "β = −0.21"),
        ("two\n      lines\tof  text", "two lines of text"),
        ("<p>One.</p><p>Two.</p>a<br/>b", "One. Two. a b"),
        ("<p>One.<p>Two, never closed", "One. Two, never closed"),
        ('<a href="https://example.org/?a=1">here</a> and <a xlink:href=x>there</a>', "here and there"),
        ("<jats:italic>E. coli</jats:italic> <jats:sup>2</jats:sup>", "E. coli ²"),
        ("<!-- hidden -->shown<![CDATA[ & kept]]>", "shown & kept"),
        ("", ""),
    ],
)
def test_markup_is_removed_and_words_stay(given: str, plain: str) -> None:
    assert convert_to_plain_text(given) == plain


@pytest.mark.parametrize(
    "text",
    [
        "P<0.001 and q>5",
        "at p < .001, r<.01 and age <1 year",
        "n<p>q is a chain",
        "if a<b and c>d then e<f>g",
        "x<a and b>c",
        "<foo> is no tag of ours, nor is <10>",
        "5 <s 6",
    ],
)
def test_less_than_is_not_markup(text: str) -> None:
    assert convert_to_plain_text(text) == text


def test_p_less_than_is_not_removed_as_a_tag() -> None:
    assert (
        convert_to_plain_text("improved (<i>P</i>&lt;0.001; n>30) in <b>all</b>") == "improved (P<0.001; n>30) in all"
    )


def test_a_title_does_not_end_at_its_first_markup() -> None:
    title = "The <mml:math><mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msup></mml:math> of <i>Mus</i> &amp; men"

    assert convert_to_plain_text(title) == "The x² of Mus & men"


def test_a_formula_has_its_fractions() -> None:
    formula = "<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>"

    assert convert_to_plain_text(f"ratio {formula} &lt; 2") == "ratio a/b < 2"
    assert convert_to_plain_text("broken <math><mi>a</mi> stays readable") == "broken a stays readable"


def test_entities_are_decoded_as_often_as_they_were_encoded() -> None:
    assert unescape_entities("&amp;amp;lt;") == "<"
    assert unescape_entities("<i>&alpha;</i>") == "<i>α</i>"


# Abstracts


def test_a_structured_abstract_has_all_its_sections_and_labels() -> None:
    text = "<h4>Background</h4>Cells <i>divide</i>.<h4>Methods:</h4>We counted (p<.05).<h4>Conclusion</h4>They do."

    assert split_abstract(text) == [
        {"label": "Background", "text": "Cells divide."},
        {"label": "Methods", "text": "We counted (p<.05)."},
        {"label": "Conclusion", "text": "They do."},
    ]


def test_text_before_the_first_heading_is_not_lost() -> None:
    assert split_abstract("Before. <h4>Results</h4>After.") == [
        {"text": "Before."},
        {"label": "Results", "text": "After."},
    ]


def test_a_plain_abstract_is_one_section() -> None:
    assert split_abstract("Just text with <b>bold</b> words.") == [{"text": "Just text with bold words."}]
    assert split_abstract("") == split_abstract(None) == split_abstract("<p> </p>") == []


def test_jats_sections_are_read_like_headings() -> None:
    text = (
        "<title>Abstract</title><sec><title>Introduction</title><p>Why.</p></sec>"
        "<sec><title>Methods and analysis</title><p>How.</p></sec>"
    )

    assert split_abstract(text) == [
        {"label": "Introduction", "text": "Why."},
        {"label": "Methods and analysis", "text": "How."},
    ]


def test_encoded_headings_are_headings() -> None:
    assert split_abstract("&lt;h4&gt;Aim&lt;/h4&gt;To see.") == [{"label": "Aim", "text": "To see."}]


def test_a_heading_without_text_is_returned() -> None:
    assert split_abstract("<h4>Trial registration</h4><h4>Results</h4>None.") == [
        {"label": "Trial registration", "text": ""},
        {"label": "Results", "text": "None."},
    ]
