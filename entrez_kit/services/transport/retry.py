"""Retries around a whole call: what may be tried again, how long to wait, when to give up."""

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
_CHANCE: Final = random.SystemRandom()  # whoever seeds `random` goes on getting the same numbers

T = TypeVar("T")


class Retryable(Exception):
    """An attempt failed in a way that may pass.

    Args:
        error: what to raise when no further attempt is made.
        wait: seconds the service asked to wait.
        at_most: how often it is worth asking again after this sort of failure, where that is less than usual.
    """

    def __init__(self, error: EntrezKitError, *, wait: float | None = None, at_most: int | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.wait = wait
        self.at_most = at_most


class OutOfTime(Exception):
    """There is no time left for the next attempt; ``last`` is why one would be needed."""

    def __init__(self, last: Retryable) -> None:
        super().__init__(str(last))
        self.last = last


@dataclass(frozen=True)
class Backoff:
    """Waits between attempts: they double up to a cap, and are spread so that callers do not return together."""

    first: float = 0.5
    cap: float = 10.0
    spread: float = 0.25

    def seconds(self, failures: int, asked: float | None) -> float:
        """Return how long to wait after this many failures; what the service asked for goes first."""
        if asked is not None:
            return min(asked, RETRY_AFTER_CAP_SECONDS) + _CHANCE.uniform(0, RETRY_AFTER_JITTER_SECONDS)
        doubled: float = min(self.first * 2 ** (failures - 1), self.cap)
        return doubled * _CHANCE.uniform(1 - self.spread, 1 + self.spread)


def run(
    attempt: Callable[[int], T],
    *,
    retries: int,
    deadline: float,
    backoff: Backoff,
    sleep: Callable[[float], None],
    announce: Callable[[int, float, Retryable], None],
) -> T:
    """Call ``attempt`` with 1, 2, ... until it returns, raises something final or may not be repeated.

    Args:
        retries: further attempts after the first.
        deadline: `time.monotonic` value after which no attempt starts.
        sleep: waits the given seconds.
        announce: told of every retry beforehand: attempts made so far, the wait, the reason.

    Raises:
        Retryable: the last attempt failed, too.
        OutOfTime: the next attempt would start after the deadline.
    """
    number = doubtful = 0
    while True:
        number += 1
        try:
            return attempt(number)
        except Retryable as exc:
            fault = exc
        doubtful += fault.at_most is not None
        if number > retries or (fault.at_most is not None and doubtful > fault.at_most):
            raise fault
        wait = backoff.seconds(number, fault.wait)
        if time.monotonic() + wait >= deadline:
            raise OutOfTime(fault)
        announce(number, wait, fault)
        sleep(wait)


def parse_retry_after(value: str | None, *, now: float | None = None) -> float | None:
    """Return the seconds a Retry-After header asks for, given as a number or as a date; None when it says nothing."""
    text = (value or "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))
