"""Read the files that an import accepts, as a stream of records and deletions.

The content decides what a file is; its name only gives its place in NLM's yearly series. A file that is damaged at any
place is refused as a whole.
"""

import codecs
import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, Literal

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.input_files import cannot_read_error, open_input
from entrez_kit.local.file_events import FileEvent, unusable_file_error
from entrez_kit.local.read_pubmed_xml import read_pubmed_xml

Kind = Literal["pubmed", "jsonl", "nbib", "desc", "qual", "supp", "pa", "journals"]
RECORD_KINDS: Final = frozenset(("pubmed", "jsonl", "nbib"))
VOCABULARIES: Final = frozenset(("desc", "qual", "supp", "pa", "journals"))
"""Files that describe the terms of searches and have no records."""

CHUNK: Final = 1 << 20
HEAD_BYTES: Final = 8192
MAX_FILE_BYTES: Final = 4 << 30
"""The largest uncompressed file of records. Those of the PubMed baseline have less than a tenth of it."""

_GZIP: Final = b"\x1f\x8b"
_ROOTS: Final[tuple[tuple[Kind, re.Pattern[bytes]], ...]] = (
    ("pubmed", re.compile(rb"<(?:Pubmed(?:Book)?Article(?:Set)?)[\s>]")),
    ("desc", re.compile(rb"<DescriptorRecordSet[\s>]")),
    ("qual", re.compile(rb"<QualifierRecordSet[\s>]")),
    ("supp", re.compile(rb"<SupplementalRecordSet[\s>]")),
    ("pa", re.compile(rb"<PharmacologicalActionSet[\s>]")),
)
_STARTS: Final[tuple[tuple[Kind, bytes], ...]] = (("jsonl", b"{"), ("nbib", b"PMID- "), ("journals", b"JrId: "))
_NAMES: Final = (".xml", ".jsonl", ".nbib", ".txt", ".medline", ".json", ".gz")
"""Endings of the files in folders. Files of MeSH have no other ending (``desc2026.gz``)."""
_MD5: Final = re.compile(r"(?<![0-9a-fA-F])[0-9a-fA-F]{32}(?![0-9a-fA-F])")


