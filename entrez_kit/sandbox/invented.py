"""Invented full texts: the demo corpus contains only records, and this module derives a text from each record.

Every text says that it is invented.
"""

from typing import Final

from entrez_kit.local.records.document import Document
from entrez_kit.local.records.fixture_files import read_fixture
from entrez_kit.local.records.text import xml_text

_TEXT: Final = read_fixture("generated", "text.json")
NOTE: Final[str] = _TEXT["note"]
TABLE: Final[list[list[str]]] = _TEXT["table"]
LIST: Final[list[str]] = _TEXT["list"]


def invent_sections(document: Document) -> list[tuple[str, list[str]]]:
    """Return the titles and paragraphs of an invented text for a record."""
    about = document.title.rstrip(".") or "a record without a title"
    return [(name, [text.replace("{title}", about) for text in paragraphs]) for name, paragraphs in _TEXT["sections"]]


def render_jats(document: Document) -> str:
    """Return an invented article as the XML of PMC."""
    ids = "".join(
        f'<article-id pub-id-type="{kind}">{xml_text(value)}</article-id>'
        for kind, value in (("pmcid", document.pmcid), ("pmid", document.pmid), ("doi", document.doi))
        if value
    )
    abstract = "".join(f"<p>{xml_text(text)}</p>" for _, text in document.abstract)
    body = "".join(
        f"<sec><title>{xml_text(title)}</title>{''.join(f'<p>{xml_text(one)}</p>' for one in paragraphs)}</sec>"
        for title, paragraphs in invent_sections(document)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="research-article" xml:lang="en"><front>'
        f"<journal-meta><journal-title-group><journal-title>{xml_text(document.journal_title)}</journal-title>"
        f"</journal-title-group></journal-meta><article-meta>{ids}<title-group><article-title>"
        f"{xml_text(document.title)}</article-title></title-group>"
        '<permissions><license license-type="open-access" xlink:href="https://creativecommons.org/licenses/by/4.0/">'
        f"<license-p>{xml_text(NOTE)}</license-p></license></permissions>"
        + (f"<abstract>{abstract}</abstract>" if abstract else "")
        + f"</article-meta></front><body>{body}</body></article>\n"
    )
