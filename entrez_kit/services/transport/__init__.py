"""The rules of each service, and Call, Reply and Expect: a request, its reply, and the rules for a valid reply.

A service has a base URL, a rate limit, retries, time limits, lifetimes of replies and credentials. ``Call`` and
``Reply`` hold no credentials. The adapter below the cache adds them right before it sends a request.
"""

import hashlib
import ipaddress
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Protocol
from urllib.parse import urlencode, urlsplit

from pydantic import SecretStr
from typing_extensions import TypeVar  # typing has no defaults before Python 3.13

from entrez_kit.base.settings import Settings

if TYPE_CHECKING:
    from entrez_kit.base.clock import Clock

HOUR: Final = 3600
DAY: Final = 24 * HOUR
WEEK: Final = 7 * DAY

CLOCK_TOLERANCE_SECONDS: Final = 60.0
"""How far in the future a stored time may be: the clocks of machines that share a folder differ slightly."""

NOT_FOUND_TTL: Final = HOUR
"""A record that is missing now may soon exist."""

TTL: Final[Mapping[str, int | None]] = {
    "einfo": DAY,
    "esummary": DAY,
    "europepmc_search": DAY,
    "europepmc_citations": DAY,
    "europepmc_fulltext": WEEK,
    "esearch": HOUR,
    "espell": HOUR,
    "egquery": HOUR,
    "elink": HOUR,
    "efetch": WEEK,
    "ecitmatch": WEEK,
    "idconv": WEEK,
    "mesh": WEEK,
    "unpaywall": WEEK,
    "pmc_oa": WEEK,
    "crossref": DAY,
    "openalex": DAY,
    "epost": None,
    "dtd": WEEK,
}
"""Lifetime of a cached reply in seconds, by endpoint. Calls that read or create history are never cached."""

LOOKED_UP: Final = ("esearch", "esummary")
"""The endpoints of a MeSH lookup; MeSH changes once a year."""


def get_ttl(endpoint: str, db: str | None) -> int | None:
    """Return the lifetime of a cached E-utility reply in seconds."""
    return TTL["mesh"] if db == "mesh" and endpoint in LOOKED_UP else TTL[endpoint]


NCBI_DOMAIN: Final = "ncbi.nlm.nih.gov"


@dataclass(frozen=True)
class Policy:
    """The rules of one service.

    Args:
        title: its name in messages.
        per_second: returns its rate limit; the argument tells whether requests have an api key.
        timeout_ms: the setting with the timeout of one HTTP request.
        retries: the setting with the number of retries.
        pause_ms: the setting with the minimum pause between requests, if it has one.
        credentials: parameter name and setting of each credential that it may receive.
        key: the name of the credential that raises the rate limit.
        domain: the domain that may receive credentials, over https. Loopback may always receive them.
        at_once: maximum number of requests in flight, if it has one.
        missing: statuses that mean "no such record" and not "no such URL".
        echoes: whether its replies repeat the parameters, including credentials.
    """

    title: str
    per_second: Callable[[bool], float]
    timeout_ms: str = "ncbi_timeout_ms"
    retries: str = "ncbi_max_retries"
    pause_ms: str | None = None
    credentials: tuple[tuple[str, str], ...] = ()
    key: str = "api_key"
    domain: str | None = None
    at_once: int | None = None
    missing: frozenset[int] = frozenset({404})
    echoes: bool = False


POLICIES: Final[Mapping[str, Policy]] = {
    "eutils": Policy(
        title="NCBI",
        per_second=lambda keyed: 10 if keyed else 3,
        pause_ms="ncbi_request_delay_ms",
        credentials=(("tool", "ncbi_tool_identifier"), ("email", "ncbi_admin_email"), ("api_key", "ncbi_api_key")),
        domain=NCBI_DOMAIN,
        missing=frozenset(),
    ),
    "idconv": Policy(
        title="The PMC ID Converter",
        per_second=lambda keyed: 3,
        pause_ms="ncbi_request_delay_ms",
        credentials=(("tool", "ncbi_tool_identifier"), ("email", "ncbi_admin_email")),
        domain=NCBI_DOMAIN,
        missing=frozenset(),
        echoes=True,
    ),
    "europepmc": Policy(
        title="Europe PMC",
        per_second=lambda keyed: 5,
        timeout_ms="europepmc_timeout_ms",
        retries="europepmc_max_retries",
        pause_ms="europepmc_request_delay_ms",
        at_once=4,
    ),
    "unpaywall": Policy(
        title="Unpaywall",
        per_second=lambda keyed: 5,
        timeout_ms="unpaywall_timeout_ms",
        credentials=(("email", "unpaywall_email"),),
        domain="unpaywall.org",
        echoes=True,
    ),
    "crossref": Policy(
        title="Crossref",
        per_second=lambda keyed: 10 if keyed else 5,
        timeout_ms="europepmc_timeout_ms",
        retries="europepmc_max_retries",
        credentials=(("mailto", "crossref_email"),),
        key="mailto",
        domain="crossref.org",
        at_once=1,
        echoes=True,
    ),
    "openalex": Policy(
        title="OpenAlex",
        per_second=lambda keyed: 90,  # its guide "Authentication" allows 100 with and without a key
        timeout_ms="europepmc_timeout_ms",
        retries="europepmc_max_retries",
        credentials=(("api_key", "openalex_api_key"),),
        domain="openalex.org",
        at_once=10,
    ),
    "pmc_oa": Policy(title="PMC's open-data bucket", per_second=lambda keyed: 50),  # S3 takes thousands a second
}


