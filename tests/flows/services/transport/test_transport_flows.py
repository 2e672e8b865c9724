"""Whole calls to a real loopback server: retries, final errors, deadlines, and redirects."""

import gzip
import logging
import socket
import ssl
import threading
import time
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path

import pytest
import requests
import urllib3
from loopback_server import ESEARCH, HTML, RATE_LIMIT, Answer, Fault, Loopback
from loopback_transport import (
    EMAIL,
    KEY,
    CountingLimiter,
    add_secrets,
    find_free_port,
    make_settings,
    open_bench,
    open_workbench,
    read_search,
)
from urllib3.connectionpool import HTTPConnectionPool

from entrez_kit.base import tracing
from entrez_kit.base.errors import (
    EntrezKitError,
    InvalidInput,
    NotConfigured,
    RateLimited,
    UpstreamError,
)
from entrez_kit.services.transport import Call, Expect, faults, redirects
from entrez_kit.services.transport.retry import Backoff

BACKEND_ERROR = b"<eSearchResult><ERROR>Search Backend failed: try again</ERROR></eSearchResult>"


# Temporary failures


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(Answer(status=500, body=HTML), id="500"),
        pytest.param(Answer(status=502, body=b""), id="502"),
        pytest.param(Answer(status=503, body=HTML), id="503"),
        pytest.param(Answer(status=429, body=RATE_LIMIT), id="429"),
        pytest.param(Answer(status=200, body=RATE_LIMIT), id="429 body with 200"),
        pytest.param(Answer(status=400, body=b""), id="blank 400"),
        pytest.param(Answer(status=400, body=BACKEND_ERROR), id="400 with backend text"),
        pytest.param(Answer(body=HTML), id="HTML with 200"),
        pytest.param(Answer(body=BACKEND_ERROR), id="ERROR with 200"),
        pytest.param(Answer(body=b""), id="empty"),
        pytest.param(Answer(fault="cut"), id="connection cut"),
        pytest.param(Answer(fault="truncate"), id="shorter than Content-Length"),
        pytest.param(Answer(fault="chunked_cut"), id="cut between chunks"),
        pytest.param(Answer(fault="unmarked_cut"), id="cut without any length"),
        pytest.param(Answer(fault="truncate", compressed=True), id="cut gzip"),
        pytest.param(Answer(body=b"no gzip", headers={"Content-Encoding": "gzip"}), id="no gzip"),
    ],
)
def test_a_failed_attempt_is_repeated_and_each_attempt_uses_a_slot(bad: Answer, tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        bench.server.then(bad, bad)

        reply = bench.eutils.esearch(db="pubmed", term="asthma")

        assert reply.content == ESEARCH
        assert reply.attempts == 3
        assert len(bench.server.seen) == 3
        assert bench.limiter.taken == 3


def test_four_failed_batches_of_many_do_not_stop_the_others(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        for number in range(40):
            if number % 10 == 3:
                bench.server.then(Answer(status=400, body=b"<html><title>Bad Request</title></html>"))
            assert read_search(bench, f"batch {number}") == ESEARCH


def test_a_compressed_reply_is_unpacked_byte_for_byte(tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(compressed=True)) as bench:
        assert read_search(bench) == ESEARCH
        assert read_search(bench) == ESEARCH
        assert len(bench.server.seen) == 1


def test_retry_after_in_seconds_is_obeyed(leaping_clock: list[float], tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        bench.server.then(Answer(status=429, body=RATE_LIMIT, headers={"Retry-After": "1"}))
        read_search(bench)

        first, second = bench.server.seen
        assert 1.0 <= second.at - first.at < 2.5


def test_retry_after_as_a_date_is_obeyed(leaping_clock: list[float], tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        date = formatdate(time.time() + 2, usegmt=True)
        bench.server.then(Answer(status=503, headers={"Retry-After": date}))
        read_search(bench)

        first, second = bench.server.seen
        assert 0.8 <= second.at - first.at < 4


# Final failures


def test_after_the_last_attempt_the_error_describes_the_failure(tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(body=HTML)) as bench, pytest.raises(UpstreamError) as caught:
        read_search(bench)

    assert caught.value.details == {
        "service": "eutils", "endpoint": "esearch", "status": 200, "reason": "invalid_response", "attempts": 4,
    }  # fmt: skip
    assert "HTML page" in caught.value.message
    assert "4 attempts" in caught.value.message


def test_a_lasting_rate_limit_is_rate_limited(tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(status=429, body=RATE_LIMIT)) as bench:
        with pytest.raises(RateLimited) as caught:
            read_search(bench)
        assert len(bench.server.seen) == 4

    assert caught.value.reason == "rate_limited"
    assert caught.value.details["attempts"] == 4
    assert "203.0.113.7" not in str(caught.value.envelope())


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(status=400, body=b'{"error":"API key invalid"}'), NotConfigured),
        (Answer(body=b"<eSearchResult><ERROR>Invalid term value</ERROR></eSearchResult>"), InvalidInput),
        (Answer(status=404, body=HTML), UpstreamError),
        (Answer(status=403, body=HTML), UpstreamError),
    ],
)
def test_an_error_that_a_retry_cannot_fix_is_requested_once(
    answer: Answer, kind: type[EntrezKitError], tmp_path: Path
) -> None:
    with open_workbench(tmp_path, always=answer, **add_secrets()) as bench:
        with pytest.raises(kind) as caught:
            read_search(bench)
        assert len(bench.server.seen) == 1
    assert caught.value.details.get("attempts", 1) == 1


def test_the_number_of_retries_is_a_setting(tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(status=500), ncbi_max_retries=0) as bench:
        with pytest.raises(UpstreamError) as caught:
            read_search(bench)
        assert len(bench.server.seen) == 1
    assert caught.value.reason == "ncbi_unreachable"


def test_a_body_larger_than_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entrez_kit.services.transport.wire.MAX_BODY_BYTES", 100_000)
    huge = b"<eSearchResult><Count>1</Count>" + b" " * 200_000 + b"</eSearchResult>"
    with open_workbench(tmp_path, always=Answer(body=huge, compressed=True)) as bench:
        with pytest.raises(UpstreamError) as caught:
            read_search(bench)
        assert len(bench.server.seen) == 1
    assert caught.value.reason == "too_large"


# Time limits


def test_the_deadline_ends_a_call_whose_next_attempt_would_be_too_late(
    leaping_clock: list[float], tmp_path: Path
) -> None:
    always = Answer(status=500)
    options = {"backoff": Backoff(first=0.8, cap=0.8, spread=0)}
    with open_workbench(
        tmp_path, always=always, options=options, ncbi_total_deadline_ms=2200, ncbi_max_retries=9
    ) as bench:
        with pytest.raises(UpstreamError) as caught:
            read_search(bench)
        assert len(bench.server.seen) == 3

    assert caught.value.reason == "deadline_exceeded"
    assert caught.value.details["last_failure"] == "ncbi_unreachable"
    assert caught.value.details["attempts"] == 3


def test_a_retry_after_beyond_the_deadline_ends_the_call_at_once(leaping_clock: list[float], tmp_path: Path) -> None:
    always = Answer(status=429, body=RATE_LIMIT, headers={"Retry-After": "3600"})
    with open_workbench(tmp_path, always=always, ncbi_total_deadline_ms=2000) as bench:
        with pytest.raises(RateLimited) as caught:
            read_search(bench)
        assert len(bench.server.seen) == 1
        assert sum(leaping_clock) == 0
    assert caught.value.reason == "deadline_exceeded"


@pytest.mark.long
@pytest.mark.parametrize("fault", ["drip", "hang"])
def test_a_slow_body_ends_at_the_deadline(fault: str, tmp_path: Path) -> None:
    slow = Answer(fault="drip" if fault == "drip" else "hang")
    with open_workbench(tmp_path, always=slow, ncbi_total_deadline_ms=800) as bench:
        started = time.monotonic()
        with pytest.raises(UpstreamError) as caught:
            read_search(bench)
        assert time.monotonic() - started > 0.5
        assert bench.server.completed == 0

    assert caught.value.reason == "deadline_exceeded"
    assert caught.value.details["last_failure"] == "timeout"


@pytest.mark.long
def test_the_timeout_of_a_request_leaves_time_for_another(tmp_path: Path) -> None:
    with open_workbench(tmp_path, ncbi_timeout_ms=300) as bench:
        bench.server.then(Answer(delay=1.0), Answer(fault="drip"), Answer(fault="hang"))

        assert read_search(bench) == ESEARCH
        assert len(bench.server.seen) == 4


@pytest.mark.parametrize(
    ("milliseconds", "shown"), [(500, "0.5 s"), (50, "0.05 s"), (1_500, "1.5 s"), (30_000, "30 s")]
)
def test_a_timeout_is_shown_in_the_unit_of_its_setting(milliseconds: int, shown: str) -> None:
    call = Call("eutils", "esearch", "http://127.0.0.1/", (), Expect("xml"))

    error = faults.explain(requests.exceptions.ReadTimeout("read timed out"), call, "127.0.0.1", milliseconds / 1000)

    assert f"did not answer within {shown}" in str(error)


@pytest.mark.long
def test_a_call_may_have_its_own_deadline(tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(delay=2.0)) as bench:
        with pytest.raises(UpstreamError) as caught:
            bench.eutils.elink(dbfrom="pubmed", db="pubmed", ids=["1"], cmd="neighbor_score", deadline_ms=300)
        assert (len(bench.server.seen), bench.server.completed) == (1, 0)
    assert caught.value.reason == "deadline_exceeded"


def test_a_slot_after_the_deadline_is_a_rate_limit_and_no_request_is_sent(tmp_path: Path) -> None:
    limiter = CountingLimiter(refuse_seconds=99.0)
    with open_workbench(tmp_path, options={"limiters": lambda settings, service: limiter}) as bench:
        with pytest.raises(RateLimited) as caught:
            read_search(bench)
        assert bench.server.seen == []
    assert caught.value.reason == "deadline_exceeded"
    assert caught.value.details["attempts"] == 0


def test_the_real_limiter_enforces_the_rate(leaping_clock: list[float], tmp_path: Path) -> None:
    with Loopback() as server:
        from entrez_kit.services.transport.rate_gate import get_shared_limiter

        with open_bench(server, make_settings(server, tmp_path), limiters=get_shared_limiter) as bench:
            for number in range(5):
                read_search(bench, str(number))
            times = [seen.at for seen in server.seen]
            assert times[3] - times[0] > 0.95
            assert times[4] - times[1] > 0.95
            assert list((tmp_path / "state").iterdir()) != []


# Failures of connections


def test_a_closed_port_is_tried_few_times(tmp_path: Path) -> None:
    nobody = f"http://127.0.0.1:{find_free_port()}/entrez/eutils"
    with open_workbench(tmp_path, ncbi_max_retries=9) as bench, bench.open_another(eutils_url=nobody) as other:
        with pytest.raises(UpstreamError) as caught:
            read_search(other)
        assert other.limiter.taken == 3
    assert caught.value.reason == "connection"
    assert caught.value.details["host"] == "127.0.0.1"
    assert "doctor" in caught.value.recovery_hint


def test_a_name_that_does_not_resolve_is_a_dns_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_unknown_name(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr("socket.getaddrinfo", raise_unknown_name)
    with (
        open_workbench(tmp_path) as bench,
        bench.open_another(eutils_url="https://eutils.ncbi.nlm.nih.gov/entrez/eutils") as other,
        pytest.raises(UpstreamError) as caught,
    ):
        read_search(other)
    assert caught.value.reason == "dns"


def test_a_proxy_that_does_not_answer_is_a_proxy_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{find_free_port()}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with (
        open_workbench(tmp_path) as bench,
        bench.open_another(eutils_url="https://eutils.ncbi.nlm.nih.gov/entrez/eutils") as other,
        pytest.raises(UpstreamError) as caught,
    ):
        read_search(other)
    assert caught.value.reason == "proxy"


def test_a_proxy_is_not_used_for_requests_to_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{find_free_port()}")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{find_free_port()}")
    with open_workbench(tmp_path) as bench:
        assert read_search(bench) == ESEARCH


def test_a_server_without_tls_is_a_tls_failure(tmp_path: Path) -> None:
    with (
        open_workbench(tmp_path) as bench,
        bench.open_another(eutils_url=bench.server.eutils_url.replace("http:", "https:")) as other,
        pytest.raises(UpstreamError) as caught,
    ):
        read_search(other)
    assert caught.value.reason == "tls"
    assert "REQUESTS_CA_BUNDLE" in caught.value.recovery_hint


def test_a_missing_file_of_certificates_is_named_before_a_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "missing"))
    with (
        open_workbench(tmp_path) as bench,
        bench.open_another(eutils_url=bench.server.eutils_url.replace("http:", "https:")) as other,
        pytest.raises(NotConfigured, match="missing does not exist") as caught,
    ):
        read_search(other)
    assert caught.value.reason == "cannot_read"
    assert "REQUESTS_CA_BUNDLE" in str(caught.value.recovery_hint)


