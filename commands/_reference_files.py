"""Files of references as the input of commands that otherwise take ids: cite, convert, fetch."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.identifiers import read_identifier

from ._files import is_file
from ._formats import Sink
from ._pipeline import get_state, plan, warn
from ._state import STDIN, usage_error

if TYPE_CHECKING:
    from entrez_kit.references.merge.entries import Entry

FILE_SUFFIXES: Final = (".bib", ".ris", ".nbib", ".ciw", ".enw", ".xml")
"""Suffixes of files that are never lists of ids."""
OTHER_SUFFIXES: Final = (".json", ".csv", ".tsv", ".txt", ".docx", ".odt", ".tex", ".md", ".pdf")
"""Suffixes of other files with references, if they are arguments in the place of an id."""


def select_files(typed: Sequence[str] | None, files: Sequence[Path] | None) -> list[Path]:
    """Return the files of references among arguments; empty if they are ids.

    Raises:
        InvalidInput: ids and files of references are mixed.
    """
    words = [Path(word) for word in typed or () if word != STDIN]
    named = [
        word
        for word in words
        if word.suffix.lower() in (*FILE_SUFFIXES, *OTHER_SUFFIXES)
        and (is_file(str(word)) or read_identifier(str(word)) is None)
    ]
    found = [*named, *(file for file in files or () if file.suffix.lower() in FILE_SUFFIXES)]
    if found and len(found) != len(typed or ()) + len(files or ()):
        raise usage_error(
            f"Ids and files of references cannot be mixed: {found[0]}.",
            str(found[0]),
            "Give ids, or files of references.",
        )
    return found


def read_reference_files(ctx: typer.Context, files: Iterable[Path]) -> "list[Entry]":
    """Return the records of files in order, and print the warnings about the files.

    Raises:
        InvalidInput: a file cannot be read, or has no records.
    """
    from entrez_kit.references.merge.convert_records import read_record_files
    from entrez_kit.references.merge.merge_documents import FileToMerge

    from ._reference_sources import read_file_to_merge

    entries, warnings = read_record_files([FileToMerge.model_validate(read_file_to_merge(ctx, file)) for file in files])
    for warning in warnings:
        warn(ctx, str(warning.message))
    return entries


def write_references(ctx: typer.Context, entries: "Sequence[Entry]", target: str) -> None:
    """Write records as a file for reference managers, one record for each, in order."""
    from entrez_kit.references.merge.convert_records import convert_records

    with Sink(plan(ctx).target) as sink:
        for text in convert_records(entries, target):
            sink.write_data(text)
    if plan(ctx).target is not None and get_state(ctx).stderr_is_terminal:
        get_state(ctx).note(f"{format_count(len(entries), 'record')} written to {plan(ctx).target}.")


def describe_entry(entry: "Entry", number: int) -> dict[str, Any]:
    """Return the position, key and identifiers of a record."""
    from entrez_kit.references.merge.convert_records import name_record

    ids = {kind: entry.keys.get(kind) for kind in ("pmid", "pmcid", "doi")}
    known = {"number": number, "file": entry.file, "key": name_record(entry), **ids, "title": entry.reference.title}
    return {name: value for name, value in known.items() if value is not None}
