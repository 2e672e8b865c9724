"""Connections through a proxy: one that connects, and every way in which a proxy fails."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from failing_servers import (
    CERTIFICATES,
    PASSWORD,
    PATIENCE,
    SHORT,
    fail_to_resolve,
    find_check,
    list_statuses,
    point_at,
    read_head,
    run_doctor,
    serve_connections,
    serve_nothing,
)
from limiter_threads import STALLED_SECONDS
from loopback_transport import find_free_port

from entrez_kit.base.settings import Settings
from entrez_kit.doctor import DoctorReport
from entrez_kit.doctor.hops import Route, find_route


@contextmanager
def serve_proxy(reply: bytes, *, tunnel_to: int | None = None, heads: list[bytes] | None = None) -> Iterator[int]:
    """Run a proxy that answers CONNECT with a fixed reply, and forwards the connection if it has a target."""

    def handle(connection: socket.socket) -> None:
        head = read_head(connection)
        if heads is not None:
            heads.append(head)
        connection.sendall(reply)
        if tunnel_to is not None:
            with socket.create_connection(("127.0.0.1", tunnel_to)) as beyond:
                back = threading.Thread(target=forward, args=(beyond, connection), daemon=True)
                back.start()
                forward(connection, beyond)

    with serve_connections(handle) as port:
        yield port


def forward(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(4096):
            sink.sendall(data)


def run_through_proxy(settings: Settings, url: str, route: Route, patience: float = PATIENCE) -> DoctorReport:
    report = run_doctor(point_at(settings, url), find_route=lambda _: route, patience=patience)
    assert PASSWORD not in report.model_dump_json()
    assert PASSWORD not in repr(report)
    return report


def test_the_checks_run_through_a_proxy_that_connects(settings: Settings) -> None:
    heads: list[bytes] = []
    with (
        serve_connections(serve_nothing, "loopback.pem") as beyond,
        serve_proxy(b"HTTP/1.1 200 OK\r\nVia: x\r\n\r\n", tunnel_to=beyond, heads=heads) as port,
    ):
        report = run_through_proxy(
            settings,
            "https://eutils.test",
            Route(f"http://me%40x:{PASSWORD}@127.0.0.1:{port}", str(CERTIFICATES / "loopback.pem")),
        )

    assert [check.name for check in report.checks if check.service] == ["dns", "tcp", "proxy", "tls", "ncbi", "api_key"]
    assert report.exit_status == 0
    assert f"http://127.0.0.1:{port} connects to eutils.test:443" in find_check(report, "proxy").detail
    assert heads[0].startswith(b"CONNECT eutils.test:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic bWVAeDpodW50ZXIyLWNhbmFyeQ==" in heads[0]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "it requires a user name and a password"),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "does not allow this machine to connect to eutils.test:443"),
        (b"HTTP/1.0 502 Bad Gateway\r\n\r\n", "it cannot reach eutils.test:443"),
        (b"HTTP/1.1 503 \r\n\r\n", "it cannot reach eutils.test:443"),
        (b"SSH-2.0-OpenSSH_9.9\r\n\r\n", "does not answer like a proxy"),
        (b"x" * 70_000, "does not answer like a proxy"),
        (b"", "closed the connection"),
    ],
)
def test_a_proxy_that_refuses_is_the_failing_hop(settings: Settings, reply: bytes, text: str) -> None:
    with serve_proxy(reply) as port:
        report = run_through_proxy(settings, "https://eutils.test", Route(f"http://me:{PASSWORD}@127.0.0.1:{port}"))

    assert list_statuses(report) == {
        "dns": "ok",
        "tcp": "ok",
        "proxy": "failed",
        "tls": "skipped",
        "ncbi": "skipped",
        "api_key": "skipped",
    }
    assert text in find_check(report, "proxy").detail
    assert report.exit_status == 5


@pytest.mark.long
def test_a_proxy_that_never_answers_takes_a_bounded_time(settings: Settings) -> None:
    began = time.monotonic()
    with serve_connections(serve_nothing) as port:
        report = run_through_proxy(settings, "https://eutils.test", Route(f"http://127.0.0.1:{port}"), SHORT)

    assert "did not answer within" in find_check(report, "proxy").detail
    assert time.monotonic() - began < STALLED_SECONDS


def test_advice_for_an_unreachable_proxy_names_the_proxy_settings(settings: Settings) -> None:
    report = run_through_proxy(
        settings, "https://eutils.test", Route(f"http://me:{PASSWORD}@127.0.0.1:{find_free_port()}")
    )

    check = find_check(report, "tcp")
    assert check.status == "failed"
    assert check.hint is not None
    assert "Is the proxy running?" in check.hint


def test_a_proxy_with_an_unknown_name_is_reported(settings: Settings) -> None:
    report = run_doctor(settings, resolver=fail_to_resolve, find_route=lambda url: Route("http://proxy.test:3128"))

    assert find_check(report, "dns").detail.startswith("the proxy proxy.test cannot be resolved")


@pytest.mark.parametrize("address", ["http://", f"http://me:{PASSWORD}@proxy.test:port", "http://proxy.test:99999"])
def test_an_invalid_proxy_address_is_a_configuration_error(settings: Settings, address: str) -> None:
    report = run_through_proxy(settings, "https://eutils.test", Route(address))

    assert find_check(report, "dns").code == "NOT_CONFIGURED"
    assert report.exit_status == 8


def test_a_socks_proxy_is_only_connected_to(settings: Settings) -> None:
    with serve_connections(serve_nothing) as port:
        report = run_through_proxy(settings, "https://eutils.test", Route(f"socks5h://127.0.0.1:{port}"))

    assert list_statuses(report) == {
        "dns": "ok",
        "tcp": "ok",
        "proxy": "skipped",
        "tls": "skipped",
        "ncbi": "ok",
        "api_key": "ok",
    }


def test_a_proxy_for_plain_http_is_only_connected_to(settings: Settings) -> None:
    with serve_connections(serve_nothing) as port:
        report = run_through_proxy(settings, "http://eutils.test", Route(f"http://me:{PASSWORD}@127.0.0.1:{port}"))

    assert find_check(report, "proxy").detail == f"requests go through http://127.0.0.1:{port}"
    assert report.exit_status == 0


def test_the_route_is_the_one_that_requests_uses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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


def test_a_route_that_cannot_be_determined_does_not_end_the_report(settings: Settings) -> None:
    def raise_error(url: str) -> Route:
        raise ValueError(PASSWORD)

    with serve_connections(serve_nothing) as port:
        report = run_doctor(point_at(settings, f"http://eutils.test:{port}"), find_route=raise_error)

    assert find_check(report, "proxy").status == "skipped"
    assert find_check(report, "ncbi").status == "ok"
    assert PASSWORD not in report.model_dump_json()
