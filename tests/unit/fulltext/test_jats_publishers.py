"""Invented articles with the habits of publishers: no text is lost, and all of it is in order."""

import xml.etree.ElementTree as ET
from collections import Counter

import pytest
from jats_words import ANOTHER_PLACE, find_bodies, get_local_name, list_lines, list_words, read_text
from one_jats_article import parse_jats

from entrez_kit.fulltext.fulltext_articles import FulltextDate

NAMESPACES = (
    'xmlns:mml="http://www.w3.org/1998/Math/MathML" xmlns:xlink="http://www.w3.org/1999/xlink" '
    'xmlns:oasis="http://www.niso.org/standards/z39-96/ns/oasis-exchange/table" '
    'xmlns:ali="http://www.niso.org/schemas/ali/1.0/"'
)

ELSEVIER = """<article-title>A reaction<xref ref-type="fn" rid="d1">☆</xref></article-title></title-group>
<contrib-group><contrib contrib-type="author" id="au1"><name><surname>Aro</surname><given-names>Bea C.</given-names
></name>
<degrees>MD</degrees><xref rid="aff1" ref-type="aff">a</xref><xref rid="cor1" ref-type="corresp">∗</xref></contrib>
<contrib contrib-type="author"><collab>the DEEP <italic>study</italic> group<contrib-group><contrib><name><surname
>Member</surname>
<given-names>Ann</given-names></name></contrib></contrib-group></collab></contrib>
<aff id="aff1"><label>a</label>Department of Reactions, University of Nowhere, 1000 Nowhere</aff></contrib-group>
<pub-date pub-type="collection"><season>Spring</season><year>2021</year></pub-date>
<pub-date pub-type="epub"><day>05</day><month>2</month><year>2020</year></pub-date>
<abstract><p>Short.</p></abstract><abstract abstract-type="author-highlights"><title>Highlights</title>
<p><list list-type="simple"><list-item><label>•</label><p>First highlight.</p></list-item></list></p></abstract>
|<sec id="s1"><label>1</label><title>Introduction</title><p>Known since 1990 [<xref rid="bib1" ref-type="bibr"
>[1]</xref>,
<xref rid="bib2">[2]</xref>] for H<sub>2</sub>O<sub>2</sub>, see <xref ref-type="sec" rid="s2">Section 2</xref>:
<list list-type="simple"><list-item id="o1"><label>•</label><p>one bullet;</p></list-item><list-item><label>•</label>
<p>another bullet</p></list-item></list>and the sentence goes on.</p>
<p>A formula<disp-formula id="fd1"><label>(1)</label><mml:math><mml:mrow><mml:mi>E</mml:mi><mml:mo>=</mml:mo><mml:mi
>m</mml:mi>
<mml:msup><mml:mi>c</mml:mi><mml:mn>2</mml:mn></mml:msup></mml:mrow></mml:math></disp-formula>and what follows it.</p>
<fig id="f1"><label>Fig. 1</label><caption><p
>A picture of it. (For interpretation of colours, see the web version.)</p>
</caption><alt-text id="at0010">Fig. 1</alt-text><graphic xlink:href="gr1"/></fig></sec>
<sec id="s2"><title>Methods</title><sec><label>2.1</label><title>Part</title><sec><label>2.1.1</label><title
>Deeper</title>
<p>Text in the deep.</p></sec><p>After the deep.</p></sec></sec>
|<ack><title>Acknowledgments</title><p>Thanks.</p></ack><fn-group><fn id="d1"><label>☆</label><p
>Footnote of the title.</p></fn>
</fn-group><app-group><app id="app1"><label>Appendix A</label><title>Supplementary data</title><p>More of it.</p
></app></app-group>
<ref-list><ref id="bib1"><label>1</label><element-citation publication-type="journal"><person-group
person-group-type="author">
<name><surname>Curie</surname><given-names>M.</given-names></name></person-group><article-title>Rays</article-title>
<source>C R</source><volume>1</volume><year>1898</year><fpage>2</fpage><lpage>5</lpage></element-citation></ref
></ref-list>"""

