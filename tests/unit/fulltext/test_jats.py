"""JATS articles, valid and invalid: sections, tables, formulas, entities, front matter, references."""

import pytest
from jats_words import list_lines
from one_jats_article import parse_jats

from entrez_kit.base.errors import UpstreamError
from entrez_kit.fulltext.fulltext_articles import FulltextDate, Section
from entrez_kit.fulltext.jats.article import JatsArticle, JatsError, iter_jats
from entrez_kit.pubmed.standing import to_retraction_status

MATHML = 'xmlns:mml="http://www.w3.org/1998/Math/MathML"'


def write_article(
    body: str = "", front: str = "", back: str = "", attributes: str = "", before: str = ""
) -> JatsArticle:
    meta = f"<front><article-meta>{front}</article-meta></front>" if front else ""
    return parse_jats(f"{before}<article {attributes}>{meta}<body>{body}</body>{back}</article>".encode())


def read_text(body: str, **parts: str) -> str:
    """Return the text of a body that is one section without a title."""
    (section,) = write_article(body, **parts).sections
    assert section.title is None
    return section.text


def list_outline(sections: list[Section]) -> list[object]:
    return [(section.label, section.title, section.text, list_outline(section.subsections)) for section in sections]


# Words


def test_markup_inside_a_word_adds_no_space() -> None:
    assert read_text("<p>1.73 m<sup>2</sup>, H<sub>2</sub>O, <italic>in</italic> <bold>vitro</bold>.</p>") == (
        "1.73 m², H₂O, in vitro."
    )
    assert read_text("<p>a<xref ref-type='bibr'>[1]</xref>, see <ext-link>here</ext-link>.</p>") == "a[1], see here."


def test_comparison_signs_are_not_read_as_markup() -> None:
    assert read_text("<p><italic>P</italic>&lt;0.001 and a&lt;b&gt;c</p>") == "P<0.001 and a<b>c"


def test_comments_instructions_and_cdata_neither_split_nor_remove_words() -> None:
    assert read_text("<p>one<!-- two -->three <?four five?>six <![CDATA[<seven> & eight]]></p>") == (
        "onethree six <seven> & eight"
    )


def test_white_space_is_one_space_and_forced_breaks_stay() -> None:
    assert read_text("<p>a\n   b\tc<break/>d</p><p>e</p>") == "a b c\nd\n\ne"
    assert read_text("<p>5\u00a0mg\u2009\u00b1 1</p>") == "5\u00a0mg\u2009\u00b1 1"


def test_words_of_unknown_elements_are_separated() -> None:
    assert read_text("<p>one<mystery>two</mystery>three<future><p>four</p></future></p>") == "one two three\n\nfour"


def test_unicode_of_all_planes_is_unchanged() -> None:
    assert read_text("<p>α-SMA 🧬 𝒱 ﬁ Ⅳ ≥ 中文 עברית</p>") == "α-SMA 🧬 𝒱 ﬁ Ⅳ ≥ 中文 עברית"


# Entities and documents


@pytest.mark.parametrize("doctype", ["", '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "x.dtd">'])
def test_undefined_entities_lose_no_text(doctype: str) -> None:
    assert read_text("<p>a&nbsp;b &alpha;&plusmn;1 &nosuch; &amp;amp; <![CDATA[&nbsp;]]></p>", before=doctype) == (
        "a\u00a0b α±1 &nosuch; &amp; &nbsp;"
    )


def test_entities_of_the_document_are_expanded_once_and_never_fetched() -> None:
    doctype = (
        '<!DOCTYPE article [<!ENTITY lab "Some Lab"><!ENTITY twice "&lab;&lab;"><!ENTITY f SYSTEM "/etc/passwd">]>'
    )

    assert read_text("<p>&lab; &twice; &f;</p>", before=doctype) == "Some Lab &twice; &f;"


def test_an_incomplete_or_other_document_is_an_error_and_not_an_empty_article() -> None:
    for content in (b"<article><body><p>half", b"", b"plain", b"<html><body>no</body></html>", b"<pmc-articleset/>"):
        with pytest.raises(UpstreamError) as caught:
            parse_jats(content)
        assert caught.value.reason == "invalid_response"


