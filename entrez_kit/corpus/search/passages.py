"""Which passage of a record to show for a query."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from entrez_kit.corpus.search.query import Group, Phrase, parse
from entrez_kit.corpus.search.score import Profile, Statistics
from entrez_kit.corpus.search.terms import plain, stems_of, words_of

_NOT_TEXT: Final = ("[Title] ", "[Section] ")
"""How the lines of a passage begin that are not the abstract's."""
_PROFILE: Final = Profile(k1=1.2, b=0.4)


def best_chunk(query: str, chunks: Sequence[str]) -> int:
    """Return the place of the passage that answers a query best; the first of equals, and where none does.

    Words that fewer of the passages have count for more. Titles and labels do not count.
    """
    if len(chunks) < 2:
        return 0
    passages = [_stems(chunk) for chunk in chunks]
    counted = [Counter(stems) for stems in passages]
    statistics = Statistics(len(passages), max(1.0, sum(map(len, passages)) / len(passages)))
    norms = [_PROFILE.norm(len(stems), statistics) for stems in passages]
    total = [0.0] * len(passages)
    for group in _asked(query):
        found = [
            sum(counts[phrase[0]] if len(phrase) == 1 else _occurrences(phrase, stems) for phrase in group.stems)
            for stems, counts in zip(passages, counted, strict=True)
        ]
        worth = group.weight * statistics.idf(sum(map(bool, found)))
        for place, frequency in enumerate(found):
            total[place] += worth * frequency / (frequency + norms[place])
    return max(range(len(total)), key=lambda place: (total[place], -place))


def _stems(chunk: str) -> list[str]:
    text = " ".join(line for line in chunk.split("\n") if not line.startswith(_NOT_TEXT))
    return stems_of(words_of(plain(text)))


def _occurrences(phrase: Phrase, stems: Sequence[str]) -> int:
    return sum(
        found == phrase[0] and tuple(stems[place : place + len(phrase)]) == phrase for place, found in enumerate(stems)
    )


@lru_cache(maxsize=64)
def _asked(query: str) -> list[Group]:
    return parse(query, lambda phrase: True)
