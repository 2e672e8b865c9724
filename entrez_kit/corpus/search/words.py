"""Search by words: score every record that has at least one of them, then rescore the best with feedback."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from entrez_kit.corpus.search import index
from entrez_kit.corpus.search.postings import Marks, Postings, build, phrase, sift, weigh
from entrez_kit.corpus.search.query import LONGEST_QUERY, Group, Phrase, parse
from entrez_kit.corpus.search.ranking import Candidate
from entrez_kit.corpus.search.score import DEFAULT, Profile, Statistics
from entrez_kit.corpus.search.terms import plain, stems_of, words_of

COSTLY: Final = 4_000
"""A word with more records in a block is scored only for records that can still be among the best."""
FEWER: Final = 8
"""Records are looked up individually in the postings of a word if they are this many times fewer."""
MOST: Final = 0.6
"""If a larger share of records are members, it is faster to score all records than to select the members."""
TINY: Final = 1e-9
"""The tolerance for sums of floating-point numbers."""
_NOT_TEXT: Final = ("[Title] ", "[Section] ")
"""The first words of lines of a passage that are not part of the abstract."""
_OF_PASSAGES: Final = Profile(k1=1.2, b=0.4)
_NONE: Final = Postings(*(np.empty(0, dtype=np.uint16) for _ in range(3)))


class Occurrences(NamedTuple):
    """The occurrences of a group in a block: sorted record numbers, and frequencies weighted by field.

    If ``weights`` is set, ``found`` has packed counts, and ``weights`` maps them to frequencies.
    """

    docs: NDArray[np.integer]
    found: NDArray[np.integer] | NDArray[np.float64]
    weights: NDArray[np.float64] | None = None

    def look_up(self, docs: NDArray[np.integer]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return a mask of the records that have an occurrence, and the frequencies of these records."""
        place = np.searchsorted(self.docs, docs)
        place[place == len(self.docs)] = 0
        has = self.docs[place] == docs
        return has, self.frequencies(place[has])

    def frequencies(self, places: NDArray[np.intp] | slice = slice(None)) -> NDArray[np.float64]:
        """Return the frequencies at some indexes."""
        found = self.found[places]
        return found if self.weights is None else self.weights[found]  # type: ignore[return-value]


class _SearchBlock:
    """A block during a search; ``number`` is None for queued records, which are not stored in a block yet."""

    def __init__(self, number: int | None, lengths: NDArray[np.uint16], struck: bytes | None = None) -> None:
        self.number = number
        self.lengths = lengths
        self.kept: NDArray[np.bool_] | None = None if struck is None else ~index.bits(struck, len(lengths))
        self.postings: dict[str, Postings] = {}
        self.pmids: NDArray[np.uint32] | None = None
        self.marks: list[Marks] = []


