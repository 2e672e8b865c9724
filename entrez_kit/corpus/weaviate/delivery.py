"""Delivery of changed passages to a Weaviate server.

The corpus stays in its file. Each change of a passage adds an entry to the table ``outbox`` in the same transaction.
The entry is removed when the server has stored the passage, so a server that is down receives it later. An entry only
marks a passage as changed; the current passage is sent. So the order and number of deliveries do not matter.

The server does not store which query has found a record: the corpus knows it, and a record need not be sent again if
another query finds it.
"""

import json
import sqlite3
from contextlib import AbstractContextManager
from datetime import date
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from entrez_kit.base.errors import EntrezKitError, LocalIndexError, VectorIndexError
from entrez_kit.base.frontend_text import REINDEX, FrontendText, PerFrontend, Text, format_count
from entrez_kit.base.identifiers import PUBMED
from entrez_kit.base.progress import report_progress
from entrez_kit.corpus.embeddings import Embedder, create_embedder
from entrez_kit.corpus.models import ClosedResult
from entrez_kit.corpus.quality import Lasting, score_record
from entrez_kit.corpus.search import vectors
from entrez_kit.corpus.store import store_of
from entrez_kit.corpus.store.database import lock_corpus
from entrez_kit.corpus.times import stamp
from entrez_kit.corpus.weaviate.client import read_server
from entrez_kit.corpus.weaviate.collection import BATCH, WeaviateIndex
from entrez_kit.pubmed.standing import RETRACTED
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.corpus.store.store import Store

MAX_REFUSED: Final = 3
"""The number of consecutive batches that the server may refuse completely before the delivery stops."""
NAMED: Final = 20
"""The maximum number of refused passages that an error lists."""


def count_undelivered(store: "Store") -> int:
    """Count the changed passages that the server has not received."""
    with store.reading() as connection:
        return int(connection.execute("SELECT count(*) FROM outbox").fetchone()[0])


class Delivered(ClosedResult):
    """The result of a delivery: passages written, deleted and still waiting."""

    collection: str
    written: int
    deleted: int
    waiting: int


def deliver_changes(services: Services) -> Delivered:
    """Deliver the changes since the last delivery. Can be interrupted and run again without loss.

    If the collection does not exist, create it and deliver every passage.

    Raises:
        NotConfigured: no server is configured, or the embeddings provider has no key.
        VectorIndexError: the server does not answer; passages already stored are not sent again.
        LocalIndexError: the collection cannot be used for this corpus.
        LocalEmbeddingsError: the corpus has no vectors of the configured model.
        StoreError: another process is delivering, or the corpus cannot be written.
    """
    settings, store = services.settings, store_of(services)
    read_server(settings)
    with lock_delivery(store.path):
        if not count_undelivered(store):
            return Delivered(collection=WeaviateIndex(settings).name, written=0, deleted=0, waiting=0)
        with _open_index(services, create_embedder(settings)) as index:
            if not index.exists():
                _queue_everything(store)
            index.ensure_schema()
            return _deliver_outbox(store, index)


def rebuild(services: Services) -> Delivered:
    """Deliver every passage again, and delete passages that the corpus does not have; create missing vectors first.

    A collection with vectors of a different model, or from an older version, is recreated. After an interruption the
    next delivery continues.

    Raises:
        NotConfigured: no server is configured, or the embeddings provider has no key.
        VectorIndexError: the server does not answer.
        LocalIndexError: entrez-kit did not create the collection.
        EmbeddingsError: missing vectors could not be created.
        StoreError: another process is delivering, or the corpus cannot be written.
    """
    settings, store = services.settings, store_of(services)
    read_server(settings)
    embedder = create_embedder(settings)
    with lock_delivery(store.path):
        if embedder is not None:
            vectors.embed_missing(store, embedder)
        with _open_index(services, embedder) as index:
            if index.exists():
                try:
                    index.check(writing=True)
                except LocalIndexError as exc:
                    if exc.reason not in ("model_changed", "schema_differs"):
                        raise
                    index.drop()
            _queue_everything(store)
            index.ensure_schema()
            done = _deliver_outbox(store, index)
            done.deleted += _remove_stale(store, index)
            return done


