"""The cache: what is stored, for how long, for whom, and that it never gets in the way."""

import base64
import errno
import hashlib
import json
import multiprocessing
import os
import random
import sqlite3
import stat
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
import requests
from loopback import ESEARCH, HTML, RATE_LIMIT, Answer, Loopback
from pydantic import SecretStr
from workbench import EMAIL, KEY, Bench, CountingLimiter, opened, settings_for, with_secrets, workbench

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, StoreError, UpstreamError
from entrez_kit.base.identifiers import Identifier
from entrez_kit.base.settings import EUTILS_URL, Settings
from entrez_kit.fulltext.article_lookup import ArticleLookup
from entrez_kit.fulltext.tiers import _is_article, _read_article
from entrez_kit.pubmed.citation_matcher import CONTROL, Citation, ask_matcher
from entrez_kit.relationships.links import fetch_links
from entrez_kit.services import Services
from entrez_kit.services.id_converter import IdConverter
from entrez_kit.services.pmc_cloud import PmcOpenData
from entrez_kit.services.transport import DAY, HOUR, WEEK, Call, Expect, Reply, cache_identity, cached_session
from entrez_kit.services.transport import cache as store
from entrez_kit.services.transport.cache import cache_file, cache_info
from entrez_kit.services.transport.cached_session import clear, prune

ARTICLE = b'<PubmedArticleSet><PubmedArticle><PMID Version="1">1</PMID></PubmedArticle></PubmedArticleSet>'
NO_ARTICLE = b"<PubmedArticleSet></PubmedArticleSet>"
SUMMARY = b"<eSummaryResult><DocSum><Id>1</Id><Item Name='Title'>T</Item></DocSum></eSummaryResult>"
NO_IDS = b"<eFetchResult><ERROR>ID list is empty! Possibly it has no correct IDs.</ERROR></eFetchResult>"


def search(bench: Bench, term: str = "asthma") -> Reply:
    """Search."""
    return bench.eutils.esearch(db="pubmed", term=term)


def asked(bench: Bench) -> int:
    """How often the server was asked."""
    return len(bench.server.seen)


def stored(bench: Bench) -> list[tuple[bytes, int]]:
    """Return value and seconds left of every entry of the file."""
    connection = sqlite3.connect(cache_file(bench.settings))
    rows = connection.execute("SELECT value, expires FROM responses").fetchall()
    connection.close()
    return [(value, expires - int(time.time())) for value, expires in rows]


# Hits


