"""Follow a gene to the articles NCBI links it to."""

from pydantic import Field

from entrez_kit.errors import EntityNotFound, RateLimited, UnresolvedEntity, UpstreamError
from entrez_kit.gene.errors import argument_error, not_found, only_gene_codes
from entrez_kit.gene.lookup import GeneRequest, require_plausible
from entrez_kit.gene.models import PubMedLinks
from entrez_kit.gene.summaries import exists
from entrez_kit.operation import Operation
from entrez_kit.services import Services
from entrez_kit.xml_reply import malformed, parse_reply, text_of

LINK_NAME = "gene_pubmed"


class PubMedLinksRequest(GeneRequest):
    """Which gene, and how many articles."""

    limit: int = Field(default=10, ge=1, le=100, description="How many PMIDs to return, 1 to 100.")


def get_pubmed_links(services: Services, request: PubMedLinksRequest) -> PubMedLinks:
    """Get the PMIDs of articles about a gene, as curated by NCBI.

    Use it with an id from search_genes; pass the PMIDs to pubmed_fetch_contents to read the articles. An empty list
    means that the gene exists and has no linked article. Example: entrez_id "NCBIGene:7157", limit 20.

    Args:
        services: the clients.
        request: the gene's id and the number of articles.

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
        if not exists(services, number):
            raise not_found(number)
        try:
            content = services.eutils.elink(
                ids=[number], dbfrom="gene", db="pubmed", cmd="neighbor", linkname=LINK_NAME
            ).content
        except EntityNotFound:  # the gene exists, so this only says that nothing is linked
            pmids: list[str] = []
        else:
            pmids = parse_links(content, number)
    return PubMedLinks(entrez_id=f"NCBIGene:{number}", pmids=pmids[: request.limit], total_count=len(pmids))


def parse_links(content: bytes, number: str) -> list[str]:
    """Return the PMIDs of an ELink reply about one gene, each once, in NCBI's order.

    Raises:
        UpstreamError: the reply is not an ELink result, is about another record, or reports a failure.
    """
    root = parse_reply(content, "elink", "eLinkResult")
    for error in root.iter("ERROR"):
        if (error.text or "").strip():
            raise UpstreamError(
                f"NCBI could not follow the links: {error.text.strip()}",
                details={"reason": "backend_error", "endpoint": "elink"},
            )
    found: dict[str, None] = {}
    for linkset in root.iterfind("LinkSet"):
        sources = [(source.text or "").strip() for source in linkset.iterfind("IdList/Id")]
        if sources and sources != [number]:
            raise malformed("elink", f"links of {', '.join(sources[:3])} where those of {number} were due")
        for group in linkset.iterfind("LinkSetDb"):
            if text_of(group, "LinkName") in (LINK_NAME, None) and text_of(group, "DbTo") in ("pubmed", None):
                found |= dict.fromkeys(pmid for link in group.iterfind("Link") if (pmid := text_of(link, "Id") or ""))
    return [pmid for pmid in found if pmid.isascii() and pmid.isdigit() and int(pmid)]


GET_PUBMED_LINKS = Operation(
    name="get_pubmed_links",
    function=get_pubmed_links,
    request=PubMedLinksRequest,
    result=PubMedLinks,
    method="get_pubmed_links",
    command=("gene", "pubmed"),
    toolset="gene",
    title="Find articles about a gene",
    errors=(UnresolvedEntity, EntityNotFound, UpstreamError, RateLimited),
    argument_error=argument_error("get_pubmed_links"),
)
