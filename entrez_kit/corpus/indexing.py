"""Derived data of the corpus: embed new records, and rebuild quality, chunks, indexes and vectors."""

from typing import Final

from entrez_kit.base import tracing
from entrez_kit.base.errors import EmbeddingsError, EntrezKitError, LocalEmbeddingsError, NotConfigured
from entrez_kit.base.frontend_text import REINDEX, FrontendText
from entrez_kit.base.progress import begin_stage, report_progress
from entrez_kit.core.model import Result
from entrez_kit.corpus.store import store_of
from entrez_kit.services import Services

EMBEDDING: Final = "Embedding"
INDEXING: Final = "Indexing"
DELIVERING: Final = "Delivering to Weaviate"


class Reindexed(Result):
    """The result of a reindex: records processed, and vectors created for the configured model."""

    documents: int
    chunks: int
    model: str | None
    vectors: int


def index_new(services: Services) -> EntrezKitError | None:
    """Embed passages without a vector, if embeddings are configured; return the error, if any.

    An error here does not affect the stored records. A corpus with vectors of a different model is not changed:
    embedding it again may cost hours or money, so the user must request it.
    """
    if services.settings.embeddings == "none":
        return None
    from entrez_kit.corpus.embeddings import create_embedder
    from entrez_kit.corpus.search import vector_index, vectors

    store = store_of(services)
    try:
        embedder = create_embedder(services.settings)
        assert embedder is not None
        with store.reading() as connection:
            if not vectors.count_missing(connection, embedder.name):
                return None
            if vector_index.read_dimensions(connection):
                vectors.check_model(connection, embedder.name)
        begin_stage(EMBEDDING)
        vectors.embed_missing(store, embedder)
    except (EmbeddingsError, NotConfigured) as exc:
        hint = FrontendText("The records are stored. ", REINDEX, " to create the missing vectors.")
        if not isinstance(exc, EmbeddingsError) or exc.reason in ("model_unavailable", "refused"):
            hint = FrontendText(exc.hint_text, " The records are stored. Then ", REINDEX, " to embed the rest.")
        return type(exc)(
            f"Not every passage has a vector: {exc.message}",
            recovery_hint=hint,
            invalid_input=exc.invalid_input,
            details={**exc.details, "partial": True},
        )
    return None


def reindex(services: Services, *, anew: bool = False) -> Reindexed:
    """Rebuild the data derived from stored records: quality, chunks, full-text index and missing vectors.

    Can be interrupted and run again.

    Args:
        anew: recreate every vector and delete those of other models.

    Raises:
        StoreError: the corpus cannot be written.
        NotConfigured: the embeddings provider has no key.
        EmbeddingsError: embedding failed; vectors created before are kept.
        LocalEmbeddingsError: ``anew`` is given and no embeddings provider is configured.
    """
    from entrez_kit.corpus.embeddings import create_embedder
    from entrez_kit.corpus.search import vector_index, vectors

    store = store_of(services)
    with tracing.trace():
        embedder = create_embedder(services.settings)  # fails before hours of work if the provider is not ready
        if embedder is None and anew:
            raise LocalEmbeddingsError(
                "No embeddings provider is configured, so the vectors cannot be recreated.",
                recovery_hint="Set ENTREZ_KIT_EMBEDDINGS to openai or hf, or keep the existing vectors.",
                details={"reason": "no_provider"},
            )
        begin_stage(INDEXING)
        documents = store.reindex(report_progress)
        vector_count = 0
        if embedder is not None:
            if anew:
                with store.writing() as connection:
                    vector_index.forget(connection, embedder.name)
            begin_stage(EMBEDDING)
            vector_count = vectors.embed_missing(store, embedder, drops_others=anew)
    return Reindexed(
        documents=documents,
        chunks=store.stats().chunks,
        model=embedder.name if embedder is not None else None,
        vectors=vector_count,
    )
