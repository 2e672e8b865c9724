"""Vectors of the corpus's passages: making those that are missing, and finding those nearest to a query.

They lie in the table ``vectors``, one a passage and model. A search compares the query with all of them, block by
block: exact, in constant memory, and fast enough for what fits on one machine.
"""

import heapq
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from entrez_kit import tracing
from entrez_kit.corpus.embeddings import BATCH, Embedder, embedder_of
from entrez_kit.corpus.search.ranking import Candidate
from entrez_kit.errors import LocalEmbeddingsError
from entrez_kit.services import Services
from entrez_kit.wording import Wording, run

if TYPE_CHECKING:
    import numpy as np

    from entrez_kit.corpus.store.store import Store

BLOCK: Final = 4_096
"""Vectors compared at once."""


class Near(NamedTuple):
    """A passage near a query; ``sim`` is the cosine similarity."""

    pmid: int
    uuid: str
    sim: float


def with_meaning(
    services: Services, query: str, by_words: Sequence[Candidate], wanted: int, corpus: str | None
) -> tuple[list[Candidate], int]:
    """Add what is near in meaning to what was found by words, and the similarity of what words alone had found.

    Returns also how many passages have no vector yet.

    Raises:
        NotConfigured: the provider has no key.
        EmbeddingsError: the provider failed.
        LocalEmbeddingsError: the corpus has no vectors of this model.
    """
    embedder = embedder_of(services.settings)
    assert embedder is not None
    found = {candidate.pmid: candidate for candidate in by_words}
    with services.corpus.reading() as connection:
        dim = check_model(connection, embedder.name)
    if dim is None:
        return list(found.values()), 0  # an empty corpus
    vector = next(embedder.matrices([query]))[0]  # outside the transaction: a provider may take its time
    if len(vector) != dim:
        raise dimension_changed(embedder.name, dim, len(vector))
    with services.corpus.reading() as connection:
        lacking = missing(connection, embedder.name)
        for near in nearest(connection, embedder.name, vector, wanted, corpus=corpus, also=list(found)):
            candidate = found.setdefault(near.pmid, Candidate(near.pmid))
            candidate.uuid, candidate.sim = near.uuid, near.sim
    return list(found.values()), lacking


def check_model(connection: sqlite3.Connection, model: str) -> int | None:
    """Return the dimension of the vectors that the corpus has of a model; None for a corpus without passages.

    Raises:
        LocalEmbeddingsError: it has none of this model; the hint says what to run.
    """
    found = dimension(connection, model)
    if found is not None:
        return found
    lacking = missing(connection, model)
    if not lacking:
        return None
    others = models(connection)
    kept = f" It has vectors of {', '.join(others)}." if others else ""
    raise LocalEmbeddingsError(
        f"The corpus has no vectors of {model} for its {lacking:,} passages.{kept}",
        details={"reason": "vectors_missing", "model": model, "missing_vectors": lacking, "models": others},
    )


def missing(connection: sqlite3.Connection, model: str) -> int:
    """Count the passages without a vector of a model."""
    row = connection.execute(
        "SELECT (SELECT count(*) FROM chunks) - (SELECT count(*) FROM vectors WHERE model = ?)", (model,)
    ).fetchone()
    return int(row[0])


def models(connection: sqlite3.Connection) -> list[str]:
    """Return the models that the corpus has vectors of."""
    return [row[0] for row in connection.execute("SELECT DISTINCT model FROM vectors ORDER BY model")]


def dimension(connection: sqlite3.Connection, model: str) -> int | None:
    """Return the dimension of the vectors of a model, or None where there are none."""
    row = connection.execute("SELECT dim FROM vectors WHERE model = ? LIMIT 1", (model,)).fetchone()
    return int(row[0]) if row else None


def dimension_changed(model: str, before: int, now: int) -> LocalEmbeddingsError:
    """Return the error for a model that is not what it was, though its name is."""
    return LocalEmbeddingsError(
        f"{model} now has {now} dimensions, the corpus's vectors have {before}.",
        recovery_hint=Wording(
            run("corpus reindex --anew", "Ask whoever runs the server to make all vectors anew"), "."
        ),
        details={"reason": "dimension_changed", "model": model, "dim": now, "stored_dim": before},
    )


