"""Read books and book chapters of PubMed (NCBI Bookshelf) into the fields of an Article."""

from typing import Any, Final, Literal

from entrez_kit.base.mixed_content import read_text
from entrez_kit.pubmed.xml.abstracts import read_abstract
from entrez_kit.pubmed.xml.article import DATA
from entrez_kit.pubmed.xml.common_parts import (
    Fields,
    Handlers,
    add_date,
    dispatch,
    read_grants,
    read_keywords,
    read_language,
    read_pagination,
    read_pub_date,
    read_revised,
)
from entrez_kit.pubmed.xml.completion import complete_fields
from entrez_kit.pubmed.xml.own_ids import merge_own_ids, read_listed_ids, read_located_id
from entrez_kit.pubmed.xml.people import read_authors, read_investigators, read_people


def read_book_fields(record: Any) -> Fields:
    """Read a PubmedBookArticle (or a BookDocument) into the fields of an ``Article``, except PMID and URL."""
    document = record if record.tag == "BookDocument" else record.find("BookDocument")
    kind = determine_book_kind(document)
    fields: Fields = {"record_type": kind, "book_info": {}, "journal_info": {}}
    dispatch(record, _RECORD, fields)
    if record is document:
        dispatch(document, _DOCUMENT, fields)
    _place_book(fields, whole=kind == "book")
    complete_fields(fields)
    if accession := fields["article_ids"].get("bookaccession"):
        fields["book_info"]["accession"] = accession
    return fields


def determine_book_kind(document: Any) -> Literal["book", "chapter"]:
    """Return whether a record is a chapter or a whole book.

    A chapter has its own title, which names the part of the book, or a place in the book (LocationLabel). A whole book
    has only the book's title, sometimes twice.
    """
    if document is None:
        return "book"
    title = document.find("ArticleTitle")
    if document.find("LocationLabel") is not None:
        return "chapter"
    if title is None or not read_text(title):
        return "book"
    if title.get("part") or title.get("sec"):
        return "chapter"
    book_title = document.find("Book/BookTitle")
    return "book" if book_title is not None and read_text(book_title) == read_text(title) else "chapter"


def _place_book(fields: Fields, *, whole: bool) -> None:
    """Assign the book's fields: to the record itself if it is a book, otherwise to ``book_info``."""
    info: Fields = fields["book_info"]
    book_authors: list[Fields] = fields.pop("_book_authors", [])
    book_ids: list[tuple[str, str, bool]] = fields.pop("_book_ids", [])
    if whole:
        fields["title"] = info.get("title") or fields.get("title", "")
        fields.setdefault("_located", []).extend(book_ids)
    else:
        fields["title"] = fields.get("title") or info.get("title", "")
        _, doi = merge_own_ids([], book_ids)
        if doi:
            info["doi"] = doi
    if fields.get("authors"):
        info["authors"] = book_authors
    else:
        fields["authors"] = book_authors
    journal: Fields = fields["journal_info"]
    journal["title"] = info.get("title")
    journal["volume"] = info.get("volume")


def _read_book(element: Any, fields: Fields) -> None:
    info: Fields = fields["book_info"]
    for child in element:
        tag = child.tag
        if tag in _BOOK_TEXTS:
            info[_BOOK_TEXTS[tag]] = read_text(child)
        elif tag == "Publisher":
            info["publisher"] = _read_text(child, "PublisherName")
            info["publisher_location"] = _read_text(child, "PublisherLocation")
        elif tag == "PubDate":
            fields["journal_info"]["publication_date"] = read_pub_date(child)
        elif tag in ("BeginningDate", "EndingDate"):
            add_date(child, tag.removesuffix("Date").lower(), fields)
        elif tag == "AuthorList":
            if child.get("Type") == "editors":
                info.setdefault("editors", []).extend(read_people(child))
            else:
                fields.setdefault("_book_authors", []).extend(read_people(child))
        elif tag == "InvestigatorList":
            read_investigators(child, fields)
        elif tag == "Isbn":
            info.setdefault("isbns", []).append(read_text(child))
        elif tag == "ELocationID":
            located: Fields = {}
            read_located_id(child, located)
            fields.setdefault("_book_ids", []).extend(located.get("_located", []))


def _read_text(element: Any, name: str) -> str | None:
    child = element.find(name)
    return read_text(child) if child is not None else None


def _read_authors(element: Any, fields: Fields) -> None:
    if element.get("Type") == "editors":
        fields["book_info"].setdefault("editors", []).extend(read_people(element))
    else:
        read_authors(element, fields)


def _read_location(element: Any, fields: Fields) -> None:
    label = " ".join(part for part in (element.get("Type"), read_text(element)) if part)
    if label:
        info: Fields = fields["book_info"]
        info["location"] = f"{info['location']}, {label}" if "location" in info else label


def _read_publication_type(element: Any, fields: Fields) -> None:
    if kind := read_text(element):
        fields.setdefault("publication_types", []).append(kind)


def _read_sections(element: Any, fields: Fields) -> None:
    """Read the table of contents with nested sections, in reading order."""
    titles: list[str] = fields["book_info"].setdefault("sections", [])
    for section in element.iter("Section"):
        parts = (_read_text(section, "LocationLabel"), _read_text(section, "SectionTitle"))
        if title := " ".join(part for part in parts if part):
            titles.append(title)


_BOOK_TEXTS: Final = {
    "BookTitle": "title",
    "VolumeTitle": "volume_title",
    "CollectionTitle": "collection_title",
    "Edition": "edition",
    "Volume": "volume",
    "Medium": "medium",
    "ReportNumber": "report_number",
}
_DOCUMENT: Final[Handlers] = {
    "ArticleIdList": read_listed_ids,
    "Book": _read_book,
    "LocationLabel": _read_location,
    "ArticleTitle": "title",
    "VernacularTitle": "vernacular_title",
    "Pagination": read_pagination,
    "ELocationID": read_located_id,
    "Language": read_language,
    "AuthorList": _read_authors,
    "InvestigatorList": read_investigators,
    "PublicationType": _read_publication_type,
    "Abstract": read_abstract,
    "Sections": _read_sections,
    "KeywordList": read_keywords,
    "ContributionDate": lambda element, fields: add_date(element, "contribution", fields),
    "DateRevised": read_revised,
    "GrantList": read_grants,
}
_RECORD: Final[Handlers] = {"BookDocument": _DOCUMENT, "PubmedBookData": DATA}
