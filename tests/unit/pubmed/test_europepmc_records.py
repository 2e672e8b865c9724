"""Europe PMC's records in PubMed's form: no text of the recordings is lost, and unusual values cause no error."""

import json
import re
import unicodedata
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from superscript_policy import find_badly_written, list_scripts, mark_html_scripts

from entrez_kit.base.errors import UpstreamError
from entrez_kit.pubmed.europepmc.europepmc_authors import split_names
from entrez_kit.pubmed.europepmc.europepmc_models import EuropePMCArticle
from entrez_kit.pubmed.europepmc.europepmc_pages import parse_page
from entrez_kit.pubmed.europepmc.europepmc_records import parse_record, to_reftype
from entrez_kit.pubmed.models import Article

LEFT_OUT = {
    "authorIdList",  # each is next to its author
    "journalIssueId",
    "monthOfPublication",  # in dateOfPublication
    "printPublicationDate",  # a month with a made-up day
    "orderIn",
    "abbreviation",  # of a subheading, next to its name
    "availabilityCode",
    "code",
    "registrant",
}
"""Values that repeat other values of the record."""


def make_record(**fields: Any) -> EuropePMCArticle:
    found = parse_record({"id": "1", "source": "MED", **fields})
    assert found is not None
    return found


def make_page(*records: dict[str, Any], **fields: Any) -> bytes:
    return json.dumps({"hitCount": len(records), "resultList": {"result": records}, **fields}).encode()


# Recordings, read a second time by other code


