"""Workers: operations run in threads, watched by the message that asked for them."""

import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.context import ServerRequestContext

from entrez_kit.base import tracing
from entrez_kit.base.errors import RateLimited

MAX_CALLS: Final = 250
"""Calls at the same time, over all sessions: more than may wait for NCBI, so that the queue decides and not this."""

T = TypeVar("T")


class Workers:
    """Run plain functions in threads. A caller who goes away is forgotten at once; its thread ends at its next step."""

    def __init__(self, most: int = MAX_CALLS) -> None:
        self._most = most
        self._running = 0
        self._lock = threading.Lock()

    @property
    def running(self) -> int:
        """How many calls run now, those included whose callers have left."""
        return self._running

    async def run(self, ctx: ServerRequestContext[Any, Any], work: Callable[[], T]) -> T:
        """Run a function in a thread; it may report progress to the caller by ``tracing.step``.

        Raises:
            RateLimited: too many run already.
        """
        job = _Job(self, _reporter(ctx))
        with self._lock:
            if self._running >= self._most:
                raise RateLimited(
                    f"{self._running} calls run already, and this server takes no more at a time.",
                    recovery_hint="Retry after a few seconds. With a free NCBI_API_KEY the limit is 10 requests per "
                    "second instead of 3, and queues are shorter.",
                    details={"reason": "queue_full"},
                )
            self._running += 1
        try:
            # No limit of anyio's own: it would count neither threads whose caller has left nor refuse at once.
            return await anyio.to_thread.run_sync(
                job.run, work, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
            )
        finally:
            job.leave()

    def _ended(self) -> None:
        with self._lock:
            self._running -= 1


class _Job:
    """One call: begun by its thread or given up before, and counted until the later of the two is done with it."""

    def __init__(self, workers: Workers, report: Callable[[int, int | None], None]) -> None:
        self._workers = workers
        self._report = report
        self._lock = threading.Lock()
        self._begun = False
        self._left = False
        self._furthest = -1
        self._before = 0

    def run(self, work: Callable[[], T]) -> T:
        """Do the work, in a thread."""
        with self._lock:
            if self._left:  # before it began; whoever left has given back the place
                raise tracing.Cancelled
            self._begun = True
        watch = tracing.Watch(wanted=lambda: not self._left, progress=self._progress, stage=self._stage)
        try:
            with tracing.watched(watch):
                return work()
        finally:
            self._workers._ended()

    def leave(self) -> None:
        """Note that the caller is served, or gone."""
        with self._lock:
            if self._left:
                return
            self._left = True
            if self._begun:
                return
        self._workers._ended()

    def _stage(self, label: str) -> None:
        """Let what counts from the beginning again go on from where the stage before it came to."""
        self._before = max(self._furthest, 0)

    def _progress(self, done: int, total: int | None) -> None:
        done, total = self._before + done, None if total is None else self._before + total
        if done <= self._furthest:  # the protocol wants progress to increase
            return
        self._furthest = done
        self._report(done, total)


def _reporter(ctx: ServerRequestContext[Any, Any]) -> Callable[[int, int | None], None]:
    """Return what tells the caller how far the work is; the SDK drops it where the caller did not ask to know."""

    def report(done: int, total: int | None) -> None:
        try:
            anyio.from_thread.run(ctx.session.report_progress, float(done), None if total is None else float(total))
        except Exception as exc:  # the caller left meanwhile, or the loop is gone
            raise tracing.Cancelled from exc

    return report
