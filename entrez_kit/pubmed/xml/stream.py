"""Split a stream of PubMed XML into records: the element of each record, and its unchanged bytes.

There is a fast and a slow way, with the same result. PubMed's own files are plain: one record follows another, a
search for the end tag finds the end of a record, and each record is parsed separately. All other documents (another
encoding, entity declarations, namespaces, comments or CDATA that could hide a tag, a parse error) are read by expat,
which finds the beginning and end of each record. Expat is slower and decides whether a document is well-formed.
"""

import codecs
import io
import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO, Final, NamedTuple
from xml.parsers import expat

from lxml import etree

from entrez_kit.base.errors import UpstreamError
from entrez_kit.base.mixed_content import BLANKLESS
from entrez_kit.pubmed.xml import mesh_headings as mesh
from entrez_kit.pubmed.xml.dates import HISTORY, look_up_history
from entrez_kit.pubmed.xml.plain_authors import AUTHORS, read_plain_authors

Source = BinaryIO | Iterable[bytes] | bytes | bytearray | memoryview

SETS: Final = frozenset(("PubmedArticleSet", "PubmedBookArticleSet", "MedlineCitationSet", "BookDocumentSet"))
RECORDS: Final = frozenset(("PubmedArticle", "PubmedBookArticle", "MedlineCitation", "BookDocument"))
DELETIONS: Final = frozenset(("DeleteCitation", "DeleteDocument"))

MAX_RECORD_BYTES: Final = 64 << 20
"""The largest record accepted. The largest known records have a few megabytes."""
MAX_BETWEEN_BYTES: Final = 8 << 20
"""The most bytes before a record: a line break, a comment or the document type."""
CHUNK: Final = 1 << 17
GROUP_BYTES: Final = 1 << 16
HUGE_BYTES: Final = 8 << 20
"""For larger documents, libxml2's limit of 10 MB per text must be disabled."""
MAX_TAG_BYTES: Final = 4096
MAX_MESSAGE: Final = 200
"""The most characters of a parser's message in ours, because libxml2 quotes all of the text around a defect."""

_PLAIN_HEAD: Final = re.compile(
    rb"(?:<\?xml\s[^>]*?\?>)?\s*+(?:<!DOCTYPE\s[^\[\]<>]*>\s*+)?<(?P<root>[A-Za-z]+)(?P<attributes>\s[^<>&/]*)?>"
)
_DECLARATION: Final = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_ENCODING: Final = re.compile(r"utf-(?:8|16|32)(?:-[bl]e|-sig)?|ascii|iso8859-[0-9]+|cp125[0-9]|koi8-[ru]")
"""Encodings in which text converts back to the same bytes: one byte per character, and Unicode's."""
_ROOT_TAG: Final = re.compile(rb"<(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")
_DOCTYPE: Final = b"<!DOCTYPE x SYSTEM 'x'>"
"""A document type for a separate record: an external DTD, which is not read, may declare its entities."""
_NEXT_TAG: Final = re.compile(rb"\s*<(/?)([A-Za-z]+)(\s[^<>]*)?>")
_OPENING: Final = f"<{BLANKLESS}>".encode()
_CLOSING: Final = f"</{BLANKLESS}>".encode()
_MESH: Final = b"<MeshHeadingList>"
_MESH_END: Final = b"</MeshHeadingList>"
_REFERENCES: Final = b"<ReferenceList>"
_REFERENCES_END: Final = b"</ReferenceList>"
_LESS_THAN: Final = ord("<")
_HARMLESS: Final = re.compile(rb"<(?:!--[^<]*?-->|!\[CDATA\[[^<]*?\]\]>|\?[^<]*?\?>)")
_END_TAGS: Final = {name.encode(): f"</{name}>".encode() for name in RECORDS | DELETIONS}

_OPTIONS: Final[dict[str, Any]] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "remove_comments": True,
    "remove_pis": True,
}


def invalid_response(message: str, **details: Any) -> UpstreamError:
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


def iter_elements(source: Source) -> Iterator[LocatedRecord]:
    """Split a document into its records, including lists of deletions.

    Raises:
        UpstreamError: the document is not PubMed XML, not well-formed or not complete. All complete records before the
            defect are yielded first.
    """
    pieces = _read_pieces(source)
    head = _take(pieces, CHUNK).lstrip(b" \t\r\n")
    while not head and (more := _take(pieces, CHUNK)):
        head = more.lstrip(b" \t\r\n")
    if len(head) < MAX_TAG_BYTES:
        head += _take(pieces, CHUNK)
    plain = _match_plain_head(head)
    if plain and plain["root"].decode() in SETS:
        yield from _parse_fast(pieces, head, plain)
    else:
        yield from _parse_slowly(pieces, head)


