"""RELATIONSHIPS: similar, citing and cited articles, the network around an article, or its citation in a style."""

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, NotConfigured, RateLimited, UpstreamError
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.core.operation import AgentOptions, DocumentOperation
from entrez_kit.pubmed.record_batches import RecordBatches
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.pubmed.resolution import resolve
from entrez_kit.relationships.related_articles import add_registrations, describe, find_related, not_found_error
from entrez_kit.relationships.related_documents import (
    MAX_MCP_BUDGET,
    MAX_MCP_DEPTH,
    MAX_MCP_RESULTS,
    Relation,
    RelationshipsRequest,
    RelationshipsResult,
)
from entrez_kit.relationships.snowball import collect_network
from entrez_kit.services import Services


def article_relationships(services: Services, request: RelationshipsRequest) -> RelationshipsResult:
    """Find articles similar to, citing or cited by one PubMed article, or format it as a citation.

    Use it to widen a search, e.g. source_pmid "99000004", relationship_type "citedin".

    Raises:
        EntityNotFound: the article does not exist.
        UpstreamError: no source answered.
        RateLimited: NCBI refused, or no slot is free before the deadline.
        NotConfigured: a citation style needs a package that is not installed.

    Source: ELink (neighbor_score, neighbor), ESummary; EFetch for reference lists and citations; Europe PMC; PMC ID
    Converter for a PMCID or DOI.
    """
    request = _resolve_pmid(services, request)
    if request.relationship_type == "citation_formats":
        return _format_citations(services, request)
    relation: Relation = request.relationship_type
    pmid, limit = request.source_pmid, request.max_related_results
    if request.depth > 1:
        related = collect_network(services, relation, request)
    else:
        related = find_related(services, relation, pmid, limit)
    articles, warnings = describe(services, pmid, related.articles[:limit])
    if request.registrations:
        articles, unread = add_registrations(services, articles)
        warnings += unread
    return RelationshipsResult(
        source_pmid=pmid,
        relationship_type=request.relationship_type,
        related_articles=articles,
        retrieved_count=len(articles),
        total_found=related.total,
        provenance=related.provenance,
        snowball=related.snowball,
        elink_url=related.url,
        warnings=list(
            {(warning.code, warning.message): warning for warning in [*related.warnings, *warnings]}.values()
        ),
    )


def _resolve_pmid(services: Services, request: RelationshipsRequest) -> RelationshipsRequest:
    """Return the request with the PMID of its PMCID or DOI."""
    identifier = read_identifier(request.source_pmid)
    if identifier is None or identifier.kind == "pmid":
        return request

    pmid = resolve(services, [identifier], RecordBatches(services).fetch_by_pmid)[identifier.value]
    if isinstance(pmid, EntrezKitError):
        raise pmid
    if pmid is None:
        raise not_found_error(identifier.value)
    return request.model_copy(update={"source_pmid": pmid})


def _format_citations(services: Services, request: RelationshipsRequest) -> RelationshipsResult:
    """Format the article in every requested style."""
    from entrez_kit.citations.format_citations import format_articles

    retrieval = Retrieval.of_ids(services, [request.source_pmid])
    fetched = list(retrieval)
    retrieval.raise_if_nothing_answered()
    record = fetched[0].record
    if record is None:
        raise not_found_error(request.source_pmid)
    return RelationshipsResult(
        source_pmid=request.source_pmid,
        relationship_type=request.relationship_type,
        citations=format_articles([record.article()], request.citation_styles)[0],
        retrieved_count=0,
        total_found=0,
    )


RELATIONSHIPS = DocumentOperation(
    name="pubmed_article_relationships",
    request=RelationshipsRequest,
    result=RelationshipsResult,
    function=article_relationships,
    command=("related",),
    toolset="pubmed",
    title="Find related articles",
    errors=(EntityNotFound, UpstreamError, RateLimited, NotConfigured),
    aliases=("getArticleRelationships",),
    agents=AgentOptions(
        portions=("related_articles", "citations"),
        caps={"max_related_results": MAX_MCP_RESULTS, "depth": MAX_MCP_DEPTH, "budget": MAX_MCP_BUDGET},
    ),
)
