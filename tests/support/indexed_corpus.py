"""A corpus file with only the tables of the full-text index."""

import json
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Iterable
from itertools import islice

from pyroaring import BitMap

from entrez_kit.corpus.search import index as lexical
from entrez_kit.corpus.search.terms import IndexRow
from entrez_kit.corpus.store.migrations import migrate
from entrez_kit.corpus.store.writing import add_members, queue_words
from entrez_kit.query.segments.search_index import SearchIndex

_INSERT = (
    "INSERT OR REPLACE INTO documents (pmid, title, abstract, mesh, status, retraction_status, design, journal_tier, "
    "human, version, content_hash, first_seen_at, last_seen_at, pub_types, keywords, authors, article) "
    "VALUES (?, ?, ?, ?, 'current', 'none', 0, 0, 0, 1, '', '', '', '[]', '[]', '[]', '{}')"
)


class _Connection(sqlite3.Connection):
    """A connection that weak references can refer to."""


def open_corpus(name: str = "") -> sqlite3.Connection:
    """Open a corpus file; without a name, an empty one in a new folder."""
    if name:
        connection: _Connection = _Connection(name, isolation_level=None)
    else:
        folder = tempfile.mkdtemp()
        connection = _Connection(f"{folder}/corpus.db", isolation_level=None)
        weakref.finalize(connection, shutil.rmtree, folder, ignore_errors=True)

    migrate(connection)
    return connection


def put(connection: sqlite3.Connection, rows: Iterable[IndexRow]) -> None:
    """Write records, without indexing them."""
    remaining = iter(rows)
    while batch := list(islice(remaining, 1_000)):
        connection.executemany(_INSERT, [(row.pmid, row.title, row.abstract, json.dumps([row.terms])) for row in batch])
        queue_words(connection, [row.pmid for row in batch])


def delete(connection: sqlite3.Connection, pmids: Iterable[int]) -> None:
    """Mark records as deleted."""
    gone = list(pmids)
    connection.executemany("UPDATE documents SET status = 'deleted' WHERE pmid = ?", [(pmid,) for pmid in gone])
    queue_words(connection, gone)


def join(connection: sqlite3.Connection, query_key: str, pmids: Iterable[int]) -> None:
    """Record that a query has found these records."""
    add_members(connection, query_key, pmids, "2026-01-05T12:00:00")


def index(connection: sqlite3.Connection) -> None:
    """Index all queued records."""
    while lexical.catch_up(connection):
        pass


def index_rows(rows: Iterable[IndexRow], name: str = "") -> sqlite3.Connection:
    """Return a corpus with these records, all indexed."""
    connection = open_corpus(name)
    put(connection, rows)
    index(connection)
    return connection


def read_index(connection: sqlite3.Connection) -> dict[str, object]:
    """Return the content of the written index, in a form that does not depend on its history."""
    removed = lexical.read_set(connection, lexical.REMOVED)
    index = SearchIndex(lexical._open_segments(connection) or [], removed)  # the written index, not a search
    live = index.list_records()
    pmids = dict(zip(live, index.read_pmids(list(live)), strict=True))
    words = [
        (source, word, pmids[number], list(places))
        for source in ("title", "abstract", "terms")
        for word in sorted(index.list_words(source))
        for number, [places] in index.read_positions(source, [word], index.find_word(source, word))
    ]
    members = connection.execute("SELECT query_key, records FROM lexical_members").fetchall()
    return {
        "records": sorted(pmids.values()),
        "words": sorted(words),
        "members": sorted(
            (key, pmids[number])
            for key, numbers in members
            if key != lexical.REMOVED
            for number in BitMap.deserialize(numbers) - removed
        ),
    }
