"""Measure the speed of comparing the corpus's vectors with a query. Run by hand:

    python tests/benchmarks/vectors.py                     # 200,000 vectors of 256 dimensions, a minute
    python tests/benchmarks/vectors.py --vectors 1000000   # some minutes and 3 GB of disk
    python tests/benchmarks/vectors.py --vectors 20000 --dim 768
    python tests/benchmarks/vectors.py --graph             # with a graph also for few vectors

"naive" reads every vector's row, some thousand at a time, and multiplies. "ours" compares all, runs in turn with it,
and must return the same records in the same order. Above 500,000 vectors "by graph" searches like the program does
then; the share of the nearest that it finds is printed. CPU seconds are counted, of every query the fastest of three.

Exits 1 if a promise is broken; promises about time apply from 100,000 vectors on.
"""

import argparse
import os
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # its threads use CPU seconds also when there is nothing to do
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import numpy as np
from indexed_corpus import index, join, open_corpus
from invented_vectors import MODEL, PASSAGES, Floats, InventedVectors, index_vectors, put_vectors

from entrez_kit.corpus.search import neighbours, vectors
from entrez_kit.corpus.search.ranking import Candidate
from entrez_kit.corpus.store import corpus_stats
from entrez_kit.corpus.store.store import Store

WANTED = 60
"""Records that a search of 20 hits looks for."""
ROUNDS = 3
AT_ONCE = 4_096
TIMED_FROM = 100_000
MAX_OF_NAIVE = 0.2
MAX_NARROWED = 1.2
MAX_OF_ALL = 0.1
"""The time of a search by graph, as a share of one that compares all."""
LEAST_RECALL = 0.95
EVERY = 2, 10, 100, 1_000


