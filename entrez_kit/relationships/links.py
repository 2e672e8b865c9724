"""ELink between PubMed articles: request one kind of link, and read only that kind from the reply."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.relationships.related_documents import Relation
from entrez_kit.services import Services
from entrez_kit.services.elink_reply import group_links_by_source, not_followed_error

LINK_NAMES: Final[dict[Relation, str]] = {
    "pubmed_similar_articles": "pubmed_pubmed",
    "pubmed_citedin": "pubmed_pubmed_citedin",
    "pubmed_references": "pubmed_pubmed_refs",
}
"""The name of each kind of link. A reply may contain several kinds even if the request names one."""

SCORED: Final[frozenset[Relation]] = frozenset({"pubmed_similar_articles"})
"""Relations that have scores. For citing and cited articles neighbor_score returns the article's own PMID as every
score, so these are requested without scores."""

SCORES_DEADLINE_MS: Final = 10_000
"""The time limit of scores: those of much-cited articles may take minutes or time out. Links without scores do not."""


class LinkedArticle(NamedTuple):
    """One linked article, and NCBI's score if it has one. The scale differs from request to request."""

    pmid: str
    raw_score: int | None = None


class FetchedLinks(NamedTuple):
    """The links of each source article; an article that NCBI's reply omits has no entry."""

    links: dict[str, list[LinkedArticle]]
    url: str | None = None


def fetch_links(
    services: Services,
    relation: Relation,
    pmids: Sequence[str],
    *,
    scores: bool = False,
    deadline_ms: int | None = None,
) -> FetchedLinks:
    """Return the links of articles, in NCBI's order, in one request.

    Args:
        relation: which kind of link.
        pmids: the articles to start from. Each has a separate id parameter, so NCBI returns its links separately.
        scores: whether to request scores.
        deadline_ms: time limit of the request, with waiting and retries.

    Raises:
        UpstreamError: NCBI did not answer, or the reply does not assign the links to source articles.
        RateLimited: NCBI refused, or no slot is free before the deadline.
    """
    total = services.settings.ncbi_total_deadline_ms
    try:
        reply = services.eutils.elink(
            dbfrom="pubmed",
            db="pubmed",
            ids=pmids,
            cmd="neighbor_score" if scores else "neighbor",
            linkname=LINK_NAMES[relation],
            deadline_ms=None if deadline_ms is None else min(deadline_ms, total),
            read=lambda content: read_links(content, relation, pmids),
            keep=lambda links: links.keys() >= set(pmids),
        )
    except EntityNotFound:  # none of the articles exists; the summaries report this
        return FetchedLinks({pmid: [] for pmid in pmids})
    return FetchedLinks(reply.value, reply.url)


def read_links(content: bytes, relation: Relation, pmids: Collection[str]) -> dict[str, list[LinkedArticle]]:
    """Read the links of one kind from an ELink reply: each link once, and no link from an article to itself.

    Raises:
        UpstreamError: the reply is not an ELink result, reports a failure, merges the links of several articles, or
            contains none of the articles.
    """
    name, scored = LINK_NAMES[relation], relation in SCORED
    links, errors = group_links_by_source(
        content, pmids, lambda link: link.link_name == name and link.db_to in ("", "pubmed") and link.has_target
    )
    links_of_source = {
        source: [LinkedArticle(link.id, link.score if scored else None) for link in own_links if link.id != source]
        for source, own_links in links.items()
    }
    if errors and not links_of_source:
        raise not_followed_error(errors[0])
    if not links_of_source and pmids:
        raise UpstreamError(
            f"NCBI's ELink reply does not contain PMID {min(pmids)}.",
            details={"reason": "incomplete", "endpoint": "elink"},
        )
    return links_of_source
