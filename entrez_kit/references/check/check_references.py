"""Check references: does each exist, does it say what its record says, does its work still stand?

A reference is found by its identifiers, and where those lead nowhere, or to another work, by journal, volume and page
or by its title. An identifier that exists proves nothing: made-up references often carry the DOI of a real article.
How the work stands is asked of every source there is (``sources.py``).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import Argument, FrontendText
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.citations.csl import csl_item
from entrez_kit.citations.names import format_name
from entrez_kit.core.model import Request, Result, Warn, omit_if_empty, wrong
from entrez_kit.core.operation import Operation, SummarizedOutcomes, drain
from entrez_kit.pubmed.brief import brief_citation, brief_owner, brief_place
from entrez_kit.pubmed.models import Article, RetractionStatus
from entrez_kit.pubmed.record_fetcher import BATCH
from entrez_kit.pubmed.standing import Standing, StandingNotice, StandingStatus, graver, place_of, retraction_status
from entrez_kit.references.check.compare_fields import IDENTIFIERS, FieldDifference, FieldName, IdentifierName
from entrez_kit.references.check.find_records import Candidates, FoundBy, Match, find_records
from entrez_kit.references.check.findings import STATUSES, CheckStatus, Finding, FindingCode, finding_of, gravest
from entrez_kit.references.check.pasted_lists import MAX_TEXT, PastedList, as_reference, read_list
from entrez_kit.references.check.sources import (
    RETRACTED,
    TITLES,
    SourceName,
    Sources,
    SourceStanding,
    Work,
    verdict_of,
)
from entrez_kit.references.files.references import FieldUpdate, Reference
from entrez_kit.services import Services

MAX_REFERENCES: Final = 20_000
MAX_MCP_REFERENCES: Final = 50
MAX_LEFT: Final = 200
"""References that a warning names."""
MAX_LEFT_TEXT: Final = 60
"""Characters of each."""
MAX_LIST: Final = 1_000_000
MAX_KEY: Final = 60
MAX_CANDIDATES: Final = 5
REPLACED: Final = frozenset(("superseded", "republished", "preprint_published"))
"""Standings of a work that has a newer version."""
MAX_SHOWN: Final = 120
ANOTHER_WORK: Final[Mapping[FoundBy, str]] = {
    "identifier": "the identifier belongs to another work",
    "citation": "a different article is at this journal, volume and page",
    "title": "the record with this title is another work",
}
LABELS: Final[Mapping[IdentifierName, str]] = {"doi": "DOI", "pmid": "PMID", "pmcid": "PMCID"}


def _reference_of(value: Any) -> Any:
    """Take an id, or a text as it is written, for a reference; and the identifiers that such a text holds."""
    if isinstance(value, Mapping) and isinstance(value.get("text"), str) and set(value) <= {"key", "text", "line"}:
        made = as_reference(value["text"], 1)
        return {**made.model_dump(exclude={"key", "line"}), **{name: value[name] for name in value if name != "text"}}
    if not isinstance(value, str):
        return value
    identifier = read_identifier(value)
    key = value.strip()[:MAX_KEY]
    if identifier is not None:
        return {"key": key, identifier.kind: identifier.value}
    return as_reference(" ".join(value.split()), 1).model_copy(update={"key": key, "line": None})


def _beginning(reference: Reference) -> str:
    """Return the first words of a reference."""
    text = " ".join((reference.text or reference.title or reference.key).split())
    return text if len(text) <= MAX_LEFT_TEXT else f"{text[: MAX_LEFT_TEXT - 1]}…"


class InTextFinding(Result):
    """A call in a text that has no entry in the list (``no_entry``), or an entry that nothing calls (``never_called``).

    ``call`` is the number, the name and year, or the key; ``line`` where it stands first (of a Word document the
    paragraph, as ``counts`` says), ``text`` the words around it.
    """

    kind: Literal["no_entry", "never_called"]
    call: str
    line: int | None = omit_if_empty()
    counts: Literal["paragraph"] | None = omit_if_empty()
    text: str | None = omit_if_empty()


class CheckRequest(Request):
    """The references to check, and what is to become of the file they stand in."""

    text: str | None = Field(
        default=None,
        max_length=MAX_LIST,
        description="A pasted list, or a text with one under its heading. Give text or references.",
    )
    text_start: int = Field(default=0, ge=0, description="With text: how many of its references to skip.")
    references: list[Annotated[Reference, BeforeValidator(_reference_of)]] = Field(
        default=[],
        max_length=MAX_REFERENCES,
        description="References in order: each its fields, or a text as it is written; an id alone is one, too.",
    )
    max_references: SkipJsonSchema[int | None] = Field(
        default=None, ge=1, description="How many references of a text to check."
    )
    warnings: SkipJsonSchema[list[Warn]] = Field(default=[], description="What there was to say about their file.")
    sources: list[SourceName] | None = Field(
        default=None, description="Who is asked how works stand; everyone unless given."
    )
    retraction_watch: SkipJsonSchema[str | None] = Field(
        default=None, description="CSV file of the Retraction Watch database."
    )
    only: Literal["all", "problems"] = Field(default="all", description="problems leaves out what is verified.")
    calls: SkipJsonSchema[list[InTextFinding]] = Field(
        default=[], description="What is wrong with the calls in the text of a manuscript."
    )
    corrects: SkipJsonSchema[bool] = Field(default=False, description="Say what a corrected file would change.")
    target: SkipJsonSchema[str | None] = Field(
        default=None, description="Where the corrected file goes, if anything changes."
    )

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if bool(self.text) == bool(self.references):
            raise wrong("references", "give a text, or references", "both" if self.text else "neither")
        if not self.listed:
            if self.text_start and self._all_of_text:
                raise wrong("text_start", f"the text has {len(self._all_of_text)} references", self.text_start)
            raise wrong("text", "there is no reference in it", (self.text or "")[:MAX_SHOWN])
        return self

    @cached_property
    def listed(self) -> list[Reference]:
        """The references, those of a text among them."""
        if not self.text:
            return self.references
        end = None if self.max_references is None else self.text_start + self.max_references
        return self._all_of_text[self.text_start : end]

    @cached_property
    def _all_of_text(self) -> list[Reference]:
        return self._pasted.references

    @cached_property
    def _pasted(self) -> PastedList:
        return read_list(self.text or "")

    def warn_about_text(self) -> list[Warn]:
        """Return warnings about lines that are not references, and about references after the last checked one."""
        return [*self._pasted.warnings, *self._warn_about_rest()]

    def _warn_about_rest(self) -> list[Warn]:
        end = self.text_start + len(self.listed)
        rest = self._all_of_text[end:] if self.text else []
        if not rest:
            return []
        message = FrontendText(
            f"References {self.text_start + 1} to {end} of {len(self._all_of_text)} were checked. ",
            *("For the others give the same text with ", Argument("text_start"), f" {end}."),
        )
        return [Warn(code="references_left", message=message, terms=[_beginning(one) for one in rest[:MAX_LEFT]])]


class NearestWork(Result):
    """The work in PubMed most like a reference that was not found; ``likeness`` of the titles is 0 to 1."""

    pmid: str
    title: str
    citation: str
    likeness: float


class CheckedReference(Result):
    """The result for one reference.

    ``findings`` has every problem of it; ``status`` is the code of the gravest, ``verified`` if there are none.
    ``pmid``, ``doi``, ``title`` and ``citation`` are those of the record, which is PubMed's unless ``record_source``
    says otherwise. ``differences`` may be there whatever the status but verified. Of ``another_work``, which has
    ``same_work`` false, the record is what was found instead. ``standing_status`` is what all ``sources`` come to:
    ``none`` only where each one that was asked answered, else ``unknown`` where nothing is known. ``duplicate_of`` is
    the number of the earlier row that cites the same work, from 1.
    """

    key: str
    line: int | None = omit_if_empty()
    number: str | None = omit_if_empty()
    status: CheckStatus
    findings: list[Finding]
    found_by: FoundBy | None = omit_if_empty()
    pmid: str | None = omit_if_empty()
    doi: str | None = omit_if_empty()
    pmcid: str | None = omit_if_empty()
    title: str | None = omit_if_empty()
    citation: str | None = omit_if_empty()
    same_work: bool | None = omit_if_empty()
    retraction_status: RetractionStatus = Field(default="none", exclude_if=lambda value: value == "none")
    standing: Standing | None = omit_if_empty()
    standing_status: StandingStatus | Literal["none", "unknown"] | None = omit_if_empty()
    sources: list[SourceStanding] = omit_if_empty([])
    disagreement: str | None = omit_if_empty()
    record_source: SourceName | None = omit_if_empty()
    duplicate_of: int | None = omit_if_empty()
    notice: str | None = omit_if_empty()
    differences: list[FieldDifference] = omit_if_empty([])
    nearest: NearestWork | None = omit_if_empty()
    candidate_pmids: list[str] = omit_if_empty([])
    detail: str | None = omit_if_empty()

    def add(self, code: FindingCode, message: str, **fields: Any) -> None:
        """Add a finding, and set ``status`` to the code of the gravest finding."""
        self.add_finding(Finding(code=code, message=message, **fields))

    def add_finding(self, finding: Finding) -> None:
        """Add a finding, and set ``status`` to the code of the gravest finding."""
        self.findings.append(finding)
        self.status = gravest(self.findings)

    @property
    def is_certain(self) -> bool:
        """Whether the record is the one that is meant, so that the reference can be corrected by it."""
        return bool(self.pmid or self.doi) and self.same_work is None


class Change(Result):
    """What a corrected file says otherwise than before; ``old`` is empty where something was added."""

    key: str
    line: int | None = omit_if_empty()
    field: FieldName | Literal["note"]
    old: str
    new: str


class CheckResult(Result):
    """One outcome per reference, in their order; ``fixed`` is the corrected file.

    ``counts`` has for each code the number of references with such a finding, so a reference with two problems counts
    twice; ``verified`` is the number of references without findings.

    Where only problems were asked for, ``references`` has these alone; ``total`` and ``counts`` are of all.

    ``changes`` are those of the corrected file, whether it was written or not.
    """

    RECORDS: ClassVar = "references"

    references: list[CheckedReference]
    total: int
    counts: dict[str, int]
    in_text: list[InTextFinding] = omit_if_empty([])
    warnings: list[Warn] = omit_if_empty([])
    fixed: str | None = omit_if_empty()
    corrected: int = Field(default=0, exclude_if=lambda value: value == 0)
    changes: list[Change] = omit_if_empty([])
    _corrections: dict[int, FieldUpdate] = PrivateAttr(default_factory=dict)

    @property
    def corrections(self) -> Mapping[int, FieldUpdate]:
        """What to change in the file, by the number of the reference."""
        return self._corrections

    @property
    def findings(self) -> int:
        """How many references are not verified."""
        return self.total - self.counts["verified"]


class Checks(SummarizedOutcomes[CheckedReference, CheckResult]):
    """What becomes of each reference; ``result`` tells the whole after the walk."""

    def __init__(self, services: Services, request: CheckRequest) -> None:
        super().__init__()
        self.warnings = [*request.warnings]
        self._services = services
        self._request = request
        self._checked: list[CheckedReference] = []
        self._counts: Counter[CheckStatus] = Counter()
        self._unanswered = 0
        self._rows: dict[str, int] = {}
        self._corrections: dict[int, FieldUpdate] = {}

    def __iter__(self) -> Iterator[CheckedReference]:
        references = self._request.listed
        sources = Sources(self._services, self._request.sources, self._request.retraction_watch)
        failure: EntrezKitError | None = None
        for start in range(0, len(references), BATCH):
            tracing.step(start, len(references))
            batch = references[start : start + BATCH]
            found = find_records(self._services, batch, crossref="crossref" in sources.asked)
            outcomes = [_outcome(one) for one in found]
            _ask_standings(sources, found, outcomes)
            for number, (one, (outcome, article)) in enumerate(zip(found, outcomes, strict=True), start=start):
                self._name_earlier(outcome, number)
                correction = _correction(one.reference, outcome, article) if self._request.corrects else None
                if correction is not None:
                    self._corrections[number] = correction
                if one.failure is not None and article is None:
                    failure = failure or one.failure
                    self._unanswered += 1
                self._counts.update({outcome.status, *(finding.code for finding in outcome.findings)})
                if self._request.only == "all" or outcome.findings:
                    self._checked.append(outcome)
                    yield outcome
        tracing.step(len(references), len(references))
        if failure is not None and self._unanswered == len(references):
            raise failure
        self.warnings += [*self._request.warn_about_text(), *_cited_twice(self._checked)]

    def _name_earlier(self, outcome: CheckedReference, number: int) -> None:
        """Add the finding ``duplicate`` to a reference whose work an earlier row cites, too."""
        work = outcome.pmid or outcome.doi
        if work and outcome.same_work is not False and (first := self._rows.setdefault(work, number)) != number:
            outcome.duplicate_of = first + 1
            outcome.add("duplicate", f"cited before, in row {first + 1}")

    def result(self) -> CheckResult:
        result = CheckResult(
            references=self._checked,
            total=len(self._request.listed),
            counts={status: self._counts[status] for status in STATUSES},
            in_text=self._request.calls,
            warnings=self.warnings,
            fixed=self._request.target if self._corrections else None,
            corrected=len(self._corrections),
            changes=_changes(self._request.listed, self._corrections),
        )
        result._corrections = self._corrections
        return result


def check_references(services: Services, request: CheckRequest) -> Checks:
    """Check references: does each exist, say what its record says, and still stand by every source that keeps record?

    Use it on any reference before it is trusted: made-up ones often carry real identifiers. Give a pasted list as text,
    or references. Each is verified or has findings: retracted, concern, another_work, not_found, ambiguous, mismatch
    (for each field), superseded, duplicate, unreadable, unchecked. Example: text "Doe J. A title. J Inv. 2019".

    Args:
        services: the clients.
        request: the references.

    Raises:
        UpstreamError: no reference could be checked, because NCBI did not answer.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: EFetch, ECitMatch and ESearch; Europe PMC, Crossref, OpenAlex and Retraction Watch for the standing.
    """
    return Checks(services, request)


def _cited_twice(checked: Sequence[CheckedReference]) -> list[Warn]:
    works: dict[str, list[str]] = {}
    for outcome in checked:
        if outcome.pmid and outcome.same_work is not False:
            works.setdefault(outcome.pmid, []).append(outcome.key)
    return [
        Warn(code="duplicate_work", message=f"PMID {pmid} is cited {len(keys)} times: {', '.join(keys[:10])}.")
        for pmid, keys in works.items()
        if len(set(keys)) > 1
    ]


# Outcomes


def _outcome(one: Candidates) -> tuple[CheckedReference, Article | None]:
    reference = one.reference
    checked = CheckedReference(
        key=reference.key,
        line=reference.line,
        number=reference.number,
        status="verified",
        findings=[],
        standing_status="unknown",
    )
    ranked = one.ranked
    if one.failure is not None and not (ranked and ranked[0].same):
        checked.detail = f"not checked: {one.failure.message}"
        checked.add("unchecked", checked.detail)
        return checked, None
    if not ranked:
        _add_missing_record(checked, one)
        return checked, None
    best = ranked[0]
    equal = [other.article.pmid for other in ranked if other.same and best.same and other.faults == best.faults]
    if len(equal) > 1 and best.found_by != "identifier":
        checked.candidate_pmids = equal[:MAX_CANDIDATES]
        checked.detail = "several records fit equally well; add a PMID or DOI"
        checked.add("ambiguous", checked.detail)
        return checked, None
    article = best.article
    checked.found_by, checked.same_work = best.found_by, None if best.same else False
    checked.pmid, checked.doi, checked.pmcid = article.pmid or None, article.doi, article.pmcid
    checked.record_source = None if article.pmid else "crossref"
    checked.title = article.title or None
    checked.differences = best.differences
    _set_standing(checked, article.standing)
    details = [f"PubMed has no record of {', '.join(one.absent)}"] if one.absent else []
    if best.agreement.left:
        details.insert(0, f"the record does not have: {' '.join(best.agreement.left)}; it says: {brief_place(article)}")
    if best.same:
        _add_differences(checked, one, best)
    else:
        details.insert(0, ANOTHER_WORK[best.found_by])
        if best.found_by != "identifier":
            made_up = "; possibly made up" if best.found_by == "citation" else ""
            checked.add("another_work", f"{ANOTHER_WORK[best.found_by]}: {brief_citation(article)}{made_up}")
    checked.citation = brief_citation(article) if checked.findings or one.owners or not best.same else None
    checked.detail = "; ".join(details) or None
    return checked, article


def _add_differences(checked: CheckedReference, one: Candidates, match: Match) -> None:
    """Add a finding ``mismatch`` for each field that differs, and for each identifier that leads nowhere.

    Identifiers that belong to another article are left to ``_add_owner``.
    """
    for difference in match.differences:
        if difference.field not in one.owners:
            checked.add_finding(finding_of(difference))
    if match.agreement.left:
        given = " ".join(match.agreement.left)
        place = brief_place(match.article)
        checked.add("mismatch", f"the record does not have: {given}; it says: {place}", given=given, recorded=place)
    differing = {difference.field for difference in match.differences}
    for name in IDENTIFIERS:
        given, recorded = getattr(one.reference, name), getattr(match.article, name)
        # PubMed may not know a DOI of a record it has; a PMID or PMCID that leads nowhere is wrong.
        if name != "doi" and given in one.absent and name not in differing:
            message = f"{name}: PubMed has no record of {given}"
            checked.add("mismatch", message, field=name, given=given, recorded=recorded)
    for name, error in one.unknown_owners.items():
        message = f"{name}: it is not known which article it belongs to: {error.message}"
        checked.add("unchecked", message, field=name, given=getattr(one.reference, name))


def _set_standing(checked: CheckedReference, standing: Standing | None) -> None:
    checked.standing = standing
    checked.retraction_status = retraction_status(standing)
    checked.notice = standing.note if standing else None


def _owners(one: Candidates, checked: CheckedReference) -> dict[IdentifierName, Article]:
    """Return the articles that identifiers of a reference belong to, if they are not the one that it means."""
    if checked.same_work is not False:
        return one.owners if checked.pmid or checked.doi else {}
    found = [match.article for match in one.matches.values() if match.found_by == "identifier"]
    return {
        name: article
        for name in IDENTIFIERS
        for article in found
        if (getattr(one.reference, name) or "-").lower() == (getattr(article, name) or "").lower()
    }


def _ask_standings(
    sources: Sources, found: Sequence[Candidates], outcomes: Sequence[tuple[CheckedReference, Article | None]]
) -> None:
    """Ask how the works stand that were found, and those that identifiers belong to."""
    owners = [_owners(one, outcome) for one, (outcome, _) in zip(found, outcomes, strict=True)]
    meant = [article if outcome.same_work is None else None for outcome, article in outcomes]
    works = [one for article, others in zip(meant, owners, strict=True) for one in (article, *others.values()) if one]
    said = iter(sources.ask([_work(article) for article in works]))
    for one, (outcome, _), article, others in zip(found, outcomes, meant, owners, strict=True):
        if article is not None:
            _judge(outcome, next(said))
        for name, owner in others.items():
            _add_owner(outcome, name, getattr(one.reference, name), owner, next(said))


def _work(article: Article) -> Work:
    return Work((article.doi or "").lower() or None, article.pmid or None, article if article.pmid else None)


def _add_owner(
    outcome: CheckedReference, name: IdentifierName, given: str, owner: Article, said: list[SourceStanding]
) -> None:
    """Add the findings for an identifier that belongs to another article: whose it is, and how that one stands."""
    is_meant = outcome.same_work is None
    standing = graver(verdict_of(said).standing, owner.standing)
    whose = brief_owner(owner)
    grave = standing is not None and _code_of(standing.status) in ("retracted", "concern")
    label = f", {standing.label.upper()}" if standing is not None and grave else ""
    meant = (outcome.pmid and f"PMID {outcome.pmid}") or (outcome.doi and f"doi:{outcome.doi}")
    message = f"Your {LABELS[name]} belongs to: {whose}{label}."
    message += f" You probably mean {meant}." if is_meant else " It is another work than the reference."
    about: dict[str, Any] = {"field": name, "given": given, "pmid": owner.pmid or None, "standing": standing}
    recorded = getattr(outcome, name) if is_meant else None
    outcome.add("mismatch" if is_meant else "another_work", message, recorded=recorded, **about)
    if standing is not None and grave and (code := _code_of(standing.status)) is not None:
        outcome.add(code, f"The article that your {LABELS[name]} belongs to: {standing.note}", **about)
    failed = "; ".join(f"{TITLES[one.source]}: {one.detail}" for one in said if one.says == "failed")
    if failed:
        outcome.add("unchecked", f"not known to stand by all sources: {failed}", **{**about, "standing": None})


def _judge(outcome: CheckedReference, said: list[SourceStanding]) -> None:
    """Add what the sources say of a work to the result of its reference."""
    verdict = verdict_of(said)
    standing = graver(verdict.standing, outcome.standing)  # of the record, which PubMed may not have been asked about
    _set_standing(outcome, standing)
    outcome.standing_status = standing.status if standing is not None else verdict.says
    outcome.disagreement, outcome.sources = verdict.disagreement, said
    details = [outcome.detail] if outcome.detail else []
    failed = [one for one in said if one.says == "failed"]
    if standing is not None and (code := _code_of(standing.status)) is not None:
        message = standing.note
        newer = "; ".join(dict.fromkeys(filter(None, map(_newer, _notices_of(standing)))))
        if code == "superseded" and newer:
            details.append(f"the newer version: {newer}")
            message += f"; the newer version: {newer}"
        outcome.add(code, "; ".join(filter(None, (message, verdict.disagreement))))
    if failed:
        named = "; ".join(f"{TITLES[one.source]}: {one.detail}" for one in failed)
        details.append(f"not known to stand by all sources: {named}")
        outcome.add("unchecked", details[-1])
    outcome.detail = "; ".join(details) or None


def _code_of(says: StandingStatus) -> FindingCode | None:
    """Return the code of the finding that a standing makes; None if it is not a problem of who cites the work."""
    if says in RETRACTED:
        return "retracted"
    if says == "expression_of_concern":
        return "concern"
    return "superseded" if says in REPLACED else None


def _notices_of(standing: Standing) -> list[StandingNotice]:
    return [notice for notice in standing.notices if notice.status == standing.status]


def _newer(notice: StandingNotice) -> str:
    ids = [f"PMID {notice.pmid}" if notice.pmid else "", f"doi:{notice.doi}" if notice.doi else ""]
    return ", ".join(part for part in (place_of(notice), *ids) if part)


def _add_missing_record(checked: CheckedReference, one: Candidates) -> None:
    """Add the finding that explains why a reference has no record."""
    reference, text = one.reference, one.reference.text
    shown = (text or "")[:MAX_SHOWN]
    code: FindingCode = "not_found"
    detail = "PubMed has no such reference; it does not hold most books, web pages and conference papers"
    if one.others:
        code, checked.candidate_pmids = "ambiguous", one.others[:MAX_CANDIDATES]
        detail = "several records fit; add volume, page, author or a PMID"
    elif one.absent:
        detail = f"PubMed has no record of {', '.join(one.absent)}"
        if reference.title:
            detail += ", nor one with this title"
        elif text and one.title_term is not None:
            detail += f", nor of what it says: {shown}"
    elif text is not None and len(text) > MAX_TEXT:
        code = "unreadable"
        detail = f"this is too long to be a reference. It begins: {shown}"
    elif text is not None and one.title_term is None and not one.citations:
        code = "unreadable"
        detail = f"nothing was looked up: neither an identifier nor a title can be made out. It says: {shown}"
    elif text is not None:
        detail += f": {shown}"
    elif not (reference.title or (reference.journal and reference.year)):
        code = "unreadable"
        detail = "nothing was looked up: it has neither an identifier nor a title"
    if code == "not_found" and one.places:
        detail = f"{_place_facts(one)}: {shown}" if text is not None else _place_facts(one)
    message = checked.detail = detail
    if code == "not_found" and one.nearest is not None:
        likeness, near = one.nearest
        citation = brief_citation(near)
        checked.nearest = NearestWork(pmid=near.pmid, title=near.title, citation=citation, likeness=round(likeness, 2))
        message = f"{detail}; nearest ({likeness:.0%} alike): {citation}"
    checked.add(code, message)


def _place_facts(one: Candidates) -> str:
    """Return what is known of the place that a reference without a record names."""
    doi = one.reference.doi
    place = next((place for place in one.places if place.journal not in one.unknown_journals), one.places[0])
    facts = ["possibly made up: PubMed has no such article"]
    if place.journal in one.unknown_journals:
        facts.append(f"the journal {place.journal} is not known to NCBI")
    else:
        there = f"volume {place.volume}, page {place.first_page}"
        facts.append(f"NCBI knows the journal {place.journal}, and PubMed has no article at {there} of {place.year}")
    if doi:
        known = "does not know" if doi in one.unregistered else "was not asked about"
        facts.append(f"PubMed has no record of {doi}, and Crossref {known} it")
    ids = [value for value in (one.reference.pmid, one.reference.pmcid) if value in one.absent]
    facts += [f"PubMed has no record of {', '.join(ids)}"] if ids else []
    return "; ".join(facts)


# Corrections


def _correction(reference: Reference, outcome: CheckedReference, article: Article | None) -> FieldUpdate | None:
    """Return what to change in a reference whose record is certain: fields that differ, and a note of a retraction.

    What was not found, and what has the title, the authors or the identifier of another work, is left as it is: its
    author must look at it.
    """
    if article is None or not outcome.is_certain:
        return None
    item = csl_item(article)
    values = {"authors": item.get("author", []), "pages": item.get("page") or item.get("number")}
    fields: dict[str, Any] = {one.field: values.get(one.field, one.record) for one in outcome.differences}
    if outcome.detail and reference.pmid and reference.pmid != article.pmid:
        fields["pmid"] = article.pmid
    note = outcome.notice if outcome.retraction_status in ("retracted", "expression_of_concern") else None
    return FieldUpdate(fields, note, short=item.get("container-title-short")) if fields or note else None


def _changes(references: Sequence[Reference], corrections: Mapping[int, FieldUpdate]) -> list[Change]:
    """Return what corrections change, field by field: the old text and the new one."""
    changes: list[Change] = []
    for number, correction in corrections.items():
        reference = references[number]
        base: dict[str, Any] = {"key": reference.key, "line": reference.line}
        for name, value in correction.fields.items():
            old: Any = getattr(reference, name)
            new = value
            if name == "authors":
                old = "; ".join([author.text for author in old] + ["and others"] * reference.more_authors)
                new = "; ".join(format_name(author) for author in value)
            changes.append(Change(**base, field=name, old=str(old or ""), new=str(new)))
        if correction.note:
            changes.append(Change(**base, field="note", old="", new=correction.note))
    return changes


CHECK: Final = Operation(
    name="check_references",
    outcomes=check_references,
    collect=drain,
    result=CheckResult,
    command=("check",),
    toolset="citations",
    title="Check references",
    errors=(UpstreamError, RateLimited),
    mcp_caps={"references": MAX_MCP_REFERENCES},
    mcp_defaults={"max_references": MAX_MCP_REFERENCES},
    portions=("references",),
    inputs=("references",),
)
