"""OpenAlex: whether a work counts as retracted there. Single works by DOI only, which need neither key nor account."""

import json
from functools import partial
from typing import Final
from urllib.parse import quote

from entrez_kit.services.json_reply import refuse_other_types
from entrez_kit.services.known_shapes import JsonShape, log_drift, texts
from entrez_kit.services.service_client import ServiceClient
from entrez_kit.services.transport import Expect, Reply
from entrez_kit.services.transport.policy import TTL
from entrez_kit.services.xml_reply import malformed

WORK: Final = JsonShape("OpenAlex's record", {**texts("id doi"), "is_retracted": bool}, due="id doi is_retracted")


class OpenAlex(ServiceClient):
    """Ask OpenAlex about single works."""

    _SERVICE = "openalex"

    def is_retracted(self, doi: str) -> Reply[bool]:
        """Return whether a work counts as retracted.

        Args:
            doi: a bare DOI; any sign in it is encoded.

        Raises:
            EntityNotFound: OpenAlex has no such work.
            UpstreamError: there was no answer after every attempt.
            RateLimited: the service refused, or the wait for a slot would pass the deadline.
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
        problem = f"it is about {told[:100]!r} and not about {doi[:100]!r}, or does not say how it stands"
        raise malformed("openalex_work", problem)
    log_drift(WORK, content)
    return retracted
