"""Fetch whole records of any database in any of NCBI's formats."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

from pydantic import Field

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, UpstreamError
from entrez_kit.base.frontend_text import list_names
from entrez_kit.core.batches import CircuitBreaker, in_batches
from entrez_kit.core.model import Collected, Request, Warn, omit_if_empty
from entrez_kit.core.operation import Operation
from entrez_kit.databases.names import DatabaseName, check_database
from entrez_kit.databases.summary import IdOutcome, LookUp, OfIds, look_up
from entrez_kit.services import Services
from entrez_kit.services.fetched_records import check_records

BATCH: Final = 200
"""Records per EFetch; NCBI asks for POST beyond that, and a lost batch costs little."""
MAX_IDS: Final = 10_000
MAX_MCP_IDS: Final = 50


class EntrezFetchRequest(Request):
    """Which records to fetch, and in which format."""

    db: DatabaseName = Field(description='Database of the records, e.g. "nuccore".')
    ids: list[str] = Field(min_length=1, max_length=MAX_IDS, description="UIDs or accessions.")
    rettype: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_]+$", description='What to return, e.g. "fasta".')
    retmode: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9.]+$", description='In which form, e.g. "text" or "xml".'
    )


class EntrezFetchResult(Collected):
    """The records as NCBI sent them, each once, in the order of the ids; ``outcomes`` is present when any is missing.

    Records that took several requests stand in one content; of XML the frame is NCBI's first one.
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
    """What became of one id, and what follows in the text of all records: all that came with the record, or nothing."""

    outcome: IdOutcome
    content: str


class FetchedRecords(OfIds[FetchedRecord]):
    """The record of each id, or why there is none; what they bring is one text when it is put together."""

    def __init__(self, services: Services, request: EntrezFetchRequest) -> None:
        super().__init__(services, request.db, request.ids)
        self._request = request
        self._records = CircuitBreaker(patient=len(request.ids) > BATCH)
        self._fetched: set[str] = set()
        self._unchecked: list[str] = []

    def __iter__(self) -> Iterator[FetchedRecord]:
        check_database(self._services, self._request.db)
        text = JoinedReplies()
        held: FetchedRecord | None = None
        for item in super().__iter__():
            if held is not None:
                yield held
            held = item._replace(content=text.add(item.content))
        if not self.found and (error := self.error or self.missing_error()):
            raise error
        if held is not None:
            yield held._replace(content=held.content + text.end())
        if not text.whole:
            several = "The records came in several documents, which stand one after the other."
            self.warnings.append(Warn(code="several_documents", message=several))
        if self._unchecked:
            message = f"Whether all of these exist was not checked: {list_names(self._unchecked)}"
            self.warnings.append(Warn(code="not_verified", message=message, terms=self._unchecked))

    def _part(self, start: int, inputs: Sequence[str]) -> Iterator[FetchedRecord]:
        known = self._existing(inputs)
        contents: dict[str, bytes] = {}
        refused: dict[str, EntrezKitError] = {}
        failed: dict[str, EntrezKitError] = {}
        for group, verified in self._groups(known):
            # Ids that are not known to exist may be refused, the others may not.
            refusals = (EntityNotFound,) if verified else (EntityNotFound, InvalidInput)
            at_once = self._services.eutils.at_once
            ask = partial(self._ask, known.documents)
            asked = in_batches(group, BATCH, ask, refusals=refusals, breaker=self._records, at_once=at_once)
            for batch, content in asked.answers:
                contents[batch[0]] = content
                self._fetched.update(batch)
            refused |= asked.refused
            failed |= asked.failed
        for uid, error in refused.items():
            # What EFetch says it has not, and ESummary describes, is a failure of EFetch.
            if uid in known.documents and isinstance(error, EntityNotFound):
                failed[uid] = UpstreamError(
                    f"{error.message.rstrip('.')}. ESummary describes it all the same.",
                    details={"reason": "contradiction", "service": "eutils", "endpoint": "efetch"},
                )
        self.error = self.error or next(iter(failed.values()), None)
        for given in inputs:
            uid = known.uids[given] or ""
            if uid in self._fetched:
                if uid in known.failed:
                    self._unchecked.append(given)
                yield FetchedRecord(IdOutcome(id=given, status="found"), _text(contents.pop(uid, b"")))
            elif uid in failed:
                yield FetchedRecord(IdOutcome(id=given, status="error", message=failed[uid].message), "")
            elif uid in refused:
                yield FetchedRecord(IdOutcome(id=given, status="not_found", message=refused[uid].message), "")
            else:
                yield FetchedRecord(known.outcome(given), "")

    def _existing(self, ids: Sequence[str]) -> LookUp:
        """Ask which ids exist; where ESummary gives no verdict, as for a database without summaries, all may."""
        db = self._request.db
        try:
            return look_up(self._services, db, ids, breaker=self._breaker)
        except InvalidInput as exc:
            unknown = LookUp.of(db, ids)
            unknown.failed.update(dict.fromkeys(unknown.wanted, exc))
            return unknown

    def _groups(self, known: LookUp) -> Iterator[tuple[list[str], bool]]:
        """Yield ids to fetch together, in order, and whether they are known to exist.

        An accession without a summary may still be one EFetch knows: it is asked for alone, lest it spoils the others.
        """
        group: list[str] = []
        for uid in known.wanted:
            if uid in self._fetched or (uid in known.absent and uid.isdigit()):
                continue
            if uid in known.absent:
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
        read = partial(check_records, uids, documents, rettype=request.rettype, retmode=request.retmode)
        return self._services.eutils.efetch(
            db=request.db, ids=uids, rettype=request.rettype, retmode=request.retmode, read=read
        ).content


