"""The last tier of full text: an open-access copy listed by Unpaywall, as Markdown or plain text."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from entrez_kit.base.errors import EntityNotFound, EntrezKitError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.settings import Settings
from entrez_kit.fulltext.article_lookup import Answer
from entrez_kit.fulltext.fulltext_articles import Outcome, UnpaywallArticle
from entrez_kit.fulltext.html import WebPage, convert_html_to_markdown, unreadable_error
from entrez_kit.fulltext.pdf import read_pdf
from entrez_kit.services import Services
from entrez_kit.services.transport.download.addresses import AddressGuard
from entrez_kit.services.transport.download.guard import download
from entrez_kit.services.unpaywall import INVALID_DOI, NO_ADDRESS, NO_COPY, UNKNOWN_DOI, Location, OpenAccess

if TYPE_CHECKING:
    from entrez_kit.services.transport.download.guard import Downloaded

MAX_ATTEMPTS: Final = 4
"""The maximum number of downloads for one article."""

DOWNLOAD_SHARE: Final = 3
TIER_SHARE: Final = 6
"""Time limits as multiples of UNPAYWALL_TIMEOUT_MS: for one download, and for all downloads of one article."""


def fetch_open_access(services: Services, doi: str, guard: AddressGuard | None = None) -> UnpaywallArticle | Answer:
    """Fetch an open-access copy of an article: first the PDF of the best location, then its page, then other locations.

    Args:
        guard: the allowed addresses; by default those that the settings allow.
    """
    try:
        open_access = services.unpaywall.find_location(doi).value
    except EntityNotFound:
        return Answer("no-oa", UNKNOWN_DOI)
    except EntrezKitError as exc:
        if exc.reason == "invalid_doi":
            return Answer("no-oa", INVALID_DOI)
        return Answer("not-attempted" if exc.reason == "unpaywall_disabled" else "service-error", exc.message)
    if not open_access.is_oa:
        return Answer("no-oa", NO_COPY)
    if not any(location.url_for_pdf or location.url or location.landing_page for location in open_access.locations):
        return Answer("no-oa", NO_ADDRESS)
    return _fetch_first_copy(services, open_access, guard or AddressGuard.of(services.settings))


@dataclass(frozen=True, slots=True)
class _Candidate:
    url: str
    location: Location
    guard: AddressGuard | None = None


def _fetch_first_copy(services: Services, open_access: OpenAccess, guard: AddressGuard) -> UnpaywallArticle | Answer:
    """Try the copies of an article in order and return the first that can be parsed."""
    settings = services.settings
    limit = settings.unpaywall_timeout_ms / 1000
    until = time.monotonic() + TIER_SHARE * limit
    failures: dict[str, Outcome] = {}
    named: list[_Candidate] = []
    tried: set[str] = set()
    candidates = _list_candidates(open_access)
    while len(tried) < MAX_ATTEMPTS and (left := until - time.monotonic()) > 0:
        candidate = named.pop(0) if named else next(candidates, None)
        if candidate is None:
            break
        if candidate.url in tried:
            continue
        tried.add(candidate.url)
        try:
            fetch = partial(
                download,
                candidate.url,
                settings=settings,
                deadline_s=max(0.1, min(DOWNLOAD_SHARE * limit, left)),
                silence_s=limit,
                guard=candidate.guard or guard,
                responder=services.responder,
            )
            recording = services.recording
            fetched: Downloaded = fetch() if recording is None else recording.download(candidate.url, fetch)
        except EntrezKitError as exc:
            failures.setdefault(exc.message.rstrip("."), "fetch-failed")
            continue
        try:
            return _build_article(fetched, candidate.location, open_access, settings, until)
        except EntrezKitError as exc:
            failures[f"{fetched.url.partition('?')[0]} {exc.details.get('what') or exc.message}"] = "parse-failed"
            pdf = exc.details.get("pdf_url")
            if isinstance(pdf, str):
                # The page chose this address: a public page must not lead to a service on this machine.
                inner = candidate.guard or guard.restrict_for(fetched.url)
                named.append(_Candidate(pdf, candidate.location, inner))
    outcome: Outcome = "parse-failed" if "parse-failed" in failures.values() else "fetch-failed"
    return Answer(outcome, "; ".join(failures) or "the time limit ended before a copy was fetched")


def _build_article(
    fetched: "Downloaded", location: Location, open_access: OpenAccess, settings: Settings, until: float
) -> UnpaywallArticle:
    """Parse a download by its content, not by its declared type."""
    url = fetched.url
    if settings.demo:  # the sandbox's port changes in every run
        url = re.sub(r"^(https?://[^/:]+):[0-9]+", r"\1", url)
    copy = partial(
        UnpaywallArticle,
        doi=open_access.doi,
        source_url=url,
        license=location.license,
        host_type=location.host_type,
        version=location.version,
    )
    if fetched.kind == "pdf":
        pdf = read_pdf(fetched.content, seconds=max(1.0, min(60.0, until - time.monotonic())))
        return copy(
            content_format="pdf-text",
            content=pdf.text,
            title=open_access.title or pdf.title,
            total_pages=pdf.total_pages,
        )
    page = _read_page(fetched)
    return copy(
        content_format="html-markdown",
        content=page.markdown,
        title=open_access.title or page.title,
        word_count=page.word_count,
    )


def _read_page(fetched: "Downloaded") -> WebPage:
    if fetched.kind != "html":
        media_type = fetched.content_type.partition(";")[0].strip()[:60]
        raise unreadable_error(
            "is neither a PDF nor an HTML page" + (f" (its type is {media_type})" if media_type else "")
        )
    page = convert_html_to_markdown(fetched.content, fetched.url, fetched.charset)
    if page.is_landing_page:
        problem = f"is a page about the article ({format_count(page.word_count, 'word')}), not the article"
        raise unreadable_error(problem, pdf_url=page.pdf_url)
    return page


def _list_candidates(open_access: OpenAccess) -> Iterator[_Candidate]:
    """Yield the addresses to try: for each location its PDF, then its page.

    PMC's own pages come last: earlier tiers have requested the text from PMC, and its pages refuse programs.
    """
    for location in sorted(
        open_access.locations,
        key=lambda location: _is_pmc(location.url_for_pdf or location.url or location.landing_page),
    ):
        for url in dict.fromkeys((location.url_for_pdf, location.url, location.landing_page)):
            if url:
                yield _Candidate(url, location)


def _is_pmc(url: str | None) -> bool:
    try:
        host = (urlsplit(url or "").hostname or "").lower()
    except ValueError:
        return False
    return host.endswith(".ncbi.nlm.nih.gov") or host in ("europepmc.org", "www.europepmc.org")