def parse_alone(raw: bytes) -> Any:
    """Parse the bytes of one record; raises ``etree.XMLSyntaxError``."""
    parser = etree.XMLParser(**_OPTIONS, huge_tree=len(raw) > HUGE_BYTES)
    return etree.XML(raw, parser)


def _read_pieces(source: Source) -> Iterator[bytes]:
    if isinstance(source, bytes | bytearray | memoryview):
        source = io.BytesIO(source)
    for piece in iter(partial(source.read, CHUNK), b"") if hasattr(source, "read") else source:
        if not isinstance(piece, bytes | bytearray | memoryview):
            raise TypeError(f"Expected bytes of PubMed XML, got {type(piece).__name__}")
        yield bytes(piece)


def _take(pieces: Iterator[bytes], size: int) -> bytes:
    """Return at least ``size`` bytes, or all remaining bytes at the end of the source."""
    taken: list[bytes] = []
    while size > 0 and (piece := next(pieces, None)) is not None:
        taken.append(piece)
        size -= len(piece)
    return b"".join(taken)


# The fast way


def _match_plain_head(head: bytes) -> "re.Match[bytes] | None":
    """Match the beginning of a plain document: UTF-8, no entity declarations, no namespaces."""
    if head.startswith(codecs.BOM_UTF8):
        return None
    declared = _DECLARATION.match(head)
    if declared and declared[1].lower() not in (b"utf-8", b"us-ascii", b"ascii"):
        return None
    plain = _PLAIN_HEAD.match(head)
    return None if plain and b"xmlns" in (plain["attributes"] or b"") else plain


def _parse_fast(pieces: Iterator[bytes], data: bytes, plain: "re.Match[bytes]") -> Iterator[LocatedRecord]:
    """Parse plain records in small groups; continue the slow way at the first record that is not plain."""
    records = _PlainParser()
    prologue, position = data[: plain.end()], plain.end()
    while True:
        spans, tag = _find_spans(data, position)
        if spans:
            group = records.parse(data, spans)
            if group is None:
                break
            yield from group
            position = spans[-1][2]
            continue
        waiting = len(data) - position
        if tag and (tag[1] or tag[2] not in _END_TAGS):
            break
        if waiting > (MAX_RECORD_BYTES if tag else MAX_TAG_BYTES):
            break
        more = _take(pieces, max(CHUNK, waiting))
        if not more:
            break
        data, position = data[position:] + more, 0
    yield from _parse_slowly(pieces, prologue + data[position:])


def _find_spans(data: bytes, position: int) -> "tuple[list[_Span], re.Match[bytes] | None]":
    """Find the next few complete records, and the tag after them; None if it is incomplete or not a plain tag."""
    spans: list[_Span] = []
    until = position + GROUP_BYTES
    while True:
        tag = _NEXT_TAG.match(data, position)
        if not tag or tag[1] or position > until:
            return spans, tag
        end_tag = _END_TAGS.get(tag[2])
        end = data.find(end_tag, tag.end()) if end_tag else -1
        if not end_tag or end < 0:
            return spans, tag
        position = end + len(end_tag)
        spans.append((tag[2], tag.start(1) - 1, position))


class _PlainParser:
    """A parser of groups of plain records, in which every "<" begins a tag."""

    def __init__(self) -> None:
        self._parser = etree.XMLParser(**_OPTIONS, remove_blank_text=True)
        self._checker = etree.XMLParser(target=_NullTarget(), **_OPTIONS)

    def parse(self, data: bytes, spans: "list[_Span]") -> list[LocatedRecord] | None:
        """Parse consecutive records; return None if one of them is not plain."""
        first, last = spans[0][1], spans[-1][2]
        if _hides_tags(data, first, last):
            return None
        try:
            if last - first <= HUGE_BYTES:
                elements, known = self._parse_without_lists(data, spans)
                if [element.tag.encode() for element in elements] == [name for name, _, _ in spans]:
                    return [
                        LocatedRecord(element, data[start:end], known=fields)
                        for element, fields, (_, start, end) in zip(elements, known, spans, strict=True)
                    ]
        except etree.XMLSyntaxError:
            pass  # for example a list within a list, or it is not XML
        try:
            return [LocatedRecord(parse_alone(raw), raw) for raw in (data[start:end] for _, start, end in spans)]
        except etree.XMLSyntaxError:
            return None

    def _parse_without_lists(self, data: bytes, spans: "list[_Span]") -> tuple[list[Any], list[dict[str, Any]]]:
        """Build the trees of records without four lists; raise ``etree.XMLSyntaxError`` if a record is not XML.

        Cited works are a third of all bytes and no part of an Article, so they are checked without building a tree.
        MeSH headings and the dates of the history repeat often, so they are looked up by their bytes. Authors have the
        most elements, and nearly all lists of them have one form.
        """
        pieces: list[bytes] = [_OPENING]
        cited: list[bytes] = [_OPENING]
        known: list[dict[str, Any]] = []
        for name, start, end in spans:
            fields: dict[str, Any] = {}
            known.append(fields)
            if name == b"PubmedArticle":
                authors = data.find(AUTHORS, start, end)
                if authors >= 0 and (people := read_plain_authors(data, authors, end)):
                    pieces.append(data[start:authors])
                    fields |= people[0]
                    start = people[1]
                if mesh_list := _find_list(data, _MESH, _MESH_END, start, end):
                    pieces.append(data[start : mesh_list[0]])
                    fields["mesh_terms"] = mesh.look_up(data[slice(*mesh_list)])
                    start = mesh_list[1]
                history = data.find(HISTORY, start, end)
                if history >= 0 and (steps := look_up_history(data, history, end)):
                    pieces.append(data[start:history])
                    fields["history"], start = steps
                if references := _find_list(data, _REFERENCES, _REFERENCES_END, start, end):
                    pieces.append(data[start : references[0]])
                    cited.append(data[slice(*references)])
                    start = references[1]
            pieces.append(data[start:end])
        pieces.append(_CLOSING)
        if len(cited) > 1:
            cited.append(_CLOSING)
            etree.XML(b"".join(cited), self._checker)
        return list(etree.XML(b"".join(pieces), self._parser)), known


