"""The document summaries of PubMed in both versions."""

from collections.abc import Mapping
from typing import Any, Final

from entrez_kit.local.eutils.database import DocSumItem
from entrez_kit.local.eutils.replies import Items
from entrez_kit.local.records.document import NOTICES, Document, render_marked_text
from entrez_kit.query.fields import LANGUAGES
from entrez_kit.query.words import split_words

RECORD_STATUS: Final = {
    "MEDLINE": "PubMed - indexed for MEDLINE",
    "PubMed-not-MEDLINE": "PubMed",
    "In-Process": "PubMed - in process",
    "In-Data-Review": "PubMed - in process",
    "Publisher": "PubMed - as supplied by publisher",
}
PUBLICATION_STATUS: Final = {"epublish": "3", "ppublish": "4", "aheadofprint": "10"}
_ID_NUMBERS: Final = {"pubmed": 1, "doi": 3, "pii": 4, "pmcid": 5, "pmc": 8, "mid": 8, "bookaccession": 8}


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
        "RecordStatus": "PubMed" if document.is_book else RECORD_STATUS.get(document.status, "PubMed"),
        "PubStatus": PUBLICATION_STATUS.get(document.publication_status, "255"),
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
        "SrcDate": "",
        "ReportNumber": "",
        "AvailableFromURL": "",
        "LocationLabel": "",
        "DocContribList": Items("DocContrib", []),
        "DocDate": "",
        "BookName": "",
        "Chapter": "",
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


def _build_reference(one: Any) -> Mapping[str, Any]:
    pmid = int(one.pmid) if one.pmid.isdigit() else 0
    _, kind = NOTICES.get(one.kind, ("", one.kind))
    return {"RefSource": one.source, "RefType": kind, "Pmid": pmid, "Note": one.note}


def build_docsum(document: Document, cited: int) -> list[DocSumItem]:
    """Return the version 1 summary of a record that has ``cited`` citations."""

    def build_text_item(name: str, value: str, kind: str = "String") -> DocSumItem:
        return DocSumItem(name, kind, value)

    def build_list_item(name: str, inner: list[DocSumItem]) -> DocSumItem:
        return DocSumItem(name, "List", inner)

    ids = [("pubmed", document.pmid), *(pair for pair in document.ids if pair[0] != "pubmed")]
    ids += [("rid", document.pmid), ("eid", document.pmid)]
    if document.pmcid:
        ids.append(("pmcid", f"pmc-id: {document.pmcid};"))
    issue = f"({document.issue})" if document.issue else ""
    pages = f":{document.pages}" if document.pages else ""
    items = [
        build_text_item("PubDate", document.publication_date.text, "Date"),
        build_text_item("EPubDate", document.electronic_date.text, "Date"),
        build_text_item("Source", document.journal_ta),
        build_list_item("AuthorList", [build_text_item("Author", person.short) for person in document.authors]),
        build_text_item("LastAuthor", document.authors[-1].short if document.authors else ""),
        build_text_item("Title", render_marked_text(document.title_element)),
        build_text_item("Volume", document.volume),
        build_text_item("Issue", document.issue),
        build_text_item("Pages", document.pages),
        build_list_item(
            "LangList", [build_text_item("Lang", LANGUAGES.get(code, code).title()) for code in document.languages]
        ),
        build_text_item("NlmUniqueID", document.nlm_id),
        build_text_item("ISSN", document.get_issn("Print")),
        build_text_item("ESSN", document.get_issn("Electronic")),
        build_list_item("PubTypeList", [build_text_item("PubType", kind) for kind in document.publication_types]),
        build_text_item("RecordStatus", RECORD_STATUS.get(document.status, "PubMed")),
        build_text_item("PubStatus", document.publication_status),
        build_list_item("ArticleIds", [build_text_item(kind, value) for kind, value in ids]),
        build_text_item("DOI", document.doi),
        build_list_item(
            "History",
            [build_text_item(kind, f"{day.slashed} {clock}", "Date") for kind, day, clock in document.history if day],
        ),
        build_list_item("References", []),
        build_text_item("HasAbstract", "1" if document.abstract else "0", "Integer"),
        build_text_item("PmcRefCount", str(cited), "Integer"),
        build_text_item("FullJournalName", document.journal_title),
        build_text_item("ELocationID", " ".join(f"{kind}: {value}" for kind, value in document.locations)),
        build_text_item("SO", f"{document.publication_date.text};{document.volume}{issue}{pages}"),
    ]
    # A missing DOI is the only item that NCBI omits.
    return [item for item in items if item.name != "DOI" or item.value]
