"""The outer HTTP checks: Origin, Host, token, size and time of the body, and number of sessions."""

import ipaddress
import logging
import re
import socket
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from entrez_kit.base.errors import NotConfigured
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.settings import Settings
from entrez_kit.server.auth import SignedTokens, TokenRefused
from entrez_kit.server.malformed import build_refusal, check_message
from entrez_kit.server.toolsets import SCOPES
from entrez_kit.services.transport import is_loopback

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
EXPOSED: Final = ("Mcp-Session-Id", "Mcp-Protocol-Version", "WWW-Authenticate")
"""Headers that a web page may read."""

logger = logging.getLogger("entrez_kit.server.http")


def read_origins(text: str | None) -> frozenset[str]:
    """Parse MCP_ALLOWED_ORIGINS.

    Raises:
        NotConfigured: an entry is not an origin.
    """
    origins = set()
    for part in filter(None, map(str.strip, (text or "").split(","))):
        origin = normalize_origin(part.rstrip("/"))
        if origin is None:
            raise NotConfigured(
                f"MCP_ALLOWED_ORIGINS: {part[:100]!r} is not an origin.",
                invalid_input=part[:100],
                recovery_hint="List origins separated by commas, e.g. https://app.example.org, http://localhost:6274. "
                "A star is not accepted.",
                details={"reason": "bad_origin"},
            )
        origins.add(origin)
    return frozenset(origins)


def normalize_origin(text: str) -> str | None:
    """Normalize an origin as browsers do (lower case, brackets around IPv6, no default port); None if invalid."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host or parts.path or parts.query or parts.fragment:
        return None
    if "@" in parts.netloc:
        return None
    name = f"[{host.lower()}]" if ":" in host else host.lower()
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{name}" if port in (None, usual) else f"{parts.scheme}://{name}:{port}"


@dataclass(frozen=True, slots=True)
class Rules:
    """The accepted origins and hosts.

    Args:
        origins: normalized origins.
        hosts: accepted host names, without port.
        loopback_origins: whether pages of this machine are accepted, on any port.
        any_address: whether any IP address is accepted as host; other host names are not (DNS rebinding).
    """

    origins: frozenset[str]
    hosts: frozenset[str]
    loopback_origins: bool
    any_address: bool

    @classmethod
    def of(cls, settings: Settings) -> "Rules":
        """Return the rules for the configured host and origins.

        Raises:
            NotConfigured: an entry of MCP_ALLOWED_ORIGINS is not an origin.
        """
        origins = read_origins(settings.mcp_allowed_origins)
        host = settings.mcp_http_host.strip("[]").lower()
        local = is_loopback(host)
        everywhere = host in ("0.0.0.0", "::", "")
        hosts = set(LOOPBACK_NAMES) | {urlsplit(origin).hostname or "" for origin in origins}
        if not local:
            hosts |= {socket.gethostname().lower()} if everywhere else {host}
        return cls(origins, frozenset(hosts), loopback_origins=local and not origins, any_address=everywhere)

    def allows_origin(self, origin: str) -> bool:
        """Return whether a page of this origin may send requests."""
        normal = normalize_origin(origin)
        if normal is None:
            return False
        return normal in self.origins or (self.loopback_origins and urlsplit(normal).hostname in LOOPBACK_NAMES)

    def find_address(self, scope: Scope) -> str:
        """Return the scheme and host of a request; https if an allowed origin has that host (a TLS proxy)."""
        host = Headers(scope=scope).get("host", "")
        return f"https://{host}" if f"https://{host.lower()}" in self.origins else f"{scope['scheme']}://{host}"

    def allows_host(self, header: str) -> bool:
        """Return whether requests to this host are accepted."""
        match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]/@\s]+)(?::[0-9]{1,5})?", header)
        if match is None:
            return False
        host = match[1].strip("[]").lower()
        if host in self.hosts:
            return True
        if not self.any_address:
            return False
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return False
        return True


class Guard:
    """Refuses requests from other origins (403) and to other hosts (421), before any other check."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._rules = rules
        self._app = app
        self._cors = CORSMiddleware(
            app,
            allow_origin_regex=".*",  # only accepted origins reach this
            allow_methods=("GET", "POST", "DELETE", "OPTIONS"),
            allow_headers=("*",),
            expose_headers=EXPOSED,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origins, hosts = headers.getlist("origin"), headers.getlist("host")
        if len(origins) > 1 or any(not self._rules.allows_origin(origin) for origin in origins):
            await _refuse(scope, receive, send, 403, "Origin not allowed")
        elif len(hosts) != 1 or not self._rules.allows_host(hosts[0]):
            await _refuse(scope, receive, send, 421, "Host not served here")
        else:
            await (self._cors if origins else self._app)(scope, receive, send)


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, text: str) -> None:
    logger.warning("request refused: %s", text, extra={"http_status": status, "path": str(scope.get("path"))[:200]})
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    await PlainTextResponse(text, status_code=status)(scope, receive, send)


