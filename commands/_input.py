"""Identifiers from arguments, standard input and files, in every form people keep them; order and duplicates stay.

Plain text holds one or many per line, separated by white space, commas or semicolons; ``#`` begins a comment.
JSON lines hold a ``pmid`` each (what failed in an earlier run is taken by its ``input``); a JSON document may be a list
of ids or what ``search`` and ``fetch`` print. A table with a ``pmid`` column in its header gives that column.
"""

import codecs
import csv
import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from entrez_kit.errors import InvalidInput

from ._state import is_terminal

STDIN: Final = "-"
MAX_DOCUMENT_BYTES: Final = 512 * 1024 * 1024
"""A JSON document is read whole; lines of any number are not."""

_LABEL: Final = re.compile(r"\b(pmid|pmcid|pmc|doi|pubmed)\s*[:=]\s+(?=\S)", re.IGNORECASE)
_COMMENT: Final = re.compile(r"(?:^|\s)#.*")
_DOI_INSIDE: Final = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/")
_NEXT_ID: Final = re.compile(
    r"[,;](?=(?:[0-9]{5,10}(?![^,;])|pmid\b|pmc[0-9]|pmcid\b|doi:|https?://|10\.[0-9]{4,9}(?:\.[0-9]+)*/))",
    re.IGNORECASE,
)
"""A comma or semicolon may be part of a DOI; it separates where what follows begins another identifier."""
_ID_KEYS: Final = (
    *("pmid", "pmids", "requested_pmids", "articles", "genes", "items"),
    *("input", "ids", "uid", "id"),
)
"""Where an object has its ids, the most telling first."""
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_ids(arguments: Sequence[str], files: Sequence[Path] = ()) -> list[str]:
    """Return all identifiers named by arguments (``-`` is standard input) and files, in order.

    Raises:
        InvalidInput: a source cannot be read, is not text, or a file holds none.
    """
    found: list[str] = []
    for argument in arguments:
        if argument == STDIN:
            found += _from_stdin()
        else:
            found += split_ids(argument)
    for path in files:
        found += _from_stdin() if str(path) == STDIN else _from_file(path)
    return found


def _from_stdin() -> Iterator[str]:
    if sys.stdin is None:
        return iter(())
    return ids_in(sys.stdin.buffer, "standard input")


def stdin_is_terminal() -> bool:
    """Tell whether reading standard input means waiting for somebody to type."""
    return is_terminal(sys.stdin)


