"""Count the results of a search by year, journal, publication type and MeSH heading."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Final, Literal, get_args

from pydantic import BeforeValidator, Field

from entrez_kit.base.errors import RateLimited, UpstreamError
from entrez_kit.base.frontend_text import Argument, FrontendText, format_count
from entrez_kit.core.model import Collected, Request, Result, Warn, omit_if_empty, split_at_commas
from entrez_kit.core.operation import AgentOptions, DocumentOperation
from entrez_kit.core.query_input import EARLIEST, NO_BROADER_RESULTS, BroaderResults
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.pubmed.search import SEARCH_ARTICLES
from entrez_kit.pubmed.search_counts import count_matches
from entrez_kit.services import Services
from entrez_kit.services.small_replies import MAX_PUBMED_RESULTS
from entrez_kit.services.transport.in_flight import run_all

FacetName = Literal["year", "journal", "type", "mesh"]
FACETS: Final[tuple[FacetName, ...]] = get_args(FacetName)
MAX_MCP_RECORDS: Final = 2_000
MAX_MCP_VALUES: Final = 50
MAX_YEARS: Final = 30
"""The most years that are counted by ESearch, with one request each."""


class FacetsRequest(Request):
    """The query and the facets to count."""

    query_term: str = Field(min_length=3, description="PubMed query.")
    facets: Annotated[list[FacetName], BeforeValidator(split_at_commas)] = Field(
        default_factory=lambda: [*FACETS], description="What to count: year, journal, type or mesh."
    )
    top: int = Field(default=10, ge=1, le=100, description="Values per facet.")
    max_records: int = Field(
        default=1_000,
        ge=1,
        le=MAX_PUBMED_RESULTS,
        description="Results to read, best first.",
    )
    broader_results: BroaderResults = True


class FacetValue(Result):
    """A value, and how many records have it; a MeSH heading also has its ``ui``."""

    value: str
    count: int
    ui: str | None = omit_if_empty()


class FacetRow(FacetValue):
    """A value as a row of a table."""

    facet: FacetName


class Facet(Result):
    """The most frequent values of one facet, or the latest years.

    ``counted`` is the number of records counted, ``without`` the number of records without a value, and
    ``other_values`` the number of values that are not listed. ``counted_by`` is "records" if the records were read, or
    "esearch" if NCBI counted all results. ESearch counts a record in the year of its print date and in the year of its
    electronic date; ``earlier`` counts the records before the years listed.
    """

    facet: FacetName
    counted: int
    counted_by: Literal["records", "esearch"]
    values: list[FacetValue]
    other_values: int | None = omit_if_empty()
    without: int | None = omit_if_empty()
    earlier: int | None = omit_if_empty()


class FacetsResult(Collected):
    """Facets in the order requested. ``records_counted`` of ``total_found`` records were read.

    ``complete`` is true if all results were read. ``query_broadened`` is true if NCBI dropped a part that the query
    requires; ``strict_total`` is the number of results of the query as written. Without ``broader_results`` such a
    query has no facets: ``total_found`` is then ``strict_total`` (null if unknown), and ``broader_total`` is the number
    of results that were not counted.
    """

    RECORDS: ClassVar = "facets"

    query_term: str
    query_translation: str
    query_broadened: bool | None = omit_if_empty()
    total_found: int | None
    strict_total: int | None = omit_if_empty()
    broader_total: int | None = omit_if_empty()
    records_counted: int
    complete: bool
    searched_at: str
    version: str
    facets: list[Facet]
    warnings: list[Warn] = Field(default_factory=list)

    def records_inside(self) -> list[Any]:
        """Return a record for every value."""
        return [FacetRow(facet=facet.facet, **dict(value)) for facet in self.facets for value in facet.values]


def count_facets(services: Services, request: FacetsRequest) -> FacetsResult:
    """Count the years, journals, publication types and MeSH headings of a query's results.

    Use it for an overview, e.g. query_term "base editing".

    Raises:
        InvalidInput: the query is unbalanced.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: ESearch and EFetch (db=pubmed): the records are read, because only they have MeSH headings. If a query has
    more than ``max_records`` results, ESearch counts the years.
    """
    search = SEARCH_ARTICLES.compute(
        services,
        SEARCH_ARTICLES.build(
            {
                "query_term": request.query_term,
                "max_results": request.max_records,
                "broader_results": request.broader_results,
            }
        ),
    )
    total = search.total_found or 0
    names = list(dict.fromkeys(request.facets)) if search.broader_total is None else []
    all_are_here = total <= len(search.pmids)
    by_records = [name for name in names if all_are_here or name != "year"]
    counts = _RecordCounts(by_records)
    retrieval = Retrieval.of_ids(services, search.pmids if by_records else [], keep="fields")
    for item in retrieval:
        if item.record is not None:
            counts.add(item.record.article())
    retrieval.raise_if_nothing_answered()
    warnings = [*search.warnings, *retrieval.warnings]
    if by_records and not all_are_here:
        part = f"counted for the {counts.records:,} most relevant of {format_count(total, 'result')}. "
        message = FrontendText(f"{' and '.join(by_records)}: {part}Use ", Argument("max_records"), " to read more.")
        warnings.append(Warn(code="counted_in_part", message=message))
    facets = [
        counts.build_facet(name, request.top) if name in by_records else _count_years(services, request, total)
        for name in names
    ]
    result = FacetsResult(
        query_term=request.query_term,
        query_translation=search.query_translation,
        query_broadened=search.query_broadened,
        strict_total=search.strict_total,
        broader_total=search.broader_total,
        total_found=search.total_found,
        searched_at=search.searched_at,
        version=search.version,
        records_counted=counts.records,
        complete=counts.records == search.total_found,
        facets=facets,
        warnings=warnings,
    )
    result.set_missing_error(retrieval.missing_error())
    return result


class _RecordCounts:
    """The values of records, counted by facet.

    Args:
        names: the facets to count.
    """

    def __init__(self, names: Sequence[FacetName]) -> None:
        self.records = 0
        self._names = names
        self._values: dict[str, Counter[str]] = {name: Counter() for name in names}
        self._without: Counter[str] = Counter()
        self._headings: dict[str, str] = {}

    def add(self, article: Article) -> None:
        """Count the values of an article."""
        self.records += 1
        for name in self._names:
            values = dict(_list_values(name, article))
            self._values[name].update(values.keys())
            self._without[name] += not values
            if name == "mesh":
                self._headings.update({heading: ui for heading, ui in values.items() if ui})

    def build_facet(self, name: FacetName, top: int) -> Facet:
        """Return the most frequent values of a facet, or the latest years."""

        def order(entry: tuple[str, int]) -> tuple[Any, ...]:
            value, count = entry
            return (-int(value),) if name == "year" else (-count, value)

        ordered = sorted(self._values[name].items(), key=order)
        identifiers = self._headings if name == "mesh" else {}
        return Facet(
            facet=name,
            counted=self.records,
            counted_by="records",
            values=[FacetValue(value=value, count=count, ui=identifiers.get(value)) for value, count in ordered[:top]],
            other_values=len(ordered[top:]) or None,
            without=self._without[name] or None,
            earlier=(sum(count for _, count in ordered[top:]) or None) if name == "year" else None,
        )


def _list_values(name: FacetName, article: Article) -> Iterator[tuple[str, str | None]]:
    """Yield the values of an article; a MeSH heading has its identifier, which some records lack."""
    journal = article.journal_info
    if name == "type":
        yield from ((kind, None) for kind in article.publication_types)
    elif name == "mesh":
        yield from ((term.descriptor_name, term.ui) for term in article.mesh_terms)
    elif journal is not None and name == "journal":
        title = journal.iso_abbreviation or journal.title
        yield from [(title, None)] if title else []
    elif journal is not None and journal.publication_date is not None and journal.publication_date.year:
        yield str(journal.publication_date.year), None


def _count_years(services: Services, request: FacetsRequest, total: int) -> Facet:
    """Count the latest years of all results by ESearch, from next year on, because its issues exist already."""
    latest = services.clock.today().year + 1
    years = range(latest, latest - min(request.top, MAX_YEARS) - 1, -1)

    def count(first: str, last: int) -> int:
        dates = {"min_date": first, "max_date": str(last)}
        ask = SEARCH_ARTICLES.build({"query_term": request.query_term, "date_range": dates})
        return count_matches(services, ask, ask.term())

    spans = [(EARLIEST, years[-1] - 1), *((str(year), year) for year in years)]
    before, *each = run_all([partial(count, *span) for span in spans])
    values = [FacetValue(value=str(year), count=number) for year, number in zip(years, each, strict=True) if number]
    top_values, rest = values[: request.top], values[request.top :]
    return Facet(
        facet="year",
        counted=total,
        counted_by="esearch",
        values=top_values,
        earlier=before + sum(value.count for value in rest) or None,
    )


COUNT_FACETS: Final = DocumentOperation(
    name="pubmed_count_facets",
    request=FacetsRequest,
    result=FacetsResult,
    function=count_facets,
    command=("facets",),
    toolset="pubmed",
    title="Count facets",
    errors=(UpstreamError, RateLimited),
    agents=AgentOptions(
        defaults=NO_BROADER_RESULTS,
        caps={"max_records": MAX_MCP_RECORDS, "top": MAX_MCP_VALUES},
    ),
)
