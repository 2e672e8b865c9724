"""Files and folders for this user only: with any umask, through no link, and never those of another user."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from platform_marks import needs_modes
from settings_sources import Sources

from entrez_kit.base.errors import StoreError
from entrez_kit.base.private_files import list_database_files, make_private_database, make_private_folder, open_private
from entrez_kit.corpus.store.store import Store
from entrez_kit.services.transport.cache import CacheUnusable, open_file

pytestmark = needs_modes


def read_mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0, 0o022, 0o077, 0o277])
def test_folders_are_0700_and_files_0600_with_any_umask(tmp_path: Path, umask: int) -> None:
    file = tmp_path / "a" / "b" / "c" / "file"
    before = os.umask(umask)
    try:
        os.close(open_private(file))
    finally:
        os.umask(before)

    assert [read_mode(folder) for folder in (file.parent, file.parent.parent, file.parent.parent.parent)] == [0o700] * 3
    assert read_mode(file) == 0o600


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_an_sqlite_file_and_its_journals_are_opened_through_no_link(tmp_path: Path, suffix: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    path = tmp_path / "folder" / "file.db"
    make_private_folder(path.parent)
    path.with_name(path.name + suffix).symlink_to(victim)

    for attempt in (make_private_database, open_file):
        with pytest.raises((OSError, CacheUnusable)):
            attempt(path)
    with pytest.raises(StoreError), Store(path).writing():
        pass
    assert victim.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("prepare", [lambda path: path.mkdir(), os.mkfifo], ids=["folder", "pipe"])
def test_a_path_that_is_not_a_regular_file_is_refused_at_once(tmp_path: Path, prepare: Callable[[Path], None]) -> None:
    prepare(tmp_path / "file.db")

    with pytest.raises(OSError, match=r"regular|directory|device"):
        make_private_database(tmp_path / "file.db")


def test_a_folder_or_file_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "folder" / "file"
    os.close(open_private(file))
    stranger = os.geteuid() + 4242
    if os.geteuid() == 0:  # folders of the system are trusted
        os.chown(file.parent, 4243, 4243)
    monkeypatch.setattr(os, "geteuid", lambda: stranger)

    with pytest.raises(PermissionError, match="another user"):
        make_private_folder(file.parent)
    with pytest.raises(PermissionError, match="another user"):
        open_private(file)
    assert list(list_database_files(file))[1].name == "file-wal"


def test_if_all_names_in_the_temporary_folder_are_taken_a_new_one_is_created(sources: Sources) -> None:
    before = sources.load()
    first = before.state_dir
    assert not before.notes
    for name in (first.name, *(f"{first.name}-{number}" for number in range(1, 10))):
        (first.parent / name).mkdir()
        (first.parent / name).chmod(0o777)
    found = sources.load().state_dir

    assert read_mode(found) == 0o700
    assert found.parent == first.parent
    again = sources.load()
    assert again.state_dir == found
    assert len([notice for notice in again.notes if str(first) in notice]) == 1
