"""Look up genes by their ids."""

from typing import ClassVar

from pydantic import Field

from entrez_kit.each import EachOutcome, each
from entrez_kit.errors import EntityNotFound, EntrezKitError, RateLimited, UnresolvedEntity, UpstreamError
from entrez_kit.gene.errors import FORM, MAX_DIGITS, argument_error, not_found, only_gene_codes, read_gene_id
from entrez_kit.gene.models import CURIE_PATTERN, Gene
from entrez_kit.model import Request, Warned, sparse
from entrez_kit.operation import Operation, shortfall_of
from entrez_kit.services import Services
from entrez_kit.services.xml_reply import malformed
from entrez_kit.wording import NextCall, Wording, listed

ID_HELP = "Gene id, e.g. NCBIGene:7157."


class GeneRequest(Request):
    """Base of the strict tools: one gene, named by its id and by nothing else."""

    entrez_id: str = Field(pattern=CURIE_PATTERN, description=ID_HELP)

    @property
    def number(self) -> str:
        """The id without its prefix."""
        number = read_gene_id(self.entrez_id)
        assert number is not None, "the pattern is that of an id"
        return number


class GetGeneRequest(GeneRequest):
    """Which gene, and how much of it."""

    slim: bool = Field(default=False, description="Only id, symbol, name and organism.")


def get_gene(services: Services, request: GetGeneRequest) -> Gene:
    """Get one gene: names, summary, location, aliases, status, and its ids in other databases.

    Use it with an id from search_genes, e.g. entrez_id "NCBIGene:7157". A merged record has status "replaced": call
    get_gene with `replaced_by`. For articles call get_pubmed_links.

    Raises:
        UnresolvedEntity: the id is not of the form NCBIGene:<number>; the hint is the call to make instead.
        EntityNotFound: there is no gene with that id.
        UpstreamError: NCBI did not answer, or answered something that is no gene record.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: EFetch (db=gene, XML).
    """
    gene = fetch_gene(services, request.number)
    return gene.slim() if request.slim else gene


def fetch_gene(services: Services, number: str) -> Gene:
    """Fetch the record of one gene.

    Raises:
        EntityNotFound: there is no such gene.
        UpstreamError: NCBI did not answer, or answered something that is no gene record.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
    """
    require_plausible(number)
    with only_gene_codes("entrez_id", f"NCBIGene:{number}"):
        try:
            return services.eutils.efetch(
                db="gene", ids=[number], retmode="xml", read=lambda content: _own(content, number)
            ).value
        except EntityNotFound:
            raise not_found(number) from None
        except UpstreamError as exc:
            if exc.reason != "incomplete" or services.eutils.known_uids("gene", [number]):
                raise
            raise not_found(number) from None


def _own(content: bytes, number: str) -> Gene:
    """Return the gene that was asked for.

    Raises:
        UpstreamError: the reply is about another gene, or (reason ``incomplete``) about none.
    """
    from entrez_kit.gene.records import parse_genes

    genes = parse_genes(content)
    own = next((gene for gene in genes if gene.id == f"NCBIGene:{number}"), None)
    if own is not None:
        return own
    if genes:
        raise malformed("efetch", f"{genes[0].id} where gene {number} was due")
    raise UpstreamError(
        f"NCBI sent no record of gene {number}.", details={"reason": "incomplete", "endpoint": "efetch"}
    )


def require_plausible(number: str) -> None:
    """Refuse numbers that cannot be gene ids without asking NCBI, which chokes on them.

    Raises:
        EntityNotFound: the number is zero or too long.
    """
    if number == "0" or len(number) > MAX_DIGITS:
        raise not_found(number)


GET_GENE = Operation(
    name="get_gene",
    function=get_gene,
    command=("gene", "get"),
    toolset="gene",
    title="Look up a gene",
    errors=(UnresolvedEntity, EntityNotFound, UpstreamError, RateLimited),
    argument_error=argument_error("get_gene"),
    prose=True,
)


class GeneBatch(Warned):
    """Genes in the order of the inputs; ``outcomes`` is present when anything is missing."""

    RECORDS: ClassVar = "genes"

    genes: list[Gene]
    outcomes: list[EachOutcome] = sparse([])

    def shortfall(self) -> EntrezKitError | None:
        """Report inputs that came to nothing."""
        return _shortfall_of([item for item in self.outcomes if item.status != "found"], len(self.genes))


def _shortfall_of(missing: list[EachOutcome], found: int) -> EntrezKitError | None:
    named = listed(outcome.input for outcome in missing)
    first = Wording("Call ", NextCall("search_genes"), f" to resolve the identifiers first. {FORM}")
    check = Wording("Verify the NCBIGene IDs or use ", NextCall("search_genes"), " to find the correct identifiers.")
    return shortfall_of(
        missing,
        found,
        "input",
        unanswered=f"NCBI did not answer for all genes; missing: {named}.",
        invalid=(UnresolvedEntity, f"Not valid NCBIGene CURIEs: {named}.", first, "not_a_curie"),
        unknown=(f"{len(missing)} of {len(missing) + found} ids have no gene: {named}.", check),
    )


GET_GENES = each(GET_GENE, "entrez_id", GeneBatch, _shortfall_of)
"""Not in the catalogue: the terminal's way to take several ids. Agents call get_gene for each."""
