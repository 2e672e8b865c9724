"""What EPost answers: where on NCBI's history server the ids were put, and which of them it left out."""

import re
from dataclasses import dataclass, field
from typing import Final

from entrez_kit.services.xml_reply import malformed, parse_reply, text_of, whole_number

WEB_ENV: Final = re.compile(r"[\w@.:%+=-]{8,300}", re.ASCII)
"""An environment is one long word; words of an error message that stand in its place are not."""


@dataclass(frozen=True, slots=True)
class EPostReply:
    """``web_env`` and ``query_key`` name the set; ``invalid_ids`` are not in it."""

    web_env: str
    query_key: int
    invalid_ids: list[str] = field(default_factory=list)


def parse_epost(content: bytes) -> EPostReply:
    """Parse an EPost reply.

    Raises:
        UpstreamError: the reply is no EPost result, or what it calls query key and environment are none.
    """
    root = parse_reply(content, "epost", "ePostResult")
    key = whole_number(root.findtext("QueryKey"))
    environment = text_of(root, "WebEnv") or ""
    if not key:
        raise malformed("epost", "no usable query key")
    if not WEB_ENV.fullmatch(environment):
        raise malformed("epost", "no usable WebEnv")
    invalid = [text for one in root.iterfind("InvalidIdList/Id") if (text := (one.text or "").strip())]
    return EPostReply(environment, key, invalid)
