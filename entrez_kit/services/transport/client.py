"""Transport sends every request: the cache is above it, the rate limiter below, and retries enclose both.

With a responder it sends none: the responder answers in this process, and nothing is cached.
"""

import logging
import re
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property, partial
from math import inf
from os import getpid
from typing import TYPE_CHECKING, ClassVar, Generic

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import OFFLINE_SWITCH, FrontendText, format_count
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport import (
    CLOCK_TOLERANCE_SECONDS,
    POLICIES,
    Call,
    Expect,
    Method,
    Outgoing,
    Recording,
    Reply,
    Responder,
    T,
    cache_identity,
    count_received,
    get_base_url,
)
from entrez_kit.services.transport.cache import CacheFile, StoredReply, cache_file

if TYPE_CHECKING:
    from requests_cache import CachedSession

    from entrez_kit.base.redaction import RedactingFilter
    from entrez_kit.services.transport.rate_gate import LimiterFactory, RateGate
    from entrez_kit.services.transport.replies import Incoming
    from entrez_kit.services.transport.retry import Backoff

logger = logging.getLogger("entrez_kit.transport")


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
                if flight is None:
                    own = self._flights[key] = _SharedRequest()
                    break
            if not flight.done.wait(max(0.0, deadline - time.monotonic())):
                raise FollowerTimeout
            if flight.error is not None:
                # Each thread raises its own error. Other exceptions are defects.
                raise flight.error.copy_with() if isinstance(flight.error, EntrezKitError) else flight.error
            if flight.result is not None:
                return flight.result, False
        try:
            own.result = work()
            return own.result, True
        except Exception as exc:
            own.error = exc
            raise
        finally:
            with self._lock:
                del self._flights[key]
            own.done.set()


