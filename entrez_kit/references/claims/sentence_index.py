"""An index of sentences, to find those that may contain a claim and those most similar to it."""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import pairwise
from math import log
from typing import Final

from entrez_kit.references.claims.passages import FoldedClaim, FoldedText, NearMatch, Passage, compare_claim

MAX_COMPARED: Final = 8
"""Maximum sentences of an article that are compared with a claim word by word."""


@dataclass(eq=False)
class TextPart:
    """A text to search: the abstract, or a section with the path of its headings.

    ``is_wrapped``: its lines are lines of a page, as in a PDF.
    """

    text: str
    section: str | None = None
    is_wrapped: bool = False

    @cached_property
    def folded(self) -> FoldedText:
        """The text without the numbers of references."""
        return FoldedText(self.text, with_markers=False, wrapped=self.is_wrapped)

    @cached_property
    def folded_with_markers(self) -> FoldedText:
        """The text with the numbers of references."""
        return FoldedText(self.text, wrapped=self.is_wrapped) if self.folded.has_markers else self.folded


@dataclass(frozen=True, slots=True)
class Sentences:
    """The range of the sentences of an article in the index; ``behind`` is exclusive."""

    first: int
    behind: int


class SentenceIndex:
    """The words of all sentences. The cost of a look-up is proportional to the sentences with its rarest word."""

    def __init__(self) -> None:
        self.all = Sentences(0, 0)
        self._parts: list[TextPart] = []
        self._begins: list[int] = []
        self._sentences: dict[str, array[int]] = {}

    def add(self, parts: Sequence[TextPart]) -> Sentences:
        """Add the texts of an article and return its sentences."""
        first = self.all.behind
        for part in parts:
            self._add_part(part)
        return Sentences(first, self.all.behind)

    def _add_part(self, part: TextPart) -> None:
        begin, text = self.all.behind, part.folded
        firsts = text.sentences
        words = [set(text.yield_words(*pair)) for pair in pairwise(firsts)]
        for number, compound in text.compounds:
            words[bisect_right(firsts, number) - 1].add(compound)
        for number, of_sentence in enumerate(words, start=begin):
            for word in of_sentence:
                self._sentences.setdefault(word, array("I")).append(number)
        self._parts.append(part)
        self._begins.append(begin)
        self.all = Sentences(0, begin + len(words))

    def yield_candidates(self, words: Sequence[str], spread: int, within: Sentences) -> Iterator[TextPart]:
        """Yield the parts that have all words in nearby sentences.

        Args:
            words: the words; if the list is empty, every part is a candidate.
            spread: the maximum distance of the words in sentences.
            within: the sentences to search.
        """
        seen = -1
        for sentence in self._find_near(words, spread, within) if words else range(within.first, within.behind):
            number = bisect_right(self._begins, sentence) - 1
            if number > seen:
                seen = number
                yield self._parts[number]

    def _find_near(self, words: Sequence[str], spread: int, within: Sentences) -> Iterator[int]:
        postings = [self._sentences.get(word, array("I")) for word in words]
        ranges = [self._find_range(posting, within) for posting in postings]
        rarest, *others = sorted(range(len(words)), key=lambda number: len(ranges[number]))
        for at in ranges[rarest]:
            sentence = postings[rarest][at]
            for number in others:
                near = bisect_left(postings[number], max(0, sentence - spread))
                if near == len(postings[number]) or postings[number][near] > sentence + spread:
                    break
            else:
                yield sentence

    @staticmethod
    def _find_range(posting: "array[int]", within: Sentences) -> range:
        return range(bisect_left(posting, within.first), bisect_left(posting, within.behind))

    def find_nearest(self, claim: FoldedClaim, within: Sentences) -> "Nearest | None":
        """Return the sentence most similar to a claim, and a passage that nearly equals the claim."""
        shared, weights = Counter[int](), Counter[int]()
        total = within.behind - within.first
        for word in dict.fromkeys(claim.folded.yield_words()):
            posting = self._sentences.get(word, array("I"))
            found = self._find_range(posting, within)
            weight = round(100 * log(1 + total / len(found))) if found else 0
            for at in found:
                shared[posting[at]] += 1
                weights[posting[at]] += weight
        if not shared:
            return None
        nearest = min(weights, key=lambda sentence: (-weights[sentence], sentence))
        best: tuple[TextPart, NearMatch] | None = None
        for sentence in nsmallest(MAX_COMPARED, shared, key=lambda number: (-shared[number], -weights[number], number)):
            part, local = self._locate(sentence)
            text, firsts = part.folded, part.folded.sentences
            for first, behind in ((local, local + 1), (local - 1, local + 1), (local, local + 2)):
                if first >= 0 and behind < len(firsts):
                    match = compare_claim(text, firsts[first], firsts[behind], claim.folded)
                    if match is not None and (best is None or match.likeness > best[1].likeness):
                        best = part, match
        part, local = self._locate(nearest)
        text, firsts = part.folded, part.folded.sentences
        begin, end = text.get_token(firsts[local]).start, text.get_token(firsts[local + 1] - 1).end
        return Nearest(part, text.find_sentence(Passage(begin, end)), weights[nearest], best)

    def _locate(self, sentence: int) -> tuple[TextPart, int]:
        """Return the part with a sentence of the index, and the number of the sentence in the part."""
        number = bisect_right(self._begins, sentence) - 1
        part = self._parts[number]
        return part, sentence - self._begins[number]


@dataclass(frozen=True, slots=True)
class Nearest:
    """The sentence of an article most similar to a claim; ``match`` is a passage that nearly equals the claim."""

    part: TextPart
    sentence: Passage
    weight: int
    match: tuple[TextPart, NearMatch] | None
