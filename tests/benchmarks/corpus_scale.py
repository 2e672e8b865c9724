"""Measure the corpus's full-text index on invented abstracts. Run by hand:

    python tests/benchmarks/corpus_scale.py                            # 200,000 abstracts, some five minutes
    python tests/benchmarks/corpus_scale.py --large 1000000            # and our index alone at 1,000,000
    python tests/benchmarks/corpus_scale.py --records 5000 --queries 35

"plain" is an FTS5 table over the same rows with `porter unicode61 remove_diacritics 2`, searched for any of the words
(`"a" OR "b" ...`), `ORDER BY bm25(...) LIMIT 10`; "plain, fewer words" omits the stop words that our search omits, too.
"by the book" reads every record, counts its words and applies the formula, without index or feedback; our search is
compared with it without feedback. CPU seconds are counted, the contenders get rows and queries in turn, and every query
is run three times, of which the fastest counts.

Exits 1 if a promise is broken; promises about time apply from 100,000 records on.
"""

import argparse
import heapq
import math
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from indexed_corpus import index, join, open_corpus, put
from invented_abstracts import SIZES, Abstract, Abstracts, Question

from entrez_kit.corpus.search import words
from entrez_kit.corpus.search.index import find_corpus_file, open_index, read_index_rows, read_terms
from entrez_kit.corpus.search.query import parse, to_concept
from entrez_kit.corpus.search.score import DEFAULT
from entrez_kit.corpus.search.terms import STOP_WORDS, normalize_words
from entrez_kit.query.segments.relevance import WordSequence

PLAIN = "CREATE VIRTUAL TABLE plain USING fts5(title, abstract, terms, tokenize='porter unicode61 remove_diacritics 2')"
INTO_PLAIN = "INSERT INTO plain (rowid, title, abstract, terms) VALUES (?, ?, ?, ?)"
FROM_PLAIN = "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT ?"
TOP = 10
ROUNDS = 3
AT_ONCE = 5_000
TIMED_FROM = 100_000
MAX_OF_PLAIN = 0.15
LEAST_SPEED = 0.3
MAX_GROWTH = 4.0
MAX_LOST = 0.005
MAX_NARROWED = 1.1
UNFED = replace(DEFAULT, feedback_weight=0.0)


