"""The index of the vectors: it follows changes, its results are exact, and damage is reported."""

import random
import sqlite3
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from indexed_corpus import index, join, open_corpus
from invented_vectors import MODEL, Floats, InventedVectors, index_vectors, put_vectors

from entrez_kit.corpus.search import vector_index, vectors
from entrez_kit.corpus.search.quantized import Quantized
from entrez_kit.corpus.search.ranking import Candidate

DIM = 24
INVENTED = InventedVectors(DIM, subjects=20)


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """Return a corpus with small blocks, so that there are many."""
    monkeypatch.setattr(vector_index, "BLOCK", 32)
    monkeypatch.setattr(vector_index, "AT_ONCE", 50)
    made = open_corpus()
    made.execute("PRAGMA foreign_keys=ON")
    yield made
    made.close()


def yield_queries(count: int) -> Iterator[Floats]:
    for matrix in INVENTED.vectors(count, seed=99):
        yield from matrix


def find_by_rows(
    connection: sqlite3.Connection, query: Floats, limit: int, among: set[int] | None = None
) -> list[Candidate]:
    """Compare every row of every vector."""
    best: dict[int, tuple[float, str]] = {}
    for pmid, uuid, vector in connection.execute(
        "SELECT pmid, uuid, vector FROM chunks JOIN vectors ON vectors.chunk_id = id WHERE model = ? ORDER BY id",
        (MODEL,),
    ):
        sim = float(np.frombuffer(vector, "<f4") @ query)
        if (among is None or pmid in among) and (pmid not in best or sim > best[pmid][0]):
            best[pmid] = sim, uuid
    order = sorted(best, key=lambda pmid: (-best[pmid][0], pmid))[:limit]
    return [Candidate(pmid, best[pmid][1], sim=best[pmid][0]) for pmid in order]


def agrees(found: list[Candidate], expected: list[Candidate]) -> bool:
    return [(near.pmid, near.uuid) for near in found] == [(near.pmid, near.uuid) for near in expected] and all(
        one.sim == pytest.approx(other.sim, abs=1e-6) for one, other in zip(found, expected, strict=True)
    )


def find_nearest(
    connection: sqlite3.Connection, query: Floats, limit: int, corpus: str | None = None
) -> list[Candidate]:
    return vectors.find_nearest(connection, MODEL, query, limit, corpus=corpus)


def list_indexed(connection: sqlite3.Connection) -> list[int]:
    """Return the passages of the blocks without the deleted ones."""
    return sorted(
        chunk
        for block in vector_index.read_vector_blocks(connection, MODEL, DIM)
        for chunk in block.chunks[block.kept].tolist()
    )


# Rounding


@pytest.mark.parametrize("spread", ["even", "falling", "aside", "outliers", "alike"])
def test_no_product_differs_by_more_than_the_bound(spread: str) -> None:
    draw = np.random.default_rng(5)
    matrix = draw.standard_normal((500, 64)).astype(np.float32)
    if spread == "falling":
        matrix *= 0.8 ** np.arange(64, dtype=np.float32)
    elif spread == "aside":
        matrix[:, 3] += 40
    elif spread == "outliers":
        matrix[7, 9] = 300
    elif spread == "alike":
        matrix[:] = matrix[0]
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    requested = draw.standard_normal((50, 64)).astype(np.float32)
    requested /= np.linalg.norm(requested, axis=1, keepdims=True)
    rounded = Quantized.of(matrix)

    off = [np.abs(rounded.multiply(query) - matrix.astype(np.float64) @ query).max() for query in requested]
    assert max(off) <= rounded.bound
    assert rounded.bound < {"outliers": 0.06, "alike": 0.001}.get(spread, 0.02)
    rows = np.array([3, 77, 499])
    for some in (rows, np.arange(400)):
        assert rounded.multiply(requested[0], some) == pytest.approx(rounded.multiply(requested[0])[some], abs=1e-6)


# Following the vectors


@pytest.mark.long
def test_results_are_exact_after_any_changes_and_with_any_queue(
    connection: sqlite3.Connection,
) -> None:
    draw = random.Random(3)

    def add() -> None:
        first = 1 + connection.execute("SELECT coalesce(max(id), 0) FROM chunks").fetchone()[0]
        put_vectors(connection, INVENTED, draw.choice((1, 7, 90)), first=first + draw.randrange(5))

    def delete() -> None:
        gone = f"id % {draw.choice((3, 11, 40))} = {draw.randrange(3)}"
        connection.execute(f"DELETE FROM chunks WHERE {gone}")  # as a sync does; the vectors go with them

    def change() -> None:
        (other,) = INVENTED.vectors(1, seed=draw.randrange(10**6))
        chosen = f"WHERE chunk_id % {draw.choice((5, 60))} = 1"
        changed = connection.execute(f"DELETE FROM vectors {chosen} RETURNING chunk_id").fetchall()
        connection.executemany(
            "INSERT INTO vectors VALUES (?, ?, ?, ?)", [(row[0], MODEL, DIM, other[0].tobytes()) for row in changed]
        )

    def catch_up() -> None:
        vector_index.catch_up(connection)

    steps: list[Callable[[], None]] = [add, add, add, delete, change, catch_up, lambda: index_vectors(connection)]
    for number, query in enumerate(yield_queries(60)):
        draw.choice(steps)()
        limit = draw.choice((1, 5, 1_000))
        assert agrees(find_nearest(connection, query, limit), find_by_rows(connection, query, limit))
        if number % 10 == 9:
            pmids = {row[0] for row in connection.execute("SELECT pmid FROM documents WHERE pmid % 3 = 1")}
            join(connection, f"third {number}", pmids)
            if draw.random() < 0.5:
                index(connection)
            found = find_nearest(connection, query, limit, f"third {number}")
            assert agrees(found, find_by_rows(connection, query, limit, pmids))

    index_vectors(connection)
    assert list_indexed(connection) == [row[0] for row in connection.execute("SELECT chunk_id FROM vectors ORDER BY 1")]
    assert vector_index.count_queued(connection) == 0


