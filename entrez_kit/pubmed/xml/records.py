"""Parse PubMed XML as a stream of records; each record converts to Article, citation data, JSON or NCBI's bytes.

This is the reader of everything that users get. ``Bio.Entrez.read`` is not used: it holds a whole reply in memory and
loads DTDs, and its trees do not keep NCBI's bytes. A second reader, `local/records/document.py`, reads the
records of the demo and of local copies for their index, summaries and MEDLINE text. The two share no code for records,
on purpose: the demo answers from the second reader and this one parses the answer, so a mistake in one of them shows.
"""

import marshal
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal

from lxml import etree

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.identifiers import PUBMED
from entrez_kit.base.mixed_content import SpaceLost, read_text
from entrez_kit.pubmed.models import Article, CitationData, CitationJournal
from entrez_kit.pubmed.xml.article import read_article_fields
from entrez_kit.pubmed.xml.book import determine_book_kind, read_book_fields
from entrez_kit.pubmed.xml.common_parts import Fields
from entrez_kit.pubmed.xml.element_json import convert_element_to_json
from entrez_kit.pubmed.xml.limits import MAX_MESSAGE
from entrez_kit.pubmed.xml.located_records import DELETIONS, LocatedRecord, invalid_document_error, parse_alone
from entrez_kit.pubmed.xml.stream import Source, iter_elements
from entrez_kit.services.known_shapes import XmlShape, log_drift

RecordKind = Literal["article", "book", "chapter", "deleted"]

_BOOKS: Final = frozenset(("PubmedBookArticle", "BookDocument"))
_HEAD: Final = re.compile(
    rb'<PubmedArticle>\s*<MedlineCitation(?: [A-Za-z]+="[^"<>]*")*>\s*<PMID(?: Version="([0-9]*)")?>([0-9]+)</PMID>'
)
"""The beginning of nearly every record. The PMID of any other record is read from its element."""
_PMID_TAG: Final = re.compile(rb"<PMID[^<>]*>[^<>]*</PMID\s*>")


_MODELS: Final[tuple[str, ...]] = ("mesh_terms", "standing")
"""Fields whose values are models, not plain JSON."""

