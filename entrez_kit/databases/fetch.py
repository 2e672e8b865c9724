"""Fetch whole records of any database in any of NCBI's formats."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

from pydantic import Field

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, UpstreamError
from entrez_kit.base.frontend_text import join_names
from entrez_kit.base.markup import XML_ENCODING
from entrez_kit.core.batches import CircuitBreaker, collect_batches
from entrez_kit.core.model import NAME_PATTERN, NAME_WITH_DOTS, Collected, Request, Warn, omit_if_empty
from entrez_kit.core.operation import AgentOptions, StreamOperation
from entrez_kit.databases.names import DatabaseName, check_database
from entrez_kit.databases.summary import IdOutcome, LookUp, OfIds, build_missing_ids_error, look_up
from entrez_kit.services import Services
from entrez_kit.services.fetched_records import check_records

BATCH: Final = 200
"""Records per EFetch. For more ids NCBI requires POST, and a small batch loses little if it fails."""
MAX_IDS: Final = 10_000
MAX_MCP_IDS: Final = 50


class EntrezFetchRequest(Request):
    """The records to fetch, and their format."""

    INPUTS: ClassVar = "ids"

    db: DatabaseName = Field(description='Database of the records, e.g. "nuccore".')
    ids: list[str] = Field(min_length=1, max_length=MAX_IDS, description="UIDs or accessions.")
    rettype: str | None = Field(default=None, pattern=NAME_PATTERN, description='What to return, e.g. "fasta".')
    retmode: str | None = Field(default=None, pattern=NAME_WITH_DOTS, description='Format, e.g. "text" or "xml".')


class EntrezFetchResult(Collected):
    """The records as NCBI sent them, each once, in the order of the ids; ``outcomes`` is present if any is missing.

    The replies of several requests are joined to one ``content``; XML has the root element of the first reply.
    """

    RECORDS: ClassVar = "ids"

    db: str
    ids: list[str]
    rettype: str | None
    retmode: str | None
    content: str
    not_found_ids: list[str] = omit_if_empty([])
    outcomes: list[IdOutcome] = omit_if_empty([])
    warnings: list[Warn] = omit_if_empty([])


class FetchedRecord(NamedTuple):
    """The outcome of one id, and the next part of the joined text, which may be empty."""

    outcome: IdOutcome
    content: str


class FetchedRecords(OfIds[FetchedRecord]):
    """The record of each id, or the reason why it is missing; the contents of all items are one text."""

    def __init__(self, services: Services, request: EntrezFetchRequest) -> None:
        super().__init__(services, request.db, request.ids)
        self._request = request
        self._records = CircuitBreaker(patient=len(request.ids) > BATCH)
        self._fetched: set[str] = set()
        self._unchecked: list[str] = []
        self._may_be_wrong_type = False

    def _yield_items(self) -> Iterator[FetchedRecord]:
        check_database(self._services, self._request.db)
        text = JoinedReplies()
        pending: FetchedRecord | None = None
        for item in super()._yield_items():
            if pending is not None:
                yield pending
            pending = item._replace(content=text.add(item.content))
        if not self.found and (error := self.error or self.missing_error()):
            raise error
        if pending is not None:
            yield pending._replace(content=pending.content + text.end())
        if not text.whole:
            several = "The content is a sequence of several documents, because they could not be joined."
            self.warnings.append(Warn(code="several_documents", message=several))
        if self._unchecked:
            message = f"The existence of these ids was not verified: {join_names(self._unchecked)}"
            self.warnings.append(Warn(code="not_verified", message=message, terms=self._unchecked))

    def _request_batch(self, start: int, inputs: Sequence[str]) -> Iterator[FetchedRecord]:
        lookup = self._look_up_ids(inputs)
        contents: dict[str, bytes] = {}
        refused: dict[str, EntrezKitError] = {}
        failed: dict[str, EntrezKitError] = {}
        for group, verified in self._group_ids(lookup):
            # NCBI may refuse ids that were not verified, but not the others.
            refusals = (EntityNotFound,) if verified else (EntityNotFound, InvalidInput)
            at_once = self._services.eutils.at_once
            ask = partial(self._ask, lookup.documents)
            requested = collect_batches(group, BATCH, ask, refusals=refusals, breaker=self._records, at_once=at_once)
            for batch, content in requested.answers:
                contents[batch[0]] = content
                self._fetched.update(batch)
            refused |= requested.refused
            failed |= requested.failed
        for uid, error in refused.items():
            # If ESummary has a record that EFetch does not find, EFetch has failed.
            if uid in lookup.documents and isinstance(error, EntityNotFound):
                failed[uid] = UpstreamError(
                    f"{error.message.rstrip('.')}. However, ESummary has a summary of it.",
                    details={"reason": "contradiction", "service": "eutils", "endpoint": "efetch"},
                )
        self.error = self.error or next(iter(failed.values()), None)
        for input_id in inputs:
            uid = lookup.uids[input_id] or ""
            if uid in self._fetched:
                if uid in lookup.failed:
                    self._unchecked.append(input_id)
                yield FetchedRecord(IdOutcome(id=input_id, status="found"), _decode(contents.pop(uid, b"")))
            elif uid in failed:
                yield FetchedRecord(IdOutcome(id=input_id, status="error", message=failed[uid].message), "")
            elif uid in refused:
                self._may_be_wrong_type = True  # ESummary did not say whether the id exists
                yield FetchedRecord(IdOutcome(id=input_id, status="not_found", message=refused[uid].message), "")
            else:
                yield FetchedRecord(lookup.find_outcome(input_id), "")

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for ids without a record."""
        rettype = self._request.rettype if self._may_be_wrong_type else None
        return build_missing_ids_error(self._db, self.missing, self.found, rettype)

    def _look_up_ids(self, ids: Sequence[str]) -> LookUp:
        """Look up which ids exist. If the database has no summaries, no id is verified."""
        db = self._request.db
        try:
            return look_up(self._services, db, ids, breaker=self._breaker)
        except InvalidInput as exc:
            unknown = LookUp.of(db, ids)
            unknown.failed.update(dict.fromkeys(unknown.wanted, exc))
            return unknown

    def _group_ids(self, lookup: LookUp) -> Iterator[tuple[list[str], bool]]:
        """Yield groups of ids to fetch, in order, and whether they are verified.

        EFetch may have an accession without a summary. It is requested alone, because EFetch may refuse its request.
        """
        group: list[str] = []
        for uid in lookup.wanted:
            if uid in self._fetched or (uid in lookup.absent and uid.isdigit()):
                continue
            if uid in lookup.absent:
                if group:
                    yield group, True
                yield [uid], False
                group = []
            else:
                group.append(uid)
        if group:
            yield group, True

    def _ask(self, documents: Mapping[str, Mapping[str, Any]], uids: list[str]) -> bytes:
        request = self._request
        db, rettype, retmode = request.db, request.rettype, request.retmode
        read = partial(check_records, uids, documents, db=db, rettype=rettype, retmode=retmode, cut=set())
        return self._services.eutils.efetch(db=db, ids=uids, rettype=rettype, retmode=retmode, read=read).content


