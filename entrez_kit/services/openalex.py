"""OpenAlex: whether works are marked as retracted. Single works by DOI need no key; lists of DOIs need one."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Final
from urllib.parse import quote

from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.base.frontend_text import BASE_ADDRESS, format_count
from entrez_kit.services.json_reply import refuse_other_types
from entrez_kit.services.known_shapes import JsonShape, log_drift, require_texts
from entrez_kit.services.small_replies import malformed_error
from entrez_kit.services.transport import TTL, Expect, Reply
from entrez_kit.services.transport.client import ServiceClient

WORK: Final = JsonShape(
    "OpenAlex's record", {**require_texts("id doi"), "is_retracted": bool}, required="id doi is_retracted"
)

MAX_DOIS: Final = 50
"""DOIs in one request. OpenAlex takes 100 values of a filter; 50 keep the address short and leave room for works that
share a DOI."""
PER_PAGE: Final = 100
_LIST: Final = {"meta": {"count": int}, "results": [{**require_texts("doi"), "is_retracted": bool}]}


def fits_list(doi: str) -> bool:
    """Return whether a DOI can be one of a list: a comma separates filters, and a bar separates values."""
    return "," not in doi and "|" not in doi


class OpenAlex(ServiceClient):
    """The client of OpenAlex, for works by DOI."""

    _SERVICE = "openalex"

    def is_retracted(self, doi: str) -> Reply[bool]:
        """Return whether a work is marked as retracted.

        Args:
            doi: a bare DOI; special characters are encoded.

        Raises:
            EntityNotFound: OpenAlex has no such work.
            UpstreamError: no attempt got a valid reply.
            RateLimited: the service refused, or no slot is free before the deadline.
        """
        return self._request_path(
            "openalex_work",
            f"works/doi:{quote(doi, safe='')}",
            Expect("json", frozenset({"is_retracted"}), read=partial(_read_retraction, doi)),
            params=(("select", "id,doi,is_retracted"),),
            ttl=TTL["openalex"],
        )

    def are_retracted(self, dois: Sequence[str]) -> Reply[dict[str, bool]]:
        """Return for each work that OpenAlex has whether it is marked as retracted. Requires an API key.

        Args:
            dois: at most ``MAX_DOIS`` bare DOIs without commas and bars.

        Raises:
            UpstreamError: no attempt got a valid reply.
            RateLimited: the service refused, or no slot is free before the deadline.
        """
        params = (("filter", "doi:" + "|".join(dois)), ("per-page", str(PER_PAGE)), ("select", "id,doi,is_retracted"))
        try:
            return self._request_path(
                "openalex_works",
                "works",
                Expect("json", frozenset({"results"}), read=partial(_read_list, dois)),
                params=params,
                ttl=TTL["openalex"],
            )
        except EntityNotFound as exc:
            # OpenAlex answers a filter without results by an empty list.
            raise UpstreamError(
                "The address in ENTREZ_KIT_OPENALEX_URL has no list of works.",
                recovery_hint=BASE_ADDRESS,
                details={**exc.details, "reason": "no_such_address"},
            ) from None


def _read_list(dois: Sequence[str], content: bytes) -> dict[str, bool]:
    document = json.loads(content)
    refuse_other_types("openalex_works", document, _LIST)
    results, count = document.get("results"), (document.get("meta") or {}).get("count")
    if not isinstance(results, list) or count != len(results):
        raise malformed_error(
            "openalex_works", f"the list has {format_count(len(results or ()), 'work')}, and the count is {count!r}"
        )
    doi_by_folded = {doi.lower(): doi for doi in dois}
    found: dict[str, bool] = {}
    for work in results:
        doi_in_reply = str((work or {}).get("doi") or "").lower().removeprefix("https://doi.org/")
        retracted = (work or {}).get("is_retracted")
        if doi_in_reply not in doi_by_folded or not isinstance(retracted, bool):
            problem = f"{doi_in_reply[:100]!r} was not requested, or has no retraction status"
            raise malformed_error("openalex_works", problem)
        found[doi_by_folded[doi_in_reply]] = found.get(doi_by_folded[doi_in_reply], False) or retracted
    return found


def _read_retraction(doi: str, content: bytes) -> bool:
    document = json.loads(content)
    refuse_other_types("openalex_work", document, {**require_texts("doi"), "is_retracted": bool})
    doi_in_reply = str(document.get("doi") or "").lower().removeprefix("https://doi.org/")
    retracted = document.get("is_retracted")
    if doi_in_reply != doi.lower() or not isinstance(retracted, bool):
        problem = f"it is about {doi_in_reply[:100]!r} instead of {doi[:100]!r}, or has no retraction status"
        raise malformed_error("openalex_work", problem)
    log_drift(WORK, content)
    return retracted
