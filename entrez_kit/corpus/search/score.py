"""Score records for a query: BM25 over weighted fields, then once more with words of the best ones added.

The score is the simple BM25F of S. Robertson, H. Zaragoza and M. Taylor, "Simple BM25 extension to multiple weighted
fields", CIKM 2004: frequencies are weighted by field and summed, and only then saturated. Inverse document frequency is
ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative (as in Lucene). The feedback is RM3: V. Lavrenko and W. B.
Croft, "Relevance-based language models", SIGIR 2001, mixed with the query as in N. Abdul-Jaleel et al., "UMass at TREC
2004", except that it adds new words only, and that it re-orders the records at hand and does not search again.
"""

import heapq
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from entrez_kit.corpus.search.query import Group, Phrase
from entrez_kit.corpus.search.terms import STOP_WORDS, stem, words_of


@dataclass(frozen=True, slots=True)
class Profile:
    """What the scores depend on.

    The defaults were found on the Cystic Fibrosis collection, but for how much feedback counts: more of it would serve
    that collection better still, and those worse who look with few words for the one record that has them all.
    """

    k1: float = 1.5
    b: float = 0.75
    title: float = 2.0
    terms: float = 1.5
    feedback_records: int = 10
    feedback_words: int = 20
    feedback_weight: float = 0.5
    feedback_words_asked: float = 6.0
    """A query of so many words gets feedback of full weight, a shorter one by the square of its length less."""
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
    """A group, what it counts in the query, and what it is worth in the end, the more the rarer it is."""

    stems: tuple[Phrase, ...]
    weight: float
    worth: float


class ScoredRecord(NamedTuple):
    """A record's words, by field; ``length`` is that of title and abstract."""

    pmid: int
    length: int
    fields: tuple[list[str], ...]


def length_of(title: str, abstract: str) -> int:
    """Return how many words a record has, to within a few."""
    return title.count(" ") + abstract.count(" ") + 2


def read(pmid: int, text: str) -> ScoredRecord:
    """Return a kept record, cut into words."""
    title, abstract, terms = text.split("\n")
    return ScoredRecord(pmid, length_of(title, abstract), (words_of(title), words_of(abstract), words_of(terms)))


def stems_of(wanted: Iterable[Wanted]) -> frozenset[str]:
    """Return every stem that is wanted, alone or in a phrase."""
    return frozenset(word for group in wanted for phrase in group.stems for word in phrase)


def words_with(asked: Collection[str], records: Iterable[ScoredRecord]) -> dict[str, str]:
    """Return the words of the records that have one of the stems, with it; few words need be stemmed to know."""
    # A stem is its word but for the end: of five letters and more at most the last two differ, of fewer only the last.
    starts = frozenset(stem[: min(3, max(1, len(stem) - 1))] for stem in asked)
    words: set[str] = set().union(*(field for record in records for field in record.fields))
    close = [word for word in words if word[:3] in starts or word[:2] in starts or word[:1] in starts]
    return {word: stemmed for word in close if (stemmed := stem(word)) in asked}


def score(
    records: Collection[ScoredRecord], wanted: Sequence[Wanted], statistics: Statistics, profile: Profile
) -> dict[int, float]:
    """Return the BM25F score of each record, by PMID."""
    known = words_with(stems_of(wanted), records)
    single = [(group.stems[0][0], group.worth) for group in wanted if _is_word(group)]
    multiple = [group for group in wanted if not _is_word(group)]
    weights = (profile.title, 1.0, profile.terms)
    scores: dict[int, float] = {}
    for record in records:
        frequencies: dict[str, float] = {}
        for weight, words in zip(weights, record.fields, strict=True):
            for found in [known[word] for word in words if word in known]:
                frequencies[found] = frequencies.get(found, 0.0) + weight
        norm = profile.k1 * (1 - profile.b + profile.b * record.length / statistics.mean_length)
        total = 0.0
        for word, worth in single:
            if word in frequencies:
                frequency = frequencies[word]
                total += worth * frequency / (frequency + norm)
        for group in multiple:
            frequency = sum(_frequency(phrase, record, frequencies, known, weights) for phrase in group.stems)
            if frequency:
                total += group.worth * frequency / (frequency + norm)
        scores[record.pmid] = total
    return scores


