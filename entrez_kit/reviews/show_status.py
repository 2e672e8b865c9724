"""Show the state of a review: its runs, its records, and what comes next."""

from typing import ClassVar, Final

from entrez_kit.base.errors import InvalidInput, StoreError
from entrez_kit.core.model import Warn, Warned
from entrez_kit.core.operation import DocumentOperation
from entrez_kit.reviews.decisions import read_decisions
from entrez_kit.reviews.flow import Flow, build_flow
from entrez_kit.reviews.folder import PAIRS, SCREENING, Review, open_review
from entrez_kit.reviews.journal import Run
from entrez_kit.reviews.pairs import count_pairs
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
    kinds = {record.source: review.settings.get_kind(record.source) for record in review.records}
    return build_flow(review.records, review.decisions, kinds, review.settings.previous)


CONTRADICTORY: Final = "decisions_contradict"
"""The reason of the error, and the code of the warning, about decisions that contradict each other."""


def warn_of_contradictions(review: Review) -> list[Warn]:
    """Return a warning if decisions in the folder contradict each other, for instance after their works were merged."""
    if text := review.read_file(SCREENING):
        review.decisions = read_decisions(text, SCREENING)  # with their present lines
    try:
        compute_flow(review)
    except InvalidInput as exc:
        if (exc.details or {}).get("reason") != CONTRADICTORY:
            raise
        advice = f"Keep one decision in {SCREENING}, or write different for the pair in {PAIRS} and deduplicate again."
        return [Warn(code=CONTRADICTORY, message=f"{exc.message} {advice}")]
    return []


def find_next(review: Review, boxes: Flow) -> str:
    """Return the next command."""
    steps = {run.step for run in review.runs}
    if not steps & {"search", "import", "update"}:
        return "review search"
    if not review.is_deduplicated or count_pairs(review).undecided:
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
