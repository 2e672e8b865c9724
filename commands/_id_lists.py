"""Read identifiers from arguments, standard input and files; order and duplicates are preserved.

Plain text has one or more per line, separated by white space, commas or semicolons; ``#`` starts a comment. Each line
of JSON lines has a ``pmid`` (or an ``input``, if it failed in an earlier run). A JSON document is a list of ids, or the
output of ``search`` or ``fetch``. In a table with a ``pmid`` column in its header, that column is read; for ids of
genes and other records an ``id`` column.

A line of several words is a list only if every word is an identifier. Other lines are text, which is refused with the
line number, because a year or page in it would be read as a PMID. A single word that is not an identifier gets the
outcome invalid.
"""

import codecs
import csv
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import IO, Any, Final

from entrez_kit.base import input_files
from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.file_kinds import detect_file_kind
from entrez_kit.base.frontend_text import MAX_QUOTED, cut_end, format_count, join_with
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.base.input_files import cannot_read_error, open_input, read_input, read_lines, too_large
from entrez_kit.base.tables import MAX_CELL, TABLE_SUFFIXES, TableError, name_cells, read_rows

from ._files import get_stdin, is_file, is_folder, read_content
from ._state import STDIN, usage_error

MAX_IDS: Final = 2_000_000
"""The maximum number of ids of one command, which are kept in memory."""

NOT_IDENTIFIERS: Final = "not_identifiers"
"""The reason of the error for text instead of identifiers."""

_LABEL: Final = re.compile(r"\b(pmid|pmcid|pmc|doi|pubmed)(?:\s*+[:=]\s++(?=\S)|\s++(?=(?:pmc)?[0-9]))", re.IGNORECASE)
"""A label before an identifier, followed by spaces."""
_NUMBERED: Final = re.compile(r"\s*+\[[0-9]{1,5}\]\s*+[^\s,\]]")
"""The number before a reference, which does not start JSON."""
_COMMENT: Final = re.compile(r"(?:^|\s)#.*")
_DOI_INSIDE: Final = re.compile(r"(?<![0-9.])10\.[0-9]{4,9}(?>(?:\.[0-9]+)*)/")
_NEXT_ID: Final = re.compile(
    r"[,;](?=(?:[0-9]{5,10}(?![^,;])|pmid\b|pmc[0-9]|pmcid\b|doi:|https?://|10\.[0-9]{4,9}(?:\.[0-9]+)*/))",
    re.IGNORECASE,
)
"""A comma or semicolon that separates identifiers; within a DOI it does not."""
_ID_KEYS: Final = (
    *("pmid", "PMID", "pmids", "requested_pmids", "articles", "genes", "symbols", "items"),
    *("input", "ids", "PMCID", "DOI", "uid", "id"),
)
"""The members of an object that may have ids, in order of preference."""
_OF_REFERENCES: Final = frozenset(("author", "issued", "container-title"))
"""Members of CSL-JSON items; their ``id`` is the user's own name, and often a number."""


REFERENCE_SUFFIXES: Final = (".bib", ".ris", ".nbib", ".ciw", ".enw")
"""Suffixes of files of references, whose identifiers are read."""


def read_ids(
    arguments: Sequence[str],
    files: Sequence[Path] = (),
    *,
    kind: "IdKind | None" = None,
) -> list[str]:
    """Return all identifiers of arguments (``-`` is standard input) and files, in order.

    Args:
        arguments: words of the command line, each an identifier or a list of them.
        files: files with more identifiers.
        kind: the kind of identifiers; default: PMIDs, PMCIDs, DOIs and their URLs.

    Raises:
        InvalidInput: a source cannot be read or is not text, a file has no identifiers, a line is not a list of
            identifiers, or an argument is the name of a file.
    """
    kind = kind or ARTICLES
    ids: list[str] = []
    unnamed: list[str] = []
    for argument in arguments:
        if argument == STDIN:
            ids += _read_stdin(kind)
        else:
            refuse_file_name(argument, kind.is_known)
            ids += split_line(argument, "The arguments", kind)
    for path in files:
        if path.suffix.lower() in REFERENCE_SUFFIXES and kind is ARTICLES:
            in_file = _read_reference_ids(path)
            ids += in_file
            unnamed += [identifier for identifier in in_file if not is_article_id(identifier)]
        else:
            ids += _read_stdin(kind) if str(path) == STDIN else _read_file(path, kind)
    if len(ids) > MAX_IDS:
        raise too_large("The list of ids", MAX_IDS, "ids")
    if unnamed and len(unnamed) == len(ids):
        raise _unnamed_error(unnamed, files)
    return ids


