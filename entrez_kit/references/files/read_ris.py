"""Read and correct RIS files. A correction changes only the lines of fields that differ."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from sys import intern
from typing import Final

from entrez_kit.base.frontend_text import MAX_QUOTED, cut_middle
from entrez_kit.citations.csl import to_one_line
from entrez_kit.citations.write_ris import write_ris_name, write_ris_record
from entrez_kit.core.model import Warn
from entrez_kit.pubmed.models import Article
from entrez_kit.references.files.field_values import read_text
from entrez_kit.references.files.references import (
    FieldUpdate,
    OriginalRecord,
    Reference,
    ReferenceFile,
    find_identifiers,
    find_year,
    is_about_version,
    list_identifiers,
    list_identifiers_in_notes,
    merge_identifiers,
    parse_name,
    unreadable_error,
    warn_of_left_out,
    warn_of_repeated_keys,
)
from entrez_kit.references.files.ris_tags import AUTHOR_TAGS, JOURNAL_TAGS, TITLE_TAGS

_TAG: Final = re.compile(r"([A-Z][A-Z0-9]) {1,2}-(?: (.*)|\s*)")
_LIKE_FIELD: Final = re.compile(r"\s*+(?:TY|T[12I]|AU|A1|PY|Y1|DO|JO|JF|ER)(?![a-z])")
"""A damaged line of a field. Two of them outside of a record show one that was not read."""
_PUBMED: Final = re.compile(r"pubmed|medline")
_SHORT: Final = ("JA", "J2", "J1")
_YEARS: Final = ("PY", "Y1", "DA")
_ONCE: Final = frozenset({"ID", "TI", "T1", "PY", "VL", "IS", "SP", "DO"})
"""Tags that a record has only once."""
_SIMPLE: Final[Mapping[str, tuple[str, ...]]] = {
    **{"title": TITLE_TAGS, "volume": ("VL",), "issue": ("IS", "CP")},
    **{"doi": ("DO",), "pmid": ("AN",), "pmcid": ("C2",)},
}
_WORK_FIELDS: Final = (
    "TY AU A1 A2 A3 A4 ED TI T1 CT TT ST T2 T3 BT JF JO JA J1 J2 VL IS CP SP EP ET SE PB CY PP SN M1 M3 PY Y1 Y2 DA "
    "DO AN C2 C7 AB N2 LA UR DB DP"
)
_OF_WORK: Final = frozenset(_WORK_FIELDS.split())
"""Fields about one version of a work. Other fields are the user's own, and stay if another version replaces it."""
_WITH_JOURNAL: Final = ("JOUR", "EJOUR", "JFULL", "ABST", "INPR", "MGZN", "NEWS", "CHAP", "ECHAP", "CONF", "CPAPER")


@dataclass(slots=True)
class _TaggedLine:
    """A line of the file: its tag if it has one, its text and its line end."""

    tag: str
    text: str
    end: str

    @property
    def value(self) -> str:
        """The text after the tag, which is not stored: a file can have a million lines."""
        return self.text.partition("-")[2].removeprefix(" ") if self.tag else ""


@dataclass(slots=True)
class _TaggedField:
    """A field: its value with continuation lines, and the numbers of all its lines."""

    tag: str
    value: str
    lines: list[int]


@dataclass(slots=True)
class _TaggedRecord:
    """A record: the numbers of its first and last line, its type, and its fields."""

    start: int
    kind: str
    fields: list[_TaggedField] = field(default_factory=list)
    end: int = 0

    def list_values(self, *tags: str) -> list[str]:
        """Return the values of the first of several tags that has values."""
        for tag in tags:
            if values := [text for field in self.fields if field.tag == tag and (text := read_text(field.value))]:
                return values
        return []

    def get_first(self, *tags: str) -> str | None:
        """Return the first value of these tags."""
        return next(iter(self.list_values(*tags)), None)


