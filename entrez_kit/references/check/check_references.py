"""Check references: does each exist, does it agree with its record, and was its work retracted?

A record is found by identifier. If the identifiers lead to no record or to another work, it is found by journal, volume
and page, or by title. A valid identifier is not sufficient: made-up references often have the DOI of a real article.
The publication status is looked up in all sources (``sources.py``).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import not_
from typing import Annotated, Any, ClassVar, Final, Literal, Self, cast

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import Argument, FrontendText, cut_end
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.core.model import Request, Result, Warn, contradiction_error, omit_if_empty
from entrez_kit.core.operation import AgentOptions, Operation, SummarizedOutcomes, drain
from entrez_kit.pubmed.brief import format_brief_citation, format_brief_owner, format_brief_place
from entrez_kit.pubmed.models import Article, Standing, StandingNotice, StandingStatus, find_place
from entrez_kit.pubmed.standing import choose_graver, to_retraction_status
from entrez_kit.references.check.accepted import Accepted
from entrez_kit.references.check.compare_fields import IDENTIFIERS, FieldName, IdentifierName
from entrez_kit.references.check.corrections import (
    REPLACED,
    build_correction,
    find_newer,
    list_changes,
    list_uncorrected,
)
from entrez_kit.references.check.find_records import Candidates, FoundBy, RecordMatch, find_records
from entrez_kit.references.check.findings import STATUSES, FindingCode, to_finding
from entrez_kit.references.check.models import CheckedReference, NearestWork
from entrez_kit.references.check.pasted_lists import MAX_TEXT, PastedList, as_reference, read_list
from entrez_kit.references.check.sources import (
    RETRACTED,
    TITLES,
    SourceName,
    Sources,
    SourceStanding,
    Work,
    combine_results,
)
from entrez_kit.references.files.references import FieldUpdate, Reference
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import in_order

BATCH: Final = 120
"""References that are looked up together: the ids of whole requests to the ID Converter, Europe PMC and Crossref."""
BATCHES_AT_ONCE: Final = 3
"""While a batch waits for one service, the other batches can send requests to the other services."""
MAX_REFERENCES: Final = 20_000
MAX_MCP_REFERENCES: Final = 50
MAX_LEFT: Final = 200
"""Maximum references that a warning names."""
MAX_LEFT_TEXT: Final = 60
"""Maximum characters of each of them."""
MAX_LIST: Final = 1_000_000
MAX_KEY: Final = 60
MAX_CANDIDATES: Final = 5
MAX_UNUSED: Final = 10
MAX_SHOWN: Final = 120
ANOTHER_WORK: Final[Mapping[FoundBy, str]] = {
    "identifier": "the identifier belongs to another work",
    "citation": "a different article is at this journal, volume and page",
    "title": "the record with this title is another work",
}
LABELS: Final[Mapping[IdentifierName, str]] = {"doi": "DOI", "pmid": "PMID", "pmcid": "PMCID"}


def _to_reference(value: Any) -> Any:
    """Convert an id or the text of a reference to a reference, with the identifiers in the text."""
    if isinstance(value, Mapping) and isinstance(value.get("text"), str) and set(value) <= {"key", "text", "line"}:
        reference = as_reference(value["text"], 1)
        return {
            **reference.model_dump(exclude={"key", "line"}),
            **{name: value[name] for name in value if name != "text"},
        }
    if not isinstance(value, str):
        return value
    identifier = read_identifier(value)
    key = value.strip()[:MAX_KEY]
    if identifier is not None:
        return {"key": key, identifier.kind: identifier.value}
    return as_reference(" ".join(value.split()), 1).model_copy(update={"key": key, "line": None})


def _shorten(reference: Reference) -> str:
    """Return the beginning of a reference."""
    text = " ".join((reference.text or reference.title or reference.key).split())
    return cut_end(text, MAX_LEFT_TEXT)


class InTextFinding(Result):
    """A problem of citations in the text.

    ``kind`` is ``no_entry`` for a citation without an entry in the list, ``never_called`` for an uncited entry, and
    ``out_of_order`` for a number whose first citation is not in ascending order. ``call`` is the number, the name and
    year, or the key. ``line`` is its first line, or in a Word document its first paragraph, as ``counts`` specifies.
    ``text`` has the words around it. ``file`` is its file if there are several.
    """

    kind: Literal["no_entry", "never_called", "out_of_order"]
    call: str
    line: int | None = omit_if_empty()
    counts: Literal["paragraph"] | None = omit_if_empty()
    text: str | None = omit_if_empty()
    file: SkipJsonSchema[str | None] = omit_if_empty()


class CheckRequest(Request):
    """The references to check, and how to correct their file."""

    text: str | None = Field(
        default=None,
        max_length=MAX_LIST,
        description="A pasted list, or a text that contains a list under its heading. Give text or references.",
    )
    text_start: int = Field(default=0, ge=0, description="With text: how many of its references to skip.")
    references: list[Annotated[Reference, BeforeValidator(_to_reference)]] = Field(
        default=[],
        max_length=MAX_REFERENCES,
        description="References in order: each as fields, as text, or as an id.",
    )
    max_references: SkipJsonSchema[int | None] = Field(
        default=None, ge=1, description="How many references of a text to check."
    )
    sources: list[SourceName] | None = Field(
        default=None, description="Sources of the publication status; all by default."
    )
    retraction_watch: SkipJsonSchema[str | None] = Field(
        default=None, description="CSV file of the Retraction Watch database."
    )
    only: Literal["all", "problems"] = Field(default="all", description="`problems` omits verified references.")
    corrects: SkipJsonSchema[bool] = Field(default=False, description="Return the changes of a corrected file.")
    newer: SkipJsonSchema[bool] = Field(
        default=False,
        description="Replace preprints with the published articles, and other references with their newest versions.",
    )
    unique: SkipJsonSchema[bool] = Field(
        default=False, description="Remove references to an article that an earlier reference of the file cites."
    )

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if bool(self.text) == bool(self.references):
            raise contradiction_error(
                "references", "give either text or references", "both" if self.text else "neither"
            )
        if not self.listed:
            if self.text_start and self._all_of_text:
                raise contradiction_error(
                    "text_start", f"the text has {len(self._all_of_text)} references", self.text_start
                )
            raise contradiction_error("text", "it does not contain a reference", (self.text or "")[:MAX_SHOWN])
        return self

    @cached_property
    def listed(self) -> list[Reference]:
        """The references, given as references or in a text."""
        if not self.text:
            return self.references
        end = None if self.max_references is None else self.text_start + self.max_references
        return self._all_of_text[self.text_start : end]

    @cached_property
    def _all_of_text(self) -> list[Reference]:
        return self._pasted.references

    @cached_property
    def _pasted(self) -> PastedList:
        return read_list(self.text or "")

    def warn_about_text(self) -> list[Warn]:
        """Return warnings about lines that are not references, and about references after the last checked one."""
        return [*self._pasted.warnings, *self._warn_about_rest()]

    def _warn_about_rest(self) -> list[Warn]:
        """Return a warning that names the references of the text after the ones to check."""
        end = self.text_start + len(self.listed)
        rest = self._all_of_text[end:] if self.text else []
        if not rest:
            return []
        message = FrontendText(
            f"References {self.text_start + 1} to {end} of {len(self._all_of_text)} were checked. ",
            *("To check the others, give the same text with ", Argument("text_start"), f" {end}."),
        )
        return [Warn(code="references_left", message=message, terms=[_shorten(one) for one in rest[:MAX_LEFT]])]


class Change(Result):
    """A change in a corrected file; ``old`` is empty if the field was added, ``new`` if it was removed."""

    file: SkipJsonSchema[str | None] = omit_if_empty()
    key: str
    line: int | None = omit_if_empty()
    field: FieldName | Literal["note"]
    old: str
    new: str


class LeftOut(Result):
    """A reference that a corrected file leaves out: an earlier one, with the key ``same_as``, cites the same work."""

    file: SkipJsonSchema[str | None] = omit_if_empty()
    key: str
    line: int | None = omit_if_empty()
    same_as: str


class Uncorrected(Result):
    """A reference with findings that are still in a corrected file: their codes; ``accepted`` if all were accepted."""

    file: SkipJsonSchema[str | None] = omit_if_empty()
    key: str
    line: int | None = omit_if_empty()
    codes: list[FindingCode]
    accepted: bool = Field(default=False, exclude_if=not_)


class FileFigures(Result):
    """The counts of one of several files, and the path of its corrected copy."""

    file: str
    total: int
    counts: dict[str, int]
    accepted: int = Field(default=0, exclude_if=not_)
    fixed: str | None = omit_if_empty()
    corrected: int = Field(default=0, exclude_if=not_)


class CheckResult(Result):
    """One outcome per reference, in the order of the references; ``fixed`` is the path of the corrected file.

    ``counts`` has the number of references with each code, so a reference with two problems counts twice. ``verified``
    is the number of references without findings.

    If the request was for problems only, ``references`` omits verified ones; ``total`` and ``counts`` include them.

    ``changes`` has the changes of the corrected file, also if the file was not written, ``left_out`` the references
    that it omits, and ``uncorrected`` all references with findings that it does not correct. ``files`` has the counts
    of each file if there are several; ``accepted`` is the number of references whose findings are all accepted.
    """

    RECORDS: ClassVar = "references"

    references: list[CheckedReference]
    total: int
    counts: dict[str, int]
    in_text: list[InTextFinding] = omit_if_empty([])
    warnings: list[Warn] = omit_if_empty([])
    fixed: str | None = omit_if_empty()
    corrected: int = Field(default=0, exclude_if=lambda value: value == 0)
    changes: list[Change] = omit_if_empty([])
    left_out: list[LeftOut] = omit_if_empty([])
    uncorrected: list[Uncorrected] = omit_if_empty([])
    accepted: int = Field(default=0, exclude_if=not_)
    files: list[FileFigures] = omit_if_empty([])
    _corrections: dict[int, FieldUpdate] = PrivateAttr(default_factory=dict)
    _open: Counter[str] = PrivateAttr(default_factory=Counter)

    @property
    def corrections(self) -> Mapping[int, FieldUpdate]:
        """The changes for the file, by the index of the reference."""
        return self._corrections

    @property
    def open_counts(self) -> Mapping[str, int]:
        """The number of references with each code that is not accepted."""
        return self._open

    @property
    def findings(self) -> int:
        """The number of references that are not verified."""
        return self.total - self.counts["verified"]


@dataclass(frozen=True, slots=True)
class FileToCheck:
    """A file of references to check, and what is known about it before the check.

    Args:
        warnings: warnings about the file.
        in_text: citations in the text of a manuscript without an entry, and uncited entries.
        target: the path of the corrected file, if anything changes.
        name: its name, if there are several files.
        total: the number of its references; None if there are no other files.
        accepted: the findings that a person accepted.
    """

    warnings: list[Warn] = field(default_factory=list)
    in_text: list[InTextFinding] = field(default_factory=list)
    target: str | None = None
    name: str | None = None
    total: int | None = None
    accepted: Accepted = field(default_factory=Accepted)

    def warn(self) -> Iterator[Warn]:
        """Yield its warnings; of several files, each with the name of the file."""
        for one in self.warnings:
            message = FrontendText(f"{self.name}: ", one.text) if self.name else one.text
            yield Warn.model_validate({**one.model_dump(), "message": message})


class CheckFileRequest(CheckRequest):
    """A request of the terminal: the references of all files in order, and the files."""

    files: list[FileToCheck]


@dataclass(slots=True)
class _Assessment:
    """The outcome of a reference, and the records on which it is based.

    Attributes:
        candidates: the records found for the reference.
        article: the record that it cites, if there is one.
        newer: the record that replaces it in a correction, if there is one.
    """

    candidates: Candidates
    outcome: CheckedReference
    article: Article | None = None
    newer: Article | None = None


class Checks(SummarizedOutcomes[CheckedReference, CheckResult]):
    """The outcomes of references, in order. After the iteration, ``result`` returns the result document."""

    def __init__(self, services: Services, request: CheckRequest, files: Sequence[FileToCheck] = ()) -> None:
        super().__init__()
        self._files = files or [FileToCheck()]
        self.warnings = [warning for file in self._files for warning in file.warn()]
        self._services = services
        self._request = request
        self._checked: list[CheckedReference] = []
        self._counts = [Counter[str]() for _ in self._files]
        self._open: Counter[str] = Counter()
        self._accepted = [0] * len(self._files)
        self._unanswered = 0
        self._rows: dict[tuple[int, str], int] = {}
        self._corrections: dict[int, FieldUpdate] = {}
        self._changes: list[Change] = []
        self._left_out: list[LeftOut] = []
        self._uncorrected: list[Uncorrected] = []
        self._written: dict[tuple[int, str], str] = {}

    @cached_property
    def _file_numbers(self) -> list[int]:
        """The number of the file of each reference."""
        rest = len(self._request.listed)
        totals = [rest if file.total is None else file.total for file in self._files]
        return [number for number, total in enumerate(totals) for _ in range(total)]

    def __iter__(self) -> Iterator[CheckedReference]:
        references = self._request.listed
        sources = Sources(self._services, self._request.sources, self._request.retraction_watch)
        failure: EntrezKitError | None = None

        def assess(batch: Sequence[Reference]) -> list[_Assessment]:
            found = find_records(self._services, batch, crossref="crossref" in sources.enabled)
            assessments = [_assess(candidates, self._services.settings.copy_label) for candidates in found]
            _ask_standings(sources, assessments)
            if self._request.corrects and self._request.newer:
                outcomes = [assessment.outcome for assessment in assessments]
                standings = {index: outcome.standing for index, outcome in enumerate(outcomes) if outcome.is_certain}
                newer = find_newer(self._services, standings, crossref="crossref" in sources.enabled)
                for index, article in newer.items():
                    assessments[index].newer = article
            return assessments

        tracing.step(0, len(references))
        starts = range(0, len(references), BATCH)
        batches = (partial(assess, references[start : start + BATCH]) for start in starts)
        at_once = min(BATCHES_AT_ONCE, self._services.eutils.at_once) if len(starts) > 1 else 1
        for start, assessments in zip(starts, in_order(batches, at_once), strict=True):
            tracing.step(start + len(assessments), len(references))
            for index, assessment in enumerate(assessments, start=start):
                outcome, article = assessment.outcome, assessment.article
                self._name_earlier(outcome, index)
                if article is not None and outcome.findings:
                    outcome.citation = format_brief_citation(article)
                if assessment.candidates.failure is not None and article is None:
                    failure = failure or assessment.candidates.failure
                    self._unanswered += 1
                self._count(outcome, index)
                if self._request.corrects:
                    self._correct(assessment, index)
                if self._request.only == "all" or outcome.is_open:
                    self._checked.append(outcome)
                    yield outcome
        if failure is not None and self._unanswered == len(references):
            raise failure
        self.warnings += [*self._request.warn_about_text(), *_warn_of_duplicates(self._checked)]
        self.warnings += _warn_of_unused(self._files)

    def _count(self, outcome: CheckedReference, index: int) -> None:
        """Mark accepted findings, and count the codes of an outcome for its file."""
        file_number = self._file_numbers[index]
        file = self._files[file_number]
        outcome.file = file.name
        file.accepted.accept(self._request.listed[index], outcome.findings)
        self._counts[file_number].update({outcome.status, *(finding.code for finding in outcome.findings)})
        self._open.update({finding.code for finding in outcome.findings if not finding.accepted})
        self._accepted[file_number] += bool(outcome.findings) and not outcome.is_open

    def _name_earlier(self, outcome: CheckedReference, index: int) -> None:
        """Add the finding ``duplicate`` if an earlier row of the file cites the same work."""
        work = outcome.pmid or outcome.doi
        if not work or outcome.same_work is False:
            return
        file_number = self._file_numbers[index]
        if (first := self._rows.setdefault((file_number, work), index)) != index:
            outcome.duplicate_of = first - self._file_numbers.index(file_number) + 1
            outcome.add("duplicate", f"already cited in row {outcome.duplicate_of}")

    def _correct(self, assessment: _Assessment, index: int) -> None:
        """Store the correction of a reference, its changes, and the findings that it does not correct."""
        reference, outcome, article = assessment.candidates.reference, assessment.outcome, assessment.article
        correction = build_correction(reference, outcome, article, assessment.newer)
        about: dict[str, Any] = {"file": outcome.file, "key": reference.key, "line": reference.line}
        if article is not None and self._request.unique and outcome.is_certain:
            work = (correction.record if correction else None) or article
            work_key = (self._file_numbers[index], work.pmid or work.doi or "")
            is_accepted = any(one.code == "duplicate" and one.accepted for one in outcome.findings)
            if work_key not in self._written:
                self._written[work_key] = reference.key
            elif not is_accepted:
                correction = FieldUpdate(same_as=self._written[work_key])
        if correction is not None:
            self._corrections[index] = correction
            for field_name, old, new in list_changes(reference, correction):
                self._changes.append(Change(**about, field=field_name, old=old, new=new))
            if correction.note:
                self._changes.append(Change(**about, field="note", old="", new=correction.note))
            if correction.same_as is not None:
                self._left_out.append(LeftOut(**about, same_as=correction.same_as))
        if codes := list_uncorrected(outcome, correction):
            self._uncorrected.append(Uncorrected(**about, codes=[*codes], accepted=not outcome.is_open))

    def result(self) -> CheckResult:
        several = len(self._files) > 1
        total: Counter[str] = sum(self._counts, Counter())
        result = CheckResult(
            references=self._checked,
            total=len(self._request.listed),
            counts={status: total[status] for status in STATUSES},
            in_text=[
                one.model_copy(update={"file": file.name}) if several else one
                for file in self._files
                for one in file.in_text
            ],
            warnings=self.warnings,
            fixed=self._files[0].target if self._corrections and not several else None,
            corrected=len(self._corrections),
            changes=self._changes,
            left_out=self._left_out,
            uncorrected=self._uncorrected,
            accepted=sum(self._accepted),
            files=[self._summarize(number) for number in range(len(self._files))] if several else [],
        )
        result._corrections, result._open = self._corrections, self._open
        return result

    def _summarize(self, file_number: int) -> FileFigures:
        file, counts = self._files[file_number], self._counts[file_number]
        corrected = sum(self._file_numbers[index] == file_number for index in self._corrections)
        return FileFigures(
            file=file.name or "",
            total=self._file_numbers.count(file_number),
            counts={status: counts[status] for status in STATUSES},
            accepted=self._accepted[file_number],
            fixed=file.target if corrected else None,
            corrected=corrected,
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


def _warn_of_duplicates(checked: Sequence[CheckedReference]) -> list[Warn]:
    works: dict[tuple[str | None, str], list[str]] = {}
    for outcome in checked:
        if outcome.pmid and outcome.same_work is not False:
            works.setdefault((outcome.file, outcome.pmid), []).append(outcome.key)
    return [
        Warn(
            code="duplicate_work",
            message=f"{f'{file}: ' if file else ''}PMID {pmid} is cited {len(keys)} times: {', '.join(keys[:10])}.",
        )
        for (file, pmid), keys in works.items()
        if len(set(keys)) > 1
    ]


def _warn_of_unused(files: Sequence[FileToCheck]) -> list[Warn]:
    """Return a warning about accepted findings that no file has any more."""
    lists = [file.accepted.list_unused() for file in files]
    unused = [one for one in dict.fromkeys(one for found in lists for one in found) if all(one in o for o in lists)]
    if not unused:
        return []
    named = ", ".join(unused[:MAX_UNUSED]) + (f" and {len(unused) - MAX_UNUSED} more" if unused[MAX_UNUSED:] else "")
    message = f"Accepted, but not found by this check: {named}. Remove them."
    return [Warn(code="accepted_unused", message=message, terms=unused[:MAX_LEFT])]


# Outcomes


def _assess(candidates: Candidates, copy: str) -> _Assessment:
    """Return the outcome of a reference and its record.

    Args:
        candidates: the records found.
        copy: the local copy of PubMed that answered; empty if PubMed did.
    """
    reference = candidates.reference
    checked = CheckedReference(
        key=reference.key,
        line=reference.line,
        number=reference.number,
        status="verified",
        findings=[],
        standing_status="unknown",
    )
    ranked = candidates.ranked
    if candidates.failure is not None and not (ranked and ranked[0].same):
        checked.detail = f"not checked: {candidates.failure.message}"
        checked.add("unchecked", checked.detail)
        return _Assessment(candidates, checked)
    if not ranked:
        _add_missing_record(checked, candidates, copy)
        return _Assessment(candidates, checked)
    best = ranked[0]
    equal = [other.article.pmid for other in ranked if other.same and best.same and other.faults == best.faults]
    if len(equal) > 1 and best.found_by != "identifier":
        checked.candidate_pmids = equal[:MAX_CANDIDATES]
        checked.detail = "several records match equally well; add a PMID or DOI"
        checked.add("ambiguous", checked.detail)
        return _Assessment(candidates, checked)
    article = best.article
    checked.found_by, checked.same_work = best.found_by, None if best.same else False
    checked.pmid, checked.doi, checked.pmcid = article.pmid or None, article.doi, article.pmcid
    checked.record_source = None if article.pmid else "crossref"
    checked.title = article.title or None
    checked.differences = best.differences
    _set_standing(checked, article.standing)
    absent = candidates.absent
    details = [f"{tracing.name_source()} has no record of {', '.join(absent)}"] if absent else []
    if best.agreement.left:
        details.insert(
            0, f"the record does not have: {' '.join(best.agreement.left)}; it has: {format_brief_place(article)}"
        )
    if best.same:
        _add_differences(checked, candidates, best)
    else:
        details.insert(0, ANOTHER_WORK[best.found_by])
        if best.found_by != "identifier":
            made_up = "; possibly made up" if best.found_by == "citation" else ""
            checked.add("another_work", f"{ANOTHER_WORK[best.found_by]}: {format_brief_citation(article)}{made_up}")
    checked.detail = "; ".join(details) or None
    return _Assessment(candidates, checked, article)


def _add_differences(checked: CheckedReference, candidates: Candidates, match: RecordMatch) -> None:
    """Add a finding ``mismatch`` for each field that differs, and for each identifier without a record.

    ``_add_owner`` reports the identifiers that belong to another article.
    """
    for difference in match.differences:
        if difference.field not in candidates.owners:
            checked.add_finding(to_finding(difference))
    if match.agreement.left:
        value = " ".join(match.agreement.left)
        place = format_brief_place(match.article)
        checked.add("mismatch", f"the record does not have: {value}; it has: {place}", given=value, recorded=place)
    differing = {difference.field for difference in match.differences}
    for name in IDENTIFIERS:
        value, recorded = getattr(candidates.reference, name), getattr(match.article, name)
        # A PubMed record may lack its DOI, but a PMID or PMCID without a record is wrong.
        if name != "doi" and value in candidates.absent and name not in differing:
            message = f"{name}: {tracing.name_source()} has no record of {value}"
            checked.add("mismatch", message, field=name, given=value, recorded=recorded)
    for name, error in candidates.unknown_owners.items():
        message = f"{name}: its article could not be looked up: {error.message}"
        checked.add("unchecked", message, field=name, given=getattr(candidates.reference, name))


def _set_standing(checked: CheckedReference, standing: Standing | None) -> None:
    checked.standing = standing
    checked.retraction_status = to_retraction_status(standing)
    checked.notice = standing.note if standing else None


def _find_owners(candidates: Candidates, checked: CheckedReference) -> dict[IdentifierName, Article]:
    """Return the articles that identifiers of a reference belong to, except the cited article."""
    if checked.same_work is not False:
        return candidates.owners if checked.pmid or checked.doi else {}
    found = [match.article for match in candidates.matches.values() if match.found_by == "identifier"]
    return {
        name: article
        for name in IDENTIFIERS
        for article in found
        if (getattr(candidates.reference, name) or "-").lower() == (getattr(article, name) or "").lower()
    }


def _ask_standings(sources: Sources, assessments: Sequence[_Assessment]) -> None:
    """Look up the publication status of the cited works, and of other works that identifiers belong to."""
    owners = [_find_owners(one.candidates, one.outcome) for one in assessments]
    cited = [one.article if one.outcome.same_work is None else None for one in assessments]
    works = [
        work for article, others in zip(cited, owners, strict=True) for work in (article, *others.values()) if work
    ]
    queries = [Work((work.doi or "").lower() or None, work.pmid or None, work if work.pmid else None) for work in works]
    standings = iter(sources.ask(queries))
    for assessment, article, others in zip(assessments, cited, owners, strict=True):
        outcome, reference = assessment.outcome, assessment.candidates.reference
        if article is not None:
            _judge(outcome, next(standings))
        for name, owner in others.items():
            _add_owner(outcome, name, getattr(reference, name), owner, next(standings))


def _add_owner(
    outcome: CheckedReference, name: IdentifierName, identifier: str, owner: Article, standings: list[SourceStanding]
) -> None:
    """Add the findings for an identifier that belongs to another article: the article and its publication status."""
    is_meant = outcome.same_work is None
    standing = choose_graver(combine_results(standings).standing, owner.standing)
    citation = format_brief_owner(owner)
    grave = standing is not None and _to_code(standing.status) in ("retracted", "concern")
    label = f", {standing.label.upper()}" if standing is not None and grave else ""
    meant = (outcome.pmid and f"PMID {outcome.pmid}") or (outcome.doi and f"doi:{outcome.doi}")
    message = f"Your {LABELS[name]} belongs to: {citation}{label}."
    message += f" You probably mean {meant}." if is_meant else " That is not the work in the reference."
    about: dict[str, Any] = {"field": name, "given": identifier, "pmid": owner.pmid or None, "standing": standing}
    recorded = getattr(outcome, name) if is_meant else None
    outcome.add("mismatch" if is_meant else "another_work", message, recorded=recorded, **about)
    if standing is not None and grave and (code := _to_code(standing.status)) is not None:
        outcome.add(code, f"The article that your {LABELS[name]} belongs to: {standing.note}", **about)
    failed = "; ".join(f"{TITLES[one.source]}: {one.detail}" for one in standings if one.says == "failed")
    if failed:
        message = f"not all sources could be checked for a retraction: {failed}"
        outcome.add("unchecked", message, **{**about, "standing": None})


def _judge(outcome: CheckedReference, standings: list[SourceStanding]) -> None:
    """Add the results of the sources to the outcome of a reference."""
    verdict = combine_results(standings)
    standing = choose_graver(
        verdict.standing, outcome.standing
    )  # PubMed may be disabled as a source, but has the record
    _set_standing(outcome, standing)
    outcome.standing_status = standing.status if standing is not None else verdict.says
    outcome.disagreement, outcome.sources = verdict.disagreement, standings
    details = [outcome.detail] if outcome.detail else []
    failed = [one for one in standings if one.says == "failed"]
    if standing is not None and (code := _to_code(standing.status)) is not None:
        message = standing.note
        ids = [_join_ids(notice) for notice in standing.notices if notice.status == standing.status]
        newer = "; ".join(dict.fromkeys(filter(None, ids)))
        if code == "superseded" and newer:
            details.append(f"the newer version: {newer}")
            message += f"; the newer version: {newer}"
        outcome.add(code, "; ".join(filter(None, (message, verdict.disagreement))))
    if failed:
        named = "; ".join(f"{TITLES[one.source]}: {one.detail}" for one in failed)
        details.append(f"not all sources could be checked for a retraction: {named}")
        outcome.add("unchecked", details[-1])
    outcome.detail = "; ".join(details) or None


def _to_code(says: StandingStatus) -> FindingCode | None:
    """Convert a publication status to a finding code; None if citing such a work is not a problem."""
    if says in RETRACTED:
        return "retracted"
    if says == "expression_of_concern":
        return "concern"
    return "superseded" if says in REPLACED else None


def _join_ids(notice: StandingNotice) -> str:
    ids = [f"PMID {notice.pmid}" if notice.pmid else "", f"doi:{notice.doi}" if notice.doi else ""]
    return ", ".join(part for part in (find_place(notice), *ids) if part)


def _add_missing_record(checked: CheckedReference, candidates: Candidates, copy: str) -> None:
    """Add a finding to a reference without a record, with the reason."""
    reference, text = candidates.reference, candidates.reference.text
    excerpt = (text or "")[:MAX_SHOWN]
    code: FindingCode = "not_found"
    detail = "PubMed has no such reference; it does not hold most books, web pages and conference papers"
    if candidates.others:
        code, checked.candidate_pmids = "ambiguous", candidates.others[:MAX_CANDIDATES]
        detail = "several records match; add volume, page, author or a PMID"
    elif candidates.absent:
        detail = f"{tracing.name_source()} has no record of {', '.join(candidates.absent)}"
        if reference.title:
            detail += ", and no record with this title"
        elif text and candidates.title_term is not None:
            detail += f", and no record that matches the text: {excerpt}"
    elif text is not None and len(text) > MAX_TEXT:
        code = "unreadable"
        detail = f"the text is too long for a reference. It begins: {excerpt}"
    elif text is not None and candidates.title_term is None and not candidates.citations:
        code = "unreadable"
        detail = f"not looked up: no identifier and no title was recognized in: {excerpt}"
    elif text is not None:
        detail += f": {excerpt}"
    elif not (reference.title or (reference.journal and reference.year)):
        code = "unreadable"
        detail = "not looked up: the reference has no identifier and no title"
    if code == "not_found" and candidates.places:
        detail = f"{_describe_place(candidates)}: {excerpt}" if text is not None else _describe_place(candidates)
    if code == "not_found" and copy:  # PubMed or another source may have it
        code = "unchecked"
        detail = f"the local copy {copy} has no such record; PubMed, Crossref and other sources were not asked"
    message = checked.detail = detail
    if code == "not_found" and candidates.nearest is not None:
        likeness, near = candidates.nearest
        citation = format_brief_citation(near)
        checked.nearest = NearestWork(pmid=near.pmid, title=near.title, citation=citation, likeness=round(likeness, 2))
        message = f"{detail}; most similar record ({likeness:.0%}): {citation}"
    checked.add(code, message)


def _describe_place(candidates: Candidates) -> str:
    """Describe the journal, the place and the identifiers of a reference without a record."""
    doi = candidates.reference.doi
    known = [place for place in candidates.places if place.journal not in candidates.unknown_journals]
    place = (known or candidates.places)[0]
    facts = ["possibly made up: PubMed has no such article"]
    if place.journal in candidates.unknown_journals:
        facts.append(f"the journal {place.journal} is not known to NCBI")
    else:
        there = f"volume {place.volume}, page {place.first_page}"
        facts.append(f"NCBI knows the journal {place.journal}, and PubMed has no article at {there} of {place.year}")
    if doi:
        crossref = "Crossref does not know it" if doi in candidates.unregistered else "it was not looked up in Crossref"
        facts.append(f"PubMed has no record of {doi}, and {crossref}")
    ids = [value for value in (candidates.reference.pmid, candidates.reference.pmcid) if value in candidates.absent]
    facts += [f"PubMed has no record of {', '.join(ids)}"] if ids else []
    return "; ".join(facts)


def check_file(services: Services, request: CheckFileRequest) -> Checks:
    """Check the references of files, like ``check_references``."""
    return Checks(services, request, request.files)


CHECK: Final = Operation(
    name="check_references",
    outcomes=check_references,
    collect=drain,
    result=CheckResult,
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

CHECK_FILE: Final[Operation[CheckFileRequest, CheckResult]] = replace(
    cast(Any, CHECK), outcomes=check_file, request=CheckFileRequest, agents=AgentOptions()
)
"""Not in the catalogue: only the terminal has files."""
