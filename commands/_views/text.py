"""Texts about a record: names, citation lines, dates, retraction banners. This module has no layout."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from entrez_kit.base.clock import MONTHS
from entrez_kit.base.identifiers import BOOKSHELF, PMC, PUBMED, format_doi_url
from entrez_kit.base.invisible import remove_invisible
from entrez_kit.pubmed.models import LANGUAGES, WORDS
from entrez_kit.pubmed.pages import format_place_of_publication

from .._formats.fields import Column, Record, build_columns, get_values

LABELS: Final = {status: words.upper() for status, words in WORDS.items() if status != "corrected"}
"""The labels of statuses that must be seen. A work that was only corrected has a mark after its title."""

_LANGUAGES: Final = {code: name for long, (short, name) in LANGUAGES.items() for code in (long, short)}
"""Names of languages by the codes of MEDLINE and of XML."""
_KINDS: Final = {  # the NLM names that need an explanation
    "RetractionIn": "Retracted by",
    "RetractionOf": "Retracts",
    "PartialRetractionIn": "Partly retracted by",
    "PartialRetractionOf": "Partly retracts",
    "RetractedandRepublishedIn": "Retracted and republished as",
    "RetractedandRepublishedFrom": "Republished after retraction of",
    "ExpressionOfConcernIn": "Expression of concern in",
    "ExpressionOfConcernFor": "Expresses concern about",
    "ErratumIn": "Corrected by",
    "ErratumFor": "Corrects",
    "CorrectedandRepublishedIn": "Corrected and republished as",
    "CorrectedandRepublishedFrom": "Corrected and republished from",
    "RepublishedIn": "Republished as",
    "RepublishedFrom": "Republished from",
    "UpdateIn": "Updated by",
    "UpdateOf": "Updates",
    "ReprintIn": "Reprinted in",
    "ReprintOf": "Reprint of",
    "AssociatedDataset": "Dataset",
    "AssociatedPublication": "Publication",
}
_HEADLINES: Final = {
    "retracted": "this article has been retracted.",
    "withdrawn": "this work has been withdrawn.",
    "partially_retracted": "a part of this article has been retracted.",
    "expression_of_concern": "concerns about this article have been published.",
    "retraction_notice": "this is a notice that retracts an article.",
    "concern_notice": "this is a notice that expresses concern about an article.",
    "correction_notice": "this is a notice that corrects an article.",
    "reinstated": "this article was retracted or questioned and has been reinstated.",
    "superseded": "a newer version of this work is available.",
    "republished": "cite the corrected version.",
    "preprint_published": "cite the published article.",
}


def to_line(text: object) -> str:
    """Return text on one line, without control characters."""
    return remove_invisible(" ".join(str(text or "").split()))


def format_value(value: str | int | bool | None) -> str:
    """Return the value of a setting as text."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def get_title(record: Record) -> str:
    """Return the title, or "(no title)"."""
    return to_line(record.get("title")) or "(no title)"


def format_person(author: Mapping[str, Any]) -> str:
    """Return a name in citation form: "Doe JA", "Doe JA 3rd", or the name of the group."""
    if author.get("collective_name"):
        return to_line(author["collective_name"])
    parts = (author.get("last_name"), author.get("initials") or author.get("first_name"), author.get("suffix"))
    return to_line(" ".join(str(part) for part in parts if part))


def format_people(authors: Sequence[Mapping[str, Any]] | None, limit: int | None = None, joiner: str = ", ") -> str:
    """Join names. "et al." replaces the names beyond the limit."""
    names = [name for author in authors or () if (name := format_person(author))]
    if limit is not None and len(names) > limit:
        return joiner.join([*names[:limit], "et al."])
    return joiner.join(names)


def shorten_authors(authors: str, limit: int) -> str:
    """Shorten a list of authors, with "et al." for the names beyond the limit."""
    names = [name for name in re.split(r"[,;]\s+", to_line(authors)) if name]
    return ", ".join([*names[:limit], "et al."] if len(names) > limit else names)


def name_language(code: object) -> str:
    """Return the name of a language by its MEDLINE or XML code, or the code if it is unknown."""
    short = str(code).partition("-")[0].lower()
    return _LANGUAGES.get(short, to_line(code))


def list_other_abstracts(record: Record) -> list[tuple[str, str]]:
    """Return the additional abstracts, each with its language or kind."""
    main_abstract = record.get("abstract_text") if record.get("abstract_language") else None
    return [
        (name_language(other.get("language") or other.get("type") or "other"), to_line(other.get("text")))
        for other in record.get("other_abstracts") or ()
        if other.get("text") != main_abstract
    ]


