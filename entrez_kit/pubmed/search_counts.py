"""Count records for the warnings about a search, and for facets.

`search.py` imports this module only for a search that needs a count.
"""

from collections.abc import Sequence
from typing import Final

from entrez_kit.pubmed.search_models import SearchRequest
from entrez_kit.services import Services
from entrez_kit.services.small_replies import ESearchReply

COUNT_DEADLINE_MS: Final = 15_000
"""The time limit of a count that only explains a result."""


def count_matches(services: Services, request: SearchRequest, term: str) -> int:
    """Count the records that match a term between the request's dates."""
    return search_term(services, request, term, 0).count


def count_without_filters(services: Services, request: SearchRequest, filters: Sequence[str]) -> int:
    """Count the results of a search without some of its filters."""
    wider = request.drop_filters(filters)
    return count_matches(services, wider, wider.term())


def search_term(services: Services, request: SearchRequest, term: str, number: int) -> ESearchReply:
    """Search a term between the request's dates; the reply has the count and up to ``number`` PMIDs."""
    reply = services.eutils.esearch(
        db="pubmed", term=term, retmax=number, deadline_ms=COUNT_DEADLINE_MS, **request.date_parameters()
    )
    return reply.value
