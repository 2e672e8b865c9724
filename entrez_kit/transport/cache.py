"""The cache: where its file is, how it is opened without getting in the way, what `entrez-kit cache` does with it.

One SQLite table in the layout of requests-cache, which wrote it earlier. Only this user may read it. A
request that cannot have the cache goes on without it: a locked file is left alone for a while, a damaged one moved
aside, and where there is no usable folder the replies of this process are kept in memory. Needs nothing that sends
requests, so that a reply that is here is read before any of that is loaded.
"""

import base64
import binascii
import errno
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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from entrez_kit.errors import StoreError
from entrez_kit.private_files import database_files, make_private_database
from entrez_kit.settings import Settings

FILE_NAME: Final = "http_cache.sqlite"
TABLE: Final = "responses"
SCHEMA_VERSION: Final = 1
BUSY_MS: Final = 250
"""How long a request waits for another process to let go of the file, before it goes on without the cache."""

RETRY_SECONDS: Final = 0.02
PATIENT_BUSY_MS: Final = 5000
FORGET_AFTER_SECONDS: Final = 30 * 24 * 3600
"""Expired replies stay this long for --offline; older ones are dropped when a process first writes."""


class CacheUnusable(Exception):
    """The cache file cannot be used; the text says why."""


@dataclass(frozen=True)
class CacheInfo:
    """What the cache holds; times are Unix times, absent when it is empty."""

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
    """Count what the cache holds; a file that cannot be read is reported, not raised."""
    path = cache_file(settings)
    try:
        exists = path.exists()
        size = sum(part.stat().st_size for part in database_files(path) if part.exists())
    except OSError as exc:
        return CacheInfo(path, exists=False, problem=exc.strerror or type(exc).__name__)
    if not exists:
        return CacheInfo(path, exists=False)
    try:
        with closing(_connect(path, PATIENT_BUSY_MS)) as connection:
            entries, expired, oldest, newest = connection.execute(
                f"SELECT COUNT(*), COALESCE(SUM(expires <= ?), 0), MIN(expires), MAX(expires) FROM {TABLE}",
                (time.time(),),
            ).fetchone()
    except (sqlite3.Error, CacheUnusable) as exc:
        return CacheInfo(path, exists=True, size_bytes=size, problem=str(exc))
    return CacheInfo(path, True, entries, expired, size, oldest, newest)


def clear(settings: Settings) -> int:
    """Remove every cached reply and return how many there were. A damaged file is removed whole.

    Raises:
        StoreError: the file cannot be changed.
    """
    path = cache_file(settings)
    try:
        return _delete(path, "1")
    except sqlite3.OperationalError as exc:
        raise _not_changed(path, exc) from None
    except (sqlite3.DatabaseError, CacheUnusable):
        try:
            for part in database_files(path):
                part.unlink(missing_ok=True)
        except OSError as exc:
            raise _not_changed(path, exc) from None
        return 0


def prune(settings: Settings) -> int:
    """Remove the replies that no longer count, give the space back, and return how many there were.

    Raises:
        StoreError: the file cannot be changed.
    """
    path = cache_file(settings)
    try:
        return _delete(path, f"expires <= {int(time.time())}")
    except (sqlite3.Error, CacheUnusable) as exc:
        raise _not_changed(path, exc) from None


def _delete(path: Path, condition: str) -> int:
    if not path.exists():
        return 0
    with closing(_connect(path, PATIENT_BUSY_MS)) as connection:
        gone = connection.execute(f"DELETE FROM {TABLE} WHERE {condition}").rowcount
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone


def _not_changed(path: Path, exc: Exception) -> StoreError:
    return StoreError(
        f"The cache {path} could not be changed: {getattr(exc, 'strerror', None) or exc}",
        recovery_hint="Close other programs that use it, check permissions and disk space, and try again.",
        details={"reason": "cache_not_changed", "path": str(path)},
    )


