"""Delays between attempts, and their maximum number, without real waiting."""

import time
from email.utils import formatdate

import pytest

from entrez_kit.base.errors import InvalidInput, UpstreamError
from entrez_kit.services.transport.retry import (
    RETRY_AFTER_CAP_SECONDS,
    RETRY_AFTER_JITTER_SECONDS,
    Backoff,
    OutOfTime,
    Retryable,
    parse_retry_after,
    run_attempts,
)

EVEN = Backoff(first=1.0, cap=20.0, spread=0)


def make_failing(times: int, *, wait: float | None = None, at_most: int | None = None) -> tuple[list[int], object]:
    """Return the attempts made so far and a function that fails some times."""
    made: list[int] = []

    def attempt() -> str:
        made.append(len(made) + 1)
        if len(made) <= times:
            raise Retryable(UpstreamError("down"), wait=wait, at_most=at_most)
        return "up"

    return made, attempt


def run_attempt(
    attempt: object, *, retries: int = 6, seconds: float = 1000, waits: list[float] | None = None
) -> object:
    """Run an attempt without sleeping."""
    assert callable(attempt)
    return run_attempts(
        attempt,
        retries=retries,
        deadline=time.monotonic() + seconds,
        backoff=EVEN,
        sleep=(waits if waits is not None else []).append,
        announce=lambda failures, wait, why: None,
    )


def test_delays_double_up_to_a_maximum() -> None:
    waits: list[float] = []
    made, attempt = make_failing(6)

    assert run_attempt(attempt, waits=waits) == "up"
    assert made == [1, 2, 3, 4, 5, 6, 7]
    assert waits == [1, 2, 4, 8, 16, 20]


def test_delays_are_randomized() -> None:
    seconds = {Backoff().compute_wait(2, None) for _ in range(50)}

    assert len(seconds) > 10
    assert all(0.75 <= value <= 1.25 for value in seconds)


def test_the_delay_requested_by_the_service_is_used_up_to_the_maximum() -> None:
    waits: list[float] = []
    run_attempt(make_failing(1, wait=7.0)[1], waits=waits)
    run_attempt(make_failing(1, wait=9999.0)[1], waits=waits)

    assert 7.0 <= waits[0] <= 7.0 + RETRY_AFTER_JITTER_SECONDS
    assert RETRY_AFTER_CAP_SECONDS <= waits[1] <= RETRY_AFTER_CAP_SECONDS + RETRY_AFTER_JITTER_SECONDS


def test_after_the_last_attempt_the_failure_is_raised() -> None:
    made, attempt = make_failing(99)
    with pytest.raises(Retryable):
        run_attempt(attempt, retries=2)
    assert made == [1, 2, 3]


def test_some_failures_are_repeated_few_times() -> None:
    made, attempt = make_failing(99, at_most=1)
    with pytest.raises(Retryable):
        run_attempt(attempt, retries=9)
    assert made == [1, 2]


def test_no_attempt_starts_after_the_deadline_and_no_call_sleeps_until_then() -> None:
    waits: list[float] = []
    made, attempt = make_failing(99)
    with pytest.raises(OutOfTime):
        run_attempt(attempt, seconds=3.5, waits=waits)
    assert made == [1, 2, 3]
    assert waits == [1, 2]


def test_a_final_error_is_raised_at_once() -> None:
    made: list[int] = []

    def attempt() -> str:
        made.append(len(made) + 1)
        raise InvalidInput("no")

    with pytest.raises(InvalidInput):
        run_attempt(attempt)
    assert made == [1]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        ("5", 5.0),
        (" 2.5 ", 2.5),
        (None, None),
        ("", None),
        ("soon", None),
        ("-3", None),
        ("1e9", None),
        ("٣", None),
    ],
)
def test_retry_after_can_be_a_number_of_seconds(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header) == seconds


def test_retry_after_can_be_a_date() -> None:
    assert parse_retry_after(formatdate(1000.0, usegmt=True), now=990.0) == 10.0
    assert parse_retry_after(formatdate(1000.0, usegmt=True), now=2000.0) == 0.0
    assert parse_retry_after("Wed, 99 Foo 2024 25:00:00 GMT") is None
