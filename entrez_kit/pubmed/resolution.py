"""Resolve PMCIDs and DOIs to PMIDs: by the ID Converter first, then by a search of PubMed."""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.identifiers import Identifier, IdKind, normalize_doi
from entrez_kit.core.batches import collect_batches
from entrez_kit.services import Services
from entrez_kit.services.known_shapes import JsonShape, log_drift, require_texts
from entrez_kit.services.small_replies import malformed_error
from entrez_kit.services.transport.in_flight import run_in_order

if TYPE_CHECKING:
    from entrez_kit.pubmed.xml.records import Record

PER_SEARCH: Final = 25
"""Identifiers in one ESearch. The records found are assigned to the identifiers by their own ids."""
PER_FETCH: Final = 200
"""Records in one EFetch, and the most that a search returns."""
PER_CONVERSION: Final[Mapping[IdKind, int]] = {"pmid": 150, "pmcid": 120, "doi": 30}
"""Identifiers in one request to the ID Converter. It accepts 200, but the URL must stay below 2,000 characters."""

QUOTE: Final = '"'
Resolved = dict[str, str | EntrezKitError | None]


@dataclass(frozen=True, slots=True)
class ConvertedIds:
    """The ids of an article from the ID Converter. The article is in PMC, and usually in PubMed."""

    pmid: str | None
    pmcid: str | None
    doi: str | None


def resolve(
    services: Services, identifiers: Sequence[Identifier], records_of: "Callable[[Sequence[str]], list[Record]]"
) -> Resolved:
    """Map the value of each identifier to its PMID, to None if PubMed has no record, or to an error.

    The ID Converter has only articles in PMC, so PubMed is searched for identifiers that the converter does not have.
    """
    resolved: Resolved = {}
    kinds: tuple[IdKind, ...] = ("pmcid", "doi")
    for kind in kinds:
        values = list(dict.fromkeys(item.value for item in identifiers if item.kind == kind))
        known, _, _ = ask_converter(services, values, kind)
        converted = {value: ids.pmid for value, ids in known.items() if ids.pmid is not None}
        resolved |= converted
        resolved |= search_pubmed(services, [value for value in values if value not in converted], kind, records_of)
    return resolved


def ask_converter(
    services: Services, values: Sequence[str], kind: IdKind
) -> tuple[dict[str, ConvertedIds], dict[str, EntrezKitError], set[str]]:
    """Convert identifiers of one kind with the ID Converter; return the converted, the failed and the refused ones.

    DOIs that differ only in case are sent once.
    """
    unique: dict[str, str] = {}
    for value in values:
        unique.setdefault(value.lower(), value)

    def convert_batch(batch: list[str]) -> dict[str, ConvertedIds]:
        return services.idconv.convert(
            batch, idtype=kind, read=partial(parse_converted, kind=kind, requested_ids=batch)
        ).value

    refusals = (EntityNotFound, InvalidInput)
    at_once = services.idconv.at_once
    requested = collect_batches(
        list(unique.values()), PER_CONVERSION[kind], convert_batch, refusals=refusals, at_once=at_once
    )
    ids_by_key = {key: ids for _, part in requested.answers for key, ids in part.items()}
    failed = {key.lower(): error for key, error in requested.failed.items()}
    refused = {key.lower() for key in requested.refused}
    return (
        {value: ids_by_key[value.lower()] for value in values if value.lower() in ids_by_key},
        {value: failed[value.lower()] for value in values if value.lower() in failed},
        {value for value in values if value.lower() in refused},
    )


CONVERTED: Final = JsonShape(
    "ID Converter",
    {
        "status": str,
        "response-date": re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"),
        "message": str,
        "request": object,
        "records": [
            {
                **require_texts("pmcid doi mid requested-id status errmsg live release-date"),
                "pmid": (int, str),
                "aiid": (int, str),
                "versions": object,
            }
        ],
    },
    required="status records",
)