WILEY = """<article-title>Birds <break/>of the north</article-title><alt-title alt-title-type="left-running-head"
>Aro</alt-title>
</title-group><contrib-group><contrib contrib-type="author"><contrib-id contrib-id-type="orcid"
>https://orcid.org/0</contrib-id>
<name><surname>van der Berg</surname><given-names>Jo</given-names><suffix>Jr.</suffix></name><address><email
>a@b.example</email>
</address><xref ref-type="aff" rid="a1"><sup>1</sup></xref></contrib></contrib-group><aff id="a1"><label><sup>1</sup
></label>
<named-content content-type="organisation-division">Birds</named-content><institution>North University</institution>
<city>North</city><country country="NO">Norway</country></aff>
<pub-date date-type="pub" publication-format="electronic" iso-8601-date="2019-11-07"><day>07</day><month>11</month
><year>2019</year>
</pub-date><abstract><title>Abstract</title><p>Birds fly.</p></abstract>
|<sec id="n1"><label>1</label><title>INTRODUCTION</title><p>Birds (Aro, <xref ref-type="bibr" rid="b1">2001</xref
>; Bea &amp; Co,
<xref ref-type="bibr" rid="b2">2002a</xref>, <xref ref-type="bibr" rid="b3">2002b</xref>) fly<xref ref-type="fn"
rid="n5">*</xref>.
<disp-quote content-type="quotation"><p>They fly well.</p><attrib>An observer</attrib></disp-quote>So it was said.</p>
<boxed-text position="anchor"><caption><title>Box 1</title></caption><p>Boxed words.</p><list list-type="order"
><list-item>
<p>Item one</p><list list-type="alpha-lower"><list-item><p>Item inside</p></list-item></list></list-item></list
></boxed-text>
<table-wrap id="t1"><label>Table 1</label><caption><p>Of birds</p></caption><table><thead><tr><th rowspan="2"
>Bird</th>
<th colspan="2">Weights<xref ref-type="table-fn" rid="tf1"><sup>a</sup></xref></th></tr><tr><th>Mean</th><th>SD</th
></tr></thead><tbody>
<tr><td><italic>Parus major</italic></td><td>17.5</td><td>0.4</td></tr></tbody></table><table-wrap-foot><fn id="tf1"
><label><sup>a</sup>
</label><p>In grams.</p></fn></table-wrap-foot></table-wrap></sec>
|<sec sec-type="COI-statement"><title>CONFLICT OF INTEREST</title><p>None.</p></sec><glossary><def-list><title
>Abbreviations</title>
<def-item><term>SD</term><def><p>standard deviation</p></def></def-item></def-list></glossary>
<ref-list><title>REFERENCES</title><ref id="b1"><mixed-citation publication-type="book"><string-name><surname
>Aro</surname>,
<given-names>B.</given-names></string-name> (<year>2001</year>). <source>Birds</source> (<edition>2nd ed.</edition>,
pp. <fpage>1</fpage>–<lpage>9</lpage>). <publisher-name>Press</publisher-name>.</mixed-citation></ref></ref-list>"""

