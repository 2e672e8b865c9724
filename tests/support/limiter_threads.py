"""Threads that must end, and the saved state of the rate limiter."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from filelock import lock_descriptor, unlock_descriptor

from entrez_kit.base.private_files import open_private
from entrez_kit.services.transport.limiter import RateLimiter, SlotUnavailable

# Long enough for a busy machine, but finite.
STALLED_SECONDS = 20.0


def run_in_threads(count: int, work: Callable[[], object]) -> None:
    """Run the same work in several threads at once; each must come to its end."""
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(STALLED_SECONDS)
        assert not thread.is_alive(), "a thread got no slot"


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true, which another thread changes."""
    give_up = time.monotonic() + STALLED_SECONDS
    while not condition():
        assert time.monotonic() < give_up, "the condition was never true"
        time.sleep(0.005)


def acquire_before(limiter: RateLimiter, deadline: float) -> None:
    """Request a slot and accept a refusal."""
    with suppress(SlotUnavailable):
        limiter.acquire(deadline)


@contextmanager
def hold_state_file(path: Path) -> Iterator[None]:
    """Hold the lock of a state file, like another process that does not release it."""
    descriptor = open_private(path)
    assert lock_descriptor(descriptor, blocking=False)
    try:
        yield
    finally:
        unlock_descriptor(descriptor)
        os.close(descriptor)


def read_saved_state(state_file: Path) -> dict[str, object]:
    """Return what the file holds."""
    record = json.loads(state_file.read_text(encoding="utf-8"))
    assert isinstance(record, dict)
    return record


def list_sent(state_file: Path) -> list[object]:
    """Return the saved times of the latest requests."""
    sent = read_saved_state(state_file)["sent_ms"]
    assert isinstance(sent, list)
    return sent


def check_whole_number(value: object) -> int:
    """Return a value that must be a whole number."""
    assert isinstance(value, int)
    return value


@pytest.fixture(name="state_file")
def state_file_fixture(tmp_path: Path) -> Path:
    """Return the path of the state file of a limiter; its folder does not exist yet."""
    return tmp_path / "state" / "eutils"


@pytest.fixture(name="no_sleep")
def no_sleep_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if a test sleeps."""

    def refuse(seconds: float) -> None:
        raise AssertionError(f"waited {seconds} s")

    monkeypatch.setattr(time, "sleep", refuse)
