"""Run operations in threads, with cancellation and progress for their messages."""

import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.context import ServerRequestContext

from entrez_kit.base.errors import RateLimited
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.progress import Cancelled, Watch, watch_calls

MAX_CALLS: Final = 250
"""The maximum number of concurrent calls over all sessions; the limit of the request queue is lower."""

T = TypeVar("T")


class Workers:
    """Runs functions in threads. If a caller leaves, its thread ends at its next step."""

    def __init__(self, max_calls: int = MAX_CALLS) -> None:
        self._max_calls = max_calls
        self._running = 0
        self._lock = threading.Lock()

    @property
    def running(self) -> int:
        """The number of running calls, including those whose callers have left."""
        return self._running

    async def run(self, ctx: ServerRequestContext[Any, Any], work: Callable[[], T]) -> T:
        """Run a function in a thread; it may report progress to the caller by ``report_progress``.

        Raises:
            RateLimited: too many calls are running.
        """
        job = _Job(self, _create_reporter(ctx))
        with self._lock:
            if self._running >= self._max_calls:
                raise RateLimited(
                    f"This server is running {format_count(self._running, 'call')}, the maximum at a time.",
                    recovery_hint="Retry after a few seconds. With a free NCBI_API_KEY the limit is 10 requests per "
                    "second instead of 3, and queues are shorter.",
                    details={"reason": "queue_full"},
                )
            self._running += 1
        try:
            # anyio's limiter would not count threads of callers that left, and would wait instead of refusing.
            return await anyio.to_thread.run_sync(
                job.run, work, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
            )
        finally:
            job.leave()

    def _release(self) -> None:
        with self._lock:
            self._running -= 1


class _Job:
    """One call, counted as running until both its thread and its caller have finished."""

    def __init__(self, workers: Workers, report: Callable[[int, int | None], None]) -> None:
        self._workers = workers
        self._report = report
        self._lock = threading.Lock()
        self._begun = False
        self._left = False
        self._furthest = -1
        self._before = 0

    def run(self, work: Callable[[], T]) -> T:
        """Run the work in a thread."""
        with self._lock:
            if self._left:  # the caller left before the start, and released the slot
                raise Cancelled
            self._begun = True
        watch = Watch(wanted=lambda: not self._left, progress=self._send_progress, stage=self._stage)
        try:
            with watch_calls(watch):
                return work()
        finally:
            self._workers._release()

    def leave(self) -> None:
        """Record that the caller has its result or has left."""
        with self._lock:
            if self._left:
                return
            self._left = True
            if self._begun:
                return
        self._workers._release()

    def _stage(self, label: str) -> None:
        """Start a new stage whose progress continues from the end of the previous one."""
        self._before = max(self._furthest, 0)

    def _send_progress(self, done: int, total: int | None) -> None:
        done, total = self._before + done, None if total is None else self._before + total
        if done <= self._furthest:  # the protocol requires increasing progress
            return
        self._furthest = done
        self._report(done, total)


def _create_reporter(ctx: ServerRequestContext[Any, Any]) -> Callable[[int, int | None], None]:
    """Return a function that sends progress; the SDK drops it if the caller did not request progress."""

    def report(done: int, total: int | None) -> None:
        try:
            anyio.from_thread.run(ctx.session.report_progress, float(done), None if total is None else float(total))
        except Exception as exc:  # the caller left meanwhile, or the loop is gone
            raise Cancelled from exc

    return report