def test_an_invalid_certificate_is_not_tried_again() -> None:
    refused = ssl.SSLCertVerificationError(1, "certificate verify failed: self-signed certificate")
    wrapped = requests.exceptions.SSLError(
        urllib3.exceptions.MaxRetryError(HTTPConnectionPool("x"), "/secret", urllib3.exceptions.SSLError(refused))
    )
    call = Call("eutils", "esearch", "https://eutils.ncbi.nlm.nih.gov/x", (), Expect("any"))

    error = faults.explain(wrapped, call, "eutils.ncbi.nlm.nih.gov", 30)

    assert isinstance(error, UpstreamError)
    assert error.reason == "tls"
    assert "/secret" not in str(error.envelope())


def test_a_server_that_never_answers_is_a_timeout(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, open_workbench(tmp_path) as bench:
        port = silent.getsockname()[1]
        changes = {"eutils_url": f"http://127.0.0.1:{port}/entrez/eutils", "ncbi_timeout_ms": 100}
        with bench.open_another(**changes) as other, pytest.raises(UpstreamError) as caught:
            read_search(other)
    assert caught.value.reason == "timeout"
    assert caught.value.details["attempts"] == 4


def _write_summaries(*uids: str) -> Answer:
    documents = "".join(f'<DocumentSummary uid="{uid}"><Title>T</Title></DocumentSummary>' for uid in uids)
    return Answer(
        body=f"<eSummaryResult><DocumentSummarySet>{documents}</DocumentSummarySet></eSummaryResult>".encode()
    )


def test_missing_summaries_are_requested_again(tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=_write_summaries("1", "2")) as bench:
        bench.server.then(_write_summaries("1"))

        assert b'uid="2"' in bench.eutils.esummary(db="pubmed", ids=["1", "2"]).content
        assert len(bench.server.seen) == 2


def test_summaries_that_stay_missing_are_not_cached_as_missing(tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=_write_summaries("1")) as bench:
        assert b'uid="1"' in bench.eutils.esummary(db="pubmed", ids=["1", "2"], partial=True).content
        bench.server.always = _write_summaries("1", "2")

        assert b'uid="2"' in bench.eutils.esummary(db="pubmed", ids=["1", "2"]).content


def test_an_error_about_too_many_ids_of_a_search_is_an_upstream_error(tmp_path: Path) -> None:
    words = b"<eSearchResult><ERROR>Too many UIDs in request. Maximum number of UIDs is 500.</ERROR></eSearchResult>"
    with open_workbench(tmp_path, always=Answer(body=words)) as bench, pytest.raises(UpstreamError):
        bench.eutils.esearch(db="pubmed", term="x", retmax=9999)


# Redirects


def test_a_redirect_on_the_same_loopback_host_is_followed_with_its_parameters(tmp_path: Path) -> None:
    with open_workbench(tmp_path, **add_secrets()) as bench:
        bench.server.then(Answer(status=301, headers={"Location": "/moved/esearch.fcgi?db=pubmed&api_key=old&term=x"}))
        read_search(bench)

        first, second = bench.server.seen
        assert (first.params["api_key"], second.params["api_key"]) == (KEY, KEY)
        assert second.raw.count("api_key=") == 1
        assert second.path == "/moved/esearch.fcgi"
        assert bench.limiter.taken == 2


def test_the_key_is_not_sent_to_another_port(tmp_path: Path) -> None:
    with open_workbench(tmp_path, **add_secrets()) as bench, open_workbench(tmp_path / "other") as other:
        bench.server.then(
            Answer(status=307, headers={"Location": f"{other.server.root}/esearch.fcgi?db=pubmed&term=x"})
        )
        read_search(bench)

        assert KEY in bench.server.seen[0].raw
        assert "api_key" not in other.server.seen[0].raw
        assert "email" not in other.server.seen[0].raw


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("https://eutils.ncbi.nlm.nih.gov:443/x", True),
        ("https://eutils.ncbi.nlm.nih.gov/other", True),
        ("http://eutils.ncbi.nlm.nih.gov/x", False),
        ("https://eutils.ncbi.nlm.nih.gov:8443/x", False),
        ("https://www.ncbi.nlm.nih.gov/x", False),
    ],
)
def test_the_same_origin_has_the_same_scheme_host_and_port(other: str, same: bool) -> None:
    assert redirects.is_same_origin("https://eutils.ncbi.nlm.nih.gov/x", other) is same


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirected_post_stays_a_post(status: int, tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        bench.server.then(Answer(status=status, headers={"Location": "/moved/esearch.fcgi"}))
        read_search(bench, "x" * 3000)

        assert [seen.method for seen in bench.server.seen] == ["POST", "POST"]
        assert bench.server.seen[1].params["term"] == "x" * 3000


@pytest.mark.parametrize(
    "location",
    [
        "https://example.org/esearch.fcgi",
        "//example.org/x",
        "http://192.0.2.1/x",
        "ftp://127.0.0.1/x",
        "http://a:b@127.0.0.1/",
    ],
)
def test_a_redirect_to_another_host_is_refused(location: str, tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(status=302, headers={"Location": location}), **add_secrets()) as bench:
        with pytest.raises(UpstreamError) as caught:
            read_search(bench)
        assert len(bench.server.seen) == 1
    assert caught.value.reason == "redirected"
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("status", [301, 308])
def test_a_permanent_redirect_is_reported_as_permanent(
    status: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    away = Answer(status=status, headers={"Location": "https://example.org/esearch.fcgi?api_key=old"})
    with open_workbench(tmp_path, always=away) as bench, pytest.raises(UpstreamError) as caught:
        read_search(bench)
    assert (caught.value.reason, caught.value.details["moved_to"]) == ("redirected", "https://example.org")
    assert "moved esearch permanently" in caught.value.message

    with open_workbench(tmp_path / "near") as bench, caplog.at_level(logging.DEBUG, "entrez_kit"):
        bench.server.then(Answer(status=status, headers={"Location": "/moved/esearch.fcgi?term=asthma&api_key=old"}))
        read_search(bench)
    reported = [text for text in caplog.messages if "moved permanently" in text]
    assert reported == [f"esearch has moved permanently to {bench.server.root}/moved/esearch.fcgi"]


def test_a_circle_of_redirects_ends(tmp_path: Path) -> None:
    with open_workbench(
        tmp_path, always=Answer(status=302, headers={"Location": "/esearch.fcgi?term=asthma"})
    ) as bench:
        with pytest.raises(UpstreamError) as caught:
            read_search(bench)
        assert len(bench.server.seen) == 4
    assert caught.value.reason == "redirected"


@pytest.mark.parametrize(("status", "term"), [(301, "x"), (302, "x"), (303, "x"), (308, "x"), (303, "x" * 3000)])
@pytest.mark.parametrize("location", ["/esearch.fcgi", "?again=1", "/login?next=esearch"])
def test_a_redirect_without_the_arguments_is_refused_and_its_answer_is_not_read(
    status: int, term: str, location: str, tmp_path: Path
) -> None:
    with open_workbench(tmp_path) as bench:
        bench.server.then(Answer(status=status, headers={"Location": location}))
        with pytest.raises(UpstreamError) as caught:
            read_search(bench, term)
        assert len(bench.server.seen) == 1
    assert caught.value.reason == "redirected"


# The trace of a call


def test_the_trace_has_every_exchange(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        bench.server.then(Answer(status=500))
        with tracing.trace() as trace:
            read_search(bench)
            read_search(bench)
            bench.server.always = Answer(status=404)
            with pytest.raises(UpstreamError):
                read_search(bench, "other")

    reported = [
        (exchange.endpoint, exchange.from_cache, exchange.attempts, exchange.size) for exchange in trace.exchanges
    ]
    assert reported == [
        ("esearch", False, 2, len(ESEARCH)),
        ("esearch", True, 0, len(ESEARCH)),
        ("esearch", False, 1, 0),
    ]


def test_without_a_key_or_email_none_is_sent(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        read_search(bench)
        params = bench.server.seen[0].params

    assert "email" not in params
    assert "api_key" not in params
    assert params["tool"].startswith("entrez-kit/")


def test_each_service_gets_only_the_identity_that_its_policy_requests(tmp_path: Path) -> None:
    with open_workbench(tmp_path, **add_secrets()) as bench:
        read_search(bench)
        bench.server.always = Answer(body=b'{"status":"ok","records":[]}')
        bench.transport.send(Call("idconv", "idconv", bench.server.idconv_url, (("ids", "1"),), Expect("json")))
        bench.transport.send(Call("europepmc", "search", bench.server.root, (("query", "1"),), Expect("json")))
        eutils, idconv, europepmc = (seen.params for seen in bench.server.seen)

    assert (eutils["api_key"], eutils["email"]) == (KEY, EMAIL)
    assert "api_key" not in idconv
    assert idconv["email"] == EMAIL
    assert set(europepmc) == {"query"}


def test_a_service_with_a_limit_of_simultaneous_requests_gets_no_more(tmp_path: Path) -> None:
    flying, most, lock = [0], [0], threading.Lock()

    class Watcher:
        def acquire(self, deadline: float | None = None) -> None:
            with lock:
                flying[0] += 1
                most[0] = max(most[0], flying[0])

    always = Answer(body=b"{}", delay=0.05)
    with open_workbench(tmp_path, always=always, options={"limiters": lambda settings, service: Watcher()}) as bench:

        def ask(number: int) -> None:
            bench.transport.send(Call("europepmc", "search", bench.server.root, (("q", str(number)),), Expect("json")))
            with lock:
                flying[0] -= 1

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(bench.server.seen) == 12
    assert most[0] <= 5  # four in flight, and one whose place was released before this test counted it


# The whole exchange


@pytest.mark.long
@pytest.mark.parametrize("fault", ["drip_headers", "endless_headers", "continues"])
def test_the_deadline_applies_to_the_headers_too(fault: Fault, tmp_path: Path) -> None:
    with open_workbench(tmp_path, always=Answer(fault=fault), ncbi_total_deadline_ms=1000) as bench:
        with pytest.raises(UpstreamError) as caught:
            read_search(bench)
        assert bench.server.completed == 0

    assert caught.value.exit_code == 5


@pytest.mark.parametrize("share", [0.3, 0.7, 0.99])
def test_an_incomplete_compressed_stream_is_not_an_answer_even_with_complete_http(share: float, tmp_path: Path) -> None:
    whole = gzip.compress(ESEARCH)
    half = Answer(body=whole[: int(len(whole) * share)], headers={"Content-Encoding": "gzip"})
    with open_workbench(tmp_path, always=half) as bench:
        with pytest.raises(UpstreamError, match="truncated"):
            read_search(bench)
        assert len(bench.server.seen) == 4
        bench.server.always = Answer(compressed=True)
        assert read_search(bench) == ESEARCH


def test_text_cut_by_a_wrong_content_length_is_detected(tmp_path: Path) -> None:
    record = b"\nPMID- 99000001\nTI  - A title\nSO  - J Inv Res. 2024;1(1):1.\n\nPMID- 99000002\nTI  - Two\nSO  - K.\n"
    with open_workbench(tmp_path) as bench:
        for length in range(1, len(record)):
            bench.server.by_endpoint["efetch"] = Answer(body=record[:length])
            with open_bench(bench.server, replace(bench.settings, ncbi_max_retries=0, no_cache=True)) as once:
                try:
                    once.eutils.efetch(db="pubmed", ids=["99000001", "99000002"], rettype="medline", retmode="text")
                except UpstreamError:
                    continue
            # A complete reply: a record with its last field, and a line that ends.
            assert record[:length].endswith((b"1(1):1.\n", b"1(1):1.\n\n")) or length < 7, record[:length]
