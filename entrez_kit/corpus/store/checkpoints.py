"""Checkpoints of queries, the log of their changes, and the jobs of syncs."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

from entrez_kit.core.model import Result
from entrez_kit.corpus.times import stamp, to_second

RESUMED_WITHIN: Final = timedelta(hours=24)
"""How long records fetched by an unfinished sync count as current."""

RETRIED_WITHIN: Final = timedelta(days=30)
"""How long syncs try to fetch a record that NCBI did not return, also if NCBI no longer lists it."""

JobStatus = Literal["complete", "partial", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The sync state of a query.

    The corpus has every record entered before ``last_edat``, with all changes made before ``last_scan_at``. ``term`` is
    None for a checkpoint that was set manually before the first sync.
    """

    query_key: str
    term: str | None
    last_edat: str | None
    last_scan_at: str | None


@dataclass(slots=True)
class SyncJob:
    """One sync. ``seen_since`` is the start of the first unfinished sync that it resumes, or its own start."""

    job_id: str
    query_key: str
    term: str
    started_at: datetime
    seen_since: datetime
    inserted: int = 0
    updated: int = 0
    skipped: int = 0
    max_edat_seen: str | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def pmids_processed(self) -> int:
        """The number of records processed."""
        return self.inserted + self.updated + self.skipped

    @property
    def resumes(self) -> bool:
        """Whether this sync continues a recent unfinished sync of the key."""
        return self.seen_since < self.started_at


def get(connection: sqlite3.Connection, query_key: str) -> Checkpoint | None:
    """Return the checkpoint of a key."""
    row = connection.execute(
        "SELECT query_key, term, last_edat, last_scan_at FROM checkpoints WHERE query_key = ?", (query_key,)
    ).fetchone()
    return Checkpoint(*row) if row else None


def set_by_hand(connection: sqlite3.Connection, query_key: str, edat: str, now: datetime, note: str | None) -> None:
    """Set a checkpoint to any time, earlier or later, and log the change."""
    before = get(connection, query_key)
    connection.execute(
        "INSERT INTO checkpoints (query_key, last_edat) VALUES (?, ?) "
        "ON CONFLICT (query_key) DO UPDATE SET last_edat = excluded.last_edat",
        (query_key, edat),
    )
    _log(connection, query_key, now, "manual", before.last_edat if before else None, edat, note)


def find_start(connection: sqlite3.Connection, query_key: str) -> str | None:
    """Return the earliest checkpoint set by hand, if one was set before the first sync of a key; otherwise None."""
    row = connection.execute(
        """
        WITH moves AS (SELECT id, kind, new_edat FROM checkpoint_log WHERE query_key = :key AND id > coalesce(
            (SELECT max(id) FROM checkpoint_log WHERE query_key = :key AND kind = 'replace_term'), 0))
        SELECT min(new_edat) FROM moves WHERE kind = 'manual'
            AND (SELECT kind FROM moves ORDER BY id LIMIT 1) = 'manual'
        """,
        {"key": query_key},
    ).fetchone()
    return str(row[0]) if row[0] else None


def replace_term(connection: sqlite3.Connection, query_key: str, term: str, now: datetime) -> None:
    """Restart a key with a new term: reset its checkpoint and members. Records stay."""
    before = get(connection, query_key)
    if before is None or before.term == term:
        return
    for table in ("membership", "lexical_members", "unavailable"):
        connection.execute(f"DELETE FROM {table} WHERE query_key = ?", (query_key,))
    connection.execute(
        "UPDATE checkpoints SET term = ?, last_edat = NULL, last_scan_at = NULL WHERE query_key = ?", (term, query_key)
    )
    note = f"term {before.term!r} replaced by {term!r}"
    _log(connection, query_key, now, "replace_term", before.last_edat, None, note)


def bind(connection: sqlite3.Connection, job: SyncJob) -> None:
    """Ensure that the key of a sync has a checkpoint with its term; the first sync sets the time of the last scan."""
    connection.execute(
        "INSERT INTO checkpoints (query_key, term, last_scan_at) VALUES (?, ?, ?) ON CONFLICT (query_key) DO UPDATE "
        "SET term = coalesce(term, excluded.term), last_scan_at = coalesce(last_scan_at, excluded.last_scan_at)",
        (job.query_key, job.term, to_second(job.seen_since)),
    )


def advance(connection: sqlite3.Connection, job: SyncJob, edat: str, now: datetime) -> None:
    """Advance the checkpoint if ``edat`` is later."""
    before = get(connection, job.query_key)
    old = before.last_edat if before else None
    if old is None or edat > old:
        connection.execute("UPDATE checkpoints SET last_edat = ? WHERE query_key = ?", (edat, job.query_key))
        _log(connection, job.query_key, now, "automatic", old, edat, job.job_id)


def record_scan(connection: sqlite3.Connection, job: SyncJob) -> None:
    """Record that every change made before a complete sync began (or the sync it resumed) is in the corpus.

    Replaces a later time that came from a wrong clock.
    """
    connection.execute(
        "UPDATE checkpoints SET last_scan_at = ? WHERE query_key = ?",
        (to_second(job.seen_since), job.query_key),
    )


