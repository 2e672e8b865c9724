"""The rate limiter, with real processes, real threads and a real server for promises about them.

Tests of its file are in test_limiter_file.py.
"""

import heapq
import os
import random
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from arrival_server import arrival_server, count_most_in_a_second, start_clients
from limiter_threads import (
    STALLED_SECONDS,
    acquire_before,
    check_whole_number,
    hold_state_file,
    read_saved_state,
    run_in_threads,
    wait_until,
)

from entrez_kit.services.transport import limiter as module
from entrez_kit.services.transport.limiter import RateLimiter, SlotUnavailable

pytestmark = pytest.mark.long


# Processes against a server


@pytest.mark.process
@pytest.mark.parametrize(("processes", "threads", "per_second"), [(4, 1, 10), (2, 2, 3)])
def test_no_second_has_more_requests_than_allowed(
    state_file: Path, processes: int, threads: int, per_second: int
) -> None:
    options = {"state_file": str(state_file), "per_second": per_second, "seconds": 2, "threads": threads}
    with arrival_server() as server, start_clients(processes, server, **options) as started:
        for client in started:
            client.go()
        for client in started:
            client.finish(STALLED_SECONDS)

        assert count_most_in_a_second(server.times) <= per_second
        # the limit is also used; the benchmark measures how much of it
        assert len(server.times) >= 2 * per_second * 0.8
        fair_share = processes * threads / per_second
        assert max(wait for client in started for wait in client.waits) < 4 * fair_share


@pytest.mark.process
def test_processes_killed_at_any_moment_delay_no_other_process(state_file: Path) -> None:
    options = {"state_file": str(state_file), "per_second": 10, "seconds": 60}
    chance = random.Random(7)
    with arrival_server() as server, start_clients(6, server, **options) as started:
        for client in started:
            client.go()
        wait_until(lambda: len(server.times) >= 6)
        for client in started[:4]:
            time.sleep(chance.uniform(0.05, 0.3))
            client.kill()
        survivors = {"4", "5"}
        killed_at = time.monotonic()

        def count_sent_since(name: str) -> int:
            return sum(arrival.client == name and arrival.at > killed_at for arrival in server.arrivals)

        wait_until(lambda: all(count_sent_since(name) >= 4 for name in survivors))
        took = time.monotonic() - killed_at

        assert count_most_in_a_second(server.times) <= 10
        assert took < STALLED_SECONDS / 2, f"eight requests of the other processes took {took:.1f} s"


