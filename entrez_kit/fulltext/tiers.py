"""The three tiers of full text: PMC (EFetch, then its open-data bucket), Europe PMC, and open-access copies."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any, Final

from entrez_kit.base import extras
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, NotConfigured, UpstreamError
from entrez_kit.base.identifiers import Identifier
from entrez_kit.core.batches import CircuitBreaker, collect_batches
from entrez_kit.fulltext.article_lookup import EUROPEPMC_OFF, UNPAYWALL_OFF, Answer, ArticleLookup, convert_failure
from entrez_kit.fulltext.fulltext_articles import PmcArticle, format_pubmed_url
from entrez_kit.fulltext.jats.article import JatsArticle, JatsError, iter_jats
from entrez_kit.services import Services
from entrez_kit.services.europe_pmc import has_id
from entrez_kit.services.small_replies import malformed_error
from entrez_kit.services.unpaywall import INVALID_DOI, UNKNOWN_DOI

POST_ABOVE: Final = 5
"""Requests for more PMC articles use POST."""
FORBIDDEN: Final = "the publisher does not allow PMC to pass on the text"
FRONT_ONLY: Final = "front matter only"
NOT_IN_PMC: Final = "PMC has no such article"
HITS: Final = 10
"""Results requested per article, because Europe PMC has several records of some articles."""
_BUCKET: Final = "open-data bucket"

Read = dict[str, JatsArticle | Answer]
"""By PMCID: the article, or PMC's answer without a text."""


# PMC


def read_pmc(services: Services, lookups: Sequence[ArticleLookup]) -> Read:
    """Request all articles from PMC in one batch; request those missing from the reply again, individually."""
    pmcids = list(dict.fromkeys(lookup.pmcid for lookup in lookups if lookup.pmcid))
    refusals = (EntityNotFound, InvalidInput)
    read: Read = {}
    for size in (len(lookups), 1):
        if not (missing := [pmcid for pmcid in pmcids if pmcid not in read]):
            break
        try:
            ask = partial(_read_set, services, {lookup.pmcid: lookup for lookup in lookups if lookup.pmcid})
            requested = collect_batches(missing, size, ask, refusals=refusals, breaker=CircuitBreaker())
        except EntrezKitError as exc:
            return read | dict.fromkeys(missing, convert_failure(exc))
        for _, found in requested.answers:
            read |= found
        read |= dict.fromkeys(requested.refused, Answer("miss", NOT_IN_PMC))
        read |= {pmcid: convert_failure(error) for pmcid, error in requested.failed.items()}
    return read


def find_bucket_version(services: Services, lookup: ArticleLookup, read: Read) -> str:
    """Return the latest version of an article in PMC's bucket; "" if PMC has already returned the text."""
    assert lookup.pmcid is not None
    return "" if isinstance(read.get(lookup.pmcid), JatsArticle) else services.pmc_oa.find_latest_version(lookup.pmcid)


def take_pmc(
    services: Services, lookup: ArticleLookup, read: Read | None, version: Callable[[], str] | None
) -> Answer | None:
    """Take PMC's text of one article, or the text in its open-data bucket; return the answer if neither has one.

    Args:
        read: PMC's articles and answers, by PMCID.
        version: returns the latest version in the bucket.
    """
    if lookup.pmcid is None or read is None or version is None:
        return lookup.pmcid_problem or Answer("not-attempted")
    answer = read[lookup.pmcid]
    if isinstance(answer, Answer):
        answer = _fetch_from_bucket(services, lookup, version, answer)
    return _store(lookup, answer)


def _read_set(services: Services, lookups: Mapping[str, ArticleLookup], pmcids: list[str]) -> Read:
    """Fetch articles in one batch; return the articles and answers that the reply contains."""
    reply = services.eutils.efetch(
        db="pmc",
        ids=[pmcid.removeprefix("PMC") for pmcid in pmcids],
        retmode="xml",
        post=len(pmcids) > POST_ABOVE,
        read=lambda content: _parse_articles(content, [lookups[pmcid] for pmcid in pmcids]),
        keep=lambda read: read.keys() >= set(pmcids),
    )
    return {
        pmcid: _check_text(found) if isinstance(found, JatsArticle) else found for pmcid, found in reply.value.items()
    }


def _parse_articles(content: bytes, lookups: Sequence[ArticleLookup]) -> Read:
    """Parse PMC's reply: it names articles that PMC does not have, so a reply that names none of them is invalid."""
    read: Read = {}
    articles = list(iter_jats(content))
    if any(
        isinstance(article, JatsArticle) and not article.front.title and not article.has_body for article in articles
    ):
        raise malformed_error("efetch", "an article without title and text")
    pmcids = [lookup.pmcid or "" for lookup in lookups]
    unnamed: list[JatsArticle] = []
    for item in articles:
        if isinstance(item, JatsError):
            pmcid = f"PMC{item.id.upper().removeprefix('PMC').partition('.')[0]}"
            if pmcid in pmcids:
                read.setdefault(pmcid, Answer("miss", item.message or NOT_IN_PMC))
        elif item.front.pmcid in pmcids:
            if not isinstance(read.get(item.front.pmcid), JatsArticle):
                read[item.front.pmcid] = item
        else:
            unnamed.append(item)
    missing = [lookup for lookup in lookups if lookup.pmcid not in read]
    if len(missing) == len(unnamed) == 1:
        front, lookup = unnamed[0].front, missing[0]
        if front.pmcid is None and not _is_another(front, lookup):
            read[lookup.pmcid or ""] = unnamed[0]
    if not read:
        raise UpstreamError(
            "PMC's reply does not contain the requested articles.",
            details={"reason": "invalid_response", "endpoint": "efetch"},
        )
    return read


