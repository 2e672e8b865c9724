"""Parts of PubMed records that other tools lose or misread, each in one invented record."""

from typing import Any

import pytest

from entrez_kit.base.errors import UpstreamError
from entrez_kit.pubmed.encoded_markup import convert_to_plain_text
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.summaries import parse_summaries
from entrez_kit.pubmed.xml.records import Record, iter_records
from entrez_kit.services.esummary_reply import parse_esummary


def _write_document(
    article: str = "<ArticleTitle>Invented</ArticleTitle>",
    *,
    citation: str = "",
    data: str = '<ArticleIdList><ArticleId IdType="pubmed">99000001</ArticleId></ArticleIdList>',
    journal: str = "<Journal><JournalIssue><PubDate><Year>2024</Year></PubDate></JournalIssue></Journal>",
) -> bytes:
    return (
        '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
        '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n<PubmedArticleSet><PubmedArticle>'
        f'<MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">99000001</PMID>'
        f"<Article>{journal}{article}</Article>{citation}</MedlineCitation>"
        f"<PubmedData>{data}</PubmedData></PubmedArticle></PubmedArticleSet>"
    ).encode()


def _write_article(*arguments: str, **parts: str) -> Article:
    (record,) = list(iter_records(_write_document(*arguments, **parts)))
    return record.article()


def test_unknown_tags_and_an_unreachable_dtd_have_no_effect() -> None:
    article = _write_article("<BrandNew><Deep/></BrandNew><ArticleTitle>Kept</ArticleTitle><Other2030/>")

    assert article.title == "Kept"


def test_titles_and_abstracts_are_never_cut_at_markup() -> None:
    article = _write_article(
        "<ArticleTitle><i>Mus <sup>x</sup></i> in H<sub>2</sub>O: <b>all</b> of it</ArticleTitle>"
        "<Abstract><AbstractText>First <i>Homo</i> then "
        '<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:mi>x</mml:mi><mml:mo>=</mml:mo><mml:mn>3</mml:mn>'
        "</mml:math> and the end.</AbstractText></Abstract>"
    )

    assert article.title == "Mus ˣ in H₂O: all of it"
    assert article.abstract_text is not None
    assert article.abstract_text.startswith("First Homo then")
    assert article.abstract_text.endswith("and the end.")
    assert "3" in article.abstract_text


def test_comparison_signs_are_unchanged() -> None:
    article = _write_article(
        "<ArticleTitle>P&lt;0.001 and n&gt;5</ArticleTitle>"
        "<Abstract><AbstractText>P&lt;0.001; a &lt;b&gt; c; 5 &amp;lt; 6</AbstractText></Abstract>"
    )

    assert article.title == "P<0.001 and n>5"
    assert article.abstract_text == "P<0.001; a <b> c; 5 &lt; 6"
    assert convert_to_plain_text("Effect &lt;i&gt;in vivo&lt;/i&gt; (P&lt;0.001)") == "Effect in vivo (P<0.001)"


def test_every_section_of_a_structured_abstract_has_its_label() -> None:
    article = _write_article(
        '<ArticleTitle>T</ArticleTitle><Abstract><AbstractText Label="AIMS" NlmCategory="OBJECTIVE">One.</AbstractText>'
        '<AbstractText>Two.</AbstractText><AbstractText Label="RESULTS" NlmCategory="RESULTS">Three.</AbstractText>'
        "</Abstract>",
        citation='<OtherAbstract Type="Publisher" Language="fre"><AbstractText>Une.</AbstractText></OtherAbstract>',
    )

    assert [(part.label, part.nlm_category, part.text) for part in article.abstract_sections] == [
        ("AIMS", "OBJECTIVE", "One."),
        (None, None, "Two."),
        ("RESULTS", "RESULTS", "Three."),
    ]
    assert article.abstract_text is not None
    assert all(word in article.abstract_text for word in ("AIMS", "One.", "Two.", "RESULTS", "Three."))
    assert [(other.language, other.text) for other in article.other_abstracts] == [("fre", "Une.")]


