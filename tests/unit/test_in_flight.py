"""Requests that do not wait for one another."""

import threading

import pytest

from entrez_kit import tracing
from entrez_kit.batches import all_at_once, in_background
from entrez_kit.errors import UpstreamError


def test_calls_run_at_the_same_time_and_their_results_come_in_order() -> None:
    gate = threading.Barrier(3, timeout=30)

    def call(number: int) -> int:
        gate.wait()
        return number

    assert all_at_once([lambda number=number: call(number) for number in range(3)]) == [0, 1, 2]  # type: ignore[misc]


def test_what_a_call_raises_is_raised_where_its_result_is_waited_for() -> None:
    def fail() -> int:
        raise UpstreamError("no answer")

    wait = in_background(fail)

    with pytest.raises(UpstreamError, match="no answer"):
        wait()


def test_calls_belong_to_the_trace_they_were_started_in() -> None:
    with tracing.trace("abc"):
        assert [trace and trace.request_id for trace in all_at_once([tracing.current_trace] * 2)] == ["abc", "abc"]