def test_a_repeated_call_comes_from_the_cache_and_costs_no_slot(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        first, second = search(bench), search(bench)

        assert (first.from_cache, first.attempts) == (False, 1)
        assert (second.from_cache, second.attempts) == (True, 0)
        assert second.content == first.content == ESEARCH
        assert (second.url, second.method, second.status) == (first.url, first.method, first.status)
        assert asked(bench) == bench.limiter.taken == 1


def test_a_reply_has_the_same_time_before_and_after_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter(range(100))
    start = datetime.now(UTC)
    monkeypatch.setattr("requests_cache.models.response.utcnow", lambda: start + timedelta(seconds=next(seconds)))
    with workbench(tmp_path) as bench:
        first, second = search(bench), search(bench)

    assert not first.from_cache
    assert second.from_cache
    assert first.created == second.created


def test_the_cache_outlives_the_process(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        bench.transport.close()
        with bench.another() as other:
            assert search(other).from_cache


def test_keyed_and_keyless_users_share_what_is_cached(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        with bench.another(**with_secrets(), ncbi_tool_identifier="another") as other:
            assert search(other).from_cache


@pytest.mark.parametrize("body", [bytes(range(256)) * 50, "Ünïcödé \u2028\r\n".encode(), b"\x00", b"\xff\xfe<a>\n\n"])
def test_bytes_come_back_as_they_came(body: bytes, tmp_path: Path) -> None:
    expect = Expect("any")
    with workbench(tmp_path, always=Answer(body=b">" + body, compressed=True)) as bench:
        call = Call("eutils", "efetch", f"{bench.server.root}/efetch.fcgi", (("id", "1"),), expect, ttl=60)
        assert bench.transport.send(call).content == b">" + body
        bench.transport.close()
        again = bench.transport.send(call)
        assert again.from_cache
        assert again.content == b">" + body


def test_get_and_post_of_the_same_parameters_share_an_entry(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        url = f"{bench.server.eutils_url}/esearch.fcgi"
        params = (("db", "pubmed"), ("term", "x"))
        expect = Expect("xml", frozenset({"eSearchResult"}))
        bench.transport.send(Call("eutils", "esearch", url, params, expect, method="POST", ttl=60))
        reply = bench.transport.send(Call("eutils", "esearch", url, params[::-1], expect, method="GET", ttl=60))

        assert reply.from_cache
        assert bench.server.seen[0].method == "POST"


def test_what_makes_a_request_another_one() -> None:
    def key(*params: tuple[str, str], url: str = "https://x", endpoint: str = "elink") -> str:
        return Call("eutils", endpoint, url, params, Expect("any")).key(url)

    same = key(("db", "pubmed"), ("id", "1"), ("id", "2"))
    assert key(("id", "1"), ("db", "pubmed"), ("id", "2")) == same
    assert key(("db", "pubmed"), ("id", "1"), ("id", "2"), ("api_key", KEY), ("email", EMAIL), ("tool", "t")) == same
    others = {
        key(("db", "pubmed"), ("id", "2"), ("id", "1")),
        key(("db", "pubmed"), ("id", "1,2")),
        key(("db", "pubmed"), ("id", "1"), ("id", "2"), ("term", "")),
        key(("db", "pubmed"), ("id", "1"), ("id", "2"), endpoint="esummary"),
        key(("db", "pubmed"), ("id", "1"), ("id", "2"), url="https://y"),
        key(("db", "pubmedid"), ("", "1"), ("id", "2")),
    }
    assert len(others) == 6
    assert same not in others


def test_the_sandbox_has_one_identity_whatever_its_port() -> None:
    first = Settings(eutils_url="http://127.0.0.1:1/entrez/eutils", demo=True)
    second = Settings(eutils_url="http://127.0.0.1:2/entrez/eutils", demo=True)

    assert cache_identity(first, "eutils") == cache_identity(second, "eutils")
    assert cache_identity(first, "eutils") != cache_identity(first, "idconv")
    assert cache_identity(Settings(), "eutils") == EUTILS_URL


# What is stored


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
def test_nothing_that_is_no_answer_is_ever_stored(bad: Answer, tmp_path: Path) -> None:
    with workbench(tmp_path, always=bad) as bench:
        with pytest.raises(EntrezKitError):
            search(bench)
        assert not cache_file(bench.settings).exists() or stored(bench) == []

        bench.server.always = Answer()
        assert not search(bench).from_cache


def test_a_bad_reply_does_not_displace_a_stored_answer(tmp_path: Path) -> None:
    with workbench(tmp_path, ncbi_max_retries=0) as bench:
        search(bench)
        with bench.another(refresh=True) as other:
            bench.server.always = Answer(body=HTML)
            with pytest.raises(UpstreamError):
                search(other)
        assert search(bench).from_cache


@pytest.mark.parametrize(
    ("call", "body", "ttl"),
    [
        (lambda e: e.einfo(), b"<eInfoResult><DbList><DbName>pubmed</DbName></DbList></eInfoResult>", DAY),
        (
            lambda e: e.esummary(db="pubmed", ids=["1"]),
            b"<eSummaryResult><DocSum><Id>1</Id><Item Name='Title'>T</Item></DocSum></eSummaryResult>",
            DAY,
        ),
        (lambda e: e.esearch(db="pubmed", term="x"), ESEARCH, HOUR),
        (lambda e: e.esearch(db="mesh", term="x"), ESEARCH, WEEK),
        (
            lambda e: e.esummary(db="mesh", ids=["1"]),
            b"<eSummaryResult><DocSum><Id>1</Id><Item Name='Title'>T</Item></DocSum></eSummaryResult>",
            WEEK,
        ),
        (lambda e: e.espell(term="x"), b"<eSpellResult><Query>x</Query></eSpellResult>", HOUR),
        (lambda e: e.egquery(term="x"), b"<Result><eGQueryResult></eGQueryResult></Result>", HOUR),
        (lambda e: e.elink(dbfrom="pubmed", ids=["1"]), b"<eLinkResult><LinkSet></LinkSet></eLinkResult>", HOUR),
        (lambda e: e.efetch(db="pubmed", ids=["1"], retmode="xml"), ARTICLE, WEEK),
        (lambda e: e.efetch(db="mesh", ids=["1"], rettype="full", retmode="text"), b"\n1: Asthma\n", WEEK),
        (lambda e: e.ecitmatch(bdata="j|2000|1|1|a|k|"), b"j|2000|1|1|a|k|11\n", WEEK),
    ],
)
def test_how_long_a_reply_counts_depends_on_the_endpoint(
    call: Callable[[object], Reply], body: bytes, ttl: int, tmp_path: Path
) -> None:
    with workbench(tmp_path, always=Answer(body=body)) as bench:
        call(bench.eutils)
        [(_, left)] = stored(bench)
        assert ttl - 10 < left <= ttl + 1


def test_what_uses_or_makes_history_is_never_cached(tmp_path: Path) -> None:
    history = b"<eSearchResult><Count>0</Count><QueryKey>1</QueryKey><WebEnv>MCID_12345678</WebEnv></eSearchResult>"
    posted = b"<ePostResult><QueryKey>1</QueryKey><WebEnv>MCID_692851c130aec64bed0a8c2a</WebEnv></ePostResult>"
    calls: list[tuple[bytes, Callable[[Bench], Reply]]] = [
        (history, lambda b: b.eutils.esearch(db="pubmed", term="x", usehistory=True)),
        (history, lambda b: b.eutils.esearch(db="pubmed", term="#1", webenv="MCID_12345678")),
        (ARTICLE, lambda b: b.eutils.efetch(db="pubmed", webenv="MCID_12345678", query_key="1", retmode="xml")),
        (posted, lambda b: b.eutils.epost(db="pubmed", ids=["1"])),
        (
            b"<eLinkResult><LinkSet></LinkSet></eLinkResult>",
            lambda b: b.eutils.elink(dbfrom="pubmed", ids=["1"], cmd="neighbor_history"),
        ),
    ]
    with workbench(tmp_path) as bench:
        for body, call in calls:
            bench.server.always = Answer(body=body)
            assert not call(bench).from_cache
            assert not call(bench).from_cache
        assert asked(bench) == 10
        assert not cache_file(bench.settings).exists()


@pytest.mark.parametrize(("body", "status"), [(NO_IDS, 200), (NO_IDS, 400)])
def test_words_about_ids_need_a_second_opinion_and_are_never_remembered(
    body: bytes, status: int, tmp_path: Path
) -> None:
    none = ESEARCH.replace(b"<Count>2", b"<Count>0").replace(b"<Id>11</Id>\n<Id>12</Id>", b"")
    both = ESEARCH.replace(b"<Count>2", b"<Count>1").replace(b"<Id>11</Id>\n<Id>12</Id>", b"<Id>99</Id>")
    with workbench(tmp_path, always=Answer(body=body, status=status), cache_ttl=0) as bench:
        bench.server.by_endpoint["esearch"] = Answer(body=both)
        with pytest.raises(UpstreamError, match="A search of pubmed finds all of them") as caught:
            bench.eutils.efetch(db="pubmed", ids=["99"], retmode="xml")
        assert caught.value.reason == "contradiction"
        assert [seen.endpoint for seen in bench.server.seen] == ["efetch"] * 3 + ["esearch"]
        assert bench.server.seen[-1].params["term"] == "99[UID]"
        bench.server.by_endpoint["esearch"] = Answer(body=none)
        with pytest.raises(EntityNotFound):
            bench.eutils.efetch(db="pubmed", ids=["99"], retmode="xml")
    with workbench(tmp_path, always=Answer(body=body, status=status)) as bench:
        bench.server.by_endpoint["esearch"] = Answer(body=none)
        with pytest.raises(EntityNotFound):
            bench.eutils.efetch(db="pubmed", ids=["99"], retmode="xml")
        bench.server.always = Answer(body=ARTICLE)
        assert not bench.eutils.efetch(db="pubmed", ids=["99"], retmode="xml").from_cache


@pytest.mark.parametrize("body", [NO_ARTICLE, ARTICLE])
def test_a_reply_that_lacks_a_record_counts_for_an_hour_only(body: bytes, tmp_path: Path) -> None:
    with workbench(tmp_path, always=Answer(body=body)) as bench:
        bench.eutils.efetch(db="pubmed", ids=["1", "2"], retmode="xml")
        [(_, left)] = stored(bench)
        assert HOUR - 10 < left <= HOUR + 1


def test_a_mixed_batch_that_the_id_converter_refuses_is_not_cached(tmp_path: Path) -> None:
    refusal = b'{"status":"error","message":"Mixed id types in one request"}'
    with workbench(tmp_path, always=Answer(body=refusal, status=400)) as bench:
        converter = IdConverter(bench.transport, bench.settings)
        for _ in range(2):
            with pytest.raises(InvalidInput) as caught:
                converter.convert(["PMC1", "2"])
            assert "Mixed id types" in caught.value.message
        assert asked(bench) == 2


def test_headers_of_the_service_do_not_decide_what_is_cached(tmp_path: Path) -> None:
    headers = {
        "Cache-Control": "private, no-store", "Vary": "*", "ETag": '"1"', "Expires": "0", "Set-Cookie": "ncbi_sid=abc",
        "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT", "X-RateLimit-Limit": "3",
    }  # fmt: skip
    with workbench(tmp_path, always=Answer(headers=headers)) as bench:
        search(bench)
        assert search(bench).from_cache
        assert b"ncbi_sid" not in bench.cache_bytes()
        search(bench, "other")
        assert "Cookie" not in bench.server.seen[1].headers


ARTICLE_TEXT = b"<body><sec><title>Results</title><p>Mice were fed.</p></sec></body>"
NOTHING_FOUND = ESEARCH.replace(b"<Count>2", b"<Count>0").replace(b"<Id>11</Id>\n<Id>12</Id>", b"")
LISTING = b"<ListBucketResult><CommonPrefixes><Prefix>PMC1.1/</Prefix></CommonPrefixes></ListBucketResult>"
HIT = {"id": "5", "source": "MED", "pmid": "5", "pmcid": "PMC1", "title": "T"}
PMC1 = Identifier("pmcid", "PMC1", "PMC1")


def jats(pmcid: str, body: bytes = ARTICLE_TEXT) -> bytes:
    """Return an article as PMC sends it."""
    number = b'<article-id pub-id-type="pmcid">' + pmcid.encode() + b"</article-id>"
    return b"<article><front><article-meta>" + number + b"</article-meta></front>" + body + b"</article>"


def linked(*sources: str) -> bytes:
    """Return links of articles."""
    one = "<LinkSet><DbFrom>pubmed</DbFrom><IdList><Id>{}</Id></IdList></LinkSet>"
    return f"<eLinkResult>{''.join(one.format(source) for source in sources)}</eLinkResult>".encode()


def page(hits: int, *results: dict[str, str]) -> bytes:
    """Return a page of a search of Europe PMC."""
    return json.dumps({"hitCount": hits, "resultList": {"result": results}}).encode()


def bucket_text(services: Services) -> object:
    return services.pmc_oa.article_xml(
        "PMC1", "PMC1.1", read=partial(_read_article, lookup=ArticleLookup(PMC1)), keep=_is_article
    )


def europepmc_text(services: Services) -> object:
    return services.europepmc.full_text_xml(
        "PMC1", read=partial(_read_article, lookup=ArticleLookup(PMC1)), keep=_is_article
    )


@pytest.mark.parametrize(
    ("call", "rejected", "accepted"),
    [
        (bucket_text, jats("PMC2"), jats("PMC1")),
        (bucket_text, b"<pmc-articleset><p>none</p></pmc-articleset>", jats("PMC1")),
        (europepmc_text, jats("PMC2"), jats("PMC1")),
        (europepmc_text, b"<pmc-articleset><p>none</p></pmc-articleset>", jats("PMC1")),
        (lambda s: fetch_links(s, "pubmed_similar_articles", ["1", "2"]), linked("1"), linked("1", "2")),
        (
            lambda s: s.europepmc.search(query="x", page_size=2),
            page(2, HIT),
            page(2, HIT, {**HIT, "id": "6", "pmid": "6"}),
        ),
        (
            lambda s: ask_matcher(s, [Citation(journal="j", year="2000")]),
            f"{CONTROL}NOT_FOUND\n".encode(),
            f"{CONTROL}NOT_FOUND\nj|2000||||ek0|11\n".encode(),
        ),
        (lambda s: s.eutils.known_uids("pubmed", ["11", "12"]), ESEARCH, NOTHING_FOUND),
    ],
)
def test_a_reply_that_leaves_out_or_contradicts_the_request_is_requested_again(
    call: Callable[[Services], object], rejected: bytes, accepted: bytes, tmp_path: Path
) -> None:
    with Loopback(Answer(body=rejected)) as server:
        settings = settings_for(
            server, tmp_path, pmc_oa_url=f"{server.root}/bucket", ncbi_max_retries=0, europepmc_max_retries=0
        )
        with Services(settings) as services:
            services.transport._limiters = lambda *_: CountingLimiter()
            with suppress(EntrezKitError):
                call(services)
            before = len(server.seen)
            assert before
            with suppress(EntrezKitError):
                call(services)
            assert len(server.seen) > before, "it came from the cache"

            server.always = Answer(body=accepted)
            call(services)
            before = len(server.seen)
            call(services)
            assert len(server.seen) == before, "it did not come from the cache"


def test_a_bucket_without_an_article_is_asked_again_after_an_hour(tmp_path: Path) -> None:
    with workbench(tmp_path, always=Answer(body=b"<ListBucketResult></ListBucketResult>")) as bench:
        client = PmcOpenData(bench.transport, replace(bench.settings, pmc_oa_url=f"{bench.server.root}/bucket"))
        with pytest.raises(EntityNotFound):
            client.latest_version("PMC1")
        [(_, left)] = stored(bench)
        assert left <= HOUR + 1
        clear(bench.settings)
        bench.server.always = Answer(body=LISTING)
        assert client.latest_version("PMC1") == "PMC1.1"
        [(_, left)] = stored(bench)
        assert left > HOUR + 1


# Settings


def test_no_cache_neither_reads_nor_writes(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        with bench.another(no_cache=True) as other:
            assert not search(other).from_cache
            search(other, "new")
        assert len(stored(bench)) == 1


def test_refresh_asks_again_and_replaces(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        bench.server.always = Answer(body=ESEARCH.replace(b">asthma<", b">copd<"))
        with bench.another(refresh=True) as other:
            assert b">copd<" in search(other).content
            assert not search(other).from_cache
        again = search(bench)
        assert again.from_cache
        assert b">copd<" in again.content


def test_offline_answers_from_the_cache_and_asks_nobody(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        with bench.another(offline=True) as other:
            assert search(other).from_cache
            with pytest.raises(UpstreamError) as caught:
                search(other, "new")
            assert other.limiter.taken == 0
        assert asked(bench) == 1
    assert caught.value.reason == "offline"
    assert caught.value.exit_code == 5
    assert "without offline=True" in caught.value.recovery_hint


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Put the clock forward, that of requests-cache too."""
    moment = time.time
    monkeypatch.setattr(time, "time", lambda: moment() + seconds)
    monkeypatch.setattr("requests_cache.backends.sqlite.time", time.time)
    for module in ("policy.actions", "policy.expiration", "models.response"):
        monkeypatch.setattr(f"requests_cache.{module}.utcnow", lambda: datetime.fromtimestamp(time.time(), UTC))


def test_offline_takes_replies_past_their_time_rather_than_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workbench(tmp_path, cache_ttl=1) as bench:
        search(bench)
        later(monkeypatch, 2)
        with bench.another(offline=True) as other:
            assert search(other).from_cache
        assert not search(bench).from_cache


def test_a_reply_past_its_time_does_not_stand_in_for_a_failed_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workbench(tmp_path, cache_ttl=1) as bench:
        search(bench)
        later(monkeypatch, 2)
        bench.server.always = Answer(status=500)
        with pytest.raises(UpstreamError):
            search(bench)
        bench.server.always = Answer()
        assert not search(bench).from_cache
        assert search(bench).from_cache


def test_offline_history_calls_are_refused_too(tmp_path: Path) -> None:
    with workbench(tmp_path, offline=True) as bench, pytest.raises(UpstreamError) as caught:
        bench.eutils.esearch(db="pubmed", term="x", usehistory=True)
    assert caught.value.reason == "offline"


@pytest.mark.parametrize("days", [1, 4_000])
def test_a_reply_that_was_stored_under_a_clock_ahead_is_requested_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    with workbench(tmp_path) as bench:
        with monkeypatch.context() as ahead:
            later(ahead, days * DAY)
            search(bench)
        with bench.another() as other:
            assert not search(other).from_cache
            assert search(other).from_cache
        with bench.another(offline=True) as other:
            assert search(other).from_cache


def test_cache_ttl_shortens_what_is_stored_and_what_was_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        later(monkeypatch, 2)
        with bench.another(cache_ttl=1) as other:
            assert not search(other).from_cache
            assert search(other).from_cache
            [(_, left)] = stored(bench)
            assert left <= 2


def test_cache_ttl_lengthens_but_not_for_what_does_not_exist(tmp_path: Path) -> None:
    with workbench(tmp_path, cache_ttl=10 * WEEK) as bench:
        search(bench)
        [(_, left)] = stored(bench)
        assert left > 9 * WEEK
        clear(bench.settings)
        bench.server.always = Answer(body=NO_ARTICLE)
        bench.eutils.efetch(db="pubmed", ids=["9"], retmode="xml")
        [(_, left)] = stored(bench)
        assert left <= HOUR + 1


def test_a_cache_ttl_of_zero_caches_nothing(tmp_path: Path) -> None:
    with workbench(tmp_path, cache_ttl=0) as bench:
        assert not search(bench).from_cache
        assert not search(bench).from_cache
        assert not cache_file(bench.settings).exists()


# The file


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with workbench(tmp_path) as bench:
            search(bench)
            folder = bench.settings.cache_dir
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            names = sorted(path.name for path in folder.iterdir())
            assert names == ["http_cache.sqlite", "http_cache.sqlite-shm", "http_cache.sqlite-wal"]
            assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    finally:
        os.umask(old)


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_a_file_open_to_others_is_closed_to_them_and_a_shared_folder_left_alone(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        bench.transport.close()
        path = cache_file(bench.settings)
        path.chmod(0o666)
        path.parent.chmod(0o755)
        search(bench)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o755


def test_a_row_is_a_checksum_a_line_of_json_and_the_body_as_it_came(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        reply = search(bench)
        [(value, _)] = stored(bench)
        checksum, head, body = value.split(b"\n", 2)
        document = json.loads(head)
    assert checksum.decode() == hashlib.sha256(head + b"\n" + body).hexdigest()
    assert document["url"].endswith("esearch.fcgi?db=pubmed&retmax=20&retmode=xml&retstart=0&term=asthma")
    assert set(document) == {"key", "created_at", "expires", "headers", "status_code", "url"}
    assert set(document["headers"]) <= {"Cache-Control", "Content-Type"}
    assert body == reply.content


def change_rows(bench: Bench, statement: str, *values: object) -> None:
    """Change the file as another program may."""
    with closing(sqlite3.connect(cache_file(bench.settings))) as connection, connection:
        connection.execute(statement, values)


def test_a_damaged_row_is_a_miss_and_never_a_wrong_answer(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        for place in (0, 63, 64, 70, 120, 200, -1, -20):
            [(value, _)] = stored(bench)
            damaged = bytearray(value)
            damaged[place] ^= 1
            change_rows(bench, "UPDATE responses SET value=?", bytes(damaged))
            reply = search(bench)
            assert (reply.from_cache, reply.content) == (False, ESEARCH), place
            assert search(bench).from_cache


def test_a_row_under_the_key_of_another_call_is_a_miss(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench, "copd")
        bench.server.always = Answer(body=ESEARCH.replace(b">asthma<", b">copd<"))
        search(bench, "asthma")
        with closing(sqlite3.connect(cache_file(bench.settings))) as connection, connection:
            (one, value), (other, another) = connection.execute("SELECT key, value FROM responses").fetchall()
            swapped = [(another, one), (value, other)]
            connection.executemany("UPDATE responses SET value=? WHERE key=?", swapped)

        assert not search(bench, "copd").from_cache
        assert not search(bench, "asthma").from_cache


def test_a_row_of_an_earlier_version_is_a_miss(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        [(value, _)] = stored(bench)
        _, head, body = value.split(b"\n", 2)
        document = json.loads(head)
        pretty = json.dumps({**document, "_content": base64.b64encode(body).decode()}, indent=2)
        for earlier in (head + b"\n" + body, pretty):
            change_rows(bench, "UPDATE responses SET value=?", earlier)
            assert not search(bench).from_cache
            assert search(bench).from_cache


def test_requests_cache_and_the_quick_path_use_one_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with workbench(tmp_path, cache_ttl=100) as bench:
        reply = search(bench)
        quick, library = (store.CacheFile(cache_file(bench.settings), bench.transport.notices) for _ in range(2))
        replies = cached_session.ReplyCache(library)
        [key] = replies.responses

        def both() -> tuple[bytes | None, bytes | None]:
            read, found = quick.read(key), replies.get_response(key)
            return read.content if read is not None else None, found.content if found is not None else None

        found, read = replies.get_response(key), quick.read(key)
        assert both() == (reply.content, reply.content) == (ESEARCH, ESEARCH)
        assert found is not None
        assert read is not None
        assert found.expires is not None
        assert (found.expires.timestamp(), found.created_at.timestamp()) == (read.expires, read.created)
        assert not found.is_expired

        prune(bench.settings)
        assert both() == (ESEARCH, ESEARCH)
        later(monkeypatch, 101)
        assert found.is_expired
        assert time.time() > read.expires
        prune(bench.settings)
        assert both() == (None, None)

        search(bench)
        assert both() == (ESEARCH, ESEARCH)
        clear(bench.settings)
        assert both() == (None, None)
        quick.close()
        library.close()


def test_the_session_takes_what_another_process_stored_after_the_quick_path_found_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        monkeypatch.setattr(store.CacheFile, "read", lambda *_: None)
        reply = search(bench)

        assert (reply.from_cache, reply.content, asked(bench)) == (True, ESEARCH, 1)
        assert reply.value.ids == ["11", "12"]


def test_a_session_of_requests_cache_stores_the_replies_and_its_requests_hold_no_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[requests.PreparedRequest] = []
    original = cached_session.ReplyCache.save_response

    def save(self: cached_session.ReplyCache, response: requests.Response, *arguments: object) -> None:
        seen.append(response.request)
        original(self, response, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(cached_session.ReplyCache, "save_response", save)
    with workbench(tmp_path, **with_secrets()) as bench:
        search(bench)
        assert search(bench).from_cache
    [request] = seen
    assert request.body is None
    for secret in (KEY, EMAIL, quote(EMAIL)):
        assert secret not in f"{request.url} {request.headers}"


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER spy AFTER INSERT ON responses BEGIN DELETE FROM responses; END",
        "CREATE VIEW extra AS SELECT * FROM responses",
        "CREATE TABLE extra (x)",
        "DROP INDEX expires_idx",
    ],
)
def test_a_cache_whose_schema_was_changed_is_moved_aside(statement: str, tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        bench.transport.close()
        change_rows(bench, statement)
        search(bench)

        assert search(bench).from_cache
        assert len(list(bench.settings.cache_dir.glob("*.damaged-*"))) == 1
        assert len(bench.transport.notices) == 1


def test_a_folder_that_cannot_be_written_means_memory_and_one_notice(tmp_path: Path) -> None:
    blocker = tmp_path / "a file"
    blocker.write_text("no folder", encoding="utf-8")
    with workbench(tmp_path, cache_dir=blocker / "cache") as bench:
        assert not search(bench).from_cache
        assert search(bench).from_cache
        search(bench, "other")
        assert len(bench.transport.notices) == 1
        assert "memory" in bench.transport.notices[0]


def test_a_read_only_folder_means_memory(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write anywhere")
    with workbench(tmp_path) as bench:
        search(bench)
        assert search(bench).from_cache
        assert len(bench.transport.notices) == 1


def test_a_file_on_a_read_only_disk_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        bench.transport.close()
        original = os.open

        def read_only(path: object, flags: int, *args: object, **options: object) -> int:
            if str(path).endswith(".sqlite") and flags & os.O_RDWR:
                raise OSError(errno.EROFS, "Read-only file system")
            return original(path, flags, *args, **options)  # type: ignore[arg-type]

        monkeypatch.setattr("entrez_kit.services.transport.cache.os.open", read_only)
        assert search(bench).from_cache
        assert not search(bench, "new").from_cache
        assert not search(bench, "new").from_cache
        assert search(bench).from_cache
        assert len(bench.transport.notices) == 1


def test_a_database_that_others_made_read_only_still_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        original = sqlite3.connect

        def read_only(path: object, *args: object, **options: object) -> sqlite3.Connection:
            if str(path) == ":memory:":
                return original(":memory:", isolation_level=None, check_same_thread=False)
            return original(f"file:{path}?mode=ro", uri=True, isolation_level=None, check_same_thread=False)

        monkeypatch.setattr("entrez_kit.services.transport.cache.sqlite3.connect", read_only)
        with bench.another() as other:
            assert search(other).from_cache
            assert not search(other, "new").from_cache
            assert not search(other, "new").from_cache
            assert search(other).from_cache
            assert len(other.transport.notices) == 1


@pytest.mark.parametrize("damage", [b"this is no database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_moved_aside(damage: bytes, tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        path = cache_file(bench.settings)
        path.parent.mkdir()
        path.write_bytes(damage)

        assert search(bench).content == ESEARCH
        assert search(bench).content == ESEARCH
        assert search(bench).from_cache
        [aside] = path.parent.glob("*.damaged-*")
        assert aside.read_bytes() == damage
        assert len(bench.transport.notices) == 1


def test_a_file_damaged_while_it_is_open_does_not_fail_a_call(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        for number in range(50):
            search(bench, str(number))
        bench.transport.close()
        path = cache_file(bench.settings)
        content = bytearray(path.read_bytes())
        content[4096:] = random.Random(1).randbytes(len(content) - 4096)
        path.write_bytes(content)
        for number in range(50):
            assert search(bench, str(number)).content == ESEARCH


@pytest.mark.parametrize(
    "value", ["no json", "{}", "[1]", '{"status_code":200}', '{"_content":5,"status_code":200}', b"\x80\x04."]
)
def test_an_entry_that_means_nothing_is_a_miss(value: object, tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        connection = sqlite3.connect(cache_file(bench.settings))
        connection.execute("UPDATE responses SET value=?", (value,))
        connection.commit()
        connection.close()

        assert not search(bench).from_cache
        assert search(bench).from_cache


def test_a_cache_that_another_program_locks_does_not_hold_up_a_call(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        blocker = sqlite3.connect(cache_file(bench.settings), isolation_level=None)
        blocker.execute("BEGIN EXCLUSIVE")
        try:
            assert search(bench).from_cache  # readers need no lock
            started = time.monotonic()
            for number in range(10):
                assert search(bench, str(number)).content == ESEARCH
            assert time.monotonic() - started < 2  # not every call waits for the lock
            assert len(bench.transport.notices) == 1
        finally:
            blocker.execute("ROLLBACK")
            blocker.close()


def test_a_cache_locked_from_the_start_does_not_hold_up_a_call(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        path = cache_file(bench.settings)
        path.parent.mkdir()
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("PRAGMA locking_mode=EXCLUSIVE")
        blocker.execute("CREATE TABLE t (x)")
        blocker.execute("BEGIN EXCLUSIVE")
        started = time.monotonic()
        assert search(bench).content == ESEARCH
        assert time.monotonic() - started < 2
        blocker.execute("ROLLBACK")
        blocker.close()


@pytest.mark.usefixtures("leaping_clock")
def test_a_locked_cache_is_used_again_once_it_is_free(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        blocker = sqlite3.connect(cache_file(bench.settings), isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        search(bench, "new")
        blocker.execute("ROLLBACK")
        blocker.close()
        time.sleep(store.PAUSE_SECONDS)
        search(bench, "new")
        assert search(bench, "new").from_cache


def test_a_full_disk_costs_the_entry_and_not_the_call(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        with bench.transport._cache.connection() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count={pages}")
        bench.server.always = Answer(body=ESEARCH.replace(b"asthma", b"x" * 500_000))
        assert search(bench, "large").content.startswith(b"<?xml")
        assert search(bench, "asthma").from_cache
        assert len(bench.transport.notices) == 1
        assert "full" in bench.transport.notices[0]


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        path = cache_file(bench.settings)
        path.parent.mkdir()
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version=99")
        connection.close()
        before = path.read_bytes()
        search(bench)
        assert search(bench).from_cache
        assert path.read_bytes() == before
        assert "newer version" in bench.transport.notices[0]


def test_in_memory_only_the_latest_replies_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_session, "MEMORY_ENTRIES", 3)
    blocker = tmp_path / "file"
    blocker.touch()
    with workbench(tmp_path, cache_dir=blocker / "cache") as bench:
        for number in range(6):
            search(bench, str(number))
        assert search(bench, "5").from_cache
        assert not search(bench, "0").from_cache


def test_entries_long_past_their_time_are_dropped_when_a_process_first_writes(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench, "old")
        search(bench, "young")
        bench.transport.close()
        connection = sqlite3.connect(cache_file(bench.settings))
        connection.execute("UPDATE responses SET expires=1000 WHERE CAST(value AS TEXT) LIKE '%term=old%'")
        connection.commit()
        connection.close()
        search(bench, "new")
        assert len(stored(bench)) == 2


def _search_in_child(url: str, folder: Path, number: int) -> None:
    settings = Settings(eutils_url=url, cache_dir=folder / "cache", state_dir=folder / "state", ncbi_max_retries=0)
    from workbench import CountingLimiter

    from entrez_kit.services.eutils import EUtils
    from entrez_kit.services.transport.client import Transport

    transport = Transport(settings, limiters=lambda _settings, _service: CountingLimiter())
    for turn in range(20):
        EUtils(transport, settings).esearch(db="pubmed", term=f"{number}-{turn}")
    transport.close()


@pytest.mark.process
def test_several_processes_write_one_cache(tmp_path: Path) -> None:
    with Loopback() as server, opened(server, settings_for(server, tmp_path)) as bench:
        context = multiprocessing.get_context("spawn")
        children = [
            context.Process(target=_search_in_child, args=(server.eutils_url, tmp_path, number)) for number in range(3)
        ]
        for child in children:
            child.start()
        for child in children:
            child.join(60)
        assert [child.exitcode for child in children] == [0, 0, 0]
        assert len(stored(bench)) >= 58  # a write that had to wait too long may be left out
        assert sqlite3.connect(cache_file(bench.settings)).execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_opens_the_cache_for_itself(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench)
        child = os.fork()
        if child == 0:
            try:
                fine = search(bench).from_cache and not search(bench, "child").from_cache
                os._exit(0 if fine else 1)
            except BaseException:
                os._exit(2)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert search(bench).from_cache
        assert search(bench, "child").from_cache


def test_many_threads_share_one_cache(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        wrong: list[object] = []

        def work(number: int) -> None:
            for turn in range(30):
                try:
                    if search(bench, str((number + turn) % 10)).content != ESEARCH:
                        wrong.append("bytes")
                except Exception as exc:
                    wrong.append(exc)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert asked(bench) == 10


# cache info, clear, prune


def test_cache_info_counts_what_is_there(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
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


def test_clear_leaves_no_bytes_behind(tmp_path: Path) -> None:
    with workbench(tmp_path) as bench:
        search(bench, "something private")
        bench.transport.close()
        assert b"something+private" in bench.cache_bytes()
        clear(bench.settings)
        assert b"something+private" not in bench.cache_bytes()


def test_an_absent_cache_can_be_cleared_and_pruned(tmp_path: Path) -> None:
    settings = Settings(cache_dir=tmp_path / "none")

    assert (clear(settings), prune(settings)) == (0, 0)
    assert not (tmp_path / "none").exists()


def test_a_damaged_cache_is_reported_and_can_be_cleared(tmp_path: Path) -> None:
    settings = Settings(cache_dir=tmp_path)
    cache_file(settings).write_bytes(b"no database" * 100)

    assert "not a database" in (cache_info(settings).problem or "")
    with pytest.raises(StoreError):
        prune(settings)
    assert clear(settings) == 0
    assert not cache_file(settings).exists()


def test_a_cache_in_use_cannot_be_cleared_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entrez_kit.services.transport.cache.PATIENT_BUSY_MS", 100)
    with workbench(tmp_path, ncbi_api_key=SecretStr(KEY)) as bench:
        search(bench)
        blocker = sqlite3.connect(cache_file(bench.settings), isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as caught:
            clear(bench.settings)
        blocker.close()
    assert "locked" in caught.value.message
