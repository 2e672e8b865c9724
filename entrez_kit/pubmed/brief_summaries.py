"""Fetch the summaries of search results, with parts of their records.

`search.py` imports this module only for a search with summaries.
"""

from collections.abc import Sequence
from typing import Final

from entrez_kit.base.frontend_text import join_names
from entrez_kit.core.model import Warn
from entrez_kit.pubmed.models import BriefSummary
from entrez_kit.pubmed.record_fetcher import fetch_articles
from entrez_kit.pubmed.summaries import parse_summaries
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import start_in_background

SUMMARIES_PER_REQUEST: Final = 500


def fetch_brief_summaries(
    services: Services, pmids: list[str], *, snippet: int = 0, registrations: bool = False
) -> tuple[dict[str, BriefSummary], str, list[Warn]]:
    """Return summaries by PMID, the URL of the request, and warnings that name missing summaries and records.

    Args:
        snippet: how many characters of the abstract each summary has.
        registrations: whether each summary has the numbers of registered trials and data.
    """
    records = None
    if snippet or registrations:
        records = start_in_background(lambda: fetch_articles(services, pmids))
    reply = services.eutils.esummary(db="pubmed", ids=pmids, version="2.0", partial=True, read=parse_summaries)
    by_pmid = {summary.pmid: summary for summary in reply.value[0]}
    warnings = []
    if missing := [pmid for pmid in pmids if pmid not in by_pmid]:
        warnings.append(warn_about_missing(missing))
    if records is not None:
        articles = records()
        if unread := [pmid for pmid in pmids if pmid not in articles]:
            code, parts = "registrations_missing", "registrations"
            if snippet:
                code, parts = "abstracts_missing", "abstracts and registrations" if registrations else "abstracts"
            message = f"NCBI returned no record for PMID {join_names(unread)}, so the {parts} are missing."
            warnings.append(Warn(code=code, message=message))
        for pmid, summary in by_pmid.items():
            if (article := articles.get(pmid)) is not None:
                summary.snippet = _truncate(article.abstract_text or "", snippet) or None if snippet else None
                summary.data_banks = article.data_banks if registrations else []
    return by_pmid, reply.url, warnings


def warn_about_missing(pmids: Sequence[str]) -> Warn:
    """Return the warning about PMIDs without a summary."""
    return Warn(code="summaries_missing", message=f"NCBI returned no summary for PMID {join_names(pmids)}.")


def _truncate(text: str, limit: int) -> str:
    """Return a text on one line; truncate a longer text at the end of a word."""
    words = " ".join(text.split())
    if len(words) <= limit:
        return words
    return f"{words[: limit - 1].rpartition(' ')[0] or words[: limit - 1]}…"
