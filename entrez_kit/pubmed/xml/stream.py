"""Split a stream of PubMed XML into records: the element of each record, and its unchanged bytes.

There is a fast way (`plain_documents.py`) and a slow one (`expat_documents.py`), with the same result. PubMed's own
files are plain. All other documents are read the slow way: another encoding, entity declarations, namespaces, comments
or CDATA that could hide a tag, a parse error.
"""

import io
from collections.abc import Iterable, Iterator
from functools import partial
from typing import BinaryIO

from entrez_kit.pubmed.xml import limits
from entrez_kit.pubmed.xml.expat_documents import parse_any_document
from entrez_kit.pubmed.xml.located_records import SETS, LocatedRecord, take_bytes
from entrez_kit.pubmed.xml.plain_documents import match_plain_head, parse_plain_document

Source = BinaryIO | Iterable[bytes] | bytes | bytearray | memoryview


def iter_elements(source: Source) -> Iterator[LocatedRecord]:
    """Split a document into its records, including lists of deletions.

    Raises:
        UpstreamError: the document is not PubMed XML, not well-formed or not complete. All complete records before the
            defect are yielded first.
    """
    pieces = _read_pieces(source)
    head = take_bytes(pieces, limits.CHUNK).lstrip(b" \t\r\n")
    while not head and (more := take_bytes(pieces, limits.CHUNK)):
        head = more.lstrip(b" \t\r\n")
    if len(head) < limits.MAX_TAG_BYTES:
        head += take_bytes(pieces, limits.CHUNK)
    plain = match_plain_head(head)
    if plain and plain["root"].decode() in SETS:
        yield from parse_plain_document(pieces, head, plain)
    else:
        yield from parse_any_document(pieces, head)


def _read_pieces(source: Source) -> Iterator[bytes]:
    if isinstance(source, bytes | bytearray | memoryview):
        source = io.BytesIO(source)
    for piece in iter(partial(source.read, limits.CHUNK), b"") if hasattr(source, "read") else source:
        if not isinstance(piece, bytes | bytearray | memoryview):
            raise TypeError(f"Expected bytes of PubMed XML, got {type(piece).__name__}")
        yield bytes(piece)
