"""Search Europe PMC: what PubMed holds, and preprints, patents and more besides; page by page, or as far as wanted."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field, field_validator
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.base import __version__, tracing
from entrez_kit.base.errors import EntrezKitError, InvalidInput, NotConfigured, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import AGAIN, ANEW, Argument, FrontendText
from entrez_kit.core.model import Collected, Request, Warn, omit_if_empty, split_at_commas
from entrez_kit.core.operation import Operation, Outcomes
from entrez_kit.pubmed.europepmc.europepmc_models import EuropePMCArticle
from entrez_kit.query import check_balance
from entrez_kit.services import Services
from entrez_kit.services.europe_pmc import FIRST_PAGE, MAX_PAGE_SIZE, read_cursor
from entrez_kit.services.transport.in_flight import in_background

if TYPE_CHECKING:
    from entrez_kit.pubmed.europepmc.europepmc_records import Page
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
"""What people call the sources."""


_ESCAPED: Final = re.compile(r"\\.")
_QUOTED_ID: Final = re.compile(r'\b(EXT_ID|PMCID|PMC_ID)\s*:\s*"\s*([A-Za-z0-9._-]+)\s*"', re.IGNORECASE)
_PUBMED_TAG: Final = re.compile(
    r"\[\s*(?:ti|tiab|title|title/abstract|ab|au|author|1au|lastau|ad|affiliation|pt|publication type|mh|mesh|majr"
    r"|mesh terms|ta|journal|dp|pdat|edat|la|language|sb|filter|pmid|uid|all fields|tw|text word|nm|si|gr)"
    r"(?:\s*:\s*\w+)?\s*\]",
    re.IGNORECASE,
)


def _source(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    name = value.strip().upper()
    return SHORT_NAMES.get(name, name)


class EuropePMCRequest(Request):
    """What to search Europe PMC for."""

    query: str = Field(
        min_length=1,
        max_length=20_000,
        description='Europe PMC query: words, "a phrase", TITLE:crispr, AUTH:doudna, PUB_YEAR:2024; AND, OR, NOT.',
    )
    page_size: int = Field(default=25, ge=1, le=MAX_PAGE_SIZE, description="Records per page.")
    cursor: str = Field(default=FIRST_PAGE, description="* for the first page, then next_cursor of the page before.")
    sources: Annotated[list[Annotated[Source, BeforeValidator(_source)]], BeforeValidator(split_at_commas)] = Field(
        default=["MED", "PMC", "PPR"],
        description="MED (PubMed), PMC, PPR (preprints), PAT (patents), ETH (theses) ...",
    )
    sort_by: Annotated[Sort, BeforeValidator(lambda name: "date" if name == "pub_date" else name)] = Field(
        default="relevance", description="Order: relevance, date (newest first) or cited (most)."
    )
    detail_level: Literal["full", "brief"] = Field(
        default="full", description="full adds abstracts, terms and affiliations."
    )
    synonyms: bool = Field(
        default=False, description="Also search synonyms of the words, as Europe PMC's website does."
    )
    max_results: SkipJsonSchema[int | None] = Field(
        default=None, ge=1, description="How many records, over as many pages as that takes."
    )

    @field_validator("query")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not any(character.isalnum() for character in value):
            raise ValueError("at least one word is needed")
        return value.strip()

    @field_validator("cursor")
    @classmethod
    def _one_of_theirs(cls, value: str) -> str:
        try:
            return read_cursor(value)
        except InvalidInput as exc:
            raise ValueError(exc.message.partition(": ")[2]) from None

    @field_validator("sources")
    @classmethod
    def _once(cls, value: list[Source]) -> list[Source]:
        return list(dict.fromkeys(value))


class EuropePMCResult(Collected):
    """A page of records, or several in a row, and where the next one begins.

    ``effective_query`` is what was sent. ``next_cursor`` is absent when there is no further page. Records without a
    PMID, preprints above all, are named by ``source`` and ``epmc_id``.
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
    """Return the query in parentheses with a clause for the sources, so that an OR in it cannot get past them.

    It is mended where Europe PMC would find nothing; the warnings say so.

    Raises:
        InvalidInput: it has quotes or parentheses that do not pair up, or ends with a backslash.
    """
    query = " ".join(query.split())
    # Europe PMC may read \" and \( as plain characters or as what they are: the query has to hold together either way.
    check_balance(query, "query")
    masked = _ESCAPED.sub("..", query)
    check_balance(masked, "query")
    if masked.endswith("\\"):
        raise InvalidInput(
            FrontendText(Argument("query"), ": it ends with a backslash that has nothing to escape"),
            invalid_input=f"query={query}",
            recovery_hint="Take the backslash away.",
            details={"reason": "unbalanced_query", "position": len(query)},
        )
    warnings = []
    bare = _QUOTED_ID.sub(r"\1:\2", query)
    if bare != query:
        warnings.append(
            Warn(
                code="ids_unquoted",
                message="Europe PMC finds no quoted id where sources are named; the quotes around ids were taken away.",
            )
        )
    if tag := _PUBMED_TAG.search(query):
        warnings.append(
            Warn(
                code="pubmed_syntax",
                message=f"{tag[0]} is PubMed's way to name a field; Europe PMC takes it for words. "
                "It writes TITLE:word, AUTH:name, KW:term, PUB_TYPE:review.",
            )
        )
    clauses = " OR ".join(f"SRC:{source}" for source in sources)
    return f"({bare}) AND ({clauses})" if len(sources) > 1 else f"({bare}) AND {clauses}", warnings


