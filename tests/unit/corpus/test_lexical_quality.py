"""The search is better than a plain one where people judged, and nearly as good as an exhaustive one where it saves."""

import sqlite3
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from abstracts import Abstracts
from judged import Collection, cystic_fibrosis, medlars, ndcg, recall
from places import BENCHMARKS

from entrez_kit.corpus.search import index as lexical
from entrez_kit.corpus.search.candidates import Index, plan
from entrez_kit.corpus.search.query import Group
from entrez_kit.corpus.search.score import DEFAULT
from entrez_kit.corpus.search.terms import words_of

RECORDS = 1_500


@pytest.mark.long
@pytest.mark.parametrize("read", [cystic_fibrosis, medlars], ids=["cystic fibrosis", "medlars"])
def test_judged_queries_are_answered_better_than_by_plain_fts5(
    real_data: Path, read: Callable[[Path], Collection]
) -> None:
    if not (real_data / "retrieval").is_dir():
        pytest.skip("the recorded data has no judged collections")
    collection = read(real_data / "retrieval")
    connection = sqlite3.connect(":memory:")
    lexical.create(connection)
    lexical.add(connection, collection.rows)
    connection.execute(
        "CREATE VIRTUAL TABLE plain USING fts5(title, abstract, terms, tokenize='porter unicode61 remove_diacritics 2')"
    )
    connection.executemany("INSERT INTO plain (rowid, title, abstract, terms) VALUES (?, ?, ?, ?)", collection.rows)
    gained: list[float] = []
    recalled: list[float] = []
    for query in collection.queries:
        match = " OR ".join(f'"{word}"' for word in words_of(query.text))
        rows = connection.execute(
            "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain), rowid LIMIT 10", (match,)
        )
        before = [row[0] for row in rows]
        after = [hit.pmid for hit in lexical.search(connection, query.text, 10)]
        gained.append(ndcg(after, query.gains) - ndcg(before, query.gains))
        recalled.append(recall(after, query.gains) - recall(before, query.gains))
    connection.close()

    assert statistics.mean(gained) > 0.05
    assert statistics.mean(recalled) > 0.01


@pytest.fixture(scope="module")
def abstracts() -> Abstracts:
    return Abstracts()


@pytest.fixture(scope="module")
def invented(abstracts: Abstracts) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    lexical.create(connection)
    lexical.add(connection, abstracts.rows(RECORDS))
    yield connection
    connection.close()


@pytest.fixture
def frugal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the search save on a small index what it otherwise saves on one a hundred times as large."""
    for name, value in {"BUDGET": 150, "BUDGET_RECORDS": 500, "SURE": 30, "SURE_ENOUGH": 10, "ENOUGH": 100}.items():
        monkeypatch.setattr(f"entrez_kit.corpus.search.candidates.{name}", value)


@pytest.mark.long
@pytest.mark.usefixtures("frugal")
def test_what_is_saved_costs_next_to_no_recall(invented: sqlite3.Connection, abstracts: Abstracts) -> None:
    shared, known, known_by_all = [], [], []
    for number in range(42):
        question = abstracts.question(number, RECORDS)
        hits = [hit.pmid for hit in lexical.search(invented, question.text, 10)]
        every = [hit.pmid for hit in lexical.search(invented, question.text, 10, exhaustive=True)]
        shared.append(len({*hits} & {*every}) / len(every))
        known.append(question.pmid in hits)
        known_by_all.append(question.pmid in every)

    assert statistics.mean(known) >= statistics.mean(known_by_all) - 0.01
    assert statistics.mean(shared) > 0.93


@pytest.mark.usefixtures("frugal")
def test_rare_words_decide_and_frequent_ones_help(invented: sqlite3.Connection) -> None:
    index = Index(invented, DEFAULT)
    groups = [(Group((("rare",),)), 20.0), (Group((("rarer",),)), 100.0), (Group((("often",),)), 500.0)]
    always = (Group((("patients",),)), 1_200.0)

    assert plan(index, [*groups, always]) == '("rare" OR "rarer") AND ("rare" OR "rarer" OR "often" OR "often")'
    assert plan(index, groups[:2]) == '"rare" OR "rarer"'
    assert plan(index, [always]) == '"patients"'


@pytest.mark.usefixtures("frugal")
def test_two_frequent_words_are_looked_for_together(invented: sqlite3.Connection) -> None:
    index = Index(invented, DEFAULT)
    groups = [Group(((word,),)) for word in ("clinical", "patients")]

    assert plan(index, [(group, index.frequency(group)) for group in groups]) == (
        '(("clinical") AND ("patients")) AND ("clinical" OR "patients")'
    )


def test_estimated_frequencies_are_close(invented: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entrez_kit.corpus.search.candidates.SURE", 100)
    index = Index(invented, DEFAULT)
    for word in ("patients", "clinical", "the", "study"):
        group = Group(((word,),))

        assert index.frequency(group) == pytest.approx(index.frequency(group, exact=True), rel=0.15)


@pytest.mark.long
@pytest.mark.parametrize("every", [2, 30, 400])
@pytest.mark.usefixtures("frugal")
def test_a_corpus_is_searched_as_thoroughly_as_the_whole(
    invented: sqlite3.Connection, abstracts: Abstracts, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    monkeypatch.setattr("entrez_kit.corpus.search.candidates.FEW_MEMBERS", 0)
    invented.execute("DROP TABLE IF EXISTS membership")
    invented.execute(
        "CREATE TABLE membership (query_key TEXT, pmid INTEGER, PRIMARY KEY (query_key, pmid)) WITHOUT ROWID"
    )
    invented.execute("INSERT INTO membership SELECT 'mine', pmid FROM lexical_records WHERE pmid / 3 % ? = 0", (every,))
    members = {row[0] for row in invented.execute("SELECT pmid FROM membership")}
    shared = []
    for number in range(14):
        text = abstracts.question(number, RECORDS).text
        hits = lexical.search(invented, text, 10, corpus="mine")
        inside = lexical.search(invented, text, 10, corpus="mine", exhaustive=True)

        assert {hit.pmid for hit in hits} <= members
        assert len(hits) == len(inside)
        if inside:
            shared.append(len({hit.pmid for hit in hits} & {hit.pmid for hit in inside}) / len(inside))
    assert statistics.mean(shared) > 0.93


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
    assert "of the first 10 of the exhaustive search" in done.stdout
