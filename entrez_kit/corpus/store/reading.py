"""Read-only queries of the corpus: records, lists, statistics, differences and logs."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from entrez_kit.base.sqlite_files import DamagedData
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.corpus.documents import DocFields, hash_content
from entrez_kit.corpus.quality import Lasting
from entrez_kit.corpus.store.packing import BESIDE, unpack
from entrez_kit.corpus.times import is_stamp
from entrez_kit.pubmed.models import Article, RetractionStatus
from entrez_kit.pubmed.standing import determine_standing, determine_standing_of_article, to_retraction_status

Change = Literal["added", "revised", "retracted", "deleted"]

MANY: Final = 500_000
"""The number of vectors above which a search uses a graph; fewer are all compared in a tenth of a second."""
_PAGE: Final = 500


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


class Difference(Result):
    """The change of one record: the versions before and after, and the fields that changed."""

    pmid: str
    change: Change
    title: str
    from_version: int | None
    to_version: int
    changed: list[str] = omit_if_empty([])
    retraction_status: str
    seen_at: str


class CorpusDiff(Result):
    """The changes of a corpus since a time: each record once, under its most serious change."""

    query_key: str
    since: str
    added: list[Difference]
    revised: list[Difference]
    retracted: list[Difference]
    deleted: list[Difference]


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


@dataclass(frozen=True, slots=True)
class StoredDoc(DocFields):
    """A stored record without the whole article."""

    status: str
    version: int
    first_seen_at: str
    last_seen_at: str

    @property
    def retraction_status(self) -> RetractionStatus:
        """The value of ``retraction_status`` for this record."""
        return to_retraction_status(self.standing)


_DOC: Final = (
    "pmid, title, abstract, journal, pub_types, mesh, keywords, authors, year, pdat, edat, lr, pmcid, doi, "
    "status, design, journal_tier, human, content_hash, version, first_seen_at, last_seen_at, "
    "corrections"
)


def read_documents(connection: sqlite3.Connection, pmids: Sequence[int]) -> dict[int, StoredDoc]:
    """Return records by PMID; records not in the corpus are omitted."""
    rows = connection.execute(
        f"SELECT {_DOC} FROM documents WHERE pmid IN (SELECT value FROM json_each(?))", (json.dumps(list(pmids)),)
    )
    return {row["pmid"]: _read_doc(row) for row in rows}


def _read_doc(row: sqlite3.Row) -> StoredDoc:
    _verify(row)
    stored = dict(row)
    lists = {name: json.loads(stored.pop(name)) for name in ("pub_types", "mesh", "keywords", "authors")}
    standing = determine_standing(
        publication_types=lists["pub_types"],
        corrections=json.loads(stored.pop("corrections") or "[]"),
        title=row["title"],
        abstract=row["abstract"],
    )
    quality = Lasting(*(stored.pop(name) for name in ("design", "journal_tier", "human")))
    return StoredDoc(**stored, **lists, standing=standing, quality=quality)


def read_articles(connection: sqlite3.Connection, query_key: str | None = None) -> Iterator[Article]:
    """Yield the whole records of the corpus, or of one query, by PMID, in constant memory."""
    last = -1
    while page := read_articles_after(connection, last, query_key):
        yield from page
        last = int(page[-1].pmid)


def read_articles_after(connection: sqlite3.Connection, pmid: int, query_key: str | None = None) -> list[Article]:
    """Return the next page of whole records after a PMID."""
    source = "documents" if query_key is None else "membership JOIN documents USING (pmid)"
    chosen = "" if query_key is None else "query_key = :query_key AND"
    rows = connection.execute(
        f"SELECT article, {', '.join(BESIDE)} FROM {source} WHERE {chosen} pmid > :after AND status = 'current' "
        f"ORDER BY pmid LIMIT {_PAGE}",
        {"after": pmid, "query_key": query_key},
    )
    return [_add_standing(Article.model_validate_json(unpack(*row))) for row in rows]


def _add_standing(article: Article) -> Article:
    """Add the publication status to a record that an earlier version stored without it."""
    standing = article.standing or determine_standing_of_article(article)
    update = {"standing": standing, "retraction_status": to_retraction_status(standing)}
    return article if standing is article.standing else article.model_copy(update=update)


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
    one = connection.execute(
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
        **dict(one),
    )


def count_graphs(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the number of vectors in the graph of each model."""
    return {row[0]: row[1] for row in connection.execute("SELECT model, passages FROM vector_graphs ORDER BY model")}


def read_log(connection: sqlite3.Connection, query_key: str, limit: int = 1_000) -> CheckpointLog:
    """Return the log of a checkpoint, latest entry first."""
    rows = connection.execute(
        "SELECT at, kind, old_edat, new_edat, note FROM checkpoint_log WHERE query_key = ? ORDER BY id DESC LIMIT ?",
        (query_key, limit),
    )
    return CheckpointLog(query_key=query_key, entries=[CheckpointMove.model_validate(dict(row)) for row in rows])