class Transport:
    """Send calls and return checked replies; all threads of a process share one transport.

    The way of a call, from the outside to the inside:

    - ``send`` notes the call in the log, the trace and a recording
    - ``_send_shared`` sends identical concurrent calls once
    - ``_read_or_send`` reads the cache, and in offline mode sends nothing
    - ``_retry`` repeats failed attempts until the deadline
    - ``_attempt`` sends one request through the session, which stores the reply in the cache
    - ``WireAdapter`` waits for the rate limiter, adds the credentials and checks the reply

    Construction is cheap: the session, the cache file and the limiter are opened on first use.

    Args:
        max_waiting: maximum number of waiting requests, after which the next one is refused; None for no maximum.
        limiters: creates the limiter of a service; by default all processes share one.
        backoff: the waiting times between attempts.
        watch: receives every reply from the network, valid or not; cached replies are not passed to it.
        responder: answers all requests in this process; by default they are sent.
        recording: records every call and its reply, or answers the calls from an earlier recording.

    ``notes`` are messages for the user, such as a cache that cannot be written; the front end prints each once.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        max_waiting: int | None = None,
        limiters: "LimiterFactory | None" = None,
        backoff: "Backoff | None" = None,
        watch: "Callable[[Call, Incoming], None] | None" = None,
        responder: Responder | None = None,
        recording: Recording | None = None,
    ) -> None:
        self.notes: list[str] = []
        self.responder, self.recording = responder, recording
        self._settings = settings
        self.max_waiting, self._limiters = max_waiting, limiters
        self._backoff = backoff
        self._watch = watch
        self._flights: SingleFlight[Reply] = SingleFlight()
        self._lock = threading.RLock()
        self._cache = CacheFile(cache_file(settings), self.notes)
        self._session: CachedSession | None = None
        self._pid = getpid()

    @property
    def waiting(self) -> int:
        """The number of requests that wait for a slot or for their next attempt."""
        return self._gate.waiting if "_gate" in self.__dict__ else 0

    @cached_property
    def _gate(self) -> "RateGate":
        """The rate gate. Only the adapter uses it, and the adapter is created under the lock."""
        from entrez_kit.services.transport.rate_gate import RateGate, get_shared_limiter

        return RateGate(self._settings, lambda: self.max_waiting, self._limiters or get_shared_limiter)

    @cached_property
    def _log_filter(self) -> "RedactingFilter":
        from entrez_kit.base.redaction import RedactingFilter, Redactor

        return RedactingFilter(Redactor(self._settings.secrets, self._settings.keys))

    def send(self, call: Call[T]) -> Reply[T]:
        """Return the checked reply to a call, from the cache or from the service.

        Raises:
            InvalidInput: the service rejected the request.
            EntityNotFound: none of the ids exist.
            UpstreamError: no attempt got a valid reply; ``details`` hold reason, endpoint, attempts, status.
            RateLimited: the service refused, the queue is full, or no slot is free before the deadline.
            NotConfigured: the service rejects the api key, or a URL is invalid.
        """
        started = time.monotonic()
        outgoing = Outgoing(call, started + (call.deadline_ms or self._settings.ncbi_total_deadline_ms) / 1000)

        def send_recorded(watched: Call[T]) -> Reply[T]:
            outgoing.call = watched
            return self._send_shared(outgoing)

        with self._open_span(outgoing):
            try:
                if self.recording is None:
                    outgoing.reply = self._send_shared(outgoing)
                else:
                    outgoing.reply = self.recording.answer(call, send_recorded)
                return outgoing.reply
            except EntrezKitError as exc:
                exc.__context__ = None  # errors of requests and urllib3 contain the URL with its credentials
                raise
            finally:
                _note_outcome(outgoing, time.monotonic() - started)

    def _open_span(self, outgoing: Outgoing[T]) -> AbstractContextManager[None]:
        if not tracing.is_recording_spans():
            return nullcontext()
        from entrez_kit.services.transport.spans import request_span

        return request_span(outgoing, self._log_filter.redactor)

    def _send_shared(self, outgoing: Outgoing[T]) -> Reply[T]:
        """Return the reply to a call; identical concurrent calls are sent once."""
        call = outgoing.call
        key = call.build_key(cache_identity(self._settings, call.service))
        work = partial(self._read_or_send, outgoing, key)
        try:
            reply, is_own = self._flights.do(f"{key} {call.deadline_ms} {call.fresh}", work, outgoing.deadline)
        except FollowerTimeout:
            raise UpstreamError(
                f"An identical {call.endpoint} request that was sent earlier got no reply in time.",
                details=call.describe("deadline_exceeded"),
            ) from None
        if is_own:
            return reply
        from entrez_kit.services.transport import replies

        # The first caller may use another reader, and callers do not share a value.
        return replace(reply, value=replies.read(call, reply.content))

    def _read_or_send(self, outgoing: Outgoing[T], key: str) -> Reply[T]:
        """Return the reply of the responder, from the cache, or of the service."""
        settings, call = self._settings, outgoing.call
        if self.responder is not None:
            from entrez_kit.services.transport.in_process import answer_call

            return answer_call(outgoing, self.responder, settings, self.display_url(call), self._watch)
        is_cached = call.ttl is not None and not settings.no_cache and settings.cache_ttl != 0
        renew = not settings.offline and (settings.refresh or call.fresh)
        if is_cached and not renew and (stored := self._cache.read(key)) is not None:
            if (reply := self._use_stored(call, stored)) is not None:
                return reply
            renew = time.time() < stored.expires  # the reader rejected it, or the user's limit is shorter
        if settings.offline:
            raise UpstreamError(
                f"The cache has no reply to this {call.endpoint} request, and offline mode allows no requests.",
                recovery_hint=FrontendText("Run without ", OFFLINE_SWITCH, " to send the request."),
                details=call.describe("offline"),
            )
        return self._retry(outgoing, partial(self._attempt, outgoing, key, is_cached=is_cached, renew=renew))

    def _use_stored(self, call: Call[T], stored: StoredReply) -> Reply[T] | None:
        """Return a stored reply if it has not expired and its reader accepts it; else None.

        If its creation time is in the future, the clock was wrong and its age is unknown.
        """
        until, now = min(stored.expires, stored.created + (self._settings.cache_ttl or inf)), time.time()
        if self._settings.offline or stored.created - CLOCK_TOLERANCE_SECONDS <= now < until:
            with suppress(UpstreamError):
                value = call.expect.read(stored.content)
                return Reply(
                    content=stored.content,
                    value=value,
                    url=self.display_url(call),
                    method=call.method,
                    from_cache=True,
                    status=stored.status,
                    attempts=0,
                    until=until,
                    created=stored.created,
                    content_type=stored.content_type,
                )
        return None

    def _retry(self, outgoing: Outgoing[T], attempt: Callable[[], Reply[T]]) -> Reply[T]:
        """Attempt a call until one attempt succeeds; if all fail, raise the error of the last one."""
        from entrez_kit.services.transport.retry import Backoff, OutOfTime, Retryable, run_attempts

        call = outgoing.call

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
            with self._gate.count_waiting(call, is_new=False):
                time.sleep(seconds)

        error: EntrezKitError
        try:
            return run_attempts(
                attempt,
                retries=getattr(self._settings, POLICIES[call.service].retries),
                deadline=outgoing.deadline,
                backoff=self._backoff or Backoff(),
                sleep=sleep,
                announce=announce,
            )
        except Retryable as exc:
            tries = f" ({format_count(outgoing.sent, 'attempt')})" if outgoing.sent > 1 else ""
            error = exc.error.copy_with(f"{exc.error.message.rstrip('.')}{tries}.")
        except OutOfTime as exc:
            error = _out_of_time_error(exc.last.error, outgoing)
        except EntrezKitError as exc:
            error = exc
        error.details["attempts"] = outgoing.sent
        logger.debug("request %s: %s failed: %s", _request_id(), call.endpoint, error)
        raise error

    def _attempt(self, outgoing: Outgoing[T], key: str, *, is_cached: bool, renew: bool) -> Reply[T]:
        """Send one request through the session, which stores the reply in the cache.

        Args:
            is_cached: whether the cache is used for this call.
            renew: whether to send the request even if the cache has a reply.
        """
        from entrez_kit.services.transport.cached_session import CallRequest

        call, request = outgoing.call, CallRequest(outgoing, key)
        request.headers["Cache-Control"] = "" if is_cached else "no-store"
        no_proxies: dict[str, str] = {}  # or requests looks them up, and the adapter does so for each redirect
        response = self._open_session().send(request, force_refresh=renew, allow_redirects=False, proxies=no_proxies)
        expires = response.expires.timestamp() if response.expires is not None else 0.0
        kind = response.headers.get("Content-Type", "")
        if response.from_cache:  # another process has just stored it
            created = response.created_at.timestamp()
            stored = StoredReply(
                content=response.content,
                status=response.status_code,
                created=created,
                expires=expires,
                content_type=kind,
            )
            return self._use_stored(call, stored) or self._attempt(outgoing, key, is_cached=is_cached, renew=True)
        return Reply(
            content=response.content,
            value=request.value,
            url=self.display_url(call),
            method=call.method,
            from_cache=False,
            status=200,
            attempts=outgoing.sent,
            until=0.0 if self._settings.refresh or call.fresh else expires,
            created=getattr(response, "stored_at", response.created_at).timestamp(),
            content_type=kind,
        )

    def _open_session(self) -> "CachedSession":
        """Return the session of this process; a forked child must not use its parent's connections."""
        with self._lock:
            if self._pid != getpid():
                self._pid, self._session = getpid(), None
            if self._session is None:
                from entrez_kit.services.transport.cached_session import open_session
                from entrez_kit.services.transport.wire import WireAdapter

                adapter = WireAdapter(self._settings, self._gate, self._log_filter.redactor, self._watch)
                self._session = open_session(adapter, self._cache)
                self._log_filter.install()
            return self._session

    def display_url(self, call: Call) -> str:
        """Return the URL of a call for output, without the port of the sandbox, which changes in every run."""
        if not self._settings.demo and not self._settings.answers_in_process and self.responder is None:
            return call.shown_url
        return re.sub(r"^(https?://[^/:]+):[0-9]+", r"\1", call.shown_url)

    def close(self) -> None:
        """Close the connections and the cache file; the next call opens them again."""
        with self._lock:
            if self._pid == getpid() and self._session is not None:
                self._session.close()  # type: ignore[no-untyped-call]  # the library has no type annotation here
            self._session = None
            self._cache.close()
            if "_log_filter" in self.__dict__:
                self._log_filter.remove()


