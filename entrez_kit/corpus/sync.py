"""Sync a corpus with a PubMed query: fetch new and revised records, and detect withdrawn ones.

New records are found by EDAT, PubMed's entry date, oldest first, from a few days before the checkpoint. The checkpoint
advances in the transaction that stores the last record of a date; after a failure it does not advance, and the next
sync repeats the interval. Revised records are found by modification date, because a retraction, or the MeSH indexing
that makes a record match the query, comes long after its entry. Neither search finds a withdrawn record, or an old
record that matches only now, without a revision. A sync therefore ends with a comparison of the corpus with the list
of all PMIDs of the query. It fetches the records that only one of the two has.
"""

import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

from entrez_kit.base.errors import EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.progress import report_progress
from entrez_kit.core.outcomes import SummarizedOutcomes
from entrez_kit.corpus.documents import Doc
from entrez_kit.corpus.models import SyncRequest, SyncResult
from entrez_kit.corpus.store import checkpoints, membership, store_of
from entrez_kit.corpus.store.checkpoints import JobStatus, SyncJob
from entrez_kit.corpus.store.store import Store
from entrez_kit.corpus.store.writing import Upserted
from entrez_kit.corpus.sync_report import SyncReport
from entrez_kit.corpus.sync_search import SyncSearch, plan_search
from entrez_kit.corpus.times import get_day
from entrez_kit.pubmed.date_slices import FIRST, LAST, DateWindow, Slicer
from entrez_kit.pubmed.record_batches import BATCH, RecordBatches
from entrez_kit.services import Services
from entrez_kit.services.small_replies import MAX_PUBMED_RESULTS, ESearchReply
from entrez_kit.services.transport.in_flight import run_in_order


def _too_many_error(request: SyncRequest, count: int, limit: int) -> InvalidInput:
    command = shlex.join(["entrez-kit", "corpus", "sync", request.query_key, request.term])
    return InvalidInput(
        f"The query finds {format_count(count, 'record')}. One call can fetch at most {limit:,}.",
        invalid_input=f"term={request.term}",
        recovery_hint=f"Run this in a terminal, which has no time limit: {command}",
        details={"reason": "too_many_records", "count": count, "limit": limit, "command": command},
    )


class _GaveUp(Exception):
    """NCBI stopped answering."""


@dataclass(frozen=True, slots=True)
class _Fetched:
    """The records of a batch, the errors of those that failed, and the PMIDs that PubMed did not return."""

    docs: list[Doc]
    failed: dict[int, EntrezKitError]
    unavailable: list[int]


class Sync(SummarizedOutcomes[Upserted, SyncResult]):
    """Yield the outcome of each committed batch of a sync.

    The order is: new records, revised records, records missing from earlier syncs, and the differences between the
    corpus and the list of all results: missing records, withdrawn records, and records that match no more. The first
    sync of a key fetches all records of the term; later ones fetch only changes. A sync can be repeated and
    interrupted: no record is lost or counted twice.
    ``warnings`` name the records that NCBI did not return.

    Args:
        request: key, term and overlap; whether a new term may replace the term of the key.
        max_new: the maximum number of new records; the first sync of a key finds all records of the term.
        afterwards: a function to call with the result, after the records are stored.

    Raises:
        InvalidInput: the key belongs to another term, the term is malformed, or it finds too many new records.
        StoreError: the corpus cannot be written, or another sync of the key is running.
        UpstreamError: NCBI returned no records.
        RateLimited: NCBI refused the request before it returned any record.

    Source: ESearch and EFetch (db=pubmed), without the cache.
    """

    def __init__(
        self,
        services: Services,
        request: SyncRequest,
        *,
        max_new: int | None = None,
        afterwards: Callable[[Services, SyncResult], None] | None = None,
    ) -> None:
        super().__init__()
        self._services, self._request = services, request
        self._max_new, self._afterwards = max_new, afterwards
        self._done: SyncResult | None = None

    def _yield_items(self) -> Iterator[Upserted]:
        request, store = self._request, store_of(self._services)
        with store.sync_lock(request.query_key):
            search = plan_search(self._services, request)
            entries = search.search_entries()
            if self._max_new is not None and entries.count > self._max_new:
                raise _too_many_error(request, entries.count, self._max_new)
            job = store.start_job(search.query_key, search.term, replaces_term=search.replaces_term)
            job.warnings += search.list_warnings(entries)
            run = _SyncRun(search, store, job)
            yield from run.run(entries)
        result = run.result()
        if self._afterwards is not None:
            self._afterwards(self._services, result)
        self.warnings, self._done = [*self.warnings, *result.warnings], result

    def result(self) -> SyncResult:
        """Return the result; run the sync first if it has not run."""
        if self._done is None:
            for _ in self:
                pass
        assert self._done is not None, "a finished iteration sets the result"
        return self._done

    def missing_error(self) -> EntrezKitError | None:
        """Return the error about missing records after the iteration, if any; ``details.missing`` lists them."""
        return self._done.missing_error() if self._done is not None else None


