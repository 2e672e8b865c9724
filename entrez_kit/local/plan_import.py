"""Choose the files of an import and their order, and estimate its time and size."""

import hashlib
import shutil
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import FrontendText, suggest_command
from entrez_kit.core.model import Result
from entrez_kit.local.copy_file import read_fact
from entrez_kit.local.file_order import FileNumber, find_next_place, parse_file_name
from entrez_kit.local.import_vocabulary import find_file_year
from entrez_kit.local.import_workers import PlannedFile, count_processors
from entrez_kit.local.source_files import (
    RECORD_KINDS,
    VOCABULARIES,
    SourceFile,
    empty_folder_error,
    find_files,
    is_optional,
)

SMALL_BYTES: Final = 4 << 20
"""The total size of files below which one process is faster than several."""

# Measured with tests/benchmarks/local_import.py; only for the estimate before an import.
BYTES_PER_SECOND: Final = 700_000
"""Compressed bytes of NLM's files that one process imports per second."""
COMPRESSED: Final = 7.0
"""How many times smaller NLM's compressed files are."""
DISK_PER_BYTE: Final = 1.9
"""Bytes of a copy per compressed byte of NLM's files."""


class FailedFile(Result):
    """A file that was not applied."""

    file: str
    reason: str
    message: str


class ImportPlan(Result):
    """What an import is going to do."""

    name: str
    files: int
    already_applied: int
    bytes: int
    estimated_seconds: int
    estimated_bytes: int
    free_bytes: int


@dataclass(slots=True)
class ImportLog:
    """The files that an import applied, skipped or refused.

    Attributes:
        already_applied: the number of files that the copy had before.
        records: the number of records of the applied files.
        deletions: the number of deletions of the applied files.
        ignored: files of folders, such as a README, that are not files to import.
        errors: the errors of the refused files.
    """

    applied: int = 0
    already_applied: int = 0
    records: int = 0
    deletions: int = 0
    failed: list[FailedFile] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    errors: list[EntrezKitError] = field(default_factory=list)

    def fail(self, path: Path, error: EntrezKitError) -> None:
        """Note a file that cannot be applied."""
        reason = str(error.details.get("reason", "invalid"))
        self.failed.append(FailedFile(file=str(path), reason=reason, message=str(error.message)))
        self.errors.append(error)

    def raise_if_all_failed(self) -> None:
        """Raise the first error if no file was applied, now or before."""
        if self.errors and not self.applied and not self.already_applied:
            raise self.errors[0]


