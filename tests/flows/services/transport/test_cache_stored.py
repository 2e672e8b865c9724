"""The cache: which replies are stored, under which key, and that they come back unchanged."""

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cache_helpers import (
    ARTICLE,
    NOTHING_FOUND,
    advance_clock,
    assert_only_cached,
    count_requests,
    read_entries,
    search,
)
from loopback_server import ESEARCH, HTML, RATE_LIMIT, Answer
from loopback_transport import EMAIL, KEY, TransportBench, open_workbench

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, UpstreamError
from entrez_kit.base.settings import EUTILS_URL, Settings
from entrez_kit.pubmed.citation_matcher import CONTROL, Citation, ask_matcher
from entrez_kit.relationships.links import fetch_links
from entrez_kit.services import Services
from entrez_kit.services.id_converter import IdConverter
from entrez_kit.services.transport import Call, Expect, Reply, cache_identity, cached_session
from entrez_kit.services.transport import cache as store
from entrez_kit.services.transport.cache import cache_file, cache_info
from entrez_kit.services.transport.cached_session import clear, prune

NO_IDS = b"<eFetchResult><ERROR>ID list is empty! Possibly it has no correct IDs.</ERROR></eFetchResult>"
HIT = {"id": "5", "source": "MED", "pmid": "5", "pmcid": "PMC1", "title": "T"}


