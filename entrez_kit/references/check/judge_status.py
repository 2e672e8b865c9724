"""Judge the publication status of cited works, and of other works that the identifiers of a reference belong to."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrez_kit.pubmed.brief import format_brief_owner
from entrez_kit.pubmed.models import Article, StandingNotice, StandingStatus, find_place
from entrez_kit.pubmed.standing import choose_graver
from entrez_kit.references.check.assess import Assessment
from entrez_kit.references.check.check_result import CheckedReference
from entrez_kit.references.check.comparison.compare_fields import IdentifierName
from entrez_kit.references.check.findings import FindingCode
from entrez_kit.references.check.lookup.candidates import Candidates
from entrez_kit.references.check.lookup.find_records import REPLACED
from entrez_kit.references.check.lookup.sources import RETRACTED, TITLES, Sources, SourceStanding, Work, combine_results

LABELS: Final[Mapping[IdentifierName, str]] = {"doi": "DOI", "pmid": "PMID", "pmcid": "PMCID"}


def _find_owners(candidates: Candidates, checked: CheckedReference) -> list[tuple[IdentifierName, str, Article]]:
    """Return the identifiers of a reference that belong to articles other than the cited one, and these articles."""
    identifiers = candidates.reference.identifiers
    if checked.same_work is not False:
        owners = candidates.owners if checked.pmid or checked.doi else {}
        return [(name, value, owners[value]) for name, value in identifiers if value in owners]
    articles = [match.article for match in candidates.matches.values() if match.found_by == "identifier"]
    return [
        (name, value, article)
        for name, value in identifiers
        for article in articles
        if value.lower() == (getattr(article, name) or "").lower()
    ]


def judge_status(sources: Sources, assessments: Sequence[Assessment]) -> None:
    """Look up the publication status of the cited works, and of other works that identifiers belong to."""
    owners = [_find_owners(assessment.candidates, assessment.outcome) for assessment in assessments]
    cited = [assessment.article if assessment.outcome.same_work is None else None for assessment in assessments]
    works = [
        work
        for article, others in zip(cited, owners, strict=True)
        for work in (article, *(owner for _, _, owner in others))
        if work
    ]
    queries = [Work((work.doi or "").lower() or None, work.pmid or None, work if work.pmid else None) for work in works]
    standings = iter(sources.look_up_status(queries))
    for assessment, article, others in zip(assessments, cited, owners, strict=True):
        outcome = assessment.outcome
        if article is not None:
            _judge(outcome, next(standings))
        for name, identifier, owner in others:
            _add_owner(outcome, name, identifier, owner, next(standings))


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
    failed = "; ".join(f"{TITLES[report.source]}: {report.detail}" for report in standings if report.says == "failed")
    if failed:
        message = f"not all sources could be checked for a retraction: {failed}"
        outcome.add("unchecked", message, **{**about, "standing": None})


def _judge(outcome: CheckedReference, standings: list[SourceStanding]) -> None:
    """Add the results of the sources to the outcome of a reference."""
    verdict = combine_results(standings)
    # PubMed may be disabled as a source, but has the record.
    standing = choose_graver(verdict.standing, outcome.standing)
    outcome.set_standing(standing)
    outcome.standing_status = standing.status if standing is not None else verdict.says
    outcome.disagreement, outcome.sources = verdict.disagreement, standings
    details = [outcome.detail] if outcome.detail else []
    failed = [report for report in standings if report.says == "failed"]
    if standing is not None and (code := _to_code(standing.status)) is not None:
        message = standing.note
        ids = [_join_ids(notice) for notice in standing.notices if notice.status == standing.status]
        newer = "; ".join(dict.fromkeys(filter(None, ids)))
        if code == "superseded" and newer:
            details.append(f"the newer version: {newer}")
            message += f"; the newer version: {newer}"
        outcome.add(code, "; ".join(filter(None, (message, verdict.disagreement))))
    if failed:
        named = "; ".join(f"{TITLES[report.source]}: {report.detail}" for report in failed)
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