BMC = """<article-title>A trial of <italic>Lactobacillus</italic></article-title><subtitle>the LACTO trial</subtitle
></title-group>
<contrib-group><contrib contrib-type="author" equal-contrib="yes"><name><surname>Øst</surname><given-names
>Åse</given-names></name>
<xref ref-type="aff" rid="Aff1">1</xref></contrib><aff id="Aff1"><label>1</label><institution-wrap><institution-id
institution-id-type="GRID">grid.1</institution-id><institution content-type="org-division">Division</institution>
<institution content-type="org-name">University</institution></institution-wrap><addr-line>Oslo</addr-line><country
>Norway</country>
</aff></contrib-group><pub-date pub-type="epub"><day>1</day><month>3</month><year>2018</year></pub-date>
<abstract id="Abs1"><sec><title>Background</title><p id="Par1">Why.</p></sec><sec><title>Trial registration</title>
<p>NCT00000000.</p></sec></abstract>
|<sec id="Sec1"><title>Background</title><p id="Par5">Odds of <inline-formula id="IEq1"><alternatives><tex-math
id="M1">\\documentclass
\\begin{document}$$p&lt;0.05$$\\end{document}</tex-math><mml:math><mml:mi>p</mml:mi><mml:mo>&lt;</mml:mo><mml:mn
>0.05</mml:mn></mml:math>
<inline-graphic xlink:href="x.gif"/></alternatives></inline-formula> were seen<sup>1</sup>.</p><p><disp-formula
id="Equ1">
<label>1</label><alternatives><tex-math>\\begin{document}$$a$$\\end{document}</tex-math><mml:math><mml:mfrac><mml:mi
>a</mml:mi>
<mml:mi>b</mml:mi></mml:mfrac></mml:math><graphic xlink:href="e.gif"/></alternatives></disp-formula></p></sec>
<sec id="Sec2"><title>Methods</title><sec id="FPar1"><title>Step</title><p>Mix.</p></sec><p><table-wrap id="Tab1"
><label>Table 1
</label><caption xml:lang="en"><p>Arms</p></caption><alternatives><graphic xlink:href="t.png"/><table><tbody><tr><td
>Placebo</td>
<td char="." align="char">12</td></tr></tbody></table></alternatives><table-wrap-foot><p>Two arms.</p
></table-wrap-foot></table-wrap>
</p></sec>|<glossary><title>Abbreviations</title><def-list><def-item><term>OR</term><def><p id="P">Odds ratio</p
></def></def-item>
</def-list></glossary><fn-group><fn><p><bold>Publisher’s Note</bold></p><p>We remain neutral.</p></fn></fn-group>
<notes notes-type="data-availability"><title>Availability of data</title><p>On request.</p></notes>
<ref-list id="Bib1"><ref id="CR1"><label>1.</label><citation-alternatives><element-citation><source>Gut</source
></element-citation>
<mixed-citation>Øst Å. Trial. Gut 2018;1:2–3.</mixed-citation></citation-alternatives></ref></ref-list>"""

FRONTIERS = """<article-title>Neurons in <named-content content-type="species">mice</named-content></article-title
></title-group>
<contrib-group><contrib contrib-type="author" corresp="yes"><name><surname>Li</surname><given-names>Na</given-names
></name>
<xref ref-type="aff" rid="aff1"><sup>1</sup></xref><xref ref-type="author-notes" rid="fn001"><sup>*</sup></xref
></contrib></contrib-group>
<aff id="aff1"><sup>1</sup><institution>Brain Institute</institution>, <addr-line>Wuhan</addr-line>, <country
>China</country></aff>
<author-notes><fn fn-type="edited-by"><p>Edited by: Some Body</p></fn></author-notes>
<pub-date pub-type="epub"><day>15</day><month>09</month><year>2022</year></pub-date><abstract><p>Spikes.</p
></abstract>
|<sec sec-type="intro"><title>1. Introduction</title><p>Neurons spike (Figures <xref ref-type="fig" rid="F1"
>1A</xref>–<xref
ref-type="fig" rid="F1">C</xref>) at 5&#x2009;Hz.</p></sec><sec><title>2. Results</title><sec><title
>2.1. Cells</title><sec>
<title>2.1.1. Layers</title><sec><title>2.1.1.1. Layer one</title><p>Fourth level.</p></sec></sec></sec>
<fig id="F1" position="float"><label>Figure 1</label><caption><p><bold>(A)</bold> Cell. <bold>(B)</bold> Net.</p
></caption></fig>
<statement content-type="theorem" id="T1"><label>Theorem 1</label><title>Of spikes</title><p>Every spike ends.</p
></statement></sec>
|<sec sec-type="author-contributions"><title>Author contributions</title><p>NL did it.</p></sec>
<fn-group><fn fn-type="financial-disclosure"><p><bold>Funding.</bold> By nobody.</p></fn></fn-group>"""

