"""Invented full texts: the demo corpus contains only records, and this module derives a text from each record.

Every text says that it is invented.
"""

from typing import Final

from entrez_kit.local.records.document import Document
from entrez_kit.local.records.fixture_files import read_fixture
from entrez_kit.local.records.text import escape_xml, wrap

_TEXT: Final = read_fixture("generated", "text.json")
NOTE: Final[str] = _TEXT["note"]
TABLE: Final[list[list[str]]] = _TEXT["table"]
LIST: Final[list[str]] = _TEXT["list"]


def invent_sections(document: Document) -> list[tuple[str, list[str]]]:
    """Return the titles and paragraphs of an invented text for a record."""
    about = document.title.rstrip(".") or "a record without a title"
    return [(name, [text.replace("{title}", about) for text in paragraphs]) for name, paragraphs in _TEXT["sections"]]


def render_sections(document: Document, section: str, title: str) -> str:
    """Return an invented text as XML with these elements for a section and its title."""
    return "".join(
        wrap(section, wrap(title, escape_xml(name)), *(wrap("p", escape_xml(paragraph)) for paragraph in paragraphs))
        for name, paragraphs in invent_sections(document)
    )
