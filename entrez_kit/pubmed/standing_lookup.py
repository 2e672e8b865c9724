"""Look up summaries and publication status of works by PMID, many in one request."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, UpstreamError
from entrez_kit.base.frontend_text import join_names
from entrez_kit.core.batches import collect_batches
from entrez_kit.core.model import Warn, incomplete_error
from entrez_kit.pubmed.models import BriefSummary, Standing
from entrez_kit.services import Services

BATCH: Final = 200
"""Summaries per request. For more ids NCBI requires POST, and a small batch loses little if it fails."""
STANDING_UNKNOWN: Final = "standing_unknown"


@dataclass(slots=True)
class Standings:
    """Publication status (``known``) and errors (``unknown``) by PMID; works without a status are in neither."""

    known: dict[str, Standing] = field(default_factory=dict)
    summaries: dict[str, BriefSummary] = field(default_factory=dict)
    unknown: dict[str, EntrezKitError] = field(default_factory=dict)

    @property
    def warnings(self) -> list[Warn]:
        """A warning if the status of any work is unknown."""
        if not self.unknown:
            return []
        why = next(iter(self.unknown.values())).message
        message = f"Retractions and corrections of PMID {join_names(self.unknown)} are unknown: {why}"
        return [Warn(code=STANDING_UNKNOWN, message=message)]


def look_up_standings(services: Services, pmids: Iterable[str]) -> Standings:
    """Look up summaries and publication status. A failure is part of the result; it raises no error."""
    from entrez_kit.pubmed.summaries import parse_summaries

    def fetch_batch(batch: list[str]) -> tuple[list[BriefSummary], list[str]]:
        reply = services.eutils.esummary(db="pubmed", ids=batch, version="2.0", partial=True, read=parse_summaries)
        return reply.value

    requested = collect_batches(
        list(dict.fromkeys(pmids)), BATCH, fetch_batch, refusals=(EntityNotFound,), at_once=services.eutils.at_once
    )
    standings = Standings(unknown=dict(requested.failed))
    for batch, (summaries, missing) in requested.answers:
        returned = {summary.pmid for summary in summaries}
        standings.summaries |= {summary.pmid: summary for summary in summaries}
        standings.known |= {summary.pmid: summary.standing for summary in summaries if summary.standing is not None}
        left_out = UpstreamError("NCBI's reply does not contain it.", details={"reason": "incomplete"})
        standings.unknown |= {pmid: left_out for pmid in batch if pmid not in returned and pmid not in missing}
    return standings


def standing_error(warnings: Iterable[Warn]) -> EntrezKitError | None:
    """Return the error for a document in which the status of some works is unknown."""
    messages = [warning.message for warning in warnings if warning.code == STANDING_UNKNOWN]
    return incomplete_error(["standing"], messages[0]) if messages else None
