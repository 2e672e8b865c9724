"""The MeSH database of a local copy. Its records stay in the file of the copy, because MeSH has 350,000."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from entrez_kit.local.eutils.mesh import MeshDatabase, MeshEntry, list_heading_values
from entrez_kit.local.eutils.small_query import SmallQuery, Uids, Values, has_value
from entrez_kit.local.stored_vocabulary import split_column
from entrez_kit.query.fields import MESH_FIELDS, Field
from entrez_kit.query.words import normalize, split_words

Reading = Callable[[], AbstractContextManager[sqlite3.Connection]]
_PREFIXES: Final = {"D": "68", "Q": "81", "C": "67"}
"""The first digits of the Entrez UID by the letter of the unique identifier."""
_COLUMNS: Final = "ui, name, trees, terms, scope_note, abbreviation"


def to_uid(ui: str) -> str:
    """Return the Entrez UID of a record (D003924 -> 68003924).

    The real UIDs of identifiers with nine digits do not follow from them; a copy forms all in the same way.
    """
    return f"{_PREFIXES.get(ui[:1], '')}{ui[1:]}"


def to_ui(uid: str) -> str:
    """Return the unique identifier of an Entrez UID (68003924 -> D003924)."""
    return next((f"{letter}{uid[2:]}" for letter, prefix in _PREFIXES.items() if uid.startswith(prefix)), "")


class _Uids(Mapping[str, Values]):
    """The UIDs of all records and the values of each."""

    def __init__(self, database: "StoredMesh") -> None:
        self._database = database

    def __len__(self) -> int:
        return self._database.count

    def __iter__(self) -> Iterator[str]:
        return (to_uid(ui) for (ui,) in self._database.select("SELECT ui FROM headings"))

    def __getitem__(self, uid: str) -> Values:
        return list_heading_values(self._database.records[uid])


class _StoredQuery(SmallQuery):
    """A query that selects candidates in the file before it compares words."""

    def __init__(self, database: "StoredMesh") -> None:
        super().__init__(_Uids(database), MESH_FIELDS)
        self._database = database

    def sort_ids(self, found: Uids) -> list[str]:
        """Return ids in the order of results."""
        return sorted(found, key=int, reverse=True)

    def count_values(self, field: Field) -> int:
        """Count the different values of a field. Names are compared without case and accents."""
        names = "(SELECT count(DISTINCT key) FROM heading_keys)"
        notes = "(SELECT count(DISTINCT scope_note) FROM headings)"
        trees = "(SELECT count(DISTINCT tree) FROM heading_trees)"
        counts = {"ALL": f"{names} + {notes}", "WORD": f"{names} + {notes}", "MESH": names, "TN": trees}
        return (
            int(self._database.select(f"SELECT {counts[field.code]}")[0][0])
            if field.code in counts
            else len(self.records)
        )

    def find_records(self, field: Field, text: str, *, explodes: bool = True) -> Uids:
        """Return the records that have a value in a field."""
        return frozenset(
            uid
            for uid in self._select_candidates(field, text)
            if has_value(field, self.records[uid].get(field.code, ()), text)
        )

    def _select_candidates(self, field: Field, text: str) -> set[str]:
        select = self._database.select
        if field.kind == "uid":
            uid = text.strip()
            return {uid} if uid in self._database.records else set()
        key = normalize(text.rstrip().rstrip("*"))
        if field.code == "MHUI":
            rows = select("SELECT ui FROM headings WHERE lower(ui) >= ? AND lower(ui) < ?", key, f"{key}\U0010ffff")
        elif field.code == "TN":
            rows = select("SELECT ui, tree FROM heading_trees")
            rows = [row for row in rows if normalize(row[1]).startswith(key)]
        elif field.code == "MESH":
            rows = [
                row
                for kind in _PREFIXES
                for row in select(
                    "SELECT ui FROM heading_keys WHERE kind = ? AND key >= ? AND key < ?",
                    *(kind, key, f"{key}\U0010ffff"),
                )
            ]
        else:
            word = max(split_words(text), key=len, default="")
            if not word:
                return set()
            pattern = f"%{word}%"
            rows = [
                *select("SELECT ui FROM heading_keys WHERE key LIKE ?", pattern),
                *select("SELECT ui FROM headings WHERE scope_note LIKE ? OR ui LIKE ?", pattern, pattern),
                # LIKE folds ASCII letters only; words are compared without accents.
                *select("SELECT ui FROM headings WHERE scope_note GLOB '*[^ -~]*'"),
            ]
        return {to_uid(row[0]) for row in rows}


class _CopyHeadings(Mapping[str, MeshEntry]):
    """The records by UID."""

    def __init__(self, database: "StoredMesh") -> None:
        self._database = database

    def __len__(self) -> int:
        return self._database.count

    def __iter__(self) -> Iterator[str]:
        return iter(_Uids(self._database))

    def __getitem__(self, uid: str) -> MeshEntry:
        rows = self._database.select(f"SELECT {_COLUMNS} FROM headings WHERE ui = ?", to_ui(uid))
        if not rows:
            raise KeyError(uid)
        ui, name, trees, terms, note, short = rows[0]
        heading = MeshEntry(name, split_column(trees), split_column(terms), uid=uid, ui=ui, scope_note=note)
        return (
            replace(heading, subheadings=split_column(short)) if ui[0] == "D" else replace(heading, abbreviation=short)
        )


class StoredMesh(MeshDatabase):
    """MeSH of a copy.

    Args:
        reading: opens a connection to the copy.
    """

    def __init__(self, reading: Reading) -> None:
        super().__init__(())
        self._reading = reading

    def select(self, statement: str, *values: str) -> Sequence[Any]:
        """Return the rows of a query."""
        with self._reading() as connection:
            return connection.execute(statement, values).fetchall()

    @property
    def is_empty(self) -> bool:
        """Whether no file of MeSH was imported."""
        return not self.select("SELECT 1 FROM headings LIMIT 1")

    @cached_property
    def records(self) -> Mapping[str, MeshEntry]:
        """The records by UID."""
        return _CopyHeadings(self)

    @cached_property
    def count(self) -> int:
        """Number of records."""
        return int(self.select("SELECT count(*) FROM headings")[0][0])

    def build_query(self) -> SmallQuery:
        """Return a query that searches by words, by heading ([MH]) or by identifier."""
        return _StoredQuery(self)

    def find_parent(self, tree: str) -> str | None:
        """Return the UID of the heading one level above a tree number."""
        rows = self.select("SELECT ui FROM heading_trees WHERE kind = 'D' AND tree = ?", tree.rpartition(".")[0])
        return to_uid(rows[0][0]) if rows else None

    def find_children(self, tree: str) -> list[str]:
        """Return the UIDs of the headings one level below a tree number."""
        rows = self.select(
            "SELECT ui, tree FROM heading_trees WHERE kind = 'D' AND tree > ? AND tree < ? ORDER BY tree",
            *(f"{tree}.", f"{tree}/"),
        )
        return [to_uid(ui) for ui, other in rows if other.rpartition(".")[0] == tree]

    @cached_property
    def _words(self) -> Mapping[str, int]:
        counts: dict[str, int] = {}
        for (keys,) in self.select("SELECT group_concat(key, ' ') FROM heading_keys GROUP BY kind, ui"):
            for word in {word for word in split_words(keys) if word.isalpha()}:
                counts[word] = counts.get(word, 0) + 1
        return counts
