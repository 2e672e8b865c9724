"""Find the articles related to one article: from NCBI's links, then from other sources; or explain why none exist."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, NotConfigured, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import CHECK_IDS, join_names, join_with
from entrez_kit.core.model import Warn
from entrez_kit.pubmed.models import BriefSummary
from entrez_kit.pubmed.record_fetcher import fetch_articles
from entrez_kit.pubmed.standing_lookup import look_up_standings
from entrez_kit.relationships.fallback import build_url, fetch_from_europepmc, read_cited_articles
from entrez_kit.relationships.links import SCORED, SCORES_DEADLINE_MS, LinkedArticle, fetch_links
from entrez_kit.relationships.related_documents import Provenance, RelatedArticle, Relation, Snowball
from entrez_kit.services import Services

LINKS_DEADLINE_MS: Final = 20_000
"""The time limit of NCBI's links if another source has them too."""
QUEUE_FULL: Final = "queue_full"

RELATION_LABELS: Final[dict[Relation, str]] = {
    "pubmed_similar_articles": "similar articles",
    "pubmed_citedin": "citing articles",
    "pubmed_references": "references",
}


@dataclass(slots=True)
class RelatedArticles:
    """The related articles in order, their total number, their source, and the requests that were needed."""

    articles: list[RelatedArticle] = field(default_factory=list)
    total: int = 0
    provenance: Provenance = "ncbi"
    url: str | None = None
    requests: int = 0
    warnings: list[Warn] = field(default_factory=list)
    snowball: Snowball | None = None

    def warn(self, code: str, message: str) -> None:
        """Add a warning."""
        self.warnings.append(Warn(code=code, message=message))


def not_found_error(pmid: str) -> EntityNotFound:
    """Return the error for an article that does not exist."""
    return EntityNotFound(
        f"{tracing.name_source(begins=True)} has no record of {pmid}.",
        invalid_input=pmid,
        recovery_hint=CHECK_IDS,
        details={"reason": "not_found"},
    )


def find_related(services: Services, relation: Relation, pmid: str, limit: int) -> RelatedArticles:
    """Find the articles related to one article, in the first source that has them.

    Args:
        pmid: the article to start from.
        limit: how many articles the caller needs; no more are requested from Europe PMC.

    Raises:
        EntityNotFound: the article does not exist.
        UpstreamError: no source answered.
        RateLimited: NCBI refused, or no slot is free before the deadline.
    """
    related = RelatedArticles()
    down: EntrezKitError | None = None
    links: list[LinkedArticle] = []
    try:
        links = _fetch_ncbi_links(services, relation, pmid, related)
    except (UpstreamError, RateLimited) as exc:
        if relation == "pubmed_similar_articles" or exc.reason == QUEUE_FULL:
            raise
        down = exc
    if links:
        related.articles, related.total = normalize_scores(links), len(links)
        return related
    if down is None:
        related.requests += 1
        related.warnings += describe(services, pmid, ())[1]
    _try_other_sources(services, relation, pmid, limit, related, down)
    return related


def _fetch_ncbi_links(
    services: Services, relation: Relation, pmid: str, related: RelatedArticles
) -> list[LinkedArticle]:
    """Request NCBI's links: once with scores and a short time limit, then without scores."""
    if relation in SCORED:
        related.requests += 1
        try:
            followed = fetch_links(services, relation, [pmid], scores=True, deadline_ms=SCORES_DEADLINE_MS)
            related.url = followed.url
            return followed.links[pmid]
        except (UpstreamError, RateLimited) as exc:
            if exc.reason == QUEUE_FULL:
                raise
            related.warn(
                "scores_unavailable",
                f"NCBI returned no scores in time. The articles are in NCBI's order, without scores. ({exc.message})",
            )
    related.requests += 1
    deadline = LINKS_DEADLINE_MS if has_others(services, relation) else None
    followed = fetch_links(services, relation, [pmid], deadline_ms=deadline)
    related.url = followed.url
    return followed.links[pmid]


def has_others(services: Services, relation: Relation) -> bool:
    """Return whether another source than NCBI has this relation for every article and is enabled."""
    return relation != "pubmed_similar_articles" and services.settings.europepmc_enabled


def normalize_scores(links: list[LinkedArticle]) -> list[RelatedArticle]:
    """Return the linked articles with each score divided by the highest score (0 to 1)."""
    top = max((link.raw_score or 0 for link in links), default=0)
    return [
        RelatedArticle(
            pmid=link.pmid,
            score=round(link.raw_score / top, 4) if top and link.raw_score is not None else None,
            raw_score=link.raw_score,
        )
        for link in links
    ]


# Other sources, for articles without links and if NCBI does not answer


