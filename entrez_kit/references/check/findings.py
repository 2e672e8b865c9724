"""The findings of a reference: one object for each problem that ``check`` reports."""

from collections.abc import Iterable
from operator import not_
from typing import Final, Literal, get_args

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.pubmed.models import Standing
from entrez_kit.references.check.comparison.compare_fields import FieldDifference

FindingCode = Literal[
    "retracted",
    "concern",
    "another_work",
    "not_found",
    "ambiguous",
    "mismatch",
    "superseded",
    "duplicate",
    "unreadable",
    "unchecked",
]
CODES: Final[tuple[FindingCode, ...]] = get_args(FindingCode)
"""All codes, the most serious first."""
CheckStatus = Literal["verified", FindingCode]
STATUSES: Final[tuple[CheckStatus, ...]] = ("verified", *CODES)


class Finding(Result):
    """One problem of a reference.

    ``field`` is the field that differs, ``given`` its value in the reference, ``recorded`` its value in the record.
    If an identifier belongs to a different article, ``pmid`` and ``standing`` are those of that article. ``accepted``
    is true if a person accepted the finding, so that it does not fail a check again.
    """

    code: FindingCode
    field: str | None = omit_if_empty()
    given: str | None = omit_if_empty()
    recorded: str | None = omit_if_empty()
    pmid: str | None = omit_if_empty()
    standing: Standing | None = omit_if_empty()
    accepted: SkipJsonSchema[bool] = Field(default=False, exclude_if=not_)
    message: str


def find_gravest(findings: Iterable[Finding]) -> CheckStatus:
    """Return the code of the most serious finding, or "verified" if the list is empty."""
    return min((finding.code for finding in findings), key=CODES.index, default="verified")


def to_finding(difference: FieldDifference) -> Finding:
    """Convert a difference of a field to a finding."""
    detail = difference.detail or f"{difference.given} → {difference.record}"
    return Finding(
        code="mismatch",
        field=difference.field,
        given=difference.given,
        recorded=difference.record,
        message=f"{difference.field}: {detail}",
    )