class Index:
    """The full-text index during one search over one connection; it includes queued records."""

    def __init__(self, connection: sqlite3.Connection, profile: Profile) -> None:
        self.profile = profile
        self._connection = connection
        self._cursor = index.raw(connection)
        self.weights = weigh(profile.title, profile.terms)
        self._known: dict[str, bool] = {}
        self._unwritten: dict[str, int] = {}
        self._more: Counter[int] = Counter()
        self.blocks = [
            _SearchBlock(number, np.frombuffer(lengths, dtype="<u2"), struck)
            for number, struck, lengths in self._cursor.execute("SELECT block, struck, lengths FROM lexical_blocks")
        ]
        self._by_number = {block.number: block for block in self.blocks}
        self._read_queued()
        lengths = [block.lengths if block.kept is None else block.lengths[block.kept] for block in self.blocks]
        records = sum(map(len, lengths))
        words = sum(int(one.sum(dtype=np.int64)) for one in lengths)
        self.statistics = Statistics(records, words / records if records else 1.0)

    def _read_queued(self) -> None:
        queued = [row[0] for row in self._cursor.execute("SELECT pmid FROM lexical_queue")]
        if not queued:
            return
        for block in self.blocks:
            struck = np.isin(self.pmids(block), np.array(queued, dtype=np.uint32))
            if block.kept is not None:
                struck &= block.kept
            if struck.any() and block.number is not None:
                block.kept = ~struck if block.kept is None else block.kept & ~struck
                for one in index.marks_of(self._connection, block.number, np.flatnonzero(struck).tolist()):
                    self._more.subtract(one.numbers.tolist())
        rows = list(index.rows_of(self._connection, queued))
        for start in range(0, len(rows), index.AT_ONCE):
            made = build(rows[start : start + index.AT_ONCE])
            block = _SearchBlock(None, made.lengths)
            block.postings, block.pmids = made.by_stem(), made.pmids
            block.marks = made.marks(np.array(self.numbers(made.stems), dtype=np.int64))
            for one in block.marks:
                self._more.update(one.numbers.tolist())
            self.blocks.append(block)

    def pmids(self, block: _SearchBlock) -> NDArray[np.uint32]:
        """Return the PMIDs of a block's records."""
        if block.pmids is None:
            row = self._cursor.execute("SELECT pmids FROM lexical_blocks WHERE block = ?", (block.number,)).fetchone()
            block.pmids = np.frombuffer(row[0], dtype="<u4")
        return block.pmids

    def members(self, block: _SearchBlock, corpus: str) -> NDArray[np.bool_] | None:
        """Return a mask of a block's records that a query has found; None if it has found none."""
        if block.number is not None:
            row = self._cursor.execute(
                "SELECT members FROM lexical_members WHERE query_key = ? AND block = ?", (corpus, block.number)
            ).fetchone()
            return None if row is None else index.bits(row[0], len(block.lengths))
        return index.members_among(self._connection, corpus, self.pmids(block))

    def load(self, stems: Iterable[str], *, positions: bool = False) -> None:
        """Read the postings of stems from all blocks with one statement."""
        missing = [stem for stem in dict.fromkeys(stems) if stem not in self._known or self._known[stem] < positions]
        if not missing:
            return
        self._known |= dict.fromkeys(missing, positions)
        stem_of = {number: stem for stem, number in index.numbers_of(self._connection, missing).items()}
        places = ",".join(str(block << 32 | number) for block in self._by_number for number in stem_of)  # type: ignore[operator]
        column = "positions" if positions else "x''"
        for place, matches, found in self._cursor.execute(
            f"SELECT place, matches, {column} FROM lexical_postings WHERE place IN ({places})"
        ):
            block = self._by_number[place >> 32]
            postings = Postings.of(matches, found)
            if block.kept is not None:
                postings = sift(postings, block.kept)
            block.postings[stem_of[place & 0xFFFFFFFF]] = postings

    def numbers(self, stems: Iterable[str]) -> list[int]:
        """Return the numbers of stems; stems that occur only in queued records get negative numbers."""
        wanted = list(stems)
        known = index.numbers_of(self._connection, wanted)
        return [known.get(stem) or self._unwritten.setdefault(stem, -1 - len(self._unwritten)) for stem in wanted]

    def describe(self, numbers: Sequence[int]) -> list[tuple[str, int]]:
        """Return the stems of some numbers with their record counts."""
        found = {number: (unwritten, 0) for unwritten, number in self._unwritten.items()}
        for number, written, records in self._cursor.execute(
            f"SELECT number, stem, records FROM lexical_stems WHERE number {index.LISTED}", (json.dumps(numbers),)
        ):
            found[number] = (written, records)
        return [(found[number][0], found[number][1] + self._more[number]) for number in numbers]

    def marks(self, leading: Sequence["_Leader"]) -> list[Marks]:
        """Return the marks (stem numbers and counts) of some records."""
        by_block: dict[int, list[int]] = {}
        for one in leading:
            if one.block.number is not None:
                by_block.setdefault(one.block.number, []).append(one.doc)
        written = {
            (number, doc): marks
            for number, docs in by_block.items()
            for doc, marks in zip(sorted(docs), index.marks_of(self._connection, number, docs), strict=True)
        }
        return [
            one.block.marks[one.doc] if one.block.number is None else written[one.block.number, one.doc]
            for one in leading
        ]

    def exists(self, words: Phrase) -> bool:
        """Return whether any record contains the phrase."""
        (stems,) = Group((words,)).stems
        return any(found is not None and len(found.docs) for found in self.matches((stems,)))

    def matches(self, phrases: Sequence[Phrase]) -> list[Occurrences | None]:
        """Return for each block the occurrences of any of the phrases, which are given as stems."""
        for stems in phrases:
            self.load(stems, positions=len(stems) > 1)
        return [self._match(block, phrases) for block in self.blocks]

    def _match(self, block: _SearchBlock, phrases: Sequence[Phrase]) -> Occurrences | None:
        found: list[Occurrences] = []
        for stems in phrases:
            postings = [block.postings.get(stem, _NONE) for stem in stems]
            if not all(len(one.docs) for one in postings):
                continue
            if len(stems) == 1:
                found.append(Occurrences(postings[0].docs, postings[0].counts, self.weights))
            else:
                found.append(Occurrences(*phrase(postings, self.profile.title, self.profile.terms)))
        if len(found) < 2:
            return found[0] if found else None
        summed = np.zeros(len(block.lengths))
        for one in found:
            summed[one.docs] += one.frequencies()
        docs = np.flatnonzero(summed)
        return Occurrences(docs, summed[docs])

    def worth(self, weight: float, records: int) -> float:
        """Return the maximum score of a word with a weight that occurs in ``records`` records."""
        return weight * self.statistics.idf(records) * (self.profile.k1 + 1)


