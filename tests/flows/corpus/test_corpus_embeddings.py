"""Providers of embeddings: their requests, accepted and refused answers, and errors."""

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from platform_marks import needs_model2vec
from tiny_model import build_tiny_model

from entrez_kit import load_settings
from entrez_kit.base.errors import EmbeddingsError, Exit, LocalEmbeddingsError, NotConfigured
from entrez_kit.base.settings import Settings
from entrez_kit.corpus.embeddings import (
    BATCH,
    OPENAI_MODEL,
    Embedder,
    StaticModelEmbeddings,
    create_embedder,
    is_static,
    name_of,
)
from entrez_kit.doctor.local import check_configuration
from entrez_kit.doctor.report import Notes
from entrez_kit.local.eutils.listener import LoopbackServer

KEY = "sk-canary-0123456789abcdef"

needs_openai = pytest.mark.skipif(find_spec("openai") is None, reason="the package openai is not installed")


# What is accepted


class GivenVectors:
    """A provider that returns given vectors."""

    name = "test:given"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Sequence[str]] = []

    def embed_batch(self, texts: Sequence[str]) -> Any:
        self.asked.append(texts)
        return self.answers.pop(0)


def test_vectors_are_returned_in_order_with_length_1() -> None:
    embedder = Embedder(GivenVectors([[3.0, 4.0], [0.0, -2.0]]))

    assert embedder.embed(["a", "b"]) == [pytest.approx([0.6, 0.8]), pytest.approx([0.0, -1.0])]
    assert embedder.dim == 2


def test_the_dimension_is_requested_if_no_text_was_embedded_yet() -> None:
    assert Embedder(GivenVectors([[1.0, 2.0, 3.0]])).dim == 3


def test_texts_are_sent_in_batches_and_none_is_empty() -> None:
    provider = GivenVectors(*([[1.0, 0.0]] * number for number in (BATCH, BATCH, 7)))
    texts = [f"text {number}" for number in range(2 * BATCH + 6)]

    assert len(Embedder(provider).embed(iter(["", *texts]))) == 2 * BATCH + 7
    assert [len(batch) for batch in provider.asked] == [BATCH, BATCH, 7]
    assert provider.asked[0][0] == " "


def test_no_request_is_sent_for_no_texts() -> None:
    assert Embedder(GivenVectors()).embed([]) == []


def test_a_zero_vector_is_replaced_by_one_of_length_1() -> None:
    (vector,) = Embedder(GivenVectors([[0.0, 0.0, 0.0]])).embed(["zzz"])

    assert math.hypot(*vector) == pytest.approx(1)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ([[1.0, 0.0]], "1 vector for 2 texts"),
        ([[1.0, 0.0]] * 3, "3 vectors for 2 texts"),
        ([], "0 vectors for 2 texts"),
        ([[1.0, 0.0], [1.0]], "different dimensions"),
        ([[], []], "0 dimensions"),
        ([1.0, 2.0], "0 dimensions"),
        ([[1.0, float("nan")], [1.0, 0.0]], "not (finite )?numbers"),
        ([[1.0, float("inf")], [1.0, 0.0]], "not (finite )?numbers"),
        ([[1.0, 1e300], [1.0, 0.0]], "not (finite )?numbers"),
        ([[1.0, None], [1.0, 0.0]], "not (finite )?numbers"),
        ([["a", "b"], ["c", "d"]], "not (finite )?numbers"),
    ],
)
def test_invalid_answers_are_refused(answer: Any, problem: str) -> None:
    with pytest.raises(EmbeddingsError, match=problem) as caught:
        Embedder(GivenVectors(answer)).embed(["a", "b"])

    assert caught.value.reason == "invalid_response"


def test_a_dimension_that_changes_between_batches_is_refused() -> None:
    embedder = Embedder(GivenVectors([[1.0, 0.0]], [[1.0, 0.0, 0.0]]))
    embedder.embed(["a"])

    with pytest.raises(EmbeddingsError, match=r"3 dimensions .expected 2"):
        embedder.embed(["b"])


