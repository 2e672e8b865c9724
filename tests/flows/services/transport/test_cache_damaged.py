"""The cache: damaged rows and files, full and read-only disks. None of them fails a call or changes a reply."""

import base64
import errno
import json
import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cache_helpers import change_rows, read_entries, search
from loopback_server import ESEARCH, Answer
from loopback_transport import open_workbench

from entrez_kit.base.errors import StoreError
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport import cached_session
from entrez_kit.services.transport.cache import cache_file, cache_info
from entrez_kit.services.transport.cached_session import clear, prune


def test_a_damaged_row_is_a_miss_and_never_a_wrong_answer(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        for place in (0, 63, 64, 70, 120, 200, -1, -20):
            [(value, _)] = read_entries(bench)
            damaged = bytearray(value)
            damaged[place] ^= 1
            change_rows(bench, "UPDATE responses SET value=?", bytes(damaged))
            reply = search(bench)
            assert (reply.from_cache, reply.content) == (False, ESEARCH), place
            assert search(bench).from_cache


def test_a_row_under_the_key_of_another_call_is_a_miss(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench, "copd")
        bench.server.always = Answer(body=ESEARCH.replace(b">asthma<", b">copd<"))
        search(bench, "asthma")
        with closing(sqlite3.connect(cache_file(bench.settings))) as connection, connection:
            (one, value), (other, another) = connection.execute("SELECT key, value FROM responses").fetchall()
            swapped = [(another, one), (value, other)]
            connection.executemany("UPDATE responses SET value=? WHERE key=?", swapped)

        assert not search(bench, "copd").from_cache
        assert not search(bench, "asthma").from_cache


def test_a_row_of_an_earlier_version_is_a_miss(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        [(value, _)] = read_entries(bench)
        _, head, body = value.split(b"\n", 2)
        document = json.loads(head)
        pretty = json.dumps({**document, "_content": base64.b64encode(body).decode()}, indent=2)
        for earlier in (head + b"\n" + body, pretty):
            change_rows(bench, "UPDATE responses SET value=?", earlier)
            assert not search(bench).from_cache
            assert search(bench).from_cache


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER spy AFTER INSERT ON responses BEGIN DELETE FROM responses; END",
        "CREATE VIEW extra AS SELECT * FROM responses",
        "CREATE TABLE extra (x)",
        "DROP INDEX expires_idx",
    ],
)
def test_a_cache_whose_schema_was_changed_is_moved_aside(statement: str, tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        bench.transport.close()
        change_rows(bench, statement)
        search(bench)

        assert search(bench).from_cache
        assert len(list(bench.settings.cache_dir.glob("*.damaged-*"))) == 1
        assert len(bench.transport.notes) == 1


@pytest.mark.parametrize("damage", [b"this is no database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_moved_aside(damage: bytes, tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        path = cache_file(bench.settings)
        path.parent.mkdir()
        path.write_bytes(damage)

        assert search(bench).content == ESEARCH
        assert search(bench).content == ESEARCH
        assert search(bench).from_cache
        [aside] = path.parent.glob("*.damaged-*")
        assert aside.read_bytes() == damage
        assert len(bench.transport.notes) == 1


def test_a_file_damaged_while_it_is_open_does_not_fail_a_call(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        for number in range(50):
            search(bench, str(number))
        bench.transport.close()
        path = cache_file(bench.settings)
        content = bytearray(path.read_bytes())
        content[4096:] = random.Random(1).randbytes(len(content) - 4096)
        path.write_bytes(content)
        for number in range(50):
            assert search(bench, str(number)).content == ESEARCH


@pytest.mark.parametrize(
    "value", ["no json", "{}", "[1]", '{"status_code":200}', '{"_content":5,"status_code":200}', b"\x80\x04."]
)
def test_an_entry_that_cannot_be_read_is_a_miss(value: object, tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        connection = sqlite3.connect(cache_file(bench.settings))
        connection.execute("UPDATE responses SET value=?", (value,))
        connection.commit()
        connection.close()

        assert not search(bench).from_cache
        assert search(bench).from_cache


def test_a_damaged_cache_is_reported_and_can_be_cleared(tmp_path: Path) -> None:
    settings = Settings(cache_dir=tmp_path)
    cache_file(settings).write_bytes(b"no database" * 100)

    assert "not a database" in (cache_info(settings).problem or "")
    with pytest.raises(StoreError):
        prune(settings)
    assert clear(settings) == 0
    assert not cache_file(settings).exists()


def test_a_file_of_a_newer_version_is_not_changed(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        path = cache_file(bench.settings)
        path.parent.mkdir()
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version=99")
        connection.close()
        before = path.read_bytes()
        search(bench)
        assert search(bench).from_cache
        assert path.read_bytes() == before
        assert "newer version" in bench.transport.notes[0]


def test_a_folder_that_cannot_be_written_means_a_cache_in_memory_and_one_notice(tmp_path: Path) -> None:
    blocker = tmp_path / "a file"
    blocker.write_text("no folder", encoding="utf-8")
    with open_workbench(tmp_path, cache_dir=blocker / "cache") as bench:
        assert not search(bench).from_cache
        assert search(bench).from_cache
        search(bench, "other")
        assert len(bench.transport.notes) == 1
        assert "memory" in bench.transport.notes[0]


def test_a_read_only_folder_means_a_cache_in_memory(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    if os.geteuid() == 0:
        folder.symlink_to("/proc")  # root can create files in every other folder
    else:
        folder.mkdir(mode=0o500)
    with open_workbench(tmp_path) as bench:
        search(bench)
        assert search(bench).from_cache
        (notice,) = bench.transport.notes
        assert "memory" in notice


def test_a_cache_in_memory_has_only_the_latest_replies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_session, "MEMORY_ENTRIES", 3)
    blocker = tmp_path / "file"
    blocker.touch()
    with open_workbench(tmp_path, cache_dir=blocker / "cache") as bench:
        for number in range(6):
            search(bench, str(number))
        assert search(bench, "5").from_cache
        assert not search(bench, "0").from_cache


def test_a_file_on_a_read_only_disk_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        bench.transport.close()
        original = os.open

        def read_only(path: object, flags: int, *args: object, **options: object) -> int:
            if str(path).endswith(".sqlite") and flags & os.O_RDWR:
                raise OSError(errno.EROFS, "Read-only file system")
            return original(path, flags, *args, **options)  # type: ignore[arg-type]

        monkeypatch.setattr("entrez_kit.services.transport.cache.os.open", read_only)
        assert search(bench).from_cache
        assert not search(bench, "new").from_cache
        assert not search(bench, "new").from_cache
        assert search(bench).from_cache
        assert len(bench.transport.notes) == 1


def test_a_read_only_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        original = sqlite3.connect

        def read_only(path: object, *args: object, **options: object) -> sqlite3.Connection:
            if str(path) == ":memory:":
                return original(":memory:", isolation_level=None, check_same_thread=False)
            return original(f"file:{path}?mode=ro", uri=True, isolation_level=None, check_same_thread=False)

        monkeypatch.setattr("entrez_kit.services.transport.cache.sqlite3.connect", read_only)
        with bench.open_another() as other:
            assert search(other).from_cache
            assert not search(other, "new").from_cache
            assert not search(other, "new").from_cache
            assert search(other).from_cache
            assert len(other.transport.notes) == 1


def test_on_a_full_disk_a_reply_is_not_stored_and_the_call_succeeds(tmp_path: Path) -> None:
    with open_workbench(tmp_path) as bench:
        search(bench)
        with bench.transport._cache.connection() as connection:  # the limit is one of a connection
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count={pages}")
        bench.server.always = Answer(body=ESEARCH.replace(b"asthma", b"x" * 500_000))
        assert search(bench, "large").content.startswith(b"<?xml")
        assert search(bench, "asthma").from_cache
        assert len(bench.transport.notes) == 1
        assert "full" in bench.transport.notes[0]
