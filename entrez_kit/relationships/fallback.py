"""Other sources of citing and cited articles: the article's own PubMed record, and Europe PMC."""

import json
from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import quote

from entrez_kit.base.errors import EntityNotFound
from entrez_kit.base.identifiers import PMC, PUBMED, format_doi_url, normalize_doi, normalize_pmcid
from entrez_kit.pubmed.europepmc.europepmc_models import RECORD_ADDRESS
from entrez_kit.pubmed.pages import format_place_of_publication
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.pubmed.xml.references import read_pmid, read_references
from entrez_kit.relationships.related_documents import RelatedArticle, Relation
from entrez_kit.services import Services
from entrez_kit.services.known_shapes import JsonShape, log_drift, require_texts
from entrez_kit.services.small_replies import malformed_error

MAX_PAGE: Final = 1_000
"""The largest page size of Europe PMC."""


def build_url(article: RelatedArticle) -> str | None:
    """Return the URL of an article in PubMed, Europe PMC, at doi.org or in PMC: the first that has it."""
    if article.pmid:
        return f"{PUBMED}{article.pmid}/"
    if article.epmc_source and article.epmc_id:
        return f"{RECORD_ADDRESS}/{quote(article.epmc_source, safe='')}/{quote(article.epmc_id, safe='')}"
    if article.doi:
        return format_doi_url(article.doi)
    return f"{PMC}{article.pmcid}/" if article.pmcid else None


# The article's own record


def read_cited_articles(services: Services, pmids: list[str]) -> dict[str, list[RelatedArticle]]:
    """Read the reference list of each record, in order, with one EFetch; omit records that do not exist.

    Raises:
        UpstreamError: NCBI did not answer.
        RateLimited: NCBI refused, or no slot is free before the deadline.
    """
    retrieval = Retrieval.of_ids(services, pmids, keep="raw")
    fetched = list(retrieval)
    retrieval.raise_if_nothing_answered()
    return {
        item.pmid: [RelatedArticle(**dict(work)) for work in read_references(item.record.element, item.pmid)]
        for item in fetched
        if item.record is not None and item.pmid
    }


# Europe PMC


def fetch_from_europepmc(
    services: Services, relation: Relation, pmid: str, limit: int
) -> tuple[list[RelatedArticle], int, int]:
    """Return Europe PMC's articles, their total number, and how many requests were sent.

    Raises:
        NotConfigured: Europe PMC is disabled.
        UpstreamError: Europe PMC did not answer, or the reply is invalid.
        RateLimited: Europe PMC refused, or no slot is free before the deadline.
    """
    direction: Literal["citations", "references"] = "citations" if relation == "pubmed_citedin" else "references"
    articles: list[RelatedArticle] = []
    seen: set[tuple[str | None, ...]] = set()
    size = min(max(limit, 25), MAX_PAGE)
    total, page = 0, 0
    while True:
        page += 1
        try:
            reply = services.europepmc.fetch_links(
                direction, "MED", pmid, page=page, page_size=size, read=lambda content: read_page(content, relation)
            )
        except EntityNotFound:
            return articles, len(articles), page
        total, records = reply.value
        for record in records:
            article = _read_record(record)
            key = _identify(article)
            if article.pmid != pmid and any(key) and key not in seen:
                seen.add(key)
                articles.append(article)
        if not records or page * size >= total or len(articles) >= limit:
            return articles, max(total, len(articles)), page


def _identify(article: RelatedArticle) -> tuple[str | None, ...]:
    """Return the key of a work: its id if it has one, otherwise its DOI, title and citation."""
    if article.pmid or article.epmc_id:
        return article.pmid, article.epmc_source, article.epmc_id
    return (article.doi or "").lower(), article.title, article.citation


_LINKED_RECORD: Final = {
    **require_texts(
        "id source citationType title authorString journalAbbreviation publicationTitle volume issue pageInfo match"
        " essn issn doi unstructuredInformation publisherName externalLink ISBN edition publisherLoc comments"
        " editorString seriesTitle text accessMessage"
    ),
    "pubYear": int,
    **dict.fromkeys(("citedByCount", "citedOrder"), int),
}
LINKED: Final = JsonShape(
    "Europe PMC's list of works",
    {
        "version": str,
        "hitCount": int,
        "request": object,
        "citationList": {"citation": [_LINKED_RECORD]},
        "referenceList": {"reference": [_LINKED_RECORD]},
    },
    required="hitCount",
)


def read_page(content: bytes, relation: Relation) -> tuple[int, list[Mapping[str, Any]]]:
    """Read one page of citations or references: return the total number and the records of the page.

    Raises:
        UpstreamError: the reply is not a page of citations or references.
    """
    inner = "citation" if relation == "pubmed_citedin" else "reference"
    outer = f"{inner}List"
    try:
        document = json.loads(content)
        total = int(document["hitCount"])
        records = (document.get(outer) or {}).get(inner) or []
        if not isinstance(records, list):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise malformed_error(f"Europe PMC {inner}s", f"no {outer} ({type(exc).__name__})") from None
    log_drift(LINKED, content)
    return total, [record for record in records if isinstance(record, Mapping)]


def _read_record(record: Mapping[str, Any]) -> RelatedArticle:
    """Read a record of Europe PMC. Its id is a PMID if the source is MED, otherwise an id of that source."""

    def get_text(*names: str) -> str | None:
        return next((" ".join(str(value).split()) for name in names if (value := record.get(name))), None)

    source, number = get_text("source"), get_text("id")
    pmid = read_pmid(number) if source == "MED" else None
    journal = get_text("journalAbbreviation", "publicationTitle")
    appeared = (journal, get_text("pubYear"), get_text("volume"), get_text("issue"), get_text("pageInfo"))
    return RelatedArticle(
        pmid=pmid,
        title=get_text("title"),
        authors=(get_text("authorString") or "").rstrip(".") or None,
        source=format_place_of_publication(*appeared) or None,
        pub_date=get_text("pubYear"),
        doi=normalize_doi(get_text("doi") or "") or None,
        pmcid=normalize_pmcid(number or "") if source == "PMC" else None,
        epmc_source=source if not pmid and number else None,
        epmc_id=number if not pmid else None,
        citation=get_text("unstructuredInformation"),
    )