def main() -> int:
    """Print the figures; return whether a promise was broken."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--records", type=int, default=200_000)
    arguments.add_argument("--large", type=int, default=0, help="records of a second, larger index of our search")
    arguments.add_argument("--queries", type=int, default=105)
    arguments.add_argument("--judged", type=int, default=35, help="queries that are also answered by the book")
    arguments.add_argument("--folder", type=Path, help="where to make the files, which are then kept")
    options = arguments.parse_args()
    abstracts = Abstracts()
    broken: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        ours, plain = (
            connect(folder / "ours.db"),
            sqlite3.connect(remove_file(folder / "plain.db"), isolation_level=None),
        )
        speed = fill(abstracts.rows(options.records), ours, plain)
        questions = [abstracts.question(number, options.records) for number in range(options.queries)]
        took = compare(ours, plain, questions)
        lost = measure_recall(ours, plain, questions, options.judged)
        slower = measure_narrowed(ours, questions)
        print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
        if options.records >= TIMED_FROM:
            if speed < LEAST_SPEED:
                broken.append(f"indexing at {speed:.2f} of plain FTS5")
            if took["ours"] > MAX_OF_PLAIN * took["plain"]:
                broken.append(f"p50 at {took['ours'] / took['plain']:.2f} of plain FTS5")
            if slower > MAX_NARROWED:
                broken.append(f"a search within a corpus takes {slower:.2f} of one in all")
        if lost > MAX_LOST:
            broken.append(f"recall@{TOP} {lost:.3f} below a search by the book")
        if options.large:
            large = connect(folder / "large.db")
            fill(abstracts.rows(options.large), large, None)
            questions = [abstracts.question(number, options.large) for number in range(options.queries)]
            grown = compare(large, None, questions)["ours"] / took["ours"]
            print(f"{options.records:,} -> {options.large:,} records: p50 x {grown:.2f} (less than {MAX_GROWTH})")
            lost = measure_recall(large, None, questions, options.judged)
            slower = measure_narrowed(large, questions)
            if grown >= MAX_GROWTH:
                broken.append(f"p50 grows {grown:.2f} times")
            if slower > MAX_NARROWED:
                broken.append(f"a search within a large corpus takes {slower:.2f} of one in all")
            if lost > MAX_LOST:
                broken.append(f"recall@{TOP} of the large index {lost:.3f} below a search by the book")
    for promise in broken:
        print(f"broken: {promise}")
    return bool(broken)


def remove_file(path: Path) -> str:
    """Delete a file."""
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)
    return str(path)


def connect(path: Path) -> sqlite3.Connection:
    """Open an empty corpus."""
    connection = open_corpus(remove_file(path))
    connection.execute("PRAGMA synchronous=NORMAL")
    return connection


def fill(rows: Iterator[Abstract], ours: sqlite3.Connection, plain: sqlite3.Connection | None) -> float:
    """Index the rows with all contenders, batch by batch; return our speed as a share of plain FTS5's."""
    if plain is not None:
        plain.execute("PRAGMA journal_mode=WAL")
        plain.execute("PRAGMA synchronous=NORMAL")
        plain.execute(PLAIN)
    seconds = {"ours": 0.0, "plain": 0.0}
    count = 0
    while batch := list(islice(rows, AT_ONCE)):
        count += len(batch)
        measure_cpu(ours, lambda batch=batch: put(ours, batch))  # type: ignore[misc]
        seconds["ours"] += measure_cpu(ours, lambda: index(ours))
        if plain is not None:
            seconds["plain"] += measure_cpu(plain, lambda batch=batch: plain.executemany(INTO_PLAIN, batch))  # type: ignore[misc]
    place = find_corpus_file(ours)
    listed = ours.execute("SELECT name FROM lexical_segments").fetchall()
    size = sum(place.with_name(f"{place.name}.words-{name}").stat().st_size for (name,) in listed) if place else 0
    print(f"ours  {count:,} records, {count / seconds['ours']:,.0f} a second, {size / 1e6:,.0f} MB beside the texts")
    if plain is None:
        return 1.0
    pages, page = (plain.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    print(f"plain {count:,} records, {count / seconds['plain']:,.0f} a second, {pages * page / 1e6:,.0f} MB")
    speed = seconds["plain"] / seconds["ours"]
    print(f"indexing at {speed:.2f} of plain FTS5's speed (at least {LEAST_SPEED})")
    return speed


def measure_cpu(connection: sqlite3.Connection, work: Callable[[], object]) -> float:
    """Return the CPU seconds of a transaction."""
    start = time.process_time()
    connection.execute("BEGIN IMMEDIATE")
    work()
    connection.execute("COMMIT")
    return time.process_time() - start


def compare(ours: sqlite3.Connection, plain: sqlite3.Connection | None, questions: list[Question]) -> dict[str, float]:
    """Print the median CPU time of a query for each contender, over all and by the words of a query."""
    contenders: dict[str, Callable[[str], object]] = {"ours": lambda query: words.search_words(ours, query, TOP)}
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
            print(f"{'':18} ours / {name} {medians['ours'] / medians[name]:.2f} (at most {MAX_OF_PLAIN})")
    return medians


def ask_plain(connection: sqlite3.Connection, query: str, without: frozenset[str] = frozenset()) -> list[int]:
    """Ask the plain index for any of the words."""
    words = [word for word in normalize_words(query) if word not in without]
    match = " OR ".join(f'"{word}"' for word in words)
    return [row[0] for row in connection.execute(FROM_PLAIN, (match, TOP))]


def measure_recall(
    ours: sqlite3.Connection, plain: sqlite3.Connection | None, questions: list[Question], judged: int
) -> float:
    """Print the share of the results of a search by the book that we find, and of the records of the queries.

    Returns:
        The share of the first ten of a search by the book that is missing.
    """
    found = [pmid in [hit.pmid for hit in words.search_words(ours, query, TOP)] for pmid, query in questions]
    found_by_plain = [pmid in ask_plain(plain, query) for pmid, query in questions] if plain is not None else []
    asked = [query for _, query in questions[:judged]]
    shared = []
    for query, expected in zip(asked, rank_by_the_book(ours, asked), strict=True):
        hits = words.search_words(ours, query, TOP, profile=UNFED)
        shared.append(
            sum(expected.get(hit.pmid, 0.0) >= min(expected.values()) - 1e-6 for hit in hits) / max(1, len(hits))
        )
    print(f"of the first {TOP} of a search by the book {statistics.mean(shared):.4f}")
    print(f"the record asked for among the first {TOP}: ours {statistics.mean(found):.3f}", end="")
    print(f", plain {statistics.mean(found_by_plain):.3f}" if plain is not None else "")
    return 1 - statistics.mean(shared)


def rank_by_the_book(connection: sqlite3.Connection, queries: list[str]) -> list[dict[int, float]]:
    """Return the first ten of each query and their scores, from every word of every record."""
    with open_index(connection) as index:
        asked = [
            parse(query, lambda phrase: index.count_phrases(to_concept([phrase]).phrases, UNFED.formula) > 0)
            for query in queries
        ]
    phrases = {phrase for groups in asked for group in groups for phrase in group.phrases}
    wanted = {word for phrase in phrases for word in phrase}
    weights = (UNFED.title, 1.0, UNFED.terms)
    had: dict[tuple[WordSequence, ...], list[tuple[int, float, int]]] = {
        group.phrases: [] for groups in asked for group in groups
    }
    records = length = 0
    pmids = [row[0] for row in connection.execute("SELECT pmid FROM documents")]
    for start in range(0, len(pmids), AT_ONCE):
        for row in read_index_rows(connection, pmids[start : start + AT_ONCE]):
            texts = read_terms(row).texts
            fields = [[(), *texts.get(name, ())] for name in ("title", "abstract", "terms")]
            size = sum(len(part) for field in fields[:2] for part in field)
            records, length = records + 1, length + size
            if wanted.isdisjoint(word for field in fields for part in field for word in part):
                continue
            for stems, having in had.items():
                frequency = sum(
                    weight * sum(tuple(part[place : place + len(phrase)]) == phrase for place in range(len(part)))
                    if len(phrase) > 1
                    else weight * part.count(phrase[0])
                    for phrase in stems
                    for weight, field in zip(weights, fields, strict=True)
                    for part in field
                )
                if frequency:
                    having.append((row.pmid, frequency, size))
    found = []
    for groups in asked:
        scores: dict[int, float] = {}
        for group in groups:
            having = had[group.phrases]
            idf = math.log(1 + (records - len(having) + 0.5) / (len(having) + 0.5))
            for pmid, frequency, size in having:
                norm = UNFED.k1 * (1 - UNFED.b + UNFED.b * size * records / length)
                value = group.weight * idf * frequency * (UNFED.k1 + 1) / (frequency + norm)
                scores[pmid] = scores.get(pmid, 0.0) + value
        found.append(
            {pmid: scores[pmid] for pmid in heapq.nlargest(TOP, scores, key=lambda pmid: (scores[pmid], -pmid))}
        )
    return found


def measure_narrowed(ours: sqlite3.Connection, questions: list[Question]) -> float:
    """Print the median CPU time of a search within corpora of several sizes; return the worst as a share of all."""
    for every in (2, 10, 100, 1000):
        pmids = ours.execute("SELECT pmid FROM documents WHERE abs(pmid * 40503 % 1009) < 1009.0 / ?", (every,))
        measure_cpu(ours, lambda every=every, pmids=pmids: join(ours, str(every), [row[0] for row in pmids]))  # type: ignore[misc]
    corpora = (None, "2", "10", "100", "1000")
    fastest = {(corpus, query): float("inf") for corpus in corpora for _, query in questions[:35]}
    for corpus, query in [*fastest] * ROUNDS:
        start = time.process_time()
        words.search_words(ours, query, TOP, corpus=corpus)
        fastest[corpus, query] = min(fastest[corpus, query], time.process_time() - start)
    medians = {
        corpus: statistics.median(seconds for (among, _), seconds in fastest.items() if among == corpus)
        for corpus in corpora
    }
    for corpus in corpora[1:]:
        count = ours.execute("SELECT count(*) FROM membership WHERE query_key = ?", (corpus,)).fetchone()[0]
        share = medians[corpus] / medians[None]
        print(f"within a corpus of {count:,} p50 {1e3 * medians[corpus]:.1f} ms, {share:.2f} of a search in all")
    return max(medians.values()) / medians[None]


if __name__ == "__main__":
    sys.exit(main())
