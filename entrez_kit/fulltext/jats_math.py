"""Formulas as one line of text: MathML and TeX.

Blanks between the elements of MathML are kept where a document has them, though they mean nothing there: "10 5" is no
good power of ten, but "105" is a wrong number.
"""

import re
from typing import Any, Final

from entrez_kit.fulltext.jats_xml import local

_TOKENS: Final = frozenset(("mi", "mn", "mo", "mtext", "ms"))
_SCRIPTS: Final = frozenset(("msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts"))
_HIDDEN: Final = frozenset(("annotation", "annotation-xml", "mphantom", "maligngroup", "malignmark", "none"))
_INVISIBLE: Final = {0x2061: None, 0x2062: None, 0x2063: None, 0x2064: None}
"""Function application, times, separator and plus that are not shown."""
_COMPOUND: Final = re.compile(r"(?<=.)[-+=<>±−·×∗*/∑∏∫≤≥]|\s")
"""What makes a numerator or denominator need brackets on one line."""
_TEX_DOCUMENT: Final = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|\Z)", re.DOTALL)
_DOLLARS: Final = re.compile(r"^\s*(?:\$\$?|\\\[|\\\()\s*(.*?)\s*(?:\$\$?|\\\]|\\\))\s*$", re.DOTALL)
MAX_DEPTH: Final = 50


def math_text(element: Any) -> str:
    """Return a MathML formula on one line: fractions as "a / b", with brackets where needed, scripts joined."""
    line = _Line()
    line.content(element)
    return line.text()


def tex_text(element: Any) -> str:
    """Return a TeX formula without the document some publishers wrap around each."""
    written = "".join(element.itertext())
    found = _TEX_DOCUMENT.search(written)
    inner = found[1] if found else written
    dollars = _DOLLARS.match(inner)
    return " ".join((dollars[1] if dollars else inner).split())


class _Line:
    """Collects the tokens of a formula."""

    def __init__(self, depth: int = 0) -> None:
        self._pieces: list[str] = []
        self._depth = depth
        self._is_script = False  # the next token is a script of the one before

    def text(self) -> str:
        return " ".join("".join(self._pieces).split())

    def content(self, element: Any) -> None:
        """Add what is in an element, blanks between its parts included."""
        self._pieces.append(element.text or "")
        for node in element:
            if local(node):
                self.node(node)
            self._pieces.append(node.tail or "")

    def node(self, element: Any) -> None:
        """Add an element."""
        if self._depth >= MAX_DEPTH:
            self._pieces.append("".join(element.itertext()))
            return
        self._depth += 1
        name = local(element)
        if name in _TOKENS:
            self._token("".join(element.itertext()))
        elif name == "mspace":
            self._pieces.append(" ")
        elif name == "mfrac":
            self._token(" / ".join(_bracketed(part) for part in self._parts(element)))
            self._pieces.append(" ")
        elif name in ("msqrt", "mroot"):
            self._root(name, self._parts(element))
        elif name == "mfenced":
            separator = element.get("separators", ",").strip()[:1]
            inner = separator.join(self._parts(element)) if separator else self._run(element)
            self._pieces.append(_wrapped(inner, element.get("open", "("), element.get("close", ")")))
        elif name == "mtable":
            rows = [" ".join(filter(None, map(self._inner, _nodes(row)))) for row in _nodes(element)]
            self._pieces.append(f" {'; '.join(row for row in rows if row)} ")
        elif name in _SCRIPTS:
            self._pieces.append(element.text or "")
            for node in element:
                self._is_script = node.getprevious() is not None
                if local(node):
                    self.node(node)
                self._pieces.append(node.tail or "")
            self._is_script = False
        elif name not in _HIDDEN:
            self.content(element)
        self._depth -= 1

    def _token(self, text: str) -> None:
        """Add a token, apart from the one before where both would run into one word ("5" and "mg")."""
        text = text.translate(_INVISIBLE).strip("\t\r\n")
        if not text:
            return
        before = next((piece for piece in reversed(self._pieces) if piece), "")
        glued = before[-1:].isalnum() and text[0].isalnum() and (len(before) > 1 or len(text) > 1)
        self._pieces.append(f" {text}" if glued and not self._is_script else text)
        self._is_script = False

    def _root(self, name: str, parts: list[str]) -> None:
        if name == "mroot" and len(parts) == 2:
            self._pieces.append(f"{parts[1]}√{_bracketed(parts[0])}")
        else:
            self._pieces.append(f"√{_bracketed(' '.join(parts))}")

    def _parts(self, element: Any) -> list[str]:
        return [self._inner(node) for node in _nodes(element)]

    def _run(self, element: Any) -> str:
        line = _Line(self._depth)
        line.content(element)
        return line.text()

    def _inner(self, element: Any) -> str:
        line = _Line(self._depth)
        line.node(element)
        return line.text()


def _nodes(element: Any) -> list[Any]:
    return [node for node in element if local(node)]


def _bracketed(text: str) -> str:
    whole = text[:1] in ("(", "[") and text[-1:] in (")", "]") and not re.search(r"[)\]].*[(\[]", text)
    return text if whole or not _COMPOUND.search(text) else _wrapped(text, "(", ")")


def _wrapped(text: str, opening: str, closing: str) -> str:
    return f"{opening} {text} {closing}" if " " in text else f"{opening}{text}{closing}"
