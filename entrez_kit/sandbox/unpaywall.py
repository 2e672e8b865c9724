"""Unpaywall: the locations of open-access copies of the corpus, all at the publisher of the sandbox.

An article with a PMCID has a PDF and a page. For other articles, the PMID modulo four determines the copies: none, a
PDF and a page, only a page, or an HTML page in place of the PDF with the real PDF in a repository.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from entrez_kit.local.eutils.replies import LocalReply, answer_json
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.local.records.document import Document
from entrez_kit.sandbox.publisher import PATH, choose_copies
from entrez_kit.sandbox.service_data import SERVICES

_DOI: Final = re.compile(r"10\.[0-9]{4,9}(\.[0-9]+)*/\S+")
_EXAMPLE: Final = re.compile(r"[^@\s]*+@example\.(com|org|net)|your[^@]*+@.*|[^@]*+", re.IGNORECASE)


def build_endpoint(base: Callable[[], str]) -> Callable[[LocalRequest, LocalState], LocalReply]:
    """Return the endpoint of a sandbox with this base URL."""

    def answer_unpaywall(request: LocalRequest, state: LocalState) -> LocalReply:
        email = request.get("email")
        if not email:
            return _answer_error(422, "Email address required in API call, see http://unpaywall.org/products/api")
        if _EXAMPLE.fullmatch(email):
            return _answer_error(
                422, "Please use your own email address in API calls. See http://unpaywall.org/products/api"
            )
        doi = request.rest.removeprefix("v2/")
        if not _DOI.fullmatch(doi):
            return _answer_error(404, f"'{doi[:200]}' is an invalid doi.  See https://doi.org/{doi[:200]}")
        article = state.find_article(doi)
        if article is None:
            return _answer_error(404, f"'{doi[:200]}' isn't in Unpaywall. See https://support.unpaywall.org/a/faq")
        return answer_json(_build_record(article, base()))

    return answer_unpaywall


def _answer_error(status: int, message: str) -> LocalReply:
    return answer_json({"HTTP_status_code": status, "error": True, "message": message}, status)


def _build_record(article: Document, base: str) -> dict[str, Any]:
    locations = _list_locations(article, f"{base}{PATH}/{article.pmid}")
    return {
        "doi": article.doi,
        "doi_url": f"https://doi.org/{article.doi}",
        "title": article.title,
        "year": article.publication_date.number // 10_000 or None,
        "journal_name": article.journal_title,
        "is_oa": bool(locations),
        "oa_status": "gold" if locations else "closed",
        "has_repository_copy": any(location["host_type"] == "repository" for location in locations),
        "best_oa_location": locations[0] if locations else None,
        "first_oa_location": locations[0] if locations else None,
        "oa_locations": locations,
        **SERVICES["unpaywall"],
    }


def _list_locations(article: Document, address: str) -> list[dict[str, Any]]:
    case = choose_copies(article)
    page = f"{address}.html"
    if case == 0:
        return []
    if case == 1:
        return [_build_location(f"{address}.pdf", page, best=True)]
    if case == 2:
        return [_build_location(None, address, best=True)]
    return [
        _build_location(f"{address}/download", f"{address}/download", best=True),
        _build_location(f"{address}.pdf", page, best=False, host="repository", version="acceptedVersion"),
    ]


def _build_location(
    pdf: str | None, page: str, *, best: bool, host: str = "publisher", version: str = "publishedVersion"
) -> dict[str, Any]:
    return {
        "url": pdf or page,
        "url_for_pdf": pdf,
        "url_for_landing_page": page,
        "license": "cc-by",
        "version": version,
        "host_type": host,
        "is_best": best,
        "evidence": "deprecated",
        "updated": "deprecated",
    }
