"""Find sequences of words and words near each other in a word list of one segment.

An occurrence is one number: the record in the high 32 bits, the position in the low ones.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from entrez_kit.query import unsettled
from entrez_kit.query.record_terms import VALUE_GAP
from entrez_kit.query.segments.coding import Integers, Mask, Numbers, WordPostings, mask_members
from entrez_kit.query.segments.segment import BOUNDARY, TermList

SHIFT: Final = 32
_POSITION: Final = (1 << SHIFT) - 1
"""The bits of an occurrence that are its position."""
_NONE: Final = np.empty(0, np.int64)


def find_phrase(listed: TermList, slots: Sequence[Sequence[str]]) -> Integers:
    """Return the first occurrence of each sequence of words in one value, in order.

    Args:
        listed: the word list.
        slots: the alternatives for each place of the sequence.
    """
    candidates = _read_words(listed, slots)
    if candidates is None:
        return _NONE
    records, words = candidates
    starts: Integers | None = None
    for place in sorted(range(len(words)), key=lambda number: len(words[number].records)):
        keys = select_keys(words[place], records, single=len(words[place].sizes) == 1)
        if starts is None:  # before a word at one of the first positions there is no room for the words before it
            starts = keys[(keys & _POSITION) >= place] - place
        else:
            starts = _find_shared(starts, keys - place)
        records = _list_records(starts)
    assert starts is not None
    if len(words) > 1 and len(starts):
        bounds = read_boundaries(listed, records)
        first, last = (np.searchsorted(bounds, starts + shift, side="right") for shift in (0, len(words) - 1))
        starts = starts[first == last]
    return starts


def _find_shared(few: Integers, many: Integers) -> Integers:
    """Return the numbers that are in both ascending lists; to merge them is faster if both are long."""
    if len(few) * 16 < len(many):
        return few[mask_members(few, many)]
    both = np.concatenate((few, many))
    both.sort(kind="stable")
    shared: Integers = both[:-1][both[1:] == both[:-1]]
    return shared


def _list_records(keys: Integers) -> Numbers:
    """Return the records of ascending occurrences."""
    records = (keys >> SHIFT).astype(np.uint32)
    return records[np.append(True, records[1:] != records[:-1])] if len(records) else records


def find_window(listed: TermList, words: Sequence[str], distance: int) -> Integers:
    """Return an occurrence in each group of words with at most ``distance`` other words between first and last."""
    needed = Counter(words)
    candidates = _read_words(listed, [[word] for word in needed])
    if candidates is None:
        return _NONE
    bounds = read_boundaries(listed, candidates[0])
    keys = [add_gaps(select_keys(postings, candidates[0], single=True), bounds) for postings in candidates[1]]
    return find_windows(keys, list(needed.values()), unsettled.measure_window(words, distance))


def _read_words(listed: TermList, slots: Sequence[Sequence[str]]) -> tuple[Numbers, list[WordPostings]] | None:
    """Return the records that have a word for each place of a sequence, and the postings for each place."""
    numbered = [listed.find(slot) for slot in slots]
    if any(not len(numbers) for numbers in numbered):
        return None
    known = {numbers.tobytes(): listed.read_words(numbers) for numbers in numbered}
    words = [known[numbers.tobytes()] for numbers in numbered]
    shared = _intersect(
        [postings.records if len(postings.sizes) == 1 else np.unique(postings.records) for postings in words]
    )
    return (shared, words) if len(shared) else None


def read_boundaries(listed: TermList, records: Numbers) -> Integers:
    """Return the places in some records where a value other than the first one begins."""
    if listed.texts.find(BOUNDARY) is None:
        return _NONE
    return select_keys(listed.read_words(np.zeros(1, np.int64)), records, single=True)


def _intersect(sets: Sequence[Numbers]) -> Numbers:
    """Return the numbers that are in all of these ascending lists."""
    shared, *others = sorted(sets, key=len)
    for other in others:
        shared = shared[_mask_shared(shared, other)]
    return shared


def _mask_shared(wanted: Numbers, known: Numbers) -> Mask:
    """Return which of the wanted records are among the known ones; a table is faster for many."""
    if len(wanted) * 16 < len(known) or not len(known):
        return mask_members(wanted, known)
    there = np.zeros(max(int(known[-1]), int(wanted[-1]) if len(wanted) else 0) + 1, np.bool_)
    there[known] = True
    mask: Mask = there[wanted]
    return mask


def select_keys(words: WordPostings, wanted: Numbers, *, single: bool) -> Integers:
    """Return the occurrences of words in the wanted records, in order; ``single``: of one word."""
    block, records = words.read_postings(), words.records
    if single:
        keys: Integers = block.select(_mask_shared(records, wanted)).find_keys()
        return keys
    there = np.zeros(max(int(records.max(initial=0)), int(wanted.max(initial=0))) + 1, np.bool_)
    there[wanted] = True
    return np.sort(block.select(there[records]).find_keys())


def add_gaps(keys: Integers, bounds: Integers) -> Integers:
    """Return occurrences with the gaps between values in their positions."""
    if not len(bounds):
        return keys
    values = np.searchsorted(bounds, keys, side="right") - np.searchsorted(bounds, keys >> SHIFT << SHIFT)
    return keys + values * VALUE_GAP


def find_windows(keys: Sequence[Integers], needed: Sequence[int], length: int) -> Integers:
    """Return an occurrence in each window of ``length`` words that contains all words.

    Args:
        keys: the ascending occurrences of each word.
        needed: how often each word must occur.
        length: the length of a window.
    """
    rarest = min(keys, key=len)
    if len(keys) == 2 and max(needed) == 1:
        other = keys[0] if rarest is keys[1] else keys[1]
        places = np.searchsorted(other, rarest - (length - 1))
        places[places == len(other)] = 0
        nearest = other[places]
        return rarest[(nearest >= rarest - (length - 1)) & (nearest < rarest + length)]
    near = []
    for keys_of_word in keys:
        if keys_of_word is not rarest:
            last = np.searchsorted(rarest, keys_of_word + (length - 1), side="right")
            keys_of_word = keys_of_word[last > np.searchsorted(rarest, keys_of_word - (length - 1))]
        near.append(keys_of_word)
    starts = np.unique(np.concatenate(near))
    for keys_of_word, count in zip(near, needed, strict=True):
        last = np.searchsorted(keys_of_word, starts + (length - 1), side="right")
        starts = starts[last - np.searchsorted(keys_of_word, starts) >= count]
    return starts
