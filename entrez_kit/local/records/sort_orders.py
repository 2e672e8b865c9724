"""PubMed's sort orders: their names in NCBI's language, and the texts of a record by which an index sorts."""

from collections.abc import Callable, Mapping
from typing import Final

from entrez_kit.local.records.document import Document
from entrez_kit.query.record_terms import SortKeys
from entrez_kit.query.words import fold, normalize

LAST: Final = "\uffff"
"""The sort text of a record without a text."""
RELEVANCE: Final = "relevance"
NEWEST: Final = ""
"""The order by descending PMID."""
SORTS: Final[Mapping[str, str]] = {
    "pub_date": "pub_date",
    "pub date": "pub_date",
    "author": "author",
    "first author": "author",
    "journalname": "journal",
    "journal name": "journal",
    "relevance": RELEVANCE,
    "most recent": NEWEST,
    "most_recent": NEWEST,
}
"""By NCBI's names in lower case: ``pub_date``, ``RELEVANCE``, ``NEWEST``, or a name in ``SORT_TEXTS``."""


def _read_first_author(document: Document) -> str:
    return fold(document.authors[0].short) if document.authors else ""


def _read_journal(document: Document) -> str:
    return normalize(document.journal_ta or document.book_title)


SORT_TEXTS: Final[Mapping[str, Callable[[Document], str]]] = {"author": _read_first_author, "journal": _read_journal}
"""Functions that return a text to sort by. An index stores the texts by these names."""


def read_sort_keys(document: Document) -> SortKeys:
    """Return the sort keys of a record. A record without a text is after all others."""
    day = document.publication_date.number or document.entry_date.number
    return SortKeys(int(document.pmid), day, {name: read(document) or LAST for name, read in SORT_TEXTS.items()})
