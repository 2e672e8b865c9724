"""Write segments of an index: from the terms of records, or by merging other segments.

The terms of some thousand records are collected in memory, sorted and written to a temporary segment. The final segment
is the merge of these, so that memory does not grow with the number of records. A small collection has its segments in
memory.
"""

import io
import json
import os
import secrets
import tempfile
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from shutil import copyfileobj
from types import TracebackType
from typing import IO, Any, Final, cast

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from entrez_kit.base.errors import StoreError
from entrez_kit.base.private_files import open_private
from entrez_kit.query.record_terms import RecordTerms, SortKeys
from entrez_kit.query.segments.coding import (
    Block,
    Bytes,
    Integers,
    Mask,
    Numbers,
    build_block,
    encode_records,
    encode_varints,
    encode_words,
    gather,
    list_places,
    sum_ranges,
)
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.segments.segment import (
    BOUNDARY,
    COLUMNS,
    FORMAT,
    MAGIC,
    SEPARATOR,
    TRAILER,
    Kind,
    Segment,
    TermList,
    encode_number,
    encode_text,
)

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
_MAX_PENDING: Final = 100_000
"""Terms that are kept as strings, some 6 MB."""
_SPOOLED: Final = 4 << 20
_SORTABLE: Final = 64
"""Bytes of the longest text that numpy sorts; longer ones would need much memory."""
_KEPT: Final = np.array([(1 << 8 * length) - 1 for length in range(9)], np.uint64)
"""Masks of the first bytes of eight."""
_MULTIPLIERS: Final = np.array([secrets.randbits(64) | 1, secrets.randbits(64) | 1], np.uint64)


class _Collected:
    """The terms of the next records of a segment."""

    def __init__(self) -> None:
        self._lists: defaultdict[tuple[Kind, str], _Terms] = defaultdict(_Terms)
        self._dates, self._pmids, self._lengths = array("q"), array("q"), array("H")
        self._pending = 0
        self.occurrences = 0
        """The number of words, values and numbers."""

    def __len__(self) -> int:
        return len(self._pmids)

    def add(self, terms: RecordTerms, keys: SortKeys) -> None:
        """Add the next record."""
        record = len(self)
        count, ranked = _PER_RECORD, 0
        for source, texts in terms.texts.items():
            listed = self._lists["words", source]
            pending, pieces = listed.pending, listed.pieces
            before = len(pending)
            for words in texts:
                pending += words
                pieces.append(len(words))
            listed.groups += (record, len(texts))
            length = len(pending) - before
            count += length
            if source in RANKED:
                ranked += length
        day, author, journal, pmid = keys
        numbers = {column: list(map(encode_number, known)) for column, known in terms.numbers.items()}
        sort = {source: [text] for source, text in (("author", author), ("journal", journal)) if text}
        kinds: Sequence[tuple[Kind, Mapping[str, Sequence[str]]]] = (
            ("values", terms.values),
            ("numbers", numbers),
            ("sort", sort),
        )
        for kind, lists in kinds:
            for source, values in lists.items():
                listed = self._lists[kind, source]
                listed.pending += values
                listed.groups += (record, len(values))
                count += len(values)
        self._dates.append(day)
        self._pmids.append(pmid)
        self._lengths.append(min(ranked, _LONGEST))
        self.occurrences += count
        self._pending += count
        if self._pending > _MAX_PENDING:
            self._pending = 0
            for listed in self._lists.values():
                listed.pack()

    def encode(self) -> bytes:
        """Return a segment of these records, whose terms are forgotten."""
        file = io.BytesIO()
        self.write(_File(file))
        return file.getvalue()

    def write(self, file: "_File") -> None:
        """Write a segment of these records, whose terms are forgotten."""
        for kind, source in sorted(self._lists):
            with _ListFile(file, kind, source) as listed:
                listed.add(*self._lists.pop((kind, source)).sort(with_positions=kind == "words"))
        columns = (np.array(self._dates), np.array(self._pmids), np.array(self._lengths))
        file.finish(len(self), [columns], np.empty(0, np.int64))


