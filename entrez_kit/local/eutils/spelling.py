"""Spelling suggestions from the words that occur in a database."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

SHORTEST: Final = 4
"""Minimum length of a word to correct; shorter words are similar to too many others."""


def suggest(word: str, vocabulary: Mapping[str, int]) -> str | None:
    """Return the known word that is most similar to an unknown one; None if no word is similar enough.

    Of equally similar words the most frequent one is returned, then the first in alphabetical order.
    """
    if len(word) < SHORTEST or word in vocabulary:
        return None
    # A known word with a plural or other ending is correct.
    if any(word.removesuffix(ending) in vocabulary for ending in ("s", "es", "ed", "ing") if word.endswith(ending)):
        return None
    limit = 1 if len(word) < 6 else 2
    best: tuple[int, int, str] | None = None
    for known, frequency in vocabulary.items():
        if abs(len(known) - len(word)) > limit:
            continue
        distance = edit_distance(word, known, limit)
        if distance <= limit and (best is None or (distance, -frequency, known) < best):
            best = (distance, -frequency, known)
    return best[2] if best else None


@lru_cache(maxsize=4096)
def edit_distance(one: str, other: str, limit: int) -> int:
    """Count the insertions, deletions, substitutions and transpositions between two words, up to ``limit`` + 1."""
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        row = [i]
        for j, right in enumerate(other, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (left != right))
            if i > 1 and j > 1 and left == other[j - 2] and one[i - 2] == right:
                cost = min(cost, before_last[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        before_last, last = last, row
    return last[-1]
