"""Write segments of an index: from the terms of records, or by merging other segments.

The terms of some thousand records are collected in memory, sorted and written to a temporary segment. The final segment
is the merge of these, so that memory does not grow with the number of records.
"""

import json
import os
import tempfile
import zlib
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from shutil import copyfileobj
from types import TracebackType
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from entrez_kit.base.errors import StoreError
from entrez_kit.base.private_files import open_private
from entrez_kit.local.index.coding import (
    Block,
    Integers,
    Mask,
    build_block,
    encode_records,
    encode_varints,
    encode_words,
    list_places,
    sum_ranges,
)
from entrez_kit.local.index.segment import (
    BOUNDARY,
    COLUMNS,
    FORMAT,
    MAGIC,
    SEPARATOR,
    TRAILER,
    Kind,
    Segment,
    encode_text,
)
from entrez_kit.local.records.sorted_index import SortKeys
from entrez_kit.query.index import RecordTerms

RANKED: Final = ("title", "abstract", "keyword", "mesh")
"""The word lists that a search by relevance uses; the length of a record is the number of words in them."""
MAX_OCCURRENCES: Final = 2_500_000
"""Words, values and numbers that are collected in memory, which takes some 150 MB."""
_CHUNK_BYTES: Final = 4 << 20
_CHUNK_TERMS: Final = 60_000
"""Fewer than 2**16, because numpy sorts 16-bit numbers in linear time."""
_LONGEST: Final = 0xFFFF


@dataclass(frozen=True, slots=True)
class SegmentSummary:
    """A finished segment file: its records, size and the checksum of its data."""

    path: Path
    records: int
    size: int
    checksum: int


