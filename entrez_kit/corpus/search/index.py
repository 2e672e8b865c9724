"""The full-text index of the corpus: what is in it, kept in step inside the store's own transactions, and its search.

``search`` works in two stages. SQLite finds some hundred candidates (see ``candidates``); these are then scored here
(see ``ranking``). The index is an FTS5 table without content and without column sizes, since SQLite orders matches five
times faster without them. What was indexed of each record is kept next to it, normalised: the second stage reads it,
and only with exactly these words can a record be taken out of such an index again (SQLite's own ``contentless_delete``
needs 3.43).

Tables: ``lexical_records`` (a record's words: title, abstract and terms, a line each), ``lexical_index`` (FTS5),
``lexical_sample`` (how many of the sampled records have a stem) and ``lexical_totals`` (one row).
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple, Protocol

from entrez_kit.corpus.search.candidates import SAMPLE_EVERY, Index, choose
from entrez_kit.corpus.search.query import Group, parse
from entrez_kit.corpus.search.score import (
    DEFAULT,
    Profile,
    ScoredRecord,
    Statistics,
    Wanted,
    best,
    length_of,
    read,
    rerank,
    score,
    want,
)
from entrez_kit.corpus.search.terms import plain, stem, words_of

AT_ONCE: Final = 2_000
"""Records added or removed by one pass; FTS5 is fastest when it sees them in the order of their ids."""
MERGE_AT: Final = 8
"""Segments that FTS5 merges at a time. More than its 4 makes adding faster and hardly slows down searching."""

_BETWEEN_FIELDS: Final = " ¶ "
"""The tokenizer takes the sign for a word, but no text that is ``plain`` has it."""

_TABLES: Final = (
    "CREATE VIRTUAL TABLE lexical_index USING fts5(text, content='', columnsize=0, tokenize='porter ascii')",
    "CREATE TABLE lexical_records (pmid INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE TABLE lexical_sample (stem TEXT PRIMARY KEY, records INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE lexical_totals (records INTEGER NOT NULL, words INTEGER NOT NULL, sampled INTEGER NOT NULL)",
)


class Row(Protocol):
    """What the index is told of a record."""

    @property
    def pmid(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def abstract(self) -> str: ...
    @property
    def terms(self) -> str: ...


class IndexRow(NamedTuple):
    """A record to index; ``terms`` are MeSH headings and keywords."""

    pmid: int
    title: str
    abstract: str
    terms: str


class LexicalHit(NamedTuple):
    """A record found; the higher ``bm25``, the better it matches."""

    pmid: int
    bm25: float


# Keeping it ----------------------------------------------------------------------------------------------------------


def create(connection: sqlite3.Connection) -> None:
    """Make the tables."""
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute("INSERT INTO lexical_index (lexical_index, rank) VALUES ('automerge', ?)", (MERGE_AT,))
    connection.execute("INSERT INTO lexical_totals VALUES (0, 0, 0)")


def add(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Index records. One that is indexed already is replaced."""
    remaining = iter(rows)
    while batch := list(islice(remaining, AT_ONCE)):
        texts = {row.pmid: _text(row) for row in batch}
        remove(connection, texts)
        ordered = sorted(texts.items())
        connection.executemany(
            "INSERT INTO lexical_index (rowid, text) VALUES (?, ?)", ((pmid, _indexed(text)) for pmid, text in ordered)
        )
        connection.executemany("INSERT INTO lexical_records (pmid, text) VALUES (?, ?)", ordered)
        _count(connection, ordered, 1)


def remove(connection: sqlite3.Connection, pmids: Iterable[int]) -> None:
    """Take records out of the index; those that are not in it are passed over."""
    remaining = iter(sorted(set(pmids)))
    while batch := list(islice(remaining, AT_ONCE)):
        known: list[tuple[int, str]] = [
            (row[0], row[1])
            for row in connection.execute(
                "SELECT pmid, text FROM lexical_records WHERE pmid IN (SELECT value FROM json_each(?)) ORDER BY pmid",
                (json.dumps(batch),),
            )
        ]
        if not known:
            continue
        connection.executemany(
            "INSERT INTO lexical_index (lexical_index, rowid, text) VALUES ('delete', ?, ?)",
            ((pmid, _indexed(text)) for pmid, text in known),
        )
        connection.executemany("DELETE FROM lexical_records WHERE pmid = ?", ((pmid,) for pmid, _ in known))
        _count(connection, known, -1)


