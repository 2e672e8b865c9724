"""Find the gene of each symbol in a list: one outcome per symbol, in order."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar, Final, Literal

from pydantic import Field

from entrez_kit.base.errors import AmbiguousQuery, EntrezKitError, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import Argument, FrontendText, NextCall, format_count, join_names
from entrez_kit.core.model import Request, Result, Warn, Warned, omit_if_empty
from entrez_kit.core.operation import StreamOperation
from entrez_kit.core.outcomes import BatchedOutcomes, build_missing_error
from entrez_kit.databases.gene.models import GeneId, GeneSearchCandidate, MatchKind
from entrez_kit.databases.gene.search_genes import SEARCH_GENES
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import run_in_order

MAX_SYMBOLS: Final = 20_000
PAGE: Final = 20
"""How many candidates of a symbol are compared; symbols are ranked first."""
MAX_CANDIDATES: Final = 10

SymbolStatus = Literal["found", "ambiguous", "not_found", "invalid", "error"]


class FindSymbolsRequest(Request):
    """The symbols, and the organism."""

    INPUTS: ClassVar = "symbols"

    symbols: list[str] = Field(min_length=1, max_length=MAX_SYMBOLS, description="Symbols or aliases of genes.")
    organism: str | None = Field(default=None, description="Common or scientific name, or taxid; default: all.")
    include_discontinued: bool = Field(default=False, description="Include withdrawn and merged records.")


class SymbolOutcome(Result):
    """The gene of one symbol.

    ``match`` is symbol (its official symbol) or alias. An ambiguous symbol has ``candidates`` instead of a gene.
    """

    input: str
    status: SymbolStatus
    id: GeneId | None = omit_if_empty()
    symbol: str | None = omit_if_empty()
    name: str | None = omit_if_empty()
    organism: str | None = omit_if_empty()
    taxon_id: int | None = omit_if_empty()
    match: MatchKind | None = omit_if_empty()
    candidates: list[GeneId] = omit_if_empty([])
    message: str | None = omit_if_empty()


class SymbolsResult(Warned):
    """One outcome per symbol, in order."""

    RECORDS: ClassVar = "symbols"

    symbols: list[SymbolOutcome]
    total_found: int
    total_submitted: int


class Symbols(BatchedOutcomes[str, SymbolOutcome]):
    """The outcome of each symbol; searches run concurrently, and a repeated symbol is searched once."""

    BATCH_SIZE = 1

    def __init__(self, services: Services, request: FindSymbolsRequest) -> None:
        super().__init__(services, request.symbols)
        self._request = request
        self._answers: dict[str, SymbolOutcome] = {}
        self._seen_warnings: set[str] = set()

    def _yield_items(self) -> Iterator[SymbolOutcome]:
        distinct = list(dict.fromkeys(self._inputs))
        self._pending = run_in_order(
            (partial(self._find, symbol) for symbol in distinct), self._services.eutils.at_once
        )
        yield from super()._yield_items()

    def _request_batch(self, start: int, inputs: Sequence[str]) -> Iterator[SymbolOutcome]:
        for symbol in inputs:
            if symbol not in self._answers:
                answer, warnings, failed = next(self._pending)
                self._answers[symbol] = answer
                self.error = self.error or failed
                for warning in warnings:
                    if warning.message not in self._seen_warnings:
                        self._seen_warnings.add(warning.message)
                        self.warnings.append(warning)
            yield self._answers[symbol]

    def _find(self, symbol: str) -> tuple[SymbolOutcome, list[Warn], EntrezKitError | None]:
        """Search one symbol; return its outcome, the warnings about the organism, and the error of a service."""
        arguments = {
            "query": symbol,
            "organism": self._request.organism,
            "page_size": PAGE,
            "include_discontinued": self._request.include_discontinued,
            "broader_results": False,
        }
        try:
            page = SEARCH_GENES.compute(self._services, SEARCH_GENES.build(arguments))
        except AmbiguousQuery as exc:
            if exc.details.get("reason") in ("unknown_organism", "ambiguous_organism"):
                raise
            return SymbolOutcome(input=symbol, status="invalid", message=exc.message), [], None
        except (UpstreamError, RateLimited) as exc:
            return SymbolOutcome(input=symbol, status="error", message=exc.message), [], exc
        warnings = [warning for warning in page.warnings if warning.code == "organism_corrected"]
        return _choose(symbol, page.items), warnings, None

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for symbols without exactly one gene."""
        named = join_names(outcome.input for outcome in self.missing)
        share = f"{len(self.missing):,} of {format_count(len(self._inputs), 'symbol')}"
        statuses = {outcome.status for outcome in self.missing}
        choose = FrontendText("An ambiguous symbol lists its candidates; give ", Argument("organism"), " to choose.")
        search = FrontendText("Check the spelling, or search by name: call ", NextCall("search_genes", query=...), ".")
        if statuses == {"not_found"}:
            message, hint = f"No gene was found for {named} ({share}).", search
        elif "ambiguous" in statuses:
            message, hint = f"No single gene for {share}: {named}.", choose
        else:
            message, hint = f"No gene for {share}: {named}.", search
        return build_missing_error(
            self.missing,
            self.found,
            "input",
            unanswered=f"NCBI did not answer for all symbols; missing: {named}.",
            invalid=None,
            unknown=(message, hint),
        )


def _choose(symbol: str, items: Sequence[GeneSearchCandidate]) -> SymbolOutcome:
    """Return the only gene with a symbol, or else the only one with it as an alias."""
    for kind in ("symbol", "alias"):
        genes = [item for item in items if item.match == kind]
        if len(genes) == 1:
            (gene,) = genes
            return SymbolOutcome(
                input=symbol,
                status="found",
                id=gene.id,
                symbol=gene.symbol,
                name=gene.name,
                organism=gene.organism,
                taxon_id=gene.taxon_id,
                match=gene.match,
            )
        if genes:
            organisms = join_names(dict.fromkeys(gene.organism for gene in genes))
            return SymbolOutcome(
                input=symbol,
                status="ambiguous",
                candidates=[gene.id for gene in genes][:MAX_CANDIDATES],
                message=f"{format_count(len(genes), 'gene has', 'genes have')} this {kind}, of {organisms}.",
            )
    return SymbolOutcome(input=symbol, status="not_found", message="No gene has this symbol or alias.")


def find_symbols(services: Services, request: FindSymbolsRequest) -> Symbols:
    """Find the gene of each symbol in a list: the only gene with it as official symbol, or else as alias.

    Raises:
        AmbiguousQuery: the organism is unknown, or several have its name.
        UpstreamError: NCBI answered for no symbol.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: ESearch and ESummary (db=gene), as for ``search_genes``, for each symbol.
    """
    return Symbols(services, request)


def collect_result(request: FindSymbolsRequest, symbols: Symbols) -> SymbolsResult:
    """Build the result document from all outcomes."""
    outcomes = list(symbols)
    return SymbolsResult(
        symbols=outcomes, total_found=symbols.found, total_submitted=len(outcomes), warnings=symbols.warnings
    )


FIND_SYMBOLS: Final = StreamOperation(
    name="find_symbols",
    request=FindSymbolsRequest,
    result=SymbolsResult,
    outcomes=find_symbols,
    collect=collect_result,
    command=("gene", "search"),
    toolset="gene",
    title="Find the genes of symbols",
    errors=(AmbiguousQuery, UpstreamError, RateLimited),
)
"""The terminal's operation for lists of symbols. It is not in the catalogue."""
