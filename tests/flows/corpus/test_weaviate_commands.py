"""`entrez-kit corpus` with a Weaviate server."""

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("weaviate", reason="the extra entrez-kit[weaviate] is not installed")

from weaviate_double import WeaviateDouble

from entrez_kit.commands import _app

if TYPE_CHECKING:
    from entrez_kit.sandbox.server import Sandbox

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> Iterator[WeaviateDouble]:
    with WeaviateDouble() as running:
        monkeypatch.setenv("WEAVIATE_URL", running.url)
        monkeypatch.setenv("WEAVIATE_GRPC_PORT", str(running.grpc_port))
        yield running


@pytest.fixture
def run(
    sandbox: "Sandbox", no_waiting: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Call the program in this process, without waiting."""
    monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", f"{sandbox.url}/entrez/eutils")
    main = _app.main

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(list(arguments))
        return (status, *capsys.readouterr())

    return call


def _read_envelope(stderr: str) -> dict[str, Any]:
    error: dict[str, Any] = json.loads(stderr.strip().splitlines()[-1])["error"]
    return error


def test_a_sync_sends_to_the_server_and_a_search_uses_it(run: Run, double: WeaviateDouble) -> None:
    status, out, _ = run("corpus", "sync", "k", "all[sb]")
    assert status == 0
    assert not [one for one in json.loads(out)["warnings"] if "Weaviate" in one]
    (held,) = double.collections.values()
    assert len(held.objects) > 70

    status, out, _ = run("corpus", "search", "--index", "weaviate", "randomized", "trial", "-n", "3", "--corpus", "k")

    hits = json.loads(out)["results"]
    assert status == 0
    assert len(hits) == 3
    assert {hit["uuid"] for hit in hits} <= held.objects.keys()
    assert all(set(hit) == {"doc_id", "uuid", "sim", "bm25", "quality", "score"} for hit in hits)


def test_a_sync_with_a_server_that_is_down_ends_well_with_a_warning(
    run: Run, double: WeaviateDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEAVIATE_URL", "http://127.0.0.1:9")

    status, out, _ = run("corpus", "sync", "k", "all[sb]")

    assert status == 0
    assert [one for one in json.loads(out)["warnings"] if "Weaviate" in one]

    status, out, err = run("corpus", "search", "--index", "weaviate", "trial")
    assert (status, out) == (5, "")
    assert _read_envelope(err)["code"] == "WEAVIATE"


def test_a_search_falls_back_to_the_local_index_with_a_warning(
    run: Run, double: WeaviateDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("corpus", "sync", "k", "all[sb]")
    expected = json.loads(run("corpus", "search", "--index", "local", "trial", "-n", "3")[1])
    assert "Weaviate" not in run("corpus", "search", "trial", "-n", "3")[2]
    monkeypatch.setenv("WEAVIATE_URL", "http://127.0.0.1:9")

    status, out, err = run("-q", "corpus", "search", "trial", "-n", "3")

    assert (status, json.loads(out)) == (0, expected)
    assert "Weaviate" in err
    status, out, err = run("corpus", "search", "trial", "-n", "3", "-f", "table")
    assert status == 0
    assert "Weaviate" in err


@pytest.mark.long
def test_a_search_reports_missing_passages(run: Run, double: WeaviateDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    status, _, err = run("corpus", "search", "--index", "weaviate", "trial")
    assert status == 9
    assert "reindex --index weaviate" in _read_envelope(err)["details"]["recovery_hint"]

    monkeypatch.delenv("WEAVIATE_URL")
    status, _, err = run("corpus", "search", "--index", "weaviate", "trial")
    assert status == 8
    assert "WEAVIATE_URL" in _read_envelope(err)["details"]["recovery_hint"]
    assert run("corpus", "reindex", "--index", "weaviate")[0] == 8


@pytest.mark.long
def test_a_reindex_rebuilds_the_index_of_the_server(run: Run, double: WeaviateDouble) -> None:
    run("corpus", "sync", "k", "all[sb]")
    (held,) = double.collections.values()
    number = len(held.objects)
    held.objects.clear()

    status, out, _ = run("corpus", "reindex", "--index", "weaviate", "-f", "json")

    assert status == 0
    assert json.loads(out) == {"collection": "PubMedChunk", "written": number, "deleted": 0, "waiting": 0}
    assert len(held.objects) == number
    assert (
        f"PubMedChunk: {number} passages written, 0 deleted."
        in run("corpus", "reindex", "--index", "weaviate", "-f", "table")[1]
    )


def test_an_incomplete_reindex_is_reported(run: Run, double: WeaviateDouble) -> None:
    run("corpus", "sync", "k", "all[sb]")
    (held,) = double.collections.values()
    unloved = min(held.objects)
    double.fail_objects = lambda uuid: "no room" if uuid == unloved else None

    status, out, err = run("corpus", "reindex", "--index", "weaviate", "-f", "json")

    assert status == 4
    assert json.loads(out)["waiting"] == 1
    assert _read_envelope(err)["details"]["refused"] == {unloved: "no room"}


@pytest.mark.long
def test_python_and_agents_use_the_server_too(run: Run, double: WeaviateDouble) -> None:
    from entrez_kit import EntrezKit
    from entrez_kit.python.catalogue import OPERATIONS
    from entrez_kit.server.tools import Toolbox

    run("corpus", "sync", "k", "all[sb]")
    printed = json.loads(run("corpus", "search", "--index", "weaviate", "randomized", "trial", "--corpus", "k")[1])
    requested: dict[str, Any] = {"query": "randomized trial", "index": "weaviate", "corpus": "k"}

    with EntrezKit() as kit:
        assert kit.rag_search(**requested).model_dump(mode="json") == printed
        answer = Toolbox(OPERATIONS).call(kit.services, "rag_search", requested)
    assert answer.structured_content == printed
    assert printed["results"]
    (held,) = double.collections.values()
    assert {hit["uuid"] for hit in printed["results"]} <= held.objects.keys()


def test_an_empty_name_of_a_corpus_does_not_mean_all(run: Run) -> None:
    status, out, err = run("corpus", "search", "trial", "--corpus", "")

    assert (status, out) == (3, "")
    assert _read_envelope(err)["code"] == "NOT_FOUND"
