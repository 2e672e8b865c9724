"""ESummary: document summaries in version 1 XML, version 2 XML and JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrez_kit.local.eutils.database import BadRequest, Database
from entrez_kit.local.eutils.replies import (
    Items,
    LocalReply,
    answer_elements,
    answer_json,
    answer_xml,
    build_header,
    format_prolog,
    to_elements,
    to_json,
)
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.local.records.document import PartialDate
from entrez_kit.local.records.text import escape_attribute, escape_xml

MAX_JSON: Final = 500
MAX_XML: Final = 10_000
NO_SUMMARY: Final = "cannot get document summary"


def answer_esummary(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an ESummary request."""
    mode = request.retmode
    database = state.find_database(request)
    start, size = request.get_number("retstart", 0), request.get_number("retmax", MAX_XML)
    if request.ids:
        ids = request.ids[start : start + size]
    elif request.get("WebEnv") or request.get("query_key"):
        end = start + size if database.ceiling is None else min(start + size, database.ceiling)
        ids = list(state.get_stored_ids(request, database)[start:end])
    else:
        raise BadRequest("Empty id list - nothing todo")
    most, only = (MAX_JSON, " for JSON format output") if mode == "json" else (MAX_XML, "")
    if len(ids) > most:
        raise BadRequest(f"Too many UIDs in request. Maximum number of UIDs is {most}{only}.")
    good, errors = _check_ids(database, ids)
    if mode == "json":
        return _answer_json(database, good, errors)
    if request.get("version").startswith("2") or not database.has_version_1:
        return _answer_version_2(database, good, errors)
    return _answer_version_1(database, good, errors)


def _check_ids(database: Database, ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the valid ids in canonical form without duplicates, and NCBI's error message for each invalid id."""
    good: dict[str, None] = {}
    errors = []
    place = 0
    for uid in ids:
        canonical = database.to_canonical(uid)
        if canonical is None:
            errors.append(f"Invalid uid {uid} at position= {place}")
        else:
            good[canonical] = None
        place += len(uid) + 1
    return list(good), errors


def _answer_json(database: Database, ids: Sequence[str], errors: Sequence[str]) -> LocalReply:
    result: dict[str, Any] = {"uids": list(ids)}
    for uid in ids:
        summary = database.build_summary(uid)
        result[uid] = {"uid": uid, "error": NO_SUMMARY} if summary is None else {"uid": uid, **to_json(summary)}
    answer: dict[str, Any] = {"header": build_header("esummary")}
    if errors:
        answer["error"] = errors[0]
    return answer_json({**answer, "result": result})


def _answer_version_2(database: Database, ids: Sequence[str], errors: Sequence[str]) -> LocalReply:
    date = database.summary_dtd
    parts = [
        format_prolog("eSummaryResult", f"esummary {database.name} {date}", f"{date}/esummary_{database.name}.dtd")
    ]
    parts.append('<eSummaryResult>\n<DocumentSummarySet status="OK">\n')
    parts.append(f"<DbBuild>{escape_xml(database.build)}</DbBuild>\n")
    parts += [f"<ERROR>{escape_xml(error)}</ERROR>\n" for error in errors]
    for uid in ids:
        summary = database.build_summary(uid)
        inner = f"\t<error>{NO_SUMMARY}</error>\n" if summary is None else to_elements(summary, 1)
        parts.append(f'<DocumentSummary uid="{escape_attribute(uid)}">\n{inner}</DocumentSummary>\n')
    parts.append("\n</DocumentSummarySet>\n</eSummaryResult>\n")
    return answer_xml("".join(parts))


def _answer_version_1(database: Database, ids: Sequence[str], errors: Sequence[str]) -> LocalReply:
    parts = [f"\t<ERROR>{escape_xml(error)}</ERROR>\n" for error in errors]
    for uid in ids:
        summary = database.build_docsum(uid)
        if summary is None:
            parts.append(f"\t<ERROR>UID={escape_xml(uid)}: {NO_SUMMARY}</ERROR>\n")
        else:
            inner = "".join(_render_item(name, value, 1) for name, value in summary.items())
            parts.append(f"<DocSum>\n\t<Id>{escape_xml(uid)}</Id>\n{inner}</DocSum>\n\n")
    return answer_elements("esummary", "".join(parts))


def _render_item(name: str, value: Any, depth: int) -> str:
    """Return an ``<Item>`` with the type of its value."""
    indent = "\t" * depth
    kind, inner = _list_inner(value)
    start = f'{indent}<Item Name="{escape_attribute(name)}" Type="{kind}">'
    if isinstance(inner, str) or not inner:
        return f"{start}{escape_xml(inner or '')}</Item>\n"
    return f"{start}\n{''.join(_render_item(*pair, depth + 1) for pair in inner)}{indent}</Item>\n"


def _list_inner(value: Any) -> tuple[str, str | Sequence[tuple[str, Any]]]:
    """Return the type of a value and its text, or the names and values of its items."""
    if isinstance(value, Items):
        return "List", [(value.tag, entry) for entry in value.entries]
    if isinstance(value, list):
        return "List", value
    if isinstance(value, Mapping):
        return "Structure", list(value.items())
    if isinstance(value, PartialDate):
        return "Date", value.text
    return "Integer" if isinstance(value, int) else "String", str(value)