def entrez_fetch(services: Services, request: EntrezFetchRequest) -> FetchedRecords:
    """Fetch whole records from any Entrez database as NCBI formats them.

    Use it for sequences, taxonomy, SNPs and other records without a tool of their own. For PubMed articles and genes
    pubmed_fetch_contents and get_gene return parsed records. Example: db "nuccore", ids ["NM_000546.6"], rettype
    "fasta", retmode "text". Ids that do not exist are named in `not_found_ids`.

    Raises:
        EntityNotFound: none of the ids exist.
        InvalidInput: there is no such database or format, or no id has the form of one.
        UpstreamError: NCBI did not answer after every attempt.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: EFetch; ESummary to tell which ids exist, since EFetch leaves others out in silence.
    """
    return FetchedRecords(services, request)


def result_of(request: EntrezFetchRequest, items: FetchedRecords) -> EntrezFetchResult:
    """Put the records of a request together."""
    found = list(items)
    return EntrezFetchResult(
        db=request.db,
        ids=list(request.ids),
        rettype=request.rettype,
        retmode=request.retmode,
        content="".join(item.content for item in found),
        not_found_ids=list(dict.fromkeys(one.id for one in items.missing if one.status == "not_found")),
        outcomes=[item.outcome for item in found] if items.missing else [],
        warnings=items.warnings,
    )


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
    inputs=("ids",),
    outcomes=entrez_fetch,
    collect=result_of,
    command=("db", "fetch"),
    toolset="entrez",
    title="Fetch records of any database",
    mcp_caps={"ids": MAX_MCP_IDS},
)


# The replies of several EFetch requests as one: NCBI's own text, only the frame of XML once


_BOM: Final = "\ufeff"
_BEFORE_ROOT: Final = re.compile(r"(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*", re.DOTALL)
_ROOT: Final = re.compile(r"<([A-Za-z_][\w.:-]*)(?:\s[^<>]*?)?(/?)>")


class JoinedReplies:
    """Makes one text of replies as they come.

    Text follows text. Of XML with the same root the records move into the first root; XML of different roots, and
    JSON, can only stand one after the other: then it is not ``whole``.
    """

    def __init__(self) -> None:
        self.whole = True
        self._kind = ""
        self._rest = ""  # what is still to come of the document under way
        self._is_empty = False  # whether that is all of it, a root with nothing inside
        self._last = ""
        self._in_lines = False

    def add(self, reply: str) -> str:
        """Return what follows in the text because of a reply."""
        if not reply.strip():
            return ""
        name, before, inner, after = split_frame(reply) or ("", reply, "", "")
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
        """Return what is left when all replies are there."""
        text, self._rest = self._rest, ""
        last = text[-1:] or self._last
        return f"{text}\n" if self._in_lines and last != "\n" else text


def split_frame(document: str) -> tuple[str, str, str, str] | None:
    """Cut XML into name of the root, all up to it, what is inside and the rest; an empty root has no rest."""
    head = _BEFORE_ROOT.match(document, document.startswith(_BOM))
    root = _ROOT.match(document, head.end() if head else 0)
    if root is None:
        return None
    if root[2]:
        return root[1], document, "", ""
    end = document.rfind(f"</{root[1]}")
    # Where another document follows the first, there is more than one frame.
    if end < root.end() or document.find("<?xml", root.end()) != -1:
        return None
    return root[1], document[: root.end()], document[root.end() : end], document[end:]
