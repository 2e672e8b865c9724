"""PubMed records out of XML: a stream of them, each to be had as Article, citation data, JSON or NCBI's own bytes."""

import marshal
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal

from lxml import etree

from entrez_kit.base.mixed_content import SpaceLost, text_of
from entrez_kit.pubmed.models import Article, CitationData, CitationJournal
from entrez_kit.pubmed.xml.article import Fields, article_fields
from entrez_kit.pubmed.xml.book import book_fields, book_kind
from entrez_kit.pubmed.xml.element_json import element_to_json
from entrez_kit.pubmed.xml.stream import (
    DELETIONS,
    MAX_MESSAGE,
    Found,
    Source,
    invalid_response,
    iter_elements,
    parse_alone,
)
from entrez_kit.services.known_shapes import XmlShape, log_drift

RecordKind = Literal["article", "book", "chapter", "deleted"]

URL: Final = "https://pubmed.ncbi.nlm.nih.gov/"

_BOOKS: Final = frozenset(("PubmedBookArticle", "BookDocument"))
_HEAD: Final = re.compile(
    rb'<PubmedArticle>\s*<MedlineCitation(?: [A-Za-z]+="[^"<>]*")*>\s*<PMID(?: Version="([0-9]*)")?>([0-9]+)</PMID>'
)
"""How nearly every record begins; any other is asked through its element."""
_PMID_TAG: Final = re.compile(rb"<PMID[^<>]*>[^<>]*</PMID\s*>")


_MODELS: Final[tuple[str, ...]] = ("mesh_terms", "standing")
"""Fields of a record that are models already when it has been read."""

ARTICLES: Final = XmlShape(
    "PubMed XML",
    "pubmed_250101.dtd",
    also="DateCreated",
    due={
        "PubmedArticle": "PMID ArticleTitle Journal PublicationTypeList PubmedData",
        "PubmedBookArticle": "PMID Book",
    },
    forms={
        "PMID": re.compile(r"[0-9]{1,9}"),
        "Year": re.compile(r"[0-9]{4}"),
        "Month": re.compile(r"[0-9]{1,2}|[A-Z][a-z]{2}"),
        "Day": re.compile(r"[0-9]{1,2}"),
        "Hour": re.compile(r"[0-9]{1,2}"),
        "Minute": re.compile(r"[0-9]{1,2}"),
    },
)
"""The RefTypes that say how a work stands are listed in the DTD, so a new one shows."""


@dataclass(slots=True, eq=False, repr=False)
class Record:
    """One record of a PubMed document.

    Args:
        kind: article, book, chapter, or deleted (a PMID that NLM has withdrawn; nothing else is known of it).
        pmid: its PMID.
        version: the version of the record, as its PMID element says.
        raw: the record's own XML, byte for byte as it was sent.
        encoding: of ``raw``; NCBI sends UTF-8.
    """

    kind: RecordKind
    pmid: str
    version: str | None
    raw: bytes
    encoding: str = "utf-8"
    _element: Any = None
    _known: Fields | None = None
    _lasting: bool = False
    _packed: tuple[bytes, Fields] | None = None

    def __repr__(self) -> str:
        return f"Record({self.kind!r}, {self.pmid!r}, {len(self.raw)} bytes)"

    @property
    def element(self) -> Any:
        """The whole record as an lxml element, cited works included; to be read only.

        Raises:
            UpstreamError: no tree can be made of it, because among its cited works a name has a prefix that is not
                declared: of those nothing is read before.
        """
        if self._lasting:
            return self._element
        try:
            return parse_alone(self.raw)
        except etree.XMLSyntaxError as exc:
            raise invalid_response(
                f"The PubMed record {self.pmid} is not well-formed: {exc.msg[:MAX_MESSAGE]}"
            ) from None

    def article(self) -> Article:
        """Return the record in full, which is quickest before the next record is read, or of one that was packed.

        Raises:
            ValueError: the record is a deletion.
        """
        fields = self._fields()
        italics = fields.pop("_italics", ())
        article = Article.model_validate(fields)
        article._italics = tuple(italics)
        return article

    def citation(self) -> CitationData:
        """Return what is needed to cite the record.

        Raises:
            ValueError: the record is a deletion.
        """
        fields = self._fields()
        cited: Fields = {name: fields[name] for name in CitationData.model_fields if name in fields}
        journal: Fields = fields.get("journal_info") or {}
        place = {**journal, "year": (journal.get("publication_date") or {}).get("year")}
        cited["journal_info"] = place if any(map(place.get, CitationJournal.model_fields)) else None
        return CitationData.model_validate(cited)

    def as_json(self) -> dict[str, Any]:
        """Return the whole element as JSON, order and mixed content kept (see ``element_to_json``).

        Raises:
            UpstreamError: no tree can be made of it (see ``element``), or one that is too deep.
        """
        return element_to_json(self.element)

    def pack(self, *, raw: bool = True) -> None:
        """Read the record while its element is at hand, and keep what was read as bytes: a tenth of its room.

        Args:
            raw: whether the record's own bytes are kept as well; without them there is no element any more.
        """
        with suppress(ValueError):  # it is raised again where the article is asked for
            fields = self._fields()
            models = {name: fields.pop(name) for name in _MODELS if name in fields}
            self._packed = marshal.dumps(fields), models
            if not raw:
                self.raw, self._element = b"", None

    def _fields(self) -> Fields:
        if self._packed is not None:
            packed, models = self._packed
            return {**marshal.loads(packed), **models}
        if self.kind == "deleted":
            raise ValueError(f"PMID {self.pmid} is a deletion; there is no article")
        try:
            fields = _fields_of(self._element, self._known) if self._element is not None else _fields_of(self.element)
        except SpaceLost:
            fields = _fields_of(self.element)
        fields["pmid"], fields["version"], fields["url"] = self.pmid, self.version, f"{URL}{self.pmid}/"
        return fields


