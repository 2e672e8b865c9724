"""Apply a prepared file to a copy: per PMID the latest record wins whole, or its deletion."""

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from pyroaring import BitMap

from entrez_kit.local.copy_file import read_fact, read_set, write_fact, write_set
from entrez_kit.local.file_order import PLACES_PER_FILE, find_first_place, read_place
from entrez_kit.local.prepare_file import PreparedFile

ALL_VERSIONS: Final = 0


def apply_file(connection: sqlite3.Connection, prepared: PreparedFile, place: int) -> None:
    """Apply a file inside a transaction of the caller, except its part of the index.

    The result depends only on the places of the files, not on the order of the calls.
    """
    changes = _Changes(connection, place)
    first: int = read_fact(connection, "next_slot", 0)
    slot = first
    for record in prepared.read():
        changes.add_record(slot, record.pmid, record.version, record.edat, record.digest, record.packed)
        slot += 1
    for pmid, version in prepared.deletions:
        changes.delete(pmid, version)
    for pmid, version in prepared.unmatched:
        changes.forget(pmid, version)
    changes.finish()
    write_fact(connection, "next_slot", slot)
    note_file(connection, prepared, place)


def note_file(connection: sqlite3.Connection, prepared: PreparedFile, place: int) -> None:
    """Add a file to the list of applied files."""
    connection.execute(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            place,
            prepared.path.name,
            prepared.kind,
            prepared.md5,
            prepared.digest,
            prepared.size,
            prepared.records,
            len(prepared.deletions),
            datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        ),
    )
    write_fact(connection, "hash", None)


class _Changes:
    """The changes of one file."""

    def __init__(self, connection: sqlite3.Connection, place: int) -> None:
        self._connection = connection
        self._place = place
        self._sets = Sets(connection)
        self._several: set[int] = set()
        """PMIDs with several versions, or with a deletion of all versions."""

    def add_record(self, slot: int, pmid: int, version: int, edat: int, digest: bytes, packed: bytes) -> None:
        """Add a record unless the copy has a later record or deletion of it."""
        heads = self._read_heads(pmid)
        head = heads.pop(version, None)
        if head is not None:
            place, old = head
            if place > self._place or (place == self._place and old is None):  # the same file also deletes it
                return
            self._drop_record(old)
        if heads:
            self._several.add(pmid)
        self._connection.execute("INSERT INTO records VALUES (?, ?, ?)", (slot, pmid, packed))
        self._write_head(pmid, version, slot, edat, digest)
        self._sets.show(slot)

    def delete(self, pmid: int, version: int) -> None:
        """Delete a record unless the copy has a later record of it."""
        heads = self._read_heads(pmid)
        head = heads.pop(version, None)
        if head is not None:
            place, old = head
            if place > self._place:
                return
            self._drop_record(old)
        if version == ALL_VERSIONS or heads:
            self._several.add(pmid)
        self._write_head(pmid, version, None, 0, b"")

    def forget(self, pmid: int, version: int) -> None:
        """Remove an earlier record, because the latest one does not belong to the topic of the copy."""
        heads = self._read_heads(pmid)
        head = heads.pop(version, None)
        if head is None or head[0] > self._place:
            return
        self._drop_record(head[1])
        self._connection.execute("DELETE FROM heads WHERE pmid = ? AND version = ?", (pmid, version))
        if heads:
            self._several.add(pmid)

    def finish(self) -> None:
        """Show the highest version of each changed PMID, and store the numbers of the visible records."""
        for pmid in self._several:
            show_highest_version(self._connection, pmid, self._sets)
        self._sets.write()

    def _read_heads(self, pmid: int) -> dict[int, tuple[int, int | None]]:
        rows = self._connection.execute("SELECT version, place, slot FROM heads WHERE pmid = ?", (pmid,))
        return {version: (place, slot) for version, place, slot in rows}

    def _write_head(self, pmid: int, version: int, slot: int | None, edat: int, digest: bytes) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO heads VALUES (?, ?, ?, ?, ?, ?)",
            (pmid, version, self._place, slot, edat, digest),
        )

    def _drop_record(self, slot: int | None) -> None:
        if slot is not None:
            self._connection.execute("DELETE FROM records WHERE slot = ?", (slot,))
            self._sets.forget(slot)


