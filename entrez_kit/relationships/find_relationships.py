"""RELATIONSHIPS: similar, citing and cited articles, the network around an article, or the article as a citation."""

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, NotConfigured, RateLimited, UpstreamError
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.core.operation import Operation
from entrez_kit.relationships.models import (
    MAX_MCP_BUDGET,
    MAX_MCP_DEPTH,
    MAX_MCP_RESULTS,
    Relation,
    RelationshipsRequest,
    RelationshipsResult,
)
from entrez_kit.services import Services


def article_relationships(services: Services, request: RelationshipsRequest) -> RelationshipsResult:
    """Find articles similar to, citing or cited by one PubMed article, or write it as a citation.

    Use it to widen a search from a good article. Example: source_pmid "99000004", relationship_type "pubmed_citedin".

    Raises:
        EntityNotFound: there is no such article.
        UpstreamError: nobody who might know answered.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        NotConfigured: a citation style needs something that is not installed.

    Source: ELink (neighbor_score, neighbor), ESummary; EFetch for reference lists and citations; Europe PMC; PMC ID
    Converter for a PMCID or DOI.
    """
    from entrez_kit.relationships.around import describe, look_around
    from entrez_kit.relationships.snowball import roll

    request = _with_pmid(services, request)
    if request.relationship_type == "citation_formats":
        return _citations(services, request)
    relation: Relation = request.relationship_type
    pmid, limit = request.source_pmid, request.max_related_results
    snowball = request.depth > 1
    around = roll(services, relation, request) if snowball else look_around(services, relation, pmid, limit)
    articles, warnings = describe(services, pmid, around.articles[:limit])
    return RelationshipsResult(
        source_pmid=pmid,
        relationship_type=request.relationship_type,
        related_articles=articles,
        retrieved_count=len(articles),
        total_found=around.total,
        provenance=around.provenance,
        snowball=around.snowball,
        elink_url=around.url,
        warnings=list({(one.code, one.message): one for one in [*around.warnings, *warnings]}.values()),
    )


def _with_pmid(services: Services, request: RelationshipsRequest) -> RelationshipsRequest:
    """Return the request with a PMID where it has a PMCID or a DOI."""
    identifier = read_identifier(request.source_pmid)
    if identifier is None or identifier.kind == "pmid":
        return request
    from entrez_kit.pubmed.record_fetcher import Retrieval
    from entrez_kit.pubmed.resolution import resolve
    from entrez_kit.relationships.around import not_found

    pmid = resolve(services, [identifier], Retrieval(services, medline=False).records_of)[identifier.value]
    if isinstance(pmid, EntrezKitError):
        raise pmid
    if pmid is None:
        raise not_found(identifier.value)
    return request.model_copy(update={"source_pmid": pmid})


def _citations(services: Services, request: RelationshipsRequest) -> RelationshipsResult:
    """Write the article in every style that was asked for."""
    from entrez_kit.citations.format_citations import format_articles
    from entrez_kit.pubmed.record_fetcher import Retrieval
    from entrez_kit.relationships.around import not_found

    retrieval = Retrieval.of_ids(services, [request.source_pmid])
    fetched = list(retrieval)
    retrieval.raise_if_nothing_answered()
    record = fetched[0].record
    if record is None:
        raise not_found(request.source_pmid)
    return RelationshipsResult(
        source_pmid=request.source_pmid,
        relationship_type=request.relationship_type,
        citations=format_articles([record.article()], request.citation_styles)[0],
        retrieved_count=0,
        total_found=0,
    )


RELATIONSHIPS = Operation(
    name="pubmed_article_relationships",
    function=article_relationships,
    command=("related",),
    toolset="pubmed",
    title="Find related articles",
    errors=(EntityNotFound, UpstreamError, RateLimited, NotConfigured),
    aliases=("getArticleRelationships",),
    portions=("related_articles", "citations"),
    mcp_caps={"max_related_results": MAX_MCP_RESULTS, "depth": MAX_MCP_DEPTH, "budget": MAX_MCP_BUDGET},
)
