"""Assess references: which record does each cite, and how do the two differ?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from entrez_kit.base import tracing
from entrez_kit.pubmed.brief import format_brief_citation, format_brief_place
from entrez_kit.pubmed.models import Article
from entrez_kit.references.check.check_result import CheckedReference
from entrez_kit.references.check.describe_missing import add_missing_record
from entrez_kit.references.check.findings import to_finding
from entrez_kit.references.check.lookup.candidates import Candidates, FoundBy, RecordMatch

MAX_CANDIDATES: Final = 5
ANOTHER_WORK: Final[Mapping[FoundBy, str]] = {
    "identifier": "the identifier belongs to a different article",
    "citation": "a different article is at this journal, volume and page",
    "title": "a different article has this title",
}


@dataclass(slots=True)
class Assessment:
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


def assess(candidates: Candidates, copy: str) -> Assessment:
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
    best = ranked[0] if ranked else None
    if candidates.failure is not None and not (best and best.same):
        checked.detail = f"not checked: {candidates.failure.message}"
        checked.add("unchecked", checked.detail)
    elif best is None:
        add_missing_record(checked, candidates, copy)
    elif equal := _list_equal_records(ranked):
        checked.candidate_pmids = equal[:MAX_CANDIDATES]
        checked.detail = "several records match equally well; add a PMID or DOI"
        checked.add("ambiguous", checked.detail)
    else:
        _add_record(checked, candidates, best)
        return Assessment(candidates, checked, best.article)
    return Assessment(candidates, checked)


def _list_equal_records(ranked: Sequence[RecordMatch]) -> list[str]:
    """Return the PMIDs of the records that a reference may cite with equal likelihood; empty if one is the best."""
    best = ranked[0]
    equal = [other.article.pmid for other in ranked if other.same and best.same and other.faults == best.faults]
    return equal if len(equal) > 1 and best.found_by != "identifier" else []


def _add_record(checked: CheckedReference, candidates: Candidates, best: RecordMatch) -> None:
    """Add the record of a reference, and its differences or the finding that it is another work."""
    article = best.article
    checked.found_by, checked.same_work = best.found_by, None if best.same else False
    checked.pmid, checked.doi, checked.pmcid = article.pmid or None, article.doi, article.pmcid
    checked.record_source = None if article.pmid else "crossref"
    checked.title = article.title or None
    checked.differences = best.differences
    checked.set_standing(article.standing)
    details: list[str] = []
    if best.same:
        _add_differences(checked, candidates, best)
    else:
        details.append(ANOTHER_WORK[best.found_by])
        if best.found_by != "identifier":
            made_up = "; possibly made up" if best.found_by == "citation" else ""
            checked.add("another_work", f"{ANOTHER_WORK[best.found_by]}: {format_brief_citation(article)}{made_up}")
    if left := best.agreement.left:
        details.append(f"the record does not have: {' '.join(left)}; it has: {format_brief_place(article)}")
    if candidates.absent:
        details.append(f"{tracing.name_source()} has no record of {', '.join(candidates.absent)}")
    for match in candidates.matches.values():
        if match.found_by == "citation" and candidates.is_notice_of_cited_work(match):
            notice = format_brief_citation(match.article)
            details.append(f"a notice about it is at this journal, volume and page: {notice}")
    checked.detail = "; ".join(details) or None


def _add_differences(checked: CheckedReference, candidates: Candidates, match: RecordMatch) -> None:
    """Add a finding ``mismatch`` for each field that differs, and for each identifier without a record.

    ``judge_status`` reports the identifiers that belong to another article.
    """
    for difference in match.differences:
        if difference.given not in candidates.owners:
            checked.add_finding(to_finding(difference))
    if match.agreement.left:
        value = " ".join(match.agreement.left)
        place = format_brief_place(match.article)
        checked.add("mismatch", f"the record does not have: {value}; it has: {place}", given=value, recorded=place)
    differing = {difference.given for difference in match.differences}
    for name, value in candidates.reference.identifiers:
        about = {"field": name, "given": value, "recorded": getattr(match.article, name)}
        # A PubMed record may lack its DOI, so only Crossref can say that a DOI is wrong.
        unknown_to = "Crossref" if value in candidates.unregistered else tracing.name_source()
        if error := candidates.unknown_owners.get(value):
            message = f"{name}: its article could not be looked up: {error.message}"
            checked.add("unchecked", message, field=name, given=value)
        elif value in differing:
            continue
        elif agency := candidates.agencies.get(value):
            message = f"{name}: {agency} registers {value}, so Crossref has no record to compare, and PubMed has no DOI"
            checked.add("unchecked", message, **about)
        elif value in candidates.unregistered or (name != "doi" and value in candidates.absent):
            checked.add("mismatch", f"{name}: {unknown_to} has no record of {value}", **about)
        elif value in candidates.not_requested:
            message = f"{name}: the record does not have a DOI, and Crossref was not asked about {value}"
            checked.add("unchecked", message, **about)
