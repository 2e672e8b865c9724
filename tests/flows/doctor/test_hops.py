"""Name resolution, connection and encryption: each fails on loopback."""

import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from failing_servers import (
    CERTIFICATES,
    PATIENCE,
    SHORT,
    Handle,
    fail_to_resolve,
    find_check,
    list_statuses,
    make_reply,
    point_at,
    run_doctor,
    serve_connections,
    serve_nothing,
)
from limiter_threads import STALLED_SECONDS
from loopback_transport import find_free_port

from entrez_kit.base.settings import Settings
from entrez_kit.doctor import Check, diagnose
from entrez_kit.doctor.hops import Route, call_with_timeout, open_connection
from entrez_kit.services.transport.download.addresses import resolve_host

# The way to NCBI


def test_a_healthy_machine_is_reported_as_healthy(settings: Settings) -> None:
    with serve_connections(serve_nothing, "loopback.pem") as port:
        report = run_doctor(
            point_at(settings, f"https://eutils.test:{port}"),
            find_route=lambda url: Route(ca_bundle=str(CERTIFICATES / "loopback.pem")),
        )

    names = ["versions", "configuration", "disk", "cache", "rate_limit", "dns", "tcp", "tls", "ncbi", "api_key"]
    assert [(check.name, check.status) for check in report.checks] == [(name, "ok") for name in names]
    assert (report.healthy, report.exit_status, report.find_problem()) == (True, 0, None)
    assert "valid until 2120-01-01" in find_check(report, "tls").detail
    assert find_check(report, "ncbi").detail == "replied with 2 databases"


def test_a_name_that_does_not_resolve_is_a_dns_failure_and_later_checks_are_skipped(settings: Settings) -> None:
    def fail_if_called(_: Settings) -> bytes:
        raise AssertionError

    report = run_doctor(settings, resolver=fail_to_resolve, asker=fail_if_called)

    assert list_statuses(report) == {
        "dns": "failed",
        "tcp": "skipped",
        "tls": "skipped",
        "ncbi": "skipped",
        "api_key": "skipped",
    }
    check = find_check(report, "dns")
    assert "eutils.ncbi.nlm.nih.gov" in check.detail
    assert "Name or service not known" in check.detail
    assert check.hint is not None
    assert "HTTPS_PROXY" in check.hint
    assert (report.healthy, report.exit_status) == (False, 5)
    problem = report.find_problem()
    assert problem is not None
    assert (problem.code, problem.reason) == ("UPSTREAM_ERROR", "dns_failed")
    assert problem.message.startswith("E-utilities dns: eutils.ncbi.nlm.nih.gov cannot be resolved")


@pytest.mark.long
def test_a_name_server_that_never_answers_takes_a_bounded_time(settings: Settings) -> None:
    release = threading.Event()

    def hang(host: str, port: int) -> Sequence[str]:
        release.wait(30)
        return []

    began = time.monotonic()
    report = run_doctor(settings, resolver=hang, patience=SHORT)
    took = time.monotonic() - began
    release.set()

    assert "no name server answered" in find_check(report, "dns").detail
    assert took < STALLED_SECONDS


@pytest.mark.parametrize("problem", [UnicodeError("label too long"), OSError(5, "Input/output error")])
def test_any_exception_of_a_resolver_is_a_dns_failure(settings: Settings, problem: Exception) -> None:
    def raise_error(host: str, port: int) -> Sequence[str]:
        raise problem

    assert find_check(run_doctor(settings, resolver=raise_error), "dns").status == "failed"


def test_a_name_without_addresses_is_a_dns_failure(settings: Settings) -> None:
    assert "has no address" in find_check(run_doctor(settings, resolver=lambda host, port: []), "dns").detail


def test_a_numeric_address_needs_no_name_server(settings: Settings) -> None:
    def fail(host: str, port: int) -> Sequence[str]:
        raise AssertionError

    with serve_connections(serve_nothing) as port:
        report = run_doctor(point_at(settings, f"http://127.0.0.1:{port}"), resolver=fail)

    assert find_check(report, "dns").status == "ok"
    assert "http" in find_check(report, "tls").detail
    assert report.exit_status == 0


def test_the_systems_resolver_and_connector_are_the_defaults(settings: Settings) -> None:
    with serve_connections(serve_nothing) as port:
        report = diagnose(point_at(settings, f"http://localhost:{port}"), asker=make_reply, patience=5)

    assert find_check(report, "dns").status == "ok"
    assert find_check(report, "tcp").status == "ok"
    assert not {"127.0.0.1", "::1"}.isdisjoint(resolve_host("localhost", 80))


def test_a_refused_port_is_a_connection_failure(settings: Settings) -> None:
    report = run_doctor(point_at(settings, f"https://eutils.test:{find_free_port()}"))

    assert list_statuses(report)["tcp"] == "failed"
    assert list_statuses(report)["tls"] == "skipped"
    assert "connection refused" in find_check(report, "tcp").detail
    assert report.exit_status == 5


def test_an_address_that_drops_packets_is_a_connection_failure(settings: Settings) -> None:
    def drop_connection(address: str, port: int, seconds: float) -> socket.socket:
        raise TimeoutError("timed out")

    report = run_doctor(settings, connector=drop_connection)

    check = find_check(report, "tcp")
    assert check.status == "failed"
    assert "127.0.0.1 port 443" in check.detail
    assert report.exit_status == 5


