"""The three places a text may come from: PMC (EFetch, then its open-data bucket), Europe PMC, open-access copies."""

from collections.abc import Sequence
from typing import Any, Final

from entrez_kit import extras
from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, NotConfigured, UpstreamError
from entrez_kit.fulltext.jats.article import JatsArticle, JatsError, iter_jats
from entrez_kit.fulltext.jats.tree import ENDPOINT
from entrez_kit.fulltext.models import pubmed_url
from entrez_kit.fulltext.trail import EUROPEPMC_OFF, UNPAYWALL_OFF, Answer, Trail, service_error
from entrez_kit.identifiers import Identifier
from entrez_kit.services import Services
from entrez_kit.services.unpaywall import INVALID_DOI, UNKNOWN_DOI

POST_ABOVE: Final = 5
"""More PMC articles at a time are asked for by POST."""
MAX_FAILED: Final = 3
"""After so many articles in a row that PMC gives no answer about, it is not asked about the others of the batch."""

FORBIDDEN: Final = "the publisher does not allow PMC to pass on the text"
FRONT_ONLY: Final = "front matter only"
NOT_IN_PMC: Final = "PMC has no such article"
_BUCKET: Final = "open-data bucket"

Read = dict[str, JatsArticle | Answer]
"""By PMCID, the article or what PMC said instead."""


# PMC


def read_pmc(services: Services, trails: Sequence[Trail]) -> Read:
    """Ask PMC for all articles in one batch."""
    pmcids = list(dict.fromkeys(trail.pmcid for trail in trails if trail.pmcid))
    return _efetch(services, pmcids) if pmcids else {}


def take_pmc(services: Services, trail: Trail, read: Read) -> None:
    """Take what PMC said of one article; ask its open-data bucket where that is no text."""
    if trail.pmcid is None:
        trail.note("pmc", trail.lookup or Answer("not-attempted"))
        return
    said = read[trail.pmcid]
    if isinstance(said, Answer):
        said = _from_bucket(services, trail.pmcid, said)
    if isinstance(said, JatsArticle):
        _take(trail, said)
    else:
        trail.note("pmc", said)


def _efetch(services: Services, pmcids: list[str]) -> Read:
    """Fetch articles in one batch; when that fails, one by one, so that none sinks the others."""
    read: Read = {}
    try:
        read = _read_set(services, pmcids)
    except (EntityNotFound, InvalidInput):
        if len(pmcids) == 1:
            return {pmcids[0]: Answer("miss", NOT_IN_PMC)}
    except EntrezKitError as exc:
        if len(pmcids) == 1 or not _may_be_one_article(exc):
            return dict.fromkeys(pmcids, _failure(exc))
    failed = 0
    for pmcid in pmcids:
        if pmcid in read:
            continue
        if failed >= MAX_FAILED:
            read[pmcid] = Answer("service-error", "Not tried, because requests before it failed")
            continue
        read |= _efetch(services, [pmcid])
        answer = read[pmcid]
        failed = failed + 1 if isinstance(answer, Answer) and answer.outcome == "service-error" else 0
    return read


def _may_be_one_article(error: EntrezKitError) -> bool:
    """Tell whether the other articles of a failed batch may answer when they are asked for by themselves."""
    return isinstance(error, UpstreamError) and error.reason in ("invalid_response", "ncbi_unreachable", "too_large")


def _read_set(services: Services, pmcids: list[str]) -> Read:
    """Fetch articles in one batch, and return those that the reply gives or says it has not."""
    reply = services.eutils.efetch(
        db="pmc",
        ids=[pmcid.removeprefix("PMC") for pmcid in pmcids],
        retmode="xml",
        post=len(pmcids) > POST_ABOVE,
        read=lambda content: _articles_of(content, pmcids),
    )
    return {pmcid: _judged(found) if isinstance(found, JatsArticle) else found for pmcid, found in reply.value.items()}