def embed_missing(store: "Store", embedder: Embedder, *, anew: bool = False) -> int:
    """Make the vectors that passages lack, batch by batch; return how many were made. Can be interrupted and resumed.

    Args:
        store: the corpus.
        embedder: the provider.
        anew: drop the vectors of every other model when done.

    Raises:
        EmbeddingsError: the provider failed; what was made before is kept.
        LocalEmbeddingsError: vectors of this model are there already and have another dimension.
        StoreError: the corpus cannot be written.
    """
    with store.reading() as connection:
        total = missing(connection, embedder.name)
        known = dimension(connection, embedder.name)
    done, last = 0, -1
    while True:
        with store.reading() as connection:
            rows = connection.execute(
                "SELECT c.id, c.text FROM chunks AS c WHERE c.id > ? AND NOT EXISTS "
                "(SELECT 1 FROM vectors AS v WHERE v.chunk_id = c.id AND v.model = ?) ORDER BY c.id LIMIT ?",
                (last, embedder.name, BATCH),
            ).fetchall()
        if not rows and last < 0:
            break
        last = rows[-1]["id"] if rows else -1  # once more from the beginning: a sync may have changed passages there
        if not rows:
            continue
        matrix = next(embedder.matrices(row["text"] for row in rows))
        if known is not None and known != matrix.shape[1]:
            raise dimension_changed(embedder.name, known, matrix.shape[1])
        known = matrix.shape[1]
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
    import numpy as np

    wanted = frozenset(also)
    listed = np.fromiter(wanted, dtype=np.int64, count=len(wanted))
    asked: dict[int, _Passage] = {}
    best: dict[int, _Passage] = {}
    bar = -2.0
    for chunks, pmids, matrix in _blocks(connection, model, len(vector), corpus):
        sims = matrix @ vector
        looked_at = np.flatnonzero((sims > bar) | np.isin(pmids, listed)) if len(listed) else np.flatnonzero(sims > bar)
        for place in looked_at.tolist():
            passage = _Passage(int(pmids[place]), int(chunks[place]), float(sims[place]))
            if passage.pmid in wanted:
                _keep_better(asked, passage)
            if passage.sim > bar:
                _keep_better(best, passage)
        if len(best) > 2 * limit:  # what is not among the leading ones now never will be by this passage
            best = {passage.pmid: passage for passage in _leading(best, limit)}
            bar = min(passage.sim for passage in best.values())
    found = {passage.pmid: passage for passage in _leading(best, limit)} | asked
    uuids = _uuids(connection, [passage.chunk for passage in found.values()])
    return [Near(passage.pmid, uuids[passage.chunk], passage.sim) for passage in found.values()]


class _Passage(NamedTuple):
    pmid: int
    chunk: int
    sim: float


def _keep_better(found: dict[int, _Passage], passage: _Passage) -> None:
    known = found.get(passage.pmid)
    if known is None or passage.sim > known.sim:
        found[passage.pmid] = passage


def _leading(found: Mapping[int, _Passage], limit: int) -> list[_Passage]:
    return heapq.nsmallest(limit, found.values(), key=lambda passage: (-passage.sim, passage.pmid))


def _uuids(connection: sqlite3.Connection, chunks: Sequence[int]) -> dict[int, str]:
    rows = connection.execute(
        "SELECT id, uuid FROM chunks WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(chunks)),)
    )
    return {row["id"]: row["uuid"] for row in rows}


def _blocks(
    connection: sqlite3.Connection, model: str, dim: int, corpus: str | None
) -> "Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]":
    """Yield the numbers of passages, those of their records, and their vectors as the rows of a matrix."""
    import numpy as np

    among = "" if corpus is None else "JOIN membership AS m ON m.pmid = c.pmid AND m.query_key = :corpus"
    values: Mapping[str, object] = {"model": model, "dim": dim, "corpus": corpus}
    rows = connection.execute(
        f"""
        SELECT v.chunk_id, c.pmid, v.vector FROM vectors AS v JOIN chunks AS c ON c.id = v.chunk_id {among}
        WHERE v.model = :model AND v.dim = :dim
        """,
        values,
    )
    while block := rows.fetchmany(BLOCK):
        matrix = np.frombuffer(b"".join(row[2] for row in block), dtype="<f4").reshape(len(block), dim)
        yield np.array([row[0] for row in block]), np.array([row[1] for row in block]), matrix
