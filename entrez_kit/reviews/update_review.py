"""Search again, and classify what changed since the last run: new, gone, changed, retracted, corrected, published."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import ClassVar, Final

from pydantic import Field

from entrez_kit.base.errors import InvalidInput, RateLimited, StoreError, UpstreamError
from entrez_kit.base.frontend_text import FrontendText, suggest_command
from entrez_kit.base.progress import begin_stage
from entrez_kit.core.model import Warn, Warned
from entrez_kit.core.operation import DocumentOperation
from entrez_kit.core.query_input import build_date_clause
from entrez_kit.pubmed.date_slices import LAST, format_ncbi_day
from entrez_kit.pubmed.models import GRAVITY, Article, Standing, StandingNotice, StandingStatus
from entrez_kit.references.files.tagged_fields import get_first_value
from entrez_kit.references.merge.signatures import fold_title
from entrez_kit.reviews.dedupe_records import link_duplicates
from entrez_kit.reviews.folder import Review, get_now, open_review, save_review
from entrez_kit.reviews.journal import ChangeKind, RecordChange
from entrez_kit.reviews.records import Gone, ReviewRecord, list_changes, record_of_article, record_without_data
from entrez_kit.reviews.review_settings import SOURCE
from entrez_kit.reviews.search_pubmed import fetch_with_absent, name_source, run_strategy
from entrez_kit.reviews.search_review import ReviewRequest
from entrez_kit.reviews.show_status import warn_of_contradictions
from entrez_kit.services import Services

KINDS: Final[Mapping[StandingStatus, ChangeKind]] = {
    "retracted": "retracted",
    "withdrawn": "retracted",
    "partially_retracted": "retracted",
    "expression_of_concern": "concern",
    "reinstated": "reinstated",
    "republished": "corrected",
    "corrected": "corrected",
    "preprint_published": "preprint_published",
}
"""The class of a new notice; other notices count as a change."""
LIFTED: Final = ("retracted", "concern")
MIN_TITLE: Final = 20


class UpdateRequest(ReviewRequest):
    """An update."""

    by_date: bool = Field(
        default=False,
        description="Search only records that are new in PubMed since the last search. This is faster, but does not "
        "find the records that no longer match.",
    )


class UpdateResult(Warned):
    """What an update found.

    ``counts`` has the number of changes of each kind. ``since`` is the time of the search before. ``undecided`` is the
    number of pairs of records that a person should decide in ``duplicates.csv``.
    """

    RECORDS: ClassVar = "changes"

    run: int
    since: str
    answered_by: str
    found: int
    counts: dict[str, int]
    changes: list[RecordChange]
    undecided: int


def update_review(services: Services, request: UpdateRequest) -> UpdateResult:
    """Search again, and report what changed since the last run.

    New records are deduplicated against all records of the review. No record is deleted: one that is no longer found
    keeps its line, with the reason.

    Raises:
        InvalidInput: the review was not searched yet, or its strategy cannot be searched.
        UpstreamError: PubMed did not answer completely; nothing is stored.
        StoreError: the folder cannot be written.
    """
    fresh = services.bypass_cache()
    with open_review(request.folder) as review:
        started, number = get_now(), review.next_run
        last = next((run.search for run in reversed(review.runs) if run.search is not None), None)
        if last is None:
            raise InvalidInput(
                f"The review in {request.folder} has no search to compare with.",
                invalid_input=request.folder,
                recovery_hint=FrontendText(suggest_command("review search", "Run its strategy"), " first."),
                details={"reason": "not_searched"},
            )
        since = last.certificate.searched_at
        clause = build_clause(since, review.settings.pubmed.overlap_days) if request.by_date else ""
        search = run_strategy(fresh, review, clause=clause)
        warnings = search.warnings
        if request.by_date:
            message = "Only records since the last search were searched, so records that no longer match stay unknown."
            warnings.append(Warn(code="searched_by_date", message=message))
        changes = _Update(fresh, review, search.pmids, number, is_complete=not request.by_date).run()
        merged, pairs = link_duplicates(review)
        works = {record.id: record.work for record in review.records}
        for change in changes:
            if works.get(change.id, change.id) != change.id:
                change.work = works[change.id]
        changes.sort(key=lambda change: (_ORDER.index(change.kind), len(change.id), change.id))
        counts = Counter(change.kind for change in changes)
        ordered = {kind: counts[kind] for kind in _ORDER if counts[kind]}
        this_run = review.end_run(
            "update",
            started,
            source=SOURCE,
            answered_by=name_source(services),
            search=search.search,
            changes=changes,
            counts=ordered,
            warnings=[*warnings, *merged.warnings],
        )
        save_review(review, this_run, pairs=pairs)
        contradictions = warn_of_contradictions(review)
    return UpdateResult(
        run=number,
        since=since,
        answered_by=name_source(services),
        found=len(search.pmids),
        counts=ordered,
        changes=changes,
        undecided=merged.counts.undecided,
        warnings=[*this_run.warnings, *contradictions],
    )


_ORDER: Final[tuple[ChangeKind, ...]] = ChangeKind.__args__  # type: ignore[attr-defined]


def build_clause(since: str, overlap_days: int) -> str:
    """Return the clause for records created or entered since a time, some days earlier because PubMed adds late."""
    first = date.fromisoformat(since[:10]) - timedelta(days=overlap_days)
    bounds = format_ncbi_day(first), format_ncbi_day(LAST)
    return f"{build_date_clause(*bounds, 'crdt')} OR {build_date_clause(*bounds, 'edat')}"


class _Update:
    """The comparison of a review with PubMed."""

    def __init__(
        self, services: Services, review: Review, pmids: Sequence[str], number: int, *, is_complete: bool
    ) -> None:
        self._services, self._review, self._number = services, review, number
        self._current = dict.fromkeys(pmids)
        self._is_complete = is_complete
        self._searched = {record.pmid: record for record in review.records if record.file is None and record.pmid}
        self._imported = [record for record in review.records if record.file is not None and record.pmid]

    def run(self) -> list[RecordChange]:
        """Change the records of the review, and return the changes."""
        pmids = dict.fromkeys([*self._current, *self._searched, *(imported.pmid or "" for imported in self._imported)])
        begin_stage("Fetching records")
        articles, _ = fetch_with_absent(self._services, list(pmids))
        changes = []
        for pmid in self._current:
            if pmid not in self._searched:
                changes.append(self._add_record(pmid, articles.get(pmid)))
        for pmid, record in self._searched.items():
            change = self._compare_record(record, articles.get(pmid), articles)
            if change is not None:
                changes.append(change)
        changes += self._compare_imported(articles)
        return changes

    def _add_record(self, pmid: str, article: Article | None) -> RecordChange:
        """Add a new record."""
        if article is None:
            record = record_without_data(pmid, SOURCE, self._number)
        else:
            record = record_of_article(article, SOURCE, self._number)
        self._review.records.append(record)
        status = record.standing.status if record.standing else None
        return RecordChange(id=record.id, kind="new", pmid=pmid, title=record.title, status=status)

    def _replace_record(self, old: ReviewRecord, new: ReviewRecord) -> None:
        for name in ("doi", "pmcid", "fields", "standing", "gone"):
            setattr(old, name, getattr(new, name))

    def _compare_record(
        self, record: ReviewRecord, article: Article | None, articles: Mapping[str, Article]
    ) -> RecordChange | None:
        """Compare a record of the search with PubMed, and update it."""
        assert record.pmid is not None
        is_listed = record.pmid in self._current
        before = record.gone.reason if record.gone is not None else None
        if article is None or article.pmid != record.pmid:
            if is_listed or before in ("deleted", "merged"):
                return None
            successor = article.pmid if article is not None else self._find_successor(record, articles)
            kind: ChangeKind = "merged" if successor else "deleted"
            record.gone = Gone(run=self._number, reason="merged" if successor else "deleted", successor=successor)
            return self._describe(record, kind, successor=successor)
        new = record_of_article(article, record.source, record.added)
        fields = list_changes(record, new)
        notice = find_new_notice(record.standing, new.standing)
        if is_listed or (not self._is_complete and before is None):
            new.gone = None
        elif before == "no_longer_matching" or not self._is_complete:
            new.gone = record.gone
        else:
            new.gone = Gone(run=self._number, reason="no_longer_matching")
        self._replace_record(record, new)
        status = new.standing.status if new.standing is not None else None
        if new.gone is not None and new.gone.reason != before:
            return self._describe(record, "no_longer_matching", fields=fields, status=status)
        if new.gone is None and before is not None:
            return self._describe(record, "returned", fields=fields, status=status)
        if notice is None and not fields:
            return None
        change_kind: ChangeKind = notice[0] if notice is not None else "changed"
        successor = (notice[1].pmid or notice[1].doi) if notice is not None and notice[1] is not None else None
        return self._describe(record, change_kind, fields=fields, status=status, successor=successor)

    def _describe(self, record: ReviewRecord, kind: ChangeKind, **more: object) -> RecordChange:
        return RecordChange.model_validate(
            {"id": record.id, "kind": kind, "pmid": record.pmid, "title": record.title, **more}
        )

    def _compare_imported(self, articles: Mapping[str, Article]) -> Iterable[RecordChange]:
        """Update the standing of imported records that PubMed has, except those that the search also found."""
        for record in self._imported:
            article = articles.get(record.pmid or "")
            if article is None:
                continue
            notice = find_new_notice(record.standing, article.standing)
            record.standing = article.standing
            if (
                notice is None
                or notice[0] == "changed"
                or record.pmid in self._searched
                or record.pmid in self._current
            ):
                continue
            successor = (notice[1].pmid or notice[1].doi) if notice[1] is not None else None
            status = article.standing.status if article.standing is not None else None
            yield self._describe(record, notice[0], status=status, successor=successor)

    def _find_successor(self, record: ReviewRecord, articles: Mapping[str, Article]) -> str | None:
        """Return the PMID of the record that replaced a deleted one: with the same DOI, or the same title and place."""
        for pmid, article in articles.items():
            if pmid == record.pmid or article.pmid == record.pmid:
                continue
            if record.doi and article.doi and record.doi.casefold() == article.doi.casefold():
                return article.pmid
            title = fold_title(record.title)
            if len(title) >= MIN_TITLE and title == fold_title(article.title) and _has_same_place(record, article):
                return article.pmid
        if not record.doi:
            return None
        pmids = self._services.eutils.esearch(db="pubmed", term=f'"{record.doi}"[aid]', retmax=2).value.ids
        others = [pmid for pmid in pmids if pmid != record.pmid]
        return others[0] if len(others) == 1 else None


def _has_same_place(record: ReviewRecord, article: Article) -> bool:
    """Return whether journal, volume and first page are equal, and known."""
    other = record_of_article(article, record.source, 1)
    mine, theirs = (
        [compared.journal.casefold(), *(get_first_value(compared.fields, tag) for tag in ("VL", "SP"))]
        for compared in (record, other)
    )
    return mine == theirs and bool(mine[0]) and any(mine[1:])


def find_new_notice(before: Standing | None, after: Standing | None) -> tuple[ChangeKind, StandingNotice | None] | None:
    """Return the class of the gravest difference of two standings, and its notice; None if they are equal."""
    old, new = _list_notices(before), _list_notices(after)
    added = sorted(new.keys() - old.keys(), key=lambda key: (GRAVITY.index(key[0]), *map(str, key[1:])))
    for key in added:
        kind = KINDS.get(key[0])
        if kind is not None:
            return kind, new[key]
    lost = {KINDS.get(status) for status, *_ in old.keys() - new.keys()} - {KINDS.get(status) for status, *_ in new}
    if lost & set(LIFTED):
        return "reinstated", None
    return ("changed", None) if old.keys() != new.keys() else None


def _list_notices(
    standing: Standing | None,
) -> dict[tuple[StandingStatus, str | None, str | None], StandingNotice | None]:
    """Return the notices of a standing by status, PMID and text; a status without a notice has none."""
    if standing is None:
        return {}
    notices: dict[tuple[StandingStatus, str | None, str | None], StandingNotice | None] = {
        (notice.status, notice.pmid, None if notice.pmid else notice.citation): notice for notice in standing.notices
    }
    if all(key[0] != standing.status for key in notices):
        notices[standing.status, None, None] = None
    return notices


UPDATE_REVIEW: Final = DocumentOperation(
    name="review_update",
    request=UpdateRequest,
    result=UpdateResult,
    function=update_review,
    command=("review", "update"),
    toolset="review",
    title="Update a review",
    errors=(UpstreamError, RateLimited, StoreError),
    read_only=False,
)
