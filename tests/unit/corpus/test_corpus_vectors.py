"""Vectors of passages: computed once, stored with their model, searched exactly, and combined with words."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fixture_types import KitFor
from invented_papers import Clock, Paper, list_rows, mark_deleted
from platform_marks import needs_model2vec
from tiny_model import build_tiny_model

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EmbeddingsError, LocalEmbeddingsError, NotConfigured, StoreError
from entrez_kit.base.progress import Watch, watch_calls
from entrez_kit.core.operation import execute
from entrez_kit.corpus.embeddings import Embedder
from entrez_kit.corpus.indexing import index_new, reindex
from entrez_kit.corpus.operations import RAG_SEARCH
from entrez_kit.corpus.search import vector_index, vectors
from entrez_kit.corpus.search.rag_search import RagSearchResult
from entrez_kit.corpus.search.ranking import ALPHA
from entrez_kit.corpus.store import store_of
from entrez_kit.corpus.store.store import Store

PAPERS = [
    Paper(1, title="Zebrafish scales", abstract="Scales of zebrafish."),
    Paper(2, title="Danio behaviour", abstract="How the danio swims."),
    Paper(3, title="Cardiac repair", abstract="Heart muscle grows back."),
    Paper(4, title="Sugar and insulin", abstract="Insulin lowers sugar."),
]


class LetterProvider:
    """A provider that counts the letters a, b and c; it fails if a test wants it to."""

    def __init__(self, name: str = "test:letters", dim: int = 3) -> None:
        self.name = name
        self.dim = dim
        self.asked = 0
        self.fails_after: int | None = None

    def embed_batch(self, texts: Sequence[str]) -> Any:
        if self.fails_after is not None and self.asked >= self.fails_after:
            raise EmbeddingsError("no more", details={"reason": "rate_limited"})
        self.asked += 1
        return [[0.5 + text.lower().count(letter) for letter in "abcdefgh"[: self.dim]] for text in texts]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    built = Store(tmp_path / "corpus.db", clock=Clock())
    built.upsert_pubmed_docs([paper.article() for paper in PAPERS], query_key="all")
    built.upsert_pubmed_docs([PAPERS[1].article()], query_key="danio")
    return built


def read_vectors(store: Store) -> list[tuple[Any, ...]]:
    return list_rows(store, "SELECT model, dim, length(vector), count(*) FROM vectors GROUP BY 1, 2, 3 ORDER BY 1")


# Making them


def test_every_passage_gets_a_vector_with_its_model(store: Store) -> None:
    assert vectors.embed_missing(store, Embedder(LetterProvider())) == 4
    assert read_vectors(store) == [("test:letters", 3, 12, 4)]
    assert vectors.embed_missing(store, Embedder(LetterProvider())) == 0


def test_only_changed_passages_are_embedded_again(store: Store) -> None:
    vectors.embed_missing(store, Embedder(LetterProvider()))
    changed = PAPERS[0].change_with(abstract="Scales, described anew.", revised="2025-01-01")
    store.upsert_pubmed_docs([paper.article() for paper in (changed, *PAPERS[1:])])

    assert vectors.embed_missing(store, Embedder(LetterProvider())) == 1


def test_vectors_computed_before_a_failure_are_stored(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "BATCH", 1)
    provider = LetterProvider()
    provider.fails_after = 3
    with pytest.raises(EmbeddingsError, match="no more"):
        vectors.embed_missing(store, Embedder(provider))
    assert read_vectors(store)[0][-1] == 3

    provider.fails_after = None
    reported: list[tuple[int, int | None]] = []
    with watch_calls(Watch(wanted=lambda: True, progress=lambda done, total: reported.append((done, total)))):
        assert vectors.embed_missing(store, Embedder(provider)) == 1
    assert reported == [(1, 1)]


def test_a_passage_that_a_sync_replaces_during_the_embedding_is_embedded_again(store: Store) -> None:
    changed = PAPERS[0].change_with(abstract="Quite another abstract.", revised="2025-01-01")

    class Slow(LetterProvider):
        def embed_batch(self, texts: Sequence[str]) -> Any:
            if not self.asked:
                store.upsert_pubmed_docs([changed.article()])
            return super().embed_batch(texts)

    vectors.embed_missing(store, Embedder(Slow()))

    with store.reading() as connection:
        assert vectors.count_missing(connection, "test:letters") == 0
    ((text, blob),) = list_rows(
        store, "SELECT text, vector FROM chunks JOIN vectors ON vectors.chunk_id = id WHERE pmid = 1"
    )
    (expected,) = Embedder(LetterProvider()).yield_matrices([text])
    assert blob == expected[0].astype("<f4").tobytes()


def test_a_model_whose_dimension_changes_is_refused(store: Store) -> None:
    vectors.embed_missing(store, Embedder(LetterProvider()))
    store.upsert_pubmed_docs([Paper(9).article()])

    with pytest.raises(LocalEmbeddingsError, match="now has 4 dimensions") as caught:
        vectors.embed_missing(store, Embedder(LetterProvider(dim=4)))
    assert "reindex --anew" in caught.value.recovery_hint


def test_a_deleted_record_loses_its_vectors(store: Store) -> None:
    vectors.embed_missing(store, Embedder(LetterProvider()))
    mark_deleted(store, [1])

    assert read_vectors(store)[0][-1] == 3


# Finding the nearest


def test_the_nearest_records_are_found_exactly_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import random

    import numpy as np

    monkeypatch.setattr(vector_index, "BLOCK", 7)
    store = Store(tmp_path / "corpus.db")
    draw = random.Random(4)
    store.upsert_pubmed_docs(
        Paper(pmid, title="x", abstract="".join(draw.choices("abcdefgh ", k=40))).article() for pmid in range(1, 201)
    )
    embedder = Embedder(LetterProvider(dim=8))
    vectors.embed_missing(store, embedder)
    query = next(embedder.yield_matrices(["abba"]))[0]
    stored = list_rows(store, "SELECT pmid, uuid, vector FROM chunks JOIN vectors ON vectors.chunk_id = id")
    sims = {
        pmid: (float(np.float32(np.frombuffer(blob, "<f4").astype(float) @ query)), uuid) for pmid, uuid, blob in stored
    }
    expected = sorted(sims, key=lambda pmid: (-sims[pmid][0], pmid))

    with store.reading() as connection:
        found = vectors.find_nearest(connection, "test:letters", query, 5)
        with_others = vectors.find_nearest(connection, "test:letters", query, 5, also=[expected[-1], expected[0], 999])
    assert [near.pmid for near in found] == expected[:5]
    assert all(near.sim == pytest.approx(sims[near.pmid][0], abs=1e-6) for near in found)
    assert all(near.uuid == sims[near.pmid][1] for near in found)
    assert {near.pmid for near in with_others} == {*expected[:5], expected[-1]}


@needs_model2vec
def test_a_search_indexes_the_queued_vectors_if_there_are_many(kit: EntrezKit, monkeypatch: pytest.MonkeyPatch) -> None:
    def count_queued() -> int:
        with store_of(kit.services).reading() as connection:
            return vector_index.count_queued(connection)

    reindex(kit.services)
    assert count_queued() == 0
    mark_deleted(store_of(kit.services), [4])
    kit.rag_search(query="zebrafish")
    assert count_queued() == 1
    monkeypatch.setattr(vector_index, "FEW", 1)
    kit.rag_search(query="zebrafish")
    assert count_queued() == 0


@needs_model2vec
def test_a_damaged_index_is_an_error_that_a_reindex_repairs(kit: EntrezKit) -> None:
    reindex(kit.services)
    with store_of(kit.services).writing() as connection:
        connection.execute("UPDATE vector_blocks SET codes = substr(codes, 2)")

    with pytest.raises(StoreError, match="malformed vector index") as caught:
        kit.rag_search(query="zebrafish")
    assert (caught.value.reason, "corpus reindex" in caught.value.recovery_hint) == ("corrupt", True)
    reindex(kit.services)
    assert list_documents(kit.rag_search(query="zebrafish", top_k=2)) == ["pmid:1", "pmid:2"]


# Searching by words and meanings


def open_with_embeddings(kit: EntrezKit, model: Path) -> EntrezKit:
    """Return a kit on the same corpus that has an embeddings provider."""
    return EntrezKit(replace(kit.settings, embeddings="hf", embeddings_model=str(model)))


@pytest.fixture
def kit(kit_for: KitFor, tmp_path: Path) -> EntrezKit:
    """Return a kit with a small corpus and a tiny model that knows that a danio is a zebrafish."""
    built = open_with_embeddings(kit_for(None), build_tiny_model(tmp_path / "tiny"))
    store_of(built.services).clock = Clock()
    store_of(built.services).upsert_pubmed_docs([paper.article() for paper in PAPERS], query_key="all")
    return built


def list_documents(result: RagSearchResult) -> list[str]:
    return [hit.doc_id for hit in result.results]


@needs_model2vec
def test_meaning_finds_records_without_the_words_and_words_rank_their_records(kit: EntrezKit) -> None:
    reindex(kit.services)
    result = kit.rag_search(query="zebrafish", top_k=2, quality_bias=False)

    assert list_documents(result) == ["pmid:1", "pmid:2"]
    zebrafish, danio = result.results
    assert (zebrafish.bm25 or 0) > 0
    assert danio.bm25 is None
    assert zebrafish.sim is not None
    assert danio.sim is not None
    assert zebrafish.score == pytest.approx(ALPHA * zebrafish.sim + (1 - ALPHA), abs=1e-5)
    assert danio.score == pytest.approx(ALPHA * danio.sim, abs=1e-5)


@needs_model2vec
def test_quality_multiplies_the_relevance(kit: EntrezKit) -> None:
    reindex(kit.services)
    plain = {hit.doc_id: hit for hit in kit.rag_search(query="heart muscle", quality_bias=False).results}
    weighed = kit.rag_search(query="heart muscle", quality_bias=True).results

    for hit in weighed:
        assert hit.quality is not None
        assert hit.score == pytest.approx(plain[hit.doc_id].score * (1 + hit.quality / 10), abs=1e-5)


@needs_model2vec
def test_a_search_limited_to_a_query_finds_only_its_records(kit: EntrezKit) -> None:
    from entrez_kit.corpus.search.rag_search import RagSearchRequest, rag_search

    store_of(kit.services).upsert_pubmed_docs([PAPERS[3].article()], query_key="sugar")
    with store_of(kit.services).writing() as connection:
        connection.execute("INSERT INTO checkpoints (query_key, term) VALUES ('sugar', 'sugar')")
    reindex(kit.services)

    result = rag_search(kit.services, RagSearchRequest(query="zebrafish", corpus="sugar"))
    assert list_documents(result) == ["pmid:4"]


@needs_model2vec
def test_a_corpus_without_vectors_of_the_model_names_the_command_to_run(kit: EntrezKit) -> None:
    with pytest.raises(LocalEmbeddingsError, match="no vectors of hf:") as caught:
        kit.rag_search(query="zebrafish")

    assert "corpus reindex" in caught.value.recovery_hint
    assert RAG_SEARCH.error_document(caught.value)["error"]["code"] == "EMBEDDINGS"


@needs_model2vec
def test_another_model_needs_a_reindex_and_the_old_vectors_stay_until_they_are_removed(
    kit: EntrezKit, kit_for: KitFor, tmp_path: Path
) -> None:
    reindex(kit.services)
    other = open_with_embeddings(kit_for(None), build_tiny_model(tmp_path / "other", dim=5))
    with pytest.raises(LocalEmbeddingsError, match=r"It has vectors of hf:.*tiny"):
        other.rag_search(query="zebrafish")
    remark = index_new(other.services)  # what a sync does at its end
    assert isinstance(remark, LocalEmbeddingsError)
    assert remark.details["partial"] is True

    assert reindex(other.services).vectors == 4
    assert list_documents(other.rag_search(query="zebrafish", top_k=2)) == ["pmid:1", "pmid:2"]
    assert len(store_of(other.services).stats().vectors) == 2
    assert kit.rag_search(query="zebrafish").results

    assert reindex(other.services, anew=True).vectors == 4
    assert len(store_of(other.services).stats().vectors) == 1


@needs_model2vec
def test_encoders_of_passages_and_queries_must_be_those_of_the_vectors(kit: EntrezKit, tmp_path: Path) -> None:
    def two(queries: Path) -> EntrezKit:
        return EntrezKit(replace(kit.settings, embeddings_query_model=str(queries)))

    of_queries = two(build_tiny_model(tmp_path / "queries"))
    reindex(kit.services)
    with pytest.raises(LocalEmbeddingsError, match=r"no vectors of hf:.*tiny, queries by hf:.*queries") as caught:
        of_queries.rag_search(query="zebrafish")
    assert caught.value.reason == "vectors_missing"

    assert reindex(of_queries.services, anew=True).vectors == 4
    assert list_documents(of_queries.rag_search(query="zebrafish", top_k=2)) == ["pmid:1", "pmid:2"]
    with pytest.raises(LocalEmbeddingsError, match=r"no vectors of .*It has vectors of hf:.*, queries by"):
        kit.rag_search(query="zebrafish")

    wider = two(build_tiny_model(tmp_path / "wider", dim=5))
    reindex(wider.services)
    with pytest.raises(LocalEmbeddingsError, match="do not belong together") as caught:
        wider.rag_search(query="zebrafish")
    assert caught.value.details["stored_dim"] == 3


@needs_model2vec
def test_passages_without_a_vector_are_found_by_words_with_a_warning(kit: EntrezKit) -> None:
    reindex(kit.services)
    store_of(kit.services).upsert_pubmed_docs([Paper(7, title="Zebrafish fins").article()], query_key="all")
    outcome = execute(RAG_SEARCH, kit.services, {"query": "zebrafish fins"})

    assert outcome.result is not None
    new = next(hit for hit in outcome.result.results if hit.doc_id == "pmid:7")
    assert (new.sim, (new.bm25 or 0) > 0) == (None, True)
    assert isinstance(outcome.error, LocalEmbeddingsError)
    assert outcome.error.details["missing_vectors"] == 1
    assert outcome.error.details["partial"] is True


@needs_model2vec
def test_an_empty_corpus_is_searched_without_an_error(kit_for: KitFor, tmp_path: Path) -> None:
    empty = open_with_embeddings(kit_for(None, home=tmp_path / "new"), build_tiny_model(tmp_path / "tiny"))

    assert empty.rag_search(query="zebrafish").results == []


def test_without_embeddings_no_hit_has_a_similarity(kit_for: KitFor) -> None:
    kit = kit_for(None)
    store_of(kit.services).upsert_pubmed_docs([paper.article() for paper in PAPERS])

    (hit,) = kit.rag_search(query="zebrafish").results
    assert (hit.doc_id, hit.sim) == ("pmid:1", None)
    assert 0 < hit.score <= 1.9


def test_a_reindex_checks_the_provider_before_the_work_begins(kit_for: KitFor, monkeypatch: pytest.MonkeyPatch) -> None:
    def begun(*arguments: object) -> int:
        raise AssertionError("the work began")

    monkeypatch.setattr(Store, "reindex", begun)
    kit = EntrezKit(replace(kit_for(None).settings, embeddings="openai"))
    with pytest.raises(NotConfigured, match="OPENAI_API_KEY"):
        reindex(kit.services)
    with pytest.raises(LocalEmbeddingsError, match="No embeddings provider"):
        reindex(kit_for(None).services, anew=True)