def _try_other_sources(
    services: Services,
    relation: Relation,
    pmid: str,
    limit: int,
    related: RelatedArticles,
    down: EntrezKitError | None,
) -> None:
    """Request each other source in turn; warn which source has the articles, or why no articles were found."""

    def read_related() -> tuple[list[RelatedArticle], int, int]:
        articles = read_cited_articles(services, [pmid]).get(pmid, [])
        return articles, len(articles), 1

    sources: list[tuple[Provenance, str, Callable[[], tuple[list[RelatedArticle], int, int]]]] = []
    if relation == "pubmed_references":
        sources.append(("pubmed_record", "the PubMed record itself", read_related))
    if relation != "pubmed_similar_articles":
        sources.append(("europepmc", "Europe PMC", lambda: fetch_from_europepmc(services, relation, pmid, limit)))
    source = tracing.name_source("NCBI", begins=True)
    because = f"NCBI's ELink did not answer ({down.message})" if down else f"{source} has no such links"
    failures: list[EntrezKitError] = [down] if down else []
    answered = [] if down else [tracing.name_source("NCBI")]
    for provenance, name, ask in sources:
        try:
            articles, total, requests = ask()
        except NotConfigured as exc:
            related.warn("europepmc_disabled", f"Europe PMC was not used: {exc.message}")
            continue
        except (UpstreamError, RateLimited) as exc:
            related.requests += 1
            failures.append(exc)
            code = "europepmc_failed" if provenance == "europepmc" else "record_failed"
            related.warn(code, f"{name[0].upper()}{name[1:]} did not answer: {exc.message}")
            continue
        related.requests += requests
        answered.append(name)
        if articles:
            related.articles, related.total, related.provenance = articles, total, provenance
            # This source has the articles, so the failure of an earlier source leaves no gap.
            related.warnings = [item for item in related.warnings if item.code != "record_failed"]
            related.warn(
                f"from_{provenance}", f"{because}; these {RELATION_LABELS[relation]} of PMID {pmid} come from {name}."
            )
            return
    if not answered and failures:
        first, *others = failures
        raise first.copy_with(
            f"No source of the {RELATION_LABELS[relation]} of PMID {pmid} answered. "
            + " ".join(error.message for error in failures),
            others=[error.reason for error in others],
        )
    if down is not None:
        named = join_with(answered, "or")
        related.warn("links_incomplete", f"{because}; {named} had no {RELATION_LABELS[relation]} of PMID {pmid}.")
    related.warn(*_explain_absence(relation, pmid, answered))


def _explain_absence(relation: Relation, pmid: str, answered: list[str]) -> tuple[str, str]:
    """Return the warning that explains why an article that exists has no related articles."""
    if relation == "pubmed_similar_articles":
        if source := tracing.name_source(""):
            return "no_similar_articles", f"No record of {source} is similar to PMID {pmid}."
        return "no_similar_articles", (
            f"NCBI has no similar articles for PMID {pmid}. NCBI computes them some days after an article enters "
            "PubMed, and not for every kind of record."
        )
    who = join_with(answered, "or")
    if relation == "pubmed_citedin":
        return "no_citing_articles", f"No article that cites PMID {pmid} was found in {who}."
    if tracing.name_source(""):
        return "no_references", f"No references of PMID {pmid} were found in {who}."
    return "no_references", (
        f"No references of PMID {pmid} were found in {who}. NCBI links the references of articles in PMC only, and "
        "the publisher of this article sent no reference list to PubMed."
    )


# Titles and authors


MAX_NAMED_PMIDS: Final = 10
"""The most PMIDs that a message names."""
_SUMMARY_FIELDS: Final = (
    *("title", "authors", "source", "pub_date", "doi", "pmcid", "retraction_status", "standing"),
    *("publication_types", "comments"),
)


def describe(
    services: Services, source: str, articles: Sequence[RelatedArticle]
) -> tuple[list[RelatedArticle], list[Warn]]:
    """Add titles, authors and other summary fields to articles. If NCBI does not answer, add a warning instead.

    The first request also contains the source, because NCBI returns links for PMIDs that never existed.

    Raises:
        EntityNotFound: the source does not exist.
    """
    pmids = [article.pmid for article in articles if article.pmid]
    standings = look_up_standings(services, [source, *pmids])
    summaries, failed = standings.summaries, standings.unknown
    warnings = []
    if source in failed:
        message = f"PMID {source} could not be verified: {failed[source].message}"
        warnings.append(Warn(code="source_not_verified", message=message))
    elif source not in summaries:
        raise not_found_error(source)
    bare = [pmid for pmid in pmids if pmid not in summaries and pmid != source]
    unanswered = [pmid for pmid in bare if pmid in failed]
    unknown = [pmid for pmid in bare if pmid not in failed]
    if unanswered:
        reason = failed[unanswered[0]].message
        message = f"Titles and retraction notices are missing for PMID {join_names(unanswered)}: {reason}"
        warnings.append(
            Warn(code="summaries_unavailable", message=message, terms=unanswered[MAX_NAMED_PMIDS:] and unanswered)
        )
    if unknown:
        source = tracing.name_source("NCBI")
        message = f"Titles are missing for PMID {join_names(unknown)}, because {source} has no summary."
        warnings.append(Warn(code="summaries_missing", message=message, terms=unknown[MAX_NAMED_PMIDS:] and unknown))
    return [_add_summary(article, summaries.get(article.pmid or "")) for article in articles], warnings


def add_registrations(
    services: Services, articles: Sequence[RelatedArticle]
) -> tuple[list[RelatedArticle], list[Warn]]:
    """Add the numbers of registered trials and data from the records. Missing records are a warning."""
    pmids = [article.pmid for article in articles if article.pmid]
    try:
        records = fetch_articles(services, pmids) if pmids else {}
        code, why = "registrations_missing", f"{tracing.name_source('NCBI')} has no record."
    except (UpstreamError, RateLimited) as exc:
        records, code, why = {}, "registrations_unavailable", exc.message
    titles = []
    for article in articles:
        record = records.get(article.pmid or "")
        titles.append(article if record is None else article.model_copy(update={"data_banks": record.data_banks}))
    unread = [pmid for pmid in pmids if pmid not in records]
    message = f"Registrations are missing for PMID {join_names(unread)}: {why}"
    return titles, [Warn(code=code, message=message)] if unread else []


def _add_summary(article: RelatedArticle, summary: BriefSummary | None) -> RelatedArticle:
    """Return the article with the fields of NCBI's summary; fields that the summary lacks stay."""
    changes: dict[str, object] = {"link_url": build_url(article)}
    if summary is not None:
        changes |= {name: value for name in _SUMMARY_FIELDS if (value := getattr(summary, name))}
        changes["citation"] = None  # with a title, the text of the reference list adds nothing
    return article.model_copy(update=changes)
