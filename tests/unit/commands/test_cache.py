"""`entrez-kit cache`: the cache is counted, pruned and cleared in any state of its file."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, read_error
from platform_marks import needs_terminal
from program_streams import run_on_terminal

from entrez_kit.base.settings import load_settings
from entrez_kit.services.transport.cache import cache_file, open_file


@pytest.fixture
def path() -> Path:
    return cache_file(load_settings())


def fill(path: Path, *, fresh: int = 0, expired: int = 0) -> None:
    """Put entries into a cache file."""
    now = int(time.time())
    rows = [(f"fresh {number}", b"x" * 500, now + 1000) for number in range(fresh)]
    rows += [(f"expired {number}", b"x" * 500, now - 1000) for number in range(expired)]
    with closing(open_file(path)) as connection:
        connection.executemany("INSERT INTO responses (key, value, expires) VALUES (?, ?, ?)", rows)


def test_info_of_a_missing_cache(main: Cli, path: Path) -> None:
    ended = main("cache", "info")

    assert ended.status == 0
    assert ended.document["path"] == str(path)
    assert (ended.document["exists"], ended.document["entries"], ended.document["problem"]) == (False, 0, None)
    assert not path.exists()


def test_info_counts_entries_and_shows_when_they_expire(main: Cli, path: Path) -> None:
    fill(path, fresh=3, expired=2)
    document = main("cache", "info").document

    assert (document["exists"], document["entries"], document["expired"]) == (True, 5, 2)
    assert document["size_bytes"] > 2500
    assert document["oldest_expiry"] < document["newest_expiry"]
    assert document["oldest_expiry"].endswith("Z")


def test_info_shows_how_the_rate_limit_is_shared(main: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = main("cache", "info").document["rate_limit"]
    assert (limit["per_second"], limit["shared"], limit["problem"]) == (3, True, None)
    assert limit["wait_seconds"] == 0
    assert Path(limit["file"]).is_relative_to(load_settings().state_dir)

    monkeypatch.setenv("NCBI_API_KEY", "canary0123456789abcdef")
    ended = main("cache", "info")
    assert ended.document["rate_limit"]["per_second"] == 10
    assert "canary" not in ended.out


def test_prune_removes_only_expired_entries(main: Cli, path: Path) -> None:
    fill(path, fresh=3, expired=200)
    ended = main("cache", "prune")

    assert ended.status == 0
    assert (ended.document["removed"], ended.document["entries"]) == (200, 3)
    assert ended.document["freed_bytes"] > 0
    assert main("cache", "info").document["expired"] == 0


@pytest.mark.parametrize("arguments", [[], ["--yes"], ["-y"]])
def test_clear_in_a_pipe_removes_everything_without_a_question(main: Cli, path: Path, arguments: list[str]) -> None:
    fill(path, fresh=3, expired=2)
    ended = main("cache", "clear", *arguments)

    assert ended.status == 0
    assert (ended.document["removed"], ended.document["entries"]) == (5, 0)
    assert main("cache", "info").document["entries"] == 0


@pytest.mark.parametrize("action", ["clear", "prune"])
def test_a_missing_cache_can_be_cleared(main: Cli, path: Path, action: str) -> None:
    ended = main("cache", action)

    assert (ended.status, ended.document["removed"]) == (0, 0)
    assert not path.exists()


def test_a_damaged_cache_is_reported_and_can_be_cleared(main: Cli, path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database at all, but long enough to look like one" * 100)
    ended = main("cache", "info")
    assert ended.status == 9
    assert ended.document["problem"]
    assert read_error(ended)["code"] == "STORE_ERROR"
    assert "cache clear" in read_error(ended)["recovery_hint"]

    assert main("cache", "prune").status == 9
    assert main("cache", "clear").status == 0
    assert not path.exists()
    assert main("cache", "info").status == 0


def test_a_cache_in_use_by_another_process_is_not_cleared(
    main: Cli, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.services.transport.cache.PATIENT_BUSY_MS", 50)
    fill(path, fresh=1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        ended = main("cache", "clear")

        assert (ended.status, ended.out) == (9, "")
        assert read_error(ended)["code"] == "STORE_ERROR"
        other.execute("ROLLBACK")
    assert main("cache", "info").document["entries"] == 1


@pytest.mark.parametrize("action", ["info", "clear", "prune"])
def test_a_cache_folder_that_cannot_be_used_ends_with_status_9(
    main: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    def forbid(*_: Any, **__: Any) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setenv("ENTREZ_KIT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("entrez_kit.services.transport.cache.Path.exists", forbid)
    ended = main("cache", action)

    assert ended.status == 9
    assert read_error(ended)["code"] == "STORE_ERROR"
    assert "Permission denied" in read_error(ended)["message"]


def test_the_demo_has_its_own_cache(main: Cli, path: Path) -> None:
    fill(path, fresh=3)
    ended = main("cache", "clear", "--demo")

    assert ended.document["removed"] == 0
    assert ended.document["path"] != str(path)
    assert main("cache", "info").document["entries"] == 3


@pytest.mark.long
@needs_terminal
def test_on_a_terminal_clear_asks_first(path: Path) -> None:
    fill(path, fresh=3)
    ended = run_on_terminal("cache", "clear", typed="n\n", after="[y/N]: ")
    assert ended.status == 130
    assert "Nothing was removed" in ended.out

    ended = run_on_terminal("cache", "clear", typed="y\n", after="[y/N]: ")
    assert ended.status == 0
    assert "Removed 3 cached replies" in ended.out


@pytest.mark.long
@needs_terminal
def test_on_a_terminal_clear_does_not_ask_with_yes_or_for_an_empty_cache(path: Path) -> None:
    assert "[y/N]" not in run_on_terminal("cache", "clear").out
    fill(path, fresh=1)
    ended = run_on_terminal("cache", "clear", "--yes")

    assert "[y/N]" not in ended.out
    assert "Removed 1 cached reply and freed" in ended.out


@needs_terminal
def test_on_a_terminal_info_is_a_short_list(path: Path) -> None:
    fill(path, fresh=3, expired=1)
    ended = run_on_terminal("cache", "info", columns=200)

    assert "4 (1 expired)" in ended.out
    assert str(path) in ended.out
