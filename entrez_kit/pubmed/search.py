"""Search PubMed: one ESearch, optional brief summaries, and warnings about the query."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.base import __version__
from entrez_kit.base.errors import EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import RETRY_WITHOUT_CACHE, Argument, FrontendText, PerFrontend
from entrez_kit.core.model import (
    Collected,
    Request,
    Result,
    Warn,
    WrongValue,
    contradiction_error,
    incomplete_error,
    omit_if_empty,
    warn_past_the_last,
)
from entrez_kit.core.operation import AgentOptions, Outcomes, Paging, StreamOperation
from entrez_kit.core.query_input import (
    NO_BROADER_RESULTS,
    SPECIES,
    BroaderResults,
    DateBounds,
    EntrezDate,
    QueryInput,
    QueryText,
    build_date_bounds,
    build_date_clause,
    has_operator,
    quote_filter,
    read_query,
)
from entrez_kit.pubmed.models import BriefSummary, Certificate, Slice
from entrez_kit.services import Services
from entrez_kit.services.small_replies import MAX_PUBMED_RESULTS, ESearchReply

if TYPE_CHECKING:
    from entrez_kit.core.broadening import Broadening

MAX_MCP_SUMMARIES: Final = 100
SUMMARIES_PER_REQUEST: Final = 500
MAX_SNIPPET: Final = 2_000
MAX_MCP_RESULTS: Final = 1_000

SORT_NAMES: Final = {
    "relevance": "relevance",
    "pub_date": "pub_date",
    "author": "Author",
    "journal_name": "JournalName",
}
"""ESearch's names of the sort orders."""

Sort = Literal["relevance", "pub_date", "author", "journal_name"]

SHORT_SORT_NAMES: Final = {"journal": "journal_name", "date": "pub_date"}


COUNT_DEADLINE_MS: Final = 15_000
"""The time limit of a count that only explains a result."""
FILTERS: Final = (
    "date_range",
    "filter_by_publication_types",
    "author",
    "journal",
    "mesh_terms",
    "language",
    "species",
    "has_abstract",
    "free_full_text",
)


class DateRange(Request):
    """Bounds of one of PubMed's dates; a missing bound is open."""

    min_date: EntrezDate | None = Field(default=None, description="First day: YYYY[/MM[/DD]].")
    max_date: EntrezDate | None = Field(default=None, description="Last day.")
    date_type: Literal["pdat", "mdat", "edat"] = Field(
        default="pdat", description="Publication, modification or entry."
    )

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        # In a range such as 2024/06 to 2024, the upper bound is the end of the year.
        if (
            self.min_date
            and self.max_date
            and self.min_date > self.max_date
            and not self.min_date.startswith(self.max_date)
        ):
            raise contradiction_error(
                "min_date",
                FrontendText(f"{self.min_date} is later than ", Argument("max_date"), f" {self.max_date}"),
                self.min_date,
            )
        return self


