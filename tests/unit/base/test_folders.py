"""The choice of folders; no problem with a home folder is fatal."""

import os
import stat
import sys
from pathlib import Path

import pytest
from platform_marks import needs_home_variable, needs_modes
from settings_sources import CANARY, Sources

from entrez_kit.base.settings import load_settings


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="XDG folders are for other systems")
def test_absolute_xdg_folders_are_used_and_relative_ones_ignored(sources: Sources, tmp_path: Path) -> None:
    for kind in ("CONFIG", "CACHE", "DATA"):
        (tmp_path / kind).mkdir()
    (tmp_path / "CONFIG" / "entrez-kit").mkdir()
    (tmp_path / "CONFIG" / "entrez-kit" / "config.toml").write_text("ncbi_max_retries = 1", encoding="utf-8")
    loaded = sources.load(**{f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "CACHE", "DATA")})

    assert loaded.cache_dir == tmp_path / "CACHE" / "entrez-kit"
    assert loaded.data_dir == tmp_path / "DATA" / "entrez-kit"
    assert loaded.ncbi_max_retries == 1

    relative = sources.load(XDG_CONFIG_HOME="config", XDG_CACHE_HOME="cache", XDG_DATA_HOME="data")
    assert relative.cache_dir == sources.home / ".cache" / "entrez-kit"
    assert relative.data_dir == sources.home / ".local" / "share" / "entrez-kit"
    assert relative.config_file == sources.user_file


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="XDG folders are for other systems")
def test_xdg_folders_work_without_a_home(tmp_path: Path) -> None:
    loaded = load_settings(
        environ={f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("CONFIG", "CACHE", "DATA")}
    )

    assert loaded.cache_dir == tmp_path / "cache" / "entrez-kit"
    assert loaded.notes == ()


def test_one_folder_can_contain_everything(sources: Sources, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "config.toml").write_text("ncbi_max_retries = 1", encoding="utf-8")
    loaded = sources.load(ENTREZ_KIT_HOME=str(own))

    assert (loaded.home, loaded.cache_dir, loaded.data_dir) == (own, own / "cache", own / "data")
    assert (loaded.config_file, loaded.ncbi_max_retries) == (own / "config.toml", 1)
    assert loaded.origins["cache_dir"] == "below home, from environment (ENTREZ_KIT_HOME)"
    assert sources.load({"home": own}).cache_dir == own / "cache"
    assert sources.load(ENTREZ_KIT_HOME=str(own), ENTREZ_KIT_CACHE_DIR=str(tmp_path)).cache_dir == tmp_path


def test_the_limiter_state_is_shared_with_any_other_folders(sources: Sources, tmp_path: Path) -> None:
    assert sources.load().state_dir == sources.load(ENTREZ_KIT_HOME=str(tmp_path)).state_dir
    assert sources.load().state_dir == load_settings(environ={}).state_dir


@needs_home_variable
@pytest.mark.parametrize("home", [None, "", "/nonexistent/home"])
def test_a_missing_home_causes_one_notice(home: str | None) -> None:
    loaded = load_settings(environ={} if home is None else {"HOME": home})

    assert loaded.cache_dir == loaded.state_dir / "cache"
    assert loaded.data_dir == loaded.state_dir / "data"
    assert loaded.config_file is None
    assert len(loaded.notes) == 1
    assert "ENTREZ_KIT_HOME" in loaded.notes[0]


@needs_modes
def test_a_read_only_home_causes_one_notice(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    sources.user_config("ncbi_max_retries = 2")
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.R_OK and access(path, mode))
    loaded = sources.load()

    assert (loaded.cache_dir, loaded.data_dir) == (loaded.state_dir / "cache", loaded.state_dir / "data")
    assert len(loaded.notes) == 1
    assert loaded.ncbi_max_retries == 2


@needs_home_variable
def test_a_home_without_access_causes_one_notice(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(path: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("entrez_kit.base.private_files.Path.is_dir", forbid)
    loaded = sources.load()

    assert loaded.cache_dir == loaded.state_dir / "cache"
    assert len(loaded.notes) == 1


def test_a_configured_home_that_cannot_be_written_is_named_in_the_notice(sources: Sources, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    loaded = sources.load(ENTREZ_KIT_HOME=str(file / "below"))

    assert loaded.cache_dir == loaded.state_dir / "cache"
    assert len([notice for notice in loaded.notes if "cannot be written" in notice]) == 1
    assert str(file / "below") in " ".join(loaded.notes)


@needs_modes
def test_a_temporary_folder_that_others_could_have_prepared_is_not_used(sources: Sources) -> None:
    first = sources.load().state_dir
    first.mkdir(mode=0o700)
    assert sources.load().state_dir == first

    first.chmod(0o777)
    second = sources.load().state_dir
    assert second != first
    assert second.parent == first.parent

    second.symlink_to(sources.home)
    assert sources.load().state_dir not in (first, second)


@needs_modes
def test_a_temporary_folder_of_another_user_is_not_used(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = sources.load()
    loaded.state_dir.mkdir(mode=0o700)
    name = loaded.state_dir.name
    stranger = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: stranger)
    (loaded.state_dir.parent / f"entrez-kit-{stranger}").mkdir(mode=0o700)

    assert sources.load().state_dir.name not in (name, f"entrez-kit-{stranger}")


def test_a_machine_without_a_writable_folder_causes_no_crash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def find_no_folder() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", find_no_folder)
    loaded = load_settings(environ={"HOME": "/nonexistent"})

    assert loaded.cache_dir.is_absolute()
    assert len(loaded.notes) == (0 if sys.platform in ("win32", "darwin") else 1)


@needs_modes
def test_reading_settings_writes_nothing(sources: Sources) -> None:
    loaded = sources.load(NCBI_API_KEY=CANARY)

    assert not loaded.state_dir.exists()
    assert not loaded.cache_dir.exists()
    assert list(sources.home.iterdir()) == []
    assert not stat.S_IMODE(sources.home.stat().st_mode) & 0o022
