"""Parse JATS safely into an element tree, with helpers for its elements."""

import html
import re
from collections.abc import Iterator
from typing import Any, Final

from entrez_kit.base.formulas import get_local_name as get_local_name
from entrez_kit.base.frontend_text import format_count
from entrez_kit.fulltext.fulltext_articles import ENDPOINT
from entrez_kit.services.known_shapes import XmlShape, log_drift
from entrez_kit.services.small_replies import malformed_error

MAX_BYTES: Final = 200 * 1024 * 1024
"""The largest articles, with tables of whole genomes, have about 50 MB."""
MAX_DEPTH: Final = 80
"""Deeper elements become plain text, because the readers are recursive; articles have about 20 levels."""
TABLE_PARTS: Final = frozenset(("table", "tgroup", "thead", "tbody", "tfoot", "tr", "row"))
MAX_ENTITY_LENGTH: Final = 1000
MAX_ATTRIBUTES: Final = 200
"""In an element with more, attributes with a namespace are ignored, because each lookup scans all of them."""

_CDATA: Final = re.compile(
    rb"(<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<!DOCTYPE[^\[>]*(?:\[.*?(?:\]\s*>|\Z)|>|\Z))", re.DOTALL
)
"""Parts that stay unchanged; one without an end extends to the end, so that each byte is scanned once."""
_REFERENCE: Final = re.compile(rb"&([A-Za-z][A-Za-z0-9.]*);")


JATS: Final = XmlShape(
    "JATS",
    "JATS-archivearticle1-3-mathml3.dtd",
    undeclared="article@dtd-version table@frame"
    " pmc-articleset citation error Reply entry row colspec tgroup taxon-name taxon-name-part taxon-treatment"
    " taxon-authority treatment-sec treatment-meta nomenclature",
    required={"article": "article-meta"},
)
"""JATS with older NLM names, OASIS tables and TaxPub."""


def parse_jats_document(content: bytes) -> Any:
    """Return the root of a JATS document, parsed without network and DTD; entities may only contain plain text.

    Undefined entities (``&nbsp;`` without a DTD) become the HTML characters of that name, or stay unchanged, so that no
    text is lost.

    Raises:
        UpstreamError: the XML is malformed or too large.
    """
    from lxml import etree

    if len(content) > MAX_BYTES:
        raise malformed_error(ENDPOINT, f"{format_count(len(content), 'byte')} (the limit is {MAX_BYTES:,})")
    log_drift(JATS, content)
    try:
        root = etree.fromstring(content, _build_parser())
    except (etree.XMLSyntaxError, ValueError):
        try:
            root = etree.fromstring(_replace_undefined_entities(content), _build_parser())
        except (etree.XMLSyntaxError, ValueError) as exc:
            raise malformed_error(ENDPOINT, f"not well-formed XML ({type(exc).__name__})") from None
    _write_entities(root)
    for element in root.xpath("/*" * MAX_DEPTH):
        while get_local_name(element) in TABLE_PARTS:  # only cells contain words
            element = element.getparent()
        words = " ".join(element.itertext())
        del element[:]
        element.text = words
    return root


def _build_parser() -> Any:
    from lxml import etree

    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)


def _replace_undefined_entities(content: bytes) -> bytes:
    """Replace references to undefined entities by character references or plain text."""
    parts = _CDATA.split(content)
    parts[::2] = [_REFERENCE.sub(_replace_entity, part) for part in parts[::2]]
    return b"".join(parts)


def _replace_entity(match: re.Match[bytes]) -> bytes:
    name = match[1].decode("ascii")
    if name in ("amp", "lt", "gt", "quot", "apos"):
        return match[0]
    text = html.unescape(f"&{name};")
    if text == f"&{name};" or "&" in text:
        return b"&amp;" + match[0][1:]
    return "".join(f"&#{ord(character)};" for character in text).encode("ascii")


def _write_entities(root: Any) -> None:
    """Replace entity references by their definition in the document's DOCTYPE, or by the HTML characters.

    Entities inside entities are not replaced.
    """
    from lxml import etree

    dtd = root.getroottree().docinfo.internalDTD
    declared: dict[str, str] = {}
    for entity in dtd.iterentities() if dtd is not None else ():
        text = entity.content or ""
        if entity.name and text and len(text) <= MAX_ENTITY_LENGTH and not re.search("[<&%]", text):
            declared[entity.name] = text
    pieces: list[str] = []
    for node in reversed(list(root.iter(etree.Entity))):
        written = str(node.text or "")
        pieces += [node.tail or "", declared.get(written.strip("&;")) or html.unescape(written)]
        before = node.getprevious()
        is_first = before is None or before.tag is not etree.Entity
        node.tail = "".join(reversed(pieces)) if is_first else None  # consecutive references at once
        pieces = [] if is_first else pieces
    etree.strip_elements(root, etree.Entity, with_tail=False)


def get_attribute(element: Any, name: str) -> str:
    """Return an attribute's value in any namespace; "" if it is absent."""
    value = element.get(name)
    if value is None and len(element.attrib) <= MAX_ATTRIBUTES:
        value = next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), None)
    return str(value or "").strip()


def iter_children(element: Any, *names: str) -> Iterator[Any]:
    """Yield the child elements with one of these names (or all children) in document order."""
    for child in element if element is not None else ():
        name = get_local_name(child)
        if name and (not names or name in names):
            yield child


def find_child(element: Any, *names: str) -> Any:
    """Return the first child with one of these names; None if there is no such child."""
    return next(iter_children(element, *names), None)


def iter_descendants(element: Any, *names: str, outside: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yield the descendants with one of these names in document order.

    Args:
        outside: names of elements whose children are skipped.
    """
    pending = [iter(element)] if element is not None else []
    while pending:
        element_found = next(pending[-1], None)
        if element_found is None:
            pending.pop()
            continue
        name = get_local_name(element_found)
        if name in names:
            yield element_found
        if name and name not in outside:
            pending.append(iter(element_found))
