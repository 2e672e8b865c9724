"""The records of a query that a sync has already fetched, or compares with PubMed."""

import json
import sqlite3
from collections.abc import Iterable, Sequence


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


def list_unlisted(
    connection: sqlite3.Connection, query_key: str, first: str, last: str, listed: Iterable[int]
) -> list[int]:
    """Return a query's records that entered PubMed between two days and are not in a list.

    Records that the query no longer matches are excluded. Records without a date of entry have the first day of all.
    """
    rows = connection.execute(
        "SELECT pmid FROM documents INDEXED BY documents_by_edat JOIN membership USING (pmid) WHERE query_key = :key "
        "AND status = 'current' AND (edat >= :first AND edat < :last OR edat IS NULL AND :first <= '0001-01-01') "
        "AND unmatched_at IS NULL AND pmid NOT IN (SELECT value FROM json_each(:listed)) ORDER BY pmid",
        {"key": query_key, "first": first, "last": f"{last}T99", "listed": json.dumps(list(listed))},
    )
    return [row["pmid"] for row in rows]


def find_new(connection: sqlite3.Connection, query_key: str, listed: Iterable[int]) -> list[int]:
    """Return the records of a list that are not stored as current results of a query."""
    rows = connection.execute(
        "SELECT value FROM json_each(:listed) WHERE value NOT IN (SELECT pmid FROM membership JOIN documents "
        "USING (pmid) WHERE query_key = :key AND status = 'current' AND unmatched_at IS NULL "
        "AND pmid IN (SELECT value FROM json_each(:listed)))",
        {"key": query_key, "listed": json.dumps(list(listed))},
    )
    return [row[0] for row in rows]
