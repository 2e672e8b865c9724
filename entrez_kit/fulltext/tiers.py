"""The three places a text may come from: PMC (EFetch, then its open-data bucket), Europe PMC, open-access copies."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any, Final

from entrez_kit.base import extras
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, NotConfigured, UpstreamError
from entrez_kit.base.identifiers import Identifier
from entrez_kit.core.batches import CircuitBreaker, in_batches
from entrez_kit.fulltext.article_lookup import EUROPEPMC_OFF, UNPAYWALL_OFF, Answer, ArticleLookup, failure_of
from entrez_kit.fulltext.jats.article import JatsArticle, JatsError, iter_jats
from entrez_kit.fulltext.models import PmcArticle, pubmed_url
from entrez_kit.services import Services
from entrez_kit.services.europe_pmc import has_id
from entrez_kit.services.unpaywall import INVALID_DOI, UNKNOWN_DOI
from entrez_kit.services.xml_reply import malformed

POST_ABOVE: Final = 5
"""More PMC articles at a time are asked for by POST."""
FORBIDDEN: Final = "the publisher does not allow PMC to pass on the text"
FRONT_ONLY: Final = "front matter only"
NOT_IN_PMC: Final = "PMC has no such article"
HITS: Final = 10
"""Records that may have an article's id; Europe PMC knows some articles several times."""
_BUCKET: Final = "open-data bucket"

Read = dict[str, JatsArticle | Answer]
"""By PMCID, the article or what PMC said instead."""


# PMC


def read_pmc(services: Services, trails: Sequence[ArticleLookup]) -> Read:
    """Ask PMC for all articles in one batch, and for those that the reply does not mention once more, one by one."""
    pmcids = list(dict.fromkeys(trail.pmcid for trail in trails if trail.pmcid))
    refusals = (EntityNotFound, InvalidInput)
    read: Read = {}
    for size in (len(trails), 1):
        if not (lacking := [pmcid for pmcid in pmcids if pmcid not in read]):
            break
        try:
            ask = partial(_read_set, services, {trail.pmcid: trail for trail in trails if trail.pmcid})
            asked = in_batches(lacking, size, ask, refusals=refusals, pulse=CircuitBreaker())
        except EntrezKitError as exc:
            return read | dict.fromkeys(lacking, failure_of(exc))
        for _, found in asked.answers:
            read |= found
        read |= dict.fromkeys(asked.refused, Answer("miss", NOT_IN_PMC))
        read |= {pmcid: failure_of(error) for pmcid, error in asked.failed.items()}
    return read


def find_version(services: Services, trail: ArticleLookup, read: Read) -> str:
    """Return the latest version that PMC's bucket has of an article; "" where PMC has given out the text meanwhile."""
    assert trail.pmcid is not None
    return "" if isinstance(read.get(trail.pmcid), JatsArticle) else services.pmc_oa.latest_version(trail.pmcid)


def take_pmc(
    services: Services, trail: ArticleLookup, read: Read | None, version: Callable[[], str] | None
) -> Answer | None:
    """Take what PMC said of one article; where that is no text, ask its open-data bucket; return what they said then.

    Args:
        read: what PMC said of the articles it was asked for.
        version: returns the latest version that the bucket has.
    """
    if trail.pmcid is None or read is None or version is None:
        return trail.lookup or Answer("not-attempted")
    said = read[trail.pmcid]
    if isinstance(said, Answer):
        said = _from_bucket(services, trail, version, said)
    return _taken(trail, said)


def _read_set(services: Services, trails: Mapping[str, ArticleLookup], pmcids: list[str]) -> Read:
    """Fetch articles in one batch, and return those that the reply gives or says it has not."""
    reply = services.eutils.efetch(
        db="pmc",
        ids=[pmcid.removeprefix("PMC") for pmcid in pmcids],
        retmode="xml",
        post=len(pmcids) > POST_ABOVE,
        read=lambda content: _articles_of(content, [trails[pmcid] for pmcid in pmcids]),
        keep=lambda read: read.keys() >= set(pmcids),
    )
    return {pmcid: _judged(found) if isinstance(found, JatsArticle) else found for pmcid, found in reply.value.items()}


def _articles_of(content: bytes, trails: Sequence[ArticleLookup]) -> Read:
    """Read what PMC says of articles: it names those it does not have, so a reply that names none is no answer."""
    read: Read = {}
    articles = list(iter_jats(content))
    if any(isinstance(one, JatsArticle) and not one.front.title and not one.has_body for one in articles):
        raise malformed("efetch", "an article without title and text")
    pmcids = [trail.pmcid or "" for trail in trails]
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
    missing = [trail for trail in trails if trail.pmcid not in read]
    if len(missing) == len(unnamed) == 1:
        front, trail = unnamed[0].front, missing[0]
        if front.pmcid is None and not _is_another(front, trail):
            read[trail.pmcid or ""] = unnamed[0]
    if not read:
        raise UpstreamError(
            "PMC's answer does not mention the articles that were asked for.",
            details={"reason": "invalid_response", "endpoint": "efetch"},
        )
    return read


