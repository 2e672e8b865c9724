"""The Weaviate index, with a simulated server and, with ``-m weaviate`` and WEAVIATE_URL, with a real local server."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("weaviate", reason="the extra entrez-kit[weaviate] is not installed")

from invented_papers import Paper, list_rows, mark_deleted
from weaviate_double import WeaviateDouble
from weaviate_helpers import (
    FiveWords,
    fill_vectors,
    get_passage_uuid,
    make_services,
    make_settings,
    make_six_words,
    open_client,
)

from entrez_kit.base.errors import LocalIndexError
from entrez_kit.base.progress import Watch, watch_calls
from entrez_kit.base.settings import Settings
from entrez_kit.corpus.embeddings import Embedder
from entrez_kit.corpus.search.rag_search import RagSearchRequest, rag_search
from entrez_kit.corpus.store import store_of
from entrez_kit.corpus.weaviate.collection import WeaviateIndex
from entrez_kit.corpus.weaviate.delivery import deliver_changes, rebuild
from entrez_kit.corpus.weaviate.searching import find_candidates
from entrez_kit.services import Services

REAL_URL = os.environ.get("WEAVIATE_URL")
REAL_GRPC_PORT = int(os.environ.get("WEAVIATE_GRPC_PORT") or 50051)
REAL_KEY = os.environ.get("WEAVIATE_API_KEY")
HERE = REAL_URL is not None and urlsplit(REAL_URL).hostname in ("localhost", "127.0.0.1", "::1")
SERVERS = ["double", *([pytest.param("real", marks=pytest.mark.weaviate)] if HERE else [])]

ABOUT_FISH = "Zebrafish swim in cold water."
ABOUT_MICE = "Mice run at night."
VECTORS = {"default": {"vectorizer": {"none": {}}, "vectorIndexType": "hnsw", "vectorIndexConfig": {}}}
PAPERS = [
    Paper(1001, title="On fish", abstract=ABOUT_FISH),
    Paper(1002, title="On rodents", abstract=ABOUT_MICE),
    Paper(1003, title="On both", abstract="Zebrafish and mice, compared."),
    Paper(1004, title="On birds", abstract="Birds fly south."),
]


@pytest.fixture(params=SERVERS)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Name a server and an unused collection, and remove the collection afterwards."""
    with ExitStack() as stack:
        if request.param == "double":
            double = stack.enter_context(WeaviateDouble())
            given = make_settings(tmp_path, double.url, double.grpc_port)
        else:
            assert REAL_URL is not None
            given = make_settings(tmp_path, REAL_URL, REAL_GRPC_PORT, weaviate_api_key=REAL_KEY)
        yield given
        with open_client(given) as client:
            client.collections.delete(WeaviateIndex(given).name)


@pytest.fixture
def index(settings: Settings) -> Iterator[WeaviateIndex]:
    with WeaviateIndex(settings, make_six_words()) as opened:
        opened.ensure_schema()
        yield opened