def _find_list(data: bytes, opening: bytes, closing: bytes, start: int, end: int) -> tuple[int, int] | None:
    begin = data.find(opening, start, end)
    stop = data.find(closing, begin, end) if begin >= 0 else -1
    return (begin, stop + len(closing)) if stop >= 0 else None


def _hides_tags(data: bytes, first: int, last: int) -> bool:
    """Return whether a comment, CDATA or processing instruction contains a "<", which may not begin a tag.

    Processing instructions are normal: NLM marks author manuscripts with one.
    """
    for sign in (b"!", b"?"):
        place = data.find(sign, first, last)
        while place >= 0:
            if data[place - 1] == _LESS_THAN and not _HARMLESS.match(data, place - 1, last):
                return True
            place = data.find(sign, place + 1, last)
    return False


class _NullTarget:
    """A parser target that ignores all events, so that libxml2 checks a document without building a tree."""

    def close(self) -> None:
        """End the document."""


_Span = tuple[bytes, int, int]  # name, start, end


# The slow way


def _parse_slowly(pieces: Iterator[bytes], data: bytes) -> Iterator[LocatedRecord]:
    """Read any document. Each piece is at least as long as the unread text, so that the time is linear."""
    document = _ExpatReader(data)
    at = 0
    while data:
        piece = data[at : at + max(CHUNK, document.waiting)]
        yield from document.read(piece)
        at += len(piece)
        if at >= len(data):
            data, at = _take(pieces, max(CHUNK, document.waiting)), 0
    yield from document.read(b"", last=True)


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

    def read(self, piece: bytes, *, last: bool = False) -> Iterator[LocatedRecord]:
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
        if self._begin >= 0 and self._offset + self.waiting - self._begin > MAX_RECORD_BYTES:
            raise invalid_response(f"A PubMed record is larger than {MAX_RECORD_BYTES >> 20} MB.")
        if self._begin < 0 and self.waiting > MAX_BETWEEN_BYTES:
            raise invalid_response(f"{MAX_BETWEEN_BYTES >> 20} MB of XML contain no PubMed record.")

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
                raise invalid_response("NCBI's reply contains an error among the PubMed records.")
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
            raise invalid_response(f"NCBI answered with <{kind[:50]}> instead of PubMed records.", root=kind[:50])

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
        huge = len(raw) > HUGE_BYTES and not self._declares
        root = etree.XML(before + raw + behind, etree.XMLParser(**_OPTIONS, encoding="utf-8", huge_tree=huge))
        return _remove_namespace(root[-1] if self._level else root)

    def _build_error(self, defect: Exception) -> UpstreamError:
        if isinstance(defect, UpstreamError):
            return defect
        where = f" after {self._count} complete records" if self._count else ""
        reason = expat.ErrorString(defect.code) if isinstance(defect, expat.ExpatError) else str(defect)
        return invalid_response(f"The PubMed XML is not well-formed{where}: {reason[:MAX_MESSAGE]}")


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
        raise invalid_response("NCBI's reply is not XML." if data else "NCBI's reply is empty.")
    declared = _DECLARATION.match(data)
    label = declared[1].decode() if declared else "utf-8"
    try:
        name = codecs.lookup(label).name
    except LookupError:
        name = ""
    if not _ENCODING.fullmatch(name):
        raise invalid_response(f"The PubMed XML declares an unsupported encoding: {label[:50]!r}.")
    return "utf-8" if name.startswith("utf-") else name
