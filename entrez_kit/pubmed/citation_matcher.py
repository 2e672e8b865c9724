"""NCBI's citation matcher (ECitMatch): find PMIDs by journal, year, volume, page and author.

If several records match, ECitMatch may return only their number; then a search finds them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.core.batches import collect_batches
from entrez_kit.core.model import FOUR_DIGITS, Request
from entrez_kit.pubmed.brief import get_surname
from entrez_kit.services import Services
from entrez_kit.services.known_shapes import TextShape, log_drift
from entrez_kit.services.small_replies import malformed_error

BATCH: Final = 50
CONTROL: Final = "nature|1869|1|9|nobody|ekcontrol|"
"""The first line of every request. If the reply does not contain its result, the reply is invalid. If it does, NCBI
omitted the lines without a result deliberately."""

UNKNOWN_JOURNAL: Final = "NCBI does not know the journal"
MAX_COMPARED: Final = 20
"""The most records that are compared with one reference."""


class Citation(Request):
    """A journal, a year or a title is required."""

    journal: str | None = Field(default=None, description="Title or abbreviation.")
    year: str | None = Field(default=None, pattern=FOUR_DIGITS, description="Four digits.")
    volume: str | None = Field(default=None, description="Volume.")
    issue: str | None = Field(default=None, description="Issue number.")
    first_page: str | None = Field(default=None, description="Or article number.")
    last_page: str | None = Field(default=None, description="Last page.")
    author_name: str | None = Field(default=None, description="Any author, e.g. Doe J.")
    title: str | None = Field(default=None, description="Searched if the rest does not match.")
    key: str | None = Field(default=None, description="Your label; the result repeats it.")

    @property
    def pages(self) -> tuple[str, str]:
        """First and last page; ``first_page`` may contain both."""
        first, _, last = re.sub(r"[\u2010-\u2015\u2212]", "-", self.first_page or "").partition("-")
        return first.strip(), (self.last_page or last).strip("- ")

    @property
    def usable(self) -> bool:
        """Whether the reference has enough parts for a search."""
        return bool(self.journal or self.year or self.title)


@dataclass(frozen=True, slots=True)
class MatcherAnswer:
    """NCBI's result for one line; ``pmids`` is the record found, or candidates if it is ambiguous."""

    verdict: Literal["matched", "ambiguous", "not_found", "error"]
    pmids: tuple[str, ...] = ()
    detail: str | None = None
    error: EntrezKitError | None = None


NOT_FOUND: Final = MatcherAnswer("not_found")


def ask_matcher(services: Services, citations: Sequence[Citation]) -> dict[int, MatcherAnswer]:
    """Return the results of the citations with a journal or a year, by index.

    The request has its own keys, because ECitMatch shifts and swaps the keys of its callers. ECitMatch stops at a line
    without a journal that has no match, so each of these lines is sent in a separate request.
    """
    results: dict[int, MatcherAnswer] = {}

    def match_batch(batch: list[str]) -> dict[int, MatcherAnswer]:
        lines = [CONTROL, *(format_citation_line(citations[int(key[2:])], key) for key in batch)]

        def read_matches(content: bytes) -> dict[int, MatcherAnswer]:
            answers, controlled = parse_matches(content)
            if not controlled:
                raise malformed_error("ecitmatch", "the control line has no result")
            if not content.endswith((b"\n", b"\r")):
                raise malformed_error("ecitmatch", "the last line is truncated", "truncated")
            return {index: answer for index, answer in answers.items() if f"ek{index}" in batch}

        def is_complete(answers: dict[int, MatcherAnswer]) -> bool:
            requested = (int(key[2:]) for key in batch)
            return all(index in answers for index in requested if citations[index].journal)

        return services.eutils.ecitmatch(db="pubmed", bdata="\r".join(lines), read=read_matches, keep=is_complete).value

    def send_lines(indexes: Sequence[int], size: int) -> None:
        keys = [f"ek{index}" for index in indexes]
        refusals = (EntityNotFound, InvalidInput)
        requested = collect_batches(keys, size, match_batch, refusals=refusals, at_once=services.eutils.at_once)
        for _, answers in requested.answers:
            results.update(answers)
        for key, error in {**requested.refused, **requested.failed}.items():
            results[int(key[2:])] = MatcherAnswer("error", error=error)

    with_journal = [index for index, citation in enumerate(citations) if citation.journal]
    only_year = [index for index, citation in enumerate(citations) if citation.year and not citation.journal]
    send_lines(with_journal, BATCH)
    # NCBI sometimes drops lines; each missing line is sent once more, in a separate request.
    send_lines([index for index in with_journal if index not in results], 1)
    send_lines(only_year, 1)
    left_out = UpstreamError(
        "NCBI's reply did not contain the reference, in two attempts.",
        details={"reason": "incomplete", "endpoint": "ecitmatch"},
    )
    unanswered = dict.fromkeys(with_journal, MatcherAnswer("error", error=left_out))
    return dict.fromkeys(only_year, NOT_FOUND) | unanswered | results


