"""Read and set checkpoints: how far a query has been followed."""

from typing import Annotated

from pydantic import AfterValidator, Field

from entrez_kit.model import Request, Result
from entrez_kit.services import Services


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


QueryKey = Annotated[str, AfterValidator(_not_blank)]


class CheckpointGetRequest(Request):
    """Whose checkpoint to read."""

    query_key: QueryKey = Field(min_length=1, description="Name of the corpus.")


class CheckpointGetResult(Result):
    """How far a query has been followed; null where it was never synced."""

    query_key: str
    last_edat: str | None = None


class CheckpointSetRequest(Request):
    """Whose checkpoint to set, and where to."""

    query_key: QueryKey = Field(min_length=1, description="Name of the corpus.")
    last_edat: str = Field(description="UTC time, ISO 8601.")


class CheckpointSetResult(Result):
    """That it was done."""

    ok: bool


def checkpoint_get(services: Services, request: CheckpointGetRequest) -> CheckpointGetResult:
    """Tell up to which date of entry (EDAT) a corpus is synced; null where it never was.

    Use it before pubmed_sync_delta, e.g. query_key "glp1".

    Raises:
        StoreError: the corpus cannot be read.
    """
    found = services.corpus.get_checkpoint(request.query_key)
    return CheckpointGetResult(query_key=request.query_key, last_edat=found.last_edat if found else None)


def checkpoint_set(
    services: Services, request: CheckpointSetRequest, *, note: str | None = None
) -> CheckpointSetResult:
    """Set the date of entry (EDAT) the next sync starts from; the change is logged.

    Use it to look at older records again, e.g. last_edat "2025-08-17T00:00:00Z".

    Args:
        services: the corpus.
        request: which checkpoint, and where to.
        note: what the log says about it.

    Raises:
        InvalidInput: last_edat is no time, or lies in the future.
        StoreError: the corpus cannot be written.
    """
    services.corpus.set_checkpoint(request.query_key, request.last_edat, note)
    return CheckpointSetResult(ok=True)
