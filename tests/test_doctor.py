"""Every hop that can fail, made to fail on loopback; and what the doctor says about this machine."""

import shutil
import socket
import sqlite3
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from entrez_kit.doctor import Check, DoctorReport, diagnose
from entrez_kit.doctor.hops import Route, bounded, connect, find_route, resolve
from entrez_kit.doctor.local import damage_of, size
from entrez_kit.errors import NotConfigured, RateLimited, UpstreamError
from entrez_kit.settings import Settings, load_settings
from entrez_kit.transport.cache import cache_file, open_file
from entrez_kit.transport.limiter import RateLimiter
from entrez_kit.transport.policy import limiter_file

CERTIFICATES = Path(__file__).parent / "certificates"
CANARY = "canary0123456789abcdef"
PASSWORD = "hunter2-canary"
DATABASES = b"<eInfoResult><DbList><DbName>pubmed</DbName><DbName>gene</DbName></DbList></eInfoResult>"
PATIENCE = 10.0
SHORT = 0.6

Handle = Callable[[socket.socket], None]


@contextmanager
def listening(handle: Handle, certificate: str | None = None) -> Iterator[int]:
    """Run a server on loopback that hands every connection to a function; with a certificate it speaks TLS."""
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATES / certificate)
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.1)
    stop = threading.Event()

    def serve_one(connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.settimeout(5)
            if context is None:
                handle(connection)
            else:
                with context.wrap_socket(connection, server_side=True) as wrapped:
                    handle(wrapped)

    def serve() -> None:
        while not stop.is_set():
            try:
                connection, _ = server.accept()
            except OSError:
                continue
            threading.Thread(target=serve_one, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield int(server.getsockname()[1])
    finally:
        stop.set()
        thread.join()
        server.close()


def silent(connection: socket.socket) -> None:
    """Take everything and say nothing."""
    while connection.recv(4096):
        pass


def saying(*, body: bytes, status: str = "200 OK", headers: str = "") -> Handle:
    """Answer the first request with a fixed reply."""

    def handle(connection: socket.socket) -> None:
        read_head(connection)
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{headers}\r\n"
        connection.sendall(head.encode("ascii") + body)

    return handle


def read_head(connection: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head:
        part = connection.recv(1)
        if not part:
            break
        head += part
    return head


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def home() -> Path:
    return Path.home()


@pytest.fixture
def settings(home: Path) -> Settings:
    return load_settings(environ={"HOME": str(home)})


def at(settings: Settings, url: str) -> Settings:
    """Point settings at an address of the E-utilities."""
    return replace(settings, eutils_url=f"{url}/entrez/eutils")


def answer(_: Settings) -> bytes:
    return DATABASES


def look(settings: Settings, **injected: Any) -> DoctorReport:
    injected = {
        "resolver": lambda host, port: ["127.0.0.1"],
        "find_route": lambda url: Route(),
        "asker": answer,
        "free_space": lambda folder: 10**12,
        "patience": PATIENCE,
        **injected,
    }
    return diagnose(settings, **injected)


def found(report: DoctorReport, name: str, service: str | None = None) -> Check:
    """Return the check of that name, of the E-utilities where several services are looked at."""
    checks = [check for check in report.checks if check.name == name and service in (None, check.service)]
    return checks[0]


def statuses(report: DoctorReport) -> dict[str, str]:
    return {check.name: check.status for check in report.checks if check.service == "E-utilities"}


# The way to NCBI


def test_a_machine_where_all_is_well_is_told_so(settings: Settings) -> None:
    with listening(silent, "loopback.pem") as port:
        report = look(
            at(settings, f"https://eutils.test:{port}"),
            find_route=lambda url: Route(ca_bundle=str(CERTIFICATES / "loopback.pem")),
        )

    names = ["versions", "configuration", "disk", "cache", "rate_limit", "dns", "tcp", "tls", "ncbi", "api_key"]
    assert [(check.name, check.status) for check in report.checks] == [(name, "ok") for name in names]
    assert (report.healthy, report.exit_status, report.problem()) == (True, 0, None)
    assert "valid until 2120-01-01" in found(report, "tls").detail
    assert "2 databases" in found(report, "ncbi").detail


def test_a_name_that_does_not_resolve_is_the_dns_and_the_rest_is_skipped(settings: Settings) -> None:
    def unknown(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    def never(_: Settings) -> bytes:
        raise AssertionError

    report = look(settings, resolver=unknown, asker=never)

    assert statuses(report) == {
        "dns": "failed",
        "tcp": "skipped",
        "tls": "skipped",
        "ncbi": "skipped",
        "api_key": "skipped",
    }
    check = found(report, "dns")
    assert check.detail == "eutils.ncbi.nlm.nih.gov cannot be resolved: Name or service not known"
    assert check.hint is not None
    assert "HTTPS_PROXY" in check.hint
    assert (report.healthy, report.exit_status) == (False, 5)
    problem = report.problem()
    assert problem is not None
    assert (problem.code, problem.reason) == ("UPSTREAM_ERROR", "dns_failed")
    assert problem.message.startswith("E-utilities dns: eutils.ncbi.nlm.nih.gov cannot be resolved")


def test_a_name_server_that_never_answers_costs_a_bounded_time(settings: Settings) -> None:
    release = threading.Event()

    def stuck(host: str, port: int) -> Sequence[str]:
        release.wait(30)
        return []

    began = time.monotonic()
    report = look(settings, resolver=stuck, patience=SHORT)
    took = time.monotonic() - began
    release.set()

    assert "no name server answered" in found(report, "dns").detail
    assert took < SHORT + 3


@pytest.mark.parametrize("problem", [UnicodeError("label too long"), OSError(5, "Input/output error")])
def test_whatever_a_resolver_raises_is_a_dns_finding(settings: Settings, problem: Exception) -> None:
    def broken(host: str, port: int) -> Sequence[str]:
        raise problem

    assert found(look(settings, resolver=broken), "dns").status == "failed"


def test_a_name_without_addresses_is_a_dns_finding(settings: Settings) -> None:
    assert "has no address" in found(look(settings, resolver=lambda host, port: []), "dns").detail


def test_an_address_by_number_needs_no_name_server(settings: Settings) -> None:
    def unused(host: str, port: int) -> Sequence[str]:
        raise AssertionError

    with listening(silent) as port:
        report = look(at(settings, f"http://127.0.0.1:{port}"), resolver=unused)

    assert found(report, "dns").status == "ok"
    assert found(report, "tls").detail == "the address is http, without encryption"
    assert report.exit_status == 0


def test_the_systems_own_resolver_and_connector_are_used_unless_told_otherwise(settings: Settings) -> None:
    with listening(silent) as port:
        report = diagnose(at(settings, f"http://localhost:{port}"), asker=answer, patience=5)

    assert found(report, "dns").status == "ok"
    assert found(report, "tcp").status == "ok"
    assert "127.0.0.1" in resolve("localhost", 80) or "::1" in resolve("localhost", 80)


def test_a_refused_port_is_the_connection(settings: Settings) -> None:
    report = look(at(settings, f"https://eutils.test:{free_port()}"))

    assert statuses(report)["tcp"] == "failed"
    assert statuses(report)["tls"] == "skipped"
    assert "connection refused" in found(report, "tcp").detail
    assert report.exit_status == 5


def test_an_address_that_swallows_packets_is_the_connection(settings: Settings) -> None:
    def hole(address: str, port: int, seconds: float) -> socket.socket:
        raise TimeoutError("timed out")

    report = look(settings, connector=hole)

    assert found(report, "tcp").detail == "127.0.0.1 port 443: no answer in time"
    assert report.exit_status == 5


def test_an_address_family_that_costs_every_request_time_is_a_warning(settings: Settings) -> None:
    def only_v4(address: str, port: int, seconds: float) -> socket.socket:
        if ":" in address:
            raise TimeoutError("timed out")
        return connect(address, port, seconds)

    with listening(silent) as port:
        report = look(
            at(settings, f"http://eutils.test:{port}"),
            resolver=lambda host, port: ["2001:db8::1", "127.0.0.1"],
            connector=only_v4,
        )

    check = found(report, "tcp")
    assert check.status == "warning"
    assert check.hint is not None
    assert "IPv6" in check.hint
    assert found(report, "ncbi").status == "ok"
    assert (report.healthy, report.exit_status) == (True, 4)


def test_an_address_family_that_fails_at_once_is_no_matter(settings: Settings) -> None:
    def only_v4(address: str, port: int, seconds: float) -> socket.socket:
        if ":" in address:
            raise OSError(101, "Network is unreachable")
        return connect(address, port, seconds)

    with listening(silent) as port:
        report = look(
            at(settings, f"http://eutils.test:{port}"),
            resolver=lambda host, port: [*(f"2001:db8::{number}" for number in range(9)), "127.0.0.1"],
            connector=only_v4,
        )

    assert found(report, "tcp").status == "ok"
    assert report.exit_status == 0


# Encryption


def tls_check(
    settings: Settings, handle: Handle, certificate: str | None, trusted: str | None = None, patience: float = PATIENCE
) -> Check:
    route = Route(ca_bundle=str(CERTIFICATES / trusted) if trusted else None)
    with listening(handle, certificate) as port:
        report = look(at(settings, f"https://eutils.test:{port}"), find_route=lambda url: route, patience=patience)
    assert statuses(report)["tcp"] == "ok"
    assert (statuses(report)["ncbi"], report.exit_status) == ("skipped", 5)
    return found(report, "tls")


def test_a_server_that_accepts_and_never_answers_is_told_within_the_time_limit(settings: Settings) -> None:
    began = time.monotonic()
    check = tls_check(settings, silent, None, patience=SHORT)

    assert "did not answer within 0.6 s" in check.detail
    assert time.monotonic() - began < SHORT + 3


def test_a_server_without_encryption_is_told_from_one_with_a_bad_certificate(settings: Settings) -> None:
    def plain(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    assert "does not speak TLS" in tls_check(settings, plain, None).detail


def test_a_certificate_signed_by_a_stranger_points_to_the_bundle(settings: Settings) -> None:
    check = tls_check(settings, silent, "loopback.pem")

    assert "is not trusted" in check.detail
    assert check.hint is not None
    assert "REQUESTS_CA_BUNDLE" in check.hint


@pytest.mark.parametrize(("certificate", "text"), [("expired.pem", "has expired"), ("future.pem", "is not valid yet")])
def test_a_certificate_out_of_time_points_to_the_clock(settings: Settings, certificate: str, text: str) -> None:
    check = tls_check(settings, silent, certificate, trusted=certificate)

    assert text in check.detail
    assert check.hint is not None
    assert "clock" in check.hint


def test_a_certificate_for_another_name_is_said_to_be_one(settings: Settings) -> None:
    with listening(silent, "loopback.pem") as port:
        report = look(
            at(settings, f"https://other.test:{port}"),
            find_route=lambda url: Route(ca_bundle=str(CERTIFICATES / "loopback.pem")),
        )

    assert "a certificate for another name" in found(report, "tls").detail


def test_a_connection_cut_during_the_handshake_is_said_to_be_cut(settings: Settings) -> None:
    def cut(connection: socket.socket) -> None:
        connection.recv(10)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")

    assert found_text(tls_check(settings, cut, None), "cut during the handshake", "unexpected eof")


def found_text(check: Check, *texts: str) -> bool:
    return any(text in check.detail for text in texts)


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_a_certificate_bundle_that_cannot_be_read_is_a_matter_of_configuration(
    settings: Settings, tmp_path: Path, content: bytes | None
) -> None:
    bundle = tmp_path / "bundle.pem"
    if content is not None:
        bundle.write_bytes(content)
    with listening(silent, "loopback.pem") as port:
        report = look(at(settings, f"https://eutils.test:{port}"), find_route=lambda url: Route(ca_bundle=str(bundle)))

    assert found(report, "tls").code == "NOT_CONFIGURED"
    assert report.exit_status == 8


# Proxies


@contextmanager
def proxy(reply: bytes, *, tunnel_to: int | None = None, heads: list[bytes] | None = None) -> Iterator[int]:
    """Run a proxy that answers CONNECT with a fixed reply, and passes on what follows where it is told to."""

    def handle(connection: socket.socket) -> None:
        head = read_head(connection)
        if heads is not None:
            heads.append(head)
        connection.sendall(reply)
        if tunnel_to is not None:
            with socket.create_connection(("127.0.0.1", tunnel_to)) as beyond:
                back = threading.Thread(target=pump, args=(beyond, connection), daemon=True)
                back.start()
                pump(connection, beyond)

    with listening(handle) as port:
        yield port


def pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(4096):
            sink.sendall(data)


def proxied(settings: Settings, url: str, route: Route, patience: float = PATIENCE) -> DoctorReport:
    report = look(at(settings, url), find_route=lambda _: route, patience=patience)
    assert PASSWORD not in report.model_dump_json()
    assert PASSWORD not in repr(report)
    return report


def test_a_proxy_that_connects_is_looked_through(settings: Settings) -> None:
    heads: list[bytes] = []
    with (
        listening(silent, "loopback.pem") as beyond,
        proxy(b"HTTP/1.1 200 OK\r\nVia: x\r\n\r\n", tunnel_to=beyond, heads=heads) as port,
    ):
        report = proxied(
            settings,
            "https://eutils.test",
            Route(f"http://me%40x:{PASSWORD}@127.0.0.1:{port}", str(CERTIFICATES / "loopback.pem")),
        )

    assert [check.name for check in report.checks if check.service] == ["dns", "tcp", "proxy", "tls", "ncbi", "api_key"]
    assert report.exit_status == 0
    assert f"http://127.0.0.1:{port} connects to eutils.test:443" in found(report, "proxy").detail
    assert heads[0].startswith(b"CONNECT eutils.test:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic bWVAeDpodW50ZXIyLWNhbmFyeQ==" in heads[0]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "it wants a name and a password"),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "does not let this machine reach eutils.test:443"),
        (b"HTTP/1.0 502 Bad Gateway\r\n\r\n", "it cannot reach eutils.test:443"),
        (b"HTTP/1.1 503 \r\n\r\n", "it cannot reach eutils.test:443"),
        (b"SSH-2.0-OpenSSH_9.9\r\n\r\n", "does not answer like a proxy"),
        (b"x" * 70_000, "does not answer like a proxy"),
        (b"", "cut the connection"),
    ],
)
def test_a_proxy_that_refuses_is_the_hop_that_fails(settings: Settings, reply: bytes, text: str) -> None:
    with proxy(reply) as port:
        report = proxied(settings, "https://eutils.test", Route(f"http://me:{PASSWORD}@127.0.0.1:{port}"))

    assert statuses(report) == {
        "dns": "ok",
        "tcp": "ok",
        "proxy": "failed",
        "tls": "skipped",
        "ncbi": "skipped",
        "api_key": "skipped",
    }
    assert text in found(report, "proxy").detail
    assert report.exit_status == 5


def test_a_proxy_that_says_nothing_costs_a_bounded_time(settings: Settings) -> None:
    began = time.monotonic()
    with listening(silent) as port:
        report = proxied(settings, "https://eutils.test", Route(f"http://127.0.0.1:{port}"), SHORT)

    assert "did not answer within" in found(report, "proxy").detail
    assert time.monotonic() - began < SHORT + 3


def test_a_proxy_that_is_not_there_points_to_the_proxy_settings(settings: Settings) -> None:
    report = proxied(settings, "https://eutils.test", Route(f"http://me:{PASSWORD}@127.0.0.1:{free_port()}"))

    check = found(report, "tcp")
    assert check.status == "failed"
    assert check.hint is not None
    assert "Is the proxy running?" in check.hint


def test_a_proxy_whose_name_is_unknown_is_named(settings: Settings) -> None:
    def unknown(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    report = look(settings, resolver=unknown, find_route=lambda url: Route("http://proxy.test:3128"))

    assert found(report, "dns").detail.startswith("the proxy proxy.test cannot be resolved")


@pytest.mark.parametrize("address", ["http://", f"http://me:{PASSWORD}@proxy.test:port", "http://proxy.test:99999"])
def test_a_proxy_address_that_makes_no_sense_is_a_matter_of_configuration(settings: Settings, address: str) -> None:
    report = proxied(settings, "https://eutils.test", Route(address))

    assert found(report, "dns").code == "NOT_CONFIGURED"
    assert report.exit_status == 8


def test_a_socks_proxy_is_connected_to_and_not_looked_into(settings: Settings) -> None:
    with listening(silent) as port:
        report = proxied(settings, "https://eutils.test", Route(f"socks5h://127.0.0.1:{port}"))

    assert statuses(report) == {
        "dns": "ok",
        "tcp": "ok",
        "proxy": "skipped",
        "tls": "skipped",
        "ncbi": "ok",
        "api_key": "ok",
    }


def test_a_proxy_for_plain_http_is_only_connected_to(settings: Settings) -> None:
    with listening(silent) as port:
        report = proxied(settings, "http://eutils.test", Route(f"http://me:{PASSWORD}@127.0.0.1:{port}"))

    assert found(report, "proxy").detail == f"requests go through http://127.0.0.1:{port}"
    assert report.exit_status == 0


def test_the_route_is_the_one_that_requests_take(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "proxy.test:3128")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "bundle.pem"))
    assert find_route("https://eutils.test/entrez/eutils") == Route(
        "http://proxy.test:3128", str(tmp_path / "bundle.pem")
    )
    assert find_route("https://127.0.0.1:8080/entrez/eutils").proxy is None

    monkeypatch.setenv("NO_PROXY", ".test")
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    plain = find_route("https://eutils.test/entrez/eutils")
    assert plain.proxy is None
    assert plain.ca_bundle is not None
    assert Path(plain.ca_bundle).is_file()


def test_a_route_that_cannot_be_found_out_does_not_end_the_report(settings: Settings) -> None:
    def broken(url: str) -> Route:
        raise ValueError(PASSWORD)

    with listening(silent) as port:
        report = look(at(settings, f"http://eutils.test:{port}"), find_route=broken)

    assert found(report, "proxy").status == "skipped"
    assert found(report, "ncbi").status == "ok"
    assert PASSWORD not in report.model_dump_json()


# NCBI itself


def asked(settings: Settings, asker: Callable[[Settings], bytes]) -> DoctorReport:
    with listening(silent) as port:
        return look(at(settings, f"http://127.0.0.1:{port}"), asker=asker)


def keyed(settings: Settings) -> Settings:
    from pydantic import SecretStr

    return replace(settings, ncbi_api_key=SecretStr(CANARY))


class Recorder:
    """Answers, and remembers with which settings it was asked."""

    def __init__(self) -> None:
        self.seen: list[Settings] = []

    def __call__(self, settings: Settings) -> bytes:
        self.seen.append(settings)
        return DATABASES


def refusing(settings: Settings) -> bytes:
    if settings.ncbi_api_key is not None:
        raise NotConfigured("NCBI does not accept the API key.", details={"reason": "bad_api_key"})
    return DATABASES


def test_a_service_that_answers_nonsense_is_ncbi_itself(settings: Settings) -> None:
    def html(_: Settings) -> bytes:
        raise UpstreamError("NCBI sent a web page.", details={"reason": "invalid_response"})

    report = asked(settings, html)

    assert statuses(report)["tcp"] == "ok"
    assert found(report, "ncbi").detail == "NCBI sent a web page."
    assert report.exit_status == 5


def test_a_rate_limit_ends_with_its_own_status(settings: Settings) -> None:
    def busy(_: Settings) -> bytes:
        raise RateLimited("too many requests")

    report = asked(settings, busy)

    assert found(report, "ncbi").code == "RATE_LIMITED"
    assert report.exit_status == 7


def test_a_list_of_databases_without_pubmed_is_no_answer(settings: Settings) -> None:
    report = asked(settings, lambda _: b"<eInfoResult><DbList/></eInfoResult>")

    assert "does not list PubMed" in found(report, "ncbi").detail


def test_an_accepted_key_is_said_to_be_accepted_and_not_shown(settings: Settings) -> None:
    report = asked(keyed(settings), answer)

    assert found(report, "api_key").detail == "accepted by NCBI: 10 requests per second"
    assert CANARY not in report.model_dump_json()
    assert found(report, "rate_limit").detail.startswith("10 requests per second")


def test_a_rejected_key_is_told_from_a_service_that_fails(settings: Settings) -> None:
    report = asked(keyed(settings), refusing)

    assert statuses(report)["ncbi"] == "ok"
    assert found(report, "api_key").status == "failed"
    assert (found(report, "api_key").code, report.exit_status) == ("NOT_CONFIGURED", 8)


def test_a_key_is_not_judged_by_a_service_that_fails(settings: Settings) -> None:
    def down(_: Settings) -> bytes:
        raise UpstreamError("down")

    report = asked(keyed(settings), down)

    assert statuses(report)["api_key"] == "skipped"
    assert report.exit_status == 5


def test_a_key_that_is_kept_from_a_foreign_address_is_a_warning(settings: Settings) -> None:
    with listening(silent) as port:
        report = look(keyed(at(settings, f"http://mirror.test:{port}")))

    assert found(report, "api_key").status == "warning"
    assert report.exit_status == 4


def test_the_one_request_is_neither_cached_nor_repeated(settings: Settings) -> None:
    recorder = Recorder()
    asked(replace(settings, refresh=True), recorder)

    (given,) = recorder.seen
    assert (given.no_cache, given.refresh, given.ncbi_max_retries) == (True, False, 0)
    assert given.ncbi_total_deadline_ms == 15_000


def test_a_shorter_deadline_of_the_users_own_is_kept(settings: Settings) -> None:
    recorder = Recorder()
    asked(replace(settings, ncbi_timeout_ms=700, ncbi_total_deadline_ms=900), recorder)

    assert (recorder.seen[0].ncbi_timeout_ms, recorder.seen[0].ncbi_total_deadline_ms) == (700, 900)


HTML = b"<!DOCTYPE html><html><title>Server Error</title><body>maintenance</body></html>"
BAD_KEY = b'{"error":"API key invalid","api-key":"' + CANARY.encode() + b'","type":"ip"}'
TOO_FAST = b'{"error":"API rate limit exceeded","api-key":"' + CANARY.encode() + b'","count":"4","limit":"3"}'
EINFO = b'<?xml version="1.0" encoding="UTF-8" ?><eInfoResult><DbList><DbName>pubmed</DbName></DbList></eInfoResult>'


@pytest.mark.parametrize(
    ("reply", "check", "code", "status"),
    [
        (saying(body=HTML), "ncbi", "UPSTREAM_ERROR", 5),
        (saying(body=b"bad gateway", status="502 Bad Gateway"), "ncbi", "UPSTREAM_ERROR", 5),
        (saying(body=TOO_FAST, status="429 Too Many Requests"), "ncbi", "RATE_LIMITED", 7),
        (silent, "ncbi", "UPSTREAM_ERROR", 5),
        (lambda connection: None, "ncbi", "UPSTREAM_ERROR", 5),
        (saying(body=EINFO), "ncbi", None, 0),
    ],
    ids=["html", "502", "429", "silence", "cut", "answer"],
)
def test_the_real_transport_tells_what_ncbi_answered(
    settings: Settings, reply: Handle, check: str, code: str | None, status: int
) -> None:
    from entrez_kit.doctor.diagnosis import ask_for_databases

    quick = replace(keyed(settings), ncbi_timeout_ms=1000, ncbi_total_deadline_ms=2500)
    with listening(reply) as port:
        report = look(at(quick, f"http://127.0.0.1:{port}"), asker=ask_for_databases)

    assert (found(report, check).code, report.exit_status) == (code, status)
    assert CANARY not in report.model_dump_json()


def test_a_key_that_ncbi_rejects_is_found_by_the_real_transport(settings: Settings) -> None:
    from entrez_kit.doctor.diagnosis import ask_for_databases

    def handle(connection: socket.socket) -> None:
        head = read_head(connection)
        body, status = (BAD_KEY, "400 Bad Request") if CANARY.encode() in head else (EINFO, "200 OK")
        connection.sendall(
            f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode("ascii") + body
        )

    with listening(handle) as port:
        report = look(at(keyed(settings), f"http://127.0.0.1:{port}"), asker=ask_for_databases)

    assert statuses(report)["ncbi"] == "ok"
    assert statuses(report)["api_key"] == "failed"
    assert report.exit_status == 8
    assert CANARY not in report.model_dump_json()


# Other services


def test_other_services_are_looked_at_on_request_and_fail_on_their_own(settings: Settings) -> None:
    with listening(silent) as port:
        report = look(
            replace(
                at(settings, f"http://127.0.0.1:{port}"),
                idconv_url=f"http://127.0.0.1:{port}/idconv",
                europepmc_url=f"http://127.0.0.1:{free_port()}/europepmc",
                pmc_oa_url=f"http://127.0.0.1:{port}",
            ),
            all_services=True,
        )

    assert {check.service for check in report.checks} == {
        None,
        "E-utilities",
        "ID Converter",
        "Europe PMC",
        "PMC open data",
    }
    assert found(report, "ncbi").status == "ok"
    assert found(report, "tcp", "Europe PMC").status == "failed"
    assert found(report, "tls", "Europe PMC").status == "skipped"
    assert found(report, "tcp", "PMC open data").status == "ok"
    assert report.exit_status == 5


def test_services_that_are_switched_off_are_left_alone(settings: Settings) -> None:
    with listening(silent) as port:
        here = f"http://127.0.0.1:{port}"
        report = look(
            replace(at(settings, here), idconv_url=here, pmc_oa_url=here, europepmc_enabled=False), all_services=True
        )

    assert {check.service for check in report.checks} == {None, "E-utilities", "ID Converter", "PMC open data"}


def test_offline_nothing_is_looked_at_beyond_this_machine(settings: Settings) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError

    offline = replace(settings, offline=True, origins={"offline": "flag"})
    report = look(offline, resolver=never, connector=never, asker=never, find_route=never)

    assert set(statuses(report).values()) == {"skipped"}
    assert report.exit_status == 0


# This machine


def local(settings: Settings, **injected: Any) -> DoctorReport:
    """Look at this machine only."""
    return look(replace(settings, offline=True, origins={**settings.origins, "offline": "flag"}), **injected)


def test_versions_are_named_and_a_missing_library_is_found(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "requests-cache" in found(local(settings), "versions").detail

    monkeypatch.setattr("entrez_kit.doctor.local.LIBRARIES", ("requests", "no-such-library"))
    report = local(settings)
    assert found(report, "versions").detail.endswith("not installed: no-such-library")
    assert report.exit_status == 8


def test_notices_about_the_settings_are_warnings(settings: Settings) -> None:
    report = local(replace(settings, notices=("config.toml: unknown setting 'x' ignored",)))

    check = found(report, "configuration")
    assert check.status == "warning"
    assert "unknown setting 'x' ignored" in check.detail
    assert (report.healthy, report.exit_status) == (True, 4)


def test_settings_that_leave_nobody_to_answer_are_found(settings: Settings) -> None:
    report = local(replace(settings, no_cache=True))

    assert found(report, "configuration").code == "NOT_CONFIGURED"
    assert report.exit_status == 8


def test_offline_from_the_environment_is_a_warning(settings: Settings) -> None:
    report = look(replace(settings, offline=True, origins={"offline": "environment (ENTREZ_KIT_OFFLINE)"}))

    assert "environment (ENTREZ_KIT_OFFLINE)" in found(report, "configuration").detail
    assert report.exit_status == 4


def test_the_configuration_is_described_without_secrets(home: Path) -> None:
    folder = home / ".config" / "entrez-kit"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f'ncbi_api_key = "{CANARY}"', encoding="utf-8")
    (folder / "config.toml").chmod(0o600)
    loaded = load_settings(environ={"HOME": str(home), "NCBI_EMAIL": "canary@example.org"})
    report = local(loaded)

    detail = found(report, "configuration").detail
    assert str(folder / "config.toml") in detail
    assert "ncbi_api_key" in detail
    assert CANARY not in report.model_dump_json()
    assert "canary@example.org" not in report.model_dump_json()


@pytest.mark.parametrize(
    ("free", "status", "exit_status"), [(0, "failed", 9), (100_000_000, "warning", 4), (10**12, "ok", 0)]
)
def test_a_disk_that_is_full_or_soon_will_be_is_found(
    settings: Settings, free: int, status: str, exit_status: int
) -> None:
    report = local(settings, free_space=lambda folder: free)

    assert found(report, "disk").status == status
    assert report.exit_status == exit_status


def test_a_disk_that_cannot_be_looked_at_is_a_warning(settings: Settings) -> None:
    def broken(folder: Path) -> int:
        raise OSError(5, "Input/output error")

    assert found(local(settings, free_space=broken), "disk").status == "warning"


def test_the_real_disk_is_asked_unless_told_otherwise(settings: Settings) -> None:
    report = diagnose(replace(settings, offline=True, origins={"offline": "flag"}))

    assert size(shutil.disk_usage(settings.cache_dir.parent.parent).total // 10**15 * 10**15) == "0 bytes"
    assert "left for" in found(report, "disk").detail


def test_a_cache_folder_that_cannot_be_written_is_found(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    report = local(replace(settings, cache_dir=file / "cache"))

    check = found(report, "cache")
    assert (check.status, check.code) == ("failed", "STORE_ERROR")
    assert check.hint is not None
    assert "ENTREZ_KIT_CACHE_DIR" in check.hint
    assert report.exit_status == 9


@pytest.mark.skipif(sys.platform == "win32", reason="file modes mean little on Windows")
def test_a_cache_folder_that_others_may_write_to_is_a_warning(settings: Settings) -> None:
    settings.cache_dir.mkdir(parents=True)
    settings.cache_dir.chmod(0o777)

    assert found(local(settings), "cache").status == "warning"


def test_a_cache_that_is_fine_is_counted(settings: Settings) -> None:
    with open_file(cache_file(settings)) as connection:
        connection.executemany(
            "INSERT INTO responses (key, value, expires) VALUES (?, ?, ?)",
            [("a", b"x", 4_000_000_000), ("b", b"x", 1), ("c", b"x", 2)],
        )
    connection.close()

    assert found(local(settings), "cache").detail.startswith("3 replies, 2 of them expired, ")
    assert list(settings.cache_dir.glob(".doctor-*")) == []


@pytest.mark.parametrize("content", [b"this is no database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 4096])
def test_a_damaged_cache_is_found_and_left_as_it_is(settings: Settings, content: bytes) -> None:
    path = cache_file(settings)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    report = local(settings)

    assert found(report, "cache").code == "STORE_ERROR"
    assert report.exit_status == 9
    assert path.read_bytes() == content


def test_damage_within_the_file_is_found_and_a_lock_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE responses (key TEXT PRIMARY KEY, value BLOB)")
    connection.executemany("INSERT INTO responses VALUES (?, ?)", [(str(n), b"x" * 3000) for n in range(50)])
    connection.commit()
    assert damage_of(path) is None

    connection.execute("BEGIN EXCLUSIVE")
    assert damage_of(path) is None
    connection.rollback()
    connection.close()

    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 8192)
    assert damage_of(path) is not None


def test_a_cache_that_is_switched_off_is_not_looked_at(settings: Settings) -> None:
    report = look(replace(settings, no_cache=True), resolver=lambda host, port: [], asker=lambda _: DATABASES)

    assert found(report, "cache").detail == "switched off (no_cache)"
    assert not settings.cache_dir.exists()


def test_a_limiter_that_cannot_share_its_state_is_a_warning(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    report = local(replace(settings, state_dir=file / "state"))

    check = found(report, "rate_limit")
    assert check.status == "warning"
    assert "not shared between processes" in check.detail
    assert report.exit_status == 4


def test_a_long_queue_is_a_warning_and_asking_takes_no_place_in_it(settings: Settings) -> None:
    state = limiter_file(settings, "eutils")
    assert "shared by all processes" in found(local(settings), "rate_limit").detail

    state.parent.mkdir(exist_ok=True)
    limiter = RateLimiter(state, per_second=3)
    limiter.acquire()
    line = state.read_text(encoding="ascii")
    ahead = (time.monotonic_ns() // 1000) + 60_000_000
    state.write_text(line.replace('"free_us":', f'"free_us":{ahead},"was":'), encoding="ascii")
    before = state.read_text(encoding="ascii")
    check = found(local(settings), "rate_limit")

    assert check.status == "warning"
    assert "s away" in check.detail
    assert state.read_text(encoding="ascii") == before


def test_a_damaged_limiter_state_is_no_obstacle(settings: Settings) -> None:
    state = limiter_file(settings, "eutils")
    state.parent.mkdir(mode=0o700, exist_ok=True)
    state.write_bytes(b"\x00garbage")

    assert found(local(settings), "rate_limit").status == "ok"


# The report


def test_the_first_failure_decides_how_it_ends(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    report = look(replace(settings, cache_dir=file), resolver=lambda host, port: [])

    assert [check.label for check in report.failed] == ["cache", "E-utilities dns"]
    assert report.exit_status == 9
    problem = report.problem()
    assert problem is not None
    assert problem.details == {"reason": "cache_failed", "failed": ["cache", "E-utilities dns"]}
    assert problem.recovery_hint == found(report, "cache").hint


def test_every_failure_and_warning_says_what_to_do_and_how_long_it_took(settings: Settings) -> None:
    report = look(at(settings, f"https://eutils.test:{free_port()}"), free_space=lambda folder: 10**8)

    assert [check.name for check in report.checks if check.status in ("failed", "warning")] == ["disk", "tcp"]
    assert all(check.hint for check in report.checks if check.status in ("failed", "warning"))
    assert all(check.seconds >= 0 for check in report.checks)


def test_bounded_gives_back_what_the_function_gives_or_raises() -> None:
    assert bounded(lambda: 5, 5) == 5
    with pytest.raises(ZeroDivisionError):
        bounded(lambda: 1 // 0, 5)
    with pytest.raises(TimeoutError):
        bounded(lambda: time.sleep(1), 0.05)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (123_456_789, "123 MB"), (10**16, "10000 TB")],
)
def test_sizes_are_said_as_people_say_them(number: int, text: str) -> None:
    assert size(number) == text