def _check_text(article: JatsArticle) -> JatsArticle | Answer:
    """Return an article with a text, or the answer for an article without one."""
    if article.has_body and article.sections:
        return article
    return Answer("no-body", FORBIDDEN if article.forbidden else FRONT_ONLY, article.front)


def _fetch_from_bucket(
    services: Services, lookup: ArticleLookup, version: Callable[[], str], before: Answer
) -> JatsArticle | Answer:
    try:
        read = partial(read_requested_article, lookup=lookup)
        reply = services.pmc_oa.fetch_article(lookup.pmcid or "", version(), read=read, keep=is_cacheable).value
    except (EntityNotFound, InvalidInput):
        return before.combine(Answer("miss", f"{_BUCKET}: not there"))
    except EntrezKitError as exc:
        reply = convert_failure(exc)
    if isinstance(reply, JatsArticle):
        return reply
    return before.combine(Answer(reply.outcome, f"{_BUCKET}: {reply.detail}", reply.front))


def read_requested_article(
    content: bytes, lookup: ArticleLookup, pmcid: str | None = None, title: str = ""
) -> JatsArticle | Answer:
    """Read the first article of a document.

    Raises:
        UpstreamError: it is a different article.
    """
    try:
        article = next((item for item in iter_jats(content) if isinstance(item, JatsArticle)), None)
    except UpstreamError as exc:
        return convert_failure(exc)
    if article is None:
        return Answer("parse-failed", "no article in the document")
    if not article.front.title and not article.has_body:
        raise malformed_error("article", "an article without title and text")
    if _is_another(article.front, lookup, pmcid, title):
        raise malformed_error("article", "a different article from the one requested")
    return _check_text(article)


def is_cacheable(read: JatsArticle | Answer) -> bool:
    """Return whether a reply may be cached: one that could not be parsed is requested again."""
    return isinstance(read, JatsArticle) or read.outcome == "no-body"


def _is_another(front: PmcArticle, lookup: ArticleLookup, pmcid: str | None = None, title: str = "") -> bool:
    """Return whether the ids of an article (or its title, if no ids can be compared) belong to a different one.

    Args:
        front: the article.
        lookup: the requested article.
        pmcid: the PMCID used for the request, if the lookup does not know one.
        title: the title of the requested article, if known.
    """
    pairs = [(front.pmcid, lookup.pmcid or pmcid), (front.pmid, lookup.pmid), (front.doi, lookup.doi)]
    agree = [one.lower() == other.lower() for one, other in pairs if one and other]
    if agree:
        return not any(agree)
    words, title_words = ({*re.findall(r"\w+", text.casefold())} for text in (front.title or "", title))
    return bool(words and title_words) and 2 * len(words & title_words) < min(len(words), len(title_words))


def _store(lookup: ArticleLookup, text: JatsArticle | Answer) -> Answer | None:
    """Store an article in its lookup; return an answer unchanged."""
    if isinstance(text, Answer):
        return text
    lookup.jats = text
    lookup.learn(pmid=text.front.pmid, pmcid=text.front.pmcid, doi=text.front.doi)
    return None


# Europe PMC


class EuropePMCHits:
    """The results of Europe PMC's search for the articles of a batch.

    One request covers all articles without a text from PMC at that time. It excludes articles that PMC may still
    return.
    """

    def __init__(self, services: Services, lookups: Sequence[ArticleLookup]) -> None:
        self._services = services
        self._lookups = {lookup.identifier.value: lookup for lookup in lookups}
        self._lock = Lock()
        self._requested: set[str] = set()
        self._found: list[dict[str, Any]] = []
        self._errors: dict[str, EntrezKitError] = {}

    def find(self, lookup: ArticleLookup) -> dict[str, Any] | None:
        """Return the record of an article, preferably one with full text."""
        with self._lock:
            if lookup.identifier.value not in self._requested:
                expected = [
                    key
                    for key, lookup in self._lookups.items()
                    if key not in self._requested and lookup.is_without_pmc_text
                ]
                self._requested.update(expected)
                requested = collect_batches(expected, len(expected), self._ask, refusals=(EntityNotFound, InvalidInput))
                self._found += [record for _, records in requested.answers for record in records]
                self._errors |= requested.refused | requested.failed
            error, own = (
                self._errors.get(lookup.identifier.value),
                [article for article in self._found if _is_of(article, lookup)],
            )
        if error is not None:
            raise error.copy_with()
        return min(own, key=lambda record: not record.get("pmcid"), default=None)

    def _ask(self, keys: list[str]) -> list[dict[str, Any]]:
        queries = [build_id_query(self._lookups[key]) for key in keys]
        query = queries[0] if len(queries) == 1 else " OR ".join(f"({query})" for query in queries)
        lookups = [partial(_is_of, lookup=self._lookups[key]) for key in keys]
        reply = self._services.europepmc.search(
            query=query, result_type="lite", page_size=HITS * len(keys), lookups=lookups
        )
        results = (reply.value.get("resultList") or {}).get("result") or []
        return [record for record in (results if isinstance(results, list) else [results]) if isinstance(record, dict)]