def get_standing_status(record: Record) -> str:
    """Return the publication status of a record, or "" for a record without notices."""
    status = str((record.get("standing") or {}).get("status") or record.get("retraction_status") or "none")
    return "" if status == "none" else status


def get_status_label(record: Record) -> str:
    """Return the label of the publication status, such as RETRACTED, or ""."""
    return LABELS.get(get_standing_status(record), "")


def is_corrected(record: Record) -> bool:
    """Return whether a correction of this record was published."""
    standing = record.get("standing") or {}
    statuses = (standing.get("status"), *(notice.get("status") for notice in standing.get("notices") or ()))
    return "corrected" in statuses or "republished" in statuses


def describe_kind(kind: str) -> str:
    """Return the meaning of NLM's RefType: "RetractionIn" is "Retracted by"."""
    return _KINDS.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", to_line(kind)).capitalize()


def build_banner(record: Record) -> list[str]:
    """Return the lines that must come first: the headline of a retraction or concern, then its notices."""
    status = get_standing_status(record)
    if status not in LABELS:
        return []
    grave = [notice for notice in _list_notices(record) if notice.get("status") == status]
    return [f"{LABELS[status]}: {_HEADLINES[status]}", *(format_correction(notice) for notice in grave)]


def _list_notices(record: Record) -> Sequence[Mapping[str, Any]]:
    return (record.get("standing") or {}).get("notices") or ()


def format_correction(item: Mapping[str, Any]) -> str:
    """Return a correction of a record, or a notice of its publication status, as a line."""
    citation = to_line(item.get("citation") or item.get("doi") or item.get("date"))
    text = f"{describe_kind(str(item['kind']))}: {citation}" if item.get("kind") else citation
    if item.get("pmid"):
        text += f" PMID {item['pmid']}"
    if reason := to_line(item.get("note") or item.get("reason")):
        text += f" ({reason})" if text else reason
    return text


def list_other_corrections(record: Record) -> list[str]:
    """Return the corrections that the banner does not show."""
    status = get_standing_status(record)
    labelled_kinds = {
        notice.get("kind") for notice in _list_notices(record) if notice.get("status") == status in LABELS
    }
    return [
        format_correction(item) for item in record.get("corrections") or () if item.get("kind") not in labelled_kinds
    ]


def format_date(record: Record) -> str:
    """Return the date of publication with PubMed's precision: "2024 Mar 3", "2024 Spring"."""
    info = record.get("journal_info") or {}
    date = info.get("publication_date") or {}
    if date.get("medline_date"):
        return to_line(date["medline_date"])
    return format_day(date) or to_line(info.get("year"))


def _format_iso_date(record: Record) -> str:
    """Return the date of publication as 2024-03-03, 2024-03 or 2024; a season or a range as PubMed writes it."""
    from entrez_kit.pubmed.xml.dates import convert_to_iso_date

    return convert_to_iso_date(format_date(record))


def format_day(date: Mapping[str, Any]) -> str:
    """Return a date as "2024 Mar 3", without unknown parts."""
    month = date.get("month")
    name = MONTHS[month - 1] if isinstance(month, int) and 1 <= month <= 12 else month
    return to_line(" ".join(str(part) for part in (date.get("year"), name, date.get("day")) if part))


def get_year(record: Record) -> str:
    """Return the year of publication, also if PubMed only gives a season or a range."""
    info = record.get("journal_info") or {}
    date = info.get("publication_date") or {}
    year = date.get("year") or info.get("year")
    if not year and (match := re.search(r"\b(1[6-9]|20|21)[0-9]{2}\b", str(date.get("medline_date") or ""))):
        year = match[0]
    return str(year or "")


def get_journal(record: Record) -> str:
    """Return the short title of the journal, or the title of the book."""
    info = record.get("journal_info") or {}
    book = record.get("book_info") or {}
    return to_line(info.get("iso_abbreviation") or info.get("title") or book.get("title"))


def format_source(record: Record) -> str:
    """Return the source of a record: "J Demo. 2024 Mar 3;12(3):45-67." or, for a chapter, the book."""
    if record.get("record_type") in ("book", "chapter"):
        return _format_book(record)
    info = record.get("journal_info") or {}
    number = info.get("pages") or info.get("article_number")
    place = (to_line(value) for value in (info.get("volume"), info.get("issue"), number))
    text = format_place_of_publication(get_journal(record), format_date(record), *place)
    return f"{text}." if text and not text.endswith(".") else text


