"""Searches in Weaviate instead of the local index.

The server does not store which query has found a record. A search within a small corpus sends its PMIDs; the hits for
a large one are filtered locally.
"""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from entrez_kit.corpus.embeddings import create_embedder
from entrez_kit.corpus.search.ranking import Candidate
from entrez_kit.corpus.store import store_of
from entrez_kit.corpus.weaviate.collection import MAX_HITS, SearchHit, WeaviateIndex
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.corpus.store.store import Store

PASSAGES_PER_RECORD: Final = 3
"""Passages requested per wanted record in the first request."""
GROWTH: Final = 4
MAX_NAMED: Final = 10_000
"""The maximum number of records of a corpus whose PMIDs are sent with a search."""

SearchFunction = Callable[[int], list[SearchHit]]


def find_candidates(services: Services, query: str, max_records: int, corpus: str | None) -> list[Candidate]:
    """Return the records that Weaviate finds, by words and, with embeddings, by meaning.

    Args:
        query: question or words.
        max_records: the maximum number of records.
        corpus: a query key; searches only records of this corpus.

    Raises:
        NotConfigured: no server is configured.
        VectorIndexError: the server does not answer.
        LocalIndexError: it has no collection for this corpus, or one with vectors of a different model.
        EmbeddingsError: the query could not be embedded.
    """
    embedder, store = create_embedder(services.settings, queries=True), store_of(services)
    with WeaviateIndex(services.settings, embedder) as index:
        index.check()
        records = _SearchedRecords.of(store, corpus)
        if records.pmids == []:
            return []
        return records.find_best(max_records, lambda limit: index.search(query, limit, records.pmids))


class _SearchedRecords(NamedTuple):
    """The records to search; ``pmids`` is set if there are at most ``MAX_NAMED``."""

    store: "Store"
    corpus: str | None
    pmids: list[int] | None

    @classmethod
    def of(cls, store: "Store", corpus: str | None) -> "_SearchedRecords":
        if corpus is None:
            return cls(store, None, None)
        with store.reading() as connection:
            rows = connection.execute(
                "SELECT pmid FROM membership JOIN documents USING (pmid) WHERE query_key = ? AND status = 'current' "
                "LIMIT ?",
                (corpus, MAX_NAMED + 1),
            ).fetchall()
        return cls(store, corpus, [row[0] for row in rows] if len(rows) <= MAX_NAMED else None)

    def find_best(self, max_records: int, search: SearchFunction) -> list[Candidate]:
        """Return the best records with their nearest passage; request more hits until there are enough."""
        limit = min(MAX_HITS, max(1, max_records * PASSAGES_PER_RECORD))
        while True:
            hits = search(limit)
            candidates = _group_by_record(self._keep_known(hits))
            if len(candidates) >= max_records or len(hits) < limit or limit == MAX_HITS:
                return candidates[:max_records]
            limit = min(MAX_HITS, limit * GROWTH)

    def _keep_known(self, hits: Sequence[SearchHit]) -> list[SearchHit]:
        """Remove hits that the corpus or its query does not have, because the server may be outdated."""
        among = "" if self.corpus is None else "JOIN membership AS m ON m.pmid = c.pmid AND m.query_key = :corpus"
        with self.store.reading() as connection:
            rows = connection.execute(
                f"SELECT c.uuid FROM chunks AS c {among} WHERE c.uuid IN (SELECT value FROM json_each(:uuids))",
                {"corpus": self.corpus, "uuids": json.dumps([hit["uuid"] for hit in hits])},
            )
            pmids_of_corpus = {row[0] for row in rows}
        return [hit for hit in hits if hit["uuid"] in pmids_of_corpus]


def _group_by_record(hits: Sequence[SearchHit]) -> list[Candidate]:
    """Return each record once, with the highest scores of its passages."""
    candidates: dict[int, Candidate] = {}
    for hit in hits:
        pmid, sim, bm25 = int(hit["pmid"]), hit.get("sim"), hit.get("bm25")
        record = candidates.setdefault(pmid, Candidate(pmid, hit["uuid"], sim, bm25, hit.get("quality")))
        if sim is not None and (record.sim is None or sim > record.sim):
            record.uuid, record.sim = hit["uuid"], sim
        record.bm25 = max(bm25 or 0.0, record.bm25 or 0.0) or None
    return list(candidates.values())