class SearchRequest(Request):
    """A search of PubMed: the query, filters, order and page."""

    query_term: QueryText = Field(min_length=3, description="PubMed query, e.g. crispr AND review[pt].")
    max_results: int = Field(
        default=20,
        ge=1,
        description="PMIDs to return.",
    )
    offset: int = Field(default=0, ge=0, le=MAX_PUBMED_RESULTS - 1, description="Results to skip.")
    sort_by: Annotated[Sort, BeforeValidator(lambda name: SHORT_SORT_NAMES.get(str(name), name))] = Field(
        default="relevance", description="Order; pub_date: newest first."
    )
    date_range: DateRange | None = Field(default=None, description="One bound is enough.")
    filter_by_publication_types: list[str] = Field(
        default_factory=list, max_length=50, description="Any of these, e.g. Review."
    )
    author: str | None = Field(default=None, description="In PubMed's form, e.g. Doudna JA.")
    journal: str | None = Field(default=None, description="Title, abbreviation or ISSN.")
    mesh_terms: list[str] = Field(default_factory=list, max_length=50, description="All must match.")
    language: str | None = Field(default=None, description="For example french.")
    species: Literal["humans", "animals"] | None = Field(
        default=None, description="By MeSH terms, which new records lack."
    )
    has_abstract: bool = Field(default=False, description="Only with an abstract.")
    free_full_text: bool = Field(default=False, description="Only with free full text.")
    fetch_brief_summaries: int = Field(default=0, ge=0, description="Results with a summary.")
    snippet_characters: int = Field(default=0, ge=0, le=MAX_SNIPPET, description="Characters of each abstract.")
    registrations: bool = Field(default=False, description="Add registration numbers.")
    use_history: bool = Field(default=False, description="Keep the results at NCBI.")
    broader_results: BroaderResults = True
    explain: SkipJsonSchema[bool] = Field(
        default=False, description="If nothing is found, count parts of the query to name the one that empties it."
    )
    retrieve_all: SkipJsonSchema[bool] = Field(
        default=False, description="Retrieve all results, also beyond PubMed's 9,999, with a certificate."
    )

    @field_validator("max_results")
    @classmethod
    def _check_max_results(cls, value: int) -> int:
        if value > MAX_PUBMED_RESULTS:
            more = PerFrontend(
                "To retrieve all results, use --all.",
                "For more results, search again with other dates.",
                "To retrieve all results, call kit.search_all.",
            )
            hint = FrontendText(f"PubMed returns at most {MAX_PUBMED_RESULTS} results of a search. ", more)
            raise WrongValue(f"must be {MAX_PUBMED_RESULTS} or less", hint)
        return value

    @property
    def summaries_wanted(self) -> int:
        """The number of results that get a summary; if only parts of records are requested, all get one."""
        if (self.snippet_characters or self.registrations) and not self.fetch_brief_summaries:
            return sys.maxsize if self.retrieve_all else self.max_results
        return self.fetch_brief_summaries

    @field_validator("filter_by_publication_types")
    @classmethod
    def _read_types(cls, names: list[str]) -> list[str]:
        if not names:  # the usual search loads no list of types
            return []
        from entrez_kit.pubmed.publication_types import read_type

        return [read_type(name) for name in names]

    def term(self) -> str:
        """Return the term for ESearch: the query in parentheses, then one clause for each filter.

        Any publication type may match; all MeSH terms must match. Without filters the query is unchanged. Date bounds
        are separate parameters.

        Raises:
            InvalidInput: unbalanced quotes or parentheses, or a filter value that cannot be quoted.
        """
        query = self.query().text
        types = " OR ".join(
            f"{quote_filter(kind, 'filter_by_publication_types')}[Publication Type]"
            for kind in self.filter_by_publication_types
        )
        clauses = [
            f"({types})" if len(self.filter_by_publication_types) > 1 else types,
            f"{quote_filter(self.author, 'author')}[Author]" if self.author else "",
            f"{quote_filter(self.journal, 'journal')}[Journal]" if self.journal else "",
            *(f"{quote_filter(term, 'mesh_terms')}[MeSH Terms]" for term in self.mesh_terms),
            f"{quote_filter(self.language, 'language')}[Language]" if self.language else "",
            SPECIES[self.species] if self.species else "",
            "hasabstract" if self.has_abstract else "",
            "free full text[Filter]" if self.free_full_text else "",
        ]
        filter_clauses = list(filter(None, clauses))
        return " AND ".join([f"({query})", *filter_clauses]) if filter_clauses else query

    def query(self) -> QueryInput:
        """Return the query that is sent, without filters, and the warnings about the input.

        Raises:
            InvalidInput: unbalanced quotes or parentheses, or the syntax of another service.
        """
        return read_query(self.query_term)

    def active_filters(self) -> list[str]:
        """Return the names of the filters that restrict the search."""
        has_dates = bool(self.date_parameters())
        return [name for name in FILTERS if getattr(self, name) and (name != "date_range" or has_dates)]

    def drop_filters(self, filters: Sequence[str]) -> "SearchRequest":
        """Return the request without some filters."""
        fields = type(self).model_fields
        return self.model_copy(update={name: fields[name].get_default(call_default_factory=True) for name in filters})

    def date_parameters(self) -> DateBounds:
        """Return ESearch's datetype, mindate and maxdate."""
        dates = self.date_range or DateRange()
        return build_date_bounds(dates.min_date, dates.max_date, dates.date_type)

    def effective_term(self) -> str:
        """Return the whole search as one PubMed term, with the date bounds."""
        term, dates = self.term(), self.date_parameters()
        if not dates:
            return term
        clause = build_date_clause(dates["mindate"], dates["maxdate"], dates["datetype"])
        filtered = term.startswith(f"({self.query().text}) AND ")
        return f"{term} AND {clause}" if filtered else f"({term}) AND {clause}"


