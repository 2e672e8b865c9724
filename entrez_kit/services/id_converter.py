"""IdConverter: the PMC ID Converter, which knows PMID, PMCID and DOI of what PMC holds."""

import re
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import urlencode

from entrez_kit.services.service_client import ServiceClient, invalid_argument
from entrez_kit.services.transport import Expect, Reply, T
from entrez_kit.services.transport.policy import TTL

MAX_IDS: Final = 200
"""The converter takes no more at a time."""

ID_TYPES: Final = ("pmid", "pmcid", "doi", "mid")


class IdConverter(ServiceClient):
    """Ask the ID Converter for the other ids of articles."""

    _SERVICE = "idconv"

    def convert(
        self,
        ids: Sequence[str],
        idtype: str | None = None,
        *,
        read: Callable[[bytes], T] = bytes,  # type: ignore[assignment]  # what nobody reads stays bytes
    ) -> Reply[T]:
        """Return the converter's JSON for up to 200 ids of one kind.

        Args:
            ids: the ids as the converter takes them.
            idtype: pmid, pmcid, doi or mid; the converter guesses when it is not given.
            read: reads the reply before it counts.

        Raises:
            InvalidInput: no ids, too many, or a batch the converter refuses, such as one of mixed kinds.
            UpstreamError: the converter did not answer after every attempt.
            RateLimited: the converter refused, or the wait for a slot would pass the deadline.
        """
        cleaned = [str(item).strip() for item in ids]
        bad = next((item for item in cleaned if not item or re.search(r"[\s,]", item)), None)
        if bad is not None or not cleaned:
            raise invalid_argument("ids", f"{bad!r} is no id" if bad else "no ids are given", (bad or "")[:100])
        if len(cleaned) > MAX_IDS:
            problem = f"{len(cleaned)} are more than the {MAX_IDS} the ID Converter takes at a time"
            raise invalid_argument("ids", problem, f"{len(cleaned)} ids", f"Ask for {MAX_IDS} at a time.")
        if idtype is not None and idtype not in ID_TYPES:
            raise invalid_argument("idtype", f"{idtype!r} is none of {', '.join(ID_TYPES)}", idtype)
        params = [("format", "json"), ("ids", ",".join(cleaned)), *([("idtype", idtype)] if idtype else [])]
        return self._send(
            "idconv",
            "",
            Expect("json", frozenset({"records"}), len(set(cleaned)), r'"requested-id"(?![^{}]*"errmsg")', read=read),
            params=tuple(params),
            encoded=urlencode(params, safe=",/"),
            ttl=TTL["idconv"],
        )
