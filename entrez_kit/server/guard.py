"""The outermost checks of HTTP: where a request comes from (Origin), whom it means (Host), what its token allows."""

import ipaddress
import json
import logging
import re
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from entrez_kit.errors import NotConfigured
from entrez_kit.server.resources import scope_of_resource
from entrez_kit.server.tool_facts import ToolFacts
from entrez_kit.settings import Settings
from entrez_kit.transport.policy import is_loopback

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
EXPOSED: Final = ("Mcp-Session-Id", "Mcp-Protocol-Version", "WWW-Authenticate")
"""Headers a page in a browser may read."""

logger = logging.getLogger("entrez_kit.server.http")


def read_origins(text: str | None) -> frozenset[str]:
    """Return the origins of MCP_ALLOWED_ORIGINS.

    Raises:
        NotConfigured: one of them is none.
    """
    return frozenset(_origin(part.strip()) for part in (text or "").split(",") if part.strip())


def _origin(text: str) -> str:
    try:
        parts = urlsplit(text.rstrip("/"))
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or parts.path or parts.query or parts.fragment:
        raise NotConfigured(
            f"MCP_ALLOWED_ORIGINS: {text[:100]!r} is no origin.",
            invalid_input=text[:100],
            recovery_hint="List origins as browsers send them, separated by commas: https://app.example.org, "
            "http://localhost:6274. A star is not accepted.",
            details={"reason": "bad_origin"},
        )
    return normal_origin(parts.scheme, host, port)


def normal_origin(scheme: str, host: str, port: int | None) -> str:
    """Return an origin as browsers write it: lower case, brackets around IPv6, no default port."""
    name = f"[{host.lower()}]" if ":" in host else host.lower()
    usual = {"http": 80, "https": 443}.get(scheme)
    return f"{scheme}://{name}" if port in (None, usual) else f"{scheme}://{name}:{port}"


@dataclass(frozen=True, slots=True)
class Rules:
    """Which origins and hosts are accepted.

    Args:
        origins: as browsers send them.
        hosts: names a request may be addressed to, without port.
        loopback_origins: whether pages served by this machine are accepted, whatever their port.
        any_address: whether any IP address is accepted as host; a name that was made to point here is not.
    """

    origins: frozenset[str]
    hosts: frozenset[str]
    loopback_origins: bool
    any_address: bool

    @classmethod
    def of(cls, settings: Settings) -> "Rules":
        """Return the rules for where the server listens and which origins are configured.

        Raises:
            NotConfigured: MCP_ALLOWED_ORIGINS holds something that is no origin.
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
        """Tell whether a page of this origin may call."""
        try:
            parts = urlsplit(origin)
            host, port = parts.hostname, parts.port
        except ValueError:
            return False
        if not host or parts.scheme not in ("http", "https") or parts.path or parts.query or parts.fragment:
            return False
        if "@" in parts.netloc:
            return False
        return normal_origin(parts.scheme, host, port) in self.origins or (
            self.loopback_origins and host in LOOPBACK_NAMES
        )

    def allows_host(self, header: str) -> bool:
        """Tell whether a request addressed to this host is meant for us."""
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
    """Refuse requests of foreign pages (403) and for other hosts (421), before anything else looks at them."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._rules = rules
        self._app = app
        self._cors = CORSMiddleware(
            app,
            allow_origin_regex=".*",  # only accepted ones get here
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


class ScopeGuard:
    """Answer 403 where a token does not reach as far as what the message asks for.

    The handlers check again by themselves; here it becomes the status that HTTP clients understand.

    Args:
        app: serves what is allowed. The body was read already and is replayed.
        find: returns the operation that answers to a tool name.
    """

    def __init__(self, app: ASGIApp, find: Callable[[str], ToolFacts | None]) -> None:
        self._app = app
        self._find = find

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        granted = set(scope["auth"].scopes)
        if not granted:
            await _insufficient(scope, receive, send, None)
            return
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        body = await request.body()
        for needed in self._needed(body):
            if needed not in granted:
                await _insufficient(scope, receive, send, needed)
                return
        await self._app(scope, _replay(body, receive), send)

    def _needed(self, body: bytes) -> Iterator[str]:
        """Yield the scopes that the messages in a body need; whatever cannot be read is the server's to refuse."""
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            return
        for message in document if isinstance(document, list) else [document]:
            if not isinstance(message, dict) or not isinstance(message.get("params"), dict):
                continue
            params = message["params"]
            if message.get("method") == "tools/call":
                facts = self._find(str(params.get("name")))
                if facts is not None:
                    yield facts.scope
            elif message.get("method") == "resources/read":
                needed = scope_of_resource(str(params.get("uri")))
                if needed is not None:
                    yield needed


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that gives out the body again, then whatever comes."""
    given = False

    async def again() -> Any:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return again


async def _insufficient(scope: Scope, receive: Receive, send: Send, needed: str | None) -> None:
    """Answer that the token is good but not for this, as RFC 6750 has it."""
    what = f"This needs the scope {needed}." if needed else "This token allows nothing here."
    challenge = f'Bearer error="insufficient_scope", error_description="{what}"'
    if needed:
        challenge += f', scope="{needed}"'
    logger.warning("request refused: insufficient scope", extra={"http_status": 403, "scope": needed})
    response = JSONResponse(
        {"error": "insufficient_scope", "error_description": what},
        status_code=403,
        headers={"WWW-Authenticate": challenge},
    )
    await response(scope, receive, send)


def describe(rules: Rules) -> Iterable[str]:
    """Yield what is accepted, for the log."""
    yield f"hosts {', '.join(sorted(rules.hosts))}{' and any address' if rules.any_address else ''}"
    named = sorted(rules.origins)
    yield f"origins {', '.join(named) if named else 'of this machine' if rules.loopback_origins else 'none'}"
