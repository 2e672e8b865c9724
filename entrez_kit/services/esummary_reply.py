"""What ESummary answers, in JSON or in either form of its XML: the document, and which records it speaks of."""

import json
import re
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
        return json.loads(content)
    except ValueError as exc:
        raise malformed("esummary", f"not a summary document ({type(exc).__name__})") from None


def uids_told(document: Any) -> set[str]:
    """Return the UIDs a document speaks of: those it has a summary of, and those NCBI says it does not know.

    Raises:
        UpstreamError: it speaks of none.
    """
    if isinstance(document, dict):
        try:
            told = {str(uid) for uid in document["result"]["uids"]}
        except (KeyError, TypeError) as exc:
            raise malformed("esummary", f"not a summary document ({type(exc).__name__})") from None
    else:
        told = {uid for summary in document.iter("DocumentSummary") if (uid := (summary.get("uid") or "").strip())}
        told |= {uid for element in document.iterfind("DocSum/Id") if (uid := (element.text or "").strip())}
        told |= {word for error in document.iter("ERROR") for word in re.findall(r"[^\s:=]+", error.text or "")}
    if not told:
        raise malformed("esummary", "no summaries")
    return told