def entrez_fetch(services: Services, request: EntrezFetchRequest) -> FetchedRecords:
    """Fetch whole records from any Entrez database in NCBI's formats.

    Use it for sequences, taxonomy, SNPs and other records without a separate tool. For PubMed articles and genes
    pubmed_fetch_contents and get_gene return parsed records. Example: db "nuccore", ids ["NM_000546.6"], rettype
    "fasta", retmode "text". `not_found_ids` lists ids that do not exist.

    Raises:
        EntityNotFound: none of the ids exists.
        InvalidInput: the database or format does not exist, or every id is invalid.
        UpstreamError: no attempt got a valid reply.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: EFetch; ESummary to check which ids exist, because EFetch omits unknown ids without an error.
    """
    return FetchedRecords(services, request)


def collect_result(request: EntrezFetchRequest, items: FetchedRecords) -> EntrezFetchResult:
    """Join the records of a request."""
    outcomes = list(items)
    return EntrezFetchResult(
        db=request.db,
        ids=list(request.ids),
        rettype=request.rettype,
        retmode=request.retmode,
        content="".join(item.content for item in outcomes),
        not_found_ids=list(dict.fromkeys(outcome.id for outcome in items.missing if outcome.status == "not_found")),
        outcomes=[item.outcome for item in outcomes] if items.missing else [],
        warnings=items.warnings,
    )


