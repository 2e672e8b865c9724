"""Search by words: score every record that has at least one of them, then rescore the best with feedback."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from heapq import nsmallest
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from entrez_kit.corpus.search import index
from entrez_kit.corpus.search.query import parse, to_concept
from entrez_kit.corpus.search.ranking import Candidate
from entrez_kit.corpus.search.score import DEFAULT, Profile
from entrez_kit.corpus.search.terms import can_mark, normalize_words, stem_words
from entrez_kit.query.segments.relevance import Concept, WordSequence, measure_rarity
from entrez_kit.query.segments.search_index import SearchIndex

_NOT_TEXT: Final = ("[Title] ", "[Section] ")
"""The first words of lines of a passage that are not part of the abstract."""
_OF_PASSAGES: Final = Profile(k1=1.2, b=0.4)
_CLOSE: Final = 5
"""The rank of the record that is compared with the best one."""
Numbers = NDArray[np.int64]


def search_words(
    connection: sqlite3.Connection, query: str, limit: int, *, corpus: str | None = None, profile: Profile = DEFAULT
) -> list[Candidate]:
    """Return the best matching records with their BM25 scores, best first, then by PMID.

    Args:
        connection: the store's.
        query: free text; a phrase in double quotes must occur, unless no record contains it.
        limit: the maximum number of records.
        corpus: a query key; returns only records of this corpus.
        profile: the parameters of the score.

    Raises:
        sqlite3.Error: the index cannot be read, or is damaged.
    """
    if limit < 1:
        return []
    with index.open_index(connection) as searched:
        members = None if corpus is None else index.find_members(connection, searched, corpus)
        formula = profile.formula
        concepts = parse(query, lambda phrase: searched.count_phrases(to_concept([phrase]).phrases, formula) > 0)
        depth = profile.feedback_depth
        numbers, scores = searched.find_best(concepts, formula, max(limit, depth), members)
        pmids = np.array(searched.read_pmids(numbers), np.int64)
        order = np.lexsort((pmids, -scores))[: max(limit, depth)]
        numbers, scores, pmids = numbers[order], scores[order], pmids[order]
        is_close = len(scores) and scores[:_CLOSE][-1] >= profile.feedback_share_least * scores[0]
        if profile.feedback_weight > 0 and is_close:
            query_weight = sum(
                concept.weight for concept in concepts if searched.count_phrases(concept.phrases, formula)
            )
            if query_weight >= profile.feedback_words_least:
                scores[:depth] += _feed_back(
                    connection, searched, profile, concepts, query_weight, pmids, numbers[:depth], scores
                )
                order = np.lexsort((pmids, -scores))
                scores, pmids = scores[order], pmids[order]
        best = zip(pmids[:limit].tolist(), scores[:limit].tolist(), strict=True)
        return [Candidate(pmid, bm25=score) for pmid, score in best]


def _feed_back(
    connection: sqlite3.Connection,
    searched: SearchIndex,
    profile: Profile,
    concepts: Sequence[Concept],
    query_weight: float,
    pmids: Numbers,
    numbers: Numbers,
    scores: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return what the leading records gain by the stems that are typical of the best of them.

    The strongest stem weighs ``feedback_weight``. Stems of the query are excluded: weighting them again would rank a
    record that repeats one of them above a record that has all of them.
    """
    order = np.argsort(numbers)
    gains = np.zeros(len(numbers))
    excluded = {stem for concept in concepts for phrase in concept.phrases for stem in phrase}
    foremost: list[int] = pmids[: profile.feedback_records].tolist()
    score_of = dict(zip(foremost, scores.tolist(), strict=False))
    mass: defaultdict[str, float] = defaultdict(float)
    for row in index.read_index_rows(connection, foremost):
        texts = index.read_terms(row).texts
        counted = [
            (stem, count * weight)
            for source, weight in profile.formula.weights
            for stem, count in Counter(chain.from_iterable(texts.get(source, ()))).items()
            if can_mark(stem)
        ]
        says = (score_of[row.pmid] / scores[0]) ** profile.feedback_power
        says /= max(1.0, sum(weight for _, weight in counted))
        for stem, weight in counted:
            mass[stem] += says * weight
    for stem in excluded & mass.keys():
        del mass[stem]
    added = nsmallest(profile.feedback_words, ((-weight, stem) for stem, weight in mass.items()))
    for negative, stem in added:
        share = profile.feedback_weight * min(1.0, query_weight / profile.feedback_words_asked) ** 2 / added[0][0]
        phrases = ((stem,),)
        rarity = searched.measure_rarity(searched.count_phrases(phrases, profile.formula))
        gains[order] += share * negative * rarity * searched.score_records(phrases, profile.formula, numbers[order])
    return gains


# Passages of a record -------------------------------------------------------------------------------------------------


def find_best_chunk(query: str, chunks: Sequence[str]) -> int:
    """Return the index of the passage that matches a query best; the first if several or none match.

    Words in fewer passages weigh more. Titles and labels are ignored.
    """
    if len(chunks) < 2:
        return 0
    texts = (" ".join(line for line in chunk.split("\n") if not line.startswith(_NOT_TEXT)) for chunk in chunks)
    passages = [stem_words(normalize_words(text)) for text in texts]
    counted = [Counter(stems) for stems in passages]
    mean = max(1.0, sum(map(len, passages)) / len(passages))
    k1, b = _OF_PASSAGES.k1, _OF_PASSAGES.b
    norms = [k1 * (1 - b + b * len(stems) / mean) for stems in passages]
    total = [0.0] * len(passages)
    for concept in _parse_topics(query):
        found = [
            sum(
                counts[phrase[0]] if len(phrase) == 1 else _count_occurrences(phrase, stems)
                for phrase in concept.phrases
            )
            for stems, counts in zip(passages, counted, strict=True)
        ]
        worth = concept.weight * measure_rarity(sum(map(bool, found)), len(passages))
        for place, frequency in enumerate(found):
            total[place] += worth * frequency / (frequency + norms[place])
    return max(range(len(total)), key=lambda place: (total[place], -place))


def _count_occurrences(phrase: WordSequence, stems: Sequence[str]) -> int:
    return sum(
        found == phrase[0] and tuple(stems[place : place + len(phrase)]) == phrase for place, found in enumerate(stems)
    )


@lru_cache(maxsize=64)
def _parse_topics(query: str) -> list[Concept]:
    return parse(query, lambda phrase: True)
