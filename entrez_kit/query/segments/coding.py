"""The encoding of postings in a segment file.

The records of a term are ascending numbers. Each is stored as the difference from the one before it, as a varint: seven
bits per byte, lowest first; the highest bit is set in all bytes but the last. A list of words has four streams, in the
order of the words::

    records  varints: difference * 2 + (1 if the word occurs more than once in the record)
    counts   varints, for each record with more than one occurrence: the count - 2
    steps    bytes, for each occurrence: the difference from the position before it in this record, at most 255
    rest     varints, for each difference of 255 and more: the difference - 255

Other lists have one stream, of differences. A position is the number of words before it in the word list of the record,
over all values. All functions process the postings of many terms at once. Damaged data cause a ValueError or an
IndexError.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.uint32]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

_ESCAPE: Final = 255
_MAX_VARINT: Final = 5


def encode_varints(values: NDArray[Any]) -> tuple[Bytes, NDArray[Any]]:
    """Return numbers below 2**32 as varints, and the length of each."""
    most = int(values.max()) if len(values) else 0
    lengths = np.ones(len(values), np.uint8)
    if most < 128:
        return values.astype(np.uint8), lengths
    large = np.flatnonzero(values >= 128)
    rest = values[large]
    for more in range(2, _MAX_VARINT):
        lengths[large] += rest >= 1 << 7 * more
    lengths[large] += 1
    ends = np.cumsum(lengths, dtype=np.int64)
    encoded = np.empty(int(ends[-1]), np.uint8)
    begins = ends - lengths
    encoded[begins] = values & 127
    begins, left = begins[large], lengths[large]
    encoded[begins] |= 128
    while len(begins):
        rest, begins, left = rest >> 7, begins + 1, left - 1
        encoded[begins] = (rest & 127) | ((left > 1) << 7).astype(np.uint8)
        which = np.flatnonzero(left > 1)
        rest, begins, left = rest[which], begins[which], left[which]
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
    if len(lengths) == 1:
        return np.array([values.sum(dtype=np.int64)])
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, dtype=np.int64, out=sums[1:])
    ends = np.cumsum(lengths)
    totals: Integers = sums[ends] - sums[ends - lengths]
    return totals


def mask_members(wanted: NDArray[Any], known: NDArray[Any]) -> Mask:
    """Return which of the wanted numbers are among the known ones; both are ascending."""
    if not len(known):
        return np.zeros(len(wanted), np.bool_)
    places = np.searchsorted(known, wanted)
    places[places == len(known)] = 0
    mask: Mask = known[places] == wanted
    return mask


@dataclass(slots=True)
class Postings:
    """The postings of several terms, one term after the other.

    ``sizes`` has the number of records of each term, ``records`` and ``counts`` have one number per posting. ``steps``
    has one byte per occurrence, and ``rest`` continues those that are 255.
    """

    sizes: Integers
    records: Numbers
    counts: Integers
    steps: Bytes
    rest: Numbers

    def select(self, kept: Mask) -> "Postings":
        """Return some of the postings; ``kept`` has one value per posting."""
        counts = self.counts[kept]
        if len(counts) * 4 > len(self.counts):
            there = np.repeat(kept, self.counts)
            rest = self.rest[there[self.steps == _ESCAPE]] if len(self.rest) else self.rest
            return Postings(sum_ranges(kept, self.sizes), self.records[kept], counts, self.steps[there], rest)
        ends = np.cumsum(self.counts)
        begins = (ends - self.counts)[kept]
        steps = gather(self.steps, begins, counts)
        rest = self.rest
        if len(rest):
            large = np.flatnonzero(self.steps == _ESCAPE)
            first = np.searchsorted(large, begins)
            rest = gather(rest, first, np.searchsorted(large, begins + counts) - first)
        return Postings(sum_ranges(kept, self.sizes), self.records[kept], counts, steps, rest)

    def find_keys(self) -> Integers:
        """Return each occurrence as one number: the record in the high 32 bits, the position in the low ones."""
        steps: NDArray[Any] = self.steps
        if len(self.rest):
            steps = steps.astype(np.int64)
            steps[self.steps == _ESCAPE] += self.rest
        keys = np.cumsum(steps, dtype=np.int64)
        begins = np.cumsum(self.counts) - self.counts
        bases = (self.records.astype(np.int64) << 32) - (keys[begins] - steps[begins])
        keys += np.repeat(bases, self.counts)
        return keys


def build_plain_postings(sizes: Integers, records: NDArray[np.uint32]) -> Postings:
    """Return postings without positions."""
    none = np.empty(0, np.int64)
    return Postings(sizes, records, none, none.astype(np.uint8), none.astype(np.uint32))


def build_postings(sizes: Integers, records: Numbers, counts: Integers, positions: NDArray[Any]) -> Postings:
    """Return the postings of several terms with these positions; those of one posting ascend."""
    steps = positions.copy()
    steps[1:] -= positions[:-1]
    begins = np.cumsum(counts) - counts
    steps[begins] = positions[begins]
    large = steps[steps >= _ESCAPE]
    return Postings(
        sizes, records, counts, np.minimum(steps, _ESCAPE).astype(np.uint8), (large - _ESCAPE).astype(np.uint32)
    )


Streams = list[tuple[Bytes, Integers]]
"""Encoded postings, and their length for each term."""


def encode_records(sizes: Integers, records: Numbers) -> Streams:
    """Return the stream of postings without positions."""
    return [_encode_records(sizes, records, None)]


def _encode_records(sizes: Integers, records: Numbers, more: Mask | None) -> tuple[Bytes, Integers]:
    steps = records.astype(np.int32)
    steps[1:] -= records[:-1].astype(np.int32)
    first = (np.cumsum(sizes) - sizes)[sizes > 0]
    steps[first] = records[first]
    if more is not None:
        steps <<= 1
        steps |= more
    encoded, lengths = encode_varints(steps)
    return encoded, sum_ranges(lengths, sizes)


def encode_words(block: Postings) -> Streams:
    """Return the streams of postings with positions."""
    more = block.counts > 1
    occurrences = sum_ranges(block.counts, block.sizes)
    counts, count_lengths = encode_varints(block.counts[more] - 2)
    rest, rest_lengths = encode_varints(block.rest)
    if len(rest):
        rest_lengths = sum_ranges(rest_lengths, sum_ranges(block.steps == _ESCAPE, occurrences))
    else:
        rest_lengths = np.zeros(len(block.sizes), np.int64)
    return [
        _encode_records(block.sizes, block.records, more),
        (counts, sum_ranges(count_lengths, sum_ranges(more, block.sizes))),
        (block.steps, occurrences),
        (rest, rest_lengths),
    ]


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
    if len(sizes) == 1:
        sums = np.cumsum(steps, dtype=np.int64)
    else:
        sums = np.cumsum(steps, dtype=np.int64)
        first = (np.cumsum(sizes) - sizes)[sizes > 0]
        sums -= np.repeat(sums[first] - steps[first], sizes[sizes > 0])
    if len(sums) and int(sums.max()) >= limit:
        raise ValueError("a record number is too large")
    return sums.astype(np.uint32)


class WordPostings:
    """The postings of several words; counts and positions are decoded on demand.

    Args:
        read: returns one of the four streams, for all words.
        lengths: the length of the first stream for each word.
        limit: a number that is larger than all records.
    """

    def __init__(self, read: Callable[[int], Bytes], lengths: Integers, limit: int) -> None:
        self._read = read
        data = read(0)
        if len(lengths) == 1 and len(data) and data.max() < 128:  # one frequent word
            self.sizes = lengths
            self._more = (data & 1).view(np.bool_)
            self.records = np.cumsum(data >> 1, dtype=np.uint32)
            if self.records[-1] >= limit:
                raise ValueError("a record number is too large")
            return
        self.sizes, values = _decode_sizes(data, lengths)
        self._more = (values & 1).astype(np.bool_)
        self.records = _sum_steps(self.sizes, values >> 1, limit)

    @cached_property
    def counts(self) -> Integers:
        """The number of occurrences in each record."""
        return self.count_at(slice(None))

    def count_at(self, places: Any) -> Integers:
        """Return the numbers of occurrences in ``records[places]``."""
        chosen = self._more[places]
        counts = np.ones(len(chosen), np.int64)
        more = np.flatnonzero(chosen)
        if len(more):
            extra = decode_varints(self._read(1))
            if len(extra) != np.count_nonzero(self._more):
                raise ValueError("counts are missing")
            if len(extra) > len(more):
                extra = extra[np.cumsum(self._more, dtype=np.uint32)[places[more]] - 1]
            counts[more] = extra
            counts[more] += 2
        return counts

    def read_postings(self) -> Postings:
        """Return the postings with their positions."""
        steps, rest = self._read(2), decode_varints(self._read(3))
        if len(steps) != self.counts.sum() or len(rest) != np.count_nonzero(steps == _ESCAPE):
            raise ValueError("positions are missing")
        return Postings(self.sizes, self.records, self.counts, steps, rest)
