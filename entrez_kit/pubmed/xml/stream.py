"""PubMed XML cut into records as it arrives: each record's element, and its bytes exactly as they were sent.

Two ways lead there, with the same result. PubMed's own files are plain: records stand one after the other, so a
record ends where its end tag is found, and each is parsed by itself. Whatever is not plain (another encoding, entity
declarations, namespaces, comments or CDATA that could hide a tag, a parse error) goes through expat, which tells where
records begin and end; that is slower, and the judge of what is well-formed.
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

Source = BinaryIO | Iterable[bytes] | bytes | bytearray | memoryview

SETS: Final = frozenset(("PubmedArticleSet", "PubmedBookArticleSet", "MedlineCitationSet", "BookDocumentSet"))
RECORDS: Final = frozenset(("PubmedArticle", "PubmedBookArticle", "MedlineCitation", "BookDocument"))
DELETIONS: Final = frozenset(("DeleteCitation", "DeleteDocument"))

MAX_RECORD_BYTES: Final = 64 << 20
"""A record larger than this is no record; the largest known ones have a few megabytes."""
MAX_BETWEEN_BYTES: Final = 8 << 20
"""Between two records stands a line break, or a comment; before the first one a document type."""
CHUNK: Final = 1 << 17
GROUP_BYTES: Final = 1 << 16
HUGE_BYTES: Final = 8 << 20
"""From here on libxml2's own limit (10 MB for one text) has to be lifted."""
MAX_TAG_BYTES: Final = 4096
MAX_MESSAGE: Final = 200
"""Characters of a parser's message that are passed on: libxml2 quotes the text around a defect, all of it."""

_PLAIN_HEAD: Final = re.compile(
    rb"(?:<\?xml\s[^>]*?\?>)?\s*+(?:<!DOCTYPE\s[^\[\]<>]*>\s*+)?<(?P<root>[A-Za-z]+)(?P<attributes>\s[^<>&/]*)?>"
)
_DECLARATION: Final = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_ENCODING: Final = re.compile(r"utf-(?:8|16|32)(?:-[bl]e|-sig)?|ascii|iso8859-[0-9]+|cp125[0-9]|koi8-[ru]")
"""Those of one byte a character, and Unicode's own: their text becomes the bytes again that it came from."""
_ROOT_TAG: Final = re.compile(rb"<(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")
_DOCTYPE: Final = b"<!DOCTYPE x SYSTEM 'x'>"
"""Before a record: expat has judged the names of its entities, which a DTD that is not read may declare."""
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
    """Return the error for bytes that are not what PubMed sends."""
    return UpstreamError(message, details={"reason": "invalid_response", **details})


class Found(NamedTuple):
    """A record in a document.

    ``element`` may lack the list of cited works, and lists whose fields are then in ``known``. ``alone`` tells whether
    ``raw`` can be parsed again by itself, with all of them: it is UTF-8 and leans on nothing before it.
    """

    element: Any
    raw: bytes
    encoding: str = "utf-8"
    alone: bool = True
    known: dict[str, Any] | None = None


def iter_elements(source: Source) -> Iterator[Found]:
    """Cut a document into its records, deletion lists included.

    Raises:
        UpstreamError: the document is not PubMed XML, not well-formed or not complete. What was complete before the
            defect has been yielded by then.
    """
    pieces = _pieces(source)
    head = _take(pieces, CHUNK).lstrip(b" \t\r\n")
    while not head and (more := _take(pieces, CHUNK)):
        head = more.lstrip(b" \t\r\n")
    if len(head) < MAX_TAG_BYTES:
        head += _take(pieces, CHUNK)
    plain = _plain_head(head)
    if plain and plain["root"].decode() in SETS:
        yield from _quick(pieces, head, plain)
    else:
        yield from _careful(pieces, head)


def parse_alone(raw: bytes) -> Any:
    """Parse the bytes of one record; raises ``etree.XMLSyntaxError``."""
    parser = etree.XMLParser(**_OPTIONS, huge_tree=len(raw) > HUGE_BYTES)
    return etree.XML(raw, parser)


def _pieces(source: Source) -> Iterator[bytes]:
    if isinstance(source, bytes | bytearray | memoryview):
        source = io.BytesIO(source)
    for piece in iter(partial(source.read, CHUNK), b"") if hasattr(source, "read") else source:
        if not isinstance(piece, bytes | bytearray | memoryview):
            raise TypeError(f"PubMed records are read from bytes, not from {type(piece).__name__}")
        yield bytes(piece)


def _take(pieces: Iterator[bytes], size: int) -> bytes:
    """Return at least so many bytes, fewer only at the end of the source, none after it."""
    taken: list[bytes] = []
    while size > 0 and (piece := next(pieces, None)) is not None:
        taken.append(piece)
        size -= len(piece)
    return b"".join(taken)


# the quick way


