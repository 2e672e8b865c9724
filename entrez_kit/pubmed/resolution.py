"""Resolve PMCIDs and DOIs to PMIDs: the ID Converter first, PubMed itself for what it does not know."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from entrez_kit.batches import in_batches
from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.esearch_reply import parse_esearch
from entrez_kit.identifiers import Identifier, IdKind
from entrez_kit.services import Services
from entrez_kit.xml_reply import malformed

if TYPE_CHECKING:
    from entrez_kit.pubmed.records import Record

PER_SEARCH: Final = 25
"""Identifiers looked up in one ESearch; the records found are matched back by their own identifiers."""
PER_CONVERSION: Final[Mapping[IdKind, int]] = {"pmid": 150, "pmcid": 120, "doi": 30}
"""Identifiers sent to the ID Converter at a time: it takes 200, but the address must stay below 2,000 characters."""

Resolved = dict[str, str | EntrezKitError | None]


@dataclass(frozen=True, slots=True)
class Converted:
    """What the ID Converter knows of an article; it is in PMC, and mostly in PubMed."""

    pmid: str | None
    pmcid: str | None
    doi: str | None


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
        known, _ = ask_converter(services, values, kind)
        converted = {value: one.pmid for value, one in known.items() if one.pmid is not None}
        resolved |= converted
        resolved |= search_pubmed(services, [value for value in values if value not in converted], kind, records_of)
    return resolved


def ask_converter(
    services: Services, values: Sequence[str], kind: IdKind
) -> tuple[dict[str, Converted], dict[str, EntrezKitError]]:
    """Return what the ID Converter knows of identifiers of one kind, and those it gave no answer about.

    DOIs that differ only in case are asked for once.
    """
    unique: dict[str, str] = {}
    for value in values:
        unique.setdefault(value.lower(), value)

    def ask(batch: list[str]) -> dict[str, Converted]:
        return parse_converted(services.idconv.convert(batch, idtype=kind).content, kind)

    asked = in_batches(list(unique.values()), PER_CONVERSION[kind], ask, refusals=(EntityNotFound, InvalidInput))
    known = {key: one for _, part in asked.answers for key, one in part.items()}
    failed = {key.lower(): error for key, error in asked.failed.items()}
    return (
        {value: known[value.lower()] for value in values if value.lower() in known},
        {value: failed[value.lower()] for value in values if value.lower() in failed},
    )


def parse_converted(content: bytes, kind: IdKind) -> dict[str, Converted]:
    """Return what a reply of the converter says, by the id that was asked for, in lower case and without version.

    Articles it does not know are left out.

    Raises:
        UpstreamError: the reply is no list of records.
    """
    try:
        records = json.loads(content)["records"]
        if not isinstance(records, list):
            raise TypeError("records is no list")
    except (ValueError, KeyError, TypeError) as exc:
        raise malformed("idconv", f"no records in it ({type(exc).__name__})") from None
    known: dict[str, Converted] = {}
    for record in records:
        if not isinstance(record, dict) or record.get("errmsg") or record.get("status") == "error":
            continue
        pmid, pmcid, doi = (str(record.get(name) or "").strip() or None for name in ("pmid", "pmcid", "doi"))
        asked = str(record.get("requested-id") or record.get(kind) or "").strip().lower()
        digits = pmid if pmid is not None and pmid.isascii() and pmid.isdigit() else None
        if asked and (digits or pmcid):
            bare = asked.partition(".")[0] if kind == "pmcid" else asked
            known[bare] = Converted(digits, pmcid.partition(".")[0] if pmcid else None, doi)
    return known


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
