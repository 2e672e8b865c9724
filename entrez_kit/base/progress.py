"""Progress and cancellation of long calls.

The outermost layer gives its callbacks to ``watch_calls``. The operation inside calls ``report_progress``.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


class Cancelled(BaseException):
    """The caller cancelled the call. This is not an error, and error handlers must not catch it."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Callbacks for a long call: whether to continue, its progress, and its next stage."""

    wanted: Callable[[], bool]
    progress: Callable[[int, int | None], None]
    stage: Callable[[str], None] = lambda label: None


_watch: ContextVar[Watch | None] = ContextVar("entrez_kit_watch", default=None)


@contextmanager
def watch_calls(watch: Watch) -> Iterator[None]:
    """Use these callbacks for the calls in this block."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


@contextmanager
def suppress_progress() -> Iterator[None]:
    """Allow cancellation of this block without reports of progress, because it runs concurrently with other parts."""
    watch = _watch.get()
    if watch is None:
        yield
        return
    with watch_calls(Watch(wanted=watch.wanted, progress=lambda done, total: None)):
        yield


def stop_if_cancelled() -> None:
    """Stop the call if the caller cancelled it.

    Raises:
        Cancelled: the caller cancelled the call.
    """
    watch = _watch.get()
    if watch is not None and not watch.wanted():
        raise Cancelled


def report_progress(done: int, total: int | None = None) -> None:
    """Report the progress of a long call between two requests, and stop if the caller cancelled it.

    Raises:
        Cancelled: the caller cancelled the call.
    """
    stop_if_cancelled()
    watch = _watch.get()
    if watch is not None:
        watch.progress(done, total)


def begin_stage(label: str) -> None:
    """Report that a new stage of a long call begins; its progress starts at 0."""
    watch = _watch.get()
    if watch is not None:
        watch.stage(label)