class SearchParameters(Result):
    """The request with its defaults. A local copy sorts by bm25 in place of PubMed's own relevance."""

    query_term: str
    max_results: int
    offset: int
    sort_by: Sort | Literal["bm25"]
    date_range: dict[str, str] | None = omit_if_empty()
    filter_by_publication_types: list[str] = omit_if_empty([])
    author: str | None = omit_if_empty()
    journal: str | None = omit_if_empty()
    mesh_terms: list[str] = omit_if_empty([])
    language: str | None = omit_if_empty()
    species: str | None = omit_if_empty()
    has_abstract: bool | None = omit_if_empty()
    free_full_text: bool | None = omit_if_empty()
    fetch_brief_summaries: int
    snippet_characters: int | None = omit_if_empty()
    registrations: bool | None = omit_if_empty()
    use_history: bool | None = omit_if_empty()


class SearchResult(Collected):
    """PMIDs in the order requested, NCBI's translation of the query, and warnings.

    ``effective_esearch_term`` is the whole search as one PubMed term, with the date bounds; ``query_translation`` is
    NCBI's translation of it. ``searched_at`` is the time of PubMed's reply (UTC), even if the reply is cached, and
    ``version`` is the version of entrez-kit. ``query_broadened`` is true if NCBI dropped a part that the query
    requires, so that the results are broader than the query; ``strict_total`` is the number of results of the query as
    written. Without ``broader_results`` such a search lists no PMIDs: ``total_found`` is then ``strict_total`` (null if
    unknown), and ``broader_total`` is the number of results omitted. URLs contain no credentials.
    """

    RECORDS: ClassVar = "pmids"

    search_parameters: SearchParameters
    effective_esearch_term: str
    query_translation: str
    query_broadened: bool | None = omit_if_empty()
    strict_total: int | None = omit_if_empty()
    broader_total: int | None = omit_if_empty()
    total_found: int | None
    retrieved_pmid_count: int
    searched_at: str
    version: str
    warnings: list[Warn] = Field(default_factory=list)
    pmids: list[str]
    brief_summaries: list[BriefSummary] = omit_if_empty([])
    web_env: str | None = omit_if_empty()
    query_key: str | None = omit_if_empty()
    certificate: Certificate | None = omit_if_empty()
    esearch_url: str
    esummary_url: str | None = omit_if_empty()

    def records_inside(self) -> list[Any]:
        """Return a record for every PMID, with title and authors if it has a summary."""
        summaries = {summary.pmid: summary for summary in self.brief_summaries}
        return [summaries.get(pmid, {"pmid": pmid}) for pmid in self.pmids]


class ArticleHit(NamedTuple):
    """A PMID found; the first hits have a summary if the request asks for summaries."""

    pmid: str
    summary: BriefSummary | None = None


