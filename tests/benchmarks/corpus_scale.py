"""Measure the corpus's full-text index on invented abstracts. Run by hand:

    python tests/benchmarks/corpus_scale.py                            # 200,000 abstracts, some five minutes
    python tests/benchmarks/corpus_scale.py --large 1000000            # and our index alone at 1,000,000
    python tests/benchmarks/corpus_scale.py --records 5000 --queries 35

"plain" is an FTS5 table over the same rows with `porter unicode61 remove_diacritics 2`, asked for any of the words
(`"a" OR "b" ...`), `ORDER BY bm25(...) LIMIT 10`; "plain, fewer words" is asked without the stop words that our search
leaves out, too. "exhaustive" is our own scoring of every record with any of the words. CPU seconds are counted, rows
and queries go to the contenders in turn, and every query is asked three times, of which the fastest counts.

Exits 1 when a promise is broken; those about time hold from 100,000 records on.
"""

import argparse
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from abstracts import SIZES, Abstract, Abstracts, Question

from entrez_kit.corpus.search import index as lexical
from entrez_kit.corpus.search.terms import STOP_WORDS, words_of

PLAIN = "CREATE VIRTUAL TABLE plain USING fts5(title, abstract, terms, tokenize='porter unicode61 remove_diacritics 2')"
INTO_PLAIN = "INSERT INTO plain (rowid, title, abstract, terms) VALUES (?, ?, ?, ?)"
FROM_PLAIN = "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT ?"
MEMBERSHIP = "CREATE TABLE membership (query_key TEXT, pmid INTEGER, PRIMARY KEY (query_key, pmid)) WITHOUT ROWID"
TOP = 10
ROUNDS = 3
TIMED_FROM = 100_000
MOST_OF_PLAIN = 0.6
LEAST_SPEED = 0.8
MOST_GROWTH = 4.0
MOST_LOST = 0.01


def main() -> int:
    """Print the figures; return whether a promise was broken."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--records", type=int, default=200_000)
    arguments.add_argument("--large", type=int, default=0, help="records of a second, larger index of ours alone")
    arguments.add_argument("--queries", type=int, default=105)
    arguments.add_argument("--judged", type=int, default=35, help="queries that are also asked exhaustively")
    arguments.add_argument("--batch", type=int, default=1_000, help="rows of one transaction")
    arguments.add_argument("--folder", type=Path, help="where to make the files, which are then kept")
    options = arguments.parse_args()
    abstracts = Abstracts()
    broken: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        ours, plain = connect(folder / "ours.db"), connect(folder / "plain.db")
        speed = fill(abstracts.rows(options.records), options.batch, ours, plain)
        questions = [abstracts.question(number, options.records) for number in range(options.queries)]
        took = compare(ours, plain, questions)
        lost = recall(ours, plain, questions[: options.judged])
        narrowed(ours, questions)
        print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
        if options.records >= TIMED_FROM:
            if speed < LEAST_SPEED:
                broken.append(f"indexing at {speed:.2f} of plain FTS5")
            if took["ours"] > MOST_OF_PLAIN * took["plain"]:
                broken.append(f"p50 at {took['ours'] / took['plain']:.2f} of plain FTS5")
        if lost > MOST_LOST:
            broken.append(f"recall@{TOP} {lost:.3f} below the exhaustive search")
        if options.large:
            large = connect(folder / "large.db")
            fill(abstracts.rows(options.large), options.batch, large, None)
            questions = [abstracts.question(number, options.large) for number in range(options.queries)]
            grown = compare(large, None, questions)["ours"] / took["ours"]
            print(f"{options.records:,} -> {options.large:,} records: p50 x {grown:.2f} (less than {MOST_GROWTH})")
            lost = recall(large, None, questions[: options.judged])
            narrowed(large, questions)
            if grown >= MOST_GROWTH:
                broken.append(f"p50 grows {grown:.2f} times")
            if lost > MOST_LOST:
                broken.append(f"recall@{TOP} of the large index {lost:.3f} below the exhaustive search")
    for promise in broken:
        print(f"broken: {promise}")
    return bool(broken)


def connect(path: Path) -> sqlite3.Connection:
    """Open an empty file as the store opens its own."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    return connection


def fill(rows: Iterator[Abstract], size: int, ours: sqlite3.Connection, plain: sqlite3.Connection | None) -> float:
    """Index the rows with all contenders, batch by batch; return our speed as a share of plain FTS5's."""
    lexical.create(ours)
    if plain is not None:
        plain.execute(PLAIN)
    seconds = {"ours": 0.0, "plain": 0.0}
    count = 0
    while batch := list(islice(rows, size)):
        count += len(batch)
        seconds["ours"] += cpu(ours, lambda batch=batch: lexical.add(ours, batch))  # type: ignore[misc]
        if plain is not None:
            seconds["plain"] += cpu(plain, lambda batch=batch: plain.executemany(INTO_PLAIN, batch))  # type: ignore[misc]
    for name, connection in (("ours", ours), ("plain", plain)):
        if connection is not None:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            page = connection.execute("PRAGMA page_size").fetchone()[0]
            print(f"{name:5} {count:,} records, {count / seconds[name]:,.0f} a second, {pages * page / 1e6:,.0f} MB")
    speed = seconds["plain"] / seconds["ours"]
    if plain is not None:
        print(f"indexing at {speed:.2f} of plain FTS5's speed (at least {LEAST_SPEED})")
    return speed


