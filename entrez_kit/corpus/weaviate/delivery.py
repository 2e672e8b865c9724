"""The corpus in a Weaviate server: what has changed is delivered to it, and it is searched in place of the local index.

The corpus itself stays in its file. Every change of a passage leaves an entry in the table ``outbox``, in the same
transaction; an entry goes when the server has taken the passage, so that a server that is down is told later. An entry
says only that the server is behind: what is sent is the passage as it is now, so that it does not matter how often and
in which order entries are delivered.

Which query has found a record is not sent. The corpus knows it better than an index that may lag behind, and a record
that another query finds need not be sent again: a small corpus is asked for by its PMIDs, of a large one the server's
hits are sifted here.
"""

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import date
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError, LocalIndexError, VectorIndexError
from entrez_kit.base.wording import REINDEX, ByDoor, Wording
from entrez_kit.corpus.embeddings import Embedder, embedder_of
from entrez_kit.corpus.models import Reported
from entrez_kit.corpus.quality import Lasting, quality
from entrez_kit.corpus.search import vectors
from entrez_kit.corpus.search.ranking import Candidate
from entrez_kit.corpus.store.database import alone
from entrez_kit.corpus.times import stamp
from entrez_kit.corpus.weaviate.client import server_of
from entrez_kit.corpus.weaviate.collection import BATCH, MOST_HITS, SearchHit, WeaviateIndex
from entrez_kit.pubmed.standing import RETRACTED
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.corpus.store.store import Store

PASSAGES_PER_RECORD: Final = 3
"""So many passages are asked for to get one record, at first."""
GROWTH: Final = 4
MOST_NAMED: Final = 10_000
"""A corpus of so many records is asked for by its PMIDs."""
MOST_REFUSED: Final = 3
"""Batches of which the server takes nothing, before the rest is left for later."""
NAMED: Final = 20
"""So many refused passages are named in an error."""

Ask = Callable[[int], list[SearchHit]]


# Searching -----------------------------------------------------------------------------------------------------------


def candidates(services: Services, query: str, wanted: int, corpus: str | None) -> list[Candidate]:
    """Return the records that Weaviate finds, by words and, with embeddings, by meaning.

    Args:
        services: the corpus and the settings.
        query: what to look for.
        wanted: most records.
        corpus: only records of this query.

    Raises:
        NotConfigured: no server is set up.
        VectorIndexError: it does not answer.
        LocalIndexError: it has no collection for this corpus, or one of another model.
        EmbeddingsError: the query could not be embedded.
    """
    embedder, store = embedder_of(services.settings, queries=True), services.corpus
    with WeaviateIndex(services.settings, embedder) as index:
        index.check()
        records = _SearchedRecords.of(store, corpus)
        if records.pmids == []:
            return []
        return records.best(wanted, lambda limit: index.hybrid_search(query, limit, records.pmids))


class _SearchedRecords(NamedTuple):
    """The records among which is searched; ``pmids`` where they are few enough to be named."""

    store: "Store"
    corpus: str | None
    pmids: list[int] | None

    @classmethod
    def of(cls, store: "Store", corpus: str | None) -> "_SearchedRecords":
        if corpus is None:
            return cls(store, None, None)
        with store.reading() as connection:
            rows = connection.execute(
                "SELECT pmid FROM membership JOIN documents USING (pmid) WHERE query_key = ? AND status = 'current' "
                "LIMIT ?",
                (corpus, MOST_NAMED + 1),
            ).fetchall()
        return cls(store, corpus, [row[0] for row in rows] if len(rows) <= MOST_NAMED else None)

    def best(self, wanted: int, ask: Ask) -> list[Candidate]:
        """Return the leading records under their nearest passage, asking for more hits until there are enough."""
        limit = min(MOST_HITS, max(1, wanted * PASSAGES_PER_RECORD))
        while True:
            hits = ask(limit)
            found = _records_of(self._known(hits))
            if len(found) >= wanted or len(hits) < limit or limit == MOST_HITS:
                return found[:wanted]
            limit = min(MOST_HITS, limit * GROWTH)

    def _known(self, hits: Sequence[SearchHit]) -> list[SearchHit]:
        """Leave out what the corpus, or the query in question, does not have: the server may lag behind."""
        among = "" if self.corpus is None else "JOIN membership AS m ON m.pmid = c.pmid AND m.query_key = :corpus"
        with self.store.reading() as connection:
            rows = connection.execute(
                f"SELECT c.uuid FROM chunks AS c {among} WHERE c.uuid IN (SELECT value FROM json_each(:uuids))",
                {"corpus": self.corpus, "uuids": json.dumps([hit["uuid"] for hit in hits])},
            )
            known = {row[0] for row in rows}
        return [hit for hit in hits if hit["uuid"] in known]


