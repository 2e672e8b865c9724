"""Which records are worth scoring: the first stage of a search, done by SQLite.

SQLite's own ``bm25()`` orders what matches. Its k1 is fixed at 1.2 and b at 0.75, but an index that keeps no column sizes
(``columnsize=0`` without content) leaves it without lengths, which makes it five times faster, and a weight w given to
the column turns f / (f + k1 (1 - b)) into f / (f + k1 (1 - b) / w), so that any k1 can be had.

What matches is kept small. The rarest words of a query decide which records come into question, as many words as fit
into a budget of postings; more frequent ones only help to order them, and those that nearly every record has wait for
the second stage. (The idea is that of essential lists in H. Turtle and J. Flood, "Query evaluation: strategies and
optimizations", IPM 31(6), 1995; the budget in place of exact bounds makes it an approximation.)
"""

import math
import sqlite3
from collections.abc import Sequence
from typing import Final

from entrez_kit.corpus.queries import Group, Phrase
from entrez_kit.corpus.ranking import Profile, Statistics

SAMPLE_EVERY: Final = 32
"""Words are counted in one record of so many."""
SURE: Final = 200
"""A word met so often in the sample is not counted by hand: the estimate is then good to 7 %."""
DEPTH: Final = 200
"""Candidates that are scored in full, at least."""
BUDGET: Final = 20_000
BUDGET_RECORDS: Final = 50_000
"""Postings of words that decide, for an index of so many records; the budget grows with the square root of the size."""
TOO_FREQUENT: Final = 0.2
"""A word that this share of the records has neither decides nor helps, as long as there are others."""
FEW_MEMBERS: Final = 1_000
"""The records of so small a corpus are all scored."""
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
        """Return how many records have the group; for a frequent word an estimate from the sample, unless ``exact``."""
        stems = group.stems
        if not exact and all(len(phrase) == 1 for phrase in stems):
            met = sum(self._met(phrase[0]) for phrase in stems)
            if met >= SURE:
                return min(1.0, met / self._sampled) * self.statistics.records
        return self.count(group.expression, -1 if exact else SURE * SAMPLE_EVERY * 4)

    def _met(self, word: str) -> int:
        row = self._one("SELECT records FROM lexical_sample WHERE stem = ?", word)
        return row[0] if row else 0

    def count(self, expression: str, most: int = -1) -> int:
        """Count the records that match, up to so many."""
        row = self._one(
            "SELECT count(*) FROM (SELECT 1 FROM lexical_index WHERE lexical_index MATCH ? LIMIT ?)", expression, most
        )
        return row[0] if row else 0

    def best(self, expression: str, limit: int, corpus: str | None = None) -> list[int]:
        """Return the PMIDs of the records that match and are in the corpus, in SQLite's order, best first."""
        weight = _BUILT_IN / self.profile.k1
        inside = "" if corpus is None else _INSIDE
        rows = self._cursor.execute(
            f"SELECT rowid FROM lexical_index WHERE lexical_index MATCH :match {inside} "
            "ORDER BY bm25(lexical_index, :weight), rowid LIMIT :limit",
            {"match": expression, "weight": weight, "limit": limit, "corpus": corpus},
        )
        return [row[0] for row in rows]

    def members(self, corpus: str, most: int) -> list[int]:
        """Return PMIDs of a corpus, up to so many."""
        rows = self._cursor.execute(
            "SELECT pmid FROM membership WHERE query_key = ? ORDER BY pmid LIMIT ?", (corpus, most)
        )
        return [row[0] for row in rows]

    def texts(self, pmids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Return the kept texts of records, in the order of their PMIDs."""
        for start in range(0, len(pmids), _AT_ONCE):
            yield from self._cursor.execute(
                "SELECT pmid, text FROM lexical_records WHERE pmid IN (SELECT value FROM json_each(?)) ORDER BY pmid",
                (json.dumps(pmids[start : start + _AT_ONCE]),),
            ).fetchall()


def choose(
    index: Index, groups: Sequence[Group], frequencies: Sequence[float], limit: int, corpus: str | None, *, all_: bool
) -> list[int]:
    """Return the PMIDs of the records to score."""
    present = [(frequency, place, groups[place]) for place, frequency in enumerate(frequencies) if frequency > 0]
    present.sort(key=lambda one: one[:2])
    if not present:
        return []
    everything = any_of(group for _, _, group in present)
    required = [group for _, _, group in present if group.required]
    if all_:
        expression = _both(required, everything)
        return index.best(expression, -1, corpus)
    share = 1.0
    if corpus is not None:
        members = index.members(corpus, COUNTED_MEMBERS)
        if len(members) <= FEW_MEMBERS and not required:
            return members
        share = min(1.0, len(members) / index.statistics.records)
    depth = max(limit, DEPTH)
    expression = plan(index, present, share)
    found = index.best(expression, depth, corpus)
    if len(found) < limit and not required and expression != everything:
        found = index.best(everything, depth, corpus)
    return found


def plan(index: Index, present: Sequence[tuple[float, int, Group]], share: float) -> str:
    """Return what to match: rare words decide, frequent ones help. Every word is named twice, or none."""
    records = index.statistics.records
    budget = BUDGET * max(1.0, math.sqrt(records / BUDGET_RECORDS)) / share
    deciding: list[Group] = []
    helping: list[Group] = []
    spent = 0.0
    required = [group for _, _, group in present if group.required]
    for frequency, _, group in present:
        if required or (deciding and spent + frequency > budget):
            if not group.required and frequency <= TOO_FREQUENT * records / share:
                helping.append(group)
        else:
            deciding.append(group)
            spent += frequency
    if required:
        decision = " AND ".join(f"({group.expression})" for group in required)
        named = required
    else:
        decision, named = any_of(deciding), deciding
        if spent > 2 * budget and helping:
            both = f"({decision}) AND ({helping[0].expression})"
            if index.count(both, ENOUGH) >= ENOUGH:
                decision, named = both, [*deciding, helping.pop(0)]
            ...
    if not helping and decision == any_of(named):
        return decision
    return f"({decision}) AND ({any_of([*named, *helping, *helping])})"