class SegmentWriter:
    """Writes one segment; a context manager that removes unfinished files.

    Args:
        path: the file to create.
        limit: the number of words, values and numbers that are kept in memory.
    """

    def __init__(self, path: Path, *, limit: int = MAX_OCCURRENCES) -> None:
        self._path = path
        self._limit = limit
        self._parts: list[Path] = []
        self._clear()

    def _clear(self) -> None:
        self._words: defaultdict[str, int] = defaultdict(count().__next__)
        self._values: defaultdict[str, int] = defaultdict(count().__next__)
        self._get_word = self._words.__getitem__
        self._get_value = self._values.__getitem__
        self._lists: defaultdict[tuple[Kind, str], int] = defaultdict(count().__next__)
        self._word_ids, self._value_ids = array("I"), array("I")
        self._word_groups, self._value_groups = array("I"), array("I")
        self._pieces = array("I")
        self._numbers: defaultdict[str, tuple[array[int], array[int]]] = defaultdict(lambda: (array("q"), array("I")))
        self._dates, self._pmids, self._lengths = array("q"), array("q"), array("H")
        self._records = 0

    def add(self, terms: RecordTerms, keys: SortKeys) -> None:
        """Add the next record."""
        record = self._records
        self._records += 1
        lists, words, pieces = self._lists, self._word_ids, self._pieces
        groups = self._word_groups
        for source, texts in terms.texts.items():
            words.extend(map(self._get_word, chain.from_iterable(texts)))
            pieces.extend(map(len, texts))
            groups.extend((lists["words", source], record, len(texts)))
        values, groups = self._value_ids, self._value_groups
        for source, listed in terms.values.items():
            values.extend(map(self._get_value, listed))
            groups.extend((lists["values", source], record, len(listed)))
        for column, numbers in terms.numbers.items():
            known = self._numbers[column]
            known[0].extend(numbers)
            known[1].extend([record] * len(numbers))
        day, author, journal, pmid = keys
        values.extend((self._get_value(author), self._get_value(journal)))
        groups.extend((lists["sort", "author"], record, 1, lists["sort", "journal"], record, 1))
        self._dates.append(day)
        self._pmids.append(pmid)
        length = sum(sum(map(len, terms.texts.get(source, ()))) for source in RANKED)
        self._lengths.append(min(length, _LONGEST))
        if len(words) + len(values) > self._limit:
            self._spill()

    def _spill(self) -> None:
        """Write the collected records to a temporary segment."""
        path = self._path.with_name(f"{self._path.name}.{len(self._parts)}.part")
        with _File(path) as file:
            for kind, source, terms, block in chain(self._sort_numbers(), self._sort_values(), self._sort_words()):
                with _ListFile(file, kind, source) as listed:
                    listed.add(terms, block)
            columns = (np.array(self._dates), np.array(self._pmids), np.array(self._lengths))
            file.finish(self._records, [columns], np.empty(0, np.int64))
        self._parts.append(path)
        self._clear()

    def _sort_words(self) -> Iterator[tuple[Kind, str, list[str], Block]]:
        """Yield the words of each word list with their postings."""
        listed, records, piece_counts = np.array(self._word_groups, np.int64).reshape(-1, 3).T
        lengths = np.array(self._pieces, np.int64)
        sizes = sum_ranges(lengths, piece_counts)
        ids = np.frombuffer(self._word_ids, np.uint32) if self._word_ids else np.empty(0, np.uint32)
        begins = np.cumsum(sizes) - sizes
        positions = np.arange(len(ids)) - np.repeat(begins, sizes)
        # The values but the first of each list begin with a boundary.
        first = np.cumsum(piece_counts) - piece_counts
        starts = np.cumsum(lengths) - lengths - np.repeat(begins, piece_counts)
        later = np.ones(len(lengths), np.bool_)
        later[first[piece_counts > 0]] = False
        group = np.repeat(np.arange(len(sizes)), piece_counts)[later]
        boundary = np.full(len(group), self._get_word(BOUNDARY), np.uint32)
        lists = np.concatenate((np.repeat(listed, sizes), listed[group]))
        yield from self._group(
            self._words,
            lists,
            np.concatenate((ids, boundary)),
            np.concatenate((np.repeat(records, sizes), records[group])),
            np.concatenate((positions, starts[later])),
        )

    def _sort_values(self) -> Iterator[tuple[Kind, str, list[str], Block]]:
        """Yield the values of each value list with their postings."""
        listed, records, sizes = np.array(self._value_groups, np.int64).reshape(-1, 3).T
        ids = np.array(self._value_ids, np.uint32)
        yield from self._group(self._values, np.repeat(listed, sizes), ids, np.repeat(records, sizes))

    def _group(
        self,
        vocabulary: dict[str, int],
        lists: Integers,
        ids: NDArray[Any],
        records: Integers,
        positions: Integers | None = None,
    ) -> Iterator[tuple[Kind, str, list[str], Block]]:
        """Sort occurrences in order of records by list and term, and yield the terms of each list."""
        ordered = sorted(vocabulary)
        if "\0" in "".join(ordered):  # the separator of terms; no query can contain it
            kept = np.isin(ids, [number for text, number in vocabulary.items() if "\0" in text], invert=True)
            lists, ids, records = lists[kept], ids[kept], records[kept]
        ranks = np.empty(len(ordered), np.int64)
        ranks[np.fromiter(map(vocabulary.__getitem__, ordered), np.int64, len(ordered))] = np.arange(len(ordered))
        codes = ranks[ids]
        codes += lists * len(ordered)
        order = _sort_codes(codes)
        codes, records = codes[order], records[order]
        starts = _mask_changes(codes)
        new = starts | _mask_changes(records)
        postings = np.flatnonzero(new)
        firsts = np.flatnonzero(starts[postings])
        terms = codes[postings[firsts]]
        sizes = np.diff(np.append(firsts, len(postings)))
        counts = np.diff(np.append(postings, len(codes)))
        of_postings = records[postings].astype(np.uint32)
        if positions is not None:
            positions = positions[order]
        bounds = np.searchsorted(terms, np.arange(len(self._lists) + 1) * len(ordered)).tolist()
        for (kind, source), number in sorted(self._lists.items()):
            begin, end = bounds[number : number + 2]
            if begin == end:
                continue
            some = slice(int(firsts[begin]), int(firsts[end]) if end < len(firsts) else len(postings))
            texts = [ordered[rank] for rank in (terms[begin:end] - number * len(ordered)).tolist()]
            if positions is None:
                block = _build_plain(sizes[begin:end], of_postings[some])
            else:
                last = int(postings[some.stop]) if some.stop < len(postings) else len(codes)
                block = build_block(
                    sizes[begin:end], of_postings[some], counts[some], positions[int(postings[some.start]) : last]
                )
            yield kind, source, texts, block

    def _sort_numbers(self) -> Iterator[tuple[Kind, str, Integers, Block]]:
        """Yield the numbers of each column with their records."""
        for column, (numbers, records) in sorted(self._numbers.items()):
            pairs = np.unique(np.stack((np.array(numbers), np.array(records, np.int64)), axis=1), axis=0)
            keys, sizes = np.unique(pairs[:, 0], return_counts=True)
            yield "numbers", column, keys, _build_plain(sizes.astype(np.int64), pairs[:, 1].astype(np.uint32))

    def finish(self) -> SegmentSummary:
        """Write the segment; return its size and checksum."""
        if self._records or not self._parts:
            self._spill()
        try:
            if len(self._parts) == 1:
                Path(self._parts[0]).replace(self._path)
                _sync_folder(self._path.parent)
                return _summarize(self._path)
            return merge_segments(self._parts, self._path)
        except OSError as exc:
            raise _write_error(self._path, exc) from exc
        finally:
            self.close()

    def close(self) -> None:
        """Remove all temporary files."""
        for path in self._parts:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        self._parts = []

    def __enter__(self) -> "SegmentWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _build_plain(sizes: Integers, records: NDArray[np.uint32]) -> Block:
    """Return postings without positions."""
    none = np.empty(0, np.int64)
    return Block(sizes, records, none, none.astype(np.uint8), none.astype(np.uint32))


