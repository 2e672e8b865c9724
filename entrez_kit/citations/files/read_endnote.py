"""EndNote's XML export: read record by record."""

from collections.abc import Iterator, Mapping
from typing import Any

from entrez_kit.citations.files.references import (
    FieldUpdate,
    Reference,
    divided_name,
    identifier_of,
    identifiers_in,
    unreadable,
    year_in,
)
from entrez_kit.errors import InvalidInput
from entrez_kit.model import Warn


class EndnoteFile:
    """The references of an EndNote XML file.

    Raises:
        InvalidInput: it is no XML, or no export of EndNote's.
    """

    def __init__(self, text: str, name: str) -> None:
        from lxml import etree

        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, encoding="utf-8"
        )
        try:
            root = etree.fromstring(text.encode("utf-8", "replace"), parser)
        except (etree.XMLSyntaxError, ValueError) as exc:
            raise unreadable(name, f"this is no XML: {str(exc)[:100]}") from None
        self.references: list[Reference] = [
            endnote_reference(record, number) for number, record in enumerate(root.iter("record"), start=1)
        ]
        self.warnings: list[Warn] = []

    def corrected(self, corrections: Mapping[int, FieldUpdate]) -> str:
        """Refuse: EndNote keeps more in its records than its export tells."""
        raise InvalidInput(
            "An EndNote XML file is not corrected.",
            invalid_input="fix",
            recovery_hint="Correct the records in EndNote, or export them as RIS or BibTeX.",
            details={"reason": "bad_usage"},
        )


def endnote_reference(record: Any, number: int) -> Reference:
    """Read one record, of an export or of a citation in a Word document.

    Args:
        record: its ``<record>`` element.
        number: its place, for a record without a number of its own.
    """

    def first(*paths: str) -> str | None:
        return next((text for path in paths for text in _texts(record, path)), None)

    authors = [divided_name(name) for name in _texts(record, "contributors/authors/author")]
    other = identifiers_in(*_texts(record, "urls/related-urls/url"), *_texts(record, "custom2"))
    pmid = first("accession-num")
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
        doi=identifier_of("doi", first("electronic-resource-num")) or other.get("doi"),
        pmid=(pmid if pmid and pmid.isdigit() and len(pmid) <= 8 else None) or other.get("pmid"),
        pmcid=identifier_of("pmcid", first("custom2")) or other.get("pmcid"),
    )


def _texts(record: Any, path: str) -> Iterator[str]:
    """Yield the texts at a path; EndNote wraps each in elements that say how it is set."""
    for element in record.iterfind(path):
        if text := " ".join("".join(element.itertext()).split()):
            yield text
