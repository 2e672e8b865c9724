"""RateLimiter: a slot for every request, shared by all threads and processes of one user on this machine.

A caller takes the next free slot under a file lock, lets the lock go and sleeps until its slot: first come, first
served. When it wakes it asks once more, against the times at which requests really left, because a busy machine wakes
processes late and two late ones would come too close. It asks a last time when its connection stands, and keeps the
lock until its bytes have left: the slot taken and the request sent are one thing. The arithmetic is pyrate-limiter's:
GCRA spaces the slots, the sliding window guards the limit.

Each process holds at most one slot ahead of time and its threads queue for it. So a killed process leaves one slot
unused and no more, and a process with a hundred threads gets no larger share than one with a single thread.

The state is one line in one small file, written under a lock that the operating system drops when its holder dies.
Times are those of the monotonic clock, which all processes of a machine share and which nobody can set.
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

# Slots are a little wider than the limit asks: requests do not travel equally fast, and the window is counted where
# they arrive. 6 % leaves 60 ms for the difference between the slowest and the fastest, and 94 % of the limit in use.
SLOT_MARGIN: Final = 0.06
# A request may leave when the window, widened by this much, has room. The rest of the margin is what callers that
# woke late may be late without delaying the callers behind them. Departures are counted once the bytes are with the
# kernel, so requests that count against each other leave 1045 ms apart or more, and arrive a second apart unless the
# way of the earlier one took 45 ms longer. On a machine with no time left to give they reached the kernel of a server
# 1026 ms apart at the least (`tests/benchmarks/rate_limit.py`). A packet that is lost and sent again after 200 ms or
# more is beyond any margin worth its price; the 429 that NCBI may answer then is one of those that are tried again.
WINDOW_MARGIN: Final = 0.045
WINDOW_MS: Final = 1000
# More requests per window than this are counted over a shorter window, so that the state stays one small line.
MAX_COUNTED: Final = 100
# A process that wakes late must not push the ones behind it later and later when a least pause is set.
WAKE_SLACK_MS: Final = 5
# Every process holds one slot at most, so a longer queue is not a queue but a damaged state.
LONGEST_QUEUE_SLOTS: Final = 300
LONGEST_QUEUE_MS: Final = 120_000
# The lock is held for as long as a request needs to be handed to the network, which is no time; whoever holds it this
# long is stopped or its file system has no working locks.
LOCK_PATIENCE_SECONDS: Final = 5.0
LOCK_POLL_SECONDS: Final = 0.001
# How long a process limits itself alone before it tries a file again that could not be used.
RETRY_FILE_MS: Final = 30_000
# A state saved this much later than now comes from before a restart of the machine.
CLOCK_TOLERANCE_MS: Final = 1000
STATE_FORMAT: Final = 1
# A state tells about the last seconds only; one that nobody wrote for so long is of an address that is not used.
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
    """Hold the requests to one service below its limit, across threads and processes.

    Args:
        state_file: file that all processes sharing the limit name; its folder is created when missing. With None, or
            when the file cannot be used, only the threads of this process are limited.
        per_second: requests allowed in any second; may be a fraction.
        min_interval_ms: least pause after the previous request; can only slow down.
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
        self._book = _open_book(state_file)

    def acquire(self, deadline: float | None = None) -> AbstractContextManager[None]:
        """Block until a request may be sent, which must then be sent at once: best inside the block that is returned.

        That holds back all other requests while the bytes of this one leave, and counts it as sent when they have
        left. So no wait for a connection, no other thread and no busy machine comes between the slot and the request.
        It raises SlotUnavailable, too, where that took so long that the window is full until after the deadline.

        Args:
            deadline: latest time to start, as `time.monotonic` counts; None waits as long as it takes.

        Raises:
            SlotUnavailable: the caller's slot lies after the deadline. Raised at once and without using up the slot,
                unless threads of this process stand in front and may still be quick enough.
        """
        book = self._book
        with book.turn(self._slot_ms, deadline):
            with book.opened() as now_ms:
                state, again_ms = self._reserve(book.seen, now_ms, deadline=deadline)
                book.save(state)
            book.last_slot_ms = again_ms
            while again_ms:
                _sleep_until(again_ms)
                with book.opened() as now_ms:
                    state, again_ms = self._leave(book.seen, now_ms, deadline=deadline)
                    book.save(state)
        return self._departure(now_ms, deadline)

    @contextmanager
    def _departure(self, counted_ms: int, deadline: float | None) -> Iterator[None]:
        """Hold the state while a request leaves that is counted as sent at a certain time, and correct that."""
        book = self._book
        while True:
            with book.opened() as now_ms:
                others = book.seen.without(counted_ms)
                _, again_ms = self._leave(others, now_ms, deadline=deadline)
                if not again_ms:
                    try:
                        yield
                    finally:
                        book.save(self._leave(others, _now_ms(), deadline=None)[0])
                    return
            _sleep_until(again_ms)

    def problem(self) -> str | None:
        """Return why requests of other processes cannot be counted, or None when they are."""
        self._book.alone_until_ms = 0
        with self._book.opened():
            return self._book.problem

    def _reserve(self, state: "_State", now_ms: int, *, deadline: float | None) -> tuple["_State", int]:
        """Take the next free slot; return when it is."""
        longest_ms = max(LONGEST_QUEUE_SLOTS * self._slot_ms, LONGEST_QUEUE_MS)
        free_us = state.free_us if state.free_us <= (now_ms + longest_ms) * 1000 else 0
        taken, decision = _SLOTS.step(self._slots, (free_us,), now_ms, 1)
        slot_ms = now_ms + (decision.retry_after_ms or 0)
        _refuse_after(deadline, slot_ms, now_ms)
        if not decision.allowed:
            taken, _ = _SLOTS.step(self._slots, (free_us,), slot_ms, 1)
        return replace(state, free_us=int(taken[0])), slot_ms

    def _leave(self, state: "_State", now_ms: int, *, deadline: float | None) -> tuple["_State", int]:
        """Note that a request leaves now and return 0, or return when to ask again."""
        counts = [sum(sent >= _WINDOW.window_start(rate, now_ms) for sent in state.sent_ms) for rate in self._windows]
        decision = _WINDOW.decide(self._windows, counts, 1, now_ms, lambda back: state.sent_ms[-1 - back])
        if not decision.allowed:
            again_ms = now_ms + max(decision.retry_after_ms or 0, 1)
            _refuse_after(deadline, again_ms, now_ms)
            return state, again_ms
        # Others may count over a longer window than this caller: keep two seconds, which is more than any needs.
        oldest_ms = now_ms - max(2 * WINDOW_MS, *(rate.interval for rate in self._windows))
        sent_ms = (*(sent for sent in state.sent_ms if sent >= oldest_ms), now_ms)
        return replace(state, sent_ms=sent_ms[-2 * MAX_COUNTED :]), 0


