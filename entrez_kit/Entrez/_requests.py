"""Requests: answers the requests of `entrez_kit.Entrez` with the handles and errors of urllib."""

import atexit
import inspect
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from http.client import HTTPResponse
from io import BytesIO
from os import getpid
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qs, urlsplit

from entrez_kit.base import __version__

if TYPE_CHECKING:
    from urllib.request import Request

    from entrez_kit.base.errors import EntrezKitError
    from entrez_kit.base.settings import Settings
    from entrez_kit.python.kit import EntrezKit
    from entrez_kit.services import Services
    from entrez_kit.services.script_requests import ResultSets

BIO_TRIES: Final = 3
"""Bio's default of ``max_tries``. Any other number replaces the setting."""

TOOL: Final = f"entrez-kit/{__version__}"
"""The default of ``tool``. Any other name replaces the setting."""

NCBI: Final = "https://eutils.ncbi.nlm.nih.gov"
DEFINITIONS_DOMAIN: Final = "nlm.nih.gov"


class InvalidReply(URLError, RuntimeError, ValueError):
    """The reply is invalid. Bio raises RuntimeError or ValueError for such a reply."""


@dataclass(frozen=True)
class Sender:
    """Values of a script that identify the sender and limit retries. None selects the value of the settings."""

    api_key: str | None = field(repr=False)
    email: str | None = field(repr=False)
    tool: str | None
    tries: int
    longest_wait: float


class Requests:
    """Answers the requests of one instance of Bio.Entrez; thread-safe.

    The settings are read when the first request is sent.

    Args:
        options: the namespace of the instance, in which scripts set ``email``, ``max_tries`` and others.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self._lock = threading.RLock()
        self._kit: EntrezKit | None = None
        self._services: dict[Sender, Services] = {}
        self._sets: ResultSets | None = None
        self._pid = getpid()
        atexit.register(self.close)

    # Functions that the instance of Bio.Entrez calls

    def open(self, request: "Request") -> HTTPResponse:
        """Answer a request like ``urllib.request.urlopen``.

        Raises:
            HTTPError: NCBI refused the request, or failed after every attempt.
            URLError: no valid reply arrived.
            NotConfigured: a setting has an invalid value.
        """
        earlier = getattr(request, "failure", None)
        if earlier is not None:  # Bio retries, but the transport already has
            raise earlier
        try:
            return self._answer(request)
        except OSError as exc:
            request.failure = exc  # type: ignore[attr-defined]  # Bio passes the same request again
            raise

    def open_definition(self, url: str) -> BytesIO:
        """Return a DTD or schema that Biopython does not contain, from the cache or from NCBI.

        Raises:
            URLError: the address does not belong to NCBI, or NCBI did not send the file.
        """
        from entrez_kit.base.errors import EntrezKitError, UpstreamError
        from entrez_kit.base.settings import EUTILS_URL
        from entrez_kit.services.transport import TTL, Call, Expect, get_base_url, is_within

        def read(content: bytes) -> bytes:
            if not any(sign in content for sign in (b"<!ELEMENT", b"<!ENTITY", b"schema")):
                raise UpstreamError("The reply is not a DTD or schema.", details={"reason": "invalid_response"})
            return content

        parts = urlsplit(url)
        base = get_base_url(self.settings, "eutils")
        if parts.scheme != "https" or not is_within(parts.hostname, DEFINITIONS_DOMAIN):
            raise URLError(f"{url} is not an address of NCBI")
        if base != EUTILS_URL:  # a mirror or the sandbox
            if not url.startswith(f"{NCBI}/"):
                raise URLError(f"{base} does not have {url}")
            url = base.removesuffix("/entrez/eutils") + url.removeprefix(NCBI)
        anonymous = Sender("", "", "", BIO_TRIES, 10.0)
        call = Call(
            service="eutils", endpoint="dtd", url=url, params=(), expect=Expect("any", read=read), ttl=TTL["dtd"]
        )
        try:
            return BytesIO(self._get_services(anonymous).transport.send(call).content)
        except EntrezKitError as exc:
            raise URLError(exc.message) from exc

    def warn(self, message: str, category: type[Warning] = UserWarning) -> None:
        """Show Bio's warning about a missing e-mail address, unless the settings have one."""
        from entrez_kit.services.transport import NCBI_DOMAIN, get_base_url, is_within

        goes_to_ncbi = is_within(urlsplit(get_base_url(self.settings, "eutils")).hostname, NCBI_DOMAIN)
        if goes_to_ncbi and self.settings.ncbi_admin_email is None:
            _warn(
                "No e-mail address is set. NCBI asks for one and writes to it before it blocks a user. "
                'Set Entrez.email = "you@example.org" or NCBI_ADMIN_EMAIL.',
                category,
            )

    # Settings and transports

    @property
    def settings(self) -> "Settings":
        """The settings; in a demo they have the addresses of the sandbox."""
        return self._get_kit().settings

    def _get_kit(self) -> "EntrezKit":
        with self._lock:
            if self._kit is None:
                from entrez_kit.python.kit import EntrezKit

                self._kit = EntrezKit()
                for note in (self._kit.settings.demo_warning, *self._kit.settings.notes):
                    if note:
                        _warn(note)
            return self._kit

    def _find_sender(self, named: Mapping[str, str | None]) -> Sender:
        """Return the sender of a request from the credentials that Bio added to it."""
        options = self._options
        tool = None if named.get("tool") == TOOL else named.get("tool")
        return Sender(
            named.get("api_key"),
            named.get("email"),
            tool,
            int(options["max_tries"]),
            max(0.0, float(options["sleep_between_tries"])),
        )

    def _get_services(self, sender: Sender) -> "Services":
        from pydantic import SecretStr

        from entrez_kit.services import Services
        from entrez_kit.services.transport.client import Transport
        from entrez_kit.services.transport.retry import Backoff

        with self._lock:
            found = self._services.get(sender)
            if found is not None:
                return found
            changes: dict[str, Any] = {}
            if sender.api_key is not None:
                changes["ncbi_api_key"] = SecretStr(sender.api_key) if sender.api_key else None
            if sender.email is not None:
                changes["ncbi_admin_email"] = SecretStr(sender.email) if sender.email else None
            if sender.tool is not None:
                changes["ncbi_tool_identifier"] = sender.tool
            if sender.tries != BIO_TRIES:
                changes["ncbi_max_retries"] = max(0, sender.tries - 1)
            default = Backoff()
            backoff = Backoff(min(default.first, sender.longest_wait), min(default.cap, sender.longest_wait))
            settings = replace(self.settings, **changes)
            responder = self._get_kit().services.responder
            transport = Transport(settings, backoff=backoff, responder=responder)
            found = Services(settings, responder, transport=transport)
            self._services[sender] = found
            return found

    def close(self) -> None:
        """Close connections and the cache file. The next request opens them again."""
        with self._lock:
            kit, self._kit = self._kit, None
            services, self._services = list(self._services.values()), {}
            self._sets = None
        if self._pid == getpid():  # a forked child must not close the connections of its parent
            for service in services:
                service.close()
            if kit is not None:
                kit.close()

    # One request

    def _answer(self, request: "Request") -> HTTPResponse:
        from entrez_kit.base.errors import EntrezKitError
        from entrez_kit.services.script_requests import ResultSets, answer_request

        body = request.data.decode("utf-8") if isinstance(request.data, bytes) else urlsplit(request.full_url).query
        named = {name: values[-1] for name, values in parse_qs(body, keep_blank_values=True).items()}
        services = self._get_services(self._find_sender(named))
        with self._lock:
            sets = self._sets = self._sets or ResultSets()
        try:
            reply = answer_request(services.eutils, request, sets)
        except EntrezKitError as exc:
            return _raise_as_urllib(exc, request, services.settings)
        finally:
            while services.transport.notes:
                _warn(services.transport.notes.pop(0))
        if not reply.is_complete:
            endpoint = urlsplit(reply.url).path.rpartition("/")[2].partition(".")[0]
            _warn(f"Every {endpoint} reply of NCBI has fewer records than expected.")
        return make_response(reply.content, reply.content_type, reply.url)


