"""Look up genes by their ids: their records, and the articles that NCBI links to them."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar, Final

from pydantic import Field

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, RateLimited, UnresolvedEntity, UpstreamError
from entrez_kit.base.frontend_text import FrontendText, NextCall, format_count, join_names
from entrez_kit.core.model import Request, Warn, Warned, omit_if_empty, warn_past_the_last
from entrez_kit.core.operation import AgentOptions, DocumentOperation, Several
from entrez_kit.core.outcomes import build_missing_error
from entrez_kit.core.per_input import PerInputOutcome, take_several
from entrez_kit.databases.gene.gene_errors import FORM, argument_error, not_found_error, only_gene_codes
from entrez_kit.databases.gene.gene_records import fetch_summaries, parse_genes
from entrez_kit.databases.gene.models import CURIE_PATTERN, Gene, PubMedLinks, SuccessorGene, SuccessorLinks
from entrez_kit.services import Services
from entrez_kit.services.elink_reply import group_links_by_source, not_followed_error
from entrez_kit.services.small_replies import malformed_error

MAX_DIGITS: Final = 10
"""The most digits of a gene id, which is a 32-bit number. NCBI fails on longer numbers, so these are not sent."""
LINK_NAME: Final = "gene_pubmed"
MAX_LIMIT: Final = 100_000
MAX_MCP_LIMIT: Final = 100
MAX_MCP_IDS: Final = 20


class GeneRequest(Request):
    """Base class of the requests for one gene, which accept only its id."""

    entrez_id: str = Field(pattern=CURIE_PATTERN, description="Gene id, e.g. NCBIGene:7157.")

    def number(self) -> str:
        """Return the id without its prefix.

        Raises:
            EntityNotFound: the number is zero or too long to be the id of a gene.
        """
        number = self.entrez_id.removeprefix("NCBIGene:").lstrip("0") or "0"
        if number == "0" or len(number) > MAX_DIGITS:
            raise not_found_error(number)
        return number


class GetGeneRequest(GeneRequest):
    """The gene, and whether to return only its main fields."""

    slim: bool = Field(default=False, description="Only id, symbol, name and organism.")


def get_gene(services: Services, request: GetGeneRequest) -> Gene:
    """Get genes: names, summary, location, aliases, status, and ids in other databases.

    Use it with ids from search_genes, e.g. entrez_id "NCBIGene:7157". A merged gene has a `successor`.

    Raises:
        UnresolvedEntity: the id is not of the form NCBIGene:<number>; the hint is the call to make instead.
        EntityNotFound: no gene has that id.
        UpstreamError: NCBI did not answer, or the reply is not a gene record.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: EFetch (db=gene, XML).
    """
    gene = _fetch_gene(services, request.number())
    successor, warnings = _find_successor(services, gene, _fetch_gene)
    shown_gene = gene.slim() if request.slim else gene
    if successor is not None:
        shown_successor = successor.slim() if request.slim else successor
        fields = {name: getattr(shown_successor, name) for name in shown_successor.model_fields_set}
        shown_gene = shown_gene.model_copy(update={"successor": SuccessorGene(**fields)})
    return shown_gene.model_copy(update={"warnings": warnings}) if warnings else shown_gene


def _fetch_gene(services: Services, number: str) -> Gene:
    with only_gene_codes("entrez_id", f"NCBIGene:{number}"):
        try:
            return services.eutils.efetch(
                db="gene", ids=[number], retmode="xml", read=lambda content: _read_gene(content, number)
            ).value
        except EntityNotFound:
            raise not_found_error(number) from None
        except UpstreamError as exc:
            if exc.reason != "incomplete" or services.eutils.known_uids("gene", [number]):
                raise
            raise not_found_error(number) from None


def _find_successor(
    services: Services, gene: Gene, fetch: Callable[[Services, str], Gene]
) -> tuple[Gene | None, list[Warn]]:
    """Return the gene that a merged record leads to, over several merges; a failure becomes a warning."""
    seen, last = {gene.id}, gene
    try:
        while last.replaced_by is not None and last.replaced_by not in seen:
            seen.add(last.replaced_by)
            last = fetch(services, last.replaced_by.removeprefix("NCBIGene:"))
    except (EntityNotFound, UpstreamError, RateLimited) as exc:
        return None, [_warn_of_successor(last.replaced_by, exc)]
    return (None if last is gene else last), []


def _warn_of_successor(curie: str | None, exc: EntrezKitError) -> Warn:
    return Warn(code="successor_missing", message=f"The successor {curie} is missing: {exc.message}")


def _read_gene(content: bytes, number: str) -> Gene:
    """Return the requested gene.

    Raises:
        UpstreamError: the reply has another gene, or (reason ``incomplete``) no gene.
    """
    genes = parse_genes(content)
    requested_gene = next((gene for gene in genes if gene.id == f"NCBIGene:{number}"), None)
    if requested_gene is not None:
        return requested_gene
    if genes:
        raise malformed_error("efetch", f"it has {genes[0].id} instead of gene {number}")
    raise UpstreamError(
        f"NCBI returned no record of gene {number}.", details={"reason": "incomplete", "endpoint": "efetch"}
    )


class GeneBatch(Warned):
    """Genes in the order of the inputs; ``outcomes`` is present if a gene is missing."""

    RECORDS: ClassVar = "genes"

    genes: list[Gene]
    outcomes: list[PerInputOutcome] = omit_if_empty([])


def _build_missing_error(missing: list[PerInputOutcome], found_count: int) -> EntrezKitError | None:
    named = join_names(outcome.input for outcome in missing)
    total = format_count(len(missing) + found_count, "id")
    first = FrontendText("Call ", NextCall("search_genes"), f" to resolve the identifiers first. {FORM}")
    check = FrontendText(
        "Verify the NCBIGene IDs or use ", NextCall("search_genes"), " to find the correct identifiers."
    )
    return build_missing_error(
        missing,
        found_count,
        "input",
        unanswered=f"NCBI did not answer for all genes; missing: {named}.",
        invalid=(UnresolvedEntity, f"Invalid NCBIGene CURIEs: {named}.", first, "not_a_curie"),
        unknown=(f"NCBI Gene has no gene for {len(missing):,} of {total}: {named}.", check),
    )


GET_GENE = DocumentOperation(
    name="get_gene",
    request=GetGeneRequest,
    result=Gene,
    function=get_gene,
    command=("gene", "get"),
    toolset="gene",
    title="Look up a gene",
    errors=(UnresolvedEntity, EntityNotFound, UpstreamError, RateLimited),
    argument_error=partial(argument_error, "get_gene"),
    agents=AgentOptions(
        as_markdown=True,
        several=Several("entrez_id", "entrez_ids", MAX_MCP_IDS, GeneBatch, _build_missing_error),
    ),
)
GET_GENES = take_several(GET_GENE, "entrez_id", GeneBatch, _build_missing_error)
"""The terminal's operation for several ids. It is not in the catalogue; agents give get_gene a list."""