def cpu(connection: sqlite3.Connection, work: Callable[[], object]) -> float:
    """Return the CPU seconds of a transaction."""
    start = time.process_time()
    connection.execute("BEGIN IMMEDIATE")
    work()
    connection.execute("COMMIT")
    return time.process_time() - start


def compare(ours: sqlite3.Connection, plain: sqlite3.Connection | None, questions: list[Question]) -> dict[str, float]:
    """Print the median CPU time of a query for each contender, over all and by the words of a query."""
    contenders: dict[str, Callable[[str], object]] = {"ours": lambda query: lexical.search(ours, query, TOP)}
    if plain is not None:
        contenders["plain"] = lambda query: ask_plain(plain, query)
        contenders["plain, fewer words"] = lambda query: ask_plain(plain, query, STOP_WORDS)
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _, query in questions:
        fastest = dict.fromkeys(contenders, float("inf"))
        for _ in range(ROUNDS):
            for name, ask in contenders.items():
                start = time.process_time()
                ask(query)
                fastest[name] = min(fastest[name], time.process_time() - start)
        for name, seconds in fastest.items():
            times[name].append(seconds)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, values in times.items():
        by_size = ", ".join(
            f"{size}: {1e3 * statistics.median(values[place::7]):.1f}"
            for place, size in enumerate(SIZES)
            if values[place:]
        )
        worst = 1e3 * max(values)
        print(f"{name:18} p50 {1e3 * medians[name]:6.1f} ms, most {worst:6.1f}; by words {by_size}")
        if name != "ours":
            print(f"{'':18} ours / {name} {medians['ours'] / medians[name]:.2f} (at most {MOST_OF_PLAIN})")
    return medians


def ask_plain(connection: sqlite3.Connection, query: str, without: frozenset[str] = frozenset()) -> list[int]:
    """Ask the plain index for any of the words."""
    words = [word for word in words_of(query) if word not in without]
    match = " OR ".join(f'"{word}"' for word in words)
    return [row[0] for row in connection.execute(FROM_PLAIN, (match, TOP))]


def recall(ours: sqlite3.Connection, plain: sqlite3.Connection | None, questions: list[Question]) -> float:
    """Print which share of the exhaustive search's first ten we find, and how often the record asked for.

    Returns:
        What is lost: the larger of the two differences from the exhaustive search.
    """
    shared, found, found_by_all, found_by_plain = [], [], [], []
    for pmid, query in questions:
        hits = [hit.pmid for hit in lexical.search(ours, query, TOP)]
        all_hits = [hit.pmid for hit in lexical.search(ours, query, TOP, exhaustive=True)]
        shared.append(len({*hits} & {*all_hits}) / max(1, len(all_hits)))
        found.append(pmid in hits)
        found_by_all.append(pmid in all_hits)
        if plain is not None:
            found_by_plain.append(pmid in ask_plain(plain, query))
    known, known_by_all = statistics.mean(found), statistics.mean(found_by_all)
    print(f"of the first {TOP} of the exhaustive search {statistics.mean(shared):.4f}")
    print(f"the record asked for among the first {TOP}: ours {known:.3f}, exhaustive {known_by_all:.3f}", end="")
    print(f", plain {statistics.mean(found_by_plain):.3f}" if plain is not None else "")
    return max(1 - statistics.mean(shared), known_by_all - known)


def narrowed(ours: sqlite3.Connection, questions: list[Question]) -> None:
    """Print the median CPU time of a search within corpora of several sizes."""
    ours.execute("DROP TABLE IF EXISTS membership")
    ours.execute(MEMBERSHIP)
    for every in (2, 10, 100, 1000):
        ours.execute(
            "INSERT INTO membership SELECT ?, pmid FROM lexical_records WHERE abs(pmid * 40503 % 1009) < 1009.0 / ?",
            (str(every), every),
        )
        count = ours.execute("SELECT count(*) FROM membership WHERE query_key = ?", (str(every),)).fetchone()[0]
        seconds = []
        for _, query in questions[:35]:
            start = time.process_time()
            lexical.search(ours, query, TOP, corpus=str(every))
            seconds.append(time.process_time() - start)
        print(
            f"within a corpus of {count:,} p50 {1e3 * statistics.median(seconds):.1f} ms, most {1e3 * max(seconds):.1f}"
        )


if __name__ == "__main__":
    sys.exit(main())
