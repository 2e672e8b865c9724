"""Which records are worth scoring: the first stage of a search, done by SQLite.

SQLite's own ``bm25()`` orders what matches. Its k1 is fixed at 1.2 and its b at 0.75, but where an index keeps no
column sizes (``columnsize=0`` without content) it leaves lengths out, which makes it five times faster; and as the
frequency f is multiplied by the weight w of its column, f / (f + 1.2 (1 - 0.75)) becomes f / (f + 0.3 / w), so that any
k1 can be had.

What matches is kept small. The rarest words of a query decide which records come into question, as many words as fit
into a budget of postings; more frequent ones only help to order them, and those that many records have wait for the
second stage. (H. Turtle and J. Flood, "Query evaluation: strategies and optimizations", IPM 31(6), 1995, do so with
exact bounds; a budget in their place makes it an approximation that costs less.)
"""

import json
import math
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from entrez_kit.corpus.search.query import Group, Phrase
from entrez_kit.corpus.search.score import Profile, Statistics

SAMPLE_EVERY: Final = 16
"""Words are counted in one record of so many."""
SURE: Final = 800
"""A word met so often in the sample is not looked up in the index: the estimate is then good to 3.5 %."""
SURE_ENOUGH: Final = 200
"""The same for words that feedback adds; there are more of them and each counts for less."""
DEPTH: Final = 300
"""Candidates that are scored in full, at least."""
BUDGET: Final = 20_000
BUDGET_RECORDS: Final = 50_000
"""Postings of words that decide, for an index of so many records; the budget grows with the square root of the size."""
TOO_FREQUENT: Final = 0.4
"""A word that this share of the records has neither decides nor helps, as long as there are others."""
MUCH: Final = 2
ENOUGH: Final = 2_000
"""A decision that goes over the budget so many times is narrowed by a further word, where so many records remain."""
CONCURRENCE: Final = 3
"""How much more often than by chance words of one query stand together; a guess, for the cost alone."""
FEW_MEMBERS: Final = 1_000
"""The records of so small a corpus are all scored."""
PROBED: Final = 1_000
LEAST_SHARE: Final = 0.001
"""How large a share of what matches is in a corpus is read from so many of the oldest and of the newest matches."""
MOST_COUNTED: Final = 4 * SURE * SAMPLE_EVERY
"""A phrase in more records is taken to be in so many: its weight would hardly change."""
_INSIDE: Final = "AND EXISTS (SELECT 1 FROM membership WHERE query_key = :corpus AND pmid = lexical_index.rowid)"
_AT_ONCE: Final = 5_000
_BUILT_IN: Final = 1.2 * (1 - 0.75)


