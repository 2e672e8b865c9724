"""Vectors of the corpus's passages: making those that are missing, and finding those nearest to a query.

They lie in the table ``vectors``, one a passage and model. A search compares the query with all of them as the index
has them, with 8 bits a dimension and a bound on the error, and then with those themselves that can be among the nearest
by that bound: what it finds is exact. A search narrowed to few records compares their vectors alone. Of very many
vectors a graph says which to compare (see ``neighbours``): what is found then has the same numbers, and is nearly all.
"""

import json
import math
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from entrez_kit.base import tracing
from entrez_kit.base.errors import LocalEmbeddingsError, StoreError
from entrez_kit.base.wording import Wording, run
from entrez_kit.corpus.embeddings import BATCH, Embedder, embedder_of
from entrez_kit.corpus.search import index, neighbours, vector_index
from entrez_kit.corpus.search.quantized import Floats, rounding
from entrez_kit.corpus.search.ranking import Candidate, together
from entrez_kit.corpus.store import reading
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.corpus.store.store import Store


LOOKED_UP: Final = 50
"""So many vectors are compared block by block while one is looked up by itself."""
MOST_CHOSEN: Final = 0.6
"""To compare a larger share of a block takes as long as to compare all of it."""
PASSAGES_PER_RECORD: Final = 4
"""So many passages the graph is asked for, to have one of each record that is wanted and some to choose from."""


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
    embedder = embedder_of(services.settings, queries=True)
    assert embedder is not None
    with suppress(StoreError):  # where nothing can be written, the search reads what is queued by itself
        services.corpus.index_vectors(vector_index.FEW, tracing.step)
    with services.corpus.reading() as connection:
        dim = check_model(connection, embedder.name)
    if dim is None:
        return [*by_words], 0  # an empty corpus
    vector = next(embedder.matrices([query]))[0]  # outside the transaction: a provider may take its time
    if len(vector) != dim:
        settings = services.settings
        if settings.embeddings_query_model is None:
            raise dimension_changed(embedder.name, dim, len(vector))
        raise LocalEmbeddingsError(
            f"{settings.embeddings_query_model} makes vectors of {len(vector)} dimensions, {settings.embeddings_model} "
            f"has made some of {dim}: they are no two encoders of one model.",
            recovery_hint="Correct ENTREZ_KIT_EMBEDDINGS_QUERY_MODEL, or unset it.",
            details={"reason": "encoders_differ", "dim": len(vector), "stored_dim": dim},
        )
    with services.corpus.reading() as connection:
        lacking = missing(connection, embedder.name)
        also = [candidate.pmid for candidate in by_words]
        near = nearest(connection, embedder.name, vector, wanted, corpus=corpus, also=also)
    return together(by_words, near), lacking


def check_model(connection: sqlite3.Connection, model: str) -> int | None:
    """Return the dimension of the vectors that the corpus has of a model; None for a corpus without passages.

    Raises:
        LocalEmbeddingsError: it has none of this model; the hint says what to run.
    """
    dims = vector_index.dimensions(connection)
    if model in dims:
        return dims[model]
    lacking = missing(connection, model)
    if not lacking:
        return None
    kept = f" It has vectors of {', '.join(dims)}." if dims else ""
    raise LocalEmbeddingsError(
        f"The corpus has no vectors of {model} for its {lacking:,} passages.{kept}",
        details={"reason": "vectors_missing", "model": model, "missing_vectors": lacking, "models": list(dims)},
    )


def missing(connection: sqlite3.Connection, model: str) -> int:
    """Count the passages without a vector of a model."""
    passages: int = connection.execute("SELECT count(*) FROM chunks").fetchone()[0]
    return passages - vector_index.count(connection, model)


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
        known = vector_index.dimensions(connection).get(embedder.name)
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
        store.index_vectors(vector_index.AT_ONCE)
        done += len(rows)
        tracing.step(done, max(total, done))
    if anew:
        with store.writing() as connection:
            for model in {*vector_index.dimensions(connection)} - {embedder.name}:
                vector_index.forget(connection, model)
    store.index_vectors()
    neighbours.keep_up(store, embedder.name)
    return done


