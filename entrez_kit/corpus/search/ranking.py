"""Rank what a search of the corpus has found, by words, by meaning and by the quality of the records.

``relevance`` is 0 to 1: of words alone, BM25 as a share of the best hit's; of words and meanings, the mean of that and
of the cosine similarity. ``score`` is the relevance times 1 + quality / 10, or without ``quality_bias`` the relevance
itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from entrez_kit.corpus.quality import quality
from entrez_kit.pubmed.standing import RETRACTED

if TYPE_CHECKING:
    from entrez_kit.corpus.store.reading import StoredDoc
    from entrez_kit.corpus.store.store import Store

ALPHA: Final = 0.5
"""Share of meaning in the relevance of a hybrid search; the rest is that of words."""


@dataclass(slots=True)
class Candidate:
    """A record that one leg or both have found; ``uuid`` is its best passage, if already known.

    ``quality`` is what an index elsewhere was told of it once; results that users see are judged anew.
    """

    pmid: int
    uuid: str | None = None
    sim: float | None = None
    bm25: float | None = None
    quality: int | None = None


def together(by_words: Iterable[Candidate], by_meaning: Iterable[Candidate]) -> list[Candidate]:
    """Return what two legs have found, each record once, under its passage that is nearest in meaning."""
    found = {candidate.pmid: candidate for candidate in by_words}
    for near in by_meaning:
        candidate = found.setdefault(near.pmid, near)
        candidate.uuid, candidate.sim = near.uuid, near.sim
    return list(found.values())


def rank(
    store: "Store", candidates: Sequence[Candidate], documents: "Mapping[int, StoredDoc]", *, bias: bool
) -> list[tuple[Candidate, int, float]]:
    """Return candidates with quality and score, best first; by relevance alone without ``bias``."""
    best = max((candidate.bm25 for candidate in candidates if candidate.bm25), default=0.0)
    today = store.clock().date()
    hybrid = any(candidate.sim is not None for candidate in candidates)
    scored = []
    for candidate in candidates:
        document = documents.get(candidate.pmid)
        if document is None or document.status != "current":
            continue  # an index elsewhere may lag behind
        worth = quality(document.quality, document.pdat, today, retracted=document.retraction_status == RETRACTED).total
        relevance = relevance_of(candidate, best, hybrid=hybrid)
        scored.append((candidate, worth, score_of(relevance, worth) if bias else relevance))
    scored.sort(key=lambda item: (-item[2], item[0].pmid))
    return scored


def relevance_of(candidate: Candidate, best_bm25: float, *, hybrid: bool) -> float:
    """Return how well a record answers the query, 0 to 1.

    Args:
        candidate: what the legs found.
        best_bm25: the highest BM25 among all candidates.
        hybrid: whether meanings were asked for at all.
    """
    words = candidate.bm25 / best_bm25 if candidate.bm25 and best_bm25 else 0.0
    if not hybrid:
        return words
    meaning = min(1.0, max(0.0, candidate.sim or 0.0))
    return ALPHA * meaning + (1 - ALPHA) * words


def score_of(relevance: float, quality_total: int) -> float:
    """Return what hits are ranked by where quality counts: at 9 of 9 points nearly twice the relevance."""
    return relevance * (1 + quality_total / 10)
