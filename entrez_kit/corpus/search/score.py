"""What a score is: BM25 over weighted fields, then once more with words of the best records added.

The score is the simple BM25F of S. Robertson, H. Zaragoza and M. Taylor, "Simple BM25 extension to multiple weighted
fields", CIKM 2004: frequencies are weighted by field and summed, and only then saturated. Inverse document frequency is
ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative (as in Lucene). The feedback is RM3: V. Lavrenko and W. B.
Croft, "Relevance-based language models", SIGIR 2001, mixed with the query as in N. Abdul-Jaleel et al., "UMass at TREC
2004", except that it adds new words only, and that it re-orders the records at hand and does not search again.
"""

import math
from dataclasses import dataclass
from typing import Any, Final, NamedTuple


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

    def norm(self, length: Any, statistics: "Statistics") -> Any:
        """Return what a frequency is weighed against, given the words of a record, or of many."""
        return self.k1 * (1 - self.b) + length * (self.k1 * self.b / statistics.mean_length)


DEFAULT: Final = Profile()


class Statistics(NamedTuple):
    """What is known of the whole index."""

    records: int
    mean_length: float

    def idf(self, frequency: float) -> float:
        """Return the inverse document frequency of a word that so many records have."""
        return math.log1p(max(0.0, self.records - frequency + 0.5) / (frequency + 0.5))
