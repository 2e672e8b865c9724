"""RIS files: read record by record, and corrected line by line, with all else left as it is."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from entrez_kit.citations.csl import one_line
from entrez_kit.citations.files.references import (
    FieldUpdate,
    Reference,
    divided_name,
    identifier_of,
    identifiers_in,
    identifiers_of_note,
    repeated_keys,
    unreadable,
    year_in,
)
from entrez_kit.citations.files.write_ris import ris_name
from entrez_kit.model import Warn

_TAG: Final = re.compile(r"([A-Z][A-Z0-9]) {1,2}-(?: (.*)|\s*)")
_AUTHORS: Final = ("AU", "A1")
_TITLES: Final = ("TI", "T1", "CT")
_JOURNALS: Final = ("T2", "JF", "JO", "JA", "J2", "J1", "BT")
_SHORT: Final = ("JA", "J2", "J1")
_YEARS: Final = ("PY", "Y1", "DA")
_WITH_JOURNAL: Final = ("JOUR", "EJOUR", "JFULL", "ABST", "INPR", "MGZN", "NEWS", "CHAP", "ECHAP", "CONF", "CPAPER")


@dataclass(slots=True)
class _TaggedLine:
    """A line of the file, with its tag where it has one, and its line end."""

    tag: str
    value: str
    text: str
    end: str


@dataclass(slots=True)
class _Record:
    """The lines of one record, by their numbers."""

    start: int
    lines: list[int] = field(default_factory=list)
    end: int = 0


class RisFile:
    """The references of a RIS file.

    Raises:
        InvalidInput: a record has no end or no beginning; the message says which line.
    """

    def __init__(self, text: str, name: str) -> None:
        self._lines = [_line(part) for part in text.splitlines(keepends=True) or []]
        self._records = list(self._divided(name))
        self.references = [self._reference(number, record) for number, record in enumerate(self._records, start=1)]
        self.warnings: list[Warn] = repeated_keys(self.references)

    def _divided(self, name: str) -> Iterator[_Record]:
        record: _Record | None = None
        for number, line in enumerate(self._lines):
            if line.tag == "TY":
                if record is not None:
                    problem = f"a record begins before the one of line {record.start + 1} has ended with ER"
                    raise unreadable(name, problem, line=number + 1)
                record = _Record(number)
            elif line.tag and record is None:
                raise unreadable(name, f"{line.tag} stands outside of a record, which begins with TY", line=number + 1)
            if record is None:
                continue  # blank lines, and the numbers some programs put there
            if line.tag == "ER":
                record.end = number
                yield record
                record = None
            else:
                record.lines.append(number)
        if record is not None:
            raise unreadable(name, "this record does not end with ER", line=record.start + 1)

    def _values(self, record: _Record, *tags: str) -> list[str]:
        """Return the values of the first of several tags that has any; a line without a tag goes on the one before."""
        for tag in tags:
            values: list[str] = []
            current = ""
            for number in record.lines:
                line = self._lines[number]
                if line.tag:
                    current = line.tag
                    if line.tag == tag:
                        values.append(line.value)
                elif current == tag and values:
                    values[-1] += f" {line.text}"
            if values := [text for value in values if (text := one_line(value))]:
                return values
        return []

    def _one(self, record: _Record, *tags: str) -> str | None:
        return next(iter(self._values(record, *tags)), None)

    def _reference(self, number: int, record: _Record) -> Reference:
        first, last = self._one(record, "SP"), self._one(record, "EP")
        names = self._values(record, *_AUTHORS)
        more = bool(names) and re.fullmatch(r"et al\.?|others", names[-1], re.IGNORECASE) is not None
        addresses = [text for tag in ("UR", "L3", "M3") for text in self._values(record, tag)]
        other = identifiers_of_note(*self._values(record, "N1")) | identifiers_in(*addresses)
        number_of_pubmed = self._one(record, "AN") or ""
        in_pubmed = "pubmed" in (self._one(record, "DB") or "").lower() or bool(
            re.fullmatch(r"[0-9]{5,8}", number_of_pubmed)
        )
        kind = self._lines[record.start].value.strip()
        return Reference(
            key=self._one(record, "ID") or f"record {number}",
            line=record.start + 1,
            title=self._one(record, *_TITLES),
            authors=[divided_name(name) for name in (names[:-1] if more else names)],
            more_authors=more,
            journal=self._one(record, *_JOURNALS) if kind in _WITH_JOURNAL else None,
            year=year_in(self._one(record, *_YEARS)),
            volume=self._one(record, "VL"),
            issue=self._one(record, "IS", "CP"),
            pages="-".join(part for part in (first or self._one(record, "C7"), last) if part) or None,
            doi=identifier_of("doi", self._one(record, "DO")) or other.get("doi"),
            pmid=(identifier_of("pmid", number_of_pubmed) if in_pubmed else None) or other.get("pmid"),
            pmcid=identifiers_in(self._one(record, "C2")).get("pmcid") or other.get("pmcid"),
        )

    def corrected(self, corrections: Mapping[int, FieldUpdate]) -> str:
        """Return the text with references changed, by their number."""
        replaced: dict[int, list[str]] = {}
        for number, correction in corrections.items():
            self._correct(self._records[number], correction, replaced)
        return "".join(
            "".join(replaced[number]) if number in replaced else line.text + line.end
            for number, line in enumerate(self._lines)
        )

    def _correct(self, record: _Record, correction: FieldUpdate, replaced: dict[int, list[str]]) -> None:
        end = self._lines[record.start].end or "\n"

        def put(tags: tuple[str, ...], values: list[str], *, every: bool = False) -> None:
            """Put values where the first of the tags stands, or at the end; the lines they replace go."""
            present = [tag for tag in tags if self._values(record, tag)]
            chosen = present if every else present[:1]
            for tag in chosen or [tags[0]]:
                places = list(self._places(record, tag))
                lines = [f"{tag}  - {value}{end}" for value in values]
                for place in places:
                    replaced[place] = []
                if places:
                    replaced[places[0]] = lines
                else:
                    replaced.setdefault(record.end, [self._lines[record.end].text + self._lines[record.end].end])
                    replaced[record.end] = lines + replaced[record.end]

        simple = {"title": _TITLES, "volume": ("VL",), "issue": ("IS", "CP"), "doi": ("DO",), "pmid": ("AN",)}
        for name, value in correction.fields.items():
            if name in simple:
                put(simple[name], [one_line(value)])
            elif name == "authors":
                put(_AUTHORS, [ris_name(author) for author in value])
            elif name == "pmcid":
                put(("C2",), [str(value)])
            elif name == "pages":
                first, dash, last = str(value).partition("-")
                put(("SP",), [first])
                if dash or self._values(record, "EP"):
                    put(("EP",), [last] if dash else [])
            elif name == "journal":
                long = tuple(tag for tag in _JOURNALS if tag not in _SHORT)
                if self._values(record, *long) or not self._values(record, *_SHORT):
                    put(long, [one_line(value)], every=True)
                if self._values(record, *_SHORT) and correction.short:
                    put(_SHORT, [one_line(correction.short)], every=True)
            elif name == "year":
                for tag in (tag for tag in _YEARS if self._values(record, tag)):
                    old = self._one(record, tag) or ""
                    put((tag,), [re.sub(r"^[0-9]{4}", str(value), old) if tag != "PY" else str(value)])
        if correction.note and not any(correction.note.rstrip(".") in note for note in self._values(record, "N1")):
            put(("N1",), [*self._values(record, "N1"), one_line(correction.note)])

    def _places(self, record: _Record, tag: str) -> Iterator[int]:
        """Yield the numbers of the lines of a tag, with those that go on under it."""
        current = ""
        for number in record.lines:
            current = self._lines[number].tag or current
            if current == tag:
                yield number


def _line(part: str) -> _TaggedLine:
    text = part.rstrip("\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
    match = _TAG.fullmatch(text.lstrip("\ufeff"))
    return _TaggedLine(match[1] if match else "", (match[2] or "") if match else "", text, part[len(text) :])
