"""Follow links from any database to any other: one linkset per source record, in the order of the sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field

from entrez_kit.batches import in_batches
from entrez_kit.databases.info import describe_database
from entrez_kit.databases.names import DatabaseName, check_database, read_uid
from entrez_kit.databases.summary import NOT_AN_ID, IdOutcome, LookUp, look_up, missing_ids
from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.model import Request, Result, sparse
from entrez_kit.operation import Operation
from entrez_kit.services import Services
from entrez_kit.services.xml_reply import malformed

if TYPE_CHECKING:
    from entrez_kit.databases.linksets import RawLink

BATCH: Final = 100
"""Source records per ELink, each in an id parameter of its own; together they would come back as one merged set."""
MAX_IDS: Final = 5_000
MAX_MCP_IDS: Final = 200
SCORES_DEADLINE_MS: Final = 10_000
"""NCBI's scores of famous records may take minutes; the links themselves do not."""

LinkStatus = Literal["linked", "no_links", "not_found", "invalid", "error"]


class LinkRequest(Request):
    """Which records to follow, and where to."""

    ids: list[str] = Field(min_length=1, max_length=MAX_IDS, description="Ids of the source records.")
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
    """A linked record, by which kind of link, and NCBI's score where there is one (on no fixed scale)."""

    id: str
    score: int | None = sparse()
    link_name: str | None = sparse()


class LinkSet(Result):
    """The links of one source record, in NCBI's order."""

    source_id: str
    status: LinkStatus
    links: list[Link] = Field(default_factory=list)
    message: str | None = sparse()


class LinkWarning(Result):
    """Something about the links that the linksets do not show; ``code`` is stable."""

    code: str
    message: str


class LinkResult(Result):
    """One linkset per source, in the order of the sources."""

    source: str
    target: str
    linksets: list[LinkSet]
    warnings: list[LinkWarning] = sparse([])

    def records_inside(self) -> list[Any]:
        """Return a record for every link, with the source it belongs to."""
        return [{"source_id": one.source_id, **found.model_dump()} for one in self.linksets for found in one.links]

    def shortfall(self) -> EntrezKitError | None:
        """Report sources that do not exist or were not answered."""
        missing = [
            IdOutcome.model_validate({"id": item.source_id, "status": item.status, "message": item.message})
            for item in self.linksets
            if item.status not in ("linked", "no_links")
        ]
        return missing_ids(self.source, missing, len(self.linksets) - len(missing))


def entrez_link(services: Services, request: LinkRequest) -> LinkResult:
    """Find records in one database linked to records in another, one linkset per source id.

    Use it for any pair of databases, e.g. source "gene", target "clinvar", ids ["672"]. For articles similar to, citing
    or cited by an article use pubmed_article_relationships. Sources that do not exist are told apart from those
    without links.

    Args:
        services: the clients.
        request: source records, both databases and the kind of link.

    Raises:
        InvalidInput: there is no such database.
        UpstreamError: NCBI answered none of the requests.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: ELink; ESummary to tell whether a source exists, EInfo to tell whether there are such links at all.
    """
    check_database(services, request.source, "source")
    check_database(services, request.target, "target")
    sources = _sources(services, request)
    uids = list(dict.fromkeys(uid for uid in sources.uids.values() if uid is not None))
    found = _follow(services, request, uids)
    if found.failed and len(found.failed) == len(uids):
        raise next(iter(found.failed.values()))
    doubtful = [uid for uid in uids if uid not in found.failed and (request.verify or not found.links.get(uid))]
    existing = _existing(services, request.source, doubtful)
    linksets = [_linkset(request, sources, found, existing, given) for given in request.ids]
    warnings = list(found.warnings)
    if not any(item.links for item in linksets) and any(item.status == "no_links" for item in linksets):
        warnings += _no_such_links(services, request)
    return LinkResult(source=request.source, target=request.target, linksets=linksets, warnings=warnings)


@dataclass(slots=True)
class _SourceIds:
    """Each given id and its UID; what has none, with the reason."""

    uids: dict[str, str | None]
    outcomes: dict[str, tuple[LinkStatus, str]] = field(default_factory=dict)


def _sources(services: Services, request: LinkRequest) -> _SourceIds:
    """Read the ids; accessions are looked up, since ELink answers them under UIDs."""
    uids = {given: read_uid(request.source, given) for given in request.ids}
    sources = _SourceIds(uids)
    accessions = [given for given, uid in uids.items() if uid is not None and not uid.isdigit()]
    known = look_up(services, request.source, accessions) if accessions else None
    for given, uid in uids.items():
        if uid is None:
            sources.outcomes[given] = ("invalid", NOT_AN_ID.format(db=request.source))
        elif known is not None and given in known.uids:
            document = known.documents.get(given)
            sources.uids[given] = str(document["uid"]) if document is not None else None
            if document is None:
                missing = known.outcome(given)
                status: LinkStatus = "error" if missing.status == "error" else "not_found"
                sources.outcomes[given] = (status, missing.message or "")
    return sources


@dataclass(slots=True)
class _Followed:
    links: dict[str, list["RawLink"]] = field(default_factory=dict)
    failed: dict[str, EntrezKitError] = field(default_factory=dict)
    warnings: list[LinkWarning] = field(default_factory=list)