MDPI = """<article-title>Sensors: a review</article-title></title-group><contrib-group><contrib contrib-type="author">
<name><surname>Roy</surname><given-names>A.</given-names></name><xref ref-type="aff" rid="af1-s">1</xref></contrib>
<contrib contrib-type="editor"><name><surname>Editor</surname><given-names>An</given-names></name><role
>Academic Editor</role></contrib>
</contrib-group><aff id="af1-s"><label>1</label>Lab, City; E-Mail: <email>r@lab.example</email></aff>
<pub-date pub-type="epub"><day>31</day><month>12</month><year>2015</year></pub-date>
<pub-date pub-type="collection"><month>1</month><year>2016</year></pub-date><abstract><p>Sensing.</p></abstract>
|<sec sec-type="intro" id="sec1"><title>1. Introduction</title><p>There are:
<list list-type="simple"><list-item><label>(1)</label><p>Optical ones</p></list-item><list-item><label>(2)</label><p
>Others</p>
</list-item></list></p><disp-formula id="FD1"><label>(1)</label><mml:math><mml:mtable><mml:mtr><mml:mtd><mml:mi
>x</mml:mi></mml:mtd>
<mml:mtd><mml:mi>y</mml:mi></mml:mtd></mml:mtr></mml:mtable></mml:math></disp-formula>
<array orientation="portrait"><tbody><tr><td>left</td><td>right</td></tr></tbody></array>
<fig id="f1"><object-id pub-id-type="pii">sensors-1-f1</object-id><label>Figure 1</label><caption><p>Setup.</p
></caption></fig></sec>
<sec><title>2. Dialogue</title><speech><speaker>ROY</speaker><p>Is it on?</p></speech><speech><speaker>ADA</speaker
><p>Yes.</p></speech>
<verse-group><verse-line>Roses are red</verse-line><verse-line>sensors are blue</verse-line></verse-group>
<p><def-list><def-item><term>LED</term><def><p>lamp</p></def></def-item></def-list></p><preformat>  a = 1
  b = 2</preformat></sec>|<app-group><app id="app1"><title>Appendix A</title><sec><title>A.1</title><p>Deep.</p
></sec></app></app-group>
<notes><title>Author Contributions</title><p>All did.</p></notes>"""

ELIFE = """<article-title>Flies</article-title></title-group><contrib-group content-type="author"><contrib
contrib-type="author"
id="author-1"><name><surname>Fly</surname><given-names>Ann</given-names></name><xref ref-type="aff"
rid="aff1"/></contrib>
<aff id="aff1"><institution content-type="dept">Dept</institution>, <institution>Uni</institution>, <addr-line
><named-content
content-type="city">Ghent</named-content></addr-line>, <country>Belgium</country></aff></contrib-group>
<contrib-group content-type="section"><contrib contrib-type="editor"><name><surname>Ed</surname><given-names
>Itor</given-names></name>
</contrib></contrib-group><pub-date date-type="publication" publication-format="electronic"><day>09</day><month
>04</month>
<year>2014</year></pub-date><abstract><p>Fly.<bold>DOI:</bold> x</p></abstract><abstract
abstract-type="executive-summary">
<title>eLife digest</title><p>Flies fly.</p></abstract>
|<sec id="s1" sec-type="intro"><title>Introduction</title><p>Flies<fig-group><fig id="fig1"><label>Figure 1.</label
><caption>
<title>Main.</title><p>About it.</p></caption></fig><fig id="fig1s1" specific-use="child-fig"><label
>Figure 1—figure supplement 1.</label>
<caption><title>Child.</title></caption></fig></fig-group> do fly.</p></sec><sec id="s2"><title>Methods</title
><table-wrap id="keyresource">
<label>Key resources table</label><table><tbody><tr><td>Gene<break/>(<italic>D. melanogaster</italic>)</td><td>w<sup
>1118</sup></td></tr>
</tbody></table></table-wrap><supplementary-material id="SD1"><label>Source code 1.</label><caption><p
>Code of it.</p></caption>
<media mimetype="application"/></supplementary-material><media mimetype="video" id="v1"><label>Video 1.</label
><caption>
<title>A film.</title></caption></media></sec>
|<sec sec-type="additional-information"><title>Additional information</title><fn-group
content-type="competing-interest">
<title>Competing interests</title><fn fn-type="COI-statement"><p>None declared.</p></fn></fn-group></sec>"""

