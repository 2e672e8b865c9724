"""Write the works to screen as RIS for Covidence, Rayyan and ASReview: one file for each source, and one of all."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, Literal

from pydantic import Field

from entrez_kit.base.errors import InvalidInput, StoreError
from entrez_kit.base.frontend_text import FrontendText, suggest_command
from entrez_kit.base.ro_crate import CRATE
from entrez_kit.core.model import Result
from entrez_kit.core.operation import DocumentOperation
from entrez_kit.references.files.ris_tags import ABSTRACT_TAGS
from entrez_kit.references.files.tagged_fields import get_first_value
from entrez_kit.references.merge.entries import SOURCE_NOTE
from entrez_kit.reviews.dedupe_records import list_works
from entrez_kit.reviews.folder import Review, describe_files, open_review, replace_files
from entrez_kit.reviews.output_files import remove_outputs, write_output
from entrez_kit.reviews.records import ID_NOTE, ReviewRecord, sort_key, to_ris
from entrez_kit.reviews.ro_crate import EXPORTED
from entrez_kit.reviews.search_review import ReviewRequest
from entrez_kit.reviews.show_status import compute_flow
from entrez_kit.services import Services

ALL: Final = "all.ris"
"""The file of all works."""
_RESERVED: Final = frozenset(("all", "con", "prn", "aux", "nul"))
"""Sources whose file needs another name: that of all works, and devices of Windows."""
ScreeningStage = Literal["title_abstract", "full_text"]
_COMPLETED: Final = (("DO",), ABSTRACT_TAGS, ("UR",), ("KW",), ("LA",))
"""Fields that a duplicate adds if the record has none."""


class ScreenExportRequest(ReviewRequest):
    """The works to write."""

    stage: ScreeningStage = Field(default="title_abstract", description="title_abstract or full_text.")
    every: bool = Field(default=False, description="Write works with a decision too.")


class ExportedFile(Result):
    """A file: its path in the folder of the review, the source of its works, and their number."""

    file: str
    source: str | None
    works: int


class ScreenExportResult(Result):
    """The files. Each work is in the file of one source, so that these add up to ``works``, the file of all."""

    RECORDS: ClassVar = "files"

    stage: ScreeningStage
    works: int
    files: list[ExportedFile]


def export_screening(_: Services, request: ScreenExportRequest) -> ScreenExportResult:
    """Write the works without a decision as RIS: one file for each source, and one of all.

    Raises:
        InvalidInput: the records are not deduplicated, or decisions contradict each other.
        StoreError: the files cannot be written.
    """
    with open_review(request.folder) as review:
        works = _select_works(review, request)
        files: dict[str, tuple[str | None, list[str]]] = {}
        for record, text in works:
            name = f"{record.slug}_.ris" if record.slug in _RESERVED else f"{record.slug}.ris"
            files.setdefault(name, (record.source, []))[1].append(text)
        files[ALL] = None, [text for _, text in works]
        folder = f"{EXPORTED}/{request.stage}"
        remove_outputs(review.folder, folder, ".ris")
        for name, (_source, texts) in files.items():
            write_output(review.folder, f"{folder}/{name}", "".join(f"{text}\n\n" for text in texts).encode())
        if (review.folder / CRATE).exists():
            replace_files(review.folder, {CRATE: describe_files(review, {})})
    return ScreenExportResult(
        stage=request.stage,
        works=len(works),
        files=[
            ExportedFile(file=f"{folder}/{name}", source=source, works=len(texts))
            for name, (source, texts) in files.items()
        ],
    )


def _select_works(review: Review, request: ScreenExportRequest) -> list[tuple[ReviewRecord, str]]:
    if not review.is_deduplicated:
        raise InvalidInput(
            f"The review in {request.folder} has records that were not compared for duplicates.",
            invalid_input=request.folder,
            recovery_hint=FrontendText(suggest_command("review dedupe", "Deduplicate the records"), " first."),
            details={"reason": "not_deduplicated"},
        )
    boxes = compute_flow(review)
    if request.stage == "title_abstract":
        chosen = boxes.list_records("awaiting_screening") | boxes.list_records("other_awaiting")
        more = boxes.list_records("to_screen") | boxes.list_records("other_works")
    else:
        chosen = boxes.list_records("dbr_awaiting") | boxes.list_records("other_awaiting")
        more = boxes.list_records("dbr_sought_reports") | boxes.list_records("other_sought_reports")
    chosen = more if request.every else chosen
    works = list_works(review.records)
    chosen_records = sorted((group[0] for work, group in works.items() if work in chosen), key=sort_key)
    return [(record, write_record(works[record.id])) for record in chosen_records]


def write_record(group: Sequence[ReviewRecord]) -> str:
    """Return a work as RIS, with its id in each field that screening programs keep, and its sources as a note."""
    first = group[0]
    fields = [field for field in first.fields if field[0] != "ID"]
    for tags in _COMPLETED:
        if not get_first_value(fields, *tags):
            other = next((record for record in group[1:] if get_first_value(record.fields, *tags)), None)
            fields += [field for field in other.fields if field[0] in tags] if other is not None else []
    more = list(_list_ids(first, {tag for tag, _ in fields}))
    more.append(("N1", f"{SOURCE_NOTE}{'; '.join(sorted({record.source for record in group}))}"))
    return to_ris(first.model_copy(update={"fields": fields}), more)


def _list_ids(record: ReviewRecord, tags: set[str]) -> Iterator[tuple[str, str]]:
    yield "ID", record.id
    if "LB" not in tags:
        yield "LB", record.id
    if "AN" not in tags:
        yield "AN", record.id
    yield "N1", f"{ID_NOTE}{record.id}"


SCREEN_EXPORT: Final = DocumentOperation(
    name="review_screen_export",
    request=ScreenExportRequest,
    result=ScreenExportResult,
    function=export_screening,
    command=("review", "screen", "export"),
    toolset="review",
    title="Export works to screen",
    errors=(StoreError,),
    read_only=False,
)
