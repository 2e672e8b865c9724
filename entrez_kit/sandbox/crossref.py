"""Crossref and OpenAlex for the corpus of the sandbox.

As the real services do, they disagree: OpenAlex reports retractions only for works with an even PMID. The record of a
notice has ``update-to``; the record of a corrected work has ``updated-by`` only if its PMID is even.
"""

import re
from typing import Any, Final

from entrez_kit.local.eutils.replies import LocalReply, answer_json, answer_text
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.local.records.document import Document
from entrez_kit.sandbox.service_data import SERVICES

_UPDATED: Final[dict[str, str]] = SERVICES["crossref"]["updated"]
_UPDATES: Final[dict[str, str]] = SERVICES["crossref"]["updates"]
_AGENCIES: Final[dict[str, str]] = SERVICES["crossref"]["agencies"]
"""Other agencies, by the prefix of their DOIs."""
_DOI: Final = re.compile(r"\bdoi: ?(10\.\S*[^\s.;,])", re.IGNORECASE)
_MAX_VALUES: Final = 100
"""OpenAlex takes this number of values of a filter."""
_RETRACTED: Final = frozenset(kind for kind, name in _UPDATED.items() if name.endswith("retraction"))


def answer_crossref(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer ``/works/{doi}``, ``/works/{doi}/agency`` and ``/works?filter=`` with updates: or doi:.

    An unknown filter gets an error.
    """
    path = request.rest
    if path == "works":
        return _answer_filter(request, state)
    if path.endswith("/agency"):
        return _answer_agency(path.removeprefix("works/").removesuffix("/agency"), state)
    article = state.find_article(path.removeprefix("works/"))
    if article is None:
        return answer_text("Resource not found.", 404)
    return _build_message("work", _build_record(article))


def _answer_agency(doi: str, state: LocalState) -> LocalReply:
    name = "Crossref" if state.find_article(doi) is not None else _AGENCIES.get(doi.partition("/")[0])
    if name is None:
        return answer_text("Resource not found.", 404)
    return _build_message("work-agency", {"DOI": doi.lower(), "agency": {"id": name.lower(), "label": name}})


def answer_openalex(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer ``/works/doi:{doi}`` and, with a key, ``/works?filter=doi:{doi}|{doi}``."""
    if request.rest == "works":
        return _answer_openalex_list(request, state)
    article = state.find_article(request.rest.removeprefix("works/doi:"))
    if article is None:
        return answer_json({"error": "404 Not Found", "message": "The requested work does not exist."}, 404)
    return answer_json(_build_openalex_work(article))


def _answer_openalex_list(request: LocalRequest, state: LocalState) -> LocalReply:
    name, _, values = request.get("filter").partition(":")
    if not request.get("api_key"):
        return answer_json({"error": "API key required", "message": "Lists of works require an API key."}, 401)
    if name != "doi" or "," in values or values.count("|") >= _MAX_VALUES:
        return answer_json({"error": "Invalid query parameters error.", "message": "This filter is not valid."}, 400)
    articles = [article for doi in values.split("|") if (article := state.find_article(doi)) is not None]
    works = [_build_openalex_work(article) for article in articles][: request.get_number("per-page", 25)]
    return answer_json({"meta": {"count": len(articles), "page": 1, "per_page": len(works)}, "results": works})


def _build_openalex_work(article: Document) -> dict[str, Any]:
    retracted = any(correction.kind in _RETRACTED for correction in article.corrections)
    return {
        "id": f"https://openalex.org/W{article.pmid}",
        "doi": f"https://doi.org/{article.doi.lower()}",
        "is_retracted": retracted and int(article.pmid) % 2 == 0,
    }


def _answer_filter(request: LocalRequest, state: LocalState) -> LocalReply:
    items = []
    for clause in request.get("filter").split(","):
        name, _, doi = clause.partition(":")
        if name not in ("updates", "doi"):
            failure = {"type": "filter-not-available", "value": name, "message": f"Filter {name} specified but absent"}
            return answer_json({"status": "failed", "message-type": "validation-failure", "message": [failure]}, 400)
        work = state.find_article(doi)
        if work is not None and name == "doi":
            items.append(_build_record(work))
        for correction in work.corrections if work is not None and name == "updates" else ():
            notice = state.find_article(match[1]) if (match := _DOI.search(correction.source)) else None
            if correction.kind in _UPDATED and notice is not None:
                record = _build_record(notice)
                if any(update["DOI"] == doi.lower() for update in record.get("update-to", ())):
                    items.append(record)
    return _build_message("work-list", {"total-results": len(items), "items": items[: request.get_number("rows", 20)]})


def _build_message(kind: str, message: dict[str, Any]) -> LocalReply:
    return answer_json({"status": "ok", "message-type": kind, "message-version": "1.0.0", "message": message})


def _build_record(article: Document) -> dict[str, Any]:
    number = article.publication_date.number
    parts = [part for part in (number // 10_000, number // 100 % 100, number % 100) if part]
    record: dict[str, Any] = {
        "DOI": article.doi.lower(),
        "type": "posted-content" if "Preprint" in article.publication_types else "journal-article",
        "title": [article.title.rstrip(".")],
        "author": [
            {"name": person.group} if person.group else {"family": person.last, "given": person.fore or person.initials}
            for person in article.authors
        ],
        "container-title": [article.journal_title],
        "short-container-title": [article.journal_iso],
        "volume": article.volume,
        "issue": article.issue,
        "page": article.pages,
        "issued": {"date-parts": [parts]},
        "update-to": list(_list_updates(article, _UPDATES)),
        "updated-by": list(_list_updates(article, _UPDATED)) if int(article.pmid) % 2 == 0 else [],
    }
    return {name: value for name, value in record.items() if value}


def _list_updates(article: Document, kinds: dict[str, str]) -> Any:
    for correction in article.corrections:
        doi = _DOI.search(correction.source)
        if correction.kind in kinds and doi:
            yield {"DOI": doi[1].lower(), "type": kinds[correction.kind], "source": "publisher"}
