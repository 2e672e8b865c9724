"""The last tier of full text: an open-access copy that Unpaywall knows, read as Markdown or plain text."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, NotConfigured
from entrez_kit.fulltext.html import WebPage, html_to_markdown, unreadable
from entrez_kit.fulltext.models import UnpaywallArticle
from entrez_kit.fulltext.pdf import pdf_to_text
from entrez_kit.services import Services
from entrez_kit.services.unpaywall import (
    INVALID_DOI,
    NO_ADDRESS,
    NO_COPY,
    UNKNOWN_DOI,
    Location,
    OpenAccess,
)
from entrez_kit.transport.download.addresses import AddressGuard

if TYPE_CHECKING:
    from entrez_kit.transport.download.guard import Downloaded

MAX_ATTEMPTS: Final = 4
"""Downloads for one article."""

DOWNLOAD_SHARE: Final = 3
TIER_SHARE: Final = 6
"""Time limits, as multiples of UNPAYWALL_TIMEOUT_MS: of one download, and of all for one article."""

Outcome = Literal["not-attempted", "no-oa", "fetch-failed", "parse-failed", "service-error"]


@dataclass(frozen=True, slots=True)
class NoCopy:
    """Why there is none: the outcome as full text reports it, and a line of detail.

    ``error`` is what a service failed with, where one did.
    """

    outcome: Outcome
    detail: str
    error: EntrezKitError | None = None


def fetch_open_access(services: Services, doi: str, guard: AddressGuard | None = None) -> UnpaywallArticle | NoCopy:
    """Fetch an open-access copy of an article: the PDF of the best one first, then its page, then further ones.

    Args:
        services: the clients.
        doi: the article.
        guard: which addresses may be asked; by default what the settings allow.
    """
    try:
        known = services.unpaywall.location(doi).value
    except NotConfigured as exc:
        outcome: Outcome = "not-attempted" if exc.reason == "unpaywall_disabled" else "service-error"
        return NoCopy(outcome, exc.message, exc)
    except EntityNotFound:
        return NoCopy("no-oa", UNKNOWN_DOI)
    except InvalidInput as exc:
        return (
            NoCopy("no-oa", INVALID_DOI) if exc.reason == "invalid_doi" else NoCopy("service-error", exc.message, exc)
        )
    except EntrezKitError as exc:
        return NoCopy("service-error", exc.message, exc)
    if not known.is_oa:
        return NoCopy("no-oa", NO_COPY)
    if not any(location.url_for_pdf or location.url or location.landing_page for location in known.locations):
        return NoCopy("no-oa", NO_ADDRESS)
    return _CopySearch(services, guard or AddressGuard.of(services.settings)).run(known)


@dataclass(frozen=True, slots=True)
class _Candidate:
    url: str
    location: Location
    guard: AddressGuard | None = None


class _CopySearch:
    """Try the copies of one article, one after the other."""

    def __init__(self, services: Services, guard: AddressGuard) -> None:
        self._settings = services.settings
        self._guard = guard
        self._limit = services.settings.unpaywall_timeout_ms / 1000
        self._until = time.monotonic() + TIER_SHARE * self._limit
        self._failures: list[tuple[Outcome, str]] = []
        self._named: list[_Candidate] = []

    def run(self, known: OpenAccess) -> UnpaywallArticle | NoCopy:
        """Return the first copy that can be read."""
        attempts = 0
        tried: set[str] = set()
        listed = _candidates(known)
        while attempts < MAX_ATTEMPTS and self._until > time.monotonic():
            candidate = self._named.pop(0) if self._named else next(listed, None)
            if candidate is None:
                break
            if candidate.url in tried:
                continue
            tried.add(candidate.url)
            attempts += 1
            copy = self._attempt(candidate, known)
            if copy is not None:
                return copy
        outcomes = {outcome for outcome, _ in self._failures}
        details = list(dict.fromkeys(detail for _, detail in self._failures))
        if not self._failures:
            return NoCopy("fetch-failed", "the time was up before any copy was fetched")
        return NoCopy("parse-failed" if "parse-failed" in outcomes else "fetch-failed", "; ".join(details))

    def _attempt(self, candidate: _Candidate, known: OpenAccess) -> UnpaywallArticle | None:
        from entrez_kit.transport.download.guard import download

        left = self._until - time.monotonic()
        try:
            fetched = download(
                candidate.url,
                settings=self._settings,
                deadline_s=max(0.1, min(DOWNLOAD_SHARE * self._limit, left)),
                silence_s=self._limit,
                guard=candidate.guard or self._guard,
            )
        except EntrezKitError as exc:
            self._failures.append(("fetch-failed", exc.message.rstrip(".")))
            return None
        try:
            return self._read(fetched, candidate, known)
        except EntrezKitError as exc:
            what = exc.details.get("what") or exc.message
            self._failures.append(("parse-failed", f"{_shown(fetched.url)} {what}"))
            named = exc.details.get("pdf_url")
            if isinstance(named, str):
                # What a page names is the page's word: a public one must not lead to a service on this machine.
                guard = candidate.guard or self._guard.seen_from(fetched.url)
                self._named.append(_Candidate(named, candidate.location, guard))
            return None

    def _read(self, fetched: "Downloaded", candidate: _Candidate, known: OpenAccess) -> UnpaywallArticle:
        """Read what was fetched, by what it is and not by what it was said to be."""
        location = candidate.location
        copy = partial(
            UnpaywallArticle,
            doi=known.doi,
            source_url=self._source(fetched),
            license=location.license,
            host_type=location.host_type,
            version=location.version,
        )
        if fetched.kind == "pdf":
            pdf = pdf_to_text(fetched.content, seconds=max(1.0, min(60.0, self._until - time.monotonic())))
            return copy(
                content_format="pdf-text",
                content=pdf.text,
                title=known.title or pdf.title,
                word_count=pdf.word_count,
                total_pages=pdf.total_pages,
            )
        page = self._page(fetched)
        return copy(
            content_format="html-markdown",
            content=page.markdown,
            title=known.title or page.title,
            word_count=page.word_count,
        )

    def _source(self, fetched: "Downloaded") -> str:
        """Return where a copy was found; without the sandbox's port, which is another one in every run."""
        if not self._settings.demo:
            return fetched.url
        return re.sub(r"^(https?://[^/:]+):[0-9]+", r"\1", fetched.url)

    def _page(self, fetched: "Downloaded") -> WebPage:
        if fetched.kind != "html":
            said = fetched.content_type.partition(";")[0].strip()[:60]
            raise unreadable("is neither a PDF nor a page" + (f" (it is called {said})" if said else ""))
        page = html_to_markdown(fetched.content, fetched.url, fetched.charset)
        if page.is_landing_page:
            raise unreadable(
                f"is a page about the article ({page.word_count} words), not the article", pdf_url=page.pdf_url
            )
        return page


def _candidates(known: OpenAccess) -> Iterator[_Candidate]:
    """Yield the addresses worth asking: of each copy the PDF, then its page.

    PMC's own pages come last: the tiers before this one have asked PMC for the text itself, and its pages turn
    programs away.
    """
    for location in sorted(known.locations, key=lambda one: _is_pmc(one.url_for_pdf or one.url or one.landing_page)):
        for url in dict.fromkeys((location.url_for_pdf, location.url, location.landing_page)):
            if url:
                yield _Candidate(url, location)


def _is_pmc(url: str | None) -> bool:
    try:
        host = (urlsplit(url or "").hostname or "").lower()
    except ValueError:
        return False
    return host.endswith(".ncbi.nlm.nih.gov") or host in ("europepmc.org", "www.europepmc.org")


def _shown(url: str) -> str:
    return url.partition("?")[0]