class TokenGuard:
    """Answers 401 without a valid token, and 403 if the token has no scope of this server.

    Missing scopes for single tools are reported within the protocol: an HTTP status would end the session of some
    clients.
    """

    def __init__(self, app: ASGIApp, secret: str, rules: Rules, path: str) -> None:
        self._app = app
        self._backend = BearerAuthBackend(SignedTokens(secret))
        self._rules = rules
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        try:
            authenticated = await self._backend.authenticate(HTTPConnection(scope))
        except TokenRefused as exc:
            refusal = self._refuse(scope, 401, "invalid_token", str(exc))
        else:
            if authenticated is None:
                refusal = self._refuse(scope, 401, None, "This server requires a bearer token.")
            elif not authenticated[0].scopes:
                refusal = self._refuse(scope, 403, "insufficient_scope", "This token allows nothing here.")
            else:
                await self._app({**scope, "auth": authenticated[0], "user": authenticated[1]}, receive, send)
                return
        await refusal(scope, receive, send)

    def _refuse(self, scope: Scope, status: int, error: str | None, problem: str) -> JSONResponse:
        """Return the response required by RFC 6750 and RFC 9728; without credentials it has no error code."""
        logger.warning("request refused: %s", problem, extra={"http_status": status})
        fields = {**({"error": error} if error else {}), "error_description": problem}
        body = dict(fields) if error else {}
        if status == 403:
            body["scope"] = " ".join(SCOPES)
        body["resource_metadata"] = f"{self._rules.find_address(scope)}{METADATA_PATH}{self._path}"
        challenge = ", ".join(f'{name}="{value}"' for name, value in body.items())
        return JSONResponse(
            {**fields, "how_to_get_a_token": TOKENS}, status, headers={"WWW-Authenticate": f"Bearer {challenge}"}
        )


METADATA_PATH: Final = "/.well-known/oauth-protected-resource"
TOKENS: Final = (
    "The administrator of this server creates tokens: entrez-kit serve token --subject NAME. There is no authorization "
    "server; send the token with every request, as the header Authorization: Bearer TOKEN."
)


def describe_resource(rules: Rules, scope: Scope, path: str) -> dict[str, Any]:
    """Return the RFC 9728 document of the endpoint, which describes its tokens."""
    return {
        "resource": f"{rules.find_address(scope)}{path}",
        "resource_name": "entrez-kit",
        "scopes_supported": list(SCOPES),
        "bearer_methods_supported": ["header"],
        "how_to_get_a_token": TOKENS,
    }


LONG_BODY: Final = 10_000
"""The size in bytes above which checking a body takes noticeable time."""


class Messages:
    """Reads the whole body of a request within a size and a time, and passes on only valid messages.

    Args:
        app: receives requests with a complete body.
        limit: the maximum size of a body in bytes; otherwise 413.
        seconds: the maximum time for a body; otherwise 408.
    """

    def __init__(self, app: ASGIApp, limit: int, seconds: float) -> None:
        self._app = app
        self._limit = limit
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        body, size = bytearray(), int(Headers(scope=scope).get("content-length", 0))
        with anyio.move_on_after(self._seconds) as waiting:
            while size <= self._limit:
                message = await receive()
                if message["type"] == "http.disconnect":  # the client left during its body
                    return
                body += message.get("body", b"")
                size = max(size, len(body))
                if not message.get("more_body", False):
                    break
        status, error = 400, None
        if scope["method"] == "POST" and size <= self._limit and not waiting.cancelled_caught:
            data = bytes(body)  # a long one is checked in a thread, so that the server can answer others
            is_long = len(data) > LONG_BODY
            error = await anyio.to_thread.run_sync(check_message, data) if is_long else check_message(data)
        if waiting.cancelled_caught:
            status, error = 408, build_refusal("The message was not complete in time.")
        elif size > self._limit:
            status, error = 413, build_refusal(f"A message may have at most {format_count(self._limit, 'byte')}.")
        if error is not None:
            logger.warning("request refused: %s", error.error.message, extra={"http_status": status})
            content = error.model_dump_json(by_alias=True, exclude_unset=True)
            headers = {"Connection": "close"} if status != 400 else None  # the rest of the body may still arrive
            await Response(content, status, headers, "application/json")(scope, receive, send)
            return
        complete: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def receive_complete() -> Message:
            return complete.pop() if complete else await receive()

        await self._app(scope, receive_complete, send)


class SessionLimit:
    """Limits the sessions of each subject: a new session ends the least recently used one.

    Args:
        app: serves the protocol; a DELETE ends a session.
        limit: the maximum number of sessions of a subject.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit
        self._used: defaultdict[str, OrderedDict[str, None]] = defaultdict(OrderedDict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        subject = str(scope["user"].access_token.subject)
        session = Headers(scope=scope).get(MCP_SESSION_ID_HEADER)
        if session is not None and session in self._used[subject]:
            if scope["method"] == "DELETE":
                del self._used[subject][session]
            else:
                self._used[subject].move_to_end(session)

        async def send_and_record(message: Message) -> None:
            if message["type"] == "http.response.start" and session is None and message["status"] < 400:
                opened = MutableHeaders(raw=message["headers"]).getlist(MCP_SESSION_ID_HEADER)
                self._used[subject].update(dict.fromkeys(opened))
            await send(message)

        await self._app(scope, receive, send_and_record)
        # Other requests of the subject run during each `await`, so its sessions are read again after it.
        while len(self._used[subject]) > self._limit:
            oldest, _ = self._used[subject].popitem(last=False)
            logger.info("a session ends for a newer one of the same subject")
            await self._end(scope, oldest)
        if not self._used[subject]:
            del self._used[subject]

    async def _end(self, scope: Scope, session: str) -> None:
        headers: Sequence[tuple[bytes, bytes]] = [
            *((name, value) for name, value in scope["headers"] if name in (b"host", b"authorization")),
            (MCP_SESSION_ID_HEADER.encode(), session.encode()),
        ]

        async def receive_empty() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def discard(message: Message) -> None:
            return

        await self._app({**scope, "method": "DELETE", "headers": headers}, receive_empty, discard)
