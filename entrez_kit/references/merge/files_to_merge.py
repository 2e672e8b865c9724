"""Read the records of the files to merge."""

from collections import Counter
from collections.abc import Sequence
from hashlib import sha1
from pathlib import PurePath

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.progress import report_progress
from entrez_kit.base.tables import TABLE_SUFFIXES
from entrez_kit.core.model import Warn
from entrez_kit.references.files.references import Reference, ReferenceFile
from entrez_kit.references.merge.entries import Entry, read_entries
from entrez_kit.references.merge.merge_documents import READABLE, FileToMerge

# Files


def read_files(files: Sequence[FileToMerge]) -> tuple[list[Entry], list[str], list[Warn]]:
    """Return the records of files, a unique name for each file, and warnings.

    Raises:
        InvalidInput: a file cannot be read, or has no records.
    """
    entries: list[Entry] = []
    warnings: list[Warn] = []
    names = _make_unique_names(files)
    for slot, (file, name) in enumerate(zip(files, names, strict=True)):
        kind, records, found = _read_file(file)
        warnings += [warning.model_copy(update={"message": f"{name}: {warning.message}"}) for warning in found]
        entries += read_entries(records, slot=slot, name=name, kind=kind, source=file.source, start=len(entries))
        del records  # the lines of a large file
        report_progress(len(entries))
    return entries, names, warnings


def _make_unique_names(files: Sequence[FileToMerge]) -> list[str]:
    """Return a name for each file. Equal names get a number, which does not depend on the order of the files."""
    repeated = Counter(file.file for file in files)
    digests = [sha1((file.text or repr(file.references)).encode(), usedforsecurity=False).hexdigest() for file in files]
    names = [file.file for file in files]
    for name in (name for name, count in repeated.items() if count > 1):
        slots = sorted((slot for slot, file in enumerate(files) if file.file == name), key=lambda slot: digests[slot])
        for number, slot in enumerate(slots[1:], start=2):
            names[slot] = f"{name} ({number})"
    return names


def _read_file(file: FileToMerge) -> tuple[str, ReferenceFile | list[Reference], list[Warn]]:
    """Read the records of a file, and return its format, the records, and warnings.

    Raises:
        InvalidInput: the file cannot be read, or has no records.
    """
    from entrez_kit.references.files.reference_files import detect_kind, find_kind, read_reference_file

    if file.references:
        return "references", file.references, []
    text, name = file.text or "", file.file
    suffix = PurePath(name).suffix.lower()
    read: ReferenceFile
    if text.lstrip("\ufeff \t\r\n").startswith("<") and suffix not in (".md", ".txt"):
        return "endnote", *_read_xml(text, name)
    if suffix in TABLE_SUFFIXES and find_kind(text) != "wos":
        from entrez_kit.references.files.read_csv import read_csv

        read = read_csv(text, name)
        if not read.references:
            raise InvalidInput(f"{name} contains no records.", invalid_input=name, details={"reason": "bad_file"})
        return "csv", read, read.warnings
    kind = detect_kind(text, name, suffix, hint=READABLE)
    if kind == "ids":
        return "list", *_read_list(text, name)
    read = read_reference_file(text, name, kind)
    return kind, read, [warning for warning in read.warnings if warning.code != "duplicate_key"]


def _read_xml(text: str, name: str) -> tuple[ReferenceFile | list[Reference], list[Warn]]:
    """Read an EndNote XML export, or the list of a JATS article."""
    from entrez_kit.references.manuscripts.articles import read_article_xml

    manuscript = read_article_xml(text.encode(), name)
    if not manuscript.references:
        raise InvalidInput(f"{name} contains no records.", invalid_input=name, details={"reason": "bad_file"})
    return manuscript.file or manuscript.references, manuscript.warnings


def _read_list(text: str, name: str) -> tuple[list[Reference], list[Warn]]:
    """Read a list of identifiers or of written references."""
    from entrez_kit.base.identifiers import read_identifier
    from entrez_kit.references.check.pasted.pasted_lists import read_list

    words = [word.rstrip(",;") for line in text.splitlines() for word in line.partition("#")[0].split()]
    identifiers = [read_identifier(word) for word in words]
    if words and all(identifiers):
        return [
            Reference(key=identifier.original, **{identifier.kind: identifier.value})
            for identifier in identifiers
            if identifier is not None
        ], []
    pasted = read_list(text)
    if not pasted.references:
        raise InvalidInput(f"{name} contains no records.", invalid_input=name, details={"reason": "bad_file"})
    return pasted.references, list(pasted.warnings)
