"""Follow a relation for several steps: breadth first, each article once, within a budget of requests."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError, NotConfigured, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import Argument, FrontendText
from entrez_kit.core.model import Warn
from entrez_kit.relationships.around import QUEUE_FULL, WORDS, Around, describe, has_others, look_around
from entrez_kit.relationships.fallback import cited_in_records, from_europepmc
from entrez_kit.relationships.links import follow
from entrez_kit.relationships.models import (
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
"""Articles per ELink request; the links of so many well-known ones already are megabytes."""
EVERYTHING: Final = 9_999
MAX_FAILED: Final = 2
"""After so many requests in a row without any answer the rest is not tried: the service is down."""


@dataclass(slots=True)
class Member:
    """An article of the network: how far from the start, and the articles that lead to it, in the order they did."""

    article: RelatedArticle
    depth: int
    via: dict[str, None]


@dataclass(slots=True)
class Network:
    """Everything found so far, by PMID (or, outside PubMed, by whatever names the work)."""

    source: str
    nodes: dict[str, Member] = field(default_factory=dict)

    def add(self, parent: str, articles: Iterable[RelatedArticle], depth: int) -> None:
        """Note that articles are linked to one; those known already gain a way that leads to them."""
        for article in articles:
            key = article.pmid or _outside(article)
            if key is None or key == self.source:
                continue
            node = self.nodes.get(key)
            if node is None:
                self.nodes[key] = Member(article, depth, {parent: None})
            else:
                node.via.setdefault(parent)

    def ranked(self, nodes: Iterable[Member] | None = None) -> list[Member]:
        """Return nodes by how many articles lead to them; then by distance, then in the order they were found."""
        return sorted(self.nodes.values() if nodes is None else nodes, key=lambda node: (-len(node.via), node.depth))

    def level(self, depth: int) -> list[str]:
        """Return the PMIDs at a distance, the best connected first: what a small budget reaches should matter most."""
        nodes = self.ranked(node for node in self.nodes.values() if node.depth == depth)
        return [node.article.pmid for node in nodes if node.article.pmid]


def _outside(article: RelatedArticle) -> str | None:
    """Return a key for a work that PubMed does not have."""
    if article.epmc_source and article.epmc_id:
        return f"{article.epmc_source}:{article.epmc_id}"
    return (article.doi or "").lower() or article.pmcid or article.citation or article.title


def roll(services: Services, relation: Relation, request: RelationshipsRequest) -> Around:
    """Collect the network around an article and rank it by how many of its articles lead to each.

    Raises:
        EntityNotFound: there is no such article.
        UpstreamError: nobody answered about the article itself.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
    """
    source = request.source_pmid
    describe(services, source, ())  # before anything is spent on links that NCBI made up
    start = look_around(services, relation, source, EVERYTHING)
    network = Network(source)
    network.add(source, start.articles, 1)
    walk = _Walk(services, relation, network, request.budget, start.requests)
    walk.provenances.add(start.provenance)
    followed, not_followed = [1], [0]
    for depth in range(2, request.depth + 1):
        level = network.level(depth - 1)
        done = walk.step(level, depth)
        followed.append(done)
        not_followed.append(len(level) - done)
    ranked = network.ranked()
    return Around(
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
        warnings=[*start.warnings, *walk.warnings()],
        snowball=Snowball(requests=walk.requests, budget=request.budget, followed=followed, not_followed=not_followed),
    )


@dataclass(slots=True)
class _Walk:
    """The steps after the first: what was spent, what failed, and what was left for lack of budget."""

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
        """Follow the links of the articles at one distance; return of how many they are known.

        Europe PMC takes one article at a time; it is asked for all that is left where NCBI does not answer.
        """
        known, total = 0, self.passed + len(pmids)
        size = 1 if self.ncbi_is_down else BATCH
        waiting = deque(pmids[start : start + size] for start in range(0, len(pmids), size))
        while waiting:
            left = [pmid for batch in waiting for pmid in batch]
            tracing.step(total - len(left), total)
            if self._spent():
                self.cut += len(left)
                break
            if self.failed_in_a_row >= MAX_FAILED:
                self.unanswered |= dict.fromkeys(left, next(reversed(self.unanswered.values())))
                break
            batch = waiting.popleft()
            self.requests += 1
            try:
                known += self._from_europepmc(batch[0], depth) if self.ncbi_is_down else self._from_ncbi(batch, depth)
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
        tracing.step(total, total)
        return known

    def _spent(self) -> bool:
        return self.requests >= self.budget

    def _from_ncbi(self, batch: list[str], depth: int) -> int:
        found = follow(self.services, self.relation, batch).links
        for pmid in batch:
            if pmid not in found:
                self.unanswered[pmid] = UpstreamError(f"NCBI left PMID {pmid} out of its answer about links.")
            self.network.add(
                pmid, (RelatedArticle.model_construct(pmid=link.pmid) for link in found.get(pmid, ())), depth
            )
        self._from_records([pmid for pmid in batch if pmid in found and not found[pmid]], depth)
        return len(found)

    def _from_records(self, pmids: list[str], depth: int) -> None:
        """Read the reference lists of articles without links of NCBI's out of their records, all in one request."""
        if self.relation != "pubmed_references" or not pmids or self._spent():
            return
        self.requests += 1
        try:
            cited = cited_in_records(self.services, pmids)
        except (UpstreamError, RateLimited) as exc:
            self.unanswered |= dict.fromkeys(pmids, exc)
            return
        for pmid, articles in cited.items():
            self.network.add(pmid, articles, depth)
            if articles:
                self.provenances.add("pubmed_record")

    def _from_europepmc(self, pmid: str, depth: int) -> int:
        articles, _, requests = from_europepmc(self.services, self.relation, pmid, EVERYTHING)
        self.requests += requests - 1
        self.provenances.add("europepmc")
        self.network.add(pmid, articles, depth)
        return 1

    def warnings(self) -> list[Warn]:
        """Say what is missing, and why."""
        warnings = []
        if self.ncbi_is_down:
            message = "NCBI's links stopped answering; Europe PMC was asked for the rest, one article at a time."
            warnings.append(Warn(code="from_europepmc", message=message))
        if self.cut:
            more = min(MAX_BUDGET, self.requests + -(-self.cut // (1 if self.ncbi_is_down else BATCH)))
            advice = (
                FrontendText(Argument("budget", more), " would follow them")
                if more > self.budget
                else "it cannot be larger"
            )
            message = FrontendText(
                f"The budget of requests ({self.budget}) is spent: the {WORDS[self.relation]} of {_counted(self.cut)} "
                "were not asked for, the best connected came first; ",
                *(advice, "."),
            )
            warnings.append(Warn(code="budget_spent", message=message))
        if self.unanswered:
            first = next(iter(self.unanswered.values()))
            message = f"No answer about the {WORDS[self.relation]} of {_counted(len(self.unanswered))}: {first.message}"
            warnings.append(Warn(code="links_incomplete", message=message))
        return warnings


def _counted(articles: int) -> str:
    return "1 article" if articles == 1 else f"{articles:,} articles"
