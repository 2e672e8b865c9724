"""MeSH headings of PubMed records. The same ones come again and again, so records share them."""

from typing import Any, Final

from lxml import etree
from pydantic import TypeAdapter

from entrez_kit.pubmed.models import MeshTerm
from entrez_kit.pubmed.xml.mixed_content import text_of

KEPT: Final = 4096
"""Headings kept for looking up, in each of two generations; a record has about ten, most of them met before."""

_LIST: Final = b"<MeshHeadingList>"
_LIST_END: Final = b"</MeshHeadingList>"
_BEGIN: Final = b"<MeshHeading>"
_END: Final = b"</MeshHeading>"
_TERMS: Final = TypeAdapter(list[MeshTerm])


def read(section: Any) -> list[MeshTerm]:
    """Read a MeshHeadingList element."""
    entries: list[dict[str, Any]] = []
    for element in section.iterdescendants("DescriptorName", "QualifierName"):
        attribute = element.get
        entry: dict[str, Any] = {"ui": attribute("UI")}
        if attribute("MajorTopicYN") == "Y":
            entry["is_major_topic"] = True
        if element.tag == "DescriptorName":
            entry["descriptor_name"] = text_of(element)
            entries.append(entry)
        elif entries:
            entry["name"] = text_of(element)
            last = entries[-1]
            if "qualifiers" in last:
                last["qualifiers"].append(entry)
            else:
                last["qualifiers"] = [entry]
    return _TERMS.validate_python(entries)


def look_up(section: bytes) -> list[MeshTerm]:
    """Read a MeshHeadingList from its bytes, and parse only headings not met before.

    A heading's bytes are its key, so those that are known need no second parsing.

    Raises:
        etree.XMLSyntaxError: the list is not well-formed.
    """
    *headings, rest = section.split(_END)
    if not headings or rest.strip() != _LIST_END:
        return read(etree.XML(section))
    headings[0] = headings[0].removeprefix(_LIST)
    terms = [_known.get(heading) for heading in headings]
    if None in terms:
        missing = list({heading: None for heading, term in zip(headings, terms, strict=True) if term is None})
        parsed = read(etree.XML(b"".join([_LIST, *(heading + _END for heading in missing), _LIST_END])))
        if len(parsed) != len(missing) or not all(heading.lstrip().startswith(_BEGIN) for heading in missing):
            return read(etree.XML(section))
        found = dict(zip(missing, parsed, strict=True))
        for heading, term in found.items():
            _known.put(heading, term)
        terms = [term or found[heading] for heading, term in zip(headings, terms, strict=True)]
    return terms  # type: ignore[return-value]  # no None is left among them


class _KnownHeading:
    """Headings met lately, in two generations: when the younger one is full, it becomes the older one."""

    def __init__(self) -> None:
        self._young: dict[bytes, MeshTerm] = {}
        self._old: dict[bytes, MeshTerm] = {}

    def get(self, heading: bytes) -> MeshTerm | None:
        term = self._young.get(heading)
        if term is None:
            term = self._old.get(heading)
            if term is not None:
                self.put(heading, term)
        return term

    def put(self, heading: bytes, term: MeshTerm) -> None:
        if len(self._young) >= KEPT:
            self._old, self._young = self._young, {}
        self._young[heading] = term

    def clear(self) -> None:
        self._old, self._young = {}, {}


_known: Final = _KnownHeading()
