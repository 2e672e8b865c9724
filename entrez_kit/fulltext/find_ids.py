"""Find the other ids of articles: first with the ID Converter, then with PubMed if it fails or has no DOI."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.identifiers import IdKind
from entrez_kit.fulltext.article_lookup import Answer, ArticleLookup, convert_failure
from entrez_kit.pubmed.record_batches import RecordBatches
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.pubmed.resolution import ask_converter, search_pubmed
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import run_all

if TYPE_CHECKING:
    from entrez_kit.pubmed.models import Article
    from entrez_kit.pubmed.xml.records import Record

NAMES: dict[IdKind, str] = {"pmid": "PMID", "pmcid": "PMCID", "doi": "DOI"}


def set_pmcids(services: Services, lookups: Sequence[ArticleLookup]) -> None:
    """Find the PMCIDs of articles given by PMID or DOI; set ``pmcid_problem`` if there is none."""
    kinds: tuple[IdKind, ...] = ("pmid", "doi")
    requested = {kind: [lookup for lookup in lookups if lookup.identifier.kind == kind] for kind in kinds}
    parts = run_all([partial(_convert_ids, services, asking, kind) for kind, asking in requested.items()])
    unanswered = [pair for part in parts for pair in part]
    _read_pubmed(services, [lookup for lookup, _ in unanswered])
    for lookup in lookups:
        if lookup.pmcid is None and lookup.pmcid_problem is None:
            name = NAMES[lookup.identifier.kind]
            lookup.pmcid_problem = Answer("not-attempted", f"{name} has no PMC counterpart")
    for lookup, error in unanswered:
        if (
            lookup.identifier.kind == "doi"
            and lookup.pmcid is None
            and lookup.pmid is None
            and lookup.doi_error is None
        ):
            # PMC has articles that PubMed does not have, so PubMed's answer alone proves nothing.
            why = error.message.rstrip(".")
            why = why[:1].lower() + why[1:] if why[1:2].islower() else why
            lookup.pmcid_problem = Answer("service-error", f"PubMed does not know the DOI, and {why}")


def set_dois(services: Services, lookups: Sequence[ArticleLookup]) -> None:
    """Find the DOIs of articles without one; set ``doi_error`` if no service answers."""
    by_pmcid = [lookup for lookup in lookups if lookup.identifier.kind == "pmcid"]
    for lookup, error in _convert_ids(services, by_pmcid, "pmcid"):
        lookup.doi_error = error
    missing = [lookup for lookup in lookups if lookup.doi is None and not lookup.pubmed_asked]
    _read_pubmed(services, [lookup for lookup in missing if lookup.pmid or lookup.doi_error is not None])


def add_records(services: Services, lookups: Sequence[ArticleLookup]) -> None:
    """Add the PubMed records of articles without a text: their DOI and authors help to get the text elsewhere.

    If NCBI did not answer before, it is not asked again. An error leaves an article without its record.
    """
    down = "service-error"
    pending = [
        lookup
        for lookup in lookups
        if not any(attempt.outcome == down and attempt.tier == "pmc" for attempt in lookup.tried)
    ]
    _read_pubmed(services, [lookup for lookup in pending if lookup.pmid is not None and not lookup.pubmed_asked])


def _convert_ids(
    services: Services, lookups: Sequence[ArticleLookup], kind: IdKind
) -> list[tuple[ArticleLookup, EntrezKitError]]:
    """Add the ids that the converter knows; return the articles it could not answer for, with the error.

    An error of the converter does not end the lookup.
    """
    values = [lookup.identifier.value for lookup in lookups]
    if not values:
        return []
    try:
        known, failed, _ = ask_converter(services, values, kind)
    except EntrezKitError as exc:
        return [(lookup, exc) for lookup in lookups]
    for lookup in lookups:
        converted = known.get(lookup.identifier.value)
        if converted is not None:
            lookup.has_record = True
            lookup.learn(pmid=converted.pmid, pmcid=converted.pmcid, doi=converted.doi)
    return [(lookup, failed[lookup.identifier.value]) for lookup in lookups if lookup.identifier.value in failed]


# PubMed


def _read_pubmed(services: Services, lookups: Iterable[ArticleLookup]) -> None:
    """Add ids from PubMed records: search for PMIDs of DOIs and PMCIDs, then fetch all PMIDs in one batch."""
    lookups = list(lookups)
    articles: dict[str, Article] = {}
    for kind in ("doi", "pmcid"):
        searching = [lookup for lookup in lookups if lookup.identifier.kind == kind and lookup.pmid is None]
        _search_ids(services, searching, kind, articles)
    reading = [lookup for lookup in lookups if lookup.pmid is not None and lookup.pmid not in articles]
    errors = _fetch_articles(services, list(dict.fromkeys(lookup.pmid for lookup in reading if lookup.pmid)), articles)
    for lookup in lookups:
        lookup.pubmed_asked = True
        if lookup.pmid in articles:
            _learn_record(lookup, articles[lookup.pmid])
        elif lookup.pmid in errors:
            _record_failure(lookup, errors[lookup.pmid])
        elif lookup.pmid is not None:
            _record_missing(lookup, lookup.pmid)


def _fetch_articles(
    services: Services, pmids: Sequence[str], articles: "dict[str, Article]"
) -> dict[str, EntrezKitError]:
    """Add the records of PMIDs to ``articles``; return the errors by PMID."""
    errors: dict[str, EntrezKitError] = {}
    for item in Retrieval.of_ids(services, pmids) if pmids else ():
        if item.record is not None:
            articles[item.input] = item.record.article()
        elif item.error is not None:
            errors[item.input] = item.error
    return errors


def _learn_record(lookup: ArticleLookup, article: "Article") -> None:
    lookup.has_record, lookup.record = True, article
    lookup.learn(pmcid=article.pmcid, doi=article.doi)
    lookup.doi_error = None


def _record_missing(lookup: ArticleLookup, pmid: str) -> None:
    """Note that PubMed has no record of the PMID of an article."""
    if lookup.identifier.kind == "pmid" and lookup.has_record is None:
        lookup.has_record = False
        lookup.pmcid_problem = Answer("miss", f"PubMed has no record of PMID {pmid}")
    elif lookup.pmcid is None:
        lookup.pmcid_problem = Answer("not-attempted", f"PubMed has no record of PMID {pmid}")


def _search_ids(
    services: Services, lookups: Sequence[ArticleLookup], kind: IdKind, articles: "dict[str, Article]"
) -> None:
    if not lookups:
        return
    batches = RecordBatches(services)

    def read(pmids: Sequence[str]) -> "list[Record]":
        records = batches.fetch_by_pmid(pmids)
        articles.update((record.pmid, record.article()) for record in records)
        return records

    values = [lookup.identifier.value for lookup in lookups]
    try:
        articles_by_value = search_pubmed(services, values, kind, read)
    except EntrezKitError as exc:
        articles_by_value = dict.fromkeys(values, exc)
    for lookup in lookups:
        pmid = articles_by_value.get(lookup.identifier.value)
        if isinstance(pmid, EntrezKitError):
            _record_failure(lookup, pmid)
        elif pmid is not None:
            lookup.learn(pmid=pmid)


def _record_failure(lookup: ArticleLookup, error: EntrezKitError) -> None:
    lookup.doi_error = error
    if lookup.pmcid is None:
        answer = convert_failure(error)
        lookup.pmcid_problem = Answer(answer.outcome, f"Neither the ID Converter nor PubMed answered: {answer.detail}")
