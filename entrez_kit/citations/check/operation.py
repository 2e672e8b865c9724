"""Check references: does each exist, does it say what its record says, does its work still stand?

A reference is found by its identifiers, and where those lead nowhere, or to another work, by journal, volume and page
or by its title. An identifier that exists proves nothing: made-up references often carry the DOI of a real article.
How the work stands is asked of every source there is (``sources.py``).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Literal, Self, get_args

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator
from pydantic.json_schema import SkipJsonSchema

from entrez_kit import tracing
from entrez_kit.batches import in_batches
from entrez_kit.citations.check.comparing import (
    IDENTIFIERS,
    FieldDifference,
    FieldName,
    differences,
    same_work,
    title_agrees,
)
from entrez_kit.citations.check.crossref_records import article_of
from entrez_kit.citations.check.findings import STATUSES, CheckStatus, Finding, FindingCode, gravest
from entrez_kit.citations.check.guessing import Guess, guessed
from entrez_kit.citations.check.sources import (
    RETRACTED,
    TITLES,
    SourceName,
    Sources,
    SourceStanding,
    Work,
    crossref_records,
    verdict_of,
)
from entrez_kit.citations.check.written import MAX_TEXT, Agreement, as_reference, compare_text, divided
from entrez_kit.citations.csl import csl_item
from entrez_kit.citations.files.references import FieldUpdate, Reference
from entrez_kit.citations.names import csl_text_of
from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.identifiers import IdKind, read_identifier
from entrez_kit.markup import on_the_line
from entrez_kit.model import Request, Result, Warn, sparse, wrong
from entrez_kit.operation import Accounted, Operation, walked
from entrez_kit.pubmed.likeness import folded
from entrez_kit.pubmed.match import LOOKUP_CITATION, Citation, MatchRequest, brief_citation, brief_place, surname
from entrez_kit.pubmed.models import Article, RetractionStatus
from entrez_kit.pubmed.record_fetcher import BATCH, Fetched, Retrieval
from entrez_kit.pubmed.standing import Standing, StandingNotice, StandingStatus, graver, place_of, retraction_status
from entrez_kit.services import Services

MAX_REFERENCES: Final = 20_000
MAX_MCP_REFERENCES: Final = 50
MAX_LIST: Final = 1_000_000
MAX_KEY: Final = 60
TITLES_PER_SEARCH: Final = 10
RECORDS_PER_SEARCH: Final = 100
MAX_CANDIDATES: Final = 5
LEAST_LIKENESS: Final = 0.5
"""Titles that have less in common are not worth naming."""
LEAST_WORDS: Final = 3
"""Titles of fewer words are searched with the first author, or not at all: they would find anything."""

REPLACED: Final = frozenset(("superseded", "republished", "preprint_published"))
"""Standings of a work that has a newer version."""
MAX_SHOWN: Final = 120
FoundBy = Literal["identifier", "citation", "title"]
FOUND_BY: Final[tuple[FoundBy, ...]] = get_args(FoundBy)
ANOTHER_WORK: Final[Mapping[FoundBy, str]] = {
    "identifier": "the identifier belongs to another work",
    "citation": "the record at this place is another work",
    "title": "the record with this title is another work",
}


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


class InTextFinding(Result):
    """A call in a text that has no entry in the list (``no_entry``), or an entry that nothing calls (``never_called``).

    ``call`` is the number, the name and year, or the key; ``line`` where it stands first (of a Word document the
    paragraph, as ``counts`` says), ``text`` the words around it.
    """

    kind: Literal["no_entry", "never_called"]
    call: str
    line: int | None = sparse()
    counts: Literal["paragraph"] | None = sparse()
    text: str | None = sparse()


class CheckRequest(Request):
    """The references to check, and what is to become of the file they stand in."""

    text: str | None = Field(
        default=None,
        max_length=MAX_LIST,
        description="A pasted list, or a text with one under its heading. Give text or references.",
    )
    references: list[Annotated[Reference, BeforeValidator(_reference_of)]] = Field(
        default=[],
        max_length=MAX_REFERENCES,
        description="References in order: each its fields, or a text as it is written; an id alone is one, too.",
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
            raise wrong("text", "there is no reference in it", (self.text or "")[:MAX_SHOWN])
        return self

    @cached_property
    def listed(self) -> list[Reference]:
        """The references, those of a text among them."""
        return divided(self.text) if self.text else self.references


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
    line: int | None = sparse()
    number: str | None = sparse()
    status: CheckStatus
    findings: list[Finding]
    found_by: FoundBy | None = sparse()
    pmid: str | None = sparse()
    doi: str | None = sparse()
    pmcid: str | None = sparse()
    title: str | None = sparse()
    citation: str | None = sparse()
    same_work: bool | None = sparse()
    retraction_status: RetractionStatus = Field(default="none", exclude_if=lambda value: value == "none")
    standing: Standing | None = sparse()
    standing_status: StandingStatus | Literal["none", "unknown"] | None = sparse()
    sources: list[SourceStanding] = sparse([])
    disagreement: str | None = sparse()
    record_source: SourceName | None = sparse()
    duplicate_of: int | None = sparse()
    notice: str | None = sparse()
    differences: list[FieldDifference] = sparse([])
    nearest: NearestWork | None = sparse()
    candidate_pmids: list[str] = sparse([])
    detail: str | None = sparse()

    def add(self, code: FindingCode, message: str, **fields: Any) -> None:
        """Add a finding, and set ``status`` to the code of the gravest finding."""
        self.findings.append(Finding(code=code, message=message, **fields))
        self.status = gravest(self.findings)

    @property
    def is_certain(self) -> bool:
        """Whether the record is the one that is meant, so that the reference can be corrected by it."""
        return bool(self.pmid or self.doi) and self.same_work is None


class Change(Result):
    """What a corrected file says otherwise than before; ``old`` is empty where something was added."""

    key: str
    line: int | None = sparse()
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
    in_text: list[InTextFinding] = sparse([])
    warnings: list[Warn] = sparse([])
    fixed: str | None = sparse()
    corrected: int = Field(default=0, exclude_if=lambda value: value == 0)
    changes: list[Change] = sparse([])
    _corrections: dict[int, FieldUpdate] = PrivateAttr(default_factory=dict)

    @property
    def corrections(self) -> Mapping[int, FieldUpdate]:
        """What to change in the file, by the number of the reference."""
        return self._corrections

    @property
    def findings(self) -> int:
        """How many references are not verified."""
        return self.total - self.counts["verified"]


@dataclass(frozen=True, slots=True)
class _Match:
    """A record that a reference may mean: whether it is the work that is meant, and what the two do not share.

    ``left`` is what a reference that is written out says beyond the record.
    """

    article: Article
    found_by: FoundBy
    same: bool
    differences: list[FieldDifference]
    left: list[str]

    @property
    def faults(self) -> int:
        """How much they do not share."""
        return len(self.differences) + len(self.left)

    def has_authors(self, reference: Reference) -> bool:
        """Tell whether it has the authors of a reference that names some."""
        return bool(reference.authors) and all(one.field != "authors" for one in self.differences)


@dataclass
class _Candidates:
    """Records that a reference may mean, and what stood in the way of finding them."""

    reference: Reference
    matches: dict[str, _Match] = field(default_factory=dict)
    failure: EntrezKitError | None = None
    absent: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    nearest: tuple[float, Article] | None = None

    def add(self, article: Article, found_by: FoundBy) -> None:
        """Take a record, under the way it was first found."""
        key = article.pmid or article.doi or ""
        if key not in self.matches:
            self.matches[key] = _Match(article, found_by, *self._agreement(article))

    def _agreement(self, article: Article) -> Agreement:
        reference = self.reference
        if reference.text is not None:
            return compare_text(reference, article)
        bare = not (reference.title or reference.authors or reference.year or reference.volume or reference.pages)
        return Agreement(bare or same_work(reference, article), differences(reference, article), [])

    @property
    def settled(self) -> bool:
        """Whether one of the records is the work that is meant."""
        return any(one.same for one in self.matches.values())

    @cached_property
    def guess(self) -> Guess:
        """What a reference that is written out may say."""
        return guessed(self.reference.text or "")

    @property
    def title(self) -> str:
        """The title, or what may be it."""
        return self.reference.title or next(iter(self.guess.titles), "")

    @cached_property
    def title_term(self) -> str | None:
        """A search for the title; None where there is none to make out."""
        reference = self.reference
        if reference.text:
            terms = [_term(title, self.guess.author) for title in self.guess.titles]
            return " OR ".join(term for term in terms if term) or None
        first = reference.authors[0] if reference.authors else None
        return _term(reference.title or "", (first.family or surname(first.text)) if first else None)

    @property
    def citation(self) -> Citation | None:
        """What NCBI's matcher can look up: a journal and a place in it."""
        reference, guess = self.reference, self.guess
        if reference.journal and reference.year and (reference.volume or reference.pages):
            first = reference.authors[0] if reference.authors else None
            return Citation(
                journal=reference.journal,
                year=reference.year,
                volume=reference.volume,
                first_page=(reference.pages or "").replace("–", "-").partition("-")[0] or None,
                author_name=surname(first.family or first.text) if first else None,
            )
        if guess.journal and guess.year and guess.volume:
            place = {"year": guess.year, "volume": guess.volume, "first_page": guess.page}
            return Citation(journal=guess.journal, author_name=guess.author, **place)
        return None


