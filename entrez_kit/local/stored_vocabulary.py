"""MeSH and the journals of a copy, for searches.

They are read from the file of the copy when they are used, because MeSH has 350,000 records.
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from entrez_kit.query.mesh import Heading, Journal, Substance, Tree, Vocabulary
from entrez_kit.query.words import normalize

Reading = Callable[[], AbstractContextManager[sqlite3.Connection]]


class _StoredTree(Tree):
    """Headings of one kind in a copy."""

    def __init__(self, reading: Reading, kind: str) -> None:
        super().__init__(())
        self._reading = reading
        self._kind = kind
        self._find = lru_cache(maxsize=4096)(self._look_up)
        self._explode = lru_cache(maxsize=1024)(self._look_up_below)

    @property
    def is_empty(self) -> bool:
        """Whether the copy has no heading of this kind."""
        with self._reading() as connection:
            row = connection.execute("SELECT 1 FROM headings WHERE kind = ? LIMIT 1", (self._kind,)).fetchone()
        return row is None

    def find(self, key: str) -> Heading | None:
        """Return the heading with this normalized name or entry term."""
        return self._find(key)

    def _look_up(self, key: str) -> Heading | None:
        with self._reading() as connection:
            row = connection.execute(
                "SELECT name, trees, terms, abbreviation FROM heading_keys JOIN headings USING (ui) "
                "WHERE heading_keys.kind = ? AND key = ? ORDER BY rank, ui LIMIT 1",
                (self._kind, key),
            ).fetchone()
        return None if row is None else Heading(row[0], split_column(row[1]), split_column(row[2]), row[3])

    def explode(self, heading: Heading) -> tuple[str, ...]:
        """Return the normalized names of a heading and of all headings below any of its places in the tree."""
        return self._explode(heading)

    def _look_up_below(self, heading: Heading) -> tuple[str, ...]:
        keys = {heading.key: None}
        with self._reading() as connection:
            for tree in heading.tree_numbers:
                rows = connection.execute(
                    "SELECT name FROM heading_trees JOIN headings USING (ui) "
                    "WHERE heading_trees.kind = ? AND (tree = ? OR tree > ? AND tree < ?) ORDER BY tree",
                    (self._kind, tree, f"{tree}.", f"{tree}/"),
                )
                keys.update((normalize(name), None) for (name,) in rows)
        return tuple(keys)


class StoredVocabulary(Vocabulary):
    """The vocabulary of a copy."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self._reading = reading
        self.headings = _StoredTree(reading, "D")
        self.subheadings = _StoredTree(reading, "Q")

    def find_substance(self, key: str) -> Substance | None:
        """Return the substance with this normalized name or synonym."""
        rows = self._run_query(
            "SELECT name, terms FROM heading_keys JOIN headings USING (ui) "
            "WHERE heading_keys.kind = 'C' AND key = ? ORDER BY rank, ui LIMIT 1",
            key,
        )
        return Substance(rows[0][0], split_column(rows[0][1])) if rows else None

    def find_related(self, number: str) -> tuple[str, ...]:
        """Return the normalized names of the headings and substances that list a number as related."""
        rows = self._run_query("SELECT name FROM heading_numbers WHERE number = ? ORDER BY kind DESC, ui", number)
        return tuple(row[0] for row in rows)

    def find_journals(self, key: str) -> Sequence[Journal]:
        """Return the journals with this normalized title, abbreviation, ISSN or identifier."""
        rows = self._run_query(
            "SELECT nlm_id, abbreviation, title, issns FROM journal_keys JOIN journals USING (nlm_id) "
            "WHERE key = ? ORDER BY nlm_id",
            key,
        )
        return [
            Journal(nlm_id, abbreviation, title, split_column(issns)) for nlm_id, abbreviation, title, issns in rows
        ]

    def find_action(self, key: str) -> tuple[str, ...]:
        """Return the normalized names of the headings and substances with a pharmacological action."""
        return tuple(
            row[0] for row in self._run_query("SELECT member FROM actions WHERE action = ? ORDER BY number", key)
        )

    @property
    def lacks_actions(self) -> bool:  # type: ignore[override]
        """Whether no file of pharmacologic actions was imported."""
        with self._reading() as connection:
            return connection.execute("SELECT 1 FROM actions LIMIT 1").fetchone() is None

    def _run_query(self, statement: str, key: str) -> list[Any]:
        with self._reading() as connection:
            return connection.execute(statement, (key,)).fetchall()


def split_column(lines: str) -> tuple[str, ...]:
    """Return the values of a column that stores one per line."""
    return tuple(lines.split("\n")) if lines else ()
