"""Differences of replies from their known shape are identified, and every recorded reply has the known shape."""

import gzip
import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from used_recordings import require_recordings

from entrez_kit.databases.gene.gene_records import GENES
from entrez_kit.databases.info import EGQUERY
from entrez_kit.databases.names import EINFO
from entrez_kit.fulltext.jats.tree import JATS
from entrez_kit.pubmed import summaries
from entrez_kit.pubmed.europepmc.europepmc_pages import SEARCH_REPLY
from entrez_kit.pubmed.resolution import CONVERTED
from entrez_kit.pubmed.xml.records import ARTICLES, read_records
from entrez_kit.services import known_shapes
from entrez_kit.services.elink_reply import ELINK, parse_linksets
from entrez_kit.services.flat_files import MEDLINE
from entrez_kit.services.known_shapes import JsonShape, Shape, XmlShape, log_drift
from entrez_kit.services.pmc_cloud import LISTING
from entrez_kit.services.small_replies import choose_epost_shape, choose_esearch_shape, choose_espell_shape
from entrez_kit.services.unpaywall import OPEN_ACCESS

ARTICLE = b"""<PubmedArticleSet><PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">1</PMID>
<Article PubModel="Print"><Journal><JournalIssue CitedMedium="Print"><PubDate><Year>2020</Year><Month>Jan</Month>
</PubDate></JournalIssue></Journal><ArticleTitle>A title</ArticleTitle><PublicationTypeList>
<PublicationType UI="D016428">Journal Article</PublicationType></PublicationTypeList></Article>
<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><RefSource>J</RefSource></CommentsCorrections>
</CommentsCorrectionsList></MedlineCitation><PubmedData><PublicationStatus>ppublish</PublicationStatus></PubmedData>
</PubmedArticle></PubmedArticleSet>"""


@pytest.fixture(autouse=True)
def _no_differences_logged_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_shapes, "_noticed", set())  # a difference is logged once a process


def list_kinds(shape: Shape, content: bytes) -> list[tuple[str, str]]:
    return sorted((difference.kind, difference.where) for difference in shape.list_differences(content))