def _articles_of(content: bytes, pmcids: list[str]) -> Read:
    """Read what PMC says of articles: it names those it does not have, so a reply that names none is no answer."""
    read: Read = {}
    unnamed: list[JatsArticle] = []
    for item in iter_jats(content):
        if isinstance(item, JatsError):
            pmcid = f"PMC{item.id.upper().removeprefix('PMC').partition('.')[0]}"
            if pmcid in pmcids:
                read.setdefault(pmcid, Answer("miss", item.message or NOT_IN_PMC))
        elif item.front.pmcid in pmcids:
            if not isinstance(read.get(item.front.pmcid), JatsArticle):
                read[item.front.pmcid] = item
        else:
            unnamed.append(item)
    missing = [pmcid for pmcid in pmcids if pmcid not in read]
    if len(missing) == 1 and len(unnamed) == 1 and unnamed[0].front.pmcid is None:
        read[missing[0]] = unnamed[0]
    if not read:
        raise UpstreamError(
            "PMC's answer does not mention the articles that were asked for.",
            details={"reason": "invalid_response", "endpoint": "efetch"},
        )
    return read


def _judged(article: JatsArticle) -> JatsArticle | Answer:
    """Return an article that has a text and can be read to its end, or what is to be said instead."""
    try:
        if article.has_body and article.nodes:
            return article
    except UpstreamError as exc:
        return _failure(exc)
    return Answer("no-body", FORBIDDEN if article.forbidden else FRONT_ONLY, article.front)


def _failure(error: EntrezKitError) -> Answer:
    """Tell a document that cannot be read from a service that gives none."""
    if error.details.get("endpoint") == ENDPOINT:
        return Answer("parse-failed", error.message.rstrip("."))
    return service_error(error)


def _from_bucket(services: Services, pmcid: str, before: Answer) -> JatsArticle | Answer:
    try:
        found = _first(services.pmc_oa.article_xml(pmcid).content)
    except (EntityNotFound, InvalidInput):
        return before.and_then(Answer("miss", f"{_BUCKET}: not there"))
    except EntrezKitError as exc:
        answer = _failure(exc)
        return before.and_then(Answer(answer.outcome, f"{_BUCKET}: {answer.detail}"))
    if isinstance(found, JatsArticle):
        return found
    return before.and_then(Answer(found.outcome, f"{_BUCKET}: {found.detail}", found.front))


def _first(content: bytes) -> JatsArticle | Answer:
    article = next((item for item in iter_jats(content) if isinstance(item, JatsArticle)), None)
    return Answer("parse-failed", "no article in the document") if article is None else _judged(article)


def _take(trail: Trail, article: JatsArticle) -> None:
    trail.jats = article
    trail.learn(pmid=article.front.pmid, pmcid=article.front.pmcid, doi=article.front.doi)


# Europe PMC


def ask_europepmc(services: Services, trail: Trail) -> None:
    """Ask Europe PMC for one article."""
    if not services.settings.europepmc_enabled:
        trail.note("europepmc", Answer("not-attempted", EUROPEPMC_OFF))
        return
    answer: Answer | None
    try:
        answer = _from_europepmc(services, trail)
    except NotConfigured as exc:
        answer = Answer("not-attempted", exc.message.rstrip("."))
    except EntityNotFound as exc:
        answer = Answer("miss", exc.message.rstrip("."))
    except InvalidInput as exc:  # of a PMID or PMCID there is nothing to refuse: the service does not work as it should
        answer = Answer("miss" if trail.wanted.kind == "doi" else "service-error", exc.message.rstrip("."))
    except EntrezKitError as exc:
        answer = _failure(exc)
    if answer is not None:
        trail.note("europepmc", answer)


def query_for(trail: Trail) -> str:
    """Return the query that finds an article by its id. Quoted ids, and PMCIDs with a source, find nothing there."""
    kind, value = trail.wanted.kind, trail.wanted.value
    if kind == "pmid":
        return f"EXT_ID:{value} AND SRC:MED"
    if kind == "pmcid":
        return f"PMCID:{value}"
    return 'DOI:"{}"'.format(value.replace('"', "").replace("\\", ""))


