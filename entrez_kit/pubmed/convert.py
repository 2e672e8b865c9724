"""Convert between PMID, PMCID and DOI, also mixed: one outcome per input, in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

from pydantic import Field

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import CHECK_IDS, GIVE_IDS, format_count, join_names
from entrez_kit.base.identifiers import Identifier, IdKind, read_identifier
from entrez_kit.core.model import Collected, Request, Result, Warn, omit_if_empty
from entrez_kit.core.operation import AgentOptions, StreamOperation
from entrez_kit.core.outcomes import BatchedOutcomes, build_missing_error
from entrez_kit.pubmed.models import Standing
from entrez_kit.pubmed.record_batches import RecordBatches
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.pubmed.resolution import Resolved, ask_converter, list_invalid_dois, search_pubmed
from entrez_kit.pubmed.standing_lookup import Standings, look_up_standings, standing_error
from entrez_kit.services import Services

MAX_IDS: Final = 10_000
MAX_MCP_IDS: Final = 50
KINDS: Final[tuple[IdKind, ...]] = ("pmid", "pmcid", "doi")

Kinds = Mapping[str, IdKind]
"""The kind of each identifier, in the order and the spelling of the inputs."""
ConvertStatus = Literal["found", "not_found", "invalid", "error"]
NOT_IN_PMC: Final = "in PubMed, not in PMC"
INVALID_DOI: Final = "PubMed marks this DOI as invalid"
NOT_IN_PUBMED: Final = "in PMC, not in PubMed"


class ConvertRequest(Request):
    """The identifiers to convert, of any kinds."""

    INPUTS: ClassVar = "ids"

    ids: list[str] = Field(min_length=1, max_length=MAX_IDS, description="PMIDs, PMCIDs and DOIs.")
    id_type: IdKind | None = Field(default=None, description="Kind of ids that are only numbers: pmid, pmcid or doi.")


class Conversion(Result):
    """The ids of one input.

    ``note`` is present if an article is in only one of PubMed and PMC, if PubMed marks a DOI as invalid, or if the ID
    Converter and PubMed's record contradict each other; then the ids are PubMed's, if PubMed has the requested id.
    """

    requested_id: str
    id_type: IdKind | None = omit_if_empty()
    status: ConvertStatus
    pmid: str | None = omit_if_empty()
    pmcid: str | None = omit_if_empty()
    doi: str | None = omit_if_empty()
    standing: Standing | None = omit_if_empty()
    note: str | None = omit_if_empty()
    message: str | None = omit_if_empty()


class ConvertResult(Collected):
    """One record per input, in the order of the inputs."""

    RECORDS: ClassVar = "records"

    records: list[Conversion]
    total_converted: int
    total_submitted: int
    warnings: list[Warn] = omit_if_empty([])


class Conversions(BatchedOutcomes[str, Conversion]):
    """The outcome of each id, in order; long lists are converted in parts."""

    BATCH_SIZE = 1_000

    def __init__(self, services: Services, request: ConvertRequest) -> None:
        super().__init__(services, request.ids)
        self._id_type = request.id_type

    def _request_batch(self, start: int, inputs: Sequence[str]) -> list[Conversion]:
        services = self._services
        read = [_read_input(text, self._id_type) for text in inputs]
        unique = {identifier.key: identifier for identifier in reversed(read) if identifier}
        kinds = {identifier.value: identifier.kind for identifier in reversed(unique.values())}
        known_ids = _ask_converter(services, kinds)
        looked_up = _search_pubmed(
            services, {value: kind for value, kind in kinds.items() if value not in known_ids.found}
        )
        standings = look_up_standings(
            services, [conversion.pmid for conversion in known_ids.found.values() if conversion.pmid]
        )
        _reconcile(services, kinds, known_ids, looked_up, standings)
        for conversion in known_ids.found.values():
            conversion.standing = standings.known.get(conversion.pmid or "")
        self.warnings += standings.warnings
        no_id = f"not a {self._id_type.upper()}" if self._id_type else "not a PMID, PMCID or DOI"
        records = [
            _build_conversion(text, requested, unique[requested.key].value, known_ids, looked_up)
            if requested
            else Conversion(requested_id=text, status="invalid", message=no_id)
            for text, requested in zip(inputs, read, strict=True)
        ]
        if self.error is None and any(record.status == "error" for record in records):
            self.error = next(
                error for error in (*looked_up.values(), known_ids.error) if isinstance(error, EntrezKitError)
            )
        return records

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for inputs without a record."""
        named = join_names(record.requested_id for record in self.missing)
        messages = [record.message for record in self.missing if record.status == "not_found"]
        others = format_count(len(messages) - 1, "more id was", "more ids were")
        more = f"; {others} not found" if len(messages) > 1 else ""
        none = f"Not {'a PMID, PMCID or DOI' if len(self.missing) == 1 else 'PMIDs, PMCIDs or DOIs'}: {named}."
        return build_missing_error(
            self.missing,
            self.found,
            "requested_id",
            unanswered=f"The ids of {named} could not be looked up.",
            invalid=(InvalidInput, none, GIVE_IDS, "invalid_identifiers"),
            unknown=(f"{next(iter(messages), '')}{more}.", CHECK_IDS),
        ) or standing_error(self.warnings)


