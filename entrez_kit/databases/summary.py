"""Document summaries of any database: N ids in, N outcomes out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, NamedTuple

from pydantic import Field

from entrez_kit.base.errors import EntrezKitError, InvalidInput, UpstreamError
from entrez_kit.base.frontend_text import Argument, FrontendText, NextCall, join_names
from entrez_kit.core.batches import CircuitBreaker, collect_batches
from entrez_kit.core.model import Request, Result, Warned, omit_if_empty
from entrez_kit.core.operation import AgentOptions, Item, StreamOperation
from entrez_kit.core.outcomes import BatchedOutcomes, build_missing_error
from entrez_kit.databases.names import DatabaseName, check_database, read_uid
from entrez_kit.services import Services
from entrez_kit.services.esummary_reply import Summaries, parse_documents

BATCH: Final = 200
"""Ids per request. Above 500 UIDs in JSON, ESummary fails without an error."""
MAX_IDS: Final = 10_000
MAX_MCP_IDS: Final = 200
ACCESSIONS: Final = ("accessionversion", "caption", "assemblyaccession", "accession")
"""Fields of a summary that contain accessions of the record."""

IdStatus = Literal["found", "not_found", "invalid", "error"]


class SummaryRequest(Request):
    """The database and the ids of the records."""

    INPUTS: ClassVar = "ids"

    db: DatabaseName = Field(description='Database of the records, e.g. "gene".')
    ids: list[str] = Field(min_length=1, max_length=MAX_IDS, description="UIDs or accessions, in any order.")


class IdOutcome(Result):
    """The outcome of one id of the input."""

    id: str
    status: IdStatus
    message: str | None = omit_if_empty()


class SummaryResult(Warned):
    """Document summaries in the order of the ids; the fields are the database's own.

    ``outcomes`` is present if an id was not found.
    """

    RECORDS: ClassVar = "summaries"

    db: str
    ids: list[str]
    summaries: list[dict[str, Any]]
    not_found_ids: list[str]
    outcomes: list[IdOutcome] = omit_if_empty([])


def build_missing_ids_error(
    db: str, missing: Sequence[IdOutcome], found_count: int, rettype: str | None = None, *, argument: str | None = None
) -> EntrezKitError | None:
    """Return the error for a document with missing ids.

    Args:
        rettype: the type of a fetch, if the type or the ids may be wrong.
        argument: the argument that names the database, if it has a default.
    """
    messages: dict[IdStatus, str] = {
        "not_found": f"The database {db} has no record of {{}}.",
        "invalid": f"Not ids of the database {db}: {{}}.",
    }
    cause = FrontendText("Check the ids", *((" and ", Argument(argument)) if argument is not None else ()))
    if rettype is not None:
        messages["not_found"] = f"The database {db} returned no record of {{}} as {rettype!r}."
        cause = FrontendText("Check ", Argument("rettype"), " (for example fasta or gb) and the ids")
    named = {
        status: join_names(outcome.id or "''" for outcome in missing if outcome.status == status)
        for status in (*messages, "error")
    }
    text = " ".join(words.format(named[status]) for status, words in messages.items() if named[status])
    hint = FrontendText(cause, ", or call ", NextCall("entrez_search", db=db, term=...), ".")
    return build_missing_error(
        missing,
        found_count,
        "id",
        unanswered=f"NCBI did not answer for {named['error']} in {db}.",
        invalid=None if found_count else (InvalidInput, text, hint, "invalid_ids"),
        unknown=(text, hint),
    )


class OfIds(BatchedOutcomes[str, Item]):
    """The outcome of each id of a database, in order; long lists are requested in parts."""

    BATCH_SIZE = 1_000

    def __init__(self, services: Services, db: str, ids: Sequence[str]) -> None:
        super().__init__(services, ids)
        self._db = db
        self._breaker = CircuitBreaker(patient=len(ids) > BATCH)

    def _get_outcome(self, item: Any) -> IdOutcome:
        outcome: IdOutcome = item.outcome
        return outcome

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for ids without a record."""
        return build_missing_ids_error(self._db, self.missing, self.found)


class SummaryOutcome(NamedTuple):
    """The outcome of one id, and its summary if it was found."""

    outcome: IdOutcome
    document: dict[str, Any] | None


class DocumentSummaries(OfIds[SummaryOutcome]):
    """The summary of each id, or the reason why it is missing."""

    def _request_batch(self, start: int, inputs: Sequence[str]) -> Iterator[SummaryOutcome]:
        if not start:
            check_database(self._services, self._db)
        lookup = look_up(self._services, self._db, inputs, breaker=self._breaker)
        self.error = self.error or next(iter(lookup.failed.values()), None)
        for input_id in inputs:
            yield SummaryOutcome(lookup.find_outcome(input_id), lookup.documents.get(lookup.uids[input_id] or ""))


def entrez_summary(services: Services, request: SummaryRequest) -> DocumentSummaries:
    """Return document summaries of records in any Entrez database.

    Use it to identify records before you fetch them. Example: db "taxonomy", ids ["9606", "10090"]. Each database has
    its own fields, with NCBI's names. `not_found_ids` lists ids that do not exist.

    Raises:
        InvalidInput: the database does not exist.
        UpstreamError: NCBI answered none of the requests.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: ESummary 2.0, JSON.
    """
    return DocumentSummaries(services, request.db, request.ids)