def _from_europepmc(services: Services, trail: Trail) -> Answer | None:
    reply = services.europepmc.search(query=query_for(trail), result_type="lite", page_size=10)
    hit = _hit(reply.value, trail)
    if hit is None:
        return Answer("miss", "Europe PMC has no record of it")
    source, pmcid = str(hit.get("source") or ""), str(hit.get("pmcid") or "")
    trail.learn(pmid=str(hit.get("pmid") or "") or None, doi=str(hit.get("doi") or "") or None)
    wanted = pmcid or (str(hit.get("id") or "") if source == "PMC" else "")
    if not wanted and source == "PPR" and hit.get("inEPMC") == "Y":
        wanted = str(hit.get("id") or "")
    if not wanted:
        return Answer("no-fulltext", f"EPMC source {source or 'unknown'} has no PMC counterpart")
    try:
        content = services.europepmc.full_text_xml(wanted).content
    except (EntityNotFound, InvalidInput):
        return Answer("no-fulltext", f"Europe PMC has no full text of {wanted}")
    if not content.strip():
        return Answer("no-fulltext", f"Europe PMC has no full text of {wanted}")
    found = _first(content)
    if isinstance(found, Answer):
        return found
    trail.via_europepmc, trail.epmc_id, trail.epmc_source = True, str(hit.get("id") or "") or None, source or None
    trail.learn(pmcid=wanted if wanted.startswith("PMC") else None)
    _take(trail, found)
    return None


def _hit(document: dict[str, Any], trail: Trail) -> dict[str, Any] | None:
    """Return the record of the article itself, one with full text before others."""
    results = (document.get("resultList") or {}).get("result") or []
    records = [record for record in (results if isinstance(results, list) else [results]) if isinstance(record, dict)]
    own = [record for record in records if _is_of(record, trail)]
    return min(own, key=lambda record: not record.get("pmcid"), default=None)


def _is_of(record: dict[str, Any], trail: Trail) -> bool:
    kind, value = trail.wanted.kind, trail.wanted.value
    if kind == "pmid":
        return value in (record.get("pmid"), record.get("id") if record.get("source") == "MED" else None)
    if kind == "pmcid":
        return value in (record.get("pmcid"), record.get("id") if record.get("source") == "PMC" else None)
    return str(record.get("doi") or "").lower() == value.lower()


# Unpaywall


def ask_unpaywall(services: Services, trail: Trail) -> None:
    """Ask Unpaywall for a copy of one article, and fetch it."""
    if services.settings.unpaywall_email is None:
        trail.note("unpaywall", Answer("not-attempted", UNPAYWALL_OFF))
        return
    if not extras.is_installed("fulltext"):
        trail.note("unpaywall", Answer("not-attempted", f"needs the extra fulltext: {extras.install_line('fulltext')}"))
        return
    if trail.doi is None:
        if trail.doi_error is not None:
            trail.note("unpaywall", service_error(trail.doi_error))
        elif trail.is_unknown:
            trail.note("unpaywall", Answer("miss", f"no source knows {named(trail.wanted)}"))
        else:
            trail.note("unpaywall", Answer("no-doi", f"no DOI is known for {named(trail.wanted)}"))
        return
    from entrez_kit.fulltext.unpaywall_tier import NoCopy, fetch_open_access

    found = fetch_open_access(services, trail.doi)
    if isinstance(found, NoCopy):
        is_unknown = found.detail in (UNKNOWN_DOI, INVALID_DOI) and trail.is_unknown
        trail.note("unpaywall", Answer("miss" if is_unknown else found.outcome, found.detail.rstrip(".")))
        return
    known = {"doi": trail.doi, "pmid": trail.pmid, "pmcid": trail.pmcid, "pubmed_url": pubmed_url(trail.pmid)}
    trail.copy = found.model_copy(update=known)


def named(wanted: Identifier) -> str:
    """Return an identifier as sentences name it: "PMID 123", "PMC123"."""
    return f"PMID {wanted.value}" if wanted.kind == "pmid" else wanted.value
