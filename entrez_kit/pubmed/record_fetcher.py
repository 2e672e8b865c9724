"""Stream PubMed records: N inputs give N outcomes, in order, in constant memory.

Batches are requested in parallel (`record_batches.py`). The records of a result set at NCBI are requested in pages
(`history_fetcher.py`).
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import CHECK_IDS, GIVE_IDS, format_count, join_names
from entrez_kit.base.identifiers import Identifier, read_identifier
from entrez_kit.base.progress import report_progress
from entrez_kit.core.batches import fetch_in_batches
from entrez_kit.core.operation import Outcomes
from entrez_kit.core.outcomes import build_missing_error
from entrez_kit.pubmed.record_batches import BATCH, REFUSALS, Fetched, Keep, RecordBatches
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.pubmed.models import Article
    from entrez_kit.pubmed.xml.records import Record

MANY_REQUESTS: Final = 1_000
"""The number of requests above which NCBI asks users to run jobs at another time."""
PREFERRED_HOURS: Final = "NCBI asks users to run large jobs at weekends or between 21:00 and 5:00 US Eastern time."


def fetch_articles(services: Services, pmids: Sequence[str]) -> "dict[str, Article]":
    """Return the articles by PMID; missing records are omitted.

    Raises:
        UpstreamError: or RateLimited, if every request failed.
    """
    retrieval = Retrieval.of_ids(services, pmids)
    articles = {item.record.pmid: item.record.article() for item in retrieval if item.record is not None}
    retrieval.raise_if_nothing_answered()
    return articles


class Retrieval(Outcomes[Fetched]):
    """Outcomes of inputs. After the iteration ``warnings``, ``found_count`` and ``missing`` are complete."""

    retmax: int | None = None
    """The number of records requested of a result set at NCBI."""
    total: int | None = None
    """The number of records in a result set at NCBI."""

    def __init__(self, batches: RecordBatches) -> None:
        super().__init__()
        self.batches = batches
        self.found_count = 0
        self.missing: list[Fetched] = []

    @classmethod
    def of_ids(
        cls, services: Services, inputs: Sequence[str], *, medline: bool = False, keep: Keep = "both"
    ) -> "Retrieval":
        """Retrieve records by identifier; PMCIDs and DOIs are resolved to PMIDs first."""
        batches = RecordBatches(services, medline=medline, patient=len(inputs) > BATCH, keep=keep)
        return _IdRetrieval(batches, inputs)

    @abstractmethod
    def _fetch(self) -> Iterator[Fetched]:
        """Yield the outcomes."""

    def _yield_items(self) -> Iterator[Fetched]:
        for item in self._fetch():
            if item.status == "found":
                self.found_count += 1
            else:
                self.missing.append(item)
            yield item

    def raise_if_nothing_answered(self) -> None:
        """Raise the first error if every request failed, so that a failure is not reported as "not found".

        Raises:
            UpstreamError: or RateLimited, the first error of the requests; ``details.missing`` names the inputs.
        """
        first = next((item.error for item in self.missing if item.status == "error"), None)
        if first is None or self.found_count or any(item.status == "not_found" for item in self.missing):
            return
        raise first.copy_with(missing=[item.input for item in self.missing])

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for inputs without a record, or for a result set with missing records."""
        missing, found_count = [item.outcome for item in self.missing], self.found_count
        incomplete = next((warning.message for warning in self.warnings if warning.code == "history_incomplete"), None)
        failed = sum(outcome.status == "error" for outcome in missing)
        named, source = join_names(outcome.input for outcome in missing), tracing.name_source(begins=True)
        share = f"{len(missing):,} of {format_count(len(missing) + found_count, 'id')}"
        no_ids = f"Not {'a PMID, PMCID or DOI' if len(missing) == 1 else 'PMIDs, PMCIDs or DOIs'}: {named}."
        statuses = {outcome.status for outcome in missing}
        if statuses == {"invalid"}:
            message = no_ids
        elif statuses == {"not_found"}:
            message = f"{source} has no record of {named}{f' ({share})' if found_count else ''}."
        else:
            reasons = {"invalid": "not an id", "not_found": f"not in {tracing.name_source()}"}
            message = f"No record for {share}: " + join_names(
                f"{outcome.input} ({reasons.get(outcome.status, outcome.status)})" for outcome in missing
            )
            message += "."
        return build_missing_error(
            missing,
            found_count,
            "input",
            unanswered=incomplete
            or f"{format_count(failed, 'record')} could not be fetched; {found_count} were fetched.",
            invalid=None if found_count else (InvalidInput, no_ids, GIVE_IDS, "invalid_identifiers"),
            unknown=(message, CHECK_IDS),
            lost=incomplete is not None,
        )


