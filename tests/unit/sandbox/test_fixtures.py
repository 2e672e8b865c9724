"""The demo corpus is invented and marked as such, valid, consistent, and has every unusual kind of record.

It is read with ElementTree and not with the kit's parser, so that neither can hide the other's mistakes.
"""

import fnmatch
import re
import subprocess
import sys
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from demo_files import list_demo_files
from lxml import etree
from project_paths import ROOT

from entrez_kit.fixtures import __doc__ as description

FILES: dict[str, Traversable] = {file.name: file for file in list_demo_files()}
ROOTS = {name: ElementTree.fromstring(file.read_bytes()) for name, file in FILES.items()}
RECORDS = [item for root in ROOTS.values() for item in root if item.tag in ("PubmedArticle", "PubmedBookArticle")]
DELETED = [item.text for root in ROOTS.values() for item in root.iterfind("DeleteCitation/PMID")]
OUTSIDE = range(99900000, 100000000)
"""PMIDs of cited works that are not in the corpus, and nowhere else."""
MATH = "{http://www.w3.org/1998/Math/MathML}math"
MONTHS = ("", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MIRRORED = {
    "CommentIn": "CommentOn",
    "CorrectedandRepublishedIn": "CorrectedandRepublishedFrom",
    "ErratumIn": "ErratumFor",
    "ExpressionOfConcernIn": "ExpressionOfConcernFor",
    "RetractionIn": "RetractionOf",
    "UpdateIn": "UpdateOf",
}
"""Both sides of a correction; what one record says, the other says back."""

Check = Callable[[Element], bool]


def _read_text(element: Element | None) -> str:
    return "" if element is None else "".join(element.itertext())


def _read_texts(record: Element, path: str) -> list[str]:
    return [_read_text(element) for element in record.iterfind(path)]


def _read_pmid(record: Element) -> str:
    """Return a record's own PMID: the first in it, before any comment or reference."""
    return _read_text(next(record.iter("PMID")))


def _read_title(record: Element) -> str:
    return _read_text(record.find(".//ArticleTitle"))


def _list_types(record: Element) -> set[str]:
    return set(_read_texts(record, ".//PublicationType"))


def _list_headings(record: Element) -> set[str]:
    return set(_read_texts(record, ".//DescriptorName"))


def _list_authors(record: Element) -> list[Element]:
    return record.findall("MedlineCitation/Article/AuthorList/Author")


def _list_links(record: Element) -> set[tuple[str, str]]:
    """Return kind and PMID of the corrections that name one."""
    links = record.iterfind(".//CommentsCorrections")
    return {(link.get("RefType", ""), _read_text(link.find("PMID"))) for link in links if link.find("PMID") is not None}


def _read_date(record: Element, path: str) -> tuple[int, int, int]:
    year, month, day = (_read_text(record.find(f"{path}/{part}")) for part in ("Year", "Month", "Day"))
    return int(year or 0), MONTHS.index(month) if month in MONTHS else int(month), int(day or 0)


def _has(path: str, pattern: str = "") -> Check:
    """Return a check for an element whose text matches the pattern."""
    return lambda record: any(re.search(pattern, text) for text in _read_texts(record, path))


def _has_all(*checks: Check) -> Check:
    return lambda record: all(check(record) for check in checks)


def _has_no(path: str, pattern: str = "") -> Check:
    return lambda record: not _has(path, pattern)(record)


def _has_many(path: str, at_least: int) -> Check:
    return lambda record: len(record.findall(path)) >= at_least


def _has_one(path: str) -> Check:
    return lambda record: len(record.findall(path)) == 1


def _is(kind: str) -> Check:
    return lambda record: kind in _list_types(record)


def _has_link(kind: str) -> Check:
    return lambda record: any(found == kind for found, _ in _list_links(record))


def _has_misleading(word: str) -> Check:
    """Return a check for a title that mentions retraction in a record without one."""
    return lambda record: (
        word in _read_title(record)
        and not any("Retract" in name for name in _list_types(record))
        and not any("Retract" in kind for kind, _ in _list_links(record))
    )


def _has_majors(descriptor: str, qualifiers: set[str]) -> Check:
    return lambda record: any(
        heading[0].get("MajorTopicYN") == descriptor
        and {qualifier.get("MajorTopicYN") for qualifier in heading[1:]} == qualifiers
        for heading in record.iter("MeshHeading")
    )


ARTICLE = _has("MedlineCitation")
CHAPTER = _has("BookDocument/ArticleTitle", ".")
TEXT = ".//Article/Abstract/AbstractText"
PAGES = ".//Pagination/MedlinePgn"
ISSUE = ".//JournalIssue"
OWN = "PubmedData/ArticleIdList/ArticleId"
CITED = ".//Reference/ArticleIdList/ArticleId"
EPUB = ".//ArticleDate[@DateType='Electronic']"

KINDS: dict[str, Check] = {
    "a book": _has_all(_has("BookDocument/Book"), _has_no("BookDocument/ArticleTitle")),
    "a chapter": CHAPTER,
    "a second version": _has("MedlineCitation[@VersionID='2']/PMID[@Version='2']"),
    "status Publisher": _has("MedlineCitation[@Status='Publisher']"),
    "status In-Process": _has("MedlineCitation[@Status='In-Process']"),
    "status In-Data-Review": _has("MedlineCitation[@Status='In-Data-Review']"),
    "status PubMed-not-MEDLINE": _has("MedlineCitation[@Status='PubMed-not-MEDLINE']"),
    "another owner": _has("MedlineCitation[@Owner='KIE']"),
    "indexed by machine": _has("MedlineCitation[@IndexingMethod='Automated']"),
    # people
    "a group as the only author": _has_all(_has_one(".//Author"), _has(".//Author/CollectiveName")),
    "a group among persons": _has_all(_has(".//Article//Author/CollectiveName"), _has(".//Article//Author/LastName")),
    "a group that points at its investigators": _has(".//CollectiveName[@Investigators]"),
    "investigators": _has(".//InvestigatorList/Investigator/LastName"),
    "two lists of investigators": _has_many(".//InvestigatorList", 2),
    "a suffix": _has(".//Article/AuthorList/Author/Suffix", "^Jr$"),
    "a bare ORCID iD": _has(".//Author/Identifier[@Source='ORCID']", "^0000-"),
    "an ORCID iD with http": _has(".//Author/Identifier[@Source='ORCID']", "^http://orcid.org/0000-"),
    "an ORCID iD with https": _has(".//Author/Identifier[@Source='ORCID']", "^https://orcid.org/0000-"),
    "an author identifier other than ORCID": _has(".//Author/Identifier[@Source='ISNI']"),
    "an identifier of an affiliation": _has(".//AffiliationInfo/Identifier[@Source='GRID']"),
    "several affiliations": lambda r: any(len(author.findall("AffiliationInfo")) > 1 for author in _list_authors(r)),
    "only a last name": lambda r: any({c.tag for c in a} == {"LastName", "AffiliationInfo"} for a in _list_authors(r)),
    "initials for a first name": _has(".//Article/AuthorList/Author/ForeName", "^[A-Z] [A-Z]$"),
    "an author not valid": _has(".//Article/AuthorList/Author[@ValidYN='N']"),
    "equal contribution": _has_many(".//Author[@EqualContrib='Y']", 2),
    "an incomplete author list": _has(".//AuthorList[@CompleteYN='N']"),
    "no authors": _has_all(ARTICLE, _has_no(".//AuthorList")),
    "more than sixty authors": _has_many(".//Article/AuthorList/Author", 61),
    "a person as the subject": _has(".//PersonalNameSubject/LastName"),
    # dates
    "months of one year": _has(f"{ISSUE}/PubDate/MedlineDate", "^2021 Nov-Dec$"),
    "months of two years": _has(f"{ISSUE}/PubDate/MedlineDate", "^1998 Dec-1999 Jan$"),
    "a winter of two years": _has(f"{ISSUE}/PubDate/MedlineDate", "^1990-1991 Winter$"),
    "a season": _has(f"{ISSUE}/PubDate/Season", "^Spring$"),
    "months as a season": _has(f"{ISSUE}/PubDate/Season", "^Jul-Sep$"),
    "a year alone": lambda record: [part.tag for part in record.iterfind(f"{ISSUE}/PubDate/*")] == ["Year"],
    "dates that would mix to 31 September": lambda record: (
        ARTICLE(record)
        and _has(EPUB)(record)
        and _read_date(record, EPUB) == (2005, 8, 31)
        and _read_date(record, f"{ISSUE}/PubDate") == (2005, 9, 0)
    ),
    "printed before it was online": lambda record: (
        _has(EPUB)(record) and _read_date(record, f"{ISSUE}/PubDate")[0] < _read_date(record, EPUB)[0]
    ),
    "an entrez date without a time": _has_all(
        _has("PubmedData//*[@PubStatus='entrez']/Day"), _has_no("PubmedData//*[@PubStatus='entrez']/Hour")
    ),
    "the day of a retraction": _has(".//PubMedPubDate[@PubStatus='retracted']/Day"),
    # titles
    "a title that starts with markup": _has(".//Article/ArticleTitle/i", "^Streptococcus pyogenes$"),
    "a title with nested markup": _has(".//ArticleTitle/i/sup/i"),
    "a translated title": _has_all(_has(".//ArticleTitle", r"^\[.+\]\.$"), _has(".//VernacularTitle")),
    "a title not available": _has(".//ArticleTitle", r"^\[Not Available\]\.$"),
    "'retracted' in a sound title": _has_misleading("retracted"),
    "'retraction' in a sound title": _has_misleading("retraction"),
    # abstracts
    "labelled sections": _has(f"{TEXT}[@Label='METHODS'][@NlmCategory='METHODS']"),
    "labels of a journal's own": _has(f"{TEXT}[@Label='DATA SOURCES'][@NlmCategory='METHODS']"),
    "the label UNLABELLED": _has(f"{TEXT}[@Label='UNLABELLED']"),
    "sections with and without a label": lambda record: len({"Label" in x.attrib for x in record.iterfind(TEXT)}) == 2,
    "markup in an abstract": _has_all(_has(f"{TEXT}//i"), _has(f"{TEXT}//b"), _has(f"{TEXT}//u")),
    "superscript and subscript": _has_all(_has(f"{TEXT}//sup"), _has(f"{TEXT}//sub")),
    "a formula in a sentence": _has(f"{TEXT}/{MATH}"),
    "a displayed formula": _has(f"{TEXT}/DispFormula/{MATH}"),
    "P<0.001": _has(TEXT, r"P<0\.001"),
    "<5 mg": _has(TEXT, "<5 mg"),
    "no abstract": _has_all(ARTICLE, _has_no(".//Abstract"), _has_no(".//OtherAbstract")),
    "an abstract without text": _has(TEXT, "^$"),
    "an abstract in another language only": _has_all(_has_no(".//Abstract"), _has(".//OtherAbstract[@Language='rus']")),
    "an abstract by an indexer": _has_all(_has_no(".//Abstract"), _has(".//OtherAbstract[@Type='KIE']")),
    "a plain-language summary": _has(".//OtherAbstract[@Type='plain-language-summary'][@Language='eng']"),
    "a structured other abstract": _has(".//OtherAbstract/AbstractText[@Label]"),
    "two thousand words": lambda record: len(" ".join(_read_texts(record, TEXT)).split()) > 2000,
    "copyright": _has(".//Article/Abstract/CopyrightInformation"),
    "no copyright": _has_all(_has(TEXT), _has_no(".//Article/Abstract/CopyrightInformation")),
    # place
    "abbreviated pages": _has(PAGES, "^737-8$"),
    "electronic pages": _has(PAGES, "^e12-e19$"),
    "a page with a dot": _has(PAGES, r"^4002\.e26$"),
    "roman pages": _has(PAGES, "^iii-iv$"),
    "pages with a discussion": _has(PAGES, "; discussion "),
    "pages left empty": _has(PAGES, "^$"),
    "an article number": _has_all(ARTICLE, _has(".//ELocationID[@EIdType='pii']"), _has_no(".//Pagination")),
    "volume and issue left empty": _has_all(_has(f"{ISSUE}/Volume", "^$"), _has(f"{ISSUE}/Issue", "^$")),
    "a journal without an ISSN": _has_all(ARTICLE, _has_no(".//Journal/ISSN")),
    "no linking ISSN": _has_all(ARTICLE, _has_no(".//ISSNLinking")),
    # identifiers
    "two electronic locations": _has_many(".//Article/ELocationID[@ValidYN='Y']", 2),
    "an invalid DOI next to the valid one": _has_all(
        _has(".//ELocationID[@EIdType='doi'][@ValidYN='N']"), _has(".//ELocationID[@EIdType='doi'][@ValidYN='Y']")
    ),
    "a PMCID": _has(f"{OWN}[@IdType='pmc']"),
    "a PMCID of a reference only": _has_all(_has_no(f"{OWN}[@IdType='pmc']"), _has(f"{CITED}[@IdType='pmc']")),
    "a DOI of a reference only": _has_all(
        CHAPTER, _has_no("BookDocument/ArticleIdList/ArticleId[@IdType='doi']"), _has(f"{CITED}[@IdType='doi']")
    ),
    "no DOI": _has_all(ARTICLE, _has_no(f"{OWN}[@IdType='doi']"), _has_no(".//ELocationID[@EIdType='doi']")),
    "a manuscript id": _has(f"{OWN}[@IdType='mid']", "^NIHMS99"),
    "a SICI": _has(f"{OWN}[@IdType='sici']"),
    # lists
    "keywords of two owners": lambda r: {x.get("Owner") for x in r.iter("KeywordList")} == {"NLM", "NOTNLM"},
    "a keyword with a comma": _has(".//Keyword", ", "),
    "a keyword with markup": _has(".//Keyword/i"),
    "a single keyword": _has_one(".//Keyword"),
    "a single author": _has_one(".//Article/AuthorList/Author"),
    "a major descriptor with minor qualifiers": _has_majors("Y", {"N"}),
    "a minor descriptor with major qualifiers": _has_majors("N", {"Y"}),
    "a place among the headings": _has(".//DescriptorName[@Type='Geographic']"),
    "a heading set by machine": _has(".//DescriptorName[@AutoHM='Y']"),
    "supplementary headings": _has_many(".//SupplMeshName", 2),
    "chemicals": _has(".//Chemical/RegistryNumber", "^EC "),
    "a grant without a number": lambda record: any(grant.find("GrantID") is None for grant in record.iter("Grant")),
    "an incomplete grant list": _has(".//GrantList[@CompleteYN='N']/Grant"),
    "a trial registration": _has(".//DataBank[DataBankName='ClinicalTrials.gov']//AccessionNumber", "^NCT99"),
    "two data banks": _has_many(".//DataBank", 2),
    "gene symbols": _has(".//GeneSymbol", "^BRCA1$"),
    "another id": _has(".//OtherID[@Source='NASA']"),
    "a space flight": _has(".//SpaceFlightMission"),
    "a general note": _has(".//GeneralNote[@Owner='KIE']"),
    "an object": _has("PubmedData/ObjectList/Object/Param"),
    "a conflict of interest": _has(".//CoiStatement"),
    "two languages": _has_many(".//Article/Language", 2),
    # references and corrections
    "nested references": _has("PubmedData/ReferenceList/ReferenceList/ReferenceList/Reference"),
    "a reference without ids": lambda record: any(x.find("ArticleIdList") is None for x in record.iter("Reference")),
    "a retracted article": _has_all(_is("Retracted Publication"), _has_link("RetractionIn")),
    "a retraction notice": _has_all(_is("Retraction of Publication"), _has_link("RetractionOf")),
    "an article under concern only": lambda record: (
        {kind for kind, _ in _list_links(record)} == {"ExpressionOfConcernIn"}
    ),
    "an expression of concern": _has_all(_is("Expression of Concern"), _has_link("ExpressionOfConcernFor")),
    "an article with an erratum": _has_link("ErratumIn"),
    "an erratum": _has_all(_is("Published Erratum"), _has_link("ErratumFor")),
    "a comment with a reply": _has_all(_is("Comment"), _has_link("CommentOn"), _has_link("CommentIn")),
    "an updated guideline": _has_all(_is("Practice Guideline"), _has_link("UpdateIn")),
    "the update of a guideline": _has_all(_is("Practice Guideline"), _has_link("UpdateOf")),
    "corrected and republished": _has_all(
        _is("Corrected and Republished Article"), _has_link("CorrectedandRepublishedFrom")
    ),
    "a preprint that became an article": _has_all(_is("Preprint"), _has_link("UpdateIn")),
    "a correction without a PMID": lambda r: any(x.find("PMID") is None for x in r.iter("CommentsCorrections")),
    "a correction with a note": _has(".//CommentsCorrections/Note"),
    "a citation of a retracted article": lambda record: (
        not _list_links(record) and _has(f"{CITED}[@IdType='pubmed']", "^99000050$")(record)
    ),
    # characters
    "Greek in a title": _has(".//ArticleTitle", "Δ133p53α"),
    "an emoji in a letter": _has_all(_is("Letter"), _has(TEXT, "\N{DNA DOUBLE HELIX}")),
    "a combining mark": lambda record: any(map(unicodedata.combining, " ".join(_read_texts(record, TEXT)))),
    "a soft hyphen": _has(TEXT, "\N{SOFT HYPHEN}"),
    "a no-break space": _has(TEXT, "\N{NO-BREAK SPACE}"),
    "an en dash": _has(TEXT, "\N{EN DASH}"),
    "a Chinese title": _has_all(_has(".//Language", "^chi$"), _has(".//VernacularTitle", "[\u4e00-\u9fff]")),
    "a Japanese abstract": _has_all(
        _has(".//Language", "^jpn$"), _has(".//OtherAbstract/AbstractText", "[\u3040-\u309f]")
    ),
    "a Russian abstract": _has_all(
        _has(".//Language", "^rus$"), _has(".//OtherAbstract/AbstractText", "[\u0400-\u04ff]")
    ),
    "other languages": _has(".//Language", "^(fre|ger|spa|por)$"),
}


def test_the_corpus_has_a_record_of_every_kind() -> None:
    assert [kind for kind, check in KINDS.items() if not any(check(record) for record in RECORDS)] == []


@pytest.mark.parametrize(
    ("what", "check", "at_least"),
    [
        ("records", lambda _: True, 60),
        ("CRISPR", _has(".", "CRISPR"), 8),
        ("free full text", _has(f"{OWN}[@IdType='pmc']"), 6),
        ("trials", _is("Randomized Controlled Trial"), 5),
        ("reviews", _is("Review"), 4),
        ("mice", lambda record: {"Animals", "Mice"} <= _list_headings(record), 3),
        ("humans", lambda record: "Humans" in _list_headings(record), 20),
        ("chapters", CHAPTER, 2),
        ("titles in another language", _has(".//VernacularTitle"), 7),
        ("cited by others", _has(f"{CITED}[@IdType='pubmed']", "^990000"), 20),
    ],
)
def test_the_corpus_has_enough_records(what: str, check: Check, at_least: int) -> None:
    assert sum(check(record) for record in RECORDS) >= at_least, what


@pytest.mark.parametrize(
    "name",
    [
        *("Case Reports", "Clinical Trial, Phase I", "Comment", "Congress", "Dataset", "Editorial"),
        *("Expression of Concern", "Journal Article", "Letter", "Meta-Analysis", "Practice Guideline", "Preprint"),
        *("Published Erratum", "Randomized Controlled Trial", "Retracted Publication", "Retraction of Publication"),
        *("Review", "Systematic Review", "Video-Audio Media"),
    ],
)
def test_the_corpus_has_the_publication_type(name: str) -> None:
    assert any(name in _list_types(record) for record in RECORDS)


def test_records_entered_pubmed_in_every_year_since_2015() -> None:
    years = {_read_date(record, ".//PubMedPubDate[@PubStatus='entrez']")[0] for record in RECORDS}

    assert set(range(2015, 2027)) <= years
    assert min(years) == 1975


def test_titles_and_abstracts_differ() -> None:
    twice = [title for title, count in Counter(map(_read_title, RECORDS)).items() if count > 1 and title]

    assert twice == ["A scarecrow-shaped reflector reduces bird damage in millet."]  # corrected and republished
    abstracts = [" ".join(_read_texts(record, TEXT)) for record in RECORDS]
    assert max(Counter(filter(None, abstracts)).values()) == 1


def test_pmids_are_unique_and_in_the_range_of_the_demo() -> None:
    pmids = [int(_read_pmid(record)) for record in RECORDS]

    assert sorted(pmids) == list(range(99000001, 99000001 + len(pmids)))
    assert DELETED == ["99000991", "99000992"]


def test_every_record_states_that_it_is_invented() -> None:
    said = ("Abstract", "OtherAbstract", "GeneralNote")
    for record in RECORDS:
        names = _read_texts(record, ".//Journal/Title") + _read_texts(record, ".//BookTitle")
        words = " ".join(_read_text(part) for part in record.iter() if part.tag in said)

        assert len(names) == 1, _read_pmid(record)
        assert names[0].endswith(" (demo)"), _read_pmid(record)
        assert "invented" in words.lower(), _read_pmid(record)
        for short in (".//ISOAbbreviation", ".//MedlineTA"):
            assert all(name.endswith(" (Demo)") for name in _read_texts(record, short)), _read_pmid(record)


def test_every_doi_has_the_prefix_for_tests() -> None:
    dois = [
        _read_text(element)
        for record in RECORDS
        for path in (".//ArticleId[@IdType='doi']", ".//ELocationID[@EIdType='doi']")
        for element in record.iterfind(path)
    ]

    assert len(dois) > 100
    assert not [doi for doi in dois if not doi.startswith("10.5555/")]
    everything = b"".join(file.read_bytes() for file in FILES.values())
    assert set(re.findall(rb"\b10\.[0-9]{4,}(?=/)", everything)) == {b"10.5555"}


def test_a_record_has_one_doi_in_all_places() -> None:
    for record in RECORDS:
        own = _read_texts(record, f"{OWN}[@IdType='doi']")
        located = _read_texts(record, ".//Article/ELocationID[@EIdType='doi'][@ValidYN='Y']")

        assert len(own) <= 1, _read_pmid(record)
        assert set(located) <= set(own), _read_pmid(record)


def test_own_ids_belong_to_one_record_and_to_the_demo() -> None:
    for kind, pattern in {"pmc": "PMC990[0-9]{5}", "doi": "10.5555/ekit.+", "mid": "(NIHMS|EMS)99[0-9]{6}"}.items():
        ids = [own for record in RECORDS for own in _read_texts(record, f"{OWN}[@IdType='{kind}']")]

        assert len(ids) == len(set(ids))
        assert all(re.fullmatch(pattern, own) for own in ids)
    for record in RECORDS:
        listed = _read_texts(record, f"{OWN}[@IdType='pubmed']") or _read_texts(
            record, "PubmedBookData/ArticleIdList/ArticleId"
        )
        assert listed == [_read_pmid(record)]


def test_trial_numbers_and_addresses_do_not_exist() -> None:
    everything = "".join(file.read_text(encoding="utf-8") for file in FILES.values())

    assert set(re.findall(r"NCT[0-9]{2}", everything)) == {"NCT99"}
    assert set(re.findall(r"@([a-z.]+[a-z])", everything)) == {"example.org"}


def test_references_to_the_corpus_exist() -> None:
    known = {_read_pmid(record): record for record in RECORDS}
    resolved = 0
    for record in RECORDS:
        for reference in record.iter("Reference"):
            ids = {item.get("IdType"): _read_text(item) for item in reference.iterfind("ArticleIdList/ArticleId")}
            if "pubmed" not in ids or int(ids["pubmed"]) in OUTSIDE:
                assert not set(ids.values()) & {text for other in RECORDS for text in _read_texts(other, OWN)}
                continue
            cited = known[ids["pubmed"]]
            assert ids["pubmed"] != _read_pmid(record)
            for kind in ("doi", "pmc"):
                assert _read_texts(cited, f"{OWN}[@IdType='{kind}']") == ([ids[kind]] if kind in ids else [])
            resolved += 1
    assert resolved > 50


def test_corrections_are_in_both_records() -> None:
    links = {(_read_pmid(record), kind, other) for record in RECORDS for kind, other in _list_links(record)}
    back = MIRRORED | {kind: mirror for mirror, kind in MIRRORED.items()}

    assert {kind for _, kind, _ in links} == set(back)
    assert {(other, back[kind], pmid) for pmid, kind, other in links} == links


def _is_issn(text: str) -> bool:
    digits = [10 if x == "X" else int(x) for x in text.replace("-", "")]
    return len(digits) == 8 and sum(digit * (8 - place) for place, digit in enumerate(digits)) % 11 == 0


def _is_isbn(text: str) -> bool:
    digits = [10 if x == "X" else int(x) for x in text]
    if len(digits) == 10:
        return sum(digit * (10 - place) for place, digit in enumerate(digits)) % 11 == 0
    return len(digits) == 13 and sum(digit * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10 == 0


def _is_orcid(text: str) -> bool:
    body, check = re.sub(r"^.*/|-", "", text)[:-1], text[-1]
    total = 0
    for digit in body:
        total = (total + int(digit)) * 2
    return len(body) == 15 and check == "0123456789X"[(12 - total % 11) % 11]


@pytest.mark.parametrize(
    ("path", "right", "wrong"),
    [
        (".//Journal/ISSN", _is_issn, "9990-0211"),
        (".//ISSNLinking", _is_issn, "0000-0001"),
        (".//Isbn", _is_isbn, "9799999000017"),
        (".//Identifier[@Source='ORCID']", _is_orcid, "0000-0000-9900-0116"),
    ],
)
def test_check_digits_are_correct(path: str, right: Callable[[str], bool], wrong: str) -> None:
    numbers = {number for record in RECORDS for number in _read_texts(record, path)}

    assert numbers
    assert not [number for number in numbers if not right(number)]
    assert right(wrong) is (wrong in numbers)


def test_a_journal_is_always_described_in_the_same_way() -> None:
    seen: dict[str, set[tuple[str, ...]]] = {}
    for record in RECORDS:
        for title in _read_texts(record, ".//Journal/Title"):
            paths = (".//ISOAbbreviation", ".//MedlineTA", ".//MedlineJournalInfo/Country", ".//NlmUniqueID")
            seen.setdefault(title, set()).add(tuple(_read_text(record.find(path)) for path in paths))

    assert len(seen) > 15
    assert not {title for title, descriptions in seen.items() if len(descriptions) > 1}


def test_a_term_always_has_the_same_number() -> None:
    for path in (".//DescriptorName", ".//QualifierName", ".//PublicationType", ".//NameOfSubstance"):
        pairs = {(_read_text(x), x.get("UI", "")) for record in RECORDS for x in record.iterfind(path)}

        assert len({name for name, _ in pairs}) == len(pairs) == len({number for _, number in pairs})
        assert all(re.fullmatch(r"[DQC][0-9]{6}([0-9]{3})?", number) for _, number in pairs)


@pytest.mark.parametrize("name", FILES)
def test_files_follow_nlms_dtd(name: str) -> None:
    location = find_spec("Bio.Entrez")
    assert location is not None
    assert location.origin is not None
    dtds = sorted((Path(location.origin).parent / "DTDs").glob("pubmed_2?0101.dtd"))
    if not dtds:
        pytest.skip("this Biopython ships no DTD of PubMed")
    dtd = etree.DTD(str(dtds[-1]))  # by name, so that it finds the part about formulas next to it
    root = etree.fromstring(FILES[name].read_bytes(), etree.XMLParser(load_dtd=False, no_network=True))

    assert dtd.validate(root), str(dtd.error_log)


@pytest.mark.parametrize("name", FILES)
def test_files_begin_like_ncbis_and_have_every_kind_of_character(name: str) -> None:
    text = FILES[name].read_text(encoding="utf-8")

    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD ')
    assert "\n<!-- Invented articles of the entrez-kit demo corpus." in text
    assert text.endswith("</PubmedArticleSet>\n")
    hidden = {x for x in text if unicodedata.category(x) in {"Cf", "Cc", "Mn", "Zl", "Zp"} or x.isspace()} - {" ", "\n"}
    assert not hidden


def test_a_processing_instruction_is_between_ids_and_references() -> None:
    assert b"<?nihms ?>" in FILES["genome_editing.xml"].read_bytes()


def test_the_update_file_has_no_white_space_between_elements() -> None:
    root = ROOTS["deleted.xml"]

    assert [item.tag for item in root] == ["PubmedArticle", "DeleteCitation"]
    assert not [item for item in root.iter() if (item.tail or "").isspace() and item.tail != "\n"]


def _list_installed() -> Iterator[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    yield from project["tool"]["setuptools"]["package-data"]["entrez_kit.fixtures"]


def test_every_fixture_is_installed_and_described() -> None:
    files = [path for path in (ROOT / "fixtures" / "pubmed").rglob("*") if path.is_file()]
    names = [path.relative_to(ROOT / "fixtures").as_posix() for path in files]

    assert {f"pubmed/{name}" for name in FILES} == set(names)
    assert not [name for name in names if not any(fnmatch.fnmatch(name, pattern) for pattern in _list_installed())]
    assert set(re.findall(r"^(\w+\.xml) ", description or "", re.MULTILINE)) == set(FILES)


def test_the_corpus_stays_small() -> None:
    assert sum(len(file.read_bytes()) for file in FILES.values()) < 500_000


@pytest.mark.process
def test_fixtures_import_no_code_of_the_kit() -> None:
    code = "import sys, entrez_kit.fixtures; print([m for m in sys.modules if m.startswith('entrez_kit.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")

    assert set(re.findall(r"entrez_kit\.\w+", done.stdout)) == {"entrez_kit.base", "entrez_kit.fixtures"}