def _refuse_after(deadline: float | None, slot_ms: int, now_ms: int) -> None:
    if deadline is not None and slot_ms > deadline * 1000:
        raise SlotUnavailable((slot_ms - now_ms) / 1000)


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def _sleep_until(moment_ms: int) -> None:
    while (left := moment_ms / 1000 - time.monotonic()) > 0:
        time.sleep(left)


@dataclass(frozen=True, slots=True)
class _State:
    """What all callers share: when the next slot is free, and when the latest requests left."""

    free_us: int = 0
    sent_ms: tuple[int, ...] = ()

    def without(self, sent_ms: int) -> "_State":
        """Return the state but for one request that was counted as sent at this time."""
        index = bisect_left(self.sent_ms, sent_ms)
        if self.sent_ms[index : index + 1] != (sent_ms,):
            return self
        return replace(self, sent_ms=self.sent_ms[:index] + self.sent_ms[index + 1 :])

    def as_line(self, now_ms: int) -> bytes:
        """Return the line that is saved."""
        record = {"format": STATE_FORMAT, "saved_ms": now_ms, "free_us": self.free_us, "sent_ms": self.sent_ms}
        return json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"


class _SharedState:
    """The state behind all limiters of this process that name the same file, and the queue of its threads.

    Without a usable file the state lives in this process alone. What was last seen in the file is remembered, so that a
    file which is removed, damaged or out of reach takes nothing with it that this process knew.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.seen = _State()
        self.problem = None if path else "no state file is set"
        self.alone_until_ms = 0
        self.last_slot_ms = 0
        self.renew()
        _ALL_BOOKS.add(self)

    def renew(self) -> None:
        """Start with free locks and an empty queue, as a forked child must: its parent's threads are not there."""
        self._update_lock = threading.Lock()
        self._queue_lock = threading.Lock()
        self._queue: deque[threading.Event] = deque()
        self._descriptor: int | None = None

    @contextmanager
    def turn(self, slot_ms: int, deadline: float | None) -> Iterator[None]:
        """Wait behind the threads of this process that came earlier.

        Raises:
            SlotUnavailable: even if no other process wanted a slot, there would be none before the deadline.
        """
        mine = threading.Event()
        try:
            with self._queue_lock:
                ahead = len(self._queue)
                self._queue.append(mine)
            if ahead:
                earliest_ms = self.last_slot_ms + ahead * slot_ms
                _refuse_after(deadline, earliest_ms, _now_ms())
                patience = threading.TIMEOUT_MAX if deadline is None else deadline - time.monotonic()
                if not mine.wait(min(max(patience, 0), threading.TIMEOUT_MAX)):
                    raise SlotUnavailable(max(earliest_ms - _now_ms(), slot_ms) / 1000)
            yield
        finally:
            with self._queue_lock:
                with suppress(ValueError):
                    self._queue.remove(mine)
                if self._queue:
                    self._queue[0].set()

    @contextmanager
    def opened(self) -> Iterator[int]:
        """Bring the state, ``seen``, up to date and let nobody else change it meanwhile; yield what time it is."""
        with self._update_lock, ExitStack() as stack:
            self._descriptor = None
            if self._path is not None and _now_ms() >= self.alone_until_ms:
                try:
                    descriptor = stack.enter_context(_locked(self._path))
                    self._read(descriptor)
                    self._descriptor = descriptor
                except (OSError, NotImplementedError) as exc:
                    self._go_alone(exc)
            yield _now_ms()

    def save(self, state: _State) -> None:
        """Replace the state, which is opened."""
        if state is self.seen:
            return
        self.seen = state
        if self._descriptor is not None:
            try:
                _write(self._descriptor, state.as_line(_now_ms()))
            except OSError as exc:
                self._go_alone(exc)

    def _go_alone(self, problem: Exception) -> None:
        """Limit this process alone for a while, since the file cannot be used."""
        self.problem = f"{self._path}: {getattr(problem, 'strerror', None) or problem}"
        self.alone_until_ms = _now_ms() + RETRY_FILE_MS

    def _read(self, descriptor: int) -> None:
        now_ms = _now_ms()
        text = os.read(descriptor, MAX_STATE_BYTES)
        saved = _parse(text)
        if saved and saved[0] <= now_ms + CLOCK_TOLERANCE_MS and not self.problem:
            state = saved[1]
        else:
            state = self._repaired(text, saved, now_ms)
            _write(descriptor, state.as_line(now_ms))  # now, since a caller may be refused and leave all as it is
        self.seen, self.problem = state, None

    def _repaired(self, text: bytes, saved: tuple[int, _State] | None, now_ms: int) -> _State:
        """Return what to go on with where the saved state is missing, means nothing, or misses something."""
        known = self.seen
        if saved is None:
            # After damage, others may have sent requests until a moment ago: keep quiet for as long as these count.
            return replace(known, free_us=max(known.free_us, (now_ms + WINDOW_MS) * 1000)) if text else known
        saved_ms, state = saved
        if saved_ms > now_ms + CLOCK_TOLERANCE_MS:
            return known
        # This process limited itself alone for a while: the file does not know of its requests.
        return _State(max(state.free_us, known.free_us), tuple(sorted({*state.sent_ms, *known.sent_ms})))


