"""The file of a segment while it is written: its lists of terms, its columns and its header."""

import json
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copyfileobj
from types import TracebackType
from typing import IO, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from entrez_kit.base.atomic_files import replace_private_file
from entrez_kit.base.errors import StoreError, describe_os_error
from entrez_kit.query.segments.coding import Integers, Postings, encode_records, encode_varints, encode_words
from entrez_kit.query.segments.segment import COLUMNS, FORMAT, MAGIC, SEPARATOR, TRAILER, Kind, encode_term

_MAX_IN_MEMORY: Final = 4 << 20
"""Bytes of a temporary file that are kept in memory."""


@contextmanager
def create_segment_file(path: Path, *, lasting: bool = True) -> Iterator["SegmentOutput"]:
    """Provide a segment file under a temporary name, which is renamed at the end, or removed after an error."""
    with replace_private_file(path, lasting=lasting) as file:
        yield SegmentOutput(file, str(path.parent))


class SegmentOutput:
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


class ListFile:
    """Writes one list of terms; a context manager."""

    def __init__(self, file: SegmentOutput, kind: Kind, source: str) -> None:
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
        return cast(IO[bytes], tempfile.SpooledTemporaryFile(_MAX_IN_MEMORY, "w+b", dir=self._file.folder))

    def __enter__(self) -> "ListFile":
        return self

    def add(self, terms: Sequence[str], block: Postings) -> None:
        """Add terms in order with their postings."""
        if not len(block.sizes):
            return
        encoded = encode_term("\0".join(terms)) + SEPARATOR
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
def convert_write_errors(path: Path) -> Iterator[None]:
    """Raise a StoreError if a file cannot be written."""
    try:
        yield
    except OSError as exc:
        raise StoreError(
            f"The index file {path.name} cannot be written: {describe_os_error(exc)}.",
            details={"reason": "unwritable_index", "path": str(path)},
        ) from exc
