"""The rate limit of each service, and RateGate, which decides when a request may be sent."""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import ceil
from pathlib import Path
from typing import Final, Protocol

from entrez_kit.base.errors import RateLimited, UpstreamError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.settings import Settings, get_default
from entrez_kit.services.transport import POLICIES, Call, get_base_url, in_flight, list_credentials

MAX_LATENCY: Final = 1.5
"""The latency in seconds up to which one operation can use the full rate of a service."""


def is_keyed(settings: Settings, service: str) -> bool:
    """Return whether requests have the credential that allows more: NCBI's or OpenAlex's key, Crossref's e-mail."""
    return _get_key(settings, service) is not None


def _get_key(settings: Settings, service: str) -> str | None:
    policy = POLICIES[service]
    return dict(list_credentials(settings, service, get_base_url(settings, service))).get(policy.key)


def pause_ms(settings: Settings, service: str) -> int | None:
    """Return the minimum pause between requests to a service; None if it has none."""
    setting = POLICIES[service].pause_ms
    return getattr(settings, setting) if setting else None


def get_max_in_flight(settings: Settings, service: str) -> int:
    """Return how many requests of one operation may be in flight: 6 to NCBI, 16 with an api key."""
    policy = POLICIES[service]
    pace = policy.per_second(is_keyed(settings, service))
    if pause := pause_ms(settings, service):
        pace = min(pace, 1000 / pause)
    max_requests = ceil(pace * MAX_LATENCY) + 1
    return max_requests if policy.at_once is None else min(max_requests, policy.at_once)


def find_limiter_file(settings: Settings, service: str) -> Path:
    """Return the state file for all requests that count against the same limit: one per key, else one per machine.

    A mirror or a sandbox has a separate limit and a separate file.
    """
    key = _get_key(settings, service)
    owner = _compute_hash(f"entrez-kit limiter {key}") if key else "machine"
    base = get_base_url(settings, service)
    suffix = "" if settings.demo or base == get_default(f"{service}_url") else f"-at-{_compute_hash(base)}"
    return settings.state_dir / f"limit-{service}-{owner}{suffix}.json"


def _compute_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Limiter(Protocol):
    """The interface of a limiter."""

    def acquire(self, deadline: float | None = None) -> AbstractContextManager[None] | None:
        """Block until a request may be sent; return a context manager to send it in, or None."""


LimiterFactory = Callable[[Settings, str], Limiter]


def get_shared_limiter(settings: Settings, service: str) -> Limiter:
    """Return the limiter that all processes of this user share for a service."""
    from entrez_kit.services.transport.limiter import RateLimiter

    return RateLimiter(
        find_limiter_file(settings, service),
        per_second=POLICIES[service].per_second(is_keyed(settings, service)),
        min_interval_ms=pause_ms(settings, service),
    )


class RateGate:
    """Delay requests to the rate limit of their service.

    Args:
        max_waiting: returns the maximum number of waiting requests; None for no maximum.
    """

    def __init__(self, settings: Settings, max_waiting: Callable[[], int | None], limiters: LimiterFactory) -> None:
        self._max_waiting = max_waiting
        self._settings = settings
        self._make_limiter = limiters
        self._lock = threading.Lock()
        self._limiters: dict[str, Limiter] = {}
        self._slots: dict[str, threading.Semaphore] = {}
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """The number of requests that wait for a slot or for their next attempt."""
        return self._waiting

    @contextmanager
    def count_waiting(self, call: Call, *, is_new: bool) -> Iterator[None]:
        """Count the caller as a waiting request.

        Raises:
            RateLimited: the request is new and the queue is full.
        """
        max_waiting = self._max_waiting()
        with self._lock:
            if is_new and max_waiting is not None and self._waiting >= max_waiting:
                waiting = format_count(self._waiting, "request is", "requests are")
                raise RateLimited(
                    f"The queue is full: {waiting} waiting for {call.title}.",
                    recovery_hint="Retry after 1-2 seconds. Requests are sent at the rate that NCBI allows: "
                    "10 per second with a free NCBI_API_KEY, 3 without.",
                    details=call.describe("queue_full"),
                )
            self._waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting -= 1

    @contextmanager
    def slot(self, call: Call, deadline: float) -> Iterator[None]:
        """Limit the requests in flight, if the service has such a limit.

        Raises:
            UpstreamError: earlier requests did not finish before the deadline.
        """
        at_once = POLICIES[call.service].at_once
        if at_once is None:
            yield
            return
        with self._lock:
            slots = self._slots.setdefault(call.service, threading.Semaphore(at_once))
        if not slots.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise UpstreamError(
                f"Earlier requests to {call.title} did not finish in time.", details=call.describe("deadline_exceeded")
            )
        try:
            yield
        finally:
            slots.release()

    def take_slot(self, call: Call, deadline: float, *, is_new: bool) -> AbstractContextManager[None]:
        """Wait until a request of this service may be sent; return a context manager to send it in.

        The context manager may raise the same errors.

        Raises:
            RateLimited: the queue is full, or the slot is after the deadline.
            Cancelled: the consumer of the reply has stopped.
        """
        in_flight.stop_if_unneeded()
        with self._lock:
            limiter = self._limiters.get(call.service)
            if limiter is None:
                limiter = self._limiters[call.service] = self._make_limiter(self._settings, call.service)
        with self.count_waiting(call, is_new=is_new), self._refuse_late_slot(call):
            slot = limiter.acquire(deadline)
        return self._hold_while_sending(call, slot or nullcontext())

    @contextmanager
    def _hold_while_sending(self, call: Call, slot: AbstractContextManager[None]) -> Iterator[None]:
        with self._refuse_late_slot(call), slot:
            in_flight.stop_if_unneeded()
            yield
        in_flight.mark_sent()

    @contextmanager
    def _refuse_late_slot(self, call: Call) -> Iterator[None]:
        from entrez_kit.services.transport.limiter import SlotUnavailable

        try:
            yield
        except SlotUnavailable as exc:
            raise RateLimited(
                f"The queue for {call.title} is longer than the time limit of this request; "
                f"the next free slot is {exc.wait_seconds:.1f} s away.",
                details=call.describe("deadline_exceeded", wait_seconds=round(exc.wait_seconds, 1)),
            ) from None
