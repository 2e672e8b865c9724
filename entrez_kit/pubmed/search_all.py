"""Retrieve every PMID of a search, beyond the 9,999 PubMed shows, with a certificate that nothing is missing.

The search is cut into slices by date of entry, each of which PubMed shows whole; ``slices`` tells how.
"""

import hashlib
from collections.abc import Callable

from entrez_kit import tracing
from entrez_kit.errors import InvalidInput
from entrez_kit.model import Warn
from entrez_kit.pubmed.date_slices import Slicer
from entrez_kit.pubmed.models import BriefSummary
from entrez_kit.pubmed.search import (
    MAX_PUBMED_RESULTS,
    SORT_NAMES,
    Certificate,
    SearchRequest,
    SearchResult,
    Slice,
    brief_summaries,
    compare_with_query,
    empty_warnings,
    mesh_warnings,
    parameters_of,
    warnings_about,
)
from entrez_kit.services import Services

Progress = Callable[[int, int], None]
"""Called with the number of PMIDs retrieved so far and the number counted."""


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
    slicer = Slicer(services, request.term(), sort=SORT_NAMES[request.sort_by], dates=request.date_parameters())
    whole, url = slicer.ask(None, MAX_PUBMED_RESULTS)
    pmids: dict[str, None] = {}
    slices: list[Slice] = []
    received = 0
    for piece in slicer.slices(whole):
        received += len(piece.ids)
        pmids.update(dict.fromkeys(piece.ids))
        slices.append(Slice(clause=piece.clause, count=piece.count, retrieved=len(piece.ids)))
        tracing.step(len(pmids), whole.count)
        if progress is not None:
            progress(len(pmids), whole.count)
    listed = list(pmids)
    summaries: list[BriefSummary] = []
    esummary_url = None
    verdict = compare_with_query(services, request, whole)
    warnings = [*warnings_about(whole, verdict), *mesh_warnings(services, request)]
    if not whole.count:
        warnings += empty_warnings(services, request)
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
        query_broadened=verdict.broadened or None,
        strict_total=verdict.strict_total,
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
