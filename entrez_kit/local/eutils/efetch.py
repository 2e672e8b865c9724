"""EFetch: full records."""

from typing import Final

from entrez_kit.local.eutils.database import BadRequest, FetchCall
from entrez_kit.local.eutils.esearch import BEYOND_CEILING
from entrez_kit.local.eutils.replies import LocalReply, failure
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState

MAX_RECORDS: Final = 10_000


def efetch(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer an EFetch request."""
    name = request.get("db").lower() or "pubmed"
    database = state.databases.get(name)
    if database is None:
        return failure("efetch", f"Invalid db name specified: {name}", status=400)
    start, size = request.number("retstart", 0), min(request.number("retmax", MAX_RECORDS), MAX_RECORDS)
    if request.ids:
        ids = request.ids[start : start + size]
    elif request.get("WebEnv") or request.get("query_key"):
        stored = state.recall_set(request)
        if stored is None or stored.database != name:
            return failure("efetch", f"Unable to obtain query #{request.get('query_key') or '0'}", status=400)
        end = start + size
        if database.ceiling is not None:
            if start >= database.ceiling and len(stored.ids) > database.ceiling:
                message = f"Search backend cannot retrieve history data. Reason: Exception: {BEYOND_CEILING}"
                return failure("efetch", message, status=400)
            end = min(end, database.ceiling)  # NCBI shortens such a page without a warning
        ids = list(stored.ids[start:end])
    else:
        return failure("efetch", "Supplied id parameter is empty.")
    if not ids:
        return failure("efetch", "Empty result - nothing todo", status=400)
    mode = request.get("retmode").lower()
    rettype = request.get("rettype").lower()
    try:
        return database.fetch(FetchCall(ids, rettype, mode or "xml"))
    except BadRequest as exc:
        return failure("efetch", str(exc), status=400)
