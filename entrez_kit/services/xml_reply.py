"""Small XML replies: parse them safely into an element tree; and the replies of ESpell and EPost."""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from entrez_kit.base.errors import UpstreamError
from entrez_kit.services.known_shapes import XmlShape, log_drift

WEB_ENV: Final = re.compile(r"[\w@.:%+=-]{8,300}", re.ASCII)
"""A WebEnv is one long word; an error message in its place does not match."""


ESPELL: Final = XmlShape("ESpell", "eSpell.dtd", due={"eSpellResult": "Query CorrectedQuery"})
EPOST: Final = XmlShape("EPost", "epost.dtd", due={"ePostResult": "QueryKey WebEnv"})


def malformed_error(endpoint: str, what: str) -> UpstreamError:
    """Return the error for an invalid reply of an endpoint."""
    return UpstreamError(
        f"The {endpoint} reply is invalid: {what}.", details={"reason": "invalid_response", "endpoint": endpoint}
    )


def parse_reply(content: bytes, endpoint: str, *roots: str) -> Any:
    """Return the root element of a reply. The parser loads no DTD, no external entity and nothing from the network.

    Args:
        content: the reply.
        endpoint: the endpoint, for the message.
        roots: the allowed names of the root.

    Raises:
        UpstreamError: not well-formed, or another root.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise malformed_error(endpoint, f"not well-formed XML ({type(exc).__name__})") from None
    if root.tag not in roots:
        raise malformed_error(endpoint, f"<{root.tag}> instead of <{roots[0]}>")
    return root


def text_of(element: Any, path: str) -> str | None:
    """Return the stripped text at a path; None if it is missing or empty."""
    text = element.findtext(path)
    return text.strip() or None if text else None


def whole_number(text: str | None) -> int | None:
    """Return a number written in digits; None for any other text."""
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() else None


@dataclass(frozen=True, slots=True)
class ESpellReply:
    """The query and NCBI's correction of it; ``corrected`` is empty if NCBI has no suggestion."""

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
    """The set of ids on the history server; it does not contain ``invalid_ids``."""

    web_env: str
    query_key: int
    invalid_ids: list[str] = field(default_factory=list)


def parse_epost(content: bytes) -> EPostReply:
    """Parse an EPost reply.

    Raises:
        UpstreamError: the reply is not an EPost result, or its query key or WebEnv is invalid.
    """
    root = parse_reply(content, "epost", "ePostResult")
    log_drift(EPOST, content)
    key = whole_number(root.findtext("QueryKey"))
    environment = text_of(root, "WebEnv") or ""
    if not key:
        raise malformed_error("epost", "no valid query key")
    if not WEB_ENV.fullmatch(environment):
        raise malformed_error("epost", "no valid WebEnv")
    invalid = [text for one in root.iterfind("InvalidIdList/Id") if (text := (one.text or "").strip())]
    return EPostReply(environment, key, invalid)