def collect_result(request: SummaryRequest, items: DocumentSummaries) -> SummaryResult:
    """Collect the summaries of a request."""
    outcomes = list(items)
    not_found = [outcome.id for outcome in items.missing if outcome.status == "not_found"]
    return SummaryResult(
        db=request.db,
        ids=list(request.ids),
        summaries=[item.document for item in outcomes if item.document is not None],
        not_found_ids=list(dict.fromkeys(not_found)),
        outcomes=[item.outcome for item in outcomes] if items.missing else [],
    )


@dataclass(slots=True)
class LookUp:
    """The results of ESummary for ids: ``uids`` has NCBI's form of each id, None if it is not an id of the database.

    Each UID or accession is in ``documents``, in ``absent`` with the reason, or in ``failed`` with the error.
    """

    db: str
    uids: dict[str, str | None]
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    failed: dict[str, EntrezKitError] = field(default_factory=dict)

    @classmethod
    def of(cls, db: str, ids: Sequence[str]) -> "LookUp":
        """Read ids of a database, without a request."""
        return cls(db, {input_id: read_uid(db, input_id) for input_id in ids})

    @property
    def wanted(self) -> list[str]:
        """The ids to request, each once."""
        return list(dict.fromkeys(uid for uid in self.uids.values() if uid is not None))

    def find_outcome(self, input_id: str) -> IdOutcome:
        """Return the outcome of an id."""
        uid = self.uids[input_id]
        if uid is None:
            return IdOutcome(id=input_id, status="invalid", message=f"not an id of {self.db}")
        if uid in self.documents:
            return IdOutcome(id=input_id, status="found")
        if uid in self.failed:
            return IdOutcome(id=input_id, status="error", message=self.failed[uid].message)
        message = f"{self.db} has no record of {input_id} ({self.absent[uid]})"
        return IdOutcome(id=input_id, status="not_found", message=message)


def look_up(services: Services, db: str, ids: Sequence[str], *, breaker: CircuitBreaker | None = None) -> LookUp:
    """Fetch the summaries of ids; distinguish ids without an answer from ids that do not exist.

    Args:
        breaker: the circuit breaker of earlier requests.

    Raises:
        InvalidInput: NCBI refuses the request for a reason other than its ids.
    """
    lookup = LookUp.of(db, ids)
    failed: dict[str, EntrezKitError] = {}

    def fetch_batch(batch: list[str]) -> Summaries:
        summaries = services.eutils.esummary(
            db=db, ids=batch, version="2.0", retmode="json", partial=True, read=parse_documents
        )
        return summaries.value

    def request_batches(group: list[str], size: int) -> None:
        requested = collect_batches(group, size, fetch_batch, breaker=breaker, at_once=services.eutils.at_once)
        for batch, part in requested.answers:
            lookup.documents.update(part.documents)
            lookup.absent.update(part.problems)
            _assign_accessions(batch, part.documents, lookup.documents)
        lookup.absent.update({uid: error.message for uid, error in requested.refused.items()})
        failed.update(requested.failed)

    def list_unanswered() -> list[str]:
        return [uid for uid in lookup.wanted if uid not in lookup.documents and uid not in lookup.absent]

    # NCBI refuses a whole request if one id is not a UID, so other ids are sent separately.
    request_batches([uid for uid in lookup.wanted if uid.isdigit()], BATCH)
    request_batches([uid for uid in lookup.wanted if not uid.isdigit()], BATCH)
    left_out = [uid for uid in list_unanswered() if uid not in failed]
    request_batches(left_out, 1 if any(not uid.isdigit() for uid in left_out) else BATCH)
    for uid in list_unanswered():
        lookup.failed[uid] = failed.get(uid) or UpstreamError(
            f"NCBI's reply about {db} does not contain {uid}.", details={"reason": "incomplete", "endpoint": "esummary"}
        )
    return lookup


def _assign_accessions(
    batch: Sequence[str], returned: dict[str, dict[str, Any]], documents: dict[str, dict[str, Any]]
) -> None:
    """Assign documents to accessions of the request, because NCBI's reply names only UIDs."""
    for uid in batch:
        if uid.isdigit() or uid in documents:
            continue
        if len(batch) == len(returned) == 1:
            documents[uid] = next(iter(returned.values()))
            continue
        for document in returned.values():
            if uid.lower() in {str(document.get(key, "")).lower() for key in ACCESSIONS}:
                documents[uid] = document
                break


SUMMARY = StreamOperation(
    name="entrez_summary",
    request=SummaryRequest,
    result=SummaryResult,
    outcomes=entrez_summary,
    collect=collect_result,
    command=("db", "summary"),
    toolset="entrez",
    title="Summarize records of any database",
    agents=AgentOptions(
        portions=("summaries",),
        inputs=("ids",),
        caps={"ids": MAX_MCP_IDS},
    ),
)
