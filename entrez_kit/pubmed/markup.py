"""Plain text of mixed content: every word of titles and abstracts, whatever markup stands between them."""

import html
import re
from typing import Any, Final

INLINE: Final = frozenset(
    ("b", "i", "u", "sub", "sup", "bold", "italic", "underline", "em", "strong", "sc", "span", "small", "tt", "strike")
)
"""Markup inside a word or sentence: it adds nothing to the text (H<sub>2</sub>O is H2O)."""

_BLOCK: Final = frozenset(
    (
        "DispFormula",
        "disp-formula",
        "p",
        "br",
        "break",
        "div",
        "list",
        "list-item",
        "li",
        "ul",
        "ol",
        "title",
        "sec",
        "table",
        "tr",
        "td",
        "th",
        "mtable",
        "mtr",
        "mlabeledtr",
        "mtd",
    )
)
"""Markup that stands between words: it is replaced by a space."""

_MATH_TOKENS: Final = frozenset(("mi", "mn", "mo", "mtext", "ms"))
_MATH_SCRIPTS: Final = frozenset(("msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts"))
_INVISIBLE: Final = {0x2061: None, 0x2062: None, 0x2063: None, 0x2064: None}
"""MathML's invisible operators (function application, times, separator, plus) have no place in plain text."""

_RUN: Final = re.compile(r"[ \t\r\n]+")


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
        return tidy(text) if "\n" in text or "\t" in text else text.strip()
    inline = True
    for child in element.iterdescendants():
        if child.tag not in INLINE:
            inline = False
        if child.tail is None and child.getnext() is not None and element.getroottree().getroot().tag == BLANKLESS:
            raise SpaceLost
    if inline:
        return tidy("".join(element.itertext()))
    flat = _Flat()
    flat.content(element)
    return tidy("".join(flat.pieces))


def local_name(element: Any) -> str:
    """Return an element's name without its namespace; "" for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


class _Flat:
    """Collects the text of an element that holds more than inline markup."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.last_token = ""  # the last MathML token, while nothing came after it

    def add(self, text: str | None) -> None:
        if text and text.strip():
            self.last_token = ""
        if text:
            self.pieces.append(text)

    def content(self, element: Any, *, scripts: bool = False) -> None:
        """Add the text before, in and between an element's children; children of ``scripts`` belong to one symbol."""
        self.add(element.text)
        for child in element:
            if scripts:
                self.last_token = ""
            self.node(child)
            self.add(child.tail)
        if scripts:
            self.last_token = self.pieces[-1] if self.pieces else ""

    def node(self, element: Any) -> None:
        name = local_name(element)
        if not name:  # a reference to an entity that nothing may expand: its character, or its name as it stands
            self.add(html.unescape(element.text or ""))
        elif name in _MATH_TOKENS:
            self.token("".join(element.itertext()).translate(_INVISIBLE))
        elif name == "mspace":
            self.add(" ")
            self.last_token = ""
        elif name == "mfrac":
            self.joined(element, "/")
        elif name == "mfenced":
            self.add(element.get("open", "("))
            self.joined(element, element.get("separators", ",").strip()[:1])
            self.add(element.get("close", ")"))
        elif name in ("annotation", "annotation-xml"):
            self.alternative(element)
        elif name in _BLOCK:
            self.add(" ")
            self.content(element)
            self.add(" ")
            self.last_token = ""
        else:
            if name in ("msqrt", "mroot"):
                self.add("√")
            self.content(element, scripts=name in _MATH_SCRIPTS)

    def token(self, text: str) -> None:
        """Add a MathML token, apart from the one before where both would run into one word ("5" and "mg")."""
        before, text = self.last_token, text.strip("\t\r\n")
        if not text:
            return
        glued = bool(before) and before[-1].isalnum() and text[0].isalnum() and (len(before) > 1 or len(text) > 1)
        self.pieces.append(f" {text}" if glued else text)
        self.last_token = text

    def joined(self, element: Any, separator: str) -> None:
        """Add the children of a fraction or of fences with a separator between them."""
        for index, child in enumerate(element):
            if index:
                self.pieces.append(separator)
            self.last_token = ""
            self.node(child)
        self.last_token = self.pieces[-1] if self.pieces else ""

    def alternative(self, element: Any) -> None:
        """Add another notation of a formula (TeX, content markup) only where there is no first one."""
        if element.getprevious() is None:
            self.content(element)
