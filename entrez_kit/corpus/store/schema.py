"""The schema of the corpus file and its migrations.

You can open the file with Datasette or sqlite-utils: dates are ISO strings, lists are JSON. Start with ``corpora``.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

from entrez_kit.base.errors import StoreError
from entrez_kit.base.sqlite_files import (
    Schema,
    SchemaObject,
    find_schema_change,
    normalize_definition,
    read_schema,
    restrict_schema,
)
from entrez_kit.corpus.store.packing import BESIDE, pack

APPLICATION_ID: Final = 0x456B6974
"""Marks the file as a corpus ("Ekit"), so that no other SQLite file is used as one."""

SUPERSEDED: Final = ("title", "abstract", "journal", "pub_types", "pdat", "pmcid", "content_hash", "lr")
"""The fields that a superseded version keeps."""

_TABLES: Final = (
    """
    CREATE TABLE documents (
        -- The latest version of each PubMed record. Long columns are last, so that the others are read quickly.
        pmid INTEGER PRIMARY KEY,
        title TEXT NOT NULL,
        journal TEXT,
        year INTEGER,
        pdat TEXT,                        -- published: 2024-05-11, 2024-05 or 2024
        edat TEXT,                        -- entered PubMed
        lr TEXT,                          -- last revised by NLM
        pmcid TEXT,
        doi TEXT,
        status TEXT NOT NULL CHECK (status IN ('current', 'deleted')),
        retraction_status TEXT NOT NULL,  -- a RetractionStatus
        design INTEGER NOT NULL,          -- the parts of quality that do not depend on age
        journal_tier INTEGER NOT NULL,
        human INTEGER NOT NULL,
        version INTEGER NOT NULL,
        content_hash TEXT NOT NULL,
        first_seen_at TEXT NOT NULL,
        last_seen_at TEXT NOT NULL,
        pub_types TEXT NOT NULL,          -- JSON list
        mesh TEXT NOT NULL,               -- JSON list of descriptors
        keywords TEXT NOT NULL,           -- JSON list
        authors TEXT NOT NULL,            -- JSON list, "Doe J"
        abstract TEXT,
        article TEXT NOT NULL,            -- the whole record, packed; `corpus export -f jsonl` has it as JSON
        corrections TEXT                  -- JSON list of notices, or null
    )
    """,
    "CREATE INDEX documents_by_edat ON documents (edat)",
    "CREATE INDEX documents_deleted ON documents (pmid) WHERE status = 'deleted'",
    """
    CREATE TABLE chunks (
        -- The parts of a record that are embedded and that searches show.
        id INTEGER PRIMARY KEY,
        pmid INTEGER NOT NULL REFERENCES documents (pmid) ON DELETE CASCADE,
        chunk_id TEXT NOT NULL,           -- s0, s1_0 ... of labelled abstracts, w0, w1 ... of others
        uuid TEXT NOT NULL UNIQUE,
        section TEXT,
        text TEXT NOT NULL,
        tokens INTEGER NOT NULL,          -- estimated
        UNIQUE (pmid, chunk_id)
    )
    """,
    """
    CREATE TABLE vectors (
        chunk_id INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
        model TEXT NOT NULL,
        dim INTEGER NOT NULL,
        vector BLOB NOT NULL,             -- float32, little-endian, length 1
        PRIMARY KEY (chunk_id, model)
    )
    """,
    """
    CREATE TABLE membership (
        -- The records that each query has found.
        query_key TEXT NOT NULL,
        pmid INTEGER NOT NULL REFERENCES documents (pmid) ON DELETE CASCADE,
        added_at TEXT NOT NULL,
        unmatched_at TEXT,                -- when a sync noticed that the query no longer matches, or null
        PRIMARY KEY (query_key, pmid)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX membership_by_pmid ON membership (pmid)",
    """
    CREATE TABLE checkpoints (
        -- The sync state of each query.
        query_key TEXT PRIMARY KEY,
        term TEXT,
        last_edat TEXT,                   -- the corpus has all records entered before
        last_scan_at TEXT                 -- the corpus has all changes made before
    )
    """,
    """
    CREATE TABLE checkpoint_log (
        id INTEGER PRIMARY KEY,
        query_key TEXT NOT NULL,
        at TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('automatic', 'manual', 'replace_term')),
        old_edat TEXT,
        new_edat TEXT,
        note TEXT
    )
    """,
    "CREATE INDEX checkpoint_log_by_key ON checkpoint_log (query_key, id)",
    """
    CREATE TABLE jobs (
        job_id TEXT PRIMARY KEY,
        query_key TEXT NOT NULL,
        started_at TEXT NOT NULL,
        finished_at TEXT,
        status TEXT NOT NULL CHECK (status IN ('running', 'complete', 'partial', 'failed', 'interrupted')),
        inserted INTEGER NOT NULL DEFAULT 0,
        updated INTEGER NOT NULL DEFAULT 0,
        skipped INTEGER NOT NULL DEFAULT 0,
        pmids_processed INTEGER NOT NULL DEFAULT 0,
        max_edat_seen TEXT,
        warnings TEXT NOT NULL DEFAULT '[]'  -- JSON list
    )
    """,
    "CREATE INDEX jobs_by_key ON jobs (query_key, started_at)",
    """
    CREATE TABLE unavailable (
        -- Records that NCBI lists but did not return; later syncs fetch them again.
        query_key TEXT NOT NULL,
        pmid INTEGER NOT NULL,
        first_seen_at TEXT NOT NULL,
        PRIMARY KEY (query_key, pmid)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE outbox (
        -- Changes that a remote index has not received yet; the latest per chunk.
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uuid TEXT NOT NULL UNIQUE,
        operation TEXT NOT NULL CHECK (operation IN ('upsert', 'delete')),
        queued_at TEXT NOT NULL
    )
    """,
    """
    CREATE VIEW corpora AS
        SELECT query_key, term, last_edat, last_scan_at,
               (SELECT count(*) FROM membership AS m WHERE m.query_key = c.query_key)
                   - (SELECT count(*) FROM documents JOIN membership AS m USING (pmid)
                      WHERE status = 'deleted' AND m.query_key = c.query_key) AS documents,
               (SELECT count(*) FROM documents JOIN membership AS m USING (pmid)
                WHERE status = 'deleted' AND m.query_key = c.query_key) AS deleted
        FROM checkpoints AS c
    """,
)
_REVISIONS: Final = (
    """
    CREATE TABLE revisions (
        -- The history of each record; the fields of the current version are in documents.
        pmid INTEGER NOT NULL REFERENCES documents (pmid) ON DELETE CASCADE,
        version INTEGER NOT NULL,
        change TEXT NOT NULL CHECK (change IN ('added', 'revised', 'retracted', 'deleted')),
        retraction_status TEXT NOT NULL,
        seen_at TEXT NOT NULL,
        title TEXT,
        abstract TEXT,
        journal TEXT,
        pub_types TEXT,                   -- JSON list
        pdat TEXT,
        pmcid TEXT,
        content_hash TEXT,
        lr TEXT,
        PRIMARY KEY (pmid, version)
    )
    """,
    "CREATE INDEX revisions_by_time ON revisions (seen_at)",
    f"""
    CREATE VIEW versions AS
        -- Every version of a record with its fields, including the current one.
        SELECT r.pmid, r.version, r.change,
               {", ".join(f"iif(d.pmid IS NULL, r.{name}, d.{name}) AS {name}" for name in SUPERSEDED)},
               r.retraction_status, r.seen_at
        FROM revisions AS r LEFT JOIN documents AS d ON d.pmid = r.pmid AND d.version = r.version
    """,
)
# Derived from the records; see ``search.index`` and ``search.vector_index``
_WORD_INDEX: Final = (
    "CREATE TABLE lexical_queue (pmid INTEGER PRIMARY KEY)",
    """
    CREATE TABLE lexical_segments (
        first INTEGER PRIMARY KEY,        -- the number of its first record
        records INTEGER NOT NULL,
        name TEXT NOT NULL                -- of the file: corpus.db.words-NAME
    )
    """,
    """
    CREATE TABLE lexical_members (
        query_key TEXT PRIMARY KEY,       -- '' for removed records
        records BLOB NOT NULL             -- their numbers, a Roaring bitmap
    ) WITHOUT ROWID
    """,
)
_GRAPHS: Final = """
    CREATE TABLE IF NOT EXISTS vector_graphs (
        -- Graph files next to this one for searches of many vectors; without them every vector is compared.
        model TEXT PRIMARY KEY,
        dim INTEGER NOT NULL,
        block INTEGER NOT NULL,           -- the last row of vector_blocks in the graph
        passages INTEGER NOT NULL,
        file TEXT NOT NULL,
        made_by TEXT NOT NULL,            -- the library and its version
        size INTEGER NOT NULL,
        checksum INTEGER NOT NULL,
        modified INTEGER NOT NULL         -- in nanoseconds
    )
"""
_VECTOR_INDEX: Final = (
    _GRAPHS,
    """
    CREATE TABLE IF NOT EXISTS vector_queue (
        model TEXT NOT NULL,
        chunk_id INTEGER NOT NULL,
        PRIMARY KEY (model, chunk_id)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS vector_blocks (
        block INTEGER PRIMARY KEY AUTOINCREMENT,
        model TEXT NOT NULL,
        dim INTEGER NOT NULL,
        passages INTEGER NOT NULL,        -- without deleted ones
        struck BLOB,                      -- one bit per passage, set if deleted, or null
        chunks BLOB NOT NULL,             -- numbers of passages, ascending, 64 bits each
        pmids BLOB NOT NULL,              -- 32 bits a passage
        middles BLOB NOT NULL,            -- float32 a dimension
        steps BLOB NOT NULL,              -- float32 a dimension
        error REAL NOT NULL,              -- the maximum distance of a vector from middles + steps * codes
        codes BLOB NOT NULL               -- 8 bits a dimension, passage by passage
    )
    """,
    """
    CREATE TRIGGER IF NOT EXISTS vector_added AFTER INSERT ON vectors BEGIN
        INSERT OR IGNORE INTO vector_queue VALUES (new.model, new.chunk_id);
    END
    """,
    """
    CREATE TRIGGER IF NOT EXISTS vector_gone AFTER DELETE ON vectors BEGIN
        INSERT OR IGNORE INTO vector_queue VALUES (old.model, old.chunk_id);
    END
    """,
)


