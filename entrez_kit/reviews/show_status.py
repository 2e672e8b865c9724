"""Show the state of a review: its runs, its records, and what comes next."""

from typing import ClassVar, Final

from entrez_kit.base.errors import StoreError
from entrez_kit.core.model import Warned
from entrez_kit.core.operation import DocumentOperation
from entrez_kit.reviews.flow import Flow, build_flow
from entrez_kit.reviews.folder import Review, open_review
from entrez_kit.reviews.journal import Run
from entrez_kit.reviews.search_review import ReviewRequest
from entrez_kit.services import Services


class StatusResult(Warned):
    """The state of a review: its runs without long texts, the boxes of the flow diagram, and the next command."""

    RECORDS: ClassVar = "runs"

    folder: str
    title: str
    runs: list[Run]
    flow: Flow
    gone: int
    retracted: list[str]
    next: str


def show_status(_: Services, request: ReviewRequest) -> StatusResult:
    """Show the runs, numbers and next step of a review, after checking all its files.

    Raises:
        InvalidInput: a file is damaged, or decisions contradict each other.
        StoreError: another command uses the folder.
    """
    with open_review(request.folder) as review:
        boxes = compute_flow(review)
        return StatusResult(
            folder=str(review.folder),
            title=review.settings.title,
            runs=[run.model_copy(update={"search": None, "changes": []}) for run in review.runs],
            flow=boxes,
            gone=sum(record.gone is not None for record in review.records),
            retracted=[
                record.id
                for record in review.records
                if record.standing is not None and record.standing.status in ("retracted", "withdrawn")
            ],
            next=find_next(review, boxes),
            warnings=review.warnings,
        )


def compute_flow(review: Review) -> Flow:
    """Return the boxes of the flow diagram of a review."""
    kinds = {name: source.kind for name, source in review.settings.sources.items()}
    return build_flow(review.records, review.decisions, kinds, review.settings.previous)


def find_next(review: Review, boxes: Flow) -> str:
    """Return the next command."""
    steps = {run.step for run in review.runs}
    if not steps & {"search", "import", "update"}:
        return "review search"
    if not review.is_deduplicated:
        return "review dedupe"
    if boxes.boxes["awaiting_screening"]:
        return "review screen export"
    if boxes.boxes["dbr_awaiting"] or boxes.boxes["other_awaiting"]:
        return "review screen export --stage full_text"
    return "review report"


SHOW_STATUS: Final = DocumentOperation(
    name="review_status",
    request=ReviewRequest,
    result=StatusResult,
    function=show_status,
    command=("review", "status"),
    toolset="review",
    title="Show the state of a review",
    errors=(StoreError,),
)
