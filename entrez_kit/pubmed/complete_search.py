"""Retrieve all results of a search, and certify that none is missing.

`search.py` imports this module only for a search for all results.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from entrez_kit.base import __version__
from entrez_kit.core.model import Warn
from entrez_kit.core.query_input import DateBounds
from entrez_kit.pubmed.date_slices import Slicer
from entrez_kit.pubmed.models import Certificate, Slice
from entrez_kit.services import Services
from entrez_kit.services.small_replies import MAX_PUBMED_RESULTS, ESearchReply

Piece: TypeAlias = tuple[str, int, list[str]]
"""The clause added to the term, PubMed's count, and the PMIDs."""


def start_complete_search(
    services: Services, term: str, *, sort: str, dates: DateBounds
) -> tuple[ESearchReply, str, Iterable[Piece]]:
    """Start to retrieve all PMIDs; return ESearch's first reply, the URL of the request, and the PMIDs in slices.

    More than 9,999 results are split by date of entry, the newest slice first. Each slice has the order requested.
    """
    slicer = Slicer(services, term, sort=sort, dates=dates)
    whole, url = slicer.ask(None, MAX_PUBMED_RESULTS)
    return whole, url, ((piece.clause, piece.count, piece.ids) for piece in slicer.yield_slices(whole))


def certify(query: str, found: ESearchReply, slices: Sequence[Slice], pmids: Collection[str]) -> Certificate:
    """Return the certificate of a search.

    Args:
        query: the query of the user.
        found: PubMed's first reply.
        slices: the slices of the search.
        pmids: the PMIDs retrieved, each once.
    """
    unlisted = sum(max(0, piece.count - piece.retrieved) for piece in slices)
    lines = "".join(f"{pmid}\n" for pmid in sorted(pmids, key=int))
    return Certificate(
        query=query,
        searched_at=found.searched_at,
        version=__version__,
        count=found.count,
        retrieved=len(pmids),
        missing=max(0, found.count - len(pmids)) or unlisted,
        duplicates=sum(piece.retrieved for piece in slices) - len(pmids),
        slices=list(slices),
        query_translation=found.query_translation,
        sha256=hashlib.sha256(lines.encode()).hexdigest(),
    )


def warn_about_certificate(certificate: Certificate, sort: str) -> list[Warn]:
    """Return warnings about the order and the number of the results of a complete search."""
    warnings = []
    if len(certificate.slices) > 1 and sort != "relevance":
        parts = f"each of the {len(certificate.slices)} slices"
        message = f"Results are sorted by {sort} within {parts}, not as a whole."
        warnings.append(Warn(code="sorted_by_slice", message=message))
    if certificate.retrieved > certificate.count:
        counts = f"counted {certificate.count} results and then returned {certificate.retrieved}"
        message = f"PubMed first {counts}: records were added during the search."
        warnings.append(Warn(code="count_changed", message=message))
    return warnings
