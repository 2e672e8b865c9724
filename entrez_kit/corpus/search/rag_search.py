"""Search the corpus by words, and by meaning if embeddings are configured, weighted by record quality."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from textwrap import shorten
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from entrez_kit.base.errors import LocalEmbeddingsError, NotConfigured, StoreError, VectorIndexError
from entrez_kit.base.frontend_text import REINDEX, FrontendText, format_count
from entrez_kit.base.progress import report_progress
from entrez_kit.core.model import Result, is_absent, omit_if_empty
from entrez_kit.corpus.demo import open_corpus
from entrez_kit.corpus.models import ClosedResult, CorpusRequest, NotBlank
from entrez_kit.corpus.search.ranking import Candidate, rank
from entrez_kit.corpus.store import store_of
from entrez_kit.corpus.store.reading import StoredDoc
from entrez_kit.pubmed.models import RetractionStatus, Standing
from entrez_kit.services import Services

OVERSAMPLING: Final = 3
"""Candidates ranked per requested hit, because quality may move a lower candidate up."""
MIN_CANDIDATES: Final = 50
DIGITS: Final = 6
MAX_SNIPPET: Final = 400
"""The maximum number of characters of the passage in a hit."""

IndexName = Literal["local", "weaviate"]


class RagSearchRequest(CorpusRequest):
    """A search of the corpus."""

    query: NotBlank = Field(min_length=1, description="Question or words.")
    top_k: int = Field(default=20, ge=1, le=100, description="Hits to return.")
    quality_bias: bool = Field(default=True, description="Rank better evidence higher.")
    corpus: str | None = Field(default=None, description="Only this corpus.", exclude_if=is_absent)
    index: IndexName | None = Field(
        default=None,
        description="Default: weaviate if configured.",
        exclude_if=is_absent,
    )
    details: bool = Field(
        default=False,
        description="Add title, year, status, snippet.",
        exclude_if=lambda value: value is False,
    )


class RagHit(Result):
    """A record and its best passage; ``sim`` is null without embeddings, ``bm25`` if no word matched."""

    doc_id: str
    uuid: str
    sim: float | None
    bm25: float | None
    quality: int | None
    score: float
    title: str | None = omit_if_empty()
    year: int | None = omit_if_empty()
    retraction_status: RetractionStatus | None = omit_if_empty()
    standing: Standing | None = omit_if_empty()
    snippet: str | None = omit_if_empty()


class RagSearchResult(ClosedResult):
    """Hits, best first: each record once, under its best passage."""

    RECORDS: ClassVar = "results"

    results: list[RagHit]


def rag_search(services: Services, request: RagSearchRequest) -> RagSearchResult:
    """Search the corpus that pubmed_sync_delta fills.

    Use it to find evidence, e.g. query "weight loss vs placebo"; rag_get returns a record. `quality` is 0 to 9.

    Args:
        request: the query, the number of hits, whether quality counts, the corpus and the index. If ``index`` is not
            given, Weaviate is searched if it is configured, or the local index if Weaviate fails.

    Raises:
        EntityNotFound: the corpus does not exist.
        StoreError: the corpus cannot be read.
        EmbeddingsError: embeddings are configured but unavailable.
        NotConfigured: the request names Weaviate, which is not configured.
        VectorIndexError: the request names Weaviate, which does not answer.
    """
    store = open_corpus(services)
    store.check_key(request.corpus)
    candidate_count = max(MIN_CANDIDATES, OVERSAMPLING * request.top_k) if request.quality_bias else request.top_k
    candidates, missing, warnings = _find_candidates(services, request, candidate_count)
    documents = store.read_documents([candidate.pmid for candidate in candidates])
    scored = rank(store, candidates, documents, bias=request.quality_bias)[: request.top_k]
    with store.reading() as connection:
        passages = _find_passages(connection, request.query, [candidate for candidate, *_ in scored])
        snippets = _read_snippets(connection, passages.values()) if request.details else {}
    result = RagSearchResult(
        results=[
            RagHit(
                doc_id=f"pmid:{candidate.pmid}",
                uuid=passages[candidate.pmid],
                sim=_round(candidate.sim),
                bm25=_round(candidate.bm25),
                quality=total,
                score=round(score, DIGITS),
                **(
                    _build_details(documents[candidate.pmid], snippets[passages[candidate.pmid]])
                    if request.details
                    else {}
                ),
            )
            for candidate, total, score in scored
            if candidate.pmid in passages
        ]
    )
    result.add_warnings(warnings)
    result.set_standings(
        f"{hit.doc_id} {standing.note}"
        for hit in result.results
        if (standing := documents[int(hit.doc_id.removeprefix("pmid:"))].standing) is not None
    )
    if missing and result.results:
        result.set_missing_error(
            LocalEmbeddingsError(
                f"{format_count(missing, 'passage has', 'passages have')} no vector yet; only words were compared.",
                recovery_hint=FrontendText(REINDEX, " to create the missing vectors."),
                details={"reason": "vectors_missing", "partial": True, "missing_vectors": missing},
            )
        )
    return result


def _read_snippets(connection: sqlite3.Connection, uuids: Iterable[str]) -> dict[str, str]:
    """Return the beginning of passages."""
    rows = connection.execute(
        "SELECT uuid, text FROM chunks WHERE uuid IN (SELECT value FROM json_each(?))", (json.dumps(list(uuids)),)
    )
    return {row["uuid"]: shorten(row["text"], MAX_SNIPPET, placeholder=" …") for row in rows}


def _find_candidates(
    services: Services, request: RagSearchRequest, limit: int
) -> tuple[list[Candidate], int, list[str]]:
    """Search the index that the request or the settings name.

    Also return the number of passages without a vector, and the limits of the result.
    """
    query, corpus, warnings = request.query, request.corpus, list[str]()
    if request.index == "weaviate" or (request.index is None and services.settings.weaviate_url is not None):
        from entrez_kit.corpus.weaviate.delivery import count_undelivered
        from entrez_kit.corpus.weaviate.searching import find_candidates

        behind = count_undelivered(store_of(services))
        warning = (
            f"Weaviate has not received {format_count(behind, 'changed passage')} yet. The next sync delivers them."
        )
        if request.index == "weaviate":
            return find_candidates(services, query, limit, corpus), 0, [warning] if behind else []
        try:
            if not behind:
                return find_candidates(services, query, limit, corpus), 0, []
        except (VectorIndexError, NotConfigured) as exc:
            warning = f"Weaviate could not be searched: {exc.message}"
        warnings.append(f"{warning} The local index was searched instead.")
    from entrez_kit.corpus.search import words
    from entrez_kit.corpus.search.index import FEW

    with suppress(StoreError):  # if the corpus cannot be written, the search reads the queue
        store_of(services).index_words(FEW, report_progress)
    with store_of(services).reading() as connection:
        by_words = words.search_words(connection, query, limit, corpus=corpus)
    if services.settings.embeddings == "none":
        return by_words, 0, warnings
    from entrez_kit.corpus.search.vectors import add_by_meaning

    return *add_by_meaning(services, query, by_words, limit, corpus), warnings


def _find_passages(connection: sqlite3.Connection, query: str, candidates: Sequence[Candidate]) -> dict[int, str]:
    """Return the uuid of the best passage of each record."""
    from entrez_kit.corpus.search.words import find_best_chunk

    passages = {candidate.pmid: candidate.uuid for candidate in candidates if candidate.uuid is not None}
    for pmid in [candidate.pmid for candidate in candidates if candidate.uuid is None]:
        rows = connection.execute("SELECT uuid, text FROM chunks WHERE pmid = ? ORDER BY id", (pmid,)).fetchall()
        if rows:
            passages[pmid] = rows[find_best_chunk(query, [row["text"] for row in rows])]["uuid"]
    return passages


def _build_details(document: StoredDoc, snippet: str) -> dict[str, Any]:
    """Return the optional details of a hit, so that a caller can choose among hits without fetching each record."""
    return {
        "title": document.title,
        "year": document.year,
        "retraction_status": document.retraction_status,
        "standing": document.standing,
        "snippet": snippet,
    }


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
