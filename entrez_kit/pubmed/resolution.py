"""Resolve PMCIDs and DOIs to PMIDs: the ID Converter first, PubMed itself for what it does not know."""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.esearch_reply import parse_esearch
from entrez_kit.identifiers import Identifier, IdKind
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.pubmed.records import Record

PER_SEARCH: Final = 25
"""Identifiers looked up in one ESearch; the records found are matched back by their own identifiers."""

Resolved = dict[str, str | EntrezKitError | None]


def resolve(
    services: Services, identifiers: Sequence[Identifier], records_of: "Callable[[Sequence[str]], list[Record]]"
) -> Resolved:
    """Map each identifier's value to its PMID, to None where PubMed has no record, or to the error that was met.

    The converter knows only articles in PMC, and its silence is no verdict: what it leaves open is searched in PubMed.
    """
    resolved: Resolved = {}
    kinds: tuple[IdKind, ...] = ("pmcid", "doi")
    for kind in kinds:
        values = list(dict.fromkeys(item.value for item in identifiers if item.kind == kind))
        if values:
            converted = _convert(services, values, kind)
            resolved |= converted
            resolved |= search_pubmed(services, [value for value in values if value not in converted], kind, records_of)
    return resolved


def _convert(services: Services, values: list[str], kind: str) -> dict[str, str]:
    """Return what the ID Converter knows; nothing where it fails, since PubMed can still be asked."""
    unique = {value.lower(): value for value in reversed(values)}
    try:
        content = services.idconv.convert(list(reversed(unique.values())), idtype=kind).content
        records = json.loads(content).get("records", [])
    except (UpstreamError, RateLimited, InvalidInput, EntityNotFound, ValueError, AttributeError):
        return {}
    pmids: dict[str, str] = {}
    for record in records if isinstance(records, list) else []:
        pmid = str(record.get("pmid") or "").strip()
        if pmid.isascii() and pmid.isdigit() and not record.get("errmsg"):
            pmids[_requested(record, kind)] = pmid
    return {value: pmids[value.lower()] for value in values if value.lower() in pmids}


def _requested(record: dict[str, Any], kind: str) -> str:
    """Return the id a converter record answers, in lower case (DOIs differ in case, PMCIDs carry versions)."""
    text = str(record.get("requested-id") or record.get(kind) or "").strip().lower()
    return text.partition(".")[0] if kind == "pmcid" else text


def search_pubmed(
    services: Services,
    values: Sequence[str],
    kind: IdKind,
    records_of: "Callable[[Sequence[str]], list[Record]]",
) -> Resolved:
    """Map PMCIDs or DOIs to PMIDs by searching PubMed; None stands for one that no record has as its own."""
    resolved: Resolved = {}
    tag = "aid" if kind == "doi" else "pmcid"
    for start in range(0, len(values), PER_SEARCH):
        group = values[start : start + PER_SEARCH]
        searchable = [value for value in group if '"' not in value]
        resolved |= dict.fromkeys(group)
        if not searchable:
            continue
        term = " OR ".join(f'"{value}"[{tag}]' for value in searchable)
        try:
            pmids = parse_esearch(services.eutils.esearch(db="pubmed", term=term, retmax=200).content).ids
            articles = [record.article() for record in records_of(pmids)] if pmids else []
        except EntityNotFound:
            continue
        except (UpstreamError, RateLimited, InvalidInput) as exc:
            resolved |= dict.fromkeys(searchable, exc)
            continue
        for article in articles:
            for value in searchable:
                own = (article.doi, article.article_ids.get("doi")) if kind == "doi" else (article.pmcid,)
                if value.lower() in {(identifier or "").lower() for identifier in own}:
                    resolved[value] = article.pmid
    return resolved