class Checks(Accounted[CheckedReference, CheckResult]):
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
            found = _found(self._services, references[start : start + BATCH], crossref="crossref" in sources.asked)
            outcomes = [_outcome(one) for one in found]
            _ask_standings(sources, outcomes)
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
        self.warnings += _cited_twice(self._checked)

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
    or references. Each is verified or has findings: retracted, concern, another_work, not_found (with the nearest work),
    ambiguous, mismatch (for each field), superseded, duplicate, unreadable, unchecked. status is the gravest. Example: text "Doe J. A title. J Inv. 2019".

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


# Finding records


def _found(services: Services, references: Sequence[Reference], *, crossref: bool) -> list[_Candidates]:
    """Find the records that a batch of references may mean, in a number of requests that the batch bounds."""
    found = [_Candidates(reference) for reference in references]
    _by_identifier(services, found)
    for look_up in (_by_citation, _by_title):
        look_up(services, [one for one in found if not one.settled and not one.failure])
    if crossref:
        _at_crossref(services, found)
    _add_nearest(services, found)
    return found


Wanted = dict[str, list[_Candidates]]
"""What is looked up, and for whom."""


def _wanted(pairs: Iterable[tuple[str | None, _Candidates]]) -> Wanted:
    wanted: Wanted = {}
    for key, one in pairs:
        if key:
            wanted.setdefault(key, []).append(one)
    return wanted


