"""Write records as files for reference managers."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from entrez_kit.base.invisible import escape_json
from entrez_kit.citations.csl import ARTICLE_NUMBER, Item, build_csl_item, find_unclear_number
from entrez_kit.citations.write_bibtex import write_bibtex_entry
from entrez_kit.citations.write_nbib import write_nbib_record
from entrez_kit.citations.write_ris import write_ris_record
from entrez_kit.pubmed.models import Article


@dataclass(frozen=True, slots=True)
class FileStyle:
    """A format that reference managers import.

    Args:
        entry: writes one record.
        head: the beginning of a file.
        between: the text between two entries.
        tail: the end of a file.
    """

    entry: Callable[[Article], str]
    head: str = ""
    between: str = "\n\n"
    tail: str = "\n"


def write_csl_entry(article: Article) -> str:
    """Return a record as one item of CSL-JSON text, with this program's JSON escapes."""
    return write_csl_item(build_csl_item(article))


def write_csl_item(item: Item) -> str:
    """Return an item of CSL-JSON as text. The number of an article is in the field that most styles print."""
    if "page" not in item and "number" in item and item["type"].startswith("article"):
        custom = {"custom": {ARTICLE_NUMBER: number}} if (number := find_unclear_number(item)) else {}
        item = {**item, "page": item["number"], **custom}
        del item["number"]
    return escape_json(json.dumps(item, ensure_ascii=False, indent=2))


FILES: Final[dict[str, FileStyle]] = {
    "ris": FileStyle(write_ris_record),
    "bibtex": FileStyle(write_bibtex_entry),
    "csl": FileStyle(write_csl_entry, head="[\n", between=",\n", tail="\n]\n"),
    "nbib": FileStyle(write_nbib_record),
}
"""Formats by the name for ``-f``; each has its own module."""


def write_file_text(style: str, articles: Iterable[Article]) -> str:
    """Return records as the text of a file.

    Args:
        style: one of ``FILES``.
    """
    kind = FILES[style]
    entries = kind.between.join(map(kind.entry, articles))
    return f"{kind.head}{entries}{kind.tail}" if entries or kind.head else ""