def get_base_url(settings: Settings, service: str) -> str:
    """Return the base URL of a service without a final slash."""
    base: str = getattr(settings, f"{service}_url")
    return base.rstrip("/")


def list_credentials(settings: Settings, service: str, url: str) -> tuple[tuple[str, str], ...]:
    """Return the credentials that may be sent to this URL: none if it is not the service's own."""
    policy, parts = POLICIES[service], urlsplit(url)
    is_theirs = parts.scheme == "https" and policy.domain is not None and is_within(parts.hostname, policy.domain)
    if not is_theirs and not is_loopback(parts.hostname):
        return ()
    pairs = ((name, getattr(settings, setting)) for name, setting in policy.credentials)
    return tuple(
        (name, value.get_secret_value() if isinstance(value, SecretStr) else value) for name, value in pairs if value
    )


def count_credential_characters(settings: Settings, service: str, url: str) -> int:
    """Return the number of characters that credentials add to a URL."""
    return len(urlencode(list_credentials(settings, service, url))) + 1


def cache_identity(settings: Settings, service: str) -> str:
    """Return the text that identifies a service in cache keys; the sandbox has a fixed name for its random port."""
    if settings.demo:
        return f"sandbox:{service}"
    return get_base_url(settings, service)


def is_loopback(host: str | None) -> bool:
    """Return whether a host name or address is this machine."""
    if not host:
        return False
    if host.lower() == "localhost" or host.lower().endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_within(host: str | None, domain: str) -> bool:
    """Return whether a host is the domain or one of its subdomains."""
    return host is not None and (host == domain or host.endswith(f".{domain}"))


# A request, its reply, and the rules for a valid reply

Method = Literal["GET", "POST"]
Format = Literal["xml", "json", "text", "any"]
T = TypeVar("T", default=Any)
"""The type of a parsed reply."""

CREDENTIALS: Final = frozenset({"api_key", "email", "mailto", "tool"})
"""Parameters that identify the caller. They do not change the reply."""

KEY_FORMAT: Final = "2"  # increase it when the meaning of a cached entry changes, so that old entries are not found


def accept_any(_: object) -> bool:
    """Return True: every reply that its reader accepts may be cached."""
    return True


