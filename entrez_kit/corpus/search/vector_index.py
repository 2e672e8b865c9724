"""The index of the corpus's vectors and its updates.

The index has an 8-bit copy of each vector of the table ``vectors``, in blocks that a search reads in order. Triggers
queue every added or removed vector in the same transaction. ``catch_up`` removes queued vectors from their blocks and
writes the current ones into new blocks; a small block is rewritten together with the next one. A search reads queued
vectors from the table itself.

Tables: ``vector_queue``, ``vector_blocks`` and ``vector_graphs`` (see ``neighbours``). They are derived from
``vectors`` and can be rebuilt at any time.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from entrez_kit.base.sqlite_failures import DamagedData
from entrez_kit.corpus.search.index import LISTED, open_tuple_cursor
from entrez_kit.corpus.search.quantized import Quantized

BLOCK: Final = 2_048
"""Passages per block; a block with fewer than half is rewritten together with the next."""
AT_ONCE: Final = 8_192
"""Vectors indexed by one pass."""
FEW: Final = 500
"""The number of queued vectors that a search can read directly in some hundredths of a second."""


class Vectors(NamedTuple):
    """Passage ids, PMIDs and vectors (the rows of a float32 matrix)."""

    chunks: NDArray[np.int64]
    pmids: NDArray[np.uint32]
    matrix: NDArray[np.float32]


class VectorBlock(NamedTuple):
    """A block loaded for a search; ``kept`` is a mask of the passages that are not deleted."""

    number: int
    chunks: NDArray[np.int64]
    pmids: NDArray[np.uint32]
    kept: NDArray[np.bool_]
    vectors: Quantized


def read_kept(struck: bytes | None, count: int) -> NDArray[np.bool_]:
    """Return a mask of the entries of a block that are not deleted."""
    if struck is None:
        return np.ones(count, dtype=np.bool_)
    return ~np.unpackbits(np.frombuffer(struck, dtype=np.uint8), count=count).view(np.bool_)


def forget(connection: sqlite3.Connection, model: str) -> None:
    """Delete the vectors of a model."""
    for table in ("vectors", "vector_queue", "vector_blocks", "vector_graphs"):
        connection.execute(f"DELETE FROM {table} WHERE model = ?", (model,))


def count_queued(connection: sqlite3.Connection) -> int:
    """Count the vectors waiting to be indexed or removed."""
    queued: int = connection.execute("SELECT count(*) FROM vector_queue").fetchone()[0]
    return queued


def list_queued(connection: sqlite3.Connection, model: str, limit: int = -1) -> list[int]:
    """Return the sorted ids of passages whose vectors are waiting to be indexed or removed."""
    rows = connection.execute(
        "SELECT chunk_id FROM vector_queue WHERE model = ? ORDER BY chunk_id LIMIT ?", (model, limit)
    )
    return [row[0] for row in rows]


def read_dimensions(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the models that have vectors, with their dimensions."""
    rows = connection.execute(
        """
        SELECT model, dim FROM vector_blocks AS b
        WHERE NOT EXISTS (SELECT 1 FROM vector_queue AS q WHERE q.model = b.model)
            OR EXISTS (SELECT 1 FROM vectors AS v WHERE v.model = b.model)
        UNION
        SELECT model, dim FROM vector_queue JOIN vectors USING (model, chunk_id) ORDER BY model
        """
    )
    return {row[0]: row[1] for row in rows}


def count(connection: sqlite3.Connection, model: str) -> int:
    """Count the vectors of a model."""
    if not list_queued(connection, model, 1):
        return count_indexed(connection, model)
    vectors: int = connection.execute("SELECT count(*) FROM vectors WHERE model = ?", (model,)).fetchone()[0]
    return vectors


def count_indexed(connection: sqlite3.Connection, model: str) -> int:
    """Count the vectors of a model that are in blocks."""
    passages: int = connection.execute(
        "SELECT coalesce(sum(passages), 0) FROM vector_blocks WHERE model = ?", (model,)
    ).fetchone()[0]
    return passages


def catch_up(connection: sqlite3.Connection) -> int:
    """Index or remove at most ``AT_ONCE`` queued vectors; return their number. Call it until it returns 0."""
    first = connection.execute("SELECT model FROM vector_queue LIMIT 1").fetchone()
    if first is None:
        return 0
    model = first[0]
    chunks = list_queued(connection, model, AT_ONCE)
    for part in read_vectors(connection, model, sorted({*chunks, *_strike(connection, model, chunks)})):
        _write(connection, model, part)
    connection.execute("DELETE FROM vector_queue WHERE model = ? AND chunk_id <= ?", (model, chunks[-1]))
    return len(chunks)