SCIELO = """<article-title xml:lang="pt">Saúde</article-title><trans-title-group xml:lang="en"><trans-title
>Health</trans-title>
</trans-title-group></title-group><contrib-group><contrib contrib-type="author"><name><surname>Souza</surname>
<given-names>João de</given-names></name><xref ref-type="aff" rid="aff1">I</xref></contrib></contrib-group><aff
id="aff1">
<label>I</label><institution content-type="original">Universidade. São Paulo, SP, Brasil</institution></aff>
<pub-date date-type="collection" publication-format="electronic"><season>Jan-Mar</season><year>2020</year></pub-date>
<abstract><title>Resumo</title><sec><title>OBJETIVO</title><p>Ver.</p></sec></abstract><trans-abstract xml:lang="en"
><p>See.</p>
</trans-abstract>|<sec sec-type="intro"><title>Introdução</title><p>O estudo<xref ref-type="bibr" rid="B1"><sup
>1</sup></xref><sup>,
</sup><xref ref-type="bibr" rid="B2"><sup>2</sup></xref> mostra <inline-graphic xlink:href="x"/> isso.</p><p><fn
id="f1"><label>*</label>
<p>Nota.</p></fn></p></sec><sec sec-type="methods|materials"><title>Métodos</title><p>Um <xref ref-type="table"
rid="t1">Quadro 1</xref>.
<ruby><rb>漢</rb><rt>kan</rt></ruby></p></sec>|<ref-list><ref id="B1"><label>1</label><mixed-citation
>1. Silva J. Saúde. Rev. 2001.</mixed-citation>
<element-citation publication-type="journal"><source>Rev</source></element-citation></ref></ref-list>"""

F1000 = """<article-title>A software tool</article-title><fn-group content-type="pub-status"><fn><p
>[version 2; peer review: 2 approved]
</p></fn></fn-group></title-group><contrib-group><contrib contrib-type="author"><name><surname>Dev</surname
><given-names>Al</given-names>
</name></contrib></contrib-group><pub-date pub-type="epub"><day>3</day><month>5</month><year>2017</year></pub-date>
<abstract><p>Tool.</p></abstract>|<p>Text before any section.</p><sec><title>Operation</title><p>Run <monospace
>tool --help</monospace>:
<code language="bash">tool run \\
  --fast</code>then wait.</p><p>See <ext-link ext-link-type="uri" xlink:href="https://x.example/a_b"
>https://x.example/a_b</ext-link>
(<uri>https://y.example</uri>).</p></sec><p>Text between sections.</p><sec><title>Use cases</title><p>
<list list-type="bullet"><list-item><p>One</p></list-item></list></p><p><bold><italic>Run-in heading.</italic></bold
> Follows.</p></sec>
<p>Text after all sections.</p>|<sec><title>Software availability</title><p>Latest source code.</p></sec>"""

COPERNICUS = """<article-title>Rain over <inline-formula><mml:math><mml:msup><mml:mn>10</mml:mn><mml:mn>5</mml:mn
></mml:msup></mml:math>
</inline-formula> km</article-title></title-group><contrib-group><contrib contrib-type="author" corresp="yes"
rid="aff1 aff2"><name>
<surname>Regen</surname><given-names>Ria</given-names></name></contrib><aff id="aff1"><label>1</label><institution
>Weather Service,
Vienna, Austria</institution></aff><aff id="aff2"><label>2</label><institution>Elsewhere</institution></aff
></contrib-group>
<pub-date><day>2</day><month>July</month><year>2016</year></pub-date><abstract><p id="d1e1">It rains.</p></abstract>
|<sec id="Ch1.S1" sec-type="intro"><label>1</label><title>Introduction</title><p id="d1e2">Rain of <inline-formula
><mml:math
display="inline"><mml:mrow><mml:mn>5</mml:mn><mml:mspace width="0.125em"/><mml:mi mathvariant="normal">mm</mml:mi
></mml:mrow></mml:math>
</inline-formula> fell (<xref ref-type="bibr" rid="b1">Regen, 2015</xref>).</p><p><disp-formula id="Ch1.E1"
content-type="numbered"><label>1
</label><mml:math><mml:mrow><mml:mi>R</mml:mi><mml:mo>=</mml:mo><mml:mfrac><mml:mi>V</mml:mi><mml:mi>A</mml:mi
></mml:mfrac></mml:mrow>
</mml:math></disp-formula>
where <inline-formula><mml:math><mml:mi>V</mml:mi></mml:math></inline-formula> is a volume.</p><oasis:table
frame="topbot">
<oasis:tgroup cols="2"><oasis:colspec colnum="1" colname="col1"/><oasis:colspec colnum="2"
colname="col2"/><oasis:thead><oasis:row>
<oasis:entry colname="col1">Place</oasis:entry><oasis:entry colname="col2">Sum</oasis:entry></oasis:row
></oasis:thead><oasis:tbody>
<oasis:row><oasis:entry namest="col1" nameend="col2">Vienna</oasis:entry></oasis:row></oasis:tbody></oasis:tgroup
></oasis:table></sec>
<sec id="Ch1.S2" sec-type="conclusions"><label>2</label><title>Conclusions</title><p>Wet.</p></sec>
|<app-group><app id="App1.Ch1.S1"><label>Appendix A</label><title>Stations</title><p>Two stations.</p></app
></app-group>
<notes notes-type="dataavailability"><title>Data availability</title><p>Open.</p></notes><ack><title
>Acknowledgements</title><p>Thanks.</p></ack>"""