def _plain_head(head: bytes) -> "re.Match[bytes] | None":
    """Match the beginning of a document that hides nothing: UTF-8, no entity declarations, no namespaces."""
    if head.startswith(codecs.BOM_UTF8):
        return None
    declared = _DECLARATION.match(head)
    if declared and declared[1].lower() not in (b"utf-8", b"us-ascii", b"ascii"):
        return None
    plain = _PLAIN_HEAD.match(head)
    return None if plain and b"xmlns" in (plain["attributes"] or b"") else plain


def _quick(pieces: Iterator[bytes], data: bytes, plain: "re.Match[bytes]") -> Iterator[Found]:
    """Cut plain records out of the bytes and parse a few at a time; leave the rest to the careful way."""
    records = _Plain()
    prologue, position = data[: plain.end()], plain.end()
    while True:
        spans, tag = _spans(data, position)
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
    yield from _careful(pieces, prologue + data[position:])


def _spans(data: bytes, position: int) -> "tuple[list[_Span], re.Match[bytes] | None]":
    """Find the next few complete records, and the tag after them; None where it is not complete or no plain tag."""
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


class _Plain:
    """Parses groups of plain records: those in which every "<" is what it seems to be."""

    def __init__(self) -> None:
        self._parser = etree.XMLParser(**_OPTIONS, remove_blank_text=True)
        self._checker = etree.XMLParser(target=_Nothing(), **_OPTIONS)

    def parse(self, data: bytes, spans: "list[_Span]") -> list[Found] | None:
        """Parse records that stand one after the other; None where they are not as plain as they seemed."""
        first, last = spans[0][1], spans[-1][2]
        if _hides_tags(data, first, last):
            return None
        try:
            if last - first <= HUGE_BYTES:
                elements, known = self._without_lists(data, spans)
                if [element.tag.encode() for element in elements] == [name for name, _, _ in spans]:
                    return [
                        Found(element, data[start:end], known=fields)
                        for element, fields, (_, start, end) in zip(elements, known, spans, strict=True)
                    ]
        except etree.XMLSyntaxError:
            pass  # a list within a list, for example; or it is no XML
        try:
            return [Found(parse_alone(raw), raw) for raw in (data[start:end] for _, start, end in spans)]
        except etree.XMLSyntaxError:
            return None

    def _without_lists(self, data: bytes, spans: "list[_Span]") -> tuple[list[Any], list[dict[str, Any]]]:
        """Build the trees of records but for three lists; raises ``etree.XMLSyntaxError`` where something is not XML.

        Cited works are a third of all bytes and nothing of an article: they are checked, and no tree is built of them.
        MeSH headings repeat so much that they are looked up by their bytes, and so are the dates of the history.
        """
        kept: list[bytes] = [_OPENING]
        cited: list[bytes] = [_OPENING]
        known: list[dict[str, Any]] = []
        for name, start, end in spans:
            fields: dict[str, Any] = {}
            known.append(fields)
            if name == b"PubmedArticle":
                if mesh_list := _find_list(data, _MESH, _MESH_END, start, end):
                    kept.append(data[start : mesh_list[0]])
                    fields["mesh_terms"] = mesh.look_up(data[slice(*mesh_list)])
                    start = mesh_list[1]
                history = data.find(HISTORY, start, end)
                if history >= 0 and (steps := look_up_history(data, history, end)):
                    kept.append(data[start:history])
                    fields["history"], start = steps
                if references := _find_list(data, _REFERENCES, _REFERENCES_END, start, end):
                    kept.append(data[start : references[0]])
                    cited.append(data[slice(*references)])
                    start = references[1]
            kept.append(data[start:end])
        kept.append(_CLOSING)
        if len(cited) > 1:
            cited.append(_CLOSING)
            etree.XML(b"".join(cited), self._checker)
        return list(etree.XML(b"".join(kept), self._parser)), known


def _find_list(data: bytes, opening: bytes, closing: bytes, start: int, end: int) -> tuple[int, int] | None:
    begin = data.find(opening, start, end)
    stop = data.find(closing, begin, end) if begin >= 0 else -1
    return (begin, stop + len(closing)) if stop >= 0 else None


def _hides_tags(data: bytes, first: int, last: int) -> bool:
    """Tell whether a comment, CDATA or processing instruction holds a "<"; otherwise every other "<" begins a tag.

    Processing instructions do come: NLM marks author manuscripts with one.
    """
    for sign in (b"!", b"?"):
        place = data.find(sign, first, last)
        while place >= 0:
            if data[place - 1] == _LESS_THAN and not _HARMLESS.match(data, place - 1, last):
                return True
            place = data.find(sign, place + 1, last)
    return False


class _Nothing:
    """A parser target that takes nothing, so that libxml2 checks a document and builds no tree."""

    def close(self) -> None:
        """End the document."""


_Span = tuple[bytes, int, int]  # name, start, end


# the careful way


