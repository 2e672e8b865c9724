"""How works stand by everyone who keeps record of it: PubMed, Europe PMC, Crossref, OpenAlex and Retraction Watch.

No source knows all retractions, so what one is silent about says little. A source that failed, or has no record of a
work, is never taken for one that has nothing against it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any, Final, Literal, get_args

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, NotConfigured, UpstreamError
from entrez_kit.base.settings import parse_names
from entrez_kit.core.batches import in_batches
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.standing import Standing, StandingNotice, StandingStatus, graver
from entrez_kit.references.check.crossref_records import Record, standing_of_work
from entrez_kit.references.check.retraction_watch import RetractionWatch, read_retraction_watch
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import in_background
from entrez_kit.services.xml_reply import malformed_error

SourceName = Literal["pubmed", "europepmc", "crossref", "openalex", "retraction_watch"]
Said = StandingStatus | Literal["none", "not_held", "not_asked", "failed"]
SOURCES: Final[tuple[SourceName, ...]] = get_args(SourceName)
TITLES: Final[Mapping[SourceName, str]] = {
    "pubmed": "PubMed",
    "europepmc": "Europe PMC",
    "crossref": "Crossref",
    "openalex": "OpenAlex",
    "retraction_watch": "Retraction Watch",
}
EUROPEPMC_BATCH: Final = 20
CROSSREF_BATCH: Final = 20
REFUSALS: Final = (EntityNotFound, InvalidInput)
_SILENT: Final = frozenset(("none", "not_held", "not_asked", "failed"))
RETRACTED: Final = frozenset(("retracted", "withdrawn", "partially_retracted"))
COMMA: Final = "Crossref cannot be asked which notices name a DOI with a comma in it; its own record names none"


class SourceStanding(Result):
    """What one source says of a work.

    ``says`` is how the work stands; ``none``: nothing is against it; ``not_held``: the source has no record of it;
    ``not_asked``: it was switched off, or the work has no identifier that it knows; ``failed``: it gave no answer.
    """

    source: SourceName
    says: Said
    notices: list[StandingNotice] = omit_if_empty([])
    detail: str | None = omit_if_empty()

    @property
    def status(self) -> StandingStatus | None:
        """How the work stands, where the source says anything of it."""
        return None if self.says in _SILENT else self.says  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Work:
    """A work to ask about: its identifiers, and its record where PubMed has one, or why that is not known."""

    doi: str | None = None
    pmid: str | None = None
    article: Article | None = None
    failure: EntrezKitError | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What all sources come to: the gravest of what they say, and whether one that could say so does not.

    ``says`` is ``none`` only where every source that was asked answered and one of them has the work; else ``unknown``.
    """

    says: StandingStatus | Literal["none", "unknown"]
    standing: Standing | None
    disagreement: str | None


Asked = Callable[[Work], SourceStanding]
"""What a source that was asked says of a work."""


def named_sources(text: str | None) -> list[SourceName]:
    """Return the sources named in a comma-separated list; all of them where there is none.

    Raises:
        InvalidInput: one of them does not exist.
    """
    return parse_names(text, SOURCES, noun="source", argument="sources") or list(SOURCES)


def verdict_of(said: Sequence[SourceStanding]) -> Verdict:
    """Return what the sources come to."""
    standing: Standing | None = None
    for one in said:
        if one.status is not None:
            standing = graver(standing, Standing(status=one.status, notices=one.notices))
    if standing is None:
        answered = [one for one in said if one.says != "not_asked"]
        held = any(one.says == "none" for one in answered) and not any(one.says == "failed" for one in answered)
        return Verdict("none" if held else "unknown", None, None)
    grave = _kind(standing.status)
    agreeing = [one for one in said if one.status and _kind(one.status) == grave]
    others = [one for one in said if one not in agreeing and _could_say(one, grave)]
    disagreement = None
    if others:
        sides = (f"{TITLES[one.source]}: {one.says.replace('_', ' ')}" for one in (*agreeing, *others))
        disagreement = "the sources disagree: " + ", ".join(sides)
    return Verdict(standing.status, standing, disagreement)


def _kind(status: StandingStatus) -> str:
    return "retracted" if status in RETRACTED else status


def _could_say(one: SourceStanding, grave: str) -> bool:
    """Tell whether a source that has the work, and keeps record of such things, says otherwise."""
    if one.says in ("not_held", "not_asked", "failed"):
        return False
    if one.source == "openalex":  # it knows of retractions only
        return grave == "retracted"
    return grave in ("retracted", "expression_of_concern", "reinstated")


