"""Find the other ids of wanted articles: the ID Converter first, PubMed where it gives no answer or no DOI."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from entrez_kit.errors import EntrezKitError
from entrez_kit.fulltext.trail import Answer, Trail, failure_of
from entrez_kit.identifiers import IdKind
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.pubmed.resolution import Converted, ask_converter, search_pubmed
from entrez_kit.services import Services
from entrez_kit.transport.in_flight import all_at_once

if TYPE_CHECKING:
    from entrez_kit.pubmed.models import Article
    from entrez_kit.pubmed.xml.records import Record

NAMES: dict[IdKind, str] = {"pmid": "PMID", "pmcid": "PMCID", "doi": "DOI"}


def find_pmcids(services: Services, trails: Sequence[Trail]) -> None:
    """Find the PMCIDs of articles wanted by PMID or DOI; where there is none, ``lookup`` says why."""
    unanswered: dict[IdKind, EntrezKitError] = {}
    open_trails: list[Trail] = []
    kinds: tuple[IdKind, ...] = ("pmid", "doi")
    asked = {kind: [trail for trail in trails if trail.wanted.kind == kind] for kind in kinds}
    told = all_at_once(
        [partial(_converted, services, [one.wanted.value for one in asking], kind) for kind, asking in asked.items()]
    )
    for (kind, asking), (known, failed) in zip(asked.items(), told, strict=True):
        for trail in asking:
            value = trail.wanted.value
            if value in known:
                _learn(trail, known[value])
            elif value in failed:
                unanswered[kind] = failed[value]
                open_trails.append(trail)
    _read_pubmed(services, open_trails)
    for trail in trails:
        if trail.pmcid is None and trail.lookup is None:
            name = NAMES[trail.wanted.kind]
            trail.lookup = Answer("not-attempted", f"{name} has no PMC counterpart")
    for trail in open_trails:
        if trail.wanted.kind == "doi" and trail.pmcid is None and trail.pmid is None and trail.doi_error is None:
            # PMC holds articles that PubMed has not: that PubMed does not know it proves nothing.
            error = unanswered["doi"]
            trail.lookup = Answer(
                "service-error", f"PubMed does not know the DOI, and {_lowered(error.message.rstrip('.'))}"
            )


def find_dois(services: Services, trails: Sequence[Trail]) -> None:
    """Find the DOIs of articles that have none; where nobody answers, ``doi_error`` says why."""
    by_pmcid = [trail for trail in trails if trail.wanted.kind == "pmcid" and trail.pmcid]
    known, failed = _converted(services, [trail.pmcid or "" for trail in by_pmcid], "pmcid")
    for trail in by_pmcid:
        if trail.pmcid in known:
            _learn(trail, known[trail.pmcid])
        elif trail.pmcid in failed:
            trail.doi_error = failed[trail.pmcid]
    lacking = [trail for trail in trails if trail.doi is None and not trail.pubmed_asked]
    _read_pubmed(services, [trail for trail in lacking if trail.pmid or trail.doi_error is not None])


def _converted(
    services: Services, values: Sequence[str], kind: IdKind
) -> tuple[dict[str, Converted], dict[str, EntrezKitError]]:
    """Ask the converter; whatever goes wrong with it is no reason to give up."""
    if not values:
        return {}, {}
    try:
        known, failed, _ = ask_converter(services, values, kind)
    except EntrezKitError as exc:
        return {}, dict.fromkeys(values, exc)
    return {value: one for value, one in known.items() if one.another is None}, failed


def _learn(trail: Trail, converted: Converted) -> None:
    trail.has_record = True
    trail.learn(pmid=converted.pmid, pmcid=converted.pmcid, doi=converted.doi)


# PubMed


def _read_pubmed(services: Services, trails: Iterable[Trail]) -> None:
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


def _search(services: Services, trails: Sequence[Trail], kind: IdKind, articles: "dict[str, Article]") -> None:
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


def _failed(trail: Trail, error: EntrezKitError) -> None:
    trail.doi_error = error
    if trail.pmcid is None:
        answer = failure_of(error)
        trail.lookup = Answer(answer.outcome, f"Neither the ID Converter nor PubMed answered: {answer.detail}")


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:] if message[1:2].islower() else message