# OpenAI


class OpenAIServer:
    """A server at OpenAI's address: scripted answers, then correct ones; it records the requests."""

    def __init__(self) -> None:
        self.script: list[Callable[[dict[str, Any]], tuple[int, Any]]] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append({"path": self.path, **body})
                outer.keys.add(self.headers["Authorization"])
                status, answer = outer.script.pop(0)(body) if outer.script else (200, make_answer(body))
                content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: Any) -> None:
                """Print nothing."""

        self._server = LoopbackServer(Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._server.start()

    def refuses(self, status: int, times: int = 1) -> None:
        """Refuse a number of requests, with the key in the answer as OpenAI sometimes has it."""
        error = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "nope"}}
        self.script += [lambda body: (status, error)] * times

    def says(self, change: Callable[[dict[str, Any]], Any]) -> None:
        """Answer one request with a changed answer."""
        self.script.append(lambda body: (200, change(make_answer(body))))

    def close(self) -> None:
        self._server.end()


def make_answer(body: dict[str, Any]) -> dict[str, Any]:
    """Answer like OpenAI, with the entries in reverse order."""
    texts = body["input"]
    data = [
        {"object": "embedding", "index": place, "embedding": [float(len(text)), 1.0, 0.0]}
        for place, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    """Run a service at OpenAI's address on this machine."""
    running = OpenAIServer()
    yield running
    running.close()


def make_settings(openai: OpenAIServer | None = None, **overrides: Any) -> Settings:
    given = {"embeddings": "openai", "openai_api_key": KEY, "ncbi_max_retries": 0, **overrides}
    return load_settings({**given, "openai_url": openai.url} if openai else given)


def make_embedder(settings: Settings) -> Embedder:
    embedder = create_embedder(settings)
    assert embedder is not None
    return embedder


@pytest.mark.long
@needs_openai
def test_openai_gets_a_batch_and_its_answer_is_sorted(openai: OpenAIServer) -> None:
    embedder = make_embedder(make_settings(openai))
    first, second = embedder.embed(["a", "three words here"])

    assert embedder.name == f"openai:{OPENAI_MODEL}"
    assert first[0] < second[0]
    assert embedder.dim == 3
    assert math.hypot(*second) == pytest.approx(1)
    (request,) = openai.requests
    assert (request["path"], request["model"]) == ("/v1/embeddings", OPENAI_MODEL)
    assert request["input"] == ["a", "three words here"]
    assert openai.keys == {f"Bearer {KEY}"}


@needs_openai
def test_another_model_is_requested_by_its_name(openai: OpenAIServer) -> None:
    embedder = make_embedder(make_settings(openai, embeddings_model="text-embedding-3-large"))
    embedder.embed(["a"])

    assert embedder.name == "openai:text-embedding-3-large"
    assert openai.requests[0]["model"] == "text-embedding-3-large"


@pytest.mark.long
@needs_openai
@pytest.mark.parametrize(
    ("status", "reason", "retryable"),
    [
        (429, "rate_limited", True),
        (500, "failed", True),
        (503, "failed", True),
        (401, "refused", False),
        (403, "refused", False),
        (404, "refused", False),
        (400, "refused", False),
    ],
)
def test_a_refusal_of_openai_is_a_typed_error_without_the_key(
    openai: OpenAIServer, status: int, reason: str, retryable: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    openai.refuses(status)
    with pytest.raises(EmbeddingsError) as caught:
        make_embedder(make_settings(openai)).embed(["a"])

    error = caught.value
    assert (error.reason, error.retryable, error.exit_code) == (reason, retryable, Exit.UPSTREAM)
    assert (error.__cause__, error.__context__) == (None, None)
    assert KEY not in json.dumps(error.envelope()) + caplog.text


@needs_openai
def test_requests_to_openai_are_repeated_as_often_as_the_settings_allow(
    openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openai._base_client.BaseClient._calculate_retry_timeout", lambda *args, **more: 0.01)
    openai.refuses(500)
    openai.refuses(429)

    assert len(make_embedder(make_settings(openai, ncbi_max_retries=2)).embed(["a"])) == 1
    assert len(openai.requests) == 3


@pytest.mark.long
@needs_openai
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda answer: {**answer, "data": answer["data"][:1]}, "1 vector for 2 texts"),
        (lambda answer: {**answer, "data": []}, "0 vectors for 2 texts"),
        (lambda answer: {"object": "list"}, "cannot be parsed"),
        (
            lambda answer: b'{"data": [{"index": 0, "embedding": [NaN, 1]}, {"index": 1, "embedding": [0, 1]}]}',
            "numbers",
        ),
        (lambda answer: b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [0, 1]}]}', "dimensions"),
        (lambda answer: b"<html>Bad gateway</html>", "cannot be parsed"),
        (lambda answer: b"", "cannot be parsed"),
    ],
)
def test_answers_of_openai_are_checked(openai: OpenAIServer, change: Callable[[Any], Any], problem: str) -> None:
    openai.says(change)
    with pytest.raises(EmbeddingsError, match=problem) as caught:
        make_embedder(make_settings(openai)).embed(["a", "b"])

    assert caught.value.reason == "invalid_response"


