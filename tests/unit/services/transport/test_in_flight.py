"""Requests in flight at the same time."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from entrez_kit.base import tracing
from entrez_kit.base.errors import UpstreamError
from entrez_kit.base.progress import Cancelled, Watch, begin_stage, report_progress, watch_calls
from entrez_kit.services.transport import in_flight
from entrez_kit.services.transport.in_flight import run_all, run_in_order, start_all, start_in_background


def test_calls_run_at_the_same_time_and_their_results_are_in_order() -> None:
    gate = threading.Barrier(3, timeout=30)

    def call(number: int) -> int:
        gate.wait()
        return number

    assert run_all([lambda number=number: call(number) for number in range(3)]) == [0, 1, 2]  # type: ignore[misc]


def test_no_calls_have_no_results() -> None:
    assert run_all([]) == list(run_in_order([], 4)) == []


def test_an_error_of_a_call_is_raised_when_its_result_is_read() -> None:
    def fail() -> int:
        raise UpstreamError("no answer")

    wait = start_in_background(fail)

    with pytest.raises(UpstreamError, match="no answer"):
        wait()


def test_the_result_of_a_started_call_can_be_read_in_any_order_by_any_thread_repeatedly() -> None:
    def call(number: int) -> int:
        if number == 1:
            raise UpstreamError("no answer")
        return number

    first, second, third = start_all([partial(call, number) for number in range(3)])

    assert (third(), first(), third()) == (2, 0, 2)
    assert run_all([third, third]) == [2, 2]
    for _ in range(2):
        with pytest.raises(UpstreamError, match="no answer"):
            second()
    assert start_all([]) == []


def test_calls_belong_to_the_trace_in_which_they_were_started() -> None:
    with tracing.trace("abc"):
        assert [trace and trace.request_id for trace in run_all([tracing.get_current_trace] * 2)] == ["abc", "abc"]
        assert [trace and trace.request_id for trace in run_in_order([tracing.get_current_trace] * 3, 2)] == ["abc"] * 3


class Service:
    """Sends requests one after the other, and answers them when a test wants it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.standing = self.most_standing = self.under_way = self.most_under_way = 0
        self.begun: list[int] = []
        self.answers = threading.Event()
        self.size = 0

    def ask(self, number: int) -> int:
        with self.lock:
            self.begun.append(number)
            self.standing += 1
            self.under_way += 1
            self.most_standing = max(self.most_standing, self.standing)
            self.most_under_way = max(self.most_under_way, self.under_way)
        in_flight.stop_if_unneeded()
        time.sleep(0.001)
        with self.lock:
            self.standing -= 1
        in_flight.mark_sent()
        self.answers.wait(20)
        in_flight.add_received(self.size)
        with self.lock:
            self.under_way -= 1
        return number

    def make_calls(self, count: int) -> Iterator[Callable[[], int]]:
        return (partial(self.ask, number) for number in range(count))

    def has_begun(self, count: int) -> bool:
        """Wait until this many calls have begun, and a moment more for one that should not."""
        until = time.monotonic() + 10
        while len(self.begun) < count and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(0.05)
        return len(self.begun) == count


def test_one_call_waits_for_the_limiter_and_the_next_begins_when_its_request_is_sent() -> None:
    service = Service()
    results = run_in_order(service.make_calls(20), 6)
    threading.Timer(0.2, service.answers.set).start()

    assert list(results) == list(range(20))
    assert service.begun == list(range(20))
    assert service.most_standing == 1
    assert service.most_under_way == 6


@pytest.mark.long
def test_results_of_calls_without_requests_are_complete_and_in_order() -> None:
    for _ in range(20):
        assert list(run_in_order((partial(int, number) for number in range(100)), 4)) == list(range(100))


def test_no_request_is_sent_before_the_first_result_is_read() -> None:
    service = Service()
    results = run_in_order(service.make_calls(20), 6)
    assert service.has_begun(0)

    service.answers.set()
    assert next(results) == 0


def test_a_reader_that_stops_early_has_caused_few_requests() -> None:
    service = Service()
    service.answers.set()
    results = run_in_order(service.make_calls(100), 4)
    assert next(results) == 0

    assert service.has_begun(1 + in_flight.AHEAD * 4)


def test_the_bytes_of_waiting_results_are_limited() -> None:
    service = Service()
    service.answers.set()
    service.size = in_flight.MAX_HELD_BYTES // 2
    results = run_in_order(service.make_calls(100), 10)
    assert next(results) == 0

    assert len(service.begun) <= 5
    assert list(results) == list(range(1, 100))


def test_after_an_error_no_further_call_begins_and_waiting_calls_send_nothing() -> None:
    service = Service()
    stopped = threading.Event()

    def wait_for_slot() -> int:
        service.answers.wait(20)
        try:
            in_flight.stop_if_unneeded()
        except Cancelled:
            stopped.set()
            raise
        return 1

    def fail() -> int:
        in_flight.mark_sent()
        raise UpstreamError("no answer")

    calls: list[Callable[[], int]] = [fail, wait_for_slot, partial(service.ask, 2)]
    with pytest.raises(UpstreamError):
        list(run_in_order(calls, 4))
    service.answers.set()

    assert stopped.wait(10)
    assert service.has_begun(0)


def test_a_request_of_a_nested_call_lets_the_next_call_begin() -> None:
    gate = threading.Barrier(2, timeout=10)

    def inner() -> int:
        in_flight.mark_sent()
        gate.wait()
        return 1

    def outer() -> int:
        return sum(run_in_order([inner], 2))

    assert list(run_in_order([outer, outer], 2)) == [1, 1]


def test_simultaneous_calls_can_be_stopped_and_report_no_individual_progress() -> None:
    reported: list[int] = []

    def call() -> None:
        report_progress(1, 2)
        begin_stage("a part")

    with watch_calls(Watch(wanted=lambda: True, progress=lambda done, total: reported.append(done))):
        list(run_in_order([call, call], 2))
    assert reported == []

    with (
        watch_calls(Watch(wanted=lambda: False, progress=lambda done, total: None)),
        pytest.raises(Cancelled),
    ):
        list(run_in_order([call, call], 2))