def test_a_complete_article_has_no_difference() -> None:
    assert ARTICLES.list_differences(ARTICLE) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            b"ArticleTitle>",
            b"Title2>",
            [("missing", "PubmedArticle/ArticleTitle"), ("unknown_element", "Title2")],
        ),
        (b'Owner="NLM"', b'Owner="NLM" Score="7"', [("unknown_attribute", "MedlineCitation@Score")]),
        (b'"RetractionIn"', b'"WithdrawnIn"', [("unknown_value", "CommentsCorrections@RefType=WithdrawnIn")]),
        (b"<Year>2020</Year>", b"<Year>2020-03-01</Year>", [("other_form", "Year")]),
        (b"<Month>Jan</Month>", b"<Month>January</Month>", [("other_form", "Month")]),
        (b"<PubmedData>", b"<PubmedData xml:lang='en'>", []),
    ],
)
def test_a_difference_in_xml_is_named(before: bytes, after: bytes, expected: list[tuple[str, str]]) -> None:
    assert before in ARTICLE

    assert list_kinds(ARTICLES, ARTICLE.replace(before, after)) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"pmid": 5}, []),
        ({"pmid": None}, []),
        ({"doi": 7}, [("other_type", "records[].doi")]),
        ({"orcid": "x"}, [("unknown_field", "records[].orcid")]),
        ({"pmid": 1.5}, [("other_type", "records[].pmid")]),
        ({"doi": True}, [("other_type", "records[].doi")]),
        ({"doi": ["10.1/x"]}, [("other_type", "records[].doi")]),
    ],
)
def test_a_difference_in_json_is_named(change: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    document = {"status": "ok", "records": [{"pmid": 1, "doi": "10.1/x", "requested-id": "1", **change}]}

    assert list_kinds(CONVERTED, json.dumps(document).encode()) == expected


def test_a_missing_required_field_and_a_date_in_another_form_are_named() -> None:
    content = json.dumps({"response-date": "2026-03-01T10:00:00Z", "records": []}).encode()

    assert list_kinds(CONVERTED, content) == [("missing", "status"), ("other_form", "response-date")]


def test_differences_of_one_kind_are_counted() -> None:
    content = b'{"status": "ok", "records": [{"new": 1}, {"new": 2}, {"new": 3}]}'

    (difference,) = CONVERTED.list_differences(content)

    assert (difference.times, str(difference)) == (3, "unknown field records[].new (3 times)")


INVALID = (b"", b"no markup", b"\x00\x01", b"[1]", b"{", b'"text"', b"<a", b"null")
LACKING = ["no status", "no records"]
DIFFERENCES = {
    ARTICLES.name: {b"<a": ["unknown element <a>"]},
    CONVERTED.name: {
        b"null": LACKING,
        b"[1]": [*LACKING, " is a list instead of an object"],
        b'"text"': [*LACKING, " is a string instead of an object"],
    },
    MEDLINE.name: {content: ["no PMID", "no SO"] for content in INVALID},
}


@pytest.mark.parametrize("content", INVALID)
@pytest.mark.parametrize("shape", [ARTICLES, CONVERTED, MEDLINE], ids=lambda shape: shape.name)
def test_the_differences_of_an_invalid_reply_are_named_if_it_can_be_parsed(shape: Shape, content: bytes) -> None:
    expected = DIFFERENCES[shape.name].get(content, [])
    assert [str(difference) for difference in shape.list_differences(content)] == expected


def test_a_difference_is_logged_once_at_debug_level_and_the_reply_is_read(caplog: pytest.LogCaptureFixture) -> None:
    content = ARTICLE.replace(b'Owner="NLM"', b'Owner="NLM" Score="7"')
    with caplog.at_level(logging.DEBUG, "entrez_kit"):
        assert [record.pmid for _ in range(2) for record in read_records(content)] == ["1", "1"]

    assert caplog.messages == ["PubMed XML differs from its known shape: unknown attribute Score of <MedlineCitation>"]


def test_no_comparison_is_made_if_the_log_level_hides_it(caplog: pytest.LogCaptureFixture) -> None:
    class Counted(known_shapes.Shape):
        def _find_occurrences(self, reply: object) -> Iterator[known_shapes.ShapeDifference]:
            raise AssertionError("a reply was compared")

    with caplog.at_level(logging.INFO, "entrez_kit"):
        log_drift(Counted("never"), ARTICLE)


def test_a_failing_comparison_does_not_fail_the_reply(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(known_shapes.Shape):
        def _find_occurrences(self, reply: object) -> Iterator[known_shapes.ShapeDifference]:
            raise RuntimeError("a defect")

    with caplog.at_level(logging.DEBUG, "entrez_kit"):
        log_drift(Broken("broken"), ARTICLE)

    assert caplog.messages == ["broken could not be compared with its known shape"]


def test_thousands_of_differences_fill_neither_log_nor_memory(caplog: pytest.LogCaptureFixture) -> None:
    wild = "".join(f"<Odd{number}/>" for number in range(3 * known_shapes.MAX_NOTICED))
    with caplog.at_level(logging.DEBUG, "entrez_kit"):
        for _ in range(3):
            parse_linksets(f"<eLinkResult>{wild}</eLinkResult>".encode())

    assert len(caplog.messages) <= known_shapes.MAX_NOTICED


def test_names_of_a_service_are_logged_short_and_without_control_characters() -> None:
    shape = JsonShape("any", {})

    (difference,) = shape.list_differences(json.dumps({"\x1b[31m" + "x" * 500: 1}).encode())

    assert "\x1b" not in difference.what
    assert len(difference.what) < 100


# recordings


def read_bodies(path: Path) -> Iterator[bytes]:
    content = path.read_bytes()
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    yield from content.splitlines() if path.name.endswith("_sample.json.gz") else [content]


def match_any(_: bytes) -> bool:
    return True


def make_matcher(*words: bytes) -> Callable[[bytes], bool]:
    return lambda content: any(word in content[:20_000] for word in words)


RECORDED: tuple[tuple[str, Shape | Callable[[bytes], Shape], Callable[[bytes], bool]], ...] = (
    ("einfo", EINFO, match_any),
    ("esearch", choose_esearch_shape, match_any),
    ("esummary", summaries.choose_shape, make_matcher(b"<DocSum>", b'"pubmed"')),
    ("efetch_pubmed", ARTICLES, make_matcher(b"<PubmedArticleSet")),
    ("baseline", ARTICLES, make_matcher(b"<PubmedArticleSet")),
    ("efetch_medline", MEDLINE, match_any),
    ("efetch_gene", GENES, match_any),
    ("efetch_pmc", JATS, match_any),
    ("jats", JATS, match_any),
    ("elink", ELINK, make_matcher(b"<eLinkResult")),
    ("epost", choose_epost_shape, match_any),
    ("espell", choose_espell_shape, match_any),
    ("egquery", EGQUERY, match_any),
    ("idconv", CONVERTED, match_any),
    ("europepmc", SEARCH_REPLY, make_matcher(b'"resultList"')),
    ("unpaywall", OPEN_ACCESS, lambda content: b'"results"' not in content[:200]),
    ("pmc_oa", LISTING, make_matcher(b"<ListBucketResult")),
)
ODD = re.compile(r'"url"$')
"""An old kind of article id, in one record of 2009."""


@pytest.mark.parametrize(("folder", "known", "is_one"), RECORDED, ids=[row[0] for row in RECORDED])
def test_every_recorded_reply_has_the_known_shape(
    real_data: Path,
    folder: str,
    known: Shape | Callable[[bytes], Shape],
    is_one: Callable[[bytes], bool],
) -> None:
    files = sorted(path for path in (real_data / folder).rglob("*") if path.is_file())
    compared = 0
    for path in files:
        for body in filter(is_one, read_bodies(path)):
            shape = known(body) if callable(known) else known
            found = [
                str(difference)
                for difference in shape.list_differences(body)
                if difference.kind != "missing" and not ODD.search(difference.what)
            ]
            assert found == [], path.name
            compared += 1

    require_recordings(compared)


def test_every_named_dtd_exists() -> None:
    shapes = [row[1] for row in RECORDED if isinstance(row[1], XmlShape) and row[1].dtd]

    small = [
        shape
        for of in (choose_esearch_shape, choose_espell_shape, choose_epost_shape)
        if isinstance(shape := of(b""), XmlShape)
    ]
    assert len(shapes) > 6
    assert len(small) == 3
    for shape in (*shapes, *small, summaries.XML):
        assert known_shapes._read_dtd(shape.dtd), shape.name  # a missing DTD has no other effect