NLM2 = """<article-title>An old article</article-title></title-group><contrib-group><contrib contrib-type="author"
><name>
<surname>Old</surname><given-names>I. M.</given-names></name><xref ref-type="aff" rid="I1">1</xref></contrib
></contrib-group>
<aff id="I1"><label>1</label>Old Place</aff><pub-date pub-type="ppub"><month>6</month><year>2004</year></pub-date>
<copyright-statement>Copyright 2004</copyright-statement><abstract><p>Old.</p></abstract>
|<sec><title>Introduction</title><p>As was known [<xref ref-type="bibr" rid="B1">1</xref>-<xref ref-type="bibr"
rid="B3">3</xref>].</p>
<p>Compounds<chem-struct-wrapper id="c1"><label>Scheme 1</label><caption><p>Of it</p></caption><chem-struct
>C6H6</chem-struct>
</chem-struct-wrapper> were made.</p><list list-type="order"><list-item><p>weigh</p></list-item><list-item><p>mix</p
></list-item></list>
<disp-quote><p>Quoted.</p></disp-quote></sec><sec><title>Case</title><p>A man of 50<sup>+</sup> years.</p><p/></sec>
|<ack><p>To all.</p></ack><gloss-group><def-list><def-item><term>MS</term><def><p>mass spectrometry</p></def
></def-item></def-list>
</gloss-group><ref-list><ref id="B1"><citation citation-type="journal"><person-group person-group-type="author"
><name><surname>Older</surname>
<given-names>A</given-names></name></person-group><article-title>Oldest</article-title><source>J</source><year
>1960</year><volume>1</volume>
<fpage>7</fpage><pub-id pub-id-type="pmid">123</pub-id></citation></ref></ref-list>"""

DOCUMENTS = {
    "Elsevier": (ELSEVIER, "A reaction", "Aro", "Bea C.", FulltextDate(year=2020, month=2, day=5)),
    "Wiley": (WILEY, "Birds of the north", "van der Berg Jr.", "Jo", FulltextDate(year=2019, month=11, day=7)),
    "BMC": (BMC, "A trial of Lactobacillus: the LACTO trial", "Øst", "Åse", FulltextDate(year=2018, month=3, day=1)),
    "Frontiers": (FRONTIERS, "Neurons in mice", "Li", "Na", FulltextDate(year=2022, month=9, day=15)),
    "MDPI": (MDPI, "Sensors: a review", "Roy", "A.", FulltextDate(year=2015, month=12, day=31)),
    "eLife": (ELIFE, "Flies", "Fly", "Ann", FulltextDate(year=2014, month=4, day=9)),
    "SciELO": (SCIELO, "Saúde", "Souza", "João de", FulltextDate(year=2020)),
    "F1000": (F1000, "A software tool", "Dev", "Al", FulltextDate(year=2017, month=5, day=3)),
    "Copernicus": (COPERNICUS, "Rain over 10⁵ km", "Regen", "Ria", FulltextDate(year=2016, month=7, day=2)),
    "NLM 2.0": (NLM2, "An old article", "Old", "I. M.", FulltextDate(year=2004, month=6)),
}


