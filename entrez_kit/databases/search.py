"""Search any Entrez database."""

from contextlib import suppress
from functools import partial
from typing import ClassVar, Final, Self

from pydantic import Field, model_validator

from entrez_kit.base import __version__
from entrez_kit.base.errors import EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import RETRY_WITHOUT_CACHE, Argument, FrontendText, PerFrontend, format_count
from entrez_kit.base.progress import report_progress
from entrez_kit.core.broadening import compare_with_query
from entrez_kit.core.model import (
    Request,
    Result,
    Warn,
    contradiction_error,
    incomplete_error,
    omit_if_empty,
    warn_past_the_last,
)
from entrez_kit.core.operation import AgentOptions, DocumentOperation, Paging
from entrez_kit.core.query_input import (
    NO_BROADER_RESULTS,
    BroaderResults,
    EntrezDate,
    QueryText,
    build_date_bounds,
    read_query,
)
from entrez_kit.databases.names import DatabaseName, check_database
from entrez_kit.services import Services
from entrez_kit.services.small_replies import MAX_PUBMED_RESULTS, ESearchReply

PAGE: Final = 10_000
"""The most UIDs that ESearch returns per request."""
MAX_RESULTS: Final = 100_000
MAX_MCP_RESULTS: Final = 1_000
WHOLE: Final = FrontendText(
    "For all results narrow the query by date", PerFrontend(", or run `entrez-kit search --all`", ""), "."
)


class EntrezSearchRequest(Request):
    """The database, the query, and the page."""

    db: DatabaseName = Field(description='Database to search, e.g. "gene", "nuccore", "clinvar".')
    term: QueryText = Field(
        min_length=1, description='Query with the fields of that database, e.g. "BRCA1[sym] AND human[orgn]".'
    )
    max_results: int = Field(default=20, ge=1, le=MAX_RESULTS, description="How many UIDs to return.")
    offset: int = Field(default=0, ge=0, description="How many results to skip.")
    sort: str | None = Field(default=None, description="Sort order of NCBI, e.g. relevance.")
    min_date: EntrezDate | None = Field(default=None, description="Earliest date: YYYY[/MM[/DD]].")
    max_date: EntrezDate | None = Field(default=None, description="Latest date: YYYY[/MM[/DD]].")
    date_type: str | None = Field(default=None, description="Kind of date to compare, e.g. pdat or mdat.")
    use_history: bool = Field(default=False, description="Keep the result set at NCBI; returns web_env and query_key.")
    broader_results: BroaderResults = True

    @model_validator(mode="after")
    def _check_dates(self) -> Self:
        if (self.min_date or self.max_date) and not self.date_type:
            message = "is required with date bounds; otherwise NCBI chooses the kind of date"
            raise contradiction_error("date_type", message, reason="missing_argument")
        if self.date_type and not (self.min_date or self.max_date):
            required = FrontendText("is required with ", Argument("date_type"))
            raise contradiction_error("min_date", required, reason="missing_argument")
        return self


