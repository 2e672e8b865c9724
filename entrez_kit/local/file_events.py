"""The records and deletions of a file to import, the lines of text files, and the error for a file that is refused."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from entrez_kit.base.errors import InvalidInput

MAX_RECORD_BYTES: Final = 64 << 20
_ACCEPTED: Final = "Give files of the PubMed baseline, XML from EFetch, jsonl or nbib files, or MeSH files."
_HINTS: Final[Mapping[str, str]] = {
    "truncated": "Download or export the file again: its end is missing.",
    "damaged": "Download or export the file again.",
    "not_pubmed_xml": "Download or export the file again, or remove the text that is not a record.",
    "bad_record": "Correct the record, or export the file again.",
    "bad_encoding": "Save the file in UTF-8.",
    "record_too_large": "Check the file: records of PubMed are much smaller.",
    "input_too_large": "Divide the file into several files.",
}
"""By reason, what to do about a file."""


class FileEvent(NamedTuple):
    """A record of a file, or a deletion if ``raw`` is empty. Version 0 of a deletion means all versions."""

    pmid: int
    version: int
    raw: bytes


def unusable_file_error(path: Path, problem: str, reason: str, *, hint: str = "", **details: object) -> InvalidInput:
    """Return the error for a file that cannot be imported; without ``hint``, the hint depends on the reason."""
    return InvalidInput(
        f"{path} cannot be imported: {problem}.",
        invalid_input=str(path),
        recovery_hint=hint or _HINTS.get(reason, _ACCEPTED),
        details={"reason": reason, "file": str(path), **details},
    )


def split_lines(chunks: Iterable[bytes], path: Path) -> Iterator[str]:
    """Yield the lines of a text file.

    Raises:
        InvalidInput: a line is too long, or is not UTF-8.
    """
    rest = b""
    number = 0
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > MAX_RECORD_BYTES:
            raise unusable_file_error(
                path, f"line {number + 1:,} has more than {MAX_RECORD_BYTES:,} bytes", "record_too_large"
            )
        for line in lines:
            number += 1
            yield _decode_line(line, path, number)
    if rest:
        yield _decode_line(rest, path, number + 1)


def _decode_line(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r")
    except UnicodeDecodeError:
        raise unusable_file_error(path, f"line {number:,} is not UTF-8", "bad_encoding", line=number) from None
