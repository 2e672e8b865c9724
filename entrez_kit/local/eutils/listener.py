"""The HTTP server of the sandbox and of local copies: connections, requests and bytes, on loopback."""

import selectors
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

from entrez_kit.local.eutils.replies import LocalReply

MAX_BODY: Final = 16 << 20
IDLE_SECONDS: Final = 60.0
PATIENCE: Final = 5.0
"""Maximum number of seconds to wait for threads that should end."""
HOST: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Arrival:
    """One HTTP request with its arrival time and the address of the client."""

    at: float
    method: str
    path: str
    query: str
    form: str
    address: str


class Cut(Enum):
    """What the server does with a connection after an answer."""

    KEEP = "keep"
    CLOSE_EARLY = "close_early"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class Strike:
    """A reply, the bytes that a fault sends in place of its whole body, and the state of the connection."""

    reply: LocalReply
    sent: bytes | None = None
    ending: Cut = Cut.KEEP


Answer = Callable[[Arrival], Strike]


class LoopbackServer(ThreadingHTTPServer):
    """A server on loopback with its own thread, which stops immediately on ``end``."""

    timeout = 0  # handle_request is called only when a connection is waiting
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int = 0) -> None:
        super().__init__((HOST, port), handler)
        self._end, self._end_signal = socket.socketpair()
        self._thread = threading.Thread(target=self._take_connections, name=type(self).__name__, daemon=True)

    def server_bind(self) -> None:
        """Bind without the reverse DNS lookup of the base class."""
        socket_address: Any = self.server_address
        if self.allow_reuse_address:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(socket_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = HOST, self.server_address[1]

    def start(self) -> None:
        """Start to answer."""
        self._thread.start()

    def _take_connections(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self, selectors.EVENT_READ)
            selector.register(self._end_signal, selectors.EVENT_READ)
            while all(key.fileobj is self for key, _ in selector.select()):
                self.handle_request()

    def end(self) -> None:
        """Stop accepting connections."""
        self._end.close()
        self._thread.join(PATIENCE)
        self._end_signal.close()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: clients may close a connection early."""


class Listener(LoopbackServer):
    """A server of answers. After ``end``, no thread and no connection is left."""

    def __init__(self, port: int, answer: Answer) -> None:
        self.answer = answer
        self._open: dict[threading.Thread, Any] = {}
        self._guard = threading.Lock()
        super().__init__(Handler, port)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a separate thread, and register both."""
        thread = threading.Thread(target=self._serve, args=(request, client_address), daemon=True)
        with self._guard:
            self._open[thread] = request
        thread.start()

    def _serve(self, request: Any, client_address: Any) -> None:
        try:
            self.process_request_thread(request, client_address)
        finally:
            with self._guard:
                self._open.pop(threading.current_thread(), None)

    def end(self) -> None:
        """Stop the server, close all connections and wait for their threads."""
        super().end()
        with self._guard:
            remaining = dict(self._open)
        for request in remaining.values():
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)
        deadline = monotonic() + PATIENCE
        for thread in remaining:
            thread.join(max(0.0, deadline - monotonic()))


class Handler(BaseHTTPRequestHandler):
    """Reads requests from a connection and sends the answers."""

    server: Listener
    protocol_version = "HTTP/1.1"
    server_version = "entrez-kit"
    sys_version = ""
    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True
    arrived = 0.0

    def parse_request(self) -> bool:
        """Record the arrival time before the request is parsed."""
        self.arrived = monotonic()
        return super().parse_request()

    def do_GET(self) -> None:
        """Answer a GET request."""
        self._answer("")

    def do_POST(self) -> None:
        """Answer a POST request with a form."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self._refuse(HTTPStatus.LENGTH_REQUIRED if not length else HTTPStatus.BAD_REQUEST)
            return
        if len(length) > 12 or int(length) > MAX_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            self.close_connection = True
            return
        self._answer(body.decode("utf-8", errors="replace"))

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer with an error and close the connection without reading the body."""
        self.close_connection = True
        body = f"{status.value} {status.phrase}\n".encode("ascii")
        self._send(self._format_head(status.value, "text/plain", len(body), ()) + body)

    def _answer(self, form: str) -> None:
        try:
            parts = urlsplit(self.path)
        except ValueError:  # such as an unclosed bracket in "http://[..."
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        address = str(self.client_address[0])
        strike = self.server.answer(Arrival(self.arrived, self.command, parts.path, parts.query, form, address))
        if strike.ending is Cut.RESET:
            # The client must get a reset instead of an orderly end of the connection.
            self.close_connection = True
            with suppress(OSError):
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        reply = strike.reply
        sent = reply.body if strike.sent is None else strike.sent
        self._send(self._format_head(reply.status, reply.content_type, len(reply.body), reply.headers) + sent)
        if strike.ending is Cut.CLOSE_EARLY:
            self.close_connection = True

    def _format_head(self, status: int, content_type: str, length: int, headers: tuple[tuple[str, str], ...]) -> bytes:
        phrase = HTTPStatus(status).phrase
        lines = [f"HTTP/1.1 {status} {phrase}", f"Server: {self.server_version}", f"Date: {self.date_time_string()}"]
        lines += [f"Content-Type: {content_type}", f"Content-Length: {length}"]
        lines += [f"{name}: {value}" for name, value in headers]
        lines.append("Connection: close" if self.close_connection else "Connection: keep-alive")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _send(self, data: bytes) -> None:
        try:
            self.connection.sendall(data)
        except OSError:  # the client closed the connection
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: the callers have their own logs."""
