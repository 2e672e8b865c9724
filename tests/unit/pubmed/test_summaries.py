"""Summaries of articles in the three formats of ESummary."""

import json
from pathlib import Path
from typing import Any

import pytest
from used_recordings import require_recordings

from entrez_kit.base.errors import UpstreamError
from entrez_kit.pubmed.encoded_markup import convert_to_plain_text
from entrez_kit.pubmed.summaries import parse_summaries
from entrez_kit.services.esummary_reply import parse_esummary

VERSION_2 = """<?xml version="1.0" encoding="UTF-8" ?>
<!DOCTYPE eSummaryResult PUBLIC "-//NLM//DTD esummary pubmed 20240101//EN" "https://eutils.ncbi.nlm.nih.gov/none.dtd">
<eSummaryResult><DocumentSummarySet status="OK"><DbBuild>Build-1</DbBuild>
<DocumentSummary uid="99000001"><PubDate>2023 Mar 15</PubDate><EPubDate>2023 Feb 1</EPubDate>
<Source>J Invent Res</Source><Authors>
<Author><Name>Doe J</Name><AuthType>Author</AuthType><ClusterID/></Author>
<Author><Name>Smith A</Name><AuthType>Author</AuthType></Author>
<Author><Name>Invented Group</Name><AuthType>CollectiveName</AuthType></Author></Authors>
<Title>Growth of &lt;i&gt;E. coli&lt;/i&gt; in H&lt;sub&gt;2&lt;/sub&gt;O (P&lt;0.001)</Title>
<Volume>10</Volume><Issue>2</Issue><Pages>100-10</Pages>
<PubType><flag>Journal Article</flag></PubType><ArticleIds>
<ArticleId><IdType>pubmed</IdType><IdTypeN>1</IdTypeN><Value>99000001</Value></ArticleId>
<ArticleId><IdType>doi</IdType><IdTypeN>3</IdTypeN><Value>10.5555/Example</Value></ArticleId>
<ArticleId><IdType>pmc</IdType><IdTypeN>8</IdTypeN><Value>PMC9900001</Value></ArticleId></ArticleIds>
<References>{references}</References></DocumentSummary>
<DocumentSummary uid="99999999"><error>cannot get document summary</error></DocumentSummary>
</DocumentSummarySet></eSummaryResult>"""

VERSION_1 = """<?xml version="1.0" encoding="UTF-8"?>
<eSummaryResult><DocSum><Id>99000001</Id>
<Item Name="PubDate" Type="Date">2016 Apr</Item><Item Name="EPubDate" Type="Date"/>
<Item Name="Source" Type="String">J Invent Res</Item>
<Item Name="AuthorList" Type="List"><Item Name="Author" Type="String">Doe J</Item>
<Item Name="Author" Type="String">Smith A</Item></Item>
<Item Name="Title" Type="String">Invented.</Item><Item Name="Volume" Type="String">9</Item>
<Item Name="Pages" Type="String">1-4</Item>
<Item Name="PubTypeList" Type="List"><Item Name="PubType" Type="String">Retracted Publication</Item></Item>
<Item Name="ArticleIds" Type="List"><Item Name="pubmed" Type="String">99000001</Item>
<Item Name="doi" Type="String">10.5555/one</Item>
<Item Name="pmcid" Type="String">pmc-id: PMC77;manuscript-id: NIHMS1;</Item></Item></DocSum>{rest}</eSummaryResult>"""


def _make_json(*records: dict[str, Any]) -> bytes:
    result: dict[str, Any] = {"uids": [record["uid"] for record in records]}
    return json.dumps({"header": {}, "result": result | {record["uid"]: record for record in records}}).encode()


def test_version_2_has_every_field_and_names_the_ids_without_summary() -> None:
    (summary,), missing = parse_summaries(parse_esummary(VERSION_2.format(references="").encode()))

    assert summary.model_dump() == {
        "pmid": "99000001",
        "title": "Growth of E. coli in H₂O (P<0.001)",
        "authors": "Doe J, Smith A, Invented Group",
        "source": "J Invent Res. 2023 Mar 15;10(2):100-10",
        "pub_date": "2023-03-15",
        "epub_date": "2023-02-01",
        "doi": "10.5555/Example",
        "pmcid": "PMC9900001",
        "retraction_status": "none",
        "publication_types": ["Journal Article"],
    }
    assert missing == ["99999999"]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("Retraction in", "retracted"),
        ("Expression of concern in", "expression_of_concern"),
        ("Retraction of", "retraction_notice"),
        ("Erratum in", "none"),
    ],
)
def test_related_records_decide_whether_an_article_was_retracted(kind: str, status: str) -> None:
    reference = f"<Reference><RefSource>J</RefSource><RefType>{kind}</RefType><PMID>2</PMID></Reference>"

    (summary,), _ = parse_summaries(parse_esummary(VERSION_2.format(references=reference).encode()))

    assert summary.retraction_status == status


@pytest.mark.parametrize(("kind", "recorded"), [("Comment in", "CommentIn"), ("Comment on", "CommentOn")])
def test_comments_are_linked(kind: str, recorded: str) -> None:
    reference = f"<Reference><RefSource>J</RefSource><RefType>{kind}</RefType><PMID>2</PMID></Reference>"

    (summary,), _ = parse_summaries(parse_esummary(VERSION_2.format(references=reference).encode()))

    assert [(comment.kind, comment.pmid) for comment in summary.comments] == [(recorded, "2")]
    assert summary.retraction_status == "none"


