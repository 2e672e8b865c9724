"""The stored replies: the cache file in use, kept from ever blocking or failing a request.

A request that cannot have the cache goes on without it: a locked file is left alone for a while, a damaged one moved
aside, and where there is no usable folder the replies of this process are kept in memory. Needs nothing that sends
requests, so that a reply that is here is read before any of that is loaded.
"""

import base64
import binascii
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from entrez_kit.transport import cache

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
    """The stored replies of one file. Every access is short: it waits `cache.BUSY_MS` for others and then gives up.

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
            row = connection.execute(f"SELECT value FROM {cache.TABLE} WHERE key=?", (key,)).fetchone()
            return StoredReply.read(row[0]) if row is not None else None
        return None

    def write(self, key: str, reply: StoredReply, address: str) -> None:
        """Store a reply in place of an earlier one."""
        row = (key, reply.written(address), int(reply.expires))
        with suppress(StoreUnavailable), self.connection(commit=True) as connection:
            connection.execute(f"INSERT OR REPLACE INTO {cache.TABLE} (key, value, expires) VALUES (?, ?, ?)", row)
            if self._path is None:
                connection.execute(
                    f"DELETE FROM {cache.TABLE} WHERE rowid NOT IN "
                    f"(SELECT rowid FROM {cache.TABLE} ORDER BY rowid DESC LIMIT {MEMORY_ENTRIES})"
                )
            elif not self._swept:
                self._swept = True
                limit = int(time.time()) - cache.FORGET_AFTER_SECONDS
                connection.execute(f"DELETE FROM {cache.TABLE} WHERE expires <= ?", (limit,))

    @contextmanager
    def connection(self, commit: bool = False) -> Iterator[sqlite3.Connection]:
        """Lend the one connection, to one thread at a time, inside a transaction when something is written."""
        with self._lock, self._troubles():
            opened = self._opened()
            if commit and self._read_only:
                raise StoreUnavailable
            if commit:
                with cache.transaction(opened):
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
                    self._connection = cache.open_file(self._path)
                except cache.CacheUnusable as exc:
                    self._fall_back(str(exc))
        if self._connection is None:
            self._connection = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
            cache.prepare(self._connection)
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
        try:
            aside = cache.move_aside(self._path)
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
