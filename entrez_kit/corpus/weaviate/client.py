"""The connection to a Weaviate server, and the translation of its client's errors.

The client uses REST for the schema and gRPC for data. Its own start-up checks, which include a request to PyPI, are
disabled; this module makes the two necessary checks, so that only the server itself receives requests.
"""

import logging
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from entrez_kit.base.errors import EntrezKitError, LocalIndexError, NotConfigured, VectorIndexError
from entrez_kit.base.extras import require
from entrez_kit.base.frontend_text import OFFLINE_SWITCH, Argument, FrontendText, suggest_command
from entrez_kit.base.redaction import Redactor
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport import is_loopback

if TYPE_CHECKING:
    from weaviate import WeaviateClient

GRPC_PORT: Final = 50051
CLOUD: Final = (".weaviate.cloud", ".weaviate.network", ".weaviate.io", ".semi.technology")
"""Hosts of Weaviate Cloud, which have a separate host name for gRPC."""
REBUILD: Final = suggest_command(
    "corpus reindex --index weaviate", "Ask the administrator of the server to rebuild the index in Weaviate"
)
_CLASS: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,229}")

Answer = TypeVar("Answer")


class Server(NamedTuple):
    """The address of a Weaviate server."""

    host: str
    port: int
    grpc_host: str
    grpc_port: int
    secure: bool

    @property
    def name(self) -> str:
        """The name of the server in messages."""
        return f"Weaviate at {self.host}:{self.port}"


def read_server(settings: Settings) -> Server:
    """Return the address of the configured server.

    Raises:
        NotConfigured: no server is configured, its address is invalid, or the key must not be sent there.
        LocalIndexError: the server cannot be used with ``--offline``.
    """
    if settings.weaviate_url is None:
        raise NotConfigured(
            "No Weaviate server is configured.",
            recovery_hint="Set WEAVIATE_URL, e.g. http://localhost:8080. Without it, searches use the local index.",
            details={"reason": "weaviate_url_missing"},
        )
    parts = urlsplit(settings.weaviate_url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    if parts.path.strip("/"):
        raise _bad_address_error(settings, "The address of a Weaviate server is a host and a port, without a path.")
    if settings.weaviate_api_key is not None and not secure and not is_loopback(host):
        raise _bad_address_error(settings, "WEAVIATE_API_KEY is only sent over https or to this machine.")
    if settings.offline and not is_loopback(host):
        raise LocalIndexError(
            f"Weaviate at {host} cannot be used in offline mode.",
            recovery_hint=FrontendText(
                "Leave ", OFFLINE_SWITCH, " out, or search the local index (leave ", Argument("index"), " out)."
            ),
            details={"reason": "offline"},
        )
    in_cloud = host.endswith(CLOUD)
    cluster, _, domain = host.partition(".")
    grpc_host = f"{cluster}.grpc.{domain}" if host.endswith(".weaviate.network") else f"grpc-{host}"
    server = Server(
        host,
        parts.port or (443 if secure else 80),
        grpc_host if in_cloud else host,
        settings.weaviate_grpc_port or (443 if in_cloud else GRPC_PORT),
        secure,
    )
    if (server.host, server.port) == (server.grpc_host, server.grpc_port):
        raise NotConfigured(
            f"Weaviate cannot listen for REST and gRPC on the same port ({server.port}).",
            recovery_hint="Set WEAVIATE_GRPC_PORT to the server's gRPC port.",
            details={"reason": "same_port"},
        )
    return server


def to_class_name(settings: Settings) -> str:
    """Return the name of the collection with an initial capital, as Weaviate stores it.

    Raises:
        NotConfigured: the name is not valid for a collection.
    """
    name = settings.weaviate_class
    if _CLASS.fullmatch(name) is None:
        raise NotConfigured(
            f"{name!r} cannot be the name of a Weaviate collection.",
            invalid_input=f"WEAVIATE_CLASS={name}",
            recovery_hint="Use letters, digits and underscores, beginning with a letter, e.g. PubMedChunk.",
            details={"reason": "bad_class"},
        )
    return name[0].upper() + name[1:]


def connect(settings: Settings) -> "WeaviateClient":
    """Open a connection and check that both ports answer.

    Raises:
        NotConfigured: the extra is not installed, no server is configured, or its address is invalid.
        LocalIndexError: the server is too old or does not accept the key.
        VectorIndexError: the server does not answer.
    """
    server = read_server(settings)
    require("weaviate", "The index weaviate")
    return ask(settings, lambda: _open_client(settings, server))


def _open_client(settings: Settings, server: Server) -> "WeaviateClient":
    from weaviate import config, connect_to_custom

    # The client would log the full text of rejected objects; the result names each of them anyway.
    logging.getLogger("weaviate-client").setLevel(logging.CRITICAL)
    key = settings.weaviate_api_key
    seconds = settings.weaviate_timeout_ms / 1000
    # The environment may set a proxy, and the client ignores NO_PROXY.
    proxied = not is_loopback(server.host) and not proxy_bypass(server.host)
    more = {}
    if hasattr(config, "GrpcConfig"):  # older clients do not have it
        more["grpc_config"] = config.GrpcConfig(channel_options=_list_channel_options(proxied))
    client = connect_to_custom(
        http_host=server.host,
        http_port=server.port,
        http_secure=server.secure,
        grpc_host=server.grpc_host,
        grpc_port=server.grpc_port,
        grpc_secure=server.secure,
        auth_credentials=key.get_secret_value() if key is not None else None,
        additional_config=config.AdditionalConfig(
            timeout=config.Timeout(init=seconds, query=seconds, insert=seconds), trust_env=proxied, **more
        ),
        skip_init_checks=True,
    )
    try:
        _check_grpc(server, seconds, proxied)
    except BaseException:
        client.close()
        raise
    return client


def _list_channel_options(proxied: bool) -> list[tuple[str, int]]:
    return [] if proxied else [("grpc.enable_http_proxy", 0)]


def _check_grpc(server: Server, seconds: float, proxied: bool) -> None:
    """Check that gRPC answers; the client itself would try for a minute before it fails.

    Raises:
        VectorIndexError: it does not answer.
    """
    import grpc

    target = f"[{server.grpc_host}]" if ":" in server.grpc_host else server.grpc_host
    target = f"{target}:{server.grpc_port}"
    if server.secure:
        channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(), options=_list_channel_options(proxied))
    else:
        channel = grpc.insecure_channel(target, options=_list_channel_options(proxied))
    with channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check")
        try:
            check(b"", timeout=min(seconds, 10.0))
            problem = None
        except grpc.RpcError as exc:
            problem = exc.code().name
    if problem in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
        raise VectorIndexError(
            f"{server.name} answers, but its gRPC port {server.grpc_port} does not.",
            recovery_hint="Set WEAVIATE_GRPC_PORT to the server's gRPC port, and open that port (docker: "
            "-p 50051:50051).",
            details={"reason": "grpc_unreachable", "grpc_port": server.grpc_port},
        )


