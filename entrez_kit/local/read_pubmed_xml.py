"""Divide PubMed XML into its records and deletions, without parsing the records."""

import codecs
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.markup import XML_ENCODING
from entrez_kit.local.file_events import MAX_RECORD_BYTES, FileEvent, unusable_file_error

MAX_BETWEEN_BYTES: Final = 1 << 20

_XML_HEAD: Final = re.compile(
    rb"\s*+(?:<\?xml\s[^>]*?\?>)?\s*+(?>(?:<!--(?>(?:(?!-->).)*)-->\s*+)*)"
    rb"(?:<!DOCTYPE\s[^\[\]<>]*+>\s*+)?(?>(?:<!--(?>(?:(?!-->).)*)-->\s*+)*)"
    rb"(?:<(PubmedArticleSet|PubmedBookArticleSet)(?:\s[^<>]*+)?>|(?=<(?:PubmedArticle|PubmedBookArticle)[\s>]))",
    re.DOTALL,
)
_NEXT: Final = re.compile(rb"(?>(?:\s++|<!--(?>(?:(?!-->).)*)-->)*)<(/?)([A-Za-z]+)(?:\s[^<>]*+)?(/?)>", re.DOTALL)
_SPACE: Final = re.compile(rb"(?>(?:\s++|<!--(?>(?:(?!-->).)*)-->)*)", re.DOTALL)
_PMID: Final = re.compile(rb"<PMID(?:\s[^<>]*?)?>\s*+([0-9]{1,10})\s*+</PMID\s*+>")
_OWN_PMID: Final = re.compile(
    rb"<(?:PubmedArticle|PubmedBookArticle)(?:\s[^<>]*+)?>\s*+<(?:MedlineCitation|BookDocument)(?:\s[^<>]*+)?>\s*+"
    rb"<PMID(?P<attributes>\s[^<>]*+)?>\s*+(?P<pmid>[0-9]{1,10})\s*+</PMID\s*+>"
)
_VERSION: Final = re.compile(rb"\bVersion\s*=\s*[\"']([0-9]{1,6})[\"']")
_RECORDS: Final = frozenset((b"PubmedArticle", b"PubmedBookArticle"))
_DELETIONS: Final = frozenset((b"DeleteCitation", b"DeleteDocument"))


def read_pubmed_xml(chunks: Iterable[bytes], path: Path) -> Iterator[FileEvent]:
    """Yield the records and deletions of PubMed XML: a set of records, or a single record.

    Only the frame of the document is checked. The parser of a record checks that the record is well-formed.

    Raises:
        InvalidInput: the document is not PubMed XML, or is not complete.
    """
    document = _Document(chunks, path)
    root = document.read_head()
    while True:
        tag = document.find_tag()
        if tag[1]:
            document.check_end(tag, root)
            break
        element = document.read_element(tag)
        if tag[2] in _DELETIONS:
            yield from _read_deletions(element)
        else:
            document.count += 1
            yield _read_identity(element, path, document.count)
        if root is None:  # a single record
            break
    document.check_rest()


class _Document:
    """The part of a document that is in memory, and the position up to which it was read.

    Attributes:
        count: the number of records read.
    """

    def __init__(self, chunks: Iterable[bytes], path: Path) -> None:
        self._chunks = iter(chunks)
        self._path = path
        self._data = b""
        self._at = 0
        self.count = 0

    def read_head(self) -> bytes | None:
        """Read the beginning of the document; return the name of the root, None for a single record."""
        head = None
        while head is None:
            chunk = next(self._chunks, b"")
            self._data += chunk
            head = _XML_HEAD.match(self._data.removeprefix(codecs.BOM_UTF8))
            if head is None and (not chunk or len(self._data) > MAX_BETWEEN_BYTES):
                raise unusable_file_error(self._path, "it is not a set of PubMed records", "not_pubmed_xml")
        self._data = self._data.removeprefix(codecs.BOM_UTF8)
        self._at = head.end()
        declared = XML_ENCODING.search(head[0])
        if declared and declared[1].lower() not in (b"utf-8", b"utf8", b"us-ascii", b"ascii"):
            problem = f"its encoding is {declared[1].decode()}, and only UTF-8 can be read"
            raise unusable_file_error(self._path, problem, "bad_encoding")
        return head[1]

    def find_tag(self) -> "re.Match[bytes]":
        """Return the next tag outside of records."""
        while (tag := _NEXT.match(self._data, self._at)) is None:
            rest = self._data[self._at : self._at + 200].lstrip()
            if rest and not rest.startswith(b"<"):
                problem = f"there is text between records after record {self.count:,}"
                raise unusable_file_error(self._path, problem, "not_pubmed_xml")
            self._read_more(MAX_BETWEEN_BYTES)
        return tag

    def read_element(self, tag: "re.Match[bytes]") -> bytes:
        """Return the record, or the list of deletions, that begins with a tag."""
        if tag[2] not in _RECORDS and tag[2] not in _DELETIONS:
            name = tag[2].decode()[:50]
            problem = f"it has <{name}> after record {self.count:,}"
            raise unusable_file_error(self._path, problem, "not_pubmed_xml", element=name)
        self._at = tag.start(2) - 1
        if tag[3]:
            end = tag.end()
        else:
            closing = b"</" + tag[2] + b">"
            while (found := self._data.find(closing, self._at)) < 0:
                self._read_more(MAX_RECORD_BYTES)
            end = found + len(closing)
        element, self._at = self._data[self._at : end], end
        return element

    def check_end(self, tag: "re.Match[bytes]", root: bytes | None) -> None:
        """Check that an end tag closes the root."""
        if tag[2] != root:
            problem = f"an end tag is out of place after record {self.count:,}"
            raise unusable_file_error(self._path, problem, "not_pubmed_xml")
        self._at = tag.end()

    def check_rest(self) -> None:
        """Read the document to its end, and check that no text follows the last record."""
        rest = self._data[self._at :]
        for chunk in self._chunks:
            rest = rest[_skip_space(rest) :] + chunk
            if len(rest) > MAX_BETWEEN_BYTES:
                break
        if _skip_space(rest) < len(rest):
            raise unusable_file_error(self._path, "there is text after the last record", "not_pubmed_xml")

    def _read_more(self, limit: int) -> None:
        """Read the next chunk, unless more than this number of bytes are not read yet."""
        if len(self._data) - self._at > limit:
            problem = f"record {self.count + 1} has more than {format_count(limit, 'byte')}"
            raise unusable_file_error(self._path, problem, "record_too_large")
        chunk = next(self._chunks, b"")
        if not chunk:
            problem = f"it ends after {format_count(self.count, 'complete record')}"
            raise unusable_file_error(self._path, problem, "truncated", records=self.count)
        self._data, self._at = self._data[self._at :] + chunk, 0


def _skip_space(text: bytes) -> int:
    space = _SPACE.match(text)
    return space.end() if space else 0


def _read_deletions(raw: bytes) -> Iterator[FileEvent]:
    for tag in _PMID.finditer(raw):
        version = _VERSION.search(tag[0])
        yield FileEvent(int(tag[1]), int(version[1]) if version else 0, b"")


def _read_identity(raw: bytes, path: Path, count: int) -> FileEvent:
    match = _OWN_PMID.match(raw)
    if match is None or not int(match["pmid"]):
        raise unusable_file_error(path, f"record {count:,} has no PMID", "bad_record", record=count)
    version = _VERSION.search(match["attributes"] or b"")
    return FileEvent(int(match["pmid"]), max(1, int(version[1])) if version else 1, raw)
