"""RateLimiter: a slot for every request, shared by all threads and processes of one user on this machine.

A caller takes the next free slot under a file lock, releases the lock and sleeps until its slot: first come, first
served. When it wakes it checks the times at which requests were really sent, because a busy machine wakes processes
late and two late requests would be too close. It checks again when its connection is open, and holds the lock until
its bytes are sent, so that no other request comes between. The algorithms are from pyrate-limiter: GCRA spaces the
slots, the sliding window enforces the limit.

Each process reserves at most one slot in advance, and its threads queue for it. So a killed process wastes at most one
slot, and a process with a hundred threads gets the same share as a process with one thread.

The state is one line in one small file. The operating system releases the lock of the file when its holder dies.
Times are from the monotonic clock, which all processes of a machine share and which cannot be set.
"""

import json
import os
import stat
import threading
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from math import ceil, inf
from pathlib import Path
from typing import Final
from weakref import WeakSet, WeakValueDictionary

from filelock import lock_descriptor, unlock_descriptor
from pyrate_limiter import GCRA, Rate, SlidingWindowLog

from entrez_kit.base.private_files import open_private

# Slots are slightly wider than the limit requires: the service counts requests when they arrive, and their latency
# varies. 6 % allows a difference of 60 ms between the slowest and the fastest request, and uses 94 % of the limit.
SLOT_MARGIN: Final = 0.06
# A request may be sent when the window, widened by this fraction, has room. Callers that wake late may use the rest of
# the slot margin without delaying the callers behind them. A request counts as sent when the kernel has its bytes, so
# requests of the same window are sent at least 1045 ms apart, and arrive a second apart unless the earlier one took
# 45 ms longer. On a fully loaded machine they reached the kernel of a server at least 1026 ms apart
# (`tests/benchmarks/rate_limit.py`). No reasonable margin covers a lost packet that is resent after 200 ms or more; if
# NCBI then replies with status 429, the request is retried.
WINDOW_MARGIN: Final = 0.045
WINDOW_MS: Final = 1000
# A higher limit is counted over a shorter window, so that the state stays one small line.
MAX_COUNTED: Final = 100
# With a minimum pause, a process that wakes late must not add its delay to all processes behind it.
WAKE_SLACK_MS: Final = 5
# Every process reserves at most one slot, so a longer queue means that the state is damaged.
MAX_QUEUE_SLOTS: Final = 300
MAX_QUEUE_MS: Final = 120_000
# The lock is held while a request is handed to the kernel, which takes almost no time. A process that holds it longer
# than this is suspended, or the locks of its file system do not work.
LOCK_PATIENCE_SECONDS: Final = 5.0
LOCK_POLL_SECONDS: Final = 0.001
# If the file cannot be used, a process limits only itself for this time and then tries the file again.
RETRY_FILE_MS: Final = 30_000
# A state with a later time than now plus this was saved before the machine restarted.
CLOCK_TOLERANCE_MS: Final = 1000
STATE_FORMAT: Final = 1
# A state covers the last seconds only. A file that was not written for this long belongs to an unused address.
UNUSED_SECONDS: Final = 7 * 24 * 3600
MAX_STATE_BYTES: Final = 8192

_SLOTS: Final = GCRA()
_WINDOW: Final = SlidingWindowLog()


class SlotUnavailable(Exception):
    """No slot is free before the caller's deadline."""

    def __init__(self, wait_seconds: float) -> None:
        super().__init__(f"the next free slot is {wait_seconds:.1f} s away, after the deadline")
        self.wait_seconds = wait_seconds


