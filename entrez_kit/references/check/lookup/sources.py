"""Look up the publication status of works in PubMed, Europe PMC, Crossref, OpenAlex and Retraction Watch.

No source has all retractions, so a work without a notice in one source may be retracted. A source that failed, or that
has no record of a work, does not count as a source without notices.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, NotConfigured, UpstreamError
from entrez_kit.base.name_lists import parse_names
from entrez_kit.core.batches import collect_batches
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.pubmed.models import Article, Standing, StandingNotice, StandingStatus
from entrez_kit.pubmed.standing import choose_graver
from entrez_kit.references.check.lookup.crossref_records import determine_standing_of_work
from entrez_kit.references.check.lookup.retraction_watch import RetractionWatch, read_retraction_watch
from entrez_kit.services import Services
from entrez_kit.services.crossref import CrossrefRecord
from entrez_kit.services.small_replies import malformed_error
from entrez_kit.services.transport.in_flight import start_in_background
from entrez_kit.services.transport.rate_gate import is_keyed

SourceName = Literal["pubmed", "europepmc", "crossref", "openalex", "retraction_watch"]
StatusSources = Annotated[
    list[SourceName] | None, Field(description="Sources of the publication status; all by default.")
]
RetractionWatchFile = Annotated[
    SkipJsonSchema[str | None], Field(description="CSV file of the Retraction Watch database.")
]
Said = StandingStatus | Literal["none", "not_held", "not_asked", "failed"]
SOURCES: Final[tuple[SourceName, ...]] = get_args(SourceName)
TITLES: Final[Mapping[SourceName, str]] = {
    "pubmed": "PubMed",
    "europepmc": "Europe PMC",
    "crossref": "Crossref",
    "openalex": "OpenAlex",
    "retraction_watch": "Retraction Watch",
}
EUROPEPMC_BATCH: Final = 40
CROSSREF_BATCH: Final = 40
"""DOIs in one request. The address usually stays below 2,000 characters; a batch that is refused as too long is halved.
"""
IN_COPY: Final[tuple[SourceName, ...]] = ("pubmed", "retraction_watch")
"""The sources that a local copy of PubMed does not exclude: its records, and a file."""
REFUSALS: Final = (EntityNotFound, InvalidInput)
_SILENT: Final = frozenset(("none", "not_held", "not_asked", "failed"))
RETRACTED: Final = frozenset(("retracted", "withdrawn", "partially_retracted"))
_NOT_FOUND: Final = {"reason": "not_found"}
COMMA: Final = "the Crossref record has no notice, and Crossref cannot search for notices of a DOI with a comma"


class SourceStanding(Result):
    """The publication status of a work in one source.

    ``says`` is the status. ``none``: the source has the work, without a notice. ``not_held``: the source does not have
    the work. ``not_asked``: the source is disabled, or the work does not have an identifier for it. ``failed``: the
    source did not respond.
    """

    source: SourceName
    says: Said
    notices: list[StandingNotice] = omit_if_empty([])
    detail: str | None = omit_if_empty()

    @property
    def status(self) -> StandingStatus | None:
        """The publication status; None if the source has no notice."""
        return None if self.says in _SILENT else self.says  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Work:
    """A work to look up: its identifiers, and its PubMed record or the error of reading it."""

    doi: str | None = None
    pmid: str | None = None
    article: Article | None = None
    failure: EntrezKitError | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The combined result of all sources: the most serious status, and whether the sources disagree.

    ``says`` is ``none`` only if no request failed and at least one source has the work. Otherwise it is ``unknown``.
    """

    says: StandingStatus | Literal["none", "unknown"]
    standing: Standing | None
    disagreement: str | None


LookUp = Callable[[Work], SourceStanding]
"""Returns the result of one source for a work."""


def parse_sources(text: str | None, argument: str = "sources") -> list[SourceName]:
    """Parse a comma-separated list of sources; without a list, return all sources.

    Args:
        argument: the argument or the variable that has the list, for the error.

    Raises:
        InvalidInput: a source does not exist.
    """
    return parse_names(text, SOURCES, noun="source", argument=argument) or list(SOURCES)