def test_encodings_namespaces_and_wrappers_make_no_difference() -> None:
    latin = '<?xml version="1.0" encoding="ISO-8859-1"?><article><body><p>Müller</p></body></article>'.encode("latin-1")
    spaced = '<j:article xmlns:j="https://jats.nlm.nih.gov/ns/archiving/1.3/"><j:body><j:p>x</j:p></j:body></j:article>'
    wrapped = (
        "<OAI-PMH><GetRecord><record><metadata><article><body><p>y</p></body></article></metadata></record>"
        "</GetRecord></OAI-PMH>"
    )

    assert parse_jats(latin).sections[0].text == "Müller"
    assert parse_jats(spaced.encode()).sections[0].text == "x"
    assert parse_jats(wrapped.encode()).sections[0].text == "y"
    assert parse_jats("<article><body><p>zwölf</p></body></article>".encode("utf-16")).sections[0].text == "zwölf"


def test_a_set_gives_articles_and_the_ids_without_an_article() -> None:
    content = b"""<pmc-articleset>
      <article><front><article-meta><article-id pub-id-type="pmc">11</article-id></article-meta></front>
        <body><p>a</p><sub-article><body><p>b</p></body></sub-article></body></article>
      <error id="12">The following PMCID is not available: 12</error>
      <article><front><article-meta><article-id pub-id-type="pmcid">PMC13.2</article-id></article-meta></front>
        </article>
    </pmc-articleset>"""
    first, error, second = iter_jats(content)

    assert isinstance(first, JatsArticle)
    assert (first.front.pmcid, first.has_body) == ("PMC11", True)
    assert error == JatsError("12", "The following PMCID is not available: 12")
    assert isinstance(second, JatsArticle)
    assert (second.front.pmcid, second.has_body) == ("PMC13", False)


@pytest.mark.parametrize(
    ("body", "written"),
    [
        (
            "5 × 10<sup>6</sup> cells, 10<sup>−3</sup>, Ca<sup>2+</sup>, CO<sub>2</sub>",
            "5 × 10⁶ cells, 10⁻³, Ca²⁺, CO₂",
        ),
        ("PM<sub>2.5</sub> and T<sub>H</sub>17", "PM_(2.5) and T_(H)17"),
        ("<italic>v</italic><sub><italic>e</italic></sub>", "vₑ"),
        ("Transport<sup>a</sup>", "Transport ᵃ"),
        ("cells.<sup>12</sup>", "cells. ¹²"),
        ("IL-2<xref ref-type='bibr'><sup>3</sup></xref>", "IL-2 ³"),
        ("p53<sup><xref ref-type='bibr'>1</xref>,<xref ref-type='bibr'>2</xref></sup>", "p53 ^(1,2)"),
        ("0.05<xref ref-type='table-fn'>1</xref>", "0.05 ¹"),
        ("(g per day)<xref ref-type='fn'>a</xref>", "(g per day) ᵃ"),
        ("effect<xref ref-type='table-fn'>*</xref>", "effect *"),
        ("2019<xref ref-type='bibr'>7</xref>", "2019 ⁷"),
        ("Roe 1999<xref ref-type='bibr'>a</xref>", "Roe 1999a"),
        ("see [<xref ref-type='bibr'>1</xref>,<xref ref-type='bibr'>2</xref>]", "see [1,2]"),
        ("note <xref ref-type='fn'>1</xref> and <xref ref-type='fn'>the footnote</xref>", "note 1 and the footnote"),
    ],
)
def test_superscripts_are_raised_or_lowered_and_note_marks_are_separated(body: str, written: str) -> None:
    assert read_text(f"<p>{body}</p>") == written
    cell = f"<table-wrap><table><tr><td>{body}</td></tr></table></table-wrap>"
    assert read_text(cell) == written
    section = write_article(f"<sec><title>{body}</title><p>x</p></sec>").sections[0]
    assert section.title == written


