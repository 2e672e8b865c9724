"""The records of a query that a sync has already fetched, or compares with PubMed."""

import json
import sqlite3
from collections.abc import Sequence


def find_seen(connection: sqlite3.Connection, pmids: Sequence[int], moment: str, now: str) -> dict[int, str | None]:
    """Return the records fetched since a time, with their entry dates.

    Times after ``now`` come from a wrong clock and are ignored.
    """
    rows = connection.execute(
        "SELECT pmid, edat FROM documents WHERE pmid IN (SELECT value FROM json_each(?)) "
        "AND status = 'current' AND last_seen_at >= ? AND last_seen_at <= ?",
        (json.dumps(list(pmids)), moment, now),
    )
    return {row["pmid"]: row["edat"] for row in rows}


def has_members(connection: sqlite3.Connection, query_key: str) -> bool:
    """Return whether a query has any records."""
    row = connection.execute("SELECT 1 FROM membership WHERE query_key = ? LIMIT 1", (query_key,)).fetchone()
    return row is not None


def list_unseen(
    connection: sqlite3.Connection, query_key: str, first: str, last: str, moment: str, now: str
) -> list[int]:
    """Return a query's records that entered PubMed between two days and were not fetched since a time.

    Records that the query no longer matches are excluded. Times after ``now`` come from a wrong clock and are ignored.
    """
    rows = connection.execute(
        "SELECT pmid FROM documents INDEXED BY documents_by_edat JOIN membership USING (pmid) WHERE query_key = ? "
        "AND status = 'current' AND edat >= ? AND edat < ? AND (last_seen_at < ? OR last_seen_at > ?) "
        "AND unmatched_at IS NULL ORDER BY pmid",
        (query_key, first, f"{last}T99", moment, now),
    )
    return [row["pmid"] for row in rows]


def count_entered(connection: sqlite3.Connection, query_key: str, first: str, last: str) -> int:
    """Count a query's stored records entered between two days.

    SQLite needs only indexes for it, so it takes a second for a million records.
    """
    entered = "query_key = :key AND edat >= :first AND edat < :last AND unmatched_at IS NULL"
    row = connection.execute(
        f"""
        SELECT (SELECT count(*) FROM documents INDEXED BY documents_by_edat CROSS JOIN membership USING (pmid)
                WHERE {entered})
             - (SELECT count(*) FROM documents INDEXED BY documents_deleted CROSS JOIN membership USING (pmid)
                WHERE status = 'deleted' AND {entered})
        """,
        {"key": query_key, "first": first, "last": f"{last}T99"},
    ).fetchone()
    return int(row[0])
