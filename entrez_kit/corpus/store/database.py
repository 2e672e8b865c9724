"""The corpus file: how it is opened and lent out, and what SQLite's complaints about it mean to a user."""

import errno
import json
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from entrez_kit.base.errors import StoreError
from entrez_kit.base.private_files import database_files, make_private_database, make_private_folder
from entrez_kit.base.wording import AGAIN, REINDEX, Wording
from entrez_kit.corpus.store.schema import prepare, transaction

BUSY_SECONDS: Final = 30.0
"""How long a writer waits for another one; a batch of a sync takes a fraction of a second."""
OPEN_RETRY_SECONDS: Final = 0.02
MAX_IDLE: Final = 8
MEMORY: Final = ":memory:"

_INHERITED: Final[list[sqlite3.Connection]] = []
"""Connections that a forked child got from its parent: it must neither use nor close them."""


class CorpusFile:
    """One SQLite file, lent out a connection at a time; safe for threads and for forked children.

    ``graph_records`` is the folder of this user that says which files of graphs this program wrote.

    In WAL mode a reader is never blocked, and whoever writes waits only for other writers. A file that is not there yet
    reads as an empty one and is made by the first write; one that was put in its place meanwhile is noticed.
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
        """Lend a connection that sees the file as it is now until the block ends; nobody who writes is kept waiting.

        Raises:
            StoreError: the file cannot be read.
        """
        with self._lent(writable=False) as connection, transaction(connection, "DEFERRED"):
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection inside a transaction: everything in the block is written, or nothing.

        Raises:
            StoreError: the file cannot be written, or another program does not let go of it.
        """
        with self._lent(writable=True) as connection, transaction(connection, "IMMEDIATE"):
            yield connection

    def size_bytes(self) -> int:
        """Return the room the file takes on disk, its journal included."""
        total = 0
        for part in database_files(self.path):
            with suppress(OSError):
                total += part.stat().st_size
        return total

    def close(self) -> None:
        """Close the connections nobody is using; a later use opens the file again."""
        self._forget_parent()
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            with suppress(sqlite3.Error):
                connection.close()

    @contextmanager
    def _lent(self, *, writable: bool) -> Iterator[sqlite3.Connection]:
        self._forget_parent()
        with complaints(self.path):
            connection = self._take(writable)
            connection.graph_records = self.graph_records
            try:
                yield connection
            finally:
                with self._lock:
                    kept = not connection.in_transaction and connection.file and len(self._idle) < MAX_IDLE
                    if kept:
                        self._idle.append(connection)
                if not kept:
                    connection.close()

    def _take(self, writable: bool) -> "_Connection":
        there = _identity(self.path)
        while True:
            with self._lock:
                idle = self._idle.pop() if self._idle else None
            if idle is None:
                return _open(self.path, writable=writable)
            if idle.file == there:
                return idle
            idle.close()

    def _forget_parent(self) -> None:
        if self._pid != os.getpid():
            self._lock = threading.Lock()
            _INHERITED.extend(self._idle)
            self._idle, self._pid = [], os.getpid()


class _Connection(sqlite3.Connection):
    """A connection that knows which file it writes to; None for another one, which is not kept for the next caller.

    It also knows the folder with the records of graphs.
    """

    file: tuple[int, int] | None = None
    graph_records: Path | None = None


def _open(path: Path, *, writable: bool) -> _Connection:
    """Open the file, making it where it is missing and is to be written.

    Raises:
        StoreError: folder or file cannot be used, or another or a newer program made the file.
        sqlite3.Error: whatever else SQLite complains about.
    """
    if not path.exists():
        if not writable:
            return _connect(MEMORY)  # what a corpus without a file reads as
        _create(path)
    elif path.stat().st_size == 0:
        raise store_error(path, "is empty: its content was lost", "corrupt", _EMPTY)
    try:
        make_private_database(path)
    except OSError as exc:
        if not writable and path.is_file() and os.access(path, os.R_OK):
            return _open_read_only(path)
        raise _refused_by_system(path, exc) from None
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return _connect(str(path), path)
        except sqlite3.OperationalError as exc:
            if not writable and _primary(exc) in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                return _open_read_only(path)
            # SQLite does not wait on its own when several processes make a new file a WAL one at the same time.
            if _primary(exc) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or time.monotonic() >= give_up:
                raise
            time.sleep(OPEN_RETRY_SECONDS)


def _create(path: Path) -> None:
    """Create the file with its tables under another name first, so that a file that is there is never an empty one.

    Raises:
        StoreError: folder or file cannot be used.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.new")
    try:
        make_private_database(draft)
        with closing(_connect(str(draft))):
            pass
        try:
            os.link(draft, path)  # which never replaces the file of another process
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            if not path.exists():
                draft.replace(path)
    except OSError as exc:
        raise _refused_by_system(path, exc) from None
    finally:
        for part in database_files(draft):
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
        connection.file = _identity(path) if path is not None else None
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=FULL")  # what a sync has committed survives a power cut
        connection.execute("PRAGMA cache_size=-32000")
        prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _open_read_only(path: Path) -> _Connection:
    """Open a file on a read-only disk. Where no journal can be made beside it, nobody can be writing it either."""
    address = path.absolute().as_uri()
    try:
        return _connect(f"{address}?mode=ro")
    except sqlite3.OperationalError:
        return _connect(f"{address}?mode=ro&immutable=1")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one of the same name; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


# What went wrong -----------------------------------------------------------------------------------------------------


def _refused_by_system(path: Path, exc: OSError) -> StoreError:
    why = exc.strerror or type(exc).__name__
    if exc.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        reason, hint = "read_only", "Make the folder writable for you, or name another one with ENTREZ_KIT_DATA_DIR."
    elif exc.errno in (errno.ENOSPC, errno.EDQUOT):
        reason, hint = "disk_full", _FULL
    else:
        reason = "cannot_open"
        hint = "Name another folder with ENTREZ_KIT_DATA_DIR."
    return store_error(path, f"cannot be opened: {why}", reason, hint)


def _primary(exc: sqlite3.Error) -> int:
    """Return SQLite's main error code; 0 where the module raised the error itself."""
    return int(getattr(exc, "sqlite_errorcode", 0) or 0) & 0xFF


