"""The findings of a reference: every problem that ``check`` reports, one object each."""

from collections.abc import Iterable
from typing import Final, Literal, get_args

from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.pubmed.standing import Standing
from entrez_kit.references.check.compare_fields import FieldDifference

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
"""All codes, the gravest first."""
CheckStatus = Literal["verified", FindingCode]
STATUSES: Final[tuple[CheckStatus, ...]] = ("verified", *CODES)


class Finding(Result):
    """One problem of a reference.

    ``field`` is the field of the reference, ``given`` its value there, ``recorded`` the value of the record. ``pmid``
    and ``standing`` are those of the article that an identifier belongs to, if that is not the article that is meant.
    """

    code: FindingCode
    field: str | None = omit_if_empty()
    given: str | None = omit_if_empty()
    recorded: str | None = omit_if_empty()
    pmid: str | None = omit_if_empty()
    standing: Standing | None = omit_if_empty()
    message: str


def gravest(findings: Iterable[Finding]) -> CheckStatus:
    """Return the code of the gravest finding, or "verified" if there are no findings."""
    return min((one.code for one in findings), key=CODES.index, default="verified")


def finding_of(difference: FieldDifference) -> Finding:
    """Return the finding for a field that differs."""
    said = difference.detail or f"{difference.given} → {difference.record}"
    return Finding(
        code="mismatch",
        field=difference.field,
        given=difference.given,
        recorded=difference.record,
        message=f"{difference.field}: {said}",
    )
