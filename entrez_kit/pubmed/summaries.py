"""Parse brief summaries of articles from the three formats of ESummary replies."""

import re
from typing import Any, Final

from entrez_kit.base.identifiers import normalize_doi, normalize_pmcid
from entrez_kit.base.mixed_content import read_text
from entrez_kit.pubmed.encoded_markup import convert_to_plain_text
from entrez_kit.pubmed.models import BriefSummary, Correction
from entrez_kit.pubmed.pages import find_article_number
from entrez_kit.pubmed.standing import KINDS, determine_standing, to_retraction_status
from entrez_kit.pubmed.xml.dates import convert_to_iso_date
from entrez_kit.services.esummary_reply import parse_documents
from entrez_kit.services.known_shapes import JsonShape, Shape, XmlShape, is_json, log_drift, require_texts
from entrez_kit.services.small_replies import malformed_error

_PII: Final = re.compile(r"pii:\s*([^\s;]*[^\s.;])", re.IGNORECASE)
_DOI: Final = re.compile(r"doi:\s*(10\.\S*[^\s.;])", re.IGNORECASE)
_BAD_UID: Final = re.compile(r"(?:invalid uid|uid=)\s*+:?\s*+([^\s:]++)", re.IGNORECASE)
_COMMENTS: Final = ("CommentIn", "CommentOn")
_REF_TYPES: Final = {kind.lower(): kind for kind in (*KINDS, *_COMMENTS)}
"""The kinds of related records by ESummary's names without spaces ("Retraction in" is "retractionin")."""

_MOMENT: Final = re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d")
XML: Final = XmlShape(
    "Summaries of articles",
    "esummary-v1.dtd",
    undeclared="DocumentSummarySet DocumentSummary DbBuild error PubDate EPubDate Source Authors Author Name AuthType"
    " ClusterID LastAuthor Title SortTitle Volume Issue Pages Lang string NlmUniqueID ISSN ESSN PubType flag"
    " RecordStatus PubStatus ArticleIds ArticleId IdType IdTypeN Value History PubMedPubDate Date References"
    " Reference RefSource RefType PMID Pmid Note Attributes PmcRefCount FullJournalName ELocationID ViewCount"
    " DocType SrcContribList SrcContrib BookTitle Medium Edition PublisherLocation PublisherName SrcDate"
    " ReportNumber AvailableFromURL LocationLabel DocContribList DocContrib DocDate BookName Chapter"
    " SortPubDate SortFirstAuthor VernacularTitle",
    forms={"SortPubDate": re.compile(rf"{_MOMENT.pattern}|"), "Date": _MOMENT},
)
JSON: Final = JsonShape(
    "Summaries of articles",
    {
        "header": require_texts("type version"),
        "result": {
            "uids": [str],
            "*": {
                **require_texts(
                    "uid error pubdate epubdate source lastauthor title sorttitle volume issue pages nlmuniqueid"
                    " issn essn recordstatus pubstatus fulljournalname elocationid doctype booktitle medium edition"
                    " publisherlocation publishername srcdate reportnumber availablefromurl locationlabel docdate"
                    " bookname chapter sortfirstauthor vernaculartitle"
                ),
                "sortpubdate": re.compile(rf"{_MOMENT.pattern}|"),
                "authors": [require_texts("name authtype clusterid")],
                "articleids": [{"idtype": str, "idtypen": int, "value": str}],
                "history": [{"pubstatus": str, "date": _MOMENT}],
                "references": [{**require_texts("refsource reftype note"), "pmid": (int, str)}],
                **{name: [str] for name in ("lang", "pubtype", "attributes", "srccontriblist", "doccontriblist")},
                **dict.fromkeys(("pmcrefcount", "viewcount"), (int, str)),
            },
        },
    },
    required="result.uids",
)

Fields = dict[str, Any]


def parse_summaries(document: Any) -> tuple[list[BriefSummary], list[str]]:
    """Read an ESummary reply for db=pubmed.

    Args:
        document: the result of ``parse_esummary``.

    Returns:
        The summaries in the order of the reply, and the UIDs without a summary.

    Raises:
        UpstreamError: the reply is not an ESummary result, or reports an error that is not about an id.
    """
    log_drift(choose_shape, document)
    if not isinstance(document, dict):
        records, missing = _read_xml(document)
        return [_read_summary(record) for record in records], missing
    parsed = parse_documents(document)
    known = ({name.lower(): value for name, value in record.items()} for record in parsed.documents.values())
    return [_read_summary(record) for record in known], list(parsed.problems)


def choose_shape(reply: Any) -> Shape:
    """Return the known shape of summaries in the format of this reply."""
    return JSON if is_json(reply) else XML


def _list_objects(record: Fields, name: str) -> list[Fields]:
    """Return the objects in a list. NCBI writes an empty string instead of an empty list."""
    values = record.get(name)
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _read_xml(root: Any) -> tuple[list[Fields], list[str]]:
    records, missing = [], []
    for element in root.iter("DocumentSummary"):
        if element.find("error") is not None:
            missing.append(element.get("uid", ""))
        else:
            records.append(_read_version_2(element))
    records += [_read_version_1(element) for element in root.iter("DocSum")]
    for error in root.iter("ERROR"):
        about = _BAD_UID.search(read_text(error))
        if not about:
            raise malformed_error("esummary", "an error instead of summaries")
        missing.append(about[1])
    return records, missing


