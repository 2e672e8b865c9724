"""Prepare one file for an import: parse and compress its records, and write them to a temporary file.

This is the expensive part of an import. Processes do it for several files at once; ``apply`` then needs little time.
"""

import hashlib
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, NamedTuple

from lxml import etree

from entrez_kit.base import tracing
from entrez_kit.local.packing import pack
from entrez_kit.local.records.collection import read_terms
from entrez_kit.local.records.document import Document
from entrez_kit.local.sources import Event, Kind, SourceFile, unusable

DIGEST_BYTES: Final = 16
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
    segments: list[tuple[int, str]] = field(default_factory=list)
    """Number of records and name of each file of the search index."""

    def read(self) -> Iterator[PreparedRecord]:
        """Yield the records in the order of the file."""
        with self.spool.open("rb") as file:
            while header := file.read(_HEADER.size):
                pmid, version, edat, length, digest = _HEADER.unpack(header)
                yield PreparedRecord(pmid, version, edat, digest, file.read(length))


def prepare_file(source: SourceFile, folder: Path, parent: int | None = None) -> PreparedFile:
    """Parse a file completely and write its records to a folder.

    Args:
        source: the file.
        folder: the folder for the temporary files.
        parent: the process for which this one works; if it ends, so does this one.

    Raises:
        InvalidInput: the file is damaged; the message names the file and the record.
    """
    spool = folder / f"{os.getpid()}-{source.path.name[-60:]}.spool"
    prepared = PreparedFile(source.path, source.kind, "", b"", source.size, spool)
    with spool.open("wb") as file:
        for number, event in enumerate(source.read_events(), start=1):
            if number % CHECK_EVERY == 0:
                tracing.checkpoint()
                if parent is not None and os.getppid() != parent:
                    raise SystemExit(1)
            if event.raw:
                prepared.records += 1
                _write_record(event, source, prepared.records, file)
            else:
                prepared.deletions.append((event.pmid, event.version))
    prepared.md5, prepared.digest = source.md5, source.digest
    return prepared


def _write_record(event: Event, source: SourceFile, number: int, file: IO[bytes]) -> None:
    document = parse_record(event, source.path, number)
    terms, _ = read_terms(document)
    packed = pack(event.raw)
    edat = terms.numbers.get("edat", [0])[0]
    file.write(_HEADER.pack(event.pmid, event.version, edat, len(packed), digest_of(event.raw)))
    file.write(packed)


def digest_of(raw: bytes) -> bytes:
    """Return the digest of a record."""
    return hashlib.blake2b(raw, digest_size=DIGEST_BYTES).digest()


def parse_record(event: Event, path: Path, number: int) -> Document:
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
        raise unusable(
            path,
            f"record {number:,} (PMID {event.pmid}) is not well-formed XML ({problem[:200]})",
            "bad_record",
            record=number,
            pmid=str(event.pmid),
        )
    return document