def _format_book(record: Record) -> str:
    book = record.get("book_info") or {}
    info = record.get("journal_info") or {}
    parts = []
    name = to_line(book.get("title") or info.get("title"))
    if name and name != get_title(record):
        parts.append(f"In: {name}" if record.get("record_type") == "chapter" else name)
    if book.get("edition"):
        parts.append(f"{to_line(book['edition'])} ed." if str(book["edition"]).isdigit() else to_line(book["edition"]))
    if book.get("editors"):
        parts.append(f"{format_people(book['editors'], 6)}, ed")
    publisher = ": ".join(text for key in ("publisher_location", "publisher") if (text := to_line(book.get(key))))
    if date := format_date(record):
        publisher = f"{publisher}; {date}" if publisher else date
    if publisher:
        parts.append(publisher)
    return ". ".join(part.rstrip(".") for part in parts) + "." if parts else ""


def list_links(record: Record) -> list[tuple[str, str]]:
    """Return the identifiers of a record with their URLs: PubMed (or Europe PMC), DOI, PMC, NCBI Bookshelf."""
    if record.get("pmid"):
        links = [(f"PMID {to_line(record['pmid'])}", build_page_address(PUBMED, record["pmid"]))]
    else:
        links = [(get_record_key(record), to_line(record.get("url")))]
    if doi := to_line(record.get("doi")):
        links.append((f"doi:{doi}", format_doi_url(doi)))
    if pmcid := to_line(record.get("pmcid")):
        links.append((pmcid, build_page_address(PMC, pmcid)))
    if accession := to_line((record.get("book_info") or {}).get("accession")):
        links.append((accession, build_page_address(BOOKSHELF, accession)))
    return links


def get_record_key(record: Record) -> str:
    """Return the PMID of a record, or its source and id if it has no PMID ("PPR:PPR123")."""
    return to_line(record.get("pmid")) or to_line(f"{record.get('source')}:{record.get('epmc_id')}")


def build_page_address(site: str, identifier: object) -> str:
    """Return the URL of a record at PubMed, PMC or NCBI Bookshelf."""
    return f"{site}{quote(to_line(identifier), safe='')}/"


# Columns


ARTICLE_COLUMNS: Final[dict[str, Column]] = {
    **build_columns("pmid", "title"),
    "authors": lambda record: format_people(record.get("authors"), joiner="; "),
    "journal": lambda record: get_journal_title(record),
    **build_columns("journal_info.iso_abbreviation"),
    "year": get_year,
    "date": lambda record: _format_iso_date(record),
    **build_columns("journal_info.volume", "journal_info.issue", "journal_info.pages", "doi", "pmcid"),
    **build_columns("journal_info.issn", "journal_info.eissn", "journal_info.nlm_id", "publication_types"),
    **build_columns("retraction_status", "record_type", "languages", "keywords"),
    "mesh_terms": partial(get_values, path="mesh_terms.descriptor_name"),
    "abstract": lambda record: record.get("abstract_text"),
    **build_columns("url"),
    "standing": get_standing_status,
    **build_columns("journal_info.article_number", "abstract_language"),
}
"""The default columns of an article in csv and tsv."""


def get_journal_title(record: Record) -> str:
    """Return the full title of the journal or book."""
    info = record.get("journal_info") or {}
    return to_line(info.get("title") or (record.get("book_info") or {}).get("title") or info.get("iso_abbreviation"))


# Checked references and claims

STATUS_WORDS: Final = {
    "another_work": "another work",
    "not_found": "not found",
    "concern": "expression of concern",
    "out_of_context": "out of context",
    "not_in_text": "not in the text",
    "no_text_available": "no text",
}


def list_findings(record: Record) -> list[str]:
    """Return the findings about a reference, one sentence each, then remarks that are not problems."""
    messages = [str(finding["message"]) for finding in record.get("findings") or ()]
    is_other = record.get("same_work") is False
    names = ("disagreement",) if is_other else ("notice", "detail", "disagreement")
    remarks = [str(record[name]) for name in names if record.get(name)]
    messages += [remark for remark in remarks if not any(remark in text or text in remark for text in messages)]
    if is_other:
        fields = ", ".join(difference["field"] for difference in record.get("differences") or ())
        messages += [f"it differs in: {fields}"] if fields else []
    return messages
