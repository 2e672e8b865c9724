"""Sort the terms of records and group their occurrences."""

import secrets
from array import array
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from entrez_kit.query.segments.coding import (
    Bytes,
    Integers,
    Numbers,
    Postings,
    build_plain_postings,
    build_postings,
    gather,
    list_places,
    sum_ranges,
)
from entrez_kit.query.segments.segment import BOUNDARY, SEPARATOR, encode_term

_SORTABLE: Final = 64
"""Bytes of the longest text that numpy sorts; longer ones would need much memory."""
_KEPT: Final = np.array([(1 << 8 * length) - 1 for length in range(9)], np.uint64)
"""Masks of the first bytes of eight."""
_MULTIPLIERS: Final = np.array([secrets.randbits(64) | 1, secrets.randbits(64) | 1], np.uint64)


class TermSorter:
    """The terms of one list in order of records, one after the other as text."""

    def __init__(self) -> None:
        self.pending: list[str] = []
        """The terms of the last records."""
        self.pieces: list[int] = []
        """The number of words of each of their values."""
        self.groups: list[int] = []
        """The number of each of these records, and the number of its values."""
        self._texts = bytearray()
        self._pieces, self._groups = array("I"), array("I")

    def pack(self) -> None:
        """Add the terms of the last records to the text; those that contain the separator are omitted."""
        if self.pending:
            text = "\0".join(self.pending)
            if text.count("\0") >= len(self.pending):
                text = "\0".join(self._drop_separators())
            if self.pending:
                self._texts += encode_term(text)
                self._texts += SEPARATOR
        self._pieces.extend(self.pieces)
        self._groups.extend(self.groups)
        self.pending.clear()
        self.pieces.clear()
        self.groups.clear()

    def _drop_separators(self) -> list[str]:
        """Remove the values that contain the separator, which no query can contain; return the others."""
        terms = iter(self.pending)
        kept: list[str] = []
        for place in range(1, len(self.groups), 2):
            some = [term for term in islice(terms, self.groups[place]) if "\0" not in term]
            self.groups[place] = len(some)
            kept += some
        self.pending = kept
        return kept

    def sort(self, *, with_positions: bool) -> tuple[list[str], Postings]:
        """Return the terms in order and their postings."""
        self.pack()
        groups = np.array(self._groups, np.uint32).reshape(-1, 2)
        records, sizes = groups[:, 0], groups[:, 1].astype(np.int64)
        if not with_positions:
            terms, lengths, order = self._sort_texts()
            return terms, _group(lengths, np.repeat(records, sizes)[order], None)
        word_counts = np.array(self._pieces, np.int64)
        pieces, sizes = sizes, sum_ranges(word_counts, sizes)
        begins = np.cumsum(sizes) - sizes
        positions = np.arange(int(sizes.sum()), dtype=np.int32)
        positions -= np.repeat(begins.astype(np.int32), sizes)
        terms, lengths, order = self._sort_texts()
        if len(order) != len(positions):
            raise ValueError("a word contains a separator")
        positions, of_words = positions[order], np.repeat(records, sizes)[order]
        if len(word_counts) > len(sizes):  # the values but the first of each record begin with a boundary
            starts = np.cumsum(word_counts) - word_counts - np.repeat(begins, pieces)
            later = np.ones(len(word_counts), np.bool_)
            later[(np.cumsum(pieces) - pieces)[pieces > 0]] = False
            positions = np.append(starts[later].astype(np.int32), positions)
            of_words = np.append(np.repeat(records, pieces)[later], of_words)
            terms, lengths = [BOUNDARY, *terms], np.append(np.count_nonzero(later), lengths)
        return terms, _group(lengths, of_words, positions)

    def _sort_texts(self) -> tuple[list[str], Integers, Integers]:
        """Return the distinct terms in order, how often each occurs, and the places of all occurrences by term.

        Terms are compared by a hash of 64 bits with random multipliers, then the distinct ones are sorted.
        """
        size = len(self._texts)
        text = np.zeros(size + 8, np.uint8)
        text[:size] = self._texts
        ends = np.flatnonzero(text[:size] == 0)
        begins = np.zeros(len(ends), np.int64)
        begins[1:] = ends[:-1] + 1
        if not len(ends):
            return [], ends, ends
        hashes = _compute_hashes(text, begins, ends - begins)
        order = _sort_hashes(hashes)
        hashes = hashes[order]
        firsts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1]))
        counts = np.diff(np.append(firsts, len(order)))
        some = order[firsts]
        distinct = gather(text, begins[some], ends[some] - begins[some] + 1).tobytes()[:-1].split(SEPARATOR)
        if max(map(len, distinct)) <= _SORTABLE:
            by_text = np.argsort(np.array(distinct))
        else:
            by_text = np.array(sorted(range(len(distinct)), key=distinct.__getitem__))
        counts = counts[by_text]
        ordered = [distinct[place] for place in by_text.tolist()]
        terms = SEPARATOR.join(ordered).decode("utf-8", "surrogatepass").split("\0")
        return terms, counts, order[list_places(firsts[by_text], counts)]


def _compute_hashes(text: Bytes, begins: Integers, lengths: Integers) -> NDArray[np.uint64]:
    """Return a hash of each text, eight bytes at a time; eight bytes follow the last text."""
    windows: NDArray[np.uint64] = np.ndarray((len(text) - 7,), "<u8", text.data, strides=(1,))
    hashes = np.zeros(len(begins), np.uint64)
    which: Any = slice(None)
    done = 0
    while True:
        some = windows[begins[which] + done] & _KEPT[np.minimum(lengths[which] - done, 8)]
        some ^= hashes[which]
        some *= _MULTIPLIERS[0]
        some ^= some >> np.uint64(32)
        some *= _MULTIPLIERS[1]
        some ^= some >> np.uint64(29)
        hashes[which] = some
        done += 8
        which = np.flatnonzero(lengths > done)
        if not len(which):
            return hashes


def _sort_hashes(hashes: NDArray[np.uint64]) -> Integers:
    """Return an order in which equal hashes are together, in their own order."""
    order = sort_codes(hashes.astype(np.uint32))
    ordered = hashes[order]
    changes = ordered[1:] != ordered[:-1]
    collided = changes & (ordered[1:].astype(np.uint32) == ordered[:-1].astype(np.uint32))
    if collided.any():  # two hashes have the same lower half
        low = ordered.astype(np.uint32)
        places = np.flatnonzero(np.isin(low, low[1:][collided]))
        some = order[places]
        order[places] = some[np.lexsort((some, hashes[some], hashes[some].astype(np.uint32)))]
    return order


def _group(lengths: Integers, records: Numbers, positions: NDArray[np.int32] | None) -> Postings:
    """Return the postings of occurrences, which are in order of terms and records."""
    new = np.ones(len(records), np.bool_)
    new[1:] = records[1:] != records[:-1]
    new[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
    postings = np.flatnonzero(new)
    sizes = sum_ranges(new, lengths)
    if positions is None:
        return build_plain_postings(sizes, records[postings])
    return build_postings(sizes, records[postings], np.diff(np.append(postings, len(records))), positions)


def sort_codes(codes: NDArray[Any]) -> Integers:
    """Return the order of numbers, equal ones in their own order; numpy sorts 16-bit numbers in linear time."""
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    shift = 16
    most = int(codes.max()) if len(codes) else 0
    while most >> shift:
        order = order[np.argsort((codes >> shift).astype(np.uint16)[order], kind="stable")]
        shift += 16
    return order
