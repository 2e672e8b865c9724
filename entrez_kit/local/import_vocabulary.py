"""Store NLM's files of MeSH and its list of journals in a copy."""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final

from lxml import etree

from entrez_kit.local.copy_file import read_fact, write_fact
from entrez_kit.local.file_events import unusable_file_error
from entrez_kit.local.source_files import Kind, SourceFile
from entrez_kit.query.mesh import Journal, read_mesh_records, read_related_numbers
from entrez_kit.query.words import normalize

_YEAR: Final = re.compile(r"(?<![0-9])(?:desc|qual|supp|pa|mtrees)?(20[0-9]{2})(?![0-9])", re.IGNORECASE)
_TAGS: Final[dict[Kind, tuple[str, str]]] = {
    "desc": ("DescriptorRecord", "D"),
    "qual": ("QualifierRecord", "Q"),
    "supp": ("SupplementalRecord", "C"),
}
_FIELD: Final = re.compile(r"([A-Za-z]+(?: \([A-Za-z]+\))?): ?(.*)")


def find_file_year(path: Path) -> int | None:
    """Return the year in the name of a MeSH file (``desc2026.xml``)."""
    years = _YEAR.findall(path.name)
    return int(years[-1]) if years else None


def apply_vocabulary(connection: sqlite3.Connection, source: SourceFile) -> int:
    """Replace one kind of the vocabulary of a copy inside a transaction of the caller; return the number of records.

    Raises:
        InvalidInput: the file is damaged.
    """
    if source.kind == "journals":
        return int(source.read_with(lambda file: _store_journals(connection, file, source.path)))
    try:
        if source.kind == "pa":
            return int(source.read_with(lambda file: _store_actions(connection, file)))
        return int(source.read_with(lambda file: _store_headings(connection, file, source.kind)))
    except etree.XMLSyntaxError as exc:
        problem, hint = f"it is not well-formed XML ({exc.msg[:200]})", "Download the file from NLM again."
        raise unusable_file_error(source.path, problem, "bad_record", hint=hint) from None


def forget_vocabulary(connection: sqlite3.Connection, kind: str) -> None:
    """Remove one kind of the vocabulary."""
    if kind == "journals":
        connection.execute("DELETE FROM journals")
        connection.execute("DELETE FROM journal_keys")
    elif kind == "pa":
        connection.execute("DELETE FROM actions")
    else:
        _, mark = _TAGS[kind]  # type: ignore[index]
        for table in ("headings", "heading_keys", "heading_trees", "heading_numbers"):
            connection.execute(f"DELETE FROM {table} WHERE kind = ?", (mark,))


def _store_headings(connection: sqlite3.Connection, file: IO[bytes], kind: Kind) -> int:
    tag, mark = _TAGS[kind]
    prefix = tag.removesuffix("Record")
    forget_vocabulary(connection, kind)
    count = 0
    for _, record in read_mesh_records(file, (tag,)):
        name = _read_text(record, f"{prefix}RecordName/String" if mark == "C" else f"{prefix}Name/String")
        ui = _read_text(record, f"{prefix}RecordUI" if mark == "C" else f"{prefix}UI")
        if name and ui:
            _store_heading(connection, record, mark, ui, name)
            count += 1
    return count


def _store_heading(connection: sqlite3.Connection, record: Any, mark: str, ui: str, name: str) -> None:
    terms = [term for term in _list_texts(record, "ConceptList/Concept/TermList/Term/String") if term and term != name]
    trees = _list_texts(record, "TreeNumberList/TreeNumber")
    abbreviation = _read_text(record, "ConceptList/Concept/TermList/Term/Abbreviation")
    path = "AllowableQualifiersList/AllowableQualifier/QualifierReferredTo/QualifierName/String"
    qualifiers = "\n".join(sorted(_list_texts(record, path)))
    note = " ".join(_read_text(record, "ConceptList/Concept[@PreferredConceptYN='Y']/ScopeNote").split())
    connection.execute(
        "INSERT OR REPLACE INTO headings VALUES (?, ?, ?, ?, ?, ?, ?)",
        (ui, mark, name, abbreviation or qualifiers, note, "\n".join(terms), "\n".join(trees)),
    )
    keys = {normalize(name): 0}
    for term in (*terms, abbreviation):
        keys.setdefault(normalize(term), 1)
    keys.pop("", None)
    connection.executemany(
        "INSERT OR IGNORE INTO heading_keys VALUES (?, ?, ?, ?)",
        ((mark, key, rank, ui) for key, rank in keys.items()),
    )
    connection.executemany("INSERT OR IGNORE INTO heading_trees VALUES (?, ?, ?)", ((mark, tree, ui) for tree in trees))
    connection.executemany(
        "INSERT OR IGNORE INTO heading_numbers VALUES (?, ?, ?, ?)",
        ((mark, number.casefold(), ui, normalize(name)) for number in read_related_numbers(record)),
    )