@needs_openai
def test_an_unreachable_openai_is_reported(openai: OpenAIServer) -> None:
    settings = make_settings(openai)
    openai.close()
    with pytest.raises(EmbeddingsError, match="cannot be reached") as caught:
        make_embedder(settings).embed(["a"])

    assert caught.value.reason == "openai_unreachable"


def test_without_a_key_no_request_is_sent(openai: OpenAIServer) -> None:
    with pytest.raises(NotConfigured, match="OPENAI_API_KEY"):
        create_embedder(make_settings(openai, openai_api_key=""))

    assert not openai.requests


@needs_openai
def test_the_key_is_sent_only_to_openai_and_to_this_machine() -> None:
    for url in ("https://proxy.example.org/v1", "http://api.openai.com/v1", "https://openai.com.example.org/v1"):
        with pytest.raises(NotConfigured) as caught:
            make_embedder(make_settings(openai_url=url)).embed(["a"])
        assert KEY not in str(caught.value.envelope())


def test_offline_no_request_is_sent(openai: OpenAIServer) -> None:
    with pytest.raises(LocalEmbeddingsError, match="offline"):
        create_embedder(make_settings(openai, offline=True))

    assert not openai.requests


def test_a_missing_package_is_reported_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entrez_kit.base.extras.is_installed", lambda name: False)
    for embeddings, extra in (("openai", "entrez-kit[openai]"), ("hf", "entrez-kit[embeddings]")):
        with pytest.raises(NotConfigured) as caught:
            create_embedder(make_settings(embeddings=embeddings))
        assert caught.value.reason == "extra_missing"
        assert extra in caught.value.recovery_hint


def test_without_a_provider_there_is_no_embedder() -> None:
    assert create_embedder(load_settings({})) is None


# Models on this machine


@needs_model2vec
def test_a_static_model_is_read_from_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = build_tiny_model(tmp_path / "tiny")
    embedder = make_embedder(load_settings({"embeddings": "hf", "embeddings_model": str(folder)}))
    fish, danio, heart = embedder.embed(["Zebrafish", "danio fish", "cardiac muscle"])

    assert is_static(str(folder))
    assert embedder.dim == 3
    assert sum(a * b for a, b in zip(fish, danio, strict=True)) == pytest.approx(1)
    assert sum(a * b for a, b in zip(fish, heart, strict=True)) == pytest.approx(0)
    monkeypatch.chdir(tmp_path)
    assert embedder.name == name_of("tiny") == name_of("./tiny") == f"hf:{folder.resolve()}"