class RateLimiter:
    """Keep the requests to one service below its limit, across threads and processes.

    Args:
        state_file: the file of all processes that share the limit; its folder is created if it is missing. With None,
            or if the file cannot be used, only the threads of this process are limited.
        per_second: requests allowed in any second; may be a fraction.
        min_interval_ms: minimum pause after the previous request; can only slow down.
    """

    def __init__(self, state_file: Path | None, *, per_second: float, min_interval_ms: int | None = None) -> None:
        if not 0 < per_second < inf:
            raise ValueError(f"per_second must be a number above 0, not {per_second}")
        pause = max(min_interval_ms or 0, 0)
        counted = max(1, min(int(per_second), MAX_COUNTED))
        window_ms = WINDOW_MS * counted / per_second
        self._slot_ms = max(ceil(window_ms * (1 + SLOT_MARGIN) / counted), pause + WAKE_SLACK_MS if pause else 1)
        self._slots = [Rate(1, self._slot_ms, burst=1)]
        self._windows = [Rate(counted, ceil(window_ms * (1 + WINDOW_MARGIN)))]
        if pause:
            self._windows.append(Rate(1, pause))
        self._shared = _get_shared_state(state_file)

    def acquire(self, deadline: float | None = None) -> AbstractContextManager[None]:
        """Block until a request may be sent, and return a context manager. Send the request inside it, at once.

        The context manager holds back all other requests while the bytes of this one are sent, and counts it as sent
        when they are sent. So neither a slow connection nor another thread delays the request after its slot is
        checked. The context manager also raises SlotUnavailable if the window is full until after the deadline.

        Args:
            deadline: latest time to start, a `time.monotonic` value; None waits without limit.

        Raises:
            SlotUnavailable: the caller's slot is after the deadline. Raised at once and without taking the slot,
                unless threads of this process are ahead and may still finish in time.
        """
        shared = self._shared
        with shared.wait_turn(self._slot_ms, deadline):
            with shared.open_locked() as now_ms:
                state, again_ms = self._reserve(shared.seen, now_ms, deadline=deadline)
                shared.save(state)
            shared.last_slot_ms = again_ms
            while again_ms:
                _sleep_until(again_ms)
                with shared.open_locked() as now_ms:
                    state, again_ms = self._try_departure(shared.seen, now_ms, deadline=deadline)
                    shared.save(state)
        return self._hold_while_sending(now_ms, deadline)

    @contextmanager
    def _hold_while_sending(self, counted_ms: int, deadline: float | None) -> Iterator[None]:
        """Lock the state while a request is sent, and replace its estimated time ``counted_ms`` by the real one."""
        shared = self._shared
        while True:
            with shared.open_locked() as now_ms:
                others = shared.seen.drop_request(counted_ms)
                _, again_ms = self._try_departure(others, now_ms, deadline=deadline)
                if not again_ms:
                    try:
                        yield
                    finally:
                        shared.save(self._try_departure(others, _get_now_ms(), deadline=None)[0])
                    return
            _sleep_until(again_ms)

    def find_problem(self) -> str | None:
        """Return why requests of other processes cannot be counted; None if they are counted."""
        self._shared.alone_until_ms = 0
        with self._shared.open_locked():
            return self._shared.problem

    def _reserve(self, state: "_State", now_ms: int, *, deadline: float | None) -> tuple["_State", int]:
        """Take the next free slot; return the new state and the time of the slot."""
        longest_ms = max(MAX_QUEUE_SLOTS * self._slot_ms, MAX_QUEUE_MS)
        free_us = state.free_us if state.free_us <= (now_ms + longest_ms) * 1000 else 0
        taken, decision = _SLOTS.step(self._slots, (free_us,), now_ms, 1)
        slot_ms = now_ms + (decision.retry_after_ms or 0)
        _refuse_after(deadline, slot_ms, now_ms)
        if not decision.allowed:
            taken, _ = _SLOTS.step(self._slots, (free_us,), slot_ms, 1)
        return replace(state, free_us=int(taken[0])), slot_ms

    def _try_departure(self, state: "_State", now_ms: int, *, deadline: float | None) -> tuple["_State", int]:
        """Record that a request is sent now and return 0; if the window is full, return when to try again."""
        counts = [sum(sent >= _WINDOW.window_start(rate, now_ms) for sent in state.sent_ms) for rate in self._windows]
        decision = _WINDOW.decide(self._windows, counts, 1, now_ms, lambda back: state.sent_ms[-1 - back])
        if not decision.allowed:
            again_ms = now_ms + max(decision.retry_after_ms or 0, 1)
            _refuse_after(deadline, again_ms, now_ms)
            return state, again_ms
        # Other processes may use a longer window than this caller: keep two seconds, which is enough for all.
        oldest_ms = now_ms - max(2 * WINDOW_MS, *(rate.interval for rate in self._windows))
        sent_ms = (*(sent for sent in state.sent_ms if sent >= oldest_ms), now_ms)
        return replace(state, sent_ms=sent_ms[-2 * MAX_COUNTED :]), 0


