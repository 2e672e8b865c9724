"""Read the pairs of records in ``duplicates.csv``, which a person decides."""

from dataclasses import dataclass

from entrez_kit.references.merge.review import ReviewRow, read_review
from entrez_kit.reviews.folder import PAIRS, Review


@dataclass(frozen=True, slots=True)
class PairCounts:
    """The number of pairs that people decided, and of those that nobody decided."""

    decided: int
    undecided: int


def read_pairs(review: Review) -> list[ReviewRow]:
    """Return the pairs of a review; none before the first deduplication.

    Raises:
        InvalidInput: the table is damaged. The message has the line.
    """
    text = review.read_file(PAIRS)
    return read_review(text, PAIRS) if text else []


def count_pairs(review: Review) -> PairCounts:
    """Return the numbers of decided and undecided pairs; other pairs were linked without a person."""
    rows = read_pairs(review)
    return PairCounts(
        decided=sum(bool(row.decision) for row in rows),
        undecided=sum(not row.decision and not row.suggestion for row in rows),
    )
