"""Embeddings: convert texts to unit vectors with OpenAI or a local model.

A provider only supplies the numbers. This module checks every reply: one vector for each text, all of one dimension,
finite, and none of length 0.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlsplit

from entrez_kit.base.errors import EmbeddingsError, InvalidInput, LocalEmbeddingsError, NotConfigured
from entrez_kit.base.extras import require
from entrez_kit.base.frontend_text import OFFLINE_SWITCH, FrontendText, format_count
from entrez_kit.base.input_files import read_input
from entrez_kit.base.settings import Settings
from entrez_kit.base.toml_files import MAX_CONFIG_BYTES
from entrez_kit.services.transport import is_loopback, is_within

if TYPE_CHECKING:
    import numpy as np
    from openai import OpenAI

Vector = list[float]

OPENAI_MODEL: Final = "text-embedding-3-small"
HF_MODEL: Final = "minishlab/potion-retrieval-32M"
"""A static model: no GPU, no torch, thousands of texts a second."""
STATIC_MAKERS: Final = ("minishlab/",)
MEDCPT: Final = "medcpt"
"""In the names of models that use the vector of the first token; their files do not declare it."""
BATCH: Final = 256
"""Texts per request; OpenAI accepts up to 2,048 texts and 300,000 tokens."""
_CHECK_KEY: Final = "Check the key, or search without embeddings (ENTREZ_KIT_EMBEDDINGS=none)."
_CHECK_MODEL: Final = "Check ENTREZ_KIT_EMBEDDINGS_MODEL, or set ENTREZ_KIT_EMBEDDINGS=none."
MAX_TEXT: Final = 8_000
"""The number of characters of a text that are embedded; chunks are much shorter."""


class Embeddings(Protocol):
    """A provider. ``name`` identifies provider and model, and is stored with every vector."""

    @property
    def name(self) -> str:
        """Provider and model, e.g. ``openai:text-embedding-3-small``."""
        ...

    def embed_batch(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return the vectors of one batch, not normalized."""
        ...


class Embedder:
    """Checks and normalizes the vectors of a provider.

    Args:
        provider: the source of the vectors.
    """

    def __init__(self, provider: Embeddings) -> None:
        self._provider = provider
        self._dim: int | None = None

    @property
    def name(self) -> str:
        """Provider and model."""
        return self._provider.name

    @property
    def dim(self) -> int:
        """The number of dimensions; embeds one word to find it if no text was embedded before."""
        if self._dim is None:
            self.embed(["dimension"])
        assert self._dim is not None
        return self._dim

    def embed(self, texts: Iterable[str]) -> list[Vector]:
        """Return a vector of length 1 for each text, in order.

        Raises:
            EmbeddingsError: the provider failed, or its reply is invalid.
        """
        return [vector.tolist() for matrix in self.yield_matrices(texts) for vector in matrix]

    def yield_matrices(self, texts: Iterable[str]) -> "Iterator[np.ndarray]":
        """Yield unit vectors as the rows of float32 matrices, one matrix per batch."""
        import numpy as np

        source = iter(texts)
        while batch := [text[:MAX_TEXT] or " " for text in islice(source, BATCH)]:
            raw = self._provider.embed_batch(batch)
            if len(raw) != len(batch):
                raise self._invalid_reply(f"{format_count(len(raw), 'vector')} for {format_count(len(batch), 'text')}")
            try:
                with np.errstate(over="ignore"):  # an overflow becomes infinite, which the check refuses
                    matrix = np.asarray(raw, dtype=np.float32)
            except (ValueError, TypeError):
                raise self._invalid_reply("vectors of different dimensions, or values that are not numbers") from None
            yield self._normalize(matrix)

    def _normalize(self, matrix: "np.ndarray") -> "np.ndarray":
        import numpy as np

        dim = matrix.shape[1] if matrix.ndim == 2 else 0
        if not dim or (self._dim is not None and dim != self._dim):
            raise self._invalid_reply(
                f"vectors of {format_count(dim, 'dimension')} (expected {self._dim or 'at least 1'})"
            )
        if not np.isfinite(matrix).all():
            raise self._invalid_reply("a vector with values that are not finite numbers")
        self._dim = dim
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        # A text without any word that the model knows has length 0; all such texts get the same direction.
        matrix = np.where(lengths > 0, matrix, np.float32(1))
        normalized: np.ndarray = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        return normalized

    def _invalid_reply(self, problem: str) -> EmbeddingsError:
        return EmbeddingsError(
            f"{self.name} returned {problem}.", details={"reason": "invalid_response", "model": self.name}
        )


