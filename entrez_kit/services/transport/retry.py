"""Retries of a call: which failures are retried, how long to wait, when to stop."""

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final, TypeVar

from entrez_kit.base.errors import EntrezKitError

RETRY_AFTER_CAP_SECONDS: Final = 30.0
RETRY_AFTER_JITTER_SECONDS: Final = 0.25
_CHANCE: Final = random.SystemRandom()  # a program that seeds `random` gets the same numbers as without us

T = TypeVar("T")


class Retryable(Exception):
    """An attempt failed, and a retry may succeed.

    Args:
        error: the error to raise if there is no further attempt.
        wait: the seconds that the service asked to wait.
        at_most: maximum number of retries after this kind of failure, if it is less than usual.
    """

    def __init__(self, error: EntrezKitError, *, wait: float | None = None, at_most: int | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.wait = wait
        self.at_most = at_most


class OutOfTime(Exception):
    """No time is left for the next attempt; ``last`` is the failure of the last one."""

    def __init__(self, last: Retryable) -> None:
        super().__init__(str(last))
        self.last = last


@dataclass(frozen=True)
class Backoff:
    """Waiting times between attempts: they double up to a cap, with jitter so that callers do not retry together."""

    first: float = 0.5
    cap: float = 10.0
    spread: float = 0.25

    def compute_wait(self, failures: int, retry_after: float | None) -> float:
        """Return the seconds to wait after this many failures; a time that the service asked for has priority."""
        if retry_after is not None:
            return min(retry_after, RETRY_AFTER_CAP_SECONDS) + _CHANCE.uniform(0, RETRY_AFTER_JITTER_SECONDS)
        doubled: float = min(self.first * 2 ** (failures - 1), self.cap)
        return doubled * _CHANCE.uniform(1 - self.spread, 1 + self.spread)


def run_attempts(
    attempt: Callable[[], T],
    *,
    retries: int,
    deadline: float,
    backoff: Backoff,
    sleep: Callable[[float], None],
    announce: Callable[[int, float, Retryable], None],
) -> T:
    """Call ``attempt`` until it returns, raises a final error or has no retries left.

    Args:
        retries: maximum number of attempts after the first.
        deadline: `time.monotonic` value after which no attempt starts.
        sleep: waits the given seconds.
        announce: called before every retry with the attempts so far, the waiting time and the failure.

    Raises:
        Retryable: the last attempt also failed.
        OutOfTime: the next attempt would start after the deadline.
    """
    number = doubtful = 0
    while True:
        number += 1
        try:
            return attempt()
        except Retryable as exc:
            fault = exc
        doubtful += fault.at_most is not None
        if number > retries or (fault.at_most is not None and doubtful > fault.at_most):
            raise fault
        wait = backoff.compute_wait(number, fault.wait)
        if time.monotonic() + wait >= deadline:
            raise OutOfTime(fault)
        announce(number, wait, fault)
        sleep(wait)


def parse_retry_after(value: str | None, *, now: float | None = None) -> float | None:
    """Return the seconds of a Retry-After header, which is a number or a date; None if it is missing or invalid."""
    text = (value or "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))
