"""The guarded download from hostile servers: targets of redirects, length and compression of replies."""

import gzip
import threading
import time
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest
from limiter_threads import STALLED_SECONDS
from simulated_internet import HTML, Answer, SimulatedInternet, Site, internet, make_redirect, serve_bytes

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport.download.guard import download

__all__ = ["internet"]

HOST = "publisher.example"
ADDRESS = "93.184.216.34"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def get_reason(
    internet: SimulatedInternet, url: str = f"http://{HOST}/a", *, deadline_s: float = 3.0, max_bytes: int = 0
) -> str:
    """Return why a download failed; it must fail soon."""
    started = time.monotonic()
    with pytest.raises(EntrezKitError) as caught:
        download(
            url, settings=Settings(), guard=internet.guard, deadline_s=deadline_s, max_bytes=max_bytes or 1_000_000
        )
    assert time.monotonic() - started < deadline_s + STALLED_SECONDS
    return str(caught.value.reason)


def get_failure(internet: SimulatedInternet, start: bytes, drip: bytes = b"", deadline_s: float = 3.0) -> str:
    """Return why there is no page if a server sends these bytes."""
    with serve_bytes(start, drip) as port:
        internet.names[HOST] = [ADDRESS]
        internet.servers[ADDRESS, 80] = port
        return get_reason(internet, deadline_s=deadline_s)


# Targets of redirects


@pytest.mark.parametrize(
    "location",
    [
        "http://[::ffff:169.254.169.254]/latest/meta-data/",
        "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
        "http://[64:ff9b::169.254.169.254]/",
        "http://[fd00:ec2::254]/",
        "http://[::1%25lo]/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://2852039166/",
        "http://169.254.169.254.:80/",
        "http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/",
        "http://127。0。0。1/",
        "http://127\uff0e0\uff0e0\uff0e1/",
        "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
        "http://metadata.google.internal/",
        "http://publisher.example@169.254.169.254/",
        "http://169.254.169.254#@publisher.example/",
        "http://169.254.169.254?@publisher.example/",
        "http://publisher.example\\@169.254.169.254/",
        "http:\\\\169.254.169.254\\",
        "//169.254.169.254/",
        "///169.254.169.254/",
        "http:///169.254.169.254/",
        "http://169.254.169.254:80:80/",
        "http://publisher.example:22/",
        "http://publisher.example:6379/",
        "http://publisher.example:/../x:99999/",
        "http://publisher.example:0/",
        "http://publisher.example:65536/",
        "http://publisher.example:٨٠/",
        "gopher://publisher.example/_x",
        "file:///etc/passwd",
        "ftp://publisher.example/x",
        "javascript:alert(1)",
        "data:text/html,<html>hello",
        "unix:///var/run/docker.sock",
        "http://xn--/",
        "http://a..b/",
        "http://%31%36%39.254.169.254/",
        "http://169.254.169.254%00.publisher.example/",
    ],
)
def test_no_form_of_a_redirect_leads_to_a_private_address(internet: SimulatedInternet, location: str) -> None:
    with Site({"/a": make_redirect(location.encode().decode("latin-1"))}) as site:
        internet.add(HOST, site, ADDRESS)
        assert get_reason(internet)

    assert {host for host, _ in internet.connected} == {ADDRESS}
    assert set(internet.lookups) <= {HOST}


def test_a_location_over_several_lines_adds_no_line_to_the_next_request(internet: SimulatedInternet) -> None:
    said = b"HTTP/1.1 302 Found\r\nLocation: /b\r\n X-Evil: 1\r\n\tHost: inside\r\nContent-Length: 0\r\n\r\n"
    heard: list[bytes] = []
    with serve_bytes(said, heard=heard) as port:
        internet.names[HOST] = [ADDRESS]
        internet.servers[ADDRESS, 80] = port
        assert get_reason(internet, deadline_s=1) == "too_many_redirects"

    assert len(heard) == 6
    assert not any(b"\nX-Evil" in request or b"\nHost: inside" in request for request in heard)


def test_two_locations_lead_to_no_private_address(internet: SimulatedInternet) -> None:
    said = (
        b"HTTP/1.1 302 Found\r\nLocation: http://publisher.example/b\r\nLocation: http://169.254.169.254/\r\n"
        b"Content-Length: 0\r\n\r\n"
    )

    assert get_failure(internet, said)
    assert {host for host, _ in internet.connected} == {ADDRESS}


def test_a_name_that_resolves_to_a_private_address_later_is_refused_then(internet: SimulatedInternet) -> None:
    """A name whose address changes between hops is refused at the hop at which it is private."""
    answers = iter([[ADDRESS], ["127.0.0.1"]])
    with Site({"/a": make_redirect(f"http://{HOST}/b")}) as site:
        internet.add(HOST, site, ADDRESS)
        internet.resolve = lambda host, port: next(answers)  # type: ignore[method-assign]
        assert get_reason(internet) == "forbidden_address"

    assert [host for host, _ in internet.connected] == [ADDRESS]


