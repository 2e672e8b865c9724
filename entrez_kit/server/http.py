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
from entrez_kit.server.auth import read_secret
from entrez_kit.server.events import Events, SessionEvents
from entrez_kit.server.guard import (
    METADATA_PATH,
    Guard,
    Messages,
    Rules,
    SessionLimit,
    TokenGuard,
    describe_resource,
)
from entrez_kit.server.shutdown import Shutdown
from entrez_kit.services.transport import is_loopback

PATH: Final = "/mcp"
HEALTH_PATH: Final = "/healthz"
MAX_BODY: Final = 1_000_000
"""The maximum size of a request in bytes; 200 PMIDs take about 2,000."""
MAX_SESSIONS: Final = 500
MAX_SESSIONS_OF_ONE: Final = 50
"""The maximum number of sessions of a subject; a further one ends the least recently used."""
SESSION_IDLE_SECONDS: Final = 900.0
HEADER_SECONDS: Final = 10.0
BODY_SECONDS: Final = 30.0
MAX_HALF_OPEN: Final = 200
"""The maximum number of connections waiting for a request; a further one ends the oldest."""
MAX_CONNECTIONS: Final = 1_000
BACKLOG: Final = 128
RETRY_MS: Final = 1_000
"""The delay after which a client reconnects to resume a broken stream."""
GRACE_SECONDS: Final = 0.7
"""The time for requests in progress when the server shuts down."""

logger = logging.getLogger("entrez_kit.server.http")


async def _answer_health(request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "version": __version__})


class _Sessions(StreamableHTTPSessionManager):
    """The SDK's sessions with separate event stores: a shared store would not distinguish the sessions."""

    def __init__(self, server: Server[Any], **options: Any) -> None:
        self._events = Events()
        super().__init__(server, **options)

    @property
    def event_store(self) -> EventStore | None:
        """A new event store for a new session."""
        return SessionEvents(self._events)

    @event_store.setter
    def event_store(self, store: EventStore | None) -> None:
        """Ignore the SDK's default."""


def build_app(server: Server[Any], settings: Settings) -> ASGIApp:
    """Return the application; its layers are, from the outside: origin and host, token, body, sessions, protocol.

    Raises:
        NotConfigured: the secret is missing or too short, or an entry of MCP_ALLOWED_ORIGINS is not an origin.
    """
    secret, rules = read_secret(settings), Rules.of(settings)
    manager = _Sessions(
        server,
        retry_interval=RETRY_MS,
        json_response=False,  # JSON mode would drop progress
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
        return JSONResponse(describe_resource(rules, request.scope, PATH))

    inner = Starlette(
        routes=[
            Route(PATH, endpoint=TokenGuard(protocol, secret, rules, PATH), methods=["GET", "POST", "DELETE"]),
            Route(HEALTH_PATH, endpoint=_answer_health, methods=["GET"]),
            Route(METADATA_PATH, endpoint=metadata, methods=["GET"]),
            Route(f"{METADATA_PATH}{PATH}", endpoint=metadata, methods=["GET"]),
        ],
        lifespan=lifespan,
    )
    origins = ", ".join(sorted(rules.origins)) or ("of this machine" if rules.loopback_origins else "none")
    hosts = f"{', '.join(sorted(rules.hosts))}{' and any address' if rules.any_address else ''}"
    logger.debug("accepting hosts %s; origins %s", hosts, origins)
    return Guard(inner, rules)


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens on the configured host and port.

    Raises:
        NotConfigured: the socket cannot be opened.
    """
    host, port = settings.mcp_http_host.strip("[]"), settings.mcp_http_port
    if host.lower() == "localhost":  # which may resolve to ::1 first
        host = "127.0.0.1"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        opened = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as exc:
        raise _listen_error(host, port, exc) from None
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(BACKLOG)
    except OSError as exc:
        opened.close()
        raise _listen_error(host, port, exc) from None
    return opened


def _listen_error(host: str, port: int, exc: Exception) -> NotConfigured:
    why = getattr(exc, "strerror", None) or type(exc).__name__
    return NotConfigured(
        f"Cannot listen on {host} port {port}: {why}.",
        invalid_input=f"{host}:{port}",
        recovery_hint="Choose another --port (0 selects a free one) or --host, or stop the program that uses it.",
        details={"reason": "cannot_listen"},
    )


def find_url(opened: socket.socket) -> str:
    """Return the URL for clients."""
    host, port = opened.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"


class _Uvicorn(uvicorn.Server):
    """Uvicorn without its signal handlers; ``Shutdown`` handles signals."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Do not install signal handlers."""
        yield


class _HeaderTimeoutProtocol(H11Protocol):
    """Uvicorn's protocol with a timeout for request headers; uvicorn itself waits without limit."""

    half_open: ClassVar[dict["_HeaderTimeoutProtocol", asyncio.TimerHandle]] = {}
    """Connections waiting for request headers, oldest first, with their deadlines."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's signature
        """Start the timeout for the first request."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Process bytes; stop the timeout if the headers are complete."""
        super().data_received(data)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeout."""
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
            logger.info("connection closed: no request within the time limit")
            self.transport.close()


async def serve_http(app: ASGIApp, opened: socket.socket, ending: Shutdown) -> None:
    """Serve until a signal is received."""
    server = _Uvicorn(
        uvicorn.Config(
            app,
            http=_HeaderTimeoutProtocol,
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
        logger.info("listening", extra={"url": find_url(opened)})
        if not is_loopback(host):
            logger.warning(
                "tokens are sent unencrypted: for other machines use a proxy with TLS, and list its origin in "
                "MCP_ALLOWED_ORIGINS"
            )
        try:
            await server.serve(sockets=[opened])
        finally:
            ending.begin("the listener is closed")
        tasks.cancel_scope.cancel()
