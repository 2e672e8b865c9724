"""Read the text exports of the Web of Science and the Cochrane Library. Their fields are converted to RIS."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from entrez_kit.base.tables import TableError, check_last_row, name_cells
from entrez_kit.references.files.field_values import read_text
from entrez_kit.references.files.read_ris import read_ris
from entrez_kit.references.files.references import OriginalRecord, Reference, ReferenceFile, unreadable_error
from entrez_kit.references.files.tagged_fields import Field, get_first_value, list_values, split_pages

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_WOS_LINE: Final = re.compile(r"([A-Z][A-Z0-9])(?: (.*))?")
_COCHRANE_LINE: Final = re.compile(r"([A-Z]{2,3}): ?(.*)")
_COCHRANE_RECORD: Final = re.compile(r"Record #[0-9]+ of [0-9]+\s*")
_PUBMED: Final = re.compile(r"(?:PUBMED )?([0-9]+)")
_WOS_KINDS: Final = {"J": "JOUR", "S": "JOUR", "B": "BOOK", "P": "PAT"}
_WOS_TAGS: Final[Mapping[str, str]] = {
    **{"CA": "AU", "BE": "A2", "ED": "A2", "TI": "TI", "SO": "T2", "JI": "J2", "SE": "T3", "LA": "LA", "DT": "M3"},
    **{"DE": "KW", "ID": "KW", "AB": "AB", "C1": "AD", "SN": "SN", "EI": "SN", "BN": "SN", "PU": "PB", "PI": "CY"},
    **{"PY": "PY", "VL": "VL", "BP": "SP", "EP": "EP", "AR": "C7", "DI": "DO", "UT": "AN"},
}
_WOS_OTHER: Final = "PT AU AF IS SU PM J9 PD RP EM CR NR TC Z9 U1 U2 PG WC SC GA OA HC HP DA PA WE"
_WOS_READ: Final = frozenset(_WOS_OTHER.split())
"""Fields that are read elsewhere, repeat another field, or are counts and cited references."""
_WOS_NAMES: Final = frozenset(("AU", "AF", "CA", "BE", "ED"))
_WOS_LISTS: Final = _WOS_NAMES | {"C1", "CR"}
"""Fields in which each line is a value of its own."""
_WOS_WORDS: Final = frozenset(("DE", "ID", "DT"))
"""Fields whose values are separated with semicolons."""
_COCHRANE_TAGS: Final[Mapping[str, str]] = {
    **{"AU": "AU", "TI": "TI", "SO": "T2", "YR": "PY", "VL": "VL", "NO": "IS", "PT": "M3", "AB": "AB", "KY": "KW"},
    **{"DOI": "DO", "US": "UR", "XR": "C3", "PB": "PB", "LA": "LA", "SN": "SN"},
}


class ExportFile(ReferenceFile):
    """The records of an export, with their fields in RIS."""

    def __init__(self, records: list[tuple[Field, ...]], references: list[Reference]) -> None:
        self._records = records
        super().__init__(references)

    def get_original(self, index: int) -> OriginalRecord:
        """Return the fields of a record."""
        return OriginalRecord(self._records[index])


def read_wos(text: str, name: str) -> ExportFile:
    """Read an export of the Web of Science: plain text, or a table with tabs whose columns are its tags.

    Raises:
        InvalidInput: a line does not belong to a field, or a record has no end. The message has the line.
    """
    text = text.removeprefix("\ufeff")
    records = _read_wos_table(text, name) if text.lstrip().startswith("PT\t") else _split_wos(text, name)
    return _build_file(records, _convert_wos, name)


def read_cochrane(text: str, name: str) -> ExportFile:
    """Read a text export of the Cochrane Library.

    Raises:
        InvalidInput: a line does not belong to a record. The message has the line.
    """
    return _build_file(_split_cochrane(text, name), _convert_cochrane, name)


def _build_file(
    records: Iterable[tuple[list[Field], int]], convert: Callable[[Sequence[Field]], list[Field]], name: str
) -> ExportFile:
    """Return the file of records, each with its first line.

    Args:
        convert: returns the fields of a record in RIS.
    """
    read_records = [([(tag, read_text(value)) for tag, value in fields], line) for fields, line in records]
    fields = [tuple((tag, value) for tag, value in convert(one) if value) for one, _ in read_records]
    ris = "\n".join("\n".join([*(f"{tag}  - {value}" for tag, value in one), "ER  - \n"]) for one in fields)
    read = read_ris(ris, name).references
    references = [
        reference.model_copy(update={"line": line}) for reference, (_, line) in zip(read, read_records, strict=True)
    ]
    return ExportFile(fields, references)


# Web of Science


def _split_wos(text: str, name: str) -> Iterator[tuple[list[Field], int]]:
    """Yield the fields and the first line of each record, each value as a field of its own."""
    fields: list[Field] = []
    start = tag = None
    for number, line in enumerate(text.splitlines(), start=1):
        match = _WOS_LINE.fullmatch(line.rstrip())
        if match and match[1] == "ER":
            if start is not None:
                yield fields, start
            fields, start, tag = [], None, None
        elif match and match[1] in ("FN", "VR", "EF"):
            tag = None
        elif match:
            tag = match[1]
            start = start or number
            fields.append((tag, match[2] or ""))
        elif line.startswith("   ") and tag is not None:
            if tag in _WOS_LISTS:
                fields.append((tag, line.strip()))
            else:
                fields[-1] = (tag, f"{fields[-1][1]} {line.strip()}")
        elif line.strip():
            raise unreadable_error(name, "this line does not belong to a field of a record", line=number)
    if start is not None:
        raise unreadable_error(name, "this record does not end with ER", line=start)


def _read_wos_table(text: str, name: str) -> Iterator[tuple[list[Field], int]]:
    """Yield the fields and the line of each record. Quotation marks are characters of the cells."""
    lines = [(number, line.split("\t")) for number, line in enumerate(_LINE_END.split(text.rstrip("\r\n")), start=1)]
    try:
        _, rows = name_cells(lines)
        for line, row in rows:
            values = [(tag.strip(), value) for tag, value in row.items() if tag.strip()]
            fields = [
                (tag, part.strip())
                for tag, value in values
                for part in (value.split(";") if tag in _WOS_NAMES else [value])
            ]
            yield [field for field in fields if field[1]], line
        check_last_row(lines, text)
    except TableError as exc:
        raise unreadable_error(name, exc.problem, line=exc.line) from None


def _convert_wos(fields: Sequence[Field]) -> list[Field]:
    """Return the fields of a record in RIS."""
    kind = get_first_value(fields, "PT") or ""
    is_chapter = "Book Chapter" in (get_first_value(fields, "DT") or "")
    short, full = list_values(fields, "AU"), list_values(fields, "AF")
    issue = " ".join([*list_values(fields, "IS"), *(f"Suppl {number}" for number in list_values(fields, "SU"))])
    found: list[Field] = [("TY", "CHAP" if is_chapter else _WOS_KINDS.get(kind, "GEN"))]
    found += [("AU", name) for name in (full if len(full) == len(short) else short)]
    found += [("IS", issue), ("DB", "Web of Science")]
    for tag, value in fields:
        if tag in _WOS_TAGS:
            parts = value.split(";") if tag in _WOS_WORDS else [value]
            found += [(_WOS_TAGS[tag], part.strip()) for part in parts]
        elif tag not in _WOS_READ and value:
            found.append(("N1", f"{tag}: {value}"))
    if pmid := get_first_value(fields, "PM"):
        found.append(("N1", f"PMID: {pmid}"))
    return found


# Cochrane Library


def _split_cochrane(text: str, name: str) -> Iterator[tuple[list[Field], int]]:
    """Yield the fields and the first line of each record."""
    fields: list[Field] | None = None
    start = 0
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        if _COCHRANE_RECORD.fullmatch(line):
            if fields:
                yield fields, start
            fields, start = [], number
        elif fields is None:
            if line.strip():
                raise unreadable_error(name, "this line does not belong to a record", line=number)
        elif match := _COCHRANE_LINE.fullmatch(line):
            fields.append((match[1], match[2].strip()))
        elif line.strip() and fields:
            fields[-1] = (fields[-1][0], f"{fields[-1][1]} {line.strip()}")
    if fields:
        yield fields, start


def _convert_cochrane(fields: Sequence[Field]) -> list[Field]:
    """Return the fields of a record in RIS."""
    number = get_first_value(fields, "ID") or ""
    found: list[Field] = [("TY", "JOUR"), ("AN", number), ("DB", "CENTRAL" if number.startswith("CN-") else "")]
    for tag, value in fields:
        if tag in _COCHRANE_TAGS:
            parts = value.split(";") if tag == "KY" else [value]
            found += [(_COCHRANE_TAGS[tag], part.strip()) for part in parts]
        elif tag == "PG":
            found += [(end, page or "") for end, page in split_pages(value.replace("\u2010", "-"))]
        elif tag == "PM" and (match := _PUBMED.fullmatch(value)):
            found.append(("N1", f"PMID: {match[1]}"))
        elif tag != "ID" and value:
            found.append(("N1", f"{tag}: {value}"))
    return found
