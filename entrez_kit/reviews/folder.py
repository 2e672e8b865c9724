"""The folder of a review: reads and checks its files, and replaces them all together.

A change stages all new files, writes ``commit.json``, and then renames the files. A killed change is finished by the
next command if ``commit.json`` exists, and discarded otherwise. One process at a time holds the lock.
"""

import contextlib
import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from entrez_kit.base import __version__
from entrez_kit.base.errors import InvalidInput, StoreError, describe_os_error
from entrez_kit.base.frontend_text import Argument, FrontendText, PerFrontend
from entrez_kit.base.input_files import read_input
from entrez_kit.base.private_files import acquire_lock, refuse_foreign_links
from entrez_kit.base.ro_crate import CRATE
from entrez_kit.core.model import Result, Warn
from entrez_kit.references.files.references import unreadable_error
from entrez_kit.reviews.decisions import ScreeningDecision, read_decisions, write_decisions
from entrez_kit.reviews.journal import Run, Step
from entrez_kit.reviews.records import ReviewRecord, sort_key
from entrez_kit.reviews.review_settings import FILE, ReviewSettings, describe_field_problem, read_settings
from entrez_kit.reviews.ro_crate import EXPORTED, list_described, write_crate

RECORDS: Final = "records.jsonl"
RUNS: Final = "runs.jsonl"
PAIRS: Final = "duplicates.csv"
SCREENING: Final = "screening.csv"
CHANGED: Final = (RECORDS, RUNS, PAIRS, SCREENING)
"""The files that commands replace."""
_COMMITTED: Final = (*CHANGED, CRATE)
_STAGED: Final = ".staged"
_COMMIT: Final = "commit.json"
_LOCK: Final = ".lock"
MAX_LEVELS: Final = 40
MAX_SMALL: Final = 4 * 1024 * 1024
MAX_FILE: Final = 2 * 1024 * 1024 * 1024
MAX_LINE: Final = 16 * 1024 * 1024
MAX_RECORDS: Final = 1_000_000
MAX_RUNS: Final = 100_000
LOCK_SECONDS: Final = 5.0

Line = TypeVar("Line", bound=Result)


def get_now() -> str:
    """Return the time in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def find_review(start: Path) -> Path:
    """Return the folder of the review that a path is in: the nearest folder above with ``review.toml``.

    Raises:
        InvalidInput: no folder has the file.
    """
    absolute = start.absolute()
    for folder in (absolute, *absolute.parents)[:MAX_LEVELS]:
        with suppress(OSError):
            if (folder / FILE).is_file():
                return folder
    name = "The current folder" if start == Path() else str(start)
    raise InvalidInput(
        f"{name} is not part of a review: neither it nor a folder above it has {FILE}.",
        invalid_input=str(start),
        recovery_hint=FrontendText(
            *("Name the folder of a review with ", Argument("folder"), ". "),
            PerFrontend("To create one, run `entrez-kit review init DIR --strategy FILE`.", "Or create a review."),
        ),
        details={"reason": "no_review"},
    )


@dataclass
class Review:
    """The content of a review's folder, while the lock is held."""

    folder: Path
    settings: ReviewSettings
    records: list[ReviewRecord]
    runs: list[Run]
    decisions: list[ScreeningDecision]
    warnings: list[Warn] = field(default_factory=list)

    @property
    def next_run(self) -> int:
        """The number of the next run."""
        return self.runs[-1].number + 1 if self.runs else 1

    def reset_works(self) -> None:
        """Remove the result of the deduplication, which new records may change."""
        for record in self.records:
            record.work, record.family = None, []

    def end_run(self, step: Step, started: str, **facts: Any) -> Run:
        """Return the run that ends now, for ``save_review``.

        Args:
            facts: the other fields of the run.
        """
        return Run(
            number=self.next_run,
            step=step,
            started=started,
            finished=get_now(),
            version=__version__,
            records_sha256="",
            **facts,
        )

    @property
    def is_deduplicated(self) -> bool:
        """Whether every record was deduplicated."""
        return bool(self.records) and all(record.work is not None for record in self.records)

    def read_file(self, name: str) -> str | None:
        """Return a file of the folder; None if it does not exist."""
        content = read_bytes(self.folder, name, MAX_SMALL if name not in CHANGED else MAX_FILE)
        return None if content is None else decode(content, name)


