"""The five operations of the corpus contract."""

from typing import Final

from entrez_kit.corpus.checkpoint_calls import (
    CheckpointGetRequest,
    CheckpointGetResult,
    CheckpointSetRequest,
    CheckpointSetResult,
    checkpoint_get,
    checkpoint_set,
)
from entrez_kit.corpus.indexing import Stage, deliver_new, index_new, unseen
from entrez_kit.corpus.rag_get import RagDocument, RagGetRequest, rag_get
from entrez_kit.corpus.search.operation import RagSearchRequest, RagSearchResult, rag_search
from entrez_kit.corpus.sync import MAX_FIRST_MCP_SYNC, SyncRequest, SyncResult, sync_delta
from entrez_kit.errors import (
    EmbeddingsError,
    EntityNotFound,
    InvariantFailure,
    NotConfigured,
    RateLimited,
    StoreError,
    UpstreamError,
    VectorIndexError,
    corpus_envelope,
)
from entrez_kit.operation import Operation
from entrez_kit.services import Services

TOOLSET: Final = "corpus"


def sync(
    services: Services,
    request: SyncRequest,
    *,
    replace_term: bool = False,
    max_first: int | None = None,
    stage: Stage = unseen,
) -> SyncResult:
    """Bring a local corpus up to date with a PubMed query; embed what is new and deliver it where that is set up.

    Args:
        services: the clients and the corpus.
        request: key, term and overlap.
        replace_term: let the key start anew with another term.
        max_first: refuse to fetch more records than this.
        stage: opens each stage of the work.

    Raises:
        InvalidInput: another term belongs to the key, the term is not well formed, or there is too much to fetch.
        StoreError: the corpus cannot be written, or another sync of the key is running.
        UpstreamError: NCBI delivered nothing.
        RateLimited: NCBI refused before anything was delivered.
    """
    with stage(f"Syncing {request.query_key}") as advance:
        result = sync_delta(services, request, replace_term=replace_term, max_first=max_first, progress=advance)
    problem = index_new(services, stage)
    if problem is not None:
        result.falls_short(problem)
    warning = deliver_new(services, stage)
    if warning is not None:
        result.warnings.append(warning)
    return result


def sync_for_agents(services: Services, request: SyncRequest) -> SyncResult:
    """Bring a local corpus up to date with a PubMed query: first all it finds, later what is new, revised or withdrawn.

    Use it before rag_search, e.g. query_key "glp1", term "GLP-1 AND obesity". Safe to repeat. Read `warnings`.
    """
    return sync(services, request, max_first=MAX_FIRST_MCP_SYNC)


SYNC: Final = Operation(
    name="pubmed_sync_delta",
    function=sync,
    mcp_function=sync_for_agents,
    request=SyncRequest,
    result=SyncResult,
    method="sync_delta",
    command=("corpus", "sync"),
    toolset=TOOLSET,
    title="Sync a corpus",
    errors=(StoreError, InvariantFailure, UpstreamError, RateLimited),
    aliases=("pubmed.sync_delta",),
    read_only=False,
    error_document=corpus_envelope,
    closed=True,
)

RAG_SEARCH: Final = Operation(
    name="rag_search",
    function=rag_search,
    request=RagSearchRequest,
    result=RagSearchResult,
    method="rag_search",
    command=("corpus", "search"),
    toolset=TOOLSET,
    title="Search the corpus",
    errors=(EntityNotFound, StoreError, EmbeddingsError, NotConfigured, VectorIndexError),
    aliases=("rag.search",),
    error_document=corpus_envelope,
    closed=True,
)

RAG_GET: Final = Operation(
    name="rag_get",
    function=rag_get,
    request=RagGetRequest,
    result=RagDocument,
    method="rag_get",
    command=("corpus", "get"),
    toolset=TOOLSET,
    title="Read a corpus record",
    errors=(EntityNotFound, StoreError),
    aliases=("rag.get",),
    error_document=corpus_envelope,
    closed=True,
)

CHECKPOINT_GET: Final = Operation(
    name="corpus_checkpoint_get",
    function=checkpoint_get,
    request=CheckpointGetRequest,
    result=CheckpointGetResult,
    method="corpus_checkpoint_get",
    command=("corpus", "checkpoint", "get"),
    toolset=TOOLSET,
    title="Read a checkpoint",
    errors=(StoreError,),
    aliases=("corpus.checkpoint.get",),
    error_document=corpus_envelope,
    closed=True,
)

CHECKPOINT_SET: Final = Operation(
    name="corpus_checkpoint_set",
    function=checkpoint_set,
    request=CheckpointSetRequest,
    result=CheckpointSetResult,
    method="corpus_checkpoint_set",
    command=("corpus", "checkpoint", "set"),
    toolset=TOOLSET,
    title="Set a checkpoint",
    errors=(StoreError,),
    aliases=("corpus.checkpoint.set",),
    read_only=False,
    error_document=corpus_envelope,
    closed=True,
)