class Index:
    """The index over one connection, for the length of a search."""

    def __init__(self, connection: sqlite3.Connection, profile: Profile) -> None:
        self._cursor = connection.cursor()
        self._cursor.row_factory = None
        self.profile = profile
        row = self._one("SELECT records, words, sampled FROM lexical_totals") or (0, 0, 0)
        self.statistics = Statistics(row[0], row[1] / row[0] if row[0] else 1.0)
        self._sampled: int = row[2]

    def _one(self, statement: str, *values: object) -> tuple[int, ...] | None:
        found: tuple[int, ...] | None = self._cursor.execute(statement, values).fetchone()
        return found

    def exists(self, phrase: Phrase) -> bool:
        """Say whether any record has the phrase."""
        expression = Group((phrase,)).expression
        return self._one("SELECT 1 FROM lexical_index WHERE lexical_index MATCH ? LIMIT 1", expression) is not None

    def frequency(self, group: Group, *, exact: bool = False) -> float:
        """Return how many records have the group; of a frequent one an estimate, unless ``exact``."""
        if not exact and all(len(phrase) == 1 for phrase in group.stems):
            estimate = self._estimate([phrase[0] for phrase in group.stems], SURE)
            if estimate is not None:
                return estimate
        return self.count(group.expression, -1 if exact else MOST_COUNTED)

    def frequency_of_stem(self, stem: str, word: str, *, exact: bool = False) -> float:
        """Return how many records have a stem, which ``word`` has too; of a frequent one an estimate."""
        estimate = None if exact else self._estimate([stem], SURE_ENOUGH)
        return estimate if estimate is not None else self.count(f'"{word}"')

    def _estimate(self, stems: Sequence[str], sure: int) -> float | None:
        met = 0
        for stem in stems:
            row = self._one("SELECT records FROM lexical_sample WHERE stem = ?", stem)
            met += row[0] if row else 0
        return min(1.0, met / self._sampled) * self.statistics.records if met >= sure else None

    def count(self, expression: str, most: int = -1) -> int:
        """Count the records that match, up to so many."""
        row = self._one(
            "SELECT count(*) FROM (SELECT 1 FROM lexical_index WHERE lexical_index MATCH ? LIMIT ?)", expression, most
        )
        return row[0] if row else 0

    def best(self, expression: str, limit: int, corpus: str | None = None) -> list[int]:
        """Return the PMIDs of the records that match and are in the corpus, in SQLite's order, best first."""
        rows = self._cursor.execute(
            f"SELECT rowid FROM lexical_index WHERE lexical_index MATCH :match {'' if corpus is None else _INSIDE} "
            "ORDER BY bm25(lexical_index, :weight), rowid LIMIT :limit",
            {"match": expression, "weight": _BUILT_IN / self.profile.k1, "limit": limit, "corpus": corpus},
        )
        return [row[0] for row in rows]

    def members(self, corpus: str, most: int) -> list[int]:
        """Return PMIDs of a corpus, up to so many."""
        rows = self._cursor.execute(
            "SELECT pmid FROM membership WHERE query_key = ? ORDER BY pmid LIMIT ?", (corpus, most)
        )
        return [row[0] for row in rows]

    def share(self, expression: str, corpus: str) -> float:
        """Return about which share of the records that match are in the corpus."""
        met = inside = 0
        for order in ("ASC", "DESC"):
            row = self._cursor.execute(
                "SELECT count(*), count(m.pmid) FROM (SELECT rowid AS pmid FROM lexical_index "
                f"WHERE lexical_index MATCH :match ORDER BY rowid {order} LIMIT :most) AS found "
                "LEFT JOIN membership AS m ON m.query_key = :corpus AND m.pmid = found.pmid",
                {"match": expression, "corpus": corpus, "most": PROBED},
            ).fetchone()
            met, inside = met + row[0], inside + row[1]
        return max(LEAST_SHARE, inside / met) if met else 1.0

    def texts(self, pmids: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Return the kept texts of those records that are indexed."""
        for start in range(0, len(pmids), _AT_ONCE):
            yield from self._cursor.execute(
                "SELECT pmid, text FROM lexical_records WHERE pmid IN (SELECT value FROM json_each(?))",
                (json.dumps(pmids[start : start + _AT_ONCE]),),
            ).fetchall()


def choose(
    index: Index,
    groups: Sequence[Group],
    frequencies: Sequence[float],
    limit: int,
    *,
    corpus: str | None = None,
    exhaustive: bool = False,
) -> list[int]:
    """Return the PMIDs of the records to score: the most promising ones, or all that match if ``exhaustive``."""
    present = sorted(
        ((group, frequency) for group, frequency in zip(groups, frequencies, strict=True) if frequency > 0),
        key=lambda one: one[1],
    )
    if not present:
        return []
    required = [group for group, _ in present if group.required]
    everything = _any_of([group for group, _ in present])
    if exhaustive:
        return index.best(_all_of(required) if required else everything, -1, corpus)
    if corpus is not None and not required:
        members = index.members(corpus, FEW_MEMBERS + 1)
        if len(members) <= FEW_MEMBERS:
            return members
    depth = max(limit, DEPTH)
    expression = plan(index, present)
    if corpus is not None:
        expression = plan(index, present, index.share(expression, corpus))
    found = index.best(expression, depth, corpus)
    if len(found) < limit and not required and expression != everything:
        found = index.best(everything, depth, corpus)
    return found


def plan(index: Index, present: Sequence[tuple[Group, float]], share: float = 1.0) -> str:
    """Return what to match, given groups from the rarest to the most frequent, and the share of records asked for.

    What decides is named twice, and so is what helps, for every mention counts in ``bm25()``.
    """
    records = index.statistics.records
    budget = BUDGET * max(1.0, math.sqrt(records / BUDGET_RECORDS)) / share
    deciding = [group for group, _ in present if group.required]
    rest = [(group, frequency) for group, frequency in present if not group.required]
    if deciding:
        decision = _all_of(deciding)
    else:
        spent = 0.0
        while rest and (not deciding or spent + rest[0][1] <= budget):
            group, frequency = rest.pop(0)
            deciding.append(group)
            spent += frequency
        decision = _any_of(deciding)
        while rest and spent > MUCH * budget:
            narrower = f"({decision}) AND ({rest[0][0].expression})"
            if index.count(narrower, ENOUGH) < ENOUGH:
                break
            group, frequency = rest.pop(0)
            deciding.append(group)
            spent *= min(1.0, CONCURRENCE * frequency / records)
            decision = narrower
    helping = [group for group, frequency in rest if frequency <= TOO_FREQUENT * records / share]
    if not helping and decision == _any_of(deciding):
        return decision
    return f"({decision}) AND ({_any_of([*deciding, *helping, *helping])})"


def _any_of(groups: Sequence[Group]) -> str:
    return " OR ".join(group.expression for group in groups)


def _all_of(groups: Sequence[Group]) -> str:
    return " AND ".join(f"({group.expression})" for group in groups)
