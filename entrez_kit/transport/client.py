"""Transport: the one sender of requests. Cache above, limiter below, retries outside both."""

import logging
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from math import inf
from os import getpid
from typing import TYPE_CHECKING, TypeVar

from entrez_kit import tracing
from entrez_kit.errors import EntrezKitError, RateLimited, UpstreamError
from entrez_kit.settings import Settings
from entrez_kit.transport import in_flight
from entrez_kit.transport.cache import ReplyStore, StoredReply, cache_file
from entrez_kit.transport.call import Call, Reply, T, Tally
from entrez_kit.transport.in_flight import FollowerTimeout, SingleFlight
from entrez_kit.transport.policy import POLICIES, cache_identity
from entrez_kit.wording import Wording

if TYPE_CHECKING:
    import requests

    from entrez_kit.transport.gate import Gate, LimiterFactory
    from entrez_kit.transport.redaction import LogGuard, Redactor
    from entrez_kit.transport.replies import Incoming
    from entrez_kit.transport.retry import Backoff
    from entrez_kit.transport.wire import CheckedReply, WireAdapter

logger = logging.getLogger("entrez_kit.transport")

Attempted = TypeVar("Attempted")


class Transport:
    """Send calls and return checked replies; one for all threads of a process.

    A cached reply costs no slot of the limiter, every attempt that is sent costs one. Identical calls at the same
    time go out once. Building one costs nothing: session, cache file and limiter come into being when first used.

    Args:
        max_waiting: how many requests may wait before the next is refused; None for any number.
        limiters: makes the limiter of a service; by default all processes share one.
        backoff: how long to wait between attempts.
        watch: is shown every reply as it arrived, answers or not; none from the cache.

    ``notices`` are remarks for the user, such as a cache that cannot be written; the outer layer shows each once.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        max_waiting: int | None = None,
        limiters: "LimiterFactory | None" = None,
        backoff: "Backoff | None" = None,
        watch: "Callable[[Call, Incoming], None] | None" = None,
    ) -> None:
        self.notices: list[str] = []
        self._settings = settings
        self._max_waiting, self._limiters = max_waiting, limiters
        self._backoff = backoff
        self._watch = watch
        self._flights: SingleFlight[Reply] = SingleFlight()
        self._lock = threading.RLock()
        self._store = ReplyStore(cache_file(settings), self.notices)
        self._sender: tuple[WireAdapter, requests.Session] | None = None
        self._pid = getpid()

    @property
    def max_waiting(self) -> int | None:
        """How many requests may wait before the next is refused."""
        return self._max_waiting

    @max_waiting.setter
    def max_waiting(self, number: int | None) -> None:
        self._max_waiting = number
        if (gate := self.__dict__.get("_gate")) is not None:
            gate.max_waiting = number

    @property
    def waiting(self) -> int:
        """How many requests wait for a slot or for their next attempt."""
        gate: Gate | None = self.__dict__.get("_gate")
        return gate.waiting if gate is not None else 0

    @cached_property
    def _redactor(self) -> "Redactor":
        from entrez_kit.transport.redaction import Redactor

        return Redactor.of(self._settings)

    @cached_property
    def _log_guard(self) -> "LogGuard":
        from entrez_kit.transport.redaction import LogGuard

        return LogGuard(self._redactor)

    @cached_property
    def _gate(self) -> "Gate":
        """The gate; the adapter, which alone needs it, is made under the lock."""
        from entrez_kit.transport.gate import Gate, shared_limiter

        return Gate(self._settings, max_waiting=self._max_waiting, limiters=self._limiters or shared_limiter)

    def send(self, call: Call[T]) -> Reply[T]:
        """Return the checked reply to a call, from the cache or from the service.

        Raises:
            InvalidInput: the service says that the request is at fault.
            EntityNotFound: none of the ids exist.
            UpstreamError: no valid answer after every attempt; ``details`` hold reason, endpoint, attempts, status.
            RateLimited: the service refused, the queue is full, or a slot would come too late.
            NotConfigured: the api key is not accepted, or an address cannot be used.
        """
        started = time.monotonic()
        deadline = self._deadline(call, started)
        key = call.key(cache_identity(self._settings, call.service))
        tally = Tally()
        reply: Reply[T] | None = None
        try:
            work = partial(self._answer, call, key, deadline, tally)
            reply, is_own = self._flights.do(f"{key} {call.deadline_ms} {call.fresh}", work, deadline)
            if not is_own:  # whoever asked first may read it in another way, and what it read into is nobody else's
                from entrez_kit.transport import replies

                reply = replace(reply, value=replies.read(call, reply.content))
        except FollowerTimeout:
            pass
        finally:
            _note_exchange(call, reply, tally, time.monotonic() - started)
        if reply is None:
            raise UpstreamError(
                f"An identical {call.endpoint} request that was sent earlier got no answer in time.",
                details={"reason": "deadline_exceeded", "service": call.service, "endpoint": call.endpoint},
            )
        return reply

    def close(self) -> None:
        """Close the connections and the cache file; a later call opens them again."""
        with self._lock:
            if self._pid == getpid():
                for part in self._sender or ():
                    part.close()
            self._sender = None
            self._store.close()
            if (guard := self.__dict__.get("_log_guard")) is not None:
                guard.remove()

    def _deadline(self, call: Call, started: float) -> float:
        return started + (call.deadline_ms or self._settings.ncbi_total_deadline_ms) / 1000

    def _answer(self, call: Call[T], key: str, deadline: float, tally: Tally) -> Reply[T]:
        """Answer a call from the cache, or send it as often as it takes."""
        settings = self._settings
        store = None
        if call.ttl is not None and not settings.no_cache and settings.cache_ttl != 0:
            store = self._store
            stored = store.read(key) if settings.offline or not (settings.refresh or call.fresh) else None
            until = min(stored.expires, stored.created + (settings.cache_ttl or inf)) if stored is not None else 0.0
            if stored is not None and (settings.offline or time.time() < until):
                with suppress(UpstreamError):  # what its reader does not take is asked for anew
                    value = call.expect.read(stored.content)
                    return Reply(stored.content, value, self.shown(call), call.method, True, stored.status, 0, until)

        from entrez_kit.transport.wire import Outgoing, surroundings  # a reply that was stored needs nothing of this

        adapter, session = self._adapter_now()

        def attempt(_: int) -> "CheckedReply[T]":
            request = Outgoing(call, deadline=deadline, tally=tally)
            return adapter.answer(request, **surroundings(session, request))

        answer = self._repeat(call, attempt, deadline, tally)
        now, until = time.time(), 0.0
        if store is not None and answer.ttl and answer.status == 200:
            store.write(key, StoredReply(answer.content, answer.status, now, now + answer.ttl), call.shown_url)
            until = 0.0 if settings.refresh or call.fresh else now + answer.ttl
        shown = self.shown(call)
        return Reply(answer.content, answer.value, shown, call.method, False, answer.status, tally.sent, until)

    def shown(self, call: Call) -> str:
        """Return the address as it may be shown; without the sandbox's port, which is another one in every run."""
        if not self._settings.demo:
            return call.shown_url
        return re.sub(r"^(https?://[^/:]+):[0-9]+", r"\1", call.shown_url)

    def _repeat(self, call: Call, attempt: Callable[[int], Attempted], deadline: float, tally: Tally) -> Attempted:
        """Run the attempts of a call, and raise what its last one came to."""
        from entrez_kit.transport.retry import Backoff, OutOfTime, Retryable, run

        def announce(failures: int, wait: float, why: Retryable) -> None:
            logger.debug(
                "request %s: %s attempt %d failed (%s), next in %.2f s",
                _request_id(),
                call.endpoint,
                failures,
                why,
                wait,
            )

        def sleep(seconds: float) -> None:
            with self._gate.queued(call, is_new=False):
                time.sleep(seconds)

        error: EntrezKitError
        try:
            return run(
                attempt,
                retries=POLICIES[call.service].retries(self._settings),
                deadline=deadline,
                backoff=self._backoff or Backoff(),
                sleep=sleep,
                announce=announce,
            )
        except Retryable as exc:
            error = _after_attempts(exc.error, tally)
        except OutOfTime as exc:
            error = _out_of_time(exc.last.error, call, tally)
        except EntrezKitError as exc:
            error = exc
            error.details["attempts"] = tally.sent
        # Raised out here, so that what failed below does not hang on as __context__.
        logger.debug("request %s: %s failed: %s", _request_id(), call.endpoint, error)
        raise error

    def _adapter_now(self) -> "tuple[WireAdapter, requests.Session]":
        """Return adapter and session of this process; a forked child must not share its parent's connections."""
        import requests

        from entrez_kit.transport.wire import WireAdapter

        with self._lock:
            if self._pid != getpid():
                self._pid, self._sender = getpid(), None
            if self._sender is None:
                adapter = WireAdapter(self._settings, self._gate, self._redactor)
                adapter.watch = self._watch
                self._sender = adapter, requests.Session()
                self._log_guard.install()
            return self._sender


