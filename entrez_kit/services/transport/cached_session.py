"""The session that sends requests: requests-cache stores, expires and removes the replies, in its SQLite backend.

The backend of the library waits for a locked file without limit and raises an error for a damaged one. Here its table
uses the connection of `entrez_kit.services.transport.cache`, so that a request never fails because of the cache.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Any, Final, Generic, Protocol

import requests
from requests.adapters import BaseAdapter
from requests.cookies import RequestsCookieJar
from requests.structures import CaseInsensitiveDict
from requests_cache import CachedSession
from requests_cache.backends.base import BaseCache, DictStorage
from requests_cache.backends.sqlite import SQLiteCache, SQLiteDict
from requests_cache.models.response import CachedResponse
from requests_cache.serializers import CattrStage, SerializerPipeline, Stage

from entrez_kit.base.errors import StoreError
from entrez_kit.base.private_files import list_database_files
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport import CREDENTIALS, Outgoing, T, cache
from entrez_kit.services.transport.cache import CacheFile, CacheUnavailable, CacheUnusable, cache_file

FORGET_AFTER_SECONDS: Final = 30 * 24 * 3600
"""Expired replies are kept this long for --offline; the first write of a process removes older ones."""

MEMORY_ENTRIES: Final = 200
_STORED_FIELDS: Final = ("created_at", "expires", "headers", "status_code", "url", "_content")


_CONVERTER: Final = CattrStage()


def _to_row(reply: CachedResponse) -> dict[str, Any]:
    """Return the fields of a reply that a row holds, with the key of the row."""
    fields = _CONVERTER.dumps(reply)
    return {"key": reply.cache_key, **{name: fields[name] for name in _STORED_FIELDS if name in fields}}


def _read_row(row: dict[str, Any]) -> CachedResponse:
    reply: CachedResponse = _CONVERTER.loads({name: row[name] for name in _STORED_FIELDS if name in row})
    reply.cache_key = row["key"]
    return reply


SERIALIZER: Final = SerializerPipeline(
    [
        Stage(dumps=_to_row, loads=_read_row),
        Stage(dumps=cache.join_body, loads=cache.split_body),
        Stage(dumps=cache.add_checksum, loads=cache.verify_checksum),
    ],
    name="checksummed JSON",
    is_binary=True,
)
"""Writes a row as a checksum, a line of JSON and the body; a damaged row is a miss."""


class Connections(Protocol):
    """Lends connections to a cache file."""

    lock: Any

    def connection(self, commit: bool = False) -> Any:
        """Lend a connection, inside a transaction if something is written."""

    def close(self) -> None:
        """Close the file."""


class ReplyTable(SQLiteDict):
    """The table of requests-cache over a connection that the program opens and checks."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        super().__init__(cache.MEMORY, table_name=cache.TABLE, serializer=SERIALIZER, lock=connections.lock)

    def init_db(self) -> None:
        """Do nothing: the file is created and its schema is checked when it is opened."""

    @contextmanager
    def connection(self, commit: bool = False) -> Iterator[sqlite3.Connection]:
        """Lend the connection, inside a transaction if something is written."""
        with self._connections.connection(commit) as opened:
            yield opened

    def close(self) -> None:
        """Close the file; a later access opens it again."""
        self._connections.close()

    def __del__(self) -> None:
        """Leave the connection to its owner."""

    def deserialize(self, key: str, value: Any) -> CachedResponse | None:
        """Return the reply in a row, or None if the row is damaged or has another key."""
        try:
            reply: CachedResponse = SERIALIZER.loads(value)
        except Exception:  # a damaged row can make a converter raise anything
            return None
        return reply if reply.cache_key == key else None

    def __setitem__(self, key: str, value: CachedResponse) -> None:
        """Store a reply in place of an earlier one; the row names its key."""
        value.cache_key = key
        super().__setitem__(key, value)  # type: ignore[no-untyped-call]  # the library has no annotation here

    def clear(self) -> None:
        """Remove every row. The library drops the table, which other processes have open."""
        with self.connection(commit=True) as opened:
            opened.execute(f"DELETE FROM {cache.TABLE}")
        self.vacuum()

    def vacuum(self) -> None:
        """Release the free space of the file and of its journal."""
        with self.connection() as opened:
            opened.execute("VACUUM")
            opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class ReplyCache(SQLiteCache):
    """The SQLite backend of requests-cache over `ReplyTable`. An error of the file is a miss, or a reply not stored."""

    def __init__(self, connections: Connections) -> None:
        BaseCache.__init__(self)  # SQLiteCache would open the file itself
        self.responses: ReplyTable = ReplyTable(connections)
        self.redirects = DictStorage()  # type: ignore[assignment,no-untyped-call]  # unused: the adapter follows redirects
        self._removed_old = False

    def get_response(self, key: str, default: CachedResponse | None = None) -> CachedResponse | None:
        """Return a stored reply, or the default."""
        with suppress(CacheUnavailable):
            return super().get_response(key, default)
        return default

    def save_response(
        self, response: requests.Response, cache_key: str | None = None, expires: datetime | None = None
    ) -> None:
        """Store a reply, and give it the time that the row has: both are printed, and a second may end between them."""
        stored = CachedResponse.from_response(response, expires=expires)
        response.stored_at = stored.created_at  # type: ignore[attr-defined]  # read by the client
        with suppress(CacheUnavailable):
            super().save_response(stored, cache_key, expires)
            self._remove_old()

    def _remove_old(self) -> None:
        connections = self.responses._connections
        if isinstance(connections, CacheFile) and connections.in_memory:
            latest = f"SELECT rowid FROM {cache.TABLE} ORDER BY rowid DESC LIMIT ?"
            statement, limit = f"DELETE FROM {cache.TABLE} WHERE rowid NOT IN ({latest})", MEMORY_ENTRIES
        elif not self._removed_old:
            self._removed_old = True
            statement, limit = f"DELETE FROM {cache.TABLE} WHERE expires <= ?", int(time.time()) - FORGET_AFTER_SECONDS
        else:
            return
        with self.responses.connection(commit=True) as opened:
            opened.execute(statement, (limit,))

    def _prune_redirects(self) -> None:
        """Do nothing: the table has no redirects."""


