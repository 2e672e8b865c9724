"""Follow links from any database to any other: one set of links per source record, in the order of the sources."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from pydantic import Field

from entrez_kit.base.errors import EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.core.batches import CircuitBreaker, collect_batches
from entrez_kit.core.model import NAME_PATTERN, Collected, Request, Result, Warn, omit_if_empty
from entrez_kit.core.operation import AgentOptions, StreamOperation
from entrez_kit.core.outcomes import BatchedOutcomes
from entrez_kit.databases.info import describe_database
from entrez_kit.databases.names import DatabaseName, check_database
from entrez_kit.databases.summary import IdOutcome, LookUp, build_missing_ids_error, look_up
from entrez_kit.services import Services
from entrez_kit.services.elink_reply import group_links_by_source

if TYPE_CHECKING:
    from entrez_kit.services.elink_reply import RawLink

BATCH: Final = 100
"""Source records per ELink. Each has a separate id parameter; otherwise NCBI would merge their links into one set."""
MAX_IDS: Final = 5_000
MAX_MCP_IDS: Final = 200
SCORES_DEADLINE_MS: Final = 10_000
"""The time limit of scores: those of much-cited records may take minutes. Links without scores do not."""

LinkStatus = Literal["linked", "no_links", "not_found", "invalid", "error"]


class LinkRequest(Request):
    """The source records, the target database and the kind of link."""

    INPUTS: ClassVar = "ids"

    ids: list[str] = Field(min_length=1, max_length=MAX_IDS, description="Ids of the source records.")
    source: DatabaseName = Field(default="pubmed", description="Database of the ids.")
    target: DatabaseName = Field(default="pmc", description="Database of the linked records.")
    link_name: str | None = Field(
        default=None, pattern=NAME_PATTERN, description='One kind of link only, e.g. "pubmed_pubmed_refs".'
    )
    scores: bool = Field(default=False, description="Request NCBI's similarity scores, if it has them.")
    verify: bool = Field(
        default=False, description="Check that every source exists; by default only those without links are checked."
    )


class Link(Result):
    """A linked record, the kind of link, and NCBI's score if it has one. The scale of scores varies."""

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
    """One set of links per source, in the order of the sources."""

    source: str
    target: str
    linksets: list[LinkSet]
    warnings: list[Warn] = omit_if_empty([])

    def records_inside(self) -> list[Any]:
        """Return a record for every link, with its source."""
        return [
            {"source_id": linkset.source_id, **link.model_dump()} for linkset in self.linksets for link in linkset.links
        ]


