"""Guarded download of a page whose URL comes from outside: a publisher's article, a repository's PDF.

A request has no cookies, no credentials and no referrer. The host of every hop is resolved and checked (`addresses`),
and the request goes to exactly the checked address, with the certificate verified against the name. The size limit
applies after decompression, and one time limit covers the whole download.

With a proxy, the proxy resolves names and the address cannot be pinned. A private address, or a name that resolves to
one on this machine, is still refused; a name that this machine cannot resolve is left to the proxy.
A redirect from https to http is allowed, because many DOIs need it and the request contains no secrets.
"""

import http.client
import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Final, Literal

import requests
from requests.utils import DEFAULT_CA_BUNDLE_PATH, select_proxy
from urllib3 import HTTPResponse
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import DecodeError, HTTPError, IncompleteRead

from entrez_kit.base import __version__, tracing
from entrez_kit.base.errors import EntrezKitError, InvalidInput, UpstreamError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.progress import stop_if_cancelled
from entrez_kit.base.redaction import redact_url
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport import Responder, faults
from entrez_kit.services.transport.download.addresses import AddressGuard, Refused, RequestTarget, parse_target
from entrez_kit.services.transport.redirects import STATUSES
from entrez_kit.services.transport.replies import find_root_name
from entrez_kit.services.transport.wire import SocketDeadline, WatchedAdapter, read_connection_options

logger = logging.getLogger("entrez_kit.transport")

Kind = Literal["pdf", "html", "xml", "other"]

HEAD_BYTES: Final = 4096
PDF_WITHIN: Final = 1024
"""PDF readers accept a file whose header is within the first 1024 bytes."""

MAX_BYTES: Final = 50_000_000
MAX_HOPS: Final = 5
CHUNK_BYTES: Final = 65_536
LOOKUP_SECONDS: Final = 10.0

_CODINGS: Final = frozenset(("", "gzip", "x-gzip", "deflate", "identity", "none", "binary", "utf-8", "utf8"))
"""The requested encodings, and values that some servers send for an uncompressed body."""

