"""Find the PMIDs of references by journal, year, volume, page and author, and compare the records found."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final, Literal

from pydantic import Field

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import FrontendText, NextCall, format_count, join_names
from entrez_kit.core.model import Request, Result, Warned, omit_if_empty
from entrez_kit.core.operation import AgentOptions, StreamOperation
from entrez_kit.core.outcomes import BatchedOutcomes, build_missing_error
from entrez_kit.pubmed.brief import format_brief_citation, list_first_names
from entrez_kit.pubmed.citation_matcher import (
    MAX_COMPARED,
    NOT_FOUND,
    Citation,
    MatcherAnswer,
    ask_matcher,
    name_candidates,
    search_title,
)
from entrez_kit.pubmed.comparison import begins, fold_text, measure_text_likeness
from entrez_kit.pubmed.models import Article, Standing
from entrez_kit.references.check.comparison.compare_fields import Agreement, FieldName
from entrez_kit.references.check.comparison.compare_with_record import compare_record
from entrez_kit.references.check.findings import Finding, to_finding
from entrez_kit.references.files.references import Reference, parse_name
from entrez_kit.services import Services

MAX_CITATIONS: Final = 5_000
MAX_MCP_CITATIONS: Final = 25
MAX_CANDIDATES: Final = 5
MAX_WRONG: Final = 1
"""Maximum fields in which a matched reference can differ from its record."""

MatchStatus = Literal["matched", "mismatch", "ambiguous", "not_found", "invalid", "error"]
WarningCode = Literal[
    "author_mismatch",
    "year_mismatch",
    "title_mismatch",
    "journal_mismatch",
    "volume_mismatch",
    "issue_mismatch",
    "page_mismatch",
]
CODES: Final[dict[FieldName, WarningCode]] = {
    "authors": "author_mismatch",
    "year": "year_mismatch",
    "title": "title_mismatch",
    "journal": "journal_mismatch",
    "volume": "volume_mismatch",
    "issue": "issue_mismatch",
    "pages": "page_mismatch",
}
ADD: Final = "add volume, issue, pages, author or title"
TOO_LITTLE: Final = "the reference needs a journal, a year or a title"
TOO_LITTLE_HINT: Final = "Give journal, year, volume and first page, or the title."
UNKNOWN_HINT: Final = FrontendText(
    "Check journal, year, volume and first page. To search by title, call ",
    *(NextCall("search_articles", query_term=...), "."),
)


class MatchRequest(Request):
    """The references to find."""

    citations: list[Citation] = Field(
        min_length=1, max_length=MAX_CITATIONS, description="References, with the known fields."
    )


class MatchWarning(Result):
    """A difference between a reference and the record found for it."""

    code: WarningCode
    message: str


class CitationMatch(Result):
    """The outcome of one reference.

    ``citation`` is the record found, ``candidate_pmids`` are records that the reference may cite. If ``status`` is
    ``mismatch``, the record is another work or differs in more than one field. ``findings`` has each field that
    differs, with its value in the reference and in the record, in the format of ``check``. ``similarity`` compares the
    title in the reference with the title of the record, 0 to 1; a shortened title has 1.
    """

    key: str
    status: MatchStatus
    pmid: str | None = omit_if_empty()
    title: str | None = omit_if_empty()
    matched_first_author: str | None = omit_if_empty()
    standing: Standing | None = omit_if_empty()
    citation: str | None = omit_if_empty()
    candidate_pmids: list[str] = omit_if_empty([])
    warnings: list[MatchWarning] = omit_if_empty([])
    findings: list[Finding] = omit_if_empty([])
    similarity: float | None = omit_if_empty()
    detail: str | None = omit_if_empty()


class MatchResult(Warned):
    """One result per reference, in the order of the references."""

    RECORDS: ClassVar = "results"

    results: list[CitationMatch]
    total_matched: int
    total_submitted: int
    total_warnings: int


class Matches(BatchedOutcomes[Citation, CitationMatch]):
    """The outcomes of references, in order. Many references are looked up in batches."""

    BATCH_SIZE, GOOD = 500, ("matched",)

    def __init__(self, services: Services, request: MatchRequest) -> None:
        super().__init__(services, request.citations)
        self._answered = False

    def _request_batch(self, start: int, inputs: Sequence[Citation]) -> Iterator[CitationMatch]:
        services, citations = self._services, inputs
        answers = ask_matcher(services, citations)
        for index, citation in enumerate(citations):
            before = answers.get(index, NOT_FOUND)
            if (
                citation.title
                and before.verdict == "not_found"
                and (pmids := search_title(services, citation)) is not None
            ):
                answers[index] = _to_answer(pmids, before)
        name_candidates(services, citations, answers)
        failed = [answer.error for answer in answers.values() if answer.error is not None]
        self._answered = self._answered or len(failed) < len(answers)
        self.error = None if self._answered else self.error or next(iter(failed), None)
        records = _FetchedRecords(services)
        records.read(pmid for answer in answers.values() for pmid in answer.pmids[:MAX_COMPARED])
        for index, citation in enumerate(citations):
            answer = answers.get(index, NOT_FOUND)
            known = [records.articles[pmid] for pmid in answer.pmids if pmid in records.articles]
            others = [not compare_citation(citation, article).same for article in known]
            if citation.title and others and all(others):
                # Another work is at this place, but the cited work may be found by its title.
                by_title = search_title(services, citation)
                if isinstance(by_title, list) and by_title:
                    records.read(by_title)
                    answers[index] = MatcherAnswer("ambiguous", tuple(dict.fromkeys([*answer.pmids, *by_title])))
        for index, citation in enumerate(citations):
            yield _build_match(citation.key or str(start + index + 1), citation, answers.get(index, NOT_FOUND), records)

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for references without exactly one certain record."""
        named = join_names(result.key for result in self.missing)
        invalid = (InvalidInput, f"Too few fields to look up {named}.", TOO_LITTLE_HINT, "invalid_citations")
        return build_missing_error(
            self.missing,
            self.found,
            "key",
            unanswered=f"No response for {named}.",
            invalid=None if self.found else invalid,
            unknown=(self._describe_unmatched(), UNKNOWN_HINT),
        )

    def _describe_unmatched(self) -> str:
        """Return a sentence about the references without a match; about a single one with its reason."""
        if len(self._inputs) == 1 and len(self.missing) == 1:
            only = self.missing[0]
            return f"No match: {only.detail or only.status}."
        named = join_names(match.key for match in self.missing)
        return f"No match for {len(self.missing)} of {format_count(len(self._inputs), 'reference')}: {named}."


