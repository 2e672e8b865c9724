"""Request PubMed records in batches, and compare each reply with the request.

Each thread parses its own reply. Missing records are requested once more; a record does not exist only if a search does
not find it either. A batch that fails is halved to isolate the records that NCBI cannot return. If the service stops
answering, the remaining batches are not sent.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import RESUME_HINT
from entrez_kit.core.batches import CircuitBreaker, collect_batches
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.services import Services
from entrez_kit.services.small_replies import malformed_error

if TYPE_CHECKING:
    from entrez_kit.pubmed.xml.records import Record

BATCH: Final = 500
"""Records per EFetch, by POST."""
REFUSALS: Final = (EntityNotFound, InvalidInput)

_TITLE: Final = re.compile(rb"<(?:ArticleTitle|BookTitle)\b")
"""NLM's DTD requires one of them in every record; it may be empty."""

Status = Literal["found", "not_found", "invalid", "error"]
Keep = Literal["raw", "fields", "both"]
"""The parts of a record that are kept until it is yielded: its bytes (raw), its parsed fields, or both."""


class InputOutcome(Result):
    """The outcome of one input."""

    input: str
    pmid: str | None = omit_if_empty()
    status: Status
    message: str | None = omit_if_empty()


@dataclass(frozen=True, slots=True)
class Fetched:
    """The outcome of one input; if it was found, its ``record`` or ``medline`` (NCBI's bytes)."""

    input: str
    pmid: str | None
    status: Status
    record: "Record | None" = None
    medline: bytes | None = None
    message: str | None = None
    error: EntrezKitError | None = None

    @classmethod
    def of_missing(cls, text: str, pmid: str | None, missing: str | None) -> "Fetched":
        """Return the outcome of an input without a record; ``missing`` is what PubMed does not have."""
        message = f"{tracing.name_source(begins=True)} has no record of {missing}"
        return cls(text, pmid, "not_found", message=message)

    @classmethod
    def of_error(cls, text: str, pmid: str | None, error: EntrezKitError) -> "Fetched":
        """Return the outcome of an input that could not be fetched."""
        return cls(text, pmid, "error", message=error.message, error=error)

    @property
    def outcome(self) -> InputOutcome:
        """The outcome without the record."""
        return InputOutcome(input=self.input, pmid=self.pmid, status=self.status, message=self.message)

    @property
    def code(self) -> str:
        """The code of the error of this input."""
        if self.error is not None:
            return self.error.code
        return InvalidInput.code if self.status == "invalid" else EntityNotFound.code


