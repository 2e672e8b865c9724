"""Vectors of the corpus's passages: making those that are missing, and finding those nearest to a query.

They lie in the table ``vectors``, one a passage and model. A search compares the query with all of them, block by
block: exact, in constant memory, and fast enough for what fits on one machine.
"""

import heapq
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from entrez_kit import tracing
from entrez_kit.corpus.embeddings import BATCH, Embedder, embedder_of
from entrez_kit.corpus.search import Candidate
from entrez_kit.errors import LocalEmbeddingsError
from entrez_kit.services import Services

if TYPE_CHECKING:
    import numpy as np

    from entrez_kit.corpus.store import Store

BLOCK: Final = 4_096
"""Vectors compared at once."""


class Near(NamedTuple):
    """A passage near a query; ``sim`` is the cosine similarity."""

    pmid: int
    uuid: str
    sim: float


def with_meaning(
    services: Services, query: str, by_words: Sequence[Candidate], wanted: int, corpus: str | None
) -> list[Candidate]:
    """Add what is near in meaning to what was found by words, and the similarity of what words alone had found.

    Raises:
        NotConfigured: the provider has no key.
        EmbeddingsError: the provider failed.
        LocalEmbeddingsError: the corpus has no vectors of this model.
    """
    embedder = embedder_of(services.settings)
    assert embedder is not None
    with services.corpus.reading() as connection:
        check_model(connection, embedder.name)
        found = {candidate.pmid: candidate for candidate in by_words}
        if not _has_vectors(connection, embedder.name):
            return list(found.values())  # an empty corpus
        vector = next(embedder.matrices([query]))[0]
        for near in nearest(connection, embedder.name, vector, wanted, corpus=corpus, also=list(found)):
            candidate = found.setdefault(near.pmid, Candidate(near.pmid))
            candidate.uuid, candidate.sim = near.uuid, near.sim
    return list(found.values())


def check_model(connection: sqlite3.Connection, model: str) -> None:
    """Make sure that the corpus has vectors of this model for all its passages.

    Raises:
        LocalEmbeddingsError: they are of another model, or some are missing; the hint says what to run.
    """
    lacking = missing(connection, model)
    if not lacking:
        return
    others = [
        row[0] for row in connection.execute("SELECT DISTINCT model FROM vectors WHERE model <> ? ORDER BY 1", (model,))
    ]
    kept = f" It has vectors of {', '.join(others)}." if others else ""
    raise LocalEmbeddingsError(
        f"The corpus lacks vectors of {model} for {lacking:,} passages.{kept}",
        recovery_hint="Run `entrez-kit corpus reindex`, or search without embeddings (ENTREZ_KIT_EMBEDDINGS=none).",
        details={"reason": "vectors_missing", "model": model, "missing_vectors": lacking, "models": others},
    )


def missing(connection: sqlite3.Connection, model: str) -> int:
    """Count the passages without a vector of a model."""
    row = connection.execute(
        "SELECT count(*) FROM chunks AS c WHERE NOT EXISTS "
        "(SELECT 1 FROM vectors AS v WHERE v.chunk_id = c.id AND v.model = ?)",
        (model,),
    ).fetchone()
    return int(row[0])


def _has_vectors(connection: sqlite3.Connection, model: str) -> bool:
    return connection.execute("SELECT 1 FROM vectors WHERE model = ? LIMIT 1", (model,)).fetchone() is not None


