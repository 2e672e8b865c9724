"""Score records for a query: BM25 over weighted fields, then once more with words of the best ones added.

The score is the simple BM25F of S. Robertson, H. Zaragoza and M. Taylor, "Simple BM25 extension to multiple weighted
fields", CIKM 2004: frequencies are weighted by field and summed, and only then saturated. Inverse document frequency is
ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative (as in Lucene). The feedback is RM3: V. Lavrenko and W. B.
Croft, "Relevance-based language models", SIGIR 2001, mixed with the query as in N. Abdul-Jaleel et al., "UMass at TREC
2004", except that it re-orders the records at hand and does not search again.
"""

import heapq
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from entrez_kit.corpus.queries import Group, Phrase
from entrez_kit.corpus.terms import STOP_WORDS, stem


@dataclass(frozen=True, slots=True)
class Profile:
    """What the scores depend on. The defaults were found on the Cystic Fibrosis collection."""

    k1: float = 1.6
    b: float = 0.75
    title: float = 2.0
    terms: float = 1.0
    feedback_records: int = 10
    feedback_words: int = 20
    feedback_weight: float = 0.5
    feedback_power: float = 4.0
    """How fast a record's say falls with its score: where one record stands out, it nearly decides alone."""
    feedback_depth: int = 100
    """So many of the best are ordered anew."""


DEFAULT: Final = Profile()
FIELDS: Final = 3
"""Title, abstract, terms: the order in which a record's text is kept."""


class Statistics(NamedTuple):
    """What is known of the whole index."""

    records: int
    mean_length: float

    def idf(self, frequency: float) -> float:
        """Return the inverse document frequency of a word that so many records have."""
        return math.log1p(max(0.0, self.records - frequency + 0.5) / (frequency + 0.5))


class Wanted(NamedTuple):
    """A group and what one occurrence of it is worth."""

    stems: tuple[Phrase, ...]
    worth: float


class Record(NamedTuple):
    """A record's words, by field; ``length`` is that of title and abstract."""

    pmid: int
    length: int
    fields: tuple[list[str], ...]


class Stems(dict[str, str | None]):
    """Words and their stems, None for words whose stem nobody asked for; so most words are never stemmed."""

    def __init__(self, asked: Iterable[str]) -> None:
        super().__init__()
        self._asked = frozenset(asked)
        # A stem keeps all but the last two letters of its word, at least.
        self._starts = frozenset(stem[:1] if len(stem) < 4 else stem[: min(4, len(stem) - 2)] for stem in self._asked)

    def __missing__(self, word: str) -> str | None:
        starts = self._starts
        found = None
        if word[:1] in starts or word[:2] in starts or word[:3] in starts or word[:4] in starts:
            stemmed = stem(word)
            found = stemmed if stemmed in self._asked else None
        self[word] = found
        return found


def pack(fields: Sequence[str]) -> bytes:
    """Return the normalised fields of a record as they are kept."""
    return zlib.compress("\n".join(fields).encode("utf-8"), 1)


def unpack(packed: bytes) -> list[str]:
    """Return the fields that were packed."""
    return zlib.decompress(packed).decode("utf-8").split("\n")


def length_of(fields: Sequence[str]) -> int:
    """Return how many words a record has in its title and abstract, and one or two more."""
    return fields[0].count(" ") + fields[1].count(" ") + 2


def read(pmid: int, packed: bytes) -> Record:
    """Return a kept record, cut into words."""
    fields = unpack(packed)
    return Record(pmid, length_of(fields), tuple(field.split() for field in fields))


