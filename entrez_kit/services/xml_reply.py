"""Read a small XML reply into an element tree, safely, or say that it is none."""

from typing import Any

from entrez_kit.errors import UpstreamError


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
