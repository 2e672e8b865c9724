"""ELink: links between records."""

from collections.abc import Sequence
from typing import Any, Final

from entrez_kit.local.eutils.database import Database, LinkInfo
from entrez_kit.local.eutils.replies import ELINK_PROLOG, LocalReply, document, failure, xml
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.local.records.text import xml_text

COMMANDS: Final = ("neighbor", "neighbor_score", "neighbor_history", "acheck", "ncheck", "lcheck", "llinks", "prlinks")
_HEADER: Final = {"type": "elink", "version": "0.3"}
Found = list[tuple[LinkInfo, list[tuple[str, int]]]]


def elink(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an ELink request with one link set for each ``id`` parameter, which may contain several ids."""
    mode = request.retmode
    source = request.get("dbfrom").lower() or "pubmed"
    database = state.databases.get(source)
    if database is None:
        return failure("elink", f"Invalid db name specified: {source}", retmode=mode)
    command = request.get("cmd").lower() or "neighbor"
    if command not in COMMANDS:
        return failure("elink", f"Unknown command: {command}", retmode=mode)
    groups = [value.replace(",", " ").split() for value in request.every("id")]
    groups = [group for group in groups if group]
    if not groups and request.get("WebEnv"):
        stored = state.recall_set(request)
        if stored is None or stored.database != source:
            return failure("elink", f"Unable to obtain query #{request.get('query_key') or '0'}", retmode=mode)
        groups = [list(stored.ids[:1000])]
    if not groups:
        return failure("elink", "Empty id list - nothing todo", retmode=mode)
    wanted = _select_links(database, request.get("db").lower() or source, request.get("linkname"), command)
    canonical = [[uid for one in group if (uid := database.canonical(one)) is not None] for group in groups]
    if command in ("llinks", "prlinks"):
        return _answer_without_links(source, canonical, mode)
    if command.endswith("check"):
        return _check_links(database, canonical, wanted, command, mode)
    sets = [(group, _find_links(database, wanted, group, scored=command != "neighbor")) for group in canonical]
    if command == "neighbor_history":
        return _answer_history(state, source, sets, mode)
    return _answer_neighbors(source, sets, mode, scores=command == "neighbor_score")


def _select_links(database: Database, target: str, name: str, command: str) -> list[LinkInfo]:
    if name:
        names = name.split(",")
        return [link for link in database.links if link.name in names]
    if command == "acheck" or target == "all":
        return list(database.links)
    return [link for link in database.links if link.target in target.split(",")]


def _find_links(database: Database, wanted: Sequence[LinkInfo], group: Sequence[str], *, scored: bool) -> Found:
    found: Found = []
    for link in wanted:
        best: dict[str, int] = {}
        for uid in group:
            for other, score in database.find_links(link.name, uid):
                best[other] = max(score, best.get(other, 0))
        if best:
            pairs = sorted(best.items(), key=lambda pair: -int(pair[0]) if pair[0].isdigit() else 0)
            # NCBI sorts the links of one record by score, and the merged links of several records by descending id.
            found.append((link, sorted(pairs, key=lambda pair: -pair[1]) if scored or len(group) == 1 else pairs))
    return found


def _answer_neighbors(source: str, sets: Sequence[tuple[list[str], Found]], mode: str, *, scores: bool) -> LocalReply:
    if mode == "json":
        linksets: list[dict[str, Any]] = []
        for group, found in sets:
            one: dict[str, Any] = {"dbfrom": source, "ids": group}
            if found:
                one["linksetdbs"] = [
                    {
                        "dbto": link.target,
                        "linkname": link.name,
                        "links": [{"id": uid, "score": str(score)} for uid, score in pairs]
                        if scores
                        else [uid for uid, _ in pairs],
                    }
                    for link, pairs in found
                ]
            linksets.append(one)
        return document({"header": _HEADER, "linksets": linksets})
    parts = []
    for group, found in sets:
        parts.append(_open_link_set(source, group))
        for link, pairs in found:
            parts.append(f"\t<LinkSetDb>\n\t\t<DbTo>{link.target}</DbTo>\n\t\t<LinkName>{link.name}</LinkName>\n")
            for uid, score in pairs:
                scored = f"\t\t\t<Score>{score}</Score>\n" if scores else ""
                parts.append(f"\t\t<Link>\n\t\t\t<Id>{xml_text(uid)}</Id>\n{scored}\t\t</Link>\n")
            parts.append("\t</LinkSetDb>\n")
        parts.append("</LinkSet>\n")
    return _wrap_result(parts)


def _answer_history(state: LocalState, source: str, sets: Sequence[tuple[list[str], Found]], mode: str) -> LocalReply:
    linksets: list[dict[str, Any]] = []
    parts = []
    environment: str | None = None
    for group, found in sets:
        parts.append(_open_link_set(source, group))
        kept = []
        for link, pairs in found:
            environment, key = state.history.store(link.target, [uid for uid, _ in pairs], environment)
            kept.append({"dbto": link.target, "linkname": link.name, "querykey": str(key)})
            parts.append(
                f"\t<LinkSetDbHistory>\n\t\t<DbTo>{link.target}</DbTo>\n\t\t<LinkName>{link.name}</LinkName>\n"
                f"\t\t<QueryKey>{key}</QueryKey>\n\t</LinkSetDbHistory>\n"
            )
        one: dict[str, Any] = {"dbfrom": source, "ids": group}
        if kept and environment:
            one |= {"linksetdbhistories": kept, "webenv": environment}
            parts.append(f"\t<WebEnv>{environment}</WebEnv>\n")
        linksets.append(one)
        parts.append("</LinkSet>\n")
    if mode == "json":
        return document({"header": _HEADER, "linksets": linksets})
    return _wrap_result(parts)


def _check_links(
    database: Database, groups: Sequence[Sequence[str]], wanted: Sequence[LinkInfo], command: str, mode: str
) -> LocalReply:
    """List the links of each record (acheck), or report whether it has any (ncheck, lcheck).

    There are no outside links, so lcheck always reports none.
    """
    linksets: list[dict[str, Any]] = []
    parts = []
    for group in groups:
        parts.append(f"<LinkSet>\n\t<DbFrom>{database.name}</DbFrom>\n\t<IdCheckList>\n")
        entries: list[dict[str, Any]] = []
        for uid in group:
            present = [] if command == "lcheck" else [link for link in wanted if database.find_links(link.name, uid)]
            if command == "acheck":
                parts.append(
                    f"\t\t<IdLinkSet>\n\t\t\t<Id>{uid}</Id>\n{''.join(_render_info(link) for link in present)}"
                )
                parts.append("\t\t</IdLinkSet>\n")
                entries.append({"id": uid, "linkinfos": [_build_info(link) for link in present]})
            else:
                flag = "HasNeighbor" if command == "ncheck" else "HasLinkOut"
                answer = "Y" if present else "N"
                parts.append(f'\t\t<Id {flag}="{answer}">{uid}</Id>\n')
                entries.append({"value": uid, flag.lower(): answer})
        parts.append("\t</IdCheckList>\n</LinkSet>\n")
        key = "idlinksets" if command == "acheck" else "ids"
        linksets.append({"dbfrom": database.name, "idchecklist": {key: entries}})
    if mode == "json":
        return document({"header": _HEADER, "linksets": linksets})
    return _wrap_result(parts)


def _render_info(link: LinkInfo) -> str:
    return (
        f"\t\t\t<LinkInfo>\n\t\t\t\t<DbTo>{link.target}</DbTo>\n\t\t\t\t<LinkName>{link.name}</LinkName>\n"
        f"\t\t\t\t<MenuTag>{xml_text(link.menu)}</MenuTag>\n\t\t\t\t<HtmlTag>{xml_text(link.menu)}</HtmlTag>\n"
        f"\t\t\t\t<Priority>{link.priority}</Priority>\n\t\t\t</LinkInfo>\n"
    )


def _build_info(link: LinkInfo) -> dict[str, str]:
    return {
        "dbto": link.target,
        "linkname": link.name,
        "menutag": link.menu,
        "htmltag": link.menu,
        "priority": str(link.priority),
    }


def _answer_without_links(source: str, groups: Sequence[Sequence[str]], mode: str) -> LocalReply:
    """Answer that no record has links to a publisher, because the records are invented."""
    if mode == "json":
        sets = [{"dbfrom": source, "idurllist": [{"id": uid, "info": "No links"} for uid in group]} for group in groups]
        return document({"header": _HEADER, "linksets": sets})
    parts = []
    for group in groups:
        inner = "".join(f"<IdUrlSet>\n\t<Id>{uid}</Id>\n\t<Info>No links</Info>\n</IdUrlSet>\n" for uid in group)
        parts.append(f"<LinkSet><DbFrom>{source}</DbFrom><IdUrlList>{inner}</IdUrlList></LinkSet>\n")
    return _wrap_result(parts)


def _open_link_set(source: str, group: Sequence[str]) -> str:
    ids = "".join(f"\t\t<Id>{uid}</Id>\n" for uid in group)
    return f"<LinkSet>\n\t<DbFrom>{source}</DbFrom>\n\t<IdList>\n{ids}\t</IdList>\n"


def _wrap_result(parts: Sequence[str]) -> LocalReply:
    return xml(f"{ELINK_PROLOG}<eLinkResult>\n\n{''.join(parts)}\n</eLinkResult>\n")
