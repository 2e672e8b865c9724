"""The words of a JATS body as ElementTree reads them, to check the library's parser with other code."""

import re
import unicodedata
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator

from entrez_kit.fulltext.fulltext_articles import Section

WITHIN_WORDS = frozenset(
    (
        *("bold", "italic", "underline", "overline", "sub", "sup", "inf", "sc", "roman", "sans-serif", "monospace"),
        *("strike", "fixed-case", "styled-content", "named-content", "xref", "ext-link", "uri", "email", "x", "ruby"),
        *("rb", "rt", "rp", "target", "milestone-start", "milestone-end", "inline-formula", "related-article"),
        *("inline-supplementary-material", "related-object", "inline-graphic", "b", "i", "u", "em"),
    )
)
"""Markup that may be inside a word; everything else ends a word."""
ANOTHER_PLACE = frozenset(["ref-list", "tex-math", "sec-meta", "copyright-year", "copyright-holder"])
"""Parts that the library stores elsewhere, or in another notation."""
FORMULA = "\ufffc"
"""A placeholder for a formula that is omitted."""
MATHML = "{http://www.w3.org/1998/Math/MathML}"
MATH = f"{MATHML}math"
APART = frozenset(f"{MATHML}{name}" for name in ("mfrac", "mfenced", "mtable", "mtr", "mspace"))
"""The content of these is separate on paper: a numerator and its denominator do not form a word."""
MATH_SCRIPTS = frozenset(
    f"{MATHML}{name}" for name in ("msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts")
)
"""The first element in these may continue a word; those after it are separate."""
SCRIPTS = frozenset(("sup", "sub", "inf"))
NOTE_MARKS = frozenset(("fn", "table-fn", "author-notes", "corresp", "aff"))
"""Kinds of links that are marks at a word and not part of it."""


def get_local_name(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def read_text(
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
    name = get_local_name(element)
    if not name or name in without or (name == "object-id" and element.get("pub-id-type") != "doi"):
        return ""
    if without_math and element.tag == MATH:
        return FORMULA
    nodes = list(element)
    if name == "alternatives" and any(node.tag == MATH or get_local_name(node) == "table" for node in nodes):
        chosen = next(node for node in nodes if node.tag == MATH or get_local_name(node) == "table")
        parts = [read_text(chosen, without, without_math=without_math, names=names)]
    else:
        parts = [element.text or ""]
        between = "\n" if element.tag in APART | MATH_SCRIPTS else ""
        for node in nodes:
            parts += [read_text(node, without, without_math=without_math, names=names), node.tail or "", between]
    inside = (name in WITHIN_WORDS and not names) or element.tag.startswith(MATHML)
    is_mark = name == "xref" and element.get("ref-type") in NOTE_MARKS
    if is_mark or name in SCRIPTS:
        inside = False  # a superscript is separated from its base, at any place
    edge = "" if inside and element.tag not in APART else "\n"
    return f"{edge}{''.join(parts)}{edge}"


def list_words(text: str) -> list[str]:
    """Return the words, with scripts separated from their bases, without words next to a formula that was left out."""
    apart = []
    before = ""
    for letter in re.sub(r"([0-9])(st|nd|rd|th)\b", r"\1 \2", re.sub(r"[\^_]\(", " (", text)):
        kind = unicodedata.decomposition(letter).partition(" ")[0] if letter > "\x7f" else ""
        kind = kind if kind in ("<super>", "<sub>") else ""
        if kind != before:
            apart.append("\n")
        before = kind
        apart.append(letter)
    plain = unicodedata.normalize("NFKC", "".join(apart))
    return re.findall(r"\w+", re.sub(rf"\w*{FORMULA}\w*", " ", plain))


def count_raised_digits(text: str) -> Counter[str]:
    """Count the digits of a text that are superscripts: raised ones, and those in brackets behind a circumflex."""
    raised = [letter for letter in text if letter in "⁰¹²³⁴⁵⁶⁷⁸⁹"]
    bracketed = "".join(re.findall(r"\^\(((?:[^()]|\([^()]*\))*)\)", text))
    return Counter(unicodedata.normalize("NFKC", "".join(raised) + re.sub("[^0-9]", "", bracketed)))


def count_superscript_digits(element: ET.Element) -> Counter[str]:
    """Count the digits in superscripts outside formulas, as ElementTree reads them."""
    return Counter(_iter_raised(element))


def _iter_raised(element: ET.Element) -> Iterator[str]:
    name = get_local_name(element)
    if not name or name in ANOTHER_PLACE or element.tag.startswith(MATHML) or name == "object-id":
        return
    if name == "sup":
        yield from (letter for letter in read_text(element, without_math=True) if letter in "0123456789")
    else:
        for node in element:
            yield from _iter_raised(node)


def list_lines(sections: Iterable[Section]) -> list[str]:
    """Return labels, titles and texts of sections as the library read them, in order, as deep as they go."""
    lines: list[str] = []
    for section in sections:
        lines += [section.label or "", section.title or "", section.text, *list_lines(section.subsections)]
    return lines


def find_topmost(element: ET.Element, names: frozenset[str]) -> Iterator[ET.Element]:
    for node in element:
        if get_local_name(node) in names:
            yield node
        else:
            yield from find_topmost(node, names)


def find_bodies(content: bytes) -> list[ET.Element]:
    return [node for node in ET.fromstring(content).iter() if get_local_name(node) in ("body", "floats-group")]