@pytest.fixture
def services(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    for module in ("weaviate.delivery", "weaviate.searching", "search.vectors"):
        monkeypatch.setattr(f"entrez_kit.corpus.{module}.create_embedder", _read_model)
    with make_services(settings) as opened:
        yield opened


def _read_model(settings: Settings, *, queries: bool = False) -> Embedder | None:
    return None if settings.embeddings == "none" else make_six_words()


def _chunk(pmid: int, text: str, **more: Any) -> dict[str, Any]:
    return {"pmid": str(pmid), "chunk_id": "w0", "text": text, "vector": make_six_words().embed([text])[0], **more}


def _fill(services: Services, papers: list[Paper] = PAPERS, key: str = "k") -> None:
    store_of(services).upsert_pubmed_docs([paper.article() for paper in papers], key)
    fill_vectors(store_of(services))


def _read_index(services: Services) -> dict[str, str]:
    """Return the passages in the index, by uuid."""
    with open_client(services.settings) as client:
        collection = client.collections.get(WeaviateIndex(services.settings).name)
        held = collection.query.fetch_objects(limit=100, return_properties=["text"])
        return {str(item.uuid): str(item.properties["text"]) for item in held.objects}


def _read_corpus(services: Services) -> dict[str, str]:
    """Return the passages of the corpus, by uuid."""
    return dict(list_rows(store_of(services), "SELECT uuid, text FROM chunks"))


def _count_waiting(services: Services) -> int:
    return int(list_rows(store_of(services), "SELECT count(*) FROM outbox")[0][0])


def test_a_server_without_the_collection_says_so(settings: Settings) -> None:
    with WeaviateIndex(settings) as index:
        assert not index.exists()


# the collection


def test_a_collection_is_created_once_and_names_the_model_of_its_vectors(index: WeaviateIndex) -> None:
    index.ensure_schema()

    assert (index.exists(), index.count()) == (True, 0)
    assert index.read_vector_source() == ("hf:six-words", 6)


def test_an_empty_collection_finds_nothing(index: WeaviateIndex) -> None:
    assert index.search_by_words("zebrafish", 5) == []
    assert index.search_by_meaning([1.0] * 6, 5) == []
    assert list(index.yield_uuids()) == []


def test_a_collection_of_another_model_is_refused(index: WeaviateIndex, settings: Settings) -> None:
    with WeaviateIndex(settings, Embedder(FiveWords())) as other, pytest.raises(LocalIndexError) as caught:
        other.ensure_schema()

    assert caught.value.details["reason"] == "model_changed"
    assert "hf:six-words" in caught.value.message
    assert "reindex --index weaviate" in caught.value.recovery_hint


def test_an_index_without_embeddings_may_search_vectors_of_any_model_but_not_write(
    index: WeaviateIndex, settings: Settings
) -> None:
    with WeaviateIndex(settings) as words:
        words.check()
        with pytest.raises(LocalIndexError, match="not of none"):
            words.check(writing=True)


def test_a_collection_of_another_program_is_not_changed(settings: Settings) -> None:
    with WeaviateIndex(settings, make_six_words()) as index, open_client(settings) as client:
        client.collections.create_from_dict(
            {"class": index.name, "description": "Mine.", "vectorConfig": VECTORS, "properties": []}
        )
        for use in (index.ensure_schema, index.check, index.drop):
            with pytest.raises(LocalIndexError) as caught:
                use()
            assert caught.value.details["reason"] == "foreign_collection"
        assert index.exists()


def test_a_collection_without_properties_is_refused_and_may_be_created_again(settings: Settings) -> None:
    with WeaviateIndex(settings, make_six_words()) as index, open_client(settings) as client:
        index.ensure_schema()
        description = client.collections.get(index.name).config.get(simple=True).description
        client.collections.delete(index.name)
        client.collections.create_from_dict(
            {
                "class": index.name,
                "description": description,
                "vectorConfig": VECTORS,
                "properties": [{"name": "pmid", "dataType": ["int"]}, {"name": "text", "dataType": ["text"]}],
            }
        )
        with pytest.raises(LocalIndexError) as caught:
            index.ensure_schema()
        assert caught.value.details["reason"] == "schema_differs"
        assert "pmid" in caught.value.details["properties"]
        assert "text" not in caught.value.details["properties"]

        index.drop()
        index.ensure_schema()
        assert index.count() == 0


def test_a_missing_collection_is_named(settings: Settings) -> None:
    with WeaviateIndex(settings, make_six_words()) as index:
        with pytest.raises(LocalIndexError) as caught:
            index.check()
        index.drop()

    assert caught.value.details == {"reason": "no_collection", "collection": index.name}


# passages


def test_a_passage_has_the_same_uuid_as_in_the_corpus(index: WeaviateIndex) -> None:
    result = index.upsert_chunks([_chunk(12345678, ABOUT_FISH, quality_total=7)])

    assert result.done == ["2fc98da8-dd62-5e12-bb60-1d806bd65212"]
    assert result.errors == {}
    (hit,) = index.search_by_words("zebrafish", 5)
    assert (hit.uuid, hit.pmid, hit.quality, hit.sim) == ("2fc98da8-dd62-5e12-bb60-1d806bd65212", 12345678, 7, None)
    assert hit.bm25 is not None
    assert hit.bm25 > 0
    assert list(index.yield_uuids()) == result.done


def test_all_properties_of_a_passage_are_stored(index: WeaviateIndex) -> None:
    index.upsert_chunks(
        [
            _chunk(
                1,
                ABOUT_FISH,
                journal="Nature",
                pub_types=["Review", "Journal Article"],
                year=2024,
                quality_total=9,
                edat="2024-06-02T10:30:00Z",
                lr="2024-06-15T00:00:00Z",
                source_url="https://pubmed.ncbi.nlm.nih.gov/1/",
            ),
            _chunk(2, ABOUT_MICE, journal=None, pub_types=[], year=None),
        ]
    )

    assert index.count() == 2
    found = index.search_by_words("zebrafish", 1)
    assert found[0].quality == 9
    assert index.search_by_words("mice", 1)[0].quality is None


def test_writing_twice_changes_nothing_and_a_new_text_replaces_the_old(index: WeaviateIndex) -> None:
    index.upsert_chunks([_chunk(1, ABOUT_FISH)])
    index.upsert_chunks([_chunk(1, ABOUT_FISH)])
    assert index.count() == 1

    index.upsert_chunks([_chunk(1, ABOUT_MICE)])

    assert index.count() == 1
    assert index.search_by_words("zebrafish", 5) == []
    assert [hit.pmid for hit in index.search_by_words("mice", 5)] == [1]
    (near,) = index.search_by_meaning(make_six_words().embed(["mice run"])[0], 5)
    assert near.sim == pytest.approx(1, abs=0.01)


def test_passages_that_cannot_be_written_are_named_and_the_others_are_written(index: WeaviateIndex) -> None:
    result = index.upsert_chunks(
        [
            _chunk(1, ABOUT_FISH),
            _chunk(2, ABOUT_FISH) | {"vector": [1.0, 0.0]},
            _chunk(3, ABOUT_FISH) | {"vector": None},
            _chunk(4, ""),
            _chunk(5, ABOUT_FISH) | {"vector": [float("nan")] * 6},
            _chunk(6, ABOUT_FISH) | {"vector": [0.0] * 6},
            _chunk(7, ABOUT_FISH, edat="last spring"),
        ]
    )

    assert result.done == [get_passage_uuid(1)]
    refused = {number: result.errors[get_passage_uuid(number)] for number in range(2, 8)}
    assert refused.pop(7).startswith("invalid date property")
    assert refused == {
        2: "its vector has 2 dimensions (expected 6)",
        3: "it has no vector",
        4: "it has no text",
        5: "its vector has no direction",
        6: "its vector has no direction",
    }
    assert index.count() == 1


def test_a_batch_that_is_refused_as_a_whole_is_reported_object_by_object(index: WeaviateIndex) -> None:
    result = index.upsert_chunks([_chunk(number, ABOUT_FISH, lr="soon") for number in (1, 2)])

    assert result.done == []
    assert set(result.errors) == {get_passage_uuid(1), get_passage_uuid(2)}
    assert all("invalid date property" in why for why in result.errors.values())


def test_vectors_are_sent_with_length_1(index: WeaviateIndex, settings: Settings) -> None:
    index.upsert_chunks([_chunk(1, ABOUT_FISH) | {"vector": [3.0, 4.0, 0, 0, 0, 0]}])

    with open_client(settings) as client:
        collection = client.collections.get(index.name)
        (stored,) = collection.query.fetch_objects(include_vector=True, return_properties=[]).objects
    assert stored.vector["default"] == pytest.approx([0.6, 0.8, 0, 0, 0, 0])


def test_deleted_passages_are_removed_and_unknown_ones_count_as_deleted(index: WeaviateIndex) -> None:
    index.upsert_chunks([_chunk(number, ABOUT_FISH) for number in (1, 2, 3)])

    result = index.delete([get_passage_uuid(1), get_passage_uuid(3), get_passage_uuid(4711)])

    assert (result.done, result.errors) == ([get_passage_uuid(1), get_passage_uuid(3), get_passage_uuid(4711)], {})
    assert list(index.yield_uuids()) == [get_passage_uuid(2)]
    assert index.delete([]).done == []


def test_more_passages_than_a_batch_are_written(index: WeaviateIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entrez_kit.corpus.weaviate.collection.BATCH", 4)

    assert len(index.upsert_chunks(_chunk(number, ABOUT_FISH) for number in range(1, 12)).done) == 11
    assert index.count() == 11
    assert len(index.delete([get_passage_uuid(number) for number in range(1, 12)]).done) == 11
    assert index.count() == 0


# the legs


def test_each_kind_of_search_returns_its_own_score(index: WeaviateIndex) -> None:
    index.upsert_chunks([_chunk(1, ABOUT_FISH), _chunk(2, ABOUT_MICE), _chunk(3, "Birds fly.")])

    words = index.search_by_words("zebrafish", 5)
    near = index.search_by_meaning([1.0, 1.0, 0, 0, 0, 0], 5)

    assert [(hit.pmid, hit.sim) for hit in words] == [(1, None)]
    assert near[0].pmid == 1
    assert [hit.bm25 for hit in near] == [None] * 3
    assert near[0].sim == pytest.approx(1, abs=0.001)
    assert near[1].sim == pytest.approx(0.02, abs=0.02)


def test_only_the_given_records_are_found(index: WeaviateIndex) -> None:
    index.upsert_chunks([_chunk(number, ABOUT_FISH) for number in (1, 2, 3)])

    assert {hit.pmid for hit in index.search_by_words("zebrafish", 5, [2, 3])} == {2, 3}
    assert {hit.pmid for hit in index.search_by_meaning([1.0] * 6, 5, [1])} == {1}
    assert len(index.search_by_words("zebrafish", 2)) == 2


def test_an_index_without_embeddings_needs_no_vectors(settings: Settings) -> None:
    with WeaviateIndex(settings) as index:
        index.ensure_schema()
        index.upsert_chunks([{"pmid": "1", "chunk_id": "w0", "text": ABOUT_FISH}])

        (hit,) = index.search_by_words("zebrafish", 5)

        assert (hit.pmid, hit.sim) == (1, None)
        assert index.read_vector_source() == (None, None)


def test_a_hybrid_search_returns_the_documents_of_the_contract(index: WeaviateIndex) -> None:
    index.upsert_chunks([_chunk(1, ABOUT_FISH, quality_total=7), _chunk(2, ABOUT_MICE), _chunk(3, "Birds fly.")])

    first, *others = index.search("zebrafish", 2)

    assert (first["uuid"], first["pmid"], first["quality"]) == (get_passage_uuid(1), "1", 7)
    assert first["bm25"] > 0
    assert first["sim"] > 0.5
    assert [set(hit) <= {"uuid", "pmid", "sim", "bm25", "quality"} for hit in others] == [True]
    assert "bm25" not in others[0]


def test_a_hybrid_search_without_embeddings_returns_no_similarity(settings: Settings) -> None:
    with WeaviateIndex(settings) as index:
        index.ensure_schema()
        index.upsert_chunks([{"pmid": "1", "chunk_id": "w0", "text": ABOUT_FISH}])

        (hit,) = index.search("zebrafish", 5)

    assert set(hit) == {"uuid", "pmid", "bm25"}


def test_a_search_of_the_corpus_is_a_hybrid_search(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    _fill(services)
    deliver_changes(services)
    only = {"uuid": get_passage_uuid(1004), "pmid": "1004", "sim": 0.5, "bm25": 2.0, "quality": 3}
    monkeypatch.setattr(WeaviateIndex, "search", lambda self, query, limit, pmids=None: [only])

    (hit,) = rag_search(services, RagSearchRequest(query="zebrafish", quality_bias=False)).results

    assert (hit.doc_id, hit.uuid, hit.sim, hit.bm25) == ("pmid:1004", get_passage_uuid(1004), 0.5, 2.0)


# delivering


def test_changes_of_the_corpus_are_sent_to_the_index(services: Services) -> None:
    _fill(services)

    first = deliver_changes(services)

    assert (first.written, first.deleted, first.waiting) == (4, 0, 0)
    assert first.missing_error() is None
    assert _read_index(services) == _read_corpus(services)

    store_of(services).upsert_pubmed_docs(
        [PAPERS[0].change_with(abstract="Salmon jump.", revised="2025-01-01").article()]
    )
    mark_deleted(store_of(services), [1002])
    fill_vectors(store_of(services))
    second = deliver_changes(services)

    assert (second.written, second.deleted, second.waiting) == (1, 1, 0)
    assert _read_index(services) == _read_corpus(services)
    assert len(_read_index(services)) == 3


def test_without_a_change_nothing_is_delivered(services: Services) -> None:
    _fill(services)
    deliver_changes(services)

    again = deliver_changes(services)

    assert (again.written, again.deleted, again.waiting) == (0, 0, 0)


def test_a_deleted_collection_is_filled_again(services: Services) -> None:
    _fill(services)
    deliver_changes(services)
    with WeaviateIndex(services.settings, make_six_words()) as index:
        index.drop()
    store_of(services).upsert_pubmed_docs([Paper(1005, abstract="Birds again.").article()])
    fill_vectors(store_of(services))

    assert deliver_changes(services).written == 5
    assert _read_index(services) == _read_corpus(services)


def test_many_changes_are_sent_in_batches_with_progress(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entrez_kit.corpus.weaviate.delivery.BATCH", 3)
    _fill(services, [Paper(2000 + number, abstract=f"Birds {number}.") for number in range(10)])
    reported: list[tuple[int, int | None]] = []

    with watch_calls(Watch(wanted=lambda: True, progress=lambda done, total: reported.append((done, total)))):
        deliver_changes(services)

    assert reported == [(3, 10), (6, 10), (9, 10), (10, 10)]
    assert _read_index(services) == _read_corpus(services)


def test_a_rebuild_sends_everything_and_removes_passages_that_are_not_in_the_corpus(services: Services) -> None:
    _fill(services)
    deliver_changes(services)
    with WeaviateIndex(services.settings, make_six_words()) as index:
        index.upsert_chunks([_chunk(4711, "A stray passage.")])
        index.delete([get_passage_uuid(1001)])

    done = rebuild(services)

    assert (done.written, done.deleted, done.waiting) == (4, 1, 0)
    assert _read_index(services) == _read_corpus(services)


def test_a_rebuild_changes_to_another_model(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    _fill(services)
    deliver_changes(services)
    for module in ("delivery", "searching"):
        monkeypatch.setattr(
            f"entrez_kit.corpus.weaviate.{module}.create_embedder", lambda settings, **which: Embedder(FiveWords())
        )
    with pytest.raises(LocalIndexError):
        find_candidates(services, "zebrafish", 5, None)

    assert rebuild(services).written == 4

    with WeaviateIndex(services.settings, Embedder(FiveWords())) as index:
        assert index.read_vector_source() == ("hf:five-words", 5)
        assert index.count() == 4
    best = max(find_candidates(services, "mice run", 5, None), key=lambda found: found.sim or 0)
    assert best.pmid == 1002


# searching the corpus


def test_records_are_found_by_words_and_by_meaning_with_both_scores(services: Services) -> None:
    _fill(services)
    deliver_changes(services)

    found = {item.pmid: item for item in find_candidates(services, "zebrafish", 2, None)}

    assert found.keys() == {1001, 1003}
    assert all(item.bm25 and item.sim for item in found.values())
    assert found[1001].uuid == get_passage_uuid(1001)


def test_a_record_found_only_by_words_gets_a_similarity_too(services: Services) -> None:
    _fill(services)
    deliver_changes(services)

    found = {item.pmid: item for item in find_candidates(services, "south zebrafish swim", 3, None)}

    assert found[1004].bm25 is not None
    assert found[1004].sim == pytest.approx(0.02, abs=0.02)


@pytest.mark.parametrize("most_named", [10_000, 0], ids=["asked by PMID", "sifted here"])
def test_only_records_of_the_requested_corpus_are_found(
    services: Services, monkeypatch: pytest.MonkeyPatch, most_named: int
) -> None:
    monkeypatch.setattr("entrez_kit.corpus.weaviate.searching.MAX_NAMED", most_named)
    _fill(services, PAPERS[:2], "a")
    _fill(services, PAPERS[2:], "b")
    deliver_changes(services)

    assert {item.pmid for item in find_candidates(services, "zebrafish mice", 5, "a")} == {1001, 1002}
    assert {item.pmid for item in find_candidates(services, "zebrafish mice", 5, "b")} == {1003, 1004}

    # Another query finds a record that is here already; the index need not be told.
    store_of(services).upsert_pubmed_docs([PAPERS[0].article()], "b")
    assert _count_waiting(services) == 0
    assert {item.pmid for item in find_candidates(services, "zebrafish", 5, "b")} == {1001, 1003, 1004}


def test_an_outdated_index_returns_no_passage_that_the_corpus_does_not_have(services: Services) -> None:
    _fill(services)
    deliver_changes(services)
    mark_deleted(store_of(services), [1001])
    with WeaviateIndex(services.settings, make_six_words()) as index:
        index.upsert_chunks([_chunk(4711, ABOUT_FISH)])

    assert {item.pmid for item in find_candidates(services, "zebrafish", 2, None)} == {1002, 1003}


def test_more_passages_are_requested_if_some_are_not_in_the_corpus(services: Services) -> None:
    _fill(services)
    deliver_changes(services)
    with WeaviateIndex(services.settings, make_six_words()) as index:
        index.upsert_chunks(_chunk(5000 + number, "Zebrafish zebrafish.") for number in range(40))

    assert {item.pmid for item in find_candidates(services, "zebrafish", 2, None)} == {1001, 1003}


def test_an_empty_corpus_finds_nothing(services: Services) -> None:
    _fill(services, key="a")
    store_of(services).set_checkpoint("nothing", "2024-01-01")
    deliver_changes(services)

    assert find_candidates(services, "zebrafish", 5, "nothing") == []


def test_results_have_the_form_of_the_local_index(services: Services) -> None:
    _fill(services)
    deliver_changes(services)

    hits = rag_search(services, RagSearchRequest(query="zebrafish swim", top_k=2, index="weaviate")).results

    assert [hit.doc_id for hit in hits] == ["pmid:1001", "pmid:1003"]
    assert hits[0].uuid == get_passage_uuid(1001)
    assert hits[0].sim == pytest.approx(1, abs=0.01)
    assert hits[0].quality is not None
    assert hits[0].score == pytest.approx(1 + hits[0].quality / 10, abs=0.01)


def test_without_embeddings_only_words_are_searched_and_sim_is_null(services: Services) -> None:
    services.settings = replace(services.settings, embeddings="none")
    store_of(services).upsert_pubmed_docs([paper.article() for paper in PAPERS])
    deliver_changes(services)

    hits = rag_search(services, RagSearchRequest(query="mice", quality_bias=False, index="weaviate")).results

    assert {hit.doc_id for hit in hits} == {"pmid:1002", "pmid:1003"}
    assert [hit.sim for hit in hits] == [None, None]
    assert hits[0].score == 1


# which index answers


def test_with_a_server_the_search_uses_it_unless_the_request_names_the_local_index(services: Services) -> None:
    _fill(services)
    deliver_changes(services)
    with WeaviateIndex(services.settings, make_six_words()) as index:
        index.delete([get_passage_uuid(1001)])

    unnamed = rag_search(services, RagSearchRequest(query="zebrafish"))
    local = rag_search(services, RagSearchRequest(query="zebrafish", index="local"))

    assert "pmid:1001" not in {hit.doc_id for hit in unnamed.results}
    assert "pmid:1001" in {hit.doc_id for hit in local.results}
    assert (unnamed.warning_texts(), local.warning_texts()) == ([], [])


def test_a_server_without_changed_passages_is_not_used_unless_the_request_names_it(services: Services) -> None:
    _fill(services)
    deliver_changes(services)
    store_of(services).upsert_pubmed_docs([Paper(1005, abstract="Zebrafish again.").article()])
    fill_vectors(store_of(services))

    unnamed = rag_search(services, RagSearchRequest(query="zebrafish"))
    named = rag_search(services, RagSearchRequest(query="zebrafish", index="weaviate"))

    assert "pmid:1005" in {hit.doc_id for hit in unnamed.results}
    assert "pmid:1005" not in {hit.doc_id for hit in named.results}
    assert len(unnamed.warning_texts()) == len(named.warning_texts()) == 1
    assert unnamed.list_notes()[0] == str(unnamed.warning_texts()[0])