def test_a_repeated_call_is_answered_from_the_cache_and_uses_no_slot(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        first, second = search(bench), search(bench)

        assert (first.from_cache, first.attempts) == (False, 1)
        assert (second.from_cache, second.attempts) == (True, 0)
        assert second.content == first.content == ESEARCH
        assert (second.url, second.method, second.status) == (first.url, first.method, first.status)
        assert count_requests(bench) == bench.limiter.taken == 1


def test_a_reply_has_the_same_time_before_and_after_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter(range(100))
    start = datetime.now(UTC)
    monkeypatch.setattr("requests_cache.models.response.utcnow", lambda: start + timedelta(seconds=next(seconds)))
    with open_workbench(tmp_path) as bench:
        first, second = search(bench), search(bench)

    assert not first.from_cache
    assert second.from_cache
    assert first.created == second.created


@pytest.mark.parametrize("body", [bytes(range(256)) * 50, "Ünïcödé \u2028\r\n".encode(), b"\x00", b"\xff\xfe<a>\n\n"])
def test_bytes_are_returned_unchanged(body: bytes, tmp_path: Path) -> None:
    expect = Expect("any")
    with open_workbench(tmp_path, always=Answer(body=b">" + body, compressed=True)) as bench:
        call = Call("eutils", "efetch", f"{bench.server.root}/efetch.fcgi", (("id", "1"),), expect, ttl=60)
        assert bench.transport.send(call).content == b">" + body
        bench.transport.close()
        again = bench.transport.send(call)
        assert again.from_cache
        assert again.content == b">" + body


def test_get_and_post_of_the_same_parameters_share_an_entry(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        url = f"{bench.server.eutils_url}/esearch.fcgi"
        params = (("db", "pubmed"), ("term", "x"))
        expect = Expect("xml", frozenset({"eSearchResult"}))
        bench.transport.send(Call("eutils", "esearch", url, params, expect, method="POST", ttl=60))
        reply = bench.transport.send(Call("eutils", "esearch", url, params[::-1], expect, method="GET", ttl=60))

        assert reply.from_cache
        assert bench.server.seen[0].method == "POST"


def test_a_key_depends_on_the_endpoint_the_url_and_the_parameters() -> None:
    def make_key(*params: tuple[str, str], url: str = "https://x", endpoint: str = "elink") -> str:
        return Call("eutils", endpoint, url, params, Expect("any")).build_key(url)

    same = make_key(("db", "pubmed"), ("id", "1"), ("id", "2"))
    assert make_key(("id", "1"), ("db", "pubmed"), ("id", "2")) == same
    assert (
        make_key(("db", "pubmed"), ("id", "1"), ("id", "2"), ("api_key", KEY), ("email", EMAIL), ("tool", "t")) == same
    )
    others = {
        make_key(("db", "pubmed"), ("id", "2"), ("id", "1")),
        make_key(("db", "pubmed"), ("id", "1,2")),
        make_key(("db", "pubmed"), ("id", "1"), ("id", "2"), ("term", "")),
        make_key(("db", "pubmed"), ("id", "1"), ("id", "2"), endpoint="esummary"),
        make_key(("db", "pubmed"), ("id", "1"), ("id", "2"), url="https://y"),
        make_key(("db", "pubmedid"), ("", "1"), ("id", "2")),
    }
    assert len(others) == 6
    assert same not in others


def test_the_sandbox_has_the_same_cache_keys_on_every_port() -> None:
    first = Settings(eutils_url="http://127.0.0.1:1/entrez/eutils", demo=True)
    second = Settings(eutils_url="http://127.0.0.1:2/entrez/eutils", demo=True)

    assert cache_identity(first, "eutils") == cache_identity(second, "eutils")
    assert cache_identity(first, "eutils") != cache_identity(first, "idconv")
    assert cache_identity(Settings(), "eutils") == EUTILS_URL


@pytest.mark.parametrize(
    "bad",
    [
        Answer(body=HTML),
        Answer(body=b""),
        Answer(body=RATE_LIMIT),
        Answer(status=429, body=RATE_LIMIT),
        Answer(status=500, body=ESEARCH),
        Answer(status=403, body=ESEARCH),
        Answer(status=206, body=ESEARCH),
        Answer(fault="truncate"),
        Answer(fault="unmarked_cut"),
        Answer(body=b"<eSearchResult><ERROR>Search Backend failed</ERROR></eSearchResult>"),
        Answer(body=b"<eSearchResult><ERROR>Empty term and query_key - nothing todo</ERROR></eSearchResult>"),
        Answer(status=400, body=b'{"error":"API key invalid"}'),
    ],
)
def test_an_invalid_reply_is_never_stored(bad: Answer, tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=bad) as bench:
        with pytest.raises(EntrezKitError):
            search(bench)
        assert read_entries(bench) == []

        bench.server.always = Answer()
        assert not search(bench).from_cache


def test_an_invalid_reply_does_not_replace_a_stored_answer(tmp_path: Path) -> None:
    with open_workbench(tmp_path, ncbi_max_retries=0) as bench:
        search(bench)
        with bench.open_another(refresh=True) as other:
            bench.server.always = Answer(body=HTML)
            with pytest.raises(UpstreamError):
                search(other)
        assert search(bench).from_cache


def test_a_call_that_reads_or_writes_history_is_never_cached(tmp_path: Path) -> None:
    history = b"<eSearchResult><Count>0</Count><QueryKey>1</QueryKey><WebEnv>MCID_12345678</WebEnv></eSearchResult>"
    posted = b"<ePostResult><QueryKey>1</QueryKey><WebEnv>MCID_692851c130aec64bed0a8c2a</WebEnv></ePostResult>"
    calls: list[tuple[bytes, Callable[[TransportBench], Reply]]] = [
        (history, lambda b: b.eutils.esearch(db="pubmed", term="x", usehistory=True)),
        (history, lambda b: b.eutils.esearch(db="pubmed", term="#1", webenv="MCID_12345678")),
        (ARTICLE, lambda b: b.eutils.efetch(db="pubmed", webenv="MCID_12345678", query_key="1", retmode="xml")),
        (posted, lambda b: b.eutils.epost(db="pubmed", ids=["1"])),
        (
            b"<eLinkResult><LinkSet></LinkSet></eLinkResult>",
            lambda b: b.eutils.elink(dbfrom="pubmed", ids=["1"], cmd="neighbor_history"),
        ),
    ]
    with open_workbench(tmp_path) as bench:
        for body, call in calls:
            bench.server.always = Answer(body=body)
            assert not call(bench).from_cache
            assert not call(bench).from_cache
        assert count_requests(bench) == 10
        assert not cache_file(bench.settings).exists()


@pytest.mark.parametrize(("body", "status"), [(NO_IDS, 200), (NO_IDS, 400)])
def test_an_error_about_ids_is_verified_by_a_search_and_never_cached(body: bytes, status: int, tmp_path: Path) -> None:
    none = ESEARCH.replace(b"<Count>2", b"<Count>0").replace(b"<Id>11</Id>\n<Id>12</Id>", b"")
    both = ESEARCH.replace(b"<Count>2", b"<Count>1").replace(b"<Id>11</Id>\n<Id>12</Id>", b"<Id>99</Id>")
    with open_workbench(tmp_path, always=Answer(body=body, status=status), cache_ttl=0) as bench:
        bench.server.by_endpoint["esearch"] = Answer(body=both)
        with pytest.raises(UpstreamError, match="A search of pubmed finds all of them") as caught:
            bench.eutils.efetch(db="pubmed", ids=["99"], retmode="xml")
        assert caught.value.reason == "contradiction"
        assert [seen.endpoint for seen in bench.server.seen] == ["efetch"] * 3 + ["esearch"]
        assert bench.server.seen[-1].params["term"] == "99[UID]"
        bench.server.by_endpoint["esearch"] = Answer(body=none)
        with pytest.raises(EntityNotFound):
            bench.eutils.efetch(db="pubmed", ids=["99"], retmode="xml")
    with open_workbench(tmp_path, always=Answer(body=body, status=status)) as bench:
        bench.server.by_endpoint["esearch"] = Answer(body=none)
        with pytest.raises(EntityNotFound):
            bench.eutils.efetch(db="pubmed", ids=["99"], retmode="xml")
        bench.server.always = Answer(body=ARTICLE)
        assert not bench.eutils.efetch(db="pubmed", ids=["99"], retmode="xml").from_cache


def test_a_batch_with_an_id_that_the_converter_refuses_is_not_cached(tmp_path: Path) -> None:
    refusal = b'{"status":"error","message":"Mixed id types in one request"}'
    with open_workbench(tmp_path, always=Answer(body=refusal, status=400)) as bench:
        converter = IdConverter(bench.transport, bench.settings)
        for _ in range(2):
            with pytest.raises(InvalidInput) as caught:
                converter.convert(["PMC1", "2"])
            assert "Mixed id types" in caught.value.message
        assert count_requests(bench) == 2


def test_headers_of_the_service_do_not_decide_about_caching(tmp_path: Path) -> None:
    headers = {
        "Cache-Control": "private, no-store", "Vary": "*", "ETag": '"1"', "Expires": "0", "Set-Cookie": "ncbi_sid=abc",
        "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT", "X-RateLimit-Limit": "3",
    }  # fmt: skip
    with open_workbench(tmp_path, always=Answer(headers=headers)) as bench:
        search(bench)
        assert search(bench).from_cache
        assert b"ncbi_sid" not in bench.cache_bytes()
        search(bench, "other")
        assert "Cookie" not in bench.server.seen[1].headers


def write_link_sets(*sources: str) -> bytes:
    """Return links of articles."""
    one = "<LinkSet><DbFrom>pubmed</DbFrom><IdList><Id>{}</Id></IdList></LinkSet>"
    return f"<eLinkResult>{''.join(one.format(source) for source in sources)}</eLinkResult>".encode()


def write_search_page(hits: int, *results: dict[str, str]) -> bytes:
    """Return a page of a search of Europe PMC."""
    return json.dumps({"hitCount": hits, "resultList": {"result": results}}).encode()


@pytest.mark.parametrize(
    ("call", "rejected", "accepted"),
    [
        (
            lambda s: fetch_links(s, "pubmed_similar_articles", ["1", "2"]),
            write_link_sets("1"),
            write_link_sets("1", "2"),
        ),
        (
            lambda s: s.europepmc.search(query="x", page_size=2),
            write_search_page(2, HIT),
            write_search_page(2, HIT, {**HIT, "id": "6", "pmid": "6"}),
        ),
        (
            lambda s: ask_matcher(s, [Citation(journal="j", year="2000")]),
            f"{CONTROL}NOT_FOUND\n".encode(),
            f"{CONTROL}NOT_FOUND\nj|2000||||ek0|11\n".encode(),
        ),
        (lambda s: s.eutils.known_uids("pubmed", ["11", "12"]), ESEARCH, NOTHING_FOUND),
    ],
)
def test_an_incomplete_or_contradictory_reply_is_requested_again(
    call: Callable[[Services], object], rejected: bytes, accepted: bytes, tmp_path: Path
) -> None:
    assert_only_cached(accepted, rejected, call, tmp_path)


def test_no_cache_neither_reads_nor_writes(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        with bench.open_another(no_cache=True) as other:
            assert not search(other).from_cache
            search(other, "new")
        assert len(read_entries(bench)) == 1


def test_a_row_is_a_checksum_a_line_of_json_and_the_unchanged_body(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        reply = search(bench)
        [(value, _)] = read_entries(bench)
        checksum, head, body = value.split(b"\n", 2)
        document = json.loads(head)
    assert checksum.decode() == hashlib.sha256(head + b"\n" + body).hexdigest()
    assert document["url"].endswith("esearch.fcgi?db=pubmed&retmax=20&retmode=xml&retstart=0&term=asthma")
    assert set(document) == {"key", "created_at", "expires", "headers", "status_code", "url"}
    assert set(document["headers"]) <= {"Cache-Control", "Content-Type"}
    assert body == reply.content


def test_requests_cache_and_the_fast_lookup_use_one_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_workbench(tmp_path, cache_ttl=100) as bench:
        reply = search(bench)
        quick, library = (store.CacheFile(cache_file(bench.settings), bench.transport.notes) for _ in range(2))
        replies = cached_session.ReplyCache(library)
        [key] = replies.responses

        def run_both() -> tuple[bytes | None, bytes | None]:
            read, found = quick.read(key), replies.get_response(key)
            return read.content if read is not None else None, found.content if found is not None else None

        found, read = replies.get_response(key), quick.read(key)
        assert run_both() == (reply.content, reply.content) == (ESEARCH, ESEARCH)
        assert found is not None
        assert read is not None
        assert found.expires is not None
        assert (found.expires.timestamp(), found.created_at.timestamp()) == (read.expires, read.created)
        assert not found.is_expired

        prune(bench.settings)
        assert run_both() == (ESEARCH, ESEARCH)
        advance_clock(monkeypatch, 101)
        assert found.is_expired
        assert time.time() > read.expires
        prune(bench.settings)
        assert run_both() == (None, None)

        search(bench)
        assert run_both() == (ESEARCH, ESEARCH)
        clear(bench.settings)
        assert run_both() == (None, None)
        quick.close()
        library.close()


def test_cache_info_counts_entries_and_expired_entries(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        assert cache_info(bench.settings).exists is False
        search(bench, "a")
        search(bench, "b")
        connection = sqlite3.connect(cache_file(bench.settings))
        connection.execute("UPDATE responses SET expires=1000 WHERE CAST(value AS TEXT) LIKE '%term=a%'")
        connection.commit()
        connection.close()

        info = cache_info(bench.settings)
        assert (info.exists, info.entries, info.expired, info.problem) == (True, 2, 1, None)
        assert info.size_bytes > 4096
        assert info.oldest_expiry == 1000
        assert prune(bench.settings) == 1
        assert cache_info(bench.settings).entries == 1
        assert clear(bench.settings) == 1
        assert cache_info(bench.settings).entries == 0
        assert not search(bench, "b").from_cache


def test_an_absent_cache_can_be_cleared_and_pruned(tmp_path: Path) -> None:
    settings = Settings(cache_dir=tmp_path / "none")

    assert (clear(settings), prune(settings)) == (0, 0)
    assert not (tmp_path / "none").exists()
