"""The SQLite file of a copy: its schema, its connections and the compression of records.

Another person may have made the file, so its schema is compared with the expected one before it is used.
"""

import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from entrez_kit.base.errors import StoreError, describe_os_error
from entrez_kit.base.frontend_text import FrontendText, suggest_command
from entrez_kit.base.private_files import (
    Schema,
    build_schema,
    find_schema_change,
    make_private_database,
    read_schema,
    restrict_schema,
    transaction,
)
from entrez_kit.base.sqlite_failures import DamagedData, Failure, find_failure

if TYPE_CHECKING:
    from pyroaring import BitMap

FILE: Final = "copy.db"
APPLICATION_ID: Final = 0x456B6370
"""Marks the file as a copy ("Ekcp")."""
FORMAT: Final = 1
BUSY_SECONDS: Final = 30.0
PAGE_BYTES: Final = 16_384
"""Records have 1 to 2 kB, so smaller pages would leave a fifth of the file empty."""

_TABLES: Final = (
    """
    CREATE TABLE facts (
        -- Single values, such as the creation time and the numbers of the visible records.
        name TEXT PRIMARY KEY,
        value BLOB NOT NULL
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE files (
        -- The files that were applied.
        place INTEGER PRIMARY KEY,        -- the order of the file; see entrez_kit/local/file_order.py
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        md5 TEXT NOT NULL,                -- of the file as it was given
        digest BLOB NOT NULL,             -- of its uncompressed content
        size INTEGER NOT NULL,
        records INTEGER NOT NULL,
        deletions INTEGER NOT NULL,
        applied_at TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE heads (
        -- The latest event of each version of a PMID. Version 0 is the deletion of all versions.
        pmid INTEGER NOT NULL,
        version INTEGER NOT NULL,
        place INTEGER NOT NULL,           -- the file
        slot INTEGER,                     -- the number of the record, or null if it was deleted
        edat INTEGER NOT NULL,            -- yyyymmdd, or 0
        digest BLOB NOT NULL,             -- of the record, or empty
        PRIMARY KEY (pmid, version)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE records (
        slot INTEGER PRIMARY KEY,
        pmid INTEGER NOT NULL,
        packed BLOB NOT NULL              -- PubMed's XML, compressed
    )
    """,
    """
    CREATE TABLE segments (
        -- The files of the search index, in the order of their records.
        first INTEGER PRIMARY KEY,        -- the number of the first record
        count INTEGER NOT NULL,
        name TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE headings (
        -- MeSH: descriptors (D), qualifiers (Q) and supplementary concepts (C).
        ui TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        abbreviation TEXT NOT NULL,       -- of a qualifier; a descriptor has its subheadings here, one a line
        scope_note TEXT NOT NULL,
        terms TEXT NOT NULL,              -- entry terms, one a line
        trees TEXT NOT NULL               -- tree numbers, one a line
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE heading_keys (
        -- The normalized names and entry terms of MeSH. Rank 0 is the name itself.
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        rank INTEGER NOT NULL,
        ui TEXT NOT NULL,
        PRIMARY KEY (kind, key, rank, ui)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE heading_trees (
        kind TEXT NOT NULL,
        tree TEXT NOT NULL,
        ui TEXT NOT NULL,
        PRIMARY KEY (kind, tree, ui)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE heading_numbers (
        -- Registry and EC numbers of narrower substances that have no heading.
        kind TEXT NOT NULL,
        number TEXT NOT NULL,
        ui TEXT NOT NULL,
        name TEXT NOT NULL,               -- normalized
        PRIMARY KEY (number, kind, ui)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE actions (
        -- The headings and substances with a pharmacological action, by normalized name of the action.
        action TEXT NOT NULL,
        number INTEGER NOT NULL,
        member TEXT NOT NULL,             -- normalized
        PRIMARY KEY (action, number)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE journals (
        nlm_id TEXT PRIMARY KEY,
        abbreviation TEXT NOT NULL,
        title TEXT NOT NULL,
        issns TEXT NOT NULL               -- one a line
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE journal_keys (
        key TEXT NOT NULL,
        nlm_id TEXT NOT NULL,
        PRIMARY KEY (key, nlm_id)
    ) WITHOUT ROWID
    """,
)


@cache
def read_expected_schema() -> Schema:
    """Return the schema of the current format."""
    return build_schema(_TABLES)


def create_file(path: Path) -> None:
    """Create the file of an empty copy.

    Raises:
        StoreError: the folder cannot be written.
    """
    with translate_errors(path):
        make_private_database(path)
        connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
        try:
            connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
            connection.execute("PRAGMA journal_mode=WAL")
            with transaction(connection):
                if not read_schema(connection):
                    for statement in _TABLES:
                        connection.execute(statement)
                    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
                    connection.execute(f"PRAGMA user_version={FORMAT}")
        finally:
            connection.close()