def _request_id() -> str:
    trace = tracing.current_trace()
    return trace.request_id if trace is not None else "-"


def _note_exchange(call: Call, reply: Reply | None, tally: Tally, seconds: float) -> None:
    """Tell the trace of the running call and the log what became of a request."""
    size = len(reply.content) if reply is not None else 0
    if reply is not None and reply.from_cache:  # else it was noted when it came
        in_flight.received(size)
    from_cache = reply is not None and reply.from_cache
    trace = tracing.current_trace()
    if trace is not None:
        until = reply.until if reply is not None else 0.0
        trace.exchanges.append(tracing.TracedRequest(call.endpoint, from_cache, tally.sent, seconds, size, until))
    if reply is not None:
        logger.debug(
            "request %s: %s answered with %d bytes%s after %d attempts and %.3f s",
            _request_id(),
            call.endpoint,
            size,
            " from the cache" if from_cache else "",
            tally.sent,
            seconds,
        )


def _after_attempts(error: EntrezKitError, tally: Tally) -> EntrezKitError:
    """Return an error that says how often it was tried."""
    tries = f" ({tally.sent} attempts)" if tally.sent > 1 else ""
    return _changed(error, message=f"{error.message.rstrip('.')}{tries}.", attempts=tally.sent)


def _out_of_time(last: EntrezKitError, call: Call, tally: Tally) -> EntrezKitError:
    """Return the error for a call whose time limit leaves no room for another attempt."""
    limit = "its own time limit" if call.deadline_ms else "NCBI_TOTAL_DEADLINE_MS"
    hint = (
        None
        if isinstance(last, RateLimited)
        else Wording(last.recovery_hint, f" Or allow more time; {limit} ended this call.")
    )
    message = f"No time is left for another attempt after {tally.sent}. {last.message}"
    return _changed(
        last,
        message=message,
        hint=hint,
        reason="deadline_exceeded",
        last_failure=last.reason,
        attempts=tally.sent,
    )


def _changed(error: EntrezKitError, *, message: str, hint: str | None = None, **details: object) -> EntrezKitError:
    return type(error)(
        message,
        recovery_hint=hint or error.recovery_hint,
        invalid_input=error.invalid_input,
        details={**error.details, **details},
    )