def search(
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
    try:
        return _search(Index(connection, profile), query, limit, corpus)
    except (ValueError, LookupError) as exc:
        raise sqlite3.DatabaseError(f"malformed full-text index: {exc}") from None


def _search(searched: Index, query: str, limit: int, corpus: str | None) -> list[Candidate]:
    if searched.statistics.records == 0:
        return []
    searched.load(stems_of(words_of(plain(query[:LONGEST_QUERY]))))
    groups = parse(query, searched.exists)
    searched.load(stem for group in groups for stems in group.stems if len(stems) == 1 for stem in stems)
    requested = [_weigh_group(searched, group) for group in groups]
    depth = searched.profile.feedback_depth
    leading = _find_leaders(searched, [one for one in requested if one.worth], max(limit, depth), corpus)
    _feed_back(searched, leading[:depth], groups, sum(one.group.weight for one in requested if one.worth))
    leading.sort(key=lambda one: (-one.score, one.pmid))
    return [Candidate(one.pmid, bm25=one.score) for one in leading[:limit]]


class _WeighedGroup(NamedTuple):
    """A group, its occurrences in each block, and its maximum score: 0 if no record has it, higher if it is rare."""

    group: Group
    matches: list[Occurrences | None]
    worth: float


def _weigh_group(searched: Index, group: Group) -> _WeighedGroup:
    matches = searched.matches(group.stems)
    records = sum(len(one.docs) for one in matches if one is not None)
    return _WeighedGroup(group, matches, searched.worth(group.weight, records) if records else 0.0)


class _Leader:
    """One of the best records and its current score."""

    __slots__ = ("block", "doc", "pmid", "score")

    def __init__(self, block: _SearchBlock, doc: int, pmid: int, score: float) -> None:
        self.block, self.doc, self.pmid, self.score = block, doc, pmid, score


def _find_leaders(searched: Index, asked: Sequence[_WeighedGroup], limit: int, corpus: str | None) -> list[_Leader]:
    """Score every matching record; return the best ones, best first."""
    ordered = sorted(asked, key=lambda one: (not one.group.required, -one.worth))
    leading: list[_Leader] = []
    bar = 0.0
    for place, block in enumerate(searched.blocks):
        members = None if corpus is None else searched.members(block, corpus)
        if corpus is not None and members is None:
            continue
        docs, scores = _score_block(searched, block, place, ordered, limit, bar, members)
        if len(docs) > limit:
            best = scores >= np.partition(scores, -limit)[-limit]
            docs, scores = docs[best], scores[best]
        pmids = searched.pmids(block)[docs].tolist() if len(docs) else []
        leading += map(_Leader, repeat(block), docs.tolist(), pmids, scores.tolist())
        leading.sort(key=lambda one: (-one.score, one.pmid))
        if len(leading) >= limit:
            del leading[limit:]
            bar = leading[-1].score
    return leading


def _score_block(
    searched: Index,
    block: _SearchBlock,
    place: int,
    asked: Sequence[_WeighedGroup],
    limit: int,
    bar: float,
    members: NDArray[np.bool_] | None,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the records of a block that may be among the best, with their scores.

    A word cannot add more to a score than its maximum. So records that cannot reach the threshold with all remaining
    words are dropped, and frequent words are looked up only in the records that remain (H. Turtle and J. Flood, "Query
    evaluation: strategies and optimizations", IPM 31(6), 1995).
    """
    scores = np.zeros(len(block.lengths))
    norms = searched.profile.norm(block.lengths, searched.statistics)
    left = sum(one.worth for one in asked)
    allowed = members
    remaining: NDArray[np.intp] | None = None
    listed: NDArray[np.intp] | None = None
    share = 1.0 if members is None else np.count_nonzero(members) / len(members)
    if members is not None and share > MOST:  # other records are scored too, but stay below every score
        scores[~members] = -np.inf
    elif members is not None and FEWER * share < 1:
        listed = np.flatnonzero(members)
    for group, matches, worth in asked:
        found = matches[place]
        if group.required:
            has = np.zeros(len(scores), dtype=np.bool_)
            if found is not None:
                has[found.docs] = True
            allowed = has if allowed is None else allowed & has
            remaining = listed = np.flatnonzero(allowed)
        elif found is not None and len(found.docs) > COSTLY and (listed is None or len(listed) > limit):
            docs = np.flatnonzero(scores > 0) if remaining is None else remaining
            reached = scores[docs]
            if len(docs) > limit:
                bar = max(bar, float(np.partition(reached, -limit)[-limit]))
            if bar > left:
                remaining = listed = docs[reached >= bar - left - TINY]
        left -= worth
        if found is None:
            continue
        which: NDArray[np.integer] = found.docs
        if listed is not None and FEWER * len(listed) < len(found.docs):
            has, frequencies = found.look_up(listed)
            which = listed[has]
        elif members is not None and share <= MOST:
            kept = np.flatnonzero(members[found.docs])
            which, frequencies = found.docs[kept], found.frequencies(kept)
        else:
            frequencies = found.frequencies()
        scores[which] += worth * frequencies / (frequencies + norms[which])
    docs = np.flatnonzero(scores > 0) if remaining is None else remaining[scores[remaining] > 0]
    reached = scores[docs]
    best = reached >= bar
    return docs[best], reached[best]


def _feed_back(searched: Index, leading: Sequence[_Leader], groups: Sequence[Group], asked: float) -> None:
    """Rescore the leading records with the stems that are typical of the best of them.

    The strongest stem weighs ``feedback_weight``. Stems of the query are excluded: weighting them again would rank a
    record that repeats one of them above a record that has all of them.
    """
    profile = searched.profile
    if not leading or profile.feedback_weight <= 0:
        return
    marks = searched.marks(leading)
    foremost = marks[: profile.feedback_records]
    weighed = [searched.weights[one.counts] for one in foremost]
    says = [
        (one.score / leading[0].score) ** profile.feedback_power / max(1.0, float(weights.sum()))
        for one, weights in zip(leading, weighed, strict=False)
    ]
    numbers, places = np.unique(np.concatenate([one.numbers for one in foremost]), return_inverse=True)
    mass = np.bincount(places, np.concatenate([say * weights for say, weights in zip(says, weighed, strict=True)]))
    asked_for = searched.numbers({word for group in groups for stems in group.stems for word in stems})
    mass[np.isin(numbers, asked_for)] = 0
    count = min(profile.feedback_words, int(np.count_nonzero(mass)))
    if not count:
        return
    near = np.flatnonzero(mass >= np.partition(mass, -count)[-count])
    stems = searched.describe(numbers[near].tolist())
    added = sorted(zip((-mass[near]).tolist(), stems, numbers[near].tolist(), strict=True))[:count]
    share = profile.feedback_weight * min(1.0, asked / profile.feedback_words_asked) ** 2 / added[0][0]
    worths = [searched.worth(share * negative, records) for negative, (_, records), _ in added]
    norms = profile.norm(np.array([one.block.lengths[one.doc] for one in leading]), searched.statistics)
    extra = np.zeros((len(leading), count))
    wanted = np.array([number for *_, number in added])
    order = np.argsort(wanted)
    for row, one in enumerate(marks):
        place = order[np.minimum(np.searchsorted(wanted, one.numbers, sorter=order), count - 1)]
        has = wanted[place] == one.numbers
        extra[row, place[has]] = searched.weights[one.counts[has]]
    extra = np.array(worths) * extra / (extra + norms[:, None])
    for leader, more in zip(leading, extra.sum(axis=1).tolist(), strict=True):
        leader.score += more


# Passages of a record -------------------------------------------------------------------------------------------------


def best_chunk(query: str, chunks: Sequence[str]) -> int:
    """Return the index of the passage that matches a query best; the first if several or none match.

    Words in fewer passages weigh more. Titles and labels are ignored.
    """
    if len(chunks) < 2:
        return 0
    texts = (" ".join(line for line in chunk.split("\n") if not line.startswith(_NOT_TEXT)) for chunk in chunks)
    passages = [stems_of(words_of(plain(text))) for text in texts]
    counted = [Counter(stems) for stems in passages]
    statistics = Statistics(len(passages), max(1.0, sum(map(len, passages)) / len(passages)))
    norms = [_OF_PASSAGES.norm(len(stems), statistics) for stems in passages]
    total = [0.0] * len(passages)
    for group in _parse_topics(query):
        found = [
            sum(counts[phrase[0]] if len(phrase) == 1 else _occurrences(phrase, stems) for phrase in group.stems)
            for stems, counts in zip(passages, counted, strict=True)
        ]
        worth = group.weight * statistics.idf(sum(map(bool, found)))
        for place, frequency in enumerate(found):
            total[place] += worth * frequency / (frequency + norms[place])
    return max(range(len(total)), key=lambda place: (total[place], -place))


def _occurrences(phrase: Phrase, stems: Sequence[str]) -> int:
    return sum(
        found == phrase[0] and tuple(stems[place : place + len(phrase)]) == phrase for place, found in enumerate(stems)
    )


@lru_cache(maxsize=64)
def _parse_topics(query: str) -> list[Group]:
    return parse(query, lambda phrase: True)