def deliver_after_sync(services: Services) -> Text | None:
    """Deliver the changes of a sync; return a warning if some could not be delivered.

    An error here does not affect the corpus; undelivered passages wait for the next delivery.
    """
    try:
        problem = deliver_changes(services).missing_error()
    except EntrezKitError as exc:
        problem = exc
    if problem is None:
        return None
    hint = problem.hint_text
    sentence = f"Weaviate did not receive all changes; the next sync tries again: {problem.message}"
    return FrontendText(sentence, " ", PerFrontend(hint, "") if isinstance(hint, FrontendText) else hint)


def _deliver_outbox(store: "Store", index: WeaviateIndex) -> Delivered:
    """Deliver the entries of the outbox in order; refused entries stay there."""
    result = Delivered(collection=index.name, written=0, deleted=0, waiting=0)
    total, today, errors = count_undelivered(store), store.clock().date(), dict[str, str]()
    last, refused_in_a_row = 0, 0
    while refused_in_a_row < MAX_REFUSED and (rows := _read_entries_after(store, index, last)):
        last = rows[-1]["id"]
        deleted = index.delete([row["uuid"] for row in rows if row["pmid"] is None])
        written = index.upsert_chunks(_build_object(row, today) for row in rows if row["pmid"] is not None)
        accepted = {*deleted.done, *written.done}
        with store.writing() as connection:
            # A passage that has changed meanwhile has a new entry with a different id.
            connection.executemany(
                "DELETE FROM outbox WHERE id = ?", [(r["id"],) for r in rows if r["uuid"] in accepted]
            )
        result.written += len(written.done)
        result.deleted += len(deleted.done)
        errors |= deleted.errors | written.errors
        refused_in_a_row = 0 if accepted else refused_in_a_row + 1
        done = result.written + result.deleted + len(errors)
        report_progress(done, max(done, total))
    result.waiting = count_undelivered(store)
    if errors:
        result.set_missing_error(_build_missing_error(index, errors, result.waiting))
    return result


def _read_entries_after(store: "Store", index: WeaviateIndex, last: int) -> list[sqlite3.Row]:
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


def _build_missing_error(index: WeaviateIndex, errors: dict[str, str], waiting: int) -> VectorIndexError:
    first, number = next(iter(errors.values())), len(errors)
    missing = "it has no vector" in errors.values()
    kind = LocalIndexError if missing else VectorIndexError
    return kind(
        f"{index.server.name} refused {format_count(number, 'passage')} ({first}).",
        recovery_hint=FrontendText(REINDEX, " to create the missing vectors.") if missing else None,
        details={
            "reason": "vectors_missing" if missing else "passages_refused",
            "partial": True,
            "waiting": waiting,
            "refused": dict(islice(errors.items(), NAMED)),
        },
    )


def _build_object(row: sqlite3.Row, today: date) -> dict[str, Any]:
    """Return a passage in the form that the index stores."""
    import numpy as np

    parts, retracted = Lasting(row["design"], row["journal_tier"], row["human"]), row["retraction_status"] == RETRACTED
    return {
        **{name: row[name] for name in ("chunk_id", "text", "journal", "year", "edat", "lr")},
        "pmid": str(row["pmid"]),
        "vector": row["vector"] and np.frombuffer(row["vector"], dtype="<f4").tolist(),
        "pub_types": json.loads(row["pub_types"]),
        "quality_total": score_record(parts, row["pdat"], today, retracted=retracted).total,
        "source_url": f"{PUBMED}{row['pmid']}/",
    }


def _open_index(services: Services, embedder: Embedder | None) -> WeaviateIndex:
    """Return the index for the corpus's vectors of a model.

    Raises:
        LocalEmbeddingsError: the corpus has no vectors of this model.
    """
    dim = None
    if embedder is not None:
        with store_of(services).reading() as connection:
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
    """Delete passages from the index that the corpus does not have; return their number."""
    removed, uuids = 0, index.yield_uuids()
    while page := list(islice(uuids, 1_000)):
        with store.reading() as connection:
            rows = connection.execute(
                "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT uuid FROM chunks)", (json.dumps(page),)
            )
            stale = [row[0] for row in rows]
        removed += len(index.delete(stale).done)
    return removed


def lock_delivery(path: Path) -> AbstractContextManager[object]:
    """Hold the delivery lock, so that an older state of a passage never replaces a newer one. See ``lock_corpus``."""
    return lock_corpus(
        path,
        "weaviate",
        "is being delivered to Weaviate by another process",
        "delivery_running",
        "Wait until it has ended. It delivers all waiting passages.",
    )