def embed_missing(
    store: "Store", embedder: Embedder, progress: Callable[[int, int], None] | None = None, *, anew: bool = False
) -> int:
    """Make the vectors that passages lack, batch by batch; return how many were made. Can be interrupted and resumed.

    Args:
        store: the corpus.
        embedder: the provider.
        progress: called with the number made and the number to make.
        anew: drop the vectors of every other model when done.

    Raises:
        EmbeddingsError: the provider failed; what was made before is kept.
        LocalEmbeddingsError: vectors of this model are there already and have another dimension.
        StoreError: the corpus cannot be written.
    """
    with store.reading() as connection:
        total = missing(connection, embedder.name)
        known = connection.execute("SELECT dim FROM vectors WHERE model = ? LIMIT 1", (embedder.name,)).fetchone()
    done = 0
    while True:
        with store.reading() as connection:
            rows = connection.execute(
                "SELECT c.id, c.text FROM chunks AS c WHERE NOT EXISTS "
                "(SELECT 1 FROM vectors AS v WHERE v.chunk_id = c.id AND v.model = ?) ORDER BY c.id LIMIT ?",
                (embedder.name, BATCH),
            ).fetchall()
        if not rows:
            break
        matrix = next(embedder.matrices(row["text"] for row in rows))
        if known is not None and known[0] != matrix.shape[1]:
            raise LocalEmbeddingsError(
                f"{embedder.name} now has {matrix.shape[1]} dimensions, the corpus's vectors have {known[0]}.",
                recovery_hint="Run `entrez-kit corpus reindex --anew`.",
                details={"reason": "dimension_changed", "model": embedder.name},
            )
        with store.writing() as connection:
            connection.executemany(
                # A sync may have replaced a passage while its vector was made.
                "INSERT OR REPLACE INTO vectors (chunk_id, model, dim, vector) "
                "SELECT id, ?, ?, ? FROM chunks WHERE id = ? AND text = ?",
                [
                    (embedder.name, matrix.shape[1], vector.astype("<f4").tobytes(), row["id"], row["text"])
                    for row, vector in zip(rows, matrix, strict=True)
                ],
            )
        done += len(rows)
        tracing.step(done, max(total, done))
        if progress is not None:
            progress(done, max(total, done))
    if anew:
        with store.writing() as connection:
            connection.execute("DELETE FROM vectors WHERE model <> ?", (embedder.name,))
    return done


def forget(store: "Store", model: str) -> None:
    """Drop the vectors of a model."""
    with store.writing() as connection:
        connection.execute("DELETE FROM vectors WHERE model = ?", (model,))


def nearest(
    connection: sqlite3.Connection,
    model: str,
    vector: "np.ndarray",
    limit: int,
    *,
    corpus: str | None = None,
    also: Sequence[int] = (),
) -> list[Near]:
    """Return the passages nearest to a vector, one a record, best first, and those of the records in ``also``.

    Args:
        connection: reads the corpus.
        model: whose vectors to compare.
        vector: the query, of length 1.
        limit: most records.
        corpus: only records of this query.
        also: PMIDs of records whose similarity is wanted whatever it is.
    """
    wanted = frozenset(also)
    asked: dict[int, Near] = {}
    best: dict[int, Near] = {}
    bar = -2.0
    for pmids, uuids, matrix in _blocks(connection, model, len(vector), corpus):
        for pmid, uuid, sim in zip(pmids, uuids, (matrix @ vector).tolist(), strict=True):
            if pmid in wanted:
                _keep_better(asked, Near(pmid, uuid, sim))
            if sim > bar:
                _keep_better(best, Near(pmid, uuid, sim))
        if len(best) > 2 * limit:  # what is not among the leading ones now never will be by this passage
            best = {near.pmid: near for near in _leading(best, limit)}
            bar = min(near.sim for near in best.values())
    return list(({near.pmid: near for near in _leading(best, limit)} | asked).values())


def _keep_better(found: dict[int, Near], near: Near) -> None:
    known = found.get(near.pmid)
    if known is None or near.sim > known.sim:
        found[near.pmid] = near


def _leading(found: Mapping[int, Near], limit: int) -> list[Near]:
    return heapq.nsmallest(limit, found.values(), key=lambda near: (-near.sim, near.pmid))


def _blocks(
    connection: sqlite3.Connection, model: str, dim: int, corpus: str | None
) -> "Iterator[tuple[list[int], list[str], np.ndarray]]":
    import numpy as np

    among = "" if corpus is None else "JOIN membership AS m ON m.pmid = c.pmid AND m.query_key = :corpus"
    values: Mapping[str, object] = {"model": model, "dim": dim, "corpus": corpus}
    rows = connection.execute(
        f"""
        SELECT c.pmid, c.uuid, v.vector FROM vectors AS v JOIN chunks AS c ON c.id = v.chunk_id {among}
        WHERE v.model = :model AND v.dim = :dim
        """,
        values,
    )
    while block := rows.fetchmany(BLOCK):
        matrix = np.frombuffer(b"".join(row["vector"] for row in block), dtype="<f4").reshape(len(block), dim)
        yield [row["pmid"] for row in block], [row["uuid"] for row in block], matrix