def _raise_as_urllib(error: "EntrezKitError", request: "Request", settings: "Settings") -> HTTPResponse:
    """Raise the corresponding error of urllib, or return the reply if Bio's parser raises an error for it.

    Raises:
        HTTPError: the service answered with an error status.
        URLError: it did not answer, or its reply is invalid.
    """
    from entrez_kit.base.errors import EntityNotFound, InvalidInput
    from entrez_kit.base.redaction import Redactor

    refused = error.reply
    url = request.full_url.partition("?")[0]
    body = Redactor(settings.secrets).redact_body(refused.body) if refused is not None else b""
    if refused is not None and refused.status == 200:
        if isinstance(error, InvalidInput | EntityNotFound) and body.lstrip()[:1] in (b"<", b"{"):
            return make_response(body, refused.content_type, url)
        if not body.strip() and refused.content_type.startswith("text/plain"):
            _warn(f"Every reply of NCBI was empty ({url}).")
            return make_response(body, refused.content_type, url)
        failure: URLError = InvalidReply(error.message)
    elif refused is not None and refused.status >= 400:
        response = make_response(body, refused.content_type, url, refused.status)
        failure = HTTPError(url, refused.status, response.reason, response.headers, response)
    else:
        timed_out = error.reason in ("timeout", "deadline_exceeded")
        failure = URLError(TimeoutError(error.message) if timed_out else error.message)
    failure.add_note(error.recovery_hint if error.message in str(failure) else f"{error.message} {error.recovery_hint}")
    raise failure from None


class _ReceivedBytes:
    """The part of a socket that ``HTTPResponse`` needs."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, mode: str) -> BytesIO:
        """Return the bytes as a file."""
        return BytesIO(self._data)


def make_response(body: bytes, content_type: str, url: str, status: int = 200) -> HTTPResponse:
    """Return a response of urllib."""
    phrase = next((known.phrase for known in HTTPStatus if known == status), "")
    kind = content_type or _guess_type(body)
    head = f"HTTP/1.1 {status} {phrase}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    response = HTTPResponse(_ReceivedBytes(head.encode("ascii") + body))  # type: ignore[arg-type]  # it calls no other method
    response.begin()
    response.url = url
    return response


def _guess_type(body: bytes) -> str:
    """Guess the media type of a reply without one."""
    start = body[:100].lstrip().lower()
    if start.startswith((b"<html", b"<!doctype html")):
        return "text/html"
    return "text/xml" if start[:1] == b"<" else "application/json" if start[:1] == b"{" else "text/plain"


def _warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the script that called Bio's function."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("entrez_kit."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
