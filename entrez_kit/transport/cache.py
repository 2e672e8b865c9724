"""The cache file: where it is, how it is opened without getting in the way, and what `entrez-kit cache` does with it.

One SQLite table in the layout of requests-cache, which wrote it earlier. Only this user may read it.
"""

import errno
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

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
    if not path.exists():
        return 0
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
    if not path.exists():
        return 0
    try:
        return _delete(path, f"expires <= {int(time.time())}")
    except (sqlite3.Error, CacheUnusable) as exc:
        raise _not_changed(path, exc) from None


def _delete(path: Path, condition: str) -> int:
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
        connection.execute("PRAGMA journal_mode=WAL")
        with transaction(connection):
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {TABLE} (key TEXT PRIMARY KEY, value BLOB, expires INTEGER)"
            )
            connection.execute(f"CREATE INDEX IF NOT EXISTS expires_idx ON {TABLE}(expires)")
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    connection.execute("PRAGMA synchronous=NORMAL")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write all or nothing; waits for other writers as long as the connection's busy timeout says."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


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


def move_aside(path: Path) -> Path:
    """Rename a damaged file, so that nothing of it is lost and a new one can be made.

    Raises:
        OSError: it cannot be renamed.
    """
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")
    path.rename(aside)
    for part in database_files(path):
        part.unlink(missing_ok=True)
    return aside