def _careful(pieces: Iterator[bytes], data: bytes) -> Iterator[Found]:
    """Read a document of any form; a piece is at least as long as what waits, so that the work stays linear."""
    document = _Document(data)
    at = 0
    while data:
        piece = data[at : at + max(CHUNK, document.waiting)]
        yield from document.read(piece)
        at += len(piece)
        if at >= len(data):
            data, at = _take(pieces, max(CHUNK, document.waiting)), 0
    yield from document.read(b"", last=True)


class _Document:
    """A document read piece by piece, as UTF-8: expat finds the records, and each is parsed below the root's tag."""

    def __init__(self, beginning: bytes) -> None:
        self._encoding = _encoding(beginning)
        self._decoder = None if self._encoding == "utf-8" else codecs.getincrementaldecoder(self._encoding)()
        self._text = bytearray()  # what came since the last record, or is not read yet
        self._offset = 0  # where in the document it begins
        self._declares = False  # whether the document type has declarations of its own
        self._level = -1  # the depth at which records stand: 1 in a set, 0 where the document is one record
        self._depth = 0
        self._begin = -1  # of the record that is being read
        self._complete: list[tuple[int, int]] = []
        self._count = 0
        self._around = (b"", b"")  # what a record is parsed with
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartDoctypeDeclHandler = self._start_doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    @property
    def waiting(self) -> int:
        """How much of the document came since the last record."""
        return len(self._text)

    def read(self, piece: bytes, *, last: bool = False) -> Iterator[Found]:
        """Yield the records that a piece completes, even where it holds a defect after them; then raise for that."""
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
                element = self._element(raw)
            except etree.XMLSyntaxError as exc:
                raise self._error(exc) from exc
            self._count += 1
            yield Found(element, raw.decode().encode(self._encoding), self._encoding, alone=False)
        if complete:
            del self._text[: end - self._offset]
            self._offset = end
        if defect:
            raise self._error(defect) from defect
        if self._begin >= 0 and self._offset + self.waiting - self._begin > MAX_RECORD_BYTES:
            raise invalid_response(f"A PubMed record is larger than {MAX_RECORD_BYTES >> 20} MB.")
        if self._begin < 0 and self.waiting > MAX_BETWEEN_BYTES:
            raise invalid_response(f"There is no PubMed record in {MAX_BETWEEN_BYTES >> 20} MB of XML.")

    def _start_doctype(self, name: str, system: str | None, public: str | None, declares: int) -> None:
        if declares:
            self._declares = True
            self._parser.DefaultHandler = lambda _: None  # expat expands no entities while there is one

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.rpartition(":")[2]
        if self._level < 0:
            self._begin_root(name, kind)
        if self._depth == self._level:
            if kind in RECORDS or kind in DELETIONS:
                self._begin = self._parser.CurrentByteIndex
            elif kind == "ERROR":
                raise invalid_response("NCBI answered with an error between the records of PubMed.")
        self._depth += 1

    def _begin_root(self, name: str, kind: str) -> None:
        """Note what has to stand around a record so that it means what it means in the document."""
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
            end = self._parser.CurrentByteIndex  # where an end tag begins, or where a tag like <a/> ends
            if self._text.startswith(f"</{name}".encode(), end - self._offset):
                end = self._offset + self._text.index(b">", end - self._offset) + 1
            self._complete.append((self._begin, end))
            self._begin = -1

    def _element(self, raw: bytes) -> Any:
        """Parse a record; what declares entities keeps libxml2's limits, which stop those that explode."""
        before, behind = self._around
        huge = len(raw) > HUGE_BYTES and not self._declares
        root = etree.XML(before + raw + behind, etree.XMLParser(**_OPTIONS, encoding="utf-8", huge_tree=huge))
        return _without_namespace(root[-1] if self._level else root)

    def _error(self, defect: Exception) -> UpstreamError:
        if isinstance(defect, UpstreamError):
            return defect
        where = f" after {self._count} complete records" if self._count else ""
        reason = expat.ErrorString(defect.code) if isinstance(defect, expat.ExpatError) else str(defect)
        return invalid_response(f"The PubMed XML is not well-formed{where}: {reason[:MAX_MESSAGE]}")


def _without_namespace(record: Any) -> Any:
    """Take away the namespace that a whole document was put into; that of formulas stays."""
    if record.tag.startswith("{"):
        prefix = record.tag[: record.tag.index("}") + 1]
        for element in record.iter(f"{prefix}*"):
            element.tag = element.tag.removeprefix(prefix)
    return record


def _encoding(data: bytes) -> str:
    """Tell how a document is encoded, from its first bytes and its declaration."""
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
        raise invalid_response(
            "NCBI answered with something that is not XML." if data else "NCBI answered with an empty document."
        )
    declared = _DECLARATION.match(data)
    label = declared[1].decode() if declared else "utf-8"
    try:
        name = codecs.lookup(label).name
    except LookupError:
        name = ""
    if not _ENCODING.fullmatch(name):
        raise invalid_response(f"The PubMed XML declares an encoding that is not read: {label[:50]!r}.")
    return "utf-8" if name.startswith("utf-") else name