def refuse_file_name(argument: str, is_known: Callable[[str], bool]) -> None:
    """Refuse the name of a file or folder in the place of an identifier.

    Raises:
        InvalidInput: the argument is the name of a file or folder, and not an identifier.
    """
    if is_known(argument):
        return
    if is_file(argument):
        hint = f"Add -i before it to read ids from it: -i {quote(argument)}."
        raise usage_error(f"{argument} is a file, not an id.", argument, hint)
    if is_folder(argument):
        raise usage_error(f"{argument} is a folder, not an id.", argument, "Give ids, or -i and a file with ids.")


def _unnamed_error(references: Sequence[str], files: Sequence[Path]) -> InvalidInput:
    """Return the error for files of references without any identifier."""
    names = " ".join(quote(str(path)) for path in files)
    single = f"The {references[0]} has no PMID, PMCID or DOI."
    several = f"None of the {format_count(len(references), 'reference')} in {names} has a PMID, PMCID or DOI."
    return InvalidInput(
        single if len(references) == 1 else several,
        invalid_input=str(files[0]),
        recovery_hint=f"`entrez-kit check {quote(str(files[0]))}` finds the PMIDs of references.",
        details={"reason": "no_identifiers"},
    )


def _read_reference_ids(path: Path) -> list[str]:
    """Return one identifier for each record of a file of references."""
    from entrez_kit.references.files.reference_files import decode_file
    from entrez_kit.references.merge.convert_records import list_record_ids, read_record_files
    from entrez_kit.references.merge.merge_documents import FileToMerge

    text = decode_file(read_content(path), str(path)).text
    return list_record_ids(read_record_files([FileToMerge(file=str(path), text=text)])[0])


def is_article_id(word: str) -> bool:
    """Return whether a word in a list is a PMID, PMCID, DOI or URL of an article; "1." and "(2021)" are not."""
    identifier = read_identifier(word)
    if identifier is None:
        return False
    return identifier.kind != "pmid" or word.isdigit() or any(letter.isalpha() for letter in word)


@dataclass(frozen=True, slots=True)
class IdKind:
    """The kind of identifiers in a list.

    Args:
        is_known: returns whether a word is an identifier.
        columns: the names that the column of identifiers may have in a table, by preference.
        noun: the noun for an identifier in messages.
        hint: a sentence for the hint of an error about other texts.
        is_any_word: whether every word can be an identifier, so that a table needs a column with a name.
    """

    is_known: Callable[[str], bool]
    columns: tuple[str, ...] = ("id", "entrez_id", "gene_id")
    noun: str = "id"
    hint: str = ""
    is_any_word: bool = False


ARTICLES: Final = IdKind(
    is_article_id,
    ("pmid",),
    hint=" `entrez-kit check FILE` reads references.",
)
"""PMIDs, PMCIDs, DOIs and their URLs."""


def _read_stdin(kind: IdKind) -> Iterator[str]:
    return read_identifiers(get_stdin(), "standard input", kind)


def _read_file(path: Path, kind: IdKind) -> list[str]:
    try:
        with open_input(path) as file:
            ids = list(read_identifiers(file, str(path), kind))
    except OSError as exc:
        raise cannot_read_error(path, exc, invalid_input=f"input={path}") from None
    if not ids:
        accepted = "PMIDs, PMCIDs or DOIs" if kind is ARTICLES else f"the {kind.noun}s"
        raise InvalidInput(
            f"{path} contains no {kind.noun}s.",
            invalid_input=f"input={path}",
            recovery_hint=f"Write {accepted} in the file, one or more per line.",
            details={"reason": "no_identifiers"},
        )
    return ids


def read_identifiers(source: IO[bytes], name: str, kind: IdKind = ARTICLES) -> Iterator[str]:
    """Yield the identifiers of a text, a table, JSON lines or a JSON document, line by line if possible.

    Raises:
        InvalidInput: the source is not text, is JSON without identifiers, or exceeds a bound; or a line is not a list
            of identifiers.
    """
    for number, identifier in enumerate(_list_ids_of_source(source, name, kind)):
        if number == MAX_IDS:
            raise too_large(name, MAX_IDS, "ids")
        yield identifier