def _mask_changes(values: NDArray[Any]) -> Mask:
    """Return a mask of the values that differ from the one before; the first value counts as different."""
    return np.append(np.ones(min(1, len(values)), np.bool_), values[1:] != values[:-1])


def _sort_codes(codes: Integers) -> Integers:
    """Return the order of numbers, equal ones in their own order; numpy sorts 16-bit numbers in linear time."""
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    shift = 16
    most = int(codes.max()) if len(codes) else 0
    while most >> shift:
        order = order[np.argsort((codes >> shift).astype(np.uint16)[order], kind="stable")]
        shift += 16
    return order


def merge_segments(segments: Sequence[Path], path: Path, removed: BitMap | None = None) -> SegmentSummary:
    """Merge segments into one; their records keep their order and their number in the whole.

    Args:
        segments: the files, in order.
        path: the file to create; it may be one of the segments.
        removed: records to drop, numbered from 0 over all these segments. They keep their numbers and find nothing.

    Raises:
        StoreError: a segment is damaged, or the file cannot be written.
    """
    opened = [Segment(one) for one in segments]
    bases = [0, *np.cumsum([one.records for one in opened]).tolist()]
    kept: list[Mask | None] = []
    for segment, base in zip(opened, bases, strict=False):
        gone = _get_range(removed or BitMap(), base, base + segment.records)
        mask = None
        if len(gone):
            mask = np.ones(segment.records, np.bool_)
            mask[gone - base] = False
        kept.append(mask)
    try:
        with _File(path) as file:
            for kind, source in sorted({name for one in opened for name in one.lists}):
                with _ListFile(file, kind, source) as listed:
                    _merge_lists(listed, kind, source, opened, bases, kept)
            columns = [
                (one.dates, one.pmids, one.lengths if mask is None else np.where(mask, one.lengths, 0))
                for one, mask in zip(opened, kept, strict=True)
            ]
            dropped = [one.dropped.astype(np.int64) + base for one, base in zip(opened, bases, strict=False)]
            dropped.append(_get_range(removed or BitMap(), 0, bases[-1]))
            file.finish(bases[-1], columns, np.unique(np.concatenate(dropped)))
    except OSError as exc:
        raise _write_error(path, exc) from exc
    return _summarize(path)


def _get_range(records: BitMap, begin: int, end: int) -> Integers:
    """Return the records of a set in a range."""
    found = np.array(records.to_array(), np.int64)
    return found[np.searchsorted(found, begin) : np.searchsorted(found, end)]


