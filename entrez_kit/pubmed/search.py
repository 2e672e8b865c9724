"""Search PubMed: one ESearch, optional brief summaries, and warnings about the query.

The functions are in the order of a search: it is sent, compared with the query, explained, and its PMIDs are yielded.
`search_models.py` has the request and the result. `search_counts.py`, `search_warnings.py`, `brief_summaries.py` and
`complete_search.py` are imported only by a search that needs them.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from entrez_kit.base import __version__
from entrez_kit.base.errors import EntrezKitError, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import RETRY_WITHOUT_CACHE, FrontendText, format_count
from entrez_kit.core.model import Warn, incomplete_error
from entrez_kit.core.operation import AgentOptions, Outcomes, Paging, StreamOperation
from entrez_kit.core.query_input import NO_BROADER_RESULTS, has_operator
from entrez_kit.pubmed.models import BriefSummary, Certificate, Slice
from entrez_kit.pubmed.search_models import (
    SORT_NAMES,
    PmidSlice,
    SearchParameters,
    SearchRequest,
    SearchResult,
    StartedSearch,
)
from entrez_kit.services import Services
from entrez_kit.services.small_replies import MAX_PUBMED_RESULTS, ESearchReply

if TYPE_CHECKING:
    from entrez_kit.core.broadening import Broadening

MAX_MCP_SUMMARIES: Final = 100
MAX_MCP_RESULTS: Final = 1_000


def search_articles(services: Services, request: SearchRequest) -> "SearchHits":
    """Search PubMed for PMIDs.

    Use it to find articles, e.g. query_term "base editing AND sickle cell". Read `warnings`.

    Raises:
        InvalidInput: an unbalanced query, an invalid filter value or a date that does not exist.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: ESearch (db=pubmed), once per slice to retrieve all results, and for the counts in warnings; ESummary 2.0
    for summaries; EFetch for abstracts; ESpell if the search finds nothing or a phrase is in no record.
    """
    request.check_complete_retrieval()
    return SearchHits(services, request)


class ArticleHit(NamedTuple):
    """A PMID of the result; the first hits have a summary if the request asks for summaries."""

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

    def _yield_items(self) -> Iterator[ArticleHit]:
        request = self.request
        (reply, url, slices), mesh_warnings = self._send()
        self.total_found = reply.count
        broadening = self._compare_with_query(reply)
        if broadening is not None:
            self.warnings += broadening.list_warnings(reply, request.broader_results)
            self.are_left_out = broadening.is_left_out(request.broader_results)
        self.warnings += [*request.query().warnings, *mesh_warnings]
        if not request.retrieve_all:
            self.warnings += request.list_page_warnings(reply.count)
        self.warnings += self._explain(reply)
        self.reply_fields = {
            "total_found": reply.count,
            **({} if broadening is None else broadening.build_totals(request.broader_results)),
            "query_translation": reply.query_translation,
            "esearch_url": url,
            "searched_at": reply.searched_at,
        }
        if self.are_left_out:
            return
        if request.use_history:
            self.web_env, self.query_key = reply.web_env, reply.query_key
        pmids = self._yield_pmids(slices)
        yield from self._add_summaries(list(islice(pmids, request.summaries_wanted)))
        yield from map(ArticleHit, pmids)
        if request.retrieve_all:
            from entrez_kit.pubmed.complete_search import certify, warn_about_certificate

            self.certificate = certify(request.query_term, reply, self._slices, self._pmids)
            self.warnings += warn_about_certificate(self.certificate, request.sort_by)

    def _send(self) -> tuple[StartedSearch, list[Warn]]:
        """Send the search; return it with the warning about the records that only its MeSH terms exclude."""
        search = partial(_start_search, self._services, self.request)
        term = self.request.term()
        if "[" not in term:  # the parser is not imported for a query without field tags
            return search(), []
        from entrez_kit.query.reduction import find_mesh_gap

        gap = find_mesh_gap(term)
        if gap is None:
            return search(), []
        from entrez_kit.pubmed.search_warnings import search_with_mesh_count

        return search_with_mesh_count(self._services, self.request, gap, search)

    def _compare_with_query(self, reply: ESearchReply) -> "Broadening | None":
        """Return how the search differs from the query; None without a sign of a difference, to import nothing then."""
        services, request = self._services, self.request
        if not reply.warnings and not has_operator(request.term()):
            return None
        from entrez_kit.core.broadening import compare_with_query
        from entrez_kit.pubmed.search_counts import count_matches

        return compare_with_query(request.term(), reply, partial(count_matches, services, request))

    def _explain(self, reply: ESearchReply) -> list[Warn]:
        """Warn about the cause of an empty result or an unknown phrase."""
        if reply.count and not _has_unknown_phrase(reply):
            return []
        from entrez_kit.pubmed.search_warnings import explain_empty_result, suggest_spelling

        if reply.count:
            return suggest_spelling(self._services, self.request.query().text)
        return explain_empty_result(self._services, self.request, reply)

    def _yield_pmids(self, slices: Iterable[PmidSlice]) -> Iterator[str]:
        """Yield each PMID once, and record its slice."""
        for clause, total, pmids in slices:
            self._slices.append(Slice(clause=clause, count=total, retrieved=len(pmids)))
            new = [pmid for pmid in dict.fromkeys(pmids) if pmid not in self._pmids]
            self._pmids.update(dict.fromkeys(new))
            if self.request.retrieve_all:
                from entrez_kit.base.progress import report_progress

                report_progress(len(self._pmids), self.total_found)
            yield from new

    def _add_summaries(self, pmids: list[str]) -> Iterator[ArticleHit]:
        """Yield hits with their summaries. If a batch fails, its hits have no summary and ``missing_error`` names them.

        Raises:
            UpstreamError, RateLimited: the first batch failed.
        """
        if not pmids:
            return
        from entrez_kit.core.batches import fetch_in_batches
        from entrez_kit.pubmed.brief_summaries import SUMMARIES_PER_REQUEST, fetch_brief_summaries, warn_about_missing

        services, request = self._services, self.request
        fetch = partial(
            fetch_brief_summaries, services, snippet=request.snippet_characters, registrations=request.registrations
        )
        has_summaries = False
        for batch in fetch_in_batches(pmids, SUMMARIES_PER_REQUEST, fetch, at_once=services.eutils.at_once):
            summaries: dict[str, BriefSummary] = {}
            if batch.error is None:
                summaries, url, warnings = batch.answers[0]
                has_summaries = True
                self.reply_fields.setdefault("esummary_url", url)
                self.warnings += warnings
            elif batch.refused:
                self.warnings.append(warn_about_missing(batch.ids))
            elif not has_summaries:
                raise batch.error
            self._untitled += [pmid for pmid in batch.ids if pmid not in summaries]
            for pmid in batch.ids:
                yield ArticleHit(pmid, summaries.get(pmid))

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

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for PMIDs that NCBI counted and did not list, or for titles it did not return."""
        if self.are_left_out:
            return None
        available = min(self.total_found, MAX_PUBMED_RESULTS) - self.request.offset
        expected = max(0, min(self.request.max_results, available))
        missing = self.certificate.missing if self.certificate else expected - self.retrieved_pmid_count
        if missing <= 0 and self._untitled:
            share = f"{len(self._untitled):,} of {format_count(self.retrieved_pmid_count, 'result')}"
            return incomplete_error(self._untitled, f"NCBI returned no title for {share}.")
        return incomplete_error(
            max(0, missing),
            f"NCBI counted more results than it returned: {format_count(missing, 'PMID is', 'PMIDs are')} missing.",
            hint=FrontendText(RETRY_WITHOUT_CACHE, "; if this persists, narrow the query by date."),
        )


