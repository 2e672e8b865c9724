"""The guarded download of a publisher's page, from real servers in a simulated network of names and addresses."""

import gzip
import ipaddress
import logging
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from limiter_threads import STALLED_SECONDS
from simulated_internet import HTML, Answer, SimulatedInternet, Site, compress, internet, make_redirect, serve_bytes

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError, InvalidInput, UpstreamError
from entrez_kit.base.progress import Cancelled, Watch, watch_calls
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport.download.addresses import AddressGuard
from entrez_kit.services.transport.download.guard import Downloaded, download

__all__ = ["internet"]

HOST = "publisher.example"
ADDRESS = "93.184.216.34"
PDF = b"%PDF-1.4\n% a PDF, or what starts like one\n" + b"x" * 200
SETTINGS = Settings()


def fetch(internet: SimulatedInternet, url: str = f"http://{HOST}/a", **options: Any) -> Downloaded:
    """Download over the given network."""
    return download(url, **{"settings": SETTINGS, "guard": internet.guard, "deadline_s": 5.0, **options})


def get_reason(internet: SimulatedInternet, url: str = f"http://{HOST}/a", **options: Any) -> str | None:
    """Return why a download failed."""
    with pytest.raises(EntrezKitError) as caught:
        fetch(internet, url, **options)
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return caught.value.reason


def test_a_page_is_fetched_from_the_checked_address(internet: SimulatedInternet) -> None:
    with Site({"/a": Answer()}) as site:
        internet.add(HOST, site, ADDRESS)
        found = fetch(internet)

    assert found == Downloaded(f"http://{HOST}/a", HTML, "text/html", "html")
    assert internet.connected == [(ADDRESS, 80)]
    assert site.seen[0].host == HOST


def test_a_name_that_resolves_differently_the_second_time_is_not_used(internet: SimulatedInternet) -> None:
    answers = iter([[ADDRESS], ["127.0.0.1"], ["127.0.0.1"]])
    with Site({"*": Answer()}) as site:
        internet.servers[ADDRESS, 80] = site.port
        guard = AddressGuard(resolver=lambda host, port: next(answers))
        found = fetch(internet, guard=guard)

    assert found.kind == "html"
    assert internet.connected == [(ADDRESS, 80)]


def test_each_hop_is_resolved_and_checked_again(internet: SimulatedInternet) -> None:
    answers = iter([[ADDRESS], ["127.0.0.1"]])
    with Site({"/a": make_redirect("/b"), "/b": Answer()}) as site:
        internet.servers[ADDRESS, 80] = site.port
        guard = AddressGuard(resolver=lambda host, port: next(answers))
        assert get_reason(internet, guard=guard) == "forbidden_address"

    assert internet.connected == [(ADDRESS, 80)]
    assert [seen.path for seen in site.seen] == ["/a"]


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[fd00:ec2::254]/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://inside.example/",
        "//10.0.0.1/",
        "http://publisher.example:22/",
        "http://user:canary@publisher.example/",
        "file:///etc/passwd",
        "ftp://publisher.example/a",
        "gopher://publisher.example/_x",
        "http://[",
    ],
)
def test_a_redirect_to_a_private_address_is_not_followed(internet: SimulatedInternet, location: str) -> None:
    internet.names["inside.example"] = ["192.168.0.7"]
    with Site({"/a": make_redirect(location)}) as site:
        internet.add(HOST, site, ADDRESS)
        with pytest.raises(UpstreamError) as caught:
            fetch(internet)

    assert caught.value.reason in ("forbidden_address", "bad_scheme", "bad_address")
    assert not caught.value.retryable
    assert internet.connected == [(ADDRESS, 80)]
    assert "canary" not in str(caught.value.envelope())


@pytest.mark.parametrize("inside", ["10.0.0.7", "127.0.0.1", "::1", "169.254.169.254", "fe80::1"])
def test_a_name_that_resolves_to_a_private_address_is_not_requested(internet: SimulatedInternet, inside: str) -> None:
    internet.names[HOST] = [inside]
    with pytest.raises(InvalidInput) as caught:
        fetch(internet)

    assert caught.value.reason == "forbidden_address"
    assert internet.connected == []


