"""EFetch: full records."""

from typing import Final

from entrez_kit.local.eutils.database import BadRequest, FetchCall
from entrez_kit.local.eutils.esearch import BEYOND_CEILING
from entrez_kit.local.eutils.replies import LocalReply
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState

MAX_RECORDS: Final = 10_000


def answer_efetch(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an EFetch request."""
    database = state.find_database(request)
    start, size = request.get_number("retstart", 0), min(request.get_number("retmax", MAX_RECORDS), MAX_RECORDS)
    if request.ids:
        ids = request.ids[start : start + size]
    elif request.get("WebEnv") or request.get("query_key"):
        stored = state.get_stored_ids(request, database)
        end = start + size
        if database.ceiling is not None:
            if start >= database.ceiling and len(stored) > database.ceiling:
                raise BadRequest(f"Search backend cannot retrieve history data. Reason: Exception: {BEYOND_CEILING}")
            end = min(end, database.ceiling)  # NCBI shortens such a page without a warning
        ids = list(stored[start:end])
    else:
        raise BadRequest("Supplied id parameter is empty.", 200)
    if not ids:
        raise BadRequest("Empty result - nothing todo")
    return database.fetch(FetchCall(ids, request.get("rettype").lower(), request.get("retmode").lower()))
