"""Calls of one errand side by side: as many in flight as pace and latency ask for, their results in order.

At any time one call of an errand stands before the limiter. Once its request has left, the next call is begun, whether
the reply is there or not. So ceil(rate x latency) + 1 are in flight, without anybody measuring either, and an errand
takes one place in the queue, however much it has to ask for. What replies are made into is made in the threads.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar, copy_context
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")

MOST_HELD_BYTES: Final = 30_000_000
"""So much may have come, or be due, for results that are not taken yet; beyond it nothing more is asked for."""
AHEAD: Final = 2
"""Results begun and not yet taken, as a multiple of those in flight: whoever stops reading has not asked for much."""


class _Flight(Generic[T]):
    """One call: what it received so far, and in the end its result or what it raised."""

    def __init__(self, errand: "_OrderedPool[T]") -> None:
        self.errand = errand
        self.size = 0
        self.done = False
        self.results: list[T] = []
        self.failure: BaseException | None = None


_current: ContextVar[_Flight[Any] | None] = ContextVar("entrez_kit_flight", default=None)


def checkpoint() -> None:
    """Stop here if whoever began the running call has left.

    Raises:
        Cancelled: nobody waits for its result.
    """
    flight = _current.get()
    while flight is not None:
        if flight.errand.closed:
            raise tracing.Cancelled
        flight = flight.errand.outer


def departed() -> None:
    """Note that a request of the running call has left, so that the next call may be begun."""
    flight = _current.get()
    while flight is not None:
        flight.errand.start_next(flight)
        flight = flight.errand.outer


def received(size: int) -> None:
    """Note so many bytes that the running call holds."""
    flight = _current.get()
    while flight is not None:
        flight.size += size
        flight = flight.errand.outer


class _OrderedPool(Generic[T]):
    """Calls that are run in threads, each in a copy of the context the errand was made in.

    Args:
        paced: whether each call waits until the one before has sent its request, or has ended.
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
        self._standing: _Flight[T] | None = None
        self._all_begun = False
        self._usual_size = 0

    def begin(self) -> None:
        """Begin the next call, or all when they are not paced, as far as there are any and there is room."""
        while self._begin_one() and not self._paced:
            pass

    def _begin_one(self) -> bool:
        with self._changed:
            held = sum(flight.size or (0 if flight.done else self._usual_size) for flight in self._flights)
            if (
                self.closed
                or self._standing is not None
                or self._in_flight >= self._at_once
                or len(self._flights) >= AHEAD * self._at_once
                or held > MOST_HELD_BYTES
            ):
                return False
            flight = _Flight(self)
            try:
                call = next(self._calls)
            except StopIteration:
                self._all_begun = True
                return False
            except BaseException as exc:  # it is raised where a result would be taken
                flight.failure, flight.done = exc, True
                self._flights.append(flight)
                return False
            self._flights.append(flight)
            self._standing = flight if self._paced else None
            self._in_flight += 1
        # A daemon: whoever presses Ctrl-C need not wait for the last reply.
        run = self._context.copy().run
        threading.Thread(target=run, args=(self._run, flight, call), daemon=True, name="entrez-kit request").start()
        return True

    def _run(self, flight: _Flight[T], call: Callable[[], T]) -> None:
        _current.set(flight)
        try:
            with tracing.unreported():  # whoever takes the results tells how far the whole is
                flight.results.append(call())
        except BaseException as exc:  # it is raised again where the result is taken
            flight.failure = exc
        with self._changed:  # all at once: whoever takes the result begins the next call
            flight.done = True
            self._usual_size = flight.size
            self._in_flight -= 1
            if self._standing is flight:
                self._standing = None
            self._changed.notify_all()
        self.begin()

    def start_next(self, flight: _Flight[T]) -> None:
        """Begin the next call, if this one stood before the limiter until now."""
        with self._changed:
            if self._standing is not flight:
                return
            self._standing = None
        self.begin()

    def results(self) -> Iterator[T]:
        """Yield the results in order, each once it is there; begin no more calls when nobody takes them any more."""
        try:
            while (flight := self._next()) is not None:
                if flight.failure is not None:
                    raise flight.failure
                yield flight.results.pop()
        finally:
            self.closed = True

    def _next(self) -> _Flight[T] | None:
        self.begin()
        with self._changed:
            if not self._flights:
                assert self._all_begun, "with nothing under way the next call can always be begun"
                return None
            flight = self._flights[0]
            while not flight.done:
                self._changed.wait()
            self._flights.popleft()
        self.begin()
        return flight