def _list_ids_of_source(source: IO[bytes], name: str, kind: IdKind) -> Iterator[str]:
    lines = enumerate(_read_lines(source, name), start=1)
    begin, first = next(((number, line) for number, line in lines if line.strip()), (0, ""))
    if not first:
        return
    if first.lstrip()[:1] in ("{", "[") and not _NUMBERED.match(first):
        yield from _read_json(first, lines, name, kind)
        return
    column = _find_id_column(first, kind.columns)
    if column is not None:
        table = (f"{line}\n" for line in itertools.chain((first,), (line for _, line in lines)))
        yield from _read_table(*column, table, begin, name, kind)
        return
    rest = list(itertools.islice(((number, line) for number, line in lines if line.strip()), 1))
    if name.lower().endswith(TABLE_SUFFIXES):
        words = split_ids(first)
        is_header = len(words) > 1 and bool(rest) if kind.is_any_word else not any(map(kind.is_known, words))
        if is_header:
            raise _no_column_error(name, first, kind)
    for number, line in itertools.chain([(begin, first)], rest, lines):
        yield from split_line(line, f"{name}, line {number}", kind, line=number)


def split_line(text: str, source: str, kind: IdKind = ARTICLES, *, line: int | None = None) -> list[str]:
    """Return the identifiers in a line.

    Raises:
        InvalidInput: the line has several words, and one of them is not an identifier.
    """
    words = [text] if text.isdigit() else split_ids(text)
    stranger = next((word for word in words if not kind.is_known(word)), None) if len(words) > 1 else None
    if stranger is None:
        return words
    numbers = " Numbers inside text are not read as PMIDs." if kind is ARTICLES else ""
    raise InvalidInput(
        f"{source}: {_quote(stranger)} is not an id (in {_quote(text)}).",
        invalid_input=_quote(text),
        recovery_hint=f"Give only ids, e.g. one per line.{numbers}{kind.hint}",
        details={"reason": NOT_IDENTIFIERS, **({"line": line} if line else {})},
    )


def _quote(text: str) -> str:
    """Return a text in quotes, truncated if it is long."""
    return f'"{cut_end(" ".join(text.split()), MAX_QUOTED)}"'


def split_ids(text: str) -> list[str]:
    """Split a line at spaces, commas and semicolons, except those inside a DOI."""
    text = _LABEL.sub(r"\1:", _COMMENT.sub("", text))
    ids: list[str] = []
    for chunk in text.split():
        parts = _NEXT_ID.split(chunk) if _DOI_INSIDE.search(chunk) else re.split(r"[,;]", chunk)
        ids += [word for part in parts if (word := part.strip("\"'").rstrip(",;").strip("\"'"))]
    return ids


