"""The searches of a sync, which depend on the checkpoint of the key: new records, and revisions of older records."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import Argument, FrontendText, PerFrontend, format_count
from entrez_kit.core.broadening import compare_with_query
from entrez_kit.core.query_input import QueryInput, build_date_clause, read_query
from entrez_kit.corpus.models import SyncPlan, SyncRequest, UserSyncRequest
from entrez_kit.corpus.store import store_of
from entrez_kit.corpus.store.checkpoints import Checkpoint
from entrez_kit.corpus.times import get_day, to_second
from entrez_kit.pubmed.date_slices import FIRST, DateWindow, Slicer, format_ncbi_day
from entrez_kit.pubmed.record_batches import BATCH
from entrez_kit.pubmed.record_fetcher import MANY_REQUESTS, PREFERRED_HOURS
from entrez_kit.services import Services
from entrez_kit.services.small_replies import MAX_PUBMED_RESULTS, ESearchReply

MAX_OVERLAP: Final = 1_000_000
"""Days; date arithmetic overflows on numbers without a bound."""
SECONDS_PER_REQUEST: Final = 1.5
"""The approximate time of an EFetch of 500 records at NCBI."""


def plan_sync(services: Services, request: SyncRequest) -> SyncPlan:
    """Count the records that a sync would check, without changing anything.

    Raises:
        InvalidInput: the key belongs to another term, or the term is malformed.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused the request, or no slot is free before the deadline.
    """
    search = plan_search(services, request)
    entries = search.search_entries(retmax=0)
    slicer = search.build_revision_slicer()
    revisions = slicer.search_window(search.older, 0)[0].count if slicer else 0
    requests = sum(-(-count // BATCH) + 3 * (count // MAX_PUBMED_RESULTS) for count in (entries.count, revisions)) + 2
    if search.window is not None:  # the list of all results, which is compared with the corpus
        requests += 1 + 3 * (search.slicer.search_window(None, 0)[0].count // MAX_PUBMED_RESULTS)
    warnings = search.list_warnings(entries)
    if requests > MANY_REQUESTS:
        warnings.append(f"This takes about {format_count(requests, 'request')}. {PREFERRED_HOURS}")
    return SyncPlan(
        query_key=request.query_key,
        term=search.term,
        first_sync=search.window is None,
        replaces_term=search.replaces_term,
        from_edat=search.window.first.isoformat() if search.window else None,
        entries=entries.count,
        revisions=revisions,
        requests=requests,
        seconds=round(requests * max(SECONDS_PER_REQUEST, 1 / services.settings.requests_per_second)),
        warnings=warnings,
    )


@dataclass(frozen=True)
class SyncSearch:
    """The searches of one sync: new records and revisions of older records.

    Args:
        services: without a cache.
        query: the query of the corpus.
        replaces_term: whether this term replaces another one of the key.
        today: the day of the sync.
        window: the entry dates of new records; None for all dates.
        modified_since: the day from which revisions of older records are searched; None if there are no older records.
        warnings: warnings about the clock.
    """

    services: Services
    query_key: str
    query: QueryInput
    replaces_term: bool
    today: date
    window: DateWindow | None
    modified_since: date | None
    warnings: Sequence[str]

    @property
    def term(self) -> str:
        """The text of the query."""
        return self.query.text

    @property
    def slicer(self) -> Slicer:
        """The slicer that divides the entries by date, oldest first and without gaps."""
        return Slicer(self.services, self.term, sort="pub_date", oldest_first=True, with_empty=True)

    @property
    def older(self) -> DateWindow | None:
        """The dates before the window; None if the window covers all dates."""
        if self.window is None or self.window.first == FIRST:
            return None
        return DateWindow(0, FIRST, self.window.first - timedelta(days=1))

    def list_warnings(self, reply: ESearchReply) -> list[str]:
        """Return warnings: words that NCBI dropped, and whether the result is broader than the term."""
        verdict = compare_with_query(self.term, reply, lambda term: None)
        return [*self.warnings, *(warning.message for warning in (*verdict.list_warnings(reply), *self.query.warnings))]

    def search_entries(self, retmax: int = MAX_PUBMED_RESULTS) -> ESearchReply:
        """Search for the new records: their count, and their PMIDs if PubMed can list all of them."""
        return self.slicer.search_window(self.window, retmax)[0]

    def find_results(self, pmids: Sequence[int]) -> set[int]:
        """Return those of the given records that the query finds, regardless of their dates."""
        chosen = " OR ".join(f"{pmid}[uid]" for pmid in pmids)
        slicer = Slicer(self.services, f"({self.term}) AND ({chosen})", sort="pub_date")
        reply = slicer.search_window(None, MAX_PUBMED_RESULTS)[0]
        return {int(pmid) for pmid in reply.ids}.intersection(pmids)

    def build_revision_slicer(self) -> Slicer | None:
        """Return the slicer for records entered before the window and modified since the last scan."""
        if self.modified_since is None or self.older is None:
            return None
        last = max(self.today, self.modified_since)
        modified = build_date_clause(format_ncbi_day(self.modified_since), format_ncbi_day(last), "mdat")
        return Slicer(self.services, f"({self.term}) AND {modified}", sort="pub_date", oldest_first=True)


def plan_search(services: Services, request: SyncRequest) -> SyncSearch:
    """Return the searches of a sync, which depend on the checkpoint of the key.

    Raises:
        InvalidInput: the term is malformed, or the key belongs to another term.
    """
    query = read_query(request.term, "term")
    checkpoint = store_of(services).get_checkpoint(request.query_key)
    replaces_term = checkpoint is not None and checkpoint.term not in (None, query.text)
    may_replace = isinstance(request, UserSyncRequest) and request.replace_term
    if checkpoint is not None and replaces_term and not may_replace:
        raise _changed_term_error(request, checkpoint.term)
    now = store_of(services).clock()
    window: DateWindow | None = None
    modified_since: date | None = None
    warnings: list[str] = []
    if checkpoint is not None and not replaces_term:
        window, modified_since, warnings = _find_dates(checkpoint, now, min(request.overlap_days, MAX_OVERLAP))
    return SyncSearch(
        services=services.bypass_cache(),
        query_key=request.query_key,
        query=query,
        replaces_term=replaces_term,
        today=now.date(),
        window=window,
        modified_since=modified_since,
        warnings=warnings,
    )


def _find_dates(
    checkpoint: Checkpoint, now: datetime, overlap: int
) -> tuple[DateWindow | None, date | None, list[str]]:
    """Return the entry dates of new records, the day from which revisions are searched, and warnings about the clock.

    Args:
        overlap: the days before the checkpoint that are searched again.
    """
    followed_to, scanned_at = checkpoint.last_edat, checkpoint.last_scan_at
    if followed_to is None:
        return None, None, []
    warnings: list[str] = []
    latest = to_second(now + timedelta(days=1))
    if followed_to > latest:
        warnings.append(_warn_of_clock("The checkpoint", followed_to, "today"))
        followed_to = to_second(now)
    first = _subtract_days(get_day(followed_to), overlap)
    window = DateWindow(0, first, max(now.date(), first))
    if scanned_at is None:
        return window, None, warnings
    if scanned_at > latest:
        warnings.append(_warn_of_clock("The time of the last sync", scanned_at, followed_to))
        scanned_at = followed_to
    # A day more, because NCBI's days begin later than ours.
    return window, _subtract_days(get_day(scanned_at), max(overlap, 1)), warnings


def _warn_of_clock(record: str, moment: str, since: str) -> str:
    return (
        f"{record}, {moment}, is in the future: the clock of this machine was or is wrong. "
        f"The sync checks for changes since {since} again."
    )


def _changed_term_error(request: SyncRequest, term: str | None) -> InvalidInput:
    return InvalidInput(
        FrontendText(Argument("term"), f": the corpus {request.query_key!r} was synced with a different query: {term}"),
        invalid_input=f"term={request.term}",
        recovery_hint=FrontendText(
            *("Give the same ", Argument("term"), ", or another ", Argument("query_key")),
            *(PerFrontend(", or --replace-term to restart the corpus with the new query", ""), "."),
        ),
        details={"reason": "term_changed", "query_key": request.query_key, "term": term},
    )


def _subtract_days(day: date, days: int) -> date:
    return day - timedelta(days=days) if (day - FIRST).days > days else FIRST