def read_vectors(connection: sqlite3.Connection, model: str, chunks: Sequence[int]) -> Iterator[Vectors]:
    """Yield the vectors of some passages, sorted, some thousands at a time.

    Raises:
        sqlite3.Error: the vectors cannot be read, or differ in dimension.
    """
    cursor = open_tuple_cursor(connection).execute(
        "SELECT v.chunk_id, c.pmid, v.vector FROM vectors AS v JOIN chunks AS c ON c.id = v.chunk_id "
        f"WHERE v.model = ? AND v.chunk_id {LISTED} ORDER BY v.chunk_id",
        (model, json.dumps(chunks)),
    )
    while rows := cursor.fetchmany(BLOCK):
        numbers, pmids, vectors = zip(*rows, strict=True)
        try:
            matrix = np.stack([np.frombuffer(vector, dtype="<f4") for vector in vectors])
        except ValueError:
            raise DamagedData("malformed vectors: their dimensions differ") from None
        if not np.isfinite(matrix).all():
            raise DamagedData("malformed vectors: one has values that are not finite numbers")
        yield Vectors(np.array(numbers, dtype=np.int64), np.array(pmids, dtype=np.uint32), matrix)


def read_vector_blocks(connection: sqlite3.Connection, model: str, dim: int, after: int = 0) -> Iterator[VectorBlock]:
    """Yield the blocks of a model with a number greater than ``after``.

    Raises:
        sqlite3.Error: a block cannot be read.
        ValueError: a block is damaged.
    """
    cursor = open_tuple_cursor(connection)
    (cache,) = cursor.execute("PRAGMA cache_size").fetchone()
    cursor.execute("PRAGMA cache_size=-1000")  # every page is read once, so a small cache is faster
    try:
        for number, struck, chunks, pmids, *stored in cursor.execute(
            "SELECT block, struck, chunks, pmids, middles, steps, error, codes FROM vector_blocks "
            "WHERE block > ? AND model = ? ORDER BY block",
            (after, model),
        ):
            vectors = Quantized.read(dim, *stored)
            kept = read_kept(struck, len(vectors.codes))
            block = VectorBlock(number, np.frombuffer(chunks, "<i8"), np.frombuffer(pmids, "<u4"), kept, vectors)
            sizes = {len(block.chunks), len(block.pmids), len(vectors.codes)}
            if len(sizes) > 1 or not np.isfinite(vectors.error + vectors.steps).all():
                raise ValueError(f"block {number}, whose parts differ in size")
            yield block
    finally:
        cursor.execute(f"PRAGMA cache_size={cache}")


def read_passages(connection: sqlite3.Connection, model: str) -> NDArray[np.int64]:
    """Return the passage ids in a model's blocks that are not deleted."""
    parts = [np.empty(0, dtype=np.int64)]
    for struck, stored in open_tuple_cursor(connection).execute(
        "SELECT struck, chunks FROM vector_blocks WHERE model = ?", (model,)
    ):
        chunks = np.frombuffer(stored, dtype="<i8")
        parts.append(chunks[read_kept(struck, len(chunks))])
    return np.concatenate(parts)


def _strike(connection: sqlite3.Connection, model: str, chunks: Sequence[int]) -> list[int]:
    """Delete passages from their blocks; return the remaining passages of blocks that were dropped as too small."""
    wanted, moved = np.array(chunks), []
    rows = open_tuple_cursor(connection).execute(
        "SELECT block, passages, struck, chunks FROM vector_blocks WHERE model = ?", (model,)
    )
    for block, passages, packed, stored in rows.fetchall():
        numbers = np.frombuffer(stored, dtype="<i8")
        kept = read_kept(packed, len(numbers)) & np.isin(numbers, wanted, invert=True)
        left = int(np.count_nonzero(kept))
        if left < BLOCK // 2:
            moved += numbers[kept].tolist()
            connection.execute("DELETE FROM vector_blocks WHERE block = ?", (block,))
        elif left < passages:
            connection.execute(
                "UPDATE vector_blocks SET passages = ?, struck = ? WHERE block = ?",
                (left, np.packbits(~kept).tobytes(), block),
            )
    return moved


def _write(connection: sqlite3.Connection, model: str, vectors: Vectors) -> None:
    rounded = Quantized.of(vectors.matrix)
    connection.execute(
        "INSERT INTO vector_blocks (model, dim, passages, chunks, pmids, middles, steps, error, codes) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            model,
            len(rounded.steps),
            len(vectors.chunks),
            vectors.chunks.astype("<i8").tobytes(),
            vectors.pmids.astype("<u4").tobytes(),
            rounded.middles.astype("<f4").tobytes(),
            rounded.steps.astype("<f4").tobytes(),
            rounded.error,
            rounded.codes.tobytes(),
        ),
    )
