"""The articles around one article: NCBI's links first, then whoever else knows, and the reason where nobody does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, NotConfigured, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import FrontendText, NextCall, listed
from entrez_kit.core.model import Warn
from entrez_kit.pubmed.models import BriefSummary
from entrez_kit.pubmed.standing_lookup import look_up_standings
from entrez_kit.relationships.fallback import cited_in_records, from_europepmc, link_of
from entrez_kit.relationships.links import SCORED, SCORES_DEADLINE_MS, Linked, follow
from entrez_kit.relationships.models import Provenance, RelatedArticle, Relation, Snowball
from entrez_kit.services import Services

LINKS_DEADLINE_MS: Final = 20_000
"""How long to wait for links that somebody else has as well."""
QUEUE_FULL: Final = "queue_full"

WORDS: Final[dict[Relation, str]] = {
    "pubmed_similar_articles": "similar articles",
    "pubmed_citedin": "citing articles",
    "pubmed_references": "references",
}


@dataclass(slots=True)
class Around:
    """What is known around an article: articles in order, how many in all, who knew, and what it took to find out."""

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


def not_found(pmid: str) -> EntityNotFound:
    """Return the error for an article that does not exist."""
    return EntityNotFound(
        f"PubMed has no article with {'PMID' if pmid.isdecimal() else 'the id'} {pmid}.",
        invalid_input=pmid,
        recovery_hint=FrontendText(
            *("Check the id; to look for the article call ", NextCall("search_articles", query_term=...), " or "),
            *(NextCall("lookup_citation"), "."),
        ),
        details={"reason": "not_found"},
    )


def look_around(services: Services, relation: Relation, pmid: str, wanted: int) -> Around:
    """Find the articles around one article, wherever they are known.

    Args:
        services: the clients.
        relation: which articles.
        pmid: the article in the middle.
        wanted: how many are of interest; Europe PMC is not asked for more.

    Raises:
        EntityNotFound: there is no such article.
        UpstreamError: nobody who might know answered.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
    """
    around = Around()
    down: EntrezKitError | None = None
    links: list[Linked] = []
    try:
        links = _linked(services, relation, pmid, around)
    except (UpstreamError, RateLimited) as exc:
        if relation == "pubmed_similar_articles" or exc.reason == QUEUE_FULL:
            raise
        down = exc
    if links:
        around.articles, around.total = scored(links), len(links)
        return around
    if down is None:
        around.requests += 1
        around.warnings += describe(services, pmid, ())[1]
    _ask_others(services, relation, pmid, wanted, around, down)
    return around


def _linked(services: Services, relation: Relation, pmid: str, around: Around) -> list[Linked]:
    """Ask NCBI: with scores once and not for long, then without."""
    if relation in SCORED:
        around.requests += 1
        try:
            followed = follow(services, relation, [pmid], scores=True, deadline_ms=SCORES_DEADLINE_MS)
            around.url = followed.url
            return followed.links[pmid]
        except (UpstreamError, RateLimited) as exc:
            if exc.reason == QUEUE_FULL:
                raise
            around.warn(
                "scores_unavailable",
                f"NCBI gave no scores in time, so the articles come without them, in NCBI's order ({exc.message})",
            )
    around.requests += 1
    deadline = LINKS_DEADLINE_MS if has_others(services, relation) else None
    followed = follow(services, relation, [pmid], deadline_ms=deadline)
    around.url = followed.url
    return followed.links[pmid]


def has_others(services: Services, relation: Relation) -> bool:
    """Tell whether somebody else than NCBI knows this relation of every article, and may be asked."""
    return relation != "pubmed_similar_articles" and services.settings.europepmc_enabled


def scored(links: list[Linked]) -> list[RelatedArticle]:
    """Return linked articles with their scores brought to 0..1: the part of the highest one."""
    top = max((link.raw_score or 0 for link in links), default=0)
    return [
        RelatedArticle(
            pmid=link.pmid,
            score=round(link.raw_score / top, 4) if top and link.raw_score is not None else None,
            raw_score=link.raw_score,
        )
        for link in links
    ]


# Where NCBI has no links, or does not answer


def _ask_others(
    services: Services, relation: Relation, pmid: str, wanted: int, around: Around, down: EntrezKitError | None
) -> None:
    """Ask who else may know, one after the other, and say who did or why there is nothing."""

    def from_record() -> tuple[list[RelatedArticle], int, int]:
        articles = cited_in_records(services, [pmid]).get(pmid, [])
        return articles, len(articles), 1

    sources: list[tuple[Provenance, str, Callable[[], tuple[list[RelatedArticle], int, int]]]] = []
    if relation == "pubmed_references":
        sources.append(("pubmed_record", "the PubMed record itself", from_record))
    if relation != "pubmed_similar_articles":
        sources.append(("europepmc", "Europe PMC", lambda: from_europepmc(services, relation, pmid, wanted)))
    because = f"NCBI's links did not answer ({down.message})" if down else "NCBI has no such links"
    failures: list[EntrezKitError] = [down] if down else []
    answered = [] if down else ["NCBI"]
    for provenance, name, ask in sources:
        try:
            articles, total, requests = ask()
        except NotConfigured as exc:
            around.warn("europepmc_disabled", f"Europe PMC was not asked: {exc.message}")
            continue
        except (UpstreamError, RateLimited) as exc:
            around.requests += 1
            failures.append(exc)
            code = "europepmc_failed" if provenance == "europepmc" else "record_failed"
            around.warn(code, f"{name[0].upper()}{name[1:]} did not answer: {exc.message}")
            continue
        around.requests += requests
        answered.append(name)
        if articles:
            around.articles, around.total, around.provenance = articles, total, provenance
            # Somebody knows, so what did not answer before is no gap any more.
            around.warnings = [item for item in around.warnings if item.code != "record_failed"]
            around.warn(f"from_{provenance}", f"{because}; these {WORDS[relation]} of PMID {pmid} come from {name}.")
            return
    if not answered and failures:
        first, *others = failures
        raise first.copy_with(
            f"Nobody who might know the {WORDS[relation]} of PMID {pmid} answered. "
            + " ".join(error.message for error in failures),
            others=[error.reason for error in others],
        )
    if down is not None:
        around.warn("links_incomplete", f"{because}; {_joined(answered)} had no {WORDS[relation]} of PMID {pmid}.")
    around.warn(*_reason(relation, pmid, answered))


def _reason(relation: Relation, pmid: str, answered: list[str]) -> tuple[str, str]:
    """Return why an article that exists has nothing around it."""
    if relation == "pubmed_similar_articles":
        return "no_similar_articles", (
            f"NCBI has no similar articles for PMID {pmid}: it computes them some days after an article enters PubMed, "
            "and not for every kind of record."
        )
    who = _joined(answered)
    if relation == "pubmed_citedin":
        return "no_citing_articles", f"No article that cites PMID {pmid} is known to {who}."
    return "no_references", (
        f"No references of PMID {pmid} are known to {who}: NCBI links them for articles in PMC alone, and this "
        "one's publisher sent no list to PubMed."
    )


def _joined(names: list[str]) -> str:
    *front, last = names
    return f"{', '.join(front)} or {last}" if front else last


# Titles and authors


SHOWN: Final = 10
"""So many PMIDs are named in a message."""
_SAID: Final = ("title", "authors", "source", "pub_date", "doi", "pmcid", "retraction_status", "standing")


def describe(
    services: Services, source: str, articles: Sequence[RelatedArticle]
) -> tuple[list[RelatedArticle], list[Warn]]:
    """Attach brief records to articles. What NCBI does not answer leaves bare PMIDs and a warning, never an error.

    The source goes along in the first request: NCBI makes up links for numbers that never were an article.

    Raises:
        EntityNotFound: there is no such source.
    """
    pmids = [article.pmid for article in articles if article.pmid]
    found = look_up_standings(services, [source, *pmids])
    summaries, failed = found.summaries, found.unknown
    warnings = []
    if source in failed:
        message = f"Whether PMID {source} exists could not be checked: {failed[source].message}"
        warnings.append(Warn(code="source_not_verified", message=message))
    elif source not in summaries:
        raise not_found(source)
    bare = [pmid for pmid in pmids if pmid not in summaries and pmid != source]
    unanswered = [pmid for pmid in bare if pmid in failed]
    unknown = [pmid for pmid in bare if pmid not in failed]
    if unanswered:
        message = f"No titles and no marks of retraction for PMID {listed(unanswered)}: {failed[unanswered[0]].message}"
        warnings.append(Warn(code="summaries_unavailable", message=message, terms=unanswered[SHOWN:] and unanswered))
    if unknown:
        message = f"No title for PMID {listed(unknown)}, because NCBI has no summary."
        warnings.append(Warn(code="summaries_missing", message=message, terms=unknown[SHOWN:] and unknown))
    return [_with_summary(article, summaries.get(article.pmid or "")) for article in articles], warnings


def _with_summary(article: RelatedArticle, summary: BriefSummary | None) -> RelatedArticle:
    """Return the article with NCBI's words in place of anybody else's; what NCBI does not say stays."""
    changes: dict[str, object] = {"link_url": link_of(article)}
    if summary is not None:
        changes |= {name: value for name in _SAID if (value := getattr(summary, name))}
        changes["citation"] = None  # the title is there, so the words of the reference list tell nothing more
    return article.model_copy(update=changes)
