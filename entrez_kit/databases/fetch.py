"""Fetch whole records of any database in any of NCBI's formats."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from pydantic import Field

from entrez_kit.batches import in_batches
from entrez_kit.databases.names import DatabaseName, check_database
from entrez_kit.databases.summary import IdOutcome, LookUp, look_up, missing_ids
from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.model import Request, Result, sparse
from entrez_kit.operation import Operation
from entrez_kit.services import Services

BATCH: Final = 200
"""Records per EFetch; NCBI asks for POST beyond that, and a lost batch costs little."""
MAX_IDS: Final = 10_000
MAX_MCP_IDS: Final = 50


class EntrezFetchRequest(Request):
    """Which records to fetch, and in which format."""

    db: DatabaseName = Field(description='Database of the records, e.g. "nuccore".')
    ids: list[str] = Field(min_length=1, max_length=MAX_IDS, description="UIDs or accessions, up to 10000.")
    rettype: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_]+$", description='What to return, e.g. "fasta".')
    retmode: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9.]+$", description='In which form, e.g. "text" or "xml".'
    )


class FetchWarning(Result):
    """Something about the records that their text does not show; ``code`` is stable."""

    code: str
    message: str


class EntrezFetchResult(Result):
    """The records as NCBI sent them, each once, in the order of the ids; ``outcomes`` is present when any is missing.

    Records that took several requests stand in one content; of XML the frame is NCBI's first one.
    """

    RECORDS: ClassVar = "ids"

    db: str
    ids: list[str]
    rettype: str | None
    retmode: str | None
    content: str
    not_found_ids: list[str] = sparse([])
    outcomes: list[IdOutcome] = sparse([])
    warnings: list[FetchWarning] = sparse([])

    def shortfall(self) -> EntrezKitError | None:
        """Report ids without a record."""
        found = sum(outcome.status == "found" for outcome in self.outcomes)
        return missing_ids(self.db, self.outcomes, found)


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
        InvalidInput: there is no such database or format, or no id has the form of one.
        UpstreamError: NCBI did not answer after every attempt.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: EFetch; ESummary to tell which ids exist, since EFetch leaves others out in silence.
    """
    check_database(services, request.db)
    known = _existing(services, request)
    delivery = _Download(services, request)
    for group, verified in _groups(known, request.ids):
        delivery.fetch(group, verified=verified)
    delivery.doubt({uid for given, uid in known.uids.items() if uid and given in known.documents})
    outcomes = [delivery.outcome(known, given) for given in request.ids]
    found = sum(outcome.status == "found" for outcome in outcomes)
    if not found:
        raise delivery.failure() or _error_of(request.db, outcomes)
    content, whole = joined(delivery.parts)
    if not whole:
        delivery.warn("several_documents", "The records came in several documents, which stand one after the other.")
    if unchecked := [given for given in request.ids if given in known.failed and known.uids[given] in delivery.fetched]:
        delivery.warn("not_verified", f"Whether all of these exist was not checked: {', '.join(unchecked[:10])}")
    return EntrezFetchResult(
        db=request.db,
        ids=list(request.ids),
        rettype=request.rettype,
        retmode=request.retmode,
        content=_text(content),
        not_found_ids=list(dict.fromkeys(outcome.id for outcome in outcomes if outcome.status == "not_found")),
        outcomes=[] if found == len(outcomes) else outcomes,
        warnings=delivery.warnings,
    )


def _error_of(db: str, outcomes: Sequence[IdOutcome]) -> EntrezKitError:
    error = missing_ids(db, outcomes, 0)
    assert error is not None
    return error


def _existing(services: Services, request: EntrezFetchRequest) -> LookUp:
    """Ask which ids exist; where ESummary gives no verdict, as for a database without summaries, all may."""
    try:
        return look_up(services, request.db, request.ids)
    except InvalidInput as exc:
        unknown = LookUp(request.db, LookUp.read(request.db, request.ids))
        unknown.failed = {given: exc for given, uid in unknown.uids.items() if uid is not None}
        return unknown


