"""Plain text of mixed content: every word of titles and abstracts, whatever markup stands between them.

How superscripts and subscripts are written is said in ``entrez_kit.base.markup``.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from entrez_kit.base.formulas import entity_text, local, math_text
from entrez_kit.base.markup import END, SUBSCRIPT, SUPERSCRIPT, write_scripts

INLINE: Final = frozenset(
    ("b", "i", "u", "sub", "sup", "bold", "italic", "underline", "em", "strong", "sc", "span", "small", "tt", "strike")
)
"""Markup inside a word or sentence."""
SCRIPTS: Final = {"sup": SUPERSCRIPT, "sub": SUBSCRIPT, "inf": SUBSCRIPT}
"""Those of them that change what a text says: 10<sup>6</sup> is not 106."""

BETWEEN: Final = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "title"),
    *("p", "br", "break", "hr", "div", "section", "sec", "abstract", "trans-abstract", "article-title", "subtitle"),
    *("ul", "ol", "li", "list", "list-item", "def-list", "def-item", "def", "term", "dl", "dt", "dd", "table", "tr"),
    *("td", "th", "thead", "tbody", "caption", "blockquote", "disp-formula", "disp-quote", "pre", "img", "graphic"),
}
"""Markup that stands between words; a space takes its place."""
_BLOCK: Final = BETWEEN | {"DispFormula", "mtable", "mtr", "mlabeledtr", "mtd"}

_RUN: Final = re.compile(r"[ \t\r\n]+")
_ESCAPED: Final = re.compile(r"<(/?)(sup|sub|inf|i|b|u|em|strong)>", re.IGNORECASE)
"""Markup that was encoded as text, as some publishers send it: "10&lt;sup&gt;6&lt;/sup&gt;"."""


BLANKLESS: Final = "blankless"
"""Root of trees that were built without white space between tags, which is half as fast again where files are indented.

Such white space means nothing, except between two pieces of markup in a text: "<i>in</i> <b>vitro</b>".
"""


class SpaceLost(Exception):
    """White space may have stood between two pieces of markup; the record has to be parsed again with all of it."""


def tidy(text: str) -> str:
    """Make line breaks, and the indentation around them, one space; typographic spaces stay what they are."""
    if "\n" in text or "\t" in text:
        text = _RUN.sub(" ", text)
    return text.strip()


def text_of(element: Any) -> str:
    """Return an element's words as plain text, nested markup included."""
    if not len(element):
        text: str | None = element.text
        if not text:
            return ""
        if "<" in text:
            text = without_escaped(text)
        return tidy(text) if "\n" in text or "\t" in text else text.strip()
    inline = True
    for child in element.iterdescendants():
        if child.tag not in INLINE or child.tag in SCRIPTS:
            inline = False
        if child.tail is None and child.getnext() is not None and element.getroottree().getroot().tag == BLANKLESS:
            raise SpaceLost
    if inline:
        return tidy(without_escaped("".join(element.itertext())))
    return tidy(without_escaped(write_scripts("".join(_pieces(element)))))


def without_escaped(text: str) -> str:
    """Read inline markup that stands in a text as text; a name that is not opened and closed is left alone."""
    if "</" not in text:
        return text
    named: dict[str, set[str]] = {}
    for close, name in _ESCAPED.findall(text):
        named.setdefault(name.lower(), set()).add(close)

    def mark(match: re.Match[str]) -> str:
        name = match[2].lower()
        if len(named[name]) < 2:
            return match[0]
        return (END if match[1] else SCRIPTS[name]) if name in SCRIPTS else ""

    return write_scripts(_ESCAPED.sub(mark, text)) if named else text


def _pieces(element: Any) -> Iterator[str]:
    """Yield the texts in an element that holds more than inline markup, its scripts marked."""
    yield element.text or ""
    for child in element:
        name = local(child)
        if not name:
            yield entity_text(child)
        elif name == "math":
            yield math_text(child, fraction="/")
        else:
            yield SCRIPTS.get(name) or (" " if name in _BLOCK else "")
            yield from _pieces(child)
            yield END if name in SCRIPTS else " " if name in _BLOCK else ""
        yield child.tail or ""
