"""Document summaries of any database, as ESummary answers in JSON."""

from dataclasses import dataclass, field
from typing import Any

from entrez_kit.services.xml_reply import malformed


@dataclass(frozen=True, slots=True)
class Summaries:
    """Documents by UID in the order of the reply, and what NCBI said of UIDs it has no document for."""

    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def parse_documents(reply: Any) -> Summaries:
    """Read an ESummary reply in JSON, as ``parse_esummary`` returns it; every field is kept.

    Raises:
        UpstreamError: the reply is not an ESummary result.
    """
    try:
        result = reply["result"]
        uids = [str(uid) for uid in result["uids"]]
    except (KeyError, TypeError) as exc:
        raise malformed("esummary", f"not a summary document ({type(exc).__name__})") from None
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
