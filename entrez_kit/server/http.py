"""The HTTP transport: streamable HTTP at /mcp for callers with a bearer token, and /healthz."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar, Final

import anyio
import uvicorn
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from entrez_kit.base import __version__
from entrez_kit.base.errors import NotConfigured
from entrez_kit.base.settings import Settings
from entrez_kit.server.auth import secret_of
from entrez_kit.server.events import Events, SessionEvents
from entrez_kit.server.guard import (
    METADATA_PATH,
    Guard,
    Messages,
    Rules,
    SessionLimit,
    TokenGuard,
    resource_metadata,
)
from entrez_kit.server.shutdown import Shutdown
from entrez_kit.services.transport.policy import is_loopback

PATH: Final = "/mcp"
HEALTH_PATH: Final = "/healthz"
MAX_BODY: Final = 1_000_000
"""Bytes of a request; two hundred PMIDs are two thousand."""
MAX_SESSIONS: Final = 500
MAX_SESSIONS_OF_ONE: Final = 50
"""So many sessions may one subject have open; the one not used for longest ends for the next."""
SESSION_IDLE_SECONDS: Final = 900.0
HEADER_SECONDS: Final = 10.0
BODY_SECONDS: Final = 30.0
MAX_HALF_OPEN: Final = 200
"""So many connections may be open whose request has not come yet; the oldest ends for the next."""
MAX_CONNECTIONS: Final = 1_000
BACKLOG: Final = 128
RETRY_MS: Final = 1_000
"""When a client whose stream broke off is to come back for what it missed."""
GRACE_SECONDS: Final = 0.7
"""How long answers under way may take when the server ends."""

logger = logging.getLogger("entrez_kit.server.http")


async def _health(request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "version": __version__})


class _Sessions(StreamableHTTPSessionManager):
    """The SDK's sessions, each with events of its own: in a store that all share, it tells them apart by nothing."""

    def __init__(self, server: Server[Any], **options: Any) -> None:
        self._events = Events()
        super().__init__(server, **options)

    @property
    def event_store(self) -> EventStore | None:
        """Where a session that begins now keeps its events."""
        return SessionEvents(self._events)

    @event_store.setter
    def event_store(self, store: EventStore | None) -> None:
        """Leave what the SDK has by default."""


def build_app(server: Server[Any], settings: Settings) -> ASGIApp:
    """Return the application: origin and host, token, size and time, sessions, protocol; from the outside in.

    Raises:
        NotConfigured: the secret is missing or too short, or MCP_ALLOWED_ORIGINS holds something that is no origin.
    """
    secret, rules = secret_of(settings), Rules.of(settings)
    manager = _Sessions(
        server,
        retry_interval=RETRY_MS,
        json_response=False,  # in JSON mode progress would be dropped
        # The guard checks Origin and Host, for every path and before it reads a token. The SDK compares strings: it
        # cannot accept every IP address as host, ignore the case, or refuse a second Origin header.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=MAX_BODY,
        session_idle_timeout=SESSION_IDLE_SECONDS,
        max_sessions=MAX_SESSIONS,
    )
    sessions = SessionLimit(AuthContextMiddleware(manager.handle_request), MAX_SESSIONS_OF_ONE)
    protocol = Messages(sessions, MAX_BODY, BODY_SECONDS)

    def lifespan(_: Starlette) -> AbstractAsyncContextManager[None]:
        return manager.run()

    async def metadata(request: Request) -> JSONResponse:
        return JSONResponse(resource_metadata(rules, request.scope, PATH))

    inner = Starlette(
        routes=[
            Route(PATH, endpoint=TokenGuard(protocol, secret, rules, PATH), methods=["GET", "POST", "DELETE"]),
            Route(HEALTH_PATH, endpoint=_health, methods=["GET"]),
            Route(METADATA_PATH, endpoint=metadata, methods=["GET"]),
            Route(f"{METADATA_PATH}{PATH}", endpoint=metadata, methods=["GET"]),
        ],
        lifespan=lifespan,
    )
    named = ", ".join(sorted(rules.origins)) or ("of this machine" if rules.loopback_origins else "none")
    hosts = f"{', '.join(sorted(rules.hosts))}{' and any address' if rules.any_address else ''}"
    logger.debug("accepting hosts %s; origins %s", hosts, named)
    return Guard(inner, rules)


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens where the settings say.

    Raises:
        NotConfigured: that is not possible.
    """
    host, port = settings.mcp_http_host.strip("[]"), settings.mcp_http_port
    if host.lower() == "localhost":  # which may mean ::1 first, where nobody looks
        host = "127.0.0.1"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        opened = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as exc:
        raise _cannot_listen(host, port, exc) from None
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(BACKLOG)
    except OSError as exc:
        opened.close()
        raise _cannot_listen(host, port, exc) from None
    return opened


def _cannot_listen(host: str, port: int, exc: Exception) -> NotConfigured:
    why = getattr(exc, "strerror", None) or type(exc).__name__
    return NotConfigured(
        f"Cannot listen on {host} port {port}: {why}.",
        invalid_input=f"{host}:{port}",
        recovery_hint="Choose another --port (0 takes a free one) or --host, or end what listens there.",
        details={"reason": "cannot_listen"},
    )


def url_of(opened: socket.socket) -> str:
    """Return the address clients connect to."""
    host, port = opened.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"


class _Uvicorn(uvicorn.Server):
    """Uvicorn without handlers of its own for signals; ``Shutdown`` has them."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave the signals alone."""
        yield


class _Impatient(H11Protocol):
    """Uvicorn's protocol, which by itself waits for the head of a request as long as its sender likes."""

    half_open: ClassVar[dict["_Impatient", asyncio.TimerHandle]] = {}
    """Connections on which the head of a request is due, oldest first, and when each is given up."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take bytes, and see whether they made the head of a request whole."""
        super().data_received(data)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._forget()
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget()
        elif self not in self.half_open and not self.transport.is_closing():
            while len(self.half_open) >= MAX_HALF_OPEN:
                next(iter(self.half_open))._give_up()
            self.half_open[self] = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _forget(self) -> None:
        if timer := self.half_open.pop(self, None):
            timer.cancel()

    def _give_up(self) -> None:
        self._forget()
        if not self.transport.is_closing():
            logger.info("connection closed: no request came")
            self.transport.close()


async def serve_http(app: ASGIApp, opened: socket.socket, ending: Shutdown) -> None:
    """Serve until a signal comes."""
    server = _Uvicorn(
        uvicorn.Config(
            app,
            http=_Impatient,
            log_config=None,
            access_log=False,
            lifespan="on",
            ws="none",
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=GRACE_SECONDS,  # type: ignore[arg-type]  # it is only handed to wait_for
        )
    )

    def stop() -> None:
        server.should_exit = True

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ending.watch, stop)
        host = opened.getsockname()[0]
        logger.info("listening", extra={"url": url_of(opened)})
        if not is_loopback(host):
            logger.warning(
                "tokens travel in the clear: beyond this machine put a proxy with TLS in front, and list its origin in "
                "MCP_ALLOWED_ORIGINS"
            )
        try:
            await server.serve(sockets=[opened])
        finally:
            ending.begin("the listener is closed")
        tasks.cancel_scope.cancel()