def score(
    records: Iterable[Record], wanted: Sequence[Wanted], statistics: Statistics, profile: Profile
) -> dict[int, float]:
    """Return the BM25F score of each record, by PMID."""
    stems = Stems(word for group in wanted for phrase in group.stems for word in phrase)
    single = [
        (group.stems[0][0], group.worth) for group in wanted if len(group.stems) == 1 and len(group.stems[0]) == 1
    ]
    multiple = [group for group in wanted if len(group.stems) > 1 or len(group.stems[0]) > 1]
    weights = (profile.title, 1.0, profile.terms)
    scores: dict[int, float] = {}
    for record in records:
        found = [list(map(stems.__getitem__, words)) for words in record.fields]
        counts = [Counter(filter(None, words)) for words in found]
        norm = profile.k1 * (1 - profile.b + profile.b * record.length / statistics.mean_length)
        total = 0.0
        for word, worth in single:
            frequency = weights[0] * counts[0][word] + counts[1][word] + weights[2] * counts[2][word]
            if frequency:
                total += worth * frequency / (frequency + norm)
        for group in multiple:
            frequency = sum(
                weight * _occurrences(words, count, phrase)
                for weight, words, count in zip(weights, found, counts, strict=True)
                for phrase in group.stems
            )
            if frequency:
                total += group.worth * frequency / (frequency + norm)
        scores[record.pmid] = total
    return scores


def _occurrences(words: Sequence[str | None], counts: Mapping[str | None, int], phrase: Phrase) -> int:
    if len(phrase) == 1:
        return counts.get(phrase[0], 0)
    if any(word not in counts for word in phrase):
        return 0
    return sum(
        words[place] == phrase[0] and tuple(words[place : place + len(phrase)]) == phrase
        for place in range(len(words) - len(phrase) + 1)
    )


def want(
    groups: Sequence[Group], frequencies: Sequence[float], statistics: Statistics, profile: Profile
) -> list[Wanted]:
    """Return what each group is worth, the rarer the more."""
    return [
        Wanted(group.stems, group.weight * statistics.idf(frequency) * (profile.k1 + 1))
        for group, frequency in zip(groups, frequencies, strict=True)
    ]


def best(scores: Mapping[int, float], limit: int) -> list[int]:
    """Return the PMIDs with the highest scores, best first; equal ones by PMID."""
    return heapq.nsmallest(limit, scores, key=lambda pmid: (-scores[pmid], pmid))


def feedback(records: Mapping[int, Record], scores: Mapping[int, float], profile: Profile) -> dict[str, float]:
    """Return the stems that mark the best records, the foremost one at ``feedback_weight``."""
    leading = best(scores, profile.feedback_records)
    if not leading or scores[leading[0]] <= 0:
        return {}
    mass: Counter[str] = Counter()
    for pmid in leading:
        say = (scores[pmid] / scores[leading[0]]) ** profile.feedback_power
        words: Counter[str] = Counter()
        for weight, field in zip((profile.title, 1.0, profile.terms), records[pmid].fields, strict=True):
            for word, count in Counter(field).items():
                if len(word) > 1 and word not in STOP_WORDS and not word.isdigit():
                    words[stem(word)] += weight * count  # type: ignore[assignment]
        total = sum(words.values())
        for word, count in words.items():
            mass[word] += say * count / total  # type: ignore[assignment]
    foremost = heapq.nsmallest(profile.feedback_words, mass, key=lambda word: (-mass[word], word))
    return {word: profile.feedback_weight * mass[word] / mass[foremost[0]] for word in foremost}


Frequency = Callable[[str], float]


def rerank(
    records: Mapping[int, Record],
    wanted: Sequence[Wanted],
    scores: dict[int, float],
    statistics: Statistics,
    profile: Profile,
    frequency: Frequency,
) -> dict[int, float]:
    """Score the best records once more, with the words they share added to the query."""
    added = feedback(records, scores, profile)
    if not added:
        return scores
    more = [
        Wanted(((word,),), weight * statistics.idf(frequency(word)) * (profile.k1 + 1))
        for word, weight in added.items()
    ]
    top = best(scores, profile.feedback_depth)
    extra = score((records[pmid] for pmid in top), more, statistics, profile)
    return {pmid: scores[pmid] + extra[pmid] for pmid in top}
