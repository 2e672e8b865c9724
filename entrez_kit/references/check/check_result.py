"""The result of ``check``: for each reference its findings, its record and its publication status; and the counts."""

from operator import not_
from typing import Any, ClassVar, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.core.model import Result, Warn, omit_if_empty
from entrez_kit.pubmed.models import RetractionStatus, Standing, StandingStatus
from entrez_kit.pubmed.standing import to_retraction_status
from entrez_kit.references.check.comparison.compare_fields import FieldDifference, FieldName
from entrez_kit.references.check.findings import CheckStatus, Finding, FindingCode, find_gravest
from entrez_kit.references.check.lookup.candidates import FoundBy
from entrez_kit.references.check.lookup.sources import SourceName, SourceStanding
from entrez_kit.references.files.references import FieldUpdate


class NearestWork(Result):
    """The work in PubMed most similar to a reference without a record; ``likeness`` of the titles is 0 to 1."""

    pmid: str
    title: str
    citation: str
    likeness: float


class CheckedReference(Result):
    """The result for one reference.

    ``findings`` has all problems. ``status`` is the code of the most serious one, or ``verified`` without findings.
    ``pmid``, ``doi``, ``title`` and ``citation`` are those of the record, from PubMed or from ``record_source``; a
    verified reference has no ``citation``.
    ``differences`` has the fields that differ from the record. If ``status`` is ``another_work``, the record is that of
    another work, and ``same_work`` is false. ``standing_status`` is the combined result of all ``sources``: ``none``
    only if no source failed, ``unknown`` if the status could not be determined. ``duplicate_of`` is the row number,
    from 1, of an earlier reference to the same work in its file. ``file`` is its file if there are several.
    """

    file: SkipJsonSchema[str | None] = omit_if_empty()
    key: str
    line: int | None = omit_if_empty()
    number: str | None = omit_if_empty()
    status: CheckStatus
    findings: list[Finding]
    found_by: FoundBy | None = omit_if_empty()
    pmid: str | None = omit_if_empty()
    doi: str | None = omit_if_empty()
    pmcid: str | None = omit_if_empty()
    title: str | None = omit_if_empty()
    citation: str | None = omit_if_empty()
    same_work: bool | None = omit_if_empty()
    retraction_status: RetractionStatus = Field(default="none", exclude_if=lambda value: value == "none")
    standing: Standing | None = omit_if_empty()
    standing_status: StandingStatus | Literal["none", "unknown"] | None = omit_if_empty()
    sources: list[SourceStanding] = omit_if_empty([])
    disagreement: str | None = omit_if_empty()
    record_source: SourceName | None = omit_if_empty()
    duplicate_of: int | None = omit_if_empty()
    notice: str | None = omit_if_empty()
    differences: list[FieldDifference] = omit_if_empty([])
    nearest: NearestWork | None = omit_if_empty()
    candidate_pmids: list[str] = omit_if_empty([])
    detail: str | None = omit_if_empty()

    def add(self, code: FindingCode, message: str, **fields: Any) -> None:
        """Add a finding, and set ``status`` to the code of the gravest finding."""
        self.add_finding(Finding(code=code, message=message, **fields))

    def add_finding(self, finding: Finding) -> None:
        """Add a finding, and set ``status`` to the code of the gravest finding."""
        self.findings.append(finding)
        self.status = find_gravest(self.findings)

    def set_standing(self, standing: Standing | None) -> None:
        """Set the publication status, and the fields that follow from it."""
        self.standing = standing
        self.retraction_status = to_retraction_status(standing)
        self.notice = standing.note if standing else None

    @property
    def is_open(self) -> bool:
        """Whether it has a finding that is not accepted."""
        return any(not finding.accepted for finding in self.findings)

    @property
    def is_certain(self) -> bool:
        """Whether the record is that of the cited work, so that it can be used to correct the reference."""
        return bool(self.pmid or self.doi) and self.same_work is None


class InTextFinding(Result):
    """A problem of citations in the text.

    ``kind`` is ``no_entry`` for a citation without an entry in the list, ``never_called`` for an uncited entry, and
    ``out_of_order`` for a number that is first cited out of order. ``call`` is the number, the name and
    year, or the key. ``line`` is its first line, or in a Word document its first paragraph, as ``counts`` specifies.
    ``text`` has the words around it. ``file`` is its file if there are several.
    """

    kind: Literal["no_entry", "never_called", "out_of_order"]
    call: str
    line: int | None = omit_if_empty()
    counts: Literal["paragraph"] | None = omit_if_empty()
    text: str | None = omit_if_empty()
    file: SkipJsonSchema[str | None] = omit_if_empty()


class ReferenceChange(Result):
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

    ``changes`` has the changes that correct the file, even if no file was written. ``left_out`` has the references
    that the corrected file omits, and ``uncorrected`` those with findings that it does not correct. ``files`` has the
    counts of each file if there are several. ``accepted`` is the number of references with accepted findings only.
    """

    RECORDS: ClassVar = "references"

    references: list[CheckedReference]
    total: int
    counts: dict[str, int]
    in_text: list[InTextFinding] = omit_if_empty([])
    warnings: list[Warn] = omit_if_empty([])
    fixed: str | None = omit_if_empty()
    corrected: int = Field(default=0, exclude_if=lambda value: value == 0)
    changes: list[ReferenceChange] = omit_if_empty([])
    left_out: list[LeftOut] = omit_if_empty([])
    uncorrected: list[Uncorrected] = omit_if_empty([])
    accepted: int = Field(default=0, exclude_if=not_)
    files: list[FileFigures] = omit_if_empty([])
    corrections: SkipJsonSchema[dict[int, FieldUpdate]] = Field(default={}, exclude=True)
    """The changes for the file, by the index of the reference."""
    open_counts: SkipJsonSchema[dict[str, int]] = Field(default={}, exclude=True)
    """The number of references with each code that is not accepted."""

    @property
    def findings(self) -> int:
        """The number of references that are not verified."""
        return self.total - self.counts["verified"]
