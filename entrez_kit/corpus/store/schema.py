"""The tables of the corpus file, and how an older file becomes a new one.

Open the file with Datasette or sqlite-utils: dates are ISO texts, lists are JSON, and ``corpora`` is where to begin.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

from entrez_kit.base.errors import StoreError
from entrez_kit.base.private_files import (
    Schema,
    SchemaObject,
    find_schema_change,
    normalize_definition,
    read_schema,
    restrict_schema,
)
from entrez_kit.corpus.store.packing import BESIDE, pack

APPLICATION_ID: Final = 0x456B6974
"""Marks the file as ours ("Ekit"), so that no other SQLite file is ever taken for a corpus."""

SUPERSEDED: Final = ("title", "abstract", "journal", "pub_types", "pdat", "pmcid", "content_hash", "lr")
"""What a version said that is no longer the present one."""

_TABLES: Final = (
    """
    CREATE TABLE documents (
        -- One PubMed record each, as it was last seen. What is long stands last, so that the rest is read quickly.
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
        design INTEGER NOT NULL,          -- the parts of quality that do not age
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
        corrections TEXT                  -- JSON list of notices; null without any
    )
    """,
    "CREATE INDEX documents_by_edat ON documents (edat)",
    "CREATE INDEX documents_deleted ON documents (pmid) WHERE status = 'deleted'",
    """
    CREATE TABLE chunks (
        -- The pieces of a record that embeddings stand for and searches show.
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
        -- Which records a query has found.
        query_key TEXT NOT NULL,
        pmid INTEGER NOT NULL REFERENCES documents (pmid) ON DELETE CASCADE,
        added_at TEXT NOT NULL,
        unmatched_at TEXT,                -- when a sync saw that the query no longer finds it; null while it does
        PRIMARY KEY (query_key, pmid)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX membership_by_pmid ON membership (pmid)",
    """
    CREATE TABLE checkpoints (
        -- How far each query has been followed.
        query_key TEXT PRIMARY KEY,
        term TEXT,
        last_edat TEXT,                   -- everything entered before is here
        last_scan_at TEXT                 -- everything modified before is here
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
        -- Records that a search listed and NCBI then did not have; every later sync asks for them again.
        query_key TEXT NOT NULL,
        pmid INTEGER NOT NULL,
        first_seen_at TEXT NOT NULL,
        PRIMARY KEY (query_key, pmid)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE outbox (
        -- What an index elsewhere has yet to be told; one entry a chunk, the latest.
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
        -- What became of each record, version by version; what the present one says stands in documents.
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
        -- Every version of a record and what it says, the present one included.
        SELECT r.pmid, r.version, r.change,
               {", ".join(f"iif(d.pmid IS NULL, r.{name}, d.{name}) AS {name}" for name in SUPERSEDED)},
               r.retraction_status, r.seen_at
        FROM revisions AS r LEFT JOIN documents AS d ON d.pmid = r.pmid AND d.version = r.version
    """,
)
# Made of the records, and described in ``search.index`` and ``search.vector_index``
_WORD_INDEX: Final = (
    "CREATE TABLE lexical_queue (pmid INTEGER PRIMARY KEY)",
    """
    CREATE TABLE lexical_stems (
        number INTEGER PRIMARY KEY,
        stem TEXT NOT NULL UNIQUE,
        records INTEGER NOT NULL DEFAULT 0  -- in how many it marks what they are about, those struck out not counted
    )
    """,
    """
    CREATE TABLE lexical_blocks (
        block INTEGER PRIMARY KEY,
        records INTEGER NOT NULL,         -- those not struck out
        struck BLOB,                      -- one bit a record; null where none is
        lengths BLOB NOT NULL,            -- 16 bits a record
        pmids BLOB NOT NULL               -- 32 bits a record
    )
    """,
    """
    CREATE TABLE lexical_postings (
        place INTEGER PRIMARY KEY,        -- block << 32 | number of the stem
        matches BLOB NOT NULL,            -- all numbers of records, then all counts, 16 bits each
        positions BLOB NOT NULL           -- 16 bits each
    )
    """,
    """
    CREATE TABLE lexical_marks (
        place INTEGER PRIMARY KEY,        -- block << 16 | number of the record
        marks BLOB NOT NULL               -- numbers of all its stems of 32 bits, then all counts
    )
    """,
    """
    CREATE TABLE lexical_members (
        query_key TEXT NOT NULL,
        block INTEGER NOT NULL,
        members BLOB NOT NULL,            -- one bit a record
        PRIMARY KEY (query_key, block)
    ) WITHOUT ROWID
    """,
)
_GRAPHS: Final = """
    CREATE TABLE IF NOT EXISTS vector_graphs (
        -- Files beside this one, through which searches of many vectors go; without them every vector is compared.
        model TEXT PRIMARY KEY,
        dim INTEGER NOT NULL,
        block INTEGER NOT NULL,           -- the last of vector_blocks that is in it
        passages INTEGER NOT NULL,
        file TEXT NOT NULL,
        made_by TEXT NOT NULL,            -- the library and its version
        size INTEGER NOT NULL,
        checksum INTEGER NOT NULL,
        modified INTEGER NOT NULL         -- in nanoseconds; a file of another time is read and summed up first
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
        passages INTEGER NOT NULL,        -- those not struck out
        struck BLOB,                      -- one bit a passage; null where none is
        chunks BLOB NOT NULL,             -- numbers of passages, ascending, 64 bits each
        pmids BLOB NOT NULL,              -- 32 bits a passage
        middles BLOB NOT NULL,            -- float32 a dimension
        steps BLOB NOT NULL,              -- float32 a dimension
        error REAL NOT NULL,              -- how far a vector is at most from middles + steps * codes
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
def expected_schema() -> Schema:
    """Return the definitions of today's file."""
    expected: dict[SchemaObject, frozenset[str]] = {}
    for statement in (*_TABLES, *_REVISIONS, *_WORD_INDEX, *_VECTOR_INDEX):
        text = normalize_definition(statement)
        created = _CREATED.match(text)
        assert created is not None
        kind, name = created.groups()
        expected[SchemaObject(kind.lower(), name)] = frozenset({text.replace("IF NOT EXISTS ", "", 1)})
    return expected


