"""Run the searches of a gene query, and append their results to one list, whose pages never repeat or omit a gene."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from entrez_kit.base.errors import EntrezKitError, UpstreamError
from entrez_kit.base.frontend_text import RETRY_WITHOUT_CACHE, Argument, FrontendText, format_count
from entrez_kit.core.broadening import Broadening, Totals, compare_with_query
from entrez_kit.core.model import Warn
from entrez_kit.databases.gene.gene_query import GeneQuery, Tier
from entrez_kit.databases.gene.models import MatchKind
from entrez_kit.databases.gene.search_request import SearchGenesRequest
from entrez_kit.services import Services
from entrez_kit.services.small_replies import ESearchReply, SearchWarning
from entrez_kit.services.transport.in_flight import run_all

_NOT_FOUND: Final = frozenset(("phrase_not_found", "quoted_phrase_not_found"))


@dataclass(slots=True)
class GeneListing:
    """The page under construction. The results of each search are appended to one list.

    ``hits`` has the rank and the kind of match of each gene.
    """

    services: Services
    request: SearchGenesRequest
    total: int = 0
    hits: dict[str, tuple[int, MatchKind | None]] = field(default_factory=dict)
    warnings: list[Warn] = field(default_factory=list)
    broadening: Broadening | None = None
    """The broadening of the last search, in whole records. NCBI drops parts only of that search."""

    @property
    def totals(self) -> Totals:
        """The totals of all searches."""
        broadening = self.broadening or Broadening(0)
        are_left_out = broadening.is_left_out(self.request.broader_results)
        return broadening.build_totals(
            self.request.broader_results, before=self.total - (0 if are_left_out else broadening.count)
        )

    def search(self, term: str, start: int = 0, size: int | None = None) -> ESearchReply:
        """Request the count of a search and some of its hits, by default as many as a page has."""
        retmax = self.request.page_size if size is None else size
        return self.services.eutils.esearch(db="gene", term=term, retmax=retmax, retstart=start, sort="relevance").value

    def append(self, kind: MatchKind | None, term: str, reply: ESearchReply) -> None:
        """Add the hits of one search to the page, and its count to the total."""
        if kind is None:
            self.broadening = compare_with_query(term, reply, lambda strict: self.search(strict, size=0).count)
            self.warnings += self.broadening.list_warnings(reply, self.request.broader_results)
            if self.broadening.is_left_out(self.request.broader_results):
                return
        count, size = reply.count, self.request.page_size
        start = max(0, self.request.offset - self.total)
        expected = max(0, min(size - len(self.hits), count - start))
        if expected and start + expected > size:
            ids = self.search(term, start, expected).ids
        else:
            ids = reply.ids[start:]
        fresh = [number for number in dict.fromkeys(ids) if number not in self.hits]
        if len(fresh) < expected:
            raise UpstreamError(
                f"NCBI counted {format_count(count, 'gene')} and listed {len(fresh)} instead of {expected}.",
                recovery_hint=FrontendText(RETRY_WITHOUT_CACHE, "."),
                details={"reason": "incomplete", "endpoint": "esearch"},
            )
        rank = self.total + start
        self.hits |= {number: (rank + place, kind) for place, number in enumerate(fresh[:expected])}
        self.total += count


def run_searches(listing: GeneListing, query: GeneQuery) -> None:
    """Run the searches, the best first. All three are counted, so that the total is exact.

    The searches are sent in parallel. A single word is usually a symbol, so the searches of one word exclude the hits
    of earlier searches; those of several words do not. A search with the wrong exclusions is repeated in parallel with
    the searches after it.
    """
    tiers = query.tiers
    excluded = {tier: tiers[:place] if " " not in query.text else () for place, tier in enumerate(tiers)}
    replies = _send_searches(listing, query, excluded)
    successful: list[Tier] = []
    unknown: list[Tier] = []
    for place, tier in enumerate(tiers):
        lost = [other for other in unknown if other in excluded[tier] and not _is_kept(replies[tier], other)]
        if lost or not set(successful) <= set(excluded[tier]):
            later = tiers[place:]
            known_tiers = [other for other in later if not _is_unknown(replies[other], other, query, unknown)]
            repeated = {
                other: (*successful, *(earlier for earlier in later[:step] if earlier in known_tiers))
                for step, other in enumerate(later)
            }
            excluded |= repeated
            replies |= _send_searches(listing, query, repeated)
        if _is_unknown(replies[tier], tier, query, excluded[tier]):
            unknown.append(tier)
            continue
        listing.append(tier.kind, query.build_term(tier, excluded[tier]), replies[tier])
        if replies[tier].count:
            successful.append(tier)


def _send_searches(
    listing: GeneListing, query: GeneQuery, excluded: Mapping[Tier, Sequence[Tier]]
) -> dict[Tier, ESearchReply]:
    """Send searches in parallel; each excludes the hits of other searches."""
    calls = [partial(listing.search, query.build_term(tier, others)) for tier, others in excluded.items()]
    return dict(zip(excluded, run_all(calls), strict=True))


def _is_kept(reply: ESearchReply, tier: Tier) -> bool:
    """Return whether NCBI kept an unknown symbol in the search that excludes it, where it matches nothing."""
    fates = [item.fate for item in reply.warnings if item.code in _NOT_FOUND and _is_about(item, tier)]
    return set(fates) == {"kept"}


def _is_unknown(reply: ESearchReply, tier: Tier, query: GeneQuery, excluded: Sequence[Tier]) -> bool:
    """Return whether the words of a search are unknown to NCBI, so that its hits are not results of the query.

    If a symbol is unknown, NCBI may have searched only for the other conditions.
    """
    own_warnings = [item for item in reply.warnings if not any(_is_about(item, other) for other in excluded)]
    if tier.kind is None:
        return len(query.tiers) > 1 and (not reply.count or _are_all_unknown(own_warnings, query.words))
    return any(item.code in _NOT_FOUND and "[organism]" not in item.text.lower() for item in own_warnings)


def _is_about(warning: SearchWarning, tier: Tier) -> bool:
    """Return whether a warning names the search field of a tier."""
    return tier.kind is not None and tier.expression[tier.expression.rindex("[") :].lower() in warning.text.lower()


def warn_of_other_organisms(listing: GeneListing, request: SearchGenesRequest) -> list[Warn]:
    """Warn how many genes of other organisms the query finds if it finds no gene of the requested organism."""
    query = GeneQuery.of(request.query, current_only=not request.include_discontinued)
    try:
        reply = listing.search(query.build_term(query.tiers[-1]))
    except EntrezKitError:  # the count only explains the empty page
        return []
    number = 0 if _are_all_unknown(reply.warnings, query.words) else reply.count
    if not number:
        return []
    message = FrontendText(
        "Without ", Argument("organism", marked=True), f" the query finds {format_count(number, 'gene')}."
    )
    return [Warn(code="filters_emptied", message=message)]


def _are_all_unknown(warnings: Sequence[SearchWarning], words: str) -> bool:
    """Return whether all words are unknown to NCBI, so that its hits are unrelated to the query."""
    unknown = " ".join(
        warning.text.partition("[")[0].replace('"', " ") for warning in warnings if warning.code in _NOT_FOUND
    )
    return set(words.replace('"', " ").lower().split()) <= set(unknown.lower().split())