@dataclass(slots=True)
class _RecordEdit:
    """The corrections of one record; ``replaced`` has the new lines by the number of the line that they replace."""

    record: _TaggedRecord
    lines: list[_TaggedLine]
    replaced: dict[int, list[str]]

    def put(self, tags: tuple[str, ...], values: list[str], *, every: bool = False) -> None:
        """Write values at the first tag that is present, or at the end, and remove the lines that they replace."""
        present = [tag for tag in tags if self.record.list_values(tag)]
        line_end, last = self.lines[self.record.start].end or "\n", self.lines[self.record.end]
        for tag in (present if every else present[:1]) or [tags[0]]:
            places = [number for field in self.record.fields if field.tag == tag for number in field.lines]
            lines = [f"{tag}  - {value}{line_end}" for value in values]
            self.replaced.update((place, []) for place in places)
            if places:
                self.replaced[places[0]] = lines
            else:
                self.replaced[self.record.end] = lines + self.replaced.get(self.record.end, [last.text + last.end])

    def put_pages(self, pages: str) -> None:
        """Write the first page, and the last one if there is one or if the record has one.

        A separate article number, which was that of the wrong pages, is removed.
        """
        first, dash, last = pages.partition("-")
        self.put(("SP",), [first])
        if self.record.list_values("C7"):
            self.put(("C7",), [])
        if dash or self.record.list_values("EP"):
            self.put(("EP",), [last] if dash else [])

    def put_journal(self, title: str, short: str | None) -> None:
        """Write the title at each tag of a title, and the abbreviation at each tag of an abbreviation."""
        long = tuple(tag for tag in JOURNAL_TAGS if tag not in _SHORT)
        if self.record.list_values(*long) or not self.record.list_values(*_SHORT):
            self.put(long, [to_one_line(title)], every=True)
        if self.record.list_values(*_SHORT) and short:
            self.put(_SHORT, [to_one_line(short)], every=True)

    def put_year(self, year: str) -> None:
        """Write the year at each tag of a date that is present; month and day are kept."""
        for tag in _YEARS:
            if old := self.record.get_first(tag):
                self.put((tag,), [re.sub(r"^[0-9]{4}", year, old) if tag != "PY" else year])

    def replace_all(self, lines: list[str]) -> None:
        """Write these lines in place of the record."""
        line_end = self.lines[self.record.start].end or "\n"
        self.replaced.update((number, []) for number in range(self.record.start, self.record.end + 1))
        self.replaced[self.record.start] = [f"{line}{line_end}" for line in lines]

    def add_note(self, note: str) -> None:
        """Write a note below the others, unless one of them has its words."""
        notes = self.record.list_values("N1")
        if not any(note.rstrip(".") in text for text in notes):
            self.put(("N1",), [*notes, to_one_line(note)])


class RisFile(ReferenceFile):
    """The references of a RIS file."""

    def __init__(
        self,
        lines: list[_TaggedLine],
        records: list[_TaggedRecord],
        references: list[Reference],
        warnings: Sequence[Warn],
    ) -> None:
        self._lines = lines
        self._records = records
        super().__init__(references, warnings)

    def get_original(self, index: int) -> OriginalRecord:
        """Return the fields of a record."""
        record = self._records[index]
        fields = (
            (intern(field.tag), text)
            for field in record.fields
            if field.tag != "TY" and (text := read_text(field.value))
        )
        return OriginalRecord((("TY", record.kind), *fields))

    def correct(self, corrections: Mapping[int, FieldUpdate]) -> str:
        """Return the text with changed references, by their index."""
        replaced: dict[int, list[str]] = {}
        for number, correction in corrections.items():
            self._correct_record(_RecordEdit(self._records[number], self._lines, replaced), correction)
        return "".join(
            "".join(replaced[number]) if number in replaced else line.text + line.end
            for number, line in enumerate(self._lines)
        )

    def _correct_record(self, edit: _RecordEdit, correction: FieldUpdate) -> None:
        if correction.same_as is not None or correction.record is not None:
            edit.replace_all([] if correction.record is None else self._replace_record(edit.record, correction.record))
            return
        for name, value in correction.fields.items():
            if name in _SIMPLE:
                edit.put(_SIMPLE[name], [to_one_line(value)])
            elif name == "authors":
                edit.put(AUTHOR_TAGS, [write_ris_name(author) for author in value])
            elif name == "pages":
                edit.put_pages(str(value))
            elif name == "journal":
                edit.put_journal(value, correction.short)
            elif name == "year":
                edit.put_year(str(value))
        if correction.note:
            edit.add_note(correction.note)

    def _replace_record(self, record: _TaggedRecord, newer: Article) -> list[str]:
        """Return the lines of a newer record with the user's own fields of a record."""
        has_abstract = bool(record.list_values("AB", "N2"))
        lines = [
            line
            for line in write_ris_record(newer).split("\n")
            if line[:2] != "KW" and (line[:2] != "AB" or has_abstract)
        ]
        own = [
            self._lines[number].text
            for field in record.fields
            if field.tag not in _OF_WORK and not (field.tag == "N1" and is_about_version(field.value))
            for number in field.lines
        ]
        return [*lines[:-1], *own, lines[-1]]