def _judged(article: JatsArticle) -> JatsArticle | Answer:
    """Return an article that has a text, or what is to be said instead."""
    if article.has_body and article.sections:
        return article
    return Answer("no-body", FORBIDDEN if article.forbidden else FRONT_ONLY, article.front)


def _from_bucket(
    services: Services, trail: ArticleLookup, version: Callable[[], str], before: Answer
) -> JatsArticle | Answer:
    try:
        read = partial(_read_article, trail=trail)
        found = services.pmc_oa.article_xml(trail.pmcid or "", version(), read=read, keep=_is_article).value
    except (EntityNotFound, InvalidInput):
        return before.and_then(Answer("miss", f"{_BUCKET}: not there"))
    except EntrezKitError as exc:
        found = failure_of(exc)
    if isinstance(found, JatsArticle):
        return found
    return before.and_then(Answer(found.outcome, f"{_BUCKET}: {found.detail}", found.front))


def _read_article(
    content: bytes, trail: ArticleLookup, pmcid: str | None = None, title: str = ""
) -> JatsArticle | Answer:
    """Read the first article of a document.

    Raises:
        UpstreamError: it is another article than the wanted one.
    """
    try:
        article = next((item for item in iter_jats(content) if isinstance(item, JatsArticle)), None)
    except UpstreamError as exc:
        return failure_of(exc)
    if article is None:
        return Answer("parse-failed", "no article in the document")
    if not article.front.title and not article.has_body:
        raise malformed("article", "an article without title and text")
    if _is_another(article.front, trail, pmcid, title):
        raise malformed("article", "another article than the one requested")
    return _judged(article)


def _is_article(read: JatsArticle | Answer) -> bool:
    """Tell whether a reply may be cached: one that could not be read is requested again."""
    return isinstance(read, JatsArticle) or read.outcome == "no-body"


def _is_another(front: PmcArticle, trail: ArticleLookup, pmcid: str | None = None, title: str = "") -> bool:
    """Tell whether the ids of an article, or its title where no id can be compared, are those of another one.

    Args:
        front: the article.
        trail: the wanted one.
        pmcid: the PMCID by which the text was requested, if the trail has none.
        title: the title of the wanted article, if it is known.
    """
    pairs = [(front.pmcid, trail.pmcid or pmcid), (front.pmid, trail.pmid), (front.doi, trail.doi)]
    agree = [one.lower() == other.lower() for one, other in pairs if one and other]
    if agree:
        return not any(agree)
    words, wanted = ({*re.findall(r"\w+", text.casefold())} for text in (front.title or "", title))
    return bool(words and wanted) and 2 * len(words & wanted) < min(len(words), len(wanted))


def _taken(trail: ArticleLookup, found: JatsArticle | Answer) -> Answer | None:
    """Take an article; an answer in place of one is handed on."""
    if isinstance(found, Answer):
        return found
    trail.jats = found
    trail.learn(pmid=found.front.pmid, pmcid=found.front.pmcid, doi=found.front.doi)
    return None


# Europe PMC


class EuropePMCHits:
    """What Europe PMC's search finds of the articles of a batch.

    One request asks for all articles that PMC has no text of by then. An article that PMC may still return is not
    asked for.
    """

    def __init__(self, services: Services, trails: Sequence[ArticleLookup]) -> None:
        self._services = services
        self._trails = {trail.wanted.value: trail for trail in trails}
        self._lock = Lock()
        self._asked: set[str] = set()
        self._found: list[dict[str, Any]] = []
        self._errors: dict[str, EntrezKitError] = {}

    def of(self, trail: ArticleLookup) -> dict[str, Any] | None:
        """Return the record of an article, one with full text before others."""
        with self._lock:
            if trail.wanted.value not in self._asked:
                due = [key for key, one in self._trails.items() if key not in self._asked and one.is_without_pmc_text]
                self._asked.update(due)
                asked = in_batches(due, len(due), self._ask, refusals=(EntityNotFound, InvalidInput))
                self._found += [record for _, records in asked.answers for record in records]
                self._errors |= asked.refused | asked.failed
            error, own = self._errors.get(trail.wanted.value), [one for one in self._found if _is_of(one, trail)]
        if error is not None:
            raise error.copy_with()
        return min(own, key=lambda record: not record.get("pmcid"), default=None)

    def _ask(self, keys: list[str]) -> list[dict[str, Any]]:
        queries = [query_for(self._trails[key]) for key in keys]
        query = queries[0] if len(queries) == 1 else " OR ".join(f"({query})" for query in queries)
        lookups = [partial(_is_of, trail=self._trails[key]) for key in keys]
        reply = self._services.europepmc.search(
            query=query, result_type="lite", page_size=HITS * len(keys), lookups=lookups
        )
        results = (reply.value.get("resultList") or {}).get("result") or []
        return [record for record in (results if isinstance(results, list) else [results]) if isinstance(record, dict)]


