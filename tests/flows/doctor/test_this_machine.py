"""Settings, disk, cache and rate limit in the report of the doctor."""

import shutil
import sqlite3
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from failing_servers import (
    CANARY,
    DATABASES,
    find_check,
    run_doctor,
)
from platform_marks import needs_modes

from entrez_kit.base.settings import Settings, load_settings
from entrez_kit.doctor import DoctorReport, diagnose
from entrez_kit.doctor.local import find_damage, size
from entrez_kit.services.transport.cache import cache_file, open_file
from entrez_kit.services.transport.limiter import RateLimiter
from entrez_kit.services.transport.rate_gate import find_limiter_file


def run_locally(settings: Settings, **injected: Any) -> DoctorReport:
    """Test only this machine."""
    return run_doctor(replace(settings, offline=True, origins={**settings.origins, "offline": "flag"}), **injected)


def test_versions_are_listed_and_a_missing_library_is_reported(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "biopython" in find_check(run_locally(settings), "versions").detail

    monkeypatch.setattr("entrez_kit.doctor.local.LIBRARIES", ("requests", "no-such-library"))
    report = run_locally(settings)
    assert find_check(report, "versions").detail.endswith("not installed: no-such-library")
    assert report.exit_status == 8


def test_notices_about_the_settings_are_warnings(settings: Settings) -> None:
    report = run_locally(replace(settings, notes=("config.toml: unknown setting 'x' ignored",)))

    check = find_check(report, "configuration")
    assert check.status == "warning"
    assert "unknown setting 'x' ignored" in check.detail
    assert "`entrez-kit config show`" in (check.hint or "")
    assert (report.healthy, report.exit_status) == (True, 4)


def test_settings_that_allow_no_answer_are_a_failure(settings: Settings) -> None:
    report = run_locally(replace(settings, no_cache=True))

    assert find_check(report, "configuration").code == "NOT_CONFIGURED"
    assert report.exit_status == 8


def test_offline_mode_from_the_environment_is_a_warning(settings: Settings) -> None:
    report = run_doctor(replace(settings, offline=True, origins={"offline": "environment (ENTREZ_KIT_OFFLINE)"}))

    assert "environment (ENTREZ_KIT_OFFLINE)" in find_check(report, "configuration").detail
    assert report.exit_status == 4


def test_the_configuration_is_described_without_secrets(home: Path) -> None:
    folder = home / ".config" / "entrez-kit"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f'ncbi_api_key = "{CANARY}"', encoding="utf-8")
    (folder / "config.toml").chmod(0o600)
    loaded = load_settings(environ={"HOME": str(home), "NCBI_EMAIL": "canary@example.org"})
    report = run_locally(loaded)

    detail = find_check(report, "configuration").detail
    assert str(folder / "config.toml") in detail
    assert "ncbi_api_key" in detail
    assert CANARY not in report.model_dump_json()
    assert "canary@example.org" not in report.model_dump_json()


@pytest.mark.parametrize(
    ("free", "status", "exit_status"), [(0, "failed", 9), (100_000_000, "warning", 4), (10**12, "ok", 0)]
)
def test_a_full_or_nearly_full_disk_is_reported(settings: Settings, free: int, status: str, exit_status: int) -> None:
    report = run_locally(settings, free_space=lambda folder: free)

    assert find_check(report, "disk").status == status
    assert report.exit_status == exit_status


def test_a_disk_that_cannot_be_measured_is_a_warning(settings: Settings) -> None:
    def raise_error(folder: Path) -> int:
        raise OSError(5, "Input/output error")

    assert find_check(run_locally(settings, free_space=raise_error), "disk").status == "warning"