def ask_europepmc(services: Services, lookup: ArticleLookup, hits: EuropePMCHits) -> Answer | None:
    """Take Europe PMC's text of one article; return its answer if it has none."""
    if not services.settings.europepmc_enabled:
        return Answer("not-attempted", EUROPEPMC_OFF)
    try:
        return _fetch_from_europepmc(services, lookup, hits)
    except NotConfigured as exc:
        return Answer("not-attempted", exc.message.rstrip("."))
    except EntityNotFound as exc:
        return Answer("miss", exc.message.rstrip("."))
    except InvalidInput as exc:  # a PMID or PMCID is valid, so the service is at fault
        return Answer("miss" if lookup.identifier.kind == "doi" else "service-error", exc.message.rstrip("."))
    except EntrezKitError as exc:
        return convert_failure(exc)


def build_id_query(lookup: ArticleLookup) -> str:
    """Return the query for an article's id. Europe PMC finds nothing for quoted ids, or for PMCIDs with a source."""
    kind, value = lookup.identifier.kind, lookup.identifier.value
    if kind == "pmid":
        return f"EXT_ID:{value} AND SRC:MED"
    if kind == "pmcid":
        return f"PMCID:{value}"
    return 'DOI:"{}"'.format(value.replace('"', "").replace("\\", ""))


def _fetch_from_europepmc(services: Services, lookup: ArticleLookup, hits: EuropePMCHits) -> Answer | None:
    hit = hits.find(lookup)
    if hit is None:
        return Answer("miss", "Europe PMC has no record of it")
    ids = {name: str(value) for name, value in hit.items() if value}
    source, own_id = ids.get("source"), ids.get("id")
    lookup.learn(pmid=ids.get("pmid"), doi=ids.get("doi"))
    has_text = source == "PMC" or (source == "PPR" and ids.get("inEPMC") == "Y")
    expected_id = ids.get("pmcid") or (own_id if has_text else None)
    if expected_id is None:
        return Answer("no-fulltext", f"EPMC source {source or 'unknown'} has no PMC counterpart")
    pmcid = expected_id if expected_id.startswith("PMC") else None
    read = partial(read_requested_article, lookup=lookup, pmcid=pmcid, title=ids.get("title", ""))
    try:
        reply = services.europepmc.fetch_full_text(expected_id, read=read, keep=is_cacheable).value
    except (EntityNotFound, InvalidInput):
        return Answer("no-fulltext", f"Europe PMC has no full text of {expected_id}")
    if isinstance(reply, Answer):
        return reply
    lookup.via_europepmc, lookup.epmc_id, lookup.epmc_source = True, own_id, source
    lookup.learn(pmcid=pmcid)
    return _store(lookup, reply)


def _is_of(record: dict[str, Any], lookup: ArticleLookup) -> bool:
    return has_id(record, lookup.identifier.kind, lookup.identifier.value)


# Unpaywall


def ask_unpaywall(services: Services, lookup: ArticleLookup) -> Answer | None:
    """Fetch an open-access copy of one article; return the reason if no copy is available."""
    if services.settings.unpaywall_email is None:
        return Answer("not-attempted", UNPAYWALL_OFF)
    if not extras.is_installed("fulltext"):
        return Answer("not-attempted", f"needs the extra fulltext: {extras.install_line('fulltext')}")
    if lookup.doi is None:
        if lookup.doi_error is not None:
            return convert_failure(lookup.doi_error)
        if lookup.is_unknown:
            return Answer("miss", f"no source knows {name_identifier(lookup.identifier)}")
        return Answer("no-doi", f"no DOI is known for {name_identifier(lookup.identifier)}")
    from entrez_kit.fulltext.unpaywall_tier import fetch_open_access

    open_copy = fetch_open_access(services, lookup.doi)
    if isinstance(open_copy, Answer):
        is_unknown = open_copy.detail in (UNKNOWN_DOI, INVALID_DOI) and lookup.is_unknown
        return Answer("miss" if is_unknown else open_copy.outcome, (open_copy.detail or "").rstrip("."))
    known = {
        "doi": lookup.doi,
        "pmid": lookup.pmid,
        "pmcid": lookup.pmcid,
        "pubmed_url": format_pubmed_url(lookup.pmid),
    }
    lookup.copy = open_copy.model_copy(update=known)
    return None


def name_identifier(identifier: Identifier) -> str:
    """Return the name of an identifier for messages: "PMID 123", "PMC123"."""
    return f"PMID {identifier.value}" if identifier.kind == "pmid" else identifier.value
