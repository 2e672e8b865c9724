"""The encoding of postings in a segment file.

The records of a term are ascending numbers. Each is stored as the difference from the one before it, as a varint: seven
bits per byte, lowest first; the highest bit is set in all bytes but the last. Words also have counts and positions::

    varint   length of the next part * 2 + (1 if counts have four bytes)
    varints  difference * 2 + (1 if the word occurs more than once in the record)
    counts   one or four bytes for each record with more than one occurrence: the count - 2
    bytes    one for each occurrence: the difference from the position before it in this record, at most 255
    varints  for each difference of 255 and more: the difference - 255

A position is the number of words before it in the word list of the record, over all values. All functions process the
postings of many terms at once. Damaged data causes a ValueError or an IndexError.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.uint32]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

_ESCAPE: Final = 255
_MAX_VARINT: Final = 5


def encode_varints(values: NDArray[Any]) -> tuple[Bytes, Integers]:
    """Return numbers below 2**32 as varints, and the length of each."""
    if not len(values):
        return np.empty(0, np.uint8), np.empty(0, np.int64)
    if values.max() < 128:
        return values.astype(np.uint8), np.ones(len(values), np.int64)
    lengths = np.ones(len(values), np.int64)
    for more in range(1, _MAX_VARINT):
        lengths += values >= 1 << 7 * more
    ends = np.cumsum(lengths)
    encoded = np.empty(ends[-1], np.uint8)
    begins = ends - lengths
    encoded[begins] = (values & 127) | ((lengths > 1) << 7)
    which = np.flatnonzero(lengths > 1)
    for place in range(1, _MAX_VARINT):
        if not len(which):
            break
        rest = (values[which] >> 7 * place) & 127
        encoded[begins[which] + place] = rest | ((lengths[which] > place + 1) << 7)
        which = which[lengths[which] > place + 1]
    return encoded, lengths


def decode_varints(encoded: Bytes) -> Numbers:
    """Return the numbers of a sequence of varints."""
    if not len(encoded):
        return np.empty(0, np.uint32)
    last = encoded < 128
    if last.all():
        return encoded.astype(np.uint32)
    ends = np.flatnonzero(last)
    if not len(ends) or ends[-1] != len(encoded) - 1:
        raise ValueError("a number is cut")
    begins = np.empty_like(ends)
    begins[0] = 0
    begins[1:] = ends[:-1] + 1
    values = (encoded[begins] & 127).astype(np.uint32)
    which = np.flatnonzero(begins < ends)
    for place in range(1, _MAX_VARINT):
        there = begins[which] + place
        values[which] |= (encoded[there] & 127).astype(np.uint32) << np.uint32(7 * place)
        which = which[there < ends[which]]
        if not len(which):
            return values
    raise ValueError("a number is too large")


def list_places(begins: Integers, lengths: Integers) -> Integers:
    """Return the indexes of ranges, one range after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    places: Integers = np.arange(total) + np.repeat(begins - (ends - lengths), lengths)
    return places


def gather(values: NDArray[Any], begins: Integers, lengths: Integers) -> NDArray[Any]:
    """Return the values of ranges, one range after the other."""
    if not len(begins):
        return values[:0]
    ends = begins + lengths
    if (lengths < 0).any() or begins[0] < 0 or int(ends.max()) > len(values):
        raise ValueError("a range is outside of the data")
    if len(begins) == 1 or (begins[1:] == ends[:-1]).all():
        return values[int(begins[0]) : int(ends[-1])]
    return values[list_places(begins, lengths)]


def sum_ranges(values: NDArray[Any], lengths: Integers) -> Integers:
    """Return the sum of each range of values; the ranges follow each other."""
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, dtype=np.int64, out=sums[1:])
    ends = np.cumsum(lengths)
    found: Integers = sums[ends] - sums[ends - lengths]
    return found


def mask_members(wanted: NDArray[Any], known: NDArray[Any]) -> Mask:
    """Return which of the wanted numbers are among the known ones; both are ascending."""
    if not len(known):
        return np.zeros(len(wanted), np.bool_)
    places = np.searchsorted(known, wanted)
    places[places == len(known)] = 0
    found: Mask = known[places] == wanted
    return found


