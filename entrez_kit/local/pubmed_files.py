"""The records and deletions of a file, and the reader of PubMed XML."""

import codecs
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from entrez_kit.base.errors import InvalidInput

MAX_RECORD_BYTES: Final = 64 << 20
MAX_BETWEEN_BYTES: Final = 1 << 20


class Event(NamedTuple):
    """A record of a file, or a deletion if ``raw`` is empty. Version 0 of a deletion means all versions."""

    pmid: int
    version: int
    raw: bytes


def unusable(path: Path, problem: str, reason: str, *, hint: str = "", **details: object) -> InvalidInput:
    """Return the error for a file that cannot be imported."""
    return InvalidInput(
        f"{path} cannot be imported: {problem}.",
        invalid_input=str(path),
        recovery_hint=hint or "Give files of the PubMed baseline, XML from EFetch, jsonl or nbib files, or MeSH files.",
        details={"reason": reason, "file": str(path), **details},
    )


_XML_HEAD: Final = re.compile(
    rb"\s*+(?:<\?xml\s[^>]*?\?>)?\s*+(?>(?:<!--(?>(?:(?!-->).)*)-->\s*+)*)"
    rb"(?:<!DOCTYPE\s[^\[\]<>]*+>\s*+)?(?>(?:<!--(?>(?:(?!-->).)*)-->\s*+)*)"
    rb"(?:<(PubmedArticleSet|PubmedBookArticleSet)(?:\s[^<>]*+)?>|(?=<(?:PubmedArticle|PubmedBookArticle)[\s>]))",
    re.DOTALL,
)
_ENCODING: Final = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
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


def split_pubmed_xml(chunks: Iterable[bytes], path: Path) -> Iterator[Event]:
    """Split PubMed XML, a set of records or a single record, into records and deletions.

    Only the frame of the document is checked: whoever parses a record checks that it is well-formed.

    Raises:
        InvalidInput: the document is not PubMed XML, or is not complete.
    """
    pieces = iter(chunks)
    data, at, count = b"", 0, 0
    head = None
    while head is None:
        piece = next(pieces, b"")
        data += piece
        head = _XML_HEAD.match(data.removeprefix(codecs.BOM_UTF8))
        if head is None and (not piece or len(data) > MAX_BETWEEN_BYTES):
            raise unusable(path, "it is not a set of PubMed records", "not_pubmed_xml")
    data = data.removeprefix(codecs.BOM_UTF8)
    declared = _ENCODING.search(head[0])
    if declared and declared[1].lower() not in (b"utf-8", b"utf8", b"us-ascii", b"ascii"):
        raise unusable(path, f"its encoding is {declared[1].decode()}, and only UTF-8 can be read", "bad_encoding")
    root, at = head[1], head.end()

    def more(before: str) -> None:
        nonlocal data, at
        limit = MAX_RECORD_BYTES if before == "record" else MAX_BETWEEN_BYTES
        if len(data) - at > limit:
            raise unusable(path, f"record {count + 1} has more than {limit:,} bytes", "record_too_large")
        piece = next(pieces, b"")
        if not piece:
            raise unusable(path, f"it ends after {count:,} complete records", "truncated", records=count)
        data, at = data[at:] + piece, 0

    while True:
        tag = _NEXT.match(data, at)
        if tag is None:
            rest = data[at : at + 200].lstrip()
            if rest and not rest.startswith(b"<"):
                raise unusable(path, f"there is text between records after record {count:,}", "not_pubmed_xml")
            more("tag")
            continue
        if tag[1]:
            if tag[2] != root:
                raise unusable(path, f"an end tag is out of place after record {count:,}", "not_pubmed_xml")
            at = tag.end()
            break
        if tag[2] not in _RECORDS and tag[2] not in _DELETIONS:
            name = tag[2].decode()[:50]
            raise unusable(path, f"it has <{name}> after record {count:,}", "not_pubmed_xml", element=name)
        start = tag.start(2) - 1
        closing = b"</" + tag[2] + b">"
        if tag[3]:
            end = tag.end()
        else:
            found = data.find(closing, tag.end())
            if found < 0:
                at = start
                more("record")
                continue
            end = found + len(closing)
        raw, at = data[start:end], end
        if tag[2] in _DELETIONS:
            yield from _read_deletions(raw)
        else:
            count += 1
            yield _read_identity(raw, path, count)
        if root is None:
            break
    rest = data[at:]
    for piece in pieces:
        rest = rest[_skip_space(rest) :] + piece
        if len(rest) > MAX_BETWEEN_BYTES:
            break
    if _skip_space(rest) < len(rest):
        raise unusable(path, "there is text after the last record", "not_pubmed_xml")


def _skip_space(text: bytes) -> int:
    space = _SPACE.match(text)
    return space.end() if space else 0


def _read_deletions(raw: bytes) -> Iterator[Event]:
    for tag in _PMID.finditer(raw):
        version = _VERSION.search(tag[0])
        yield Event(int(tag[1]), int(version[1]) if version else 0, b"")


def _read_identity(raw: bytes, path: Path, count: int) -> Event:
    own = _OWN_PMID.match(raw)
    if own is None or not int(own["pmid"]):
        raise unusable(path, f"record {count:,} has no PMID", "bad_record", record=count)
    version = _VERSION.search(own["attributes"] or b"")
    return Event(int(own["pmid"]), max(1, int(version[1])) if version else 1, raw)
