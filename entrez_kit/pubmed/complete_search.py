"""Retrieve all results of a search, and certify that none is missing.

`search.py` imports this module only for a search for all results.
"""

import hashlib
from collections.abc import Collection, Sequence

from entrez_kit.base import __version__
from entrez_kit.base.frontend_text import format_count
from entrez_kit.core.model import Warn
from entrez_kit.core.query_input import DateBounds
from entrez_kit.pubmed.date_slices import Slicer
from entrez_kit.pubmed.models import Certificate, Slice
from entrez_kit.pubmed.search_models import PmidSlice, StartedSearch
from entrez_kit.services import Services
from entrez_kit.services.small_replies import MAX_PUBMED_RESULTS, ESearchReply


def start_complete_search(services: Services, term: str, *, sort: str, dates: DateBounds) -> StartedSearch:
    """Start to retrieve all PMIDs.

    More than 9,999 results are split by date of entry, the newest slice first. Each slice has the order requested.
    """
    slicer = Slicer(services, term, sort=sort, dates=dates)
    whole, url = slicer.search_window(None, MAX_PUBMED_RESULTS)
    slices = (PmidSlice(part.clause, part.count, part.ids) for part in slicer.yield_slices(whole))
    return StartedSearch(whole, url, slices)


def certify(query: str, reply: ESearchReply, slices: Sequence[Slice], pmids: Collection[str]) -> Certificate:
    """Return the certificate of a search.

    Args:
        query: the query of the user.
        reply: PubMed's first reply.
        slices: the slices of the search.
        pmids: the PMIDs retrieved, each once.
    """
    unlisted = sum(max(0, part.count - part.retrieved) for part in slices)
    lines = "".join(f"{pmid}\n" for pmid in sorted(pmids, key=int))
    return Certificate(
        query=query,
        searched_at=reply.searched_at,
        version=__version__,
        count=reply.count,
        retrieved=len(pmids),
        missing=max(0, reply.count - len(pmids)) or unlisted,
        duplicates=sum(part.retrieved for part in slices) - len(pmids),
        slices=list(slices),
        query_translation=reply.query_translation,
        sha256=hashlib.sha256(lines.encode()).hexdigest(),
    )


def warn_about_certificate(certificate: Certificate, sort: str) -> list[Warn]:
    """Return warnings about the order and the number of the results of a complete search."""
    warnings = []
    if len(certificate.slices) > 1 and sort != "relevance":
        parts = f"each of the {format_count(len(certificate.slices), 'slice')}"
        message = f"Results are sorted by {sort} within {parts}, not as a whole."
        warnings.append(Warn(code="sorted_by_slice", message=message))
    if certificate.retrieved > certificate.count:
        counts = f"counted {format_count(certificate.count, 'result')} and then returned {certificate.retrieved:,}"
        message = f"PubMed first {counts}: records were added during the search."
        warnings.append(Warn(code="count_changed", message=message))
    return warnings
