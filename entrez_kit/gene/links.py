"""Follow a gene to the articles NCBI links it to."""

from typing import Final

from pydantic import Field

from entrez_kit.errors import EntityNotFound, RateLimited, UnresolvedEntity, UpstreamError
from entrez_kit.gene.errors import argument_error, not_found, only_gene_codes
from entrez_kit.gene.lookup import GeneRequest, require_plausible
from entrez_kit.gene.models import PubMedLinks
from entrez_kit.model import Warn, past_the_last
from entrez_kit.operation import Operation
from entrez_kit.services import Services
from entrez_kit.services.xml_reply import malformed

LINK_NAME = "gene_pubmed"
MAX_LIMIT: Final = 100_000
MAX_MCP_LIMIT: Final = 100


class PubMedLinksRequest(GeneRequest):
    """Which gene, and how many articles."""

    limit: int = Field(default=10, ge=1, le=MAX_LIMIT, description=f"How many PMIDs to return, 1 to {MAX_LIMIT}.")
    offset: int = Field(default=0, ge=0, description="How many PMIDs to skip.")


def get_pubmed_links(services: Services, request: PubMedLinksRequest) -> PubMedLinks:
    """Get the PMIDs of articles about a gene, as curated by NCBI.

    Use it with an id from search_genes; pass the PMIDs to pubmed_fetch_contents. An empty list: the gene has
    no linked article. Example: entrez_id "NCBIGene:7157".

    Raises:
        UnresolvedEntity: the id is not of the form NCBIGene:<number>; the hint is the call to make instead.
        EntityNotFound: there is no gene with that id.
        UpstreamError: NCBI did not answer, or answered something that is no set of links.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: ELink (gene_pubmed); ESummary tells whether the gene exists.
    """
    number = request.number
    require_plausible(number)
    with only_gene_codes("entrez_id", request.entrez_id):
        from entrez_kit.gene.records import summaries_of

        gene = summaries_of(services, [number]).get(number)
        if gene is None:
            raise not_found(number)
        try:
            pmids = services.eutils.elink(
                ids=[number],
                dbfrom="gene",
                db="pubmed",
                cmd="neighbor",
                linkname=LINK_NAME,
                read=lambda content: parse_links(content, number),
            ).value
        except EntityNotFound as exc:
            raise malformed("elink", f"no links at all of gene {number}, which exists ({exc.message})") from None
    return PubMedLinks(
        entrez_id=f"NCBIGene:{number}",
        replaced_by=gene.replaced_by,
        pmids=pmids[request.offset : request.offset + request.limit],
        total_count=len(pmids),
        warnings=_warnings(request, len(pmids), gene.replaced_by),
    )


def _warnings(request: PubMedLinksRequest, total: int, successor: str | None) -> list[Warn]:
    warnings = []
    if successor:
        message = f"{request.entrez_id} was merged into {successor}: ask for the articles of that one."
        warnings.append(Warn(code="gene_replaced", message=message))
    return warnings + past_the_last(request.offset, total, "articles")


def parse_links(content: bytes, number: str) -> list[str]:
    """Return the PMIDs of an ELink reply about one gene, each once, in NCBI's order.

    Raises:
        UpstreamError: the reply is not an ELink result, is about another record, or reports a failure.
    """
    from entrez_kit.services.elink_reply import links_by_source, not_followed

    found, errors = links_by_source(
        content, lambda link: link.link_name in (LINK_NAME, "") and link.db_to in ("pubmed", "") and link.is_number
    )
    if errors:
        raise not_followed(errors[0])
    if found.keys() != {number}:
        named = ", ".join(sorted(found)[:3]) or "nothing"
        raise malformed("elink", f"links of {named} where those of {number} were due")
    return list(dict.fromkeys(link.id for link in found[number]))


GET_PUBMED_LINKS = Operation(
    name="get_pubmed_links",
    function=get_pubmed_links,
    command=("gene", "pubmed"),
    toolset="gene",
    title="Find articles about a gene",
    errors=(UnresolvedEntity, EntityNotFound, UpstreamError, RateLimited),
    argument_error=argument_error("get_pubmed_links"),
    mcp_caps={"limit": MAX_MCP_LIMIT},
)