@dataclass(frozen=True, slots=True)
class Expect(Generic[T]):
    """The rules for a valid reply to a call.

    Args:
        format: xml, json, text, or any (any body that is neither empty nor an error page).
        roots: allowed names of the XML root, or top-level JSON keys of which the reply must have one; empty for any.
        wanted: number of ids in the request, if a reply with fewer records means that some do not exist.
        record: regular expression (over bytes, as text) that matches once per record.
        may_be_empty: whether an empty body means "no such record".
        read: parses the reply once, before it is accepted. It returns the value of the reply, or raises
            ``UpstreamError`` if the reply is invalid or does not match the request.
        keep: returns whether a reply with this value may be cached. A reply that omits a part of the request, or
            contradicts another reply, must be requested again.
    """

    format: Format
    roots: frozenset[str] = frozenset()
    wanted: int | None = None
    record: str | None = None
    may_be_empty: bool = False
    read: Callable[[bytes], T] = bytes  # type: ignore[assignment]  # without a reader the value is bytes
    keep: Callable[[T], bool] = accept_any


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request to one service, before it is sent and without credentials.

    Args:
        service: name of its policy: eutils, idconv, ...
        endpoint: esearch, efetch, ...; for logs, traces and messages.
        url: URL without parameters.
        params: decoded parameters; a repeated name (``id``) keeps its order.
        expect: the rules for a valid reply.
        method: GET, or POST with the parameters as the body.
        encoded: the encoded parameters, if the builder did not use the standard encoding.
        ttl: seconds a valid reply may be cached; with None the cache is neither read nor written.
        deadline_ms: time limit of the whole call; overrides the setting.
        fresh: whether to send the request even if the reply is cached.
    """

    service: str
    endpoint: str
    url: str
    params: tuple[tuple[str, str], ...]
    expect: Expect[T]
    method: Method = "GET"
    encoded: str | None = None
    ttl: int | None = None
    deadline_ms: int | None = None
    fresh: bool = False

    @property
    def title(self) -> str:
        """The name of the service in messages."""
        return POLICIES[self.service].title

    def describe(self, reason: str, **more: object) -> dict[str, object]:
        """Return the details of an error of this call."""
        return {"reason": reason, "service": self.service, "endpoint": self.endpoint, **more}

    @property
    def query(self) -> str:
        """The parameters, encoded."""
        return urlencode(self.params) if self.encoded is None else self.encoded

    @property
    def shown_url(self) -> str:
        """The URL for output: with the parameters of a GET, without those of a POST."""
        query = self.query
        return f"{self.url}?{query}" if self.method == "GET" and query else self.url

    def get_param(self, name: str) -> str | None:
        """Return the value of a parameter; None if the call does not have it."""
        return next((value for key, value in self.params if key == name), None)

    def build_key(self, identity: str) -> str:
        """Return the cache key. Credentials and the HTTP method do not change it.

        Args:
            identity: identifies the service: its base URL, or a fixed name for the sandbox.
        """
        parameters = sorted((pair for pair in self.params if pair[0] not in CREDENTIALS), key=lambda pair: pair[0])
        path = urlsplit(self.url).path  # some services take ids in the path and not as parameters
        sink = hashlib.sha256()
        for part in (KEY_FORMAT, identity, path, self.endpoint, *(part for pair in parameters for part in pair)):
            data = part.encode("utf-8", "surrogatepass")
            sink.update(len(data).to_bytes(8, "big") + data)  # different sequences of texts give different hashes
        return sink.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[T]):
    """A checked reply: the bytes of the service, decompressed and otherwise unchanged, and their parsed value.

    ``value`` is the result of the call's reader for ``content``. ``url`` has no credentials. ``attempts`` is the number
    of requests sent, 0 for a cached reply. ``until`` is the Unix time at which the cached reply expires, 0 if it is
    not cached. ``created`` is the Unix time at which the service sent it, even if it comes from the cache.
    ``content_type`` is the media type that the service sent, empty if it sent none. ``fidelity`` is the header with
    which a local copy names the fidelity of its answer. ``is_complete`` is False if the reply has fewer records than
    expected, which a caller must allow.
    """

    content: bytes
    value: T
    url: str
    method: Method
    from_cache: bool
    status: int
    attempts: int
    until: float = 0.0
    created: float = 0.0
    content_type: str = ""
    fidelity: str = ""
    is_complete: bool = True

    @property
    def sent_at(self) -> str:
        """The time at which the service sent the reply: ISO 8601, UTC, to the second."""
        return datetime.fromtimestamp(self.created or time.time(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class LocalAnswer(Protocol):
    """An HTTP answer that this process computes."""

    @property
    def status(self) -> int: ...
    @property
    def content_type(self) -> str: ...
    @property
    def body(self) -> bytes: ...
    @property
    def headers(self) -> Sequence[tuple[str, str]]: ...


Responder = Callable[[str, str, str], LocalAnswer]
"""Answers a request in this process, from its method, its URL, and the form of a POST."""


class Recording(Protocol):
    """Records the requests of a call, or answers them from an earlier recording."""

    clock: "Clock"

    def answer(self, call: Call[T], send: Callable[[Call[T]], Reply[T]]) -> Reply[T]:
        """Return the reply to a call, which ``send`` sends."""

    def download(self, url: str, fetch: Callable[[], Any]) -> Any:
        """Return the page of a URL, which ``fetch`` downloads."""

    def finish(self, status: int | None = None) -> None:
        """Write the recording at the end of the call, with the exit status of a command; a second call does nothing."""

    def close(self) -> None:
        """Close the file; a recording that is not finished is removed."""


@dataclass(slots=True)
class Outgoing(Generic[T]):
    """A call in progress.

    Args:
        deadline: `time.monotonic` value at which the call times out.
        sent: number of requests sent for it.
        reply: the reply, when it has arrived.
    """

    call: Call[T]
    deadline: float
    sent: int = 0
    reply: Reply[T] | None = None


count_received: ContextVar[Callable[[int], None] | None] = ContextVar("entrez_kit_count_received", default=None)
"""Takes the sizes of replies in a thread of a pool, which ``in_flight`` sets; None in other threads."""
