"""The guarded fetch of a page that somebody else named: a publisher's article, a repository's PDF.

Nothing of ours goes along: no cookies, no credentials, no referrer. Every hop is resolved, judged (`addresses`) and
then asked at exactly the address that was judged, with the certificate checked against the name. What comes is counted
after decompression, and the whole of it has one time limit, however slowly the bytes drip.

Where the environment names a proxy, the proxy resolves names and nothing can be pinned. Then an address inside, or a
name that resolves to one here, is refused all the same; a name this machine cannot resolve is left to the proxy.
A redirect may lead from https to http, as those of many DOIs do: there is nothing to lose on the way.
"""

import http.client
import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import requests
from requests.utils import DEFAULT_CA_BUNDLE_PATH, select_proxy
from urllib3 import HTTPResponse
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import DecodeError, HTTPError, IncompleteRead

from entrez_kit.base import __version__, tracing
from entrez_kit.base.errors import EntrezKitError, InvalidInput, UpstreamError
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport import faults
from entrez_kit.services.transport.download.addresses import AddressGuard, Refused, RequestTarget, read_place
from entrez_kit.services.transport.redirects import STATUSES
from entrez_kit.services.transport.replies import root_name
from entrez_kit.services.transport.wire import SocketDeadline, WatchedAdapter, surroundings

logger = logging.getLogger("entrez_kit.transport")

Kind = Literal["pdf", "html", "xml", "other"]

HEAD_BYTES: Final = 4096
PDF_WITHIN: Final = 1024
"""Readers accept a PDF whose first line stands within the first 1024 bytes."""

MAX_BYTES: Final = 50_000_000
MAX_HOPS: Final = 5
CHUNK_BYTES: Final = 65_536
LOOKUP_SECONDS: Final = 10.0

_CODINGS: Final = frozenset(("", "gzip", "x-gzip", "deflate", "identity", "none", "binary", "utf-8", "utf8"))
"""What is asked for, and words that some servers put there though they compress nothing."""

