"""Copies of PubMed on this machine: their folders, and a copy opened for searches.

A copy is a folder ``copies/NAME`` of the data folder. ``copy.db`` has the records and everything else except the search
index, whose files are in ``index``.
"""

import hashlib
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Final

from pyroaring import BitMap

from entrez_kit.base.errors import EntityNotFound, StoreError, wrong_value
from entrez_kit.base.frontend_text import FrontendText, PerFrontend, join_names, suggest_command
from entrez_kit.base.private_files import acquire_lock, make_private_folder
from entrez_kit.base.settings import Settings
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.local.apply_file import find_baseline_year
from entrez_kit.local.copy_file import FILE, copy_error, create_file, open_file, read_fact, read_set, translate_errors
from entrez_kit.local.file_order import FileNumber, read_place
from entrez_kit.local.manifest import FOLDER as INDEX
from entrez_kit.local.manifest import read_manifest
from entrez_kit.local.packing import unpack
from entrez_kit.local.records.collection import RecordCollection
from entrez_kit.local.source_files import RECORD_KINDS
from entrez_kit.local.stored_vocabulary import StoredVocabulary
from entrez_kit.query.mesh import Vocabulary
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.segments.segment import Segment

FOLDER: Final = "copies"
_ATTEMPTS: Final = 5
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class CopyInfo(Result):
    """What a copy contains.

    ``date`` is the day up to which it has PubMed's records: the newest entry date. ``hash`` identifies its content: two
    copies with the same hash give the same answers. ``complete`` is false while an import is interrupted.
    """

    name: str
    records: int
    deleted: int
    date: str | None = omit_if_empty()
    baseline_year: int | None = omit_if_empty()
    last_file: str | None = omit_if_empty()
    last_update: int | None = omit_if_empty()
    files: int
    other_files: int
    mesh_year: int | None = omit_if_empty()
    mesh_records: int
    journals: int
    topic: str | None = omit_if_empty()
    corpus: str | None = omit_if_empty()
    created_at: str
    updated_at: str | None = omit_if_empty()
    hash: str
    complete: bool
    size_bytes: int
    path: str


def find_copies_folder(settings: Settings) -> Path:
    """Return the folder of all copies."""
    return settings.data_dir / FOLDER


def copy_folder(settings: Settings, name: str) -> Path:
    """Return the folder of a copy, which may not exist.

    Raises:
        InvalidInput: it is not a name.
    """
    if not _NAME.fullmatch(name):
        hint = "Use 1 to 64 letters, digits, dots, hyphens and underscores; begin with a letter or digit."
        raise wrong_value("name", "a valid name for a copy", name, hint, reason="bad_name")
    return find_copies_folder(settings) / name


def list_copies(settings: Settings) -> list[str]:
    """Return the names of all copies."""
    folder = find_copies_folder(settings)
    if not folder.is_dir():
        return []
    with translate_errors(folder / FILE):
        return sorted(path.name for path in folder.iterdir() if (path / FILE).is_file() and _NAME.fullmatch(path.name))


def open_copy(settings: Settings, name: str) -> "Copy":
    """Open a copy for searches.

    Raises:
        EntityNotFound: it does not exist.
        StoreError: it is damaged or cannot be read.
    """
    return Copy(find_folder(settings, name))


def find_folder(settings: Settings, name: str) -> Path:
    """Return the folder of an existing copy.

    Raises:
        EntityNotFound: it does not exist.
    """
    folder = copy_folder(settings, name)
    if not (folder / FILE).is_file():
        copies = list_copies(settings)
        existing = f"The existing copies are {join_names(copies)}. " if copies else "No local copy exists yet. "
        create = PerFrontend(
            f"To create one, run `entrez-kit local import {name} FILE...` or "
            f"`entrez-kit local mirror {name}`, which downloads PubMed.",
            "The operator of the server can create one.",
            f"To create one, run `entrez-kit local import {name} FILE...` in a terminal.",
        )
        raise EntityNotFound(
            f"The local copy {name!r} does not exist.",
            invalid_input=f"name={name}",
            recovery_hint=FrontendText(existing, create),
            details={"reason": "no_such_copy", "copies": copies[:20]},
        )
    return folder