class LinkSets(BatchedOutcomes[str, LinkSet]):
    """The links of each source, in order; long lists are followed in parts."""

    BATCH_SIZE, GOOD = 500, ("linked", "no_links")

    def __init__(self, services: Services, request: LinkRequest) -> None:
        super().__init__(services, request.ids)
        self._request = request
        self._breaker = CircuitBreaker(patient=len(request.ids) > BATCH)
        self._scored = request.scores

    def _yield_items(self) -> Iterator[LinkSet]:
        request = self._request
        check_database(self._services, request.source, "source")
        check_database(self._services, request.target, "target")
        has_links, has_none = False, False
        for item in super()._yield_items():
            has_links, has_none = has_links or bool(item.links), has_none or item.status == "no_links"
            yield item
        if has_none and not has_links:
            self.warnings += _warn_of_unknown_links(self._services, request)

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for sources that do not exist or that NCBI did not answer for."""
        fields = ({"id": item.source_id, "status": item.status, "message": item.message} for item in self.missing)
        outcomes = [IdOutcome.model_validate(field) for field in fields]
        return build_missing_ids_error(self._request.source, outcomes, self.found, argument="source")

    def _request_batch(self, start: int, inputs: Sequence[str]) -> list[LinkSet]:
        request = self._request
        uids, outcomes = self._resolve_sources(inputs)
        unique = list(dict.fromkeys(uids.values()))
        links, failed = self._fetch_links(unique)
        self.error = self.error or next(iter(failed.values()), None)
        doubtful = [uid for uid in unique if uid not in failed and (request.verify or not links.get(uid))]
        try:
            existing = look_up(self._services, request.source, doubtful, breaker=self._breaker)
        except InvalidInput:  # the database has no summaries, so the check is not possible
            existing = LookUp(request.source, {})

        def build_linkset(source_id: str) -> LinkSet:
            if source_id in outcomes:
                return outcomes[source_id]
            uid = uids[source_id]
            if uid in existing.absent:
                # NCBI returns links for some ids that never existed; these links are dropped.
                return LinkSet(source_id=source_id, status="not_found", message=existing.find_outcome(uid).message)
            if raw_links := links.get(uid):
                target_links = [
                    Link(id=link.id, score=link.score, link_name=link.link_name or None) for link in raw_links
                ]
                return LinkSet(source_id=source_id, status="linked", links=target_links)
            if error := failed.get(uid) or existing.failed.get(uid):
                return LinkSet(source_id=source_id, status="error", message=error.message)
            return LinkSet(
                source_id=source_id, status="no_links", message=f"{request.target} has no records linked to {source_id}"
            )

        return [build_linkset(source_id) for source_id in inputs]

    def _resolve_sources(self, ids: Sequence[str]) -> tuple[dict[str, str], dict[str, LinkSet]]:
        """Return the UID of each id, and the outcomes of ids without one. ELink names sources by UID only."""
        db = self._request.source
        read = LookUp.of(db, ids).uids
        uids = {source_id: uid for source_id, uid in read.items() if uid is not None and uid.isdigit()}
        lookup = look_up(
            self._services, db, [source_id for source_id in read if source_id not in uids], breaker=self._breaker
        )
        self.error = self.error or next(iter(lookup.failed.values()), None)
        outcomes: dict[str, LinkSet] = {}
        for source_id, uid in lookup.uids.items():
            outcome = lookup.find_outcome(source_id)
            if outcome.status == "found":
                uids[source_id] = str(lookup.documents[uid or ""]["uid"])
            else:
                outcomes[source_id] = LinkSet(source_id=source_id, status=outcome.status, message=outcome.message)
        return uids, outcomes

    def _fetch_links(self, uids: list[str]) -> tuple[dict[str, list["RawLink"]], dict[str, EntrezKitError]]:
        """Request links in batches; request sources that a reply omits once more."""
        links: dict[str, list[RawLink]] = {}
        failed: dict[str, EntrezKitError] = {}
        for _ in range(2):
            missing = [uid for uid in uids if uid not in links and uid not in failed]
            requested = collect_batches(
                missing, BATCH, self._request_links, breaker=self._breaker, at_once=self._services.eutils.at_once
            )
            for _, batch_links in requested.answers:
                links.update(batch_links)
            failed.update(requested.failed)
            links.update({uid: [] for uid in requested.refused})  # the caller checks next whether it exists
        for uid in uids:
            if uid not in links and uid not in failed:
                failed[uid] = UpstreamError(
                    f"NCBI's reply does not contain {uid}.", details={"reason": "incomplete", "endpoint": "elink"}
                )
        return links, failed

    def _request_links(self, batch: list[str]) -> dict[str, list["RawLink"]]:
        """Return the links of each source in one reply; the link sets may be in any order."""
        request = self._request

        def read_links(content: bytes) -> dict[str, list["RawLink"]]:
            by_source, _ = group_links_by_source(
                content, batch, lambda link: link.db_to in ("", request.target) and link.has_target
            )
            return by_source  # the caller requests missing sources once more

        requested = partial(
            self._services.eutils.elink,
            dbfrom=request.source,
            db=request.target,
            ids=batch,
            linkname=request.link_name,
            read=read_links,
        )
        if self._scored:
            try:
                return requested(cmd="neighbor_score", deadline_ms=SCORES_DEADLINE_MS).value
            except (UpstreamError, RateLimited) as exc:
                if self._scored:  # otherwise a parallel batch has already warned
                    self._scored = False
                    message = f"NCBI returned no scores in time, so the links have no scores ({exc.message})"
                    self.warnings.append(Warn(code="scores_unavailable", message=message))
        return requested(cmd="neighbor", deadline_ms=None).value


def entrez_link(services: Services, request: LinkRequest) -> LinkSets:
    """Find records in one database linked to records in another, one set of links per source id.

    Use it for any pair of databases, e.g. source "gene", target "clinvar", ids ["672"]. For articles similar to, citing
    or cited by an article use pubmed_article_relationships. A source that does not exist has the status "not_found", a
    source without links "no_links".

    Raises:
        InvalidInput: the database does not exist.
        UpstreamError: NCBI answered none of the requests.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: ELink; ESummary to check that a source exists, EInfo to check that the kind of link exists.
    """
    return LinkSets(services, request)


def collect_result(request: LinkRequest, items: LinkSets) -> LinkResult:
    """Collect the links of a request."""
    linksets = list(items)
    return LinkResult(source=request.source, target=request.target, linksets=linksets, warnings=items.warnings)


def _warn_of_unknown_links(services: Services, request: LinkRequest) -> list[Warn]:
    """Warn that NCBI has no links of this kind for any record."""
    try:
        info = describe_database(services, request.source).value
    except EntrezKitError:
        return []
    names = [link.name for link in info.links if link.db_to == request.target]
    if request.link_name and request.link_name not in names:
        target = next((link.db_to for link in info.links if link.name == request.link_name), None)
        problem = f"leads to {target}" if target else "is not in NCBI's list"
        message = f"The link {request.link_name} {problem}. Links from {request.source} to {request.target}: " + (
            ", ".join(names) or "none"
        )
        return [Warn(code="unknown_link", message=f"{message}.")]
    if not names:
        targets = ", ".join(sorted({link.db_to for link in info.links if link.db_to}))
        message = f"NCBI has no links from {request.source} to {request.target}, only to: {targets or 'none'}."
        return [Warn(code="unknown_link", message=message)]
    return []


LINK = StreamOperation(
    name="entrez_link",
    request=LinkRequest,
    result=LinkResult,
    outcomes=entrez_link,
    collect=collect_result,
    command=("db", "link"),
    toolset="entrez",
    title="Follow links between databases",
    agents=AgentOptions(
        caps={"ids": MAX_MCP_IDS},
        portions=("linksets",),
        inputs=("ids",),
    ),
)