_CREATED: Final = re.compile(r"CREATE (TABLE|INDEX|VIEW|TRIGGER) (?:IF NOT EXISTS )?(\w+)")
_EARLIER_WORD_INDEX: Final = re.compile(r"CREATE VIRTUAL TABLE lexical_index USING fts5\([^()]*\)")


@cache
def read_expected_schema() -> Schema:
    """Return the schema of the current format."""
    expected: dict[SchemaObject, frozenset[str]] = {}
    for statement in (*_TABLES, *_REVISIONS, *_WORD_INDEX, *_VECTOR_INDEX):
        text = normalize_definition(statement)
        created = _CREATED.match(text)
        assert created is not None
        kind, name = created.groups()
        expected[SchemaObject(kind.lower(), name)] = frozenset({text.replace("IF NOT EXISTS ", "", 1)})
    return expected


def _check_schema(connection: sqlite3.Connection) -> None:
    """Compare the schema of a file of the current format with the expected one.

    Raises:
        StoreError: an object is missing, was added or was changed.
    """
    change = find_schema_change(read_schema(connection), read_expected_schema(), read_expected_schema())
    if change:
        raise _schema_changed(change)


def _check_before_migration(connection: sqlite3.Connection) -> None:
    """Check a file of an earlier format for views, triggers and virtual tables that a migration would run.

    Raises:
        StoreError: entrez-kit did not create one of them.
    """
    active = {
        each: definition
        for each, definition in read_schema(connection).items()
        if each.kind in ("view", "trigger") or definition.startswith("CREATE VIRTUAL")
        if not _EARLIER_WORD_INDEX.fullmatch(definition)
    }
    if change := find_schema_change(active, read_expected_schema(), ()):
        raise _schema_changed(change)


