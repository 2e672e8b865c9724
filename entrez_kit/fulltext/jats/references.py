"""References as one line each: mixed citations verbatim, element citations joined field by field."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from entrez_kit.fulltext.jats.text import MAX_DEPTH, SCRIPTS, Flow, inline_text, one_line
from entrez_kit.fulltext.jats.tree import attribute, child, children, descendants, entity_text, is_entity, local
from entrez_kit.fulltext.models import Reference
from entrez_kit.markup import END, write_scripts

_KINDS: Final = ("mixed-citation", "element-citation", "nlm-citation", "citation", "product")
_TITLES: Final = ("article-title", "chapter-title", "part-title", "data-title", "trans-title")
_PEOPLE: Final = ("person-group", "name", "string-name", "collab", "etal", "anonymous", "name-alternatives")
_IDS: Final[Mapping[str, str]] = {"doi": "doi:", "pmid": "PMID:", "pmc": "", "pmcid": "", "arxiv": "arXiv:"}
_TIGHT: Final = frozenset(
    ("bold", "italic", "sc", "underline", "monospace", "roman", "xref", "styled-content", "named-content", *SCRIPTS)
)
"""Markup inside a word of a citation; between other elements words stay apart."""
_FORMULAS: Final = frozenset(("inline-formula", "disp-formula", "alternatives", "math", "tex-math"))
_ENDS: Final = (".", "?", "!", ";", ":", ",")


def references_of(article: Any, declared: Mapping[str, str]) -> list[Reference]:
    """Return the references of an article, without those of the letters and replies it brings along."""
    found: list[Reference] = []
    for element in descendants(article, "ref", outside=("sub-article", "response", "front", "ref")):
        try:
            label, citation = _read(element, declared)
        except RecursionError:  # one made to hurt must not cost the others
            label, citation = "", one_line(" ".join(element.itertext()))
        if citation:
            found.append(Reference(id=attribute(element, "id") or None, label=label or None, citation=citation))
    return found


def _read(reference: Any, declared: Mapping[str, str]) -> tuple[str, str]:
    """Return label and text of a reference."""
    label, texts = "", []
    is_twice = child(reference, "mixed-citation") is not None
    for part in children(reference):
        name = local(part)
        if name == "element-citation" and is_twice:
            pass  # the same once more, as SciELO has it
        elif name == "label":
            label = label or inline_text(part, declared)
        elif name in _KINDS or name == "citation-alternatives":
            own = child(part, "label")
            label = label or inline_text(own, declared)
            texts.append(citation_text(part, declared, label=False))
        else:
            texts.append(inline_text(part, declared))
    return label, one_line(" ".join(text for text in texts if text))


def citation_text(element: Any, declared: Mapping[str, str], *, label: bool = True) -> str:
    """Return a citation on one line.

    Args:
        element: the citation, of any kind.
        declared: texts of the document's own entities.
        label: whether its number is part of it.
    """
    while local(element) == "citation-alternatives":
        best = child(element, "mixed-citation")
        element = best if best is not None else child(element)
        if element is None:
            return ""
    skip = None if label else child(element, "label")
    if local(element) != "mixed-citation" and _is_fields(element):
        return _joined_fields(element, declared, skip)
    return _on_one_line(element, declared, skip)


def _is_fields(element: Any) -> bool:
    """Tell whether there is no text between the fields, so that punctuation has to be added."""
    between = [element.text, *(node.tail for node in element)]
    return len(element) > 0 and not any(text and text.strip(" \t\r\n.,;:") for text in between)


# Verbatim


def _on_one_line(element: Any, declared: Mapping[str, str], skip: Any = None) -> str:
    return write_scripts(one_line("".join(_verbatim(element, declared, skip))))


def _verbatim(element: Any, declared: Mapping[str, str], skip: Any = None, depth: int = 0) -> list[str]:
    """Return the pieces of a citation as they stand, with a blank where two fields would run into one word."""
    if depth > MAX_DEPTH:
        return [" ".join(element.itertext())]
    pieces: list[str] = []

    def add(text: str | None, *, apart: bool) -> None:
        if not text:
            return
        if apart and pieces and pieces[-1][-1:].isalnum() and text[0].isalnum():
            pieces.append(" ")
        pieces.append(text)

    add(element.text, apart=False)
    for node in element:
        name = local(node)
        if node is skip:
            pass
        elif is_entity(node):
            add(entity_text(node, declared), apart=False)
        elif name in ("break", "br"):
            add(" ", apart=False)
        elif name in _FORMULAS:
            flow = Flow(declared)
            flow.node(node)
            pieces.append(" ".join(flow.finished()))
        elif name in SCRIPTS:
            pieces += [SCRIPTS[name], *_verbatim(node, declared, depth=depth + 1), END]
        elif name:
            add("".join(_verbatim(node, declared, depth=depth + 1)), apart=name not in _TIGHT)
        add(node.tail, apart=bool(name) and name not in _TIGHT)
    return pieces


# Field by field


def _joined_fields(element: Any, declared: Mapping[str, str], skip: Any) -> str:
    """Return the fields of a citation as a reference list has them; fields of no known place come last."""
    left = [node for node in children(element) if node is not skip]

    def take(*names: str) -> list[Any]:
        taken = [node for node in left if local(node) in names]
        if taken:
            left[:] = [node for node in left if local(node) not in names]
        return taken

    def text(*names: str, joiner: str = " ") -> str:
        return joiner.join(filter(None, (_field(node, declared) for node in take(*names))))

    people = take(*_PEOPLE)
    authors: list[Any] = []
    editors: list[Any] = []
    for node in people:
        is_author = attribute(node, "person-group-type") in ("", "author", "authors", "collab")
        (authors if is_author else editors).append(node)
    parts = [text("label"), _people(authors, declared), text(*_TITLES, joiner=". ")]
    if editors:
        kind = attribute(editors[0], "person-group-type")
        parts.append(f"{_people(editors, declared)} ({kind})")
    parts += [text("source"), text("edition"), text("conf-name", "conf-loc", "conf-date", joiner=", ")]
    parts.append(": ".join(filter(None, (text("publisher-loc"), text("publisher-name")))))
    date = text("year", "month", "day", "season", "string-date") or text("date")
    volume = text("volume") + (f"({issue})" if (issue := text("issue")) else "")
    pages = _pages(text("fpage"), text("lpage"), text("page-range"), text("elocation-id"))
    where = f"{volume}:{pages}" if volume and pages else volume or pages
    parts.append(";".join(filter(None, (date, where))))
    identifiers = take("pub-id")
    parts += [_field(node, declared) for node in left]
    parts += [_identifier(node, declared) for node in identifiers]
    return _sentences(parts)


def _pages(first: str, last: str, span: str, location: str) -> str:
    pages = span or (f"{first}-{last}" if first and last and first != last else first or last)
    return ", ".join(filter(None, (pages, location)))


def _identifier(node: Any, declared: Mapping[str, str]) -> str:
    value = inline_text(node, declared)
    prefix = _IDS.get(attribute(node, "pub-id-type").lower(), "")
    return value if value.lower().startswith(prefix.lower().rstrip(":") or "\0") else f"{prefix}{value}"


def _field(node: Any, declared: Mapping[str, str]) -> str:
    if local(node) in ("name", "string-name", "person-group"):
        return _people([node], declared)
    return _on_one_line(node, declared)


def _people(nodes: Iterable[Any], declared: Mapping[str, str], depth: int = 0) -> str:
    names: list[str] = []
    for node in nodes:
        kind = local(node) if depth <= MAX_DEPTH else ""
        if kind == "person-group":
            inner = _people(children(node), declared, depth + 1)
            names.append(inner or inline_text(node, declared))
        elif kind == "name-alternatives":
            names.append(_people(list(children(node))[:1], declared, depth + 1))
        elif kind == "name":
            surname, given = (inline_text(child(node, part), declared) for part in ("surname", "given-names"))
            suffix, prefix = (inline_text(child(node, part), declared) for part in ("suffix", "prefix"))
            names.append(" ".join(filter(None, (prefix, surname, given, suffix))))
        elif kind == "etal":
            names.append(inline_text(node, declared) or "et al.")
        elif kind == "anonymous":
            names.append("Anonymous")
        else:
            names.append(_on_one_line(node, declared))
    return ", ".join(name for name in names if name)


def _sentences(parts: Iterable[str]) -> str:
    line = ""
    for part in (one_line(part) for part in parts):
        if not part:
            continue
        if line and not line.endswith(_ENDS):
            line += "."
        line += f" {part}" if line else part
    last = line[line.rfind(" ") + 1 :]
    is_address = not last.endswith(("doi:", "://")) and any(mark in last for mark in ("https://", "http://", "doi:"))
    return line if not line or line.endswith((".", "?", "!")) or is_address else f"{line}."
