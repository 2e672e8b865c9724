"""Give PMIDs titles and authors, and tell on the way whether the article all started from exists."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from entrez_kit.batches import in_batches
from entrez_kit.errors import EntityNotFound, EntrezKitError
from entrez_kit.model import Warn
from entrez_kit.pubmed.models import BriefSummary
from entrez_kit.relationships.fallback import link_of
from entrez_kit.relationships.models import RelatedArticle
from entrez_kit.services import Services

SHOWN: Final = 10
"""So many PMIDs are named in a message."""
BATCH: Final = 200
"""Summaries per request; NCBI asks for POST beyond, and a lost batch costs little."""


_SAID: Final = ("title", "authors", "source", "pub_date", "doi", "pmcid", "retraction_status", "standing")


@dataclass(slots=True)
class Described:
    """Articles with what their summaries say; ``exists`` is None where NCBI gave no answer about the source."""

    articles: list[RelatedArticle]
    exists: bool | None
    warnings: list[Warn] = field(default_factory=list)


def describe(services: Services, source: str, articles: Sequence[RelatedArticle]) -> Described:
    """Attach brief records to articles. What NCBI does not answer leaves bare PMIDs and a warning, never an error.

    The source goes along in the first request: NCBI makes up links for numbers that never were an article.
    """
    pmids = [article.pmid for article in articles if article.pmid]
    wanted = list(dict.fromkeys([source, *pmids]))
    summaries: dict[str, BriefSummary] = {}
    failed: dict[str, EntrezKitError] = {}
    known: set[str] = set()
    lacking = wanted
    for _ in range(2):  # what a reply leaves out without a word is asked for once more
        ask = partial(_ask, services)
        asked = in_batches(lacking, BATCH, ask, refusals=(EntityNotFound,), at_once=services.eutils.at_once)
        failed |= asked.failed
        known.update(asked.refused)
        for _batch, (found, missing) in asked.answers:
            summaries |= {summary.pmid: summary for summary in found}
            known.update(missing)
        lacking = [pmid for pmid in wanted if not (pmid in summaries or pmid in failed or pmid in known)]
        if not lacking:
            break
    exists = None if source in failed else source in summaries
    shown = [_with_summary(article, summaries.get(article.pmid or "")) for article in articles]
    return Described(shown, exists, _warnings(source, pmids, summaries, failed))


def _ask(services: Services, pmids: list[str]) -> tuple[list[BriefSummary], list[str]]:
    from entrez_kit.pubmed.summaries import parse_summaries

    return services.eutils.esummary(db="pubmed", ids=pmids, version="2.0", read=parse_summaries).value


def _warnings(
    source: str, pmids: list[str], summaries: dict[str, BriefSummary], failed: dict[str, EntrezKitError]
) -> list[Warn]:
    warnings = []
    if source in failed:
        message = f"Whether PMID {source} exists could not be checked: {failed[source].message}"
        warnings.append(Warn(code="source_not_verified", message=message))
    bare = [pmid for pmid in pmids if pmid not in summaries and pmid != source]
    unanswered = [pmid for pmid in bare if pmid in failed]
    unknown = [pmid for pmid in bare if pmid not in failed]
    if unanswered:
        message = f"No titles and no marks of retraction for PMID {_first(unanswered)}: {failed[unanswered[0]].message}"
        warnings.append(Warn(code="summaries_unavailable", message=message, terms=unanswered[SHOWN:] and unanswered))
    if unknown:
        message = f"No title for PMID {_first(unknown)}, because NCBI has no summary."
        warnings.append(Warn(code="summaries_missing", message=message, terms=unknown[SHOWN:] and unknown))
    return warnings


def _first(pmids: list[str]) -> str:
    return ", ".join(pmids[:SHOWN]) + (" ..." if len(pmids) > SHOWN else "")


def _with_summary(article: RelatedArticle, summary: BriefSummary | None) -> RelatedArticle:
    """Return the article with NCBI's words in place of anybody else's; what NCBI does not say stays."""
    changes: dict[str, object] = {"link_url": link_of(article)}
    if summary is not None:
        changes |= {name: value for name in _SAID if (value := getattr(summary, name))}
        changes["citation"] = None  # the title is there, so the words of the reference list tell nothing more
    return article.model_copy(update=changes)
