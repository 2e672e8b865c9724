"""Search PubMed: one ESearch, optional brief summaries, and everything NCBI said about the query."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.base import __version__, tracing
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import ANEW, Argument, FrontendText, PerFrontend, listed
from entrez_kit.core.model import (
    Collected,
    Request,
    Result,
    Warn,
    incomplete_error,
    omit_if_empty,
    warn_past_the_last,
    wrong,
)
from entrez_kit.core.operation import Operation, Outcomes, Paging
from entrez_kit.pubmed.models import BriefSummary
from entrez_kit.query import (
    MAX_PUBMED_RESULTS,
    NO_BROADER_RESULTS,
    SPECIES,
    BroaderResults,
    DateBounds,
    EntrezDate,
    QueryInput,
    QueryText,
    bounds,
    broadening,
    date_clause,
    mesh_gap,
    quoted,
    read_query,
)
from entrez_kit.services import Services
from entrez_kit.services.esearch_reply import ESearchReply
from entrez_kit.services.transport.in_flight import all_at_once, in_background

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
"""What ESearch calls the sort orders."""

Sort = Literal["relevance", "pub_date", "author", "journal_name"]


SHORT_SORT_NAMES: Final = {"journal": "journal_name", "date": "pub_date"}


class DateRange(Request):
    """Bounds on one of PubMed's dates; a missing bound is open."""

    min_date: EntrezDate | None = Field(default=None, description="Earliest date: YYYY[/MM[/DD]].")
    max_date: EntrezDate | None = Field(default=None, description="Latest date: YYYY[/MM[/DD]].")
    date_type: Literal["pdat", "mdat", "edat"] = Field(
        default="pdat", description="pdat (publication), mdat (modification) or edat (entry)."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        # Of the year or month that holds the earliest day, as in 2024/06 to 2024, the end is meant.
        if (
            self.min_date
            and self.max_date
            and self.min_date > self.max_date
            and not self.min_date.startswith(self.max_date)
        ):
            raise wrong(
                "min_date",
                FrontendText(f"{self.min_date} is later than ", Argument("max_date"), f" {self.max_date}"),
                self.min_date,
            )
        return self


class SearchRequest(Request):
    """What to search PubMed for."""

    query_term: QueryText = Field(
        min_length=3, description='PubMed query, e.g. "crispr AND review[pt]"; all of PubMed\'s syntax works.'
    )
    max_results: int = Field(
        default=20,
        ge=1,
        description="How many PMIDs to return; narrow by date for more.",
    )
    offset: int = Field(default=0, ge=0, le=MAX_PUBMED_RESULTS - 1, description="How many results to skip.")
    sort_by: Annotated[Sort, BeforeValidator(lambda name: SHORT_SORT_NAMES.get(str(name), name))] = Field(
        default="relevance", description="Order of results."
    )
    date_range: DateRange | None = Field(default=None, description="One bound is enough.")
    filter_by_publication_types: list[str] = Field(
        default_factory=list, max_length=50, description='Any of these publication types, e.g. "Review".'
    )
    author: str | None = Field(default=None, description="As PubMed writes it, e.g. Doudna JA.")
    journal: str | None = Field(default=None, description="Title, abbreviation or ISSN.")
    mesh_terms: list[str] = Field(default_factory=list, max_length=50, description="MeSH terms; all must match.")
    language: str | None = Field(default=None, description="Language, e.g. french.")
    species: Literal["humans", "animals"] | None = Field(default=None, description="Studies of these.")
    has_abstract: bool = Field(default=False, description="Only with an abstract.")
    free_full_text: bool = Field(default=False, description="Only with free full text.")
    fetch_brief_summaries: int = Field(default=0, ge=0, description="How many results get a title.")
    snippet_characters: int = Field(default=0, ge=0, le=MAX_SNIPPET, description="Characters of each abstract.")
    use_history: bool = Field(default=False, description="Keep the result set at NCBI, for fetching.")
    broader_results: BroaderResults = True
    retrieve_all: SkipJsonSchema[bool] = Field(
        default=False, description="Retrieve every result, past the 9,999 PubMed shows, with a certificate."
    )

    @field_validator("max_results")
    @classmethod
    def _within_pubmed(cls, value: int) -> int:
        if value > MAX_PUBMED_RESULTS:
            more = PerFrontend(
                "--all retrieves every one", "narrow it by date for more", "kit.search_all retrieves every one"
            )
            raise ValueError(FrontendText("PubMed shows at most 9999 results of a search; ", more))
        return value

    @property
    def summaries_wanted(self) -> int:
        """The number of results that get a summary. Snippets need summaries; by default all results get one."""
        if self.snippet_characters and not self.fetch_brief_summaries:
            return min(self.max_results, MAX_MCP_SUMMARIES)
        return self.fetch_brief_summaries

    def term(self) -> str:
        """Return the term for ESearch: the query in parentheses, then one clause for each filter.

        Publication types are alternatives, MeSH terms all have to match. Without filters the query is returned as it
        is. Date bounds go in parameters of their own.

        Raises:
            InvalidInput: unbalanced quotes or parentheses, or a filter value that would not stay one value.
        """
        query = self.query().text
        types = " OR ".join(
            f"{quoted(kind, 'filter_by_publication_types')}[Publication Type]"
            for kind in self.filter_by_publication_types
        )
        clauses = [
            f"({types})" if len(self.filter_by_publication_types) > 1 else types,
            f"{quoted(self.author, 'author')}[Author]" if self.author else "",
            f"{quoted(self.journal, 'journal')}[Journal]" if self.journal else "",
            *(f"{quoted(term, 'mesh_terms')}[MeSH Terms]" for term in self.mesh_terms),
            f"{quoted(self.language, 'language')}[Language]" if self.language else "",
            SPECIES[self.species] if self.species else "",
            "hasabstract" if self.has_abstract else "",
            "free full text[Filter]" if self.free_full_text else "",
        ]
        given = list(filter(None, clauses))
        return " AND ".join([f"({query})", *given]) if given else query

    def query(self) -> QueryInput:
        """Return the query as it is sent, without filters, and the warnings about what was typed.

        Raises:
            InvalidInput: unbalanced quotes or parentheses, or the syntax of another service.
        """
        return read_query(self.query_term)

    def date_parameters(self) -> DateBounds:
        """Return ESearch's datetype, mindate and maxdate."""
        dates = self.date_range or DateRange()
        return bounds(dates.min_date, dates.max_date, dates.date_type)

    def effective_term(self) -> str:
        """Return the whole search as one PubMed term, date bounds written out."""
        term, dates = self.term(), self.date_parameters()
        if not dates:
            return term
        clause = date_clause(dates["mindate"], dates["maxdate"], dates["datetype"])
        filtered = term.startswith(f"({self.query().text}) AND ")
        return f"{term} AND {clause}" if filtered else f"({term}) AND {clause}"


class SearchParameters(Result):
    """The request as it was understood."""

    query_term: str
    max_results: int
    offset: int
    sort_by: Sort
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
    use_history: bool | None = omit_if_empty()


class Slice(Result):
    """One piece of a search that was split: a clause of the term, how many PubMed counted and how many came."""

    clause: str
    count: int
    retrieved: int


class Certificate(Result):
    """Proof of a complete retrieval: what PubMed counted, what came, and a hash over the sorted PMIDs.

    ``query`` is the query as typed, ``searched_at`` the time of PubMed's first reply (UTC) and ``version`` that of
    entrez-kit.
    """

    query: str
    searched_at: str
    version: str
    count: int
    retrieved: int
    missing: int
    duplicates: int
    slices: list[Slice]
    query_translation: str
    sha256: str


class SearchResult(Collected):
    """PMIDs in the order asked for, how NCBI understood the query, and its complaints.

    ``effective_esearch_term`` is the whole search as one PubMed term (date bounds written out); ``query_translation``
    is what NCBI made of it. ``searched_at`` is when PubMed answered (UTC), also if the reply is cached, and ``version``
    is that of entrez-kit. ``query_broadened`` is true where NCBI dropped a part that the query requires, so that the
    results match less than was asked; ``strict_total`` is what the query as written would find. Without
    ``broader_results`` such a search lists no PMIDs: ``total_found`` is then ``strict_total`` (null if that is unknown)
    and ``broader_total`` the number of results that are left out. Addresses hold no credentials.
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
        """Return a record for every PMID, with title and authors where there is a summary."""
        summaries = {summary.pmid: summary for summary in self.brief_summaries}
        return [summaries.get(pmid, {"pmid": pmid}) for pmid in self.pmids]


class ArticleHit(NamedTuple):
    """A PMID that was found; the first so many that were asked for have a summary."""

    pmid: str
    summary: BriefSummary | None = None


class SearchHits(Outcomes[ArticleHit]):
    """The PMIDs of a search, slice after slice where all are asked for; what NCBI says of the query is known with the
    first, ``certificate`` and what is missing after the last."""

    def __init__(self, services: Services, request: SearchRequest) -> None:
        super().__init__()
        self._services, self.request = services, request
        self._pmids: dict[str, None] = {}
        self._slices: list[Slice] = []
        self._untitled: list[str] = []
        self.said: dict[str, Any] = {}
        self.total_found = 0
        self.are_left_out = False
        self.web_env: str | None = None
        self.query_key: str | None = None
        self.certificate: Certificate | None = None

    @property
    def retrieved_pmid_count(self) -> int:
        """How many PMIDs came so far."""
        return len(self._pmids)

    def __iter__(self) -> Iterator[ArticleHit]:
        request, services = self.request, self._services
        hidden = in_background(lambda: mesh_warnings(services, request))
        found, url, slices = _whole_search(services, request) if request.retrieve_all else _page(services, request)
        self.total_found = found.count
        if request.use_history:
            self.web_env, self.query_key = found.web_env, found.query_key
        pmids = self._retrieved(slices)
        first = list(islice(pmids, 1))
        verdict = broadening(request.term(), found, partial(count_records, services, request))
        self.warnings += [
            *verdict.warnings(found, request.broader_results),
            *request.query().warnings,
            *hidden(),
        ]
        if not request.retrieve_all:
            self.warnings += _page_warnings(request, found)
        self.warnings += suggestions(services, request, found)
        self.said = {
            **verdict.totals(request.broader_results),
            "query_translation": found.query_translation,
            "esearch_url": url,
            "searched_at": found.searched_at,
        }
        if verdict.leaves_out(request.broader_results):
            self.are_left_out = True
            self._pmids, self.web_env, self.query_key = {}, None, None
            return
        pmids = chain(first, pmids)
        yield from self._fetch_summaries(list(islice(pmids, request.summaries_wanted)))
        yield from map(ArticleHit, pmids)
        if request.retrieve_all:
            self._certify(found)

    def _fetch_summaries(self, pmids: list[str]) -> Iterator[ArticleHit]:
        """Yield hits with their summaries. If a batch fails, its hits have no summary and ``missing_error`` names them.

        Raises:
            UpstreamError, RateLimited: NCBI returned no summary at all.
        """
        if not pmids:
            return
        from entrez_kit.core.batches import fetch_in_batches

        services, snippet = self._services, self.request.snippet_characters
        ask = partial(brief_summaries, services, snippet=snippet)
        answered = False
        for part in fetch_in_batches(pmids, SUMMARIES_PER_REQUEST, ask, at_once=services.eutils.at_once):
            summaries: dict[str, BriefSummary] = {}
            if part.error is None:
                summaries, url, missing = part.answers[0]
                answered = True
                self.said.setdefault("esummary_url", url)
                self.warnings += missing
            elif part.refused:
                self.warnings.append(_summaries_missing(part.ids))
            elif not answered:
                raise part.error
            else:
                self._untitled += part.ids
            for pmid in part.ids:
                yield ArticleHit(pmid, summaries.get(pmid))

    def _retrieved(self, slices: "Iterable[Piece]") -> Iterator[str]:
        """Yield the PMIDs, each once, and note where they came from."""
        for clause, count, ids in slices:
            self._slices.append(Slice(clause=clause, count=count, retrieved=len(ids)))
            new = [pmid for pmid in dict.fromkeys(ids) if pmid not in self._pmids]
            self._pmids.update(dict.fromkeys(new))
            if self.request.retrieve_all:
                tracing.step(len(self._pmids), self.total_found)
            yield from new

    def _certify(self, found: ESearchReply) -> None:
        import hashlib

        sort, retrieved = self.request.sort_by, len(self._pmids)
        if len(self._slices) > 1 and sort != "relevance":
            message = f"Sorted by {sort} within each of {len(self._slices)} slices, not over all of them."
            self.warnings.append(Warn(code="sorted_by_slice", message=message))
        if retrieved > found.count:
            message = f"PubMed counted {found.count} results at first and returned {retrieved}: records were added "
            self.warnings.append(Warn(code="count_changed", message=f"{message}meanwhile."))
        unlisted = sum(max(0, piece.count - piece.retrieved) for piece in self._slices)
        lines = "".join(f"{pmid}\n" for pmid in sorted(self._pmids, key=int))
        self.certificate = Certificate(
            query=self.request.query_term,
            searched_at=found.searched_at,
            version=__version__,
            count=found.count,
            retrieved=retrieved,
            missing=max(0, found.count - retrieved) or unlisted,
            duplicates=sum(piece.retrieved for piece in self._slices) - retrieved,
            slices=self._slices,
            query_translation=found.query_translation,
            sha256=hashlib.sha256(lines.encode()).hexdigest(),
        )

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for PMIDs that NCBI counted and did not list, or for titles it did not return."""
        if self.are_left_out:
            return None
        shown = min(self.total_found, MAX_PUBMED_RESULTS) - self.request.offset
        expected = max(0, min(self.request.max_results, shown))
        missing = self.certificate.missing if self.certificate else expected - self.retrieved_pmid_count
        if missing <= 0 and self._untitled:
            message = f"NCBI returned no title for {len(self._untitled):,} of {self.retrieved_pmid_count:,} results."
            return incomplete_error(self._untitled, message)
        return incomplete_error(
            max(0, missing),
            f"NCBI counted more results than it returned: {missing} PMIDs are missing.",
            hint=FrontendText(ANEW, "; if it stays so, narrow the query by date."),
        )


Piece = tuple[str, int, list[str]]
"""A clause that was added to the term, how many PubMed counted, and the PMIDs."""
Search = tuple[ESearchReply, str, Iterable[Piece]]
"""What ESearch says of a query, the address asked, and the PMIDs in pieces."""


def _page(services: Services, request: SearchRequest) -> Search:
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


def _whole_search(services: Services, request: SearchRequest) -> Search:
    """Begin to retrieve every PMID, however many. Above 9,999 they come by date of entry, newest slice first, and in
    the order asked for within each slice."""
    from entrez_kit.pubmed.date_slices import Slicer

    slicer = Slicer(services, request.term(), sort=SORT_NAMES[request.sort_by], dates=request.date_parameters())
    whole, url = slicer.ask(None, MAX_PUBMED_RESULTS)
    return whole, url, ((piece.clause, piece.count, piece.ids) for piece in slicer.slices(whole))


def search_articles(services: Services, request: SearchRequest) -> SearchHits:
    """Search PubMed and return PMIDs with NCBI's reading of the query.

    Use it to find articles by topic, author, journal, date or MeSH term, e.g.
    query_term "base editing AND sickle cell". Read the `warnings`.

    Raises:
        InvalidInput: unbalanced query, a bad filter value or a date that does not exist.
        UpstreamError: NCBI did not answer after every attempt.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: ESearch (db=pubmed), as often as there are slices where all results are asked for, again to count what MeSH
    hides or a dropped part leaves; ESummary 2.0 for summaries, EFetch for what abstracts say; ESpell when nothing was
    found or a phrase is in no record, or ESearch for which filter it was.
    """
    if request.retrieve_all and (request.offset or request.use_history):
        name = "offset" if request.offset else "use_history"
        raise InvalidInput(
            FrontendText(
                Argument(name), ": retrieving all results starts at the first and keeps no result set at NCBI."
            ),
            invalid_input=f"{name}={getattr(request, name)}",
            recovery_hint=FrontendText("Leave ", Argument(name), " out", PerFrontend(", or leave out --all", ""), "."),
        )
    return SearchHits(services, request)


def result_of(request: SearchRequest, hits: SearchHits) -> SearchResult:
    """Collect the PMIDs of a search."""
    return describe(request, hits, list(hits))


def describe(request: SearchRequest, hits: SearchHits, found: Sequence[ArticleHit] = ()) -> SearchResult:
    """Return the document of a search that has ended.

    Args:
        request: the request.
        hits: the search, after its hits were taken.
        found: the hits that the document lists.
    """
    asked = request.model_dump(include=set(SearchParameters.model_fields), exclude={"date_range"})
    for name in ("has_abstract", "free_full_text", "use_history", "snippet_characters"):
        asked[name] = asked[name] or None
    if dates := request.date_parameters():  # the bounds that are in force
        first, last, kind = dates["mindate"], dates["maxdate"], dates["datetype"]
        asked["date_range"] = {"min_date": first, "max_date": last, "date_type": kind}
    if request.retrieve_all:
        asked["max_results"] = max(hits.total_found, 1)
        asked["fetch_brief_summaries"] = min(asked["fetch_brief_summaries"], hits.total_found)
    return SearchResult(
        search_parameters=SearchParameters(**asked),
        effective_esearch_term=request.effective_term(),
        retrieved_pmid_count=hits.retrieved_pmid_count,
        pmids=[hit.pmid for hit in found],
        brief_summaries=[hit.summary for hit in found if hit.summary is not None],
        version=__version__,
        warnings=hits.warnings,
        web_env=hits.web_env,
        query_key=hits.query_key,
        certificate=hits.certificate,
        **hits.said,
    )


def _page_warnings(request: SearchRequest, found: ESearchReply) -> list[Warn]:
    warnings = []
    if found.count > MAX_PUBMED_RESULTS and request.offset + request.max_results >= MAX_PUBMED_RESULTS:
        more = PerFrontend("--all retrieves every one.", "narrow the query by date for the others.")
        message = FrontendText(f"PubMed shows only the first 9999 of {found.count} results; ", more)
        warnings.append(Warn(code="results_capped", message=message))
    warnings += warn_past_the_last(request.offset, found.count, "results")
    if request.date_range is not None and not request.date_parameters():
        bound = (Argument("date_range"), " has neither ", Argument("min_date"), " nor ", Argument("max_date"))
        warnings.append(Warn(code="no_date_bounds", message=FrontendText(*bound, ": no date filter applied.")))
    return warnings


def brief_summaries(
    services: Services, pmids: list[str], snippet: int = 0
) -> tuple[dict[str, BriefSummary], str, list[Warn]]:
    """Return summaries by PMID, the address asked, and warnings naming what NCBI left out.

    Args:
        services: the clients.
        pmids: of which there are to be summaries.
        snippet: how many characters of the abstract each has.
    """
    from entrez_kit.pubmed.summaries import parse_summaries

    abstracts = in_background(lambda: _abstracts(services, pmids)) if snippet else None
    reply = services.eutils.esummary(db="pubmed", ids=pmids, version="2.0", partial=True, read=parse_summaries)
    by_pmid = {summary.pmid: summary for summary in reply.value[0]}
    warnings = []
    if missing := [pmid for pmid in pmids if pmid not in by_pmid]:
        warnings.append(_summaries_missing(missing))
    if abstracts is not None:
        texts = abstracts()
        if unread := [pmid for pmid in pmids if pmid not in texts]:
            message = f"NCBI returned no record of PMID {listed(unread)}."
            warnings.append(Warn(code="abstracts_missing", message=message))
        for pmid, summary in by_pmid.items():
            summary.snippet = _beginning(texts.get(pmid) or "", snippet) or None
    return by_pmid, reply.url, warnings


def _summaries_missing(pmids: Sequence[str]) -> Warn:
    return Warn(code="summaries_missing", message=f"NCBI returned no summary for PMID {listed(pmids)}.")


def _abstracts(services: Services, pmids: Sequence[str]) -> dict[str, str | None]:
    """Return the abstract of each record, None where it has none; a record that did not come is not there."""
    from entrez_kit.pubmed.record_fetcher import Retrieval

    retrieval = Retrieval.of_ids(services, pmids)
    texts = {item.record.pmid: item.record.article().abstract_text for item in retrieval if item.record is not None}
    retrieval.raise_if_nothing_answered()
    return texts


def _beginning(text: str, most: int) -> str:
    """Return a text in one line, cut at the end of a word where it is longer."""
    words = " ".join(text.split())
    if len(words) <= most:
        return words
    return f"{words[: most - 1].rpartition(' ')[0] or words[: most - 1]}…"


SEARCH_ARTICLES = Operation(
    name="pubmed_search_articles",
    portions=("brief_summaries", "pmids"),
    paging=Paging("offset", "max_results"),
    outcomes=search_articles,
    collect=result_of,
    command=("search",),
    toolset="pubmed",
    title="Search PubMed",
    errors=(UpstreamError, RateLimited),
    aliases=("searchPubMedArticles",),
    mcp_defaults=NO_BROADER_RESULTS,
    mcp_caps={"max_results": MAX_MCP_RESULTS, "fetch_brief_summaries": MAX_MCP_SUMMARIES},
)


# Warnings: what must be known before results are read

COUNT_DEADLINE_MS: Final = 15_000
"""A count that only explains a result is not worth more of anybody's time."""
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
MAX_HIDDEN: Final = 20
"""PMIDs in the warning about records without MeSH terms."""
UNINDEXED: Final = "NOT medline[sb]"
"""Records without MeSH: those still in process, those as publishers supplied them, and those out of MEDLINE's scope."""


def mesh_warnings(services: Services, request: SearchRequest) -> list[Warn]:
    """Find the records that match except for MeSH terms they do not have; sends one request, and never fails.

    The warning counts them and lists the first PMIDs.
    """
    gap = mesh_gap(request.term())
    if gap is None:
        return []
    names = [Argument(name, marked=True) for name in ("species", "mesh_terms") if getattr(request, name)]
    what = _listed(names, "and") if names else "a MeSH term of the query"
    try:
        hidden = find_records(services, request, f"({gap.rest}) {UNINDEXED}", MAX_HIDDEN)
    except EntrezKitError as exc:
        why = f"; how many there are was not answered: {exc.message}"
        message = FrontendText("Records without MeSH terms cannot match ", what, why)
        return [Warn(code="without_mesh_uncounted", message=message)]
    number = hidden.count
    if not number:
        return []
    records, match, have = ("1 record", "matches", "has") if number == 1 else (f"{number:,} records", "match", "have")
    known = "with the same words" if gap.by_words else f"that {match} otherwise"
    message = FrontendText(f"{records} {known} {have} no MeSH terms, or none yet, and cannot match ", what, ".")
    return [Warn(code="without_mesh", message=message, terms=hidden.ids)]


def suggestions(services: Services, request: SearchRequest, found: ESearchReply) -> list[Warn]:
    """Say why nothing was found, or too much: which filter left nothing of what the query finds, or NCBI's spelling."""
    unknown = any(one.code in ("phrase_not_found", "quoted_phrase_not_found") for one in found.complaints)
    if found.count and not unknown:
        return []
    dated = bool(request.date_parameters())
    filters = [name for name in FILTERS if getattr(request, name) and (name != "date_range" or dated)]
    given = [] if found.count else filters
    try:
        emptied = _emptied_by(services, request, given) if given else []
        return emptied or _spelling(services, request.query().text, "" if found.count else "Nothing was found. ")
    except (UpstreamError, RateLimited):
        return []


def _emptied_by(services: Services, request: SearchRequest, given: Sequence[str]) -> list[Warn]:
    """Name the filters to blame. Asks for a count without any, without each, and at worst with each alone."""

    def counts(requests: Sequence[SearchRequest]) -> list[int]:
        return all_at_once([partial(count_records, services, one, one.term()) for one in requests])

    bare = _without(request, given)
    without_one = [_without(request, [name]) for name in given] if len(given) > 1 else []
    total, *left = counts([bare, *without_one])
    if not total:
        return []
    found = f"The query alone finds {total:,} {'record' if total == 1 else 'records'}"
    names = [Argument(name, marked=True) for name in given]
    if len(names) == 1:
        message = FrontendText(found, "; ", names[0], " leaves none of them.")
    elif any(left):
        rest = [
            FrontendText("without ", name, f" {number:,}") for name, number in zip(names, left, strict=True) if number
        ]
        message = FrontendText(found, ", the filters leave none: ", FrontendText.joined(", ", rest), " would be left.")
    else:
        alone = counts([_without(request, [name for name in given if name != one]) for one in given])
        culprits = [name for name, number in zip(names, alone, strict=True) if not number]
        if culprits:
            message = FrontendText(found, "; ", _listed(culprits, "or"), " alone leaves none of them.")
        else:
            each = [FrontendText(name, f" alone {number:,}") for name, number in zip(names, alone, strict=True)]
            message = FrontendText(
                found, "; the filters leave none only together: ", FrontendText.joined(", ", each), "."
            )
    return [Warn(code="filters_emptied", message=message)]


def _without(request: SearchRequest, names: Sequence[str]) -> SearchRequest:
    fields = type(request).model_fields
    return request.model_copy(update={name: fields[name].get_default(call_default_factory=True) for name in names})


def count_records(services: Services, request: SearchRequest, term: str) -> int:
    """Count the records of a term between the request's dates."""
    return find_records(services, request, term, 0).count


def find_records(services: Services, request: SearchRequest, term: str, number: int) -> ESearchReply:
    """Return the count of a term between the request's dates, and this many of its PMIDs."""
    reply = services.eutils.esearch(
        db="pubmed", term=term, retmax=number, deadline_ms=COUNT_DEADLINE_MS, **request.date_parameters()
    )
    return reply.value


def _spelling(services: Services, query: str, said: str) -> list[Warn]:
    """Ask for NCBI's suggestion; a search stands even when ESpell does not answer."""
    try:
        suggestion = services.eutils.espell(term=query, db="pubmed").value.corrected
    except (UpstreamError, RateLimited, InvalidInput, EntityNotFound) as exc:
        return [Warn(code="spelling_unavailable", message=f"NCBI gave no spelling suggestion: {exc.message}")]
    if not suggestion or suggestion.lower() == query.lower():
        return []
    return [Warn(code="spelling_suggestion", message=f"{said}Did you mean: {suggestion}")]


def _listed(names: Sequence[Argument], conjunction: str) -> FrontendText:
    *front, last = names
    return FrontendText(FrontendText.joined(", ", front), f" {conjunction} ", last) if front else FrontendText(last)