def test_the_real_disk_is_measured_by_default(settings: Settings) -> None:
    report = diagnose(replace(settings, offline=True, origins={"offline": "flag"}))

    assert size(shutil.disk_usage(settings.cache_dir.parent.parent).total // 10**15 * 10**15) == "0 bytes"
    assert "left for" in find_check(report, "disk").detail


def test_a_cache_folder_that_cannot_be_written_is_reported(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    report = run_locally(replace(settings, cache_dir=file / "cache"))

    check = find_check(report, "cache")
    assert (check.status, check.code) == ("failed", "STORE_ERROR")
    assert check.hint is not None
    assert "ENTREZ_KIT_CACHE_DIR" in check.hint
    assert report.exit_status == 9


@needs_modes
def test_a_cache_folder_that_others_can_write_to_is_a_warning(settings: Settings) -> None:
    settings.cache_dir.mkdir(parents=True)
    settings.cache_dir.chmod(0o777)

    assert find_check(run_locally(settings), "cache").status == "warning"


def test_the_entries_of_a_healthy_cache_are_counted(settings: Settings) -> None:
    with open_file(cache_file(settings)) as connection:
        connection.executemany(
            "INSERT INTO responses (key, value, expires) VALUES (?, ?, ?)",
            [("a", b"x", 4_000_000_000), ("b", b"x", 1), ("c", b"x", 2)],
        )
    connection.close()

    assert find_check(run_locally(settings), "cache").detail.startswith("3 replies, 2 of them expired, ")
    assert list(settings.cache_dir.glob(".doctor-*")) == []


@pytest.mark.parametrize("content", [b"this is no database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 4096])
def test_a_damaged_cache_is_reported_and_not_changed(settings: Settings, content: bytes) -> None:
    path = cache_file(settings)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    report = run_locally(settings)

    assert find_check(report, "cache").code == "STORE_ERROR"
    assert report.exit_status == 9
    assert path.read_bytes() == content


@pytest.mark.long
def test_damage_inside_the_file_is_reported_and_a_lock_is_not_damage(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE responses (key TEXT PRIMARY KEY, value BLOB)")
    connection.executemany("INSERT INTO responses VALUES (?, ?)", [(str(n), b"x" * 3000) for n in range(50)])
    connection.commit()
    assert find_damage(path) is None

    connection.execute("BEGIN EXCLUSIVE")
    assert find_damage(path) is None
    connection.rollback()
    connection.close()

    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 8192)
    assert find_damage(path) is not None


def test_a_disabled_cache_is_not_tested(settings: Settings) -> None:
    report = run_doctor(replace(settings, no_cache=True), resolver=lambda host, port: [], asker=lambda _: DATABASES)

    assert find_check(report, "cache").detail == "switched off (no_cache)"
    assert not settings.cache_dir.exists()


def test_a_limiter_that_cannot_share_its_state_is_a_warning(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    report = run_locally(replace(settings, state_dir=file / "state"))

    check = find_check(report, "rate_limit")
    assert check.status == "warning"
    assert "not shared between processes" in check.detail
    assert report.exit_status == 4


def test_a_long_queue_is_a_warning_and_the_test_takes_no_slot(settings: Settings) -> None:
    state = find_limiter_file(settings, "eutils")
    assert "shared by all processes" in find_check(run_locally(settings), "rate_limit").detail

    state.parent.mkdir(exist_ok=True)
    limiter = RateLimiter(state, per_second=3)
    limiter.acquire()
    line = state.read_text(encoding="ascii")
    ahead = (time.monotonic_ns() // 1000) + 60_000_000
    state.write_text(line.replace('"free_us":', f'"free_us":{ahead},"was":'), encoding="ascii")
    before = state.read_text(encoding="ascii")
    check = find_check(run_locally(settings), "rate_limit")

    assert check.status == "warning"
    assert "s away" in check.detail
    assert state.read_text(encoding="ascii") == before


def test_a_damaged_limiter_state_is_not_an_error(settings: Settings) -> None:
    state = find_limiter_file(settings, "eutils")
    state.parent.mkdir(mode=0o700, exist_ok=True)
    state.write_bytes(b"\x00garbage")

    assert find_check(run_locally(settings), "rate_limit").status == "ok"


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (123_456_789, "123 MB"), (10**16, "10000 TB")],
)
def test_sizes_are_shown_in_readable_units(number: int, text: str) -> None:
    assert size(number) == text
