"""Damaged copies, and copies changed by another person, are refused, or their defects are found."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from pubmed_files import make_home_settings, read_titles, write_record, write_set

from entrez_kit.base.errors import EntityNotFound, StoreError
from entrez_kit.base.settings import Settings
from entrez_kit.local.copies import copy_folder, open_copy, remove_copy
from entrez_kit.local.importing import import_files
from entrez_kit.local.verifying import verify_copy


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = make_home_settings(tmp_path)
    import_files(
        settings, "c", [write_set(tmp_path, "a.xml", *(write_record(pmid, f"Title {pmid}") for pmid in range(1, 30)))]
    )
    return settings


def _execute(settings: Settings, *statements: str) -> None:
    connection = sqlite3.connect(copy_folder(settings, "c") / "copy.db")
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def _index_file(settings: Settings) -> Path:
    (path,) = (copy_folder(settings, "c") / "index").iterdir()
    return path


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("CREATE TRIGGER t AFTER INSERT ON heads BEGIN DELETE FROM records; END", "changed_schema"),
        ("CREATE VIEW v AS SELECT * FROM heads", "changed_schema"),
        ("DROP TABLE journals", "changed_schema"),
        ("PRAGMA user_version=99", "newer_store"),
        ("PRAGMA application_id=7", "not_a_copy"),
        ("UPDATE segments SET name = '../../../etc/passwd'", "damaged_index"),
        ("UPDATE segments SET count = count + 1", "damaged_index"),
        ("UPDATE segments SET first = 5", "damaged_index"),
        ("UPDATE facts SET value = x'00112233' WHERE name = 'visible'", "corrupt"),
    ],
)
def test_a_changed_file_is_refused(settings: Settings, statement: str, reason: str) -> None:
    _execute(settings, statement)

    with pytest.raises(StoreError) as refused:
        open_copy(settings, "c")

    assert refused.value.details["reason"] == reason


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"x" * 5000), lambda path: os.truncate(path, 3000)])
def test_a_damaged_database_is_a_store_error_and_can_be_removed(
    settings: Settings, damage: Callable[[Path], None]
) -> None:
    path = copy_folder(settings, "c") / "copy.db"
    for part in (path.with_name("copy.db-wal"), path.with_name("copy.db-shm")):
        part.unlink(missing_ok=True)
    damage(path)

    with pytest.raises(StoreError):
        verify_copy(settings, "c")
    assert remove_copy(settings, "c") is None
    with pytest.raises(EntityNotFound):
        open_copy(settings, "c")


def test_a_missing_or_damaged_index_file_is_a_store_error(settings: Settings) -> None:
    path = _index_file(settings)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(StoreError) as damaged:
        open_copy(settings, "c")
    path.unlink()
    with pytest.raises(StoreError) as missing:
        open_copy(settings, "c")
    for error in (damaged.value, missing.value):
        assert "'c'" in error.message
        assert path.name in error.message
        assert "entrez-kit local remove c" in str(error.recovery_hint)


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("UPDATE heads SET digest = x'00' WHERE pmid = 3", "wrong_hash"),
        ("UPDATE heads SET digest = x'00' WHERE pmid = 3", "changed_record"),
        ("UPDATE records SET packed = x'001122' WHERE pmid = 3", "damaged_record"),
        ("UPDATE records SET packed = (SELECT packed FROM records WHERE pmid = 4) WHERE pmid = 3", "changed_record"),
        ("DELETE FROM records WHERE pmid = 3", "missing_record"),
        ("DELETE FROM heads WHERE pmid = 3", "superseded_record"),
        ("DELETE FROM heads WHERE pmid = 3", "wrong_visible"),
    ],
)
def test_verify_finds_what_differs(settings: Settings, statement: str, code: str) -> None:
    assert verify_copy(settings, "c", full=True).ok
    _execute(settings, statement)

    found = verify_copy(settings, "c", full=True)

    assert not found.ok
    assert code in {problem.code for problem in found.problems}


def test_verify_finds_an_index_of_other_records(settings: Settings, tmp_path: Path) -> None:
    other = [write_record(pmid, f"Heading {pmid}") for pmid in range(1, 30)]
    import_files(settings, "d", [write_set(tmp_path, "b.xml", *other)])
    (foreign,) = (copy_folder(settings, "d") / "index").iterdir()
    _index_file(settings).write_bytes(foreign.read_bytes())

    found = verify_copy(settings, "c")

    assert "wrong_index" in {problem.code for problem in found.problems}


def test_verify_finds_a_changed_byte_of_the_index(settings: Settings) -> None:
    path = _index_file(settings)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))

    try:
        found = verify_copy(settings, "c", full=True)
    except StoreError:
        return
    assert not found.ok


def test_an_import_repairs_nothing_silently_but_deletes_files_that_are_not_listed(
    settings: Settings, tmp_path: Path
) -> None:
    stray = copy_folder(settings, "c") / "index" / "0000000099-0000000199.seg"
    stray.write_bytes(b"of a killed import")

    import_files(settings, "c", [write_set(tmp_path, "b.xml", write_record(99))])

    assert not stray.exists()
    assert len(read_titles(settings, "c")) == 30


def test_a_name_cannot_leave_the_folder(settings: Settings) -> None:
    for name in ("../c", "a/b", "", ".hidden", "x" * 65, "c\0"):
        with pytest.raises(Exception, match="must be a valid name for a copy") as refused:
            open_copy(settings, name)
        assert refused.value.details["reason"] == "bad_name"  # type: ignore[attr-defined]
