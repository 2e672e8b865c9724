"""The output formats of the terminal, one entry each.

A command accepts families, so a new format works in every command that accepts its family. Their writers are in
``commands/_formats``.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final


class Family(Enum):
    """Formats that show the same content in different notations."""

    SCREEN = auto()
    """A table or a page on a terminal."""
    DOCUMENT = auto()
    """The whole result as one document."""
    ROWS = auto()
    """One row or line for each record."""
    IDS = auto()
    """One identifier per line."""
    PAGES = auto()
    """Markdown, and documents converted from it."""
    COUNT = auto()
    """Only the number of results."""
    TEXT = auto()
    """Plain text of the command or the service, in a file with any suffix."""
    REFERENCES = auto()
    """Files for reference managers."""
    XML = auto()
    """The XML that the service sent."""
    PARQUET = auto()
    """Columns in a binary file."""


_PARSED: Final = ("abstract_plus", "citation_data")
_FULL: Final = ("abstract_plus",)


@dataclass(frozen=True, slots=True)
class Format:
    """One output format.

    Args:
        name: the value of ``--format``.
        content: what the format shows, for the guide ``output``.
        family: commands accept families.
        suffixes: ``-o FILE`` with one of them selects the format.
        whole: the format shows the collected result, not each record as it arrives.
        accepts_fields: ``--fields`` selects fields.
        needs_summaries: the format prints titles, so a search requests a summary for every row.
        is_brief: the format shows no field that a brief record lacks.
        has_total: the output includes the number of existing results.
        is_data: programs read the output, so an error is printed as JSON too.
        is_read: on a terminal the format is a page for a person.
        has_cells: every value is in a cell of one line.
        details: the levels of detail that the format can show; a fetch uses the first. Empty if it shows all.
        parses_records: False if the format needs only the bytes of a record.
        can_be_default: the setting ``format`` may name it.
        also_in: suffixes of files that may contain the format, although they select another one.
    """

    name: str
    content: str
    family: Family
    suffixes: tuple[str, ...] = ()
    whole: bool = False
    accepts_fields: bool = False
    needs_summaries: bool = False
    is_brief: bool = False
    has_total: bool = False
    is_data: bool = False
    is_read: bool = False
    has_cells: bool = False
    details: tuple[str, ...] = ()
    parses_records: bool = True
    can_be_default: bool = True
    also_in: tuple[str, ...] = ()

    @property
    def is_markdown(self) -> bool:
        """Whether the format is Markdown or is converted from it."""
        return self.family is Family.PAGES

    @property
    def needs_records(self) -> bool:
        """Whether the format consists of complete records, which a search has to fetch."""
        return self.family in (Family.REFERENCES, Family.XML)

    def __str__(self) -> str:
        return self.name


def _build_document_format(name: str, content: str, suffixes: tuple[str, ...]) -> Format:
    """Return a format of the whole result."""
    return Format(
        name, content, Family.DOCUMENT, suffixes, whole=True, accepts_fields=True, has_total=True, is_data=True
    )


def _build_rows_format(name: str, content: str, suffixes: tuple[str, ...]) -> Format:
    """Return a format of rows for spreadsheets."""
    return Format(
        name,
        content,
        Family.ROWS,
        suffixes,
        accepts_fields=True,
        needs_summaries=True,
        has_cells=True,
        details=_PARSED,
    )


FORMATS: Final = (
    Format(
        "table",
        "a table to read",
        Family.SCREEN,
        (),
        whole=True,
        accepts_fields=True,
        needs_summaries=True,
        is_brief=True,
        is_read=True,
        details=_PARSED,
    ),
    _build_document_format("json", "one document, the same as in Python", (".json",)),
    _build_document_format("yaml", "the document of `json`, easier to read", (".yaml", ".yml")),
    Format(
        "jsonl",
        "one record per line, written as soon as it arrives",
        Family.ROWS,
        (".jsonl", ".ndjson"),
        accepts_fields=True,
        is_data=True,
    ),
    _build_rows_format("csv", "one record per row, for spreadsheets and R", (".csv",)),
    _build_rows_format("tsv", "the rows of `csv`, separated by tabs", (".tsv",)),
    Format(
        "ids",
        "PMIDs, one per line; for genes CURIEs (`NCBIGene:7157`)",
        Family.IDS,
        (".txt",),
        is_brief=True,
        parses_records=False,
    ),
    Format("md", "Markdown", Family.PAGES, (".md",), needs_summaries=True, is_read=True, details=_PARSED),
    Format(
        "html",
        "the Markdown as a web page; banners mark retractions",
        Family.PAGES,
        (".html", ".htm"),
        needs_summaries=True,
        details=_PARSED,
        can_be_default=False,
    ),
    Format(
        "docx",
        "the Markdown as a Word document; banners mark retractions",
        Family.PAGES,
        (".docx",),
        needs_summaries=True,
        details=_PARSED,
        can_be_default=False,
    ),
    Format(
        "count",
        "the number of results or links",
        Family.COUNT,
        (),
        whole=True,
        is_brief=True,
        has_total=True,
        can_be_default=False,
    ),
    Format("text", "plain text of the command or the service (`cite`, `db fetch`)", Family.TEXT, can_be_default=False),
    Format(
        "ris",
        "a file for reference managers (`fetch`, `cite`, `europepmc`)",
        Family.REFERENCES,
        (".ris",),
        details=_FULL,
    ),
    Format(
        "bibtex",
        "a file for LaTeX and reference managers (`fetch`, `cite`, `europepmc`)",
        Family.REFERENCES,
        (".bib",),
        details=_FULL,
    ),
    Format(
        "csl",
        "a CSL JSON file for pandoc and reference managers (`fetch`, `cite`, `europepmc`)",
        Family.REFERENCES,
        (),
        details=_FULL,
        also_in=(".json",),
    ),
    Format(
        "nbib",
        "MEDLINE text from NCBI (`fetch`, `show`), also in `cite` and `europepmc`",
        Family.REFERENCES,
        (".nbib",),
        details=("medline_text",),
    ),
    Format(
        "xml",
        "original XML from NCBI (`fetch`, `show`)",
        Family.XML,
        (".xml",),
        details=("abstract_plus", "full_xml"),
        parses_records=False,
    ),
    Format("parquet", "columns for data frames (`corpus export`)", Family.PARQUET, (".parquet",), can_be_default=False),
)
BY_NAME: Final = {format_.name: format_ for format_ in FORMATS}
BY_SUFFIX: Final = {suffix: format_ for format_ in FORMATS for suffix in format_.suffixes}


def list_formats(*families: Family) -> tuple[Format, ...]:
    """Return the formats of some families, in this order."""
    return tuple(format_ for family in families for format_ in FORMATS if format_.family is family)
