"""Write records into the corpus: versions, chunks, the full-text index and the outbox, in the caller's transaction."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from entrez_kit.corpus.chunking import chunk_uuid
from entrez_kit.corpus.documents import Doc, encode_column
from entrez_kit.corpus.store.schema import SUPERSEDED
from entrez_kit.pubmed.models import StandingStatus
from entrez_kit.pubmed.standing import RETRACTED, determine_standing


@dataclass(slots=True)
class Upserted:
    """The outcomes of written records, by PMID.

    ``retracted`` lists newly retracted records; ``standings`` lists records by their new publication status.
    """

    inserted: list[int] = field(default_factory=list)
    updated: list[int] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    retracted: list[int] = field(default_factory=list)
    standings: dict[str, list[int]] = field(default_factory=dict)
    max_edat_seen: str | None = None


_VERSION_COLUMNS: Final = (
    "content_hash, lr, version, retraction_status, status, title, abstract, pub_types, corrections, edat"
)
"""The columns of a stored version, in the order of ``_KnownVersion``."""


class _KnownVersion(NamedTuple):
    """The current version of a stored record. Its fields are the columns that ``_read_versions`` selects."""

    content_hash: str
    lr: str | None
    version: int
    retraction_status: str
    status: str
    title: str
    abstract: str | None
    pub_types: str
    corrections: str | None
    edat: str | None

    @property
    def statuses(self) -> set[StandingStatus]:
        """The publication statuses of the stored version."""
        standing = determine_standing(
            publication_types=json.loads(self.pub_types),
            corrections=json.loads(self.corrections or "[]"),
            title=self.title,
            abstract=self.abstract,
        )
        return {notice.status for notice in standing.notices} | {standing.status} if standing else set()


_NEWLY: Final[Mapping[StandingStatus, str]] = {
    "retracted": "retracted",
    "withdrawn": "withdrawn",
    "partially_retracted": "retracted in part",
    "expression_of_concern": "under an expression of concern",
    "reinstated": "reinstated",
    "superseded": "superseded by another version",
    "republished": "corrected and republished",
    "preprint_published": "published after having been a preprint",
    "corrected": "corrected",
}
_DOUBTFUL: Final = tuple(_NEWLY)[:4]
_PLAIN: Final = (
    "pmid", "title", "abstract", "journal", "year", "pdat", "edat", "pmcid", "doi", "retraction_status", "content_hash",
    "article", "corrections",
)  # fmt: skip
"""Columns stored as plain values, and columns stored as JSON."""
_LISTS: Final = ("pub_types", "mesh", "keywords", "authors")
_COLUMNS: Final = (
    *_PLAIN[1:], *_LISTS, "lr", "status", "design", "journal_tier", "human", "version", "last_seen_at"
)  # fmt: skip
_INSERT: Final = (
    f"INSERT INTO documents (pmid, first_seen_at, {', '.join(_COLUMNS)}) "
    f"VALUES (:pmid, :last_seen_at, {', '.join(f':{name}' for name in _COLUMNS)})"
)
_UPDATE: Final = (
    f"UPDATE documents SET {', '.join(f'{name} = :{name}' for name in _COLUMNS if name != 'edat')}, "
    "edat = coalesce(:edat, edat) WHERE pmid = :pmid"
)
_SNAPSHOT: Final = (
    "INSERT INTO revisions (pmid, version, change, retraction_status, seen_at) "
    "SELECT pmid, version, ?, retraction_status, ? FROM documents WHERE pmid = ?"
)
_SUPERSEDE: Final = (
    f"UPDATE revisions SET ({', '.join(SUPERSEDED)}) = (SELECT {', '.join(SUPERSEDED)} FROM documents AS d "
    "WHERE d.pmid = revisions.pmid) WHERE pmid = :pmid "
    "AND version = (SELECT version FROM documents WHERE pmid = :pmid)"
)
"""Copies the fields of the current version before the record changes."""
_QUEUE: Final = "INSERT OR REPLACE INTO outbox (uuid, operation, queued_at) VALUES (?, ?, ?)"
_QUEUE_PASSAGES: Final = (
    "INSERT OR REPLACE INTO outbox (uuid, operation, queued_at) SELECT uuid, 'upsert', ? FROM chunks WHERE pmid = ?"
)


def upsert(connection: sqlite3.Connection, docs: Iterable[Doc], now: str) -> Upserted:
    """Insert new records, add versions of changed records, and update the last-seen time of the others.

    A record has changed if its content hash differs or its revision date (LR) is later. A deleted record that appears
    again counts as added. A new date of entry (EDAT) alone is stored without a new version.
    """
    by_pmid = {doc.pmid: doc for doc in docs}
    versions = _read_versions(connection, by_pmid)
    done = Upserted(max_edat_seen=max((doc.edat for doc in by_pmid.values() if doc.edat), default=None))
    changes: list[tuple[Doc, str]] = []
    for pmid, doc in by_pmid.items():
        before = versions.get(pmid)
        change = _find_change(before, doc)
        if change is None:
            done.skipped.append(pmid)
            continue
        (done.inserted if before is None else done.updated).append(pmid)
        changes.append((doc, change))
        if change == "retracted":
            done.retracted.append(pmid)
        _note_standing(done, doc, before)
    connection.executemany(_INSERT, [_build_row(by_pmid[pmid], 1, now) for pmid in done.inserted])
    connection.executemany(_SUPERSEDE, [{"pmid": pmid} for pmid in done.updated])
    connection.executemany(
        _UPDATE,
        [_build_row(by_pmid[pmid], versions[pmid].version + 1, now, versions[pmid].lr) for pmid in done.updated],
    )
    connection.executemany("UPDATE documents SET last_seen_at = ? WHERE pmid = ?", [(now, p) for p in done.skipped])
    moved = [pmid for pmid in done.skipped if by_pmid[pmid].edat not in (None, versions[pmid].edat)]
    connection.executemany("UPDATE documents SET edat = ? WHERE pmid = ?", [(by_pmid[p].edat, p) for p in moved])
    connection.executemany(_QUEUE_PASSAGES, [(now, pmid) for pmid in moved])
    connection.executemany(_SNAPSHOT, [(change, now, doc.pmid) for doc, change in changes])
    _write_chunks(connection, [doc for doc, _ in changes], now)
    queue_words(connection, [doc.pmid for doc, _ in changes])
    return done


def mark_deleted(connection: sqlite3.Connection, pmids: Sequence[int], now: str) -> list[int]:
    """Mark records as deleted and remove them from all indexes; return those that were current before."""
    rows = connection.execute(
        "SELECT pmid FROM documents WHERE pmid IN (SELECT value FROM json_each(?)) AND status = 'current'",
        (json.dumps(list(pmids)),),
    )
    removed_pmids = [row[0] for row in rows]
    connection.executemany(_SUPERSEDE, [{"pmid": pmid} for pmid in removed_pmids])
    connection.executemany(
        "UPDATE documents SET status = 'deleted', version = version + 1 WHERE pmid = ?",
        [(pmid,) for pmid in removed_pmids],
    )
    connection.executemany(_SNAPSHOT, [("deleted", now, pmid) for pmid in removed_pmids])
    queue_words(connection, removed_pmids)
    for pmid in removed_pmids:
        _drop_chunks(connection, connection.execute("SELECT id, uuid FROM chunks WHERE pmid = ?", (pmid,)), now)
    return removed_pmids


def add_members(connection: sqlite3.Connection, query_key: str, pmids: Iterable[int], now: str) -> None:
    """Add records to a query."""
    from entrez_kit.corpus.search import index as lexical

    pmid_list = list(pmids)
    rows = connection.execute(
        "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT pmid FROM membership WHERE query_key = ?)",
        (json.dumps(pmid_list), query_key),
    )
    lexical.add_members(connection, query_key, [row[0] for row in rows])
    connection.executemany(
        "INSERT INTO membership (query_key, pmid, added_at) VALUES (?, ?, ?) ON CONFLICT (query_key, pmid) "
        "DO UPDATE SET unmatched_at = NULL WHERE unmatched_at IS NOT NULL",
        [(query_key, pmid, now) for pmid in pmid_list],
    )


def queue_words(connection: sqlite3.Connection, pmids: Iterable[int]) -> None:
    """Queue new, changed or deleted records for the full-text index."""
    connection.executemany("INSERT OR IGNORE INTO lexical_queue VALUES (?)", ((pmid,) for pmid in pmids))


def note_unmatched(connection: sqlite3.Connection, query_key: str, pmids: Iterable[int], now: str) -> None:
    """Mark records that a query no longer matches; they stay in the corpus."""
    connection.executemany(
        "UPDATE membership SET unmatched_at = ? WHERE query_key = ? AND pmid = ?",
        [(now, query_key, pmid) for pmid in pmids],
    )


def rederive(connection: sqlite3.Connection, docs: Sequence[Doc], now: str) -> None:
    """Recompute quality and chunks of records; unchanged chunks are not rewritten."""
    connection.executemany(
        "UPDATE documents SET design = ?, journal_tier = ?, human = ?, retraction_status = ? WHERE pmid = ?",
        [(*doc.quality, doc.retraction_status, doc.pmid) for doc in docs],
    )
    _write_chunks(connection, docs, now, announce_all=False)


def _read_versions(connection: sqlite3.Connection, pmids: Iterable[int]) -> dict[int, _KnownVersion]:
    rows = connection.execute(
        f"SELECT pmid, {_VERSION_COLUMNS} FROM documents WHERE pmid IN (SELECT value FROM json_each(?))",
        (json.dumps(list(pmids)),),
    )
    return {row[0]: _KnownVersion(*row[1:]) for row in rows}


def _note_standing(done: Upserted, doc: Doc, before: _KnownVersion | None) -> None:
    """Report a new publication status of a record, or a new record that is retracted or questioned."""
    if doc.standing is None:
        return
    after = {doc.standing.status}
    if before is None:
        words = {status: f"New and {_NEWLY[status]}" for status in _DOUBTFUL}
    else:
        after = (after | {notice.status for notice in doc.standing.notices}) - before.statuses
        words = {status: f"Newly {text}" for status, text in _NEWLY.items()}
    for status, text in words.items():
        if status in after:
            done.standings.setdefault(text, []).append(doc.pmid)


def _find_change(before: _KnownVersion | None, doc: Doc) -> str | None:
    if before is None or before.status != "current":
        return "added"
    if before.content_hash == doc.content_hash and (doc.lr is None or (before.lr is not None and doc.lr <= before.lr)):
        return None
    newly = doc.retraction_status == RETRACTED and before.retraction_status != RETRACTED
    return "retracted" if newly else "revised"


def _build_row(doc: Doc, version: int, now: str, known_lr: str | None = None) -> dict[str, Any]:
    return {
        **{name: getattr(doc, name) for name in _PLAIN},
        **{name: encode_column(getattr(doc, name)) for name in _LISTS},
        "lr": max(filter(None, (doc.lr, known_lr)), default=None),
        "status": "current",
        "design": doc.quality.design,
        "journal_tier": doc.quality.journal,
        "human": doc.quality.human,
        "version": version,
        "last_seen_at": now,
    }


# Chunks --------------------------------------------------------------------------------------------------------------


def _write_chunks(connection: sqlite3.Connection, docs: Sequence[Doc], now: str, *, announce_all: bool = True) -> None:
    """Update the chunks of records. A chunk with the same text keeps its row and its vectors."""
    old: dict[tuple[int, str], sqlite3.Row] = {
        (row["pmid"], row["chunk_id"]): row
        for row in connection.execute(
            "SELECT id, pmid, chunk_id, uuid, section, text FROM chunks WHERE pmid IN (SELECT value FROM json_each(?))",
            (json.dumps([doc.pmid for doc in docs]),),
        )
    }
    added, changed, upserts = [], [], []
    for doc in docs:
        for chunk in doc.chunks:
            before = old.pop((doc.pmid, chunk.chunk_id), None)
            uuid = before["uuid"] if before else chunk_uuid(doc.pmid, chunk.chunk_id)
            if before is None:
                added.append((doc.pmid, chunk.chunk_id, uuid, chunk.section, chunk.text, chunk.tokens))
            elif (before["text"], before["section"]) != (chunk.text, chunk.section):
                changed.append((chunk.section, chunk.text, chunk.tokens, before["id"]))
            elif not announce_all:
                continue
            upserts.append((uuid, "upsert", now))
    _drop_chunks(connection, [(row["id"], row["uuid"]) for row in old.values()], now)
    connection.executemany("DELETE FROM vectors WHERE chunk_id = ?", [(row[-1],) for row in changed])
    connection.executemany("UPDATE chunks SET section = ?, text = ?, tokens = ? WHERE id = ?", changed)
    connection.executemany(
        "INSERT INTO chunks (pmid, chunk_id, uuid, section, text, tokens) VALUES (?, ?, ?, ?, ?, ?)", added
    )
    connection.executemany(_QUEUE, upserts)


def _drop_chunks(connection: sqlite3.Connection, chunks: Iterable[Sequence[Any]], now: str) -> None:
    """Delete chunks, given as (id, uuid), with their vectors, and queue the deletion for remote indexes."""
    for number, uuid in list(chunks):
        connection.execute("DELETE FROM chunks WHERE id = ?", (number,))
        connection.execute(_QUEUE, (uuid, "delete", now))
