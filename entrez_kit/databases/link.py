"""Follow links from any database to any other: one linkset per source record, in the order of the sources."""

from typing import Any, Final, Literal

from pydantic import Field

from entrez_kit.databases.linksets import RawLink, parse_linksets
from entrez_kit.databases.names import DatabaseName, Uid
from entrez_kit.databases.summary import summaries_of
from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.operation import Operation, Request, Result, sparse
from entrez_kit.services import Services

BATCH: Final = 100
"""Source records per ELink, each in an id parameter of its own; together they would come back as one merged set."""
MAX_IDS: Final = 5_000
MAX_MCP_IDS: Final = 200

LinkStatus = Literal["linked", "no_links", "not_found", "error"]


class LinkRequest(Request):
    """Which records to follow, and where to."""

    ids: list[Uid] = Field(min_length=1, max_length=MAX_IDS, description="UIDs of the source records.")
    source: DatabaseName = Field(default="pubmed", description="Database the ids belong to.")
    target: DatabaseName = Field(default="pmc", description="Database to look for linked records in.")
    link_name: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9_]+$", description='One kind of link only, e.g. "pubmed_pubmed_refs".'
    )
    scores: bool = Field(default=False, description="Whether to ask for NCBI's similarity scores, where it has them.")
    verify: bool = Field(
        default=False, description="Check that every source exists; otherwise only those without links are checked."
    )


class Link(Result):
    """A linked record, by which kind of link, and NCBI's score where asked for (on no fixed scale)."""

    id: str
    score: int | None = sparse()
    link_name: str | None = sparse()


class LinkSet(Result):
    """The links of one source record."""

    source_id: str
    status: LinkStatus
    links: list[Link] = Field(default_factory=list)
    message: str | None = sparse()


class LinkResult(Result):
    """One linkset per source, in the order of the sources."""

    source: str
    target: str
    linksets: list[LinkSet]

    def shortfall(self) -> EntrezKitError | None:
        """Report sources that do not exist or were not answered."""
        missing = [item for item in self.linksets if item.status in ("not_found", "error")]
        if not missing:
            return None
        details: dict[str, Any] = {
            "partial": len(missing) < len(self.linksets),
            "missing": [{"id": item.source_id, "status": item.status, "message": item.message} for item in missing],
        }
        named = ", ".join(item.source_id for item in missing[:10]) + (" ..." if len(missing) > 10 else "")
        if any(item.status == "error" for item in missing):
            return UpstreamError(f"NCBI did not answer for {named}.", details={**details, "reason": "incomplete"})
        return EntityNotFound(
            f"{self.source} has no record {named}.",
            invalid_input=missing[0].source_id,
            recovery_hint=f'Check the ids; to look for the record call entrez_search with db "{self.source}".',
            details={**details, "reason": "not_found"},
        )


def entrez_link(services: Services, request: LinkRequest) -> LinkResult:
    """Find records in one database linked to records in another, one linkset per source id.

    Use it for any pair of databases, e.g. source "gene", target "clinvar". For articles similar to, citing or cited by
    an article use pubmed_article_relationships. Sources that do not exist are told apart from those without links.

    Args:
        services: the clients.
        request: source records, both databases and the kind of link.

    Raises:
        EntityNotFound: never for single ids; see the status of each linkset.
        InvalidInput: there is no such database or kind of link.
        UpstreamError: NCBI answered none of the requests.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: ELink; ESummary to tell whether a source exists.
    """
    unique = list(dict.fromkeys(request.ids))
    links: dict[str, list[RawLink]] = {}
    failed: dict[str, EntrezKitError] = {}
    for start in range(0, len(unique), BATCH):
        batch = unique[start : start + BATCH]
        try:
            links |= _linked(services, request, batch)
        except EntityNotFound:
            continue
        except InvalidInput:
            raise
        except (UpstreamError, RateLimited) as exc:
            failed |= dict.fromkeys(batch, exc)
    if len(failed) == len(unique):
        raise next(iter(failed.values()))
    doubtful = [uid for uid in unique if uid not in failed and (request.verify or not links.get(uid))]
    absent, unverified = _absent(services, request.source, doubtful)
    return LinkResult(
        source=request.source,
        target=request.target,
        linksets=[_linkset(request, uid, links.get(uid, []), absent, {**failed, **unverified}) for uid in request.ids],
    )


def _linked(services: Services, request: LinkRequest, batch: list[str]) -> dict[str, list[RawLink]]:
    reply = services.eutils.elink(
        dbfrom=request.source,
        db=request.target,
        ids=batch,
        cmd="neighbor_score" if request.scores else "neighbor",
        linkname=request.link_name,
    )
    found: dict[str, list[RawLink]] = {}
    for linkset in parse_linksets(reply.content):
        if len(linkset.ids) != 1:
            raise UpstreamError(
                "NCBI merged the links of several records, so they cannot be told apart.",
                details={"reason": "invalid_response", "endpoint": "elink"},
            )
        if linkset.errors:
            raise UpstreamError(
                f"NCBI could not follow the links: {linkset.errors[0]}",
                details={"reason": "backend_error", "endpoint": "elink"},
            )
        wanted = [link for link in linkset.links if link.db_to in ("", request.target)]
        found.setdefault(linkset.ids[0], []).extend(wanted)
    return found


def _absent(services: Services, db: str, ids: list[str]) -> tuple[dict[str, str], dict[str, EntrezKitError]]:
    """Return which ids do not exist, with NCBI's word, and which could not be checked."""
    if not ids:
        return {}, {}
    try:
        found, failed = summaries_of(services, db, ids)
    except InvalidInput:  # a database without summaries gives no verdict
        return {}, {}
    absent = {
        uid: found.problems.get(uid) or f"{db} has no record {uid}"
        for uid in ids
        if uid not in found.documents and uid not in failed
    }
    return absent, failed


def _linkset(
    request: LinkRequest,
    uid: str,
    links: list[RawLink],
    absent: dict[str, str],
    failed: dict[str, EntrezKitError],
) -> LinkSet:
    if uid in absent:
        # NCBI invents links for some ids that never existed; they are not passed on.
        return LinkSet(source_id=uid, status="not_found", message=absent[uid])
    shown = [Link(id=link.id, score=link.score, link_name=link.link_name or None) for link in links if link.id != "0"]
    if shown:
        return LinkSet(source_id=uid, status="linked", links=shown)
    if uid in failed:
        return LinkSet(source_id=uid, status="error", message=failed[uid].message)
    return LinkSet(source_id=uid, status="no_links", message=f"{request.target} has nothing linked to {uid}")


LINK = Operation(
    name="entrez_link",
    function=entrez_link,
    request=LinkRequest,
    result=LinkResult,
    method="link",
    command=("db", "link"),
    toolset="entrez",
    title="Follow links between databases",
    errors=(EntityNotFound, UpstreamError, RateLimited),
    mcp_caps={"ids": MAX_MCP_IDS},
)
