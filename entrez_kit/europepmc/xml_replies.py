"""Europe PMC's XML replies turned into what its JSON ones hold, so that one parser reads both."""

from typing import Any, Final

from entrez_kit.errors import UpstreamError
from entrez_kit.services.xml_reply import malformed, parse_reply

_NAMES: Final = {
    "ISOAbbreviation": "isoabbreviation",
    "NLMid": "nlmid",
    "ISSN": "issn",
    "ESSN": "essn",
}
"""Where the two spell a name differently."""


def document_of(content: bytes) -> dict[str, Any]:
    """Read a search reply in XML (``format=xml``) into the structure of the JSON one.

    Raises:
        UpstreamError: it is no search reply; Dublin Core (``format=dc``) is none, it has no ids of its own.
    """
    root = parse_reply(content, "Europe PMC search", "responseWrapper", "errorBean", "errors")
    if root.tag != "responseWrapper" or root.find("errMsg") is not None:
        said = root.findtext(".//errMsg") or "an error without words"
        raise UpstreamError(f"Europe PMC refused the search: {said}", details={"reason": "invalid_response"})
    if root.find("resultList") is None:
        raise malformed("Europe PMC search", "XML without a list of results")
    return {
        **{name: root.findtext(name) for name in ("hitCount", "nextCursorMark") if root.find(name) is not None},
        "resultList": {"result": [_value(result) for result in root.iterfind("resultList/result")]},
    }


def _value(element: Any) -> Any:
    """Return an element's text, or its children by name; a name that comes several times has a list."""
    children = [child for child in element if isinstance(child.tag, str)]
    if not children:
        words = (element.text or "").strip()
        kind = element.get("type")
        return {"type": kind, "value": words} if kind else words
    found: dict[str, Any] = {}
    for child in children:
        name = _NAMES.get(child.tag, child.tag)
        value = _value(child)
        if name not in found:
            found[name] = value
        elif isinstance(found[name], list):
            found[name].append(value)
        else:
            found[name] = [found[name], value]
    return found
