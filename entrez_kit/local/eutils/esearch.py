"""ESearch: the ids of the records that match a query."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from entrez_kit.base.tracing import FIDELITY_HEADER
from entrez_kit.local.eutils.database import BadRequest, Database, SearchCall, SearchOutcome
from entrez_kit.local.eutils.replies import ESEARCH_PROLOG, LocalReply, answer_json, answer_xml
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.local.records.text import escape_xml

DEFAULT_RETMAX: Final = 20
MAX_RETMAX: Final = 10_000
BEYOND_CEILING: Final = (
    "'retstart' cannot be larger than 9998. For PubMed, ESearch can only retrieve the first 9,999 records matching "
    "the query. To obtain more than 9,999 PubMed records, consider using EDirect that contains additional logic to "
    "batch PubMed search results automatically so that an arbitrary number can be retrieved. "
    "For details see https://www.ncbi.nlm.nih.gov/books/NBK25499/"
)


def answer_esearch(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an ESearch request."""
    database = state.find_database(request)
    term, key, environment = request.get("term"), request.get("query_key"), request.get("WebEnv")
    if not term and not (key and environment):
        raise BadRequest("Empty term and query_key - nothing todo")
    if key:
        term = f"#{key} AND ({term})" if term else f"#{key}"

    def get_stored_ids(number: int) -> Sequence[str] | None:
        stored = state.history.get(environment, number)
        return stored.ids if stored is not None and stored.database == database.name else None

    names = ("field", "sort", "datetype", "mindate", "maxdate", "reldate")
    given = {name: request.get(name) or None for name in names}
    outcome = database.search(SearchCall(term, **given, history=get_stored_ids, ordered=_count_ordered(request)))
    answer = _answer(request, state, database, outcome, environment)
    return replace(answer, headers=((FIDELITY_HEADER, outcome.fidelity),)) if outcome.fidelity else answer


def _count_ordered(request: LocalRequest) -> int | None:
    """Return the number of ids up to the last one of the answer; None if the answer stores all."""
    if request.get("rettype").lower() == "count":
        return 0
    if request.get("usehistory").lower() == "y":
        return None
    start, size = request.get_number("retstart", 0), request.get_number("retmax", DEFAULT_RETMAX)
    return start + size if size else 0


def _answer(
    request: LocalRequest, state: LocalState, database: Database, outcome: SearchOutcome, environment: str
) -> LocalReply:
    mode = request.retmode
    count = len(outcome.ids)
    if request.get("rettype").lower() == "count":
        if mode == "json":
            return answer_json({"header": _HEADER, "esearchresult": {"count": str(count)}})
        return answer_xml(f"{ESEARCH_PROLOG}<eSearchResult>\n\t<Count>{count}</Count>\n</eSearchResult>\n")
    start, size = request.get_number("retstart", 0), request.get_number("retmax", DEFAULT_RETMAX)
    resolved = outcome.resolved
    messages = [*resolved.messages]
    reachable = count if database.ceiling is None else min(count, database.ceiling)
    limit = MAX_RETMAX if database.ceiling is None else database.ceiling
    if database.ceiling is not None and start >= database.ceiling and count > database.ceiling:
        raise BadRequest(f"Search Backend failed: Exception:\n{BEYOND_CEILING}")
    if size > limit or (database.ceiling is not None and start >= database.ceiling):
        start, size = min(start, reachable), min(size, limit)
        if database.ceiling is not None:
            messages.append(f"Restrictions achieved. start and count adjusted to {start}, {size}")
    if not count:
        messages.append("No items found.")
    page = list(outcome.ids[start : min(start + size, reachable)])
    stored = None
    if request.get("usehistory").lower() == "y":
        stored = state.history.store(database.name, outcome.ids, environment or None)
    errors = [[*dict.fromkeys(texts)] for texts in (resolved.phrases_not_found, resolved.fields_not_found)]
    ignored = (resolved.phrases_ignored, resolved.quoted_not_found, messages)
    warnings = [[*dict.fromkeys(texts)] for texts in ignored]
    form = _answer_json if mode == "json" else _answer_xml
    return form(outcome, page, start, stored, errors, warnings)


_HEADER: Final = {"type": "esearch", "version": "0.3"}
_ERRORS: Final = (("phrasesnotfound", "PhraseNotFound"), ("fieldsnotfound", "FieldNotFound"))
_WARNINGS: Final = (
    ("phrasesignored", "PhraseIgnored"),
    ("quotedphrasesnotfound", "QuotedPhraseNotFound"),
    ("outputmessages", "OutputMessage"),
)


def _answer_json(
    outcome: SearchOutcome,
    page: Sequence[str],
    start: int,
    stored: tuple[str, int] | None,
    errors: Sequence[Sequence[str]],
    warnings: Sequence[Sequence[str]],
) -> LocalReply:
    result: dict[str, object] = {"count": str(len(outcome.ids)), "retmax": str(len(page)), "retstart": str(start)}
    if stored is not None:
        result |= {"querykey": str(stored[1]), "webenv": stored[0]}
    result["idlist"] = list(page)
    result["translationset"] = [{"from": before, "to": after} for before, after in outcome.resolved.translations]
    result["querytranslation"] = outcome.translation
    if any(errors):
        result["errorlist"] = {key: texts for (key, _), texts in zip(_ERRORS, errors, strict=True)}
    if any(warnings):
        result["warninglist"] = {key: texts for (key, _), texts in zip(_WARNINGS, warnings, strict=True)}
    return answer_json({"header": _HEADER, "esearchresult": result})


def _answer_xml(
    outcome: SearchOutcome,
    page: Sequence[str],
    start: int,
    stored: tuple[str, int] | None,
    errors: Sequence[Sequence[str]],
    warnings: Sequence[Sequence[str]],
) -> LocalReply:
    parts = [
        ESEARCH_PROLOG,
        f"<eSearchResult><Count>{len(outcome.ids)}</Count><RetMax>{len(page)}</RetMax><RetStart>{start}</RetStart>",
    ]
    if stored is not None:
        parts.append(f"<QueryKey>{stored[1]}</QueryKey><WebEnv>{stored[0]}</WebEnv>")
    parts.append("<IdList>\n" + "".join(f"<Id>{uid}</Id>\n" for uid in page) + "</IdList>" if page else "<IdList/>")
    translations = "".join(
        f"<Translation>     <From>{escape_xml(before)}</From>     <To>{escape_xml(after)}</To>    </Translation>"
        for before, after in outcome.resolved.translations
    )
    parts.append(f"<TranslationSet>{translations}</TranslationSet>" if translations else "<TranslationSet/>")
    parts.append(f"<QueryTranslation>{escape_xml(outcome.translation)}</QueryTranslation>")
    parts.append(_render_list("ErrorList", _ERRORS, errors))
    parts.append(_render_list("WarningList", _WARNINGS, warnings))
    parts.append("</eSearchResult>\n")
    return answer_xml("".join(parts))


def _render_list(name: str, kinds: Sequence[tuple[str, str]], lists: Sequence[Sequence[str]]) -> str:
    inner = "".join(
        f"<{tag}>{escape_xml(text)}</{tag}>" for (_, tag), texts in zip(kinds, lists, strict=True) for text in texts
    )
    return f"<{name}>{inner}</{name}>" if inner else ""
