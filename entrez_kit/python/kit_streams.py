"""``kit.stream``: operations over many inputs that yield each outcome as it arrives and keep none.

Iterate over the result of a method once. After that its ``warnings`` are complete, and ``missing_error()`` returns the
error for missing inputs, or None if nothing is missing.
"""
# mypy: disable-error-code="empty-body"

import re
from collections.abc import Callable, Mapping
from inspect import getdoc, signature
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from entrez_kit.python.kit_methods import Methods, find_operation
from entrez_kit.python.kit_runner import OperationRunner

if TYPE_CHECKING:
    from entrez_kit.citations.format_citations import Citations
    from entrez_kit.corpus.sync import Sync
    from entrez_kit.databases.fetch import FetchedRecords
    from entrez_kit.databases.link import LinkSets
    from entrez_kit.databases.summary import DocumentSummaries
    from entrez_kit.fulltext.fetch_fulltext import Fulltexts
    from entrez_kit.pubmed.convert import Conversions
    from entrez_kit.pubmed.europepmc.search_europepmc import EuropePMCArticles
    from entrez_kit.pubmed.fetch import Contents
    from entrez_kit.pubmed.search import SearchHits
    from entrez_kit.references.audit import Audit
    from entrez_kit.references.check.check_references import Checks
    from entrez_kit.references.claims.verify_claims import ClaimOutcomes
    from entrez_kit.references.match import Matches
    from entrez_kit.services import Services

P = ParamSpec("P")
R = TypeVar("R")
Own = Callable[["Streams"], R]


def _copy_arguments(
    method: Callable[Concatenate[Methods, P], Any],
) -> Callable[[Own[R]], Callable[Concatenate["Streams", P], R]]:
    """Give a method the arguments and the docstring of one of EntrezKit, but its own return value."""

    def decorate(own: Own[R]) -> Callable[Concatenate["Streams", P], R]:
        def run(self: "Streams", **arguments: Any) -> Any:
            return cast(Any, method)(self, **arguments)

        returns = f"Returns:\n    {own.__doc__}\n\nRaises:"
        run.__doc__ = re.sub(r"Returns:.*Raises:", lambda _: returns, getdoc(method) or "", flags=re.DOTALL)
        run.__name__, run.__qualname__, run.__module__ = own.__name__, own.__qualname__, own.__module__
        public_signature = signature(method).replace(return_annotation=signature(own).return_annotation)
        run.__signature__ = public_signature  # type: ignore[attr-defined]
        return cast("Callable[Concatenate[Streams, P], R]", run)

    return decorate


class Streams(OperationRunner):
    """Streaming operations with the arguments of the methods of EntrezKit; no request is sent before the iteration."""

    _find_operation = staticmethod(find_operation)

    def __init__(self, services: "Services") -> None:
        self.services = services

    def _run_operation(self, operation: Any, arguments: Mapping[str, Any]) -> Any:
        """Return the outcomes of a ``StreamOperation``."""
        return operation.stream(self.services, arguments)

    @_copy_arguments(Methods.search_articles)
    def search_articles(self) -> "SearchHits":
        """The PMIDs, the first of them with the requested summaries; NCBI's warnings are known with the first PMID."""

    @_copy_arguments(Methods.fetch_contents)
    def fetch_contents(self) -> "Contents":
        """The outcomes of the inputs; the details of the requests are known after the iteration."""

    @_copy_arguments(Methods.fetch_fulltext)
    def fetch_fulltext(self) -> "Fulltexts":
        """The outcome of each id, in order, batch by batch."""

    @_copy_arguments(Methods.format_citations)
    def format_citations(self) -> "Citations":
        """The citations as their records arrive; ``standings`` lists retractions and similar notices."""

    @_copy_arguments(Methods.lookup_citation)
    def lookup_citation(self) -> "Matches":
        """The outcome of each reference, in order; many references are looked up in parts."""

    @_copy_arguments(Methods.convert_ids)
    def convert_ids(self) -> "Conversions":
        """The outcome of each id, in order; many ids are converted in parts."""

    @_copy_arguments(Methods.europepmc_search)
    def europepmc_search(self) -> "EuropePMCArticles":
        """The records of a search, page by page up to the requested number; one page is in memory at a time."""

    @_copy_arguments(Methods.entrez_summary)
    def entrez_summary(self) -> "DocumentSummaries":
        """The outcome of each id, in order; many ids are summarized in parts."""

    @_copy_arguments(Methods.entrez_fetch)
    def entrez_fetch(self) -> "FetchedRecords":
        """The outcome of each id, in order; the concatenated ``content`` of all outcomes is the whole text."""

    @_copy_arguments(Methods.entrez_link)
    def entrez_link(self) -> "LinkSets":
        """The links of each source, in order; many sources are requested in parts."""

    @_copy_arguments(Methods.sync_delta)
    def sync_delta(self) -> "Sync":
        """The PMIDs of each batch when it is stored; ``result()`` returns the summary."""

    @_copy_arguments(Methods.audit_corpus)
    def audit_corpus(self) -> "Audit":
        """The works of a corpus with findings, in order of PMID."""

    @_copy_arguments(Methods.verify_claims)
    def verify_claims(self) -> "ClaimOutcomes":
        """The outcome of each claim, in order."""

    @_copy_arguments(Methods.check_references)
    def check_references(self) -> "Checks":
        """The outcome of each reference, in order; many references are looked up in parts."""
