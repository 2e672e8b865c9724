"""Convert the records of files of references, one by one: to other formats, to citation styles, to identifiers.

N records in are N records out, in order: duplicates are not merged, and a record that PubMed lacks is kept.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from entrez_kit.citations.csl import Item, build_csl_item, build_style_item
from entrez_kit.citations.style.preparation import find_standing_note
from entrez_kit.citations.write_bibtex import write_bibtex_item
from entrez_kit.citations.write_files import FILES, write_csl_item
from entrez_kit.citations.write_nbib import wrap_field
from entrez_kit.core.model import Warn
from entrez_kit.references.files.convert_fields import convert_to_csl, convert_to_nbib
from entrez_kit.references.files.csl_values import clean_csl_item, clean_texts, get_article_number, read_article_number
from entrez_kit.references.files.tagged_fields import Field, get_first_value, list_values
from entrez_kit.references.merge.entries import Entry
from entrez_kit.references.merge.entry_fields import list_fields, read_article
from entrez_kit.references.merge.files_to_merge import read_files
from entrez_kit.references.merge.merge_documents import FileToMerge

FORMATS: Final = tuple(FILES)
_IDS: Final = ("pmid", "pmcid", "doi")
_RIS_IDS: Final = (("doi", ("DO",), "DO", "{}"), ("pmid", (), "AN", "PMID:{}"), ("pmcid", ("C2",), "C2", "{}"))
_NOT_IN_KEYS: Final = re.compile(r"[\s,{}()\"'%#~\\=]+")


def read_record_files(files: Sequence[FileToMerge]) -> tuple[list[Entry], list[Warn]]:
    """Return the records of files in order, and warnings about the files.

    Raises:
        InvalidInput: a file cannot be read, or has no records.
    """
    entries, _, warnings = read_files(files)
    return entries, warnings


def name_record(entry: Entry) -> str:
    """Return the key of a record in its file, or else its position."""
    return entry.keys.get("key") or str(entry.index)


def list_record_ids(entries: Sequence[Entry]) -> list[str]:
    """Return one identifier per record: PMID, PMCID or DOI, or else ``reference KEY``, which no service knows."""
    return [
        next((entry.keys[kind] for kind in _IDS if entry.keys.get(kind)), f"reference {name_record(entry)}")
        for entry in entries
    ]


def build_item(entry: Entry, *, for_style: bool = False) -> Item:
    """Return a record as an item of CSL-JSON; that of a CSL file keeps all fields that a citation processor reads.

    Args:
        for_style: whether to add fields beyond CSL that citation styles use.
    """
    if entry.kind == "csl" and entry.original.text is not None:
        item = clean_texts(json.loads(entry.original.text))
        return read_article_number(clean_csl_item(item), get_article_number(item))
    if (article := read_article(entry)) is not None:
        item = (build_style_item if for_style else build_csl_item)(article) | {"id": name_record(entry)}
        notes = " ".join(list_values(entry.original.fields, "N1"))
        if "note" in item and find_standing_note({"note": notes}) is None:
            notes = f"{item['note']} {notes}".strip()
        return item | ({"note": notes} if notes else {})
    ids = {kind: entry.keys.get(kind) for kind in _IDS}
    return convert_to_csl(entry.original.fields, name_record(entry), **ids)


def convert_records(entries: Sequence[Entry], target: str) -> Iterator[str]:
    """Yield the text of a file of references in parts: the records in the format ``target``, one of ``FORMATS``.

    A record that has this format already is written unchanged.
    """
    yield "[\n" if target == "csl" else ""
    between = ",\n" if target == "csl" else "\n\n"
    keys: set[str] = set()
    for number, entry in enumerate(entries):
        yield f"{between if number else ''}{_convert_record(entry, target, keys)}"
    yield "\n]\n" if target == "csl" else "\n"


def _convert_record(entry: Entry, target: str, keys: set[str]) -> str:
    text = entry.original.text
    if text is not None and entry.kind == target:
        return text.strip("\r\n")
    if target == "csl":
        return write_csl_item(build_item(entry))
    if target == "bibtex":
        return write_bibtex_item(build_item(entry), _find_key(entry, keys))
    if target == "nbib":
        ids = {kind: entry.keys.get(kind) for kind in _IDS}
        fields = [field for field in convert_to_nbib(entry.original.fields, **ids) if field[1]]
        return "\n".join(line for tag, value in fields for line in wrap_field(tag, value))
    return "\n".join([*(f"{tag}  - {value}" for tag, value in _list_complete_fields(entry)), "ER  - "])


def _list_complete_fields(entry: Entry) -> Iterator[Field]:
    """Yield the fields of a record in RIS, with its type, its identifiers and its key."""
    fields = list_fields(entry)
    if not get_first_value(fields, "TY"):
        yield "TY", "GEN"
    yield from fields
    values = {value for _, value in fields}
    for kind, tags, tag, form in _RIS_IDS:
        value = entry.keys.get(kind)
        known = value in values or (kind == "pmid" and any(value in text for text in values if value))
        if value and not known and not (tags and get_first_value(fields, *tags)):
            yield tag, form.format(value)
    if (key := entry.keys.get("key")) and not get_first_value(fields, "ID"):
        yield "ID", key


def _find_key(entry: Entry, keys: set[str]) -> str:
    """Return a key of BibTeX that no earlier record has."""
    pmid = entry.keys.get("pmid")
    base = _NOT_IN_KEYS.sub("_", entry.keys.get("key") or (f"pmid{pmid}" if pmid else f"record{entry.index}"))
    key, number = base, 1
    while key in keys:
        number += 1
        key = f"{base}-{number}"
    keys.add(key)
    return key
