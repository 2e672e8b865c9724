"""Failures of Weaviate: unreachable servers, refusals and invalid answers cause helpful errors, and no data is lost."""

import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fixture_types import KitFor

pytest.importorskip("weaviate", reason="the extra entrez-kit[weaviate] is not installed")

import grpc
from invented_papers import Paper, list_rows, mark_deleted
from weaviate_double import WeaviateDouble
from weaviate_helpers import fill_vectors, get_passage_uuid, make_services, make_settings, make_six_words

from entrez_kit.base.errors import (
    EntrezKitError,
    Exit,
    LocalEmbeddingsError,
    LocalIndexError,
    NotConfigured,
    StoreError,
    VectorIndexError,
)
from entrez_kit.base.settings import Settings, load_settings
from entrez_kit.corpus.models import SyncRequest
from entrez_kit.corpus.operations import sync
from entrez_kit.corpus.search.rag_search import RagSearchRequest, rag_search
from entrez_kit.corpus.store import store_of
from entrez_kit.corpus.store.database import lock_corpus
from entrez_kit.corpus.weaviate.client import read_server
from entrez_kit.corpus.weaviate.collection import WeaviateIndex
from entrez_kit.corpus.weaviate.delivery import deliver_after_sync, deliver_changes, rebuild
from entrez_kit.corpus.weaviate.searching import find_candidates
from entrez_kit.services import Services

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from entrez_kit.sandbox.server import Sandbox

KEY = "CANARY-0123456789"
PAPERS = [Paper(1001 + place, abstract=f"Zebrafish swim, part {place}.") for place in range(6)]


@pytest.fixture
def double() -> Iterator[WeaviateDouble]:
    with WeaviateDouble() as running:
        yield running


