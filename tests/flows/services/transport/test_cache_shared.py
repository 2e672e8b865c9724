"""The cache: several processes, threads and other programs that use one file."""

import multiprocessing
import os
import sqlite3
import threading
import time
from pathlib import Path

import pytest
from cache_helpers import count_requests, read_entries, search
from loopback_server import ESEARCH, Loopback
from loopback_transport import KEY, CountingLimiter, make_settings, open_bench, open_workbench
from platform_marks import needs_fork
from pydantic import SecretStr

from entrez_kit.base.errors import StoreError
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport import cache as store
from entrez_kit.services.transport.cache import cache_file
from entrez_kit.services.transport.cached_session import clear


def test_the_cache_outlives_the_process(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        bench.transport.close()
        with bench.open_another() as other:
            assert search(other).from_cache


def test_the_session_uses_a_reply_that_another_process_stored_after_the_fast_lookup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        monkeypatch.setattr(store.CacheFile, "read", lambda *_: None)
        reply = search(bench)

        assert (reply.from_cache, reply.content, count_requests(bench)) == (True, ESEARCH, 1)
        assert reply.value.ids == ["11", "12"]


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The milliseconds for which each opening of the file may wait for a lock."""
    listed: list[int] = []
    connect = store.open_database

    def note_wait(path: Path, busy_ms: int) -> sqlite3.Connection:
        listed.append(busy_ms)
        return connect(path, busy_ms)

    monkeypatch.setattr(store, "open_database", note_wait)
    return listed


@pytest.mark.long
def test_a_cache_locked_by_another_program_does_not_delay_a_call(tmp_path: Path, waits: list[int]) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        blocker = sqlite3.connect(cache_file(bench.settings), isolation_level=None)
        blocker.execute("BEGIN EXCLUSIVE")
        try:
            assert search(bench).from_cache  # readers need no lock
            for number in range(10):
                assert search(bench, str(number)).content == ESEARCH
            assert waits == [store.BUSY_MS]  # opened for the first search, and not again after the lock was noticed
            assert len(bench.transport.notes) == 1
        finally:
            blocker.execute("ROLLBACK")
            blocker.close()


@pytest.mark.long
def test_a_cache_locked_from_the_start_does_not_delay_a_call(tmp_path: Path, waits: list[int]) -> None:
    with open_workbench(tmp_path) as bench:
        path = cache_file(bench.settings)
        path.parent.mkdir()
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("PRAGMA locking_mode=EXCLUSIVE")
        blocker.execute("CREATE TABLE t (x)")
        blocker.execute("BEGIN EXCLUSIVE")
        assert search(bench).content == ESEARCH
        assert set(waits) == {store.BUSY_MS} == {250}
        blocker.execute("ROLLBACK")
        blocker.close()


@pytest.mark.long
@pytest.mark.usefixtures("leaping_clock")
def test_a_locked_cache_is_used_again_after_its_release(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        blocker = sqlite3.connect(cache_file(bench.settings), isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        search(bench, "new")
        blocker.execute("ROLLBACK")
        blocker.close()
        time.sleep(store.PAUSE_SECONDS)
        search(bench, "new")
        assert search(bench, "new").from_cache


def test_a_cache_in_use_cannot_be_cleared_and_this_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entrez_kit.services.transport.cache.PATIENT_BUSY_MS", 100)
    with open_workbench(tmp_path, ncbi_api_key=SecretStr(KEY)) as bench:
        search(bench)
        blocker = sqlite3.connect(cache_file(bench.settings), isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as caught:
            clear(bench.settings)
        blocker.close()
    assert "locked" in caught.value.message


def _search_in_child(url: str, folder: Path, number: int) -> None:
    settings = Settings(eutils_url=url, cache_dir=folder / "cache", state_dir=folder / "state", ncbi_max_retries=0)

    from entrez_kit.services.eutils import EUtils
    from entrez_kit.services.transport.client import Transport

    store.BUSY_MS = 30_000  # type: ignore[misc]  # a busy machine must not make it continue without the cache
    transport = Transport(settings, limiters=lambda _settings, _service: CountingLimiter())
    for turn in range(20):
        EUtils(transport, settings).esearch(db="pubmed", term=f"{number}-{turn}")
    transport.close()


@pytest.mark.process
def test_several_processes_write_one_cache(tmp_path: Path) -> None:
    with Loopback() as server, open_bench(server, make_settings(server, tmp_path)) as bench:
        context = multiprocessing.get_context("spawn")
        children = [
            context.Process(target=_search_in_child, args=(server.eutils_url, tmp_path, number)) for number in range(3)
        ]
        for child in children:
            child.start()
        for child in children:
            child.join(60)
        assert [child.exitcode for child in children] == [0, 0, 0]
        assert len(read_entries(bench)) == 60
        assert sqlite3.connect(cache_file(bench.settings)).execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.process
@needs_fork
def test_a_forked_child_opens_its_own_connection_to_the_cache(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        child = os.fork()
        if child == 0:
            try:
                fine = search(bench).from_cache and not search(bench, "child").from_cache
                os._exit(0 if fine else 1)
            except BaseException:
                os._exit(2)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert search(bench).from_cache
        assert search(bench, "child").from_cache


def test_many_threads_share_one_cache(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        wrong: list[object] = []

        def work(number: int) -> None:
            for turn in range(30):
                try:
                    if search(bench, str((number + turn) % 10)).content != ESEARCH:
                        wrong.append("bytes")
                except Exception as exc:
                    wrong.append(exc)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert count_requests(bench) == 10
