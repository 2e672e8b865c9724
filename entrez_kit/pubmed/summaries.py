"""Brief summaries of articles, from each of the three forms ESummary answers in."""

import html
import json
import re
from collections.abc import Iterable
from typing import Any, Final

from entrez_kit.pubmed.article import retraction_status
from entrez_kit.pubmed.dates import iso_from_text
from entrez_kit.pubmed.models import BriefSummary
from entrez_kit.pubmed.own_ids import bare_doi, bare_pmcid
from entrez_kit.xml_reply import malformed, parse_reply

_TAG: Final = re.compile(r"</?(?:i|b|u|em|strong|sub|sup|inf|sc|bold|italic|small)\s*/?>", re.IGNORECASE)
"""Inline markup NCBI leaves in titles as text. Other angle brackets are the authors' own: P<0.001 stays."""

_DOI: Final = re.compile(r"doi:\s*(10\.\S*[^\s.;])", re.IGNORECASE)
_BAD_UID: Final = re.compile(r"(?:invalid uid|uid=)\s*:?\s*([^\s:]+)", re.IGNORECASE)
_KINDS: Final = {
    "retractionin": "RetractionIn",
    "retractedandrepublishedin": "RetractedandRepublishedIn",
    "expressionofconcernin": "ExpressionOfConcernIn",
    "retractionof": "RetractionOf",
}
"""The kinds of related records that say something about a retraction, as ESummary writes them (without spaces)."""

Fields = dict[str, Any]


def parse_summaries(data: bytes) -> tuple[list[BriefSummary], list[str]]:
    """Parse an ESummary reply for db=pubmed.

    Returns:
        The summaries in the order of the reply, and the UIDs NCBI had no summary for.

    Raises:
        UpstreamError: the reply is not an ESummary result, or an error about something else than an id.
    """
    if data.lstrip()[:1] == b"{":
        records, missing = _json_records(data)
    else:
        records, missing = _xml_records(data)
    return [_summary(record) for record in records], missing


def _json_records(data: bytes) -> tuple[list[Fields], list[str]]:
    try:
        document = json.loads(data)
        if isinstance(document.get("esummaryresult"), list):
            return [], _named(str(error) for error in document["esummaryresult"])
        result = document["result"]
        uids = [str(uid) for uid in result["uids"]]
        entries = [(uid, result.get(uid)) for uid in uids]
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise malformed("esummary", f"not a summary document ({type(exc).__name__})") from None
    found, missing = [], []
    for uid, record in entries:
        if not isinstance(record, dict) or record.get("error"):
            missing.append(uid)
            continue
        lowered: Fields = {key.lower(): value for key, value in record.items()}
        lowered["uid"] = uid
        lowered["authors"] = [
            (str(author.get("name") or ""), str(author.get("authtype") or "")) for author in _objects(record, "authors")
        ]
        lowered["ids"] = {
            str(item.get("idtype", "")).lower(): str(item.get("value", "")) for item in _objects(record, "articleids")
        }
        types = record.get("pubtype")
        lowered["pubtypes"] = [str(kind) for kind in types] if isinstance(types, list) else []
        lowered["related"] = [str(item.get("reftype", "")) for item in _objects(record, "references")]
        found.append(lowered)
    return found, missing


def _objects(record: Fields, name: str) -> list[Fields]:
    """Return the objects in a list; NCBI writes an empty text where there is none."""
    values = record.get(name)
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _xml_records(data: bytes) -> tuple[list[Fields], list[str]]:
    root = parse_reply(data, "esummary", "eSummaryResult")
    records, missing = [], []
    for element in root.iter("DocumentSummary"):
        if element.find("error") is not None:
            missing.append(element.get("uid", ""))
        else:
            records.append(_version_2(element))
    records += [_version_1(element) for element in root.iter("DocSum")]
    missing += _named(_text(element) for element in root.iter("ERROR"))
    return records, missing


def _named(errors: Iterable[str]) -> list[str]:
    """Return the ids that errors are about; an error about anything else is one of the whole reply."""
    found = []
    for error in errors:
        match = _BAD_UID.search(error)
        if not match:
            raise malformed("esummary", "an error instead of summaries")
        found.append(match[1])
    return found