class SearchHits(Outcomes[ArticleHit]):
    """The PMIDs of a search. Warnings are known after the first hit, ``certificate`` and losses after the last."""

    def __init__(self, services: Services, request: SearchRequest) -> None:
        super().__init__()
        self._services, self.request = services, request
        self._pmids: dict[str, None] = {}
        self._slices: list[Slice] = []
        self._untitled: list[str] = []
        self.reply_fields: dict[str, Any] = {}
        self.total_found = 0
        self.are_left_out = False
        self.web_env: str | None = None
        self.query_key: str | None = None
        self.certificate: Certificate | None = None

    @property
    def is_from_copy(self) -> bool:
        """Whether a local copy of PubMed answers."""
        return bool(self._services.settings.copy_label)

    @property
    def first_pmid(self) -> str | None:
        """The first PMID, once it is known."""
        return next(iter(self._pmids), None)

    @property
    def retrieved_pmid_count(self) -> int:
        """The number of PMIDs retrieved so far."""
        return len(self._pmids)

    def __iter__(self) -> Iterator[ArticleHit]:
        request, services = self.request, self._services
        without_mesh = self._start_mesh_warning()
        found, url, slices = _start_search(services, request)
        self.total_found = found.count
        if request.use_history:
            self.web_env, self.query_key = found.web_env, found.query_key
        pmids = self._yield_pmids(slices)
        first = list(islice(pmids, 1))
        broadening = self._find_broadening(found)
        if broadening is not None:
            self.warnings += broadening.list_warnings(found, request.broader_results)
        self.warnings += [*request.query().warnings, *without_mesh()]
        if not request.retrieve_all:
            self.warnings += _build_page_warnings(request, found)
        self.warnings += _explain_result(services, request, found)
        self.reply_fields = {
            "total_found": found.count,
            **({} if broadening is None else broadening.build_totals(request.broader_results)),
            "query_translation": found.query_translation,
            "esearch_url": url,
            "searched_at": found.searched_at,
        }
        if broadening is not None and broadening.is_left_out(request.broader_results):
            self.are_left_out = True
            self._pmids, self.web_env, self.query_key = {}, None, None
            return
        pmids = chain(first, pmids)
        yield from self._fetch_summaries(list(islice(pmids, request.summaries_wanted)))
        yield from map(ArticleHit, pmids)
        if request.retrieve_all:
            from entrez_kit.pubmed.complete_search import certify, warn_about_certificate

            self.certificate = certify(request.query_term, found, self._slices, self._pmids)
            self.warnings += warn_about_certificate(self.certificate, request.sort_by)

    def _find_broadening(self, found: ESearchReply) -> "Broadening | None":
        """Return how the search differs from the query; None without a sign of a difference, to import nothing then."""
        request = self.request
        if not found.warnings and not has_operator(request.term()):
            return None
        from entrez_kit.core.broadening import compare_with_query

        return compare_with_query(request.term(), found, partial(count_records, self._services, request))

    def _start_mesh_warning(self) -> Callable[[], list[Warn]]:
        """Begin to count the records that only a MeSH term excludes; return a function that waits for the warning."""
        request, term = self.request, self.request.term()
        if "[" not in term:  # the parser is not imported for a query without field tags
            return list
        from entrez_kit.query.reduction import find_mesh_gap

        gap = find_mesh_gap(term)
        if gap is None:
            return list
        from entrez_kit.pubmed.search_warnings import warn_about_mesh
        from entrez_kit.services.transport.in_flight import start_in_background

        filters = [name for name in ("species", "mesh_terms") if getattr(request, name)]
        return start_in_background(
            partial(warn_about_mesh, gap, filters, partial(find_records, self._services, request))
        )

    def _fetch_summaries(self, pmids: list[str]) -> Iterator[ArticleHit]:
        """Yield hits with their summaries. If a batch fails, its hits have no summary and ``missing_error`` names them.

        Raises:
            UpstreamError, RateLimited: NCBI returned no summary at all.
        """
        if not pmids:
            return
        from entrez_kit.core.batches import fetch_in_batches
        from entrez_kit.pubmed.brief_summaries import fetch_brief_summaries, warn_about_missing

        services, request = self._services, self.request
        ask = partial(
            fetch_brief_summaries, services, snippet=request.snippet_characters, registrations=request.registrations
        )
        answered = False
        for part in fetch_in_batches(pmids, SUMMARIES_PER_REQUEST, ask, at_once=services.eutils.at_once):
            summaries: dict[str, BriefSummary] = {}
            if part.error is None:
                summaries, url, missing = part.answers[0]
                answered = True
                self.reply_fields.setdefault("esummary_url", url)
                self.warnings += missing
            elif part.refused:
                self.warnings.append(warn_about_missing(part.ids))
            elif not answered:
                raise part.error
            else:
                self._untitled += part.ids
            for pmid in part.ids:
                yield ArticleHit(pmid, summaries.get(pmid))

    def _yield_pmids(self, slices: Iterable[tuple[str, int, list[str]]]) -> Iterator[str]:
        """Yield each PMID once, and record its slice."""
        for clause, count, ids in slices:
            self._slices.append(Slice(clause=clause, count=count, retrieved=len(ids)))
            new = [pmid for pmid in dict.fromkeys(ids) if pmid not in self._pmids]
            self._pmids.update(dict.fromkeys(new))
            if self.request.retrieve_all:
                from entrez_kit.base.progress import report_progress

                report_progress(len(self._pmids), self.total_found)
            yield from new

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for PMIDs that NCBI counted and did not list, or for titles it did not return."""
        if self.are_left_out:
            return None
        available = min(self.total_found, MAX_PUBMED_RESULTS) - self.request.offset
        expected = max(0, min(self.request.max_results, available))
        missing = self.certificate.missing if self.certificate else expected - self.retrieved_pmid_count
        if missing <= 0 and self._untitled:
            message = f"NCBI returned no title for {len(self._untitled):,} of {self.retrieved_pmid_count:,} results."
            return incomplete_error(self._untitled, message)
        return incomplete_error(
            max(0, missing),
            f"NCBI counted more results than it returned: {missing} PMIDs are missing.",
            hint=FrontendText(RETRY_WITHOUT_CACHE, "; if this persists, narrow the query by date."),
        )


def _start_search(
    services: Services, request: SearchRequest
) -> tuple[ESearchReply, str, Iterable[tuple[str, int, list[str]]]]:
    """Return ESearch's reply, the URL of the request, and the PMIDs in slices, each with its clause and its count."""
    if request.retrieve_all:
        from entrez_kit.pubmed.complete_search import start_complete_search

        return start_complete_search(
            services, request.term(), sort=SORT_NAMES[request.sort_by], dates=request.date_parameters()
        )
    reply = services.eutils.esearch(
        db="pubmed",
        term=request.term(),
        retmax=min(request.max_results, MAX_PUBMED_RESULTS - request.offset),
        retstart=request.offset,
        sort=SORT_NAMES[request.sort_by],
        usehistory=request.use_history,
        partial=True,
        **request.date_parameters(),
    )
    return reply.value, reply.url, [("", reply.value.count, reply.value.ids)]