def _records(services: Services, wanted: Wanted) -> Iterator[tuple[_Candidates, Fetched, Article | None]]:
    """Fetch records by identifier; yield them with each of those they are wanted for."""
    for item in Retrieval.of_ids(services, list(wanted)) if wanted else ():
        article = item.record.article() if item.record is not None else None
        for one in wanted[item.input]:
            yield one, item, article


def _at_crossref(services: Services, found: Sequence[_Candidates]) -> None:
    """Ask Crossref for the DOIs that PubMed does not have: of books, preprints, conference papers, other fields."""
    wanted = _wanted((one.reference.doi, one) for one in found if one.reference.doi in one.absent and not one.settled)
    records, errors = crossref_records(services, wanted)
    for doi, record in records.items():
        for one in wanted[doi]:
            one.add(article_of(record), "identifier")
    for doi, error in errors.items():
        for one in wanted[doi] if not isinstance(error, EntityNotFound | InvalidInput) else ():
            one.failure = error


def _by_identifier(services: Services, found: Sequence[_Candidates]) -> None:
    """Look identifiers up, the cheapest kind first; what its PMID settles needs no search for its DOI."""
    kinds: tuple[IdKind, ...] = ("pmid", "pmcid", "doi")
    for kind in kinds:
        wanted = _wanted((getattr(one.reference, kind), one) for one in found if not one.settled)
        for one, item, article in _records(services, wanted):
            if article is not None:
                one.add(article, "identifier")
            elif item.status == "error":
                one.failure = item.error
            else:
                one.absent.append(item.input)
    for one in found:
        if one.settled:  # one identifier that leads to the record is enough
            one.failure = None


def _by_citation(services: Services, found: Sequence[_Candidates]) -> None:
    """Ask NCBI's matcher for references with a journal and a place in it."""
    asked = [(one, citation) for one in found if (citation := one.citation) is not None]
    if not asked:
        return
    try:
        request = MatchRequest(citations=[citation for _, citation in asked])
        matches = LOOKUP_CITATION.answer(services, request).results
    except EntrezKitError as exc:
        for one, _ in asked:
            one.failure = exc
        return
    wanted: Wanted = {}
    for (one, _), match in zip(asked, matches, strict=True):
        if match.status == "error":
            one.failure = UpstreamError(match.detail or "NCBI did not answer.")
        elif match.status == "ambiguous":
            one.others += match.candidate_pmids
        elif match.pmid:
            wanted.setdefault(match.pmid, []).append(one)
    for one, item, article in _records(services, wanted):
        one.failure = item.error or one.failure
        if article is not None:
            one.add(article, "citation")