def _follow(services: Services, request: LinkRequest, uids: list[str]) -> _Followed:
    """Ask ELink in batches; sources that its reply leaves out are asked for once more."""
    followed = _Followed()
    scored = request.scores

    def ask(batch: list[str]) -> Mapping[str, list["RawLink"]]:
        nonlocal scored
        if scored:
            try:
                return _linked(services, request, batch, "neighbor_score")
            except (UpstreamError, RateLimited) as exc:
                if scored:  # else another batch in flight has said so
                    scored = False
                    message = f"NCBI gave no scores in time, so the links come without them ({exc.message})"
                    followed.warnings.append(LinkWarning(code="scores_unavailable", message=message))
        return _linked(services, request, batch, "neighbor")

    for _ in range(2):
        lacking = [uid for uid in uids if uid not in followed.links and uid not in followed.failed]
        asked = in_batches(lacking, BATCH, ask, at_once=services.eutils.at_once)
        for _, links in asked.answers:
            followed.links.update(links)
        followed.failed.update(asked.failed)
        followed.links.update({uid: [] for uid in asked.refused})  # whether it exists is asked next
    for uid in uids:
        if uid not in followed.links and uid not in followed.failed:
            followed.failed[uid] = UpstreamError(
                f"NCBI left {uid} out of its answer.",
                details={"reason": "incomplete", "endpoint": "elink"},
            )
    return followed


def _linked(services: Services, request: LinkRequest, batch: list[str], command: str) -> dict[str, list["RawLink"]]:
    """Return the links of each source in one reply, whatever the order of its link sets."""
    reply = services.eutils.elink(
        dbfrom=request.source,
        db=request.target,
        ids=batch,
        cmd=command,
        linkname=request.link_name,
        deadline_ms=SCORES_DEADLINE_MS if command == "neighbor_score" else None,
        read=lambda content: _links_of(content, request, batch),
    )
    return reply.value


def _links_of(content: bytes, request: LinkRequest, batch: list[str]) -> dict[str, list["RawLink"]]:
    from entrez_kit.databases.linksets import parse_linksets

    found: dict[str, list[RawLink]] = {}
    linksets = parse_linksets(content)
    for linkset in linksets:
        if len(linkset.ids) > 1:
            raise UpstreamError(
                "NCBI merged the links of several records, so they cannot be told apart.",
                details={"reason": "invalid_response", "endpoint": "elink"},
            )
        if not linkset.ids or linkset.errors:
            continue  # without a source it is nobody's, with an error no answer: the source is asked for once more
        wanted = [link for link in linkset.links if link.db_to in ("", request.target) and link.id != "0"]
        known = found.setdefault(linkset.ids[0], [])
        known += [link for link in wanted if link not in known]
    if linksets and found.keys().isdisjoint(batch) and not any(linkset.errors for linkset in linksets):
        raise malformed("elink", "links of other records than were asked for")
    return found


@dataclass(slots=True)
class _Existing:
    absent: dict[str, str] = field(default_factory=dict)
    failed: dict[str, EntrezKitError] = field(default_factory=dict)


def _existing(services: Services, db: str, uids: Sequence[str]) -> _Existing:
    """Say which UIDs do not exist, with NCBI's word, and which could not be checked."""
    if not uids:
        return _Existing()
    try:
        known: LookUp = look_up(services, db, uids)
    except InvalidInput:  # a database without summaries gives no verdict
        return _Existing()
    except (UpstreamError, RateLimited) as exc:
        return _Existing(failed=dict.fromkeys(uids, exc))
    return _Existing(known.absent, known.failed)


def _linkset(request: LinkRequest, sources: _SourceIds, found: _Followed, existing: _Existing, given: str) -> LinkSet:
    if given in sources.outcomes:
        status, message = sources.outcomes[given]
        return LinkSet(source_id=given, status=status, message=message)
    uid = sources.uids[given]
    assert uid is not None
    if uid in existing.absent:
        # NCBI invents links for some ids that never existed; they are not passed on.
        return LinkSet(source_id=given, status="not_found", message=existing.absent[uid])
    if links := found.links.get(uid):
        shown = [Link(id=link.id, score=link.score, link_name=link.link_name or None) for link in links]
        return LinkSet(source_id=given, status="linked", links=shown)
    if error := found.failed.get(uid) or existing.failed.get(uid):
        return LinkSet(source_id=given, status="error", message=error.message)
    return LinkSet(source_id=given, status="no_links", message=f"{request.target} has nothing linked to {given}")


def _no_such_links(services: Services, request: LinkRequest) -> list[LinkWarning]:
    """Say so where no record has links because NCBI has none of the kind."""
    try:
        info, _ = describe_database(services, request.source)
    except EntrezKitError:
        return []
    names = [link.name for link in info.links if link.db_to == request.target]
    if request.link_name and request.link_name not in names:
        leads = next((link.db_to for link in info.links if link.name == request.link_name), None)
        what = f"leads to {leads}" if leads else "is not in NCBI's list"
        message = f"The link {request.link_name} {what}; from {request.source} to {request.target} there are: " + (
            ", ".join(names) or "none"
        )
        return [LinkWarning(code="unknown_link", message=f"{message}.")]
    if not names:
        targets = ", ".join(sorted({link.db_to for link in info.links if link.db_to}))
        message = f"NCBI lists no links from {request.source} to {request.target}, but to: {targets or 'nothing'}."
        return [LinkWarning(code="unknown_link", message=message)]
    return []


LINK = Operation(
    name="entrez_link",
    function=entrez_link,
    request=LinkRequest,
    result=LinkResult,
    method="entrez_link",
    command=("db", "link"),
    toolset="entrez",
    title="Follow links between databases",
    errors=(EntityNotFound, UpstreamError, RateLimited),
    mcp_caps={"ids": MAX_MCP_IDS},
    portions=("linksets",),
)