class Copy:
    """A copy opened for searches: a snapshot that later imports do not change. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self.path = folder / FILE
        self._lock = RLock()
        for attempt in range(_ATTEMPTS):
            self._connection = open_file(self.path)
            try:
                with self.reading() as connection:
                    connection.execute("BEGIN")  # the snapshot
                    self.visible = read_set(connection, "visible")
                    self.index = self._open_index(connection)
                return
            except StoreError as exc:
                self._connection.close()
                # An import that ends at this moment may have merged and deleted files of the index.
                if exc.details.get("reason") != "unreadable_index" or attempt == _ATTEMPTS - 1:
                    raise
            except BaseException:
                self._connection.close()
                raise

    def _open_index(self, connection: sqlite3.Connection) -> SearchIndex:
        manifest = read_manifest(connection, self.folder)
        segments = [self._open_segment(file.name) for file in manifest]
        size = sum(file.records for file in manifest)
        wrong = any(segment.records != file.records for segment, file in zip(segments, manifest, strict=True))
        if wrong or (self.visible and self.visible.max() >= size):
            raise copy_error(self.path, "does not fit to its index files", "damaged_index")
        return SearchIndex(segments, BitMap(range(size)) - self.visible)

    def _open_segment(self, name: str) -> Segment:
        """Open a file of the index.

        Raises:
            StoreError: it is missing or damaged; the message names the copy.
        """
        try:
            return Segment(self.folder / INDEX / name)
        except StoreError as exc:
            hint = FrontendText(
                suggest_command(f"local remove {self.name}", "Ask the operator of the server to remove the copy"),
                ", and import it again.",
            )
            raise exc.copy_with(f"The copy {self.name!r} cannot be used. {exc.message}", hint) from None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Provide the connection for the length of the block."""
        with self._lock, translate_errors(self.path):
            yield self._connection

    @cached_property
    def collection(self) -> "CopyCollection":
        """The records."""
        return CopyCollection(self)

    @cached_property
    def _vocabulary(self) -> StoredVocabulary:
        return StoredVocabulary(self.reading)

    def read_vocabulary(self) -> Vocabulary:
        """Return MeSH, the journals and the filters of this copy."""
        return self._vocabulary

    @cached_property
    def hash(self) -> str:
        """The identity of the content; two copies with the same hash give the same answers."""
        with self.reading() as connection:
            return str(read_fact(connection, "hash") or compute_hash(connection))

    @cached_property
    def date(self) -> str | None:
        """The newest entry date of a record (2026-01-31)."""
        with self.reading() as connection:
            stored = read_fact(connection, "newest_edat")
            newest = find_newest_edat(connection) if stored is None else int(stored)
        return f"{newest // 10000:04}-{newest // 100 % 100:02}-{newest % 100:02}" if newest else None

    @cached_property
    def info(self) -> CopyInfo:
        """What the copy contains."""
        with self.reading() as connection:
            rows = connection.execute("SELECT place, kind, applied_at FROM files").fetchall()
            (deleted,) = connection.execute("SELECT count(*) FROM heads WHERE slot IS NULL").fetchone()
            (mesh,) = connection.execute("SELECT count(*) FROM headings").fetchone()
            (journals,) = connection.execute("SELECT count(*) FROM journals").fetchone()
            facts = dict(connection.execute("SELECT name, value FROM facts WHERE name NOT IN ('visible', 'hidden')"))
        numbers = sorted(number for place, _, _ in rows if (number := read_place(place)) is not None)
        return CopyInfo(
            name=self.name,
            records=len(self.visible),
            deleted=deleted,
            date=self.date,
            baseline_year=find_baseline_year(place for place, _, _ in rows),
            last_file=str(numbers[-1]) if numbers else None,
            last_update=_find_last_update(numbers, facts.get("baseline_last")),
            files=len(numbers),
            other_files=sum(kind in RECORD_KINDS for _, kind, _ in rows) - len(numbers),
            mesh_year=facts.get("mesh_year"),
            mesh_records=mesh,
            journals=journals,
            topic=facts.get("topic"),
            corpus=facts.get("corpus"),
            created_at=facts.get("created_at", ""),
            updated_at=max((at for _, _, at in rows), default=None),
            hash=self.hash,
            complete="hash" in facts,
            size_bytes=sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file()),
            path=str(self.folder),
        )


def _find_last_update(numbers: Sequence[FileNumber], baseline_last: int | None) -> int | None:
    """Return the number of the last update file, if the last file of the baseline is known."""
    return numbers[-1].number if numbers and baseline_last and numbers[-1].number > baseline_last else None