def _check_schema(connection: sqlite3.Connection) -> None:
    """Refuse a file of today's format whose schema is another one.

    Raises:
        StoreError: an object is missing, was added or was changed.
    """
    change = find_schema_change(read_schema(connection), expected_schema(), expected_schema())
    if change:
        raise _schema_changed(change)


def _check_before_migration(connection: sqlite3.Connection) -> None:
    """Refuse a file of an earlier format with a view, trigger or virtual table that a migration would run.

    Raises:
        StoreError: there is one that no version of entrez-kit created.
    """
    active = {
        each: definition
        for each, definition in read_schema(connection).items()
        if each.kind in ("view", "trigger") or definition.startswith("CREATE VIRTUAL")
        if not _EARLIER_WORD_INDEX.fullmatch(definition)
    }
    if change := find_schema_change(active, expected_schema(), ()):
        raise _schema_changed(change)


def _schema_changed(change: str) -> StoreError:
    return StoreError(
        f"The file corpus.db in the data folder {change}; it was not used.",
        recovery_hint="If you changed the file, undo that with SQLite (`DROP TRIGGER`, `DROP VIEW`, `DROP TABLE`, "
        "`DROP INDEX`). If it came from another person, do not use it: records may have been changed. Otherwise it is "
        "damaged: restore a copy, or move the file away and sync again.",
        details={"reason": "changed_schema", "change": change},
    )


