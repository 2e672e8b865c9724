"""An HTTP answer, and the functions that build one."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from entrez_kit.local.records.text import escape_xml

XML: Final = "text/xml; charset=UTF-8"
JSON: Final = "application/json; charset=UTF-8"
TEXT: Final = "text/plain; charset=UTF-8"
HTML: Final = "text/html; charset=UTF-8"

DTD: Final = "https://eutils.ncbi.nlm.nih.gov/eutils/dtd"


@dataclass(frozen=True, slots=True)
class LocalReply:
    """Status, body and headers of one answer."""

    body: bytes
    content_type: str = XML
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


def answer_xml(text: str, status: int = 200) -> LocalReply:
    """Answer with XML."""
    return LocalReply(text.encode("utf-8"), XML, status)


def answer_text(text: str, status: int = 200) -> LocalReply:
    """Answer with plain text."""
    return LocalReply(text.encode("utf-8"), TEXT, status)


def answer_json(value: Any, status: int = 200) -> LocalReply:
    """Answer with JSON, compact and not ASCII-only, as the E-utilities write it."""
    return LocalReply(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8"), JSON, status)


@dataclass(frozen=True, slots=True)
class Items:
    """A list in a reply: XML wraps each entry in ``tag``, JSON has an array.

    An entry is a string, or a mapping of element names to strings, numbers and further ``Items``.
    """

    tag: str
    entries: Iterable[str | Mapping[str, Any]]


def to_json(value: Any) -> Any:
    """Return a value of a reply for JSON, where the names of elements are in lower case."""
    if isinstance(value, Items):
        return [to_json(entry) for entry in value.entries]
    return {name.lower(): to_json(one) for name, one in value.items()} if isinstance(value, Mapping) else value


def to_elements(values: Mapping[str, Any], depth: int) -> str:
    """Return the values of a reply as XML elements, one a line; a list is an element that is repeated."""
    return "".join(
        _to_element(name, one, "\t" * depth, depth)
        for name, value in values.items()
        for one in (value if isinstance(value, list) else [value])
    )


def _to_element(name: str, value: Any, indent: str, depth: int) -> str:
    if isinstance(value, Items):
        value = {value.tag: list(value.entries)}
    if isinstance(value, Mapping):
        return f"{indent}<{name}>\n{to_elements(value, depth + 1)}{indent}</{name}>\n"
    return f"{indent}<{name}>{escape_xml(value)}</{name}>\n"


def format_prolog(root: str, identifier: str, path: str) -> str:
    """Return an XML declaration and a DOCTYPE as the E-utilities write them."""
    doctype = f'<!DOCTYPE {root} PUBLIC "-//NLM//DTD {identifier}//EN" "{DTD}/{path}">'
    return f'<?xml version="1.0" encoding="UTF-8" ?>\n{doctype}\n'


ESEARCH_PROLOG: Final = format_prolog("eSearchResult", "esearch 20060628", "20060628/esearch.dtd")
ESUMMARY_V1_PROLOG: Final = format_prolog("eSummaryResult", "esummary v1 20041029", "20041029/esummary-v1.dtd")
ELINK_PROLOG: Final = format_prolog("eLinkResult", "elink 20101123", "20101123/elink.dtd")
EPOST_PROLOG: Final = format_prolog("ePostResult", "epost 20090526", "20090526/epost.dtd")
EINFO_PROLOG: Final = format_prolog("eInfoResult", "einfo 20190110", "20190110/einfo.dtd")
# As at NCBI, this DOCTYPE does not match the root element, eFetchResult.
EFETCH_PROLOG: Final = format_prolog("eEfetchResult", "efetch 20131226", "20131226/efetch.dtd")

_PROLOGS: Final = {
    "esearch": ("eSearchResult", ESEARCH_PROLOG),
    "esummary": ("eSummaryResult", ESUMMARY_V1_PROLOG),
    "elink": ("eLinkResult", ELINK_PROLOG),
    "epost": ("ePostResult", EPOST_PROLOG),
    "einfo": ("eInfoResult", EINFO_PROLOG),
    "efetch": ("eFetchResult", EFETCH_PROLOG),
}


def answer_failure(endpoint: str, message: str, *, retmode: str = "xml", status: int | None = None) -> LocalReply:
    """Answer with ``<ERROR>`` (or its JSON form) as this E-utility does: EFetch with HTTP 400, the others with 200."""
    status = status or (400 if endpoint == "efetch" else 200)
    if retmode == "json":
        header = {"type": endpoint, "version": "0.3"}
        # The E-utilities do not escape line breaks in the message, which makes the JSON invalid.
        text = "\n".join(json.dumps(line, ensure_ascii=False)[1:-1] for line in message.split("\n"))
        text = f'"{text}"'
        if endpoint in ("esearch", "einfo"):
            key = f'"{endpoint}result":{{"ERROR":{text}}}'
        elif endpoint == "elink":
            key = f'"linksets":[],"ERROR":{text}'
        else:
            key = f'"error":{text}'
        return LocalReply(f'{{"header":{json.dumps(header, separators=(",", ":"))},{key}}}\n'.encode(), JSON, status)
    root, start = _PROLOGS[endpoint]
    return answer_xml(f"{start}<{root}>\n\t<ERROR>{escape_xml(message)}</ERROR>\n</{root}>\n", status)
