"""The section tree of a JATS article."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from entrez_kit.fulltext.fulltext_articles import Section
from entrez_kit.fulltext.jats.element_names import HEADINGS
from entrez_kit.fulltext.jats.front import find_front, read_abstract
from entrez_kit.fulltext.jats.front_notes import read_front_notes
from entrez_kit.fulltext.jats.text import BlockCollector, read_blocks, read_heading, read_inline_text, yield_parts
from entrez_kit.fulltext.jats.tree import find_child, get_attribute, get_local_name, iter_children, iter_descendants

FLOATS_TITLE: Final = "Figures and tables"
"""The title of the part at the end of some articles that has all figures and tables."""

_BACK_TITLES: Final[Mapping[str, str]] = {
    "ack": "Acknowledgements",
    "app": "Appendix",
    "fn-group": "Footnotes",
    "glossary": "Abbreviations",
    "notes": "Notes",
    "bio": "About the authors",
}
"""The titles of parts of the back matter that have none."""

_REPLIES: Final = ("sub-article", "response")


def _make_section(
    title: str = "", label: str = "", blocks: Iterable[str] = (), inner: Iterable[Section] = ()
) -> Section:
    """Return a section; text between sections has no label and title."""
    text = "\n\n".join(filter(None, blocks))
    return Section(title=title or None, label=label or None, text=text, subsections=list(inner))


def _has_text(section: Section) -> bool:
    """Return whether a section has more than headings."""
    return bool(section.text) or any(map(_has_text, section.subsections))


def _drop_empty(sections: Iterable[Section]) -> list[Section]:
    """Return the sections that have a heading, text or subsections."""
    return [section for section in sections if section.heading or section.text or section.subsections]


def read_body_sections(article: Any) -> list[Section]:
    """Return the sections of an article's body; text before, between and after them has no title."""
    parts = [part for body in iter_children(article, "body") for part in yield_parts(body)]
    return _drop_empty(
        _make_section(blocks=part) if isinstance(part, list) else _read_section(part, 1) for part in parts
    )


def has_text(article: Any) -> bool:
    """Return whether the body has a text; headings and supplementary material do not count."""
    return any(
        read_blocks(body, without=(*HEADINGS, "supplementary-material")) for body in iter_children(article, "body")
    )


def read_other_sections(article: Any) -> list[Section]:
    """Return the parts after the body: separate figures and tables, and the back matter."""
    floats = iter_children(article, "floats-group", "floats-wrap")
    sections = [_make_section(FLOATS_TITLE, blocks=read_blocks(part)) for part in floats]
    for back in iter_children(article, "back"):
        sections += _read_back(back)
    return _drop_empty(sections)


def read_front_sections(article: Any, sections: Iterable[Section]) -> list[Section]:
    """Return the text in the front matter, such as notes about the authors and statements about funding.

    Args:
        sections: the other sections of the article; passages that they have too are omitted.
    """
    front, _ = find_front(article)
    known = "\n\n".join(_iter_texts(sections))
    notes = read_front_notes(article).items()
    own = [_make_section(title, blocks=[block for block in blocks if block not in known]) for title, blocks in notes]
    return list(filter(_has_text, [*own, *map(_add_title, iter_children(front, "notes"))]))


def _iter_texts(sections: Iterable[Section]) -> Iterator[str]:
    for section in sections:
        yield section.text
        yield from _iter_texts(section.subsections)


def reply_sections(article: Any) -> list[Section]:
    """Return the letters, reviews, replies and translations in an article, one section each."""
    sections: list[Section] = []
    for reply in iter_descendants(article, *_REPLIES):
        _, meta = find_front(reply)
        title = read_inline_text(find_child(find_child(meta, "title-group"), "article-title"), without=("fn",))
        kind = get_attribute(reply, "article-type").replace("-", " ").capitalize()
        blocks = [", ".join(filter(None, map(_format_name, _find_people(meta))))]
        inner: list[Section] = []
        parts = [*read_body_sections(reply), *read_other_sections(reply)]
        for part in (*parts, *read_front_sections(reply, parts)):
            if part.heading or inner:
                inner.append(part)
            else:
                blocks.append(part.text)
        # Abstracts of translations are in ``other_abstracts``.
        if get_attribute(reply, "article-type") != "translation" and (abstract := read_abstract(meta)):
            inner.insert(0, _make_section("Abstract", blocks=abstract.split("\n")))
        sections.append(_make_section(title or kind or "Reply", blocks=blocks, inner=inner))
    return list(filter(_has_text, sections))


def _find_people(meta: Any) -> Iterator[Any]:
    for group in iter_children(meta, "contrib-group"):
        for person in iter_children(group, "contrib"):
            yield from iter_children(person, "name", "string-name", "collab")


def _format_name(person: Any) -> str:
    flow = BlockCollector(without=frozenset(("contrib-id", "contrib-group", "aff")))
    flow.add_node(person)
    return " ".join(flow.finish())


def _read_section(element: Any, depth: int) -> Section:
    label, title = read_heading(element)
    caption = find_child(element, "caption") if get_local_name(element) == "boxed-text" else None
    blocks: list[str] = read_blocks(caption, without=HEADINGS) if caption is not None else []
    inner: list[Section] = []
    for part in yield_parts(element, without=HEADINGS if caption is None else (*HEADINGS, "caption"), depth=depth):
        if not isinstance(part, list):
            inner.append(_read_section(part, depth + 1))
        elif part and inner:
            inner.append(_make_section(blocks=part))
        else:
            blocks += part
    return _make_section(title, label, blocks, _drop_empty(inner))


def _read_back(back: Any) -> list[Section]:
    sections: list[Section] = []
    for part in iter_children(back):
        name = get_local_name(part)
        if name in ("ref-list", *_REPLIES):
            continue
        if name == "app-group":
            sections += map(_add_title, iter_children(part))
        elif name in ("sec", *_BACK_TITLES):
            sections.append(_add_title(part))
        else:
            flow = BlockCollector()
            flow.add_node(part)
            sections.append(_make_section(blocks=flow.finish()))
    return list(filter(_has_text, sections))


def _add_title(part: Any) -> Section:
    section = _read_section(part, 0)
    if section.heading:
        return section
    # The part only wraps a single section that has the title.
    if not section.text and len(section.subsections) == 1 and section.subsections[0].heading:
        return section.subsections[0]
    return section.model_copy(update={"title": _BACK_TITLES.get(get_local_name(part))})