def test_an_address_family_that_delays_every_request_is_a_warning(settings: Settings) -> None:
    def resolve_to_v4(address: str, port: int, seconds: float) -> socket.socket:
        if ":" in address:
            raise TimeoutError("timed out")
        return open_connection(address, port, seconds)

    with serve_connections(serve_nothing) as port:
        report = run_doctor(
            point_at(settings, f"http://eutils.test:{port}"),
            resolver=lambda host, port: ["2001:db8::1", "127.0.0.1"],
            connector=resolve_to_v4,
        )

    check = find_check(report, "tcp")
    assert check.status == "warning"
    assert check.hint is not None
    assert "IPv6" in check.hint
    assert find_check(report, "ncbi").status == "ok"
    assert (report.healthy, report.exit_status) == (True, 4)


def test_an_address_family_that_fails_at_once_is_not_reported(settings: Settings) -> None:
    def resolve_to_v4(address: str, port: int, seconds: float) -> socket.socket:
        if ":" in address:
            raise OSError(101, "Network is unreachable")
        return open_connection(address, port, seconds)

    with serve_connections(serve_nothing) as port:
        report = run_doctor(
            point_at(settings, f"http://eutils.test:{port}"),
            resolver=lambda host, port: [*(f"2001:db8::{number}" for number in range(9)), "127.0.0.1"],
            connector=resolve_to_v4,
        )

    assert find_check(report, "tcp").status == "ok"
    assert report.exit_status == 0


# Encryption


def check_tls(
    settings: Settings, handle: Handle, certificate: str | None, trusted: str | None = None, patience: float = PATIENCE
) -> Check:
    route = Route(ca_bundle=str(CERTIFICATES / trusted) if trusted else None)
    with serve_connections(handle, certificate) as port:
        report = run_doctor(
            point_at(settings, f"https://eutils.test:{port}"), find_route=lambda url: route, patience=patience
        )
    assert list_statuses(report)["tcp"] == "ok"
    assert (list_statuses(report)["ncbi"], report.exit_status) == ("skipped", 5)
    return find_check(report, "tls")


@pytest.mark.long
def test_a_server_that_accepts_and_never_answers_is_reported_within_the_time_limit(settings: Settings) -> None:
    began = time.monotonic()
    check = check_tls(settings, serve_nothing, None, patience=SHORT)

    assert "did not answer within 0.3 s" in check.detail
    assert time.monotonic() - began < STALLED_SECONDS


def test_a_server_without_encryption_is_distinguished_from_one_with_an_invalid_certificate(settings: Settings) -> None:
    def answer_plainly(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    assert "does not support TLS" in check_tls(settings, answer_plainly, None).detail


def test_advice_for_a_certificate_of_an_unknown_authority_names_the_certificate_bundle(settings: Settings) -> None:
    check = check_tls(settings, serve_nothing, "loopback.pem")

    assert "is not trusted" in check.detail
    assert check.hint is not None
    assert "REQUESTS_CA_BUNDLE" in check.hint


@pytest.mark.parametrize(("certificate", "text"), [("expired.pem", "has expired"), ("future.pem", "is not valid yet")])
def test_advice_for_an_expired_certificate_names_the_clock(settings: Settings, certificate: str, text: str) -> None:
    check = check_tls(settings, serve_nothing, certificate, trusted=certificate)

    assert text in check.detail
    assert check.hint is not None
    assert "clock" in check.hint


def test_a_certificate_for_another_name_is_reported_as_one(settings: Settings) -> None:
    with serve_connections(serve_nothing, "loopback.pem") as port:
        report = run_doctor(
            point_at(settings, f"https://other.test:{port}"),
            find_route=lambda url: Route(ca_bundle=str(CERTIFICATES / "loopback.pem")),
        )

    assert "a certificate for another name" in find_check(report, "tls").detail


def test_a_connection_closed_during_the_handshake_is_reported_as_closed(settings: Settings) -> None:
    def cut(connection: socket.socket) -> None:
        connection.recv(10)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")

    assert describe_check(check_tls(settings, cut, None), "closed during the TLS handshake", "unexpected eof")


def describe_check(check: Check, *texts: str) -> bool:
    return any(text in check.detail for text in texts)


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_a_certificate_bundle_that_cannot_be_read_is_a_configuration_error(
    settings: Settings, tmp_path: Path, content: bytes | None
) -> None:
    bundle = tmp_path / "bundle.pem"
    if content is not None:
        bundle.write_bytes(content)
    with serve_connections(serve_nothing, "loopback.pem") as port:
        report = run_doctor(
            point_at(settings, f"https://eutils.test:{port}"), find_route=lambda url: Route(ca_bundle=str(bundle))
        )

    assert find_check(report, "tls").code == "NOT_CONFIGURED"
    assert report.exit_status == 8


def test_call_with_timeout_returns_or_raises_the_result_of_the_function() -> None:
    assert call_with_timeout(lambda: 5, 5) == 5
    with pytest.raises(ZeroDivisionError):
        call_with_timeout(lambda: 1 // 0, 5)
    with pytest.raises(TimeoutError):
        call_with_timeout(lambda: time.sleep(1), 0.05)
