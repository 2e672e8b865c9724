"""The file of the rate limiter: private, small, and never a reason to crash, to delay or to send too much."""

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from arrival_server import count_most_in_a_second
from limiter_threads import (
    acquire_before,
    check_whole_number,
    hold_state_file,
    list_sent,
    read_saved_state,
    run_in_threads,
)

from entrez_kit.services.transport import limiter as module
from entrez_kit.services.transport.limiter import RateLimiter, SlotUnavailable

pytestmark = pytest.mark.usefixtures("leaping_clock")


def test_the_state_is_one_small_private_file_of_numbers(state_file: Path) -> None:
    limiter = RateLimiter(state_file.parent / "deeper" / "eutils", per_second=50)
    for _ in range(60):
        limiter.acquire()
    folder = state_file.parent / "deeper"

    assert [path.name for path in folder.iterdir()] == ["eutils"]
    assert stat.S_IMODE((folder / "eutils").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    record = read_saved_state(folder / "eutils")
    assert sorted(record) == ["format", "free_us", "saved_ms", "sent_ms"]
    assert (folder / "eutils").stat().st_size < 4096


def test_a_file_that_others_can_read_is_made_private(state_file: Path) -> None:
    state_file.parent.mkdir(mode=0o700)
    state_file.write_bytes(b"")
    state_file.chmod(0o644)

    RateLimiter(state_file, per_second=10).acquire()

    assert stat.S_IMODE(state_file.stat().st_mode) == 0o600


DAMAGED = {
    "empty": b"",
    "garbage": b"\x00\xff not a state \xfe" * 40,
    "a foreign document": b'{"tokens": 7}\n',
    "a number": b"17\n",
    "deeply nested": b"[" * 8000,
    "another format": b'{"format":99,"saved_ms":1,"free_us":1,"sent_ms":[]}\n',
    "truncated": b'{"format":1,"saved_ms":12345,"free_us":123456789,"sent_',
    "wrong types": b'{"format":1,"saved_ms":"now","free_us":1.5,"sent_ms":{}}\n',
    "no list": b'{"format":1,"saved_ms":1,"free_us":1,"sent_ms":3}\n',
    "negative": b'{"format":1,"saved_ms":5,"free_us":-1,"sent_ms":[]}\n',
    "infinite": b'{"format":1,"saved_ms":5,"free_us":Infinity,"sent_ms":[]}\n',
    "unordered": b'{"format":1,"saved_ms":5,"free_us":1,"sent_ms":[3,2]}\n',
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_state_is_replaced_even_if_the_deadline_is_near(state_file: Path, content: bytes) -> None:
    state_file.parent.mkdir(mode=0o700)
    state_file.write_bytes(content)
    limiter = RateLimiter(state_file, per_second=10)

    acquire_before(limiter, time.monotonic() + 0.01)

    assert limiter.find_problem() is None
    assert check_whole_number(read_saved_state(state_file)["free_us"]) / 1_000_000 <= time.monotonic() + 1


def test_a_damaged_state_causes_a_wait_of_at_most_a_second(state_file: Path) -> None:
    state_file.parent.mkdir(mode=0o700)
    state_file.write_bytes(DAMAGED["truncated"])

    RateLimiter(state_file, per_second=10).acquire(time.monotonic() + 1.1)

    assert len(list_sent(state_file)) == 1


def test_after_damage_a_new_process_waits_a_second(state_file: Path) -> None:
    RateLimiter(state_file, per_second=10).acquire()
    state_file.write_bytes(b"garbage")

    with pytest.raises(SlotUnavailable) as refused:
        _make_other_process(state_file).acquire(time.monotonic() + 0.5)

    assert refused.value.wait_seconds == 1


def _make_other_process(state_file: Path) -> RateLimiter:
    """Return a limiter that only knows the others by the file, because it spells the file name differently."""
    return RateLimiter(state_file.parent / ".." / state_file.parent.name / state_file.name, per_second=10)


@pytest.mark.long
@pytest.mark.parametrize("content", [None, b"garbage"])
def test_losing_the_state_between_requests_does_not_exceed_the_limit(state_file: Path, content: bytes | None) -> None:
    limiter = RateLimiter(state_file, per_second=10)
    times = []
    for _ in range(13):
        limiter.acquire()
        times.append(time.monotonic())
        if len(times) % 6 == 0:
            state_file.unlink()
            if content is not None:
                state_file.write_bytes(content)

    assert count_most_in_a_second(times) <= 10


@pytest.mark.usefixtures("no_sleep")
def test_a_state_from_before_a_restart_is_ignored(state_file: Path) -> None:
    _write_state(state_file, saved_in_ms=60_000, free_in_ms=60_200)

    RateLimiter(state_file, per_second=3).acquire()

    assert check_whole_number(read_saved_state(state_file)["free_us"]) < (time.monotonic() + 10) * 1_000_000


@pytest.mark.usefixtures("no_sleep")
def test_a_queue_longer_than_any_real_one_is_ignored(state_file: Path) -> None:
    _write_state(state_file, saved_in_ms=-10, free_in_ms=3_600_000)

    RateLimiter(state_file, per_second=3).acquire()


def test_a_long_queue_of_many_processes_is_respected(state_file: Path) -> None:
    _write_state(state_file, saved_in_ms=-10, free_in_ms=100_000)

    with pytest.raises(SlotUnavailable) as refused:
        RateLimiter(state_file, per_second=3).acquire(time.monotonic() + 60)

    assert 100 <= refused.value.wait_seconds < 101


def _write_state(state_file: Path, *, saved_in_ms: int, free_in_ms: int) -> None:
    state_file.parent.mkdir(mode=0o700)
    now_ms = time.monotonic_ns() // 1_000_000
    state = module._State((now_ms + free_in_ms) * 1000)  # a state that only a moved clock writes
    state_file.write_bytes(state.to_line(now_ms + saved_in_ms))


def test_setting_the_clock_back_changes_nothing(state_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limiter = RateLimiter(state_file, per_second=10)
    times = []
    for number in range(12):
        monkeypatch.setattr(time, "time", lambda back=number: 1_000_000_000.0 - 3600 * back)
        limiter.acquire(time.monotonic() + 2)
        times.append(time.monotonic())

    assert count_most_in_a_second(times) <= 10


# Files that cannot be used


def _make_path_in_file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_bytes(b"")
    return tmp_path / "file" / "state"


def _make_folder(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


def _make_pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def _make_link(tmp_path: Path) -> Path:
    (tmp_path / "target").write_bytes(b"precious")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    return tmp_path / "link"


@pytest.mark.long
@pytest.mark.parametrize("unusable", [_make_path_in_file, _make_folder, _make_pipe, _make_link])
def test_without_a_usable_file_the_threads_of_the_process_are_still_limited(
    tmp_path: Path, unusable: Callable[[Path], Path]
) -> None:
    path = unusable(tmp_path)
    limiters = [RateLimiter(path, per_second=10), RateLimiter(path, per_second=10)]
    times: list[float] = []

    def work() -> None:
        for limiter in limiters * 2:
            limiter.acquire()
            times.append(time.monotonic())

    run_in_threads(3, work)

    assert count_most_in_a_second(times) <= 10
    assert limiters[0].find_problem()
    if path.name == "link":
        assert path.read_bytes() == b"precious"


def test_without_a_file_the_process_is_still_limited() -> None:
    limiter = RateLimiter(None, per_second=10)
    times: list[float] = []

    def work() -> None:
        limiter.acquire()
        times.append(time.monotonic())

    run_in_threads(12, work)

    assert count_most_in_a_second(times) <= 10
    assert limiter.find_problem() == "no state file is set"


def test_states_unused_for_a_week_are_removed_by_the_next_limiter(tmp_path: Path) -> None:
    old, fresh, foreign = (tmp_path / name for name in ("limit-a-at-1.json", "limit-b-at-2.json", "notes.json"))
    for path, age in ((old, 8), (fresh, 6), (foreign, 8)):
        path.write_text("{}", encoding="utf-8")
        os.utime(path, (time.time() - age * 86_400,) * 2)

    RateLimiter(tmp_path / "limit-eutils-machine.json", per_second=50).acquire()

    assert {path.name for path in tmp_path.iterdir()} == {fresh.name, foreign.name, "limit-eutils-machine.json"}


def test_a_state_in_use_is_never_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used = tmp_path / "limit-a-at-1.json"
    used.write_text("{}", encoding="utf-8")
    os.utime(used, (time.time() - 8 * 86_400,) * 2)
    monkeypatch.setattr(module, "LOCK_PATIENCE_SECONDS", 0.05)
    with hold_state_file(used):
        RateLimiter(tmp_path / "limit-eutils-machine.json", per_second=50).acquire()

    assert used.exists()


def test_a_folder_of_another_user_is_not_used(state_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state_file.parent.mkdir()
    if os.geteuid() == 0:  # a folder of the system is accepted
        os.chown(state_file.parent, 4243, 4243)
    stranger = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: stranger)
    limiter = RateLimiter(state_file, per_second=10)

    limiter.acquire()

    assert "another user" in (limiter.find_problem() or "")
    assert not state_file.exists()


@pytest.mark.long
@pytest.mark.parametrize("failure", [OSError(38, "Function not implemented"), NotImplementedError("no locks here")])
def test_on_a_file_system_without_locks_the_process_is_still_limited(
    state_file: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    def fail(descriptor: int, *, blocking: bool) -> bool:
        raise failure

    monkeypatch.setattr(module, "lock_descriptor", fail)
    limiter = RateLimiter(state_file, per_second=10)
    times = []
    for _ in range(12):
        limiter.acquire()
        times.append(time.monotonic())

    assert count_most_in_a_second(times) <= 10
    assert limiter.find_problem()


def test_on_a_full_disk_the_process_is_limited_and_the_file_is_tried_again(
    state_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limiter = RateLimiter(state_file, per_second=10)
    limiter.acquire()
    with monkeypatch.context() as patch:

        def raise_full_disk(descriptor: int, line: bytes) -> int:
            raise OSError(28, "No space left on device")

        patch.setattr(os, "write", raise_full_disk)
        limiter.acquire()
        limiter.acquire()
        assert len(list_sent(state_file)) == 1
    assert limiter.find_problem() is None

    limiter.acquire()

    assert len(list_sent(state_file)) == 4, "requests in the meantime count"