@needs_model2vec
@pytest.mark.parametrize("offline", [True, False])
def test_a_missing_model_is_named(tmp_path: Path, offline: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **more: Any) -> Any:
        assert offline is more.get("local_files_only", False)
        raise OSError("no network")

    monkeypatch.setattr("huggingface_hub.snapshot_download", refuse)
    monkeypatch.setattr("model2vec.persistence.persistence.huggingface_hub.snapshot_download", refuse)
    with pytest.raises(LocalEmbeddingsError, match="nobody/nothing") as caught:
        StaticModelEmbeddings("nobody/nothing", "hf:nobody/nothing", offline=offline)

    assert caught.value.reason == "model_unavailable"
    assert caught.value.__context__ is None


@pytest.fixture
def sentence_transformers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Replace sentence-transformers by another package, which lists the loaded models and their poolings."""
    package = tmp_path / "site" / "sentence_transformers"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "loaded, poolings = [], []\n"
        "class Pooling:\n"
        "    def __init__(self, dim, pooling_mode='mean'):\n"
        "        self.dim, self.mode = dim, pooling_mode\n"
        "        poolings.append((dim, pooling_mode))\n"
        "class SentenceTransformer(list):\n"
        "    def __init__(self, name, local_files_only):\n"
        "        super().__init__(['words', Pooling(2)])\n"
        "        self.name, self.local = name, local_files_only\n"
        "        loaded.append(name)\n"
        "    def encode(self, texts, show_progress_bar):\n"
        "        assert not show_progress_bar\n"
        "        return [[float(len(text)), 3.0 if 'Query' in self.name else 2.0] for text in texts]\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    yield import_module("sentence_transformers")
    sys.modules.pop("sentence_transformers", None)


def test_sentence_transformers_are_used_if_they_are_installed(sentence_transformers: Any) -> None:
    embedder = make_embedder(load_settings({"embeddings": "hf", "embeddings_model": "someone/some-model"}))

    assert embedder.name == "hf:someone/some-model"
    assert embedder.embed(["ab"]) == [pytest.approx([2**-0.5, 2**-0.5])]
    assert sentence_transformers.poolings == [(2, "mean")]


# Models of two encoders

MEDCPT = {
    "embeddings": "hf",
    "embeddings_model": "ncbi/MedCPT-Article-Encoder",
    "embeddings_query_model": "ncbi/MedCPT-Query-Encoder",
}


def test_queries_and_passages_have_separate_encoders_and_the_name_has_both(sentence_transformers: Any) -> None:
    settings = load_settings(MEDCPT)
    for queries, encoder, second in (
        (False, "ncbi/MedCPT-Article-Encoder", 2.0),
        (True, "ncbi/MedCPT-Query-Encoder", 3.0),
    ):
        sentence_transformers.loaded.clear()
        embedder = create_embedder(settings, queries=queries)
        assert embedder is not None
        assert embedder.name == "hf:ncbi/MedCPT-Article-Encoder, queries by hf:ncbi/MedCPT-Query-Encoder"
        (vector,) = embedder.embed(["ab"])
        assert vector[1] / vector[0] == pytest.approx(second / 2)
        assert sentence_transformers.loaded == [encoder]


def test_medcpt_uses_the_vector_of_its_first_token(sentence_transformers: Any) -> None:
    embedder = make_embedder(load_settings(MEDCPT))

    embedder.embed(["ab"])

    assert sentence_transformers.poolings[-1] == (2, "cls")


@pytest.mark.parametrize("others", [{"embeddings": "hf"}, {"embeddings": "openai", "embeddings_model": "large"}])
def test_an_encoder_of_queries_needs_the_one_of_passages(others: dict[str, str], tmp_path: Path) -> None:
    settings = load_settings({**others, "embeddings_query_model": "ncbi/MedCPT-Query-Encoder", "home": tmp_path})
    with pytest.raises(NotConfigured) as caught:
        create_embedder(settings)
    assert caught.value.reason == "query_model_alone"

    notes = Notes()
    check_configuration(notes, settings)
    (check,) = notes.checks
    assert (check.status, "query encoder" in check.detail) == ("failed", True)
    check_configuration(notes, load_settings({**MEDCPT, "home": tmp_path}))
    assert "queries by hf:ncbi/MedCPT-Query-Encoder" in notes.checks[1].detail
