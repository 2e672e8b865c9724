"""Find claims in the articles that they cite, and return the status, the place and the sentence of each."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.frontend_text import join_names
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.base.progress import stop_if_cancelled
from entrez_kit.fulltext.models import Unavailable
from entrez_kit.pubmed.models import Standing
from entrez_kit.pubmed.standing import choose_graver
from entrez_kit.references.claims.context import find_denial
from entrez_kit.references.claims.models import Place, VerifiedClaim
from entrez_kit.references.claims.passages import FoldedClaim, FoldedText, Passage
from entrez_kit.references.claims.sentence_index import SentenceIndex, Sentences, TextPart

MAX_OMITTED: Final = 1_000
"""Maximum characters that an ellipsis can omit within one passage."""
_ELLIPSIS: Final = re.compile(r"[\[(]\s?(?:\.\s?\.\s?\.|…)\s?[\])]|\.\s?\.\s?\.(?:\s?\.)?|…")


@dataclass(slots=True)
class Paper:
    """A cited article: its texts, and the reasons for missing texts."""

    id: str
    pmid: str | None = None
    parts: list[TextPart] = field(default_factory=list)
    has_full_text: bool = False
    unavailable: Unavailable | None = None
    failure: EntrezKitError | None = None
    standing: Standing | None = None
    sentences: Sentences = field(default=Sentences(0, 0))

    def build_place(self, part: TextPart, passage: Passage) -> Place:
        sentence = part.folded.find_sentence(passage)
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
class _ClaimPlace:
    """A place with all words of the claim; ``denial`` has the words around it that deny or question it."""

    place: Place
    denial: str | None


class Quotation:
    """A claim as a whole, and split into pieces at each ellipsis."""

    def __init__(self, text: str) -> None:
        self.whole = FoldedClaim(text)
        self.is_question = "?" in text
        pieces = [FoldedClaim(piece) for piece in _ELLIPSIS.split(text)]
        self._pieces = [piece for piece in pieces if len(piece.folded)]
        self.words = sorted({word for piece in self._pieces for word in piece.certain_words})
        self.spread = len(self.whole.folded) + (MAX_OMITTED // 2 if len(self._pieces) > 1 else 0)

    def find_all(self, text: FoldedText) -> Iterator[list[Passage]]:
        """Yield the passages equal to the claim. With ellipses, yield those of its pieces, close together."""
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


class ClaimMatcher:
    """Searches claims in an index of all articles that the claims cite."""

    def __init__(self, papers: Sequence[Paper]) -> None:
        self._index = SentenceIndex()
        self._owners: dict[TextPart, Paper] = {}
        for paper in papers:
            paper.sentences = self._index.add(paper.parts)
            self._owners |= dict.fromkeys(paper.parts, paper)
            stop_if_cancelled()

    def verify(self, text: str, ids: Sequence[str], cited: Sequence[Paper]) -> VerifiedClaim:
        """Return the outcome of one claim."""
        outcome = VerifiedClaim(claim=text, ids=list(ids), status="not_in_text")
        claim = Quotation(text)
        if not any(read_identifier(one) for one in ids) or not any(map(str.isalpha, claim.whole.folded.yield_words())):
            outcome.status = "invalid"
            strange = [one for one in ids if read_identifier(one) is None]
            outcome.detail = f"{join_names(strange)}: no PMID, PMCID or DOI" if strange else "it cites no article"
            if ids and not strange:
                outcome.detail = "there are no words in it"
            return outcome
        for paper in cited:
            outcome.standing = choose_graver(outcome.standing, paper.standing)
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
                outcome.detail = "only the abstract is available, without the claim" if had else "no text is available"
        return outcome

    def _find(self, claim: Quotation, within: Sentences, *, but: Sequence[Paper] = ()) -> _ClaimPlace | None:
        """Return a place with all words of a claim, preferably one that does not deny the claim.

        The claim may omit the numbers of references in the text.
        """
        denied: _ClaimPlace | None = None
        for part in self._index.yield_candidates(claim.words, claim.spread, within):
            paper = self._owners[part]
            for text in dict.fromkeys((part.folded_with_markers, part.folded)) if paper not in but else ():
                for spans in claim.find_all(text):
                    denial = find_denial(text, spans, is_question=claim.is_question)
                    found = _ClaimPlace(paper.build_place(part, Passage(spans[0].start, spans[-1].end)), denial)
                    if denial is None:
                        return found
                    denied = denied or found
        return denied

    def _take_nearest(self, outcome: VerifiedClaim, claim: Quotation, cited: Sequence[Paper]) -> None:
        """Set the place of a claim that no cited article contains: in another article, or of a similar passage."""
        elsewhere = self._find(claim, self._index.all, but=cited)
        if elsewhere is not None and elsewhere.denial is None:
            outcome.place, outcome.status = elsewhere.place, "elsewhere"
            outcome.detail = f"it is in {elsewhere.place.id}, which is not cited for it"
            return
        near = [(paper, found) for paper in cited if (found := self._index.find_nearest(claim.whole, paper.sentences))]
        matches = [(paper, *found.match) for paper, found in near if found.match is not None]
        if matches:
            paper, part, match = max(matches, key=lambda one: one[2].likeness)
            outcome.place, outcome.status = paper.build_place(part, match.passage), "altered"
            outcome.differences = match.differences
        elif near:
            paper, best = max(near, key=lambda one: one[1].weight)
            outcome.nearest = paper.build_place(best.part, best.sentence)