@dataclass(slots=True)
class Block:
    """The postings of several terms, one term after the other.

    ``sizes`` has the number of records of each term, ``records`` and ``counts`` have one number per posting. ``steps``
    has one byte per occurrence, and ``rest`` continues those that are 255.
    """

    sizes: Integers
    records: Numbers
    counts: Integers
    steps: Bytes
    rest: Numbers

    def select(self, kept: Mask) -> "Block":
        """Return some of the postings; ``kept`` has one value per posting."""
        counts = self.counts[kept]
        ends = np.cumsum(self.counts)
        begins = (ends - self.counts)[kept]
        steps = gather(self.steps, begins, counts)
        rest = self.rest
        if len(rest):
            large = np.flatnonzero(self.steps == _ESCAPE)
            first = np.searchsorted(large, begins)
            rest = gather(rest, first, np.searchsorted(large, begins + counts) - first)
        return Block(sum_ranges(kept, self.sizes), self.records[kept], counts, steps, rest)

    def find_positions(self) -> Integers:
        """Return the position of each occurrence."""
        steps = self.steps.astype(np.int64)
        if len(self.rest):
            steps[self.steps == _ESCAPE] += self.rest
        sums = np.cumsum(steps)
        begins = np.cumsum(self.counts) - self.counts
        positions: Integers = sums - np.repeat(sums[begins] - steps[begins], self.counts)
        return positions

    def find_keys(self) -> Integers:
        """Return each occurrence as one number: the record in the high 32 bits, the position in the low ones."""
        return (np.repeat(self.records, self.counts).astype(np.int64) << 32) | self.find_positions()


def build_block(sizes: Integers, records: Numbers, counts: Integers, positions: Integers) -> Block:
    """Return the postings of several terms with these positions; those of one posting ascend."""
    steps = np.diff(positions, prepend=0)
    begins = np.cumsum(counts) - counts
    steps[begins] = positions[begins]
    large = steps[steps >= _ESCAPE]
    return Block(
        sizes, records, counts, np.minimum(steps, _ESCAPE).astype(np.uint8), (large - _ESCAPE).astype(np.uint32)
    )


def encode_records(sizes: Integers, records: Numbers, more: NDArray[Any] | None = None) -> tuple[Bytes, Integers]:
    """Return the encoded records of each term, and the length of each.

    Args:
        sizes: the number of records of each term.
        records: the records of all terms.
        more: whether a word occurs more than once in a record, one value per posting; None without positions.
    """
    steps = records.astype(np.int64)
    steps[1:] -= steps[:-1].copy()
    begins = np.cumsum(sizes) - sizes
    first = begins[sizes > 0]
    steps[first] = records[first]
    encoded, lengths = encode_varints(steps if more is None else (steps << 1) | more)
    return encoded, sum_ranges(lengths, sizes)


def encode_words(block: Block) -> tuple[Bytes, Integers]:
    """Return the encoded postings of each word, and the length of each."""
    sizes = block.sizes
    more = block.counts > 1
    records, record_lengths = encode_records(sizes, block.records, more)
    occurrences = sum_ranges(block.counts, sizes)
    several = sum_ranges(more, sizes)
    extra = block.counts[more] - 2
    wide = np.zeros(len(sizes), np.bool_)
    if len(extra) and extra.max() > 255:
        wide[np.repeat(np.arange(len(sizes)), several)[extra > 255]] = True
    head, head_lengths = encode_varints((record_lengths << 1) | wide)
    count_lengths = np.where(wide, several * 4, several)
    if wide.any():
        widths = np.repeat(np.where(wide, 4, 1), several)
        counts = np.ascontiguousarray(extra.astype("<u4")).view(np.uint8)
        counts = counts[list_places(np.arange(len(extra)) * 4, widths)]
    else:
        counts = extra.astype(np.uint8)
    rest, rest_lengths = encode_varints(block.rest)
    per_word = sum_ranges(block.steps == _ESCAPE, occurrences) if len(rest) else np.zeros(len(sizes), np.int64)
    parts = (
        (head, head_lengths),
        (records, record_lengths),
        (counts, count_lengths),
        (block.steps, occurrences),
        (rest, sum_ranges(rest_lengths, per_word)),
    )
    totals = np.sum([lengths for _, lengths in parts], axis=0)
    begins = np.cumsum(totals) - totals
    encoded = np.empty(int(totals.sum()), np.uint8)
    for part, lengths in parts:
        if len(sizes) == 1:
            encoded[int(begins[0]) : int(begins[0] + lengths[0])] = part
        elif len(part):
            encoded[list_places(begins, lengths)] = part
        begins = begins + lengths
    return encoded, totals


