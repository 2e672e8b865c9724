"""Follow a relation for several steps: breadth first, each article once, within a budget of requests."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from entrez_kit.base.errors import EntrezKitError, NotConfigured, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import Argument, FrontendText, format_count
from entrez_kit.base.progress import report_progress
from entrez_kit.core.model import Warn
from entrez_kit.relationships.fallback import fetch_from_europepmc, read_cited_articles
from entrez_kit.relationships.links import fetch_links
from entrez_kit.relationships.related_articles import (
    QUEUE_FULL,
    RELATION_LABELS,
    RelatedArticles,
    describe,
    find_related,
    has_others,
)
from entrez_kit.relationships.related_documents import (
    MAX_BUDGET,
    MAX_VIA,
    Provenance,
    RelatedArticle,
    Relation,
    RelationshipsRequest,
    Snowball,
)
from entrez_kit.services import Services

BATCH: Final = 50
"""Articles per ELink request. The links of 50 much-cited articles are megabytes."""
EVERYTHING: Final = 9_999
MAX_FAILED: Final = 2
"""After this number of consecutive failed requests the service is considered unavailable."""


@dataclass(slots=True)
class Member:
    """An article of the network: its distance from the source, and the articles that link to it."""

    article: RelatedArticle
    depth: int
    via: dict[str, None]


@dataclass(slots=True)
class Network:
    """The articles found, by PMID; a work outside PubMed has another key."""

    source: str
    nodes: dict[str, Member] = field(default_factory=dict)

    def add(self, parent: str, articles: Iterable[RelatedArticle], depth: int) -> None:
        """Add the articles that `parent` links to; if an article is present already, add `parent` to its sources."""
        for article in articles:
            key = article.pmid or _make_key_outside_pubmed(article)
            if key is None or key == self.source:
                continue
            node = self.nodes.get(key)
            if node is None:
                self.nodes[key] = Member(article, depth, {parent: None})
            else:
                node.via.setdefault(parent)

    def rank(self, nodes: Iterable[Member] | None = None) -> list[Member]:
        """Sort articles by how many articles link to them, then by distance; otherwise the order stays."""
        return sorted(self.nodes.values() if nodes is None else nodes, key=lambda node: (-len(node.via), node.depth))

    def list_level(self, depth: int) -> list[str]:
        """Return the PMIDs at a distance, the best connected first, so that a small budget covers these."""
        nodes = self.rank(node for node in self.nodes.values() if node.depth == depth)
        return [node.article.pmid for node in nodes if node.article.pmid]


def _make_key_outside_pubmed(article: RelatedArticle) -> str | None:
    """Return a key for a work that is not in PubMed."""
    if article.epmc_source and article.epmc_id:
        return f"{article.epmc_source}:{article.epmc_id}"
    return (article.doi or "").lower() or article.pmcid or article.citation or article.title


def collect_network(services: Services, relation: Relation, request: RelationshipsRequest) -> RelatedArticles:
    """Collect the network around an article and rank its articles by how many others link to them.

    Raises:
        EntityNotFound: the article does not exist.
        UpstreamError: no source answered for the article itself.
        RateLimited: NCBI refused, or no slot is free before the deadline.
    """
    source = request.source_pmid
    describe(services, source, ())  # NCBI returns links for PMIDs that never existed, so verify the source first
    start = find_related(services, relation, source, EVERYTHING)
    network = Network(source)
    network.add(source, start.articles, 1)
    walk = _Expansion(services, relation, network, request.budget, start.requests)
    walk.provenances.add(start.provenance)
    followed, not_followed = [1], [0]
    for depth in range(2, request.depth + 1):
        level = network.list_level(depth - 1)
        done = walk.step(level, depth)
        followed.append(done)
        not_followed.append(len(level) - done)
    ranked = network.rank()
    return RelatedArticles(
        articles=[
            node.article.model_copy(
                update={"depth": node.depth, "source_count": len(node.via), "via": list(node.via)[:MAX_VIA]}
            )
            for node in ranked
        ],
        total=len(ranked),
        provenance=walk.provenances.pop() if len(walk.provenances) == 1 else "mixed",
        url=start.url,
        requests=walk.requests,
        warnings=[*start.warnings, *walk.list_warnings()],
        snowball=Snowball(requests=walk.requests, budget=request.budget, followed=followed, not_followed=not_followed),
    )


@dataclass(slots=True)
class _Expansion:
    """The steps after the first: the requests sent, the failures, and the articles that the budget did not cover."""

    services: Services
    relation: Relation
    network: Network
    budget: int
    requests: int
    provenances: set[Provenance] = field(default_factory=set)
    unanswered: dict[str, EntrezKitError] = field(default_factory=dict)
    cut: int = 0
    passed: int = 0
    ncbi_is_down: bool = False
    failed_in_a_row: int = 0

    def step(self, pmids: list[str], depth: int) -> int:
        """Follow the links of the articles at one distance; return how many articles were followed.

        If NCBI does not answer, Europe PMC serves the remaining articles, one article per request.
        """
        known, total = 0, self.passed + len(pmids)
        size = 1 if self.ncbi_is_down else BATCH
        waiting = deque(pmids[start : start + size] for start in range(0, len(pmids), size))
        while waiting:
            left = [pmid for batch in waiting for pmid in batch]
            report_progress(total - len(left), total)
            if self._is_budget_spent():
                self.cut += len(left)
                break
            if self.failed_in_a_row >= MAX_FAILED:
                self.unanswered |= dict.fromkeys(left, next(reversed(self.unanswered.values())))
                break
            batch = waiting.popleft()
            self.requests += 1
            try:
                known += (
                    self._follow_with_europepmc(batch[0], depth)
                    if self.ncbi_is_down
                    else self._follow_with_ncbi(batch, depth)
                )
                self.failed_in_a_row = 0
            except (UpstreamError, RateLimited, NotConfigured) as exc:
                if exc.reason == "too_large" and len(batch) > 1:
                    middle = len(batch) // 2
                    waiting.extendleft((batch[middle:], batch[:middle]))
                elif exc.reason != QUEUE_FULL and has_others(self.services, self.relation) and not self.ncbi_is_down:
                    self.ncbi_is_down = True
                    waiting = deque([pmid] for pmid in left)
                else:
                    self.failed_in_a_row += 1
                    self.unanswered |= dict.fromkeys(batch, exc)
        self.passed = total
        report_progress(total, total)
        return known

    def _is_budget_spent(self) -> bool:
        return self.requests >= self.budget

    def _follow_with_ncbi(self, batch: list[str], depth: int) -> int:
        links = fetch_links(self.services, self.relation, batch).links
        for pmid in batch:
            if pmid not in links:
                self.unanswered[pmid] = UpstreamError(
                    f"NCBI's ELink reply does not contain PMID {pmid}.", details={"reason": "incomplete"}
                )
            self.network.add(
                pmid, (RelatedArticle.model_construct(pmid=link.pmid) for link in links.get(pmid, ())), depth
            )
        self._follow_with_records([pmid for pmid in batch if pmid in links and not links[pmid]], depth)
        return len(links)

    def _follow_with_records(self, pmids: list[str], depth: int) -> None:
        """Read the reference lists in the records of articles without NCBI links, with one request."""
        if self.relation != "pubmed_references" or not pmids or self._is_budget_spent():
            return
        self.requests += 1
        try:
            cited = read_cited_articles(self.services, pmids)
        except (UpstreamError, RateLimited) as exc:
            self.unanswered |= dict.fromkeys(pmids, exc)
            return
        for pmid, articles in cited.items():
            self.network.add(pmid, articles, depth)
            if articles:
                self.provenances.add("pubmed_record")

    def _follow_with_europepmc(self, pmid: str, depth: int) -> int:
        articles, _, requests = fetch_from_europepmc(self.services, self.relation, pmid, EVERYTHING)
        self.requests += requests - 1
        self.provenances.add("europepmc")
        self.network.add(pmid, articles, depth)
        return 1

    def list_warnings(self) -> list[Warn]:
        """Return warnings that name the missing links and the reasons."""
        warnings = []
        if self.ncbi_is_down:
            message = "NCBI's ELink stopped answering. The other links come from Europe PMC, one article a request."
            warnings.append(Warn(code="from_europepmc", message=message))
        if self.cut:
            more = min(MAX_BUDGET, self.requests + -(-self.cut // (1 if self.ncbi_is_down else BATCH)))
            advice = (
                FrontendText("Use ", Argument("budget", more), " to follow them")
                if more > self.budget
                else "A larger budget is not possible"
            )
            spent = FrontendText(
                f"The budget of {format_count(self.budget, 'request')} is spent. "
                f"The {RELATION_LABELS[self.relation]} of "
                f"{format_count(self.cut, 'article')} were not requested; the best connected articles came first. ",
                *(advice, "."),
            )
            warnings.append(Warn(code="budget_spent", message=spent))
        if self.unanswered:
            first = next(iter(self.unanswered.values()))
            count = format_count(len(self.unanswered), "article")
            message = f"The {RELATION_LABELS[self.relation]} of {count} are unknown: {first.message}"
            warnings.append(Warn(code="links_incomplete", message=message))
        return warnings
