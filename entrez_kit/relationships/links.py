"""ELink between PubMed articles: ask for one kind of link, and read nothing but that kind out of the reply."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.relationships.models import Relation
from entrez_kit.services import Services
from entrez_kit.services.elink_reply import links_by_source, not_followed

LINK_NAMES: Final[dict[Relation, str]] = {
    "pubmed_similar_articles": "pubmed_pubmed",
    "pubmed_citedin": "pubmed_pubmed_citedin",
    "pubmed_references": "pubmed_pubmed_refs",
}
"""NCBI answers with several kinds of link side by side, also where one was asked for."""

SCORED: Final[frozenset[Relation]] = frozenset({"pubmed_similar_articles"})
"""Relations that have scores. What neighbor_score gives for citing and cited articles is the number of the article
itself, over and over, so they are not asked for with scores."""

SCORES_DEADLINE_MS: Final = 10_000
"""The scores of famous articles may take minutes or never come; the links themselves do."""


class Linked(NamedTuple):
    """One linked article, and NCBI's score where there is one (on no fixed scale)."""

    pmid: str
    raw_score: int | None = None


class Followed(NamedTuple):
    """Links by the article they start from; an article that NCBI left out of its answer is not among them."""

    links: dict[str, list[Linked]]
    url: str | None = None


def follow(
    services: Services,
    relation: Relation,
    pmids: Sequence[str],
    *,
    scores: bool = False,
    deadline_ms: int | None = None,
) -> Followed:
    """Return the links of articles, in NCBI's order, in one request.

    Args:
        services: the clients.
        relation: which kind of link.
        pmids: the articles to start from; each is sent in an id parameter of its own, so that it has its own links.
        scores: whether to ask for scores.
        deadline_ms: limit of the request, queueing and attempts included.

    Raises:
        UpstreamError: no answer after every attempt, or one that does not say what links to what.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
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
    except EntityNotFound:  # none of the articles exists, which the summaries will say
        return Followed({pmid: [] for pmid in pmids})
    return Followed(reply.value, reply.url)


def read_links(content: bytes, relation: Relation, pmids: Collection[str]) -> dict[str, list[Linked]]:
    """Read the links of one kind out of an ELink reply: each once, without the article itself.

    Raises:
        UpstreamError: the reply is no ELink result, reports a failure, merges the links of several articles, or
            mentions none of the articles.
    """
    name, scored = LINK_NAMES[relation], relation in SCORED
    links, errors = links_by_source(
        content, pmids, lambda link: link.link_name == name and link.db_to in ("", "pubmed") and link.has_target
    )
    found = {
        source: [Linked(link.id, link.score if scored else None) for link in own if link.id != source]
        for source, own in links.items()
    }
    if errors and not found:
        raise not_followed(errors[0])
    if not found and pmids:
        raise UpstreamError(
            f"NCBI left PMID {min(pmids)} out of its answer about links.",
            details={"reason": "incomplete", "endpoint": "elink"},
        )
    return found