def test_many_small_changes_leave_few_blocks(connection: sqlite3.Connection) -> None:
    for number in range(1, 300):
        put_vectors(connection, INVENTED, 1, first=number)
        vector_index.catch_up(connection)

    (blocks,) = connection.execute("SELECT count(*) FROM vector_blocks").fetchone()
    assert blocks <= 1 + 2 * 300 / vector_index.BLOCK
    connection.execute("DELETE FROM chunks WHERE id % 8")
    index_vectors(connection)
    left = connection.execute("SELECT passages, struck FROM vector_blocks").fetchall()
    assert (sum(row[0] for row in left), {row[1] for row in left}, len(left) <= 3) == (37, {None}, True)


def test_an_interrupted_pass_does_not_change_the_index(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_vectors(connection, INVENTED, 300)
    vector_index.catch_up(connection)
    connection.execute("DELETE FROM chunks WHERE id < 20")
    before = connection.execute("SELECT * FROM vector_blocks").fetchall()
    connection.execute(
        f"CREATE TEMP TRIGGER interrupt BEFORE INSERT ON main.vector_blocks WHEN (SELECT count(*) FROM vector_blocks) "
        f"> {len(before)} BEGIN SELECT RAISE(ABORT, 'interrupted'); END"
    )

    connection.execute("BEGIN")
    with pytest.raises(sqlite3.IntegrityError, match="interrupted"):
        index_vectors(connection)
    connection.execute("ROLLBACK")
    connection.execute("DROP TRIGGER interrupt")

    assert connection.execute("SELECT * FROM vector_blocks").fetchall() == before
    index_vectors(connection)
    assert list_indexed(connection) == list(range(20, 301))


def test_vectors_of_several_models_are_separate(connection: sqlite3.Connection) -> None:
    put_vectors(connection, INVENTED, 100)
    connection.execute("INSERT INTO vectors SELECT chunk_id, 'test:other', 2, x'0000803f00000000' FROM vectors")
    assert vector_index.read_dimensions(connection) == {MODEL: DIM, "test:other": 2}
    index_vectors(connection)
    connection.execute("DELETE FROM chunks WHERE id > 90")

    assert vector_index.read_dimensions(connection) == {MODEL: DIM, "test:other": 2}
    assert [vector_index.count(connection, model) for model in (MODEL, "test:other", "none")] == [90, 90, 0]
    other = vectors.find_nearest(connection, "test:other", np.array([1, 0], dtype=np.float32), 3)
    assert [(near.pmid, near.sim) for near in other] == [(1, 1.0), (2, 1.0), (3, 1.0)]
    connection.execute("DELETE FROM vectors WHERE model = 'test:other'")
    assert vector_index.read_dimensions(connection) == {MODEL: DIM}
    connection.execute("INSERT INTO vectors SELECT chunk_id, 'test:other', 2, x'0000803f00000000' FROM vectors")
    vector_index.forget(connection, MODEL)
    assert vector_index.read_dimensions(connection) == {"test:other": 2}
    index_vectors(connection)
    assert [vector_index.count(connection, model) for model in (MODEL, "test:other")] == [0, 90]


def test_an_index_without_vectors_finds_nothing(connection: sqlite3.Connection) -> None:
    (query,) = yield_queries(1)

    assert find_nearest(connection, query, 5) == []
    assert vectors.find_nearest(connection, MODEL, query, 5, also=[1, 2]) == []


# Damage


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE vector_blocks SET codes = substr(codes, 2) WHERE block = 2",
        "UPDATE vector_blocks SET codes = x'' WHERE block = 2",
        f"UPDATE vector_blocks SET codes = zeroblob({32 * DIM}) WHERE block = 2",
        "UPDATE vector_blocks SET chunks = substr(chunks, 9) WHERE block = 2",
        "UPDATE vector_blocks SET pmids = substr(pmids, 3) WHERE block = 2",
        "UPDATE vector_blocks SET pmids = substr(pmids, 5) WHERE block = 2",
        "UPDATE vector_blocks SET middles = x'00' WHERE block = 2",
        f"UPDATE vector_blocks SET steps = x'{'0000c07f' * DIM}'",
        f"UPDATE vector_blocks SET middles = zeroblob({4 * DIM})",
        "UPDATE vector_blocks SET error = 'none' WHERE block = 2",
        "UPDATE vectors SET vector = substr(vector, 5)",
        "UPDATE vectors SET vector = substr(vector, 2)",
        "UPDATE vectors SET vector = zeroblob(length(vector))",
        "UPDATE vectors SET vector = CAST(x'0000c07f' || substr(vector, 5) AS BLOB)",
        "DELETE FROM vectors; DELETE FROM vector_queue",
    ],
)
def test_damage_is_an_error_and_not_an_empty_result(connection: sqlite3.Connection, damage: str) -> None:
    put_vectors(connection, INVENTED, 100)
    index_vectors(connection)
    (query,) = yield_queries(1)
    assert len(find_nearest(connection, query, 100)) == 34
    connection.executescript(damage)

    with pytest.raises(sqlite3.DatabaseError, match="malformed vector"):
        find_nearest(connection, query, 100)