def read_ris(text: str, name: str) -> RisFile:
    """Read a RIS file.

    Raises:
        InvalidInput: a record has no end or no beginning. The message has the line number.
    """
    lines = [_read_line(part) for part in text.splitlines(keepends=True)]
    records = list(_split_records(lines, name))
    references = [_build_reference(number, record) for number, record in enumerate(records, start=1)]
    unread = [*_find_unread(lines, records), *_find_joined(records)]
    shown = [f"{line + 1}: {cut_middle(lines[line].text, MAX_QUOTED)}" for line in unread]
    warnings = warn_of_left_out(shown, "RIS needs a line TY  - and ER  -")
    return RisFile(lines, records, references, [*warn_of_repeated_keys(references), *warnings])


def _split_records(lines: Sequence[_TaggedLine], name: str) -> Iterator[_TaggedRecord]:
    record: _TaggedRecord | None = None
    for number, line in enumerate(lines):
        if line.tag == "TY":
            if record is not None:
                problem = f"a record begins before ER ends the record of line {record.start + 1}"
                raise unreadable_error(name, problem, line=number + 1)
            record = _TaggedRecord(number, read_text(line.value))
        if record is None:
            if line.tag:
                problem = f"{line.tag} is outside of a record, which begins with TY"
                raise unreadable_error(name, problem, line=number + 1)
            continue  # empty lines, and the record numbers that some programs write
        if line.tag == "ER":
            record.end = number
            yield record
            record = None
        elif line.tag:
            record.fields.append(_TaggedField(line.tag, line.value, [number]))
        else:
            record.fields[-1].value += f" {line.text}"
            record.fields[-1].lines.append(number)
    if record is not None:
        raise unreadable_error(name, "this record does not end with ER", line=record.start + 1)


def _find_unread(lines: Sequence[_TaggedLine], records: Sequence[_TaggedRecord]) -> Iterator[int]:
    """Yield the first line of each group of damaged fields between two records: a record that was not read."""
    begins = 0
    for end, after in (*((record.start, record.end + 1) for record in records), (len(lines), 0)):
        damaged = [number for number in range(begins, end) if _LIKE_FIELD.match(lines[number].text)]
        if len(damaged) > 1:
            yield damaged[0]
        begins = after


def _find_joined(records: Iterable[_TaggedRecord]) -> Iterator[int]:
    """Yield the line at which a record repeats fields that a record has once: another one without TY begins."""
    for record in records:
        known: set[str] = set()
        again: dict[str, int] = {}
        for entry in record.fields:
            if entry.tag in known and entry.tag in _ONCE:
                again.setdefault(entry.tag, entry.lines[0])
            known.add(entry.tag)
        if len(again) > 1:
            yield min(again.values())


def _build_reference(number: int, record: _TaggedRecord) -> Reference:
    first, last = record.get_first("SP"), record.get_first("EP")
    names = record.list_values(*AUTHOR_TAGS)
    more = bool(names) and re.fullmatch(r"et al\.?|others", names[-1], re.IGNORECASE) is not None
    addresses = [text for tag in ("UR", "L3", "M3") for text in record.list_values(tag)]
    others = [*list_identifiers(*addresses), *list_identifiers_in_notes(*record.list_values("N1"))]
    number_of_pubmed = record.get_first("AN") or ""
    database = (record.get_first("DB") or record.get_first("DP") or "").lower()
    # Numbers of other databases (CINAHL, Embase) can have as many digits.
    in_pubmed = _PUBMED.search(database) or (not database and re.fullmatch(r"[0-9]{5,8}", number_of_pubmed))
    return Reference(
        key=record.get_first("ID") or f"record {number}",
        line=record.start + 1,
        title=record.get_first(*TITLE_TAGS),
        authors=[parse_name(name) for name in (names[:-1] if more else names)],
        more_authors=more,
        journal=record.get_first(*JOURNAL_TAGS) if record.kind in _WITH_JOURNAL else None,
        year=find_year(record.get_first(*_YEARS)),
        volume=record.get_first("VL"),
        issue=record.get_first("IS", "CP"),
        pages="-".join(part for part in (first or record.get_first("C7"), last) if part) or None,
        **merge_identifiers(
            others,
            doi=record.get_first("DO"),
            pmid=number_of_pubmed if in_pubmed else None,
            pmcid=find_identifiers(record.get_first("C2")).get("pmcid"),
        ),
    )


def _read_line(part: str) -> _TaggedLine:
    text = part.rstrip("\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
    match = _TAG.fullmatch(text.lstrip("\ufeff"))
    return _TaggedLine(intern(match[1]) if match else "", text, intern(part[len(text) :]))
