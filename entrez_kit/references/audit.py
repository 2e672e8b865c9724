"""Audit a corpus: look up the current publication status of its works, and the retracted works that they cite."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from pydantic import Field

from entrez_kit.base.errors import EntityNotFound, EntrezKitError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.progress import report_progress
from entrez_kit.core.batches import collect_batches
from entrez_kit.core.model import Collected, Request, Result, Warn, incomplete_error, omit_if_empty
from entrez_kit.core.operation import AgentOptions, StreamOperation
from entrez_kit.core.outcomes import SummarizedOutcomes, drain
from entrez_kit.corpus.store import store_of
from entrez_kit.corpus.store.reading import read_articles_after
from entrez_kit.corpus.store.store import Store
from entrez_kit.pubmed.models import Article, Standing, StandingStatus
from entrez_kit.pubmed.standing_lookup import look_up_standings
from entrez_kit.references.check.lookup.sources import (
    TITLES,
    RetractionWatchFile,
    Sources,
    SourceStanding,
    StatusSources,
    Work,
    combine_results,
)
from entrez_kit.relationships.links import fetch_links
from entrez_kit.services import Services

BATCH: Final = 100
"""Articles in one request: ELink needs an id parameter for each."""
DOUBTFUL: Final[frozenset[StandingStatus]] = frozenset(
    ("retracted", "withdrawn", "partially_retracted", "expression_of_concern")
)
"""Publication statuses that authors who cite a work should know."""


class AuditRequest(Request):
    """The corpus, and the sources to use."""

    query_key: str = Field(min_length=1, description="Corpus name.")
    sources: StatusSources = None
    retraction_watch: RetractionWatchFile = None
    references: bool = Field(default=True, description="Also check the works that the articles cite.")


class DoubtfulWork(Result):
    """A cited work with a retraction or an expression of concern."""

    pmid: str
    title: str | None = omit_if_empty()
    standing: Standing


class AuditFinding(Result):
    """One problem of a work.

    ``code`` is the publication status (retracted, expression_of_concern, corrected ...), ``unknown``, ``disagreement``
    of the sources, ``source_failed``, ``cites_retracted`` with the PMID of the cited work, or ``references_unknown``.
    """

    code: str
    pmid: str | None = omit_if_empty()
    message: str


class AuditedWork(Result):
    """A work of the corpus.

    ``status`` is the most serious status in the sources: ``none`` if no source failed and none has a notice,
    ``unknown`` if a source failed. ``cites`` has the works with a retraction or an expression of concern among its
    references; ``unread`` is the reason if these could not be determined.
    """

    pmid: str
    doi: str | None = omit_if_empty()
    title: str | None = omit_if_empty()
    status: str
    findings: list[AuditFinding]
    standing: Standing | None = omit_if_empty()
    disagreement: str | None = omit_if_empty()
    sources: list[SourceStanding] = omit_if_empty([])
    cites: list[DoubtfulWork] = omit_if_empty([])
    unread: str | None = omit_if_empty()

    @property
    def is_clear(self) -> bool:
        """Whether the work has no findings."""
        return not self.findings


class AuditResult(Collected):
    """The works with findings, by PMID; ``counts`` has the number of works with each status, of all ``total`` works."""

    RECORDS: ClassVar = "works"

    query_key: str
    works: list[AuditedWork]
    total: int
    clear: int
    citing: int
    counts: dict[str, int]
    warnings: list[Warn] = omit_if_empty([])


def _yield_findings(work: AuditedWork) -> Iterator[AuditFinding]:
    """Yield all problems of a work, its publication status first."""
    if work.standing is not None:
        yield AuditFinding(code=work.status, message=work.standing.note)
    elif work.status != "none":
        yield AuditFinding(code=work.status, message="the publication status could not be determined")
    for cited in work.cites:
        message = f"{cited.standing.label}: cites PMID {cited.pmid} {cited.title or ''}".strip()
        yield AuditFinding(code="cites_retracted", pmid=cited.pmid, message=message)
    if work.disagreement:
        yield AuditFinding(code="disagreement", message=work.disagreement)
    for source in work.sources:
        if source.says == "failed":
            yield AuditFinding(
                code="source_failed", message=f"{TITLES[source.source]}: {source.detail or 'no response'}"
            )
    if work.unread:
        yield AuditFinding(code="references_unknown", message=work.unread)


def _yield_pages(store: Store, query_key: str) -> Iterator[list[Article]]:
    """Yield the articles of a corpus page by page, without an open connection during requests to the sources."""
    last = -1
    while True:
        with store.reading() as connection:
            page = read_articles_after(connection, last, query_key)
        if not page:
            return
        last = int(page[-1].pmid)
        for start in range(0, len(page), BATCH):
            yield page[start : start + BATCH]


@dataclass(slots=True)
class _References:
    """The works that articles cite, with their publication status. Each cited work is looked up once."""

    services: Services
    fine: set[str] = field(default_factory=set)
    doubtful: dict[str, DoubtfulWork] = field(default_factory=dict)

    def list_doubtful(self, pmids: Sequence[str]) -> tuple[dict[str, list[DoubtfulWork]], dict[str, str]]:
        """Return the doubtful works that each article cites, and the errors of articles that could not be looked up."""
        requested = collect_batches(
            pmids,
            BATCH,
            lambda batch: fetch_links(self.services, "pubmed_references", batch).links,
            refusals=(EntityNotFound,),
        )
        links = {
            pmid: [link.pmid for link in standings]
            for _, answer in requested.answers
            for pmid, standings in answer.items()
        }
        unread = {pmid: error.message for pmid, error in requested.failed.items()}
        unread |= {pmid: "NCBI omitted it from the reply with links." for pmid in pmids if pmid not in links | unread}
        cited = {pmid for standings in links.values() for pmid in standings}
        standings = look_up_standings(self.services, sorted(cited - self.fine - self.doubtful.keys()))
        for pmid, standing in standings.known.items():
            if standing.status in DOUBTFUL:
                summary = standings.summaries.get(pmid)
                self.doubtful[pmid] = DoubtfulWork(
                    pmid=pmid, title=summary.title if summary else None, standing=standing
                )
        self.fine |= cited - standings.unknown.keys() - self.doubtful.keys()
        for pmid, ids in links.items():
            if lost := sum(pmid in standings.unknown for pmid in ids):
                unread[pmid] = (
                    f"The publication status of {lost:,} of {format_count(len(ids), 'cited work')} is unknown."
                )
        cites = {pmid: [self.doubtful[pmid] for pmid in ids if pmid in self.doubtful] for pmid, ids in links.items()}
        return cites, unread


class Audit(SummarizedOutcomes[AuditedWork, AuditResult]):
    """The works of a corpus with findings, in order. After the iteration, ``result`` returns the result document."""

    def __init__(self, services: Services, request: AuditRequest) -> None:
        super().__init__()
        self._services, self._request = services, request
        self._reported_works: list[AuditedWork] = []
        self._counts: Counter[str] = Counter()
        self._citing = 0

    def _yield_items(self) -> Iterator[AuditedWork]:
        request, services = self._request, self._services
        sources = Sources(services, request.sources, request.retraction_watch)
        references = _References(services) if request.references else None
        store = store_of(services)
        total, done = store.stats(request.query_key).documents, 0
        report_progress(done, total)
        for articles in _yield_pages(store, request.query_key):
            for work in self._audit_work(articles, sources, references):
                self._counts[work.status] += 1
                self._citing += bool(work.cites)
                if not work.is_clear:
                    self._reported_works.append(work)
                    yield work
            done += len(articles)
            report_progress(done, total)
        error = self.missing_error()
        if error is not None and not error.details["partial"]:
            raise error

    def _audit_work(
        self, articles: Sequence[Article], sources: Sources, references: _References | None
    ) -> Iterator[AuditedWork]:
        pmids = [article.pmid for article in articles]
        works = [Work(article.doi, article.pmid, article) for article in articles]
        if "pubmed" in sources.enabled:  # the corpus has the status of its last synchronization
            today = look_up_standings(self._services, pmids)
            now = (article.model_copy(update={"standing": today.known.get(article.pmid)}) for article in articles)
            works = [Work(document.doi, document.pmid, document, today.unknown.get(document.pmid)) for document in now]
        cites, unread = references.list_doubtful(pmids) if references is not None else ({}, {})
        for article, row in zip(articles, sources.look_up_status(works), strict=True):
            verdict = combine_results(row)
            work = AuditedWork(
                pmid=article.pmid,
                doi=article.doi,
                title=article.title,
                status=verdict.says,
                findings=[],
                standing=verdict.standing,
                disagreement=verdict.disagreement,
                sources=[standing for standing in row if standing.says != "not_asked"],
                cites=cites.get(article.pmid, []),
                unread=unread.get(article.pmid),
            )
            work.findings = list(_yield_findings(work))
            yield work

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for works whose status or references could not be determined."""
        unknown = [work for work in self._reported_works if work.status == "unknown" or work.unread is not None]
        total = self._counts.total()
        share = f"{len(unknown):,} of {format_count(total, 'work')}"
        message = f"{share} could not be checked completely: not all sources responded."
        return incomplete_error([work.pmid for work in unknown[:100]], message, partial=len(unknown) < total)

    def result(self) -> AuditResult:
        total = self._counts.total()
        return AuditResult(
            query_key=self._request.query_key,
            works=self._reported_works,
            total=total,
            clear=total - len(self._reported_works),
            citing=self._citing,
            counts=dict(sorted(self._counts.items())),
            warnings=self.warnings,
        )


def audit_corpus(services: Services, request: AuditRequest) -> Audit:
    """Audit a corpus: the current publication status of each work in all sources, and the retracted works it cites.

    Use it before you write a review from a corpus, and again before you submit it. Works without findings are only
    counted. Example: query_key crispr, sources ["pubmed", "europepmc"].

    Raises:
        EntityNotFound: the corpus does not exist.
        UpstreamError: no work could be checked.
        StoreError: the corpus cannot be read.

    Source: ESummary and ELink (pubmed_pubmed_refs), Europe PMC, Crossref, OpenAlex, Retraction Watch.
    """
    return Audit(services, request)


AUDIT = StreamOperation(
    name="corpus_audit",
    kit_method="audit_corpus",
    request=AuditRequest,
    result=AuditResult,
    outcomes=audit_corpus,
    collect=drain,
    command=("corpus", "audit"),
    toolset="citations",
    title="Audit a corpus",
    agents=AgentOptions(portions=("works",)),
)