def _groups(known: LookUp, ids: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
    """Yield ids to fetch together, in order, and whether they are known to exist.

    An accession without a summary may still be one EFetch knows: it is asked for alone, lest it spoils the others.
    """
    group: list[str] = []
    seen: set[str] = set()
    for given in ids:
        uid = known.uids[given]
        if uid is None or uid in seen or (given in known.absent and uid.isdigit()):
            continue
        seen.add(uid)
        if given in known.absent:
            if group:
                yield group, True
            yield [uid], False
            group = []
        else:
            group.append(uid)
    if group:
        yield group, True


@dataclass(slots=True)
class _Download:
    """The records as they come in, and what became of each UID."""

    services: Services
    request: EntrezFetchRequest
    parts: list[bytes] = field(default_factory=list)
    fetched: set[str] = field(default_factory=set)
    refused: dict[str, EntrezKitError] = field(default_factory=dict)
    failed: dict[str, EntrezKitError] = field(default_factory=dict)
    warnings: list[FetchWarning] = field(default_factory=list)

    def fetch(self, uids: list[str], *, verified: bool) -> None:
        """Fetch records; ids that are not known to exist may be refused, the others may not."""
        refusals = (EntityNotFound,) if verified else (EntityNotFound, InvalidInput)
        asked = in_batches(uids, BATCH, self._ask, refusals=refusals, at_once=self.services.eutils.at_once)
        for batch, content in asked.answers:
            self.parts.append(content)
            self.fetched.update(batch)
        self.refused |= asked.refused
        self.failed |= asked.failed

    def _ask(self, uids: list[str]) -> bytes:
        return self.services.eutils.efetch(
            db=self.request.db, ids=uids, rettype=self.request.rettype, retmode=self.request.retmode
        ).content

    def doubt(self, existing: set[str]) -> None:
        """Take what EFetch says it has not, and ESummary describes, for a failure of EFetch."""
        for uid in existing.intersection(self.refused):
            if isinstance(self.refused[uid], EntityNotFound):
                words = self.refused.pop(uid).message.rstrip(".")
                self.failed[uid] = UpstreamError(
                    f"{words}. ESummary describes it all the same.",
                    details={"reason": "contradiction", "service": "eutils", "endpoint": "efetch"},
                )

    def outcome(self, known: LookUp, given: str) -> IdOutcome:
        """Say what became of an id."""
        uid = known.uids[given]
        if uid is not None and uid in self.fetched:
            return IdOutcome(id=given, status="found")
        if uid is not None and uid in self.failed:
            return IdOutcome(id=given, status="error", message=self.failed[uid].message)
        if uid is not None and uid in self.refused:
            return IdOutcome(id=given, status="not_found", message=self.refused[uid].message)
        return known.outcome(given)

    def failure(self) -> EntrezKitError | None:
        """Return the first error by which NCBI failed to answer, if any."""
        return next(iter(self.failed.values()), None)

    def warn(self, code: str, message: str) -> None:
        """Add a warning."""
        self.warnings.append(FetchWarning(code=code, message=message))


_ENCODING: Final = re.compile(rb"""<\?xml[^>]*?encoding=["']([A-Za-z0-9._-]+)["']""")


def _text(content: bytes) -> str:
    """Decode a reply: UTF-8, else what an XML declaration says, else byte by byte, so that nothing is lost."""
    declared = _ENCODING.match(content)
    for encoding in ("utf-8", declared[1].decode("ascii") if declared else "latin-1"):
        try:
            return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return content.decode("latin-1")


FETCH = Operation(
    name="entrez_fetch",
    portions=("content",),
    function=entrez_fetch,
    command=("db", "fetch"),
    toolset="entrez",
    title="Fetch records of any database",
    errors=(EntityNotFound, UpstreamError, RateLimited),
    mcp_caps={"ids": MAX_MCP_IDS},
)


# The replies of several EFetch requests as one: NCBI's own bytes, only the frame of XML once


_BOM: Final = b"\xef\xbb\xbf"
_BEFORE_ROOT: Final = re.compile(rb"(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*", re.DOTALL)
_ROOT: Final = re.compile(rb"<([A-Za-z_][\w.:-]*)(?:\s[^<>]*?)?(/?)>")


def joined(parts: Sequence[bytes]) -> tuple[bytes, bool]:
    """Return replies as one, and whether that is one document.

    Text follows text. Of XML with the same root the records move into the first root; XML of different roots, and
    JSON, can only stand one after the other.
    """
    parts = [part for part in parts if part.strip()]
    if len(parts) <= 1:
        return (parts[0] if parts else b""), True
    starts = {part.removeprefix(_BOM).lstrip()[:1] for part in parts}
    if starts == {b"<"}:
        merged = _merged(parts)
        return (merged, True) if merged is not None else (_lines(parts), False)
    return _lines(parts), not starts & {b"{", b"[", b"<"}


def _lines(parts: Sequence[bytes]) -> bytes:
    return b"".join(part if part.endswith(b"\n") else part + b"\n" for part in parts)


def _merged(parts: Sequence[bytes]) -> bytes | None:
    """Return one XML document, or None where the parts are not of one kind."""
    names: set[bytes] = set()
    frame: tuple[bytes, bytes] | None = None
    records: list[bytes] = []
    for part in parts:
        cut = _cut(part)
        if cut is None:
            return None
        name, before, inner, after = cut
        names.add(name)
        if after:
            records.append(inner)
            frame = frame or (before, after)
    if len(names) != 1:
        return None
    return parts[0] if frame is None else frame[0] + b"".join(records) + frame[1]


def _cut(document: bytes) -> tuple[bytes, bytes, bytes, bytes] | None:
    """Cut a document into name of the root, all up to it, what is inside and the rest; an empty root has no rest."""
    head = _BEFORE_ROOT.match(document.removeprefix(_BOM))
    body = document.removeprefix(_BOM)
    root = _ROOT.match(body, head.end() if head else 0)
    if root is None:
        return None
    name = root[1]
    if root[2]:
        return name, body[: root.end()], b"", b""
    closing = b"</" + name
    end = body.rfind(closing)
    # Where another document follows the first, there is more than one frame.
    if end < root.end() or body.find(b"<?xml", root.end()) != -1:
        return None
    return name, body[: root.end()], body[root.end() : end], body[end:]
