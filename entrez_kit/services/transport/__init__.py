"""Call, Reply and Expect: a request before it is sent, its reply, and the rules for a valid reply.

These classes hold no credentials. The adapter below the cache adds them right before it sends a request.
"""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Generic, Literal
from urllib.parse import urlencode, urlsplit

from typing_extensions import TypeVar  # typing has no defaults before Python 3.13

from entrez_kit.services.transport.policy import POLICIES

Method = Literal["GET", "POST"]
Format = Literal["xml", "json", "text", "any"]
T = TypeVar("T", default=Any)
"""The type of a parsed reply."""

CREDENTIALS: Final = frozenset({"api_key", "email", "mailto", "tool"})
"""Parameters that identify the caller. They do not change the reply."""

KEY_FORMAT: Final = "2"  # increase it when the meaning of a cached entry changes, so that old entries are not found


def always(_: object) -> bool:
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
    keep: Callable[[T], bool] = always


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

    def about(self, reason: str, **more: object) -> dict[str, object]:
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

    def param(self, name: str) -> str | None:
        """Return the value of a parameter; None if the call does not have it."""
        return next((value for key, value in self.params if key == name), None)

    def key(self, identity: str) -> str:
        """Return the cache key. Credentials and the HTTP method do not change it.

        Args:
            identity: identifies the service: its base URL, or a fixed name for the sandbox.
        """
        asked = sorted((pair for pair in self.params if pair[0] not in CREDENTIALS), key=lambda pair: pair[0])
        path = urlsplit(self.url).path  # some services take ids in the path and not as parameters
        sink = hashlib.sha256()
        for part in (KEY_FORMAT, identity, path, self.endpoint, *(part for pair in asked for part in pair)):
            data = part.encode("utf-8", "surrogatepass")
            sink.update(len(data).to_bytes(8, "big") + data)  # different sequences of texts give different hashes
        return sink.hexdigest()


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A checked reply: the bytes of the service, decompressed and otherwise unchanged, and their parsed value.

    ``value`` is the result of the call's reader for ``content``. ``url`` has no credentials. ``attempts`` is the number
    of requests sent, 0 for a cached reply. ``until`` is the Unix time at which the cached reply expires, 0 if it is
    not cached. ``created`` is the Unix time at which the service sent it, even if it comes from the cache.
    ``content_type`` is the media type that the service sent, empty if it sent none.
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

    @property
    def sent_at(self) -> str:
        """The time at which the service sent the reply: ISO 8601, UTC, to the second."""
        return datetime.fromtimestamp(self.created or time.time(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(slots=True)
class Outgoing(Generic[T]):
    """A call in progress.

    Args:
        deadline: `time.monotonic` value at which the call times out.
        sent: number of requests sent for it.
    """

    call: Call[T]
    deadline: float
    sent: int = 0
