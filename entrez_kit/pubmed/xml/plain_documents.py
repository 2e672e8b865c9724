"""Split plain PubMed XML into records, the fast way: the records of PubMed's own files.

One record follows another, a search for the end tag finds the end of a record, and each group of records is parsed
separately. At the first record that is not plain, the rest of the document is read by `expat_documents.py`.
"""

import codecs
import re
from collections.abc import Iterator
from typing import Any, Final

from lxml import etree

from entrez_kit.base.markup import XML_ENCODING
from entrez_kit.base.mixed_content import BLANKLESS
from entrez_kit.pubmed.xml import limits
from entrez_kit.pubmed.xml import mesh_headings as mesh
from entrez_kit.pubmed.xml.dates import HISTORY, look_up_history
from entrez_kit.pubmed.xml.expat_documents import parse_any_document
from entrez_kit.pubmed.xml.located_records import (
    DELETIONS,
    PARSER_OPTIONS,
    RECORDS,
    LocatedRecord,
    parse_alone,
    take_bytes,
)
from entrez_kit.pubmed.xml.plain_authors import AUTHORS, read_plain_authors

Span = tuple[bytes, int, int]
"""The name of a record's element, and the places of its first byte and after its last byte."""

GROUP_BYTES: Final = 1 << 16

_PLAIN_HEAD: Final = re.compile(
    rb"(?:<\?xml\s[^>]*?\?>)?\s*+(?:<!DOCTYPE\s[^\[\]<>]*>\s*+)?<(?P<root>[A-Za-z]+)(?P<attributes>\s[^<>&/]*)?>"
)
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


def match_plain_head(head: bytes) -> re.Match[bytes] | None:
    """Match the beginning of a plain document: UTF-8, no entity declarations, no namespaces."""
    if head.startswith(codecs.BOM_UTF8):
        return None
    declared = XML_ENCODING.match(head)
    if declared and declared[1].lower() not in (b"utf-8", b"us-ascii", b"ascii"):
        return None
    plain = _PLAIN_HEAD.match(head)
    return None if plain and b"xmlns" in (plain["attributes"] or b"") else plain


def parse_plain_document(pieces: Iterator[bytes], data: bytes, plain: re.Match[bytes]) -> Iterator[LocatedRecord]:
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
        if waiting > (limits.MAX_RECORD_BYTES if tag else limits.MAX_TAG_BYTES):
            break
        more = take_bytes(pieces, max(limits.CHUNK, waiting))
        if not more:
            break
        data, position = data[position:] + more, 0
    yield from parse_any_document(pieces, prologue + data[position:])


def _find_spans(data: bytes, position: int) -> tuple[list[Span], re.Match[bytes] | None]:
    """Find the next few complete records, and the tag after them; None if it is incomplete or not a plain tag."""
    spans: list[Span] = []
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
        self._parser = etree.XMLParser(**PARSER_OPTIONS, remove_blank_text=True)
        self._checker = etree.XMLParser(target=_NullTarget(), **PARSER_OPTIONS)

    def parse(self, data: bytes, spans: list[Span]) -> list[LocatedRecord] | None:
        """Parse consecutive records; return None if one of them is not plain."""
        first, last = spans[0][1], spans[-1][2]
        if _hides_tags(data, first, last):
            return None
        try:
            if last - first <= limits.HUGE_BYTES:
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

    def _parse_without_lists(self, data: bytes, spans: list[Span]) -> tuple[list[Any], list[dict[str, Any]]]:
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
                    fields["mesh_terms"] = mesh.read_cached_headings(data[slice(*mesh_list)])
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