def test_superscripts_have_the_same_form_in_front_matter_references_and_quotations() -> None:
    read = write_article(
        "<preformat>10<sup>6</sup>  a<bold>b<italic>c</italic></bold>d</preformat>",
        front="<title-group><article-title>10<sup>6</sup> cells</article-title></title-group>"
        "<aff><sup>1</sup>Lab 10<sup>6</sup></aff><abstract><p>per 10<sup>5</sup> cells</p></abstract>"
        "<kwd-group><kwd>CO<sub>2</sub></kwd></kwd-group>",
        back="<back><ref-list><ref><mixed-citation>On 10<sup>6</sup> of <italic>H<sub>2</sub></italic>O"
        "</mixed-citation></ref></ref-list></back>",
    )

    assert read.sections[0].text == "10⁶  abcd"
    assert (read.front.title, read.front.abstract) == ("10⁶ cells", "per 10⁵ cells")
    assert (read.front.affiliations, read.front.keywords) == (["Lab 10⁶"], ["CO₂"])
    assert read.references[0].citation == "On 10⁶ of H₂O"


# Abstracts


def test_teasers_and_translated_abstracts_are_read() -> None:
    content = """<article><front><article-meta>
        <abstract><p>Own.</p></abstract>
        <abstract abstract-type="teaser"><p>Read on!</p></abstract>
        <trans-abstract xml:lang="fr"><title>Resume</title><sec><title>But</title><p>Propre.</p></sec></trans-abstract>
      </article-meta></front><body><p>x</p></body>
      <sub-article article-type="translation" xml:lang="es"><front-stub><abstract><p>Propio.</p></abstract></front-stub>
        <body><p>y</p></body></sub-article>
      <sub-article article-type="letter"><front-stub><abstract><p>Brief.</p></abstract></front-stub>
        <body><p>z</p></body></sub-article></article>"""
    read = parse_jats(content.encode())

    assert read.front.abstract == "Own.\n\nTeaser\nRead on!"
    assert [(other.language, other.text) for other in read.front.other_abstracts] == [
        ("fr", "Resume\nBut: Propre."),
        ("es", "Propio."),
    ]
    assert list_outline(read.sections)[-1] == (None, "Letter", "z", [(None, "Abstract", "Brief.", [])])


# Sections


def test_paragraphs_before_between_and_after_sections_are_sections_without_title() -> None:
    body = "<p>a</p><p>b</p><sec><title>One</title><p>c</p></sec><p>d</p><sec><title>Two</title><p>e</p></sec>loose"

    assert list_outline(write_article(body).sections) == [
        (None, None, "a\n\nb", []),
        (None, "One", "c", []),
        (None, None, "d", []),
        (None, "Two", "e", []),
        (None, None, "loose", []),
    ]


def test_sections_are_nested_as_deep_as_in_the_article() -> None:
    body = (
        "<sec><label>2</label><title>Methods</title><p>a</p><sec><label>2.1</label><title>Cells</title><p>b</p>"
        "<sec><label>2.1.1</label><title>Media</title><p>c</p><sec><title>Salt</title><p>d</p></sec></sec></sec>"
        "<p>after</p></sec>"
    )
    salt: tuple[object, ...] = (None, "Salt", "d", [])
    cells = ("2.1", "Cells", "b", [("2.1.1", "Media", "c", [salt])])

    assert list_outline(write_article(body).sections) == [("2", "Methods", "a", [cells, (None, None, "after", [])])]


def test_very_deeply_nested_sections_lose_no_text() -> None:
    depth = 150
    body = "<sec><title>t</title><p>w</p>" * depth + "</sec>" * depth
    words = " ".join(list_lines(write_article(body).sections)).split()
    assert (words.count("t"), words.count("w")) == (depth, depth)


def test_titles_with_markup_footnotes_and_breaks_are_one_line() -> None:
    (section,) = write_article(
        "<sec><title><bold>The</bold> role<break/>of <italic>Foo</italic><sup>+</sup></title><p>x</p></sec>"
    ).sections

    assert section.title == "The role of Foo⁺"


def test_front_matter_only_and_empty_sections_are_not_a_body() -> None:
    assert not write_article("").has_body
    assert not write_article("<sec/>").has_body
    assert not write_article("<sec><title>Introduction</title><sec><title>Aims</title></sec></sec>").has_body
    assert not parse_jats(b"<article><front/><back><ack><p>Thanks.</p></ack></back></article>").has_body
    supplement = "<supplementary-material><label>S1</label><caption><p>Data.</p></caption></supplementary-material>"
    assert not write_article(f"<sec><title>Supplement</title>{supplement}</sec>").has_body
    assert write_article(f"<p>x</p>{supplement}").has_body
    assert parse_jats(b"<article><sub-article><body><p>x</p></body></sub-article></article>").has_body


