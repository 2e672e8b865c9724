"""The corpus file: its connections, and the translation of SQLite errors."""

import json
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from entrez_kit.base.errors import StoreError, describe_os_error
from entrez_kit.base.frontend_text import AGAIN, REINDEX, FrontendText, Text
from entrez_kit.base.private_files import (
    acquire_lock,
    list_database_files,
    make_private_database,
    make_private_folder,
    transaction,
)
from entrez_kit.base.sqlite_failures import DamagedData, Failure, find_failure
from entrez_kit.corpus.store.migrations import migrate

BUSY_SECONDS: Final = 30.0
"""The time a writer waits for another writer; a batch of a sync takes a fraction of a second."""
OPEN_RETRY_SECONDS: Final = 0.02
MAX_IDLE: Final = 8
MEMORY: Final = ":memory:"

_INHERITED: Final[list[sqlite3.Connection]] = []
"""Connections that a forked child inherited from its parent: it must neither use nor close them."""


class CorpusFile:
    """A pool of connections to one SQLite file; safe for threads and for forked children.

    ``graph_records`` is a folder of this user with the hashes of graph files that this program wrote.

    In WAL mode a reader is never blocked, and a writer waits only for other writers. A missing file reads as an empty
    one, and the first write creates it. A file that replaces the old one is detected.
    """

    def __init__(self, path: Path, graph_records: Path | None = None) -> None:
        self.path = path
        self.graph_records = graph_records if graph_records is not None else path.parent / "graphs"
        self._lock = threading.Lock()
        self._idle: list[_Connection] = []
        self._pid = os.getpid()

    def __del__(self) -> None:
        """Leave no connection open behind."""
        with suppress(Exception):
            self.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Provide a connection with a snapshot of the file for the length of the block; it does not block writers.

        Raises:
            StoreError: the file cannot be read.
        """
        with self._lend(writable=False) as connection, transaction(connection, "DEFERRED"):
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Provide a connection inside a transaction: every write of the block is committed, or none.

        Raises:
            StoreError: the file cannot be written, or another program holds its lock.
        """
        with self._lend(writable=True) as connection, transaction(connection):
            yield connection

    def size_bytes(self) -> int:
        """Return the size of the file on disk, including its journal and the files of its word index."""
        total = 0
        for part in (*list_database_files(self.path), *self.path.parent.glob(f"{self.path.name}.words-*")):
            with suppress(OSError):
                total += part.stat().st_size
        return total

    def close(self) -> None:
        """Close unused connections; a later use opens the file again."""
        self._forget_parent()
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            with suppress(sqlite3.Error):
                connection.close()

    @contextmanager
    def _lend(self, *, writable: bool) -> Iterator[sqlite3.Connection]:
        self._forget_parent()
        with translate_errors(self.path):
            connection = self._take(writable)
            connection.graph_records = self.graph_records
            try:
                yield connection
            finally:
                with self._lock:
                    is_reusable = not connection.in_transaction and connection.file and len(self._idle) < MAX_IDLE
                    if is_reusable:
                        self._idle.append(connection)
                if not is_reusable:
                    connection.close()

    def _take(self, writable: bool) -> "_Connection":
        identity = _identify(self.path)
        while True:
            with self._lock:
                idle = self._idle.pop() if self._idle else None
            if idle is None:
                return _open(self.path, writable=writable)
            if idle.file == identity:
                return idle
            idle.close()

    def _forget_parent(self) -> None:
        if self._pid != os.getpid():
            self._lock = threading.Lock()
            _INHERITED.extend(self._idle)
            self._idle, self._pid = [], os.getpid()


class _Connection(sqlite3.Connection):
    """A connection with the identity of its file and the folder of graph records.

    ``file`` is None for a connection that is not returned to the pool.
    """

    file: tuple[int, int] | None = None
    graph_records: Path | None = None


def _open(path: Path, *, writable: bool) -> _Connection:
    """Open the file; create it if it is missing and ``writable`` is true.

    Raises:
        StoreError: the folder or file cannot be used, or another program or a newer version created the file.
        sqlite3.Error: any other SQLite error.
    """
    if not path.exists():
        if not writable:
            return _connect(MEMORY)  # a missing file reads as an empty corpus
        _create(path)
    elif path.stat().st_size == 0:
        raise corpus_error(path, "is empty: its content was lost", "corrupt", _EMPTY)
    try:
        make_private_database(path)
    except OSError as exc:
        if not writable and path.is_file() and os.access(path, os.R_OK):
            return _open_read_only(path)
        raise _system_error(path, exc) from None
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return _connect(str(path), path)
        except sqlite3.OperationalError as exc:
            failure = find_failure(exc)
            if not writable and failure in ("read_only", "cannot_open"):
                return _open_read_only(path)
            # SQLite does not wait if several processes switch a new file to WAL mode at the same time.
            if failure != "locked" or time.monotonic() >= give_up:
                raise
            time.sleep(OPEN_RETRY_SECONDS)


