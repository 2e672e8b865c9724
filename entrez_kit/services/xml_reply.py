"""Small XML replies: read into an element tree, safely, or refused; and what ESpell and EPost answer."""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from entrez_kit.base.errors import UpstreamError
from entrez_kit.services.known_shapes import XmlShape, log_drift

WEB_ENV: Final = re.compile(r"[\w@.:%+=-]{8,300}", re.ASCII)
"""An environment is one long word; words of an error message that stand in its place are not."""


ESPELL: Final = XmlShape("ESpell", "eSpell.dtd", due={"eSpellResult": "Query CorrectedQuery"})
EPOST: Final = XmlShape("EPost", "epost.dtd", due={"ePostResult": "QueryKey WebEnv"})


def malformed(endpoint: str, what: str) -> UpstreamError:
    """Return the error for a reply that is not what the endpoint answers."""
    return UpstreamError(
        f"The {endpoint} reply is not usable: {what}.", details={"reason": "invalid_response", "endpoint": endpoint}
    )


def parse_reply(content: bytes, endpoint: str, *roots: str) -> Any:
    """Return the root element of a reply; no network, no external entities, no DTD.

    Args:
        content: the reply.
        endpoint: who answered, for the message.
        roots: the element names that count as an answer.

    Raises:
        UpstreamError: not well-formed, or another root.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise malformed(endpoint, f"not well-formed XML ({type(exc).__name__})") from None
    if root.tag not in roots:
        raise malformed(endpoint, f"<{root.tag}> where <{roots[0]}> was due")
    return root


def text_of(element: Any, path: str) -> str | None:
    """Return the trimmed text at a path, or None where there is none."""
    text = element.findtext(path)
    return text.strip() or None if text else None


def whole_number(text: str | None) -> int | None:
    """Return a number written in digits, or None."""
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() else None


@dataclass(frozen=True, slots=True)
class ESpellReply:
    """The query and NCBI's correction of it; ``corrected`` is empty where NCBI has no suggestion."""

    query: str
    corrected: str


def parse_espell(content: bytes) -> ESpellReply:
    """Parse an ESpell reply.

    Raises:
        UpstreamError: the reply is not an ESpell result.
    """
    root = parse_reply(content, "espell", "eSpellResult")
    log_drift(ESPELL, content)
    return ESpellReply(query=text_of(root, "Query") or "", corrected=text_of(root, "CorrectedQuery") or "")


@dataclass(frozen=True, slots=True)
class EPostReply:
    """Where on the history server the ids were put; ``invalid_ids`` are not in that set."""

    web_env: str
    query_key: int
    invalid_ids: list[str] = field(default_factory=list)


def parse_epost(content: bytes) -> EPostReply:
    """Parse an EPost reply.

    Raises:
        UpstreamError: the reply is no EPost result, or what it calls query key and environment are none.
    """
    root = parse_reply(content, "epost", "ePostResult")
    log_drift(EPOST, content)
    key = whole_number(root.findtext("QueryKey"))
    environment = text_of(root, "WebEnv") or ""
    if not key:
        raise malformed("epost", "no usable query key")
    if not WEB_ENV.fullmatch(environment):
        raise malformed("epost", "no usable WebEnv")
    invalid = [text for one in root.iterfind("InvalidIdList/Id") if (text := (one.text or "").strip())]
    return EPostReply(environment, key, invalid)
