"""Send identical concurrent requests once."""

import threading
import time
from collections.abc import Callable
from typing import Generic

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.services.transport import T


class FollowerTimeout(Exception):
    """The caller that sends the request did not finish before this caller's deadline."""


class _SharedRequest(Generic[T]):
    """A request in progress, and its result or error when it is done; neither if its leader was interrupted."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.result: T | None = None
        self.error: Exception | None = None


class SingleFlight(Generic[T]):
    """Let the first caller with a key do the work; the other callers wait for its result."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[str, _SharedRequest[T]] = {}

    def do(self, key: str, work: Callable[[], T], deadline: float) -> tuple[T, bool]:
        """Return the result of the work, and whether this caller did it.

        A follower gets the leader's result or a copy of its error. If the leader is interrupted (Ctrl-C), the next
        follower does the work.

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
                # Each thread raises its own error. Other exceptions are defects.
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
