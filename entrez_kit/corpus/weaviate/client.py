"""Connecting to a Weaviate server: where it is, whether it answers, and its failures as errors of this library.

The client talks REST for the schema and gRPC for data. Nothing but the server itself is asked: the checks the client
would make on its own, which include a look at PyPI, are switched off, and the two that matter are made here.
"""

import logging
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from entrez_kit.base.errors import EntrezKitError, LocalIndexError, NotConfigured, VectorIndexError
from entrez_kit.base.extras import require
from entrez_kit.base.settings import Settings
from entrez_kit.base.wording import OFFLINE_SWITCH, Argument, Wording, run

if TYPE_CHECKING:
    from weaviate import WeaviateClient

GRPC_PORT: Final = 50051
CLOUD: Final = (".weaviate.cloud", ".weaviate.network", ".weaviate.io", ".semi.technology")
"""Hosts of Weaviate Cloud, whose gRPC has a name of its own."""
LONGEST_DETAIL: Final = 300
"""Characters of what the server says that are passed on."""
REBUILD: Final = run(
    "corpus reindex --index weaviate", "Ask whoever runs the server to make the index in Weaviate anew"
)
_CLASS: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,229}")

Answer = TypeVar("Answer")


class Server(NamedTuple):
    """Where a Weaviate server listens."""

    host: str
    port: int
    grpc_host: str
    grpc_port: int
    secure: bool

    @property
    def name(self) -> str:
        """The server as messages name it."""
        return f"Weaviate at {self.host}:{self.port}"