class TextParser(HTMLParser):
    """Collects the text of HTML with Python's own parser; spaces replace tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)


def to_letters(text: str) -> str:
    """Return the letters and digits of a text in any markup and encoding."""
    for _ in range(2):
        text = unescape(text) if "&" in text else text
    parser = TextParser()
    parser.feed(text)
    parser.close()
    words = unicodedata.normalize("NFKC", "".join(parser.pieces)).replace("\u00ad", "")
    return re.sub(r"[\W_]+", "", words).casefold()


def list_leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in LEFT_OUT:
                yield from list_leaves(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from list_leaves(inner, path)
    else:
        yield path, str(value)


def list_words(article: EuropePMCArticle) -> str:
    """Return the letters of all values of an article, one text per value."""
    return "\n".join(to_letters(text) for _, text in list_leaves(article.model_dump(mode="json")))


def to_day(value: str) -> tuple[int, ...]:
    return tuple(int(part) for part in value.split("-"))


def check_nothing_lost(raw: dict[str, Any], article: EuropePMCArticle) -> None:
    held = list_words(article)
    flags = {"majorTopic_YN", "type"}
    for path, value in list_leaves(raw):
        name = path.rsplit(".", 1)[-1]
        if value in ("Y", "N") or name in flags or name == "source":
            continue
        if name.endswith(("Date", "dateOfCreation", "dateOfRevision", "dateOfCompletion")) or name.startswith(
            "dateOfC"
        ):
            dates = [article.first_publication_date, article.date_revised]
            dates += [f"{step.year:04}-{step.month:02}-{step.day:02}" for step in article.history]
            dates += [f"{step.year:04}-{step.month:02}-{step.day:02}" for step in article.article_dates]
            assert value in dates, (path, value)
        elif name == "dateOfPublication":
            assert article.journal_info is not None
            assert article.journal_info.publication_date is not None
            assert str(article.journal_info.publication_date.year) in value
        elif name in ("citedByCount", "versionNumber"):
            assert value in (str(article.cited_by_count), article.version), path
        elif name == "authorString":
            names = "".join(
                f"{author.last_name or ''}{author.initials or ''}{author.suffix or ''}{author.collective_name or ''}"
                for author in article.authors
            )
            assert to_letters(names) == to_letters(value), value
        elif name == "fullName":
            assert any(
                to_letters(f"{a.last_name}{a.initials or ''}{a.suffix or ''}") == to_letters(value)
                for a in article.authors
            )
        elif name == "abstractText":
            labels = "".join(f"{part.label or ''}{part.text}" for part in article.abstract_sections)
            assert to_letters(labels) == to_letters(value)
            assert list_scripts(article.abstract_text or "") == list_scripts(mark_html_scripts(value))
            assert find_badly_written(article.abstract_text or "") == []
            assert [to_letters(label) for label in re.findall(r"<h4>(.*?)</h4>", value)] == [
                to_letters(part.label) for part in article.abstract_sections if part.label
            ]
        elif name in ("journalIssn", "pubType", "pubTypeList"):
            for part in re.split(r"[;\s]+", value):
                assert to_letters(part) in held, (path, value)
        else:
            assert to_letters(value) in held.split("\n") or to_letters(value) in held, (path, value)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "pyEuropePMC__search_cancer_core.json",
        "pyEuropePMC__search_cancer.json",
        "pyEuropePMC__search_1000results_cancer.json",
        "pyEuropePMC__search_cancer_idlist.json",
        "pyEuropePMC__search_cancer_page2.json",
        "biomcp__20614e48e1a47c8776601207a94922f3a2268a834d36ad4e6c33422c03d0bf46.json",
        "biomcp__87a89806f519ffaea179c329dbdc6b0b2ab372800badfa84d2a96cfec9858f3f.json",
        "biomcp__search_pmid_20516115.json",
    ],
)
def test_every_value_of_a_recording_is_read(real_data: Path, name: str) -> None:
    content = (real_data / "europepmc" / name).read_bytes()
    document = json.loads(content)
    page = parse_page(content, "*")

    assert page.total_found == document["hitCount"]
    assert page.next_cursor == document.get("nextCursorMark")
    assert page.skipped == 0
    raws = document["resultList"]["result"]
    assert [(article.source, article.epmc_id) for article in page.articles] == [
        (raw["source"], raw["id"]) for raw in raws
    ]
    for raw, article in zip(raws, page.articles, strict=True):
        check_nothing_lost(raw, article)
        assert article.pmid == raw.get("pmid")
        assert article.pmcid == raw.get("pmcid")
        assert article.doi == raw.get("doi")
        assert list_scripts(article.title) == list_scripts(mark_html_scripts(raw.get("title", "")))
        assert "<" not in re.sub(r"<[\s.0-9=\u2009]", "", article.title + (article.abstract_text or ""))


def test_the_structure_of_a_recorded_core_record_is_read(real_data: Path) -> None:
    content = (real_data / "europepmc" / "pyEuropePMC__search_cancer_core.json").read_bytes()
    raws = json.loads(content)["resultList"]["result"]
    for raw, article in zip(raws, parse_page(content, "*").articles, strict=True):
        people = raw.get("authorList", {}).get("author", [])
        assert [author.last_name for author in article.authors] == [person.get("lastName") for person in people]
        assert [author.orcid for author in article.authors] == [
            person.get("authorId", {}).get("value") for person in people
        ]
        for author, person in zip(article.authors, people, strict=True):
            listed = person.get("authorAffiliationDetailsList", {}).get("authorAffiliation", [])
            assert author.affiliations == list(dict.fromkeys(place["affiliation"].strip() for place in listed))
        headings = raw.get("meshHeadingList", {}).get("meshHeading", [])
        assert [(term.descriptor_name, term.is_major_topic) for term in article.mesh_terms] == [
            (heading["descriptorName"], heading["majorTopic_YN"] == "Y") for heading in headings
        ]
        assert [len(term.qualifiers) for term in article.mesh_terms] == [
            len(heading.get("meshQualifierList", {}).get("meshQualifier", [])) for heading in headings
        ]
        assert article.is_open_access is (raw["isOpenAccess"] == "Y")
        assert ("pdf" in article.features) is (raw["hasPDF"] == "Y")
        assert [link.url for link in article.full_text_links] == [
            link["url"] for link in raw.get("fullTextUrlList", {}).get("fullTextUrl", [])
        ]
        info = article.journal_info
        assert info is not None
        assert info.publication_date is not None
        year, month = raw["journalInfo"]["dateOfPublication"].split()
        assert (info.publication_date.year, info.publication_date.precision) == (int(year), "month")
        assert info.publication_date.month == raw["journalInfo"]["monthOfPublication"], month


def test_dublin_core_is_refused_and_not_read_as_zero_results(real_data: Path) -> None:
    with pytest.raises(UpstreamError):
        parse_page((real_data / "europepmc" / "pyEuropePMC__search_cancer_dc.xml").read_bytes(), "*")


# Replies


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"version":"6.9"}',
        b'{"errCode":404,"errMsg":"no"}',
        b'{"hitCount":"many","resultList":{"result":[]}}',
        b'{"hitCount":7}',
        b"<html><body>no</body></html>",
        b"<responseWrapper><version>1</version></responseWrapper>",
        b"<errors><errMsg>Bad</errMsg></errors>",
        b"not json",
    ],
)
def test_an_invalid_reply_is_an_error_and_never_zero_results(content: bytes) -> None:
    with pytest.raises(UpstreamError) as caught:
        parse_page(content, "*")
    assert caught.value.reason == "invalid_response"


@pytest.mark.parametrize(
    ("cursor", "following", "goes_on"),
    [("*", "AoI=", "AoI="), ("*", "*", None), ("AoI=", "AoI=", None), ("*", None, None), ("*", "", None)],
)
def test_a_missing_or_repeated_cursor_is_the_end(cursor: str, following: str | None, goes_on: str | None) -> None:
    content = make_page({"id": "1", "source": "MED"}, nextCursorMark=following)

    assert parse_page(content, cursor).next_cursor == goes_on


def test_an_empty_page_is_the_end_with_any_cursor() -> None:
    assert parse_page(make_page(nextCursorMark="AoI="), "*").next_cursor is None


def test_records_without_source_and_id_are_counted() -> None:
    page = parse_page(make_page({"id": "1", "source": "MED"}, {"title": "x"}, {"id": "2"}), "*")

    assert (len(page.articles), page.skipped) == (1, 2)


# Records


def test_a_preprint_has_no_pmid_and_names_its_server_and_its_article() -> None:
    article = make_record(
        id="PPR9",
        source="PPR",
        doi="10.1101/2024.01.02.3",
        bookOrReportDetails={"publisher": "bioRxiv", "yearOfPublication": 2024},
        firstPublicationDate="2024-01-05",
        pubTypeList={"pubType": ["Preprint"]},
        versionNumber=2,
        versionList={
            "version": [
                {"id": "PPR8", "source": "PPR", "versionNumber": 1, "firstPublishDate": "2023-12-01"},
                {"id": "PPR9", "source": "PPR", "versionNumber": 2, "firstPublishDate": "2024-01-05"},
            ]
        },
        commentCorrectionList={
            "commentCorrection": [
                {
                    "id": "777",
                    "source": "MED",
                    "type": "Preprint of",
                    "reference": "J X. \n  2024;1:2",
                    "orderIn": 10001,
                }
            ]
        },
    )

    assert isinstance(article, Article)
    assert article.pmid is None
    assert article.key == "PPR:PPR9"
    assert article.url == "https://europepmc.org/article/PPR/PPR9"
    assert article.preprint_server == "bioRxiv"
    assert article.version == "2"
    assert [(version.epmc_id, version.date) for version in article.versions] == [
        ("PPR8", "2023-12-01"),
        ("PPR9", "2024-01-05"),
    ]
    assert [(link.kind, link.source, link.epmc_id) for link in article.related_records] == [
        ("PreprintOf", "MED", "777")
    ]
    assert article.corrections[0].citation == "J X. 2024;1:2"
    assert article.journal_info is not None
    assert article.journal_info.title == "bioRxiv"
    assert article.journal_info.publication_date is not None
    assert article.journal_info.publication_date.precision == "day"
    assert "pmid" not in article.model_dump()


def test_a_record_of_another_source_has_its_name() -> None:
    article = make_record(id="PMC12", source="PMC", title="Only in PMC")

    assert (article.pmid, article.pmcid, article.key) == (None, "PMC12", "PMC:PMC12")


def test_groups_are_authors_too() -> None:
    article = make_record(
        authorList={
            "author": [
                {"fullName": "Lee MS", "lastName": "Lee", "initials": "MS"},
                {"collectiveName": "The Imaginary Consortium"},
                {"fullName": "Suharto"},
                {},
            ]
        }
    )

    assert [author.model_dump() for author in article.authors] == [
        {"last_name": "Lee", "initials": "MS"},
        {"collective_name": "The Imaginary Consortium"},
        {"last_name": "Suharto"},
    ]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Lee MS, Glover JN.", ["Lee|MS", "Glover|JN"]),
        ("Rodríguez-Perea Á, Şen Ş, Müller-Lüdenscheidt J", ["Rodríguez-Perea|Á", "Şen|Ş", "Müller-Lüdenscheidt|J"]),
        ("van der Berg HJ Jr, King ML 3rd.", ["van der Berg|HJ|Jr", "King|ML|3rd"]),
        ("NCBN Controls WGS Consortium, Tseng H-", ["=NCBN Controls WGS Consortium", "Tseng|H-"]),
        ("wang r, Vandana.", ["wang|r", "Vandana"]),
        ("GEC-ESTRO Group A", ["=GEC-ESTRO Group A"]),
        ("", []),
        (" , .", []),
    ],
)
def test_names_on_one_line_are_split(line: str, names: list[str]) -> None:
    found = [
        f"={author['collective_name']}" if "collective_name" in author else "|".join(author.values())
        for author in split_names(line)
    ]

    assert found == names


@pytest.mark.parametrize(
    ("written", "year", "month", "precision", "text"),
    [
        ("2025 Dec", 2025, 12, "month", None),
        ("2025 Dec 3", 2025, 12, "day", None),
        ("2025", 2025, None, "year", None),
        ("2025 Jan-Feb", 2025, 1, "range", "2025 Jan-Feb"),
        ("2025 Spring", 2025, None, "season", "2025 Spring"),
        ("2005 Sep 31", 2005, 9, "month", "2005 Sep 31"),
        ("1998 Dec-1999 Jan", 1998, 12, "range", "1998 Dec-1999 Jan"),
    ],
)
def test_dates_have_the_precision_of_the_record(
    written: str, year: int, month: int | None, precision: str, text: str | None
) -> None:
    info = make_record(journalInfo={"dateOfPublication": written, "journal": {"title": "J"}}).journal_info

    assert info is not None
    found = info.publication_date
    assert found is not None
    assert (found.year, found.month, found.precision, found.medline_date) == (year, month, precision, text)


def test_grants_are_decoded_as_often_as_they_were_encoded() -> None:
    article = make_record(
        grantsList={"grant": [{"grantId": "1", "agency": "CSR&amp;D VA", "orderIn": 0}, {"orderIn": 0}]}
    )

    assert [(grant.grant_id, grant.agency) for grant in article.grant_list] == [("1", "CSR&D VA")]


@pytest.mark.parametrize(
    ("types", "kinds", "status"),
    [
        (["Journal Article"], [], "none"),
        (["Retracted Publication", "Journal Article"], [], "retracted"),
        (["Journal Article"], ["Retraction in"], "retracted"),
        (["Retraction of Publication"], ["Retraction of"], "retraction_notice"),
        (["Journal Article"], ["Expression of concern in"], "expression_of_concern"),
        (["Journal Article"], ["Erratum in", "Comment in"], "none"),
    ],
)
def test_a_retraction_is_read_from_types_and_links(types: list[str], kinds: list[str], status: str) -> None:
    article = make_record(
        title="Retracted hopes, a novel",
        pubTypeList={"pubType": types},
        commentCorrectionList={"commentCorrection": [{"id": "2", "source": "MED", "type": kind} for kind in kinds]},
    )

    assert article.retraction_status == status


def test_a_lite_record_of_a_retracted_article_is_marked() -> None:
    assert make_record(pubType="retracted publication; journal article").retraction_status == "retracted"


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Erratum in", "ErratumIn"),
        ("Expression of Concern For", "ExpressionOfConcernFor"),
        ("Corrected and republished in", "CorrectedandRepublishedIn"),
        ("Preprint in", "PreprintIn"),
        ("", ""),
    ],
)
def test_links_have_nlms_names(words: str, kind: str) -> None:
    assert to_reftype(words) == kind


@pytest.mark.parametrize(
    "odd",
    [
        {"title": None, "authorList": None, "journalInfo": None},
        {"authorList": {"author": {"lastName": "Lee", "initials": "M"}}, "keywordList": {"keyword": "one"}},
        {"authorList": {"author": ["junk", None, 3]}, "grantsList": {"grant": "junk"}, "pubTypeList": []},
        {"hasPDF": True, "citedByCount": "12", "versionNumber": "x", "pubYear": "20x4", "firstPublicationDate": "soon"},
        {"meshHeadingList": {"meshHeading": [{"majorTopic_YN": "Y"}]}, "journalInfo": {"journal": "junk"}},
        {"commentCorrectionList": {"commentCorrection": ["junk", {"type": 3}]}, "bookOrReportDetails": 3},
        {"doi": 5, "language": ["eng", "fre"], "fullTextIdList": {"fullTextId": []}},
    ],
)
def test_unusual_fields_lose_no_record(odd: dict[str, Any]) -> None:
    assert make_record(**odd).epmc_id == "1"


def test_one_element_may_be_given_without_its_list() -> None:
    article = make_record(authorList={"author": {"lastName": "Lee", "initials": "M"}}, keywordList={"keyword": "one"})

    assert [author.last_name for author in article.authors] == ["Lee"]
    assert article.keywords == ["one"]


def test_a_book_chapter_names_its_book() -> None:
    article = make_record(
        title="CHEK2-Related Cancer Predisposition",
        hasBook="Y",
        bookid="NBK615090",
        bookOrReportDetails={"publisher": "U", "yearOfPublication": 1993, "comprisingTitle": "GeneReviews®"},
    )

    assert article.record_type == "chapter"
    assert article.book_info is not None
    assert (article.book_info.title, article.book_info.accession) == ("GeneReviews®", "NBK615090")
