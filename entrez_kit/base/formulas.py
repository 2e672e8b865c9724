"""Convert MathML to one line of text with every token; two numbers never join into one."""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from entrez_kit.base.markup import format_subscript, format_superscript

_TOKENS: Final = frozenset(("mi", "mn", "mo", "mtext", "ms"))
_SCRIPTS: Final = {
    "msub": ("sub",),
    "msup": ("sup",),
    "msubsup": ("sub", "sup"),
    "munder": ("sub",),
    "mover": ("sup",),
    "munderover": ("sub", "sup"),
}
"""The roles of the elements after the first one."""
_HIDDEN: Final = frozenset(("annotation", "annotation-xml", "mphantom", "maligngroup", "malignmark", "none"))
_INVISIBLE: Final = {0x2061: None, 0x2062: None, 0x2063: None, 0x2064: None}
"""Invisible operators: function application, times, separator and plus."""
_COMPOUND: Final = re.compile(r"(?<=.)[-+=<>±−·×∗*/∑∏∫≤≥]|\s")
"""Characters for which a numerator or denominator needs brackets on one line."""
_RAISED: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
MAX_DEPTH: Final = 50


def get_local_name(element: Any) -> str:
    """Return an element's name without its namespace; "" for comments, instructions and entity references."""
    tag = element.tag
    if not isinstance(tag, str):
        return ""
    return tag.rpartition("}")[2] if tag[:1] == "{" else tag


def read_entity(node: Any) -> str:
    """Return the character of an entity reference that the parser left, or the reference itself; "" for a comment."""
    text = node.text or ""
    return html.unescape(text) if text[:1] == "&" and text[-1:] == ";" else ""


def read_formula(element: Any, *, fraction: str = " / ") -> str:
    """Return a MathML formula on one line: fractions as "a / b", with brackets where needed, scripts joined.

    Args:
        element: the element ``math``.
        fraction: the text between a numerator and its denominator.
    """
    line = _MathLine(fraction)
    line.add_content(element)
    return line.get_text()


