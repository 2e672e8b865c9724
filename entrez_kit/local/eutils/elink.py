"""ELink: links between records."""

from collections.abc import Sequence
from typing import Any, Final

from entrez_kit.local.eutils.database import BadRequest, Database, LinkInfo
from entrez_kit.local.eutils.replies import (
    ELINK_PROLOG,
    Items,
    LocalReply,
    answer_json,
    answer_xml,
    to_elements,
    to_json,
)
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState

COMMANDS: Final = ("neighbor", "neighbor_score", "neighbor_history", "acheck", "ncheck", "lcheck", "llinks", "prlinks")
Found = list[tuple[LinkInfo, list[tuple[str, int]]]]


def answer_elink(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an ELink request with one link set for each ``id`` parameter, which may contain several ids."""
    mode = request.retmode
    database = state.find_database(request, "dbfrom")
    source = database.name
    command = request.get("cmd").lower() or "neighbor"
    if command not in COMMANDS:
        raise BadRequest(f"Unknown command: {command}")
    groups = [value.replace(",", " ").split() for value in request.get_all("id")]
    groups = [group for group in groups if group]
    if not groups and request.get("WebEnv"):
        groups = [list(state.get_stored_ids(request, database)[:1000])]
    if not groups:
        raise BadRequest("Empty id list - nothing todo")
    wanted = _select_links(database, request.get("db").lower() or source, request.get("linkname"), command)
    canonical = [[uid for one in group if (uid := database.to_canonical(one)) is not None] for group in groups]
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
    linksets: list[dict[str, Any]] = []
    for group, found in sets:
        shown = [(_name_link(link), [_show_pair(*pair, scores) for pair in pairs]) for link, pairs in found]
        if mode == "json":
            plain = [[to_json(pair) if scores else pair["Id"] for pair in pairs] for _, pairs in shown]
            named = [{**to_json(link), "links": pairs} for (link, _), pairs in zip(shown, plain, strict=True)]
            linksets.append({"dbfrom": source, "ids": group, **({"linksetdbs": named} if named else {})})
        else:
            listed = [{**link, "Link": pairs} for link, pairs in shown]
            linksets.append({"DbFrom": source, "IdList": Items("Id", group), "LinkSetDb": listed})
    return _answer(linksets, mode)


def _name_link(link: LinkInfo) -> dict[str, str]:
    return {"DbTo": link.target, "LinkName": link.name}


def _show_pair(uid: str, score: int, scored: bool) -> dict[str, str]:
    return {"Id": uid, "Score": str(score)} if scored else {"Id": uid}


def _answer_history(state: LocalState, source: str, sets: Sequence[tuple[list[str], Found]], mode: str) -> LocalReply:
    linksets: list[dict[str, Any]] = []
    environment: str | None = None
    for group, found in sets:
        kept = []
        for link, pairs in found:
            environment, key = state.history.store(link.target, [uid for uid, _ in pairs], environment)
            kept.append({**_name_link(link), "QueryKey": str(key)})
        if mode == "json":
            stored = {"linksetdbhistories": [to_json(one) for one in kept], "webenv": environment} if kept else {}
            linksets.append({"dbfrom": source, "ids": group, **stored})
        else:
            named: dict[str, Any] = {"LinkSetDbHistory": kept, **({"WebEnv": environment} if kept else {})}
            linksets.append({"DbFrom": source, "IdList": Items("Id", group), **named})
    return _answer(linksets, mode)


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
                listed = [_describe(link) for link in present]
                parts.append(to_elements({"IdLinkSet": {"Id": uid, "LinkInfo": listed}}, 2))
                entries.append({"id": uid, "linkinfos": [to_json(one) for one in listed]})
            else:
                flag = "HasNeighbor" if command == "ncheck" else "HasLinkOut"
                answer = "Y" if present else "N"
                parts.append(f'\t\t<Id {flag}="{answer}">{uid}</Id>\n')
                entries.append({"value": uid, flag.lower(): answer})
        parts.append("\t</IdCheckList>\n</LinkSet>\n")
        key = "idlinksets" if command == "acheck" else "ids"
        linksets.append({"dbfrom": database.name, "idchecklist": {key: entries}})
    return _answer(linksets if mode == "json" else parts, mode)


def _describe(link: LinkInfo) -> dict[str, str]:
    return {**_name_link(link), "MenuTag": link.menu, "HtmlTag": link.menu, "Priority": str(link.priority)}


def _answer_without_links(source: str, groups: Sequence[Sequence[str]], mode: str) -> LocalReply:
    """Answer that no record has links to a publisher, because the records are invented."""
    if mode == "json":
        return _answer(
            [{"dbfrom": source, "idurllist": [{"id": uid, "info": "No links"} for uid in group]} for group in groups],
            mode,
        )
    parts = []
    for group in groups:
        inner = "".join(f"<IdUrlSet>\n\t<Id>{uid}</Id>\n\t<Info>No links</Info>\n</IdUrlSet>\n" for uid in group)
        parts.append(f"<LinkSet><DbFrom>{source}</DbFrom><IdUrlList>{inner}</IdUrlList></LinkSet>\n")
    return _answer(parts, mode)


def _answer(linksets: Sequence[Any], mode: str) -> LocalReply:
    """Answer with link sets: their JSON, their elements, or their XML."""
    if mode == "json":
        return answer_json({"header": {"type": "elink", "version": "0.3"}, "linksets": linksets})
    parts = [linkset if isinstance(linkset, str) else to_elements({"LinkSet": linkset}, 0) for linkset in linksets]
    return answer_xml(f"{ELINK_PROLOG}<eLinkResult>\n\n{''.join(parts)}\n</eLinkResult>\n")
