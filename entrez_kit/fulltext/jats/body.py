"""Sections of an article: a tree as deep as the document."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from entrez_kit.fulltext.jats.front import abstract_of, front_of
from entrez_kit.fulltext.jats.text import HEADINGS, Flow, blocks_of, heading_of, inline_text, parts_of
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

_REPLIES: Final = ("sub-article", "response")


def _made(title: str = "", label: str = "", blocks: Iterable[str] = (), inner: Iterable[Section] = ()) -> Section:
    """Return a section. One without label and title is text in between."""
    text = "\n\n".join(filter(None, blocks))
    return Section(title=title or None, label=label or None, text=text, subsections=list(inner))


def _has_text(section: Section) -> bool:
    """Tell whether there is more to read than headings."""
    return bool(section.text) or any(map(_has_text, section.subsections))


def _filled(sections: Iterable[Section]) -> list[Section]:
    """Return the sections in which there is anything, be it a heading."""
    return [one for one in sections if one.heading or one.text or one.subsections]


def body_sections(article: Any) -> list[Section]:
    """Return the sections of an article's body alone; what stands before, between and after them is untitled."""
    parts = [part for body in children(article, "body") for part in parts_of(body)]
    return _filled(_made(blocks=part) if isinstance(part, list) else _section(part, 1) for part in parts)


def has_text(article: Any) -> bool:
    """Tell whether a body has a text: headings and what accompanies an article are none."""
    return any(blocks_of(body, without=(*HEADINGS, "supplementary-material")) for body in children(article, "body"))


def other_sections(article: Any) -> list[Section]:
    """Return what follows the body: figures and tables kept apart, the back matter."""
    floats = children(article, "floats-group", "floats-wrap")
    found = [_made(FLOATS_TITLE, blocks=blocks_of(part)) for part in floats]
    for back in children(article, "back"):
        found += _back(back)
    return _filled(found)


def reply_sections(article: Any) -> list[Section]:
    """Return the letters, reviews, replies and translations that an article brings along, one section each."""
    found: list[Section] = []
    for reply in descendants(article, *_REPLIES):
        _, meta = front_of(reply)
        title = inline_text(child(child(meta, "title-group"), "article-title"), without=("fn",))
        kind = attribute(reply, "article-type").replace("-", " ").capitalize()
        blocks = [", ".join(filter(None, map(_name, _people(meta))))]
        inner: list[Section] = []
        for part in (*body_sections(reply), *other_sections(reply)):
            if part.heading or inner:
                inner.append(part)
            else:
                blocks.append(part.text)
        # Those of translations stand beside the article's own.
        if attribute(reply, "article-type") != "translation" and (abstract := abstract_of(meta)):
            inner.insert(0, _made("Abstract", blocks=abstract.split("\n")))
        found.append(_made(title or kind or "Reply", blocks=blocks, inner=inner))
    return list(filter(_has_text, found))


def _people(meta: Any) -> Iterator[Any]:
    for group in children(meta, "contrib-group"):
        for person in children(group, "contrib"):
            yield from children(person, "name", "string-name", "collab")


def _name(person: Any) -> str:
    flow = Flow(without=frozenset(("contrib-id", "contrib-group", "aff")))
    flow.node(person)
    return " ".join(flow.finished())


def _section(element: Any, depth: int) -> Section:
    label, title = heading_of(element)
    caption = child(element, "caption") if local(element) == "boxed-text" else None
    blocks: list[str] = blocks_of(caption, without=HEADINGS) if caption is not None else []
    inner: list[Section] = []
    for part in parts_of(element, without=HEADINGS if caption is None else (*HEADINGS, "caption"), depth=depth):
        if not isinstance(part, list):
            inner.append(_section(part, depth + 1))
        elif part and inner:
            inner.append(_made(blocks=part))
        else:
            blocks += part
    return _made(title, label, blocks, _filled(inner))


def _back(back: Any) -> list[Section]:
    found: list[Section] = []
    for part in children(back):
        name = local(part)
        if name in ("ref-list", *_REPLIES):
            continue
        if name == "app-group":
            found += map(_named, children(part))
        elif name in ("sec", *_BACK_TITLES):
            found.append(_named(part))
        else:
            flow = Flow()
            flow.node(part)
            found.append(_made(blocks=flow.finished()))
    return list(filter(_has_text, found))


def _named(part: Any) -> Section:
    section = _section(part, 0)
    if section.heading:
        return section
    # A single section inside with the title: the part itself is only its wrapping.
    if not section.text and len(section.subsections) == 1 and section.subsections[0].heading:
        return section.subsections[0]
    return section.model_copy(update={"title": _BACK_TITLES.get(local(part))})
