"""The two sessions over one adapter: one that looks into the cache first, one that never does."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import requests

from entrez_kit.transport import replies
from entrez_kit.transport.redaction import Redactor
from entrez_kit.transport.wire import MAX_BODY_BYTES, Outgoing, WireAdapter


def plain_session(adapter: WireAdapter) -> requests.Session:
    """Return a session that always sends."""
    return _over(adapter, requests.Session())


def cached_session(adapter: WireAdapter, path: Path, notices: list[str]) -> requests.Session:
    """Return a session that sends what the cache does not have, and stores what the adapter hands up.

    The adapter's own `Cache-Control` says for how long. Stale replies never stand in for failed requests.
    """
    from requests_cache import CachedSession

    from entrez_kit.transport.store import ReplyCache

    session = CachedSession(
        backend=ReplyCache(path, notices),
        key_fn=_key_of,
        expire_after=0,
        cache_control=True,
        allowable_methods=("GET", "POST"),
        allowable_codes=(200,),
        stale_if_error=False,
    )
    return _over(adapter, session)


def _over(adapter: WireAdapter, session: requests.Session) -> requests.Session:
    for each in list(session.adapters.values()):
        each.close()
    session.adapters.clear()
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session


def send(session: requests.Session, request: Outgoing, *, refresh: bool) -> requests.Response:
    """Send a request through a session, with the proxies and certificates of the environment.

    Args:
        refresh: pass over what is cached, and replace it.
    """
    around = _surroundings(session, request)
    if refresh and hasattr(session, "cache"):
        around["force_refresh"] = True
    return session.send(request, allow_redirects=False, **around)


def _surroundings(session: requests.Session, request: Outgoing) -> dict[str, Any]:
    around = dict(session.merge_environment_settings(request.url or request.call.url, {}, None, None, None))
    return {name: around[name] for name in ("verify", "cert", "proxies")}


def _key_of(request: Any, **_: Any) -> str:
    key: str = request.key
    return key


def is_from_cache(response: requests.Response) -> bool:
    """Tell whether a reply was stored earlier."""
    return bool(getattr(response, "from_cache", False))


def age_seconds(response: requests.Response) -> float:
    """Return how long ago a stored reply was stored."""
    created = getattr(response, "created_at", None)
    return (datetime.now(UTC) - created).total_seconds() if isinstance(created, datetime) else 0.0


class ReplyStream:
    """A reply that is read piece by piece; a context manager that yields the pieces."""

    def __init__(self, session: requests.Session, adapter: WireAdapter, request: Outgoing, redactor: Redactor) -> None:
        self._call = request.call
        with ExitStack() as stack:
            live = stack.enter_context(adapter.open(request, **_surroundings(session, request)))
            pieces = adapter.pieces(live, self._call)
            if live.status_code != 200:
                body = redactor.body(b"".join(adapter.pieces(live, self._call, most=MAX_BODY_BYTES)))
                raise replies.refused(self._call, replies.Incoming(live.status_code, live.headers, body), redactor)
            first = next(pieces, b"")
            replies.check_head(self._call, first, redactor)
            self._pieces = self._checked(first, pieces)
            self._stack = stack.pop_all()

    def _checked(self, first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
        tail = replies.Tail(self._call, first)
        yield first
        for piece in rest:
            tail.add(piece)
            yield piece
        tail.check()

    def __enter__(self) -> Iterator[bytes]:
        return self._pieces

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