def _records_of(hits: Sequence[SearchHit]) -> list[Candidate]:
    """Return the record of each hit once, with the highest numbers of its passages."""
    found: dict[int, Candidate] = {}
    for hit in hits:
        pmid, sim, bm25 = int(hit["pmid"]), hit.get("sim"), hit.get("bm25")
        record = found.setdefault(pmid, Candidate(pmid, hit["uuid"], sim, bm25, hit.get("quality")))
        if sim is not None and (record.sim is None or sim > record.sim):
            record.uuid, record.sim = hit["uuid"], sim
        record.bm25 = max(bm25 or 0.0, record.bm25 or 0.0) or None
    return list(found.values())


def count_undelivered(store: "Store") -> int:
    """Count the changed passages that the server has not received."""
    with store.reading() as connection:
        return int(connection.execute("SELECT count(*) FROM outbox").fetchone()[0])


# Delivering ----------------------------------------------------------------------------------------------------------


class Delivered(Reported):
    """What a Weaviate server was told: passages written and deleted, and how many it has yet to be told of."""

    collection: str
    written: int
    deleted: int
    waiting: int


def drain(services: Services) -> Delivered:
    """Deliver what has changed since last time. Can be interrupted and run again; nothing is lost by it.

    A collection that is not there is made, and then everything is delivered.

    Args:
        services: the corpus and the settings.

    Raises:
        NotConfigured: no server is set up, or the embeddings provider has no key.
        VectorIndexError: the server does not answer; what it took before is not sent again.
        LocalIndexError: the collection cannot be used for this corpus.
        LocalEmbeddingsError: the corpus has no vectors of the model in use.
        StoreError: another process is delivering, or the corpus cannot be written.
    """
    settings, store = services.settings, services.corpus
    server_of(settings)
    with _delivering(store.path):
        if not count_undelivered(store):
            return Delivered(collection=WeaviateIndex(settings).name, written=0, deleted=0, waiting=0)
        with _index_of(services, embedder_of(settings)) as index:
            if not index.exists():
                _queue_everything(store)
            index.ensure_schema()
            return _run(store, index)


def rebuild(services: Services) -> Delivered:
    """Deliver every passage anew and take out those the corpus does not have; vectors that are missing are made first.

    A collection whose vectors are of another model, or which an older version made, is made anew. After an interruption
    the next delivery goes on.

    Args:
        services: the corpus and the settings.

    Raises:
        NotConfigured: no server is set up, or the embeddings provider has no key.
        VectorIndexError: the server does not answer.
        LocalIndexError: the collection was not made by entrez-kit.
        EmbeddingsError: vectors were missing and could not be made.
        StoreError: another process is delivering, or the corpus cannot be written.
    """
    settings, store = services.settings, services.corpus
    server_of(settings)
    embedder = embedder_of(settings)
    with _delivering(store.path):
        if embedder is not None:
            vectors.embed_missing(store, embedder)
        with _index_of(services, embedder) as index:
            if index.exists():
                try:
                    index.check(writing=True)
                except LocalIndexError as exc:
                    if exc.reason not in ("model_changed", "schema_differs"):
                        raise
                    index.drop()
            _queue_everything(store)
            index.ensure_schema()
            done = _run(store, index)
            done.deleted += _remove_stale(store, index)
            return done


def deliver(services: Services) -> str | None:
    """Deliver what a sync has changed; return a warning where that did not work, or not for everything.

    The corpus is complete whatever happens here, and what was not delivered waits for the next time.
    """
    try:
        problem = drain(services).shortfall()
    except EntrezKitError as exc:
        problem = exc
    if problem is None:
        return None
    hint = problem.recovery_hint
    said = f"Weaviate was not told of everything, the next sync tries again: {problem.message}"
    return Wording(said, " ", ByDoor(hint, "") if isinstance(hint, Wording) else hint)


