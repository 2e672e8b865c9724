"""Merge segments of an index into one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from entrez_kit.query.segments.coding import Integers, Mask, Postings, build_plain_postings, list_places, sum_ranges
from entrez_kit.query.segments.segment import SEPARATOR, Kind, Segment, TermList
from entrez_kit.query.segments.segment_file import ListFile, convert_write_errors, create_segment_file
from entrez_kit.query.segments.sort_terms import sort_codes

_CHUNK_BYTES: Final = 4 << 20
_CHUNK_TERMS: Final = 60_000
"""Fewer than 2**16, because numpy sorts 16-bit numbers in linear time."""


@dataclass(frozen=True, slots=True)
class _SegmentPart:
    """A segment to merge, the number of its first record in the whole, and which of its records are kept."""

    segment: Segment
    base: int
    kept: Mask | None


def merge_segments(segments: Sequence[Path], path: Path, removed: BitMap | None = None) -> Segment:
    """Merge segments into one, and open it; their records keep their order and their number in the whole.

    Args:
        segments: the files, in order.
        path: the file to create; it may be one of the segments.
        removed: records to drop, numbered from 0 over all these segments. They keep their numbers; no search finds
            them.

    Raises:
        StoreError: a segment is damaged, or the file cannot be written.
    """
    dropped = np.array((removed or BitMap()).to_array(), np.int64)
    parts: list[_SegmentPart] = []
    size = 0
    for segment in map(Segment, segments):
        parts.append(_SegmentPart(segment, size, _mask_kept(dropped, size, segment.records)))
        size += segment.records
    with convert_write_errors(path), create_segment_file(path) as file:
        for kind, source in sorted({name for part in parts for name in part.segment.lists}):
            with ListFile(file, kind, source) as listed:
                _merge_lists(listed, kind, source, parts)
        columns = [
            (
                part.segment.dates,
                part.segment.pmids,
                part.segment.lengths if part.kept is None else np.where(part.kept, part.segment.lengths, 0),
            )
            for part in parts
        ]
        dropped_before = [part.segment.dropped.astype(np.int64) + part.base for part in parts]
        all_dropped = np.concatenate([*dropped_before, dropped[dropped < size]])
        file.finish(size, columns, np.unique(all_dropped))
    return Segment(path)


def _mask_kept(dropped: Integers, base: int, count: int) -> Mask | None:
    """Return which records of a segment are kept; None if all of them are."""
    gone = dropped[np.searchsorted(dropped, base) : np.searchsorted(dropped, base + count)]
    if not len(gone):
        return None
    mask = np.ones(count, np.bool_)
    mask[gone - base] = False
    return mask


def _merge_lists(file: ListFile, kind: Kind, source: str, parts: Sequence[_SegmentPart]) -> None:
    """Write the merge of the lists of this kind and source, some terms at a time."""
    lists = [(listed, part) for part in parts if (listed := part.segment.list(kind, source)) is not None]
    begins = [0] * len(lists)
    for bound in _choose_bounds([listed for listed, _ in lists]):
        ends = [len(listed) if bound is None else listed.texts.find_place(bound) for listed, _ in lists]
        blocks, names = [], []
        for (listed, part), begin, end in zip(lists, begins, ends, strict=True):
            if begin < end:
                blocks.append(_read_postings(listed, part, kind, np.arange(begin, end)))
                names.append(part.segment.guard(listed.texts.read, begin, end))
        begins = ends
        if blocks:
            file.add(*_merge_postings(names, blocks, kind))
        del blocks, names
        for part in parts:
            part.segment.release()


def _read_postings(listed: TermList, part: _SegmentPart, kind: Kind, numbers: Integers) -> Postings:
    """Return the postings of some terms, with the kept records as they are numbered in the whole."""
    if kind == "words":
        block = part.segment.guard(listed.read_words(numbers).read_postings)
        block = block if part.kept is None else block.select(part.kept[block.records])
    else:
        block = build_plain_postings(*listed.read_records(numbers))
        if part.kept is not None:
            keep = part.kept[block.records]
            block = build_plain_postings(sum_ranges(keep, block.sizes), block.records[keep])
    block.records = block.records + np.uint32(part.base)
    return block


def _choose_bounds(lists: Sequence[TermList]) -> Iterator[bytes | None]:
    """Yield the terms at which a merge begins a new chunk, then None. A frequent term has a chunk of its own."""
    largest = max(lists, key=len)
    share = len(largest) / sum(map(len, lists))
    sizes = largest.sizes
    begins = np.cumsum(sizes) - sizes
    chunk_bytes, chunk_terms = max(1, int(_CHUNK_BYTES * share)), max(1, int(_CHUNK_TERMS / 2 * share))
    frequent = set(np.flatnonzero(sizes > chunk_bytes).tolist())
    begun = np.diff(begins // chunk_bytes, prepend=0) + np.diff(np.arange(len(sizes)) // chunk_terms, prepend=0)
    for number in sorted({*np.flatnonzero(begun).tolist(), *frequent}):
        yield largest.texts[number]
        if number in frequent:  # the least term that is greater
            yield largest.texts[number] + SEPARATOR
    yield None


def _merge_postings(names: Sequence[list[str]], blocks: Sequence[Postings], kind: Kind) -> tuple[list[str], Postings]:
    """Return the terms of several blocks in order, and their postings."""
    if len(names) == 1:
        terms, numbers = names[0], np.arange(len(names[0]))
    else:
        terms = sorted(set(chain.from_iterable(names)))
        places = dict(zip(terms, range(len(terms)), strict=True))
        total = sum(map(len, names))
        numbers = np.fromiter(map(places.__getitem__, chain.from_iterable(names)), np.int64, total)
    of_terms = np.concatenate([block.sizes for block in blocks])
    codes = np.repeat(numbers, of_terms)
    sizes = np.bincount(codes, minlength=len(terms))
    records = np.concatenate([block.records for block in blocks])
    if len(blocks) == 1:
        merged = blocks[0]
    elif len(terms) == 1:
        merged = _join(blocks)
    else:
        order = sort_codes(codes)
        if kind == "words":
            merged = _reorder(blocks, order, sizes, records)
        else:
            merged = build_plain_postings(sizes, records[order])
    used = sizes > 0
    if not used.all():
        merged.sizes = sizes[used]
        terms = [term for term, is_used in zip(terms, used.tolist(), strict=True) if is_used]
    return terms, merged


def _join(blocks: Sequence[Postings]) -> Postings:
    """Return the postings of one term, which several blocks have in order."""
    return Postings(
        np.array([sum(len(block.records) for block in blocks)]),
        np.concatenate([block.records for block in blocks]),
        np.concatenate([block.counts for block in blocks]),
        np.concatenate([block.steps for block in blocks]),
        np.concatenate([block.rest for block in blocks]),
    )


def _reorder(blocks: Sequence[Postings], order: Integers, sizes: Integers, records: NDArray[np.uint32]) -> Postings:
    """Return the postings of several blocks in another order."""
    joined = _join(blocks)
    counts, steps, rest = joined.counts, joined.steps, joined.rest
    begins = np.cumsum(counts) - counts
    if len(rest):
        large = sum_ranges(steps == 255, counts)
        rest_begins = np.cumsum(large) - large
        rest = rest[list_places(rest_begins[order], large[order])]
    steps = steps[list_places(begins[order], counts[order])]
    return Postings(sizes, records[order], counts[order], steps, rest)
