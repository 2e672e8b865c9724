"""What follows a change of the corpus: vectors, the index elsewhere, and everything derived worked out anew."""

from typing import Final

from entrez_kit.base import tracing
from entrez_kit.base.errors import EmbeddingsError, EntrezKitError, LocalEmbeddingsError, NotConfigured
from entrez_kit.base.wording import REINDEX, Wording
from entrez_kit.core.model import Result
from entrez_kit.services import Services

EMBEDDING: Final = "Embedding"
INDEXING: Final = "Indexing"
DELIVERING: Final = "Delivering to Weaviate"


class Reindexed(Result):
    """What a reindex did: records worked through, and vectors made for the model in use."""

    documents: int
    chunks: int
    model: str | None
    vectors: int


def index_new(services: Services) -> EntrezKitError | None:
    """Make the vectors of passages that have none, where embeddings are set up; return what went wrong.

    The records are stored whatever happens here. A corpus whose vectors are all of another model is left alone: to
    embed it anew may cost hours or money, and somebody has to want that.
    """
    if services.settings.embeddings == "none":
        return None
    from entrez_kit.corpus.embeddings import embedder_of
    from entrez_kit.corpus.search import vector_index, vectors

    store = services.corpus
    try:
        embedder = embedder_of(services.settings)
        assert embedder is not None
        with store.reading() as connection:
            if not vectors.missing(connection, embedder.name):
                return None
            if vector_index.dimensions(connection):
                vectors.check_model(connection, embedder.name)
        tracing.stage(EMBEDDING)
        vectors.embed_missing(store, embedder)
    except (EmbeddingsError, NotConfigured) as exc:
        hint = Wording("The records are stored. ", REINDEX, " to make the vectors that are missing.")
        if not isinstance(exc, EmbeddingsError) or exc.reason in ("model_unavailable", "refused"):
            hint = Wording(exc.recovery_hint, " The records are stored. ", REINDEX, " to make the vectors then.")
        return type(exc)(
            f"Not every passage has a vector: {exc.message}",
            recovery_hint=hint,
            invalid_input=exc.invalid_input,
            details={**exc.details, "partial": True},
        )
    return None


def reindex(services: Services, *, anew: bool = False) -> Reindexed:
    """Work out anew what is made of the stored records: quality, chunks, full-text index, and vectors that are missing.

    Can be interrupted and run again.

    Args:
        services: the corpus and the settings.
        anew: make every vector anew and drop those of other models.

    Raises:
        StoreError: the corpus cannot be written.
        NotConfigured: the embeddings provider has no key.
        EmbeddingsError: it failed; the vectors made before are kept.
        LocalEmbeddingsError: vectors are to be made anew and there is no provider.
    """
    from entrez_kit.corpus.embeddings import embedder_of
    from entrez_kit.corpus.search import vector_index, vectors

    store = services.corpus
    with tracing.trace():
        embedder = embedder_of(services.settings)  # a provider that is not ready is found out before hours of work
        if embedder is None and anew:
            raise LocalEmbeddingsError(
                "There is no embeddings provider to make vectors anew with.",
                recovery_hint="Set ENTREZ_KIT_EMBEDDINGS to openai or hf, or keep the vectors there are.",
                details={"reason": "no_provider"},
            )
        tracing.stage(INDEXING)
        documents = store.reindex(tracing.step)
        made = 0
        if embedder is not None:
            if anew:
                with store.writing() as connection:
                    vector_index.forget(connection, embedder.name)
            tracing.stage(EMBEDDING)
            made = vectors.embed_missing(store, embedder, anew=anew)
    return Reindexed(
        documents=documents,
        chunks=store.stats().chunks,
        model=embedder.name if embedder is not None else None,
        vectors=made,
    )
