"""Warnings about a search: which records its MeSH terms exclude, and why it finds nothing.

`search.py` decides when to warn, and imports this module only then.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import Argument, FrontendText, format_count
from entrez_kit.core.model import Warn
from entrez_kit.pubmed.empty_searches import find_emptying_part, has_emptying_part
from entrez_kit.pubmed.publication_types import find_similar_type, is_known
from entrez_kit.pubmed.search_counts import count_matches, count_without_filters, search_term
from entrez_kit.pubmed.search_models import SearchRequest
from entrez_kit.services import Services
from entrez_kit.services.small_replies import ESearchReply
from entrez_kit.services.transport.in_flight import run_all, run_in_order

if TYPE_CHECKING:
    from entrez_kit.query.reduction import MeshGap

T = TypeVar("T")

MAX_HIDDEN: Final = 20
"""The most PMIDs in the warning about records without MeSH terms."""
UNINDEXED: Final = "NOT medline[sb]"
"""Records without MeSH terms: in process, supplied by publishers, or outside MEDLINE's scope."""


def search_with_mesh_count(
    services: Services, request: SearchRequest, gap: "MeshGap", search: Callable[[], T]
) -> tuple[T, list[Warn]]:
    """Run a search, and at the same time count the records that only its MeSH terms exclude.

    If the search fails, the count is cancelled.

    Args:
        gap: the query without its MeSH terms.
        search: sends the search.

    Returns:
        The result of the search, and the warning about the records.
    """
    filters = [name for name in ("species", "mesh_terms") if getattr(request, name)]
    results: list[T] = []
    warnings: list[Warn] = []

    def run_search() -> None:
        results.append(search())

    def count() -> None:
        warnings.extend(warn_about_mesh(gap, filters, partial(search_term, services, request)))

    for _ in run_in_order((run_search, count), at_once=2):  # an exception of the first call stops the second one
        pass
    return results[0], warnings


def warn_about_mesh(gap: "MeshGap", filters: Sequence[str], search: Callable[[str, int], ESearchReply]) -> list[Warn]:
    """Warn about records that match the query except for MeSH terms, which they do not have.

    The warning counts the records and lists the first PMIDs. This sends one request and never raises an error.

    Args:
        gap: the query without its MeSH terms.
        filters: the filters that are MeSH terms.
        search: searches a term; the reply has up to a number of PMIDs.
    """
    names = [Argument(name, marked=True) for name in filters]
    subject = _join_names(names, "and") if names else "the MeSH terms of the query"
    try:
        with tracing.keep_fidelity():
            hidden = search(f"({gap.rest}) {UNINDEXED}", MAX_HIDDEN)
    except EntrezKitError as exc:
        why = f". These records could not be counted: {exc.message}"
        message = FrontendText("Records without MeSH terms cannot match ", subject, why)
        return [Warn(code="without_mesh_uncounted", message=message)]
    number = hidden.count
    if not number:
        return []
    if gap.by_words:
        records = format_count(number, "record with the same words has", "records with the same words have")
    else:
        records = format_count(number, "more record would match, but has", "more records would match, but have")
    for_filters = (" for ", subject) if names else ()
    message = FrontendText(f"{records} no MeSH terms (yet)", *for_filters, ".")
    return [Warn(code="without_mesh", message=message, terms=hidden.ids)]


def explain_empty_result(services: Services, request: SearchRequest, reply: ESearchReply) -> list[Warn]:
    """Warn about what empties a search: its filters, a part of the query, or the spelling.

    Args:
        reply: NCBI's reply to the search.
    """
    query, filters = request.query().text, request.active_filters()
    warnings = warn_about_types(request.filter_by_publication_types)
    try:
        warnings += warn_about_filters(filters, partial(count_without_filters, services, request))
    except (UpstreamError, RateLimited):
        return warnings
    if warnings:
        return warnings
    if request.explain or services.settings.answers_in_process:  # else each count is a request over the network
        count = partial(count_matches, services, request.drop_filters(filters))
        warnings = warn_about_emptying_part(query, reply, count)
    return warnings + suggest_spelling(services, query)


def warn_about_types(names: Sequence[str]) -> list[Warn]:
    """Warn about publication types that PubMed does not have, with the nearest name."""
    warnings = []
    for name in names:
        if not is_known(name):
            nearest = find_similar_type(name)
            advice = f" Did you mean {nearest!r}?" if nearest else ""
            message = FrontendText(
                Argument("filter_by_publication_types"), f": PubMed has no publication type {name!r}.{advice}"
            )
            warnings.append(Warn(code="unknown_publication_type", message=message))
    return warnings


def warn_about_filters(filters: Sequence[str], count_without: Callable[[Sequence[str]], int]) -> list[Warn]:
    """Warn about the filters that exclude all results: count without filters, without each one, and with each alone.

    Args:
        filters: the names of all filters of the search.
        count_without: counts the results of the search without some of them.
    """
    if not filters:
        return []

    def list_counts(groups: Sequence[Sequence[str]]) -> list[int]:
        return run_all([partial(count_without, group) for group in groups])

    without_one = [[name] for name in filters] if len(filters) > 1 else []
    total, *left = list_counts([filters, *without_one])
    if not total:
        return []
    records = format_count(total, "record")
    query_alone = f"The query alone finds {records}"
    names = [Argument(name, marked=True) for name in filters]
    if len(names) == 1:
        message = FrontendText("Without ", names[0], f" the query finds {records}.")
    elif any(left):
        rest = [
            FrontendText("without ", name, f": {number:,}") for name, number in zip(names, left, strict=True) if number
        ]
        message = FrontendText(
            query_alone, "; the filters exclude all of them. Results ", FrontendText.join_parts(", ", rest), "."
        )
    else:
        alone = list_counts([[other for other in filters if other != name] for name in filters])
        culprits = [name for name, number in zip(names, alone, strict=True) if not number]
        if culprits:
            message = FrontendText(query_alone, "; ", _join_names(culprits, "or"), " alone excludes all of them.")
        else:
            each = [FrontendText(name, f": {number:,}") for name, number in zip(names, alone, strict=True)]
            message = FrontendText(
                query_alone,
                "; only the filters together exclude all of them. Each alone leaves: ",
                FrontendText.join_parts(", ", each),
                ".",
            )
    return [Warn(code="filters_emptied", message=message)]


def warn_about_emptying_part(term: str, reply: ESearchReply, count: Callable[[str], int]) -> list[Warn]:
    """Warn about the part of a query that empties the search, unless NCBI's reply names it.

    Args:
        term: the query without filters.
        reply: NCBI's reply to it.
        count: counts the records of another query.
    """
    if has_emptying_part(term, reply):
        return []
    with suppress(EntrezKitError):
        return find_emptying_part(term, reply, count)
    return []


def suggest_spelling(services: Services, query: str) -> list[Warn]:
    """Return NCBI's spelling suggestion as a warning; if ESpell fails, warn that it is missing."""
    try:
        suggestion = services.eutils.espell(term=query, db="pubmed").value.corrected
    except (UpstreamError, RateLimited, InvalidInput, EntityNotFound) as exc:
        return [Warn(code="spelling_unavailable", message=f"NCBI's spelling suggestion is missing: {exc.message}")]
    if not suggestion or suggestion.lower() == query.lower():
        return []
    return [Warn(code="spelling_suggestion", message=f"Did you mean: {suggestion}")]


def _join_names(names: Sequence[Argument], conjunction: str) -> FrontendText:
    *front, last = names
    return FrontendText(FrontendText.join_parts(", ", front), f" {conjunction} ", last) if front else FrontendText(last)
