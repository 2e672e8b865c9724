"""Ask a service about many ids, batch by batch, so that one bad id or one lost batch does not sink the others."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from entrez_kit import tracing
from entrez_kit.errors import EntityNotFound, EntrezKitError, RateLimited, UpstreamError

PROBE_WAITS: Final = (1.0, 3.0, 9.0)
"""Seconds before each probe of a service that did not answer one of many batches."""

HOPELESS: Final = frozenset(
    {"offline", "refused", "redirected", "retired", "new_parameter", "no_such_address", "unexpected_status"}
)
"""Reasons that are the same for any request."""
BAD_ANSWERS: Final = frozenset({"invalid_response", "incomplete", "contradiction", "too_large", "ncbi_unreachable"})
"""Reasons that may lie in one record: the service is there, and cannot give this answer."""

Answer = TypeVar("Answer")
Refusal = type[EntrezKitError]


@dataclass(slots=True)
class Asked(Generic[Answer]):
    """What became of many ids.

    ``answers`` are the replies in order, each with the ids it was asked for; ``refused`` are ids the service does not
    take or does not know, ``failed`` those it gave no answer about.
    """

    answers: list[tuple[list[str], Answer]] = field(default_factory=list)
    refused: dict[str, EntrezKitError] = field(default_factory=dict)
    failed: dict[str, EntrezKitError] = field(default_factory=dict)


@dataclass(slots=True)
class Pulse:
    """Whether a service still answers, over all batches of one errand.

    A batch that fails says little: the fault may lie in one record, or pass. So the service is asked for one id at a
    time, more and more slowly, until it answers or is given up.

    Args:
        patient: whether much is at stake: many batches are, and an outage of a minute is waited for.
        stopped_by: why the service is given up; None while it is not.
    """

    patient: bool = False
    stopped_by: EntrezKitError | None = None

    def returns(
        self,
        failure: EntrezKitError,
        ids: Sequence[str],
        ask: Callable[[list[str]], object],
        refusals: tuple[Refusal, ...] = (),
    ) -> bool:
        """Tell whether the service answers again after a failure, for any of a few of these ids; else give it up."""
        probes = [ids[0], ids[-1], ids[len(ids) // 2]]
        for uid, wait in zip(probes, self.waits(failure), strict=False):
            time.sleep(wait)
            try:
                ask([uid])
            except refusals:
                return True
            except (UpstreamError, RateLimited) as exc:
                failure = exc
            else:
                return True
        self.stopped_by = failure
        return False

    def waits(self, failure: EntrezKitError) -> Sequence[float]:
        """Return the seconds before each attempt that is worth making after a failure."""
        if failure.reason in HOPELESS:
            return ()
        return PROBE_WAITS if self.patient else (0.0, 0.0) if failure.reason in BAD_ANSWERS else ()


def in_batches(
    ids: Sequence[str],
    size: int,
    ask: Callable[[list[str]], Answer],
    *,
    refusals: tuple[Refusal, ...] = (EntityNotFound,),
    pulse: Pulse | None = None,
) -> Asked[Answer]:
    """Ask for ids in batches.

    A batch that is refused or fails is halved until it is known which id is to blame. After a failure one id at a time
    is tried, slowly; when none is answered any more, the rest is not tried.

    Args:
        ids: what to ask for, each once.
        size: ids per request.
        ask: sends one request and reads the reply.
        refusals: errors by which the service refuses a batch for the sake of some of its ids.
        pulse: what is known of the service from calls before; the next ones are told through it.
    """
    asked: Asked[Answer] = Asked()
    pulse = pulse or Pulse(patient=len(ids) > size)
    for start in range(0, len(ids), size):
        _ask(list(ids[start : start + size]), list(ids[start:]), ask, refusals, asked, pulse)
        if len(ids) > size:  # of a single request there is no progress to tell
            tracing.step(min(start + size, len(ids)), len(ids))
        else:
            tracing.checkpoint()
    return asked


def _ask(
    batch: list[str],
    probes: list[str],
    ask: Callable[[list[str]], Answer],
    refusals: tuple[Refusal, ...],
    asked: Asked[Answer],
    pulse: Pulse,
) -> None:
    """Ask for one batch, and for its halves where it fails and the service goes on answering."""
    if pulse.stopped_by is not None:
        asked.failed |= dict.fromkeys(batch, not_tried(pulse.stopped_by))
        return
    try:
        asked.answers.append((batch, ask(batch)))
        return
    except refusals as exc:
        if len(batch) == 1:
            asked.refused[batch[0]] = exc
            return
    except (UpstreamError, RateLimited) as exc:
        if len(probes) == 1 or not pulse.returns(exc, probes, ask, refusals) or len(batch) == 1:
            asked.failed |= dict.fromkeys(batch, exc)
            return
    middle = len(batch) // 2
    for half in (batch[:middle], batch[middle:]):
        _ask(half, half, ask, refusals, asked, pulse)


def not_tried(cause: EntrezKitError) -> EntrezKitError:
    """Return the error for what was not asked for any more, because the service does not answer."""
    return type(cause)(
        f"Not tried, because requests before it failed: {cause.message}",
        recovery_hint=cause.recovery_hint,
        details=cause.details,
    )


# Requests sent without waiting for one another's answers; the limiter still spaces them


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
