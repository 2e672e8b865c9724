"""Articles of invented words, as long as real ones, and claims about them of every status."""

import random
from collections.abc import Iterator
from functools import cache

from invented_abstracts import Abstracts

from entrez_kit.references.claims.match_claims import Paper
from entrez_kit.references.claims.sentence_index import TextPart

SECTIONS = 8
ROWS = 3
"""Invented abstracts in a section; an article has some 33,000 characters."""
DENIAL = "There is no evidence that "
KINDS = ("found", "altered", "out_of_context", "elsewhere", "not_in_text")


class ClaimArticles:
    """A number of articles, and claims that cite them."""

    def __init__(self, count: int, sections: int = SECTIONS) -> None:
        self._chooser = random.Random(11)
        made = _build_abstracts()
        self.texts = [
            [
                _split_sentences(
                    f"{made.row((number * sections + section) * ROWS + row).abstract}." for row in range(ROWS)
                )
                for section in range(sections)
            ]
            for number in range(count)
        ]
        for number, article in enumerate(self.texts, start=count * sections * ROWS):
            words = made.row(number).abstract.replace(".", "").split()[:20]
            article[0].append(f"{DENIAL}{' '.join(words).lower()}.")

    @property
    def characters(self) -> int:
        """The length of all texts."""
        return sum(len(" ".join(section)) for article in self.texts for section in article)

    def papers(self) -> list[Paper]:
        """Return the articles in the form that they have after a fetch."""
        return [
            Paper(
                str(number + 1),
                parts=[TextPart(" ".join(section), f"Section {place}") for place, section in enumerate(article)],
                has_full_text=True,
            )
            for number, article in enumerate(self.texts)
        ]

    def claims(self, count: int) -> Iterator[tuple[str, int, str]]:
        """Yield claims: the text, the place of the article that it cites, and its status."""
        articles = len(self.texts)
        for number in range(count):
            cited, kind = number % articles, KINDS[number % len(KINDS)]
            source = self.texts[cited if kind != "elsewhere" else (cited + articles // 2) % articles]
            sentence = source[0][-1].removeprefix(DENIAL) if kind == "out_of_context" else self._choose(source)
            words = sentence.rstrip(".").split()
            if kind == "altered":
                words[len(words) // 2] = "zorblax"
            elif kind == "not_in_text":
                self._chooser.shuffle(words)
            yield " ".join(words), cited, kind

    def _choose(self, article: list[list[str]]) -> str:
        while True:
            sentence = self._chooser.choice(self._chooser.choice(article))
            if len(sentence.split()) > 11 and not sentence.startswith(DENIAL):
                return sentence


@cache
def _build_abstracts() -> Abstracts:
    return Abstracts(vocabulary=20_000, topics=100)


def _split_sentences(texts: Iterator[str]) -> list[str]:
    parts = (part.strip() for text in texts for part in text.split(". "))
    plain = (part.removesuffix(".").removesuffix(" no") for part in parts)  # "no." is an abbreviation
    return [f"{part[0].upper()}{part[1:]}." for part in plain if part]