def _refuse_after(deadline: float | None, slot_ms: int, now_ms: int) -> None:
    if deadline is not None and slot_ms > deadline * 1000:
        raise SlotUnavailable((slot_ms - now_ms) / 1000)


def _get_now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def _sleep_until(moment_ms: int) -> None:
    while (left := moment_ms / 1000 - time.monotonic()) > 0:
        time.sleep(left)


@dataclass(frozen=True, slots=True)
class _State:
    """The state that all callers share: when the next slot is free, and when the latest requests were sent."""

    free_us: int = 0
    sent_ms: tuple[int, ...] = ()

    def drop_request(self, sent_ms: int) -> "_State":
        """Return the state without one request that was counted at this time."""
        index = bisect_left(self.sent_ms, sent_ms)
        if self.sent_ms[index : index + 1] != (sent_ms,):
            return self
        return replace(self, sent_ms=self.sent_ms[:index] + self.sent_ms[index + 1 :])

    def to_line(self, now_ms: int) -> bytes:
        """Return the state as the line to save."""
        record = {"format": STATE_FORMAT, "saved_ms": now_ms, "free_us": self.free_us, "sent_ms": self.sent_ms}
        return json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"


class _SharedState:
    """The state of all limiters of this process that use the same file, and the queue of its threads.

    Without a usable file the state is local to this process. The last state read from the file is kept in memory, so
    that a removed, damaged or unreachable file does not lose what this process knew.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.seen = _State()
        self.problem = None if path else "no state file is set"
        self.alone_until_ms = 0
        self.last_slot_ms = 0
        self.renew()
        _ALL_SHARED_STATES.add(self)

    def renew(self) -> None:
        """Start with free locks and an empty queue: a forked child does not have its parent's threads."""
        self._update_lock = threading.Lock()
        self._queue_lock = threading.Lock()
        self._queue: deque[threading.Event] = deque()
        self._descriptor: int | None = None

    @contextmanager
    def wait_turn(self, slot_ms: int, deadline: float | None) -> Iterator[None]:
        """Wait behind the earlier threads of this process.

        Raises:
            SlotUnavailable: even without other processes there would be no slot before the deadline.
        """
        mine = threading.Event()
        try:
            with self._queue_lock:
                ahead = len(self._queue)
                self._queue.append(mine)
            if ahead:
                earliest_ms = self.last_slot_ms + ahead * slot_ms
                _refuse_after(deadline, earliest_ms, _get_now_ms())
                patience = threading.TIMEOUT_MAX if deadline is None else deadline - time.monotonic()
                if not mine.wait(min(max(patience, 0), threading.TIMEOUT_MAX)):
                    raise SlotUnavailable(max(earliest_ms - _get_now_ms(), slot_ms) / 1000)
            yield
        finally:
            with self._queue_lock:
                with suppress(ValueError):
                    self._queue.remove(mine)
                if self._queue:
                    self._queue[0].set()

    @contextmanager
    def open_locked(self) -> Iterator[int]:
        """Lock the state, load it into ``seen`` and yield the current time."""
        with self._update_lock, ExitStack() as stack:
            self._descriptor = None
            if self._path is not None and _get_now_ms() >= self.alone_until_ms:
                try:
                    descriptor = stack.enter_context(_lock_file(self._path))
                    self._read_state(descriptor)
                    self._descriptor = descriptor
                except (OSError, NotImplementedError) as exc:
                    self._limit_this_process(exc)
            yield _get_now_ms()

    def save(self, state: _State) -> None:
        """Replace the state, which must be locked."""
        if state is self.seen:
            return
        self.seen = state
        if self._descriptor is not None:
            try:
                _write(self._descriptor, state.to_line(_get_now_ms()))
            except OSError as exc:
                self._limit_this_process(exc)

    def _limit_this_process(self, problem: Exception) -> None:
        """Limit only this process for a while, because the file cannot be used."""
        self.problem = f"{self._path}: {getattr(problem, 'strerror', None) or problem}"
        self.alone_until_ms = _get_now_ms() + RETRY_FILE_MS

    def _read_state(self, descriptor: int) -> None:
        now_ms = _get_now_ms()
        text = os.read(descriptor, MAX_STATE_BYTES)
        saved = _parse(text)
        if saved and saved[0] <= now_ms + CLOCK_TOLERANCE_MS and not self.problem:
            state = saved[1]
        else:
            state = self._repair(text, saved, now_ms)
            _write(descriptor, state.to_line(now_ms))  # now, because a refused caller does not save
        self.seen, self.problem = state, None

    def _repair(self, text: bytes, saved: tuple[int, _State] | None, now_ms: int) -> _State:
        """Return the state to use if the saved state is missing, invalid or incomplete."""
        seen = self.seen
        if saved is None:
            # After damage, other processes may just have sent requests: wait for one window.
            return replace(seen, free_us=max(seen.free_us, (now_ms + WINDOW_MS) * 1000)) if text else seen
        saved_ms, state = saved
        if saved_ms > now_ms + CLOCK_TOLERANCE_MS:
            return seen
        # This process limited only itself for a while, so the file does not have its requests.
        return _State(max(state.free_us, seen.free_us), tuple(sorted({*state.sent_ms, *seen.sent_ms})))


