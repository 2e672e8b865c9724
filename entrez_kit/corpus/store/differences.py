"""The changes of a corpus since a time."""

import sqlite3
from typing import Final, Literal

from entrez_kit.base.sqlite_failures import DamagedData
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.corpus.store.reading import verify_content
from entrez_kit.corpus.times import is_stamp

Change = Literal["added", "revised", "retracted", "deleted"]
_COMPARED: Final = ("title", "abstract", "journal", "pub_types", "pdat", "pmcid", "retraction_status", "lr")


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


def read_last_sync(connection: sqlite3.Connection, query_key: str) -> str | None:
    """Return the start of the last sync of a query, whether it succeeded or not; None before the first one."""
    row = connection.execute(
        "SELECT started_at FROM jobs WHERE query_key = ? ORDER BY rowid DESC LIMIT 1", (query_key,)
    ).fetchone()
    return str(row[0]) if row else None


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
        difference = _build_difference(connection, row, moment, is_new=row["added_at"] >= moment)
        if difference is not None:
            lists[difference.change].append(difference)
    return CorpusDiff(query_key=query_key, since=since, **lists)


def _build_difference(
    connection: sqlite3.Connection, row: sqlite3.Row, since: str, *, is_new: bool
) -> Difference | None:
    versions = connection.execute(
        "SELECT * FROM versions WHERE pmid = ? AND version >= ? ORDER BY version", (row["pmid"], row["before"] or 1)
    ).fetchall()
    if not versions:
        raise DamagedData(f"no such row: a version of PMID {row['pmid']}")
    for version in (versions[0], versions[-1]):
        verify_content(version)
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
