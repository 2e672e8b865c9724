"""Look up several genes, one ordered outcome per input; one that fails does not sink the others."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from entrez_kit.errors import EntityNotFound, EntrezKitError, UnresolvedEntity, UpstreamError
from entrez_kit.gene.errors import FORM
from entrez_kit.gene.lookup import GET_GENE, ID_HELP
from entrez_kit.gene.models import Gene
from entrez_kit.model import Request, Result, Warned, sparse
from entrez_kit.operation import Operation, Outcomes
from entrez_kit.services import Services
from entrez_kit.wording import KEPT, Call, Wording, listed

OutcomeStatus = Literal["found", "not_found", "invalid", "error"]


class GenesRequest(Request):
    """Which genes, in which order, and how much of each."""

    entrez_ids: list[str] = Field(min_length=1, description=ID_HELP)
    slim: bool = Field(default=False, description="Only id, symbol, name and organism.")


class GeneOutcome(Result):
    """What became of one input."""

    input: str
    status: OutcomeStatus
    message: str | None = sparse()


class GeneBatch(Warned):
    """Genes in the order of the inputs; ``outcomes`` is present when anything is missing."""

    genes: list[Gene]
    outcomes: list[GeneOutcome] = sparse([])

    def shortfall(self) -> EntrezKitError | None:
        """Report inputs that came to nothing."""
        return shortfall_of([item for item in self.outcomes if item.status != "found"], len(self.genes))


@dataclass(frozen=True, slots=True)
class LookedUp:
    """One input and either the gene or the error it came to."""

    input: str
    gene: Gene | None = None
    error: EntrezKitError | None = None

    @property
    def status(self) -> OutcomeStatus:
        """What became of the input, in a word."""
        if self.error is None:
            return "found"
        if isinstance(self.error, UnresolvedEntity):
            return "invalid"
        return "not_found" if isinstance(self.error, EntityNotFound) else "error"

    @property
    def outcome(self) -> GeneOutcome:
        """What became of the input, without the gene."""
        return GeneOutcome(input=self.input, status=self.status, message=self.error.message if self.error else None)


class Genes(Outcomes[LookedUp]):
    """What becomes of each id, as they come; an id that stands there twice is asked for once."""

    def __init__(self, services: Services, request: GenesRequest) -> None:
        super().__init__()
        self._services = services
        self._request = request
        self.found = 0
        self.missing: list[LookedUp] = []

    def __iter__(self) -> Iterator[LookedUp]:
        known: dict[str, LookedUp] = {}
        for entrez_id in self._request.entrez_ids:
            if entrez_id not in known:
                known[entrez_id] = self._look_up(entrez_id)
            item = known[entrez_id]
            if item.error is None:
                self.found += 1
            else:
                self.missing.append(item)
            yield item
        unanswered = next((item.error for item in self.missing if item.status == "error"), None)
        if unanswered is not None and not self.found and all(item.status != "not_found" for item in self.missing):
            raise unanswered

    def _look_up(self, entrez_id: str) -> LookedUp:
        arguments = {"entrez_id": entrez_id, "slim": self._request.slim}
        try:
            return LookedUp(entrez_id, gene=GET_GENE.answer(self._services, GET_GENE.build(arguments)))
        except EntrezKitError as exc:
            if type(exc) is EntrezKitError:  # a defect of ours is not an outcome
                raise
            return LookedUp(entrez_id, error=exc)

    def shortfall(self) -> EntrezKitError | None:
        """Report inputs that came to nothing."""
        return shortfall_of([item.outcome for item in self.missing], self.found)


def get_genes(services: Services, request: GenesRequest) -> Genes:
    """Get several genes by their ids, in order, and what became of every id where anything is missing.

    Raises:
        UpstreamError: NCBI did not answer for any of them.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
    """
    return Genes(services, request)


def result_of(request: GenesRequest, genes: Genes) -> GeneBatch:
    """Build the result document from all outcomes."""
    found = list(genes)
    return GeneBatch(
        genes=[item.gene for item in found if item.gene is not None],
        outcomes=[item.outcome for item in found] if genes.missing else [],
    )


def shortfall_of(missing: list[GeneOutcome], found: int) -> EntrezKitError | None:
    """Return the error that goes with a document in which some inputs are missing."""
    if not missing:
        return None
    details: dict[str, Any] = {"partial": found > 0, "missing": [outcome.model_dump() for outcome in missing]}
    named = listed(outcome.input for outcome in missing)
    if any(outcome.status == "error" for outcome in missing):
        return UpstreamError(
            f"NCBI did not answer for all genes; missing: {named}.",
            recovery_hint=KEPT,
            details={**details, "reason": "incomplete"},
        )
    if all(outcome.status == "invalid" for outcome in missing):
        return UnresolvedEntity(
            f"Not valid NCBIGene CURIEs: {named}.",
            invalid_input=missing[0].input,
            recovery_hint=Wording("Call ", Call("search_genes"), f" to resolve the identifiers first. {FORM}"),
            details={**details, "reason": "not_a_curie"},
        )
    return EntityNotFound(
        f"{len(missing)} of {len(missing) + found} ids have no gene: {named}.",
        invalid_input=missing[0].input,
        recovery_hint=Wording(
            "Verify the NCBIGene IDs or use ", Call("search_genes"), " to find the correct identifiers."
        ),
        details={**details, "reason": "not_found"},
    )


GET_GENES = Operation(
    name="get_gene",
    outcomes=get_genes,
    collect=result_of,
    request=GenesRequest,
    result=GeneBatch,
    method="get_genes",
    command=("gene", "get"),
    toolset="gene",
    title="Look up genes",
)
"""Not in the catalogue: the terminal's way to take several ids. Agents call get_gene for each."""
