"""A search of PubMed: the request with its checks, its term for ESearch, and the result."""

import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import Argument, FrontendText, PerFrontend, format_count
from entrez_kit.core.model import (
    Collected,
    Request,
    Result,
    Warn,
    WrongValue,
    contradiction_error,
    omit_if_empty,
    warn_past_the_last,
)
from entrez_kit.core.query_input import (
    SPECIES,
    BroaderResults,
    DateBounds,
    EntrezDate,
    QueryInput,
    QueryText,
    build_date_bounds,
    build_date_clause,
    quote_filter,
    read_query,
)
from entrez_kit.pubmed.models import BriefSummary, Certificate
from entrez_kit.services.small_replies import MAX_PUBMED_RESULTS, ESearchReply

MAX_SNIPPET: Final = 2_000

SORT_NAMES: Final = {
    "relevance": "relevance",
    "pub_date": "pub_date",
    "author": "Author",
    "journal_name": "JournalName",
}
"""ESearch's names of the sort orders."""

Sort = Literal["relevance", "pub_date", "author", "journal_name"]

SHORT_SORT_NAMES: Final = {"journal": "journal_name", "date": "pub_date"}

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
                FrontendText(f"({self.min_date}) is later than ", Argument("max_date"), f" ({self.max_date})"),
                self.min_date,
                hint="Swap the two dates, or correct one of them.",
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
    date_range: DateRange | None = Field(default=None, description="min_date, max_date or both.")
    filter_by_publication_types: list[str] = Field(
        default_factory=list, max_length=50, description="Any of these, e.g. Review."
    )
    author: str | None = Field(default=None, description="In PubMed's form, e.g. Doudna JA.")
    journal: str | None = Field(default=None, description="Title, abbreviation or ISSN.")
    mesh_terms: list[str] = Field(default_factory=list, max_length=50, description="All must match.")
    language: str | None = Field(default=None, description="E.g. french.")
    species: Literal["humans", "animals"] | None = Field(
        default=None, description="By MeSH terms, which new records lack."
    )
    has_abstract: bool = Field(default=False, description="Only with an abstract.")
    free_full_text: bool = Field(default=False, description="Only with free full text.")
    fetch_brief_summaries: int = Field(default=0, ge=0, description="Summaries to return.")
    snippet_characters: int = Field(default=0, ge=0, le=MAX_SNIPPET, description="Characters per abstract.")
    registrations: bool = Field(default=False, description="Add registration numbers.")
    use_history: bool = Field(default=False, description="Keep the results at NCBI.")
    broader_results: BroaderResults = True
    explain: SkipJsonSchema[bool] = Field(
        default=False, description="If nothing is found, count parts of the query, and name the one without a match."
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
            raise WrongValue(f"a whole number from 1 to {MAX_PUBMED_RESULTS}", hint)
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

    def check_complete_retrieval(self) -> None:
        """Refuse a page or a result set at NCBI together with a retrieval of all results.

        Raises:
            InvalidInput: the request has both.
        """
        if not self.retrieve_all or not (self.offset or self.use_history):
            return
        name = "offset" if self.offset else "use_history"
        raise InvalidInput(
            FrontendText(
                Argument(name), " cannot be used with ", PerFrontend("--all", "a retrieval of all results"), "."
            ),
            invalid_input=f"{name}={getattr(self, name)}",
            recovery_hint=FrontendText("Omit ", Argument(name), PerFrontend(", or omit --all", ""), "."),
            details={"reason": "bad_usage"},
        )

    def list_page_warnings(self, total: int) -> list[Warn]:
        """Return the warnings about results that the page cannot have, and about dates without bounds.

        Args:
            total: the number of results that PubMed counted.
        """
        warnings = []
        if total > MAX_PUBMED_RESULTS and self.offset + self.max_results >= MAX_PUBMED_RESULTS:
            more = PerFrontend("use --all to retrieve all of them.", "narrow the query by date for the others.")
            message = FrontendText(f"PubMed returns only the first 9999 of {format_count(total, 'result')}; ", more)
            warnings.append(Warn(code="results_capped", message=message))
        warnings += warn_past_the_last(self.offset, total, "result")
        if self.date_range is not None and not self.date_parameters():
            bound = (Argument("date_range"), " has neither ", Argument("min_date"), " nor ", Argument("max_date"))
            warnings.append(Warn(code="no_date_bounds", message=FrontendText(*bound, ", so dates are not filtered.")))
        return warnings


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


class PmidSlice(NamedTuple):
    """A part of a search: the clause added to its term, PubMed's count of its records, and the PMIDs listed."""

    clause: str
    total: int
    pmids: list[str]


class StartedSearch(NamedTuple):
    """ESearch's first reply, the URL of its request, and the PMIDs in slices; later slices need requests."""

    reply: ESearchReply
    url: str
    slices: Iterable[PmidSlice]
