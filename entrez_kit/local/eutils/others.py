"""EPost, ESpell, EGQuery, EInfo and ECitMatch."""

import re
from datetime import date
from typing import Any, Final

from entrez_kit.local.eutils.database import BadRequest, Database, SearchCall
from entrez_kit.local.eutils.replies import Items, LocalReply, answer_text, answer_values, answer_xml, to_elements
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.local.eutils.spelling import suggest_word
from entrez_kit.local.records.text import escape_xml
from entrez_kit.query import dates
from entrez_kit.query.lexer import OPERATORS
from entrez_kit.query.printing import print_day
from entrez_kit.query.words import fold

_TAG: Final = re.compile(r"\[[^\[\]]*+\]")


def answer_epost(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an EPost request: store ids on the history server without checking that the records exist."""
    database = state.find_database(request)
    if not request.ids:
        raise BadRequest("Empty ID list; Nothing to store")
    good = {uid: None for text in request.ids if (uid := database.to_canonical(text)) is not None}
    bad = [text for text in request.ids if database.to_canonical(text) is None]
    values: dict[str, Any] = {"InvalidIdList": Items("Id", bad)} if bad else {}
    if good:
        environment, key = state.history.store(database.name, list(good), request.get("WebEnv") or None)
        values |= {"QueryKey": str(key), "WebEnv": environment}
    else:
        values["ERROR"] = "IDs contain invalid characters which was treated as delimiters."
    return answer_values("epost", values, "xml")


def answer_espell(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an ESpell request with words of the database."""
    name = request.get("db").lower() or "pubmed"
    term = request.get("term")
    database = state.databases.get(name)
    corrected, pieces = _correct(term, database) if database is not None else ("", "")
    return answer_xml(
        '<?xml version="1.0"?>\n<!DOCTYPE eSpellResult PUBLIC "-//NLM//DTD eSpellResult, 23 November 2004//EN" '
        '"https://www.ncbi.nlm.nih.gov/entrez/query/DTD/eSpell.dtd">\n'
        f"<eSpellResult>\n\t<Database>{escape_xml(name)}</Database>\n\t<Query>{escape_xml(term)}</Query>\n"
        f"\t<CorrectedQuery>{escape_xml(corrected)}</CorrectedQuery>\n\t<SpelledQuery>{pieces}</SpelledQuery>\n"
        "\t<ERROR/>\n</eSpellResult>\n"
    )


def _correct(term: str, database: Database) -> tuple[str, str]:
    """Return the corrected query and its parts as XML; empty strings if there is nothing to correct."""
    corrected, pieces, unchanged = "", "", ""
    changed = False
    # Field tags and operators are not changed; quoted words are corrected like others.
    for match in re.finditer(rf"{_TAG.pattern}|[^\W\d_]+|.", term, re.DOTALL):
        part = match.group()
        better = suggest_word(fold(part), database.count_words()) if part.isalpha() and part not in OPERATORS else None
        if better is None:
            unchanged += part
            corrected += part
            continue
        changed = True
        if unchanged:
            pieces += f"<Original>{escape_xml(unchanged)}</Original>"
            unchanged = ""
        pieces += f"<Replaced>{escape_xml(better)}</Replaced>"
        corrected += better
    if unchanged and changed:
        pieces += f"<Original>{escape_xml(unchanged)}</Original>"
    return (corrected, pieces) if changed else ("", "")


def answer_egquery(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an EGQuery request: the number of hits of one query in every database."""
    term = request.get("term")
    items: list[dict[str, Any]] = []
    menus = {**state.menus} | {name: database.menu for name, database in state.databases.items()}
    for name, menu in menus.items():
        count, status = 0, "Term or Database is not found"
        database = state.databases.get(name)
        if database is not None and term:
            try:
                count = len(database.search(SearchCall(term, ordered=0)).ids)
            except BadRequest:
                status = "Error"
            else:
                status = "Ok" if count else status
        items.append({"DbName": name, "MenuName": menu, "Count": count, "Status": status})
    elements = to_elements({"Term": term, "eGQueryResult": Items("ResultItem", items)}, 1)
    return answer_xml(
        '<?xml version="1.0"?>\n<!DOCTYPE Result PUBLIC "-//NLM//DTD eSearchResult, January 2004//EN" '
        f'"https://www.ncbi.nlm.nih.gov/entrez/query/DTD/egquery.dtd">\n<Result>\n{elements}</Result>\n'
    )


def answer_einfo(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an EInfo request with the list of databases, or the fields and links of one database."""
    name = request.get("db").lower()
    if not name:
        return answer_values("einfo", {"DbList": Items("DbName", state.databases)}, request.retmode)
    database = state.databases.get(name)
    if database is None:
        raise BadRequest(f"Can not retrieve DbInfo for db={name}")
    return answer_values("einfo", {"DbInfo": [_describe(database)]}, request.retmode)


def _describe(database: Database) -> dict[str, Any]:
    fields = [
        {
            "Name": field.code,
            "FullName": field.label,
            "Description": field.description,
            "TermCount": str(count),
            "IsDate": _format_flag(field.kind == "date"),
            "IsNumerical": _format_flag(field.kind == "uid"),
            "SingleToken": _format_flag(field.kind != "text"),
            "Hierarchy": _format_flag(field.kind == "mesh"),
            "IsHidden": _format_flag(field.hidden),
        }
        for field, count in database.list_fields()
    ]
    links = [
        {"Name": link.name, "Menu": link.menu, "Description": link.description, "DbTo": link.target}
        for link in database.links
    ]
    return {
        "DbName": database.name,
        "MenuName": database.menu,
        "Description": database.description,
        "DbBuild": database.build,
        "Count": str(database.count),
        "LastUpdate": f"{print_day(dates.to_number(database.updated or date.today()))} 00:00",
        "FieldList": Items("Field", fields),
        "LinkList": Items("Link", links),
    }


def _format_flag(flag: bool) -> str:
    return "Y" if flag else "N"


def answer_ecitmatch(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an ECitMatch request: each line ``journal|year|volume|page|author|key|`` is returned with its PMID.

    As at NCBI, a line with fewer than five bars is omitted from the answer, and the answer ends before a line without a
    journal that matches no record.
    """
    answers = []
    for line in re.split(r"[\r\n]+", request.get("bdata")):
        parts = line.split("|")
        if len(parts) < 6:
            continue
        pmids = state.pubmed.match(*parts[:5])
        if not pmids and not parts[0].strip():
            break
        if not pmids:
            verdict = "NOT_FOUND" if state.pubmed.knows_journal(parts[0]) else "NOT_FOUND;INVALID_JOURNAL"
        elif len(pmids) == 1:
            verdict = pmids[0]
        else:
            verdict = f"AMBIGUOUS {','.join(pmids[:20])}"
        answers.append("|".join([*parts[:6], verdict]))
    return answer_text("".join(f"{answer}\n" for answer in answers))
