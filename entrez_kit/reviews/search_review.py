"""Search PubMed with the strategy of a review, and keep the records."""

from typing import ClassVar, Final

from pydantic import Field

from entrez_kit.base.errors import InvalidInput, RateLimited, StoreError, UpstreamError
from entrez_kit.base.frontend_text import FrontendText, suggest_command
from entrez_kit.core.model import Request, Warned
from entrez_kit.core.operation import DocumentOperation
from entrez_kit.reviews.folder import get_now, open_review, save_review
from entrez_kit.reviews.journal import Search
from entrez_kit.reviews.review_settings import SOURCE
from entrez_kit.reviews.search_pubmed import fetch_records, name_source, run_strategy
from entrez_kit.services import Services


class ReviewRequest(Request):
    """A review."""

    folder: str = Field(default=".", min_length=1, description="Folder of the review, or a folder in it.")


class SearchReviewResult(Warned):
    """A search of PubMed: the run, what answered, the records, and those that an imported file had before."""

    RECORDS: ClassVar = ""

    run: int
    source: str
    answered_by: str
    records: int
    added: int
    known: int
    search: Search


def search_review(services: Services, request: ReviewRequest) -> SearchReviewResult:
    """Run the strategy of a review in PubMed, and keep all records with a certificate of completeness.

    Raises:
        InvalidInput: the strategy cannot be searched, or it was run before.
        UpstreamError: PubMed did not answer completely; nothing is stored.
        StoreError: the folder cannot be written.
    """
    with open_review(request.folder) as review:
        if any(run.step in ("search", "update") for run in review.runs):
            raise InvalidInput(
                "The strategy of this review was run before.",
                invalid_input=request.folder,
                recovery_hint=FrontendText(
                    suggest_command("review update", "Update the review"), " to find new and changed records."
                ),
                details={"reason": "searched_before"},
            )
        started, number = get_now(), review.next_run
        search = run_strategy(services, review)
        records = fetch_records(services, search.pmids, number, search.warnings)
        by_id = {record.id: record for record in review.records}
        known_count = sum(record.id in by_id for record in records.values())
        for record in records.values():
            earlier = by_id.get(record.id)
            by_id[record.id] = record if earlier is None else record.model_copy(update={"added": earlier.added})
        review.records = list(by_id.values())
        review.reset_works()
        counts = {"records": len(records), "added": len(records) - known_count, "known": known_count}
        this_run = review.end_run(
            "search",
            started,
            source=SOURCE,
            answered_by=name_source(services),
            search=search.search,
            counts=counts,
            warnings=search.warnings,
        )
        save_review(review, this_run)
    return SearchReviewResult(
        run=number,
        source=SOURCE,
        answered_by=name_source(services),
        **counts,
        search=search.search,
        warnings=search.warnings,
    )


SEARCH_REVIEW: Final = DocumentOperation(
    name="review_search",
    request=ReviewRequest,
    result=SearchReviewResult,
    function=search_review,
    command=("review", "search"),
    toolset="review",
    title="Search PubMed for a review",
    errors=(UpstreamError, RateLimited, StoreError),
    read_only=False,
)
