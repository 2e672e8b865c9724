"""Stream PubMed records: N inputs give N outcomes, in order, in constant memory.

Batches are requested in parallel, and each thread parses its own reply. Each reply is compared with the request.
Missing records are requested once more; a record does not exist only if a search does not find it either. A batch
that fails is halved to isolate the records that NCBI cannot return. If the service stops answering, the remaining
batches are not sent.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import parse_qsl, urlsplit

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import CHECK_IDS, GIVE_IDS, RESUME_HINT, Argument, FrontendText, join_names
from entrez_kit.base.identifiers import Identifier, read_identifier
from entrez_kit.base.progress import report_progress
from entrez_kit.core.batches import CircuitBreaker, collect_batches, fetch_in_batches
from entrez_kit.core.model import Result, Warn, omit_if_empty, warn_past_the_last
from entrez_kit.core.operation import Outcomes
from entrez_kit.core.outcomes import build_missing_error
from entrez_kit.services import Services
from entrez_kit.services.small_replies import malformed_error
from entrez_kit.services.transport.in_flight import run_in_order

if TYPE_CHECKING:
    from entrez_kit.pubmed.models import Article
    from entrez_kit.pubmed.xml.records import Record

BATCH: Final = 500
"""Records per EFetch, by POST."""
MANY_REQUESTS: Final = 1_000
"""The number of requests above which NCBI asks users to run jobs at another time."""
PREFERRED_HOURS: Final = "NCBI asks users to run large jobs at weekends or between 21:00 and 5:00 US Eastern time."
REFUSALS: Final = (EntityNotFound, InvalidInput)
DEFAULT_HISTORY_RECORDS: Final = 200

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


def fetch_articles(services: Services, pmids: Sequence[str]) -> "dict[str, Article]":
    """Return the articles by PMID; missing records are omitted.

    Raises:
        UpstreamError: or RateLimited, if every request failed.
    """
    retrieval = Retrieval.of_ids(services, pmids)
    found = {item.record.pmid: item.record.article() for item in retrieval if item.record is not None}
    retrieval.raise_if_nothing_answered()
    return found


class Retrieval(Outcomes[Fetched]):
    """Outcomes of inputs. After iteration ``urls``, ``method``, ``warnings``, ``found`` and ``missing`` are complete.

    Args:
        medline: whether to request records as MEDLINE text.
        patient: whether to wait for an outage of up to a minute to end.
        keep: what to keep of each record; fields that are kept need not be parsed again.
        fetch: yields the outcomes; without it the iteration has none, and only the other methods are of use.
    """

    def __init__(
        self,
        services: Services,
        *,
        medline: bool,
        patient: bool = False,
        keep: Keep = "both",
        fetch: "Callable[[Retrieval], Iterator[Fetched]]" = lambda retrieval: iter(()),
    ) -> None:
        super().__init__()
        self.services = services
        self.medline = medline
        self.keep: Keep = keep
        self.breaker = CircuitBreaker(patient=patient)
        self.urls: list[str] = []
        self.method: Literal["GET", "POST"] = "GET"
        self.found = 0
        self.missing: list[Fetched] = []
        self.retmax: int | None = None
        self.total: int | None = None
        self._resolved: dict[str, str] = {}
        self._stream = fetch(self)

    @classmethod
    def of_ids(
        cls, services: Services, inputs: Sequence[str], *, medline: bool = False, keep: Keep = "both"
    ) -> "Retrieval":
        """Retrieve records by identifier; PMCIDs and DOIs are resolved to PMIDs first."""
        return cls(
            services,
            medline=medline,
            patient=len(inputs) > BATCH,
            keep=keep,
            fetch=lambda retrieval: retrieval._fetch_ids(inputs),
        )

    @classmethod
    def of_history(
        cls,
        services: Services,
        *,
        query_key: str,
        web_env: str,
        retstart: int = 0,
        retmax: int | None = None,
        medline: bool = False,
        keep: Keep = "both",
    ) -> "Retrieval":
        """Retrieve records of a result set kept at NCBI; without ``retmax`` the first 200."""
        return cls(
            services,
            medline=medline,
            keep=keep,
            fetch=lambda retrieval: retrieval._fetch_history(query_key, web_env, retstart, retmax),
        )

    def __iter__(self) -> Iterator[Fetched]:
        for item in self._stream:
            if item.status == "found":
                self.found += 1
            else:
                self.missing.append(item)
            yield item

    def raise_if_nothing_answered(self) -> None:
        """Raise the first error if every request failed, so that a failure is not reported as "not found".

        Raises:
            UpstreamError: or RateLimited, the first error of the requests; ``details.missing`` names the inputs.
        """
        first = next((item.error for item in self.missing if item.status == "error"), None)
        if first is None or self.found or any(item.status == "not_found" for item in self.missing):
            return
        raise first.copy_with(missing=[item.input for item in self.missing])

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for inputs without a record, or for a result set with missing records."""
        missing, found = [item.outcome for item in self.missing], self.found
        incomplete = next((warning.message for warning in self.warnings if warning.code == "history_incomplete"), None)
        failed = sum(outcome.status == "error" for outcome in missing)
        named, source = join_names(outcome.input for outcome in missing), tracing.name_source(begins=True)
        share = f"{len(missing)} of {len(missing) + found}"
        no_ids = f"Not {'a PMID, PMCID or DOI' if len(missing) == 1 else 'PMIDs, PMCIDs or DOIs'}: {named}."
        statuses = {outcome.status for outcome in missing}
        if statuses == {"invalid"}:
            message = no_ids
        elif statuses == {"not_found"}:
            message = f"{source} has no record of {named}{f' ({share} ids)' if found else ''}."
        else:
            reasons = {"invalid": "not an id", "not_found": f"not in {tracing.name_source()}"}
            message = f"{share} ids have no record: " + join_names(
                f"{outcome.input} ({reasons.get(outcome.status, outcome.status)})" for outcome in missing
            )
            message += "."
        return build_missing_error(
            missing,
            found,
            "input",
            unanswered=incomplete or f"{failed} records could not be fetched; {found} were fetched.",
            invalid=None if found else (InvalidInput, no_ids, GIVE_IDS, "invalid_identifiers"),
            unknown=(message, CHECK_IDS),
            lost=incomplete is not None,
        )

    def batch(self, pmids: Sequence[str]) -> "tuple[dict[str, Record], dict[str, EntrezKitError]]":
        """Fetch one batch of PMIDs; return the records and the errors. PMIDs in neither do not exist."""
        requested = collect_batches(pmids, BATCH, self._fetch_verified, refusals=REFUSALS, breaker=self.breaker)
        records: dict[str, Record] = {}
        failed = dict(requested.failed)
        for _, got in requested.answers:
            records |= {pmid: item.record for pmid, item in got.items() if item.record is not None}
            failed |= {pmid: item.error for pmid, item in got.items() if item.error is not None}
        failed |= {pmid: error for pmid, error in requested.refused.items() if isinstance(error, InvalidInput)}
        return records, failed

    # by identifier

    def _fetch_ids(self, inputs: Sequence[str]) -> Iterator[Fetched]:
        if len(inputs) > BATCH:
            report_progress(0, len(inputs))
        invalid = {text for text in inputs if read_identifier(text) is None}
        answered = self._yield_outcomes([text for text in inputs if text not in invalid])
        for text in inputs:
            if text in invalid:
                yield Fetched(text, None, "invalid", message="not a PMID, PMCID or DOI")
            else:
                yield next(answered)

    def _yield_outcomes(self, inputs: Sequence[str]) -> Iterator[Fetched]:
        """Yield the outcomes of identifiers; batches are fetched and parsed in parallel."""
        at_once = self.services.eutils.at_once
        for part in fetch_in_batches(
            inputs, BATCH, self._fetch_batch, refusals=REFUSALS, breaker=self.breaker, at_once=at_once
        ):
            if part.error is None:
                yield from part.answers[0]
                continue
            for text in part.ids:
                identifier = read_identifier(text)
                assert identifier is not None
                value = identifier.value
                pmid = value if identifier.kind == "pmid" else self._resolved.get(value)
                refused = isinstance(part.error, EntityNotFound)
                yield _to_not_found(text, pmid, pmid) if refused else _to_failed(text, pmid, part.error)

    def _fetch_batch(self, inputs: Sequence[str]) -> list[Fetched]:
        """Fetch the records of a batch of identifiers.

        Raises:
            EntrezKitError: no identifier was resolved, or NCBI refused the whole batch.
        """
        read = {text: identifier for text in inputs if (identifier := read_identifier(text)) is not None}
        known: dict[str, Fetched] = {}
        resolved = self._resolve([identifier for identifier in read.values() if identifier.kind != "pmid"], known)
        unresolved = [error for error in resolved.values() if isinstance(error, EntrezKitError)]
        if unresolved and len(unresolved) == len({identifier.value for identifier in read.values()}):
            raise unresolved[0]
        self._resolved.update((value, pmid) for value, pmid in resolved.items() if isinstance(pmid, str))
        resolved |= {identifier.value: identifier.value for identifier in read.values() if identifier.kind == "pmid"}
        pmids = [resolved.get(identifier.value) for identifier in read.values()]
        wanted = list(dict.fromkeys(pmid for pmid in pmids if isinstance(pmid, str)))
        records = {pmid: known[pmid] for pmid in wanted if pmid in known}
        if rest := [pmid for pmid in wanted if pmid not in records]:
            records |= self._fetch_verified(rest)
        return [_to_outcome(text, read[text].value, resolved.get(read[text].value), records) for text in inputs]

    def _resolve(
        self, identifiers: Sequence[Identifier], known: dict[str, Fetched]
    ) -> "dict[str, str | EntrezKitError | None]":
        """Map identifiers to PMIDs; add the records that a search found to ``known``."""
        if not identifiers:
            return {}
        from entrez_kit.pubmed.resolution import resolve

        def fetch(pmids: Sequence[str]) -> "list[Record]":
            found = self._request_records(pmids)
            known.update((item.input, item) for item in found)
            return [item.record for item in found if item.record is not None]

        return resolve(self.services, identifiers, self.fetch_by_pmid if self.medline else fetch)

    def fetch_by_pmid(self, pmids: Sequence[str]) -> "list[Record]":
        """Fetch the records of PMIDs, to compare their identifiers.

        Raises:
            UpstreamError: NCBI did not answer.
        """

        def read(content: bytes) -> "list[Record]":
            return [record for record in self._parse_records(content) if record.kind != "deleted"]

        return self.services.eutils.efetch(db="pubmed", ids=list(pmids), retmode="xml", read=read).value

    # requests

    def _fetch_verified(self, pmids: list[str]) -> dict[str, Fetched]:
        """Fetch PMIDs, and verify that missing ones do not exist; a record that exists and is missing is an error."""
        try:
            found = self._request(pmids)
        except EntityNotFound:
            if self.services.eutils.known_uids("pubmed", pmids):
                raise  # invalid PMIDs in the batch caused the refusal; smaller batches will return the others
            return {}
        missing = [pmid for pmid in pmids if pmid not in found]
        if not missing:
            return found
        try:
            found |= self._request(missing, fresh=True)
            missing = [pmid for pmid in missing if pmid not in found]
            known = self.services.eutils.known_uids("pubmed", missing)
        except EntityNotFound:
            known = set()
        except (UpstreamError, RateLimited) as exc:
            return found | {pmid: _to_failed(pmid, pmid, exc) for pmid in missing}
        return found | {pmid: _to_failed(pmid, pmid, _withheld_error(pmid)) for pmid in known}

    def _request(self, pmids: list[str], *, fresh: bool = False) -> dict[str, Fetched]:
        wanted = set(pmids)
        return {item.input: item for item in self._request_records(pmids, fresh=fresh) if item.input in wanted}

    def _request_records(self, ids: Sequence[str] | None = None, **options: Any) -> list[Fetched]:
        """Request records by their ids, or a page of a result set, which EFetch's parameters in ``options`` name."""
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
        found: list[Fetched] = reply.value
        return found

    def _read_reply(self, content: bytes, ids: Sequence[str] | None) -> list[Fetched]:
        """Return the records of a reply.

        Raises:
            UpstreamError: a record is invalid, comes twice or was not requested.
        """
        if self.medline:
            from entrez_kit.services.flat_files import read_medline

            found = [Fetched(pmid, pmid, "found", medline=text) for pmid, text in read_medline(content)]
        else:
            found = [
                Fetched(record.pmid, record.pmid, "found", record=record) for record in self._parse_records(content)
            ]
        if ids is not None and (foreign := next((item for item in found if item.input not in ids), None)):
            raise malformed_error("efetch", f"the record {foreign.input}, which was not requested")
        found = [item for item in found if item.record is None or item.record.kind != "deleted"]
        if len({item.input for item in found}) < len(found):
            raise malformed_error("efetch", "it has a record twice")
        return found

    def _parse_records(self, content: bytes) -> "Iterator[Record]":
        from entrez_kit.pubmed.xml.records import read_records

        for record in read_records(content):
            if record.kind != "deleted" and not _TITLE.search(record.raw):
                raise malformed_error("efetch", f"the record {record.pmid} has no content")
            if self.keep != "raw":
                record.pack(raw=self.keep == "both")
            yield record

    # by history

    def _fetch_history(self, query_key: str, web_env: str, retstart: int, retmax: int | None) -> Iterator[Fetched]:
        reply = self.services.eutils.esearch(
            db="pubmed", term=f"#{query_key}", webenv=web_env, usehistory=True, retmax=0
        )
        total = self.total = reply.value.count
        wanted = DEFAULT_HISTORY_RECORDS if retmax is None else retmax
        self.retmax = wanted
        expected = max(0, min(wanted, total - retstart))
        self.breaker.patient = expected > BATCH
        if retmax is None and total - retstart > DEFAULT_HISTORY_RECORDS:
            self.warnings.append(
                Warn(
                    code="history_page",
                    message=FrontendText(
                        f"The result set has {total} records; {expected} from number {retstart} on are returned. ",
                        *("Set ", Argument("retmax"), ", or ", Argument("retstart"), " for the next records."),
                    ),
                )
            )
        self.warnings += warn_past_the_last(retstart, total, "records", "retstart")
        last = retstart + expected
        pages = (
            partial(self._fetch_page, query_key, web_env, start, min(BATCH, last - start))
            for start in range(retstart, last, BATCH)
        )
        seen: set[str] = set()
        why = ""
        try:
            report_progress(0, expected)
            for page in run_in_order(pages, self.services.eutils.at_once if expected > BATCH else 1):
                new = [item for item in page if item.input not in seen]
                if len(new) < len(page):
                    why = ": two pages contain the same record."
                seen.update(item.input for item in new)
                yield from new
                report_progress(len(seen), expected)
        except (UpstreamError, RateLimited, InvalidInput) as exc:
            if not seen:
                raise
            why = f": {exc.message}"
        finally:
            self.urls.sort(key=lambda url: int(dict(parse_qsl(urlsplit(url).query)).get("retstart", 0)))
        if why or len(seen) < expected:
            message = f"NCBI returned {len(seen)} of {expected} records of the result set{why or '.'}"
            self.warnings.append(Warn(code="history_incomplete", message=message))

    def _fetch_page(self, query_key: str, web_env: str, start: int, size: int) -> list[Fetched]:
        """Fetch one page. If the result set has several pages, wait and retry a page that fails."""
        attempts = 0
        while True:
            try:
                best: list[Fetched] = []
                for _ in range(2):  # NCBI sometimes truncates a page, so a short page is requested once more
                    page = self._request_records(query_key=query_key, webenv=web_env, retstart=start, retmax=size)
                    if len(page) > len(best):
                        best = page
                    if len(best) >= size:
                        break
                return best[:size]
            except (UpstreamError, RateLimited) as exc:
                waits = self.breaker.probe_waits(exc)
                if attempts >= len(waits):
                    raise
                wait = waits[attempts]
            attempts += 1
            time.sleep(wait)


def _to_outcome(text: str, value: str, pmid: str | EntrezKitError | None, records: Mapping[str, Fetched]) -> Fetched:
    if isinstance(pmid, EntrezKitError):
        return _to_failed(text, None, pmid)
    if pmid is not None and pmid in records:
        return replace(records[pmid], input=text)
    return _to_not_found(text, pmid, pmid or value)


def _to_not_found(text: str, pmid: str | None, what: str | None) -> Fetched:
    return Fetched(text, pmid, "not_found", message=f"{tracing.name_source(begins=True)} has no record of {what}")


def _to_failed(text: str, pmid: str | None, error: EntrezKitError) -> Fetched:
    return Fetched(text, pmid, "error", message=error.message, error=error)


def _withheld_error(pmid: str) -> UpstreamError:
    return UpstreamError(
        f"NCBI did not return the record of PMID {pmid}, although a search of PubMed finds it.",
        recovery_hint=RESUME_HINT,
        details={"reason": "incomplete", "service": "eutils", "endpoint": "efetch"},
    )
