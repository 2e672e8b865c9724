"""Write segments of an index from the terms of records.

The terms of some thousand records are collected in memory, sorted and written to a temporary segment. The final segment
is the merge of these, so that memory does not grow with the number of records. A small collection has its segments in
memory.
"""

import io
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

import numpy as np

from entrez_kit.query.record_terms import RecordTerms, SortKeys
from entrez_kit.query.segments.merge import merge_segments
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.segments.segment import Kind, Segment, encode_number
from entrez_kit.query.segments.segment_file import ListFile, SegmentOutput, convert_write_errors, create_segment_file
from entrez_kit.query.segments.sort_terms import TermSorter

RANKED: Final = frozenset(("title", "abstract", "keyword", "mesh"))
"""The word lists that a search by relevance uses; the length of a record is the number of words in them."""
MAX_OCCURRENCES: Final = 2_500_000
"""Words, values and numbers that are collected in memory, which takes some 150 MB."""
_MAX_LENGTH: Final = 0xFFFF
_PER_RECORD: Final = 20
"""The numbers of a record, and what its lists cost."""
_MAX_PENDING: Final = 100_000
"""Terms that are kept as strings, some 6 MB."""


class _Collected:
    """The terms of the next records of a segment."""

    def __init__(self) -> None:
        self._lists: defaultdict[tuple[Kind, str], TermSorter] = defaultdict(TermSorter)
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
        numbers = {column: list(map(encode_number, known)) for column, known in terms.numbers.items()}
        sort = {order: [text] for order, text in keys.texts.items() if text}
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
        self._dates.append(keys.day)
        self._pmids.append(keys.pmid)
        self._lengths.append(min(ranked, _MAX_LENGTH))
        self.occurrences += count
        self._pending += count
        if self._pending > _MAX_PENDING:
            self._pending = 0
            for listed in self._lists.values():
                listed.pack()

    def encode(self) -> bytes:
        """Return a segment of these records, whose terms are forgotten."""
        file = io.BytesIO()
        self.write(SegmentOutput(file))
        return file.getvalue()

    def write(self, file: SegmentOutput) -> None:
        """Write a segment of these records, whose terms are forgotten."""
        for kind, source in sorted(self._lists):
            with ListFile(file, kind, source) as listed:
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
            with convert_write_errors(self._path):
                self._write_part()

    def _write_part(self) -> None:
        """Write the collected records to a temporary segment."""
        path = self._path.with_name(f"{self._path.name}.{len(self._parts)}.part")
        with create_segment_file(path, lasting=False) as file:
            self._collected.write(file)
        self._parts.append(path)
        self._collected = _Collected()

    def finish(self) -> Segment:
        """Write the segment and open it.

        Raises:
            StoreError: a file cannot be written.
        """
        try:
            with convert_write_errors(self._path):
                if not self._parts:
                    with create_segment_file(self._path) as file:
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
