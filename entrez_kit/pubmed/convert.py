"""Convert between PMID, PMCID and DOI: one ordered outcome per input, whatever mix of kinds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from pydantic import Field

from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.identifiers import Identifier, IdKind, Key, read_identifier
from entrez_kit.model import Request, Result, Warn, sparse
from entrez_kit.operation import InParts, Operation, shortfall_of
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.pubmed.resolution import Resolved, ask_converter, invalid_dois, search_pubmed
from entrez_kit.pubmed.standing import Standing
from entrez_kit.pubmed.standing_lookup import Standings, look_up_standings, standing_shortfall
from entrez_kit.services import Services
from entrez_kit.wording import CHECK_IDS, GIVE_IDS, listed

if TYPE_CHECKING:
    from entrez_kit.pubmed.models import Article
    from entrez_kit.pubmed.xml.records import Record

MAX_IDS: Final = 10_000
MAX_MCP_IDS: Final = 50
KINDS: Final[tuple[IdKind, ...]] = ("pmid", "pmcid", "doi")

ConvertStatus = Literal["found", "not_found", "invalid", "error"]
NOT_IN_PMC: Final = "in PubMed, not in PMC"
INVALID_DOI: Final = "PubMed marks this DOI as invalid"
NOT_IN_PUBMED: Final = "in PMC, not in PubMed"


class ConvertRequest(Request):
    """Identifiers to convert; kinds may be mixed."""

    ids: list[str] = Field(min_length=1, max_length=MAX_IDS, description="PMIDs, PMCIDs and DOIs, also mixed.")
    id_type: IdKind | None = Field(
        default=None, description="What the ids are, where it does not show: pmid, pmcid or doi."
    )


class Conversion(Result):
    """What is known of one input.

    ``note`` says where an article is in only one of PubMed and PMC, where PubMed marks a DOI as invalid, and where the
    ID Converter and PubMed's record contradict each other; then the ids are PubMed's, if it knows the one asked for.
    """

    requested_id: str
    id_type: IdKind | None = sparse()
    status: ConvertStatus
    pmid: str | None = sparse()
    pmcid: str | None = sparse()
    doi: str | None = sparse()
    standing: Standing | None = sparse()
    note: str | None = sparse()
    message: str | None = sparse()


class ConvertResult(Result):
    """One record per input, in the order of the inputs."""

    RECORDS: ClassVar = "records"

    records: list[Conversion]
    total_converted: int
    total_submitted: int
    warnings: list[Warn] = sparse([])

    def shortfall(self) -> EntrezKitError | None:
        """Report inputs without a record."""
        missing = [record for record in self.records if record.status != "found"]
        return _shortfall_of(missing, self.total_converted, self.warnings)


def _shortfall_of(missing: Sequence[Conversion], converted: int, warnings: Sequence[Warn]) -> EntrezKitError | None:
    named = listed(record.requested_id for record in missing)
    said = [record.message for record in missing if record.status == "not_found"]
    more = f", and nothing of {len(said) - 1} more" if len(said) > 1 else ""
    none = f"Not {'an identifier' if len(missing) == 1 else 'identifiers'} of an article: {named}."
    return shortfall_of(
        missing,
        converted,
        "requested_id",
        unanswered=f"No answer for {named}.",
        invalid=(InvalidInput, none, GIVE_IDS, "invalid_identifiers"),
        unknown=(f"{next(iter(said), '')}{more}.", CHECK_IDS),
    ) or standing_shortfall(warnings)


class Conversions(InParts[str, Conversion]):
    """What becomes of each id, in order; many are converted in parts."""

    PART = 1_000

    def __init__(self, services: Services, request: ConvertRequest) -> None:
        super().__init__(services, request.ids)
        self._id_type = request.id_type

    def _part(self, start: int, inputs: Sequence[str]) -> list[Conversion]:
        services = self._services
        read = [_read(text, self._id_type) for text in inputs]
        unique = {identifier.key: identifier.value for identifier in reversed(read) if identifier}
        known = _converted(services, unique)
        looked_up = _from_pubmed(services, {key: value for key, value in unique.items() if key not in known.found})
        standings = look_up_standings(services, [one.pmid for one in known.found.values() if one.pmid])
        _reconcile(services, unique, known, looked_up, standings)
        for one in known.found.values():
            one.standing = standings.known.get(one.pmid or "")
        self.warnings += standings.warnings
        records = [
            _conversion(text, one, self._id_type, known, looked_up) for text, one in zip(inputs, read, strict=True)
        ]
        if self.error is None and any(record.status == "error" for record in records):
            self.error = next(one for one in (*looked_up.values(), known.error) if isinstance(one, EntrezKitError))
        return records

    def shortfall(self) -> EntrezKitError | None:
        """Report inputs without a record."""
        return _shortfall_of(self.missing, self.found, self.warnings)


def convert_ids(services: Services, request: ConvertRequest) -> Conversions:
    """Convert article identifiers between PMID, PMCID and DOI.

    Use it to join tables. Example: ids ["99000001", "PMC99000002", "10.5555/ekit.2024.3"].

    Raises:
        UpstreamError: neither the converter nor PubMed answered.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: PMC ID Converter; ESearch and EFetch (db=pubmed) for what it does not know;
    ESummary for how the articles stand.
    """
    return Conversions(services, request)


def result_of(request: ConvertRequest, conversions: Conversions) -> ConvertResult:
    """Build the result document from all outcomes."""
    records = list(conversions)
    return ConvertResult(
        records=records,
        total_converted=conversions.found,
        total_submitted=len(records),
        warnings=conversions.warnings,
    )


def _reconcile(
    services: Services, unique: dict[Key, str], known: "_KnownIds", looked_up: "LookedUp", standings: Standings
) -> None:
    """Compare what the converter says with the records it names; where they disagree PubMed is asked for the id."""
    told = {key: words for key, one in known.found.items() if (words := _contradiction(key, one, standings))}
    looked_up |= _from_pubmed(services, {key: unique[key] for key in told})
    for key, words in (told | known.told).items():
        own = looked_up.get(key)
        answer = own if isinstance(own, Conversion) else known.found.get(key)
        if answer is not None:
            noted = "; ".join(part for part in (answer.note, words) if part)
            known.found[key] = answer.model_copy(update={"note": noted})


def _contradiction(key: Key, one: Conversion, standings: Standings) -> str | None:
    """Return in what the converter and the record it names disagree."""
    if one.pmid is None or one.pmid in standings.unknown:
        return None
    summary = standings.summaries.get(one.pmid)
    if summary is None:
        return f"the ID Converter names PMID {one.pmid}, which PubMed does not have"
    kind, asked = key
    pairs = (
        ("PMCID", one.pmcid if kind != "pmcid" else asked, summary.pmcid),
        ("DOI", one.doi if kind != "doi" else asked, summary.doi),
    )
    wrong = [
        f"{name} {mine}, PubMed {theirs}"
        for name, mine, theirs in pairs
        if mine and theirs and mine.lower() != theirs.lower()
    ]
    return f"for PMID {one.pmid} the ID Converter has {' and '.join(wrong)}" if wrong else None


def _read(text: str, id_type: IdKind | None) -> Identifier | None:
    if id_type == "pmcid" and text.strip().isascii() and text.strip().isdigit():
        text = f"PMC{text.strip()}"
    identifier = read_identifier(text)
    return identifier if identifier and id_type in (None, identifier.kind) else None


@dataclass(slots=True)
class _KnownIds:
    """What the converter knows, which identifiers it does not take, and for which and why it gave no answer.

    ``told`` is what to say of those about which it answered with another one.
    """

    found: dict[Key, Conversion] = field(default_factory=dict)
    told: dict[Key, str] = field(default_factory=dict)
    refused: set[Key] = field(default_factory=set)
    unanswered: set[Key] = field(default_factory=set)
    error: EntrezKitError | None = None


def _of_kind(keys: dict[Key, str], kind: IdKind) -> dict[str, Key]:
    """Return the identifiers of a kind as they were written, in the order they were given."""
    return {keys[key]: key for key in reversed(keys) if key[0] == kind}


def _converted(services: Services, keys: dict[Key, str]) -> _KnownIds:
    """Ask the converter, kind by kind since it refuses mixed batches; when it is down, it is not asked on."""
    known = _KnownIds()
    for kind in KINDS:
        values = _of_kind(keys, kind)
        if known.error is not None:
            known.unanswered.update(values.values())
            continue
        found, failed, refused = ask_converter(services, list(values), kind)
        known.refused.update(values[value] for value in refused)
        for value, one in found.items():
            if one.another is not None:
                known.told[values[value]] = f"the ID Converter answered about {one.another} instead"
                continue
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
                    standing=article.standing,
                    note="; ".join(_notes(key, article, item.record)) or None,
                )
    return found


def _notes(key: Key, article: "Article", record: "Record") -> Iterator[str]:
    if not article.pmcid:
        yield NOT_IN_PMC
    if key[0] == "doi" and key[1] in invalid_dois(record):
        yield INVALID_DOI


def _conversion(
    text: str, identifier: Identifier | None, kind: IdKind | None, known: _KnownIds, looked_up: LookedUp
) -> Conversion:
    if identifier is None:
        message = f"not a {kind.upper()}" if kind else "not a PMID, PMCID or DOI"
        return Conversion(requested_id=text, status="invalid", message=message)
    key = identifier.key
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
    return Conversion(status="not_found", message=_unknown(identifier, key, known), **own)


def _unknown(identifier: Identifier, key: Key, known: _KnownIds) -> str:
    """Say who does not know an identifier: only those who were asked."""
    if key in known.told:
        return f"PubMed has no record of {identifier.value}; {known.told[key]}"
    if key in known.refused:
        return f"PubMed has no record of {identifier.value}; the ID Converter does not take it"
    if key in known.unanswered:
        return f"PubMed has no record of {identifier.value}; the ID Converter gave no answer"
    return f"Neither PMC nor PubMed knows {identifier.value}"


CONVERT = Operation(
    name="pubmed_convert_ids",
    outcomes=convert_ids,
    collect=result_of,
    command=("convert",),
    toolset="pubmed",
    title="Convert article identifiers",
    errors=(EntityNotFound, UpstreamError, RateLimited),
    mcp_caps={"ids": MAX_MCP_IDS},
)
