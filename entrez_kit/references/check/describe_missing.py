"""Describe why no record was found for a reference."""

from typing import Final

from entrez_kit.base import tracing
from entrez_kit.pubmed.brief import format_brief_citation
from entrez_kit.references.check.check_result import CheckedReference, NearestWork
from entrez_kit.references.check.findings import FindingCode
from entrez_kit.references.check.lookup.candidates import Candidates
from entrez_kit.references.check.pasted.pasted_lists import MAX_TEXT

MAX_CANDIDATES: Final = 5
MAX_SHOWN: Final = 120


def add_missing_record(checked: CheckedReference, candidates: Candidates, copy: str) -> None:
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
        likeness, article = candidates.nearest
        citation = format_brief_citation(article)
        checked.nearest = NearestWork(
            pmid=article.pmid, title=article.title, citation=citation, likeness=round(likeness, 2)
        )
        message = f"{detail}; most similar record ({likeness:.0%}): {citation}"
    checked.add(code, message)


def _describe_place(candidates: Candidates) -> str:
    """Describe the journal, the place and the identifiers of a reference without a record."""
    doi = candidates.reference.doi
    known = [place for place in candidates.places if place.journal not in candidates.unknown_journals]
    place = (known or candidates.places)[0]
    agency = candidates.agencies.get(doi or "")
    facts = ["PubMed has no such article" if agency else "possibly made up: PubMed has no such article"]
    if place.journal in candidates.unknown_journals:
        facts.append(f"the journal {place.journal} is not known to NCBI")
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
