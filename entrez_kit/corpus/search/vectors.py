"""Vectors of the corpus's passages: create missing ones, and find the nearest to a query.

The table ``vectors`` has one row per passage and model. A search compares the query with the 8-bit copies in the index,
which have a bound on their error, and then with the exact vectors that can be among the nearest: the result is exact. A
search within few records compares only their vectors. In a very large corpus a graph selects the vectors to compare
(see ``neighbours``); the similarities are exact, but a few of the nearest may be missing.
"""

import json
import math
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from entrez_kit.base.errors import LocalEmbeddingsError, StoreError
from entrez_kit.base.frontend_text import FrontendText, format_count, suggest_command
from entrez_kit.base.progress import report_progress
from entrez_kit.corpus.embeddings import BATCH, Embedder, create_embedder
from entrez_kit.corpus.search import index, neighbours, vector_index
from entrez_kit.corpus.search.quantized import Floats, bound_rounding
from entrez_kit.corpus.search.ranking import Candidate, merge
from entrez_kit.corpus.store import corpus_stats, store_of
from entrez_kit.corpus.store.database import DamagedIndex
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.corpus.store.store import Store


LOOKED_UP: Final = 50
"""The number of vectors that a scan by block compares in the time of one lookup."""
MAX_CHOSEN: Final = 0.6
"""If a larger share of a block is wanted, it is as fast to compare the whole block."""
PASSAGES_PER_RECORD: Final = 4
"""Passages requested from the graph per wanted record."""


def add_by_meaning(
    services: Services, query: str, by_words: Sequence[Candidate], limit: int, corpus: str | None
) -> tuple[list[Candidate], int]:
    """Add the records nearest in meaning to the records found by words, with similarities for all of them.

    Also return the number of passages without a vector.

    Raises:
        NotConfigured: the provider has no key.
        EmbeddingsError: the provider failed.
        LocalEmbeddingsError: the corpus has no vectors of this model.
    """
    embedder = create_embedder(services.settings, queries=True)
    assert embedder is not None
    with suppress(StoreError):  # if the corpus cannot be written, the search reads the queue
        store_of(services).index_vectors(vector_index.FEW, report_progress)
    with store_of(services).reading() as connection:
        dim = check_model(connection, embedder.name)
    if dim is None:
        return [*by_words], 0  # an empty corpus
    vector = next(embedder.yield_matrices([query]))[0]  # outside the transaction, because a provider may be slow
    if len(vector) != dim:
        settings = services.settings
        if settings.embeddings_query_model is None:
            raise dimension_changed_error(embedder.name, dim, len(vector))
        raise LocalEmbeddingsError(
            f"{settings.embeddings_query_model} returns vectors of {format_count(len(vector), 'dimension')}, "
            f"but those of {settings.embeddings_model} have {dim}. The two encoders do not belong together.",
            recovery_hint="Correct ENTREZ_KIT_EMBEDDINGS_QUERY_MODEL, or unset it.",
            details={"reason": "encoders_differ", "dim": len(vector), "stored_dim": dim},
        )
    with store_of(services).reading() as connection:
        missing = count_missing(connection, embedder.name)
        pmids = [candidate.pmid for candidate in by_words]
        by_meaning = find_nearest(connection, embedder.name, vector, limit, corpus=corpus, also=pmids)
    return merge(by_words, by_meaning), missing


def check_model(connection: sqlite3.Connection, model: str) -> int | None:
    """Return the dimension of the corpus's vectors of a model; None for a corpus without passages.

    Raises:
        LocalEmbeddingsError: the corpus has no vectors of this model; the hint names the command to run.
    """
    dims = vector_index.read_dimensions(connection)
    if model in dims:
        return dims[model]
    missing = count_missing(connection, model)
    if not missing:
        return None
    kept = f" It has vectors of {', '.join(dims)}." if dims else ""
    raise LocalEmbeddingsError(
        f"The corpus has no vectors of {model} for its {format_count(missing, 'passage')}.{kept}",
        details={"reason": "vectors_missing", "model": model, "missing_vectors": missing, "models": list(dims)},
    )


def count_missing(connection: sqlite3.Connection, model: str) -> int:
    """Count the passages without a vector of a model."""
    passages: int = connection.execute("SELECT count(*) FROM chunks").fetchone()[0]
    return passages - vector_index.count(connection, model)


def dimension_changed_error(model: str, before: int, now: int) -> LocalEmbeddingsError:
    """Return the error for a model that changed its dimension but not its name."""
    return LocalEmbeddingsError(
        f"{model} now has {format_count(now, 'dimension')}, but the corpus's vectors have {before}.",
        recovery_hint=FrontendText(
            suggest_command("corpus reindex --anew", "Ask the administrator of the server to recreate all vectors"), "."
        ),
        details={"reason": "dimension_changed", "model": model, "dim": now, "stored_dim": before},
    )