def search_articles(services: Services, request: SearchRequest) -> SearchHits:
    """Search PubMed for PMIDs. Use it to find articles, e.g. query_term "base editing AND sickle cell".

    Read `warnings`.

    Raises:
        InvalidInput: an unbalanced query, an invalid filter value or a date that does not exist.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: ESearch (db=pubmed), once per slice to retrieve all results, and for the counts in warnings; ESummary 2.0
    for summaries; EFetch for abstracts; ESpell if the search finds nothing or a phrase is in no record.
    """
    if request.retrieve_all and (request.offset or request.use_history):
        name = "offset" if request.offset else "use_history"
        raise InvalidInput(
            FrontendText(
                Argument(name), " cannot be used with ", PerFrontend("--all", "a retrieval of all results"), "."
            ),
            invalid_input=f"{name}={getattr(request, name)}",
            recovery_hint=FrontendText("Omit ", Argument(name), PerFrontend(", or omit --all", ""), "."),
            details={"reason": "bad_usage"},
        )
    return SearchHits(services, request)


def collect_result(request: SearchRequest, hits: SearchHits) -> SearchResult:
    """Collect the PMIDs of a search."""
    return build_result(request, hits, list(hits))


def build_result(request: SearchRequest, hits: SearchHits, found: Sequence[ArticleHit] = ()) -> SearchResult:
    """Return the result document of a completed search.

    Args:
        hits: the search, after its hits were consumed.
        found: the hits that the document lists.
    """
    requested = request.model_dump(include=set(SearchParameters.model_fields), exclude={"date_range"})
    for name in ("has_abstract", "free_full_text", "use_history", "snippet_characters", "registrations"):
        requested[name] = requested[name] or None
    if dates := request.date_parameters():  # the effective bounds
        first, last, kind = dates["mindate"], dates["maxdate"], dates["datetype"]
        requested["date_range"] = {"min_date": first, "max_date": last, "date_type": kind}
    if request.sort_by == "relevance" and hits.is_from_copy:
        requested["sort_by"] = "bm25"
    if request.retrieve_all:
        requested["max_results"] = max(hits.total_found, 1)
        requested["fetch_brief_summaries"] = min(requested["fetch_brief_summaries"], hits.total_found)
    return SearchResult(
        search_parameters=SearchParameters(**requested),
        effective_esearch_term=request.effective_term(),
        retrieved_pmid_count=hits.retrieved_pmid_count,
        pmids=[hit.pmid for hit in found],
        brief_summaries=[hit.summary for hit in found if hit.summary is not None],
        version=__version__,
        warnings=hits.warnings,
        web_env=hits.web_env,
        query_key=hits.query_key,
        certificate=hits.certificate,
        **hits.reply_fields,
    )


