"""A corpus file that has nothing but what the full-text index is made of."""

import json
import sqlite3
from collections.abc import Iterable
from itertools import islice

import numpy as np

from entrez_kit.corpus.search import index as lexical
from entrez_kit.corpus.search.postings import Postings, sift
from entrez_kit.corpus.search.terms import IndexRow
from entrez_kit.corpus.store.schema import prepare
from entrez_kit.corpus.store.writing import add_members, queue_words

_INSERT = (
    "INSERT OR REPLACE INTO documents (pmid, title, abstract, mesh, status, retraction_status, design, journal_tier, "
    "human, version, content_hash, first_seen_at, last_seen_at, pub_types, keywords, authors, article) "
    "VALUES (?, ?, ?, ?, 'current', 'none', 0, 0, 0, 1, '', '', '', '[]', '[]', '[]', '{}')"
)


def opened(name: str = ":memory:") -> sqlite3.Connection:
    """Open a corpus file, an empty one in memory if it has no name."""
    connection = sqlite3.connect(name, isolation_level=None)
    prepare(connection)
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
    """Let a query have found records."""
    add_members(connection, query_key, pmids, "2026-01-05T12:00:00")


def index(connection: sqlite3.Connection) -> None:
    """Index all that is queued."""
    while lexical.catch_up(connection):
        pass


def indexed(rows: Iterable[IndexRow], name: str = ":memory:") -> sqlite3.Connection:
    """Return a corpus with these records, all indexed."""
    connection = opened(name)
    put(connection, rows)
    index(connection)
    return connection


def held(connection: sqlite3.Connection) -> dict[str, object]:
    """Return what the written index holds, in a form that does not depend on how it came about."""
    stems = {row[0]: row[1] for row in connection.execute("SELECT number, stem FROM lexical_stems")}
    postings: list[tuple[str, int, int, list[int]]] = []
    lengths: list[tuple[int, int]] = []
    members: list[tuple[str, int]] = []
    marks: list[tuple[int, list[tuple[str, int]]]] = []
    for block, struck, length, listed in connection.execute("SELECT block, struck, lengths, pmids FROM lexical_blocks"):
        pmids = np.frombuffer(listed, "<u4")
        kept = np.ones(len(pmids), np.bool_) if struck is None else ~lexical.bits(struck, len(pmids))
        lengths += zip(pmids[kept].tolist(), np.frombuffer(length, "<u2")[kept].tolist(), strict=True)
        for place, matches, positions in connection.execute(
            "SELECT place, matches, positions FROM lexical_postings WHERE place >> 32 = ?", (block,)
        ):
            assert (np.diff(np.frombuffer(matches, "<u2")[: len(matches) // 4].astype(int)) > 0).all()
            one = sift(Postings.of(matches, positions), kept)
            ends = np.cumsum((one.counts >> 12) + (one.counts & 255) + (one.counts >> 8 & 15)).tolist()
            postings += [
                (stems[place & 0xFFFFFFFF], pmid, count, one.positions[start:end].tolist())
                for pmid, count, start, end in zip(
                    pmids[one.docs].tolist(), one.counts.tolist(), [0, *ends][:-1], ends, strict=True
                )
            ]
        for query_key, packed in connection.execute(
            "SELECT query_key, members FROM lexical_members WHERE block = ?", (block,)
        ):
            members += [(query_key, pmid) for pmid in pmids[kept & lexical.bits(packed, len(pmids))].tolist()]
        kept_marks = lexical.marks_of(connection, block, np.flatnonzero(kept).tolist())
        marks += [
            (pmid, sorted(zip((stems[number] for number in one.numbers.tolist()), one.counts.tolist(), strict=True)))
            for pmid, one in zip(pmids[kept].tolist(), kept_marks, strict=True)
        ]
    counted = connection.execute("SELECT stem, records FROM lexical_stems WHERE records ORDER BY stem")
    return {
        "marks": sorted(marks),
        "stems": [tuple(row) for row in counted],
        "postings": sorted(postings),
        "lengths": sorted(lengths),
        "members": sorted(members),
    }
