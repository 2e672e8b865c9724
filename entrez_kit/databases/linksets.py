"""What ELink answers: neighbours, with scores or without."""

from dataclasses import dataclass, field
from typing import Any, Final

from entrez_kit.services.known_shapes import XmlShape, notice
from entrez_kit.services.xml_reply import malformed, parse_reply, text_of, whole_number

ELINK: Final = XmlShape("ELink", "elink.dtd", due={"LinkSet": "DbFrom", "LinkSetDb": "DbTo LinkName", "Link": "Id"})


@dataclass(frozen=True, slots=True)
class RawLink:
    """One linked record; the score is NCBI's own, on no fixed scale."""

    id: str
    link_name: str
    db_to: str
    score: int | None = None


@dataclass(slots=True)
class RawLinkSet:
    """What one LinkSet says about its source records; ``ids`` are several where they were sent in one id parameter."""

    db_from: str
    ids: list[str] = field(default_factory=list)
    links: list[RawLink] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def parse_linksets(content: bytes) -> list[RawLinkSet]:
    """Parse an ELink reply in XML, one entry per LinkSet, in the order of the reply.

    Raises:
        UpstreamError: the reply is not an ELink result, or has links without ids.
    """
    root = parse_reply(content, "elink", "eLinkResult")
    notice(ELINK, content)
    return [_linkset(element) for element in root.iterfind("LinkSet")]


def _linkset(element: Any) -> RawLinkSet:
    linkset = RawLinkSet(db_from=text_of(element, "DbFrom") or "")
    linkset.ids = [(source.text or "").strip() for source in element.iterfind("IdList/Id")]
    for group in element.iterfind("LinkSetDb"):
        db_to, name = text_of(group, "DbTo") or "", text_of(group, "LinkName") or ""
        links = [
            RawLink(text_of(link, "Id") or "", name, db_to, whole_number(link.findtext("Score")))
            for link in group.iterfind("Link")
        ]
        if links and not any(link.id for link in links):
            raise malformed("elink", "links without ids")
        linkset.links += links
        linkset.errors += [text for error in group.iterfind("ERROR") if (text := (error.text or "").strip())]
    linkset.errors += [text for error in element.iterfind("ERROR") if (text := (error.text or "").strip())]
    return linkset
