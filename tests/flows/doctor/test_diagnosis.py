"""NCBI's own answers, the other services, and the report as a whole."""

import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from failing_servers import (
    CANARY,
    DATABASES,
    Handle,
    find_check,
    list_statuses,
    make_reply,
    point_at,
    read_head,
    run_doctor,
    serve_connections,
    serve_nothing,
    serve_reply,
)
from loopback_transport import find_free_port

from entrez_kit.base.errors import NotConfigured, RateLimited, UpstreamError
from entrez_kit.base.settings import Settings
from entrez_kit.doctor import DoctorReport

# NCBI itself


def diagnose_silent_service(settings: Settings, asker: Callable[[Settings], bytes]) -> DoctorReport:
    with serve_connections(serve_nothing) as port:
        return run_doctor(point_at(settings, f"http://127.0.0.1:{port}"), asker=asker)


def add_key(settings: Settings) -> Settings:
    from pydantic import SecretStr

    return replace(settings, ncbi_api_key=SecretStr(CANARY))


class RecordingAsker:
    """Answers, and records the settings of each request."""

    def __init__(self) -> None:
        self.seen: list[Settings] = []

    def __call__(self, settings: Settings) -> bytes:
        self.seen.append(settings)
        return DATABASES


def refuse_key(settings: Settings) -> bytes:
    if settings.ncbi_api_key is not None:
        raise NotConfigured("NCBI does not accept the API key.", details={"reason": "bad_api_key"})
    return DATABASES


def test_an_invalid_answer_is_reported_as_a_problem_of_ncbi_itself(settings: Settings) -> None:
    def answer_html(_: Settings) -> bytes:
        raise UpstreamError("NCBI sent a web page.", details={"reason": "invalid_response"})

    report = diagnose_silent_service(settings, answer_html)

    assert list_statuses(report)["tcp"] == "ok"
    assert find_check(report, "ncbi").detail == "NCBI sent a web page."
    assert report.exit_status == 5


def test_a_rate_limit_has_its_own_exit_status(settings: Settings) -> None:
    def answer_busy(_: Settings) -> bytes:
        raise RateLimited("too many requests")

    report = diagnose_silent_service(settings, answer_busy)

    assert find_check(report, "ncbi").code == "RATE_LIMITED"
    assert report.exit_status == 7


def test_a_list_of_databases_without_pubmed_is_not_an_answer(settings: Settings) -> None:
    report = diagnose_silent_service(settings, lambda _: b"<eInfoResult><DbList/></eInfoResult>")

    assert "does not list the database PubMed" in find_check(report, "ncbi").detail


def test_an_accepted_key_is_reported_and_not_shown(settings: Settings) -> None:
    report = diagnose_silent_service(add_key(settings), make_reply)

    assert "10 requests per second" in find_check(report, "api_key").detail
    assert CANARY not in report.model_dump_json()
    assert find_check(report, "rate_limit").detail.startswith("10 requests per second")


def test_a_rejected_key_is_distinguished_from_a_failing_service(settings: Settings) -> None:
    report = diagnose_silent_service(add_key(settings), refuse_key)

    assert list_statuses(report)["ncbi"] == "ok"
    assert find_check(report, "api_key").status == "failed"
    assert (find_check(report, "api_key").code, report.exit_status) == ("NOT_CONFIGURED", 8)


def test_a_failing_service_gives_no_verdict_about_the_key(settings: Settings) -> None:
    def fail(_: Settings) -> bytes:
        raise UpstreamError("down")

    report = diagnose_silent_service(add_key(settings), fail)

    assert list_statuses(report)["api_key"] == "skipped"
    assert report.exit_status == 5


def test_a_key_that_is_not_sent_to_a_foreign_address_is_a_warning(settings: Settings) -> None:
    with serve_connections(serve_nothing) as port:
        report = run_doctor(add_key(point_at(settings, f"http://mirror.test:{port}")))

    assert find_check(report, "api_key").status == "warning"
    assert report.exit_status == 4


def test_the_single_request_is_neither_cached_nor_repeated(settings: Settings) -> None:
    recorder = RecordingAsker()
    diagnose_silent_service(replace(settings, refresh=True), recorder)

    (given,) = recorder.seen
    assert (given.no_cache, given.refresh, given.ncbi_max_retries) == (True, False, 0)
    assert given.ncbi_total_deadline_ms == 15_000


def test_a_shorter_deadline_of_the_user_is_used(settings: Settings) -> None:
    recorder = RecordingAsker()
    diagnose_silent_service(replace(settings, ncbi_timeout_ms=700, ncbi_total_deadline_ms=900), recorder)

    assert (recorder.seen[0].ncbi_timeout_ms, recorder.seen[0].ncbi_total_deadline_ms) == (700, 900)


HTML = b"<!DOCTYPE html><html><title>Server Error</title><body>maintenance</body></html>"
BAD_KEY = b'{"error":"API key invalid","api-key":"' + CANARY.encode() + b'","type":"ip"}'
TOO_FAST = b'{"error":"API rate limit exceeded","api-key":"' + CANARY.encode() + b'","count":"4","limit":"3"}'
EINFO = b'<?xml version="1.0" encoding="UTF-8" ?><eInfoResult><DbList><DbName>pubmed</DbName></DbList></eInfoResult>'


