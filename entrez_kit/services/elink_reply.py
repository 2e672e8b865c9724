"""Replies of ELink: linked records, with or without scores."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from entrez_kit.base.errors import UpstreamError
from entrez_kit.services.known_shapes import XmlShape, log_drift
from entrez_kit.services.small_replies import (
    get_text,
    incomplete_reply_error,
    is_uid,
    malformed_error,
    parse_reply,
    read_whole_number,
)

_UID: Final = re.compile(r"[0-9]+")
ELINK: Final = XmlShape(
    "ELink", "elink.dtd", required={"LinkSet": "DbFrom", "LinkSetDb": "DbTo LinkName", "Link": "Id"}
)


@dataclass(frozen=True, slots=True)
class RawLink:
    """One linked record; the score is from NCBI and has no fixed scale."""

    id: str
    link_name: str
    db_to: str
    score: int | None = None

    @property
    def has_target(self) -> bool:
        """Whether the id names a record; NCBI writes 0 if it does not."""
        return bool(int(self.id))


@dataclass(slots=True)
class RawLinkSet:
    """One LinkSet: the links of its source records. It has several ``ids`` if one id parameter had several."""

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
    log_drift(ELINK, content)
    return [_read_linkset(element) for element in root.iterfind("LinkSet")]


def group_links_by_source(
    content: bytes, sources: Collection[str], is_wanted: Callable[[RawLink], bool]
) -> tuple[dict[str, list[RawLink]], list[str]]:
    """Return the links of each source without duplicates, and NCBI's error messages. The link sets may be in any order.

    A link set with an error message is ignored.

    Args:
        content: the reply.
        sources: the UIDs that the request names.
        is_wanted: whether a link is kept.

    Raises:
        UpstreamError: the reply is not an ELink result, is about other sources, or merges the links of several.
    """
    found: dict[str, dict[tuple[str, str, str], RawLink]] = {}
    errors: list[str] = []
    for linkset in parse_linksets(content):
        if len(linkset.ids) > 1:
            raise UpstreamError(
                "NCBI merged the links of several records, so they cannot be separated.",
                details={"reason": "invalid_response", "endpoint": "elink"},
            )
        if foreign := [source for source in linkset.ids if source not in sources]:
            raise malformed_error("elink", f"links of {foreign[0]}, which was not requested")
        errors += linkset.errors
        if linkset.ids and not linkset.errors:
            links_of_id = found.setdefault(linkset.ids[0], {})
            for link in filter(is_wanted, linkset.links):
                links_of_id.setdefault((link.id, link.link_name, link.db_to), link)
    return {source: list(links.values()) for source, links in found.items()}, errors


def check_sources(content: bytes, ids: Sequence[str]) -> bytes:
    """Return an ELink reply, which must name each of the ids whose links it has.

    A reply with link sets that name no source is returned too: they have error messages.

    Raises:
        IncompleteReply: some ids are missing.
    """
    linksets: Any
    if content.lstrip()[:1] == b"{":
        linksets = json.loads(content).get("linksets")
        named = set(_yield_json_sources(linksets))
    else:
        linksets = parse_reply(content, "elink", "eLinkResult")
        named = {(source.text or "").strip() for source in linksets.iter("Id") if source.getparent().tag != "Link"}
    expected = {str(int(uid)) for uid in ids} if all(map(is_uid, ids)) else set()
    if (named or not len(linksets)) and (missing := expected - named):
        raise incomplete_reply_error("elink", f"it has no result for {min(missing)}", content, content)
    return content


def _yield_json_sources(value: Any) -> Iterator[str]:
    """Yield the ids in link sets in JSON, without those of linked records."""
    if isinstance(value, list):
        for item in value:
            yield from _yield_json_sources(item)
    elif isinstance(value, dict):
        yield from (str(uid) for uid in (*(value.get("ids") or ()), value.get("id")) if uid)
        for name, part in value.items():
            if name != "links":
                yield from _yield_json_sources(part)


def not_followed_error(problem: str) -> UpstreamError:
    """Return the error for links that NCBI reports it cannot follow."""
    return UpstreamError(
        f"NCBI could not follow the links: {problem}", details={"reason": "backend_error", "endpoint": "elink"}
    )


def _read_linkset(element: Any) -> RawLinkSet:
    linkset = RawLinkSet(db_from=get_text(element, "DbFrom") or "")
    linkset.ids = [(source.text or "").strip() for source in element.iterfind("IdList/Id")]
    for group in element.iterfind("LinkSetDb"):
        db_to, name = get_text(group, "DbTo") or "", get_text(group, "LinkName") or ""
        links = [
            RawLink(get_text(link, "Id") or "", name, db_to, read_whole_number(link.findtext("Score")))
            for link in group.iterfind("Link")
        ]
        wrong = next((link.id for link in links if not _UID.fullmatch(link.id)), None)
        if wrong is not None:
            raise malformed_error("elink", f"{wrong[:40]!r} is not an id")
        targets = [link.id for link in links if link.has_target]
        if len(set(targets)) < len(targets):
            raise malformed_error("elink", "a link that is listed twice")
        linkset.links += links
        linkset.errors += [text for error in group.iterfind("ERROR") if (text := (error.text or "").strip())]
    linkset.errors += [text for error in element.iterfind("ERROR") if (text := (error.text or "").strip())]
    return linkset
