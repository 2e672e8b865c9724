"""The cache file: its path, its connection, the format of a row, and a reader that needs no session.

`cached_session` writes, expires and removes the rows with requests-cache. This module imports
neither requests nor requests-cache, so that a cache hit does not load them. Only this user may read the file. A request
that cannot use the cache continues without it: a locked file is skipped for some seconds, a damaged file is renamed,
and without a usable folder the replies of this process are kept in memory.
"""

import errno
import hashlib
import json
import logging
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from entrez_kit.base.errors import describe_os_error
from entrez_kit.base.private_files import (
    build_schema,
    find_schema_change,
    get_primary_code,
    list_database_files,
    make_private_database,
    read_schema,
    restrict_schema,
    transaction,
)
from entrez_kit.base.settings import Settings

FILE_NAME: Final = "http_cache.sqlite"
TABLE: Final = "responses"
SCHEMA_VERSION: Final = 1
BUSY_MS: Final = 250
"""How long a request waits for another process to unlock the file before it continues without the cache."""

_LOCKED: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
RETRY_SECONDS: Final = 0.02
PATIENT_BUSY_MS: Final = 5000

_TABLE_DEFINITION: Final = f"CREATE TABLE {TABLE} (key TEXT PRIMARY KEY, value BLOB, expires INTEGER)"
_INDEX_DEFINITION: Final = f"CREATE INDEX expires_idx ON {TABLE}(expires)"
_SCHEMA: Final = build_schema((_TABLE_DEFINITION, _INDEX_DEFINITION))
"""The table of requests-cache."""


class CacheUnusable(Exception):
    """The cache file cannot be used; the text gives the reason."""


@dataclass(frozen=True)
class CacheInfo:
    """The content of the cache; times are Unix times, None if it is empty."""

    path: Path
    exists: bool
    entries: int = 0
    expired: int = 0
    size_bytes: int = 0
    oldest_expiry: int | None = None
    newest_expiry: int | None = None
    problem: str | None = None


def cache_file(settings: Settings) -> Path:
    """Return the path of the cache file."""
    return settings.cache_dir / FILE_NAME


def cache_info(settings: Settings) -> CacheInfo:
    """Count the cached replies; if the file cannot be read, the result has a ``problem``."""
    path = cache_file(settings)
    try:
        exists = path.exists()
        size = sum(part.stat().st_size for part in list_database_files(path) if part.exists())
    except OSError as exc:
        return CacheInfo(path, exists=False, problem=describe_os_error(exc))
    if not exists:
        return CacheInfo(path, exists=False)
    try:
        with closing(open_database(path, PATIENT_BUSY_MS)) as connection:
            entries, expired, oldest, newest = connection.execute(
                f"SELECT COUNT(*), COALESCE(SUM(expires <= ?), 0), MIN(expires), MAX(expires) FROM {TABLE}",
                (time.time(),),
            ).fetchone()
    except (sqlite3.Error, CacheUnusable) as exc:
        return CacheInfo(path, exists=True, size_bytes=size, problem=str(exc))
    return CacheInfo(
        path,
        exists=True,
        entries=entries,
        expired=expired,
        size_bytes=size,
        oldest_expiry=oldest,
        newest_expiry=newest,
    )


