"""What ESummary answers, in JSON or in either form of its XML: the document, and which records it speaks of."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from entrez_kit.services.xml_reply import malformed, parse_reply


def parse_esummary(content: bytes) -> Any:
    """Parse an ESummary reply: into the object of JSON, or the root element of XML.

    Raises:
        UpstreamError: the reply is not an ESummary result.
    """
    if content.lstrip()[:1] != b"{":
        return parse_reply(content, "esummary", "eSummaryResult")
    try:
        document = json.loads(content)
        _ = [*document["result"]["uids"]]
        return document
    except (ValueError, KeyError, TypeError) as exc:
        raise malformed("esummary", f"not a summary document ({type(exc).__name__})") from None


def uids_told(document: Any) -> set[str]:
    """Return the UIDs a document speaks of: those it has a summary of, and those NCBI says it does not know.

    Raises:
        UpstreamError: it speaks of none.
    """
    if isinstance(document, dict):
        told = {str(uid) for uid in document["result"]["uids"]}
    else:
        told = {uid for summary in document.iter("DocumentSummary") if (uid := (summary.get("uid") or "").strip())}
        told |= {uid for element in document.iterfind("DocSum/Id") if (uid := (element.text or "").strip())}
        told |= {word for error in document.iter("ERROR") for word in re.findall(r"[^\s:=]+", error.text or "")}
    if not told:
        raise malformed("esummary", "no summaries")
    return told


# Document summaries of any database, as JSON has them


@dataclass(frozen=True, slots=True)
class Summaries:
    """Documents by UID in the order of the reply, and what NCBI said of UIDs it has no document for."""

    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def parse_documents(reply: Any) -> Summaries:
    """Read an ESummary reply in JSON, as ``parse_esummary`` returns it; every field is kept."""
    result = reply["result"]
    uids = [str(uid) for uid in result["uids"]]
    summaries = Summaries()
    for uid in uids:
        document = result.get(uid)
        if not isinstance(document, dict):
            summaries.problems[uid] = "NCBI listed the UID and sent no document"
        elif document.get("error"):
            summaries.problems[uid] = str(document["error"])
        else:
            summaries.documents[uid] = {"uid": uid, **document}
    for uid, document in result.items():
        if uid not in uids and isinstance(document, dict) and document.get("error"):
            summaries.problems[uid] = str(document["error"])
    return summaries