def _decode(content: bytes) -> str:
    """Decode a reply: as UTF-8, else by the XML declaration, else as Latin-1. A byte order mark is removed."""
    declared = XML_ENCODING.match(content)
    for encoding in ("utf-8-sig", declared[1].decode("ascii") if declared else "latin-1"):
        try:
            return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return content.decode("latin-1")


FETCH = StreamOperation(
    name="entrez_fetch",
    request=EntrezFetchRequest,
    result=EntrezFetchResult,
    outcomes=entrez_fetch,
    collect=collect_result,
    command=("db", "fetch"),
    toolset="entrez",
    title="Fetch records of any database",
    agents=AgentOptions(
        portions=("content",),
        inputs=("ids",),
        caps={"ids": MAX_MCP_IDS},
    ),
)


# Joining the replies of several EFetch requests


_BOM: Final = "\ufeff"
_BEFORE_ROOT: Final = re.compile(r"(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*", re.DOTALL)
_ROOT: Final = re.compile(r"<([A-Za-z_][\w.:-]*)(?:\s[^<>]*?)?(/?)>")


class JoinedReplies:
    """The joined text of several replies.

    Plain texts are concatenated. The records of XML replies with the same root move into the first root. XML with
    different roots, and JSON, are concatenated to several documents; then ``whole`` is false.
    """

    def __init__(self) -> None:
        self.whole = True
        self._kind = ""
        self._rest = ""  # the end of the current document, which is not written yet
        self._is_empty = False  # whether the current document is only an empty root
        self._last = ""
        self._in_lines = False

    def add(self, reply: str) -> str:
        """Add a reply, and return the next part of the joined text."""
        if not reply.strip():
            return ""
        name, before, inner, after = split_frame(reply) or XmlFrame("", reply, "", "")
        kind = f"<{name}" if name else "text" if reply.removeprefix(_BOM).lstrip()[0] not in "<{[" else "document"
        if name and kind == self._kind:
            if not after:
                return ""
            text = before + inner if self._is_empty else inner
            self._rest, self._is_empty = after if self._is_empty else self._rest, False
        else:
            self.whole = self.whole and (not self._kind or kind == self._kind == "text")
            self._in_lines = bool(self._kind)
            text, self._kind, self._is_empty = self.end(), kind, bool(name and not after)
            self._rest = before if self._is_empty else after
            text += "" if self._is_empty else before + inner
        self._last = text[-1:] or self._last
        return text

    def end(self) -> str:
        """Return the rest of the text after the last reply."""
        text, self._rest = self._rest, ""
        last = text[-1:] or self._last
        return f"{text}\n" if self._in_lines and last != "\n" else text


class XmlFrame(NamedTuple):
    """The parts of an XML document: the name of its root, the text up to the root's content, the content, the rest."""

    root: str
    head: str
    content: str
    tail: str


def split_frame(document: str) -> XmlFrame | None:
    """Split an XML document at the content of its root; None if it is not XML. An empty root has no tail."""
    head = _BEFORE_ROOT.match(document, document.startswith(_BOM))
    root = _ROOT.match(document, head.end() if head else 0)
    if root is None:
        return None
    if root[2]:
        return XmlFrame(root[1], document, "", "")
    end = document.rfind(f"</{root[1]}")
    # A second XML declaration means that another document follows.
    if end < root.end() or document.find("<?xml", root.end()) != -1:
        return None
    return XmlFrame(root[1], document[: root.end()], document[root.end() : end], document[end:])