def _create(path: Path) -> None:
    """Create the file with its tables under a temporary name first, so that an existing file is never empty.

    Raises:
        StoreError: the folder or file cannot be used.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.new")
    try:
        make_private_database(draft)
        with closing(_connect(str(draft))):
            pass
        try:
            os.link(draft, path)  # never replaces the file of another process
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            if not path.exists():
                draft.replace(path)
    except OSError as exc:
        raise _system_error(path, exc) from None
    finally:
        for part in list_database_files(draft):
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _connect(name: str, path: Path | None = None) -> _Connection:
    connection = sqlite3.connect(
        name,
        uri=name.startswith("file:"),
        isolation_level=None,
        check_same_thread=False,
        timeout=BUSY_SECONDS,
        factory=_Connection,
    )
    try:
        connection.file = _identify(path) if path is not None else None
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=FULL")  # a committed batch survives a power cut
        connection.execute("PRAGMA cache_size=-32000")
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _open_read_only(path: Path) -> _Connection:
    """Open a file on a read-only disk; if no journal can be created, no other process can write the file."""
    address = path.absolute().as_uri()
    try:
        return _connect(f"{address}?mode=ro")
    except sqlite3.OperationalError:
        return _connect(f"{address}?mode=ro&immutable=1")


def _identify(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file; None if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


# Errors --------------------------------------------------------------------------------------------------------------

_DAMAGED: Final = (
    "Nothing was changed. Restore a copy of the file, or move it away and sync again. "
    "`sqlite3 corpus.db .recover` may recover its content."
)
_EMPTY: Final = "Restore a copy of the file, or delete it and sync again."
_PROBLEMS: Final[Mapping[Failure, tuple[str, Text]]] = {
    "locked": (
        "is locked by another program",
        "Wait for the other sync or program to end, or close it, and try again.",
    ),
    "read_only": (
        "cannot be written",
        "Make the file and its folder writable, or set ENTREZ_KIT_DATA_DIR to another folder.",
    ),
    "cannot_open": (
        "cannot be opened",
        "Check the folder and its permissions, or set ENTREZ_KIT_DATA_DIR to another folder.",
    ),
    "disk_full": (
        "could not be written: the disk is full",
        FrontendText("Free some space. ", AGAIN, ": committed records are kept, the rest is fetched again."),
    ),
    "corrupt": ("is damaged", _DAMAGED),
    "io_error": (
        "could not be read or written: the disk reports an error",
        "Check the disk and that the folder is not on an unreliable network drive, and try again.",
    ),
}


class DamagedIndex(DamagedData):
    """An index that cannot be read, and can be rebuilt from the records."""


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Convert SQLite errors and unreadable data of this block into ``StoreError`` with a hint.

    Wrong uses of SQLite pass through, because they are defects.
    """
    error: StoreError | None = None
    try:
        yield
    except DamagedIndex as exc:
        hint = FrontendText(REINDEX, " to rebuild it from the records.")
        error = corpus_error(path, f"is damaged ({exc})", "corrupt", hint)
    except sqlite3.Error as exc:
        failure = find_failure(exc)
        if failure is None:
            raise
        error = _failure_error(path, failure, str(exc))
    except (UnicodeDecodeError, ValidationError, json.JSONDecodeError, zlib.error) as exc:  # it was valid when written
        error = corpus_error(path, f"has data that cannot be read ({type(exc).__name__})", "corrupt", _DAMAGED)
    if error is not None:
        raise error


def _failure_error(path: Path, failure: Failure, why: str) -> StoreError:
    problem, hint = _PROBLEMS[failure]
    return corpus_error(path, f"{problem} ({why})", failure, hint)


def _system_error(path: Path, exc: OSError) -> StoreError:
    return _failure_error(path, find_failure(exc) or "cannot_open", describe_os_error(exc))


def corpus_error(path: Path, problem: str, reason: str, hint: Text, **details: object) -> StoreError:
    """Return the error for a corpus file that cannot be used."""
    return StoreError(
        f"The corpus {path} {problem}.",
        recovery_hint=hint,
        details={"reason": reason, "path": str(path), **details},
    )


# Locks ---------------------------------------------------------------------------------------------------------------


def lock_corpus(
    path: Path, name: str, problem: str, reason: str, hint: str, **details: object
) -> AbstractContextManager[object]:
    """Acquire the lock of a task that one process may run at a time; the caller releases it with ``with``.

    Args:
        path: the corpus.
        name: the name of the lock, part of its file name.
        problem: the message of the error if another process holds the lock.
        reason: the reason of that error.
        hint: the hint of that error.
        details: more details of that error.

    Raises:
        StoreError: another process holds the lock, or the folder cannot be written.
    """
    try:
        make_private_folder(path.parent)
        busy = corpus_error(path, problem, reason, hint, **details)
        return acquire_lock(path.with_name(f"{path.name}.{name}.lock"), busy)
    except OSError as exc:
        raise _system_error(path, exc) from None
