"""Rank search results of the corpus by words, meaning and record quality.

``relevance`` is from 0 to 1. In a search by words it is the BM25 score divided by the best one. In a hybrid search it
is the mean of that and the cosine similarity. ``score`` is the relevance times 1 + quality / 10, or only the relevance
without ``quality_bias``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from entrez_kit.corpus.quality import score_record
from entrez_kit.pubmed.standing import RETRACTED

if TYPE_CHECKING:
    from entrez_kit.corpus.store.reading import StoredDoc
    from entrez_kit.corpus.store.store import Store

ALPHA: Final = 0.5
"""The weight of meaning in the relevance of a hybrid search; words have the rest."""


@dataclass(slots=True)
class Candidate:
    """A record found by words, by meaning, or both; ``uuid`` is its best passage, if known.

    ``quality`` is the value that a remote index stored; results for users are computed from the current record.
    """

    pmid: int
    uuid: str | None = None
    sim: float | None = None
    bm25: float | None = None
    quality: int | None = None


def merge(by_words: Iterable[Candidate], by_meaning: Iterable[Candidate]) -> list[Candidate]:
    """Merge the results of both searches by record; a record keeps its passage nearest in meaning."""
    candidates = {candidate.pmid: candidate for candidate in by_words}
    for near in by_meaning:
        candidate = candidates.setdefault(near.pmid, near)
        candidate.uuid, candidate.sim = near.uuid, near.sim
    return list(candidates.values())


def rank(
    store: "Store", candidates: Sequence[Candidate], documents: "Mapping[int, StoredDoc]", *, bias: bool
) -> list[tuple[Candidate, int, float]]:
    """Return candidates with quality and score, best first; without ``bias`` the score is the relevance."""
    best = max((candidate.bm25 for candidate in candidates if candidate.bm25), default=0.0)
    today = store.clock().date()
    hybrid = any(candidate.sim is not None for candidate in candidates)
    scored = []
    for candidate in candidates:
        document = documents.get(candidate.pmid)
        if document is None or document.status != "current":
            continue  # a remote index may be outdated
        worth = score_record(
            document.quality, document.pdat, today, retracted=document.retraction_status == RETRACTED
        ).total
        relevance = score_relevance(candidate, best, hybrid=hybrid)
        scored.append((candidate, worth, score_of(relevance, worth) if bias else relevance))
    scored.sort(key=lambda item: (-item[2], item[0].pmid))
    return scored


def score_relevance(candidate: Candidate, best_bm25: float, *, hybrid: bool) -> float:
    """Return the relevance of a record, from 0 to 1.

    Args:
        candidate: the record and its scores.
        best_bm25: the highest BM25 score of all candidates.
        hybrid: whether the search used embeddings.
    """
    words = candidate.bm25 / best_bm25 if candidate.bm25 and best_bm25 else 0.0
    if not hybrid:
        return words
    meaning = min(1.0, max(0.0, candidate.sim or 0.0))
    return ALPHA * meaning + (1 - ALPHA) * words


def score_of(relevance: float, quality_total: int) -> float:
    """Return the score with quality: 9 of 9 points nearly double the relevance."""
    return relevance * (1 + quality_total / 10)
