"""Prepare one file for an import: parse and compress its records, and write them to a temporary file.

This is the expensive part of an import. Processes do it for several files at once; ``apply`` then needs little time.
"""

import hashlib
import os
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Final, NamedTuple

from lxml import etree
from pyroaring import BitMap

from entrez_kit.base.progress import stop_if_cancelled
from entrez_kit.local.copy_file import open_file, read_fact
from entrez_kit.local.file_events import FileEvent, unusable_file_error
from entrez_kit.local.packing import pack, unpack
from entrez_kit.local.records.collection import read_terms
from entrez_kit.local.records.document import Document
from entrez_kit.local.source_files import Kind, SourceFile
from entrez_kit.local.stored_vocabulary import StoredVocabulary
from entrez_kit.query.record_terms import RecordTerms, SortKeys
from entrez_kit.query.search import search
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.segments.writer import SegmentWriter

DIGEST_BYTES: Final = 16
RECORDS_PER_SEGMENT: Final = 50_000
MAX_OCCURRENCES: Final = 1_500_000
"""Words, values and numbers that a process keeps in memory."""
_HEADER: Final = struct.Struct("<QIII16s")
"""PMID, version, entry date, length of the compressed record, digest."""
CHECK_EVERY: Final = 256
"""Records after which a worker looks whether its parent process still exists."""


class PreparedRecord(NamedTuple):
    """A record that is ready to be stored."""

    pmid: int
    version: int
    edat: int
    digest: bytes
    packed: bytes


@dataclass(slots=True)
class PreparedFile:
    """The records of one file in a temporary file, and its deletions."""

    path: Path
    kind: Kind
    md5: str
    digest: bytes
    size: int
    spool: Path
    records: int = 0
    deletions: list[tuple[int, int]] = field(default_factory=list)
    unmatched: list[tuple[int, int]] = field(default_factory=list)
    """PMID and version of the records that do not belong to the topic of the copy."""
    segments: list[tuple[int, Path]] = field(default_factory=list)
    """The files of the search index, each with its number of records."""

    def read(self) -> Iterator[PreparedRecord]:
        """Yield the records in the order of the file."""
        with self.spool.open("rb") as file:
            while header := file.read(_HEADER.size):
                pmid, version, edat, length, digest = _HEADER.unpack(header)
                yield PreparedRecord(pmid, version, edat, digest, file.read(length))


@dataclass(frozen=True, slots=True)
class Topic:
    """A query; only records that match it are kept. The vocabulary of the copy interprets it."""

    query: str
    path: Path

    @classmethod
    def of(cls, connection: sqlite3.Connection, path: Path) -> "Topic | None":
        """Return the topic of a copy; None if it keeps all records."""
        query = read_fact(connection, "topic")
        return None if query is None else cls(query, path)

    def find(self, segments: Sequence[Path]) -> BitMap:
        """Return the records of some index files that match."""
        connection = open_file(self.path)
        try:
            vocabulary = StoredVocabulary(lambda: nullcontext(connection))
            return search(self.query, SearchIndex(segments), vocabulary).records
        finally:
            connection.close()


def prepare_file(
    source: SourceFile, folder: Path, parent: int | None = None, topic: Topic | None = None
) -> PreparedFile:
    """Parse a file completely and write its records to a folder.

    Args:
        source: the file.
        folder: the folder for the temporary files.
        parent: the process for which this one works; if it ends, so does this one.
        topic: the topic of the copy.

    Raises:
        InvalidInput: the file is damaged; the message names the file and the record.
    """
    base = folder / f"{os.getpid()}-{source.path.name[-60:]}"
    spool = base.with_name(f"{base.name}.spool")
    prepared = PreparedFile(source.path, source.kind, "", b"", source.size, spool)
    with spool.open("wb") as file, _Segments(base, prepared) as segments:
        for number, event in enumerate(source.read_events(), start=1):
            if number % CHECK_EVERY == 0:
                stop_if_cancelled()
                if parent is not None and os.getppid() != parent:
                    raise SystemExit(1)
            if event.raw:
                prepared.records += 1
                segments.add(*_write_record(event, source, prepared.records, file))
            else:
                prepared.deletions.append((event.pmid, event.version))
        segments.finish()
    prepared.md5, prepared.digest = source.md5, source.digest
    return prepared if topic is None else _keep_topic(prepared, topic, base.with_name(f"{base.name}.topic"))


def _keep_topic(prepared: PreparedFile, topic: Topic, base: Path) -> PreparedFile:
    """Return the records of a file that belong to a topic."""
    matching = topic.find([path for _, path in prepared.segments]) if prepared.segments else BitMap()
    topic_file = replace(prepared, spool=base.with_name(f"{base.name}.spool"), segments=[], unmatched=[])
    with topic_file.spool.open("wb") as file, _Segments(base, topic_file) as segments:
        for number, record in enumerate(prepared.read()):
            if number in matching:
                segments.add(*read_terms(Document(unpack(record.packed))))
                _write_packed(record, file)
            else:
                topic_file.unmatched.append((record.pmid, record.version))
        segments.finish()
    for path in (prepared.spool, *(path for _, path in prepared.segments)):
        path.unlink()
    return topic_file


class _Segments:
    """Writes the part of the index for one file; a context manager that removes unfinished files."""

    def __init__(self, base: Path, prepared: PreparedFile) -> None:
        self._base = base
        self._listed = prepared.segments
        self._writer: SegmentWriter | None = None
        self._count = 0

    def __enter__(self) -> "_Segments":
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def add(self, terms: RecordTerms, keys: SortKeys) -> None:
        """Add the next record."""
        if self._writer is None:
            path = self._base.with_name(f"{self._base.name}.{len(self._listed)}.seg")
            self._writer, self._count = SegmentWriter(path, limit=MAX_OCCURRENCES), 0
        self._writer.add(terms, keys)
        self._count += 1
        if self._count == RECORDS_PER_SEGMENT:
            self.finish()

    def finish(self) -> None:
        """Write the last segment."""
        if self._writer is not None:
            self._listed.append((self._count, self._writer.finish().path))
            self._writer.close()
            self._writer = None


def _write_record(event: FileEvent, source: SourceFile, number: int, file: IO[bytes]) -> tuple[RecordTerms, SortKeys]:
    document = parse_record_element(event, source.path, number)
    terms, keys = read_terms(document)
    packed = pack(event.raw)
    edat = terms.numbers.get("edat", [0])[0]
    _write_packed(PreparedRecord(event.pmid, event.version, edat, compute_digest(event.raw), packed), file)
    return terms, keys


def _write_packed(record: PreparedRecord, file: IO[bytes]) -> None:
    file.write(_HEADER.pack(record.pmid, record.version, record.edat, len(record.packed), record.digest))
    file.write(record.packed)


def compute_digest(raw: bytes) -> bytes:
    """Return the digest of a record."""
    return hashlib.blake2b(raw, digest_size=DIGEST_BYTES).digest()


def parse_record_element(event: FileEvent, path: Path, number: int) -> Document:
    """Parse a record and check that it is well-formed. Undeclared namespace prefixes are accepted.

    Raises:
        InvalidInput: it is not well-formed; the message names the file and the record.
    """
    problem: str | None = None
    try:
        document = Document(event.raw)
        problem = document.find_defect()
    except (etree.XMLSyntaxError, AttributeError) as exc:
        problem = str(exc)
    if problem is not None:
        raise unusable_file_error(
            path,
            f"record {number:,} (PMID {event.pmid}) is not well-formed XML ({problem[:200]})",
            "bad_record",
            record=number,
            pmid=str(event.pmid),
        )
    return document