def test_groups_are_authors() -> None:
    article = _write_article(
        '<ArticleTitle>T</ArticleTitle><AuthorList CompleteYN="N"><Author ValidYN="Y"><LastName>Doe</LastName>'
        "<ForeName>Jane</ForeName><Initials>J</Initials><Suffix>Jr</Suffix></Author>"
        '<Author ValidYN="Y"><CollectiveName>The Invented Group</CollectiveName></Author>'
        "<Author><LastName>Mononym</LastName></Author></AuthorList>"
    )

    assert [(author.last_name, author.suffix, author.collective_name) for author in article.authors] == [
        ("Doe", "Jr", None),
        (None, None, "The Invented Group"),
        ("Mononym", None, None),
    ]


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("<Year>2021</Year>", {"year": 2021, "precision": "year"}),
        ("<Year>2021</Year><Month>Mar</Month>", {"year": 2021, "month": 3, "precision": "month"}),
        ("<Year>2021</Year><Month>03</Month><Day>09</Day>", {"year": 2021, "month": 3, "day": 9, "precision": "day"}),
        ("<Year>2021</Year><Season>Spring</Season>", {"year": 2021, "precision": "season"}),
        ("<MedlineDate>2021 Nov-Dec</MedlineDate>", {"year": 2021, "precision": "range"}),
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", {"year": 1998, "precision": "range"}),
    ],
)
def test_dates_have_the_precision_of_the_record_and_are_never_mixed(date: str, expected: dict[str, Any]) -> None:
    article = _write_article(
        '<ArticleTitle>T</ArticleTitle><ArticleDate DateType="Electronic"><Year>2020</Year><Month>12</Month>'
        "<Day>31</Day></ArticleDate>",
        journal=f"<Journal><JournalIssue><PubDate>{date}</PubDate></JournalIssue></Journal>",
    )
    assert article.journal_info is not None
    published = article.journal_info.publication_date
    assert published is not None

    found = published.model_dump()
    assert {name: found.get(name) for name in expected} == expected
    assert ("day" in found) == ("day" in expected)
    assert (article.article_dates[0].year, article.article_dates[0].day) == (2020, 31)


def test_books_and_chapters_are_records() -> None:
    book = (
        "<PubmedBookArticle><BookDocument><PMID>{}</PMID><Book><BookTitle>Invented Book</BookTitle>"
        "<AuthorList Type='authors'><Author><LastName>Doe</LastName></Author></AuthorList></Book>{}</BookDocument>"
        "<PubmedBookData><ArticleIdList><ArticleId IdType='pubmed'>1</ArticleId></ArticleIdList></PubmedBookData>"
        "</PubmedBookArticle>"
    )
    chapter = "<LocationLabel Type='chapter'>3</LocationLabel><ArticleTitle>A Chapter</ArticleTitle>"
    content = f"<PubmedArticleSet>{book.format(11, '')}{book.format(12, chapter)}</PubmedArticleSet>".encode()

    found = [record.article() for record in iter_records(content)]

    assert [(item.pmid, item.record_type, item.title) for item in found] == [
        ("11", "book", "Invented Book"),
        ("12", "chapter", "A Chapter"),
    ]


def test_all_affiliations_orcids_and_investigators_belong_to_their_person() -> None:
    article = _write_article(
        '<ArticleTitle>T</ArticleTitle><AuthorList><Author EqualContrib="Y"><LastName>Doe</LastName>'
        '<Identifier Source="ORCID">http://orcid.org/0000-0000-9900-0115</Identifier>'
        "<AffiliationInfo><Affiliation>One.</Affiliation></AffiliationInfo>"
        "<AffiliationInfo><Affiliation>Two.</Affiliation></AffiliationInfo></Author>"
        "<Author><LastName>Roe</LastName></Author></AuthorList>",
        citation="<InvestigatorList><Investigator><LastName>Poe</LastName></Investigator></InvestigatorList>",
    )

    assert article.authors[0].affiliations == ["One.", "Two."]
    assert article.authors[0].orcid == "0000-0000-9900-0115"
    assert article.authors[1].affiliations == []
    assert [person.last_name for person in article.investigators] == ["Poe"]


def test_ids_of_cited_references_are_never_those_of_the_article() -> None:
    article = _write_article(
        data='<ArticleIdList><ArticleId IdType="pubmed">99000001</ArticleId></ArticleIdList><ReferenceList><Reference>'
        '<Citation>c</Citation><ArticleIdList><ArticleId IdType="doi">10.5555/cited</ArticleId>'
        '<ArticleId IdType="pmc">PMC7</ArticleId><ArticleId IdType="pubmed">7</ArticleId></ArticleIdList>'
        "</Reference></ReferenceList>"
    )

    assert article.doi is None
    assert article.pmcid is None
    assert article.article_ids == {"pubmed": "99000001"}


def test_a_pmcid_has_one_prefix_for_any_input() -> None:
    article = _write_article(data='<ArticleIdList><ArticleId IdType="pmc">123</ArticleId></ArticleIdList>')

    assert article.pmcid == "PMC123"