def _log(
    connection: sqlite3.Connection,
    query_key: str,
    now: datetime,
    kind: str,
    old: str | None,
    new: str | None,
    note: str | None,
) -> None:
    connection.execute(
        "INSERT INTO checkpoint_log (query_key, at, kind, old_edat, new_edat, note) VALUES (?, ?, ?, ?, ?, ?)",
        (query_key, stamp(now), kind, old, new, note),
    )


# Jobs ----------------------------------------------------------------------------------------------------------------


def start(connection: sqlite3.Connection, query_key: str, term: str, now: datetime) -> SyncJob:
    """Create the job of a new sync. The caller holds the lock of the key, so any other running job is dead."""
    connection.execute(
        "UPDATE jobs SET status = 'interrupted' WHERE query_key = ? AND status = 'running'", (query_key,)
    )
    row = connection.execute(
        "SELECT min(started_at) FROM jobs WHERE query_key = ?1 AND status <> 'complete' AND started_at >= ?2 AND "
        "started_at > coalesce((SELECT max(started_at) FROM jobs WHERE query_key = ?1 AND status = 'complete'), '')",
        (query_key, stamp(now - RESUMED_WITHIN)),
    ).fetchone()
    seen_since = min(datetime.fromisoformat(row[0]), now) if row[0] else now
    job_id = f"sync_{to_second(now)}"
    moment = now
    while connection.execute("SELECT 1 FROM jobs WHERE job_id = ?", (job_id,)).fetchone():
        moment += timedelta(seconds=1)  # two syncs that started in the same second
        job_id = f"sync_{to_second(moment)}"
    connection.execute(
        "INSERT INTO jobs (job_id, query_key, started_at, status) VALUES (?, ?, ?, 'running')",
        (job_id, query_key, stamp(now)),
    )
    return SyncJob(job_id, query_key, term, now, seen_since)


def note_progress(connection: sqlite3.Connection, job: SyncJob) -> None:
    """Store the progress of a sync."""
    connection.execute(
        "UPDATE jobs SET inserted = ?, updated = ?, skipped = ?, pmids_processed = ?, max_edat_seen = ?, warnings = ? "
        "WHERE job_id = ?",
        (
            job.inserted,
            job.updated,
            job.skipped,
            job.pmids_processed,
            job.max_edat_seen,
            json.dumps(job.warnings, ensure_ascii=False),
            job.job_id,
        ),
    )


def finish_sync(connection: sqlite3.Connection, job: SyncJob, status: JobStatus, now: datetime) -> None:
    """Store the final state of a sync."""
    note_progress(connection, job)
    connection.execute("UPDATE jobs SET status = ?, finished_at = ? WHERE job_id = ?", (status, stamp(now), job.job_id))


# Records that NCBI lists but does not return -------------------------------------------------------------------------


def list_unavailable(connection: sqlite3.Connection, query_key: str, now: datetime | None = None) -> list[int]:
    """Return the records of a key that NCBI listed but did not return; with ``now``, those of the last month."""
    rows = connection.execute(
        "SELECT pmid FROM unavailable WHERE query_key = ? AND first_seen_at >= ? ORDER BY pmid",
        (query_key, stamp(now - RETRIED_WITHIN) if now else ""),
    )
    return [row[0] for row in rows]


def note_unavailable(connection: sqlite3.Connection, query_key: str, pmids: Iterable[int], now: datetime) -> None:
    """Store records that NCBI lists but did not return, so that the next sync fetches them."""
    connection.executemany(
        "INSERT OR IGNORE INTO unavailable (query_key, pmid, first_seen_at) VALUES (?, ?, ?)",
        [(query_key, pmid, stamp(now)) for pmid in pmids],
    )


def forget_unavailable(connection: sqlite3.Connection, query_key: str, pmids: Sequence[int]) -> None:
    """Remove records that were fetched after all."""
    connection.executemany(
        "DELETE FROM unavailable WHERE query_key = ? AND pmid = ?", [(query_key, pmid) for pmid in pmids]
    )


class CheckpointMove(Result):
    """One entry of the checkpoint log: the cause and the values before and after."""

    at: str
    kind: Literal["automatic", "manual", "replace_term"]
    old_edat: str | None
    new_edat: str | None
    note: str | None


class CheckpointLog(Result):
    """The log of a checkpoint, latest entry first."""

    query_key: str
    entries: list[CheckpointMove]


def read_log(connection: sqlite3.Connection, query_key: str, limit: int = 1_000) -> CheckpointLog:
    """Return the log of a checkpoint, latest entry first."""
    rows = connection.execute(
        "SELECT at, kind, old_edat, new_edat, note FROM checkpoint_log WHERE query_key = ? ORDER BY id DESC LIMIT ?",
        (query_key, limit),
    )
    return CheckpointLog(query_key=query_key, entries=[CheckpointMove.model_validate(dict(row)) for row in rows])