def test_the_comment_of_pmc_about_its_publisher_is_recognised() -> None:
    comment = "<!--The publisher of this article does not allow downloading of the full text in XML form.-->"
    (inside,) = iter_jats(f"<pmc-articleset><article>{comment}<front/></article></pmc-articleset>".encode())

    assert isinstance(inside, JatsArticle)
    assert inside.forbidden
    assert not inside.has_body
    assert not write_article("<p>x</p>").forbidden


def test_back_matter_floats_and_letters_are_after_the_body() -> None:
    content = b"""<article><body><sec><title>Results</title><p>r</p></sec></body>
      <back><ack><p>Thanks</p></ack><app-group><app><title>Appendix A</title><p>a</p></app></app-group>
        <fn-group><fn><label>1</label><p>note</p></fn></fn-group><ref-list><ref><mixed-citation>no</mixed-citation>
        </ref></ref-list>
        <sec><title>Data availability</title><p>d</p></sec></back>
      <floats-group><fig><label>Fig. 1</label><caption><p>cap</p></caption></fig></floats-group>
      <sub-article article-type="decision-letter"><front-stub><title-group><article-title>Decision</article-title>
        </title-group>
        <contrib-group><contrib><name><surname>Roe</surname><given-names>R</given-names></name></contrib>
        </contrib-group></front-stub>
        <body><p>Dear author</p><sec><title>Major</title><p>m</p></sec></body></sub-article>
      <response response-type="reply"><front-stub/><body><p>Dear editor</p></body></response></article>"""

    assert list_outline(parse_jats(content).sections) == [
        (None, "Results", "r", []),
        (None, "Figures and tables", "Fig. 1\ncap", []),
        (None, "Acknowledgements", "Thanks", []),
        (None, "Appendix A", "a", []),
        (None, "Footnotes", "1 note", []),
        (None, "Data availability", "d", []),
        (None, "Decision", "R Roe\n\nDear author", [(None, "Major", "m", [])]),
        (None, "Reply", "Dear editor", []),
    ]


# Content of sections


def test_floats_are_after_the_paragraph_with_their_anchor() -> None:
    body = (
        "<p>As Figure 1 <fig><label>Figure 1</label><caption><title>Rise.</title><p>Bars.</p></caption></fig>shows, "
        "it rises.<fn><label>a</label><p>Not always.</p></fn></p><p>Next.</p>"
    )

    assert read_text(body) == "As Figure 1 shows, it rises.\n\nFigure 1\nRise.\nBars.\n\na Not always.\n\nNext."


def test_lists_have_their_marks_and_depth() -> None:
    body = (
        '<p>Before:<list list-type="order"><list-item><p>one</p><p>more</p><list list-type="bullet"><list-item><p>deep'
        "</p></list-item></list></list-item><list-item><p>two</p></list-item></list>after.</p>"
        "<list list-type='simple'><list-item><label>(i)</label><p>own mark</p></list-item><list-item>"
        "<p>none</p></list-item></list>"
        '<list list-type="alpha-lower"><title>Named</title><list-item><p>x</p></list-item></list>'
        '<list list-type="roman-upper"><list-item><p>y</p></list-item><list-item><p>z</p></list-item></list>'
    )

    assert read_text(body).split("\n\n") == [
        "Before:",
        "1. one\n  more\n  - deep\n2. two",
        "after.",
        "(i) own mark\nnone",
        "Named\na. x",
        "I. y\nII. z",
    ]


def test_a_box_with_a_title_is_a_section() -> None:
    body = (
        "<sec><title>Methods</title><p>See Box 1.</p>"
        "<boxed-text><label>Box 1</label><caption><title>Key points</title><p>Of 3<sup>k</sup>.</p></caption>"
        "<p>First.</p></boxed-text><p>More.</p></sec>"
        "<boxed-text><sec><title>First</title><p>p</p></sec></boxed-text><boxed-text><p>Plain.</p></boxed-text>"
    )

    methods, box, rest = write_article(body).sections

    assert [(subsection.label, subsection.title, subsection.text) for subsection in methods.subsections] == [
        ("Box 1", "Key points", "Of 3ᵏ.\n\nFirst."),
        (None, None, "More."),
    ]
    assert [subsection.title for subsection in box.subsections] == ["First"]
    assert rest.text == "Plain."