def test_version_1_is_read_like_version_2() -> None:
    (summary,), missing = parse_summaries(parse_esummary(VERSION_1.format(rest="").encode()))

    assert summary.model_dump() == {
        "pmid": "99000001",
        "title": "Invented.",
        "authors": "Doe J, Smith A",
        "source": "J Invent Res. 2016 Apr;9:1-4",
        "pub_date": "2016-04",
        "doi": "10.5555/one",
        "pmcid": "PMC77",
        "retraction_status": "retracted",
        "standing": {"status": "retracted"},
        "publication_types": ["Retracted Publication"],
    }
    assert missing == []


def test_errors_about_ids_name_the_ids() -> None:
    rest = "<ERROR>Invalid uid 12x at position= 0</ERROR><ERROR>UID=77: cannot get document summary</ERROR>"

    summaries, missing = parse_summaries(parse_esummary(VERSION_1.format(rest=rest).encode()))

    assert len(summaries) == 1
    assert missing == ["12x", "77"]


def test_json_has_the_order_of_the_ids() -> None:
    records = [{"uid": uid, "title": f"Title {uid}", "pubdate": "2020"} for uid in ("3", "1", "2")]

    summaries, missing = parse_summaries(
        parse_esummary(_make_json(*records, {"uid": "4", "error": "cannot get document summary"}))
    )

    assert [(summary.pmid, summary.pub_date) for summary in summaries] == [("3", "2020"), ("1", "2020"), ("2", "2020")]
    assert missing == ["4"]


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2023 Mar 15", "2023-03-15"),
        ("2023 Mar", "2023-03"),
        ("2023", "2023"),
        ("2023/03/15 00:00", "2023-03-15"),
        ("2014 Jan-Mar", "2014 Jan-Mar"),
        ("2019 Spring", "2019 Spring"),
        ("2005 Sep 31", "2005 Sep 31"),
    ],
)
def test_dates_are_iso_dates_if_the_text_allows_it(date: str, expected: str) -> None:
    (summary,), _ = parse_summaries(parse_esummary(_make_json({"uid": "1", "pubdate": date})))

    assert summary.pub_date == expected


@pytest.mark.parametrize("odd", [None, "", "text", [], ["text", None], {"name": "text"}, 5])
def test_lists_of_another_type_are_ignored(odd: object) -> None:
    record = {"uid": "1", "title": "T", "authors": odd, "articleids": odd, "references": odd, "pubtype": odd}

    (summary,), missing = parse_summaries(parse_esummary(_make_json(record)))

    types = {"publication_types": ["text"]} if odd == ["text", None] else {}
    assert summary.model_dump(exclude_none=True) == {"pmid": "1", "title": "T", "retraction_status": "none", **types}
    assert missing == []


def test_a_book_has_its_title_and_its_editors() -> None:
    record = {
        "uid": "1",
        "title": "",
        "booktitle": "Invented Handbook",
        "pubdate": "1993",
        "authors": [{"name": "Roe R", "authtype": "Editor"}],
    }

    (summary,), _ = parse_summaries(parse_esummary(_make_json(record)))

    assert (summary.title, summary.authors, summary.source) == (
        "Invented Handbook",
        "Roe R",
        "Invented Handbook. 1993",
    )


def test_a_chapter_names_its_authors_and_not_the_editors() -> None:
    people = [{"name": "Roe R", "authtype": "Editor"}, {"name": "Doe J", "authtype": "Author"}]

    (summary,), _ = parse_summaries(parse_esummary(_make_json({"uid": "1", "title": "T", "authors": people})))

    assert summary.authors == "Doe J"


def test_a_doi_is_found_in_the_electronic_location() -> None:
    (summary,), _ = parse_summaries(
        parse_esummary(_make_json({"uid": "1", "elocationid": "pii: e12. doi: 10.5555/a.b(1)."}))
    )

    assert summary.doi == "10.5555/a.b(1)"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("P<0.001 and a < b > c", "P<0.001 and a < b > c"),
        ("<i>In vivo</i> <sup>13</sup>C", "In vivo ¹³C"),
        ("AT&amp;T, P&lt;0.05", "AT&T, P<0.05"),
        ("<unknown>tag</unknown> and <x1", "<unknown>tag</unknown> and <x1"),
    ],
)
def test_only_known_markup_is_removed_from_titles(title: str, expected: str) -> None:
    assert convert_to_plain_text(title) == expected


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"<html><body>Error</body></html>",
        b"<eSummaryResult><DocSum><Id>1</Id>",
        b"<eSummaryResult><ERROR>Empty result - nothing todo</ERROR></eSummaryResult>",
        b'{"error": "API rate limit exceeded"}',
        b'{"result": {"uids": ["1"]',
        b'["1"]',
        b'{"result": ["uids"]}',
        b'{"result": {"uids": 1}}',
        b'{"esummaryresult": ["Unable to obtain query"]}',
    ],
)
def test_a_reply_that_is_not_a_summary_is_an_upstream_error(reply: bytes) -> None:
    with pytest.raises(UpstreamError) as caught:
        parse_summaries(parse_esummary(reply))

    assert caught.value.reason == "invalid_response"


def test_recorded_summaries_of_articles_are_read(real_data: Path) -> None:
    seen = 0
    for path in sorted((real_data / "esummary").iterdir()):
        content = path.read_bytes()
        if b'Name="FullJournalName"' not in content:
            continue
        summaries, _ = parse_summaries(parse_esummary(content))
        seen += len(summaries)
        assert len(summaries) == content.count(b"<DocSum>"), path.name
        for summary in summaries:
            assert f"<Id>{summary.pmid}</Id>".encode() in content
            assert summary.title
            assert summary.source
        last_authors = content.count(b'<Item Name="LastAuthor" Type="String">')
        assert sum(bool(summary.authors) for summary in summaries) == last_authors

    require_recordings(seen > 10)
