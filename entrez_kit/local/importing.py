"""Import files into a copy: several processes parse and compress, and this one writes.

Each file is applied in one transaction, so an import that is interrupted at any moment continues with the next file.
"""

import shutil
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.private_files import make_private_folder, transaction
from entrez_kit.base.progress import report_progress
from entrez_kit.base.settings import Settings
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.local.apply_file import apply_file, forget_earlier_years, note_file
from entrez_kit.local.copies import (
    Copy,
    CopyInfo,
    compute_hash,
    copy_folder,
    find_newest_edat,
    lock_copy,
    prepare_folder,
)
from entrez_kit.local.copy_file import FILE, open_file, read_fact, translate_errors, write_fact
from entrez_kit.local.import_vocabulary import apply_vocabulary, find_file_year, set_mesh_year
from entrez_kit.local.import_workers import ImportWorkers, MergeJob, PlannedFile, open_workers
from entrez_kit.local.manifest import FOLDER as INDEX
from entrez_kit.local.manifest import (
    add_segments,
    choose_merge,
    delete_unlisted,
    find_removed,
    read_manifest,
    replace_segments,
)
from entrez_kit.local.plan_import import (
    FailedFile,
    ImportLog,
    ImportPlan,
    ImportPlanner,
    count_workers,
    estimate_import,
)
from entrez_kit.local.prepare_file import PreparedFile
from entrez_kit.local.source_files import (
    VOCABULARIES,
)

WORK: Final = "work"
"""The folder of temporary files of an import."""


class CopyImportResult(Result):
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
    log: ImportLog = field(default_factory=ImportLog)

    def run(self, planned: Iterable[PlannedFile], *, total: int, workers: int) -> None:
        """Apply files, and merge files of the index. A file that is damaged is skipped and listed in ``failed``.

        Args:
            planned: the files. Each is taken when a process can begin with it.
            total: their number.
            workers: the number of processes.
        """
        queue = _FileQueue(iter(planned), total)
        report_progress(0, total)
        with open_workers(workers, self.work) as pool:
            while True:
                self._submit_jobs(pool, queue)
                if not pool.is_busy:
                    return
                finished, outcome = pool.wait()
                if isinstance(finished, MergeJob):
                    queue.merging.difference_update(segment.name for segment in finished.segments)
                    self._replace_merged(finished)
                    continue
                queue.prepared[finished.place] = outcome
                for file, prepared in queue.take_prepared():
                    self._finish_file(file, prepared)
                    queue.count_finished()

    def _submit_jobs(self, pool: ImportWorkers, queue: "_FileQueue") -> None:
        """Give each idle process a merge of index files, or the next file. MeSH files are applied at once."""
        while pool.has_idle:
            if job := self._choose_merge(queue.merging):
                queue.merging.update(segment.name for segment in job.segments)
                pool.submit(job)
            elif (file := next(queue.waiting, None)) is None:
                return
            elif file.source.kind in VOCABULARIES:
                self._apply_vocabulary(file)
                queue.count_finished()
            else:
                queue.submitted.append(file)
                pool.submit(file)

    def _finish_file(self, planned: PlannedFile, outcome: PreparedFile | InvalidInput | None) -> None:
        if isinstance(outcome, InvalidInput):
            self.log.fail(planned.source.path, outcome)
        elif outcome is not None:
            self._apply_prepared(outcome, planned.place)
        if planned.is_temporary:
            planned.source.path.unlink(missing_ok=True)

    def _apply_prepared(self, prepared: PreparedFile, place: int) -> None:
        with translate_errors(self.folder / FILE), transaction(self.connection):
            first: int = read_fact(self.connection, "next_slot", 0)
            add_segments(self.connection, self.folder, first, prepared.segments)
            apply_file(self.connection, prepared, place)
        prepared.spool.unlink()
        self.log.applied += 1
        self.log.records += prepared.records
        self.log.deletions += len(prepared.deletions)

    def _choose_merge(self, busy: set[str]) -> MergeJob | None:
        chosen = choose_merge(read_manifest(self.connection, self.folder), busy)
        if not chosen:
            return None
        removed = find_removed(self.connection, chosen)
        return MergeJob(chosen, self.folder / INDEX, self.work / f"{chosen[0].name}.merged", removed.serialize())

    def _replace_merged(self, job: MergeJob) -> None:
        with translate_errors(self.folder / FILE), transaction(self.connection):
            replace_segments(self.connection, self.folder, job.segments, job.target)
        for segment in job.segments:
            (self.folder / INDEX / segment.name).unlink()

    def _apply_vocabulary(self, planned: PlannedFile) -> None:
        source = planned.source
        try:
            with translate_errors(self.folder / FILE), transaction(self.connection):
                if source.kind != "journals" and (year := find_file_year(source.path)) is not None:
                    if year < (read_fact(self.connection, "mesh_year") or year):
                        self.log.already_applied += 1
                        return
                    set_mesh_year(self.connection, year)
                count = apply_vocabulary(self.connection, source)
                self.connection.execute("DELETE FROM files WHERE kind = ?", (source.kind,))
                prepared = PreparedFile(source.path, source.kind, source.md5, source.digest, source.size, Path())
                prepared.records = count
                note_file(self.connection, prepared, planned.place)
        except InvalidInput as exc:
            self.log.fail(source.path, exc)
            return
        self.log.applied += 1

    def list_places(self) -> list[tuple[int]]:
        """Return the places of the applied files."""
        return self.connection.execute("SELECT place FROM files").fetchall()

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

    def build_result(self) -> CopyImportResult:
        """Return what the import has done."""
        copy = Copy(self.folder)
        try:
            return CopyImportResult(
                name=self.folder.name,
                applied=self.log.applied,
                already_applied=self.log.already_applied,
                records_read=self.log.records,
                deletions_read=self.log.deletions,
                failed=self.log.failed,
                ignored=self.log.ignored,
                copy_info=copy.info,
            )
        finally:
            copy.close()


