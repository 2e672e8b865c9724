"""Replies that are read piece by piece, and what the environment says about the way to a service."""

from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Any

import requests

from entrez_kit.transport import replies
from entrez_kit.transport.redaction import Redactor
from entrez_kit.transport.wire import MAX_BODY_BYTES, Outgoing, WireAdapter


def surroundings(session: requests.Session, request: Outgoing) -> dict[str, Any]:
    """Return the proxies and certificates that the environment names for a request."""
    around = dict(session.merge_environment_settings(request.url or request.call.url, {}, None, None, None))
    return {name: around[name] for name in ("verify", "cert", "proxies")}


class ReplyStream:
    """A reply that is read piece by piece; a context manager that yields the pieces."""

    def __init__(self, session: requests.Session, adapter: WireAdapter, request: Outgoing, redactor: Redactor) -> None:
        self._call = request.call
        with ExitStack() as stack:
            live = stack.enter_context(adapter.open(request, **surroundings(session, request)))
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
