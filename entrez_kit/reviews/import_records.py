"""Import the records of other databases into a review."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import PurePath
from typing import ClassVar, Final

from pydantic import Field, field_validator

from entrez_kit.base.errors import InvalidInput, StoreError
from entrez_kit.core.model import Warn, Warned, WrongValue
from entrez_kit.core.operation import DocumentOperation
from entrez_kit.references.merge.files_to_merge import read_files
from entrez_kit.references.merge.merge_documents import FileToMerge
from entrez_kit.reviews.folder import Review, get_now, open_review, save_review
from entrez_kit.reviews.journal import FileOfRun
from entrez_kit.reviews.records import ReviewRecord, convert_entries, make_slug
from entrez_kit.reviews.review_settings import fold_source
from entrez_kit.reviews.search_review import ReviewRequest
from entrez_kit.services import Services

MAX_FILES: Final = 200


class ImportRequest(ReviewRequest):
    """Files of a source."""

    source: str = Field(
        min_length=1, max_length=100, description="Database, register or other source of the records, e.g. Embase."
    )
    files: list[FileToMerge] = Field(min_length=1, max_length=MAX_FILES, description="Files of records.")
    platform: str | None = Field(default=None, max_length=500, description="Platform, e.g. Ovid or Embase.com.")
    searched: str | None = Field(default=None, description="Date of the search in the source: YYYY-MM-DD.")

    @field_validator("searched")
    @classmethod
    def _check_day(cls, value: str | None) -> str | None:
        try:
            return None if value is None else date.fromisoformat(value).isoformat()
        except ValueError:
            raise WrongValue("a date such as 2026-11-23") from None

    @field_validator("source")
    @classmethod
    def _check_source(cls, value: str) -> str:
        if not any(letter.isalnum() for letter in value):
            raise WrongValue("a name with at least one letter or digit")
        return " ".join(value.split())


class ReviewImportResult(Warned):
    """The imported files: ``added`` records are new to the source, ``known`` records were imported before."""

    RECORDS: ClassVar = "files"

    run: int | None
    source: str
    files: list[FileOfRun]
    records: int
    added: int
    known: int


def import_records(_: Services, request: ImportRequest) -> ReviewImportResult:
    """Import the records of another database into a review; records of an earlier import are not added again.

    Raises:
        InvalidInput: a file cannot be read, or has no records.
        StoreError: the folder cannot be written.
    """
    started = get_now()
    with open_review(request.folder) as review:
        (source, slug), number = _name_source(review, request.source), review.next_run
        files = [  # without the folders of the user
            file.model_copy(update={"source": source, "file": PurePath(file.file).name or file.file})
            for file in request.files
        ]
        known_ids = {record.id for record in review.records}
        file_counts, new, warnings = _read_records(files, source, slug, known_ids, number)
        counts = {name: sum(getattr(file, name) for file in file_counts) for name in ("records", "added", "known")}
        if new:
            review.records += new
            review.reset_works()
        folded = fold_source(source)
        earlier = {
            file.sha256
            for run in review.runs
            if run.step == "import" and fold_source(run.source or "") == folded
            for file in run.files
        }
        is_repeated = not new and all(file.sha256 in earlier for file in file_counts)
        if not is_repeated:
            run = review.end_run(
                "import",
                started,
                source=source,
                platform=request.platform,
                searched=request.searched,
                files=file_counts,
                counts=counts,
                warnings=warnings,
            )
            save_review(review, run)
    return ReviewImportResult(
        run=None if is_repeated else number, source=source, files=file_counts, **counts, warnings=warnings
    )


def _name_source(review: Review, given_name: str) -> tuple[str, str]:
    """Return the name of a source, as the review has it if it has this source, and its name in ids of records.

    Raises:
        InvalidInput: the source is PubMed, which this review searches.
    """
    folded = fold_source(given_name)
    slugs = {fold_source(record.source): record.slug for record in review.records}
    names = {fold_source(record.source): record.source for record in review.records}
    names |= {fold_source(name): name for name in review.settings.sources}
    source = names.get(folded, given_name)
    slug = slugs.get(folded) or make_slug(source, slugs.values())
    if slug == "pubmed" and any(run.step == "search" for run in review.runs):
        raise InvalidInput(
            "The records of PubMed come from the search of this review.",
            invalid_input=given_name,
            recovery_hint="Name the source of these files, such as MEDLINE (Ovid).",
            details={"reason": "source_searched"},
        )
    return source, slug


def _read_records(
    files: Sequence[FileToMerge], source: str, slug: str, known_ids: Iterable[str], number: int
) -> tuple[list[FileOfRun], list[ReviewRecord], list[Warn]]:
    """Read the records of files of one source.

    Args:
        slug: the name of the source in ids of records.
        known_ids: the ids of the records that the review already has.
        number: the number of the run.

    Returns:
        The files with their numbers of records, the records that are new, and warnings.
    """
    entries, file_names, warnings = read_files(files)
    seen_ids = set(known_ids)
    file_counts: list[FileOfRun] = []
    new: list[ReviewRecord] = []
    for name, file in zip(file_names, files, strict=True):
        imported = list(convert_entries((entry for entry in entries if entry.file == name), source, slug, number))
        fresh = [record for record in imported if record.id not in seen_ids]
        seen_ids |= {record.id for record in fresh}
        new += fresh
        content = (file.text or repr(file.references)).encode()
        file_counts.append(
            FileOfRun(
                name=name,
                sha256=hashlib.sha256(content).hexdigest(),
                records=len(imported),
                added=len(fresh),
                known=len(imported) - len(fresh),
            )
        )
    return file_counts, new, warnings


IMPORT_RECORDS: Final = DocumentOperation(
    name="review_import",
    request=ImportRequest,
    result=ReviewImportResult,
    function=import_records,
    command=("review", "import"),
    toolset="review",
    title="Import records into a review",
    errors=(StoreError,),
    read_only=False,
)
