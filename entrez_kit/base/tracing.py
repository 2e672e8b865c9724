"""What happens during one call: a request id, and a record of every request sent for it.

The outermost layer opens a trace; the transport adds to it. Nothing here holds credentials or addresses.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TracedRequest:
    """One request of a call, after it was answered."""

    endpoint: str
    from_cache: bool
    attempts: int
    seconds: float
    size: int
    until: float = 0.0
    """Unix time until which the cache gives the same again; 0 where it never does."""


@dataclass(slots=True)
class Trace:
    """The request id of a call and the exchanges made for it so far (safe for threads: append only)."""

    request_id: str
    exchanges: list[TracedRequest] = field(default_factory=list)
    operation: str = ""
    """The operation that was called, which may use others."""

    @property
    def from_cache(self) -> bool:
        """Whether every reply came from the cache (and there was at least one)."""
        return bool(self.exchanges) and all(exchange.from_cache for exchange in self.exchanges)

    @property
    def until(self) -> float:
        """Unix time until which asking again gives the same, as the cache has it; 0 where it may not."""
        return min((exchange.until for exchange in self.exchanges), default=0.0)


def records_spans() -> bool:
    """Return whether this program may record spans: it has imported OpenTelemetry."""
    return "opentelemetry.trace" in sys.modules


_current: ContextVar[Trace | None] = ContextVar("entrez_kit_trace", default=None)


def new_request_id() -> str:
    """Return a short random id that ties log lines, errors and replies of one call together."""
    return os.urandom(6).hex()


@contextmanager
def trace(request_id: str | None = None) -> Iterator[Trace]:
    """Open a trace for one call; nested calls share the outer one."""
    outer = _current.get()
    if outer is not None and request_id is None:
        yield outer
        return
    opened = Trace(request_id or new_request_id())
    token = _current.set(opened)
    try:
        yield opened
    finally:
        _current.reset(token)


def current_trace() -> Trace | None:
    """Return the trace of the running call, if one is open."""
    return _current.get()


class Cancelled(BaseException):
    """Nobody waits for the answer any more. No error: what handles errors must let it pass."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Who watches a long call: whether the answer is still wanted, where to report how far it is and what comes now."""

    wanted: Callable[[], bool]
    progress: Callable[[int, int | None], None]
    stage: Callable[[str], None] = lambda label: None


_watch: ContextVar[Watch | None] = ContextVar("entrez_kit_watch", default=None)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Let somebody watch the calls made in this block."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


@contextmanager
def unreported() -> Iterator[None]:
    """Let what is done in this block be stopped, and not tell how far it is: it is one part of several side by side."""
    watch = _watch.get()
    if watch is None:
        yield
        return
    with watched(Watch(wanted=watch.wanted, progress=lambda done, total: None)):
        yield


def checkpoint() -> None:
    """Stop here if the answer is not wanted any more.

    Raises:
        Cancelled: it is not.
    """
    watch = _watch.get()
    if watch is not None and not watch.wanted():
        raise Cancelled


def step(done: int, total: int | None = None) -> None:
    """Report how far a long call is, between two of its requests, and stop if it is not wanted any more.

    Raises:
        Cancelled: it is not.
    """
    checkpoint()
    watch = _watch.get()
    if watch is not None:
        watch.progress(done, total)


def stage(label: str) -> None:
    """Report that the next stage of a long call begins, which counts from the beginning."""
    watch = _watch.get()
    if watch is not None:
        watch.stage(label)
