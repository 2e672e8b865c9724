"""The jobs of an import, and the processes that do them: prepare a file, or merge files of the index."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyroaring import BitMap

from entrez_kit.base.errors import EntrezKitError, InvalidInput, StoreError
from entrez_kit.base.progress import stop_if_cancelled
from entrez_kit.local.copy_file import translate_errors
from entrez_kit.local.manifest import IndexFile
from entrez_kit.local.prepare_file import PreparedFile, Topic, prepare_file
from entrez_kit.local.source_files import SourceFile
from entrez_kit.query.segments.merge import merge_segments

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

MAX_WORKERS: Final = 16
POLL_SECONDS: Final = 0.5


def count_processors() -> int:
    """Return the number of processors that this process may use, at most ``MAX_WORKERS``."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MAX_WORKERS)


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file to import and its place in the order."""

    source: SourceFile
    place: int
    topic: Topic | None = None
    is_temporary: bool = False
    """Whether the file is removed after it was applied."""


@dataclass(frozen=True, slots=True)
class MergeJob:
    """Neighbouring files of the index to merge into one."""

    segments: list[IndexFile]
    folder: Path
    target: Path
    removed: bytes


Job = PlannedFile | MergeJob


def _run_job(job: Job, work: Path, parent: int | None = None) -> PreparedFile | InvalidInput | None:
    if isinstance(job, MergeJob):
        merge_segments(
            [job.folder / segment.name for segment in job.segments], job.target, BitMap.deserialize(job.removed)
        )
        return None
    try:
        return prepare_file(job.source, work, parent, job.topic)
    except InvalidInput as exc:
        return exc


class ImportWorkers:
    """Does jobs in this process, one at a time."""

    def __init__(self, work: Path) -> None:
        self._work = work
        self._jobs: list[Job] = []

    @property
    def has_idle(self) -> bool:
        """Whether another job can be submitted."""
        return not self._jobs

    @property
    def is_busy(self) -> bool:
        """Whether a job was submitted whose outcome was not returned."""
        return bool(self._jobs)

    def submit(self, job: Job) -> None:
        """Begin a job."""
        self._jobs.append(job)

    def wait(self) -> tuple[Job, PreparedFile | InvalidInput | None]:
        """Return the next finished job and its outcome."""
        job = self._jobs.pop()
        return job, _run_job(job, self._work)


class WorkerProcesses(ImportWorkers):
    """Does several jobs at once, each in a process of its own."""

    def __init__(self, work: Path, count: int) -> None:
        import multiprocessing

        super().__init__(work)
        context = multiprocessing.get_context("spawn")  # safe for callers with threads
        self._busy: dict[Connection, Job] = {}
        self._idle: list[Connection] = []
        self._processes = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve_jobs, args=(theirs, work, os.getpid()), daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)
            self._idle.append(ours)

    @property
    def has_idle(self) -> bool:
        """Whether a process has no job."""
        return bool(self._idle)

    @property
    def is_busy(self) -> bool:
        """Whether a process has a job."""
        return bool(self._busy)

    def submit(self, job: Job) -> None:
        """Begin a job."""
        pipe = self._idle.pop()
        self._busy[pipe] = job
        pipe.send(job)

    def wait(self) -> tuple[Job, PreparedFile | InvalidInput | None]:
        """Return the next finished job and its outcome; stop if the caller cancelled the import.

        Raises:
            EntrezKitError: the process failed.
        """
        from multiprocessing.connection import wait

        ready: list[Any] = []
        while not ready:
            stop_if_cancelled()
            ready = wait(list(self._busy), timeout=POLL_SECONDS)
        pipe: Connection = ready[0]
        job = self._busy.pop(pipe)
        try:
            outcome = pipe.recv()
        except (EOFError, ConnectionResetError):
            raise StoreError(
                "A process of the import ended unexpectedly. The system may have stopped it because of its memory.",
                recovery_hint="Run the same command again: applied files are kept.",
                details={"reason": "worker_lost"},
            ) from None
        self._idle.append(pipe)
        if isinstance(outcome, dict):
            kind = outcome.pop("kind")
            error: EntrezKitError = (InvalidInput if kind == "InvalidInput" else StoreError)(**outcome)
            if isinstance(error, InvalidInput):
                return job, error
            raise error
        return job, outcome

    def close(self) -> None:
        """End the processes."""
        for pipe in (*self._idle, *self._busy):
            pipe.close()
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()


@contextmanager
def open_workers(count: int, work: Path) -> Iterator[ImportWorkers]:
    """Start processes for jobs; with a count of 1 this process does them."""
    if count < 2:
        yield ImportWorkers(work)
        return
    workers = WorkerProcesses(work, count)
    try:
        yield workers
    finally:
        workers.close()


def _serve_jobs(pipe: "Connection", work: Path, parent: int) -> None:
    """Do the jobs that the parent process sends, until it closes the pipe or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to all; the parent process decides
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            job = pipe.recv()
            try:
                with translate_errors(work):
                    outcome: Any = _run_job(job, work, parent)
            except StoreError as exc:
                outcome = exc
            if isinstance(outcome, EntrezKitError):
                outcome = {
                    "kind": type(outcome).__name__,
                    "message": str(outcome.message),
                    "invalid_input": outcome.invalid_input,
                    "recovery_hint": str(outcome.recovery_hint),
                    "details": dict(outcome.details),
                }
            pipe.send(outcome)
