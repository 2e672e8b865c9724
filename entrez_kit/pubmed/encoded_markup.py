"""Convert Europe PMC's titles and abstracts to plain text: HTML, JATS and encoded markup, mixed with a bare "<".

Text between "<" and ">" may not be markup ("P<0.001 and q>5"), so only known names are tags, and a name of one letter
is a tag only if an end tag follows. Words are never removed.
"""

import html
import re
from html.entities import html5
from itertools import pairwise
from typing import Final

from entrez_kit.base.markup import END, write_scripts
from entrez_kit.base.mixed_content import BETWEEN, INLINE, SCRIPTS, collapse_white_space, read_text

_SHORT: Final = frozenset(("a", "b", "i", "p", "q", "s", "u"))
"""Names that are also variables in formulas: "a<b" is not markup."""
_WITHIN: Final = INLINE | {
    *("a", "q", "s", "abbr", "big", "cite", "code", "del", "email", "ext-link", "fn", "font", "inf", "inline-formula"),
    *("ins", "institution", "kbd", "label", "mark", "monospace", "named-content", "overline", "roman", "sans-serif"),
    *("strike", "styled-content", "tt", "uri", "var", "xref", "alternatives", "inline-graphic"),
}
"""Markup inside a sentence."""
_MATH: Final = re.compile(r"m[a-z]+(?:-[a-z]+)?|math|semantics|annotation(?:-xml)?|tex-math")

_TAG: Final = re.compile(
    r"</?(?P<prefix>(?:jats|mml|xhtml|html|xlink|m|x):)?(?P<name>[A-Za-z][A-Za-z0-9-]*)"
    r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=]+))*\s*/?>"
)
_COMMENT: Final = re.compile(
    r"<!--(?:(?!<!--).)*?-->|<!\[CDATA\[(?P<data>(?:(?!<!\[CDATA\[).)*?)\]\]>|<\?[a-z][^<>]*+(?<=\?)>", re.S
)
_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_HEADING: Final = re.compile(
    r"<(?P<name>(?:jats:)?(?:h[1-6]|title))>(?P<text>(?:(?!<(?P=name)>).)*?)</(?P=name)\s*+>", re.S | re.IGNORECASE
)
_INVISIBLE: Final = re.compile("[\u00ad\u200b\ufeff\u2060\x0e-\x11]")
"""Soft hyphens and other line-break marks, and the characters that mark scripts during conversion."""
_ENCODINGS: Final = 3
"""The most times that a text may be encoded. Two encodings are common ("CSR&amp;amp;D")."""
_MAX_LABEL: Final = 120
_NO_LABEL: Final = frozenset(("abstract", "summary"))
"""Headings of the abstract as a whole."""


def unescape_entities(text: str) -> str:
    """Replace entities by their characters, even if they were encoded more than once; markup stays."""
    for _ in range(_ENCODINGS):
        plain = _ENTITY.sub(_replace_entity, text)
        if plain == text:
            break
        text = plain
    return text


def _replace_entity(match: re.Match[str]) -> str:
    """Return the character of an entity; return an unknown entity unchanged ("&notanentity;" does not become "¬")."""
    name = match[0][1:]
    return html.unescape(match[0]) if name.startswith("#") else html5.get(name, match[0])


def convert_to_plain_text(text: str | None) -> str:
    """Convert a title, an abstract or a name to plain text on one line."""
    if not text:
        return ""
    if "&" in text:
        text = unescape_entities(text)
    text = _INVISIBLE.sub("", text)
    if "<" in text:
        text = write_scripts(_remove_markup(text))
    return collapse_white_space(text)


def split_abstract(text: str | None) -> list[dict[str, str]]:
    """Split an abstract at its headings into parts with ``text`` and, if the part has a heading, ``label``."""
    if not text:
        return []
    text = unescape_entities(text)
    headings = [("", 0, 0)]
    for match in _HEADING.finditer(text):
        name = convert_to_plain_text(match["text"])
        if len(name) <= _MAX_LABEL:  # a longer one is a sentence in bold type
            headings.append((name.rstrip(": "), *match.span()))
    parts: list[dict[str, str]] = []
    for (label, _, start), (_, end, _) in pairwise([*headings, ("", len(text), 0)]):
        labelled = {"label": label} if label and label.lower() not in _NO_LABEL else {}
        body = convert_to_plain_text(text[start:end])
        if labelled or body:
            parts.append({**labelled, "text": body})
    return parts


def _remove_markup(text: str) -> str:
    text = _COMMENT.sub(lambda match: match["data"] or "", text)
    if re.search(r"<(?:mml:|m:)?math\b", text):
        formula = _convert_formulas(text)
        if formula is not None:
            return formula
    closed = {name.lower() for name in re.findall(r"</([A-Za-z])\s*>", text)}

    def replace_tag(match: re.Match[str]) -> str:
        name = match["name"].lower()
        # An unclosed <p> opens a paragraph unless a letter or digit precedes it, as in a formula.
        opens_paragraph = name == "p" and not text[: match.start()][-1:].isalnum()
        if name in _SHORT and name not in closed and not match["prefix"] and not opens_paragraph:
            return match[0]
        if name in SCRIPTS:
            return END if match[0].startswith("</") else "" if match[0].endswith("/>") else SCRIPTS[name]
        if name in _WITHIN:
            return ""
        if name in BETWEEN:
            return " "
        return "" if match["prefix"] or (_MATH.fullmatch(name) and "math" in text) else match[0]

    return _TAG.sub(replace_tag, text)


def _convert_formulas(text: str) -> str | None:
    """Convert a text with MathML by an XML parser, so that fractions stay fractions; None if it is not well-formed."""
    from lxml import etree

    pieces: list[str] = []
    end = 0
    for match in _TAG.finditer(text):
        pieces.append(html.escape(text[end : match.start()], quote=False))
        pieces.append(re.sub(r"<(/?)[A-Za-z]+:", r"<\1", match[0]))
        end = match.end()
    pieces.append(html.escape(text[end:], quote=False))
    source = re.sub(r"\s[\w.-]+:[\w.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*')", "", "".join(pieces))
    try:
        root = etree.fromstring(f"<text>{source}</text>", etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return None
    return read_text(root)