def test_a_page_with_a_refresh_element_is_not_followed(internet: SimulatedInternet) -> None:
    page = b'<html><meta http-equiv="refresh" content="0; url=http://169.254.169.254/"><p>words</p></html>'
    with Site({"/a": Answer(page, 200, {"Content-Type": "text/html", "Refresh": "0; url=http://127.0.0.1/"})}) as site:
        internet.add(HOST, site, ADDRESS)
        found = download(f"http://{HOST}/a", settings=Settings(), guard=internet.guard)

    assert found.content == page
    assert [host for host, _ in internet.connected] == [ADDRESS]


# The form of a reply


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (b"\x16\x03\x01\x02\x00garbage\r\n\r\n", "invalid_response"),
        (b"<html>HTTP/0.9 has neither status nor headers</html>", "invalid_response"),
        (b"HTTP/1.1 999999 No\r\n\r\n", "invalid_response"),
        (b"HTTP/1.1 200 OK\r\n" + b"X-Many: 1\r\n" * 200 + b"\r\n<html>", "invalid_response"),
        (b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 100_000 + b"\r\n\r\n<html>", "invalid_response"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "unexpected_status"),
        (b"HTTP/1.1 206 Partial Content\r\nContent-Length: 6\r\n\r\n<html>", "unexpected_status"),
        (b"HTTP/1.1 199 What\r\n\r\n", "unexpected_status"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n<html>\r\n0\r\n\r\n", "broke_off"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n<html>\r\n0\r\n\r\n", "broke_off"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 40 + b"\r\n<html>", "broke_off"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n6;x=" + b"y" * 100_000 + b"\r\n<html>\r\n0\r\n\r\n", "broke_off"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n6\r\n<html>", "broke_off"),
        (OK + b"Content-Length: 99\r\n\r\n<html>", "broke_off"),
        (OK + b"Content-Length: 0\r\n\r\n<html>", "not_a_page"),
        (OK + b"Content-Length: 99999999999999999999\r\n\r\n<html>", "too_large"),
    ],
)
def test_a_reply_with_invalid_http_is_not_a_page(internet: SimulatedInternet, said: bytes, expected: str) -> None:
    assert get_failure(internet, said) == expected


@pytest.mark.parametrize("length", [b"-1", b"abc", b"1e9"])
def test_an_invalid_length_has_no_effect(internet: SimulatedInternet, length: bytes) -> None:
    with serve_bytes(OK + b"Content-Length: " + length + b"\r\n\r\n" + HTML) as port:
        internet.names[HOST] = [ADDRESS]
        internet.servers[ADDRESS, 80] = port
        found = download(f"http://{HOST}/a", settings=Settings(), guard=internet.guard, deadline_s=3)

    assert found.content == HTML


@pytest.mark.long
@pytest.mark.parametrize(
    "drip", [b"HTTP/1.1 100 Continue\r\n\r\n", b"X-More: 1\r\n", b"X-Long: " + b"y" * 1000, b"\r\n"]
)
def test_an_endless_reply_ends_at_the_time_limit(internet: SimulatedInternet, drip: bytes) -> None:
    start = b"HTTP/1.1 100 Continue\r\n\r\n" if drip.startswith(b"HTTP") else b"HTTP/1.1 200 OK\r\n"

    assert get_failure(internet, start, drip, deadline_s=0.6) in ("too_slow", "invalid_response", "not_a_page")


@pytest.mark.long
def test_many_interim_replies_end_at_the_time_limit(internet: SimulatedInternet) -> None:
    storm = b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" * 20_000

    assert get_failure(internet, storm, storm, deadline_s=1.0) == "too_slow"
    assert threading.active_count() < 50


# The compression of a body


def _make_bomb(coding: str, megabytes: int) -> bytes:
    bits = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS, "raw deflate": -zlib.MAX_WBITS}[coding]
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    return b"".join((*(packer.compress(b"0" * 1_000_000) for _ in range(megabytes)), packer.flush()))


@pytest.mark.long
@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw deflate"])
def test_a_body_that_unpacks_to_a_huge_one_is_not_held_in_memory(internet: SimulatedInternet, coding: str) -> None:
    bomb = _make_bomb(coding, 80)
    headers = {"Content-Type": "text/html", "Content-Encoding": coding.split()[-1]}
    with Site({"/a": Answer(bomb, 200, headers)}) as site:
        internet.add(HOST, site, ADDRESS)
        tracemalloc.start()
        found = get_reason(internet, deadline_s=20, max_bytes=5_000_000)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert found == "too_large"
    assert peak < 40_000_000


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "gzip, br", "x-bomb", "gzip, gzip"])
def test_a_compression_that_was_not_requested_is_not_unpacked(internet: SimulatedInternet, coding: str) -> None:
    with Site({"/a": Answer(b"packed", 200, {"Content-Type": "text/html", "Content-Encoding": coding})}) as site:
        internet.add(HOST, site, ADDRESS)
        assert get_reason(internet) == "invalid_response"


def test_bytes_after_a_compressed_page_are_not_a_second_page(internet: SimulatedInternet) -> None:
    def list_members() -> Iterator[bytes]:
        one = gzip.compress(b"x" * 100_000)
        while True:
            yield one

    headers = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    with Site({"/a": Answer(b"", 200, headers, pieces=list_members)}) as site:
        internet.add(HOST, site, ADDRESS)
        assert get_reason(internet) == "too_large"
