"""``kit.stream``: operations over many inputs, for whoever wants each outcome as it comes and none kept.

The result of a method is iterated once. Then its ``warnings`` are complete, and ``missing_error()`` returns the error
that names what is missing, or None.
"""
# mypy: disable-error-code="empty-body"

import re
from collections.abc import Callable, Mapping
from inspect import getdoc, signature
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from entrez_kit.python.kit_methods import Methods, operation_of
from entrez_kit.python.kit_runner import OperationRunner

if TYPE_CHECKING:
    from entrez_kit.citations.format_citations import Citations
    from entrez_kit.core.operation import Operation
    from entrez_kit.corpus.sync import Sync
    from entrez_kit.databases.fetch import FetchedRecords
    from entrez_kit.databases.link import LinkSets
    from entrez_kit.databases.summary import DocumentSummaries
    from entrez_kit.fulltext.fetch_fulltext import Fulltexts
    from entrez_kit.pubmed.convert import Conversions
    from entrez_kit.pubmed.europepmc.search_europepmc import Walk
    from entrez_kit.pubmed.fetch import Contents
    from entrez_kit.pubmed.search import SearchHits
    from entrez_kit.references.audit import Audit
    from entrez_kit.references.check.check_references import Checks
    from entrez_kit.references.claims.verify_claims import Verification
    from entrez_kit.references.match import Matches
    from entrez_kit.services import Services

P = ParamSpec("P")
R = TypeVar("R")
Own = Callable[["Streams"], R]


def _as(method: Callable[Concatenate[Methods, P], Any]) -> Callable[[Own[R]], Callable[Concatenate["Streams", P], R]]:
    """Give a method the arguments of one of EntrezKit; what it returns it says itself."""

    def decorate(own: Own[R]) -> Callable[Concatenate["Streams", P], R]:
        def run(self: "Streams", **arguments: Any) -> Any:
            return cast(Any, method)(self, **arguments)

        returns = f"Returns:\n    {own.__doc__}\n\nRaises:"
        run.__doc__ = re.sub(r"Returns:.*Raises:", lambda _: returns, getdoc(method) or "", flags=re.DOTALL)
        run.__name__, run.__qualname__, run.__module__ = own.__name__, own.__qualname__, own.__module__
        shown = signature(method).replace(return_annotation=signature(own).return_annotation)
        run.__signature__ = shown  # type: ignore[attr-defined]
        return cast("Callable[Concatenate[Streams, P], R]", run)

    return decorate


class Streams(OperationRunner):
    """The operations that stream, with the arguments of the methods of EntrezKit; nothing is asked before the walk."""

    _operation_of = staticmethod(operation_of)

    def __init__(self, services: "Services") -> None:
        self.services = services

    def _answer(self, operation: "Operation[Any, Any]", arguments: Mapping[str, Any]) -> Any:
        """Return the outcomes of an operation; that they are the sandbox's, if so, is the first of their warnings."""
        from entrez_kit.core.model import Warn
        from entrez_kit.core.operation import DEMO

        outcomes = operation.stream(self.services, arguments)
        if message := self.services.settings.demo_warning:
            outcomes.warnings.insert(0, Warn(code=DEMO, message=message))
        return outcomes

    @_as(Methods.search_articles)
    def search_articles(self) -> "SearchHits":
        """The PMIDs, the first so many that were asked for with summaries; what NCBI said is known with the first."""

    @_as(Methods.fetch_contents)
    def fetch_contents(self) -> "Contents":
        """What becomes of the inputs of a request; how they were requested is known after the walk."""

    @_as(Methods.fetch_fulltext)
    def fetch_fulltext(self) -> "Fulltexts":
        """What becomes of each id, in order, batch by batch."""

    @_as(Methods.format_citations)
    def format_citations(self) -> "Citations":
        """The citations of what is fetched, as it arrives; ``standings`` has what was retracted and the like."""

    @_as(Methods.lookup_citation)
    def lookup_citation(self) -> "Matches":
        """What becomes of each reference, in order; many are looked up in parts."""

    @_as(Methods.convert_ids)
    def convert_ids(self) -> "Conversions":
        """What becomes of each id, in order; many are converted in parts."""

    @_as(Methods.europepmc_search)
    def europepmc_search(self) -> "Walk":
        """The records of a search, page after page until enough came; one page is held at a time."""

    @_as(Methods.entrez_summary)
    def entrez_summary(self) -> "DocumentSummaries":
        """What becomes of each id, in order; many are summarised in parts."""

    @_as(Methods.entrez_fetch)
    def entrez_fetch(self) -> "FetchedRecords":
        """What becomes of each id, in order; the ``content`` of all of them, one after the other, is the whole text."""

    @_as(Methods.entrez_link)
    def entrez_link(self) -> "LinkSets":
        """The links of each source, in order; many are followed in parts."""

    @_as(Methods.sync_delta)
    def sync_delta(self) -> "Sync":
        """The PMIDs each batch brought, as it is stored; ``result()`` has what it came to."""

    @_as(Methods.audit_corpus)
    def audit_corpus(self) -> "Audit":
        """Each work of a corpus that something is to be said about, in order of PMID."""

    @_as(Methods.verify_claims)
    def verify_claims(self) -> "Verification":
        """What becomes of each claim, in order."""

    @_as(Methods.check_references)
    def check_references(self) -> "Checks":
        """What becomes of each reference, in order; many are looked up in parts."""