def _schema_changed(change: str) -> StoreError:
    return StoreError(
        f"The file corpus.db in the data folder {change}. It was not used.",
        recovery_hint="If you changed the file, undo the change with SQLite (`DROP TRIGGER`, `DROP VIEW`, `DROP "
        "TABLE`, `DROP INDEX`). If another person gave you the file, do not use it: records may have been changed. "
        "Otherwise it is damaged: restore a copy, or move the file away and sync again.",
        details={"reason": "changed_schema", "change": change},
    )


def rebuild_word_index(connection: sqlite3.Connection) -> None:
    """Recreate the tables of the full-text index, also from an earlier format, and queue every record."""
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for name in names:
        if name.startswith("lexical_") and not name.startswith("lexical_index_"):  # FTS5 drops these with lexical_index
            connection.execute(f"DROP TABLE {name}")
    for statement in _WORD_INDEX:
        connection.execute(statement)
    connection.execute("INSERT INTO lexical_queue SELECT pmid FROM documents WHERE status = 'current'")


def rebuild_vector_index(connection: sqlite3.Connection) -> None:
    """Create or empty the tables of the vector index, and queue every vector."""
    for statement in _VECTOR_INDEX:
        connection.execute(statement)
    for table in ("vector_queue", "vector_blocks", "vector_graphs"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("INSERT INTO vector_queue SELECT model, chunk_id FROM vectors")


def _create(connection: sqlite3.Connection) -> None:
    for statement in (*_TABLES, *_REVISIONS):
        connection.execute(statement)
    rebuild_word_index(connection)
    rebuild_vector_index(connection)
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")


def _pack(connection: sqlite3.Connection) -> None:
    # Compress the whole record, and remove the fields of the current version that the record has too.
    columns = "pmid, version, change, retraction_status, seen_at"
    names = ", ".join(SUPERSEDED)
    connection.execute("ALTER TABLE versions RENAME TO versions_before")
    for statement in _REVISIONS:
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


Migration = Callable[[sqlite3.Connection], object]
MIGRATIONS: tuple[Migration, ...] = (
    lambda connection: connection.execute("ALTER TABLE membership ADD COLUMN unmatched_at TEXT"),
    lambda connection: None,  # created a full-text index that format 8 replaces
    lambda connection: None,  # created a table of versions that format 6 replaces
    rebuild_vector_index,
    _pack,
    lambda connection: connection.execute(_GRAPHS),
    lambda connection: None,  # created an index of other words than format 9
    rebuild_word_index,
)
"""Each migrates a file to the next format; the first migrates format 1. A new file gets the current tables."""


def get_current_format() -> int:
    """Return the number of the current file format."""
    return len(MIGRATIONS) + 1


def prepare(connection: sqlite3.Connection) -> None:
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
    with transaction(connection, "IMMEDIATE"):
        # Another process may have migrated it meanwhile.
        version = _read_version(connection)
        _check_before_migration(connection)
        for step in MIGRATIONS[version - 1 :] if version else (_create,):
            step(connection)
        connection.execute(f"PRAGMA user_version={get_current_format()}")
        _check_schema(connection)


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    """Run the block in a transaction.

    Args:
        connection: a connection without an open transaction.
        kind: DEFERRED to read, IMMEDIATE to write.
    """
    connection.execute(f"BEGIN {kind}")
    with connection:
        yield


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