class CopyCollection(RecordCollection):
    """The records of a copy. Their numbers do not change as long as the copy is open, and have gaps."""

    def __init__(self, copy: Copy) -> None:
        self._copy = copy
        self.size = len(copy.visible)

    @property
    def index(self) -> SearchIndex:
        """The index of all records."""
        return self._copy.index

    def get_pmid(self, number: int) -> str:
        """Return the PMID of a record."""
        return str(self._copy.index.read_pmids([number])[0])

    def get_pmids(self, numbers: Sequence[int]) -> list[str]:
        """Return the PMIDs of records."""
        return [str(pmid) for pmid in self._copy.index.read_pmids(numbers)]

    def find_number(self, pmid: str) -> int | None:
        """Return the number of the record with this PMID; None if the PMID is unknown."""
        if not (pmid.isascii() and pmid.isdigit() and len(pmid) < 12):
            return None
        with self._copy.reading() as connection:
            rows = connection.execute("SELECT slot FROM heads WHERE pmid = ? AND slot IS NOT NULL", (int(pmid),))
            return next((slot for (slot,) in rows if slot in self._copy.visible), None)

    def read_raw(self, number: int) -> bytes:
        """Return the XML of a record.

        Raises:
            StoreError: the record is damaged.
        """
        with self._copy.reading() as connection:
            row = connection.execute("SELECT packed FROM records WHERE slot = ?", (number,)).fetchone()
        if row is None:
            raise copy_error(self._copy.path, f"has no record {number}", "corrupt")
        return unpack_record(row[0], self._copy.path)


def unpack_record(packed: bytes, path: Path) -> bytes:
    """Return the XML of a stored record.

    Raises:
        StoreError: it is damaged.
    """
    try:
        return unpack(packed)
    except ValueError as exc:
        raise StoreError(
            f"The copy {path.parent.name!r} is damaged: {exc}.",
            recovery_hint=FrontendText(
                suggest_command(
                    f"local verify {path.parent.name} --full", "Ask the operator of the server to verify the copy"
                ),
                ".",
            ),
            details={"reason": "corrupt", "path": str(path)},
        ) from None


def compute_hash(connection: sqlite3.Connection) -> str:
    """Return the identity of a copy's content: all records and deletions in the order of PMIDs, and the vocabulary.

    It does not depend on the order of imports, their interruptions, or the files of the index.
    """
    found = hashlib.blake2b(digest_size=32)
    for pmid, version, digest in connection.execute("SELECT pmid, version, digest FROM heads ORDER BY pmid, version"):
        found.update(b"%d %d %s\n" % (pmid, version, digest.hex().encode()))
    rows = connection.execute("SELECT kind, digest FROM files ORDER BY kind")
    for kind, digest in rows:
        if kind not in RECORD_KINDS:
            found.update(b"%s %s\n" % (kind.encode(), digest.hex().encode()))
    return found.hexdigest()


def find_newest_edat(connection: sqlite3.Connection) -> int:
    """Return the newest entry date of a record (yyyymmdd), or 0."""
    (newest,) = connection.execute("SELECT max(edat) FROM heads WHERE slot IS NOT NULL").fetchone()
    return newest or 0


def prepare_folder(folder: Path, now: str) -> None:
    """Create an empty copy in a folder if it has none.

    Raises:
        StoreError: the folder cannot be written.
    """
    with translate_errors(folder / FILE):
        make_private_folder(folder)
    if not (folder / FILE).is_file():
        create_file(folder / FILE)
    connection = open_file(folder / FILE, writable=True)
    try:
        connection.execute("INSERT OR IGNORE INTO facts VALUES ('created_at', ?)", (now,))
    finally:
        connection.close()


def remove_copy(settings: Settings, name: str) -> CopyInfo | None:
    """Remove a copy, also a damaged one; return what it contained if it could be read.

    Raises:
        EntityNotFound: it does not exist.
        StoreError: another process changes it, or it cannot be removed.
    """
    folder = find_folder(settings, name)
    info: CopyInfo | None = None
    try:
        copy = Copy(folder)
        info = copy.info
        copy.close()
    except StoreError:
        pass
    with lock_copy(folder), translate_errors(folder / FILE):
        (folder / FILE).unlink()  # without it the folder is not a copy, even if the process is killed now
        shutil.rmtree(folder)
    return info


def lock_copy(folder: Path) -> AbstractContextManager[object]:
    """Acquire the lock of a copy, which one process may change at a time; the caller releases it with ``with``.

    Raises:
        StoreError: another process changes the copy.
    """
    busy = StoreError(
        f"Another process is changing the copy {folder.name!r}.",
        recovery_hint="Wait until it ends, and try again.",
        details={"reason": "locked", "path": str(folder)},
    )
    with translate_errors(folder / FILE):
        make_private_folder(folder.parent)
        return acquire_lock(folder.parent / f".{folder.name}.lock", busy)