def ask(settings: Settings, question: Callable[[], Answer]) -> Answer:
    """Run a request and convert the client's errors into errors of this library.

    Raises:
        VectorIndexError: the server does not answer, or refuses the request.
        LocalIndexError: the server cannot be used with these settings.
    """
    try:
        return question()
    except EntrezKitError:
        raise
    except Exception as exc:  # the client raises its own errors and those of httpx, grpc and pydantic
        error = _convert_error(exc, settings)
    raise error  # outside of the handler, so that the error keeps no reference to the client, which has the key


def _convert_error(exc: Exception, settings: Settings) -> VectorIndexError:
    import httpx
    from weaviate import exceptions as theirs

    message: Any = getattr(exc, "message", None)
    text = Redactor(settings.secrets).quote_text(message if isinstance(message, str) and message else str(exc))
    server = read_server(settings)
    status = exc.status_code if isinstance(exc, theirs.UnexpectedStatusCodeError) else None
    if status in (401, 403) or re.search(r"\b(unauthenticated|unauthorized|permission.?denied)\b", text, re.IGNORECASE):
        return LocalIndexError(
            f"{server.name} does not accept "
            f"{'WEAVIATE_API_KEY' if settings.weaviate_api_key is not None else 'requests without a key'}.",
            recovery_hint="Set WEAVIATE_API_KEY to a key of the server that may write.",
            details={"reason": "refused", **({"status": status} if status else {})},
        )
    if isinstance(exc, (theirs.WeaviateTimeoutError, httpx.TimeoutException)) or "Deadline Exceeded" in text:
        return VectorIndexError(
            f"{server.name} took longer than {settings.weaviate_timeout_ms} ms.",
            recovery_hint="Try again later, or allow more time with WEAVIATE_TIMEOUT_MS.",
            details={"reason": "timeout"},
        )
    if isinstance(exc, theirs.WeaviateStartUpError) and "not supported" in text:
        return LocalIndexError(
            f"{server.name} is older than weaviate-client supports.",
            recovery_hint="Upgrade the server, or install an older weaviate-client.",
            details={"reason": "server_too_old", "said": text},
        )
    unreachable = (
        theirs.WeaviateStartUpError,
        theirs.WeaviateConnectionError,
        theirs.WeaviateRetryError,
        httpx.TransportError,
    )
    if isinstance(exc, unreachable) or "UNAVAILABLE" in text:
        return VectorIndexError(
            f"{server.name} cannot be reached.", details={"reason": "weaviate_unreachable", "said": text}
        )
    if "vector lengths don't match" in text or "dimension" in text:
        return LocalIndexError(
            f"{server.name} has vectors of a different model.",
            recovery_hint=FrontendText(REBUILD, "."),
            details={"reason": "dimension_changed", "said": text},
        )
    if isinstance(exc, theirs.WeaviateBaseError) and not isinstance(exc, theirs.ResponseCannotBeDecodedError):
        return VectorIndexError(
            f"{server.name} refused: {text}",
            details={"reason": "server_error", **({"status": status} if status else {})},
        )
    return VectorIndexError(
        f"The reply of {server.name} cannot be parsed ({type(exc).__name__}).", details={"reason": "invalid_response"}
    )


def _bad_address_error(settings: Settings, why: str) -> NotConfigured:
    return NotConfigured(
        why,
        invalid_input=f"WEAVIATE_URL={settings.weaviate_url}",
        recovery_hint="Give an address such as https://weaviate.example.org or http://localhost:8080.",
        details={"reason": "weaviate_url_unusable"},
    )