def open_file(path: Path, *, writable: bool = False) -> sqlite3.Connection:
    """Open the file of a copy.

    Raises:
        StoreError: it is missing, damaged, has a different schema, or a newer version of entrez-kit made it.
    """
    with translate_errors(path):
        if not path.is_file():
            raise copy_error(path, "does not exist", "missing")
        connection = _connect(path, writable=writable)
        try:
            restrict_schema(connection)
            connection.execute("PRAGMA cache_size=-32000")
            _check(connection, path)
            if writable:
                connection.execute("PRAGMA synchronous=FULL")
            else:
                connection.execute("PRAGMA query_only=ON")
        except BaseException:
            connection.close()
            raise
        return connection


def _connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    address = path.absolute().as_uri()
    options: dict[str, Any] = {
        "uri": True,
        "isolation_level": None,
        "check_same_thread": False,
        "timeout": BUSY_SECONDS,
    }
    if writable:
        make_private_database(path)
        connection: sqlite3.Connection = sqlite3.connect(f"{address}?mode=rw", **options)
        return connection
    connection = sqlite3.connect(f"{address}?mode=rw" if os.access(path, os.W_OK) else f"{address}?mode=ro", **options)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1")
    except sqlite3.OperationalError:  # a read-only disk, on which SQLite cannot create its journal
        connection.close()
        connection = sqlite3.connect(f"{address}?mode=ro&immutable=1", **options)
    return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    mark: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if mark != APPLICATION_ID:
        raise copy_error(path, "is not a copy of entrez-kit", "not_a_copy")
    if version > FORMAT:
        raise StoreError(
            f"A newer version of entrez-kit made the copy {path} (format {version}; supported: {FORMAT}).",
            recovery_hint="Upgrade entrez-kit, or import the copy again.",
            details={"reason": "newer_store", "format": version, "known": FORMAT},
        )
    if change := find_schema_change(read_schema(connection), read_expected_schema(), read_expected_schema()):
        raise copy_error(path, change, "changed_schema")


def copy_error(path: Path, problem: str, reason: str, **details: object) -> StoreError:
    """Return the error for a copy that cannot be used."""
    return StoreError(
        f"The copy {path.parent.name!r} cannot be used: {path.name} {problem}.",
        recovery_hint=FrontendText(
            suggest_command(f"local remove {path.parent.name}", "Ask the operator of the server to remove the copy"),
            ", and import it again. If another person gave you the copy, do not use it.",
        ),
        details={"reason": reason, "path": str(path), **details},
    )


_PROBLEMS: Final[Mapping[Failure, tuple[str, str]]] = {
    "locked": ("is locked by another program", "Wait until the other import ends, and try again."),
    "disk_full": (
        "could not be written: the disk is full",
        "Free some space and run the command again: applied files are kept.",
    ),
    "cannot_open": (
        "cannot be read or written",
        "Check the folder and the disk, or set ENTREZ_KIT_DATA_DIR to another folder.",
    ),
}


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Convert the errors of SQLite and of the file system in this block into ``StoreError``."""
    error: StoreError | None = None
    try:
        yield
    except zlib.error:
        error = copy_error(path, "has a record that cannot be decompressed", "corrupt")
    except (sqlite3.Error, OSError) as exc:
        failure = find_failure(exc)
        if failure is None:
            raise
        error = _failure_error(path, failure, exc)
    if error is not None:
        raise error


def _failure_error(path: Path, failure: Failure, exc: sqlite3.Error | OSError) -> StoreError:
    why = f"{exc.filename or path.name}: {describe_os_error(exc)}" if isinstance(exc, OSError) else str(exc)
    if failure == "corrupt":
        return copy_error(path, f"is damaged ({why})", failure)
    reason: Failure = failure if failure in _PROBLEMS else "cannot_open"
    problem, hint = _PROBLEMS[reason]
    return StoreError(
        f"The copy {path.parent.name!r} {problem} ({why}).",
        recovery_hint=hint,
        details={"reason": reason, "path": str(path)},
    )


# Single values


def read_fact(connection: sqlite3.Connection, name: str, default: Any = None) -> Any:
    """Return a single value."""
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return default if row is None else row[0]


def write_fact(connection: sqlite3.Connection, name: str, value: object) -> None:
    """Set a single value; None removes it."""
    if value is None:
        connection.execute("DELETE FROM facts WHERE name = ?", (name,))
    else:
        connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))


def read_set(connection: sqlite3.Connection, name: str) -> "BitMap":
    """Return a stored set of record numbers: ``visible`` (searches find them) or ``hidden`` (earlier versions)."""
    from pyroaring import BitMap

    stored = read_fact(connection, name)
    try:
        return BitMap() if stored is None else BitMap.deserialize(stored)
    except ValueError as exc:
        raise DamagedData(f"{name}: {exc}") from None


def write_set(connection: sqlite3.Connection, name: str, numbers: "BitMap") -> None:
    """Store a set of record numbers."""
    write_fact(connection, name, numbers.serialize())
