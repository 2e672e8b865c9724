"""Read tables of records (CSV, TSV) as PubMed, Scopus, Embase, the Cochrane Library and this program export them."""

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from entrez_kit.base.tables import NamedRow, Row, TableError, check_last_row, detect_delimiter, name_cells, read_rows
from entrez_kit.references.files.field_values import read_text
from entrez_kit.references.files.references import (
    OriginalRecord,
    RefAuthor,
    Reference,
    ReferenceFile,
    find_year,
    list_identifiers,
    merge_identifiers,
    parse_name,
    unreadable_error,
)
from entrez_kit.references.files.tagged_fields import Field, name_author

COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "title": ("title", "article title", "document title", "primary title", "study title", "ti"),
    "authors": ("authors", "author", "author names", "author full names", "author(s)", "au"),
    "journal": ("journal", "journal/book", "source title", "publication title", "journal title", "so"),
    "year": ("year", "publication year", "pub year", "date", "py", "issued", "start date"),
    "volume": ("volume", "vol", "vl"),
    "issue": ("issue", "number", "no", "is"),
    "pages": ("pages", "page", "article number", "art. no."),
    "doi": ("doi", "digital object identifier"),
    "pmid": ("pmid", "pubmed id", "pubmed pmid", "medline pmid"),
    "pmcid": ("pmcid", "pmc id"),
    "key": ("key", "id", "record id", "covidence #", "ref id"),
}
"""The columns of the fields of a reference."""
_TAGS: Final = {
    **dict.fromkeys(("abstract", "ab"), "AB"),
    **dict.fromkeys(("keywords", "author keywords", "keyword", "tags", "labels"), "KW"),
    **dict.fromkeys(("notes", "note", "comments"), "N1"),
    **dict.fromkeys(("source", "database", "source database", "sources"), "DB"),
    **dict.fromkeys(("eid", "accession number", "accession", "ut (unique wos id)", "pui"), "AN"),
    **dict.fromkeys(("cochrane id", "nct number"), "AN"),
    **dict.fromkeys(("link", "url", "article url", "study url"), "UR"),
    **dict.fromkeys(("issn", "isbn", "issn/isbn"), "SN"),
    **dict.fromkeys(("publisher",), "PB"),
    **dict.fromkeys(("document type", "publication type", "type"), "M3"),
    **dict.fromkeys(("language", "language of original document"), "LA"),
    **dict.fromkeys(("abbreviated source title",), "J2"),
}
_FIRST_PAGE: Final = ("page start", "first page")
_LAST_PAGE: Final = ("page end", "last page")
_READ: Final = frozenset((*_FIRST_PAGE, *_LAST_PAGE, "first author", "citation", "create date"))
_CITATION: Final = re.compile(r"([^0-9]{3,200}?)[ .,;(]{1,3}(?:19|20)[0-9]{2}\b[^0-9]{1,20}[0-9]")
"""A place in the column of the source: "Journal of Clinical Invention (2015) 17:3 (245-253)"."""
_MORE_AUTHORS: Final = re.compile(r"(?:^|(?<![,;. ])[,;. ]++)(?:and |& )?(?:et al|others)$", re.IGNORECASE)
_IDENTIFYING: Final = frozenset(column for field in ("title", "doi", "pmid") for column in COLUMNS[field])
_FIELDS: Final = frozenset(column for columns in COLUMNS.values() for column in columns) | _TAGS.keys() | _READ
MIN_NAMES: Final = 3
"""The fewest names of fields in the first column of a table with a field in each row."""


class CsvFile(ReferenceFile):
    """The records of a table."""

    def __init__(self, rows: list[dict[str, str]], references: list[Reference]) -> None:
        self._rows = rows
        super().__init__(references)

    def get_original(self, index: int) -> OriginalRecord:
        """Return the fields of a row; a column without a tag becomes a note."""
        row, reference = self._rows[index], self.references[index]
        return OriginalRecord(tuple(dict.fromkeys(field for field in _yield_fields(row, reference) if field[1])))


def read_csv(text: str, name: str) -> CsvFile:
    """Read a table of records: a record in each row, or a field in each row, as Embase.com exports both.

    Raises:
        InvalidInput: the table has no column with titles or identifiers, or it is malformed or incomplete. The message
            has the line.
    """
    text = text.removeprefix("\ufeff")
    try:
        lines = list(read_rows(io.StringIO(text, newline=""), detect_delimiter(text)))
        rows = _read_fields_by_row(lines) if _has_fields_by_row(lines) else _read_records_by_row(lines, name)
        check_last_row(lines, text)
    except TableError as exc:
        raise unreadable_error(name, exc.problem, line=exc.line) from None
    references = [_build_reference(row, number, line) for number, (line, row) in enumerate(rows, start=1)]
    return CsvFile([row for _, row in rows], references)


def _read_records_by_row(lines: Iterable[Row], name: str) -> list[NamedRow]:
    """Return the records of a table whose first row has the names of the columns."""
    columns, rows = name_cells(lines)
    if not {_fold(column) for column in columns} & _IDENTIFYING:
        problem = "this table has no column with the title, the DOI or the PMID"
        raise unreadable_error(name, problem, hint="Name the columns in the first line: title, authors, doi ...")
    return [
        (line, {_fold(column): read_text(value) for column, value in row.items() if column.strip()})
        for line, row in rows
    ]