def in_order(calls: Iterable[Callable[[], T]], at_once: int) -> Iterator[T]:
    """Run calls side by side and yield their results in order; begun with the first that is wanted.

    Args:
        calls: run in threads; taken one by one, each when it can be begun. With a single one at a time they are run
            here, each when its result is wanted.
        at_once: how many may be under way.

    Raises:
        BaseException: what a call raised, where its result would have come. The calls after it are given up.
    """
    if at_once > 1:
        yield from _OrderedPool(calls, at_once).results()
        return
    for call in calls:
        yield call()


def all_at_once(calls: Iterable[Callable[[], T]]) -> list[T]:
    """Run calls at the same time and return their results in order.

    Raises:
        BaseException: what the first of the calls that failed raised.
    """
    calls = list(calls)
    return list(_OrderedPool(calls, max(len(calls), 1), paced=False).results())


def begun(calls: Iterable[Callable[[], T]]) -> list[Callable[..., T]]:
    """Begin calls beside whatever comes next, one after the other as ``in_order`` does.

    Each function returned waits for the result of one; any thread may, and as often as it likes. Where it is given
    seconds, it raises TimeoutError after so many, and the call goes on in its own thread.
    """

    def settle(call: Callable[[], T], result: "Future[T]") -> None:
        try:
            result.set_result(call())
        except BaseException as exc:  # it is raised where somebody waits
            result.set_exception(exc)

    from concurrent.futures import Future

    calls = list(calls)
    results: list[Future[T]] = [Future() for _ in calls]
    _OrderedPool(map(partial, repeat(settle), calls, results), max(len(calls), 1)).begin()
    return [result.result for result in results]


def in_background(call: Callable[[], T]) -> Callable[..., T]:
    """Begin a call beside whatever comes next; the function returned waits for its result."""
    return begun([call])[0]


# Identical requests that are asked for at the same time go out once


class FollowerTimeout(Exception):
    """The one who sends the request was not done before this caller's deadline."""


class _SharedRequest(Generic[T]):
    """A request on its way, and in the end its result or error; neither when its leader was interrupted."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.result: T | None = None
        self.error: Exception | None = None


class SingleFlight(Generic[T]):
    """Let the first caller of a key do the work, and the others wait for what comes of it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[str, _SharedRequest[T]] = {}

    def do(self, key: str, work: Callable[[], T], deadline: float) -> tuple[T, bool]:
        """Return what the work came to, and whether this caller did it.

        A follower gets the leader's result or a copy of its error. A leader that is interrupted (Ctrl-C) strands
        nobody: the next follower takes over.

        Raises:
            FollowerTimeout: the leader took longer than this caller's deadline.
        """
        while True:
            with self._lock:
                flight = self._flights.get(key)
                leads = flight is None
                if flight is None:
                    flight = self._flights[key] = _SharedRequest()
            if leads:
                return self._lead(key, flight, work), True
            if not flight.done.wait(max(0.0, deadline - time.monotonic())):
                raise FollowerTimeout
            if flight.error is not None:
                # One exception must not be raised in two threads.
                raise flight.error.copy_with() if isinstance(flight.error, EntrezKitError) else flight.error
            if flight.result is not None:
                return flight.result, False

    def _lead(self, key: str, flight: _SharedRequest[T], work: Callable[[], T]) -> T:
        try:
            flight.result = work()
            return flight.result
        except Exception as exc:
            flight.error = exc
            raise
        finally:
            with self._lock:
                del self._flights[key]
            flight.done.set()
