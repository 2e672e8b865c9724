"""A model of six words, and settings that name a server, for the tests of the Weaviate index."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from invented_papers import Clock

from entrez_kit.base.settings import Settings, load_settings
from entrez_kit.corpus.chunking import chunk_uuid
from entrez_kit.corpus.embeddings import Embedder
from entrez_kit.corpus.search.vectors import embed_missing
from entrez_kit.corpus.store import store_of
from entrez_kit.corpus.store.store import Store
from entrez_kit.corpus.weaviate.client import connect
from entrez_kit.services import Services

if TYPE_CHECKING:
    from weaviate import WeaviateClient

WORDS = ("zebrafish", "swim", "mice", "run", "birds", "fly")


class SixWords:
    """A model whose vectors count each of six words."""

    name = "hf:six-words"

    def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector a text."""
        return [[0.01 + text.lower().count(word) for word in WORDS] for text in texts]


class FiveWords(SixWords):
    """Another model, of another dimension."""

    name = "hf:five-words"

    def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector a text."""
        return [vector[:5] for vector in super().embed_batch(texts)]


def make_six_words() -> Embedder:
    """Return the model as the corpus uses it."""
    return Embedder(SixWords())


def make_settings(home: Path, url: str, grpc_port: int, **more: Any) -> Settings:
    """Return settings that name a server, and a separate collection."""
    return load_settings(
        {
            "home": home,
            "weaviate_url": url,
            "weaviate_grpc_port": grpc_port,
            "weaviate_class": f"EntrezKitTest{uuid4().hex[:12]}",
            "embeddings": "hf",
            **more,
        }
    )


@contextmanager
def open_client(settings: Settings) -> "Iterator[WeaviateClient]":
    """Open a client of the server, to see what it stores."""
    client = connect(settings)
    try:
        yield client
    finally:
        client.close()


def get_passage_uuid(pmid: int) -> str:
    """Return the uuid of the first passage of a record."""
    return chunk_uuid(pmid, "w0")


def make_services(settings: Settings) -> Services:
    """Return services whose corpus has a clock that does not move."""
    services = Services(settings)
    store_of(services).clock = Clock()
    return services


def fill_vectors(store: Store) -> None:
    """Make the vectors that are missing."""
    embed_missing(store, make_six_words())