class Walk(Outcomes[EuropePMCArticle]):
    """The records of a search, page after page until enough came; holds one page at a time.

    After the walk ``total_found``, ``retrieved``, ``next_cursor``, ``warnings`` and ``failure`` say what it came to.

    Args:
        services: the clients.
        request: the search; its cursor says where to begin.
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
            message = "Preprints have no print date, by which Europe PMC sorts otherwise; the records are sorted by "
            self.warnings.append(Warn(code="sorted_by_first_date", message=f"{message}the date of first publication."))
        self.total_found = 0
        self.retrieved = 0
        self.next_cursor: str | None = request.cursor
        self.search_url = ""
        self.searched_at = ""
        self.failure: EntrezKitError | None = None
        self._skipped = 0

    @property
    def promised(self) -> int:
        """How many records are due: as many as wanted, or as there are; unknown where the walk began in the middle."""
        return min(self._wanted, self.total_found) if self._request.cursor == FIRST_PAGE else 0

    def missing_error(self) -> EntrezKitError | None:
        """Report fewer records than Europe PMC promised."""
        return self.failure

    def __iter__(self) -> Iterator[EuropePMCArticle]:
        """Yield the records.

        Raises:
            EntrezKitError: the first page failed. What fails later is kept in ``failure``.
        """
        from entrez_kit.pubmed.europepmc.europepmc_records import parse_page

        last: set[str] = set()
        coming: Callable[[], Reply[dict[str, Any]]] | None = None
        while self.next_cursor is not None and self.retrieved < self._wanted:
            cursor = self.next_cursor
            try:
                reply = coming() if coming is not None else self._ask(cursor, self.retrieved)
                page = parse_page(reply.value, cursor)
                self.search_url = self.search_url or reply.url
                self.searched_at = self.searched_at or reply.sent_at
                if cursor == self._request.cursor:
                    self.total_found = page.total_found
                coming = self._ahead(page)
                articles = page.articles
            except EntrezKitError as exc:
                if not self.retrieved:
                    raise
                self.failure = self._broken_off(exc, cursor)
                return
            self._skipped += page.skipped
            fresh = [article for article in articles if f"{article.source}:{article.epmc_id}" not in last]
            last = {f"{article.source}:{article.epmc_id}" for article in articles}
            fresh = fresh[: self._wanted - self.retrieved]
            self.retrieved += len(fresh)
            tracing.step(self.retrieved, min(self._wanted, self.total_found))
            self.next_cursor = page.next_cursor
            if self._request.cursor == FIRST_PAGE and self.retrieved >= self.total_found:
                self.next_cursor = None  # a further page would be empty
            yield from fresh
            if not fresh:
                break  # the same records again, whatever the cursor says
        self._judge()

    def _ahead(self, page: "Page") -> "Callable[[], Reply[dict[str, Any]]] | None":
        """Ask for the page after this one while this one is read and used; None where it is not known to be wanted.

        More cannot be in flight: only a page says where the next one begins.
        """
        done = self.retrieved + len(page.listed)
        due = self._wanted if self._request.cursor != FIRST_PAGE else min(self._wanted, self.total_found)
        if page.next_cursor is None or done >= due:
            return None
        return in_background(partial(self._ask, page.next_cursor, done))

    def _ask(self, cursor: str, done: int) -> "Reply[dict[str, Any]]":
        return self._services.europepmc.search(
            query=self.effective_query,
            result_type="core" if self._request.detail_level == "full" else "lite",
            page_size=min(self._request.page_size, self._wanted - done),
            cursor_mark=cursor,
            sort=self._sort,
            synonym=self._request.synonyms,
        )

    def _judge(self) -> None:
        """Compare what came with what was promised, once there is nothing more to ask for."""
        missing = self.promised - self.retrieved
        if self._skipped:
            self.warnings.append(
                Warn(code="records_unusable", message=f"{self._skipped} results had neither source nor id.")
            )
        if missing > 0:
            self.failure = UpstreamError(
                f"Europe PMC counts {self.total_found:,} records and returned {self.retrieved:,} of "
                f"{self.promised:,}: {missing:,} are missing.",
                recovery_hint=FrontendText(ANEW, "; if it stays so, narrow the query, for example by PUB_YEAR."),
                details={**self._state(), "reason": "incomplete", "partial": self.retrieved > 0, "missing": missing},
            )

    def _broken_off(self, error: EntrezKitError, cursor: str) -> EntrezKitError:
        """Return the error for a walk that failed on the way: what came so far stands."""
        self.next_cursor = cursor
        missing = max(min(self._wanted, self.total_found) - self.retrieved, 0)
        return error.copy_with(
            f"After {self.retrieved:,} records: {error.message}",
            FrontendText(AGAIN, ": the pages that came are in the cache. Or go on with ", Argument("cursor", cursor)),
            **self._state(),
            partial=True,
            missing=missing,
        )

    def _state(self) -> dict[str, Any]:
        state = {"total_found": self.total_found, "retrieved": self.retrieved}
        return {**state, "next_cursor": self.next_cursor} if self.next_cursor else state


def europepmc_search(services: Services, request: EuropePMCRequest) -> Walk:
    """Search Europe PMC: PubMed's articles, PMC's, preprints (bioRxiv, medRxiv ...) and, on request, patents.

    Use it for preprints and citation counts; for PubMed's syntax and MeSH use pubmed_search_articles. Example:
    query "base editing AND PUB_YEAR:2024", sources ["PPR"].

    Args:
        services: the clients.
        request: query, sources, order and page.

    Raises:
        InvalidInput: an unbalanced query, or Europe PMC refuses query, cursor or order.
        NotConfigured: Europe PMC is switched off.
        UpstreamError: Europe PMC did not answer after every attempt.
        RateLimited: Europe PMC refused, or the wait for a slot would pass the deadline.

    Source: Europe PMC's REST search.
    """
    return Walk(services, request)


def result_of(request: EuropePMCRequest, walk: Walk) -> EuropePMCResult:
    """Build the result document from all records."""
    articles = list(walk)
    return EuropePMCResult(
        query=request.query,
        effective_query=walk.effective_query,
        sort_by=request.sort_by,
        total_found=walk.total_found,
        retrieved_count=len(articles),
        searched_at=walk.searched_at,
        version=__version__,
        articles=articles,
        next_cursor=walk.next_cursor,
        warnings=walk.warnings,
        search_url=walk.search_url,
    )


EUROPEPMC_SEARCH: Final = Operation(
    name="europepmc_search",
    portions=("articles",),
    next_page="next_cursor",
    outcomes=europepmc_search,
    collect=result_of,
    command=("europepmc",),
    toolset="pubmed",
    title="Search Europe PMC and preprints",
    errors=(NotConfigured, UpstreamError, RateLimited),
    mcp_caps={"page_size": MAX_MCP_PAGE_SIZE},
    mcp_defaults={"detail_level": "brief"},
    once={"abstract_sections": "abstract_text", "other_abstracts.sections": "other_abstracts.text"},
)
