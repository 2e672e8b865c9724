"""Document summaries of any database, from each of the three forms ESummary answers in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from entrez_kit.markup import END, SUBSCRIPT, SUPERSCRIPT, write_scripts
from entrez_kit.services.xml_reply import malformed

_ABOUT_UID: Final = re.compile(r"(?:Invalid uid|UID=)\s*([^\s:]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Summaries:
    """Documents by UID in the order of the reply, and what NCBI said of UIDs it has no document for.

    A complaint that names no UID is filed under "#" and a number.
    """

    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def parse_documents(reply: Any) -> Summaries:
    """Read an ESummary reply, as ``parse_esummary`` returns it: version 2.0 in JSON or XML, or version 1 in XML.

    Every field is kept. In version 2.0 XML a repeated element becomes a list and an attribute a key with "@"; in
    version 1 a list becomes a mapping of member name to values, so that one member looks like many.

    Raises:
        UpstreamError: the reply is not an ESummary result.
    """
    if isinstance(reply, dict):
        return _from_json(reply)
    summaries = Summaries()
    for docsum in reply.iterfind("DocSum"):
        uid = (docsum.findtext("Id") or "").strip()
        summaries.documents[uid] = {
            "uid": uid,
            **{item.get("Name", ""): _item(item) for item in docsum.iterfind("Item")},
        }
    for document in reply.iterfind("DocumentSummarySet/DocumentSummary"):
        uid = (document.get("uid") or "").strip()
        error = document.findtext("error")
        if error is not None:
            summaries.problems[uid] = error.strip()
        else:
            summaries.documents[uid] = {"uid": uid, **_elements(document)}
    for error in (*reply.iterfind("ERROR"), *reply.iterfind("DocumentSummarySet/ERROR")):
        if text := (error.text or "").strip():
            named = _ABOUT_UID.search(text)
            uid = named[1] if named and named[1] not in summaries.problems else f"#{len(summaries.problems)}"
            summaries.problems[uid] = text
    return summaries


def _from_json(reply: dict[str, Any]) -> Summaries:
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


def _item(item: Any) -> Any:
    """Turn a version 1 item into text, a number or, with members, a mapping of name to all values of that name."""
    members = item.findall("Item")
    if members or item.get("Type") in ("List", "Structure"):
        grouped: dict[str, list[Any]] = {}
        for member in members:
            grouped.setdefault(member.get("Name", ""), []).append(_item(member))
        return grouped
    text = (item.text or "").strip()
    digits = text.removeprefix("-")
    return int(text) if item.get("Type") == "Integer" and digits.isascii() and digits.isdigit() else text


def _elements(parent: Any) -> dict[str, Any]:
    """Turn child elements into fields; one that stands more than once becomes a list."""
    grouped: dict[str, list[Any]] = {}
    for child in parent.iterchildren("*"):
        grouped.setdefault(child.tag, []).append(_element(child))
    return {name: values[0] if len(values) == 1 else values for name, values in grouped.items()}


def _element(element: Any) -> Any:
    children = _elements(element)
    attributes = {f"@{name}": value for name, value in element.attrib.items()}
    own_text = [element.text, *(child.tail for child in element)]
    mixed = any((piece or "").strip() for piece in own_text)
    if not children and not attributes:
        return (element.text or "").strip()
    fields = {**attributes, **children}
    if mixed:
        fields["#text"] = write_scripts("".join(_marked(element))).strip()
    return fields


def _marked(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str):
            mark = {"sup": SUPERSCRIPT, "sub": SUBSCRIPT}.get(child.tag)
            yield from (mark, *_marked(child), END) if mark else _marked(child)
        yield child.tail or ""
