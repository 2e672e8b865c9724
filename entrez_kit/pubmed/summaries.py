"""Brief summaries of articles, from each of the three forms ESummary answers in."""

import html
import json
import re
from typing import Any, Final

from entrez_kit.pubmed.dates import iso_from_text
from entrez_kit.pubmed.models import BriefSummary, RetractionStatus
from entrez_kit.pubmed.own_ids import bare_doi, bare_pmcid
from entrez_kit.xml_reply import malformed, parse_reply

_TAG: Final = re.compile(r"</?(?:i|b|u|em|strong|sub|sup|inf|sc|bold|italic|small)\s*/?>", re.IGNORECASE)
"""Inline markup NCBI leaves in titles as text. Other angle brackets are the authors' own: P<0.001 stays."""

Fields = dict[str, Any]


def parse_summaries(data: bytes) -> tuple[list[BriefSummary], list[str]]:
    """Parse an ESummary reply for db=pubmed.

    Returns:
        The summaries in the order of the reply, and the UIDs NCBI had no summary for.

    Raises:
        UpstreamError: the reply is not an ESummary result.
    """
    if data.lstrip()[:1] == b"{":
        records, missing = _json_records(data)
    else:
        records, missing = _xml_records(data)
    return [_summary(record) for record in records], missing


def _json_records(data: bytes) -> tuple[list[Fields], list[str]]:
    try:
        result = json.loads(data)["result"]
        uids = [str(uid) for uid in result["uids"]]
    except (ValueError, KeyError, TypeError) as exc:
        raise malformed("esummary", f"not a summary document ({type(exc).__name__})") from None
    records, missing = [], []
    for uid in uids:
        record = result.get(uid)
        if not isinstance(record, dict) or record.get("error"):
            missing.append(uid)
            continue
        lowered: Fields = {key.lower(): value for key, value in record.items()}
        lowered["uid"] = uid
        lowered["authors"] = [author.get("name", "") for author in record.get("authors") or []]
        lowered["ids"] = {
            str(item.get("idtype", "")).lower(): str(item.get("value", "")) for item in record.get("articleids") or []
        }
        lowered["pubtypes"] = [str(kind) for kind in record.get("pubtype") or []]
        records.append(lowered)
    return records, missing


def _xml_records(data: bytes) -> tuple[list[Fields], list[str]]:
    root = parse_reply(data, "esummary", "eSummaryResult")
    records, missing = [], []
    for element in root.iter("DocumentSummary"):
        if element.find("error") is not None:
            missing.append(element.get("uid", ""))
        else:
            records.append(_version_2(element))
    records += [_version_1(element) for element in root.iter("DocSum")]
    return records, missing


def _version_2(element: Any) -> Fields:
    fields: Fields = {child.tag.lower(): "".join(child.itertext()).strip() for child in element.iterchildren("*")}
    fields["uid"] = element.get("uid", "")
    fields["authors"] = [_text(name) for name in element.iterfind("Authors/Author/Name")]
    fields["ids"] = {
        _text(item.find("IdType")).lower(): _text(item.find("Value"))
        for item in element.iterfind("ArticleIds/ArticleId")
    }
    fields["pubtypes"] = [_text(kind) for kind in element.iterfind("PubType/flag")]
    return fields


def _version_1(element: Any) -> Fields:
    items = {item.get("Name", "").lower(): item for item in element.iterfind("Item")}
    fields: Fields = {name: _text(item) for name, item in items.items()}
    fields["uid"] = _text(element.find("Id"))
    fields["authors"] = [_text(item) for item in _members(items.get("authorlist"))]
    fields["ids"] = {item.get("Name", "").lower(): _text(item) for item in _members(items.get("articleids"))}
    fields["pubtypes"] = [_text(item) for item in _members(items.get("pubtypelist"))]
    return fields


def _members(item: Any) -> list[Any]:
    return [] if item is None else item.findall("Item")


def _text(element: Any) -> str:
    return "" if element is None else "".join(element.itertext()).strip()


def _summary(fields: Fields) -> BriefSummary:
    ids: dict[str, str] = fields["ids"]
    pmid = next((ids[key] for key in ("pubmed", "pmid") if ids.get(key)), "") or fields["uid"]
    pmcid = next((found for key in ("pmc", "pmcid") if (found := bare_pmcid(ids.get(key, "")))), None)
    doi = bare_doi(ids.get("doi", ""))
    published, electronic = str(fields.get("pubdate") or ""), str(fields.get("epubdate") or "")
    return BriefSummary(
        pmid=pmid,
        title=plain_title(str(fields.get("title") or fields.get("booktitle") or "")),
        authors=", ".join(name for name in fields["authors"] if name) or None,
        source=_source(fields, published) or None,
        pub_date=iso_from_text(published) if published else None,
        epub_date=iso_from_text(electronic) if electronic else None,
        doi=doi or None,
        pmcid=pmcid,
        retraction_status=_status(fields["pubtypes"]),
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


def _status(kinds: list[str]) -> RetractionStatus:
    lowered = {kind.lower() for kind in kinds}
    if "retracted publication" in lowered:
        return "retracted"
    if lowered & {"retraction of publication", "retraction notice"}:
        return "retraction_notice"
    return "none"