def rebuild(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Make the index anew from these records alone, in the most compact form."""
    for table in ("lexical_index", "lexical_records", "lexical_sample", "lexical_totals"):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    create(connection)
    add(connection, rows)
    optimise(connection)


def optimise(connection: sqlite3.Connection) -> None:
    """Merge the index into one piece. It takes as long as adding a third of the records, and saves some room."""
    connection.execute("INSERT INTO lexical_index (lexical_index) VALUES ('optimize')")


def check(connection: sqlite3.Connection) -> None:
    """Compare the index with the kept records.

    Raises:
        sqlite3.DatabaseError: the index is damaged.
    """
    connection.execute("INSERT INTO lexical_index (lexical_index) VALUES ('integrity-check')")


def _text(row: Row) -> str:
    return "\n".join(plain(_one_line(field)) for field in (row.title, row.abstract, row.terms))


def _one_line(text: str) -> str:
    return " ".join(text.split()) if "  " in text or "\n" in text else text


def _indexed(text: str) -> str:
    """Return what SQLite is given of a kept text: the title twice, as it counts; no phrase runs across fields."""
    return (text[: text.index("\n") + 1] + text).replace("\n", _BETWEEN_FIELDS)


def _count(connection: sqlite3.Connection, texts: Sequence[tuple[int, str]], sign: int) -> None:
    words = sum(length_of(*text.split("\n")[:2]) for _, text in texts)
    sampled = [text for pmid, text in texts if in_sample(pmid)]
    stems = Counter(found for text in sampled for found in set(map(stem, words_of(text))))
    connection.executemany(
        "INSERT INTO lexical_sample VALUES (?, ?) ON CONFLICT DO UPDATE SET records = records + excluded.records",
        ((found, sign * count) for found, count in sorted(stems.items())),
    )
    if sign < 0:
        connection.executemany(
            "DELETE FROM lexical_sample WHERE stem = ? AND records <= 0", ((found,) for found in sorted(stems))
        )
    connection.execute(
        "UPDATE lexical_totals SET records = records + ?, words = words + ?, sampled = sampled + ?",
        (sign * len(texts), sign * words, sign * len(sampled)),
    )


def in_sample(pmid: int) -> bool:
    """Say whether a record is one of those whose words are counted; PMIDs in a row are as good as a draw by lot."""
    return (pmid * 2_654_435_761 >> 16) % SAMPLE_EVERY == 0


# Searching it --------------------------------------------------------------------------------------------------------


def search(
    connection: sqlite3.Connection,
    query: str,
    limit: int,
    *,
    corpus: str | None = None,
    profile: Profile = DEFAULT,
    exhaustive: bool = False,
) -> list[LexicalHit]:
    """Return the records that match a query best, the best first, equal ones by PMID.

    Args:
        connection: the store's.
        query: free text; a phrase in double quotes must be there, unless no record at all has it.
        limit: how many to return at most.
        corpus: a query key; only records that it has found are returned.
        profile: what the scores depend on.
        exhaustive: score every record that has any word of the query, however long it takes.
    """
    index = Index(connection, profile)
    if limit < 1 or index.statistics.records == 0:
        return []
    groups = parse(query, index.exists)
    frequencies = [index.frequency(group, exact=exhaustive) for group in groups]
    chosen = choose(index, groups, frequencies, limit, corpus=corpus, exhaustive=exhaustive)
    wanted = want(groups, frequencies, index.statistics, profile)
    scores: dict[int, float] = {}
    records: dict[int, ScoredRecord] = {}
    for start in range(0, len(chosen), AT_ONCE):
        records = _read(index, chosen[start : start + AT_ONCE])
        scores |= {
            pmid: value for pmid, value in score(records.values(), wanted, index.statistics, profile).items() if value
        }
    if len(chosen) > AT_ONCE:
        records = _read(index, best(scores, profile.feedback_depth))
    scores |= rerank(
        records,
        scores,
        wanted,
        index.statistics,
        profile,
        lambda stem, word: index.frequency_of_stem(stem, word, exact=exhaustive),
    )
    return [LexicalHit(pmid, scores[pmid]) for pmid in best(scores, limit)]


def _read(index: Index, pmids: Sequence[int]) -> dict[int, ScoredRecord]:
    return {pmid: read(pmid, text) for pmid, text in index.texts(pmids)}


# The passage to show -------------------------------------------------------------------------------------------------

_NOT_TEXT: Final = ("[Title] ", "[Section] ")
"""How the lines of a passage begin that are not the abstract's."""
_PASSAGES: Final = Profile(k1=1.2, b=0.4)


def best_chunk(query: str, chunks: Sequence[str]) -> int:
    """Return the place of the passage that answers a query best; the first of equals, and where none does.

    Words that fewer of the passages have count for more. Titles and labels do not count.
    """
    records = [_passage(place, chunk) for place, chunk in enumerate(chunks)]
    mean = sum(record.length for record in records) / max(1, len(records))
    statistics = Statistics(len(records), max(1.0, mean))
    total = dict.fromkeys(range(len(records)), 0.0)
    for group in _asked(query):
        scores = score(records, [Wanted(group.stems, group.weight, group.weight)], statistics, _PASSAGES)
        worth = statistics.idf(sum(value > 0 for value in scores.values()))
        for place, value in scores.items():
            total[place] += worth * value
    return best(total, 1)[0] if total else 0


def _passage(place: int, chunk: str) -> ScoredRecord:
    words = words_of(plain(" ".join(line for line in chunk.split("\n") if not line.startswith(_NOT_TEXT))))
    return ScoredRecord(place, len(words), ([], words, []))


@lru_cache(maxsize=64)
def _asked(query: str) -> list[Group]:
    return parse(query, lambda phrase: True)
