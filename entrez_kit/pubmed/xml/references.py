"""The list of cited works in a PubMed record."""

from collections.abc import Iterator
from typing import Any

from entrez_kit.base.identifiers import normalize_doi, normalize_pmcid
from entrez_kit.base.mixed_content import read_text
from entrez_kit.pubmed.models import CitedWork


def read_references(element: Any, pmid: str) -> Iterator[CitedWork]:
    """Yield the works in the reference list of a record, nested lists included.

    If the record has no list, yield the articles that NLM links as cited.

    Args:
        element: the whole record.
        pmid: its PMID. References to the record itself, and repeated references to a PMID, are omitted.
    """
    seen: set[str | None] = {pmid}
    for work in [*_read_listed(element)] or _read_linked(element):
        if work.pmid not in seen:
            seen |= {work.pmid} - {None}
            yield work


def _read_listed(element: Any) -> Iterator[CitedWork]:
    for reference in element.iter("Reference"):
        ids: dict[str, str] = {}
        for item in reference.iterfind("ArticleIdList/ArticleId"):
            kind, value = (item.get("IdType") or "").lower(), _read_words(item)
            if value:
                ids.setdefault(kind, value)
        work = CitedWork(
            pmid=read_pmid(ids.get("pubmed")),
            doi=normalize_doi(ids.get("doi", "")) or None,
            pmcid=normalize_pmcid(ids.get("pmc") or ids.get("pmcid") or ""),
            citation=_read_words(reference.find("Citation")) or None,
        )
        if work.pmid or work.doi or work.pmcid or work.citation:
            yield work


def _read_linked(element: Any) -> Iterator[CitedWork]:
    for item in element.iter("CommentsCorrections"):
        if item.get("RefType") == "Cites" and (pmid := read_pmid(_read_words(item.find("PMID")))):
            yield CitedWork(pmid=pmid, citation=_read_words(item.find("RefSource")) or None)


def _read_words(element: Any) -> str:
    return "" if element is None else " ".join(read_text(element).split())


def read_pmid(text: str | None) -> str | None:
    """Return a PMID without leading zeros, or None if the text is not one."""
    text = (text or "").strip()
    return str(int(text)) if text.isascii() and text.isdigit() and len(text) <= 10 and int(text) else None
