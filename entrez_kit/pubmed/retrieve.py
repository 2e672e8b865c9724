"""Retrieve every PMID of a search, beyond the 9,999 PubMed shows, with a certificate that nothing is missing.

The search is cut into slices by date of entry, each halved until PubMed shows all of it. A single day that is still too
large is cut by date of publication, then by date of modification.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from entrez_kit import tracing
from entrez_kit.errors import InvalidInput
from entrez_kit.esearch_reply import ESearchReply, parse_esearch
from entrez_kit.pubmed.models import BriefSummary, Warn
from entrez_kit.pubmed.query import date_clause
from entrez_kit.pubmed.search import (
    MAX_PUBMED_RESULTS,
    SORT_NAMES,
    Certificate,
    SearchRequest,
    SearchResult,
    Slice,
    brief_summaries,
    parameters_of,
    warnings_about,
)
from entrez_kit.services import Services

Progress = Callable[[int, int], None]
"""Called with the number of PMIDs retrieved so far and the number counted."""

AXES: Final = ("edat", "pdat", "mdat")
FIRST: Final = date(1, 1, 1)
LAST: Final = date(3000, 12, 31)
FEW_EARLIER: Final = date(1965, 12, 31)
"""Few records entered before: cutting there first saves halving empty centuries."""
PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class _Window:
    """A range of days on one axis, within the single days that earlier axes were narrowed to."""

    axis: int
    first: date
    last: date
    within: tuple[str, ...] = ()

    @property
    def clause(self) -> str:
        return " AND ".join((*self.within, date_clause(_day(self.first), _day(self.last), AXES[self.axis])))

    def parts(self) -> "list[_Window]":
        """Cut in two, newest first; a single day moves on to the next axis. Empty when nothing is left to cut by."""
        if self.first == self.last:
            if self.axis + 1 == len(AXES):
                return []
            return [_Window(self.axis + 1, FIRST, LAST, (*self.within, self.clause))]
        middle = self.first + (self.last - self.first) // 2
        this_year = date.today() + timedelta(days=366)
        for landmark in (this_year, FEW_EARLIER):
            if self.first <= landmark < self.last:
                middle = landmark
                break
        return [replace(self, first=middle + timedelta(days=1)), replace(self, last=middle)]


def _day(day: date) -> str:
    return f"{day.year:04d}/{day.month:02d}/{day.day:02d}"


def search_all(services: Services, request: SearchRequest, progress: Progress | None = None) -> SearchResult:
    """Retrieve every PMID of a search, however many, and prove it.

    The result's ``certificate`` holds what PubMed counted, what came, what is missing, and a SHA-256 over the sorted
    PMIDs, one per line. Above 9,999 results the order is by date of entry, newest slice first, and the order asked for
    within each slice.

    Args:
        services: the clients.
        request: query and filters; ``offset`` and ``use_history`` make no sense here.
        progress: called after each slice.

    Raises:
        InvalidInput: an offset or the history was asked for.
        UpstreamError: NCBI did not answer after every attempt.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: ESearch (db=pubmed), as often as there are slices.
    """
    if request.offset or request.use_history:
        name = "offset" if request.offset else "use_history"
        raise InvalidInput(
            f"{name}: retrieving all results starts at the first and keeps no result set at NCBI.",
            invalid_input=f"{name}={getattr(request, name)}",
            recovery_hint=f"Leave {name} out, or leave out --all.",
        )
    whole, url = _esearch(services, request, None, MAX_PUBMED_RESULTS)
    pmids: dict[str, None] = {}
    slices: list[Slice] = []
    received = 0
    for clause, count, ids in _slices(services, request, whole):
        received += len(ids)
        pmids.update(dict.fromkeys(ids))
        slices.append(Slice(clause=clause, count=count, retrieved=len(ids)))
        tracing.step(len(pmids), whole.count)
        if progress is not None:
            progress(len(pmids), whole.count)
    listed = list(pmids)
    summaries: list[BriefSummary] = []
    esummary_url = None
    warnings = warnings_about(whole)
    if request.fetch_brief_summaries and listed:
        summaries, esummary_url, missing = brief_summaries(services, listed[: request.fetch_brief_summaries])
        warnings += missing
    if len(slices) > 1 and request.sort_by != "relevance":
        message = f"Sorted by {request.sort_by} within each of {len(slices)} slices, not over all of them."
        warnings.append(Warn(code="sorted_by_slice", message=message))
    if len(listed) > whole.count:
        warnings.append(
            Warn(
                code="count_changed",
                message=f"PubMed counted {whole.count} results at first and returned {len(listed)}: records were added "
                "meanwhile.",
            )
        )
    return SearchResult(
        search_parameters=parameters_of(request).model_copy(update={"max_results": max(whole.count, 1)}),
        effective_esearch_term=request.effective_term(),
        query_translation=whole.query_translation,
        total_found=whole.count,
        retrieved_pmid_count=len(listed),
        pmids=listed,
        brief_summaries=summaries,
        warnings=warnings,
        certificate=Certificate(
            count=whole.count,
            retrieved=len(listed),
            missing=max(0, whole.count - len(listed)),
            duplicates=received - len(listed),
            slices=slices,
            query_translation=whole.query_translation,
            sha256=fingerprint(listed),
        ),
        esearch_url=url,
        esummary_url=esummary_url,
    )


def fingerprint(pmids: list[str]) -> str:
    """Return the SHA-256 over the PMIDs, sorted as numbers, one per line."""
    digest = hashlib.sha256()
    for pmid in sorted(pmids, key=int):
        digest.update(f"{pmid}\n".encode())
    return digest.hexdigest()


def _slices(services: Services, request: SearchRequest, whole: ESearchReply) -> Iterator[tuple[str, int, list[str]]]:
    """Yield clause, count and PMIDs of every slice, newest first."""
    if whole.count <= MAX_PUBMED_RESULTS:
        yield "", whole.count, _completed(services, request, None, whole)
        return
    # A stack keeps the order: the newest part is cut further before an older one is looked at.
    waiting = [(_Window(0, FIRST, LAST), whole)]
    while waiting:
        window, reply = waiting.pop()
        parts = window.parts()
        if reply.count <= MAX_PUBMED_RESULTS or not parts:
            if reply.count:
                yield window.clause, reply.count, _completed(services, request, window, reply)
            continue
        # Where a part may be shown whole, its PMIDs are asked for at once instead of after a count.
        retmax = MAX_PUBMED_RESULTS if reply.count <= 2 * MAX_PUBMED_RESULTS else 0
        counted = [(part, _esearch(services, request, part, retmax)[0]) for part in parts]
        waiting += reversed(counted)


def _completed(services: Services, request: SearchRequest, window: _Window | None, reply: ESearchReply) -> list[str]:
    """Return all PMIDs of a slice: asked for where only counted, paged where the reply was short."""
    ids = reply.ids
    if not ids:
        ids = _esearch(services, request, window, MAX_PUBMED_RESULTS)[0].ids
    shown = min(reply.count, MAX_PUBMED_RESULTS)
    if len(ids) >= shown:
        return ids
    paged: dict[str, None] = dict.fromkeys(ids)
    for start in range(0, shown, PAGE):
        paged.update(dict.fromkeys(_esearch(services, request, window, PAGE, start)[0].ids))
    return list(paged)


def _esearch(
    services: Services, request: SearchRequest, window: _Window | None, retmax: int, retstart: int = 0
) -> tuple[ESearchReply, str]:
    term = request.term() if window is None else f"({request.term()}) AND {window.clause}"
    reply = services.eutils.esearch(
        db="pubmed",
        term=term,
        retmax=retmax,
        retstart=retstart,
        sort=SORT_NAMES[request.sort_by],
        **request.date_parameters(),
    )
    return parse_esearch(reply.content), reply.url
