"""Find the other ids of wanted articles: the ID Converter first, PubMed where it gives no answer or no DOI."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.identifiers import IdKind
from entrez_kit.fulltext.article_lookup import Answer, ArticleLookup, failure_of
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.pubmed.resolution import ask_converter, search_pubmed
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import all_at_once

if TYPE_CHECKING:
    from entrez_kit.pubmed.models import Article
    from entrez_kit.pubmed.xml.records import Record

NAMES: dict[IdKind, str] = {"pmid": "PMID", "pmcid": "PMCID", "doi": "DOI"}


def find_pmcids(services: Services, trails: Sequence[ArticleLookup]) -> None:
    """Find the PMCIDs of articles wanted by PMID or DOI; where there is none, ``lookup`` says why."""
    kinds: tuple[IdKind, ...] = ("pmid", "doi")
    asked = {kind: [trail for trail in trails if trail.wanted.kind == kind] for kind in kinds}
    told = all_at_once([partial(_convert, services, asking, kind) for kind, asking in asked.items()])
    unanswered = [pair for part in told for pair in part]
    _read_pubmed(services, [trail for trail, _ in unanswered])
    for trail in trails:
        if trail.pmcid is None and trail.lookup is None:
            name = NAMES[trail.wanted.kind]
            trail.lookup = Answer("not-attempted", f"{name} has no PMC counterpart")
    for trail, error in unanswered:
        if trail.wanted.kind == "doi" and trail.pmcid is None and trail.pmid is None and trail.doi_error is None:
            # PMC holds articles that PubMed has not: that PubMed does not know it proves nothing.
            why = error.message.rstrip(".")
            why = why[:1].lower() + why[1:] if why[1:2].islower() else why
            trail.lookup = Answer("service-error", f"PubMed does not know the DOI, and {why}")


def find_dois(services: Services, trails: Sequence[ArticleLookup]) -> None:
    """Find the DOIs of articles that have none; where nobody answers, ``doi_error`` says why."""
    by_pmcid = [trail for trail in trails if trail.wanted.kind == "pmcid"]
    for trail, error in _convert(services, by_pmcid, "pmcid"):
        trail.doi_error = error
    lacking = [trail for trail in trails if trail.doi is None and not trail.pubmed_asked]
    _read_pubmed(services, [trail for trail in lacking if trail.pmid or trail.doi_error is not None])


def _convert(
    services: Services, trails: Sequence[ArticleLookup], kind: IdKind
) -> list[tuple[ArticleLookup, EntrezKitError]]:
    """Learn what the converter knows of articles, and return those it gave no answer about, each with the reason.

    Whatever goes wrong with it is no reason to give up.
    """
    values = [trail.wanted.value for trail in trails]
    if not values:
        return []
    try:
        known, failed, _ = ask_converter(services, values, kind)
    except EntrezKitError as exc:
        return [(trail, exc) for trail in trails]
    for trail in trails:
        converted = known.get(trail.wanted.value)
        if converted is not None:
            trail.has_record = True
            trail.learn(pmid=converted.pmid, pmcid=converted.pmcid, doi=converted.doi)
    return [(trail, failed[trail.wanted.value]) for trail in trails if trail.wanted.value in failed]


# PubMed


def _read_pubmed(services: Services, trails: Iterable[ArticleLookup]) -> None:
    """Read ids from PubMed records: PMIDs in one batch, before that PMIDs of DOIs and PMCIDs by a search."""
    trails = list(trails)
    articles: dict[str, Article] = {}
    for kind in ("doi", "pmcid"):
        searching = [trail for trail in trails if trail.wanted.kind == kind and trail.pmid is None]
        _search(services, searching, kind, articles)
    reading = [trail for trail in trails if trail.pmid is not None and trail.pmid not in articles]
    errors: dict[str, EntrezKitError] = {}
    pmids = list(dict.fromkeys(trail.pmid for trail in reading if trail.pmid))
    for item in Retrieval.of_ids(services, pmids) if pmids else ():
        if item.record is not None:
            articles[item.input] = item.record.article()
        elif item.error is not None:
            errors[item.input] = item.error
    for trail in trails:
        trail.pubmed_asked = True
        if trail.pmid is None:
            continue
        if (article := articles.get(trail.pmid)) is not None:
            trail.has_record = True
            trail.learn(pmcid=article.pmcid, doi=article.doi)
            trail.doi_error = None
        elif trail.pmid in errors:
            _failed(trail, errors[trail.pmid])
        elif trail.wanted.kind == "pmid" and trail.has_record is None:
            trail.has_record = False
            trail.lookup = Answer("miss", f"PubMed has no record of PMID {trail.pmid}")
        elif trail.pmcid is None:
            trail.lookup = Answer("not-attempted", f"PubMed has no record of PMID {trail.pmid}")


def _search(services: Services, trails: Sequence[ArticleLookup], kind: IdKind, articles: "dict[str, Article]") -> None:
    if not trails:
        return
    retrieval = Retrieval(services, medline=False)

    def read(pmids: Sequence[str]) -> "list[Record]":
        records = retrieval.records_of(pmids)
        articles.update((record.pmid, record.article()) for record in records)
        return records

    values = [trail.wanted.value for trail in trails]
    try:
        found = search_pubmed(services, values, kind, read)
    except EntrezKitError as exc:
        found = dict.fromkeys(values, exc)
    for trail in trails:
        pmid = found.get(trail.wanted.value)
        if isinstance(pmid, EntrezKitError):
            _failed(trail, pmid)
        elif pmid is not None:
            trail.learn(pmid=pmid)


def _failed(trail: ArticleLookup, error: EntrezKitError) -> None:
    trail.doi_error = error
    if trail.pmcid is None:
        answer = failure_of(error)
        trail.lookup = Answer(answer.outcome, f"Neither the ID Converter nor PubMed answered: {answer.detail}")