def _has_fields_by_row(lines: Iterable[Row]) -> bool:
    """Return whether the first cell of each row names a field."""
    names: list[str] = []
    below: set[str] = set()
    for _, cells in lines:
        names = names or [_fold(cell) for cell in cells]
        below |= {_fold(cell) for cell in cells[:1]} & _FIELDS
    return len(below) >= MIN_NAMES and names[0] in below and not _FIELDS.intersection(names[1:])


def _read_fields_by_row(lines: Iterable[Row]) -> list[NamedRow]:
    """Return the records of a table with the name and the values of a field in each row.

    A record begins after an empty row, or with the field that is first in the table.
    """
    records: list[NamedRow] = []
    first, is_new = "", True
    for line, cells in lines:
        name, *values = _fold(cells[0]) if cells else "", *cells[1:]
        first = first or name
        if name and (is_new or name == first):
            records.append((line, {}))
        is_new = not any(map(str.strip, cells))
        if not is_new:
            record = records[-1][1]
            texts = [record.get(name, ""), *map(read_text, values)]
            record[name] = "; ".join(text for text in texts if text)
    return [(line, record) for line, record in records if any(record.values())]


def _fold(name: str | None) -> str:
    return " ".join((name or "").strip().lower().replace("_", " ").split())


def _get_value(row: Mapping[str, str], field: str) -> str | None:
    return _get_first(row, COLUMNS[field])


def _get_first(row: Mapping[str, str], columns: Sequence[str]) -> str | None:
    return next((row[column] for column in columns if row.get(column)), None)


def _build_reference(row: Mapping[str, str], number: int, line: int) -> Reference:
    pages = "-".join(part for columns in (_FIRST_PAGE, _LAST_PAGE) if (part := _get_first(row, columns)))
    citation = _CITATION.match(row.get("source") or "")
    authors, more = _split_authors(_get_value(row, "authors") or "")
    links = list_identifiers(row.get("link"), row.get("url"))
    return Reference(
        key=_get_value(row, "key") or f"record {number}",
        line=line,
        title=_get_value(row, "title"),
        authors=authors,
        more_authors=more,
        journal=_get_value(row, "journal") or (citation[1] if citation else None),
        year=find_year(_get_value(row, "year")),
        volume=_get_value(row, "volume"),
        issue=_get_value(row, "issue"),
        pages=pages or _get_value(row, "pages"),
        **merge_identifiers(
            links, doi=_get_value(row, "doi"), pmid=_get_value(row, "pmid"), pmcid=_get_value(row, "pmcid")
        ),
    )


def _split_authors(text: str) -> tuple[list[RefAuthor], bool]:
    """Split the authors of a cell: at semicolons, or else at "and", "&" and the commas between "Doe J, Roe K".

    Also return whether the cell ends with "et al." or "others".
    """
    text = re.sub(r" ?\([0-9]{6,}\)", "", " ".join(text.split())).strip().rstrip(".")
    text, more = _MORE_AUTHORS.subn("", text)
    if ";" in text:
        names = text.split(";")
    else:
        names = [name for part in re.split(r",? (?:and|&) ", text) for name in _split_at_commas(part)]
    return [parse_name(name.strip()) for name in names if name.strip()], bool(more)


def _split_at_commas(text: str) -> list[str]:
    """Split names with initials, "Doe J, Roe K" or "Doe, J., Roe, K."; a name such as "Doe, Jane" stays whole."""
    if re.fullmatch(r"(?:[^,]+ [^\W\d_a-z]{1,4}(?:, |$))+", text):
        return text.split(",")
    return re.split(r"(?<=\.),\s", text)


def _yield_fields(row: Mapping[str, str], reference: Reference) -> Iterator[Field]:
    yield "TY", "JOUR" if reference.journal else "GEN"
    yield "ID", reference.key if _get_value(row, "key") else ""
    for author in reference.authors:
        yield "AU", name_author(author)
    values: tuple[tuple[str, Any], ...] = (
        *(("TI", reference.title), ("T2", reference.journal), ("PY", reference.year), ("VL", reference.volume)),
        *(("IS", reference.issue), ("DO", reference.doi), ("C2", reference.pmcid)),
    )
    first, dash, last = (reference.pages or "").partition("-")
    for tag, content in (*values, ("SP", first), ("EP", last if dash else "")):
        yield tag, content or ""
    has_database = any(value for column, value in row.items() if _TAGS.get(column) in ("AN", "DB"))
    if reference.pmid and has_database:
        yield "N1", f"PMID: {reference.pmid}"
    elif reference.pmid:
        yield from (("AN", reference.pmid), ("DB", "PubMed"))
    for column, value in row.items():
        tag = _TAGS.get(column, "")
        if column == "source" and _CITATION.match(value):
            yield "N1", f"citation: {value}"
        elif tag == "KW":
            for word in value.split(";"):
                yield "KW", word.strip()
        elif tag:
            yield tag, value
        elif column not in _FIELDS and value:
            yield "N1", f"{column}: {value}"