class ImportPlanner:
    """Chooses the files of an import.

    Args:
        connection: the file of the copy.
        name: the name of the copy.
        log: gets the files that cannot be imported, and those that were applied before.
    """

    def __init__(self, connection: sqlite3.Connection, name: str, log: ImportLog) -> None:
        self._connection = connection
        self._name = name
        self._log = log

    def plan(self, paths: Sequence[Path]) -> list[PlannedFile]:
        """Return the files that are not applied yet, in the order in which they are applied.

        Raises:
            InvalidInput: no file can be imported. Otherwise files that cannot are in ``failed``.
        """
        sources = self._read_sources(paths)
        numbered = sorted(
            ((number, source) for source in sources if (number := _read_number(source)) is not None),
            key=lambda pair: pair[0],
        )
        others = [source for source in sources if _read_number(source) is None]
        planned = self._plan_numbered(numbered)
        planned += self._plan_others(others, max((number.place for number, _ in numbered), default=0))
        if self._log.errors and not planned and not self._log.already_applied:
            raise self._log.errors[0]
        if not sources and self._log.ignored:
            raise empty_folder_error(Path(self._log.ignored[0]).parent)
        self._check_topic(planned)
        return sorted(planned, key=lambda file: file.source.kind not in VOCABULARIES)

    def _check_topic(self, planned: Sequence[PlannedFile]) -> None:
        """Refuse records for a copy with a topic: only a mirror compares records with it."""
        has_records = any(file.source.kind in RECORD_KINDS for file in planned)
        if has_records and read_fact(self._connection, "topic") is not None:
            raise InvalidInput(
                f"The copy {self._name!r} has a topic, so records cannot be imported into it.",
                invalid_input=f"name={self._name}",
                recovery_hint=FrontendText(
                    suggest_command(f"local update {self._name}", "Ask the operator of the server to update the copy"),
                    ", or import into another copy.",
                ),
                details={"reason": "topic_copy"},
            )

    def _read_sources(self, paths: Sequence[Path]) -> list[SourceFile]:
        """Return the files that can be imported; the others are in ``failed`` or ``ignored``."""
        sources: list[SourceFile] = []
        for path in find_files(paths):
            try:
                sources.append(SourceFile(path))
            except InvalidInput as exc:
                if path not in paths and is_optional(path) and exc.details["reason"] == "unknown_file":
                    self._log.ignored.append(str(path))
                else:
                    self._log.fail(path, exc)
        return sources

    def _plan_numbered(self, sources: Iterable[tuple[FileNumber, SourceFile]]) -> list[PlannedFile]:
        """Return those of NLM's numbered files that are not applied yet, or have changed."""
        applied = dict(self._connection.execute("SELECT place, md5 || ' ' || size FROM files"))
        planned: list[PlannedFile] = []
        for number, source in sources:
            md5, _, size = applied.get(number.place, " ").partition(" ")
            if md5 and size == str(source.size) and source.read_expected_md5() in (None, md5):
                self._log.already_applied += 1
            else:
                planned.append(PlannedFile(source, number.place))
        return planned

    def _plan_others(self, sources: Iterable[SourceFile], latest: int) -> list[PlannedFile]:
        """Return those of the other files that are not applied yet.

        Args:
            latest: the latest place of a numbered file; other files come after it, and after the files of the copy.
        """
        applied = {md5 for (md5,) in self._connection.execute("SELECT md5 FROM files")}
        (latest_applied,) = self._connection.execute("SELECT coalesce(max(place), 0) FROM files").fetchone()
        place = max(latest, latest_applied)
        planned: list[PlannedFile] = []
        for source in sources:
            md5 = compute_md5(source.path)
            if md5 in applied and not self._begins_year(source):
                self._log.already_applied += 1
                continue
            applied.add(md5)
            place = find_next_place(place)
            planned.append(PlannedFile(source, place))
        return planned

    def _begins_year(self, source: SourceFile) -> bool:
        """Return whether a MeSH file is of a later year than the MeSH of the copy, which the import then replaces."""
        year = find_file_year(source.path) if source.kind in VOCABULARIES else None
        return year is not None and year > (read_fact(self._connection, "mesh_year") or year)


def estimate_import(folder: Path, log: ImportLog, planned: Sequence[PlannedFile]) -> ImportPlan:
    """Return the size and time of an import."""
    size = sum(_count_compressed_bytes(file.source) for file in planned)
    return _build_estimate(
        folder, log, len(planned), sum(file.source.size for file in planned), size, count_workers(planned)
    )


def estimate_download(folder: Path, log: ImportLog, files: int, size: int) -> ImportPlan:
    """Return the size and time of a mirror; the time of the downloads depends on the network."""
    return _build_estimate(folder, log, files, size, size, count_processors())


def _build_estimate(
    folder: Path, log: ImportLog, files: int, size: int, compressed_size: float, workers: int
) -> ImportPlan:
    return ImportPlan(
        name=folder.name,
        files=files,
        already_applied=log.already_applied,
        bytes=size,
        estimated_seconds=round(compressed_size / BYTES_PER_SECOND / workers),
        estimated_bytes=round(compressed_size * DISK_PER_BYTE),
        free_bytes=shutil.disk_usage(folder).free,
    )


def _count_compressed_bytes(source: SourceFile) -> float:
    return source.size / (1 if source.compressed else COMPRESSED)


def _read_number(source: SourceFile) -> FileNumber | None:
    return parse_file_name(source.path) if source.kind == "pubmed" else None


def compute_md5(path: Path) -> str:
    """Return the MD5 checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def count_workers(planned: Collection[PlannedFile]) -> int:
    """Return the number of processes that prepare files; 1 is this process itself."""
    files = [file for file in planned if file.source.kind not in VOCABULARIES]
    size = sum(_count_compressed_bytes(file.source) for file in files)
    if len(files) < 2 or size < SMALL_BYTES:
        return 1
    return max(1, min(count_processors(), len(files)))