def embed_missing(store: "Store", embedder: Embedder, *, drops_others: bool = False) -> int:
    """Create missing vectors in batches; return their number. Can be interrupted and resumed.

    Args:
        store: the corpus.
        embedder: the provider.
        drops_others: delete the vectors of every other model at the end.

    Raises:
        EmbeddingsError: the provider failed; vectors created before are kept.
        LocalEmbeddingsError: the corpus has vectors of this model with a different dimension.
        StoreError: the corpus cannot be written.
    """
    with store.reading() as connection:
        total = count_missing(connection, embedder.name)
        dimensions = vector_index.read_dimensions(connection).get(embedder.name)
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
        last = rows[-1]["id"] if rows else -1  # start again: a sync may have changed passages
        if not rows:
            continue
        matrix = next(embedder.yield_matrices(row["text"] for row in rows))
        if dimensions is not None and dimensions != matrix.shape[1]:
            raise dimension_changed_error(embedder.name, dimensions, matrix.shape[1])
        dimensions = matrix.shape[1]
        with store.writing() as connection:
            connection.executemany(
                # A sync may have replaced a passage while its vector was computed.
                "INSERT OR REPLACE INTO vectors (chunk_id, model, dim, vector) "
                "SELECT id, ?, ?, ? FROM chunks WHERE id = ? AND text = ?",
                [
                    (embedder.name, matrix.shape[1], vector.astype("<f4").tobytes(), row["id"], row["text"])
                    for row, vector in zip(rows, matrix, strict=True)
                ],
            )
        store.index_vectors(vector_index.AT_ONCE)
        done += len(rows)
        report_progress(done, max(total, done))
    if drops_others:
        with store.writing() as connection:
            for model in {*vector_index.read_dimensions(connection)} - {embedder.name}:
                vector_index.forget(connection, model)
    store.index_vectors()
    neighbours.keep_up(store, embedder.name)
    return done


def find_nearest(
    connection: sqlite3.Connection,
    model: str,
    vector: Floats,
    limit: int,
    *,
    corpus: str | None = None,
    also: Sequence[int] = (),
) -> list[Candidate]:
    """Return the nearest passages to a vector, one per record, best first, and the best passage of each in ``also``.

    Args:
        connection: reads the corpus.
        model: the model of the vectors.
        vector: the query, of length 1 and of the model's dimension.
        limit: the maximum number of records, at least 1.
        corpus: a query key; searches only records of this corpus.
        also: PMIDs of records to include with their similarity.

    Raises:
        sqlite3.Error: the vectors or their index cannot be read, or are damaged.
    """
    try:
        return _find_nearest(connection, model, vector, limit, corpus, also)
    except (ValueError, LookupError) as exc:
        raise DamagedIndex(f"malformed vector index: {exc}") from None


def _find_nearest(
    connection: sqlite3.Connection,
    model: str,
    vector: Floats,
    limit: int,
    corpus: str | None,
    also: Sequence[int],
    *,
    walk: bool = True,
) -> list[Candidate]:
    members = None if corpus is None else index.read_member_pmids(connection, corpus)
    passages = vector_index.count_indexed(connection, model)
    share = 1.0 if members is None else min(1.0, len(members) / max(1, index.count_records(connection)))
    graph = (
        neighbours.open_graph(connection, model, len(vector))
        if walk and passages >= corpus_stats.MIN_GRAPH_VECTORS
        else None
    )
    requested = round(max(neighbours.MIN_REQUESTED, PASSAGES_PER_RECORD * limit) / max(share, 1 / (passages + 1)))
    if graph is not None and requested * LOOKED_UP > passages:
        graph = None
    leading, listed, looked_up = _Leading(limit), [*also], np.empty(0, dtype=np.int64)
    if members is not None and share * passages <= (passages / LOOKED_UP if graph is None else requested):
        listed += members.tolist()
    else:
        among = None
        if members is not None:  # indexed by PMID; the last entry is False for greater ones
            among = np.zeros(int(members.max(initial=0)) + 2, dtype=np.bool_)
            among[members] = True
        _compare(connection, model, vector, leading, among, graph.block if graph else 0)
        looked_up = _search_graph(connection, graph, vector, requested, members) if graph else looked_up
    chunks, pmids, sims = _compare_exactly(connection, model, vector, leading.collect(), listed, looked_up)
    order = np.lexsort((chunks, pmids, -sims))
    best = order[np.sort(np.unique(pmids[order], return_index=True)[1])]
    if graph is not None and len(best) < limit:
        return _find_nearest(connection, model, vector, limit, corpus, also, walk=False)
    best = best[(np.arange(len(best)) < limit) | np.isin(pmids[best], np.array(also, dtype=np.uint32))]
    ids_json = (json.dumps(chunks[best].tolist()),)
    uuids = dict(connection.execute(f"SELECT id, uuid FROM chunks WHERE id {index.LISTED}", ids_json))
    return [Candidate(int(pmids[row]), uuids[int(chunks[row])], sim=float(sims[row])) for row in best]