def _build_page_warnings(request: SearchRequest, found: ESearchReply) -> list[Warn]:
    warnings = []
    if found.count > MAX_PUBMED_RESULTS and request.offset + request.max_results >= MAX_PUBMED_RESULTS:
        more = PerFrontend("use --all to retrieve all of them.", "narrow the query by date for the others.")
        message = FrontendText(f"PubMed returns only the first 9999 of {found.count} results; ", more)
        warnings.append(Warn(code="results_capped", message=message))
    warnings += warn_past_the_last(request.offset, found.count, "results")
    if request.date_range is not None and not request.date_parameters():
        bound = (Argument("date_range"), " has neither ", Argument("min_date"), " nor ", Argument("max_date"))
        warnings.append(Warn(code="no_date_bounds", message=FrontendText(*bound, ", so dates are not filtered.")))
    return warnings


def _explain_result(services: Services, request: SearchRequest, found: ESearchReply) -> list[Warn]:
    """Warn about the cause of an empty result or an unknown phrase: the filters, a part of the query, the spelling."""
    unknown = any(warning.code in ("phrase_not_found", "quoted_phrase_not_found") for warning in found.warnings)
    if found.count and not unknown:
        return []
    from entrez_kit.pubmed import search_warnings

    query = request.query().text
    if found.count:
        return search_warnings.suggest_spelling(services, query)
    types = search_warnings.warn_about_types(request.filter_by_publication_types)
    filters = request.active_filters()
    bare = request.drop_filters(filters)
    try:
        emptied = search_warnings.warn_about_filters(filters, partial(_count_without, services, request))
    except (UpstreamError, RateLimited):
        return []
    if types or emptied:
        return types + emptied
    reasons = []
    if request.explain or services.settings.answers_in_process:  # else each count is a request over the network
        reasons = search_warnings.warn_about_emptying_part(query, found, partial(count_records, services, bare))
    return reasons + search_warnings.suggest_spelling(services, query, "No results. ")


def _count_without(services: Services, request: SearchRequest, filters: Sequence[str]) -> int:
    """Count the results of a search without some of its filters."""
    wider = request.drop_filters(filters)
    return count_records(services, wider, wider.term())


def count_records(services: Services, request: SearchRequest, term: str) -> int:
    """Count the records that match a term between the request's dates."""
    return find_records(services, request, term, 0).count


def find_records(services: Services, request: SearchRequest, term: str, number: int) -> ESearchReply:
    """Search a term between the request's dates; the reply has the count and up to ``number`` PMIDs."""
    reply = services.eutils.esearch(
        db="pubmed", term=term, retmax=number, deadline_ms=COUNT_DEADLINE_MS, **request.date_parameters()
    )
    return reply.value


def limit_summaries(request: SearchRequest) -> SearchRequest:
    """Return a request of an agent with at most 100 summaries."""
    if request.summaries_wanted <= MAX_MCP_SUMMARIES:
        return request
    limited = request.model_copy(update={"fetch_brief_summaries": MAX_MCP_SUMMARIES})
    after = request.offset + MAX_MCP_SUMMARIES
    text = f"Summaries are limited to the first {MAX_MCP_SUMMARIES} results. For those after them, use offset {after}."
    limited.add_warning("summaries_limited", text)
    return limited


SEARCH_ARTICLES = StreamOperation(
    name="pubmed_search_articles",
    request=SearchRequest,
    result=SearchResult,
    outcomes=search_articles,
    collect=collect_result,
    command=("search",),
    toolset="pubmed",
    title="Search PubMed",
    errors=(UpstreamError, RateLimited),
    aliases=("searchPubMedArticles",),
    agents=AgentOptions(
        portions=("brief_summaries", "pmids"),
        paging=Paging("offset", "max_results"),
        defaults=NO_BROADER_RESULTS,
        caps={"max_results": MAX_MCP_RESULTS, "fetch_brief_summaries": MAX_MCP_SUMMARIES},
        limit=limit_summaries,
    ),
)