ARTICLES: Final = XmlShape(
    "PubMed XML",
    "pubmed_250101.dtd",
    undeclared="DateCreated",
    required={
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
"""The DTD lists the RefTypes, so the log reports a new one."""


@dataclass(slots=True, eq=False, repr=False)
class Record:
    """One record of a PubMed document.

    Args:
        kind: article, book, chapter, or deleted (a PMID that NLM has withdrawn; nothing else is known of it).
        pmid: its PMID.
        version: the version of the record, from its PMID element.
        raw: the bytes of the record's XML, unchanged.
        encoding: the encoding of ``raw``; NCBI sends UTF-8.
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
        return f"Record({self.kind!r}, {self.pmid!r}, {format_count(len(self.raw), 'byte')})"

    @property
    def element(self) -> Any:
        """The whole record as an lxml element, including cited works. Do not change it.

        Raises:
            UpstreamError: the record is not well-formed: a name in its cited works has an undeclared prefix. The cited
                works are not parsed before.
        """
        if self._lasting:
            return self._element
        try:
            return parse_alone(self.raw)
        except etree.XMLSyntaxError as exc:
            raise invalid_document_error(
                f"The PubMed record {self.pmid} is not well-formed: {exc.msg[:MAX_MESSAGE]}"
            ) from None

    def article(self) -> Article:
        """Return the whole record. This is fastest before the next record is read, or after ``pack``.

        Raises:
            ValueError: the record is a deletion.
        """
        fields = self._read_fields()
        italics = fields.pop("_italics", ())
        article = Article.model_validate(fields)
        article.set_italics(italics)
        return article

    def citation(self) -> CitationData:
        """Return the fields that a citation needs.

        Raises:
            ValueError: the record is a deletion.
        """
        fields = self._read_fields()
        cited: Fields = {name: fields[name] for name in CitationData.model_fields if name in fields}
        journal: Fields = fields.get("journal_info") or {}
        place = {**journal, "year": (journal.get("publication_date") or {}).get("year")}
        cited["journal_info"] = place if any(map(place.get, CitationJournal.model_fields)) else None
        return CitationData.model_validate(cited)

    def as_json(self) -> dict[str, Any]:
        """Return the whole element as JSON, with order and mixed content (see ``convert_element_to_json``).

        Raises:
            UpstreamError: the record is not well-formed (see ``element``), or nested too deep.
        """
        return convert_element_to_json(self.element)

    def pack(self, *, raw: bool = True) -> None:
        """Parse the record while its element is available, and keep the fields as bytes, in a tenth of the memory.

        Args:
            raw: whether to keep the record's bytes as well; without them the element is not available.
        """
        with suppress(ValueError):  # ``article`` raises it again
            fields = self._read_fields()
            models = {name: fields.pop(name) for name in _MODELS if name in fields}
            self._packed = marshal.dumps(fields), models
            if not raw:
                self.raw, self._element = b"", None

    def drop_tree(self) -> None:
        """Drop the parsed record. It takes ten times the memory of the bytes, which can be parsed again."""
        self._element = self._known = None

    def _read_fields(self) -> Fields:
        if self._packed is not None:
            packed, models = self._packed
            return {**marshal.loads(packed), **models}
        if self.kind == "deleted":
            raise ValueError(f"PMID {self.pmid} was deleted, so it has no article")
        try:
            fields = (
                _read_fields(self._element, self._known) if self._element is not None else _read_fields(self.element)
            )
        except SpaceLost:
            fields = _read_fields(self.element)
        fields["pmid"], fields["version"], fields["url"] = self.pmid, self.version, f"{PUBMED}{self.pmid}/"
        return fields


def _read_fields(element: Any, known_fields: Fields | None = None) -> Fields:
    return read_book_fields(element) if element.tag in _BOOKS else read_article_fields(element, known_fields)


def iter_records(source: Source) -> Iterator[Record]:
    """Parse PubMed records as a stream, in constant memory.

    Accepts the documents of EFetch and of the yearly and daily files: PubmedArticleSet with articles, books, chapters
    and deletions, the older MedlineCitationSet, sets of books, and a document with a single record as its root.
    Compressed files must be decompressed first.

    Args:
        source: a binary file, an iterable of chunks, or bytes.

    Raises:
        UpstreamError: the document is not PubMed XML, not well-formed or not complete (``reason`` invalid_response).
            All complete records before the defect are yielded first.
    """
    for located in iter_elements(source):
        if located.element.tag in DELETIONS:
            yield from _split_deletions(located)
            continue
        record = _build_record(located)
        yield record
        if located.alone:
            record.drop_tree()


def read_records(content: bytes) -> Iterator[Record]:
    """Parse the records of a reply as a stream; log unknown elements.

    Raises:
        UpstreamError: see ``iter_records``.
    """
    log_drift(ARTICLES, content)
    yield from iter_records(content)


def _build_record(located: LocatedRecord) -> Record:
    element = located.element
    head = _HEAD.match(located.raw) if located.alone else None
    if head:
        pmid, version = head[2].decode(), (head[1] or b"").decode() or None
    else:
        pmid, version = _find_pmid(element)
    kind: RecordKind = "article"
    if element.tag in _BOOKS:
        if located.alone:
            element = parse_alone(located.raw)  # rare; the whole element shows whether it is a chapter or a book
        document = element if element.tag == "BookDocument" else element.find("BookDocument")
        kind = determine_book_kind(document)
    return Record(kind, pmid, version, located.raw, located.encoding, element, located.known, not located.alone)


def _find_pmid(element: Any) -> tuple[str, str | None]:
    """Return the record's own PMID, not the PMID of an article that it comments on or cites."""
    for tag in element.iter("PMID"):
        if tag.getparent().tag in ("MedlineCitation", "BookDocument"):
            pmid = read_text(tag)
            if pmid:
                return pmid, tag.get("Version")
        break
    for path in ("PubmedData/ArticleIdList", "PubmedBookData/ArticleIdList", "BookDocument/ArticleIdList"):
        for own in element.iterfind(f"{path}/ArticleId"):
            if own.get("IdType") == "pubmed" and read_text(own):
                return read_text(own), None
    raise invalid_document_error("A PubMed record has no PMID.")


def _split_deletions(located: LocatedRecord) -> Iterator[Record]:
    """Yield one record for each deleted PMID of a list."""
    tags = [element for element in located.element if element.tag == "PMID" and read_text(element)]
    pieces = _PMID_TAG.findall(located.raw)
    for index, element in enumerate(tags):
        raw = pieces[index] if len(pieces) == len(tags) else located.raw
        yield Record(
            "deleted",
            read_text(element),
            element.get("Version"),
            raw,
            located.encoding,
            element,
            _lasting=not located.alone or len(pieces) != len(tags),
        )