def nearest(
    connection: sqlite3.Connection,
    model: str,
    vector: Floats,
    limit: int,
    *,
    corpus: str | None = None,
    also: Sequence[int] = (),
) -> list[Candidate]:
    """Return the passages nearest to a vector, one a record, best first, and those of the records in ``also``.

    Args:
        connection: reads the corpus.
        model: whose vectors to compare.
        vector: the query, of length 1 and of the model's dimension.
        limit: most records; at least 1.
        corpus: only records of this query.
        also: PMIDs of records whose similarity is wanted whatever it is.

    Raises:
        sqlite3.Error: the vectors or their index cannot be read, or are damaged.
    """
    try:
        return _nearest(connection, model, vector, limit, corpus, also)
    except (ValueError, LookupError) as exc:
        raise sqlite3.DatabaseError(f"malformed vector index: {exc}") from None


def _nearest(
    connection: sqlite3.Connection,
    model: str,
    vector: Floats,
    limit: int,
    corpus: str | None,
    also: Sequence[int],
    *,
    walk: bool = True,
) -> list[Candidate]:
    members = None if corpus is None else index.member_pmids(connection, corpus)
    passages = vector_index.indexed(connection, model)
    share = 1.0 if members is None else min(1.0, len(members) / max(1, index.records(connection)))
    graph = neighbours.graph_of(connection, model, len(vector)) if walk and passages >= reading.MANY else None
    asked = round(max(neighbours.FEWEST_ASKED, PASSAGES_PER_RECORD * limit) / max(share, 1 / (passages + 1)))
    if graph is not None and asked * LOOKED_UP > passages:
        graph = None
    leading, listed, looked_up = _Leading(limit), [*also], np.empty(0, dtype=np.int64)
    if members is not None and share * passages <= (passages / LOOKED_UP if graph is None else asked):
        listed += members.tolist()
    else:
        among = None
        if members is not None:  # by PMID, and no for all that are greater
            among = np.zeros(int(members.max(initial=0)) + 2, dtype=np.bool_)
            among[members] = True
        _compare(connection, model, vector, leading, among, graph.block if graph else 0)
        looked_up = _walked(connection, graph, vector, asked, members) if graph else looked_up
    chunks, pmids, sims = _exact(connection, model, vector, leading.passages(), listed, looked_up)
    order = np.lexsort((chunks, pmids, -sims))
    best = order[np.sort(np.unique(pmids[order], return_index=True)[1])]
    if graph is not None and len(best) < limit:
        return _nearest(connection, model, vector, limit, corpus, also, walk=False)
    best = best[(np.arange(len(best)) < limit) | np.isin(pmids[best], np.array(also, dtype=np.uint32))]
    wanted = (json.dumps(chunks[best].tolist()),)
    uuids = dict(connection.execute(f"SELECT id, uuid FROM chunks WHERE id {index.LISTED}", wanted))
    return [Candidate(int(pmids[place]), uuids[int(chunks[place])], sim=float(sims[place])) for place in best]


def _walked(
    connection: sqlite3.Connection,
    graph: neighbours.Graph,
    vector: Floats,
    asked: int,
    members: NDArray[np.uint32] | None,
) -> NDArray[np.int64]:
    """Return passages that the graph finds near, of the members only if there are any."""
    near = graph.near(vector, asked)
    if members is None:
        return near
    rows = connection.execute(f"SELECT id, pmid FROM chunks WHERE id {index.LISTED}", (json.dumps(near.tolist()),))
    known = np.array([tuple(row) for row in rows], dtype=np.int64).reshape(-1, 2)
    among: NDArray[np.int64] = known[np.isin(known[:, 1], members), 0]
    return among


