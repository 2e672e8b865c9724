"""Crossref: the record of a DOI, and the notices that update a work. The client and the readers of its replies."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.base.frontend_text import BASE_ADDRESS, format_count
from entrez_kit.services.json_reply import refuse_other_types
from entrez_kit.services.known_shapes import FieldShapes, JsonShape, log_drift, require_any, require_texts
from entrez_kit.services.small_replies import malformed_error
from entrez_kit.services.transport import TTL, Expect, Reply
from entrez_kit.services.transport.client import ServiceClient

CrossrefRecord = Mapping[str, Any]
"""The JSON object of a work, or of a part of it."""
MAX_UPDATES: Final = 200
"""Limit of notices in one reply; if there are more, the caller requests smaller groups of works."""


_NOTICE: Final = {**require_texts("DOI type source label"), "updated": object, "record-id": (int, str)}
_WORK: Final = {
    **require_texts(
        "DOI URL type publisher publisher-location prefix member page volume issue language source update-policy"
    ),
    **require_texts("article-number edition-number part-number subtype abstract group-title aliases"),
    **require_any("title subtitle short-title original-title container-title short-container-title ISSN ISBN subject"),
    **require_any(
        "archive author editor chair translator funder institution assertion license reference link issn-type"
    ),
    **require_any("isbn-type alternative-id event review indexed created deposited issued published published-print"),
    **require_any("posted published-online published-other accepted approved content-created content-updated"),
    **require_any("content-domain resource relation journal-issue clinical-trial-number standards-body degree"),
    **require_any("free-to-read project status"),
    **dict.fromkeys(("reference-count", "references-count", "is-referenced-by-count"), int),
    "score": (int, float),
    "update-to": [_NOTICE],
    "updated-by": [_NOTICE],
}
_ABOUT: Final = require_texts("status message-type message-version")
WORK: Final = JsonShape("Crossref's record", {**_ABOUT, "message": _WORK}, required="message.DOI message.type")
UPDATES: Final = JsonShape(
    "Crossref's list of notices",
    {
        **_ABOUT,
        "message": {
            "total-results": int,
            "items-per-page": int,
            "items": [_WORK],
            **require_any("facets query next-cursor"),
        },
    },
    required="message.total-results message.items",
)
_AGENCY: Final = {**require_texts("DOI"), "agency": require_texts("id label")}
AGENCY: Final = JsonShape(
    "Crossref's agency of a DOI", {**_ABOUT, "message": _AGENCY}, required="message.DOI message.agency"
)


_UPDATE: Final = {**require_texts("DOI type label"), "updated": require_texts("date-time")}
_DATE: Final = {"date-parts": [[int]]}
_NUMBER: Final = (str, int)
_READ: Final[FieldShapes] = {
    **require_texts("DOI"),
    **{name: [str] for name in ("title", "subtitle", "container-title", "short-container-title")},
    **dict.fromkeys(("volume", "issue", "page", "article-number"), _NUMBER),
    **dict.fromkeys(("published-print", "issued", "published-online", "published"), _DATE),
    "author": [require_texts("family given name suffix")],
    "updated-by": [_UPDATE],
    "update-to": [_UPDATE],
    "relation": {"is-preprint-of": [require_texts("id")], "is-replaced-by": [require_texts("id")]},
}
"""The fields of a record that are read."""


class Crossref(ServiceClient):
    """The client of Crossref. With CROSSREF_EMAIL, requests use the polite pool, which has twice the rate limit.

    Every method raises ``UpstreamError`` if no attempt got a valid reply, and ``RateLimited`` if the service refused or
    no slot is free before the deadline.
    """

    _SERVICE = "crossref"

    def work(self, doi: str) -> Reply[CrossrefRecord]:
        """Return the record of a work, with ``updated-by`` and ``update-to`` if present.

        Args:
            doi: a bare DOI; special characters are encoded.

        Raises:
            EntityNotFound: Crossref has no such DOI; other agencies register DOIs too.
        """
        expect = Expect("json", frozenset({"message"}), read=partial(_read_work, doi))
        return self._request_path("crossref_work", f"works/{quote(doi, safe='')}", expect, ttl=TTL["crossref"])

    def agency(self, doi: str) -> Reply[str]:
        """Return the name of the agency that registers a DOI: Crossref, DataCite, JaLC, mEDRA ...

        Args:
            doi: a bare DOI; special characters are encoded.

        Raises:
            EntityNotFound: no agency is known for this DOI.
        """
        expect = Expect("json", frozenset({"message"}), read=partial(_read_agency, doi))
        path = f"works/{quote(doi, safe='')}/agency"
        return self._request_path("crossref_agency", path, expect, ttl=TTL["crossref"])

    def list_updates(self, dois: Sequence[str]) -> Reply[list[CrossrefRecord]]:
        """Return the notices whose ``update-to`` names one of these works.

        Args:
            dois: bare DOIs without commas: commas separate Crossref's filters and cannot be encoded in them.
        """
        return self._request_list("crossref_updates", "updates", dois, MAX_UPDATES)

    def works(self, dois: Sequence[str]) -> Reply[list[CrossrefRecord]]:
        """Return the records of those works that Crossref has.

        Args:
            dois: bare DOIs without commas.
        """
        return self._request_list("crossref_works", "doi", dois, len(dois))

    def _request_list(self, endpoint: str, name: str, dois: Sequence[str], rows: int) -> Reply[list[CrossrefRecord]]:
        if any("," in doi for doi in dois):
            raise ValueError("a DOI with a comma cannot be used in a filter")
        try:
            return self._request_path(
                endpoint,
                "works",
                Expect("json", frozenset({"message"}), read=partial(_read_list, name, dois)),
                params=(("filter", ",".join(f"{name}:{doi}" for doi in dois)), ("rows", str(rows))),
                ttl=TTL["crossref"],
            )
        except EntityNotFound as exc:
            # Crossref answers a filter without results by an empty list.
            raise UpstreamError(
                "The address in CROSSREF_URL has no list of works.",
                recovery_hint=BASE_ADDRESS,
                details={**exc.details, "reason": "no_such_address"},
            ) from None


def _read_work(doi: str, content: bytes) -> CrossrefRecord:
    document = json.loads(content)
    refuse_other_types("crossref_work", document, {"message": _READ})
    message = document.get("message")
    doi_in_reply = message.get("DOI") if message else None
    if not isinstance(doi_in_reply, str) or doi_in_reply.lower() != doi.lower():
        raise malformed_error("crossref_work", f"it is about {str(doi_in_reply)[:100]!r} instead of {doi[:100]!r}")
    log_drift(WORK, content)
    return message  # type: ignore[no-any-return]  # its type was checked


def _read_agency(doi: str, content: bytes) -> str:
    document = json.loads(content)
    refuse_other_types("crossref_agency", document, {"message": _AGENCY})
    message = document.get("message") or {}
    doi_in_reply, agency = str(message.get("DOI") or ""), message.get("agency") or {}
    name = agency.get("label") or agency.get("id")
    if doi_in_reply.lower() != doi.lower() or not name:
        problem = f"it is about {doi_in_reply[:100]!r} instead of {doi[:100]!r}, or names no agency"
        raise malformed_error("crossref_agency", problem)
    log_drift(AGENCY, content)
    return str(name)


def is_update_of(message: CrossrefRecord, doi: str) -> bool:
    """Return whether a notice updates a work."""
    updated = message.get("update-to")
    works = updated if isinstance(updated, list) else []
    return any(isinstance(work, dict) and str(work.get("DOI")).lower() == doi.lower() for work in works)


def _read_list(name: str, dois: Sequence[str], content: bytes) -> list[CrossrefRecord]:
    document = json.loads(content)
    refuse_other_types("crossref_works", document, {"message": {"items": [_READ], "total-results": int}})
    message = document.get("message") or {}
    items, total = message.get("items"), message.get("total-results")
    if items is None or None in items:
        raise malformed_error("crossref_works", "no list of records")
    if any(not item.get("DOI") for item in items):
        raise malformed_error("crossref_works", "a record without a DOI")
    if total != len(items):
        raise malformed_error(
            "crossref_works", f"the list has {format_count(len(items), 'record')}, and the count is {total!r}"
        )
    for item in items:
        if name == "doi":
            is_foreign = str(item.get("DOI")).lower() not in {doi.lower() for doi in dois}
        else:
            is_foreign = not any(is_update_of(item, doi) for doi in dois)
        if is_foreign:
            raise malformed_error("crossref_works", f"{str(item.get('DOI'))[:100]} does not match the filter")
    log_drift(UPDATES, content)
    return items  # type: ignore[no-any-return]  # its type was checked
