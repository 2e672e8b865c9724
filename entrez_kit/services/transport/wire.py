"""The adapter below the cache: it waits for a slot, adds credentials, sends, follows redirects, reads and checks.

The adapter returns the checked body, its media type and its lifetime: no other header of the service, no cookie, no
credential. So requests-cache above it stores checked replies only, and no header of a service changes what it stores.
Every failure is raised as an error of entrez-kit with its own text, because exceptions of requests and urllib3 contain
URLs with credentials.
"""

import heapq
import itertools
import logging
import os
import pathlib
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cache
from io import BytesIO
from typing import Any, Final, Self
from urllib.parse import urlencode, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, ReadTimeoutError

from entrez_kit.base import __version__
from entrez_kit.base.errors import NotConfigured, UpstreamError
from entrez_kit.base.frontend_text import BASE_ADDRESS, FrontendText
from entrez_kit.base.redaction import Redactor
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport import (
    NOT_FOUND_TTL,
    POLICIES,
    Call,
    Outgoing,
    T,
    faults,
    in_flight,
    is_loopback,
    list_credentials,
    redirects,
    replies,
)
from entrez_kit.services.transport.cached_session import CallRequest
from entrez_kit.services.transport.rate_gate import RateGate
from entrez_kit.services.transport.refusals import invalid_response_error
from entrez_kit.services.transport.retry import Retryable

logger = logging.getLogger("entrez_kit.transport")

MAX_BODY_BYTES: Final = 50_000_000
LARGE_BODY_BYTES: Final = 250_000
READ_AT_ONCE: Final = 2
"""Maximum number of large bodies parsed at the same time: a tree takes many times the memory of its text."""
CHUNK_BYTES: Final = 65_536
POOL_SIZE: Final = 16
_FORM: Final = "application/x-www-form-urlencoded"


# Compressed bodies

PIECE_BYTES: Final = 262_144
"""Decompressed bytes per step, so that a small body cannot fill the memory before its size is checked."""

_GZIP_OR_ZLIB: Final = 47
_RAW: Final = -zlib.MAX_WBITS
_GZIP_MAGIC: Final = b"\x1f\x8b"


class Undecodable(Exception):
    """The body is not what its Content-Encoding says."""


class Decoder:
    """Decompress one body piece by piece, and detect whether the compressed stream is complete.

    urllib3 also decompresses, but accepts a truncated gzip stream.

    Args:
        encoding: its Content-Encoding, empty for none.
    """

    def __init__(self, encoding: str) -> None:
        self._plain = encoding in ("", "identity")
        if not self._plain and encoding not in ("gzip", "x-gzip", "deflate"):
            raise Undecodable(f"a body in an encoding that was not requested ({encoding[:20]})")
        self._stream = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._fresh = True

    @property
    def ended(self) -> bool:
        """Whether the data so far is a complete body."""
        return self._plain or self._fresh or self._stream.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the decompressed data of the next bytes of the body.

        Raises:
            Undecodable: the bytes are not valid compressed data.
        """
        if self._plain:
            yield data
            return
        try:
            while data:
                if self._stream.eof:
                    if not data.startswith(_GZIP_MAGIC):
                        return  # padding after the stream
                    self._stream = zlib.decompressobj(_GZIP_OR_ZLIB)
                piece = self._decompress(data)
                if piece:
                    yield piece
                data = self._stream.unconsumed_tail or self._stream.unused_data
        except zlib.error:
            raise Undecodable("a body that cannot be decompressed") from None

    def _decompress(self, data: bytes) -> bytes:
        fresh, self._fresh = self._fresh, False
        try:
            return self._stream.decompress(data, PIECE_BYTES)
        except zlib.error:
            if not fresh:
                raise
            self._stream = zlib.decompressobj(_RAW)  # some servers send deflate without the zlib header
            return self._stream.decompress(data, PIECE_BYTES)


# The deadline of an exchange

_current: Final = threading.local()
_now: Final = time.monotonic


class _Alarms:
    """Call functions when their time has come, in one thread: to start a thread for each request takes much longer."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._pending: list[tuple[float, int, list[Callable[[], None]]]] = []
        self._count = itertools.count()
        self._thread: threading.Thread | None = None

    def set_alarm(self, seconds: float, ring: Callable[[], None]) -> Callable[[], None]:
        """Call a function after a time, unless the function that is returned is called before."""
        to_call = [ring]
        entry = (_now() + seconds, next(self._count), to_call)
        with self._changed:
            heapq.heappush(self._pending, entry)
            if self._thread is None:
                self._thread = threading.Thread(target=self._wait, name="deadlines", daemon=True)
                self._thread.start()
            elif self._pending[0] is entry:
                self._changed.notify()
        return to_call.clear

    def _wait(self) -> None:
        while True:
            with self._changed:
                while self._pending and not self._pending[0][2]:
                    heapq.heappop(self._pending)
                left = self._pending[0][0] - _now() if self._pending else None
                if left is None or left > 0:
                    self._changed.wait(left)
                    continue
                to_call = heapq.heappop(self._pending)[2]
            for ring in tuple(to_call):
                ring()