def _compare(
    connection: sqlite3.Connection,
    model: str,
    vector: Floats,
    leading: "_Leading",
    among: NDArray[np.bool_] | None,
    after: int,
) -> None:
    """Compare the query with what is queued, and with all blocks that were written after one.

    Of a block of which fewer passages may be found no product is made for the others.
    """
    queued = vector_index.queued_of(connection, model)
    for part in vector_index.vectors_of(connection, model, queued):
        kept = None if among is None else among.take(part.pmids, mode="clip")
        leading.add(part.chunks, part.pmids, _products(part, vector), 0.0, kept)
    for block in vector_index.blocks(connection, model, len(vector), after):
        kept, chunks, pmids = block.kept, block.chunks, block.pmids
        if queued:
            kept = kept & np.isin(chunks, queued, invert=True)
        if among is not None:
            kept = kept & among.take(pmids, mode="clip")
        if np.count_nonzero(kept) > MOST_CHOSEN * len(chunks):
            leading.add(chunks, pmids, block.vectors.products(vector), block.vectors.bound, kept)
        else:
            rows = np.flatnonzero(kept)
            leading.add(chunks[rows], pmids[rows], block.vectors.products(vector, rows), block.vectors.bound)


class _Passages(NamedTuple):
    """Passages by the bounds of their similarity: ``sims`` less and plus ``errors``."""

    chunks: NDArray[np.int64]
    pmids: NDArray[np.uint32]
    sims: Floats
    errors: Floats

    def rows(self, rows: NDArray[np.integer] | NDArray[np.bool_] | slice) -> "_Passages":
        return _Passages._make(column[rows] for column in self)


class _Leading:
    """The passages that can be the best of one of the nearest records, as far as their bounds tell."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bar = -math.inf
        self._parts = [_Passages._make(np.empty(0, kind) for kind in (np.int64, np.uint32, np.float32, np.float32))]
        self._count, self._most = 0, vector_index.BLOCK

    def add(
        self,
        chunks: NDArray[np.int64],
        pmids: NDArray[np.uint32],
        sims: Floats,
        error: float,
        kept: NDArray[np.bool_] | None = None,
    ) -> None:
        """Take in passages, those that are kept where not all are."""
        rows = np.flatnonzero(sims >= self._bar - error)
        if kept is not None:
            rows = rows[kept[rows]]
        errors = np.full(len(rows), error, dtype=np.float32)
        self._parts.append(_Passages(chunks[rows], pmids[rows], sims[rows], errors))
        self._count += len(rows)
        if self._count > self._most:
            self._most = vector_index.BLOCK + 2 * len(self.passages().chunks)

    def passages(self) -> _Passages:
        """Return them, and leave out from now on what is below the last of as many records as are wanted."""
        found = _Passages._make(map(np.concatenate, zip(*self._parts, strict=True)))
        least = found.sims - found.errors
        order = np.argsort(-least)
        records = np.sort(np.unique(found.pmids[order], return_index=True)[1])
        if len(records) >= self._limit:
            self._bar = float(least[order[records[self._limit - 1]]])
            found = found.rows(found.sims + found.errors >= self._bar)
        self._parts, self._count = [found], len(found.chunks)
        return found


def _exact(
    connection: sqlite3.Connection,
    model: str,
    vector: Floats,
    leading: _Passages,
    pmids: Sequence[int],
    others: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.uint32], Floats]:
    """Compare the query with the vectors themselves of some passages, of those of some records, and of others.

    Raises:
        ValueError: a leading one is not there, or is another than the index says.
    """
    asked = connection.execute(f"SELECT id FROM chunks WHERE pmid {index.LISTED}", (json.dumps(pmids),))
    wanted = sorted({*leading.chunks.tolist(), *others.tolist(), *(row[0] for row in asked)})
    parts = [
        (part.chunks, part.pmids, _products(part, vector))
        for part in vector_index.vectors_of(connection, model, wanted)
    ]
    none = leading.rows(slice(0))
    chunks, found, sims = map(np.concatenate, zip(none[:3], *parts, strict=True))
    places = np.searchsorted(chunks, leading.chunks)
    if not np.isin(leading.chunks, chunks).all():
        raise ValueError("a passage without its vector")
    if (np.abs(sims[places] - leading.sims) > leading.errors + rounding(len(vector))).any():
        raise ValueError("a vector that is not as it was taken in")
    return chunks, found, sims


def _products(part: vector_index.Vectors, vector: Floats) -> Floats:
    if part.matrix.shape[1] != len(vector):
        raise ValueError(f"vectors of {part.matrix.shape[1]} dimensions where {len(vector)} are due")
    products = part.matrix.astype(np.float64) @ vector  # so that equal vectors have equal products
    return products.astype(np.float32)