def test_definitions_quotes_poems_code_and_speech_are_read_completely() -> None:
    body = (
        "<def-list><title>Terms</title><def-item><term>BMI</term><def><p>body mass index</p></def></def-item>"
        "</def-list>"
        "<disp-quote><p>Quoted.</p><attrib>Somebody</attrib></disp-quote>"
        "<verse-group><verse-line>A line</verse-line><verse-line>another</verse-line></verse-group>"
        "<preformat>  if x:\n      y = 1\n</preformat>"
        "<speech><speaker>Q:</speaker><p>Why?</p></speech>"
        "<statement><label>Theorem 1.</label><p>It holds.</p></statement>"
    )

    assert read_text(body).split("\n\n") == [
        "Terms\nBMI — body mass index",
        "Quoted.",
        "Somebody",
        "A line\nanother",
        "if x:\n    y = 1",
        "Q:",
        "Why?",
        "Theorem 1.",
        "It holds.",
    ]


def test_supplementary_material_and_media_have_their_captions() -> None:
    body = (
        "<supplementary-material><label>S1</label><caption><p>Data.</p></caption><media><caption>"
        "<p>(XLSX)</p></caption></media></supplementary-material>"
        "<p>See <inline-supplementary-material>file 2</inline-supplementary-material>.</p>"
        '<fig><object-id pub-id-type="doi">10.1/f1</object-id><label>F</label><alt-text>Image 1</alt-text>'
        "<graphic/></fig>"
    )

    assert read_text(body) == "S1\nData.\n(XLSX)\n\nSee file 2.\n\nF\n10.1/f1"


# Tables


def read_rows(table: str) -> list[str]:
    return read_text(f"<table-wrap><table>{table}</table></table-wrap>").split("\n")


def test_cells_are_in_their_columns_with_any_spans() -> None:
    table = (
        '<thead><tr><th rowspan="2">Group</th><th colspan="2">Dose</th></tr><tr><th>low</th><th>high</th></tr></thead>'
        '<tbody><tr><td rowspan="2">A</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr><tr>'
        "<td>B</td><td/><td>6</td></tr></tbody>"
    )

    assert read_rows(table) == ["Group\tDose\t", "\tlow\thigh", "A\t1\t2", "\t3\t4", "B\t\t6"]


def test_a_cell_with_any_content_is_one_line() -> None:
    table = (
        "<tr><td><p>a</p><p>b</p></td><td>c<break/>d</td><td><list><list-item><p>e</p></list-item></list>"
        "</td><td>x\n\ty</td></tr>"
    )

    assert read_rows(table) == ["a b\tc d\t- e\tx y"]


def test_tables_of_the_oasis_model_are_read() -> None:
    table = (
        '<oasis:table xmlns:oasis="http://docs.oasis-open.org/ns/oasis-exchange/table"><oasis:tgroup cols="3">'
        '<oasis:colspec colname="c1"/><oasis:colspec colname="c2"/><oasis:colspec colname="c3"/><oasis:thead>'
        "<oasis:row>"
        '<oasis:entry colname="c1" morerows="1">Site</oasis:entry>'
        '<oasis:entry namest="c2" nameend="c3">Depth</oasis:entry></oasis:row>'
        '<oasis:row><oasis:entry colname="c2">min</oasis:entry><oasis:entry colname="c3">max</oasis:entry>'
        "</oasis:row></oasis:thead>"
        "<oasis:tbody><oasis:row><oasis:entry>X</oasis:entry><oasis:entry>1</oasis:entry>"
        "<oasis:entry>2</oasis:entry></oasis:row></oasis:tbody>"
        "</oasis:tgroup></oasis:table>"
    )

    assert read_text(f"<table-wrap>{table}</table-wrap>").split("\n") == ["Site\tDepth\t", "\tmin\tmax", "X\t1\t2"]


