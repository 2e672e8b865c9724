"""The Europe PMC client: its requests, valid answers, and the handling of invalid ones."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from loopback_server import Answer, Loopback
from loopback_transport import EMAIL, KEY, CountingLimiter, add_secrets, make_settings, open_bench

from entrez_kit.base.errors import EntityNotFound, InvalidInput, NotConfigured, UpstreamError
from entrez_kit.services.europe_pmc import EuropePMC, read_cursor
from entrez_kit.services.transport import Reply

EMPTY = json.dumps({"version": "6.9"}).encode()
FOUND = json.dumps({"version": "6.9", "hitCount": 0, "request": {}, "resultList": {"result": []}}).encode()
ARTICLE = b'<?xml version="1.0"?>\n<!DOCTYPE article>\n<article><front/><body><p>text</p></body></article>'
CURSOR = "AoIIP4ZawSg1MzEyODI1MA=="


@contextmanager
def open_client(
    folder: Path, *answers: Answer, **changes: Any
) -> Iterator[tuple[EuropePMC, Loopback, CountingLimiter]]:
    with (
        Loopback(Answer(FOUND)) as server,
        open_bench(server, make_settings(server, folder, europepmc_max_retries=3, **changes)) as bench,
    ):
        server.then(*answers)
        yield EuropePMC(bench.transport, bench.settings), server, bench.limiter


def test_a_search_sends_its_arguments_and_no_secrets_of_other_services(tmp_path: Path) -> None:
    with open_client(tmp_path, **add_secrets()) as (europepmc, server, _):
        reply = europepmc.search(
            query="  base\n editing ",
            result_type="lite",
            page_size=7,
            cursor_mark=CURSOR,
            sort="CITED desc",
            synonym=True,
        )

    assert server.seen[0].path == "/europepmc/search"
    assert server.seen[0].params == {
        "query": "base editing",
        "resultType": "lite",
        "format": "json",
        "pageSize": "7",
        "cursorMark": CURSOR,
        "synonym": "true",
        "sort": "CITED desc",
    }
    assert KEY not in server.seen[0].raw + reply.url
    assert EMAIL.split("@")[0] not in server.seen[0].raw + reply.url


def test_a_long_query_is_sent_by_post_to_its_endpoint(tmp_path: Path) -> None:
    query = " OR ".join(f"EXT_ID:{number}" for number in range(10_000_000, 10_000_300))
    with open_client(tmp_path) as (europepmc, server, _):
        europepmc.search(query=query)

    assert (server.seen[0].method, server.seen[0].path) == ("POST", "/europepmc/searchPOST")
    assert server.seen[0].params["query"] == query


def test_replies_are_cached_and_errors_are_not(tmp_path: Path) -> None:
    refused = Answer(json.dumps({"errCode": 400, "errMsg": "Invalid query: no closing parenthesis."}).encode())
    with open_client(tmp_path, refused) as (europepmc, server, _):
        with pytest.raises(InvalidInput):
            europepmc.search(query="(x")
        first, second = europepmc.search(query="(x"), europepmc.search(query="(x")

    assert (first.from_cache, second.from_cache) == (False, True)
    assert len(server.seen) == 2


# Invalid replies of status 200


def test_a_reply_with_only_a_version_is_requested_again(tmp_path: Path) -> None:
    with open_client(tmp_path, Answer(EMPTY), Answer(EMPTY)) as (europepmc, server, limiter):
        reply = europepmc.search(query="x", sort="CITED desc", cursor_mark=CURSOR)

    assert json.loads(reply.content)["hitCount"] == 0
    assert len(server.seen) == limiter.taken == 3


def test_a_reply_with_only_a_version_is_never_zero_results(tmp_path: Path) -> None:
    with open_client(tmp_path, *[Answer(EMPTY)] * 4) as (europepmc, server, _), pytest.raises(UpstreamError) as caught:
        europepmc.search(query="x", sort="FIRST_PDATE_D desc")

    assert caught.value.reason == "europepmc_unreachable"
    assert caught.value.retryable
    assert "sort" not in caught.value.message
    assert len(server.seen) == 4


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"cursor_mark": CURSOR}, f"cursor={CURSOR}"),
        ({"sort": "FIRST_PIDATE desc"}, "sort=FIRST_PIDATE desc"),
        ({"cursor_mark": CURSOR, "sort": "BOGUS asc"}, "sort=BOGUS asc"),
    ],
)
def test_an_invalid_cursor_or_sort_is_reported_if_every_reply_is_empty(
    tmp_path: Path, arguments: dict[str, str], named: str
) -> None:
    with open_client(tmp_path, *[Answer(EMPTY)] * 4) as (europepmc, _, _), pytest.raises(InvalidInput) as caught:
        europepmc.search(query="x", **arguments)  # type: ignore[arg-type]

    assert caught.value.invalid_input == named
    assert caught.value.exit_code == 2
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("Invalid query: no closing parenthesis.", "query=(x"),
        ("The cursorMark value is not valid", "cursor=AoJwgMr0"),
        ("Unknown sort field FOO", "sort=FOO asc"),
    ],
)
def test_an_error_about_an_argument_is_invalid_input_with_its_text(tmp_path: Path, words: str, named: str) -> None:
    answer = Answer(json.dumps({"version": "6.9", "errCode": 404, "errMsg": words}).encode())
    with open_client(tmp_path, answer) as (europepmc, server, _), pytest.raises(InvalidInput) as caught:
        europepmc.search(query="(x", cursor_mark="AoJwgMr0", sort="FOO asc")

    assert words in caught.value.message
    assert caught.value.invalid_input == named
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"errCode": 500, "errMsg": "Internal server error"},
        {"errCode": 503, "errMsg": "The search backend is temporarily unavailable, query later"},
        {"errCode": 404},
        {"version": "6.9", "errMsg": "Something nobody has seen yet"},
    ],
)
def test_any_other_error_text_is_an_upstream_error(tmp_path: Path, body: dict[str, Any]) -> None:
    with (
        open_client(tmp_path, *[Answer(json.dumps(body).encode())] * 4) as (europepmc, server, _),
        pytest.raises(UpstreamError) as caught,
    ):
        europepmc.search(query="x")

    assert str(body.get("errMsg") or body["errCode"]) in caught.value.message
    assert len(server.seen) == 4


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"<html><head><title>EMBL-EBI</title></head></html>"),
        Answer(FOUND[:30]),
        Answer(FOUND, fault="truncate"),
        Answer(b"", status=502),
        Answer(b'{"version":"6.9","request":{}}'),
        Answer(b"[]"),
        Answer(b"{}", status=429),
    ],
)
def test_damaged_replies_are_requested_again(tmp_path: Path, answer: Answer) -> None:
    with open_client(tmp_path, answer) as (europepmc, server, _):
        europepmc.search(query="x")

    assert len(server.seen) == 2


def test_a_wrong_base_address_is_not_a_missing_record(tmp_path: Path) -> None:
    with (
        open_client(tmp_path, *[Answer(b"", status=404)] * 2) as (europepmc, _, _),
        pytest.raises(UpstreamError) as caught,
    ):
        europepmc.search(query="x")

    assert caught.value.reason == "no_such_address"
    assert "EUROPEPMC_URL" in caught.value.message


# Arguments


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "  "},
        {"query": "x", "page_size": 0},
        {"query": "x", "page_size": 1001},
        {"query": "x", "cursor_mark": "no cursor!"},
        {"query": "x", "sort": "CITED"},
        {"query": "x", "sort": "CITED desc; drop"},
    ],
)
def test_invalid_arguments_are_rejected_before_any_request(tmp_path: Path, arguments: dict[str, Any]) -> None:
    with open_client(tmp_path) as (europepmc, server, _), pytest.raises(InvalidInput):
        europepmc.search(**arguments)

    assert not server.seen


@pytest.mark.parametrize(
    ("given", "read"), [("%2A", "*"), (" * ", "*"), ("AoI%2Fx%3D%3D", "AoI/x=="), ("AoI x==", "AoI+x==")]
)
def test_a_cursor_is_accepted_in_any_copied_form(given: str, read: str) -> None:
    assert read_cursor(given) == read


def test_a_disabled_service_sends_no_request(tmp_path: Path) -> None:
    with open_client(tmp_path, europepmc_enabled=False) as (europepmc, server, _):
        calls: list[Callable[[], Reply]] = [
            lambda: europepmc.search(query="x"),
            lambda: europepmc.fetch_full_text("PMC1"),
            lambda: europepmc.fetch_links("citations", "MED", "1"),
        ]
        for call in calls:
            with pytest.raises(NotConfigured) as caught:
                call()
            assert caught.value.reason == "europepmc_disabled"

    assert not server.seen


# Full text


def test_full_text_is_requested_by_pmcid_and_cached(tmp_path: Path) -> None:
    with open_client(tmp_path, Answer(ARTICLE)) as (europepmc, server, _):
        assert europepmc.fetch_full_text(" pmc123 ").content == ARTICLE
        assert europepmc.fetch_full_text("PMC123").from_cache

    assert [seen.path for seen in server.seen] == ["/europepmc/PMC123/fullTextXML"]


@pytest.mark.parametrize("answer", [Answer(b"", status=404), Answer(b"<html/>", status=404)])
def test_a_status_for_missing_full_text_is_final_and_not_cached(tmp_path: Path, answer: Answer) -> None:
    with open_client(tmp_path, answer, Answer(ARTICLE)) as (europepmc, server, _):
        with pytest.raises(EntityNotFound) as caught:
            europepmc.fetch_full_text("PMC123")
        assert caught.value.reason == "no_full_text"
        assert "PMC123" in caught.value.message
        assert europepmc.fetch_full_text("PMC123").content == ARTICLE

    assert len(server.seen) == 2


@pytest.mark.parametrize("answer", [Answer(b""), Answer(b" \n")])
def test_an_empty_full_text_is_missing_after_the_second_attempt_and_not_cached(tmp_path: Path, answer: Answer) -> None:
    with open_client(tmp_path, answer, Answer(ARTICLE), answer, answer, Answer(ARTICLE)) as (europepmc, server, _):
        assert europepmc.fetch_full_text("PMC122").content == ARTICLE
        with pytest.raises(EntityNotFound) as caught:
            europepmc.fetch_full_text("PMC123")
        assert caught.value.reason == "no_full_text"
        assert "PMC123" in caught.value.message
        assert europepmc.fetch_full_text("PMC123").content == ARTICLE

    assert len(server.seen) == 5


@pytest.mark.parametrize("pmcid", ["", "123", "PMC", "PMC1/../x", "PMC12?x=1", "PMC1234567890123"])
def test_an_invalid_pmcid_is_never_part_of_an_address(tmp_path: Path, pmcid: str) -> None:
    with open_client(tmp_path) as (europepmc, server, _), pytest.raises(InvalidInput):
        europepmc.fetch_full_text(pmcid)

    assert not server.seen


def test_incomplete_full_text_is_requested_again(tmp_path: Path) -> None:
    with open_client(tmp_path, Answer(ARTICLE[:60]), Answer(ARTICLE)) as (europepmc, server, _):
        assert europepmc.fetch_full_text("PMC123").content == ARTICLE

    assert len(server.seen) == 2


# Citations and references


@pytest.mark.parametrize(("what", "holder"), [("citations", "citationList"), ("references", "referenceList")])
def test_links_are_requested_by_source_and_id(
    tmp_path: Path, what: Literal["citations", "references"], holder: str
) -> None:
    answer = Answer(json.dumps({"hitCount": 0, holder: {}}).encode())
    with open_client(tmp_path, answer) as (europepmc, server, _):
        europepmc.fetch_links(what, "MED", "20516115", page=2, page_size=1000)

    assert server.seen[0].path == f"/europepmc/MED/20516115/{what}"
    assert server.seen[0].params == {"page": "2", "pageSize": "1000", "format": "json"}


@pytest.mark.parametrize(
    ("source", "ext_id", "page"),
    [("MEDLINE", "1", 1), ("med", "1", 1), ("MED", "1/2", 1), ("MED", "", 1), ("MED", "1", 0)],
)
def test_links_of_an_invalid_id_are_rejected(tmp_path: Path, source: str, ext_id: str, page: int) -> None:
    with open_client(tmp_path) as (europepmc, server, _), pytest.raises(InvalidInput):
        europepmc.fetch_links("citations", source, ext_id, page=page)

    assert not server.seen
