"""ESearch: the ids of the records that match a query."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from entrez_kit.base.bio_entrez import MAX_RETMAX
from entrez_kit.base.tracing import FIDELITY_HEADER
from entrez_kit.local.eutils.database import BadRequest, Database, SearchCall, SearchOutcome
from entrez_kit.local.eutils.replies import Items, LocalReply, answer_values
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState

DEFAULT_RETMAX: Final = 20
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
    count = len(outcome.ids)
    if request.get("rettype").lower() == "count":
        return answer_values("esearch", {"Count": str(count)}, request.retmode)
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
    values: dict[str, Any] = {"Count": str(count), "RetMax": str(len(page)), "RetStart": str(start)}
    if request.get("usehistory").lower() == "y":
        stored, key = state.history.store(database.name, outcome.ids, environment or None)
        values |= {"QueryKey": str(key), "WebEnv": stored}
    translations = [{"From": before, "To": after} for before, after in resolved.translations]
    values |= {
        "IdList": Items("Id", page),
        "TranslationSet": Items("Translation", translations),
        "QueryTranslation": outcome.translation,
    }
    errors = {"PhraseNotFound": resolved.phrases_not_found, "FieldNotFound": resolved.fields_not_found}
    warnings = {
        "PhraseIgnored": resolved.phrases_ignored,
        "QuotedPhraseNotFound": resolved.quoted_not_found,
        "OutputMessage": messages,
    }
    for name, lists in (("ErrorList", errors), ("WarningList", warnings)):
        if any(lists.values()):
            values[name] = {kind: list(dict.fromkeys(texts)) for kind, texts in lists.items()}
    return answer_values("esearch", values, request.retmode)
