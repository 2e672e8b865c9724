"""Split any PubMed XML into records, the slow way: expat finds the beginning and end of each record.

Expat decides whether a document is well-formed. It reads other encodings, entity declarations, namespaces, comments and
CDATA that could hide a tag, and documents with a defect up to the defect.
"""

import codecs
import re
from collections.abc import Iterator
from typing import Any, Final
from xml.parsers import expat

from lxml import etree

from entrez_kit.base.errors import UpstreamError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.markup import XML_ENCODING
from entrez_kit.pubmed.xml import limits
from entrez_kit.pubmed.xml.located_records import (
    DELETIONS,
    PARSER_OPTIONS,
    RECORDS,
    SETS,
    LocatedRecord,
    invalid_document_error,
    take_bytes,
)

_ENCODING: Final = re.compile(r"utf-(?:8|16|32)(?:-[bl]e|-sig)?|ascii|iso8859-[0-9]+|cp125[0-9]|koi8-[ru]")
"""Encodings in which text converts back to the same bytes: one byte per character, and Unicode's."""
_ROOT_TAG: Final = re.compile(rb"<(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")
_DOCTYPE: Final = b"<!DOCTYPE x SYSTEM 'x'>"
"""A document type for a separate record: an external DTD, which is not read, may declare its entities."""


def parse_any_document(pieces: Iterator[bytes], data: bytes) -> Iterator[LocatedRecord]:
    """Read any document. Each piece is at least as long as the unread text, so that the time is linear."""
    document = _ExpatReader(data)
    at = 0
    while data:
        piece = data[at : at + max(limits.CHUNK, document.waiting)]
        yield from document.read_piece(piece)
        at += len(piece)
        if at >= len(data):
            data, at = take_bytes(pieces, max(limits.CHUNK, document.waiting)), 0
    yield from document.read_piece(b"", last=True)


