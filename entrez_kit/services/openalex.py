"""OpenAlex: whether a work is marked as retracted. Only single works by DOI, which need no key and no account."""

import json
from functools import partial
from typing import Final
from urllib.parse import quote

from entrez_kit.services.json_reply import refuse_other_types
from entrez_kit.services.known_shapes import JsonShape, log_drift, texts
from entrez_kit.services.small_replies import malformed_error
from entrez_kit.services.transport import TTL, Expect, Reply
from entrez_kit.services.transport.client import ServiceClient

WORK: Final = JsonShape("OpenAlex's record", {**texts("id doi"), "is_retracted": bool}, due="id doi is_retracted")


class OpenAlex(ServiceClient):
    """The client of OpenAlex, for single works."""

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
        return self._send(
            "openalex_work",
            f"works/doi:{quote(doi, safe='')}",
            Expect("json", frozenset({"is_retracted"}), read=partial(_read, doi)),
            params=(("select", "id,doi,is_retracted"),),
            ttl=TTL["openalex"],
        )


def _read(doi: str, content: bytes) -> bool:
    document = json.loads(content)
    refuse_other_types("openalex_work", document, {**texts("doi"), "is_retracted": bool})
    told = str(document.get("doi") or "").lower().removeprefix("https://doi.org/")
    retracted = document.get("is_retracted")
    if told != doi.lower() or not isinstance(retracted, bool):
        problem = f"it is about {told[:100]!r} instead of {doi[:100]!r}, or has no retraction status"
        raise malformed_error("openalex_work", problem)
    log_drift(WORK, content)
    return retracted