def _write(descriptor: int, line: bytes) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    if os.write(descriptor, line) != len(line):
        raise OSError("the state could not be written in full")
    os.ftruncate(descriptor, len(line))


def _parse(text: bytes) -> tuple[int, _State] | None:
    """Return when a state was saved and the state, or None when the line is not one of ours."""
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
def _locked(path: Path) -> Iterator[int]:
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
                    raise TimeoutError("another process holds the lock and does not let it go")
                time.sleep(LOCK_POLL_SECONDS)
            try:
                if os.fstat(descriptor).st_nlink:  # else someone removed the file while this process waited
                    yield descriptor
                    return
            finally:
                unlock_descriptor(descriptor)  # said aloud: a child forked just now has the descriptor, too
        finally:
            os.close(descriptor)
        if time.monotonic() >= give_up:
            raise TimeoutError("the state file is removed again and again")


_BOOKS: Final[WeakValueDictionary[str, _SharedState]] = WeakValueDictionary()
_ALL_BOOKS: Final[WeakSet[_SharedState]] = WeakSet()
_BOOKS_LOCK = threading.Lock()


def _open_book(path: Path | None) -> _SharedState:
    """Return the one book of this process for a file, or a new one where there is no file."""
    if path is None:
        return _SharedState(None)
    absolute = path.absolute()  # the working folder may change later
    with _BOOKS_LOCK:
        book = _BOOKS.get(str(absolute))
        if book is None:
            _remove_unused(absolute)
            book = _BOOKS[str(absolute)] = _SharedState(absolute)
        return book


def _remove_unused(own: Path) -> None:
    """Remove the states beside a file that nobody wrote for a week, each under its lock, so that no user loses one."""
    with suppress(OSError, NotImplementedError):
        for path in own.parent.glob("limit-*.json"):
            if path != own and _is_unused(path.lstat()):
                with _locked(path) as descriptor:
                    if _is_unused(os.fstat(descriptor)):
                        path.unlink()


def _is_unused(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_mtime < time.time() - UNUSED_SECONDS


def _renew_after_fork() -> None:
    global _BOOKS_LOCK
    _BOOKS_LOCK = threading.Lock()
    for book in list(_ALL_BOOKS):
        book.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)