class _ExpatReader:
    """A document that is read in pieces, as UTF-8: expat finds the records; each is parsed inside the root's tag."""

    def __init__(self, beginning: bytes) -> None:
        self._encoding = _detect_encoding(beginning)
        self._decoder = None if self._encoding == "utf-8" else codecs.getincrementaldecoder(self._encoding)()
        self._text = bytearray()  # the text after the last record
        self._offset = 0  # its place in the document
        self._declares = False  # whether the document type has an internal subset
        self._level = -1  # the depth of records: 1 in a set, 0 if the document is one record
        self._depth = 0
        self._begin = -1  # the place of the record that is being read
        self._complete: list[tuple[int, int]] = []
        self._count = 0
        self._around = (b"", b"")  # the text to add before and after a record for parsing
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartDoctypeDeclHandler = self._start_doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    @property
    def waiting(self) -> int:
        """The number of bytes after the last record."""
        return len(self._text)

    def read_piece(self, piece: bytes, *, last: bool = False) -> Iterator[LocatedRecord]:
        """Yield the records that a piece completes; if the piece has a defect after them, raise an error."""
        defect: Exception | None = None
        if self._decoder:
            try:
                piece = self._decoder.decode(piece, last).encode()
            except UnicodeDecodeError as exc:
                piece, defect = exc.object[: exc.start].decode(self._encoding).encode(), exc
        self._text += piece
        try:
            self._parser.Parse(piece, last)
        except (expat.ExpatError, UpstreamError) as exc:
            defect = exc
        complete, self._complete = self._complete, []
        for begin, end in complete:
            raw = bytes(self._text[begin - self._offset : end - self._offset])
            try:
                element = self._parse_element(raw)
            except etree.XMLSyntaxError as exc:
                raise self._build_error(exc) from exc
            self._count += 1
            yield LocatedRecord(element, raw.decode().encode(self._encoding), self._encoding, alone=False)
        if complete:
            del self._text[: end - self._offset]
            self._offset = end
        if defect:
            raise self._build_error(defect) from defect
        if self._begin >= 0 and self._offset + self.waiting - self._begin > limits.MAX_RECORD_BYTES:
            raise invalid_document_error(f"A PubMed record is larger than {limits.MAX_RECORD_BYTES >> 20} MB.")
        if self._begin < 0 and self.waiting > limits.MAX_BETWEEN_BYTES:
            raise invalid_document_error(f"{limits.MAX_BETWEEN_BYTES >> 20} MB of XML contain no PubMed record.")

    def _start_doctype(self, name: str, system: str | None, public: str | None, declares: int) -> None:
        if declares:
            self._declares = True
            self._parser.DefaultHandler = lambda _: None  # with this handler expat does not expand entities

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.rpartition(":")[2]
        if self._level < 0:
            self._begin_root(name, kind)
        if self._depth == self._level:
            if kind in RECORDS or kind in DELETIONS:
                self._begin = self._parser.CurrentByteIndex
            elif kind == "ERROR":
                raise invalid_document_error("NCBI's reply contains an error among the PubMed records.")
        self._depth += 1

    def _begin_root(self, name: str, kind: str) -> None:
        """Set the text that a separate record needs before and after it, so that it is parsed as in the document."""
        start = self._parser.CurrentByteIndex
        prologue = bytes(self._text[:start]) if self._declares else _DOCTYPE
        if kind in SETS:
            self._level = 1
            tag = _ROOT_TAG.match(self._text, start)
            self._around = (prologue + (tag[0] if tag else b""), f"</{name}>".encode())
        elif kind in RECORDS:
            self._level = 0
            self._around = (prologue, b"")
        else:
            raise invalid_document_error(f"NCBI answered with <{kind[:50]}> instead of PubMed records.", root=kind[:50])

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._depth == self._level and self._begin >= 0:
            end = self._parser.CurrentByteIndex  # the beginning of an end tag, or the end of a tag such as <a/>
            if self._text.startswith(f"</{name}".encode(), end - self._offset):
                end = self._offset + self._text.index(b">", end - self._offset) + 1
            self._complete.append((self._begin, end))
            self._begin = -1

    def _parse_element(self, raw: bytes) -> Any:
        """Parse a record. If the document declares entities, libxml2's limits stay on, which stop entity expansion."""
        before, behind = self._around
        huge = len(raw) > limits.HUGE_BYTES and not self._declares
        root = etree.XML(before + raw + behind, etree.XMLParser(**PARSER_OPTIONS, encoding="utf-8", huge_tree=huge))
        return _remove_namespace(root[-1] if self._level else root)

    def _build_error(self, defect: Exception) -> UpstreamError:
        if isinstance(defect, UpstreamError):
            return defect
        position = f" after {format_count(self._count, 'complete record')}" if self._count else ""
        reason = expat.ErrorString(defect.code) if isinstance(defect, expat.ExpatError) else str(defect)
        return invalid_document_error(f"The PubMed XML is not well-formed{position}: {reason[: limits.MAX_MESSAGE]}")


def _remove_namespace(record: Any) -> Any:
    """Remove the namespace of the whole document; the namespace of formulas stays."""
    if record.tag.startswith("{"):
        prefix = record.tag[: record.tag.index("}") + 1]
        for element in record.iter(f"{prefix}*"):
            element.tag = element.tag.removeprefix(prefix)
    return record


def _detect_encoding(data: bytes) -> str:
    """Return the encoding of a document, from its first bytes and its declaration."""
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8"),
        (b"\xff\xfe\x00\x00", "utf-32-le"),
        (b"\x00\x00\xfe\xff", "utf-32-be"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
        (b"<\x00", "utf-16-le"),
        (b"\x00<", "utf-16-be"),
    ):
        if data.startswith(mark):
            return name
    if not data.startswith(b"<"):
        raise invalid_document_error("NCBI's reply is not XML." if data else "NCBI's reply is empty.")
    declared = XML_ENCODING.match(data)
    label = declared[1].decode() if declared else "utf-8"
    try:
        name = codecs.lookup(label).name
    except LookupError:
        name = ""
    if not _ENCODING.fullmatch(name):
        raise invalid_document_error(f"The PubMed XML declares an unsupported encoding: {label[:50]!r}.")
    return "utf-8" if name.startswith("utf-") else name