class _MathLine:
    """Collects the tokens of a formula."""

    def __init__(self, fraction: str, depth: int = 0) -> None:
        self._fraction = fraction
        self._pieces: list[str] = []
        self._before = ""  # the last piece, including spaces
        self._depth = depth

    def _add(self, piece: str | None) -> None:
        if piece:
            self._pieces.append(piece)
            self._before = piece

    def get_text(self) -> str:
        return " ".join("".join(self._pieces).split())

    def add_content(self, element: Any) -> None:
        """Add the content of an element, including the spaces between its parts."""
        self._add(element.text)
        for node in element:
            if get_local_name(node):
                self.add_node(node)
            else:
                self._add(read_entity(node))
            self._add(node.tail)

    def add_node(self, element: Any) -> None:
        """Add an element."""
        if self._depth >= MAX_DEPTH:
            self._add("".join(element.itertext()))
            return
        self._depth += 1
        name = get_local_name(element)
        if name in _TOKENS:
            self._add_token("".join(element.itertext()))
        elif name in _SCRIPTS:
            self._add_scripts(_list_nodes(element), _SCRIPTS[name])
        elif (add := _LAYOUTS.get(name)) is not None:
            add(self, element)
        elif name not in _HIDDEN or (name.startswith("annotation") and element.getprevious() is None):
            self.add_content(element)  # an annotation is used only if there is no other notation
        self._depth -= 1

    def _add_fraction(self, element: Any) -> None:
        self._add_token(self._fraction.join(_add_brackets(part) for part in self._read_parts(element)))
        self._add(" ")

    def _add_root(self, element: Any) -> None:
        parts = self._read_parts(element)
        degree = parts.pop() if get_local_name(element) == "mroot" and len(parts) == 2 else ""
        self._add(f"{degree}√{_add_brackets(' '.join(parts))}")

    def _add_fence(self, element: Any) -> None:
        separator = element.get("separators", ",").strip()[:1]
        inner = separator.join(self._read_parts(element)) if separator else self._read_inner(element, content=True)
        self._add(_wrap(inner, element.get("open", "("), element.get("close", ")")))

    def _add_table(self, element: Any) -> None:
        rows = [" ".join(filter(None, map(self._read_inner, _list_nodes(row)))) for row in _list_nodes(element)]
        self._add(f" {'; '.join(row for row in rows if row)} ")

    def _add_scripts(self, nodes: Sequence[Any], kinds: Sequence[str]) -> None:
        """Add a base, the first node, and its scripts."""
        for number, node in enumerate(nodes, start=-1):
            if number < 0:
                self._add_base(node)
            else:
                self._add_script(node, kinds[number] if number < len(kinds) else "sup")

    def _add_token(self, text: str) -> None:
        """Add a token, after a space if it would join the token before it into one word ("5" and "mg")."""
        text = text.translate(_INVISIBLE).strip("\t\r\n")
        if not text:
            return
        before = self._before
        glued = before[-1:].isalnum() and text[0].isalnum() and (len(before) > 1 or len(text) > 1 or text.isdigit())
        after_script = before[-1:].isnumeric() and not before[-1:].isdecimal() and text[0].isalpha()
        self._add(f" {text}" if glued and not after_script else text)

    def _add_base(self, element: Any) -> None:
        """Add the base of scripts; a fraction gets brackets: (a / b)²."""
        inner = element
        while get_local_name(inner) in ("mrow", "mstyle", "mpadded") and len(inner) == 1:
            inner = inner[0]
        if get_local_name(inner) == "mfrac":
            self._add_token(_wrap(self._read_inner(inner), "(", ")"))
        else:
            self.add_node(element)

    def _add_script(self, element: Any, kind: str) -> None:
        """Add a superscript or subscript; two in a row stay separate."""
        is_token = get_local_name(element) in _TOKENS and not len(element)
        text = " ".join((element.text or "").translate(_INVISIBLE).split()) if is_token else self._read_inner(element)
        written = (format_superscript if kind == "sup" else format_subscript)(text)
        before = self._before
        both = before[-1:].isnumeric() and not before[-1:].isdecimal() and text[:1].isdigit()
        same = both and written[:1].isnumeric() and (before[-1:] in _RAISED) is (kind == "sup")
        self._add(f" {written}" if same else written)

    def _add_many_scripts(self, nodes: list[Any]) -> None:
        """Add a base with scripts on both sides, in reading order."""
        names = [get_local_name(node) for node in nodes]
        split = names.index("mprescripts") if "mprescripts" in names else len(nodes)
        for number, node in enumerate(nodes[split + 1 :]):
            self._add_script(node, "sup" if number % 2 else "sub")
        for node in nodes[:1]:
            self._add_base(node)
        for number, node in enumerate(nodes[1:split]):
            self._add_script(node, "sup" if number % 2 else "sub")

    def _read_parts(self, element: Any) -> list[str]:
        return [self._read_inner(node) for node in _list_nodes(element)]

    def _read_inner(self, element: Any, *, content: bool = False) -> str:
        """Return an element, or only its content, as a separate line."""
        line = _MathLine(self._fraction, self._depth)
        (line.add_content if content else line.add_node)(element)
        return line.get_text()


_LAYOUTS: Final[Mapping[str, Callable[[_MathLine, Any], None]]] = {
    "mfenced": _MathLine._add_fence,
    "mfrac": _MathLine._add_fraction,
    "mglyph": lambda line, element: line._add_token(element.get("alt", "")),
    "mmultiscripts": lambda line, element: line._add_many_scripts(_list_nodes(element)),
    "mroot": _MathLine._add_root,
    "mspace": lambda line, _: line._add(" "),
    "msqrt": _MathLine._add_root,
    "mtable": _MathLine._add_table,
}
"""The methods that add fractions, roots, tables and similar elements, by element."""


def _list_nodes(element: Any) -> list[Any]:
    return [node for node in element if get_local_name(node)]


def _add_brackets(text: str) -> str:
    if not _COMPOUND.search(text):
        return text
    inside = text[1:-1]
    first_closing = min((position for mark in ")]" if (position := inside.find(mark)) >= 0), default=len(inside))
    apart = max(inside.rfind("("), inside.rfind("[")) > first_closing  # "(a) + (b)" is not one pair
    whole = text[:1] in ("(", "[") and text[-1:] in (")", "]") and not apart
    return text if whole else _wrap(text, "(", ")")


def _wrap(text: str, opening: str, closing: str) -> str:
    return f"{opening} {text} {closing}" if " " in text else f"{opening}{text}{closing}"
