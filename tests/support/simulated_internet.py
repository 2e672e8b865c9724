"""A simulated public network on this machine: names, public addresses, and real servers on loopback.

Names are resolved by a table. A connection to a public address goes to the server that represents it. So the code
under test runs as it does elsewhere: it resolves, checks, connects to the checked address, and talks to a server.
"""

import gzip
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Self

import pytest

from entrez_kit.local.eutils.listener import LoopbackServer
from entrez_kit.services.transport.download.addresses import AddressGuard

HTML = b"<!DOCTYPE html><html><head><title>An article</title></head><body><p>Words.</p></body></html>"


@dataclass(frozen=True)
class Answer:
    """The answer of a server, after ``delay`` seconds. ``pieces`` are sent one by one, with a pause before each."""

    body: bytes = HTML
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/html"})
    pieces: Callable[[], Iterable[bytes]] | None = None
    pause: float = 0.0
    delay: float = 0.0
    declare: bool = True


@dataclass(frozen=True)
class ReceivedRequest:
    """A request that a server received."""

    path: str
    headers: Mapping[str, str]
    host: str


class Site:
    """A server on loopback with an answer for every path."""

    def __init__(self, answers: Mapping[str, Answer], context: ssl.SSLContext | None = None) -> None:
        self.answers = dict(answers)
        self.seen: list[ReceivedRequest] = []
        self._server = _Server(self)
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.end()


class _Server(LoopbackServer):
    def __init__(self, site: Site) -> None:
        super().__init__(_Handler)
        self.site = site


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        site = self.server.site
        site.seen.append(ReceivedRequest(self.path, dict(self.headers), self.headers.get("Host", "")))
        answer = site.answers.get(self.path) or site.answers.get("*") or Answer(b"no", 404)
        with suppress(OSError):
            self._send(answer)
        self.close_connection = True

    def _send(self, answer: Answer) -> None:
        time.sleep(answer.delay)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.pieces is None and answer.declare:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        for piece in answer.pieces() if answer.pieces is not None else (answer.body,):
            time.sleep(answer.pause)
            self.wfile.write(piece)
            self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""


class SimulatedInternet:
    """Names, the addresses they resolve to, and the server for each public address."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: dict[str, Sequence[str]] = {}
        self.servers: dict[tuple[str, int], int] = {}
        self.lookups: list[str] = []
        self.connected: list[tuple[str, int]] = []
        connect = socket.socket.connect

        def connect_routed(sock: socket.socket, address: Any) -> None:
            host, port = str(address[0]), int(address[1])
            self.connected.append((host, port))
            if (host, port) in self.servers:
                connect(sock, ("127.0.0.1", self.servers[host, port]))
                return
            connect(sock, address)

        monkeypatch.setattr(socket.socket, "connect", connect_routed)

    def resolve(self, host: str, port: int) -> Sequence[str]:
        """Look a name up in the table."""
        self.lookups.append(host)
        if host not in self.names:
            raise OSError("no such name")
        return self.names[host]

    def add(self, host: str, site: Site, *addresses: str, port: int = 80) -> None:
        """Make a name resolve to addresses; one server answers for all of them."""
        self.names[host] = addresses
        for address in addresses:
            self.servers[address, port] = site.port

    @property
    def guard(self) -> AddressGuard:
        """The strict guard, over these names."""
        return AddressGuard(resolver=self.resolve)


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> SimulatedInternet:
    """A public network without any servers yet."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return SimulatedInternet(monkeypatch)


def make_redirect(location: str, status: int = 302) -> Answer:
    """Return an answer that leads elsewhere."""
    return Answer(b"", status, {"Location": location})


def compress(body: bytes) -> bytes:
    """Return a body as gzip has it."""
    return gzip.compress(body)


@contextmanager
def serve_bytes(start: bytes, drip: bytes = b"", heard: list[bytes] | None = None) -> Iterator[int]:
    """Run a server that sends every caller the same bytes and then more, slowly; yield its port."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.02)

        def serve() -> None:
            while not ended.is_set():
                with suppress(OSError):
                    connection, _ = server.accept()
                    with connection:
                        connection.settimeout(5)
                        request = connection.recv(65_536)
                        if heard is not None:
                            heard.append(request)
                        connection.sendall(start)
                        while drip and not ended.is_set():
                            connection.sendall(drip)
                            time.sleep(0.05)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield int(server.getsockname()[1])
        ended.set()
        thread.join(2)
