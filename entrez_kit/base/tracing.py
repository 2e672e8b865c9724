"""Trace one call: its request id, every request sent for it, and who answered it.

The outermost layer opens a trace and the transport adds to it. A trace has no credentials or addresses.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

FIDELITY_HEADER: Final = "Entrez-Kit-Fidelity"
"""The header with which a local copy names the fidelity of a search."""
FIDELITIES: Final = ("exact", "exact_phrase", "approximate")
"""How closely an answer of a local copy agrees with PubMed's, the closest first."""


@dataclass(frozen=True, slots=True)
class TracedRequest:
    """One answered request of a call."""

    endpoint: str
    from_cache: bool
    attempts: int
    seconds: float
    size: int
    until: float = 0.0
    """Unix time until which the cache returns the same reply; 0 if the reply is not cached."""


@dataclass(slots=True)
class Trace:
    """The request id of a call and its requests so far (thread-safe, since it only grows)."""

    request_id: str
    exchanges: list[TracedRequest] = field(default_factory=list)
    operation: str = ""
    """The operation of the call, not another operation that it uses."""
    fidelity: str = ""
    """The lowest fidelity of the answers of a local copy; empty if it has answered nothing."""
    copy: str = ""
    """The local copy that answers; empty if services do."""
    opens_demo_corpus: bool = False
    """Whether the call opened the corpus of the demo."""
    reasons: dict[str, None] = field(default_factory=dict)
    """The reasons why answers of a local copy differ from PubMed's."""

    @property
    def from_cache(self) -> bool:
        """Whether there was a reply and every reply came from the cache."""
        return bool(self.exchanges) and all(exchange.from_cache for exchange in self.exchanges)

    def limit_fidelity(self, header: str) -> None:
        """Lower the fidelity of the call to that in a header (``approximate; reason; reason``)."""
        fidelity, *reasons = header.split("; ")
        if fidelity in FIDELITIES and not _explains.get():
            self.fidelity = max(self.fidelity or fidelity, fidelity, key=FIDELITIES.index)
            self.reasons.update(dict.fromkeys(reasons))

    def describe_fidelity(self) -> str:
        """Return the fidelity of the answers of a copy with its reasons; empty if nothing was answered."""
        return f"{self.fidelity} ({'; '.join(self.reasons)})" if self.reasons else self.fidelity

    @property
    def until(self) -> float:
        """Unix time until which the cache answers the same call completely; 0 if it may not."""
        return min((exchange.until for exchange in self.exchanges), default=0.0)


def is_recording_spans() -> bool:
    """Return whether this program may record spans: it has imported OpenTelemetry."""
    return "opentelemetry.trace" in sys.modules


_current: ContextVar[Trace | None] = ContextVar("entrez_kit_trace", default=None)
_explains: ContextVar[bool] = ContextVar("entrez_kit_explains", default=False)


@contextmanager
def keep_fidelity() -> Iterator[None]:
    """Keep the fidelity of the call in this block, whose requests only explain the answer."""
    token = _explains.set(True)
    try:
        yield
    finally:
        _explains.reset(token)


def name_source(usual: str = "PubMed", *, begins: bool = False) -> str:
    """Return who answers the current call, for a message: a service, or the local copy that was asked instead.

    Args:
        usual: the service.
        begins: whether the name begins the sentence.
    """
    opened = get_current_trace()
    if opened is None or not opened.copy:
        return usual
    return f"{'The' if begins else 'the'} local copy {opened.copy.partition(', hash')[0]})"


def create_request_id() -> str:
    """Return a short random id that log lines, errors and replies of one call share."""
    return os.urandom(6).hex()


@contextmanager
def trace(request_id: str | None = None) -> Iterator[Trace]:
    """Open a trace for one call; nested calls share the outer one."""
    outer = _current.get()
    if outer is not None and request_id is None:
        yield outer
        return
    opened = Trace(request_id or create_request_id())
    token = _current.set(opened)
    try:
        yield opened
    finally:
        _current.reset(token)


def get_current_trace() -> Trace | None:
    """Return the trace of the running call, if one is open."""
    return _current.get()
