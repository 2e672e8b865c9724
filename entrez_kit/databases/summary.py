"""Document summaries of any database: N UIDs in, N outcomes out."""

from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import Field

from entrez_kit.databases.documents import Summaries, parse_documents
from entrez_kit.databases.names import DatabaseName, Uid
from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.operation import Operation, Request, Result, sparse
from entrez_kit.services import Services

BATCH: Final = 200
"""ESummary fails in silence above 500 UIDs in JSON."""
MAX_IDS: Final = 10_000
MAX_MCP_IDS: Final = 200

IdStatus = Literal["found", "not_found", "error"]


class SummaryRequest(Request):
    """Which records of which database to summarise."""

    db: DatabaseName = Field(description='Database of the records, e.g. "gene".')
    ids: list[Uid] = Field(min_length=1, max_length=MAX_IDS, description="UIDs, in any order.")


class IdOutcome(Result):
    """What became of one UID."""

    id: str
    status: IdStatus
    message: str | None = sparse()


class SummaryResult(Result):
    """Document summaries in the order of the UIDs; the fields are the database's own.

    ``outcomes`` is present when anything was not found.
    """

    db: str
    ids: list[str]
    summaries: list[dict[str, Any]]
    not_found_ids: list[str]
    outcomes: list[IdOutcome] = sparse([])

    def shortfall(self) -> EntrezKitError | None:
        """Report UIDs without a summary."""
        return missing_ids(self.db, self.outcomes, len(self.summaries))


def missing_ids(db: str, outcomes: Sequence[IdOutcome], found: int) -> EntrezKitError | None:
    """Return the error that goes with a document in which some UIDs are missing."""
    missing = [outcome for outcome in outcomes if outcome.status != "found"]
    if not missing:
        return None
    details: dict[str, Any] = {"partial": found > 0, "missing": [outcome.model_dump() for outcome in missing]}
    named = ", ".join(outcome.id for outcome in missing[:10]) + (" ..." if len(missing) > 10 else "")
    if any(outcome.status == "error" for outcome in missing):
        return UpstreamError(
            f"NCBI did not answer for {named} in {db}.",
            recovery_hint="Run the same command again: what was fetched is in the cache, only the rest is asked for.",
            details={**details, "reason": "incomplete"},
        )
    return EntityNotFound(
        f"{db} has no record {named}.",
        invalid_input=missing[0].id,
        recovery_hint=f'Check the ids; to look for the record call entrez_search with db "{db}".',
        details={**details, "reason": "not_found"},
    )


def entrez_summary(services: Services, request: SummaryRequest) -> SummaryResult:
    """Return document summaries of records in any Entrez database.

    Use it to see what UIDs are about before fetching them. Example: db "nuccore", ids ["28864546"]. Fields differ from
    database to database and are passed on as NCBI names them. UIDs that do not exist are named in `not_found_ids`.

    Args:
        services: the clients.
        request: database and UIDs.

    Raises:
        InvalidInput: there is no such database.
        UpstreamError: NCBI answered none of the requests.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: ESummary 2.0, JSON.
    """
    found, failed = summaries_of(services, request.db, request.ids)
    if failed and not found.documents and not found.problems:
        raise next(iter(failed.values()))
    outcomes = [_outcome(request.db, uid, found, failed) for uid in request.ids]
    complete = all(outcome.status == "found" for outcome in outcomes)
    return SummaryResult(
        db=request.db,
        ids=list(request.ids),
        summaries=[found.documents[uid] for uid in request.ids if uid in found.documents],
        not_found_ids=list(dict.fromkeys(outcome.id for outcome in outcomes if outcome.status == "not_found")),
        outcomes=[] if complete else outcomes,
    )


def _outcome(db: str, uid: str, found: Summaries, failed: dict[str, EntrezKitError]) -> IdOutcome:
    if uid in found.documents:
        return IdOutcome(id=uid, status="found")
    if uid in failed:
        return IdOutcome(id=uid, status="error", message=failed[uid].message)
    return IdOutcome(id=uid, status="not_found", message=found.problems.get(uid) or f"{db} has no record {uid}")


def summaries_of(services: Services, db: str, ids: Sequence[str]) -> tuple[Summaries, dict[str, EntrezKitError]]:
    """Fetch summaries in batches; a batch that fails is quarantined and its UIDs map to the error."""
    unique = list(dict.fromkeys(ids))
    merged = Summaries()
    failed: dict[str, EntrezKitError] = {}
    for start in range(0, len(unique), BATCH):
        batch = unique[start : start + BATCH]
        try:
            part = parse_documents(services.eutils.esummary(db=db, ids=batch, version="2.0", retmode="json").content)
        except EntityNotFound:
            continue
        except InvalidInput:
            raise
        except (UpstreamError, RateLimited) as exc:
            failed |= dict.fromkeys(batch, exc)
            continue
        merged.documents.update(part.documents)
        merged.problems.update(part.problems)
        _file_under_accession(batch, part, merged)
    return merged, failed


def _file_under_accession(batch: Sequence[str], part: Summaries, merged: Summaries) -> None:
    """Find records asked for by accession, which NCBI answers under their UIDs."""
    for uid in batch:
        if uid in merged.documents or uid.isdigit():
            continue
        for document in part.documents.values():
            names = {str(document.get(key, "")).lower() for key in ("accessionversion", "caption", "accession")}
            if uid.lower() in names:
                merged.documents[uid] = document


SUMMARY = Operation(
    name="entrez_summary",
    function=entrez_summary,
    request=SummaryRequest,
    result=SummaryResult,
    method="summary",
    command=("db", "summary"),
    toolset="entrez",
    title="Summarise records of any database",
    errors=(EntityNotFound, UpstreamError, RateLimited),
    mcp_caps={"ids": MAX_MCP_IDS},
)
