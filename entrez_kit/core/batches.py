"""Ask a service about many ids, batch by batch, so that one bad id or one lost batch does not sink the others."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Final, Generic, TypeVar

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, RateLimited, UpstreamError
from entrez_kit.services.transport.in_flight import in_order

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
class CircuitBreaker:
    """Whether a service still answers, over all batches of one errand.

    A batch that fails says little: the fault may lie in one record, or pass. So the service is asked for one id at a
    time, more and more slowly, until it answers or is given up.

    Args:
        patient: whether much is at stake: many batches are, and an outage of a minute is waited for.
        stopped_by: why the service is given up; None while it is not.
        answered: when it last answered after a failure, as `time.monotonic` counts.
    """

    patient: bool = False
    stopped_by: EntrezKitError | None = None
    answered: float = -inf

    def returns(
        self,
        failure: EntrezKitError,
        ids: Sequence[str],
        ask: Callable[[list[str]], object],
        refusals: tuple[Refusal, ...] = (),
        *,
        since: float,
    ) -> bool:
        """Tell whether the service answers again after a failure, for any of a few of these ids; else give it up.

        Args:
            since: when it failed, as `time.monotonic` counts; of batches in flight together several may.
        """
        if self.answered > since:
            return True
        probes = [ids[0], ids[-1], ids[len(ids) // 2]]
        for uid, wait in zip(probes, self.waits(failure), strict=False):
            time.sleep(wait)
            try:
                with suppress(*refusals):
                    ask([uid])
            except (UpstreamError, RateLimited) as exc:
                failure = exc
            else:
                self.answered = time.monotonic()
                return True
        self.stopped_by = failure
        return False

    def waits(self, failure: EntrezKitError) -> Sequence[float]:
        """Return the seconds before each attempt that is worth making after a failure."""
        if failure.reason in HOPELESS:
            return ()
        return PROBE_WAITS if self.patient else (0.0, 0.0) if failure.reason in BAD_ANSWERS else ()


@dataclass(frozen=True, slots=True, eq=False)
class BatchOutcome(Generic[Answer]):
    """What became of some of many ids: the answer, or the error they came to.

    ``refused`` tells whether the service does not take or does not know them; else it gave no answer.
    """

    ids: list[str]
    answers: tuple[Answer, ...] = ()
    error: EntrezKitError | None = None
    refused: bool = False
    at: float = field(default_factory=time.monotonic)


def fetch_in_batches(
    ids: Sequence[str],
    size: int,
    ask: Callable[[list[str]], Answer],
    *,
    refusals: tuple[Refusal, ...] = (EntityNotFound,),
    breaker: CircuitBreaker | None = None,
    at_once: int = 1,
) -> Iterator[BatchOutcome[Answer]]:
    """Ask for ids in batches, and yield what becomes of them, in order.

    A batch that is refused or fails is halved until it is known which id is to blame. After a failure one id at a time
    is tried, slowly, and no further batch is begun meanwhile; when none is answered any more, the rest is not tried.

    Args:
        ids: what to ask for.
        size: ids per request.
        ask: sends one request and reads the reply; called in threads where several are in flight.
        refusals: errors by which the service refuses a batch for the sake of some of its ids.
        breaker: what is known of the service from calls before; the next ones are told through it.
        at_once: how many requests may be in flight.
    """
    breaker = breaker or CircuitBreaker(patient=len(ids) > size)
    failed: list[BatchOutcome[Answer]] = []
    calm = threading.Event()
    calm.set()

    def tried(batch: list[str]) -> BatchOutcome[Answer]:
        if breaker.stopped_by is not None:
            return BatchOutcome(batch, error=not_tried(breaker.stopped_by))
        try:
            return BatchOutcome(batch, (ask(batch),))
        except refusals as exc:
            return BatchOutcome(batch, error=exc, refused=True)
        except (UpstreamError, RateLimited) as exc:
            return BatchOutcome(batch, error=exc)

    def begun(batch: list[str]) -> BatchOutcome[Answer]:
        calm.wait()
        part = tried(batch)
        if part.error is not None and not part.refused:
            failed.append(part)
            calm.clear()
        return part

    def settled(part: BatchOutcome[Answer], probes: list[str]) -> Iterator[BatchOutcome[Answer]]:
        """Yield a part, or those of its halves where it failed and the service goes on answering."""
        error, is_one = part.error, len(part.ids) == 1
        if error is None or part.refused:
            ends = error is None or is_one
        else:
            ends = breaker.stopped_by is not None or len(probes) == 1
            ends = ends or not breaker.returns(error, probes, ask, refusals, since=part.at) or is_one
        if part in failed:
            failed.remove(part)
        if not failed:
            calm.set()
        if ends:
            yield part
            return
        middle = len(part.ids) // 2
        halves = [part.ids[:middle], part.ids[middle:]]
        for half in in_order((partial(tried, half) for half in halves), at_once):
            yield from settled(half, half.ids)

    batches = [list(ids[start : start + size]) for start in range(0, len(ids), size)]
    parts = in_order((partial(begun, batch) for batch in batches), at_once if len(batches) > 1 else 1)
    try:
        for number, part in enumerate(parts):
            done = number * size
            yield from settled(part, list(ids[done:]))
            if len(batches) > 1:  # of a single request there is no progress to tell
                tracing.step(done + len(part.ids), len(ids))
            else:
                tracing.checkpoint()
    finally:
        calm.set()


def in_batches(
    ids: Sequence[str],
    size: int,
    ask: Callable[[list[str]], Answer],
    *,
    refusals: tuple[Refusal, ...] = (EntityNotFound,),
    breaker: CircuitBreaker | None = None,
    at_once: int = 1,
) -> Asked[Answer]:
    """Ask for ids, each once, in batches as ``fetch_in_batches`` does, and return all that becomes of them."""
    asked: Asked[Answer] = Asked()
    for part in fetch_in_batches(ids, size, ask, refusals=refusals, breaker=breaker, at_once=at_once):
        if part.error is None:
            asked.answers.append((part.ids, part.answers[0]))
        else:
            (asked.refused if part.refused else asked.failed).update(dict.fromkeys(part.ids, part.error))
    return asked


def not_tried(cause: EntrezKitError) -> EntrezKitError:
    """Return the error for what was not asked for any more, because the service does not answer."""
    return cause.copy_with(f"Not tried, because requests before it failed: {cause.message}")
