"""Vectors like those of models, without a model: thousands of subjects, and most of the variance in few dimensions."""

import sqlite3
from collections.abc import Iterator

import numpy as np
from indexed_corpus import put
from numpy.typing import NDArray

from entrez_kit.corpus.search import vector_index
from entrez_kit.corpus.search.terms import IndexRow

Floats = NDArray[np.float32]
MODEL = "test:invented"
PASSAGES = 3
"""Passages of each record."""
_AT_ONCE = 4_096
_INTO_CHUNKS = "INSERT INTO chunks (id, pmid, chunk_id, uuid, text, tokens) VALUES (?, ?, ?, ?, '', 0)"
_INTO_VECTORS = "INSERT INTO vectors (chunk_id, model, dim, vector) VALUES (?, ?, ?, ?)"


class InventedVectors:
    """Invented vectors of one dimension; the same for the same seed."""

    def __init__(self, dim: int, subjects: int = 2_000) -> None:
        self.dim = dim
        self._spread = (np.arange(1, dim + 1) ** -0.5).astype(np.float32)
        self._subjects = np.random.default_rng(1).standard_normal((subjects, dim), dtype=np.float32) * self._spread

    def vectors(self, count: int, seed: int) -> Iterator[Floats]:
        """Yield vectors of length 1 as the rows of matrices."""
        draw = np.random.default_rng(seed)
        for start in range(0, count, _AT_ONCE):
            size = min(_AT_ONCE, count - start)
            matrix = self._subjects[draw.integers(0, len(self._subjects), size)]
            matrix += 0.7 * draw.standard_normal((size, self.dim), dtype=np.float32) * self._spread
            matrix += 0.3 * self._spread  # vectors of models are not centred
            yield matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def put_vectors(connection: sqlite3.Connection, invented: InventedVectors, count: int, *, first: int = 1) -> None:
    """Write this number of passages with their vectors, without indexing them; ``first`` is the number of the first."""
    number = first
    for matrix in invented.vectors(count, seed=first):
        chunks = range(number, number + len(matrix))
        pmids = {chunk: 1 + chunk // PASSAGES for chunk in chunks}
        there = {row[0] for row in connection.execute("SELECT pmid FROM documents WHERE pmid >= ?", (pmids[number],))}
        put(connection, [IndexRow(pmid, "", "", "") for pmid in sorted({*pmids.values()} - there)])
        connection.executemany(_INTO_CHUNKS, [(chunk, pmids[chunk], f"w{chunk}", f"uuid-{chunk}") for chunk in chunks])
        connection.executemany(
            _INTO_VECTORS,
            [(chunk, MODEL, invented.dim, vector.tobytes()) for chunk, vector in zip(chunks, matrix, strict=True)],
        )
        number += len(matrix)


def index_vectors(connection: sqlite3.Connection) -> None:
    """Index all queued vectors."""
    while vector_index.catch_up(connection):
        pass