_alarms = _Alarms()


def _renew_alarms() -> None:
    """Replace the alarms in a process that was forked: their thread and its lock belong to the other process."""
    global _alarms
    _alarms = _Alarms()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_renew_alarms)


class SocketDeadline:
    """A context manager for code that may block on a connection: sending, or reading the headers or the body.

    The timeout of a socket restarts with every byte, so a server that sends its reply very slowly could block a call
    for hours. At the deadline the socket is shut down, and its reader gets the end of the stream.

    Args:
        until: the deadline, a `time.monotonic` value.
        response: the response being read; without it, the deadline watches the connections that this thread uses.
    """

    def __init__(self, until: float, response: Any = None) -> None:
        self.until = until
        self._response = response
        self._connection: Any = None
        self._cancel: Callable[[], None] | None = None

    @property
    def has_passed(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self.until

    def watch(self, connection: Any) -> None:
        """Set the connection to shut down at the deadline.

        Raises:
            TimeoutError: the deadline has passed.
        """
        self._connection = connection
        if self.has_passed:
            raise TimeoutError

    def __enter__(self) -> Self:
        _current.deadline = self
        self._cancel = _alarms.set_alarm(self.until - time.monotonic(), self._end)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._cancel is not None:
            self._cancel()
            self._cancel = None
            _current.deadline = None

    def _end(self) -> None:
        with suppress(Exception):  # the reader may have just finished
            if self._response is not None:
                self._response.shutdown()
            else:  # below TLS, whose state belongs to the reader
                socket.socket.shutdown(self._connection.sock, socket.SHUT_RDWR)


class _WatchedConnection(HTTPConnection):
    """Report the connection in use to the deadline of the thread, and send a request only inside its slot."""

    def connect(self) -> None:
        self._report()
        super().connect()

    def request(self, *args: Any, **kwargs: Any) -> None:
        self._report()
        if self.sock is None:  # connecting takes time, so it comes before the slot
            self.connect()
        with getattr(_current, "departure", nullcontext()):
            super().request(*args, **kwargs)

    def _report(self) -> None:
        deadline: SocketDeadline | None = getattr(_current, "deadline", None)
        if deadline is not None:
            deadline.watch(self)


class _WatchedTLSConnection(_WatchedConnection, HTTPSConnection):
    """The same over TLS."""


class _WatchedPool(HTTPConnectionPool):
    ConnectionCls = _WatchedConnection


class _WatchedTLSPool(HTTPSConnectionPool):
    ConnectionCls = _WatchedTLSConnection


_POOLS: Final = {"http": _WatchedPool, "https": _WatchedTLSPool}


@cache
def _load_socks_pools() -> dict[str, type[HTTPConnectionPool]]:
    """Return the pools for SOCKS proxies, whose module needs the package PySocks."""
    from urllib3.contrib import socks

    class Connection(_WatchedConnection, socks.SOCKSConnection):
        """Connect through the proxy."""

    class TLSConnection(_WatchedTLSConnection, socks.SOCKSHTTPSConnection):
        """Connect through the proxy, over TLS."""

    class Pool(socks.SOCKSHTTPConnectionPool):
        ConnectionCls = Connection

    class TLSPool(socks.SOCKSHTTPSConnectionPool):
        ConnectionCls = TLSConnection

    return {"http": Pool, "https": TLSPool}


class WatchedAdapter(HTTPAdapter):
    """Send requests on connections that have a deadline and wait for a slot."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Create the pools."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        """Return the pools of a proxy, with the same connections."""
        manager = super().proxy_manager_for(proxy, **kwargs)
        manager.pool_classes_by_scheme = _load_socks_pools() if proxy.lower().startswith("socks") else _POOLS
        return manager


def read_connection_options(url: str, *, is_here: bool) -> dict[str, Any]:
    """Return the proxies and certificates that the environment names; loopback is requested without a proxy.

    Raises:
        NotConfigured: the file or folder of certificates does not exist.
    """
    if is_here and url.startswith("http:"):
        return {"verify": True, "cert": None, "proxies": {}}
    with requests.Session() as session:
        options = session.merge_environment_settings(url, {}, None, None, None)
    certificates = options["verify"]
    if isinstance(certificates, str) and not pathlib.Path(certificates).exists():
        raise faults.missing_certificates_error(certificates)
    return {"verify": certificates, "cert": options["cert"], "proxies": {} if is_here else options["proxies"]}


class WireAdapter(WatchedAdapter):
    """Send the requests that have no cached reply.

    ``watch`` receives every reply, valid or not.
    """

    def __init__(
        self,
        settings: Settings,
        gate: RateGate,
        redactor: Redactor,
        watch: Callable[[Call, replies.Incoming], None] | None,
    ) -> None:
        super().__init__(pool_connections=POOL_SIZE, pool_maxsize=POOL_SIZE)
        self._settings = settings
        self._gate = gate
        self._redactor = redactor
        self._reading = threading.Semaphore(READ_AT_ONCE)
        self._watch = watch

    def send(  # type: ignore[override]  # it gets requests from our session only
        self, request: CallRequest[T], *_: object, **__: object
    ) -> requests.Response:
        """Send one attempt and return the checked reply. Its `Cache-Control` holds the lifetime.

        Raises:
            Retryable: it failed, and a retry may succeed.
            EntrezKitError: it failed, and a retry would fail too.
        """
        outgoing, call = request.outgoing, request.outgoing.call
        incoming = replies.redact(call, self._receive(outgoing), self._redactor)
        body = incoming.body
        if self._watch is not None:
            self._watch(call, incoming)
        in_flight.add_received(len(body))
        sent_credentials = frozenset(name for name, _ in list_credentials(self._settings, call.service, call.url))
        with self._reading if len(body) > LARGE_BODY_BYTES else nullcontext():
            checked = replies.check_reply(call, incoming, self._redactor, sent_credentials)
        request.value = checked.value
        headers = {"Cache-Control": self._cache_control(call, checked), "Content-Type": incoming.content_type}
        raw = HTTPResponse(BytesIO(body), headers, incoming.status, preload_content=False, decode_content=False)
        return self.build_response(request, raw)

    def _receive(self, outgoing: Outgoing) -> replies.Incoming:
        """Send a request and read the reply."""
        with self._open(outgoing) as (live, moved_to):
            until = min(outgoing.deadline, time.monotonic() + self._compute_timeout(outgoing.call))
            body = b"".join(self._read_body(live, outgoing.call, until))
            return replies.Incoming(live.status_code, live.headers, body, moved_to)

    def _cache_control(self, call: Call[T], checked: replies.Checked[T]) -> str:
        ttl = call.ttl if self._settings.cache_ttl is None else self._settings.cache_ttl
        if call.ttl is None or not ttl or not call.expect.keep(checked.value):
            return "no-store"
        return f"max-age={ttl if checked.complete else min(ttl, NOT_FOUND_TTL)}"

    @contextmanager
    def _open(self, outgoing: Outgoing) -> Iterator[tuple[requests.Response, str | None]]:
        """Wait for a slot, send and follow redirects. Yield the response with its body unread.

        Yield with it the new URL if the service says that the endpoint has moved permanently, else None.
        """
        call = outgoing.call
        with ExitStack() as stack:
            stack.enter_context(self._gate.slot(call, outgoing.deadline))
            method, url, moved_to = call.method, call.shown_url, None
            for hop in range(redirects.MAX_REDIRECTS + 1):
                live = self._exchange(outgoing, method, url, hop)
                stack.callback(live.close)
                if live.status_code not in redirects.STATUSES or "Location" not in live.headers:
                    yield live, moved_to
                    return
                following = redirects.follow(url, live.headers["Location"])
                for_good = live.status_code in redirects.PERMANENT
                if following is None:
                    where = redirects.display_target(url, live.headers["Location"])
                    if for_good:
                        raise _moved_error(call, where, live.status_code)
                    raise _redirect_error(call, f"redirect to {where}")
                url = following
                if for_good:
                    moved_to = url.partition("?")[0]
                    logger.debug("%s has moved permanently to %s", call.endpoint, moved_to)
                if live.status_code == 303:
                    method = "GET"
                if method == "GET" and not redirects.has_arguments(url, call.params):
                    raise _redirect_error(call, "redirect without the arguments of the request")
                logger.debug("%s is redirected (status %d)", call.endpoint, live.status_code)
            raise _redirect_error(call, f"more than {redirects.MAX_REDIRECTS} redirects")

    def _compute_timeout(self, call: Call) -> float:
        timeout_ms: int = getattr(self._settings, POLICIES[call.service].timeout_ms)
        return timeout_ms / 1000

    def _exchange(self, outgoing: Outgoing, method: str, url: str, hop: int) -> requests.Response:
        """Send one request when it gets a slot, and return the response with its body unread."""
        call = outgoing.call
        ready = self._add_credentials(call, method, url)
        host = urlsplit(url).hostname
        options = read_connection_options(url, is_here=is_loopback(host))
        departure = self._gate.take_slot(call, outgoing.deadline, is_new=outgoing.sent == 0)
        left = outgoing.deadline - time.monotonic()
        if left <= 0:
            raise Retryable(faults.timeout_error(call))
        if hop == 0:
            outgoing.sent += 1
        seconds = min(self._compute_timeout(call), left)
        deadline = SocketDeadline(time.monotonic() + seconds)
        _current.departure = departure
        try:
            with deadline:
                return super().send(ready, stream=True, timeout=(seconds, seconds), **options)
        except (requests.RequestException, HTTPError, OSError) as exc:
            raise faults.explain(TimeoutError() if deadline.has_passed else exc, call, host or "", seconds) from None
        finally:
            del _current.departure

    def _add_credentials(self, call: Call, method: str, url: str) -> requests.PreparedRequest:
        """Return the request to send. Credentials are added only here."""
        headers = {"User-Agent": f"entrez-kit/{__version__}", "Accept": "*/*", "Accept-Encoding": "gzip, deflate"}
        ready = requests.PreparedRequest()
        try:
            is_trusted = redirects.is_same_origin(call.url, url)  # a redirect to another origin gets no credentials
            sent_credentials = urlencode(list_credentials(self._settings, call.service, url)) if is_trusted else ""
            if method == "POST":
                form = "&".join(part for part in (call.query, sent_credentials) if part)
                ready.prepare(method="POST", url=url, headers={**headers, "Content-Type": _FORM}, data=form.encode())
            else:
                separator = "&" if "?" in url else "?"
                ready.prepare(
                    method="GET",
                    url=f"{url}{separator}{sent_credentials}" if sent_credentials else url,
                    headers=headers,
                )
            return ready
        except (requests.RequestException, ValueError):
            sent_credentials = form = ""  # a traceback may show local variables
            raise NotConfigured(
                f"The URL of {call.title} is invalid: {call.url}", details=call.describe("bad_address")
            ) from None

    def _read_body(self, live: requests.Response, call: Call, until: float) -> Iterator[bytes]:
        """Yield the decompressed body piece by piece.

        Args:
            until: deadline of the whole body, a `time.monotonic` value.

        Raises:
            Retryable: the body is truncated, or took too long.
            UpstreamError: the body is larger than ``MAX_BODY_BYTES``.
        """
        raw: HTTPResponse = live.raw
        size = 0
        fault: Retryable | None = None
        with SocketDeadline(until, raw) as deadline:
            try:
                decoder = Decoder(live.headers.get("Content-Encoding", "").strip().lower())
                while chunk := raw.read1(CHUNK_BYTES, decode_content=False):
                    for piece in decoder.feed(chunk):
                        size += len(piece)
                        if size > MAX_BODY_BYTES:
                            raise UpstreamError(
                                f"The {call.endpoint} reply of {call.title} has more than {MAX_BODY_BYTES:,} bytes.",
                                recovery_hint="Request fewer records at a time.",
                                details=call.describe("too_large"),
                            )
                        yield piece
                if not decoder.ended:
                    fault = Retryable(faults.truncated_error(call, live.status_code, size))
            except Undecodable as exc:
                fault = Retryable(invalid_response_error(call, str(exc), live.status_code))
            except (HTTPError, OSError) as exc:
                late = isinstance(exc, ReadTimeoutError | TimeoutError)
                fault = Retryable(
                    faults.timeout_error(call) if late else faults.truncated_error(call, live.status_code, size)
                )
        if deadline.has_passed:
            raise Retryable(faults.timeout_error(call))
        if fault is not None:
            raise fault


def _moved_error(call: Call, target: str, status: int) -> UpstreamError:
    return UpstreamError(
        f"{call.title} has moved {call.endpoint} permanently to {target}. The new address was not verified, so no "
        "request was sent.",
        recovery_hint="Check whether the new address belongs to the service; a newer version of entrez-kit may use it.",
        details=call.describe("redirected", status=status, moved_to=target),
    )


def _redirect_error(call: Call, why: str) -> UpstreamError:
    return UpstreamError(
        f"{call.title} redirected the {call.endpoint} request, and the redirect was not followed: {why}.",
        recovery_hint=FrontendText(BASE_ADDRESS, " Check whether the network shows a login page."),
        details=call.describe("redirected"),
    )