class _IdRetrieval(Retrieval):
    """Records by their identifiers: PMIDs, PMCIDs and DOIs."""

    def __init__(self, batches: RecordBatches, inputs: Sequence[str]) -> None:
        super().__init__(batches)
        self._inputs = inputs
        self._resolved: dict[str, str] = {}

    def _fetch(self) -> Iterator[Fetched]:
        inputs = self._inputs
        if len(inputs) > BATCH:
            report_progress(0, len(inputs))
        invalid = {text for text in inputs if read_identifier(text) is None}
        outcomes = self._yield_outcomes([text for text in inputs if text not in invalid])
        for text in inputs:
            if text in invalid:
                yield Fetched(text, None, "invalid", message="not a PMID, PMCID or DOI")
            else:
                yield next(outcomes)

    def _yield_outcomes(self, inputs: Sequence[str]) -> Iterator[Fetched]:
        """Yield the outcomes of identifiers; batches are fetched and parsed in parallel."""
        at_once = self.batches.services.eutils.at_once
        for part in fetch_in_batches(
            inputs, BATCH, self._fetch_batch, refusals=REFUSALS, breaker=self.batches.breaker, at_once=at_once
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
                yield Fetched.of_missing(text, pmid, pmid) if refused else Fetched.of_error(text, pmid, part.error)

    def _fetch_batch(self, inputs: Sequence[str]) -> list[Fetched]:
        """Fetch the records of a batch of identifiers.

        Raises:
            EntrezKitError: no identifier was resolved, or NCBI refused the whole batch.
        """
        read = {text: identifier for text in inputs if (identifier := read_identifier(text)) is not None}
        fetched_by_pmid: dict[str, Fetched] = {}
        resolved = self._resolve(
            [identifier for identifier in read.values() if identifier.kind != "pmid"], fetched_by_pmid
        )
        unresolved = [error for error in resolved.values() if isinstance(error, EntrezKitError)]
        if unresolved and len(unresolved) == len({identifier.value for identifier in read.values()}):
            raise unresolved[0]
        self._resolved.update((value, pmid) for value, pmid in resolved.items() if isinstance(pmid, str))
        resolved |= {identifier.value: identifier.value for identifier in read.values() if identifier.kind == "pmid"}
        pmids = [resolved.get(identifier.value) for identifier in read.values()]
        unique_pmids = list(dict.fromkeys(pmid for pmid in pmids if isinstance(pmid, str)))
        records = {pmid: fetched_by_pmid[pmid] for pmid in unique_pmids if pmid in fetched_by_pmid}
        if rest := [pmid for pmid in unique_pmids if pmid not in records]:
            records |= self.batches.fetch_verified(rest)
        return [_to_outcome(text, read[text].value, resolved.get(read[text].value), records) for text in inputs]

    def _resolve(
        self, identifiers: Sequence[Identifier], fetched_by_pmid: dict[str, Fetched]
    ) -> "dict[str, str | EntrezKitError | None]":
        """Map identifiers to PMIDs; add the records that a search found to ``fetched_by_pmid``."""
        if not identifiers:
            return {}
        from entrez_kit.pubmed.resolution import resolve

        def fetch(pmids: Sequence[str]) -> "list[Record]":
            fetched = self.batches.request_records(pmids)
            fetched_by_pmid.update(fetched)
            return [item.record for item in fetched.values() if item.record is not None]

        return resolve(
            self.batches.services, identifiers, self.batches.fetch_by_pmid if self.batches.medline else fetch
        )


def _to_outcome(text: str, value: str, pmid: str | EntrezKitError | None, records: Mapping[str, Fetched]) -> Fetched:
    if isinstance(pmid, EntrezKitError):
        return Fetched.of_error(text, None, pmid)
    if pmid is not None and pmid in records:
        return replace(records[pmid], input=text)
    return Fetched.of_missing(text, pmid, pmid or value)
