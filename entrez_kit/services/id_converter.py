"""IdConverter: the PMC ID Converter, which has the PMID, PMCID and DOI of articles in PMC."""

import re
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import urlencode

from entrez_kit.base.errors import wrong_value
from entrez_kit.base.frontend_text import list_choices
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
            raise wrong_value("ids", "a list of ids", bad if bad is not None else cleaned)
        if len(cleaned) > MAX_IDS:
            hint = "The ID Converter accepts no more at a time: convert the ids in several calls."
            raise wrong_value("ids", f"a list of up to {MAX_IDS} ids", cleaned, hint)
        if idtype is not None and idtype not in ID_TYPES:
            raise wrong_value("idtype", list_choices(ID_TYPES), idtype)
        params = [("format", "json"), ("ids", ",".join(cleaned)), *([("idtype", idtype)] if idtype else [])]
        return self._request_path(
            "idconv",
            "",
            Expect("json", frozenset({"records"}), len(set(cleaned)), r'"requested-id"(?![^{}]*"errmsg")', read=read),
            params=tuple(params),
            encoded=urlencode(params, safe=",/"),
            ttl=TTL["idconv"],
        )