class EntrezSearchResult(Result):
    """UIDs in the order requested, NCBI's translation of the query, and warnings.

    ``query_broadened`` is true if NCBI dropped a part that the query requires; ``strict_total`` is the number of
    results of the query as written. Without ``broader_results`` such a search lists no UIDs: ``total_found`` is then
    ``strict_total`` (null if unknown), and ``broader_total`` is the number of results omitted.
    """

    RECORDS: ClassVar = "ids"

    db: str
    term: str
    query_translation: str
    query_broadened: bool | None = omit_if_empty()
    strict_total: int | None = omit_if_empty()
    broader_total: int | None = omit_if_empty()
    total_found: int | None
    retrieved_count: int
    searched_at: str
    version: str
    warnings: list[Warn] = Field(default_factory=list)
    ids: list[str]
    offset: int
    max_results: int
    web_env: str | None = omit_if_empty()
    query_key: str | None = omit_if_empty()
    esearch_url: str

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for UIDs that NCBI counted and did not list."""
        if self.broader_total is not None:
            return None
        missing = _count_reachable(self.db, self.total_found or 0, self.offset, self.max_results) - self.retrieved_count
        message = f"NCBI counted more results than it returned: {format_count(missing, 'UID is', 'UIDs are')} missing."
        return incomplete_error(max(0, missing), message, hint=FrontendText(RETRY_WITHOUT_CACHE, "."))


def entrez_search(services: Services, request: EntrezSearchRequest) -> EntrezSearchResult:
    """Search any Entrez database and return UIDs with NCBI's translation of the query.

    Use it for databases without a separate tool (nuccore, protein, clinvar, snp, sra ...). For PubMed and genes
    pubmed_search_articles and search_genes do more. Example: db "clinvar", term "BRCA1[gene] AND pathogenic".

    Raises:
        InvalidInput: the database does not exist, or the query is invalid.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: ESearch, one request per 10,000 UIDs, and one to count the query as written if NCBI dropped a part.
    """
    _refuse_unreachable_page(request)
    query = read_query(request.term, "term")
    typed, request = request.term, request.model_copy(update={"term": query.text})
    check_database(services, request.db)
    first, url = _search_page(services, request, request.offset, request.max_results)
    broadening = compare_with_query(request.term, first, partial(_count_term, services, request))
    are_left_out = broadening.is_left_out(request.broader_results)
    ids = [] if are_left_out else _collect_ids(services, request, first)
    keeps_history = request.use_history and not are_left_out
    return EntrezSearchResult(
        db=request.db,
        term=typed,
        query_translation=first.query_translation,
        **broadening.build_totals(request.broader_results),
        retrieved_count=len(ids),
        searched_at=first.searched_at,
        version=__version__,
        ids=ids,
        offset=request.offset,
        max_results=request.max_results,
        warnings=[
            *broadening.list_warnings(first, request.broader_results),
            *_build_page_warnings(request, first),
            *query.warnings,
            *_warn_about_dates(services, request, first),
        ],
        web_env=first.web_env if keeps_history else None,
        query_key=first.query_key if keeps_history else None,
        esearch_url=url,
    )


def _refuse_unreachable_page(request: EntrezSearchRequest) -> None:
    """Refuse a page of PubMed that begins after the last result that ESearch returns."""
    if request.db == "pubmed" and request.offset >= MAX_PUBMED_RESULTS:
        limit = f": PubMed returns only the first {MAX_PUBMED_RESULTS:,} records of a search"
        raise InvalidInput(
            FrontendText(Argument("offset"), limit),
            invalid_input=f"offset={request.offset}",
            recovery_hint=WHOLE,
            details={"reason": "retstart_out_of_range"},
        )


def _collect_ids(services: Services, request: EntrezSearchRequest, first: ESearchReply) -> list[str]:
    """Return the UIDs of the request; more than one reply has are requested page by page."""
    ids = dict.fromkeys(first.ids)
    reachable = _count_reachable(request.db, first.count, request.offset, request.max_results)
    start, end = request.offset + len(first.ids), request.offset + reachable
    while len(first.ids) >= PAGE and start < end:
        report_progress(len(ids), reachable)
        page, _ = _search_page(services, request, start, end - start)
        if not page.ids:
            break
        ids |= dict.fromkeys(page.ids)
        start += len(page.ids)
        report_progress(len(ids), reachable)
    return list(ids)


def _count_term(services: Services, request: EntrezSearchRequest, term: str) -> int:
    """Count the records that match another term between the dates of the request."""
    return _search_page(services, request.model_copy(update={"term": term}), 0, 0)[0].count


def _warn_about_dates(services: Services, request: EntrezSearchRequest, reply: ESearchReply) -> list[Warn]:
    """Warn if the dates exclude all results of a search; this counts the results without dates."""
    if reply.count or not (request.min_date or request.max_date):
        return []
    undated = request.model_copy(update={"min_date": None, "max_date": None, "date_type": None})
    number = 0
    with suppress(EntrezKitError):  # the count only explains the empty page
        number = _count_term(services, undated, request.term)
    if not number:
        return []
    names = ("Without ", Argument("min_date", marked=True), " and ", Argument("max_date", marked=True))
    message = FrontendText(*names, f" the query finds {format_count(number, 'record')}.")
    return [Warn(code="filters_emptied", message=message)]


def _count_reachable(db: str, total: int, offset: int, requested: int) -> int:
    """Return the number of UIDs that NCBI must list."""
    visible = min(total, MAX_PUBMED_RESULTS) if db == "pubmed" else total
    return min(requested, max(0, visible - offset))


def _search_page(services: Services, request: EntrezSearchRequest, start: int, size: int) -> tuple[ESearchReply, str]:
    ceiling = MAX_PUBMED_RESULTS - start if request.db == "pubmed" else PAGE
    reply = services.eutils.esearch(
        db=request.db,
        term=request.term,
        retmax=min(size, ceiling, PAGE),
        retstart=start,
        sort=request.sort,
        usehistory=request.use_history and start == request.offset,  # one result set is enough
        partial=True,
        **build_date_bounds(request.min_date, request.max_date, request.date_type),
    )
    return reply.value, reply.url


def _build_page_warnings(request: EntrezSearchRequest, reply: ESearchReply) -> list[Warn]:
    warnings = warn_past_the_last(request.offset, reply.count, "result")
    requested = min(reply.count, request.offset + request.max_results)
    if request.db == "pubmed" and requested > MAX_PUBMED_RESULTS:
        message = FrontendText(
            f"PubMed returns only the first {MAX_PUBMED_RESULTS:,} of {format_count(reply.count, 'result')}. ", WHOLE
        )
        warnings.append(Warn(code="results_beyond_reach", message=message))
    return warnings


SEARCH = DocumentOperation(
    name="entrez_search",
    request=EntrezSearchRequest,
    result=EntrezSearchResult,
    function=entrez_search,
    command=("db", "search"),
    toolset="entrez",
    title="Search any Entrez database",
    errors=(UpstreamError, RateLimited),
    agents=AgentOptions(
        defaults=NO_BROADER_RESULTS,
        caps={"max_results": MAX_MCP_RESULTS},
        portions=("ids",),
        paging=Paging("offset", "max_results"),
    ),
)