def _store_actions(connection: sqlite3.Connection, file: IO[bytes]) -> int:
    forget_vocabulary(connection, "pa")
    count = 0
    for _, record in read_mesh_records(file, ("PharmacologicalAction",)):
        action = normalize(_read_text(record, "DescriptorReferredTo/DescriptorName/String"))
        members = record.iterfind("PharmacologicalActionSubstanceList/Substance/RecordName/String")
        names = dict.fromkeys(normalize(member.text or "") for member in members)
        count += 1
        connection.executemany(
            "INSERT OR REPLACE INTO actions VALUES (?, ?, ?)",
            ((action, number, name) for number, name in enumerate(names)),
        )
    return count


def _read_text(record: Any, path: str) -> str:
    return str(record.findtext(path) or "")


def _list_texts(record: Any, path: str) -> list[str]:
    """Return the texts of elements, each once."""
    return list(dict.fromkeys(element.text or "" for element in record.iterfind(path)))


def _store_journals(connection: sqlite3.Connection, file: IO[bytes], path: Path) -> int:
    """Read NLM's list of journals (J_Medline.txt, J_Entrez.txt)."""
    forget_vocabulary(connection, "journals")
    content = bytearray()
    while piece := file.read():
        content += piece
    count = 0
    for journal in read_journals(content.decode("utf-8", errors="replace").splitlines(), path):
        count += 1
        connection.execute(
            "INSERT OR REPLACE INTO journals VALUES (?, ?, ?, ?)",
            (journal.nlm_id, journal.abbreviation, journal.title, "\n".join(journal.issns)),
        )
        connection.executemany(
            "INSERT OR IGNORE INTO journal_keys VALUES (?, ?)", ((key, journal.nlm_id) for key in sorted(journal.keys))
        )
    return count


def read_journals(lines: Iterable[str], path: Path) -> Iterator[Journal]:
    """Read NLM's list of journals: fields of one line each, journals divided by a line of hyphens.

    Raises:
        InvalidInput: a line is not a field.
    """
    fields: dict[str, str] = {}
    for number, line in enumerate([*lines, "-----"], start=1):
        if line.startswith("-----"):
            if fields.get("NlmId"):
                yield Journal(
                    fields["NlmId"],
                    fields.get("MedAbbr") or fields.get("IsoAbbr") or fields.get("JournalTitle", ""),
                    fields.get("JournalTitle", ""),
                    tuple(filter(None, (fields.get("ISSN (Print)"), fields.get("ISSN (Online)")))),
                    tuple(filter(None, (fields.get("IsoAbbr"),))),
                )
            fields = {}
        elif line.strip():
            match = _FIELD.fullmatch(line)
            if match is None:
                raise unusable_file_error(
                    path, f"line {number:,} is not a field of a journal", "bad_record", line=number
                )
            fields[match[1]] = match[2].strip()


def set_mesh_year(connection: sqlite3.Connection, year: int) -> None:
    """Store the year of MeSH; files of an earlier year are removed, because all MeSH files belong to one year."""
    if (read_fact(connection, "mesh_year") or year) < year:
        for kind in ("desc", "qual", "supp", "pa"):
            forget_vocabulary(connection, kind)
            connection.execute("DELETE FROM files WHERE kind = ?", (kind,))
    write_fact(connection, "mesh_year", year)