def lookup_citation(services: Services, request: MatchRequest) -> Matches:
    """Find the PMIDs of references and compare the records.

    Use it for reference lists, e.g. {"journal": "J Invent Res", "year": "2024", "first_page": "737"}. A different
    title is a mismatch; a shortened one has `similarity` 1.

    Raises:
        UpstreamError: NCBI responded to none of the requests.
        RateLimited: NCBI refused the request, or no slot is free before the deadline.

    Source: ECitMatch; ESearch by title if ECitMatch finds no record; EFetch to compare.
    """
    return Matches(services, request)


def collect_result(request: MatchRequest, matches: Matches) -> MatchResult:
    """Build the result document from all outcomes."""
    results = list(matches)
    return MatchResult(
        results=results,
        total_matched=matches.found,
        total_submitted=len(results),
        total_warnings=sum(len(result.warnings) for result in results),
    )


def _to_answer(pmids: list[str] | EntrezKitError, before: MatcherAnswer) -> MatcherAnswer:
    """Convert the result of a search by title to an answer of the citation matcher."""
    if isinstance(pmids, EntrezKitError):
        return MatcherAnswer("error", error=pmids)
    if not pmids:
        return before
    detail = f"more than {MAX_COMPARED} records match the title" if len(pmids) > MAX_COMPARED else None
    return MatcherAnswer("matched" if len(pmids) == 1 else "ambiguous", tuple(pmids), detail)