def combine_results(standings: Sequence[SourceStanding]) -> Verdict:
    """Combine the results of the sources."""
    standing: Standing | None = None
    for report in standings:
        if report.status is not None:
            standing = choose_graver(standing, Standing(status=report.status, notices=report.notices))
    if standing is None:
        answered = [report for report in standings if report.says != "not_asked"]
        is_clear = any(report.says == "none" for report in answered) and not any(
            report.says == "failed" for report in answered
        )
        return Verdict("none" if is_clear else "unknown", None, None)
    grave = _to_kind(standing.status)
    agreeing = [report for report in standings if report.status and _to_kind(report.status) == grave]
    others = [report for report in standings if report not in agreeing and _could_say(report, grave)]
    disagreement = None
    if others:
        sides = (f"{TITLES[report.source]}: {report.says.replace('_', ' ')}" for report in (*agreeing, *others))
        disagreement = "the sources disagree: " + ", ".join(sides)
    return Verdict(standing.status, standing, disagreement)


def _to_kind(status: StandingStatus) -> str:
    return "retracted" if status in RETRACTED else status


def _could_say(report: SourceStanding, grave: str) -> bool:
    """Return true if a source has the work and records this kind of status, but does not report it."""
    if report.says in ("not_held", "not_asked", "failed"):
        return False
    if report.source == "openalex":  # it records retractions only
        return grave == "retracted"
    return grave in ("retracted", "expression_of_concern", "reinstated")


class Sources:
    """Looks up the publication status of works in several sources.

    Args:
        enabled: the sources to use; by default those of the settings.
        retraction_watch: the CSV file of the Retraction Watch database; by default that of the settings.

    Raises:
        InvalidInput: the file cannot be read, or the settings name a source that does not exist.
    """

    def __init__(
        self,
        services: Services,
        enabled: Sequence[SourceName] | None = None,
        retraction_watch: str | Path | None = None,
    ) -> None:
        self.services = services
        self.enabled = list(enabled or parse_sources(services.settings.check_sources, "ENTREZ_KIT_CHECK_SOURCES"))
        self._copy = services.settings.copy_label
        if self._copy:
            self.enabled = [name for name in self.enabled if name in IN_COPY]
        self._watch: RetractionWatch | None = None
        file = retraction_watch or services.settings.retraction_watch
        if file is not None and "retraction_watch" in self.enabled:
            self._watch = read_retraction_watch(Path(file))

    def look_up_status(self, works: Sequence[Work]) -> list[list[SourceStanding]]:
        """Return the result of every source for each work. All sources are requested at the same time."""
        readers: dict[SourceName, Callable[[], LookUp]] = {
            "pubmed": lambda: _read_pubmed,
            "europepmc": partial(_request_europepmc, self.services, works),
            "crossref": partial(_request_crossref, self.services, works),
            "openalex": partial(_request_openalex, self.services, works),
            "retraction_watch": lambda: self._read_watch,
        }
        pending = {name: start_in_background(readers[name]) for name in self.enabled}
        look_ups = {name: result() for name, result in pending.items()}
        return [
            [
                look_ups[name](work)
                if name in look_ups
                else SourceStanding(source=name, says="not_asked", detail=self._explain_absence(name))
                for name in SOURCES
            ]
            for work in works
        ]

    def _explain_absence(self, name: SourceName) -> str | None:
        return f"the local copy {self._copy} answers without requests" if self._copy and name not in IN_COPY else None

    def _read_watch(self, work: Work) -> SourceStanding:
        if self._watch is None:
            return SourceStanding(source="retraction_watch", says="not_asked", detail="no file is configured")
        if not (work.doi or work.pmid):
            return _to_result_without_id("retraction_watch", "DOI or PMID")
        newest = self._watch.newest
        standing = self._watch.find_standing(work.doi, work.pmid)
        return _to_result("retraction_watch", standing, f"file with notices until {newest}" if newest else None)


# One source each -----------------------------------------------------------------------------------------------------


def _to_result(
    source: SourceName, status_or_error: Standing | EntrezKitError | None, detail: str | None = None
) -> SourceStanding:
    """Convert a status or an error to the result of a source."""
    if isinstance(status_or_error, EntrezKitError):
        says: Said = "not_asked" if isinstance(status_or_error, NotConfigured) else "failed"
        return SourceStanding(source=source, says=says, detail=str(status_or_error.message))
    if status_or_error is None:
        return SourceStanding(source=source, says="none", detail=detail)
    return SourceStanding(source=source, says=status_or_error.status, notices=status_or_error.notices, detail=detail)