def _by_title(services: Services, found: Sequence[_Candidates]) -> None:
    wanted = _wanted((one.title_term, one) for one in found)
    pmids, failed = _searched(services, wanted)
    for term, error in failed.items():
        for one in wanted[term]:
            one.failure = error
    for one, item, article in _records(services, pmids):
        one.failure = item.error or one.failure
        reference = one.reference
        if article is not None and (
            compare_text(reference, article).same if reference.text else title_agrees(reference, article)
        ):
            one.add(article, "title")


def _searched(
    services: Services, wanted: Wanted, *, all_of_them: bool = True
) -> tuple[Wanted, dict[str, EntrezKitError]]:
    """Search for terms, several at a time; return the PMIDs with those they may be for, and what failed.

    A search that finds too much is made for each term by itself, unless some of what there is will do.
    """

    def ask(batch: list[str]) -> tuple[list[str], int]:
        reply = services.eutils.esearch(db="pubmed", term=" OR ".join(batch), retmax=RECORDS_PER_SEARCH).value
        return reply.ids, reply.count

    failed: dict[str, EntrezKitError] = {}

    def asked(terms: Sequence[str], size: int) -> list[tuple[list[str], tuple[list[str], int]]]:
        refusals = (EntityNotFound, InvalidInput)
        answers = in_batches(terms, size, ask, refusals=refusals, at_once=services.eutils.at_once)
        failed.update(answers.failed)
        return answers.answers

    answers = asked(list(wanted), TITLES_PER_SEARCH)
    if all_of_them:
        crowded = [term for batch, (ids, count) in answers if count > len(ids) and len(batch) > 1 for term in batch]
        answers = [answer for answer in answers if answer[1][1] <= len(answer[1][0]) or len(answer[0]) == 1]
        answers += asked(crowded, 1)
    pmids: Wanted = {}
    for batch, (ids, _) in answers:
        for pmid in ids:
            pmids.setdefault(pmid, []).extend(one for term in batch for one in wanted[term])
    return pmids, failed


def _add_nearest(services: Services, found: Sequence[_Candidates]) -> None:
    """Look for the work that is most like each reference without a record, by parts of its title."""
    open_ones = (one for one in found if not (one.matches or one.failure or one.others))
    wanted = _wanted((_parts_term(folded_words(one.title)), one) for one in open_ones)
    for one, _, article in _records(services, _searched(services, wanted, all_of_them=False)[0]):
        if article is not None:
            title = folded(one.title)
            likeness = SequenceMatcher(None, title, folded(article.title), autojunk=False).ratio()
            if likeness >= LEAST_LIKENESS and (one.nearest is None or likeness > one.nearest[0]):
                one.nearest = (likeness, article)


def _parts_term(words: Sequence[str]) -> str | None:
    middle = len(words) // 2
    if middle < LEAST_WORDS:
        return None
    parts = (words[:middle], words[middle:], sorted(words, key=len)[-LEAST_WORDS:])
    return " OR ".join(f"({' '.join(part)}[Title])" for part in parts)


def _term(title: str, author: str | None) -> str | None:
    words = folded_words(title)
    if not words or (len(words) < LEAST_WORDS and not author):
        return None
    term = f"{' '.join(words)}[Title]"
    if len(words) < LEAST_WORDS and (name := folded_words(author or "")):
        # Given names may stand before the family's.
        term += " AND ({})".format(" OR ".join(dict.fromkeys((f"{' '.join(name)}[Author]", f"{name[-1]}[Author]"))))
    return f"({term})"


def folded_words(text: str) -> list[str]:
    """Return the words of a text without what PubMed would take for syntax."""
    cleaned = "".join(mark if mark.isalnum() or mark in "-'." else " " for mark in on_the_line(text))
    return [word for part in cleaned.split() if (word := part.strip("-'."))]


# Outcomes