@pytest.mark.process
def test_a_process_killed_while_it_has_the_lock_delays_no_other_process(state_file: Path) -> None:
    RateLimiter(state_file, per_second=10).acquire()
    hold = (
        "import os, sys, time; from filelock import lock_descriptor\n"
        "lock_descriptor(os.open(sys.argv[1], os.O_RDWR)); print('held', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", hold, str(state_file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        limiter = RateLimiter(state_file, per_second=10)
        waiting = threading.Thread(target=limiter.acquire)
        waiting.start()
        time.sleep(0.1)
        assert waiting.is_alive(), "the lock was not respected"
        os.kill(holder.pid, signal.SIGKILL)
        waiting.join(STALLED_SECONDS)

    assert not waiting.is_alive()
    assert limiter.find_problem() is None


def test_a_process_stopped_while_it_has_the_lock_delays_no_other_process(
    state_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limiter = RateLimiter(state_file, per_second=10)
    limiter.acquire()
    monkeypatch.setattr(module, "LOCK_PATIENCE_SECONDS", 0.2)
    with hold_state_file(state_file):
        times = []
        for _ in range(3):
            limiter.acquire()
            times.append(time.monotonic())

        assert times[2] - times[0] >= 0.2, "requests of this process are still limited"
        assert "lock" in (limiter.find_problem() or "")
    assert limiter.find_problem() is None, "the file is used again if possible"


def test_a_file_removed_while_others_wait_for_it_is_no_longer_used(state_file: Path) -> None:
    waiting = threading.Thread(target=RateLimiter(state_file, per_second=10).find_problem)
    with hold_state_file(state_file):
        waiting.start()
        time.sleep(0.1)
        state_file.unlink()
    waiting.join(STALLED_SECONDS)

    assert not waiting.is_alive()
    assert state_file.exists(), "the state is where new processes read it"


# Threads, and limiters that share a file


@pytest.mark.parametrize("shared", [True, False])
def test_threads_share_the_limit_with_one_limiter_or_with_one_each(state_file: Path, shared: bool) -> None:
    one = RateLimiter(state_file, per_second=10)
    times: list[float] = []

    def work() -> None:
        own = one if shared else RateLimiter(state_file, per_second=10)
        for _ in range(3):
            own.acquire()
            times.append(time.monotonic())

    run_in_threads(6, work)

    assert len(times) == 18
    assert count_most_in_a_second(times) <= 10


def test_threads_get_their_slots_in_the_order_of_their_requests(
    state_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limiter = RateLimiter(state_file, per_second=100)
    served: list[str] = []
    reserve = limiter._reserve

    def note_thread(*arguments: Any, **options: Any) -> Any:
        served.append(threading.current_thread().name)
        return reserve(*arguments, **options)

    monkeypatch.setattr(limiter, "_reserve", note_thread)
    threads: list[threading.Thread] = []
    with limiter._shared.wait_turn(0, None):
        for number in range(6):
            threads.append(threading.Thread(target=limiter.acquire, name=str(number)))
            threads[-1].start()
            wait_until(lambda: len(limiter._shared._queue) == 1 + len(threads))
    for thread in threads:
        thread.join(STALLED_SECONDS)

    assert served == ["0", "1", "2", "3", "4", "5"]


def test_a_process_with_many_threads_has_one_slot_at_a_time(state_file: Path) -> None:
    limiter = RateLimiter(state_file, per_second=10)
    limiter.acquire()
    threads = [threading.Thread(target=acquire_before, args=(limiter, time.monotonic() + 1.5)) for _ in range(20)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    ahead = check_whole_number(read_saved_state(state_file)["free_us"]) / 1_000_000 - time.monotonic()
    for thread in threads:
        thread.join(STALLED_SECONDS)

    assert ahead < 3 * 0.106, "a killed process would leave a long gap"


@pytest.mark.process
def test_a_forked_child_gets_slots_although_its_parent_was_waiting(state_file: Path) -> None:
    script = """
import os, sys, threading, time, warnings
from pathlib import Path
from entrez_kit.services.transport.limiter import RateLimiter
warnings.simplefilter("ignore")  # newer Pythons warn of forking with threads, which is the point here
limiter = RateLimiter(Path(sys.argv[1]), per_second=3)
limiter.acquire()
for _ in range(3):
    threading.Thread(target=limiter.acquire).start()
time.sleep(0.1)
child = os.fork()
if not child:
    limiter.acquire()
    os._exit(7)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    command = [sys.executable, "-c", script, str(state_file)]
    assert subprocess.run(command, timeout=STALLED_SECONDS, check=False).returncode == 7


# Waiting, deadlines, interruptions


@pytest.mark.usefixtures("leaping_clock")
def test_a_call_after_a_pause_does_not_wait(state_file: Path, request: pytest.FixtureRequest) -> None:
    RateLimiter(state_file, per_second=3).acquire()
    time.sleep(0.4)
    request.getfixturevalue("no_sleep")
    RateLimiter(state_file, per_second=3).acquire()


@pytest.mark.usefixtures("leaping_clock")
def test_a_slot_after_the_deadline_is_refused_at_once_and_not_used(state_file: Path) -> None:
    limiter = RateLimiter(state_file, per_second=1)
    limiter.acquire()
    before = state_file.read_bytes()
    for _ in range(10):
        requested = time.monotonic()
        with pytest.raises(SlotUnavailable) as refused:
            limiter.acquire(requested + 0.1)
        assert 0.1 < refused.value.wait_seconds < 1.1
    assert state_file.read_bytes() == before
    assert time.monotonic() - requested < 0.5  # a sleep puts this clock forward

    limiter.acquire(time.monotonic() + 5)


def test_threads_whose_slot_would_be_too_late_are_refused_at_once(state_file: Path) -> None:
    limiter = RateLimiter(state_file, per_second=1)
    limiter.acquire()
    first = threading.Thread(target=limiter.acquire)
    first.start()
    time.sleep(0.05)
    requested = time.monotonic()
    with pytest.raises(SlotUnavailable) as refused:
        limiter.acquire(requested + 1.2)  # the first thread has the slot after 1 s, the next one after 2 s
    assert first.is_alive()
    assert refused.value.wait_seconds > 1.2
    first.join(STALLED_SECONDS)


def test_a_thread_whose_deadline_passes_in_the_queue_is_refused(state_file: Path) -> None:
    limiter = RateLimiter(state_file, per_second=2)
    limiter.acquire()
    other = RateLimiter(state_file, per_second=2, min_interval_ms=1500)  # it takes longer than the queue can know
    first = threading.Thread(target=other.acquire)
    first.start()
    time.sleep(0.05)
    with pytest.raises(SlotUnavailable):
        limiter.acquire(time.monotonic() + 1.1)
    first.join(STALLED_SECONDS)
    limiter.acquire(time.monotonic() + STALLED_SECONDS)


def test_an_infinite_deadline_is_accepted(state_file: Path) -> None:
    limiter = RateLimiter(state_file, per_second=50)
    run_in_threads(3, lambda: limiter.acquire(float("inf")))


def test_an_interrupted_wait_loses_only_its_slot(state_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limiter = RateLimiter(state_file, per_second=10)
    limiter.acquire()

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", interrupt)
        with pytest.raises(KeyboardInterrupt):
            limiter.acquire()

    limiter.acquire(time.monotonic() + 1)


@pytest.mark.usefixtures("leaping_clock")
def test_a_minimum_pause_slows_down_and_never_speeds_up(state_file: Path, tmp_path: Path) -> None:
    slow = RateLimiter(state_file, per_second=10, min_interval_ms=300)
    times = []
    for _ in range(4):
        slow.acquire()
        times.append(time.monotonic())
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) >= 0.29

    quick = RateLimiter(tmp_path / "other", per_second=5, min_interval_ms=50)
    times = []
    for _ in range(7):
        quick.acquire()
        times.append(time.monotonic())
    assert count_most_in_a_second(times) <= 5


@pytest.mark.usefixtures("leaping_clock")
def test_a_rate_may_be_a_fraction(state_file: Path) -> None:
    limiter = RateLimiter(state_file, per_second=2.5)
    times = []
    for _ in range(4):
        limiter.acquire()
        times.append(time.monotonic())

    assert times[3] - times[0] >= 3 / 2.5

    RateLimiter(state_file.with_name("slow"), per_second=0.1).acquire()
    with pytest.raises(SlotUnavailable) as refused:
        RateLimiter(state_file.with_name("slow"), per_second=0.1).acquire(time.monotonic() + 1)
    assert 9 < refused.value.wait_seconds < 11


@pytest.mark.parametrize("per_second", [0, -1, float("nan"), float("inf")])
def test_a_rate_of_zero_is_rejected(per_second: float) -> None:
    with pytest.raises(ValueError, match="per_second"):
        RateLimiter(None, per_second=per_second)


@pytest.mark.parametrize("latest_ms", [0, 20, 120, 800])
def test_callers_that_wake_late_never_exceed_the_limit(state_file: Path, latest_ms: int) -> None:
    """Simulate 16 processes with separate clocks, each woken late at random."""
    chance = random.Random(latest_ms)
    limiter = RateLimiter(state_file, per_second=10)
    state = module._State()  # a simulation without any waiting
    leaving: list[int] = []
    waits: list[int] = []
    # (time, tie-break, when it began to wait, whether it has a slot)
    events = [(1000 + number, number, 1000 + number, False) for number in range(16)]
    heapq.heapify(events)
    while len(leaving) < 600:
        now_ms, number, begun, has_slot = heapq.heappop(events)
        if not has_slot:
            state, due_ms = limiter._reserve(state, now_ms, deadline=None)
        else:
            state, due_ms = limiter._try_departure(state, now_ms, deadline=None)
            if not due_ms:
                leaving.append(now_ms)
                waits.append(now_ms - begun)
                heapq.heappush(events, (now_ms + 5, number, now_ms + 5, False))
                continue
        late_ms = chance.randint(0, latest_ms) if chance.random() < 0.3 else 0
        heapq.heappush(events, (due_ms + late_ms, number, begun, True))

    assert count_most_in_a_second([moment / 1000 for moment in leaving]) <= 10
    assert max(waits) < 4 * 1600
    span_seconds = (leaving[-1] - leaving[0]) / 1000
    assert len(leaving) / span_seconds > 9.3


def test_the_count_of_arrivals_uses_half_open_windows() -> None:
    assert count_most_in_a_second([0.0, 0.5, 1.0]) == 2
    assert count_most_in_a_second([0.0, 0.5, 0.999]) == 3
