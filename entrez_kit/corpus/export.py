"""EXPORT: stream the records of a corpus as whole articles or as table rows."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from entrez_kit.base.errors import EntityNotFound, InvalidInput, StoreError
from entrez_kit.base.progress import report_progress
from entrez_kit.core.model import Request, Result
from entrez_kit.core.operation import StreamOperation
from entrez_kit.core.outcomes import SummarizedOutcomes, drain
from entrez_kit.corpus.store import store_of
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.pubmed.models import Article

TELL_EVERY: Final = 100


class ExportRequest(Request):
    """Which records to export."""

    query_key: str | None = Field(default=None, description="Name of the corpus to export; default: all.")
    since: str | None = Field(default=None, description="Only records added, revised or retracted since this time.")
    rows: bool = Field(default=False, description="Export table rows instead of whole articles.")


class ExportResult(Result):
    """The number of records exported, and of records omitted because PubMed has withdrawn them."""

    exported: int
    deleted: int


class Export(SummarizedOutcomes["Article | dict[str, Any]", ExportResult]):
    """Yield the records by PMID in constant memory; ``deleted`` is set before the first record."""

    def __init__(self, services: Services, request: ExportRequest) -> None:
        super().__init__()
        self._store, self._request = store_of(services), request
        self.exported = 0
        self.deleted = 0
        self.since: str | None = None

    def _yield_items(self) -> Iterator["Article | dict[str, Any]"]:
        request, store = self._request, self._store
        stats = store.stats(request.query_key)
        self.deleted = stats.deleted
        changed: set[str] | None = None
        if request.since is not None and request.query_key is not None:
            difference = store.diff(request.query_key, request.since)
            self.since = difference.since
            changed = {change.pmid for change in (*difference.added, *difference.revised, *difference.retracted)}
        if changed is not None and not changed:
            return
        records: Iterator[Any] = (
            store.read_rows(request.query_key) if request.rows else store.read_articles(request.query_key)
        )
        for number, record in enumerate(records, start=1):
            if changed is None or record.pmid in changed:
                self.exported += 1
                yield record
            if number % TELL_EVERY == 0:
                report_progress(number, stats.documents)

    def result(self) -> ExportResult:
        """Return the numbers of records exported and omitted."""
        return ExportResult(exported=self.exported, deleted=self.deleted)


EXPORT: Final = StreamOperation(
    name="corpus_export",
    request=ExportRequest,
    result=ExportResult,
    outcomes=Export,
    collect=drain,
    command=("corpus", "export"),
    toolset="corpus",
    title="Export a corpus",
    errors=(EntityNotFound, InvalidInput, StoreError),
)
"""Not in the catalogue: agents do not write files."""
