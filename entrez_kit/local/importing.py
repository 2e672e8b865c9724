"""Import files into a copy: several processes parse and compress, and this one writes.

Each file is applied in one transaction, so an import that is interrupted at any moment continues with the next file.
"""

import hashlib
import shutil
import sqlite3
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import FrontendText, run
from entrez_kit.base.private_files import make_private_folder
from entrez_kit.base.progress import report_progress
from entrez_kit.base.settings import Settings
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.local.apply import apply_file, forget_earlier_years, note_file
from entrez_kit.local.copies import (
    Copy,
    CopyInfo,
    compute_hash,
    copy_folder,
    find_newest_edat,
    lock_copy,
    prepare_folder,
)
from entrez_kit.local.copy_file import FILE, open_file, read_fact, transaction, translate_errors, write_fact
from entrez_kit.local.import_workers import MergeJob, PlannedFile, count_processors, open_workers
from entrez_kit.local.manifest import FOLDER as INDEX
from entrez_kit.local.manifest import (
    add_segments,
    choose_merge,
    delete_unlisted,
    find_removed,
    read_manifest,
    replace_segments,
)
from entrez_kit.local.mesh_store import apply_vocabulary, find_year, set_mesh_year
from entrez_kit.local.order import FileNumber, find_next_place, parse_name
from entrez_kit.local.prepare import PreparedFile
from entrez_kit.local.sources import RECORD_KINDS, VOCABULARIES, SourceFile, empty_folder_error, find_files, is_optional

WORK: Final = "work"
"""The folder of temporary files of an import."""
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


class ImportResult(Result):
    """What an import has done. The last member is the whole copy.

    ``ignored`` lists files of folders, such as a README, that are not files to import.
    """

    name: str
    applied: int
    already_applied: int
    records_read: int
    deletions_read: int
    failed: list[FailedFile] = omit_if_empty([])
    ignored: list[str] = omit_if_empty([])
    copy_info: CopyInfo


