"""The cache as requests-cache sees it: its SQLite backend, kept from ever blocking or failing a request.

The backend of the library waits for a locked file without limit and raises on a damaged one. Here a request that
cannot have the cache goes on without it: a locked file is left alone for a while, a damaged one moved aside, and where
there is no usable folder the replies of this process are kept in memory.
"""

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from requests import Response
from requests_cache.backends.base import BaseCache, DictStorage
from requests_cache.backends.sqlite import SQLiteDict
from requests_cache.models.response import CachedResponse

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


class ReplyTable(SQLiteDict):
    """The table of replies. Every access is short: it waits `cache.BUSY_MS` for others and then gives up.

    Only what the library does on its own account is replaced: how a connection is opened, and how a write begins.

    Raises (on access):
        Unavailable: the file cannot be used now; the notices say why, once.
    """

    def __init__(self, path: Path, notices: list[str]) -> None:
        self._path: Path | None = path
        self._notices = notices
        self._pid = os.getpid()
        self._alone_until = 0.0
        self._read_only = False
        self._swept = False
        super().__init__(MEMORY, table_name=cache.TABLE, serializer="json", busy_timeout=cache.BUSY_MS)

    def init_db(self) -> None:
        """Do nothing yet: the file is opened when it is first used."""

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
        """Turn whatever SQLite complains about into `Unavailable`, after seeing to it."""
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
        self._forget_parent()
        super().close()  # type: ignore[no-untyped-call]  # the library's own is not annotated

    def deserialize(self, key: str, value: Any) -> CachedResponse | None:
        """Return a stored reply, or None for an entry that means nothing."""
        try:
            stored = self.serializer.loads(value) if self.serializer else None
        except Exception as exc:  # whatever a damaged text makes a converter raise
            logger.debug("cache: entry %s cannot be read (%s)", key, type(exc).__name__)
            return None
        if not isinstance(stored, CachedResponse) or not isinstance(stored._content, bytes) or not stored.status_code:
            return None
        stored.cache_key = key
        return stored

    def write(self, key: str, reply: CachedResponse) -> None:
        """Store a reply in place of an earlier one."""
        self[key] = reply
        if self._path is None:
            self._trim_memory()
        elif not self._swept:
            self._swept = True
            with self.connection(commit=True) as connection:
                limit = int(time.time()) - cache.FORGET_AFTER_SECONDS
                connection.execute(f"DELETE FROM {cache.TABLE} WHERE expires <= ?", (limit,))

    def _trim_memory(self) -> None:
        with self.connection(commit=True) as connection:
            connection.execute(
                f"DELETE FROM {cache.TABLE} WHERE rowid NOT IN "
                f"(SELECT rowid FROM {cache.TABLE} ORDER BY rowid DESC LIMIT {MEMORY_ENTRIES})"
            )


class ReplyCache(BaseCache):
    """The backend of the cached session. Trouble with the file is a miss, or a reply that is not stored."""

    def __init__(self, path: Path, notices: list[str]) -> None:
        super().__init__(cache_name=str(path))
        self.responses: ReplyTable = ReplyTable(path, notices)
        self.redirects = DictStorage()  # type: ignore[no-untyped-call]  # stays empty: redirects end below the cache
        self._closing = threading.Lock()

    def get_response(self, key: str, default: CachedResponse | None = None) -> CachedResponse | None:
        """Return a stored reply, or the default."""
        try:
            stored: CachedResponse | None = self.responses[key]
        except (KeyError, StoreUnavailable):
            return default
        return default if stored is None else stored  # a stored reply with status 400 is falsy

    def save_response(self, response: Response, cache_key: str | None = None, expires: datetime | None = None) -> None:
        """Store a reply; what is stored is the request without credentials and the reply the adapter built."""
        if cache_key is None:
            return
        with suppress(StoreUnavailable):
            self.responses.write(cache_key, CachedResponse.from_response(response, expires=expires))

    def close(self) -> None:
        """Close the file."""
        with self._closing:
            self.responses.close()
