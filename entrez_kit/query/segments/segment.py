"""Read an immutable segment of an index: the sorted terms and the postings of a number of records.

A segment file has a magic number, the data of all lists and columns, a header in JSON, and a trailer with the position
of the header and the checksums of header and data. Positions are checked when the file is opened, and data when it is
decoded, so a damaged or foreign file causes a StoreError and never a crash.
"""

import json
import mmap
import struct
import zlib
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from entrez_kit.base.errors import StoreError, describe_os_error
from entrez_kit.query.segments.coding import (
    Bytes,
    Integers,
    Numbers,
    WordPostings,
    decode_records,
    decode_varints,
    gather,
)

Kind = Literal["words", "values", "numbers", "sort"]
"""Word lists with positions, value lists, columns of numbers as texts, and the texts that records are sorted by."""
P = ParamSpec("P")
R = TypeVar("R")

MAGIC: Final = b"EKSEG\x00\x02\n"
FORMAT: Final = 2
TRAILER: Final = struct.Struct("<QIII8s")
"""Place, length and checksum of the header, checksum of the data, and the magic number again."""
SEPARATOR: Final = b"\0"
BOUNDARY: Final = ""
"""The word of a word list that begins at each value but the first one of a record."""
COLUMNS: Final = {"dates": "<i8", "pmids": "<i8", "lengths": "<u2"}
"""Numbers of all records, and their types."""
_MAX_HEADER: Final = 1 << 24
_CHUNK: Final = 1 << 20
_GREATEST: Final = 9_999_999_999


def damaged_error(path: Path, problem: str) -> StoreError:
    """Return the error for a segment file that cannot be used."""
    return StoreError(
        f"The index file {path.name} is damaged: {problem}.",
        recovery_hint="Import the copy again.",
        details={"reason": "damaged_index", "path": str(path)},
    )


def encode_term(text: str) -> bytes:
    """Return a term as bytes, which have the same order as the terms."""
    return text.encode("utf-8", "surrogatepass")


def encode_number(number: int) -> str:
    """Return a number as a term; terms have the same order as numbers."""
    return f"{min(number, _GREATEST):010}"


