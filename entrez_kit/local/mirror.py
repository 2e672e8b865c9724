"""Mirror NLM's files, the yearly baseline and the daily updates. One file is downloaded while others are applied."""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from entrez_kit.base.errors import EntrezKitError, InvalidInput, UpstreamError
from entrez_kit.base.frontend_text import FrontendText, suggest_command
from entrez_kit.base.private_files import make_private_folder
from entrez_kit.base.settings import Settings
from entrez_kit.local.copies import find_folder
from entrez_kit.local.copy_file import FILE, open_file, read_fact, translate_errors, write_fact
from entrez_kit.local.file_events import unusable_file_error
from entrez_kit.local.file_order import FileNumber, parse_file_name, read_place
from entrez_kit.local.import_workers import PlannedFile, count_processors
from entrez_kit.local.importing import CopyImportResult, Importer, open_importer
from entrez_kit.local.plan_import import ImportPlan, compute_md5, estimate_download
from entrez_kit.local.prepare_file import Topic
from entrez_kit.local.source_files import SourceFile, parse_md5
from entrez_kit.query.search import search
from entrez_kit.query.segments.search_index import SearchIndex

DOWNLOADS: Final = "downloads"
BASELINE: Final = "baseline"
UPDATES: Final = "updatefiles"
MAX_LISTING_BYTES: Final = 16 << 20
MAX_MD5_BYTES: Final = 4096
AVERAGE_BYTES: Final = 38_000_000
"""Of a compressed file of the baseline (51 GB in 1,334 files), for the estimate."""
MANY_FILES: Final = 8
"""Files above which several processes prepare them."""
ATTEMPTS: Final = 3
"""Downloads of a file whose checksum is wrong. NLM may replace a file between the two requests."""
_REPLACED: Final = "Run the command again later. NLM may be replacing the file."
_ENTRY: Final = re.compile(r'href="(?:\./)?((?:pubmed|medline)[0-9]{2}n[0-9]{4,5}\.xml\.gz)"', re.IGNORECASE)


class FileSource(Protocol):
    """A server with NLM's files."""

    def read(self, path: str, limit: int) -> bytes:
        """Return a small file or a listing."""

    def download(self, path: str, target: Path) -> None:
        """Write a file to a path."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of one year on the server."""

    baseline: dict[FileNumber, str]
    updates: dict[FileNumber, str]

    @property
    def year(self) -> int:
        """The year."""
        return max(number.year for number in self.baseline)

    @property
    def paths(self) -> dict[FileNumber, str]:
        """The paths in the order in which the files are applied."""
        return dict(sorted({**self.baseline, **self.updates}.items()))


def read_listing(source: FileSource) -> Listing:
    """Return the files of the latest year.

    Raises:
        UpstreamError: the listing is not one, or the baseline of the latest year is not complete.
    """
    baseline = _read_folder(source, BASELINE)
    if not baseline:
        raise UpstreamError(
            "The server lists no files of the PubMed baseline.",
            recovery_hint="Check ENTREZ_KIT_PUBMED_FILES_URL.",
            details={"reason": "no_files"},
        )
    year = max(number.year for number in baseline)
    latest = {number: path for number, path in baseline.items() if number.year == year}
    missing = set(range(1, max(latest).number + 1)) - {number.number for number in latest}
    if missing:
        raise UpstreamError(
            f"The baseline of {year} is not complete: {FileNumber(year, min(missing))} is missing.",
            recovery_hint="NLM publishes a new baseline over several days in December and January. Try again later.",
            details={"reason": "incomplete_baseline", "missing": len(missing), "year": year},
        )
    updates = _read_folder(source, UPDATES)
    return Listing(
        latest, {number: path for number, path in updates.items() if number > max(latest) and number.year == year}
    )


def _read_folder(source: FileSource, folder: str) -> dict[FileNumber, str]:
    text = source.read(f"{folder}/", MAX_LISTING_BYTES).decode("utf-8", errors="replace")
    names = {name: number for name in _ENTRY.findall(text) if (number := parse_file_name(name)) is not None}
    return {number: f"{folder}/{name}" for name, number in names.items()}


def mirror_files(
    settings: Settings,
    name: str,
    source: FileSource,
    *,
    topic: str | None = None,
    only_new: bool = False,
    report_plan: Callable[[ImportPlan], None] | None = None,
) -> CopyImportResult:
    """Download and apply all files that a copy does not have.

    Args:
        settings: the settings, with the data folder.
        name: the copy; it is created if it does not exist.
        source: the server.
        topic: a query; only records that match it are kept. It cannot change later.
        only_new: whether only files after the newest one of the copy are applied.
        report_plan: called with the size and time before the first download.

    Raises:
        InvalidInput: the copy has another topic.
        UpstreamError: the listing cannot be read, or no file could be downloaded.
        StoreError: the copy cannot be written.
    """
    if topic is not None:
        search(topic, SearchIndex(()))  # an invalid query fails before the first request
    listing = read_listing(source)
    with open_importer(settings, name) as importer:
        _check_topic(importer, name, topic, only_new=only_new)
        downloads = importer.folder / DOWNLOADS
        with translate_errors(importer.folder / FILE):
            make_private_folder(downloads)
        selected = _choose_files(importer, listing, only_new=only_new)
        if report_plan is not None and selected:
            report_plan(estimate_download(importer.folder, importer.log, len(selected), len(selected) * AVERAGE_BYTES))
        fetcher = _Fetcher(importer, source, downloads, Topic.of(importer.connection, importer.folder / FILE))
        importer.run(
            fetcher.fetch(selected),
            total=len(selected),
            workers=count_processors() if len(selected) >= MANY_FILES else 1,
        )
        importer.log.raise_if_all_failed()
        applied = {number for (place,) in importer.list_places() if (number := read_place(place)) is not None}
        write_fact(importer.connection, "mirrored", 1)
        write_fact(importer.connection, "baseline_last", max(listing.baseline).number)
        importer.finish(new_year=applied.issuperset(listing.baseline))
        shutil.rmtree(downloads, ignore_errors=True)
        return importer.build_result()


