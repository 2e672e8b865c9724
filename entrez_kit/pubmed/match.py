"""Find the PMIDs of references known by journal, year, volume, page and author, and check what was found."""

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from pydantic import Field, model_validator

from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.esearch_reply import parse_esearch
from entrez_kit.operation import Operation, Request, Result, sparse
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.pubmed.models import Article

BATCH: Final = 50
MAX_CITATIONS: Final = 5_000
MAX_MCP_CITATIONS: Final = 25
MAX_CANDIDATES: Final = 5

MatchStatus = Literal["matched", "ambiguous", "not_found", "error"]


class Citation(Request):
    """A reference as far as it is known; a journal or a year, or else a title, is needed."""

    journal: str | None = Field(default=None, description="Journal title or abbreviation.")
    year: str | None = Field(default=None, pattern=r"^[0-9]{4}$", description="Year of publication, four digits.")
    volume: str | None = Field(default=None, description="Volume.")
    first_page: str | None = Field(default=None, description="First page, or the article number.")
    author_name: str | None = Field(default=None, description='Any author, e.g. "Doe J".')
    title: str | None = Field(default=None, description="Title; asked for where the rest leads nowhere.")
    key: str | None = Field(default=None, description="A name of yours for the reference, given back with the result.")

    @model_validator(mode="after")
    def _enough(self) -> Self:
        if not (self.journal or self.year or self.title):
            raise ValueError("a journal, a year or a title is needed")
        return self


class MatchRequest(Request):
    """The references to find."""

    citations: list[Citation] = Field(
        min_length=1, max_length=MAX_CITATIONS, description="References, each with what is known of it."
    )


class MatchWarning(Result):
    """What differs between the reference and the record found for it."""

    code: Literal["author_mismatch", "year_mismatch"]
    message: str


class CitationMatch(Result):
    """What became of one reference. ``candidate_pmids`` are records that may be meant."""

    key: str
    status: MatchStatus
    pmid: str | None = sparse()
    title: str | None = sparse()
    matched_first_author: str | None = sparse()
    candidate_pmids: list[str] = sparse([])
    warnings: list[MatchWarning] = sparse([])
    detail: str | None = sparse()


class MatchResult(Result):
    """One result per reference, in the order of the references."""

    results: list[CitationMatch]
    total_matched: int
    total_submitted: int
    total_warnings: int

    def shortfall(self) -> EntrezKitError | None:
        """Report references without a single certain record."""
        missing = [result for result in self.results if result.status != "matched"]
        if not missing:
            return None
        details: dict[str, Any] = {
            "partial": self.total_matched > 0,
            "missing": [result.model_dump() for result in missing],
        }
        named = ", ".join(result.key for result in missing[:10]) + (" ..." if len(missing) > 10 else "")
        if any(result.status == "error" for result in missing):
            return UpstreamError(f"No answer for {named}.", details={**details, "reason": "incomplete"})
        return EntityNotFound(
            f"No certain PubMed record for {named}.",
            recovery_hint="Check journal, year, volume and first page, or search by title with pubmed_search_articles.",
            details={**details, "reason": "not_found"},
        )


def lookup_citation(services: Services, request: MatchRequest) -> MatchResult:
    """Find the PMIDs of known references by journal, year, volume, first page and author.

    Use it to turn a reference list into PMIDs. Example: {"journal": "J Invent Res", "year": "2024", "volume": "12",
    "first_page": "737", "author_name": "Doe J"}. NCBI's matcher overlooks a wrong author or year, so every record
    found is compared with the reference. Not for finding literature on a topic; search for that.

    Args:
        services: the clients.
        request: the references.

    Raises:
        InvalidInput: a reference has neither journal nor year nor title.
        UpstreamError: NCBI answered none of the requests.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: ECitMatch; ESearch by title where that finds nothing; EFetch to check.
    """
    citations = list(request.citations)
    keys = [citation.key or str(number) for number, citation in enumerate(citations, start=1)]
    answers, failed = _matched(services, citations)
    for index, citation in enumerate(citations):
        if citation.title and not answers.get(index) and index not in failed:
            try:
                answers[index] = _by_title(services, citation)
            except (UpstreamError, RateLimited) as exc:
                failed[index] = exc
    if len(failed) == len(citations):
        raise next(iter(failed.values()))
    single = list(dict.fromkeys(pmids[0] for pmids in answers.values() if len(pmids) == 1))
    articles, unread = _articles(services, single)
    results = [
        _result(key, citation, answers.get(index, []), failed.get(index), articles, unread)
        for index, (key, citation) in enumerate(zip(keys, citations, strict=True))
    ]
    return MatchResult(
        results=results,
        total_matched=sum(result.status == "matched" for result in results),
        total_submitted=len(results),
        total_warnings=sum(len(result.warnings) for result in results),
    )