def open_database(path: Path, busy_ms: int) -> sqlite3.Connection:
    """Open the file for reading and writing, and check its schema.

    Raises:
        CacheUnusable: a newer version of entrez-kit made the file.
        sqlite3.Error: SQLite cannot open or read it, or its schema is not ours.
    """
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=busy_ms / 1000)
    try:
        prepare_table(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def prepare_table(connection: sqlite3.Connection) -> None:
    """Create the table if it is missing, and check the schema; if the table exists, this takes two reads.

    Raises:
        CacheUnusable: a newer version of entrez-kit made the file.
        sqlite3.DatabaseError: the schema is not ours.
    """
    restrict_schema(connection)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise CacheUnusable("a newer version of entrez-kit made it")
    if version < SCHEMA_VERSION:
        connection.execute("PRAGMA page_size=16384")  # in a new file: large records are stored in half the time
        connection.execute("PRAGMA journal_mode=WAL")
        with transaction(connection):
            if not read_schema(connection):  # another process may have created it meanwhile
                connection.execute(_TABLE_DEFINITION)
                connection.execute(_INDEX_DEFINITION)
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            _check_schema(connection)
    else:
        _check_schema(connection)
    connection.execute("PRAGMA synchronous=NORMAL")


def _check_schema(connection: sqlite3.Connection) -> None:
    if change := find_schema_change(read_schema(connection), _SCHEMA, _SCHEMA):
        raise sqlite3.DatabaseError(f"it {change}")


def open_file(path: Path) -> sqlite3.Connection:
    """Open the cache file, which only this user may read; create it and its folder if they are missing.

    A file that can be read but not written, as on a read-only disk, is opened for reading.

    Raises:
        CacheUnusable: the folder or the file cannot be used.
        sqlite3.Error: SQLite cannot open or read it; a ``DatabaseError`` other than ``OperationalError`` means damage.
    """
    try:
        make_private_database(path)
    except OSError as exc:
        if exc.errno in (errno.EACCES, errno.EPERM, errno.EROFS) and _is_readable(path):
            return _connect_read_only(path)
        raise CacheUnusable(describe_os_error(exc)) from None
    give_up = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            return open_database(path, BUSY_MS)
        except sqlite3.OperationalError as exc:
            # SQLite does not wait when several processes switch a new file to WAL mode at the same time.
            if get_primary_code(exc) not in _LOCKED or time.monotonic() >= give_up:
                raise
            time.sleep(RETRY_SECONDS)


def _connect_read_only(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    try:
        restrict_schema(connection)
        _check_schema(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _is_readable(path: Path) -> bool:
    """Return whether a read-only file may be read and trusted: this user or root owns it."""
    try:
        status = path.lstat()
        return stat.S_ISREG(status.st_mode) and status.st_uid in (0, os.geteuid()) and os.access(path, os.R_OK)
    except (OSError, AttributeError):
        return False


# Rows: a checksum, a line of JSON, and the unchanged body

DIGEST_CHARACTERS: Final = 64


def add_checksum(data: bytes) -> bytes:
    """Return data with its SHA-256 checksum in front."""
    return hashlib.sha256(data).hexdigest().encode("ascii") + b"\n" + data


def verify_checksum(value: Any) -> bytes:
    """Return the data of a row whose checksum is right.

    Raises:
        ValueError: the checksum is wrong, or missing as in rows of earlier versions.
    """
    if isinstance(value, bytes) and value[DIGEST_CHARACTERS : DIGEST_CHARACTERS + 1] == b"\n":
        data = value[DIGEST_CHARACTERS + 1 :]
        if value[:DIGEST_CHARACTERS] == hashlib.sha256(data).hexdigest().encode("ascii"):
            return data
    raise ValueError("the checksum is missing or wrong")


def join_body(row: dict[str, Any]) -> bytes:
    """Return a row as a line of JSON and the body."""
    head = {name: value for name, value in row.items() if name != "_content"}
    body: bytes = row.get("_content", b"")
    return json.dumps(head).encode("ascii") + b"\n" + body


def split_body(data: bytes) -> dict[str, Any]:
    """Return the row that `join_body` wrote.

    Raises:
        ValueError: the data has another format.
    """
    head, line_end, body = data.partition(b"\n")
    row = json.loads(head)
    if not line_end or not isinstance(row, dict):
        raise ValueError("the row has no body")
    return {**row, "_content": body}


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A stored reply; times are Unix times."""

    content: bytes
    status: int
    created: float
    expires: float
    content_type: str = ""

    @classmethod
    def read(cls, key: str, value: Any) -> "StoredReply | None":
        """Return the reply in a row; None if the row is damaged or has another key."""
        try:
            row = split_body(verify_checksum(value))
            created, expires = (datetime.fromisoformat(row[name]).timestamp() for name in ("created_at", "expires"))
            kind = str(row.get("headers", {}).get("Content-Type", ""))
            return cls(row["_content"], int(row["status_code"]), created, expires, kind) if row["key"] == key else None
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            return None


# The connection to the file

logger = logging.getLogger("entrez_kit.transport")

MEMORY: Final = ":memory:"
PAUSE_SECONDS: Final = 10.0
"""How long a locked file is skipped, so that not every request waits for it."""


_INHERITED: Final[list[sqlite3.Connection]] = []
"""Connections that a forked child inherited: it must neither use nor close them."""


class CacheUnavailable(Exception):
    """The cache cannot be used at the moment."""


class CacheFile:
    """The one connection of a process to the cache. Every access waits at most `BUSY_MS` for other processes.

    An error of the file raises `CacheUnavailable`; ``notes`` gets the reason, once. Safe for threads.
    """

    def __init__(self, path: Path, notes: list[str]) -> None:
        self._path: Path | None = path
        self._notes = notes
        self.lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._pid = os.getpid()
        self._paused_until = 0.0
        self._read_only = False

    @property
    def in_memory(self) -> bool:
        """Whether replies are kept in memory because the file cannot be used."""
        return self._path is None

    def read(self, key: str) -> StoredReply | None:
        """Return a stored reply of any age; None if there is none."""
        with suppress(CacheUnavailable), self.connection() as connection:
            row = connection.execute(f"SELECT value FROM {TABLE} WHERE key=?", (key,)).fetchone()
            return StoredReply.read(key, row[0]) if row is not None else None
        return None

    @contextmanager
    def connection(self, commit: bool = False) -> Iterator[sqlite3.Connection]:
        """Lend the connection to one thread at a time, inside a transaction if something is written.

        Raises:
            CacheUnavailable: the file cannot be used now.
        """
        with self.lock, self._handle_errors():
            opened = self._open()
            if commit and self._read_only:
                raise CacheUnavailable
            if commit and not opened.in_transaction:
                opened.execute("BEGIN IMMEDIATE")
                with opened:
                    yield opened
            else:
                yield opened

    def _open(self) -> sqlite3.Connection:
        self._forget_parent()
        if self._connection is None:
            if time.monotonic() < self._paused_until:
                raise CacheUnavailable
            if self._path is not None:
                try:
                    self._connection = open_file(self._path)
                except CacheUnusable as exc:
                    self._use_memory(str(exc))
        if self._connection is None:
            self._connection = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
            prepare_table(self._connection)
        return self._connection

    def _forget_parent(self) -> None:
        if self._pid != os.getpid():
            if self._connection is not None:
                _INHERITED.append(self._connection)
            self._connection, self._pid = None, os.getpid()

    @contextmanager
    def _handle_errors(self) -> Iterator[None]:
        try:
            yield
            return
        except sqlite3.OperationalError as exc:
            self._pause(exc)
        except sqlite3.DatabaseError as exc:
            self._replace(exc)
        raise CacheUnavailable

    def _pause(self, exc: sqlite3.OperationalError) -> None:
        """Continue without a file that is locked, full or read-only."""
        code = get_primary_code(exc)
        logger.debug("cache: %s", exc)
        if code in _LOCKED:
            self._add_note("Another program has locked the cache; continuing without it for now.")
            self._disconnect()
            self._paused_until = time.monotonic() + PAUSE_SECONDS
        elif code == sqlite3.SQLITE_READONLY:
            self._read_only = True
            self._add_note(
                f"The cache {self._path} cannot be written; its replies are used, and new replies are not stored."
            )
        elif code == sqlite3.SQLITE_CANTOPEN:
            self._use_memory(str(exc))
        else:
            self._add_note(f"The cache {self._path} could not be written ({exc}); continuing without it.")

    def _replace(self, exc: sqlite3.DatabaseError) -> None:
        """Rename a damaged file; the next access creates a new one."""
        self._disconnect()
        if self._path is None:
            return
        name = f"{self._path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        try:
            aside = self._path.rename(self._path.with_name(name))
            for part in list_database_files(self._path):
                part.unlink(missing_ok=True)
        except OSError:
            self._use_memory(str(exc))
        else:
            self._add_note(f"The cache was damaged ({exc}). It was renamed to {aside}, and a new one was created.")

    def _use_memory(self, why: str) -> None:
        """Keep further replies of this process in memory."""
        self._add_note(f"The cache {self._path} cannot be used ({why}); replies are kept in memory only.")
        self._disconnect()
        self._path = None

    def _add_note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)

    def _disconnect(self) -> None:
        with suppress(sqlite3.Error):
            self.close()
        self._connection = None

    def close(self) -> None:
        """Close the file; the next access opens it again."""
        with self.lock:
            self._forget_parent()
            if self._connection is not None:
                self._connection.close()
                self._connection = None