def convert_ids(services: Services, request: ConvertRequest) -> Conversions:
    """Convert article identifiers between PMID, PMCID and DOI.

    Use it to join tables by id, e.g. ids ["99000001", "PMC99000002"].

    Raises:
        UpstreamError: neither the converter nor PubMed answered.
        RateLimited: NCBI refused, or no slot is free before the deadline.

    Source: PMC ID Converter; ESearch and EFetch (db=pubmed) for ids that the converter does not have; ESummary for
    retractions and corrections.
    """
    return Conversions(services, request)


def collect_result(request: ConvertRequest, conversions: Conversions) -> ConvertResult:
    """Build the result document from all outcomes."""
    records = list(conversions)
    return ConvertResult(
        records=records,
        total_converted=conversions.found,
        total_submitted=len(records),
        warnings=conversions.warnings,
    )


def _reconcile(
    services: Services, kinds: Kinds, known: "_KnownIds", looked_up: "LookedUp", standings: Standings
) -> None:
    """Compare the converter's ids with the PubMed records they name; if they disagree, search PubMed for the id."""
    fields = {
        value: words
        for value, conversion in known.found.items()
        if (words := _find_contradiction(value, kinds[value], conversion, standings))
    }
    looked_up |= _search_pubmed(services, {value: kinds[value] for value in fields})
    for value, words in fields.items():
        search_result = looked_up.get(value)
        conversion = search_result if isinstance(search_result, Conversion) else known.found.get(value)
        if conversion is not None:
            noted = "; ".join(part for part in (conversion.note, words) if part)
            known.found[value] = conversion.model_copy(update={"note": noted})


def _find_contradiction(requested_id: str, kind: IdKind, conversion: Conversion, standings: Standings) -> str | None:
    """Return the contradiction between the converter and the record that it names."""
    if conversion.pmid is None or conversion.pmid in standings.unknown:
        return None
    summary = standings.summaries.get(conversion.pmid)
    if summary is None:
        return f"the ID Converter names PMID {conversion.pmid}, which PubMed does not have"
    pairs = (
        ("PMCID", conversion.pmcid if kind != "pmcid" else requested_id, summary.pmcid),
        ("DOI", conversion.doi if kind != "doi" else requested_id, summary.doi),
    )
    wrong = [
        f"{name} {mine}, PubMed {theirs}"
        for name, mine, theirs in pairs
        if mine and theirs and mine.lower() != theirs.lower()
    ]
    return f"for PMID {conversion.pmid} the ID Converter has {' and '.join(wrong)}" if wrong else None


def _read_input(text: str, id_type: IdKind | None) -> Identifier | None:
    if id_type == "pmcid" and text.strip().isascii() and text.strip().isdigit():
        text = f"PMC{text.strip()}"
    identifier = read_identifier(text)
    return identifier if identifier and id_type in (None, identifier.kind) else None