class _SyncRun:
    """One run of a sync, from its first search to its result.

    Attributes:
        report: the records that were missing, changed or withdrawn.
        total: the number of records to process, as far as it is known.
        highest: the latest EDAT of a processed record.
        had_members: whether the corpus had records of the key before the run.
    """

    def __init__(self, search: SyncSearch, store: Store, job: SyncJob) -> None:
        self.search, self.store, self.job = search, store, job
        self.batches = RecordBatches(search.services, patient=True, keep="fields")
        self.report = SyncReport()
        self.total = 0
        self.highest: str | None = None
        self.had_members = False

    def run(self, entries: ESearchReply) -> Iterator[Upserted]:
        """Process all records, and store the final state of the job.

        Args:
            entries: the reply to the search for new records.
        """
        job, report, store = self.job, self.report, self.store
        try:
            with suppress(_GaveUp):
                yield from self._process(entries)
            self._report_progress()
            job.warnings += report.list_warnings()
            is_failed = not job.pmids_processed and report.problem is not None
            status: JobStatus = "failed" if is_failed else "complete" if report.is_complete else "partial"
            store.finish_job(job, status)
        except BaseException as exc:
            with suppress(Exception):  # if this fails too, the first error is raised
                store.finish_job(job, "failed" if isinstance(exc, Exception) else "interrupted")
            raise
        if is_failed and report.problem is not None:
            raise report.problem

    def _process(self, entries: ESearchReply) -> Iterator[Upserted]:
        search, report, store = self.search, self.report, self.store
        report.known_unavailable = frozenset(store.read(checkpoints.list_unavailable, search.query_key))
        self.had_members = store.read(membership.has_members, search.query_key)
        self.total = entries.count
        with self._record_problems():
            yield from self._run_search(search.slicer, entries, search.window, follows_entries=True)
        slicer = search.build_revision_slicer()
        if slicer is not None:
            with self._record_problems():
                revised = slicer.search_window(search.older, MAX_PUBMED_RESULTS)[0]
                self.total += revised.count
                yield from self._run_search(slicer, revised, search.older)
        retried = store.read(checkpoints.list_unavailable, search.query_key, store.clock())
        yield from self._fetch_and_commit(_split_batches(sorted(set(retried) - set(report.unavailable))))
        with self._record_problems():
            yield from self._compare_with_list()

    @contextmanager
    def _record_problems(self) -> Iterator[None]:
        try:
            yield
        except (UpstreamError, RateLimited) as exc:
            self.report.problem = self.report.problem or exc

    def _run_search(
        self, slicer: Slicer, first: ESearchReply, window: DateWindow | None, *, follows_entries: bool = False
    ) -> Iterator[Upserted]:
        """Process one search, slice by slice."""
        for piece in slicer.yield_slices(first, window):
            pmids = [int(pmid) for pmid in dict.fromkeys(piece.ids)]
            self.report.unlisted += max(0, piece.count - len(pmids))
            batches = _split_batches(pmids)
            current = [self.store.list_fresh(self.job, batch) for batch in batches]
            yield from self._fetch_and_commit(batches, current, follows_entries=follows_entries)

    def _fetch_and_commit(
        self,
        batches: Sequence[Sequence[int]],
        current: Sequence[Mapping[int, str | None]] | None = None,
        *,
        follows_entries: bool = False,
    ) -> Iterator[Upserted]:
        """Fetch batches in parallel and commit them in order.

        Args:
            batches: the PMIDs of each batch.
            current: for each batch, the records that are already stored and current, with their EDAT.
            follows_entries: whether the checkpoint advances with the last batch, if no record is missing.
        """
        current = current or [{}] * len(batches)
        pmids_to_fetch = [
            [pmid for pmid in batch if pmid not in fresh] for batch, fresh in zip(batches, current, strict=True)
        ]
        for number, fetched in enumerate(self._fetch_batches(pmids_to_fetch)):
            self.report.unavailable |= dict.fromkeys(fetched.unavailable)
            entered = filter(None, (self.highest, *current[number].values(), *(doc.edat for doc in fetched.docs)))
            self.highest = max(entered, default=None)
            advances = follows_entries and number + 1 == len(batches) and self.report.is_complete
            committed = self.store.commit_batch(
                self.job,
                fetched.docs,
                already_here=current[number],
                unavailable=fetched.unavailable,
                advance_to=self.highest if advances else None,
            )
            self.report.add_standings(committed.standings)
            yield committed

    def _fetch_and_commit_unlisted(self, pmids: Sequence[int]) -> Iterator[Upserted]:
        """Fetch records that a search no longer lists; those that PubMed does not return are withdrawn."""
        for fetched in self._fetch_batches(_split_batches(pmids)):
            unmatched = [doc.pmid for doc in fetched.docs]
            committed = self.store.commit_batch(
                self.job, fetched.docs, deleted=fetched.unavailable, unmatched=unmatched
            )
            self.report.deleted += fetched.unavailable
            self.report.unmatched += unmatched
            self.report.add_standings(committed.standings)
            yield committed

    def _fetch_batches(self, batches: Sequence[Sequence[int]]) -> Iterator[_Fetched]:
        """Fetch batches in parallel, and yield them in order.

        Raises:
            _GaveUp: NCBI stopped answering; the batches before were yielded.
        """
        at_once = self.search.services.eutils.at_once if len(batches) > 1 else 1
        for fetched in run_in_order((partial(self._fetch_batch, batch) for batch in batches), at_once):
            self._report_progress()
            self.report.add_failures(fetched.failed)
            yield fetched
            if fetched.failed and self.batches.breaker.stopped_by is not None:
                self.report.gave_up = True
                raise _GaveUp

    def _fetch_batch(self, pmids: Sequence[int]) -> _Fetched:
        if not pmids:
            return _Fetched([], {}, [])
        records, errors = self.batches.fetch_pmids([str(pmid) for pmid in pmids])
        failed = {int(pmid): error for pmid, error in errors.items()}
        docs = []
        for pmid, record in records.items():
            try:
                docs.append(Doc.of(record.article()))
            except ValueError as exc:
                failed[int(pmid)] = UpstreamError(
                    f"The record {pmid} cannot be read: {exc}", details={"reason": "invalid_response"}
                )
        unavailable = [pmid for pmid in pmids if str(pmid) not in records and pmid not in failed]
        return _Fetched(docs, failed, unavailable)

    def _compare_with_list(self) -> Iterator[Upserted]:
        """Compare the corpus with the list of all results of the query, and fetch the differences.

        If a checkpoint was set before the first sync, the corpus does not have all records entered before it.
        """
        if not self.had_members or not self.report.is_complete:
            return
        start = self.store.read(checkpoints.find_start, self.search.query_key)
        if start is None or get_day(start) == FIRST:
            yield from self._compare_dates(FIRST, LAST, fetches_missing=True)
            return
        yield from self._compare_dates(FIRST, get_day(start) - timedelta(days=1), fetches_missing=False)
        yield from self._compare_dates(get_day(start), LAST, fetches_missing=True)

    def _compare_dates(self, first: date, last: date, *, fetches_missing: bool) -> Iterator[Upserted]:
        """Compare the records entered between two days, slice by slice."""
        window = None if (first, last) == (FIRST, LAST) else DateWindow(0, first, last)
        slicer = self.search.slicer
        listed_pmids: set[int] = set()
        for piece in slicer.yield_slices(slicer.search_window(window, MAX_PUBMED_RESULTS)[0], window):
            pmids = {int(pmid) for pmid in piece.ids}
            self.report.unlisted += max(0, piece.count - len(pmids))
            listed_pmids |= pmids
            if fetches_missing:
                yield from self._fetch_missing(pmids)
            if piece.window and piece.window.axis:
                continue  # part of a single day; the check after its last part covers the whole day
            day = piece.window.last if piece.window else last
            yield from self._check_unlisted(first, day, listed_pmids)
            if day == last:
                return
            first, listed_pmids = day + timedelta(days=1), set()
        yield from self._check_unlisted(first, last, listed_pmids)

    def _fetch_missing(self, listed: Collection[int]) -> Iterator[Upserted]:
        """Fetch the listed records that the corpus does not have as results of the query."""
        new = self.store.read(membership.find_new, self.search.query_key, listed)
        missing = sorted(set(new) - set(self.report.unavailable) - set(self.report.failed))
        self.total += len(missing)
        yield from self._fetch_and_commit(_split_batches(missing))

    def _check_unlisted(self, first: date, last: date, listed: Collection[int]) -> Iterator[Upserted]:
        """Fetch the stored records entered between two days that a list of these days lacks: withdrawn or changed.

        PubMed may have moved the date of entry of a record, so the query is repeated for exactly these records. A
        record that it still finds is only stored again, with its new date.
        """
        if not self.report.is_complete:
            return
        days = first.isoformat(), last.isoformat()
        unlisted = self.store.read(membership.list_unlisted, self.search.query_key, *days, listed)
        self.total += len(unlisted)
        for batch in _split_batches(unlisted):
            found = self.search.find_results(batch)
            yield from self._fetch_and_commit(_split_batches([pmid for pmid in batch if pmid in found]))
            yield from self._fetch_and_commit_unlisted([pmid for pmid in batch if pmid not in found])

    def _report_progress(self) -> None:
        done, total = self.job.pmids_processed, max(self.total, self.job.pmids_processed)
        report_progress(done, total)

    def result(self) -> SyncResult:
        """Return the result of the run."""
        job = self.job
        result = SyncResult(
            job_id=job.job_id,
            inserted=job.inserted,
            updated=job.updated,
            skipped=job.skipped,
            pmids_processed=job.pmids_processed,
            max_edat_seen=job.max_edat_seen,
            warnings=job.warnings,
        )
        result.set_missing_error(self.report.missing_error(self.search.query_key))
        return result


def _split_batches(pmids: Sequence[int]) -> list[Sequence[int]]:
    return [pmids[start : start + BATCH] for start in range(0, len(pmids), BATCH)]