def test_mesh_headings_with_commas_are_not_split() -> None:
    article = _write_article(
        citation='<MeshHeadingList><MeshHeading><DescriptorName UI="D030562" MajorTopicYN="N">Databases, Protein'
        '</DescriptorName><QualifierName UI="Q000639" MajorTopicYN="Y">trends</QualifierName></MeshHeading>'
        "</MeshHeadingList>"
    )

    (term,) = article.mesh_terms
    assert (term.descriptor_name, term.ui, term.is_major_topic) == ("Databases, Protein", "D030562", False)
    assert [(part.name, part.is_major_topic) for part in term.qualifiers] == [("trends", True)]


RETRACTED_IN = (
    '<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><RefSource>J Inv. 2025</RefSource>'
    '<PMID Version="1">99000002</PMID></CommentsCorrections></CommentsCorrectionsList>'
)


@pytest.mark.parametrize(
    ("article", "citation", "status"),
    [
        ("", "", "none"),
        ("<PublicationTypeList><PublicationType>Retracted Publication</PublicationType></PublicationTypeList>", "",
         "retracted"),
        ("", RETRACTED_IN, "retracted"),
        ("", RETRACTED_IN.replace("RetractionIn", "ErratumIn"), "none"),
        ("", RETRACTED_IN.replace("RetractionIn", "ExpressionOfConcernIn"), "expression_of_concern"),
        ("", RETRACTED_IN.replace("RetractionIn", "RetractionOf"), "retraction_notice"),
        ("<PublicationTypeList><PublicationType>Retraction of Publication</PublicationType></PublicationTypeList>", "",
         "retraction_notice"),
        ('<PublicationTypeList><PublicationType UI="D016440">Retraction Notice</PublicationType></PublicationTypeList>',
         "", "retraction_notice"),
    ],
)  # fmt: skip
def test_retraction_is_read_from_the_record_and_never_from_the_title(article: str, citation: str, status: str) -> None:
    title = "<ArticleTitle>Retracted: a sound study of retraction</ArticleTitle>"

    assert _write_article(title + article, citation=citation).retraction_status == status


def test_deletions_are_distinguished_from_articles() -> None:
    content = (
        b"<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version='2'>5</PMID><Article><ArticleTitle>T"
        b"</ArticleTitle></Article></MedlineCitation></PubmedArticle><DeleteCitation><PMID Version='1'>6</PMID>"
        b"<PMID Version='1'>7</PMID></DeleteCitation></PubmedArticleSet>"
    )

    found = [(record.kind, record.pmid, record.version) for record in iter_records(content)]

    assert found == [("article", "5", "2"), ("deleted", "6", "1"), ("deleted", "7", "1")]


def test_the_journal_has_every_number_used_for_joins() -> None:
    article = _write_article(
        journal='<Journal><ISSN IssnType="Electronic">1234-5679</ISSN><JournalIssue><Volume>1</Volume></JournalIssue>'
        "<Title>J</Title><ISOAbbreviation>J.</ISOAbbreviation></Journal>",
        citation="<MedlineJournalInfo><NlmUniqueID>9900001</NlmUniqueID><ISSNLinking>8765-4321</ISSNLinking>"
        "</MedlineJournalInfo>",
    )
    journal = article.journal_info

    assert journal is not None
    assert (journal.issn, journal.eissn, journal.issn_linking) == (None, "1234-5679", "8765-4321")
    assert (journal.nlm_id, journal.iso_abbreviation) == ("9900001", "J.")


@pytest.mark.parametrize("cut", [1, 20, 60, 200])
def test_an_incomplete_document_is_an_error_after_its_complete_records(cut: int) -> None:
    whole = _write_document()
    two = whole.replace(b"</PubmedArticleSet>", b"") + whole[whole.index(b"<PubmedArticle>") :]
    found: list[Record] = []

    with pytest.raises(UpstreamError) as caught:
        found.extend(iter_records(two[:-cut]))

    assert caught.value.reason == "invalid_response"
    assert len(found) >= 1


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_chunks_of_any_size_give_the_same_records(size: int) -> None:
    content = _write_document("<ArticleTitle>Überall – ΔF508 &amp; 東京</ArticleTitle>")
    chunks = [content[start : start + size] for start in range(0, len(content), size)]

    assert [record.article() for record in iter_records(chunks)] == [r.article() for r in iter_records(content)]