def _is_word(group: Wanted) -> bool:
    return len(group.stems) == 1 and len(group.stems[0]) == 1


def _frequency(
    phrase: Phrase,
    record: ScoredRecord,
    frequencies: Mapping[str, float],
    known: Mapping[str, str],
    weights: Sequence[float],
) -> float:
    """Return how often a record has a phrase, weighted by field."""
    if len(phrase) == 1:
        return frequencies.get(phrase[0], 0.0)
    if not all(word in frequencies for word in phrase):
        return 0.0
    total = 0.0
    for weight, words in zip(weights, record.fields, strict=True):
        stems = [known.get(word) for word in words]
        for place, found in enumerate(stems):
            if found == phrase[0] and tuple(stems[place : place + len(phrase)]) == phrase:
                total += weight
    return total


def want(
    groups: Sequence[Group], frequencies: Sequence[float], statistics: Statistics, profile: Profile
) -> list[Wanted]:
    """Return what each group that any record has is worth, the rarer the more."""
    return [
        Wanted(group.stems, group.weight, group.weight * statistics.idf(frequency) * (profile.k1 + 1))
        for group, frequency in zip(groups, frequencies, strict=True)
        if frequency > 0
    ]


def best(scores: Mapping[int, float], limit: int) -> list[int]:
    """Return the PMIDs with the highest scores, best first; equal ones by PMID."""
    return heapq.nsmallest(limit, scores, key=lambda pmid: (-scores[pmid], pmid))


class Added(NamedTuple):
    """A word that feedback adds to a query: its stem, one of the words that have it, and what it counts."""

    stem: str
    word: str
    weight: float


def feedback(
    records: Mapping[int, ScoredRecord], scores: Mapping[int, float], asked: Collection[str], profile: Profile
) -> list[Added]:
    """Return the words that mark the best records, the foremost one at ``feedback_weight``.

    Stems that were asked for are left out: to weigh them anew would put a record that has one of them often before one
    that has them all.
    """
    leading = best(scores, profile.feedback_records)
    if not leading or profile.feedback_weight <= 0:
        return []
    mass: dict[str, float] = {}
    written: dict[str, str] = {}
    for pmid in leading:
        words: dict[str, float] = {}
        for weight, field in zip((profile.title, 1.0, profile.terms), records[pmid].fields, strict=True):
            for word, count in Counter(field).items():
                if len(word) > 1 and word not in STOP_WORDS and not word.isdigit():
                    stemmed = stem(word)
                    written.setdefault(stemmed, word)
                    words[stemmed] = words.get(stemmed, 0.0) + weight * count
        say = (scores[pmid] / scores[leading[0]]) ** profile.feedback_power / max(1.0, sum(words.values()))
        for stemmed, weighted in words.items():
            if stemmed not in asked:
                mass[stemmed] = mass.get(stemmed, 0.0) + say * weighted
    foremost = heapq.nsmallest(profile.feedback_words, mass, key=lambda stemmed: (-mass[stemmed], stemmed))
    return [Added(one, written[one], profile.feedback_weight * mass[one] / mass[foremost[0]]) for one in foremost]


def rerank(
    records: Mapping[int, ScoredRecord],
    scores: Mapping[int, float],
    wanted: Sequence[Wanted],
    statistics: Statistics,
    profile: Profile,
    frequency: Callable[[str, str], float],
) -> dict[int, float]:
    """Score the best records once more, with the words they share added to what was wanted.

    ``frequency`` returns how many records have a stem, given the stem and a word that has it.
    """
    added = feedback(records, scores, stems_of(wanted), profile)
    asked = sum(group.weight for group in wanted)
    share = min(1.0, asked / profile.feedback_words_asked) ** 2
    more = [
        Wanted(
            ((one.stem,),),
            share * one.weight,
            share * one.weight * statistics.idf(frequency(one.stem, one.word)) * (profile.k1 + 1),
        )
        for one in added
    ]
    foremost = best(scores, profile.feedback_depth)
    extra = score([records[pmid] for pmid in foremost], more, statistics, profile)
    return {pmid: scores[pmid] + extra[pmid] for pmid in foremost}
