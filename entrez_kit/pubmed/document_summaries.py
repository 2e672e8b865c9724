"""Document summaries of PubMed records: ``esummary_batch`` of the Entrez client, and ``DocSummary``."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from entrez_kit.base.history_events import ENTERED, find_event
from entrez_kit.base.identifiers import normalize_pmcid
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.pubmed.encoded_markup import convert_to_plain_text
from entrez_kit.pubmed.xml.dates import convert_to_iso_date
from entrez_kit.services import Services
from entrez_kit.services.esummary_reply import parse_documents
from entrez_kit.services.small_replies import malformed_error
from entrez_kit.services.transport.in_flight import run_in_order

BATCH: Final = 200
"""Summaries per request. For more ids NCBI requires POST."""


class DocSummary(Result):
    """The summary of a record.

    ``abstract`` and ``lr`` are always absent, because ESummary has neither abstracts nor dates of revision.
    """

    pmid: str
    title: str | None = omit_if_empty()
    journal: str | None = omit_if_empty()
    pub_types: list[str]
    pdat: str | None = omit_if_empty()
    edat: str | None = omit_if_empty()
    lr: str | None = omit_if_empty()
    pmcid: str | None = omit_if_empty()
    authors: list[str] = omit_if_empty([])
    abstract: str | None = omit_if_empty()


def esummary_batch(services: Services, pmids: Sequence[str]) -> list[DocSummary]:
    """Return the summaries of records, in the order of the PMIDs; unknown PMIDs are omitted.

    Raises:
        EntityNotFound: PubMed has none of the PMIDs of a request.
        UpstreamError: no attempt got a valid reply, or NCBI omitted a record.
        RateLimited: NCBI refused, or no slot is free before the deadline.
    """
    unique_pmids = list(dict.fromkeys(pmids))
    batches = [unique_pmids[start : start + BATCH] for start in range(0, len(unique_pmids), BATCH)]
    calls = (partial(_summarize, services, batch) for batch in batches)
    by_pmid = {summary.pmid: summary for part in run_in_order(calls, services.eutils.at_once) for summary in part}
    return [by_pmid[pmid] for pmid in unique_pmids if pmid in by_pmid]


def _summarize(services: Services, pmids: Sequence[str]) -> list[DocSummary]:
    reply = services.eutils.esummary(db="pubmed", ids=pmids, version="2.0", retmode="json", read=parse_documents)
    parsed = reply.value
    omitted = [pmid for pmid in pmids if pmid not in parsed.documents and pmid not in parsed.problems]
    if omitted:
        raise malformed_error("esummary", f"it has no summary of PMID {', '.join(omitted[:10])}")
    return [_read_summary(uid, document) for uid, document in parsed.documents.items()]


def _read_summary(pmid: str, document: dict[str, Any]) -> DocSummary:
    try:
        ids = {item["idtype"]: item["value"] for item in document.get("articleids") or ()}
        entered = find_event(((item["pubstatus"], item["date"]) for item in document.get("history") or ()), ENTERED)
        published = document.get("pubdate")
        return DocSummary(
            pmid=pmid,
            title=convert_to_plain_text(document.get("title") or document.get("booktitle") or "") or None,
            journal=document.get("fulljournalname") or document.get("source") or None,
            pub_types=document.get("pubtype") or [],
            pdat=convert_to_iso_date(published) if published else None,
            edat=_format_moment(entered) if entered else None,
            pmcid=normalize_pmcid(ids["pmc"]) if ids.get("pmc") else None,
            authors=[convert_to_plain_text(author["name"]) for author in document.get("authors") or ()],
        )
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise malformed_error("esummary", f"not a summary document ({type(exc).__name__})") from None


def _format_moment(text: str) -> str:
    """Return ESummary's "2024/03/01 06:00" as 2024-03-01T06:00:00Z."""
    return datetime.strptime(text, "%Y/%m/%d %H:%M").strftime("%Y-%m-%dT%H:%M:%SZ")
