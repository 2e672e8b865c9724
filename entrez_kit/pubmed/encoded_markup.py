"""Plain text out of Europe PMC's titles and abstracts: HTML, JATS and encoded markup in strings that hold a bare "<".

Not everything between "<" and ">" is markup ("P<0.001 and q>5"), so only known names count, and a name of one letter
only where it is closed again. Words are never taken away.
"""

import html
import re
from html.entities import html5
from itertools import pairwise
from typing import Final

from entrez_kit.base.markup import END, write_scripts
from entrez_kit.base.mixed_content import BETWEEN, INLINE, SCRIPTS, text_of, tidy

_SHORT: Final = frozenset(("a", "b", "i", "p", "q", "s", "u"))
"""Names that also stand in formulas: "a<b" is no markup."""
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
"""Soft hyphens and other marks for line breaks: no part of a word; and what marks scripts while a text is read."""
_RUN: Final = re.compile(r" {2,}")
_ENCODINGS: Final = 3
"""How often a text may have been encoded one over the other; once too often is common ("CSR&amp;amp;D")."""
_MAX_LABEL: Final = 120
_NO_LABEL: Final = frozenset(("abstract", "summary"))
"""Headings of the abstract as a whole."""


def unescaped(text: str) -> str:
    """Replace entities by their characters, also where they were encoded more than once; markup stays."""
    for _ in range(_ENCODINGS):
        plain = _ENTITY.sub(_character, text)
        if plain == text:
            break
        text = plain
    return text


def _character(match: re.Match[str]) -> str:
    """Return what an entity stands for; an unknown one as it is ("&notanentity;" does not begin with a "¬")."""
    name = match[0][1:]
    return html.unescape(match[0]) if name.startswith("#") else html5.get(name, match[0])


def plain_text(text: str | None) -> str:
    """Return a title, an abstract, a name as plain text on one line."""
    if not text:
        return ""
    if "&" in text:
        text = unescaped(text)
    text = _INVISIBLE.sub("", text)
    if "<" in text:
        text = write_scripts(_without_markup(text))
    return _RUN.sub(" ", tidy(text))


def abstract_parts(text: str | None) -> list[dict[str, str]]:
    """Split an abstract at its headings into parts with ``label`` (where there is one) and ``text``."""
    if not text:
        return []
    text = unescaped(text)
    headings = [("", 0, 0)]
    for match in _HEADING.finditer(text):
        name = plain_text(match["text"])
        if len(name) <= _MAX_LABEL:  # longer, it is a sentence in bold type
            headings.append((name.rstrip(": "), *match.span()))
    parts: list[dict[str, str]] = []
    for (label, _, start), (_, end, _) in pairwise([*headings, ("", len(text), 0)]):
        labelled = {"label": label} if label and label.lower() not in _NO_LABEL else {}
        body = plain_text(text[start:end])
        if labelled or body:
            parts.append({**labelled, "text": body})
    return parts


def _without_markup(text: str) -> str:
    text = _COMMENT.sub(lambda match: match["data"] or "", text)
    if re.search(r"<(?:mml:|m:)?math\b", text):
        formula = _with_formulas(text)
        if formula is not None:
            return formula
    closed = {name.lower() for name in re.findall(r"</([A-Za-z])\s*>", text)}

    def instead(match: re.Match[str]) -> str:
        name = match["name"].lower()
        # An unclosed <p> is a paragraph where it follows no letter or digit, as it would in a formula.
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

    return _TAG.sub(instead, text)


def _with_formulas(text: str) -> str | None:
    """Read a text with MathML through an XML parser, which knows fractions from products; None where it is broken."""
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
    return text_of(root)
