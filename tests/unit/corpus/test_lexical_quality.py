"""The search ranks better than a plain one, by the judgements of people."""

import sqlite3
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from indexed_corpus import index_rows
from judged_collections import Collection, compute_ndcg, compute_recall, read_cystic_fibrosis, read_medlars
from project_paths import BENCHMARKS

from entrez_kit.corpus.search import words
from entrez_kit.corpus.search.terms import normalize_words


@pytest.mark.long
@pytest.mark.parametrize(
    ("read", "least"), [(read_cystic_fibrosis, 0.54), (read_medlars, 0.76)], ids=["cystic fibrosis", "medlars"]
)
def test_judged_queries_have_better_results_than_plain_fts5(
    real_data: Path, read: Callable[[Path], Collection], least: float
) -> None:
    if not (real_data / "retrieval").is_dir():
        pytest.skip("the recorded data has no judged collections")
    collection = read(real_data / "retrieval")
    connection = index_rows(collection.rows)
    plain = sqlite3.connect(":memory:")
    plain.execute(
        "CREATE VIRTUAL TABLE plain USING fts5(title, abstract, terms, tokenize='porter unicode61 remove_diacritics 2')"
    )
    plain.executemany("INSERT INTO plain (rowid, title, abstract, terms) VALUES (?, ?, ?, ?)", collection.rows)
    reached: list[float] = []
    gained: list[float] = []
    recalled: list[float] = []
    for query in collection.queries:
        match = " OR ".join(f'"{word}"' for word in normalize_words(query.text))
        rows = plain.execute(
            "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain), rowid LIMIT 10", (match,)
        )
        before = [row[0] for row in rows]
        after = [hit.pmid for hit in words.search_words(connection, query.text, 10)]
        reached.append(compute_ndcg(after, query.gains))
        gained.append(reached[-1] - compute_ndcg(before, query.gains))
        recalled.append(compute_recall(after, query.gains) - compute_recall(before, query.gains))
    connection.close()
    plain.close()

    assert statistics.mean(reached) > least
    assert statistics.mean(gained) > 0.05
    assert statistics.mean(recalled) > 0.01


@pytest.mark.process
def test_the_benchmark_of_scale_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "corpus_scale.py"), "--records", "600", "--queries", "7", "--judged", "7"],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        cwd=tmp_path,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "of the first 10 of a search by the book 1.0000" in done.stdout