_FULL: Final = Wording("Free some space. ", AGAIN, ": what was committed is kept, the rest is fetched again.")
_DAMAGED: Final = (
    "Nothing was changed. Restore a copy of the file, or move it away and sync again; "
    "`sqlite3 corpus.db .recover` may save what is in it."
)
_EMPTY: Final = "Restore a copy of the file; or delete it if no corpus was there, and sync again."
_MEANINGS: Final[dict[int, tuple[str, str, str]]] = {
    sqlite3.SQLITE_BUSY: (
        "locked",
        "is held by another program",
        "Wait for the other sync or program to end, or close it, and try again.",
    ),
    sqlite3.SQLITE_READONLY: (
        "read_only",
        "cannot be written",
        "Make file and folder writable for you, or name another folder with ENTREZ_KIT_DATA_DIR.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot_open",
        "cannot be opened",
        "Check the folder and its permissions, or name another one with ENTREZ_KIT_DATA_DIR.",
    ),
    sqlite3.SQLITE_FULL: ("disk_full", "could not be written: the disk is full", _FULL),
    sqlite3.SQLITE_CORRUPT: ("corrupt", "is damaged", _DAMAGED),
    sqlite3.SQLITE_NOTADB: ("corrupt", "is no SQLite file", _DAMAGED),
    sqlite3.SQLITE_IOERR: (
        "io_error",
        "could not be read or written: the disk reports an error",
        "Check the disk and that the folder is not on an unreliable network drive, and try again.",
    ),
}
_MEANINGS[sqlite3.SQLITE_LOCKED] = _MEANINGS[sqlite3.SQLITE_BUSY]


_OF_DAMAGE: Final = (
    "no such table",
    "no such column",
    "no such row",
    "no such function",
    "no such module",
    "no such tokenizer",
    "unrecognized option",
    "vtable constructor failed",
    "Could not decode",
    "malformed JSON",
    "malformed record",
    "malformed vectors",
)
"""What flipped bytes make SQLite say without a code of its own for it."""


_OF_INDEXES: Final = ("malformed full-text index", "malformed vector index")
"""The same of what is made of the records."""


@contextmanager
def complaints(path: Path) -> Iterator[None]:
    """Turn what SQLite complains about in this block into a ``StoreError`` that says what to do.

    Mistakes in our own SQL pass: they are defects.
    """
    error: StoreError | None = None
    try:
        yield
    except sqlite3.Error as exc:
        meaning = _MEANINGS.get(_primary(exc))
        if meaning is None and str(exc).startswith(_OF_INDEXES):
            meaning = ("corrupt", "is damaged", Wording(REINDEX, "; it is made of the records."))
        if meaning is None and not str(exc).startswith(_OF_DAMAGE):
            raise
        reason, problem, hint = meaning or ("corrupt", "lacks a part that belongs to it", _DAMAGED)
        error = store_error(path, f"{problem} ({exc})", reason, hint)
    except (UnicodeDecodeError, ValidationError, json.JSONDecodeError, zlib.error) as exc:  # it was whole when written
        error = store_error(path, f"holds something that cannot be read ({type(exc).__name__})", "corrupt", _DAMAGED)
    if error is not None:
        raise error


def store_error(path: Path, problem: str, reason: str, hint: str, **details: object) -> StoreError:
    """Return the error for a corpus file that cannot be used."""
    return StoreError(
        f"The corpus {path} {problem}.",
        recovery_hint=hint,
        details={"reason": reason, "path": str(path), **details},
    )


# One at a time -------------------------------------------------------------------------------------------------------


@contextmanager
def alone(path: Path, name: str, problem: str, reason: str, hint: str, **details: object) -> Iterator[None]:
    """Hold the right to do something that one process does at a time; the system takes it back from one that dies.

    Args:
        path: the corpus.
        name: what tells this right from others, as part of a file's name.
        problem: what the error says of the corpus where another process holds it.
        reason: the reason of that error.
        hint: what to do then.
        details: what else that error holds.

    Raises:
        StoreError: another process holds it, or the folder cannot be written.
    """
    from filelock import FileLock, Timeout

    try:
        make_private_folder(path.parent)
        lock = FileLock(path.with_name(f"{path.name}.{name}.lock"), timeout=0, mode=0o600)
        lock.acquire()
    except Timeout:
        raise store_error(path, problem, reason, hint, **details) from None
    except OSError as exc:
        raise _refused_by_system(path, exc) from None
    try:
        yield
    finally:
        lock.release()