def _start_search(services: Services, request: SearchRequest) -> StartedSearch:
    """Send the search, or the first request of a retrieval of all results."""
    if request.retrieve_all:
        from entrez_kit.pubmed.complete_search import start_complete_search

        return start_complete_search(
            services, request.term(), sort=SORT_NAMES[request.sort_by], dates=request.date_parameters()
        )
    sent = services.eutils.esearch(
        db="pubmed",
        term=request.term(),
        retmax=min(request.max_results, MAX_PUBMED_RESULTS - request.offset),
        retstart=request.offset,
        sort=SORT_NAMES[request.sort_by],
        usehistory=request.use_history,
        partial=True,
        **request.date_parameters(),
    )
    reply = sent.value
    return StartedSearch(reply, sent.url, [PmidSlice("", reply.count, reply.ids)])


def _has_unknown_phrase(reply: ESearchReply) -> bool:
    codes = {warning.code for warning in reply.warnings}
    return not codes.isdisjoint(("phrase_not_found", "quoted_phrase_not_found"))


def collect_result(request: SearchRequest, hits: SearchHits) -> SearchResult:
    """Collect the PMIDs of a search."""
    return build_result(hits, list(hits))


def build_result(hits: SearchHits, listed: Sequence[ArticleHit] = ()) -> SearchResult:
    """Return the result document of a completed search.

    Args:
        hits: the search, after its hits were consumed.
        listed: the hits that the document lists.
    """
    return SearchResult(
        search_parameters=_describe_request(hits),
        effective_esearch_term=hits.request.effective_term(),
        retrieved_pmid_count=hits.retrieved_pmid_count,
        pmids=[hit.pmid for hit in listed],
        brief_summaries=[hit.summary for hit in listed if hit.summary is not None],
        version=__version__,
        warnings=hits.warnings,
        web_env=hits.web_env,
        query_key=hits.query_key,
        certificate=hits.certificate,
        **hits.reply_fields,
    )


def _describe_request(hits: SearchHits) -> SearchParameters:
    """Return the request as the result shows it: with the effective dates, order and numbers."""
    request = hits.request
    requested = request.model_dump(include=set(SearchParameters.model_fields), exclude={"date_range"})
    for name in ("has_abstract", "free_full_text", "use_history", "snippet_characters", "registrations"):
        requested[name] = requested[name] or None
    if dates := request.date_parameters():
        first, last, kind = dates["mindate"], dates["maxdate"], dates["datetype"]
        requested["date_range"] = {"min_date": first, "max_date": last, "date_type": kind}
    if request.sort_by == "relevance" and hits.is_from_copy:
        requested["sort_by"] = "bm25"
    if request.retrieve_all:
        requested["max_results"] = max(hits.total_found, 1)
        requested["fetch_brief_summaries"] = min(requested["fetch_brief_summaries"], hits.total_found)
    return SearchParameters(**requested)


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
