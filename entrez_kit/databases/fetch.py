"""Fetch whole records of any database in any of NCBI's formats."""

from typing import Final

from pydantic import Field

from entrez_kit.databases.names import DatabaseName, Uid
from entrez_kit.databases.summary import IdOutcome, missing_ids, summaries_of
from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.operation import Operation, Request, Result, sparse
from entrez_kit.services import Services

MAX_IDS: Final = 500
"""One EFetch, so that XML stays one document."""
MAX_MCP_IDS: Final = 50


class EntrezFetchRequest(Request):
    """Which records to fetch, and in which format."""

    db: DatabaseName = Field(description='Database of the records, e.g. "nuccore".')
    ids: list[Uid] = Field(min_length=1, max_length=MAX_IDS, description="UIDs or accessions, up to 500.")
    rettype: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_]+$", description='What to return, e.g. "fasta".')
    retmode: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9.]+$", description='In which form: "text", "xml" ...'
    )


class EntrezFetchResult(Result):
    """The records as NCBI sent them; ``outcomes`` is present when NCBI has no record of some id."""

    db: str
    ids: list[str]
    rettype: str | None
    retmode: str | None
    content: str
    not_found_ids: list[str] = sparse([])
    outcomes: list[IdOutcome] = sparse([])

    def shortfall(self) -> EntrezKitError | None:
        """Report ids without a record."""
        return missing_ids(self.db, self.outcomes, len(self.ids) - len(self.not_found_ids))


def entrez_fetch(services: Services, request: EntrezFetchRequest) -> EntrezFetchResult:
    """Fetch whole records from any Entrez database as NCBI formats them.

    Use it for sequences, taxonomy, SNPs and other records without a tool of their own. For PubMed articles and genes
    pubmed_fetch_contents and get_gene return parsed records. Example: db "nuccore", ids ["NM_000546.6"], rettype
    "fasta", retmode "text". Ids that do not exist are named in `not_found_ids`.

    Args:
        services: the clients.
        request: database, ids and format.

    Raises:
        EntityNotFound: none of the ids exist.
        InvalidInput: there is no such database or format.
        UpstreamError: NCBI did not answer after every attempt.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: EFetch; ESummary to tell which ids exist, since EFetch leaves others out in silence.
    """
    missing = _nonexistent(services, request)
    wanted = [uid for uid in dict.fromkeys(request.ids) if uid not in missing]
    if not wanted:
        raise EntityNotFound(
            f"{request.db} has no record {', '.join(request.ids[:10])}.",
            invalid_input=request.ids[0],
            recovery_hint=f'Check the ids; to look for the record call entrez_search with db "{request.db}".',
            details={"reason": "not_found", "missing": list(request.ids)},
        )
    reply = services.eutils.efetch(db=request.db, ids=wanted, rettype=request.rettype, retmode=request.retmode)
    outcomes = [
        IdOutcome(id=uid, status="not_found", message=missing[uid])
        if uid in missing
        else IdOutcome(id=uid, status="found")
        for uid in request.ids
    ]
    return EntrezFetchResult(
        db=request.db,
        ids=list(request.ids),
        rettype=request.rettype,
        retmode=request.retmode,
        content=reply.content.decode("utf-8", "replace"),
        not_found_ids=list(missing),
        outcomes=outcomes if missing else [],
    )


def _nonexistent(services: Services, request: EntrezFetchRequest) -> dict[str, str]:
    """Return the ids that have no summary, with NCBI's word; accessions only when NCBI refuses them.

    A database without summaries gives no verdict, and nothing is held to be missing then.
    """
    try:
        found, failed = summaries_of(services, request.db, request.ids)
    except InvalidInput:
        return {}
    if failed:
        return {}
    unknown: dict[str, str] = {}
    for uid in dict.fromkeys(request.ids):
        if uid in found.documents:
            continue
        if uid in found.problems or uid.isdigit():
            unknown[uid] = found.problems.get(uid) or f"{request.db} has no record {uid}"
    return unknown


FETCH = Operation(
    name="entrez_fetch",
    function=entrez_fetch,
    request=EntrezFetchRequest,
    result=EntrezFetchResult,
    method="fetch",
    command=("db", "fetch"),
    toolset="entrez",
    title="Fetch records of any database",
    errors=(EntityNotFound, UpstreamError, RateLimited),
    mcp_caps={"ids": MAX_MCP_IDS},
)