def _check_topic(importer: Importer, name: str, topic: str | None, *, only_new: bool) -> None:
    stored = read_fact(importer.connection, "topic")
    is_used = bool(importer.list_places())
    if only_new or topic == stored or (topic is None and stored is not None):
        return
    if is_used:
        raise InvalidInput(
            f"The copy {name!r} has {'the topic ' + repr(stored) if stored else 'no topic'}, which cannot be changed.",
            invalid_input=f"topic={topic}",
            recovery_hint="Give another name to make another copy.",
            details={"reason": "other_topic"},
        )
    write_fact(importer.connection, "topic", topic)


def _choose_files(importer: Importer, listing: Listing, *, only_new: bool) -> dict[FileNumber, str]:
    places = {place for (place,) in importer.list_places()}
    missing = {number: path for number, path in listing.paths.items() if number.place not in places}
    importer.log.already_applied += len(listing.paths) - len(missing)
    if not only_new:
        return missing
    applied = [number for place in places if (number := read_place(place)) is not None]
    if not applied:
        raise InvalidInput(
            f"The copy {importer.folder.name!r} has none of NLM's files, so nothing can update it.",
            invalid_input=f"name={importer.folder.name}",
            recovery_hint=FrontendText(
                suggest_command(
                    f"local import {importer.folder.name} FILE...",
                    "Ask the operator of the server to import newer files",
                ),
                ".",
            ),
            details={"reason": "no_source"},
        )
    if max(applied).year < listing.year:
        raise InvalidInput(
            f"The copy {importer.folder.name!r} has files of {max(applied).year}, and NLM has a new baseline.",
            invalid_input=f"name={importer.folder.name}",
            recovery_hint=FrontendText(
                suggest_command(
                    f"local mirror {importer.folder.name}",
                    "Ask the operator of the server to download the new baseline",
                ),
                ".",
            ),
            details={"reason": "new_baseline", "year": listing.year},
        )
    return {number: path for number, path in missing.items() if number > max(applied)}


class _Fetcher:
    """Downloads files one after the other; those that fail are listed in the import."""

    def __init__(self, importer: Importer, source: FileSource, folder: Path, topic: Topic | None) -> None:
        self._importer = importer
        self._source = source
        self._folder = folder
        self._topic = topic

    def fetch(self, files: dict[FileNumber, str]) -> Iterator[PlannedFile]:
        """Yield each file when it is complete and has its published checksum."""
        refused = 0
        for number, path in files.items():
            target = self._folder / path.rpartition("/")[2]
            try:
                self._fetch_one(path, target)
                yield PlannedFile(SourceFile(target), number.place, self._topic, is_temporary=True)
                refused = 0
            except (InvalidInput, UpstreamError) as exc:
                self._importer.log.fail(Path(path), exc)
                refused += 1
                if isinstance(exc, UpstreamError) and refused >= ATTEMPTS:  # the server does not answer
                    return
            except EntrezKitError as exc:
                if exc.details.get("reason") != "not_found":
                    raise
                self._importer.log.fail(Path(path), exc)

    def _fetch_one(self, path: str, target: Path) -> None:
        """Download a file and compare its checksum.

        Raises:
            InvalidInput: the checksum was wrong several times.
        """
        for attempt in range(ATTEMPTS):
            expected = parse_md5(self._source.read(f"{path}.md5", MAX_MD5_BYTES), Path(f"{path}.md5"), hint=_REPLACED)
            with translate_errors(target):
                if not target.exists():
                    self._source.download(path, target)
                digest = compute_md5(target)
                if digest == expected:
                    return
                target.unlink()
            if attempt == ATTEMPTS - 1:
                raise unusable_file_error(
                    Path(path),
                    f"its MD5 checksum is {digest}, and NLM's is {expected}",
                    "wrong_md5",
                    hint=_REPLACED,
                )


def update_copy(
    settings: Settings, name: str, source: FileSource, *, report_plan: Callable[[ImportPlan], None] | None = None
) -> CopyImportResult:
    """Apply the files that NLM has published since the last mirror or import.

    Raises:
        EntityNotFound: the copy does not exist.
        InvalidInput: the copy has no source of updates.
    """
    folder = find_folder(settings, name)
    connection = open_file(folder / FILE)
    try:
        mirrored = read_fact(connection, "mirrored")
    finally:
        connection.close()
    return mirror_files(settings, name, source, only_new=not mirrored, report_plan=report_plan)
