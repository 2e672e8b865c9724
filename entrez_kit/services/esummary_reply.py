"""Replies of ESummary in JSON or in either form of its XML: the document, and the UIDs in it."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from entrez_kit.services.small_replies import incomplete_reply_error, is_uid, malformed_error, parse_reply
from entrez_kit.services.transport import T


def parse_esummary(content: bytes) -> Any:
    """Parse an ESummary reply and return the object of JSON, or the root element of XML.

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
        raise malformed_error("esummary", f"not a summary document ({type(exc).__name__})") from None


@dataclass(frozen=True, slots=True)
class Answered:
    """The UIDs of a document: with a summary, with an error, with an empty summary, and with several entries."""

    described: frozenset[str]
    refused: frozenset[str]
    hollow: frozenset[str]
    repeated: frozenset[str]

    @property
    def uids(self) -> frozenset[str]:
        """All UIDs that have a summary or an error."""
        return self.described | self.refused


def find_uids(document: Any) -> Answered:
    """Return the UIDs in a document.

    Raises:
        UpstreamError: the document has no UIDs, or a UID has the summary of another record.
    """
    if isinstance(document, dict):
        result = document["result"]
        uids = [str(uid) for uid in result["uids"]]
        refused = {uid for uid, summary in result.items() if isinstance(summary, dict) and summary.get("error")}
        listed = {uid: result[uid] if isinstance(result.get(uid), dict) else {} for uid in uids if uid not in refused}
        hollow = {uid for uid, summary in listed.items() if not summary.keys() - {"uid"}}
        if wrong := [uid for uid, summary in listed.items() if str(summary.get("uid", uid)) != uid]:
            raise malformed_error("esummary", f"the summary of another record for {wrong[0][:40]}")
    else:
        summaries = list(_yield_summaries(document))
        uids = [uid for uid, _ in summaries]
        refused = {uid for uid, summary in summaries if summary.find("error") is not None}
        refused |= {word for error in document.iter("ERROR") for word in re.findall(r"[^\s:=]+", error.text or "")}
        hollow = {uid for uid, summary in summaries if all(part.tag == "Id" for part in summary.iterchildren("*"))}
    if not uids and not refused:
        raise malformed_error("esummary", "no summaries")
    repeated = frozenset(uid for uid, times in Counter(uids).items() if times > 1)
    return Answered(frozenset(uids) - refused - hollow, frozenset(refused), frozenset(hollow), repeated)


@dataclass(frozen=True, slots=True)
class CheckedSummaries(Generic[T]):
    """A document, the result of its reader, and the requested UIDs for which it has errors."""

    document: Any
    result: T
    refused: frozenset[str]


def read_summaries(content: bytes, requested_ids: Sequence[str], read: Callable[[Any], T]) -> CheckedSummaries[T]:
    """Parse an ESummary reply, which must have a summary or an error for each requested UID.

    Args:
        content: the reply.
        requested_ids: the requested ids; none if the request names a set of the history.
        read: parses the document.

    Raises:
        UpstreamError: the reply has summaries of other records, or two of one record.
        IncompleteReply: a summary is missing or empty.
    """
    expected_uids = frozenset(requested_ids) if all(map(is_uid, requested_ids)) else frozenset()
    document = parse_esummary(content)
    answered = find_uids(document)
    if (expected_uids or not requested_ids) and any(requested_ids.count(uid) < 2 for uid in answered.repeated):
        raise malformed_error("esummary", "two summaries of one record")
    if expected_uids and (foreign := answered.described - expected_uids):
        raise malformed_error("esummary", f"a summary of {min(foreign)}, which was not requested")
    if expected_uids and expected_uids.isdisjoint(answered.uids | answered.hollow):
        raise malformed_error("esummary", "summaries of other records than those requested")
    remove_summaries(document, answered.hollow)
    refused = answered.refused & expected_uids if expected_uids else frozenset(filter(is_uid, answered.refused))
    summaries = CheckedSummaries(document, read(document), refused)
    missing = expected_uids - answered.uids if expected_uids else answered.hollow
    if missing or len(answered.uids) < len(set(requested_ids)):
        problem = f"no summary of {', '.join(sorted(missing)[:5]) or 'some records'}"
        raise incomplete_reply_error("esummary", problem, content, summaries)
    return summaries


def _yield_summaries(root: Any) -> Iterator[tuple[str, Any]]:
    """Yield the UID and the element of each summary in XML."""
    for summary in root.iter("DocumentSummary"):
        if uid := (summary.get("uid") or "").strip():
            yield uid, summary
    for summary in root.iterfind("DocSum"):
        if uid := (summary.findtext("Id") or "").strip():
            yield uid, summary


def replace_summaries(document: Any, newer: Any, uids: Collection[str]) -> None:
    """Replace the summaries of some records by those in another document of the same form."""
    remove_summaries(document, uids)
    if isinstance(document, dict):
        document["result"]["uids"] += uids
        document["result"].update({uid: newer["result"][uid] for uid in uids})
        return
    holder = document.find("DocumentSummarySet")
    for uid, summary in list(_yield_summaries(newer)):
        if uid in uids:
            (document if holder is None else holder).append(summary)


def remove_summaries(document: Any, uids: Collection[str]) -> None:
    """Remove the summaries and errors of some records from a document."""
    if isinstance(document, dict):
        result = document["result"]
        result["uids"] = [uid for uid in result["uids"] if str(uid) not in uids]
        for uid in uids:
            result.pop(uid, None)
        return
    errors = ((word, error) for error in document.iter("ERROR") for word in re.findall(r"[^\s:=]+", error.text or ""))
    for uid, element in [*_yield_summaries(document), *errors]:
        if uid in uids and element.getparent() is not None:
            element.getparent().remove(element)


def write_esummary(document: Any) -> bytes:
    """Serialize a document in its own form."""
    if isinstance(document, dict):
        return json.dumps(document).encode()
    from lxml import etree

    return bytes(etree.tostring(document, encoding="UTF-8", xml_declaration=True))


# Document summaries of any database in JSON


@dataclass(frozen=True, slots=True)
class Summaries:
    """Documents by UID in the order of the reply, and NCBI's error messages for UIDs without a document."""

    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def parse_documents(reply: Any) -> Summaries:
    """Return the documents of an ESummary reply in JSON, which ``parse_esummary`` parsed, with all their fields."""
    result = reply["result"]
    uids = [str(uid) for uid in result["uids"]]
    summaries = Summaries()
    for uid in uids:
        document = result.get(uid)
        if not isinstance(document, dict):
            summaries.problems[uid] = "NCBI listed the UID but sent no document"
        elif document.get("error"):
            summaries.problems[uid] = str(document["error"])
        else:
            summaries.documents[uid] = {"uid": uid, **document}
    for uid, document in result.items():
        if uid not in uids and isinstance(document, dict) and document.get("error"):
            summaries.problems[uid] = str(document["error"])
    return summaries
