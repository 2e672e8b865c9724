"""What a downloaded body is, judged by its first bytes: what a server says about it is often wrong."""

import re
from typing import Final, Literal

from entrez_kit.transport.replies import root_name

Kind = Literal["pdf", "html", "xml", "other"]

HEAD_BYTES: Final = 4096
PDF_WITHIN: Final = 1024
"""Readers accept a PDF whose first line stands within the first 1024 bytes."""

_BLANK: Final = b" \t\r\n\f\x00"
_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_HTML: Final = re.compile(
    rb"<(!doctype\s+html|html|head|body|title|meta|link|script|style|div|main|section|header|nav|h[1-6]|p|table"
    rb"|span|br|a|ul|ol|form|iframe|center|font)(?=[\s/>])",
    re.IGNORECASE,
)
_COMMENTS: Final = re.compile(rb"\s*+(?>(?:<!--(?>(?:(?!-->).)*)-->\s*+)+)", re.DOTALL)
_BINARY: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def kind_of(head: bytes, content_type: str = "") -> Kind:
    """Tell what a body is.

    Args:
        head: its first bytes, some thousand of them.
        content_type: what the server says, which counts only where the bytes leave it open.
    """
    text = head[:HEAD_BYTES]
    for bom, encoding in _BOMS:
        if text.startswith(bom):
            text = text[len(bom) :].decode(encoding, "ignore").encode("utf-8")
            break
    text = text.lstrip(_BLANK)
    if not text.startswith(b"<"):
        return "pdf" if b"%PDF-" in head[: PDF_WITHIN + 5] else "other"
    if comments := _COMMENTS.match(text):
        text = text[comments.end() :]
    if _HTML.match(text) or root_name(text, html=True) == "html":
        return "html"
    if text.startswith(b"<?xml") or root_name(text) is not None:
        says_html = "html" in content_type.lower() and not text.startswith(b"<?xml")
        return "html" if says_html else "xml"
    return "html" if "html" in content_type.lower() else "other"


def is_binary(head: bytes) -> bool:
    """Tell whether a body is no text: a picture, an archive."""
    return not head.startswith((b"\xff\xfe", b"\xfe\xff")) and bool(_BINARY.search(head[:HEAD_BYTES]))