def _to_result_without_id(source: SourceName, ids: str) -> SourceStanding:
    return SourceStanding(source=source, says="not_asked", detail=f"the work has no {ids}")


def _read_pubmed(work: Work) -> SourceStanding:
    if work.failure is None and work.article is None:
        return SourceStanding(source="pubmed", says="not_held")
    return _to_result("pubmed", work.failure or (work.article.standing if work.article else None))


def _request_europepmc(services: Services, works: Sequence[Work]) -> LookUp:
    from entrez_kit.pubmed.europepmc.europepmc_pages import parse_page

    clauses = {clause: work for work in works if (clause := _build_clause(work))}

    def search(batch: list[str]) -> dict[str, list[Standing | None]]:
        # Europe PMC has separate records of preprints and of copies in PMC.
        size = min(1000, 5 * len(batch))
        reply = services.europepmc.search(
            query=" OR ".join(batch), page_size=size, lookups=[_match_record(clauses[clause]) for clause in batch]
        )
        page = parse_page(reply.value, "*")
        if page.skipped:
            raise malformed_error("Europe PMC search", "a record without source or id")
        if page.total_found > len(page.articles) and len(batch) > 1:
            raise UpstreamError("Europe PMC returned only some of the records.", details={"reason": "incomplete"})
        return {
            clause: [article.standing for article in page.articles if _is_of(clauses[clause], article)]
            for clause in batch
        }

    try:
        at_once = services.europepmc.at_once
        outcomes = collect_batches(list(clauses), EUROPEPMC_BATCH, search, refusals=REFUSALS, at_once=at_once)
    except NotConfigured as exc:
        disabled = _to_result("europepmc", exc)
        return lambda work: disabled
    standings_of = {clause: standings for _, reply in outcomes.answers for clause, standings in reply.items()}
    failures = {**outcomes.failed, **outcomes.refused}

    def look_up(work: Work) -> SourceStanding:
        clause = _build_clause(work)
        if clause is None:
            return _to_result_without_id("europepmc", "DOI or PMID")
        if clause in failures:
            return _to_result("europepmc", failures[clause])
        if not standings_of[clause]:
            return SourceStanding(source="europepmc", says="not_held")
        return _to_result("europepmc", reduce(choose_graver, standings_of[clause]))

    return look_up


def _build_clause(work: Work) -> str | None:
    if work.pmid:
        return f"(EXT_ID:{work.pmid} AND SRC:MED)"
    if work.doi:
        return 'DOI:"{}"'.format(work.doi.replace('"', "").replace("\\", ""))
    return None


def _match_record(work: Work) -> Callable[[dict[str, Any]], bool]:
    """Return a function that returns true for the Europe PMC records of a work."""
    from entrez_kit.services.europe_pmc import has_id

    if work.pmid:
        return partial(has_id, kind="pmid", value=work.pmid)
    return partial(has_id, kind="doi", value=work.doi or "")


def _is_of(work: Work, record: Article) -> bool:
    if work.pmid:
        return record.pmid == work.pmid
    return (record.doi or "").lower() == (work.doi or "").lower()


def fetch_crossref_records(
    services: Services, dois: Iterable[str | None]
) -> tuple[dict[str, CrossrefRecord], dict[str, EntrezKitError]]:
    """Return the Crossref records of DOIs, and the errors of the DOIs without a record.

    In a complete response for several DOIs, Crossref omits the unknown ones. A request cannot contain a DOI with a
    comma: such DOIs are requested one at a time.
    """

    def request_records(batch: list[str]) -> dict[str, CrossrefRecord]:
        if len(batch) == 1:
            return {batch[0]: services.crossref.work(batch[0]).value}
        records = {str(record.get("DOI")).lower(): record for record in services.crossref.works(batch).value}
        return {doi: records[doi.lower()] for doi in batch if doi.lower() in records}

    records: dict[str, CrossrefRecord] = {}
    errors: dict[str, EntrezKitError] = {}
    left = list(dict.fromkeys(doi for doi in dois if doi))
    for size in (CROSSREF_BATCH, 1):
        outcomes = collect_batches(
            [doi for doi in left if size == 1 or "," not in doi], size, request_records, refusals=REFUSALS
        )
        for batch, reply in outcomes.answers:
            records |= reply
            errors |= {
                doi: EntityNotFound(f"Crossref has no work {doi}.", details=_NOT_FOUND)
                for doi in batch
                if doi not in reply
            }
        errors |= outcomes.failed | outcomes.refused
        left = [doi for doi in left if doi not in records and doi not in errors]
    return records, errors