def _write(descriptor: int, line: bytes) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    if os.write(descriptor, line) != len(line):
        raise OSError("the state could not be written in full")
    os.ftruncate(descriptor, len(line))


def _parse(text: bytes) -> tuple[int, _State] | None:
    """Return when a state was saved and the state; None if the line is invalid."""
    try:
        record = json.loads(text.partition(b"\n")[0])
        if record["format"] != STATE_FORMAT:
            return None
        numbers = [record["saved_ms"], record["free_us"], *record["sent_ms"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if any(type(number) is not int or number < 0 for number in numbers):
        return None
    saved_ms, free_us, *sent_ms = numbers
    if sent_ms != sorted(sent_ms) or (sent_ms and sent_ms[-1] > saved_ms):
        return None
    return saved_ms, _State(free_us, tuple(sent_ms))


@contextmanager
def _lock_file(path: Path) -> Iterator[int]:
    """Open the state file for this process alone.

    Raises:
        OSError: the file cannot be opened, is not this user's own, or cannot be locked.
    """
    give_up = time.monotonic() + LOCK_PATIENCE_SECONDS
    while True:
        descriptor = open_private(path)
        try:
            while not lock_descriptor(descriptor, blocking=False):
                if time.monotonic() >= give_up:
                    raise TimeoutError("another process holds the lock and does not release it")
                time.sleep(LOCK_POLL_SECONDS)
            try:
                if os.fstat(descriptor).st_nlink:  # 0 if the file was removed while this process waited
                    yield descriptor
                    return
            finally:
                unlock_descriptor(descriptor)  # explicitly: a child forked meanwhile also has the descriptor
        finally:
            os.close(descriptor)
        if time.monotonic() >= give_up:
            raise TimeoutError("the state file is removed repeatedly")


_SHARED_STATES: Final[WeakValueDictionary[str, _SharedState]] = WeakValueDictionary()
_ALL_SHARED_STATES: Final[WeakSet[_SharedState]] = WeakSet()
_SHARED_STATES_LOCK = threading.Lock()


def _get_shared_state(path: Path | None) -> _SharedState:
    """Return this process's one shared state for a file, or a new state if ``path`` is None."""
    if path is None:
        return _SharedState(None)
    absolute = path.absolute()  # the working folder may change later
    with _SHARED_STATES_LOCK:
        shared = _SHARED_STATES.get(str(absolute))
        if shared is None:
            _remove_unused(absolute)
            shared = _SHARED_STATES[str(absolute)] = _SharedState(absolute)
        return shared


def _remove_unused(own_file: Path) -> None:
    """Remove other state files in the same folder that were not written for a week, each under its lock."""
    with suppress(OSError, NotImplementedError):
        for path in own_file.parent.glob("limit-*.json"):
            if path != own_file and _is_unused(path.lstat()):
                with _lock_file(path) as descriptor:
                    if _is_unused(os.fstat(descriptor)):
                        path.unlink()


def _is_unused(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_mtime < time.time() - UNUSED_SECONDS


def _renew_after_fork() -> None:
    global _SHARED_STATES_LOCK
    _SHARED_STATES_LOCK = threading.Lock()
    for shared in list(_ALL_SHARED_STATES):
        shared.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)
