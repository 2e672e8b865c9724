"""IdConverter: the PMC ID Converter, which has the PMID, PMCID and DOI of articles in PMC."""

import re
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import urlencode

from entrez_kit.base.errors import invalid_argument
from entrez_kit.services.transport import TTL, Expect, Reply, T
from entrez_kit.services.transport.client import ServiceClient

MAX_IDS: Final = 200
"""The maximum number of ids per request."""

ID_TYPES: Final = ("pmid", "pmcid", "doi", "mid")


class IdConverter(ServiceClient):
    """The client of the ID Converter, which returns the other ids of articles."""

    _SERVICE = "idconv"

    def convert(
        self,
        ids: Sequence[str],
        idtype: str | None = None,
        *,
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # without a reader the value is bytes
    ) -> Reply[T]:
        """Return the converter's JSON for up to 200 ids of one kind.

        Args:
            ids: the ids in the form that the converter accepts.
            idtype: pmid, pmcid, doi or mid; by default the converter detects it.
            read: parses the reply before it is accepted.

        Raises:
            InvalidInput: no ids, too many ids, or the converter rejects them, for example ids of different kinds.
            UpstreamError: no attempt got a valid reply.
            RateLimited: the converter refused, or no slot is free before the deadline.
        """
        cleaned = [str(item).strip() for item in ids]
        bad = next((item for item in cleaned if not item or re.search(r"[\s,]", item)), None)
        if bad is not None or not cleaned:
            raise invalid_argument("ids", f"{bad!r} is not an id" if bad else "no ids are given", (bad or "")[:100])
        if len(cleaned) > MAX_IDS:
            problem = f"{len(cleaned)} ids are more than the {MAX_IDS} that the ID Converter accepts at a time"
            raise invalid_argument("ids", problem, f"{len(cleaned)} ids", f"Convert at most {MAX_IDS} ids at a time.")
        if idtype is not None and idtype not in ID_TYPES:
            raise invalid_argument("idtype", f"{idtype!r} is not one of {', '.join(ID_TYPES)}", idtype)
        params = [("format", "json"), ("ids", ",".join(cleaned)), *([("idtype", idtype)] if idtype else [])]
        return self._request_path(
            "idconv",
            "",
            Expect("json", frozenset({"records"}), len(set(cleaned)), r'"requested-id"(?![^{}]*"errmsg")', read=read),
            params=tuple(params),
            encoded=urlencode(params, safe=",/"),
            ttl=TTL["idconv"],
        )
