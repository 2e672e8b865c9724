"""The score of a record: BM25 over weighted fields, with feedback from the best records.

The score is the simple BM25F of S. Robertson, H. Zaragoza and M. Taylor, "Simple BM25 extension to multiple weighted
fields", CIKM 2004: frequencies are weighted by field and summed, and only then saturated. Inverse document frequency is
ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative (as in Lucene). The feedback is RM3: V. Lavrenko and W. B.
Croft, "Relevance-based language models", SIGIR 2001, mixed with the query as in N. Abdul-Jaleel et al., "UMass at TREC
2004", except that it adds only new words, and reorders the records found instead of searching again.
"""

from dataclasses import dataclass
from typing import Final

from entrez_kit.query.segments.relevance import Formula


@dataclass(frozen=True, slots=True)
class Profile:
    """The parameters of the score.

    The defaults were tuned on the Cystic Fibrosis collection, except the feedback weight. A higher weight would improve
    results on that collection, but worsen short queries for one known record.
    """

    k1: float = 1.5
    b: float = 0.7
    title: float = 2.0
    terms: float = 1.5
    feedback_records: int = 10
    feedback_words: int = 20
    feedback_weight: float = 0.5
    feedback_words_asked: float = 6.0
    """The number of query words at which feedback has its full weight; it falls with the square of the length."""
    feedback_words_least: float = 2.0
    """Queries with fewer words get no feedback, which would hardly change their order."""
    feedback_power: float = 4.0
    """The power of the score that weights each feedback record: one clearly best record dominates."""
    feedback_depth: int = 100
    """The number of best records that are reordered."""
    feedback_share_least: float = 0.45
    """The share of the best score that the fifth record needs. If the best record stands out, one work is searched, and
    feedback could only replace it."""

    @property
    def formula(self) -> Formula:
        """The parameters of BM25."""
        return Formula((("title", self.title), ("abstract", 1.0), ("terms", self.terms)), self.k1, self.b)


DEFAULT: Final = Profile()