def _read_version_2(element: Any) -> Fields:
    """Convert a summary of version 2.0 XML to the fields of JSON."""
    fields: Fields = {child.tag.lower(): read_text(child) for child in element.iterchildren("*")}
    for name, path in (("authors", "Authors/*"), ("articleids", "ArticleIds/*"), ("references", "References/*")):
        fields[name] = [
            {part.tag.lower(): read_text(part) for part in item.iterchildren("*")} for item in element.iterfind(path)
        ]
    fields["pubtype"] = [read_text(kind) for kind in element.iterfind("PubType/flag")]
    return {**fields, "uid": element.get("uid", "")}


def _read_version_1(element: Any) -> Fields:
    """Convert a summary of version 1.0 XML to the fields of JSON."""
    items = {item.get("Name", "").lower(): item for item in element.iterfind("Item")}
    lists = {
        name: [(item.get("Name", ""), read_text(item)) for item in items.get(name, ())]
        for name in ("authorlist", "articleids", "pubtypelist")
    }
    return {
        **{name: read_text(item) for name, item in items.items()},
        "uid": element.findtext("Id", ""),
        "authors": [{"name": name, "authtype": kind} for kind, name in lists["authorlist"]],
        "articleids": [{"idtype": kind, "value": value} for kind, value in lists["articleids"]],
        "pubtype": [kind for _, kind in lists["pubtypelist"]],
    }


def _read_summary(fields: Fields) -> BriefSummary:
    ids = {
        str(item.get("idtype", "")).lower(): str(item.get("value", "")) for item in _list_objects(fields, "articleids")
    }
    listed = fields.get("pubtype")
    types = [kind for kind in listed if isinstance(kind, str)] if isinstance(listed, list) else []
    related = [_read_related(item) for item in _list_objects(fields, "references")]
    people = [
        (str(person.get("name") or ""), str(person.get("authtype") or ""))
        for person in _list_objects(fields, "authors")
    ]
    pmid = next((ids[key] for key in ("pubmed", "pmid") if ids.get(key)), "") or fields["uid"]
    pmcid = next((identifier for key in ("pmc", "pmcid") if (identifier := _read_pmcid(ids.get(key, "")))), None)
    located = _DOI.search(str(fields.get("elocationid") or ""))
    doi = normalize_doi(ids.get("doi") or (located[1] if located else ""))
    title = convert_to_plain_text(str(fields.get("title") or fields.get("booktitle") or ""))
    standing = determine_standing(publication_types=types, corrections=related, title=title)
    published, electronic = str(fields.get("pubdate") or ""), str(fields.get("epubdate") or "")
    names = [(convert_to_plain_text(name), kind.lower().startswith("editor")) for name, kind in people if name]
    return BriefSummary(
        pmid=pmid,
        title=title,
        authors=", ".join([name for name, editor in names if not editor] or [name for name, _ in names]) or None,
        source=_read_source(fields, published) or None,
        pub_date=convert_to_iso_date(published) if published else None,
        epub_date=convert_to_iso_date(electronic) if electronic else None,
        doi=doi or None,
        pmcid=pmcid,
        retraction_status=to_retraction_status(standing),
        standing=standing,
        publication_types=types,
        comments=[Correction.model_validate(correction) for correction in related if correction["kind"] in _COMMENTS],
    )


def format_place_of_publication(journal: str, published: str, volume: str, issue: str, pages: str) -> str:
    """Format the place of publication as PubMed does: J Inv Res. 2024 Mar;12(2):737-8."""
    place = volume + (f"({issue})" if issue else "")
    tail = published + (f";{place}" if place else "") + (f":{pages}" if pages else "")
    return ". ".join(part for part in (journal.rstrip("."), tail) if part)


def _read_source(fields: Fields, published: str) -> str:
    journal = convert_to_plain_text(
        str(fields.get("source") or fields.get("booktitle") or fields.get("publishername") or "")
    )
    volume, issue, pages = (str(fields.get(name) or "") for name in ("volume", "issue", "pages"))
    if (volume or issue) and not pages and (located := _PII.search(str(fields.get("elocationid") or ""))):
        pages = find_article_number([("pii", located[1], True)]) or ""
    return format_place_of_publication(journal, published, volume, issue, pages)


def _read_pmcid(text: str) -> str | None:
    """Read a PMCID, which may be part of "pmc-id: PMC123;manuscript-id: ..."."""
    return normalize_pmcid(text.lower().removeprefix("pmc-id:").partition(";")[0])


def _read_related(item: Fields) -> dict[str, str | None]:
    """Convert a related record to the fields of a ``Correction``."""
    kind, pmid, source, note = (str(item.get(name) or "") for name in ("reftype", "pmid", "refsource", "note"))
    bare = "".join(kind.split())
    kind = _REF_TYPES.get(bare.lower(), bare)
    return {
        "kind": kind,
        "pmid": pmid if pmid.strip("0") else None,
        "citation": convert_to_plain_text(source),
        "note": note,
    }
