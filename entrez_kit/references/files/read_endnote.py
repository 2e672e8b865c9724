"""Read the records of an EndNote XML export."""

from collections.abc import Iterator, Sequence
from typing import Any

from entrez_kit.references.files.references import (
    OriginalRecord,
    Reference,
    ReferenceFile,
    identifiers_in,
    identifiers_of,
    parse_name,
    year_in,
)
from entrez_kit.references.files.tagged_fields import fields_of_endnote


class EndnoteFile(ReferenceFile):
    """The references of an EndNote XML export.

    Args:
        records: its ``<record>`` elements.
    """

    def __init__(self, records: Sequence[Any]) -> None:
        self._records = records
        super().__init__([endnote_reference(record, number) for number, record in enumerate(records, start=1)])

    def original(self, index: int) -> OriginalRecord:
        """Return the fields of a record."""
        return OriginalRecord(fields_of_endnote(self._records[index], self.references[index]))


def endnote_reference(record: Any, number: int) -> Reference:
    """Read one record, of an export or of a citation in a Word document.

    Args:
        record: its ``<record>`` element.
        number: the position of the record, used if the record does not have a number.
    """

    def first(*paths: str) -> str | None:
        return next((text for path in paths for text in _texts(record, path)), None)

    authors = [parse_name(name) for name in _texts(record, "contributors/authors/author")]
    other = identifiers_in(*_texts(record, "urls/related-urls/url"), *_texts(record, "custom2"))
    number_of_pubmed = first("accession-num") or ""
    database = (first("remote-database-name") or "").lower()
    in_pubmed = not database or "pubmed" in database or "medline" in database
    pmid = number_of_pubmed if in_pubmed and number_of_pubmed.isdigit() and len(number_of_pubmed) <= 8 else None
    return Reference(
        key=first("label", "rec-number") or f"record {number}",
        line=record.sourceline,
        title=first("titles/title"),
        authors=[one for one in authors if one.text],
        journal=first(
            "periodical/full-title", "titles/secondary-title", "periodical/abbr-1", "alt-periodical/full-title"
        ),
        year=year_in(first("dates/year")),
        volume=first("volume"),
        issue=first("number"),
        pages=first("pages", "section"),
        **identifiers_of(other, doi=first("electronic-resource-num"), pmid=pmid, pmcid=first("custom2")),
    )


def _texts(record: Any, path: str) -> Iterator[str]:
    """Yield the texts at a path without the style elements that EndNote adds."""
    for element in record.iterfind(path):
        if text := " ".join("".join(element.itertext()).split()):
            yield text
