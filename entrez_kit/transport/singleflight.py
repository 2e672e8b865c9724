"""SingleFlight: identical requests that are asked for at the same time go out once."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from entrez_kit.errors import EntrezKitError

T = TypeVar("T")


class FollowerTimeout(Exception):
    """The one who sends the request was not done before this caller's deadline."""


class _Flight(Generic[T]):
    """A request on its way, and in the end its result or error; neither when its leader was interrupted."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.result: T | None = None
        self.error: Exception | None = None


class SingleFlight(Generic[T]):
    """Let the first caller of a key do the work, and the others wait for what comes of it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[str, _Flight[T]] = {}

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
                    flight = self._flights[key] = _Flight()
            if leads:
                return self._lead(key, flight, work), True
            if not flight.done.wait(max(0.0, deadline - time.monotonic())):
                raise FollowerTimeout
            if flight.error is not None:
                raise copy_of(flight.error)
            if flight.result is not None:
                return flight.result, False

    def _lead(self, key: str, flight: _Flight[T], work: Callable[[], T]) -> T:
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


def copy_of(error: Exception) -> Exception:
    """Return an equal error with a traceback of its own: one exception must not be raised in two threads."""
    if not isinstance(error, EntrezKitError):
        return error
    return type(error)(
        error.message,
        recovery_hint=error.recovery_hint,
        invalid_input=error.invalid_input,
        details=error.details,
    )
