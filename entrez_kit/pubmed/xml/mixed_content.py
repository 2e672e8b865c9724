"""Plain text of mixed content: every word of titles and abstracts, whatever markup stands between them.

How superscripts and subscripts are written is said in ``entrez_kit.markup``.
"""

import html
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from entrez_kit.markup import END, SUBSCRIPT, SUPERSCRIPT, subscript, superscript, write_scripts

INLINE: Final = frozenset(
    ("b", "i", "u", "sub", "sup", "bold", "italic", "underline", "em", "strong", "sc", "span", "small", "tt", "strike")
)
"""Markup inside a word or sentence."""
SCRIPTS: Final = {"sup": SUPERSCRIPT, "sub": SUBSCRIPT, "inf": SUBSCRIPT}
"""Those of them that change what a text says: 10<sup>6</sup> is not 106."""

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
_MATH_SCRIPTS: Final = {
    "msub": (subscript,),
    "munder": (subscript,),
    "msup": (superscript,),
    "mover": (superscript,),
    "msubsup": (subscript, superscript),
    "munderover": (subscript, superscript),
}
_COMPOUND: Final = re.compile(r".[-+−±/*×·=<>]|\s")
"""What a symbol with a power has in it where it needs brackets: (a/b)²."""
_INVISIBLE: Final = {0x2061: None, 0x2062: None, 0x2063: None, 0x2064: None}
"""MathML's invisible operators (function application, times, separator, plus) have no place in plain text."""

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
    flat = _Flat()
    flat.content(element)
    return tidy(without_escaped(write_scripts("".join(flat.pieces))))


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

    def content(self, element: Any) -> None:
        """Add the text before, in and between an element's children."""
        self.add(element.text)
        for child in element:
            self.node(child)
            self.add(child.tail)

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
        elif name in SCRIPTS:
            self.pieces.append(SCRIPTS[name])
            self.content(element)
            self.pieces.append(END)
        elif name in _MATH_SCRIPTS:
            base, *scripts = self.parts(element)
            writers = _MATH_SCRIPTS[name]
            self.scripted(base, zip(writers, scripts, strict=False))
            self.add(" ".join(scripts[len(writers) :]))  # nothing belongs there
        elif name == "mmultiscripts":
            self.multiscripts(element)
        elif name in _BLOCK:
            self.add(" ")
            self.content(element)
            self.add(" ")
            self.last_token = ""
        else:
            if name in ("msqrt", "mroot"):
                self.add("√")
            self.content(element)

    def token(self, text: str) -> None:
        """Add a MathML token, apart from the one before where both would run into one word ("5" and "mg")."""
        before, text = self.last_token, text.strip("\t\r\n")
        if not text:
            return
        glued = bool(before) and before[-1].isalnum() and text[0].isalnum() and (len(before) > 1 or len(text) > 1)
        self.pieces.append(f" {text}" if glued else text)
        self.last_token = text

    def parts(self, element: Any) -> list[str]:
        """Return the texts of an element's children, one each; at least one."""
        texts = []
        for child in element:
            part = _Flat()
            part.node(child)
            part.add(child.tail)
            texts.append(tidy("".join(part.pieces)))
        return texts or [element.text or ""]

    def scripted(self, base: str, scripts: Iterable[tuple[Callable[[str], str], str]]) -> None:
        """Add a symbol with its scripts; a bar or an arrow over it is written behind it as it is."""
        written = "".join(write(script) for write, script in scripts if script)
        if written and _COMPOUND.search(base) and base[-1] not in ")]}|":
            base = f"({base})"
        self.token(base)
        if written:
            self.pieces.append(written)
            self.last_token = written[-1]

    def multiscripts(self, element: Any) -> None:
        """Add a symbol with scripts on both sides, those before it first: ¹⁴C."""
        names = [local_name(child) for child in element]
        base, *texts = self.parts(element)
        middle = names.index("mprescripts") - 1 if "mprescripts" in names else len(texts)
        behind, before = texts[:middle], texts[middle + 1 :]
        self.pieces += [superscript(script) for script in before[1::2]] + [subscript(script) for script in before[::2]]
        self.scripted(base, zip((subscript, superscript) * len(behind), behind, strict=False))

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
