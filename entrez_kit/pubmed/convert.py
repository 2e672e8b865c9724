"""Convert between PMID, PMCID and DOI: one ordered outcome per input, whatever mix of kinds."""

import json
from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import Field

from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.identifiers import Identifier, IdKind, read_identifier
from entrez_kit.operation import Operation, Request, Result, sparse
from entrez_kit.pubmed.retrieval import Retrieval
from entrez_kit.services import Services
from entrez_kit.xml_reply import malformed

BATCH: Final = 200
MAX_IDS: Final = 10_000
MAX_MCP_IDS: Final = 50

ConvertStatus = Literal["found", "not_found", "invalid", "error"]
NOT_IN_PMC: Final = "in PubMed, not in PMC"


class ConvertRequest(Request):
    """Identifiers to convert; kinds may be mixed."""

    ids: list[str] = Field(min_length=1, max_length=MAX_IDS, description="PMIDs, PMCIDs and DOIs, also mixed.")
    id_type: IdKind | None = Field(
        default=None, description="What the ids are, where it does not show: pmid, pmcid or doi."
    )


class Conversion(Result):
    """What is known of one input. ``note`` says where an article is in PubMed but not in PMC."""

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
            return UpstreamError(f"No answer for {named}.", details={**details, "reason": "incomplete"})
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

    Source: PMC ID Converter; EFetch and ESearch (db=pubmed) for what it does not know.
    """
    read = [_read(text, request.id_type) for text in request.ids]
    known = _converted(services, [identifier for identifier in read if identifier])
    unknown = [
        identifier
        for identifier in dict.fromkeys(item for item in read if item)
        if identifier.value not in known or not known[identifier.value].pmid
    ]
    looked_up = _from_pubmed(services, unknown)
    records = [
        _conversion(text, identifier, known, looked_up) for text, identifier in zip(request.ids, read, strict=True)
    ]
    if all(record.status in ("error", "invalid") for record in records) and any(
        record.status == "error" for record in records
    ):
        first = next(item for item in looked_up.values() if isinstance(item, EntrezKitError))
        raise first
    return ConvertResult(
        records=records,
        total_converted=sum(record.status == "found" for record in records),
        total_submitted=len(records),
    )


def _read(text: str, id_type: IdKind | None) -> Identifier | None:
    if id_type == "pmcid" and text.strip().isascii() and text.strip().isdigit():
        text = f"PMC{text.strip()}"
    identifier = read_identifier(text)
    return identifier if identifier and id_type in (None, identifier.kind) else None


def _converted(services: Services, identifiers: Sequence[Identifier]) -> dict[str, Conversion]:
    """Ask the converter, kind by kind since it refuses mixed batches; nothing where it does not answer."""
    known: dict[str, Conversion] = {}
    for kind in ("pmid", "pmcid", "doi"):
        values = list(dict.fromkeys(item.value for item in identifiers if item.kind == kind))
        for start in range(0, len(values), BATCH):
            batch = values[start : start + BATCH]
            try:
                known |= parse_conversions(services.idconv.convert(batch, idtype=kind).content, batch, kind)
            except (UpstreamError, RateLimited, InvalidInput, EntityNotFound):
                continue  # its silence is no verdict: PubMed is asked next
    return known


def parse_conversions(content: bytes, requested: Sequence[str], kind: str) -> dict[str, Conversion]:
    """Return what a converter reply says of each requested id; those it does not know are left out.

    Raises:
        UpstreamError: the reply is no list of records.
    """
    try:
        records = json.loads(content)["records"]
        if not isinstance(records, list):
            raise TypeError("records is no list")
    except (ValueError, KeyError, TypeError) as exc:
        raise malformed("idconv", f"no records in it ({type(exc).__name__})") from None
    wanted = {value.lower(): value for value in requested}
    known: dict[str, Conversion] = {}
    for record in records:
        asked = str(record.get("requested-id") or record.get(kind) or "").strip().lower()
        value = wanted.get(asked) or wanted.get(asked.partition(".")[0])
        pmid, pmcid, doi = (str(record.get(name) or "").strip() or None for name in ("pmid", "pmcid", "doi"))
        if value is None or record.get("errmsg") or record.get("status") == "error":
            continue
        known[value] = Conversion(
            requested_id=value,
            status="found",
            pmid=pmid,
            pmcid=pmcid.partition(".")[0] if pmcid else None,
            doi=doi,
        )
    return known


def _from_pubmed(services: Services, identifiers: Sequence[Identifier]) -> "dict[str, Conversion | EntrezKitError]":
    """Read the ids of articles from their PubMed records; an id without record is left out."""
    found: dict[str, Conversion | EntrezKitError] = {}
    if not identifiers:
        return found
    for item in Retrieval.of_ids(services, [identifier.value for identifier in identifiers]):
        if item.error is not None:
            found[item.input] = item.error
        elif item.status == "found" and item.record is not None:
            article = item.record.article()
            found[item.input] = Conversion(
                requested_id=item.input,
                status="found",
                pmid=article.pmid,
                pmcid=article.pmcid,
                doi=article.doi,
                note=None if article.pmcid else NOT_IN_PMC,
            )
    return found


def _conversion(
    text: str,
    identifier: Identifier | None,
    known: dict[str, Conversion],
    looked_up: "dict[str, Conversion | EntrezKitError]",
) -> Conversion:
    if identifier is None:
        return Conversion(requested_id=text, status="invalid", message="not a PMID, PMCID or DOI (of the given kind)")
    own = {"requested_id": text, "id_type": identifier.kind}
    from_pubmed = looked_up.get(identifier.value)
    converted = known.get(identifier.value)
    if isinstance(from_pubmed, Conversion):
        extra = {"doi": converted.doi, "pmcid": converted.pmcid} if converted else {}
        return from_pubmed.model_copy(update={**{k: v for k, v in extra.items() if v}, **own})
    if converted is not None:
        return converted.model_copy(update=own)
    if from_pubmed is not None:
        return Conversion(status="error", message=from_pubmed.message, **own)
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