def test_a_name_with_one_private_address_is_refused(internet: SimulatedInternet) -> None:
    with Site({"/a": Answer()}) as site:
        internet.add(HOST, site, ADDRESS)
        internet.names[HOST] = [ADDRESS, "10.0.0.7"]
        assert get_reason(internet) == "forbidden_address"

    assert internet.connected == []


def test_the_next_checked_address_is_tried_if_one_does_not_answer(internet: SimulatedInternet) -> None:
    with Site({"/a": Answer()}) as site:
        internet.add(HOST, site, "93.184.216.35")
        internet.names[HOST] = [ADDRESS, "93.184.216.35"]
        internet.servers[ADDRESS, 80] = 9  # a closed port
        found = fetch(internet)

    assert found.kind == "html"
    assert internet.connected == [(ADDRESS, 80), ("93.184.216.35", 80)]


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://publisher.example/", "http://127.0.0.1:8080/", "nonsense"]
)
def test_a_forbidden_address_given_by_the_caller_is_invalid_input(internet: SimulatedInternet, url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        fetch(internet, url)

    assert caught.value.recovery_hint
    assert internet.connected == []


def test_up_to_five_redirects_are_followed(internet: SimulatedInternet) -> None:
    answers = {f"/{number}": make_redirect(f"/{number + 1}", 301 + number % 3) for number in range(5)}
    with Site({**answers, "/5": Answer(), "/x": make_redirect("/0")}) as site:
        internet.add(HOST, site, ADDRESS)
        found = fetch(internet, f"http://{HOST}/0")
        assert get_reason(internet, f"http://{HOST}/x") == "too_many_redirects"

    assert (found.url, found.hops) == (f"http://{HOST}/5", 5)


def test_a_loop_of_redirects_ends(internet: SimulatedInternet) -> None:
    with Site({"/a": make_redirect("/b"), "/b": make_redirect("/a")}) as site:
        internet.add(HOST, site, ADDRESS)
        assert get_reason(internet) == "too_many_redirects"

    assert len(site.seen) == 6


@pytest.mark.parametrize(
    ("location", "where"),
    [
        ("b", "/dir/b"),
        ("../b", "/b"),
        ("?x=1", "/dir/a?x=1"),
        ("//other.example/c", "/c"),
        ("/with space", "/with%20space"),
        ("/caf\u00e9".encode().decode("latin-1"), "/caf%C3%A9"),
    ],
)
def test_redirects_are_read_like_browsers_read_them(internet: SimulatedInternet, location: str, where: str) -> None:
    with Site({"/dir/a": make_redirect(location), where: Answer()}) as site:
        internet.add(HOST, site, ADDRESS)
        internet.add("other.example", site, "93.184.216.36")
        found = fetch(internet, f"http://{HOST}/dir/a")

    assert found.hops == 1
    assert site.seen[-1].path == where


def test_a_redirect_without_a_location_is_not_a_page(internet: SimulatedInternet) -> None:
    with Site({"/a": Answer(b"", 302, {})}) as site:
        internet.add(HOST, site, ADDRESS)
        assert get_reason(internet) == "unexpected_status"


def test_no_credentials_and_no_identity_are_sent(
    internet: SimulatedInternet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text(f"machine {HOST} login me password canary-password\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    settings = replace(SETTINGS, ncbi_tool_identifier="my-tool/2")
    cookie = {"Set-Cookie": "a=b; Path=/", "Location": "/b"}
    with Site({"/a": Answer(b"", 302, cookie), "/b": Answer()}) as site:
        internet.add(HOST, site, ADDRESS)
        fetch(internet, settings=settings)

    for seen in site.seen:
        names = {name.lower() for name in seen.headers}
        assert names == {"host", "user-agent", "accept", "accept-encoding", "connection"}
        assert seen.headers["User-Agent"] == "my-tool/2"


def test_a_page_with_a_too_large_content_length_is_not_read(internet: SimulatedInternet) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 65_536

    headers = {"Content-Type": "text/html", "Content-Length": "60000000"}
    with Site({"/a": Answer(b"", 200, headers, pieces=endless, pause=0.5)}) as site:
        internet.add(HOST, site, ADDRESS)
        started = time.monotonic()
        assert get_reason(internet) == "too_large"

    assert time.monotonic() - started < STALLED_SECONDS


def test_a_page_without_a_content_length_is_cut_at_the_limit(internet: SimulatedInternet) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        yield b"<html>"
        while True:
            sent += 65_536
            yield b"x" * 65_536

    with Site({"/a": Answer(b"", 200, {"Content-Type": "text/html"}, pieces=endless)}) as site:
        internet.add(HOST, site, ADDRESS)
        assert get_reason(internet, max_bytes=1_000_000) == "too_large"

    assert sent < 20_000_000


def test_a_small_body_that_unpacks_to_a_large_one_counts_as_large(internet: SimulatedInternet) -> None:
    bomb = compress(b"<html>" + b"0" * 30_000_000)
    headers = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    assert len(bomb) < 50_000
    with Site({"/a": Answer(bomb, 200, headers)}) as site:
        internet.add(HOST, site, ADDRESS)
        assert get_reason(internet, max_bytes=1_000_000) == "too_large"


def test_a_body_compressed_several_times_is_not_unpacked(internet: SimulatedInternet) -> None:
    body = HTML
    for _ in range(12):
        body = gzip.compress(body)
    headers = {"Content-Type": "text/html", "Content-Encoding": ", ".join(["gzip"] * 12)}
    with Site({"/a": Answer(body, 200, headers)}) as site:
        internet.add(HOST, site, ADDRESS)
        assert get_reason(internet) == "invalid_response"


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_compressed_pages_are_unpacked(internet: SimulatedInternet, coding: str) -> None:
    body = compress(HTML) if coding == "gzip" else zlib.compress(HTML)
    with Site({"/a": Answer(body, 200, {"Content-Type": "text/html", "Content-Encoding": coding})}) as site:
        internet.add(HOST, site, ADDRESS)
        assert fetch(internet).content == HTML


def test_damaged_compression_is_not_an_answer(internet: SimulatedInternet) -> None:
    with Site({"/a": Answer(b"not packed", 200, {"Content-Encoding": "gzip"})}) as site:
        internet.add(HOST, site, ADDRESS)
        assert get_reason(internet) == "invalid_response"


@pytest.mark.long
def test_a_slowly_sent_body_does_not_extend_the_time_limit(internet: SimulatedInternet) -> None:
    def drip() -> Iterator[bytes]:
        while True:
            yield b"x"

    with Site({"/a": Answer(b"", 200, {"Content-Type": "text/html"}, pieces=drip, pause=0.05)}) as site:
        internet.add(HOST, site, ADDRESS)
        started = time.monotonic()
        assert get_reason(internet, deadline_s=0.3, silence_s=5) == "too_slow"

    assert time.monotonic() - started < STALLED_SECONDS


@pytest.mark.long
def test_slowly_sent_headers_do_not_extend_the_time_limit(internet: SimulatedInternet) -> None:
    with serve_bytes(b"HTTP/1.1 200 OK\r\nX-Filler: ", drip=b"x") as port:
        internet.names[HOST] = [ADDRESS]
        internet.servers[ADDRESS, 80] = port
        started = time.monotonic()
        assert get_reason(internet, deadline_s=0.3, silence_s=5) == "too_slow"

    assert time.monotonic() - started < STALLED_SECONDS


def test_a_server_that_never_answers_is_abandoned(internet: SimulatedInternet) -> None:
    with Site({"/a": Answer(pieces=lambda: [b"late"], pause=3)}) as site:
        internet.add(HOST, site, ADDRESS)
        started = time.monotonic()
        assert get_reason(internet, silence_s=0.3) in ("timeout", "broke_off")

    assert time.monotonic() - started < STALLED_SECONDS


@pytest.mark.long
def test_the_time_limit_applies_to_all_hops_together(internet: SimulatedInternet) -> None:
    slow = Answer(b"", 302, {"Location": "/a"}, delay=0.3)
    with Site({"/a": slow}) as site:
        internet.add(HOST, site, ADDRESS)
        assert get_reason(internet, deadline_s=0.5, max_hops=50) == "too_slow"

    assert len(site.seen) <= 2


def test_an_incomplete_body_is_not_a_page(internet: SimulatedInternet) -> None:
    headers = {"Content-Type": "text/html", "Content-Length": "5000"}
    with Site({"/a": Answer(b"", 200, headers, pieces=lambda: [HTML])}) as site:
        internet.add(HOST, site, ADDRESS)
        assert get_reason(internet) == "broke_off"


@pytest.mark.parametrize(
    ("status", "expected", "may_pass"),
    [
        (401, "refused", False),
        (403, "refused", False),
        (404, "no_such_address", False),
        (410, "no_such_address", False),
        (429, "busy", True),
        (500, "busy", True),
        (503, "busy", True),
        (204, "unexpected_status", True),
        (206, "unexpected_status", True),
    ],
)
def test_an_error_status_is_reported(internet: SimulatedInternet, status: int, expected: str, may_pass: bool) -> None:
    with Site({"/a": Answer(b"", status)}) as site:
        internet.add(HOST, site, ADDRESS)
        with pytest.raises(UpstreamError) as caught:
            fetch(internet)

    assert (caught.value.reason, caught.value.retryable) == (expected, may_pass)
    assert caught.value.details["status"] == status
    assert str(status) in caught.value.message


@pytest.mark.parametrize(
    ("body", "content_type", "kind"),
    [
        (PDF, "application/pdf", "pdf"),
        (PDF, "text/html", "pdf"),
        (PDF, "application/octet-stream", "pdf"),
        (b"\n junk before \n" + PDF, "application/pdf", "pdf"),
        (HTML, "application/pdf", "html"),
        (HTML, "", "html"),
        (b"\xef\xbb\xbf\n<!-- saved -->\n<HTML><body>x", "text/plain", "html"),
        (b"\xff\xfe" + "<html><body>x".encode("utf-16-le"), "text/html", "html"),
        (b'<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"/>', "", "html"),
        (b"<div>a fragment with %PDF- in it</div>", "application/pdf", "html"),
        (b"<custom-element>x</custom-element>", "text/html", "html"),
        (b'<?xml version="1.0"?><article/>', "text/html", "xml"),
        (b"<article-set/>", "application/xml", "xml"),
        (b"<article><front/></article>", "application/xml", "xml"),
        (b"<article><h1>Words</h1></article>", "text/html", "html"),
        (b'{"error": "no PDF here"}', "application/pdf", "other"),
        (b"plain words", "application/pdf", "other"),
    ],
)
def test_the_content_is_identified_by_its_bytes_and_not_by_its_label(
    internet: SimulatedInternet, body: bytes, content_type: str, kind: str
) -> None:
    with Site({"/a": Answer(body, 200, {"Content-Type": content_type})}) as site:
        internet.add(HOST, site, ADDRESS)
        found = fetch(internet)

    assert (found.kind, found.content) == (kind, body)


@pytest.mark.parametrize("body", [b"", b" \r\n ", b"PK\x03\x04" + b"\x00" * 500, b"\x89PNG\r\n\x1a\n\x00\x00" * 50])
def test_content_that_is_neither_text_nor_pdf_is_not_a_page(internet: SimulatedInternet, body: bytes) -> None:
    with Site({"/a": Answer(body, 200, {"Content-Type": "text/html"})}) as site:
        internet.add(HOST, site, ADDRESS)
        assert get_reason(internet) == "not_a_page"


def test_the_encoding_named_by_the_server_is_returned(internet: SimulatedInternet) -> None:
    with Site({"/a": Answer(HTML, 200, {"Content-Type": 'text/html; Charset="ISO-8859-1"'})}) as site:
        internet.add(HOST, site, ADDRESS)
        assert fetch(internet).charset == "ISO-8859-1"


def test_an_unknown_name_and_a_closed_port_are_reported(internet: SimulatedInternet) -> None:
    internet.names["deaf.example"] = [ADDRESS]
    internet.servers[ADDRESS, 80] = 9

    assert get_reason(internet, "http://unknown.example/") == "dns"
    assert get_reason(internet, "http://deaf.example/") == "connection"


def test_a_server_that_does_not_speak_http_is_not_a_page(internet: SimulatedInternet) -> None:
    with serve_bytes(b"220 mail.example ESMTP\r\n") as port:
        internet.names[HOST] = [ADDRESS]
        internet.servers[ADDRESS, 80] = port
        assert get_reason(internet) == "invalid_response"


def test_offline_no_request_is_sent(internet: SimulatedInternet) -> None:
    assert get_reason(internet, settings=replace(SETTINGS, offline=True)) == "offline"
    assert internet.lookups == []


def test_keys_in_addresses_are_neither_shown_nor_sent_on(
    internet: SimulatedInternet, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="entrez_kit")
    signed = f"http://{HOST}/b?id=1&X-Amz-Signature=canary-signature&token=canary-token"
    with Site({"/a": make_redirect(signed), "*": Answer()}) as site:
        internet.add(HOST, site, ADDRESS)
        found = fetch(internet)
    with Site({"*": Answer(b"", 403)}) as site:
        internet.add(HOST, site, ADDRESS)
        with pytest.raises(UpstreamError) as caught:
            fetch(internet, signed)

    assert site.seen[0].path.endswith("canary-token")
    assert found.url == f"http://{HOST}/b?id=1"
    assert "canary" not in f"{caught.value.envelope()} {found!r} {caplog.text}"


def test_a_download_is_part_of_the_trace_of_its_call(internet: SimulatedInternet) -> None:
    with Site({"/a": make_redirect("/b"), "/b": Answer()}) as site, tracing.trace() as trace:
        internet.add(HOST, site, ADDRESS)
        fetch(internet)

    [exchange] = trace.exchanges
    assert (exchange.endpoint, exchange.attempts, exchange.size) == ("download", 2, len(HTML))


def test_a_cancelled_download_stops(internet: SimulatedInternet) -> None:
    wanted = iter([True, False])
    with Site({"/a": make_redirect("/b"), "/b": Answer()}) as site:
        internet.add(HOST, site, ADDRESS)
        watch = Watch(lambda: next(wanted), lambda done, total: None)
        with watch_calls(watch), pytest.raises(Cancelled):
            fetch(internet)

    assert len(site.seen) == 1


# The sandbox ----------------------------------------------------------------------------------------------------------


def test_only_the_sandbox_may_be_requested_on_this_machine(internet: SimulatedInternet) -> None:
    with Site({"/a": Answer(), "/b": make_redirect("http://127.0.0.1:9/")}) as site, Site({"*": Answer()}) as other:
        settings = SETTINGS.use_sandbox(f"http://127.0.0.1:{site.port}")
        guard = AddressGuard.of(settings)
        found = fetch(internet, f"http://127.0.0.1:{site.port}/a", guard=guard, settings=settings)
        assert get_reason(internet, f"http://127.0.0.1:{site.port}/b", guard=guard) == "forbidden_address"
        assert get_reason(internet, f"http://127.0.0.1:{other.port}/", guard=guard) == "forbidden_address"

    assert found.kind == "html"
    assert other.seen == []


def test_no_public_page_leads_to_a_service_on_this_machine(internet: SimulatedInternet) -> None:
    with Site({"/a": Answer()}) as site, Site({}) as public:
        public.answers["/a"] = make_redirect(f"http://127.0.0.1:{site.port}/a")
        internet.add(HOST, public, ADDRESS)
        guard = replace(internet.guard, home=("http", "127.0.0.1", site.port))
        assert get_reason(internet, guard=guard) == "forbidden_address"

    assert site.seen == []


def test_every_public_address_of_these_tests_is_public() -> None:
    assert ipaddress.ip_address(ADDRESS).is_global