def _version_2(element: Any) -> Fields:
    fields: Fields = {child.tag.lower(): "".join(child.itertext()).strip() for child in element.iterchildren("*")}
    fields["uid"] = element.get("uid", "")
    fields["authors"] = [
        (_text(author.find("Name")), _text(author.find("AuthType"))) for author in element.iterfind("Authors/Author")
    ]
    fields["ids"] = {
        _text(item.find("IdType")).lower(): _text(item.find("Value"))
        for item in element.iterfind("ArticleIds/ArticleId")
    }
    fields["pubtypes"] = [_text(kind) for kind in element.iterfind("PubType/flag")]
    fields["related"] = [_text(kind) for kind in element.iterfind("References/Reference/RefType")]
    return fields


def _version_1(element: Any) -> Fields:
    items = {item.get("Name", "").lower(): item for item in element.iterfind("Item")}
    fields: Fields = {name: _text(item) for name, item in items.items()}
    fields["uid"] = _text(element.find("Id"))
    fields["authors"] = [(_text(item), item.get("Name", "")) for item in _members(items.get("authorlist"))]
    fields["ids"] = {item.get("Name", "").lower(): _text(item) for item in _members(items.get("articleids"))}
    fields["pubtypes"] = [_text(item) for item in _members(items.get("pubtypelist"))]
    fields["related"] = []
    return fields


def _members(item: Any) -> list[Any]:
    return [] if item is None else item.findall("Item")


def _text(element: Any) -> str:
    return "" if element is None else "".join(element.itertext()).strip()


def _summary(fields: Fields) -> BriefSummary:
    ids: dict[str, str] = fields["ids"]
    pmid = next((ids[key] for key in ("pubmed", "pmid") if ids.get(key)), "") or fields["uid"]
    pmcid = next((found for key in ("pmc", "pmcid") if (found := _pmcid(ids.get(key, "")))), None)
    located = _DOI.search(str(fields.get("elocationid") or ""))
    doi = bare_doi(ids.get("doi") or (located[1] if located else ""))
    published, electronic = str(fields.get("pubdate") or ""), str(fields.get("epubdate") or "")
    return BriefSummary(
        pmid=pmid,
        title=plain_title(str(fields.get("title") or fields.get("booktitle") or "")),
        authors=_authors(fields["authors"]) or None,
        source=_source(fields, published) or None,
        pub_date=iso_from_text(published) if published else None,
        epub_date=iso_from_text(electronic) if electronic else None,
        doi=doi or None,
        pmcid=pmcid,
        retraction_status=retraction_status(fields["pubtypes"], _kinds(fields["related"])),
    )


def plain_title(title: str) -> str:
    """Return a title without the inline markup that summaries leave in it, entities decoded once."""
    text = _TAG.sub("", title)
    if "&" in text:
        text = _TAG.sub("", html.unescape(text))
    return " ".join(text.split())


def _source(fields: Fields, published: str) -> str:
    """Write the source as PubMed prints it: J Inv Res. 2024 Mar;12(2):737-8."""
    journal = str(fields.get("source") or fields.get("booktitle") or fields.get("publishername") or "")
    volume, issue, pages = (str(fields.get(name) or "") for name in ("volume", "issue", "pages"))
    place = volume + (f"({issue})" if issue else "")
    tail = published + (f";{place}" if place else "") + (f":{pages}" if pages else "")
    return ". ".join(part for part in (journal.rstrip("."), tail) if part)


def _authors(people: list[tuple[str, str]]) -> str:
    """Name all authors; of a book without authors, its editors."""
    named = [(name, kind.lower().startswith("editor")) for name, kind in people if name]
    return ", ".join([name for name, editor in named if not editor] or [name for name, _ in named])


def _pmcid(text: str) -> str | None:
    """Read a PMCID alone, or out of "pmc-id: PMC123;manuscript-id: ..."."""
    return bare_pmcid(text.lower().removeprefix("pmc-id:").partition(";")[0])


def _kinds(related: list[str]) -> set[str]:
    return {_KINDS[key] for kind in related if (key := "".join(kind.lower().split())) in _KINDS}
