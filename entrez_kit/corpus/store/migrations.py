"""Create the corpus file, and migrate files of earlier formats."""

import re
import sqlite3
import zlib
from collections.abc import Callable
from typing import Final

from entrez_kit.base.errors import StoreError
from entrez_kit.base.private_files import find_schema_change, read_schema, restrict_schema, transaction
from entrez_kit.corpus.store.packing import BESIDE, pack, unpack
from entrez_kit.corpus.store.schema import (
    APPLICATION_ID,
    GRAPHS,
    RECORD_TABLES,
    REVISIONS,
    SUPERSEDED,
    read_expected_schema,
    rebuild_vector_index,
    rebuild_word_index,
)
from entrez_kit.corpus.times import find_entry_time, get_utc_now, stamp
from entrez_kit.pubmed.models import Article

_EARLIER_WORD_INDEX: Final = re.compile(r"CREATE VIRTUAL TABLE lexical_index USING fts5\([^()]*\)")


def _create_tables(connection: sqlite3.Connection) -> None:
    for statement in (*RECORD_TABLES, *REVISIONS):
        connection.execute(statement)
    rebuild_word_index(connection)
    rebuild_vector_index(connection)
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")


def _pack_records(connection: sqlite3.Connection) -> None:
    """Compress the whole record, and remove the fields of the current version that the record has too."""
    columns = "pmid, version, change, retraction_status, seen_at"
    names = ", ".join(SUPERSEDED)
    connection.execute("ALTER TABLE versions RENAME TO versions_before")
    for statement in REVISIONS:
        connection.execute(statement)
    connection.execute(f"INSERT INTO revisions ({columns}, {names}) SELECT {columns}, {names} FROM versions_before")
    connection.execute("DROP TABLE versions_before")
    connection.execute(
        f"UPDATE revisions SET {', '.join(f'{name} = NULL' for name in SUPERSEDED)} "
        "WHERE version = (SELECT version FROM documents WHERE documents.pmid = revisions.pmid)"
    )
    connection.execute("ALTER TABLE documents ADD COLUMN corrections TEXT")
    connection.create_function("packed", 1 + len(BESIDE), pack, deterministic=True)
    connection.execute(
        "UPDATE documents SET corrections = json_extract(article, '$.corrections'), "
        f"article = packed(article, {', '.join(BESIDE)})"
    )


def _repair_entry_dates(connection: sqlite3.Connection) -> None:
    """Read EDAT again from the whole records, because earlier formats could have CRDT in its place."""
    rows = connection.execute(f"SELECT pmid, edat, article, {', '.join(BESIDE)} FROM documents")
    repaired = [
        (entered, pmid)
        for pmid, edat, *packed in rows
        if (entered := _read_entry_time(*packed)) is not None and entered != edat
    ]
    connection.executemany("UPDATE documents SET edat = ? WHERE pmid = ?", repaired)
    now = stamp(get_utc_now())
    connection.executemany(
        "INSERT OR REPLACE INTO outbox (uuid, operation, queued_at) "
        "SELECT uuid, 'upsert', ? FROM chunks WHERE pmid = ?",
        [(now, pmid) for _, pmid in repaired],
    )


def _read_entry_time(packed: bytes, *beside: str | None) -> str | None:
    try:
        return find_entry_time(Article.model_validate_json(unpack(packed, *beside)).history)
    except (ValueError, zlib.error):
        return None  # A damaged record keeps its date. The first command that reads the record reports the damage.


Migration = Callable[[sqlite3.Connection], object]
MIGRATIONS: tuple[Migration, ...] = (
    lambda connection: connection.execute("ALTER TABLE membership ADD COLUMN unmatched_at TEXT"),
    lambda connection: None,  # created a full-text index that format 8 replaces
    lambda connection: None,  # created a table of versions that format 6 replaces
    rebuild_vector_index,
    _pack_records,
    lambda connection: connection.execute(GRAPHS),
    lambda connection: None,  # created an index of other words than format 9
    rebuild_word_index,
    _repair_entry_dates,
)
"""Each migrates a file to the next format; the first migrates format 1. A new file gets the current tables."""


def get_current_format() -> int:
    """Return the number of the current file format."""
    return len(MIGRATIONS) + 1


def migrate(connection: sqlite3.Connection) -> None:
    """Ensure that the file has the current schema; migrate it if not.

    All migrations run in one transaction, so that a file always has one complete format.

    Raises:
        StoreError: the file is not a corpus, its schema was changed, or a newer version of entrez-kit created it.
    """
    restrict_schema(connection)
    with transaction(connection, "DEFERRED"):
        version = _read_version(connection)
        if version == get_current_format():
            _check_schema(connection)
            return
    connection.execute("PRAGMA journal_mode=WAL")
    with transaction(connection):
        # Another process may have migrated it meanwhile.
        version = _read_version(connection)
        _check_before_migration(connection)
        for step in MIGRATIONS[version - 1 :] if version else (_create_tables,):
            step(connection)
        connection.execute(f"PRAGMA user_version={get_current_format()}")
        _check_schema(connection)


def _check_schema(connection: sqlite3.Connection) -> None:
    """Compare the schema of a file of the current format with the expected one.

    Raises:
        StoreError: an object is missing, was added or was changed.
    """
    change = find_schema_change(read_schema(connection), read_expected_schema(), read_expected_schema())
    if change:
        raise _schema_changed_error(change)


def _check_before_migration(connection: sqlite3.Connection) -> None:
    """Check a file of an earlier format for views, triggers and virtual tables that a migration would run.

    Raises:
        StoreError: entrez-kit did not create one of them.
    """
    active = {
        item: definition
        for item, definition in read_schema(connection).items()
        if item.kind in ("view", "trigger") or definition.startswith("CREATE VIRTUAL")
        if not _EARLIER_WORD_INDEX.fullmatch(definition)
    }
    if change := find_schema_change(active, read_expected_schema(), ()):
        raise _schema_changed_error(change)


def _schema_changed_error(change: str) -> StoreError:
    return StoreError(
        f"The file corpus.db in the data folder {change}. It was not used.",
        recovery_hint="If you changed the file, undo the change with SQLite (`DROP TRIGGER`, `DROP VIEW`, `DROP "
        "TABLE`, `DROP INDEX`). If another person gave you the file, do not use it: records may have been changed. "
        "Otherwise it is damaged: restore a copy, or move the file away and sync again.",
        details={"reason": "changed_schema", "change": change},
    )


def _read_version(connection: sqlite3.Connection) -> int:
    """Return the format of a file; call it inside a transaction, so that a file being created is not refused."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    mark: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if version == 0 and mark == 0:
        foreign = connection.execute("SELECT name FROM sqlite_schema LIMIT 1").fetchone() is not None
    else:
        foreign = mark != APPLICATION_ID
    if foreign:
        raise StoreError(
            "The file corpus.db in the data folder is not a corpus of entrez-kit. It was not changed.",
            recovery_hint="Move it away, or set ENTREZ_KIT_DATA_DIR to another folder.",
            details={"reason": "not_a_corpus"},
        )
    if version > get_current_format():
        raise StoreError(
            f"A newer version of entrez-kit created this corpus (format {version}; supported: {get_current_format()}).",
            recovery_hint="Upgrade entrez-kit, or set ENTREZ_KIT_DATA_DIR to another folder.",
            details={"reason": "newer_store", "format": version, "known": get_current_format()},
        )
    return version