def test_label_caption_and_notes_are_around_the_table() -> None:
    body = (
        "<table-wrap><label>Table 1.</label><caption><title>Doses</title><p>All of them.</p></caption>"
        "<alternatives><graphic/><table><tr><td>1<sup>a</sup></td></tr></table></alternatives>"
        "<table-wrap-foot><fn><label>a</label><p>mg</p></fn><attrib>Source: us</attrib></table-wrap-foot></table-wrap>"
    )

    assert read_text(body) == "Table 1.\nDoses\nAll of them.\n1ᵃ\na mg\nSource: us"


def test_huge_spans_have_no_effect() -> None:
    table = (
        '<tr><td colspan="99999999999999999999" rowspan="-3">a</td><td rowspan="0">b</td></tr><tr>'
        '<td colspan="x">c</td></tr>'
    )

    assert [line.split("\t")[0] for line in read_rows(table)] == ["a", "c"]


def test_a_huge_table_is_read_completely_and_quickly() -> None:
    body = "".join(f"<tr><td>r{number}</td><td>a</td><td>b</td></tr>" for number in range(10_000))

    assert len(read_rows(body)) == 10_000


# Formulas


def test_formulas_are_one_line_with_unambiguous_fractions() -> None:
    formula = (
        f"<disp-formula><label>(1)</label><mml:math {MATHML}><mml:mi>y</mml:mi><mml:mo>=</mml:mo><mml:mfrac><mml:mrow>"
        "<mml:mi>a</mml:mi><mml:mo>+</mml:mo><mml:mn>1</mml:mn></mml:mrow><mml:msup><mml:mi>b</mml:mi>"
        "<mml:mn>2</mml:mn>"
        "</mml:msup></mml:mfrac><mml:msqrt><mml:mi>c</mml:mi></mml:msqrt></mml:math></disp-formula>"
    )

    assert read_text(f"<p>So{formula}holds.</p>") == "So\n\ny=(a+1) / b² √c (1)\n\nholds."


@pytest.mark.parametrize(
    ("formula", "line"),
    [
        ("<msup><mn>10</mn><mn>5</mn></msup>", "10⁵"),
        ("<msup><mi>e</mi><mrow><mi>n</mi><mo>/</mo><mn>2</mn></mrow></msup>", "e^(n/2)"),
        ("<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>", "x₁²"),
        ("<msup><msup><mn>10</mn><mn>6</mn></msup><mn>2</mn></msup>", "10⁶ ²"),
        ("<mn>5</mn><mn>7</mn>", "5 7"),
        ("<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>", "∑ᵢ₌₁ⁿ"),
        (
            "<mmultiscripts><mi>C</mi><none/><mo>+</mo><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>",
            "₆¹⁴C⁺",
        ),
        ("<mi>a</mi><mglyph alt='star'/>", "a star"),
    ],
)
def test_powers_and_indices_of_formulas_are_separate_from_other_numbers(formula: str, line: str) -> None:
    assert read_text(f"<p><math xmlns='http://www.w3.org/1998/Math/MathML'>{formula}</math></p>") == line


def test_an_empty_formula_does_not_hide_its_other_notation() -> None:
    assert read_text("<p>at <inline-formula><math/><tex-math>$x$</tex-math></inline-formula>.</p>") == "at x."


def test_formulas_in_references_are_read_once() -> None:
    formula = f"<mml:math {MATHML}><mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msup></mml:math>"
    both = f"<inline-formula><alternatives><tex-math>$x^2$</tex-math>{formula}</alternatives></inline-formula>"
    back = f"<back><ref-list><ref><mixed-citation>On {both} again</mixed-citation></ref></ref-list></back>"

    assert write_article("<p>x</p>", back=back).references[0].citation == "On x² again"


def test_one_of_several_notations_is_read() -> None:
    tex = r"<tex-math>\documentclass[12pt]{minimal}\begin{document}$$ x_1 $$\end{document}</tex-math>"
    math = f"<mml:math {MATHML}><mml:msub><mml:mi>x</mml:mi><mml:mn>1</mml:mn></mml:msub></mml:math>"

    both = f"<alternatives>{tex}{math}<inline-graphic/></alternatives>"
    assert read_text(f"<p>at <inline-formula>{both}</inline-formula>.</p>") == "at x₁."
    assert read_text(f"<p>at <inline-formula>{tex}<inline-graphic/></inline-formula>.</p>") == "at x_1."
    assert read_text("<p>at <inline-formula><inline-graphic/></inline-formula>.</p>") == "at [formula]."
    assert read_text("<p>at <inline-formula><italic>n</italic> = 5</inline-formula>.</p>") == "at n = 5."


