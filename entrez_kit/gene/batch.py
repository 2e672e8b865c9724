"""Look up several genes, one ordered outcome per input; one that fails does not sink the others."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from entrez_kit.errors import EntityNotFound, EntrezKitError, UnresolvedEntity, UpstreamError
from entrez_kit.gene.lookup import GET_GENE, ID_HELP
from entrez_kit.gene.models import Gene
from entrez_kit.model import Request, Result, Warned, sparse
from entrez_kit.operation import Operation
from entrez_kit.services import Services

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


def iter_genes(services: Services, request: GenesRequest) -> Iterator[LookedUp]:
    """Yield one outcome per input, in order, as they come; an id that stands there twice is asked for once."""
    known: dict[str, LookedUp] = {}
    for entrez_id in request.entrez_ids:
        if entrez_id not in known:
            known[entrez_id] = _look_up(services, entrez_id, slim=request.slim)
        yield known[entrez_id]


def _look_up(services: Services, entrez_id: str, *, slim: bool) -> LookedUp:
    try:
        return LookedUp(
            entrez_id, gene=GET_GENE.function(services, GET_GENE.build({"entrez_id": entrez_id, "slim": slim}))
        )
    except EntrezKitError as exc:
        if type(exc) is EntrezKitError:  # a defect of ours is not an outcome
            raise
        return LookedUp(entrez_id, error=exc)


def raise_if_nothing_answered(found: list[LookedUp]) -> None:
    """Raise the first failure where NCBI did not answer for any input.

    Raises:
        UpstreamError: NCBI did not answer.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
    """
    failed = [item.error for item in found if item.status == "error"]
    if failed and failed[0] is not None and all(item.status in ("error", "invalid") for item in found):
        raise failed[0]


def get_genes(services: Services, request: GenesRequest) -> GeneBatch:
    """Get several genes by their ids, in order, and what became of every id where anything is missing.

    Raises:
        UpstreamError: NCBI did not answer for any of them.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
    """
    found = list(iter_genes(services, request))
    raise_if_nothing_answered(found)
    complete = all(item.status == "found" for item in found)
    return GeneBatch(
        genes=[item.gene for item in found if item.gene is not None],
        outcomes=[] if complete else [item.outcome for item in found],
    )


def shortfall_of(missing: list[GeneOutcome], found: int) -> EntrezKitError | None:
    """Return the error that goes with a document in which some inputs are missing."""
    if not missing:
        return None
    details: dict[str, Any] = {"partial": found > 0, "missing": [outcome.model_dump() for outcome in missing]}
    named = ", ".join(outcome.input for outcome in missing[:10]) + (" ..." if len(missing) > 10 else "")
    if any(outcome.status == "error" for outcome in missing):
        return UpstreamError(
            f"NCBI did not answer for all genes; missing: {named}.",
            recovery_hint="Run the same command again: what was fetched is in the cache, only the rest is asked for.",
            details={**details, "reason": "incomplete"},
        )
    if all(outcome.status == "invalid" for outcome in missing):
        return UnresolvedEntity(
            f"Not valid NCBIGene CURIEs: {named}.",
            invalid_input=missing[0].input,
            recovery_hint="Call search_genes to resolve the identifiers first (in the terminal: entrez-kit gene "
            "search). Expected format: NCBIGene:<numeric_id>.",
            details={**details, "reason": "not_a_curie"},
        )
    return EntityNotFound(
        f"{len(missing)} of {len(missing) + found} ids have no gene: {named}.",
        invalid_input=missing[0].input,
        recovery_hint="Verify the NCBIGene IDs or use search_genes to find the correct identifiers.",
        details={**details, "reason": "not_found"},
    )


GET_GENES = Operation(
    name="get_gene",
    function=get_genes,
    request=GenesRequest,
    result=GeneBatch,
    method="get_genes",
    command=("gene", "get"),
    toolset="gene",
    title="Look up genes",
)
"""Not in the catalogue: the terminal's way to take several ids. Agents call get_gene for each."""
