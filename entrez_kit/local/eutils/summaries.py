"""The document summaries of PubMed in both versions."""

from collections.abc import Mapping
from typing import Any, Final

from entrez_kit.local.eutils.entrez_data import DATA, NOTICES
from entrez_kit.local.eutils.replies import Items
from entrez_kit.local.records.document import Document, PartialDate, render_marked_text
from entrez_kit.query.fields import LANGUAGES
from entrez_kit.query.words import split_words

_RECORD_STATUSES: Final[dict[str, str]] = DATA["record_statuses"]
_PUBLICATION_STATUSES: Final[dict[str, str]] = DATA["publication_statuses"]
_ID_NUMBERS: Final[dict[str, int]] = DATA["id_numbers"]


def build_summary(document: Document, cited: int) -> Mapping[str, Any]:
    """Return the version 2 summary of a record that has ``cited`` citations."""
    title = document.title
    contributors = [
        _to_contributor(person.short, "CollectiveName" if person.group else "Author") for person in document.authors
    ]
    return {
        "PubDate": document.publication_date.text,
        "EPubDate": document.electronic_date.text,
        "Source": document.journal_ta,
        "Authors": Items(
            "Author", contributors or [_to_contributor(editor.short, "Editor") for editor in document.editors]
        ),
        "LastAuthor": document.authors[-1].short if document.authors else "",
        "Title": "" if document.is_book and not document.is_chapter else render_marked_text(document.title_element),
        "SortTitle": " ".join(split_words(title)),
        "Volume": document.volume,
        "Issue": document.issue,
        "Pages": document.pages,
        "Lang": Items("string", document.languages),
        "NlmUniqueID": document.nlm_id,
        "ISSN": document.get_issn("Print") or document.get_issn("Linking"),
        "ESSN": document.get_issn("Electronic"),
        "PubType": Items("flag", document.publication_types),
        "RecordStatus": "PubMed" if document.is_book else _RECORD_STATUSES.get(document.status, "PubMed"),
        "PubStatus": _PUBLICATION_STATUSES.get(document.publication_status, "255"),
        "ArticleIds": Items("ArticleId", _build_article_ids(document)),
        "History": Items(
            "PubMedPubDate",
            [{"PubStatus": kind, "Date": f"{day.slashed} {clock}"} for kind, day, clock in document.history if day],
        ),
        "References": Items("Reference", [_build_reference(correction) for correction in document.corrections]),
        "Attributes": Items("flag", ["Has Abstract"] if document.abstract else []),
        "PmcRefCount": cited,
        "FullJournalName": document.journal_title,
        "ELocationID": " ".join(f"{kind}: {value}" for kind, value in document.locations),
        "DocType": "chapter" if document.is_chapter else "book" if document.is_book else "citation",
        "SrcContribList": Items("SrcContrib", []),
        "BookTitle": document.book_title,
        "Medium": "",
        "Edition": "",
        "PublisherLocation": document.publisher_location,
        "PublisherName": document.publisher,
        **dict.fromkeys(("SrcDate", "ReportNumber", "AvailableFromURL", "LocationLabel"), ""),
        "DocContribList": Items("DocContrib", []),
        **dict.fromkeys(("DocDate", "BookName", "Chapter"), ""),
        "SortPubDate": f"{document.publication_date.slashed} 00:00" if document.publication_date else "",
        "SortFirstAuthor": document.authors[0].short if document.authors else "",
        "VernacularTitle": document.vernacular_title,
    }


def _to_contributor(name: str, kind: str) -> Mapping[str, Any]:
    return {"Name": name, "AuthType": kind, "ClusterID": ""}


def _build_article_ids(document: Document) -> list[Mapping[str, Any]]:
    found = [("pubmed", document.pmid)]
    found += [pair for pair in document.ids if pair[0] != "pubmed"]
    if document.pmcid:
        found.append(("pmcid", f"pmc-id: {document.pmcid};"))
    if document.doi and not any(kind == "doi" for kind, _ in found):
        found.append(("doi", document.doi))
    return [{"IdType": kind, "IdTypeN": _ID_NUMBERS.get(kind, 8), "Value": value} for kind, value in found]


def _build_reference(citation: Any) -> Mapping[str, Any]:
    pmid = int(citation.pmid) if citation.pmid.isdigit() else 0
    _, kind = NOTICES.get(citation.kind, ("", citation.kind))
    return {"RefSource": citation.source, "RefType": kind, "Pmid": pmid, "Note": citation.note}


def build_docsum(document: Document, cited: int) -> Mapping[str, Any]:
    """Return the version 1 summary of a record that has ``cited`` citations."""
    ids = [("pubmed", document.pmid), *(pair for pair in document.ids if pair[0] != "pubmed")]
    ids += [("rid", document.pmid), ("eid", document.pmid)]
    if document.pmcid:
        ids.append(("pmcid", f"pmc-id: {document.pmcid};"))
    issue = f"({document.issue})" if document.issue else ""
    pages = f":{document.pages}" if document.pages else ""
    events = [(kind, PartialDate(f"{day.slashed} {clock}", day.number)) for kind, day, clock in document.history if day]
    return {
        "PubDate": document.publication_date,
        "EPubDate": document.electronic_date,
        "Source": document.journal_ta,
        "AuthorList": Items("Author", [person.short for person in document.authors]),
        "LastAuthor": document.authors[-1].short if document.authors else "",
        "Title": render_marked_text(document.title_element),
        "Volume": document.volume,
        "Issue": document.issue,
        "Pages": document.pages,
        "LangList": Items("Lang", [LANGUAGES.get(code, code).title() for code in document.languages]),
        "NlmUniqueID": document.nlm_id,
        "ISSN": document.get_issn("Print"),
        "ESSN": document.get_issn("Electronic"),
        "PubTypeList": Items("PubType", document.publication_types),
        "RecordStatus": _RECORD_STATUSES.get(document.status, "PubMed"),
        "PubStatus": document.publication_status,
        "ArticleIds": ids,
        **({"DOI": document.doi} if document.doi else {}),  # the only item that NCBI omits
        "History": events,
        "References": [],
        "HasAbstract": int(bool(document.abstract)),
        "PmcRefCount": cited,
        "FullJournalName": document.journal_title,
        "ELocationID": " ".join(f"{kind}: {value}" for kind, value in document.locations),
        "SO": f"{document.publication_date.text};{document.volume}{issue}{pages}",
    }