def decode(content: bytes, name: str) -> str:
    """Decode a file of the folder.

    Raises:
        InvalidInput: it is not UTF-8. The message has the line.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise unreadable_error(name, "this is not UTF-8 text", line=content.count(b"\n", 0, exc.start) + 1) from None


def find_inside(folder: Path, name: str) -> Path:
    """Return a path in the folder.

    Raises:
        InvalidInput: the name leads out of the folder, also by a link.
    """
    path = folder / name
    try:
        root, place = folder.resolve(), path.resolve()
    except (OSError, RuntimeError, ValueError):
        root, place = folder, Path("/")
    if "\x00" in name or Path(name).is_absolute() or not place.is_relative_to(root) or place == root:
        raise InvalidInput(
            f"{name[:200]!r} is not a file in the folder of the review.",
            invalid_input=name[:200],
            recovery_hint="Name a file inside the folder.",
            details={"reason": "outside_of_folder"},
        )
    return path


def read_bytes(folder: Path, name: str, limit: int = MAX_SMALL) -> bytes | None:
    """Return the content of a file in the folder; None if it does not exist.

    Raises:
        InvalidInput: it is outside of the folder, not a file, or too large.
        StoreError: it cannot be read.
    """
    path = find_inside(folder, name)
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would block
            raise OSError(errno.EINVAL, "not a regular file")
        return read_input(path, name, limit=limit)
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise review_file_error(path, exc) from None


def review_file_error(path: Path, exc: OSError) -> StoreError:
    """Return the error for a file that cannot be read or written."""
    return StoreError(
        f"{path} cannot be used: {describe_os_error(exc)}.",
        recovery_hint=f"Check that {path.parent} exists and is writable, and that its disk has free space.",
        details={"reason": "unreadable", "path": str(path)},
    )


def link_error(path: Path) -> InvalidInput:
    """Return the error for a link where the program writes its own files."""
    return InvalidInput(
        f"{path} is a link, so a write to it could change a file outside of the review.",
        invalid_input=str(path),
        recovery_hint="Delete the link, and run the command again.",
        details={"reason": "outside_of_folder"},
    )


@contextmanager
def open_review(start: str | Path) -> Iterator[Review]:
    """Open the review that a path is in, and hold its lock.

    Raises:
        InvalidInput: there is no review, or a file is damaged; the message has the file and the line.
        StoreError: another command uses the folder, or a file cannot be read.
    """
    folder = find_review(Path(start))
    with lock_review(folder):
        finish_commit(folder)
        yield load(folder)


def lock_review(folder: Path) -> AbstractContextManager[object]:
    """Acquire the lock of a review, which one process may use at a time; the caller releases it with ``with``.

    Raises:
        InvalidInput: the lock file is a link.
        StoreError: another command uses the folder, or the lock file cannot be written.
    """
    path = folder / _LOCK
    if path.is_symlink():
        raise link_error(path)
    busy = StoreError(
        f"Another command is using the review {folder}.",
        recovery_hint="Wait until it ends, and try again.",
        details={"reason": "locked", "path": str(folder)},
    )
    try:
        return acquire_lock(path, busy, seconds=LOCK_SECONDS)
    except OSError as exc:
        raise review_file_error(path, exc) from None


def load(folder: Path) -> Review:
    """Read all files of a review.

    Raises:
        InvalidInput: a file is damaged; the message has its line.
    """
    text = read_bytes(folder, FILE)
    settings = read_settings(decode(text or b"", FILE), FILE)
    content = read_bytes(folder, RECORDS, MAX_FILE) or b""
    records = read_json_lines(content, RECORDS, ReviewRecord, MAX_RECORDS)
    _check_records(records)
    runs = read_json_lines(read_bytes(folder, RUNS, MAX_FILE) or b"", RUNS, Run, MAX_RUNS)
    for number, found in enumerate(runs, start=1):
        if found.number != number:
            raise unreadable_error(RUNS, f"run {number} is missing: this line is run {found.number}", line=number)
    decisions = read_decisions(decode(read_bytes(folder, SCREENING, MAX_FILE) or b"", SCREENING) or _HEADER, SCREENING)
    review = Review(folder, settings, records, runs, decisions)
    if runs and hashlib.sha256(content).hexdigest() != runs[-1].records_sha256:
        message = f"{RECORDS} was changed after run {runs[-1].number}, by something else than this program."
        review.warnings.append(Warn(code="records_changed", message=message))
    return review


_HEADER: Final = "id,stage,decision\n"


def _check_records(records: Sequence[ReviewRecord]) -> None:
    """Refuse ids that two lines have, and links to records that do not exist."""
    lines: dict[str, int] = {}
    for number, record in enumerate(records, start=1):
        if record.id in lines:
            raise unreadable_error(RECORDS, f"{record.id} is also in line {lines[record.id]}", line=number)
        lines[record.id] = number
    for number, record in enumerate(records, start=1):
        if record.work is None:
            continue
        line_number = lines.get(record.work)
        if line_number is None:
            raise unreadable_error(RECORDS, f"{record.id} duplicates {record.work}, which no line has", line=number)
        if records[line_number - 1].work != record.work:
            problem = f"{record.id} duplicates {record.work}, which is a duplicate itself"
            raise unreadable_error(RECORDS, problem, line=number)


def read_json_lines(content: bytes, name: str, model: type[Line], limit: int) -> list[Line]:
    """Read a file of JSON lines.

    Raises:
        InvalidInput: a line is damaged, foreign or too long; the message has its number.
    """
    found: list[Line] = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        if len(found) >= limit or len(line) > MAX_LINE:
            raise unreadable_error(name, "the line or the file is too long", line=number)
        try:
            found.append(model.model_validate_json(line))
        except ValidationError as exc:
            error = exc.errors(include_url=False)[0]
            place = ".".join(map(str, error["loc"]))
            problem = f"{place}: {describe_field_problem(error)}" if place else "this line is damaged"
            hint = "Restore the file from version control, or correct this line."
            raise unreadable_error(name, problem, line=number, hint=hint) from None
    return found


def write_lines(items: Sequence[Result]) -> bytes:
    """Return models as JSON lines."""
    return "".join(f"{item.model_dump_json()}\n" for item in items).encode()


def save_review(review: Review, new_run: Run | None, *, pairs: str | None = None) -> None:
    """Replace the records and the decisions of a review, and add a run to the journal, all or nothing.

    Args:
        new_run: the run, whose ``records_sha256`` is set here; None to change decisions only.
        pairs: the table of pairs to decide.
    """
    review.records.sort(key=sort_key)
    records = write_lines(review.records)
    files = {RECORDS: records, SCREENING: write_decisions(review.decisions, review.records).encode()}
    if new_run is not None:
        new_run.records_sha256 = hashlib.sha256(records).hexdigest()
        review.runs.append(new_run)
        files[RUNS] = write_lines(review.runs)
    if pairs is not None:
        files[PAIRS] = pairs.encode()
    if (review.folder / CRATE).exists():
        files[CRATE] = describe_files(review, files)
    replace_files(review.folder, files)


def describe_files(review: Review, new: Mapping[str, bytes]) -> bytes:
    """Return the metadata of the folder as RO-Crate.

    Args:
        new: the new content of files that a command replaces.
    """
    files = dict(new)
    exported = [path for path in review.folder.glob(f"{EXPORTED}/*/*.ris") if not path.is_symlink()]
    works = sorted(path.relative_to(review.folder).as_posix() for path in exported)
    for name in (*CHANGED, *list_described(review.settings), *works):
        if name not in files and (content := read_bytes(review.folder, name, MAX_FILE)) is not None:
            files[name] = content
    return write_crate(review.settings, review.runs, files)


def replace_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace files of the folder together, so that a killed process leaves all old or all new ones.

    Raises:
        StoreError: a file cannot be written.
    """
    staged = folder / _STAGED
    try:
        refuse_foreign_links(folder)
        _discard(staged)
        staged.mkdir()
        for name, content in files.items():
            _write(staged / name, content)
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        _write(staged / f"{_COMMIT}.part", json.dumps(digests).encode())
        (staged / f"{_COMMIT}.part").replace(staged / _COMMIT)
    except OSError as exc:
        raise review_file_error(staged, exc) from None
    finish_commit(folder)


