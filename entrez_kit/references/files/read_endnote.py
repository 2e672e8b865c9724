"""Read the records of an EndNote XML export."""

from collections.abc import Iterator, Sequence
from typing import Any

from entrez_kit.references.files.field_values import read_text
from entrez_kit.references.files.references import (
    OriginalRecord,
    Reference,
    ReferenceFile,
    find_year,
    list_identifiers,
    merge_identifiers,
    parse_name,
)
from entrez_kit.references.files.tagged_fields import convert_endnote


class EndnoteFile(ReferenceFile):
    """The references of an EndNote XML export.

    Args:
        records: its ``<record>`` elements.
    """

    def __init__(self, records: Sequence[Any], references: list[Reference]) -> None:
        self._records = records
        super().__init__(references)

    def get_original(self, index: int) -> OriginalRecord:
        """Return the fields of a record."""
        return OriginalRecord(convert_endnote(self._records[index], self.references[index]))


def read_endnote(records: Sequence[Any]) -> EndnoteFile:
    """Read the ``<record>`` elements of an export."""
    return EndnoteFile(records, [read_endnote_record(record, number) for number, record in enumerate(records, start=1)])


def read_endnote_record(record: Any, number: int) -> Reference:
    """Read one record, of an export or of a citation in a Word document.

    Args:
        record: its ``<record>`` element.
        number: the position of the record, used if the record does not have a number.
    """

    def get_first(*paths: str) -> str | None:
        return next((text for path in paths for text in _yield_texts(record, path)), None)

    authors = [parse_name(name) for name in _yield_texts(record, "contributors/authors/author")]
    others = list_identifiers(*_yield_texts(record, "urls/related-urls/url"), *_yield_texts(record, "custom2"))
    number_of_pubmed = get_first("accession-num") or ""
    database = (get_first("remote-database-name") or "").lower()
    in_pubmed = not database or "pubmed" in database or "medline" in database
    pmid = number_of_pubmed if in_pubmed and number_of_pubmed.isdigit() and len(number_of_pubmed) <= 8 else None
    return Reference(
        key=get_first("label", "rec-number") or f"record {number}",
        line=record.sourceline,
        title=get_first("titles/title"),
        authors=[author for author in authors if author.text],
        journal=get_first(
            "periodical/full-title", "titles/secondary-title", "periodical/abbr-1", "alt-periodical/full-title"
        ),
        year=find_year(get_first("dates/year")),
        volume=get_first("volume"),
        issue=get_first("number"),
        pages=get_first("pages", "section"),
        **merge_identifiers(others, doi=get_first("electronic-resource-num"), pmid=pmid, pmcid=get_first("custom2")),
    )


def _yield_texts(record: Any, path: str) -> Iterator[str]:
    """Yield the texts at a path without the style elements that EndNote adds."""
    for element in record.iterfind(path):
        if text := read_text("".join(element.itertext())):
            yield text