def _merge_lists(
    listed: "_ListFile",
    kind: Kind,
    source: str,
    opened: Sequence[Segment],
    bases: Sequence[int],
    kept: Sequence[Mask | None],
) -> None:
    parts = [
        (one.list(kind, source), base, mask, one)
        for one, base, mask in zip(opened, bases, kept, strict=False)
        if one.list(kind, source) is not None
    ]
    known = [part[0] for part in parts if part[0] is not None]
    places = [0] * len(known)
    for last in _choose_bounds(known, kind):
        ends = [_find_place(one, kind, last) if last is not None else len(one) for one in known]
        blocks, names = [], []
        for (one, base, mask, segment), begin, end in zip(parts, places, ends, strict=True):
            if one is None or begin >= end:
                continue
            numbers = np.arange(begin, end)
            if kind == "words":
                block = segment.guard(one.read_words(numbers).read_positions)
            else:
                block = _build_plain(*one.read_records(numbers))
            if mask is not None:
                keep = mask[block.records]
                block = (
                    block.select(keep)
                    if kind == "words"
                    else _build_plain(sum_ranges(keep, block.sizes), block.records[keep])
                )
            block.records = block.records + np.uint32(base)
            names.append(one.keys[begin:end] if kind == "numbers" else segment.guard(one.texts.read, begin, end))
            blocks.append(block)
        places = ends
        if blocks:
            listed.add(*_merge_blocks(names, blocks, kind))


