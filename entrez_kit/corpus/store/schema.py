"""The schema of the corpus file.

You can open the file with Datasette or sqlite-utils: dates are ISO strings, lists are JSON. Start with ``corpora``.
"""

import sqlite3
from functools import cache
from typing import Final

from entrez_kit.base.private_files import Schema, build_schema

APPLICATION_ID: Final = 0x456B6974
"""Marks the file as a corpus ("Ekit"), so that no other SQLite file is used as one."""

SUPERSEDED: Final = ("title", "abstract", "journal", "pub_types", "pdat", "pmcid", "content_hash", "lr")
"""The fields that a superseded version keeps."""

RECORD_TABLES: Final = (
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
REVISIONS: Final = (
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
GRAPHS: Final = """
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
    GRAPHS,
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


@cache
def read_expected_schema() -> Schema:
    """Return the schema of the current format."""
    return build_schema((*RECORD_TABLES, *REVISIONS, *_WORD_INDEX, *_VECTOR_INDEX))


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