def _run(store: "Store", index: WeaviateIndex) -> Delivered:
    """Deliver entry after entry of the outbox; those that are refused stay where they are."""
    result = Delivered(collection=index.name, written=0, deleted=0, waiting=0)
    total, today, errors = count_undelivered(store), store.clock().date(), dict[str, str]()
    last, refused_in_a_row = 0, 0
    while refused_in_a_row < MOST_REFUSED and (rows := _entries_after(store, index, last)):
        last = rows[-1]["id"]
        gone = index.delete([row["uuid"] for row in rows if row["pmid"] is None])
        written = index.upsert_chunks(_chunk(row, today) for row in rows if row["pmid"] is not None)
        taken = {*gone.done, *written.done}
        with store.writing() as connection:
            # A passage that has changed meanwhile has a new entry, with another id.
            connection.executemany("DELETE FROM outbox WHERE id = ?", [(r["id"],) for r in rows if r["uuid"] in taken])
        result.written += len(written.done)
        result.deleted += len(gone.done)
        errors |= gone.errors | written.errors
        refused_in_a_row = 0 if taken else refused_in_a_row + 1
        done = result.written + result.deleted + len(errors)
        tracing.step(done, max(done, total))
    result.waiting = count_undelivered(store)
    if errors:
        result._shortfall = _shortfall(index, errors, result.waiting)
    return result


def _entries_after(store: "Store", index: WeaviateIndex, last: int) -> list[sqlite3.Row]:
    with store.reading() as connection:
        return connection.execute(
            """
            SELECT o.id, o.uuid, c.pmid, c.chunk_id, c.text, v.vector, d.journal, d.pub_types, d.year, d.edat,
                   d.lr, d.pdat, d.design, d.journal_tier, d.human, d.retraction_status
            FROM outbox AS o
            LEFT JOIN chunks AS c ON c.uuid = o.uuid
            LEFT JOIN documents AS d ON d.pmid = c.pmid
            LEFT JOIN vectors AS v ON v.chunk_id = c.id AND v.model = ?
            WHERE o.id > ? ORDER BY o.id LIMIT ?
            """,
            (index.vectors.model, last, BATCH),
        ).fetchall()


def _shortfall(index: WeaviateIndex, errors: dict[str, str], waiting: int) -> VectorIndexError:
    first, number = next(iter(errors.values())), len(errors)
    lacking = "it has no vector" in errors.values()
    kind = LocalIndexError if lacking else VectorIndexError
    return kind(
        f"{index.server.name} did not take {number:,} passage{'s' if number > 1 else ''} ({first}).",
        recovery_hint=Wording(REINDEX, " to make the vectors that are missing.") if lacking else None,
        details={
            "reason": "vectors_missing" if lacking else "passages_refused",
            "partial": True,
            "waiting": waiting,
            "refused": dict(islice(errors.items(), NAMED)),
        },
    )


def _chunk(row: sqlite3.Row, today: date) -> dict[str, Any]:
    """Return a passage as the index takes it."""
    import numpy as np

    parts, retracted = Lasting(row["design"], row["journal_tier"], row["human"]), row["retraction_status"] == RETRACTED
    return {
        **{name: row[name] for name in ("chunk_id", "text", "journal", "year", "edat", "lr")},
        "pmid": str(row["pmid"]),
        "vector": row["vector"] and np.frombuffer(row["vector"], dtype="<f4").tolist(),
        "pub_types": json.loads(row["pub_types"]),
        "quality_total": quality(parts, row["pdat"], today, retracted=retracted).total,
        "source_url": f"https://pubmed.ncbi.nlm.nih.gov/{row['pmid']}/",
    }


def _index_of(services: Services, embedder: Embedder | None) -> WeaviateIndex:
    """Return the index for the vectors that the corpus has.

    Raises:
        LocalEmbeddingsError: it has none of this model.
    """
    dim = None
    if embedder is not None:
        with services.corpus.reading() as connection:
            dim = vectors.check_model(connection, embedder.name)
    return WeaviateIndex(services.settings, embedder, dim=dim)


def _queue_everything(store: "Store") -> None:
    with store.writing() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO outbox (uuid, operation, queued_at) "
            "SELECT uuid, 'upsert', ? FROM chunks ORDER BY id",
            (stamp(store.clock()),),
        )


def _remove_stale(store: "Store", index: WeaviateIndex) -> int:
    """Take out of the index what the corpus does not have; return how many passages that were."""
    removed, held = 0, index.uuids()
    while page := list(islice(held, 1_000)):
        with store.reading() as connection:
            rows = connection.execute(
                "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT uuid FROM chunks)", (json.dumps(page),)
            )
            stale = [row[0] for row in rows]
        removed += len(index.delete(stale).done)
    return removed


def _delivering(path: Path) -> AbstractContextManager[None]:
    """Hold the right to deliver: an older state of a passage must not overtake a newer one. See ``alone``."""
    return alone(
        path,
        "weaviate",
        "is being delivered to Weaviate by another process",
        "delivery_running",
        "Wait until it has ended; it delivers everything that waits.",
    )
