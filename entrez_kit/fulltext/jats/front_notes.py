"""Read the parts of the front matter that are text of the article: notes about the authors, statements, funding.

Other parts are metadata: ids, dates, subjects, addresses for correspondence, editors, permissions and running titles.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from entrez_kit.fulltext.jats.front import find_front
from entrez_kit.fulltext.jats.text import BlockCollector, read_blocks, read_inline_text
from entrez_kit.fulltext.jats.tree import find_child, get_attribute, get_local_name, iter_children, iter_descendants

_FUNDING: Final = "Funding"
_CONTRIBUTIONS: Final = "Author contributions"
_NOTES: Final = "Author notes"
_TITLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("conflict", "coi-statement"), "Competing interests"),
    "con": _CONTRIBUTIONS,
    **dict.fromkeys(("financial-disclosure", "supported-by"), _FUNDING),
}
"""The titles of notes about the authors, by their type; notes of other types have the title ``_NOTES``."""
_STATEMENTS: Final = re.compile(
    "availability|impact statement|ethic|consent|disclosure|interest|funding|registration", re.IGNORECASE
)
"""Names of custom metadata whose values are sentences of the article."""
_OFFICES: Final = re.compile(r"\b(editor|referee|reviewer)\b", re.IGNORECASE)
"""Roles of people who are not authors, which are metadata."""

Notes = tuple[str, list[str]]
"""A title, and blocks of text."""


def read_front_notes(article: Any) -> dict[str, list[str]]:
    """Return the text of an article that is in its front matter: blocks by title, in the order of the titles."""
    _, meta = find_front(article)
    notes: dict[str, list[str]] = {}
    if meta is None:
        return notes
    for title, blocks in _yield_notes(meta):
        known = notes.setdefault(title, [])
        known += [block for block in blocks if block not in known]
    return {title: blocks for title, blocks in notes.items() if blocks}


def _yield_notes(meta: Any) -> Iterator[Notes]:
    yield "Reviewed work", _read_nodes(iter_children(meta, "product"))
    titles = find_child(meta, "title-group")
    yield "Titles in other languages", [read_inline_text(node) for node in iter_descendants(titles, "trans-title")]
    yield "Notes", _read_nodes(iter_children(titles, "fn-group"))
    for node in iter_descendants(meta, "author-notes"):
        yield from _yield_author_notes(node)
    people = [person for group in iter_children(meta, "contrib-group") for person in iter_descendants(group, "contrib")]
    yield _CONTRIBUTIONS, list(filter(None, map(_format_roles, people)))
    yield "About the authors", [block for person in people for block in _read_nodes(iter_children(person, "bio"))]
    for group in iter_children(meta, "funding-group", "support-group"):
        yield _FUNDING, _read_funding(group)
    for node in iter_descendants(meta, "custom-meta"):
        name = read_inline_text(find_child(node, "meta-name"))
        if _STATEMENTS.search(name):
            yield name, read_blocks(find_child(node, "meta-value"))
    yield "Supplementary material", _read_nodes(iter_children(meta, "supplementary-material"))


def _read_nodes(nodes: Iterable[Any]) -> list[str]:
    flow = BlockCollector(without=frozenset(("contrib-id",)))
    for node in nodes:
        flow.add_node(node)
        flow.end_line()
    return flow.finish()


def _yield_author_notes(notes: Any) -> Iterator[Notes]:
    for node in iter_children(notes):
        kind = get_attribute(node, "fn-type").lower()
        if get_local_name(node) not in ("corresp", "title") and kind != "corresp":
            yield _TITLES.get(kind, _NOTES), _read_nodes([node])


def _format_roles(person: Any) -> str:
    """Return the contributions of an author, after the name; "" if the article gives none."""
    texts = (read_inline_text(node) for node in iter_children(person, "role"))
    roles = [text for text in texts if text and not _OFFICES.search(text)]
    name = find_child(person, "name", "string-name", "collab", "name-alternatives")
    if not roles or name is None or _OFFICES.search(get_attribute(person, "contrib-type")):
        return ""
    return f"{' '.join(_read_nodes([name]))}: {', '.join(roles)}"


def _read_funding(group: Any) -> list[str]:
    """Return the statements about funding, and the awards that the statements do not name."""
    statements = [block for node in iter_children(group, "funding-statement") for block in read_blocks(node)]
    awards = [_format_award(award, "\n".join(statements)) for award in iter_descendants(group, "award-group")]
    return [*statements, *filter(None, awards), *_read_nodes(iter_children(group, "open-access"))]


def _format_award(award: Any, statements: str) -> str:
    """Return the sources and numbers of an award; "" if the statements have all of them."""
    sources = [_read_source(node) for node in iter_descendants(award, "funding-source", "support-source")]
    numbers = [read_inline_text(node) for node in iter_descendants(award, "award-id")]
    if all(text in statements for text in (*sources, *numbers)):
        return ""
    return ": ".join(filter(None, (", ".join(filter(None, sources)), ", ".join(filter(None, numbers)))))


def _read_source(source: Any) -> str:
    names = [read_inline_text(node) for node in iter_descendants(source, "institution")]
    return ", ".join(filter(None, names)) or read_inline_text(source)
