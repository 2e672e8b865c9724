"""Why an SQLite file cannot be used, by the codes of SQLite and of the operating system."""

import errno
import sqlite3
from collections.abc import Mapping
from typing import Final, Literal

from entrez_kit.base.private_files import get_primary_code

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