def _choose_bounds(known: Sequence[Any], kind: Kind) -> Iterator[bytes | int | None]:
    """Yield the terms at which a merge begins a new chunk, then None."""
    largest = max(known, key=len)
    total = sum(one.measure(0, len(one)) for one in known)
    terms = sum(map(len, known))
    steps = max(1, total // _CHUNK_BYTES, terms // (_CHUNK_TERMS // 2))
    chosen = sorted({len(largest) * step // steps for step in range(1, steps)} - {0})
    yield from ((int(largest.keys[number]) if kind == "numbers" else largest.texts[number]) for number in chosen)
    yield None


def _find_place(listed: Any, kind: Kind, term: bytes | int) -> int:
    return int(np.searchsorted(listed.keys, term)) if kind == "numbers" else bisect_left(listed.texts, term)


def _merge_blocks(names: Sequence[Any], blocks: Sequence[Block], kind: Kind) -> tuple[Any, Block]:
    """Return the terms of several blocks in order, and their postings."""
    terms: Any
    if kind == "numbers":
        terms, numbers = np.unique(np.concatenate(names), return_inverse=True)
    elif len(names) == 1:
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
    else:
        order = _sort_codes(codes)
        if kind == "words":
            merged = _reorder(blocks, order, sizes, records)
        else:
            merged = _build_plain(sizes, records[order])
    used = sizes > 0
    if not used.all():
        merged.sizes = sizes[used]
        terms = (
            terms[used]
            if kind == "numbers"
            else [term for term, size in zip(terms, used.tolist(), strict=True) if size]
        )
    return terms, merged


def _reorder(blocks: Sequence[Block], order: Integers, sizes: Integers, records: NDArray[np.uint32]) -> Block:
    """Return the postings of several blocks in another order."""
    counts = np.concatenate([block.counts for block in blocks])
    steps = np.concatenate([block.steps for block in blocks])
    rest = np.concatenate([block.rest for block in blocks])
    begins = np.cumsum(counts) - counts
    if len(rest):
        large = sum_ranges(steps == 255, counts)
        rest_begins = np.cumsum(large) - large
        rest = rest[list_places(rest_begins[order], large[order])]
    steps = steps[list_places(begins[order], counts[order])]
    return Block(sizes, records[order], counts[order], steps, rest)


class _ListFile:
    """Writes one list of terms; a context manager."""

    def __init__(self, file: "_File", kind: Kind, source: str) -> None:
        self._file = file
        self._kind = kind
        self._source = source
        self._lengths: list[Integers] = []
        self._text_lengths: list[Integers] = []
        self._keys: list[Integers] = []
        self._texts: IO[bytes] = tempfile.TemporaryFile(dir=file.folder)  # noqa: SIM115 - closed by __exit__
        self._begin = file.align()

    def __enter__(self) -> "_ListFile":
        return self

    def add(self, terms: Any, block: Block) -> None:
        """Add terms in order with their postings."""
        if self._kind == "numbers":
            self._keys.append(terms)
        else:
            encoded = [encode_text(term) for term in terms]
            self._text_lengths.append(np.fromiter(map(len, encoded), np.int64, len(encoded)))
            self._texts.write(SEPARATOR.join(encoded) + SEPARATOR)
        data, lengths = encode_words(block) if self._kind == "words" else encode_records(block.sizes, block.records)
        self._lengths.append(lengths)
        self._file.write(data.data)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._texts:
            if kind is None and self._lengths:
                self._close()

    def _close(self) -> None:
        file = self._file
        lengths = np.concatenate(self._lengths)
        described: dict[str, Any] = {
            "kind": self._kind,
            "source": self._source,
            "terms": len(lengths),
            "data": [self._begin, file.place - self._begin],
            "ends": file.write_ends(np.cumsum(lengths)),
        }
        if self._kind == "numbers":
            described["keys"] = file.write_section(np.concatenate(self._keys).astype("<i8"))
        else:
            begin = file.align()
            self._texts.seek(0)
            copyfileobj(self._texts, file)
            described["texts"] = [begin, file.place - begin]
            described["text_ends"] = file.write_ends(np.cumsum(np.concatenate(self._text_lengths) + 1) - 1)
        file.lists.append(described)


class _File:
    """A segment file that is being written under a temporary name; a context manager."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._temporary = path.with_name(f"{path.name}.tmp")
        self.folder = path.parent
        self.lists: list[dict[str, Any]] = []
        self.place = 0
        self._sum = 0
        self._finished = False

    def __enter__(self) -> "_File":
        self._temporary.unlink(missing_ok=True)
        self._file = os.fdopen(open_private(self._temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL), "wb")
        self.write(MAGIC)
        return self

    def write(self, data: bytes | memoryview) -> int:
        """Write data."""
        self._sum = zlib.crc32(data, self._sum)
        self._file.write(data)
        length = data.nbytes if isinstance(data, memoryview) else len(data)
        self.place += length
        return length

    def align(self) -> int:
        """Continue at the next multiple of eight bytes; return this place."""
        self.write(bytes(-self.place % 8))
        return self.place

    def write_section(self, values: NDArray[Any]) -> list[int]:
        """Write an array; return its place and length."""
        begin = self.align()
        self.write(np.ascontiguousarray(values).data.cast("B") if len(values) else b"")
        return [begin, self.place - begin]

    def write_ends(self, ends: Integers) -> list[int]:
        """Write the ends of the terms of a list with four or eight bytes each; return place and length."""
        return self.write_section(ends.astype("<u4" if ends[-1] < 1 << 32 else "<u8"))

    def finish(self, records: int, columns: Sequence[Sequence[NDArray[Any]]], dropped: Integers) -> None:
        """Write the columns, the header and the trailer, and rename the file.

        Args:
            records: the number of records.
            columns: the publication dates, the PMIDs and the lengths of all records, in one or more parts.
            dropped: the records that find nothing.
        """
        header: dict[str, Any] = {"format": FORMAT, "records": records, "lists": self.lists}
        for (name, dtype), parts in zip(COLUMNS.items(), zip(*columns, strict=True), strict=True):
            begin = self.align()
            for part in parts:
                self.write(np.ascontiguousarray(part.astype(dtype)).data.cast("B") if len(part) else b"")
            header[name] = [begin, self.place - begin]
        header["dropped"] = self.write_section(encode_varints(dropped)[0])
        encoded = json.dumps(header).encode()
        trailer = TRAILER.pack(self.place, len(encoded), zlib.crc32(encoded), self._sum, MAGIC)
        self._file.write(encoded + trailer)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        Path(self._temporary).replace(self._path)
        _sync_folder(self._path.parent)
        self._finished = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()
        if not self._finished:
            with suppress(OSError):
                self._temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Write a rename to the disk; not all systems can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _summarize(path: Path) -> SegmentSummary:
    segment = Segment(path)
    return SegmentSummary(path, segment.records, segment.size, segment.checksum)


def _write_error(path: Path, exc: OSError) -> StoreError:
    return StoreError(
        f"The index file {path.name} cannot be written: {exc.strerror or type(exc).__name__}.",
        details={"reason": "unwritable_index", "path": str(path)},
    )