def name_model(settings: Settings) -> str | None:
    """Return the name of the configured model, stored with its vectors; it names both encoders if two are set.

    Raises:
        NotConfigured: a query encoder is set without the article encoder it was trained with.
    """
    if settings.embeddings == "none":
        return None
    queries = settings.embeddings_query_model
    if queries and (settings.embeddings == "openai" or not settings.embeddings_model):
        raise NotConfigured(
            "A query encoder needs the article encoder that it was trained with.",
            invalid_input=f"ENTREZ_KIT_EMBEDDINGS_QUERY_MODEL={queries}",
            recovery_hint="Set ENTREZ_KIT_EMBEDDINGS=hf and ENTREZ_KIT_EMBEDDINGS_MODEL, or unset "
            "ENTREZ_KIT_EMBEDDINGS_QUERY_MODEL.",
            details={"reason": "query_model_alone"},
        )
    if settings.embeddings == "openai":
        return f"openai:{settings.embeddings_model or OPENAI_MODEL}"
    name = name_of(settings.embeddings_model or HF_MODEL)
    return f"{name}, queries by {name_of(queries)}" if queries else name


def create_embedder(settings: Settings, *, queries: bool = False) -> Embedder | None:
    """Return the configured provider; None if embeddings are off.

    Args:
        settings: the provider and its models.
        queries: whether to embed queries instead of passages; only one of two encoders is loaded.

    Raises:
        NotConfigured: the provider has no key, its extra is not installed, or two settings exclude each other.
        LocalEmbeddingsError: the model cannot be loaded.
    """
    name = name_model(settings)
    if name is None:
        return None
    if settings.embeddings == "openai":
        return Embedder(OpenAIEmbeddings(settings, name))
    encoder = (settings.embeddings_query_model if queries else None) or settings.embeddings_model or HF_MODEL
    if is_static(encoder) or find_spec("sentence_transformers") is None:
        return Embedder(StaticModelEmbeddings(encoder, name, offline=settings.offline))
    return Embedder(SentenceModelEmbeddings(encoder, name, offline=settings.offline))


# OpenAI --------------------------------------------------------------------------------------------------------------


class OpenAIEmbeddings:
    """OpenAI's embeddings.

    Source: POST {openai_url}/embeddings.

    Raises:
        NotConfigured: the extra is not installed, the key is missing, or the key may not be sent to the address.
    """

    def __init__(self, settings: Settings, name: str) -> None:
        self.name = name
        self.model = name.removeprefix("openai:")
        self._settings = settings
        if settings.offline:
            raise LocalEmbeddingsError(
                "OpenAI cannot be used in offline mode.",
                recovery_hint=FrontendText(
                    "Search without embeddings (ENTREZ_KIT_EMBEDDINGS=none), or leave ", OFFLINE_SWITCH, " out."
                ),
                details={"reason": "offline"},
            )
        if settings.openai_api_key is None:
            raise NotConfigured(
                "The embeddings provider openai needs OPENAI_API_KEY.",
                recovery_hint="Set OPENAI_API_KEY, or set ENTREZ_KIT_EMBEDDINGS to hf or none.",
                details={"reason": "openai_key_missing"},
            )
        require("openai", "The embeddings provider openai")
        self._client: OpenAI | None = None

    def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Return OpenAI's vectors of one batch, in the order of the texts.

        Raises:
            EmbeddingsError: OpenAI did not answer after all retries, or refused the request.
        """
        import openai

        error: EmbeddingsError
        try:
            answer = self._connect().embeddings.create(input=list(texts), model=self.model, encoding_format="float")
            return [list(item.embedding) for item in sorted(answer.data, key=lambda item: item.index)]
        except openai.APIStatusError as exc:
            error = self._refusal_error(exc.status_code)
        except openai.APIConnectionError:
            error = EmbeddingsError(
                "OpenAI cannot be reached.", details={"reason": "openai_unreachable", "model": self.model}
            )
        except (openai.OpenAIError, ValueError, TypeError, AttributeError):
            error = EmbeddingsError(
                "OpenAI's reply cannot be parsed.", details={"reason": "invalid_response", "model": self.model}
            )
        raise error  # raised outside of the handler: the text of OpenAI's error may contain the key

    def _connect(self) -> "OpenAI":
        if self._client is None:
            from openai import OpenAI

            settings = self._settings
            assert settings.openai_api_key is not None
            self._client = OpenAI(
                api_key=settings.openai_api_key.get_secret_value(),
                base_url=_check_address(settings.openai_url),
                max_retries=settings.ncbi_max_retries,
                timeout=settings.ncbi_timeout_ms / 1000,
            )
        return self._client

    def _refusal_error(self, status: int) -> EmbeddingsError:
        problem, reason = f"refused the texts with status {status}", "refused"
        hint: str | None = _CHECK_MODEL
        if status in (401, 403):
            problem, hint = "does not accept OPENAI_API_KEY", _CHECK_KEY
        elif status == 404:
            problem, hint = f"has no model {self.model}", "Choose another with ENTREZ_KIT_EMBEDDINGS_MODEL."
        elif status == 429:
            problem, reason, hint = "refused because of its rate limit or quota", "rate_limited", None
        elif status >= 500 or status in (408, 409):
            problem, reason, hint = f"answered with status {status}", "failed", None
        return EmbeddingsError(
            f"OpenAI {problem}.",
            recovery_hint=hint,
            details={"reason": reason, "status": status, "model": self.model},
        )


def _check_address(url: str) -> str:
    """Return the address after checking that it belongs to OpenAI or to this machine.

    Raises:
        NotConfigured: the address is elsewhere; the key is not sent to it.
    """
    parts = urlsplit(url)
    if is_loopback(parts.hostname) or (parts.scheme == "https" and is_within(parts.hostname, "openai.com")):
        return url.rstrip("/")
    raise NotConfigured(
        f"OPENAI_API_KEY is sent to OpenAI or to this machine only, not to {parts.hostname}.",
        invalid_input=f"ENTREZ_KIT_OPENAI_URL={url}",
        details={"reason": "foreign_address"},
    )


# Models on this machine ----------------------------------------------------------------------------------------------


class _ModelHere:
    """A loaded model; ``name`` is stored with its vectors."""

    name: str
    _model: Any

    def embed_batch(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return the vectors of one batch."""
        vectors: Sequence[Sequence[float]] = self._model.encode(list(texts), show_progress_bar=False)
        return vectors


