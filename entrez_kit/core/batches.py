"""Request many ids from a service in batches, so that one bad id or one failed batch does not affect the others."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Final, Generic, TypeVar

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, RateLimited, UpstreamError
from entrez_kit.base.progress import report_progress, stop_if_cancelled
from entrez_kit.services.transport.in_flight import run_in_order

PROBE_WAITS: Final = (1.0, 3.0, 9.0)
"""Seconds to wait before each probe of a service that did not answer one of many batches."""

SERVICE_FAILURES: Final = frozenset(
    (
        *("offline", "not_recorded", "refused", "redirected", "retired", "new_parameter", "no_such_address"),
        "unexpected_status",
    )
)
"""Reasons of failures that any other request would meet too."""
BAD_REPLY_REASONS: Final = frozenset(
    {"invalid_response", "incomplete", "contradiction", "too_large", "ncbi_unreachable"}
)
"""Reasons that one record may cause: the service runs, but its reply is unusable."""

Answer = TypeVar("Answer")
Refusal = type[EntrezKitError]


@dataclass(slots=True)
class BatchedAnswers(Generic[Answer]):
    """The outcome for many ids.

    ``answers`` are the replies in order, each with the ids of its request. ``refused`` are the ids that the service
    rejected or does not know, ``failed`` those for which it did not answer.
    """

    answers: list[tuple[list[str], Answer]] = field(default_factory=list)
    refused: dict[str, EntrezKitError] = field(default_factory=dict)
    failed: dict[str, EntrezKitError] = field(default_factory=dict)


@dataclass(slots=True)
class CircuitBreaker:
    """Decide whether a service is still available; shared by all batches of one call.

    The cause of a failed batch may be one record, or temporary. The breaker therefore requests single ids with growing
    waits. If none of these probes is answered, it stops all further requests.

    Args:
        patient: whether to probe with long waits, which bridges a short outage; for calls of many batches.
        stopped_by: the error that stopped the requests; None while they go on.
        answered: time of the last answered probe, as `time.monotonic` counts.
    """

    patient: bool = False
    stopped_by: EntrezKitError | None = None
    answered: float = -inf

    def probe(
        self,
        failure: EntrezKitError,
        ids: Sequence[str],
        fetch: Callable[[list[str]], object],
        refusals: tuple[Refusal, ...] = (),
        *,
        since: float,
    ) -> bool:
        """Send probes for some of these ids until one is answered; if none is, stop all further requests.

        Args:
            since: time of the failure, as `time.monotonic` counts. If a probe was answered after it, none is sent:
                batches in flight together can fail together.

        Returns:
            Whether the service is available.
        """
        if self.answered > since:
            return True
        probes = [ids[0], ids[-1], ids[len(ids) // 2]]
        for uid, wait in zip(probes, self.probe_waits(failure), strict=False):
            time.sleep(wait)
            try:
                with suppress(*refusals):
                    fetch([uid])
            except (UpstreamError, RateLimited) as exc:
                failure = exc
            else:
                self.answered = time.monotonic()
                return True
        self.stopped_by = failure
        return False

    def probe_waits(self, failure: EntrezKitError) -> Sequence[float]:
        """Return the seconds to wait before each probe; empty if probes are useless after this failure."""
        if failure.reason in SERVICE_FAILURES:
            return ()
        return PROBE_WAITS if self.patient else (0.0, 0.0) if failure.reason in BAD_REPLY_REASONS else ()


@dataclass(frozen=True, slots=True, eq=False)
class BatchOutcome(Generic[Answer]):
    """The outcome of one batch: the answer or the error.

    ``refused`` is true if the service rejected the ids or does not know them, and false if it did not answer.
    """

    ids: list[str]
    answers: tuple[Answer, ...] = ()
    error: EntrezKitError | None = None
    refused: bool = False
    at: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class _BatchRun(Generic[Answer]):
    """The batches of one call.

    ``failed`` are the failed batches whose ids are not probed yet. No new batch starts until ``calm`` is set again.
    """

    fetch: Callable[[list[str]], Answer]
    refusals: tuple[Refusal, ...]
    breaker: CircuitBreaker
    at_once: int
    failed: list[BatchOutcome[Answer]] = field(default_factory=list)
    calm: threading.Event = field(default_factory=threading.Event)

    def try_batch(self, batch: list[str]) -> BatchOutcome[Answer]:
        if self.breaker.stopped_by is not None:
            return BatchOutcome(batch, error=not_tried_error(self.breaker.stopped_by))
        try:
            return BatchOutcome(batch, (self.fetch(batch),))
        except self.refusals as exc:
            return BatchOutcome(batch, error=exc, refused=True)
        except (UpstreamError, RateLimited) as exc:
            return BatchOutcome(batch, error=exc)

    def start_batch(self, batch: list[str]) -> BatchOutcome[Answer]:
        """Try a batch as soon as no failed batch is left to probe."""
        self.calm.wait()
        part = self.try_batch(batch)
        if part.error is not None and not part.refused:
            self.failed.append(part)
            self.calm.clear()
        return part

    def settle(self, part: BatchOutcome[Answer], probes: list[str]) -> Iterator[BatchOutcome[Answer]]:
        """Yield an outcome; of a failed batch the outcomes of its halves, if the service is still available."""
        is_final = self.decide_final(part, probes)
        if part in self.failed:
            self.failed.remove(part)
        if not self.failed:
            self.calm.set()
        if is_final:
            yield part
            return
        middle = len(part.ids) // 2
        halves = (partial(self.try_batch, half) for half in (part.ids[:middle], part.ids[middle:]))
        for half in run_in_order(halves, self.at_once):
            yield from self.settle(half, half.ids)

    def decide_final(self, part: BatchOutcome[Answer], probes: list[str]) -> bool:
        """Send the probes that decide whether a failed batch is halved; return whether the batch stays as it is."""
        is_one = len(part.ids) == 1
        if part.error is None or part.refused:
            return part.error is None or is_one
        if self.breaker.stopped_by is not None or len(probes) == 1:
            return True
        return not self.breaker.probe(part.error, probes, self.fetch, self.refusals, since=part.at) or is_one


def fetch_in_batches(
    ids: Sequence[str],
    size: int,
    fetch: Callable[[list[str]], Answer],
    *,
    refusals: tuple[Refusal, ...] = (EntityNotFound,),
    breaker: CircuitBreaker | None = None,
    at_once: int = 1,
) -> Iterator[BatchOutcome[Answer]]:
    """Request ids in batches and yield the outcomes in order.

    A batch that is refused or fails is halved until the bad id is known. After a failure the breaker probes the service
    with single ids, and no new batch starts in the meantime. If no probe is answered, the remaining ids are not tried.

    Args:
        size: ids per request.
        fetch: sends one request and parses the reply; runs in threads if several requests are in flight.
        refusals: errors with which the service refuses a whole batch because of some of its ids.
        breaker: the breaker of earlier calls, if calls share one.
        at_once: the maximum number of requests in flight.
    """
    run = _BatchRun(fetch, refusals, breaker or CircuitBreaker(patient=len(ids) > size), at_once)
    run.calm.set()
    batches = [list(ids[start : start + size]) for start in range(0, len(ids), size)]
    parts = run_in_order((partial(run.start_batch, batch) for batch in batches), at_once if len(batches) > 1 else 1)
    try:
        for number, part in enumerate(parts):
            done = number * size
            yield from run.settle(part, list(ids[done:]))
            if len(batches) > 1:  # a single request has no progress to report
                report_progress(done + len(part.ids), len(ids))
            else:
                stop_if_cancelled()
    finally:
        run.calm.set()


def collect_batches(
    ids: Sequence[str],
    size: int,
    fetch: Callable[[list[str]], Answer],
    *,
    refusals: tuple[Refusal, ...] = (EntityNotFound,),
    breaker: CircuitBreaker | None = None,
    at_once: int = 1,
) -> BatchedAnswers[Answer]:
    """Request each id once with ``fetch_in_batches`` and return all outcomes."""
    answers: BatchedAnswers[Answer] = BatchedAnswers()
    for part in fetch_in_batches(ids, size, fetch, refusals=refusals, breaker=breaker, at_once=at_once):
        if part.error is None:
            answers.answers.append((part.ids, part.answers[0]))
        else:
            (answers.refused if part.refused else answers.failed).update(dict.fromkeys(part.ids, part.error))
    return answers


def not_tried_error(cause: EntrezKitError) -> EntrezKitError:
    """Return the error for requests that were not sent because the service stopped answering."""
    return cause.copy_with(f"Not tried, because requests before it failed: {cause.message}")
