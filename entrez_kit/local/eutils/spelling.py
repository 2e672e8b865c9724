"""Spelling suggestions from the words that occur in a database."""

from collections.abc import Mapping
from typing import Final

MIN_LENGTH: Final = 4
"""Minimum length of a word to correct; shorter words are similar to too many others."""


def suggest_word(word: str, vocabulary: Mapping[str, int]) -> str | None:
    """Return the known word that is most similar to an unknown one; None if no word is similar enough.

    Of equally similar words the most frequent one is returned, then the first in alphabetical order.
    """
    if len(word) < MIN_LENGTH or word in vocabulary:
        return None
    # A known word with a plural or other ending is correct.
    if any(word.removesuffix(ending) in vocabulary for ending in ("s", "es", "ed", "ing") if word.endswith(ending)):
        return None
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    limit = 1 if len(word) < 6 else 2
    near = extract(word, list(vocabulary), scorer=OSA.distance, score_cutoff=limit, limit=None)
    return min(((distance, -vocabulary[known], known) for known, distance, _ in near), default=(0, 0, None))[2]
