"""Correct references: the fields that differ, a note of a retraction, the newer version of a work, each work once.

A reference without a record, or with the title, the authors or the identifier of another work, is not corrected: a
person has to decide. The same is true of a finding that a person accepted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from entrez_kit.citations.csl import Item, build_csl_item
from entrez_kit.citations.names import format_name
from entrez_kit.pubmed.models import Article, Standing
from entrez_kit.references.check.assess import Assessment
from entrez_kit.references.check.check_result import CheckedReference, LeftOut, ReferenceChange, Uncorrected
from entrez_kit.references.check.comparison.compare_fields import FieldName
from entrez_kit.references.check.findings import CODES, FindingCode
from entrez_kit.references.check.lookup.find_records import REPLACED, find_records
from entrez_kit.references.files.references import FieldUpdate, Reference
from entrez_kit.services import Services

MAX_VERSIONS: Final = 5
"""The most versions that are followed from one work to its newest version."""


def find_newer(services: Services, standings: Mapping[int, Standing | None], *, crossref: bool) -> dict[int, Article]:
    """Return the newest version of each work that has one, by its number; not of a newer version that was retracted.

    The number of requests depends on the number of versions, not on the number of works.
    """
    newest: dict[int, Article] = {}
    for _ in range(MAX_VERSIONS):
        wanted = {
            number: newer for number, standing in standings.items() if (newer := _name_newer(standing)) is not None
        }
        standings = {}
        records = find_records(services, list(wanted.values()), crossref=crossref) if wanted else []
        for number, candidates in zip(wanted, records, strict=True):
            article = candidates.ranked[0].article if candidates.ranked else None
            if article is not None and article.retraction_status == "none":
                newest[number], standings = article, standings | {number: article.standing}
            else:
                newest.pop(number, None)
    return newest


def _name_newer(standing: Standing | None) -> Reference | None:
    """Return a reference to the newer version of a work, by its identifier."""
    for notice in standing.notices if standing is not None and standing.status in REPLACED else ():
        if notice.status in REPLACED and (notice.pmid or notice.doi):
            return Reference(key="", pmid=notice.pmid, doi=None if notice.pmid else notice.doi)
    return None


def build_correction(
    reference: Reference, outcome: CheckedReference, article: Article | None, newer: Article | None
) -> FieldUpdate | None:
    """Return the correction of a reference with a certain record; None if it is not changed.

    Args:
        article: its record.
        newer: the newer version of its work that replaces it, if any.
    """
    if article is None or not outcome.is_certain:
        return None
    if newer is not None and _is_open(outcome, "superseded"):
        return FieldUpdate(dict(_compare_all(reference, newer)), record=newer)
    item = build_csl_item(article)
    values = {"authors": item.get("author", []), "pages": item.get("page") or item.get("number")}
    fields: dict[str, Any] = {}
    # An identifier in a note or an address is not the value of a field, so only its author can correct it.
    elsewhere = {value for _, value in reference.other_identifiers}
    if _is_open(outcome, "mismatch"):
        fields = {
            difference.field: values.get(difference.field, difference.record)
            for difference in outcome.differences
            if difference.record and difference.given not in elsewhere
        }
    if reference.pmid not in elsewhere and _has_wrong_pmid(reference, outcome):
        fields["pmid"] = article.pmid  # a work without a PubMed record has none
    grave = _is_open(outcome, "retracted") or _is_open(outcome, "concern")
    note = outcome.notice if grave and outcome.retraction_status in ("retracted", "expression_of_concern") else None
    return FieldUpdate(fields, note, short=item.get("container-title-short")) if fields or note else None


def _is_open(outcome: CheckedReference, code: FindingCode) -> bool:
    return any(finding.code == code and not finding.accepted for finding in outcome.findings)


def _has_wrong_pmid(reference: Reference, outcome: CheckedReference) -> bool:
    """Return whether an open finding says that the PMID of a reference is not that of the cited work."""
    return any(
        finding.code == "mismatch" and finding.field == "pmid" and finding.given == reference.pmid
        for finding in outcome.findings
        if not finding.accepted
    )


def _compare_all(reference: Reference, newer: Article) -> Iterator[tuple[FieldName, Any]]:
    """Yield the fields of a newer version that differ from the reference; None for a field that it does not have."""
    item = build_csl_item(newer)
    values: dict[FieldName, Any] = {
        "title": item.get("title"),
        "authors": item.get("author", []),
        "journal": item.get("container-title"),
        "year": _find_year(item),
        "volume": item.get("volume"),
        "issue": item.get("issue"),
        "pages": item.get("page") or item.get("number"),
        "doi": newer.doi,
        "pmid": newer.pmid or None,
        "pmcid": newer.pmcid,
    }
    for name, value in values.items():
        if format_field(name, value) != _read_field(reference, name):
            yield name, value


def _find_year(item: Item) -> str | None:
    dates = item.get("issued", {}).get("date-parts") or [[None]]
    return str(dates[0][0]) if dates[0][0] else None


def format_field(name: str, value: Any) -> str:
    """Return the value of a corrected field as text; authors are CSL names."""
    return "; ".join(map(format_name, value)) if name == "authors" else str(value or "")


def _read_field(reference: Reference, name: FieldName) -> str:
    """Return a field of a reference as text."""
    if name == "authors":
        return "; ".join([author.text for author in reference.authors] + ["and others"] * reference.more_authors)
    return str(getattr(reference, name) or "")


def list_corrected_fields(reference: Reference, correction: FieldUpdate) -> Iterator[tuple[FieldName, str, str]]:
    """Yield the fields that a correction changes, each with the old and the new text."""
    for name, value in correction.fields.items():
        yield name, _read_field(reference, name), format_field(name, value)


def list_uncorrected(outcome: CheckedReference, correction: FieldUpdate | None) -> Sequence[FindingCode]:
    """Return the codes of the findings that remain in the corrected file."""
    codes = {finding.code for finding in outcome.findings}
    if correction is not None and correction.same_as is not None:
        return []
    if correction is not None:
        mismatches = [finding.field for finding in outcome.findings if finding.code == "mismatch"]
        if correction.record is not None:
            codes -= {"superseded", "mismatch"}
        elif mismatches and all(name in correction.fields for name in mismatches):
            codes.discard("mismatch")
        if correction.note:
            codes -= {"retracted", "concern"}
    return sorted(codes, key=CODES.index)


@dataclass(slots=True)
class Corrections:
    """The corrections of a list of references, and what they change.

    Args:
        unique: whether to leave out references to works that an earlier reference of the file cites.
        updates: the correction of each reference that is corrected, by its index.
    """

    unique: bool
    updates: dict[int, FieldUpdate] = field(default_factory=dict)
    changes: list[ReferenceChange] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    uncorrected: list[Uncorrected] = field(default_factory=list)
    _keys: dict[tuple[int, str], str] = field(default_factory=dict, init=False)
    """The key of the first reference to each work, by the number of the file and the identifier of the work."""

    def add(self, assessment: Assessment, index: int, file_number: int) -> None:
        """Add the correction of a reference, its changes, and the findings that it does not correct."""
        reference, outcome, article = assessment.candidates.reference, assessment.outcome, assessment.article
        correction = build_correction(reference, outcome, article, assessment.newer)
        if article is not None and self.unique and outcome.is_certain:
            work = (correction.record if correction else None) or article
            work_key = (file_number, work.pmid or work.doi or "")
            is_accepted = any(finding.code == "duplicate" and finding.accepted for finding in outcome.findings)
            if work_key not in self._keys:
                self._keys[work_key] = reference.key
            elif not is_accepted:
                correction = FieldUpdate(same_as=self._keys[work_key])
        about: dict[str, Any] = {"file": outcome.file, "key": reference.key, "line": reference.line}
        if correction is not None:
            self.updates[index] = correction
            for name, old, new in list_corrected_fields(reference, correction):
                self.changes.append(ReferenceChange(**about, field=name, old=old, new=new))
            if correction.note:
                self.changes.append(ReferenceChange(**about, field="note", old="", new=correction.note))
            if correction.same_as is not None:
                self.left_out.append(LeftOut(**about, same_as=correction.same_as))
        if codes := list_uncorrected(outcome, correction):
            self.uncorrected.append(Uncorrected(**about, codes=[*codes], accepted=not outcome.is_open))