def _matched(
    services: Services, citations: Sequence[Citation]
) -> tuple[dict[int, list[str]], dict[int, EntrezKitError]]:
    """Ask ECitMatch under keys of our own, since it shifts and swaps those it is given."""
    answers: dict[int, list[str]] = {}
    failed: dict[int, EntrezKitError] = {}
    usable = [index for index, citation in enumerate(citations) if citation.journal or citation.year]
    for start in range(0, len(usable), BATCH):
        batch = usable[start : start + BATCH]
        try:
            reply = _ask(services, citations, batch)
            for index in batch:
                # NCBI drops lines now and then; what is lacking is asked for by itself.
                if index not in reply:
                    reply |= _ask(services, citations, [index])
        except (UpstreamError, RateLimited, InvalidInput) as exc:
            failed |= dict.fromkeys(batch, exc)
            continue
        except EntityNotFound:
            continue
        answers |= reply
    return answers, failed


def _ask(services: Services, citations: Sequence[Citation], indexes: Sequence[int]) -> dict[int, list[str]]:
    lines = [citation_line(citations[index], f"ek{index}") for index in indexes]
    return parse_matches(services.eutils.ecitmatch(db="pubmed", bdata="\r".join(lines)).content)


def citation_line(citation: Citation, key: str) -> str:
    """Return the line ECitMatch takes: journal|year|volume|first page|author|key|."""
    fields = (citation.journal, citation.year, citation.volume, citation.first_page, citation.author_name)
    clean = [" ".join(re.sub(r"[|\r\n\t]", " ", field or "").split()) for field in fields]
    return "|".join([*clean, key, ""])


def parse_matches(content: bytes) -> dict[int, list[str]]:
    """Return the PMIDs of each line by its number: one where matched, several where ambiguous, none where not found.

    Lines without one of our keys are ignored; their references count as unanswered.
    """
    answers: dict[int, list[str]] = {}
    for line in re.split(r"[\r\n]+", content.decode("utf-8", "replace")):
        parts = [part.strip() for part in line.split("|")]
        found = next((i for i, part in enumerate(parts) if re.fullmatch(r"ek[0-9]+", part)), None)
        if found is None:
            continue
        verdict = " ".join(parts[found + 1 :])
        index = int(parts[found][2:])
        if verdict.upper().startswith("NOT_FOUND"):
            answers[index] = []
        else:
            answers[index] = list(dict.fromkeys(re.findall(r"(?<![0-9.])[0-9]{1,10}(?![0-9.])", verdict)))
    return answers


def _by_title(services: Services, citation: Citation) -> list[str]:
    words = re.sub(r'["\[\](){}|:/]', " ", citation.title or "").split()
    term = f"({' '.join(words)}[Title])"
    if citation.author_name:
        term += f' AND "{surname(citation.author_name)}"[Author]'
    try:
        return parse_esearch(services.eutils.esearch(db="pubmed", term=term, retmax=MAX_CANDIDATES).content).ids
    except (EntityNotFound, InvalidInput):
        return []