def _from_file(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            found = list(ids_in(file, str(path)))
    except OSError as exc:
        raise InvalidInput(
            f"--input {path} cannot be read: {exc.strerror or type(exc).__name__}.",
            invalid_input=f"input={path}",
            recovery_hint="Name a file with identifiers, or - for standard input.",
            details={"reason": "cannot_read"},
        ) from None
    if not found:
        raise InvalidInput(
            f"--input {path} holds no identifiers.",
            invalid_input=f"input={path}",
            recovery_hint="Put PMIDs, PMCIDs or DOIs in it, one or many per line.",
            details={"reason": "no_identifiers"},
        )
    return found


def ids_in(source: BinaryIO, name: str) -> Iterator[str]:
    """Yield the identifiers of a text, a table, JSON lines or a JSON document, line by line where there are lines.

    Raises:
        InvalidInput: it is not text, or JSON without identifiers.
    """
    lines = _lines(source, name)
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        return
    start = first.lstrip()[:1]
    if start in ("{", "["):
        yield from _from_json(first, lines, name)
        return
    column = _pmid_column(first)
    if column is not None:
        yield from _from_table(*column, lines, name)
        return
    for line in itertools.chain([first], lines):
        yield from split_ids(line)


def split_ids(text: str) -> list[str]:
    """Return the identifiers in a line. A comma or semicolon inside a DOI stays part of it."""
    text = _LABEL.sub(r"\1:", _COMMENT.sub("", text))
    found: list[str] = []
    for chunk in text.split():
        parts = _NEXT_ID.split(chunk) if _DOI_INSIDE.search(chunk) else re.split(r"[,;]", chunk)
        found += [word for part in parts if (word := part.strip("\"'").rstrip(",;").strip("\"'"))]
    return found


def _lines(source: BinaryIO, name: str) -> Iterator[str]:
    """Yield lines as text, whatever line ends and byte order mark they have."""
    first = source.readline()
    if first.startswith(_UTF16):  # what PowerShell writes with ">"
        try:
            yield from (first + source.read()).decode("utf-16").splitlines()
        except UnicodeDecodeError:
            raise _not_text(name, 1) from None
        return
    for number, line in enumerate(itertools.chain([first.removeprefix(codecs.BOM_UTF8)], source), start=1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise _not_text(name, number) from None
        if "\x00" in text:
            raise _not_text(name, number)
        # A lone CR ends a line in files of old programs.
        yield from text.rstrip("\r\n").split("\r")


def _not_text(name: str, line: int) -> InvalidInput:
    return InvalidInput(
        f"Line {line} of {name} is not UTF-8 text.",
        invalid_input=name,
        recovery_hint="Save it as UTF-8, or check that it is the file you meant.",
        details={"reason": "not_text", "line": line},
    )


# Tables


def _pmid_column(header: str) -> tuple[int, str] | None:
    """Return which column of a table holds PMIDs, and what separates them; None where the line is no header."""
    for delimiter in ("\t", ",", ";"):
        cells = [cell.strip().lower() for cell in next(csv.reader([header], delimiter=delimiter), [])]
        if "pmid" in cells:
            return cells.index("pmid"), delimiter
    return None


def _from_table(column: int, delimiter: str, lines: Iterable[str], name: str) -> Iterator[str]:
    csv.field_size_limit(MAX_DOCUMENT_BYTES)  # abstracts of some collections pass the default
    try:
        for row in csv.reader((f"{line}\n" for line in lines), delimiter=delimiter):
            if column < len(row):
                yield from split_ids(row[column])
    except csv.Error as exc:
        raise InvalidInput(
            f"{name} begins like a table, but cannot be read as one: {exc}.",
            invalid_input=name,
            recovery_hint="Give the identifiers one per line.",
            details={"reason": "bad_table"},
        ) from None


# JSON


def _from_json(first: str, lines: Iterator[str], name: str) -> Iterator[str]:
    try:
        document = json.loads(first)
    except ValueError:  # it goes on in the lines that follow
        yield from _ids_of(_whole(first, lines, name), name)
        return
    yield from _ids_of(document, name, "line 1: ")
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
        except ValueError:
            raise _bad_json(name, f"line {number} is not JSON") from None
        yield from _ids_of(document, name, f"line {number}: ")


def _whole(first: str, lines: Iterator[str], name: str) -> Any:
    parts = [first]
    size = len(first)
    for line in lines:
        size += len(line)
        if size > MAX_DOCUMENT_BYTES:
            raise _bad_json(name, "the document is too large; use JSON lines")
        parts.append(line)
    try:
        return json.loads("\n".join(parts))
    except ValueError as exc:
        raise _bad_json(name, str(exc)) from None


def _ids_of(document: Any, name: str, place: str = "") -> Iterator[str]:
    """Yield the ids of a value: a list of ids or records, or one of our own documents."""
    if isinstance(document, list):
        for item in document:
            yield from _ids_of(item, name, place)
    elif isinstance(document, bool) or document is None:
        raise _bad_json(name, f"{place}{json.dumps(document)} is no identifier")
    elif isinstance(document, str | int):
        yield from split_ids(str(document))
    elif isinstance(document, dict):
        outcomes = document.get("outcomes")
        if isinstance(outcomes, list) and outcomes and all(isinstance(o, dict) and o.get("input") for o in outcomes):
            # There, and only there, is what an earlier run did not find.
            yield from _ids_of([outcome["input"] for outcome in outcomes], name, place)
            return
        key = next((key for key in _ID_KEYS if document.get(key)), None)
        if key is not None:
            yield from _ids_of(document[key], name, place)
        elif not any(isinstance(document.get(key), list) for key in _ID_KEYS):  # a result without hits is fine
            raise _bad_json(name, f"{place}an object has no pmid")
    else:
        raise _bad_json(name, f"{place}{document!r} is no identifier")


def _bad_json(name: str, problem: str) -> InvalidInput:
    return InvalidInput(
        f"{name} begins like JSON, but no identifiers can be read from it: {problem}.",
        invalid_input=name,
        recovery_hint='Give a list of ids, or JSON lines with a "pmid" each.',
        details={"reason": "bad_json"},
    )
