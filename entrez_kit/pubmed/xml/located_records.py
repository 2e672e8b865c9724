"""A record in a document of PubMed XML: its element and its bytes; and what both parsers of documents share."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from lxml import etree

from entrez_kit.base.errors import UpstreamError
from entrez_kit.pubmed.xml import limits

SETS: Final = frozenset(("PubmedArticleSet", "PubmedBookArticleSet", "MedlineCitationSet", "BookDocumentSet"))
RECORDS: Final = frozenset(("PubmedArticle", "PubmedBookArticle", "MedlineCitation", "BookDocument"))
DELETIONS: Final = frozenset(("DeleteCitation", "DeleteDocument"))

PARSER_OPTIONS: Final[dict[str, Any]] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "remove_comments": True,
    "remove_pis": True,
}


def invalid_document_error(message: str, **details: Any) -> UpstreamError:
    """Return the error for bytes that are not valid PubMed XML."""
    return UpstreamError(message, details={"reason": "invalid_response", **details})


class LocatedRecord(NamedTuple):
    """A record in a document.

    ``element`` may lack the list of cited works, and lists whose fields are in ``known``. If ``alone`` is true, ``raw``
    is the complete record in UTF-8, which can be parsed without the rest of the document.
    """

    element: Any
    raw: bytes
    encoding: str = "utf-8"
    alone: bool = True
    known: dict[str, Any] | None = None


def parse_alone(raw: bytes) -> Any:
    """Parse the bytes of one record; raises ``etree.XMLSyntaxError``."""
    parser = etree.XMLParser(**PARSER_OPTIONS, huge_tree=len(raw) > limits.HUGE_BYTES)
    return etree.XML(raw, parser)


def take_bytes(pieces: Iterator[bytes], size: int) -> bytes:
    """Return at least ``size`` bytes, or all remaining bytes at the end of the source."""
    taken: list[bytes] = []
    while size > 0 and (piece := next(pieces, None)) is not None:
        taken.append(piece)
        size -= len(piece)
    return b"".join(taken)
