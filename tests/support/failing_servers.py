"""Servers on loopback that fail in every way, and calls of the doctor for them."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from project_paths import DATA

from entrez_kit.base.settings import Settings, load_settings
from entrez_kit.doctor import Check, DoctorReport, diagnose
from entrez_kit.doctor.hops import Route

CERTIFICATES = DATA / "certificates"
CANARY = "canary0123456789abcdef"
PASSWORD = "hunter2-canary"
DATABASES = b"<eInfoResult><DbList><DbName>pubmed</DbName><DbName>gene</DbName></DbList></eInfoResult>"
PATIENCE = 10.0
SHORT = 0.3

Handle = Callable[[socket.socket], None]


@contextmanager
def serve_connections(handle: Handle, certificate: str | None = None) -> Iterator[int]:
    """Run a server on loopback that hands every connection to a function; with a certificate it speaks TLS."""
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATES / certificate)
    server = socket.create_server(("127.0.0.1", 0))
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
        while True:
            connection, _ = server.accept()
            if stop.is_set():
                connection.close()
                return
            threading.Thread(target=serve_one, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield int(server.getsockname()[1])
    finally:
        stop.set()
        socket.create_connection(server.getsockname()).close()  # it ends the wait for a connection
        thread.join()
        server.close()


def serve_nothing(connection: socket.socket) -> None:
    """Accept every connection and send nothing."""
    while connection.recv(4096):
        pass


def serve_reply(*, body: bytes, status: str = "200 OK", headers: str = "") -> Handle:
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


@pytest.fixture(name="home")
def home_fixture() -> Path:
    """Return the home folder of this test."""
    return Path.home()


@pytest.fixture(name="settings")
def settings_fixture(home: Path) -> Settings:
    """Return the defaults, with folders of this test."""
    return load_settings(environ={"HOME": str(home)})


def fail_to_resolve(host: str, port: int) -> Sequence[str]:
    """Raise the error for a name without an address."""
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def point_at(settings: Settings, url: str) -> Settings:
    """Point settings at an address of the E-utilities."""
    return replace(settings, eutils_url=f"{url}/entrez/eutils")


def make_reply(_: Settings) -> bytes:
    return DATABASES


def run_doctor(settings: Settings, **injected: Any) -> DoctorReport:
    injected = {
        "resolver": lambda host, port: ["127.0.0.1"],
        "find_route": lambda url: Route(),
        "asker": make_reply,
        "free_space": lambda folder: 10**12,
        "patience": PATIENCE,
        **injected,
    }
    return diagnose(settings, **injected)


def find_check(report: DoctorReport, name: str, service: str | None = None) -> Check:
    """Return the check of that name, of the E-utilities where several services are looked at."""
    checks = [check for check in report.checks if check.name == name and service in (None, check.service)]
    return checks[0]


def list_statuses(report: DoctorReport) -> dict[str, str]:
    return {check.name: check.status for check in report.checks if check.service == "E-utilities"}