# Front matter


def test_title_subtitle_and_ids_are_those_of_the_article() -> None:
    front = write_article(
        "<p>x</p>",
        '<article-id pub-id-type="pmc">PMC77</article-id><article-id pub-id-type="pmid">123</article-id>'
        '<article-id pub-id-type="doi">10.1000/Ab</article-id><title-group><article-title>Main <italic>thing</italic>'
        '<xref ref-type="fn">*</xref><fn><p>A note</p></fn></article-title><subtitle>And more</subtitle></title-group>'
        '<related-article><article-title>Other</article-title><article-id pub-id-type="pmid">999</article-id>'
        "</related-article>",
    ).front

    assert (front.pmcid, front.pmid, front.doi) == ("PMC77", "123", "10.1000/Ab")
    assert front.title == "Main thing: And more"


def test_ids_of_cited_works_are_never_those_of_the_article() -> None:
    back = (
        '<back><ref-list><ref><element-citation><pub-id pub-id-type="pmid">5</pub-id>'
        '<article-id pub-id-type="doi">10.1/x'
        "</article-id></element-citation></ref></ref-list></back>"
    )
    front = write_article("<p>x</p>", "<title-group><article-title>T</article-title></title-group>", back).front

    assert (front.pmid, front.doi, front.pmcid) == (None, None, None)


def test_pmcids_have_one_prefix() -> None:
    for written in ("77", "PMC77", "pmc77", "PMC77.1"):
        front = write_article("<p>x</p>", f'<article-id pub-id-type="pmcid">{written}</article-id>').front
        assert front.pmcid == "PMC77"


def test_structured_abstracts_and_other_kinds_are_separate() -> None:
    front = write_article(
        "<p>x</p>",
        "<abstract><title>Abstract</title><sec><title>Aims:</title><p>a <bold>b</bold>.</p></sec><sec>"
        "<title>Results</title>"
        "<p>c</p><p>d</p></sec></abstract>"
        '<abstract abstract-type="plain-language-summary"><p>easy</p></abstract>'
        '<abstract abstract-type="graphical"><p><fig><graphic/></fig></p></abstract>'
        '<trans-abstract xml:lang="fr"><p>facile</p></trans-abstract>',
    ).front

    assert front.abstract == "Aims: a b.\nResults: c\nd\n\nPlain language summary\neasy"


def test_groups_are_authors_and_their_members_are_not() -> None:
    front = write_article(
        "<p>x</p>",
        '<contrib-group><contrib contrib-type="author"><name><surname>Roe</surname><given-names>Ann B</given-names>'
        '<suffix>Jr</suffix></name><xref ref-type="aff" rid="a2 a1">1</xref></contrib>'
        '<contrib contrib-type="author"><collab>Study Group<contrib-group><contrib><name><surname>Member</surname>'
        "</name></contrib></contrib-group></collab></contrib>"
        '<contrib contrib-type="author"><string-name>Suryati</string-name><aff>Own place</aff></contrib>'
        '<contrib contrib-type="author"><anonymous/></contrib><on-behalf-of>for All</on-behalf-of>'
        '<contrib contrib-type="editor"><name><surname>Edi</surname></name><xref ref-type="aff" rid="a3"/></contrib>'
        "</contrib-group>"
        '<aff id="a1"><label>1</label><institution>Inst</institution><country>UK</country></aff>'
        '<aff id="a2"><sup>2</sup>Lab, <city>Bonn</city>, Germany</aff><aff id="a3">Editor place</aff>',
    ).front

    assert [author.model_dump(exclude_none=True) for author in front.authors] == [
        {"given_names": "Ann B", "last_name": "Roe Jr"},
        {"collective_name": "Study Group"},
        {"last_name": "Suryati"},
        {"collective_name": "Anonymous"},
        {"collective_name": "for All"},
    ]
    assert front.affiliations == ["Lab, Bonn, Germany", "Inst, UK", "Own place"]


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (
            '<pub-date pub-type="ppub"><year>2020</year></pub-date><pub-date pub-type="epub"><day>3</day>'
            "<month>02</month>"
            "<year>2019</year></pub-date>",
            (2019, 2, 3),
        ),
        (
            '<pub-date pub-type="pmc-release"><year>2021</year></pub-date>'
            '<pub-date pub-type="collection"><year>2020</year></pub-date>',
            (2020, None, None),
        ),
        ('<pub-date date-type="pub" publication-format="electronic" iso-8601-date="2018-05-06"/>', (2018, 5, 6)),
        ('<pub-date pub-type="ppub"><month>Sept</month><year>2017</year></pub-date>', (2017, 9, None)),
        ('<pub-date pub-type="ppub"><season>Spring</season><year>2016</year></pub-date>', (2016, None, None)),
        ("<pub-date><string-date>Published 4 May 2015</string-date></pub-date>", (2015, None, None)),
        ('<pub-date pub-type="epub"><day>31</day><month>99</month><year>2014</year></pub-date>', (2014, None, None)),
        ('<pub-date date-type="retracted"><year>2013</year></pub-date>', None),
    ],
)
def test_the_date_is_that_of_publication(dates: str, expected: tuple[int, int | None, int | None] | None) -> None:
    found = write_article("<p>x</p>", dates).front.publication_date

    year, month, day = expected or (None, None, None)
    assert found == (FulltextDate(year=year, month=month, day=day) if expected else None)