@pytest.mark.parametrize(
    ("reply", "check", "code", "status"),
    [
        (serve_reply(body=HTML), "ncbi", "UPSTREAM_ERROR", 5),
        (serve_reply(body=b"bad gateway", status="502 Bad Gateway"), "ncbi", "UPSTREAM_ERROR", 5),
        (serve_reply(body=TOO_FAST, status="429 Too Many Requests"), "ncbi", "RATE_LIMITED", 7),
        (serve_nothing, "ncbi", "UPSTREAM_ERROR", 5),
        (lambda connection: None, "ncbi", "UPSTREAM_ERROR", 5),
        (serve_reply(body=EINFO), "ncbi", None, 0),
    ],
    ids=["html", "502", "429", "silence", "cut", "answer"],
)
def test_the_real_transport_returns_ncbis_answer(
    settings: Settings, reply: Handle, check: str, code: str | None, status: int
) -> None:
    from entrez_kit.doctor.diagnosis import ask_for_databases

    timeout_ms = 200 if reply is serve_nothing else 20_000
    quick = replace(add_key(settings), ncbi_timeout_ms=timeout_ms, ncbi_total_deadline_ms=20_000)
    with serve_connections(reply) as port:
        report = run_doctor(point_at(quick, f"http://127.0.0.1:{port}"), asker=ask_for_databases)

    assert (find_check(report, check).code, report.exit_status) == (code, status)
    assert CANARY not in report.model_dump_json()


def test_a_key_that_ncbi_rejects_is_found_by_the_real_transport(settings: Settings) -> None:
    from entrez_kit.doctor.diagnosis import ask_for_databases

    def handle(connection: socket.socket) -> None:
        head = read_head(connection)
        body, status = (BAD_KEY, "400 Bad Request") if CANARY.encode() in head else (EINFO, "200 OK")
        connection.sendall(
            f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode("ascii") + body
        )

    with serve_connections(handle) as port:
        report = run_doctor(point_at(add_key(settings), f"http://127.0.0.1:{port}"), asker=ask_for_databases)

    assert list_statuses(report)["ncbi"] == "ok"
    assert list_statuses(report)["api_key"] == "failed"
    assert report.exit_status == 8
    assert CANARY not in report.model_dump_json()


# Other services


def test_other_services_are_tested_on_request_and_fail_independently(settings: Settings) -> None:
    with serve_connections(serve_nothing) as port:
        report = run_doctor(
            replace(
                point_at(settings, f"http://127.0.0.1:{port}"),
                idconv_url=f"http://127.0.0.1:{port}/idconv",
                check_sources="pubmed",
                europepmc_url=f"http://127.0.0.1:{find_free_port()}/europepmc",
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
    assert find_check(report, "ncbi").status == "ok"
    assert find_check(report, "tcp", "Europe PMC").status == "failed"
    assert find_check(report, "tls", "Europe PMC").status == "skipped"
    assert find_check(report, "tcp", "PMC open data").status == "ok"
    assert report.exit_status == 5


def test_disabled_services_are_not_tested(settings: Settings) -> None:
    with serve_connections(serve_nothing) as port:
        here = f"http://127.0.0.1:{port}"
        report = run_doctor(
            replace(
                point_at(settings, here),
                idconv_url=here,
                pmc_oa_url=here,
                europepmc_enabled=False,
                check_sources="pubmed",
            ),
            all_services=True,
        )

    assert {check.service for check in report.checks} == {None, "E-utilities", "ID Converter", "PMC open data"}


def test_offline_only_this_machine_is_tested(settings: Settings) -> None:
    def fail(*_: Any) -> Any:
        raise AssertionError

    offline = replace(settings, offline=True, origins={"offline": "flag"})
    report = run_doctor(offline, resolver=fail, connector=fail, asker=fail, find_route=fail)

    assert set(list_statuses(report).values()) == {"skipped"}
    assert report.exit_status == 0


# The report


def test_the_first_failure_decides_the_exit_status(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    report = run_doctor(replace(settings, cache_dir=file), resolver=lambda host, port: [])

    assert [check.label for check in report.failed] == ["cache", "E-utilities dns"]
    assert report.exit_status == 9
    problem = report.find_problem()
    assert problem is not None
    assert problem.details == {"reason": "cache_failed", "failed": ["cache", "E-utilities dns"]}
    assert problem.recovery_hint == find_check(report, "cache").hint


def test_every_failure_and_warning_has_advice_and_a_duration(settings: Settings) -> None:
    report = run_doctor(point_at(settings, f"https://eutils.test:{find_free_port()}"), free_space=lambda folder: 10**8)

    assert [check.name for check in report.checks if check.status in ("failed", "warning")] == ["disk", "tcp"]
    assert all(check.hint for check in report.checks if check.status in ("failed", "warning"))
    assert all(check.seconds >= 0 for check in report.checks)