def index_words_anew(connection: sqlite3.Connection) -> None:
    """Make the tables of the full-text index anew, in place of those of earlier versions, too; queue every record."""
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for name in names:
        if name.startswith("lexical_") and not name.startswith("lexical_index_"):  # FTS5 drops its own with the first
            connection.execute(f"DROP TABLE {name}")
    for statement in _WORD_INDEX:
        connection.execute(statement)
    connection.execute("INSERT INTO lexical_queue SELECT pmid FROM documents WHERE status = 'current'")


def index_vectors_anew(connection: sqlite3.Connection) -> None:
    """Make the tables of the index of vectors, or empty them, and queue every vector there is."""
    for statement in _VECTOR_INDEX:
        connection.execute(statement)
    for table in ("vector_queue", "vector_blocks", "vector_graphs"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("INSERT INTO vector_queue SELECT model, chunk_id FROM vectors")


def _create(connection: sqlite3.Connection) -> None:
    for statement in (*_TABLES, *_REVISIONS):
        connection.execute(statement)
    index_words_anew(connection)
    index_vectors_anew(connection)
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")


def _pack(connection: sqlite3.Connection) -> None:
    # The whole record is packed, and the present version no longer says again what the record says.
    columns = "pmid, version, change, retraction_status, seen_at"
    said = ", ".join(SUPERSEDED)
    connection.execute("ALTER TABLE versions RENAME TO versions_before")
    for statement in _REVISIONS:
        connection.execute(statement)
    connection.execute(f"INSERT INTO revisions ({columns}, {said}) SELECT {columns}, {said} FROM versions_before")
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
    index_words_anew,  # another full-text index
    lambda connection: None,  # made another table of the versions, which the sixth format replaces
    index_vectors_anew,
    _pack,
    lambda connection: connection.execute(_GRAPHS),
)
"""Each turns a file of one format into the next, the first one of format 1; a new file has today's tables at once."""


def current_format() -> int:
    """Return the format of files as they are made today."""
    return len(MIGRATIONS) + 1


def prepare(connection: sqlite3.Connection) -> None:
    """Make sure that the file has today's tables; costs a few reads when it has.

    A migration happens in one transaction, so that a file is always of one version or another.

    Raises:
        StoreError: the file is no corpus, its schema was changed, or a newer version of entrez-kit made it.
    """
    restrict_schema(connection)
    with transaction(connection, "DEFERRED"):
        version = _version(connection)
        if version == current_format():
            _check_schema(connection)
            return
    connection.execute("PRAGMA journal_mode=WAL")
    with transaction(connection, "IMMEDIATE"):
        # Another process may have done it meanwhile.
        version = _version(connection)
        _check_before_migration(connection)
        for step in MIGRATIONS[version - 1 :] if version else (_create,):
            step(connection)
        connection.execute(f"PRAGMA user_version={current_format()}")
        _check_schema(connection)


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    """Let everything in the block happen, or nothing.

    Args:
        connection: one outside a transaction.
        kind: DEFERRED to read, IMMEDIATE to write.
    """
    connection.execute(f"BEGIN {kind}")
    with connection:
        yield


def _version(connection: sqlite3.Connection) -> int:
    """Return the version of a file; inside a transaction, so that one being made is not taken for somebody else's."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    mark: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if version == 0 and mark == 0:
        foreign = connection.execute("SELECT name FROM sqlite_schema LIMIT 1").fetchone() is not None
    else:
        foreign = mark != APPLICATION_ID
    if foreign:
        raise StoreError(
            "The file corpus.db in the data folder is no corpus of entrez-kit; it was left alone.",
            recovery_hint="Move it away, or name another folder with ENTREZ_KIT_DATA_DIR.",
            details={"reason": "not_a_corpus"},
        )
    if version > current_format():
        raise StoreError(
            f"A newer version of entrez-kit made this corpus (format {version}; this one knows {current_format()}).",
            recovery_hint="Upgrade entrez-kit, or name another folder with ENTREZ_KIT_DATA_DIR.",
            details={"reason": "newer_store", "format": version, "known": current_format()},
        )
    return version