def decode_records(encoded: Bytes, lengths: Integers, limit: int) -> tuple[Integers, Numbers]:
    """Return how many records each term has, and the records of all terms; all are below ``limit``."""
    sizes, values = _decode_sizes(encoded, lengths)
    return sizes, _sum_steps(sizes, values, limit)


def _decode_sizes(encoded: Bytes, lengths: Integers) -> tuple[Integers, Numbers]:
    values = decode_varints(encoded)
    if len(values) == len(encoded):
        return lengths, values
    if len(lengths) == 1:
        return np.array([len(values)]), values
    ends = np.cumsum(lengths)
    if (encoded[ends[lengths > 0] - 1] >= 128).any():
        raise ValueError("a list of records is cut")
    return sum_ranges(encoded < 128, lengths), values


def _sum_steps(sizes: Integers, steps: NDArray[Any], limit: int) -> Numbers:
    """Return the records of each term from their differences."""
    sums = np.cumsum(steps, dtype=np.int64)
    if len(sizes) > 1:
        first = (np.cumsum(sizes) - sizes)[sizes > 0]
        sums -= np.repeat(sums[first] - steps[first], sizes[sizes > 0])
    if len(sums) and sums.max() >= limit:
        raise ValueError("a record number is too large")
    return sums.astype(np.uint32)


@dataclass(slots=True)
class Words:
    """The records of several words; the positions are decoded on demand.

    ``counts`` has one number per posting.
    """

    sizes: Integers
    records: Numbers
    counts: Integers
    _data: Bytes
    _begins: Integers
    _ends: Integers

    def read_positions(self) -> Block:
        """Return the postings with their positions."""
        occurrences = sum_ranges(self.counts, self.sizes)
        begins = self._begins + occurrences
        steps = gather(self._data, self._begins, occurrences)
        rest = decode_varints(gather(self._data, begins, self._ends - begins))
        if len(rest) != np.count_nonzero(steps == _ESCAPE):
            raise ValueError("positions are missing")
        return Block(self.sizes, self.records, self.counts, steps, rest)


def decode_words(data: Bytes, begins: Integers, ends: Integers, limit: int) -> Words:
    """Return the postings of words whose encoded forms have these places; all records are below ``limit``."""
    if not len(begins):
        return Words(begins, np.empty(0, np.uint32), np.empty(0, np.int64), data, begins, ends)
    heads, begins = _decode_heads(data, begins, ends)
    lengths = heads >> 1
    wide = (heads & 1).astype(np.bool_)
    if (begins + lengths > ends).any():
        raise ValueError("a list of records is cut")
    sizes, values = _decode_sizes(gather(data, begins, lengths), lengths)
    begins = begins + lengths
    more = (values & 1).astype(np.bool_)
    records = _sum_steps(sizes, values >> 1, limit)
    several = sum_ranges(more, sizes)
    widths = np.where(wide, 4, 1)
    extra = _decode_counts(gather(data, begins, several * widths), several, wide)
    counts = np.ones(len(records), np.int64)
    counts[more] = extra + 2
    return Words(sizes, records, counts, data, begins + several * widths, ends)


def _decode_counts(encoded: Bytes, several: Integers, wide: Mask) -> Integers:
    if not wide.any():
        return encoded.astype(np.int64)
    widths = np.repeat(np.where(wide, 4, 1), several)
    found = np.zeros((len(widths), 4), np.uint8)
    found.reshape(-1)[list_places(np.arange(len(widths)) * 4, widths)] = encoded
    return found.view("<u4").reshape(-1).astype(np.int64)


def _decode_heads(data: Bytes, begins: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """Return the number at the start of each encoded word, and the place after it."""
    if (begins >= ends).any() or (begins < 0).any() or (ends > len(data)).any():
        raise ValueError("a word has no records")
    heads = np.zeros(len(begins), np.int64)
    after = begins.copy()
    which = np.arange(len(begins))
    for place in range(_MAX_VARINT):
        found = data[after[which]]
        heads[which] |= (found & 127).astype(np.int64) << 7 * place
        after[which] += 1
        which = which[found >= 128]
        if not len(which):
            return heads, after
    raise ValueError("a length is too large")
