"""Follow links from any database to any other: one linkset per source record, in the order of the sources."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field

from entrez_kit.base.errors import EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.core.batches import CircuitBreaker, in_batches
from entrez_kit.core.model import Collected, Request, Result, Warn, omit_if_empty
from entrez_kit.core.operation import BatchedOutcomes, Operation
from entrez_kit.databases.info import describe_database
from entrez_kit.databases.names import DatabaseName, check_database
from entrez_kit.databases.summary import IdOutcome, LookUp, look_up, missing_ids
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.services.elink_reply import RawLink

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
    score: int | None = omit_if_empty()
    link_name: str | None = omit_if_empty()


class LinkSet(Result):
    """The links of one source record, in NCBI's order."""

    source_id: str
    status: LinkStatus
    links: list[Link] = Field(default_factory=list)
    message: str | None = omit_if_empty()


class LinkResult(Collected):
    """One linkset per source, in the order of the sources."""

    source: str
    target: str
    linksets: list[LinkSet]
    warnings: list[Warn] = omit_if_empty([])

    def records_inside(self) -> list[Any]:
        """Return a record for every link, with the source it belongs to."""
        return [{"source_id": one.source_id, **found.model_dump()} for one in self.linksets for found in one.links]


class LinkSets(BatchedOutcomes[str, LinkSet]):
    """The links of each source, in order; many are followed in parts."""

    PART, GOOD = 500, ("linked", "no_links")

    def __init__(self, services: Services, request: LinkRequest) -> None:
        super().__init__(services, request.ids)
        self._request = request
        self._breaker = CircuitBreaker(patient=len(request.ids) > BATCH)
        self._scored = request.scores

    def __iter__(self) -> Iterator[LinkSet]:
        request = self._request
        check_database(self._services, request.source, "source")
        check_database(self._services, request.target, "target")
        has_links, has_none = False, False
        for item in super().__iter__():
            has_links, has_none = has_links or bool(item.links), has_none or item.status == "no_links"
            yield item
        if has_none and not has_links:
            self.warnings += _no_such_links(self._services, request)

    def missing_error(self) -> EntrezKitError | None:
        """Report sources that do not exist or were not answered."""
        fields = ({"id": item.source_id, "status": item.status, "message": item.message} for item in self.missing)
        return missing_ids(self._request.source, [IdOutcome.model_validate(one) for one in fields], self.found)

    def _part(self, start: int, inputs: Sequence[str]) -> list[LinkSet]:
        request = self._request
        uids, outcomes = self._sources(inputs)
        unique = list(dict.fromkeys(uids.values()))
        links, failed = self._links(unique)
        self.error = self.error or next(iter(failed.values()), None)
        doubtful = [uid for uid in unique if uid not in failed and (request.verify or not links.get(uid))]
        try:
            existing = look_up(self._services, request.source, doubtful, breaker=self._breaker)
        except InvalidInput:  # a database without summaries gives no verdict
            existing = LookUp(request.source, {})

        def linkset(given: str) -> LinkSet:
            if given in outcomes:
                return outcomes[given]
            uid = uids[given]
            if uid in existing.absent:
                # NCBI invents links for some ids that never existed; they are not passed on.
                return LinkSet(source_id=given, status="not_found", message=existing.outcome(uid).message)
            if found := links.get(uid):
                shown = [Link(id=link.id, score=link.score, link_name=link.link_name or None) for link in found]
                return LinkSet(source_id=given, status="linked", links=shown)
            if error := failed.get(uid) or existing.failed.get(uid):
                return LinkSet(source_id=given, status="error", message=error.message)
            return LinkSet(
                source_id=given, status="no_links", message=f"{request.target} has nothing linked to {given}"
            )

        return [linkset(given) for given in inputs]

    def _sources(self, ids: Sequence[str]) -> tuple[dict[str, str], dict[str, LinkSet]]:
        """Return the UID of each id, and what becomes of those without; ELink answers accessions under UIDs."""
        db = self._request.source
        read = LookUp.of(db, ids).uids
        uids = {given: uid for given, uid in read.items() if uid is not None and uid.isdigit()}
        known = look_up(self._services, db, [given for given in read if given not in uids], breaker=self._breaker)
        self.error = self.error or next(iter(known.failed.values()), None)
        outcomes: dict[str, LinkSet] = {}
        for given, uid in known.uids.items():
            told = known.outcome(given)
            if told.status == "found":
                uids[given] = str(known.documents[uid or ""]["uid"])
            else:
                outcomes[given] = LinkSet(source_id=given, status=told.status, message=told.message)
        return uids, outcomes

    def _links(self, uids: list[str]) -> tuple[dict[str, list["RawLink"]], dict[str, EntrezKitError]]:
        """Ask ELink in batches; sources that its reply leaves out are asked for once more."""
        links: dict[str, list[RawLink]] = {}
        failed: dict[str, EntrezKitError] = {}
        for _ in range(2):
            lacking = [uid for uid in uids if uid not in links and uid not in failed]
            asked = in_batches(lacking, BATCH, self._ask, breaker=self._breaker, at_once=self._services.eutils.at_once)
            for _, found in asked.answers:
                links.update(found)
            failed.update(asked.failed)
            links.update({uid: [] for uid in asked.refused})  # whether it exists is asked next
        for uid in uids:
            if uid not in links and uid not in failed:
                failed[uid] = UpstreamError(
                    f"NCBI left {uid} out of its answer.", details={"reason": "incomplete", "endpoint": "elink"}
                )
        return links, failed

    def _ask(self, batch: list[str]) -> dict[str, list["RawLink"]]:
        """Return the links of each source in one reply, whatever the order of its link sets."""
        from entrez_kit.services.elink_reply import links_by_source

        request = self._request

        def read(content: bytes) -> dict[str, list["RawLink"]]:
            found, _ = links_by_source(
                content, batch, lambda link: link.db_to in ("", request.target) and link.has_target
            )
            return found  # a source that is not in it is asked for once more

        asked = partial(
            self._services.eutils.elink,
            dbfrom=request.source,
            db=request.target,
            ids=batch,
            linkname=request.link_name,
            read=read,
        )
        if self._scored:
            try:
                return asked(cmd="neighbor_score", deadline_ms=SCORES_DEADLINE_MS).value
            except (UpstreamError, RateLimited) as exc:
                if self._scored:  # else another batch in flight has said so
                    self._scored = False
                    message = f"NCBI gave no scores in time, so the links come without them ({exc.message})"
                    self.warnings.append(Warn(code="scores_unavailable", message=message))
        return asked(cmd="neighbor", deadline_ms=None).value