def _read_lines(source: IO[bytes], name: str) -> Iterator[str]:
    """Yield lines as text, with any line ends and byte order mark."""
    lines = read_lines(source, name)
    first = next(lines, b"")
    if (kind := detect_file_kind(first, name)) is not None:
        raise InvalidInput(
            f"{name} is not a text file, but {kind.name}.",
            invalid_input=name,
            recovery_hint=f"{kind.advice} Give a file with one id per line.",
            details={"reason": "not_text"},
        )
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # PowerShell's ">" writes it
        try:
            yield from (first + read_input(source, name)).decode("utf-16").splitlines()
        except UnicodeDecodeError:
            raise _not_text(name, 1) from None
        return
    for number, line in enumerate(itertools.chain([first.removeprefix(codecs.BOM_UTF8)], lines), start=1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise _not_text(name, number) from None
        if "\x00" in text:
            raise _not_text(name, number)
        # Old programs end lines with a single CR.
        yield from text.rstrip("\r\n").split("\r")


def _not_text(name: str, line: int) -> InvalidInput:
    return InvalidInput(
        f"Line {line} of {name} is not UTF-8 text.",
        invalid_input=name,
        recovery_hint="Save it as UTF-8, or check the file name.",
        details={"reason": "not_text", "line": line},
    )


# Tables


def _find_id_column(header: str, names: Sequence[str]) -> tuple[int, str] | None:
    """Return the index of the first column with one of these names and the delimiter; None if there is none."""
    csv.field_size_limit(MAX_CELL)
    for delimiter in ("\t", ",", ";"):
        cells = [cell.strip().lower() for cell in next(csv.reader([header], delimiter=delimiter), [])]
        for name in names:
            if name in cells:
                return cells.index(name), delimiter
    return None


def _no_column_error(name: str, header: str, kind: IdKind) -> InvalidInput:
    """Return the error for a table with neither a column of ids nor an id in its first line."""
    return InvalidInput(
        f"{name} has no column {join_with(kind.columns, 'or')}: its first line is {_quote(header)}.",
        invalid_input=_quote(header),
        recovery_hint=f"Rename the column of {kind.noun}s to {kind.columns[0]}, or give a file with one {kind.noun} "
        f"per line.{kind.hint}",
        details={"reason": NOT_IDENTIFIERS, "line": 1},
    )


def _read_table(
    column: int, delimiter: str, lines: Iterable[str], begin: int, name: str, kind: IdKind
) -> Iterator[str]:
    """Yield the ids in a column of a table whose header is in the line ``begin`` of its file."""
    try:
        columns, rows = name_cells(read_rows(lines, delimiter))
        for line, row in rows:
            yield from split_line(row[columns[column]], f"{name}, line {begin + line - 1}", kind)
    except TableError as exc:
        raise InvalidInput(
            f"{name}, line {begin + exc.line - 1}: {exc.problem}.",
            invalid_input=name,
            recovery_hint="Correct this line, or give the identifiers one per line.",
            details={"reason": "bad_table"},
        ) from None


# JSON


def _read_json(first: str, lines: Iterator[tuple[int, str]], name: str, kind: IdKind) -> Iterator[str]:
    document = _parse(first)
    if document is None:  # it continues on the next lines
        yield from _list_ids(_parse_whole(first, (line for _, line in lines), name, kind), name, kind)
        return
    yield from _list_ids(document[0], name, kind, "line 1: ")
    for number, line in lines:
        if not line.strip():
            continue
        document = _parse(line)
        if document is None:
            raise _bad_json(name, kind, f"line {number} is not JSON")
        yield from _list_ids(document[0], name, kind, f"line {number}: ")


def _parse(text: str) -> tuple[Any] | None:
    """Parse JSON; return None if it is invalid, nested too deeply, or has a number that is too large."""
    try:
        return (json.loads(text),)
    except (ValueError, RecursionError):
        return None


def _parse_whole(first: str, lines: Iterator[str], name: str, kind: IdKind) -> Any:
    parts = [first]
    size = len(first)
    for line in lines:
        size += len(line)
        if size > input_files.MAX_INPUT_BYTES:
            raise too_large(name, input_files.MAX_INPUT_BYTES)
        parts.append(line)
    try:
        return json.loads("\n".join(parts))
    except ValueError as exc:
        raise _bad_json(name, kind, str(exc)) from None
    except RecursionError:
        raise _bad_json(name, kind, "lists and objects are nested too deep") from None


def _list_ids(document: Any, name: str, kind: IdKind, member: str = "") -> Iterator[str]:
    """Yield the ids of a value: a list of ids or records, or a document of this program."""
    if isinstance(document, list):
        for item in document:
            yield from _list_ids(item, name, kind, member)
    elif isinstance(document, bool) or document is None:
        raise _bad_json(name, kind, f"{member}{json.dumps(document)} is not an identifier")
    elif isinstance(document, str | int):
        yield from split_line(str(document), f"{name}, {member.rstrip(': ')}" if member else name, kind)
    elif isinstance(document, dict):
        yield from _list_ids_of_object(document, name, kind, member)
    else:
        raise _bad_json(name, kind, f"{member}{document!r} is not an identifier")


def _list_ids_of_object(document: dict[str, Any], name: str, kind: IdKind, member: str) -> Iterator[str]:
    outcomes = document.get("outcomes")
    if isinstance(outcomes, list) and outcomes and all(isinstance(o, dict) and o.get("input") for o in outcomes):
        # Only this member has the inputs that an earlier run did not find.
        yield from _list_ids([outcome["input"] for outcome in outcomes], name, kind, member)
        return
    key = next((key for key in (*kind.columns, *_ID_KEYS) if document.get(key) not in (None, "", [], {})), None)
    if key == "input" and kind is not ARTICLES and "status" in document and "error" not in document:
        # The outcome of a symbol: its input is not an id, and a symbol without a gene has none.
        if document.get("id") is not None:
            yield from _list_ids(document["id"], name, kind, member)
        return
    if key not in ("pmid", "PMID", "pmids") and isinstance(document.get("key"), str):
        # A reference without a record has only the user's own name, which may look like a PMID.
        yield f"reference {document['key']}"
        return
    if key in ("id", "uid") and _OF_REFERENCES & set(document):
        raise _bad_json(name, kind, f"{member}a reference has no PMID, PMCID or DOI")
    if key is not None:
        yield from _list_ids(document[key], name, kind, member)
    elif not any(isinstance(document.get(key), list) for key in _ID_KEYS):  # a result without hits is valid
        raise _bad_json(name, kind, f"{member}an object has no {kind.columns[0]}")


def _bad_json(name: str, kind: IdKind, problem: str) -> InvalidInput:
    return InvalidInput(
        f"{name} starts like JSON, but no identifiers can be read from it: {problem}.",
        invalid_input=name,
        recovery_hint=f"Correct the JSON: give a list of {kind.noun}s, or one object with the member "
        f"{kind.columns[0]} on each line.{kind.hint}",
        details={"reason": "bad_json"},
    )
