"""SQLite files of this user: create them privately, name the cause of a failure, and compare their schemas."""

import errno
import os
import re
import sqlite3
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from entrez_kit.base.private_files import open_private, refuse_foreign


def make_private_database(path: Path) -> None:
    """Create an SQLite file before SQLite does, so that its journals get the same mode, and check the journals.

    Raises:
        OSError: the file or a journal of it is a link or belongs to another user, or the file cannot be opened.
    """
    os.close(open_private(path))
    for part in list_database_files(path):
        with suppress(FileNotFoundError):
            found = part.lstat()
            if not stat.S_ISREG(found.st_mode):
                raise OSError(errno.EINVAL, f"{part.name} is not a regular file")
            refuse_foreign(found, root=False)
            if sys.platform != "win32" and found.st_mode & 0o077:
                part.chmod(0o600)


def list_database_files(path: Path) -> Iterator[Path]:
    """Yield the paths of an SQLite file and of its journals."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        yield path.with_name(path.name + suffix)


# Failures ------------------------------------------------------------------------------------------------------------

Failure = Literal["locked", "read_only", "cannot_open", "disk_full", "corrupt", "io_error"]

_BY_CODE: Final[Mapping[int, Failure]] = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_PERM: "read_only",
    sqlite3.SQLITE_CANTOPEN: "cannot_open",
    sqlite3.SQLITE_FULL: "disk_full",
    sqlite3.SQLITE_CORRUPT: "corrupt",
    sqlite3.SQLITE_NOTADB: "corrupt",
    sqlite3.SQLITE_IOERR: "io_error",
}
_BY_ERRNO: Final[Mapping[int | None, Failure]] = {
    errno.EACCES: "read_only",
    errno.EPERM: "read_only",
    errno.EROFS: "read_only",
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
}


class DamagedData(sqlite3.DatabaseError):
    """Stored data that cannot be read, although SQLite returned it."""


def get_primary_code(exc: sqlite3.Error) -> int:
    """Return SQLite's primary error code; 0 if Python's module raised the error."""
    return int(getattr(exc, "sqlite_errorcode", 0) or 0) & 0xFF


def find_failure(exc: sqlite3.Error | OSError) -> Failure | None:
    """Return why a file cannot be used; None for an error in the use of SQLite, which is a defect.

    SQLite has no code of its own for a missing table, invalid JSON or text that is not UTF-8. The statements of this
    program are constant, so an operational error without such a code is caused by the content of the file.
    """
    if isinstance(exc, OSError):
        return _BY_ERRNO.get(exc.errno, "cannot_open")
    code = get_primary_code(exc)
    is_refused = code in (0, sqlite3.SQLITE_ERROR) and isinstance(exc, sqlite3.OperationalError)
    return "corrupt" if is_refused or isinstance(exc, DamagedData) else _BY_CODE.get(code)


# Schemas -------------------------------------------------------------------------------------------------------------

# The schema of an SQLite file. A trigger, a view or a changed definition that another person added to a file runs when
# one of our statements uses the table, so such a file is refused.

_SPACE: Final = re.compile(r"(?:--[^\n]*|\s)+")
_AROUND_PUNCTUATION: Final = re.compile(r" ?([(),]) ?")
_INTERNAL: Final = re.compile(r"sqlite_(?:sequence|stat[14])")
"""Tables that SQLite itself creates. Indexes that it creates for a table have no definition."""

_DEFENSIVE: Final = 1010
"""SQLITE_DBCONFIG_DEFENSIVE of sqlite3.h; the module `sqlite3` has no name for it before Python 3.12."""

MAX_NAME: Final = 100
"""Maximum characters of an object's name in a message."""


class SchemaObject(NamedTuple):
    """A table, index, view or trigger of a file."""

    kind: str
    name: str


Schema = Mapping[SchemaObject, frozenset[str]]
"""The definitions that each object may have."""


def restrict_schema(connection: sqlite3.Connection) -> None:
    """Prevent a connection from running unsafe functions of the file's schema and from writing to the schema."""
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    if hasattr(connection, "setconfig"):  # since Python 3.12
        connection.setconfig(_DEFENSIVE, True)


def read_schema(connection: sqlite3.Connection) -> dict[SchemaObject, str]:
    """Return the definitions of the objects. Those that SQLite creates for a table are left out."""
    found: dict[SchemaObject, str] = {}
    for kind, name, definition in connection.execute("SELECT type, name, sql FROM sqlite_schema"):
        is_internal = definition is None if kind == "index" else kind == "table" and _INTERNAL.fullmatch(str(name))
        if not is_internal:
            found[SchemaObject(str(kind), str(name))] = normalize_definition(str(definition))
    return found


@lru_cache(maxsize=256)
def normalize_definition(definition: str) -> str:
    """Return a definition without comments and optional spaces, which migrations may write differently."""
    return _AROUND_PUNCTUATION.sub(r"\1", _SPACE.sub(" ", definition)).strip()


def find_schema_change(schema: Mapping[SchemaObject, str], expected: Schema, required: Iterable[SchemaObject]) -> str:
    """Describe the first object that differs from the expected schema; return an empty string if none does.

    Args:
        schema: the objects of the file.
        expected: the objects that it may have.
        required: the objects that it must have.
    """
    for each, definition in schema.items():
        allowed = expected.get(each)
        if allowed is None:
            return f"has a {_describe(each)} that entrez-kit did not create"
        if definition not in allowed:
            return f"has a {_describe(each)} with a changed definition"
    missing = next((each for each in required if each not in schema), None)
    return f"has no {_describe(missing)}" if missing is not None else ""


def _describe(each: SchemaObject) -> str:
    kind = each.kind if each.kind in ("table", "index", "view", "trigger") else "object"
    return f"{kind} {each.name[:MAX_NAME]!a}"
