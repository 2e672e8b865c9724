"""Records as files for reference managers: what stands before, between and after the entries, and one entry each."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from entrez_kit.base.invisible import escape_json
from entrez_kit.citations.csl import csl_item
from entrez_kit.citations.write_bibtex import bibtex_entry
from entrez_kit.citations.write_nbib import nbib_record
from entrez_kit.citations.write_ris import ris_record
from entrez_kit.pubmed.models import Article


@dataclass(frozen=True, slots=True)
class FileStyle:
    """A format that reference managers import.

    Args:
        entry: writes one record.
        head: what a file begins with.
        between: what stands between two entries.
        tail: what a file ends with.
    """

    entry: Callable[[Article], str]
    head: str = ""
    between: str = "\n\n"
    tail: str = "\n"


def csl_entry(article: Article) -> str:
    """Return a record as one item of CSL-JSON, escaped as all JSON of this program is."""
    return escape_json(json.dumps(csl_item(article), ensure_ascii=False, indent=2))


FILES: Final[dict[str, FileStyle]] = {
    "ris": FileStyle(ris_record),
    "bibtex": FileStyle(bibtex_entry),
    "csl": FileStyle(csl_entry, head="[\n", between=",\n", tail="\n]\n"),
    "nbib": FileStyle(nbib_record),
}
"""Formats by the name that ``-f`` takes. Each has its writer in a module of its own."""


def file_text(style: str, articles: Iterable[Article]) -> str:
    """Return records as the text of a file.

    Args:
        style: one of ``FILES``.
        articles: the records.
    """
    kind = FILES[style]
    entries = kind.between.join(map(kind.entry, articles))
    return f"{kind.head}{entries}{kind.tail}" if entries or kind.head else ""