def _request_id() -> str:
    trace = tracing.get_current_trace()
    return trace.request_id if trace is not None else "-"


def _note_outcome(outgoing: Outgoing, seconds: float) -> None:
    """Record the outcome of a request in the trace of the current operation and in the log."""
    endpoint, sent, reply = outgoing.call.endpoint, outgoing.sent, outgoing.reply
    size = len(reply.content) if reply is not None else 0
    from_cache = reply is not None and reply.from_cache
    if from_cache and (count := count_received.get()) is not None:  # other replies were counted when they arrived
        count(size)
    trace = tracing.get_current_trace()
    if trace is not None:
        until = reply.until if reply is not None else 0.0
        trace.exchanges.append(tracing.TracedRequest(endpoint, from_cache, sent, seconds, size, until))
    if reply is not None:
        logger.debug(
            "request %s: %s answered with %d bytes%s after %d attempts and %.3f s",
            _request_id(),
            endpoint,
            size,
            " from the cache" if from_cache else "",
            sent,
            seconds,
        )


def _out_of_time_error(last: EntrezKitError, outgoing: Outgoing) -> EntrezKitError:
    """Return the error for a call that has no time left for another attempt."""
    limit = "its own time limit" if outgoing.call.deadline_ms else "NCBI_TOTAL_DEADLINE_MS"
    more_time = FrontendText(last.hint_text, f" Or allow more time; {limit} ended this call.")
    return last.copy_with(
        f"No time is left for another attempt (attempts so far: {outgoing.sent}). {last.message}",
        None if isinstance(last, RateLimited) else more_time,
        reason="deadline_exceeded",
        last_failure=last.reason,
    )


class ServiceClient:
    """A client of one service: its policy has the name ``_SERVICE``, and its base URL comes from the settings."""

    _SERVICE: ClassVar[str]

    def __init__(self, transport: Transport, settings: Settings) -> None:
        self._transport = transport
        self._settings = settings
        self._base = get_base_url(settings, self._SERVICE)

    @cached_property
    def at_once(self) -> int:
        """The maximum number of requests in flight for one operation."""
        if self._transport.responder is not None or self._transport.recording is not None:
            return 1
        from entrez_kit.services.transport.rate_gate import get_max_in_flight

        return get_max_in_flight(self._settings, self._SERVICE)

    def _request_path(
        self,
        endpoint: str,
        path: str,
        expect: Expect[T],
        *,
        ttl: int | None,
        params: tuple[tuple[str, str], ...] = (),
        method: Method = "GET",
        encoded: str | None = None,
    ) -> Reply[T]:
        """Send a call to a path below the base URL."""
        return self._transport.send(
            Call(
                service=self._SERVICE,
                endpoint=endpoint,
                url=f"{self._base}/{path}",
                params=params,
                expect=expect,
                method=method,
                encoded=encoded,
                ttl=ttl,
            )
        )
