"""Measure how well the corpus's search finds the records that people judged relevant. Run by hand:

    python tests/benchmarks/retrieval.py            # before and after, on both collections
    python tests/benchmarks/retrieval.py --tune     # find the parameters on each, and report on the other
    ENTREZ_KIT_EMBEDDINGS=hf python tests/benchmarks/retrieval.py --meaning

The folder of recorded data is ENTREZ_KIT_REAL_DATA, or ../shared/real next to the project. "before" is a plain FTS5
table (`porter unicode61 remove_diacritics 2`) over the same rows, searched for any of the words, ordered by `bm25()`.

"titles" searches every fourth record by its title, in an index of the records without titles: each has one right
answer, and recall@10 is the share that is found. Feedback helps if many records are relevant and must not hurt here.

"meaning" makes a corpus of the records with the embeddings of the settings, like `corpus reindex`, and searches by
words, by meaning (the nearest passages only) and by both (like `corpus search --no-quality`).

Tuning changes one parameter after another and accepts changes that raise nDCG@10 significantly, until none does. The
released parameters were found on Cystic Fibrosis, so MEDLARS is the collection to compare.
"""

import argparse
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from entrez_kit.corpus.store import store_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from indexed_corpus import index_rows
from invented_papers import Paper
from judged_collections import Collection, JudgedQuery, compute_ndcg, compute_recall, read_cystic_fibrosis, read_medlars

from entrez_kit import EntrezKit, load_settings
from entrez_kit.corpus.embeddings import create_embedder
from entrez_kit.corpus.indexing import reindex
from entrez_kit.corpus.search import vectors, words
from entrez_kit.corpus.search.score import DEFAULT, Profile
from entrez_kit.corpus.search.terms import normalize_words

ROOT = Path(__file__).resolve().parents[2]
TOP = 10
GRID: dict[str, tuple[Any, ...]] = {
    "k1": (0.9, 1.2, 1.6, 2.0, 2.5),
    "b": (0.4, 0.6, 0.75, 0.9),
    "title": (1.0, 1.5, 2.0, 3.0),
    "terms": (0.5, 1.0, 1.5, 2.0),
    "feedback_weight": (0.0, 0.3, 0.5, 0.7),
    "feedback_words_asked": (1.0, 4.0, 6.0, 8.0),
    "feedback_records": (5, 10, 20),
    "feedback_words": (10, 20, 40),
    "feedback_power": (1.0, 2.0, 4.0),
}
LEAST_GAIN = 0.001
START = Profile(k1=1.2, b=0.75, title=1.0, terms=1.0, feedback_weight=0.0)
Figures = tuple[float, float]


def main() -> int:
    """Print the figures; return whether the search is worse than the plain one anywhere."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--tune", action="store_true", help="find the parameters on each collection")
    arguments.add_argument("--meaning", action="store_true", help="search with the embeddings that are set up")
    options = arguments.parse_args()
    folder = Path(os.environ.get("ENTREZ_KIT_REAL_DATA") or ROOT.parent / "shared" / "real") / "retrieval"
    if not folder.is_dir():
        print(f"no collections in {folder}")
        return 1
    collections = (read_cystic_fibrosis(folder), read_medlars(folder))
    if options.meaning:
        for collection in collections:
            measure_meaning(collection)
        return 0
    indexes = {collection.name: index_rows(collection.rows) for collection in collections}
    befores = {collection.name: measure_plain(collection) for collection in collections}
    worse = False
    print(f"shipped parameters, tuned on {collections[0].name}:\n  {DEFAULT}")
    for collection in collections:
        after = measure_ours(indexes[collection.name], collection, DEFAULT)
        print_figures(
            collection, befores[collection.name], after, "tuned here" if collection is collections[0] else "not tuned"
        )
        worse |= any(new < old for new, old in zip(after, befores[collection.name], strict=True))
    for collection in map(make_title_collection, collections):
        print_figures(
            collection,
            measure_plain(collection),
            measure_ours(index_rows(collection.rows), collection, DEFAULT),
            "not tuned",
        )
    for tuned_on, other in (collections, collections[::-1]) if options.tune else ():
        profile = tune(indexes[tuned_on.name], tuned_on)
        print(f"tuned on {tuned_on.name}:\n  {profile}")
        for collection in (tuned_on, other):
            after = measure_ours(indexes[collection.name], collection, profile)
            print_figures(
                collection, befores[collection.name], after, "tuned here" if collection is tuned_on else "not tuned"
            )
    return int(worse)


def make_title_collection(collection: Collection) -> Collection:
    """Make a collection of records without titles, with queries of their titles."""
    rows = [row for row in collection.rows if row.title and row.abstract]
    queries = [JudgedQuery(row.title, {row.pmid: 1}) for row in rows[::4]]
    return Collection(f"{collection.name}, titles", [row._replace(title="") for row in rows], queries)


def measure_plain(collection: Collection) -> Figures:
    """Return the figures of a plain FTS5 table."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE plain USING fts5(title, abstract, terms, tokenize='porter unicode61 remove_diacritics 2')"
    )
    connection.executemany("INSERT INTO plain (rowid, title, abstract, terms) VALUES (?, ?, ?, ?)", collection.rows)
    rankings = []
    for query in collection.queries:
        match = " OR ".join(f'"{word}"' for word in normalize_words(query.text))
        rows = connection.execute(
            "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain), rowid LIMIT ?", (match, TOP)
        )
        rankings.append([row[0] for row in rows])
    return score_rankings(collection, rankings)