class SourceFile:
    """A file to import: its path, its kind, and after reading the checksums of its content.

    Raises:
        InvalidInput: it cannot be read, or it is not a file that an import accepts.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.md5 = ""
        self.digest = b""
        with _ConvertErrors(self.path), ExitStack() as opened:
            file = opened.enter_context(open_input(path))
            start = file.read(HEAD_BYTES)
            self.compressed = start.startswith(_GZIP)
            self.size = path.stat().st_size
            head = zlib.decompressobj(wbits=31).decompress(start, HEAD_BYTES) if self.compressed else start
        if not start:
            raise unusable_file_error(path, "it is empty", "unknown_file", hint="Download or export the file again.")
        self.kind: Kind = self._detect(head)

    def _detect(self, head: bytes) -> Kind:
        head = head.removeprefix(codecs.BOM_UTF8)
        for kind, pattern in _ROOTS:
            if pattern.search(head):
                return kind
        for kind, start in _STARTS:
            if head.lstrip().startswith(start) or (kind == "journals" and head.lstrip(b"- \r\n\t").startswith(start)):
                return kind
        raise unusable_file_error(self.path, "it is not PubMed XML or another file for imports", "unknown_file")

    def read_events(self) -> Iterator[FileEvent]:
        """Yield the records and deletions of the file. The whole file was read and is valid when this ends.

        Raises:
            InvalidInput: the file is damaged, truncated or too large, or its checksum differs from the .md5 file.
        """
        yield from self._read_content(partial(_import_reader(self.kind), path=self.path))

    def read_with(self, read: Callable[[IO[bytes]], Any]) -> Any:
        """Return the result of a reader of the whole, uncompressed file, and verify the checksum.

        Raises:
            InvalidInput: see ``read_events``.
        """

        def once(chunks: Iterable[bytes]) -> Iterator[Any]:
            yield read(_ChunkFile(iter(chunks)))  # type: ignore[arg-type]

        (result,) = self._read_content(once)
        return result

    def _read_content(self, split: Callable[[Iterable[bytes]], Iterator[Any]]) -> Iterator[Any]:
        content = hashlib.blake2b(digest_size=16)
        total = 0

        def read_chunks(stream: IO[bytes]) -> Iterator[bytes]:
            nonlocal total
            while chunk := stream.read(CHUNK):
                content.update(chunk)
                total += len(chunk)
                if total > MAX_FILE_BYTES:
                    raise unusable_file_error(
                        self.path, f"it has more than {MAX_FILE_BYTES:,} bytes", "input_too_large"
                    )
                yield chunk

        with _ConvertErrors(self.path), ExitStack() as opened:
            packed = _HashingFile(opened.enter_context(open_input(self.path)))
            stream: Any = gzip.GzipFile(fileobj=packed, mode="rb") if self.compressed else packed  # type: ignore[call-overload]
            pieces = read_chunks(stream)
            yield from split(pieces)
            for _ in pieces:  # a reader may stop at its last record
                pass
            self.md5, self.digest = packed.md5.hexdigest(), content.digest()
            self._check_md5()

    def read_expected_md5(self) -> str | None:
        """Return the checksum in the .md5 file beside this one; None if there is none.

        Raises:
            InvalidInput: the .md5 file has no checksum.
        """
        beside = self.path.with_name(f"{self.path.name}.md5")
        if not beside.is_file():
            return None
        with _ConvertErrors(beside), beside.open("rb") as file:
            return parse_md5(file.read(4096), beside)

    def _check_md5(self) -> None:
        expected = self.read_expected_md5()
        if expected is not None and expected != self.md5:
            raise unusable_file_error(
                self.path,
                f"its MD5 checksum is {self.md5}, and {self.path.name}.md5 has {expected}",
                "wrong_md5",
                hint="Download the file and its .md5 again.",
            )


def _import_reader(kind: Kind) -> Callable[..., Iterator[FileEvent]]:
    """Return the reader of a kind of records; those of Articles import pydantic."""
    if kind == "pubmed":
        return read_pubmed_xml
    if kind == "jsonl":
        from entrez_kit.local.read_jsonl import read_jsonl

        return read_jsonl
    from entrez_kit.local.read_nbib import read_nbib

    return read_nbib


def _missing_error(path: Path) -> InvalidInput:
    return cannot_read_error(path, FileNotFoundError(), reason="missing_file", file=str(path))


class _ConvertErrors:
    """Convert the errors of reading a file into ``InvalidInput`` that names the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: object) -> None:
        if isinstance(exc, FileNotFoundError):
            raise _missing_error(self._path) from None
        if isinstance(exc, EOFError):
            raise unusable_file_error(self._path, "its compressed data ends too early", "truncated") from None
        if isinstance(exc, gzip.BadGzipFile | zlib.error):
            raise unusable_file_error(self._path, f"its compressed data is damaged ({exc})", "damaged") from None
        if isinstance(exc, OSError):
            raise cannot_read_error(self._path, exc, reason="unreadable", file=str(self._path))


class _HashingFile:
    """A file that computes the MD5 checksum of what is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.md5 = hashlib.md5(usedforsecurity=False)

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        data = self._file.read(size)
        self.md5.update(data)
        return data


class _ChunkFile:
    """Chunks as a file."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._left = b""

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        if not self._left:
            self._left = next(self._chunks, b"")
        data, self._left = (self._left, b"") if size < 0 else (self._left[:size], self._left[size:])
        return data


def parse_md5(content: bytes, path: Path, *, hint: str | None = None) -> str:
    """Return the checksum in a .md5 file.

    Args:
        hint: the hint of the error. Default: that for a local file.

    Raises:
        InvalidInput: it has none.
    """
    match = _MD5.search(content.decode("utf-8", errors="replace"))
    if match is None:
        raise InvalidInput(
            f"{path} contains no MD5 checksum.",
            invalid_input=str(path),
            recovery_hint=hint or f"Download {path.name} again. Without it, the file is imported without a comparison.",
            details={"reason": "bad_checksum_file", "file": str(path)},
        )
    return match[0].lower()


def is_optional(path: Path) -> bool:
    """Return whether a file of a folder may be something else: NLM's folders contain a README.txt."""
    return path.name.removesuffix(".gz").rpartition(".")[2] in ("txt", "json") or path.suffixes == [".gz"]


def empty_folder_error(path: Path) -> InvalidInput:
    """Return the error for a folder without files to import."""
    return unusable_file_error(path, "the folder contains no file that can be imported", "empty_folder")


def find_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files to import: the given files, and those with a known ending in the given folders.

    Raises:
        InvalidInput: a path does not exist, or a folder has no such file.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                item
                for item in path.rglob("*")
                if item.name.endswith(_NAMES) and not item.name.startswith(".") and item.is_file()
            )
            if not inside:
                raise empty_folder_error(path)
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise _missing_error(path)
    return list(dict.fromkeys(found))
