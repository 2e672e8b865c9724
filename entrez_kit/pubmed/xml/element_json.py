"""Convert an XML element to JSON without loss: order, attributes and text between children stay."""

from typing import Any, Final

from entrez_kit.base.mixed_content import INLINE
from entrez_kit.pubmed.xml.located_records import invalid_document_error

MAX_DEPTH: Final = 100
"""PubMed's records have about 12 levels, formulas about 20 more; JSON encoders fail at a few hundred."""
_WITHIN_TEXT: Final = INLINE | {"DispFormula", "{http://www.w3.org/1998/Math/MathML}math"}
"""Elements inside text: white space next to them is part of the text."""


def convert_element_to_json(element: Any) -> dict[str, Any]:
    """Convert an element to ``{"tag", "attributes", "children"}``.

    ``children`` are strings and elements of the same form, in the order of the document, so mixed content can be
    restored. Empty ``attributes`` and ``children`` are omitted. Names keep their prefix ("mml:math"), and namespace
    declarations are attributes of their element. Comments, processing instructions, and line breaks between elements
    without text are omitted.

    Raises:
        UpstreamError: the element has more than 100 levels.
    """
    top = _build_shell(element, {})
    waiting = [(element, top, 1)]
    while waiting:
        node, shell, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise invalid_document_error(f"A PubMed record is nested deeper than {MAX_DEPTH} elements.")
        children: list[Any] = []
        keeps_space = any(child.tag in _WITHIN_TEXT for child in node)
        _add_text(children, node.text, keeps_space)
        inherited = node.nsmap
        for child in node:
            if isinstance(child.tag, str):
                inner = _build_shell(child, inherited)
                children.append(inner)
                waiting.append((child, inner, depth + 1))
            else:  # a reference to an entity, which is not expanded
                _add_text(children, child.text, keeps_space=True)
            _add_text(children, child.tail, keeps_space)
        if children:
            shell["children"] = children
    return top


def _build_shell(element: Any, inherited: dict[str | None, str]) -> dict[str, Any]:
    attributes = {
        f"xmlns:{prefix}" if prefix else "xmlns": uri
        for prefix, uri in element.nsmap.items()
        if inherited.get(prefix) != uri
    }
    attributes |= {_qualify_name(element, name): value for name, value in element.items()}
    shell: dict[str, Any] = {"tag": _qualify_name(element, element.tag)}
    if attributes:
        shell["attributes"] = attributes
    return shell


def _qualify_name(element: Any, name: str) -> str:
    if not name.startswith("{"):
        return name
    uri, _, local = name[1:].partition("}")
    if uri == "http://www.w3.org/XML/1998/namespace":
        return f"xml:{local}"
    prefix = next((known for known, where in element.nsmap.items() if where == uri and known), None)
    return f"{prefix}:{local}" if prefix else local


def _add_text(children: list[Any], text: str | None, keeps_space: bool) -> None:
    if not text or (not keeps_space and "\n" in text and not text.strip()):
        return
    if children and isinstance(children[-1], str):
        children[-1] += text
    else:
        children.append(text)
