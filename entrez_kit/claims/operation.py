"""Does the cited paper say it? Each claim against the abstract and the full text of the articles it cites."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from entrez_kit import tracing
from entrez_kit.claims.context import find_denial
from entrez_kit.claims.index import Part, SentenceIndex, Sentences
from entrez_kit.claims.models import (
    MAX_MCP_CLAIMS,
    STATUSES,
    Place,
    VerifiedClaim,
    VerifyRequest,
    VerifyResult,
)
from entrez_kit.claims.passages import FoldedClaim, FoldedText, Passage
from entrez_kit.errors import EntrezKitError, RateLimited, UpstreamError
from entrez_kit.fulltext.models import FulltextArticle, PmcArticle, Section, Unavailable
from entrez_kit.fulltext.operation import FulltextRequest, Fulltexts
from entrez_kit.identifiers import read_identifier
from entrez_kit.operation import Accounted, Operation, walked
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.pubmed.standing import Standing, graver
from entrez_kit.services import Services
from entrez_kit.wording import KEPT, listed

MAX_OMITTED = 1_000
"""Characters that an ellipsis may leave out; more are not one passage."""
_ELLIPSIS = re.compile(r"[\[(]\s?(?:\.\s?\.\s?\.|…)\s?[\])]|\.\s?\.\s?\.(?:\s?\.)?|…")


@dataclass(slots=True)
class _Paper:
    """What is known of one cited article: its texts, and why others are missing."""

    id: str
    pmid: str | None = None
    parts: list[Part] = field(default_factory=list)
    has_full_text: bool = False
    unavailable: Unavailable | None = None
    failure: EntrezKitError | None = None
    standing: Standing | None = None
    sentences: Sentences = field(default=Sentences(0, 0))

    def place(self, part: Part, passage: Passage) -> Place:
        sentence = part.folded.sentence_of(passage)
        return Place(
            id=self.id,
            pmid=self.pmid,
            source="abstract" if part.section is None else "full_text",
            section=part.section,
            paragraph=part.text.count("\n\n", 0, passage.start) + 1,
            start=passage.start,
            end=passage.end,
            passage=part.text[passage.start : passage.end],
            sentence=" ".join(part.text[sentence.start : sentence.end].split()),
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """A place that has the claim word by word; ``denial`` has the words around it that deny or question it."""

    place: Place
    denial: str | None


class _Quotation:
    """A claim, whole and in the pieces that an ellipsis divides it into."""

    def __init__(self, text: str) -> None:
        self.whole = FoldedClaim(text)
        self.is_question = "?" in text
        pieces = [FoldedClaim(piece) for piece in _ELLIPSIS.split(text)]
        self._pieces = [piece for piece in pieces if len(piece.folded)]
        self.words = sorted({word for piece in self._pieces for word in piece.certain_words})
        self.spread = len(self.whole.folded) + (MAX_OMITTED // 2 if len(self._pieces) > 1 else 0)

    def find_all(self, text: FoldedText) -> Iterator[list[Passage]]:
        """Yield the passages that are the claim; if it has ellipses, the passages of its pieces, near and in order."""
        for passage in self.whole.find_all(text):
            yield [passage]
        if len(self._pieces) < 2:
            return
        first, *others = self._pieces
        for begin in first.find_all(text):
            spans = [begin]
            for piece in others:
                end = spans[-1].end
                after = next((one for one in piece.find_all(text, end)), None)
                if after is None or after.start - end > MAX_OMITTED or "\n\n" in text.text[end : after.start]:
                    break
                spans.append(after)
            else:
                yield spans


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
        shelf = _Shelf(list(papers.values()))
        for claim in claims:
            cited = [papers[_key(one)] for one in claim.ids]
            outcome = shelf.verify(claim.text, claim.ids, cited)
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
                paper.parts.append(Part(article.abstract_text))
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
        paper.parts += [Part(text) for text in (article.abstract,) if text and text not in known]
        paper.parts += [Part(other.text) for other in article.other_abstracts]
        paper.parts += _sections(article.sections, ())
    else:
        wrapped = article.content_format == "pdf-text"
        paper.parts.append(Part(article.content, article.content_format, is_wrapped=wrapped))


def _sections(sections: Sequence[Section], above: tuple[str, ...]) -> Iterator[Part]:
    for section in sections:
        path = (*above, section.heading) if section.heading else above
        if section.text:
            yield Part(section.text, " > ".join(path))
        yield from _sections(section.subsections, path)


class _Shelf:
    """All articles that the claims cite, in one index."""

    def __init__(self, papers: Sequence[_Paper]) -> None:
        self._index = SentenceIndex()
        self._owners: dict[int, _Paper] = {}
        for paper in papers:
            paper.sentences = self._index.add(paper.parts)
            self._owners |= {id(part): paper for part in paper.parts}
            tracing.checkpoint()

    def verify(self, text: str, ids: Sequence[str], cited: Sequence[_Paper]) -> VerifiedClaim:
        """Return the outcome of one claim: it is in what it cites, or nearly so, or in another article."""
        outcome = VerifiedClaim(claim=text, ids=list(ids), status="not_in_text")
        claim = _Quotation(text)
        if not any(read_identifier(one) for one in ids) or not any(map(str.isalpha, claim.whole.folded.words())):
            outcome.status = "invalid"
            strange = [one for one in ids if read_identifier(one) is None]
            outcome.detail = f"{listed(strange)}: no PMID, PMCID or DOI" if strange else "it cites no article"
            if ids and not strange:
                outcome.detail = "there are no words in it"
            return outcome
        for paper in cited:
            outcome.standing = graver(outcome.standing, paper.standing)
        found = [place for paper in cited if (place := self._find(claim, paper.sentences))]
        if found:
            best = min(found, key=lambda one: one.denial is not None)
            outcome.place = best.place
            outcome.status = "found" if best.denial is None else "out_of_context"
            if best.denial is not None:
                outcome.detail = f"the sentence denies or questions it: {best.denial!r}"
            return outcome
        self._take_nearest(outcome, claim, cited)
        # If a text is missing, the claim may be in it.
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

    def _find(self, claim: _Quotation, within: Sentences, *, but: Sequence[_Paper] = ()) -> _Found | None:
        """Return the place of a claim, word by word; one in its context is preferred.

        Numbers of references in the text may be missing from the claim.
        """
        denied: _Found | None = None
        for part in self._index.candidates(claim.words, claim.spread, within):
            paper = self._owners[id(part)]
            for text in dict.fromkeys((part.folded_with_markers, part.folded)) if paper not in but else ():
                for spans in claim.find_all(text):
                    denial = find_denial(text, spans, is_question=claim.is_question)
                    found = _Found(paper.place(part, Passage(spans[0].start, spans[-1].end)), denial)
                    if denial is None:
                        return found
                    denied = denied or found
        return denied

    def _take_nearest(self, outcome: VerifiedClaim, claim: _Quotation, cited: Sequence[_Paper]) -> None:
        """Set the place of a claim that no cited article has: in another article, or of a similar passage."""
        elsewhere = self._find(claim, self._index.all, but=cited)
        if elsewhere is not None and elsewhere.denial is None:
            outcome.place, outcome.status = elsewhere.place, "elsewhere"
            outcome.detail = f"it is in {elsewhere.place.id}, which is not cited for it"
            return
        near = [(paper, found) for paper in cited if (found := self._index.nearest(claim.whole, paper.sentences))]
        matches = [(paper, *found.match) for paper, found in near if found.match is not None]
        if matches:
            paper, part, match = max(matches, key=lambda one: one[2].likeness)
            outcome.place, outcome.status = paper.place(part, match.passage), "altered"
            outcome.differences = match.differences
        elif near:
            paper, best = max(near, key=lambda one: one[1].weight)
            outcome.nearest = paper.place(best.part, best.sentence)


def verify_claims(services: Services, request: VerifyRequest) -> Verification:
    """Look claims up in what they cite: is the sentence there, word by word, with these numbers, units, negations?

    Use it before a quotation or a figure is believed. Each is found (with section, paragraph and offsets), altered
    (what differs), out_of_context (the sentence denies or questions it), elsewhere (another of the articles says it),
    not_in_text, no_text_available, unchecked or invalid, with the whole sentence.
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
