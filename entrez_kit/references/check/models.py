"""The result for one reference: its findings, its record and its publication status."""

from typing import Any, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.pubmed.models import RetractionStatus, Standing, StandingStatus
from entrez_kit.references.check.compare_fields import FieldDifference
from entrez_kit.references.check.find_records import FoundBy
from entrez_kit.references.check.findings import CheckStatus, Finding, FindingCode, gravest
from entrez_kit.references.check.sources import SourceName, SourceStanding


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
        self.status = gravest(self.findings)

    @property
    def is_open(self) -> bool:
        """Whether it has a finding that is not accepted."""
        return any(not finding.accepted for finding in self.findings)

    @property
    def is_certain(self) -> bool:
        """Whether the record is that of the cited work, so that it can be used to correct the reference."""
        return bool(self.pmid or self.doi) and self.same_work is None