class Sources:
    """The sources that are asked, for any number of works.

    Args:
        services: the clients.
        asked: which of them; those of the settings unless given.
        retraction_watch: the CSV file of that database; that of the settings unless given.

    Raises:
        InvalidInput: the file cannot be read, or the settings name a source that does not exist.
    """

    def __init__(
        self,
        services: Services,
        asked: Sequence[SourceName] | None = None,
        retraction_watch: str | Path | None = None,
    ) -> None:
        self.services = services
        self.asked = asked or named_sources(services.settings.check_sources)
        self._watch: RetractionWatch | None = None
        named = retraction_watch or services.settings.retraction_watch
        if named is not None and "retraction_watch" in self.asked:
            self._watch = read_retraction_watch(Path(named))

    def ask(self, works: Sequence[Work]) -> list[list[SourceStanding]]:
        """Return what every source says of each work; those that are asked over the network at the same time."""
        readers: dict[SourceName, Callable[[], Asked]] = {
            "pubmed": lambda: _of_pubmed,
            "europepmc": partial(_europepmc, self.services, works),
            "crossref": partial(_crossref, self.services, works),
            "openalex": partial(_openalex, self.services, works),
            "retraction_watch": lambda: self._of_watch,
        }
        waiting = {name: in_background(readers[name]) for name in self.asked}
        says = {name: found() for name, found in waiting.items()}
        return [
            [says[name](work) if name in says else SourceStanding(source=name, says="not_asked") for name in SOURCES]
            for work in works
        ]

    def _of_watch(self, work: Work) -> SourceStanding:
        if self._watch is None:
            return SourceStanding(source="retraction_watch", says="not_asked", detail="no file is named")
        if not (work.doi or work.pmid):
            return _without_id("retraction_watch", "DOI nor PMID")
        newest = self._watch.newest
        standing = self._watch.standing(work.doi, work.pmid)
        return _said("retraction_watch", standing, f"file with notices until {newest}" if newest else None)


# One source each -----------------------------------------------------------------------------------------------------


def _said(source: SourceName, found: Standing | EntrezKitError | None, detail: str | None = None) -> SourceStanding:
    """Say how a work stands, or why that is not known."""
    if isinstance(found, EntrezKitError):
        says: Said = "not_asked" if isinstance(found, NotConfigured) else "failed"
        return SourceStanding(source=source, says=says, detail=str(found.message))
    if found is None:
        return SourceStanding(source=source, says="none", detail=detail)
    return SourceStanding(source=source, says=found.status, notices=found.notices, detail=detail)


def _without_id(source: SourceName, lacking: str) -> SourceStanding:
    return SourceStanding(source=source, says="not_asked", detail=f"the work has neither {lacking}")


def _of_pubmed(work: Work) -> SourceStanding:
    if work.failure is None and work.article is None:
        return SourceStanding(source="pubmed", says="not_held")
    return _said("pubmed", work.failure or (work.article.standing if work.article else None))


def _europepmc(services: Services, works: Sequence[Work]) -> Asked:
    from entrez_kit.pubmed.europepmc.europepmc_records import parse_page

    clauses = {clause: work for work in works if (clause := _clause(work))}

    def ask(batch: list[str]) -> dict[str, list[Standing | None]]:
        # Preprints and PMC's copies have records of their own beside PubMed's.
        size = min(1000, 5 * len(batch))
        found = services.europepmc.search(
            query=" OR ".join(batch), page_size=size, lookups=[_lookup(clauses[clause]) for clause in batch]
        )
        page = parse_page(found.value, "*")
        if page.skipped:
            raise malformed_error("Europe PMC search", "a record without its source or its id")
        if page.total_found > len(page.articles) and len(batch) > 1:
            raise UpstreamError("Europe PMC lists only some of the records.", details={"reason": "incomplete"})
        return {
            clause: [article.standing for article in page.articles if _is_of(clauses[clause], article)]
            for clause in batch
        }

    try:
        at_once = services.europepmc.at_once
        asked = in_batches(list(clauses), EUROPEPMC_BATCH, ask, refusals=REFUSALS, at_once=at_once)
    except NotConfigured as exc:
        off = _said("europepmc", exc)
        return lambda work: off
    found = {clause: standings for _, answer in asked.answers for clause, standings in answer.items()}
    failures = {**asked.failed, **asked.refused}

    def said(work: Work) -> SourceStanding:
        clause = _clause(work)
        if clause is None:
            return _without_id("europepmc", "DOI nor PMID")
        if clause in failures:
            return _said("europepmc", failures[clause])
        if not found[clause]:
            return SourceStanding(source="europepmc", says="not_held")
        return _said("europepmc", reduce(graver, found[clause]))

    return said


