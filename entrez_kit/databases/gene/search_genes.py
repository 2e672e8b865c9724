"""Search genes: three searches without overlap form one list, whose pages never repeat or omit a gene."""

from functools import partial

from entrez_kit.base.errors import AmbiguousQuery, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import RETRY_WITHOUT_CACHE, FrontendText, format_count, join_names
from entrez_kit.core.model import Warn, incomplete_error
from entrez_kit.core.operation import AgentOptions, DocumentOperation
from entrez_kit.core.query_input import NO_BROADER_RESULTS
from entrez_kit.databases.gene.gene_candidates import build_candidate
from entrez_kit.databases.gene.gene_errors import argument_error, only_gene_codes
from entrez_kit.databases.gene.gene_listing import GeneListing, run_searches, warn_of_other_organisms
from entrez_kit.databases.gene.gene_query import GeneQuery
from entrez_kit.databases.gene.gene_records import fetch_summaries
from entrez_kit.databases.gene.models import GenePage, Pagination
from entrez_kit.databases.gene.organisms import find_organism
from entrez_kit.databases.gene.search_request import SearchGenesRequest, encode_cursor
from entrez_kit.services import Services


def search_genes(services: Services, request: SearchGenesRequest) -> GenePage:
    """Find genes by symbol, alias, name or words: ranked candidates with their NCBIGene ids.

    Use it if you have no id for get_gene or get_pubmed_links, e.g. query "TP53", organism "human".

    Raises:
        AmbiguousQuery: the query is too short or invalid, the organism is unknown, or the cursor is invalid.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: ESearch and ESummary (db=gene); ESearch (db=taxonomy) for organisms without a built-in name.
    """
    with only_gene_codes("organism", request.organism):
        organism = find_organism(services, request.organism) if request.organism else None
    taxid = organism.taxid if organism is not None else None
    with only_gene_codes("query", request.query):
        query = GeneQuery.of(request.query, taxid=taxid, current_only=not request.include_discontinued)
    listing = GeneListing(services, request)
    if organism is not None and organism.corrected:
        message = f"NCBI Taxonomy has no organism {request.organism!r}; the search is for {organism.corrected}."
        listing.warnings.append(Warn(code="organism_corrected", message=message))
    with only_gene_codes("query", request.query):
        run_searches(listing, query)
        totals = listing.totals
        if not listing.total and totals["broader_total"] is None and taxid is not None:
            listing.warnings += warn_of_other_organisms(listing, request)

        genes = fetch_summaries(services, [*listing.hits])
    items = [
        build_candidate(genes[number], *hit, query.text) for number, hit in listing.hits.items() if number in genes
    ]
    end = request.offset + len(listing.hits)
    page = GenePage(
        query_broadened=totals["query_broadened"],
        strict_total=totals["strict_total"],
        broader_total=totals["broader_total"],
        items=items,
        pagination=Pagination(
            cursor=encode_cursor(end) if listing.hits and end < listing.total else None,
            total_count=totals["total_found"],
            page_size=request.page_size,
        ),
        warnings=listing.warnings,
    )
    missing = [f"NCBIGene:{number}" for number in listing.hits if number not in genes]
    named = (
        f"NCBI returned no summary of {', '.join(missing[:10])}; the page lacks {format_count(len(missing), 'gene')}."
    )
    error = incomplete_error(missing, named, partial=bool(items), hint=FrontendText(RETRY_WITHOUT_CACHE, "."))
    if error is not None:
        if not items:
            raise error
        page.set_missing_error(error)
        message = f"NCBI returned no summary of {join_names(missing)}."
        page.warnings.append(Warn(code="summaries_missing", message=message))
    return page


SEARCH_GENES = DocumentOperation(
    name="search_genes",
    request=SearchGenesRequest,
    result=GenePage,
    function=search_genes,
    command=("gene", "search"),
    toolset="gene",
    title="Search genes",
    errors=(AmbiguousQuery, UpstreamError, RateLimited),
    argument_error=partial(argument_error, "search_genes"),
    agents=AgentOptions(
        portions=("items",),
        next_page="pagination.cursor",
        defaults=NO_BROADER_RESULTS,
    ),
)