def server_of(settings: Settings) -> Server:
    """Return the server that is set up.

    Raises:
        NotConfigured: none is set up, its address cannot be used, or the key must not be sent there.
        LocalIndexError: it is out of reach under ``--offline``.
    """
    from entrez_kit.services.transport.policy import is_loopback

    if settings.weaviate_url is None:
        raise NotConfigured(
            "There is no address of a Weaviate server.",
            recovery_hint="Set WEAVIATE_URL, e.g. http://localhost:8080; the local index answers "
            "where weaviate is not asked for.",
            details={"reason": "weaviate_url_missing"},
        )
    parts = urlsplit(settings.weaviate_url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    if parts.path.strip("/"):
        raise _unusable(settings, "A Weaviate server is reached by host and port; a path cannot be used.")
    if settings.weaviate_api_key is not None and not secure and not is_loopback(host):
        raise _unusable(settings, "WEAVIATE_API_KEY is sent over https or to this machine only.")
    if settings.offline and not is_loopback(host):
        raise LocalIndexError(
            f"Weaviate at {host} is out of reach in offline mode.",
            recovery_hint=Wording(
                "Leave ", OFFLINE_SWITCH, " out, or search the local index (leave ", Argument("index"), " out)."
            ),
            details={"reason": "offline"},
        )
    in_cloud = host.endswith(CLOUD)
    cluster, _, domain = host.partition(".")
    named = f"{cluster}.grpc.{domain}" if host.endswith(".weaviate.network") else f"grpc-{host}"
    server = Server(
        host,
        parts.port or (443 if secure else 80),
        named if in_cloud else host,
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


def class_of(settings: Settings) -> str:
    """Return the name of the collection, as Weaviate writes it.

    Raises:
        NotConfigured: it cannot be the name of a collection.
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
    """Open a connection and make sure that both ports answer.

    Raises:
        NotConfigured: the extra is not installed, no server is set up, or its address cannot be used.
        LocalIndexError: the server is too old or does not accept the key.
        VectorIndexError: the server does not answer.
    """
    server = server_of(settings)
    require("weaviate", "The index weaviate")
    return ask(settings, lambda: _connected(settings, server))


def _connected(settings: Settings, server: Server) -> "WeaviateClient":
    from urllib.request import proxy_bypass

    from weaviate import config, connect_to_custom

    from entrez_kit.services.transport.policy import is_loopback

    # A batch with rejected objects would be logged with all their text; the caller is told of each anyway.
    logging.getLogger("weaviate-client").setLevel(logging.CRITICAL)
    key = settings.weaviate_api_key
    seconds = settings.weaviate_timeout_ms / 1000
    # A proxy of the environment may stand in between; the client itself would not look at NO_PROXY.
    proxied = not is_loopback(server.host) and not proxy_bypass(server.host)
    more = {}
    if hasattr(config, "GrpcConfig"):  # older clients have none
        more["grpc_config"] = config.GrpcConfig(channel_options=_channel_options(proxied))
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


def _channel_options(proxied: bool) -> list[tuple[str, int]]:
    return [] if proxied else [("grpc.enable_http_proxy", 0)]


def _check_grpc(server: Server, seconds: float, proxied: bool) -> None:
    """Make sure that gRPC answers; the client would try for a minute before it says that it does not.

    Raises:
        VectorIndexError: it does not.
    """
    import grpc

    target = f"[{server.grpc_host}]" if ":" in server.grpc_host else server.grpc_host
    target = f"{target}:{server.grpc_port}"
    if server.secure:
        channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(), options=_channel_options(proxied))
    else:
        channel = grpc.insecure_channel(target, options=_channel_options(proxied))
    with channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check")
        try:
            check(b"", timeout=min(seconds, 10.0))
            problem = None
        except grpc.RpcError as exc:
            problem = exc.code().name
    if problem in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
        raise VectorIndexError(
            f"{server.name} answers, its gRPC port {server.grpc_port} does not.",
            recovery_hint="Set WEAVIATE_GRPC_PORT to the port the server was started with, and open it (docker: "
            "-p 50051:50051).",
            details={"reason": "grpc_unreachable", "grpc_port": server.grpc_port},
        )


def ask(settings: Settings, question: Callable[[], Answer]) -> Answer:
    """Ask the server something, and turn what its client raises into errors of this library.

    Raises:
        VectorIndexError: the server does not answer, or refuses.
        LocalIndexError: it cannot be used as it is set up.
    """
    try:
        return question()
    except EntrezKitError:
        raise
    except Exception as exc:  # the client raises its own errors, and those of httpx, grpc and pydantic
        error = _typed(exc, settings)
    raise error  # out here, so that nothing the client holds, the key included, hangs on it


def _typed(exc: Exception, settings: Settings) -> VectorIndexError:
    import httpx
    from weaviate import exceptions as theirs

    message: Any = getattr(exc, "message", None)
    said = without_key(message if isinstance(message, str) and message else str(exc), settings)
    server = server_of(settings)
    status = exc.status_code if isinstance(exc, theirs.UnexpectedStatusCodeError) else None
    if status in (401, 403) or re.search(r"\b(unauthenticated|unauthorized|permission.?denied)\b", said, re.IGNORECASE):
        return LocalIndexError(
            f"{server.name} does not accept "
            f"{'WEAVIATE_API_KEY' if settings.weaviate_api_key is not None else 'requests without a key'}.",
            recovery_hint="Set WEAVIATE_API_KEY to a key of the server that may write.",
            details={"reason": "refused", **({"status": status} if status else {})},
        )
    if isinstance(exc, (theirs.WeaviateTimeoutError, httpx.TimeoutException)) or "Deadline Exceeded" in said:
        return VectorIndexError(
            f"{server.name} took longer than {settings.weaviate_timeout_ms} ms.",
            recovery_hint="Try again later, or allow more time with WEAVIATE_TIMEOUT_MS.",
            details={"reason": "timeout"},
        )
    if isinstance(exc, theirs.WeaviateStartUpError) and "not supported" in said:
        return LocalIndexError(
            f"{server.name} is older than weaviate-client supports.",
            recovery_hint="Upgrade the server, or install an older weaviate-client.",
            details={"reason": "server_too_old", "said": said},
        )
    unreachable = (
        theirs.WeaviateStartUpError,
        theirs.WeaviateConnectionError,
        theirs.WeaviateRetryError,
        httpx.TransportError,
    )
    if isinstance(exc, unreachable) or "UNAVAILABLE" in said:
        return VectorIndexError(
            f"{server.name} cannot be reached.", details={"reason": "weaviate_unreachable", "said": said}
        )
    if "vector lengths don't match" in said or "dimension" in said:
        return LocalIndexError(
            f"{server.name} holds vectors of another model.",
            recovery_hint=Wording(REBUILD, "."),
            details={"reason": "dimension_changed", "said": said},
        )
    if isinstance(exc, theirs.WeaviateBaseError) and not isinstance(exc, theirs.ResponseCannotBeDecodedError):
        return VectorIndexError(
            f"{server.name} refused: {said}",
            details={"reason": "server_error", **({"status": status} if status else {})},
        )
    return VectorIndexError(
        f"What {server.name} answers cannot be read ({type(exc).__name__}).", details={"reason": "invalid_response"}
    )


def without_key(text: str, settings: Settings) -> str:
    """Return what the server says, in a line, without the key in case it repeats it."""
    if settings.weaviate_api_key is not None:
        text = text.replace(settings.weaviate_api_key.get_secret_value(), "***")
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_DETAIL else f"{text[:LONGEST_DETAIL]}…"


def _unusable(settings: Settings, why: str) -> NotConfigured:
    return NotConfigured(
        why,
        invalid_input=f"WEAVIATE_URL={settings.weaviate_url}",
        recovery_hint="Give an address such as https://weaviate.example.org or http://localhost:8080.",
        details={"reason": "weaviate_url_unusable"},
    )
