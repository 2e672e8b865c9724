"""Describe why no record was found for a reference."""

from typing import Final

from entrez_kit.base import tracing
from entrez_kit.pubmed.brief import format_brief_citation
from entrez_kit.references.check.check_result import CheckedReference, NearestWork
from entrez_kit.references.check.findings import FindingCode
from entrez_kit.references.check.lookup.candidates import Candidates
from entrez_kit.references.check.pasted.pasted_lists import MAX_TEXT
from entrez_kit.references.files.references import MAX_QUOTED_REFERENCE

NOT_HELD: Final = "not in PubMed, which has few books, web pages and conference papers"


def add_missing_record(checked: CheckedReference, candidates: Candidates, copy: str) -> None:
    """Add a finding to a reference without a record, with the reason."""
    code, checked.detail = _explain(candidates, copy)
    message = checked.detail
    if code == "not_found" and candidates.nearest is not None:
        likeness, article = candidates.nearest
        citation = format_brief_citation(article)
        checked.nearest = NearestWork(
            pmid=article.pmid, title=article.title, citation=citation, likeness=round(likeness, 2)
        )
        message += f"; most similar record ({likeness:.0%}): {citation}"
    checked.add(code, message)


def _explain(candidates: Candidates, copy: str) -> tuple[FindingCode, str]:
    """Return the code of a reference without a record, and the reason."""
    reference, text = candidates.reference, candidates.reference.text
    absent = candidates.absent
    if not absent and (problem := _describe_unreadable(candidates)):
        return "unreadable", problem
    if copy:  # PubMed or another source may have it
        held = f"the local copy {copy} has no such record"
        return "unchecked", f"{held}; PubMed, Crossref and other sources were not asked"
    excerpt = f": {text[:MAX_QUOTED_REFERENCE]}" if text is not None else ""
    if candidates.places:
        return "not_found", f"{_describe_place(candidates)}{excerpt}"
    if not absent:
        return "not_found", f"{NOT_HELD}{excerpt}"
    detail = f"{tracing.name_source()} has no record of {', '.join(absent)}"
    if reference.title:
        detail += ", and no record with this title"
    elif text and candidates.title_term is not None:
        detail += f", and no record that matches the text{excerpt}"
    return "not_found", detail


def _describe_unreadable(candidates: Candidates) -> str | None:
    """Return why a reference could not be looked up; None if it was."""
    reference, text = candidates.reference, candidates.reference.text
    if text is None:
        has_words = reference.title or (reference.journal and reference.year)
        return None if has_words else "not looked up: the reference has no identifier and no title"
    excerpt = text[:MAX_QUOTED_REFERENCE]
    if len(text) > MAX_TEXT:
        return f"the text is too long for a reference. It begins: {excerpt}"
    if candidates.title_term is None and not candidates.citations:
        return f"not looked up: no identifier or title was recognized in: {excerpt}"
    return None


def _describe_place(candidates: Candidates) -> str:
    """Describe the journal, the place and the identifiers of a reference without a record."""
    doi = candidates.reference.doi
    known = [place for place in candidates.places if place.journal not in candidates.unknown_journals]
    place = (known or candidates.places)[0]
    agency = candidates.agencies.get(doi or "")
    facts = ["PubMed has no such article" if agency else "possibly made up: PubMed has no such article"]
    if place.journal in candidates.unknown_journals:
        facts.append(f"NCBI does not know the journal {place.journal}")
    else:
        there = f"volume {place.volume}, page {place.first_page}"
        facts.append(f"NCBI knows the journal {place.journal}, and PubMed has no article at {there} of {place.year}")
    if doi:
        crossref = "Crossref does not know it" if doi in candidates.unregistered else "it was not looked up in Crossref"
        crossref = f"{agency} registers it" if agency else crossref
        facts.append(f"PubMed has no record of {doi}, and {crossref}")
    ids = [value for value in (candidates.reference.pmid, candidates.reference.pmcid) if value in candidates.absent]
    facts += [f"PubMed has no record of {', '.join(ids)}"] if ids else []
    return "; ".join(facts)
