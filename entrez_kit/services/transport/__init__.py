"""Call, Reply and Expect: one request before it is sent, what came back, and what an answer looks like.

Nothing in here knows of credentials: they are added below the cache, right before a request leaves.
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
"""What a reply is read into."""

CREDENTIALS: Final = frozenset({"api_key", "email", "mailto", "tool"})
"""Parameters that say who asks. They play no part in what is asked."""

KEY_FORMAT: Final = "2"  # raise it when the meaning of a cached entry changes, so that old entries are never found


def always(_: object) -> bool:
    """Return True: every reply that its reader accepts may enter the cache."""
    return True


@dataclass(frozen=True, slots=True)
class Expect(Generic[T]):
    """What a valid reply to a call looks like.

    Args:
        format: xml, json, text, or any (whatever is not empty and no error page).
        roots: names the XML root may have, or top-level JSON keys of which one must be there; empty for any.
        wanted: how many records the call names by id, where fewer in the reply mean that some do not exist.
        record: regular expression (over bytes, as text) that matches once per record.
        may_be_empty: whether a body without anything in it says "no such record".
        read: reads the reply, once, before it counts, and raises ``UpstreamError`` when it cannot, or when what it
            finds is not what was asked for. What it returns is the value of the reply.
        keep: tells of a value that the reader accepted whether the reply may enter the cache. One that leaves out a
            part of the request, or contradicts another reply, must be requested again.
    """

    format: Format
    roots: frozenset[str] = frozenset()
    wanted: int | None = None
    record: str | None = None
    may_be_empty: bool = False
    read: Callable[[bytes], T] = bytes  # type: ignore[assignment]  # what nobody reads stays bytes
    keep: Callable[[T], bool] = always


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request to one service, before it is sent and without credentials.

    Args:
        service: name of the policy in force: eutils, idconv, ...
        endpoint: esearch, efetch, ...; for logs, traces and messages.
        url: address without parameters.
        params: decoded parameters; a repeated name (``id``) keeps its order.
        expect: what a valid reply looks like.
        method: GET, or POST with the parameters as the body.
        encoded: the parameters as they go out, where the builder encoded them in a way of its own.
        ttl: seconds a valid reply may be cached; None never reads nor writes the cache.
        deadline_ms: limit of the whole call, in place of the setting.
        fresh: whether to ask the service whatever the cache holds.
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
        """How messages name the service."""
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
        """The address that may be shown: of a GET with its parameters, of a POST without."""
        query = self.query
        return f"{self.url}?{query}" if self.method == "GET" and query else self.url

    def param(self, name: str) -> str | None:
        """Return a parameter, or None when it is not sent."""
        return next((value for key, value in self.params if key == name), None)

    def key(self, identity: str) -> str:
        """Return the cache key: who asks and how (credentials, GET or POST) makes no difference to it.

        Args:
            identity: which service is asked; its base address, or a fixed name for the sandbox.
        """
        asked = sorted((pair for pair in self.params if pair[0] not in CREDENTIALS), key=lambda pair: pair[0])
        path = urlsplit(self.url).path  # some services take ids in the path and not as parameters
        sink = hashlib.sha256()
        for part in (KEY_FORMAT, identity, path, self.endpoint, *(part for pair in asked for part in pair)):
            data = part.encode("utf-8", "surrogatepass")
            sink.update(len(data).to_bytes(8, "big") + data)  # no two different sequences of texts look the same
        return sink.hexdigest()


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A checked reply: the bytes of the service, decompressed and otherwise unchanged, and what they were read into.

    ``value`` is what the reader of the call made of ``content``; nobody has to parse it again. ``url`` holds no
    credentials. ``attempts`` counts the requests that were sent for it: none for a cached one. ``until`` is the Unix
    time until which the cache gives it again; 0 where it is asked for anew every time. ``created`` is the Unix time at
    which the service sent it, also if it comes from the cache. ``content_type`` is the media type that the service
    named, empty if it named none.
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
    """A call on its way.

    Args:
        deadline: `time.monotonic` value by which everything must be done.
        sent: how many requests were sent for it.
    """

    call: Call[T]
    deadline: float
    sent: int = 0
