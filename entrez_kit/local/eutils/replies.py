"""An HTTP answer, and the functions that build one."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from entrez_kit.local.eutils.entrez_data import DATA
from entrez_kit.local.records.text import escape_attribute, escape_xml

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


_PLURALS: Final[dict[str, str]] = DATA["plurals"]
"""Names in JSON of repeated elements whose plural is not formed with "s"."""


def to_json(value: Any) -> Any:
    """Return a value of a reply for JSON: names in lower case, those of repeated elements in the plural."""
    if isinstance(value, Items | list):
        entries = value.entries if isinstance(value, Items) else value
        return [entry if isinstance(entry, str) else to_json(entry) for entry in entries]
    if not isinstance(value, Mapping):
        return value
    return {
        _PLURALS.get(name, f"{name.lower()}s") if isinstance(member, list) else name.lower(): to_json(member)
        for name, member in value.items()
    }


def to_elements(values: Mapping[str, Any], depth: int) -> str:
    """Return the values of a reply as XML elements, one a line.

    A list is an element that is repeated. A mapping with a ``value`` is an element with attributes.
    """
    indent = "\t" * depth
    return "".join(
        _to_element(name, member, indent, depth)
        for name, value in values.items()
        for member in (value if isinstance(value, list) else [value])
    )


def _to_element(name: str, value: Any, indent: str, depth: int) -> str:
    if isinstance(value, Items):
        entries = list(value.entries)
        if entries and all(isinstance(entry, str) and entry.isdigit() for entry in entries):  # thousands of ids
            opened, closed = f"\t{indent}<{value.tag}>", f"</{value.tag}>\n"
            return f"{indent}<{name}>\n{opened}{f'{closed}{opened}'.join(map(str, entries))}{closed}{indent}</{name}>\n"
        value = {value.tag: entries}
    if isinstance(value, Mapping) and "value" in value:
        attributes = "".join(f' {key}="{escape_attribute(member)}"' for key, member in value.items() if key != "value")
        return f"{indent}<{name}{attributes}>{escape_xml(value['value'])}</{name}>\n"
    if isinstance(value, Mapping):
        return f"{indent}<{name}>\n{to_elements(value, depth + 1)}{indent}</{name}>\n"
    return f"{indent}<{name}>{escape_xml(value)}</{name}>\n"


def format_prolog(root: str, identifier: str, path: str) -> str:
    """Return an XML declaration and a DOCTYPE as the E-utilities write them."""
    doctype = f'<!DOCTYPE {root} PUBLIC "-//NLM//DTD {identifier}//EN" "{DTD}/{path}">'
    return f'<?xml version="1.0" encoding="UTF-8" ?>\n{doctype}\n'


_RESULTS: Final = {name: (root, format_prolog(*prolog)) for name, (root, *prolog) in DATA["results"].items()}
"""The root element of each E-utility, and what precedes it. As at NCBI, the DOCTYPE of EFetch has another name."""


def answer_elements(endpoint: str, elements: str, status: int = 200) -> LocalReply:
    """Answer with the root element of an E-utility, which contains these elements."""
    root, prolog = _RESULTS[endpoint]
    return answer_xml(f"{prolog}<{root}>\n{elements}</{root}>\n", status)


def answer_values(endpoint: str, values: Mapping[str, Any], mode: str) -> LocalReply:
    """Answer with the values of a reply, as JSON or as XML."""
    if mode != "json":
        return answer_elements(endpoint, to_elements(values, 1))
    document = to_json(values)
    return answer_json(
        {"header": build_header(endpoint), **(document if endpoint == "elink" else {f"{endpoint}result": document})}
    )


def build_header(endpoint: str) -> dict[str, str]:
    """Return the header of a JSON reply."""
    return {"type": endpoint, "version": "0.3"}


def answer_failure(endpoint: str, message: str, *, retmode: str = "xml", status: int | None = None) -> LocalReply:
    """Answer with ``<ERROR>`` (or its JSON form) as this E-utility does: EFetch with HTTP 400, the others with 200."""
    status = status or (400 if endpoint == "efetch" else 200)
    if retmode != "json":
        return answer_elements(endpoint, to_elements({"ERROR": message}, 1), status)
    # The E-utilities do not escape line breaks in the message, which makes the JSON invalid.
    text = "\n".join(json.dumps(line, ensure_ascii=False)[1:-1] for line in message.split("\n"))
    text = f'"{text}"'
    if endpoint in ("esearch", "einfo"):
        key = f'"{endpoint}result":{{"ERROR":{text}}}'
    elif endpoint == "elink":
        key = f'"linksets":[],"ERROR":{text}'
    else:
        key = f'"error":{text}'
    header = json.dumps(build_header(endpoint), separators=(",", ":"))
    return LocalReply(f'{{"header":{header},{key}}}\n'.encode(), JSON, status)