class StaticModelEmbeddings(_ModelHere):
    """A model2vec model, which averages word vectors from a table."""

    def __init__(self, model: str, name: str, *, offline: bool = False) -> None:
        self.name = name
        require("embeddings", "The embeddings provider hf")
        from model2vec import StaticModel

        self._model = _load_model(
            model, lambda: StaticModel.from_pretrained(_find_model(model, offline), force_download=False)
        )


class SentenceModelEmbeddings(_ModelHere):
    """A sentence-transformers model; needs that package."""

    def __init__(self, model: str, name: str, *, offline: bool = False) -> None:
        self.name = name
        from sentence_transformers import SentenceTransformer

        with suppress(ImportError):
            from transformers.utils.logging import disable_progress_bar

            disable_progress_bar()  # it would appear at every search
        self._model = _load_model(model, lambda: SentenceTransformer(model, local_files_only=offline))
        if MEDCPT in model.lower():
            self._model[1] = type(self._model[1])(len(self.embed_batch([" "])[0]), pooling_mode="cls")


def name_of(model: str) -> str:
    """Return the stored name of a local model; a folder has the same name whichever path is given."""
    folder = Path(model)
    return f"hf:{folder.resolve() if folder.is_dir() else model}"


def is_static(model: str) -> bool:
    """Return whether a model is a model2vec model, by its maker or the configuration in its folder."""
    if model.startswith(STATIC_MAKERS):
        return True
    try:
        path = Path(model) / "config.json"
        about = json.loads(read_input(path, str(path), limit=MAX_CONFIG_BYTES))
    except (OSError, ValueError, InvalidInput):
        return False
    return isinstance(about, dict) and about.get("model_type") == "model2vec"


def _find_model(model: str, offline: bool) -> str:
    """Return the source of a model: its name, or in offline mode the folder of an earlier download."""
    if not offline or Path(model).is_dir():
        return model
    from huggingface_hub import snapshot_download

    return str(snapshot_download(model, local_files_only=True))


def _load_model(model: str, load: Callable[[], Any]) -> Any:
    error: LocalEmbeddingsError
    try:
        return load()
    except Exception as exc:  # these libraries pass on errors of any type from their own dependencies
        error = LocalEmbeddingsError(
            f"The model {model} cannot be loaded ({type(exc).__name__}).",
            recovery_hint="Check ENTREZ_KIT_EMBEDDINGS_MODEL: the name of a model to download, or the path of its "
            "folder. A model is downloaded once; offline mode needs a downloaded model.",
            details={"reason": "model_unavailable", "model": model},
        )
    raise error
