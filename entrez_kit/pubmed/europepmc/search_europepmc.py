"""Search Europe PMC: PubMed's articles, preprints, patents and more, in one or several pages."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, get_args

from pydantic import BeforeValidator, Field, field_validator
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.base import __version__
from entrez_kit.base.errors import EntrezKitError, InvalidInput, NotConfigured, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import AGAIN, RETRY_WITHOUT_CACHE, Argument, FrontendText, format_count
from entrez_kit.base.progress import report_progress
from entrez_kit.core.model import Collected, Request, Warn, WrongValue, omit_if_empty, split_at_commas
from entrez_kit.core.operation import AgentOptions, Outcomes, StreamOperation
from entrez_kit.core.query_input import check_balance
from entrez_kit.pubmed.europepmc.europepmc_models import EuropePMCArticle
from entrez_kit.pubmed.europepmc.europepmc_pages import parse_page
from entrez_kit.services import Services
from entrez_kit.services.europe_pmc import FIRST_PAGE, MAX_PAGE_SIZE, read_cursor
from entrez_kit.services.transport.in_flight import start_in_background

if TYPE_CHECKING:
    from entrez_kit.services.transport import Reply

MAX_MCP_PAGE_SIZE: Final = 100

Source = Literal["MED", "PMC", "PPR", "PAT", "AGR", "CBA", "CTX", "ETH", "HIR", "NBK"]
Sort = Literal["relevance", "date", "cited"]


SHORT_NAMES: Final = {
    "PUBMED": "MED",
    "MEDLINE": "MED",
    "PREPRINT": "PPR",
    "PREPRINTS": "PPR",
    "PATENT": "PAT",
    "PATENTS": "PAT",
    "AGRICOLA": "AGR",
    "THESES": "ETH",
    "BOOKS": "NBK",
}
"""Short names of the sources."""


_ESCAPED: Final = re.compile(r"\\.")
_QUOTED_ID: Final = re.compile(r'\b(EXT_ID|PMCID|PMC_ID)\s*:\s*"\s*([A-Za-z0-9._-]+)\s*"', re.IGNORECASE)
_PUBMED_TAG: Final = re.compile(
    r"\[\s*(?:ti|tiab|title|title/abstract|ab|au|author|1au|lastau|ad|affiliation|pt|publication type|mh|mesh|majr"
    r"|mesh terms|ta|journal|dp|pdat|edat|la|language|sb|filter|pmid|uid|all fields|tw|text word|nm|si|gr)"
    r"(?:\s*:\s*\w+)?\s*\]",
    re.IGNORECASE,
)


def _expand_source(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    name = value.strip().upper()
    return SHORT_NAMES.get(name, name if name in get_args(Source) else value)


class EuropePMCRequest(Request):
    """A search of Europe PMC: the query, sources, order and page."""

    query: str = Field(
        min_length=1,
        max_length=20_000,
        description='Words, "a phrase", TITLE:crispr, AUTH:doudna; AND, OR, NOT.',
    )
    page_size: int = Field(default=25, ge=1, le=MAX_PAGE_SIZE, description="Records per page.")
    cursor: str = Field(default=FIRST_PAGE, description="First *, then next_cursor.")
    sources: Annotated[list[Annotated[Source, BeforeValidator(_expand_source)]], BeforeValidator(split_at_commas)] = (
        Field(
            default=["MED", "PMC", "PPR"],
            description="MED: PubMed; PPR: preprints; PAT: patents.",
        )
    )
    sort_by: Annotated[Sort, BeforeValidator(lambda name: "date" if name == "pub_date" else name)] = Field(
        default="relevance", description="date: newest first; cited: most cited first."
    )
    detail_level: Literal["full", "brief"] = Field(default="full", description="full adds abstracts and terms.")
    synonyms: bool = Field(default=False, description="Also search synonyms.")
    max_results: SkipJsonSchema[int | None] = Field(
        default=None, ge=1, description="How many records; several pages are requested if needed."
    )

    @field_validator("query")
    @classmethod
    def _check_query(cls, value: str) -> str:
        if not any(character.isalnum() for character in value):
            raise WrongValue("a query with at least one word")
        return value.strip()

    @field_validator("cursor")
    @classmethod
    def _check_cursor(cls, value: str) -> str:
        try:
            return read_cursor(value)
        except InvalidInput as exc:
            raise WrongValue("a cursor of Europe PMC", exc.hint_text) from None

    @field_validator("sources")
    @classmethod
    def _remove_duplicates(cls, value: list[Source]) -> list[Source]:
        return list(dict.fromkeys(value))


class EuropePMCResult(Collected):
    """One or several pages of records, and the cursor of the next page.

    ``effective_query`` is the query that was sent. ``next_cursor`` is absent after the last page. ``source`` and
    ``epmc_id`` identify records without a PMID, such as preprints.
    """

    RECORDS: ClassVar = "articles"

    query: str
    effective_query: str
    sort_by: Sort
    total_found: int
    retrieved_count: int
    searched_at: str
    version: str
    articles: list[EuropePMCArticle]
    next_cursor: str | None = omit_if_empty()
    warnings: list[Warn] = Field(default_factory=list)
    search_url: str


def build_query(query: str, sources: Sequence[str]) -> tuple[str, list[Warn]]:
    """Return the query in parentheses with a clause for the sources, so that an OR in the query stays inside.

    Quotes around ids are removed, because Europe PMC would find nothing; a warning reports it.

    Raises:
        InvalidInput: the query has unbalanced quotes or parentheses, or ends with a backslash.
    """
    query = " ".join(query.split())
    # Europe PMC may read \" and \( as plain characters or as syntax, so the query must be balanced in both readings.
    check_balance(query, "query")
    masked = _ESCAPED.sub("..", query)
    check_balance(masked, "query")
    if masked.endswith("\\"):
        raise InvalidInput(
            FrontendText(Argument("query"), " ends with a backslash that escapes no character"),
            invalid_input=f"query={query}",
            recovery_hint="Remove the backslash.",
            details={"reason": "unbalanced_query", "position": len(query)},
        )
    warnings = []
    bare = _QUOTED_ID.sub(r"\1:\2", query)
    if bare != query:
        warnings.append(
            Warn(
                code="ids_unquoted",
                message="The quotes around ids were removed: with a list of sources, Europe PMC finds no quoted ids.",
            )
        )
    if tag := _PUBMED_TAG.search(query):
        warnings.append(
            Warn(
                code="pubmed_syntax",
                message=f"{tag[0]} is PubMed's syntax; Europe PMC searches it as plain words. "
                "Use TITLE:word, AUTH:name, KW:term, PUB_TYPE:review.",
            )
        )
    clauses = " OR ".join(f"SRC:{source}" for source in sources)
    return f"({bare}) AND ({clauses})" if len(sources) > 1 else f"({bare}) AND {clauses}", warnings


class EuropePMCArticles(Outcomes[EuropePMCArticle]):
    """The records of a search. It requests pages until it has enough records, and holds one page at a time.

    After the iteration ``total_found``, ``retrieved``, ``next_cursor``, ``warnings`` and ``failure`` are complete.

    Args:
        request: the search; its cursor is the first page.
    """

    def __init__(self, services: Services, request: EuropePMCRequest) -> None:
        super().__init__()
        self._services = services
        self._request = request
        self._wanted = request.max_results or request.page_size
        self.effective_query, self.warnings = build_query(request.query, request.sources)
        # Preprints have no print date.
        by_first_date = request.sort_by == "date" and "PPR" in request.sources
        by_date = "FIRST_PDATE_D desc" if by_first_date else "P_PDATE_D desc"
        self._sort = {"cited": "CITED desc", "date": by_date}.get(request.sort_by)
        if by_first_date:
            message = "The records are sorted by the date of first publication, because preprints have no print date."
            self.warnings.append(Warn(code="sorted_by_first_date", message=message))
        self.total_found = 0
        self.retrieved = 0
        self.next_cursor: str | None = request.cursor
        self.search_url = ""
        self.searched_at = ""
        self.failure: EntrezKitError | None = None
        self._skipped = 0

    @property
    def expected_count(self) -> int:
        """The number of expected records; 0 if it is unknown because the first page is not the beginning."""
        return min(self._wanted, self.total_found) if self._request.cursor == FIRST_PAGE else 0

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for missing records."""
        return self.failure

    def _yield_items(self) -> Iterator[EuropePMCArticle]:
        """Yield the records.

        Raises:
            EntrezKitError: the first page failed. A later failure is kept in ``failure``.
        """
        last: set[str] = set()
        next_reply: Callable[[], Reply[dict[str, Any]]] | None = None
        while self.next_cursor is not None and self.retrieved < self._wanted:
            cursor = self.next_cursor
            try:
                reply = next_reply() if next_reply is not None else self._request_page(cursor, self.retrieved)
                page = parse_page(reply.value, cursor)
                self.search_url = self.search_url or reply.url
                self.searched_at = self.searched_at or reply.sent_at
                if cursor == self._request.cursor:
                    self.total_found = page.total_found
                articles = page.articles
            except EntrezKitError as exc:
                if not self.retrieved:
                    raise
                self.failure = self._add_progress(exc, cursor)
                return
            self._skipped += page.skipped
            fresh = [article for article in articles if f"{article.source}:{article.epmc_id}" not in last]
            last = {f"{article.source}:{article.epmc_id}" for article in articles}
            fresh = fresh[: self._wanted - self.retrieved]
            self.retrieved += len(fresh)
            report_progress(self.retrieved, min(self._wanted, self.total_found))
            self.next_cursor = page.next_cursor
            if self._request.cursor == FIRST_PAGE and self.retrieved >= self.total_found:
                self.next_cursor = None  # a further page would be empty
            if not fresh:
                break  # the page repeats the records of the one before, although its cursor is new
            next_reply = self._request_next()
            yield from fresh
        self._verify_count()

    def _request_next(self) -> "Callable[[], Reply[dict[str, Any]]] | None":
        """Request the next page while the caller uses this one; None if no further records are needed.

        Only one page can be requested ahead, because each page contains the cursor of the next one.
        """
        due = self._wanted if self._request.cursor != FIRST_PAGE else min(self._wanted, self.total_found)
        if self.next_cursor is None or self.retrieved >= due:
            return None
        return start_in_background(partial(self._request_page, self.next_cursor, self.retrieved))

    def _request_page(self, cursor: str, done: int) -> "Reply[dict[str, Any]]":
        return self._services.europepmc.search(
            query=self.effective_query,
            result_type="core" if self._request.detail_level == "full" else "lite",
            page_size=min(self._request.page_size, self._wanted - done),
            cursor_mark=cursor,
            sort=self._sort,
            synonym=self._request.synonyms,
        )

    def _verify_count(self) -> None:
        """Compare the number of records with the expected number after the last page."""
        missing = self.expected_count - self.retrieved
        if self._skipped:
            self.warnings.append(
                Warn(
                    code="records_unusable", message=f"{format_count(self._skipped, 'result')} had no source or no id."
                )
            )
        if missing > 0:
            self.failure = UpstreamError(
                f"Europe PMC counts {format_count(self.total_found, 'record')} and returned {self.retrieved:,} of "
                f"{self.expected_count:,}: {format_count(missing, 'is', 'are')} missing.",
                recovery_hint=FrontendText(
                    RETRY_WITHOUT_CACHE, "; if this persists, narrow the query, for example by PUB_YEAR."
                ),
                details={
                    **self._describe_progress(),
                    "reason": "incomplete",
                    "partial": self.retrieved > 0,
                    "missing": missing,
                },
            )

    def _add_progress(self, error: EntrezKitError, cursor: str) -> EntrezKitError:
        """Return the error for a search that failed after its first page; the records before it stay valid."""
        self.next_cursor = cursor
        missing = max(min(self._wanted, self.total_found) - self.retrieved, 0)
        return error.copy_with(
            f"After {format_count(self.retrieved, 'record')}: {error.message}",
            FrontendText(AGAIN, ": the previous pages are cached. Or continue with ", Argument("cursor", cursor)),
            **self._describe_progress(),
            partial=True,
            missing=missing,
        )

    def _describe_progress(self) -> dict[str, Any]:
        state = {"total_found": self.total_found, "retrieved": self.retrieved}
        return {**state, "next_cursor": self.next_cursor} if self.next_cursor else state


