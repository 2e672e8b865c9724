"""Check references: does each exist, does it agree with its record, and was its work retracted?

A record is found by identifier. If the identifiers lead to no record or to another work, it is found by journal, volume
and page, or by title. A valid identifier is not sufficient: made-up references often have the DOI of a real article.
The publication status is looked up in all sources (``lookup/sources.py``).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from entrez_kit.base.errors import EntrezKitError, RateLimited, UpstreamError
from entrez_kit.base.progress import report_progress
from entrez_kit.core.operation import AgentOptions, StreamOperation
from entrez_kit.core.outcomes import SummarizedOutcomes, drain
from entrez_kit.pubmed.brief import format_brief_citation
from entrez_kit.references.check.assess import Assessment, assess
from entrez_kit.references.check.check_request import CheckFileRequest, CheckRequest, FileToCheck
from entrez_kit.references.check.check_result import CheckedReference, CheckResult
from entrez_kit.references.check.corrections import Corrections, find_newer
from entrez_kit.references.check.findings import STATUSES
from entrez_kit.references.check.judge_status import judge_status
from entrez_kit.references.check.lookup.find_records import find_records
from entrez_kit.references.check.lookup.sources import Sources
from entrez_kit.references.check.summary import summarize_files, warn_of_duplicates, warn_of_unused
from entrez_kit.references.files.references import Reference
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import run_in_order

BATCH: Final = 120
"""References that are looked up together: the ids of whole requests to the ID Converter, Europe PMC and Crossref."""
BATCHES_AT_ONCE: Final = 3
"""While a batch waits for one service, the other batches can send requests to the other services."""
MAX_MCP_REFERENCES: Final = 50


class Checks(SummarizedOutcomes[CheckedReference, CheckResult]):
    """The outcomes of references, in order. After the iteration, ``result`` returns the result document."""

    def __init__(self, services: Services, request: CheckRequest, files: Sequence[FileToCheck] = ()) -> None:
        super().__init__()
        self._files = files or [FileToCheck()]
        self.warnings = [warning for file in self._files for warning in file.warn()]
        self._services = services
        self._request = request
        self._checked: list[CheckedReference] = []
        self._file_numbers: list[int] = []
        self._summaries = list(summarize_files(self._files, len(request.listed)))
        self._corrections = Corrections(unique=request.unique)

    def _yield_items(self) -> Iterator[CheckedReference]:
        references = self._request.listed
        summaries = iter([summary for summary in self._summaries for _ in range(summary.total)])
        failures: list[EntrezKitError] = []
        for index, assessment in enumerate(self._assess_all(references)):
            summary, outcome, article = next(summaries), assessment.outcome, assessment.article
            summary.add_duplicate_finding(outcome, index)
            if article is not None and outcome.findings:
                outcome.citation = format_brief_citation(article)
            if assessment.candidates.failure is not None and article is None:
                failures.append(assessment.candidates.failure)
            outcome.file = summary.file.name
            summary.file.accepted.accept(references[index], outcome.findings)
            summary.count(outcome)
            if self._request.corrects:
                self._corrections.add(assessment, index, summary.number)
            if self._request.only == "all" or outcome.is_open:
                self._checked.append(outcome)
                self._file_numbers.append(summary.number)
                yield outcome
        if failures and len(failures) == len(references):
            raise failures[0]
        self.warnings += [*self._request.warn_about_text(), *warn_of_duplicates(self._checked, self._file_numbers)]
        self.warnings += warn_of_unused(self._files)

    def _assess_all(self, references: Sequence[Reference]) -> Iterator[Assessment]:
        """Yield the assessment of each reference. Several batches are looked up at the same time."""
        sources = Sources(self._services, self._request.sources, self._request.retraction_watch)
        report_progress(0, len(references))
        starts = range(0, len(references), BATCH)
        batches = (partial(self._assess_batch, sources, references[start : start + BATCH]) for start in starts)
        at_once = min(BATCHES_AT_ONCE, self._services.eutils.at_once) if len(starts) > 1 else 1
        for start, assessments in zip(starts, run_in_order(batches, at_once), strict=True):
            report_progress(start + len(assessments), len(references))
            yield from assessments

    def _assess_batch(self, sources: Sources, batch: Sequence[Reference]) -> list[Assessment]:
        crossref = "crossref" in sources.enabled
        copy = self._services.settings.copy_label
        assessments = [
            assess(candidates, copy) for candidates in find_records(self._services, batch, crossref=crossref)
        ]
        judge_status(sources, assessments)
        if self._request.corrects and self._request.newer:
            outcomes = [assessment.outcome for assessment in assessments]
            standings = {index: outcome.standing for index, outcome in enumerate(outcomes) if outcome.is_certain}
            for index, article in find_newer(self._services, standings, crossref=crossref).items():
                assessments[index].newer = article
        return assessments

    def result(self) -> CheckResult:
        are_several = len(self._files) > 1
        counts: Counter[str] = sum((summary.counts for summary in self._summaries), Counter())
        updates = self._corrections.updates
        return CheckResult(
            references=self._checked,
            total=len(self._request.listed),
            counts={status: counts[status] for status in STATUSES},
            in_text=[
                finding.model_copy(update={"file": file.name}) if are_several else finding
                for file in self._files
                for finding in file.in_text
            ],
            warnings=self.warnings,
            fixed=self._files[0].target if updates and not are_several else None,
            corrected=len(updates),
            changes=self._corrections.changes,
            left_out=self._corrections.left_out,
            uncorrected=self._corrections.uncorrected,
            accepted=sum(summary.accepted for summary in self._summaries),
            files=[
                summary.build_figures(sum(summary.start <= index < summary.start + summary.total for index in updates))
                for summary in self._summaries
            ]
            if are_several
            else [],
            corrections=updates,
            open_counts=sum((summary.open_counts for summary in self._summaries), Counter()),
        )


def check_references(services: Services, request: CheckRequest) -> Checks:
    """Check references: does each exist, agree with its record, and have no retraction in any source?

    Use it before you trust a reference: made-up ones often have real identifiers. Give a pasted list as text, or
    references. Each is verified or has findings: retracted, concern, another_work, not_found, ambiguous, mismatch (for
    each field), superseded, duplicate, unreadable, unchecked. Example: text "Doe J. A title. J Inv. 2019".

    Raises:
        UpstreamError: no reference could be checked, because NCBI did not respond.
        RateLimited: NCBI refused the request, or no slot is free before the deadline.

    Source: EFetch, ECitMatch and ESearch; Europe PMC, Crossref, OpenAlex and Retraction Watch for the status.
    """
    return Checks(services, request)


def check_file(services: Services, request: CheckFileRequest) -> Checks:
    """Check the references of files, like ``check_references``."""
    return Checks(services, request, request.files)


CHECK: Final = StreamOperation(
    name="check_references",
    request=CheckRequest,
    result=CheckResult,
    outcomes=check_references,
    collect=drain,
    command=("check",),
    toolset="citations",
    title="Check references",
    errors=(UpstreamError, RateLimited),
    agents=AgentOptions(
        caps={"references": MAX_MCP_REFERENCES},
        defaults={"max_references": MAX_MCP_REFERENCES},
        portions=("references",),
        inputs=("references",),
    ),
)

CHECK_FILE: Final = StreamOperation(
    name=CHECK.name,
    request=CheckFileRequest,
    result=CheckResult,
    outcomes=check_file,
    collect=drain,
    command=CHECK.command,
    toolset=CHECK.toolset,
    title=CHECK.title,
    errors=CHECK.errors,
)
"""Not in the catalogue: only the terminal has files."""
