"""The files of a copy's search index: which records each has, and which of them to merge.

An import writes one file per 50,000 records. Neighbouring files are merged eight at a time, so that a copy has few of
them and an update writes only small ones.
"""

import re
import sqlite3
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from entrez_kit.local.copy_file import FILE, copy_error, read_set

if TYPE_CHECKING:
    from pyroaring import BitMap

FOLDER: Final = "index"
FAN_IN: Final = 8
"""Files that are merged into one."""
MIN_SEGMENT: Final = 8_192
MAX_RECORDS: Final = 2_000_000
_NAME: Final = re.compile(r"[0-9]{1,12}-[0-9]{1,12}\.seg")


class IndexFile(NamedTuple):
    """A file of the index with its first record and its number of records."""

    first: int
    records: int
    name: str

    @property
    def level(self) -> int:
        """How often files were merged into it, measured by its size."""
        level, size = 0, MIN_SEGMENT * FAN_IN
        while self.records >= size:
            level, size = level + 1, size * FAN_IN
        return level


def name_segment(first: int, count: int) -> str:
    """Return the name of a file."""
    return f"{first:010}-{first + count:010}.seg"


def read_manifest(connection: sqlite3.Connection, folder: Path) -> list[IndexFile]:
    """Return the files of the index in the order of their records.

    Raises:
        StoreError: the list has a gap or a path outside the folder.
    """
    index_files = [
        IndexFile(*row) for row in connection.execute("SELECT first, count, name FROM segments ORDER BY first")
    ]
    expected = 0
    for file in index_files:
        if file.first != expected or file.records < 1 or not _NAME.fullmatch(file.name):
            raise copy_error(folder / FILE, "has a damaged list of index files", "damaged_index")
        expected += file.records
    return index_files


def add_segments(connection: sqlite3.Connection, folder: Path, first: int, files: Iterable[tuple[int, Path]]) -> None:
    """Move files into the index and list them, inside a transaction of the caller."""
    for count, path in files:
        name = name_segment(first, count)
        path.replace(folder / FOLDER / name)
        connection.execute("INSERT INTO segments VALUES (?, ?, ?)", (first, count, name))
        first += count


def choose_merge(segments: list[IndexFile], busy: Collection[str]) -> list[IndexFile]:
    """Return neighbouring files to merge; an empty list if there are few files.

    Args:
        segments: all files in order.
        busy: the names of files that are being merged.
    """
    for level in sorted({segment.level for segment in segments}):
        run: list[IndexFile] = []
        for segment in segments:
            fits = (
                segment.level <= level
                and segment.name not in busy
                and sum(chosen.records for chosen in run) + segment.records <= MAX_RECORDS
            )
            run = [*run, segment] if fits else []
            if len(run) == FAN_IN:
                return run
    return []


def replace_segments(connection: sqlite3.Connection, folder: Path, merged: list[IndexFile], path: Path) -> None:
    """List a merged file in place of others, inside a transaction of the caller."""
    count = sum(segment.records for segment in merged)
    connection.executemany("DELETE FROM segments WHERE first = ?", ((segment.first,) for segment in merged))
    add_segments(connection, folder, merged[0].first, [(count, path)])


def find_removed(connection: sqlite3.Connection, segments: list[IndexFile]) -> "BitMap":
    """Return the records of neighbouring files that were removed from the copy, counted from the first record."""
    from pyroaring import BitMap

    first, count = segments[0].first, sum(segment.records for segment in segments)
    stored = read_set(connection, "visible") | read_set(connection, "hidden")
    return (BitMap(range(first, first + count)) - stored).shift(-first)


def delete_unlisted(connection: sqlite3.Connection, folder: Path) -> None:
    """Delete index files that the copy does not use, such as those of an import that was killed."""
    used_names = {name for (name,) in connection.execute("SELECT name FROM segments")}
    for path in (folder / FOLDER).glob("*"):
        if path.name not in used_names:
            with suppress(OSError):
                path.unlink()
