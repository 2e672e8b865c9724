"""Find the PMIDs of references known by journal, year, volume, page and author, and check what was found."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field, field_validator

from entrez_kit.batches import in_batches
from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.esearch_reply import parse_esearch
from entrez_kit.operation import Operation, Request, Result, sparse
from entrez_kit.services import Services
from entrez_kit.xml_reply import malformed

if TYPE_CHECKING:
    from entrez_kit.pubmed.models import Article

BATCH: Final = 50
MAX_CITATIONS: Final = 5_000
MAX_MCP_CITATIONS: Final = 25
MAX_CANDIDATES: Final = 5
CONTROL: Final = "nature|1869|1|9|nobody|ekcontrol|"
"""A line of our own at the head of every request: where its answer is there, lines without one were left out by NCBI
on purpose, and where it is missing the reply is no answer."""
SIMILAR_TITLES: Final = 0.6
"""Share of words two titles must have in common to be of the same work."""

MatchStatus = Literal["matched", "ambiguous", "not_found", "invalid", "error"]
TOO_LITTLE: Final = "too little is given: a journal, a year or a title is needed"


class Citation(Request):
    """A reference as far as it is known; a journal or a year, or else a title, is needed to find it."""

    journal: str | None = Field(default=None, description="Journal title or abbreviation.")
    year: str | None = Field(default=None, pattern=r"^[0-9]{4}$", description="Year of publication, four digits.")
    volume: str | None = Field(default=None, description="Volume.")
    first_page: str | None = Field(default=None, description="First page, or the article number.")
    author_name: str | None = Field(default=None, description='Any author, e.g. "Doe J".')
    title: str | None = Field(default=None, description="Title; asked for where the rest leads nowhere.")
    key: str | None = Field(default=None, description="A name of yours for the reference, given back with the result.")

    @field_validator("year", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @property
    def usable(self) -> bool:
        """Whether there is enough to look for."""
        return bool(self.journal or self.year or self.title)


class MatchRequest(Request):
    """The references to find."""

    citations: list[Citation] = Field(
        min_length=1, max_length=MAX_CITATIONS, description="References, each with what is known of it."
    )


class MatchWarning(Result):
    """What differs between the reference and the record found for it."""

    code: Literal["author_mismatch", "year_mismatch", "title_mismatch"]
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
            return UpstreamError(
                f"No answer for {named}.",
                recovery_hint="Run the same command again: what was answered is in the cache, only the rest is asked "
                "for.",
                details={**details, "reason": "incomplete"},
            )
        if all(result.status == "invalid" for result in missing) and not self.total_matched:
            return InvalidInput(
                f"Too little is known of {named}.",
                invalid_input=missing[0].key,
                recovery_hint="Give journal, year, volume and first page, or the title.",
                details={**details, "reason": "invalid_citations"},
            )
        return EntityNotFound(
            f"No certain PubMed record for {named}.",
            recovery_hint="Check journal, year, volume and first page, or search by title with pubmed_search_articles.",
            details={**details, "reason": "not_found"},
        )


def lookup_citation(services: Services, request: MatchRequest) -> MatchResult:
    """Find the PMIDs of known references by journal, year, volume, first page and author.

    Use it to turn a reference list into PMIDs. Example: {"journal": "J Invent Res", "year": "2024", "volume": "12",
    "first_page": "737", "author_name": "Doe J"}. NCBI's matcher overlooks a wrong author or year, so every record
    found is compared with the reference.

    Args:
        services: the clients.
        request: the references.

    Raises:
        UpstreamError: NCBI answered none of the requests.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: ECitMatch; ESearch by title where that finds nothing; EFetch to check.
    """
    citations = list(request.citations)
    keys = [citation.key or str(number) for number, citation in enumerate(citations, start=1)]
    found = _matched(services, citations)
    for index, citation in enumerate(citations):
        answer = found.answers.get(index)
        if citation.title and index not in found.failed and (answer is None or answer.verdict == "not_found"):
            _by_title(services, index, citation, found)
    if found.failed and not found.answers:
        raise next(iter(found.failed.values()))
    articles, unread = _articles(services, found)
    results = [
        _result(key, index, citation, found, articles, unread)
        for index, (key, citation) in enumerate(zip(keys, citations, strict=True))
    ]
    return MatchResult(
        results=results,
        total_matched=sum(result.status == "matched" for result in results),
        total_submitted=len(results),
        total_warnings=sum(len(result.warnings) for result in results),
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """What NCBI makes of one line; ``pmids`` are the one record found, or some of several."""

    verdict: Literal["matched", "ambiguous", "not_found"]
    pmids: tuple[str, ...] = ()
    detail: str | None = None


@dataclass(slots=True)
class _Found:
    """Answers and failures by number of the citation."""

    answers: dict[int, Answer] = field(default_factory=dict)
    failed: dict[int, EntrezKitError] = field(default_factory=dict)


def _matched(services: Services, citations: Sequence[Citation]) -> _Found:
    """Ask ECitMatch under keys of our own, since it shifts and swaps those it is given.

    It breaks off at a line without a journal that fits nothing: such lines are sent by themselves.
    """
    found = _Found()

    def ask(batch: list[str]) -> dict[int, Answer]:
        lines = [CONTROL, *(citation_line(citations[int(key[2:])], key) for key in batch)]
        content = services.eutils.ecitmatch(db="pubmed", bdata="\r".join(lines)).content
        answers, controlled = parse_matches(content)
        if not controlled:
            raise malformed("ecitmatch", "the control line has no answer")
        return answers

    def asked_for(indexes: Sequence[int], size: int) -> None:
        asked = in_batches([f"ek{index}" for index in indexes], size, ask, refusals=(EntityNotFound, InvalidInput))
        for _, answers in asked.answers:
            found.answers.update(answers)
        for key, error in {**asked.refused, **asked.failed}.items():
            found.failed[int(key[2:])] = error

    with_journal = [index for index, citation in enumerate(citations) if citation.journal]
    only_year = [index for index, citation in enumerate(citations) if citation.year and not citation.journal]
    asked_for(with_journal, BATCH)
    # NCBI drops lines now and then; what is lacking is asked for by itself.
    asked_for([index for index in with_journal if index not in found.answers and index not in found.failed], 1)
    asked_for(only_year, 1)
    for index in only_year:
        if index not in found.failed:
            found.answers.setdefault(index, Answer("not_found"))
    for index in with_journal:
        if index not in found.answers and index not in found.failed:
            found.failed[index] = UpstreamError(
                "NCBI left the reference out of its answer, asked twice.",
                details={"reason": "incomplete", "endpoint": "ecitmatch"},
            )
    return found


def citation_line(citation: Citation, key: str) -> str:
    """Return the line ECitMatch takes: journal|year|volume|first page|author|key|."""
    fields = (citation.journal, citation.year, citation.volume, citation.first_page, citation.author_name)
    clean = [" ".join(re.sub(r"[|\r\n\t]", " ", field or "").split()) for field in fields]
    return "|".join([*clean, key, ""])


def parse_matches(content: bytes) -> tuple[dict[int, Answer], bool]:
    """Return what NCBI makes of each line, by its number, and whether the control line was answered.

    Lines without one of our keys are ignored; their references count as unanswered.
    """
    answers: dict[int, Answer] = {}
    controlled = False
    for line in re.split(r"[\r\n]+", content.decode("utf-8", "replace")):
        parts = [part.strip() for part in line.split("|")]
        place = next((i for i, part in enumerate(parts) if re.fullmatch(r"ek(?:[0-9]+|control)", part)), None)
        if place is None:
            continue
        if parts[place] == "ekcontrol":
            controlled = True
            continue
        answer = _verdict(" ".join(parts[place + 1 :]).strip())
        if answer is not None:
            answers[int(parts[place][2:])] = answer
    return answers, controlled


def _verdict(text: str) -> Answer | None:
    """Read the end of a line: a PMID, NOT_FOUND with or without a reason, or AMBIGUOUS with PMIDs or their number."""
    if re.fullmatch(r"[1-9][0-9]{0,9}", text):
        return Answer("matched", (text,))
    if re.match(r"NOT_FOUND\b", text, re.IGNORECASE):
        unknown = "INVALID_JOURNAL" in text.upper()
        return Answer("not_found", detail="NCBI does not know the journal" if unknown else None)
    if match := re.match(r"AMBIGUOUS\b(.*)", text, re.IGNORECASE | re.DOTALL):
        how_many = re.search(r"\(\s*([0-9]+)\s+citations?\s*\)", match[1])
        rest = re.sub(r"\([^)]*\)", " ", match[1])
        pmids = tuple(dict.fromkeys(re.findall(r"(?<![\w.])[1-9][0-9]{0,9}(?![\w.])", rest)))
        detail = f"{how_many[1]} records fit" if how_many else None
        return Answer("ambiguous", pmids, detail)
    return None


def _by_title(services: Services, index: int, citation: Citation, found: _Found) -> None:
    """Search for the title where the rest led nowhere."""
    words = re.sub(r'["\[\](){}|:/*]', " ", citation.title or "").split()
    if not words:
        return
    term = f"({' '.join(words)}[Title])"
    if citation.author_name:
        term += f' AND "{surname(citation.author_name)}"[Author]'
    try:
        pmids = parse_esearch(services.eutils.esearch(db="pubmed", term=term, retmax=MAX_CANDIDATES + 1).content).ids
    except (EntityNotFound, InvalidInput):
        pmids = []
    except (UpstreamError, RateLimited) as exc:
        found.failed[index] = exc
        found.answers.pop(index, None)
        return
    if len(pmids) == 1:
        found.answers[index] = Answer("matched", tuple(pmids))
    elif pmids:
        found.answers[index] = Answer("ambiguous", tuple(pmids))
    else:
        found.answers.setdefault(index, Answer("not_found"))


def _articles(services: Services, found: _Found) -> "tuple[dict[str, Article], dict[str, str]]":
    from entrez_kit.pubmed.retrieval import Retrieval

    pmids = list(dict.fromkeys(answer.pmids[0] for answer in found.answers.values() if answer.verdict == "matched"))
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
    index: int,
    citation: Citation,
    found: _Found,
    articles: "dict[str, Article]",
    unread: dict[str, str],
) -> CitationMatch:
    if not citation.usable:
        return CitationMatch(key=key, status="invalid", detail=TOO_LITTLE)
    if index in found.failed:
        return CitationMatch(key=key, status="error", detail=found.failed[index].message)
    answer = found.answers.get(index, Answer("not_found"))
    if answer.verdict == "not_found":
        detail = answer.detail or "NCBI knows no such reference"
        return CitationMatch(key=key, status="not_found", detail=detail)
    if answer.verdict == "ambiguous":
        detail = f"{answer.detail or 'several records fit'}; add volume, first page or author"
        candidates = list(answer.pmids[:MAX_CANDIDATES])
        return CitationMatch(key=key, status="ambiguous", candidate_pmids=candidates, detail=detail)
    pmid = answer.pmids[0]
    article = articles.get(pmid)
    if article is None:
        detail = f"the record could not be read to check it: {unread.get(pmid, 'no record')}"
        return CitationMatch(key=key, status="error", candidate_pmids=[pmid], detail=detail)
    warnings = differences(citation, article)
    if len(warnings) > 1:
        others = " and another ".join(warning.code.removesuffix("_mismatch") for warning in warnings)
        return CitationMatch(
            key=key,
            status="not_found",
            candidate_pmids=[pmid],
            warnings=warnings,
            detail=f"the record at this place has another {others}",
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
    """Compare author, year and title of a reference with the record; the whole list of authors counts."""
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
    titles = [title for title in (article.title, article.vernacular_title) if title]
    if citation.title and titles and not any(_same_title(citation.title, title) for title in titles):
        warnings.append(MatchWarning(code="title_mismatch", message=f"the title is {titles[0]!r}."))
    return warnings


def _same_title(one: str, other: str) -> bool:
    """Tell whether two titles may be of one work: one is part of the other, or most of their words are the same."""
    first, second = set(folded(one).split()), set(folded(other).split())
    smaller, larger = sorted((first, second), key=len)
    if not smaller or (len(smaller) >= 3 and smaller <= larger):
        return True
    return len(first & second) / len(first | second) >= SIMILAR_TITLES


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
