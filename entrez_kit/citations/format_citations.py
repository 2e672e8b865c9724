"""The operation that formats citations, with its request and result models."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import FailFast, Field, field_validator
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, NotConfigured, RateLimited, UpstreamError
from entrez_kit.citations.style.style_names import CitationStyle, read_styles
from entrez_kit.core.model import Request, Result, Warned, omit_if_empty
from entrez_kit.core.operation import AgentOptions, Outcomes, StreamOperation
from entrez_kit.pubmed.models import Article, RetractionStatus, Standing
from entrez_kit.pubmed.record_batches import BATCH, Fetched, InputOutcome
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.services import Services

MAX_MCP_PMIDS: Final = 50


class CitationsRequest(Request):
    """The records to cite, and the styles."""

    INPUTS: ClassVar = "pmids"

    pmids: list[str] = Field(min_length=1, description="PMIDs, PMCIDs or DOIs.")
    citation_styles: Annotated[list[CitationStyle], FailFast()] = Field(  # an unknown name is compared with all others
        default=["apa"],
        min_length=1,
        description="These, or any CSL style by name.",
    )
    markup: SkipJsonSchema[Literal["plain", "markdown", "html"]] = Field(
        default="plain", description="Markup of formatted styles: plain, markdown or html."
    )

    @field_validator("citation_styles", mode="before")
    @classmethod
    def _read_names(cls, value: Any) -> Any:
        """Accept one name, several names in one string, and aliases; remove duplicates."""
        return read_styles(value)


class FormattedCitation(Result):
    """The citations of one record by style; ``retraction_status`` and ``standing`` are present if it has a notice."""

    pmid: str
    title: str | None = omit_if_empty()
    citations: dict[str, str]
    retraction_status: RetractionStatus = Field(default="none", exclude_if=lambda value: value == "none")
    standing: Standing | None = omit_if_empty()


class CitationsResult(Warned):
    """Citations in the order of the inputs; ``outcomes`` is present if an input was not found."""

    RECORDS: ClassVar = "citations"

    citations: list[FormattedCitation]
    total_submitted: int
    total_formatted: int
    not_found_pmids: list[str]
    outcomes: list[InputOutcome] = omit_if_empty([])


@dataclass(frozen=True, slots=True)
class Cited:
    """The outcome of one input, with its citation if the record was found."""

    fetched: Fetched
    article: Article | None = None
    citation: FormattedCitation | None = None


class Citations(Outcomes[Cited]):
    """Yields the citation of each input as records arrive; ``standings`` lists PMIDs by publication status.

    Args:
        retrieval: the records of the inputs.
        request: the styles.
    """

    def __init__(self, retrieval: Retrieval, request: CitationsRequest) -> None:
        super().__init__()
        self.retrieval = retrieval
        self.request = request
        self.standings: dict[str, list[str]] = {}

    def _yield_items(self) -> Iterator[Cited]:
        fetched = iter(self.retrieval)
        while batch := list(islice(fetched, BATCH)):
            yield from self._cite(batch)
        self.retrieval.raise_if_nothing_answered()

    def _cite(self, fetched: list[Fetched]) -> Iterator[Cited]:
        articles: dict[str, Article] = {}
        for item in fetched:
            if item.record is not None and item.record.pmid not in articles:
                articles[item.record.pmid] = item.record.article()
        written = format_articles(list(articles.values()), self.request.citation_styles, self.request.markup)
        texts = dict(zip(articles, written, strict=True))
        for item in fetched:
            article = articles.get(item.record.pmid) if item.record is not None else None
            if article is None:
                yield Cited(item)
                continue
            if article.standing is not None:
                self.standings.setdefault(article.standing.label, []).append(article.pmid)
            citation = FormattedCitation(
                pmid=article.pmid,
                title=article.title or None,
                citations=texts[article.pmid],
                retraction_status=article.retraction_status,
                standing=article.standing,
            )
            yield Cited(item, article, citation)

    def missing_error(self) -> EntrezKitError | None:
        """Return the error about inputs without a record, if any."""
        return self.retrieval.missing_error()


def format_citations(services: Services, request: CitationsRequest) -> Citations:
    """Format PubMed records as citations or entries for reference managers.

    Use it for reference lists, e.g. pmids ["99000001"], citation_styles ["apa"].

    Raises:
        UpstreamError: NCBI did not answer any request.
        RateLimited: NCBI refused the request, or no slot is free before the deadline.
        NotConfigured: the citation processor is not installed.

    Source: EFetch (db=pubmed); styles of the Citation Style Language project, formatted by pandoc's citeproc.
    """
    return Citations(Retrieval.of_ids(services, request.pmids), request)


def format_articles(articles: list[Article], styles: Iterable[str], markup: Any = "plain") -> list[dict[str, str]]:
    """Return each record in every style."""
    from entrez_kit.citations.csl import build_style_item
    from entrez_kit.citations.style import format_entries as formatted
    from entrez_kit.citations.write_files import FILES, write_file_text

    texts: list[dict[str, str]] = [{} for _ in articles]
    items = [build_style_item(article) for article in articles]
    for style in styles:
        if style in FILES:
            written = [write_file_text(style, [article]) for article in articles]
        else:
            written = formatted.format_styled_entries(items, style, markup)
        for text, citation in zip(texts, written, strict=True):
            text[style] = citation
    return texts


def build_result(request: CitationsRequest, citations: Citations) -> CitationsResult:
    """Build the result document from all outcomes."""
    cited = list(citations)
    missing = [item.pmid for item in citations.retrieval.missing if item.status == "not_found" and item.pmid]
    return CitationsResult(
        citations=[item.citation for item in cited if item.citation is not None],
        total_submitted=len(cited),
        total_formatted=citations.retrieval.found_count,
        not_found_pmids=list(dict.fromkeys(missing)),
        outcomes=[item.fetched.outcome for item in cited] if citations.retrieval.missing else [],
    )


FORMAT_CITATIONS = StreamOperation(
    name="pubmed_format_citations",
    request=CitationsRequest,
    result=CitationsResult,
    outcomes=format_citations,
    collect=build_result,
    command=("cite",),
    toolset="pubmed",
    title="Format citations",
    errors=(EntityNotFound, UpstreamError, RateLimited, NotConfigured),
    agents=AgentOptions(
        caps={"pmids": MAX_MCP_PMIDS},
        portions=("citations",),
        inputs=("pmids",),
        as_markdown=True,
    ),
)