def _connect(path: Path, busy_ms: int) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=busy_ms / 1000)
    try:
        prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def prepare(connection: sqlite3.Connection) -> None:
    """Make sure that the table is there; costs one read when it is.

    Raises:
        CacheUnusable: a newer version of entrez-kit made the file.
    """
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise CacheUnusable("a newer version of entrez-kit made it")
    if version < SCHEMA_VERSION:
        connection.execute("PRAGMA page_size=16384")  # of a new file: megabytes of records are stored in half the time
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {TABLE} (key TEXT PRIMARY KEY, value BLOB, expires INTEGER)"
            )
            connection.execute(f"CREATE INDEX IF NOT EXISTS expires_idx ON {TABLE}(expires)")
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    connection.execute("PRAGMA synchronous=NORMAL")


def open_file(path: Path) -> sqlite3.Connection:
    """Open the cache file for this user alone, making it and its folder where they are missing.

    A file that can be read but not written, as on a read-only disk, is opened for reading.

    Raises:
        CacheUnusable: the folder or the file cannot be used.
        sqlite3.Error: SQLite cannot open or read it; a ``DatabaseError`` other than ``OperationalError`` means damage.
    """
    try:
        make_private_database(path)
    except OSError as exc:
        if exc.errno in (errno.EACCES, errno.EPERM, errno.EROFS) and _is_readable(path):
            return sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, check_same_thread=False
            )
        raise CacheUnusable(exc.strerror or str(exc) or type(exc).__name__) from None
    give_up = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            return _connect(path, BUSY_MS)
        except sqlite3.OperationalError as exc:
            # SQLite does not wait on its own when several processes make a new file a WAL one at the same time.
            if "locked" not in str(exc) or time.monotonic() >= give_up:
                raise
            time.sleep(RETRY_SECONDS)


def _is_readable(path: Path) -> bool:
    """Tell whether a file that cannot be written may be read and believed: it is this user's or the system's own."""
    try:
        found = path.lstat()
        return stat.S_ISREG(found.st_mode) and found.st_uid in (0, os.geteuid()) and os.access(path, os.R_OK)
    except (OSError, AttributeError):
        return False


# The stored replies, kept from ever blocking or failing a request


logger = logging.getLogger("entrez_kit.transport")

MEMORY: Final = ":memory:"
MEMORY_ENTRIES: Final = 200
LEAVE_ALONE_SECONDS: Final = 10.0
"""How long a locked file is left alone, so that not every request pays the wait for it."""


_INHERITED: Final[list[sqlite3.Connection]] = []
"""Connections that a forked child got from its parent: it must neither use nor close them."""


