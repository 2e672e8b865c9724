"""The queries of the corpus, and its statistics."""

import sqlite3
from typing import Final

from entrez_kit.core.model import Result, omit_if_empty

MIN_GRAPH_VECTORS: Final = 500_000
"""From this number of vectors on, a search uses a graph; fewer are all compared in a tenth of a second."""


class CorpusSummary(Result):
    """One query of the corpus: its term, its records, and its last sync."""

    query_key: str
    term: str | None
    documents: int
    deleted: int
    last_edat: str | None
    last_scan_at: str | None
    last_job: str | None
    last_status: str | None
    last_finished_at: str | None


class CorpusList(Result):
    """The queries of a corpus."""

    path: str
    corpora: list[CorpusSummary]


class CorpusStats(Result):
    """Statistics of the corpus or of one query; ``graphs`` has the number of vectors in each graph."""

    path: str
    query_key: str | None = omit_if_empty()
    format: int
    size_bytes: int
    corpora: int
    documents: int
    deleted: int
    with_abstract: int
    retracted: int
    versions: int
    chunks: int
    tokens: int
    vectors: dict[str, int]
    graphs: dict[str, int] = omit_if_empty({})
    outbox: int
    unavailable: int
    first_year: int | None
    last_year: int | None
    last_edat: str | None


def list_corpora(connection: sqlite3.Connection) -> list[CorpusSummary]:
    """Return the queries, by key."""
    rows = connection.execute(
        """
        SELECT c.query_key, c.term, c.documents, c.deleted, c.last_edat, c.last_scan_at,
               j.job_id AS last_job, j.status AS last_status, j.finished_at AS last_finished_at
        FROM corpora AS c
        LEFT JOIN jobs AS j ON j.job_id =
            (SELECT job_id FROM jobs WHERE query_key = c.query_key ORDER BY started_at DESC LIMIT 1)
        ORDER BY c.query_key
        """
    )
    return [CorpusSummary.model_validate(dict(row)) for row in rows]


def compute_stats(
    connection: sqlite3.Connection, path: str, size_bytes: int, query_key: str | None = None
) -> CorpusStats:
    """Return the statistics of the corpus, or of one query."""
    among = "" if query_key is None else "WHERE pmid IN (SELECT pmid FROM membership WHERE query_key = :key)"
    key = {"key": query_key}
    counts = connection.execute(
        f"""
        SELECT count(*) FILTER (WHERE status = 'current') AS documents,
               count(*) FILTER (WHERE status = 'deleted') AS deleted,
               count(abstract) FILTER (WHERE status = 'current') AS with_abstract,
               count(*) FILTER (WHERE status = 'current' AND retraction_status = 'retracted') AS retracted,
               min(year) FILTER (WHERE status = 'current') AS first_year,
               max(year) FILTER (WHERE status = 'current') AS last_year,
               max(edat) FILTER (WHERE status = 'current') AS last_edat
        FROM documents {among}
        """,
        key,
    ).fetchone()
    sizes = connection.execute(f"SELECT count(*), coalesce(sum(tokens), 0) FROM chunks {among}", key).fetchone()
    chosen = "" if query_key is None else f"WHERE chunk_id IN (SELECT id FROM chunks {among})"
    vectors = connection.execute(f"SELECT model, count(*) FROM vectors {chosen} GROUP BY model ORDER BY model", key)
    queued = "" if query_key is None else f"WHERE uuid IN (SELECT uuid FROM chunks {among})"
    condition = "" if query_key is None else "WHERE query_key = :key"

    def count(sql: str) -> int:
        return int(connection.execute(f"SELECT count(*) FROM {sql}", key).fetchone()[0])

    return CorpusStats(
        path=path,
        query_key=query_key,
        format=connection.execute("PRAGMA user_version").fetchone()[0],
        size_bytes=size_bytes,
        corpora=count(f"checkpoints {condition}"),
        versions=count(f"versions {among}"),
        chunks=sizes[0],
        tokens=sizes[1],
        vectors={row[0]: row[1] for row in vectors},
        graphs=count_graphs(connection) if query_key is None else {},
        outbox=count(f"outbox {queued}"),
        unavailable=count(f"unavailable {condition}"),
        **dict(counts),
    )


def count_graphs(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the number of vectors in the graph of each model."""
    return {row[0]: row[1] for row in connection.execute("SELECT model, passages FROM vector_graphs ORDER BY model")}
