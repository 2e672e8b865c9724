"""Take the decisions of screening back into a review, matched by the ids of its records."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import ClassVar, Final

from pydantic import Field

from entrez_kit.base.errors import InvalidInput, StoreError
from entrez_kit.base.frontend_text import Argument, FrontendText, join_names
from entrez_kit.core.model import Result, Warned, omit_if_empty
from entrez_kit.core.operation import DocumentOperation
from entrez_kit.references.merge.merge_documents import FileToMerge
from entrez_kit.reviews.decisions import AUTOMATION, Choice, ScreeningDecision, Stage
from entrez_kit.reviews.folder import Review, get_now, open_review, save_review
from entrez_kit.reviews.import_records import MAX_FILES
from entrez_kit.reviews.journal import FileOfRun
from entrez_kit.reviews.match_rows import MatchedBy, RowMatcher
from entrez_kit.reviews.read_screening import Row, read_decision_rows
from entrez_kit.reviews.search_review import ReviewRequest
from entrez_kit.reviews.show_status import compute_flow
from entrez_kit.services import Services

DIFFERENT: Final = "the decisions differ: "
"""The reason of rows whose decisions contradict each other."""
IN_REVIEW: Final = "the review has the decision "
"""The reason of rows that contradict an earlier decision of the same stage."""


class ScreenImportRequest(ReviewRequest):
    """Files with decisions."""

    files: list[FileToMerge] = Field(min_length=1, max_length=MAX_FILES, description="Files with decisions.")
    stage: Stage = Field(default="title_abstract", description="before_screening, title_abstract or full_text.")
    decision: Choice | None = Field(
        default=None, description="Decision on all records of the files: include, exclude or not_retrieved."
    )
    reason: str = Field(default="", max_length=500, description="Reason for exclusions that have none in the file.")
    automation: bool = Field(default=False, description="A program decided, not people.")
    replace: bool = Field(default=False, description="Replace earlier decisions that differ.")


class UnmatchedRow(Result):
    """A record of a file that was not used: its place, its text, the reason, and the records that it may be."""

    place: str
    text: str
    why: str
    records: list[str] = omit_if_empty([])


class ScreenImportResult(Warned):
    """The decisions of files.

    Each row is in one number: ``applied`` is new, ``unchanged`` was known, ``repeated`` agrees with another row,
    ``undecided`` has no decision; the others are in ``unknown`` and ``contradictory``. ``matched_by`` says how the
    records were found.
    """

    RECORDS: ClassVar = "contradictory"

    run: int | None
    stage: Stage
    rows: int
    applied: int
    unchanged: int
    repeated: int
    undecided: int
    matched_by: dict[MatchedBy, int]
    unknown: list[UnmatchedRow]
    contradictory: list[UnmatchedRow]


def import_screening(_: Services, request: ScreenImportRequest) -> ScreenImportResult:
    """Take the decisions of Covidence, Rayyan, ASReview or a table into the review.

    Rows whose record is unknown, and decisions that contradict each other or earlier ones, are named and not applied.

    Raises:
        InvalidInput: a file cannot be read, or has no decision.
        StoreError: the folder cannot be written.
    """
    started = get_now()
    rows = list(read_decision_rows(request.files))
    if request.decision is None and not any(row.choices for row in rows):
        raise InvalidInput(
            f"{join_names(file.file for file in request.files)}: no decisions were found.",
            invalid_input=request.files[0].file,
            recovery_hint=FrontendText(
                *("If all records have the same decision (Covidence), add ", Argument("decision", "exclude"), " or "),
                *("include. Otherwise export the file with notes (Rayyan) or labels (ASReview), or give a table with "),
                "the columns id and decision (include, exclude or not_retrieved).",
            ),
            details={"reason": "no_decisions"},
        )
    with open_review(request.folder) as review:
        imported = _DecisionImport(review, request)
        imported.add(rows)
        number = None
        if imported.applied:
            number = review.next_run
            review.decisions = imported.decisions
            compute_flow(review)  # contradictions in the file are an error before anything is stored
            run = review.end_run(
                "screen_import",
                started,
                source=request.stage,
                files=[
                    FileOfRun(name=file.file.rpartition("/")[2], sha256=_compute_hash(file)) for file in request.files
                ],
                counts={"rows": len(rows), "applied": imported.applied},
            )
            save_review(review, run)
    return ScreenImportResult(
        run=number,
        stage=request.stage,
        rows=len(rows),
        applied=imported.applied,
        unchanged=imported.unchanged,
        repeated=imported.repeated,
        undecided=imported.undecided,
        matched_by=dict(sorted(imported.matched.items())),
        unknown=imported.unknown,
        contradictory=imported.contradictory,
    )


def _compute_hash(file: FileToMerge) -> str:
    return hashlib.sha256((file.text or repr(file.references)).encode()).hexdigest()


class _DecisionImport:
    """An import of decisions into a review: the new decisions, and the rows that were not applied."""

    def __init__(self, review: Review, request: ScreenImportRequest) -> None:
        self._request, self._review = request, review
        self._matcher = RowMatcher(review.records)
        self._works = {record.id: record.work or record.id for record in review.records}
        self._earlier: dict[str, dict[Stage, ScreeningDecision]] = defaultdict(dict)
        for decision in review.decisions:
            self._earlier[self._works.get(decision.id, decision.id)][decision.stage] = decision
        kinds = {record.source: review.settings.get_kind(record.source) for record in review.records}
        self._main = {
            record.work or record.id for record in review.records if kinds[record.source] in ("database", "register")
        }
        self.decisions = list(review.decisions)
        self.applied = self.unchanged = self.repeated = self.undecided = 0
        self.matched: Counter[MatchedBy] = Counter()
        self.unknown: list[UnmatchedRow] = []
        self.contradictory: list[UnmatchedRow] = []

    def add(self, rows: Sequence[Row]) -> None:
        """Add the decisions of rows."""
        rows_of_work: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            how, works, problem = self._matcher.find(row)
            if problem:
                self.unknown.append(UnmatchedRow(place=row.place, text=row.text, why=problem, records=sorted(works)))
                continue
            self.matched[how] += 1
            rows_of_work[next(iter(works))].append(row)
        for work, group in rows_of_work.items():
            self._add_work(work, group)

    def _add_work(self, work: str, group: Sequence[Row]) -> None:
        """Add the decision on a work; several rows with the same decision count once."""
        decision = self._request.decision
        decided = [row for row in group if decision or row.choices]
        self.undecided += len(group) - len(decided)
        choices = {choice for row in decided for choice in ({decision} if decision else row.choices)}
        if not decided:
            return
        if len(choices) > 1:
            self._refuse(work, decided, f"{DIFFERENT}{' and '.join(sorted(map(str, choices)))}")
            return
        choice = next(iter(choices))
        assert choice is not None
        problem = self._find_problem(work, choice)
        if problem:
            self._refuse(work, decided, problem)
            return
        first = decided[0]
        reason = next((row.reason for row in decided if row.reason), self._request.reason)
        new = ScreeningDecision(
            id=work,
            stage=self._request.stage,
            decision=choice,
            reason=reason if choice == "exclude" else "",
            by=AUTOMATION if self._request.automation else "",
            study=first.study if choice == "include" and self._request.stage == "full_text" else "",
        )
        earlier = self._earlier[work].get(new.stage)
        if earlier is not None:
            if (earlier.decision, earlier.reason) == (new.decision, new.reason or earlier.reason):
                self.unchanged += 1
                self.repeated += len(decided) - 1
                return
            if not self._request.replace:
                self._refuse(work, decided, f"{IN_REVIEW}{earlier.decision} {earlier.reason}".rstrip())
                return
            self.decisions = [
                one for one in self.decisions if one.stage != new.stage or self._works.get(one.id, one.id) != work
            ]
        self.decisions.append(new)
        self.applied += 1
        self.repeated += len(decided) - 1

    def _find_problem(self, work: str, choice: Choice) -> str:
        """Return why a decision does not fit the stage or the decisions of other stages."""
        stage = self._request.stage
        if choice == "not_retrieved" and stage != "full_text":
            return "only full texts can be not retrieved"
        if choice != "exclude" and stage == "before_screening":
            return "records are only excluded before screening"
        others = self._earlier[work]
        if stage != "before_screening" and "before_screening" in others:
            return "it was excluded before screening"
        if stage == "before_screening" and others.keys() - {stage}:
            return "it has a decision of screening"
        if stage == "title_abstract" and choice == "exclude" and "full_text" in others:
            return "it has a full-text decision"
        screened = others.get("title_abstract")
        if stage == "full_text" and screened is not None and screened.decision == "exclude":
            return "it was excluded by title and abstract"
        if stage == "full_text" and screened is None and work in self._main:
            return "it has no decision on title and abstract"
        return ""

    def _refuse(self, work: str, rows: Sequence[Row], why: str) -> None:
        self.contradictory += [UnmatchedRow(place=row.place, text=row.text, why=why, records=[work]) for row in rows]


SCREEN_IMPORT: Final = DocumentOperation(
    name="review_screen_import",
    request=ScreenImportRequest,
    result=ScreenImportResult,
    function=import_screening,
    command=("review", "screen", "import"),
    toolset="review",
    title="Import decisions of screening",
    errors=(StoreError,),
    read_only=False,
)