class _FetchedRecords:
    """The records that references may cite, each read once."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.articles: dict[str, Article] = {}
        self.unread: dict[str, str] = {}

    def read(self, pmids: Iterable[str]) -> None:
        """Read records that were not read before."""
        from entrez_kit.pubmed.record_fetcher import Retrieval

        wanted = [pmid for pmid in dict.fromkeys(pmids) if pmid not in self.articles and pmid not in self.unread]
        for item in Retrieval.of_ids(self._services, wanted) if wanted else ():
            if item.record is not None and item.pmid:
                self.articles[item.pmid] = item.record.article()
            else:
                self.unread[item.input] = item.message or item.status


def compare_citation(citation: Citation, article: Article) -> Agreement:
    """Compare the fields of a reference with a record. The author may be any author of the record."""
    first, last = citation.pages
    reference = Reference(
        key=citation.key or "",
        title=citation.title,
        authors=[parse_name(citation.author_name)] if citation.author_name else [],
        more_authors=True,
        journal=citation.journal,
        year=citation.year,
        volume=citation.volume,
        issue=citation.issue,
        pages="-".join(filter(None, (first, last))) or None,
    )
    return compare_record(reference, article, any_author=True)


def _build_match(key: str, citation: Citation, answer: MatcherAnswer, records: _FetchedRecords) -> CitationMatch:
    if not citation.usable:
        return CitationMatch(key=key, status="invalid", detail=TOO_LITTLE)
    if answer.error is not None:
        return CitationMatch(key=key, status="error", detail=answer.error.message)
    if answer.verdict == "not_found":
        detail = answer.detail or "NCBI does not know this reference"
        return CitationMatch(
            key=key, status="not_found", detail=detail.replace("NCBI", tracing.name_source("NCBI", begins=True))
        )
    if not answer.pmids:
        return CitationMatch(key=key, status="ambiguous", detail=f"{answer.detail or 'several records match'}; {ADD}")
    lost = [pmid for pmid in answer.pmids[:MAX_COMPARED] if pmid not in records.articles]
    if lost:
        why = records.unread.get(lost[0], "no record")
        detail = f"the record could not be read to compare it: {why}"
        return CitationMatch(
            key=key, status="error", candidate_pmids=list(answer.pmids[:MAX_CANDIDATES]), detail=detail
        )
    articles = [records.articles[pmid] for pmid in answer.pmids[:MAX_COMPARED]]
    compared = [(compare_citation(citation, article), article) for article in articles]
    compared.sort(key=lambda pair: (not pair[0].same, len(pair[0].differences), not pair[0].has_exact_title))
    judged = _judge_match(key, compared, complete=len(answer.pmids) <= MAX_COMPARED, detail=answer.detail)
    if citation.title and judged.citation:
        judged.similarity = _compare_titles(citation.title, compared[0][1].title)
    return judged


def _compare_titles(cited: str, recorded: str) -> float:
    """Return the similarity of two titles, 0 to 1; a title without its end has 1."""
    one, other = fold_text(cited), fold_text(recorded)
    return 1.0 if begins(one, other) else round(measure_text_likeness(one, other), 2)


def _judge_match(
    key: str, compared: list[tuple[Agreement, Article]], *, complete: bool, detail: str | None
) -> CitationMatch:
    """Select the cited record from candidates, which are sorted by likelihood.

    A reference matches the only record that agrees in all fields, or a single candidate that differs in one field.
    """
    agreement, article = compared[0]
    clean = [
        record
        for findings, record in compared
        if findings.same and not findings.differences and findings.has_exact_title >= agreement.has_exact_title
    ]
    likely = [record for findings, record in compared if _is_match(findings)]
    candidates = [record.pmid for record in clean or likely or [record for _, record in compared]][:MAX_CANDIDATES]
    findings = [to_finding(difference) for difference in agreement.differences]
    warnings = [
        MatchWarning(code=CODES[difference.field], message=to_finding(difference).message)
        for difference in agreement.differences
    ]
    about = {"warnings": warnings, "findings": findings, "citation": format_brief_citation(article)}
    if complete and (len(clean) == 1 or (len(compared) == 1 and likely)):
        return CitationMatch(
            key=key,
            status="matched",
            pmid=article.pmid,
            title=article.title or None,
            matched_first_author="".join(list_first_names(article, 1)) or None,
            standing=article.standing,
            **about,
        )
    if likely or not complete:
        detail = f"{detail or 'several records match'}; {ADD}"
        return CitationMatch(key=key, status="ambiguous", candidate_pmids=candidates, detail=detail)
    fields = " and ".join(difference.field for difference in agreement.differences)
    detail = f"the record found differs in: {fields}"
    return CitationMatch(key=key, status="mismatch", candidate_pmids=candidates, detail=detail, **about)


def _is_match(agreement: Agreement) -> bool:
    """Return true if a record is the cited work with few differences."""
    return agreement.same and len(agreement.differences) <= MAX_WRONG


LOOKUP_CITATION = StreamOperation(
    name="pubmed_lookup_citation",
    request=MatchRequest,
    result=MatchResult,
    outcomes=lookup_citation,
    collect=collect_result,
    command=("match",),
    toolset="pubmed",
    title="Find references by journal and page",
    agents=AgentOptions(
        caps={"citations": MAX_MCP_CITATIONS},
        portions=("results",),
        inputs=("citations",),
    ),
)