@dataclass(slots=True)
class Importer:
    """An import into a copy, inside ``open_importer``."""

    folder: Path
    work: Path
    connection: sqlite3.Connection
    applied: int = 0
    already_applied: int = 0
    records: int = 0
    deletions: int = 0
    failed: list[FailedFile] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    errors: list[EntrezKitError] = field(default_factory=list)

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
        if self.errors and not planned and not self.already_applied:
            raise self.errors[0]
        if not sources and self.ignored:
            raise empty_folder_error(Path(self.ignored[0]).parent)
        if read_fact(self.connection, "topic") is not None and any(one.source.kind in RECORD_KINDS for one in planned):
            raise InvalidInput(
                f"The copy {self.folder.name!r} has a topic, so records cannot be imported into it.",
                invalid_input=f"name={self.folder.name}",
                recovery_hint=FrontendText(
                    run(f"local update {self.folder.name}", "Ask the operator of the server to update the copy"),
                    ", or import into another copy.",
                ),
                details={"reason": "topic_copy"},
            )
        return sorted(planned, key=lambda one: one.source.kind not in VOCABULARIES)

    def _read_sources(self, paths: Sequence[Path]) -> list[SourceFile]:
        """Return the files that can be imported; the others are in ``failed`` or ``ignored``."""
        sources: list[SourceFile] = []
        for path in find_files(paths):
            try:
                sources.append(SourceFile(path))
            except InvalidInput as exc:
                if path not in paths and is_optional(path) and exc.details["reason"] == "unknown_file":
                    self.ignored.append(str(path))
                else:
                    self.fail(path, exc)
        return sources

    def _plan_numbered(self, sources: Iterable[tuple[FileNumber, SourceFile]]) -> list[PlannedFile]:
        """Return those of NLM's numbered files that are not applied yet, or have changed."""
        applied = dict(self.connection.execute("SELECT place, md5 || ' ' || size FROM files"))
        planned: list[PlannedFile] = []
        for number, source in sources:
            md5, _, size = applied.get(number.place, " ").partition(" ")
            if md5 and size == str(source.size) and source.read_expected_md5() in (None, md5):
                self.already_applied += 1
            else:
                planned.append(PlannedFile(source, number.place))
        return planned

    def _plan_others(self, sources: Iterable[SourceFile], latest: int) -> list[PlannedFile]:
        """Return those of the other files that are not applied yet.

        Args:
            latest: the latest place of a numbered file; other files come after it, and after the files of the copy.
        """
        known = {md5 for (md5,) in self.connection.execute("SELECT md5 FROM files")}
        (latest_applied,) = self.connection.execute("SELECT coalesce(max(place), 0) FROM files").fetchone()
        place = max(latest, latest_applied)
        planned: list[PlannedFile] = []
        for source in sources:
            md5 = compute_md5(source.path)
            if md5 in known and not self._begins_year(source):
                self.already_applied += 1
                continue
            known.add(md5)
            place = find_next_place(place)
            planned.append(PlannedFile(source, place))
        return planned

    def _begins_year(self, source: SourceFile) -> bool:
        """Return whether a file of MeSH is of a later year than the copy's MeSH, which ends with this import."""
        year = find_year(source.path) if source.kind in VOCABULARIES else None
        return year is not None and year > (read_fact(self.connection, "mesh_year") or year)

    def estimate(self, planned: Sequence[PlannedFile]) -> ImportPlan:
        """Return the size and time of an import."""
        size = sum(one.source.size / (1 if one.source.compressed else COMPRESSED) for one in planned)
        return ImportPlan(
            name=self.folder.name,
            files=len(planned),
            already_applied=self.already_applied,
            bytes=sum(one.source.size for one in planned),
            estimated_seconds=round(size / BYTES_PER_SECOND / count_workers(planned)),
            estimated_bytes=round(size * DISK_PER_BYTE),
            free_bytes=shutil.disk_usage(self.folder).free,
        )

    def estimate_download(self, files: int, size: int) -> ImportPlan:
        """Return the size and time of a mirror; the time of the downloads depends on the network."""
        return ImportPlan(
            name=self.folder.name,
            files=files,
            already_applied=self.already_applied,
            bytes=size,
            estimated_seconds=round(size / BYTES_PER_SECOND / count_processors()),
            estimated_bytes=round(size * DISK_PER_BYTE),
            free_bytes=shutil.disk_usage(self.folder).free,
        )

    def run(self, planned: Iterable[PlannedFile], *, total: int, workers: int) -> None:
        """Apply files, and merge files of the index. A file that is damaged is skipped and listed in ``failed``.

        Args:
            planned: the files. Each is taken when a process can begin with it.
            total: their number.
            workers: the number of processes.
        """
        done = 0
        report_progress(done, total)
        waiting = iter(planned)
        merging: set[str] = set()
        order = deque[PlannedFile]()
        ready: dict[int, PreparedFile | InvalidInput | None] = {}
        with open_workers(workers, self.work) as pool:
            while True:
                while pool.has_idle:
                    if job := self._choose_merge(merging):
                        merging.update(segment.name for segment in job.segments)
                        pool.submit(job)
                    elif (one := next(waiting, None)) is None:
                        break
                    elif one.source.kind in VOCABULARIES:
                        self._apply_vocabulary(one)
                        done += 1
                        report_progress(done, total)
                    else:
                        order.append(one)
                        pool.submit(one)
                if not pool.is_busy:
                    return
                finished, outcome = pool.wait()
                if isinstance(finished, MergeJob):
                    merging.difference_update(segment.name for segment in finished.segments)
                    self._replace(finished)
                    continue
                ready[finished.place] = outcome
                while order and order[0].place in ready:  # in order, because a topic depends on it
                    self._finish_file(order[0], ready.pop(order.popleft().place))
                    done += 1
                    report_progress(done, total)

    def _finish_file(self, planned: PlannedFile, outcome: PreparedFile | InvalidInput | None) -> None:
        if isinstance(outcome, InvalidInput):
            self.fail(planned.source.path, outcome)
        elif outcome is not None:
            self._apply(outcome, planned.place)
        if planned.is_temporary:
            planned.source.path.unlink(missing_ok=True)

    def _apply(self, prepared: PreparedFile, place: int) -> None:
        with translate_errors(self.folder / FILE), transaction(self.connection):
            first: int = read_fact(self.connection, "next_slot", 0)
            add_segments(self.connection, self.folder, first, prepared.segments)
            apply_file(self.connection, prepared, place)
        prepared.spool.unlink()
        self.applied += 1
        self.records += prepared.records
        self.deletions += len(prepared.deletions)

    def _choose_merge(self, busy: set[str]) -> MergeJob | None:
        chosen = choose_merge(read_manifest(self.connection, self.folder), busy)
        if not chosen:
            return None
        removed = find_removed(self.connection, chosen)
        return MergeJob(chosen, self.folder / INDEX, self.work / f"{chosen[0].name}.merged", removed.serialize())

    def _replace(self, job: MergeJob) -> None:
        with translate_errors(self.folder / FILE), transaction(self.connection):
            replace_segments(self.connection, self.folder, job.segments, job.target)
        for segment in job.segments:
            (self.folder / INDEX / segment.name).unlink()

    def _apply_vocabulary(self, planned: PlannedFile) -> None:
        source = planned.source
        try:
            with translate_errors(self.folder / FILE), transaction(self.connection):
                if source.kind != "journals" and (year := find_year(source.path)) is not None:
                    if year < (read_fact(self.connection, "mesh_year") or year):
                        self.already_applied += 1
                        return
                    set_mesh_year(self.connection, year)
                count = apply_vocabulary(self.connection, source)
                self.connection.execute("DELETE FROM files WHERE kind = ?", (source.kind,))
                prepared = PreparedFile(source.path, source.kind, source.md5, source.digest, source.size, Path())
                prepared.records = count
                note_file(self.connection, prepared, planned.place)
        except InvalidInput as exc:
            self.fail(source.path, exc)
            return
        self.applied += 1

    def list_places(self) -> list[tuple[int]]:
        """Return the places of the applied files."""
        return self.connection.execute("SELECT place FROM files").fetchall()

    def fail(self, path: Path, error: EntrezKitError) -> None:
        """Note a file that cannot be applied."""
        reason = str(error.details.get("reason", "invalid"))
        self.failed.append(FailedFile(file=str(path), reason=reason, message=str(error.message)))
        self.errors.append(error)

    def finish(self, *, new_year: bool = True) -> None:
        """Store what identifies the copy.

        Args:
            new_year: whether the records of earlier years are removed if the copy has a later baseline.
        """
        with translate_errors(self.folder / FILE), transaction(self.connection):
            if new_year:
                forget_earlier_years(self.connection)
            if read_fact(self.connection, "hash") is None:
                write_fact(self.connection, "newest_edat", find_newest_edat(self.connection))
                write_fact(self.connection, "hash", compute_hash(self.connection))
        with suppress(sqlite3.Error):
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def build_result(self) -> ImportResult:
        """Return what the import has done."""
        copy = Copy(self.folder)
        try:
            return ImportResult(
                name=self.folder.name,
                applied=self.applied,
                already_applied=self.already_applied,
                records_read=self.records,
                deletions_read=self.deletions,
                failed=self.failed,
                ignored=self.ignored,
                copy_info=copy.info,
            )
        finally:
            copy.close()