def test_an_entity_bomb_and_external_entities_are_refused_or_omitted() -> None:
    bomb = (
        b'<?xml version="1.0"?><!DOCTYPE PubmedArticleSet [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">'
        b'<!ENTITY x SYSTEM "file:///etc/hostname">]><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID>'
        b"<Article><ArticleTitle>T &x; &b;</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
        b"</PubmedArticleSet>"
    )
    try:
        titles = [record.article().title for record in iter_records(bomb)]
    except UpstreamError:
        return
    with open("/etc/hostname", encoding="utf-8") as file:  # noqa: PTH123
        secret = file.read().strip()
    assert all(secret not in title for title in titles)


def test_summaries_of_unknown_uids_are_distinguished() -> None:
    content = (
        b'{"header":{},"result":{"uids":["5","6"],"5":{"uid":"5","title":"T","pubdate":"2024 Mar 15","source":"J Inv",'
        b'"volume":"12","issue":"3","pages":"201-12","authors":[{"name":"Doe J"},{"name":"Roe R"}],"articleids":['
        b'{"idtype":"doi","value":"10.5555/x"},{"idtype":"pmc","value":"PMC9"}],"pubtype":["Retracted Publication"]},'
        b'"6":{"uid":"6","error":"cannot get document summary"}}}'
    )

    (summary,), missing = parse_summaries(parse_esummary(content))

    assert missing == ["6"]
    assert summary.model_dump() == {
        "pmid": "5",
        "title": "T",
        "authors": "Doe J, Roe R",
        "source": "J Inv. 2024 Mar 15;12(3):201-12",
        "pub_date": "2024-03-15",
        "doi": "10.5555/x",
        "pmcid": "PMC9",
        "retraction_status": "retracted",
        "standing": {"status": "retracted"},
        "publication_types": ["Retracted Publication"],
    }


def test_chemicals_major_keywords_equal_authors_and_the_medline_abbreviation_are_read() -> None:
    article = _write_article(
        "<ArticleTitle>T</ArticleTitle><AuthorList>"
        '<Author ValidYN="Y" EqualContrib="Y"><LastName>Doe</LastName></Author>'
        '<Author ValidYN="Y" EqualContrib="Y"><LastName>Roe</LastName></Author>'
        '<Author ValidYN="Y"><LastName>Poe</LastName></Author></AuthorList>',
        journal="<Journal><Title>Clinical science</Title><ISOAbbreviation>Clin. Sci.</ISOAbbreviation></Journal>",
        citation="<MedlineJournalInfo><MedlineTA>Clin Sci (Lond)</MedlineTA></MedlineJournalInfo>"
        "<ChemicalList><Chemical><RegistryNumber>0</RegistryNumber>"
        '<NameOfSubstance UI="D000076987">CRISPR-Associated Protein 9</NameOfSubstance></Chemical>'
        "<Chemical><RegistryNumber>EC 3.5.4.5</RegistryNumber>"
        '<NameOfSubstance UI="D003564">Cytidine Deaminase</NameOfSubstance></Chemical></ChemicalList>'
        '<KeywordList><Keyword MajorTopicYN="Y">one</Keyword><Keyword MajorTopicYN="N">two</Keyword></KeywordList>',
    )

    assert [(chemical.name, chemical.ui, chemical.registry_number) for chemical in article.chemicals] == [
        ("CRISPR-Associated Protein 9", "D000076987", None),
        ("Cytidine Deaminase", "D003564", "EC 3.5.4.5"),
    ]
    assert (article.keywords, article.major_keywords) == (["one", "two"], ["one"])
    assert [author.equal_contribution for author in article.authors] == [True, True, None]
    assert article.journal_info is not None
    assert article.journal_info.medline_abbreviation == "Clin Sci (Lond)"


def test_a_repeated_abbreviation_is_listed_once() -> None:
    article = _write_article(
        journal="<Journal><ISOAbbreviation>J Things</ISOAbbreviation></Journal>",
        citation="<MedlineJournalInfo><MedlineTA>J Things</MedlineTA></MedlineJournalInfo>",
    )

    assert article.journal_info is not None
    assert (article.journal_info.iso_abbreviation, article.journal_info.medline_abbreviation) == ("J Things", None)


def test_italics_of_a_title_are_used_in_styles_and_not_in_the_document() -> None:
    article = _write_article("<ArticleTitle>Growth of <i>Novum exemplum</i> in <i>vitro</i></ArticleTitle>")

    assert article.italics == ("Novum exemplum", "vitro")
    assert "italics" not in str(article.model_dump())
