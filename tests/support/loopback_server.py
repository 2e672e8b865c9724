"""A loopback server with chosen answers: valid, invalid, slow, cut or missing. It records the requests."""

import gzip
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal, Self
from urllib.parse import parse_qsl, urlsplit

from entrez_kit.local.eutils.listener import LoopbackServer

Fault = (
    Literal["cut", "truncate", "chunked_cut", "unmarked_cut", "drip", "hang"]
    | Literal["drip_headers", "endless_headers", "continues"]
)

ESEARCH = (
    b'<?xml version="1.0" encoding="UTF-8" ?>\n'
    b'<!DOCTYPE eSearchResult PUBLIC "-//NLM//DTD esearch 20060628//EN" '
    b'"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20060628/esearch.dtd">\n'
    b"<eSearchResult><Count>2</Count><RetMax>2</RetMax><RetStart>0</RetStart><IdList>\n<Id>11</Id>\n<Id>12</Id>\n"
    b"</IdList><QueryTranslation>asthma</QueryTranslation></eSearchResult>\n"
)
HTML = b"<!DOCTYPE html><html><head><title>NCBI - WWW Error Blocked Diagnostic</title></head><body>no</body></html>"
RATE_LIMIT = b'{"error":"API rate limit exceeded","api-key":"203.0.113.7","count":"4","limit":"3"}'


@dataclass(frozen=True)
class Answer:
    """One answer of the server. The default is a valid ESearch reply. `together` answers several requests at once."""

    body: bytes = ESEARCH
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: Fault | None = None
    delay: float = 0.0
    together: threading.Barrier | None = None
    compressed: bool = False


@dataclass(frozen=True)
class ReceivedRequest:
    """A received request."""

    method: str
    path: str
    pairs: tuple[tuple[str, str], ...]
    raw: str
    headers: Mapping[str, str]
    at: float

    @property
    def params(self) -> dict[str, str]:
        """The parameters, of query and body alike."""
        return dict(self.pairs)

    @property
    def endpoint(self) -> str:
        """The last part of the path without its extension."""
        return self.path.rstrip("/").rsplit("/", 1)[-1].partition(".")[0]


class Loopback:
    """The server: queue answers with `then`, or set `always`; `seen` lists the requests.

    `completed` counts the answers that were sent to their end: the client did not leave before.
    """

    def __init__(self, always: Answer | None = None) -> None:
        self.always = always or Answer()
        self.by_endpoint: dict[str, Answer] = {}
        self.seen: list[ReceivedRequest] = []
        self.completed = 0
        self._queue: deque[Answer] = deque()
        self._lock = threading.Lock()
        self._server = _Server(self)
        self.port = self._server.server_port
        self.root = f"http://127.0.0.1:{self.port}"
        self.eutils_url = f"{self.root}/entrez/eutils"
        self.idconv_url = f"{self.root}/idconv"

    def then(self, *answers: Answer) -> None:
        """Queue answers; after the last one, `always` answers."""
        with self._lock:
            self._queue.extend(answers)

    def next_answer(self, seen: ReceivedRequest) -> Answer:
        """Record a request and return its answer."""
        with self._lock:
            self.seen.append(seen)
            if seen.endpoint in self.by_endpoint:
                return self.by_endpoint[seen.endpoint]
            return self._queue.popleft() if self._queue else self.always

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.end()


_HEADS = {
    "drip_headers": (b"", b"HTTP/1.1 200 OK\r\nContent-Type: text/xml; charset=UTF-8; x=" + b"y" * 500, 0.1),
    "endless_headers": (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 1000, 0.001),
    "continues": (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.001),
}


class _Server(LoopbackServer):
    def __init__(self, owner: Loopback) -> None:
        super().__init__(_Handler)
        self.owner = owner


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._answer("")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""

    def _answer(self, form: str) -> None:
        parts = urlsplit(self.path)
        raw = "&".join(part for part in (parts.query, form) if part)
        answer = self.server.owner.next_answer(
            ReceivedRequest(
                self.command,
                parts.path,
                tuple(parse_qsl(raw, keep_blank_values=True)),
                raw,
                dict(self.headers),
                time.monotonic(),
            )
        )
        time.sleep(answer.delay)
        if answer.together:
            answer.together.wait()
        if answer.fault == "cut":
            self._hang_up()
            return
        if answer.fault in _HEADS:
            self._send_head(answer.fault)
            self.server.owner.completed += 1
            return
        body = gzip.compress(answer.body) if answer.compressed else answer.body
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.compressed:
            self.send_header("Content-Encoding", "gzip")
        if "Content-Type" not in answer.headers:
            self.send_header("Content-Type", "text/xml; charset=UTF-8")
        self._send(body, answer.fault)
        self.server.owner.completed += 1

    def _send(self, body: bytes, fault: Fault | None) -> None:
        half = len(body) // 2
        if fault == "chunked_cut":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%b\r\n" % (half, body[:half]))
            self._hang_up()
            return
        if fault == "unmarked_cut":
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body[:half])
            self._hang_up()
            return
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if fault == "truncate":
            self.wfile.write(body[:half])
            self._hang_up()
        elif fault == "hang":
            self.wfile.write(body[:half])
            time.sleep(5)
        elif fault == "drip":
            for at in range(len(body)):
                self.wfile.write(body[at : at + 1])
                time.sleep(0.05)
        else:
            self.wfile.write(body)

    def _send_head(self, fault: str) -> None:
        """Send a head slowly or without an end. An OSError means that the client left."""
        until = time.monotonic() + 10
        first, piece, pause = _HEADS[fault]
        self.wfile.write(first)
        while time.monotonic() < until:
            for byte in piece:
                self.wfile.write(bytes([byte]))
                time.sleep(pause)
        self.close_connection = True

    def _hang_up(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