# Articles


class PubMedLinksRequest(GeneRequest):
    """The gene, and the page of its articles."""

    limit: int = Field(default=10, ge=1, le=MAX_LIMIT, description="PMIDs to return.")
    offset: int = Field(default=0, ge=0, description="PMIDs to skip.")


def get_pubmed_links(services: Services, request: PubMedLinksRequest) -> PubMedLinks:
    """Get the PMIDs of articles about genes, as curated by NCBI; an empty list means none.

    Use it with ids from search_genes, e.g. entrez_id "NCBIGene:7157".

    Raises:
        UnresolvedEntity: the id is not of the form NCBIGene:<number>; the hint is the call to make instead.
        EntityNotFound: no gene has that id.
        UpstreamError: NCBI did not answer, or the reply is not a set of links.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: ELink (gene_pubmed); ESummary to check that the gene exists.
    """
    number = request.number()
    page = slice(request.offset, request.offset + request.limit)
    with only_gene_codes("entrez_id", request.entrez_id):
        gene = _fetch_summary(services, number)
        pmids = _fetch_links(services, number)
        successor, warnings = _find_successor_links(services, gene, page)
    if gene.replaced_by:
        message = f"{request.entrez_id} was merged into {gene.replaced_by}. Use that id for all articles."
        warnings.insert(0, Warn(code="gene_replaced", message=message))
    return PubMedLinks(
        entrez_id=f"NCBIGene:{number}",
        replaced_by=gene.replaced_by,
        pmids=pmids[page],
        total_count=len(pmids),
        warnings=warnings + warn_past_the_last(request.offset, len(pmids), "article"),
        successor=successor,
    )


def _fetch_summary(services: Services, number: str) -> Gene:
    gene = fetch_summaries(services, [number]).get(number)
    if gene is None:
        raise not_found_error(number)
    return gene


def _fetch_links(services: Services, number: str) -> list[str]:
    try:
        return services.eutils.elink(
            ids=[number],
            dbfrom="gene",
            db="pubmed",
            cmd="neighbor",
            linkname=LINK_NAME,
            read=lambda content: parse_links(content, number),
        ).value
    except EntityNotFound as exc:
        raise malformed_error("elink", f"it has no link set of gene {number}, which exists ({exc.message})") from None


def _find_successor_links(services: Services, gene: Gene, page: slice) -> tuple[SuccessorLinks | None, list[Warn]]:
    """Return the articles of the gene that a merged record leads to; a failure becomes a warning."""
    last, warnings = _find_successor(services, gene, _fetch_summary)
    if last is None:
        return None, warnings
    try:
        pmids = _fetch_links(services, last.id.removeprefix("NCBIGene:"))
    except (UpstreamError, RateLimited) as exc:
        return None, [_warn_of_successor(last.id, exc)]
    return SuccessorLinks(entrez_id=last.id, pmids=pmids[page], total_count=len(pmids)), []


def parse_links(content: bytes, number: str) -> list[str]:
    """Return the PMIDs of an ELink reply about one gene, each once, in NCBI's order.

    Raises:
        UpstreamError: the reply is not an ELink result, is about another record, or reports a failure.
    """
    by_source, errors = group_links_by_source(
        content,
        [number],
        lambda link: link.link_name in (LINK_NAME, "") and link.db_to in ("pubmed", "") and link.has_target,
    )
    if errors:
        raise not_followed_error(errors[0])
    if not by_source:
        raise malformed_error("elink", f"it has no links of {number}")
    return list(dict.fromkeys(link.id for link in by_source[number]))


class PubMedLinksBatch(Warned):
    """The articles of each gene, in the order of the inputs; ``outcomes`` is present if a gene is missing."""

    RECORDS: ClassVar = "results"

    results: list[PubMedLinks]
    outcomes: list[PerInputOutcome] = omit_if_empty([])


GET_PUBMED_LINKS = DocumentOperation(
    name="get_pubmed_links",
    request=PubMedLinksRequest,
    result=PubMedLinks,
    function=get_pubmed_links,
    command=("gene", "pubmed"),
    toolset="gene",
    title="Find articles about a gene",
    errors=(UnresolvedEntity, EntityNotFound, UpstreamError, RateLimited),
    argument_error=partial(argument_error, "get_pubmed_links"),
    agents=AgentOptions(
        caps={"limit": MAX_MCP_LIMIT},
        several=Several("entrez_id", "entrez_ids", MAX_MCP_IDS, PubMedLinksBatch, _build_missing_error),
    ),
)