def _clause(work: Work) -> str | None:
    if work.pmid:
        return f"(EXT_ID:{work.pmid} AND SRC:MED)"
    if work.doi:
        return 'DOI:"{}"'.format(work.doi.replace('"', "").replace("\\", ""))
    return None


def _lookup(work: Work) -> Callable[[dict[str, Any]], bool]:
    """Return what tells whether a record that Europe PMC lists is of a work."""
    from entrez_kit.services.europe_pmc import has_id

    if work.pmid:
        return partial(has_id, kind="pmid", value=work.pmid)
    return partial(has_id, kind="doi", value=work.doi or "")


def _is_of(work: Work, record: Article) -> bool:
    if work.pmid:
        return record.pmid == work.pmid
    return (record.doi or "").lower() == (work.doi or "").lower()


def crossref_records(
    services: Services, dois: Iterable[str | None]
) -> tuple[dict[str, Record], dict[str, EntrezKitError]]:
    """Return what Crossref has of DOIs, and why it has nothing of the others.

    Of several it leaves out what it does not know, and it cannot be asked for several with a comma in them: each of
    these is asked for alone.
    """

    def ask(batch: list[str]) -> dict[str, Record]:
        if len(batch) == 1:
            return {batch[0]: services.crossref.work(batch[0]).value}
        records = {str(record.get("DOI")).lower(): record for record in services.crossref.works(batch).value}
        return {doi: records[doi.lower()] for doi in batch if doi.lower() in records}

    found: dict[str, Record] = {}
    errors: dict[str, EntrezKitError] = {}
    left = list(dict.fromkeys(doi for doi in dois if doi))
    for size in (CROSSREF_BATCH, 1):
        asked = in_batches([doi for doi in left if size == 1 or "," not in doi], size, ask, refusals=REFUSALS)
        for _, answer in asked.answers:
            found |= answer
        errors |= asked.failed | asked.refused
        left = [doi for doi in left if doi not in found and doi not in errors]
    return found, errors


def _of_doi(
    source: SourceName, errors: Mapping[str, EntrezKitError], said: Callable[[str], Standing | EntrezKitError | None]
) -> Asked:
    """Say what a source that knows works by their DOI says of each."""

    def of(work: Work) -> SourceStanding:
        if not work.doi:
            return _without_id(source, "DOI")
        if isinstance(errors.get(work.doi), EntityNotFound):
            return SourceStanding(source=source, says="not_held")
        return _said(source, errors.get(work.doi) or said(work.doi))

    return of


def _crossref(services: Services, works: Sequence[Work]) -> Asked:
    """Ask Crossref both ways: what updates a work by its own record, and which notices say that they update it."""
    records, errors = crossref_records(services, [work.doi for work in works])
    named = {doi: standing_of_work(record) for doi, record in records.items()}
    # A record that names what retracts it needs no second question.
    open_ones = [doi for doi, standing in named.items() if standing is None or standing.status not in RETRACTED]
    asked = in_batches(
        [doi for doi in open_ones if "," not in doi],
        CROSSREF_BATCH,
        lambda batch: services.crossref.updates(batch).value,
        refusals=REFUSALS,
    )
    for batch, notices in asked.answers:
        for doi in batch:
            named[doi] = standing_of_work(records[doi], notices)
    failures = {**asked.failed, **asked.refused, **{doi: UpstreamError(COMMA) for doi in open_ones if "," in doi}}
    return _of_doi("crossref", errors, lambda doi: named[doi] or failures.get(doi))


def _openalex(services: Services, works: Sequence[Work]) -> Asked:
    openalex = services.openalex
    dois = list(dict.fromkeys(work.doi for work in works if work.doi))
    asked = in_batches(
        dois, 1, lambda batch: openalex.is_retracted(batch[0]).value, refusals=REFUSALS, at_once=openalex.at_once
    )
    retracted = {batch[0] for batch, answer in asked.answers if answer}
    errors = asked.failed | asked.refused
    return _of_doi("openalex", errors, lambda doi: Standing(status="retracted") if doi in retracted else None)