def index_records(records: Iterable[tuple[RecordTerms, SortKeys]]) -> SearchIndex:
    """Return an index in memory."""
    return SearchIndex([Segment(Path("memory"), data) for data in encode_segments(records)])


def encode_segments(records: Iterable[tuple[RecordTerms, SortKeys]]) -> Iterator[bytes]:
    """Yield the content of the segments of some records, each with at most ``MAX_OCCURRENCES``."""
    collected = _Collected()
    for terms, keys in records:
        collected.add(terms, keys)
        if collected.occurrences > MAX_OCCURRENCES:
            yield collected.encode()
            collected = _Collected()
    yield collected.encode()


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
        self._collected = _Collected()

    def add(self, terms: RecordTerms, keys: SortKeys) -> None:
        """Add the next record.

        Raises:
            StoreError: a file cannot be written.
        """
        self._collected.add(terms, keys)
        if self._collected.occurrences > self._limit:
            with _translate_errors(self._path):
                self._write_part()

    def _write_part(self) -> None:
        """Write the collected records to a temporary segment."""
        path = self._path.with_name(f"{self._path.name}.{len(self._parts)}.part")
        with _create(path, lasting=False) as file:
            self._collected.write(file)
        self._parts.append(path)
        self._collected = _Collected()

    def finish(self) -> Segment:
        """Write the segment and open it.

        Raises:
            StoreError: a file cannot be written.
        """
        try:
            with _translate_errors(self._path):
                if not self._parts:
                    with _create(self._path) as file:
                        self._collected.write(file)
                    return Segment(self._path)
                if len(self._collected):
                    self._write_part()
                return merge_segments(self._parts, self._path)
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
                self._texts += encode_text(text)
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

    def sort(self, *, with_positions: bool) -> tuple[list[str], Block]:
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
        hashes = _hash_texts(text, begins, ends - begins)
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


def _hash_texts(text: Bytes, begins: Integers, lengths: Integers) -> NDArray[np.uint64]:
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
    order = _sort_codes(hashes.astype(np.uint32))
    ordered = hashes[order]
    changes = ordered[1:] != ordered[:-1]
    collided = changes & (ordered[1:].astype(np.uint32) == ordered[:-1].astype(np.uint32))
    if collided.any():  # two hashes have the same lower half
        low = ordered.astype(np.uint32)
        places = np.flatnonzero(np.isin(low, low[1:][collided]))
        some = order[places]
        order[places] = some[np.lexsort((some, hashes[some], hashes[some].astype(np.uint32)))]
    return order