def write_document(name: str) -> bytes:
    meta, body, back = DOCUMENTS[name][0].split("|<", 2)
    return (
        f"<article {NAMESPACES}><front><journal-meta><journal-title>J</journal-title></journal-meta><article-meta>"
        f"<title-group>{meta}</article-meta></front><body><{body}</body><back><{back}</back></article>"
    ).encode()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_word_is_read_and_every_paragraph_is_in_its_place(name: str) -> None:
    content = write_document(name)
    lines = list_lines(parse_jats(content).sections)
    root = ET.fromstring(content)
    back = next(node for node in root if get_local_name(node) == "back")
    unseen = ANOTHER_PLACE | {"alt-text"}
    wanted = [word for part in (*find_bodies(content), back) for word in list_words(read_text(part, unseen))]
    notes = [node for node in root.iter() if get_local_name(node) in ("author-notes", "fn-group")]
    in_front = [word for node in notes if node not in set(back.iter()) for word in list_words(read_text(node))]
    found = list_words("\n".join(lines))

    assert Counter(wanted) - Counter(found) == Counter()
    assert len(found) <= len(wanted) + len(in_front) + 6  # marks of lists, headings of parts without one
    place = 0
    stream = " ".join(found)
    for paragraph in [node for node in root.iter() if get_local_name(node) == "p" and node in _list_paragraphs(root)]:
        words = " ".join(list_words(read_text(paragraph)))
        at = stream.find(words, place)
        assert at >= 0, words
        place = at + len(words)


def _list_paragraphs(root: ET.Element) -> list[ET.Element]:
    """Return the paragraphs of the body that contain only text."""
    simple = {"p", "italic", "bold", "sup", "sub", "xref", "ext-link", "uri", "monospace"}
    found = next(node for node in root if get_local_name(node) == "body")
    return [
        node
        for node in found.iter()
        if get_local_name(node) == "p" and all(get_local_name(inside) in simple for inside in node.iter())
    ]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_front_matter_is_read(name: str) -> None:
    _, title, last_name, given_names, date = DOCUMENTS[name]
    front = parse_jats(write_document(name)).front

    assert front.title == title
    assert (front.authors[0].last_name, front.authors[0].given_names) == (last_name, given_names)
    assert len(front.authors) == (2 if name == "Elsevier" else 1)
    assert front.publication_date == date
    assert front.journal is not None


def test_unusual_parts_of_front_matter_are_read_with_their_meaning() -> None:
    fronts = {name: parse_jats(write_document(name)).front for name in DOCUMENTS}

    assert fronts["Elsevier"].authors[1].collective_name == "the DEEP study group"
    assert fronts["Elsevier"].affiliations == ["Department of Reactions, University of Nowhere, 1000 Nowhere"]
    assert fronts["Elsevier"].abstract == "Short.\n\nHighlights\n• First highlight."
    assert fronts["Wiley"].affiliations == ["Birds, North University, North, Norway"]
    assert fronts["BMC"].affiliations == ["Division, University, Oslo, Norway"]
    assert fronts["BMC"].abstract == "Background: Why.\nTrial registration: NCT00000000."
    assert fronts["Frontiers"].affiliations == ["Brain Institute, Wuhan, China"]
    assert fronts["eLife"].affiliations == ["Dept, Uni, Ghent, Belgium"]
    assert fronts["SciELO"].abstract == "Resumo\nOBJETIVO: Ver."
    assert fronts["Copernicus"].affiliations == ["Weather Service, Vienna, Austria", "Elsewhere"]


def test_references_are_read_in_any_notation() -> None:
    citations = {
        name: [(reference.label, reference.citation) for reference in parse_jats(write_document(name)).references]
        for name in DOCUMENTS
    }

    assert citations["Elsevier"] == [("1", "Curie M. Rays. C R. 1898;1:2-5.")]
    assert citations["Wiley"] == [(None, "Aro, B. (2001). Birds (2nd ed., pp. 1–9). Press.")]
    assert citations["BMC"] == [("1.", "Øst Å. Trial. Gut 2018;1:2–3.")]
    assert citations["SciELO"] == [("1", "1. Silva J. Saúde. Rev. 2001.")]
    assert citations["NLM 2.0"] == [(None, "Older A. Oldest. J. 1960;1:7. PMID:123.")]