@pytest.fixture
def services(double: WeaviateDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    for module in ("delivery", "searching"):
        monkeypatch.setattr(
            f"entrez_kit.corpus.weaviate.{module}.create_embedder", lambda settings, **which: make_six_words()
        )
    with make_services(make_settings(tmp_path, double.url, double.grpc_port)) as opened:
        store_of(opened).upsert_pubmed_docs([paper.article() for paper in PAPERS], "k")
        fill_vectors(store_of(opened))
        yield opened


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the client try again at once."""
    monkeypatch.setattr("weaviate.retry.time.sleep", lambda seconds: None)


def _list_waiting(services: Services) -> set[str]:
    return {row[0] for row in list_rows(store_of(services), "SELECT uuid FROM outbox")}


def _set(services: Services, **changes: Any) -> None:
    services.settings = replace(services.settings, **changes)


def _catch_failure(call: Callable[[], object], kind: type[EntrezKitError], reason: str) -> EntrezKitError:
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    assert caught.value.details["reason"] == reason
    assert caught.value.recovery_hint
    return caught.value


# settings


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"weaviate_url": None}, "weaviate_url_missing"),
        ({"weaviate_url": "http://localhost:8080/somewhere"}, "weaviate_url_unusable"),
        ({"weaviate_url": "http://weaviate.example.org", "weaviate_api_key": KEY}, "weaviate_url_unusable"),
        ({"weaviate_url": "http://localhost:50051"}, "same_port"),
        ({"weaviate_url": "http://localhost:8080", "weaviate_class": "9 lives"}, "bad_class"),
    ],
    ids=["No Weaviate server", "a path", "a key in the clear", "one port for both", "a bad name"],
)
def test_invalid_settings_are_named(tmp_path: Path, given: dict[str, Any], reason: str) -> None:
    settings = load_settings({"home": tmp_path, **given})

    error = _catch_failure(lambda: WeaviateIndex(settings), NotConfigured, reason)

    assert "WEAVIATE_" in f"{error.message} {error.recovery_hint} {error.invalid_input}"
    assert KEY not in str(error.envelope())


@pytest.mark.parametrize(
    ("url", "port", "expected"),
    [
        ("http://localhost:8080", None, ("localhost", 8080, "localhost", 50051, False)),
        ("http://weaviate.example.org", 50055, ("weaviate.example.org", 80, "weaviate.example.org", 50055, False)),
        ("https://weaviate.example.org", None, ("weaviate.example.org", 443, "weaviate.example.org", 50051, True)),
        ("http://[::1]:8080", None, ("::1", 8080, "::1", 50051, False)),
        (
            "https://abc.c0.europe-west3.gcp.weaviate.cloud",
            None,
            (
                "abc.c0.europe-west3.gcp.weaviate.cloud",
                443,
                "grpc-abc.c0.europe-west3.gcp.weaviate.cloud",
                443,
                True,
            ),
        ),
        ("https://abc.weaviate.network", None, ("abc.weaviate.network", 443, "abc.grpc.weaviate.network", 443, True)),
    ],
)
def test_ports_are_derived_from_the_address(
    tmp_path: Path, url: str, port: int | None, expected: tuple[object, ...]
) -> None:
    settings = load_settings({"home": tmp_path, "weaviate_url": url, "weaviate_grpc_port": port})

    assert read_server(settings) == expected


def test_the_key_is_sent_only_to_this_machine_and_over_https(tmp_path: Path) -> None:
    for url in ("http://127.0.0.1:8080", "https://weaviate.example.org"):
        assert read_server(load_settings({"home": tmp_path, "weaviate_url": url, "weaviate_api_key": KEY})).host


def test_offline_only_a_local_server_is_used(tmp_path: Path) -> None:
    away = load_settings({"home": tmp_path, "weaviate_url": "https://weaviate.example.org", "offline": True})

    _catch_failure(lambda: read_server(away), LocalIndexError, "offline")
    assert read_server(replace(away, weaviate_url="http://localhost:8080")).port == 8080


def test_a_missing_package_is_reported_with_the_command_that_installs_it(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.base.extras.is_installed", lambda name: False)

    error = _catch_failure(lambda: deliver_changes(services), NotConfigured, "extra_missing")

    assert "pip install 'entrez-kit[weaviate]'" in error.recovery_hint
    assert error.exit_code is Exit.NOT_CONFIGURED
    assert len(_list_waiting(services)) == 6


# a server that is not there, or not quite


def test_a_server_that_is_down_is_a_retryable_error(services: Services) -> None:
    _set(services, weaviate_url="http://127.0.0.1:9")

    for call in (
        lambda: deliver_changes(services),
        lambda: rebuild(services),
        lambda: find_candidates(services, "x", 5, None),
    ):
        error = _catch_failure(call, VectorIndexError, "weaviate_unreachable")
        assert error.retryable
        assert error.exit_code is Exit.UPSTREAM
    assert len(_list_waiting(services)) == 6


def test_a_grpc_port_that_does_not_answer_is_detected_at_once(services: Services, double: WeaviateDouble) -> None:
    double.stop_grpc()

    error = _catch_failure(lambda: deliver_changes(services), VectorIndexError, "grpc_unreachable")

    assert "WEAVIATE_GRPC_PORT" in error.recovery_hint
    assert len(_list_waiting(services)) == 6
    double.start_grpc()


def test_a_server_that_takes_too_long_is_abandoned(services: Services, double: WeaviateDouble) -> None:
    deliver_changes(services)
    _set(services, weaviate_timeout_ms=300)
    double.fail_slow = 0.6

    error = _catch_failure(lambda: find_candidates(services, "zebrafish", 5, None), VectorIndexError, "timeout")

    assert "WEAVIATE_TIMEOUT_MS" in error.recovery_hint


def test_a_search_that_takes_too_long_is_abandoned(services: Services, double: WeaviateDouble) -> None:
    deliver_changes(services)
    _set(services, weaviate_timeout_ms=300)
    with WeaviateIndex(services.settings, make_six_words()) as index:
        index.check()
        double.fail_slow = 0.6
        _catch_failure(lambda: index.search_by_words("zebrafish", 5), VectorIndexError, "timeout")


def test_an_old_server_is_distinguished_from_one_that_is_down(services: Services, double: WeaviateDouble) -> None:
    double.version = "1.20.0"

    error = _catch_failure(lambda: deliver_changes(services), LocalIndexError, "server_too_old")

    assert not error.retryable


@pytest.mark.parametrize("body", ["<html>It works!</html>", "[]", "{}"])
def test_another_kind_of_server_is_refused(services: Services, double: WeaviateDouble, body: str) -> None:
    double.fail_body = body

    _catch_failure(lambda: deliver_changes(services), VectorIndexError, "invalid_response")


def test_an_error_of_the_server_is_reported(services: Services, double: WeaviateDouble) -> None:
    double.fail_status = 500

    error = _catch_failure(lambda: deliver_changes(services), VectorIndexError, "server_error")

    assert error.details["status"] == 500
    assert "asked to fail" in error.message


@pytest.mark.parametrize("given", [None, "CANARY-of-another-server"])
def test_a_refused_key_is_reported_and_never_shown(services: Services, tmp_path: Path, given: str | None) -> None:
    with WeaviateDouble(key=KEY) as guarded:
        settings = make_settings(tmp_path, guarded.url, guarded.grpc_port, weaviate_api_key=given)
        services.settings = settings
        error = _catch_failure(lambda: deliver_changes(services), LocalIndexError, "refused")
        shown = "".join(traceback.format_exception(error))

    assert "WEAVIATE_API_KEY" in error.recovery_hint
    assert not error.retryable
    assert "CANARY" not in shown + str(error.envelope())
    assert error.__context__ is None
    assert len(_list_waiting(services)) == 6


def test_the_right_key_is_accepted_by_rest_and_grpc(services: Services, tmp_path: Path) -> None:
    with WeaviateDouble(key=KEY) as guarded:
        services.settings = make_settings(tmp_path, guarded.url, guarded.grpc_port, weaviate_api_key=KEY)

        assert deliver_changes(services).written == 6
        assert len(find_candidates(services, "zebrafish", 9, None)) == 6


def test_a_server_that_stops_answering_in_a_search_is_unreachable(
    services: Services, double: WeaviateDouble, no_waiting: None
) -> None:
    deliver_changes(services)
    double.fail_call = lambda name: (grpc.StatusCode.UNAVAILABLE, "shutting down") if name == "Search" else None

    _catch_failure(lambda: find_candidates(services, "zebrafish", 5, None), VectorIndexError, "weaviate_unreachable")


# what was not delivered waits


def test_refused_passages_stay_in_the_queue_and_the_others_are_delivered(
    services: Services, double: WeaviateDouble, caplog: pytest.LogCaptureFixture
) -> None:
    refused = {get_passage_uuid(1002), get_passage_uuid(1004), get_passage_uuid(1005)}
    double.fail_objects = lambda uuid: "no room" if uuid in refused else None

    done = deliver_changes(services)

    assert (done.written, done.waiting) == (3, 3)
    assert _list_waiting(services) == refused
    problem = done.missing_error()
    assert isinstance(problem, VectorIndexError)
    assert problem.details == {
        "reason": "passages_refused",
        "partial": True,
        "waiting": 3,
        "refused": dict.fromkeys(refused, "no room"),
    }
    assert caplog.records == []

    double.fail_objects = lambda uuid: None
    double.requests.clear()
    again = deliver_changes(services)

    assert (again.written, again.waiting) == (3, 0)
    assert {item.uuid for request in double.sent("BatchObjects") for item in request.objects} == refused


def test_refused_deletions_stay_in_the_queue_too(services: Services, double: WeaviateDouble) -> None:
    deliver_changes(services)
    mark_deleted(store_of(services), [1001, 1002])
    double.fail_objects = lambda uuid: "busy" if uuid == get_passage_uuid(1001) else None

    done = deliver_changes(services)

    assert (done.deleted, done.waiting) == (1, 1)
    assert _list_waiting(services) == {get_passage_uuid(1001)}


def test_after_some_refused_batches_no_more_are_sent(
    services: Services, double: WeaviateDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.corpus.weaviate.delivery.BATCH", 1)
    double.fail_objects = lambda uuid: "read-only"

    done = deliver_changes(services)

    assert (done.written, done.waiting) == (0, 6)
    assert len(double.sent("BatchObjects")) == 3


def test_an_interrupted_delivery_continues_where_it_ended(
    services: Services, double: WeaviateDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.corpus.weaviate.delivery.BATCH", 2)
    double.fail_call = lambda name: (
        (grpc.StatusCode.INTERNAL, "out of memory")
        if name == "BatchObjects" and len(double.sent("BatchObjects")) == 2
        else None
    )

    error = _catch_failure(lambda: deliver_changes(services), VectorIndexError, "server_error")

    assert "out of memory" in error.message
    assert len(_list_waiting(services)) == 4
    double.requests.clear()
    double.fail_call = lambda name: None
    assert deliver_changes(services).written == 4
    assert len(double.sent("BatchObjects")) == 2
    assert _list_waiting(services) == set()


def test_a_server_that_stops_during_a_delivery_loses_no_passage(
    services: Services, double: WeaviateDouble, no_waiting: None
) -> None:
    double.fail_call = lambda name: (grpc.StatusCode.UNAVAILABLE, "gone") if name == "BatchObjects" else None

    _catch_failure(lambda: deliver_changes(services), VectorIndexError, "weaviate_unreachable")

    assert len(_list_waiting(services)) == 6
    double.fail_call = lambda name: None
    assert deliver_changes(services).waiting == 0


def test_a_passage_that_changes_during_its_delivery_is_delivered_again(
    services: Services, double: WeaviateDouble
) -> None:
    revised = [PAPERS[0].change_with(abstract="Salmon jump.", revised="2025-05-05").article()]

    def meanwhile(uuid: str) -> None:
        if revised:
            store_of(services).upsert_pubmed_docs([revised.pop()])
            fill_vectors(store_of(services))

    double.fail_objects = meanwhile

    deliver_changes(services)

    (held,) = double.collections.values()
    assert "Salmon" in held.objects[get_passage_uuid(1001)].properties["text"]
    assert _list_waiting(services) == set()


def test_two_simultaneous_deliveries_are_refused(services: Services, double: WeaviateDouble) -> None:
    with lock_corpus(store_of(services).path, "weaviate", "is being delivered", "delivery_running", ""):
        _catch_failure(lambda: deliver_changes(services), StoreError, "delivery_running")
    assert deliver_changes(services).waiting == 0


def test_passages_without_a_vector_stay_in_the_queue_until_they_have_one(
    services: Services, double: WeaviateDouble
) -> None:
    store_of(services).upsert_pubmed_docs([Paper(2001, abstract="Not yet embedded.").article()])

    done = deliver_changes(services)

    assert (done.written, done.waiting) == (6, 1)
    problem = done.missing_error()
    assert problem is not None
    assert problem.details["reason"] == "vectors_missing"
    assert "entrez-kit corpus reindex" in problem.recovery_hint
    fill_vectors(store_of(services))
    assert deliver_changes(services).written == 1


def test_a_corpus_without_vectors_of_the_model_creates_no_collection(
    services: Services, double: WeaviateDouble
) -> None:
    with store_of(services).writing() as connection:
        connection.execute("DELETE FROM vectors")

    _catch_failure(lambda: deliver_changes(services), LocalEmbeddingsError, "vectors_missing")

    assert double.collections == {}
    assert len(_list_waiting(services)) == 6


def test_a_vector_of_a_wrong_dimension_is_never_sent(services: Services, double: WeaviateDouble) -> None:
    with store_of(services).writing() as connection:
        connection.execute("UPDATE vectors SET vector = ? WHERE chunk_id = 1", (b"\0\0\x80?" * 3,))

    done = deliver_changes(services)

    assert (done.written, done.waiting) == (5, 1)
    assert "3 dimensions (expected 6)" in str(done.missing_error())
    assert all(
        get_passage_uuid(1001) != item.uuid for request in double.sent("BatchObjects") for item in request.objects
    )


def test_an_empty_queue_needs_no_server(services: Services) -> None:
    deliver_changes(services)
    _set(services, weaviate_url="http://127.0.0.1:9")

    assert deliver_changes(services).waiting == 0


# what is sent


def test_a_passage_is_sent_with_these_properties(services: Services, double: WeaviateDouble) -> None:
    deliver_changes(services)

    (request,) = double.sent("BatchObjects")
    first = request.objects[0]
    sent = dict(first.properties.non_ref_properties.items())
    assert (first.uuid, first.collection) == (get_passage_uuid(1001), services.settings.weaviate_class)
    assert "Zebrafish swim" in str(sent.pop("text"))
    assert sent == {
        "pmid": "1001",
        "chunk_id": "w0",
        "journal": "Journal of Invented Results",
        "year": 2024,
        "quality_total": 2,
        "edat": "2024-03-01T00:00:00Z",
        "lr": "2024-03-10T00:00:00Z",
        "source_url": "https://pubmed.ncbi.nlm.nih.gov/1001/",
    }
    assert [(item.prop_name, list(item.values)) for item in first.properties.text_array_properties] == [
        ("pub_types", ["Journal Article"])
    ]


def test_a_search_sends_this_request(services: Services, double: WeaviateDouble) -> None:
    deliver_changes(services)
    double.requests.clear()

    find_candidates(services, "zebrafish", 2, "k")

    words, near = double.sent("Search")
    assert (words.bm25_search.query, list(words.bm25_search.properties), words.limit) == ("zebrafish", ["text"], 6)
    assert list(words.filters.value_text_array.values) == [str(paper.pmid) for paper in PAPERS]
    assert near.HasField("near_vector")
    assert not any(request.HasField("hybrid_search") for request in (words, near))


# beside a sync


def test_a_sync_is_complete_with_any_failure_of_weaviate(
    kit_for: KitFor, sandbox: "Sandbox", double: WeaviateDouble, tmp_path: Path
) -> None:
    services = kit_for(sandbox).services
    named = make_settings(tmp_path, double.url, double.grpc_port)
    _set(
        services,
        embeddings="none",
        weaviate_url="http://127.0.0.1:9",
        weaviate_grpc_port=named.weaviate_grpc_port,
        weaviate_class=named.weaviate_class,
    )
    request = SyncRequest(query_key="k", term="all[sb]")

    first = sync(services, request).result()

    assert first.inserted > 0
    (warning,) = [text for text in first.warnings if "Weaviate" in text]
    assert "cannot be reached" in warning
    assert "the next sync tries again" in warning
    waiting = len(_list_waiting(services))
    assert waiting > 0

    _set(services, weaviate_url=double.url)
    again = sync(services, request).result()

    assert not [text for text in again.warnings if "Weaviate" in text]
    assert _list_waiting(services) == set()
    (held,) = double.collections.values()
    assert len(held.objects) == waiting
    found = rag_search(services, RagSearchRequest(query="randomized trial", top_k=3, index="weaviate")).results
    assert len(found) == 3


def test_without_a_server_a_sync_does_not_mention_weaviate(kit_for: KitFor, sandbox: "Sandbox") -> None:
    services = kit_for(sandbox).services

    done = sync(services, SyncRequest(query_key="k", term="all[sb]")).result()

    assert not [text for text in done.warnings if "Weaviate" in text]
    assert _list_waiting(services)


def test_refused_passages_cause_a_warning_too(services: Services, double: WeaviateDouble) -> None:
    double.fail_objects = lambda uuid: "no room" if uuid == get_passage_uuid(1001) else None

    warning = deliver_after_sync(services)

    assert warning is not None
    assert "refused 1 passage (no room)" in str(warning)
    double.fail_objects = lambda uuid: None
    assert deliver_after_sync(services) is None


def test_the_demo_uses_no_server(tmp_path: Path) -> None:
    settings: Settings = load_settings({"home": tmp_path, "weaviate_url": "http://127.0.0.1:9"})

    demo = settings.use_sandbox("http://127.0.0.1:1")

    _catch_failure(lambda: WeaviateIndex(demo), NotConfigured, "weaviate_url_missing")