def parse_converted(
    content: bytes, kind: IdKind, requested_ids: Collection[str] | None = None
) -> dict[str, ConvertedIds]:
    """Read a reply of the ID Converter: the ids of each requested id, which is in lower case and without version.

    The reply has a record with an error for each unknown id; these are omitted.

    Args:
        content: the reply.
        kind: the kind of the requested ids.
        requested_ids: the requested ids, if the reply must have one record for each of them.

    Raises:
        UpstreamError: the reply is not a list of records, lacks a requested id, or has one twice; or the ids of a
            record are not those of the requested article.
    """
    try:
        records = json.loads(content)["records"]
        if not isinstance(records, list):
            raise TypeError("records is not a list")
    except (ValueError, KeyError, TypeError) as exc:
        raise malformed_error("idconv", f"it has no records ({type(exc).__name__})") from None
    log_drift(CONVERTED, content)
    known: dict[str, ConvertedIds | None] = {}
    for record in records:
        if not isinstance(record, dict):
            continue
        pmid, pmcid, doi = (str(record.get(name) or "").strip() or None for name in ("pmid", "pmcid", "doi"))
        bare = _normalize(str(record.get("requested-id") or record.get(kind) or ""), kind)
        if bare in known:
            raise malformed_error("idconv", f"it has two records of {bare[:100]}")
        known[bare] = None
        if record.get("errmsg") or record.get("status") == "error":
            continue
        digits = pmid if pmid is not None and pmid.isascii() and pmid.isdigit() else None
        converted = ConvertedIds(digits, pmcid.partition(".")[0] if pmcid else None, doi)
        found_id = getattr(converted, kind)
        if found_id is not None and _normalize(found_id, kind) != bare:
            raise malformed_error("idconv", f"it has a record of {found_id[:100]} for the requested id {bare[:100]}")
        if not pmcid:
            raise malformed_error("idconv", f"the record of {bare[:100]} has no PMCID")
        known[bare] = converted
    if requested_ids is not None and (
        wrong := {_normalize(requested_id, kind) for requested_id in requested_ids} ^ known.keys()
    ):
        raise malformed_error("idconv", f"its records are not those of the requested ids, such as {min(wrong)[:100]!r}")
    return {bare: converted for bare, converted in known.items() if converted is not None}


def _normalize(value: str, kind: IdKind) -> str:
    """Return an id in the form for comparison: in lower case, a PMCID without version."""
    text = value.strip().lower()
    return text.partition(".")[0] if kind == "pmcid" else text


def search_pubmed(
    services: Services,
    values: Sequence[str],
    kind: IdKind,
    records_of: "Callable[[Sequence[str]], list[Record]]",
) -> Resolved:
    """Map PMCIDs or DOIs to PMIDs by searches of PubMed; an id that no record has as its own maps to None.

    The records that the searches find are fetched together.
    """
    tag = "aid" if kind == "doi" else "pmcid"

    def search(group: Sequence[str]) -> Sequence[str] | EntrezKitError:
        term = " OR ".join(f'"{value.replace(QUOTE, " ")}"[{tag}]' for value in group)
        try:
            return services.eutils.esearch(db="pubmed", term=term, retmax=PER_FETCH).value.ids
        except (UpstreamError, RateLimited, InvalidInput) as exc:
            return exc

    def read_owners(pmids: list[str]) -> dict[str, str]:
        owners: dict[str, str] = {}
        for record in records_of(pmids):
            own = list_own_dois(record) if kind == "doi" else {(record.article().pmcid or "").lower()}
            owners |= dict.fromkeys(own, record.pmid)
        return owners

    at_once = services.eutils.at_once
    groups = [values[start : start + PER_SEARCH] for start in range(0, len(values), PER_SEARCH)]
    searched = list(run_in_order((partial(search, group) for group in groups), at_once if len(groups) > 1 else 1))
    pmids = list(
        dict.fromkeys(pmid for listed in searched if not isinstance(listed, EntrezKitError) for pmid in listed)
    )
    fetched = collect_batches(pmids, PER_FETCH, read_owners, refusals=(EntityNotFound, InvalidInput), at_once=at_once)
    errors = fetched.failed | {pmid: exc for pmid, exc in fetched.refused.items() if isinstance(exc, InvalidInput)}
    owners = {own: pmid for _, part in fetched.answers for own, pmid in part.items()}
    resolved: Resolved = {}
    for group, listed in zip(groups, searched, strict=True):
        if isinstance(listed, EntrezKitError):
            resolved |= dict.fromkeys(group, listed)
            continue
        unread = next((errors[pmid] for pmid in listed if pmid in errors), None)
        resolved |= {value: owners.get(value.lower(), unread) for value in group}
    return resolved


def list_own_dois(record: "Record") -> set[str]:
    """Return the DOIs of a record in lower case, including those that NLM marks as invalid."""
    article = record.article()
    valid = [article.doi or "", *(value for kind, value in article.article_ids.items() if kind.startswith("doi"))]
    return {doi.lower() for doi in valid if doi} | list_invalid_dois(record)


def list_invalid_dois(record: "Record") -> set[str]:
    """Return the DOIs, in lower case, that a record's electronic locations mark as invalid."""
    if b'ValidYN="N"' not in record.raw:
        return set()
    located = record.element.iter("ELocationID")
    marked = (element for element in located if element.get("ValidYN") == "N" and element.get("EIdType") == "doi")
    return {normalize_doi(element.text or "").lower() for element in marked}
