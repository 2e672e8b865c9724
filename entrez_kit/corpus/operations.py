"""The five operations of the corpus contract."""

from functools import partial
from typing import TYPE_CHECKING, Final

from entrez_kit.base.errors import (
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
from entrez_kit.base.progress import begin_stage
from entrez_kit.core.operation import AgentOptions, DocumentOperation, StreamOperation
from entrez_kit.core.outcomes import drain
from entrez_kit.corpus.models import (
    CheckpointGetRequest,
    CheckpointGetResult,
    CheckpointSetRequest,
    CheckpointSetResult,
    SyncPlan,
    SyncRequest,
    SyncResult,
    UserCheckpointRequest,
    UserSyncRequest,
)
from entrez_kit.corpus.rag_get import RagDocument, RagGetRequest, rag_get
from entrez_kit.corpus.search.rag_search import RagSearchRequest, RagSearchResult, rag_search
from entrez_kit.corpus.store import store_of
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.corpus.sync import Sync

TOOLSET: Final = "corpus"
MAX_NEW_FOR_AGENTS: Final = 20_000
"""The maximum number of new records; an agent's call times out long before it has fetched them."""


def sync(services: Services, request: SyncRequest, *, max_new: int | None = None) -> "Sync":
    """Update a local corpus from a PubMed query. If configured, embed new records and send them to Weaviate.

    Args:
        max_new: the maximum number of new records; the first sync of a key finds all records of the term.

    Raises:
        InvalidInput: the key belongs to another term, the term is malformed, or it finds too many new records.
        StoreError: the corpus cannot be written, or another sync of the key is running.
        UpstreamError: NCBI returned no records.
        RateLimited: NCBI refused the request before it returned any record.
    """
    from entrez_kit.corpus.sync import Sync

    return Sync(services, request, max_new=max_new, afterwards=_index)


def _index(services: Services, result: SyncResult) -> None:
    """Embed and deliver the new passages; passages that could not be delivered wait for the next sync."""
    from entrez_kit.corpus.indexing import DELIVERING, index_new

    problem = index_new(services)
    if problem is not None:
        result.add_late_error(problem)
    if services.settings.weaviate_url is not None:
        from entrez_kit.corpus.weaviate.delivery import deliver_after_sync

        begin_stage(DELIVERING)
        warning = deliver_after_sync(services)
        if warning is not None:
            result.add_warning(warning)


def sync_for_agents(services: Services, request: SyncRequest) -> SyncResult:
    """Update a local corpus from a PubMed query: all records, then new, revised or withdrawn ones.

    Use it before rag_search, e.g. query_key "glp1", term "GLP-1 AND obesity". Read `warnings`.
    """
    return sync(services, request, max_new=MAX_NEW_FOR_AGENTS).result()


def count_before_sync(services: Services, request: UserSyncRequest) -> SyncPlan:
    """Count the records that a sync would check, without changing anything."""
    from entrez_kit.corpus.sync_search import plan_sync

    return plan_sync(services, request)


def checkpoint_get(services: Services, request: CheckpointGetRequest) -> CheckpointGetResult:
    """Return the entry date (EDAT) up to which a corpus is synced, or null.

    Use it before pubmed_sync_delta, e.g. query_key "glp1".

    Raises:
        StoreError: the corpus cannot be read.
    """
    checkpoint = store_of(services).get_checkpoint(request.query_key)
    return CheckpointGetResult(query_key=request.query_key, last_edat=checkpoint.last_edat if checkpoint else None)


def checkpoint_set(services: Services, request: CheckpointSetRequest) -> CheckpointSetResult:
    """Set the entry date (EDAT) where the next sync starts.

    Use it to check older records, e.g. last_edat "2025-08-17T00:00:00Z".

    Raises:
        InvalidInput: last_edat is not a valid time, or is in the future.
        StoreError: the corpus cannot be written.
    """
    note = request.note if isinstance(request, UserCheckpointRequest) else None
    store_of(services).set_checkpoint(request.query_key, request.last_edat, note)
    return CheckpointSetResult(ok=True)


_of_contract: Final = partial(
    DocumentOperation,
    toolset=TOOLSET,
    error_document=corpus_envelope,
    agents=AgentOptions(closed_schema=True),
)

SYNC: Final = StreamOperation(
    name="pubmed_sync_delta",
    request=SyncRequest,
    result=SyncResult,
    outcomes=sync,
    collect=drain,
    command=("corpus", "sync"),
    toolset=TOOLSET,
    title="Sync a corpus",
    errors=(StoreError, InvariantFailure, UpstreamError, RateLimited),
    aliases=("pubmed.sync_delta",),
    read_only=False,
    error_document=corpus_envelope,
    agents=AgentOptions(closed_schema=True, function=sync_for_agents),
)

RAG_SEARCH: Final = _of_contract(
    name="rag_search",
    request=RagSearchRequest,
    result=RagSearchResult,
    function=rag_search,
    command=("corpus", "search"),
    title="Search the corpus",
    errors=(EntityNotFound, StoreError, EmbeddingsError, NotConfigured, VectorIndexError),
    aliases=("rag.search",),
    agents=AgentOptions(closed_schema=True, portions=("results",)),
)

RAG_GET: Final = _of_contract(
    name="rag_get",
    request=RagGetRequest,
    result=RagDocument,
    function=rag_get,
    command=("corpus", "get"),
    title="Read a corpus record",
    errors=(EntityNotFound, StoreError),
    aliases=("rag.get",),
)

CHECKPOINT_GET: Final = _of_contract(
    name="corpus_checkpoint_get",
    request=CheckpointGetRequest,
    result=CheckpointGetResult,
    function=checkpoint_get,
    command=("corpus", "checkpoint", "get"),
    title="Read a checkpoint",
    errors=(StoreError,),
    aliases=("corpus.checkpoint.get",),
)

CHECKPOINT_SET: Final = _of_contract(
    name="corpus_checkpoint_set",
    request=CheckpointSetRequest,
    result=CheckpointSetResult,
    function=checkpoint_set,
    command=("corpus", "checkpoint", "set"),
    title="Set a checkpoint",
    errors=(StoreError,),
    aliases=("corpus.checkpoint.set",),
    read_only=False,
)

SYNC_PLAN: Final = DocumentOperation(
    name=SYNC.name,
    request=UserSyncRequest,
    result=SyncPlan,
    function=count_before_sync,
    command=SYNC.command,
    toolset=TOOLSET,
    title="Plan a sync",
    error_document=corpus_envelope,
)
"""`corpus sync --dry-run`: only the terminal has it, so it is not in the catalogue."""
