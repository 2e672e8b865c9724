"""What ELink answers, in each of its forms: neighbours, scores, history keys, checks and addresses."""

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


@dataclass(frozen=True, slots=True)
class LinkKind:
    """A kind of link a record has (acheck)."""

    db_to: str
    link_name: str
    menu_tag: str | None
    html_tag: str | None
    priority: int | None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class LinkOut:
    """An address outside NCBI (llinks, prlinks)."""

    url: str
    provider: str | None
    provider_abbreviation: str | None
    categories: tuple[str, ...]
    attributes: tuple[str, ...]
    link_name: str | None = None
    subject_types: tuple[str, ...] = ()


@dataclass(slots=True)
class RawLinkSet:
    """What one LinkSet says about its source records; ``ids`` are several where they were sent in one id parameter."""

    db_from: str
    ids: list[str] = field(default_factory=list)
    links: list[RawLink] = field(default_factory=list)
    empty_link_names: list[str] = field(default_factory=list)
    history: dict[str, str] = field(default_factory=dict)
    web_env: str | None = None
    has_linkout: dict[str, bool] = field(default_factory=dict)
    has_neighbor: dict[str, bool] = field(default_factory=dict)
    kinds: dict[str, list[LinkKind]] = field(default_factory=dict)
    addresses: dict[str, list[LinkOut]] = field(default_factory=dict)
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
    linkset = RawLinkSet(db_from=text_of(element, "DbFrom") or "", web_env=text_of(element, "WebEnv"))
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
        if not links:
            linkset.empty_link_names.append(name)
        linkset.errors += [text for error in group.iterfind("ERROR") if (text := (error.text or "").strip())]
    for group in element.iterfind("LinkSetDbHistory"):
        linkname, key = text_of(group, "LinkName"), text_of(group, "QueryKey")
        if linkname and key:
            linkset.history[linkname] = key
    for checked in element.iterfind("IdCheckList/Id"):
        uid = (checked.text or "").strip()
        if checked.get("HasLinkOut"):
            linkset.has_linkout[uid] = checked.get("HasLinkOut") == "Y"
        if checked.get("HasNeighbor"):
            linkset.has_neighbor[uid] = checked.get("HasNeighbor") == "Y"
    for group in element.iterfind("IdCheckList/IdLinkSet"):
        linkset.kinds[text_of(group, "Id") or ""] = [_kind(info) for info in group.iterfind("LinkInfo")]
    for group in element.iterfind("IdUrlList/IdUrlSet"):
        linkset.addresses[text_of(group, "Id") or ""] = [_address(url) for url in group.iterfind("ObjUrl")]
    linkset.errors += [text for error in element.iterfind("ERROR") if (text := (error.text or "").strip())]
    linkset.ids = linkset.ids or list(linkset.has_linkout or linkset.has_neighbor or linkset.kinds or linkset.addresses)
    return linkset


def _kind(info: Any) -> LinkKind:
    return LinkKind(
        db_to=text_of(info, "DbTo") or "",
        link_name=text_of(info, "LinkName") or "",
        menu_tag=text_of(info, "MenuTag"),
        html_tag=text_of(info, "HtmlTag"),
        priority=whole_number(info.findtext("Priority")),
        url=text_of(info, "Url"),
    )


def _address(element: Any) -> LinkOut:
    def texts(path: str) -> tuple[str, ...]:
        return tuple(text for item in element.iterfind(path) if (text := (item.text or "").strip()))

    return LinkOut(
        url=text_of(element, "Url") or "",
        provider=text_of(element, "Provider/Name"),
        provider_abbreviation=text_of(element, "Provider/NameAbbr"),
        categories=texts("Category"),
        attributes=texts("Attribute"),
        link_name=text_of(element, "LinkName"),
        subject_types=texts("SubjectType"),
    )
