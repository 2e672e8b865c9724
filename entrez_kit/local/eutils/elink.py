"""ELink: links between records."""

from collections.abc import Sequence
from typing import Any, Final

from entrez_kit.local.eutils.database import BadRequest, Database, LinkInfo
from entrez_kit.local.eutils.replies import Items, LocalReply, answer_values
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState

COMMANDS: Final = ("neighbor", "neighbor_score", "neighbor_history", "acheck", "ncheck", "lcheck", "llinks", "prlinks")
FoundLinks = list[tuple[LinkInfo, list[tuple[str, int]]]]


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
    selected_links = _select_links(database, request.get("db").lower() or source, request.get("linkname"), command)
    canonical = [[uid for text in group if (uid := database.to_canonical(text)) is not None] for group in groups]
    if command in ("llinks", "prlinks"):  # the records are invented, so none has links to a publisher
        linksets: list[dict[str, Any]] = [
            {"IdUrlList": Items("IdUrlSet", _list_no_links(group))} for group in canonical
        ]
    elif command.endswith("check"):
        linksets = [{"IdCheckList": _check_links(database, group, selected_links, command)} for group in canonical]
    else:
        scored = command != "neighbor"
        sets = [(group, _find_links(database, selected_links, group, scored=scored)) for group in canonical]
        stored_sets = _store_links(state, sets) if command == "neighbor_history" else None
        known = stored_sets or [_list_neighbors(found, scored, mode) for _, found in sets]
        ids = "Ids" if mode == "json" else "IdList"
        linksets = [{ids: Items("Id", group), **part} for group, part in zip(canonical, known, strict=True)]
    return answer_values("elink", {"LinkSet": [{"DbFrom": source, **linkset} for linkset in linksets]}, mode)


def _select_links(database: Database, target: str, name: str, command: str) -> list[LinkInfo]:
    if name:
        names = name.split(",")
        return [link for link in database.links if link.name in names]
    if command == "acheck" or target == "all":
        return list(database.links)
    return [link for link in database.links if link.target in target.split(",")]


def _find_links(database: Database, links: Sequence[LinkInfo], group: Sequence[str], *, scored: bool) -> FoundLinks:
    found_links: FoundLinks = []
    for link in links:
        best: dict[str, int] = {}
        for uid in group:
            for other, score in database.find_links(link.name, uid):
                best[other] = max(score, best.get(other, 0))
        if best:
            pairs = sorted(best.items(), key=lambda pair: -int(pair[0]) if pair[0].isdigit() else 0)
            # NCBI sorts the links of one record by score, and the merged links of several records by descending id.
            found_links.append((link, sorted(pairs, key=lambda pair: -pair[1]) if scored or len(group) == 1 else pairs))
    return found_links


def _list_neighbors(found_links: FoundLinks, scored: bool, mode: str) -> dict[str, Any]:
    """Return the links of one set. JSON has only the id of a link without score."""
    linksets: list[dict[str, Any]] = []
    for link, pairs in found_links:
        links: list[Any] = [{"Id": uid, "Score": str(score)} if scored else {"Id": uid} for uid, score in pairs]
        if mode == "json" and not scored:
            links = [uid for uid, _ in pairs]
        linksets.append({**_name_link(link), "Link": links})
    return {"LinkSetDb": linksets} if linksets else {}


def _name_link(link: LinkInfo) -> dict[str, str]:
    return {"DbTo": link.target, "LinkName": link.name}


def _store_links(state: LocalState, sets: Sequence[tuple[list[str], FoundLinks]]) -> list[dict[str, Any]]:
    """Store the linked ids on the history server; return the keys of each set."""
    environment: str | None = None
    stored: list[dict[str, Any]] = []
    for _, found in sets:
        keys = []
        for link, pairs in found:
            environment, key = state.history.store(link.target, [uid for uid, _ in pairs], environment)
            keys.append({**_name_link(link), "QueryKey": str(key)})
        stored.append({"LinkSetDbHistory": keys, "WebEnv": environment} if keys else {})
    return stored


def _list_no_links(group: Sequence[str]) -> list[dict[str, str]]:
    return [{"Id": uid, "Info": "No links"} for uid in group]


def _check_links(
    database: Database, group: Sequence[str], links: Sequence[LinkInfo], command: str
) -> dict[str, list[dict[str, Any]]]:
    """Return the links of each record (acheck), or whether it has any (ncheck, lcheck).

    There are no outside links, so lcheck always reports none.
    """
    entries: list[dict[str, Any]] = []
    for uid in group:
        present = [] if command == "lcheck" else [link for link in links if database.find_links(link.name, uid)]
        if command == "acheck":
            entries.append({"Id": uid, "LinkInfo": [_describe(link) for link in present]})
        else:
            flag = "HasNeighbor" if command == "ncheck" else "HasLinkOut"
            entries.append({"value": uid, flag: "Y" if present else "N"})
    return {"IdLinkSet" if command == "acheck" else "Id": entries}


def _describe(link: LinkInfo) -> dict[str, str]:
    return {**_name_link(link), "MenuTag": link.menu, "HtmlTag": link.menu, "Priority": str(link.priority)}