class StoreUnavailable(Exception):
    """The cache cannot be used at the moment."""


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A stored reply; times are Unix times."""

    content: bytes
    status: int
    created: float
    expires: float

    @classmethod
    def read(cls, value: Any) -> "StoredReply | None":
        """Return what a row holds, or None where it means nothing. Earlier versions wrote the body into the JSON."""
        try:
            head, line_end, content = value.partition(b"\n") if isinstance(value, bytes) else (value, b"", b"")
            row = json.loads(head)
            if not line_end:
                content = base64.b64decode(row["_content"], validate=True)
            times = [datetime.fromisoformat(row[name]).timestamp() for name in ("created_at", "expires")]
            return cls(content, int(row["status_code"]), *times)
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError, binascii.Error):
            return None

    def written(self, address: str) -> bytes:
        """Return the row: a line of JSON, and the body as it is.

        The address, which holds no credentials, is for whoever looks into the file.
        """
        row = {
            "created_at": datetime.fromtimestamp(self.created, UTC).isoformat(),
            "expires": datetime.fromtimestamp(self.expires, UTC).isoformat(),
            "status_code": self.status,
            "url": address,
        }
        return json.dumps(row).encode("ascii") + b"\n" + self.content


class ReplyStore:
    """The stored replies of one file. Every access is short: it waits `BUSY_MS` for others and then gives up.

    Trouble with the file is a miss, or a reply that is not stored; ``notices`` says why, once. Safe for threads.
    """

    def __init__(self, path: Path, notices: list[str]) -> None:
        self._path: Path | None = path
        self._notices = notices
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._pid = os.getpid()
        self._alone_until = 0.0
        self._read_only = False
        self._swept = False

    def read(self, key: str) -> StoredReply | None:
        """Return a stored reply, whatever its age, or None."""
        with suppress(StoreUnavailable), self.connection() as connection:
            row = connection.execute(f"SELECT value FROM {TABLE} WHERE key=?", (key,)).fetchone()
            return StoredReply.read(row[0]) if row is not None else None
        return None

    def write(self, key: str, reply: StoredReply, address: str) -> None:
        """Store a reply in place of an earlier one."""
        row = (key, reply.written(address), int(reply.expires))
        with suppress(StoreUnavailable), self.connection(commit=True) as connection:
            connection.execute(f"INSERT OR REPLACE INTO {TABLE} (key, value, expires) VALUES (?, ?, ?)", row)
            if self._path is None:
                connection.execute(
                    f"DELETE FROM {TABLE} WHERE rowid NOT IN "
                    f"(SELECT rowid FROM {TABLE} ORDER BY rowid DESC LIMIT {MEMORY_ENTRIES})"
                )
            elif not self._swept:
                self._swept = True
                limit = int(time.time()) - FORGET_AFTER_SECONDS
                connection.execute(f"DELETE FROM {TABLE} WHERE expires <= ?", (limit,))

    @contextmanager
    def connection(self, commit: bool = False) -> Iterator[sqlite3.Connection]:
        """Lend the one connection, to one thread at a time, inside a transaction when something is written."""
        with self._lock, self._troubles():
            opened = self._opened()
            if commit and self._read_only:
                raise StoreUnavailable
            if commit:
                opened.execute("BEGIN IMMEDIATE")
                with opened:
                    yield opened
            else:
                yield opened

    def _opened(self) -> sqlite3.Connection:
        self._forget_parent()
        if self._connection is None:
            if time.monotonic() < self._alone_until:
                raise StoreUnavailable
            if self._path is not None:
                try:
                    self._connection = open_file(self._path)
                except CacheUnusable as exc:
                    self._fall_back(str(exc))
        if self._connection is None:
            self._connection = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
            prepare(self._connection)
        return self._connection

    def _forget_parent(self) -> None:
        if self._pid != os.getpid():
            if self._connection is not None:
                _INHERITED.append(self._connection)
            self._connection, self._pid = None, os.getpid()

    @contextmanager
    def _troubles(self) -> Iterator[None]:
        """Turn whatever SQLite complains about into `StoreUnavailable`, after seeing to it."""
        try:
            yield
            return
        except sqlite3.OperationalError as exc:
            self._put_off(exc)
        except sqlite3.DatabaseError as exc:
            self._replace(exc)
        raise StoreUnavailable

    def _put_off(self, exc: sqlite3.OperationalError) -> None:
        """Leave a file alone that is locked, full or read-only."""
        what = str(exc)
        logger.debug("cache: %s", what)
        if "locked" in what or "busy" in what:
            self._note("Another program holds the cache; going on without it for now.")
            self._disconnect()
            self._alone_until = time.monotonic() + LEAVE_ALONE_SECONDS
        elif "readonly" in what or "read-only" in what:
            self._read_only = True
            self._note(f"The cache {self._path} cannot be written; what is in it is used, nothing is added.")
        elif "unable to open" in what:
            self._fall_back(what)
        else:
            self._note(f"The cache {self._path} could not be written ({what}); going on without it.")

    def _replace(self, exc: sqlite3.DatabaseError) -> None:
        """Move a damaged file aside; the next access starts a new one."""
        self._disconnect()
        if self._path is None:
            return
        name = f"{self._path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        try:
            aside = self._path.rename(self._path.with_name(name))
            for part in database_files(self._path):
                part.unlink(missing_ok=True)
        except OSError:
            self._fall_back(str(exc))
        else:
            self._note(f"The cache was damaged ({exc}). It was moved to {aside}, and a new one was started.")

    def _fall_back(self, why: str) -> None:
        """Keep the replies of this process in memory from now on."""
        self._note(f"The cache {self._path} cannot be used ({why}); replies are kept in memory only.")
        self._disconnect()
        self._path = None

    def _note(self, text: str) -> None:
        if text not in self._notices:
            self._notices.append(text)

    def _disconnect(self) -> None:
        with suppress(sqlite3.Error):
            self.close()
        self._connection = None

    def close(self) -> None:
        """Close the file; a later access opens it again."""
        with self._lock:
            self._forget_parent()
            if self._connection is not None:
                self._connection.close()
                self._connection, self._swept = None, False