def _group(lengths: Integers, records: Numbers, positions: NDArray[np.int32] | None) -> Block:
    """Return the postings of occurrences, which are in order of terms and records."""
    new = np.ones(len(records), np.bool_)
    new[1:] = records[1:] != records[:-1]
    new[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
    postings = np.flatnonzero(new)
    sizes = sum_ranges(new, lengths)
    if positions is None:
        return _build_plain(sizes, records[postings])
    return build_block(sizes, records[postings], np.diff(np.append(postings, len(records))), positions)


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


def merge_segments(segments: Sequence[Path], path: Path, removed: BitMap | None = None) -> Segment:
    """Merge segments into one, and open it; their records keep their order and their number in the whole.

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
    with _translate_errors(path), _create(path) as file:
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
    return Segment(path)


def _get_range(records: BitMap, begin: int, end: int) -> Integers:
    """Return the records of a set in a range."""
    numbers = np.array(records.to_array(), np.int64)
    return numbers[np.searchsorted(numbers, begin) : np.searchsorted(numbers, end)]


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
    for last in _choose_bounds(known):
        ends = [one.texts.find_place(last) if last is not None else len(one) for one in known]
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
            names.append(segment.guard(one.texts.read, begin, end))
            blocks.append(block)
        places = ends
        if blocks:
            listed.add(*_merge_blocks(names, blocks, kind))
        del blocks, names
        for segment in opened:
            segment.release()


def _choose_bounds(known: Sequence[TermList]) -> Iterator[bytes | None]:
    """Yield the terms at which a merge begins a new chunk, then None. A frequent term has a chunk of its own."""
    largest = max(known, key=len)
    share = len(largest) / sum(map(len, known))
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


def _merge_blocks(names: Sequence[list[str]], blocks: Sequence[Block], kind: Kind) -> tuple[list[str], Block]:
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
        order = _sort_codes(codes)
        if kind == "words":
            merged = _reorder(blocks, order, sizes, records)
        else:
            merged = _build_plain(sizes, records[order])
    used = sizes > 0
    if not used.all():
        merged.sizes = sizes[used]
        terms = [term for term, is_used in zip(terms, used.tolist(), strict=True) if is_used]
    return terms, merged


def _join(blocks: Sequence[Block]) -> Block:
    """Return the postings of one term, which several blocks have in order."""
    return Block(
        np.array([sum(len(block.records) for block in blocks)]),
        np.concatenate([block.records for block in blocks]),
        np.concatenate([block.counts for block in blocks]),
        np.concatenate([block.steps for block in blocks]),
        np.concatenate([block.rest for block in blocks]),
    )


def _reorder(blocks: Sequence[Block], order: Integers, sizes: Integers, records: NDArray[np.uint32]) -> Block:
    """Return the postings of several blocks in another order."""
    joined = _join(blocks)
    counts, steps, rest = joined.counts, joined.steps, joined.rest
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
        self._begin = file.align()
        self._texts = self._open()
        self._others: list[IO[bytes]] = [self._open() for _ in range(3 if kind == "words" else 0)]

    def _open(self) -> IO[bytes]:
        """Return a temporary file, which is in memory while it is small."""
        return cast(IO[bytes], tempfile.SpooledTemporaryFile(_SPOOLED, "w+b", dir=self._file.folder))

    def __enter__(self) -> "_ListFile":
        return self

    def add(self, terms: Sequence[str], block: Block) -> None:
        """Add terms in order with their postings."""
        if not len(block.sizes):
            return
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
        described = {
            "kind": self._kind,
            "source": self._source,
            "terms": len(ends) - 1,
            "streams": [[self._begin, file.place - self._begin], *map(self._copy, self._others)],
            "ends": file.write_ends(ends),
            "texts": self._copy(self._texts),
            "text_ends": file.write_ends(np.concatenate(self._text_ends)),
        }
        file.lists.append(described)


@contextmanager
def _create(path: Path, *, lasting: bool = True) -> Iterator["_File"]:
    """Provide a segment file under a temporary name, which is renamed at the end, or removed after an error."""
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    try:
        with os.fdopen(open_private(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL), "wb") as file:
            yield _File(file, str(path.parent))
            file.flush()
            if lasting:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    if lasting:
        _sync_folder(path.parent)


class _File:
    """A segment that is being written.

    Args:
        file: the segment.
        folder: the folder for temporary files; by default that of the system.
    """

    def __init__(self, file: IO[bytes], folder: str | None = None) -> None:
        self._file = file
        self.folder = folder
        self.lists: list[dict[str, Any]] = []
        self.place = 0
        self._sum = 0
        self.write(MAGIC)

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
        """Write the columns, the header and the trailer.

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


def _sync_folder(folder: Path) -> None:
    """Write a rename to the disk; not all systems can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Raise a StoreError if a file cannot be written."""
    try:
        yield
    except OSError as exc:
        raise StoreError(
            f"The index file {path.name} cannot be written: {exc.strerror or type(exc).__name__}.",
            details={"reason": "unwritable_index", "path": str(path)},
        ) from exc
