"""Read MeSH headings of PubMed records. Most headings repeat, so records share the models."""

import re
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

from lxml import etree
from pydantic import TypeAdapter

from entrez_kit.base.mixed_content import read_text
from entrez_kit.pubmed.models import MeshTerm

KEPT: Final = 8_192
"""The number of cached headings, about 10 MB. A record has about ten headings, and most are cached."""

_LIST: Final = b"<MeshHeadingList>"
_LIST_END: Final = b"</MeshHeadingList>"
_BEGIN: Final = b"<MeshHeading>"
_END: Final = b"</MeshHeading>"
_TEXT: Final = r"[^<>&\"\x00-\x1f\ufff0-\uffff]*+"
"""Text without tags, entities, quotes, line breaks, and characters that XML does not allow."""
_ATTRIBUTE: Final = re.compile(rf' ([A-Za-z]+)="({_TEXT})"')
_DESCRIPTOR, _QUALIFIERS = (
    rf'<{tag}((?>(?: [A-Za-z]+="{_TEXT}")*))>({_TEXT})</{tag}>\s*+' for tag in ("DescriptorName", "QualifierName")
)
"""A name in NLM's usual form: its attributes and its text."""
_HEADING: Final = re.compile(rf"\s*+<MeshHeading>\s*+{_DESCRIPTOR}((?>(?:{_QUALIFIERS})*))")
_QUALIFIER: Final = re.compile(_QUALIFIERS)
_TERMS: Final = TypeAdapter(list[MeshTerm])


def read_headings(section: Any) -> list[MeshTerm]:
    """Read a MeshHeadingList element."""
    entries: list[dict[str, Any]] = []
    for element in section.iterdescendants("DescriptorName", "QualifierName"):
        attribute = element.get
        entry: dict[str, Any] = {"ui": attribute("UI")}
        if attribute("MajorTopicYN") == "Y":
            entry["is_major_topic"] = True
        if element.tag == "DescriptorName":
            entry["descriptor_name"] = read_text(element)
            entries.append(entry)
        elif entries:
            entry["name"] = read_text(element)
            last = entries[-1]
            if "qualifiers" in last:
                last["qualifiers"].append(entry)
            else:
                last["qualifiers"] = [entry]
    return _TERMS.validate_python(entries)


def read_cached_headings(section: bytes) -> list[MeshTerm]:
    """Read a MeshHeadingList from bytes; parse only headings that are not cached. The key is the heading's bytes.

    Raises:
        etree.XMLSyntaxError: the list is not well-formed.
    """
    *headings, rest = section.removeprefix(_LIST).split(_END)
    terms = [_read_heading(heading) for heading in headings]
    if not all(terms) or rest.strip() != _LIST_END:
        return read_headings(etree.XML(section))
    return terms  # type: ignore[return-value]  # no None is left among them


@lru_cache(maxsize=KEPT)
def _read_heading(written: bytes) -> MeshTerm | None:
    """Read one heading, given without its end tag; None if it is not exactly one heading."""
    with suppress(ValueError):  # it is not UTF-8, or an attribute is repeated
        if heading := _HEADING.fullmatch(written.decode()):
            entry = _read_name("descriptor_name", heading[1], heading[2])
            if heading[3]:
                entry["qualifiers"] = [_read_name("name", *parts) for parts in _QUALIFIER.findall(heading[3])]
            return MeshTerm.model_validate(entry)
    terms = read_headings(etree.XML(written + _END)) if written.lstrip().startswith(_BEGIN) else []
    return terms[0] if len(terms) == 1 else None


def _read_name(field: str, attributes: str, name: str) -> dict[str, Any]:
    """Return the fields of a descriptor or qualifier.

    Raises:
        ValueError: an attribute is repeated.
    """
    pairs = _ATTRIBUTE.findall(attributes)
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError(attributes)
    entry: dict[str, Any] = {"ui": values.get("UI"), field: name.strip()}
    if values.get("MajorTopicYN") == "Y":
        entry["is_major_topic"] = True
    return entry