def finish_commit(folder: Path) -> None:
    """Finish the change of a killed process if it was complete; otherwise discard it.

    Raises:
        InvalidInput: the staged files are damaged.
    """
    staged = folder / _STAGED
    if staged.is_symlink():
        raise link_error(staged)
    if not staged.exists():
        return
    content = read_bytes(folder, f"{_STAGED}/{_COMMIT}")
    try:
        if content is not None:
            for name, digest in _read_commit(content).items():
                part = staged / name
                if not part.exists():
                    continue  # it was renamed before the process was killed
                found = read_bytes(folder, f"{_STAGED}/{name}", MAX_FILE)
                if part.is_symlink() or found is None or hashlib.sha256(found).hexdigest() != digest:
                    raise unreadable_error(f"{_STAGED}/{name}", "the file differs from its hash")
                part.replace(folder / name)
        _discard(staged)
    except OSError as exc:
        raise review_file_error(staged, exc) from None


def _read_commit(content: bytes) -> dict[str, str]:
    name = f"{_STAGED}/{_COMMIT}"
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        raise unreadable_error(name, "the file is not JSON") from None
    if not isinstance(data, dict) or not all(key in _COMMITTED and isinstance(data[key], str) for key in data):
        raise unreadable_error(name, "this is not a file of this program")
    return data


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _discard(staged: Path) -> None:
    """Remove the staged files: ``commit.json`` last, so that a kill in between leaves nothing to finish."""
    if not staged.exists():
        return
    names = sorted(staged.iterdir(), key=lambda path: path.name == _COMMIT)
    for name in names:
        if name.is_dir() and not name.is_symlink():
            raise InvalidInput(
                f"{name} is a folder, which this program did not create.",
                invalid_input=str(name),
                recovery_hint=f"Move the folder out of {staged}, and run the command again.",
                details={"reason": "bad_file"},
            )
        name.unlink()
    with contextlib.suppress(OSError):
        staged.rmdir()
