"""How far each query has been followed, who moved that mark, and the jobs that did the work."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

from entrez_kit.corpus.times import stamp, to_second

RESUMED_WITHIN: Final = timedelta(hours=24)
"""What an unfinished sync fetched is not fetched again for so long."""

ASKED_FOR: Final = timedelta(days=30)
"""So long a record that NCBI lists and does not have is asked for again."""

Ending = Literal["complete", "partial", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far a query has been followed.

    Everything entered before ``last_edat`` is in the corpus, and everything modified before ``last_scan_at`` is there
    as it was then. ``term`` is None for a checkpoint that was set by hand before any sync.
    """

    query_key: str
    term: str | None
    last_edat: str | None
    last_scan_at: str | None


@dataclass(slots=True)
class Job:
    """One sync. ``seen_since`` is when the first of the unfinished syncs before it began, else its own beginning."""

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
        """How many records were looked at."""
        return self.inserted + self.updated + self.skipped

    @property
    def resumes(self) -> bool:
        """Whether an earlier sync of the key was left unfinished a short while ago."""
        return self.seen_since < self.started_at


def get(connection: sqlite3.Connection, query_key: str) -> Checkpoint | None:
    """Return the checkpoint of a key."""
    row = connection.execute(
        "SELECT query_key, term, last_edat, last_scan_at FROM checkpoints WHERE query_key = ?", (query_key,)
    ).fetchone()
    return Checkpoint(*row) if row else None


def set_by_hand(connection: sqlite3.Connection, query_key: str, edat: str, now: datetime, note: str | None) -> None:
    """Move a checkpoint to any place, back too, and log it."""
    before = get(connection, query_key)
    connection.execute(
        "INSERT INTO checkpoints (query_key, last_edat) VALUES (?, ?) "
        "ON CONFLICT (query_key) DO UPDATE SET last_edat = excluded.last_edat",
        (query_key, edat),
    )
    _log(connection, query_key, now, "manual", before.last_edat if before else None, edat, note)


def replace_term(connection: sqlite3.Connection, query_key: str, term: str, now: datetime) -> None:
    """Start a key anew with another term: nothing has been followed, nothing is a member. Records stay."""
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


def bind(connection: sqlite3.Connection, job: Job) -> None:
    """Make sure that the key of a sync has a checkpoint with its term; what it misses is modified from now on."""
    connection.execute(
        "INSERT INTO checkpoints (query_key, term, last_scan_at) VALUES (?, ?, ?) ON CONFLICT (query_key) DO UPDATE "
        "SET term = coalesce(term, excluded.term), last_scan_at = coalesce(last_scan_at, excluded.last_scan_at)",
        (job.query_key, job.term, to_second(job.seen_since)),
    )


def advance(connection: sqlite3.Connection, job: Job, edat: str, now: datetime) -> None:
    """Move the checkpoint forward; never back."""
    before = get(connection, job.query_key)
    old = before.last_edat if before else None
    if old is None or edat > old:
        connection.execute("UPDATE checkpoints SET last_edat = ? WHERE query_key = ?", (edat, job.query_key))
        _log(connection, job.query_key, now, "automatic", old, edat, job.job_id)


def scanned(connection: sqlite3.Connection, job: Job) -> None:
    """Note that everything modified before a complete sync began is here; of a resumed one, before the first began.

    A later time from a wrong clock is replaced.
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


def start(connection: sqlite3.Connection, query_key: str, term: str, now: datetime) -> Job:
    """Enter a new sync. Called by whoever holds the lock of the key, so any other that seems to run is dead."""
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
        moment += timedelta(seconds=1)  # two syncs that began in the same second
        job_id = f"sync_{to_second(moment)}"
    connection.execute(
        "INSERT INTO jobs (job_id, query_key, started_at, status) VALUES (?, ?, ?, 'running')",
        (job_id, query_key, stamp(now)),
    )
    return Job(job_id, query_key, term, now, seen_since)


def note_progress(connection: sqlite3.Connection, job: Job) -> None:
    """Write down how far a sync is."""
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


def finish(connection: sqlite3.Connection, job: Job, ending: Ending, now: datetime) -> None:
    """Write down how a sync ended."""
    note_progress(connection, job)
    connection.execute("UPDATE jobs SET status = ?, finished_at = ? WHERE job_id = ?", (ending, stamp(now), job.job_id))


# Records that NCBI lists and does not have ---------------------------------------------------------------------------


def unavailable(connection: sqlite3.Connection, query_key: str, now: datetime) -> list[int]:
    """Return the records of a key that were listed and could not be had; after a month they are given up."""
    rows = connection.execute(
        "SELECT pmid FROM unavailable WHERE query_key = ? AND first_seen_at >= ? ORDER BY pmid",
        (query_key, stamp(now - ASKED_FOR)),
    )
    return [row[0] for row in rows]


def note_unavailable(connection: sqlite3.Connection, query_key: str, pmids: Iterable[int], now: datetime) -> None:
    """Remember records that were listed and could not be had, to ask for them next time."""
    connection.executemany(
        "INSERT OR IGNORE INTO unavailable (query_key, pmid, first_seen_at) VALUES (?, ?, ?)",
        [(query_key, pmid, stamp(now)) for pmid in pmids],
    )


def forget_unavailable(connection: sqlite3.Connection, query_key: str, pmids: Sequence[int]) -> None:
    """Forget what could be had after all."""
    connection.executemany(
        "DELETE FROM unavailable WHERE query_key = ? AND pmid = ?", [(query_key, pmid) for pmid in pmids]
    )
