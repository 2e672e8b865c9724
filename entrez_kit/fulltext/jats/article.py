"""Parse JATS, the XML of PMC, Europe PMC and many publishers, into front matter, sections and references.

Reads ``pmc-articleset`` replies with several articles, single articles, namespaces, and the older NLM DTDs. The parser
does not depend on the declared DTD; unknown elements keep their text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from entrez_kit.fulltext.fulltext_articles import ListedReference, PmcArticle, Section
from entrez_kit.fulltext.jats.body import (
    has_text,
    read_body_sections,
    read_front_sections,
    read_other_sections,
    reply_sections,
)
from entrez_kit.fulltext.jats.front import read_front
from entrez_kit.fulltext.jats.reference_list import read_reference_list
from entrez_kit.fulltext.jats.tree import get_attribute, get_local_name, iter_descendants, parse_jats_document

_FORBIDDEN: Final = re.compile(r"does not allow (the )?download", re.IGNORECASE)


@dataclass(frozen=True)
class JatsArticle:
    """One article; sections and references are parsed on first use.

    ``forbidden`` is whether PMC states that the publisher does not allow the download.
    """

    front: PmcArticle
    forbidden: bool
    _element: Any = field(repr=False)

    @cached_property
    def sections(self) -> list[Section]:
        """The whole text as a tree of sections: body, figures and tables, back and front matter, letters, replies."""
        own = [*read_body_sections(self._element), *read_other_sections(self._element)]
        return [*own, *read_front_sections(self._element, own), *reply_sections(self._element)]

    @cached_property
    def references(self) -> list[ListedReference]:
        """The reference list."""
        return read_reference_list(self._element)

    @cached_property
    def has_body(self) -> bool:
        """Whether the article has a text: headings, acknowledgements or lists of supplements do not count."""
        bearers = (self._element, *iter_descendants(self._element, "sub-article", "response"))
        return any(has_text(bearer) for bearer in bearers)


@dataclass(frozen=True, slots=True)
class JatsError:
    """PMC's message for an id without an article."""

    id: str
    message: str


def iter_jats(content: bytes) -> Iterator[JatsArticle | JatsError]:
    """Yield the articles of a document in order, and PMC's messages about ids without one.

    Raises:
        UpstreamError: the XML is malformed or too large.
    """
    from lxml import etree

    root = parse_jats_document(content)
    names = (
        [root]
        if get_local_name(root) == "article"
        else iter_descendants(root, "article", "error", outside=("article", "error"))
    )
    for element in names:
        if get_local_name(element) == "error":
            yield JatsError(get_attribute(element, "id"), " ".join("".join(element.itertext()).split()))
        else:
            nearby = [*element.iterchildren(etree.Comment), *element.itersiblings(etree.Comment, preceding=True)]
            forbidden = any(_FORBIDDEN.search(comment.text or "") for comment in nearby)
            yield JatsArticle(read_front(element), forbidden, element)