LISTS: Final = ("authors", "pub_types", "mesh", "keywords")
NUMBERS: Final = ("year", "version")
COLUMNS: Final = (
    *("pmid", "title", "abstract", "journal", "pdat", "edat", "lr", "doi", "pmcid", "retraction_status"),
    *(*LISTS, *NUMBERS, "first_seen_at", "last_seen_at"),
)
"""The columns of an exported row."""


def iter_rows(connection: sqlite3.Connection, query_key: str | None) -> Iterator[dict[str, Any]]:
    """Yield the records of the corpus, or of one query, by PMID."""
    source = "documents" if query_key is None else "membership JOIN documents USING (pmid)"
    chosen = "" if query_key is None else "query_key = :key AND"
    found = connection.execute(
        f"SELECT {', '.join(COLUMNS)} FROM {source} WHERE {chosen} status = 'current' ORDER BY pmid",
        {"key": query_key},
    )
    for row in found:
        yield {name: json.loads(row[name]) if name in LISTS else row[name] for name in COLUMNS}


# Differences ---------------------------------------------------------------------------------------------------------

_COMPARED: Final = ("title", "abstract", "journal", "pub_types", "pdat", "pmcid", "retraction_status", "lr")


def read_last_sync(connection: sqlite3.Connection, query_key: str) -> str:
    """Return the start of the last sync of a query, whether it succeeded or not."""
    row = connection.execute(
        "SELECT started_at FROM jobs WHERE query_key = ? ORDER BY rowid DESC LIMIT 1", (query_key,)
    ).fetchone()
    return str(row[0]) if row else str(None)


def compute_diff(connection: sqlite3.Connection, query_key: str, since: str) -> CorpusDiff:
    """List the records of a query that were added or changed since a time.

    A record that another query had already fetched counts as added when this query first finds it.
    """
    moment = since.removesuffix("Z")  # sorts before every fraction of its second
    lists: dict[Change, list[Difference]] = {"added": [], "revised": [], "retracted": [], "deleted": []}
    rows = connection.execute(
        """
        SELECT m.pmid, m.added_at, d.version, d.status, d.first_seen_at,
               (SELECT max(version) FROM versions WHERE pmid = m.pmid AND seen_at < :since) AS before
        FROM membership AS m JOIN documents AS d USING (pmid)
        WHERE m.query_key = :key
          AND (m.added_at >= :since OR EXISTS (SELECT 1 FROM versions WHERE pmid = m.pmid AND seen_at >= :since))
        ORDER BY m.pmid
        """,
        {"key": query_key, "since": moment},
    ).fetchall()
    for row in rows:
        found = _build_difference(connection, row, moment, is_new=row["added_at"] >= moment)
        if found is not None:
            lists[found.change].append(found)
    return CorpusDiff(query_key=query_key, since=since, **lists)


def _verify(row: sqlite3.Row) -> None:
    """Compare the content of a record with its hash.

    Raises:
        sqlite3.DatabaseError: they differ, because bytes of the file were changed.
    """
    texts = {name: row[name] for name in ("title", "abstract", "journal", "pdat", "pmcid")}
    try:
        is_whole = hash_content(pub_types=json.loads(row["pub_types"]), **texts) == row["content_hash"]
    except TypeError:  # damage turned a text into bytes or a number
        is_whole = False
    if not is_whole:
        raise DamagedData(f"malformed record: the content of PMID {row['pmid']}")


def _build_difference(
    connection: sqlite3.Connection, row: sqlite3.Row, since: str, *, is_new: bool
) -> Difference | None:
    versions = connection.execute(
        "SELECT * FROM versions WHERE pmid = ? AND version >= ? ORDER BY version", (row["pmid"], row["before"] or 1)
    ).fetchall()
    if not versions:
        raise DamagedData(f"no such row: a version of PMID {row['pmid']}")
    for version in (versions[0], versions[-1]):
        _verify(version)
    if not all(map(is_stamp, (row["added_at"], row["first_seen_at"], *(version["seen_at"] for version in versions)))):
        raise DamagedData(f"malformed record: a time of PMID {row['pmid']}")
    last, recent = versions[-1], [version for version in versions if version["seen_at"] >= since]
    old = versions[0] if row["before"] is not None else None
    if last["change"] == "deleted":
        if not recent or (is_new and old is None):
            return None  # deleted before this query found it, or added and deleted in between
        change: Change = "deleted"
    elif is_new:
        change = "added"
    elif any(version["change"] == "retracted" for version in recent) and last["retraction_status"] == "retracted":
        change = "retracted"
    else:
        change = "revised" if old is not None and old["change"] != "deleted" else "added"
    compared = old is not None and change in ("revised", "retracted")
    return Difference(
        pmid=str(row["pmid"]),
        change=change,
        title=last["title"],
        from_version=old["version"] if old is not None and not is_new else None,
        to_version=last["version"],
        changed=[name for name in _COMPARED if old is not None and old[name] != last[name]] if compared else [],
        retraction_status=last["retraction_status"],
        seen_at=recent[-1]["seen_at"] if recent else row["added_at"],
    )


# For a sync ----------------------------------------------------------------------------------------------------------


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
    found = connection.execute("SELECT 1 FROM membership WHERE query_key = ? LIMIT 1", (query_key,)).fetchone()
    return found is not None


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