class CallRequest(requests.PreparedRequest, Generic[T]):
    """A call as the session sees it: its URL and its key, without credentials and body.

    After the adapter has sent it, ``value`` is the result of the call's reader.
    """

    value: T

    def __init__(self, outgoing: Outgoing[T], key: str) -> None:
        super().__init__()
        self.method, self.url = outgoing.call.method, outgoing.call.shown_url
        self.headers, self._cookies = CaseInsensitiveDict(), RequestsCookieJar()
        self.outgoing = outgoing
        self.key = key


def open_session(adapter: BaseAdapter, file: CacheFile) -> CachedSession:
    """Return a session that sends requests without a cached reply, and stores the replies of the adapter.

    The `Cache-Control` that the adapter sets gives the lifetime; headers of the service are ignored.
    """
    session = CachedSession(
        backend=ReplyCache(file),
        key_fn=lambda request, **_: request.key,
        cache_control=True,
        ignored_parameters=CREDENTIALS,
        allowable_methods=("GET", "POST"),
        allowable_codes=(200,),
    )
    for each in session.adapters.values():
        each.close()
    session.adapters.clear()
    session.mount("", adapter)
    return session


# entrez-kit cache


class _PatientFile:
    """A connection for `entrez-kit cache`: it waits longer for other programs, and raises the errors of SQLite."""

    def __init__(self, path: Path) -> None:
        self.lock = RLock()
        self._opened = cache.open_database(path, cache.PATIENT_BUSY_MS)

    @contextmanager
    def connection(self, commit: bool = False) -> Iterator[sqlite3.Connection]:
        if commit:
            self._opened.execute("BEGIN IMMEDIATE")
            with self._opened:
                yield self._opened
        else:
            yield self._opened

    def close(self) -> None:
        self._opened.close()


def clear(settings: Settings) -> int:
    """Remove every cached reply and return their number. A damaged file is deleted.

    Raises:
        StoreError: the file cannot be changed.
    """
    path = cache_file(settings)
    if not path.exists():
        return 0
    try:
        with _open_replies(path) as replies:
            entries = replies.count()
            replies.responses.clear()
            return entries
    except (sqlite3.DatabaseError, CacheUnusable):
        try:
            for part in list_database_files(path):
                part.unlink(missing_ok=True)
        except OSError as exc:
            raise _not_changed_error(path, exc) from None
        return 0


def prune(settings: Settings) -> int:
    """Remove the expired replies, release their space, and return their number.

    Raises:
        StoreError: the file cannot be changed.
    """
    path = cache_file(settings)
    if not path.exists():
        return 0
    try:
        with _open_replies(path) as replies:
            before = replies.count()
            replies.delete(expired=True)
            return before - replies.count()
    except (sqlite3.Error, CacheUnusable) as exc:
        raise _not_changed_error(path, exc) from None


@contextmanager
def _open_replies(path: Path) -> Iterator[ReplyCache]:
    """Open a cache file to change it.

    Raises:
        StoreError: the file is locked or cannot be written.
        sqlite3.Error, CacheUnusable: the file is damaged.
    """
    try:
        with closing(_PatientFile(path)) as file:
            yield ReplyCache(file)
    except sqlite3.OperationalError as exc:
        raise _not_changed_error(path, exc) from None


def _not_changed_error(path: Path, exc: Exception) -> StoreError:
    return StoreError(
        f"The cache {path} could not be changed: {getattr(exc, 'strerror', None) or exc}",
        recovery_hint="Close other programs that use it, check permissions and disk space, and try again.",
        details={"reason": "cache_not_changed", "path": str(path)},
    )