def fetch_agencies(services: Services, dois: Iterable[str]) -> tuple[dict[str, str], dict[str, EntrezKitError]]:
    """Return the agencies other than Crossref that register DOIs, and the errors of requests."""
    outcomes = collect_batches(
        list(dois), 1, lambda batch: {batch[0]: services.crossref.agency(batch[0]).value}, refusals=REFUSALS
    )
    agencies = {doi: name for _, reply in outcomes.answers for doi, name in reply.items() if name != TITLES["crossref"]}
    return agencies, dict(outcomes.failed)


def _look_up_by_doi(
    source: SourceName, errors: Mapping[str, EntrezKitError], find: Callable[[str], Standing | EntrezKitError | None]
) -> LookUp:
    """Return the look-up for a source that identifies works by DOI.

    Args:
        errors: the DOIs for which a request failed.
        find: returns the status of a DOI.
    """

    def look_up(work: Work) -> SourceStanding:
        if not work.doi:
            return _to_result_without_id(source, "DOI")
        if isinstance(errors.get(work.doi), EntityNotFound):
            return SourceStanding(source=source, says="not_held")
        return _to_result(source, errors.get(work.doi) or find(work.doi))

    return look_up


def _request_crossref(services: Services, works: Sequence[Work]) -> LookUp:
    """Read the updates in the record of each work, then search for notices that name the work."""
    records, errors = fetch_crossref_records(services, [work.doi for work in works])
    standings = {doi: determine_standing_of_work(record) for doi, record in records.items()}
    # If the record already names a retraction, a search for notices is not necessary.
    remaining = [doi for doi, standing in standings.items() if standing is None or standing.status not in RETRACTED]
    outcomes = collect_batches(
        [doi for doi in remaining if "," not in doi],
        CROSSREF_BATCH,
        lambda batch: services.crossref.list_updates(batch).value,
        refusals=REFUSALS,
    )
    for batch, notices in outcomes.answers:
        for doi in batch:
            standings[doi] = determine_standing_of_work(records[doi], notices)
    failures = {**outcomes.failed, **outcomes.refused}
    failures |= {doi: UpstreamError(COMMA, details={"reason": "not_searched"}) for doi in remaining if "," in doi}
    return _look_up_by_doi("crossref", errors, lambda doi: standings[doi] or failures.get(doi))


def _request_openalex(services: Services, works: Sequence[Work]) -> LookUp:
    """Request works by DOI: in lists with an API key, otherwise one at a time."""
    from entrez_kit.services.openalex import MAX_DOIS, fits_list

    openalex, keyed = services.openalex, is_keyed(services.settings, "openalex")
    dois = list(dict.fromkeys(work.doi for work in works if work.doi))
    lists = list({doi.lower(): doi for doi in dois if keyed and fits_list(doi)}.values())  # one spelling of each
    singles = [doi for doi in dois if doi not in set(lists)]

    def ask_one(batch: list[str]) -> dict[str, bool]:
        return {batch[0]: openalex.is_retracted(batch[0]).value}

    def ask_list(batch: list[str]) -> dict[str, bool]:
        return openalex.are_retracted(batch).value

    retracted: set[str] = set()
    errors: dict[str, EntrezKitError] = {}
    for part, size, request_batch in ((lists, MAX_DOIS, ask_list), (singles, 1, ask_one)):
        outcomes = collect_batches(part, size, request_batch, refusals=REFUSALS, at_once=openalex.at_once)
        errors |= outcomes.failed | outcomes.refused
        for batch, reply in outcomes.answers:
            retracted |= {doi for doi, is_retracted in reply.items() if is_retracted}
            errors |= {
                doi: EntityNotFound(f"OpenAlex has no work {doi}.", details=_NOT_FOUND)
                for doi in batch
                if doi not in reply
            }
    return _look_up_by_doi("openalex", errors, lambda doi: Standing(status="retracted") if doi in retracted else None)
