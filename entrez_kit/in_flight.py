"""Send requests without waiting for one another's answers; the limiter still spaces them."""

import threading
from collections.abc import Callable, Iterable
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


def in_background(call: Callable[[], T]) -> Callable[[], T]:
    """Start a call in a thread of its own, in a copy of this context; the function returned waits for its result."""
    results: list[T] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as exc:  # it is raised again in the thread that waits
            failures.append(exc)

    # A daemon: whoever presses Ctrl-C need not wait for the last reply.
    thread = threading.Thread(target=copy_context().run, args=(work,), daemon=True, name="entrez-kit request")
    thread.start()

    def wait() -> T:
        thread.join()
        if failures:
            raise failures[0]
        return results[0]

    return wait


def all_at_once(calls: Iterable[Callable[[], T]]) -> list[T]:
    """Run calls at the same time and return their results in order.

    Raises:
        BaseException: what the first of the calls that failed raised.
    """
    return [wait() for wait in [in_background(call) for call in calls]]
