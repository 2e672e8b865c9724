"""The cache: the lifetime of replies, and the effect of `--refresh`, `--offline` and `cache_ttl`."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from cache_helpers import ARTICLE, NO_ARTICLE, advance_clock, count_requests, read_entries, search
from loopback_server import ESEARCH, Answer
from loopback_transport import open_workbench

from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.services.pmc_cloud import PmcOpenData
from entrez_kit.services.transport import DAY, HOUR, WEEK, Reply
from entrez_kit.services.transport.cache import cache_file
from entrez_kit.services.transport.cached_session import clear

LISTING = b"<ListBucketResult><CommonPrefixes><Prefix>PMC1.1/</Prefix></CommonPrefixes></ListBucketResult>"
SUMMARY = b"<eSummaryResult><DocSum><Id>1</Id><Item Name='Title'>T</Item></DocSum></eSummaryResult>"


@pytest.mark.parametrize(
    ("call", "body", "ttl"),
    [
        (lambda e: e.einfo(), b"<eInfoResult><DbList><DbName>pubmed</DbName></DbList></eInfoResult>", DAY),
        (
            lambda e: e.esummary(db="pubmed", ids=["1"]),
            SUMMARY,
            DAY,
        ),
        (lambda e: e.esearch(db="pubmed", term="x"), ESEARCH, HOUR),
        (lambda e: e.esearch(db="mesh", term="x"), ESEARCH, WEEK),
        (
            lambda e: e.esummary(db="mesh", ids=["1"]),
            SUMMARY,
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
def test_the_lifetime_of_a_reply_depends_on_the_endpoint(
    call: Callable[[object], Reply], body: bytes, ttl: int, tmp_path: Path
) -> None:
    with open_workbench(tmp_path, always=Answer(body=body)) as bench:
        call(bench.eutils)
        [(_, left)] = read_entries(bench)
        assert ttl - 10 < left <= ttl + 1


@pytest.mark.parametrize("body", [NO_ARTICLE, ARTICLE])
def test_a_reply_with_a_missing_record_is_cached_for_an_hour_only(body: bytes, tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(body=body)) as bench:
        bench.eutils.efetch(db="pubmed", ids=["1", "2"], retmode="xml")
        [(_, left)] = read_entries(bench)
        assert HOUR - 10 < left <= HOUR + 1


def test_a_bucket_without_an_article_is_requested_again_after_an_hour(tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(body=b"<ListBucketResult></ListBucketResult>")) as bench:
        client = PmcOpenData(bench.transport, replace(bench.settings, pmc_oa_url=f"{bench.server.root}/bucket"))
        with pytest.raises(EntityNotFound):
            client.find_latest_version("PMC1")
        [(_, left)] = read_entries(bench)
        assert left <= HOUR + 1
        clear(bench.settings)
        bench.server.always = Answer(body=LISTING)
        assert client.find_latest_version("PMC1") == "PMC1.1"
        [(_, left)] = read_entries(bench)
        assert left > HOUR + 1


def test_refresh_sends_a_request_and_replaces_the_entry(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        bench.server.always = Answer(body=ESEARCH.replace(b">asthma<", b">copd<"))
        with bench.open_another(refresh=True) as other:
            assert b">copd<" in search(other).content
            assert not search(other).from_cache
        again = search(bench)
        assert again.from_cache
        assert b">copd<" in again.content


def test_offline_answers_from_the_cache_and_sends_no_request(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        with bench.open_another(offline=True) as other:
            assert search(other).from_cache
            with pytest.raises(UpstreamError) as caught:
                search(other, "new")
            assert other.limiter.taken == 0
        assert count_requests(bench) == 1
    assert caught.value.reason == "offline"
    assert caught.value.exit_code == 5
    assert "without offline=True" in caught.value.recovery_hint


def test_offline_returns_expired_replies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_workbench(tmp_path, cache_ttl=1) as bench:
        search(bench)
        advance_clock(monkeypatch, 2)
        with bench.open_another(offline=True) as other:
            assert search(other).from_cache
        assert not search(bench).from_cache


def test_an_expired_reply_does_not_replace_a_failed_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_workbench(tmp_path, cache_ttl=1) as bench:
        search(bench)
        advance_clock(monkeypatch, 2)
        bench.server.always = Answer(status=500)
        with pytest.raises(UpstreamError):
            search(bench)
        bench.server.always = Answer()
        assert not search(bench).from_cache
        assert search(bench).from_cache


def test_offline_history_calls_are_refused_too(tmp_path: Path) -> None:
    with open_workbench(tmp_path, offline=True) as bench, pytest.raises(UpstreamError) as caught:
        bench.eutils.esearch(db="pubmed", term="x", usehistory=True)
    assert caught.value.reason == "offline"


@pytest.mark.parametrize("days", [1, 4_000])
def test_a_reply_stored_under_a_clock_that_was_ahead_is_requested_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    with open_workbench(tmp_path) as bench:
        with monkeypatch.context() as ahead:
            advance_clock(ahead, days * DAY)
            search(bench)
        with bench.open_another() as other:
            assert not search(other).from_cache
            assert search(other).from_cache
        with bench.open_another(offline=True) as other:
            assert search(other).from_cache


def test_cache_ttl_shortens_the_lifetime_of_new_and_stored_replies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        advance_clock(monkeypatch, 2)
        with bench.open_another(cache_ttl=1) as other:
            assert not search(other).from_cache
            assert search(other).from_cache
            [(_, left)] = read_entries(bench)
            assert left <= 2


def test_cache_ttl_lengthens_the_lifetime_but_not_of_missing_records(tmp_path: Path) -> None:
    with open_workbench(tmp_path, cache_ttl=10 * WEEK) as bench:
        search(bench)
        [(_, left)] = read_entries(bench)
        assert left > 9 * WEEK
        clear(bench.settings)
        bench.server.always = Answer(body=NO_ARTICLE)
        bench.eutils.efetch(db="pubmed", ids=["9"], retmode="xml")
        [(_, left)] = read_entries(bench)
        assert left <= HOUR + 1


def test_a_cache_ttl_of_zero_caches_nothing(tmp_path: Path) -> None:
    with open_workbench(tmp_path, cache_ttl=0) as bench:
        assert not search(bench).from_cache
        assert not search(bench).from_cache
        assert not cache_file(bench.settings).exists()


def test_entries_long_expired_are_deleted_at_the_first_write_of_a_process(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench, "old")
        search(bench, "young")
        bench.transport.close()
        connection = sqlite3.connect(cache_file(bench.settings))
        connection.execute("UPDATE responses SET expires=1000 WHERE CAST(value AS TEXT) LIKE '%term=old%'")
        connection.commit()
        connection.close()
        search(bench, "new")
        assert len(read_entries(bench)) == 2
