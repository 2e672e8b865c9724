"""Run the calls of one operation concurrently and return their results in order.

One call of a pool at a time waits for the limiter. When its request is sent, the pool starts the next call without
waiting for the reply. So ceil(rate x latency) + 1 calls are in flight, although nothing is measured. A pool takes one
place in the queue, regardless of the number of its calls. The threads also parse the replies.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar, copy_context
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from entrez_kit.base.progress import Cancelled, suppress_progress
from entrez_kit.services.transport import count_received

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")

MAX_HELD_BYTES: Final = 30_000_000
"""Limit of bytes, received or expected, for results that are not consumed yet; above it no further call starts."""
AHEAD: Final = 2
"""Limit of started results that are not consumed yet, as a multiple of ``at_once``, in case the consumer stops."""


class _Flight(Generic[T]):
    """One call: the bytes it received so far, and its result or exception when it is done."""

    def __init__(self, pool: "_OrderedPool[T]") -> None:
        self.pool = pool
        self.size = 0
        self.done = False
        self.results: list[T] = []
        self.failure: BaseException | None = None


_current: ContextVar[_Flight[Any] | None] = ContextVar("entrez_kit_flight", default=None)


def stop_if_unneeded() -> None:
    """Stop the current call if its result is no longer needed.

    Raises:
        Cancelled: the consumer of its result has stopped.
    """
    flight = _current.get()
    while flight is not None:
        if flight.pool.closed:
            raise Cancelled
        flight = flight.pool.outer


def mark_sent() -> None:
    """Record that the current call has sent its request, so that the next call can start."""
    flight = _current.get()
    while flight is not None:
        flight.pool.start_next(flight)
        flight = flight.pool.outer


def add_received(size: int) -> None:
    """Add ``size`` to the bytes that the current call holds."""
    flight = _current.get()
    while flight is not None:
        flight.size += size
        flight = flight.pool.outer


class _OrderedPool(Generic[T]):
    """Run calls in threads, each in a copy of the context in which the pool was created.

    Args:
        paced: whether each call waits until the previous one has sent its request or has ended.
    """

    def __init__(self, calls: Iterable[Callable[[], T]], at_once: int, *, paced: bool = True) -> None:
        self.outer = _current.get()
        self.closed = False
        self._calls = iter(calls)
        self._at_once = at_once
        self._paced = paced
        self._context = copy_context()
        self._changed = threading.Condition()
        self._flights: deque[_Flight[T]] = deque()
        self._in_flight = 0
        self._at_limiter: _Flight[T] | None = None
        self._all_begun = False
        self._usual_size = 0

    def begin(self) -> None:
        """Start the next call, or all calls if they are not paced, within the limits of the pool."""
        while self._begin_one() and not self._paced:
            pass

    def _begin_one(self) -> bool:
        with self._changed:
            buffered_bytes = sum(flight.size or (0 if flight.done else self._usual_size) for flight in self._flights)
            if (
                self.closed
                or self._at_limiter is not None
                or self._in_flight >= self._at_once
                or len(self._flights) >= AHEAD * self._at_once
                or buffered_bytes > MAX_HELD_BYTES
            ):
                return False
            flight = _Flight(self)
            try:
                call = next(self._calls)
            except StopIteration:
                self._all_begun = True
                return False
            except BaseException as exc:  # raised where the consumer would get a result
                flight.failure, flight.done = exc, True
                self._flights.append(flight)
                return False
            self._flights.append(flight)
            self._at_limiter = flight if self._paced else None
            self._in_flight += 1
        # A daemon thread: Ctrl-C does not wait for the last reply.
        run = self._context.copy().run
        threading.Thread(
            target=run, args=(self._run_flight, flight, call), daemon=True, name="entrez-kit request"
        ).start()
        return True

    def _run_flight(self, flight: _Flight[T], call: Callable[[], T]) -> None:
        _current.set(flight)
        count_received.set(add_received)
        try:
            with suppress_progress():  # the consumer of the results reports the progress
                flight.results.append(call())
        except BaseException as exc:  # raised again where the result is consumed
            flight.failure = exc
        with self._changed:  # one update: the consumer of the result starts the next call
            flight.done = True
            self._usual_size = flight.size
            self._in_flight -= 1
            if self._at_limiter is flight:
                self._at_limiter = None
            self._changed.notify_all()
        self.begin()

    def start_next(self, flight: _Flight[T]) -> None:
        """Start the next call if this one was the call at the limiter."""
        with self._changed:
            if self._at_limiter is not flight:
                return
            self._at_limiter = None
        self.begin()

    def yield_results(self) -> Iterator[T]:
        """Yield the results in order as they complete; start no further call when the consumer stops."""
        try:
            while (flight := self._take_next()) is not None:
                if flight.failure is not None:
                    raise flight.failure
                yield flight.results.pop()
        finally:
            self.closed = True

    def _take_next(self) -> _Flight[T] | None:
        self.begin()
        with self._changed:
            if not self._flights:
                assert self._all_begun, "if no call is in flight, the next call can always start"
                return None
            flight = self._flights[0]
            while not flight.done:
                self._changed.wait()
            self._flights.popleft()
        self.begin()
        return flight


def run_in_order(calls: Iterable[Callable[[], T]], at_once: int) -> Iterator[T]:
    """Run calls concurrently and yield their results in order. The calls start when the first result is requested.

    Args:
        calls: run in threads; each is taken from the iterable when it can start. If ``at_once`` is 1, they run in the
            current thread, each when its result is requested.
        at_once: maximum number of calls in flight.

    Raises:
        BaseException: the exception of a call, at the position of its result. The calls after it are abandoned.
    """
    if at_once > 1:
        yield from _OrderedPool(calls, at_once).yield_results()
        return
    for call in calls:
        yield call()


def run_all(calls: Iterable[Callable[[], T]]) -> list[T]:
    """Run all calls concurrently and return their results in order.

    Raises:
        BaseException: the exception of the first call that failed.
    """
    calls = list(calls)
    return list(_OrderedPool(calls, max(len(calls), 1), paced=False).yield_results())


def start_all(calls: Iterable[Callable[[], T]]) -> list[Callable[..., T]]:
    """Start calls in the background, paced as ``run_in_order`` paces them.

    Each returned function waits for the result of one call; any thread may call it, any number of times. With a number
    of seconds as argument it raises TimeoutError after that time, and the call continues in its own thread.
    """

    def settle(call: Callable[[], T], result: "Future[T]") -> None:
        try:
            result.set_result(call())
        except BaseException as exc:  # raised in the thread that waits
            result.set_exception(exc)

    from concurrent.futures import Future

    calls = list(calls)
    results: list[Future[T]] = [Future() for _ in calls]
    _OrderedPool(map(partial, repeat(settle), calls, results), max(len(calls), 1)).begin()
    return [result.result for result in results]


def start_in_background(call: Callable[[], T]) -> Callable[..., T]:
    """Start a call in the background; the returned function waits for its result."""
    return start_all([call])[0]
