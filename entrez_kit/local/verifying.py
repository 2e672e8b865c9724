"""Verify a copy: its file, its records against their digests, and its index against the records."""

import random
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from pyroaring import BitMap

from entrez_kit.base.errors import StoreError
from entrez_kit.base.progress import report_progress
from entrez_kit.base.settings import Settings
from entrez_kit.core.model import Result
from entrez_kit.local.apply_file import find_visible
from entrez_kit.local.copies import Copy, compute_hash, find_folder
from entrez_kit.local.copy_file import read_fact, read_set
from entrez_kit.local.file_events import FileEvent
from entrez_kit.local.manifest import FOLDER
from entrez_kit.local.packing import unpack
from entrez_kit.local.prepare_file import compute_digest, parse_record_element
from entrez_kit.local.records.collection import read_terms
from entrez_kit.query.record_terms import VALUE_GAP, RecordTerms
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.segments.segment import Segment

SAMPLE: Final = 1_000
"""Records that are checked unless all are."""
TERMS: Final = 4
"""Words, and values, of each record that are looked up in the index."""
MAX_PROBLEMS: Final = 20
_COLUMNS: Final = ("uid", "edat")
_STEP: Final = 200


class Problem(Result):
    """A defect of a copy."""

    code: str
    message: str


class Verification(Result):
    """The result of a check. ``problems`` lists at most 20 defects; ``problem_count`` counts all."""

    name: str
    ok: bool
    records: int
    records_checked: int
    problem_count: int
    problems: list[Problem]
    hash: str


def verify_copy(settings: Settings, name: str, *, full: bool = False) -> Verification:
    """Check a copy.

    Args:
        settings: the settings, with the data folder.
        name: the copy.
        full: whether all records are checked instead of a sample.

    Raises:
        EntityNotFound: the copy does not exist.
        StoreError: it is so damaged that it cannot be opened, or its tables were changed.
    """
    copy = Copy(find_folder(settings, name))
    try:
        return _Verifier(copy, full=full).run()
    finally:
        copy.close()


class _Verifier:
    def __init__(self, copy: Copy, *, full: bool) -> None:
        self._copy = copy
        self._full = full
        self._count = 0
        self._problems: list[Problem] = []
        self._chance = random.Random(copy.name)

    def _add_problem(self, code: str, message: str) -> None:
        self._count += 1
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(Problem(code=code, message=message))

    def run(self) -> Verification:
        """Check everything."""
        with self._copy.reading() as connection:
            for (line,) in connection.execute(f"PRAGMA {'integrity_check' if self._full else 'quick_check'}"):
                if line != "ok":
                    self._add_problem("damaged_file", str(line))
            slots = self._check_tables(connection)
            computed = compute_hash(connection)
            stored = read_fact(connection, "hash")
        if stored is not None and stored != computed:
            self._add_problem("wrong_hash", f"the content has the hash {computed}, and the copy says {stored}")
        if self._full:
            self._check_segments()
        if not self._full and len(slots) > SAMPLE:
            slots = sorted(self._chance.sample(slots, SAMPLE))
        for done, slot in enumerate(slots):
            if done % _STEP == 0:
                report_progress(done, len(slots))
            self._check_record(slot)
        return Verification(
            name=self._copy.name,
            ok=not self._count,
            records=len(self._copy.visible),
            records_checked=len(slots),
            problem_count=self._count,
            problems=self._problems,
            hash=computed,
        )

    def _check_tables(self, connection: sqlite3.Connection) -> list[int]:
        """Compare the tables with each other; return the numbers of all records."""
        rows = connection.execute(
            "SELECT heads.pmid, heads.slot FROM heads LEFT JOIN records USING (slot) "
            "WHERE heads.slot IS NOT NULL AND records.pmid IS NOT heads.pmid"
        )
        for pmid, slot in rows:
            self._add_problem("missing_record", f"PMID {pmid} has no record at number {slot}")
        rows = connection.execute(
            "SELECT slot, pmid FROM records WHERE NOT EXISTS "
            "(SELECT 1 FROM heads WHERE heads.pmid = records.pmid AND heads.slot = records.slot)"
        )
        for slot, pmid in rows:
            self._add_problem("superseded_record", f"the record {slot} of PMID {pmid} should have been removed")
        visible, stored = find_visible(connection)
        if visible != self._copy.visible or stored - visible != read_set(connection, "hidden"):
            self._add_problem("wrong_visible", "the list of visible records does not agree with the records")
        return [slot for (slot,) in connection.execute("SELECT slot FROM heads WHERE slot IS NOT NULL ORDER BY slot")]

    def _check_segments(self) -> None:
        for path in sorted((self._copy.folder / FOLDER).glob("*.seg")):
            try:
                Segment(path).verify()
            except StoreError as exc:
                self._add_problem("damaged_index", str(exc.message))

    def _check_record(self, slot: int) -> None:
        with self._copy.reading() as connection:
            row = connection.execute(
                "SELECT heads.pmid, version, digest, packed FROM records JOIN heads USING (slot, pmid) WHERE slot = ?",
                (slot,),
            ).fetchone()
        if row is None:
            return  # reported before
        pmid, version, digest, packed = row
        try:
            raw = unpack(packed)
        except ValueError as exc:
            self._add_problem("damaged_record", f"PMID {pmid}: {exc}")
            return
        if compute_digest(raw) != digest:
            self._add_problem("changed_record", f"PMID {pmid}: the record differs from the one that was imported")
            return
        document = parse_record_element(FileEvent(pmid, version, raw), self._copy.path, slot)
        terms, _ = read_terms(document)
        if slot not in self._copy.visible:
            return
        for problem in _compare_index(self._copy.index, slot, terms, self._chance):
            self._add_problem("wrong_index", f"PMID {pmid}: {problem}")


def _find_positions(pieces: Sequence[Sequence[str]], word: str) -> list[int]:
    """Return the positions of a word in the values of a word list."""
    positions: list[int] = []
    start = 0
    for piece in pieces:
        positions += [place for place, word_there in enumerate(piece, start) if word_there == word]
        start += len(piece) + VALUE_GAP
    return positions


def _compare_index(index: SearchIndex, number: int, terms: RecordTerms, chance: random.Random) -> Iterator[str]:
    """Describe terms of a record that its index does not have; some terms are chosen, because lookups take time."""
    source_words = {(source, word) for source, pieces in terms.texts.items() for piece in pieces for word in piece}
    for source, word in chance.sample(sorted(source_words), min(TERMS, len(source_words))):
        found = dict(index.read_positions(source, [word], BitMap([number]))).get(number, [()])
        if list(found[0]) != _find_positions(terms.texts[source], word):
            yield f"the index has other places of {word!r} in {source}"
    values = [(source, value) for source, known in terms.values.items() for value in known]
    for source, value in chance.sample(values, min(TERMS, len(values))):
        if number not in index.find_value(source, value):
            yield f"the index has no {value!r} in {source}"
    for column, numbers in terms.numbers.items():
        if column in _COLUMNS and any(number not in index.find_range(column, date, date) for date in numbers):
            yield f"the index has another {column}"
