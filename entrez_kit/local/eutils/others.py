"""EPost, ESpell, EGQuery, EInfo and ECitMatch."""

import re
from datetime import date
from typing import Any, Final

from entrez_kit.local.eutils.database import BadRequest, Database, SearchCall
from entrez_kit.local.eutils.replies import (
    EINFO_PROLOG,
    EPOST_PROLOG,
    Items,
    LocalReply,
    answer_json,
    answer_text,
    answer_xml,
    to_elements,
    to_json,
)
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.local.eutils.spelling import suggest
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
    good = {uid: None for one in request.ids if (uid := database.to_canonical(one)) is not None}
    bad = [one for one in request.ids if database.to_canonical(one) is None]
    invalid = "".join(f"\n\t\t<Id>{escape_xml(one)}</Id>" for one in bad)
    listed = f"\t<InvalidIdList>{invalid}\n\t</InvalidIdList>\n" if bad else ""
    if not good:
        message = "<ERROR>IDs contain invalid characters which was treated as delimiters.</ERROR>"
        return answer_xml(f"{EPOST_PROLOG}<ePostResult>\n{listed}\t{message}\n</ePostResult>\n")
    environment, key = state.history.store(database.name, list(good), request.get("WebEnv") or None)
    return answer_xml(
        f"{EPOST_PROLOG}<ePostResult>\n{listed}\t<QueryKey>{key}</QueryKey>\n"
        f"\t<WebEnv>{environment}</WebEnv>\n</ePostResult>\n"
    )


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
    corrected, pieces, kept = "", "", ""
    changed = False
    # Field tags and operators are not changed; quoted words are corrected like others.
    for match in re.finditer(rf"{_TAG.pattern}|[^\W\d_]+|.", term, re.DOTALL):
        part = match.group()
        better = suggest(fold(part), database.count_words()) if part.isalpha() and part not in OPERATORS else None
        if better is None:
            kept += part
            corrected += part
            continue
        changed = True
        if kept:
            pieces += f"<Original>{escape_xml(kept)}</Original>"
            kept = ""
        pieces += f"<Replaced>{escape_xml(better)}</Replaced>"
        corrected += better
    if kept and changed:
        pieces += f"<Original>{escape_xml(kept)}</Original>"
    return (corrected, pieces) if changed else ("", "")


def answer_egquery(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an EGQuery request: the number of hits of one query in every database."""
    term = request.get("term")
    items = []
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
        items.append(
            f"\n\t\t<ResultItem>\n\t\t\t<DbName>{name}</DbName>\n\t\t\t<MenuName>{escape_xml(menu)}</MenuName>\n"
            f"\t\t\t<Count>{count}</Count>\n\t\t\t<Status>{status}</Status>\n\t\t</ResultItem>\n"
        )
    return answer_xml(
        '<?xml version="1.0"?>\n<!DOCTYPE Result PUBLIC "-//NLM//DTD eSearchResult, January 2004//EN" '
        '"https://www.ncbi.nlm.nih.gov/entrez/query/DTD/egquery.dtd">\n'
        f"<Result>\n\t<Term>{escape_xml(term)}</Term>\n\t<eGQueryResult>{''.join(items)}\n\t</eGQueryResult>\n</Result>\n"
    )


def answer_einfo(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an EInfo request with the list of databases, or the fields and links of one database."""
    name = request.get("db").lower()
    json_wanted = request.retmode == "json"
    header = {"type": "einfo", "version": "0.3"}
    if not name:
        if json_wanted:
            return answer_json({"header": header, "einforesult": {"dblist": list(state.databases)}})
        names = "".join(f"\n\t<DbName>{database}</DbName>" for database in state.databases)
        return answer_xml(f"{EINFO_PROLOG}<eInfoResult>\n<DbList>\n{names}\n</DbList>\n\n</eInfoResult>\n")
    database = state.databases.get(name)
    if database is None:
        raise BadRequest(f"Can not retrieve DbInfo for db={name}")
    about = _describe(database)
    if json_wanted:
        return answer_json({"header": header, "einforesult": {"dbinfo": [to_json(about)]}})
    return answer_xml(
        f"{EINFO_PROLOG}<eInfoResult>\n\t<DbInfo>\n{to_elements(about, 1)}\t</DbInfo>\n\n</eInfoResult>\n"
    )


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
        found = state.pubmed.match(*parts[:5])
        if not found and not parts[0].strip():
            break
        if not found:
            verdict = "NOT_FOUND" if state.pubmed.knows_journal(parts[0]) else "NOT_FOUND;INVALID_JOURNAL"
        elif len(found) == 1:
            verdict = found[0]
        else:
            verdict = f"AMBIGUOUS {','.join(found[:20])}"
        answers.append("|".join([*parts[:6], verdict]))
    return answer_text("".join(f"{answer}\n" for answer in answers))