def measure_ours(connection: sqlite3.Connection, collection: Collection, profile: Profile) -> Figures:
    """Return the figures of our search."""
    rankings = [
        [hit.pmid for hit in words.search_words(connection, query.text, TOP, profile=profile)]
        for query in collection.queries
    ]
    return score_rankings(collection, rankings)


def measure_meaning(collection: Collection) -> None:
    """Print the figures of words, meaning and both, through a corpus of the collection's records."""
    with tempfile.TemporaryDirectory() as folder, EntrezKit(load_settings({"home": folder})) as kit:
        services = kit.services
        store_of(services).upsert_pubmed_docs(
            Paper(
                row.pmid, title=row.title, abstract=row.abstract, mesh=list(map(escape, row.terms.split("; ")))
            ).article()
            for row in collection.rows
        )
        start = time.process_time()
        made = reindex(services)
        print(f"{collection.name}: {len(collection.rows):,} records, {made.vectors:,} vectors of {made.model}", end=" ")
        print(f"in {time.process_time() - start:.0f} CPU seconds")
        embedder = create_embedder(services.settings, queries=True)
        assert embedder is not None
        rankings: dict[str, list[list[int]]] = {"words": [], "meaning": [], "both": []}
        for query in collection.queries:
            with store_of(services).reading() as connection:
                rankings["words"].append([hit.pmid for hit in words.search_words(connection, query.text, TOP)])
                vector = next(embedder.yield_matrices([query.text]))[0]
                near = vectors.find_nearest(connection, embedder.name, vector, TOP)
            rankings["meaning"].append([hit.pmid for hit in near])
            both = kit.rag_search(query=query.text, top_k=TOP, quality_bias=False)
            rankings["both"].append([int(hit.doc_id.removeprefix("pmid:")) for hit in both.results])
    for name, found in rankings.items():
        gained, recalled = score_rankings(collection, found)
        print(f"  {name:8} nDCG@{TOP} {gained:.4f}  recall@{TOP} {recalled:.4f}")


def score_rankings(collection: Collection, rankings: list[list[int]]) -> Figures:
    """Return the mean nDCG@10 and recall@10."""
    pairs = list(zip(rankings, (query.gains for query in collection.queries), strict=True))
    return statistics.mean(compute_ndcg(*pair) for pair in pairs), statistics.mean(
        compute_recall(*pair) for pair in pairs
    )


def tune(connection: sqlite3.Connection, collection: Collection) -> Profile:
    """Return the best parameters for a collection, changed one after another from plain BM25 on."""
    found, best = START, measure_ours(connection, collection, START)[0]
    improved = True
    while improved:
        improved = False
        for name, values in GRID.items():
            for value in values:
                tried = replace(found, **{name: value})
                reached = measure_ours(connection, collection, tried)[0]
                if reached > best + LEAST_GAIN:
                    found, best, improved = tried, reached, True
    return found


def print_figures(collection: Collection, old: Figures, new: Figures, note: str) -> None:
    """Print one collection's figures."""
    print(f"{collection.name:24} {len(collection.rows):,} records, {len(collection.queries)} queries, {note}")
    for name, was, is_ in zip((f"nDCG@{TOP}", f"recall@{TOP}"), old, new, strict=True):
        print(f"  {name:10} before {was:.4f}  after {is_:.4f}  ({(is_ - was) / was:+.1%})")


if __name__ == "__main__":
    sys.exit(main())