def format_citation_line(citation: Citation, key: str) -> str:
    """Format the line for ECitMatch: journal|year|volume|first page|author|key|."""
    fields = (citation.journal, citation.year, citation.volume, citation.pages[0], citation.author_name)
    clean = [" ".join(re.sub(r"[|\r\n\t]", " ", field or "").split()) for field in fields]
    return "|".join([*clean, key, ""])


ECITMATCH: Final = TextShape(
    "ECitMatch", re.compile(rb"\|ek(?:[0-9]+|control)\|[ \t]*([A-Z][A-Z_]*)"), known="NOT_FOUND AMBIGUOUS"
)


def parse_matches(content: bytes) -> tuple[dict[int, MatcherAnswer], bool]:
    """Return the result of each line by its index, and whether the control line has a result.

    Lines with an unknown key are ignored; their references have no result.
    """
    log_drift(ECITMATCH, content)
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
        answer = _read_result(" ".join(parts[place + 1 :]).strip())
        if answer is not None:
            answers[int(parts[place][2:])] = answer
    return answers, controlled


def _read_result(text: str) -> MatcherAnswer | None:
    """Read the end of a line: a PMID, NOT_FOUND with or without a reason, or AMBIGUOUS with PMIDs or their number."""
    if re.fullmatch(r"[1-9][0-9]{0,9}", text):
        return MatcherAnswer("matched", (text,))
    if re.match(r"NOT_FOUND\b", text, re.IGNORECASE):
        unknown = "INVALID_JOURNAL" in text.upper()
        return MatcherAnswer("not_found", detail=UNKNOWN_JOURNAL if unknown else None)
    if match := re.match(r"AMBIGUOUS\b(.*)", text, re.IGNORECASE | re.DOTALL):
        how_many = re.search(r"\(\s*([0-9]+)\s+citations?\s*\)", match[1])
        rest = re.sub(r"\([^()]*+\)", " ", match[1])
        pmids = tuple(dict.fromkeys(re.findall(r"(?<![\w.])[1-9][0-9]{0,9}(?![\w.])", rest)))
        detail = format_count(int(how_many[1]), "record fits", "records fit") if how_many else None
        return MatcherAnswer("ambiguous", pmids, detail)
    return None


def search_title(services: Services, citation: Citation) -> list[str] | EntrezKitError | None:
    """Return the PMIDs of the records with the title; None if the title has no words."""
    words = [word for part in re.split(r"[^\w'.-]+", citation.title or "") if (word := part.strip("-'."))]
    if not words:
        return None
    return _search(services, f"({' '.join(words)}[Title])")


def _search(services: Services, term: str) -> list[str] | EntrezKitError:
    """Return the PMIDs of a search: at most one more than can be compared, which shows that there are too many."""
    try:
        return services.eutils.esearch(db="pubmed", term=term, retmax=MAX_COMPARED + 1).value.ids
    except (EntityNotFound, InvalidInput):
        return []
    except (UpstreamError, RateLimited) as exc:
        return exc


def name_candidates(services: Services, citations: Sequence[Citation], results: dict[int, MatcherAnswer]) -> None:
    """Find the candidates of ambiguous results that have only a number: search with all parts of the citation."""
    for index, answer in results.items():
        citation = citations[index]
        if answer.verdict != "ambiguous" or answer.pmids:
            continue
        texts = {
            '"{}"[Journal]': citation.journal,
            '"{}"[Volume]': citation.volume,
            '"{}"[Issue]': citation.issue,
            '"{}"[Pagination]': citation.pages[0],
            '"{}"[Date - Publication]': citation.year,
            "{}[Author]": get_surname(citation.author_name or ""),  # a name in quotes would have to match with initials
        }
        plain = {clause: " ".join(re.sub(r'["\[\]()*]', " ", text or "").split()) for clause, text in texts.items()}
        term = " AND ".join(clause.format(text) for clause, text in plain.items() if text)
        pmids = search_title(services, citation) if citation.title else _search(services, term)
        if isinstance(pmids, list) and 0 < len(pmids) <= MAX_COMPARED:
            results[index] = MatcherAnswer("ambiguous", tuple(pmids))
