"""Link the duplicates of a review, and let a person decide the pairs that are not clear."""

from collections.abc import Iterable
from typing import ClassVar, Final

from pydantic import Field

from entrez_kit.base.errors import StoreError
from entrez_kit.core.model import Warned
from entrez_kit.core.operation import DocumentOperation
from entrez_kit.references.merge.merge_documents import (
    DatabaseFigures,
    Decision,
    MergeCounts,
    MergeResult,
    UndecidedPair,
)
from entrez_kit.references.merge.merge_references import merge_entries
from entrez_kit.references.merge.review import write_review
from entrez_kit.reviews.folder import PAIRS, Review, get_now, open_review, save_review
from entrez_kit.reviews.pairs import read_pairs
from entrez_kit.reviews.records import ReviewRecord, convert_to_entries
from entrez_kit.reviews.search_review import ReviewRequest
from entrez_kit.reviews.show_status import warn_of_contradictions
from entrez_kit.services import Services


class DedupeResult(Warned):
    """The figures of a deduplication: ``works`` is ``records`` minus ``duplicates``.

    ``sources`` counts per source: all records, works, and works that no other source has. ``undecided`` lists pairs
    that a person decides in the table ``file``.
    """

    RECORDS: ClassVar = "undecided"

    run: int | None
    counts: MergeCounts
    sources: list[DatabaseFigures]
    undecided: list[UndecidedPair]
    file: str = Field(default=PAIRS)


def dedupe_records(_: Services, request: ReviewRequest) -> DedupeResult:
    """Link the records of a review that are the same work, and apply the user's decisions in ``duplicates.csv``.

    Raises:
        InvalidInput: the table of decisions is damaged.
        StoreError: the folder cannot be written.
    """
    started = get_now()
    with open_review(request.folder) as review:
        before = [(record.id, record.work, record.family) for record in review.records]
        result, pairs = link_duplicates(review)
        counts = result.counts.model_dump()
        number: int | None = review.next_run
        is_same = before == [(record.id, record.work, record.family) for record in review.records]
        if is_same and any(run.step == "dedupe" for run in review.runs) and pairs == review.read_file(PAIRS):
            number = None
        else:
            run = review.end_run("dedupe", started, counts=counts, warnings=result.warnings)
            save_review(review, run, pairs=pairs)
        warnings = [*result.warnings, *warn_of_contradictions(review)]
    return DedupeResult(
        run=number,
        counts=result.counts,
        sources=result.databases,
        undecided=result.undecided,
        warnings=warnings,
    )


def link_duplicates(review: Review) -> tuple[MergeResult, str]:
    """Set the works and families of all records; return the figures, and the table of pairs.

    A work keeps its representative: a record with a decision of screening, or else the one of the earliest run. New
    records of an update follow known ones.
    """
    earlier = read_pairs(review)
    decisions = [
        Decision(
            members=list(row.members),
            decision=row.decision,
            fingerprints=list(row.fingerprints),
            note=row.note or None,
        )
        for row in earlier
        if row.decision
    ]
    entries = convert_to_entries(review.records)
    names = list(dict.fromkeys(record.source for record in review.records))
    result = merge_entries(entries, names, decisions)
    by_id = {record.id: record for record in review.records}
    decided = {decision.id for decision in review.decisions}
    represents: dict[str, str] = {}
    for work in result.works:
        members = [by_id[entry.id] for entry in work.entries]
        representative = min(
            members,
            key=lambda one: (
                one.id not in decided,
                one.work != one.id,
                one.added if one.work == one.id else one.added == review.next_run,
                one.id != work.kept.id,
                one.id,
            ),
        )
        represents |= {record.id: representative.id for record in members}
    for record in review.records:
        record.work, record.family = represents[record.id], []
    for group in result.groups:
        if group.kind == "family":
            works = sorted({represents[member] for member in group.members})
            for work_id in works:
                by_id[work_id].family = sorted({*by_id[work_id].family, *works} - {work_id})
    return result, write_review(result.review, earlier)


def list_works(records: Iterable[ReviewRecord]) -> dict[str, list[ReviewRecord]]:
    """Return the records of each work by the id of its representative, the representative first."""
    works: dict[str, list[ReviewRecord]] = {}
    for record in sorted(records, key=lambda record: record.is_duplicate):
        works.setdefault(record.work or record.id, []).append(record)
    return works


DEDUPE_RECORDS: Final = DocumentOperation(
    name="review_dedupe",
    request=ReviewRequest,
    result=DedupeResult,
    function=dedupe_records,
    command=("review", "dedupe"),
    toolset="review",
    title="Deduplicate the records of a review",
    errors=(StoreError,),
    read_only=False,
)
