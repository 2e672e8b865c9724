"""What must be known before results are read: what NCBI dropped, what MeSH hides, which filter emptied the search."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from entrez_kit.entrez_query import Broadening, broadening, mesh_gap
from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.in_flight import all_at_once
from entrez_kit.model import Warn
from entrez_kit.services import Services
from entrez_kit.services.esearch_reply import ESearchReply, parse_esearch

if TYPE_CHECKING:
    from entrez_kit.pubmed.search import SearchRequest

COUNT_DEADLINE_MS: Final = 15_000
"""A count that only explains a result is not worth more of anybody's time."""
FILTERS: Final = (
    "date_range",
    "filter_by_publication_types",
    "author",
    "journal",
    "mesh_terms",
    "language",
    "species",
    "has_abstract",
    "free_full_text",
)
UNINDEXED: Final = "NOT medline[sb]"
"""Records without MeSH: those still in process, those as publishers supplied them, and those out of MEDLINE's scope."""


def warnings_about(found: ESearchReply, verdict: Broadening | None = None) -> list[Warn]:
    """Return NCBI's complaints as warnings, one for each kind."""
    remarks = found.remarks if verdict is None else verdict.remarks(found)
    return [Warn(code=remark.code, message=remark.message, terms=list(remark.terms)) for remark in remarks]


def compare_with_query(services: Services, request: "SearchRequest", found: ESearchReply) -> Broadening:
    """Tell whether PubMed searched for less than the query requires; asks for one count at most, and never fails."""

    def count(term: str) -> int | None:
        try:
            return _count(services, request, term)
        except EntrezKitError:
            return None

    return broadening(request.term(), found, count)


def mesh_warnings(services: Services, request: "SearchRequest") -> list[Warn]:
    """Count the records that match but for MeSH terms they do not have; asks for one count, and never fails."""
    gap = mesh_gap(request.term())
    if gap is None:
        return []
    names = [f"`{name}`" for name in ("species", "mesh_terms") if getattr(request, name)]
    what = _listed(names, "and") if names else "a MeSH term of the query"
    try:
        number = _count(services, request, f"({gap.rest}) {UNINDEXED}")
    except EntrezKitError as exc:
        message = f"Records without MeSH terms cannot match {what}; how many there are was not answered: {exc.message}"
        return [Warn(code="without_mesh_uncounted", message=message)]
    if not number:
        return []
    records, match, have = ("1 record", "matches", "has") if number == 1 else (f"{number:,} records", "match", "have")
    known = "with the same words" if gap.by_words else f"that {match} otherwise"
    message = f"{records} {known} {have} no MeSH terms, or none yet, and cannot match {what}."
    return [Warn(code="without_mesh", message=message)]


def empty_warnings(services: Services, request: "SearchRequest") -> list[Warn]:
    """Say why nothing was found: which filter left nothing of what the query finds, or how NCBI would spell it."""
    given = [name for name in FILTERS if _is_given(request, name)]
    try:
        return (_emptied_by(services, request, given) if given else []) or _spelling(services, request.query_term)
    except (UpstreamError, RateLimited):
        return []


def _emptied_by(services: Services, request: "SearchRequest", given: Sequence[str]) -> list[Warn]:
    """Name the filters to blame. Asks for a count without any, without each, and at worst with each alone."""

    def counts(requests: "Sequence[SearchRequest]") -> list[int]:
        return all_at_once([partial(_count, services, one, one.term()) for one in requests])

    bare = _without(request, given)
    without_one = [_without(request, [name]) for name in given] if len(given) > 1 else []
    total, *left = counts([bare, *without_one])
    if not total:
        return []
    found = f"The query alone finds {total:,} {'record' if total == 1 else 'records'}"
    if len(given) == 1:
        message = f"{found}; `{given[0]}` leaves none of them."
    elif any(left):
        culprits = [f"without `{name}` {number:,}" for name, number in zip(given, left, strict=True) if number]
        message = f"{found}, the filters leave none: {', '.join(culprits)} would be left."
    else:
        alone = counts([_without(request, [name for name in given if name != one]) for one in given])
        culprits = [f"`{name}`" for name, number in zip(given, alone, strict=True) if not number]
        if culprits:
            message = f"{found}; {_listed(culprits, 'or')} alone leaves none of them."
        else:
            each = ", ".join(f"`{name}` alone {number:,}" for name, number in zip(given, alone, strict=True))
            message = f"{found}; the filters leave none only together: {each}."
    return [Warn(code="filters_emptied", message=message)]


def _is_given(request: "SearchRequest", name: str) -> bool:
    value = getattr(request, name)
    return bool(value) and (name != "date_range" or value.bounded)


def _without(request: "SearchRequest", names: Sequence[str]) -> "SearchRequest":
    fields = type(request).model_fields
    return request.model_copy(update={name: fields[name].get_default(call_default_factory=True) for name in names})


def _count(services: Services, request: "SearchRequest", term: str) -> int:
    """Count the records of a term between the request's dates."""
    reply = services.eutils.esearch(
        db="pubmed", term=term, retmax=0, deadline_ms=COUNT_DEADLINE_MS, **request.date_parameters()
    )
    return parse_esearch(reply.content).count


def _spelling(services: Services, query: str) -> list[Warn]:
    """Ask for NCBI's suggestion; a search without hits stands even when ESpell does not answer."""
    from entrez_kit.services.espell_reply import parse_espell

    try:
        suggestion = parse_espell(services.eutils.espell(term=query, db="pubmed").content).corrected
    except (UpstreamError, RateLimited, InvalidInput, EntityNotFound) as exc:
        return [Warn(code="spelling_unavailable", message=f"NCBI gave no spelling suggestion: {exc.message}")]
    if not suggestion or suggestion.lower() == query.lower():
        return []
    return [Warn(code="spelling_suggestion", message=f"Nothing was found. Did you mean: {suggestion}")]


def _listed(names: Sequence[str], conjunction: str) -> str:
    *front, last = names
    return f"{', '.join(front)} {conjunction} {last}" if front else last