@dataclass(slots=True)
class _KnownIds:
    """The converter's results: the ids found, refused and unanswered, and the error of the unanswered ones."""

    found: dict[str, Conversion] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    unanswered: set[str] = field(default_factory=set)
    error: EntrezKitError | None = None


def _ask_converter(services: Services, kinds: Kinds) -> _KnownIds:
    """Request the converter once per kind, because it refuses mixed batches; stop at the first failure."""
    known = _KnownIds()
    for kind in KINDS:
        values = [value for value, own in kinds.items() if own == kind]
        if known.error is not None:
            known.unanswered.update(values)
            continue
        converted, failed, refused = ask_converter(services, values, kind)
        known.refused |= refused
        for value, conversion in converted.items():
            known.found[value] = Conversion(
                requested_id=value,
                status="found",
                pmid=conversion.pmid,
                pmcid=conversion.pmcid,
                doi=conversion.doi,
                note=None if conversion.pmid else NOT_IN_PUBMED,
            )
        known.unanswered.update(failed)
        known.error = next(iter(failed.values()), None)
    return known


LookedUp = dict[str, "Conversion | EntrezKitError"]


def _search_pubmed(services: Services, kinds: Kinds) -> LookedUp:
    """Read the ids of articles from their PubMed records; omit ids without a record."""
    looked_up: LookedUp = {}
    pmids: dict[str, list[str]] = {}
    reader = RecordBatches(services)
    for kind in KINDS:
        values = [value for value, own in kinds.items() if own == kind]
        resolved: Resolved = {value: value for value in values}
        if kind != "pmid":
            resolved = search_pubmed(services, values, kind, reader.fetch_by_pmid)
        for value, pmid in resolved.items():
            if isinstance(pmid, EntrezKitError):
                looked_up[value] = pmid
            elif pmid is not None:
                pmids.setdefault(pmid, []).append(value)
    for item in Retrieval.of_ids(services, list(pmids)) if pmids else ():
        for value in pmids[item.input]:
            if item.error is not None:
                looked_up[value] = item.error
            elif item.record is not None:
                article = item.record.article()
                marked = kinds[value] == "doi" and value.lower() in list_invalid_dois(item.record)
                notes = (NOT_IN_PMC if not article.pmcid else "", INVALID_DOI if marked else "")
                looked_up[value] = Conversion(
                    requested_id=item.input,
                    status="found",
                    pmid=article.pmid,
                    pmcid=article.pmcid,
                    doi=article.doi,
                    standing=article.standing,
                    note="; ".join(filter(None, notes)) or None,
                )
    return looked_up


def _build_conversion(
    text: str, identifier: Identifier, value: str, known: _KnownIds, looked_up: LookedUp
) -> Conversion:
    fields = {"requested_id": text, "id_type": identifier.kind}
    conversion = known.found.get(value) or looked_up.get(value)
    if isinstance(conversion, Conversion):
        return conversion.model_copy(update=fields)
    if conversion is not None:
        return Conversion(status="error", message=conversion.message, **fields)
    if value in known.unanswered and identifier.kind != "pmid" and known.error is not None:
        # PubMed does not have the article, but PMC has some articles that PubMed does not have.
        message = f"not in PubMed, and PMC could not be checked: {known.error.message}"
        return Conversion(status="error", message=message, **fields)
    why = None
    if value in known.refused:
        why = "the ID Converter refused it"
    elif value in known.unanswered:
        why = "the ID Converter did not answer"
    source = tracing.name_source(begins=True)
    nowhere = f"{'Neither PMC nor PubMed has' if source == 'PubMed' else f'{source} does not have'} {identifier.value}"
    message = f"{source} has no record of {identifier.value}; {why}" if why else nowhere
    return Conversion(status="not_found", message=message, **fields)


CONVERT = StreamOperation(
    name="pubmed_convert_ids",
    request=ConvertRequest,
    result=ConvertResult,
    outcomes=convert_ids,
    collect=collect_result,
    command=("convert",),
    toolset="pubmed",
    title="Convert article identifiers",
    agents=AgentOptions(caps={"ids": MAX_MCP_IDS}),
)