class Texts:
    """Sorted texts, one after the other."""

    def __init__(self, text: Bytes, ends: NDArray[Any]) -> None:
        self._text = text.data
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> bytes:
        begin = int(self._ends[number - 1]) + 1 if number else 0
        return bytes(self._text[begin : int(self._ends[number])])

    def _read(self, begin: int, end: int) -> bytes:
        start = int(self._ends[begin - 1]) + 1 if begin else 0
        return bytes(self._text[start : int(self._ends[end - 1])])

    def read(self, begin: int, end: int) -> list[str]:
        """Return a range of texts."""
        if begin >= end:
            return []
        texts = self._read(begin, end).decode("utf-8", "surrogatepass").split("\0")
        if len(texts) != end - begin:
            raise ValueError("the terms are cut")
        return texts

    @cached_property
    def _samples(self) -> list[bytes]:
        """Some of the texts, at equal distances."""
        return [self[number] for number in range(0, len(self), self._distance)]

    @cached_property
    def _distance(self) -> int:
        return max(_PAGE, len(self) // _SAMPLES)

    def find_place(self, text: bytes) -> int:
        """Return the number of the first text that is not less than this one."""
        sample = bisect_left(self._samples, text)
        begin, end = max(0, (sample - 1) * self._distance), min(sample * self._distance, len(self))
        while end - begin > _PAGE:
            middle = (begin + end) // 2
            if self[middle] < text:
                begin = middle + 1
            else:
                end = middle
        if begin >= end:
            return end
        return begin + bisect_left(self._read(begin, end).split(SEPARATOR), text)

    def find_range(self, prefix: str) -> tuple[int, int]:
        """Return the range of the texts with a prefix."""
        encoded = encode_term(prefix)
        begin = self.find_place(encoded)
        if begin == len(self) or not self[begin].startswith(encoded):
            return begin, begin
        return begin, self.find_place(encoded + b"\xff")

    def find(self, text: str) -> int | None:
        """Return the number of a text."""
        encoded = encode_term(text)
        number = self.find_place(encoded)
        return number if number < len(self) and self[number] == encoded else None


class TermList:
    """The terms of one list and their postings."""

    def __init__(
        self,
        segment: "Segment",
        kind: Kind,
        texts: Texts,
        ends: NDArray[Any],
        streams: Sequence[Bytes],
    ) -> None:
        self.kind = kind
        self.texts = texts
        self._segment = segment
        self._ends = ends
        self._streams = streams

    def __len__(self) -> int:
        return len(self._ends) - 1

    def find(self, texts: Sequence[str]) -> Integers:
        """Return the ascending numbers of the texts that are in this list."""
        if len(texts) == 1:
            number = self._segment.guard(self.texts.find, texts[0])
            return _NONE if number is None else np.array([number])
        return self._segment.guard(self._find_many, sorted(set(texts))) if texts else _NONE

    def _find_many(self, ordered: Sequence[str]) -> Integers:
        begin = self.texts.find_place(encode_term(ordered[0]))
        end = self.texts.find_place(encode_term(ordered[-1]) + b"\0")
        if end - begin > _SPARSE * len(ordered):
            known = [number for text in ordered if (number := self.texts.find(text)) is not None]
            return np.array(known, np.int64)
        numbers = {text: number for number, text in enumerate(self.texts.read(begin, end), begin)}
        return np.array([numbers[text] for text in ordered if text in numbers], np.int64)

    @property
    def sizes(self) -> Integers:
        """The number of bytes of each term."""
        ends = self._ends.sum(axis=1, dtype=np.int64)
        sizes: Integers = ends[1:] - ends[:-1]
        return sizes

    def _read_stream(self, numbers: Integers, stream: int) -> tuple[Bytes, Integers]:
        """Return the data of terms in one stream, and their lengths."""
        data = self._streams[stream]
        first, last = int(numbers[0]), int(numbers[-1])
        if last - first + 1 == len(numbers):
            ends = self._ends[first : last + 2, stream].astype(np.int64)
            if ends[0] < 0 or ends[-1] > len(data) or (ends[1:] < ends[:-1]).any():
                raise ValueError("a range is outside of the data")
            return data[int(ends[0]) : int(ends[-1])], ends[1:] - ends[:-1]
        begins, ends = (self._ends[numbers + shift, stream].astype(np.int64) for shift in (0, 1))
        return gather(data, begins, ends - begins), ends - begins

    def read_records(self, numbers: Integers) -> tuple[Integers, Numbers]:
        """Return how many records each of these terms has, and their records."""
        if self.kind == "words":
            words = self.read_words(numbers)
            return words.sizes, words.records
        return self._segment.guard(self._read_records, numbers)

    def _read_records(self, numbers: Integers) -> tuple[Integers, Numbers]:
        return decode_records(*self._read_stream(numbers, 0), self._segment.records)

    def read_words(self, numbers: Integers) -> WordPostings:
        """Return the postings of these words."""
        return self._segment.guard(self._read_words, numbers)

    def read_word(self, word: str) -> WordPostings | None:
        """Return the postings of one word; None if no record has it."""
        return self._segment.guard(self._read_word, word)

    def _read_word(self, word: str) -> WordPostings | None:
        number = self.texts.find(word)
        if number is None:
            return None
        places: list[list[int]] = self._ends[number : number + 2].tolist()

        def read(stream: int) -> Bytes:
            begin, end = places[0][stream], places[1][stream]
            if not begin <= end <= len(self._streams[stream]):
                raise ValueError("a range is outside of the data")
            return self._streams[stream][begin:end]

        return WordPostings(read, np.array([places[1][0] - places[0][0]]), self._segment.records)

    def _read_words(self, numbers: Integers) -> WordPostings:
        data, lengths = self._read_stream(numbers, 0)

        def read(stream: int) -> Bytes:
            return self._read_stream(numbers, stream)[0] if stream else data

        return WordPostings(read, lengths, self._segment.records)


_NONE: Final = np.empty(0, np.int64)
_numbers: Final = count()
_PAGE: Final = 64
_SAMPLES: Final = 1_024
_SPARSE: Final = 20
"""A range of terms is read as a whole unless it has more terms than this for each one that is searched."""


def _map_file(path: Path) -> mmap.mmap:
    """Map a segment file into memory."""
    try:
        with path.open("rb") as file:
            if file.seek(0, 2) < len(MAGIC) + TRAILER.size:
                raise damaged_error(path, "it is too short")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as exc:
        raise StoreError(
            f"The index file {path.name} cannot be read: {describe_os_error(exc)}.",
            recovery_hint="Import the copy again.",
            details={"reason": "unreadable_index", "path": str(path)},
        ) from None


class Segment:
    """One open segment: a file, or bytes.

    Args:
        path: the file.
        data: its content, if it is in memory.

    Raises:
        StoreError: the file cannot be read, is damaged, or has an unknown format.
    """

    def __init__(self, path: Path, data: bytes | None = None) -> None:
        self.path = path
        self.number = next(_numbers)
        """A number that no other segment of this process has."""
        self._ranks: dict[str, Numbers] = {}
        """The place of each record in the order of its sort texts, by name of the order."""
        self._map = None if data is not None else _map_file(path)
        self._bytes: Bytes = np.frombuffer(data or self._map or b"", np.uint8)
        self.size = len(self._bytes)
        try:
            self._header, self._data_end, self.checksum = self._read_header()
            self.records = int(self._header["records"])
            self._lists: dict[tuple[str, str], TermList] = {
                (str(entry["kind"]), str(entry["source"])): self._open_list(entry) for entry in self._header["lists"]
            }
            self.dates, self.pmids, self.lengths = (self._open_column(*column) for column in COLUMNS.items())
            self.dropped: Numbers = decode_varints(self._open_section(self._header["dropped"]))
        except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as exc:
            raise damaged_error(path, f"its header is invalid ({type(exc).__name__})") from None

    def _read_header(self) -> tuple[dict[str, Any], int, int]:
        start, length, header_sum, data_sum, magic = TRAILER.unpack(bytes(self._bytes[-TRAILER.size :]))
        if magic != MAGIC or bytes(self._bytes[: len(MAGIC)]) != MAGIC:
            raise damaged_error(self.path, "it is not an index file of this version, or it is cut")
        if start < len(MAGIC) or length > _MAX_HEADER or start + length + TRAILER.size != self.size:
            raise damaged_error(self.path, "its header is not where it should be")
        encoded = bytes(self._bytes[start : start + length])
        if zlib.crc32(encoded) != header_sum:
            raise damaged_error(self.path, "the checksum of its header is wrong")
        header = json.loads(encoded)
        if not 0 <= int(header["records"]) < 1 << 31 or header["format"] != FORMAT:
            raise ValueError("unknown format")
        return cast(dict[str, Any], header), start, data_sum

    def _open_section(self, location: Any, dtype: str = "<u1") -> NDArray[Any]:
        begin, length = (int(number) for number in location)
        width = np.dtype(dtype).itemsize
        if begin < len(MAGIC) or length < 0 or begin + length > self._data_end or length % width:
            raise ValueError("a section is outside of the file")
        return self._bytes[begin : begin + length].view(dtype) if length else np.empty(0, dtype)

    def _open_column(self, name: str, dtype: str) -> NDArray[Any]:
        column = self._open_section(self._header[name], dtype)
        if len(column) != self.records:
            raise ValueError("a column has the wrong length")
        return column

    def _open_ends(self, location: Any, count: int) -> NDArray[Any]:
        section = self._open_section(location, "<u8" if int(location[1]) > count * 4 else "<u4")
        if len(section) != count:
            raise ValueError("a list has the wrong length")
        return section

    def _open_list(self, described: Any) -> TermList:
        kind: Kind = described["kind"]
        terms = int(described["terms"])
        texts = Texts(self._open_section(described["texts"]), self._open_ends(described["text_ends"], terms))
        streams = [self._open_section(location) for location in described["streams"]]
        if len(streams) != (4 if kind == "words" else 1):
            raise ValueError("a list has the wrong number of streams")
        ends = self._open_ends(described["ends"], (terms + 1) * len(streams))
        return TermList(self, kind, texts, ends.reshape(-1, len(streams)), streams)

    def list(self, kind: Kind, source: str) -> TermList | None:
        """Return a list of terms; None if no record of the segment has any."""
        return self._lists.get((kind, source))

    @property
    def lists(self) -> Sequence[tuple[Kind, str]]:
        """Kind and name of all lists."""
        return cast(Sequence[tuple[Kind, str]], list(self._lists))

    def release(self) -> None:
        """Return the memory of the file's pages to the system; they are read again when they are needed."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def guard(self, read: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a function that reads this segment.

        Raises:
            StoreError: the data are damaged.
        """
        try:
            return read(*args, **kwargs)
        except (ValueError, IndexError, MemoryError) as exc:
            raise damaged_error(self.path, str(exc) or type(exc).__name__) from None

    def rank_texts(self, source: str) -> Numbers:
        """Return the number of the sort text of each record, from 1 on; records without a text have 0."""
        ranks = self._ranks.get(source)
        if ranks is None:
            ranks = np.zeros(self.records, np.uint32)
            listed = self.list("sort", source)
            if listed is not None:
                numbers = np.arange(len(listed))
                sizes, records = listed.read_records(numbers)
                ranks[records] = np.repeat(numbers + 1, sizes)
            self._ranks[source] = ranks
        return ranks

    def verify(self) -> None:
        """Compare the data with their checksum.

        Raises:
            StoreError: the data are damaged.
        """
        checksum = 0
        for begin in range(0, self._data_end, _CHUNK):
            checksum = zlib.crc32(self._bytes[begin : min(begin + _CHUNK, self._data_end)].data, checksum)
        if checksum != self.checksum:
            raise damaged_error(self.path, "the checksum of its data is wrong")