def main() -> int:
    """Print the figures; return whether a promise was broken."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--vectors", type=int, default=200_000)
    arguments.add_argument("--dim", type=int, default=256)
    arguments.add_argument("--queries", type=int, default=20)
    arguments.add_argument("--graph", action="store_true", help="make a graph for any number of vectors")
    arguments.add_argument("--folder", type=Path, help="where to make the file, which is then kept")
    options = arguments.parse_args()
    if options.graph:
        setattr(corpus_stats, "MIN_GRAPH_VECTORS", 1)  # noqa: B010 - a constant, lowered for once
    many = options.vectors >= corpus_stats.MIN_GRAPH_VECTORS
    invented = InventedVectors(options.dim)
    queries = [query for matrix in invented.vectors(options.queries, seed=0) for query in matrix]
    broken: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        path = (options.folder or Path(temporary)) / "vectors.db"
        connection = open_corpus(str(path))
        fill(connection, invented, options.vectors)
        exactly = partial(find_nearest, connection, walk=False)
        for query in queries:
            if [near.pmid for near in exactly(query)] != compare_rows(connection, query):
                broken.append("ours finds others than naive")
        contenders: dict[str, Callable[[Floats], object]] = {
            "naive": partial(compare_rows, connection),
            "ours": exactly,
        }
        for every in EVERY:
            contenders[f"ours, 1 record in {every}"] = partial(exactly, corpus=str(every))
        if many:
            contenders["by graph"] = partial(find_nearest, connection)
            for every in EVERY:
                contenders[f"by graph, 1 in {every}"] = partial(find_nearest, connection, corpus=str(every))
            broken += make_graph(path, connection, queries)
        took = compare(contenders, queries)
        connection.close()
    print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    if options.vectors >= TIMED_FROM:
        if many and not options.graph and took["by graph"] > MAX_OF_ALL * took["ours"]:
            broken.append(f"by graph takes more than {MAX_OF_ALL} of comparing all")
        if took["ours"] > MAX_OF_NAIVE * took["naive"]:
            broken.append(f"ours takes more than {MAX_OF_NAIVE} of naive")
        if max(seconds for name, seconds in took.items() if name.startswith("ours")) > MAX_NARROWED * took["ours"]:
            broken.append(f"within a corpus ours takes more than {MAX_NARROWED} of ours in all")
    for promise in sorted({*broken}):
        print(f"broken: {promise}")
    return bool(broken)


def fill(connection: sqlite3.Connection, invented: InventedVectors, count: int) -> None:
    """Write and index the vectors; print the time and the size of the index."""
    connection.execute("PRAGMA cache_size=-32000")  # in the form of the corpus
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("BEGIN")
    put_vectors(connection, invented, count)
    index(connection)
    for every in EVERY:
        join(connection, str(every), range(1, 2 + count // PASSAGES, every))
    connection.execute("COMMIT")
    start = time.process_time()
    connection.execute("BEGIN")
    index_vectors(connection)
    connection.execute("COMMIT")
    seconds = time.process_time() - start
    held = "SELECT (SELECT sum(length(codes) + length(chunks) + length(pmids)) FROM vector_blocks), sum(length(vector))"
    size, of = connection.execute(f"{held} FROM vectors").fetchone()
    print(f"{count:,} vectors of {invented.dim} dimensions, {count / seconds:,.0f} indexed a second", end=", ")
    print(f"{size / 1e6:,.0f} MB beside {of / 1e6:,.0f} MB of vectors")


def make_graph(path: Path, connection: sqlite3.Connection, queries: list[Floats]) -> list[str]:
    """Make the graph; print its cost and results, and return whether too few of the nearest are found."""
    start = time.process_time()
    store = Store(path)
    neighbours.keep_up(store, MODEL)
    setattr(connection, "graph_records", store.graph_records)  # noqa: B010 - as the store sets it
    store.close()
    if neighbours.open_graph(connection, MODEL, len(queries[0])) is None:
        return ["there is no graph"]
    size = sum(one.stat().st_size for one in path.parent.glob(f"{path.name}.graph-*"))
    print(f"graph: {time.process_time() - start:,.0f} CPU s to make, {size / 1e6:,.0f} MB", end=", ")
    shares: dict[int, list[float]] = {10: [], WANTED: []}
    for query in queries:
        found = [near.pmid for near in find_nearest(connection, query)]
        expected = [near.pmid for near in find_nearest(connection, query, walk=False)]
        for first, known in shares.items():
            known.append(len({*found[:first]} & {*expected[:first]}) / first)
    recall = {first: statistics.mean(known) for first, known in shares.items()}
    print(", ".join(f"{share:.3f} of the first {first} found" for first, share in recall.items()))
    return [] if recall[10] >= LEAST_RECALL else [f"less than {LEAST_RECALL} of the nearest 10 is found"]


def find_nearest(
    connection: sqlite3.Connection, query: Floats, corpus: str | None = None, *, walk: bool = True
) -> list[Candidate]:
    """Search like the program: inside a transaction."""
    connection.execute("BEGIN")
    try:
        return vectors._find_nearest(connection, MODEL, query, WANTED, corpus, [], walk=walk)
    finally:
        connection.execute("ROLLBACK")


def compare_rows(connection: sqlite3.Connection, query: Floats) -> list[int]:
    """Compare every row."""
    best: dict[int, float] = {}
    rows = connection.execute(
        "SELECT pmid, vector FROM vectors AS v JOIN chunks AS c ON c.id = v.chunk_id WHERE model = ?", (MODEL,)
    )
    while block := rows.fetchmany(AT_ONCE):
        sims = np.frombuffer(b"".join(row[1] for row in block), "<f4").reshape(len(block), -1) @ query
        for place in np.argsort(-sims)[: WANTED * PASSAGES].tolist():
            pmid, sim = block[place][0], float(sims[place])
            best[pmid] = max(best.get(pmid, -2.0), sim)
    return sorted(best, key=lambda pmid: (-best[pmid], pmid))[:WANTED]


def compare(contenders: dict[str, Callable[[Floats], object]], queries: list[Floats]) -> dict[str, float]:
    """Print and return the median CPU time of a query for each contender."""
    fastest: dict[str, list[float]] = {name: [] for name in contenders}
    for query in queries:
        times = {name: float("inf") for name in contenders}
        for _ in range(ROUNDS):
            for name, ask in contenders.items():
                start = time.process_time()
                ask(query)
                times[name] = min(times[name], time.process_time() - start)
        for name, seconds in times.items():
            fastest[name].append(seconds)
    medians = {name: statistics.median(seconds) for name, seconds in fastest.items()}
    for name, seconds in medians.items():
        print(f"{name:24} p50 {1e3 * seconds:8.1f} ms, {seconds / medians['naive']:6.3f} of naive", end=", ")
        print(f"most {1e3 * max(fastest[name]):.1f} ms")
    return medians


if __name__ == "__main__":
    sys.exit(main())
