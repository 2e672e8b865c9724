"""Sections of an article: a tree as deep as the document."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from entrez_kit.fulltext.jats.front import abstract_of
from entrez_kit.fulltext.jats.text import Flow, heading_of, inline_text
from entrez_kit.fulltext.jats.tree import attribute, child, children, descendants, local
from entrez_kit.fulltext.models import Section

FLOATS_TITLE: Final = "Figures and tables"
"""Some articles have them all at the end, in a part without a title."""

_BACK_TITLES: Final[Mapping[str, str]] = {
    "ack": "Acknowledgements",
    "app": "Appendix",
    "fn-group": "Footnotes",
    "glossary": "Abbreviations",
    "notes": "Notes",
    "bio": "About the authors",
}
"""What parts of the back matter are called that have no title of their own."""

_NO_TEXT: Final = frozenset(("title", "subtitle", "label", "supplementary-material"))
_REPLIES: Final = ("sub-article", "response")
_MAX_DEPTH: Final = 30
"""Sections nested deeper than this become part of the text of the one above."""


@dataclass(slots=True)
class Node:
    """A section: its own blocks of text, and the sections in it. One without label and title is text in between."""

    title: str = ""
    label: str = ""
    blocks: list[str] = field(default_factory=list)
    nodes: list["Node"] = field(default_factory=list)

    @property
    def heading(self) -> str:
        """Label and title on one line."""
        return f"{self.label} {self.title}".strip()

    @property
    def has_text(self) -> bool:
        """Tell whether there is more to read than headings."""
        return bool(self.blocks) or any(node.has_text for node in self.nodes)

    def is_empty(self) -> bool:
        """Tell whether there is nothing at all, not even a heading."""
        return not (self.heading or self.blocks or self.nodes)


def body_nodes(article: Any, declared: Mapping[str, str]) -> list[Node]:
    """Return the sections of an article's body alone."""
    found: list[Node] = []
    for body in children(article, "body"):
        found += _nodes(body, declared)
    return found


def has_text(article: Any, declared: Mapping[str, str]) -> bool:
    """Tell whether a body has a text: headings and what accompanies an article are none."""
    for body in children(article, "body"):
        flow = Flow(declared, without=_NO_TEXT)
        flow.content(body)
        if flow.finished():
            return True
    return False


def other_nodes(article: Any, declared: Mapping[str, str]) -> list[Node]:
    """Return what follows the body: figures and tables kept apart, the back matter."""
    found: list[Node] = []
    for part in children(article, "floats-group", "floats-wrap"):
        flow = Flow(declared)
        flow.content(part)
        found.append(Node(FLOATS_TITLE, blocks=flow.finished()))
    for back in children(article, "back"):
        found += _back(back, declared)
    return [node for node in found if not node.is_empty()]


def reply_nodes(article: Any, declared: Mapping[str, str]) -> list[Node]:
    """Return the letters, reviews, replies and translations that an article brings along, one section each."""
    found: list[Node] = []
    for reply in descendants(article, *_REPLIES):
        front = child(reply, "front-stub", "front")
        meta = child(front, "article-meta") if child(front, "article-meta") is not None else front
        title = inline_text(child(child(meta, "title-group"), "article-title"), declared, without=("fn",))
        kind = attribute(reply, "article-type").replace("-", " ").capitalize()
        node = Node(title or kind or "Reply")
        if by := [name for person in _people(meta) if (name := _name(person, declared))]:
            node.blocks.append(", ".join(by))
        for part in (*body_nodes(reply, declared), *other_nodes(reply, declared)):
            if part.heading or node.nodes:
                node.nodes.append(part)
            else:
                node.blocks += part.blocks
        # Those of translations stand beside the article's own.
        if attribute(reply, "article-type") != "translation" and (abstract := abstract_of(meta, declared)):
            node.nodes.insert(0, Node("Abstract", blocks=abstract.split("\n")))
        if node.has_text:
            found.append(node)
    return found


def _people(meta: Any) -> Iterator[Any]:
    for group in children(meta, "contrib-group"):
        for person in children(group, "contrib"):
            yield from children(person, "name", "string-name", "collab")


def _name(person: Any, declared: Mapping[str, str]) -> str:
    flow = Flow(declared, without=frozenset(("contrib-id", "contrib-group", "aff")))
    flow.node(person)
    return " ".join(flow.finished())


def _nodes(parent: Any, declared: Mapping[str, str], depth: int = 0) -> list[Node]:
    """Return the sections below an element; what stands before, between and after them becomes untitled ones."""
    found: list[Node] = []
    loose = Flow(declared)
    loose.text(parent.text)
    for node in parent:
        name = local(node)
        if name == "sec" and depth < _MAX_DEPTH:
            _add_loose(found, loose)
            loose = Flow(declared)
            found.append(_section(node, declared, depth + 1))
        else:
            loose.node(node)
        loose.text(node.tail)
    _add_loose(found, loose)
    return [node for node in found if not node.is_empty()]


def _add_loose(found: list[Node], loose: Flow) -> None:
    if blocks := loose.finished():
        found.append(Node(blocks=blocks))


def _section(element: Any, declared: Mapping[str, str], depth: int) -> Node:
    label, title = heading_of(element, declared)
    section = Node(title, label)
    own = Flow(declared)
    own.text(element.text)
    for node in element:
        name = local(node)
        if name == "sec" and depth < _MAX_DEPTH:
            _settle(section, own)
            own = Flow(declared)
            section.nodes.append(_section(node, declared, depth + 1))
        elif name not in ("label", "title", "subtitle"):
            own.node(node)
        own.text(node.tail)
    _settle(section, own)
    section.nodes = [node for node in section.nodes if not node.is_empty()]
    return section


def _settle(section: Node, own: Flow) -> None:
    """Give a section what was read of its own text; after a subsection, it becomes an untitled one."""
    if not (blocks := own.finished()):
        return
    if section.nodes:
        section.nodes.append(Node(blocks=blocks))
    else:
        section.blocks += blocks


def _back(back: Any, declared: Mapping[str, str]) -> list[Node]:
    found: list[Node] = []
    for part in children(back):
        name = local(part)
        if name in ("ref-list", *_REPLIES):
            continue
        if name == "app-group":
            found += [_named(app, declared) for app in children(part)]
        elif name in ("sec", *_BACK_TITLES):
            found.append(_named(part, declared))
        else:
            flow = Flow(declared)
            flow.node(part)
            found.append(Node(blocks=flow.finished()))
    return [node for node in found if node.has_text]


def _named(part: Any, declared: Mapping[str, str]) -> Node:
    node = _section(part, declared, 0)
    # A single section inside with the title: the part itself is only its wrapping.
    if not node.heading and not node.blocks and len(node.nodes) == 1 and node.nodes[0].heading:
        return node.nodes[0]
    if not node.heading:
        node.title = _BACK_TITLES.get(local(part), "")
    return node


def sections_of(nodes: Sequence[Node]) -> list[Section]:
    """Return nodes as the sections users see, one inside the other as they are in the article."""
    return [
        Section(
            title=node.title or None,
            label=node.label or None,
            text="\n\n".join(block for block in node.blocks if block),
            subsections=sections_of(node.nodes),
        )
        for node in nodes
    ]