_REACH: Final = {
    "dns": "its name cannot be resolved",
    "connection": "the connection failed",
    "proxy": "the proxy does not let the request through",
    "tls": "its TLS certificate or connection was refused",
    "timeout": "it did not answer in time",
}
_STATUS: Final = dict.fromkeys((401, 402, 403, 407, 451), "refused") | dict.fromkeys((404, 410), "no_such_address")


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A page: where it was found in the end, its decompressed bytes, what the server says it is and what it is.

    ``url`` has no parameters that look like keys or signatures.
    """

    url: str
    content: bytes = field(repr=False)
    content_type: str
    kind: Kind
    hops: int = 0

    @property
    def charset(self) -> str | None:
        """The encoding the server names, if any."""
        found = re.search(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", self.content_type, re.IGNORECASE)
        return found[1] if found else None


def download(
    url: str,
    *,
    settings: Settings,
    deadline_s: float = 60.0,
    silence_s: float = 20.0,
    max_bytes: int = MAX_BYTES,
    max_hops: int = MAX_HOPS,
    guard: AddressGuard | None = None,
) -> Downloaded:
    """Fetch a page from the public network.

    Args:
        url: its address.
        settings: the name of the tool, and whether anything may be asked at all.
        deadline_s: seconds for everything: lookups, redirects and the body.
        silence_s: seconds without a single byte after which to give up.
        max_bytes: size the decompressed body may have.
        max_hops: redirects to follow.
        guard: which addresses may be asked; by default what the settings allow.

    Raises:
        InvalidInput: the address itself is not well formed or not allowed.
        UpstreamError: there is no page to be had; ``details.reason`` says why.
    """
    started = time.monotonic()
    errand = _GuardedDownload(settings, guard or AddressGuard.of(settings), started + deadline_s, silence_s, max_bytes)
    result: Downloaded | None = None
    try:
        result = errand.run(url, max_hops)
        return result
    except EntrezKitError as exc:
        exc.__context__ = None  # what requests and urllib3 raise knows the address, which may hold a key
        raise
    finally:
        _note(errand, result, time.monotonic() - started)


class _GuardedDownload:
    """One download, from the first address to the last byte."""

    def __init__(
        self, settings: Settings, guard: AddressGuard, deadline: float, silence_s: float, max_bytes: int
    ) -> None:
        self._settings = settings
        self._guard = guard
        self._deadline = deadline
        self._silence = silence_s
        self._max_bytes = max_bytes
        self.sent = 0

    def run(self, url: str, max_hops: int) -> Downloaded:
        """Follow redirects to the page and read it."""
        place = self._first(url)
        if self._settings.offline:
            raise _failed("offline", place, "offline mode forbids to ask for it")
        been_out = False
        for hop in range(max_hops + 1):
            tracing.checkpoint()
            been_out = been_out or not self._guard.is_home(place)
            with self._ask(place, hop) as response:
                location = response.headers.get("Location") if response.status in STATUSES else None
                if location is None:
                    return self._read(place, response, hop)
            place = self._next(place, location, been_out=been_out)
        raise _failed("too_many_redirects", place, f"it was redirected more than {max_hops} times")

    def _first(self, url: str) -> RequestTarget:
        try:
            place = read_place(url)
            self._guard.check_place(place)
            return place
        except Refused as exc:
            raise InvalidInput(
                f"{_shortened(url)} is not asked: {exc.message}.",
                invalid_input=_shortened(url),
                recovery_hint="Only http and https addresses of the public network are asked.",
                details={"reason": exc.reason},
            ) from None

    def _next(self, place: RequestTarget, location: str, *, been_out: bool) -> RequestTarget:
        with suppress(UnicodeError):  # headers are read as Latin-1, and written in UTF-8
            location = location.encode("latin-1").decode("utf-8")
        try:
            following = read_place(location, base=place)
            if been_out and self._guard.is_home(following):
                raise Refused("forbidden_address", "a public page leads to this machine")
            self._guard.check_place(following)
            logger.debug("a page is redirected")
            return following
        except Refused as exc:
            raise _failed(exc.reason, place, f"it redirects where nothing is asked: {exc.message}") from None

    # one hop

    @contextmanager
    def _ask(self, place: RequestTarget, hop: int) -> Iterator[HTTPResponse]:
        """Send one request; the body is still to be read."""
        around = surroundings(place.url, is_here=self._guard.is_home(place))
        proxied = select_proxy(place.url, around["proxies"]) is not None
        addresses = self._addresses(place, hop, proxied=proxied)
        name = self._settings.ncbi_tool_identifier
        headers = {
            "Host": place.authority,
            "User-Agent": name if name.isascii() and name.isprintable() else f"entrez-kit/{__version__}",
            "Accept": "application/pdf, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.5",
            "Accept-Encoding": "gzip, deflate",  # and no other: see _CODINGS
            "Connection": "close",
        }
        self.sent += 1
        with ExitStack() as opened:
            try:
                with SocketDeadline(self._deadline) as alarm:
                    if proxied:
                        adapter = WatchedAdapter()
                        opened.callback(adapter.close)
                        request = requests.Request("GET", place.url, headers=headers).prepare()
                        seconds = self._seconds(place)
                        response = adapter.send(request, stream=True, timeout=(seconds, seconds), **around).raw
                    else:
                        connection = self._connected(place, addresses, around, alarm)
                        opened.callback(connection.close)
                        connection.request("GET", place.target, headers=headers, preload_content=False)
                        response = connection.getresponse()
            except (requests.RequestException, HTTPError, http.client.HTTPException, OSError, ValueError) as exc:
                raise self._unreached(place, exc, alarm) from None
            try:
                yield response
            finally:
                with suppress(HTTPError, OSError):
                    response.close()

    def _addresses(self, place: RequestTarget, hop: int, *, proxied: bool) -> list[str]:
        try:
            return self._guard.addresses(place, min(LOOKUP_SECONDS, self._left(place)))
        except Refused as exc:
            if hop:
                raise _failed(exc.reason, place, exc.message) from None
            raise InvalidInput(
                f"{place.shown} is not asked: {exc.message}.",
                invalid_input=place.shown,
                recovery_hint="Only addresses of the public network are asked.",
                details={"reason": exc.reason, "host": place.host},
            ) from None
        except TimeoutError:
            unknown = _failed("timeout", place, "looking up its name took too long")
        except OSError:
            unknown = _failed("dns", place, _REACH["dns"])
        if proxied:
            return []
        raise unknown

    def _connected(
        self, place: RequestTarget, addresses: list[str], around: Mapping[str, Any], alarm: SocketDeadline
    ) -> HTTPConnection:
        """Connect to the first of the judged addresses that answers."""
        last: Exception | None = None
        for address in addresses:
            connection = _connection(place, address, self._seconds(place), around["verify"])
            try:
                connection.connect()
            except (HTTPError, OSError) as exc:
                connection.close()
                last = exc
                if faults.reason_of(exc) == "tls":
                    break
                continue
            alarm.watch(connection)
            return connection
        raise last or OSError("no address")

    def _left(self, place: RequestTarget) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise _failed("too_slow", place, "the time for it is up")
        return left

    def _seconds(self, place: RequestTarget) -> float:
        return min(self._silence, self._left(place))

    def _unreached(self, place: RequestTarget, exc: Exception, alarm: SocketDeadline) -> EntrezKitError:
        if alarm.rang:
            return _failed("too_slow", place, "it did not answer before the time was up")
        if isinstance(exc, http.client.HTTPException) and not isinstance(exc, http.client.RemoteDisconnected):
            return _failed("invalid_response", place, "it answered something that is no HTTP")
        reason = faults.reason_of(exc)
        return _failed(reason, place, _REACH[reason])

    # the body

    def _read(self, place: RequestTarget, response: HTTPResponse, hop: int) -> Downloaded:
        status = response.status
        if status != 200:
            reason = _STATUS.get(status, "busy" if status == 429 or status >= 500 else "unexpected_status")
            raise _failed(reason, place, f"status {status}", status=status)
        declared = response.headers.get("Content-Length", "")
        if declared.isascii() and declared.isdigit() and int(declared) > self._max_bytes:
            raise self._too_large(place)
        codings = {coding.strip().lower() for coding in response.headers.get("Content-Encoding", "").split(",")}
        if not codings <= _CODINGS:
            raise _failed("invalid_response", place, "its body is compressed in a way that was not asked for")
        content_type = " ".join(response.headers.get("Content-Type", "").split())[:200]
        body = bytearray()
        with SocketDeadline(self._deadline, response) as alarm:
            for chunk in self._chunks(place, response, alarm):
                body += chunk
                if len(body) > self._max_bytes:
                    raise self._too_large(place)
                if len(body) >= HEAD_BYTES > len(body) - len(chunk):
                    _refuse_binaries(place, bytes(body), content_type)
        content = bytes(body)
        if not content.strip():
            raise _failed("not_a_page", place, "it is empty")
        _refuse_binaries(place, content, content_type)
        return Downloaded(place.public_url, content, content_type, kind_of(content, content_type), hop)

    def _chunks(self, place: RequestTarget, response: HTTPResponse, alarm: SocketDeadline) -> Iterator[bytes]:
        while True:
            error: EntrezKitError | None = None
            chunk = b""
            try:
                chunk = response.read1(CHUNK_BYTES, decode_content=True)
            except DecodeError:
                error = _failed("invalid_response", place, "its body cannot be decompressed")
            except IncompleteRead:
                error = _failed("broke_off", place, "it breaks off")
            except (HTTPError, http.client.HTTPException, OSError, ValueError) as exc:
                timed_out = faults.reason_of(exc) == "timeout"
                error = _failed("timeout" if timed_out else "broke_off", place, "it breaks off")
            if alarm.rang:
                raise _failed("too_slow", place, "it came too slowly, the time for it is up")
            if error is not None:
                raise error
            if not chunk:
                return
            tracing.checkpoint()
            yield chunk

    def _too_large(self, place: RequestTarget) -> UpstreamError:
        return _failed("too_large", place, f"it has more than {self._max_bytes:,} bytes")


def _connection(place: RequestTarget, address: str, seconds: float, verify: bool | str) -> HTTPConnection:
    """Return a connection to one address that takes the other end for what the name says."""
    if place.scheme == "http":
        return HTTPConnection(address, place.port, timeout=seconds)
    bundle = verify if isinstance(verify, str) else DEFAULT_CA_BUNDLE_PATH
    is_folder = Path(bundle).is_dir()
    return HTTPSConnection(
        address,
        place.port,
        timeout=seconds,
        cert_reqs="CERT_REQUIRED",
        ca_certs=None if is_folder else bundle,
        ca_cert_dir=bundle if is_folder else None,
        server_hostname=place.host,
    )


def _refuse_binaries(place: RequestTarget, content: bytes, content_type: str) -> None:
    if kind_of(content, content_type) == "other" and is_binary(content):
        raise _failed("not_a_page", place, "it is neither a page nor a PDF, but something binary")


def _shortened(url: str) -> str:
    """Return as much of an address that cannot be read as may be shown: no user, no parameters."""
    text = re.sub(r"[?#].*", "?…", re.sub(r"(?<![^/\s])[^/\s]*@", "…@", url, flags=re.DOTALL), flags=re.DOTALL)
    text = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]+", " ", text).split())
    return text if len(text) <= 200 else f"{text[:199]}…"


def _failed(reason: str, place: RequestTarget, what: str, **details: object) -> UpstreamError:
    return UpstreamError(
        f"{place.shown} gave no page: {what}.",
        recovery_hint="Open the address in a browser; many publishers turn programs away.",
        details={"reason": reason, "host": place.host, **details},
    )


def _note(errand: _GuardedDownload, result: Downloaded | None, seconds: float) -> None:
    trace = tracing.current_trace()
    size = len(result.content) if result is not None else 0
    if trace is not None and errand.sent:
        trace.exchanges.append(tracing.TracedRequest("download", False, errand.sent, seconds, size))
    if result is not None:
        logger.debug(
            "download answered with %d bytes (%s) after %d requests and %.3f s", size, result.kind, errand.sent, seconds
        )


# What a body is, judged by its first bytes: what a server says about it is often wrong


_BLANK: Final = b" \t\r\n\f\x00"
_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_HTML: Final = re.compile(
    rb"<(!doctype\s+html|html|head|body|title|meta|link|script|style|div|main|section|header|nav|h[1-6]|p|table"
    rb"|span|br|a|ul|ol|form|iframe|center|font)(?=[\s/>])",
    re.IGNORECASE,
)
_COMMENTS: Final = re.compile(rb"\s*+(?>(?:<!--(?>(?:(?!-->).)*)-->\s*+)+)", re.DOTALL)
_BINARY: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def kind_of(head: bytes, content_type: str = "") -> Kind:
    """Tell what a body is.

    Args:
        head: its first bytes, some thousand of them.
        content_type: what the server says, which counts only where the bytes leave it open.
    """
    text = head[:HEAD_BYTES]
    for bom, encoding in _BOMS:
        if text.startswith(bom):
            text = text[len(bom) :].decode(encoding, "ignore").encode("utf-8")
            break
    text = text.lstrip(_BLANK)
    if not text.startswith(b"<"):
        return "pdf" if b"%PDF-" in head[: PDF_WITHIN + 5] else "other"
    if comments := _COMMENTS.match(text):
        text = text[comments.end() :]
    if _HTML.match(text) or root_name(text, html=True) == "html":
        return "html"
    if text.startswith(b"<?xml") or root_name(text) is not None:
        says_html = "html" in content_type.lower() and not text.startswith(b"<?xml")
        return "html" if says_html else "xml"
    return "html" if "html" in content_type.lower() else "other"


def is_binary(head: bytes) -> bool:
    """Tell whether a body is no text: a picture, an archive."""
    return not head.startswith((b"\xff\xfe", b"\xfe\xff")) and bool(_BINARY.search(head[:HEAD_BYTES]))
