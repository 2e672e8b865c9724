"""Invented abstracts by the million, generated individually, with the statistics of real ones.

Word frequencies follow a Zipf-Mandelbrot law whose share of records per rank was compared with MEDLARS records (rank
200: 6 %, 500: 3 %, 1000: 1.5 %, 2000: 0.7 %), over a head of real English words. Every record has a topic, whose words
it repeats, and some other words, so that frequencies within a record cluster as they do in texts.
"""

import math
import random
from collections.abc import Iterator
from typing import Final, NamedTuple

FUNCTION_WORDS: Final = tuple(
    """
    the of and in to a with was for were that by is on as at from or this an are be we not have has been which these but
    their than it after between also can both who may no during had its all using our
    """.split()  # noqa: SIM905
)
GENERAL_WORDS: Final = tuple(
    """
    patients study results treatment cells group clinical significantly compared associated analysis effect data levels
    increased disease risk cell high effects different expression showed years higher found time activity methods three
    significant control factors protein observed lower cancer groups age studies however two response human based model
    gene including mean mice case therapy blood rate total health changes role
    """.split()  # noqa: SIM905
)
_CONSONANTS: Final = "b c d f g h l m n p r s t v br cl cr dr fl gl gr pl pr st tr th ph ch".split()  # noqa: SIM905
_SYLLABLES: Final = [start + vowel for start in _CONSONANTS for vowel in "aeiou"]
_ENDS: Final = ("n", "r", "l", "s", "x", "m", "in", "on", "al", "ic", "ine", "ase", "oma")
_INFLECTIONS: Final = ("s", "s", "ed", "ing", "ation", "al", "ic")
_HEAD: Final = 1 << 14
_BODY: Final = 1 << 19
FIRST_PMID: Final = 1_000_000
STEP: Final = 3
SIZES: Final = (2, 3, 7, 9, 11, 13, 16)
"""Words of the questions, in turn."""


class Abstract(NamedTuple):
    """An invented record."""

    pmid: int
    title: str
    abstract: str
    terms: str


class Question(NamedTuple):
    """A query, and the record that its words come from."""

    pmid: int
    text: str


class Abstracts:
    """Records and questions; the same for the same seed, in any order of requests."""

    def __init__(self, seed: int = 7, vocabulary: int = 60_000, topics: int = 400) -> None:
        chooser = random.Random(seed)
        self._seed = seed
        self.words = _list_words(vocabulary, chooser)
        self._function = chooser.choices(
            FUNCTION_WORDS, [1 / (rank + 1.5) for rank in range(len(FUNCTION_WORDS))], k=_HEAD
        )
        self._general = chooser.choices(GENERAL_WORDS, [1 / (rank + 8) for rank in range(len(GENERAL_WORDS))], k=_HEAD)
        self._body = chooser.choices(range(vocabulary), [1 / (rank + 25) ** 1.2 for rank in range(vocabulary)], k=_BODY)
        self._topics = [
            [int(vocabulary ** chooser.uniform(0.25, 1.0)) - 1 for _ in range(chooser.randrange(60, 200))]
            for _ in range(topics)
        ]
        self._topic_weights = [[1 / (rank + 4) for rank in range(len(topic))] for topic in self._topics]

    def rows(self, count: int, start: int = 0) -> Iterator[Abstract]:
        """Yield this number of records."""
        return map(self.row, range(start, start + count))

    def row(self, number: int) -> Abstract:
        """Return one record."""
        chooser = random.Random(self._seed * 1_000_003 + number)
        chance = chooser.random
        topic = int(len(self._topics) ** chance()) - 1
        theme = chooser.choices(self._topics[topic], self._topic_weights[topic], k=chooser.randrange(5, 12))
        theme += [self._body[int(chance() * _BODY)] for _ in range(chooser.randrange(3, 8))]
        theme = list(dict.fromkeys(theme))
        length = max(40, int(chooser.lognormvariate(math.log(210), 0.4)))
        repeated = chooser.choices(theme, [1 / (rank + 4) for rank in range(len(theme))], k=length)
        words: list[str] = []
        for place in range(length):
            lot = chance()
            if lot < 0.38:
                words.append(self._function[int(chance() * _HEAD)])
            elif lot < 0.50:
                words.append(self._general[int(chance() * _HEAD)])
            elif lot < 0.86:
                words.append(self._inflect(self._body[int(chance() * _BODY)], chance()))
            elif lot < 0.97:
                words.append(self._inflect(repeated[place], chance()))
            elif lot < 0.995:
                words.append(str(int(10 ** (chance() * 3))))
            else:
                words.append(f"{chooser.choice(_SYLLABLES)}{int(chance() * 100_000)}")
        for place in range(chooser.randrange(12, 20), length, chooser.randrange(16, 26)):
            words[place] += "."
        title: list[str] = []
        for word in theme[: chooser.randrange(3, 7)]:
            title.append(self._inflect(word, chance()))
            if chance() < 0.7:
                title.append(self._function[int(chance() * _HEAD)])
            if chance() < 0.4:
                title.append(self._general[int(chance() * _HEAD)])
        return Abstract(
            FIRST_PMID + STEP * number,
            " ".join(title).capitalize() + ".",
            " ".join(words).capitalize(),
            "; ".join(self.words[word] for word in theme[:6]),
        )

    def question(self, number: int, records: int) -> Question:
        """Return a query of 2 or 3 words, or a question of up to 16, with words of one record."""
        chooser = random.Random(f"{self._seed}:question:{number}")
        size = SIZES[number % len(SIZES)]
        record = self.row(chooser.randrange(records))
        common = {*FUNCTION_WORDS, *GENERAL_WORDS}
        title, content = (
            [word for word in text.lower().replace(".", "").split() if word not in common and not word.isdigit()]
            for text in (record.title, record.abstract)
        )
        words: list[str] = []
        wanted = size if size < 4 else max(2, round(size * 0.45))
        while len(words) < wanted:
            word = chooser.choice(title if chooser.random() < 0.4 else content)
            if word not in words:
                words.append(word)
        if size < 4:
            return Question(record.pmid, " ".join(words))
        general = max(1, round(size * 0.2))
        words += [chooser.choice(self._general) for _ in range(general)]
        words += [chooser.choice(self._function) for _ in range(size - 1 - wanted - general)]
        chooser.shuffle(words)
        return Question(record.pmid, f"What {' '.join(words)}?")

    def _inflect(self, word: int, chance: float) -> str:
        written = self.words[word]
        return written if chance < 0.7 else written + _INFLECTIONS[word % len(_INFLECTIONS)]


def _list_words(count: int, chooser: random.Random) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < count:
        syllables = chooser.choices(_SYLLABLES, k=chooser.choice((1, 2, 2, 2, 3, 3, 4)))
        words["".join(syllables) + chooser.choice(_ENDS)] = None
    return list(words)