def _outcome(one: _Candidates) -> tuple[CheckedReference, Article | None]:
    reference = one.reference
    checked = CheckedReference(
        key=reference.key,
        line=reference.line,
        number=reference.number,
        status="verified",
        findings=[],
        standing_status="unknown",
    )
    ranked = _ranked(one)
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
    if best.left:
        place = f"; it says: {brief_place(article)}" if any(map(str.isdigit, "".join(best.left))) else ""
        details.insert(0, f"the record does not have: {' '.join(best.left)}{place}")
    if best.same:
        _add_differences(checked, best, details[0] if best.left else "", one.absent, reference)
    else:
        details.insert(0, ANOTHER_WORK[best.found_by])
        checked.add("another_work", f"{ANOTHER_WORK[best.found_by]}: {brief_citation(article)}")
    checked.citation = brief_citation(article) if checked.findings else None
    checked.detail = "; ".join(details) or None
    return checked, article


def _add_differences(
    checked: CheckedReference, match: _Match, left: str, absent: Sequence[str], reference: Reference
) -> None:
    """Add a finding ``mismatch`` for each field that differs, and for each identifier that leads nowhere."""
    for one in match.differences:
        message = f"{one.field}: {one.detail or f'{one.given} → {one.record}'}"
        checked.add("mismatch", message, field=one.field, given=one.given, recorded=one.record)
    if left:
        checked.add("mismatch", left, given=" ".join(match.left))
    for name in IDENTIFIERS:
        given, recorded = getattr(reference, name), getattr(match.article, name)
        if given not in absent or any(one.field == name for one in match.differences):
            continue
        # PubMed may not know a DOI of a record it has; a PMID or PMCID that leads nowhere is wrong.
        if name != "doi":
            message = f"{name}: PubMed has no record of {given}"
            checked.add("mismatch", message, field=name, given=given, recorded=recorded)


def _set_standing(checked: CheckedReference, standing: Standing | None) -> None:
    checked.standing = standing
    checked.retraction_status = retraction_status(standing)
    checked.notice = standing.note if standing else None


def _ask_standings(sources: Sources, outcomes: Sequence[tuple[CheckedReference, Article | None]]) -> None:
    """Ask how the works stand that were found; of what was not found there is nothing to ask."""
    works = {
        number: Work((article.doi or "").lower() or None, article.pmid or None, article if article.pmid else None)
        for number, (outcome, article) in enumerate(outcomes)
        if article is not None and outcome.same_work is None
    }
    for number, said in zip(works, sources.ask(list(works.values())), strict=True):
        _judge(outcomes[number][0], said)


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


def _ranked(one: _Candidates) -> list[_Match]:
    """Return the records that may be meant, the likeliest first."""
    matches = list(one.matches.values())
    if any(match.found_by == "identifier" and not match.same for match in matches):
        # The title of one work and the identifier of another need all the authors to say which one is meant.
        matches = [
            match if match.found_by == "identifier" or match.has_authors(one.reference) else replace(match, same=False)
            for match in matches
        ]
    return sorted(matches, key=lambda match: (not match.same, match.faults, FOUND_BY.index(match.found_by)))


def _add_missing_record(checked: CheckedReference, one: _Candidates) -> None:
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
    elif text is not None and one.title_term is None:
        code = "unreadable"
        detail = f"nothing was looked up: neither an identifier nor a title can be made out. It says: {shown}"
    elif text is not None:
        detail += f": {shown}"
    elif not (reference.title or (reference.journal and reference.year)):
        code = "unreadable"
        detail = "nothing was looked up: it has neither an identifier nor a title"
    message = checked.detail = detail
    if code == "not_found" and one.nearest is not None:
        likeness, near = one.nearest
        citation = brief_citation(near)
        checked.nearest = NearestWork(pmid=near.pmid, title=near.title, citation=citation, likeness=round(likeness, 2))
        message = f"{detail}; nearest ({likeness:.0%} alike): {citation}"
    checked.add(code, message)


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
                new = "; ".join(csl_text_of(author) for author in value)
            changes.append(Change(**base, field=name, old=str(old or ""), new=str(new)))
        if correction.note:
            changes.append(Change(**base, field="note", old="", new=correction.note))
    return changes


CHECK: Final = Operation(
    name="check_references",
    outcomes=check_references,
    collect=walked,
    result=CheckResult,
    command=("check",),
    toolset="citations",
    title="Check references",
    errors=(UpstreamError, RateLimited),
    mcp_caps={"references": MAX_MCP_REFERENCES},
    portions=("references",),
)
