"""Does the cited paper say it? Each claim against the abstract and the full text of the articles it cites."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from entrez_kit import tracing
from entrez_kit.claims.models import (
    MAX_MCP_CLAIMS,
    STATUSES,
    Place,
    VerifiedClaim,
    VerifyRequest,
    VerifyResult,
)
from entrez_kit.claims.passages import Folded, Passage, Twin, nearest
from entrez_kit.errors import EntrezKitError, RateLimited, UpstreamError
from entrez_kit.fulltext.models import FulltextArticle, PmcArticle, Section, Unavailable
from entrez_kit.fulltext.operation import FulltextRequest, Fulltexts
from entrez_kit.identifiers import read_identifier
from entrez_kit.operation import Accounted, Operation, walked
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.pubmed.standing import Standing, graver
from entrez_kit.services import Services
from entrez_kit.wording import KEPT, listed


@dataclass(frozen=True, slots=True)
class _Part:
    """A text in which a claim may stand: the abstract, or a section under its headings."""

    text: str
    section: str | None = None


@dataclass(slots=True)
class _Paper:
    """What is known of one cited article: its texts, and why others are missing."""

    id: str
    pmid: str | None = None
    parts: list[_Part] = field(default_factory=list)
    has_full_text: bool = False
    unavailable: Unavailable | None = None
    failure: EntrezKitError | None = None
    standing: Standing | None = None

    def find(self, claim: Folded) -> Place | None:
        """Return where the claim stands, word by word; numbers of references in the text may be left out of it."""
        for part in self.parts:
            if not _may_hold(part.text, claim.text):
                continue
            for with_markers in (True, False):
                passage = _folded(part.text, with_markers).find(claim)
                if passage is not None:
                    return self._place(part, passage)
        return None

    def nearest(self, claim: Folded) -> tuple[Place, Twin] | None:
        """Return the passage that says nearly what the claim says."""
        found = [(twin, part) for part in self.parts if (twin := nearest(_folded(part.text, False), claim))]
        if not found:
            return None
        twin, part = max(found, key=lambda pair: pair[0].likeness)
        return self._place(part, twin.passage), twin

    def _place(self, part: _Part, passage: Passage) -> Place:
        return Place(
            id=self.id,
            pmid=self.pmid,
            source="abstract" if part.section is None else "full_text",
            section=part.section,
            paragraph=part.text.count("\n\n", 0, passage.start) + 1,
            start=passage.start,
            end=passage.end,
            passage=part.text[passage.start : passage.end],
        )


@lru_cache(maxsize=64)
def _folded(text: str, with_markers: bool) -> Folded:
    return Folded(text, with_markers=with_markers)


@lru_cache(maxsize=4096)
def _gist(text: str) -> str:
    """Return the plain letters of a text in a row: what does not hold those of a claim need not be folded."""
    return "".join(one for one in text.casefold() if "a" <= one <= "z")


def _may_hold(text: str, claim: str) -> bool:
    # Letters outside a to z are written in several ways, and so is what stands beside them in a ligature.
    if not text.isascii():
        return True
    gist = _gist(text)
    return all(word in gist for word in claim.casefold().split() if word.isascii() and word.isalpha())


class Verification(Accounted[VerifiedClaim, VerifyResult]):
    """What becomes of each claim; ``result`` tells the whole after the walk. All texts are fetched first."""

    def __init__(self, services: Services, request: VerifyRequest) -> None:
        super().__init__()
        self._services = services
        self._request = request
        self._verified: list[VerifiedClaim] = []

    def __iter__(self) -> Iterator[VerifiedClaim]:
        claims = self._request.claims
        papers = _papers(self._services, list(dict.fromkeys(_key(one) for claim in claims for one in claim.ids)), self)
        failed = [paper.failure for paper in papers.values() if paper.failure is not None and not paper.parts]
        if failed and len(failed) == len(papers):
            raise failed[0]
        for claim in claims:
            cited = [papers[_key(one)] for one in claim.ids]
            outcome = _verified(claim.text, claim.ids, cited, [*papers.values()])
            outcome.line = claim.line
            self._verified.append(outcome)
            tracing.checkpoint()
            yield outcome

    def result(self) -> VerifyResult:
        counts = Counter(outcome.status for outcome in self._verified)
        return VerifyResult(
            claims=self._verified,
            total=len(self._verified),
            counts={status: counts[status] for status in STATUSES},
            warnings=self.warnings,
        )


def _key(text: str) -> str:
    identifier = read_identifier(text)
    return identifier.value.lower() if identifier is not None else text


def _papers(services: Services, keys: Sequence[str], outcomes: Verification) -> dict[str, _Paper]:
    """Fetch what the articles say: records for abstracts and how they stand, then full texts."""
    papers = {key: _Paper(key) for key in keys}
    wanted = [key for key in keys if read_identifier(key) is not None]
    if not wanted:
        return papers
    for item in Retrieval.of_ids(services, wanted):
        paper = papers[item.input]
        paper.pmid = item.pmid
        paper.failure = item.error
        if item.record is not None:
            article = item.record.article()
            paper.standing = article.standing
            if article.abstract_text:
                paper.parts.append(_Part(article.abstract_text))
    texts = Fulltexts(services, FulltextRequest(ids=wanted))
    for key, text in zip(wanted, texts, strict=True):
        paper = papers[key]
        if text.article is not None:
            _take_text(paper, text.article)
        elif text.unavailable is not None:
            paper.unavailable = text.unavailable
            if text.unavailable.retryable and paper.failure is None:
                paper.failure = UpstreamError(f"Not every source of full text answered for {key}.", recovery_hint=KEPT)
    outcomes.warnings += [warning for warning in texts.warnings if warning.code != "invalid_identifier"]
    return papers


def _take_text(paper: _Paper, article: FulltextArticle) -> None:
    paper.has_full_text = True
    paper.pmid = paper.pmid or article.pmid
    paper.standing = graver(paper.standing, article.standing)
    if isinstance(article, PmcArticle):
        known = {part.text for part in paper.parts}
        paper.parts += [_Part(text) for text in (article.abstract,) if text and text not in known]
        paper.parts += [_Part(other.text) for other in article.other_abstracts]
        paper.parts += _sections(article.sections, ())
    else:
        paper.parts.append(_Part(article.content, article.content_format))


def _sections(sections: Sequence[Section], above: tuple[str, ...]) -> Iterator[_Part]:
    for section in sections:
        path = (*above, section.heading) if section.heading else above
        if section.text:
            yield _Part(section.text, " > ".join(path))
        yield from _sections(section.subsections, path)


def _verified(text: str, ids: Sequence[str], cited: Sequence[_Paper], papers: Sequence[_Paper]) -> VerifiedClaim:
    """Return what becomes of one claim: found in what it cites, else nearly so, else in what others cite."""
    outcome = VerifiedClaim(claim=text, ids=list(ids), status="not_in_text")
    claim = Folded(text)
    if not any(read_identifier(one) for one in ids) or not any(token.text.isalpha() for token in claim.tokens):
        outcome.status = "invalid"
        strange = [one for one in ids if read_identifier(one) is None]
        outcome.detail = f"{listed(strange)}: no PMID, PMCID or DOI" if strange else "it cites no article"
        if ids and not strange:
            outcome.detail = "there are no words in it"
        return outcome
    for paper in cited:
        outcome.standing = graver(outcome.standing, paper.standing)
    for paper in cited:
        if place := paper.find(claim):
            outcome.status, outcome.place = "found", place
            return outcome
    twins = [pair for paper in cited if (pair := paper.nearest(claim))]
    others = (place for paper in papers if paper not in cited and (place := paper.find(claim)))
    if (elsewhere := next(others, None)) is not None:
        outcome.place = elsewhere
        outcome.status = "elsewhere"
        outcome.detail = f"it stands in {elsewhere.id}, which is not cited for it"
    elif twins:
        outcome.place, twin = max(twins, key=lambda pair: pair[1].likeness)
        outcome.status = "altered"
        outcome.differences = twin.differences
    # Where a text is missing, nobody can say that the claim is not in it.
    missing = [paper for paper in cited if not paper.has_full_text]
    outcome.unavailable = [paper.unavailable for paper in missing if paper.unavailable is not None]
    if outcome.status != "altered":
        failures = [paper.failure for paper in missing if paper.failure is not None]
        if failures:
            outcome.status, outcome.detail = "unchecked", failures[0].message
        elif missing:
            outcome.status = "no_text_available"
            had = any(paper.parts for paper in missing)
            outcome.detail = "only the abstract could be read, and it is not there" if had else "there is no text"
    return outcome


def verify_claims(services: Services, request: VerifyRequest) -> Verification:
    """Look claims up in what they cite: is the sentence there, word by word, with these numbers, units, negations?

    Use it before a quotation or a figure is believed. Each is found (with section, paragraph and offsets), altered
    (what differs), elsewhere (another of the articles says it), not_in_text, no_text_available, unchecked or invalid.
    No model and no guess: a paraphrase is not found. Example: claims [{"text": "moved at 5 mm", "ids": ["99000001"]}].

    Args:
        services: the clients.
        request: the claims with the ids they cite.

    Raises:
        UpstreamError: no text could be asked for, because nobody answered.
        RateLimited: NCBI refused, or the wait for a slot would pass the deadline.

    Source: EFetch (db=pubmed), and the sources of full text: PMC, Europe PMC, Unpaywall.
    """
    return Verification(services, request)


VERIFY_CLAIMS = Operation(
    name="pubmed_verify_claims",
    outcomes=verify_claims,
    collect=walked,
    result=VerifyResult,
    command=("verify",),
    toolset="citations",
    title="Verify claims",
    errors=(UpstreamError, RateLimited),
    mcp_caps={"claims": MAX_MCP_CLAIMS},
    portions=("claims",),
)