def europepmc_search(services: Services, request: EuropePMCRequest) -> EuropePMCArticles:
    """Search Europe PMC: articles of PubMed and PMC, preprints (bioRxiv, medRxiv ...), patents.

    Use it for preprints and citation counts, e.g. query "base editing AND PUB_YEAR:2024", sources ["PPR"].

    Raises:
        InvalidInput: the query is unbalanced, or Europe PMC refuses the query, cursor or order.
        NotConfigured: Europe PMC is disabled.
        UpstreamError: no attempt got a valid reply.
        RateLimited: Europe PMC refused, or no slot is free before the deadline.

    Source: Europe PMC's REST search.
    """
    return EuropePMCArticles(services, request)


def collect_result(request: EuropePMCRequest, hits: EuropePMCArticles) -> EuropePMCResult:
    """Build the result document from all records."""
    articles = list(hits)
    return EuropePMCResult(
        query=request.query,
        effective_query=hits.effective_query,
        sort_by=request.sort_by,
        total_found=hits.total_found,
        retrieved_count=len(articles),
        searched_at=hits.searched_at,
        version=__version__,
        articles=articles,
        next_cursor=hits.next_cursor,
        warnings=hits.warnings,
        search_url=hits.search_url,
    )


_ONLY_FULL: Final = frozenset((
    *("abstract_text", "abstract_sections", "abstract_copyright", "languages", "keywords", "mesh_terms", "chemicals"),
    *("grant_list", "corrections", "data_banks", "license", "investigators"),
))  # fmt: skip
"""Fields that brief records never have."""


EUROPEPMC_SEARCH: Final = StreamOperation(
    name="europepmc_search",
    request=EuropePMCRequest,
    result=EuropePMCResult,
    outcomes=europepmc_search,
    collect=collect_result,
    command=("europepmc",),
    toolset="pubmed",
    title="Search Europe PMC and preprints",
    errors=(NotConfigured, UpstreamError, RateLimited),
    agents=AgentOptions(
        portions=("articles",),
        next_page="next_cursor",
        caps={"page_size": MAX_MCP_PAGE_SIZE},
        defaults={"detail_level": "brief"},
        fields_by_level={"brief": (), "full": sorted(_ONLY_FULL)},
        duplicate_fields={"abstract_sections": "abstract_text", "other_abstracts.sections": "other_abstracts.text"},
    ),
)
