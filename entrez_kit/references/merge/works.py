"""Write each work once: its most complete record, completed from its other records.

A work keeps the text of its record if the format stays the same, with its key and unknown fields. Notes, labels and
identifiers of all its records are kept.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from entrez_kit.base.identifiers import PUBMED
from entrez_kit.base.invisible import escape_json
from entrez_kit.citations.csl import Item
from entrez_kit.citations.write_bibtex import escape_latex, write_bibtex_item
from entrez_kit.citations.write_files import write_csl_item
from entrez_kit.citations.write_nbib import wrap_field
from entrez_kit.references.files.convert_fields import convert_to_csl, convert_to_nbib
from entrez_kit.references.files.csl_values import clean_csl_item, get_article_number, read_article_number
from entrez_kit.references.files.ris_tags import ABSTRACT_TAGS, AUTHOR_TAGS, JOURNAL_TAGS, TITLE_TAGS
from entrez_kit.references.files.tagged_fields import Field, get_first_value
from entrez_kit.references.merge.entries import SOURCE_NOTE, Entry
from entrez_kit.references.merge.entry_fields import list_fields

MERGED_NOTE: Final = "merged with "
_COMPLETED: Final = (
    TITLE_TAGS,
    AUTHOR_TAGS,
    JOURNAL_TAGS,
    ("PY", "Y1", "DA"),
    ("VL",),
    ("IS", "CP"),
    ("SP", "C7"),
    ("EP",),
    ABSTRACT_TAGS,
    ("LA",),
    ("SN",),
    ("KW",),
)
"""Fields that are taken from another record if the kept one lacks them."""
_RECORD_TAGS: Final = (
    "TY ID AN DB DP UR L1 L2 L3 L4 LK DO C2 C7 AU A1 TI T1 CT T2 JF JO JA J2 J1 BT T3 PY Y1 Y2 DA VL IS CP SP EP SN LA"
    " AB N2 KW M3 PB CY PP AD ST TT ET"
)
_OF_ONE_RECORD: Final = frozenset(_RECORD_TAGS.split())
"""Fields that are not taken from another record unless they are listed above; unknown fields are."""
_NOTES: Final = ("N1", "RN", "LB", "U1", "U4", "U5")
"""Notes and labels, which are kept from all records."""


@dataclass(slots=True)
class MergedWork:
    """One work.

    Args:
        kept: its most complete record.
        others: its other records.
        families: the ids of the kept records of related works.
    """

    kept: Entry
    others: list[Entry] = field(default_factory=list)
    families: list[str] = field(default_factory=list)

    @property
    def entries(self) -> list[Entry]:
        """All its records, the kept one first."""
        return [self.kept, *self.others]

    @property
    def sources(self) -> list[str]:
        """The databases of its records."""
        return sorted({source for entry in self.entries for source in entry.sources})

    def find_key(self, kind: str) -> str | None:
        """Return an identifier, of the kept record or else of another one."""
        return next((entry.keys[kind] for entry in self.entries if kind in entry.keys), None)

    @property
    def fields(self) -> list[Field]:
        """Its fields in RIS: those of the kept record, and what its other records add."""
        return [*self._list_own_fields(), *self.list_additions()]

    def _list_own_fields(self) -> list[Field]:
        return [field for field in list_fields(self.kept) if field[0] != "N1" or not field[1].startswith(SOURCE_NOTE)]

    def list_additions(self) -> list[Field]:
        """Return the fields that the kept record lacks."""
        own = list_fields(self.kept)
        known = {value for _, value in own}
        added: list[Field] = []
        for tags in _COMPLETED:
            if not get_first_value(own, *tags):
                other = next((entry for entry in self.others if entry.get_first(*tags)), None)
                added += [(tags[0], value) for tag, value in other.original.fields if tag in tags] if other else []
        if (doi := self.find_key("doi")) and doi not in known and not self.kept.reference.doi:
            added.append(("DO", doi))
        if (pmid := self.find_key("pmid")) and not self.kept.reference.pmid:
            added.append(("UR", f"{PUBMED}{pmid}/"))
        if (pmcid := self.find_key("pmcid")) and not self.kept.reference.pmcid and not get_first_value(own, "C2"):
            added.append(("C2", pmcid))
        for entry in self.others:
            added += [(tag, value) for tag, value in entry.original.fields if tag in _NOTES and value not in known]
        own_tags = {tag for tag, _ in own} | _OF_ONE_RECORD | set(_NOTES)
        for entry in self.others:
            new = [field for field in entry.original.fields if field[0] not in own_tags]
            added += new
            own_tags |= {tag for tag, _ in new}
        added = [field for field in added if field[0] != "N1" or not field[1].startswith(SOURCE_NOTE)]
        added += [("N1", f"{MERGED_NOTE}{_name_entry(entry)}") for entry in self.others]
        return list(dict.fromkeys((*added, ("N1", f"{SOURCE_NOTE}{'; '.join(self.sources)}"))))

    def build_row(self) -> dict[str, Any]:
        """Return the work as a row of a table."""
        fields, reference = self.fields, self.kept.reference
        return {
            "id": self.kept.id,
            "title": get_first_value(fields, *TITLE_TAGS),
            "authors": "; ".join(value for tag, value in fields if tag in AUTHOR_TAGS),
            "year": reference.year
            or next((entry.reference.year for entry in self.others if entry.reference.year), None),
            "journal": get_first_value(fields, *JOURNAL_TAGS),
            "volume": get_first_value(fields, "VL"),
            "issue": get_first_value(fields, "IS", "CP"),
            "pages": reference.pages
            or next((entry.reference.pages for entry in self.others if entry.reference.pages), None),
            "doi": self.find_key("doi"),
            "pmid": self.find_key("pmid"),
            "pmcid": self.find_key("pmcid"),
            "abstract": get_first_value(fields, *ABSTRACT_TAGS),
            "sources": "; ".join(self.sources),
            "members": [entry.id for entry in self.entries],
            "families": self.families,
        }


def _name_entry(entry: Entry) -> str:
    number = entry.keys.get("accession") or entry.keys.get("pmid") or entry.keys.get("doi") or entry.keys.get("key")
    source = "; ".join(entry.sources)
    return f"{source} {number} ({entry.id})" if number else f"{source} ({entry.id})"


# Formats


def write_ris(work: MergedWork) -> str:
    """Return a work as a RIS record."""
    lines = [f"{tag}  - {value}" for tag, value in work.fields]
    return "\n".join([*lines, "ER  - "])


def build_item(work: MergedWork) -> Item:
    """Return a work as an item of CSL-JSON."""
    ids = {kind: work.find_key(kind) for kind in ("pmid", "doi", "pmcid")}
    item = convert_to_csl(work.fields, _choose_citation_key(work), **ids)
    if work.kept.kind != "csl" or work.kept.original.text is None:
        return item
    own: Item = json.loads(work.kept.original.text)
    return (
        own
        | {name: value for name, value in item.items() if name not in own and not (name == "number" and "page" in own)}
        | {"note": _format_notes(work, own.get("note"))}
    )


def _format_notes(work: MergedWork, own: Any) -> str:
    parts = [str(own)] if own else []
    parts += [value for tag, value in work.list_additions() if tag in _NOTES and value not in str(own)]
    return "\n".join(dict.fromkeys(parts))


def write_csl(work: MergedWork) -> str:
    """Return a work as the text of an item of CSL-JSON."""
    item = build_item(work)
    item.setdefault("note", _format_notes(work, None))
    if work.kept.kind != "csl":
        return write_csl_item(item)
    return escape_json(json.dumps(item, ensure_ascii=False, indent=2))


def write_bibtex(work: MergedWork) -> str:
    """Return a work as a BibTeX entry: the original entry with added fields, or a new one."""
    text = work.kept.original.text
    notes = "; ".join(value for tag, value in work.list_additions() if tag in _NOTES)
    if work.kept.kind != "bibtex" or text is None:
        item = build_item(work)
        item = read_article_number(clean_csl_item(item), get_article_number(item))
        note = "; ".join(part for part in (str(item.get("note") or ""), notes) if part)
        return write_bibtex_item(item | {"note": note}, _choose_citation_key(work))
    added = convert_to_csl(
        [("TY", "JOUR"), *work.list_additions()], "", **{kind: work.find_key(kind) for kind in ("pmid", "doi", "pmcid")}
    )
    names = {
        "abstract": "abstract",
        "doi": "DOI",
        "pmid": "PMID",
        "pmcid": "PMCID",
        "volume": "volume",
        "pages": "page",
    }
    body = text.rstrip().removesuffix("}").removesuffix(")").rstrip().rstrip(",")
    lines = [
        f"  {name} = {{{added[key] if name == 'doi' else escape_latex(added[key])}}}"
        for name, key in names.items()
        if added.get(key) and not re.search(rf"(?im)[\s,{{]{name}\s*=", text)
    ]
    if notes and not re.search(r"(?im)[\s,{]annote\s*=", text):
        lines.append(f"  annote = {{{escape_latex(notes)}}}")
    return ",\n".join([body, *lines]) + "\n}"


def _choose_citation_key(work: MergedWork) -> str:
    key = work.kept.keys.get("key") or (f"pmid{pmid}" if (pmid := work.find_key("pmid")) else work.kept.id)
    return re.sub(r"[\s,{}()\"'%#~\\=]+", "_", key)


def write_nbib(work: MergedWork) -> str:
    """Return a work as a MEDLINE record: the original record, or a new one."""
    if work.kept.kind == "nbib" and work.kept.original.text is not None:
        lines = [work.kept.original.text]
        added = [field for field in convert_to_nbib(work.list_additions(), pmid=None, doi=None, pmcid=None) if field[1]]
    else:
        lines = []
        ids = {kind: work.find_key(kind) for kind in ("pmid", "doi", "pmcid")}
        added = [field for field in convert_to_nbib(work.fields, **ids) if field[1]]
    text = "\n".join(line for tag, value in added for line in wrap_field(tag, value))
    return "\n".join([*lines, text] if text else lines)


@dataclass(frozen=True, slots=True)
class WorkFile:
    """A format of files for reference managers."""

    entry: Callable[[MergedWork], str]
    head: str = ""
    between: str = "\n\n"
    tail: str = "\n"

    def yield_pieces(self, works: Iterable[MergedWork]) -> Iterator[str]:
        """Yield the text of a file in parts."""
        yield self.head
        for number, work in enumerate(works):
            yield f"{self.between if number else ''}{self.entry(work)}"
        yield self.tail

    def format_text(self, works: Sequence[MergedWork]) -> str:
        """Return the text of a file."""
        return "".join(self.yield_pieces(works))


FILES: Final[dict[str, WorkFile]] = {
    "ris": WorkFile(write_ris),
    "bibtex": WorkFile(write_bibtex),
    "csl": WorkFile(write_csl, head="[\n", between=",\n", tail="\n]\n"),
    "nbib": WorkFile(write_nbib),
}