def _articles(services: Services, pmids: list[str]) -> "tuple[dict[str, Article], dict[str, str]]":
    from entrez_kit.pubmed.retrieval import Retrieval

    articles: dict[str, Article] = {}
    unread: dict[str, str] = {}
    for item in Retrieval.of_ids(services, pmids) if pmids else ():
        if item.record is not None and item.pmid:
            articles[item.pmid] = item.record.article()
        else:
            unread[item.input] = item.message or item.status
    return articles, unread


def _result(
    key: str,
    citation: Citation,
    pmids: list[str],
    error: EntrezKitError | None,
    articles: "dict[str, Article]",
    unread: dict[str, str],
) -> CitationMatch:
    if error is not None:
        return CitationMatch(key=key, status="error", detail=error.message)
    if not pmids:
        return CitationMatch(key=key, status="not_found", detail="NCBI knows no such reference")
    if len(pmids) > 1:
        detail = "several records fit; add volume, first page or author"
        return CitationMatch(key=key, status="ambiguous", candidate_pmids=pmids[:MAX_CANDIDATES], detail=detail)
    pmid = pmids[0]
    article = articles.get(pmid)
    if article is None:
        detail = f"the record could not be read to check it: {unread.get(pmid, 'no record')}"
        return CitationMatch(key=key, status="error", candidate_pmids=[pmid], detail=detail)
    warnings = differences(citation, article)
    if len(warnings) == 2:
        return CitationMatch(
            key=key,
            status="not_found",
            candidate_pmids=[pmid],
            warnings=warnings,
            detail="the record at this place has another author and another year",
        )
    return CitationMatch(
        key=key,
        status="matched",
        pmid=pmid,
        title=article.title or None,
        matched_first_author=_first_author(article),
        warnings=warnings,
    )


def _first_author(article: "Article") -> str | None:
    if not article.authors:
        return None
    first = article.authors[0]
    return first.collective_name or " ".join(part for part in (first.last_name, first.initials) if part) or None


def differences(citation: Citation, article: "Article") -> list[MatchWarning]:
    """Compare author and year of a reference with the record; the whole list of authors counts."""
    warnings: list[MatchWarning] = []
    names = [folded(name) for author in article.authors for name in (author.last_name, author.collective_name) if name]
    if citation.author_name and names:
        wanted = folded(surname(citation.author_name))
        if not any(f" {wanted} " in f" {name} " or f" {name} " in f" {wanted} " for name in names):
            message = f"{citation.author_name!r} is none of the {len(names)} authors."
            warnings.append(MatchWarning(code="author_mismatch", message=message))
    years = _years(article)
    if citation.year and years and int(citation.year) not in years:
        shown = " or ".join(str(year) for year in sorted(years))
        warnings.append(MatchWarning(code="year_mismatch", message=f"published {shown}, not {citation.year}."))
    return warnings


def _years(article: "Article") -> set[int]:
    """Return the years a reference may rightly name: of the issue and of the electronic publication."""
    years = {date.year for date in article.article_dates if date.year}
    issue = article.journal_info.publication_date if article.journal_info else None
    if issue is not None:
        if issue.year:
            years.add(issue.year)
        years |= {int(year) for year in re.findall(r"[0-9]{4}", issue.medline_date or "")}
    return years


def surname(name: str) -> str:
    """Return the family name of an author written "Doe J", "Doe, Jane", "J. Doe" or "van der Doe J"."""
    if "," in name:
        return name.split(",")[0].strip()
    parts = name.split()
    initials = re.compile(r"(?:[A-Z]\.?-?){1,4}")
    kept = [part for part in parts if not initials.fullmatch(part)]
    return " ".join(kept or parts)


def folded(text: str) -> str:
    """Return a name without accents, case and punctuation, for comparing."""
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(re.sub(r"[^\w]+", " ", plain.casefold()).split())


LOOKUP_CITATION = Operation(
    name="pubmed_lookup_citation",
    function=lookup_citation,
    request=MatchRequest,
    result=MatchResult,
    method="lookup_citation",
    command=("match",),
    toolset="pubmed",
    title="Find references by journal and page",
    errors=(EntityNotFound, UpstreamError, RateLimited),
    mcp_caps={"citations": MAX_MCP_CITATIONS},
)
