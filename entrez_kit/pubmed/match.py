"""Find the PMIDs of references known by journal, year, volume, page and author, and check what was found."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from pydantic import Field

from entrez_kit.batches import in_batches
from entrez_kit.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.model import Request, Result, Warned, sparse
from entrez_kit.operation import InParts, Operation, shortfall_of
from entrez_kit.pubmed.likeness import bare_place, folded, page_ends, same_pages, same_volume, titles_alike, years_of
from entrez_kit.pubmed.standing import Standing
from entrez_kit.services import Services
from entrez_kit.services.known_shapes import TextShape, notice
from entrez_kit.services.xml_reply import malformed
from entrez_kit.wording import NextCall, Wording, listed

if TYPE_CHECKING:
    from entrez_kit.pubmed.models import Article

BATCH: Final = 50
MAX_CITATIONS: Final = 5_000
MAX_MCP_CITATIONS: Final = 25
MAX_CANDIDATES: Final = 5
CONTROL: Final = "nature|1869|1|9|nobody|ekcontrol|"
"""A line of our own at the head of every request: where its answer is there, lines without one were left out by NCBI
on purpose, and where it is missing the reply is no answer."""

MAX_AUTHORS: Final = 3
MAX_COMPARED: Final = 20
"""So many records are read for one reference, to see which of them it means."""
MAX_WRONG: Final = 1
"""A reference may differ from its record in so much, but never in its title."""

MatchStatus = Literal["matched", "mismatch", "ambiguous", "not_found", "invalid", "error"]
WarningCode = Literal[
    "author_mismatch", "year_mismatch", "title_mismatch", "volume_mismatch", "issue_mismatch", "page_mismatch"
]
ADD: Final = "add volume, issue, pages, author or title"
TOO_LITTLE: Final = "too little is given: a journal, a year or a title is needed"
TOO_LITTLE_HINT: Final = "Give journal, year, volume and first page, or the title."
UNKNOWN_HINT: Final = Wording(
    "Check journal, year, volume and first page; to search by title call ",
    *(NextCall("search_articles", query_term=...), "."),
)


class Citation(Request):
    """A reference as far as it is known; it needs a journal or a year, or else a title."""

    journal: str | None = Field(default=None, description="Journal title or abbreviation.")
    year: str | None = Field(default=None, pattern=r"^[0-9]{4}$", description="Year of publication, four digits.")
    volume: str | None = Field(default=None, description="Volume.")
    issue: str | None = Field(default=None, description="Issue number.")
    first_page: str | None = Field(default=None, description="First page, or the article number.")
    last_page: str | None = Field(default=None, description="Last page.")
    author_name: str | None = Field(default=None, description="Any author, e.g. Doe J.")
    title: str | None = Field(default=None, description="Title; asked for where the rest leads nowhere.")
    key: str | None = Field(default=None, description="A name of yours, given back with the result.")

    @property
    def pages(self) -> tuple[str, str]:
        """First and last page; both may have been given as the first."""
        first, _, last = re.sub(r"[\u2010-\u2015\u2212]", "-", self.first_page or "").partition("-")
        return first.strip(), (self.last_page or last).strip("- ")

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

    code: WarningCode
    message: str


class CitationMatch(Result):
    """What became of one reference.

    ``citation`` is the record that was found, ``candidate_pmids`` are records that may be meant. Of a ``mismatch`` the
    record is another work, or says otherwise in more than one respect.
    """

    key: str
    status: MatchStatus
    pmid: str | None = sparse()
    title: str | None = sparse()
    matched_first_author: str | None = sparse()
    standing: Standing | None = sparse()
    citation: str | None = sparse()
    candidate_pmids: list[str] = sparse([])
    warnings: list[MatchWarning] = sparse([])
    detail: str | None = sparse()


class MatchResult(Warned):
    """One result per reference, in the order of the references."""

    RECORDS: ClassVar = "results"

    results: list[CitationMatch]
    total_matched: int
    total_submitted: int
    total_warnings: int


class Matches(InParts[Citation, CitationMatch]):
    """What becomes of each reference, in order; many are looked up in parts."""

    PART, GOOD = 500, ("matched",)

    def __init__(self, services: Services, request: MatchRequest) -> None:
        super().__init__(services, request.citations)
        self._answered = False

    def _part(self, start: int, inputs: Sequence[Citation]) -> Iterator[CitationMatch]:
        services, citations = self._services, inputs
        said = _matched(services, citations)
        for index, citation in enumerate(citations):
            before = said.get(index, NOT_FOUND)
            if citation.title and before.verdict == "not_found" and (pmids := _titled(services, citation)) is not None:
                said[index] = _by_title(pmids, before)
        _narrow(services, citations, said)
        failed = [answer.error for answer in said.values() if answer.error is not None]
        self._answered = self._answered or len(failed) < len(said)
        self.error = None if self._answered else self.error or next(iter(failed), None)
        records = _Records(services)
        records.read(pmid for answer in said.values() for pmid in answer.pmids[:MAX_COMPARED])
        for index, citation in enumerate(citations):
            answer = said.get(index, NOT_FOUND)
            known = [records.articles[pmid] for pmid in answer.pmids if pmid in records.articles]
            others = [_has_other_title(differences(citation, article)) for article in known if citation.title]
            if others and all(others):
                # The place is another work's; its own may have the title.
                by_title = _titled(services, citation)
                if isinstance(by_title, list) and by_title:
                    records.read(by_title)
                    said[index] = MatcherAnswer("ambiguous", tuple(dict.fromkeys([*answer.pmids, *by_title])))
        for index, citation in enumerate(citations):
            yield _result(citation.key or str(start + index + 1), citation, said.get(index, NOT_FOUND), records)

    def shortfall(self) -> EntrezKitError | None:
        """Report references without a single certain record."""
        named = listed(result.key for result in self.missing)
        little = (InvalidInput, f"Too little is known of {named}.", TOO_LITTLE_HINT, "invalid_citations")
        return shortfall_of(
            self.missing,
            self.found,
            "key",
            unanswered=f"No answer for {named}.",
            invalid=None if self.found else little,
            unknown=(f"No certain PubMed record for {named}.", UNKNOWN_HINT),
        )


def lookup_citation(services: Services, request: MatchRequest) -> Matches:
    """Find the PMIDs of known references. Use it to turn a reference list into PMIDs.

    Example: {"journal": "J Invent Res", "year": "2024", "first_page": "737"}.
    What is found is compared with all that is given; one with another title is a mismatch.

    Raises:
        UpstreamError: NCBI answered none of the requests.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: ECitMatch; ESearch by title where that finds nothing; EFetch to check.
    """
    return Matches(services, request)


def result_of(request: MatchRequest, matches: Matches) -> MatchResult:
    """Build the result document from all outcomes."""
    results = list(matches)
    return MatchResult(
        results=results,
        total_matched=matches.found,
        total_submitted=len(results),
        total_warnings=sum(len(result.warnings) for result in results),
    )


@dataclass(frozen=True, slots=True)
class MatcherAnswer:
    """What NCBI makes of one line; ``pmids`` are the one record found, or some of several."""

    verdict: Literal["matched", "ambiguous", "not_found", "error"]
    pmids: tuple[str, ...] = ()
    detail: str | None = None
    error: EntrezKitError | None = None


NOT_FOUND: Final = MatcherAnswer("not_found")


def _matched(services: Services, citations: Sequence[Citation]) -> dict[int, MatcherAnswer]:
    """Return what becomes of citations by their number, of those with a journal or a year.

    ECitMatch is asked under keys of our own, since it shifts and swaps those it is given. It breaks off at a line
    without a journal that fits nothing: such lines are sent by themselves.
    """
    said: dict[int, MatcherAnswer] = {}

    def ask(batch: list[str]) -> dict[int, MatcherAnswer]:
        lines = [CONTROL, *(citation_line(citations[int(key[2:])], key) for key in batch)]

        def read(content: bytes) -> dict[int, MatcherAnswer]:
            answers, controlled = parse_matches(content)
            if not controlled:
                raise malformed("ecitmatch", "the control line has no answer")
            if not content.endswith((b"\n", b"\r")):
                raise malformed("ecitmatch", "the last line breaks off")
            return {index: answer for index, answer in answers.items() if f"ek{index}" in batch}

        def is_complete(answers: dict[int, MatcherAnswer]) -> bool:
            asked = (int(key[2:]) for key in batch)
            return all(index in answers for index in asked if citations[index].journal)

        return services.eutils.ecitmatch(db="pubmed", bdata="\r".join(lines), read=read, keep=is_complete).value

    def asked_for(indexes: Sequence[int], size: int) -> None:
        keys = [f"ek{index}" for index in indexes]
        refusals = (EntityNotFound, InvalidInput)
        asked = in_batches(keys, size, ask, refusals=refusals, at_once=services.eutils.at_once)
        for _, answers in asked.answers:
            said.update(answers)
        for key, error in {**asked.refused, **asked.failed}.items():
            said[int(key[2:])] = MatcherAnswer("error", error=error)

    with_journal = [index for index, citation in enumerate(citations) if citation.journal]
    only_year = [index for index, citation in enumerate(citations) if citation.year and not citation.journal]
    asked_for(with_journal, BATCH)
    # NCBI drops lines now and then; what is lacking is asked for by itself.
    asked_for([index for index in with_journal if index not in said], 1)
    asked_for(only_year, 1)
    left_out = UpstreamError(
        "NCBI left the reference out of its answer, asked twice.",
        details={"reason": "incomplete", "endpoint": "ecitmatch"},
    )
    unanswered = dict.fromkeys(with_journal, MatcherAnswer("error", error=left_out))
    return dict.fromkeys(only_year, NOT_FOUND) | unanswered | said


def citation_line(citation: Citation, key: str) -> str:
    """Return the line ECitMatch takes: journal|year|volume|first page|author|key|."""
    fields = (citation.journal, citation.year, citation.volume, citation.pages[0], citation.author_name)
    clean = [" ".join(re.sub(r"[|\r\n\t]", " ", field or "").split()) for field in fields]
    return "|".join([*clean, key, ""])


ECITMATCH: Final = TextShape(
    "ECitMatch", re.compile(rb"\|ek(?:[0-9]+|control)\|[ \t]*([A-Z][A-Z_]*)"), known="NOT_FOUND AMBIGUOUS"
)


def parse_matches(content: bytes) -> tuple[dict[int, MatcherAnswer], bool]:
    """Return what NCBI makes of each line, by its number, and whether the control line was answered.

    Lines without one of our keys are ignored; their references count as unanswered.
    """
    notice(ECITMATCH, content)
    answers: dict[int, MatcherAnswer] = {}
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


def _verdict(text: str) -> MatcherAnswer | None:
    """Read the end of a line: a PMID, NOT_FOUND with or without a reason, or AMBIGUOUS with PMIDs or their number."""
    if re.fullmatch(r"[1-9][0-9]{0,9}", text):
        return MatcherAnswer("matched", (text,))
    if re.match(r"NOT_FOUND\b", text, re.IGNORECASE):
        unknown = "INVALID_JOURNAL" in text.upper()
        return MatcherAnswer("not_found", detail="NCBI does not know the journal" if unknown else None)
    if match := re.match(r"AMBIGUOUS\b(.*)", text, re.IGNORECASE | re.DOTALL):
        how_many = re.search(r"\(\s*([0-9]+)\s+citations?\s*\)", match[1])
        rest = re.sub(r"\([^()]*+\)", " ", match[1])
        pmids = tuple(dict.fromkeys(re.findall(r"(?<![\w.])[1-9][0-9]{0,9}(?![\w.])", rest)))
        detail = f"{how_many[1]} records fit" if how_many else None
        return MatcherAnswer("ambiguous", pmids, detail)
    return None


def _by_title(pmids: list[str] | EntrezKitError, before: MatcherAnswer) -> MatcherAnswer:
    """Return what a search for the title comes to, where the rest led nowhere."""
    if isinstance(pmids, EntrezKitError):
        return MatcherAnswer("error", error=pmids)
    if not pmids:
        return before
    detail = f"more than {MAX_COMPARED} records fit the title" if len(pmids) > MAX_COMPARED else None
    return MatcherAnswer("matched" if len(pmids) == 1 else "ambiguous", tuple(pmids), detail)


def _titled(services: Services, citation: Citation) -> list[str] | EntrezKitError | None:
    """Return the records with the title; None where there are no words to look for."""
    words = [word for part in re.split(r"[^\w'.-]+", citation.title or "") if (word := part.strip("-'."))]
    if not words:
        return None
    return _search(services, f"({' '.join(words)}[Title])")


def _search(services: Services, term: str) -> list[str] | EntrezKitError:
    """Return the PMIDs of a search, one more than are compared where there are too many."""
    try:
        return services.eutils.esearch(db="pubmed", term=term, retmax=MAX_COMPARED + 1).value.ids
    except (EntityNotFound, InvalidInput):
        return []
    except (UpstreamError, RateLimited) as exc:
        return exc


def _narrow(services: Services, citations: Sequence[Citation], said: dict[int, MatcherAnswer]) -> None:
    """Name the records where NCBI only says how many fit: search with all that is given."""
    for index, answer in said.items():
        citation = citations[index]
        if answer.verdict != "ambiguous" or answer.pmids:
            continue
        given = {
            '"{}"[Journal]': citation.journal,
            '"{}"[Volume]': citation.volume,
            '"{}"[Issue]': citation.issue,
            '"{}"[Pagination]': citation.pages[0],
            '"{}"[Date - Publication]': citation.year,
            "{}[Author]": surname(citation.author_name or ""),  # in quotes a name is the whole of it, initials included
        }
        plain = {clause: " ".join(re.sub(r'["\[\]()*]', " ", text or "").split()) for clause, text in given.items()}
        term = " AND ".join(clause.format(text) for clause, text in plain.items() if text)
        pmids = _titled(services, citation) if citation.title else _search(services, term)
        if isinstance(pmids, list) and 0 < len(pmids) <= MAX_COMPARED:
            said[index] = MatcherAnswer("ambiguous", tuple(pmids))


class _Records:
    """The records that references may mean, each read once."""

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


def _has_other_title(warnings: Sequence[MatchWarning]) -> bool:
    return any(warning.code == "title_mismatch" for warning in warnings)


def _result(key: str, citation: Citation, answer: MatcherAnswer, records: _Records) -> CitationMatch:
    if not citation.usable:
        return CitationMatch(key=key, status="invalid", detail=TOO_LITTLE)
    if answer.error is not None:
        return CitationMatch(key=key, status="error", detail=answer.error.message)
    if answer.verdict == "not_found":
        return CitationMatch(key=key, status="not_found", detail=answer.detail or "NCBI knows no such reference")
    if not answer.pmids:
        return CitationMatch(key=key, status="ambiguous", detail=f"{answer.detail or 'several records fit'}; {ADD}")
    lost = [pmid for pmid in answer.pmids[:MAX_COMPARED] if pmid not in records.articles]
    if lost:
        why = records.unread.get(lost[0], "no record")
        detail = f"the record could not be read to check it: {why}"
        return CitationMatch(
            key=key, status="error", candidate_pmids=list(answer.pmids[:MAX_CANDIDATES]), detail=detail
        )
    compared = [
        (differences(citation, records.articles[pmid]), records.articles[pmid]) for pmid in answer.pmids[:MAX_COMPARED]
    ]
    compared.sort(key=lambda pair: (_has_other_title(pair[0]), len(pair[0])))
    return _judged(key, compared, complete=len(answer.pmids) <= MAX_COMPARED, detail=answer.detail)


def _judged(
    key: str, compared: "list[tuple[list[MatchWarning], Article]]", *, complete: bool, detail: str | None
) -> CitationMatch:
    """Tell which of several records is meant, the likeliest of which stands first.

    One record that agrees in all that is given is the one; so is a single candidate that differs in little.
    """
    warnings, article = compared[0]
    clean = [record for found, record in compared if not found]
    candidates = [record.pmid for _, record in compared][:MAX_CANDIDATES]
    about = {"warnings": warnings, "citation": brief_citation(article)}
    if complete and (len(clean) == 1 or (len(compared) == 1 and not _is_other(warnings))):
        return CitationMatch(
            key=key,
            status="matched",
            pmid=article.pmid,
            title=article.title or None,
            matched_first_author="".join(_names(article, 1)) or None,
            standing=article.standing,
            **about,
        )
    if clean or not complete or not _is_other(warnings):
        likely = clean or [record for found, record in compared if not _is_other(found)]
        candidates = [record.pmid for record in likely][:MAX_CANDIDATES] or candidates
        detail = f"{detail or 'several records fit'}; {ADD}"
        return CitationMatch(key=key, status="ambiguous", candidate_pmids=candidates, detail=detail)
    others = " and another ".join(warning.code.removesuffix("_mismatch") for warning in warnings)
    detail = f"the record that was found has another {others}"
    return CitationMatch(key=key, status="mismatch", candidate_pmids=candidates, detail=detail, **about)


def _is_other(warnings: Sequence[MatchWarning]) -> bool:
    """Tell whether a record is another work than the reference, or too little like it."""
    return _has_other_title(warnings) or len(warnings) > MAX_WRONG


def _names(article: "Article", most: int) -> list[str]:
    """Return the first authors as a reference names them: Doe J, or a group."""
    return [
        author.collective_name or " ".join(part for part in (author.last_name, author.initials) if part)
        for author in article.authors[:most]
    ]


def differences(citation: Citation, article: "Article") -> list[MatchWarning]:
    """Compare what is given of a reference with the record; the whole list of authors counts."""
    warnings: list[MatchWarning] = []
    names = [folded(name) for author in article.authors for name in (author.last_name, author.collective_name) if name]
    if citation.author_name and names:
        wanted = folded(surname(citation.author_name))
        if not any(f" {wanted} " in f" {name} " or f" {name} " in f" {wanted} " for name in names):
            message = f"{citation.author_name!r} is none of the {len(names)} authors."
            warnings.append(MatchWarning(code="author_mismatch", message=message))
    years = years_of(article)
    if citation.year and years and citation.year not in years:
        shown = " or ".join(sorted(years))
        warnings.append(MatchWarning(code="year_mismatch", message=f"published {shown}, not {citation.year}."))
    titles = [title for title in (article.title, article.vernacular_title) if title]
    given = folded(citation.title or "")
    if given and titles and not any(not folded(title) or titles_alike(given, folded(title)) for title in titles):
        warnings.append(MatchWarning(code="title_mismatch", message=f"the title is {titles[0]!r}."))
    warnings.extend(_place_differences(citation, article))
    return warnings


def _place_differences(citation: Citation, article: "Article") -> Iterator[MatchWarning]:
    """Compare volume, issue and pages, where the reference and the record have them."""
    journal = article.journal_info
    if journal is None:
        return
    volumes = (journal.volume or "", (journal.volume or "").partition(" ")[0])  # 46 Suppl 1
    if citation.volume and journal.volume and not any(same_volume(citation.volume, one) for one in volumes):
        yield MatchWarning(code="volume_mismatch", message=f"the volume is {journal.volume}, not {citation.volume}.")
    if citation.issue and journal.issue and bare_place(citation.issue) != bare_place(journal.issue):
        yield MatchWarning(code="issue_mismatch", message=f"the issue is {journal.issue}, not {citation.issue}.")
    first, last = citation.pages
    given = f"{first}-{last}" if last else first
    theirs = [pages for pages in (journal.pages, journal.article_number) if pages]
    if first and theirs and page_ends(given)[0] not in {page_ends(pages)[0] for pages in theirs}:
        yield MatchWarning(code="page_mismatch", message=f"the place is {theirs[0]}, not {given}.")
    elif first and theirs and not any(same_pages(given, pages) for pages in theirs):
        yield MatchWarning(code="page_mismatch", message=f"the pages are {theirs[0]}, not {given}.")


def brief_citation(article: "Article") -> str:
    """Return a record as a line: Doe J, Roe R, et al. A title. J Inv. 2024;12(3):201-12. PMID 1."""
    names = _names(article, MAX_AUTHORS)
    if len(article.authors) > MAX_AUTHORS:
        names.append("et al")
    title = article.title.rstrip(".")
    parts = [", ".join(name for name in names if name), title, brief_place(article), f"PMID {article.pmid}"]
    return " ".join(part if part[-1] in ".?!" else f"{part}." for part in parts if part)


def brief_place(article: "Article") -> str:
    """Return where a record stands: J Inv. 2024;12(3):201-12."""
    journal = article.journal_info
    if journal is None:
        return ""
    date = journal.publication_date
    year = str(date.year or date.medline_date or "") if date else ""
    volume = (journal.volume or "") + (f"({journal.issue})" if journal.issue else "")
    place = ";".join(part for part in (year, volume) if part) + (f":{journal.pages}" if journal.pages else "")
    name = (journal.iso_abbreviation or journal.title or "").rstrip(".")
    return ". ".join(part for part in (name, place) if part)


def surname(name: str) -> str:
    """Return the family name of an author written "Doe J", "Doe, Jane", "J. Doe" or "van der Doe J"."""
    if "," in name:
        return name.split(",")[0].strip()
    parts = name.split()
    initials = re.compile(r"(?:[A-Z]\.?-?){1,4}")
    kept = [part for part in parts if not initials.fullmatch(part)]
    return " ".join(kept or parts)


LOOKUP_CITATION = Operation(
    name="pubmed_lookup_citation",
    outcomes=lookup_citation,
    collect=result_of,
    command=("match",),
    toolset="pubmed",
    title="Find references by journal and page",
    mcp_caps={"citations": MAX_MCP_CITATIONS},
    portions=("results",),
)