def entrez_link(services: Services, request: LinkRequest) -> LinkSets:
    """Find records in one database linked to records in another, one linkset per source id.

    Use it for any pair of databases, e.g. source "gene", target "clinvar", ids ["672"]. For articles similar to, citing
    or cited by an article use pubmed_article_relationships. Sources that do not exist are told apart from those
    without links.

    Raises:
        InvalidInput: there is no such database.
        UpstreamError: NCBI answered none of the requests.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: ELink; ESummary to tell whether a source exists, EInfo to tell whether there are such links at all.
    """
    return LinkSets(services, request)


def result_of(request: LinkRequest, items: LinkSets) -> LinkResult:
    """Collect the links of a request."""
    linksets = list(items)
    return LinkResult(source=request.source, target=request.target, linksets=linksets, warnings=items.warnings)


def _no_such_links(services: Services, request: LinkRequest) -> list[Warn]:
    """Say so where no record has links because NCBI has none of the kind."""
    try:
        info = describe_database(services, request.source).value
    except EntrezKitError:
        return []
    names = [link.name for link in info.links if link.db_to == request.target]
    if request.link_name and request.link_name not in names:
        leads = next((link.db_to for link in info.links if link.name == request.link_name), None)
        what = f"leads to {leads}" if leads else "is not in NCBI's list"
        message = f"The link {request.link_name} {what}; from {request.source} to {request.target} there are: " + (
            ", ".join(names) or "none"
        )
        return [Warn(code="unknown_link", message=f"{message}.")]
    if not names:
        targets = ", ".join(sorted({link.db_to for link in info.links if link.db_to}))
        message = f"NCBI lists no links from {request.source} to {request.target}, but to: {targets or 'nothing'}."
        return [Warn(code="unknown_link", message=message)]
    return []


LINK = Operation(
    name="entrez_link",
    outcomes=entrez_link,
    collect=result_of,
    command=("db", "link"),
    toolset="entrez",
    title="Follow links between databases",
    mcp_caps={"ids": MAX_MCP_IDS},
    portions=("linksets",),
    inputs=("ids",),
)