def test_journal_keywords_licence_and_type_are_read_from_old_and_new_dtds() -> None:
    old = parse_jats(
        b"""<article article-type="review-article"><front><journal-meta><journal-title>J Old</journal-title>
        <issn>1234-5678</issn>
        </journal-meta><article-meta><volume>2</volume><fpage>10</fpage><lpage>12</lpage>
        <copyright-statement>c</copyright-statement>
        <kwd-group><kwd>one</kwd><kwd><italic>two</italic></kwd><kwd>one</kwd></kwd-group>
        <kwd-group kwd-group-type="abbreviations"><kwd>BMI, index</kwd></kwd-group></article-meta></front><body>
        <p>x</p></body></article>"""
    ).front
    new = write_article(
        "<p>x</p>",
        "<elocation-id>e9</elocation-id>"
        '<permissions xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:ali="http://www.niso.org/schemas/ali/1.0/">'
        "<license><ali:license_ref>https://creativecommons.org/licenses/by/4.0/</ali:license_ref>"
        "<license-p>Free.</license-p></license></permissions>",
    ).front

    assert old.journal is not None
    assert old.journal.model_dump(exclude_none=True) == {
        "title": "J Old",
        "issn": "1234-5678",
        "volume": "2",
        "pages": "10-12",
    }
    assert (old.keywords, old.article_type, old.license) == (["one", "two"], "review-article", None)
    assert new.journal is not None
    assert (new.journal.pages, new.license) == ("e9", "https://creativecommons.org/licenses/by/4.0/")


@pytest.mark.parametrize(
    ("kind", "related", "status"),
    [
        ("research-article", "", "none"),
        ("research-article", "retraction-forward", "retracted"),
        ("research-article", "partial-retraction-forward", "retracted"),
        ("expression-of-concern", "object-of-concern", "concern_notice"),
        ("retraction", "retracted-article", "retraction_notice"),
        ("research-article", "concern-forward", "expression_of_concern"),
        ("research-article", "corrected-article", "none"),
        ("research-article", "correction-forward", "none"),
    ],
)
def test_a_retraction_is_read_from_related_articles_and_not_from_titles(kind: str, related: str, status: str) -> None:
    element = f'<related-article related-article-type="{related}"/>' if related else ""
    front = write_article(
        "<p>x</p>",
        f"<title-group><article-title>Retraction of teeth</article-title></title-group>{element}",
        attributes=f'article-type="{kind}"',
    ).front

    assert to_retraction_status(front.standing) == status


@pytest.mark.parametrize(
    "element",
    ["list><list-item", "disp-quote", "def-list><def-item><def", "named-content", "fig", "boxed-text", "table><tr><td"],
)
def test_very_deep_nesting_loses_no_word_and_ends(element: str) -> None:
    depth = 400
    closing = "".join(f"</{name}>" for name in reversed(element.split("><")))
    words = read_text(f"<p>{(f'<{element}>' + 'w ') * depth}{closing * depth}</p>").split()

    assert words.count("w") == depth