def ask_europepmc(services: Services, trail: ArticleLookup, hits: EuropePMCHits) -> Answer | None:
    """Ask Europe PMC for one article; return what it said where it has no text."""
    if not services.settings.europepmc_enabled:
        return Answer("not-attempted", EUROPEPMC_OFF)
    try:
        return _from_europepmc(services, trail, hits)
    except NotConfigured as exc:
        return Answer("not-attempted", exc.message.rstrip("."))
    except EntityNotFound as exc:
        return Answer("miss", exc.message.rstrip("."))
    except InvalidInput as exc:  # of a PMID or PMCID there is nothing to refuse: the service does not work as it should
        return Answer("miss" if trail.wanted.kind == "doi" else "service-error", exc.message.rstrip("."))
    except EntrezKitError as exc:
        return failure_of(exc)


def query_for(trail: ArticleLookup) -> str:
    """Return the query that finds an article by its id. Quoted ids, and PMCIDs with a source, find nothing there."""
    kind, value = trail.wanted.kind, trail.wanted.value
    if kind == "pmid":
        return f"EXT_ID:{value} AND SRC:MED"
    if kind == "pmcid":
        return f"PMCID:{value}"
    return 'DOI:"{}"'.format(value.replace('"', "").replace("\\", ""))


def _from_europepmc(services: Services, trail: ArticleLookup, hits: EuropePMCHits) -> Answer | None:
    hit = hits.of(trail)
    if hit is None:
        return Answer("miss", "Europe PMC has no record of it")
    told = {name: str(value) for name, value in hit.items() if value}
    source, own_id = told.get("source"), told.get("id")
    trail.learn(pmid=told.get("pmid"), doi=told.get("doi"))
    has_text = source == "PMC" or (source == "PPR" and told.get("inEPMC") == "Y")
    wanted = told.get("pmcid") or (own_id if has_text else None)
    if wanted is None:
        return Answer("no-fulltext", f"EPMC source {source or 'unknown'} has no PMC counterpart")
    pmcid = wanted if wanted.startswith("PMC") else None
    read = partial(_read_article, trail=trail, pmcid=pmcid, title=told.get("title", ""))
    try:
        found = services.europepmc.full_text_xml(wanted, read=read, keep=_is_article).value
    except (EntityNotFound, InvalidInput):
        return Answer("no-fulltext", f"Europe PMC has no full text of {wanted}")
    if isinstance(found, Answer):
        return found
    trail.via_europepmc, trail.epmc_id, trail.epmc_source = True, own_id, source
    trail.learn(pmcid=pmcid)
    return _taken(trail, found)


def _is_of(record: dict[str, Any], trail: ArticleLookup) -> bool:
    return has_id(record, trail.wanted.kind, trail.wanted.value)


# Unpaywall


def ask_unpaywall(services: Services, trail: ArticleLookup) -> Answer | None:
    """Ask Unpaywall for a copy of one article, and fetch it; return why there is none."""
    if services.settings.unpaywall_email is None:
        return Answer("not-attempted", UNPAYWALL_OFF)
    if not extras.is_installed("fulltext"):
        return Answer("not-attempted", f"needs the extra fulltext: {extras.install_line('fulltext')}")
    if trail.doi is None:
        if trail.doi_error is not None:
            return failure_of(trail.doi_error)
        if trail.is_unknown:
            return Answer("miss", f"no source knows {named(trail.wanted)}")
        return Answer("no-doi", f"no DOI is known for {named(trail.wanted)}")
    from entrez_kit.fulltext.unpaywall_tier import fetch_open_access

    found = fetch_open_access(services, trail.doi)
    if isinstance(found, Answer):
        is_unknown = found.detail in (UNKNOWN_DOI, INVALID_DOI) and trail.is_unknown
        return Answer("miss" if is_unknown else found.outcome, (found.detail or "").rstrip("."))
    known = {"doi": trail.doi, "pmid": trail.pmid, "pmcid": trail.pmcid, "pubmed_url": pubmed_url(trail.pmid)}
    trail.copy = found.model_copy(update=known)
    return None


def named(wanted: Identifier) -> str:
    """Return an identifier as sentences name it: "PMID 123", "PMC123"."""
    return f"PMID {wanted.value}" if wanted.kind == "pmid" else wanted.value
