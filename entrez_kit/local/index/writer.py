"""Write segments of an index: from the terms of records, or by merging other segments.

The terms of some thousand records are collected in memory, sorted and written to a temporary segment. The final segment
is the merge of these, so that memory does not grow with the number of records.
"""

import json
import os
import tempfile
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import chain
from itertools import count as count_up
from pathlib import Path
from shutil import copyfileobj
from types import TracebackType
from typing import IO, Any, Final, cast

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from entrez_kit.base.errors import StoreError
from entrez_kit.base.private_files import open_private
from entrez_kit.local.index.coding import (
    Block,
    Integers,
    Mask,
    Numbers,
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

RANKED: Final = frozenset(("title", "abstract", "keyword", "mesh"))
"""The word lists that a search by relevance uses; the length of a record is the number of words in them."""
MAX_OCCURRENCES: Final = 2_500_000
"""Words, values and numbers that are collected in memory, which takes some 150 MB."""
_CHUNK_BYTES: Final = 4 << 20
_CHUNK_TERMS: Final = 60_000
"""Fewer than 2**16, because numpy sorts 16-bit numbers in linear time."""
_LONGEST: Final = 0xFFFF
_PER_RECORD: Final = 20
"""The numbers of a record, and what its lists cost."""
_SPOOLED: Final = 4 << 20


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
        self._lists: defaultdict[tuple[Kind, str], _Terms] = defaultdict(_Terms)
        self._numbers: defaultdict[str, tuple[array[int], array[int]]] = defaultdict(lambda: (array("q"), array("I")))
        self._dates, self._pmids, self._lengths = array("q"), array("q"), array("H")
        self._records = self._occurrences = 0

    def add(self, terms: RecordTerms, keys: SortKeys) -> None:
        """Add the next record."""
        record = self._records
        self._records += 1
        lists = self._lists
        count, ranked = _PER_RECORD, 0
        for source, texts in terms.texts.items():
            listed = lists["words", source]
            if len(texts) == 1:
                length = len(texts[0])
                listed.ids.extend(map(listed.get_id, texts[0]))
                listed.pieces.append(length)
            else:
                lengths = list(map(len, texts))
                length = sum(lengths)
                listed.ids.extend(map(listed.get_id, chain.from_iterable(texts)))
                listed.pieces.extend(lengths)
            count += length
            if source in RANKED:
                ranked += length
            listed.groups.extend((record, len(texts)))
        for source, values in terms.values.items():
            listed = lists["values", source]
            listed.ids.extend(map(listed.get_id, values))
            listed.groups.extend((record, len(values)))
            count += len(values)
        for column, numbers in terms.numbers.items():
            known = self._numbers[column]
            known[0].extend(numbers)
            known[1].extend([record] * len(numbers))
        day, author, journal, pmid = keys
        for source, text in (("author", author), ("journal", journal)):
            listed = lists["sort", source]
            listed.ids.append(listed.get_id(text))
            listed.groups.extend((record, 1))
        self._dates.append(day)
        self._pmids.append(pmid)
        self._lengths.append(min(ranked, _LONGEST))
        self._occurrences += count
        if self._occurrences > self._limit:
            self._spill()

    def _spill(self) -> None:
        """Write the collected records to a temporary segment."""
        path = self._path.with_name(f"{self._path.name}.{len(self._parts)}.part")
        with _File(path) as file:
            for column, numbers in sorted(self._numbers.items()):
                with _ListFile(file, "numbers", column) as listed:
                    listed.add(*_sort_numbers(*numbers))
            for kind, source in sorted(self._lists):
                with _ListFile(file, kind, source) as listed:
                    listed.add(*self._lists.pop((kind, source)).sort(with_positions=kind == "words"))
            columns = (np.array(self._dates), np.array(self._pmids), np.array(self._lengths))
            file.finish(self._records, [columns], np.empty(0, np.int64))
        self._parts.append(path)
        self._clear()

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


class _Terms:
    """The terms of one list in order of records."""

    def __init__(self) -> None:
        self._vocabulary: defaultdict[str, int] = defaultdict(count_up().__next__)
        self.get_id = self._vocabulary.__getitem__
        self.ids = array("I")
        self.pieces = array("I")
        """The number of words of each value."""
        self.groups = array("I")
        """The number of each record, and the number of its values."""

    def sort(self, *, with_positions: bool) -> tuple[list[str], Block]:
        """Return the terms in order and their postings."""
        records, sizes = np.array(self.groups, np.int64).reshape(-1, 2).T
        ids = np.array(self.ids)
        if not with_positions:
            return self._group(ids, np.repeat(records, sizes), None)
        lengths = np.array(self.pieces, np.int64)
        several = len(lengths) > len(sizes)
        pieces, sizes = sizes, sum_ranges(lengths, sizes)
        begins = np.cumsum(sizes) - sizes
        positions = np.arange(len(ids), dtype=np.int32) - np.repeat(begins.astype(np.int32), sizes)
        if several:  # the values but the first of each record begin with a boundary
            starts = np.cumsum(lengths) - lengths - np.repeat(begins, pieces)
            later = np.ones(len(lengths), np.bool_)
            later[(np.cumsum(pieces) - pieces)[pieces > 0]] = False
            group = np.repeat(np.arange(len(sizes)), pieces)[later]
            ids = np.append(ids, np.full(len(group), self.get_id(BOUNDARY), np.uint32))
            positions = np.append(positions, starts[later].astype(np.int32))
            records = np.append(np.repeat(records, sizes), records[group])
        else:
            records = np.repeat(records, sizes)
        return self._group(ids, records, positions)

    def _group(self, ids: Numbers, records: Integers, positions: NDArray[np.int32] | None) -> tuple[list[str], Block]:
        """Sort occurrences, which are in order of records, by term."""
        vocabulary = self._vocabulary
        ordered = sorted(vocabulary)
        if "\0" in "".join(ordered):  # the separator of terms; no query can contain it
            kept = np.isin(ids, [number for text, number in vocabulary.items() if "\0" in text], invert=True)
            ids, records = ids[kept], records[kept]
            ordered = [text for text in ordered if "\0" not in text]
        ranks = np.zeros(len(vocabulary), np.uint32)
        ranks[np.fromiter(map(vocabulary.__getitem__, ordered), np.int64, len(ordered))] = np.arange(len(ordered))
        codes = ranks[ids]
        order = _sort_codes(codes)
        codes, sorted_records = codes[order], records.astype(np.uint32)[order]
        new = codes[1:] != codes[:-1]
        new |= sorted_records[1:] != sorted_records[:-1]
        postings = np.flatnonzero(np.append(np.ones(min(1, len(codes)), np.bool_), new))
        sizes = np.bincount(codes[postings], minlength=len(ordered))
        sorted_records = sorted_records[postings]
        if positions is None:
            return ordered, _build_plain(sizes, sorted_records)
        counts = np.diff(np.append(postings, len(codes)))
        return ordered, build_block(sizes, sorted_records, counts, positions[order])


def _sort_numbers(numbers: "array[int]", records: "array[int]") -> tuple[Integers, Block]:
    """Return the numbers of a column in order and their records."""
    pairs = np.unique(np.stack((np.array(numbers), np.array(records, np.int64)), axis=1), axis=0)
    keys, sizes = np.unique(pairs[:, 0], return_counts=True)
    return keys, _build_plain(sizes.astype(np.int64), pairs[:, 1].astype(np.uint32))


def _build_plain(sizes: Integers, records: NDArray[np.uint32]) -> Block:
    """Return postings without positions."""
    none = np.empty(0, np.int64)
    return Block(sizes, records, none, none.astype(np.uint8), none.astype(np.uint32))


def _sort_codes(codes: NDArray[Any]) -> Integers:
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
                block = segment.guard(one.read_words(numbers).read_block)
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
    return int(np.searchsorted(listed.keys, term)) if kind == "numbers" else listed.texts.find_place(term)


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
        self._text_ends: list[Integers] = []
        self._keys: list[Integers] = []
        self._begin = file.align()
        self._texts = self._open()
        self._others: list[IO[bytes]] = [self._open() for _ in range(3 if kind == "words" else 0)]

    def _open(self) -> IO[bytes]:
        """Return a temporary file, which is in memory while it is small."""
        return cast(IO[bytes], tempfile.SpooledTemporaryFile(_SPOOLED, "w+b", dir=str(self._file.folder)))

    def __enter__(self) -> "_ListFile":
        return self

    def add(self, terms: Any, block: Block) -> None:
        """Add terms in order with their postings."""
        if self._kind == "numbers":
            self._keys.append(terms)
        else:
            encoded = encode_text("\0".join(terms)) + SEPARATOR
            self._text_ends.append(np.flatnonzero(np.frombuffer(encoded, np.uint8) == 0) + self._texts.tell())
            self._texts.write(encoded)
        streams = encode_words(block) if self._kind == "words" else encode_records(block.sizes, block.records)
        self._lengths.append(np.stack([lengths for _, lengths in streams], axis=1))
        self._file.write(streams[0][0].data)
        for file, (data, _) in zip(self._others, streams[1:], strict=True):
            file.write(data.data)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with ExitStack() as stack:
            for file in (self._texts, *self._others):
                stack.enter_context(file)
            if kind is None and self._lengths:
                self._close()

    def _copy(self, spooled: IO[bytes]) -> list[int]:
        """Copy a temporary file; return its place and length."""
        begin = self._file.align()
        spooled.seek(0)
        copyfileobj(spooled, self._file)
        return [begin, self._file.place - begin]

    def _close(self) -> None:
        file = self._file
        ends = np.concatenate([np.zeros((1, 1 + len(self._others)), np.int64), *self._lengths])
        np.cumsum(ends, axis=0, out=ends)
        described: dict[str, Any] = {
            "kind": self._kind,
            "source": self._source,
            "terms": len(ends) - 1,
            "streams": [[self._begin, file.place - self._begin], *map(self._copy, self._others)],
            "ends": file.write_ends(ends),
        }
        if self._kind == "numbers":
            described["keys"] = file.write_section(np.concatenate(self._keys).astype("<i8"))
        else:
            described["texts"] = self._copy(self._texts)
            described["text_ends"] = file.write_ends(np.concatenate(self._text_ends))
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
        return self.write_section(ends.astype("<u4" if ends.max() < 1 << 32 else "<u8"))

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