class RecordBatches:
    """Requests of one retrieval. ``urls`` and ``method`` are those of the requests so far.

    Args:
        medline: whether to request records as MEDLINE text.
        patient: whether to wait for an outage of up to a minute to end.
        keep: what to keep of each record; fields that are kept need not be parsed again.
    """

    def __init__(
        self, services: Services, *, medline: bool = False, patient: bool = False, keep: Keep = "both"
    ) -> None:
        self.services = services
        self.medline = medline
        self.keep: Keep = keep
        self.breaker = CircuitBreaker(patient=patient)
        self.urls: list[str] = []
        self.method: Literal["GET", "POST"] = "GET"

    def fetch_pmids(self, pmids: Sequence[str]) -> "tuple[dict[str, Record], dict[str, EntrezKitError]]":
        """Fetch PMIDs; return the records and the errors. PMIDs in neither do not exist."""
        requested = collect_batches(pmids, BATCH, self.fetch_verified, refusals=REFUSALS, breaker=self.breaker)
        records: dict[str, Record] = {}
        failed = dict(requested.failed)
        for _, batch in requested.answers:
            records |= {pmid: item.record for pmid, item in batch.items() if item.record is not None}
            failed |= {pmid: item.error for pmid, item in batch.items() if item.error is not None}
        failed |= {pmid: error for pmid, error in requested.refused.items() if isinstance(error, InvalidInput)}
        return records, failed

    def fetch_by_pmid(self, pmids: Sequence[str]) -> "list[Record]":
        """Fetch the records of PMIDs, to compare their identifiers.

        Raises:
            UpstreamError: NCBI did not answer.
        """

        def read_records(content: bytes) -> "list[Record]":
            return [record for record in self._parse_records(content) if record.kind != "deleted"]

        return self.services.eutils.efetch(db="pubmed", ids=list(pmids), retmode="xml", read=read_records).value

    def fetch_verified(self, pmids: list[str]) -> dict[str, Fetched]:
        """Fetch PMIDs, and verify that missing ones do not exist; a record that exists and is missing is an error."""
        try:
            fetched = self.request_records(pmids)
        except EntityNotFound:
            if self.services.eutils.known_uids("pubmed", pmids):
                raise  # invalid PMIDs in the batch caused the refusal; smaller batches will return the others
            return {}
        missing = [pmid for pmid in pmids if pmid not in fetched]
        if not missing:
            return fetched
        try:
            fetched |= self.request_records(missing, fresh=True)
            missing = [pmid for pmid in missing if pmid not in fetched]
            known_pmids = self.services.eutils.known_uids("pubmed", missing)
        except EntityNotFound:
            known_pmids = set()
        except (UpstreamError, RateLimited) as exc:
            return fetched | {pmid: Fetched.of_error(pmid, pmid, exc) for pmid in missing}
        return fetched | {pmid: Fetched.of_error(pmid, pmid, _withheld_error(pmid)) for pmid in known_pmids}

    def request_records(self, ids: Sequence[str] | None = None, **options: Any) -> dict[str, Fetched]:
        """Request records by their ids, or a page of a result set, which EFetch's parameters in ``options`` name.

        Returns:
            The records by PMID, in the order of the reply.
        """
        reply = self.services.eutils.efetch(
            db="pubmed",
            ids=ids,
            rettype="medline" if self.medline else None,
            retmode="text" if self.medline else "xml",
            read=lambda content: self._read_reply(content, ids),
            **options,
        )
        self.method = reply.method
        if reply.url not in self.urls:
            self.urls.append(reply.url)
        fetched: dict[str, Fetched] = reply.value
        return fetched

    def _read_reply(self, content: bytes, ids: Sequence[str] | None) -> dict[str, Fetched]:
        """Return the records of a reply by PMID.

        Raises:
            UpstreamError: a record is invalid, comes twice or was not requested.
        """
        if self.medline:
            from entrez_kit.services.flat_files import read_medline

            fetched = [Fetched(pmid, pmid, "found", medline=text) for pmid, text in read_medline(content)]
        else:
            fetched = [
                Fetched(record.pmid, record.pmid, "found", record=record) for record in self._parse_records(content)
            ]
        if ids is not None and (foreign := next((item for item in fetched if item.input not in ids), None)):
            raise malformed_error("efetch", f"the record {foreign.input}, which was not requested")
        fetched = [item for item in fetched if item.record is None or item.record.kind != "deleted"]
        fetched_by_pmid = {item.input: item for item in fetched}
        if len(fetched_by_pmid) < len(fetched):
            raise malformed_error("efetch", "it has a record twice")
        return fetched_by_pmid

    def _parse_records(self, content: bytes) -> "Iterator[Record]":
        from entrez_kit.pubmed.xml.records import read_records

        for record in read_records(content):
            if record.kind != "deleted" and not _TITLE.search(record.raw):
                raise malformed_error("efetch", f"the record {record.pmid} has no content")
            if self.keep != "raw":
                record.pack(raw=self.keep == "both")
            yield record


def _withheld_error(pmid: str) -> UpstreamError:
    return UpstreamError(
        f"NCBI did not return the record of PMID {pmid}, although a search of PubMed finds it.",
        recovery_hint=RESUME_HINT,
        details={"reason": "incomplete", "service": "eutils", "endpoint": "efetch"},
    )