def _fields_of(element: Any, known: Fields | None = None) -> Fields:
    return book_fields(element) if element.tag in _BOOKS else article_fields(element, known)


def iter_records(source: Source) -> Iterator[Record]:
    """Read PubMed records one by one, in constant memory.

    Understands what EFetch and the yearly and daily files hold: PubmedArticleSet with articles, books, chapters and
    deletions, the older MedlineCitationSet, sets of books, and a single record as the whole document. Files are to be
    decompressed before.

    Args:
        source: a binary file, an iterable of chunks, or bytes.

    Raises:
        UpstreamError: the document is not PubMed XML, not well-formed or not complete (``reason`` invalid_response).
            Every record that was complete before the defect has been yielded by then.
    """
    for found in iter_elements(source):
        if found.element.tag in DELETIONS:
            yield from _deletions(found)
            continue
        record = _record(found)
        yield record
        if found.alone:  # the tree takes ten times the room of the bytes it can be made from again
            record._element = record._known = None


def read_records(content: bytes) -> Iterator[Record]:
    """Read the records of a reply, one by one; a new kind of element in it is told in the log.

    Raises:
        UpstreamError: as ``iter_records`` does.
    """
    log_drift(ARTICLES, content)
    yield from iter_records(content)


def _record(found: Found) -> Record:
    element = found.element
    head = _HEAD.match(found.raw) if found.alone else None
    if head:
        pmid, version = head[2].decode(), (head[1] or b"").decode() or None
    else:
        pmid, version = _own_pmid(element)
    kind: RecordKind = "article"
    if element.tag in _BOOKS:
        if found.alone:
            element = parse_alone(found.raw)  # rare, and needed in full to tell a chapter from a book
        document = element if element.tag == "BookDocument" else element.find("BookDocument")
        kind = book_kind(document)
    return Record(kind, pmid, version, found.raw, found.encoding, element, found.known, not found.alone)


def _own_pmid(element: Any) -> tuple[str, str | None]:
    """Find the record's PMID; not that of an article it comments on or cites."""
    for tag in element.iter("PMID"):
        if tag.getparent().tag in ("MedlineCitation", "BookDocument"):
            pmid = text_of(tag)
            if pmid:
                return pmid, tag.get("Version")
        break
    for path in ("PubmedData/ArticleIdList", "PubmedBookData/ArticleIdList", "BookDocument/ArticleIdList"):
        for own in element.iterfind(f"{path}/ArticleId"):
            if own.get("IdType") == "pubmed" and text_of(own):
                return text_of(own), None
    raise invalid_response("A PubMed record has no PMID.")


def _deletions(found: Found) -> Iterator[Record]:
    """Turn a list of deleted PMIDs into one record each."""
    tags = [element for element in found.element if element.tag == "PMID" and text_of(element)]
    pieces = _PMID_TAG.findall(found.raw)
    for index, element in enumerate(tags):
        raw = pieces[index] if len(pieces) == len(tags) else found.raw
        yield Record(
            "deleted",
            text_of(element),
            element.get("Version"),
            raw,
            found.encoding,
            element,
            _lasting=not found.alone or len(pieces) != len(tags),
        )
