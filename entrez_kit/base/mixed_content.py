"""Extract the plain text of mixed content: all text of titles and abstracts, without markup.

``entrez_kit.base.markup`` explains superscripts and subscripts.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from entrez_kit.base.formulas import get_local_name, read_entity, read_formula
from entrez_kit.base.markup import END, SUBSCRIPT, SUPERSCRIPT, write_scripts

INLINE: Final = frozenset(
    ("b", "i", "u", "sub", "sup", "bold", "italic", "underline", "em", "strong", "sc", "span", "small", "tt", "strike")
)
"""Markup inside a word or sentence."""
SCRIPTS: Final = {"sup": SUPERSCRIPT, "sub": SUBSCRIPT, "inf": SUBSCRIPT}
"""Inline markup that changes the meaning of a text: 10<sup>6</sup> is not 106."""

BETWEEN: Final = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "title"),
    *("p", "br", "break", "hr", "div", "section", "sec", "abstract", "trans-abstract", "article-title", "subtitle"),
    *("ul", "ol", "li", "list", "list-item", "def-list", "def-item", "def", "term", "dl", "dt", "dd", "table", "tr"),
    *("td", "th", "thead", "tbody", "caption", "blockquote", "disp-formula", "disp-quote", "pre", "img", "graphic"),
}
"""Markup between words; a space replaces it."""
_BLOCK: Final = BETWEEN | {"DispFormula", "mtable", "mtr", "mlabeledtr", "mtd"}

_RUN: Final = re.compile(r"[ \t\r\n]+")
_ESCAPED: Final = re.compile(r"<(/?)(sup|sub|inf|i|b|u|em|strong)>", re.IGNORECASE)
"""Markup that some publishers escape as text: "10&lt;sup&gt;6&lt;/sup&gt;"."""


BLANKLESS: Final = "blankless"
"""Root element of trees that the parser built without white space between tags, which is faster for indented files.

Such white space has a meaning only between two inline elements of a text: "<i>in</i> <b>vitro</b>".
"""


class SpaceLost(Exception):
    """White space between two inline elements may be lost; the record must be parsed again with all white space."""


def collapse_white_space(text: str) -> str:
    """Replace each run of spaces, tabs and line breaks with one space; keep typographic spaces."""
    if "  " in text or "\n" in text or "\t" in text or "\r" in text:
        text = _RUN.sub(" ", text)
    return text.strip()


def read_text(element: Any) -> str:
    """Return the plain text of an element, including nested elements."""
    if not len(element):
        text: str | None = element.text
        if not text:
            return ""
        if "<" in text:
            text = parse_escaped_markup(text)
        return collapse_white_space(text)
    inline = True
    for child in element.iterdescendants():
        if child.tag not in INLINE or child.tag in SCRIPTS:
            inline = False
        if child.tail is None and child.getnext() is not None and element.getroottree().getroot().tag == BLANKLESS:
            raise SpaceLost
    if inline:
        return collapse_white_space(parse_escaped_markup("".join(element.itertext())))
    return collapse_white_space(parse_escaped_markup(write_scripts("".join(_yield_pieces(element)))))


def parse_escaped_markup(text: str) -> str:
    """Parse inline markup that a text has in escaped form; keep a tag whose name is not both opened and closed."""
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


def _yield_pieces(element: Any) -> Iterator[str]:
    """Yield the texts of an element with more than inline markup, with marks around its scripts."""
    yield element.text or ""
    for child in element:
        name = get_local_name(child)
        if not name:
            yield read_entity(child)
        elif name == "math":
            yield read_formula(child, fraction="/")
        else:
            yield SCRIPTS.get(name) or (" " if name in _BLOCK else "")
            yield from _yield_pieces(child)
            yield END if name in SCRIPTS else " " if name in _BLOCK else ""
        yield child.tail or ""