def _search_graph(
    connection: sqlite3.Connection,
    graph: neighbours.Graph,
    vector: Floats,
    limit: int,
    members: NDArray[np.uint32] | None,
) -> NDArray[np.int64]:
    """Return the passages that the graph finds; only those of members if ``members`` is given."""
    passages = graph.find_nearest(vector, limit)
    if members is None:
        return passages
    rows = connection.execute(f"SELECT id, pmid FROM chunks WHERE id {index.LISTED}", (json.dumps(passages.tolist()),))
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
    """Compare the query with queued vectors and with all blocks numbered above ``after``.

    If only few passages of a block are wanted, the products of the others are not computed.
    """
    queued = vector_index.list_queued(connection, model)
    for part in vector_index.read_vectors(connection, model, queued):
        kept = None if among is None else among.take(part.pmids, mode="clip")
        leading.add(part.chunks, part.pmids, _multiply(part, vector), 0.0, kept)
    for block in vector_index.read_vector_blocks(connection, model, len(vector), after):
        kept, chunks, pmids = block.kept, block.chunks, block.pmids
        if queued:
            kept = kept & np.isin(chunks, queued, invert=True)
        if among is not None:
            kept = kept & among.take(pmids, mode="clip")
        if np.count_nonzero(kept) > MAX_CHOSEN * len(chunks):
            leading.add(chunks, pmids, block.vectors.multiply(vector), block.vectors.bound, kept)
        else:
            rows = np.flatnonzero(kept)
            leading.add(chunks[rows], pmids[rows], block.vectors.multiply(vector, rows), block.vectors.bound)


class _Passages(NamedTuple):
    """Passages with bounds on their similarity: ``sims`` minus and plus ``errors``."""

    chunks: NDArray[np.int64]
    pmids: NDArray[np.uint32]
    sims: Floats
    errors: Floats

    def select(self, rows: NDArray[np.integer] | NDArray[np.bool_] | slice) -> "_Passages":
        return _Passages._make(column[rows] for column in self)


class _Leading:
    """The passages that, by their bounds, can be the best passage of one of the nearest records."""

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
        """Add passages; ``kept`` masks deleted ones."""
        rows = np.flatnonzero(sims >= self._bar - error)
        if kept is not None:
            rows = rows[kept[rows]]
        errors = np.full(len(rows), error, dtype=np.float32)
        self._parts.append(_Passages(chunks[rows], pmids[rows], sims[rows], errors))
        self._count += len(rows)
        if self._count > self._most:
            self._most = vector_index.BLOCK + 2 * len(self.collect().chunks)

    def collect(self) -> _Passages:
        """Return the passages, and raise the threshold to the similarity of the last wanted record."""
        passages = _Passages._make(map(np.concatenate, zip(*self._parts, strict=True)))
        least = passages.sims - passages.errors
        order = np.argsort(-least)
        records = np.sort(np.unique(passages.pmids[order], return_index=True)[1])
        if len(records) >= self._limit:
            self._bar = float(least[order[records[self._limit - 1]]])
            passages = passages.select(passages.sims + passages.errors >= self._bar)
        self._parts, self._count = [passages], len(passages.chunks)
        return passages


def _compare_exactly(
    connection: sqlite3.Connection,
    model: str,
    vector: Floats,
    leading: _Passages,
    pmids: Sequence[int],
    others: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.uint32], Floats]:
    """Compute exact similarities for the leading passages, the passages of ``pmids``, and ``others``.

    Raises:
        ValueError: the vector of a leading passage is missing, or differs from the index.
    """
    requested = connection.execute(f"SELECT id FROM chunks WHERE pmid {index.LISTED}", (json.dumps(pmids),))
    passage_ids = sorted({*leading.chunks.tolist(), *others.tolist(), *(row[0] for row in requested)})
    parts = [
        (part.chunks, part.pmids, _multiply(part, vector))
        for part in vector_index.read_vectors(connection, model, passage_ids)
    ]
    none = leading.select(slice(0))
    chunks, found, sims = map(np.concatenate, zip(none[:3], *parts, strict=True))
    places = np.searchsorted(chunks, leading.chunks)
    if not np.isin(leading.chunks, chunks).all():
        raise ValueError("a passage without its vector")
    if (np.abs(sims[places] - leading.sims) > leading.errors + bound_rounding(len(vector))).any():
        raise ValueError("a vector that differs from its copy in the index")
    return chunks, found, sims


def _multiply(part: vector_index.Vectors, vector: Floats) -> Floats:
    if part.matrix.shape[1] != len(vector):
        raise ValueError(f"vectors of {format_count(part.matrix.shape[1], 'dimension')} (expected {len(vector)})")
    products = part.matrix.astype(np.float64) @ vector  # so that equal vectors have equal products
    return products.astype(np.float32)
