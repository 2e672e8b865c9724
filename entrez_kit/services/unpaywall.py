"""Unpaywall: the locations of open-access copies. The client and the parser of its replies."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal
from urllib.parse import quote

from entrez_kit.base.errors import EntityNotFound, InvalidInput, NotConfigured
from entrez_kit.base.identifiers import DOI, normalize_doi
from entrez_kit.services.known_shapes import JsonShape, log_drift, require_texts
from entrez_kit.services.small_replies import malformed_error
from entrez_kit.services.transport import TTL, Expect, Reply
from entrez_kit.services.transport.client import ServiceClient

HostType = Literal["publisher", "repository"]
Version = Literal["submittedVersion", "acceptedVersion", "publishedVersion"]

UNKNOWN_DOI: Final = "DOI unknown to Unpaywall"
INVALID_DOI: Final = "Invalid DOI format"
NO_COPY: Final = "No open-access copy indexed"
NO_ADDRESS: Final = "OA flagged but no usable location URL"

_HOST_TYPES: Final[tuple[HostType, ...]] = ("publisher", "repository")
_VERSIONS: Final[tuple[Version, ...]] = ("submittedVersion", "acceptedVersion", "publishedVersion")


_COPY: Final = {
    **require_texts(
        "url url_for_pdf url_for_landing_page evidence license version host_type pmh_id endpoint_id"
        " repository_institution oa_date updated"
    ),
    "is_best": bool,
}
OPEN_ACCESS: Final = JsonShape(
    "Unpaywall",
    {
        **require_texts(
            "doi doi_url title genre published_date journal_name journal_issns journal_issn_l publisher oa_status"
            " updated"
        ),
        "data_standard": int,
        "year": int,
        **dict.fromkeys(("is_oa", "is_paratext", "journal_is_oa", "journal_is_in_doaj", "has_repository_copy"), bool),
        **dict.fromkeys(("best_oa_location", "first_oa_location"), _COPY),
        "oa_locations": [_COPY],
        "oa_locations_embargoed": [_COPY],
        "z_authors": object,
    },
    required="doi is_oa best_oa_location oa_locations",
)


class Unpaywall(ServiceClient):
    """The client of Unpaywall. Every request needs an e-mail address, which comes only from UNPAYWALL_EMAIL."""

    _SERVICE = "unpaywall"

    def find_location(self, doi: str) -> "Reply[OpenAccess]":
        """Return the open-access copies of an article.

        Args:
            doi: a DOI, optionally with the prefix ``doi:`` or ``https://doi.org/``.

        Raises:
            NotConfigured: UNPAYWALL_EMAIL is not set, or Unpaywall rejects it.
            InvalidInput: the text is not a DOI.
            EntityNotFound: Unpaywall does not have the DOI.
            UpstreamError: no attempt got a valid reply.
            RateLimited: Unpaywall refused, or no slot is free before the deadline.
        """
        if self._settings.unpaywall_email is None:
            raise NotConfigured(
                "UNPAYWALL_EMAIL is not set",
                recovery_hint="Set UNPAYWALL_EMAIL to your e-mail address to search for open-access copies.",
                details={"reason": "unpaywall_disabled", "setting": "unpaywall_email"},
            )
        bare_doi = normalize_doi(doi)
        if not DOI.fullmatch(bare_doi) or {".", ".."} & set(bare_doi.split("/")) or len(bare_doi) > 500:
            raise _invalid_doi_error(doi)
        keys = frozenset({"doi", "is_oa", "best_oa_location", "oa_locations"})
        expect = Expect("json", keys, read=partial(_read_requested, bare_doi))
        # The sandbox of a demo returns URLs with its own port, which changes in every run.
        ttl = None if self._settings.demo else TTL["unpaywall"]
        try:
            return self._request_path("unpaywall", quote(bare_doi.lower(), safe="/:()"), expect, ttl=ttl)
        except EntityNotFound as exc:
            raise EntityNotFound(
                f"{UNKNOWN_DOI}: {bare_doi}",
                invalid_input=bare_doi,
                recovery_hint="Check the DOI; Unpaywall has only DOIs that Crossref registers.",
                details=exc.details,
            ) from None
        except InvalidInput as exc:
            if not re.search(r"e-?mail|\[hidden\]", exc.message, re.IGNORECASE):
                raise _invalid_doi_error(doi, exc.details) from None
            raise NotConfigured(
                "Unpaywall rejects the e-mail address in UNPAYWALL_EMAIL",
                recovery_hint="Set UNPAYWALL_EMAIL to your own e-mail address; Unpaywall rejects example addresses.",
                details={**exc.details, "reason": "bad_email", "setting": "unpaywall_email"},
            ) from None


def _read_requested(doi: str, content: bytes) -> "OpenAccess":
    open_access = read_open_access(content)
    if open_access.doi.strip().lower() != doi.lower():
        raise malformed_error("unpaywall", f"it is about {open_access.doi[:100]!r} instead of {doi[:100]!r}")
    return open_access


def _invalid_doi_error(doi: str, details: Mapping[str, Any] | None = None) -> InvalidInput:
    return InvalidInput(
        f"{INVALID_DOI}: {doi[:100]!r}",
        invalid_input=f"doi={doi[:100]}",
        recovery_hint="Give a DOI such as 10.1000/xyz123.",
        details={**(details or {}), "reason": "invalid_doi"},
    )


@dataclass(frozen=True, slots=True)
class Location:
    """One open-access copy."""

    url_for_pdf: str | None = None
    url: str | None = None
    landing_page: str | None = None
    license: str | None = None
    host_type: HostType | None = None
    version: Version | None = None


@dataclass(frozen=True, slots=True)
class OpenAccess:
    """The open-access copies of one article, without duplicates, the best copy first."""

    doi: str
    is_oa: bool
    title: str | None = None
    locations: tuple[Location, ...] = ()


def read_open_access(content: bytes) -> OpenAccess:
    """Parse a reply of Unpaywall.

    Raises:
        UpstreamError: the reply is invalid.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or not isinstance(document.get("doi"), str):
        raise malformed_error("unpaywall", "it has no DOI")
    log_drift(OPEN_ACCESS, content)
    locations: dict[tuple[str | None, ...], Location] = {}
    others = document.get("oa_locations")
    for item in (document.get("best_oa_location"), *(others if isinstance(others, list) else ())):
        if not isinstance(item, dict):
            continue
        location = _read_location(item)
        locations.setdefault((location.url_for_pdf, location.url or location.landing_page), location)
    return OpenAccess(
        doi=document["doi"],
        is_oa=bool(document.get("is_oa")),
        title=_read_text(document.get("title")),
        locations=tuple(locations.values()),
    )


def _read_location(item: Mapping[str, Any]) -> Location:
    host_type, version = item.get("host_type"), item.get("version")
    return Location(
        url_for_pdf=_read_text(item.get("url_for_pdf")),
        url=_read_text(item.get("url")),
        landing_page=_read_text(item.get("url_for_landing_page")),
        license=_read_text(item.get("license")),
        host_type=next((known for known in _HOST_TYPES if known == host_type), None),
        version=next((known for known in _VERSIONS if known == version), None),
    )


def _read_text(value: Any) -> str | None:
    return (value.strip() or None) if isinstance(value, str) else None