@dataclass(slots=True)
class _FileQueue:
    """The files of a run: those that wait, those that processes prepare, and those that are ready to be applied.

    Attributes:
        submitted: files in the order in which they are applied; a topic depends on this order.
        prepared: the outcomes of submitted files by their place; None for a file without records.
        merging: the names of index files that a process merges.
    """

    waiting: Iterator[PlannedFile]
    total: int
    submitted: deque[PlannedFile] = field(default_factory=deque)
    prepared: dict[int, PreparedFile | InvalidInput | None] = field(default_factory=dict)
    merging: set[str] = field(default_factory=set)
    finished: int = 0

    def take_prepared(self) -> Iterator[tuple[PlannedFile, PreparedFile | InvalidInput | None]]:
        """Yield the next files in order, up to the first that is not prepared."""
        while self.submitted and self.submitted[0].place in self.prepared:
            file = self.submitted.popleft()
            yield file, self.prepared.pop(file.place)

    def count_finished(self) -> None:
        """Count a file that was applied or refused."""
        self.finished += 1
        report_progress(self.finished, self.total)


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
    settings: Settings, name: str, paths: Sequence[Path], *, report_plan: Callable[[ImportPlan], None] | None = None
) -> CopyImportResult:
    """Import files and folders into a copy.

    Args:
        settings: the settings, with the data folder.
        name: the copy; it is created if it does not exist.
        paths: files and folders.
        report_plan: called with the size and time before the import begins.

    Raises:
        InvalidInput: no file can be imported. If only some cannot, they are listed in the result.
        StoreError: the copy cannot be written.
    """
    is_new = not (copy_folder(settings, name) / FILE).exists()
    try:
        with open_importer(settings, name) as importer:
            planned = ImportPlanner(importer.connection, name, importer.log).plan(paths)
            if report_plan is not None and planned:
                report_plan(estimate_import(importer.folder, importer.log, planned))
            importer.run(planned, total=len(planned), workers=count_workers(planned))
            importer.log.raise_if_all_failed()
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
