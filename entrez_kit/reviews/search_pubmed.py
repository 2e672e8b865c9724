"""Run the strategy of a review in PubMed, and fetch the records."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.progress import begin_stage
from entrez_kit.core.model import Warn
from entrez_kit.pubmed.fetch import FetchRequest, fetch_contents
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.search import SEARCH_ARTICLES
from entrez_kit.pubmed.search_models import SearchRequest
from entrez_kit.reviews.folder import Review
from entrez_kit.reviews.journal import CountedLine, FileOfRun, Search
from entrez_kit.reviews.records import ReviewRecord, record_of_article, record_without_data
from entrez_kit.reviews.review_settings import SOURCE
from entrez_kit.services import Services
from entrez_kit.strategies.translate_strategy import count_lines, read_strategy_of_file
from entrez_kit.strategies.translated_lines import StrategyLine, StrategyRequest

MAX_LISTED: Final = 20
ANSWERED_BY: Final = ("demo", "local")
"""Warnings that every answer repeats; a run has ``answered_by``."""


@dataclass(frozen=True, slots=True)
class StrategySearch:
    """The outcome of a search: its description for the journal, its PMIDs, and warnings."""

    search: Search
    pmids: list[str]
    warnings: list[Warn]


def name_source(services: Services) -> str:
    """Return what answers: PubMed, a local copy, or the demo."""
    settings = services.settings
    if settings.copy_label:
        return f"Local copy of PubMed: {settings.copy_label}"
    return "Demo with invented articles" if settings.demo else "PubMed"


def run_strategy(services: Services, review: Review, *, clause: str = "") -> StrategySearch:
    """Translate the strategy, count its lines, and retrieve all PMIDs of its last line.

    Args:
        clause: restricts the search, for example to records added since the last search.

    Raises:
        InvalidInput: the strategy is missing, or its last line cannot be searched.
        UpstreamError: PubMed did not answer, or listed fewer records than it counted.
    """
    name, text = _read_strategy(review)
    begin_stage("Counting lines")
    request = StrategyRequest(strategy=text, dialect=review.settings.pubmed.dialect)
    strategy, translated = read_strategy_of_file(services, request, name)
    query = translated.query
    assert query is not None
    counted = count_lines(services, strategy)
    result = strategy.to_result(counted.counts)
    begin_stage("Retrieving PMIDs")
    term = f"({query}) AND ({clause})" if clause else query
    searched = SEARCH_ARTICLES.run(services, SearchRequest(query_term=term, retrieve_all=True))
    missing = searched.missing_error()
    if missing is not None:
        missing.details["partial"] = False  # nothing is stored
        raise missing
    assert searched.certificate is not None
    search = Search(
        strategy=FileOfRun(name=name, sha256=hashlib.sha256(text.encode()).hexdigest()),
        dialect=result.dialect,
        lines=[_describe_line(line) for line in result.lines],
        query=term,
        query_translation=searched.query_translation,
        range=clause or None,
        certificate=searched.certificate,
    )
    warnings = [
        Warn(code=warning.code, message=warning.message, terms=warning.terms[:MAX_LISTED])
        for warning in searched.warnings
        if warning.code not in ANSWERED_BY
    ]
    if counted.missing_error is not None:
        warnings.append(Warn(code="lines_not_counted", message=counted.missing_error.message))
    final = next((line for line in result.lines if line.number == result.final), None)
    if final is not None and final.label not in (None, "exact"):
        warnings.append(Warn(code="translation_differs", message=final.describe_difference()))
    return StrategySearch(search, searched.pmids, warnings)


def _read_strategy(review: Review) -> tuple[str, str]:
    """Return the name of the file with the strategy, and its text.

    Raises:
        InvalidInput: the file is missing or empty.
    """
    name = review.settings.pubmed.strategy
    text = review.read_file(name)
    if not text or not text.strip():
        raise InvalidInput(
            f"The strategy {name} is missing or empty.",
            invalid_input=name,
            recovery_hint=f"Write the strategy to {name} in the folder of the review.",
            details={"reason": "no_strategy"},
        )
    return name, text


def _describe_line(line: StrategyLine) -> CountedLine:
    return CountedLine(
        number=line.number,
        original=line.original.strip("\r\n"),
        pubmed=line.pubmed,
        label=line.label,
        loss=line.loss,
        count=line.count,
    )


def fetch_with_absent(services: Services, pmids: Sequence[str]) -> tuple[dict[str, Article], list[str]]:
    """Fetch records; return them by the PMID that was asked for, and the PMIDs without a record.

    Raises:
        UpstreamError: a record could not be fetched.
    """
    if not pmids:
        return {}, []
    request = FetchRequest(pmids=list(pmids))
    articles: dict[str, Article] = {}
    absent: list[str] = []
    outcomes = fetch_contents(services, request)
    for pmid, content in zip(pmids, outcomes, strict=True):
        document = content.document
        if isinstance(document, Article):
            articles[pmid] = document
        elif content.outcome.status == "not_found":
            absent.append(pmid)
    lost = len(pmids) - len(articles) - len(absent)
    if lost:
        error = outcomes.missing_error()
        assert error is not None
        error.details["partial"] = False
        raise error
    return articles, absent


def fetch_records(services: Services, pmids: Sequence[str], run: int, warnings: list[Warn]) -> dict[str, ReviewRecord]:
    """Fetch the records of a search by PMID. A PMID without a record has a record with its number only."""
    begin_stage("Fetching records")
    articles, absent = fetch_with_absent(services, pmids)
    if absent:
        pmids_text = format_count(len(absent), "PMID")
        message = f"PubMed listed {pmids_text} without a record: {', '.join(absent[:MAX_LISTED])}."
        warnings.append(Warn(code="records_missing", message=message, terms=absent))
    records = {pmid: record_of_article(article, SOURCE, run) for pmid, article in articles.items()}
    return records | {pmid: record_without_data(pmid, SOURCE, run) for pmid in absent}