_REACH: Final = {
    "dns": "its name cannot be resolved",
    "connection": "the connection failed",
    "proxy": "the request failed at the proxy",
    "tls": "its TLS certificate or connection was rejected",
    "timeout": "it did not answer in time",
}
_STATUS: Final = dict.fromkeys((401, 402, 403, 407, 451), "refused") | dict.fromkeys((404, 410), "no_such_address")


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A downloaded page: its final URL, its decompressed bytes, the server's content type and the detected kind.

    ``url`` has no parameters that look like keys or signatures.
    """

    url: str
    content: bytes = field(repr=False)
    content_type: str
    kind: Kind
    hops: int = 0

    @property
    def charset(self) -> str | None:
        """The character encoding that the server names, if any."""
        match = re.search(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", self.content_type, re.IGNORECASE)
        return match[1] if match else None


def download(
    url: str,
    *,
    settings: Settings,
    deadline_s: float = 60.0,
    silence_s: float = 20.0,
    max_bytes: int = MAX_BYTES,
    max_hops: int = MAX_HOPS,
    guard: AddressGuard | None = None,
    responder: Responder | None = None,
) -> Downloaded:
    """Download a page from the public network.

    Args:
        url: its URL.
        settings: give the user agent and the offline mode.
        deadline_s: seconds for the whole download: name lookups, redirects and the body.
        silence_s: timeout in seconds while no byte arrives.
        max_bytes: maximum size of the decompressed body.
        max_hops: maximum number of redirects.
        guard: the allowed addresses; by default those that the settings allow.
        responder: answers in this process in place of the network.

    Raises:
        InvalidInput: the URL is invalid or not allowed.
        UpstreamError: the page could not be downloaded; ``details.reason`` gives the reason.
    """
    started = time.monotonic()
    page_download = _GuardedDownload(
        settings, guard or AddressGuard.of(settings), started + deadline_s, silence_s, max_bytes, responder
    )
    result: Downloaded | None = None
    try:
        result = page_download.run(url, max_hops)
        return result
    except EntrezKitError as exc:
        exc.__context__ = None  # errors of requests and urllib3 contain the URL, which may have a key
        raise
    finally:
        _log_download(page_download, result, time.monotonic() - started)


class _GuardedDownload:
    """One download, from the first request to the last byte."""

    def __init__(
        self,
        settings: Settings,
        guard: AddressGuard,
        deadline: float,
        silence_s: float,
        max_bytes: int,
        responder: Responder | None,
    ) -> None:
        self._responder = responder
        self._settings = settings
        self._guard = guard
        self._deadline = deadline
        self._silence = silence_s
        self._max_bytes = max_bytes
        self.sent = 0

    def run(self, url: str, max_hops: int) -> Downloaded:
        """Follow redirects to the page and read it."""
        target = self._check_first(url)
        if self._settings.offline and self._responder is None:
            raise _download_error("offline", target, "offline mode allows no requests")
        been_out = False
        for hop in range(max_hops + 1):
            stop_if_cancelled()
            been_out = been_out or not self._guard.is_home(target)
            with self._request(target, hop) as response:
                location = response.headers.get("Location") if response.status in STATUSES else None
                if location is None:
                    return self._read_body(target, response, hop)
            target = self._follow_redirect(target, location, been_out=been_out)
        raise _download_error(
            "too_many_redirects", target, f"it was redirected more than {format_count(max_hops, 'time')}"
        )

    def _check_first(self, url: str) -> RequestTarget:
        try:
            target = parse_target(url)
            self._guard.check_target(target)
            return target
        except Refused as exc:
            raise InvalidInput(
                f"{redact_url(url)} cannot be downloaded: {exc.message}.",
                invalid_input=redact_url(url),
                recovery_hint="Use an http or https URL on the public network.",
                details={"reason": exc.reason},
            ) from None

    def _follow_redirect(self, target: RequestTarget, location: str, *, been_out: bool) -> RequestTarget:
        with suppress(UnicodeError):  # headers are read as Latin-1, and written in UTF-8
            location = location.encode("latin-1").decode("utf-8")
        try:
            following = parse_target(location, base=target)
            if been_out and self._guard.is_home(following):
                raise Refused("forbidden_address", "a public page redirects to this machine")
            self._guard.check_target(following)
            logger.debug("a page is redirected")
            return following
        except Refused as exc:
            raise _download_error(
                exc.reason, target, f"it redirects to an address that is not allowed: {exc.message}"
            ) from None

    # one hop

    @contextmanager
    def _request(self, target: RequestTarget, hop: int) -> Iterator[HTTPResponse]:
        """Send one request and yield the response with its body unread."""
        if self._responder is not None:
            self.sent += 1
            yield self._answer_here(self._responder, target)
            return
        options = read_connection_options(target.url, is_here=self._guard.is_home(target))
        proxied = select_proxy(target.url, options["proxies"]) is not None
        addresses = self._resolve(target, hop, proxied=proxied)
        name = self._settings.ncbi_tool_identifier
        headers = {
            "Host": target.authority,
            "User-Agent": name if name.isascii() and name.isprintable() else f"entrez-kit/{__version__}",
            "Accept": "application/pdf, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.5",
            "Accept-Encoding": "gzip, deflate",  # the encodings in _CODINGS
            "Connection": "close",
        }
        self.sent += 1
        with ExitStack() as opened:
            try:
                with SocketDeadline(self._deadline) as deadline:
                    if proxied:
                        adapter = WatchedAdapter()
                        opened.callback(adapter.close)
                        request = requests.Request("GET", target.url, headers=headers).prepare()
                        seconds = self._get_timeout(target)
                        response = adapter.send(request, stream=True, timeout=(seconds, seconds), **options).raw
                    else:
                        connection = self._connect(target, addresses, options, deadline)
                        opened.callback(connection.close)
                        connection.request("GET", target.request_path, headers=headers, preload_content=False)
                        response = connection.getresponse()
            except (requests.RequestException, HTTPError, http.client.HTTPException, OSError, ValueError) as exc:
                raise self._connection_error(target, exc, deadline) from None
            try:
                yield response
            finally:
                with suppress(HTTPError, OSError):
                    response.close()

    def _answer_here(self, respond: Responder, target: RequestTarget) -> HTTPResponse:
        if not self._guard.is_home(target):
            raise _download_error("offline", target, "this process answers all requests, and sends none")
        answer = respond("GET", target.url, "")
        headers = {**dict(answer.headers), "Content-Type": answer.content_type}
        return HTTPResponse(BytesIO(answer.body), headers, answer.status, preload_content=False)

    def _resolve(self, target: RequestTarget, hop: int, *, proxied: bool) -> list[str]:
        try:
            return self._guard.resolve_allowed(target, min(LOOKUP_SECONDS, self._get_seconds_left(target)))
        except Refused as exc:
            if hop:
                raise _download_error(exc.reason, target, exc.message) from None
            raise InvalidInput(
                f"{target.shown} cannot be downloaded: {exc.message}.",
                invalid_input=target.shown,
                recovery_hint="Use a URL on the public network.",
                details={"reason": exc.reason, "host": target.host},
            ) from None
        except TimeoutError:
            unknown = _download_error("timeout", target, "the lookup of its name took too long")
        except OSError:
            unknown = _download_error("dns", target, _REACH["dns"])
        if proxied:
            return []
        raise unknown

    def _connect(
        self, target: RequestTarget, addresses: list[str], options: Mapping[str, Any], deadline: SocketDeadline
    ) -> HTTPConnection:
        """Connect to the first checked address that accepts a connection."""
        last: Exception | None = None
        for address in addresses:
            connection = _build_connection(target, address, self._get_timeout(target), options["verify"])
            try:
                connection.connect()
            except (HTTPError, OSError) as exc:
                connection.close()
                last = exc
                if faults.find_reason(exc) == "tls":
                    break
                continue
            deadline.watch(connection)
            return connection
        raise last or OSError("no address")

    def _get_seconds_left(self, target: RequestTarget) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise _download_error("too_slow", target, "its time limit has passed")
        return left

    def _get_timeout(self, target: RequestTarget) -> float:
        return min(self._silence, self._get_seconds_left(target))

    def _connection_error(self, target: RequestTarget, exc: Exception, deadline: SocketDeadline) -> EntrezKitError:
        if deadline.has_passed:
            return _download_error("too_slow", target, "it did not answer within the time limit")
        if isinstance(exc, http.client.HTTPException) and not isinstance(exc, http.client.RemoteDisconnected):
            return _download_error("invalid_response", target, "its reply is not HTTP")
        reason = faults.find_reason(exc)
        return _download_error(reason, target, _REACH[reason])

    # the body

    def _read_body(self, target: RequestTarget, response: HTTPResponse, hop: int) -> Downloaded:
        status = response.status
        if status != 200:
            reason = _STATUS.get(status, "busy" if status == 429 or status >= 500 else "unexpected_status")
            raise _download_error(reason, target, f"status {status}", status=status)
        declared = response.headers.get("Content-Length", "")
        if declared.isascii() and declared.isdigit() and int(declared) > self._max_bytes:
            raise self._too_large_error(target)
        codings = {coding.strip().lower() for coding in response.headers.get("Content-Encoding", "").split(",")}
        if not codings <= _CODINGS:
            raise _download_error("invalid_response", target, "its body has an encoding that was not requested")
        content_type = " ".join(response.headers.get("Content-Type", "").split())[:200]
        body = bytearray()
        with SocketDeadline(self._deadline, response) as deadline:
            for chunk in self._yield_chunks(target, response, deadline):
                body += chunk
                if len(body) > self._max_bytes:
                    raise self._too_large_error(target)
                if len(body) >= HEAD_BYTES > len(body) - len(chunk):
                    _refuse_binaries(target, bytes(body), content_type)
        content = bytes(body)
        if not content.strip():
            raise _download_error("not_a_page", target, "it is empty")
        _refuse_binaries(target, content, content_type)
        return Downloaded(target.public_url, content, content_type, detect_body_kind(content, content_type), hop)

    def _yield_chunks(self, target: RequestTarget, response: HTTPResponse, deadline: SocketDeadline) -> Iterator[bytes]:
        while True:
            error: EntrezKitError | None = None
            chunk = b""
            try:
                chunk = response.read1(CHUNK_BYTES, decode_content=True)
            except DecodeError:
                error = _download_error("invalid_response", target, "its body cannot be decompressed")
            except IncompleteRead:
                error = _download_error("broke_off", target, "its body is truncated")
            except (HTTPError, http.client.HTTPException, OSError, ValueError) as exc:
                timed_out = faults.find_reason(exc) == "timeout"
                error = _download_error("timeout" if timed_out else "broke_off", target, "its body is truncated")
            if deadline.has_passed:
                raise _download_error("too_slow", target, "it was not complete within the time limit")
            if error is not None:
                raise error
            if not chunk:
                return
            stop_if_cancelled()
            yield chunk

    def _too_large_error(self, target: RequestTarget) -> UpstreamError:
        return _download_error("too_large", target, f"it has more than {format_count(self._max_bytes, 'byte')}")


def _build_connection(target: RequestTarget, address: str, seconds: float, verify: bool | str) -> HTTPConnection:
    """Return a connection to one address that verifies the certificate against the host name."""
    if target.scheme == "http":
        return HTTPConnection(address, target.port, timeout=seconds)
    bundle = verify if isinstance(verify, str) else DEFAULT_CA_BUNDLE_PATH
    is_folder = Path(bundle).is_dir()
    return HTTPSConnection(
        address,
        target.port,
        timeout=seconds,
        cert_reqs="CERT_REQUIRED",
        ca_certs=None if is_folder else bundle,
        ca_cert_dir=bundle if is_folder else None,
        server_hostname=target.host,
    )


def _refuse_binaries(target: RequestTarget, content: bytes, content_type: str) -> None:
    if detect_body_kind(content, content_type) == "other" and is_binary(content):
        raise _download_error("not_a_page", target, "it is binary data, neither a page nor a PDF")


def _download_error(reason: str, target: RequestTarget, problem: str, **details: object) -> UpstreamError:
    return UpstreamError(
        f"{target.shown} could not be downloaded: {problem}.",
        recovery_hint="Open the URL in a browser; many publishers reject programs.",
        details={"reason": reason, "host": target.host, **details},
    )


def _log_download(page_download: _GuardedDownload, result: Downloaded | None, seconds: float) -> None:
    trace = tracing.get_current_trace()
    size = len(result.content) if result is not None else 0
    if trace is not None and page_download.sent:
        trace.exchanges.append(tracing.TracedRequest("download", False, page_download.sent, seconds, size))
    if result is not None:
        logger.debug(
            "download answered with %d bytes (%s) after %d requests and %.3f s",
            size,
            result.kind,
            page_download.sent,
            seconds,
        )


# The kind of a body is detected from its first bytes, because the server's content type is often wrong


_BLANK: Final = b" \t\r\n\f\x00"
_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_HTML: Final = re.compile(
    rb"<(!doctype\s+html|html|head|body|title|meta|link|script|style|div|main|section|header|nav|h[1-6]|p|table"
    rb"|span|br|a|ul|ol|form|iframe|center|font)(?=[\s/>])",
    re.IGNORECASE,
)
_COMMENTS: Final = re.compile(rb"\s*+(?>(?:<!--(?>(?:(?!-->).)*)-->\s*+)+)", re.DOTALL)
_BINARY: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def detect_body_kind(head: bytes, content_type: str = "") -> Kind:
    """Return the kind of a body.

    Args:
        head: its first bytes, a few thousand.
        content_type: the server's content type, used only if the bytes do not decide.
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
    if _HTML.match(text) or find_root_name(text, html=True) == "html":
        return "html"
    if text.startswith(b"<?xml") or find_root_name(text) is not None:
        says_html = "html" in content_type.lower() and not text.startswith(b"<?xml")
        return "html" if says_html else "xml"
    return "html" if "html" in content_type.lower() else "other"


def is_binary(head: bytes) -> bool:
    """Return whether a body is binary, such as an image or an archive."""
    return not head.startswith((b"\xff\xfe", b"\xfe\xff")) and bool(_BINARY.search(head[:HEAD_BYTES]))
