"""Convert between PMID, PMCID and DOI: one ordered outcome per input, whatever mix of kinds."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import Field

from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.identifiers import Identifier, IdKind, read_identifier
from entrez_kit.operation import Operation, Request, Result, sparse
from entrez_kit.pubmed.resolution import Resolved, ask_converter, search_pubmed
from entrez_kit.pubmed.retrieval import Retrieval
from entrez_kit.services import Services

MAX_IDS: Final = 10_000
MAX_MCP_IDS: Final = 50
KINDS: Final[tuple[IdKind, ...]] = ("pmid", "pmcid", "doi")

ConvertStatus = Literal["found", "not_found", "invalid", "error"]
NOT_IN_PMC: Final = "in PubMed, not in PMC"
NOT_IN_PUBMED: Final = "in PMC, not in PubMed"


class ConvertRequest(Request):
    """Identifiers to convert; kinds may be mixed."""

    ids: list[str] = Field(min_length=1, max_length=MAX_IDS, description="PMIDs, PMCIDs and DOIs, also mixed.")
    id_type: IdKind | None = Field(
        default=None, description="What the ids are, where it does not show: pmid, pmcid or doi."
    )


class Conversion(Result):
    """What is known of one input. ``note`` says where an article is in only one of PubMed and PMC."""

    requested_id: str
    id_type: IdKind | None = sparse()
    status: ConvertStatus
    pmid: str | None = sparse()
    pmcid: str | None = sparse()
    doi: str | None = sparse()
    note: str | None = sparse()
    message: str | None = sparse()


class ConvertResult(Result):
    """One record per input, in the order of the inputs."""

    records: list[Conversion]
    total_converted: int
    total_submitted: int

    def shortfall(self) -> EntrezKitError | None:
        """Report inputs without a record."""
        missing = [record for record in self.records if record.status != "found"]
        if not missing:
            return None
        details: dict[str, Any] = {
            "partial": self.total_converted > 0,
            "missing": [record.model_dump() for record in missing],
        }
        named = ", ".join(record.requested_id for record in missing[:10]) + (" ..." if len(missing) > 10 else "")
        if any(record.status == "error" for record in missing):
            return UpstreamError(
                f"No answer for {named}.",
                recovery_hint="Run the same command again: what was answered is in the cache, only the rest is asked "
                "for.",
                details={**details, "reason": "incomplete"},
            )
        if all(record.status == "invalid" for record in missing) and not self.total_converted:
            return InvalidInput(
                f"No input is an identifier of an article: {named}.",
                invalid_input=missing[0].requested_id,
                recovery_hint="Give PMIDs (12345678), PMCIDs (PMC1234567) or DOIs (10.1000/xyz).",
                details={**details, "reason": "invalid_identifiers"},
            )
        return EntityNotFound(
            f"Neither PMC nor PubMed knows {named}.",
            invalid_input=missing[0].requested_id,
            recovery_hint="Check the identifiers; to look for the article call pubmed_search_articles.",
            details={**details, "reason": "not_found"},
        )


def convert_ids(services: Services, request: ConvertRequest) -> ConvertResult:
    """Convert article identifiers between PMID, PMCID and DOI.

    Use it before asking for full text, or to join tables that name articles differently. Example: ids ["99000001",
    "PMC99000002", "10.5555/ekit.2024.3"]. An article that is in PubMed but not in PMC has no PMCID and says so.

    Args:
        services: the clients.
        request: the identifiers.

    Raises:
        UpstreamError: neither the converter nor PubMed answered.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: PMC ID Converter; ESearch and EFetch (db=pubmed) for what it does not know.
    """
    read = [_read(text, request.id_type) for text in request.ids]
    unique = {_key(identifier): identifier.value for identifier in reversed(read) if identifier}
    known = _converted(services, unique)
    looked_up = _from_pubmed(services, {key: value for key, value in unique.items() if key not in known.found})
    records = [
        _conversion(text, identifier, known, looked_up) for text, identifier in zip(request.ids, read, strict=True)
    ]
    errors = [record for record in records if record.status == "error"]
    if errors and all(record.status in ("error", "invalid") for record in records):
        raise next(item for item in (*looked_up.values(), known.error) if isinstance(item, EntrezKitError))
    return ConvertResult(
        records=records,
        total_converted=sum(record.status == "found" for record in records),
        total_submitted=len(records),
    )


Key = tuple[IdKind, str]
"""An identifier as it is compared: a DOI without regard to case."""


def _key(identifier: Identifier) -> Key:
    return identifier.kind, identifier.value.lower() if identifier.kind == "doi" else identifier.value


def _read(text: str, id_type: IdKind | None) -> Identifier | None:
    if id_type == "pmcid" and text.strip().isascii() and text.strip().isdigit():
        text = f"PMC{text.strip()}"
    identifier = read_identifier(text)
    return identifier if identifier and id_type in (None, identifier.kind) else None


@dataclass(slots=True)
class _Known:
    """What the converter knows, and for which identifiers and why it gave no answer."""

    found: dict[Key, Conversion] = field(default_factory=dict)
    unanswered: set[Key] = field(default_factory=set)
    error: EntrezKitError | None = None


def _of_kind(keys: dict[Key, str], kind: IdKind) -> dict[str, Key]:
    """Return the identifiers of a kind as they were written, in the order they were given."""
    return {keys[key]: key for key in reversed(keys) if key[0] == kind}


def _converted(services: Services, keys: dict[Key, str]) -> _Known:
    """Ask the converter, kind by kind since it refuses mixed batches; when it is down, it is not asked on."""
    known = _Known()
    for kind in KINDS:
        values = _of_kind(keys, kind)
        if known.error is not None:
            known.unanswered.update(values.values())
            continue
        found, failed = ask_converter(services, list(values), kind)
        for value, one in found.items():
            known.found[values[value]] = Conversion(
                requested_id=value,
                status="found",
                pmid=one.pmid,
                pmcid=one.pmcid,
                doi=one.doi,
                note=None if one.pmid else NOT_IN_PUBMED,
            )
        known.unanswered.update(values[value] for value in failed)
        known.error = next(iter(failed.values()), None)
    return known


LookedUp = dict[Key, "Conversion | EntrezKitError"]


def _from_pubmed(services: Services, keys: dict[Key, str]) -> LookedUp:
    """Read the ids of articles from their PubMed records; an id without record is left out."""
    found: LookedUp = {}
    pmids: dict[str, list[Key]] = {}
    reader = Retrieval(services, medline=False)
    for kind in KINDS:
        values = _of_kind(keys, kind)
        resolved: Resolved = {value: value for value in values}
        if kind != "pmid":
            resolved = search_pubmed(services, list(values), kind, reader.records_of)
        for value, pmid in resolved.items():
            if isinstance(pmid, EntrezKitError):
                found[values[value]] = pmid
            elif pmid is not None:
                pmids.setdefault(pmid, []).append(values[value])
    for item in Retrieval.of_ids(services, list(pmids)) if pmids else ():
        for key in pmids[item.input]:
            if item.error is not None:
                found[key] = item.error
            elif item.record is not None:
                article = item.record.article()
                found[key] = Conversion(
                    requested_id=item.input,
                    status="found",
                    pmid=article.pmid,
                    pmcid=article.pmcid,
                    doi=article.doi,
                    note=None if article.pmcid else NOT_IN_PMC,
                )
    return found


def _conversion(text: str, identifier: Identifier | None, known: _Known, looked_up: LookedUp) -> Conversion:
    if identifier is None:
        return Conversion(requested_id=text, status="invalid", message="not a PMID, PMCID or DOI (of the given kind)")
    key = _key(identifier)
    own = {"requested_id": text, "id_type": identifier.kind}
    answer = known.found.get(key) or looked_up.get(key)
    if isinstance(answer, Conversion):
        return answer.model_copy(update=own)
    if answer is not None:
        return Conversion(status="error", message=answer.message, **own)
    if key in known.unanswered and identifier.kind != "pmid" and known.error is not None:
        # PubMed has no such article, but PMC holds some that PubMed has not.
        message = f"not in PubMed; whether PMC has it is unknown: {known.error.message}"
        return Conversion(status="error", message=message, **own)
    return Conversion(status="not_found", message=f"Neither PMC nor PubMed knows {identifier.value}", **own)


CONVERT = Operation(
    name="pubmed_convert_ids",
    function=convert_ids,
    request=ConvertRequest,
    result=ConvertResult,
    method="convert_ids",
    command=("convert",),
    toolset="pubmed",
    title="Convert article identifiers",
    errors=(EntityNotFound, UpstreamError, RateLimited),
    mcp_caps={"ids": MAX_MCP_IDS},
)