class Sets:
    """The numbers of visible records, and of stored ones that a higher version hides."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.visible = read_set(connection, "visible")
        self.hidden = read_set(connection, "hidden")

    def show(self, slot: int) -> None:
        """Let searches find a record."""
        self.hidden.discard(slot)
        self.visible.add(slot)

    def hide(self, slot: int) -> None:
        """Hide an earlier version."""
        self.visible.discard(slot)
        self.hidden.add(slot)

    def forget(self, slot: int) -> None:
        """Remove a record."""
        self.visible.discard(slot)
        self.hidden.discard(slot)

    def write(self) -> None:
        """Store both sets."""
        write_set(self._connection, "visible", self.visible)
        write_set(self._connection, "hidden", self.hidden)


def show_highest_version(connection: sqlite3.Connection, pmid: int, sets: Sets) -> None:
    """Hide all versions of a PMID except the highest, and drop those that a deletion of all versions covers."""
    rows = connection.execute("SELECT version, place, slot FROM heads WHERE pmid = ? ORDER BY version", (pmid,))
    heads = {version: (place, slot) for version, place, slot in rows}
    deleted_at = heads.pop(ALL_VERSIONS, (-1, None))[0]
    highest: int | None = None
    for version, (place, slot) in heads.items():
        if place <= deleted_at:
            connection.execute("DELETE FROM heads WHERE pmid = ? AND version = ?", (pmid, version))
            if slot is not None:
                connection.execute("DELETE FROM records WHERE slot = ?", (slot,))
                sets.forget(slot)
        elif slot is not None:
            if highest is not None:
                sets.hide(highest)
            highest = slot
    if highest is not None:
        sets.show(highest)


def forget_earlier_years(connection: sqlite3.Connection) -> None:
    """Remove the records from NLM's files of earlier years, if the copy has the first file of a later baseline.

    Every baseline contains all records. Records from other files stay.
    """
    latest = find_baseline_year(place for (place,) in connection.execute("SELECT place FROM files"))
    if latest is None:
        return
    earlier = "place < ? AND place >= ? AND place % ? = 0"
    bounds = (find_first_place(latest), find_first_place(1), PLACES_PER_FILE)
    old = BitMap(
        slot for (slot,) in connection.execute(f"SELECT slot FROM heads WHERE {earlier} AND slot IS NOT NULL", bounds)
    )
    if not connection.execute(f"DELETE FROM heads WHERE {earlier}", bounds).rowcount:
        return
    connection.executemany("DELETE FROM records WHERE slot = ?", ((slot,) for slot in old))
    visible, stored = find_visible(connection)
    write_set(connection, "visible", visible)
    write_set(connection, "hidden", stored - visible)
    write_fact(connection, "hash", None)


def find_visible(connection: sqlite3.Connection) -> tuple[BitMap, BitMap]:
    """Return the numbers of the records that searches find, and those of all records.

    Searches find the highest version of a PMID that was not deleted.
    """
    visible, stored = BitMap(), BitMap()
    pmid, highest = -1, None
    rows = connection.execute("SELECT pmid, slot FROM heads WHERE slot IS NOT NULL ORDER BY pmid, version")
    for number, slot in rows:
        if number != pmid and highest is not None:
            visible.add(highest)
        pmid, highest = number, slot
        stored.add(slot)
    if highest is not None:
        visible.add(highest)
    return visible, stored


def find_baseline_year(places: Iterable[int]) -> int | None:
    """Return the latest year of which a copy has the first file of the baseline."""
    files = [number for place in places if (number := read_place(place)) is not None]
    return max((number.year for number in files if number.number == 1), default=None)
