"""The words of a JATS body as ElementTree sees them: a second opinion that shares nothing with the library's parser."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

WITHIN_WORDS = frozenset(
    (
        *("bold", "italic", "underline", "overline", "sub", "sup", "inf", "sc", "roman", "sans-serif", "monospace"),
        *("strike", "fixed-case", "styled-content", "named-content", "xref", "ext-link", "uri", "email", "x", "ruby"),
        *("rb", "rt", "rp", "target", "milestone-start", "milestone-end", "inline-formula", "related-article"),
        *("inline-supplementary-material", "related-object", "inline-graphic", "b", "i", "u", "em"),
    )
)
"""Markup that may stand inside a word; everything else ends one."""
ANOTHER_PLACE = frozenset(["ref-list", "tex-math", "sec-meta", "copyright-year", "copyright-holder"])
"""What the library keeps elsewhere, or says in another notation."""
FORMULA = "\ufffc"
"""Stands for a formula that is left out."""
MATHML = "{http://www.w3.org/1998/Math/MathML}"
MATH = f"{MATHML}math"
APART = frozenset(f"{MATHML}{name}" for name in ("mfrac", "mfenced", "mtable", "mtr", "mspace"))
"""What stands in these stands apart on paper: a numerator and its denominator are no word."""


def local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def text_of(
    element: ET.Element,
    without: frozenset[str] = ANOTHER_PLACE,
    *,
    without_math: bool = False,
    names: bool = False,
) -> str:
    """Return an element's text, a line break at every edge that ends a word.

    Args:
        element: what to read.
        without: names of elements that are left out.
        without_math: whether formulas are left out.
        names: whether every element ends a word, as the parts of references do.
    """
    name = local(element)
    if not name or name in without or (name == "object-id" and element.get("pub-id-type") != "doi"):
        return ""
    if without_math and element.tag == MATH:
        return FORMULA
    nodes = list(element)
    if name == "alternatives" and any(node.tag == MATH or local(node) == "table" for node in nodes):
        chosen = next(node for node in nodes if node.tag == MATH or local(node) == "table")
        parts = [text_of(chosen, without, without_math=without_math, names=names)]
    else:
        parts = [element.text or ""]
        between = "\n" if element.tag in APART else ""
        for node in nodes:
            parts += [text_of(node, without, without_math=without_math, names=names), node.tail or "", between]
    inside = (name in WITHIN_WORDS and not names) or element.tag.startswith(MATHML)
    edge = "" if inside and element.tag not in APART else "\n"
    return f"{edge}{''.join(parts)}{edge}"


def words_of(text: str) -> list[str]:
    """Return the words; what touches a formula that was left out is no whole word."""
    return re.findall(r"\w+", re.sub(rf"\w*{FORMULA}\w*", " ", text))


def topmost(element: ET.Element, names: frozenset[str]) -> Iterator[ET.Element]:
    for node in element:
        if local(node) in names:
            yield node
        else:
            yield from topmost(node, names)


def bodies(content: bytes) -> list[ET.Element]:
    return [node for node in ET.fromstring(content).iter() if local(node) in ("body", "floats-group")]
