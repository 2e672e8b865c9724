"""Gate: who may send a request now. A limiter for each service, and a count of those who wait."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from entrez_kit.base.errors import RateLimited, UpstreamError
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport import Call, in_flight
from entrez_kit.services.transport.policy import POLICIES, is_keyed, limiter_file, pause_ms


class Limiter(Protocol):
    """What the gate needs of a limiter."""

    def acquire(self, deadline: float | None = None) -> AbstractContextManager[None] | None:
        """Block until a request may be sent; return what is to be held while it leaves, if anything is."""


LimiterFactory = Callable[[Settings, str], Limiter]


def shared_limiter(settings: Settings, service: str) -> Limiter:
    """Return the limiter that all processes of this user share for a service."""
    from entrez_kit.services.transport.limiter import RateLimiter

    return RateLimiter(
        limiter_file(settings, service),
        per_second=POLICIES[service].per_second(is_keyed(settings, service)),
        min_interval_ms=pause_ms(settings, service),
    )


class RateGate:
    """Let requests out at the pace of their service.

    Args:
        max_waiting: tells how many requests may wait before the next one is refused; None for any number.
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
        """How many requests wait for a slot or for their next attempt."""
        return self._waiting

    @contextmanager
    def queued(self, call: Call, *, is_new: bool) -> Iterator[None]:
        """Count the caller among those who wait.

        Raises:
            RateLimited: a new request finds the queue full.
        """
        most = self._max_waiting()
        with self._lock:
            if is_new and most is not None and self._waiting >= most:
                raise RateLimited(
                    f"{self._waiting} requests wait for {call.title} already.",
                    recovery_hint="Retry after 1-2 seconds; the queue is emptied at the rate NCBI allows. "
                    "With a free NCBI_API_KEY that is 10 requests per second instead of 3.",
                    details=call.about("queue_full"),
                )
            self._waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting -= 1

    @contextmanager
    def slot(self, call: Call, deadline: float) -> Iterator[None]:
        """Hold one of the places in flight, where the service limits these.

        Raises:
            UpstreamError: none got free before the deadline.
        """
        at_once = POLICIES[call.service].at_once
        if at_once is None:
            yield
            return
        with self._lock:
            slots = self._slots.setdefault(call.service, threading.Semaphore(at_once))
        if not slots.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise UpstreamError(
                f"Earlier requests to {call.title} were not done in time.", details=call.about("deadline_exceeded")
            )
        try:
            yield
        finally:
            slots.release()

    def take_slot(self, call: Call, deadline: float, *, is_new: bool) -> AbstractContextManager[None]:
        """Wait until a request of this service may be sent; return what is to be held while its bytes leave.

        That, too, raises what is said here.

        Raises:
            RateLimited: the queue is full, or the slot would come after the deadline.
            Cancelled: nobody waits for the reply any more.
        """
        in_flight.checkpoint()
        with self._lock:
            limiter = self._limiters.get(call.service)
            if limiter is None:
                limiter = self._limiters[call.service] = self._make_limiter(self._settings, call.service)
        with self.queued(call, is_new=is_new), self._in_time(call):
            slot = limiter.acquire(deadline)
        return self._departure(call, slot or nullcontext())

    @contextmanager
    def _departure(self, call: Call, slot: AbstractContextManager[None]) -> Iterator[None]:
        with self._in_time(call), slot:
            in_flight.checkpoint()
            yield
        in_flight.departed()

    @contextmanager
    def _in_time(self, call: Call) -> Iterator[None]:
        from entrez_kit.services.transport.limiter import SlotUnavailable

        try:
            yield
        except SlotUnavailable as exc:
            raise RateLimited(
                f"Requests to {call.title} queue longer than this one may take; "
                f"the next free slot is {exc.wait_seconds:.1f} s away.",
                details=call.about("deadline_exceeded", wait_seconds=round(exc.wait_seconds, 1)),
            ) from None
