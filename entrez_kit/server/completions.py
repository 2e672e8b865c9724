"""Completions for arguments of prompts and resource templates."""

from collections.abc import Callable, Collection, Mapping
from typing import Final

from mcp_types import CompleteRequestParams, CompleteResult, Completion, PromptReference

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.corpus.store import store_of
from entrez_kit.databases.gene.organisms import COMMON
from entrez_kit.databases.names import parse_database_list
from entrez_kit.guides import TOPICS
from entrez_kit.server.prompts import CORPUS_UPDATE, GENE_DOSSIER
from entrez_kit.server.resources import GUIDE_TEMPLATE, STATS_TEMPLATE, scope_of_resource
from entrez_kit.server.toolsets import SCOPE_PREFIX
from entrez_kit.services import Services

MAX_VALUES: Final = 100
"""The maximum number of values in one reply of the protocol."""

USUAL_DATABASES: Final = (
    "pubmed", "pmc", "mesh", "gene", "protein", "nuccore", "taxonomy", "snp", "clinvar", "omim", "biosample", "sra",
    "gds", "assembly", "bioproject", "structure", "books", "nlmcatalog", "pccompound", "pcassay",
)  # fmt: skip
"""Offered if the complete list cannot be requested from NCBI."""


def _list_organisms(services: Services) -> list[str]:
    return list(COMMON)


def _list_databases(services: Services) -> list[str]:
    """Return the names of all databases; NCBI's list is cached for a day, so this rarely sends a request."""
    try:
        return services.eutils.einfo(read=parse_database_list).value
    except EntrezKitError:
        return list(USUAL_DATABASES)


def _list_query_keys(services: Services) -> list[str]:
    return [corpus.query_key for corpus in store_of(services).corpora().corpora]


COMPLETERS: Final[Mapping[tuple[str, str], tuple[Callable[[Services], list[str]], str | None]]] = {
    (GENE_DOSSIER.name, "organism"): (_list_organisms, f"{SCOPE_PREFIX}gene"),
    (CORPUS_UPDATE.name, "query_key"): (_list_query_keys, f"{SCOPE_PREFIX}corpus.read"),
    (STATS_TEMPLATE, "database"): (_list_databases, scope_of_resource(STATS_TEMPLATE)),
    (GUIDE_TEMPLATE, "topic"): (lambda services: list(TOPICS), None),
}
"""By prompt or template and argument: the function that lists the values, and the required scope."""


def complete(
    services: Services, params: CompleteRequestParams, scopes: Collection[str] | None = None
) -> CompleteResult:
    """Return the values that begin with the typed text, then those that contain it; none for other arguments.

    Args:
        scopes: the scopes of the caller's token; None allows everything.
    """
    target = params.ref.name if isinstance(params.ref, PromptReference) else params.ref.uri
    source, needed = COMPLETERS.get((target, params.argument.name), (None, None))
    if source is None or (needed is not None and scopes is not None and needed not in scopes):
        return CompleteResult(completion=Completion(values=[], total=0, has_more=False))
    typed = params.argument.value.strip().lower()
    values = source(services)
    found = [value for value in values if value.lower().startswith(typed)]
    found += [value for value in values if typed in value.lower() and value not in found]
    return CompleteResult(
        completion=Completion(values=found[:MAX_VALUES], total=len(found), has_more=len(found) > MAX_VALUES)
    )