@contextmanager
def open_importer(settings: Settings, name: str) -> Iterator[Importer]:
    """Open a copy for an import; create it if it does not exist.

    Raises:
        StoreError: another process changes it, or the folder cannot be written.
    """
    folder = copy_folder(settings, name)
    with lock_copy(folder), open_importer_at(folder, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")) as importer:
        yield importer


@contextmanager
def open_importer_at(folder: Path, now: str) -> Iterator[Importer]:
    """Open a folder for an import; the caller holds its lock.

    Raises:
        StoreError: the folder cannot be written.
    """
    prepare_folder(folder, now)
    work = folder / WORK
    with translate_errors(folder / FILE):
        shutil.rmtree(work, ignore_errors=True)  # of an import that was killed
        make_private_folder(work)
        make_private_folder(folder / INDEX)
    connection = open_file(folder / FILE, writable=True)
    try:
        delete_unlisted(connection, folder)
        yield Importer(folder, work, connection)
    finally:
        connection.close()
        shutil.rmtree(work, ignore_errors=True)


def import_files(
    settings: Settings, name: str, paths: Sequence[Path], *, tell: Callable[[ImportPlan], None] | None = None
) -> ImportResult:
    """Import files and folders into a copy.

    Args:
        settings: the settings, with the data folder.
        name: the copy; it is created if it does not exist.
        paths: files and folders.
        tell: called with the size and time before the import begins.

    Raises:
        InvalidInput: no file can be imported. If only some cannot, they are listed in the result.
        StoreError: the copy cannot be written.
    """
    is_new = not (copy_folder(settings, name) / FILE).exists()
    try:
        with open_importer(settings, name) as importer:
            planned = importer.plan(paths)
            if tell is not None and planned:
                tell(importer.estimate(planned))
            importer.run(planned, total=len(planned), workers=count_workers(planned))
            if importer.errors and not importer.applied and not importer.already_applied:
                raise importer.errors[0]
            importer.finish()
            return importer.build_result()
    except InvalidInput:
        if is_new:
            _remove_if_empty(settings, name)
        raise


def _remove_if_empty(settings: Settings, name: str) -> None:
    """Remove a copy that a failed import has created."""
    folder = copy_folder(settings, name)
    with suppress(EntrezKitError), lock_copy(folder):
        connection = open_file(folder / FILE)
        try:
            used = connection.execute("SELECT 1 FROM files LIMIT 1").fetchone() is not None
        finally:
            connection.close()
        if not used:
            shutil.rmtree(folder, ignore_errors=True)


def _read_number(source: SourceFile) -> FileNumber | None:
    return parse_name(source.path) if source.kind == "pubmed" else None


def compute_md5(path: Path) -> str:
    """Return the MD5 checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def count_workers(planned: Collection[PlannedFile]) -> int:
    """Return the number of processes that prepare files; 1 is this process itself."""
    files = [one for one in planned if one.source.kind not in VOCABULARIES]
    size = sum(file.source.size * (1 if file.source.compressed else 1 / COMPRESSED) for file in files)
    if len(files) < 2 or size < SMALL_BYTES:
        return 1
    return max(1, min(count_processors(), len(files)))
