"""The sandbox's Europe PMC: its query language, paging, formats, errors, full text and links."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen
from xml.etree import ElementTree

import pytest

from entrez_kit.sandbox.europepmc_query import BadQuery, parse
from entrez_kit.sandbox.europepmc_records import OtherShelf
from entrez_kit.sandbox.server import Sandbox

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(sandbox: Sandbox) -> Ask:
    def search(query: str, **params: str) -> dict[str, Any]:
        given = {"query": query, "format": "json", "resultType": "lite", "pageSize": "100", **params}
        address = "&".join(f"{name}={quote(value)}" for name, value in given.items())
        with urlopen(f"{sandbox.url}/europepmc/search?{address}") as reply:
            assert not sandbox.defects
            found: dict[str, Any] = json.loads(reply.read())
            return found

    return search


def list_ids(reply: dict[str, Any]) -> set[str]:
    return {str(record["id"]) for record in reply["resultList"]["result"]}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("crispr wheat", "crispr AND wheat"),
        ("wheat OR crispr", "(crispr) OR (wheat)"),
        ("crispr NOT wheat", "crispr AND NOT wheat"),
        ("TITLE:(crispr OR wheat)", "TITLE:crispr OR TITLE:wheat"),
        ("crispr AND (wheat OR yeast)", "crispr wheat OR crispr yeast"),
        ('AUTH:"Marrowby TJ"', "AUTH:Marrowby"),
        ("PUB_YEAR:2024", "FIRST_PDATE:[2024-01-01 TO 2024-12-31]"),
        ("SRC:MED crispr", 'crispr AND (SRC:"MED")'),
        ("EXT_ID:99000001", "PMCID:PMC99000001"),
    ],
)
def test_queries_with_the_same_meaning_find_the_same(ask: Ask, one: str, other: str) -> None:
    found = list_ids(ask(one))

    assert found
    assert found == list_ids(ask(other))


def test_sources_are_separate(ask: Ask) -> None:
    everything = list_ids(ask("crispr"))
    parts = [list_ids(ask(f"crispr AND SRC:{source}")) for source in ("MED", "PPR", "PMC", "PAT")]

    assert all(parts)
    assert set.union(*parts) == everything
    assert sum(len(part) for part in parts) == len(everything)


def test_a_quoted_id_with_a_source_finds_nothing(ask: Ask) -> None:
    assert list_ids(ask('EXT_ID:"99000001" AND SRC:MED')) == set()
    assert list_ids(ask('PMCID:"PMC99000001" AND SRC:PMC')) == set()
    assert list_ids(ask("EXT_ID:99000001 AND SRC:MED")) == {"99000001"}
    assert list_ids(ask('EXT_ID:"99000001"')) == {"99000001"}


@pytest.mark.parametrize("query", ["(a", "a)", 'a "b', "a AND", "a OR NOT"])
def test_an_unreadable_query_is_an_error_with_status_200(ask: Ask, query: str) -> None:
    reply = ask(query)

    assert "hitCount" not in reply
    assert reply["errMsg"]
    with pytest.raises(BadQuery):
        parse(query)


@pytest.mark.parametrize(
    "params",
    [{"sort": "SIZE desc"}, {"sort": "CITED"}, {"cursorMark": "AoI="}, {"pageSize": "x"}, {"resultType": "all"}],
)
def test_an_invalid_request_gets_only_a_version(ask: Ask, params: dict[str, str]) -> None:
    assert ask("crispr", **params) == {"version": "6.9"}


def test_an_empty_query_is_an_error(ask: Ask) -> None:
    assert "errMsg" in ask("")


def test_pages_have_no_gap_and_end(ask: Ask) -> None:
    whole = [record["id"] for record in ask("crispr")["resultList"]["result"]]
    paged: list[str] = []
    cursor: str | None = "*"
    while cursor:
        page = ask("crispr", pageSize="5", cursorMark=cursor)
        assert page["request"]["cursorMark"] == quote(cursor, safe="")  # echoed encoded, as the real one does
        paged += [record["id"] for record in page["resultList"]["result"]]
        cursor = page.get("nextCursorMark")

    assert paged == whole


def test_a_cursor_belongs_to_its_search_and_order(ask: Ask) -> None:
    cursor = ask("crispr", pageSize="2")["nextCursorMark"]

    assert "hitCount" not in ask("wheat", pageSize="2", cursorMark=cursor)
    assert "hitCount" not in ask("crispr", pageSize="2", cursorMark=cursor, sort="CITED desc")
    assert ask("crispr", pageSize="7", cursorMark=cursor)["hitCount"]


def test_results_are_in_the_requested_order(ask: Ask) -> None:
    def list_column(name: str, sort: str) -> list[Any]:
        return [record.get(name) for record in ask("crispr OR wheat", sort=sort)["resultList"]["result"]]

    cited = list_column("citedByCount", "CITED desc")
    assert cited == sorted(cited, reverse=True)
    assert list_column("citedByCount", "CITED asc") == cited[::-1]
    first = [str(name).lower() for name in list_column("authorString", "AUTH_FIRST asc") if name]
    assert first[0] < first[-1]
    preprints = [
        record["firstPublicationDate"]
        for record in ask("crispr OR wheat AND SRC:PPR", sort="FIRST_PDATE_D desc")["resultList"]["result"]
        if record["source"] == "PPR"
    ]
    assert preprints == sorted(preprints, reverse=True)


def test_result_types_have_more_or_fewer_fields_of_the_same_records(ask: Ask) -> None:
    core, lite, brief = (
        ask("EXT_ID:99000001 AND SRC:MED", resultType=form)["resultList"]["result"][0]
        for form in ("core", "lite", "idlist")
    )

    assert set(brief) < set(lite)
    assert "abstractText" in core
    assert "abstractText" not in lite
    assert brief["pmid"] == lite["pmid"] == core["pmid"]
    assert lite["journalTitle"] == core["journalInfo"]["journal"]["isoabbreviation"]


def test_markup_in_titles_is_encoded_in_the_short_form(ask: Ask) -> None:
    core, lite = (
        ask("EXT_ID:PPR99000002", resultType=form)["resultList"]["result"][0]["title"] for form in ("core", "lite")
    )

    assert "<i>" in core
    assert "&lt;i&gt;" in lite
    assert "<i>" not in lite


def test_without_a_format_the_answer_is_xml(sandbox: Sandbox) -> None:
    address = f"{sandbox.url}/europepmc/search?query=crispr&resultType=core&pageSize=100"
    with urlopen(address) as reply, urlopen(f"{address}&format=json") as other:
        root, document = ElementTree.fromstring(reply.read()), json.loads(other.read())

    assert root.findtext("hitCount") == str(document["hitCount"])
    found, due = root.findall("resultList/result"), document["resultList"]["result"]
    for field in ("id", "source", "pmid", "doi", "pubYear", "abstractText"):
        reported = [(element.findtext(field) or "").strip() for element in found]
        assert reported == [record.get(field, "") for record in due], field


def test_citations_and_references_are_the_reverse_of_each_other(sandbox: Sandbox) -> None:
    def list_linked(pmid: str, what: str, **params: int) -> dict[str, Any]:
        more = "&".join(f"{name}={value}" for name, value in params.items())
        with urlopen(f"{sandbox.url}/europepmc/MED/{pmid}/{what}?format=json&{more}") as reply:
            found: dict[str, Any] = json.loads(reply.read())
            return found

    citing = list_linked("99000001", "citations")
    assert citing["hitCount"] == len(citing["citationList"]["citation"]) > 1
    for record in citing["citationList"]["citation"]:
        cited = list_linked(record["id"], "references")["referenceList"]["reference"]
        assert "99000001" in [reference["id"] for reference in cited]
    second = list_linked("99000001", "citations", page=2, pageSize=1)["citationList"]["citation"]
    assert second == citing["citationList"]["citation"][1:2]
    assert list_linked("1", "citations")["hitCount"] == 0


@pytest.mark.parametrize("path", ["PMC1/fullTextXML", "PPR99000001/fullTextXML", "MED/1/nothing", "nothing"])
def test_a_missing_record_is_404(sandbox: Sandbox, path: str) -> None:
    from urllib.error import HTTPError

    with pytest.raises(HTTPError) as caught:
        urlopen(f"{sandbox.url}/europepmc/{path}")
    with caught.value as reply:
        assert reply.status == 404


def test_some_preprints_have_full_text(sandbox: Sandbox) -> None:
    with urlopen(f"{sandbox.url}/europepmc/PPR99000002/fullTextXML") as reply:
        body = reply.read()

    assert b"<body>" in body
    assert b"invented" in body


@pytest.mark.parametrize("pmcid", ["PMC99000002", "PMC99000026"])
def test_a_full_text_is_a_complete_article(sandbox: Sandbox, pmcid: str) -> None:
    with urlopen(f"{sandbox.url}/europepmc/{pmcid}/fullTextXML") as reply:
        article = ElementTree.fromstring(reply.read())

    assert article.tag == "article"
    assert article.findtext("front//article-title")
    assert article.find("body") is not None


def test_latency_and_faults_apply_to_europe_pmc_too() -> None:
    with Sandbox(faults={"html": 1.0}, enforce_limits=False) as troubled:
        with urlopen(f"{troubled.url}/europepmc/search?query=crispr&format=json") as reply:
            assert b"<html" in reply.read()
        assert troubled.entries("europepmc_search")[0].fault == "html"


def test_bundled_records_state_that_they_are_invented() -> None:
    small_client = OtherShelf.load_bundled()
    records = [small_client.build_core(number) for number in range(small_client.size)]

    assert len(records) >= 10
    for record in records:
        assert "invented" in record["abstractText"], record["id"]
        assert re.search(r"9900", record["id"])
        assert "fullText" not in record
        if "doi" in record:
            assert record["doi"].startswith("10.5555/")
        for person in record["authorList"]["author"]:
            orcid = person.get("authorId", {}).get("value", "0000-0000-9900-")
            assert orcid.startswith("0000-0000-9900-")
        if record["source"] == "PPR":
            assert record["bookOrReportDetails"]["publisher"].endswith("(demo)")
